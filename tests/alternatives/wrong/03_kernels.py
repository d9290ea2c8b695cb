"""Wrong answers to lab 03 that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import functools
import math
import warnings

import numpy as np

from rushlight.aten import structured
from rushlight.aten.native import linear_algebra
from rushlight.aten.native.linear_algebra import multiply_add
from rushlight.aten.strided import Tensor, contiguous_strides, empty_strided, infer_size, wrap_dim
from rushlight.aten.structured import Output, allocate, check_writable, resize_, resize_output, warn_resized
from rushlight.c10.dtypes import INTEGRAL, bool_, float16, promote_types, scalar_type
from rushlight.utils import cpp_extension as cpp

# One loop for operands of many shapes


def broadcast_strides__repeats_every_dimension_of_size_one(sizes, strides, to):
    kept = tuple(0 if size == 1 else stride for size, stride in zip(sizes, strides))
    return (0,) * (len(to) - len(sizes)) + kept


def broadcast_strides__puts_new_dimensions_last(sizes, strides, to):
    kept = tuple(0 if size != wanted else stride for size, stride, wanted in zip(sizes, strides, to))
    return kept + (0,) * (len(to) - len(sizes))


def broadcast_strides__of_a_contiguous_operand(sizes, strides, to):
    fresh = contiguous_strides(sizes)
    pairs = zip(sizes, fresh, to[len(to) - len(sizes) :])
    return [0] * (len(to) - len(sizes)) + [0 if size != wanted else stride for size, stride, wanted in pairs]


def result_type__promotes_all_alike(*operands):
    found = [x.dtype if isinstance(x, Tensor) else scalar_type(x) for x in operands]
    return functools.reduce(promote_types, found)


def result_type__forgets_that_a_number_weighs_less_than_a_tensor_without_dimensions(*operands):
    many = [x.dtype for x in operands if isinstance(x, Tensor) and x.dim()]
    light = [x.dtype if isinstance(x, Tensor) else scalar_type(x) for x in operands]
    low = functools.reduce(promote_types, light)
    high = functools.reduce(promote_types, many) if many else low
    return low if low.category > high.category else high


def result_type__takes_the_first_tensor(*operands):
    tensors = [x.dtype for x in operands if isinstance(x, Tensor)]
    numbers = [scalar_type(x) for x in operands if not isinstance(x, Tensor)]
    if not tensors:
        return functools.reduce(promote_types, numbers)
    best = tensors[0]
    for other in tensors[1:] + numbers:
        best = other if other.category > best.category else best
    return best


def reorder_dimensions__sorts_by_the_first_operand(sizes, operand_strides):
    return sorted(range(len(sizes)), key=lambda d: (operand_strides[0][d], -d))


def reorder_dimensions__sorts_by_all_operands(sizes, operand_strides):
    return sorted(range(len(sizes)), key=lambda d: ([strides[d] for strides in operand_strides], -d))


def reorder_dimensions__leaves_the_dimensions_as_they_are(sizes, operand_strides):
    return tuple(reversed(range(len(sizes))))


def reorder_dimensions__moves_the_dimension_past_those_between(sizes, operand_strides):
    order = list(reversed(range(len(sizes))))
    for i in range(1, len(order)):
        target = i
        for other in reversed(range(i)):
            comparison = _compare(order[other], order[i], sizes, operand_strides)
            if comparison > 0:
                target = other
            elif comparison < 0:
                break
        order.insert(target, order.pop(i))
    return order


def reorder_dimensions__stops_where_no_operand_can_tell(sizes, operand_strides):
    order = list(reversed(range(len(sizes))))
    for i in range(1, len(order)):
        while i > 0 and _compare(order[i - 1], order[i], sizes, operand_strides) > 0:
            order[i - 1], order[i] = order[i], order[i - 1]
            i -= 1
    return order


def _compare(a, b, sizes, operand_strides):
    for strides in operand_strides:
        if strides[a] and strides[b] and (strides[a] != strides[b] or sizes[a] > sizes[b]):
            return strides[a] - strides[b] or 1
    return 0


def coalesce_dimensions__asks_the_first_operand_only(sizes, operand_strides):
    new_sizes, places = [], []
    first = operand_strides[0] if operand_strides else [0] * len(sizes)
    for d, size in enumerate(sizes):
        if places and (new_sizes[-1] == 1 or size == 1 or first[d] == new_sizes[-1] * first[places[-1]]):
            places[-1] = d if new_sizes[-1] == 1 else places[-1]
            new_sizes[-1] *= size
        else:
            new_sizes.append(size)
            places.append(d)
    return new_sizes, [[strides[d] for d in places] for strides in operand_strides]


def coalesce_dimensions__only_drops_the_ones(sizes, operand_strides):
    kept = [d for d, size in enumerate(sizes) if size != 1] or ([0] if len(sizes) else [])
    return [sizes[d] for d in kept], [[strides[d] for d in kept] for strides in operand_strides]


def coalesce_dimensions__takes_the_last_dimension_for_the_innermost(sizes, operand_strides):
    new_sizes, new_strides = [], [[] for _ in operand_strides]
    for d in reversed(range(len(sizes))):
        even = all(
            strides[d] == (new_sizes or [0])[0] * (new or [0])[0] for strides, new in zip(operand_strides, new_strides)
        )
        if new_sizes and even:
            new_sizes[0] *= sizes[d]
        else:
            new_sizes.insert(0, sizes[d])
            for strides, new in zip(operand_strides, new_strides):
                new.insert(0, strides[d])
    return new_sizes, new_strides


# The forms of an operator


def resize_output__sets_the_strides_in_any_case(out, sizes, strides=None):
    resized = tuple(sizes) != out.shape
    resize_(out, sizes, strides)
    return resized


def resize_output__says_nothing(out, sizes, strides=None):
    if tuple(sizes) == out.shape:
        return False
    resize_(out, sizes, strides)
    return True


def resize_output__warns_of_empty_ones_too(out, sizes, strides=None):
    if tuple(sizes) == out.shape:
        return False
    warnings.warn("resized", UserWarning, stacklevel=2)
    resize_(out, sizes, strides)
    return True


def call_functional__forgets_the_strides(kernel, args):
    output = kernel.meta(*args)
    out = empty_strided(output.sizes, contiguous_strides(output.sizes), output.dtype)
    kernel.impl(*args, out)
    return out


def call_functional__takes_the_dtype_of_the_first_argument(kernel, args):
    output = kernel.meta(*args)
    out = allocate(Output(output.sizes, output.strides, args[0].dtype))
    kernel.impl(*args, out)
    return out


def call_inplace__makes_a_copy(kernel, args):
    output = kernel.meta(*args)
    if tuple(output.sizes) != args[0].shape:
        raise RuntimeError("shape")
    check_writable(kernel, args, args[0], output)
    copy = empty_strided(args[0].shape, args[0].stride(), args[0].dtype)
    kernel.impl(*args, copy)
    return copy


def call_inplace__lets_itself_be_resized(kernel, args):
    output = kernel.meta(*args)
    check_writable(kernel, args, args[0], output)
    resize_output(args[0], output.sizes, output.strides)
    kernel.impl(*args, args[0])
    return args[0]


def call_inplace__counts_elements(kernel, args):
    self, output = args[0], kernel.meta(*args)
    if np.prod(output.sizes) != self.numel():
        raise RuntimeError("shape")
    check_writable(kernel, args, self, output)
    if not self.is_meta:
        kernel.impl(*args, self)
    return self


def call_inplace__looks_at_the_dtype_only(kernel, args):
    self, output = args[0], kernel.meta(*args)
    if tuple(output.sizes) != self.shape or output.dtype.category > self.dtype.category:
        raise RuntimeError("no")
    if not self.is_meta:
        kernel.impl(*args, self)
    return self


def call_out__refuses_what_has_other_sizes(kernel, args, out):
    output = kernel.meta(*args)
    check_writable(kernel, args, out, output)
    if tuple(output.sizes) != out.shape:
        raise RuntimeError("sizes")
    if not out.is_meta:
        kernel.impl(*args, out)
    return out


def call_out__resizes_to_contiguous_strides(kernel, args, out):
    output = kernel.meta(*args)
    check_writable(kernel, args, out, output)
    resize_output(out, output.sizes)
    if not out.is_meta:
        kernel.impl(*args, out)
    return out


def call_out__resizes_before_it_checks(kernel, args, out):
    output = kernel.meta(*args)
    resize_output(out, output.sizes, output.strides)
    check_writable(kernel, args, out, output)
    if not out.is_meta:
        kernel.impl(*args, out)
    return out


def call_out__forgets_to_check(kernel, args, out):
    output = kernel.meta(*args)
    resize_output(out, output.sizes, output.strides)
    if not out.is_meta:
        kernel.impl(*args, out)
    return out


# Reductions


def reduced_sizes__reduces_nothing_for_an_empty_list(sizes, dims, keepdim):
    dims = range(len(sizes)) if dims is None else [wrap_dim(dim, len(sizes)) for dim in dims]
    if len(set(dims)) < len(dims):
        raise RuntimeError("twice")
    return [1 if d in dims else size for d, size in enumerate(sizes) if keepdim or d not in dims]


def reduced_sizes__forgives_a_dimension_twice(sizes, dims, keepdim):
    dims = {wrap_dim(dim, len(sizes)) for dim in dims} if dims else range(len(sizes))
    return [1 if d in dims else size for d, size in enumerate(sizes) if keepdim or d not in dims]


def reduced_sizes__sees_twice_only_what_is_written_alike(sizes, dims, keepdim):
    if dims and len(set(dims)) < len(dims):
        raise RuntimeError("twice")
    dims = {wrap_dim(dim, len(sizes)) for dim in dims} if dims else range(len(sizes))
    return [1 if d in dims else size for d, size in enumerate(sizes) if keepdim or d not in dims]


def softmax__overflows(array, dim):
    x = np.exp(array.astype(np.float64 if array.dtype == np.float64 else np.float32))
    return (x / x.sum(axis=dim, keepdims=True)).astype(array.dtype)


def softmax__in_single_precision(array, dim):
    x = array.astype(np.float32)
    x = np.exp(x - x.max(axis=dim, keepdims=True))
    return (x / x.sum(axis=dim, keepdims=True)).astype(array.dtype)


def softmax__subtracts_the_largest_of_all(array, dim):
    x = array.astype(np.promote_types(array.dtype, np.float32))
    x = np.exp(x - x.max())
    return (x / x.sum(axis=dim, keepdims=True)).astype(array.dtype)


def softmax__writes_into_its_argument(array, dim):
    array -= array.max(axis=dim, keepdims=True)
    np.exp(array, out=array)
    return array / array.sum(axis=dim, keepdims=True)


def softmax__of_minus_infinity_is_even(array, dim):
    x = array.astype(np.promote_types(array.dtype, np.float32))
    x = np.exp(x - np.nan_to_num(x.max(axis=dim, keepdims=True)))
    total = x.sum(axis=dim, keepdims=True)
    return np.where(total == 0, 1 / array.shape[dim], x / total).astype(array.dtype)


def logsumexp__overflows(array, dims, keepdim):
    return np.log(np.exp(array).sum(axis=tuple(dims), keepdims=keepdim))


def logsumexp__subtracts_infinity(array, dims, keepdim):
    dims = tuple(dims)
    m = array.max(axis=dims, keepdims=True, initial=-np.inf)
    out = np.log(np.exp(array - m).sum(axis=dims, keepdims=True)) + m
    return out if keepdim else out.squeeze(axis=dims)


def logsumexp__stumbles_over_nothing(array, dims, keepdim):
    dims = tuple(dims)
    m = array.max(axis=dims, keepdims=True)
    m = np.where(np.isinf(m), 0, m)
    out = np.log(np.exp(array - m).sum(axis=dims, keepdims=True)) + m
    return out if keepdim else out.squeeze(axis=dims)


# Matrices


def meta_addmm__lets_the_bias_make_it_larger(self, mat1, mat2, beta, alpha):
    if mat1.dim() != 2 or mat2.dim() != 2 or mat1.shape[1] != mat2.shape[0]:
        raise RuntimeError("shapes")
    if not self.dtype is mat1.dtype is mat2.dtype:
        raise RuntimeError("dtypes")
    return Output(np.broadcast_shapes(self.shape, (mat1.shape[0], mat2.shape[1])), None, self.dtype)


def meta_addmm__promotes(self, mat1, mat2, beta, alpha):
    if mat1.dim() != 2 or mat2.dim() != 2 or mat1.shape[1] != mat2.shape[0]:
        raise RuntimeError("shapes")
    sizes = mat1.shape[0], mat2.shape[1]
    self.expand(sizes)
    return Output(sizes, None, promote_types(self.dtype, promote_types(mat1.dtype, mat2.dtype)))


def meta_addmm__takes_batches(self, mat1, mat2, beta, alpha):
    if mat1.shape[-1] != mat2.shape[-2 if mat2.dim() > 1 else 0] or not self.dtype is mat1.dtype is mat2.dtype:
        raise RuntimeError("shapes")
    sizes = (*mat1.shape[:-1], *mat2.shape[-1:])
    self.expand(sizes)
    return Output(sizes, None, self.dtype)


def addmm_out__multiplies_the_bias_by_zero(self, mat1, mat2, beta, alpha, out):
    result = (mat1._array.astype(np.float64) @ mat2._array.astype(np.float64)) * alpha + self._array * float(beta)
    out._array[...] = result


def addmm_out__rounds_in_between(self, mat1, mat2, beta, alpha, out):
    if out.dtype.name == "bool" and out.numel():
        raise NotImplementedError
    number = out.dtype.numpy.type
    result = (mat1._array @ mat2._array) * number(alpha)
    out._array[...] = result + number(beta) * self._array if beta else result


def addmm_out__scales_the_sum(self, mat1, mat2, beta, alpha, out):
    out._array[...] = mat1._array @ mat2._array
    out._array[...] *= out.dtype.numpy.type(alpha)
    out._array[...] += out.dtype.numpy.type(beta) * self._array


def blocked_mm__leaves_out_what_does_not_fill_a_block(a, b, out, blocks=(64, 256, 64), multiply=multiply_add):
    rows, inner, columns = blocks
    out[...] = 0
    for i in range(a.shape[0] // rows):
        for k in range(a.shape[1] // inner):
            for j in range(b.shape[1] // columns):
                at_i, at_k = slice(i * rows, (i + 1) * rows), slice(k * inner, (k + 1) * inner)
                at_j = slice(j * columns, (j + 1) * columns)
                multiply(a[at_i, at_k], b[at_k, at_j], out[at_i, at_j])


def blocked_mm__is_not_blocked(a, b, out, blocks=(64, 256, 64), multiply=multiply_add):
    out[...] = a @ b


def blocked_mm__copies(a, b, out, blocks=(64, 256, 64), multiply=multiply_add):
    rows, inner, columns = blocks
    out[...] = 0
    for i in range(0, a.shape[0], rows):
        for k in range(0, a.shape[1], inner):
            for j in range(0, b.shape[1], columns):
                a_block, b_block = a[i : i + rows, k : k + inner].copy(), b[k : k + inner, j : j + columns].copy()
                multiply(a_block, b_block, out[i : i + rows, j : j + columns])


def blocked_mm__adds_to_what_was_there(a, b, out, blocks=(64, 256, 64), multiply=multiply_add):
    rows, inner, columns = blocks
    for i in range(0, a.shape[0], rows):
        for k in range(0, a.shape[1], inner):
            for j in range(0, b.shape[1], columns):
                out_block = out[i : i + rows, j : j + columns]
                multiply(a[i : i + rows, k : k + inner], b[k : k + inner, j : j + columns], out_block)


# In C++

_RIGHT = cpp.rms_norm_source()  # as long as the slot is empty


def rms_norm_source__for_contiguous_tensors_only():
    return _RIGHT.replace("const bool plain = from.stride == 1 && w_stride == 1;", "const bool plain = true;")


def rms_norm_source__in_single_precision_only():
    return _RIGHT.replace('DISPATCH_FLOATING(x.dtype(), "rms_norm", [&] {', "{ using scalar_t = float;").replace(
        "  });\n  return out;", "  }\n  return out;"
    )


def rms_norm_source__every_thread_does_all_lines():
    return _RIGHT.replace("for (int64_t i = begin; i < end; i++)", "for (int64_t i = begin; i < from.count / 2; i++)")


def rms_norm_source__takes_any_dtype():
    return _RIGHT.replace("DISPATCH_FLOATING", "DISPATCH_ALL")


def rms_norm_source__believes_its_weight():
    return _RIGHT.replace("CHECK(weight.dim()", "//").replace("CHECK(weight.dtype()", "//")


def rms_norm_source__writes_into_its_argument():
    return _RIGHT.replace("Tensor out = empty_like(x);", "Tensor out = x;")


def rms_norm_source__does_not_compile():
    return _RIGHT.replace("T sum = 0;", "T sum = 0")


def rms_norm_source__registers_nothing():
    return _RIGHT.partition("OPERATOR")[0]


def resize_output__list_is_another_size(out, sizes, strides=None):
    if out.shape == sizes:
        return False
    if out.numel() > 0:
        warn_resized(out, sizes)
    resize_(out, sizes, strides)
    return True


def call_functional__what_impl_returns(kernel, args):
    output = kernel.meta(*args)
    strides = contiguous_strides(output.sizes) if output.strides is None else output.strides
    out = empty_strided(output.sizes, strides, output.dtype)
    result = kernel.impl(*args, out)
    return out if result is None else result


def call_functional__meta_for_each_field(kernel, args):
    sizes, dtype = kernel.meta(*args).sizes, kernel.meta(*args).dtype
    strides = kernel.meta(*args).strides
    out = empty_strided(sizes, contiguous_strides(sizes) if strides is None else strides, dtype)
    kernel.impl(*args, out)
    return out


def call_inplace__sizes_in_a_list_differ(kernel, args):
    self = args[0]
    output = kernel.meta(*args)
    if self.shape != output.sizes:
        raise RuntimeError(f"a result of sizes {list(output.sizes)} does not fit into {list(self.shape)}")
    check_writable(kernel, args, self, output)
    if not self.is_meta:
        kernel.impl(*args, self)
    return self


def blocked_mm__times_zero(a, b, out, blocks=(64, 256, 64), multiply=multiply_add):
    rows, inner, columns = blocks
    out *= 0
    for i in range(0, a.shape[0], rows):
        for j in range(0, b.shape[1], columns):
            for k in range(0, a.shape[1], inner):
                multiply(
                    a[i : i + rows, k : k + inner],
                    b[k : k + inner, j : j + columns],
                    out[i : i + rows, j : j + columns],
                )


def rms_norm_source__root_in_single():
    return r"""
#include "rushlight.h"
using namespace rl;

Tensor rms_norm(const Tensor& x, const Tensor& weight, double eps) {
  CHECK(x.dim() > 0, "rms_norm: x needs at least one dimension");
  CHECK(weight.dim() == 1 && weight.size(0) == x.size(-1), "rms_norm: weight must have the size of the last dimension");
  CHECK(weight.dtype() == x.dtype(), "rms_norm: weight must have the dtype of x");
  Tensor out = empty_like(x);
  DISPATCH_FLOATING(x.dtype(), "rms_norm", [&] {
    Rows<const scalar_t> in(x);
    Rows<scalar_t> to(out);
    const scalar_t* w = static_cast<const scalar_t*>(weight.data);
    const int64_t step = weight.stride(0);
    parallel_for(0, in.count, in.grain(), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) {
        const scalar_t* row = in.row(i);
        scalar_t* result = to.row(i);
        double sum = 0;
        for (int64_t j = 0; j < in.size; j++) sum += double(row[j * in.stride]) * row[j * in.stride];
        const float root = std::sqrt(sum / in.size + eps);
        for (int64_t j = 0; j < in.size; j++) result[j] = row[j * in.stride] / root * w[j * step];
      }
    });
  });
  return out;
}

OPERATOR(rms_norm, "rms_norm(Tensor x, Tensor weight, float eps=1e-5) -> Tensor")
"""


def call_inplace__checks_afterwards(kernel, args):
    self, output = args[0], kernel.meta(*args)
    if tuple(output.sizes) != self.shape:
        raise RuntimeError("another shape")
    if not self.is_meta:
        kernel.impl(*args, self)
    check_writable(kernel, args, self, output)
    return self


def reduced_sizes__from_left_to_right(sizes, dims, keepdim):
    reduced = []
    for dim in dims or range(len(sizes)):
        dim = wrap_dim(dim, len(sizes))
        if dim in reduced:
            raise RuntimeError("twice")
        reduced.append(dim)
    return tuple(1 if d in reduced else size for d, size in enumerate(sizes) if keepdim or d not in reduced)


def logsumexp__in_single_precision(array, dims, keepdim):
    x = array.astype(np.float32)
    largest = x.max(axis=dims, keepdims=True, initial=-np.inf)
    largest = np.where(np.isinf(largest), 0, largest)
    total = np.log(np.exp(x - largest).sum(axis=dims, keepdims=True)) + largest
    return (total if keepdim else total.squeeze(axis=dims)).astype(array.dtype)


def rms_norm_source__takes_any_dtype_of_weight():
    return _RIGHT.replace("weight.dtype() == x.dtype()", "true")


def result_type__takes_an_array_for_a_tensor(*operands):
    def place(x):
        is_number = isinstance(x, np.generic) or not hasattr(x, "dtype")
        return (2, scalar_type(x)) if is_number else (0 if x.dim() else 1, x.dtype)

    placed = [place(x) for x in operands]
    ranks = ([dtype for at, dtype in placed if at == rank] for rank in range(3))
    return max((functools.reduce(promote_types, rank) for rank in ranks if rank), key=lambda dtype: dtype.category)


def addmm_out__rounds_the_product_to_half_first(self, mat1, mat2, beta, alpha, out):
    a, b = mat1._array, mat2._array
    exact = a.astype(np.float32) @ b.astype(np.float32) if self.dtype is float16 else a @ b
    scaled_addmm(self, (exact * exact.dtype.type(alpha)).astype(a.dtype), beta, out)


def addmm_out__rounds_numbers_down(self, mat1, mat2, beta, alpha, out):
    if self.dtype.category == INTEGRAL:
        beta, alpha = math.floor(beta), math.floor(alpha)
    product = mat1._array.astype(out.dtype.numpy if self.dtype is not float16 else np.float32) @ mat2._array
    scaled_addmm(self, product * product.dtype.type(alpha), beta, out)


def scaled_addmm(self, product, beta, out):
    if self.dtype is bool_ and out.numel():
        raise NotImplementedError("Bool")
    out._array[...] = product if beta == 0 else product + product.dtype.type(beta) * self._array


def call_inplace__broadcasts_the_result(kernel, args):
    self, output = args[0], kernel.meta(*args)
    if infer_size(self.shape, tuple(output.sizes)) != tuple(self.shape):
        raise RuntimeError("shape")
    check_writable(kernel, args, self, output)
    if not self.is_meta:
        kernel.impl(*args, self)
    return self


# Lists in the place of tuples


def _copied(slot):
    return type(slot)(slot.__code__, slot.__globals__, slot.__name__, slot.__defaults__)


_functional, _inplace, _out = map(_copied, (structured.call_functional, structured.call_inplace, structured.call_out))


def call_functional__takes_a_tuple_only(kernel, args):
    return _functional(kernel, () + args)


def call_inplace__takes_a_tuple_only(kernel, args):
    return _inplace(kernel, args[:1] + () + args[1:])


def call_out__takes_a_tuple_only(kernel, args, out):
    if (*args, out) != args + (out,):
        raise RuntimeError
    return _out(kernel, args, out)


_blocked = _copied(linear_algebra.blocked_mm)


def blocked_mm__takes_a_tuple_of_blocks_only(a, b, out, blocks=(64, 256, 64), multiply=multiply_add):
    return _blocked(a, b, out, () + blocks, multiply)


# Sentences that are easily passed over


def softmax__stays_in_double_precision(array, dim):
    x = array.astype(np.float64 if array.dtype == np.float64 else np.float32)
    weights = np.exp(x - x.max(axis=dim, keepdims=True))
    return (weights / weights.sum(axis=dim, keepdims=True)).astype(np.float64)


_meta_addmm = _copied(linear_algebra.meta_addmm)


def meta_addmm__multiplies(self, mat1, mat2, beta, alpha):
    _meta_addmm(self, mat1, mat2, beta, alpha)
    return Output((mat1._array @ mat2._array).shape, None, self.dtype)


def meta_addmm__does_not_look_at_self_if_beta_is_zero(self, mat1, mat2, beta, alpha):
    return _meta_addmm(self if beta else mat1[:1, :1].sum(1) if mat1.dim() == 2 else mat1, mat1, mat2, beta, alpha)


def rms_norm_source__has_another_default():
    return _source().replace("eps=1e-5", "eps=1e-6")


def rms_norm_source__has_another_name_for_the_weight():
    return _source().replace("x, Tensor weight,", "x, Tensor scale,")


_source = _copied(cpp.rms_norm_source)


_resize = _copied(structured.resize_output)


def resize_output__takes_a_list_of_strides_only(out, sizes, strides=None):
    return _resize(out, sizes, None if strides is None else strides + [])


def meta_addmm__takes_whole_numbers_only(self, mat1, mat2, beta, alpha):
    if not (isinstance(beta, int) and isinstance(alpha, int)):
        raise RuntimeError("beta and alpha")
    return _meta_addmm(self, mat1, mat2, beta, alpha)


def blocked_mm__without_defaults(a, b, out, blocks, multiply):
    return _blocked(a, b, out, blocks, multiply)


def blocked_mm__has_other_defaults(a, b, out, blocks=(64, 64, 64), multiply=multiply_add):
    return _blocked(a, b, out, blocks, multiply)
