"""Lowering rules of views, of new tensors, and of operators that concatenate tensors or look elements up.

A view is a function of indices, and a view of a buffer where its base is realized. In PyTorch: `torch/_inductor/lowering.py`
(`view`, `permute`, `slice_`, `cat`, `gather`, `embedding`, ...), `ir.py` (`View`, `ReinterpretView`).
"""

from collections.abc import Callable, Sequence
from typing import Any

from rushlight.aten.native.views import broadcast_shapes
from rushlight.c10.dtypes import bool_, dtype, int64
from rushlight.inductor import ir, lowering
from rushlight.inductor.index import Index, Indirect, reshaped_indices
from rushlight.inductor.ir import Expr, Pointwise, constant, op
from rushlight.inductor.lowering import TensorBox, Unsupported, V, View, box, load_broadcast, register_lowering
from rushlight.inductor.lowerings_pointwise import comparison, identity, where

# New tensors ---------------------------------------------------------------------------------------------------------


def filled(sizes: Sequence[int], value: Any, dtype: dtype) -> Pointwise:
    """A loop that writes one value to a tensor of these sizes."""
    return Pointwise(tuple(sizes), dtype, lambda indices: constant(value, dtype))


def meta_result() -> Any:
    """The meta tensor of the result of the node that is lowered."""
    return V.graph.node.meta["val"]


def result_filled(value: Any) -> Pointwise:
    """A loop that writes one value to a tensor like the current node's result."""
    val = meta_result()
    return filled(val.shape, value, val.dtype)


register_lowering("full", "full_like")(lambda like, value, *_: result_filled(value))
register_lowering("new_full")(lambda like, sizes, value, *_: result_filled(value))
register_lowering("zeros", "zeros_like", "new_zeros", "zero")(lambda *_: result_filled(0))
register_lowering("ones", "ones_like", "new_ones")(lambda *_: result_filled(1))
register_lowering("empty.memory_format", "empty_like", "new_empty", "empty_strided", "new_empty_strided")(
    lambda *_: result_filled(0)  # any value is right
)


@register_lowering("fill.Scalar", "fill.Tensor")
def fill(x: TensorBox, value: Any) -> Pointwise:
    """The lowering of `fill`: the value is a number, or a tensor that is broadcast."""
    return identity(value, x.dtype, x.sizes) if isinstance(value, TensorBox) else filled(x.sizes, value, x.dtype)


@register_lowering("arange.start_step")
def arange(start: Any, end: Any, step: Any = 1, *_: Any) -> Pointwise:
    """The lowering of `arange` from integers: each element is computed from its index."""
    if not isinstance(start, int) or not isinstance(step, int):
        raise Unsupported
    val = meta_result()
    return Pointwise(tuple(val.shape), val.dtype, lambda at: ir.cast(index_value(at[0] * step + start), val.dtype))


register_lowering("arange")(lambda end, *_: arange(0, end))
register_lowering("arange.start")(lambda start, end, *_: arange(start, end))


# Views ---------------------------------------------------------------------------------------------------------------

register_lowering("alias", "detach")(lambda x: x)

RESHAPES = "view", "reshape", "_unsafe_view", "_reshape_alias", "unsqueeze", "squeeze", "squeeze.dim", "squeeze.dims"


@register_lowering(*RESHAPES)
def reshape(x: TensorBox, *args: Any) -> View:
    """The lowering of the operators in `RESHAPES`: a view with other index arithmetic, and no copy."""
    sizes = tuple(meta_result().shape)
    return view(x, lambda indices: reshaped_indices(indices, x.sizes, sizes))


def view(x: TensorBox, reindex: Callable, val: Any = None) -> View:
    """The view that eager execution returns, `val` or the node's only result: other indices on a box, and sizes, strides and
    offset in memory."""
    val = meta_result() if val is None else val
    offset = val.storage_offset() - V.graph.node.args[0].meta["val"].storage_offset()
    return View(x, tuple(val.shape), reindex, tuple(val.stride()), offset)


register_lowering("expand", "broadcast_to")(lambda x, *_: view(x, lambda at: lowering.broadcast_indices(at, x.sizes)))


@register_lowering("permute")
def permute(x: TensorBox, dims: Sequence[int]) -> View:
    """The lowering of `permute`: a view with its indices in another order."""
    order = [dim % len(dims) for dim in dims]
    return view(x, lambda indices: [indices[order.index(dim)] for dim in range(len(order))])


register_lowering("t")(lambda x: permute(x, range(len(x.sizes))[::-1]))


@register_lowering("transpose.int")
def transpose(x: TensorBox, dim0: int, dim1: int) -> View | TensorBox:
    """The lowering of `transpose` by that of `permute`."""
    if not x.sizes:
        return x
    order = list(range(len(x.sizes)))
    order[dim0], order[dim1] = order[dim1], order[dim0]
    return permute(x, order)


register_lowering("select.int")(lambda x, dim, index: view(x, select_index(dim % len(x.sizes), index % x.sizes[dim])))


@register_lowering("slice.Tensor")
def slice_(x: TensorBox, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> View:
    """The lowering of a slice: a view whose index has a start and a step. Start and end that are tensors are not
    lowered."""
    if isinstance(start, TensorBox) or isinstance(end, TensorBox):
        raise Unsupported
    dim = dim % len(x.sizes)
    return view(x, slice_indices(dim, slice(start, None).indices(x.sizes[dim])[0], step))


@register_lowering("diagonal")
def diagonal(x: TensorBox, offset: int = 0, dim1: int = 0, dim2: int = 1) -> View:
    """The lowering of `diagonal`: a view in which one index moves along both dimensions."""
    dim1, dim2 = dim1 % len(x.sizes), dim2 % len(x.sizes)

    def reindex(indices: Sequence[Index]) -> list[Index]:
        *others, along = indices
        rest = iter(others)
        positions = {dim1: along + max(-offset, 0), dim2: along + max(offset, 0)}
        return [positions[dim] if dim in positions else next(rest) for dim in range(len(x.sizes))]

    return view(x, reindex)


@register_lowering("split.Tensor", "split_with_sizes")
def split(x: TensorBox, how: Any, dim: int = 0) -> list[View]:
    """The lowering of `split` and `split_with_sizes`: one slice for each part."""
    dim, start, views = dim % len(x.sizes), 0, []
    for val in meta_result():
        views.append(view(x, slice_indices(dim, start), val))
        start += val.shape[dim]
    return views


@register_lowering("unbind.int")
def unbind(x: TensorBox, dim: int = 0) -> list[View]:
    """The lowering of `unbind`: one view for each index of a dimension."""
    dim = dim % len(x.sizes)
    return [view(x, select_index(dim, number), val) for number, val in enumerate(meta_result())]


def slice_indices(dim: int, start: int, step: int = 1) -> Callable:
    """The indices of a slice: in one dimension from `start`, in steps."""
    return lambda indices: [index * step + start if d == dim else index for d, index in enumerate(indices)]


def select_index(dim: int, index: int) -> Callable:
    """The indices of one element in a dimension that the view does not have."""
    return lambda indices: [*indices[:dim], Index.of(index), *indices[dim:]]


@register_lowering("flip")
def flip(x: TensorBox, dims: Sequence[int]) -> View:
    """The lowering of `flip`: an index of a flipped dimension counts from the end."""
    flipped = {dim % len(x.sizes) for dim in dims}

    def reindex(indices: Sequence[Index]) -> list[Index]:
        pairs = enumerate(zip(indices, x.sizes))
        return [Index.of(size - 1) - index if dim in flipped else index for dim, (index, size) in pairs]

    return View(x, x.sizes, reindex)


# Concatenation, and indices from memory ------------------------------------------------------------------------------


def masked(condition: Expr, value: Expr, other: Expr) -> Expr:
    """`value` where the condition is true, `other` elsewhere. Only the one that is chosen is evaluated."""
    return op("masked", condition, value, other, dtype=value.dtype)


def index_value(index: Index) -> Expr:
    """The value of an index in a loop, as int64."""
    return ir.index_expr(Index.of(index), int64)


@register_lowering("cat")
def cat(tensors: Sequence[TensorBox], dim: int = 0) -> Pointwise:
    """The lowering of `cat`: one loop that chooses the tensor by the index. Tensors of the size (0,) are left out."""
    val = meta_result()
    dim = dim % len(val.shape)
    tensors = [tensor for tensor in tensors if tensor.sizes != (0,) or len(val.shape) == 1]
    for tensor in tensors:
        if isinstance(tensor.value, Pointwise) and 0 not in tensor.sizes:
            tensor.in_memory()  # keep branches cheap: they share no values with the code outside

    def inner(indices: Sequence[Index]) -> Expr:
        end, result = val.shape[dim], None
        for tensor in reversed(tensors):
            start = end - tensor.sizes[dim]
            if start < end:
                value = ir.cast(tensor.load(slice_indices(dim, -start)(indices)), val.dtype)
                here = comparison("lt", index_value(indices[dim]), end)
                result = value if result is None else masked(here, value, result)
            end = start
        return result

    return Pointwise(tuple(val.shape), val.dtype, inner)


@register_lowering("stack")
def stack(tensors: Sequence[TensorBox], dim: int = 0) -> Pointwise:
    """The lowering of `stack`: a `cat` of tensors with a new dimension of size 1."""
    dim = dim % len(meta_result().shape)

    def unsqueezed(tensor: TensorBox) -> TensorBox:
        tensor.in_memory()
        sizes = (*tensor.sizes[:dim], 1, *tensor.sizes[dim:])
        return box(View(tensor, sizes, lambda indices: [*indices[:dim], *indices[dim + 1 :]]))

    return cat([unsqueezed(tensor) for tensor in tensors], dim)


def indirect_index(value: Expr, size: int) -> Index:
    """A value read from memory as an index; a negative one counts from the end."""
    whole = ir.cast(value, int64)
    return Index.of(Indirect(where(comparison("lt", whole, 0), whole + size, whole), size))


register_lowering("embedding")(lambda weight, indices, *_: index_tensor(weight, [indices]))
register_lowering("gather")(lambda x, dim, index, *_: load_at_index(x, dim, index, index.load))
register_lowering("index_select")(lambda x, dim, index: load_at_index(x, dim, index, lambda at: index.load([at[dim]])))


def load_at_index(x: TensorBox, dim: int, index: TensorBox, load: Callable[[Sequence[Index]], Expr]) -> Pointwise:
    """The elements of a tensor at indices from memory in one dimension."""
    if not x.sizes or not index.sizes:
        raise Unsupported
    dim = dim % len(x.sizes)

    def inner(at: Sequence[Index]) -> Expr:
        return x.load([*at[:dim], indirect_index(load(at), x.sizes[dim]), *at[dim + 1 :]])

    return Pointwise(tuple(meta_result().shape), x.dtype, inner)


@register_lowering("index.Tensor")
def index_tensor(x: TensorBox, indices: Sequence[TensorBox | None]) -> Pointwise:
    """The lowering of indexing with tensors in adjacent dimensions: each index is loaded and checked. Masks are not
    lowered."""
    dims = [dim for dim, index in enumerate(indices) if index is not None]
    if not dims or dims != list(range(dims[0], dims[-1] + 1)) or any(indices[d].dtype is bool_ for d in dims):
        raise Unsupported
    first, shape = dims[0], tuple(broadcast_shapes(*(indices[d].sizes for d in dims)))

    def inner(at: Sequence[Index]) -> Expr:
        chosen = at[first : first + len(shape)]
        own = [indirect_index(load_broadcast(indices[d], chosen), x.sizes[d]) for d in dims]
        return x.load([*at[:first], *own, *at[first + len(shape) :]])

    return Pointwise(tuple(meta_result().shape), x.dtype, inner)


@register_lowering("slice_scatter")
def slice_scatter(
    x: TensorBox, source: TensorBox, dim: int, start: int | None, end: int | None, step: int
) -> Pointwise:
    """The lowering of `slice_scatter` with step 1: one loop that chooses between `source` and `x` by the index."""
    dim = dim % len(x.sizes)
    if step != 1:
        raise Unsupported
    first = slice(start, None).indices(x.sizes[dim])[0]
    last = first + source.sizes[dim]
    if isinstance(source.value, Pointwise):
        source.in_memory()

    def inner(at: Sequence[Index]) -> Expr:
        index, kept = index_value(at[dim]), x.load(at)
        if last <= first:
            return kept
        here = op("and", comparison("ge", index, first), comparison("lt", index, last), dtype=bool_)
        return masked(here, source.load(slice_indices(dim, -first)(at)), kept)

    return Pointwise(x.sizes, x.dtype, inner)
