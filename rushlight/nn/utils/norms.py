"""A weight that a forward pre-hook computes from its length g and its direction v before each call of a module.

In PyTorch: `torch/nn/utils/weight_norm.py`. Left out: `spectral_norm`.
"""

from typing import Any, TypeVar

from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.c10.exception import warn
from rushlight.nn.modules.module import Module
from rushlight.nn.parameter import Parameter

AnyModule = TypeVar("AnyModule", bound=Module)


class WeightNorm:
    """The hook of the parameter `name`."""

    def __init__(self, module: Module, name: str, dim: int) -> None:
        if any(type(hook) is WeightNorm and hook.name == name for hook in module._forward_pre_hooks.values()):
            raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
        self.name, self.dim = name, dim
        weight = module._parameters.pop(name)
        module.register_parameter(f"{name}_g", Parameter(self.norm(weight).detach()))
        module.register_parameter(f"{name}_v", Parameter(weight.detach()))
        self(module, ())
        module.register_forward_pre_hook(self)

    def __call__(self, module: Module, inputs: Any) -> None:
        g, v = getattr(module, f"{self.name}_g"), getattr(module, f"{self.name}_v")
        setattr(module, self.name, v * (g / self.norm(v)))

    def norm(self, v: Tensor) -> Tensor:
        """The norm over all dimensions but one, or over all if `dim` is -1. Source: `norm_except_dim`."""
        norm = functions.linalg_vector_norm(v, 2, [dim for dim in range(v.dim()) if dim != self.dim], True)
        return norm.reshape(()) if self.dim == -1 else norm


def weight_norm(module: AnyModule, name: str = "weight", dim: int | None = 0) -> AnyModule:
    """Replace a parameter of a module by its magnitude and its direction.

    Source: `torch/nn/utils/weight_norm.py`, `weight_norm`.
    """
    new = "`torch.nn.utils.parametrizations.weight_norm`"
    warn(f"`torch.nn.utils.weight_norm` is deprecated in favor of {new}.", FutureWarning)
    WeightNorm(module, name, -1 if dim is None else dim)
    return module


def remove_weight_norm(module: AnyModule, name: str = "weight") -> AnyModule:
    """Make the weight a parameter again."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            hook(module, ())
            weight = getattr(module, name)
            for suffix in ("", "_g", "_v"):
                delattr(module, name + suffix)
            module.register_parameter(name, Parameter(weight))
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"weight_norm of '{name}' not found in {module}")
