"""Kernels that compute element by element: arithmetic, comparison, logic, choice, assignment.

Each is a numpy function and a rule for dtypes. `iterator.py` does the rest. In PyTorch: `aten/src/ATen/native/BinaryOps.cpp`,
`TensorCompare.cpp`, and the loops in `aten/src/ATen/native/cpu/BinaryOpsKernel.cpp`. Functions of one operand are in
`elementary.py`.
"""

from collections.abc import Callable
from functools import partial, wraps

import numpy as np

from rushlight.aten import iterator
from rushlight.aten.iterator import Operand, Output, checked_convert, for_each, loop, operand_converter, output_of
from rushlight.aten.strided import META, Tensor, infer_size
from rushlight.aten.structured import Structured, planned
from rushlight.c10 import dtypes
from rushlight.c10.dtypes import FLOATING, INTEGRAL, Scalar, bool_, common_dtype, dtype, float32, float64, scalar_type
from rushlight.c10.exception import warn_once
from rushlight.c10.fast_paths import Cache, fast_form_of, fastest, registered

# Rules for dtypes: each returns the dtype of the computation and the dtype of the result -----------------------------


def arithmetic(*operands: Operand) -> tuple[dtype, dtype]:
    """The common type of all operands, for computation and result.
    Source: `aten/src/ATen/TensorIterator.h`, `build_borrowing_binary_op`."""
    common = common_dtype(*operands)
    return widened(common), common


def in_common(*operands: Operand) -> tuple[dtype, dtype]:
    """Like `arithmetic`, but operands are rounded to the common type before the computation, also Python numbers."""
    common = common_dtype(*operands)
    return common, common


def of_numbers_rounded(*operands: Operand) -> tuple[dtype, dtype]:
    """`in_common` if there is an operand of another dtype, such as a number, and else `arithmetic`, which is faster."""
    computed, common = arithmetic(*operands)
    return computed if all(isinstance(x, Tensor) and x.dtype is common for x in operands) else common, common


def comparison(*operands: Operand) -> tuple[dtype, dtype]:
    """Compute in the common type. The result is bool. Source: `aten/src/ATen/TensorIterator.h`, `build_comparison_op`."""
    return common_dtype(*operands), bool_


def to_floating(*operands: Operand) -> tuple[dtype, dtype]:
    """Like `arithmetic`, but integers become the default floating type.
    Source: `aten/src/ATen/TensorIterator.h`, `build_borrowing_unary_float_op`."""
    common = common_dtype(*operands)
    common = common if common.category == FLOATING else dtypes.get_default_dtype()
    return widened(common), common


def widened(common: dtype) -> dtype:
    """The dtype of the computation: float16 and bfloat16 are computed in float32 and rounded once, at the end.
    Source: `ATen/OpMathType.h`."""
    return float32 if common in dtypes.REDUCED_FLOATING else common


# Making a kernel from a numpy function -------------------------------------------------------------------------------

EVERY, NUMERIC = (dtypes.BOOLEAN, INTEGRAL, FLOATING), (INTEGRAL, FLOATING)
INTEGERS, FLOATS = (dtypes.BOOLEAN, INTEGRAL), (FLOATING,)
Array = np.ndarray
WHOLE = "biu"  # numpy's kinds of bool and integers; the kind of bfloat16 is not that of its own floating types


def pointwise(
    function: Callable,
    dtypes: Callable = arithmetic,
    kinds: tuple[int, ...] = EVERY,
    check: Callable | None = None,
    parameters: int = 0,
    casts: bool = True,
    is_like_ufunc: bool = False,
) -> Structured:
    """The structured kernel of `function(*arrays)`, numpy arrays of one dtype.

    Args:
        kinds: the categories of dtypes that the function supports.
        check: `check(*args)` runs first and may raise.
        parameters: how many of the last arguments are not operands of the loop: strings, and numbers, which are converted to
            the dtype of the arrays.
        casts: whether the dtype of `out` may differ from that of the result.
        is_like_ufunc: see `planned`.
    """
    is_like_ufunc = is_like_ufunc or isinstance(function, np.ufunc)

    def meta(*args) -> Output:
        if check is not None:
            check(*args)
        operands = args[: len(args) - parameters]
        computed, result = dtypes(*operands)
        return output_of(result, *operands, common=computed if result is bool_ else result)

    def impl(*args) -> None:
        *args, out = args
        operands, given = args[: len(args) - parameters], args[len(args) - parameters :]
        computed, result = dtypes(*operands)
        refuse_other_kinds(function, kinds, computed)
        values = [value if isinstance(value, str) else checked_convert(value, computed) for value in given]
        loop((lambda *arrays: function(*arrays, *values)) if values else function, out, operands, computed, result)

    def set_up(*args) -> tuple[Callable, list[Callable | None]]:
        operands, given = args[: len(args) - parameters], args[len(args) - parameters :]
        computed, _ = dtypes(*operands)
        refuse_other_kinds(function, kinds, computed)
        converters = [operand_converter(operand, computed, is_like_ufunc) for operand in operands]
        return function, converters + [iterator.parameter_converter(value, computed, is_like_ufunc) for value in given]

    return planned(Structured(meta, impl, casts), iterator.count_parameters(function), set_up, is_like_ufunc)


def refuse_other_kinds(function: Callable, kinds: tuple[int, ...], computed: dtype) -> None:
    """Raise a `NotImplementedError` if the function does not support the kind of the dtype: bool, integers or floating-
    point numbers. Source: `aten/src/ATen/Dispatch.h`, the `default` of `AT_DISPATCH_SWITCH`."""
    if computed.category not in kinds:
        raise NotImplementedError(f"\"{function.__name__}\" not implemented for '{computed.type_name}'")


def refuse_bool(refusal: str) -> Callable:
    """A check that no operand is bool."""

    def check(*args) -> None:
        if any((arg.dtype if isinstance(arg, Tensor) else scalar_type(arg)) is bool_ for arg in args[:2]):
            raise RuntimeError(refusal)

    return check


SIMPLE_DTYPES = (float32, float64)  # in these, numpy computes as PyTorch does, also with Python numbers


def fits_fast_path(self: Tensor) -> bool:
    """Whether numpy can compute directly with the array of `self`, and its result needs no conversion."""
    return self._has_plain_strides and self.dtype in SIMPLE_DTYPES


# Arithmetic ----------------------------------------------------------------------------------------------------------


def with_alpha(function: np.ufunc, check: Callable | None = None) -> Structured:
    """The structured kernel of `function(self, alpha * other)`: add and sub."""

    def meta(self: Operand, other: Operand, alpha: Scalar = 1) -> Output:
        if check is not None:
            check(self, other)
        common = common_dtype(self, other)
        check_alpha(common, alpha)
        return output_of(common, self, other)

    def impl(self: Operand, other: Operand, alpha: Scalar, out: Tensor) -> None:
        if alpha == 1:
            return plain.impl(self, other, out)
        computed, common = arithmetic(self, other)
        loop(lambda a, b: function(a, b * checked_convert(alpha, common)), out, (self, other), computed, common)

    def scaled(a: np.ndarray, b: np.ndarray, alpha: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        return function(a, b * alpha, out)

    def set_up(self: Operand, other: Operand, alpha: Scalar) -> tuple[Callable, list[Callable | None]]:
        computed, common = arithmetic(self, other)
        converters = [operand_converter(operand, computed) for operand in (self, other)]
        return scaled, [*converters, iterator.parameter_converter(alpha, common, is_like_ufunc=True)]

    kernel, plain = Structured(meta, impl, casts=True), pointwise(function, of_numbers_rounded, check=check)
    with_scale = planned(Structured(meta, impl, casts=True), 3, set_up, is_like_ufunc=True)
    (_, functional), (_, inplace) = registered[plain.functional], registered[plain.inplace]
    (_, scaled_functional), (_, scaled_inplace) = registered[with_scale.functional], registered[with_scale.inplace]

    @fast_form_of(kernel.functional)
    def call_with_alpha(self: Operand, other: Operand, alpha: Scalar) -> Tensor:
        if alpha.__class__ is int and alpha == 1:
            return functional(self, other)
        return scaled_functional(self, other, alpha)

    @fast_form_of(kernel.inplace)
    def call_with_alpha_in_place(self: Tensor, other: Operand, alpha: Scalar) -> Tensor:
        if alpha.__class__ is int and alpha == 1:
            return inplace(self, other)
        return scaled_inplace(self, other, alpha)

    return kernel


def check_alpha(common: dtype, alpha: Scalar) -> None:
    """Raise a `RuntimeError` for an `alpha` that is bool or floating point while the result is not.
    Source: `aten/src/ATen/native/BinaryOps.h`, `alpha_check`."""
    if isinstance(alpha, bool) and common is not bool_:
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if isinstance(alpha, float) and common.category != FLOATING:
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")


refuse_bool_subtraction = refuse_bool("Subtraction with a bool tensor is not supported. To compare masks, use `ne`.")
"""The check of `sub` and `rsub`: an operand of the dtype bool raises a `RuntimeError`."""

add = with_alpha(np.add)
sub = with_alpha(np.subtract, refuse_bool_subtraction)
mul = pointwise(np.multiply)
div = pointwise(np.true_divide, to_floating)


def x_log_y(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x * log(y), which is 0 where x is 0, also if y is 0, negative or infinite. It is nan where y is nan.
    Source: `aten/src/ATen/native/cpu/BinaryOpsKernel.cpp`, `xlogy_kernel`."""
    return np.where((x == 0) & ~np.isnan(y), 0, x * np.log(y))


xlogy = pointwise(x_log_y, to_floating)
maximum = pointwise(np.maximum, in_common)
minimum = pointwise(np.minimum, in_common)


# `add.Scalar`, `mul.Scalar` and so on are operators of their own for autograd, because a number has no gradient. Composite kernels
# call them where PyTorch's C++ kernels combine a tensor with a `Scalar`. In Python, numbers are passed to `add.Tensor`.


# Rounded division and its remainder ----------------------------------------------------------------------------------


def refuse_zero(function: Callable) -> Callable:
    """`function(a, b)`, but integers are not divided by 0. PyTorch raises an error, while numpy returns 0."""

    @wraps(function)
    def divide(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        if b.dtype.kind in WHOLE and not b.all():
            raise RuntimeError("ZeroDivisionError")
        return function(a, b)

    return divide


@refuse_zero
def truncated_quotient(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The quotient rounded towards 0. Integers are divided exactly, without a conversion to floating point."""
    if a.dtype.kind in WHOLE:
        return np.floor_divide(a - np.fmod(a, b), b)
    return np.trunc(np.true_divide(a, b))


@refuse_zero
def floor_remainder(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The remainder of `floor_divide`, with the sign of `b`. A zero has the sign of `a`. In numpy it has the sign of `b`.
    Source: `aten/src/ATen/native/cpu/BinaryOpsKernel.cpp`, `remainder_kernel`."""
    left = np.fmod(a, b)
    return np.where((left != 0) & ((b < 0) != (left < 0)), left + b, left)


floor_divide = pointwise(refuse_zero(np.floor_divide), arithmetic, NUMERIC)
remainder = pointwise(floor_remainder, in_common, NUMERIC)
fmod = pointwise(refuse_zero(np.fmod), in_common, NUMERIC)
BY_ROUNDING_MODE = {None: div, "trunc": pointwise(truncated_quotient, in_common, NUMERIC), "floor": floor_divide}
"""The kernel of `div` for each value of `rounding_mode`."""


def kernel_of_mode(rounding_mode: str | None) -> Structured:
    """The kernel of `div` for a `rounding_mode`. A mode that is not in `BY_ROUNDING_MODE` raises a `RuntimeError`."""
    if rounding_mode not in BY_ROUNDING_MODE:
        modes = "None, 'trunc', or 'floor'"
        raise RuntimeError(f"div expected rounding_mode to be one of {modes} but found {rounding_mode!r}")
    return BY_ROUNDING_MODE[rounding_mode]


div_mode = Structured(
    lambda self, other, rounding_mode: kernel_of_mode(rounding_mode).meta(self, other),
    lambda self, other, rounding_mode, out: kernel_of_mode(rounding_mode).impl(self, other, out),
    casts=True,
)

# Comparison and logic ------------------------------------------------------------------------------------------------


compare = partial(pointwise, dtypes=comparison)
eq = compare(np.equal)
ne = compare(np.not_equal)
lt = compare(np.less)
le = compare(np.less_equal)
gt = compare(np.greater)
ge = compare(np.greater_equal)
logical_and = compare(np.logical_and)
logical_or = compare(np.logical_or)
logical_xor = compare(np.logical_xor)
logical_not = compare(np.logical_not)
combine_bits = partial(pointwise, dtypes=in_common, kinds=INTEGERS)
bitwise_and = combine_bits(np.bitwise_and)
bitwise_or = combine_bits(np.bitwise_or)
bitwise_xor = combine_bits(np.bitwise_xor)
shift_bits = partial(pointwise, dtypes=in_common, kinds=(INTEGRAL,))  # by less than 0 or more than all bits: as numpy
bitwise_left_shift = shift_bits(np.left_shift)
bitwise_right_shift = shift_bits(np.right_shift)
bitwise_not = pointwise(np.invert, in_common, INTEGERS, casts=False)


def isclose(self: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """Whether each pair of elements differs by at most `atol + rtol * abs(other)`. Infinity is close to the same infinity only.
    Source: `aten/src/ATen/native/TensorCompare.cpp`, `isclose`."""
    if self.dtype is not other.dtype:
        raise RuntimeError(f"{self.dtype.type_name} did not match {other.dtype.type_name}")
    for name, tolerance in ("rtol", rtol), ("atol", atol):
        if not tolerance >= 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {tolerance}")
    close = self == other
    if equal_nan and self.dtype.category == FLOATING:
        close = close | (self.isnan() & other.isnan())
    if rtol == 0 and atol == 0:
        return close
    if self.dtype.category != FLOATING:
        wide = dtypes.get_default_dtype()
        self, other = self.to(wide) if self.dtype is bool_ else self, other.to(wide)
    distance = (self - other).abs()
    return close | (distance.isfinite() & (distance <= (other * rtol).abs() + atol))


# Selection -----------------------------------------------------------------------------------------------------------


def where_meta(condition: Tensor, self: Operand, other: Operand) -> Output:
    """Check the arguments of `where`, and return the geometry of its result: all three operands are broadcast, and the
    dtype is common to `self` and `other`. A condition of uint8 is deprecated and warns."""
    if condition.dtype not in (bool_, dtypes.uint8):
        raise RuntimeError(f"where expected condition to be a boolean tensor, but got one of {condition.dtype.name}")
    if condition.dtype is dtypes.uint8:
        warn_once("where with a condition of uint8 is deprecated: make it bool")
    common, sizes = common_dtype(self, other), iterator.common_sizes(condition, self, other)
    for choice in self, other:
        if not isinstance(choice, Tensor):
            checked_convert(choice, common)  # refused if it does not fit
    geometries = (iterator.geometry(condition), iterator.geometry_in(common, self), iterator.geometry_in(common, other))
    return Output(sizes, iterator.output_strides(sizes, geometries), common)


BITS = {4: np.int32, 8: np.int64}  # by the bytes of a number


def choose(condition: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """`np.where` for bools and arrays of one dtype. With many numbers a mask of all bits selects faster, because numpy's loop
    branches at each element."""
    if condition.size < 8192 or a.dtype != b.dtype or a.itemsize not in BITS:
        return np.where(condition, a, b)
    bits = BITS[a.itemsize]
    b, keep = b.view(bits), np.negative(condition.view(np.int8)).astype(bits)
    chosen = (a.view(bits) ^ b) & keep
    chosen ^= b
    return chosen.view(a.dtype)


def where_impl(condition: Tensor, self: Operand, other: Operand, out: Tensor) -> None:
    """Write the result of `where` to `out`.
    Source: `aten/src/ATen/native/cpu/TensorCompareKernel.cpp`, `where_kernel_impl`."""
    result, choice, *arrays = fastest[iterator.loop_arrays](out, (condition, self, other), out.dtype)
    choices = (array.astype(out.dtype.numpy, copy=False) for array in arrays)
    result[...] = choose(choice.astype(np.bool_, copy=False), *choices)


def set_up_where(condition: Tensor, self: Operand, other: Operand) -> tuple[Callable, list[Callable | None]]:
    """The loop of `where`, and the conversion of each operand: the condition to bool, the two others to their common
    dtype."""
    common = common_dtype(self, other)
    return choose, [*map(operand_converter, (condition, self, other), (bool_, common, common))]


where = planned(Structured(where_meta, where_impl), 3, set_up_where)


def between(x: np.ndarray, lower: np.ndarray | None, upper: np.ndarray | None) -> np.ndarray:
    """Clamp `x`. NaN in `x` or in a bound gives NaN. If the bounds are crossed, the result is the upper bound. If `x` equals a
    bound, for example -0. and 0., PyTorch returns `x`, while numpy returns its second argument."""
    raised = x if lower is None else np.maximum(lower, x)
    return raised if upper is None else np.minimum(upper, raised)


def given_bounds(*bounds: Operand | None) -> list[Operand]:
    """The bounds of `clamp` that are not None. Without any, it raises a `RuntimeError`."""
    given = [bound for bound in bounds if bound is not None]
    if not given:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    return given


def clamp_meta(self: Tensor, min: Scalar | None, max: Scalar | None) -> Output:
    """The geometry of `clamp` with numbers as bounds, which take part in type promotion."""
    return output_of(common_dtype(self, *given_bounds(min, max)), self)


def clamp_impl(self: Tensor, min: Scalar | None, max: Scalar | None, out: Tensor) -> None:
    """Write the result of `clamp` with numbers as bounds to `out`.
    Source: `aten/src/ATen/native/TensorCompare.cpp`, `clamp_out`."""
    computed = common_dtype(self, *given_bounds(min, max))
    refuse_other_kinds(between, NUMERIC, computed)
    lower, upper = (None if bound is None else checked_convert(bound, computed) for bound in (min, max))
    for_each(lambda x: between(x, lower, upper), out, (self,), computed)


def set_up_clamp(self: Tensor, min: Scalar | None, max: Scalar | None) -> tuple[Callable, list[Callable | None]]:
    """The loop of `clamp` with numbers as bounds, and the conversion of its operands."""
    computed = common_dtype(self, *given_bounds(min, max))
    refuse_other_kinds(between, NUMERIC, computed)
    bounds = [iterator.parameter_converter(bound, computed, is_like_ufunc=True) for bound in (min, max)]
    return between, [operand_converter(self, computed), *bounds]


clamp = planned(Structured(clamp_meta, clamp_impl), 3, set_up_clamp)


def clamp_tensor_meta(self: Tensor, min: Tensor | None, max: Tensor | None) -> Output:
    """The geometry of `clamp` with tensors as bounds, which are broadcast."""
    operands = (self, *given_bounds(min, max))
    return output_of(common_dtype(*operands), *operands)


@partial(Structured, clamp_tensor_meta, casts=True)
def clamp_tensor(self: Tensor, min: Tensor | None, max: Tensor | None, out: Tensor) -> None:
    if max is None:
        maximum.impl(self, min, out)
    elif min is None:
        minimum.impl(self, max, out)
    else:
        clamp_both.impl(self, min, max, out)


clamp_both = pointwise(between, in_common, NUMERIC)
"""The kernel of `clamp` with both bounds as tensors."""


def with_bounds(of: Callable[[Scalar], tuple[Scalar | None, Scalar | None]]) -> Structured:
    """`clamp` with the bounds, of which one is None, that a function makes of a number."""
    return Structured(lambda x, n: clamp_meta(x, *of(n)), lambda x, n, out: clamp_impl(x, *of(n), out))


clamp_min = with_bounds(lambda min: (min, None))
clamp_max = with_bounds(lambda max: (None, max))


# Three operands ------------------------------------------------------------------------------------------------------


def interpolated(start: np.ndarray, end: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Interpolate from the nearer end, so that weight 1 gives `end` exactly. Source: `aten/src/ATen/native/Lerp.h`."""
    distance = end - start
    if np.ndim(weight) == 0:
        return start + weight * distance if abs(weight) < 0.5 else end - distance * (1 - weight)
    return np.where(np.abs(weight) < 0.5, start + weight * distance, end - distance * (1 - weight))


def check_lerp(self: Tensor, end: Tensor, weight: Operand) -> None:
    """Raise a `RuntimeError` if `end`, or a `weight` with dimensions, has another dtype than `self`."""
    for name, operand in ("end", end), ("weight", weight):
        is_number = not isinstance(operand, Tensor) or name == "weight" and operand.dim() == 0
        if isinstance(operand, Tensor) and not is_number and operand.dtype is not self.dtype:
            raise RuntimeError(f"expected dtype {self.dtype.name} for `{name}` but got dtype {operand.dtype.name}")


def add_product(x: Array, a: Array, b: Array, value: Scalar, out: Array | None = None) -> Array:
    """`x + value * a * b`, the loop of `addcmul`."""
    return np.add(x, value * a * b, out)


def add_quotient(x: Array, a: Array, b: Array, value: Scalar, out: Array | None = None) -> Array:
    """`x + value * a / b`, the loop of `addcdiv`."""
    return np.add(x, value * a / b, out)


def check_addcdiv(self: Tensor, tensor1: Tensor, tensor2: Tensor, value: Scalar) -> None:
    """Raise a `RuntimeError` if both tensors of the quotient are integers."""
    if tensor1.dtype.category != FLOATING and tensor2.dtype.category != FLOATING:
        raise RuntimeError("Integer division with addcdiv is no longer supported: make one of the two tensors floating")


lerp_number = pointwise(interpolated, arithmetic, FLOATS, check_lerp, parameters=1)
lerp_tensor = pointwise(interpolated, arithmetic, FLOATS, check_lerp)
addcmul = pointwise(add_product, arithmetic, NUMERIC, parameters=1, is_like_ufunc=True)
addcdiv = pointwise(add_quotient, arithmetic, FLOATS, check_addcdiv, parameters=1, is_like_ufunc=True)


# Assignment ----------------------------------------------------------------------------------------------------------


def copy_(self: Tensor, src: Tensor | Scalar, non_blocking: bool = False) -> Tensor:
    """Write `src`, broadcast to the sizes of `self` and cast to its dtype, into `self`.
    Source: `aten/src/ATen/native/Copy.cpp`, `copy_`."""
    if src is self:
        return self
    if not isinstance(src, Tensor):
        iterator.assert_no_internal_overlap(self)
        if not self.is_meta:
            for_each(_unchanged, self, [src], scalar_type(src))
        return self
    key = self._sizes, self._strides, src._sizes, src._strides
    is_on_cpu = not (self._key_set | src._key_set) & META
    if key in _checked_copies and is_on_cpu and self._storage is not src._storage:
        self._array[...] = src._array
        return self
    iterator.assert_no_internal_overlap(self)
    iterator.assert_no_partial_overlap(self, src)
    if tuple(infer_size(self.shape, src.shape)) != self.shape:
        raise RuntimeError(f"The size of the source {list(src.shape)} does not broadcast to {list(self.shape)}")
    if not self.is_meta:
        for_each(_unchanged, self, [src], src.dtype)
    _checked_copies.add(key, True)
    return self


_checked_copies = Cache("aten")  # whose operands passed the checks, so that numpy can copy


def _unchanged(array: np.ndarray) -> np.ndarray:
    return array


def fill_(self: Tensor, value: Tensor | Scalar) -> Tensor:
    """Set every element to `value`, a number or a 0-dim tensor. Only a number may be written to memory that overlaps itself.
    Source: `aten/src/ATen/native/Fill.cpp`, `fill_`."""
    if isinstance(value, Tensor):
        if value.dim() != 0:
            raise RuntimeError(f"fill_ only supports 0-dimension value tensor but got {value.dim()} dimensions.")
        iterator.assert_no_internal_overlap(self)
        if self.is_meta:
            return self
        value = value.item()
    scalar_type(value)
    if not self.is_meta:
        self._array[...] = checked_convert(value, self.dtype)
    return self
