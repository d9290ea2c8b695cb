"""Kernels of `aten.native.cuda.reduce` and `softmax`: facts about them are those that the host finds, and values are torch's."""

import shutil
import sys

import numpy as np
import pytest
import torch

import rushlight as rl
from rushlight.aten.native.cuda import loops, reduce, softmax
from rushlight.course.predictions import SYNCHRONISATION, unsynchronised_line
from rushlight.on_torch.cuda_on_host import Module

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not all(map(shutil.which, ("g++", "addr2line"))),
    reason="needs g++ and binutils on Linux",
)

TYPES = {"char": 1, "short": 2, "float": 4, "double": 8, "float4": 16}
LOAD = """
template <class T> __global__ void load(const T* in, T* out, int stride, int offset) {
  __shared__ __align__(16) T s[1100];
  out[threadIdx.x] = s[offset + (int)threadIdx.x * stride];
}
"""


def test_a_load_has_as_many_wavefronts_as_are_counted():
    module = Module(LOAD, *(f"load<{name}>" for name in TYPES))
    for name, itemsize in TYPES.items():
        for stride, offset in [
            (1, 0),
            (1, 3),
            (2, 1),
            (3, 0),
            (4, 2),
            (8, 1),
            (16, 0),
            (32, 5),
            (33, 0),
            (0, 3),
            (-2, 70),
        ]:
            memory, out = np.zeros(32 * itemsize, np.uint8), np.zeros(32 * itemsize, np.uint8)
            counts = module.launch(f"load<{name}>", 1, 32, memory, out, stride, offset).counts
            assert counts.shared_load.wavefronts == reduce.wavefronts(itemsize, stride, offset), (name, stride, offset)


def test_the_line_that_is_not_synchronised_is_the_one_of_the_finding():
    module, first = Module("\n".join(SYNCHRONISATION.values())), 1
    for name, text in SYNCHRONISATION.items():
        for seed in (0, 1):
            a, out = np.ones((2, 128), np.float32)
            findings = module.launch(name.replace(" ", "_"), 1, 128, a, out, seed=seed).findings
            lines = [
                {line - first + 1 for line in (f.line, f.other_line) if line} for f in findings if f.kind != "unwritten"
            ]
            expected = unsynchronised_line(name)
            assert bool(lines) == (expected is not None), name
            assert all(expected in of for of in lines), name
        first += len(text.splitlines())


@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("sizes", [(3, 1100), (5, 7), (1100, 3)])
def test_softmax_has_the_values_and_the_strides_of_torchs(sizes, dim):
    x = torch.randn(sizes[::-1]).t()
    result, expected = softmax.softmax(rl.from_dlpack(x), dim), x.softmax(dim)
    assert loops.launches[-1].result.findings == []
    assert result.stride() == expected.stride()
    torch.testing.assert_close(torch.tensor(result.tolist()), expected)


def test_another_order_of_blocks_gives_another_sum_of_rows_and_no_finding():
    source, sums = np.array([1e8, 1, -1e8, 1], np.float32).repeat(32), set()
    module = Module(reduce.index_add_source())
    for seed in range(4):
        out = np.zeros(32, np.float32)
        assert module.launch("index_add", 4, 32, out, np.zeros(4, np.int64), source, 4, 32, seed=seed).findings == []
        sums.add(float(out[0]))
    assert len(sums) > 1


def test_the_wavefronts_that_the_written_question_of_the_lab_asks_for():
    text = """
__global__ void trees(const float* a, float* out, int k, int far) {
  __shared__ float s[256];
  int t = threadIdx.x, i = far ? t : 2 * k * t;
  s[t] = a[t];
  __syncthreads();
  float x = 0;
  if (far ? t < k : i < 256) x = s[i + k];
  out[t] = x;
}
"""
    module, (a, out) = Module(text), np.ones((2, 256), np.float32)

    def wavefronts(k, far):
        return module.launch("trees", 1, 256, a, out, k, far).counts.shared_load.wavefronts

    assert [wavefronts(k, 0) for k in (1, 4, 32)] == [8, 8, 4]
    assert [wavefronts(k, 1) for k in (128, 32, 4)] == [4, 1, 1]
