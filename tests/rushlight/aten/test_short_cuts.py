"""Without autograd, operators of a language model leave out steps of Python. Nothing that can be seen depends on that."""

import numpy as np
import pytest
import torch
from both import FRAMEWORKS, agree
from sweep import in_one_test
from torch.testing import assert_close
from torch.utils._python_dispatch import TorchDispatchMode

import rushlight as rl
from rushlight.c10 import fast_paths
from rushlight.c10.dispatch import DispatchMode


def numbers(xp, *sizes, seed=0):
    return xp.from_numpy(np.random.default_rng(seed).standard_normal(sizes).astype(np.float32))


def linear(xp, x):
    return xp.nn.functional.linear(x, numbers(xp, 8, 6, seed=1), numbers(xp, 8, seed=2))


def layer_norm(xp, x):
    return xp.nn.functional.layer_norm(x, (6,), numbers(xp, 6, seed=1), numbers(xp, 6, seed=2))


def embedding(xp, x):
    return xp.nn.functional.embedding(xp.tensor([[2, 0], [1, 1]]), x[0])


def split_into_heads(xp, x):
    return [each.unflatten(2, (2, -1)).transpose(1, 2) for each in x.split(2, 2)]


def parts(xp, x):
    """Each is computed twice, because the first call makes the plan of the second."""
    views = [[*x.chunk(4, 2), x.unflatten(2, (2, -1)), x.flatten(1), x.flatten(1, 1)] for _ in range(2)]
    return views[0] + views[1]


def attention(xp, x):
    query, key, value = (part.unflatten(2, (2, -1)).transpose(1, 2) for part in x.chunk(3, 2))
    attend = xp.nn.functional.scaled_dot_product_attention
    return [attend(query, key, value), attend(query[:, :, -1:], key, value), attend(query, key, value, scale=0.5)]


PROGRAMS = {
    "linear": linear,
    "linear of one row": lambda xp, x: linear(xp, x[:1, :1]),
    "linear of a view with gaps": lambda xp, x: linear(xp, x[:, ::2]),
    "linear without bias": lambda xp, x: xp.nn.functional.linear(x, numbers(xp, 8, 6, seed=1)),
    "layer norm": layer_norm,
    "layer norm of one row": lambda xp, x: layer_norm(xp, x[:1, :1]),
    "layer norm of two dimensions": lambda xp, x: xp.nn.functional.layer_norm(
        x, (4, 6), numbers(xp, 4, 6, seed=1), numbers(xp, 4, 6, seed=2)
    ),
    "gelu": lambda xp, x: xp.nn.functional.gelu(x, approximate="tanh"),
    "embedding": embedding,
    "rows added": lambda xp, x: xp.zeros(3, 6).index_add_(0, xp.tensor([2, 0, 2, 2]), x[0]),
    "arange": lambda xp, x: [xp.arange(2, 7), xp.arange(3), xp.arange(1, 8, 3), xp.arange(4, 4)],
    "heads": split_into_heads,
    "slices": lambda xp, x: [x[:, 1:3], x[:, :, 2:], x[1:, :, 1:5:2], x[:, 3:1], x[:, -2:], x[:, :99]],
    "parts": parts,
    "attention": attention,
    "ints and slices": lambda xp, x: [x[0, -1], x[:, 2, 1:3], x[1, :, 0], x[0, :, -2:], x[:, :]],
    "filled": lambda xp, x: [
        x.masked_fill(x > 0, 2),
        x.masked_fill(x[:, :1] > 0, float("-inf")),
        x[0].masked_fill(x > 0, 0.1),
    ],
    "where": lambda xp, x: [*xp.where(x > 0), *xp.where(x[0, 0, 0] < 9), *(x[:, 1] < 0).nonzero(as_tuple=True)],
    "indices": lambda xp, x: [x[None], x[xp.tensor([1, 0])], x[xp.tensor([[1], [0]]), xp.tensor([2, -1])]],
    "flattened": lambda xp, x: [x.flatten(1), x.flatten(0, 1), x.transpose(1, 2).flatten(1), x[0, 0].flatten()],
}


def seen(xp, program, x):
    """The numbers, and what else can be seen of a result: layout, base, version."""
    found = program(xp, x)
    found = found if isinstance(found, (list, tuple)) else [found]
    values = [torch.from_numpy(each.detach().numpy().copy()) for each in found]
    rest = [
        (each.stride(), each.storage_offset(), each._is_view(), each._version, each.dtype.itemsize) for each in found
    ]
    return values, rest


@in_one_test
@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_results_are_torchs(name, grad):
    results = []
    for xp in FRAMEWORKS:
        with xp.set_grad_enabled(grad):
            results.append(seen(xp, PROGRAMS[name], numbers(xp, 2, 4, 6).requires_grad_()))
    (mine, layout), (theirs, wanted) = results
    assert_close(mine, theirs, rtol=1e-5, atol=1e-5)
    assert layout == wanted


@in_one_test
@pytest.mark.parametrize(
    "name", sorted(PROGRAMS.keys() - {"attention"})
)  # without the fused kernel, the result is a copy
def test_results_are_the_same_without_the_fast_path(name):
    with rl.no_grad():
        short = seen(rl, PROGRAMS[name], numbers(rl, 2, 4, 6))
        with fast_paths.disabled("c10"):
            long = seen(rl, PROGRAMS[name], numbers(rl, 2, 4, 6))
    assert_close(short[0], long[0], rtol=1e-5, atol=1e-5)
    assert short[1] == long[1]


def calls_of(xp, program):
    """The operators that a mode sees."""
    calls = []

    class Mode(DispatchMode if xp is rl else TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            calls.append(str(func))
            return func(*args, **(kwargs or {}))

    x = numbers(xp, 2, 4, 6)
    with xp.no_grad(), Mode():
        program(xp, x)
    return [each for each in calls if "to_copy" not in each and "lift" not in each and "empty" not in each]


@pytest.mark.parametrize(
    "name", ["linear", "linear of one row", "linear without bias", "heads", "slices", "parts", "attention", "indices"]
)
def test_a_mode_sees_the_operators_that_torchs_mode_sees(name):
    mine, theirs = (calls_of(xp, PROGRAMS[name]) for xp in FRAMEWORKS)
    assert mine == theirs


def test_a_kernel_of_a_library_is_called_where_a_short_cut_would_leave_it_out():
    library, calls = rl.library.Library("aten", "IMPL"), []

    def addmm(bias, a, b, *, beta=1, alpha=1):
        calls.append("addmm")
        return bias + a.mm(b)

    x = numbers(rl, 2, 4, 6)
    with rl.no_grad():
        wanted = linear(rl, x).tolist()
        library.impl("addmm", addmm, "CPU")
        try:
            found = linear(rl, x).tolist()
        finally:
            library._destroy()
    assert calls == ["addmm"]
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def test_a_kernel_of_a_library_sees_the_slices_of_an_index():
    library, calls = rl.library.Library("aten", "IMPL"), []

    def slice_(self, dim=0, start=None, end=None, step=1):
        calls.append((dim, start, end))
        return self.as_strided((2, 2), (4, 1), start)

    with rl.no_grad():
        library.impl("slice.Tensor", slice_, "CPU")
        try:
            found = rl.arange(8).reshape(2, 4)[:, 1:3].tolist()
        finally:
            library._destroy()
    assert calls == [(1, 1, 3)]
    assert found == [[1, 2], [5, 6]]


WRONG = {
    "linear": lambda xp, x: linear(xp, x[..., :5]),
    "linear without bias": lambda xp, x: xp.nn.functional.linear(x[..., :5], numbers(xp, 8, 6, seed=1)),
    "linear of other dtypes": lambda xp, x: linear(xp, x.double()),
    "layer norm": lambda xp, x: layer_norm(xp, x[..., :5]),
    "layer norm of other dtypes": lambda xp, x: layer_norm(xp, x.double()),
    "embedding beyond the end": lambda xp, x: xp.nn.functional.embedding(xp.tensor([[9]]), x[0]),
    "embedding of a negative index": lambda xp, x: xp.nn.functional.embedding(xp.tensor([[-1]]), x[0]),
    "a step of 0": lambda xp, x: x[:, 0:1:0],
    "a dimension out of range": lambda xp, x: [x.transpose(1, 2), x.transpose(1, 3)],
    "a float as a dimension": lambda xp, x: [x.transpose(1, 2), x.transpose(1.0, 2.0)],
    "sizes that do not fit": lambda xp, x: x.unflatten(2, (4, 2)),
    "a copy onto an expanded tensor": lambda xp, x: x[:1].expand(2, 4, 6).copy_(x),
    "a copy onto itself, shifted": lambda xp, x: x.flatten()[1:].copy_(x.flatten()[:-1]),
    "a mask of numbers": lambda xp, x: x.masked_fill(x, 0),
    "a mask of other sizes": lambda xp, x: x.masked_fill(x[:, :3] > 0, 0),
    "an index too many": lambda xp, x: x[(xp.tensor([0]),) * 4],
    "an index out of range": lambda xp, x: x[xp.tensor([0]), xp.tensor([4])],
    "a copy of other sizes": lambda xp, x: x[:, :2].copy_(x),
}


@in_one_test
@pytest.mark.parametrize("name", WRONG)
def test_errors_are_torchs(name):
    def program(xp):
        with xp.no_grad():
            return WRONG[name](xp, numbers(xp, 2, 4, 6))

    agree(program)


def test_a_copy_into_a_view_counts_as_a_write_and_converts():
    def program(xp):
        x = xp.zeros(1, 2, 5, 3)
        known = x[:, :, :4]
        known[:, :, 2:].copy_(xp.ones(1, 2, 2, 3))
        known[:, :, :1].copy_(xp.full((1, 2, 1, 3), 7))
        known[:, :, 1:2].copy_(xp.tensor([1.0, 2.0, 3.0]))
        return x, x._version, known._version

    agree(program)
