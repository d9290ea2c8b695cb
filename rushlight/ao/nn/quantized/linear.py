"""Linear layers with an int8 weight. In PyTorch: `torch/ao/nn/quantized/modules/linear.py`, `torch/ao/nn/quantized/dynamic/`.

The *static* layer takes and returns integers, so its scales were found by observers before. The *dynamic* layer takes and returns
floating-point numbers, and finds the scale of each input when it comes. Each calls one operator (`operators`). Left out: float16
weights, packed weights in files.
"""

from __future__ import annotations

from typing import Any

from rushlight import nn
from rushlight.ao.nn.quantized import operators
from rushlight.aten.strided import Tensor
from rushlight.c10.dtypes import float32, int32


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

    _weight = property(lambda self: (self.weight, self.weight_scale, self.weight_zero_point, self.bias))
    _post_op = property(lambda self: "relu" if self.relu else "none")
    out_features, in_features = (property(lambda self, dim=dim: self.weight.shape[dim]) for dim in (0, 1))

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
        return operators.linear_op(
            x, *self.x_qparams, *self._weight, self.scale, self.zero_point, *self.limits, self._post_op
        )


class DynamicLinear(_Int8Weight):
    """float32 to float32. The range of each input gives its scale, with 7 bits as in PyTorch, and the result is not quantised.

    Source: `torch/ao/nn/quantized/dynamic/modules/linear.py`, `Linear`."""

    def _get_name(self) -> str:
        return "DynamicQuantizedLinear"

    def forward(self, x: Tensor) -> Tensor:
        return operators.linear_dynamic_op(x, *self._weight, self._post_op)
