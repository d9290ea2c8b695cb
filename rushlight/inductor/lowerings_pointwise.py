"""Lowering rules of operators on single elements: one operation, or a formula of several.

A rule gets the graph and the operator's arguments in the order of its schema, with a `TensorBox` for every tensor. It returns a
`Pointwise` or a box. In PyTorch: `torch/_inductor/lowering.py` (`register_pointwise`), and `torch/_inductor/decomposition.py`
for the formulas.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rushlight.dtypes import bool_, dtype, float32, result_type
from rushlight.inductor import ir
from rushlight.inductor.index import Index
from rushlight.inductor.ir import Expr, Pointwise, constant, op
from rushlight.inductor.lowering import Rule, TensorBox, Unsupported, load_broadcast, pointwise, register_lowering
from rushlight.views import broadcast_shapes

if TYPE_CHECKING:
    from rushlight.inductor.graph import GraphLowering


def make_pointwise(
    function: Callable[..., Expr], operands: Sequence[Any], dtype: dtype, sizes: Sequence[int] | None = None
) -> Pointwise:
    """`function` of the operands' values, broadcast but not promoted: each value has the dtype of its operand."""
    if sizes is None:
        sizes = broadcast_shapes(*(each.sizes for each in operands if isinstance(each, TensorBox)))

    def inner(indices: Sequence[Index]) -> Expr:
        values = (load_broadcast(each, indices) if isinstance(each, TensorBox) else each for each in operands)
        return ir.cast(function(*values), dtype)

    return Pointwise(tuple(sizes), dtype, inner)


def identity(x: TensorBox, dtype: dtype, sizes: Sequence[int] | None = None) -> Pointwise:
    """The elements of a tensor, converted."""
    return make_pointwise(lambda value: value, [x], dtype, sizes)


def floating(*operands: Any) -> dtype:
    """The dtype in which an operation with floating results computes."""
    found = result_type(*operands)
    return found if found.is_floating_point else float32


def to_dtype(box: Any, dtype: dtype) -> Any:
    """The box converted; a number unchanged."""
    if not isinstance(box, TensorBox) or box.dtype is dtype:
        return box
    return box.graph.box(identity(box, dtype))


def formula(*names: str, operands: int = 1) -> Callable[[Rule], Rule]:
    """Decorator: a floating function of the values of the first `operands` arguments, and of the other arguments unchanged."""

    def register(function: Rule) -> Rule:
        def rule(graph: GraphLowering, *args: Any) -> Pointwise:
            tensors, others = args[:operands], args[operands:]
            wide = floating(*tensors)
            return make_pointwise(lambda *x: function(*(ir.cast(each, wide) for each in x), *others), tensors, wide)

        register_lowering(*names)(rule)
        return function

    return register


def comparison(name: str, x: Expr, y: Expr | float) -> Expr:
    return op(name, x, y if isinstance(y, Expr) else constant(y, x.dtype), dtype=bool_)


def where(condition: Expr, x: Expr | float, y: Expr | float) -> Expr:
    kind = x.dtype if isinstance(x, Expr) else y.dtype
    x, y = (each if isinstance(each, Expr) else constant(each, kind) for each in (x, y))
    return op("where", condition, x, y, dtype=kind)


# One operation ---------------------------------------------------------------------------------------------------

FLOATING = (
    "exp", "expm1", "log", "log1p", "log2", "sqrt", "rsqrt", "sin", "cos", "tan", "tanh", "erf", "sigmoid", "reciprocal",
)  # fmt: skip
BINARY = {
    "maximum": "maximum", "minimum": "minimum", "max.other": "maximum", "min.other": "minimum",
    "mul.Tensor": "mul", "mul.Scalar": "mul",
    "bitwise_and.Tensor": "bitand", "bitwise_or.Tensor": "bitor", "bitwise_xor.Tensor": "bitxor",
}  # fmt: skip
COMPARISONS = {f"{name}.Tensor": name for name in ("lt", "le", "gt", "ge", "eq", "ne")} | {"eq.Scalar": "eq"}
LOGICAL = {"logical_and": "and", "logical_or": "or", "logical_xor": "ne", "logical_not": "not"}


def register_pointwise() -> None:
    """Register the operators that are one operation on scalars."""
    for name, kind in BINARY.items():
        register_lowering(name)(lambda graph, x, y, kind=kind: pointwise(kind, [x, y]))
    for name, kind in COMPARISONS.items():
        register_lowering(name)(lambda graph, x, y, kind=kind: pointwise(kind, [x, y], bool_))
    for name, kind in LOGICAL.items():
        register_lowering(name)(lambda graph, *x, kind=kind: pointwise(kind, [as_bool(each) for each in x], bool_))
    for name in FLOATING:
        register_lowering(name)(lambda graph, x, name=name: pointwise(name, [to_dtype(x, floating(x))]))
    for name in ("isnan", "isinf"):
        register_lowering(name)(lambda graph, x, name=name: pointwise(name, [to_dtype(x, floating(x))], bool_))
    for name in ("neg", "abs", "sign", "floor", "ceil", "trunc", "round"):
        register_lowering(name)(lambda graph, x, name=name: in_own_dtype(name, x))
    register_lowering("sgn")(lambda graph, x: in_own_dtype("sign", x))
    register_lowering("relu")(lambda graph, x: pointwise("relu", [x]))
    register_lowering("bitwise_not")(lambda graph, x: pointwise("not" if x.dtype is bool_ else "bitnot", [x]))


def as_bool(x: Any) -> Any:
    return to_dtype(x, bool_) if isinstance(x, TensorBox) else bool(x)


def in_own_dtype(name: str, x: TensorBox) -> Pointwise:
    if x.dtype is bool_:
        raise Unsupported
    if not x.dtype.is_floating_point and name in ("floor", "ceil", "trunc", "round"):
        return identity(x, x.dtype)
    return pointwise(name, [x])


register_pointwise()


@register_lowering("div.Tensor", "div.Scalar")
def div(graph: GraphLowering, x: Any, y: Any) -> Pointwise:
    wide = floating(x, y)  # integers are divided as floating-point numbers
    return pointwise("div", [x, y] if result_type(x, y) is wide else [to_dtype(x, wide), to_dtype(y, wide)])


@register_lowering("pow.Tensor_Tensor")
def pow_tensor(graph: GraphLowering, x: TensorBox, exponent: TensorBox) -> Pointwise:
    if not result_type(x, exponent).is_floating_point:
        raise Unsupported
    return pointwise("pow", [x, exponent])


@register_lowering("add.Tensor", "add.Scalar")
def add(graph: GraphLowering, x: Any, y: Any, alpha: float = 1) -> Pointwise:
    if x.dtype is bool_ and result_type(x, y) is bool_:
        return pointwise("or", [x, y], bool_) if alpha else clone(graph, x)
    return pointwise("add", [x, scaled(graph, y, alpha, result_type(x, y))])


@register_lowering("sub.Tensor", "sub.Scalar")
def sub(graph: GraphLowering, x: Any, y: Any, alpha: float = 1) -> Pointwise:
    return pointwise("sub", [x, scaled(graph, y, alpha, result_type(x, y))])


@register_lowering("rsub.Tensor", "rsub.Scalar")
def rsub(graph: GraphLowering, x: Any, y: Any, alpha: float = 1) -> Pointwise:
    return pointwise("sub", [y, scaled(graph, x, alpha, result_type(x, y))])


def scaled(graph: GraphLowering, x: Any, alpha: float, dtype: dtype) -> Any:
    """`alpha * x`, in the dtype in which the operator computes."""
    if alpha == 1:
        return x
    if not isinstance(x, TensorBox):
        return x * alpha
    return graph.box(make_pointwise(lambda value: ir.cast(value, dtype) * alpha, [x], dtype))


@register_lowering("div.Tensor_mode")
def div_mode(graph: GraphLowering, x: Any, y: Any, rounding_mode: str | None) -> Pointwise:
    if rounding_mode is None:
        return div(graph, x, y)
    name = {"floor": "floordiv", "trunc": "truncdiv"}[rounding_mode]
    if not result_type(x, y).is_floating_point:
        raise Unsupported  # eager raises if an integer is divided by zero
    return pointwise(name, [x, y])


@register_lowering("remainder.Tensor", "remainder.Scalar")
def remainder_(graph: GraphLowering, x: Any, y: Any) -> Pointwise:
    if not result_type(x, y).is_floating_point:
        raise Unsupported
    return pointwise("mod", [x, y])


@register_lowering("pow.Tensor_Scalar")
def pow_scalar(graph: GraphLowering, x: TensorBox, exponent: float) -> Pointwise:
    kind = result_type(x, exponent)
    special = {0: lambda v: constant(1, kind), 1: lambda v: v, 2: lambda v: v * v, 3: lambda v: v * v * v}
    if kind.is_floating_point:
        special |= {0.5: lambda v: op("sqrt", v), -1: lambda v: op("reciprocal", v), -0.5: lambda v: op("rsqrt", v)}
    if exponent in special:
        return make_pointwise(lambda v: special[exponent](ir.cast(v, kind)), [x], kind)
    if not kind.is_floating_point:
        raise Unsupported
    return pointwise("pow", [x, exponent])


register_lowering("square")(lambda graph, x: pow_scalar(graph, x, 2))


@register_lowering("where.self")
def where_self(graph: GraphLowering, condition: TensorBox, x: Any, y: Any) -> Pointwise:
    kind = result_type(x, y)
    x, y = (each if isinstance(each, TensorBox) else constant(each, kind) for each in (x, y))

    def chosen(c: Expr, x: Expr, y: Expr) -> Expr:
        return where(ir.cast(c, bool_), ir.cast(x, kind), ir.cast(y, kind))

    return make_pointwise(chosen, [condition, x, y], kind)


@register_lowering("masked_fill.Scalar", "masked_fill.Tensor")
def masked_fill(graph: GraphLowering, x: TensorBox, mask: TensorBox, value: Any) -> Pointwise:
    value = value if isinstance(value, TensorBox) else constant(value, x.dtype)
    return make_pointwise(lambda x, m, v: where(m, ir.cast(v, x.dtype), x), [x, mask, value], x.dtype)


@register_lowering("clamp", "clamp.Tensor")
def clamp(graph: GraphLowering, x: TensorBox, low: Any = None, high: Any = None) -> Pointwise | TensorBox:
    kind = result_type(*(each for each in (x, low, high) if each is not None))
    for name, bound in (("maximum", low), ("minimum", high)):
        if bound is not None:
            x = graph.box(pointwise(name, [to_dtype(x, kind), to_dtype(bound, kind)]))
    return x


@register_lowering("hardtanh")
def hardtanh(graph: GraphLowering, x: TensorBox, low: float, high: float) -> Pointwise | TensorBox:
    if not x.dtype.is_floating_point:
        raise Unsupported
    return clamp(graph, x, low, high)


register_lowering("clamp_min", "clamp_min.Tensor")(clamp)
register_lowering("clamp_max", "clamp_max.Tensor")(lambda graph, x, high: clamp(graph, x, None, high))


@register_lowering("_to_copy")
def to_copy(
    graph: GraphLowering, x: TensorBox, dtype: dtype | None = None, layout=None, device=None, *others: Any
) -> Pointwise:
    if device is not None and str(device) != "cpu" and str(device) != "meta":
        raise Unsupported
    return identity(x, dtype or x.dtype)


@register_lowering("clone", "positive")
def clone(graph: GraphLowering, x: TensorBox, *memory_format: Any) -> Pointwise:
    return identity(x, x.dtype)


@register_lowering("copy")
def copy(graph: GraphLowering, x: TensorBox, source: TensorBox, *others: Any) -> Pointwise:
    return identity(source, x.dtype, x.sizes)


@register_lowering("lerp.Scalar", "lerp.Tensor")
def lerp(graph: GraphLowering, x: TensorBox, end: TensorBox, weight: Any) -> Pointwise:
    weight = weight if isinstance(weight, TensorBox) else constant(weight, x.dtype)

    def between(x: Expr, y: Expr, w: Expr) -> Expr:
        small = comparison("lt", op("abs", w), 0.5)
        return where(small, x + w * (y - x), y - (y - x) * (1 - w))

    return make_pointwise(between, [x, end, weight], x.dtype)


@register_lowering("addcmul")
def addcmul(graph: GraphLowering, x: TensorBox, y: TensorBox, z: TensorBox, value: float = 1) -> Pointwise:
    kind = result_type(x, y, z)
    x, y, z = (to_dtype(each, kind) for each in (x, y, z))
    return make_pointwise(lambda x, y, z: x + (y * z if value == 1 else y * value * z), [x, y, z], kind)


@register_lowering("addcdiv")
def addcdiv(graph: GraphLowering, x: TensorBox, y: TensorBox, z: TensorBox, value: float = 1) -> Pointwise:
    kind = result_type(x, y, z)
    if not kind.is_floating_point:
        raise Unsupported
    x, y, z = (to_dtype(each, kind) for each in (x, y, z))
    return make_pointwise(lambda x, y, z: x + y * value / z, [x, y, z], kind)


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


@register_lowering("threshold")
def threshold(graph: GraphLowering, x: TensorBox, threshold: float, value: float) -> Pointwise:
    return make_pointwise(lambda x: where(comparison("le", x, threshold), value, x), [x], x.dtype)


@register_lowering("threshold_backward")
def threshold_backward(graph: GraphLowering, grad: TensorBox, x: TensorBox, threshold: float) -> Pointwise:
    kind = result_type(grad, x)
    return make_pointwise(lambda g, x: where(comparison("le", x, threshold), 0, ir.cast(g, kind)), [grad, x], kind)
