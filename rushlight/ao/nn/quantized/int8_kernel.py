"""The int8 linear layer in C++, if the machine has a compiler; numpy computes the same numbers otherwise.

Where the processor has an instruction for it (VNNI), four products of a uint8 and an int8 number are added to an int32 number at
once. The code for other processors is an ordinary loop, which the compiler vectorises. In PyTorch: FBGEMM and oneDNN
behind `aten/src/ATen/native/quantized/cpu/qlinear.cpp`. Left out: threads, blocks for large matrices, aarch64.
"""

import ctypes
import hashlib
from functools import cache

import numpy as np

from rushlight.ao.nn.quantized import functional
from rushlight.aten.native import creation
from rushlight.aten.strided import Tensor
from rushlight.utils.cpp_extension import FLAGS, compiled, compiler

SOURCE = r"""
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define VNNI 1
#endif
#if defined(VNNI) && defined(__linux__)  // the function is compiled for each of these, and the loader takes the best one
#define FOR_EACH_CPU __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define FOR_EACH_CPU
#endif

// The weight is stored as [columns / 4][out, rounded up to 16][4]: the four numbers of one output are neighbours.
static inline int64_t padded(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

extern "C" void pack(const int8_t* weight, int64_t out, int64_t columns, int8_t* packed, int32_t* sums) {
  const int64_t wide = padded(out, 16);
  std::memset(packed, 0, wide * padded(columns, 4));
  for (int64_t o = 0; o < out; o++) {
    sums[o] = 0;
    for (int64_t k = 0; k < columns; k++) {
      sums[o] += weight[o * columns + k];
      packed[(k / 4 * wide + o) * 4 + k % 4] = weight[o * columns + k];
    }
  }
}

FOR_EACH_CPU static void products(const uint8_t* x, const int8_t* packed, int64_t wide, int64_t steps, int32_t* sums) {
  std::memset(sums, 0, wide * 4);
  for (int64_t k = 0; k < steps; k++) {
    const int32_t a = x[4 * k], b = x[4 * k + 1], c = x[4 * k + 2], d = x[4 * k + 3];
    const int8_t* w = packed + k * wide * 4;
    for (int64_t o = 0; o < wide; o++) sums[o] += a * w[4 * o] + b * w[4 * o + 1] + c * w[4 * o + 2] + d * w[4 * o + 3];
  }
}

#ifdef VNNI
template <int blocks>
__attribute__((target("avx512f,avx512vnni"))) static inline void block(
    const uint8_t* x, const int8_t* packed, int64_t wide, int64_t steps, int32_t* sums) {
  __m512i total[blocks];
  for (int i = 0; i < blocks; i++) total[i] = _mm512_setzero_si512();
  for (int64_t k = 0; k < steps; k++) {
    int32_t four;
    std::memcpy(&four, x + 4 * k, 4);
    const __m512i repeated = _mm512_set1_epi32(four);
    for (int i = 0; i < blocks; i++)
      total[i] = _mm512_dpbusd_epi32(total[i], repeated, _mm512_loadu_si512(packed + k * wide * 4 + i * 64));
  }
  for (int i = 0; i < blocks; i++) _mm512_storeu_si512(sums + i * 16, total[i]);
}

__attribute__((target("avx512f,avx512vnni"))) static void products_vnni(
    const uint8_t* x, const int8_t* packed, int64_t wide, int64_t steps, int32_t* sums) {
  int64_t o = 0;
  for (; o + 128 <= wide; o += 128) block<8>(x, packed + o * 4, wide, steps, sums + o);
  for (; o < wide; o += 16) block<1>(x, packed + o * 4, wide, steps, sums + o);
}
#endif

static auto choose() {
#ifdef VNNI
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vnni")) return products_vnni;
#endif
  return products;
}

struct Weight { const int8_t* packed; const int32_t *sums, *zero_points; int64_t out, columns; };

static void corrected(const uint8_t* row, const Weight& w, int32_t x_zero_point, uint8_t* x, int32_t* sums) {
  static const auto multiply = choose();
  const int64_t wide = padded(w.out, 16), steps = padded(w.columns, 4) / 4;
  std::memcpy(x, row, w.columns);
  int32_t of_row = 0;
  for (int64_t k = 0; k < w.columns; k++) of_row += row[k];
  multiply(x, w.packed, wide, steps, sums);
  for (int64_t o = 0; o < w.out; o++)
    sums[o] += w.zero_points[o] * (x_zero_point * (int32_t)w.columns - of_row) - w.sums[o] * x_zero_point;
}

extern "C" void sums(const uint8_t* x, int64_t rows, const int8_t* packed, const int32_t* weight_sums, const int32_t* zero_points,
                     int64_t out, int64_t columns, int32_t x_zero_point, int32_t* result) {
  const Weight w = {packed, weight_sums, zero_points, out, columns};
  std::vector<uint8_t> line(padded(columns, 4));
  std::vector<int32_t> total(padded(out, 16));
  for (int64_t n = 0; n < rows; n++) {
    corrected(x + n * columns, w, x_zero_point, line.data(), total.data());
    std::memcpy(result + n * out, total.data(), out * 4);
  }
}

// `bias` is in units of a sum. `factor` is the worth of a sum in units of the result.
FOR_EACH_CPU static void requantize(const int32_t* sums, int64_t out, const float* bias, const float* factor, int32_t zero_point,
                                    int32_t least, uint8_t* result) {
  for (int64_t o = 0; o < out; o++) {
    const float rounded = std::nearbyintf((static_cast<float>(sums[o]) + bias[o]) * factor[o]) + zero_point;
    const float limited = rounded < least ? least : rounded > 255 ? 255 : rounded;
    result[o] = static_cast<uint8_t>(static_cast<int32_t>(limited));
  }
}

extern "C" void linear(const uint8_t* x, int64_t rows, const int8_t* packed, const int32_t* weight_sums, const int32_t* zero_points,
                       int64_t out, int64_t columns, int32_t x_zero_point, const float* bias, const float* factor,
                       int32_t zero_point, int32_t least, uint8_t* result) {
  const Weight w = {packed, weight_sums, zero_points, out, columns};
  std::vector<uint8_t> line(padded(columns, 4));
  std::vector<int32_t> total(padded(out, 16));
  for (int64_t n = 0; n < rows; n++) {
    corrected(x + n * columns, w, x_zero_point, line.data(), total.data());
    requantize(total.data(), out, bias, factor, zero_point, least, result + n * out);
  }
}
"""


@cache
def library() -> ctypes.CDLL | None:
    """The compiled kernel, or None on a machine without a compiler."""
    try:
        command = [compiler(), *FLAGS, "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off", "kernel.cpp"]
    except RuntimeError:
        return None
    name = hashlib.sha256("\0".join([SOURCE, *command]).encode()).hexdigest()[:24]
    return ctypes.CDLL(str(compiled(name, command, {"kernel.cpp": SOURCE})))


class PackedWeight:
    """A weight, int8, (out, columns), with its zero points, int32, (out,), in the order in which the kernel reads it."""

    def __init__(self, weight: Tensor, zero_points: Tensor) -> None:
        self.out, self.columns = weight.shape
        if library() is None:
            self.weight, self.zero_points = weight, zero_points
            return
        array = np.ascontiguousarray(weight.numpy())
        packed = np.empty(-(-self.out // 16) * 16 * (-(-self.columns // 4) * 4), np.int8)
        row_sums, zeros = np.empty(self.out, np.int32), np.array(zero_points.numpy(), np.int32)
        library().pack(_at(array), _int(self.out), _int(self.columns), _at(packed), _at(row_sums))
        self.arrays = packed, row_sums, zeros
        self.arguments = (*map(_at, self.arrays), _int(self.out), _int(self.columns))


def _at(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


_int = ctypes.c_int64


def sums(x: Tensor, packed: PackedWeight, x_zero_point: int) -> Tensor:
    """The product of two integer matrices without their zero points, int32."""
    if library() is None:
        products = functional.integer_product(x, packed.weight)
        return products + functional.zero_point_corrections(x, packed.weight, x_zero_point, packed.zero_points)
    rows = np.ascontiguousarray(x.numpy())
    result = np.empty((len(rows), packed.out), np.int32)
    library().sums(_at(rows), _int(len(rows)), *packed.arguments, ctypes.c_int32(x_zero_point), _at(result))
    return creation.from_numpy(result)


def linear(
    x: Tensor,
    packed: PackedWeight,
    bias: Tensor | None,
    x_qparams: tuple[float, int],
    weight_scales: Tensor,
    qparams: tuple[float, int],
    relu: bool = False,
) -> Tensor:
    """Compute `functional.linear` with a packed weight."""
    if library() is None:
        weight_qparams = weight_scales, packed.zero_points
        return functional.linear(x, packed.weight, bias, x_qparams, weight_qparams, qparams, relu)
    rows = np.ascontiguousarray(x.numpy())
    unit = weight_scales.numpy() * np.float32(x_qparams[0])
    offsets = np.zeros(packed.out, np.float32) if bias is None else bias.numpy() / unit
    factor, result = unit / np.float32(qparams[0]), np.empty((len(rows), packed.out), np.uint8)
    library().linear(
        _at(rows), _int(len(rows)), *packed.arguments, ctypes.c_int32(x_qparams[1]), _at(offsets), _at(factor),
        ctypes.c_int32(qparams[1]), ctypes.c_int32(qparams[1] if relu else 0), _at(result),
    )  # fmt: skip
    return creation.from_numpy(result)
