"""Products of matrices: the code that a compiled graph calls for `mm`, `addmm` and `bmm`.

A small product is computed in tiles that fit into vector registers. A large product calls the BLAS that numpy has loaded, which
also blocks for caches and uses threads. In PyTorch: `torch/_inductor/codegen/cpp_gemm_template.py` and `cpp_micro_gemm.py`,
`torch/_inductor/select_algorithm.py` (`extern_kernels`). Left out: choosing between the two by measuring.
"""

import math
from dataclasses import replace
from functools import cache

from rushlight.aten.strided import contiguous_strides
from rushlight.inductor.codecache import instructions
from rushlight.inductor.cpp import TYPES
from rushlight.inductor.ir import ExternKernel, ReinterpretView

SMALL = 1 << 23  # multiplications: a larger product calls BLAS
LONGEST = 1024  # elements of a row of the first matrix: with a longer row a stripe of the second leaves the cache
NARROWEST = 8  # columns
STRIPE = 128  # bytes of one row of a stripe: two of the widest vectors

PRODUCTS = """
// A view of a buffer: the steps from matrix to matrix, row to row, column to column.
struct Strides { int64_t matrix, row, column; };

#if defined(__AVX512F__)
constexpr int64_t BYTES = 64, HEIGHT = 8;  // of a vector; rows of a tile, limited by the number of registers
#elif defined(__AVX__)
constexpr int64_t BYTES = 32, HEIGHT = 4;
#else
constexpr int64_t BYTES = 16, HEIGHT = 4;
#endif
template <class T> struct Vector { typedef T type __attribute__((vector_size(BYTES))); };
template <class T> struct Mask { typedef int32_t type __attribute__((vector_size(BYTES))); };
template <> struct Mask<double> { typedef int64_t type __attribute__((vector_size(BYTES))); };
template <class T> constexpr int64_t LANES = BYTES / sizeof(T);

// A tile of the product, ROWS x VECTORS * LANES, stays in registers over the loop of k. Its first `width` columns are stored.
template <class T, int ROWS, int VECTORS, bool WHOLE>
static inline void tile(const T* a, Strides s, const T* b, int64_t b_row, T* out, int64_t out_row, int64_t k, int64_t width) {
  typename Vector<T>::type sums[ROWS][VECTORS] = {};
  for (int64_t p = 0; p < k; p++) {
    typename Vector<T>::type line[VECTORS];
    for (int v = 0; v < VECTORS; v++) memcpy(&line[v], b + p * b_row + v * LANES<T>, sizeof(line[v]));
    for (int i = 0; i < ROWS; i++)
      for (int v = 0; v < VECTORS; v++) sums[i][v] += a[i * s.row + p * s.column] * line[v];
  }
  for (int i = 0; i < ROWS; i++)
    for (int v = 0; v < VECTORS; v++)
      memcpy(out + i * out_row + v * LANES<T>, &sums[i][v], WHOLE ? sizeof(sums[i][v]) : width * sizeof(T));
}

template <class T, int VECTORS, bool WHOLE>
static inline void stripe(const T* a, Strides s, const T* b, int64_t b_row, T* out,
                          int64_t m, int64_t k, int64_t n, int64_t width) {
  int64_t i = 0;
  for (; i + HEIGHT <= m; i += HEIGHT) tile<T, HEIGHT, VECTORS, WHOLE>(a + i * s.row, s, b, b_row, out + i * n, n, k, width);
  for (; i < m; i++) tile<T, 1, VECTORS, WHOLE>(a + i * s.row, s, b, b_row, out + i * n, n, k, width);
}

// A square of LANES rows, transposed in registers: at each step the rows of a pair exchange half of their elements.
template <class T>
static inline void square(const T* from, int64_t from_row, T* to, int64_t to_row) {
  constexpr int L = LANES<T>;
#if defined(__clang__)  // its shuffles need constant masks
  for (int i = 0; i < L; i++)
    for (int j = 0; j < L; j++) to[j * to_row + i] = from[i * from_row + j];
#else
  typename Vector<T>::type rows[L];
  for (int i = 0; i < L; i++) memcpy(&rows[i], from + i * from_row, sizeof(rows[i]));
#pragma GCC unroll 4
  for (int step = 1; step < L; step *= 2) {
    typename Mask<T>::type low, high;
    for (int j = 0; j < L; j++) low[j] = j & step ? (j ^ step) + L : j, high[j] = j & step ? j + L : j | step;
#pragma GCC unroll 16
    for (int i = 0; i < L; i++)
      if (!(i & step)) {
        const auto x = rows[i], y = rows[i | step];
        rows[i] = __builtin_shuffle(x, y, low), rows[i | step] = __builtin_shuffle(x, y, high);
      }
  }
  for (int i = 0; i < L; i++) memcpy(to + i * to_row, &rows[i], sizeof(rows[i]));
#endif
}

// A copy of a k x n view with rows that are contiguous, `row` elements apart.
template <class T>
static void pack_rows(const T* from, Strides s, T* to, int64_t row, int64_t k, int64_t n) {
  const int64_t L = LANES<T>;
  if (row > n) memset(to, 0, k * row * sizeof(T));
  for (int64_t p = 0; p < k; p += L)
    for (int64_t j = 0; j < n; j += L)
      if (s.row == 1 && p + L <= k && j + L <= n) square(from + j * s.column + p, s.column, to + p * row + j, row);
      else
        for (int64_t q = p; q < k && q < p + L; q++)
          for (int64_t i = j; i < n && i < j + L; i++) to[q * row + i] = from[q * s.row + i * s.column];
}

// out = a @ b for `count` matrices, m x k times k x n, stripe by stripe. A stripe has the columns of two vectors, or of one.
template <class T>
static void matmul(const T* a, Strides s, const T* b, Strides t, T* out,
                   int64_t count, int64_t m, int64_t k, int64_t n, T* scratch) {
  const int64_t L = LANES<T>, different = s.row == 0 && m > 1 ? 1 : m;  // if all rows of a are one row, so are the product's
  for (int64_t i = 0; i < count; i++, a += s.matrix, b += t.matrix, out += m * n) {
    for (int64_t j = 0, width; j < n; j += width) {
      width = n - j >= 2 * L ? 2 * L : n - j >= L ? L : n - j;
      const bool copy = t.column != 1 || width < L;
      const int64_t row = copy ? width < L ? L : width : t.row;
      const T* lines = copy ? scratch : b + j;
      if (copy) pack_rows(b + j * t.column, t, scratch, row, k, width);
      if (width == 2 * L) stripe<T, 2, true>(a, s, lines, row, out + j, different, k, n, width);
      else if (width == L) stripe<T, 1, true>(a, s, lines, row, out + j, different, k, n, width);
      else stripe<T, 1, false>(a, s, lines, row, out + j, different, k, n, width);
    }
    for (int64_t copy = different; copy < m; copy++) memcpy(out + copy * n, out, n * sizeof(T));
  }
}

// numpy's loops for matmul. Their parameters are arguments, sizes (matrices, m, k, n), and steps in bytes.
using Loop = void (*)(char**, const intptr_t*, const intptr_t*, void*);
extern "C" { Loop matmul_float = nullptr, matmul_double = nullptr; }
static inline Loop loop(float*) { return matmul_float; }
static inline Loop loop(double*) { return matmul_double; }

template <class T>
static void blas(const T* a, Strides s, const T* b, Strides t, T* out, int64_t count, int64_t m, int64_t k, int64_t n) {
  char* args[] = {(char*)a, (char*)b, (char*)out};
  const intptr_t size = sizeof(T), sizes[] = {count, m, k, n};
  const intptr_t steps[] = {s.matrix * size, t.matrix * size, m * n * size, s.row * size, s.column * size,
                            t.row * size, t.column * size, n * size, size};
  loop(out)(args, sizes, steps, nullptr);
}

// A contiguous copy of a view whose strides BLAS does not accept.
template <class T>
static const T* packed(const T* from, Strides s, T* to, int64_t count, int64_t rows, int64_t columns) {
  T* next = to;
  for (int64_t i = 0; i < count; i++)
    for (int64_t j = 0; j < rows; j++)
      for (int64_t k = 0; k < columns; k++) *next++ = from[i * s.matrix + j * s.row + k * s.column];
  return to;
}

// out = beta * bias + alpha * out
template <class T>
static inline void add_bias(const T* bias, Strides s, T* out, int64_t m, int64_t n, double beta, double alpha) {
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < n; j++)
      out[i * n + j] = (beta == 0 ? 0 : T(beta) * bias[i * s.row + j * s.column]) + T(alpha) * out[i * n + j];
}
"""


def sizes(step: ExternKernel) -> tuple[int, int, int, int]:
    """The number of matrices, and m, k, n."""
    a, b = step.operands[-2:]
    return (1, *a.sizes)[-3], a.sizes[-2], a.sizes[-1], b.sizes[-1]


def is_small(step: ExternKernel) -> bool:
    """Return whether to use tiles: the product is small, and wide enough to fill vectors."""
    _, m, k, n = sizes(step)
    return m * k * n <= SMALL and k <= LONGEST and n >= NARROWEST and has_wide_vectors()


@cache
def has_wide_vectors() -> bool:
    """Return whether the vectors of this machine are wide enough for tiles to be as fast as BLAS."""
    return "avx" in instructions().split()


def call(step: ExternKernel, pool: int) -> tuple[list[str], int]:
    """The C++ lines of a step, and the number of bytes that it needs for copies of operands, at the offset `pool` in the pool."""
    lines, scratch = (tiled_lines if is_small(step) else blas_lines)(step, pool)
    if step.op == "addmm":
        bias, beta, alpha = step.operands[0], step.scalars.get("beta", 1), step.scalars.get("alpha", 1)
        _, m, _, n = sizes(step)
        lines.append(f"add_bias({start(bias)}, {strides(bias)}, {step.output}, {m}, {n}, {beta}, {alpha});")
    return lines, scratch


def tiled_lines(step: ExternKernel, pool: int) -> tuple[list[str], int]:
    """The C++ lines that call the tiled product, and the bytes of scratch memory that it needs."""
    a, b = step.operands[-2:]
    count, m, k, n = sizes(step)
    copied = b.strides[-1] != 1 or n % (STRIPE // 2 // step.dtype.itemsize)  # tiles read rows in whole vectors
    scratch = f"({TYPES[step.dtype]}*)(pool + {pool})" if copied else f"({TYPES[step.dtype]}*)nullptr"
    operands = f"{start(a)}, {strides(a)}, {start(b)}, {strides(b)}, {step.output}"
    return [f"matmul({operands}, {count}, {m}, {k}, {n}, {scratch});"], k * STRIPE if copied else 0


def blas_lines(step: ExternKernel, pool: int) -> tuple[list[str], int]:
    """The C++ lines that call the BLAS, and the bytes of scratch memory that copies of operands need."""
    views, scratch = [], 0
    for operand in step.operands[-2:]:
        text = start(operand)
        if not is_blasable(operand):
            copy = f"({TYPES[step.dtype]}*)(pool + {pool + scratch})"
            text = f"packed({text}, {strides(operand)}, {copy}, {', '.join(map(str, (1, *operand.sizes)[-3:]))})"
            scratch += math.prod(operand.sizes) * step.dtype.itemsize
            operand = replace(operand, strides=tuple(contiguous_strides(operand.sizes)))
        views.append(f"{text}, {strides(operand)}")
    return [f"blas({', '.join(views)}, {step.output}, {', '.join(map(str, sizes(step)))});"], scratch


def is_blasable(operand: ReinterpretView) -> bool:
    """Return whether BLAS accepts a matrix with these strides: 1 in one dimension, and at least a whole row in the other."""
    (rows, columns), (row, column) = operand.sizes[-2:], operand.strides[-2:]
    return (column == 1 and (row >= columns or rows == 1)) or (row == 1 and (column >= rows or columns == 1))


def start(operand: ReinterpretView) -> str:
    """The address of a view's first element, in C++."""
    return f"{operand.buffer} + {operand.offset}" if operand.offset else operand.buffer


def strides(operand: ReinterpretView) -> str:
    """The strides of up to three dimensions, in C++."""
    matrix, row, column = (0, 0, 0, *operand.strides)[-3:]
    return f"Strides{{{matrix}, {row}, {column}}}"
