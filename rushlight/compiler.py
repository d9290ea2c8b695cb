"""What a program asks about its own compilation. In PyTorch: `torch/compiler/`. Left out: stances, caches, settings of guards."""

from collections.abc import Callable
from typing import Any

__all__ = ["compile", "disable", "is_compiling", "is_dynamo_compiling", "is_exporting", "reset"]

_exporting = False


def compile(*args: Any, **kwargs: Any) -> Any:
    """`torch.compile`."""
    from rushlight.dynamo import eval_frame

    return eval_frame.compile(*args, **kwargs)


def disable(fn: Callable | None = None) -> Callable:
    """Return a function that is never captured, or, without one, the decorator."""
    from rushlight.dynamo import eval_frame

    return eval_frame.disable if fn is None else eval_frame.disable(fn)


def reset() -> None:
    """Forget all that was captured."""
    from rushlight.dynamo import eval_frame

    eval_frame.reset()


def is_dynamo_compiling() -> bool:
    """Whether the call is captured by `compile`, which has a rule for this function: Python's own answer is False."""
    return False


def is_exporting() -> bool:
    """Whether the call is made by `torch.export.export`."""
    return _exporting


def is_compiling() -> bool:
    """Whether the call is captured by `compile`, or made by `torch.export.export`."""
    return _exporting
