"""Fake quantisation: values are rounded as a quantised tensor would round them, and stay floating-point numbers.

The forward pass rounds, so its true derivative is 0 almost everywhere. PyTorch's formula is the *straight-through* gradient
instead: 1 where the value is inside the range, 0 where it is saturated. The kernel makes this mask in the forward pass, and the
backward pass saves only the mask. In PyTorch: `aten/src/ATen/native/quantized/FakeQuantPerTensorAffine.cpp`,
`FakeQuantPerChannelAffine.cpp`, and the loops in `cpu/kernels/QuantizedOpKernels.cpp`. Left out: learnable scales, and
zero points that are floating-point numbers.
"""

from __future__ import annotations

import numpy as np

from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor, wrap_dim
from rushlight.aten.structured import check_floating
from rushlight.c10.dtypes import REDUCED_FLOATING, bool_, float32, float64, int32


def fake_quantize_per_tensor_affine_cachemask(self, scale, zero_point, quant_min, quant_max) -> tuple[Tensor, Tensor]:
    _check_range(quant_min, quant_max)
    if not quant_min <= zero_point <= quant_max:
        raise RuntimeError("`zero_point` must be between `quant_min` and `quant_max`.")
    return _with_mask(self, float(np.float32(scale)), zero_point, quant_min, quant_max)


def fake_quantize_per_tensor_affine_cachemask_tensor_qparams(
    self: Tensor, scale: Tensor, zero_point: Tensor, fake_quant_enabled: Tensor, quant_min: int, quant_max: int
) -> tuple[Tensor, Tensor]:
    """As `fake_quantize_per_tensor_affine_cachemask`. The parameters are tensors of one element, so that a graph can change
    them. The zero point is not checked."""
    _check_range(quant_min, quant_max)
    if not fake_quant_enabled.item():
        return functions.clone(self), functions.ones(self.shape, dtype=bool_)
    return _with_mask(self, float(np.float32(scale.item())), int(zero_point.item()), quant_min, quant_max)


def fake_quantize_per_channel_affine_cachemask(self, scale, zero_point, axis, quant_min, quant_max) -> tuple:
    """(PyTorch converts to int64 before it compares with the range, so beyond 2**63 a value overflows there.)"""
    if scale.dtype is not float32:
        raise RuntimeError(f"Scale must be Float or BFloat16, found {scale.dtype.type_name}")
    if zero_point.dtype is not int32:
        raise RuntimeError(f"Zero-point must be Int32, Float or Half, found {zero_point.dtype.type_name}")
    if scale.dim() != 1 or zero_point.dim() != 1:
        raise RuntimeError(f"{'scale' if scale.dim() != 1 else 'zero point'} should be a 1-D tensor")
    if scale.numel() != zero_point.numel():
        raise RuntimeError("scale and zero-point need to have the same dimensions")
    if scale.numel() != self.shape[wrap_dim(axis, self.dim())]:
        raise RuntimeError("dimensions of scale and zero-point are not consistent with input tensor")
    _check_range(quant_min, quant_max)
    if not scale.is_meta and ((zero_point < quant_min) | (zero_point > quant_max)).any():
        raise RuntimeError("`zero_point` must be between `quant_min` and `quant_max`.")
    if axis < 0:
        raise RuntimeError("`axis` must be between 0 and number of dimensions of input")
    sizes = [-1 if d == axis else 1 for d in range(self.dim())]
    return _with_mask(self, scale.reshape(sizes), zero_point.reshape(sizes), quant_min, quant_max)


def fake_quantize_cachemask_backward(grad: Tensor, mask: Tensor) -> Tensor:
    if mask.dtype is not bool_:
        raise RuntimeError("Expected mask.scalar_type() == ScalarType::Bool to be true, but got false.")
    if mask.numel() != grad.numel():
        sizes = f"`mask` is size {mask.numel()} and `dY` is size {grad.numel()}"
        raise RuntimeError(f"`mask` and `dY` are not the same size: {sizes}")
    return grad * mask


def _check_range(quant_min: int, quant_max: int) -> None:
    if quant_min > quant_max:
        raise RuntimeError("`quant_min` should be less than or equal to `quant_max`.")


def _with_mask(self: Tensor, scale, zero_point, quant_min: int, quant_max: int) -> tuple[Tensor, Tensor]:
    """`fake_quantize` in the dtype in which PyTorch computes. `scale` is a number of float32, or a tensor."""
    check_floating("fake_quantize_tensor_cachemask_kernel_type_handling", self)
    if self.dtype in REDUCED_FLOATING:
        output, mask = fake_quantize(self.to(float32), scale, zero_point, quant_min, quant_max)
        return output.to(self.dtype), mask
    if self.dtype is float64 and not isinstance(scale, Tensor):  # the last product is in float32
        output, mask = fake_quantize(self, scale, zero_point, quant_min, quant_max)
        return output.to(float32).to(float64), mask
    return fake_quantize(self, scale, zero_point, quant_min, quant_max)


def fake_quantize(
    self: Tensor, scale: float | Tensor, zero_point: int | Tensor, quant_min: int, quant_max: int
) -> tuple[Tensor, Tensor]:
    """The values of a tensor after quantising and dequantising, and the mask of those whose gradient passes.

    A value has an integer q: the nearest whole number of steps plus the zero point. As in `quantize_per_tensor`, the number of
    steps is a product with the reciprocal of the scale, here `inverse_of(scale)`, and a tie goes to the even number of steps. The
    mask is true where quant_min <= q <= quant_max. The result is the number that q means, (q - zero_point) * scale, where a q
    outside the range becomes the nearer end. A nan has the result of quant_min, and its mask is false. (PyTorch's kernel for
    channels overflows beyond 2**63, and a large positive value becomes the lower end. This function has one rule for both.)

        >>> fake_quantize(rl.tensor([0.26, 0.75, 5.0]), 0.5, 1, 0, 7)
        (tensor([0.5000, 1.0000, 3.0000]), tensor([ True,  True, False]))

    Args:
        self: any sizes, float32 or float64. It does not change.
        scale, zero_point: numbers, that of the scale one of float32, or tensors of float32 and int32 that broadcast against `self`
            to its sizes.
        quant_min, quant_max: integers, quant_min <= quant_max.

    Returns:
        a tuple: the values, in the sizes and the dtype of `self`, and the mask, in the sizes of `self`, bool. Both new.

    Source: `aten/src/ATen/native/quantized/cpu/kernels/QuantizedOpKernels.cpp`, `fake_quantize_tensor_cachemask_kernel`.
    """
    q = functions.round(self * inverse_of(scale)) + zero_point
    mask = (q >= quant_min) & (q <= quant_max)
    q = functions.where(q >= quant_min, q, quant_min)  # a comparison with nan is false
    return (functions.clamp(q, max=quant_max) - zero_point) * scale, mask


def inverse_of(scale: float | Tensor) -> float | Tensor:
    """1 / scale, computed in float32, as PyTorch's kernels do."""
    return float(np.float32(1) / np.float32(scale)) if isinstance(scale, (float, int)) else 1 / scale
