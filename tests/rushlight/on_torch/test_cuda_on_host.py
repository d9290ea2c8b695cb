"""Kernels in CUDA C++ compute what torch does, are counted in sectors and wavefronts, and their defects are found with lines."""

import gzip
import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from launches import LAUNCHES, columns, instances, output, run

from rushlight.on_torch import cuda_on_host as cuda

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not all(map(shutil.which, ("g++", "addr2line"))),
    reason="needs g++ and binutils on Linux",
)

TEXT = Path(__file__).with_name("kernels.cu").read_text()
RECORDED = Path(__file__).resolve().parents[3] / "phases" / "recorded" / "h100" / "counts.json.gz"
JUDGED = [launch for launch in LAUNCHES if launch.torch]
COUNTED = {  # of a request of a warp: sectors of 32 bytes, or wavefronts of 32 banks, by the rule
    "load<float, 1, 0>": 4, "load<float, 1, 1>": 5, "load<float, 3, 1>": 12, "load<__half, 1, 1>": 3, "load<double, 3, 0>": 24,
    "load<float4, 1, 0>": 16, "shared_read<float, 2>": 2, "shared_read<float, 33>": 1, "shared_read<__half, 1>": 1,
    "shared_read<unsigned char, 4>": 1, "shared_read<double, 1>": 2, "shared_read<float4, 1>": 4,
    "atomics<1>": 32, "atomics<32>": 4,
}  # fmt: skip


@pytest.fixture(scope="module")
def kernels():
    return cuda.Module(TEXT, *sorted({launch.name for launch in JUDGED if "<" in launch.name}), *COUNTED)


def test_kernels_compute_what_torch_does(kernels):
    for launch in JUDGED:
        result, x = run(kernels, launch)
        x = [torch.as_tensor(value) if isinstance(value, np.ndarray) else value for value in x]
        expected = eval(launch.torch, {"torch": torch, "x": x}).reshape(-1)
        torch.testing.assert_close(x[output(launch)], expected, rtol=0, atol=launch.tolerance)
        assert result.findings == [], launch.name


def changed_by_nvcc(name):
    """The columns that differ on the device, because nvcc gives the launch other instructions: README.md says which."""
    if name == "divergent":  # the loads and stores of both branches are one
        return {"global_load", "global_store"}
    if name.startswith("shared_write"):  # the load is moved into the branch that uses its value
        return {"global_load"}
    if (
        name.startswith("product_tiled") or name == "softmax_block"
    ):  # loads of a row are vectorised, a load leaves its loop
        return {"shared_load"}
    return set()


@pytest.mark.sweep
def test_counts_are_those_of_a_device():
    module = cuda.Module(TEXT, *instances())
    recorded = json.loads(gzip.decompress(RECORDED.read_bytes()))["sections"]["counters"]["launches"]
    for launch, device in zip(LAUNCHES, recorded, strict=True):
        assert (device["kernel"], device["grid"]) == (launch.name, list(launch.grid))
        host = columns(run(module, launch)[0].counts)
        assert {kind for kind in host if host[kind] != device[kind]} == changed_by_nvcc(launch.name), launch.name
        assert host["shared_load"][1] == device["shared_load"][1], launch.name  # conflicts are equal even there


def test_bfloat16_is_rounded_as_torch_rounds_it(kernels):
    x = torch.randn(1000).to(torch.bfloat16)
    out = np.zeros(1000, np.uint16)
    kernels.launch("scale_bfloat16", 4, 256, x.view(torch.uint16).numpy(), out, 1000)
    assert torch.equal(torch.from_numpy(out).view(torch.bfloat16), x * 1.5)


def test_every_float16_is_converted_both_ways_as_numpy_does(small):
    halves = np.arange(65536, dtype=np.uint16).view(np.float16)
    halves = np.where(np.isnan(halves), np.float16(0), halves)
    floats = (halves.astype(np.float32) * np.float32(1.0003)).astype(np.float32)
    wide, narrow = np.zeros(65536, np.float32), np.zeros(65536, np.float16)
    small.launch("both", 256, 256, halves, wide, floats, narrow)
    np.testing.assert_array_equal(wide, halves.astype(np.float32))
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(narrow, floats.astype(np.float16))


@pytest.mark.parametrize("name", COUNTED)
def test_a_warps_requests_are_counted_in_sectors_and_wavefronts(kernels, name):
    counts = run(kernels, next(launch for launch in LAUNCHES if launch.name == name))[0].counts
    traffic = (
        counts.shared_load if "shared" in name else counts.global_atomic if "atomics" in name else counts.global_load
    )
    assert (traffic.wavefronts if "shared" in name else traffic.sectors) == COUNTED[name] * traffic.requests


def test_conflicts_are_on_their_line_and_padding_removes_them(kernels):
    plain, padded = (
        run(kernels, next(launch for launch in LAUNCHES if launch.name == f"transpose<{pad}>"))[0] for pad in (0, 1)
    )
    line = next(i for i, text in enumerate(TEXT.splitlines(), 1) if "= tile[x][y]" in text)
    assert {i: c.shared_load.conflicts for i, c in plain.lines.items() if c.shared_load.conflicts} == {line: 2048 * 31}
    assert (padded.counts.shared_load.conflicts, padded.counts.shared_store.conflicts) == (0, 0)


DEFECTS = """
__global__ void outside(float* a, int n) {
  a[threadIdx.x + 1] = n;  // outside
}
__global__ void division(float* a, int n) {
  a[threadIdx.x] = n / (n - 5);  // division
}
__global__ void misaligned(float* a, int n) {
  float4 v = *(float4*)(a + n);  // misaligned
  a[0] = v.x;
}
__global__ void race_shared(float* a, int n) {
  __shared__ float s[64];
  s[threadIdx.x] = n;  // other race_shared
  a[threadIdx.x] = s[threadIdx.x ^ 32];  // race_shared
}
__global__ void race_warp(float* a, int n) {
  __shared__ float s[64];
  s[threadIdx.x] = n;
  __syncthreads();
  float v = s[threadIdx.x ^ 1];  // other race_warp
  s[threadIdx.x] = v;  // race_warp
}
__global__ void race_blocks(float* a, int n) {
  a[threadIdx.x] += n;  // race_blocks, other race_blocks
}
__global__ void race_atomic(float* a, int n) {
  if (threadIdx.x == 0) a[0] = n;  // other race_atomic
  atomicAdd(a, 1.0f);  // race_atomic
}
__global__ void unwritten(float* a, int n) {
  __shared__ float s[64];
  if (threadIdx.x < n) s[threadIdx.x] = 1;
  __syncthreads();
  a[threadIdx.x] = s[threadIdx.x];  // unwritten
}
__global__ void barrier_ended(float* a, int n) {
  if (threadIdx.x >= n) return;
  __syncthreads();  // barrier_ended
  a[threadIdx.x] = 1;
}
__global__ void barrier_branch(float* a, int n) {
  if (threadIdx.x < n)
    __syncthreads();  // barrier_branch
  else
    __syncthreads();  // other barrier_branch
}
__global__ void deadlock(float* a, int n) {
  float v = a[threadIdx.x];
  if (threadIdx.x % 32 < n) v += __shfl_down_sync(0xffffffffu, v, 1);  // deadlock
  __syncthreads();  // other deadlock
  a[threadIdx.x] = v;
}
__global__ void mask(float* a, int n) {
  a[threadIdx.x] = __ballot_sync((1u << n) - 1, 1);  // mask
}
__global__ void shuffle(float* a, int n) {
  if (threadIdx.x % 32 < n) a[threadIdx.x] = __shfl_down_sync((1u << n) - 1, n, 2);  // shuffle
}
__global__ void endless(float* a, int n) {
  while (a[0] == 0) n++;  // endless
  a[1] = n;
}
__global__ void endless_empty(float* a, int n) {
  a[threadIdx.x] = n;
  if (threadIdx.x == 3)
    while (true) {}  // endless_empty
}
__global__ void outside_shared(float* a, int n) {
  __shared__ float s[64];
  s[threadIdx.x + 1] = n;  // outside_shared
  __syncthreads();
  a[threadIdx.x] = s[threadIdx.x];
}
__global__ void outside_stack(float* a, int n) {
  float v[4];
  for (int i = 0; i < 1 << 20; i++) v[i] = a[i % n];  // outside_stack
  a[0] = v[n % 4];
}
__global__ void asserted(float* a, int n) {
  assert(threadIdx.x < n);  // asserted
}
"""
RIGHT = """
__global__ void both(const __half* a, float* wide, const float* b, __half* narrow) {
  int i = blockIdx.x * 256 + threadIdx.x;
  wide[i] = __half2float(a[i]);
  narrow[i] = __float2half(b[i]);
}
__global__ void count(int* lock, int* n) {
  while (atomicCAS(lock, 0, 1) != 0) {}
  n[0] += 1;
  atomicExch(lock, 0);
}
struct View { const float* data; int size, stride; };
__global__ void largest(View a, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= a.size) return;
  int old = *out, seen, value = __float_as_int(a.data[i * a.stride]);
  do {
    seen = old;
    old = atomicCAS(out, seen, max(seen, value));
  } while (old != seen);
}
__global__ void total(const float* a, float* out) { atomicAdd(out, a[blockIdx.x * blockDim.x + threadIdx.x]); }
"""
KINDS = {
    name: name.partition("_")[0]
    for name in (
        "race_shared",
        "race_warp",
        "race_blocks",
        "race_atomic",
        "barrier_ended",
        "endless_empty",
        "outside_shared",
        "outside_stack",
    )
}
KINDS |= {"barrier_branch": "barrier", "asserted": "assert"}
NAMES = ["outside", "division", "misaligned", "unwritten", "deadlock", "mask", "shuffle", "endless", *KINDS]


@pytest.fixture(scope="module")
def small():
    return cuda.Module(DEFECTS + RIGHT)


def line_of(comment):
    lines = (line.partition("//")[2].strip().split(", ") for line in DEFECTS.splitlines())
    return next((i for i, comments in enumerate(lines, 1) if comment in comments), None)


@pytest.mark.parametrize("name", NAMES)
def test_a_defect_is_found_with_its_line_in_every_order(small, name):
    kind = KINDS.get(name, name)
    for seed in (0, 1, 2):
        a, n = np.zeros(64, np.float32), 1 if name == "misaligned" else 5
        result = small.launch(name, 2 if name == "race_blocks" else 1, 64, a, n, seed=seed, steps=1 << 15)
        found = [f for f in result.findings if f.kind == kind]
        assert found and {f.kind for f in result.findings} <= {kind, "unwritten"}
        assert {line_of(name), line_of(f"other {name}")} in [{f.line, f.other_line} for f in found]


def test_an_access_outside_of_an_array_changes_nothing_and_names_the_thread(small):
    a = np.zeros(64, np.float32)
    (finding,) = small.launch("outside", 1, 64, a, 5).findings
    assert (finding.memory, finding.index, finding.thread, finding.count) == ("a", 64, (63, 0, 0), 1)
    assert a.tolist() == [0] + [5] * 63


def test_another_order_of_blocks_gives_another_sum_of_floats(small):
    a = np.random.default_rng(0).standard_normal(4096).astype(np.float32)
    sums = {seed: np.zeros(1, np.float32) for seed in (0, 1, 2, 3)}
    for seed, out in sums.items():
        assert small.launch("total", 32, 128, a, out, seed=seed).findings == []
    assert len({out.item() for out in sums.values()}) > 1
    again = np.zeros(1, np.float32)
    small.launch("total", 32, 128, a, again, seed=3)
    assert again == sums[3]


def test_a_thread_may_wait_for_another_one_in_a_loop(small):
    n = np.zeros(1, np.int32)
    small.launch("count", 2, 64, np.zeros(1, np.int32), n)
    assert n == 128


def test_a_text_that_does_not_compile_says_its_own_line():
    with pytest.raises(cuda.CompileError, match=r"kernel\.cu:2:.*float5"):
        cuda.Module("__global__ void f(float* a) {\n  float5 v;\n}")


def test_a_struct_is_passed_by_its_fields_and_a_load_that_a_swap_checks_is_no_race(small):
    a, out = np.random.default_rng(0).random(200, np.float32), np.zeros(1, np.int32)
    assert small.launch("largest", 2, 64, (a, 100, 2), out).findings == []
    assert out.view(np.float32) == a[::2].max()


AS_A_WHOLE = {
    "a function": "out[i] = plus(a[i], b[i]);",
    "an operator": "out[i] = a[i] + b[i];",
    "braces": "float4 x = a[i], y = b[i]; out[i] = float4{x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w};",
    "in place": "float4 x = a[i]; x = x + b[i]; *(out + i) = x;",
}


def test_a_vector_is_loaded_and_stored_as_a_whole():
    sums = "make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);"
    text = f"__device__ float4 plus(float4 x, float4 y) {{ return {sums} }}\n"
    text += f"__device__ float4 operator+(float4 x, float4 y) {{ float4 z = {sums} return z; }}\n"
    for number, body in enumerate(AS_A_WHOLE.values()):
        text += f"__global__ void sum{number}(const float4* a, const float4* b, float4* out) {{ int i = threadIdx.x; {body} }}\n"
    module, a = cuda.Module(text), np.arange(128, dtype=np.float32)
    for number, name in enumerate(AS_A_WHOLE):
        out = np.zeros(128, np.float32)
        counts = module.launch(f"sum{number}", 1, 32, a, 2 * a, out).counts
        assert (counts.global_load.requests, counts.global_store.requests, counts.global_store.sectors) == (2, 1, 16), (
            name
        )
        np.testing.assert_array_equal(out, 3 * a)


def test_a_pointer_may_lie_before_its_array(small):
    a, out = np.ones(300, np.float32), np.zeros(1, np.float32)
    small.launch("total", 1, 64, cuda.shifted(a[100:], 50), out)
    assert out == 64  # elements 50 to 113 of the base
    assert cuda.base_of(a[100:])[1] == 400


@pytest.mark.sweep
@pytest.mark.skipif(shutil.which("clang++") is None, reason="there is no clang++ here")
def test_clang_finds_the_same_defects_and_loads_vectors_as_a_whole(monkeypatch):
    monkeypatch.setenv("CXX", "clang++")
    small = cuda.Module(DEFECTS + RIGHT)
    for name in NAMES:
        if name not in ("endless", "outside_stack"):  # clang moves the load out of the loop
            test_a_defect_is_found_with_its_line_in_every_order(small, name)
    test_a_vector_is_loaded_and_stored_as_a_whole()
