"""The layers of pooling. In PyTorch: `torch/nn/modules/pooling.py`. Left out: pooling over one and three dimensions, unpooling, and
adaptive maxima.
"""

from __future__ import annotations

from collections.abc import Sequence

from rushlight.aten.strided import Tensor
from rushlight.nn import functional as F
from rushlight.nn.modules.layers import _Configured

__all__ = ["AdaptiveAvgPool2d", "AvgPool2d", "MaxPool2d"]

Ints = int | Sequence[int]  # one number for both dimensions, or two


class MaxPool2d(_Configured):
    """The largest element of each window; with `return_indices`, its index too. The `stride` is by default the window's size.
    Source: `torch/nn/modules/pooling.py`, `MaxPool2d`."""

    def __init__(
        self,
        kernel_size: Ints,
        stride: Ints | None = None,
        padding: Ints = 0,
        dilation: Ints = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        stride = kernel_size if stride is None else stride
        shown = {"kernel_size": kernel_size, "stride": stride, "padding": padding, "dilation": dilation}
        super().__init__(**shown, ceil_mode=ceil_mode)
        self.return_indices = return_indices

    def forward(self, input: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        windows = self.kernel_size, self.stride, self.padding, self.dilation
        return F.max_pool2d(input, *windows, self.ceil_mode, self.return_indices)


class AvgPool2d(_Configured):
    """The average of each window. The `stride` is by default the window's size.
    Source: `torch/nn/modules/pooling.py`, `AvgPool2d`."""

    def __init__(
        self,
        kernel_size: Ints,
        stride: Ints | None = None,
        padding: Ints = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__(kernel_size=kernel_size, stride=kernel_size if stride is None else stride, padding=padding)
        self.ceil_mode, self.count_include_pad, self.divisor_override = ceil_mode, count_include_pad, divisor_override

    def forward(self, input: Tensor) -> Tensor:
        windows = self.kernel_size, self.stride, self.padding
        return F.avg_pool2d(input, *windows, self.ceil_mode, self.count_include_pad, self.divisor_override)


class AdaptiveAvgPool2d(_Configured):
    """The average of windows, as many as `output_size`. Source: `torch/nn/modules/pooling.py`, `AdaptiveAvgPool2d`."""

    def __init__(self, output_size: int | Sequence[int | None]) -> None:
        super().__init__(output_size=output_size)

    def forward(self, input: Tensor) -> Tensor:
        return F.adaptive_avg_pool2d(input, self.output_size)
