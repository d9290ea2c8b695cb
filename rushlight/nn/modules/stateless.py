"""Layers and losses without trained weights: each calls a function of `nn.functional` with its settings.

A row of a table is the signature of a class, and its function. The settings become attributes, and the function's arguments of
the same names. The base class of a table says how settings are converted, and what `repr` shows. In PyTorch: `torch/nn/modules/`
(`activation.py`, `dropout.py`, `pooling.py`, `padding.py`, `fold.py`, `loss.py`, `distance.py` and others).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.nn import functional as F
from rushlight.nn.modules.module import Module

__all__ = ["Hardtanh", "ReLU6", "Softmax2d", "Unflatten"]


class Stateless(Module):
    """`repr` shows the settings that are not `hidden`, and `inplace` only if it is True."""

    extra: tuple[str, ...] = ()  # more attributes that the function takes
    hidden: tuple[str, ...] = ()

    def __init_subclass__(cls, row: Callable | None = None) -> None:
        if row is not None:
            cls.__signature__ = inspect.signature(row)
            names = tuple(cls.__signature__.parameters)
            cls._function = staticmethod(row(**dict.fromkeys(names)))
            cls._arguments = tuple(name for name in names + cls.extra if name not in ("size_average", "reduce"))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        settings = self.__signature__.bind(*args, **kwargs)
        settings.apply_defaults()
        for name, value in self.convert(settings.arguments).items():
            setattr(self, name, value)

    def convert(self, settings: dict[str, Any]) -> dict[str, Any]:
        return settings

    def forward(self, input: Tensor) -> Tensor:
        return self._call(input)

    def _call(self, *inputs: Tensor) -> Any:
        return self._function(*inputs, **{name: getattr(self, name) for name in self._arguments})

    def extra_repr(self) -> str:
        shown = [name for name in self.__signature__.parameters if name not in self.hidden]
        return ", ".join(f"{n}={getattr(self, n)!r}" for n in shown if n != "inplace" or self.inplace)


def define(base: type[Stateless], rows: dict[str, Callable]) -> None:
    """Define a class for each row: a function with the signature of the class, which returns the function to call."""
    for name, row in rows.items():
        globals()[name] = type(name, (base,), {"__module__": __name__}, row=row)
        __all__.append(name)


# Activations and shapes ----------------------------------------------------------------------------------------------

define(
    Stateless,
    {
        "ELU": lambda alpha=1.0, inplace=False: F.elu,
        "Flatten": lambda start_dim=1, end_dim=-1: lambda input, start_dim, end_dim: input.flatten(start_dim, end_dim),
        "GELU": lambda approximate="none": F.gelu,
        "LeakyReLU": lambda negative_slope=0.01, inplace=False: F.leaky_relu,
        "LogSoftmax": lambda dim=None: partial(F.log_softmax, _stacklevel=5),
        "ReLU": lambda inplace=False: F.relu,
        "SiLU": lambda inplace=False: F.silu,
        "Sigmoid": lambda: functions.sigmoid,
        "Softmax": lambda dim=None: partial(F.softmax, _stacklevel=5),
        "Softmin": lambda dim=None: partial(F.softmin, _stacklevel=5),
        "Softplus": lambda beta=1.0, threshold=20.0: F.softplus,
        "Tanh": lambda: functions.tanh,
    },
)


class Hardtanh(Stateless, row=lambda min_val=-1.0, max_val=1.0, inplace=False: F.hardtanh):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not self.max_val > self.min_val:
            raise AssertionError(f"max_val ({self.max_val}) must be larger than min_val ({self.min_val})")


class ReLU6(Hardtanh, row=lambda inplace=False: F.relu6):
    min_val, max_val = 0.0, 6.0


class Softmax2d(Stateless, row=lambda: partial(F.softmax, dim=-3)):
    def forward(self, input: Tensor) -> Tensor:
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return super().forward(input)


class Unflatten(Stateless, row=lambda dim, unflattened_size: None):
    """Split one dimension into several."""

    def __init__(self, dim: int, unflattened_size: Sequence[int]) -> None:
        super().__init__(dim, unflattened_size)
        if not isinstance(unflattened_size, (tuple, list)) or not all(isinstance(i, int) for i in unflattened_size):
            raise TypeError(f"unflattened_size must be a tuple of ints, but found {unflattened_size!r}")

    def forward(self, input: Tensor) -> Tensor:
        return input.unflatten(self.dim, self.unflattened_size)


class _Dropout(Stateless):
    """`repr` always shows `inplace`."""

    extra = ("training",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not 0 <= self.p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {self.p}")

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


define(_Dropout, {"Dropout": lambda p=0.5, inplace=False: F.dropout})

# Pooling and padding -------------------------------------------------------------------------------------------------


class _Pool(Stateless):
    """The stride is by default the size of a window."""

    hidden = ("return_indices", "count_include_pad", "divisor_override")

    def convert(self, settings: dict[str, Any]) -> dict[str, Any]:
        if settings["stride"] is None:
            settings["stride"] = settings["kernel_size"]
        return settings


class _AvgPool(_Pool):
    hidden = (*_Pool.hidden, "ceil_mode")


define(
    _Pool,
    {
        "MaxPool2d": lambda kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False: (
            F.max_pool2d
        ),
    },
)
define(
    _AvgPool,
    {
        "AvgPool2d": lambda kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None: (
            F.avg_pool2d
        ),
    },
)
define(Stateless, {"AdaptiveAvgPool2d": lambda output_size: F.adaptive_avg_pool2d})

# Distances and losses ------------------------------------------------------------------------------------------------


class _Loss(Stateless, row=lambda size_average=None, reduce=None, reduction="mean": None):
    """`size_average` and `reduce` are deprecated forms of `reduction`. A weight is a buffer, which is saved with the module.
    `repr` shows nothing."""

    def convert(self, settings: dict[str, Any]) -> dict[str, Any]:
        size_average, reduce = settings.pop("size_average", None), settings.pop("reduce", None)
        if size_average is not None or reduce is not None:
            settings["reduction"] = "none" if reduce is False else "sum" if size_average is False else "mean"
        for name in {"weight", "pos_weight"} & {*settings}:
            self.register_buffer(name, settings.pop(name))
        return settings

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return self._call(input, target)

    def extra_repr(self) -> str:
        return ""


def _cross_entropy_row(
    weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", label_smoothing=0.0
) -> Callable:
    return F.cross_entropy


define(
    _Loss,
    {
        "BCELoss": lambda weight=None, size_average=None, reduce=None, reduction="mean": F.binary_cross_entropy,
        "BCEWithLogitsLoss": lambda weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None: (
            F.binary_cross_entropy_with_logits
        ),
        "CrossEntropyLoss": _cross_entropy_row,
        "HuberLoss": lambda reduction="mean", delta=1.0: F.huber_loss,
        "KLDivLoss": lambda size_average=None, reduce=None, reduction="mean", log_target=False: F.kl_div,
        "L1Loss": lambda size_average=None, reduce=None, reduction="mean": F.l1_loss,
        "MSELoss": lambda size_average=None, reduce=None, reduction="mean": F.mse_loss,
        "NLLLoss": lambda weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean": F.nll_loss,
        "SmoothL1Loss": lambda size_average=None, reduce=None, reduction="mean", beta=1.0: F.smooth_l1_loss,
    },
)


class _Distance(_Loss):
    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return self._call(x1, x2)


define(_Distance, {"CosineSimilarity": lambda dim=1, eps=1e-8: F.cosine_similarity})
