"""Correct answers to lab 03b in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

import itertools
import math

import numpy as np

from rushlight.aten.native.linear_algebra import multiply_add
from rushlight.aten.strided import contiguous_strides
from rushlight.aten.structured import Output

from ..shared import OwnRuntimeError

# Reductions


def softmax__row_by_row(array, dim):
    rows = np.moveaxis(array, dim, -1)
    out = np.empty(rows.shape, array.dtype)
    for at in np.ndindex(rows.shape[:-1]):
        line = rows[at].astype(np.float64)
        line = np.exp(line - line.max())
        out[at] = line / line.sum()
    return np.moveaxis(out, -1, dim)


def softmax__by_its_logarithm(array, dim):
    x = array.astype(np.promote_types(array.dtype, np.float32))
    x = x - np.max(x, axis=dim, keepdims=True)
    total = np.exp(x).sum(axis=dim, keepdims=True)
    return np.exp(x - np.log(total)).astype(array.dtype)


def logsumexp__by_logaddexp(array, dims, keepdim):
    if array.size == 0 or not dims:
        empty = np.full(array.sum(axis=dims, keepdims=keepdim).shape, -np.inf, array.dtype)
        return empty if dims else array
    rest = [d for d in range(array.ndim) if d not in dims]
    lines = np.transpose(array, [*dims, *rest]).reshape(-1, *(array.shape[d] for d in rest))
    total = np.logaddexp.reduce(lines.astype(np.float64), axis=0).astype(array.dtype)
    return np.expand_dims(total, tuple(sorted(dims))) if keepdim else total


def logsumexp__with_nan_to_num(array, dims, keepdim):
    dims = tuple(dims)
    m = np.max(array, axis=dims, keepdims=True, initial=-np.inf)
    m = np.nan_to_num(m, nan=np.nan, posinf=0.0, neginf=0.0)
    out = np.log(np.sum(np.exp(array - m), axis=dims, keepdims=True))
    out = out + m
    return out if keepdim else out.reshape([size for d, size in enumerate(array.shape) if d not in dims])


# Matrices


def meta_addmm__in_the_order_of_what_can_go_wrong(self, mat1, mat2, beta, alpha):
    for matrix in (mat1, mat2):
        if len(matrix.shape) != 2:
            raise OwnRuntimeError("not a matrix")
    if mat1.dtype != mat2.dtype or self.dtype != mat1.dtype:
        raise OwnRuntimeError("dtypes")
    if mat1.shape[1] != mat2.shape[0]:
        raise OwnRuntimeError("inner sizes")
    sizes = [mat1.shape[0], mat2.shape[1]]
    offered = [1] * (2 - self.dim()) + list(self.shape)
    if len(offered) > 2 or any(have not in (1, want) for have, want in zip(offered, sizes)):
        raise OwnRuntimeError("bias")
    return Output(sizes, contiguous_strides(sizes), self.dtype)


def meta_addmm__by_expanding(self, mat1, mat2, beta, alpha):
    try:
        (n, k), (k2, m) = mat1.shape, mat2.shape
    except ValueError:
        raise OwnRuntimeError("not matrices") from None
    if k != k2 or len({mat1.dtype, mat2.dtype, self.dtype}) != 1:
        raise OwnRuntimeError("do not go together")
    self.expand(n, m)
    return Output((n, m), None, mat1.dtype)


def addmm_out__in_numpys_own_words(self, mat1, mat2, beta, alpha, out):
    if out.dtype.name == "bool":
        if out.numel():
            raise NotImplementedError("bool")
        return
    kind = np.float32 if out.dtype.name == "float16" else out.dtype.numpy
    a, b = mat1.numpy().astype(kind), mat2.numpy().astype(kind)
    total = np.einsum("ik,kj->ij", a, b) * np.array(alpha).astype(kind)
    if np.array(beta).astype(kind):
        total = total + np.array(beta).astype(kind) * self.numpy().astype(kind)
    out.numpy()[:] = total


def addmm_out__one_column_at_a_time(self, mat1, mat2, beta, alpha, out):
    whole = not out.dtype.is_floating_point
    if out.dtype.category == 0 and out.numel() > 0:
        raise NotImplementedError
    if whole:
        beta, alpha = int(beta), int(alpha)
    bias = np.array(np.broadcast_to(self._array, out.shape))
    wide = np.promote_types(out.dtype.numpy, np.float32) if not whole else out.dtype.numpy
    for j in range(out.shape[1]):
        column = mat1._array.astype(wide) @ mat2._array[:, j].astype(wide)
        column = (column * alpha).astype(wide)
        if beta:
            column = column + (bias[:, j].astype(wide) * beta).astype(wide)
        out._array[:, j] = column


def blocked_mm__with_runs(a, b, out, blocks=(64, 256, 64), multiply=multiply_add):
    def runs(size, most):
        return [slice(start, min(start + most, size)) for start in range(0, size, most)]

    out.fill(0)
    for k, j, i in itertools.product(
        runs(a.shape[1], blocks[1]), runs(b.shape[1], blocks[2]), runs(a.shape[0], blocks[0])
    ):
        multiply(a[i, k], b[k, j], out[i, j])


def blocked_mm__with_split(a, b, out, blocks=(64, 256, 64), multiply=multiply_add):
    out[...] = 0

    def cut(array, axis, most):
        return [part for part in np.split(array, range(most, array.shape[axis], most), axis) if part.size]

    for a_rows, out_rows in zip(cut(a, 0, blocks[0]), cut(out, 0, blocks[0])):
        for a_block, b_rows in zip(cut(a_rows, 1, blocks[1]), cut(b, 0, blocks[1])):
            for b_block, out_block in zip(cut(b_rows, 1, blocks[2]), cut(out_rows, 1, blocks[2])):
                multiply(a_block, b_block, out_block)


# In C++


def rms_norm_source__plain_loops():
    return r"""
#include "rushlight.h"

rl::Tensor rms_norm(const rl::Tensor& x, const rl::Tensor& weight, double eps) {
  CHECK(x.dim() >= 1, "no dimensions");
  CHECK(weight.dim() == 1, "weight");
  CHECK(weight.size(0) == x.size(x.dim() - 1), "weight");
  rl::Tensor y = rl::empty_like(x);
  DISPATCH_FLOATING(x.dtype(), "rms_norm", [&] {
    rl::Accessor<scalar_t, 1> w(weight);
    rl::Rows<scalar_t> lines(x), results(y);
    for (int64_t i = 0; i < lines.count; ++i) {
      scalar_t* line = lines.row(i);
      double squares = 0;
      for (int64_t j = 0; j < lines.size; ++j) squares += double(line[j * lines.stride]) * line[j * lines.stride];
      double length = std::sqrt(squares / lines.size + eps);
      for (int64_t j = 0; j < lines.size; ++j) results.row(i)[j] = scalar_t(line[j * lines.stride] / length * w[j]);
    }
  });
  return y;
}
OPERATOR(rms_norm, "rms_norm(Tensor x, Tensor weight, float eps=1e-5) -> Tensor")
"""


def rms_norm_source__adds_up_in_the_dtype_of_x_one_after_the_other():
    return r"""
#include "rushlight.h"
using namespace rl;

Tensor rms_norm(const Tensor& x, const Tensor& weight, double eps) {
  CHECK(x.dim() > 0, "rms_norm: x needs a dimension");
  CHECK(weight.dim() == 1 && weight.size(0) == x.size(-1), "rms_norm: weight needs as many elements as a line");
  Tensor out = empty_like(x);
  DISPATCH_FLOATING(x.dtype(), "rms_norm", [&] {
    Rows<const scalar_t> from(x);
    Rows<scalar_t> to(out);
    Accessor<const scalar_t, 1> w(weight);
    parallel_for(0, from.count, 100, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) {
        const scalar_t* line = from.row(i);
        scalar_t sum = 0;
        for (int64_t j = 0; j < from.size; j++) sum += line[j * from.stride] * line[j * from.stride];
        scalar_t length = std::sqrt(sum / from.size + static_cast<scalar_t>(eps));
        for (int64_t j = 0; j < from.size; j++) to.row(i)[j] = line[j * from.stride] / length * w[j];
      }
    });
  });
  return out;
}
OPERATOR(rms_norm, "rms_norm(Tensor x, Tensor weight, float eps=1e-5) -> Tensor")
"""


def rms_norm_source__element_by_element_without_the_helpers():
    return r"""
#include "rushlight.h"
using namespace rl;

template <class T>
T at(const Tensor& x, int64_t i) {
  int64_t offset = 0;
  for (int64_t d = x.dim() - 1; d >= 0; d--) {
    offset += i % x.size(d) * x.stride(d);
    i /= x.size(d);
  }
  return static_cast<T*>(x.data)[offset];
}

Tensor rms_norm(const Tensor& x, const Tensor& weight, double eps) {
  if (x.dim() == 0 || weight.dim() != 1 || weight.size(0) != x.size(-1)) throw std::runtime_error("sizes");
  if (x.dtype() != weight.dtype()) throw std::runtime_error("dtypes");
  if (x.dtype() != dtype::float32 && x.dtype() != dtype::float64) throw NotImplemented("dtype");
  std::vector<int64_t> sizes(x.sizes, x.sizes + x.dim());
  Tensor out = empty(sizes, x.dtype());
  const int64_t n = x.size(-1), rows = n ? x.numel() / n : 0;
  DISPATCH_ALL(x.dtype(), "rms_norm", [&] {
    parallel_for(0, rows, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin * n; i < end * n; i += n) {
        double mean = 0;
        for (int64_t j = 0; j < n; j++) mean += at<scalar_t>(x, i + j) * at<scalar_t>(x, i + j) / double(n);
        for (int64_t j = 0; j < n; j++)
          static_cast<scalar_t*>(out.data)[i + j] = at<scalar_t>(x, i + j) / std::sqrt(mean + eps) * at<scalar_t>(weight, j);
      }
    });
  });
  return out;
}
OPERATOR(rms_norm, "rms_norm(Tensor x, Tensor weight, float eps=1e-5) -> Tensor")
"""


def softmax__three_dimensions(array, dim):
    shape = array.shape
    x = array.reshape(math.prod(shape[:dim]), shape[dim], math.prod(shape[dim + 1 :]))
    x = x.astype(np.result_type(x, np.float32))
    x -= np.maximum.reduce(x, 1)[:, None]
    np.exp(x, out=x)
    x /= np.add.reduce(x, 1)[:, None]
    return x.astype(array.dtype).reshape(shape)


def logsumexp__reduced_to_the_front(array, dims, keepdim):
    others = [dim for dim in range(array.ndim) if dim not in dims]
    lines = array.transpose(*dims, *others).reshape(
        math.prod(array.shape[d] for d in dims), *(array.shape[d] for d in others)
    )
    largest = np.full(lines.shape[1:], -np.inf, array.dtype)
    for line in lines:
        largest = np.maximum(largest, line)
    shift = np.asarray(largest).copy()
    shift[np.isinf(shift)] = 0
    result = np.log(np.exp(lines - shift).sum(axis=0)) + shift
    kept = [1 if dim in dims else size for dim, size in enumerate(array.shape) if keepdim or dim not in dims]
    return np.asarray(result, array.dtype).reshape(kept)


def rms_norm_source__functor():
    return r"""#include "rushlight.h"

namespace {

// A line along a dimension: element j is at first[j * step].
template <class T>
struct Line {
  T* first;
  int64_t size, step;
  T& operator[](int64_t j) const { return first[j * step]; }
};

template <class T>
double mean_of_squares(const Line<const T>& line) {
  double sum = 0;
  for (int64_t j = 0; j < line.size; j++) sum += static_cast<double>(line[j]) * line[j];
  return sum / static_cast<double>(line.size);
}

template <class T>
void scale(const Line<const T>& line, const Line<const T>& weight, const Line<T>& out, double eps) {
  const double root = std::sqrt(mean_of_squares(line) + eps);
  for (int64_t j = line.size - 1; j >= 0; j--) out[j] = static_cast<T>(line[j] / root * weight[j]);
}

}  // namespace

rl::Tensor rms_norm(const rl::Tensor& x, const rl::Tensor& weight, double eps) {
  CHECK(x.dim() != 0, "rms_norm: x has no dimensions");
  CHECK(weight.dim() == 1, "rms_norm: weight must have one dimension");
  CHECK(weight.size(0) == x.size(x.dim() - 1), "rms_norm: weight must have the size of the last dimension of x");
  CHECK(weight.dtype() == x.dtype(), "rms_norm: weight must have the dtype of x");
  rl::Tensor out = rl::empty_like(x);
  DISPATCH_FLOATING(x.dtype(), "rms_norm", [&] {
    const rl::Rows<const scalar_t> lines(x);
    const rl::Rows<scalar_t> results(out);
    const Line<const scalar_t> factors{static_cast<const scalar_t*>(weight.data), weight.size(0), weight.stride(0)};
    rl::parallel_for(0, lines.count, lines.grain(), [&](int64_t begin, int64_t end) {
      for (int64_t i = end - 1; i >= begin; i--) {
        const Line<const scalar_t> line{lines.row(i), lines.size, lines.stride};
        scale(line, factors, Line<scalar_t>{results.row(i), results.size, results.stride}, eps);
      }
    });
  });
  return out;
}

OPERATOR(rms_norm, "rms_norm(Tensor x, Tensor weight, float eps=1e-5) -> Tensor")
"""


# A sum in parts


def two_pass_sum__by_where_a_part_begins(x, grain, parallel_for):
    sums = {}

    def body(begin, end):
        total = 0.0
        for i in range(begin, end):
            total += x[i]
        sums[begin] = total

    parallel_for(0, len(x), grain, body)
    return math.fsum(sums[begin] for begin in sorted(sums))


def two_pass_sum__a_place_for_each_element(x, grain, parallel_for):
    places = np.zeros(len(x))

    def body(start, stop):
        places[start] = np.add.reduce(np.array(x[start:stop]))

    parallel_for(0, len(x), grain, body)
    return float(places.sum())


def two_pass_sum__as_a_tree(x, grain, parallel_for):
    level = [0.0] * max(-(-len(x) // grain), 1)

    def leaves(begin, end):
        for block in range(begin, end):
            level[block] = float(sum(x[block * grain : block * grain + grain]))

    parallel_for(0, -(-len(x) // grain), 1, leaves)
    while len(level) > 1:
        below, level = level, [0.0] * -(-len(level) // 2)

        def nodes(begin, end, below=below, level=level):
            for node in range(begin, end):
                level[node] = sum(below[2 * node : 2 * node + 2])

        parallel_for(begin=0, end=len(level), grain=1, body=nodes)
    return level[0]


def two_pass_sum__sorts_what_the_parts_give(x, grain, parallel_for):
    given = []
    parallel_for(0, len(x), grain, lambda begin, end: given.append((begin, math.fsum(x[begin:end]))))
    return math.fsum(total for _, total in sorted(given))


# Cases


def breaks_reduced_sizes__as_a_table():
    table = """
        2 3 0 | 0 -2 0   | 1
        4 3 2 | 2 2 3    |
        0 3   |          | 1
        1 6 2 | 2 1      |
              | 0 -1     |
    """
    rows = [line.split("|") for line in table.strip("\n").rstrip().splitlines()]
    return [
        {"sizes": [*map(int, sizes.split())], "dims": [*map(int, dims.split())], "keepdim": bool(keepdim.strip())}
        for sizes, dims, keepdim in rows
    ]


def breaks_reduced_sizes__one_for_each_rule():
    return [
        dict(sizes=(), dims=(-1, 0), keepdim=True),
        dict(keepdim=True, dims=(), sizes=(0, 0, 0)),
        dict(sizes=(5, 1, 4, 2), dims=(-1, 0), keepdim=False),
        dict(sizes=(), dims=(0, 0, 1), keepdim=False),
    ]
