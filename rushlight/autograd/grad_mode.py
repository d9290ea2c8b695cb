"""What is recorded, and what is not.

In PyTorch: `torch/autograd/grad_mode.py`, `c10/core/GradMode.h`, `c10/core/InferenceMode.h`. Left out: the modes as decorators of
generators.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ContextDecorator
from typing import Any

from rushlight.c10.dispatch import BIT, INFERENCE_KEYS, TENSOR_KEYS, local

__all__ = [
    "no_grad",
    "enable_grad",
    "set_grad_enabled",
    "inference_mode",
    "is_grad_enabled",
    "is_inference_mode_enabled",
]

AUTOGRAD = BIT["AutogradFunctionality"]


def recording(enabled: bool) -> Iterator[None]:
    """Generator of a block in which grad mode, `local.grad_enabled`, is `enabled`: it yields once, for the block. However that
    ends, with an exception too, grad mode is afterwards what it was before.

    Source: `c10/core/GradMode.h`, `AutoGradMode`.
    """
    before, local.grad_enabled = local.grad_enabled, enabled
    try:
        yield
    finally:
        local.grad_enabled = before


def inferring(enabled: bool) -> Iterator[None]:
    """Generator of a block in inference mode, or, if not `enabled`, of one outside it again. It yields once, for the block;
    afterwards, and if the block raises, `local` is as it was.

    Of `local` it sets:

    - `inference`: `enabled`; and `grad_enabled`: the contrary;
    - `tensor_keys`, the keys of new tensors by device: `INFERENCE_KEYS`, or else `TENSOR_KEYS`;
    - `excluded`: with `AUTOGRAD`, or else without;
    - `included`: without `BIT["ADInplaceOrView"]`, or else with it.

    Source: `c10/core/InferenceMode.h`, `InferenceMode`.
    """
    before = local.inference, local.grad_enabled, local.tensor_keys, local.excluded, local.included
    local.inference, local.grad_enabled = enabled, not enabled
    if enabled:
        local.tensor_keys = INFERENCE_KEYS
        local.excluded |= AUTOGRAD
        local.included &= ~BIT["ADInplaceOrView"]
    else:
        local.tensor_keys = TENSOR_KEYS
        local.excluded &= ~AUTOGRAD
        local.included |= BIT["ADInplaceOrView"]
    try:
        yield
    finally:
        local.inference, local.grad_enabled, local.tensor_keys, local.excluded, local.included = before


class _Mode(ContextDecorator):
    """A block, or a decorator of functions, called or not: every call is a block of its own."""

    block = staticmethod(recording)
    mode: bool

    def __new__(cls, function: Callable | None = None):
        self = super().__new__(cls)
        self.entered = []
        return self(function) if callable(function) else self

    def __enter__(self) -> None:
        block = self.block(self.mode)
        next(block)
        self.entered.append(block)

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: Any) -> None:
        block = self.entered.pop()
        if error is None:
            next(block, None)
            return
        try:
            block.throw(error)
        except BaseException as raised:
            if raised is not error:
                raise


class no_grad(_Mode):
    """Within: no graph is recorded."""

    mode = False


class enable_grad(_Mode):
    """Within: a graph is recorded, also inside `no_grad`."""

    mode = True


class set_grad_enabled(ContextDecorator):
    """From now on, or within: whether a graph is recorded."""

    def __init__(self, mode: bool) -> None:
        self.mode, self.before, local.grad_enabled = mode, local.grad_enabled, mode

    def __call__(self, function: Callable) -> Callable:
        local.grad_enabled = self.before  # a decorator is about calls to come
        return super().__call__(function)

    def __enter__(self) -> None:
        local.grad_enabled = self.mode

    def __exit__(self, *_: object) -> None:
        local.grad_enabled = self.before


class inference_mode(_Mode):
    """Within: no graph, no versions, no record of views. Tensors that are made within are never part of a graph."""

    block, mode = staticmethod(inferring), True

    def __new__(cls, mode: bool | Callable = True):
        return super().__new__(cls, mode)

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode


def is_grad_enabled() -> bool:
    return local.grad_enabled


def is_inference_mode_enabled() -> bool:
    return local.inference
