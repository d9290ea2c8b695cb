"""Weights that a forward pre-hook computes from other tensors before each call of a module.

`weight_norm` splits a weight into its length g and its direction v. `spectral_norm` divides a weight by its largest singular
value, which power iteration estimates. In PyTorch: `torch/nn/utils/weight_norm.py` and `spectral_norm.py`.
"""

import warnings
from functools import partial
from typing import Any, TypeVar

from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.autograd.grad_mode import no_grad
from rushlight.nn.modules.module import Module
from rushlight.nn.parameter import Parameter

AnyModule = TypeVar("AnyModule", bound=Module)


class _Hook:
    """The hook of the parameter `name`. A subclass computes it from the tensors of the module whose names end in `suffixes`."""

    kind: str
    suffixes: tuple[str, ...]

    def __init__(self, module: Module, name: str, **settings: Any) -> None:
        if any(type(hook) is type(self) and hook.name == name for hook in module._forward_pre_hooks.values()):
            raise RuntimeError(f"Cannot register two {self.kind} hooks on the same parameter {name}")
        self.name = name
        self.__dict__.update(settings)
        self.split(module, module._parameters.pop(name))
        module.register_forward_pre_hook(self)

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute(module, *(getattr(module, self.name + end) for end in self.suffixes)))

    def split(self, module: Module, weight: Tensor) -> None:
        raise NotImplementedError

    def compute(self, module: Module, *tensors: Tensor) -> Tensor:
        raise NotImplementedError


def _remove(kind: type[_Hook], module: AnyModule, name: str = "weight") -> AnyModule:
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, kind) and hook.name == name:
            was_training = module.training
            with no_grad():
                hook(module.eval(), ())  # without another power iteration
            weight = getattr(module.train(was_training), name)
            for suffix in ("", *hook.suffixes):
                delattr(module, name + suffix)
            module.register_parameter(name, Parameter(weight))
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"{kind.kind} of '{name}' not found in {module}")


class WeightNorm(_Hook):
    kind, suffixes = "weight_norm", ("_g", "_v")

    def norm(self, v: Tensor) -> Tensor:
        """The norm over all dimensions but one, or over all if `dim` is -1. Source: `norm_except_dim`."""
        norm = functions.linalg_vector_norm(v, 2, [dim for dim in range(v.dim()) if dim != self.dim], True)
        return norm.reshape(()) if self.dim == -1 else norm

    def split(self, module: Module, weight: Tensor) -> None:
        module.register_parameter(f"{self.name}_g", Parameter(self.norm(weight).detach()))
        module.register_parameter(f"{self.name}_v", Parameter(weight.detach()))
        self(module, ())

    def compute(self, module: Module, g: Tensor, v: Tensor) -> Tensor:
        return v * (g / self.norm(v))


def weight_norm(module: AnyModule, name: str = "weight", dim: int | None = 0) -> AnyModule:
    """Source: `torch/nn/utils/weight_norm.py`, `weight_norm`."""
    new = "`torch.nn.utils.parametrizations.weight_norm`"
    warnings.warn(f"`torch.nn.utils.weight_norm` is deprecated in favor of {new}.", FutureWarning, stacklevel=2)
    WeightNorm(module, name, dim=-1 if dim is None else dim)
    return module


class SpectralNorm(_Hook):
    kind, suffixes = "spectral_norm", ("_orig", "_u", "_v")

    def matrix(self, weight: Tensor) -> Tensor:
        return weight.movedim(self.dim, 0).flatten(1)

    def unit(self, vector: Tensor) -> Tensor:
        return vector / functions.linalg_vector_norm(vector).clamp(min=self.eps)

    def split(self, module: Module, weight: Tensor) -> None:
        module.register_parameter(f"{self.name}_orig", weight)
        setattr(module, self.name, weight.detach())
        for suffix, size in zip("uv", self.matrix(weight.detach()).shape):
            start = functions.empty(size, dtype=weight.dtype).normal_()
            module.register_buffer(f"{self.name}_{suffix}", self.unit(start))

    def compute(self, module: Module, weight: Tensor, u: Tensor, v: Tensor) -> Tensor:
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
    SpectralNorm(module, name, n_power_iterations=n_power_iterations, eps=eps, dim=dim)
    return module


remove_weight_norm, remove_spectral_norm = partial(_remove, WeightNorm), partial(_remove, SpectralNorm)
