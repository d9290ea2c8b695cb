"""Layers with an integer weight that compute with the numbers that the integers stand for: `torch.ao.nn.quantized.reference`.

A backend replaces such a layer, with a dequantise before and a quantise after it, by a layer that computes with integers.
"""

from rushlight import nn
from rushlight.ao.quantization import affine  # noqa: F401 (it registers the operators)
from rushlight.aten.strided import Tensor
from rushlight.library import ops


class _Reference:
    """`weight_scale`, `weight_zero_point` and `weight_axis` are buffers, and `weight` stays as it was before."""

    @classmethod
    def from_float(cls, module: nn.Module, observer: nn.Module) -> nn.Module:
        """The layer of a floating-point layer, with the scale of an observer that has seen the weight."""
        new = cls.__new__(cls)
        nn.Module.__init__(new)
        new.__dict__.update({name: value for name, value in vars(module).items() if not name.startswith("_")})
        new.training = module.training
        new.weight = nn.Parameter(module.weight.detach())
        new.register_parameter("bias", None if module.bias is None else nn.Parameter(module.bias.detach()))
        scale, zero_point = observer.calculate_qparams()
        new.register_buffer("weight_scale", scale.detach().clone())
        new.register_buffer("weight_zero_point", zero_point.detach().clone())
        new.weight_axis = observer.ch_axis if observer.qscheme.is_per_channel else None
        new.weight_dtype = observer.dtype
        new.weight_quant_min, new.weight_quant_max = observer.quant_min, observer.quant_max
        return new

    def _call(self, name: str, values: Tensor) -> Tensor:
        """Call an operator with the parameters of the weight. They stay tensors, so that a graph can have them as inputs."""
        limits = self.weight_quant_min, self.weight_quant_max, self.weight_dtype
        qparams, operators = (self.weight_scale, self.weight_zero_point), ops.quantized_decomposed
        if self.weight_axis is None:
            return getattr(operators, f"{name}_per_tensor").tensor(values, *qparams, *limits)
        return getattr(operators, f"{name}_per_channel").default(values, *qparams, self.weight_axis, *limits)

    def get_quantized_weight(self) -> Tensor:
        return self._call("quantize", self.weight)

    def get_weight(self) -> Tensor:
        """The numbers that the integers of the weight stand for."""
        return self._call("dequantize", self.get_quantized_weight())

    def _get_name(self) -> str:
        return f"Quantized{type(self).__name__}(Reference)"


class Linear(_Reference, nn.Linear):
    """A linear layer that dequantizes its weight in each call and computes in float32.
    Source: `torch/ao/nn/quantized/reference/modules/linear.py`, `Linear`."""

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.linear(x, self.get_weight(), self.bias)


class _Conv(_Reference):
    def forward(self, x: Tensor) -> Tensor:
        convolve = nn.functional.conv1d if self.ndim == 1 else nn.functional.conv2d
        assert self.padding_mode == "zeros", f"padding_mode={self.padding_mode!r} is left out"
        return convolve(x, self.get_weight(), self.bias, self.stride, self.padding, self.dilation, self.groups)


class Conv1d(_Conv, nn.Conv1d):
    """A convolution that dequantizes its weight in each call and computes in float32.
    Source: `torch/ao/nn/quantized/reference/modules/conv.py`, `Conv1d`."""


class Conv2d(_Conv, nn.Conv2d):
    """A convolution that dequantizes its weight in each call and computes in float32.
    Source: `torch/ao/nn/quantized/reference/modules/conv.py`, `Conv2d`."""


REFERENCE = {nn.Linear: Linear, nn.Conv1d: Conv1d, nn.Conv2d: Conv2d}
