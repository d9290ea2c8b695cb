"""Kernels of `aten.native.cuda.loops`: what is computed about them is what the host counts, and their sums are torch's."""

import shutil
import sys

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import rushlight as rl
from rushlight.aten.native.cuda import loops
from rushlight.aten.strided import Tensor
from rushlight.c10.storage import UntypedStorage
from rushlight.course.predictions import COALESCING, uncoalesced_line
from rushlight.on_torch.cuda_on_host import Module

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not all(map(shutil.which, ("g++", "addr2line"))),
    reason="needs g++ and binutils on Linux",
)

TYPES = {"char": 1, "short": 2, "float": 4, "double": 8, "float4": 16}
LOAD = """
template <class T> __global__ void load(const T* in, T* out, int stride, int offset) {
  out[threadIdx.x] = in[offset + (int)threadIdx.x * stride];
}
"""


def test_a_request_has_as_many_sectors_as_are_counted():
    module = Module(LOAD, *(f"load<{name}>" for name in TYPES))
    for name, itemsize in TYPES.items():
        for stride, offset in [
            (1, 0),
            (1, 1),
            (1, 3),
            (2, 1),
            (3, 0),
            (5, 2),
            (9, 7),
            (40, 0),
            (0, 3),
            (-1, 31),
            (-3, 99),
        ]:
            memory, out = np.zeros((32 * 40 + 40) * itemsize, np.uint8), np.zeros(32 * itemsize, np.uint8)
            counts = module.launch(f"load<{name}>", 1, 32, memory, out, stride, offset).counts
            assert counts.global_load.sectors == loops.sectors_per_request(itemsize, stride, offset), (
                name,
                stride,
                offset,
            )


def test_the_line_that_is_not_coalesced_is_the_one_that_asks_for_more_sectors_than_its_bytes_fill():
    module, memory, out = (
        Module("\n".join(COALESCING.values())),
        np.zeros(1 << 20, np.float32),
        np.zeros(1 << 20, np.float32),
    )
    first = 1
    for name, text in COALESCING.items():
        grid, block = ((2, 2), (32, 32)) if name == "transposed" else (2, 256)
        lines = module.launch(name.replace(" ", "_"), grid, block, memory, out).lines
        wrong = {
            line - first + 1
            for line, counts in lines.items()
            for traffic in (counts.global_load, counts.global_store)
            if traffic.sectors > traffic.bytes / 32 + traffic.requests
        }
        assert wrong == {uncoalesced_line(name)} - {None}, name
        first += len(text.splitlines())


@given(
    st.lists(st.integers(1, 5), min_size=1, max_size=3),
    st.permutations(range(3)),
    st.integers(1, 2),
    st.integers(0, 5),
    st.booleans(),
)
def test_a_sum_has_the_values_and_the_strides_of_torchs(sizes, order, step, offset, is_column):
    dims = sorted(range(len(sizes)), key=lambda dim: order[dim])
    base = torch.arange(offset + 2 * 5**3, dtype=torch.float32)
    a = base[offset : offset + step * int(np.prod(sizes)) : step].reshape([sizes[d] for d in dims])
    a = a.permute([dims.index(d) for d in range(len(sizes))])
    b = torch.arange(sizes[0], dtype=torch.float32).reshape(-1, *[1] * (len(sizes) - 1)) if is_column else a
    expected = a + b
    result = loops.add(rl.from_dlpack(a), rl.from_dlpack(b))
    assert loops.launches[-1].result.findings == []
    assert (tuple(result.shape), result.stride()) == (tuple(expected.shape), expected.stride())
    np.testing.assert_array_equal(result.numpy(), expected.numpy())


def test_a_view_begins_where_it_does_in_its_memory_and_borrowed_memory_at_a_multiple_of_256():
    borrowed = rl.from_numpy(np.arange(70, dtype=np.float32)[3:])
    for x, address, kernel in (
        (rl.arange(70.0)[3:], 12, "add"),
        (borrowed, 0, "add_vectorised"),
        (borrowed[4:], 16, "add_vectorised"),
    ):
        assert loops.device_pointer(x)[1] == address
        assert loops.add(x, x).tolist() == [2 * value for value in x.tolist()]
        assert (loops.launches[-1].kernel, loops.launches[-1].result.findings) == (kernel, [])


def test_a_loop_that_32_bits_cannot_index_is_refused():
    far = Tensor(UntypedStorage(8), [2], [2**30], 0, rl.float32)
    with pytest.raises(NotImplementedError, match="32-bit"):
        loops.add(far, rl.zeros(2))
