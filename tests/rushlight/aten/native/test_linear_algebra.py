"""Products of matrices agree with torch. (Sample inputs: `test_parity.py`.)"""

import itertools

import numpy as np
import pytest
import torch
from both import agree
from hypothesis import given
from hypothesis import strategies as st
from sweep import in_one_test

import rushlight as rl
from rushlight.aten.generated import functions
from rushlight.aten.native import linear_algebra
from rushlight.c10.dispatch import show_dispatch_trace

DTYPES = ["uint8", "int32", "int64", "float16", "float32", "float64"]


def whole(xp, sizes, dtype, turned=False):
    """Small whole numbers, so that every order of adding gives one sum."""
    numel = 1
    for size in sizes:
        numel *= size
    x = xp.arange(numel).to(getattr(xp, dtype))
    if turned and len(sizes) > 1:
        return x.view(*sizes[:-2], sizes[-1], sizes[-2]).transpose(-1, -2)
    return x.view(sizes)


@st.composite
def factors(draw):
    """Sizes that matmul takes, most of the time: vectors, matrices, batches that broadcast."""
    batch = draw(st.lists(st.integers(1, 3), max_size=2))
    rows, inner, columns = (draw(st.integers(0, 3)) for _ in range(3))
    inner2 = inner if draw(st.integers(0, 9)) else draw(st.integers(0, 3))
    batches = [
        [1 if draw(st.integers(0, 3)) == 0 else size for size in batch][draw(st.integers(0, 2)) :] for _ in range(2)
    ]
    first = [inner] if draw(st.integers(0, 4)) == 0 else [*batches[0], rows, inner]
    second = [inner2] if draw(st.integers(0, 4)) == 0 else [*batches[1], inner2, columns]
    return first, second


@given(factors(), st.sampled_from(DTYPES), st.booleans(), st.booleans())
def test_matmul_of_any_number_of_dimensions(sizes, dtype, turned_a, turned_b):
    a, b = sizes
    agree(lambda xp: whole(xp, a, dtype, turned_a) @ whole(xp, b, dtype, turned_b))


@given(factors(), st.booleans(), st.booleans(), st.sampled_from(["empty", "turned", "other", "of another dtype"]))
def test_matmul_into_an_out_of_any_layout(sizes, turned_a, turned_b, layout):
    a, b = sizes

    def program(xp):
        first, second = whole(xp, a, "float32", turned_a), whole(xp, b, "float32", turned_b)
        found = first @ second
        outs = {
            "empty": xp.empty(0),
            "turned": found.new_empty(found.shape[::-1]).permute(tuple(range(found.dim()))[::-1]),
            "other": xp.empty(5, 2),
            "of another dtype": xp.empty(0).double(),
        }
        return xp.matmul(first, second, out=outs[layout])

    agree(program)


@given(
    st.lists(st.integers(0, 3), min_size=4, max_size=4), st.sampled_from(DTYPES), st.sampled_from(["bmm", "baddbmm"])
)
def test_batches_of_matrices(sizes, dtype, name):
    n, rows, inner, columns = sizes

    def program(xp):
        bias = [whole(xp, [columns], dtype)] if name == "baddbmm" else []
        return getattr(xp, name)(*bias, whole(xp, [n, rows, inner], dtype), whole(xp, [n, inner, columns], dtype, True))

    agree(program)


@given(
    st.lists(st.integers(1, 3), max_size=3),
    st.integers(1, 3),
    st.booleans(),
    st.booleans(),
    st.sampled_from(DTYPES[3:]),
)
def test_linear_of_any_number_of_dimensions(batch, features, with_bias, turned, dtype):
    def program(xp):
        linear = functions.linear if xp is rl else torch.nn.functional.linear
        bias = whole(xp, [2], dtype) if with_bias else None
        return linear(whole(xp, [*batch, features], dtype, turned), whole(xp, [2, features], dtype), bias)

    agree(program)


def operators_of(call):
    lines = []
    with show_dispatch_trace(lines.append):
        call()
    return [line.partition("op=[aten::")[2].partition("]")[0] for line in lines]


def test_linear_with_a_bias_is_one_addmm():
    x, weight, bias = rl.ones(2, 3), rl.ones(4, 3), rl.ones(4)
    assert "addmm" in operators_of(lambda: functions.linear(x, weight, bias))
    assert "bmm" not in operators_of(lambda: functions.linear(rl.ones(2, 2, 3), weight, bias))


def test_a_batch_times_a_matrix_is_one_product_of_matrices():
    assert "bmm" not in operators_of(lambda: rl.ones(2, 3, 4) @ rl.ones(4, 5))
    assert "mm" in operators_of(lambda: rl.ones(2, 3, 4) @ rl.ones(4, 5))
    assert "bmm" in operators_of(lambda: rl.ones(3, 4) @ rl.ones(2, 4, 5))


def test_the_short_way_of_addmm_and_the_long_one_agree():
    bias, a, b = rl.ones(3), whole(rl, [2, 4], "float32"), whole(rl, [4, 3], "float32", True)
    short = rl.addmm(bias, a, b)
    with show_dispatch_trace(lambda line: None):
        assert rl.addmm(bias, a, b).tolist() == short.tolist()


@in_one_test
@pytest.mark.parametrize(
    "program",
    [
        lambda xp: xp.mm(xp.ones(2, 3), xp.ones(2, 3)),
        lambda xp: xp.mm(xp.ones(2, 3), xp.ones(3)),
        lambda xp: xp.mm(xp.ones(2, 3), xp.ones(3, 2).double()),
        lambda xp: xp.mm(xp.ones(2, 3).bool(), xp.ones(3, 2).bool()),
        lambda xp: xp.mv(xp.ones(2, 3), xp.ones(2)),
        lambda xp: xp.mv(xp.ones(2, 3), xp.ones(3)),
        lambda xp: xp.dot(xp.ones(3), xp.ones(2)),
        lambda xp: xp.dot(xp.ones(3), xp.ones(3).double()),
        lambda xp: xp.dot(xp.ones(3, 1), xp.ones(3)),
        lambda xp: xp.dot(xp.arange(3), xp.arange(3)),
        lambda xp: xp.outer(xp.arange(3), xp.arange(2)),
        lambda xp: xp.outer(xp.ones(3, 1), xp.arange(2)),
        lambda xp: xp.tensor(1.0) @ xp.ones(3),
        lambda xp: xp.bmm(xp.ones(2, 2, 3), xp.ones(1, 3, 2)),
        lambda xp: xp.ones(3, 2, 3) @ xp.ones(2, 3, 2),
        lambda xp: xp.mm(xp.ones(2, 3), xp.ones(3, 2), out=xp.empty(0)),
        lambda xp: xp.mm(xp.ones(2, 3), xp.ones(3, 2), out=xp.empty(0).double()),
        lambda xp: xp.ones(2, 2).addmm_(xp.ones(2, 3), xp.ones(3, 2), beta=0.5, alpha=2),
        lambda xp: xp.ones(2).addmm_(xp.ones(2, 3), xp.ones(3, 2)),
        lambda xp: xp.mv(xp.ones(2, 3), xp.ones(3), out=xp.empty(4)),
        lambda xp: xp.mv(xp.ones(2, 3), xp.ones(3), out=xp.empty(0).double()),
        lambda xp: xp.dot(xp.ones(3), xp.ones(3), out=xp.empty(2)),
        lambda xp: xp.dot(xp.ones(3), xp.ones(3), out=xp.empty(0).double()),
        lambda xp: xp.outer(xp.ones(3), xp.ones(2), out=xp.empty(0).double()),
        lambda xp: xp.nn.functional.linear(xp.ones(2, 2, 3), xp.ones(4, 3), xp.ones(4), out=xp.empty(0)),
        lambda xp: xp.nn.functional.linear(xp.ones(2, 3), xp.ones(4, 3), xp.ones(4), out=xp.empty(0)),
        lambda xp: xp.nn.functional.linear(xp.ones(3), xp.ones(3), xp.ones(1)),
        lambda xp: xp.nn.functional.linear(xp.ones(1, 2, 3), xp.ones(4, 3), xp.ones(5, 2, 4)),
        lambda xp: xp.nn.functional.linear(xp.ones(3), xp.tensor(1.0)),
        lambda xp: xp.mm(xp.empty(2, 3, device="meta"), xp.empty(3, 2, device="meta")).shape,
    ],
)
def test_the_corners_agree_with_torch(program):
    agree(program)


def test_a_blocked_product_is_the_product():
    a, b = whole(rl, [7, 9], "float64", True).numpy(), whole(rl, [9, 5], "float64").numpy()
    out = rl.empty(5, 7).double().t().numpy()
    linear_algebra.blocked_mm(a, b, out, (2, 4, 3))
    assert (out == a @ b).all()
    linear_algebra.blocked_mm(a, b, out)
    assert (out == a @ b).all()


@in_one_test
@pytest.mark.parametrize("name", ["addmm", "baddbmm"])
@pytest.mark.parametrize("number", [-1, 255, 300, -255, -256, -1.0, 255.5, 2**31, 2**63 - 1, 1e20, float("inf"), True])
@pytest.mark.parametrize("dtype", DTYPES[:3])
def test_a_factor_that_an_integer_dtype_cannot_hold_is_refused_and_a_negative_one_wraps(name, number, dtype):
    def program(xp, which):
        x = whole(xp, [1, 2, 2] if name == "baddbmm" else [2, 2], dtype)
        return getattr(xp, name)(x, x, x, **{which: number})

    agree(program, "alpha")
    agree(program, "beta")


@pytest.mark.parametrize("sizes", [(3, 4), (4, 3), (2, 3, 4), (0, 3), (2, 0, 3), (0, 2, 3)])
def test_matrix_norms_of_singular_values(sizes):
    for ord in (2, -2, "nuc"):
        for dim, keepdim, dtype in itertools.product(
            ((-2, -1), (1, 0)), (False, True), ("float64", "int64", "bfloat16")
        ):

            def program(xp, ord=ord, dim=dim, keepdim=keepdim, dtype=dtype):
                count = int(np.prod(sizes))
                x = (xp.arange(count) % 7 + xp.arange(count, dtype=xp.float64).sqrt()).view(*sizes)
                x = x.to(getattr(xp, dtype)).requires_grad_(dtype != "int64")
                y = xp.linalg.matrix_norm(x, ord, dim, keepdim)
                y.sum().backward()
                return y.stride(), y.grad_fn.name(), *[(each * 1000).round().long() for each in (y, x.grad)]

            agree(program)


def test_second_gradients_of_singular_values():
    def program(xp, values):
        x = xp.tensor(values, dtype=xp.float64, requires_grad=True)
        (first,) = xp.autograd.grad((xp.linalg.svdvals(x) ** 3).sum(), x, create_graph=True)
        (first**2).sum().backward()
        return (x.grad * 100).round()

    agree(program, [[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]])
    agree(program, [[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]])
    agree(lambda xp: xp.linalg.svdvals(xp.tensor([[1.0, float("nan")]])))
    agree(lambda xp: xp.linalg.svdvals(xp.ones(3)))


def test_kronecker_products_and_sums_of_products_of_batches():
    def matrices(xp):
        return xp.arange(6.0).reshape(2, 3), xp.arange(12.0).reshape(2, 2, 3), xp.arange(12.0).reshape(2, 3, 2)

    def kron(xp):
        x, first, _ = matrices(xp)
        return [xp.kron(x, xp.tensor([1.0, 2.0])), xp.kron(xp.tensor(2.0), x), xp.kron(first, x), xp.kron(x, first)]

    def addbmm(xp):
        _, first, second = matrices(xp)
        unknown = xp.full((2, 2), float("nan"))
        return [
            xp.addbmm(xp.ones(2), first, second, beta=2, alpha=3),
            xp.ones(2, 2).addbmm_(first, second),
            xp.addbmm(unknown, first, second, beta=0),
            xp.addbmm(xp.ones(2, 2), first[:0], second[:0]),
        ]

    agree(kron)
    agree(addbmm)
    agree(lambda xp: xp.addbmm(xp.ones(2, 2), matrices(xp)[1], matrices(xp)[2][:1]))
