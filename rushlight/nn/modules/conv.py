"""The layers of convolutions. In PyTorch: `torch/nn/modules/conv.py`."""

from collections.abc import Sequence
from typing import Literal

from rushlight.aten.strided import Tensor
from rushlight.nn import functional as F
from rushlight.nn.modules.layers import _AffineMap, _empty
from rushlight.nn.parameter import Device, Dtype

__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]

Ints = int | Sequence[int]  # one number, or one for each dimension
PaddingMode = Literal["zeros", "reflect", "replicate", "circular"]
PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(_AffineMap):
    """The weight is (out_channels, in_channels / groups, \\*kernel_size). The initial values are those of a `Linear` with the
    same fan-in. With a `padding_mode` other than "zeros", `F.pad` pads the input first."""

    ndim: int
    transposed = False

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Ints, stride: Ints = 1, padding: str | Ints = 0,
        dilation: Ints = 1, groups: int = 1, bias: bool = True, padding_mode: PaddingMode = "zeros", device: Device = None,
        dtype: Dtype = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        for name, channels in (("in_channels", in_channels), ("out_channels", out_channels)):
            if channels % groups:
                raise ValueError(f"{name} must be divisible by groups")
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride, self.dilation = map(self._repeated, (kernel_size, stride, dilation))
        self.padding = padding if isinstance(padding, str) else self._repeated(padding)
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(f"Invalid padding string {padding!r}, should be one of 'same' and 'valid'")
            if padding == "same" and any(step != 1 for step in self.stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        if padding_mode not in PADDING_MODES:
            raise ValueError(f"padding_mode must be one of {PADDING_MODES}, but got padding_mode='{padding_mode}'")
        self.output_padding, self.padding_mode = (0,) * self.ndim, padding_mode
        channels = (in_channels, out_channels) if self.transposed else (out_channels, in_channels)
        self.weight = _empty((channels[0], channels[1] // groups, *self.kernel_size), device, dtype)
        self.register_parameter("bias", _empty((out_channels,), device, dtype) if bias else None)
        self.reset_parameters()

    def _repeated(self, value: Ints) -> tuple[int, ...]:
        return (value,) * self.ndim if isinstance(value, int) else tuple(value)

    def _sides(self) -> list[int]:
        """The padding for `F.pad`: before and after each dimension, the last one first."""
        if self.padding == "same":
            total = [step * (size - 1) for step, size in zip(self.dilation, self.kernel_size)]
            return [side for amount in reversed(total) for side in (amount // 2, amount - amount // 2)]
        each_side = (0,) * self.ndim if self.padding == "valid" else self.padding
        return [side for amount in reversed(each_side) for side in (amount, amount)]

    def forward(self, input: Tensor) -> Tensor:
        padding = self.padding
        if self.padding_mode != "zeros":
            input, padding = F.pad(input, self._sides(), mode=self.padding_mode), (0,) * self.ndim
        convolve = (F.conv1d, F.conv2d, F.conv3d)[self.ndim - 1]
        return convolve(input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)

    def extra_repr(self) -> str:
        usual = {"padding": (0,) * self.ndim, "dilation": (1,) * self.ndim}
        usual |= {"output_padding": (0,) * self.ndim, "groups": 1}
        unusual = [f"{name}={getattr(self, name)}" for name, value in usual.items() if getattr(self, name) != value]
        unusual += ["bias=False"] if self.bias is None else []
        unusual += [f"padding_mode={self.padding_mode}"] if self.padding_mode != "zeros" else []
        sizes = [f"{self.in_channels}, {self.out_channels}", f"kernel_size={self.kernel_size}", f"stride={self.stride}"]
        return ", ".join(sizes + unusual)


class Conv1d(_ConvNd):
    """(batch, in_channels, length) to (batch, out_channels, length of the output), or both without the batch.
    Source: `torch/nn/modules/conv.py`, `Conv1d`."""

    ndim = 1


class Conv2d(_ConvNd):
    """(batch, in_channels, height, width) to (batch, out_channels, height and width of the output), or both without the batch.
    Source: `torch/nn/modules/conv.py`, `Conv2d`."""

    ndim = 2


class Conv3d(_ConvNd):
    """A convolution of (batch, in_channels, depth, height, width), or without a batch."""

    ndim = 3


class _ConvTransposeNd(_ConvNd):
    """The weight is (in_channels, out_channels / groups, \\*kernel_size). With a stride, several sizes of the output are
    possible: `output_size` in a call chooses one. Source: `torch/nn/modules/conv.py`, `_ConvTransposeNd`."""

    transposed = True

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Ints, stride: Ints = 1, padding: Ints = 0,
        output_padding: Ints = 0, groups: int = 1, bias: bool = True, dilation: Ints = 1,
        padding_mode: PaddingMode = "zeros", device: Device = None, dtype: Dtype = None,
    ) -> None:  # fmt: skip
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        settings = stride, padding, dilation, groups, bias, padding_mode, device, dtype
        super().__init__(in_channels, out_channels, kernel_size, *settings)
        self.output_padding = self._repeated(output_padding)

    def _output_padding(self, input: Tensor, output_size: Sequence[int] | None) -> tuple[int, ...]:
        if output_size is None:
            return self.output_padding
        sizes, known = list(output_size)[-self.ndim :], zip(input.shape[-self.ndim :], self.stride, self.padding)
        reach = [dilation * (size - 1) + 1 for dilation, size in zip(self.dilation, self.kernel_size)]
        least = [(size - 1) * step - 2 * padding + more for (size, step, padding), more in zip(known, reach)]
        extra = tuple(size - smallest for size, smallest in zip(sizes, least))
        if len(output_size) not in (self.ndim, input.dim()) or not all(0 <= e < s for e, s in zip(extra, self.stride)):
            raise ValueError(f"requested an output size of {output_size}, but valid sizes begin with {least}")
        return extra

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        convolve = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[self.ndim - 1]
        settings = self.stride, self.padding, self._output_padding(input, output_size), self.groups, self.dilation
        return convolve(input, self.weight, self.bias, *settings)


class ConvTranspose1d(_ConvTransposeNd):
    """A transposed convolution of (batch, in_channels, length): the gradient of a `Conv1d` with respect to its input."""

    ndim = 1


class ConvTranspose2d(_ConvTransposeNd):
    """A transposed convolution of (batch, in_channels, height, width): the gradient of a `Conv2d` with respect to its input."""

    ndim = 2


class ConvTranspose3d(_ConvTransposeNd):
    """A transposed convolution of (batch, in_channels, depth, height, width), the gradient of a `Conv3d`."""

    ndim = 3
