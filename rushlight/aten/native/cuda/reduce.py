"""Kernels whose threads work together: sums of blocks, layer norm and sums of indexed rows, as texts in CUDA C++.

The threads of a block share an array and wait for each other at barriers. The 32 lanes of a warp exchange registers by shuffles.
Threads of different blocks have only atomic operations. In PyTorch: `aten/src/ATen/native/cuda/block_reduce.cuh`,
`aten/src/ATen/native/SharedReduceOps.h`, `aten/src/ATen/native/cuda/layer_norm_kernel.cu` and `Indexing.cu`. Left out: dtypes other
than float32, and reductions over any dimensions, for which PyTorch has `Reduce.cuh`.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

# Shared memory -------------------------------------------------------------------------------------------------------


def wavefronts(itemsize: int, stride: int, offset: int) -> int:
    """The number of wavefronts of a load from shared memory, in which lane `i` of a warp loads element `offset + i * stride`.

    Shared memory has 32 banks, and word `w` of 4 bytes is in bank `w % 32`. In one wavefront each bank serves one word, to all
    lanes that ask for it. Elements of up to 4 bytes are loaded by 32 lanes at once. Wider ones are loaded by groups of neighbouring
    lanes, one group after the other: 16 lanes for 8 bytes, 8 lanes for 16 bytes. If all lanes ask for the same element, two groups
    are served at once. A group needs as many wavefronts as it asks one bank for words, the bank with most of them. The array begins
    in bank 0.

    Args:
        itemsize: bytes of an element: 1, 2, 4, 8 or 16.
        stride, offset: in elements. `stride` may be 0 or negative.

    >>> wavefronts(4, 1, 0), wavefronts(4, 2, 0), wavefronts(8, 1, 0)
    (1, 2, 2)

    Source: the metric `l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld` of Nsight Compute, of one request.
    """
    lanes = min(32, 128 // itemsize)  # that are served together
    groups = 32 // lanes if stride else max(1, 16 // lanes)
    # The first word of each lane is enough: the others follow the same pattern. And so does each group of lanes.
    words = {itemsize * (offset + lane * stride) // 4 for lane in range(lanes)}
    return groups * max(Counter(word % 32 for word in words).values())


# Sums of blocks ------------------------------------------------------------------------------------------------------


def block_sum_source() -> str:
    """The text of a kernel in which each block adds its elements by a tree in shared memory:

        __global__ void block_sums(const float* a, float* sums, int n)

    Thread `t` of block `b` takes element `b * blockDim.x + t` of `a`, or 0 if this number is not below `n`. `sums[b]` becomes the
    sum of the block. Grid and block have one dimension, and `blockDim.x` is a power of two from 1 to 1024. A shared array has its
    size in the text, because the launch gives no dynamic shared memory.

    The budget: each element is loaded once, and there is one store for each block. There are no atomic operations. The accesses of
    shared memory need no more wavefronts than a tree in which each step adds the second half of the elements to the first half.

    Source: `aten/src/ATen/native/cuda/Reduce.cuh`, `ReduceOp::block_x_reduce`.
    """
    return r"""
__global__ void block_sums(const float* a, float* sums, int n) {
  __shared__ float partial[1024];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  partial[t] = i < n ? a[i] : 0;
  __syncthreads();
  for (int k = blockDim.x / 2; k > 0; k /= 2) {
    if (t < k) partial[t] += partial[t + k];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = partial[0];
}
"""


def block_reduce_source() -> str:
    """The text of a function that combines the values of all threads of a block:

        template <class Op> __device__ float block_reduce(float value, Op op, float identity, float* shared)

    `op(x, y)` is an associative and commutative function of two floats, and `op(x, identity)` is `x`. Every thread of the block
    calls `block_reduce`, and every thread gets the result. `blockDim.x` is a multiple of 32, up to 1024, and the block has one
    dimension. `shared` points to 32 floats in shared memory, which hold anything. The caller may call the function again with the
    same `shared` at once, and uses it for nothing else.

    The budget: the lanes of a warp exchange their values by shuffles. The function has at most three barriers, and no shared memory
    of its own. Each warp stores once into `shared` and loads once from it, and one warp may do both once more.

    Source: `aten/src/ATen/native/cuda/block_reduce.cuh`, `BlockReduce`, where only the first thread has the result.
    """
    return r"""
template <class Op> __device__ float block_reduce(float value, Op op, float identity, float* shared) {
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  for (int k = 16; k > 0; k /= 2) value = op(value, __shfl_xor_sync(0xffffffff, value, k));
  if (lane == 0) shared[warp] = value;
  __syncthreads();
  value = lane < warps ? shared[lane] : identity;
  for (int k = 16; k > 0; k /= 2) value = op(value, __shfl_xor_sync(0xffffffff, value, k));
  __syncthreads();  // the next call stores into `shared` again
  return value;
}
"""


SUM_AND_MAXIMUM = r"""
// each thread stores what it gets: the sum of its block and the largest element
__global__ void sum_and_maximum(const float* a, float2* out, int n) {
  __shared__ float shared[32];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = i < n ? a[i] : 0;
  float sum = block_reduce(x, [](float a, float b) { return a + b; }, 0, shared);
  float largest = block_reduce(i < n ? x : -INFINITY, [](float a, float b) { return fmaxf(a, b); }, -INFINITY, shared);
  out[i] = make_float2(sum, largest);
}
"""


# Layer norm ----------------------------------------------------------------------------------------------------------


class Moments(NamedTuple):
    """What Welford's algorithm keeps of some numbers."""

    count: float  # type: ignore[assignment]  # a tuple has a method of this name
    mean: float
    m2: float  # the sum of the squared differences from the mean


def welford_combine(a: Moments, b: Moments) -> Moments:
    """The moments of all numbers of two groups, from the moments of each. A group may be empty: its moments are 0, 0 and 0.

    The means may be far larger than their difference, so nothing is computed from squares of means.

    >>> welford_combine(Moments(2, 1.0, 2.0), Moments(1, 4.0, 0.0))
    Moments(count=3, mean=2.0, m2=8.0)

    Source: `aten/src/ATen/native/SharedReduceOps.h`, `WelfordOps::combine`.
    """
    count, delta = a.count + b.count, b.mean - a.mean
    if count == 0:
        return a
    return Moments(count, a.mean + delta * b.count / count, a.m2 + b.m2 + delta * delta * a.count * b.count / count)


def layer_norm_source() -> str:
    """The text of a kernel that normalises the rows of a matrix, a block for each row:

        __global__ void layer_norm(const float* in, const float* weight, const float* bias, float* out, int columns, float eps)

    Block `r` computes `out[r, c] = (in[r, c] - mean) / sqrt(variance + eps) * weight[c] + bias[c]` for each column `c`. Mean and
    variance are those of row `r`, and the variance divides by `columns`. The rows follow each other without a gap, and there is one
    block for each. `blockDim.x` is a multiple of 32, up to 1024, and may be larger or smaller than `columns`, which is at least 1.

    Each thread collects the moments of its elements one by one, and moments of threads are combined as in `welford_combine`. So a
    mean of 10,000 with a deviation of 1 does not change the digits of the result that matter.

    The budget: a block loads its row at most twice, `weight` and `bias` once, and stores once, all in requests of neighbouring
    elements. The block has at most 128 floats of shared memory, in arrays whose sizes are in the text.

    Source: `aten/src/ATen/native/cuda/layer_norm_kernel.cu`, `RowwiseMomentsCUDAKernel` and `LayerNormForwardCUDAKernel`.
    """
    return r"""
struct Moments { float count, mean, m2; };

__device__ Moments combined(Moments a, Moments b) {
  float count = a.count + b.count, delta = b.mean - a.mean;
  if (count == 0) return a;
  return {count, a.mean + delta * b.count / count, a.m2 + b.m2 + delta * delta * a.count * b.count / count};
}

__device__ Moments over_warp(Moments own) {
  for (int k = 16; k > 0; k /= 2) {
    float count = __shfl_xor_sync(0xffffffff, own.count, k), mean = __shfl_xor_sync(0xffffffff, own.mean, k);
    own = combined(own, {count, mean, __shfl_xor_sync(0xffffffff, own.m2, k)});
  }
  return own;
}

__global__ void layer_norm(const float* in, const float* weight, const float* bias, float* out, int columns, float eps) {
  __shared__ Moments of_warps[32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  long long row = (long long)blockIdx.x * columns;
  Moments own = {0, 0, 0};
  for (int c = threadIdx.x; c < columns; c += blockDim.x) own = combined(own, {1, in[row + c], 0});
  own = over_warp(own);
  if (lane == 0) of_warps[warp] = own;
  __syncthreads();
  Moments none = {0, 0, 0};
  own = over_warp(lane < warps ? of_warps[lane] : none);
  float scale = rsqrtf(own.m2 / columns + eps);
  for (int c = threadIdx.x; c < columns; c += blockDim.x) out[row + c] = (in[row + c] - own.mean) * scale * weight[c] + bias[c];
}
"""


# Sums of indexed rows ------------------------------------------------------------------------------------------------


def index_add_source() -> str:
    """The text of a kernel that adds each row of `source` to the row of `out` that `index` names:

        __global__ void index_add(float* out, const long long* index, const float* source, int rows, int columns)

    `source` has `rows` rows and `columns` columns, and `out` has as many columns. Row `r` of `source` is added to row `index[r]` of
    `out`, and several rows of `source` may be added to one row. All indices are in range. Thread `i` works on element `i` of
    `source`. There are `rows * columns` threads or more, in one dimension, and the product fits an `int`.

    The budget: each element of `source` is loaded once, by neighbouring threads, and is added by one atomic operation. A thread
    loads one index. `out` is neither loaded nor stored.

    Source: `aten/src/ATen/native/cuda/Indexing.cu`, `indexFuncLargeIndex`.
    """
    return r"""
__global__ void index_add(float* out, const long long* index, const float* source, int rows, int columns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * columns) atomicAdd(out + index[i / columns] * columns + i % columns, source[i]);
}
"""
