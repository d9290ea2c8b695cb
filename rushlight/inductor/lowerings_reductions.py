"""Lowering rules of reductions, and of products of matrices.

In PyTorch: `torch/_inductor/lowering.py` (`make_reduction`), `decomposition.py`, and `kernel/mm.py`.
"""

import math
from collections.abc import Sequence
from typing import Any

from rushlight.c10.dtypes import bool_, dtype, float32, float64, int64, uint8
from rushlight.inductor import lowering
from rushlight.inductor.index import ZERO
from rushlight.inductor.ir import ExternKernel, Pointwise, Reduction, ReinterpretView
from rushlight.inductor.lowering import TensorBox, Unsupported, V, reduction, register_lowering
from rushlight.inductor.lowerings_pointwise import make_pointwise, to_dtype
from rushlight.inductor.lowerings_views import filled, meta_result

# Reductions ----------------------------------------------------------------------------------------------------------

NEUTRAL = {"sum": 0, "prod": 1, "any": False, "all": True}  # the result of a reduction of no elements


def operator_name() -> str:
    """The name of the operator that is lowered, without namespace and overload."""
    return V.graph.node.target.name().partition("::")[2].partition(".")[0]


def reduced_dims(x: TensorBox, dim: Any) -> list[int]:
    """The dimensions that a reduction's argument names: an int, a list, or none for all dimensions."""
    dims = range(len(x.sizes)) if dim is None or dim == [] or dim == () else [dim] if isinstance(dim, int) else dim
    return [] if not x.sizes else sorted({number % len(x.sizes) for number in dims})


def reduce(kind: str, x: TensorBox, dims: Sequence[int], keepdim: bool, dtype: dtype | None = None) -> Any:
    """The loops of a reduction; pointwise work if there is at most one element to reduce."""
    loops = reduction(kind, x, dims, keepdim, dtype)
    count = math.prod(loops.reduced_sizes)
    if count == 0:
        if kind not in NEUTRAL:
            raise Unsupported
        return filled(loops.sizes, NEUTRAL[kind], loops.dtype)
    if count == 1:
        zeros = [ZERO] * len(loops.reduced_sizes)
        return Pointwise(loops.sizes, loops.dtype, lambda indices: loops.inner(indices, zeros))
    return loops


@register_lowering("sum.dim_IntList", "prod.dim_int")
def sum_dims(x: TensorBox, dim: Any, keepdim: bool = False, dtype: dtype | None = None) -> Any:
    """The lowering of `sum` and `prod` over dimensions. Integers and bool give int64, unless `dtype` says otherwise."""
    dtype = dtype or (x.dtype if x.dtype.is_floating_point else int64)
    return reduce(operator_name(), x, reduced_dims(x, dim), keepdim, dtype)


register_lowering("sum", "prod")(lambda x, dtype=None: sum_dims(x, None, False, dtype))


@register_lowering("amax", "amin", "max", "min")
def amax(x: TensorBox, dim: Any = (), keepdim: bool = False) -> Any:
    """The lowering of `amax` and `amin`, and of `max` and `min` without a dimension."""
    return reduce(operator_name()[-3:], x, reduced_dims(x, dim), keepdim)


@register_lowering("any", "all", "any.dim", "all.dim", "any.dims", "all.dims")
def any_(x: TensorBox, dim: Any = None, keepdim: bool = False) -> Any:
    """The lowering of `any` and `all`. An empty list of dimensions, and the dtype uint8, are not lowered."""
    if x.dtype is uint8 or (dim is not None and not isinstance(dim, int) and not len(dim)):
        raise Unsupported
    return reduce(operator_name(), to_dtype(x, bool_), reduced_dims(x, dim), keepdim)


@register_lowering("argmax", "argmin")
def argmax(x: TensorBox, dim: int | None = None, keepdim: bool = False) -> Any:
    """The index of the first of the largest, or smallest, elements in a dimension."""
    if x.dtype is bool_ or not x.sizes or dim is None:
        raise Unsupported
    loops = reduction(operator_name(), x, [dim], keepdim)
    if loops.reduced_sizes == (1,):
        return filled(loops.sizes, 0, int64)
    return Reduction(loops.sizes, int64, loops.inner, loops.reduced_sizes, loops.kind)


# Products of matrices ------------------------------------------------------------------------------------------------


def extern_kernel(name: str, operands: Sequence[ReinterpretView], scalars: dict[str, float] | None = None) -> TensorBox:
    """A product by BLAS, into a buffer of its own."""
    val = meta_result()
    if val.dtype not in (float32, float64) or math.prod(val.shape) == 0 or 0 in operands[-1].sizes:
        raise Unsupported
    out = V.graph.buffer_like(val)
    kernel = ExternKernel(name, list(operands), out.value.buffer, val.dtype, scalars or {}, [V.graph.node.name])
    V.graph.operations.append(kernel)
    return out


@register_lowering("mm", "bmm")
def mm(a: TensorBox, b: TensorBox) -> TensorBox:
    """The lowering of `mm` and `bmm`: a call of an extern kernel on buffers."""
    return extern_kernel(operator_name(), [a.in_memory(), b.in_memory()])


@register_lowering("addmm")
def addmm(bias: TensorBox, a: TensorBox, b: TensorBox, beta: float = 1, alpha: float = 1) -> Any:
    """The lowering of `addmm`. If only loops use the result, these loops add the bias, and otherwise the extern kernel
    does."""
    users = list(V.graph.node.users)
    if beta == 1 and alpha == 1 and users and all(is_loop_user(user) for user in users):
        product = extern_kernel("mm", [a.in_memory(), b.in_memory()])  # the users' loops add the bias
        return make_pointwise(lambda p, b: p + b, [product, bias], product.dtype)
    sizes, view = tuple(meta_result().shape), bias.in_memory()
    missing = len(sizes) - len(view.sizes)
    strides = [0] * missing + [0 if size == 1 else stride for size, stride in zip(view.sizes, view.strides)]
    broadcast = ReinterpretView(view.buffer, sizes, tuple(strides), view.offset, view.dtype)
    return extern_kernel("addmm", [broadcast, a.in_memory(), b.in_memory()], {"beta": beta, "alpha": alpha})


def is_loop_user(node: Any) -> bool:
    """Return whether a node computes in loops of its own, so that its operands need no memory."""
    rule = lowering.LOWERINGS.get(getattr(node.target, "name", str)())
    return rule is not None and rule not in (mm, addmm) and not rule.__module__.endswith("_views")
