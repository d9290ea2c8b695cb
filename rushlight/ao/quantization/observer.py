"""Observers: modules that watch the values of a tensor, return it unchanged, and then choose a scale and a zero point.

An observer keeps its statistics in buffers, so they are in the state dict. In PyTorch: `torch/ao/quantization/observer.py`. The
dtype of an observer is a plain dtype here, `rl.uint8` in place of `torch.quint8`. Left out: recording observers, zero points that
are floating-point numbers, and state dicts of versions before 3.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from rushlight.ao.quantization import affine
from rushlight.aten.generated import functions
from rushlight.aten.native import creation
from rushlight.aten.strided import Tensor, wrap_contiguous
from rushlight.c10.dtypes import dtype, float32, int8, int32, uint8
from rushlight.c10.exception import warn
from rushlight.c10.qschemes import (
    per_channel_affine,
    per_channel_symmetric,
    per_tensor_affine,
    per_tensor_symmetric,
    qscheme,
)
from rushlight.nn.modules.module import Module

__all__ = [
    "HistogramObserver", "MinMaxObserver", "MovingAverageMinMaxObserver", "MovingAveragePerChannelMinMaxObserver",
    "ObserverBase", "PerChannelMinMaxObserver", "PlaceholderObserver", "UniformQuantizationObserverBase",
    "default_dynamic_quant_observer", "default_histogram_observer", "default_observer", "default_per_channel_weight_observer",
    "default_placeholder_observer", "default_weight_observer",
]  # fmt: skip

INF = float("inf")
BITS = {uint8: 8, int8: 8, int32: 32}


class _PartialWrapper:
    """A class with some of its arguments, to be called later: an observer is made for each place that needs one."""

    def __init__(self, p: partial) -> None:
        self.p = p

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.p(*args, **kwargs)

    def __repr__(self) -> str:
        return repr(self.p) + "{}"

    def with_args(self, **kwargs: Any) -> _PartialWrapper:
        return _PartialWrapper(partial(self, **kwargs))


class Configurable(Module):
    """A module that a `QConfig` holds as a class, or as `with_args` of it. Its buffers `resized` take the sizes of saved ones."""

    resized: tuple[str, ...] = ()

    @classmethod
    def with_args(cls, **kwargs: Any) -> _PartialWrapper:
        return _PartialWrapper(partial(cls, **kwargs))

    def _load_from_state_dict(self, state_dict: dict, prefix: str, *rest: Any) -> None:
        for name in self.resized:
            if prefix + name in state_dict:
                getattr(self, name).resize_(state_dict[prefix + name].shape)
        super()._load_from_state_dict(state_dict, prefix, *rest)


class ObserverBase(Configurable):
    """A module with a `forward` that returns its argument, and with `calculate_qparams`."""

    def __init__(self, dtype: dtype, is_dynamic: bool = False) -> None:
        super().__init__()
        self.dtype, self.is_dynamic = dtype, is_dynamic


class PlaceholderObserver(ObserverBase):
    """It observes nothing, and only says what is wanted: a dtype such as `float16`, or parameters that are computed at each call
    (`is_dynamic`)."""

    def __init__(
        self, dtype=float32, quant_min=None, quant_max=None, qscheme=None, eps=None, is_dynamic: bool = False
    ) -> None:
        super().__init__(dtype, is_dynamic)
        self.qscheme, self.eps = qscheme or per_tensor_affine, affine.EPS if eps is None else eps
        self.quant_min, self.quant_max = quant_min, quant_max

    def forward(self, x: Tensor) -> Tensor:
        return x

    def extra_repr(self) -> str:
        return f"dtype={self.dtype}, is_dynamic={self.is_dynamic}"

    def calculate_qparams(self):
        raise Exception("calculate_qparams should not be called for PlaceholderObserver")


class UniformQuantizationObserverBase(ObserverBase):
    """An observer with a range of quantised values, and the buffer `eps`, the smallest scale."""

    _version = 3
    wants_channels: bool | None = None  # which schemes the class takes: per channel, per tensor, or both

    def __init__(
        self,
        dtype: dtype = uint8,
        qscheme: qscheme = per_tensor_affine,
        reduce_range: bool = False,
        quant_min: int | None = None,
        quant_max: int | None = None,
        factory_kwargs=None,
        eps: float = affine.EPS,
        is_dynamic: bool = False,
    ) -> None:
        name = type(self).__name__
        if self.wants_channels is not None and qscheme.is_per_channel != self.wants_channels:
            kind = "per_channel" if self.wants_channels else "per_tensor"
            raise NotImplementedError(f"{name}'s qscheme only support {kind}_symmetric and {kind}_affine.")
        super().__init__(dtype, is_dynamic)
        if reduce_range:
            warn("Please use quant_min and quant_max to specify the range for observers.")
        self.qscheme, self.reduce_range = qscheme, reduce_range
        self.register_buffer("eps", creation.tensor([eps]))
        if dtype not in affine.BOUNDS:
            raise AssertionError(f"Default Observer only works for {tuple(affine.BOUNDS)} data type")
        self.has_customized_qrange = quant_min is not None and quant_max is not None
        if self.has_customized_qrange:
            affine.validate_qmin_qmax(quant_min, quant_max)
        self.quant_min, self.quant_max = affine.calculate_qmin_qmax(
            quant_min, quant_max, self.has_customized_qrange, dtype, reduce_range
        )

    def _calculate_qparams(self, min_val: Tensor, max_val: Tensor) -> tuple[Tensor, Tensor]:
        if not affine.check_min_max_valid(min_val, max_val):
            return creation.tensor([1.0]), creation.tensor([0])
        settings = (self.dtype, self.eps, self.has_customized_qrange, self.qscheme)
        scale, zero_point = affine.determine_qparams(min_val, max_val, self.quant_min, self.quant_max, *settings)
        return scale, zero_point if self.qscheme.is_symmetric else zero_point.to(int32)

    def calculate_qparams(self) -> tuple[Tensor, Tensor]:
        return self._calculate_qparams(self.min_val, self.max_val)

    def reset_min_max_vals(self) -> None:
        raise NotImplementedError("Cannot reset min/max values in the given observer.")

    def extra_repr(self) -> str:
        return f"min_val={self.min_val}, max_val={self.max_val}"


class _RangeObserver(UniformQuantizationObserverBase):
    """The range of all values so far, in the buffers `min_val` and `max_val`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.register_buffer("min_val", creation.tensor(INF))
        self.register_buffer("max_val", creation.tensor(-INF))

    def forward(self, x_orig: Tensor) -> Tensor:
        if x_orig.numel() == 0:
            return x_orig
        low, high = self.range_of(x_orig.detach().to(self.min_val.dtype))
        if self.has_range():
            low, high = self.joined(low, high)
        store_range(self, low, high)
        return x_orig

    def range_of(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return functions.aminmax(x)

    def has_range(self) -> bool:
        return self.min_val.item() != INF or self.max_val.item() != -INF

    def joined(self, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
        """The range so far, and that of a batch, as one."""
        return functions.minimum(low, self.min_val), functions.maximum(high, self.max_val)

    def reset_min_max_vals(self) -> None:
        self.min_val.fill_(INF)
        self.max_val.fill_(-INF)


class MinMaxObserver(_RangeObserver):
    """The smallest and the largest value so far."""

    wants_channels = False


class MovingAverageMinMaxObserver(MinMaxObserver):
    """A moving average of the smallest and of the largest value of each batch. The first batch is taken as it is. So a single
    extreme value has little weight, and is forgotten."""

    def __init__(self, averaging_constant: float = 0.01, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.averaging_constant = averaging_constant
        if self.is_dynamic and averaging_constant != 1:
            raise NotImplementedError(
                "MovingAverageMinMaxObserver doesn't support dynamic quantization for averaging constant of"
                f" {averaging_constant}"
            )

    def joined(self, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
        low = self.min_val + self.averaging_constant * (low - self.min_val)
        return low, self.max_val + self.averaging_constant * (high - self.max_val)


class PerChannelMinMaxObserver(_RangeObserver):
    """The smallest and the largest value of each channel so far. Before the first batch the buffers are empty."""

    wants_channels, resized = True, ("min_val", "max_val")

    def __init__(self, ch_axis: int = 0, dtype=uint8, qscheme=per_channel_affine, *args: Any, **kwargs: Any) -> None:
        super().__init__(dtype, qscheme, *args, **kwargs)
        if self.is_dynamic:
            raise NotImplementedError(f"{type(self).__name__} doesn't support dynamic quantization")
        self.ch_axis = ch_axis
        self.register_buffer("min_val", creation.tensor([]))
        self.register_buffer("max_val", creation.tensor([]))

    def range_of(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return channel_min_max(x, self.ch_axis)

    def has_range(self) -> bool:
        return bool(self.min_val.numel() and self.max_val.numel())

    def reset_min_max_vals(self) -> None:
        self.min_val, self.max_val = creation.tensor([]), creation.tensor([])


def channel_min_max(x: Tensor, ch_axis: int) -> tuple[Tensor, Tensor]:
    """The smallest and the largest value for each index of a dimension, both (channels,). As in PyTorch, a tensor of one
    dimension is refused."""
    if x.dim() < 2:
        raise IndexError("Dimension out of range (expected to be in range of [-1, 0], but got 1)")
    others = [d for d in range(x.dim()) if d != ch_axis % x.dim()]
    return functions.amin(x, others), functions.amax(x, others)


def store_range(observer: Module, min_val: Tensor, max_val: Tensor) -> None:
    """Copy these values into the buffers `min_val` and `max_val` of an observer, which get their sizes."""
    observer.min_val.resize_(min_val.shape).copy_(min_val)
    observer.max_val.resize_(max_val.shape).copy_(max_val)


class MovingAveragePerChannelMinMaxObserver(PerChannelMinMaxObserver):
    """A moving average of the smallest and of the largest value of each channel."""

    def __init__(self, averaging_constant: float = 0.01, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.averaging_constant = averaging_constant

    def forward(self, x_orig: Tensor) -> Tensor:
        return moving_average_per_channel(self, x_orig)


def moving_average_per_channel(self: MovingAveragePerChannelMinMaxObserver, x_orig: Tensor) -> Tensor:
    """`MovingAveragePerChannelMinMaxObserver.forward`: observe a batch, and return it.

    The buffers `min_val` and `max_val` hold a range for each channel. The first batch sets them to its own ranges. From then on
    each batch moves each end towards that of its own range: old + `self.averaging_constant` * (new - old). A batch is the first
    one if `min_val` or `max_val` has no elements. A batch without elements changes nothing. The buffers stay float32, and keep
    no graph of a batch.

    `channel_min_max(x, self.ch_axis)` gives the ranges of a tensor, and `store_range(self, min_val, max_val)` copies two tensors
    into the buffers.

        >>> observer = rl.ao.quantization.MovingAveragePerChannelMinMaxObserver(averaging_constant=0.5)
        >>> for batch in rl.tensor([[1.0, 2.0], [-8.0, 0.0]]), rl.tensor([[5.0, 3.0], [0.0, 0.0]]):
        ...     _ = moving_average_per_channel(observer, batch)
        >>> observer.min_val, observer.max_val
        (tensor([ 2., -4.]), tensor([3.5000, 0.0000]))

    Args:
        self: the observer, with the buffers `min_val` and `max_val`, float32, (channels,) or (0,).
        x_orig: at least 2 dimensions, floating-point.

    Returns:
        `x_orig` itself.

    Source: `torch/ao/quantization/observer.py`, `MovingAveragePerChannelMinMaxObserver.forward`.
    """
    if x_orig.numel() == 0:
        return x_orig
    low, high = channel_min_max(x_orig.detach().to(self.min_val.dtype), self.ch_axis)
    if self.min_val.numel() and self.max_val.numel():
        low = self.min_val + self.averaging_constant * (low - self.min_val)
        high = self.max_val + self.averaging_constant * (high - self.max_val)
    store_range(self, low, high)
    return x_orig


# Histogram -----------------------------------------------------------------------------------------------------------


class HistogramObserver(UniformQuantizationObserverBase):
    """A histogram of all values, from which the range is chosen: values in its tails are given up if the error becomes smaller.

    The error is that of `quantization_error`, always with 2**bits steps of the dtype, whatever `quant_min`, `quant_max` and the
    scheme are.
    """

    wants_channels, resized = False, ("min_val", "max_val")

    def __init__(self, bins: int = 2048, dtype=uint8, *args: Any, **kwargs: Any) -> None:
        super().__init__(dtype, *args, **kwargs)
        if self.is_dynamic:
            raise NotImplementedError("HistogramObserver doesn't support dynamic quantization")
        self.bins = bins
        self.register_buffer("histogram", functions.zeros((bins,)))
        self.register_buffer("min_val", creation.tensor(INF))
        self.register_buffer("max_val", creation.tensor(-INF))
        self.dst_nbins, self.upsample_rate = 2 ** BITS[dtype], 16

    def forward(self, x_orig: Tensor) -> Tensor:
        if x_orig.numel() == 0:
            return x_orig
        x = x_orig.detach()
        low, high = functions.aminmax(x)
        if low.item() == -INF or high.item() == INF:
            warn("torch.inf detected in input tensor, ignoring input")
            x = x[x.abs() != INF]
            if x.numel() == 0:
                return x_orig
            low, high = functions.aminmax(x)
        if self.min_val.item() == INF or self.max_val.item() == -INF:
            new_low, new_high, counts = low, high, histc(x, self.bins, low, high)
        else:
            new_low, new_high = functions.minimum(self.min_val, low), functions.maximum(self.max_val, high)
            counts = histc(x, self.bins, new_low, new_high) + self._old_counts(new_low, new_high)
        self.histogram.resize_(counts.shape).copy_(counts)
        store_range(self, new_low, new_high)
        return x_orig

    def _old_counts(self, low: Tensor, high: Tensor) -> Tensor:
        """The histogram so far, in the bins of a range that contains the old one: each old bin is cut into `upsample_rate` parts,
        and each part is put into the new bin of its middle. Source: `_combine_histograms` and `_upscale_histogram`."""
        if low.item() == self.min_val.item() and high.item() == self.max_val.item():
            return self.histogram
        if self.min_val.item() == self.max_val.item():
            return histc(self.min_val.reshape(1), self.bins, low, high) * functions.sum(self.histogram)
        parts = self.histogram.repeat_interleave(self.upsample_rate) / self.upsample_rate
        count = self.bins * self.upsample_rate
        width = (self.max_val - self.min_val) / count
        middles = _linspace(self.min_val, self.max_val, count + 1)[:-1] + np.float32((0.5 * width).item())
        bins = np.searchsorted(_linspace(low, high, self.bins + 1), middles, side="right") - 1
        weights = np.bincount(bins.clip(0, self.bins - 1), parts.numpy(), self.bins)
        return creation.from_numpy(weights.astype(np.float32))

    def _compute_quantization_error(self, next_start_bin: int, next_end_bin: int) -> float:
        width = (self.max_val.item() - self.min_val.item()) / self.bins
        return quantization_error(self.histogram, width, next_start_bin, next_end_bin, self.dst_nbins)

    def _non_linear_param_search(self) -> tuple[Tensor, Tensor]:
        width = (self.max_val - self.min_val) / self.bins
        start, end = non_linear_search(self.histogram.tolist(), self._compute_quantization_error)
        return self.min_val + width * start, self.min_val + width * (end + 1)

    def calculate_qparams(self) -> tuple[Tensor, Tensor]:
        if self.min_val.item() == INF and self.max_val.item() == -INF:
            warn("must run observer before calling calculate_qparams.")
            return creation.tensor([1.0]), creation.tensor([0])
        return self._calculate_qparams(*self._non_linear_param_search())


def _linspace(start: Tensor, end: Tensor, steps: int) -> np.ndarray:
    """As `torch.linspace`, in float32 from both ends. (With AVX2, PyTorch rounds once less, so a part of a bin on the edge between
    two bins may go to the other one.) Source: `aten/src/ATen/native/cpu/RangeFactoriesKernel.cpp`."""
    first, last, i = np.float32(start.item()), np.float32(end.item()), np.arange(steps, dtype=np.float32)
    step = (last - first) / np.float32(steps - 1)
    return np.where(i < steps // 2, first + step * i, last - step * (np.float32(steps - 1) - i))


def histc(x: Tensor, bins: int, low: Tensor, high: Tensor) -> Tensor:
    """The number of values in each of `bins` equal parts of a range. A range of length 0 grows by 1 at both ends.
    Source: `aten/src/ATen/native/cpu/HistogramKernel.cpp`, for `torch.histc`."""
    values, first, last = x.numpy().astype(np.float32).ravel(), np.float32(low.item()), np.float32(high.item())
    if first == last:
        first, last = first - np.float32(1), last + np.float32(1)
    values = values[(values >= first) & (values <= last)]
    positions = ((values - first) * np.float32(bins) / (last - first)).astype(np.intp)
    return wrap_contiguous(np.bincount(positions.clip(0, bins - 1), minlength=bins).astype(np.float32), float32)


def quantization_error(histogram: Tensor, width: float, start_bin: int, end_bin: int, dst_nbins: int) -> float:
    """The squared error of all values in a histogram if only the bins from `start_bin` to `end_bin` are in the range.

    Values are taken to be uniform inside each bin, so the error of a bin is its density, count / `width`, times an integral of
    the squared distance. Distances from a to b have the integral (b³ - a³) / 3. The range is cut into `dst_nbins` equal steps, and
    each value goes to the middle of its step. `step` is the length of a step: `width` times the number of bins in the range,
    divided by `dst_nbins`. If it is 0, so is the error. All positions count from the left edge of `start_bin`, so bin i is from
    (i - start_bin) * `width` to this plus `width`.

    A bin begins in the step first = its left edge // `step`, and ends in the step last = its right edge // `step`, both limited
    to 0 ... `dst_nbins` - 1: a value outside the range goes to the first or the last step. The integral of the bin has
    three terms:

    - from the left edge to the right end of the first step: distances from (left edge - middle of the first) to `step` / 2
    - last - first - 1 whole steps: distances from -`step` / 2 to `step` / 2. (If first is last, this is minus one step. The other
      terms have one step too much.)
    - from the left end of the last step to the right edge: distances from -`step` / 2 to (right edge - middle of the last)

        >>> quantization_error(rl.tensor([8.0, 8.0]), 1.0, 0, 1, 2), quantization_error(rl.tensor([8.0, 8.0]), 1.0, 0, 0, 1)
        (1.3333..., 9.3333...)

    Args:
        histogram: float32, (bins,), the number of values in each bin. It does not change.
        width: of a bin, 0 or more.
        start_bin, end_bin: 0 <= start_bin <= end_bin < bins.
        dst_nbins: the number of steps, at least 1.

    Returns:
        a float.

    Source: `torch/ao/quantization/observer.py`, `HistogramObserver._compute_quantization_error`.
    """
    step = width * (end_bin - start_bin + 1) / dst_nbins
    if step == 0:
        return 0.0
    left = (functions.arange(histogram.numel()) - start_bin) * width
    right = left + width
    first = functions.clamp(functions.div(left, step, rounding_mode="floor"), 0, dst_nbins - 1)
    last = functions.clamp(functions.div(right, step, rounding_mode="floor"), 0, dst_nbins - 1)
    total = (step / 2) ** 3 - (left - (first + 0.5) * step) ** 3
    total = total + (last - first - 1) * (2 * (step / 2) ** 3)
    total = total + (right - (last + 0.5) * step) ** 3 + (step / 2) ** 3
    return functions.sum(histogram / width * total / 3).item()


def non_linear_search(histogram: list[float], error: Callable[[int, int], float]) -> tuple[int, int]:
    """The first and the last bin of the range that `HistogramObserver` chooses.

    Two fractions, alpha = 0.0 and beta = 1.0, cut the histogram off from below and from above. The search repeats these
    steps while alpha < beta, with c(i) the sum of the counts of the bins up to and with i, and n the sum of all:

    1. Suggest alpha + 1e-5 and beta - 1e-5.
    2. l is the first bin from `start` on, at most `end`, whose c(l) is not below the suggested alpha times n. r is the last bin
       from `end` down, at least `start`, whose c(r) is not above the suggested beta times n.
    3. If l is further from `start` than r is from `end`, take the suggested alpha, and the next range is l ... `end`.
       Otherwise take the suggested beta, and the next range is `start` ... r.
    4. If the next range is the old one, go on with 1. Otherwise call `error`, once. If the error is above the smallest so far,
       stop, and the old range is the result. If not, the next range becomes the old one.

    Both numbers of a comparison in step 2 are rounded to float32, `np.float32(number)`, because alpha times n is often almost
    a whole number. alpha and beta are not rounded.

    At first the range is that of all bins, and the smallest error infinity: the error of all bins is never computed.

        >>> non_linear_search([50.0, 50.0, 0.0, 1.0], lambda start, end: abs(end - 2))
        (0, 2)

    Args:
        histogram: the count of each bin, at least one bin. It does not change.
        error: the error of the range from a first to a last bin, both in it.

    Returns:
        a tuple: the first and the last bin of the range.

    Source: `torch/ao/quantization/observer.py`, `HistogramObserver._non_linear_param_search`.
    """
    total, sums = sum(histogram), np.cumsum(histogram).astype(np.float32)
    alpha, beta, start, end, smallest = 0.0, 1.0, 0, len(histogram) - 1, float("inf")
    while alpha < beta:
        next_alpha, next_beta = alpha + 1e-5, beta - 1e-5
        left, right = start, end
        while left < end and sums[left] < np.float32(next_alpha * total):
            left += 1
        while right > start and sums[right] > np.float32(next_beta * total):
            right -= 1
        next_start, next_end = start, end
        if left - start > end - right:
            next_start, alpha = left, next_alpha
        else:
            next_end, beta = right, next_beta
        if (next_start, next_end) == (start, end):
            continue
        loss = error(next_start, next_end)
        if loss > smallest:
            break
        smallest, start, end = loss, next_start, next_end
    return start, end


default_observer = MinMaxObserver.with_args(quant_min=0, quant_max=127)
"""The observer of activations: the least and the greatest value of a tensor, in 7 bits.
Source: `torch/ao/quantization/observer.py`, `default_observer`."""
default_placeholder_observer = PlaceholderObserver
"""The observer that computes nothing and only says the dtype. Source: `torch/ao/quantization/observer.py`,
`default_placeholder_observer`."""
default_weight_observer = MinMaxObserver.with_args(dtype=int8, qscheme=per_tensor_symmetric)
"""The observer of weights: int8, symmetric, one scale for a tensor. Source: `torch/ao/quantization/observer.py`,
`default_weight_observer`."""
default_histogram_observer = HistogramObserver.with_args(quant_min=0, quant_max=127)
"""The observer of activations that chooses the range by a histogram, in 7 bits.
Source: `torch/ao/quantization/observer.py`, `default_histogram_observer`."""
default_per_channel_weight_observer = PerChannelMinMaxObserver.with_args(dtype=int8, qscheme=per_channel_symmetric)
"""The observer of weights: int8, symmetric, one scale for each channel. Source: `torch/ao/quantization/observer.py`,
`default_per_channel_weight_observer`."""
default_dynamic_quant_observer = PlaceholderObserver.with_args(dtype=uint8, quant_min=0, quant_max=255, is_dynamic=True)
"""The observer for dynamic quantisation: the range of an activation is computed in each call.
Source: `torch/ao/quantization/observer.py`, `default_dynamic_quant_observer`."""
