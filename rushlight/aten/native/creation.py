"""Creating tensors: from sizes, Python numbers and lists, and numpy arrays.

In PyTorch: `aten/src/ATen/native/TensorFactories.cpp` and, for Python data, `torch/csrc/utils/tensor_new.cpp` and
`tensor_numpy.cpp`. Functions such as `zeros` accept `layout` and `pin_memory`, without effect.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial, reduce
from itertools import chain
from operator import index
from typing import Any

import numpy as np

from rushlight.aten import strided
from rushlight.aten.dlpack import from_dlpack
from rushlight.aten.generated import functions
from rushlight.aten.iterator import assert_no_internal_overlap, checked_convert
from rushlight.aten.native.pointwise import copy_, fill_
from rushlight.aten.strided import Tensor, add_attributes, empty_strided, strides_for, wrap_contiguous
from rushlight.aten.structured import resize_ as resize
from rushlight.c10 import dtypes
from rushlight.c10.context import context
from rushlight.c10.dispatch import ABOVE_PYTHON, excluding, local
from rushlight.c10.dtypes import INTEGRAL, Scalar, as_dtype, dtype, get_default_dtype, int64, scalar_type
from rushlight.c10.exception import warn, warn_once
from rushlight.c10.memory_formats import (
    channels_last,
    channels_last_strides,
    memory_format,
    preserve_format,
    suggest_memory_format,
)  # fmt: skip
from rushlight.c10.storage import Device, TypedStorage, UntypedStorage, _storage_classes, device, warn_of_typed_storage
from rushlight.library import leaf

__all__ = ["tensor", "as_tensor", "asarray", "from_numpy", "frombuffer", "set_default_tensor_type"]


def _empty(on: str, size, dtype=None, layout=None, device=None, pin_memory=None, memory_format=None) -> Tensor:
    """An uninitialised tensor, contiguous by default (`memory_format`)."""
    if memory_format is preserve_format:
        raise RuntimeError("empty has no tensor whose memory format it could preserve")
    if memory_format is channels_last:
        return fill_empty(empty_strided(size, channels_last_strides(size), dtype, on))
    return fill_empty(_new(size, dtype, on))


empty_cpu, empty_meta = partial(_empty, "cpu"), partial(_empty, "meta")


def _new(size: Sequence[int], dtype: dtype | None, device: Device) -> Tensor:
    if device in (None, "cpu"):
        dtype = dtype or get_default_dtype()
        try:
            return wrap_contiguous(np.empty(size, dtype.numpy), dtype)
        except (ValueError, MemoryError):
            pass  # `empty_strided` raises PyTorch's error
    return empty_strided(size, strided.plain_strides(tuple(size)), dtype, device_type(device))


def fill_empty(self: Tensor, start: int | None = None) -> Tensor:
    """Fill the new memory of a tensor with NaN, or with the largest number of its dtype, if algorithms must be deterministic. The
    memory is that of its elements, or that of its storage from the byte `start` on.
    Source: `aten/src/ATen/native/TensorFactories.h`, `fill_empty_deterministic_`; `Resize.cpp`, `fill_resize_deterministic_`."""
    if context.deterministic_algorithms and context.fill_uninitialized_memory and not self.is_meta:
        step = self.dtype.itemsize
        memory = self._array if start is None else self._storage._bytes[start // step * step :].view(self.dtype.numpy)
        is_integer = self.dtype.category == INTEGRAL
        memory.fill(np.iinfo(self.dtype.numpy).max if is_integer else math.nan)  # NaN is true
    return self


def device_type(wanted: Device) -> str:
    """The type of a device on which tensors can be."""
    return "cpu" if wanted is None else device(wanted).here().type


def as_number(fill_value: Tensor | Scalar) -> Scalar:
    """A tensor without dimensions may be passed for a number, unless it requires grad: its gradient would be lost.
    Source: `torch/csrc/utils/python_arg_parser.cpp`, `FunctionParameter::_check`."""
    if not isinstance(fill_value, Tensor):
        return fill_value
    if fill_value.dim() or fill_value.requires_grad:
        raise TypeError("fill_value must be a number, or a tensor without dimensions that does not require grad")
    return fill_value.item()


def full(size, fill_value, dtype=None, layout=None, device=None, pin_memory=None) -> Tensor:
    """A tensor of one value, which also decides the dtype."""
    fill_value = as_number(fill_value)
    return fill_(_new(size, dtype or scalar_type(fill_value), device), fill_value)


def empty_like(self, dtype=None, layout=None, device=None, pin_memory=None, memory_format=None) -> Tensor:
    """An uninitialised tensor with the sizes and, by default, the dtype, device and strides of `self`."""
    if memory_format is None and self._has_plain_strides:
        if dtype is None and device is None and not self._key_set & strided.NO_DATA:
            try:
                return fill_empty(strided.wrap_like(np.empty(self._sizes, self.dtype.numpy), self))
            except (ValueError, MemoryError):
                pass  # `new_empty` raises PyTorch's error
        return new_empty(self, self._sizes, dtype, layout, device)
    target = self._storage.device_type if device is None else device_type(device)
    return fill_empty(empty_strided(self.shape, strides_for(self, memory_format), dtype or self.dtype, target))


def new_empty(self, size, dtype=None, layout=None, device=None, pin_memory=None) -> Tensor:
    """`self.new_...`: a tensor of other sizes with, by default, the dtype and the device of `self`."""
    return fill_empty(_new(size, dtype or self.dtype, device or self._storage.device_type))


def filled(made: Tensor, value: int) -> Tensor:
    """A new tensor after `zeros`, `ones` and the like have filled it."""
    if not made._key_set & strided.META:
        made._array.fill(value)
    return made


def arange(start, end, step=1, dtype=None, layout=None, device=None, pin_memory=None) -> Tensor:
    """`start`, `start + step`, ... below `end`. Source: `aten/src/ATen/native/RangeFactories.cpp`."""
    if dtype is None:
        whole = max(scalar_type(start).category, scalar_type(end).category, scalar_type(step).category) <= INTEGRAL
        dtype = int64 if whole else get_default_dtype()
    start, step, count = _range(start, end, step, dtype)
    return _fill_range(_new((count,), dtype, device), start, step)


def arange_out(start, end, step, out: Tensor) -> Tensor:
    """An `out` that has the right number of elements keeps its sizes."""
    start, step, count = _range(start, end, step, out.dtype)
    if count != out.numel():
        if out.numel():
            numbers = f"{out.numel()} which does not match the computed number of elements {count}"
            warn(
                f"The number of elements in the out tensor of shape {list(out.shape)} is {numbers}. Note that this may occur as a "
                f"result of rounding error. The out tensor will be resized to a tensor of shape ({count},)."
            )
        resize_(out, (count,))
    assert_no_internal_overlap(out)
    return _fill_range(out, start, step)


def _range(start, end, step, dtype: dtype) -> tuple[Scalar, Scalar, int]:
    """The first number of a range, the step, and how many numbers it has."""
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if not math.isfinite(start) or not math.isfinite(end):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    if dtype.category <= INTEGRAL and int(step) == 0:  # a ValueError here, a RuntimeError above: as in PyTorch
        raise ValueError("step must be nonzero")
    if dtype is int64:  # computed in int64; the other dtypes, also narrow ones, in double
        start, end, step = int(start), int(end), int(step)
    count = math.ceil((end - start) / step)
    return (int(start), int(step), count) if dtype.category <= INTEGRAL else (start, step, count)


def _fill_range(out: Tensor, start: Scalar, step: Scalar) -> Tensor:
    if not out.is_meta:
        out._array[...] = (start + np.arange(out.numel(), dtype=np.int64) * step).reshape(out.shape)
    return out


# The out= forms


def eye(n, m, out: Tensor) -> Tensor:
    """Ones on the diagonal, zeros elsewhere: (n, m)."""
    for name, size in ("n", n), ("m", m):
        if size < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {size}")
    n, m = index(n), index(m)
    resize_(out, (n, m))
    if not out.is_meta:
        out._array[...] = np.eye(n, m)
    return out


def linspace(start, end, steps, out: Tensor) -> Tensor:
    """`steps` numbers at equal distances, the first `start` and the last `end`. Numbers may be tensors without dimensions.
    Source: `aten/src/ATen/native/RangeFactories.cpp`, `linspace_out`."""
    steps = index(steps)
    for name, bound in ("start", start), ("end", end):
        if isinstance(bound, Tensor) and bound.dim():
            got = f"but got {name} with {bound.dim()} dimension(s)."
            raise RuntimeError(f"linspace only supports 0-dimensional start and end tensors, {got}")
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    if out.numel() != steps:
        resize_(out, (steps,))
    assert_no_internal_overlap(out)
    if out.is_meta or not steps:
        return out
    start, end = (bound.item() if isinstance(bound, Tensor) else bound for bound in (start, end))
    start, end = (checked_convert(bound, out.dtype).astype(np.float64) for bound in (start, end))
    step, position = (end - start) / max(steps - 1, 1), np.arange(steps)
    # Counted from the nearer end, so that the last number is `end` exactly.
    is_first = position < steps // 2 + (steps == 1)
    numbers = np.where(is_first, start + step * position, end - step * (steps - 1 - position))
    out._array[...] = numbers.astype(out.dtype.numpy).reshape(out.shape)
    return out


def resize_(self: Tensor, size: Sequence[int], memory_format: memory_format | None = None) -> Tensor:
    """Change the sizes in place, with contiguous strides or those of `memory_format`. The same sizes change nothing."""
    if memory_format is None and tuple(size) == self.shape:
        return self
    before = self._storage.nbytes()
    return fill_empty(
        resize(self, size, channels_last_strides(size) if memory_format is channels_last else None), before
    )


def resize_as_(self: Tensor, the_template: Tensor, memory_format: memory_format | None = None) -> Tensor:
    """Resize `self`, in place, to the sizes of another tensor.
    Source: `aten/src/ATen/native/Resize.cpp`, `resize_as_`."""
    if memory_format is preserve_format:
        memory_format = suggest_memory_format(the_template._sizes, the_template._strides)
    return self.resize_(the_template.shape, memory_format=memory_format)


# From Python numbers and lists ---------------------------------------------------------------------------------------


def tensor(
    data,
    *,
    dtype: dtype | type | None = None,
    device: Device = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A new tensor with a copy of `data`: a number, nested sequences of numbers, a numpy array, or a tensor.

    The first element of each level gives the sizes. The dtype is that to which all numbers promote.

    Raises:
        ValueError: a list is longer or shorter than the first list of its level.
        TypeError: a number instead of a list, or a list instead of a number.
        RuntimeError: a number does not fit the dtype, or an element is not a number.

    Source: `torch/csrc/utils/tensor_new.cpp`, `internal_new_from_data`.
    """
    if isinstance(data, Tensor):
        _warn_of_copy()
    return leaf(_lift(_tensor(data, dtype, device)), requires_grad)


def _lift(made: Tensor) -> Tensor:
    """A new tensor of Python data, announced to modes, which have seen no call so far. A graph has a copy of it, because the
    program may write to the tensor. Source: `torch/csrc/utils/tensor_new.cpp`, `lift_fresh`."""
    if not local.modes:
        return made
    with excluding(ABOVE_PYTHON):  # autograd sees no view
        return functions.lift_fresh(made)


def _warn_of_copy() -> None:
    clearer = "it is clearer to write x.detach().clone(), or x.detach().clone().requires_grad_()"
    warn(f"tensor(x) copies a tensor without its history: {clearer}")


def of_storage(data: TypedStorage | UntypedStorage, dtype: dtype) -> Tensor:
    """A tensor on the memory of a storage. Source: `torch/csrc/utils/tensor_new.cpp`, `new_with_storage`."""
    if isinstance(data, TypedStorage):
        if data.dtype is not dtype:
            expected = f"Expected a Storage of type {dtype.type_name} or an UntypedStorage"
            raise RuntimeError(f"{expected}, but got {data.dtype.type_name}")
        data = data._untyped_storage
    return Tensor(data, (data.nbytes() // dtype.itemsize,), (1,), 0, dtype)


def _tensor(data, dtype: dtype | type | None, device: Device) -> Tensor:
    dtype = dtype if dtype is None else as_dtype(dtype)
    if isinstance(data, (TypedStorage, UntypedStorage)):  # bytes are integers
        return of_storage(data, dtype or (get_default_dtype() if isinstance(data, TypedStorage) else dtypes.int64))
    if isinstance(data, np.ndarray):
        data = _share(data)
    if isinstance(data, Tensor):
        target = device_type(device or data.device)
        return copy_(empty_strided(data.shape, strides_for(data, None), dtype or data.dtype, target), data)
    if isinstance(data, list) and data and isinstance(data[0], np.ndarray):
        warn_once("a tensor of a list of arrays is slow to make: use tensor(numpy.array(list))")
    sizes: list[int] = []
    first: Any = data
    while _is_sequence(first):
        sizes.append(len(first))
        first = first[0] if len(first) else None
    array = None if 0 in sizes else _array_of_one_class(data, sizes)
    dtype = dtype or (_infer_dtype(data) if array is None else scalar_type(array[0]))
    if array is None or dtype.category == INTEGRAL and array.dtype != dtype.numpy:
        numbers = [] if 0 in sizes else [checked_convert(number, dtype) for number in _numbers(data, sizes, 0)]
        array = np.array(numbers, dtype.numpy)
    made = wrap_contiguous(array.astype(dtype.numpy, copy=False).reshape(sizes), dtype)
    if device is None and local.default_devices:
        device = local.default_devices[-1]
    return made if device is None else made.to(device)


def as_tensor(data, *, dtype: dtype | None = None, device: Device = None) -> Tensor:
    """Like `tensor`, but without a copy if memory can be shared. Source: `torch/csrc/utils/tensor_new.cpp`, `as_tensor`."""
    data = from_numpy(data) if isinstance(data, np.ndarray) else data
    return data.to(device, dtype) if isinstance(data, Tensor) else _lift(_tensor(data, dtype, device))


def asarray(
    obj,
    *,
    dtype: dtype | None = None,
    device: Device = None,
    copy: bool | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """A tensor from anything: on the memory of a tensor, a numpy array or a buffer, or a copy if the dtype or the device is
    another one. Sequences and numbers are copied. `copy=True` always copies; `copy=False` never.

    By default the result requires grad if `obj` does. With `requires_grad=False` it is detached if it has a history; otherwise,
    and with True, the tensor itself is changed.

    Raises:
        ValueError: `copy=False`, and the memory cannot be shared.
        RuntimeError: `copy=False` for a numpy scalar.

    Source: `torch/csrc/utils/tensor_new.cpp`, `asarray`.
    """
    if copy is False and isinstance(obj, np.generic):
        raise RuntimeError("can't alias NumPy scalars: remove copy=False, or make it an array")
    result = _shared(obj, dtype)
    if result is None:
        if copy is False:
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        return tensor(obj, dtype=dtype, device=device, requires_grad=bool(requires_grad))
    other_device = device is not None and device_type(device) != result.device.type
    other_dtype = dtype not in (None, result.dtype)
    if copy or copy is None and (other_device or other_dtype):
        result = result.to(device_type(device or result.device), dtype or result.dtype, copy=bool(copy))
    elif other_device:
        raise ValueError(f"can't alias tensor from device '{result.device}' to '{device}'.")
    elif other_dtype:
        assert dtype is not None
        dtypes = f"'{result.dtype.type_name}' into dtype '{dtype.type_name}'"
        raise ValueError(f"can't alias tensor with dtype {dtypes}.")
    if requires_grad is None:
        return result
    return result.requires_grad_(requires_grad) if requires_grad or result.is_leaf else result.detach()


def _shared(obj, dtype: dtype | None) -> Tensor | None:
    """A tensor on the memory of `obj`, or None if that is not possible."""
    if isinstance(obj, Tensor):
        return obj
    if isinstance(obj, (np.ndarray, np.generic)):
        return _share(np.asarray(obj))
    if hasattr(obj, "__dlpack__"):
        return from_dlpack(obj)
    try:
        memoryview(obj)
    except TypeError:
        return None
    return frombuffer(obj, dtype=dtype or get_default_dtype())


def frombuffer(buffer, *, dtype: dtype, count: int = -1, offset: int = 0, requires_grad: bool = False) -> Tensor:
    """A vector on the memory of a buffer, such as a `bytearray`.

    Args:
        count: the number of elements; -1 for all that the buffer has.
        offset: of the first element, in bytes.

    Source: `torch/csrc/utils/tensor_new.cpp`, `tensor_frombuffer`.
    """
    try:
        view = memoryview(buffer)
    except TypeError:
        raise ValueError("object does not implement Python buffer protocol.") from None
    size, length = dtype.itemsize, view.nbytes
    if not length or not count:
        raise ValueError(f"both buffer length ({length}) and count ({count}) must not be 0")
    if not 0 <= offset < length:
        limits = f"non-negative and no greater than buffer length ({length} bytes) minus 1"
        raise ValueError(f"offset ({offset} bytes) must be {limits}")
    if count < 0 and (length - offset) % size:
        after = f"buffer length ({length} bytes) after offset ({offset} bytes)"
        raise ValueError(f"{after} must be a multiple of element size ({size})")
    if count > 0 and offset + count * size > length:
        requested = f"requested buffer length ({count} * {size} bytes) after offset ({offset} bytes)"
        raise ValueError(f"{requested} must not be greater than actual buffer length ({length} bytes)")
    if view.readonly:
        warn_once("The given buffer is not writable, and PyTorch does not support non-writable tensors: copy it")
    return leaf(_share(np.frombuffer(buffer, dtype.numpy, count, offset)), requires_grad)


def base_tensor_ctor(self: Tensor, *args, **options) -> None:
    """Fill a new tensor for `Tensor(2, 3)`, with uninitialised memory, `Tensor([1, 2])`, with numbers of the default dtype, or
    `Tensor(other)`, on the memory of another tensor."""
    self.__dict__.update(_legacy_new(get_default_dtype(), args, of_any_dtype=True, **options).__dict__)
    if self.__class__ is not Tensor:
        strided.adopt(self, self.__class__)


def _legacy_new(dtype: dtype, args: tuple, device: Device = None, of_any_dtype: bool = False, **options) -> Tensor:
    """A tensor of a dtype from sizes, a sequence, or the memory of a tensor. A `Size` gives sizes too. A numpy array of the dtype
    is not copied. Source: `torch/csrc/utils/tensor_new.cpp`, `legacy_tensor_generic_ctor_new`."""
    data = options.pop("data", args[0] if len(args) == 1 else args)
    data = strided.Size(options.pop("size")) if "size" in options else data
    if options:
        raise TypeError(f"new() received an invalid combination of arguments: {args}, {options}")
    if device is not None and device_type(device) != "cpu":
        raise RuntimeError(f"legacy constructor expects device type: cpu but device type: {device} was passed")
    if isinstance(data, Tensor):
        if data.dtype is not dtype and not of_any_dtype:
            raise TypeError(f"expected a tensor of the dtype {dtype}, but got {data.dtype}")
        return functions.alias(data)
    if isinstance(data, (TypedStorage, UntypedStorage)):
        return of_storage(data, dtype)
    if isinstance(data, strided.Size):
        return fill_empty(_new(data, dtype, None))
    if data is args and all(map(_is_size, args)):
        return fill_empty(_new(tuple(map(index, data)) or (0,), dtype, None))
    if _is_size(data):
        return fill_empty(_new((index(data),), dtype, None))
    if isinstance(data, str) or not isinstance(data, (Sequence, np.ndarray)):
        raise TypeError(f"new(): data must be a sequence (got {type(data).__name__})")
    return as_tensor(data, dtype=dtype)


def _is_size(value) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def tensor_new(self: Tensor, *args, **options) -> Tensor:
    """`x.new(2, 3)` and `x.new([1, 2])`: the constructor for the dtype of `x`."""
    return _legacy_new(self.dtype, args, **options)


class tensortype(type):
    """The type of `LongTensor` and its like: a constructor of tensors of one dtype, and a class to `isinstance`.
    Source: `torch/csrc/tensor/python_tensor.cpp`."""

    dtype: dtype
    is_cuda: bool
    is_sparse, layout = False, strided.strided_layout

    def __new__(kind, name: str, bases: tuple, space: dict) -> "tensortype":
        if bases:
            raise TypeError(f"type '{bases[0].__module__}.{bases[0].__name__}' is not an acceptable base type")
        return super().__new__(kind, name, bases, space)

    def __call__(cls, *args, **options) -> Tensor:
        return _legacy_new(cls.available().dtype, args, **options)

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor) and TENSOR_TYPES.get(str(instance.type())) is cls

    def available(cls) -> "tensortype":
        if cls.is_cuda:
            raise TypeError(f"type torch.cuda.{cls.__name__} not available. Torch not compiled with CUDA enabled.")
        return cls


def _tensor_type(module: str, dtype: dtype) -> tensortype:
    namespace = {"__module__": f"torch{module}", "dtype": dtype, "is_cuda": bool(module)}
    return tensortype(f"{dtype.type_name}Tensor", (), namespace)


_KINDS = [_tensor_type(module, dtype) for module in ("", ".cuda") for dtype in dtypes.ALL]
TENSOR_TYPES = {f"{kind.__module__}.{kind.__name__}": kind for kind in _KINDS}
globals().update((kind.__name__, kind) for kind in _KINDS if not kind.is_cuda)
__all__ += [kind.__name__ for kind in _KINDS if not kind.is_cuda]


def tensor_type(self: Tensor, dtype: Any = None, non_blocking: bool = False, **_: Any) -> str | Tensor:
    """`x.type()` is PyTorch's name of the type, `x.type(LongTensor)` a tensor of this type, or `x` itself.
    Source: `tools/autograd/templates/python_variable_methods.cpp`, `THPVariable_type`."""
    if dtype is None:
        return f"torch.{'meta.' if self.is_meta else ''}{self.dtype.type_name}Tensor"
    kind = get_default_dtype() if dtype is Tensor else TENSOR_TYPES.get(dtype, dtype)
    if isinstance(kind, tensortype):
        if kind.is_cuda:
            raise RuntimeError("Cannot initialize CUDA without ATen_cuda library")
        kind = kind.dtype
    if kind.__class__ is not dtypes.dtype:
        raise ValueError(f"invalid type: '{dtype}'")
    return self.to(kind)


def set_default_tensor_type(t: Any, /) -> None:
    """Set the default dtype by a type of tensors. Source: `torch/csrc/tensor/python_tensor.cpp`."""
    instead = "please use torch.set_default_dtype() and torch.set_default_device() as alternatives"
    warn_once(f"torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, {instead}.")
    kind = TENSOR_TYPES.get(t, t)
    if not isinstance(kind, tensortype):
        raise TypeError("invalid type object: only floating-point types are supported as the default type")
    dtypes.set_default_dtype(kind.available().dtype)


def new_tensor(
    self: Tensor, data, *, dtype: dtype | None = None, device: Device = None, requires_grad: bool = False
) -> Tensor:
    """A new tensor with a copy of `data` and, by default, the dtype and the device of `self`."""
    if isinstance(data, Tensor):
        _warn_of_copy()
    return leaf(_tensor(data, dtype or self.dtype, device or self.device), requires_grad)


def _is_sequence(data) -> bool:
    """Whether `data` has elements. A tensor within a list is a number, and must have one element.
    Source: CPython's `PySequence_Check`."""
    if isinstance(data, (int, float, Tensor, np.generic, str, bytes, dict)):
        return False
    if isinstance(data, np.ndarray):
        return data.ndim > 0
    return hasattr(data, "__getitem__") and hasattr(data, "__len__")


def _infer_dtype(data) -> dtype:
    if _is_sequence(data) and not isinstance(data, np.ndarray):
        return reduce(dtypes.promote_any, map(_infer_dtype, data)) if len(data) else get_default_dtype()
    if isinstance(data, (np.ndarray, np.generic)):
        return dtypes.from_numpy_dtype(data.dtype)
    if isinstance(data, (str, bytes)):
        raise TypeError(f"a tensor holds numbers, not {type(data).__name__!r}")
    if not isinstance(data, (Tensor, bool, int, float)):
        raise RuntimeError(f"Could not infer dtype of {type(data).__name__}; a tensor holds numbers")
    return data.dtype if isinstance(data, Tensor) else scalar_type(data)


def _array_of_one_class(data, sizes: Sequence[int]) -> np.ndarray | None:
    """The numbers in nested lists in row-major order, which numpy converts together. None if they are not all ints, all floats or
    all bools, if an int does not fit int64, or if a length does not agree with `sizes`."""
    row = [data]
    for size in sizes:
        if not all([part.__class__ in (list, tuple) and len(part) == size for part in row]):
            return None
        row = list(chain.from_iterable(row))
    try:
        return np.array(row, _WIDEST[frozenset(map(type, row))])
    except (KeyError, OverflowError):
        return None


_WIDEST = {frozenset([int]): np.int64, frozenset([float]): np.float64, frozenset([bool]): np.bool_}


def _numbers(data, sizes: Sequence[int], dim: int) -> Iterator:
    """Yield the numbers in `data` in row-major order, and check that the lengths agree with `sizes`."""
    if dim == len(sizes):
        if _is_sequence(data):
            raise TypeError(f"expected a number at dim {dim}, as before, but got a {type(data).__name__}")
        if isinstance(data, Tensor):
            data = float(data) if data.dtype.is_floating_point else index(data)
        yield data
        return
    if not _is_sequence(data):
        raise TypeError(f"not a sequence: expected one of length {sizes[dim]} at dim {dim}, but got {data!r}")
    if len(data) != sizes[dim]:
        raise ValueError(f"expected sequence of length {sizes[dim]} at dim {dim} (got {len(data)})")
    for item in data:
        yield from _numbers(item, sizes, dim + 1)


# From numpy ----------------------------------------------------------------------------------------------------------


def from_numpy(array: np.ndarray) -> Tensor:
    """A tensor on the memory of a numpy array, with its sizes and strides. The array is kept alive.

    Raises:
        TypeError: not an array, or an array of a dtype that rushlight does not have.
        ValueError: negative strides, strides that are not a multiple of the itemsize, or a foreign byte order.

    Source: `torch/csrc/utils/tensor_numpy.cpp`, `tensor_from_numpy`.
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    if not array.flags.writeable:
        warn_once("The given NumPy array is not writable, and PyTorch does not support non-writable tensors: copy it")
    return _share(array)


def array_wrap(self: Tensor, array: np.ndarray, context: tuple | None = None, return_scalar: bool = False) -> Tensor:
    """Return the tensor that numpy gives for `np.sin(tensor)`. It has `uint8` in place of bools, as in PyTorch.
    Source: `torch/_tensor.py`, `Tensor.__array_wrap__`."""
    return from_numpy(array.astype(np.uint8) if array.dtype == bool else array)


def _share(array: np.ndarray) -> Tensor:
    if any(stride < 0 for stride in array.strides):
        raise ValueError("tensors with negative strides are not supported; make a copy of the array with .copy()")
    if any(stride % array.itemsize for stride in array.strides):
        raise ValueError("the strides of the array are not a multiple of its itemsize; make a copy of it with .copy()")
    if not array.dtype.isnative:
        raise ValueError("the array has a foreign byte order; convert it with .astype(array.dtype.newbyteorder('='))")
    dtype = dtypes.from_numpy_dtype(array.dtype)
    strides = [stride // array.itemsize for stride in array.strides]
    nbytes = strided.storage_size(array.shape, strides) * array.itemsize
    storage = UntypedStorage.from_address(array.ctypes.data, nbytes, owner=array)
    return Tensor(storage, array.shape, strides, 0, dtype)


def typed_storage(self: Tensor) -> TypedStorage:
    """The tensor's storage as a `TypedStorage`, which is deprecated, so the call warns. Source: `torch/_tensor.py`,
    `Tensor.storage`."""
    warn_of_typed_storage()
    return TypedStorage(wrap_storage=self._storage, dtype=self.dtype)


def map_(self: Tensor, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
    """Set each element to the function of it and of that of the other tensor. Source: `torch/csrc/utils/tensor_apply.cpp`."""
    return _apply_callable("map_", self, [tensor], callable)


def map2_(self: Tensor, x: Tensor, y: Tensor, callable: Callable[[Any, Any, Any], Any]) -> Tensor:
    """Overwrite each element `a` with `callable(a, b, c)`, where `b` and `c` are the elements of `x` and `y` at the
    same index, after `x` and `y` are expanded to the shape of `self`. Source: `torch/csrc/utils/tensor_apply.cpp`,
    `map2_`."""
    return _apply_callable("map2_", self, [x, y], callable)


def apply_(self: Tensor, callable: Callable[[Any], Any]) -> Tensor:
    """Overwrite each element with `callable(element)`, called in Python once for each element. A tensor that requires a
    gradient is refused. Source: `torch/csrc/utils/tensor_apply.cpp`, `apply_`."""
    return _apply_callable("apply_", self, [], callable)


def _apply_callable(name: str, self: Tensor, others: Sequence[Tensor], callable: Callable) -> Tensor:
    if any(x.requires_grad for x in (self, *others)):
        raise RuntimeError("Can't call apply_() on Variable that requires grad. Use var.detach().apply_() instead.")
    for x in others:
        if x.dtype is not self.dtype:
            raise TypeError(f"{name}() only accepts tensors of one dtype, and got {self.dtype} and {x.dtype}")
    values = [x.expand(self.shape)._array.reshape(-1).tolist() for x in (self, *others)]
    results = [callable(*each) for each in zip(*values)]
    for result in results:
        if not isinstance(result, (int, float, np.generic)):
            raise TypeError(f"must be real number, not {type(result).__name__}")
    self._array[...] = np.array(results, self.dtype.numpy).reshape(self.shape)
    self._storage.version += 1
    return self


def local_scalar_dense(self: Tensor) -> Scalar:
    """The value of a tensor with one element as a Python number. Without an element, it raises a `RuntimeError`.
    Source: `aten/src/ATen/native/Scalar.cpp`, `_local_scalar_dense_cpu`."""
    if self.numel() == 0:
        raise RuntimeError("_local_scalar_dense: Empty tensor not supported")
    return self.item()


def set_(
    self: Tensor,
    source: Tensor | TypedStorage | UntypedStorage | None = None,
    storage_offset: int = 0,
    size: Sequence[int] | None = None,
    stride: Sequence[int] = (),
) -> Tensor:
    """Put the tensor on other memory: that of a tensor, with its sizes and strides, or a storage, by default all of it. A storage
    that is too small for the sizes grows. Source: `aten/src/ATen/native/TensorShape.cpp`, `set_storage_cpu_` and `set_tensor_`."""
    if self.requires_grad and local.grad_enabled and self.is_leaf:
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
    if isinstance(source, Tensor):
        storage, storage_offset, size, stride = source._storage, source._storage_offset, source._sizes, source._strides
        dtype = source.dtype
    else:
        storage = UntypedStorage(0, self.device) if source is None else source.untyped()
        dtype = getattr(source, "dtype", self.dtype)
        size = (storage.nbytes() // dtype.itemsize,) if size is None else tuple(size)
    if dtype is not self.dtype:
        expected = f"Expected a Storage of type {self.dtype.type_name} or an UntypedStorage"
        raise RuntimeError(f"{expected}, but got type {dtype.type_name} for argument 1 'storage'")
    strides = tuple(stride) or strided.plain_strides(strided.size_of(size))
    needed = strided.storage_size(size, strides, storage_offset) * dtype.itemsize
    if needed > storage.nbytes() and storage is self._storage and tuple(size) == self._sizes:
        where = f"storage offset {storage_offset}, and itemsize {dtype.itemsize} requiring a storage size of {needed}"
        bounds = f"are out of bounds for storage of size {storage.nbytes()}"
        raise RuntimeError(f"setStorage: sizes {list(size)}, strides {list(strides)}, {where} {bounds}")
    storage.grow(needed)
    self._storage, self._storage_offset = storage, storage_offset
    self._sizes, self._strides = strided.size_of(size), strides
    self.forget_metadata()
    storage.version += 1
    if self._autograd is not None:
        self._autograd.accumulator = None  # a graph from now on has other sizes
    return self


def is_set_to(self: Tensor, tensor: Tensor) -> bool:
    """Whether two tensors are on one storage, with the same offset, sizes and strides."""
    mine, theirs = ((x._storage_offset, x._sizes, tuple(x._strides)) for x in (self, tensor))
    return self._storage is tensor._storage and mine == theirs


def storage_type(self: Tensor) -> Any:
    """The class of typed storages for the tensor's dtype, for example `FloatStorage`. Source: `torch/_tensor.py`,
    `Tensor.storage_type`."""
    return _storage_classes[self.dtype]


add_attributes(
    __array_wrap__=array_wrap,
    apply_=apply_,
    is_set_to=is_set_to,
    map2_=map2_,
    map_=map_,
    set_=set_,
    storage_type=storage_type,
    _base_tensor_ctor=base_tensor_ctor,
    new=tensor_new,
    new_tensor=new_tensor,
    storage=typed_storage,
    type=tensor_type,
)


def inclusive_range(start: Scalar, end: Scalar, step: Scalar, dtype: dtype | None, device) -> Tensor:
    """Like `arange`, with `end`, and of the default dtype. Source: `torch/csrc/autograd/python_torch_functions_manual.cpp`."""
    warn("torch.range is deprecated: use torch.arange, which produces values in [start, end).")
    count = max(math.floor((end - start) / step) + 1, 0)
    numbers = functions.arange(count, dtype=dtypes.float64, device=device) * step + start
    return numbers.to(dtype or get_default_dtype())
