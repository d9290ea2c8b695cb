"""Affine quantisation: a floating-point number x is stored as an integer q, and x is about (q - zero_point) * scale.

A quantised tensor is a plain tensor of integers here, and its scale and zero point are beside it, as in the operators of
`torch.ops.quantized_decomposed`, which PT2E and export use. In PyTorch: `torch/ao/quantization/fx/_decomposed.py`, and
`determine_qparams` in `torch/ao/quantization/utils.py`. The older `torch.quantize_per_tensor` returns a tensor of a dtype of its
own, `torch.qint8`, and adds the zero point before it rounds. Left out: choosing parameters for each token, and float8 values.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from rushlight.aten.generated import functions
from rushlight.aten.native import creation
from rushlight.aten.strided import Tensor
from rushlight.c10.dtypes import REDUCED_FLOATING, dtype, float32, float64, int8, int32, int64, uint8
from rushlight.c10.exception import warn
from rushlight.c10.qschemes import per_tensor_affine, per_tensor_symmetric, qscheme
from rushlight.library import Library

EPS = 2.0**-23  # `finfo(float32).eps`, the smallest scale
BOUNDS = {uint8: (0, 255), int8: (-128, 127), int32: (-(2**31), 2**31 - 1)}

# Parameters ----------------------------------------------------------------------------------------------------------


def determine_qparams(
    min_val: Tensor,
    max_val: Tensor,
    quant_min: int,
    quant_max: int,
    dtype: dtype,
    eps: Tensor,
    has_customized_qrange: bool,
    scheme: qscheme,
) -> tuple[Tensor, Tensor]:
    """The scale and the zero point for values between `min_val` and `max_val`.

    The range is first extended to contain 0.0, because 0.0 must be stored exactly. n is quant_max - quant_min.

    - *affine*: the scale is the length of the range divided by n. The quotient min / scale is rounded half to even. The zero point
      is quant_min minus this whole number, limited to quant_min ... quant_max.
    - *symmetric*: the scale is the larger distance of an end from 0.0, divided by n / 2. The zero point is 0. For
      `rl.uint8`, which has no negative numbers, it is 128, or (quant_min + quant_max) // 2 if `has_customized_qrange`.

    A scale is at least `eps`. This comes before the zero point. All arithmetic is that of tensors, in float32, and here PyTorch
    divides: a product with a reciprocal may have another last digit.

        >>> determine_qparams(rl.tensor(-1.0), rl.tensor(3.0), 0, 255, rl.uint8, rl.tensor([2.0**-23]), False, rl.per_tensor_affine)
        (tensor([0.0157]), tensor([64]))

    Args:
        min_val, max_val: float32, () or (channels,), min_val <= max_val, finite. They do not change.
        quant_min, quant_max: integers, quant_min <= 0 <= quant_max.
        dtype: of the quantised values. Only `rl.uint8` matters.
        eps: float32, (1,).
        scheme: its attribute `is_symmetric` decides.

    Returns:
        a tuple: scale, float32, and zero point, int64. Both (channels,), or (1,) if `min_val` has no dimensions.

    Source: `torch/ao/quantization/observer.py`, `UniformQuantizationObserverBase._calculate_qparams`.
    """
    low, high = functions.clamp(min_val, max=0).reshape(-1), functions.clamp(max_val, min=0).reshape(-1)
    if scheme.is_symmetric:
        scale = functions.maximum(functions.maximum(-low, high) / ((quant_max - quant_min) / 2), eps)
        middle = (quant_min + quant_max) // 2 if has_customized_qrange else 128
        return scale, functions.zeros(scale.shape, dtype=int64) + (middle if dtype is uint8 else 0)
    scale = functions.maximum((high - low) / (quant_max - quant_min), eps)
    zero_point = quant_min - functions.round(low / scale).to(int64)
    return scale, functions.clamp(zero_point, quant_min, quant_max)


def check_min_max_valid(min_val: Tensor, max_val: Tensor) -> bool:
    """Whether a range has been observed. Raises AssertionError if it is the wrong way round.
    Source: `torch/ao/quantization/utils.py`."""
    unset = min_val.numel() == 0 or max_val.numel() == 0
    if unset or (min_val.dim() == 0 and min_val.item() == float("inf") and max_val.item() == float("-inf")):
        warn("must run observer before calling calculate_qparams. Returning default values.")
        return False
    if (min_val > max_val).any().item():
        raise AssertionError(f"min {min_val} should be less than max {max_val}")
    return True


def validate_qmin_qmax(quant_min: int, quant_max: int) -> None:
    """Raise an `AssertionError` unless the range contains 0 and is not empty. Source: `torch/ao/quantization/utils.py`,
    `validate_qmin_qmax`."""
    if not quant_min <= 0 <= quant_max:
        raise AssertionError("Used-specified quantization range must include 0.")
    if quant_min >= quant_max:
        raise AssertionError("qmin must be strictly less than qmax for user-specified quantization range.")


def calculate_qmin_qmax(
    quant_min: int | None, quant_max: int | None, has_customized_qrange: bool, dtype: dtype, reduce_range: bool
) -> tuple[int, int]:
    """The range of the quantised values: the given one, or all of the dtype. `reduce_range` takes one bit less, so that a product
    of two values, summed in pairs in int16 by older x86 instructions, does not overflow.
    Source: `torch/ao/quantization/utils.py`."""
    if not has_customized_qrange:
        quant_min, quant_max = BOUNDS[dtype]
        return (quant_min, quant_max) if not reduce_range or dtype is int32 else (quant_min // 2, quant_max // 2)
    most = 2**32 if dtype is int32 else 256
    if dtype is not uint8 and not 0 < quant_max - quant_min + 1 <= most:
        raise AssertionError(f"quantization range should be positive and not exceed the maximum bit range (={most}).")
    return (quant_min // 2, quant_max // 2) if reduce_range else (quant_min, quant_max)


def _check_choice(input: Tensor, quant_min: int, quant_max: int) -> None:
    if input.dtype is not float32 and input.dtype not in REDUCED_FLOATING:
        raise AssertionError(f"Expecting input to have dtype float32/16/b16, but got dtype: {input.dtype}")
    validate_qmin_qmax(quant_min, quant_max)


def choose_qparams(
    input: Tensor, quant_min: int, quant_max: int, eps: float, dtype: dtype, scheme: qscheme = per_tensor_affine
) -> tuple[Tensor, Tensor]:
    """The parameters of one tensor, for dynamic quantisation. The scale is float64, as in PyTorch."""
    _check_choice(input, quant_min, quant_max)
    low, high, smallest = functions.amin(input), functions.amax(input), creation.tensor([eps])
    scale, zero_point = determine_qparams(low, high, quant_min, quant_max, dtype, smallest, False, scheme)
    return scale.double(), zero_point


# Values --------------------------------------------------------------------------------------------------------------


def _check_bounds(quant_min: int, quant_max: int, dtype: dtype) -> None:
    if dtype not in BOUNDS:
        raise ValueError(f"Unsupported dtype: {dtype}")
    least, most = BOUNDS[dtype]
    if quant_min < least:
        bounds = f"quant_min_lower_bound: {least} quant_min: {quant_min}"
        raise AssertionError(f"quant_min out of bounds for dtype, {bounds}")
    if quant_max > most:
        bounds = f"quant_max_upper_bound: {most} quant_max: {quant_max}"
        raise AssertionError(f"quant_max out of bounds for dtype, {bounds}")


def as_float32(input: Tensor) -> Tensor:
    """A tensor to quantise, in float32. float16 and bfloat16 are converted, and float64 is refused, as in PyTorch."""
    if input.dtype in REDUCED_FLOATING:
        input = input.to(float32)
    if input.dtype is not float32:
        raise AssertionError(f"Expecting input to have dtype float32, but got dtype: {input.dtype}")
    return input


def quantize_per_tensor(
    input: Tensor, scale: float, zero_point: int, quant_min: int, quant_max: int, dtype: dtype
) -> Tensor:
    """The integers for the values of a tensor, all with one scale and one zero point.

    A value is a number of steps of length `scale` away from 0.0. Its integer is the nearest whole number of steps plus the zero
    point. A value that is exactly in the middle goes to the even number of steps, whatever the zero point is. An integer outside
    quant_min ... quant_max becomes the nearer end, so an infinity does too.

    The number of steps is not a quotient, but the product with the reciprocal of the scale. The reciprocal is computed in Python's
    numbers, and the rest in float32. `as_float32(input)` converts the input, or refuses it.
    `_check_bounds(quant_min, quant_max, dtype)` raises if the range does not fit the dtype.

        >>> quantize_per_tensor(rl.tensor([-1.0, 0.25, 0.75, 100.0]), 0.5, 10, 0, 63, rl.uint8)
        tensor([ 8, 10, 12, 63], dtype=rushlight.uint8)

    Args:
        input: any sizes, float32, float16 or bfloat16.
        scale: above 0.
        zero_point, quant_min, quant_max: integers.
        dtype: `rl.uint8`, `rl.int8` or `rl.int32`.

    Returns:
        a new tensor of `dtype`, in the sizes of `input`.

    Raises:
        AssertionError: the input has another dtype, or the range does not fit.

    Source: `torch/ao/quantization/fx/_decomposed.py`, `quantize_per_tensor`.
    """
    input = as_float32(input)
    _check_bounds(quant_min, quant_max, dtype)
    return functions.clamp(functions.round(input * (1.0 / scale)) + zero_point, quant_min, quant_max).to(dtype)


def dequantize_per_tensor(
    input: Tensor, scale: float, zero_point: int, quant_min: int, quant_max: int, dtype: dtype, *, out_dtype=None
) -> Tensor:
    """The values that these integers mean: (input - zero_point) * scale, float32. The range is not used.
    Source: `torch/ao/quantization/fx/_decomposed.py`, `dequantize_per_tensor`."""
    if input.dtype is not dtype:
        raise AssertionError(f"Expecting input to have dtype: {dtype}, but got {input.dtype}")
    return (input.to(out_dtype or float32) - zero_point) * scale


def quantize_per_channel(
    input: Tensor, scales: Tensor, zero_points: Tensor, axis: int, quant_min: int, quant_max: int, dtype: dtype
) -> Tensor:
    """The integers for the values of a tensor, with a scale and a zero point for each index of one dimension.

    The rule is that of `quantize_per_tensor`, but the reciprocals are a tensor, so they are computed in float32.

        >>> weight = rl.tensor([[1.0, 2.0], [100.0, 300.0]])
        >>> quantize_per_channel(weight, rl.tensor([0.5, 2.0]), rl.tensor([0, 1]), 0, -128, 127, rl.int8)
        tensor([[  2,   4],
                [ 51, 127]], dtype=rushlight.int8)

    Args:
        input: float32, float16 or bfloat16, at least 1 dimension.
        scales: float32, (channels,), where channels is the size of `input` in dimension `axis`.
        zero_points: int64 or int32, (channels,).
        axis: a dimension of `input`. It may be negative.
        quant_min, quant_max, dtype: as for `quantize_per_tensor`.

    Returns:
        a new tensor of `dtype`, in the sizes of `input`.

    Raises:
        AssertionError: as `quantize_per_tensor`, or axis >= the number of dimensions.

    Source: `torch/ao/quantization/fx/_decomposed.py`, `quantize_per_channel`.
    """
    input = as_float32(input)
    if axis >= input.dim():
        raise AssertionError(f"Expecting axis to be < {input.dim()}")
    _check_bounds(quant_min, quant_max, dtype)
    sizes = [1] * input.dim()
    sizes[axis] = -1
    rounded = functions.round(input * (1.0 / scales.reshape(sizes)))
    return functions.clamp(rounded + zero_points.reshape(sizes), quant_min, quant_max).to(dtype)


def dequantize_per_channel(
    input: Tensor,
    scales: Tensor,
    zero_points: Tensor | None,
    axis: int,
    quant_min: int,
    quant_max: int,
    dtype: dtype,
    *,
    out_dtype=None,
) -> Tensor:
    """The values that these integers mean, float32, with a scale and a zero point for each channel.
    Source: `torch/ao/quantization/fx/_decomposed.py`, `dequantize_per_channel`."""
    if input.dtype is not dtype:
        raise AssertionError(f"Expecting input to have dtype: {dtype}, but got dtype: {input.dtype}")
    if axis >= input.dim():
        raise AssertionError(f"Expecting axis to be < {input.dim()}")
    sizes = [1] * input.dim()
    sizes[axis] = -1
    if zero_points is not None:
        input = input.to(int32) - zero_points.reshape(sizes)
    return (input * scales.reshape(sizes)).to(out_dtype or float32)


# Four bits and groups ------------------------------------------------------------------------------------------------


def pack_int4(values: Tensor) -> Tensor:
    """Integers of 4 bits, two in each byte.

    The values are taken in the order of the indices, whatever the strides. The first of two is in the lower 4 bits of its byte, the
    second in the upper. If the number of values is odd, the upper 4 bits of the last byte are 0.

        >>> pack_int4(rl.tensor([[1, 2, 3], [15, 0, 9]], dtype=rl.uint8)).tolist()
        [33, 243, 144]

    Args:
        values: uint8, any sizes, each value 0 to 15. They do not change.

    Returns:
        a new tensor, uint8, (ceil(elements / 2),).

    Source: `aten/src/ATen/native/quantized/cpu/kernels/QuantizedOpKernels.cpp`,
    `quantize_tensor_per_tensor_affine_sub_byte_cpu`: the layout of `torch.quint4x2`.
    """
    flat = values.reshape(-1)
    packed = functions.zeros(((flat.numel() + 1) // 2,), dtype=uint8)
    packed += flat[::2]
    packed[: flat.numel() // 2] += flat[1::2] * 16
    return packed


def unpack_int4(packed: Tensor, sizes: tuple[int, ...]) -> Tensor:
    """The values of `pack_int4`, in these sizes."""
    count = 1
    for size in sizes:
        count *= size
    return functions.stack([packed % 16, packed // 16], 1).reshape(-1)[:count].reshape(sizes)


def quantize_per_channel_group(
    input: Tensor, scales: Tensor, zero_points: Tensor, quant_min: int, quant_max: int, dtype: dtype, group_size: int
) -> Tensor:
    """The integers for a matrix (rows, columns), with a scale for each group of `group_size` neighbours in a row. `scales` and
    `zero_points` are (rows, groups).
    Source: `torch/ao/quantization/fx/_decomposed.py`, `quantize_per_channel_group`."""
    groups, qparams = input.reshape(-1, group_size), (scales.reshape(-1), zero_points.reshape(-1))
    return quantize_per_channel(groups, *qparams, 0, quant_min, quant_max, dtype).reshape(input.shape)


# Operators -----------------------------------------------------------------------------------------------------------

QPARAMS = "int quant_min, int quant_max, ScalarType dtype"
quantized_decomposed_lib = Library("quantized_decomposed", "DEF")


def _operator(schema: str, kernel: Callable, meta: Callable | None = None) -> None:
    """Define an operator whose kernel is this function. Its result requires no gradient: integers have none, and PyTorch
    declares no derivative for these operators either. A kernel that reads numbers from tensors has another one for `Meta`."""
    name = schema.partition("(")[0]
    quantized_decomposed_lib.define(schema)
    quantized_decomposed_lib.impl(name, kernel, "CompositeExplicitAutograd")
    if meta is not None:
        quantized_decomposed_lib.impl(name, meta, "Meta")


def _meta_of(kernel: Callable) -> Callable:
    """The kernel for `Meta`, which takes any numbers, because the scale and the zero point have no data."""

    def meta(input: Tensor, scale: Tensor, zero_point: Tensor, *rest: Any, **options: Any) -> Tensor:
        for name, tensor in (("zero_point", zero_point), ("scale", scale)):
            if tensor.numel() != 1:
                raise AssertionError(f"Expecting {name} tensor to be one element, but received : {tensor.numel()}")
        return kernel(input, 1.0, 0, *rest, **options)

    return meta


def _with_numbers(kernel: Callable) -> Callable:
    """The kernel for a scale and a zero point that are tensors of one element."""
    return lambda x, scale, zero_point, *rest, **named: kernel(x, scale.item(), zero_point.item(), *rest, **named)


def _choose_meta(input: Tensor, quant_min: int, quant_max: int, *rest: Any) -> tuple[Tensor, Tensor]:
    _check_choice(input, quant_min, quant_max)
    return tuple(functions.empty((1,), dtype=dtype, device="meta") for dtype in (float64, int64))


OUT_DTYPE = "*, ScalarType? out_dtype=None"
for _kernel, _more in ((quantize_per_tensor, ""), (dequantize_per_tensor, f", {OUT_DTYPE}")):
    _name, _rest = _kernel.__name__, f"{QPARAMS}{_more}"
    _operator(f"{_name}(Tensor input, float scale, int zero_point, {_rest}) -> Tensor", _kernel)
    _schema = f"{_name}.tensor(Tensor input, Tensor scale, Tensor zero_point, {_rest}) -> Tensor"
    _operator(_schema, _with_numbers(_kernel), _meta_of(_kernel))
for _name, _scheme in (("choose_qparams", per_tensor_affine), ("choose_qparams_symmetric", per_tensor_symmetric)):
    _operator(
        f"{_name}.tensor(Tensor input, int quant_min, int quant_max, float eps, ScalarType dtype) -> (Tensor, Tensor)",
        partial(choose_qparams, scheme=_scheme),
        _choose_meta,
    )
_operator(
    f"quantize_per_channel(Tensor input, Tensor scales, Tensor zero_points, int axis, {QPARAMS}) -> Tensor",
    quantize_per_channel,
)
_operator(
    f"dequantize_per_channel(Tensor input, Tensor scales, Tensor? zero_points, int axis, {QPARAMS}, {OUT_DTYPE}) -> Tensor",
    dequantize_per_channel,
)
