"""Layers and losses without trained weights: each calls a function of `nn.functional` with its settings.

A row of a table is the signature of a class, and its function. The settings become attributes, and the function's arguments of
the same names. The base class of a table says how settings are converted, and what `repr` shows. In PyTorch: `torch/nn/modules/`
(`activation.py`, `dropout.py`, `pooling.py`, `padding.py`, `fold.py`, `loss.py`, `distance.py` and others).
"""

import inspect
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.nn import functional as F
from rushlight.nn.modules.module import Module

__all__ = [
    "Hardtanh", "RReLU", "ReLU6", "Softmax2d", "Unflatten", "Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d",
]  # fmt: skip


class Stateless(Module):
    """`repr` shows the settings that are not `hidden`, and `inplace` only if it is True."""

    extra: tuple[str, ...] = ()  # more attributes that the function takes
    hidden: tuple[str, ...] = ("return_indices", "count_include_pad", "divisor_override")

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

    def _call(self, *inputs: Tensor, **named: Tensor) -> Any:
        return self._function(*inputs, **named, **{name: getattr(self, name) for name in self._arguments})

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
        "CELU": lambda alpha=1.0, inplace=False: F.celu,
        "ChannelShuffle": lambda groups: F.channel_shuffle,
        "ELU": lambda alpha=1.0, inplace=False: F.elu,
        "Flatten": lambda start_dim=1, end_dim=-1: lambda input, start_dim, end_dim: input.flatten(start_dim, end_dim),
        "Fold": lambda output_size, kernel_size, dilation=1, padding=0, stride=1: F.fold,
        "GLU": lambda dim=-1: F.glu,
        "GELU": lambda approximate="none": F.gelu,
        "LeakyReLU": lambda negative_slope=0.01, inplace=False: F.leaky_relu,
        "LogSigmoid": lambda: F.logsigmoid,
        # A trace shows `_stacklevel`, which has no other effect here.
        "LogSoftmax": lambda dim=None: partial(F.log_softmax, _stacklevel=5),
        "Mish": lambda inplace=False: F.mish,
        "PixelShuffle": lambda upscale_factor: F.pixel_shuffle,
        "PixelUnshuffle": lambda downscale_factor: F.pixel_unshuffle,
        "ReLU": lambda inplace=False: F.relu,
        "SELU": lambda inplace=False: F.selu,
        "SiLU": lambda inplace=False: F.silu,
        "Sigmoid": lambda: functions.sigmoid,
        "Softmax": lambda dim=None: partial(F.softmax, _stacklevel=5),
        "Softmin": lambda dim=None: partial(F.softmin, _stacklevel=5),
        "Softplus": lambda beta=1.0, threshold=20.0: F.softplus,
        "Softsign": lambda: F.softsign,
        "Tanh": lambda: functions.tanh,
        "Tanhshrink": lambda: F.tanhshrink,
        "Threshold": lambda threshold, value, inplace=False: F.threshold,
        "Unfold": lambda kernel_size, dilation=1, padding=0, stride=1: F.unfold,
    },
)


class _Silent(Stateless):
    def extra_repr(self) -> str:
        return ""


class _Unnamed(Stateless):
    """`repr` shows the first setting without its name."""

    def extra_repr(self) -> str:
        return super().extra_repr().partition("=")[2]


define(_Silent, {"Hardsigmoid": lambda inplace=False: F.hardsigmoid, "Hardswish": lambda inplace=False: F.hardswish})
define(
    _Unnamed,
    {
        "Hardshrink": lambda lambd=0.5: F.hardshrink,
        "LocalResponseNorm": lambda size, alpha=1e-4, beta=0.75, k=1.0: F.local_response_norm,
        "Softshrink": lambda lambd=0.5: F.softshrink,
    },
)


class RReLU(Stateless, row=lambda lower=1 / 8, upper=1 / 3, inplace=False: F.rrelu):
    """`leaky_relu` with a random slope in training: the module of `nn.functional.rrelu`."""

    extra = ("training",)


class Hardtanh(Stateless, row=lambda min_val=-1.0, max_val=1.0, inplace=False: F.hardtanh):
    """Limit elements to the range from `min_val` to `max_val`: the module of `nn.functional.hardtanh`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not self.max_val > self.min_val:
            raise AssertionError(f"max_val ({self.max_val}) must be larger than min_val ({self.min_val})")


class ReLU6(Hardtanh, row=lambda inplace=False: F.relu6):
    """Limit elements to the range from 0 to 6: the module of `nn.functional.relu6`."""

    min_val, max_val = 0.0, 6.0


class Softmax2d(Stateless, row=lambda: partial(F.softmax, dim=-3)):
    """The softmax over the channels of (batch, channels, height, width), at each position."""

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


def _upsample_row(
    size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None
) -> Callable:
    return F.interpolate


class Upsample(Stateless, row=_upsample_row):
    """`repr` shows the factor or the size, and the mode."""

    def convert(self, settings: dict[str, Any]) -> dict[str, Any]:
        factor = settings["scale_factor"]
        several = tuple(map(float, factor)) if isinstance(factor, tuple) else float(factor) if factor else None
        return settings | {"scale_factor": several}

    def extra_repr(self) -> str:
        given = "size" if self.scale_factor is None else "scale_factor"
        return f"{given}={getattr(self, given)!r}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample, row=lambda size=None, scale_factor=None: F.interpolate):
    """Resize pictures (batch, channels, height, width): each element is the nearest one of the input."""

    mode = "nearest"


class UpsamplingBilinear2d(
    Upsample, row=lambda size=None, scale_factor=None: partial(F.interpolate, mode="bilinear", align_corners=True)
):
    """Resize pictures (batch, channels, height, width) by bilinear interpolation, with the corners aligned."""

    mode = "bilinear"


def _not_in_place(dropout: Callable) -> Callable:
    """PyTorch's modules of these accept `inplace`, and do not use it."""
    return lambda input, p, inplace, training: dropout(input, p, training)


class _Dropout(Stateless):
    """`repr` always shows `inplace`."""

    extra = ("training",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not 0 <= self.p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {self.p}")

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


define(
    _Dropout,
    {
        "AlphaDropout": lambda p=0.5, inplace=False: _not_in_place(F.alpha_dropout),
        "Dropout": lambda p=0.5, inplace=False: F.dropout,
        "Dropout1d": lambda p=0.5, inplace=False: F.dropout1d,
        "Dropout2d": lambda p=0.5, inplace=False: F.dropout2d,
        "Dropout3d": lambda p=0.5, inplace=False: F.dropout3d,
        "FeatureAlphaDropout": lambda p=0.5, inplace=False: _not_in_place(F.feature_alpha_dropout),
    },
)

# Pooling and padding -------------------------------------------------------------------------------------------------


class _Pool(Stateless):
    """The stride is by default the size of a window."""

    def convert(self, settings: dict[str, Any]) -> dict[str, Any]:
        if settings["stride"] is None:
            settings["stride"] = settings["kernel_size"]
        return settings


class _AvgPool(_Pool):
    hidden = (*_Pool.hidden, "ceil_mode")


def _max_pool_row(pool: Callable) -> Callable:
    return lambda kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False: pool


define(
    _Pool,
    {
        "MaxPool1d": _max_pool_row(F.max_pool1d),
        "MaxPool2d": _max_pool_row(F.max_pool2d),
        "MaxPool3d": _max_pool_row(F.max_pool3d),
    },
)
define(
    _AvgPool,
    {
        "AvgPool2d": lambda kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True,
        divisor_override=None: F.avg_pool2d,
    },
)  # fmt: skip


class _MaxUnpool(Module):
    ndim: int

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        settings = kernel_size, kernel_size if stride is None else stride, padding
        self.kernel_size, self.stride, self.padding = ((x,) * self.ndim if isinstance(x, int) else x for x in settings)

    def forward(self, input: Tensor, indices: Tensor, output_size: list[int] | None = None) -> Tensor:
        unpool = getattr(F, f"max_unpool{self.ndim}d")
        return unpool(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


for _ndim in (1, 2, 3):
    globals()[f"MaxUnpool{_ndim}d"] = type(f"MaxUnpool{_ndim}d", (_MaxUnpool,), {"__module__": __name__, "ndim": _ndim})
    __all__.append(f"MaxUnpool{_ndim}d")
"""The inverse of a max pooling: it puts each value back at the index that the pooling returned, and 0 elsewhere."""


class _AvgPool1d(_AvgPool):
    def convert(self, settings: dict[str, Any]) -> dict[str, Any]:
        settings, names = super().convert(settings), ("kernel_size", "stride", "padding")
        return settings | {n: (settings[n],) if isinstance(settings[n], int) else settings[n] for n in names}


define(
    _AvgPool1d,
    {"AvgPool1d": lambda kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True: F.avg_pool1d},
)


define(
    Stateless,
    {
        "AdaptiveAvgPool1d": lambda output_size: F.adaptive_avg_pool1d,
        "AdaptiveAvgPool2d": lambda output_size: F.adaptive_avg_pool2d,
        "AdaptiveMaxPool2d": lambda output_size, return_indices=False: F.adaptive_max_pool2d,
    },
)


class _Pad(_Unnamed):
    """One number is the padding on all sides."""

    def convert(self, settings: dict[str, Any]) -> dict[str, Any]:
        number = settings["padding"]
        return {**settings, "padding": (number,) * self.sides if isinstance(number, int) else tuple(number)}

    def _call(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self.mode, getattr(self, "value", None))


PADDINGS = {"Circular": "circular", "Reflection": "reflect", "Replication": "replicate"}
for _dims in (1, 2, 3):
    for _kind, _mode in PADDINGS.items():
        _base = type(f"_{_kind}Pad", (_Pad,), {"mode": _mode, "sides": 2 * _dims})
        define(_base, {f"{_kind}Pad{_dims}d": lambda padding: None})
    _base = type("_ConstantPad", (_Pad,), {"mode": "constant", "sides": 2 * _dims, "extra_repr": Stateless.extra_repr})
    define(_base, {f"ConstantPad{_dims}d": lambda padding, value: None})
    _base = type("_ZeroPad", (globals()[f"ConstantPad{_dims}d"],), {"value": 0, "extra_repr": _Unnamed.extra_repr})
    define(_base, {f"ZeroPad{_dims}d": lambda padding: None})
"""Padding of the last dimensions, by one number or by one for each side. `Constant` pads with `value`, `Zero` with 0,
`Circular` with the other end, `Reflection` with the mirrored elements without the edge, `Replication` with the edge."""

# Distances and losses ------------------------------------------------------------------------------------------------


class _Loss(_Silent, row=lambda size_average=None, reduce=None, reduction="mean": None):
    """`size_average` and `reduce` are deprecated forms of `reduction`. A weight is a buffer, which is saved with the module.
    `repr` shows nothing."""

    def convert(self, settings: dict[str, Any]) -> dict[str, Any]:
        size_average, reduce = settings.pop("size_average", None), settings.pop("reduce", None)
        if size_average is not None or reduce is not None:
            settings["reduction"] = F._legacy_reduction(size_average, reduce)
        for name in {"weight", "pos_weight"} & {*settings}:
            self.register_buffer(name, settings.pop(name))
        return settings

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return self._call(input, target)


def like(function: Callable) -> Callable:
    """The row of a function: its parameters that have a default are the settings."""
    parameters = inspect.signature(function).parameters.values()

    def row(**settings: Any) -> Callable:
        return function

    row.__signature__ = inspect.Signature([p for p in parameters if p.default is not p.empty])  # type: ignore[attr-defined]
    return row


define(
    _Loss,
    {
        "BCELoss": like(F.binary_cross_entropy),
        "BCEWithLogitsLoss": like(F.binary_cross_entropy_with_logits),
        "CrossEntropyLoss": like(F.cross_entropy),
        "HingeEmbeddingLoss": like(F.hinge_embedding_loss),
        "HuberLoss": lambda reduction="mean", delta=1.0: F.huber_loss,
        "KLDivLoss": like(F.kl_div),
        "L1Loss": lambda size_average=None, reduce=None, reduction="mean": F.l1_loss,
        "MSELoss": lambda size_average=None, reduce=None, reduction="mean": F.mse_loss,
        "MultiLabelMarginLoss": like(F.multilabel_margin_loss),
        "MultiLabelSoftMarginLoss": like(F.multilabel_soft_margin_loss),
        "MultiMarginLoss": like(F.multi_margin_loss),
        "NLLLoss": like(F.nll_loss),
        "PoissonNLLLoss": like(F.poisson_nll_loss),
        "SmoothL1Loss": like(F.smooth_l1_loss),
        "SoftMarginLoss": like(F.soft_margin_loss),
    },
)


class _Named(_Loss):
    """The names of the inputs are those of the function."""

    def forward(self, *inputs: Tensor, **named: Tensor) -> Tensor:
        return self._call(*inputs, **named)


define(
    _Named,
    {
        "CTCLoss": like(F.ctc_loss),
        "CosineEmbeddingLoss": like(F.cosine_embedding_loss),
        "CosineSimilarity": lambda dim=1, eps=1e-8: F.cosine_similarity,
        "GaussianNLLLoss": lambda *, full=False, eps=1e-6, reduction="mean": F.gaussian_nll_loss,
        "MarginRankingLoss": like(F.margin_ranking_loss),
        "PairwiseDistance": lambda p=2.0, eps=1e-6, keepdim=False: F.pairwise_distance,
        "TripletMarginLoss": like(F.triplet_margin_loss),
        "TripletMarginWithDistanceLoss": like(F.triplet_margin_with_distance_loss),
    },
)
