"""Conversion to another dtype, device or memory format: `to`.

A tensor that needs no conversion is returned itself, unless the caller requests a copy. In PyTorch:
`aten/src/ATen/native/TensorConversions.cpp`. `functional.py` parses the arguments of `x.to(...)`, as
`torch/csrc/autograd/python_variable.cpp` and `torch/csrc/utils/python_arg_parser.h` do. Left out: other layouts, pinned memory.
"""

from typing import Any

from rushlight.aten.generated import functions
from rushlight.aten.native.creation import device_type
from rushlight.aten.native.pointwise import copy_
from rushlight.aten.strided import META, Tensor, empty_strided, strides_for, wrap_plain
from rushlight.c10 import storage
from rushlight.c10.fast_paths import fast_form_of
from rushlight.c10.memory_formats import preserve_format, suggest_memory_format


def to_copy(
    self: Tensor, dtype=None, layout=None, device=None, pin_memory=None, non_blocking=False, memory_format=None
) -> Tensor:
    """A copy, with the strides of `self` if these leave no holes."""
    target = self._storage.device_type if device is None else device_type(device)
    if self.is_meta and target != "meta":
        raise NotImplementedError("Cannot copy out of meta tensor; no data!")
    out = empty_strided(self.shape, strides_for(self, memory_format), dtype or self.dtype, target)
    return copy_(out, self)


@fast_form_of(to_copy)
def to_copy_contiguous(self: Tensor, dtype=None, *options: Any) -> Tensor:
    """`to_copy` of a contiguous tensor of the CPU to another dtype, with no other option."""
    if dtype is None or any(options) or not self._has_plain_strides or self._key_set & META:
        return to_copy(self, dtype, *options)
    return wrap_plain(self._array.astype(dtype.numpy), self._sizes, dtype)


def to_dtype_layout(
    self, dtype=None, layout=None, device=None, pin_memory=None, non_blocking=False, copy=False, memory_format=None
) -> Tensor:
    """The tensor itself if it has the dtype, the device and the memory format already, and otherwise a converted copy.
    Source: `aten/src/ATen/native/TensorConversions.cpp`, `to_will_alias` and `to_impl`."""
    same = dtype in (None, self.dtype) and (device is None or storage.device(device) == self.device)
    if same and not copy and memory_format in (None, preserve_format, suggest_memory_format(self.shape, self.stride())):
        return self
    return functions._to_copy(self, dtype=dtype, device=device, non_blocking=non_blocking, memory_format=memory_format)
