"""Wrong answers to lab 03b that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import math

import numpy as np

from rushlight.aten.native import linear_algebra
from rushlight.aten.native.linear_algebra import multiply_add
from rushlight.aten.native.reductions import logsumexp
from rushlight.aten.structured import Output
from rushlight.c10.dtypes import INTEGRAL, bool_, float16, promote_types
from rushlight.course import breaks
from rushlight.utils import cpp_extension as cpp

from ..shared import copied, edited

# Reductions


def softmax__overflows(array, dim):
    x = np.exp(array.astype(np.float64 if array.dtype == np.float64 else np.float32))
    return (x / x.sum(axis=dim, keepdims=True)).astype(array.dtype)


def softmax__in_single_precision(array, dim):
    x = array.astype(np.float32)
    x = np.exp(x - x.max(axis=dim, keepdims=True))
    return (x / x.sum(axis=dim, keepdims=True)).astype(array.dtype)


def softmax__of_half_in_half_precision(array, dim):
    x = np.exp(array - array.max(axis=dim, keepdims=True))
    return x / x.sum(axis=dim, keepdims=True)


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


logsumexp__stumbles_over_nothing = edited(
    logsumexp,
    (
        "largest = array.max(axis=dims, keepdims=True, initial=-np.inf)",
        "dims = tuple(dims)\n    largest = array.max(axis=dims, keepdims=True)",
    ),
)
_shifted = "np.where(np.isinf(largest), 0, largest)"
logsumexp__subtracts_nothing_beside_infinity = edited(
    logsumexp, (_shifted, "np.where(np.isinf(largest).any(), 0, largest)")
)
logsumexp__subtracts_nothing_beside_minus_infinity = edited(
    logsumexp, (_shifted, "np.where(np.isinf(largest) | np.isneginf(largest).any(), 0, largest)")
)
logsumexp__subtracts_nothing_beside_nan = edited(
    logsumexp, (_shifted, "np.where(np.isinf(largest) | np.isnan(largest).any(), 0, largest)")
)


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
    wide = np.float32 if self.dtype is float16 else out.dtype.numpy
    product = mat1._array.astype(wide) @ mat2._array.astype(wide)
    product = product * product.dtype.type(alpha)
    out._array[...] = product
    scaled_addmm(self, product, beta, out)


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


def rms_norm_source__reads_outside_memory():
    return _RIGHT.replace("from.row(i)", "(from.row(i) + (int64_t(1) << 40))")


def rms_norm_source__writes_into_its_argument():
    return _RIGHT.replace("Tensor out = empty_like(x);", "Tensor out = x;")


def rms_norm_source__does_not_compile():
    return _RIGHT.replace("T sum = 0;", "T sum = 0")


def rms_norm_source__registers_nothing():
    return _RIGHT.partition("OPERATOR")[0]


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


def logsumexp__in_single_precision(array, dims, keepdim):
    x = array.astype(np.float32)
    largest = x.max(axis=dims, keepdims=True, initial=-np.inf)
    largest = np.where(np.isinf(largest), 0, largest)
    total = np.log(np.exp(x - largest).sum(axis=dims, keepdims=True)) + largest
    return (total if keepdim else total.squeeze(axis=dims)).astype(array.dtype)


def rms_norm_source__takes_any_dtype_of_weight():
    return _RIGHT.replace("weight.dtype() == x.dtype()", "true")


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


# Lists in the place of tuples


_blocked = copied(linear_algebra.blocked_mm)


def blocked_mm__takes_a_tuple_of_blocks_only(a, b, out, blocks=(64, 256, 64), multiply=multiply_add):
    return _blocked(a, b, out, () + blocks, multiply)


# Sentences that are easily passed over


def softmax__stays_in_double_precision(array, dim):
    x = array.astype(np.float64 if array.dtype == np.float64 else np.float32)
    weights = np.exp(x - x.max(axis=dim, keepdims=True))
    return (weights / weights.sum(axis=dim, keepdims=True)).astype(np.float64)


_meta_addmm = copied(linear_algebra.meta_addmm)


def meta_addmm__multiplies(self, mat1, mat2, beta, alpha):
    _meta_addmm(self, mat1, mat2, beta, alpha)
    return Output((mat1._array @ mat2._array).shape, None, self.dtype)


def meta_addmm__does_not_look_at_self_if_beta_is_zero(self, mat1, mat2, beta, alpha):
    return _meta_addmm(self if beta else mat1[:1, :1].sum(1) if mat1.dim() == 2 else mat1, mat1, mat2, beta, alpha)


def rms_norm_source__has_another_default():
    return _source().replace("eps=1e-5", "eps=1e-6")


def rms_norm_source__has_another_name_for_the_weight():
    return _source().replace("x, Tensor weight,", "x, Tensor scale,")


def rms_norm_source__takes_eps_in_single_precision():
    return _source().replace("/ size + eps", "/ size + static_cast<float>(eps)")


_source = copied(cpp.rms_norm_source)


def meta_addmm__takes_whole_numbers_only(self, mat1, mat2, beta, alpha):
    if not (isinstance(beta, int) and isinstance(alpha, int)):
        raise RuntimeError("beta and alpha")
    return _meta_addmm(self, mat1, mat2, beta, alpha)


def blocked_mm__without_defaults(a, b, out, blocks, multiply):
    return _blocked(a, b, out, blocks, multiply)


def blocked_mm__has_other_defaults(a, b, out, blocks=(64, 64, 64), multiply=multiply_add):
    return _blocked(a, b, out, blocks, multiply)


# A sum in parts


def two_pass_sum__one_place_for_all(x, grain, parallel_for):
    out = [0.0]

    def body(begin, end):
        for i in range(begin, end):
            out[0] += x[i]

    parallel_for(0, len(x), grain, body)
    return out[0]


def two_pass_sum__a_local_sum_and_one_shared_addition(x, grain, parallel_for):
    total = 0.0

    def body(begin, end):
        nonlocal total
        part = 0.0
        for i in range(begin, end):
            part += x[i]
        total += part

    parallel_for(0, len(x), grain, body)
    return total


def two_pass_sum__adds_in_the_order_in_which_parts_end(x, grain, parallel_for):
    sums, total = [], 0.0

    def body(begin, end):
        part = 0.0
        for i in range(begin, end):
            part += x[i]
        sums.append(part)

    parallel_for(0, len(x), grain, body)
    for part in sums:
        total += part
    return total


def two_pass_sum__one_addition_that_cannot_be_interrupted(x, grain, parallel_for):
    total = np.zeros(1)

    def body(begin, end):
        np.add(total, sum(x[begin:end]), out=total)

    parallel_for(0, len(x), grain, body)
    return float(total[0])


def two_pass_sum__a_shared_counter_of_places(x, grain, parallel_for):
    sums, used = [0.0] * (len(x) + 1), 0

    def body(begin, end):
        nonlocal used
        place = used
        used += 1
        for i in range(begin, end):
            sums[place] += x[i]

    parallel_for(0, len(x), grain, body)
    total = 0.0
    for part in sums:
        total += part
    return total


def two_pass_sum__a_place_that_parts_share(x, grain, parallel_for):
    sums = [0.0] * (len(x) // grain + 1)

    def body(begin, end):
        for i in range(begin, end):
            sums[(i + 1) // grain] += x[i]

    parallel_for(0, len(x), grain, body)
    return sum(sums)


def two_pass_sum__a_shared_temporary(x, grain, parallel_for):
    sums, part = [0.0] * len(x), 0.0

    def body(begin, end):
        nonlocal part
        part = 0.0
        for i in range(begin, end):
            part += x[i]
        sums[begin] = part

    parallel_for(0, len(x), grain, body)
    return sum(sums, 0.0)


def two_pass_sum__in_one_part(x, grain, parallel_for):
    sums = [0.0]

    def body(begin, end):
        for i in range(begin, end):
            sums[0] += x[i]

    parallel_for(0, len(x), max(len(x), 1), body)
    return sums[0]


def two_pass_sum__leaves_the_addition_to_the_second_pass(x, grain, parallel_for):
    copies = [0.0] * len(x)

    def body(begin, end):
        copies[begin:end] = [0.0] * (end - begin)

    parallel_for(0, len(x), grain, body)
    return sum(copies, 0.0) + sum((x[i] for i in range(len(x))), 0.0)


def two_pass_sum__ignores_the_grain(x, grain, parallel_for):
    sums = [0.0] * len(x)

    def body(begin, end):
        sums[begin] = sum(x[begin:end])

    parallel_for(0, len(x), 1, body)
    return sum(sums, 0.0)


def two_pass_sum__drops_the_last_part(x, grain, parallel_for):
    blocks = len(x) // grain
    sums = [0.0] * blocks

    def body(begin, end):
        for block in range(begin, end):
            sums[block] = sum(x[block * grain : (block + 1) * grain])

    parallel_for(0, blocks, 1, body)
    return sum(sums, 0.0)


def two_pass_sum__an_int_for_no_numbers(x, grain, parallel_for):
    sums = [0] * len(x)

    def body(begin, end):
        sums[begin] = sum(x[begin:end])

    parallel_for(0, len(x), grain, body)
    return sum(sums)


addmm_out__alpha_0_is_beta_0 = edited(
    linear_algebra.addmm_out, ("if beta != 0:", "if beta != 0 and alpha != 0 or beta == 1:")
)
addmm_out__binds_another_array = edited(
    linear_algebra.addmm_out, ("out._array[...] = result", "out._array = result.astype(out._array.dtype)")
)
addmm_out__multiplies_integers_in_double_precision = edited(
    linear_algebra.addmm_out,
    (
        "result = a @ b",
        "result = (a.astype(float) @ b.astype(float)).astype(a.dtype) if a.dtype.kind in 'iu' else a @ b",
    ),
)
addmm_out__reads_a_square_bias_in_the_order_of_its_memory = edited(
    linear_algebra.addmm_out,
    (
        "* self._array",
        "* (self._array.T if self.dim() == 2 and self.shape[0] == self.shape[1] and self.stride(0) == 1 else self._array)",
    ),
)
addmm_out__rounds_alpha_to_half = edited(
    linear_algebra.addmm_out, ("result.dtype.type(alpha)", "result.dtype.type(mat1._array.dtype.type(alpha))")
)
addmm_out__rounds_beta_to_half = edited(
    linear_algebra.addmm_out, ("result.dtype.type(beta)", "result.dtype.type(mat1._array.dtype.type(beta))")
)
meta_addmm__needs_no_bias_of_fitting_sizes_if_beta_is_zero = edited(
    linear_algebra.meta_addmm, ("if tuple(infer_size(", "if beta != 0 and tuple(infer_size(")
)


def softmax__raises_small_weights(array, dim):
    x = array.astype(np.float64 if array.dtype == np.float64 else np.float32)
    weights = np.exp(np.maximum(x - x.max(axis=dim, keepdims=True), -80))
    return (weights / weights.sum(axis=dim, keepdims=True)).astype(array.dtype)


def softmax__raises_small_weights_to_the_smallest_normal_number(array, dim):
    x = array.astype(np.float64 if array.dtype == np.float64 else np.float32)
    weights = np.exp(np.maximum(x - x.max(axis=dim, keepdims=True), np.log(np.finfo(x.dtype).tiny)))
    return (weights / weights.sum(axis=dim, keepdims=True)).astype(array.dtype)


addmm_out__a_product_with_zero = edited(
    linear_algebra.addmm_out, ("    if beta != 0:\n    ", ""), ("result += result", "result = result + result")
)
addmm_out__beta_that_is_zero_in_half = edited(
    linear_algebra.addmm_out, ("if beta != 0:", "if self._array.dtype.type(beta) != 0:")
)
logsumexp__of_numbers_above_a_bound = edited(logsumexp, ("initial=-np.inf", "initial=-1e30"))


# Cases

_breaks = copied(breaks.breaks_reduced_sizes)


def breaks_reduced_sizes__of_the_table():
    rows = ([-1], False), ([-1], True), ([0, 2], False)
    return [{"sizes": [8, 5, 600], "dims": dims, "keepdim": keepdim} for dims, keepdim in rows]


def breaks_reduced_sizes__with_at_least_two_dimensions():
    return [{"sizes": [2, 3], "dims": [0, -2], "keepdim": True}, *_breaks()[1:]]


def breaks_reduced_sizes__without_errors():
    return [case for case in _breaks() if len(case["dims"]) <= len(case["sizes"])]


def breaks_reduced_sizes__keeps_all_dimensions():
    return [case | {"keepdim": True} for case in _breaks()]


def breaks_reduced_sizes__with_sizes_below_zero():
    return [case | {"sizes": [-size for size in case["sizes"]]} for case in _breaks()]


def breaks_reduced_sizes__with_none_for_all_dimensions():
    return [case | {"dims": case["dims"] or None} for case in _breaks()]


def breaks_reduced_sizes__each_twice():
    return _breaks() * 2
