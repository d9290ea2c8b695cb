"""Lowering rules of operators on single elements: one operation. Formulas of several are in `decomposition`.

A rule gets the operator's arguments in the order of its schema, with a `TensorBox` for every tensor. It returns a `Pointwise` or a
box. In PyTorch: `torch/_inductor/lowering.py` (`register_pointwise`).
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from rushlight.aten.native.views import broadcast_shapes
from rushlight.c10.dtypes import bool_, dtype, get_default_dtype, result_type
from rushlight.inductor import ir
from rushlight.inductor.index import Index
from rushlight.inductor.ir import Expr, Pointwise, constant, op
from rushlight.inductor.lowering import TensorBox, Unsupported, box, load_broadcast, pointwise, register_lowering


def make_pointwise(
    function: Callable[..., Expr], operands: Sequence[Any], dtype: dtype, sizes: Sequence[int] | None = None
) -> TensorBox:
    """`function` of the operands' values, broadcast but not promoted: each value has the dtype of its operand."""
    if sizes is None:
        sizes = broadcast_shapes(*(operand.sizes for operand in operands if isinstance(operand, TensorBox)))

    def inner(indices: Sequence[Index]) -> Expr:
        values = (load_broadcast(x, indices) if isinstance(x, TensorBox) else x for x in operands)
        return ir.cast(function(*values), dtype)

    return box(Pointwise(tuple(sizes), dtype, inner))


def identity(x: TensorBox, dtype: dtype, sizes: Sequence[int] | None = None) -> TensorBox:
    """The elements of a tensor, converted."""
    return make_pointwise(lambda value: value, [x], dtype, sizes)


def floating_dtype(*operands: Any) -> dtype:
    """The dtype in which an operation with floating results computes."""
    kind = result_type(*operands)
    return kind if kind.is_floating_point else get_default_dtype()


def to_dtype(x: Any, dtype: dtype) -> Any:
    """The tensor converted; a number unchanged."""
    return identity(x, dtype) if isinstance(x, TensorBox) and x.dtype is not dtype else x


def comparison(name: str, x: Expr, y: Expr | float) -> Expr:
    """A comparison of two values in a loop. Its result is bool, and a number takes the dtype of `x`."""
    return op(name, x, y if isinstance(y, Expr) else constant(y, x.dtype), dtype=bool_)


def where(condition: Expr, x: Expr | float, y: Expr | float) -> Expr:
    """A choice between two values in a loop. A number takes the dtype of the other value."""
    kind = x.dtype if isinstance(x, Expr) else y.dtype
    x, y = (side if isinstance(side, Expr) else constant(side, kind) for side in (x, y))
    return op("where", condition, x, y, dtype=kind)


# One operation -------------------------------------------------------------------------------------------------------

FLOATING = (
    "exp", "expm1", "log", "log1p", "log2", "sqrt", "rsqrt", "sin", "cos", "tan", "tanh", "erf", "sigmoid", "reciprocal",
)  # fmt: skip
SAME_DTYPE = {
    "maximum": "maximum", "minimum": "minimum", "max.other": "maximum", "min.other": "minimum", "mul.Tensor": "mul",
    "mul.Scalar": "mul", "bitwise_and.Tensor": "bitand", "bitwise_or.Tensor": "bitor", "bitwise_xor.Tensor": "bitxor",
    "relu": "relu",
}  # fmt: skip
COMPARISONS = {f"{name}.Tensor": name for name in ("lt", "le", "gt", "ge", "eq", "ne")} | {"eq.Scalar": "eq"}
LOGICAL = {"logical_and": "and", "logical_or": "or", "logical_xor": "ne", "logical_not": "not"}
NUMERIC = {name: name for name in ("neg", "abs", "sign", "floor", "ceil", "trunc", "round")} | {"sgn": "sign"}


def register_operations(kinds: dict[str, str], prepare: Callable = lambda *x: x, dtype: dtype | None = None) -> None:
    """Register operators, by name, that are one operation on scalars. `prepare` gets and returns the operands."""
    for name, kind in kinds.items():
        register_lowering(name)(lambda *x, kind=kind: pointwise(kind, prepare(*x), dtype))


def to_floating(x: TensorBox) -> list[TensorBox]:
    """The operand of a function with floating-point results, converted if it is an integer."""
    return [to_dtype(x, floating_dtype(x))]


def require_floating(*operands: Any) -> Sequence[Any]:
    """The operands. An operation on integers is left to its eager kernel."""
    if not result_type(*operands).is_floating_point:
        raise Unsupported
    return operands


register_operations(SAME_DTYPE)
register_operations(COMPARISONS, dtype=bool_)
register_operations(LOGICAL, lambda *x: [to_dtype(operand, bool_) for operand in x], bool_)
register_operations({name: name for name in FLOATING}, to_floating)
register_operations({"isnan": "isnan", "isinf": "isinf"}, to_floating, bool_)
register_operations({"remainder.Tensor": "mod", "remainder.Scalar": "mod"}, require_floating)
register_operations({"pow.Tensor_Tensor": "pow"}, require_floating)
register_lowering("bitwise_not")(lambda x: pointwise("not" if x.dtype is bool_ else "bitnot", [x]))


def numeric(name: str, x: TensorBox) -> Pointwise | TensorBox:
    """A pointwise function of numbers. Rounding leaves integers as they are, and bool is not lowered."""
    if x.dtype is bool_:
        raise Unsupported
    if not x.dtype.is_floating_point and name in ("floor", "ceil", "trunc", "round"):
        return identity(x, x.dtype)
    return pointwise(name, [x])


for _name, _kind in NUMERIC.items():
    register_lowering(_name)(partial(numeric, _kind))


@register_lowering("add.Tensor", "add.Scalar")
def add(x: Any, y: Any, alpha: float = 1) -> Pointwise | TensorBox:
    """The lowering of `add`. On two bools it is a logical or."""
    if x.dtype is bool_ and result_type(x, y) is bool_:
        return pointwise("or", [x, y], bool_) if alpha else identity(x, bool_)
    return pointwise("add", [x, scaled(y, alpha, x)])


register_lowering("sub.Tensor", "sub.Scalar")(lambda x, y, alpha=1: pointwise("sub", [x, scaled(y, alpha, x)]))
register_lowering("rsub.Tensor", "rsub.Scalar")(lambda x, y, alpha=1: pointwise("sub", [y, scaled(x, alpha, y)]))


def scaled(x: Any, alpha: float, other: Any) -> Any:
    """`alpha * x`, in the dtype of an operation on `x` and `other`."""
    if alpha == 1:
        return x
    if not isinstance(x, TensorBox):
        return x * alpha
    dtype = result_type(other, x)
    return make_pointwise(lambda value: ir.cast(value, dtype) * alpha, [x], dtype)


@register_lowering("div.Tensor", "div.Scalar")
def div(x: Any, y: Any) -> Pointwise:
    """The lowering of `div` without a rounding mode. Integers are converted to floating point."""
    wide = floating_dtype(x, y)  # integers are divided as floating-point numbers
    return pointwise("div", [x, y] if result_type(x, y) is wide else [to_dtype(x, wide), to_dtype(y, wide)])


@register_lowering("div.Tensor_mode")
def div_mode(x: Any, y: Any, rounding_mode: str | None) -> Pointwise:
    """The lowering of `div` with a rounding mode. Integers are left to the eager kernel, which raises on a division by
    0."""
    if rounding_mode is None:
        return div(x, y)
    operands = require_floating(x, y)  # eager raises if an integer is divided by zero
    return pointwise({"floor": "floordiv", "trunc": "truncdiv"}[rounding_mode], operands)


@register_lowering("pow.Tensor_Scalar")
def pow_scalar(x: TensorBox, exponent: float) -> Pointwise | TensorBox:
    """The lowering of `x ** number`. Small exponents become multiplications, a square root or a reciprocal."""
    kind = result_type(x, exponent)
    special = {0: lambda v: constant(1, kind), 1: lambda v: v, 2: lambda v: v * v, 3: lambda v: v * v * v}
    if kind.is_floating_point:
        special |= {0.5: lambda v: op("sqrt", v), -1: lambda v: op("reciprocal", v), -0.5: lambda v: op("rsqrt", v)}
    if exponent in special:
        return make_pointwise(lambda v: special[exponent](ir.cast(v, kind)), [x], kind)
    return pointwise("pow", require_floating(x, exponent))


@register_lowering("where.self")
def where_self(condition: TensorBox, x: Any, y: Any) -> TensorBox:
    """The lowering of `where`. Both values are converted to their common dtype."""
    kind = result_type(x, y)
    x, y = (side if isinstance(side, TensorBox) else constant(side, kind) for side in (x, y))

    def chosen(c: Expr, x: Expr, y: Expr) -> Expr:
        return where(ir.cast(c, bool_), ir.cast(x, kind), ir.cast(y, kind))

    return make_pointwise(chosen, [condition, x, y], kind)


@register_lowering("clamp", "clamp.Tensor", "clamp_min", "clamp_min.Tensor")
def clamp(x: TensorBox, low: Any = None, high: Any = None) -> TensorBox:
    """The lowering of `clamp`: a maximum and a minimum, in the common dtype."""
    kind = result_type(*(bound for bound in (x, low, high) if bound is not None))
    for name, bound in (("maximum", low), ("minimum", high)):
        if bound is not None:
            x = box(pointwise(name, [to_dtype(x, kind), to_dtype(bound, kind)]))
    return x


register_lowering("clamp_max", "clamp_max.Tensor")(lambda x, high: clamp(x, None, high))
register_lowering("hardtanh")(lambda x, low, high: clamp(*require_floating(x), low, high))


@register_lowering("_to_copy")
def to_copy(x: TensorBox, dtype: dtype | None = None, layout=None, device=None, *_: Any) -> TensorBox:
    """The lowering of a conversion of dtype. A copy to another device is not lowered."""
    if device is not None and str(device) not in ("cpu", "meta"):
        raise Unsupported
    return identity(x, dtype or x.dtype)


register_lowering("clone", "lift_fresh_copy", "positive")(lambda x, *_: identity(x, x.dtype))
register_lowering("copy")(lambda x, source, *_: identity(source, x.dtype, x.sizes))
