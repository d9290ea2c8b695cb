"""Lab 14c, the operands of a product: which views a kernel can read, and the product of two of them."""

from __future__ import annotations

import numpy as np

from ...engine.check import program
from ..cases import drawing, explained, first_of, rows, tensor
from ..shared_14 import SECONDS, UNWRITTEN, counted, error_of
from .needed import about_products, fewer_bytes, grid_of, of_blocked

LAYOUTS = [
    "rows",
    "columns",
    "rows of a wider one",
    "columns of a higher one",
    "each second column",
    "overlapping",
    "one row",
]


def matrix(height, width, layout, offset=0):
    """The description of a float32 matrix."""
    strides = {
        "rows": [width, 1],
        "columns": [1, height],
        "rows of a wider one": [width + 3, 1],
        "columns of a higher one": [1, height + 2],
        "each second column": [2 * width, 2],
        "overlapping": [max(1, width - 1), 1],
        "one row": [0, 1],
    }[layout]
    return tensor([height, width], strides, offset, "float32")


@drawing
def _matrices(draw, st):
    size = st.integers(0, 5)
    strides = [draw(st.one_of(st.integers(0, 7), st.just(1))) for _ in range(2)]
    return {"x": tensor([draw(size), draw(size)], strides, draw(st.integers(0, 2)), "float32")}


def _is_taken(x):
    """Whether a matrix is taken as it is, and if so, whether transposed: by what cuBLAS can read."""
    rows, columns = x.shape
    if x.is_contiguous():
        return True, False
    for dim, length, transposed in ((0, rows, True), (1, columns, False)):
        if x.stride(dim) == 1 and x.stride(1 - dim) >= max(1, length):
            return True, transposed
    return False, False


@program(
    "aten.native.cuda.blas.prepare_matrix",
    cases=_matrices,
    edges=rows(
        "x",
        *((matrix(3, 4, layout),) for layout in LAYOUTS), *((matrix(4, 3, layout, 2),) for layout in LAYOUTS),
        (matrix(1, 4, "rows"),), (matrix(1, 4, "rows of a wider one"),), (matrix(4, 1, "rows"),), (matrix(4, 1, "columns"),),
        (matrix(4, 1, "rows of a wider one"),), (matrix(0, 3, "rows"),), (matrix(3, 0, "columns"),), (matrix(1, 1, "rows", 5),),
        (tensor([3, 4], [1, 2], 0, "float32"),), (tensor([1, 5], [1, 10], 0, "float32"),), (tensor([3, 1], [10, 5], 0, "float32"),),
        (tensor([1, 3], [5, 10], 0, "float32"),), (tensor([3, 3], [1, 1], 0, "float32"),), (tensor([5, 1], [1, 0], 0, "float32"),),
        (tensor([3, 2], [4, 2], 0, "float32"),), (tensor([2, 2], [1, 1], 0, "float32"),), (tensor([3, 4], [0, 0], 0, "float32"),),
        (tensor([4, 3], [1, 0], 0, "float32"),), (tensor([1, 1], [3, 3], 0, "float32"),), (tensor([2, 1], [1, 2], 0, "float32"),),
        (tensor([1, 4], [2, 1], 0, "float32"),), (tensor([1, 4], [7, 2], 0, "float32"),),
        (tensor([3, 2], [5, 0], 0, "float32"),), (tensor([4, 3], [0, 5], 0, "float32"),),
    ),
    hint=explained(
        copied="which rule takes this tensor? Two rules ask for both strides: one is 1, and the other one is at least the length "
        "of a row, or of a column",
        transposed="a contiguous tensor is not transposed, and another one is if the stride of dimension 0 is 1",
        leading_dimension="the distance from one contiguous row, or column, to the next one",
        values="the tensor has the values of `x`",
        x_afterwards="`x` is only read",
    ),
)  # fmt: skip
def prepared_matrices(rl, x):
    before = x.tolist()
    tensor, ld, transposed = rl.aten.native.cuda.blas.prepare_matrix(x)
    copied = tensor.untyped_storage() is not x.untyped_storage()
    after = x.tolist()
    shown = {
        "x afterwards": None if after == before else after,
        "copied": copied,
        "transposed": bool(transposed),
        "values": tensor.tolist(),
    }
    return shown | {"leading dimension": _used(tensor, int(ld), transposed)}


def _used(x, ld, transposed):
    """The leading dimension, which the kernel uses if there is a second row, or column."""
    return ld if x.shape[1 if transposed else 0] > 1 else None


@prepared_matrices.oracle
def _(torch, x):
    taken, transposed = _is_taken(x)
    tensor = x if taken else x.clone(memory_format=torch.contiguous_format)
    ld = _used(tensor, tensor.stride(1 if transposed else 0), transposed)
    return {
        "x afterwards": None,
        "copied": not taken,
        "transposed": transposed,
        "values": tensor.tolist(),
        "leading dimension": ld,
    }


# The product ---------------------------------------------------------------------------------------------------------


def _case(m, n, k, a="rows", b="rows", offsets=(0, 0), bias=1, relu=False):
    return {
        "a": matrix(m, k, a, offsets[0]),
        "b": matrix(k, n, b, offsets[1]),
        "bias": tensor([n], [bias], 0, "float32"),
        "relu": relu,
    }


@drawing
def _products(draw, st):
    m, n, k = (draw(st.integers(0, 20)) for _ in range(3))
    layouts = [draw(st.sampled_from(LAYOUTS)) for _ in range(2)]
    offsets = [draw(st.integers(0, 9)) for _ in range(2)]
    return _case(m, n, k, *layouts, offsets, draw(st.sampled_from([1, 1, 2, 0])), draw(st.booleans()))


@program(
    "aten.native.cuda.blas.addmm",
    cases=_products,
    edges=[
        _case(8, 8, 8), _case(20, 17, 9), _case(20, 17, 9, "columns"), _case(20, 17, 9, "rows", "columns"),
        _case(9, 20, 17, "columns", "columns", relu=True),
        _case(12, 10, 7, "rows of a wider one", "columns of a higher one", (3, 5)),
        _case(12, 10, 7, "each second column", "rows"), _case(12, 10, 7, "rows", "each second column", (0, 1)),
        _case(6, 7, 5, "one row", "overlapping"), _case(65, 3, 4), _case(3, 65, 4), _case(2, 130, 3, "columns", bias=2),
        _case(5, 4, 3, bias=0), _case(4, 5, 0), _case(0, 5, 4), _case(4, 0, 3), _case(1, 5, 3), _case(5, 1, 3, "rows", "columns"),
        _case(130, 2, 3, relu=True), _case(64, 3, 2), _case(3, 128, 2),
        _case(1, 1, 1), _case(0, 4, 4), _case(0, 3, 3, "rows", "columns"),
    ],
    hint=first_of(
        explained(
            memory="the result has memory of its own",
            kernels_and_blocks="one launch of `product_blocked`, with a block for each 64 x 64 elements: x along the columns, y "
            "along the rows. There is none only if the result has no elements",
            operands_afterwards="the operands are only read",
            read_in_place="an operand that `prepare_matrix` takes as it is, is read where it is, without a copy",
            epilogue="the kernel adds the bias and applies relu, and no other operator does. It reads neighbours of the bias",
        ),
        about_products,
    ),
    draws=5,
)  # fmt: skip
def products_of_tensors(rl, a, b, bias, relu):
    import rushlight.on_torch.cuda_on_host  # noqa: F401  the device of `loops.launch`
    from rushlight.utils.child import run_in_child

    error_of(rl.aten.native.cuda.blas.product_blocked_source())  # it is compiled before the child's time begins
    _lower(a)
    spoilt = rl.full((a.shape[0], b.shape[1]), UNWRITTEN)  # the memory of the next tensor may be this one's
    del spoilt
    return run_in_child(_product, rl.aten.native.cuda, a, b, bias, relu, _needed(a, b), seconds=3 * SECONDS)


def _lower(x):
    """Make some elements of a tensor's memory negative, so that relu changes results."""
    count = x.untyped_storage().nbytes() // 4
    x.as_strided((count,), (1,), 0).sub_(count // 2)


def _product(cuda, a, b, bias, relu, needed):
    from rushlight.on_torch.cuda_on_host import Module

    arguments, launch = [], Module.launch
    Module.launch = lambda self, *given, **options: arguments.append(given[3:]) or launch(self, *given, **options)
    cuda.loops.launches.clear()
    operands = a, b, bias
    before, memory = [x.tolist() for x in operands], [x.untyped_storage() for x in operands]
    result = cuda.blas.addmm(bias, a, b, relu)
    kernels = [[launch.kernel, list(launch.blocks)] for launch in cuda.loops.launches]
    after = [x.tolist() for x in operands]
    new = all(result.untyped_storage() is not of for of in memory)
    shown = {
        "findings": [],
        "memory": None if new else "an operand's",
        "kernels and blocks": kernels,
        "operands afterwards": None if after == before else after,
    }
    if len(kernels) != 1 or not needed:
        return shown | {"result": result}
    findings, counts = counted("", cuda.loops.launches[0].result, needed)
    shown |= {
        "findings": findings,
        "read in place": [_is_of(*pair) for pair in zip(arguments[0], (a, b), strict=False)],
        "epilogue": _epilogue(arguments[0], len(bias)),
    }
    return fewer_bytes(shown | {"result": result} | counts, needed)


def _epilogue(arguments, count):
    """The bias that a kernel got, and whether it applies relu."""
    bias = arguments[2] if len(arguments) == 8 else None
    return [bias[:count].tolist(), bool(arguments[7])] if isinstance(bias, np.ndarray) else None


def _is_of(matrix, x):
    """Whether a struct that a kernel got points to the memory of a tensor."""
    array = matrix[0] if isinstance(matrix, tuple) else None
    return isinstance(array, np.ndarray) and np.shares_memory(array, x.numpy()) if x.numel() else None


@products_of_tensors.oracle
def _(torch, a, b, bias, relu):
    _lower(a)
    result = torch.addmm(bias, a, b)
    m, n = result.shape
    kernels = [["product_blocked", [*grid_of(n, m, 64)]]] if m * n else []
    shown = {"findings": [], "memory": None, "kernels and blocks": kernels, "operands afterwards": None}
    if needed := _needed(a, b):
        shown |= {"read in place": [_is_taken(x)[0] if x.numel() else None for x in (a, b)]}
        shown |= {"epilogue": [bias.tolist(), relu]}
    return shown | {"result": result.relu() if relu else result} | needed


def _needed(a, b):
    if 0 in (a.shape[0], b.shape[1]):
        return {}
    return of_blocked(a.shape[0], b.shape[1], a.shape[1], *(_operand(x) for x in (a, b)))


def _operand(x):
    taken, transposed = _is_taken(x)
    if not taken:
        return x.shape[1], False, 0
    return x.stride(1 if transposed else 0), transposed, x.storage_offset()
