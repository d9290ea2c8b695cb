"""`FakeQuantize`: an observer, and values that are rounded as the quantised model will round them. Training with it lets the
weights adapt to the rounding (*quantisation-aware training*). In PyTorch: `torch/ao/quantization/fake_quantize.py`. The module
in PyTorch's default for training, `FusedMovingAvgObsFakeQuantize`, does the same in one operator, and is left out.
"""

from collections.abc import Callable

from rushlight.ao.quantization import affine
from rushlight.ao.quantization.observer import (
    Configurable,
    MovingAverageMinMaxObserver,
    MovingAveragePerChannelMinMaxObserver,
    _PartialWrapper,
)
from rushlight.aten.generated import functions
from rushlight.aten.native import creation
from rushlight.aten.strided import Tensor
from rushlight.c10.dtypes import int8, int32, uint8
from rushlight.c10.qschemes import per_channel_symmetric, per_tensor_affine, per_tensor_symmetric
from rushlight.nn.modules.module import Module

__all__ = [
    "FakeQuantize", "FakeQuantizeBase", "default_fake_quant", "default_per_channel_weight_fake_quant",
    "default_weight_fake_quant", "disable_fake_quant", "disable_observer", "enable_fake_quant", "enable_observer",
]  # fmt: skip


class FakeQuantizeBase(Configurable):
    """The two switches of a fake quantisation. They are buffers, so that a state dict has them."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("fake_quant_enabled", creation.tensor([1], dtype=uint8))
        self.register_buffer("observer_enabled", creation.tensor([1], dtype=uint8))

    def enable_fake_quant(self, enabled: bool = True) -> None:
        self.fake_quant_enabled.fill_(1 if enabled else 0)

    def disable_fake_quant(self) -> None:
        self.enable_fake_quant(False)

    def enable_observer(self, enabled: bool = True) -> None:
        self.observer_enabled.fill_(1 if enabled else 0)

    def disable_observer(self) -> None:
        self.enable_observer(False)


class FakeQuantize(FakeQuantizeBase):
    """Observe, then quantise and dequantise. The buffers `scale` and `zero_point` are those of the last observation.

    Source: `torch/ao/quantization/fake_quantize.py`, `FakeQuantize`.
    """

    resized = ("scale", "zero_point")

    def __init__(
        self, observer=MovingAverageMinMaxObserver, quant_min=None, quant_max=None, is_dynamic=False, **observer_kwargs
    ) -> None:
        super().__init__()
        if quant_min is not None and quant_max is not None:
            if quant_min > quant_max:
                raise AssertionError("quant_min must be less than or equal to quant_max")
            held = observer.p.keywords if isinstance(observer, _PartialWrapper) else {}  # the arguments of `with_args`
            least, most = affine.BOUNDS[held.get("dtype", observer_kwargs.get("dtype", uint8))]
            if quant_min < least:
                raise AssertionError("quant_min out of bound")
            if quant_max > most:
                raise AssertionError("quant_max out of bound")
            observer_kwargs |= {"quant_min": quant_min, "quant_max": quant_max}
        self.activation_post_process = made = observer(is_dynamic=is_dynamic, **observer_kwargs)
        self.quant_min, self.quant_max, self.is_dynamic = made.quant_min, made.quant_max, made.is_dynamic
        self.register_buffer("scale", creation.tensor([1.0]))
        self.register_buffer("zero_point", creation.tensor([0], dtype=int32))
        self.dtype, self.qscheme, self.ch_axis = made.dtype, made.qscheme, getattr(made, "ch_axis", -1)
        self.is_per_channel = made.qscheme.is_per_channel

    def calculate_qparams(self) -> tuple[Tensor, Tensor]:
        return self.activation_post_process.calculate_qparams()

    def forward(self, X: Tensor) -> Tensor:
        if self.observer_enabled[0].item() == 1:
            self.activation_post_process(X.detach())
            scale, zero_point = self.calculate_qparams()
            self.scale.resize_(scale.shape).copy_(scale)
            self.zero_point.resize_(zero_point.shape).copy_(zero_point)
        if self.fake_quant_enabled[0].item() != 1:
            return X
        if self.is_per_channel:
            return functions.fake_quantize_per_channel_affine(
                X, self.scale, self.zero_point, self.ch_axis, self.quant_min, self.quant_max
            )
        return functions.fake_quantize_per_tensor_affine(X, self.scale, self.zero_point, self.quant_min, self.quant_max)

    def extra_repr(self) -> str:
        names = "fake_quant_enabled observer_enabled quant_min quant_max dtype qscheme ch_axis scale zero_point"
        return ", ".join(f"{name}={getattr(self, name)}" for name in names.split())


def _switch(name: str) -> Callable[[Module], None]:
    """A function for `model.apply`, which calls this method of each fake quantisation."""

    def switch(mod: Module) -> None:
        if isinstance(mod, FakeQuantizeBase):
            getattr(mod, name)()

    switch.__name__ = switch.__qualname__ = name
    return switch


enable_fake_quant, disable_fake_quant = _switch("enable_fake_quant"), _switch("disable_fake_quant")
"""For `model.apply`: switch the rounding of each fake quantisation on, or off.
Source: `torch/ao/quantization/fake_quantize.py`."""
enable_observer, disable_observer = _switch("enable_observer"), _switch("disable_observer")
"""For `model.apply`: switch the observer of each fake quantisation on, or off.
Source: `torch/ao/quantization/fake_quantize.py`."""

_UINT8 = {"quant_min": 0, "quant_max": 255, "dtype": uint8, "qscheme": per_tensor_affine, "reduce_range": True}
_INT8 = {"quant_min": -128, "quant_max": 127, "dtype": int8, "qscheme": per_tensor_symmetric, "reduce_range": False}
_PER_CHANNEL = _INT8 | {"qscheme": per_channel_symmetric, "ch_axis": 0}
default_fake_quant = FakeQuantize.with_args(observer=MovingAverageMinMaxObserver, **_UINT8)
"""For activations: uint8, one scale for a tensor, from a moving average of the range.
Source: `torch/ao/quantization/fake_quantize.py`, `default_fake_quant`."""
default_weight_fake_quant = FakeQuantize.with_args(observer=MovingAverageMinMaxObserver, **_INT8)
"""For weights: int8, one scale for a tensor, from a moving average of the range.
Source: `torch/ao/quantization/fake_quantize.py`, `default_weight_fake_quant`."""
default_per_channel_weight_fake_quant = FakeQuantize.with_args(
    observer=MovingAveragePerChannelMinMaxObserver, **_PER_CHANNEL
)
"""For weights: int8, one scale for each channel, from a moving average of the range.
Source: `torch/ao/quantization/fake_quantize.py`, `default_per_channel_weight_fake_quant`."""
