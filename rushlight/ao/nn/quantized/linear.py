"""Linear layers with an int8 weight. In PyTorch: `torch/ao/nn/quantized/modules/linear.py`, `torch/ao/nn/quantized/dynamic/`.

The *static* layer takes and returns integers, so its scales were found by observers before. The *dynamic* layer takes and returns
floating-point numbers, and finds the scale of each input when it comes. Left out: float16 weights, packed weights in files.
"""

from __future__ import annotations

from typing import Any

from rushlight import nn
from rushlight.ao.nn.quantized import int8_kernel
from rushlight.ao.quantization.affine import choose_qparams
from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.c10.dtypes import float32, int32, uint8


class _Int8Weight(nn.Module):
    """The integers of a weight, a scale and a zero point for each row of it, and a floating-point bias."""

    def __init__(self, weight: Tensor, scales: Tensor, zero_points: Tensor, bias: Tensor | None, relu: bool) -> None:
        super().__init__()
        out = weight.shape[0]
        self.register_buffer("weight", weight)
        self.register_buffer("weight_scale", scales.to(float32).reshape(-1).expand(out).contiguous())
        self.register_buffer("weight_zero_point", zero_points.to(int32).reshape(-1).expand(out).contiguous())
        self.register_buffer("bias", bias)
        self.relu = relu
        self._packed: int8_kernel.PackedWeight | None = None

    def packed(self) -> int8_kernel.PackedWeight:
        """The weight as the kernel reads it. It is packed once."""
        if self._packed is None or self._packed.weight is not self.weight:
            self._packed = int8_kernel.PackedWeight(self.weight, self.weight_zero_point)
        return self._packed

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_packed": None}

    @property
    def out_features(self) -> int:
        return self.weight.shape[0]

    @property
    def in_features(self) -> int:
        return self.weight.shape[1]

    def _get_name(self) -> str:
        return "QuantizedLinear" + ("ReLU" if self.relu else "")

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}"

    @staticmethod
    def _of_reference(module: nn.Module) -> tuple[Tensor, ...]:
        bias = None if module.bias is None else module.bias.detach()
        return module.get_quantized_weight(), module.weight_scale, module.weight_zero_point, bias


class Linear(_Int8Weight):
    """uint8, (\\*, in_features), to uint8, (\\*, out_features). Scale and zero point of both are attributes.

    Source: `torch/ao/nn/quantized/modules/linear.py`, `Linear`."""

    @classmethod
    def from_reference(
        cls, module: nn.Module, x_qparams: tuple[float, int], qparams: tuple[Any, ...], relu: bool = False
    ) -> Linear:
        new = cls(*cls._of_reference(module), relu)
        new.x_qparams, (new.scale, new.zero_point) = tuple(x_qparams), qparams[:2]
        new.limits = qparams[2:4]
        return new

    def forward(self, x: Tensor) -> Tensor:
        rows, qparams = x.reshape(-1, self.in_features), (self.scale, self.zero_point)
        result = int8_kernel.linear(
            rows, self.packed(), self.bias, self.x_qparams, self.weight_scale, qparams, self.relu
        )
        if self.limits != (0, 255):  # a range of 7 bits
            result = functions.clamp(result, *self.limits)
        return result.reshape(*x.shape[:-1], self.out_features)


class DynamicLinear(_Int8Weight):
    """float32 to float32. The range of each input gives its scale, with 7 bits as in PyTorch, and the result is not quantised.

    Source: `torch/ao/nn/quantized/dynamic/modules/linear.py`, `Linear`."""

    def _get_name(self) -> str:
        return "DynamicQuantizedLinear"

    def forward(self, x: Tensor) -> Tensor:
        rows = x.reshape(-1, self.in_features)
        scale, zero_point = (each.item() for each in choose_qparams(rows, 0, 127, 2.0**-23, uint8))
        integers = functions.clamp(functions.round(rows / scale) + zero_point, 0, 127).to(uint8)
        sums = int8_kernel.sums(integers, self.packed(), zero_point)
        result = sums.to(float32) * (self.weight_scale * scale)
        result = result if self.bias is None else result + self.bias
        return (functions.relu(result) if self.relu else result).reshape(*x.shape[:-1], self.out_features)
