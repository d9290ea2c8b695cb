"""Lazy modules: layers that take some of their sizes from the first input.

Their parameters are registered without sizes (`parameter.py`). At the first call, a forward pre-hook sets the sizes and changes
the module's class to the ordinary one. In PyTorch: `torch/nn/modules/lazy.py`. Left out: lazy layers other than `LazyLinear`.
"""

from __future__ import annotations

from typing import Any

from rushlight.aten.strided import Tensor
from rushlight.autograd.grad_mode import no_grad
from rushlight.c10.dtypes import dtype
from rushlight.c10.storage import device
from rushlight.nn.modules.layers import Linear
from rushlight.nn.modules.module import Module
from rushlight.nn.parameter import UninitializedParameter, is_lazy

__all__ = ["LazyLinear"]


def infer_parameters(module: LazyModuleMixin, args: tuple, kwargs: dict) -> None:
    """`LazyModuleMixin._infer_parameters`: the forward pre-hook that makes a lazy module an ordinary one.

    In this order:

    1. `module.initialize_parameters(*args, **kwargs)`, which each lazy class defines, gives the parameters their sizes.
    2. The two hooks are removed: `module._initialize_hook` (this one) and `module._load_hook`, both with a method `remove`.
       Both attributes are deleted.
    3. If `module.cls_to_become` is not None, it becomes the module's class.

    Args:
        module: a lazy module, before its first call.
        args, kwargs: the arguments of this call.

    Raises:
        RuntimeError: after step 1, `module.has_uninitialized_params()` is still true. The other steps do not run then.

    Source: `torch/nn/modules/lazy.py`, `LazyModuleMixin._infer_parameters`.
    """
    module.initialize_parameters(*args, **kwargs)
    if module.has_uninitialized_params():
        raise RuntimeError(f"module {module._get_name()} has not been fully initialized")
    module._initialize_hook.remove()
    module._load_hook.remove()
    del module._initialize_hook, module._load_hook
    if module.cls_to_become is not None:
        module.__class__ = module.cls_to_become


def materialize_for_loading(module: Module, state_dict: dict[str, Any], prefix: str, *_: Any) -> None:
    """The load pre-hook of a lazy module: each parameter takes its sizes from the tensor that is loaded.

    Source: `torch/nn/modules/lazy.py`, `LazyModuleMixin._lazy_load_hook`.
    """
    for name, tensor in (*module._parameters.items(), *module._buffers.items()):
        loaded = state_dict.get(prefix + name)
        if is_lazy(tensor) and loaded is not None and not is_lazy(loaded):
            with no_grad():
                tensor.materialize(loaded.shape)


class LazyModuleMixin:
    """Base class of lazy modules. Inherit from it before the class that the module becomes.

    Source: `torch/nn/modules/lazy.py`, `LazyModuleMixin`.
    """

    cls_to_become: type[Module] | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._load_hook = self.register_load_state_dict_pre_hook(materialize_for_loading)
        self._initialize_hook = self.register_forward_pre_hook(infer_parameters, with_kwargs=True)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self) -> bool:
        return any(is_lazy(tensor) for tensor in (*self._parameters.values(), *self._buffers.values()))


class LazyLinear(LazyModuleMixin, Linear):
    """A `Linear` whose `in_features` is the last size of its first input.

    Source: `torch/nn/modules/linear.py`, `LazyLinear`.
    """

    cls_to_become = Linear

    def __init__(
        self,
        out_features: int,
        bias: bool = True,
        device: device | str | None = None,
        dtype: dtype | None = None,
    ) -> None:
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
                raise AssertionError(
                    f"The in_features inferred from input: {input.shape[-1]} is not equal to in_features from self.weight: "
                    f"{self.weight.shape[-1]}"
                )
            self.in_features = input.shape[-1]
