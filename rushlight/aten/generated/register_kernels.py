"""The kernels of the operators, by dispatch key. Generated from `native_functions.yaml`. Do not edit.

Importing this module registers the kernels. In PyTorch: `RegisterCPU.cpp`, `RegisterCompositeImplicitAutograd.cpp` and so on,
which register kernels when the library is loaded.
"""

# ruff: noqa: E501, I001
import math

import numpy as np

from rushlight.aten.generated import functions
from rushlight.aten import strided, structured
from rushlight.aten.native import (
    advanced_indexing, attention, conversions, convolution, creation, distance, elementary, functional_forms,
    gather_scatter, linear, linear_algebra, loss_ctc, losses, normalisation, padding, pointwise, pooling, quantized,
    random, reductions, rnn, sorting, tensor_shape, upsampling, views,
)  # fmt: skip
from rushlight.library import implement, invoke

implement("alias", CompositeExplicitAutograd=views.alias)
implement(
    "alias_copy",
    CompositeExplicitAutogradNonFunctional=lambda self: tensor_shape.copies(invoke(functions.alias_op, self)),
)
implement("as_strided", CPU=strided.as_strided, Meta=strided.as_strided)
implement(
    "as_strided_copy",
    CompositeExplicitAutogradNonFunctional=lambda self, size, stride, storage_offset: tensor_shape.copies(
        invoke(functions.as_strided_op, self, size, stride, storage_offset)
    ),
)
implement("as_strided_", CompositeExplicitAutogradNonFunctional=views.as_strided_)
implement("broadcast_tensors", CompositeImplicitAutograd=views.broadcast_tensors)
implement("broadcast_to", CompositeImplicitAutograd=lambda self, size: self.expand(size))
implement("chunk", CompositeImplicitAutograd=views.chunk)
implement("detach", CompositeExplicitAutograd=views.alias)
implement("diagonal", CompositeExplicitAutograd=views.diagonal)
implement(
    "diagonal_copy",
    CompositeExplicitAutogradNonFunctional=lambda self, offset, dim1, dim2: tensor_shape.copies(
        invoke(functions.diagonal_op, self, offset, dim1, dim2)
    ),
)
implement(
    "diagonal_copy.out",
    CompositeExplicitAutogradNonFunctional=lambda self, offset, dim1, dim2, out: structured.write_out(
        invoke(functions.diagonal_copy_op, self, offset, dim1, dim2), [self, offset, dim1, dim2], out, casts=False
    ),
)
implement("expand", CompositeExplicitAutograd=strided.expand)
implement(
    "expand_copy",
    CompositeExplicitAutogradNonFunctional=lambda self, size: tensor_shape.copies(
        invoke(functions.expand_op, self, size)
    ),
)
implement("expand_as", CompositeImplicitAutograd=lambda self, other: self.expand(other.shape))
implement("flatten.using_ints", CompositeImplicitAutograd=views.flatten)
implement("lift_fresh", CompositeExplicitAutograd=lambda self: self)
implement("lift_fresh_copy", CompositeExplicitAutogradNonFunctional=strided.clone)
implement("mT", CompositeImplicitAutograd=views.mT)
implement("movedim.intlist", CompositeImplicitAutograd=views.movedim)
implement("movedim.int", CompositeImplicitAutograd=views.movedim)
implement("narrow", CompositeImplicitAutograd=views.narrow)
implement("narrow.Tensor", CompositeImplicitAutograd=views.narrow_tensor)
implement("numpy_T", CompositeImplicitAutograd=views.numpy_T)
implement("permute", CompositeExplicitAutograd=strided.permute)
implement(
    "permute_copy",
    CompositeExplicitAutogradNonFunctional=lambda self, dims: tensor_shape.copies(
        invoke(functions.permute_op, self, dims)
    ),
)
implement(
    "_reshape_alias",
    CompositeExplicitAutograd=lambda self, size, stride: strided.alias(self, size, stride, self.storage_offset()),
)
implement(
    "_reshape_alias_copy",
    CompositeExplicitAutogradNonFunctional=lambda self, size, stride: tensor_shape.copies(
        invoke(functions._reshape_alias_op, self, size, stride)
    ),
)
implement("reshape", CompositeImplicitAutograd=views.reshape)
implement("reshape_as", CompositeImplicitAutograd=lambda self, other: functions.reshape(self, other.shape))
implement("select.int", CompositeExplicitAutograd=strided.select)
implement("slice.Tensor", CompositeExplicitAutograd=strided.slice)
implement("split.Tensor", CompositeExplicitAutograd=views.split)
implement(
    "split.sizes",
    CompositeImplicitAutograd=lambda self, split_size, dim: functions.split_with_sizes(self, split_size, dim),
)
implement("split_with_sizes", CompositeExplicitAutograd=views.split_with_sizes)
implement(
    "split_with_sizes_copy",
    CompositeExplicitAutogradNonFunctional=lambda self, split_sizes, dim: tensor_shape.copies(
        invoke(functions.split_with_sizes_op, self, split_sizes, dim)
    ),
)
implement("squeeze", CompositeExplicitAutograd=views.squeeze)
implement(
    "squeeze_copy",
    CompositeExplicitAutogradNonFunctional=lambda self: tensor_shape.copies(invoke(functions.squeeze_op, self)),
)
implement("squeeze.dim", CompositeExplicitAutograd=views.squeeze)
implement(
    "squeeze_copy.dim",
    CompositeExplicitAutogradNonFunctional=lambda self, dim: tensor_shape.copies(
        invoke(functions.squeeze_dim_op, self, dim)
    ),
)
implement("squeeze.dims", CompositeExplicitAutograd=views.squeeze)
implement(
    "squeeze_copy.dims",
    CompositeExplicitAutogradNonFunctional=lambda self, dim: tensor_shape.copies(
        invoke(functions.squeeze_dims_op, self, dim)
    ),
)
implement("squeeze_", CompositeExplicitAutograd=views.squeeze_)
implement("squeeze_.dim", CompositeExplicitAutograd=views.squeeze_)
implement("squeeze_.dims", CompositeExplicitAutograd=views.squeeze_)
implement("t", CompositeExplicitAutograd=views.t)
implement(
    "t_copy", CompositeExplicitAutogradNonFunctional=lambda self: tensor_shape.copies(invoke(functions.t_op, self))
)
implement("t_", CompositeExplicitAutograd=views.t_)
implement("transpose.int", CompositeExplicitAutograd=strided.transpose)
implement(
    "transpose_copy.int",
    CompositeExplicitAutogradNonFunctional=lambda self, dim0, dim1: tensor_shape.copies(
        invoke(functions.transpose_int_op, self, dim0, dim1)
    ),
)
implement("swapaxes", CompositeImplicitAutograd=lambda self, axis0, axis1: self.transpose(axis0, axis1))
implement("swapdims", CompositeImplicitAutograd=lambda self, dim0, dim1: self.transpose(dim0, dim1))
implement("transpose_", CompositeExplicitAutograd=views.transpose_)
implement("unbind.int", CompositeExplicitAutograd=views.unbind)
implement(
    "unbind_copy.int",
    CompositeExplicitAutogradNonFunctional=lambda self, dim: tensor_shape.copies(
        invoke(functions.unbind_int_op, self, dim)
    ),
)
implement("unflatten.int", CompositeImplicitAutograd=views.unflatten)
implement("unfold", CPU=views.unfold, Meta=views.unfold)
implement(
    "unfold_copy",
    CompositeExplicitAutogradNonFunctional=lambda self, dimension, size, step: tensor_shape.copies(
        invoke(functions.unfold_op, self, dimension, size, step)
    ),
)
implement("unsqueeze", CompositeExplicitAutograd=strided.unsqueeze)
implement(
    "unsqueeze_copy",
    CompositeExplicitAutogradNonFunctional=lambda self, dim: tensor_shape.copies(
        invoke(functions.unsqueeze_op, self, dim)
    ),
)
implement("unsqueeze_", CompositeExplicitAutograd=views.unsqueeze_)
implement("view", CPU=strided.view, Meta=strided.view)
implement(
    "view_copy",
    CompositeExplicitAutogradNonFunctional=lambda self, size: tensor_shape.copies(
        invoke(functions.view_op, self, size)
    ),
)
implement("view.dtype", CPU=views.view_dtype, Meta=views.view_dtype)
implement(
    "view_copy.dtype",
    CompositeExplicitAutogradNonFunctional=lambda self, dtype: tensor_shape.copies(
        invoke(functions.view_dtype_op, self, dtype)
    ),
)
implement("_unsafe_view", CompositeExplicitAutograd=lambda self, size: views.view(self, tuple(size)))
implement("view_as", CompositeImplicitAutograd=lambda self, other: self.view(other.shape))
implement("clone", CompositeExplicitAutograd=strided.clone)
implement(
    "contiguous",
    CompositeImplicitAutograd=lambda self, memory_format: (
        self if self.is_contiguous(memory_format) else functions.clone(self, memory_format=memory_format)
    ),
)
implement("copy_", CompositeExplicitAutograd=pointwise.copy_)
implement("_to_copy", CompositeExplicitAutograd=conversions.to_copy)
implement("to.dtype_layout", CompositeImplicitAutograd=conversions.to_dtype_layout)
implement(
    "to.device",
    CompositeImplicitAutograd=lambda self, device, dtype, non_blocking, copy, memory_format: (
        conversions.to_dtype_layout(self, dtype, None, device, None, non_blocking, copy, memory_format)
    ),
)
implement(
    "to.dtype",
    CompositeImplicitAutograd=lambda self, dtype, non_blocking, copy, memory_format: conversions.to_dtype_layout(
        self, dtype, None, None, None, non_blocking, copy, memory_format
    ),
)
implement(
    "to.other",
    CompositeImplicitAutograd=lambda self, other, non_blocking, copy, memory_format: conversions.to_dtype_layout(
        self, other.dtype, None, other.device, None, non_blocking, copy, memory_format
    ),
)
implement("type_as", CompositeImplicitAutograd=lambda self, other: self.to(other))
implement(
    "arange",
    CompositeExplicitAutograd=lambda end, dtype, layout, device, pin_memory: creation.arange(
        0, end, 1, dtype, layout, device
    ),
    factory=True,
)
implement("arange.out", CompositeExplicitAutograd=lambda end, out: creation.arange_out(0, end, 1, out))
implement(
    "arange.start",
    CompositeExplicitAutograd=lambda start, end, dtype, layout, device, pin_memory: creation.arange(
        start, end, 1, dtype, layout, device
    ),
    factory=True,
)
implement("arange.start_step", CompositeExplicitAutograd=creation.arange, factory=True)
implement("arange.start_out", CPU=creation.arange_out, Meta=creation.arange_out)
implement("empty.memory_format", CPU=creation.empty_cpu, Meta=creation.empty_meta, factory=True)
implement(
    "empty.out",
    CompositeExplicitAutograd=lambda size, memory_format, out: creation.fill_empty(
        creation.resize_(out, size, memory_format)
    ),
)
implement("empty_like", CompositeExplicitAutograd=creation.empty_like)
implement(
    "empty_strided",
    CPU=lambda size, stride, dtype, layout, device, pin_memory: creation.fill_empty(
        strided.empty_strided(size, stride, dtype, "cpu")
    ),
    Meta=lambda size, stride, dtype, layout, device, pin_memory: strided.empty_strided(size, stride, dtype, "meta"),
    factory=True,
)
implement(
    "eye",
    CompositeExplicitAutograd=lambda n, dtype, layout, device, pin_memory: creation.eye(
        n, n, creation._new((0,), dtype, device)
    ),
    factory=True,
)
implement(
    "eye.m",
    CompositeExplicitAutograd=lambda n, m, dtype, layout, device, pin_memory: creation.eye(
        n, m, creation._new((0,), dtype, device)
    ),
    factory=True,
)
implement("eye.out", CPU=lambda n, out: creation.eye(n, n, out), Meta=lambda n, out: creation.eye(n, n, out))
implement("eye.m_out", CPU=lambda n, m, out: creation.eye(n, m, out), Meta=lambda n, m, out: creation.eye(n, m, out))
implement("full", CompositeExplicitAutograd=creation.full, factory=True)
implement(
    "full.out",
    CompositeExplicitAutograd=lambda size, fill_value, out: creation.fill_(creation.resize_(out, size), fill_value),
)
implement(
    "full_like",
    CompositeExplicitAutograd=lambda self, fill_value, dtype, layout, device, pin_memory, memory_format: creation.fill_(
        creation.empty_like(self, dtype, layout, device, pin_memory, memory_format), creation.as_number(fill_value)
    ),
)
implement(
    "scalar_tensor",
    CompositeExplicitAutograd=lambda s, dtype, layout, device, pin_memory: functions.full(
        (), s, dtype=dtype or creation.get_default_dtype(), device=device
    ),
    factory=True,
)
implement(
    "linspace",
    CompositeExplicitAutograd=lambda start, end, steps, dtype, layout, device, pin_memory: creation.linspace(
        start, end, steps, creation._new((0,), dtype, device)
    ),
    factory=True,
)
implement(
    "linspace.out",
    CPU=lambda start, end, steps, out: creation.linspace(start, end, steps, out),
    Meta=lambda start, end, steps, out: creation.linspace(start, end, steps, out),
)
implement(
    "linspace.Tensor_Tensor",
    CompositeExplicitAutograd=lambda start, end, steps, dtype, layout, device, pin_memory: creation.linspace(
        start, end, steps, creation._new((0,), dtype, device)
    ),
)
implement(
    "linspace.Tensor_Tensor_out",
    CompositeExplicitAutograd=lambda start, end, steps, out: creation.linspace(start, end, steps, out),
)
implement(
    "linspace.Tensor_Scalar",
    CompositeExplicitAutograd=lambda start, end, steps, dtype, layout, device, pin_memory: creation.linspace(
        start, end, steps, creation._new((0,), dtype, device)
    ),
)
implement(
    "linspace.Tensor_Scalar_out",
    CompositeExplicitAutograd=lambda start, end, steps, out: creation.linspace(start, end, steps, out),
)
implement(
    "linspace.Scalar_Tensor",
    CompositeExplicitAutograd=lambda start, end, steps, dtype, layout, device, pin_memory: creation.linspace(
        start, end, steps, creation._new((0,), dtype, device)
    ),
)
implement(
    "linspace.Scalar_Tensor_out",
    CompositeExplicitAutograd=lambda start, end, steps, out: creation.linspace(start, end, steps, out),
)
implement("new_empty", CompositeExplicitAutograd=creation.new_empty)
implement(
    "new_empty_strided",
    CompositeExplicitAutogradNonFunctional=lambda self, size, stride, dtype, layout, device, pin_memory: (
        creation.fill_empty(
            strided.empty_strided(size, stride, dtype or self.dtype, creation.device_type(device or self.device))
        )
    ),
)
implement(
    "new_full",
    CompositeExplicitAutograd=lambda self, size, fill_value, dtype, layout, device, pin_memory: creation.fill_(
        creation.new_empty(self, size, dtype, layout, device), creation.as_number(fill_value)
    ),
)
implement(
    "new_ones",
    CompositeExplicitAutograd=lambda self, size, dtype, layout, device, pin_memory: creation.filled(
        creation.new_empty(self, size, dtype, layout, device), 1
    ),
)
implement(
    "new_zeros",
    CompositeExplicitAutograd=lambda self, size, dtype, layout, device, pin_memory: creation.filled(
        creation.new_empty(self, size, dtype, layout, device), 0
    ),
)
implement(
    "ones",
    CompositeExplicitAutograd=lambda size, dtype, layout, device, pin_memory: creation.filled(
        creation._new(size, dtype, device), 1
    ),
    factory=True,
)
implement("ones.out", CompositeExplicitAutograd=lambda size, out: creation.fill_(creation.resize_(out, size), 1))
implement(
    "ones_like",
    CompositeExplicitAutograd=lambda self, dtype, layout, device, pin_memory, memory_format: creation.filled(
        creation.empty_like(self, dtype, layout, device, pin_memory, memory_format), 1
    ),
)
implement(
    "zeros",
    CompositeExplicitAutograd=lambda size, dtype, layout, device, pin_memory: creation.filled(
        creation._new(size, dtype, device), 0
    ),
    factory=True,
)
implement("zeros.out", CompositeExplicitAutograd=lambda size, out: creation.fill_(creation.resize_(out, size), 0))
implement(
    "zeros_like",
    CompositeExplicitAutograd=lambda self, dtype, layout, device, pin_memory, memory_format: creation.filled(
        creation.empty_like(self, dtype, layout, device, pin_memory, memory_format), 0
    ),
)
implement(
    "tril_indices",
    CompositeExplicitAutograd=lambda row, col, offset, dtype, layout, device, pin_memory: functions.stack(
        functions.nonzero_numpy(functions.ones((row, col), device=device).tril(offset))
    ).to(creation.int64 if dtype is None else dtype),
    factory=True,
)
implement(
    "triu_indices",
    CompositeExplicitAutograd=lambda row, col, offset, dtype, layout, device, pin_memory: functions.stack(
        functions.nonzero_numpy(functions.ones((row, col), device=device).triu(offset))
    ).to(creation.int64 if dtype is None else dtype),
    factory=True,
)
implement(
    "range.step",
    CompositeExplicitAutograd=lambda start, end, step, dtype, layout, device, pin_memory: creation.inclusive_range(
        start, end, step, dtype, device
    ),
    factory=True,
)
implement(
    "range",
    CompositeExplicitAutograd=lambda start, end, dtype, layout, device, pin_memory: creation.inclusive_range(
        start, end, 1, dtype, device
    ),
    factory=True,
)
implement("as_strided_scatter", CompositeExplicitAutogradNonFunctional=functional_forms.as_strided_scatter)
implement(
    "copy",
    CompositeExplicitAutogradNonFunctional=lambda self, src, non_blocking: functional_forms.clone_preserve_strides(
        self
    ).copy_(src),
)
implement("diagonal_scatter", CompositeExplicitAutogradNonFunctional=functional_forms.diagonal_scatter)
implement("select_scatter", CompositeExplicitAutogradNonFunctional=functional_forms.select_scatter)
implement("slice_scatter", CompositeExplicitAutogradNonFunctional=functional_forms.slice_scatter)
implement("zero", CompositeExplicitAutograd=lambda self: functional_forms.clone_preserve_strides(self).zero_())
implement("fill.Tensor", CompositeExplicitAutograd=lambda self, value: creation.fill_(creation.empty_like(self), value))
implement("fill.Scalar", CompositeExplicitAutograd=lambda self, value: creation.fill_(creation.empty_like(self), value))
implement("fill_.Tensor", CPU=pointwise.fill_, Meta=pointwise.fill_)
implement("fill_.Scalar", CPU=pointwise.fill_, Meta=pointwise.fill_)
implement("resize_", CPU=creation.resize_, Meta=creation.resize_)
implement("resize_as_", CompositeImplicitAutograd=creation.resize_as_)
implement("zero_", CPU=lambda self: pointwise.fill_(self, 0), Meta=lambda self: pointwise.fill_(self, 0))
implement("abs", CPU=elementary.absolute.functional, Meta=elementary.absolute.on_meta)
implement("abs_", CPU=elementary.absolute.inplace, Meta=elementary.absolute.inplace)
implement("abs.out", CPU=elementary.absolute.out, Meta=elementary.absolute.out)
implement("add.Tensor", CPU=pointwise.add.functional, Meta=pointwise.add.on_meta)
implement("add_.Tensor", CPU=pointwise.add.inplace, Meta=pointwise.add.inplace)
implement("add.out", CPU=pointwise.add.out, Meta=pointwise.add.out)
implement("add.Scalar", CompositeExplicitAutograd=lambda self, other, alpha: functions.add(self, other, alpha=alpha))
implement("addcdiv", CPU=pointwise.addcdiv.functional, Meta=pointwise.addcdiv.on_meta)
implement("addcdiv_", CPU=pointwise.addcdiv.inplace, Meta=pointwise.addcdiv.inplace)
implement("addcdiv.out", CPU=pointwise.addcdiv.out, Meta=pointwise.addcdiv.out)
implement("addcmul", CPU=pointwise.addcmul.functional, Meta=pointwise.addcmul.on_meta)
implement("addcmul_", CPU=pointwise.addcmul.inplace, Meta=pointwise.addcmul.inplace)
implement("addcmul.out", CPU=pointwise.addcmul.out, Meta=pointwise.addcmul.out)
implement(
    "allclose",
    CompositeExplicitAutograd=lambda self, other, rtol, atol, equal_nan: bool(
        functions.isclose(self, other, rtol, atol, equal_nan).all().item()
    ),
)
implement("bitwise_and.Tensor", CPU=pointwise.bitwise_and.functional, Meta=pointwise.bitwise_and.on_meta)
implement("bitwise_and_.Tensor", CPU=pointwise.bitwise_and.inplace, Meta=pointwise.bitwise_and.inplace)
implement("bitwise_and.Tensor_out", CPU=pointwise.bitwise_and.out, Meta=pointwise.bitwise_and.out)
implement(
    "bitwise_left_shift.Tensor", CPU=pointwise.bitwise_left_shift.functional, Meta=pointwise.bitwise_left_shift.on_meta
)
implement(
    "bitwise_left_shift_.Tensor", CPU=pointwise.bitwise_left_shift.inplace, Meta=pointwise.bitwise_left_shift.inplace
)
implement("bitwise_left_shift.Tensor_out", CPU=pointwise.bitwise_left_shift.out, Meta=pointwise.bitwise_left_shift.out)
implement("bitwise_not", CPU=pointwise.bitwise_not.functional, Meta=pointwise.bitwise_not.on_meta)
implement("bitwise_not_", CPU=pointwise.bitwise_not.inplace, Meta=pointwise.bitwise_not.inplace)
implement("bitwise_not.out", CPU=pointwise.bitwise_not.out, Meta=pointwise.bitwise_not.out)
implement("bitwise_or.Tensor", CPU=pointwise.bitwise_or.functional, Meta=pointwise.bitwise_or.on_meta)
implement("bitwise_or_.Tensor", CPU=pointwise.bitwise_or.inplace, Meta=pointwise.bitwise_or.inplace)
implement("bitwise_or.Tensor_out", CPU=pointwise.bitwise_or.out, Meta=pointwise.bitwise_or.out)
implement(
    "bitwise_right_shift.Tensor",
    CPU=pointwise.bitwise_right_shift.functional,
    Meta=pointwise.bitwise_right_shift.on_meta,
)
implement(
    "bitwise_right_shift_.Tensor", CPU=pointwise.bitwise_right_shift.inplace, Meta=pointwise.bitwise_right_shift.inplace
)
implement(
    "bitwise_right_shift.Tensor_out", CPU=pointwise.bitwise_right_shift.out, Meta=pointwise.bitwise_right_shift.out
)
implement("bitwise_xor.Tensor", CPU=pointwise.bitwise_xor.functional, Meta=pointwise.bitwise_xor.on_meta)
implement("bitwise_xor_.Tensor", CPU=pointwise.bitwise_xor.inplace, Meta=pointwise.bitwise_xor.inplace)
implement("bitwise_xor.Tensor_out", CPU=pointwise.bitwise_xor.out, Meta=pointwise.bitwise_xor.out)
implement("ceil", CPU=elementary.ceil.functional, Meta=elementary.ceil.on_meta)
implement("ceil_", CPU=elementary.ceil.inplace, Meta=elementary.ceil.inplace)
implement("ceil.out", CPU=elementary.ceil.out, Meta=elementary.ceil.out)
implement("clamp.Tensor", CPU=pointwise.clamp_tensor.functional, Meta=pointwise.clamp_tensor.on_meta)
implement("clamp_.Tensor", CPU=pointwise.clamp_tensor.inplace, Meta=pointwise.clamp_tensor.inplace)
implement("clamp.Tensor_out", CPU=pointwise.clamp_tensor.out, Meta=pointwise.clamp_tensor.out)
implement("clamp", CPU=pointwise.clamp.functional, Meta=pointwise.clamp.on_meta)
implement("clamp_", CPU=pointwise.clamp.inplace, Meta=pointwise.clamp.inplace)
implement("clamp.out", CPU=pointwise.clamp.out, Meta=pointwise.clamp.out)
implement("clamp_max.Tensor", CPU=pointwise.minimum.functional, Meta=pointwise.minimum.on_meta)
implement("clamp_max_.Tensor", CPU=pointwise.minimum.inplace, Meta=pointwise.minimum.inplace)
implement("clamp_max.Tensor_out", CPU=pointwise.minimum.out, Meta=pointwise.minimum.out)
implement("clamp_max", CPU=pointwise.clamp_max.functional, Meta=pointwise.clamp_max.on_meta)
implement("clamp_max_", CPU=pointwise.clamp_max.inplace, Meta=pointwise.clamp_max.inplace)
implement("clamp_max.out", CPU=pointwise.clamp_max.out, Meta=pointwise.clamp_max.out)
implement("clamp_min.Tensor", CPU=pointwise.maximum.functional, Meta=pointwise.maximum.on_meta)
implement("clamp_min_.Tensor", CPU=pointwise.maximum.inplace, Meta=pointwise.maximum.inplace)
implement("clamp_min.Tensor_out", CPU=pointwise.maximum.out, Meta=pointwise.maximum.out)
implement("clamp_min", CPU=pointwise.clamp_min.functional, Meta=pointwise.clamp_min.on_meta)
implement("clamp_min_", CPU=pointwise.clamp_min.inplace, Meta=pointwise.clamp_min.inplace)
implement("clamp_min.out", CPU=pointwise.clamp_min.out, Meta=pointwise.clamp_min.out)
implement("cos", CPU=elementary.cos.functional, Meta=elementary.cos.on_meta)
implement("cos_", CPU=elementary.cos.inplace, Meta=elementary.cos.inplace)
implement("cos.out", CPU=elementary.cos.out, Meta=elementary.cos.out)
implement("div.Tensor", CPU=pointwise.div.functional, Meta=pointwise.div.on_meta)
implement("div_.Tensor", CPU=pointwise.div.inplace, Meta=pointwise.div.inplace)
implement("div.out", CPU=pointwise.div.out, Meta=pointwise.div.out)
implement("div.Scalar", CompositeExplicitAutograd=lambda self, other: functions.div(self, other))
implement("div.Tensor_mode", CPU=pointwise.div_mode.functional, Meta=pointwise.div_mode.on_meta)
implement("div_.Tensor_mode", CPU=pointwise.div_mode.inplace, Meta=pointwise.div_mode.inplace)
implement("div.out_mode", CPU=pointwise.div_mode.out, Meta=pointwise.div_mode.out)
implement("elu", CPU=elementary.elu.functional, Meta=elementary.elu.on_meta)
implement("elu_", CPU=elementary.elu.inplace, Meta=elementary.elu.inplace)
implement("elu.out", CPU=elementary.elu.out, Meta=elementary.elu.out)
implement("eq.Tensor", CPU=pointwise.eq.functional, Meta=pointwise.eq.on_meta)
implement("eq_.Tensor", CPU=pointwise.eq.inplace, Meta=pointwise.eq.inplace)
implement("eq.Tensor_out", CPU=pointwise.eq.out, Meta=pointwise.eq.out)
implement(
    "eq.Scalar", CPU=lambda self, other: functions.eq(self, other), Meta=lambda self, other: functions.eq(self, other)
)
implement("is_nonzero", CompositeImplicitAutograd=lambda self: bool(self))
implement("is_same_size", CompositeExplicitAutograd=lambda self, other: self.shape == other.shape)
implement("is_signed", CompositeImplicitAutograd=lambda self: self.dtype.is_signed)
implement("equal", CPU=lambda self, other: self.shape == other.shape and bool(np.all(self._array == other._array)))
implement("erf", CPU=elementary.erf.functional, Meta=elementary.erf.on_meta)
implement("erf_", CPU=elementary.erf.inplace, Meta=elementary.erf.inplace)
implement("erf.out", CPU=elementary.erf.out, Meta=elementary.erf.out)
implement("exp", CPU=elementary.exp.functional, Meta=elementary.exp.on_meta)
implement("exp_", CPU=elementary.exp.inplace, Meta=elementary.exp.inplace)
implement("exp.out", CPU=elementary.exp.out, Meta=elementary.exp.out)
implement("exp2", CPU=elementary.exp2.functional, Meta=elementary.exp2.on_meta)
implement("exp2_", CPU=elementary.exp2.inplace, Meta=elementary.exp2.inplace)
implement("exp2.out", CPU=elementary.exp2.out, Meta=elementary.exp2.out)
implement("expm1", CPU=elementary.expm1.functional, Meta=elementary.expm1.on_meta)
implement("expm1_", CPU=elementary.expm1.inplace, Meta=elementary.expm1.inplace)
implement("expm1.out", CPU=elementary.expm1.out, Meta=elementary.expm1.out)
implement("floor", CPU=elementary.floor.functional, Meta=elementary.floor.on_meta)
implement("floor_", CPU=elementary.floor.inplace, Meta=elementary.floor.inplace)
implement("floor.out", CPU=elementary.floor.out, Meta=elementary.floor.out)
implement("floor_divide", CPU=pointwise.floor_divide.functional, Meta=pointwise.floor_divide.on_meta)
implement("floor_divide.out", CPU=pointwise.floor_divide.out, Meta=pointwise.floor_divide.out)
implement("floor_divide_.Tensor", CPU=pointwise.floor_divide.inplace, Meta=pointwise.floor_divide.inplace)
implement("fmod.Tensor", CPU=pointwise.fmod.functional, Meta=pointwise.fmod.on_meta)
implement("fmod_.Tensor", CPU=pointwise.fmod.inplace, Meta=pointwise.fmod.inplace)
implement("fmod.Tensor_out", CPU=pointwise.fmod.out, Meta=pointwise.fmod.out)
implement("fmod.Scalar", CPU=pointwise.fmod.functional, Meta=pointwise.fmod.on_meta)
implement("fmod_.Scalar", CPU=pointwise.fmod.inplace, Meta=pointwise.fmod.inplace)
implement("fmod.Scalar_out", CPU=pointwise.fmod.out, Meta=pointwise.fmod.out)
implement("ge.Tensor", CPU=pointwise.ge.functional, Meta=pointwise.ge.on_meta)
implement("ge_.Tensor", CPU=pointwise.ge.inplace, Meta=pointwise.ge.inplace)
implement("ge.Tensor_out", CPU=pointwise.ge.out, Meta=pointwise.ge.out)
implement("gelu", CPU=elementary.gelu.functional, Meta=elementary.gelu.on_meta)
implement("gelu_", CPU=elementary.gelu.inplace, Meta=elementary.gelu.inplace)
implement("gelu.out", CPU=elementary.gelu.out, Meta=elementary.gelu.out)
implement("gt.Tensor", CPU=pointwise.gt.functional, Meta=pointwise.gt.on_meta)
implement("gt_.Tensor", CPU=pointwise.gt.inplace, Meta=pointwise.gt.inplace)
implement("gt.Tensor_out", CPU=pointwise.gt.out, Meta=pointwise.gt.out)
implement("hardtanh", CPU=elementary.hardtanh.functional, Meta=elementary.hardtanh.on_meta)
implement("hardtanh_", CPU=elementary.hardtanh.inplace, Meta=elementary.hardtanh.inplace)
implement("hardtanh.out", CPU=elementary.hardtanh.out, Meta=elementary.hardtanh.out)
implement("isclose", CompositeImplicitAutograd=pointwise.isclose)
implement(
    "isfinite",
    CompositeImplicitAutograd=lambda self: (
        (self == self) * (self.abs() != math.inf)
        if self.dtype.is_floating_point
        else functions.ones_like(self, dtype=pointwise.bool_)
    ),
)
implement(
    "isinf",
    CompositeExplicitAutograd=lambda self: (
        self.abs() == math.inf if self.dtype.is_floating_point else functions.zeros_like(self, dtype=pointwise.bool_)
    ),
)
implement("isnan", CPU=lambda self: self != self, Meta=lambda self: self != self)
implement("le.Tensor", CPU=pointwise.le.functional, Meta=pointwise.le.on_meta)
implement("le_.Tensor", CPU=pointwise.le.inplace, Meta=pointwise.le.inplace)
implement("le.Tensor_out", CPU=pointwise.le.out, Meta=pointwise.le.out)
implement("leaky_relu", CPU=elementary.leaky_relu.functional, Meta=elementary.leaky_relu.on_meta)
implement("leaky_relu_", CPU=elementary.leaky_relu.inplace, Meta=elementary.leaky_relu.inplace)
implement("leaky_relu.out", CPU=elementary.leaky_relu.out, Meta=elementary.leaky_relu.out)
implement("lerp.Tensor", CPU=pointwise.lerp_tensor.functional, Meta=pointwise.lerp_tensor.on_meta)
implement("lerp_.Tensor", CPU=pointwise.lerp_tensor.inplace, Meta=pointwise.lerp_tensor.inplace)
implement("lerp.Tensor_out", CPU=pointwise.lerp_tensor.out, Meta=pointwise.lerp_tensor.out)
implement("lerp.Scalar", CPU=pointwise.lerp_number.functional, Meta=pointwise.lerp_number.on_meta)
implement("lerp_.Scalar", CPU=pointwise.lerp_number.inplace, Meta=pointwise.lerp_number.inplace)
implement("lerp.Scalar_out", CPU=pointwise.lerp_number.out, Meta=pointwise.lerp_number.out)
implement("log", CPU=elementary.log.functional, Meta=elementary.log.on_meta)
implement("log_", CPU=elementary.log.inplace, Meta=elementary.log.inplace)
implement("log.out", CPU=elementary.log.out, Meta=elementary.log.out)
implement("log10", CPU=elementary.log10.functional, Meta=elementary.log10.on_meta)
implement("log10_", CPU=elementary.log10.inplace, Meta=elementary.log10.inplace)
implement("log10.out", CPU=elementary.log10.out, Meta=elementary.log10.out)
implement("log1p", CPU=elementary.log1p.functional, Meta=elementary.log1p.on_meta)
implement("log1p_", CPU=elementary.log1p.inplace, Meta=elementary.log1p.inplace)
implement("log1p.out", CPU=elementary.log1p.out, Meta=elementary.log1p.out)
implement("log2", CPU=elementary.log2.functional, Meta=elementary.log2.on_meta)
implement("log2_", CPU=elementary.log2.inplace, Meta=elementary.log2.inplace)
implement("log2.out", CPU=elementary.log2.out, Meta=elementary.log2.out)
implement("logical_and", CPU=pointwise.logical_and.functional, Meta=pointwise.logical_and.on_meta)
implement("logical_and_", CPU=pointwise.logical_and.inplace, Meta=pointwise.logical_and.inplace)
implement("logical_and.out", CPU=pointwise.logical_and.out, Meta=pointwise.logical_and.out)
implement("logical_not", CPU=pointwise.logical_not.functional, Meta=pointwise.logical_not.on_meta)
implement("logical_not_", CPU=pointwise.logical_not.inplace, Meta=pointwise.logical_not.inplace)
implement("logical_not.out", CPU=pointwise.logical_not.out, Meta=pointwise.logical_not.out)
implement("logical_or", CPU=pointwise.logical_or.functional, Meta=pointwise.logical_or.on_meta)
implement("logical_or_", CPU=pointwise.logical_or.inplace, Meta=pointwise.logical_or.inplace)
implement("logical_or.out", CPU=pointwise.logical_or.out, Meta=pointwise.logical_or.out)
implement("logical_xor", CPU=pointwise.logical_xor.functional, Meta=pointwise.logical_xor.on_meta)
implement("logical_xor_", CPU=pointwise.logical_xor.inplace, Meta=pointwise.logical_xor.inplace)
implement("logical_xor.out", CPU=pointwise.logical_xor.out, Meta=pointwise.logical_xor.out)
implement("lt.Tensor", CPU=pointwise.lt.functional, Meta=pointwise.lt.on_meta)
implement("lt_.Tensor", CPU=pointwise.lt.inplace, Meta=pointwise.lt.inplace)
implement("lt.Tensor_out", CPU=pointwise.lt.out, Meta=pointwise.lt.out)
implement("maximum", CPU=pointwise.maximum.functional, Meta=pointwise.maximum.on_meta)
implement("maximum.out", CPU=pointwise.maximum.out, Meta=pointwise.maximum.out)
implement("minimum", CPU=pointwise.minimum.functional, Meta=pointwise.minimum.on_meta)
implement("minimum.out", CPU=pointwise.minimum.out, Meta=pointwise.minimum.out)
implement("mul.Tensor", CPU=pointwise.mul.functional, Meta=pointwise.mul.on_meta)
implement("mul_.Tensor", CPU=pointwise.mul.inplace, Meta=pointwise.mul.inplace)
implement("mul.out", CPU=pointwise.mul.out, Meta=pointwise.mul.out)
implement("mul.Scalar", CompositeExplicitAutograd=lambda self, other: functions.mul(self, other))
implement("ne.Tensor", CPU=pointwise.ne.functional, Meta=pointwise.ne.on_meta)
implement("ne_.Tensor", CPU=pointwise.ne.inplace, Meta=pointwise.ne.inplace)
implement("ne.Tensor_out", CPU=pointwise.ne.out, Meta=pointwise.ne.out)
implement("neg", CPU=elementary.neg.functional, Meta=elementary.neg.on_meta)
implement("neg_", CPU=elementary.neg.inplace, Meta=elementary.neg.inplace)
implement("neg.out", CPU=elementary.neg.out, Meta=elementary.neg.out)
implement("positive", CompositeImplicitAutograd=elementary.positive)
implement("pow.Tensor_Tensor", CPU=elementary.pow_tensor.functional, Meta=elementary.pow_tensor.on_meta)
implement("pow_.Tensor", CPU=elementary.pow_tensor.inplace, Meta=elementary.pow_tensor.inplace)
implement("pow.Tensor_Tensor_out", CPU=elementary.pow_tensor.out, Meta=elementary.pow_tensor.out)
implement("pow.Tensor_Scalar", CPU=elementary.pow_number.functional, Meta=elementary.pow_number.on_meta)
implement("pow_.Scalar", CPU=elementary.pow_number.inplace, Meta=elementary.pow_number.inplace)
implement("pow.Tensor_Scalar_out", CPU=elementary.pow_number.out, Meta=elementary.pow_number.out)
implement("pow.Scalar", CPU=elementary.pow_of_number.functional, Meta=elementary.pow_of_number.on_meta)
implement("pow.Scalar_out", CPU=elementary.pow_of_number.out, Meta=elementary.pow_of_number.out)
implement("reciprocal", CPU=elementary.reciprocal.functional, Meta=elementary.reciprocal.on_meta)
implement("reciprocal_", CPU=elementary.reciprocal.inplace, Meta=elementary.reciprocal.inplace)
implement("reciprocal.out", CPU=elementary.reciprocal.out, Meta=elementary.reciprocal.out)
implement("relu", CPU=elementary.relu.functional, Meta=elementary.relu.on_meta)
implement("relu_", CPU=elementary.relu.inplace, Meta=elementary.relu.inplace)
implement("remainder.Tensor", CPU=pointwise.remainder.functional, Meta=pointwise.remainder.on_meta)
implement("remainder_.Tensor", CPU=pointwise.remainder.inplace, Meta=pointwise.remainder.inplace)
implement("remainder.Tensor_out", CPU=pointwise.remainder.out, Meta=pointwise.remainder.out)
implement("remainder.Scalar", CPU=pointwise.remainder.functional, Meta=pointwise.remainder.on_meta)
implement("remainder_.Scalar", CPU=pointwise.remainder.inplace, Meta=pointwise.remainder.inplace)
implement("remainder.Scalar_out", CPU=pointwise.remainder.out, Meta=pointwise.remainder.out)
implement("round", CPU=elementary.rounded.functional, Meta=elementary.rounded.on_meta)
implement("round_", CPU=elementary.rounded.inplace, Meta=elementary.rounded.inplace)
implement("round.out", CPU=elementary.rounded.out, Meta=elementary.rounded.out)
implement("round.decimals", CPU=elementary.rounded_to.functional, Meta=elementary.rounded_to.on_meta)
implement("round_.decimals", CPU=elementary.rounded_to.inplace, Meta=elementary.rounded_to.inplace)
implement("round.decimals_out", CPU=elementary.rounded_to.out, Meta=elementary.rounded_to.out)
implement("rsqrt", CPU=elementary.rsqrt.functional, Meta=elementary.rsqrt.on_meta)
implement("rsqrt_", CPU=elementary.rsqrt.inplace, Meta=elementary.rsqrt.inplace)
implement("rsqrt.out", CPU=elementary.rsqrt.out, Meta=elementary.rsqrt.out)
implement(
    "rsub.Tensor",
    CPU=lambda self, other, alpha: pointwise.fastest[pointwise.sub.functional](other, self, alpha),
    Meta=lambda self, other, alpha: pointwise.sub.on_meta(other, self, alpha),
)
implement(
    "rsub.Scalar",
    CPU=lambda self, other, alpha: pointwise.fastest[pointwise.sub.functional](other, self, alpha),
    Meta=lambda self, other, alpha: pointwise.sub.on_meta(other, self, alpha),
)
implement("sgn", CPU=elementary.signum.functional, Meta=elementary.signum.on_meta)
implement("sgn_", CPU=elementary.signum.inplace, Meta=elementary.signum.inplace)
implement("sgn.out", CPU=elementary.signum.out, Meta=elementary.signum.out)
implement("sigmoid", CPU=elementary.sigmoid.functional, Meta=elementary.sigmoid.on_meta)
implement("sigmoid_", CPU=elementary.sigmoid.inplace, Meta=elementary.sigmoid.inplace)
implement("sigmoid.out", CPU=elementary.sigmoid.out, Meta=elementary.sigmoid.out)
implement("sign", CPU=elementary.signum.functional, Meta=elementary.signum.on_meta)
implement("sign_", CPU=elementary.signum.inplace, Meta=elementary.signum.inplace)
implement("sign.out", CPU=elementary.signum.out, Meta=elementary.signum.out)
implement("silu", CPU=elementary.silu.functional, Meta=elementary.silu.on_meta)
implement("silu_", CPU=elementary.silu.inplace, Meta=elementary.silu.inplace)
implement("silu.out", CPU=elementary.silu.out, Meta=elementary.silu.out)
implement("sin", CPU=elementary.sin.functional, Meta=elementary.sin.on_meta)
implement("sin_", CPU=elementary.sin.inplace, Meta=elementary.sin.inplace)
implement("sin.out", CPU=elementary.sin.out, Meta=elementary.sin.out)
implement("softplus", CPU=elementary.softplus.functional, Meta=elementary.softplus.on_meta)
implement("softplus.out", CPU=elementary.softplus.out, Meta=elementary.softplus.out)
implement("sqrt", CPU=elementary.sqrt.functional, Meta=elementary.sqrt.on_meta)
implement("sqrt_", CPU=elementary.sqrt.inplace, Meta=elementary.sqrt.inplace)
implement("sqrt.out", CPU=elementary.sqrt.out, Meta=elementary.sqrt.out)
implement("square", CompositeImplicitAutograd=lambda self: self**2)
implement("square_", CompositeImplicitAutograd=lambda self: self.pow_(2))
implement("square.out", CompositeImplicitAutograd=lambda self, out: functions.pow(self, 2, out=out))
implement("sub.Tensor", CPU=pointwise.sub.functional, Meta=pointwise.sub.on_meta)
implement("sub_.Tensor", CPU=pointwise.sub.inplace, Meta=pointwise.sub.inplace)
implement("sub.out", CPU=pointwise.sub.out, Meta=pointwise.sub.out)
implement("sub.Scalar", CompositeExplicitAutograd=lambda self, other, alpha: functions.sub(self, other, alpha=alpha))
implement("tan", CPU=elementary.tan.functional, Meta=elementary.tan.on_meta)
implement("tan_", CPU=elementary.tan.inplace, Meta=elementary.tan.inplace)
implement("tan.out", CPU=elementary.tan.out, Meta=elementary.tan.out)
implement("tanh", CPU=elementary.tanh.functional, Meta=elementary.tanh.on_meta)
implement("tanh_", CPU=elementary.tanh.inplace, Meta=elementary.tanh.inplace)
implement("tanh.out", CPU=elementary.tanh.out, Meta=elementary.tanh.out)
implement("threshold", CPU=elementary.threshold.functional, Meta=elementary.threshold.on_meta)
implement("threshold_", CPU=elementary.threshold.inplace, Meta=elementary.threshold.inplace)
implement("threshold.out", CPU=elementary.threshold.out, Meta=elementary.threshold.out)
implement("trunc", CPU=elementary.trunc.functional, Meta=elementary.trunc.on_meta)
implement("trunc_", CPU=elementary.trunc.inplace, Meta=elementary.trunc.inplace)
implement("trunc.out", CPU=elementary.trunc.out, Meta=elementary.trunc.out)
implement("where.self", CPU=pointwise.where.functional, Meta=pointwise.where.on_meta)
implement("where", CompositeImplicitAutograd=lambda condition: functions.nonzero_numpy(condition))
implement("where.self_out", CPU=pointwise.where.out, Meta=pointwise.where.out)
implement("xlogy.Tensor", CPU=pointwise.xlogy.functional, Meta=pointwise.xlogy.on_meta)
implement("xlogy_.Tensor", CPU=pointwise.xlogy.inplace, Meta=pointwise.xlogy.inplace)
implement("xlogy.Scalar_Other", CPU=pointwise.xlogy.functional, Meta=pointwise.xlogy.on_meta)
implement("xlogy_.Scalar_Other", CPU=pointwise.xlogy.inplace, Meta=pointwise.xlogy.inplace)
implement("xlogy.Scalar_Self", CPU=pointwise.xlogy.functional, Meta=pointwise.xlogy.on_meta)
implement("xlogy.OutTensor", CPU=pointwise.xlogy.out, Meta=pointwise.xlogy.out)
implement("acos", CPU=elementary.acos.functional, Meta=elementary.acos.on_meta)
implement("acos_", CPU=elementary.acos.inplace, Meta=elementary.acos.inplace)
implement("acos.out", CPU=elementary.acos.out, Meta=elementary.acos.out)
implement("acosh", CPU=elementary.acosh.functional, Meta=elementary.acosh.on_meta)
implement("acosh_", CPU=elementary.acosh.inplace, Meta=elementary.acosh.inplace)
implement("acosh.out", CPU=elementary.acosh.out, Meta=elementary.acosh.out)
implement("asin", CPU=elementary.asin.functional, Meta=elementary.asin.on_meta)
implement("asin_", CPU=elementary.asin.inplace, Meta=elementary.asin.inplace)
implement("asin.out", CPU=elementary.asin.out, Meta=elementary.asin.out)
implement("asinh", CPU=elementary.asinh.functional, Meta=elementary.asinh.on_meta)
implement("asinh_", CPU=elementary.asinh.inplace, Meta=elementary.asinh.inplace)
implement("asinh.out", CPU=elementary.asinh.out, Meta=elementary.asinh.out)
implement("atan", CPU=elementary.atan.functional, Meta=elementary.atan.on_meta)
implement("atan_", CPU=elementary.atan.inplace, Meta=elementary.atan.inplace)
implement("atan.out", CPU=elementary.atan.out, Meta=elementary.atan.out)
implement("atanh", CPU=elementary.atanh.functional, Meta=elementary.atanh.on_meta)
implement("atanh_", CPU=elementary.atanh.inplace, Meta=elementary.atanh.inplace)
implement("atanh.out", CPU=elementary.atanh.out, Meta=elementary.atanh.out)
implement("cosh", CPU=elementary.cosh.functional, Meta=elementary.cosh.on_meta)
implement("cosh_", CPU=elementary.cosh.inplace, Meta=elementary.cosh.inplace)
implement("cosh.out", CPU=elementary.cosh.out, Meta=elementary.cosh.out)
implement("sinh", CPU=elementary.sinh.functional, Meta=elementary.sinh.on_meta)
implement("sinh_", CPU=elementary.sinh.inplace, Meta=elementary.sinh.inplace)
implement("sinh.out", CPU=elementary.sinh.out, Meta=elementary.sinh.out)
implement("erfc", CPU=elementary.erfc.functional, Meta=elementary.erfc.on_meta)
implement("erfc_", CPU=elementary.erfc.inplace, Meta=elementary.erfc.inplace)
implement("erfc.out", CPU=elementary.erfc.out, Meta=elementary.erfc.out)
implement("sinc", CPU=elementary.sinc.functional, Meta=elementary.sinc.on_meta)
implement("sinc_", CPU=elementary.sinc.inplace, Meta=elementary.sinc.inplace)
implement("sinc.out", CPU=elementary.sinc.out, Meta=elementary.sinc.out)
implement("lgamma", CPU=elementary.lgamma.functional, Meta=elementary.lgamma.on_meta)
implement("lgamma_", CPU=elementary.lgamma.inplace, Meta=elementary.lgamma.inplace)
implement("lgamma.out", CPU=elementary.lgamma.out, Meta=elementary.lgamma.out)
implement("digamma", CPU=elementary.digamma.functional, Meta=elementary.digamma.on_meta)
implement("digamma_", CPU=elementary.digamma.inplace, Meta=elementary.digamma.inplace)
implement("digamma.out", CPU=elementary.digamma.out, Meta=elementary.digamma.out)
implement("erfinv", CPU=elementary.erfinv.functional, Meta=elementary.erfinv.on_meta)
implement("erfinv_", CPU=elementary.erfinv.inplace, Meta=elementary.erfinv.inplace)
implement("erfinv.out", CPU=elementary.erfinv.out, Meta=elementary.erfinv.out)
implement("frac", CPU=elementary.frac.functional, Meta=elementary.frac.on_meta)
implement("frac_", CPU=elementary.frac.inplace, Meta=elementary.frac.inplace)
implement("frac.out", CPU=elementary.frac.out, Meta=elementary.frac.out)
implement("atan2", CPU=elementary.atan2.functional, Meta=elementary.atan2.on_meta)
implement("atan2_", CPU=elementary.atan2.inplace, Meta=elementary.atan2.inplace)
implement("atan2.out", CPU=elementary.atan2.out, Meta=elementary.atan2.out)
implement("hypot", CPU=elementary.hypot.functional, Meta=elementary.hypot.on_meta)
implement("hypot_", CPU=elementary.hypot.inplace, Meta=elementary.hypot.inplace)
implement("hypot.out", CPU=elementary.hypot.out, Meta=elementary.hypot.out)
implement("copysign.Tensor", CPU=elementary.copysign.functional, Meta=elementary.copysign.on_meta)
implement("copysign.Scalar", CPU=elementary.copysign.functional, Meta=elementary.copysign.on_meta)
implement("copysign_.Scalar", CPU=elementary.copysign.inplace, Meta=elementary.copysign.inplace)
implement("copysign.Scalar_out", CPU=elementary.copysign.out, Meta=elementary.copysign.out)
implement("copysign_.Tensor", CPU=elementary.copysign.inplace, Meta=elementary.copysign.inplace)
implement("copysign.out", CPU=elementary.copysign.out, Meta=elementary.copysign.out)
implement("logaddexp", CPU=elementary.logaddexp.functional, Meta=elementary.logaddexp.on_meta)
implement("logaddexp.out", CPU=elementary.logaddexp.out, Meta=elementary.logaddexp.out)
implement("logaddexp2", CPU=elementary.logaddexp2.functional, Meta=elementary.logaddexp2.on_meta)
implement("logaddexp2.out", CPU=elementary.logaddexp2.out, Meta=elementary.logaddexp2.out)
implement("fmax", CPU=elementary.fmax.functional, Meta=elementary.fmax.on_meta)
implement("fmax.out", CPU=elementary.fmax.out, Meta=elementary.fmax.out)
implement("fmin", CPU=elementary.fmin.functional, Meta=elementary.fmin.on_meta)
implement("fmin.out", CPU=elementary.fmin.out, Meta=elementary.fmin.out)
implement("gcd", CPU=elementary.gcd.functional, Meta=elementary.gcd.on_meta)
implement("gcd_", CPU=elementary.gcd.inplace, Meta=elementary.gcd.inplace)
implement("gcd.out", CPU=elementary.gcd.out, Meta=elementary.gcd.out)
implement("lcm", CPU=elementary.lcm.functional, Meta=elementary.lcm.on_meta)
implement("lcm_", CPU=elementary.lcm.inplace, Meta=elementary.lcm.inplace)
implement("lcm.out", CPU=elementary.lcm.out, Meta=elementary.lcm.out)
implement("heaviside", CPU=elementary.heaviside.functional, Meta=elementary.heaviside.on_meta)
implement("heaviside_", CPU=elementary.heaviside.inplace, Meta=elementary.heaviside.inplace)
implement("heaviside.out", CPU=elementary.heaviside.out, Meta=elementary.heaviside.out)
implement("signbit", CPU=elementary.signbit.functional, Meta=elementary.signbit.on_meta)
implement("signbit.out", CPU=elementary.signbit.out, Meta=elementary.signbit.out)
implement("isposinf", CPU=elementary.isposinf.functional, Meta=elementary.isposinf.on_meta)
implement("isposinf.out", CPU=elementary.isposinf.out, Meta=elementary.isposinf.out)
implement("isneginf", CPU=elementary.isneginf.functional, Meta=elementary.isneginf.on_meta)
implement("isneginf.out", CPU=elementary.isneginf.out, Meta=elementary.isneginf.out)
implement("nan_to_num", CPU=elementary.nan_to_num.functional, Meta=elementary.nan_to_num.on_meta)
implement("nan_to_num_", CPU=elementary.nan_to_num.inplace, Meta=elementary.nan_to_num.inplace)
implement("nan_to_num.out", CPU=elementary.nan_to_num.out, Meta=elementary.nan_to_num.out)
implement("logit", CPU=elementary.logit.functional, Meta=elementary.logit.on_meta)
implement("logit_", CPU=elementary.logit.inplace, Meta=elementary.logit.inplace)
implement("logit.out", CPU=elementary.logit.out, Meta=elementary.logit.out)
implement("polygamma", CPU=elementary.polygamma.functional, Meta=elementary.polygamma.on_meta)
implement("polygamma.out", CPU=elementary.polygamma.out, Meta=elementary.polygamma.out)
implement(
    "polygamma_", CompositeExplicitAutograd=lambda self, n: structured.write_inplace(self, functions.polygamma(n, self))
)
implement("deg2rad", CompositeExplicitAutograd=lambda self: self * (math.pi / 180))
implement(
    "deg2rad_",
    CompositeExplicitAutograd=lambda self: structured.write_inplace(self, invoke(functions.deg2rad_op, self)),
)
implement(
    "deg2rad.out",
    CompositeExplicitAutograd=lambda self, out: structured.write_out(
        invoke(functions.deg2rad_op, self), [self], out, casts=True
    ),
)
implement("rad2deg", CompositeExplicitAutograd=lambda self: self * (180 / math.pi))
implement(
    "rad2deg_",
    CompositeExplicitAutograd=lambda self: structured.write_inplace(self, invoke(functions.rad2deg_op, self)),
)
implement(
    "rad2deg.out",
    CompositeExplicitAutograd=lambda self, out: structured.write_out(
        invoke(functions.rad2deg_op, self), [self], out, casts=True
    ),
)
implement(
    "float_power.Tensor_Tensor",
    CompositeImplicitAutograd=lambda self, exponent: functions.pow(self.double(), exponent.double()),
)
implement(
    "float_power.Tensor_Scalar", CompositeImplicitAutograd=lambda self, exponent: functions.pow(self.double(), exponent)
)
implement("float_power.Scalar", CompositeImplicitAutograd=lambda self, exponent: functions.pow(self, exponent.double()))
implement("ldexp.Tensor", CompositeExplicitAutograd=lambda self, other: self * functions.pow(2.0, other))
implement(
    "ldexp_",
    CompositeExplicitAutograd=lambda self, other: structured.write_inplace(
        self, invoke(functions.ldexp_Tensor_op, self, other)
    ),
)
implement(
    "ldexp.out",
    CompositeExplicitAutograd=lambda self, other, out: structured.write_out(
        invoke(functions.ldexp_Tensor_op, self, other), [self, other], out, casts=True
    ),
)
implement("true_divide.Tensor", CompositeImplicitAutograd=lambda self, other: functions.div(self, other))
implement("true_divide.out", CompositeImplicitAutograd=lambda self, other, out: functions.div(self, other, out=out))
implement("true_divide_.Tensor", CompositeImplicitAutograd=lambda self, other: self.div_(other))
implement("isreal", CompositeImplicitAutograd=lambda self: functions.ones_like(self).bool())
implement("real", CompositeImplicitAutograd=lambda self: self)
implement("conj", CompositeImplicitAutograd=lambda self: self)
implement("resolve_conj", CompositeImplicitAutograd=lambda self: self)
implement("resolve_neg", CompositeImplicitAutograd=lambda self: self)
implement("conj_physical", CompositeImplicitAutograd=lambda self: self)
implement(
    "mvlgamma",
    CompositeExplicitAutograd=lambda self, p: (
        functions.lgamma(self.unsqueeze(-1) - functions.arange(p, dtype=self.dtype) / 2).sum(-1)
        + p * (p - 1) / 4 * math.log(math.pi)
    ),
)
implement("celu", CompositeExplicitAutograd=lambda self, alpha: functions.elu(self, alpha, 1, 1 / alpha))
implement(
    "celu_",
    CompositeExplicitAutograd=lambda self, alpha: structured.write_inplace(
        self, invoke(functions.celu_op, self, alpha)
    ),
)
implement("selu", CompositeImplicitAutograd=lambda self: functions.elu(self, 1.6732632423543772, 1.0507009873554805))
implement("selu_", CompositeImplicitAutograd=lambda self: functions.elu_(self, 1.6732632423543772, 1.0507009873554805))
implement("hardsigmoid", CPU=elementary.hardsigmoid.functional, Meta=elementary.hardsigmoid.on_meta)
implement("hardsigmoid_", CPU=elementary.hardsigmoid.inplace, Meta=elementary.hardsigmoid.inplace)
implement("hardsigmoid.out", CPU=elementary.hardsigmoid.out, Meta=elementary.hardsigmoid.out)
implement("hardswish", CPU=elementary.hardswish.functional, Meta=elementary.hardswish.on_meta)
implement("hardswish_", CPU=elementary.hardswish.inplace, Meta=elementary.hardswish.inplace)
implement("hardswish.out", CPU=elementary.hardswish.out, Meta=elementary.hardswish.out)
implement("mish", CPU=elementary.mish.functional, Meta=elementary.mish.on_meta)
implement("mish_", CPU=elementary.mish.inplace, Meta=elementary.mish.inplace)
implement("mish.out", CPU=elementary.mish.out, Meta=elementary.mish.out)
implement("hardshrink", CPU=elementary.hardshrink.functional, Meta=elementary.hardshrink.on_meta)
implement("hardshrink.out", CPU=elementary.hardshrink.out, Meta=elementary.hardshrink.out)
implement("softshrink", CPU=elementary.softshrink.functional, Meta=elementary.softshrink.on_meta)
implement("softshrink.out", CPU=elementary.softshrink.out, Meta=elementary.softshrink.out)
implement(
    "log_sigmoid_forward",
    CompositeExplicitAutograd=lambda self: (-functions.softplus(-self), functions.exp(-self.abs())),
)
implement("log_sigmoid", CompositeImplicitAutograd=lambda self: functions.log_sigmoid_forward(self)[0])
implement(
    "log_sigmoid.out",
    CompositeImplicitAutograd=lambda self, out: structured.write_out(
        invoke(functions.log_sigmoid_op, self), [self], out, casts=False
    ),
)
implement(
    "glu",
    CompositeExplicitAutograd=lambda self, dim: (
        functions.unflatten(self, dim, (2, -1)).select(dim % self.dim(), 0)
        * self.unflatten(dim, (2, -1)).select(dim % self.dim(), 1).sigmoid()
    ),
)
implement(
    "glu.out",
    CompositeExplicitAutograd=lambda self, dim, out: structured.write_out(
        invoke(functions.glu_op, self, dim), [self, dim], out, casts=True
    ),
)
implement(
    "_prelu_kernel", CompositeExplicitAutograd=lambda self, weight: functions.where(self > 0, self, weight * self)
)
implement(
    "prelu",
    CompositeImplicitAutograd=lambda self, weight: functions._prelu_kernel(
        self,
        weight
        if self.dim() == weight.dim()
        else weight.reshape([weight.numel() if d == 1 else 1 for d in range(self.dim())]),
    ),
)
implement("rrelu_with_noise", CompositeExplicitAutograd=random.rrelu_with_noise)
implement(
    "rrelu_with_noise_",
    CompositeExplicitAutograd=lambda self, noise, lower, upper, training, generator: self.copy_(
        functions.rrelu_with_noise(self, noise, lower, upper, training, generator)
    ),
)
implement(
    "rrelu_with_noise_backward",
    CompositeExplicitAutograd=lambda grad_output, self, noise, lower, upper, training, self_is_result: (
        grad_output * noise
        if training and upper - lower > 1e-6
        else functions.leaky_relu_backward(grad_output, self, (lower + upper) / 2, self_is_result)
    ),
)
implement(
    "rrelu",
    CompositeImplicitAutograd=lambda self, lower, upper, training, generator: functions.rrelu_with_noise(
        self, functions.empty_like(self), lower, upper, training, generator
    ),
)
implement(
    "rrelu_",
    CompositeImplicitAutograd=lambda self, lower, upper, training, generator: functions.rrelu_with_noise_(
        self, functions.empty_like(self), lower, upper, training, generator
    ),
)
implement(
    "cat",
    CPU=gather_scatter.cat.functional,
    Meta=gather_scatter.cat.on_meta,
    CompositeExplicitAutogradNonFunctional=gather_scatter.cat.functional,
)
implement("cat.out", CPU=gather_scatter.cat.out, Meta=gather_scatter.cat.out)
implement("embedding", CompositeExplicitAutograd=gather_scatter.embedding)
implement("embedding_renorm_", CPU=gather_scatter.embedding_renorm_, Meta=gather_scatter.embedding_renorm_)
implement("flip", CPU=gather_scatter.flip, Meta=gather_scatter.flip)
implement("gather", CPU=gather_scatter.gather.functional, Meta=gather_scatter.gather.on_meta)
implement("gather.out", CPU=gather_scatter.gather.out, Meta=gather_scatter.gather.out)
implement("index.Tensor", CPU=gather_scatter.index, Meta=gather_scatter.index)
implement("index_add", CPU=gather_scatter.index_add.functional, Meta=gather_scatter.index_add.on_meta)
implement("index_add_", CPU=gather_scatter.index_add.inplace, Meta=gather_scatter.index_add.inplace)
implement("index_add.out", CPU=gather_scatter.index_add.out, Meta=gather_scatter.index_add.out)
implement(
    "index_put",
    CompositeExplicitAutograd=lambda self, indices, values, accumulate: gather_scatter.index_put_(
        functions.clone(self), indices, values, accumulate
    ),
)
implement("index_put_", CompositeExplicitAutograd=gather_scatter.index_put_)
implement("_index_put_impl_", CPU=gather_scatter.index_put_, Meta=gather_scatter.index_put_)
implement("index_select", CPU=gather_scatter.index_select.functional, Meta=gather_scatter.index_select.on_meta)
implement("index_select.out", CPU=gather_scatter.index_select.out, Meta=gather_scatter.index_select.out)
implement("masked_fill.Tensor", CompositeExplicitAutograd=gather_scatter.masked_fill)
implement("masked_fill.Scalar", CompositeExplicitAutograd=gather_scatter.masked_fill)
implement("masked_fill_.Tensor", CPU=gather_scatter.masked_fill_, Meta=gather_scatter.masked_fill_)
implement("masked_fill_.Scalar", CPU=gather_scatter.masked_fill_, Meta=gather_scatter.masked_fill_)
implement("one_hot", CompositeImplicitAutograd=gather_scatter.one_hot)
implement("repeat", CompositeExplicitAutograd=gather_scatter.repeat)
implement("roll", CPU=gather_scatter.roll, Meta=gather_scatter.roll)
implement("scatter.src", CPU=gather_scatter.scatter.functional, Meta=gather_scatter.scatter.on_meta)
implement("scatter_.src", CPU=gather_scatter.scatter.inplace, Meta=gather_scatter.scatter.inplace)
implement("scatter.src_out", CPU=gather_scatter.scatter.out, Meta=gather_scatter.scatter.out)
implement("scatter.value", CPU=gather_scatter.scatter.functional, Meta=gather_scatter.scatter.on_meta)
implement("scatter_.value", CPU=gather_scatter.scatter.inplace, Meta=gather_scatter.scatter.inplace)
implement("scatter.value_out", CPU=gather_scatter.scatter.out, Meta=gather_scatter.scatter.out)
implement("scatter.reduce", CPU=gather_scatter.scatter.functional, Meta=gather_scatter.scatter.on_meta)
implement("scatter_.reduce", CPU=gather_scatter.scatter.inplace, Meta=gather_scatter.scatter.inplace)
implement("scatter.reduce_out", CPU=gather_scatter.scatter.out, Meta=gather_scatter.scatter.out)
implement("scatter.value_reduce", CPU=gather_scatter.scatter.functional, Meta=gather_scatter.scatter.on_meta)
implement("scatter_.value_reduce", CPU=gather_scatter.scatter.inplace, Meta=gather_scatter.scatter.inplace)
implement("scatter.value_reduce_out", CPU=gather_scatter.scatter.out, Meta=gather_scatter.scatter.out)
implement("scatter_add", CPU=gather_scatter.scatter_add.functional, Meta=gather_scatter.scatter_add.on_meta)
implement("scatter_add_", CPU=gather_scatter.scatter_add.inplace, Meta=gather_scatter.scatter_add.inplace)
implement("scatter_add.out", CPU=gather_scatter.scatter_add.out, Meta=gather_scatter.scatter_add.out)
implement("stack", CompositeExplicitAutograd=gather_scatter.stack)
implement("stack.out", CompositeExplicitAutograd=gather_scatter.stack_out)
implement(
    "tile", CompositeImplicitAutograd=lambda self, dims: self.repeat((1,) * (self.dim() - len(dims)) + tuple(dims))
)
implement("tril", CPU=gather_scatter.tril.functional, Meta=gather_scatter.tril.on_meta)
implement("tril_", CPU=gather_scatter.tril.inplace, Meta=gather_scatter.tril.inplace)
implement("tril.out", CPU=gather_scatter.tril.out, Meta=gather_scatter.tril.out)
implement("triu", CPU=gather_scatter.triu.functional, Meta=gather_scatter.triu.on_meta)
implement("triu_", CPU=gather_scatter.triu.inplace, Meta=gather_scatter.triu.inplace)
implement("triu.out", CPU=gather_scatter.triu.out, Meta=gather_scatter.triu.out)
implement("_log_softmax", CPU=reductions.log_softmax_along.functional, Meta=reductions.log_softmax_along.on_meta)
implement("_log_softmax.out", CPU=reductions.log_softmax_along.out, Meta=reductions.log_softmax_along.out)
implement("_softmax", CPU=reductions.softmax_along.functional, Meta=reductions.softmax_along.on_meta)
implement("_softmax.out", CPU=reductions.softmax_along.out, Meta=reductions.softmax_along.out)
implement("all.dim", CPU=reductions.all_.functional, Meta=reductions.all_.on_meta)
implement("all.dims", CPU=reductions.all_.functional, Meta=reductions.all_.on_meta)
implement("all", CPU=reductions.all_.functional, Meta=reductions.all_.on_meta)
implement("all.out", CPU=reductions.all_.out, Meta=reductions.all_.out)
implement("all.dims_out", CPU=reductions.all_.out, Meta=reductions.all_.out)
implement("all.all_out", CPU=reductions.all_.out, Meta=reductions.all_.out)
implement("amax", CPU=reductions.amax.functional, Meta=reductions.amax.on_meta)
implement("amax.out", CPU=reductions.amax.out, Meta=reductions.amax.out)
implement("amin", CPU=reductions.amin.functional, Meta=reductions.amin.on_meta)
implement("amin.out", CPU=reductions.amin.out, Meta=reductions.amin.out)
implement("any.dim", CPU=reductions.any_.functional, Meta=reductions.any_.on_meta)
implement("any.dims", CPU=reductions.any_.functional, Meta=reductions.any_.on_meta)
implement("any", CPU=reductions.any_.functional, Meta=reductions.any_.on_meta)
implement("any.out", CPU=reductions.any_.out, Meta=reductions.any_.out)
implement("any.dims_out", CPU=reductions.any_.out, Meta=reductions.any_.out)
implement("any.all_out", CPU=reductions.any_.out, Meta=reductions.any_.out)
implement("argmax", CPU=reductions.argmax.functional, Meta=reductions.argmax.on_meta)
implement("argmax.out", CPU=reductions.argmax.out, Meta=reductions.argmax.out)
implement("argmin", CPU=reductions.argmin.functional, Meta=reductions.argmin.on_meta)
implement("argmin.out", CPU=reductions.argmin.out, Meta=reductions.argmin.out)
implement("cumsum", CPU=reductions.cumsum.functional, Meta=reductions.cumsum.on_meta)
implement("cumsum_", CPU=reductions.cumsum.inplace, Meta=reductions.cumsum.inplace)
implement("cumsum.out", CPU=reductions.cumsum.out, Meta=reductions.cumsum.out)
implement(
    "log_softmax.int",
    CompositeImplicitAutograd=lambda self, dim, dtype: functions._log_softmax(
        reductions.to_dtype(self, dtype), dim, False, out=None
    ),
)
implement(
    "log_softmax.int_out",
    CompositeExplicitAutograd=lambda self, dim, dtype, out: functions._log_softmax(
        reductions.to_dtype(self, dtype), dim, False, out=out
    ),
)
implement("logcumsumexp", CPU=reductions.logcumsumexp)
implement(
    "logcumsumexp.out",
    CPU=lambda self, dim, out: structured.write_out(
        invoke(functions.logcumsumexp_op, self, dim), [self, dim], out, casts=False, name="logcumsumexp"
    ),
)
implement("logsumexp", CPU=reductions.logsumexp_dim.functional, Meta=reductions.logsumexp_dim.on_meta)
implement("logsumexp.out", CPU=reductions.logsumexp_dim.out, Meta=reductions.logsumexp_dim.out)
implement("max", CPU=reductions.max_all.functional, Meta=reductions.max_all.on_meta)
implement("max.unary_out", CPU=reductions.max_all.out, Meta=reductions.max_all.out)
implement("max.other", CompositeImplicitAutograd=lambda self, other: functions.maximum(self, other, out=None))
implement("max.out", CompositeImplicitAutograd=lambda self, other, out: functions.maximum(self, other, out=out))
implement("max.dim", CPU=reductions.max_dim, Meta=reductions.max_dim)
implement("max.dim_max", CPU=reductions.max_dim_out, Meta=reductions.max_dim_out)
implement(
    "mean",
    CompositeExplicitAutograd=lambda self, dtype: (
        reductions.mean_dim.on_meta if self.is_meta else pointwise.fastest[reductions.mean_dim.functional]
    )(self, None, False, dtype),
)
implement("mean.dim", CPU=reductions.mean_dim.functional, Meta=reductions.mean_dim.on_meta)
implement("mean.out", CPU=reductions.mean_dim.out, Meta=reductions.mean_dim.out)
implement(
    "mean.dtype_out",
    CompositeExplicitAutograd=lambda self, dtype, out: reductions.mean_dim.out(self, None, False, dtype, out),
)
implement("min", CPU=reductions.min_all.functional, Meta=reductions.min_all.on_meta)
implement("min.unary_out", CPU=reductions.min_all.out, Meta=reductions.min_all.out)
implement("min.other", CompositeImplicitAutograd=lambda self, other: functions.minimum(self, other, out=None))
implement("min.out", CompositeImplicitAutograd=lambda self, other, out: functions.minimum(self, other, out=out))
implement("min.dim", CPU=reductions.min_dim, Meta=reductions.min_dim)
implement("min.dim_min", CPU=reductions.min_dim_out, Meta=reductions.min_dim_out)
implement(
    "prod",
    CPU=lambda self, dtype: (
        reductions.prod_dim.on_meta if self.is_meta else pointwise.fastest[reductions.prod_dim.functional]
    )(self, None, False, dtype),
    Meta=lambda self, dtype: (
        reductions.prod_dim.on_meta if self.is_meta else pointwise.fastest[reductions.prod_dim.functional]
    )(self, None, False, dtype),
)
implement("prod.dim_int", CPU=reductions.prod_dim.functional, Meta=reductions.prod_dim.on_meta)
implement("prod.int_out", CPU=reductions.prod_dim.out, Meta=reductions.prod_dim.out)
implement(
    "prod.out",
    CompositeExplicitAutograd=lambda self, dtype, out: reductions.prod_dim.out(self, None, False, dtype, out),
)
implement(
    "softmax.int",
    CompositeImplicitAutograd=lambda self, dim, dtype: functions._softmax(
        reductions.to_dtype(self, dtype), dim, False, out=None
    ),
)
implement(
    "softmax.int_out",
    CompositeExplicitAutograd=lambda self, dim, dtype, out: functions._softmax(
        reductions.to_dtype(self, dtype), dim, False, out=out
    ),
)
implement(
    "std",
    CompositeImplicitAutograd=lambda self, unbiased: functions.std_correction_op(self, None, correction=int(unbiased)),
)
implement(
    "std.dim",
    CompositeImplicitAutograd=lambda self, dim, unbiased, keepdim: functions.std_correction_op(
        self, dim, correction=int(unbiased), keepdim=keepdim
    ),
)
implement(
    "std.out",
    CompositeImplicitAutograd=lambda self, dim, unbiased, keepdim, out: functions.std_correction_out_op(
        self, dim, correction=int(unbiased), keepdim=keepdim, out=out
    ),
)
implement("std.correction", CPU=reductions.std_correction.functional, Meta=reductions.std_correction.on_meta)
implement("std.correction_out", CPU=reductions.std_correction.out, Meta=reductions.std_correction.out)
implement(
    "std_mean",
    CompositeImplicitAutograd=lambda self, unbiased: functions.std_mean_correction_op(
        self, None, correction=int(unbiased)
    ),
)
implement(
    "std_mean.dim",
    CompositeImplicitAutograd=lambda self, dim, unbiased, keepdim: functions.std_mean_correction_op(
        self, dim, correction=int(unbiased), keepdim=keepdim
    ),
)
implement(
    "std_mean.correction",
    CPU=lambda self, dim, correction, keepdim: reductions.spread_and_mean(np.sqrt, self, dim, correction, keepdim),
    Meta=lambda self, dim, correction, keepdim: reductions.spread_and_mean(np.sqrt, self, dim, correction, keepdim),
)
implement(
    "var_mean",
    CompositeImplicitAutograd=lambda self, unbiased: functions.var_mean_correction_op(
        self, None, correction=int(unbiased)
    ),
)
implement(
    "var_mean.dim",
    CompositeImplicitAutograd=lambda self, dim, unbiased, keepdim: functions.var_mean_correction_op(
        self, dim, correction=int(unbiased), keepdim=keepdim
    ),
)
implement(
    "var_mean.correction",
    CPU=lambda self, dim, correction, keepdim: reductions.spread_and_mean(np.positive, self, dim, correction, keepdim),
    Meta=lambda self, dim, correction, keepdim: reductions.spread_and_mean(np.positive, self, dim, correction, keepdim),
)
implement(
    "sum",
    CompositeExplicitAutograd=lambda self, dtype: (
        reductions.sum_dim.on_meta if self.is_meta else pointwise.fastest[reductions.sum_dim.functional]
    )(self, None, False, dtype),
)
implement("sum.dim_IntList", CPU=reductions.sum_dim.functional, Meta=reductions.sum_dim.on_meta)
implement("sum.IntList_out", CPU=reductions.sum_dim.out, Meta=reductions.sum_dim.out)
implement(
    "sum.out", CompositeExplicitAutograd=lambda self, dtype, out: reductions.sum_dim.out(self, None, False, dtype, out)
)
implement(
    "var",
    CompositeImplicitAutograd=lambda self, unbiased: functions.var_correction_op(self, None, correction=int(unbiased)),
)
implement(
    "var.dim",
    CompositeImplicitAutograd=lambda self, dim, unbiased, keepdim: functions.var_correction_op(
        self, dim, correction=int(unbiased), keepdim=keepdim
    ),
)
implement(
    "var.out",
    CompositeImplicitAutograd=lambda self, dim, unbiased, keepdim, out: functions.var_correction_out_op(
        self, dim, correction=int(unbiased), keepdim=keepdim, out=out
    ),
)
implement("var.correction", CPU=reductions.var_correction.functional, Meta=reductions.var_correction.on_meta)
implement("var.correction_out", CPU=reductions.var_correction.out, Meta=reductions.var_correction.out)
implement("bincount", CompositeExplicitAutograd=reductions.bincount)
implement("histc", CompositeExplicitAutograd=reductions.histc)
implement(
    "histc.out",
    CompositeExplicitAutograd=lambda self, bins, min, max, out: structured.write_out(
        invoke(functions.histc_op, self, bins, min, max), [self, bins, min, max], out, casts=False
    ),
)
implement(
    "histogram.bin_ct",
    CompositeExplicitAutograd=lambda self, bins, range, weight, density: reductions.histogram(
        self, bins, range, weight, density
    ),
)
implement(
    "histogram.bins_tensor",
    CompositeExplicitAutograd=lambda self, bins, weight, density: reductions.histogram(
        self, reductions.edges_of(bins, self), None, weight, density
    ),
)
implement("cumprod", CPU=reductions.cumprod.functional, Meta=reductions.cumprod.on_meta)
implement("cumprod_", CPU=reductions.cumprod.inplace, Meta=reductions.cumprod.inplace)
implement("cumprod.out", CPU=reductions.cumprod.out, Meta=reductions.cumprod.out)
implement("_local_scalar_dense", CompositeExplicitAutograd=lambda self: creation.local_scalar_dense(self))
implement("cummax", CompositeExplicitAutograd=lambda self, dim: reductions.running(self, dim, np.maximum))
implement(
    "cummax.out",
    CompositeExplicitAutograd=lambda self, dim, values, indices: structured.write_out(
        invoke(functions.cummax_op, self, dim), [self, dim], values, indices, casts=False, name="cummax"
    ),
)
implement("cummin", CompositeExplicitAutograd=lambda self, dim: reductions.running(self, dim, np.minimum))
implement(
    "cummin.out",
    CompositeExplicitAutograd=lambda self, dim, values, indices: structured.write_out(
        invoke(functions.cummin_op, self, dim), [self, dim], values, indices, casts=False, name="cummin"
    ),
)
implement("kthvalue", CompositeExplicitAutograd=sorting.kthvalue)
implement(
    "kthvalue.values",
    CompositeExplicitAutograd=lambda self, k, dim, keepdim, values, indices: structured.write_out(
        invoke(functions.kthvalue_op, self, k, dim, keepdim),
        [self, k, dim, keepdim],
        values,
        indices,
        casts=False,
        name="kthvalue",
    ),
)
implement("mode", CompositeExplicitAutograd=sorting.mode)
implement(
    "mode.values",
    CompositeExplicitAutograd=lambda self, dim, keepdim, values, indices: structured.write_out(
        invoke(functions.mode_op, self, dim, keepdim), [self, dim, keepdim], values, indices, casts=False, name="mode"
    ),
)
implement("nansum", CompositeExplicitAutograd=reductions.nansum)
implement("nansum.out", CompositeExplicitAutograd=reductions.nansum)
implement("nanmean", CompositeImplicitAutograd=reductions.nanmean)
implement(
    "nanmean.out",
    CompositeImplicitAutograd=lambda self, dim, keepdim, dtype, out: functions.nansum(
        self, dim, keepdim, dtype=dtype, out=out
    ).div_(functions.sum(self.isnan().logical_not(), dim, keepdim)),
)
implement(
    "count_nonzero", CompositeExplicitAutograd=lambda self, dim: functions.sum(self != 0, [] if dim is None else [dim])
)
implement("count_nonzero.dim_IntList", CompositeExplicitAutograd=lambda self, dim: functions.sum(self != 0, dim))
implement(
    "aminmax",
    CompositeExplicitAutograd=lambda self, dim, keepdim: (
        functions.amin(self, [] if dim is None else [dim], keepdim),
        functions.amax(self, [] if dim is None else [dim], keepdim),
    ),
)
implement(
    "aminmax.out",
    CompositeExplicitAutograd=lambda self, dim, keepdim, min, max: structured.write_out(
        invoke(functions.aminmax_op, self, dim, keepdim), [self, dim, keepdim], min, max, casts=False, name="aminmax"
    ),
)
implement(
    "trapezoid.x",
    CompositeImplicitAutograd=lambda y, x, dim: (
        (
            (y.narrow(dim, 1, y.size(dim) - 1) + y.narrow(dim, 0, y.size(dim) - 1))
            * (
                x.diff()
                if x.dim() == 1 and dim in (-1, y.dim() - 1)
                else x.diff().view([-1 if i == dim % y.dim() else 1 for i in range(y.dim())])
                if x.dim() == 1
                else x.diff(dim=dim)
            )
        ).sum(dim)
        / 2.0
    ),
)
implement(
    "trapezoid.dx",
    CompositeImplicitAutograd=lambda y, dx, dim: (
        (y.sum(dim) * 2 - y.select(dim, 0) - y.select(dim, -1)) * (dx / 2.0) if y.size(dim) else y.sum(dim)
    ),
)
implement("trapz.x", CompositeImplicitAutograd=lambda y, x, dim: functions.trapezoid(y, x, dim=dim))
implement("trapz.dx", CompositeImplicitAutograd=lambda y, dx, dim: functions.trapezoid(y, dx=dx, dim=dim))
implement("diff", CompositeImplicitAutograd=reductions.diff)
implement(
    "diff.out",
    CompositeImplicitAutograd=lambda self, n, dim, prepend, append, out: structured.write_out(
        invoke(functions.diff_op, self, n, dim, prepend, append), [self, n, dim, prepend, append], out, casts=False
    ),
)
implement(
    "searchsorted.Tensor",
    CompositeExplicitAutograd=lambda sorted_sequence, self, out_int32, right, side, sorter: sorting.searchsorted(
        sorted_sequence, self, out_int32, right, sorter, side
    ),
)
implement(
    "searchsorted.Scalar",
    CompositeExplicitAutograd=lambda sorted_sequence, self, out_int32, right, side, sorter: sorting.searchsorted(
        sorted_sequence, functions.full((), self), out_int32, right, sorter, side
    ),
)
implement(
    "bucketize.Tensor",
    CompositeExplicitAutograd=lambda self, boundaries, out_int32, right: sorting.bucketize(
        boundaries, self, out_int32, right
    ),
)
implement(
    "bucketize.Tensor_out",
    CompositeExplicitAutograd=lambda self, boundaries, out_int32, right, out: structured.write_out(
        invoke(functions.bucketize_Tensor_op, self, boundaries, out_int32, right),
        [self, boundaries, out_int32, right],
        out,
        casts=False,
    ),
)
implement(
    "bucketize.Scalar",
    CompositeExplicitAutograd=lambda self, boundaries, out_int32, right: sorting.bucketize(
        boundaries, functions.full((), self), out_int32, right
    ),
)
implement("msort", CompositeImplicitAutograd=lambda self: self.sort(0)[0])
implement(
    "msort.out",
    CompositeImplicitAutograd=lambda self, out: structured.write_out(
        invoke(functions.msort_op, self), [self], out, casts=False
    ),
)
implement(
    "isin.Tensor_Tensor",
    CompositeExplicitAutograd=lambda elements, test_elements, assume_unique, invert: (
        (elements.unsqueeze(-1) == test_elements.flatten()).any(-1).logical_xor(functions.full((), invert))
    ),
)
implement(
    "isin.Tensor_Scalar",
    CompositeImplicitAutograd=lambda elements, test_element, assume_unique, invert: (
        elements != test_element if invert else elements == test_element
    ),
)
implement("atleast_1d", CompositeImplicitAutograd=tensor_shape.atleast_1d)
implement("atleast_1d.Sequence", CompositeImplicitAutograd=lambda tensors: tuple(map(tensor_shape.atleast_1d, tensors)))
implement("atleast_2d", CompositeImplicitAutograd=tensor_shape.atleast_2d)
implement("atleast_2d.Sequence", CompositeImplicitAutograd=lambda tensors: tuple(map(tensor_shape.atleast_2d, tensors)))
implement("atleast_3d", CompositeImplicitAutograd=tensor_shape.atleast_3d)
implement("atleast_3d.Sequence", CompositeImplicitAutograd=lambda tensors: tuple(map(tensor_shape.atleast_3d, tensors)))
implement("column_stack", CompositeImplicitAutograd=tensor_shape.column_stack)
implement("column_stack.out", CompositeImplicitAutograd=tensor_shape.column_stack)
implement("dstack", CompositeImplicitAutograd=tensor_shape.dstack)
implement("dstack.out", CompositeImplicitAutograd=tensor_shape.dstack)
implement("hstack", CompositeImplicitAutograd=tensor_shape.hstack)
implement("hstack.out", CompositeImplicitAutograd=tensor_shape.hstack)
implement("meshgrid", CompositeImplicitAutograd=tensor_shape.meshgrid)
implement("meshgrid.indexing", CompositeImplicitAutograd=tensor_shape.meshgrid_indexing)
implement("repeat_interleave.Tensor", CPU=tensor_shape.repeat_interleave)
implement("repeat_interleave.self_Tensor", CompositeImplicitAutograd=tensor_shape.repeat_interleave_tensor)
implement("repeat_interleave.self_int", CompositeImplicitAutograd=tensor_shape.repeat_interleave_int)
implement("vstack", CompositeImplicitAutograd=tensor_shape.vstack)
implement("vstack.out", CompositeImplicitAutograd=tensor_shape.vstack)
implement("pixel_shuffle", CompositeExplicitAutograd=tensor_shape.pixel_shuffle)
implement(
    "pixel_shuffle.out",
    CompositeExplicitAutograd=lambda self, upscale_factor, out: structured.write_out(
        invoke(functions.pixel_shuffle_op, self, upscale_factor), [self, upscale_factor], out, casts=False
    ),
)
implement("pixel_unshuffle", CompositeExplicitAutograd=tensor_shape.pixel_unshuffle)
implement(
    "pixel_unshuffle.out",
    CompositeExplicitAutograd=lambda self, downscale_factor, out: structured.write_out(
        invoke(functions.pixel_unshuffle_op, self, downscale_factor), [self, downscale_factor], out, casts=False
    ),
)
implement("channel_shuffle", CompositeImplicitAutograd=tensor_shape.channel_shuffle)
implement("native_channel_shuffle", CompositeImplicitAutograd=tensor_shape.channel_shuffle)
implement(
    "bilinear",
    CompositeImplicitAutograd=lambda input1, input2, weight, bias: (
        functions.einsum("...i,oij,...j->...o", [input1, weight, input2])
        if bias is None
        else functions.einsum("...i,oij,...j->...o", [input1, weight, input2]) + bias
    ),
)
implement("diag_embed", CompositeExplicitAutograd=tensor_shape.diag_embed)
implement(
    "diag",
    CompositeImplicitAutograd=lambda self, diagonal: (
        self.diag_embed(diagonal) if self.dim() == 1 else functions.diagonal_copy(self, diagonal)
    ),
)
implement(
    "diag.out",
    CompositeImplicitAutograd=lambda self, diagonal, out: structured.write_out(
        invoke(functions.diag_op, self, diagonal), [self, diagonal], out, casts=False
    ),
)
implement("diagflat", CompositeImplicitAutograd=lambda self, offset: self.contiguous().view(-1).diag(offset))
implement("fliplr", CompositeImplicitAutograd=gather_scatter.fliplr)
implement("flipud", CompositeImplicitAutograd=gather_scatter.flipud)
implement("rot90", CompositeExplicitAutograd=gather_scatter.rot90)
implement("ravel", CompositeImplicitAutograd=lambda self: self.contiguous().view(-1))
implement("argwhere", CompositeImplicitAutograd=lambda self: self.nonzero())
implement("take_along_dim", CompositeImplicitAutograd=gather_scatter.take_along_dim)
implement(
    "take_along_dim.out",
    CompositeImplicitAutograd=lambda self, indices, dim, out: structured.write_out(
        invoke(functions.take_along_dim_op, self, indices, dim), [self, indices, dim], out, casts=False
    ),
)
implement("put_", CPU=gather_scatter.put_)
implement(
    "put",
    CompositeExplicitAutograd=lambda self, index, source, accumulate: self.clone().put_(index, source, accumulate),
)
implement(
    "put.out",
    CompositeExplicitAutograd=lambda self, index, source, accumulate, out: structured.write_out(
        invoke(functions.put_op, self, index, source, accumulate), [self, index, source, accumulate], out, casts=False
    ),
)
implement(
    "index_reduce",
    CompositeImplicitAutograd=lambda self, dim, index, source, reduce, include_self: self.scatter_reduce(
        dim, gather_scatter.expanded_index(self, dim, index, source, reduce), source, reduce, include_self=include_self
    ),
)
implement(
    "index_reduce.out",
    CompositeImplicitAutograd=lambda self, dim, index, source, reduce, include_self, out: structured.write_out(
        invoke(functions.index_reduce_op, self, dim, index, source, reduce, include_self),
        [self, dim, index, source, reduce, include_self],
        out,
        casts=False,
    ),
)
implement(
    "index_reduce_",
    CompositeImplicitAutograd=lambda self, dim, index, source, reduce, include_self: self.scatter_reduce_(
        dim, gather_scatter.expanded_index(self, dim, index, source, reduce), source, reduce, include_self=include_self
    ),
)
implement(
    "take",
    CompositeExplicitAutograd=lambda self, index: (
        self.flatten().gather(0, index.flatten() % max(self.numel(), 1)).view(index.shape)
    ),
)
implement(
    "take.out",
    CompositeExplicitAutograd=lambda self, index, out: structured.write_out(
        invoke(functions.take_op, self, index), [self, index], out, casts=False
    ),
)
implement(
    "tensor_split.tensor_indices_or_sections",
    CompositeImplicitAutograd=lambda self, tensor_indices_or_sections, dim: self.tensor_split(
        tensor_indices_or_sections.tolist(), dim
    ),
)
implement("tensor_split.sections", CompositeImplicitAutograd=tensor_shape.tensor_split)
implement("tensor_split.indices", CompositeImplicitAutograd=tensor_shape.tensor_split)
implement(
    "hsplit.int", CompositeImplicitAutograd=lambda self, sections: tensor_shape.split_along(self, sections, "hsplit")
)
implement(
    "hsplit.array", CompositeImplicitAutograd=lambda self, indices: tensor_shape.split_along(self, indices, "hsplit")
)
implement(
    "vsplit.int", CompositeImplicitAutograd=lambda self, sections: tensor_shape.split_along(self, sections, "vsplit")
)
implement(
    "vsplit.array", CompositeImplicitAutograd=lambda self, indices: tensor_shape.split_along(self, indices, "vsplit")
)
implement(
    "dsplit.int", CompositeImplicitAutograd=lambda self, sections: tensor_shape.split_along(self, sections, "dsplit")
)
implement(
    "dsplit.array", CompositeImplicitAutograd=lambda self, indices: tensor_shape.split_along(self, indices, "dsplit")
)
implement(
    "vander",
    CompositeImplicitAutograd=lambda x, N, increasing: functions.pow(
        x.unsqueeze(-1),
        functions.arange(x.size(-1) if N is None else N)
        if increasing
        else functions.arange(x.size(-1) if N is None else N).flip(0),
    ),
)
implement("swapdims_", CompositeImplicitAutograd=lambda self, dim0, dim1: self.transpose_(dim0, dim1))
implement("swapaxes_", CompositeImplicitAutograd=lambda self, axis0, axis1: self.transpose_(axis0, axis1))
implement(
    "sum_to_size",
    CompositeImplicitAutograd=lambda self, size: (
        functions.sum(
            self,
            [d for d in range(self.dim()) if d < self.dim() - len(size) or size[d - self.dim()] == 1 != self.size(d)],
            True,
        ).view(size)
        if size and tuple(size) != self.shape
        else self
        if size
        else functions.sum(self)
    ),
)
implement("index_copy", CPU=advanced_indexing.index_copy.functional, Meta=advanced_indexing.index_copy.on_meta)
implement("index_copy_", CPU=advanced_indexing.index_copy.inplace, Meta=advanced_indexing.index_copy.inplace)
implement("index_copy.out", CPU=advanced_indexing.index_copy.out, Meta=advanced_indexing.index_copy.out)
implement(
    "index_fill.int_Tensor",
    CompositeExplicitAutograd=lambda self, dim, index, value: advanced_indexing.index_fill_(
        functions.clone(self), dim, index, value
    ),
)
implement("index_fill_.int_Tensor", CPU=advanced_indexing.index_fill_, Meta=advanced_indexing.index_fill_)
implement(
    "index_fill.int_Scalar",
    CompositeExplicitAutograd=lambda self, dim, index, value: advanced_indexing.index_fill_(
        functions.clone(self), dim, index, value
    ),
)
implement("index_fill_.int_Scalar", CPU=advanced_indexing.index_fill_, Meta=advanced_indexing.index_fill_)
implement(
    "masked_scatter",
    CompositeExplicitAutograd=lambda self, mask, source: gather_scatter.broadcast_copy(self, mask).masked_scatter_(
        mask, source
    ),
)
implement("masked_scatter_", CPU=advanced_indexing.masked_scatter_, Meta=advanced_indexing.masked_scatter_)
implement(
    "masked_scatter_backward",
    CompositeExplicitAutograd=advanced_indexing.masked_scatter_backward,
    Meta=lambda grad_output, mask, sizes: grad_output.new_empty(sizes),
)
implement("masked_select", CPU=advanced_indexing.masked_select)
implement("masked_select.out", CPU=advanced_indexing.masked_select_out)
implement(
    "masked_select_backward",
    CompositeImplicitAutograd=lambda grad, input, mask: functions.zeros_like(
        input.expand(advanced_indexing.infer_size(input.shape, mask.shape)), memory_format=views.contiguous_format
    ).masked_scatter(mask, grad),
)
implement("nonzero", CPU=advanced_indexing.nonzero)
implement("nonzero.out", CPU=advanced_indexing.nonzero_out)
implement("nonzero_numpy", CompositeImplicitAutograd=advanced_indexing.nonzero_numpy)
implement(
    "scatter_reduce.two", CPU=advanced_indexing.scatter_reduce.functional, Meta=advanced_indexing.scatter_reduce.on_meta
)
implement(
    "scatter_reduce_.two", CPU=advanced_indexing.scatter_reduce.inplace, Meta=advanced_indexing.scatter_reduce.inplace
)
implement("scatter_reduce.two_out", CPU=advanced_indexing.scatter_reduce.out, Meta=advanced_indexing.scatter_reduce.out)
implement("linalg_matrix_norm", CompositeImplicitAutograd=linear_algebra.matrix_norm)
implement("linalg_matrix_norm.out", CompositeImplicitAutograd=linear_algebra.matrix_norm)
implement("linalg_matrix_norm.str_ord", CompositeImplicitAutograd=linear_algebra.matrix_norm)
implement("linalg_matrix_norm.str_ord_out", CompositeImplicitAutograd=linear_algebra.matrix_norm)
implement("_linalg_svd", CPU=linear_algebra.svd, Meta=linear_algebra.svd)
implement("linalg_inv_ex", CPU=linear_algebra.inv_ex, Meta=linear_algebra.inv_ex)
implement("linalg_inv", CompositeImplicitAutograd=lambda A: functions.linalg_inv_ex(A, check_errors=True)[0])
implement("_linalg_det", CPU=linear_algebra.det, Meta=linear_algebra.det)
implement("linalg_det", CompositeImplicitAutograd=lambda A: functions._linalg_det(A)[0])
implement("det", CompositeImplicitAutograd=lambda self: functions.linalg_det(self))
implement("_linalg_solve_ex", CPU=linear_algebra.solve_ex, Meta=linear_algebra.solve_ex)
implement(
    "linalg_solve",
    CompositeImplicitAutograd=lambda A, B, left: functions._linalg_solve_ex(A, B, left=left, check_errors=True)[0],
)
implement("linalg_cholesky_ex", CPU=linear_algebra.cholesky_ex, Meta=linear_algebra.cholesky_ex)
implement(
    "linalg_cholesky",
    CompositeImplicitAutograd=lambda self, upper: functions.linalg_cholesky_ex(self, upper=upper, check_errors=True)[0],
)
implement("cov", CompositeImplicitAutograd=linear_algebra.cov)
implement("corrcoef", CompositeImplicitAutograd=linear_algebra.corrcoef)
implement("inverse", CompositeImplicitAutograd=lambda self: functions.linalg_inv(self))
implement("trace", CompositeExplicitAutograd=linear_algebra.trace)
implement("linalg_svdvals", CompositeImplicitAutograd=linear_algebra.svdvals)
implement(
    "linalg_svdvals.out",
    CompositeImplicitAutograd=lambda A, driver, out: structured.write_out(
        invoke(functions.linalg_svdvals_op, A, driver), [A, driver], out, casts=False
    ),
)
implement("linalg_vector_norm", CPU=linear_algebra.vector_norm.functional, Meta=linear_algebra.vector_norm.on_meta)
implement("linalg_vector_norm.out", CPU=linear_algebra.vector_norm.out, Meta=linear_algebra.vector_norm.out)
implement(
    "argsort", CompositeImplicitAutograd=lambda self, dim, descending: functions.sort_op(self, dim, descending)[1]
)
implement(
    "argsort.stable",
    CompositeImplicitAutograd=lambda self, stable, dim, descending: functions.sort_stable_op(
        self, stable=stable, dim=dim, descending=descending
    )[1],
)
implement("median", CPU=sorting.median, Meta=sorting.median)
implement("median.dim", CompositeExplicitAutograd=sorting.median_dim)
implement("median.dim_values", CPU=sorting.median_dim_out, Meta=sorting.median_dim_out)
implement("nanmedian", CPU=sorting.nanmedian, Meta=sorting.nanmedian)
implement(
    "nanmedian.out",
    CPU=lambda self, out: structured.write_out(invoke(functions.nanmedian_op, self), [self], out, casts=False),
    Meta=lambda self, out: structured.write_out(invoke(functions.nanmedian_op, self), [self], out, casts=False),
)
implement("nanmedian.dim", CompositeExplicitAutograd=sorting.nanmedian_dim)
implement("nanmedian.dim_values", CPU=sorting.nanmedian_dim_out, Meta=sorting.nanmedian_dim_out)
implement(
    "quantile",
    CompositeImplicitAutograd=lambda self, q, dim, keepdim, interpolation: sorting.quantile(
        self, q, dim, keepdim, interpolation, "quantile"
    ),
)
implement(
    "quantile.out",
    CompositeImplicitAutograd=lambda self, q, dim, keepdim, interpolation, out: structured.write_out(
        invoke(functions.quantile_op, self, q, dim, keepdim, interpolation),
        [self, q, dim, keepdim, interpolation],
        out,
        casts=False,
        name="quantile",
    ),
)
implement(
    "quantile.scalar",
    CompositeImplicitAutograd=lambda self, q, dim, keepdim, interpolation: sorting.quantile(
        self, sorting.quantile_of(self, q, "quantile"), dim, keepdim, interpolation, "quantile"
    ),
)
implement(
    "quantile.scalar_out",
    CompositeImplicitAutograd=lambda self, q, dim, keepdim, interpolation, out: structured.write_out(
        invoke(functions.quantile_scalar_op, self, q, dim, keepdim, interpolation),
        [self, q, dim, keepdim, interpolation],
        out,
        casts=False,
        name="quantile",
    ),
)
implement(
    "nanquantile",
    CompositeImplicitAutograd=lambda self, q, dim, keepdim, interpolation: sorting.quantile(
        self, q, dim, keepdim, interpolation, "nanquantile"
    ),
)
implement(
    "nanquantile.out",
    CompositeImplicitAutograd=lambda self, q, dim, keepdim, interpolation, out: structured.write_out(
        invoke(functions.nanquantile_op, self, q, dim, keepdim, interpolation),
        [self, q, dim, keepdim, interpolation],
        out,
        casts=False,
        name="nanquantile",
    ),
)
implement(
    "nanquantile.scalar",
    CompositeImplicitAutograd=lambda self, q, dim, keepdim, interpolation: sorting.quantile(
        self, sorting.quantile_of(self, q, "nanquantile"), dim, keepdim, interpolation, "nanquantile"
    ),
)
implement(
    "nanquantile.scalar_out",
    CompositeImplicitAutograd=lambda self, q, dim, keepdim, interpolation, out: structured.write_out(
        invoke(functions.nanquantile_scalar_op, self, q, dim, keepdim, interpolation),
        [self, q, dim, keepdim, interpolation],
        out,
        casts=False,
        name="nanquantile",
    ),
)
implement(
    "sort",
    CompositeExplicitAutograd=lambda self, dim, descending: functions.sort_stable_op(
        self, stable=False, dim=dim, descending=descending
    ),
)
implement(
    "sort.values",
    CompositeExplicitAutograd=lambda self, dim, descending, values, indices: functions.sort_values_stable_op(
        self, stable=False, dim=dim, descending=descending, values=values, indices=indices
    ),
)
implement("sort.stable", CPU=sorting.sort_stable, Meta=sorting.sort_stable)
implement("sort.values_stable", CPU=sorting.sort_stable_out, Meta=sorting.sort_stable_out)
implement("topk", CPU=sorting.topk, Meta=sorting.topk)
implement("topk.values", CPU=sorting.topk_out, Meta=sorting.topk_out)
implement("unique_consecutive", CPU=sorting.unique_consecutive)
implement("unique_dim", CPU=sorting.unique_dim)
implement("_unique2", CPU=sorting.unique2)
implement("einsum", CompositeImplicitAutograd=linear.einsum)
implement("addmm", CPU=linear_algebra.addmm.functional, Meta=linear_algebra.addmm.on_meta)
implement("addmm_", CPU=linear_algebra.addmm.inplace, Meta=linear_algebra.addmm.inplace)
implement("addmm.out", CPU=linear_algebra.addmm.out, Meta=linear_algebra.addmm.out)
implement("baddbmm", CPU=linear_algebra.baddbmm.functional, Meta=linear_algebra.baddbmm.on_meta)
implement("baddbmm_", CPU=linear_algebra.baddbmm.inplace, Meta=linear_algebra.baddbmm.inplace)
implement("baddbmm.out", CPU=linear_algebra.baddbmm.out, Meta=linear_algebra.baddbmm.out)
implement("addbmm", CompositeImplicitAutograd=linear_algebra.addbmm)
implement(
    "addbmm_",
    CompositeImplicitAutograd=lambda self, batch1, batch2, beta, alpha: structured.write_inplace(
        self, invoke(functions.addbmm_op, self, batch1, batch2, beta, alpha)
    ),
)
implement(
    "addbmm.out",
    CompositeImplicitAutograd=lambda self, batch1, batch2, beta, alpha, out: structured.write_out(
        invoke(functions.addbmm_op, self, batch1, batch2, beta, alpha),
        [self, batch1, batch2, beta, alpha],
        out,
        casts=False,
    ),
)
implement("bmm", CPU=linear_algebra.bmm.functional, Meta=linear_algebra.bmm.on_meta)
implement("bmm.out", CPU=linear_algebra.bmm.out, Meta=linear_algebra.bmm.out)
implement("dot", CPU=linear_algebra.dot.functional, Meta=linear_algebra.dot.on_meta)
implement("dot.out", CompositeExplicitAutograd=linear_algebra.dot.out)
implement("linear", CompositeImplicitAutograd=linear_algebra.linear)
implement("linear.out", CompositeExplicitAutograd=linear_algebra.linear_out)
implement("matmul", CompositeImplicitAutograd=linear_algebra.matmul)
implement("matmul.out", CompositeImplicitAutograd=linear_algebra.matmul)
implement("mm", CPU=linear_algebra.mm.functional, Meta=linear_algebra.mm.on_meta)
implement("mm.out", CPU=linear_algebra.mm.out, Meta=linear_algebra.mm.out)
implement(
    "mv",
    CompositeExplicitAutograd=lambda self, vec: (
        linear_algebra.matrix_vector.on_meta if self.is_meta else linear_algebra.matrix_vector.functional
    )(self, vec),
)
implement("mv.out", CompositeExplicitAutograd=linear_algebra.matrix_vector.out)
implement("outer", CompositeImplicitAutograd=linear_algebra.outer)
implement("kron", CompositeImplicitAutograd=linear_algebra.kron)
implement(
    "kron.out",
    CompositeImplicitAutograd=lambda self, other, out: structured.write_out(
        invoke(functions.kron_op, self, other), [self, other], out, casts=True
    ),
)
implement("outer.out", CompositeImplicitAutograd=linear_algebra.outer)
implement(
    "inner",
    CompositeImplicitAutograd=lambda self, other: (
        self * other
        if 0 in (self.dim(), other.dim())
        else self.dot(other)
        if self.dim() == other.dim() == 1
        else functions.tensordot(self, other, [-1], [-1])
    ),
)
implement("tensordot", CompositeImplicitAutograd=linear.tensordot)
implement(
    "tensordot.out",
    CompositeImplicitAutograd=lambda self, other, dims_self, dims_other, out: structured.write_out(
        invoke(functions.tensordot_op, self, other, dims_self, dims_other),
        [self, other, dims_self, dims_other],
        out,
        casts=False,
    ),
)
implement("dist", CompositeExplicitAutograd=lambda self, other, p: functions.linalg_vector_norm(self - other, p))
implement("vdot", CompositeExplicitAutograd=lambda self, other: self.dot(other))
implement(
    "addmv",
    CompositeExplicitAutograd=lambda self, mat, vec, beta, alpha: functions.addmm(
        self.unsqueeze(-1), mat, vec.unsqueeze(-1), beta=beta, alpha=alpha
    ).squeeze(-1),
)
implement(
    "addmv_",
    CompositeExplicitAutograd=lambda self, mat, vec, beta, alpha: structured.write_inplace(
        self, invoke(functions.addmv_op, self, mat, vec, beta, alpha)
    ),
)
implement(
    "addmv.out",
    CompositeExplicitAutograd=lambda self, mat, vec, beta, alpha, out: structured.write_out(
        invoke(functions.addmv_op, self, mat, vec, beta, alpha), [self, mat, vec, beta, alpha], out, casts=False
    ),
)
implement(
    "addr",
    CompositeExplicitAutograd=lambda self, vec1, vec2, beta, alpha: (
        functions.addmm(self, vec1.unsqueeze(1), vec2.unsqueeze(0), beta=beta, alpha=alpha)
        if self.dtype is not pointwise.bool_
        else self.logical_and(functions.full((), bool(beta))).logical_or(vec1.outer(vec2))
    ),
)
implement(
    "addr_",
    CompositeExplicitAutograd=lambda self, vec1, vec2, beta, alpha: structured.write_inplace(
        self, invoke(functions.addr_op, self, vec1, vec2, beta, alpha)
    ),
)
implement(
    "addr.out",
    CompositeExplicitAutograd=lambda self, vec1, vec2, beta, alpha, out: structured.write_out(
        invoke(functions.addr_op, self, vec1, vec2, beta, alpha), [self, vec1, vec2, beta, alpha], out, casts=True
    ),
)
implement("renorm", CompositeExplicitAutograd=linear_algebra.renorm)
implement(
    "renorm_",
    CompositeExplicitAutograd=lambda self, p, dim, maxnorm: structured.write_inplace(
        self, invoke(functions.renorm_op, self, p, dim, maxnorm)
    ),
)
implement(
    "renorm.out",
    CompositeExplicitAutograd=lambda self, p, dim, maxnorm, out: structured.write_out(
        invoke(functions.renorm_op, self, p, dim, maxnorm), [self, p, dim, maxnorm], out, casts=False
    ),
)
implement(
    "linalg_cross",
    CompositeExplicitAutograd=lambda self, other, dim: (
        self.roll(-1, dim) * other.roll(1, dim) - self.roll(1, dim) * other.roll(-1, dim)
    ),
)
implement("cross", CompositeImplicitAutograd=lambda self, other, dim: linear_algebra.cross(self, other, dim))
implement("batch_norm", CompositeImplicitAutograd=normalisation.batch_norm)
implement("group_norm", CompositeImplicitAutograd=normalisation.group_norm)
implement("layer_norm", CompositeImplicitAutograd=normalisation.layer_norm)
implement("native_layer_norm", CPU=normalisation.native_layer_norm)
implement("native_layer_norm_backward", CPU=normalisation.native_layer_norm_backward)
implement("native_batch_norm", CPU=normalisation.native_batch_norm)
implement("native_batch_norm_backward", CPU=normalisation.native_batch_norm_backward)
implement("rms_norm", CompositeImplicitAutograd=normalisation.rms_norm)
implement("instance_norm", CompositeImplicitAutograd=normalisation.instance_norm)
implement(
    "conv1d",
    CompositeImplicitAutograd=lambda input, weight, bias, stride, padding, dilation, groups: convolution.batched(
        1, input, weight, bias, stride, padding, dilation, groups
    ),
)
implement(
    "conv1d.padding",
    CompositeImplicitAutograd=lambda input, weight, bias, stride, padding, dilation, groups: convolution.batched(
        1, input, weight, bias, stride, padding, dilation, groups
    ),
)
implement(
    "conv2d",
    CompositeImplicitAutograd=lambda input, weight, bias, stride, padding, dilation, groups: convolution.batched(
        2, input, weight, bias, stride, padding, dilation, groups
    ),
)
implement(
    "conv2d.padding",
    CompositeImplicitAutograd=lambda input, weight, bias, stride, padding, dilation, groups: convolution.batched(
        2, input, weight, bias, stride, padding, dilation, groups
    ),
)
implement(
    "conv3d",
    CompositeImplicitAutograd=lambda input, weight, bias, stride, padding, dilation, groups: convolution.batched(
        3, input, weight, bias, stride, padding, dilation, groups
    ),
)
implement(
    "conv3d.padding",
    CompositeImplicitAutograd=lambda input, weight, bias, stride, padding, dilation, groups: convolution.batched(
        3, input, weight, bias, stride, padding, dilation, groups
    ),
)
implement(
    "conv_transpose1d",
    CompositeImplicitAutograd=lambda input, weight, bias, stride, padding, output_padding, groups, dilation: (
        convolution.batched(1, input, weight, bias, stride, padding, dilation, groups, output_padding)
    ),
)
implement(
    "conv_transpose2d.input",
    CompositeImplicitAutograd=lambda input, weight, bias, stride, padding, output_padding, groups, dilation: (
        convolution.batched(2, input, weight, bias, stride, padding, dilation, groups, output_padding)
    ),
)
implement(
    "conv_transpose3d.input",
    CompositeImplicitAutograd=lambda input, weight, bias, stride, padding, output_padding, groups, dilation: (
        convolution.batched(3, input, weight, bias, stride, padding, dilation, groups, output_padding)
    ),
)
implement("convolution", CPU=convolution.convolution, Meta=convolution.convolution)
implement("convolution_backward", CPU=convolution.convolution_backward, Meta=convolution.convolution_backward)
implement("_adaptive_avg_pool2d", CPU=pooling._adaptive_avg_pool2d, Meta=pooling._adaptive_avg_pool2d)
implement(
    "_adaptive_avg_pool2d_backward",
    CPU=pooling._adaptive_avg_pool2d_backward,
    Meta=pooling._adaptive_avg_pool2d_backward,
)
implement("adaptive_avg_pool2d", CompositeImplicitAutograd=pooling.adaptive_avg_pool2d)
implement("avg_pool2d", CPU=pooling.avg_pool2d.functional, Meta=pooling.avg_pool2d.on_meta)
implement("avg_pool2d.out", CPU=pooling.avg_pool2d.out, Meta=pooling.avg_pool2d.out)
implement("avg_pool2d_backward", CPU=pooling.avg_pool2d_backward.functional, Meta=pooling.avg_pool2d_backward.on_meta)
implement("avg_pool2d_backward.grad_input", CPU=pooling.avg_pool2d_backward.out, Meta=pooling.avg_pool2d_backward.out)
implement(
    "max_pool2d",
    CompositeImplicitAutograd=lambda self, kernel_size, stride, padding, dilation, ceil_mode: (
        functions.max_pool2d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode)[0]
    ),
)
implement("max_pool2d_with_indices", CPU=pooling.max_pool2d_with_indices, Meta=pooling.max_pool2d_with_indices)
implement(
    "max_pool2d_with_indices_backward",
    CPU=pooling.max_pool2d_backward.functional,
    Meta=pooling.max_pool2d_backward.on_meta,
)
implement(
    "max_pool2d_with_indices_backward.grad_input",
    CPU=pooling.max_pool2d_backward.out,
    Meta=pooling.max_pool2d_backward.out,
)
implement(
    "adaptive_avg_pool1d",
    CompositeImplicitAutograd=lambda self, output_size: functions.adaptive_avg_pool2d(
        self.unsqueeze(-2), (1, output_size[0])
    ).squeeze(-2),
)
implement(
    "avg_pool1d",
    CompositeImplicitAutograd=lambda self, kernel_size, stride, padding, ceil_mode, count_include_pad: (
        functions.avg_pool2d(
            self.unsqueeze(-2),
            (1, kernel_size[0]),
            (1, *stride) if stride else (),
            (0, padding[0]),
            ceil_mode,
            count_include_pad,
        ).squeeze(-2)
    ),
)
implement(
    "max_pool1d_with_indices",
    CompositeImplicitAutograd=lambda self, kernel_size, stride, padding, dilation, ceil_mode: tuple(
        x.squeeze(-2)
        for x in functions.max_pool2d_with_indices(
            self.unsqueeze(-2),
            (1, kernel_size[0]),
            (1, *stride) if stride else (),
            (0, padding[0]),
            (1, dilation[0]),
            ceil_mode,
        )
    ),
)
implement(
    "max_pool1d",
    CompositeImplicitAutograd=lambda self, kernel_size, stride, padding, dilation, ceil_mode: (
        functions.max_pool1d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode)[0]
    ),
)
implement(
    "upsample_nearest1d",
    CompositeExplicitAutograd=lambda self, output_size, scales: upsampling.upsample(
        "nearest", self, output_size, False, [scales]
    ),
)
implement(
    "upsample_nearest1d.out",
    CompositeExplicitAutograd=lambda self, output_size, scales, out: structured.write_out(
        invoke(functions.upsample_nearest1d_op, self, output_size, scales),
        [self, output_size, scales],
        out,
        casts=False,
    ),
)
implement(
    "upsample_nearest1d_backward",
    CompositeExplicitAutograd=lambda grad_output, output_size, input_size, scales: upsampling.upsample_backward(
        "nearest", grad_output, input_size, False, [scales]
    ),
)
implement(
    "upsample_nearest2d",
    CompositeExplicitAutograd=lambda self, output_size, scales_h, scales_w: upsampling.upsample(
        "nearest", self, output_size, False, [scales_h, scales_w]
    ),
)
implement(
    "upsample_nearest2d.out",
    CompositeExplicitAutograd=lambda self, output_size, scales_h, scales_w, out: structured.write_out(
        invoke(functions.upsample_nearest2d_op, self, output_size, scales_h, scales_w),
        [self, output_size, scales_h, scales_w],
        out,
        casts=False,
    ),
)
implement(
    "upsample_nearest2d_backward",
    CompositeExplicitAutograd=lambda grad_output, output_size, input_size, scales_h, scales_w: (
        upsampling.upsample_backward("nearest", grad_output, input_size, False, [scales_h, scales_w])
    ),
)
implement(
    "upsample_nearest3d",
    CompositeExplicitAutograd=lambda self, output_size, scales_d, scales_h, scales_w: upsampling.upsample(
        "nearest", self, output_size, False, [scales_d, scales_h, scales_w]
    ),
)
implement(
    "upsample_nearest3d.out",
    CompositeExplicitAutograd=lambda self, output_size, scales_d, scales_h, scales_w, out: structured.write_out(
        invoke(functions.upsample_nearest3d_op, self, output_size, scales_d, scales_h, scales_w),
        [self, output_size, scales_d, scales_h, scales_w],
        out,
        casts=False,
    ),
)
implement(
    "upsample_nearest3d_backward",
    CompositeExplicitAutograd=lambda grad_output, output_size, input_size, scales_d, scales_h, scales_w: (
        upsampling.upsample_backward("nearest", grad_output, input_size, False, [scales_d, scales_h, scales_w])
    ),
)
implement(
    "_upsample_nearest_exact1d",
    CompositeExplicitAutograd=lambda self, output_size, scales: upsampling.upsample(
        "nearest-exact", self, output_size, False, [scales]
    ),
)
implement(
    "_upsample_nearest_exact1d.out",
    CompositeExplicitAutograd=lambda self, output_size, scales, out: structured.write_out(
        invoke(functions._upsample_nearest_exact1d_op, self, output_size, scales),
        [self, output_size, scales],
        out,
        casts=False,
    ),
)
implement(
    "_upsample_nearest_exact1d_backward",
    CompositeExplicitAutograd=lambda grad_output, output_size, input_size, scales: upsampling.upsample_backward(
        "nearest-exact", grad_output, input_size, False, [scales]
    ),
)
implement(
    "_upsample_nearest_exact2d",
    CompositeExplicitAutograd=lambda self, output_size, scales_h, scales_w: upsampling.upsample(
        "nearest-exact", self, output_size, False, [scales_h, scales_w]
    ),
)
implement(
    "_upsample_nearest_exact2d.out",
    CompositeExplicitAutograd=lambda self, output_size, scales_h, scales_w, out: structured.write_out(
        invoke(functions._upsample_nearest_exact2d_op, self, output_size, scales_h, scales_w),
        [self, output_size, scales_h, scales_w],
        out,
        casts=False,
    ),
)
implement(
    "_upsample_nearest_exact2d_backward",
    CompositeExplicitAutograd=lambda grad_output, output_size, input_size, scales_h, scales_w: (
        upsampling.upsample_backward("nearest-exact", grad_output, input_size, False, [scales_h, scales_w])
    ),
)
implement(
    "_upsample_nearest_exact3d",
    CompositeExplicitAutograd=lambda self, output_size, scales_d, scales_h, scales_w: upsampling.upsample(
        "nearest-exact", self, output_size, False, [scales_d, scales_h, scales_w]
    ),
)
implement(
    "_upsample_nearest_exact3d.out",
    CompositeExplicitAutograd=lambda self, output_size, scales_d, scales_h, scales_w, out: structured.write_out(
        invoke(functions._upsample_nearest_exact3d_op, self, output_size, scales_d, scales_h, scales_w),
        [self, output_size, scales_d, scales_h, scales_w],
        out,
        casts=False,
    ),
)
implement(
    "_upsample_nearest_exact3d_backward",
    CompositeExplicitAutograd=lambda grad_output, output_size, input_size, scales_d, scales_h, scales_w: (
        upsampling.upsample_backward("nearest-exact", grad_output, input_size, False, [scales_d, scales_h, scales_w])
    ),
)
implement(
    "upsample_linear1d",
    CompositeExplicitAutograd=lambda self, output_size, align_corners, scales: upsampling.upsample(
        "linear", self, output_size, align_corners, [scales]
    ),
)
implement(
    "upsample_linear1d.out",
    CompositeExplicitAutograd=lambda self, output_size, align_corners, scales, out: structured.write_out(
        invoke(functions.upsample_linear1d_op, self, output_size, align_corners, scales),
        [self, output_size, align_corners, scales],
        out,
        casts=False,
    ),
)
implement(
    "upsample_linear1d_backward",
    CompositeExplicitAutograd=lambda grad_output, output_size, input_size, align_corners, scales: (
        upsampling.upsample_backward("linear", grad_output, input_size, align_corners, [scales])
    ),
)
implement(
    "upsample_bilinear2d",
    CompositeExplicitAutograd=lambda self, output_size, align_corners, scales_h, scales_w: upsampling.upsample(
        "linear", self, output_size, align_corners, [scales_h, scales_w]
    ),
)
implement(
    "upsample_bilinear2d.out",
    CompositeExplicitAutograd=lambda self, output_size, align_corners, scales_h, scales_w, out: structured.write_out(
        invoke(functions.upsample_bilinear2d_op, self, output_size, align_corners, scales_h, scales_w),
        [self, output_size, align_corners, scales_h, scales_w],
        out,
        casts=False,
    ),
)
implement(
    "upsample_bilinear2d_backward",
    CompositeExplicitAutograd=lambda grad_output, output_size, input_size, align_corners, scales_h, scales_w: (
        upsampling.upsample_backward("linear", grad_output, input_size, align_corners, [scales_h, scales_w])
    ),
)
implement(
    "upsample_trilinear3d",
    CompositeExplicitAutograd=lambda self, output_size, align_corners, scales_d, scales_h, scales_w: (
        upsampling.upsample("linear", self, output_size, align_corners, [scales_d, scales_h, scales_w])
    ),
)
implement(
    "upsample_trilinear3d.out",
    CompositeExplicitAutograd=lambda self, output_size, align_corners, scales_d, scales_h, scales_w, out: (
        structured.write_out(
            invoke(functions.upsample_trilinear3d_op, self, output_size, align_corners, scales_d, scales_h, scales_w),
            [self, output_size, align_corners, scales_d, scales_h, scales_w],
            out,
            casts=False,
        )
    ),
)
implement(
    "upsample_trilinear3d_backward",
    CompositeExplicitAutograd=lambda grad_output, output_size, input_size, align_corners, scales_d, scales_h, scales_w: (
        upsampling.upsample_backward("linear", grad_output, input_size, align_corners, [scales_d, scales_h, scales_w])
    ),
)
implement(
    "upsample_bicubic2d",
    CompositeExplicitAutograd=lambda self, output_size, align_corners, scales_h, scales_w: upsampling.upsample(
        "bicubic", self, output_size, align_corners, [scales_h, scales_w]
    ),
)
implement(
    "upsample_bicubic2d.out",
    CompositeExplicitAutograd=lambda self, output_size, align_corners, scales_h, scales_w, out: structured.write_out(
        invoke(functions.upsample_bicubic2d_op, self, output_size, align_corners, scales_h, scales_w),
        [self, output_size, align_corners, scales_h, scales_w],
        out,
        casts=False,
    ),
)
implement(
    "upsample_bicubic2d_backward",
    CompositeExplicitAutograd=lambda grad_output, output_size, input_size, align_corners, scales_h, scales_w: (
        upsampling.upsample_backward("bicubic", grad_output, input_size, align_corners, [scales_h, scales_w])
    ),
)
implement(
    "_upsample_bilinear2d_aa",
    CompositeExplicitAutograd=lambda self, output_size, align_corners, scales_h, scales_w: upsampling.upsample(
        "linear-aa", self, output_size, align_corners, [scales_h, scales_w]
    ),
)
implement(
    "_upsample_bilinear2d_aa.out",
    CompositeExplicitAutograd=lambda self, output_size, align_corners, scales_h, scales_w, out: structured.write_out(
        invoke(functions._upsample_bilinear2d_aa_op, self, output_size, align_corners, scales_h, scales_w),
        [self, output_size, align_corners, scales_h, scales_w],
        out,
        casts=False,
    ),
)
implement(
    "_upsample_bilinear2d_aa_backward",
    CompositeExplicitAutograd=lambda grad_output, output_size, input_size, align_corners, scales_h, scales_w: (
        upsampling.upsample_backward("linear-aa", grad_output, input_size, align_corners, [scales_h, scales_w])
    ),
)
implement(
    "_upsample_bicubic2d_aa",
    CompositeExplicitAutograd=lambda self, output_size, align_corners, scales_h, scales_w: upsampling.upsample(
        "bicubic-aa", self, output_size, align_corners, [scales_h, scales_w]
    ),
)
implement(
    "_upsample_bicubic2d_aa.out",
    CompositeExplicitAutograd=lambda self, output_size, align_corners, scales_h, scales_w, out: structured.write_out(
        invoke(functions._upsample_bicubic2d_aa_op, self, output_size, align_corners, scales_h, scales_w),
        [self, output_size, align_corners, scales_h, scales_w],
        out,
        casts=False,
    ),
)
implement(
    "_upsample_bicubic2d_aa_backward",
    CompositeExplicitAutograd=lambda grad_output, output_size, input_size, align_corners, scales_h, scales_w: (
        upsampling.upsample_backward("bicubic-aa", grad_output, input_size, align_corners, [scales_h, scales_w])
    ),
)
implement(
    "_upsample_lanczos2d_aa",
    CompositeExplicitAutograd=lambda self, output_size, align_corners, scales_h, scales_w: upsampling.upsample(
        "lanczos-aa", self, output_size, align_corners, [scales_h, scales_w]
    ),
)
implement(
    "_upsample_lanczos2d_aa.out",
    CompositeExplicitAutograd=lambda self, output_size, align_corners, scales_h, scales_w, out: structured.write_out(
        invoke(functions._upsample_lanczos2d_aa_op, self, output_size, align_corners, scales_h, scales_w),
        [self, output_size, align_corners, scales_h, scales_w],
        out,
        casts=False,
    ),
)
implement(
    "_upsample_lanczos2d_aa_backward",
    CompositeExplicitAutograd=lambda grad_output, output_size, input_size, align_corners, scales_h, scales_w: (
        upsampling.upsample_backward("lanczos-aa", grad_output, input_size, align_corners, [scales_h, scales_w])
    ),
)
implement(
    "affine_grid_generator",
    CompositeExplicitAutograd=lambda theta, size, align_corners: (
        upsampling.base_grid(theta, size, align_corners) @ theta.mT
    ).unflatten(1, size[2:]),
)
implement(
    "affine_grid_generator.out",
    CompositeExplicitAutograd=lambda theta, size, align_corners, out: structured.write_out(
        invoke(functions.affine_grid_generator_op, theta, size, align_corners),
        [theta, size, align_corners],
        out,
        casts=False,
    ),
)
implement(
    "affine_grid_generator_backward",
    CompositeImplicitAutograd=lambda grad, size, align_corners: (
        grad.flatten(1, -2).mT @ upsampling.base_grid(grad, size, align_corners)
    ),
)
implement("constant_pad_nd", CompositeExplicitAutograd=padding.constant_pad_nd)
implement("pad", CompositeImplicitAutograd=padding.pad)
implement("_pad_circular", CompositeImplicitAutograd=padding._pad_circular)
implement("reflection_pad1d", CPU=padding.reflection_pad1d.functional, Meta=padding.reflection_pad1d.on_meta)
implement("reflection_pad1d.out", CPU=padding.reflection_pad1d.out, Meta=padding.reflection_pad1d.out)
implement(
    "reflection_pad1d_backward",
    CPU=padding.reflection_pad1d_backward.functional,
    Meta=padding.reflection_pad1d_backward.on_meta,
)
implement(
    "reflection_pad1d_backward.grad_input",
    CPU=padding.reflection_pad1d_backward.out,
    Meta=padding.reflection_pad1d_backward.out,
)
implement("reflection_pad2d", CPU=padding.reflection_pad2d.functional, Meta=padding.reflection_pad2d.on_meta)
implement("reflection_pad2d.out", CPU=padding.reflection_pad2d.out, Meta=padding.reflection_pad2d.out)
implement(
    "reflection_pad2d_backward",
    CPU=padding.reflection_pad2d_backward.functional,
    Meta=padding.reflection_pad2d_backward.on_meta,
)
implement(
    "reflection_pad2d_backward.grad_input",
    CPU=padding.reflection_pad2d_backward.out,
    Meta=padding.reflection_pad2d_backward.out,
)
implement("reflection_pad3d", CPU=padding.reflection_pad3d.functional, Meta=padding.reflection_pad3d.on_meta)
implement("reflection_pad3d.out", CPU=padding.reflection_pad3d.out, Meta=padding.reflection_pad3d.out)
implement(
    "reflection_pad3d_backward",
    CPU=padding.reflection_pad3d_backward.functional,
    Meta=padding.reflection_pad3d_backward.on_meta,
)
implement(
    "reflection_pad3d_backward.grad_input",
    CPU=padding.reflection_pad3d_backward.out,
    Meta=padding.reflection_pad3d_backward.out,
)
implement("replication_pad1d", CPU=padding.replication_pad1d.functional, Meta=padding.replication_pad1d.on_meta)
implement("replication_pad1d.out", CPU=padding.replication_pad1d.out, Meta=padding.replication_pad1d.out)
implement(
    "replication_pad1d_backward",
    CPU=padding.replication_pad1d_backward.functional,
    Meta=padding.replication_pad1d_backward.on_meta,
)
implement(
    "replication_pad1d_backward.grad_input",
    CPU=padding.replication_pad1d_backward.out,
    Meta=padding.replication_pad1d_backward.out,
)
implement("replication_pad2d", CPU=padding.replication_pad2d.functional, Meta=padding.replication_pad2d.on_meta)
implement("replication_pad2d.out", CPU=padding.replication_pad2d.out, Meta=padding.replication_pad2d.out)
implement(
    "replication_pad2d_backward",
    CPU=padding.replication_pad2d_backward.functional,
    Meta=padding.replication_pad2d_backward.on_meta,
)
implement(
    "replication_pad2d_backward.grad_input",
    CPU=padding.replication_pad2d_backward.out,
    Meta=padding.replication_pad2d_backward.out,
)
implement("replication_pad3d", CPU=padding.replication_pad3d.functional, Meta=padding.replication_pad3d.on_meta)
implement("replication_pad3d.out", CPU=padding.replication_pad3d.out, Meta=padding.replication_pad3d.out)
implement(
    "replication_pad3d_backward",
    CPU=padding.replication_pad3d_backward.functional,
    Meta=padding.replication_pad3d_backward.on_meta,
)
implement(
    "replication_pad3d_backward.grad_input",
    CPU=padding.replication_pad3d_backward.out,
    Meta=padding.replication_pad3d_backward.out,
)
implement("_safe_softmax", CompositeExplicitAutograd=attention.safe_softmax)
implement("_scaled_dot_product_attention_math", CompositeImplicitAutograd=attention.scaled_dot_product_attention_math)
implement(
    "_scaled_dot_product_flash_attention_for_cpu",
    CPU=attention.flash_attention_for_cpu,
    Meta=lambda query, key, value, dropout_p, is_causal, attn_mask, scale: (
        functions.empty_like(query),
        attention.meta_by_position(query.shape[:3], query.dtype),
    ),
)
implement(
    "_scaled_dot_product_flash_attention_for_cpu_backward",
    CPU=attention.flash_attention_for_cpu_backward,
    Meta=lambda grad_out, query, key, value, out, logsumexp, dropout_p, is_causal, attn_mask, scale: tuple(
        attention.meta_by_position(x.shape, x.dtype) for x in (query, key, value)
    ),
)
implement("scaled_dot_product_attention", CompositeImplicitAutograd=attention.scaled_dot_product_attention)
implement(
    "gru.data",
    CompositeImplicitAutograd=lambda data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional: (
        rnn.layers(
            rnn.gru_step, batch_sizes, data, (hx,), params, has_biases, num_layers, dropout, train, bidirectional
        )
    ),
)
implement(
    "gru.input",
    CompositeImplicitAutograd=lambda input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first: (
        rnn.layers(
            rnn.gru_step, None, input, (hx,), params, has_biases, num_layers, dropout, train, bidirectional, batch_first
        )
    ),
)
implement(
    "lstm.data",
    CompositeImplicitAutograd=lambda data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional: (
        rnn.layers(rnn.lstm_step, batch_sizes, data, hx, params, has_biases, num_layers, dropout, train, bidirectional)
    ),
)
implement(
    "lstm.input",
    CompositeImplicitAutograd=lambda input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first: (
        rnn.layers(
            rnn.lstm_step, None, input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first
        )
    ),
)
implement(
    "rnn_relu.data",
    CompositeImplicitAutograd=lambda data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional: (
        rnn.layers(
            rnn.rnn_relu_step, batch_sizes, data, (hx,), params, has_biases, num_layers, dropout, train, bidirectional
        )
    ),
)
implement(
    "rnn_relu.input",
    CompositeImplicitAutograd=lambda input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first: (
        rnn.layers(
            rnn.rnn_relu_step,
            None,
            input,
            (hx,),
            params,
            has_biases,
            num_layers,
            dropout,
            train,
            bidirectional,
            batch_first,
        )
    ),
)
implement(
    "rnn_tanh.data",
    CompositeImplicitAutograd=lambda data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional: (
        rnn.layers(
            rnn.rnn_tanh_step, batch_sizes, data, (hx,), params, has_biases, num_layers, dropout, train, bidirectional
        )
    ),
)
implement(
    "rnn_tanh.input",
    CompositeImplicitAutograd=lambda input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first: (
        rnn.layers(
            rnn.rnn_tanh_step,
            None,
            input,
            (hx,),
            params,
            has_biases,
            num_layers,
            dropout,
            train,
            bidirectional,
            batch_first,
        )
    ),
)
implement("_thnn_fused_lstm_cell", CPU=rnn._thnn_fused_lstm_cell)
implement("_thnn_fused_lstm_cell_backward", CPU=rnn._thnn_fused_lstm_cell_backward)
implement("_thnn_fused_gru_cell", CPU=rnn._thnn_fused_gru_cell)
implement("_thnn_fused_gru_cell_backward", CPU=rnn._thnn_fused_gru_cell_backward)
implement(
    "gru_cell",
    CompositeImplicitAutograd=lambda input, hx, w_ih, w_hh, b_ih, b_hh: rnn.cell(
        rnn.gru_step, input, (hx,), w_ih, w_hh, b_ih, b_hh
    )[0],
)
implement(
    "lstm_cell",
    CompositeImplicitAutograd=lambda input, hx, w_ih, w_hh, b_ih, b_hh: rnn.cell(
        rnn.lstm_step, input, hx, w_ih, w_hh, b_ih, b_hh
    ),
)
implement(
    "rnn_relu_cell",
    CompositeImplicitAutograd=lambda input, hx, w_ih, w_hh, b_ih, b_hh: rnn.cell(
        rnn.rnn_relu_step, input, (hx,), w_ih, w_hh, b_ih, b_hh
    )[0],
)
implement(
    "rnn_tanh_cell",
    CompositeImplicitAutograd=lambda input, hx, w_ih, w_hh, b_ih, b_hh: rnn.cell(
        rnn.rnn_tanh_step, input, (hx,), w_ih, w_hh, b_ih, b_hh
    )[0],
)
implement("cosine_similarity", CompositeImplicitAutograd=distance.cosine_similarity)
implement(
    "norm.ScalarOpt_dim",
    CompositeExplicitAutograd=lambda self, p, dim, keepdim: functions.linalg_vector_norm(
        self, 2 if p is None else p, dim, keepdim
    ),
)
implement(
    "pairwise_distance",
    CompositeImplicitAutograd=lambda x1, x2, p, eps, keepdim: functions.norm(
        functions.add_Scalar_op(x1 - x2, eps), p, [-1], keepdim
    ),
)
implement(
    "_cdist_forward",
    CompositeExplicitAutograd=lambda x1, x2, p, compute_mode: functions.linalg_vector_norm(
        x1.unsqueeze(-2) - x2.unsqueeze(-3), p, [-1]
    ),
)
implement(
    "cdist", CompositeImplicitAutograd=lambda x1, x2, p, compute_mode: functions._cdist_forward(x1, x2, p, compute_mode)
)
implement("pdist", CompositeImplicitAutograd=distance.pdist)
implement("binary_cross_entropy", CPU=losses.binary_cross_entropy.functional, Meta=losses.binary_cross_entropy.on_meta)
implement("binary_cross_entropy.out", CPU=losses.binary_cross_entropy.out, Meta=losses.binary_cross_entropy.out)
implement("binary_cross_entropy_with_logits", CompositeExplicitAutograd=losses.binary_cross_entropy_with_logits)
implement("cross_entropy_loss", CompositeImplicitAutograd=losses.cross_entropy_loss)
implement("huber_loss", CPU=losses.huber.functional, Meta=losses.huber.on_meta)
implement("huber_loss.out", CPU=losses.huber.out, Meta=losses.huber.out)
implement("kl_div", CompositeImplicitAutograd=losses.kl_div)
implement(
    "l1_loss",
    CompositeImplicitAutograd=lambda self, target, reduction: losses.reduce(functions.abs(self - target), reduction),
)
implement("mse_loss", CPU=losses.mse.functional, Meta=losses.mse.on_meta)
implement("mse_loss.out", CPU=losses.mse.out, Meta=losses.mse.out)
implement(
    "nll_loss",
    CompositeImplicitAutograd=lambda self, target, weight, reduction, ignore_index: functions.nll_loss_forward(
        self, target, weight, reduction, ignore_index
    )[0],
)
implement(
    "nll_loss2d",
    CompositeImplicitAutograd=lambda self, target, weight, reduction, ignore_index: functions.nll_loss2d_forward(
        self, target, weight, reduction, ignore_index
    )[0],
)
implement("nll_loss2d_forward", CPU=losses.nll_loss2d_forward, Meta=losses.nll_loss2d_forward)
implement("nll_loss_forward", CPU=losses.nll_loss_forward, Meta=losses.nll_loss_forward)
implement("nll_loss_nd", CompositeImplicitAutograd=losses.nll_loss_nd)
implement("smooth_l1_loss", CPU=losses.smooth_l1.functional, Meta=losses.smooth_l1.on_meta)
implement("smooth_l1_loss.out", CPU=losses.smooth_l1.out, Meta=losses.smooth_l1.out)
implement(
    "hinge_embedding_loss",
    CompositeImplicitAutograd=lambda self, target, margin, reduction: losses.reduce(
        functions.where(target != 1, (margin - self).clamp_min(0), functions.zeros_like(self))
        + functions.where(target != -1, self, functions.zeros_like(self)),
        reduction,
    ),
)
implement("cosine_embedding_loss", CompositeImplicitAutograd=losses.cosine_embedding_loss)
implement(
    "margin_ranking_loss",
    CompositeImplicitAutograd=lambda input1, input2, target, margin, reduction: losses.reduce(
        functions.add_Scalar_op(-target * (input1 - input2), margin).clamp_min_(0), reduction
    ),
)
implement("triplet_margin_loss", CompositeImplicitAutograd=losses.triplet_margin_loss)
implement("poisson_nll_loss", CompositeImplicitAutograd=losses.poisson_nll_loss)
implement(
    "soft_margin_loss",
    CompositeExplicitAutograd=lambda self, target, reduction: losses.reduce((-target * self).exp().log1p(), reduction),
)
implement(
    "soft_margin_loss.out",
    CompositeExplicitAutograd=lambda self, target, reduction, out: structured.write_out(
        invoke(functions.soft_margin_loss_op, self, target, reduction), [self, target, reduction], out, casts=True
    ),
)
implement("multi_margin_loss", CompositeExplicitAutograd=losses.multi_margin_loss)
implement("multilabel_margin_loss_forward", CompositeExplicitAutograd=losses.multilabel_margin_loss_forward)
implement(
    "multilabel_margin_loss",
    CompositeImplicitAutograd=lambda self, target, reduction: functions.multilabel_margin_loss_forward(
        self, target, reduction
    )[0],
)
implement("ctc_loss.IntList", CompositeImplicitAutograd=loss_ctc.ctc_loss)
implement("ctc_loss.Tensor", CompositeImplicitAutograd=loss_ctc.ctc_loss)
implement("_ctc_loss", CPU=loss_ctc._ctc_loss)
implement("_ctc_loss_backward", CPU=loss_ctc._ctc_loss_backward)
implement(
    "bernoulli",
    CompositeExplicitAutograd=lambda self, generator: random.bernoulli_tensor_(
        functions.empty_like(self, memory_format=views.contiguous_format), self, generator
    ),
)
implement("bernoulli.out", CPU=random.bernoulli_out)
implement(
    "bernoulli.p",
    CompositeExplicitAutogradNonFunctional=lambda self, p, generator: random.bernoulli_float_(
        functions.empty_like(self, memory_format=views.contiguous_format), p, generator
    ),
)
implement(
    "bernoulli.Tensor",
    CompositeExplicitAutogradNonFunctional=lambda self, p, generator: random.bernoulli_tensor_(
        functional_forms.clone_preserve_strides(self), p, generator
    ),
)
implement("bernoulli_.Tensor", CPU=random.bernoulli_tensor_, Meta=random.bernoulli_tensor_)
implement("bernoulli_.float", CPU=random.bernoulli_float_, Meta=random.bernoulli_float_)
implement("dropout", CompositeImplicitAutograd=random.dropout)
implement("dropout_", CompositeImplicitAutograd=random.dropout_)
implement(
    "exponential",
    CompositeExplicitAutogradNonFunctional=lambda self, lambd, generator: random.exponential_(
        functional_forms.clone_preserve_strides(self), lambd, generator
    ),
)
implement("exponential_", CPU=random.exponential_, Meta=random.exponential_)
implement("multinomial", CPU=random.multinomial, Meta=random.multinomial)
implement("multinomial.out", CPU=random.multinomial_out, Meta=random.multinomial_out)
implement("normal.float_float", CompositeExplicitAutograd=random.normal_float_float, factory=True)
implement("normal.float_float_out", CompositeExplicitAutograd=random.normal_float_float_out)
implement("normal.Tensor_float", CompositeExplicitAutograd=random.normal_tensor)
implement("normal.Tensor_float_out", CPU=random.normal_tensor_out, Meta=random.normal_tensor_out)
implement("normal.float_Tensor", CompositeExplicitAutograd=random.normal_tensor)
implement("normal.float_Tensor_out", CPU=random.normal_tensor_out, Meta=random.normal_tensor_out)
implement("normal.Tensor_Tensor", CompositeExplicitAutograd=random.normal_tensor)
implement("normal.Tensor_Tensor_out", CPU=random.normal_tensor_out, Meta=random.normal_tensor_out)
implement(
    "normal_functional",
    CompositeExplicitAutogradNonFunctional=lambda self, mean, std, generator: random.normal_(
        functional_forms.clone_preserve_strides(self), mean, std, generator
    ),
)
implement("normal_", CPU=random.normal_, Meta=random.normal_)
implement("rand", CompositeExplicitAutograd=random.rand, factory=True)
implement("rand.generator", CompositeExplicitAutograd=random.rand_generator, factory=True)
implement("rand.out", CompositeExplicitAutograd=random.rand_out)
implement("rand.generator_out", CompositeImplicitAutograd=random.rand_generator_out)
implement("rand_like", CompositeExplicitAutograd=random.rand_like)
implement("randint", CompositeExplicitAutograd=random.randint, factory=True)
implement("randint.generator", CompositeExplicitAutograd=random.randint_generator, factory=True)
implement("randint.low", CompositeExplicitAutograd=random.randint_low, factory=True)
implement("randint.low_generator", CompositeExplicitAutograd=random.randint_low_generator, factory=True)
implement("randint.out", CompositeExplicitAutograd=random.randint_out)
implement("randint.generator_out", CompositeExplicitAutograd=random.randint_generator_out)
implement("randint.low_out", CompositeExplicitAutograd=random.randint_low_out)
implement("randint.low_generator_out", CompositeExplicitAutograd=random.randint_low_generator_out)
implement("randint_like", CompositeExplicitAutograd=random.randint_like)
implement("randint_like.low_dtype", CompositeExplicitAutograd=random.randint_like_low)
implement("randn", CompositeExplicitAutograd=random.randn, factory=True)
implement("randn.generator", CompositeExplicitAutograd=random.randn_generator, factory=True)
implement("randn.out", CompositeImplicitAutograd=random.randn_out)
implement("randn.generator_out", CompositeImplicitAutograd=random.randn_generator_out)
implement("randn_like", CompositeExplicitAutograd=random.randn_like)
implement(
    "random.from",
    CompositeExplicitAutogradNonFunctional=lambda self, from_, to, generator: random.random_from_(
        functional_forms.clone_preserve_strides(self), from_, to, generator
    ),
)
implement("random_.from", CPU=random.random_from_, Meta=random.random_from_)
implement(
    "random.to",
    CompositeExplicitAutogradNonFunctional=lambda self, to, generator: random.random_from_(
        functional_forms.clone_preserve_strides(self), 0, to, generator
    ),
)
implement(
    "random_.to",
    CPU=lambda self, to, generator: random.random_from_(self, 0, to, generator),
    Meta=lambda self, to, generator: random.random_from_(self, 0, to, generator),
)
implement(
    "random",
    CompositeExplicitAutogradNonFunctional=lambda self, generator: random.random_(
        functional_forms.clone_preserve_strides(self), generator
    ),
)
implement("random_", CPU=random.random_, Meta=random.random_)
implement("randperm", CompositeExplicitAutograd=random.randperm, factory=True)
implement("randperm.generator", CompositeExplicitAutograd=random.randperm_generator, factory=True)
implement("randperm.out", CompositeExplicitAutograd=random.randperm_out)
implement("randperm.generator_out", CPU=random.randperm_generator_out, Meta=random.randperm_generator_out)
implement(
    "uniform",
    CompositeExplicitAutogradNonFunctional=lambda self, from_, to, generator: random.uniform_(
        functional_forms.clone_preserve_strides(self), from_, to, generator
    ),
)
implement("uniform_", CPU=random.uniform_, Meta=random.uniform_)
implement(
    "feature_dropout",
    CompositeImplicitAutograd=lambda input, p, train: random.times_noise(input, p, train, True, False),
)
implement(
    "feature_dropout_",
    CompositeImplicitAutograd=lambda self, p, train: random.times_noise(
        self, p, train, True, False, strided.Tensor.mul_
    ),
)
implement(
    "alpha_dropout", CompositeImplicitAutograd=lambda input, p, train: random.times_noise(input, p, train, False, True)
)
implement(
    "alpha_dropout_",
    CompositeImplicitAutograd=lambda self, p, train: random.times_noise(
        self, p, train, False, True, strided.Tensor.mul_
    ),
)
implement(
    "feature_alpha_dropout",
    CompositeImplicitAutograd=lambda input, p, train: random.times_noise(input, p, train, True, True),
)
implement(
    "feature_alpha_dropout_",
    CompositeImplicitAutograd=lambda self, p, train: random.times_noise(
        self, p, train, True, True, strided.Tensor.mul_
    ),
)
implement(
    "_log_softmax_backward_data",
    CPU=reductions.log_softmax_backward.functional,
    Meta=reductions.log_softmax_backward.on_meta,
)
implement(
    "_log_softmax_backward_data.out", CPU=reductions.log_softmax_backward.out, Meta=reductions.log_softmax_backward.out
)
implement(
    "_softmax_backward_data", CPU=reductions.softmax_backward.functional, Meta=reductions.softmax_backward.on_meta
)
implement("_softmax_backward_data.out", CPU=reductions.softmax_backward.out, Meta=reductions.softmax_backward.out)
implement(
    "binary_cross_entropy_backward",
    CPU=losses.binary_cross_entropy_backward.functional,
    Meta=losses.binary_cross_entropy_backward.on_meta,
)
implement(
    "binary_cross_entropy_backward.grad_input",
    CPU=losses.binary_cross_entropy_backward.out,
    Meta=losses.binary_cross_entropy_backward.out,
)
implement("diagonal_backward", CompositeExplicitAutograd=views.diagonal_backward)
implement("elu_backward", CPU=elementary.elu_backward.functional, Meta=elementary.elu_backward.on_meta)
implement("elu_backward.grad_input", CPU=elementary.elu_backward.out, Meta=elementary.elu_backward.out)
implement("embedding_backward", CompositeImplicitAutograd=gather_scatter.embedding_backward)
implement(
    "embedding_dense_backward",
    CPU=gather_scatter.embedding_dense_backward,
    Meta=gather_scatter.embedding_dense_backward,
)
implement("gelu_backward", CPU=elementary.gelu_backward.functional, Meta=elementary.gelu_backward.on_meta)
implement("gelu_backward.grad_input", CPU=elementary.gelu_backward.out, Meta=elementary.gelu_backward.out)
implement("hardtanh_backward", CPU=elementary.hardtanh_backward.functional, Meta=elementary.hardtanh_backward.on_meta)
implement("hardtanh_backward.grad_input", CPU=elementary.hardtanh_backward.out, Meta=elementary.hardtanh_backward.out)
implement("huber_loss_backward", CPU=losses.huber_backward.functional, Meta=losses.huber_backward.on_meta)
implement("huber_loss_backward.out", CPU=losses.huber_backward.out, Meta=losses.huber_backward.out)
implement(
    "index_select_backward",
    CompositeImplicitAutograd=lambda grad, self_sizes, dim, index: grad.new_zeros(self_sizes).index_add_(
        dim, index, grad
    ),
)
implement(
    "leaky_relu_backward", CPU=elementary.leaky_relu_backward.functional, Meta=elementary.leaky_relu_backward.on_meta
)
implement(
    "leaky_relu_backward.grad_input", CPU=elementary.leaky_relu_backward.out, Meta=elementary.leaky_relu_backward.out
)
implement("mse_loss_backward", CPU=losses.mse_backward.functional, Meta=losses.mse_backward.on_meta)
implement("mse_loss_backward.grad_input", CPU=losses.mse_backward.out, Meta=losses.mse_backward.out)
implement("nll_loss2d_backward", CPU=losses.nll_loss2d_backward, Meta=losses.nll_loss2d_backward)
implement("nll_loss_backward", CPU=losses.nll_backward.functional, Meta=losses.nll_backward.on_meta)
implement("nll_loss_backward.grad_input", CPU=losses.nll_backward.out, Meta=losses.nll_backward.out)
implement("select_backward", CompositeExplicitAutogradNonFunctional=views.select_backward)
implement("sigmoid_backward", CPU=elementary.sigmoid_backward.functional, Meta=elementary.sigmoid_backward.on_meta)
implement("sigmoid_backward.grad_input", CPU=elementary.sigmoid_backward.out, Meta=elementary.sigmoid_backward.out)
implement("silu_backward", CPU=elementary.silu_backward.functional, Meta=elementary.silu_backward.on_meta)
implement("silu_backward.grad_input", CPU=elementary.silu_backward.out, Meta=elementary.silu_backward.out)
implement("slice_backward", CompositeExplicitAutograd=views.slice_backward)
implement("smooth_l1_loss_backward", CPU=losses.smooth_l1_backward.functional, Meta=losses.smooth_l1_backward.on_meta)
implement("smooth_l1_loss_backward.grad_input", CPU=losses.smooth_l1_backward.out, Meta=losses.smooth_l1_backward.out)
implement("softplus_backward", CPU=elementary.softplus_backward.functional, Meta=elementary.softplus_backward.on_meta)
implement("softplus_backward.grad_input", CPU=elementary.softplus_backward.out, Meta=elementary.softplus_backward.out)
implement("tanh_backward", CPU=elementary.tanh_backward.functional, Meta=elementary.tanh_backward.on_meta)
implement("tanh_backward.grad_input", CPU=elementary.tanh_backward.out, Meta=elementary.tanh_backward.out)
implement(
    "threshold_backward", CPU=elementary.threshold_backward.functional, Meta=elementary.threshold_backward.on_meta
)
implement(
    "threshold_backward.grad_input", CPU=elementary.threshold_backward.out, Meta=elementary.threshold_backward.out
)
implement("unfold_backward", CPU=views.unfold_backward, Meta=views.unfold_backward)
implement("value_selecting_reduction_backward", CompositeImplicitAutograd=reductions.value_selecting_reduction_backward)
implement(
    "hardshrink_backward",
    CompositeExplicitAutograd=lambda grad_out, self, lambd: grad_out.masked_fill((self >= -lambd) & (self <= lambd), 0),
)
implement(
    "softshrink_backward",
    CompositeExplicitAutograd=lambda grad_output, self, lambd: grad_output.masked_fill(
        (self >= -lambd) & (self <= lambd), 0
    ),
)
implement(
    "hardsigmoid_backward",
    CompositeExplicitAutograd=lambda grad_output, self: functions.where((self > -3) & (self < 3), grad_output / 6, 0.0),
)
implement(
    "log_sigmoid_backward", CPU=elementary.log_sigmoid_backward.functional, Meta=elementary.log_sigmoid_backward.on_meta
)
implement(
    "log_sigmoid_backward.grad_input", CPU=elementary.log_sigmoid_backward.out, Meta=elementary.log_sigmoid_backward.out
)
implement(
    "fake_quantize_per_tensor_affine",
    CompositeImplicitAutograd=lambda self, scale, zero_point, quant_min, quant_max: (
        functions.fake_quantize_per_tensor_affine_cachemask(self, scale, zero_point, quant_min, quant_max)[0]
    ),
)
implement(
    "fake_quantize_per_tensor_affine.tensor_qparams",
    CompositeImplicitAutograd=lambda self, scale, zero_point, quant_min, quant_max: (
        functions._fake_quantize_per_tensor_affine_cachemask_tensor_qparams(
            self, scale, zero_point, functions.ones((1,), dtype=quantized.int32), quant_min, quant_max
        )[0]
    ),
)
implement(
    "fake_quantize_per_tensor_affine_cachemask",
    CPU=quantized.fake_quantize_per_tensor_affine_cachemask,
    Meta=quantized.fake_quantize_per_tensor_affine_cachemask,
)
implement(
    "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams",
    CPU=quantized.fake_quantize_per_tensor_affine_cachemask_tensor_qparams,
)
implement(
    "fake_quantize_per_tensor_affine_cachemask_backward",
    CompositeImplicitAutograd=quantized.fake_quantize_cachemask_backward,
)
implement(
    "fake_quantize_per_channel_affine",
    CompositeImplicitAutograd=lambda self, scale, zero_point, axis, quant_min, quant_max: (
        functions.fake_quantize_per_channel_affine_cachemask(self, scale, zero_point, axis, quant_min, quant_max)[0]
    ),
)
implement(
    "fake_quantize_per_channel_affine_cachemask",
    CPU=quantized.fake_quantize_per_channel_affine_cachemask,
    Meta=quantized.fake_quantize_per_channel_affine_cachemask,
)
implement(
    "fake_quantize_per_channel_affine_cachemask_backward",
    CompositeImplicitAutograd=quantized.fake_quantize_cachemask_backward,
)
implement("absolute", CompositeImplicitAutograd=lambda self: invoke(functions.abs_op, self))
implement("absolute_", CompositeImplicitAutograd=lambda self: invoke(functions.abs__op, self))
implement("absolute.out", CompositeImplicitAutograd=lambda self, out: invoke(functions.abs_out_op, self, out))
implement("arccos", CompositeImplicitAutograd=lambda self: invoke(functions.acos_op, self))
implement("arccos_", CompositeImplicitAutograd=lambda self: invoke(functions.acos__op, self))
implement("arccos.out", CompositeImplicitAutograd=lambda self, out: invoke(functions.acos_out_op, self, out))
implement("arccosh", CompositeImplicitAutograd=lambda self: invoke(functions.acosh_op, self))
implement("arccosh_", CompositeImplicitAutograd=lambda self: invoke(functions.acosh__op, self))
implement("arccosh.out", CompositeImplicitAutograd=lambda self, out: invoke(functions.acosh_out_op, self, out))
implement("arcsin", CompositeImplicitAutograd=lambda self: invoke(functions.asin_op, self))
implement("arcsin_", CompositeImplicitAutograd=lambda self: invoke(functions.asin__op, self))
implement("arcsin.out", CompositeImplicitAutograd=lambda self, out: invoke(functions.asin_out_op, self, out))
implement("arcsinh", CompositeImplicitAutograd=lambda self: invoke(functions.asinh_op, self))
implement("arcsinh_", CompositeImplicitAutograd=lambda self: invoke(functions.asinh__op, self))
implement("arcsinh.out", CompositeImplicitAutograd=lambda self, out: invoke(functions.asinh_out_op, self, out))
implement("arctan", CompositeImplicitAutograd=lambda self: invoke(functions.atan_op, self))
implement("arctan_", CompositeImplicitAutograd=lambda self: invoke(functions.atan__op, self))
implement("arctan.out", CompositeImplicitAutograd=lambda self, out: invoke(functions.atan_out_op, self, out))
implement("arctan2", CompositeImplicitAutograd=lambda self, other: invoke(functions.atan2_op, self, other))
implement("arctan2_", CompositeImplicitAutograd=lambda self, other: invoke(functions.atan2__op, self, other))
implement(
    "arctan2.out", CompositeImplicitAutograd=lambda self, other, out: invoke(functions.atan2_out_op, self, other, out)
)
implement("arctanh", CompositeImplicitAutograd=lambda self: invoke(functions.atanh_op, self))
implement("arctanh_", CompositeImplicitAutograd=lambda self: invoke(functions.atanh__op, self))
implement("arctanh.out", CompositeImplicitAutograd=lambda self, out: invoke(functions.atanh_out_op, self, out))
implement(
    "clip.Tensor", CompositeImplicitAutograd=lambda self, min, max: invoke(functions.clamp_Tensor_op, self, min, max)
)
implement(
    "clip_.Tensor", CompositeImplicitAutograd=lambda self, min, max: invoke(functions.clamp__Tensor_op, self, min, max)
)
implement(
    "clip.Tensor_out",
    CompositeImplicitAutograd=lambda self, min, max, out: invoke(functions.clamp_Tensor_out_op, self, min, max, out),
)
implement("clip", CompositeImplicitAutograd=lambda self, min, max: invoke(functions.clamp_op, self, min, max))
implement("clip_", CompositeImplicitAutograd=lambda self, min, max: invoke(functions.clamp__op, self, min, max))
implement(
    "clip.out",
    CompositeImplicitAutograd=lambda self, min, max, out: invoke(functions.clamp_out_op, self, min, max, out),
)
implement("concat", CompositeImplicitAutograd=lambda tensors, dim: invoke(functions.cat_op, tensors, dim))
implement(
    "concat.out", CompositeImplicitAutograd=lambda tensors, dim, out: invoke(functions.cat_out_op, tensors, dim, out)
)
implement("concatenate", CompositeImplicitAutograd=lambda tensors, dim: invoke(functions.cat_op, tensors, dim))
implement(
    "concatenate.out",
    CompositeImplicitAutograd=lambda tensors, dim, out: invoke(functions.cat_out_op, tensors, dim, out),
)
implement("divide.Tensor", CompositeImplicitAutograd=lambda self, other: invoke(functions.div_Tensor_op, self, other))
implement("divide_.Tensor", CompositeImplicitAutograd=lambda self, other: invoke(functions.div__Tensor_op, self, other))
implement(
    "divide.out", CompositeImplicitAutograd=lambda self, other, out: invoke(functions.div_out_op, self, other, out)
)
implement("divide.Scalar", CompositeImplicitAutograd=lambda self, other: invoke(functions.div_Scalar_op, self, other))
implement(
    "divide.Tensor_mode",
    CompositeImplicitAutograd=lambda self, other, rounding_mode: invoke(
        functions.div_Tensor_mode_op, self, other, rounding_mode
    ),
)
implement(
    "divide_.Tensor_mode",
    CompositeImplicitAutograd=lambda self, other, rounding_mode: invoke(
        functions.div__Tensor_mode_op, self, other, rounding_mode
    ),
)
implement(
    "divide.out_mode",
    CompositeImplicitAutograd=lambda self, other, rounding_mode, out: invoke(
        functions.div_out_mode_op, self, other, rounding_mode, out
    ),
)
implement("fix", CompositeImplicitAutograd=lambda self: invoke(functions.trunc_op, self))
implement("fix_", CompositeImplicitAutograd=lambda self: invoke(functions.trunc__op, self))
implement("fix.out", CompositeImplicitAutograd=lambda self, out: invoke(functions.trunc_out_op, self, out))
implement("ger", CompositeImplicitAutograd=lambda self, vec2: invoke(functions.outer_op, self, vec2))
implement("ger.out", CompositeImplicitAutograd=lambda self, vec2, out: invoke(functions.outer_out_op, self, vec2, out))
implement("greater.Tensor", CompositeImplicitAutograd=lambda self, other: invoke(functions.gt_Tensor_op, self, other))
implement("greater_.Tensor", CompositeImplicitAutograd=lambda self, other: invoke(functions.gt__Tensor_op, self, other))
implement(
    "greater.Tensor_out",
    CompositeImplicitAutograd=lambda self, other, out: invoke(functions.gt_Tensor_out_op, self, other, out),
)
implement(
    "greater_equal.Tensor", CompositeImplicitAutograd=lambda self, other: invoke(functions.ge_Tensor_op, self, other)
)
implement(
    "greater_equal_.Tensor", CompositeImplicitAutograd=lambda self, other: invoke(functions.ge__Tensor_op, self, other)
)
implement(
    "greater_equal.Tensor_out",
    CompositeImplicitAutograd=lambda self, other, out: invoke(functions.ge_Tensor_out_op, self, other, out),
)
implement("less.Tensor", CompositeImplicitAutograd=lambda self, other: invoke(functions.lt_Tensor_op, self, other))
implement("less_.Tensor", CompositeImplicitAutograd=lambda self, other: invoke(functions.lt__Tensor_op, self, other))
implement(
    "less.Tensor_out",
    CompositeImplicitAutograd=lambda self, other, out: invoke(functions.lt_Tensor_out_op, self, other, out),
)
implement(
    "less_equal.Tensor", CompositeImplicitAutograd=lambda self, other: invoke(functions.le_Tensor_op, self, other)
)
implement(
    "less_equal_.Tensor", CompositeImplicitAutograd=lambda self, other: invoke(functions.le__Tensor_op, self, other)
)
implement(
    "less_equal.Tensor_out",
    CompositeImplicitAutograd=lambda self, other, out: invoke(functions.le_Tensor_out_op, self, other, out),
)
implement(
    "moveaxis.intlist",
    CompositeImplicitAutograd=lambda self, source, destination: invoke(
        functions.movedim_intlist_op, self, source, destination
    ),
)
implement(
    "moveaxis.int",
    CompositeImplicitAutograd=lambda self, source, destination: invoke(
        functions.movedim_int_op, self, source, destination
    ),
)
implement("multiply.Tensor", CompositeImplicitAutograd=lambda self, other: invoke(functions.mul_Tensor_op, self, other))
implement(
    "multiply_.Tensor", CompositeImplicitAutograd=lambda self, other: invoke(functions.mul__Tensor_op, self, other)
)
implement(
    "multiply.out", CompositeImplicitAutograd=lambda self, other, out: invoke(functions.mul_out_op, self, other, out)
)
implement("multiply.Scalar", CompositeImplicitAutograd=lambda self, other: invoke(functions.mul_Scalar_op, self, other))
implement("negative", CompositeImplicitAutograd=lambda self: invoke(functions.neg_op, self))
implement("negative_", CompositeImplicitAutograd=lambda self: invoke(functions.neg__op, self))
implement("negative.out", CompositeImplicitAutograd=lambda self, out: invoke(functions.neg_out_op, self, out))
implement("not_equal.Tensor", CompositeImplicitAutograd=lambda self, other: invoke(functions.ne_Tensor_op, self, other))
implement(
    "not_equal_.Tensor", CompositeImplicitAutograd=lambda self, other: invoke(functions.ne__Tensor_op, self, other)
)
implement(
    "not_equal.Tensor_out",
    CompositeImplicitAutograd=lambda self, other, out: invoke(functions.ne_Tensor_out_op, self, other, out),
)
implement("row_stack", CompositeImplicitAutograd=lambda tensors: invoke(functions.vstack_op, tensors))
implement("row_stack.out", CompositeImplicitAutograd=lambda tensors, out: invoke(functions.vstack_out_op, tensors, out))
implement(
    "subtract.Tensor",
    CompositeImplicitAutograd=lambda self, other, alpha: invoke(functions.sub_Tensor_op, self, other, alpha),
)
implement(
    "subtract_.Tensor",
    CompositeImplicitAutograd=lambda self, other, alpha: invoke(functions.sub__Tensor_op, self, other, alpha),
)
implement(
    "subtract.out",
    CompositeImplicitAutograd=lambda self, other, alpha, out: invoke(functions.sub_out_op, self, other, alpha, out),
)
implement(
    "subtract.Scalar",
    CompositeImplicitAutograd=lambda self, other, alpha: invoke(functions.sub_Scalar_op, self, other, alpha),
)
