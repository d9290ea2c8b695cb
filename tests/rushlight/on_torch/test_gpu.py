"""Kernels on a GPU, as far as this can be tried without one: what is copied, what a kernel gets, and what is said."""

import ctypes
import functools
import shutil
import subprocess
import sys

import numpy as np
import pytest

import rushlight as rl
from rushlight.on_torch import cuda_on_host, gpu

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not all(map(shutil.which, ("g++", "addr2line"))),
    reason="needs g++ and binutils on Linux",
)

ADD = """
struct Operands { const float* a; const float* b; int n; };
__global__ void add(Operands operands, float* out, double factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < operands.n) out[i] = (operands.a[i] + operands.b[i]) * factor;
}
"""


class Struct(ctypes.Structure):
    _fields_ = [("a", ctypes.c_void_p), ("b", ctypes.c_void_p), ("n", ctypes.c_int)]


def elements(address, count):
    return np.ctypeslib.as_array((ctypes.c_float * count).from_address(address))


class Device:
    """A GPU of one kernel, which computes what `add` computes from the bytes of its arguments."""

    def __init__(self, text, name):
        assert (text, name) == (ADD, "add")

    def launch(self, grid, block, values, shared):
        operands = Struct.from_buffer(values[0])
        count = operands.n
        a, b, out = (elements(address, count) for address in (operands.a, operands.b, values[1].value))
        out[:] = (a + b) * values[2].value


@pytest.fixture
def device(monkeypatch):
    monkeypatch.setattr(gpu, "is_available", lambda: True)
    monkeypatch.setattr(gpu, "Memory", functools.partial(gpu.Memory, "cpu"))
    monkeypatch.setattr(gpu, "CudaKernel", Device)

    def timed(kernel, beside):
        kernel()
        return gpu.OnGPU("a device", 12.345, beside and float(beside().sum()))

    monkeypatch.setattr(gpu, "timed", timed)


def test_an_array_and_its_views_are_copied_once_and_back():
    memory, base = gpu.Memory("cpu"), np.arange(20, dtype=np.float32)
    view, columns = base[3:15:2], base.reshape(4, 5).T
    on_device = memory.tensor(view)
    assert on_device.tolist() == view.tolist() and memory.tensor(columns).tolist() == columns.tolist()
    assert memory.address(base[3:]) - memory.address(base) == 12 and len(memory.copies) == 1
    on_device += 100
    assert base[3] == 3
    memory.copy_back()
    assert base[[3, 4, 5, 13]].tolist() == [103, 4, 105, 113]


def test_arrays_that_lie_beside_each_other_are_not_confused():
    memory, many = gpu.Memory("cpu"), [np.full(128, n, np.float32) for n in range(50)]
    assert [memory.tensor(each)[0].item() for each in many] == [*range(50)]


def test_arrays_of_other_dtypes_empty_ones_and_tensors_are_copied():
    memory = gpu.Memory("cpu")
    for array in (
        np.arange(3),
        np.array([True, False]),
        np.zeros((0, 4), np.float16),
        np.float64([[1.5]]),
        np.zeros((3, 0)),
    ):
        copy = memory.tensor(array)
        assert copy.tolist() == array.tolist() and copy.numpy().dtype == array.dtype
    x = rl.arange(12).reshape(3, 4).float().t()
    assert memory.tensor(x.numpy()).tolist() == x.tolist()


def test_a_kernel_gets_the_arguments_of_a_launch_and_its_values_come_back(device):
    module = cuda_on_host.Module(ADD)
    a, b, out, expected = (np.arange(n, n + 40, dtype=np.float32) for n in (0, 1, 2, 3))
    took = module.on_gpu("add", 2, 32, (a[4:], b, 30), out[1:], 0.5)
    module.launch("add", 2, 32, (a[4:], b, 30), expected[1:], 0.5)
    assert out[1:31].tolist() == expected[1:31].tolist() == ((a[4:34] + b[:30]) / 2).tolist()
    assert out[31:].tolist() == np.arange(33, 42).tolist() and out[0] == 2
    assert str(took) == "12.3 µs (a device)"


def test_a_function_of_torch_gets_tensors_for_arrays(device):
    module, out = cuda_on_host.Module(ADD), np.zeros(3, np.float32)
    given = (np.ones(3, np.float32), np.ones(3, np.float32), 3)
    took = module.on_gpu("add", 1, 32, given, out, 2.0, beside=lambda operands, out, factor: out[1:] * factor)
    assert out.tolist() == [4, 4, 4] and str(took) == "12.3 µs, beside 16.0 µs by torch (a device)"


def test_wrong_arguments_are_refused_before_a_launch(device):
    module = cuda_on_host.Module(ADD)
    with pytest.raises(ValueError, match="no `__global__ void product"):
        module.on_gpu("product", 1, 32)
    with pytest.raises(ValueError, match="1 to 1,024 threads, not 2048"):
        module.on_gpu("add", 1, 2048, (np.ones(3), np.ones(3), 3), np.ones(3), 2.0)
    with pytest.raises(ValueError, match="3 parameters, not 1"):
        module.on_gpu("add", 1, 32, 5)
    with pytest.raises(ValueError, match="out is a pointer"):
        module.on_gpu("add", 1, 32, (np.ones(3), np.ones(3), 3), 5, 2.0)


def test_without_a_gpu_nothing_runs_and_one_line_says_so(monkeypatch):
    monkeypatch.setattr(gpu, "is_available", lambda: False)
    out = np.zeros(3, np.float32)
    took = cuda_on_host.Module(ADD).on_gpu("add", 1, 32, (out, out, 3), out, 2.0)
    assert out.tolist() == [0, 0, 0] and took.device == ""
    assert "sees no GPU here" in str(took) and len(str(took).splitlines()) == 1


@pytest.mark.sweep
def test_the_runtime_exports_no_name_of_a_library_that_a_compiler_has_made_part_of_it(tmp_path, monkeypatch):
    """Its names are global, and another library would take its `__cxa_throw` for its own."""
    compiler = tmp_path / "g++"
    compiler.write_text(f'#!/bin/sh\nexec {shutil.which("g++")} -static-libstdc++ -static-libgcc "$@"\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))
    library = cuda_on_host.runtime_library()
    told = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    names = {line.split()[-1] for line in told.splitlines()}
    assert {name for name in names if name.startswith("__cxa")} == set()
    assert "cuda_host_launch" in names


def test_a_kernel_in_triton_is_given_tensors_and_compiled(device, monkeypatch):
    pytest.importorskip("triton", reason="Triton is not installed: it is no requirement of the course")
    from rushlight.on_torch import triton_on_host

    text = (
        "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef double(x, out, n, BLOCK: tl.constexpr):\n"
        "    at = tl.arange(0, BLOCK)\n    tl.store(out + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)\n"
    )
    module, got = triton_on_host.Module(text), []

    def kernel(name):
        def launch(x, out, n, BLOCK):  # noqa: N803
            got.append(BLOCK)
            out.copy_(2 * x)

        return {(4, 2): launch}

    monkeypatch.setattr(module, "_for_the_compiler", kernel)
    x, out = rl.arange(12).float().reshape(3, 4).t(), np.zeros((4, 3), np.float32)
    took = module.on_gpu("double", (4, 2), x, out, 12, beside=lambda x, out, n: x, BLOCK=16)
    assert out.tolist() == (2 * x).tolist() and set(got) == {16}
    assert str(took) == "12.3 µs, beside 66.0 µs by torch (a device)"
    monkeypatch.setattr(gpu, "is_available", lambda: False)
    assert "sees no GPU here" in str(module.on_gpu("double", 1, x, out, 12, BLOCK=16))
