"""Softmax on a GPU: three kernels, as texts in CUDA C++, and the choice among them.

If the last dimension is short, a warp keeps a row in its registers. If it is long, a block works on a row, and if softmax runs over
another dimension, a thread works on a column. In PyTorch: `aten/src/ATen/native/cuda/PersistentSoftmax.cuh` and `SoftMax.cu`. Left
out: dtypes other than float32, log_softmax, rows shorter than a warp that share one, rows of 1025 to 2048 elements in a warp, and
vectors in the kernel of a block.
"""

from __future__ import annotations

import math

from rushlight.aten.native.cuda.loops import device_pointer, launch, launch_blocks
from rushlight.aten.native.cuda.reduce import block_reduce_source
from rushlight.aten.strided import Tensor
from rushlight.c10.storage import UntypedStorage

WARPS = 4  # of a block of `softmax_warp`
LARGEST_BLOCK = 1024  # threads of a block of `softmax_block`


def softmax_warp_source() -> str:
    """The text of a kernel that computes softmax of the rows of a matrix, a warp for each row:

        __global__ void softmax_warp(const float* in, float* out, int rows, int columns)

    `out[r, c]` becomes `exp(in[r, c] - m) / s`, where `m` is the largest element of row `r`, and `s` the sum of `exp(in[r, c] - m)`
    over the row. Some elements may be `-INFINITY`, but not all of a row. `columns` is from 1 to 1024. The rows follow each other
    without a gap, and the matrix has fewer than 2 ** 31 elements. A block has two dimensions: `blockDim.x` is 32, and `blockDim.y`
    is its number of warps, 1 to 32. The grid has one dimension. The warp `threadIdx.y` of block `b` works on row
    `b * blockDim.y + threadIdx.y`, if there is one.

    The budget: each element is loaded once and stored once, by neighbouring lanes, and stays in registers between. So a lane has an
    array of up to 32 elements. Lanes exchange values by shuffles. There is no shared memory and no barrier.

    Source: `aten/src/ATen/native/cuda/PersistentSoftmax.cuh`, `softmax_warp_forward`, which has an instance for each power of two.
    """
    return r"""
__global__ void softmax_warp(const float* in, float* out, int rows, int columns) {
  int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
  if (row >= rows) return;
  float x[32], largest = -INFINITY, sum = 0;
  for (int k = 0; k < 32; k++) {
    int c = lane + 32 * k;
    x[k] = c < columns ? in[row * columns + c] : -INFINITY;
    largest = fmaxf(largest, x[k]);
  }
  for (int k = 16; k > 0; k /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, k));
  for (int k = 0; k < 32; k++) {
    x[k] = expf(x[k] - largest);
    sum += x[k];
  }
  for (int k = 16; k > 0; k /= 2) sum += __shfl_xor_sync(0xffffffff, sum, k);
  for (int k = 0; k < 32; k++) {
    int c = lane + 32 * k;
    if (c < columns) out[row * columns + c] = x[k] / sum;
  }
}
"""


def softmax_block_source() -> str:
    """The text of a kernel that computes softmax of rows of any length, a block for each row:

        __global__ void softmax_block(const float* in, float* out, int columns)

    It begins with `block_reduce_source()`. `blockDim.x` is a multiple of 32. Each element is loaded three times.

    Source: `aten/src/ATen/native/cuda/SoftMax.cu`, `cunn_SoftMaxForward`.
    """
    return (
        block_reduce_source()
        + r"""
__global__ void softmax_block(const float* in, float* out, int columns) {
  __shared__ float shared[32];
  in += (long long)blockIdx.x * columns, out += (long long)blockIdx.x * columns;
  float largest = -INFINITY, sum = 0;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) largest = fmaxf(largest, in[c]);
  largest = block_reduce(largest, [](float a, float b) { return fmaxf(a, b); }, -INFINITY, shared);
  for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += expf(in[c] - largest);
  sum = block_reduce(sum, [](float a, float b) { return a + b; }, 0, shared);
  for (int c = threadIdx.x; c < columns; c += blockDim.x) out[c] = expf(in[c] - largest) / sum;
}
"""
    )


def softmax_spatial_source() -> str:
    """The text of a kernel that computes softmax over the middle dimension of a contiguous tensor of sizes (outer, columns, inner):

        __global__ void softmax_spatial(const float* in, float* out, int outer, int columns, int inner)

    There are `outer * inner` threads or more, in one dimension. Each of them works on one column, and neighbouring threads on
    neighbouring columns.

    Source: `aten/src/ATen/native/cuda/SoftMax.cu`, `cunn_SpatialSoftMaxForward`.
    """
    return r"""
__global__ void softmax_spatial(const float* in, float* out, int outer, int columns, int inner) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= outer * inner) return;
  long long first = (long long)(i / inner) * columns * inner + i % inner;
  in += first, out += first;
  float largest = -INFINITY, sum = 0;
  for (int c = 0; c < columns; c++) largest = fmaxf(largest, in[(long long)c * inner]);
  for (int c = 0; c < columns; c++) sum += expf(in[(long long)c * inner] - largest);
  for (int c = 0; c < columns; c++) out[(long long)c * inner] = expf(in[(long long)c * inner] - largest) / sum;
}
"""


def empty_like(x: Tensor) -> Tensor:
    """A new contiguous float32 tensor with the sizes of `x`. Its values are NaN, so that one that no kernel sets is seen."""
    strides = [math.prod(max(size, 1) for size in x.shape[d + 1 :]) for d in range(x.dim())]
    return Tensor(UntypedStorage(x.numel() * 4), list(x.shape), strides, 0, x.dtype).fill_(math.nan)


def softmax(x: Tensor, dim: int) -> Tensor:
    """Softmax of a float32 tensor of any sizes and strides over dimension `dim`, by one launch of a kernel.

    The kernels work on contiguous memory, so they get `x.contiguous()`. A tensor without dimensions counts as one of size (1,).
    `outer` is the product of the sizes before `dim`, `columns` the size of `dim`, and `inner` the product of the sizes behind it.

    - A result without elements launches nothing.
    - If `inner` is 1 and `columns` at most 1024, the kernel is `softmax_warp`. Its blocks have `WARPS` warps, as threads of sizes
      (32, `WARPS`), and there are as many blocks as the rows need.
    - If `inner` is 1 and rows are longer, the kernel is `softmax_block`, with a block of `LARGEST_BLOCK` threads for each row.
    - Otherwise the kernel is `softmax_spatial`, and `launch` is asked for `outer * inner` threads.

    Returns:
        `empty_like(x)`, with the values.

    Raises:
        IndexError: `dim` is out of range, which is from `-x.dim()` to `x.dim() - 1`, and -1 and 0 for a tensor without dimensions.

    Source: `aten/src/ATen/native/cuda/SoftMax.cu`, `host_softmax`; `PersistentSoftmax.cuh`, `dispatch_softmax_forward`.
    """
    sizes = tuple(x.shape) or (1,)
    if not -len(sizes) <= dim < len(sizes):
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-len(sizes)}, {len(sizes) - 1}], but got {dim})"
        )
    dim, out = dim % len(sizes), empty_like(x)
    outer, columns, inner = math.prod(sizes[:dim]), sizes[dim], math.prod(sizes[dim + 1 :])
    if out.numel() == 0:
        return out
    pointers = device_pointer(x.contiguous())[0], device_pointer(out)[0]
    if inner > 1:
        launch(softmax_spatial_source(), "softmax_spatial", outer * inner, *pointers, outer, columns, inner)
    elif columns <= 1024:
        launch_blocks(softmax_warp_source(), "softmax_warp", -(-outer // WARPS), (32, WARPS), *pointers, outer, columns)
    else:
        launch_blocks(softmax_block_source(), "softmax_block", outer, LARGEST_BLOCK, *pointers, columns)
    return out
