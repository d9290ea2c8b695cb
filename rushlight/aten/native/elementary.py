"""Functions of one operand: powers, rounding, the elementary functions, and activation functions.

They compute element by element, like the kernels of `pointwise.py`. Some have numbers as parameters. In PyTorch:
`aten/src/ATen/native/UnaryOps.cpp`, `Pow.cpp`, `Activation.cpp` and the loops in `aten/src/ATen/native/cpu/`. Left out:
activations with random numbers or learnt weights, and activations along a dimension (softmax, glu).
"""

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from rushlight.aten.iterator import Output, checked_convert, loop, operand_converter, output_of, parameter_converter
from rushlight.aten.native import pointwise as loops
from rushlight.aten.native.pointwise import FLOATS, NUMERIC, WHOLE, arithmetic, in_common, pointwise, to_floating
from rushlight.aten.strided import Tensor, strides_for
from rushlight.aten.structured import Structured, planned
from rushlight.c10.dtypes import FLOATING, INTEGRAL, Scalar, bfloat16, bool_, common_dtype, dtype
from rushlight.c10.fast_paths import fast_form_of, fastest
from rushlight.c10.type_info import finfo

# Elementary functions ------------------------------------------------------------------------------------------------


def skip_integers(function: Callable) -> Callable:
    """A rounding function that returns integers unchanged."""

    def rounding(x: np.ndarray) -> np.ndarray:
        return x if x.dtype.kind in WHOLE else function(x)

    rounding.__name__ = function.__name__
    return rounding


def sign(x: np.ndarray) -> np.ndarray:
    """The sign of NaN is 0, as in PyTorch. In numpy it is NaN."""
    return x if x.dtype.kind == "b" else np.subtract(x > 0, x < 0, dtype=x.dtype)


def round_decimals(x: np.ndarray, decimals: np.ndarray) -> np.ndarray:
    """Round to `decimals` decimals. Negative numbers round to digits before the point.
    Source: `aten/src/ATen/native/cpu/UnaryOpsKernel.cpp`, `round_decimals_kernel`."""
    scale = np.power(10.0, np.abs(decimals)).astype(x.dtype)
    return np.rint(x / scale) * scale if decimals < 0 else np.rint(x * scale) / scale


def logistic(x: np.ndarray) -> np.ndarray:
    """The loop of `sigmoid`: `1 / (1 + exp(-x))`."""
    return 1 / (1 + np.exp(-x))


absolute = pointwise(np.abs, in_common, NUMERIC, casts=False)
refuse_negation = loops.refuse_bool("Negation of a bool tensor is not supported. To invert a mask, use `~`.")
neg = pointwise(np.negative, in_common, check=refuse_negation, casts=False)
signum = pointwise(sign, in_common, casts=False)
rounding = map(skip_integers, (np.ceil, np.floor, np.trunc, np.rint))
ceil, floor, trunc, rounded = (pointwise(function, in_common, NUMERIC, casts=False) for function in rounding)
rounded_to = pointwise(round_decimals, arithmetic, FLOATS, parameters=1, casts=False)

float_function = partial(pointwise, dtypes=to_floating)
exp, exp2, expm1 = map(float_function, (np.exp, np.exp2, np.expm1))
log, log2, log10, log1p = map(float_function, (np.log, np.log2, np.log10, np.log1p))
sin, cos, tan, tanh, sigmoid = map(float_function, (np.sin, np.cos, np.tan, np.tanh, logistic))
sqrt, rsqrt, reciprocal = map(float_function, (np.sqrt, lambda x: 1 / np.sqrt(x), np.reciprocal))
acos, acosh, asin, asinh = map(float_function, (np.arccos, np.arccosh, np.arcsin, np.arcsinh))
atan, atanh, cosh, sinh = map(float_function, (np.arctan, np.arctanh, np.cosh, np.sinh))
sinc = float_function(lambda x: np.sinc(x))
atan2, hypot, copysign = float_function(np.arctan2), pointwise(np.hypot, in_common, FLOATS), float_function(np.copysign)
logaddexp, logaddexp2 = (pointwise(function, in_common, FLOATS) for function in (np.logaddexp, np.logaddexp2))
fmax, fmin = (pointwise(function, in_common) for function in (np.fmax, np.fmin))
gcd, lcm = (pointwise(function, in_common, (INTEGRAL,)) for function in (np.gcd, np.lcm))
heaviside = pointwise(lambda x, values: loops.choose(x == 0, values, (x > 0).astype(x.dtype)), in_common, casts=False)
to_bool = partial(loops.compare, casts=False)
signbit = to_bool(lambda x: x < 0 if x.dtype.kind in WHOLE else np.signbit(x))
isposinf, isneginf = to_bool(lambda x: x == np.inf), to_bool(lambda x: x == -np.inf)
frac = pointwise(lambda x: x - np.trunc(x), in_common, FLOATS, casts=False)


@partial(Structured, lambda self, *values: output_of(self.dtype, self))
def nan_to_num(self: Tensor, nan: float | None, posinf: float | None, neginf: float | None, out: Tensor) -> None:
    """Other numbers for NaN and the infinities: by default 0, and the largest and the smallest number of the dtype."""
    is_floating = self.dtype.category == FLOATING
    out._array[...] = np.nan_to_num(self._array, True, nan or 0.0, posinf, neginf) if is_floating else self._array


@partial(Structured, lambda self, eps: output_of(to_floating(self)[1], self), casts=True)
def logit(self: Tensor, eps: float | None, out: Tensor) -> None:
    def log_odds(x: np.ndarray) -> np.ndarray:
        x = x if eps is None else np.clip(x, x.dtype.type(eps), x.dtype.type(1 - eps))
        return np.log(x / (1 - x))

    loop(log_odds, out, (self,), *to_floating(self))


def positive(self: Tensor) -> Tensor:
    if self.dtype is bool_:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return self


# Powers --------------------------------------------------------------------------------------------------------------


def power(base: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    """Powers, also of integers. For integers a negative exponent gives 0, unless the base is 1 or -1.
    Source: `aten/src/ATen/native/Pow.h`, `powi`."""
    if base.dtype.kind not in WHOLE or not (exponent < 0).any():
        return np.power(base, exponent)
    one_over = np.where(base == 1, 1, np.where(base == -1, 1 - 2 * (exponent & 1), 0))
    return np.where(exponent < 0, one_over, np.power(base, np.maximum(exponent, 0))).astype(base.dtype)


# Of floating numbers: faster, and `sqrt` differs from `power` at -inf.
POWERS: dict[Scalar, Callable[[np.ndarray], np.ndarray]] = {
    1: np.positive,
    2: np.square,
    3: lambda x: x * x * x,
    0.5: np.sqrt,
    -0.5: lambda x: (1 / np.sqrt(x.astype(np.float32) if x.dtype.kind == "V" else x)).astype(x.dtype, copy=False),
    -1: np.reciprocal,
    -2: lambda x: 1 / (x * x),
}


def pow_number_meta(self: Tensor, exponent: Scalar) -> Output:
    """The geometry of `x ** number`. An integer to a negative power raises a `RuntimeError`."""
    common = common_dtype(self, exponent)
    if common.category != FLOATING and exponent < 0:
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    return output_of(common, self)


def pow_number_impl(self: Tensor, exponent: Scalar, out: Tensor) -> None:
    """Write `self ** exponent` to `out`. For some exponents, such as 2, there is a faster function.
    Source: `aten/src/ATen/native/cpu/PowKernel.cpp`, `pow_tensor_scalar_kernel`."""
    computed, common = precision_of_power(self, exponent)
    function = POWERS.get(exponent) if computed is common and common.category == FLOATING else None
    exponent = checked_convert(exponent, common).astype(computed.numpy)
    loop(function or (lambda x: power(x, exponent)), out, (self,), computed, common)


def precision_of_power(self: Tensor, exponent: Scalar) -> tuple[dtype, dtype]:
    """As `arithmetic`, but each step of a power of bfloat16 is rounded, for example both products of a cube."""
    computed, common = arithmetic(self, exponent)
    return common if common is bfloat16 else computed, common


def floating_power(x: np.ndarray, exponent: Scalar) -> np.ndarray:
    """`x ** exponent` for floating-point elements. The exponents in `POWERS`, such as 2 and 0.5, have a faster
    function."""
    function = POWERS.get(exponent)
    return np.power(x, x.dtype.type(exponent)) if function is None else function(x)


def set_up_pow_number(self: Tensor, exponent: Scalar) -> tuple[Callable, list[Callable | None]]:
    """The loop of `x ** number`, and the conversion of its operands."""
    computed, common = precision_of_power(self, exponent)
    if computed is common and common.category == FLOATING:
        return floating_power, [operand_converter(self, computed), None]
    return power, [operand_converter(self, computed), parameter_converter(exponent, common)]


pow_number = planned(Structured(pow_number_meta, pow_number_impl, casts=True), 2, set_up_pow_number)
pow_tensor = pointwise(power, in_common, NUMERIC)


def pow_of_number_meta(self: Scalar, exponent: Tensor) -> Output:
    """The geometry of `number ** x`: the sizes of `x`, and the common dtype."""
    return Output(exponent.shape, None, common_dtype(self, exponent))


pow_of_number = Structured(pow_of_number_meta, pow_tensor.impl, casts=True)

# The error function --------------------------------------------------------------------------------------------------

NEAR_ZERO = (  # numerator and denominator in x * x of erf(x) / x, for |x| <= 0.46875; the highest power first
    (1.85777706184603153e-1, 3.16112374387056560e0, 1.13864154151050156e2, 3.77485237685302021e2, 3.20937758913846947e3),
    (1.0, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3, 2.84423683343917062e3),
)  # fmt: skip
FURTHER_OUT = (  # in |x|, of (1 - erf(|x|)) * exp(x * x), for 0.46875 <= |x| <= 4
    (
        2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594e0, 6.61191906371416295e1,
        2.98635138197400131e2, 8.81952221241769090e2, 1.71204761263407058e3, 2.05107837782607147e3,
        1.23033935479799725e3,
    ),
    (
        1.0, 1.57449261107098347e1, 1.17693950891312499e2, 5.37181101862009858e2, 1.62138957456669019e3,
        3.29079923573345963e3, 4.36261909014324716e3, 3.43936767414372164e3, 1.23033935480374942e3,
    ),
)  # fmt: skip


def error_function(x: np.ndarray) -> np.ndarray:
    """The integral of 2 / sqrt(pi) * exp(-t * t) from 0 to `x`, to about 1e-15 in float64, by two quotients of polynomials.

    From W. J. Cody, "Rational Chebyshev approximations for the error function", Mathematics of Computation 23 (1969). Cody's
    third quotient, for |x| > 4, matters only for digits of 1 - erf(x) that erf(x) does not have.
    """
    distance = np.minimum(np.abs(x), 6)  # above 6, erf is 1 in float64
    square = distance * distance
    near = distance * (polynomial(NEAR_ZERO[0], square) / polynomial(NEAR_ZERO[1], square))
    further = 1 - np.exp(-square) * (polynomial(FURTHER_OUT[0], distance) / polynomial(FURTHER_OUT[1], distance))
    return np.copysign(np.where(distance <= 0.46875, near, further), x)


def polynomial(coefficients: tuple[float, ...], x: np.ndarray) -> np.ndarray:
    """Horner's rule, in the dtype of `x`."""
    value = coefficients[0] * x
    for coefficient in coefficients[1:-1]:
        value += coefficient
        value *= x
    value += coefficients[-1]
    return value


erf = float_function(error_function)


def complement(x: np.ndarray) -> np.ndarray:
    """1 - erf(x) with the digits that this difference loses for large `x`."""
    return np.asarray(np.frompyfunc(math.erfc, 1, 1)(x), x.dtype)


def inverse_error_function(y: np.ndarray) -> np.ndarray:
    """The `x` with erf(x) = y: an estimate, and Newton's steps, near 1 on 1 - erf(x).
    The estimate is from S. Winitzki, "A handy approximation for the error function and its inverse" (2008)."""
    near = np.abs(y.astype(np.float64))
    tail, is_small = 1 - near, near < 0.5
    log = np.log(tail * (1 + near))
    half = 2 / (math.pi * 0.147) + log / 2
    x = np.where(is_small, near, np.sqrt(np.sqrt(half * half - log / 0.147) - half))
    for _ in range(4):
        x += np.where(is_small, near - error_function(x), complement(x) - tail) * math.sqrt(math.pi) / 2 * np.exp(x * x)
    return np.copysign(np.where(near == 1, np.inf, x), y).astype(y.dtype)


erfc, erfinv = float_function(complement), float_function(inverse_error_function)

# The gamma function --------------------------------------------------------------------------------------------------

BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)  # B2, B4 and so on


def from_large(x: np.ndarray, reflect: bool) -> tuple[np.ndarray, list[np.ndarray]]:
    """A number above 9 for each `x`, and the numbers in steps of 1 that lead to it, NaN where there are no more. The series
    below are exact for large numbers. If `reflect` is true, a number below 0.5 begins at 1 - x."""
    large, steps = np.where(reflect & (x < 0.5), 1 - x, x).astype(np.float64), []
    while (large <= 9).any():
        steps.append(np.where(large <= 9, large, np.nan))
        large = np.where(large <= 9, large + 1, large)
    return large, steps


def log_gamma(x: np.ndarray) -> np.ndarray:
    """The logarithm of |gamma(x)|, by Stirling's series."""
    large, steps = from_large(x, reflect=True)
    series = sum(b / ((2 * n + 2) * (2 * n + 1) * large ** (2 * n + 1)) for n, b in enumerate(BERNOULLI))
    value = (large - 0.5) * np.log(large) - large + 0.5 * math.log(2 * math.pi) + series
    value -= sum(np.nan_to_num(np.log(step)) for step in steps)
    value = np.where(x < 0.5, np.log(math.pi / np.abs(np.sin(math.pi * x))) - value, value)
    return np.where(np.isinf(x) | (x <= 0) & (x == np.floor(x)), np.inf, value).astype(x.dtype)


def psi(x: np.ndarray) -> np.ndarray:
    """The derivative of `log_gamma`."""
    dtype, x = x.dtype, x.astype(np.float64)
    large, steps = from_large(x, reflect=True)
    value = np.log(large) - 0.5 / large - sum(b / ((2 * n + 2) * large ** (2 * n + 2)) for n, b in enumerate(BERNOULLI))
    value -= sum(np.nan_to_num(1 / step) for step in steps)
    value = np.where(x < 0.5, value - math.pi / np.tan(math.pi * x), value)
    value = np.where((x < 0) & (x == np.floor(x)), np.nan, np.where(np.isposinf(x), np.inf, value))
    return np.where(x == 0, -np.copysign(np.inf, x), value).astype(dtype)


def trigamma(x: np.ndarray) -> np.ndarray:
    """The derivative of `psi`, with the steps of `aten/src/ATen/native/Math.h`, `trigamma`, in the dtype of `x`."""
    value = np.where(x < 0.5, -((x.dtype.type(math.pi) / np.sin(x.dtype.type(math.pi) * x)) ** 2), x.dtype.type(0))
    sign, x = np.where(x < 0.5, -1, 1).astype(x.dtype), np.where(x < 0.5, 1 - x, x)
    for _ in range(6):
        value, x = value + 1 / (x * x), x + 1
    square = 1 / (x * x)
    return sign * (value + (1 + 1 / (2 * x) + square * (1 / 6 - square * (1 / 30 - square / 42))) / x)


def zeta(s: int, q: np.ndarray) -> np.ndarray:
    """The sum of (q + k) ** -s over all k from 0, by the formula of Euler and Maclaurin."""
    large, steps = from_large(q, reflect=False)
    value = sum(np.nan_to_num(step ** -float(s), posinf=np.inf) for step in steps)
    value = value + large ** (1.0 - s) / (s - 1) + large ** -float(s) / 2
    for n, b in enumerate(BERNOULLI):
        value += b / math.factorial(2 * n + 2) * math.prod(range(s, s + 2 * n + 1)) * large ** -float(s + 2 * n + 1)
    return value


def polygamma_impl(n: int, self: Tensor, out: Tensor) -> None:
    """The n-th derivative of `psi`."""
    sign = (-1) ** (n + 1) * math.factorial(n)
    derivatives = {0: psi, 1: trigamma}
    loop(derivatives.get(n, lambda x: (sign * zeta(n + 1, x)).astype(x.dtype)), out, (self,), *to_floating(self))


lgamma, digamma = float_function(log_gamma), float_function(psi)
polygamma = Structured(lambda n, self: output_of(to_floating(self)[1], self), polygamma_impl, casts=True)

# Activations ---------------------------------------------------------------------------------------------------------


def rectified(x: np.ndarray) -> np.ndarray:
    """The loop of `relu`: the greater of 0 and `x`. NaN stays NaN, and -0. stays -0."""
    return np.maximum(x.dtype.type(0), x)  # in this order of arguments -0. stays -0., as in PyTorch


def times_probability(x: np.ndarray, approximate: str) -> np.ndarray:
    """`x` times the probability that a normal variable is below `x`: by the error function, or approximately by tanh."""
    if approximate == "tanh":
        t = x * x  # from here on x * (1 + 0.044715 * x * x), times a number
        t *= 0.044715 * math.sqrt(2 / math.pi)
        t += math.sqrt(2 / math.pi)
        t *= x
        np.tanh(t, t)
        t += 1
        t *= x
        t *= 0.5
        return t
    if x.dtype == np.float32:
        exponent = x * x
        exponent *= -0.5
        below = probability_below(x, np.exp(exponent))
        below *= x
        return below
    return 0.5 * x * (1 + error_function(x * math.sqrt(0.5)))


def check_gelu(self: Tensor, approximate: str) -> None:
    """Raise a `RuntimeError` if `approximate` is neither "none" nor "tanh"."""
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")


def check_lambda(self: Tensor, lambd: Scalar) -> None:
    """Raise NotImplementedError if the tensor is not floating point, and RuntimeError if `lambd` is negative, NaN, or above the
    greatest number of the dtype. Source: `aten/src/ATen/native/Activation.cpp`, `softshrink_check`."""
    if not self.dtype.is_floating_point:
        raise NotImplementedError(f"\"softshrink_check\" not implemented for '{self.dtype.type_name}'")
    most = finfo(self.dtype).max
    if not 0 <= lambd <= most:
        kind = self.dtype.type_name
        raise RuntimeError(f"lambda must be in range [0, {most:g}] for input dtype {kind}, but found {lambd:g}")


def times_logistic(x: np.ndarray) -> np.ndarray:
    """The loop of `silu`: `x * sigmoid(x)`."""
    return x / (1 + np.exp(-x))


def soft_plus(x: np.ndarray, beta: np.ndarray, threshold: np.ndarray) -> np.ndarray:
    """log(1 + exp(beta * x)) / beta. Above the threshold the result is `x`, which is almost equal."""
    return loops.choose(x * beta > threshold, x, np.log1p(np.exp(x * beta)) / beta)


def leaky(x: np.ndarray, negative_slope: np.ndarray) -> np.ndarray:
    """The loop of `leaky_relu`: `x` where it is positive, and elsewhere `x * negative_slope`."""
    if 0 < negative_slope <= 1:
        return np.maximum(x, x * negative_slope)
    return loops.choose(x > 0, x, x * negative_slope)


def exponential_linear(x: np.ndarray, alpha: np.ndarray, scale: np.ndarray, input_scale: np.ndarray) -> np.ndarray:
    """The loop of `elu`: `x * scale` where `x` is not negative, and elsewhere `alpha * scale * (exp(x * input_scale) -
    1)`."""
    return loops.choose(x < 0, np.expm1(x * input_scale) * (alpha * scale), x * scale)


def replaced_up_to(x: np.ndarray, threshold: np.ndarray, value: np.ndarray) -> np.ndarray:
    """The loop of `threshold`: `value` where `x <= threshold`, and elsewhere `x`."""
    return np.where(x <= threshold, value, x)


refuse_mask = loops.refuse_bool("Boolean inputs not supported for relu")
relu = pointwise(rectified, arithmetic, NUMERIC, refuse_mask, casts=False)
gelu = pointwise(times_probability, arithmetic, FLOATS, check_gelu, parameters=1, casts=False)
silu = pointwise(times_logistic, arithmetic, FLOATS, casts=False)
softplus = pointwise(soft_plus, arithmetic, FLOATS, parameters=2, casts=False)
leaky_relu = pointwise(leaky, arithmetic, FLOATS, parameters=1, casts=False)
elu = pointwise(exponential_linear, arithmetic, FLOATS, parameters=3, casts=False)
threshold = pointwise(replaced_up_to, arithmetic, NUMERIC, parameters=2)
threshold.idempotent = True
clipped = pointwise(loops.between, in_common, NUMERIC, parameters=2, casts=False)
activation = partial(pointwise, dtypes=arithmetic, kinds=FLOATS, casts=False)
hardsigmoid = activation(lambda x: np.clip(x + 3, 0, 6) / 6)
hardswish = activation(lambda x: x * np.clip(x + 3, 0, 6) / 6)
mish = activation(lambda x: x * np.tanh(np.log1p(np.exp(x))))
shrink = partial(activation, parameters=1)
hardshrink = shrink(lambda x, lambd: np.where(np.abs(x) <= lambd, 0, x))
_softshrink = shrink(
    lambda x, lambd: np.where(np.abs(x) <= lambd, x * 0, x - np.copysign(lambd, x)), check=check_lambda
)
softshrink = Structured(_softshrink.meta, _softshrink.impl)  # not planned, because each call checks its number


def hardtanh_meta(self: Tensor, min_val: Scalar, max_val: Scalar) -> Output:
    """The geometry of `hardtanh`. The dtype bool, and negative limits for an unsigned dtype, raise a `RuntimeError`."""
    if self.dtype is bool_:
        raise RuntimeError("Bool inputs not supported for hardtanh")
    if not self.dtype.is_signed and min(int(min_val), int(max_val)) < 0:
        raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
    return Output(self.shape, strides_for(self, None), self.dtype)


@partial(Structured, hardtanh_meta)
def hardtanh(self: Tensor, min_val: Scalar, max_val: Scalar, out: Tensor) -> None:
    if self.dtype.category != FLOATING:
        min_val, max_val = int(min_val), int(max_val)
    clipped.impl(self, min_val, max_val, out)


# Derivatives that are operators of their own. They take the gradient of the result, and the argument or the result ---


def backward_kernel(
    function: Callable, check: Callable | None = None, parameters=0, x_first=False, is_like_ufunc=False
) -> Structured:
    """The `pointwise` kernel of `function(grad, x, *parameters)`. If `x_first` is true, the strides of the result follow those of
    `x`."""
    kernel = pointwise(function, arithmetic, FLOATS, check, parameters, is_like_ufunc=is_like_ufunc)
    if x_first:
        meta = kernel.meta
        kernel.meta = lambda grad_output, self, *given: meta(self, grad_output, *given)
    return kernel


def tanh_slope(grad: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The loop of `tanh_backward`, from the result `y` of `tanh`: `grad * (1 - y * y)`."""
    slope = 1 - y * y
    slope *= grad
    return slope


def logistic_slope(grad: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The loop of `sigmoid_backward`, from the result `y` of `sigmoid`: `grad * y * (1 - y)`."""
    slope = 1 - y
    slope *= grad
    slope *= y
    return slope


def where_above(grad: np.ndarray, x: np.ndarray, threshold: Scalar) -> np.ndarray:
    """The gradient where `x` is above the threshold, or NaN. A mask of all bits selects it: `np.where` takes three times as long,
    and a product with 0 would keep NaN."""
    keep = (np.less_equal(x, threshold).view(np.int8) - np.int8(1)).astype(loops.BITS[grad.dtype.itemsize])
    keep &= grad.view(keep.dtype)
    return keep.view(grad.dtype)


def gelu_slope(grad: np.ndarray, x: np.ndarray, approximate: str) -> np.ndarray:
    """The loop of `gelu_backward`: `grad` times the derivative of `gelu` at `x`.
    Source: `aten/src/ATen/native/cpu/Activation.cpp`, `GeluBackwardKernelImpl`."""
    slope = x * x
    if approximate == "tanh":
        t = 0.044715 * slope
        t += 1
        t *= x
        t *= math.sqrt(2 / math.pi)
        np.tanh(t, t)
        slope *= 3 * 0.044715
        slope += 1
        slope *= x
        slope *= 0.5 * math.sqrt(2 / math.pi)
        slope *= 1 - t * t  # the derivative of tanh
        t += 1
        t *= 0.5
        slope += t
    else:
        slope *= -0.5
        bell = np.exp(slope)
        below = probability_below(x, bell) if x.dtype == np.float32 else 0.5 + 0.5 * error_function(x * math.sqrt(0.5))
        slope = bell * x
        slope *= 1 / math.sqrt(2 * math.pi)
        slope += below
    slope *= grad
    return slope


TAIL = (0.5307027145, -0.7265760135, 0.7107068705, -0.142248368, 0.127414796)


def probability_below(x: np.ndarray, bell: np.ndarray) -> np.ndarray:
    """The probability that a normal variable is below `x`, to 1e-7, the precision of float32. `bell` is exp(-x * x / 2).

    Half of formula 7.1.26 of Abramowitz and Stegun, "Handbook of Mathematical Functions" (1964), for 1 - erf, is the probability
    of the tail beyond |x|. It takes a third of the steps of `error_function`, which is also exact near 0.
    """
    t = np.abs(x)
    t *= 0.3275911 * math.sqrt(0.5)
    t += 1
    np.divide(1, t, t)
    tail = t * TAIL[0]
    for coefficient in TAIL[1:]:
        tail += coefficient
        tail *= t
    tail *= bell
    below = (x > 0).astype(x.dtype)
    below -= tail
    return np.abs(below, below)


def silu_slope(grad: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The loop of `silu_backward`: `grad * s * (1 + x * (1 - s))`, where `s` is `sigmoid(x)`."""
    sigmoid = logistic(x)
    return grad * sigmoid * (1 + x * (1 - sigmoid))


def check_sides(name: str) -> Callable:
    """A check, also in each run, that a result which has overwritten its argument tells on which side of 0 the argument was: no
    negative factor."""

    def check(grad: Tensor, x: Tensor, slope: Scalar, *rest: Scalar) -> None:
        *_, is_result = rest
        if is_result and slope < 0:
            cause = "This is caused by calling in-place forward function with a negative slope"
            problem = f"In-place {name} backward calculation is triggered with a negative slope which is not supported"
            raise RuntimeError(f"{problem}. {cause}, please call out-of-place version instead.")

    return check


check_leaky_side = check_sides("leakyReLu")
"""The check of `leaky_relu_backward`: see `check_sides`. Source: `aten/src/ATen/native/Activation.cpp`, `leaky_relu_backward`."""
check_elu_side = check_sides("elu")
"""The check of `elu_backward`: see `check_sides`. Source: `aten/src/ATen/native/Activation.cpp`, `elu_backward`."""


def leaky_slope(
    grad: np.ndarray, x: np.ndarray, negative_slope: Scalar, self_is_result: bool, out: np.ndarray | None = None
) -> np.ndarray:
    """The loop of `leaky_relu_backward`: `grad` where `x` is positive, and elsewhere `grad * negative_slope`."""
    check_leaky_side(grad, x, negative_slope, self_is_result)
    if 0 <= negative_slope <= 1:
        slope = np.maximum((x > 0).astype(grad.dtype), negative_slope)
    else:
        slope = np.where(x > 0, grad.dtype.type(1), grad.dtype.type(negative_slope))
    if out is not None:
        return np.multiply(slope, grad, out)
    slope *= grad  # without dimensions, it is a number of numpy, and no `out`
    return slope


def softplus_slope(grad: np.ndarray, x: np.ndarray, beta: Scalar, threshold: Scalar) -> np.ndarray:
    """The loop of `softplus_backward`: `grad` where `x * beta` is above the threshold, and elsewhere `grad * sigmoid(x
    * beta)`."""
    scaled = x * beta
    return loops.choose(scaled > threshold, grad, grad * logistic(scaled))


def where_between(grad: np.ndarray, x: np.ndarray, min_val: Scalar, max_val: Scalar) -> np.ndarray:
    """The gradient where `x` is strictly between the limits, or NaN."""
    return loops.choose((x <= min_val) | (x >= max_val), grad.dtype.type(0), grad)


def log_logistic_slope(grad: np.ndarray, x: np.ndarray, buffer: np.ndarray) -> np.ndarray:
    """`buffer` is exp(-abs(x)). Source: `aten/src/ATen/native/cpu/Activation.cpp`, `log_sigmoid_backward_cpu_kernel`."""
    slope = buffer / (1 + buffer)
    return grad * np.where(x < 0, 1 - slope, slope)


tanh_backward = backward_kernel(tanh_slope)
sigmoid_backward = backward_kernel(logistic_slope)
threshold_backward = backward_kernel(where_above, parameters=1, x_first=True)
gelu_backward = backward_kernel(gelu_slope, lambda grad, x, approximate: check_gelu(x, approximate), parameters=1)
silu_backward = backward_kernel(silu_slope)
log_sigmoid_backward = backward_kernel(log_logistic_slope)
leaky_relu_backward = backward_kernel(leaky_slope, check_leaky_side, parameters=2, x_first=True, is_like_ufunc=True)
softplus_backward = backward_kernel(softplus_slope, parameters=2)
hardtanh_backward = backward_kernel(where_between, parameters=2)


def elu_slope(grad, x, alpha: Scalar, scale: Scalar, input_scale: Scalar, is_result: bool) -> np.ndarray:
    """The gradient from the argument `x`, or, if the argument has been overwritten, from the result.
    Source: `aten/src/ATen/native/cpu/Activation.cpp`, `elu_backward_kernel`."""
    check_elu_side(grad, x, alpha, scale, input_scale, is_result)
    if is_result:
        curve = grad * input_scale * (x + alpha * scale)
    else:
        curve = grad * (input_scale * alpha * scale) * np.exp(x * input_scale)
    return loops.choose(x <= 0, curve, grad * scale)


elu_backward_of_two = backward_kernel(elu_slope, check_elu_side, parameters=4)
"""The kernel of `elu_backward` with both tensors first, before the numbers."""


def tensors_first(grad_output: Tensor, *rest: Scalar | bool | Tensor) -> tuple:
    """The arguments of `elu_backward` with both tensors first, as the loop needs them. In the schema the second one is last."""
    *parameters, self_or_result = rest
    return grad_output, self_or_result, *parameters


elu_backward = Structured(
    lambda *args: elu_backward_of_two.meta(*tensors_first(*args)),
    lambda *args: elu_backward_of_two.impl(*tensors_first(*args[:-1]), args[-1]),
    casts=True,
)


@fast_form_of(elu_backward.functional)
def planned_elu_backward(grad_output: Tensor, *rest: Scalar | bool | Tensor) -> Tensor:
    """The fast form of `elu_backward`: it moves both tensors to the front and calls the plan of
    `elu_backward_of_two`."""
    return fastest[elu_backward_of_two.functional](*tensors_first(grad_output, *rest))
