"""The autograd attributes of a tensor: whether it requires grad, its gradient, its `grad_fn`, its hooks.

In PyTorch: `torch/csrc/autograd/variable.h`, `variable.cpp`, `torch/_tensor.py`.
"""

import copy
import weakref
from collections.abc import Callable, Sequence
from operator import index
from types import SimpleNamespace
from typing import Any, SupportsIndex

from rushlight.aten.generated.functions import alias, clone, detach
from rushlight.aten.native.views import CreationMeta
from rushlight.aten.strided import Tensor, add_attributes, adopt, plain_strides
from rushlight.autograd.engine import backward, queue_callback
from rushlight.autograd.grad_mode import is_inference
from rushlight.autograd.graph import RemovableHandle, _sequence, autograd_meta
from rushlight.autograd.history import grad_fn, requires_grad
from rushlight.c10.dispatch import PYTHON, local
from rushlight.c10.dtypes import get_default_dtype
from rushlight.c10.exception import warn
from rushlight.c10.memory_formats import contiguous_format
from rushlight.c10.storage import UntypedStorage, size_of
from rushlight.c10.storage import device as as_device


def _set_requires_grad(self: Tensor, wanted: Any) -> None:
    if not isinstance(wanted, bool):
        raise RuntimeError("requires_grad must be a bool")
    if wanted and not self.dtype.is_floating_point:
        raise RuntimeError("only Tensors of floating point and complex dtype can require gradients")
    if self._autograd is not None and self._autograd.grad_fn is not None:
        problem = "you can only change requires_grad flags of leaf variables."
        use = "If you want to use a computed variable in a subgraph that doesn't require differentiation use"
        raise RuntimeError(problem if wanted else f"{problem} {use} var_no_grad = var.detach().")
    if wanted and self.is_inference() and not local.inference:
        raise RuntimeError("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")
    autograd_meta(self).requires_grad = wanted


def requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
    """Set `requires_grad`, and return the tensor. A tensor that has a `grad_fn` requires grad already.
    Source: `tools/autograd/templates/python_variable_methods.cpp`, `THPVariable_requires_grad_`."""
    if not isinstance(requires_grad, bool):
        raise TypeError(f"requires_grad_(): argument must be bool, not {type(requires_grad).__name__}")
    if not requires_grad or self._autograd is None or self._autograd.grad_fn is None:
        self.requires_grad = requires_grad
    return self


def detach_(self: Tensor) -> Tensor:
    """Make the tensor a leaf that does not require grad. Views of it keep their history.
    Source: `torch/csrc/autograd/VariableTypeManual.cpp`, `detach_`."""
    if self._base is not None:
        raise RuntimeError(
            "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for training, "
            "and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence detach_() cannot be "
            "called on these gradients. To fix this error, please refer to the Optimizer.zero_grad() function in "
            "torch/optim/optimizer.py as the solution."
        )
    if self._autograd is not None:
        self._autograd = copy.copy(self._autograd)  # a node that has saved the tensor sees that it has another one
        self._autograd.requires_grad, self._autograd.grad_fn, self._autograd.output_nr = False, None, 0
    return self


def _set_grad(self: Tensor, grad: Tensor | None) -> None:
    if grad is not None:
        if not isinstance(grad, Tensor):
            raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {type(grad).__name__}")
        if grad is self:
            raise RuntimeError("can't assign Variable as its own grad")
        if grad.dtype is not self.dtype:
            raise RuntimeError(f"assigned grad has data of a different type: {grad.dtype}, and not {self.dtype}")
        if grad.shape != self.shape:
            raise RuntimeError("assigned grad has data of a different size")
    autograd_meta(self).grad = grad


def _get_grad(self: Tensor) -> Tensor | None:
    """The gradient. It is None for a tensor that is not a leaf, unless the tensor retains its gradient.
    Source: `aten/src/ATen/templates/TensorBody.h`, `Tensor::grad`."""
    meta = self._autograd
    if meta is None:
        return None
    if meta.grad is None and meta.grad_fn is not None and not meta.retains_grad:
        problem = "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed."
        kept = "Its gradient is not kept: call x.retain_grad() before the backward pass"
        warn(f"{problem} {kept}")
    return meta.grad


def _is_leaf(self: Tensor) -> bool:
    """Whether the tensor has no `grad_fn`: no recorded operator made it."""
    return grad_fn(self) is None


def retain_grad(self: Tensor) -> None:
    """Keep the gradient of a tensor that is not a leaf. Source: `torch/csrc/autograd/variable.cpp`, `retain_grad`."""
    if not self.requires_grad:
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    meta, tensor = self._autograd, weakref.ref(self)
    if meta is None or meta.grad_fn is None or meta.retains_grad:  # not `is_leaf`, which may make a view's node
        return
    meta.retains_grad = True

    def keep(grad: Tensor | None) -> None:
        kept = tensor()
        if kept is not None and grad is not None and kept._autograd is meta:
            meta.grad = meta.grad + grad if meta.grad is not None else clone(grad, memory_format=contiguous_format)

    node = meta.grad_fn
    node.retains_grad_hooks = {} if node.retains_grad_hooks is None else node.retains_grad_hooks
    node.retains_grad_hooks[next(_sequence)] = (meta.output_nr, keep)


def register_hook(self: Tensor, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
    """`hook(grad)` runs when the gradient of this tensor is known. It may return a replacement.
    Source: `torch/_tensor.py`, `register_hook`."""
    if not self.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    is_leaf = self.is_leaf  # may make the metadata of a view
    meta = autograd_meta(self)
    if is_leaf:
        if meta.hooks is None:
            meta.hooks = {}
            node = None if meta.accumulator is None else meta.accumulator()
            if node is not None:
                node.tensor_pre_hooks = meta.hooks
        return RemovableHandle(meta.hooks, (0, hook))
    node = meta.grad_fn
    assert node is not None, "it is no leaf"
    node.tensor_pre_hooks = {} if node.tensor_pre_hooks is None else node.tensor_pre_hooks
    return RemovableHandle(node.tensor_pre_hooks, (meta.output_nr, hook))


def register_post_accumulate_grad_hook(self: Tensor, hook: Callable[[Tensor], None]) -> RemovableHandle:
    """`hook(tensor)` runs after a gradient was added to the `grad` of this leaf."""
    if not self.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if not self.is_leaf:
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    meta = autograd_meta(self)
    meta.post_hooks = {} if meta.post_hooks is None else meta.post_hooks
    return RemovableHandle(meta.post_hooks, hook)


def _deepcopy(self: Tensor, memo: dict) -> Tensor:
    """A leaf on a copy of the memory, with the other attributes. Copies of tensors on one storage are on one storage again.
    Source: `torch/_tensor.py`, `Tensor.__deepcopy__`."""
    if not self.is_leaf:
        problem = "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol"
        raise RuntimeError(f"{problem} at the moment. Copy x.detach() instead.")
    if id(self) in memo:
        return memo[id(self)]
    state = {name: value for name, value in self.__getstate__().items() if name not in _NOT_COPIED}
    new = memo[id(self)] = object.__new__(type(self))
    new.__dict__.update(copy.deepcopy(state, memo))
    new._key_set, new._storage.version = local.tensor_keys[self.device.type] | self._key_set & PYTHON, 1
    if requires_grad(self):
        new.requires_grad_()
    if self.grad is not None:
        new.grad = copy.deepcopy(self.grad, memo)
    return new


def _reduce_ex(self: Tensor, protocol: SupportsIndex) -> tuple:
    """For pickles and shallow copies: a leaf, which is no view and has no gradient, with the other attributes.
    Source: `torch/_tensor.py`, `Tensor.__reduce_ex__`."""
    state = {name: value for name, value in self.__getstate__().items() if name not in _NOT_COPIED}
    return _rebuild, (type(self), state, requires_grad(self))


def _rebuild(cls: type[Tensor], state: dict, requires_grad: bool) -> Tensor:
    new = object.__new__(cls)
    new.__dict__.update(state)
    new._key_set = local.tensor_keys[new.device.type]
    return adopt(new, cls).requires_grad_(requires_grad)


_NOT_COPIED = ("_autograd", "_base", "_view_fn", "_view_version", "_creation_meta", "_key_set")


def as_subclass(self: Tensor, cls: type) -> Tensor:
    """An alias of the tensor, of a subclass. Source: `torch/csrc/autograd/python_variable.cpp`, `THPVariable_as_subclass`."""
    return adopt(alias(self), cls)


def make_subclass(cls: type, data: Tensor, require_grad: bool = False) -> Tensor:
    """A leaf of a subclass on the memory of `data`.
    Source: `torch/csrc/autograd/python_variable.cpp`, `THPVariable_make_subclass`."""
    return adopt(data.detach(), cls).requires_grad_(require_grad)


def make_wrapper_subclass(
    cls: type,
    size: Sequence[int],
    strides: Sequence[int] | None = None,
    storage_offset: int = 0,
    memory_format: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    *_: Any,
    **__: Any,
) -> Tensor:
    """A tensor without data, of a subclass with a `__torch_dispatch__`, which gets each call that would read the data.
    Source: `torch/csrc/autograd/python_variable.cpp`, `THPVariable_make_wrapper_subclass`."""
    if cls.__torch_dispatch__ is Tensor.__torch_dispatch__:  # type: ignore[attr-defined]
        raise TypeError(f"{cls.__name__} must define __torch_dispatch__")
    sizes, on = size_of(map(index, size)), "cpu" if device is None else as_device(device).here().type
    strides, dtype = plain_strides(sizes) if strides is None else strides, dtype or get_default_dtype()
    result: Any = object.__new__(cls)
    Tensor.__init__(result, UntypedStorage(0, on), sizes, strides, storage_offset or 0, dtype)
    return adopt(result, cls).requires_grad_(requires_grad)


def tensor_backward(self: Tensor, gradient=None, retain_graph=None, create_graph=False, inputs=None) -> None:
    """Add the gradient of this tensor with respect to each leaf of its graph to the `grad` of the leaf. A tensor with more than
    one element needs `gradient`, the gradient of a later result with respect to this tensor. The engine does the work.
    Source: `torch/_tensor.py`, `Tensor.backward`."""
    backward(self, gradient, retain_graph, create_graph, inputs=inputs)


def _get_version(self: Tensor) -> int:
    """The version counter: how often the memory of this tensor was written to, through any view."""
    if self.is_inference() and not self._counts_versions:
        raise RuntimeError("Inference tensors do not track version counter.")
    return self._storage.version


class VariableMeta(type):
    """The metaclass of `Variable`: each tensor is an instance. Source: `torch/autograd/variable.py`, `VariableMeta`."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=VariableMeta):
    """`Variable(x)`: a leaf on the memory of `x`, from the time when only variables had gradients. Every tensor is one.
    Source: `torch/csrc/autograd/python_variable.cpp`, `THPVariable_pynew`."""

    _execution_engine = SimpleNamespace(queue_callback=queue_callback)

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = False, volatile: bool = False) -> Any:
        if not isinstance(data, Tensor | None):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        if volatile:
            use = "Use `with torch.no_grad():` instead."
            warn(f"volatile was removed and now has no effect. {use}")
        return (Tensor() if data is None else detach(data)).requires_grad_(bool(requires_grad))


Tensor._autograd = Tensor._base = Tensor._view_fn = None
Tensor._counts_versions = False  # of inference tensors only `x.data` does, made outside of inference mode
Tensor._view_version, Tensor._creation_meta = 0, CreationMeta.DEFAULT
add_attributes(
    requires_grad=property(requires_grad, _set_requires_grad, lambda self: _set_requires_grad(self, None)),
    grad=property(_get_grad, _set_grad, lambda self: _set_grad(self, None)),
    _grad=property(_get_grad, _set_grad),
    grad_fn=property(grad_fn),
    is_leaf=property(_is_leaf),
    output_nr=property(lambda self: self._autograd.output_nr if self._autograd is not None else 0),
    retains_grad=property(lambda self: self._autograd is not None and self._autograd.retains_grad),
    _version=property(_get_version),
    _is_view=lambda self: self._base is not None,
    _make_subclass=staticmethod(make_subclass),
    _make_wrapper_subclass=staticmethod(make_wrapper_subclass),
    __deepcopy__=_deepcopy,
    __reduce_ex__=_reduce_ex,
    as_subclass=as_subclass,
    backward=tensor_backward,
    detach_=detach_,
    is_inference=is_inference,
    register_hook=register_hook,
    register_post_accumulate_grad_hook=register_post_accumulate_grad_hook,
    requires_grad_=requires_grad_,
    retain_grad=retain_grad,
)
