"""C++ text of kernels: compiled, it computes what torch computes, NaN and infinity included."""

import math

import numpy as np
import pytest
from inductor_run import kernels, run_kernels, same, scheduled
from sweep import sweep

import rushlight as rl
from rushlight.aten.parallel import get_num_threads
from rushlight.inductor import compile_fx_inner, cpp, ir

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numpy's, of overflow and the like

SPECIAL = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -2.5,
    3e38,
    -3e38,
    1e-40,
    math.inf,
    -math.inf,
    math.nan,
    88.0,
    -88.0,
    100.0,
    -100.0,
]
special = rl.tensor(SPECIAL)


def agree(function, *inputs):
    expected = function(*inputs)
    for mine, theirs in zip(
        run_kernels(scheduled(function, *inputs), inputs),
        expected if isinstance(expected, (list, tuple)) else [expected],
    ):
        same(mine, theirs)


@pytest.mark.parametrize("kind", [rl.float32, rl.float64])
def test_functions_of_one_number_are_right_at_the_ends(kind):
    x = special.to(kind)
    names = [
        "exp",
        "tanh",
        "erf",
        "sigmoid",
        "relu",
        "abs",
        "neg",
        "sqrt",
        "rsqrt",
        "reciprocal",
        "log",
        "log1p",
        "expm1",
    ]
    names += ["floor", "ceil", "round", "trunc", "sign", "sin", "cos"]
    agree(lambda x: [getattr(rl, name)(x) for name in names], x)


def test_comparisons_and_the_larger_of_two_know_nan():
    x, y = special, special.flip(0)
    agree(
        lambda x, y: [rl.maximum(x, y), rl.minimum(x, y), x < y, x == x, x != x, x >= y, rl.isnan(x), rl.isinf(x)], x, y
    )
    agree(lambda x: [x.clamp(-1, 1), rl.where(x > 0, x, -x), x.amax(), x.amin(), x[:9].amax(), x[:9].amin()], x)


@pytest.mark.parametrize("function", [rl.exp, rl.tanh, rl.erf])
def test_the_polynomials_are_right_to_a_few_units_in_the_last_place(function):
    x = rl.from_numpy(np.concatenate([np.linspace(-90, 88.5, 20001), np.linspace(-1, 1, 20001)]).astype(np.float32))
    (mine,) = run_kernels(scheduled(function, x), [x])
    np.testing.assert_allclose(mine.numpy(), function(x.double()).numpy(), rtol=1e-6, atol=1e-37)


def test_whole_numbers_wrap_and_convert_as_eager_ones():
    small = rl.arange(0, 256, 5).to(rl.uint8)
    agree(lambda x: [x + x, x * x, -x, x.float() / 3, x > 100, x.to(rl.int64) - 300, x.bool()], small)
    agree(lambda x: [x.to(rl.int64), x.to(rl.int32) * 3, x.bool(), x.double() * 0.1], rl.randn(10) * 100)


def test_a_long_sum_keeps_its_digits():
    x = rl.rand(1 << 20)
    (mine,) = run_kernels(scheduled(lambda x: x.sum(), x), [x])
    assert abs(mine.item() / x.double().sum().item() - 1) < 1e-6
    (mine,) = run_kernels(scheduled(lambda x: x.sum(0), x.reshape(1 << 14, 64)), [x.reshape(1 << 14, 64)])
    np.testing.assert_allclose(mine.numpy(), x.double().reshape(1 << 14, 64).sum(0).numpy(), rtol=1e-6)


def test_rows_are_worked_on_side_by_side_where_memory_goes_across_them():
    x = rl.randn(7, 100)
    agree(lambda x: [x.sum(0), x.amax(0), x - x.mean(0, True), x.softmax(0)], x)
    (kernel,) = kernels(lambda x: x.sum(0), x)
    assert "lane" in kernel.text
    assert "lane" not in kernels(lambda x: x.sum(1), x)[0].text


@pytest.mark.parametrize("size", sweep([3, 256, 257, 600, 5000, 20000], keep=[257]))
def test_a_softmax_goes_over_a_row_once_for_each_reduction_and_once_for_the_result(size):
    x = rl.randn(3, size) * 20
    for function in (lambda x: x.softmax(-1), lambda x: x.log_softmax(-1), lambda x: (x * 2).relu().softmax(-1)):
        agree(function, x)
        (kernel,) = kernels(function, x)
        assert sum(line.startswith("    for (int64_t") for line in kernel.text.splitlines()) == 3


def test_a_softmax_of_what_is_used_elsewhere_too_is_right():
    x = rl.randn(3, 300)
    agree(lambda x: (lambda a: [a.log_softmax(-1), a + 1, a])(x.exp()), x)
    agree(lambda x: (lambda a: (a / a.sum(1, True)).log_softmax(-1) * a)(x.sigmoid()), x)
    agree(lambda x: (lambda a, b: [a.softmax(-1) * b, a.amax(-1)])(x.exp(), x.softmax(-1)), x)


def test_a_softmax_knows_nan_and_infinity():
    rows = [[0.0, 1.0], [-math.inf, 0.0], [-math.inf, -math.inf], [math.inf, 0.0], [math.nan, 0.0], [3e38, -3e38]]
    x = rl.tensor([[row[0]] * 300 + [row[1]] * 300 for row in rows])
    agree(lambda x: [x.softmax(-1), x.flip(1).softmax(-1), x.logsumexp(-1)], x)
    agree(lambda x: x.log_softmax(-1), x)


def test_what_a_row_does_not_change_is_computed_before_the_loop():
    (kernel,) = kernels(lambda x: x - x.sum(1, True).exp(), rl.randn(5, 40))
    assert kernel.text.count("exp_(") == 1
    before, _, loop = kernel.text.rpartition("for (")
    assert "exp_(" in before and "exp_(" not in loop


def test_what_is_used_twice_is_computed_once():
    (kernel,) = kernels(lambda x: (x.tanh() + 1) * (x.tanh() + 1), rl.randn(5))
    assert kernel.text.count("tanh_(") == 1 and kernel.text.count("+ 1.0f") == 1


def test_loops_over_memory_that_lies_together_are_one():
    assert kernels(lambda x: x + 1, rl.randn(4, 5, 6))[0].text.count("for (") == 1
    assert kernels(lambda x, y: x + y, rl.randn(4, 5, 6), rl.randn(6))[0].text.count("for (") == 2
    assert kernels(lambda x: x + 1, rl.randn(4, 5).t())[0].text.count("for (") == 1


def test_an_index_from_memory_is_looked_at():
    def gather(x, i):
        return x.gather(0, i)

    x, good, bad = rl.randn(5), rl.tensor([0, 4, 2]), rl.tensor([0, 5, 2])
    agree(gather, x, good)
    with pytest.raises(IndexError):
        run_kernels(scheduled(gather, x, good), [x, bad])


def test_much_work_is_shared_among_threads_and_little_is_not(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    assert get_num_threads() == 2
    x = rl.rand(400, 400)
    assert "omp parallel" in kernels(lambda x: x.exp() + 1, x)[0].text
    assert "omp parallel" not in kernels(lambda x: x.exp() + 1, x[:4])[0].text
    agree(lambda x: [x.exp() + 1, x.softmax(-1), x.sum(0)], x)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert "omp parallel" not in kernels(lambda x: x.exp() + 1, x)[0].text


def test_without_a_compiler_there_is_one_clear_line(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CXX", raising=False)
    graph = rl.aot.make_fx(lambda x: x.cos() * 0.12345)(rl.randn(7))
    with pytest.raises(RuntimeError, match="there is no C\\+\\+ compiler") as error:
        compile_fx_inner(graph, [rl.randn(7)])
    assert "\n" not in str(error.value)


def test_an_index_that_goes_backwards_is_divided_rounding_down_where_cpp_rounds_towards_zero():
    x = rl.arange(24.0).reshape(4, 6)
    agree(lambda x: (x.t() * 2).reshape(-1).flip(0) + 1, x)
    agree(lambda x: (x.t() * 2).reshape(3, 8).flip(1).reshape(8, 3).flip(0) + 1, x)
    agree(lambda x: (x * 2).reshape(24).flip(0).reshape(3, 8).flip(0).t() * x.reshape(8, 3), x)


def test_every_operation_has_a_form_in_cpp():
    for name in ir.SCALARS:
        text = cpp.operation(name, ["x", "y", "z"], rl.float32)
        assert "_(" not in text or f" {name}_(" in cpp.PRELUDE or f"({name}_" in cpp.PRELUDE, name
