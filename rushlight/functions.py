"""What `rl.add(x, y)` and `x.add(y)` run: generated from `native_functions.yaml` by `codegen.py`. Do not edit.

Each function finds the key set of the call in line, where it can, and runs what the operator's table holds for it. The
operators stand at the end of the file, with the kernels that are registered for them.
"""

# ruff: noqa: A001, A002, E501, F401
from rushlight import creation, pointwise, strided, views
from rushlight.dispatch import local
from rushlight.library import declare, invoke, resolve
from rushlight.memory_formats import contiguous_format
from rushlight.schema import NUMBERS
from rushlight.strided import Tensor, int_list

__all__ = [
    "add",
    "alias",
    "arange",
    "as_strided",
    "broadcast_to",
    "chunk",
    "clone",
    "diagonal",
    "empty",
    "empty_like",
    "empty_strided",
    "eq",
    "equal",
    "flatten",
    "full",
    "movedim",
    "mul",
    "narrow",
    "ne",
    "ones",
    "ones_like",
    "permute",
    "reshape",
    "select",
    "slice",
    "split",
    "squeeze",
    "sub",
    "t",
    "transpose",
    "unbind",
    "unflatten",
    "unsqueeze",
    "zeros",
    "zeros_like",
]
NN = []


def alias(input):
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(alias_op, input)
    return alias_op.table[key_set](input)


def as_strided(input, size, stride, storage_offset=None):
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(as_strided_op, input, size, stride, storage_offset)
    return as_strided_op.table[key_set](input, size, stride, storage_offset)


def broadcast_tensors(tensors):
    return invoke(broadcast_tensors_op, tensors)


def broadcast_to(input, size):
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(broadcast_to_op, input, size)
    return broadcast_to_op.table[key_set](input, size)


def chunk(input, chunks, dim=0):
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(chunk_op, input, chunks, dim)
    return chunk_op.table[key_set](input, chunks, dim)


def diagonal(input, offset=0, dim1=0, dim2=1):
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(diagonal_op, input, offset, dim1, dim2)
    return diagonal_op.table[key_set](input, offset, dim1, dim2)


def flatten(input, start_dim=0, end_dim=-1):
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(flatten_using_ints_op, input, start_dim, end_dim)
    return flatten_using_ints_op.table[key_set](input, start_dim, end_dim)


def movedim(*args, **kwargs):
    return resolve((movedim_intlist_op, movedim_int_op), args, kwargs)


def narrow(input, dim, start, length):
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(narrow_op, input, dim, start, length)
    return narrow_op.table[key_set](input, dim, start, length)


def permute(input, dims):
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(permute_op, input, dims)
    return permute_op.table[key_set](input, dims)


def reshape(input, shape):
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(reshape_op, input, shape)
    return reshape_op.table[key_set](input, shape)


def select(input, dim, index):
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(select_int_op, input, dim, index)
    return select_int_op.table[key_set](input, dim, index)


def slice(input, dim=0, start=None, end=None, step=1):
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(slice_Tensor_op, input, dim, start, end, step)
    return slice_Tensor_op.table[key_set](input, dim, start, end, step)


def split(*args, **kwargs):
    return resolve((split_Tensor_op, split_sizes_op), args, kwargs)


def squeeze(*args, **kwargs):
    return resolve((squeeze_op, squeeze_dim_op, squeeze_dims_op), args, kwargs)


def t(input):
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(t_op, input)
    return t_op.table[key_set](input)


def transpose(input, dim0, dim1):
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(transpose_int_op, input, dim0, dim1)
    return transpose_int_op.table[key_set](input, dim0, dim1)


def unbind(input, dim=0):
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(unbind_int_op, input, dim)
    return unbind_int_op.table[key_set](input, dim)


def unflatten(input, dim, sizes):
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(unflatten_int_op, input, dim, sizes)
    return unflatten_int_op.table[key_set](input, dim, sizes)


def unsqueeze(input, dim):
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(unsqueeze_op, input, dim)
    return unsqueeze_op.table[key_set](input, dim)


def clone(input, *, memory_format=None):
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(clone_op, input, memory_format)
    return clone_op.table[key_set](input, memory_format)


def arange(*args, **kwargs):
    return resolve((arange_op, arange_start_op, arange_start_step_op), args, kwargs)


def empty(*size, dtype=None, layout=None, device=None, pin_memory=None, memory_format=None):
    size = int_list(size)
    return invoke(empty_memory_format_op, size, dtype, layout, device, pin_memory, memory_format)


def empty_like(input, *, dtype=None, layout=None, device=None, pin_memory=None, memory_format=None):
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(empty_like_op, input, dtype, layout, device, pin_memory, memory_format)
    return empty_like_op.table[key_set](input, dtype, layout, device, pin_memory, memory_format)


def empty_strided(size, stride, *, dtype=None, layout=None, device=None, pin_memory=None):
    return invoke(empty_strided_op, size, stride, dtype, layout, device, pin_memory)


def full(size, fill_value, *, dtype=None, layout=None, device=None, pin_memory=None):
    return invoke(full_op, size, fill_value, dtype, layout, device, pin_memory)


def ones(*size, dtype=None, layout=None, device=None, pin_memory=None):
    size = int_list(size)
    return invoke(ones_op, size, dtype, layout, device, pin_memory)


def ones_like(input, *, dtype=None, layout=None, device=None, pin_memory=None, memory_format=None):
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(ones_like_op, input, dtype, layout, device, pin_memory, memory_format)
    return ones_like_op.table[key_set](input, dtype, layout, device, pin_memory, memory_format)


def zeros(*size, dtype=None, layout=None, device=None, pin_memory=None):
    size = int_list(size)
    return invoke(zeros_op, size, dtype, layout, device, pin_memory)


def zeros_like(input, *, dtype=None, layout=None, device=None, pin_memory=None, memory_format=None):
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(zeros_like_op, input, dtype, layout, device, pin_memory, memory_format)
    return zeros_like_op.table[key_set](input, dtype, layout, device, pin_memory, memory_format)


def add(input, other, *, alpha=1, out=None):
    if out is not None:
        return invoke(add_out_op, input, other, alpha, out)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(add_Tensor_op, input, other, alpha)
    return add_Tensor_op.table[key_set](input, other, alpha)


def eq(input, other, *, out=None):
    if out is not None:
        return invoke(eq_Tensor_out_op, input, other, out)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(eq_Tensor_op, input, other)
    return eq_Tensor_op.table[key_set](input, other)


def equal(input, other):
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(equal_op, input, other)
    return equal_op.table[key_set](input, other)


def mul(input, other, *, out=None):
    if out is not None:
        return invoke(mul_out_op, input, other, out)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(mul_Tensor_op, input, other)
    return mul_Tensor_op.table[key_set](input, other)


def ne(input, other, *, out=None):
    if out is not None:
        return invoke(ne_Tensor_out_op, input, other, out)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(ne_Tensor_op, input, other)
    return ne_Tensor_op.table[key_set](input, other)


def sub(input, other, *, alpha=1, out=None):
    if out is not None:
        return invoke(sub_out_op, input, other, alpha, out)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(sub_Tensor_op, input, other, alpha)
    return sub_Tensor_op.table[key_set](input, other, alpha)


# ---- Methods


def _as_strided(self, size, stride, storage_offset=None):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(as_strided_op, self, size, stride, storage_offset)
    return as_strided_op.table[key_set](self, size, stride, storage_offset)


Tensor.as_strided = _as_strided


def _broadcast_to(self, *size):
    size = int_list(size)
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(broadcast_to_op, self, size)
    return broadcast_to_op.table[key_set](self, size)


Tensor.broadcast_to = _broadcast_to


def _chunk(self, chunks, dim=0):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(chunk_op, self, chunks, dim)
    return chunk_op.table[key_set](self, chunks, dim)


Tensor.chunk = _chunk


def _diagonal(self, offset=0, dim1=0, dim2=1):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(diagonal_op, self, offset, dim1, dim2)
    return diagonal_op.table[key_set](self, offset, dim1, dim2)


Tensor.diagonal = _diagonal


def _expand(self, *size):
    size = int_list(size)
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(expand_op, self, size)
    return expand_op.table[key_set](self, size)


Tensor.expand = _expand


def _expand_as(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(expand_as_op, self, other)
    return expand_as_op.table[key_set](self, other)


Tensor.expand_as = _expand_as


def _flatten(self, start_dim=0, end_dim=-1):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(flatten_using_ints_op, self, start_dim, end_dim)
    return flatten_using_ints_op.table[key_set](self, start_dim, end_dim)


Tensor.flatten = _flatten


def _mT(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(mT_op, self)
    return mT_op.table[key_set](self)


Tensor.mT = _mT


def _movedim(self, *args, **kwargs):
    return resolve((movedim_intlist_op, movedim_int_op), (self, *args), kwargs)


Tensor.movedim = _movedim


def _narrow(self, dim, start, length):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(narrow_op, self, dim, start, length)
    return narrow_op.table[key_set](self, dim, start, length)


Tensor.narrow = _narrow


def _numpy_T(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(numpy_T_op, self)
    return numpy_T_op.table[key_set](self)


Tensor.numpy_T = _numpy_T


def _permute(self, *dims):
    dims = int_list(dims)
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(permute_op, self, dims)
    return permute_op.table[key_set](self, dims)


Tensor.permute = _permute


def _reshape(self, *shape):
    shape = int_list(shape)
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(reshape_op, self, shape)
    return reshape_op.table[key_set](self, shape)


Tensor.reshape = _reshape


def _reshape_as(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(reshape_as_op, self, other)
    return reshape_as_op.table[key_set](self, other)


Tensor.reshape_as = _reshape_as


def _select(self, dim, index):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(select_int_op, self, dim, index)
    return select_int_op.table[key_set](self, dim, index)


Tensor.select = _select


def _split(self, *args, **kwargs):
    return resolve((split_Tensor_op, split_sizes_op), (self, *args), kwargs)


Tensor.split = _split


def _squeeze(self, *args, **kwargs):
    return resolve((squeeze_op, squeeze_dim_op, squeeze_dims_op), (self, *args), kwargs)


Tensor.squeeze = _squeeze


def _t(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(t_op, self)
    return t_op.table[key_set](self)


Tensor.t = _t


def _transpose(self, dim0, dim1):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(transpose_int_op, self, dim0, dim1)
    return transpose_int_op.table[key_set](self, dim0, dim1)


Tensor.transpose = _transpose


def _unbind(self, dim=0):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(unbind_int_op, self, dim)
    return unbind_int_op.table[key_set](self, dim)


Tensor.unbind = _unbind


def _unflatten(self, dim, sizes):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(unflatten_int_op, self, dim, sizes)
    return unflatten_int_op.table[key_set](self, dim, sizes)


Tensor.unflatten = _unflatten


def _unfold(self, dimension, size, step):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(unfold_op, self, dimension, size, step)
    return unfold_op.table[key_set](self, dimension, size, step)


Tensor.unfold = _unfold


def _unsqueeze(self, dim):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(unsqueeze_op, self, dim)
    return unsqueeze_op.table[key_set](self, dim)


Tensor.unsqueeze = _unsqueeze


def _view(self, *size):
    size = int_list(size)
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(view_op, self, size)
    return view_op.table[key_set](self, size)


Tensor.view = _view


def _view_as(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(view_as_op, self, other)
    return view_as_op.table[key_set](self, other)


Tensor.view_as = _view_as


def _clone(self, *, memory_format=None):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(clone_op, self, memory_format)
    return clone_op.table[key_set](self, memory_format)


Tensor.clone = _clone


def _contiguous(self, *, memory_format=contiguous_format):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(contiguous_op, self, memory_format)
    return contiguous_op.table[key_set](self, memory_format)


Tensor.contiguous = _contiguous


def _copy_(self, src, non_blocking=False):
    try:
        key_set = (self._key_set | src._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(copy__op, self, src, non_blocking)
    return copy__op.table[key_set](self, src, non_blocking)


Tensor.copy_ = _copy_


def _to(self, dtype, non_blocking=False, copy=False, memory_format=None):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(to_dtype_op, self, dtype, non_blocking, copy, memory_format)
    return to_dtype_op.table[key_set](self, dtype, non_blocking, copy, memory_format)


Tensor.to = _to


def _fill_(self, *args, **kwargs):
    return resolve((fill__Scalar_op, fill__Tensor_op), (self, *args), kwargs)


Tensor.fill_ = _fill_


def _resize_(self, *size, memory_format=None):
    size = int_list(size)
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(resize__op, self, size, memory_format)
    return resize__op.table[key_set](self, size, memory_format)


Tensor.resize_ = _resize_


def _zero_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(zero__op, self)
    return zero__op.table[key_set](self)


Tensor.zero_ = _zero_


def _add(self, other, *, alpha=1):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(add_Tensor_op, self, other, alpha)
    return add_Tensor_op.table[key_set](self, other, alpha)


Tensor.add = _add


def _add_(self, other, *, alpha=1):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(add__Tensor_op, self, other, alpha)
    return add__Tensor_op.table[key_set](self, other, alpha)


Tensor.add_ = _add_


def _eq(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(eq_Tensor_op, self, other)
    return eq_Tensor_op.table[key_set](self, other)


Tensor.eq = _eq


def _eq_(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(eq__Tensor_op, self, other)
    return eq__Tensor_op.table[key_set](self, other)


Tensor.eq_ = _eq_


def _equal(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(equal_op, self, other)
    return equal_op.table[key_set](self, other)


Tensor.equal = _equal


def _mul(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(mul_Tensor_op, self, other)
    return mul_Tensor_op.table[key_set](self, other)


Tensor.mul = _mul


def _mul_(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(mul__Tensor_op, self, other)
    return mul__Tensor_op.table[key_set](self, other)


Tensor.mul_ = _mul_


def _ne(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(ne_Tensor_op, self, other)
    return ne_Tensor_op.table[key_set](self, other)


Tensor.ne = _ne


def _ne_(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(ne__Tensor_op, self, other)
    return ne__Tensor_op.table[key_set](self, other)


Tensor.ne_ = _ne_


def _sub(self, other, *, alpha=1):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(sub_Tensor_op, self, other, alpha)
    return sub_Tensor_op.table[key_set](self, other, alpha)


Tensor.sub = _sub


def _sub_(self, other, *, alpha=1):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(sub__Tensor_op, self, other, alpha)
    return sub__Tensor_op.table[key_set](self, other, alpha)


Tensor.sub_ = _sub_


def __add__(self, other):
    if other.__class__ is Tensor:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    elif isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
    else:
        return NotImplemented
    return add_Tensor_op.table[key_set](self, other, 1)


Tensor.__add__ = __add__


def __radd__(self, other):
    if other.__class__ is Tensor:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    elif isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
    else:
        return NotImplemented
    return add_Tensor_op.table[key_set](other, self, 1)


Tensor.__radd__ = __radd__


def __iadd__(self, other):
    if other.__class__ is Tensor:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    elif isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
    else:
        return NotImplemented
    return add__Tensor_op.table[key_set](self, other, 1)


Tensor.__iadd__ = __iadd__


def __sub__(self, other):
    if other.__class__ is Tensor:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    elif isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
    else:
        return NotImplemented
    return sub_Tensor_op.table[key_set](self, other, 1)


Tensor.__sub__ = __sub__


def __rsub__(self, other):
    if other.__class__ is Tensor:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    elif isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
    else:
        return NotImplemented
    return sub_Tensor_op.table[key_set](other, self, 1)


Tensor.__rsub__ = __rsub__


def __isub__(self, other):
    if other.__class__ is Tensor:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    elif isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
    else:
        return NotImplemented
    return sub__Tensor_op.table[key_set](self, other, 1)


Tensor.__isub__ = __isub__


def __mul__(self, other):
    if other.__class__ is Tensor:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    elif isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
    else:
        return NotImplemented
    return mul_Tensor_op.table[key_set](self, other)


Tensor.__mul__ = __mul__


def __rmul__(self, other):
    if other.__class__ is Tensor:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    elif isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
    else:
        return NotImplemented
    return mul_Tensor_op.table[key_set](other, self)


Tensor.__rmul__ = __rmul__


def __imul__(self, other):
    if other.__class__ is Tensor:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    elif isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
    else:
        return NotImplemented
    return mul__Tensor_op.table[key_set](self, other)


Tensor.__imul__ = __imul__


def __eq__(self, other):
    if other.__class__ is Tensor:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    elif isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
    else:
        return NotImplemented
    return eq_Tensor_op.table[key_set](self, other)


Tensor.__eq__ = __eq__


def __ne__(self, other):
    if other.__class__ is Tensor:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    elif isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
    else:
        return NotImplemented
    return ne_Tensor_op.table[key_set](self, other)


Tensor.__ne__ = __ne__


# ---- Operators


alias_op = declare("alias(Tensor(a) self) -> Tensor(a)", CompositeExplicitAutograd=views.alias)
as_strided_op = declare(
    "as_strided(Tensor(a) self, int[] size, int[] stride, int? storage_offset=None) -> Tensor(a)",
    CPU=strided.as_strided,
    Meta=strided.as_strided,
)
broadcast_tensors_op = declare(
    "broadcast_tensors(Tensor[] tensors) -> Tensor[]", CompositeImplicitAutograd=views.broadcast_tensors
)
broadcast_to_op = declare(
    "broadcast_to(Tensor(a) self, int[] size) -> Tensor(a)", CompositeImplicitAutograd=views.broadcast_to
)
chunk_op = declare(
    "chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]", CompositeImplicitAutograd=views.chunk
)
diagonal_op = declare(
    "diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)",
    CompositeExplicitAutograd=views.diagonal,
)
expand_op = declare("expand(Tensor(a) self, int[] size) -> Tensor(a)", CompositeExplicitAutograd=strided.expand)
expand_as_op = declare(
    "expand_as(Tensor(a) self, Tensor other) -> Tensor(a)", CompositeImplicitAutograd=views.expand_as
)
flatten_using_ints_op = declare(
    "flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)",
    CompositeImplicitAutograd=views.flatten,
)
mT_op = declare("mT(Tensor(a) self) -> Tensor(a)", CompositeImplicitAutograd=views.mT)
movedim_intlist_op = declare(
    "movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)",
    CompositeImplicitAutograd=views.movedim,
)
movedim_int_op = declare(
    "movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a)", CompositeImplicitAutograd=views.movedim
)
narrow_op = declare(
    "narrow(Tensor(a) self, int dim, int start, int length) -> Tensor(a)", CompositeImplicitAutograd=views.narrow
)
numpy_T_op = declare("numpy_T(Tensor(a) self) -> Tensor(a)", CompositeImplicitAutograd=views.numpy_T)
permute_op = declare("permute(Tensor(a) self, int[] dims) -> Tensor(a)", CompositeExplicitAutograd=strided.permute)
reshape_op = declare("reshape(Tensor(a) self, int[] shape) -> Tensor(a)", CompositeImplicitAutograd=strided.reshape)
reshape_as_op = declare(
    "reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)", CompositeImplicitAutograd=views.reshape_as
)
select_int_op = declare(
    "select.int(Tensor(a) self, int dim, int index) -> Tensor(a)", CompositeExplicitAutograd=strided.select
)
slice_Tensor_op = declare(
    "slice.Tensor(Tensor(a) self, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor(a)",
    CompositeExplicitAutograd=strided.slice,
)
split_Tensor_op = declare(
    "split.Tensor(Tensor(a -> *) self, int split_size, int dim=0) -> Tensor(a)[]", CompositeExplicitAutograd=views.split
)
split_sizes_op = declare(
    "split.sizes(Tensor(a -> *) self, int[] split_size, int dim=0) -> Tensor(a)[]",
    CompositeImplicitAutograd=views.split,
)
squeeze_op = declare("squeeze(Tensor(a) self) -> Tensor(a)", CompositeExplicitAutograd=views.squeeze)
squeeze_dim_op = declare("squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)", CompositeExplicitAutograd=views.squeeze)
squeeze_dims_op = declare(
    "squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)", CompositeExplicitAutograd=views.squeeze
)
t_op = declare("t(Tensor(a) self) -> Tensor(a)", CompositeExplicitAutograd=views.t)
transpose_int_op = declare(
    "transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", CompositeExplicitAutograd=strided.transpose
)
unbind_int_op = declare(
    "unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]", CompositeExplicitAutograd=views.unbind
)
unflatten_int_op = declare(
    "unflatten.int(Tensor(a) self, int dim, int[] sizes) -> Tensor(a)", CompositeImplicitAutograd=views.unflatten
)
unfold_op = declare(
    "unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)", CPU=views.unfold, Meta=views.unfold
)
unsqueeze_op = declare("unsqueeze(Tensor(a) self, int dim) -> Tensor(a)", CompositeExplicitAutograd=strided.unsqueeze)
view_op = declare("view(Tensor(a) self, int[] size) -> Tensor(a)", CPU=strided.view, Meta=strided.view)
view_as_op = declare("view_as(Tensor(a) self, Tensor other) -> Tensor(a)", CompositeImplicitAutograd=views.view_as)
clone_op = declare(
    "clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", CompositeExplicitAutograd=strided.clone
)
contiguous_op = declare(
    "contiguous(Tensor(a) self, *, MemoryFormat memory_format=contiguous_format) -> Tensor(a)",
    CompositeImplicitAutograd=strided.contiguous,
)
copy__op = declare(
    "copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)",
    CompositeExplicitAutograd=pointwise.copy_,
)
to_dtype_op = declare(
    "to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)",
    CompositeImplicitAutograd=pointwise.to_dtype,
)
arange_op = declare(
    "arange(Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    CompositeExplicitAutograd=creation.arange_end,
    factory=True,
)
arange_start_op = declare(
    "arange.start(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    CompositeExplicitAutograd=creation.arange_start,
    factory=True,
)
arange_start_step_op = declare(
    "arange.start_step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    CompositeExplicitAutograd=creation.arange,
    factory=True,
)
empty_memory_format_op = declare(
    "empty.memory_format(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
    CPU=creation.empty_cpu,
    Meta=creation.empty_meta,
    factory=True,
)
empty_like_op = declare(
    "empty_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
    CompositeExplicitAutograd=creation.empty_like,
)
empty_strided_op = declare(
    "empty_strided(int[] size, int[] stride, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    CPU=creation.empty_strided_cpu,
    Meta=creation.empty_strided_meta,
    factory=True,
)
full_op = declare(
    "full(int[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    CompositeExplicitAutograd=creation.full,
    factory=True,
)
ones_op = declare(
    "ones(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    CompositeExplicitAutograd=creation.ones,
    factory=True,
)
ones_like_op = declare(
    "ones_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
    CompositeExplicitAutograd=creation.ones_like,
)
zeros_op = declare(
    "zeros(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
    CompositeExplicitAutograd=creation.zeros,
    factory=True,
)
zeros_like_op = declare(
    "zeros_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
    CompositeExplicitAutograd=creation.zeros_like,
)
fill__Scalar_op = declare(
    "fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!)", CPU=pointwise.fill_, Meta=pointwise.fill_
)
fill__Tensor_op = declare(
    "fill_.Tensor(Tensor(a!) self, Tensor value) -> Tensor(a!)", CPU=pointwise.fill_, Meta=pointwise.fill_
)
resize__op = declare(
    "resize_(Tensor(a!) self, int[] size, *, MemoryFormat? memory_format=None) -> Tensor(a!)",
    CPU=creation.resize_,
    Meta=creation.resize_,
)
zero__op = declare("zero_(Tensor(a!) self) -> Tensor(a!)", CPU=pointwise.zero_, Meta=pointwise.zero_)
add_Tensor_op = declare(
    "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    CPU=pointwise.add.functional,
    Meta=pointwise.add.on_meta,
)
add__Tensor_op = declare(
    "add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)",
    CPU=pointwise.add.inplace,
    Meta=pointwise.add.inplace,
)
add_out_op = declare(
    "add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)",
    CPU=pointwise.add.out,
    Meta=pointwise.add.out,
)
eq_Tensor_op = declare(
    "eq.Tensor(Tensor self, Tensor other) -> Tensor", CPU=pointwise.eq.functional, Meta=pointwise.eq.on_meta
)
eq__Tensor_op = declare(
    "eq_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", CPU=pointwise.eq.inplace, Meta=pointwise.eq.inplace
)
eq_Tensor_out_op = declare(
    "eq.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
    CPU=pointwise.eq.out,
    Meta=pointwise.eq.out,
)
equal_op = declare("equal(Tensor self, Tensor other) -> bool", CPU=pointwise.equal)
mul_Tensor_op = declare(
    "mul.Tensor(Tensor self, Tensor other) -> Tensor", CPU=pointwise.mul.functional, Meta=pointwise.mul.on_meta
)
mul__Tensor_op = declare(
    "mul_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", CPU=pointwise.mul.inplace, Meta=pointwise.mul.inplace
)
mul_out_op = declare(
    "mul.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)", CPU=pointwise.mul.out, Meta=pointwise.mul.out
)
ne_Tensor_op = declare(
    "ne.Tensor(Tensor self, Tensor other) -> Tensor", CPU=pointwise.ne.functional, Meta=pointwise.ne.on_meta
)
ne__Tensor_op = declare(
    "ne_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", CPU=pointwise.ne.inplace, Meta=pointwise.ne.inplace
)
ne_Tensor_out_op = declare(
    "ne.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
    CPU=pointwise.ne.out,
    Meta=pointwise.ne.out,
)
sub_Tensor_op = declare(
    "sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    CPU=pointwise.sub.functional,
    Meta=pointwise.sub.on_meta,
)
sub__Tensor_op = declare(
    "sub_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)",
    CPU=pointwise.sub.inplace,
    Meta=pointwise.sub.inplace,
)
sub_out_op = declare(
    "sub.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)",
    CPU=pointwise.sub.out,
    Meta=pointwise.sub.out,
)
