"""The generated call: what it is given, what it hands over, what it returns."""

import gc
import os
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest
import torch
from sweep import sweep

import rushlight as rl
from rushlight import inductor
from rushlight.inductor import externs


def numbers(*sizes, dtype=np.float32, seed=0):
    return np.random.default_rng(seed).standard_normal(sizes).astype(dtype)


def compiled(function, *inputs):
    return inductor.compile_fx(function, inputs)


def agree(mine, wanted, tolerance=2e-5):
    np.testing.assert_allclose(np.asarray(mine), np.asarray(wanted), rtol=tolerance, atol=tolerance)


# Products


SIZES = [
    (1, 1, 1),
    (3, 5, 7),
    (8, 4, 32),
    (9, 3, 33),
    (32, 64, 600),
    (1, 70, 17),
    (17, 1, 40),
    (5, 0, 9),
    (0, 3, 9),
    (40, 9, 16),
]


@pytest.mark.parametrize("dtype", sweep([np.float32, np.float64], every=2))
@pytest.mark.parametrize("turned", sweep(["ab", "", "a", "b"], every=4))
def test_products_of_any_sizes_and_orientation_agree_with_numpy(dtype, turned):
    pairs = [(numbers(m, k, dtype=dtype), numbers(k, n, dtype=dtype, seed=1)) for m, k, n in SIZES]
    inputs = []
    for a, b in pairs:
        inputs.append(rl.from_numpy(a.T.copy()).t() if "a" in turned else rl.from_numpy(a))
        inputs.append(rl.from_numpy(b.T.copy()).t() if "b" in turned else rl.from_numpy(b))
    graph = compiled(lambda *inputs: [x @ y for x, y in zip(inputs[::2], inputs[1::2])], *inputs)
    for mine, (a, b) in zip(graph(*inputs), pairs, strict=True):
        agree(mine.numpy(), a @ b, 1e-4 if dtype is np.float32 else 1e-10)


WINDOWS = {
    "every second column": lambda x: x[:, ::2],
    "every second row": lambda x: x[::2],
    "a row again and again": lambda x: x[0].expand(20, 20),
    "a column again and again": lambda x: x[:, :1].expand(20, 20),
    "an offset": lambda x: x[2:, 3:],
}


@pytest.mark.parametrize("small", [True, False], ids=["tiles", "BLAS"])
def test_windows_with_any_strides_are_multiplied_in_tiles_and_by_blas(small, monkeypatch):
    monkeypatch.setattr(externs, "SMALL", externs.SMALL if small else -1)
    x = rl.from_numpy(numbers(20, 20))

    def function(x):
        windows = [window(x) for window in WINDOWS.values()]
        return [w @ w.t() for w in windows] + [w.t() @ w for w in windows]

    graph = compiled(function, x)
    small = small and externs.has_wide_vectors()
    assert ("blas(" in graph.cpp_text, "matmul(" in graph.cpp_text) == (not small, small)
    for mine, wanted in zip(graph(x), function(x), strict=True):
        agree(mine.numpy(), wanted.numpy())


@pytest.mark.parametrize("small", sweep([True, False], every=2), ids=["tiles", "BLAS"])
def test_many_products_at_once_agree(small, monkeypatch):
    monkeypatch.setattr(externs, "SMALL", externs.SMALL if small else -1)
    x, y = rl.from_numpy(numbers(3, 9, 5)), rl.from_numpy(numbers(3, 5, 10))
    for function in (lambda x, y: [rl.bmm(x, y)], lambda x, y: [rl.bmm(y.transpose(1, 2), x.transpose(1, 2))]):
        agree(compiled(function, x, y)(x, y)[0].numpy(), function(x, y)[0].numpy())


@pytest.mark.parametrize(("beta", "alpha"), [(1, 1), (0.5, -2), (0, 1)])
def test_addmm_scales_both_of_its_parts(beta, alpha):
    bias, x, y = rl.from_numpy(numbers(6)), rl.from_numpy(numbers(4, 5)), rl.from_numpy(numbers(5, 6))
    if beta == 0:
        bias.fill_(float("nan"))  # what is not used does no harm
    graph = compiled(lambda bias, x, y: [rl.addmm(bias, x, y, beta=beta, alpha=alpha)], bias, x, y)
    wanted = torch.addmm(*(torch.from_numpy(each.numpy()) for each in (bias, x, y)), beta=beta, alpha=alpha)
    agree(graph(bias, x, y)[0].numpy(), wanted)


def test_a_product_keeps_nan_and_infinity():
    a = np.array([[np.inf, 1], [np.nan, 0]], np.float32)
    x = rl.from_numpy(a)
    agree(compiled(lambda x: [x @ x], x)(x)[0].numpy(), a @ a)


# What comes out


def test_what_comes_out_is_new_each_time():
    x = rl.from_numpy(numbers(5))
    graph = compiled(lambda x: [x + 1], x)
    (first,), (second,) = graph(x), graph(x)
    assert first.data_ptr() != second.data_ptr()
    second.zero_()
    agree(first.numpy(), x.numpy() + 1)


def test_views_come_out_with_the_strides_that_they_have_uncompiled():
    x = rl.from_numpy(numbers(3, 4))

    def function(x):
        y = x * 2
        return [y.t(), y[1:, ::2], y.sum(), y.reshape(-1)]

    for mine, wanted in zip(compiled(function, x)(x), function(x), strict=True):
        agree(mine.numpy(), wanted.numpy())
        assert (mine.shape, mine.stride(), mine.dtype) == (wanted.shape, wanted.stride(), wanted.dtype)


def test_results_without_elements_and_without_dimensions_come_out():
    x = rl.from_numpy(numbers(0, 3))
    empty, total = compiled(lambda x: [x + 1, x.sum()], x)(x)
    assert empty.shape == (0, 3)
    assert total.tolist() == 0


def test_a_strided_input_is_read_where_it_lies():
    x = rl.from_numpy(numbers(6, 8)).t()[1:5, ::2]
    agree(compiled(lambda x: [x * 2 + x.sum(0)], x)(x)[0].numpy(), (x * 2 + x.sum(0)).numpy())


def test_what_is_let_go_of_is_freed():
    x = rl.from_numpy(numbers(64, 64))
    graph = compiled(lambda x: [(x @ x).relu() @ x], x)
    (out,) = graph(x)
    memory = weakref.ref(out._array)
    del out
    gc.collect()
    assert memory() is None


def test_the_pool_is_kept_for_the_next_call():
    x = rl.from_numpy(numbers(16, 16))
    graph = compiled(lambda x: [(x @ x).sum()], x)
    graph(x)
    (pool,) = graph.__globals__["pools"]
    graph(x)
    assert graph.__globals__["pools"][0] is pool


# What is written to


def test_an_input_that_is_written_to_counts_its_versions():
    x = rl.from_numpy(numbers(5))
    before = x.numpy().copy()

    def function(x):
        x.mul_(2)
        return [x.sum()]

    graph = compiled(function, rl.from_numpy(before.copy()))
    (total,) = graph(x)
    agree(x.numpy(), before * 2)
    agree(total.numpy(), (before * 2).sum())
    assert x._version == 1


def test_autograd_finds_out_that_a_saved_tensor_was_written_to_by_compiled_code():
    def function(x):
        x.mul_(2)
        return []

    x, y = rl.from_numpy(numbers(5)), rl.from_numpy(numbers(5)).requires_grad_()
    graph = compiled(function, rl.from_numpy(numbers(5)))
    product = (x * y).sum()
    graph(x)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.backward()


# Operators that only Python can call


def test_an_operator_outside_is_called_between_two_segments_and_records_nothing():
    def function(x):
        y = x.relu() * 2
        return [rl.cumsum(y, 0).exp() + y]

    x = rl.from_numpy(numbers(4, 3)).requires_grad_()
    with rl.no_grad():
        graph = compiled(function, x)
    assert "segment_1(" in graph.python_text
    (out,) = graph(x)
    assert not out.requires_grad
    agree(out.numpy(), function(x.detach())[0].numpy())


def test_an_operator_with_several_results_is_taken_apart():
    library = rl.library.Library("test_inductor_wrapper", "DEF")
    library.define("both(Tensor x, float y) -> (Tensor, Tensor)")
    library.impl("both", lambda x, y: (x + y, x * y), "CompositeExplicitAutograd")

    def function(x):
        more, times = rl.ops.test_inductor_wrapper.both(x * 2, 0.25)
        return [more + 1, times + 1]

    x = rl.from_numpy(numbers(6))
    for mine, wanted in zip(compiled(function, x)(x), function(x), strict=True):
        agree(mine.numpy(), wanted.numpy())
    library._destroy()


def test_an_index_out_of_range_is_an_error():
    weight, places = rl.from_numpy(numbers(4, 3)), rl.from_numpy(np.array([0, 3]))
    graph = compiled(lambda weight, places: [rl.nn.functional.embedding(places, weight) * 2], weight, places)
    agree(graph(weight, places)[0].numpy(), weight.numpy()[[0, 3]] * 2)
    with pytest.raises(IndexError):
        graph(weight, rl.from_numpy(np.array([0, 4])))


# Threads, and no compiler


def test_threads_may_call_one_graph_at_the_same_time():
    inputs = [rl.from_numpy(numbers(48, 48, seed=seed)) for seed in range(4)]
    graph = compiled(lambda x: [((x @ x).relu() @ x) * 2], inputs[0])
    wanted = [graph(x)[0].numpy() for x in inputs]
    wrong = []

    def work(place):
        for _ in range(200):
            if not (graph(inputs[place])[0].numpy() == wanted[place]).all():
                wrong.append(place)

    threads = [threading.Thread(target=work, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_process_made_by_fork_computes_too_though_the_threads_are_gone():
    program = (
        "import os, rushlight as rl\n"
        "f = rl.compile(lambda x: x * 2 + 1)\n"
        "x = rl.ones(1 << 20)\n"
        "f(x)\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    os._exit(int(f(x).sum().item()) != 3 << 20)\n"
        "print(os.waitpid(child, 0)[1])\n"
    )
    environment = os.environ | {"OMP_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=600, check=True
    )
    assert done.stdout.strip() == "0"


def test_without_a_compiler_the_graph_runs_as_it_is_and_says_so_once():
    program = (
        "import rushlight as rl\n"
        "f = rl.compile(lambda x: x * 2 + 1)\n"
        "g = rl.compile(lambda x: x * 3)\n"
        "print(f(rl.ones(2)).tolist(), g(rl.ones(2)).tolist())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env={"PATH": "", "PYTHONPATH": "."}, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[3.0, 3.0] [3.0, 3.0]"
    assert done.stderr.count("there is no C++ compiler") == 1
