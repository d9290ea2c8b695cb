"""The arithmetic of an int8 linear layer: a product of integers, corrections for the zero points, and new integers from the sums.

In PyTorch: `aten/src/ATen/native/quantized/cpu/qlinear.cpp`, which calls FBGEMM or oneDNN (`fbgemm/src/QuantUtils.cc`). Quantised
tensors are plain integer tensors here, and their scale and zero point are arguments. Left out: weights in another order of memory,
grouped scales. `int8_kernel.py` has the same in C++.
"""

from __future__ import annotations

import numpy as np

from rushlight.aten.generated import functions
from rushlight.aten.native import creation
from rushlight.aten.strided import Tensor
from rushlight.c10.dtypes import float32, int32, uint8


def integer_product(x: Tensor, weight: Tensor) -> Tensor:
    """The sums of products of integers, exactly: (rows, in) and (out, in) give (rows, out), int32.

    numpy has no fast product of integers, so floating-point numbers that are wide enough to be exact compute it.
    """
    wide = np.float32 if x.shape[1] * 255 * 128 < 2**24 else np.float64
    return creation.from_numpy((x.numpy().astype(wide) @ weight.numpy().T.astype(wide)).astype(np.int32))


def zero_point_corrections(x: Tensor, weight: Tensor, x_zero_point: int, weight_zero_points: Tensor) -> Tensor:
    """Return the terms that a product of stored integers lacks, because an integer q represents q minus its zero point.

    For row n of `x` and row o of `weight`, with K columns and zero points a and b, the wanted sum is

        sum_k (x[n, k] - a) (weight[o, k] - b) = sum_k x[n, k] weight[o, k] + correction[n, o]

    The sums of the rows of `x` and of `weight` are enough: call no operator that multiplies matrices. A layer would compute the
    terms that depend only on `weight` once for all calls. Here, compute everything.

    Args:
        x: uint8, (rows, K), any strides.
        weight: int8, (out, K), any strides.
        x_zero_point: a, one for all of `x`, 0 ... 255.
        weight_zero_points: b for each row of `weight`: int32, (out,), -128 ... 127.

    Returns:
        a new tensor, int32, (rows, out). No argument changes.

    >>> x, weight = rl.tensor([[1, 2]], dtype=rl.uint8), rl.tensor([[3, 4]], dtype=rl.int8)
    >>> zero_point_corrections(x, weight, 5, rl.tensor([1], dtype=rl.int32)).tolist()  # (1-5)(3-1) + (2-5)(4-1) = 11 - 28
    [[-28]]

    Source: `fbgemm/src/QuantUtils.cc`, `requantizeOutputProcessingAvx2`; `row_offsets`, `col_offsets` in `qlinear.cpp`.
    """
    x_sums = functions.sum(x.to(int32), 1, keepdim=True, dtype=int32)
    weight_sums = functions.sum(weight.to(int32), 1, dtype=int32)
    constant = weight_zero_points * (x_zero_point * x.shape[1])
    return constant - x_sums * weight_zero_points - weight_sums * x_zero_point


def linear(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    x_qparams: tuple[float, int],
    weight_qparams: tuple[Tensor, Tensor],
    qparams: tuple[float, int],
    relu: bool = False,
) -> Tensor:
    """A linear layer on integers: quantised `x` and `weight` give a quantised result, which is rounded once.

    An integer of `x`, of `weight` and of the result means the number (integer - zero point) * scale. `bias` has the numbers
    themselves. The sums of the products are exact: only integers are added. All that follows is floating point: the layer adds the
    bias, which is not rounded, and finds the integer of the result. This is the number in units of the scale, rounded half to even,
    plus the zero point, limited to 0 ... 255. With `relu`, numbers below 0.0 become 0.0, so no integer is below the zero point.

    `integer_product(x, weight)` is the sum of products of the stored integers, int32, and `zero_point_corrections` has the rest.

    Args:
        x: uint8, (rows, K).
        weight: int8, (out, K).
        bias: float32, (out,), or None.
        x_qparams: scale and zero point of `x`.
        weight_qparams: scales, float32, (out,), and zero points, int32, (out,): one of each for a row of `weight`.
        qparams: scale and zero point of the result.
        relu: whether the layer ends with a relu.

    Returns:
        a new tensor, uint8, (rows, out).

    >>> x, weight = rl.tensor([[1, 2]], dtype=rl.uint8), rl.tensor([[3, 4]], dtype=rl.int8)
    >>> weight_qparams = rl.tensor([0.5]), rl.tensor([1], dtype=rl.int32)
    >>> linear(x, weight, rl.tensor([1.0]), (0.5, 5), weight_qparams, (0.25, 100)).tolist()  # -17 / 4 + 1 = -3.25
    [[87]]

    Source: `aten/src/ATen/native/quantized/cpu/qlinear.cpp`, `PackedLinearWeight::apply_impl`.
    """
    (x_scale, x_zero_point), (weight_scales, weight_zero_points), (scale, zero_point) = (
        x_qparams,
        weight_qparams,
        qparams,
    )
    sums = integer_product(x, weight) + zero_point_corrections(x, weight, x_zero_point, weight_zero_points)
    unit = weight_scales * x_scale
    values = sums.to(float32)
    if bias is not None:
        values = values + bias / unit
    rounded = functions.round(values * (unit / scale)) + zero_point
    return functions.clamp(rounded, zero_point if relu else 0, 255).to(uint8)
