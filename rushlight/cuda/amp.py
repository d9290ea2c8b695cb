"""Mixed precision for CUDA by its older names, which warn and do nothing without a GPU. In PyTorch: `torch/cuda/amp/`."""

from rushlight import amp
from rushlight.c10.dtypes import dtype, float16
from rushlight.c10.exception import warn

__all__ = ["GradScaler", "autocast"]


class autocast(amp.autocast):  # noqa: N801
    """`amp.autocast` for the device type `cuda`. Source: `torch/cuda/amp/autocast_mode.py`, `autocast`."""

    def __init__(self, enabled: bool = True, dtype: dtype = float16, cache_enabled: bool = True) -> None:
        warn("torch.cuda.amp.autocast is deprecated: use torch.amp.autocast('cuda')", FutureWarning)
        super().__init__("cuda", dtype, enabled, cache_enabled)


class GradScaler(amp.GradScaler):
    """`amp.GradScaler` for the device type `cuda`. Source: `torch/cuda/amp/grad_scaler.py`, `GradScaler`."""

    def __init__(
        self, init_scale: float = 2.0**16, growth_factor: float = 2.0, backoff_factor: float = 0.5,
        growth_interval: int = 2000, enabled: bool = True,
    ) -> None:  # fmt: skip
        warn("torch.cuda.amp.GradScaler is deprecated: use torch.amp.GradScaler('cuda')", FutureWarning)
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)
