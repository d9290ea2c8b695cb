"""Elementwise kernels for a GPU: their texts in CUDA C++, and the choice among them.

TensorIterator prepares the operands, as for the CPU. If all of them are contiguous, a thread loads four elements at once, else it
computes the position of its element in each operand. The kernels run on a GPU, or on the host by `rushlight.on_torch.cuda_on_host`,
which counts what they ask of memory. In PyTorch: `aten/src/ATen/native/cuda/CUDALoops.cuh`, `Loops.cuh` and `MemoryAccess.cuh`,
`aten/src/ATen/cuda/detail/OffsetCalculator.cuh`. Left out: dtypes other than float32, operators other than `add`, and loops that
are too large for 32-bit offsets, which PyTorch splits.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from rushlight.aten.iterator import loop_geometry, output_of
from rushlight.aten.strided import Tensor
from rushlight.c10.dtypes import float32
from rushlight.c10.storage import UntypedStorage

# What a warp asks of memory ------------------------------------------------------------------------------------------


def sectors_per_request(itemsize: int, stride: int, offset: int) -> int:
    """The number of sectors that the 32 lanes of a warp ask for, if lane `i` loads element `offset + i * stride` of an array.

    Memory is divided into sectors of 32 bytes, and a request asks for each sector once. The array begins at an address that is a
    multiple of 256.

    Args:
        itemsize: bytes of an element: 1, 2, 4, 8 or 16.
        stride, offset: in elements. `stride` may be 0 or negative.

    >>> sectors_per_request(4, 1, 0), sectors_per_request(4, 1, 1)
    (4, 5)

    Source: the metric `l1tex__t_sectors_pipe_lsu_mem_global_op_ld` of Nsight Compute, of one request.
    """
    return len({itemsize * (offset + lane * stride) // 32 for lane in range(32)})


# An element for each thread ------------------------------------------------------------------------------------------


def add_source() -> str:
    """The text of a kernel that adds two arrays:

        __global__ void add(const float* a, const float* b, float* out, int n)

    `out[i]` becomes `a[i] + b[i]` for each `i` below `n`. Grid and block have one dimension. There are `n` threads or more, and
    each of them computes one element at most. No other element is read or written: the arrays may end at `n`.

    The budget: each element of `a` and `b` is loaded once, with as few requests and sectors as possible, so the threads of a warp
    work on neighbouring elements.

    Source: `aten/src/ATen/native/cuda/CUDALoops.cuh`, `elementwise_kernel`.
    """
    return r"""
__global__ void add(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
"""


def add_range_source() -> str:
    """The text of a kernel that adds a range of two arrays, on any number of threads:

        __global__ void add_range(const float* a, const float* b, float* out, long long begin, long long end)

    `out[i]` becomes `a[i] + b[i]` for each `i` from `begin` up to `end`, without `end`. No other element is read or written. Grid
    and block have one dimension. There may be fewer threads than elements: from its element a thread goes on to the one that is as
    many elements further as the grid has threads, up to the end. The arrays may have more than 2 ** 31 elements.

    The budget is that of `add`.

    Source: `aten/src/ATen/cuda/detail/KernelUtils.h`, `CUDA_KERNEL_LOOP_TYPE`.
    """
    return r"""
__global__ void add_range(const float* a, const float* b, float* out, long long begin, long long end) {
  long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = begin + blockIdx.x * blockDim.x + threadIdx.x; i < end; i += step) out[i] = a[i] + b[i];
}
"""


# Any strides ---------------------------------------------------------------------------------------------------------


def can_use_32bit_indexing(sizes: Sequence[int], operand_strides: Sequence[Sequence[int]]) -> bool:
    """Whether a kernel may compute with 32-bit integers in this loop: the number of elements is at most 2 ** 31 - 1, and so is, for
    each operand, one more than the distance in bytes from its first element to its last one.

    Args:
        sizes: of the loop, none of them 0.
        operand_strides: for each operand one stride for each size, in bytes, 0 or more.

    >>> can_use_32bit_indexing((2**20, 2**10), [(4, 0)]), can_use_32bit_indexing((2**20, 2**10), [(4, 2**22)])
    (True, False)

    Source: `aten/src/ATen/TensorIterator.cpp`, `TensorIteratorBase::can_use_32bit_indexing`.
    """
    most = 2**31 - 1
    reaches = [sum((n - 1) * stride for n, stride in zip(sizes, strides)) for strides in operand_strides]
    return math.prod(sizes) <= most and all(1 + reach <= most for reach in reaches)


MAX_DIMS = 25
LOOP = r"""
struct Loop {               // the fastest dimension comes first
  int dims;
  unsigned sizes[25];
  unsigned strides[3][25];  // in bytes, of out, of a and of b
};
"""


def add_strided_source() -> str:
    """The text of a kernel that adds two operands of any strides. It begins with the text `LOOP`, which defines `struct Loop`:

        __global__ void add_strided(char* out, const char* a, const char* b, int n, Loop loop)

    The loop has `n` elements, the product of its sizes. Thread `i` computes element `i`, counted so that the index in dimension 0
    changes first. The distance of an element from an operand's pointer, in bytes, is the sum over the dimensions of index times
    stride. If `loop.dims` is 0, there is one element, at distance 0. `n` and all distances fit an `int`. There are `n` threads or
    more, in one dimension.

    The budget is that of `add`. TensorIterator has ordered the dimensions so that neighbouring elements are neighbours in memory
    where that is possible.

    Source: `aten/src/ATen/cuda/detail/OffsetCalculator.cuh`, `OffsetCalculator::get`; `CUDALoops.cuh`, `gpu_kernel_impl_nocast`.
    """
    return (
        LOOP
        + r"""
__global__ void add_strided(char* out, const char* a, const char* b, int n, Loop loop) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned offsets[3] = {}, rest = i;
  for (int d = 0; d < loop.dims; d++) {
    unsigned index = rest % loop.sizes[d];
    rest /= loop.sizes[d];
    for (int k = 0; k < 3; k++) offsets[k] += index * loop.strides[k][d];
  }
  *(float*)(out + offsets[0]) = *(const float*)(a + offsets[1]) + *(const float*)(b + offsets[2]);
}
"""
    )


# Four elements at once -----------------------------------------------------------------------------------------------


def can_vectorize_up_to(itemsize: int, addresses: Sequence[int]) -> int:
    """How many elements a thread may load and store at once: 4 or 2, if the address of each operand is a multiple of the size of so
    many elements, else 1.

    Args:
        itemsize: bytes of an element.
        addresses: of the first element of each operand; at least one.

    >>> can_vectorize_up_to(4, [256, 48]), can_vectorize_up_to(4, [256, 8]), can_vectorize_up_to(4, [256, 4])
    (4, 2, 1)

    Source: `aten/src/ATen/native/cuda/MemoryAccess.cuh`, `can_vectorize_up_to`.
    """
    return next((width for width in (4, 2) if all(address % (width * itemsize) == 0 for address in addresses)), 1)


def add_vectorised_source() -> str:
    """The text of a kernel that adds two arrays, four elements at once:

        __global__ void add_vectorised(const float* a, const float* b, float* out, int n)

    It computes what `add` computes, with a quarter of its requests. A `float4` is loaded and stored as a whole, at an address that
    is a multiple of 16. The addresses of `a`, `b` and `out` are equal modulo 16, but need not be multiples of 16. So there may be
    up to three elements before the first `float4`, the head, and up to three after the last one, the tail. Grid and block have one
    dimension. There are `n / 4` threads or more, and at least 32.

    The budget: a warp's threads load neighbouring `float4`s. The head and the tail take one request each, for each array.

    Source: `aten/src/ATen/native/cuda/CUDALoops.cuh`, `vectorized_elementwise_kernel`, which has no head.
    """
    return r"""
__global__ void add_vectorised(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int head = min(n, (int)(-(unsigned long long)a % 16 / 4));
  int vectors = (n - head) / 4, tail = head + 4 * vectors + i;
  if (i < head) out[i] = a[i] + b[i];
  if (i < vectors) {
    float4 x = ((const float4*)(a + head))[i], y = ((const float4*)(b + head))[i];
    ((float4*)(out + head))[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
  }
  if (tail < n) out[tail] = a[tail] + b[tail];
}
"""


# The choice ----------------------------------------------------------------------------------------------------------


class Operands(NamedTuple):
    """A loop as TensorIterator has prepared it. The operands are the output and the inputs, in this order."""

    numel: int
    sizes: tuple[int, ...]  # of the loop, the fastest dimension first
    strides: tuple[tuple[int, ...], ...]  # of each operand, in bytes
    pointers: tuple[np.ndarray, ...]  # to the first element of each operand
    addresses: tuple[int, ...]  # where they point, modulo 256

    def loop(self) -> bytes:
        """The bytes of the `struct Loop`."""
        table = np.zeros((1 + len(self.strides), MAX_DIMS), np.uint32)
        table[:, : len(self.sizes)] = [self.sizes, *self.strides]
        return np.int32(len(self.sizes)).tobytes() + table.tobytes()


def prepare(a: Tensor, b: Tensor) -> tuple[Tensor, Operands]:
    """A new tensor for the sum of two float32 tensors, and the loop that computes it.

    Raises NotImplementedError if the loop is too large for 32-bit indexing. PyTorch splits it: `Loops.cuh`, `gpu_kernel`.
    Source: `aten/src/ATen/TensorIterator.cpp`, `TensorIteratorBase::build`.
    """
    sizes, strides, dtype = output_of(float32, a, b)
    out = Tensor(UntypedStorage(math.prod(sizes) * dtype.itemsize), sizes, strides, 0, dtype)
    operands = out, a, b
    geometries = tuple((tuple(x.shape), tuple(x.stride())) for x in operands)
    loop_sizes, loop_strides = loop_geometry(tuple(sizes), geometries)
    in_bytes = tuple(tuple(stride * dtype.itemsize for stride in reversed(of)) for of in loop_strides)
    if not can_use_32bit_indexing(loop_sizes[::-1], in_bytes):
        raise NotImplementedError("a loop that 32-bit integers cannot index")
    pointers, addresses = zip(*map(device_pointer, operands))
    return out, Operands(math.prod(sizes), loop_sizes[::-1], in_bytes, pointers, addresses)


def add(a: Tensor, b: Tensor) -> Tensor:
    """The sum of two float32 tensors of any sizes that broadcast, and any strides, by one launch of a kernel.

    A sum without elements launches nothing. If the loop has one element, or one dimension in which all operands are contiguous, the
    kernel is `add_vectorised` where four elements can be loaded at once, else `add`. For any other loop it is `add_strided`.
    `launch` is asked for a thread for each element, in `add_vectorised` for each four.

    Returns:
        `prepare(a, b)[0]`, with the sums.

    Source: `aten/src/ATen/native/cuda/CUDALoops.cuh`, `gpu_kernel_impl_nocast`; `aten/src/ATen/TensorIterator.cpp`,
    `TensorIteratorBase::is_contiguous`.
    """
    out, loop = prepare(a, b)
    if loop.numel == 0:
        return out
    to, *inputs = loop.pointers
    if loop.numel > 1 and loop.strides != ((4,),) * 3:
        launch(add_strided_source(), "add_strided", loop.numel, to, *inputs, loop.numel, loop.loop())
    elif can_vectorize_up_to(4, loop.addresses) == 4:
        launch(add_vectorised_source(), "add_vectorised", -(-loop.numel // 4), *inputs, to, loop.numel)
    else:
        launch(add_source(), "add", loop.numel, *inputs, to, loop.numel)
    return out


# Launches on the host ------------------------------------------------------------------------------------------------

BLOCK = 128  # threads of a block
hooks: Any = None  # of a device that runs kernels. In PyTorch: `aten/src/ATen/detail/CUDAHooksInterface.h`


def _hooks() -> Any:
    if hooks is None:
        raise RuntimeError(
            "no device runs kernels: import rushlight.on_torch.cuda_on_host, with which this computer does"
        )
    return hooks


class Launch(NamedTuple):
    """One launch of a kernel: its grid and block, and what the run on the host has found."""

    kernel: str
    blocks: int | tuple[int, ...]
    result: Any  # counts and findings, a `Result` of `rushlight.on_torch.cuda_on_host`
    block: int | tuple[int, ...] = BLOCK  # its threads


launches: deque[Launch] = deque(maxlen=100)  # the last ones


def launch(text: str, kernel: str, threads: int, *arguments: Any) -> Any:
    """Launch a kernel of a text on enough blocks of `BLOCK` threads, and at least one. Returns the result, and keeps it in
    `launches`.

    Raises:
        CompileError: the text does not compile.
        RuntimeError: there is no C++ compiler.
    """
    return launch_blocks(text, kernel, max(1, -(-threads // BLOCK)), BLOCK, *arguments)


def launch_blocks(
    text: str, kernel: str, blocks: int | tuple[int, ...], block: int | tuple[int, ...], *arguments: Any
) -> Any:
    """Launch a kernel as `launch` does, on so many blocks of a size: threads, or a number of threads for each dimension."""
    launches.append(Launch(kernel, blocks, _module(text).launch(kernel, blocks, block, *arguments), block))
    return launches[-1].result


@cache
def _module(text: str) -> Any:
    return _hooks().Module(text)


def base_of(array: np.ndarray) -> tuple[np.ndarray, int]:
    """The array that a view is of, and the distance in bytes from its first byte to the first element of the view. On the device,
    the base begins at a multiple of 256."""
    base = array
    while isinstance(base.base, np.ndarray):
        base = base.base
    return base, array.ctypes.data - np.lib.array_utils.byte_bounds(base)[0]


def device_pointer(x: Tensor) -> tuple[np.ndarray, int]:
    """The pointer that a kernel gets for a float32 tensor: an array that begins at its first element. And where that is on the
    device, modulo 256. Memory is allocated there at multiples of 256."""
    memory = x.untyped_storage()._bytes
    array = memory[x.storage_offset() * 4 : len(memory) // 4 * 4].view(np.float32)
    return array, base_of(array)[1] % 256
