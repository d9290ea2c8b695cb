"""Lowering rules of operators that work element by element: one operation, or a formula of several.

A rule gets the graph and the operator's arguments as its schema lists them, with a `Box` for every tensor, and gives a
`Pointwise`, or a box. In PyTorch: `torch/_inductor/lowering.py` (`register_pointwise`), and
`torch/_inductor/decomposition.py` for the formulas.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from rushlight.aten.native.views import broadcast_shapes
from rushlight.c10.dtypes import bool_, dtype, float32, result_type
from rushlight.inductor import ir
from rushlight.inductor.index import ZERO, Index
from rushlight.inductor.ir import Expr, Pointwise, constant, op
from rushlight.inductor.lowering import Box, Lowering, Rule, Unsupported, lowers, pointwise


def elements(
    function: Callable[..., Expr], operands: Sequence[Any], dtype: dtype, sizes: Sequence[int] | None = None
) -> Pointwise:
    """`function` of the operands' values, broadcast but not promoted: each comes in a dtype of its own."""
    tensors = [each for each in operands if isinstance(each, Box)]
    sizes = tuple(broadcast_shapes(*(each.sizes for each in tensors))) if sizes is None else tuple(sizes)

    def inner(indices: Sequence[Index]) -> Expr:
        return ir.cast(
            function(*(value_at(each, indices) if isinstance(each, Box) else each for each in operands)), dtype
        )

    return Pointwise(sizes, dtype, inner)


def value_at(box: Box, indices: Sequence[Index]) -> Expr:
    """The element of a box that is broadcast to the dimensions of `indices`."""
    own = list(indices)[len(indices) - len(box.sizes) :]
    return box.load([ZERO if size == 1 else index for index, size in zip(own, box.sizes)])


def floating(*operands: Any) -> dtype:
    """The dtype in which an operation with floating results computes."""
    found = result_type(*operands)
    return found if found.is_floating_point else float32


def in_dtype(box: Any, dtype: dtype) -> Any:
    """The box converted; a number as it is."""
    if not isinstance(box, Box) or box.dtype is dtype:
        return box
    return box.graph.box(elements(lambda x: x, [box], dtype))


def formula(*names: str, operands: int = 1) -> Callable[[Rule], Rule]:
    """Decorator: a floating function of the values of the first `operands` arguments, then the other arguments as they are."""

    def register(function: Rule) -> Rule:
        def rule(graph: Lowering, *args: Any) -> Pointwise:
            tensors, others = args[:operands], args[operands:]
            wide = floating(*tensors)
            return elements(lambda *x: function(*(ir.cast(each, wide) for each in x), *others), tensors, wide)

        lowers(*names)(rule)
        return function

    return register


def comparison(x: str, y: Expr, z: Expr | float) -> Expr:
    return op(x, y, z if isinstance(z, Expr) else constant(z, y.dtype), dtype=bool_)


def where(condition: Expr, x: Expr | float, y: Expr | float) -> Expr:
    kind = x.dtype if isinstance(x, Expr) else y.dtype
    x, y = (each if isinstance(each, Expr) else constant(each, kind) for each in (x, y))
    return op("where", condition, x, y, dtype=kind)


def _simple() -> None:
    """The operators that are one operation of scalars."""
    for name, overload in {"maximum": "", "minimum": ""}.items():
        lowers(name + overload)(lambda graph, x, y, name=name: pointwise(name, [x, y]))
    for name, kind in {"max.other": "maximum", "min.other": "minimum"}.items():
        lowers(name)(lambda graph, x, y, kind=kind: pointwise(kind, [x, y]))
    for name in ("lt", "le", "gt", "ge", "eq", "ne"):
        lowers(f"{name}.Tensor")(lambda graph, x, y, name=name: pointwise(name, [x, y], bool_))
    lowers("eq.Scalar")(lambda graph, x, y: pointwise("eq", [x, y], bool_))
    lowers("mul.Tensor", "mul.Scalar")(lambda graph, x, y: pointwise("mul", [x, y]))
    lowers("div.Tensor", "div.Scalar")(lambda graph, x, y: pointwise("div", _in_floating(x, y)))
    lowers("pow.Tensor_Tensor")(_pow)
    for name in (
        "exp",
        "expm1",
        "log",
        "log1p",
        "log2",
        "sqrt",
        "rsqrt",
        "sin",
        "cos",
        "tan",
        "tanh",
        "erf",
        "sigmoid",
        "reciprocal",
    ):
        lowers(name)(lambda graph, x, name=name: pointwise(name, [in_dtype(x, floating(x))]))
    for name in ("neg", "abs", "sign", "floor", "ceil", "trunc", "round"):
        lowers(name, *(["sgn"] if name == "sign" else []))(lambda graph, x, name=name: _same_kind(name, x))
    for name in ("isnan", "isinf"):
        lowers(name)(lambda graph, x, name=name: pointwise(name, [in_dtype(x, floating(x))], bool_))
    for name, kind in {"logical_and": "and", "logical_or": "or", "logical_xor": "ne", "logical_not": "not"}.items():
        lowers(name)(lambda graph, *x, kind=kind: pointwise(kind, [_truth(each) for each in x], bool_))
    for name, kind in {"bitwise_and": "bitand", "bitwise_or": "bitor", "bitwise_xor": "bitxor"}.items():
        lowers(f"{name}.Tensor")(lambda graph, x, y, kind=kind: pointwise(kind, [x, y]))
    lowers("bitwise_not")(lambda graph, x: pointwise("not" if x.dtype is bool_ else "bitnot", [x]))


def _in_floating(x: Any, y: Any) -> list[Any]:
    """The operands of a division: whole numbers are divided as floating ones."""
    wide = floating(x, y)
    return [x, y] if result_type(x, y) is wide else [in_dtype(x, wide), in_dtype(y, wide)]


def _pow(graph: Lowering, x: Box, exponent: Box) -> Pointwise:
    if not result_type(x, exponent).is_floating_point:
        raise Unsupported
    return pointwise("pow", [x, exponent])


def _same_kind(name: str, x: Box) -> Pointwise:
    if x.dtype is bool_:
        raise Unsupported
    if not x.dtype.is_floating_point and name in ("floor", "ceil", "trunc", "round"):
        return elements(lambda value: value, [x], x.dtype)
    return pointwise(name, [x])


def _truth(x: Any) -> Any:
    return in_dtype(x, bool_) if isinstance(x, Box) else bool(x)


_simple()


@lowers("add.Tensor", "add.Scalar")
def add(graph: Lowering, x: Any, y: Any, alpha: float = 1) -> Pointwise:
    if x.dtype is bool_ and result_type(x, y) is bool_:
        return pointwise("or", [x, y], bool_) if alpha else clone(graph, x)
    return pointwise("add", [x, scaled(graph, y, alpha, result_type(x, y))])


@lowers("sub.Tensor", "sub.Scalar")
def sub(graph: Lowering, x: Any, y: Any, alpha: float = 1) -> Pointwise:
    return pointwise("sub", [x, scaled(graph, y, alpha, result_type(x, y))])


@lowers("rsub.Tensor", "rsub.Scalar")
def rsub(graph: Lowering, x: Any, y: Any, alpha: float = 1) -> Pointwise:
    return pointwise("sub", [y, scaled(graph, x, alpha, result_type(x, y))])


def scaled(graph: Lowering, x: Any, alpha: float, dtype: dtype) -> Any:
    """`alpha * x`, in the dtype in which the operator computes."""
    if alpha == 1:
        return x
    if not isinstance(x, Box):
        return x * alpha
    return graph.box(elements(lambda value: ir.cast(value, dtype) * alpha, [x], dtype))


@lowers("div.Tensor_mode")
def div_mode(graph: Lowering, x: Any, y: Any, rounding_mode: str | None) -> Pointwise:
    if rounding_mode is None:
        return pointwise("div", _in_floating(x, y))
    name = {"floor": "floordiv", "trunc": "truncdiv"}[rounding_mode]
    if not result_type(x, y).is_floating_point:
        raise Unsupported  # eager refuses to divide whole numbers by zero
    return pointwise(name, [x, y])


@lowers("remainder.Tensor", "remainder.Scalar")
def remainder_(graph: Lowering, x: Any, y: Any) -> Pointwise:
    if not result_type(x, y).is_floating_point:
        raise Unsupported
    return pointwise("mod", [x, y])


@lowers("pow.Tensor_Scalar")
def pow_scalar(graph: Lowering, x: Box, exponent: float) -> Pointwise:
    kind = result_type(x, exponent)
    special = {0: lambda v: constant(1, kind), 1: lambda v: v, 2: lambda v: v * v, 3: lambda v: v * v * v}
    if kind.is_floating_point:
        special |= {0.5: lambda v: op("sqrt", v), -1: lambda v: op("reciprocal", v), -0.5: lambda v: op("rsqrt", v)}
    if exponent in special:
        return elements(lambda v: special[exponent](ir.cast(v, kind)), [x], kind)
    if not kind.is_floating_point:
        raise Unsupported
    return pointwise("pow", [x, exponent])


@lowers("square")
def square(graph: Lowering, x: Box) -> Pointwise:
    return pow_scalar(graph, x, 2)


@lowers("where.self")
def where_self(graph: Lowering, condition: Box, x: Any, y: Any) -> Pointwise:
    kind = result_type(x, y)
    x, y = (each if isinstance(each, Box) else constant(each, kind) for each in (x, y))
    return elements(
        lambda c, x, y: op("where", ir.cast(c, bool_), ir.cast(x, kind), ir.cast(y, kind), dtype=kind),
        [condition, x, y],
        kind,
    )


@lowers("masked_fill.Scalar", "masked_fill.Tensor")
def masked_fill(graph: Lowering, x: Box, mask: Box, value: Any) -> Pointwise:
    value = value if isinstance(value, Box) else constant(value, x.dtype)
    return elements(lambda x, m, v: where(m, ir.cast(v, x.dtype), x), [x, mask, value], x.dtype)


@lowers("relu")
def relu(graph: Lowering, x: Box) -> Pointwise:
    return pointwise("relu", [x])


@lowers("clamp", "clamp.Tensor")
def clamp(graph: Lowering, x: Box, low: Any = None, high: Any = None) -> Pointwise | Box:
    kind = result_type(*(each for each in (x, low, high) if each is not None))
    for name, bound in (("maximum", low), ("minimum", high)):
        if bound is not None:
            x = graph.box(pointwise(name, [in_dtype(x, kind), in_dtype(bound, kind)]))
    return x


@lowers("hardtanh")
def hardtanh(graph: Lowering, x: Box, low: float, high: float) -> Pointwise | Box:
    if not x.dtype.is_floating_point:
        raise Unsupported
    return clamp(graph, x, low, high)


@lowers("clamp_min", "clamp_min.Tensor")
def clamp_min(graph: Lowering, x: Box, low: Any) -> Pointwise | Box:
    return clamp(graph, x, low)


@lowers("clamp_max", "clamp_max.Tensor")
def clamp_max(graph: Lowering, x: Box, high: Any) -> Pointwise | Box:
    return clamp(graph, x, None, high)


@lowers("_to_copy")
def to_copy(graph: Lowering, x: Box, dtype: dtype | None = None, layout=None, device=None, *others: Any) -> Pointwise:
    if device is not None and str(device) != "cpu" and str(device) != "meta":
        raise Unsupported
    return elements(lambda value: value, [x], dtype or x.dtype)


@lowers("clone", "positive")
def clone(graph: Lowering, x: Box, *memory_format: Any) -> Pointwise:
    return elements(lambda value: value, [x], x.dtype)


@lowers("copy")
def copy(graph: Lowering, x: Box, source: Box, *others: Any) -> Pointwise:
    return elements(lambda value: value, [source], x.dtype, x.sizes)


@lowers("lerp.Scalar", "lerp.Tensor")
def lerp(graph: Lowering, x: Box, end: Box, weight: Any) -> Pointwise:
    weight = weight if isinstance(weight, Box) else constant(weight, x.dtype)

    def between(x: Expr, y: Expr, w: Expr) -> Expr:
        small = comparison("lt", op("abs", w), 0.5)
        return where(small, x + w * (y - x), y - (y - x) * (1 - w))

    return elements(between, [x, end, weight], x.dtype)


@lowers("addcmul")
def addcmul(graph: Lowering, x: Box, y: Box, z: Box, value: float = 1) -> Pointwise:
    kind = result_type(x, y, z)
    x, y, z = (in_dtype(each, kind) for each in (x, y, z))
    return elements(lambda x, y, z: x + (y * z if value == 1 else y * value * z), [x, y, z], kind)


@lowers("addcdiv")
def addcdiv(graph: Lowering, x: Box, y: Box, z: Box, value: float = 1) -> Pointwise:
    kind = result_type(x, y, z)
    if not kind.is_floating_point:
        raise Unsupported
    x, y, z = (in_dtype(each, kind) for each in (x, y, z))
    return elements(lambda x, y, z: x + y * value / z, [x, y, z], kind)


# Formulas -------------------------------------------------------------------------------------------------------

INV_SQRT_2, INV_SQRT_2PI = math.sqrt(0.5), 1 / math.sqrt(2 * math.pi)
TANH_BETA, TANH_KAPPA = math.sqrt(2 / math.pi), 0.044715


@formula("gelu")
def gelu(x: Expr, approximate: str = "none") -> Expr:
    if approximate == "none":
        return x * 0.5 * (op("erf", x * INV_SQRT_2) + 1)
    return x * 0.5 * (op("tanh", (x + x * x * x * TANH_KAPPA) * TANH_BETA) + 1)


@formula("gelu_backward", operands=2)
def gelu_backward(grad: Expr, x: Expr, approximate: str = "none") -> Expr:
    if approximate == "none":
        return grad * ((op("erf", x * INV_SQRT_2) + 1) * 0.5 + x * op("exp", x * x * -0.5) * INV_SQRT_2PI)
    tanh = op("tanh", (x + x * x * x * TANH_KAPPA) * TANH_BETA)
    slope = (1 - tanh * tanh) * (x * x * (3 * TANH_KAPPA) + 1) * TANH_BETA
    return grad * ((tanh + 1) * 0.5 + x * 0.5 * slope)


@formula("silu")
def silu(x: Expr) -> Expr:
    return x * op("sigmoid", x)


@formula("silu_backward", operands=2)
def silu_backward(grad: Expr, x: Expr) -> Expr:
    sigmoid = op("sigmoid", x)
    return grad * sigmoid * (x * (1 - sigmoid) + 1)


@formula("sigmoid_backward", operands=2)
def sigmoid_backward(grad: Expr, out: Expr) -> Expr:
    return grad * (out * (1 - out))


@formula("tanh_backward", operands=2)
def tanh_backward(grad: Expr, out: Expr) -> Expr:
    return grad * (1 - out * out)


@formula("leaky_relu")
def leaky_relu(x: Expr, slope: float = 0.01) -> Expr:
    return where(comparison("gt", x, 0), x, x * slope)


@formula("leaky_relu_backward", operands=2)
def leaky_relu_backward(grad: Expr, x: Expr, slope: float, self_is_result: bool) -> Expr:
    return where(comparison("gt", x, 0), grad, grad * slope)


@formula("elu")
def elu(x: Expr, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> Expr:
    return where(comparison("gt", x, 0), x * scale, op("expm1", x * input_scale) * (alpha * scale))


@formula("softplus")
def softplus(x: Expr, beta: float = 1, threshold: float = 20) -> Expr:
    return where(comparison("gt", x * beta, threshold), x, op("log1p", op("exp", x * beta)) / beta)


@formula("hardtanh_backward", operands=2)
def hardtanh_backward(grad: Expr, x: Expr, low: float, high: float) -> Expr:
    return where(op("or", comparison("le", x, low), comparison("ge", x, high)), 0, grad)


@lowers("threshold")
def threshold(graph: Lowering, x: Box, threshold: float, value: float) -> Pointwise:
    return elements(lambda x: where(comparison("le", x, threshold), value, x), [x], x.dtype)


@lowers("threshold_backward")
def threshold_backward(graph: Lowering, grad: Box, x: Box, threshold: float) -> Pointwise:
    kind = result_type(grad, x)
    return elements(lambda g, x: where(comparison("le", x, threshold), 0, ir.cast(g, kind)), [grad, x], kind)
