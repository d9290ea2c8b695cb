"""Weights that a forward pre-hook computes from other tensors before each call of a module.

`weight_norm` splits a weight into its length g and its direction v. `spectral_norm` divides a weight by its largest singular
value, which power iteration estimates. In PyTorch: `torch/nn/utils/weight_norm.py` and `spectral_norm.py`.
"""

from __future__ import annotations

import warnings
from typing import Any, TypeVar

from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.autograd.grad_mode import no_grad
from rushlight.nn.modules.module import Module
from rushlight.nn.parameter import Parameter

AnyModule = TypeVar("AnyModule", bound=Module)


class _Hook:
    """The hook of the parameter `name`. A subclass defines `compute_weight`, and the `suffixes` of the tensors it reads."""

    suffixes: tuple[str, ...]

    def __init__(self, name: str, **settings: Any) -> None:
        self.name = name
        self.__dict__.update(settings)

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))

    def tensors(self, module: Module) -> list[Tensor]:
        return [getattr(module, self.name + suffix) for suffix in self.suffixes]

    def compute_weight(self, module: Module) -> Tensor:
        raise NotImplementedError

    def take(self, module: Module) -> Tensor:
        """Remove the parameter from the module, and return it."""
        if any(type(hook) is type(self) and hook.name == self.name for hook in module._forward_pre_hooks.values()):
            kind = self.kind
            raise RuntimeError(f"Cannot register two {kind} hooks on the same parameter {self.name}")
        return module._parameters.pop(self.name)

    @classmethod
    def remove(cls, module: AnyModule, name: str) -> AnyModule:
        for key, hook in module._forward_pre_hooks.items():
            if isinstance(hook, cls) and hook.name == name:
                was_training = module.training
                with no_grad():
                    weight = hook.compute_weight(module.eval())  # without another power iteration
                module.train(was_training)
                for suffix in ("", *hook.suffixes):
                    delattr(module, name + suffix)
                module.register_parameter(name, Parameter(weight))
                del module._forward_pre_hooks[key]
                return module
        raise ValueError(f"{cls.kind} of '{name}' not found in {module}")


class WeightNorm(_Hook):
    kind, suffixes = "weight_norm", ("_g", "_v")

    def norm(self, v: Tensor) -> Tensor:
        """The norm over all dimensions but one, or over all if `dim` is -1. Source: `norm_except_dim`."""
        others = [dim for dim in range(v.dim()) if dim != self.dim]
        norm = functions.linalg_vector_norm(v, 2, others, True)
        return norm.reshape(()) if self.dim == -1 else norm

    def compute_weight(self, module: Module) -> Tensor:
        g, v = self.tensors(module)
        return v * (g / self.norm(v))


def weight_norm(module: AnyModule, name: str = "weight", dim: int | None = 0) -> AnyModule:
    """Source: `torch/nn/utils/weight_norm.py`, `weight_norm`."""
    new = "`torch.nn.utils.parametrizations.weight_norm`"
    warnings.warn(f"`torch.nn.utils.weight_norm` is deprecated in favor of {new}.", FutureWarning, stacklevel=2)
    hook = WeightNorm(name, dim=-1 if dim is None else dim)
    weight = hook.take(module)
    module.register_parameter(f"{name}_g", Parameter(hook.norm(weight).detach()))
    module.register_parameter(f"{name}_v", Parameter(weight.detach()))
    hook(module, ())
    module.register_forward_pre_hook(hook)
    return module


class SpectralNorm(_Hook):
    kind, suffixes = "spectral_norm", ("_orig", "_u", "_v")

    def matrix(self, weight: Tensor) -> Tensor:
        return weight.movedim(self.dim, 0).flatten(1)

    def unit(self, vector: Tensor) -> Tensor:
        return vector / functions.linalg_vector_norm(vector).clamp(min=self.eps)

    def compute_weight(self, module: Module) -> Tensor:
        weight, u, v = self.tensors(module)
        matrix = self.matrix(weight)
        if module.training:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(self.unit(functions.mv(matrix.t(), u)))
                    u.copy_(self.unit(functions.mv(matrix, v)))
            u, v = u.clone(), v.clone()
        return weight / functions.dot(u, functions.mv(matrix, v))


def spectral_norm(
    module: AnyModule, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> AnyModule:
    """Source: `torch/nn/utils/spectral_norm.py`, `spectral_norm`."""
    if n_power_iterations <= 0:
        raise ValueError(f"Expected n_power_iterations to be positive, but got {n_power_iterations=}")
    dim = int(getattr(module, "transposed", False)) if dim is None else dim
    hook = SpectralNorm(name, n_power_iterations=n_power_iterations, eps=eps, dim=dim)
    weight = hook.take(module)
    with no_grad():
        u, v = (hook.unit(functions.empty(size, dtype=weight.dtype).normal_()) for size in hook.matrix(weight).shape)
    module.register_parameter(f"{name}_orig", weight)
    setattr(module, name, weight.detach())
    module.register_buffer(f"{name}_u", u)
    module.register_buffer(f"{name}_v", v)
    module.register_forward_pre_hook(hook)
    return module


def remove_weight_norm(module: AnyModule, name: str = "weight") -> AnyModule:
    return WeightNorm.remove(module, name)


def remove_spectral_norm(module: AnyModule, name: str = "weight") -> AnyModule:
    return SpectralNorm.remove(module, name)
