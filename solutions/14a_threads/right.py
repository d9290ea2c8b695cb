"""Correct answers to lab 14a in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

import itertools
import math

import numpy as np

from rushlight.aten.native.cuda import loops
from rushlight.aten.native.cuda.loops import LOOP, launch, prepare
from rushlight.course.predictions import COALESCING

# What a warp asks of memory


def sectors_per_request__by_numpy(itemsize, stride, offset):
    first = itemsize * (offset + stride * np.arange(32))
    return int(np.unique(first >> 5).size)


def sectors_per_request__sorted(itemsize, stride, offset):
    sectors = sorted(itemsize * (offset + lane * abs(stride)) // 32 for lane in range(32))
    if stride < 0:
        sectors = sorted((itemsize * (offset + lane * stride)) // 32 for lane in range(32))
    return 1 + sum(a != b for a, b in itertools.pairwise(sectors))


def sectors_per_request__every_byte(itemsize, stride, offset):
    touched = set()
    for lane in range(32):
        begin = (offset + lane * stride) * itemsize
        touched |= {byte // 32 for byte in range(begin, begin + itemsize)}
    return len(touched)


def uncoalesced_line__looked_up(program):
    lines = COALESCING[program].splitlines()
    wanted = ("a[2 * i]", "a[i * 64 + k]", "out[x * 1024 + y]", "2 * a[j]", "a[3 * i]")
    found = [number for number, line in enumerate(lines, 1) if any(part in line for part in wanted)]
    return found[0] if found and program != "four apart" else None


def uncoalesced_line__by_cases(program):
    match program:
        case "sums of rows" | "transposed":
            return 4
        case "four in a row":
            return 5
        case "example" | "colours":
            return 3
    return None


# An element for each thread


def add_source__returns_early():
    return """
extern "C" __global__ void add(const float* a, const float* b, float* out, int n)
{
    const unsigned int index = threadIdx.x + blockDim.x * blockIdx.x;
    if (index >= n) return;
    out[index] = a[index] + b[index];
}
"""


def add_source__with_pointers_and_a_template():
    return r"""
#include <cuda_runtime.h>

template <class T>
__device__ __forceinline__ T sum(T x, T y) { return x + y; }

__global__ void __launch_bounds__(1024)
add(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ out, int n) {
  const auto i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  const float *pa = a + i, *pb = b + i;
  if (pa < a + n) *(out + i) = sum<float>(*pa, *pb);
}
"""


def add_source__by_a_loop():
    return r"""
__global__ void add(const float* a, const float* b, float* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = a[i] + b[i];
}
"""


def add_source__from_the_end_of_the_block():
    return r"""
#define INDEX (blockIdx.x * blockDim.x + (threadIdx.x ^ 1))
__global__ void add(const float* a, const float* b, float* out, int n) {
  if (INDEX < n) {
    float x = a[INDEX];
    float y = b[INDEX];
    out[INDEX] = x + y;
  }
}
"""


def add_source__with_the_first_functions():
    return r"""
#include <stdio.h>
#include <math.h>
__global__ void add(const float* a, const float* b, float* out, int n) {
  int i = __umul24(blockIdx.x, blockDim.x) + threadIdx.x;
  if (i < n) __stcs(out + i, __ldcs(a + i) + __ldg(&b[i]));
}
"""


def add_range_source__while():
    return r"""
__global__ void add_range(const float* a, const float* b, float* out, long long begin, long long end) {
  long long i = begin;
  i += blockIdx.x * blockDim.x + threadIdx.x;
  while (i < end) {
    out[i] = a[i] + b[i];
    i += blockDim.x * gridDim.x;
  }
}
"""


def add_range_source__moves_the_pointers():
    return r"""
__global__ void add_range(const float* a, const float* b, float* out, long long begin, long long end) {
  a += begin, b += begin, out += begin;
  const size_t n = end - begin, step = size_t(gridDim.x) * blockDim.x;
  for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    out[i] = a[i] + b[i];
  }
}
"""


def add_range_source__counts_the_steps():
    return r"""
__device__ long long position(long long begin, int step) {
  return begin + ((long long)step * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
}
__global__ void add_range(const float* a, const float* b, float* out, long long begin, long long end) {
  auto sum = [&](long long i) { out[i] = a[i] + b[i]; };
  for (int step = 0; position(begin, step) < end; ++step) sum(position(begin, step));
}
"""


# Any strides


def can_use_32bit_indexing__step_by_step(sizes, operand_strides):
    limit, numel = 2**31 - 1, 1
    for size in sizes:
        numel *= size
    if numel > limit:
        return False
    for strides in operand_strides:
        last = 1
        for size, stride in zip(sizes, strides):
            last += (size - 1) * stride
        if last > limit:
            return False
    return True


def can_use_32bit_indexing__by_numpy(sizes, operand_strides):
    most = np.iinfo(np.int32).max
    ends = [int(np.dot(np.array(sizes, object) - 1, np.array(of, object))) if sizes else 0 for of in operand_strides]
    return bool(max([math.prod(sizes), *(end + 1 for end in ends)]) <= most)


def add_strided_source__three_functions():
    return (
        LOOP
        + r"""
__device__ int distance(const Loop& loop, int k, int i) {
  int sum = 0;
  for (int d = 0; d != loop.dims; ++d) {
    sum += i % (int)loop.sizes[d] * (int)loop.strides[k][d];
    i /= (int)loop.sizes[d];
  }
  return sum;
}

__global__ void add_strided(char* out, const char* a, const char* b, int n, Loop loop) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const float x = *reinterpret_cast<const float*>(a + distance(loop, 1, i));
    const float y = *reinterpret_cast<const float*>(b + distance(loop, 2, i));
    *reinterpret_cast<float*>(out + distance(loop, 0, i)) = x + y;
  }
}
"""
    )


def add_strided_source__with_unrolled_pointers():
    return (
        LOOP
        + r"""
__global__ void add_strided(char* out, const char* a, const char* b, int n, Loop loop) {
  unsigned rest = threadIdx.x + blockIdx.x * blockDim.x, d = 0;
  if (rest >= n) return;
#pragma unroll
  while (d < 25) {
    if (d == loop.dims) break;
    const unsigned next = rest / loop.sizes[d], index = rest - next * loop.sizes[d];
    out += index * loop.strides[0][d];
    a += index * loop.strides[1][d];
    b += index * loop.strides[2][d++];
    rest = next;
  }
  ((float*)out)[0] = ((const float*)a)[0] + ((const float*)b)[0];
}
"""
    )


def add_strided_source__a_class():
    return (
        LOOP
        + r"""
struct Offsets { unsigned of[3]; };
struct OffsetCalculator {
  const Loop& loop;
  __device__ Offsets get(unsigned linear) const {
    Offsets result;
    for (int k = 0; k < 3; k++) result.of[k] = 0;
    for (int d = 0; d < 25; d++) {
      if (d == loop.dims) return result;
      for (int k = 0; k < 3; k++) result.of[k] += linear % loop.sizes[d] * loop.strides[k][d];
      linear /= loop.sizes[d];
    }
    return result;
  }
};
__global__ void add_strided(char* out, const char* a, const char* b, int n, Loop loop) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const Offsets offsets = OffsetCalculator{loop}.get(i);
    float* to = (float*)&out[offsets.of[0]];
    *to = *(float*)&a[offsets.of[1]] + *(float*)&b[offsets.of[2]];
  }
}
"""
    )


# Four elements at once


def can_vectorize_up_to__the_least(itemsize, addresses):
    def width(address):
        if address % (4 * itemsize) == 0:
            return 4
        return 2 if address % (2 * itemsize) == 0 else 1

    return min(map(width, addresses))


def can_vectorize_up_to__by_bits(itemsize, addresses):
    common = math.gcd(4 * itemsize, *addresses)
    return max(common // itemsize, 1)


def add_vectorised_source__in_branches():
    return r"""
__global__ void add_vectorised(const float* a, const float* b, float* out, int n) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  int head = (4 - (size_t)out / 4 % 4) % 4;
  if (head > n) head = n;
  if (thread < head) out[thread] = a[thread] + b[thread];
  a += head; b += head; out += head; n -= head;
  const float4* va = reinterpret_cast<const float4*>(a);
  const float4* vb = reinterpret_cast<const float4*>(b);
  if (thread < n / 4) {
    float4 v = va[thread], w = vb[thread];
    v.x += w.x; v.y += w.y; v.z += w.z; v.w += w.w;
    reinterpret_cast<float4*>(out)[thread] = v;
  }
  if (thread < n % 4) {
    const int i = n / 4 * 4 + thread;
    out[i] = a[i] + b[i];
  }
}
"""


def add_vectorised_source__head_and_tail_in_one_request():
    return r"""
__global__ void add_vectorised(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, head = 0;
  while (head < n && (unsigned long long)(a + head) % 16 != 0) head++;
  int vectors = (n - head) >> 2, rest = n - 4 * vectors;
  if (i < rest) {
    int k = i < head ? i : i + 4 * vectors;
    out[k] = a[k] + b[k];
  }
  for (int v = i; v < vectors; v += gridDim.x * blockDim.x) {
    const int k = head + 4 * v;
    const float4 x = *(const float4*)&a[k], y = *(const float4*)&b[k];
    *(float4*)&out[k] = float4{x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w};
  }
}
"""


def add_vectorised_source__head_up_to_a_sector():
    return r"""
__device__ float4 operator+(float4 x, float4 y) { return make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w); }
__global__ void add_vectorised(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int misaligned = (uintptr_t)a & 15, head = min(misaligned ? (16 - misaligned) / 4 : 0, n);
  const int tail = (n - head) & 3, body = n - tail;
  if (i < head) out[i] = a[i] + b[i];
  if (head + 4 * i < body) ((float4*)(out + head))[i] = ((float4*)(a + head))[i] + ((float4*)(b + head))[i];
  if (body + i < n) out[body + i] = a[body + i] + b[body + i];
}
"""


# The choice


def add__in_branches(a, b):
    out, loop = prepare(a, b)
    n = loop.numel
    if not n:
        return out
    to, x, y = loop.pointers
    contiguous = n == 1 or len(loop.sizes) == 1 and all(strides == (4,) for strides in loop.strides)
    if not contiguous:
        launch(loops.add_strided_source(), "add_strided", n, to, x, y, n, loop.loop())
    else:
        width = loops.can_vectorize_up_to(4, loop.addresses)
        if width < 4:
            launch(loops.add_source(), "add", n, x, y, to, n)
        else:
            launch(loops.add_vectorised_source(), "add_vectorised", math.ceil(n / 4), x, y, to, n)
    return out


def add__from_a_table(a, b):
    out, (n, sizes, strides, pointers, addresses) = prepare(a, b)
    plain = n == 1 or set(strides) == {(4,)}
    aligned = not any(address % 16 for address in addresses)
    name = ("add_vectorised" if aligned else "add") if plain else "add_strided"
    text = {
        "add": loops.add_source,
        "add_vectorised": loops.add_vectorised_source,
        "add_strided": loops.add_strided_source,
    }[name]()
    if n > 0 and plain:
        launch(text, name, (n + 3) // 4 if aligned else n, pointers[1], pointers[2], pointers[0], n)
    elif n > 0:
        launch(text, name, n, *pointers, n, prepare(a, b)[1].loop())
    return out
