"""Products of matrices on a GPU: their kernels in CUDA C++, and what a multiprocessor has room for.

A product needs each element of its operands many times. A block loads a tile of each operand into shared memory, once for all of
its threads, and a thread keeps 16 elements of the output in registers. Operands may be views: a matrix whose rows or columns are
contiguous is read as it is, and any other one is copied. In PyTorch: `aten/src/ATen/native/cuda/Blas.cpp` prepares the operands,
and `aten/src/ATen/cuda/CUDABlas.cpp` calls cuBLAS. CUTLASS publishes such kernels:
`include/cutlass/gemm/threadblock/default_mma_core_simt.h`. Left out: dtypes other than float32, batches, tensor cores, `alpha` and
`beta`, and matrices that are too large for 32-bit indices.
"""

from __future__ import annotations

from typing import NamedTuple

from rushlight.aten.native.cuda.loops import device_pointer, launch_blocks
from rushlight.aten.strided import Tensor

# What a product asks of memory ---------------------------------------------------------------------------------------


def bytes_of_product(m: int, n: int, k: int, tile_m: int, tile_n: int) -> tuple[int, float]:
    """The bytes of global memory that a product by tiles loads and stores, and the operations for each of these bytes.

    The product of an (m, k) and a (k, n) matrix of float32 numbers is computed in tiles of `tile_m` x `tile_n` elements, by a block
    of threads each. Tiles at the edges are smaller if the sizes are no multiples. A block loads each element that its tile is
    computed from once, and stores its tile. A multiplication and the addition of its result are two operations.

    >>> bytes_of_product(64, 64, 64, 1, 1), bytes_of_product(64, 64, 64, 16, 16)
    ((2113536, 0.24806201550387597), (147456, 3.5555555555555554))

    Args:
        m, n, k, tile_m, tile_n: 1 or more.

    Returns:
        bytes, and operations for each byte.

    Source: CUTLASS, `media/docs/cpp/efficient_gemm.md`, "Threadblock-level GEMM".
    """
    nbytes = 4 * (m * k * -(-n // tile_n) + k * n * -(-m // tile_m) + m * n)
    return nbytes, 2 * m * n * k / nbytes


def product_source() -> str:
    """The text of a kernel that multiplies two matrices, a thread for each element of the output:

        __global__ void product(const float* a, const float* b, float* out, int m, int n, int k)

    `a` is (m, k), `b` is (k, n) and `out` is (m, n), all in order of rows, without gaps. Grid and block have two dimensions, x
    along the columns of `out` and y along its rows. There are enough threads, and perhaps more. If `k` is 0, the output is 0. No
    element beyond the matrices is read or written.

    The budget: a thread loads each element that it needs once, and stores its element once. Neighbouring threads along x compute
    neighbouring columns.

    Source: the CUDA C++ programming guide, "Shared Memory", the first `MatMulKernel`.
    """
    return r"""
__global__ void product(const float* a, const float* b, float* out, int m, int n, int k) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int i = 0; i < k; i++) sum += a[row * k + i] * b[i * n + column];
  out[row * n + column] = sum;
}
"""


# Tiles in shared memory ----------------------------------------------------------------------------------------------


def transpose_source() -> str:
    """The text of a kernel that transposes a matrix through shared memory:

        __global__ void transpose(const float* a, float* out, int rows, int columns)

    `a` is (rows, columns), `out` is (columns, rows), both in order of rows. A block has 32 x 8 threads and transposes a tile of
    32 x 32 elements: `blockIdx.x` counts the tiles along the columns of `a`, `blockIdx.y` along its rows. The grid has a block for
    each tile. No element beyond the matrices is read or written.

    The budget: each element is loaded and stored once, both by warps whose lanes have neighbouring elements. Loads and stores of
    shared memory have no conflicts, a block has 33 * 32 floats of it at most, and one barrier.

    Source: none in ATen, where a copy of a transposed matrix is the strided kernel of `loops`. The kernels of Inductor have such
    tiles: `torch/_inductor/codegen/triton.py`, with `XBLOCK` and `YBLOCK`.
    """
    return r"""
__global__ void transpose(const float* a, float* out, int rows, int columns) {
  __shared__ float tile[32][33];
  int x = threadIdx.x, row = blockIdx.y * 32, column = blockIdx.x * 32;
  for (int y = threadIdx.y; y < 32; y += 8)
    if (row + y < rows && column + x < columns) tile[y][x] = a[(row + y) * columns + column + x];
  __syncthreads();
  for (int y = threadIdx.y; y < 32; y += 8)
    if (column + y < columns && row + x < rows) out[(column + y) * rows + row + x] = tile[x][y];
}
"""


def product_tiled_source() -> str:
    """The text of a kernel that multiplies two matrices by tiles in shared memory:

        __global__ void product_tiled(const float* a, const float* b, float* out, int m, int n, int k)

    The matrices are those of `product`. A block has 16 x 16 threads and computes 16 x 16 elements. The grid has just enough
    blocks. Along `k` the kernel goes in steps of 16: the threads load a tile of 16 x 16 elements of `a` and one of `b` into shared
    memory, wait, add 16 products each, and wait again. Elements beyond the matrices are 0 in a tile, and not loaded.

    The budget: a block loads each element that it needs once, and stores each element once, all coalesced. It has two barriers in
    each step at most, two loads from shared memory for each product, no bank conflicts, and 2 * 16 * 16 floats of shared memory.

    Source: the CUDA C++ programming guide, "Shared Memory", the second `MatMulKernel`.
    """
    return r"""
__global__ void product_tiled(const float* a, const float* b, float* out, int m, int n, int k) {
  __shared__ float tile_a[16][16], tile_b[16][16];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
  float sum = 0;
  for (int first = 0; first < k; first += 16) {
    tile_a[y][x] = row < m && first + x < k ? a[row * k + first + x] : 0;
    tile_b[y][x] = first + y < k && column < n ? b[(first + y) * n + column] : 0;
    __syncthreads();
    for (int i = 0; i < 16; i++) sum += tile_a[y][i] * tile_b[i][x];
    __syncthreads();
  }
  if (row < m && column < n) out[row * n + column] = sum;
}
"""


# What a multiprocessor has room for ----------------------------------------------------------------------------------


def occupancy(threads: int, registers: int, shared_bytes: int) -> tuple[int, int]:
    """The blocks of a kernel that a multiprocessor of compute capability 9.0 runs at the same time, and their warps.

    It has room for 64 warps, for 32 blocks, for 64 Ki registers and for 228 KiB of shared memory. A block begins only if there is
    room for all of it.

    - A block has a whole number of warps.
    - A warp has its registers in one of four partitions, with 16 Ki registers each. It gets `registers` for each of 32 lanes,
      rounded up to a multiple of 256. So a partition has room for a whole number of warps. The warps of a block may be in different
      partitions.
    - A block gets 1 KiB of shared memory more than it asks for. The sum is rounded up to a multiple of 128 bytes.

    >>> occupancy(256, 32, 2048), occupancy(256, 63, 8192)
    ((8, 64), (4, 32))

    Args:
        threads: of a block, 1 to 1024.
        registers: of a thread, 1 to 255.
        shared_bytes: of a block, at most 227 KiB.

    Returns:
        blocks and warps. Both are 0 if there is no room for one block: such a launch is an error.

    Source: `cudaOccupancyMaxActiveBlocksPerMultiprocessor`; the CUDA C++ programming guide, "Technical Specifications per Compute
    Capability".
    """
    warps = -(-threads // 32)
    registers_of_warp = -(-32 * registers // 256) * 256
    shared = -(-(shared_bytes + 1024) // 128) * 128
    warps_with_registers = 4 * ((1 << 14) // registers_of_warp)
    blocks = min(64 // warps, 32, warps_with_registers // warps, (228 << 10) // shared)
    return blocks, blocks * warps


# Blocks in registers -------------------------------------------------------------------------------------------------

TILE = 64  # rows and columns of the output for a block of 16 x 16 threads
LOAD_TILE = r"""
struct Matrix {
  const float* elements;
  int ld;          // the distance from a row to the next one, in elements
  int transposed;  // the columns are contiguous, and `ld` is the distance from a column to the next one
};

// A block of 16 x 16 threads loads 64 x 8 elements. tile[j][i] is element first + i along the dimension of `size` elements, and
// first_k + j along that of `k`, or 0 beyond the matrix. Elements are neighbours in memory along `size`, or else along `k`.
__device__ void load_tile(float tile[8][68], Matrix x, bool neighbours_along_size, int size, int k, int first, int first_k) {
  for (int e = threadIdx.y * 16 + threadIdx.x; e < 64 * 8; e += 256) {
    int i = neighbours_along_size ? e % 64 : e / 8, j = neighbours_along_size ? e / 64 : e % 8;
    int at = neighbours_along_size ? (first_k + j) * x.ld + first + i : (first + i) * x.ld + first_k + j;
    tile[j][i] = first + i < size && first_k + j < k ? x.elements[at] : 0;
  }
}
"""


def product_blocked_source() -> str:
    """The text of a kernel that multiplies two matrices and adds a bias, by blocks of the output in registers. It begins with the
    text `LOAD_TILE`, which defines `struct Matrix` and `load_tile`:

        __global__ void product_blocked(Matrix a, Matrix b, const float* bias, float* out, int m, int n, int k, int relu)

    `a` is (m, k) and `b` is (k, n). `out` is (m, n) in order of rows, without gaps. `bias` has `n` elements, and `bias[j]` is added
    to each element of column `j`. If `relu` is not 0, negative elements of the result become 0.

    A block has 16 x 16 threads and computes 64 x 64 elements, 16 by each thread. The grid has just enough blocks, x along the
    columns of `out`. Along `k` the kernel goes in steps of 8. If `k` is 0, the product is 0.

    The budget: a block loads each element of `a` and `b` that it needs once, as `load_tile` does it, and a thread loads `bias` once
    for each of its elements at most. A block has 2 * 8 * 68 floats of shared memory at most, two barriers in each step, and no bank
    conflicts. For each index along `k` the loads of a warp from shared memory take 8 wavefronts at most. Neighbouring lanes of a
    warp store elements that are at most 4 columns apart.

    Source: CUTLASS, `include/cutlass/gemm/thread/mma_sm50.h` and `include/cutlass/epilogue/thread/linear_combination_relu.h`;
    `aten/src/ATen/cuda/CUDABlas.cpp`, `gemm_and_bias`, with an epilogue of cuBLASLt.
    """
    return (
        LOAD_TILE
        + r"""
__global__ void product_blocked(Matrix a, Matrix b, const float* bias, float* out, int m, int n, int k, int relu) {
  __shared__ __align__(16) float tile_a[8][68], tile_b[8][68];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 64, column = blockIdx.x * 64;
  float sum[4][4] = {};
  for (int first = 0; first < k; first += 8) {
    load_tile(tile_a, a, a.transposed, m, k, row, first);
    load_tile(tile_b, b, !b.transposed, n, k, column, first);
    __syncthreads();
    for (int j = 0; j < 8; j++) {
      float4 u = *(const float4*)&tile_a[j][4 * y];
      float of_a[4] = {u.x, u.y, u.z, u.w};
      for (int q = 0; q < 4; q++) {
        float of_b = tile_b[j][x + 16 * q];
        for (int p = 0; p < 4; p++) sum[p][q] += of_a[p] * of_b;
      }
    }
    __syncthreads();
  }
  for (int p = 0; p < 4; p++) {
    for (int q = 0; q < 4; q++) {
      int i = row + 4 * y + p, j = column + x + 16 * q;
      if (i >= m || j >= n) continue;
      float result = sum[p][q] + bias[j];
      out[i * n + j] = relu && result < 0 ? 0 : result;
    }
  }
}
"""
    )


# Tensor cores --------------------------------------------------------------------------------------------------------


def fragment_position(lane: int, register: int) -> tuple[int, int]:
    """The row and the column of the element that a lane holds for a product by tensor cores.

    `mma.sync.aligned.m16n8k16` multiplies a (16, 16) matrix of 16-bit floats by a (16, 8) matrix. The warp holds the first one
    distributed over its lanes, 8 elements in each. Two neighbouring elements of a row are in one register of 32 bits.

    >>> fragment_position(0, 1), fragment_position(5, 0)
    ((0, 1), (1, 2))

    Args:
        lane: 0 to 31.
        register: the number of the element within the lane, 0 to 7: `a0` to `a7` in the description of the instruction.

    Returns:
        row and column, 0 to 15.

    Source: PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type", multiplicand A.
    """
    row = lane // 4 + 8 * (register // 2 % 2)
    column = lane % 4 * 2 + register % 2 + 8 * (register // 4)
    return row, column


# Products of tensors -------------------------------------------------------------------------------------------------


class Matrix(NamedTuple):
    """An operand that a kernel can read: its rows are contiguous, or its columns."""

    tensor: Tensor
    ld: int  # the leading dimension: elements from a row to the next one, or from a column to the next one
    transposed: bool  # the columns are contiguous


def prepare_matrix(x: Tensor) -> Matrix:
    """A matrix as a kernel can read it, without a copy if possible.

    The first rule that holds decides:

    - A contiguous tensor is taken as it is.
    - If the stride of dimension 0 is 1, and that of dimension 1 is at least the number of rows, the tensor is taken as it is,
      transposed.
    - If the stride of dimension 1 is 1, and that of dimension 0 is at least the number of columns, the tensor is taken as it is.
    - Else a contiguous copy is taken.

    Args:
        x: a tensor of two dimensions, of any strides.

    Returns:
        the tensor, the stride that is not 1 by these rules, and whether the columns are contiguous.

    Source: `aten/src/ATen/native/cuda/Blas.cpp`, `prepare_matrix_for_cublas`, with rows and columns exchanged, because cuBLAS
    expects contiguous columns.
    """
    (rows, columns), (down, right) = x.shape, x.stride()
    if not x.is_contiguous():
        if down == 1 and right >= rows:
            return Matrix(x, right, True)
        if right != 1 or down < columns:
            return Matrix(x.contiguous(), columns, False)
    return Matrix(x, down, False)


def addmm(bias: Tensor, a: Tensor, b: Tensor, relu: bool = False) -> Tensor:
    """The matrix product of `a` and `b`, plus a bias for each column, by one launch of `product_blocked`.

    Args:
        bias: (n,), of any stride.
        a, b: (m, k) and (k, n), of any strides. They are only read.
        relu: negative elements of the result become 0.

    Returns:
        a new contiguous (m, n) tensor. Without elements it launches nothing.

    Source: `aten/src/ATen/native/cuda/Blas.cpp`, `addmm_out_cuda_impl`.
    """
    (m, k), (_, n) = a.shape, b.shape
    out = a.new_empty(m, n)
    if m * n == 0:
        return out
    operands = [(device_pointer(x)[0], ld, int(transposed)) for x, ld, transposed in map(prepare_matrix, (a, b))]
    pointers = [device_pointer(x)[0] for x in (bias.contiguous(), out)]
    grid = -(-n // TILE), -(-m // TILE)
    text = product_blocked_source()
    launch_blocks(text, "product_blocked", grid, (16, 16), *operands, *pointers, m, n, k, relu)
    return out


def linear(x: Tensor, weight: Tensor, bias: Tensor, relu: bool = False) -> Tensor:
    """`addmm` for each row of `x`, a tensor of any dimensions. `weight` is (n, k).

    Source: `aten/src/ATen/native/Linear.cpp`, `linear`.
    """
    rows = x.reshape(-1, x.shape[-1])
    return addmm(bias, rows, weight.t(), relu).reshape(*x.shape[:-1], weight.shape[0])
