"""`TorchDispatchMode`, and helpers of subclasses with a `__torch_dispatch__`. In PyTorch: `torch/utils/_python_dispatch.py`.
Left out: modes of the infrastructure, and `return_and_correct_aliasing`."""

from rushlight.aten.strided import Tensor
from rushlight.c10.dispatch import DispatchMode as TorchDispatchMode
from rushlight.c10.dispatch import local

__all__ = ["TorchDispatchMode", "is_traceable_wrapper_subclass"]


def _get_current_dispatch_mode() -> TorchDispatchMode | None:
    """The innermost mode."""
    return local.modes[-1] if local.modes else None


def _get_current_dispatch_mode_stack() -> list[TorchDispatchMode]:
    """The active modes of `__torch_dispatch__`, the innermost last. Source: `torch/utils/_python_dispatch.py`,
    `_get_current_dispatch_mode_stack`."""
    return list(local.modes)


def is_traceable_wrapper_subclass(t: object) -> bool:
    """Whether an object is a tensor of a subclass that `torch.compile` could take apart."""
    is_subclass = isinstance(t, Tensor) and type(t) is not Tensor
    return is_subclass and hasattr(t, "__tensor_flatten__") and hasattr(t, "__tensor_unflatten__")
