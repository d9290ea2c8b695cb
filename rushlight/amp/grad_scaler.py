"""Gradient scaling: small float16 gradients would become 0, so the loss is multiplied by a large scale.

The gradients are divided by the scale before the optimizer's step. If one is infinite or NaN, the scale was too large: the step is
skipped, and the scale is reduced. After a number of steps without that, the scale grows. In PyTorch: `torch/amp/grad_scaler.py`.
Left out: the device "cuda" (there, as in PyTorch without a GPU, scaling is disabled), optimizers that scale themselves.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.autograd.grad_mode import no_grad
from rushlight.c10.dtypes import float16, float32


class GradScaler:
    """Source: `torch/amp/grad_scaler.py`, `GradScaler`."""

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        if device == "cuda" and enabled:
            problem = "torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling."
            warnings.warn(problem, stacklevel=2)
            enabled = False
        self._device, self._enabled = device, enabled
        if enabled and growth_factor <= 1:
            raise AssertionError("The growth factor must be > 1.0.")
        if enabled and backoff_factor >= 1:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._init_scale, self._scale = init_scale, None
        self._growth_factor, self._backoff_factor, self._growth_interval = (
            growth_factor,
            backoff_factor,
            growth_interval,
        )
        self._growth_tracker = 0  # the steps without an infinite gradient since the scale changed
        self._found_inf: dict[int, bool] = {}  # by the id of each optimizer whose gradients are unscaled
        self._stepped: set[int] = set()

    def scale(self, outputs: Tensor | Iterable) -> Any:
        """Multiply a loss, or all tensors of an iterable, by the scale."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            if self._scale is None:
                self._scale = functions.full((), self._init_scale, dtype=float32)
            return outputs * self._scale
        if not isinstance(outputs, Iterable):
            raise ValueError("outputs must be a Tensor or an iterable of Tensors")
        scaled = map(self.scale, outputs)
        return type(outputs)(scaled) if isinstance(outputs, (list, tuple)) else scaled

    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients of the optimizer's parameters by the scale, and record whether all of them are finite."""
        if not self._enabled:
            return
        self._check_scale("unscale_")
        if id(optimizer) in self._stepped:
            raise RuntimeError("unscale_() is being called after step().")
        if id(optimizer) in self._found_inf:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        inverse, found = self._scale.double().reciprocal().float(), False
        grads = [param.grad for group in optimizer.param_groups for param in group["params"] if param.grad is not None]
        for grad in grads:
            if grad.dtype is float16:
                raise ValueError("Attempting to unscale FP16 gradients.")
            with no_grad():
                found = found or not functions.isfinite(grad).all().item()
                grad.mul_(inverse)
        if grads:
            self._found_inf[id(optimizer)] = found

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """Unscale the gradients, unless they are already unscaled. If they are finite, return `optimizer.step(*args, **kwargs)`."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check_scale("step")
        if id(optimizer) in self._stepped:
            raise RuntimeError("step() has already been called since the last update().")
        if id(optimizer) not in self._found_inf:
            self.unscale_(optimizer)
        if id(optimizer) not in self._found_inf:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        result = None if self._found_inf[id(optimizer)] else optimizer.step(*args, **kwargs)
        self._stepped.add(id(optimizer))
        return result

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Set the scale for the next iteration.
        Source: `aten/src/ATen/native/cuda/AmpKernels.cu`, `amp_update_scale_cuda_kernel`."""
        if not self._enabled:
            return
        self._check_scale("update")
        if new_scale is not None:
            self._scale.fill_(float(new_scale))
        elif not self._found_inf:
            raise AssertionError("No inf checks were recorded prior to update.")
        elif any(self._found_inf.values()):
            self._scale.mul_(self._backoff_factor)
            self._growth_tracker = 0
        else:
            self._growth_tracker += 1
            if self._growth_tracker == self._growth_interval:
                grown = self._scale * self._growth_factor
                self._scale = grown if functions.isfinite(grown).item() else self._scale
                self._growth_tracker = 0
        self._found_inf, self._stepped = {}, set()

    def _check_scale(self, function: str) -> None:
        if self._scale is None:
            fix = "This may indicate your script did not use scaler.scale(loss or outputs) earlier in the iteration."
            raise AssertionError(f"Attempted {function} but _scale is None.  {fix}")

    def get_scale(self) -> float:
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else self._scale.item()

    def is_enabled(self) -> bool:
        return self._enabled

    def get_growth_factor(self) -> float:
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        self._growth_interval = new_interval

    def state_dict(self) -> dict[str, Any]:
        if not self._enabled:
            return {}
        names = ("growth_factor", "backoff_factor", "growth_interval")
        settings = {name: getattr(self, f"_{name}") for name in names}
        return {"scale": self.get_scale(), **settings, "_growth_tracker": self._growth_tracker}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled GradScaler."
            )
        self._init_scale = state_dict["scale"]
        if self._scale is not None:
            self._scale.fill_(self._init_scale)
        self._growth_factor, self._backoff_factor = state_dict["growth_factor"], state_dict["backoff_factor"]
        self._growth_interval, self._growth_tracker = state_dict["growth_interval"], state_dict["_growth_tracker"]
