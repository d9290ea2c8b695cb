"""What is recorded, and what is not.

In PyTorch: `torch/autograd/grad_mode.py`, `c10/core/GradMode.h`, `c10/core/InferenceMode.h`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ContextDecorator

from rushlight.dispatch import BIT, INFERENCE_KEYS, local

__all__ = [
    "no_grad",
    "enable_grad",
    "set_grad_enabled",
    "inference_mode",
    "is_grad_enabled",
    "is_inference_mode_enabled",
]

AUTOGRAD = BIT["AutogradFunctionality"]


class set_grad_enabled(ContextDecorator):
    """From now on, or within: whether a graph is recorded. Source: `torch/autograd/grad_mode.py`."""

    def __init__(self, mode: bool) -> None:
        self.mode, self.before, local.grad_enabled = mode, local.grad_enabled, mode

    def __enter__(self) -> None:
        local.grad_enabled = self.mode

    def __exit__(self, *_: object) -> None:
        local.grad_enabled = self.before


class _GradMode(ContextDecorator):
    mode: bool

    def __new__(cls, function: Callable | None = None):
        self = super().__new__(cls)
        self.before = []
        return self if function is None else self(function)

    def __enter__(self) -> None:
        self.before.append(local.grad_enabled)
        local.grad_enabled = self.mode

    def __exit__(self, *_: object) -> None:
        local.grad_enabled = self.before.pop()


class no_grad(_GradMode):
    """Within: no graph is recorded."""

    mode = False


class enable_grad(_GradMode):
    """Within: a graph is recorded, also inside `no_grad`."""

    mode = True


class inference_mode(ContextDecorator):
    """Within: no graph, no versions, no record of views. Tensors that are made within are never part of a graph.

    Source: `c10/core/InferenceMode.h`.
    """

    def __init__(self, mode: bool = True) -> None:
        self.mode, self.before = mode, []

    def __enter__(self) -> None:
        self.before.append((local.grad_enabled, local.excluded, local.included, local.inference, local.tensor_keys))
        if self.mode:
            local.grad_enabled, local.inference, local.tensor_keys = False, True, INFERENCE_KEYS
            local.excluded |= AUTOGRAD
            local.included &= ~BIT["ADInplaceOrView"]

    def __exit__(self, *_: object) -> None:
        local.grad_enabled, local.excluded, local.included, local.inference, local.tensor_keys = self.before.pop()


def is_grad_enabled() -> bool:
    return local.grad_enabled


def is_inference_mode_enabled() -> bool:
    return local.inference
