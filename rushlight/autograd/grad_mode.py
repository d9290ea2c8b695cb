"""Grad mode and inference mode: whether operators record a graph.

In PyTorch: `torch/autograd/grad_mode.py`, `torch/utils/_contextlib.py`, `c10/core/GradMode.h`, `c10/core/InferenceMode.h`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial, wraps
from typing import Any

from rushlight.c10.dispatch import BIT, INFERENCE_KEYS, TENSOR_KEYS, local
from rushlight.c10.exception import warn

__all__ = [
    "no_grad", "enable_grad", "set_grad_enabled", "inference_mode", "is_grad_enabled", "is_inference_mode_enabled",
    "is_inference",
]  # fmt: skip

AUTOGRAD = BIT["AutogradFunctionality"]


def recording(enabled: bool) -> Iterator[None]:
    """Generator of a block in which grad mode, `local.grad_enabled`, is `enabled`. It yields once, for the block. After the
    block, also after an exception of any class, such as KeyboardInterrupt, grad mode has its previous value.

    >>> [rl.is_grad_enabled() for _ in recording(False)], rl.is_grad_enabled()
    ([False], True)

    Source: `c10/core/GradMode.h`, `AutoGradMode`.
    """
    before, local.grad_enabled = local.grad_enabled, enabled
    try:
        yield
    finally:
        local.grad_enabled = before


def inferring(enabled: bool) -> Iterator[None]:
    """Generator of a block in inference mode or, if not `enabled`, of a block outside it again. It yields once, for the block.
    After the block, also after an exception of any class, `local` has its previous values.

    In the block, the state is that of torch in `inference_mode(enabled)`, whatever it was before. It is in five attributes of
    `local`: `inference` and `grad_enabled`, bools; `tensor_keys`, the keys of new tensors by device, which is `TENSOR_KEYS` or
    `INFERENCE_KEYS`; and `included` and `excluded`, the thread's key sets, integers. One of these two sets changes only in the key
    `BIT["ADInplaceOrView"]`, and the other one only in `AUTOGRAD`.

    >>> inside = [rl.ones(2) for _ in inferring(True)]
    >>> inside[0].is_inference(), rl.ones(2).is_inference()
    (True, False)

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


def context_decorator(make: Callable[[], AbstractContextManager], function: Callable) -> Callable:
    """Return the function with a block around each call. A generator function runs in a block from one `yield` to the next.
    Source: `torch/utils/_contextlib.py`, `context_decorator`."""
    if inspect.isclass(function):
        problem = "Decorating classes is deprecated and will be disabled in future versions."
        warn(f"{problem} Decorate the methods, or use a with statement.", FutureWarning)
    if inspect.isgeneratorfunction(function):
        return wrap_generator(make, function)

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with make():
            return function(*args, **kwargs)

    return call


def wrap_generator(make: Callable[[], AbstractContextManager], function: Callable) -> Callable:
    """A generator function that runs each step inside the context, and not what its caller does between the steps.
    Source: `torch/utils/_contextlib.py`, `_wrap_generator`."""

    @wraps(function)
    def generate(*args: Any, **kwargs: Any) -> Any:
        generator = function(*args, **kwargs)
        resume, value = generator.send, None
        while True:
            with make():
                try:
                    result = resume(value)
                except StopIteration as stop:
                    return stop.value
            try:
                resume, value = generator.send, (yield result)
            except GeneratorExit:
                with make():
                    generator.close()
                raise
            except BaseException as error:
                resume, value = generator.throw, error

    return generate


class _Mode:
    """A context manager, or a decorator of functions, with or without parentheses."""

    block = staticmethod(recording)
    mode: bool
    entered: list[Any]  # the generators of the blocks that have begun

    def __new__(cls, orig_func: Any = None):  # the function, if it is a decorator without parentheses
        self = super().__new__(cls)
        self.entered = []
        return self(orig_func) if callable(orig_func) else self

    def __call__(self, function: Callable) -> Callable:
        return context_decorator(type(self), function)  # a new manager for each call, because calls may overlap

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
            error.__traceback__ = traceback  # without this frame, which has the error: a cycle would keep tensors alive


class no_grad(_Mode):
    """In this block, no graph is recorded."""

    mode = False


class enable_grad(_Mode):
    """In this block, a graph is recorded, even inside `no_grad`."""

    mode = True


class set_grad_enabled:
    """Set whether a graph is recorded: from now on or, in a `with` statement, in its block."""

    def __init__(self, mode: bool) -> None:
        self.mode, self.before, local.grad_enabled = mode, local.grad_enabled, mode

    def __call__(self, orig_func: Callable) -> Callable:
        local.grad_enabled = self.before  # a decorator changes grad mode only during later calls
        return context_decorator(lambda: set_grad_enabled(self.mode), orig_func)

    def __enter__(self) -> None:
        local.grad_enabled = self.mode

    def __exit__(self, *_: object) -> None:
        local.grad_enabled = self.before


class inference_mode(_Mode):
    """In this block, no graph, no versions and no views are recorded. Tensors made in it have no version, never require grad, and
    are never saved for a backward pass."""

    block, mode = staticmethod(inferring), True

    def __new__(cls, mode: bool | Callable = True):
        return super().__new__(cls, mode)

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode

    def __call__(self, function: Callable) -> Callable:
        return context_decorator(partial(inference_mode, self.mode), function)


def is_grad_enabled() -> bool:
    """Whether operators record a graph now. Source: `torch/csrc/autograd/init.cpp`, `is_grad_enabled`."""
    return local.grad_enabled


def is_inference_mode_enabled() -> bool:
    """Whether this is an inference-mode block. Source: `torch/csrc/autograd/init.cpp`, `is_inference_mode_enabled`."""
    return local.inference


def is_inference(input: Any) -> bool:
    """Whether the tensor was made in inference mode. Source: `aten/src/ATen/native/TensorProperties.cpp`."""
    return not input._key_set & AUTOGRAD
