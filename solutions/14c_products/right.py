"""Correct answers to lab 14c in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

import math

import numpy as np

import rushlight as rl
from rushlight.aten.native.cuda import blas
from rushlight.aten.native.cuda.blas import LOAD_TILE, Matrix
from rushlight.aten.native.cuda.loops import device_pointer, launch_blocks
from rushlight.course.predictions import TILES

# What a product asks of memory


def bytes_of_product__tile_by_tile(m, n, k, tile_m, tile_n):
    heights = [min(tile_m, m - row) for row in range(0, m, tile_m)]
    widths = [min(tile_n, n - column) for column in range(0, n, tile_n)]
    loads = sum((height + width) * k for height in heights for width in widths)
    nbytes = 4 * (loads + m * n)
    return nbytes, m * n * k / (nbytes / 2)


def bytes_of_product__rounded_up(m, n, k, tile_m, tile_n):
    of_a = math.ceil(n / tile_n) * k * m
    of_b = math.ceil(m / tile_m) * k * n
    total = of_a * 4 + of_b * 4 + m * n * 4
    return [total, (2 * m * n * k) / total]


def product_source__one_expression():
    return r"""
__global__ void product(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ out, int m, int n, int k)
{
    const unsigned col = blockDim.x * blockIdx.x + threadIdx.x;
    const unsigned row = blockDim.y * blockIdx.y + threadIdx.y;
    if (row < m && col < n) {
        float acc = 0.f;
        for (int i = k - 1; i >= 0; --i) acc = fmaf(a[row * k + i], b[i * n + col], acc);
        out[row * n + col] = acc;
    }
}
"""


def product_source__with_pointers():
    return r"""
__device__ float dot(const float* row, const float* column, int n, int k) {
  float sum = 0;
  const float* end = row + k;
  while (row != end) {
    sum += *row++ * *column;
    column += n;
  }
  return sum;
}
__global__ void product(const float* a, const float* b, float* out, int m, int n, int k) {
  for (int row = blockIdx.y * blockDim.y + threadIdx.y; row < m; row += gridDim.y * blockDim.y)
    for (int column = blockIdx.x * blockDim.x + threadIdx.x; column < n; column += gridDim.x * blockDim.x)
      out[(long long)row * n + column] = dot(a + (size_t)row * k, b + column, n, k);
}
"""


def product_source__a_template():
    return r"""
#define AT(matrix, ld, i, j) (matrix)[(i) * (ld) + (j)]
template <class T> struct Sum { T value = 0; __device__ void add(T x, T y) { value += x * y; } };
extern "C" __global__ void product(const float* a, const float* b, float* out, int m, int n, int k) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= m) return;
  if (j >= n) return;
  Sum<float> sum;
#pragma unroll 4
  for (int l = 0; l < k; l++) sum.add(AT(a, k, i, l), AT(b, n, l, j));
  AT(out, n, i, j) = sum.value;
}
"""


# Tiles


def transpose_source__rotated():
    return r"""
__global__ void transpose(const float* a, float* out, int rows, int columns) {
  __shared__ float tile[32][32];
  const int x = threadIdx.x, i0 = blockIdx.y * 32, j0 = blockIdx.x * 32;
#pragma unroll
  for (int step = 0; step < 4; step++) {
    int y = threadIdx.y + 8 * step;
    if (i0 + y < rows && j0 + x < columns) tile[y][(x + y) % 32] = a[(i0 + y) * columns + j0 + x];
  }
  __syncthreads();
#pragma unroll
  for (int step = 0; step < 4; step++) {
    int y = threadIdx.y + 8 * step;
    if (j0 + y < columns && i0 + x < rows) out[(j0 + y) * rows + i0 + x] = tile[x][(x + y) % 32];
  }
}
"""


def transpose_source__swizzled():
    return r"""
__global__ void transpose(const float* a, float* out, int rows, int columns) {
  __shared__ float tile[32 * 32];
  auto at = [](int i, int j) { return i * 32 + (i ^ j); };
  int x = threadIdx.x, row = blockIdx.y * 32, column = blockIdx.x * 32;
  for (int y = threadIdx.y; y < 32; y += blockDim.y)
    tile[at(y, x)] = row + y < rows && column + x < columns ? a[(row + y) * columns + column + x] : 0.0f;
  __syncthreads();
  for (int y = threadIdx.y; y < 32; y += blockDim.y) {
    if (column + y >= columns || row + x >= rows) continue;
    out[(column + y) * rows + row + x] = tile[at(x, y)];
  }
}
"""


def transpose_source__turned_when_it_is_stored():
    return r"""
constexpr int DIM = 32, ROWS = 8;
__global__ void transpose(const float* a, float* out, int rows, int columns) {
  __shared__ float tile[DIM][DIM + 1];
  int column = blockIdx.x * DIM + threadIdx.x, row = blockIdx.y * DIM + threadIdx.y;
  for (int j = 0; j < DIM; j += ROWS)
    if (column < columns && row + j < rows) tile[threadIdx.x][threadIdx.y + j] = a[(row + j) * columns + column];
  __syncthreads();
  column = blockIdx.y * DIM + threadIdx.x, row = blockIdx.x * DIM + threadIdx.y;
  for (int j = 0; j < DIM; j += ROWS)
    if (column < rows && row + j < columns) out[(row + j) * rows + column] = tile[threadIdx.y + j][threadIdx.x];
}
"""


def product_tiled_source__the_second_barrier_first():
    return r"""
#define T 16
__global__ void product_tiled(const float* a, const float* b, float* out, int m, int n, int k) {
  __shared__ float tile_a[T][T];
  __shared__ float tile_b[T][T];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * T + y, col = blockIdx.x * T + x;
  float sum = 0;
  int steps = (k + T - 1) / T;
  for (int s = 0; s < steps; ++s) {
    if (s > 0) __syncthreads();
    float left = 0, right = 0;
    if (row < m && s * T + x < k) left = a[row * k + s * T + x];
    if (col < n && s * T + y < k) right = b[(s * T + y) * n + col];
    tile_a[y][x] = left;
    tile_b[y][x] = right;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < T; i++) sum += tile_a[y][i] * tile_b[i][x];
  }
  if (row < m && col < n) out[row * n + col] = sum;
}
"""


def product_tiled_source__only_what_is_there():
    return r"""
template <int T> __device__ float step_of(const float (&u)[T][T], const float (&v)[T][T], int x, int y, int count) {
  float sum = 0;
  for (int i = 0; i < count; i++) sum += u[y][i] * v[i][x];
  return sum;
}
__global__ void product_tiled(const float* a, const float* b, float* out, int m, int n, int k) {
  __shared__ float u[16][16], v[16][16];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * blockDim.y + y, column = blockIdx.x * blockDim.x + x;
  bool has = row < m && column < n;
  float sum = 0;
  for (int first = 0; first < k; first += 16) {
    int count = min(16, k - first);
    if (row < m && x < count) u[y][x] = a[row * k + first + x];
    if (column < n && y < count) v[y][x] = b[(first + y) * n + column];
    __syncthreads();
    if (has) sum += step_of(u, v, x, y, count);
    __syncthreads();
  }
  if (has) out[row * n + column] = sum;
}
"""


def product_tiled_source__flat():
    return r"""
__global__ void product_tiled(const float* a, const float* b, float* out, int m, int n, int k) {
  __shared__ float tiles[512];
  float *u = tiles, *v = tiles + 256, sum = 0;
  int t = threadIdx.y * 16 + threadIdx.x, row = blockIdx.y * 16 + t / 16, column = blockIdx.x * 16 + t % 16;
  int first = 0;
  while (first < k) {
    u[t] = row < m && first + t % 16 < k ? __ldg(&a[row * k + first + t % 16]) : 0;
    v[t] = column < n && first + t / 16 < k ? __ldg(&b[(first + t / 16) * n + column]) : 0;
    __syncthreads();
    for (int i = 0; i < 16; i++) sum = fmaf(u[t / 16 * 16 + i], v[16 * i + t % 16], sum);
    first += 16;
    __syncthreads();
  }
  if (row < m && column < n) out[row * n + column] = sum;
}
"""


def faulty_line__looked_up(program):
    if program in ("padded", "rotated", "a product", "two buffers"):
        return None
    wanted = {
        "example": "tile[x][y];", "padded by two": "tile[x][y];", "stored by columns": "tile[x][y] =", "straight out": "out[x",
        "one barrier": "sum +=", "too early": "sum +=", "rows of b": "b[x", "columns of b": "sum +=",
    }[program]  # fmt: skip
    return next(number for number, line in enumerate(TILES[program].splitlines(), 1) if wanted in line)


def faulty_line__by_cases(program):
    match program:
        case "stored by columns":
            return 4
        case "example" | "padded by two" | "straight out":
            return 6
        case "too early" | "rows of b":
            return 7
        case "one barrier":
            return 8
        case "columns of b":
            return 9
    return None


# What a multiprocessor has room for


def occupancy__limit_by_limit(threads, registers, shared_bytes):
    warps = math.ceil(threads / 32)
    limits = {"warps": 64 // warps, "blocks": 32}
    limits["shared"] = 228 * 1024 // (math.ceil((1024 + shared_bytes) / 128) * 128)
    of_partition = 16384 // (math.ceil(registers * 32 / 256) * 256)
    limits["registers"] = 4 * of_partition // warps
    blocks = min(limits.values())
    return blocks, warps * blocks


def occupancy__one_block_after_the_other(threads, registers, shared_bytes):
    warps, blocks = (threads + 31) // 32, 0
    of_warp, of_block = (registers + 7) // 8 * 256, (shared_bytes + 127) // 128 * 128 + 1024
    while blocks < 32 and (blocks + 1) * warps <= min(64, 4 * (16384 // of_warp)) and (blocks + 1) * of_block <= 233472:
        blocks += 1
    return [blocks, blocks * warps]


# Blocks in registers


def product_blocked_source__vectors_of_both():
    return (
        LOAD_TILE
        + r"""
__global__ void __launch_bounds__(256)
product_blocked(Matrix a, Matrix b, const float* bias, float* out, int m, int n, int k, int relu) {
  __shared__ __align__(16) float tile_a[8][68];
  __shared__ __align__(16) float tile_b[8][68];
  const int x = threadIdx.x, y = threadIdx.y;
  float sum[4][4];
#pragma unroll
  for (int p = 0; p < 4; p++)
#pragma unroll
    for (int q = 0; q < 4; q++) sum[p][q] = 0;
  for (int first = 0; first < k; first += 8) {
    load_tile(tile_a, a, a.transposed != 0, m, k, 64 * blockIdx.y, first);
    load_tile(tile_b, b, b.transposed == 0, n, k, 64 * blockIdx.x, first);
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 8; j++) {
      float4 u = ((const float4*)tile_a[j])[y], v = ((const float4*)tile_b[j])[x];
      const float us[4] = {u.x, u.y, u.z, u.w}, vs[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
      for (int i = 0; i < 16; i++) sum[i / 4][i % 4] += us[i / 4] * vs[i % 4];
    }
    __syncthreads();
  }
  for (int p = 0; p < 4; p++) {
    int i = 64 * blockIdx.y + 4 * y + p;
    if (i >= m) break;
    for (int q = 0; q < 4; q++) {
      int j = 64 * blockIdx.x + 4 * x + q;
      if (j >= n) break;
      float v = sum[p][q] + bias[j];
      out[i * n + j] = relu ? fmaxf(v, 0.0f) : v;
    }
  }
}
"""
    )


def product_blocked_source__single_loads():
    return (
        LOAD_TILE
        + r"""
__global__ void product_blocked(Matrix a, Matrix b, const float* bias, float* out, int m, int n, int k, int relu) {
  __shared__ float tile_a[8][68], tile_b[8][68];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 64 + y, column = blockIdx.x * 64 + x;
  float sum[16], of_bias[4];
  for (float& s : sum) s = 0;
  for (int q = 0; q < 4; q++) of_bias[q] = column + 16 * q < n ? bias[column + 16 * q] : 0;
  for (int first = 0; first < k; first += 8) {
    if (first) __syncthreads();
    load_tile(tile_a, a, a.transposed, m, k, row - y, first);
    load_tile(tile_b, b, 1 - b.transposed, n, k, column - x, first);
    __syncthreads();
    for (int j = 0; j < 8; j++) {
      float u[4], v[4];
      for (int p = 0; p < 4; p++) u[p] = tile_a[j][y + 16 * p], v[p] = tile_b[j][x + 16 * p];
      for (int p = 0; p < 4; p++)
        for (int q = 0; q < 4; q++) sum[4 * p + q] = fmaf(u[p], v[q], sum[4 * p + q]);
    }
  }
  for (int p = 0; p < 4; p++)
    for (int q = 0; q < 4; q++)
      if (row + 16 * p < m && column + 16 * q < n) {
        float result = sum[4 * p + q] + of_bias[q];
        if (relu && !(result > 0)) result = 0;
        out[(row + 16 * p) * n + column + 16 * q] = result;
      }
}
"""
    )


def product_blocked_source__its_own_tiles():
    """Without `load_tile`, with vectors of the output where its rows begin at multiples of 16 bytes."""
    return (
        LOAD_TILE
        + r"""
__device__ float element(Matrix x, int i, int j) { return x.elements[x.transposed ? j * x.ld + i : i * x.ld + j]; }

__global__ void product_blocked(Matrix a, Matrix b, const float* bias, float* out, int m, int n, int k, int relu) {
  __shared__ __align__(16) float u[8 * 68], v[8 * 68];
  int t = threadIdx.x + 16 * threadIdx.y, row = 64 * blockIdx.y, column = 64 * blockIdx.x;
  float4 sum[4] = {};
  for (int first = 0; first < k; first += 8) {
    for (int e = t; e < 512; e += 256) {
      int i = a.transposed ? e % 64 : e / 8, j = a.transposed ? e / 64 : e % 8;
      u[68 * j + i] = row + i < m && first + j < k ? element(a, row + i, first + j) : 0;
      i = b.transposed ? e / 8 : e % 64, j = b.transposed ? e % 8 : e / 64;
      v[68 * j + i] = column + i < n && first + j < k ? element(b, first + j, column + i) : 0;
    }
    __syncthreads();
    for (int j = 0; j < 8; j++) {
      float4 w = *(float4*)(v + 68 * j + 4 * threadIdx.x), l = *(float4*)(u + 68 * j + 4 * threadIdx.y);
      float of_a[] = {l.x, l.y, l.z, l.w};
      for (int p = 0; p < 4; p++) {
        sum[p].x += of_a[p] * w.x; sum[p].y += of_a[p] * w.y; sum[p].z += of_a[p] * w.z; sum[p].w += of_a[p] * w.w;
      }
    }
    __syncthreads();
  }
  for (int p = 0; p < 4; p++) {
    int i = row + 4 * threadIdx.y + p, j = column + 4 * threadIdx.x;
    if (i >= m || j >= n) continue;
    float of[] = {sum[p].x, sum[p].y, sum[p].z, sum[p].w};
    for (int q = 0; q < 4 && j + q < n; q++) {
      of[q] += bias[j + q];
      if (relu) of[q] = max(of[q], 0.0f);
    }
    if (n % 4 == 0) *(float4*)(out + i * n + j) = make_float4(of[0], of[1], of[2], of[3]);
    else for (int q = 0; q < 4 && j + q < n; q++) out[i * n + j + q] = of[q];
  }
}
"""
    )


# Fragments


def fragment_position__by_bits(lane, register):
    pair, lower, right = register & 1, register >> 1 & 1, register >> 2 & 1
    return (lane >> 2) | lower << 3, pair | (lane & 3) << 1 | right << 3


def fragment_position__looked_up(lane, register):
    numbered = np.arange(256).reshape(8, 4, 2, 2, 2).transpose(3, 0, 2, 1, 4).reshape(16, 16)
    rows, columns = np.nonzero(numbered == lane * 8 + register)
    return [int(rows[0]), int(columns[0])]


# Products of tensors


def prepare_matrix__a_tuple(x):
    (rows, columns), (down, right) = x.shape, x.stride()
    if not x.is_contiguous():
        if down == 1 and right >= rows and right > 0:
            return x, right, True
        if not (right == 1 and down >= columns and down > 0):
            x = x.clone().contiguous()
    return x, x.stride()[0], False


def prepare_matrix__by_the_transpose(x):
    for y, transposed in ((x, False), (x.t(), True), (x, False)):
        is_strided = y.stride(1) == 1 and y.stride(0) >= max(1, y.shape[1])
        if y.is_contiguous() and y is x or is_strided and (transposed or x.stride(0) != 1 or x.stride(1) < x.shape[0]):
            return Matrix(tensor=x, ld=y.stride(0), transposed=transposed)
    copy = rl.empty(x.shape).copy_(x)
    return Matrix(copy, copy.stride(0), False)


def addmm__step_by_step(bias, a, b, relu=False):
    m, k = a.shape
    k, n = b.shape
    out = rl.empty(m, n)
    if out.numel() > 0:
        left, right = blas.prepare_matrix(a), blas.prepare_matrix(b)
        launch_blocks(
            blas.product_blocked_source(),
            "product_blocked",
            ((n + 63) // 64, (m + 63) // 64),
            (16, 16),
            (device_pointer(left.tensor)[0], left.ld, 1 if left.transposed else 0),
            (device_pointer(right.tensor)[0], right.ld, 1 if right.transposed else 0),
            device_pointer(bias if bias.stride(0) == 1 else bias.contiguous())[0],
            device_pointer(out)[0],
            m,
            n,
            k,
            1 if relu else 0,
        )
    return out


def addmm__zeros_first(bias, a, b, relu=False):
    out = rl.zeros(a.shape[0], b.shape[1])
    if 0 in out.shape:
        return out
    matrices = []
    for x in (a, b):
        x, ld, transposed = blas.prepare_matrix(x)
        matrices.append((device_pointer(x)[0], ld, int(transposed)))
    bias = bias.clone().contiguous()
    grid = tuple(math.ceil(size / blas.TILE) for size in out.shape[::-1])
    sizes = (*out.shape, a.shape[1])
    text = blas.product_blocked_source()
    arrays = [device_pointer(x)[0] for x in (bias, out)]
    launch_blocks(text, "product_blocked", grid, (16, 16), *matrices, *arrays, *sizes, int(relu))
    return out
