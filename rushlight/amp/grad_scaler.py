"""Gradient scaling: small float16 gradients would become 0, so the loss is multiplied by a large scale.

The gradients are divided by the scale before the optimizer's step. If one is infinite or NaN, the scale was too large: the step is
skipped, and the scale is reduced. After a number of steps without that, the scale grows. In PyTorch: `torch/amp/grad_scaler.py`.
Left out: the device "cuda" (there, as in PyTorch without a GPU, scaling is disabled).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.autograd.grad_mode import no_grad
from rushlight.c10.dtypes import float16, float32
from rushlight.c10.exception import warn


def unscale_grads(grads: Sequence[Tensor], scale: Tensor) -> bool:
    """Divide gradients by the scale, in place, and say whether one of them has an infinite or NaN element.

    All gradients are divided, also those after the first bad one: a program may look at them. The division is a multiplication by
    1 / scale, rounded to float32 whatever the gradients' type is.

    Args:
        grads: float32 or float64, changed.
        scale: float32, without dimensions.

    Returns:
        a bool: whether any element was infinite or NaN before the division.

    >>> grads = [rl.tensor([8.0, 4.0]), rl.tensor([rl.inf])]
    >>> unscale_grads(grads, rl.tensor(4.0)), grads[0].tolist()
    (True, [2.0, 1.0])

    Source: `aten/src/ATen/native/AmpKernels.cpp`, `_amp_foreach_non_finite_check_and_unscale_cpu_`.
    """
    inverse, found_inf = scale.double().reciprocal().float(), False
    for grad in grads:
        found_inf = found_inf or not functions.isfinite(grad).all().item()
        grad.mul_(inverse)
    return found_inf


def update_scale(
    scale: Tensor,
    growth_tracker: int,
    found_inf: bool,
    growth_factor: float,
    backoff_factor: float,
    growth_interval: int,
) -> int:
    """Set the scale for the next step, in place, and return the new growth tracker.

    The tracker counts the steps in a row with finite gradients.

    - After a step with an infinite or NaN gradient, the scale is multiplied by `backoff_factor`, and the tracker is 0.
    - After another step the tracker grows by 1. If it is then equal to `growth_interval`, the scale is multiplied by
      `growth_factor`, and the tracker is 0. But if the product is infinite in float32, the scale stays, and only the
      tracker becomes 0.

    A factor that float32 has exactly, such as 2 or 0.5, gives PyTorch's scale. For others the last bit may differ, because PyTorch
    multiplies in float64 and rounds once.

    Args:
        scale: float32, without dimensions, changed.
        growth_tracker: before the step.
        found_inf: whether the step had an infinite or NaN gradient.

    Returns:
        an int.

    >>> scale = rl.tensor(8.0)
    >>> update_scale(scale, 2, False, 2.0, 0.5, 3), scale.item()
    (0, 16.0)

    Source: `aten/src/ATen/native/AmpKernels.cpp`, `_amp_update_scale_cpu_`.
    """
    if found_inf:
        scale.mul_(backoff_factor)
        return 0
    growth_tracker += 1
    if growth_tracker != growth_interval:
        return growth_tracker
    grown = scale * growth_factor
    if functions.isfinite(grown).item():
        scale.copy_(grown)
    return 0


def _getter_and_setter(name: str) -> tuple[Callable[[Any], Any], Callable[[Any, Any], None]]:
    """Two methods, for an attribute of this name."""
    return lambda self: getattr(self, name), lambda self, new: setattr(self, name, new)


class GradScaler:
    """Scale the loss, so that small gradients do not become 0 in half precision.

    Source: `torch/amp/grad_scaler.py`, `GradScaler`.
    """

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
            warn(problem)
            enabled = False
        self._device, self._enabled = device, enabled
        if enabled and growth_factor <= 1:
            raise AssertionError("The growth factor must be > 1.0.")
        if enabled and backoff_factor >= 1:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._init_scale, self._scale = init_scale, None
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval = growth_interval
        # The steps without an infinite gradient since the scale changed: at first, and since there is a scale.
        self._init_growth_tracker, self._growth_tracker = 0, None
        self._found_inf: dict[int, bool] = {}  # by the id of each optimizer whose gradients are unscaled
        self._stepped: set[int] = set()

    def scale(self, outputs: Tensor | Iterable) -> Any:
        """Multiply a loss, or all tensors of an iterable, by the scale."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            if self._scale is None:
                self._growth_tracker = self._init_growth_tracker
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
        grads = [param.grad for group in optimizer.param_groups for param in group["params"] if param.grad is not None]
        if any(grad.dtype is float16 for grad in grads):
            raise ValueError("Attempting to unscale FP16 gradients.")
        if grads:
            with no_grad():
                self._found_inf[id(optimizer)] = unscale_grads(grads, self._scale)

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """Unscale the gradients, unless they are already unscaled. If they are finite, return `optimizer.step(*args, **kwargs)`."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check_scale("step")
        if id(optimizer) in self._stepped:
            raise RuntimeError("step() has already been called since the last update().")
        if getattr(optimizer, "_step_supports_amp_scaling", False):
            result = self._step_that_scales(optimizer, *args, **kwargs)
            self._stepped.add(id(optimizer))
            return result
        if id(optimizer) not in self._found_inf:
            self.unscale_(optimizer)
        if id(optimizer) not in self._found_inf:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        result = None if self._found_inf[id(optimizer)] else optimizer.step(*args, **kwargs)
        self._stepped.add(id(optimizer))
        return result

    def _step_that_scales(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """The step of an optimizer that unscales the gradients and skips the step itself."""
        if "grad_scaler" in inspect.signature(optimizer.step).parameters:
            soon = "In the near future GradScaler registers `grad_scale: Tensor` and `found_inf: Tensor` to the passed"
            problem = "GradScaler is going to stop passing itself as a keyword argument to the passed optimizer."
            warn(f"{problem} {soon} optimizer and let the optimizer use them directly.", FutureWarning)
            return optimizer.step(*args, **kwargs, grad_scaler=self)
        is_unscaled, scale = id(optimizer) in self._found_inf, getattr(optimizer, "grad_scale", None)
        if not is_unscaled:
            grads = [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
            self._found_inf[id(optimizer)] = not all(functions.isfinite(grad).all().item() for grad in grads)
            scale = self._scale * (1 if scale is None else scale)
        optimizer.grad_scale, optimizer.found_inf = scale, functions.full((), float(self._found_inf[id(optimizer)]))
        try:
            return optimizer.step(*args, **kwargs)
        finally:
            del optimizer.grad_scale, optimizer.found_inf

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
        else:
            found_inf = any(self._found_inf.values())
            factors = self._growth_factor, self._backoff_factor, self._growth_interval
            self._growth_tracker = update_scale(self._scale, self._growth_tracker, found_inf, *factors)
        self._found_inf, self._stepped = {}, set()

    def _check_scale(self, function: str) -> None:
        if self._scale is None:
            fix = "This may indicate your script did not use scaler.scale(loss or outputs) earlier in the iteration."
            raise AssertionError(f"Attempted {function} but _scale is None.  {fix}")

    def get_scale(self) -> float:
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else self._scale.item()

    def _get_growth_tracker(self) -> int:
        return self._init_growth_tracker if self._growth_tracker is None else self._growth_tracker

    def is_enabled(self) -> bool:
        return self._enabled

    get_growth_factor, set_growth_factor = _getter_and_setter("_growth_factor")
    get_backoff_factor, set_backoff_factor = _getter_and_setter("_backoff_factor")
    get_growth_interval, set_growth_interval = _getter_and_setter("_growth_interval")

    def state_dict(self) -> dict[str, Any]:
        if not self._enabled:
            return {}
        names = ("growth_factor", "backoff_factor", "growth_interval")
        settings = {name: getattr(self, f"_{name}") for name in names}
        return {"scale": self.get_scale(), **settings, "_growth_tracker": self._get_growth_tracker()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled GradScaler."
            )
        self._init_scale = state_dict["scale"]
        self._init_growth_tracker = state_dict["_growth_tracker"]
        if self._scale is not None:
            self._scale.fill_(self._init_scale)
            self._growth_tracker = self._init_growth_tracker
        self._growth_factor, self._backoff_factor = state_dict["growth_factor"], state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
