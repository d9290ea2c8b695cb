"""Lazy modules: layers that take some of their sizes from the first input.

Their parameters are registered without sizes (`parameter.py`). At the first call, a forward pre-hook sets the sizes and changes
the module's class to the ordinary one. In PyTorch: `torch/nn/modules/lazy.py`. Left out: lazy layers other than `LazyLinear`.
"""

from typing import Any

from rushlight.aten.strided import Tensor
from rushlight.autograd.grad_mode import no_grad
from rushlight.nn.modules.layers import Linear
from rushlight.nn.modules.module import Module
from rushlight.nn.parameter import Device, Dtype, UninitializedParameter, is_lazy

__all__ = ["LazyLinear"]


class LazyModuleMixin:
    """Base class of lazy modules. Inherit from it before the class that the module becomes.
    Source: `torch/nn/modules/lazy.py`, `LazyModuleMixin`."""

    cls_to_become: type[Module] | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._load_hook = self.register_load_state_dict_pre_hook(LazyModuleMixin._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(LazyModuleMixin._infer_parameters, with_kwargs=True)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self) -> bool:
        return any(is_lazy(tensor) for tensor in (*self._parameters.values(), *self._buffers.values()))

    def _infer_parameters(self, args: tuple, kwargs: dict) -> None:
        """The forward pre-hook. It sets the sizes, removes both hooks, and makes the module an ordinary one."""
        self.initialize_parameters(*args, **kwargs)
        if self.has_uninitialized_params():
            raise RuntimeError(f"module {self._get_name()} has not been fully initialized")
        self._initialize_hook.remove()
        self._load_hook.remove()
        del self._initialize_hook, self._load_hook
        if self.cls_to_become is not None:
            self.__class__ = self.cls_to_become

    def _lazy_load_hook(self, state_dict: dict[str, Any], prefix: str, *_: Any) -> None:
        """The load pre-hook. Each parameter takes its sizes from the loaded tensor."""
        for name, tensor in (*self._parameters.items(), *self._buffers.items()):
            loaded = state_dict.get(prefix + name)
            if is_lazy(tensor) and loaded is not None and not is_lazy(loaded):
                with no_grad():
                    tensor.materialize(loaded.shape)


class LazyLinear(LazyModuleMixin, Linear):
    """A `Linear` whose `in_features` is the last size of its first input.
    Source: `torch/nn/modules/linear.py`, `LazyLinear`."""

    cls_to_become = Linear

    def __init__(self, out_features: int, bias: bool = True, device: Device = None, dtype: Dtype = None) -> None:
        super().__init__(0, 0, False)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        if not self.has_uninitialized_params() and self.in_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        if self.has_uninitialized_params():
            self.in_features = input.shape[-1]
            self.weight.materialize((self.out_features, self.in_features))
            if self.bias is not None:
                self.bias.materialize((self.out_features,))
            self.reset_parameters()
        if self.in_features == 0:  # loaded before the first call
            if input.shape[-1] != self.weight.shape[-1]:
                sizes = f"{input.shape[-1]} features, and the loaded weight has {self.weight.shape[-1]}"
                raise AssertionError(f"the input has {sizes}")
            self.in_features = input.shape[-1]
