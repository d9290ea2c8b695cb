"""Lowering rules of views, of new tensors, and of what puts tensors together or looks elements up.

A view is a function of indices, and a window on memory where its base is stored. In PyTorch: `torch/_inductor/lowering.py`
(`view`, `permute`, `slice_`, `cat`, `gather`, `embedding`, ...), `ir.py` (`View`, `ReinterpretView`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rushlight.aten.native.views import broadcast_shapes
from rushlight.c10.dtypes import bool_, dtype, int64
from rushlight.inductor import ir
from rushlight.inductor.index import ZERO, Index, Indirect, reshaped_indices
from rushlight.inductor.ir import Expr, Pointwise, constant, op
from rushlight.inductor.lowering import Box, Lowering, Unsupported, View, lowers
from rushlight.inductor.lowerings_pointwise import comparison, elements, value_at, where

# ------------------------------------------------------------------------------------------------------------
# New tensors


def filled(sizes: Sequence[int], value: Any, dtype: dtype) -> Pointwise:
    return Pointwise(tuple(sizes), dtype, lambda indices: constant(value, dtype))


def result_of(graph: Lowering) -> Any:
    return graph.node.meta["val"]


@lowers("full", "full_like", "new_full")
def full(graph: Lowering, like: Any, *args: Any) -> Pointwise:
    value = args[1] if graph.node.target.name() == "aten::new_full" else args[0]
    return filled(result_of(graph).shape, value, result_of(graph).dtype)


@lowers("zeros", "zeros_like", "new_zeros", "zero")
def zeros(graph: Lowering, *args: Any) -> Pointwise:
    return filled(result_of(graph).shape, 0, result_of(graph).dtype)


@lowers("ones", "ones_like", "new_ones")
def ones(graph: Lowering, *args: Any) -> Pointwise:
    return filled(result_of(graph).shape, 1, result_of(graph).dtype)


@lowers("empty.memory_format", "empty_like", "new_empty", "empty_strided", "new_empty_strided")
def empty(graph: Lowering, *args: Any) -> Pointwise:
    return zeros(graph)  # what is in it may be anything


@lowers("fill.Scalar", "fill.Tensor")
def fill(graph: Lowering, x: Box, value: Any) -> Pointwise:
    if isinstance(value, Box):
        return elements(lambda value: value, [value], x.dtype, x.sizes)
    return filled(x.sizes, value, x.dtype)


@lowers("arange", "arange.start", "arange.start_step")
def arange(graph: Lowering, *args: Any) -> Pointwise:
    numbers = args[
        : {"aten::arange": 1, "aten::arange.start": 2, "aten::arange.start_step": 3}[graph.node.target.name()]
    ]
    start, step = (0, 1) if len(numbers) == 1 else (numbers[0], numbers[2] if len(numbers) == 3 else 1)
    if not all(isinstance(each, int) for each in (start, step)):
        raise Unsupported
    kind = result_of(graph).dtype
    return Pointwise(
        tuple(result_of(graph).shape),
        kind,
        lambda indices: ir.cast(ir.position(indices[0] * step + start, int64), kind),
    )


@lowers("tril", "triu")
def triangle(graph: Lowering, x: Box, diagonal: int = 0) -> Pointwise:
    name = "le" if graph.node.target.name() == "aten::tril" else "ge"

    def inner(indices: Sequence[Index]) -> Expr:
        *_, row, column = indices
        inside = comparison(name, ir.position(column - row, int64), diagonal)
        return where(inside, x.load(indices), 0)

    return Pointwise(x.sizes, x.dtype, inner)


# ------------------------------------------------------------------------------------------------------------
# Views


@lowers("alias", "detach")
def alias(graph: Lowering, x: Box) -> Box:
    return x


@lowers("view", "reshape", "_unsafe_view", "_reshape_alias", "unsqueeze", "squeeze", "squeeze.dim", "squeeze.dims")
def reshape(graph: Lowering, x: Box, *args: Any) -> View:
    sizes = tuple(result_of(graph).shape)
    return view(graph, x, lambda indices: reshaped_indices(indices, x.sizes, sizes))


def view(graph: Lowering, x: Box, reindex: Callable) -> View:
    """Other indices on a box, and the window on memory that eager execution gave the result."""
    val, base = result_of(graph), graph.node.args[0].meta["val"]
    return View(x, tuple(val.shape), reindex, tuple(val.stride()), val.storage_offset() - base.storage_offset())


@lowers("expand", "broadcast_to")
def expand(graph: Lowering, x: Box, *args: Any) -> View:
    def reindex(indices: Sequence[Index]) -> list[Index]:
        own = indices[len(indices) - len(x.sizes) :]
        return [ZERO if size == 1 else index for index, size in zip(own, x.sizes)]

    return view(graph, x, reindex)


@lowers("permute")
def permute(graph: Lowering, x: Box, dims: Sequence[int]) -> View:
    order = [dim % len(dims) for dim in dims]
    return view(graph, x, lambda indices: [indices[order.index(dim)] for dim in range(len(order))])


@lowers("t")
def t(graph: Lowering, x: Box) -> View:
    return permute(graph, x, [1, 0] if len(x.sizes) == 2 else range(len(x.sizes)))


@lowers("transpose.int")
def transpose(graph: Lowering, x: Box, dim0: int, dim1: int) -> View | Box:
    if not x.sizes:
        return x
    order = list(range(len(x.sizes)))
    order[dim0], order[dim1] = order[dim1], order[dim0]
    return permute(graph, x, order)


@lowers("select.int")
def select(graph: Lowering, x: Box, dim: int, index: int) -> View:
    dim, index = dim % len(x.sizes), index % x.sizes[dim]
    return view(graph, x, lambda indices: [*indices[:dim], Index.of(index), *indices[dim:]])


@lowers("slice.Tensor")
def slice_(
    graph: Lowering, x: Box, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> View:
    if isinstance(start, Box) or isinstance(end, Box):
        raise Unsupported
    dim = dim % len(x.sizes)
    first = bounded(start or 0, x.sizes[dim])
    return view(graph, x, lambda indices: [each * step + first if d == dim else each for d, each in enumerate(indices)])


def bounded(place: int, size: int) -> int:
    """A place in a dimension as slices take it: from either end, and never outside."""
    return min(max(place + size if place < 0 else place, 0), size)


@lowers("diagonal")
def diagonal(graph: Lowering, x: Box, offset: int = 0, dim1: int = 0, dim2: int = 1) -> View:
    dim1, dim2 = dim1 % len(x.sizes), dim2 % len(x.sizes)

    def reindex(indices: Sequence[Index]) -> list[Index]:
        *others, along = indices
        waiting = iter(others)
        found = {dim1: along + max(-offset, 0), dim2: along + max(offset, 0)}
        return [found[dim] if dim in found else next(waiting) for dim in range(len(x.sizes))]

    return view(graph, x, reindex)


@lowers("split.Tensor", "split_with_sizes", "unbind.int")
def split(graph: Lowering, x: Box, how: Any, dim: int | None = None) -> list[View]:
    vals, base = result_of(graph), graph.node.args[0].meta["val"]
    unbinds = graph.node.target.name() == "aten::unbind.int"
    dim = (how if unbinds else dim or 0) % len(x.sizes)
    views, start = [], 0
    for val in vals:

        def reindex(indices: Sequence[Index], start: int = start) -> list[Index]:
            if unbinds:
                return [*indices[:dim], Index.of(start), *indices[dim:]]
            return [each + start if d == dim else each for d, each in enumerate(indices)]

        views.append(
            View(x, tuple(val.shape), reindex, tuple(val.stride()), val.storage_offset() - base.storage_offset())
        )
        start += 1 if unbinds else val.shape[dim]
    return views


@lowers("flip")
def flip(graph: Lowering, x: Box, dims: Sequence[int]) -> View:
    gone = {dim % len(x.sizes) for dim in dims}
    return View(
        x,
        x.sizes,
        lambda indices: [
            Index.of(size - 1) - i if d in gone else i for d, (i, size) in enumerate(zip(indices, x.sizes))
        ],
    )


# ------------------------------------------------------------------------------------------------------------
# Putting together, and looking up


@lowers("cat")
def cat(graph: Lowering, tensors: Sequence[Box], dim: int = 0) -> Pointwise:
    val = result_of(graph)
    tensors = [each for each in tensors if each.sizes != (0,) or len(val.shape) == 1]
    dim = dim % len(val.shape)
    for each in tensors:
        if isinstance(each.value, Pointwise) and 0 not in each.sizes:
            each.window()  # a branch computes little: nothing in it is shared with what is outside

    def inner(indices: Sequence[Index]) -> Expr:
        where_ = ir.position(Index.of(indices[dim]), int64)
        ends, found = sum(each.sizes[dim] for each in tensors), None
        for each in reversed(tensors):
            ends -= each.sizes[dim]
            if not each.sizes[dim]:
                continue
            own = [index - ends if d == dim else index for d, index in enumerate(indices)]
            value = ir.cast(each.load(own), val.dtype)
            found = (
                value
                if found is None
                else op("masked", comparison("lt", where_, ends + each.sizes[dim]), value, found, dtype=val.dtype)
            )
        return found

    return Pointwise(tuple(val.shape), val.dtype, inner)


@lowers("stack")
def stack(graph: Lowering, tensors: Sequence[Box], dim: int = 0) -> Pointwise:
    val = result_of(graph)
    dim = dim % len(val.shape)
    for each in tensors:
        each.window()

    def inner(indices: Sequence[Index]) -> Expr:
        own, found = [*indices[:dim], *indices[dim + 1 :]], None
        for place, each in reversed(list(enumerate(tensors))):
            value = ir.cast(each.load(own), val.dtype)
            here = comparison("le", ir.position(Index.of(indices[dim]), int64), place)
            found = value if found is None else op("masked", here, value, found, dtype=val.dtype)
        return found

    return Pointwise(tuple(val.shape), val.dtype, inner)


def looked_up(value: Expr, size: int) -> Index:
    """What is read from memory as an index; a negative one counts from the end."""
    whole = ir.cast(value, int64)
    return Index.of(Indirect(where(comparison("lt", whole, 0), whole + size, whole), size))


@lowers("embedding")
def embedding(graph: Lowering, weight: Box, indices: Box, *others: Any) -> Pointwise:
    def inner(at: Sequence[Index]) -> Expr:
        *rows, column = at
        return weight.load([looked_up(indices.load(rows), weight.sizes[0]), column])

    return Pointwise((*indices.sizes, weight.sizes[1]), weight.dtype, inner)


@lowers("gather")
def gather(graph: Lowering, x: Box, dim: int, index: Box, sparse_grad: bool = False) -> Pointwise:
    if not x.sizes or not index.sizes:
        raise Unsupported
    dim = dim % len(x.sizes)

    def inner(at: Sequence[Index]) -> Expr:
        return x.load([looked_up(index.load(at), x.sizes[dim]) if d == dim else each for d, each in enumerate(at)])

    return Pointwise(index.sizes, x.dtype, inner)


@lowers("index_select")
def index_select(graph: Lowering, x: Box, dim: int, index: Box) -> Pointwise:
    if not x.sizes or len(index.sizes) != 1:
        raise Unsupported
    dim = dim % len(x.sizes)

    def inner(at: Sequence[Index]) -> Expr:
        return x.load([looked_up(index.load([each]), x.sizes[dim]) if d == dim else each for d, each in enumerate(at)])

    return Pointwise(tuple(result_of(graph).shape), x.dtype, inner)


@lowers("index.Tensor")
def index_tensor(graph: Lowering, x: Box, indices: Sequence[Box | None]) -> Pointwise:
    places = [dim for dim, each in enumerate(indices) if each is not None]
    if not places or places != list(range(places[0], places[-1] + 1)) or any(indices[d].dtype is bool_ for d in places):
        raise Unsupported
    first, shape = places[0], tuple(broadcast_shapes(*(indices[d].sizes for d in places)))

    def inner(at: Sequence[Index]) -> Expr:
        chosen = at[first : first + len(shape)]
        own = [looked_up(value_at(indices[d], chosen), x.sizes[d]) for d in places]
        return x.load([*at[:first], *own, *at[first + len(shape) :]])

    return Pointwise(tuple(result_of(graph).shape), x.dtype, inner)


@lowers("scatter.value")
def scatter_value(graph: Lowering, x: Box, dim: int, index: Box, value: float) -> Pointwise:
    if not x.sizes:
        raise Unsupported
    dim = dim % len(x.sizes)
    if tuple(index.sizes) != tuple(1 if d == dim else size for d, size in enumerate(x.sizes)):
        raise Unsupported

    def inner(at: Sequence[Index]) -> Expr:
        there = ir.cast(index.load([ZERO if d == dim else each for d, each in enumerate(at)]), int64)
        here = op("eq", there, ir.position(Index.of(at[dim]), int64), dtype=bool_)
        return where(here, constant(value, x.dtype), x.load(at))

    return Pointwise(x.sizes, x.dtype, inner)


@lowers("select_backward")
def select_backward(graph: Lowering, grad: Box, sizes: Sequence[int], dim: int, index: int) -> Pointwise:
    dim, index = dim % len(sizes), index % sizes[dim]

    def inner(at: Sequence[Index]) -> Expr:
        here = comparison("eq", ir.position(Index.of(at[dim]), int64), index)
        return where(here, grad.load([*at[:dim], *at[dim + 1 :]]), 0)

    return Pointwise(tuple(sizes), grad.dtype, inner)


@lowers("slice_backward")
def slice_backward(
    graph: Lowering, grad: Box, sizes: Sequence[int], dim: int, start: int, end: int, step: int
) -> Pointwise:
    dim = dim % len(sizes)
    if step != 1:
        raise Unsupported
    first = bounded(start, sizes[dim])
    last = first + grad.sizes[dim]
    if grad.value and isinstance(grad.value, Pointwise):
        grad.window()

    def inner(at: Sequence[Index]) -> Expr:
        place = ir.position(Index.of(at[dim]), int64)
        here = op("and", comparison("ge", place, first), comparison("lt", place, last), dtype=bool_)
        value = (
            grad.load([each - first if d == dim else each for d, each in enumerate(at)])
            if last > first
            else constant(0, grad.dtype)
        )
        return op("masked", here, value, constant(0, grad.dtype), dtype=grad.dtype)

    return Pointwise(tuple(sizes), grad.dtype, inner)
