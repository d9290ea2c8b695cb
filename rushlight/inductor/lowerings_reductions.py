"""Lowering rules of reductions, of what is a formula of them (softmax, norms, losses), and of products of matrices.

In PyTorch: `torch/_inductor/lowering.py` (`make_reduction`, `var_mean_`), `decomposition.py`, and `kernel/mm.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rushlight.c10.dtypes import bool_, dtype, float32, float64, int64, promote_types, uint8
from rushlight.inductor import ir
from rushlight.inductor.index import ZERO, Index, Indirect
from rushlight.inductor.ir import Expr, Extern, Operand, Pointwise, Reduction, constant, op
from rushlight.inductor.lowering import (
    LOWERINGS,
    Box,
    Lowering,
    Unsupported,
    View,
    layout_of,
    lowers,
    pointwise,
    reduction,
)
from rushlight.inductor.lowerings_pointwise import comparison, elements, in_dtype, where
from rushlight.inductor.lowerings_views import filled, result_of

# ------------------------------------------------------------------------------------------------------------
# Reductions


def reduced_dims(x: Box, dim: Any) -> list[int]:
    """The dimensions that a reduction's argument names: an int, a list, or none, which is all."""
    dims = range(len(x.sizes)) if dim is None or dim == [] or dim == () else [dim] if isinstance(dim, int) else dim
    return [] if not x.sizes else sorted({each % len(x.sizes) for each in dims})


NEUTRAL = {"sum": 0, "prod": 1, "any": False, "all": True}


def reduce(graph: Lowering, kind: str, x: Box, dims: Sequence[int], keepdim: bool, dtype: dtype | None = None) -> Any:
    """The loops of a reduction; none where there is one element, or none, to reduce."""
    loops = reduction(kind, x, dims, keepdim, dtype)
    count = math.prod(loops.reduced_sizes)
    if count == 0:
        if kind not in NEUTRAL:
            raise Unsupported
        return filled(loops.sizes, NEUTRAL[kind], loops.dtype)
    if count == 1:
        return Pointwise(
            loops.sizes, loops.dtype, lambda indices: loops.inner(indices, [ZERO] * len(loops.reduced_sizes))
        )
    return loops


@lowers("sum", "prod")
def sum_(graph: Lowering, x: Box, dtype: dtype | None = None) -> Any:
    name = graph.node.target.name().partition("::")[2]
    return reduce(
        graph, name, x, reduced_dims(x, None), False, dtype or (x.dtype if x.dtype.is_floating_point else int64)
    )


@lowers("sum.dim_IntList", "prod.dim_int")
def sum_dims(graph: Lowering, x: Box, dim: Any, keepdim: bool = False, dtype: dtype | None = None) -> Any:
    name = graph.node.target.name().partition("::")[2].partition(".")[0]
    return reduce(
        graph, name, x, reduced_dims(x, dim), keepdim, dtype or (x.dtype if x.dtype.is_floating_point else int64)
    )


@lowers("mean")
def mean(graph: Lowering, x: Box, dtype: dtype | None = None) -> Any:
    return mean_dims(graph, x, None, False, dtype)


@lowers("mean.dim")
def mean_dims(graph: Lowering, x: Box, dim: Any, keepdim: bool = False, dtype: dtype | None = None) -> Any:
    kind, dims = dtype or x.dtype, reduced_dims(x, dim)
    count = math.prod(x.sizes[each] for each in dims)
    total = graph.box(reduce(graph, "sum", x, dims, keepdim, kind))
    return elements(lambda total: total / count, [total], kind)


@lowers("amax", "amin")
def amax(graph: Lowering, x: Box, dim: Any = (), keepdim: bool = False) -> Any:
    return reduce(graph, graph.node.target.name()[-3:], x, reduced_dims(x, dim), keepdim)


@lowers("max", "min")
def max_(graph: Lowering, x: Box) -> Any:
    return reduce(graph, graph.node.target.name()[-3:], x, reduced_dims(x, None), False)


@lowers("any", "all", "any.dim", "all.dim", "any.dims", "all.dims")
def any_(graph: Lowering, x: Box, dim: Any = None, keepdim: bool = False) -> Any:
    if x.dtype is uint8 or (dim is not None and not isinstance(dim, int) and not len(dim)):
        raise Unsupported
    name = graph.node.target.name().partition("::")[2].partition(".")[0]
    return reduce(graph, name, in_dtype(x, bool_), reduced_dims(x, dim), keepdim)


@lowers("argmax", "argmin")
def argmax(graph: Lowering, x: Box, dim: int | None = None, keepdim: bool = False) -> Any:
    if x.dtype is bool_ or not x.sizes or dim is None:
        raise Unsupported
    return place_of(graph.node.target.name()[-6:], x, dim, keepdim)


def place_of(kind: str, x: Box, dim: int, keepdim: bool) -> Any:
    """Where in a dimension the largest, or smallest, element is: the first of several."""
    loops = reduction(kind, x, [dim], keepdim)
    if loops.reduced_sizes == (1,):
        return filled(loops.sizes, 0, int64)
    return Reduction(loops.sizes, int64, loops.inner, loops.reduced_sizes, loops.kind)


@lowers("max.dim", "min.dim")
def max_dim(graph: Lowering, x: Box, dim: int, keepdim: bool = False) -> Any:
    if x.dtype is bool_ or not x.sizes:
        raise Unsupported
    kind = graph.node.target.name().partition("::")[2][:3]
    return [reduce(graph, kind, x, [dim % len(x.sizes)], keepdim), place_of(f"arg{kind}", x, dim, keepdim)]


def variance(graph: Lowering, x: Box, dim: Any, correction: float | None) -> Box:
    """The variance, with the reduced dimensions kept: of what is left when the mean has been taken away."""
    dims = reduced_dims(x, dim)
    count = math.prod(x.sizes[each] for each in dims)
    centre = graph.box(mean_dims(graph, x, dims, True)) if dims else x
    centre.window()
    squares = graph.box(elements(lambda x, m: (x - m) * (x - m), [x, centre], x.dtype))
    total = graph.box(reduce(graph, "sum", squares, dims, True, x.dtype)) if dims else squares
    divisor = constant(max(count - (1 if correction is None else correction), 0), x.dtype)
    return graph.box(elements(lambda total: total / divisor, [total], x.dtype))


def without_dims(x: Box, dims: Sequence[int]) -> View:
    """A view without dimensions of size 1."""
    sizes = tuple(size for dim, size in enumerate(x.sizes) if dim not in dims)

    def reindex(indices: Sequence[Index]) -> list[Index]:
        waiting = iter(indices)
        return [ZERO if dim in dims else next(waiting) for dim in range(len(x.sizes))]

    return View(x, sizes, reindex)


@lowers("var.correction", "std.correction", "var.dim", "std.dim")
def var(graph: Lowering, x: Box, dim: Any = None, correction: float | None = None, keepdim: bool = False) -> Any:
    if not x.dtype.is_floating_point:
        raise Unsupported
    if graph.node.target.name().endswith(".dim"):
        correction = int(correction)  # `unbiased`
    value = variance(graph, x, dim, correction)
    if "std" in graph.node.target.name():
        value = graph.box(pointwise("sqrt", [value]))
    return value if keepdim else without_dims(value, reduced_dims(x, dim))


@lowers("logsumexp")
def logsumexp(graph: Lowering, x: Box, dim: Any, keepdim: bool = False) -> Any:
    dims = reduced_dims(x, dim)
    if not x.dtype.is_floating_point or not dims:
        raise Unsupported
    most = graph.box(reduce(graph, "max", x, dims, True))

    def finite(m: Expr) -> Expr:
        return where(op("isinf", m, dtype=bool_), 0, m)

    powers = graph.box(elements(lambda x, m: op("exp", x - finite(m)), [x, most], x.dtype))
    total = graph.box(reduce(graph, "sum", powers, dims, True))
    result = graph.box(elements(lambda t, m: op("log", t) + finite(m), [total, most], x.dtype))
    return result if keepdim else without_dims(result, dims)


# ------------------------------------------------------------------------------------------------------------
# Softmax, norms, losses: formulas of loops


@lowers("_softmax")
def softmax(graph: Lowering, x: Box, dim: int, half_to_float: bool) -> Any:
    if not x.sizes:
        return filled((), 1, x.dtype)
    most = graph.box(reduce(graph, "max", x, [dim % len(x.sizes)], True))
    powers = graph.box(elements(lambda x, m: op("exp", x - m), [x, most], x.dtype))
    powers.window()
    total = graph.box(reduce(graph, "sum", powers, [dim % len(x.sizes)], True))
    return elements(lambda p, t: p * op("reciprocal", t), [powers, total], x.dtype)  # one division for each row


@lowers("_log_softmax")
def log_softmax(graph: Lowering, x: Box, dim: int, half_to_float: bool) -> Any:
    if not x.sizes:
        return filled((), 0, x.dtype)
    most = graph.box(reduce(graph, "max", x, [dim % len(x.sizes)], True))
    powers = graph.box(elements(lambda x, m: op("exp", x - m), [x, most], x.dtype))
    total = graph.box(reduce(graph, "sum", powers, [dim % len(x.sizes)], True))
    return elements(lambda x, m, t: x - m - op("log", t), [x, most, total], x.dtype)


@lowers("_softmax_backward_data")
def softmax_backward(graph: Lowering, grad: Box, out: Box, dim: int, input_dtype: dtype) -> Any:
    products = graph.box(elements(lambda g, o: g * o, [grad, out], out.dtype))
    total = graph.box(reduce(graph, "sum", products, reduced_dims(out, dim), True))
    return elements(lambda g, o, t: g * o - o * t, [grad, out, total], out.dtype)


@lowers("_log_softmax_backward_data")
def log_softmax_backward(graph: Lowering, grad: Box, out: Box, dim: int, input_dtype: dtype) -> Any:
    total = graph.box(reduce(graph, "sum", grad, reduced_dims(out, dim), True))
    return elements(lambda g, o, t: g - op("exp", o) * t, [grad, out, total], out.dtype)


@lowers("nll_loss_forward")
def nll_loss(graph: Lowering, x: Box, target: Box, weight: Box | None, reduction: int, ignore_index: int) -> list[Any]:
    if len(x.sizes) != 2:
        raise Unsupported
    weights = graph.box(
        Pointwise(target.sizes, x.dtype, lambda at: loss_weight(target.load(at), weight, x, ignore_index))
    )

    def inner(at: Sequence[Index]) -> Expr:
        chosen = class_of(target.load(at), ignore_index)
        picked = x.load([at[0], Index.of(Indirect(chosen, x.sizes[1]))])
        return where(
            comparison("ne", ir.cast(target.load(at), int64), ignore_index),
            -(picked * weights.load(at)) if weight else -picked,
            0,
        )

    losses = graph.box(Pointwise(target.sizes, x.dtype, inner))
    if reduction == 0:
        return [losses, graph.box(filled((), 0, x.dtype))]
    total_weight = graph.box(reduce(graph, "sum", weights, [0], False))
    total = graph.box(reduce(graph, "sum", losses, [0], False))
    if reduction == 1:
        total = graph.box(elements(lambda t, w: t / w, [total, total_weight], x.dtype))
    return [total, total_weight]


def class_of(target: Expr, ignore_index: int) -> Expr:
    """The class that a target names; 0 where it is to be ignored, so that nothing outside is read."""
    whole = ir.cast(target, int64)
    return where(comparison("ne", whole, ignore_index), whole, 0)


def loss_weight(target: Expr, weight: Box | None, x: Box, ignore_index: int) -> Expr:
    whole = ir.cast(target, int64)
    found = constant(1, x.dtype)
    if weight is not None:
        found = weight.load([Index.of(Indirect(class_of(target, ignore_index), x.sizes[1]))])
    return where(comparison("ne", whole, ignore_index), found, 0)


@lowers("nll_loss_backward")
def nll_loss_backward(
    graph: Lowering,
    grad: Box,
    x: Box,
    target: Box,
    weight: Box | None,
    reduction: int,
    ignore_index: int,
    total_weight: Box,
) -> Pointwise:
    if len(x.sizes) != 2:
        raise Unsupported

    def inner(at: Sequence[Index]) -> Expr:
        row, column = at
        named = ir.cast(target.load([row]), int64)
        value = grad.load([row] if reduction == 0 else [])
        if reduction == 1:
            value = value / total_weight.load([])
        value = -value * loss_weight(target.load([row]), weight, x, ignore_index) if weight else -value
        here = op("eq", named, ir.position(Index.of(column), int64), dtype=bool_)
        here = (
            op("and", here, comparison("ne", named, ignore_index), dtype=bool_)
            if 0 <= ignore_index < x.sizes[1]
            else here
        )
        return where(here, value, 0)

    return Pointwise(x.sizes, x.dtype, inner)


@lowers("mse_loss")
def mse_loss(graph: Lowering, x: Box, y: Box, reduction: int = 1) -> Any:
    squares = graph.box(elements(lambda x, y: (x - y) * (x - y), [x, y], promote_types(x.dtype, y.dtype)))
    if reduction == 0:
        return squares
    total = graph.box(reduce(graph, "sum", squares, reduced_dims(squares, None), False))
    count = math.prod(squares.sizes)
    return total if reduction == 2 else elements(lambda t: t / constant(count, t.dtype), [total], total.dtype)


# ------------------------------------------------------------------------------------------------------------
# Products of matrices


def extern(graph: Lowering, name: str, operands: Sequence[Operand], scalars: dict[str, float] | None = None) -> Box:
    """A product left to BLAS, into a buffer of its own."""
    val = result_of(graph)
    if val.dtype not in (float32, float64) or math.prod(val.shape) == 0 or 0 in operands[-1].sizes:
        raise Unsupported
    out = graph.new_buffer(layout_of(val))
    graph.operations.append(Extern(name, list(operands), out.buffer, val.dtype, scalars or {}, [graph.node.name]))
    return graph.box(out, out.strides)


@lowers("mm", "bmm")
def mm(graph: Lowering, a: Box, b: Box) -> Box:
    return extern(graph, graph.node.target.name().partition("::")[2], [a.window(), b.window()])


@lowers("addmm")
def addmm(graph: Lowering, bias: Box, a: Box, b: Box, beta: float = 1, alpha: float = 1) -> Any:
    users = list(graph.node.users)
    if beta == 1 and alpha == 1 and users and all(goes_on_in_loops(user) for user in users):
        product = extern(graph, "mm", [a.window(), b.window()])  # the sum is done in the loops of whoever uses it
        return elements(lambda p, b: p + b, [product, bias], product.dtype)
    sizes, window = tuple(result_of(graph).shape), bias.window()
    missing = len(sizes) - len(window.sizes)
    strides = [0] * missing + [0 if size == 1 else stride for size, stride in zip(window.sizes, window.strides)]
    spread = Operand(window.buffer, sizes, tuple(strides), window.offset, window.dtype)
    return extern(graph, "addmm", [spread, a.window(), b.window()], {"beta": beta, "alpha": alpha})


def goes_on_in_loops(node: Any) -> bool:
    """Whether a node computes with what it is given in loops of its own, so that this needs no memory."""
    rule = LOWERINGS.get(getattr(node.target, "name", str)())
    return rule is not None and rule not in (mm, addmm) and not rule.__module__.endswith("_views")
