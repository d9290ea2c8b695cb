"""Tensors that a module registers: parameters, which are trained, and buffers, which are not.

Both are ordinary tensors; `modules/module.py` registers them. An operator on a parameter returns a plain tensor. In PyTorch:
`torch/nn/parameter.py`, and for `x.data` `torch/csrc/autograd/variable.cpp`. Left out: parameters of subclasses of Tensor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor, disabled_torch_function_impl
from rushlight.c10.dispatch import local
from rushlight.c10.dtypes import dtype
from rushlight.c10.storage import UntypedStorage, device, share_version

Device, Dtype = device | str | None, dtype | None  # of arguments with the default None

# x.data: the elements, without autograd metadata ---------------------------------------------------------------------


def variable_data(self: Tensor) -> Tensor:
    """A tensor on the same memory without autograd metadata: it has no history, and a write to it does not increment the
    version counter of `self`.
    Source: `torch/csrc/autograd/variable.cpp`, `VariableHooks::variable_data`."""
    data = Tensor(_alias_storage(self._storage), self._sizes, self._strides, self._storage_offset, self.dtype)
    data._counts_versions = not local.inference
    if not is_lazy(self):
        data._key_set = self._key_set
    return data


def set_data(self: Tensor, new_data: Tensor) -> None:
    """Move a tensor to other memory. The sizes and the dtype may change; the tensor stays the same object.
    Source: `torch/csrc/autograd/variable.cpp`, `VariableHooks::set_data`."""
    if not isinstance(new_data, Tensor):
        raise TypeError(f"Variable data has to be a tensor, but got {type(new_data).__name__}")
    if self.device != new_data.device:
        raise RuntimeError(f"data must stay on one device: the tensor is on {self.device}, not on {new_data.device}")
    if self.requires_grad and not new_data.dtype.is_floating_point:
        raise RuntimeError("data set to a tensor that requires gradients must be floating point or complex dtype")
    if self._autograd is not None and self.dtype is not new_data.dtype:
        self._autograd.accumulator = None  # it expects gradients of the old dtype
    storage = _alias_storage(new_data._storage)
    share_version(self._storage, storage)
    self._storage = storage
    self._sizes, self._strides, self._storage_offset = new_data._sizes, new_data._strides, new_data._storage_offset
    self.dtype, self._key_set = new_data.dtype, new_data._key_set
    self.forget_metadata()


def _alias_storage(storage: UntypedStorage) -> UntypedStorage:
    """A storage on the same memory with its own version counter."""
    if storage.device_type != "cpu":
        return UntypedStorage(storage.nbytes(), storage.device_type)
    return UntypedStorage.of(storage._bytes)


def _refuse_deletion(self: Tensor) -> NoReturn:
    raise RuntimeError("Deleting tensor data is not allowed. Delete tensor instead!")


Tensor.data = property(variable_data, set_data, _refuse_deletion)

# Parameters and buffers ----------------------------------------------------------------------------------------------


class Parameter(Tensor):
    """A leaf on the memory of `data`. By default it requires grad, even if it is made in `no_grad`.
    Source: `torch/nn/parameter.py`, `Parameter`."""

    __torch_function__ = disabled_torch_function_impl

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        self = (functions.empty(0) if data is None else data).detach()
        self.__class__ = cls
        self.requires_grad = requires_grad
        return self

    def __init__(self, data: Tensor | None = None, requires_grad: bool = True) -> None:
        """Nothing to do: `__new__` copied the metadata of `data`."""

    def __deepcopy__(self, memo: dict) -> Parameter:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.detach().clone(), self.requires_grad)
        return memo[id(self)]

    def __reduce_ex__(self, protocol: int) -> tuple:
        return type(self), (variable_data(self), self.requires_grad)

    def __repr__(self) -> str:
        return "Parameter containing:\n" + Tensor.__repr__(self)


def zero_grad(param: Tensor, set_to_none: bool) -> None:
    """Set the gradient to None, or fill it with zeros if there is one."""
    if set_to_none:
        param.grad = None
    elif param.grad is not None:
        if param.grad.requires_grad:
            param.grad = param.grad.detach()
        param.grad.zero_()


class _BufferMeta(type):
    def __instancecheck__(self, instance: Any) -> bool:
        return self is Buffer and hasattr(instance, "_is_buffer") or super().__instancecheck__(instance)


class Buffer(Tensor, metaclass=_BufferMeta):
    """A plain tensor on the memory of `data`, with an attribute that tells a module to register it as a buffer.
    Source: `torch/nn/parameter.py`, `Buffer`."""

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Tensor:
        data = functions.empty(0) if data is None else data
        self = data.detach()
        self.requires_grad = data.requires_grad
        self.persistent, self._is_buffer = persistent, True
        return self


# Uninitialized parameters and buffers: their sizes are set at the first call -----------------------------------------


class _Uninitialized:
    """A tensor with a dtype and a device, but without sizes until `materialize` sets them. Operators refuse it.
    Source: `torch/nn/parameter.py`, `UninitializedTensorMixin`."""

    cls_to_become: type[Tensor]

    def __init__(self, *args, **kwargs) -> None:
        """Nothing to do: `__new__` set the metadata."""

    def materialize(self, shape: int | Sequence[int], device: Device = None, dtype: Dtype = None) -> None:
        """Become an ordinary parameter or buffer of this shape, with uninitialized elements."""
        data = functions.empty(shape, dtype=dtype or self.dtype, device=device or self.device)
        self.__class__ = self.cls_to_become
        self._key_set = data._key_set
        if data.device != self.device:
            self._storage = data._storage
        self.data = data

    @property
    def shape(self) -> None:
        raise RuntimeError("Can't access the shape of an uninitialized parameter or buffer: call the module once")

    def requires_grad_(self, requires_grad: bool = True) -> None:
        return self._key_set  # raises, as for an operator

    @property
    def _key_set(self) -> None:  # every call of an operator reads it
        raise ValueError("an uninitialized parameter or buffer was used: call the module once, to set its sizes")

    @_key_set.setter
    def _key_set(self, key_set: int) -> None:
        self.__dict__["_key_set"] = key_set

    @property
    def is_meta(self) -> bool:
        return self.device.type == "meta"

    def is_inference(self) -> bool:
        return False

    def detach(self) -> Tensor:
        return self

    def to(self, *args, **kwargs) -> Tensor:
        return variable_data(self).to(*args, **kwargs)

    def copy_(self, other: Tensor, non_blocking: bool = False) -> Tensor:
        """Nothing to do: `other` has no sizes either."""
        return self

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


class UninitializedParameter(_Uninitialized, Parameter):
    """A parameter of a lazy module, whose sizes the first call sets. It has no data before."""

    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: Device = None, dtype: Dtype = None) -> UninitializedParameter:
        return super().__new__(cls, functions.empty(0, device=device, dtype=dtype), requires_grad)

    def __deepcopy__(self, memo: dict) -> UninitializedParameter:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, self.device, self.dtype)
        return memo[id(self)]

    def __reduce_ex__(self, protocol: int) -> tuple:
        return type(self), (self.requires_grad, self.device, self.dtype)


class UninitializedBuffer(_Uninitialized, Tensor):
    """A buffer of a lazy module, whose sizes the first call sets. It has no data before."""

    cls_to_become = Tensor

    def __new__(
        cls, requires_grad: bool = False, device: Device = None, dtype: Dtype = None, persistent: bool = True
    ) -> UninitializedBuffer:
        self = functions.empty(0, device=device, dtype=dtype)
        self.__class__ = cls
        self.requires_grad, self.persistent, self._is_buffer = requires_grad, persistent, True
        return self


def is_lazy(param: Any) -> bool:
    """Whether this is a parameter or a buffer that has no sizes yet. Source: `torch/nn/parameter.py`, `is_lazy`."""
    return isinstance(param, _Uninitialized)
