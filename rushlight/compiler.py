"""What a program asks about its own compilation. In PyTorch: `torch/compiler/`. Left out: stances, caches, settings of guards."""

from collections.abc import Callable
from typing import Any

import rushlight as rl  # the compiler itself is slow to import

__all__ = ["compile", "disable", "is_compiling", "is_dynamo_compiling", "is_exporting", "reset"]

_exporting = False


def compile(*args: Any, **kwargs: Any) -> Any:
    """`torch.compile`."""
    return rl.compile(*args, **kwargs)


def disable(fn: Callable | None = None) -> Callable:
    """Return a function that is never captured, or, without one, the decorator."""
    return rl.dynamo.disable if fn is None else rl.dynamo.disable(fn)


def reset() -> None:
    """Forget all that was captured."""
    rl.dynamo.reset()


def is_dynamo_compiling() -> bool:
    """Whether the call is captured by `compile`, which has a rule for this function: Python's own answer is False."""
    return False


def is_exporting() -> bool:
    """Whether the call is made by `torch.export.export`."""
    return _exporting


def is_compiling() -> bool:
    """Whether the call is captured by `compile`, or made by `torch.export.export`."""
    return _exporting
