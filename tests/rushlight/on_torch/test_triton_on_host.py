"""Kernels in Triton compute what torch does, are counted in bytes and sectors, and their errors have lines."""

import re
import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest

import rushlight as rl
from rushlight.course import draws
from rushlight.course.predictions import BLOCK_KERNELS, masked_line
from rushlight.inductor import triton_heuristics, triton_templates
from rushlight.on_torch.triton_on_host import KernelError, Module

needs_triton = pytest.mark.skipif(not triton_heuristics.is_installed(), reason="Triton is not installed")
pytestmark = pytest.mark.filterwarnings("ignore:tl.make_block_ptr is deprecated")
HEAD = "import triton\nimport triton.language as tl\n\n@triton.jit\n"
COPY = HEAD + (
    "def copy(x, out, n, BLOCK: tl.constexpr):\n"
    "    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
    "    value = tl.load(x + at, mask=at < n)\n"
    "    tl.store(out + at, value, mask=at < n)\n"
)


def launched(text, grid, *arguments, **constexprs):
    module = Module(text)
    return module.launch(next(iter(module.kernels)), grid, *arguments, **constexprs)


@needs_triton
def test_loads_and_stores_are_counted_by_argument_and_line():
    x, out = np.arange(20, dtype=np.float32), np.zeros(20, np.float32)
    result = launched(COPY, 3, x, out, 20, BLOCK=8)
    assert (out == x).all() and not result.findings
    assert [(access.bytes, access.sectors) for access in result.of("load", "x", 7)] == [(32, 1), (32, 1), (16, 1)]
    assert result.bytes("store", "out") == 80 and result.bytes("load", "out") == result.bytes("load", line=8) == 0
    assert [access.instance for access in result.of("store")] == [(0, 0, 0), (1, 0, 0), (2, 0, 0)]


@needs_triton
def test_the_first_access_outside_of_an_argument_ends_the_launch_and_is_a_finding():
    for text, kind, element in (
        (COPY.replace("(x + at, mask=at < n)", "(x + at)"), "load", 20),
        (COPY.replace("value, mask=at < n", "value, mask=at <= n"), "store", 20),
        (COPY.replace("x + at", "x + at - 3"), "load", -3),
    ):
        x, out = np.arange(20, dtype=np.float32), np.zeros(20, np.float32)
        (finding,) = launched(text, 3, x, out, 20, BLOCK=8).findings
        assert (finding.kind, finding.element) == (kind, element)
        assert str(finding).startswith(f"line {7 if kind == 'load' else 8}: a {kind} of ")


@needs_triton
def test_a_view_may_be_read_up_to_its_last_element_and_its_sectors_are_those_of_its_memory():
    base, out = rl.arange(40).float(), rl.zeros(10)
    view = base[3:23:2]
    text = COPY.replace("x + at", "x + 2 * at")
    result = launched(text, 1, view, out, 10, BLOCK=16)
    assert out.tolist() == view.tolist() and not result.findings
    assert result.sectors("load") == 3  # elements 3 to 21 of the memory
    assert launched(text, 1, view, out, 11, BLOCK=16).findings[0].element == 20


@needs_triton
def test_a_masked_off_element_of_a_load_is_undefined_without_other():
    text = HEAD + (
        "def add(x, out, n, BLOCK: tl.constexpr):\n"
        "    at = tl.arange(0, BLOCK)\n"
        "    value = tl.load(x + at, mask=at < n)\n"
        "    tl.store(out, tl.sum(value, 0))\n"
    )
    for value, expected in ((text, np.nan), (text.replace("at < n)", "at < n, other=0.0)"), 6.0)):
        out = np.zeros(1, np.float32)
        launched(value, 1, np.arange(4, dtype=np.float32), out, 4, BLOCK=8)
        np.testing.assert_array_equal(out, [expected])


@needs_triton
def test_an_error_of_a_kernel_has_its_line_both_times():
    arguments = np.zeros(8, np.float32), np.zeros(8, np.float32), 8
    for old, new, runs, said in (
        ("tl.arange(0, BLOCK)", "tl.arange(0, n)", True, "line 6: Triton's compiler: arange's arguments"),
        ("at < n)\n    tl", "at < n)\n    print(open)\n    tl", True, "line 8: Triton's compiler: NameError"),
        ("value, mask", "value.missing, mask", False, "line 8: "),
        ("value, mask", "value + tl.arange(0, 4), mask", False, "line 8: "),
    ):
        module = Module(COPY.replace(old, new))
        with pytest.raises(KernelError) as error:
            module.compile("copy", *arguments, BLOCK=8)
        assert str(error.value).startswith(said)
        if not runs:
            with pytest.raises(KernelError, match="^line 8: "):
                module.launch("copy", 1, *arguments, BLOCK=8)
    with pytest.raises(ValueError, match="no kernel 'other'"):
        Module(COPY).launch("other", 1)


@needs_triton
def test_a_kernel_compiles_after_a_launch_and_its_functions_run_in_both():
    text = COPY.replace(
        "@triton.jit\ndef copy", "@triton.jit\ndef twice(x):\n    return 2 * x\n\n@triton.jit\ndef copy"
    )
    text = text.replace("value, mask", "twice(value) + tl.max(value, 0) + value.sum(0), mask")
    x, out = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    module = Module(text)
    for _ in range(2):
        module.launch("copy", 1, x, out, 8, BLOCK=8)
        assert out.tolist() == [2 * i + 7 + 28 for i in range(8)]
        assert "tt.reduce" in module.compile("copy", x, out, 8, BLOCK=8)


@needs_triton
def test_neither_torch_nor_a_gpu_is_needed():
    program = (
        "import sys; sys.modules['torch'] = None; import numpy as np; from rushlight.on_torch.triton_on_host import Module\n"
        f"x, out = np.ones(8, np.float32), np.zeros(8, np.float32); module = Module({COPY!r})\n"
        "module.compile('copy', x, out, 8, BLOCK=8); module.launch('copy', 1, x, out, 8, BLOCK=8); print(out.sum())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("8.0\n", 0), done.stderr


def test_without_triton_one_line_says_what_is_missing(monkeypatch):
    monkeypatch.setattr(triton_heuristics, "is_installed", lambda: False)
    with pytest.raises(RuntimeError, match=r"^Triton is not installed: `pip install triton==[\d.]+` \(Linux only\)$"):
        Module(COPY)


@needs_triton
def test_what_is_predicted_of_loads_is_counted():
    loads_of = import_module("autograder.checks.14d_triton.blocks").loads_of
    for number in range(draws.POOL):
        text = draws.program("block_load", number)
        of_x, of_y, instance = re.findall(r": (\w+)", text)
        lines = text.replace("tl.program_id(0)", instance).replace("\n", "\n    ")
        result = launched(f"{HEAD}def load(x, y):\n    {lines}\n", 1, np.zeros(2**15, of_x), np.zeros(2**15, of_y))
        counted = [number for access in result.of("load") for number in (access.bytes, access.sectors)]
        assert counted == loads_of(text) and not result.findings, text


@needs_triton
def test_what_is_said_of_wrong_lines_holds():
    """A line of an access outside of the arrays, of a load of the same elements, or another result than on a longer row of 0."""
    for name, kernel in BLOCK_KERNELS.items():
        is_flat, stores_all = kernel.splitlines()[2].strip().startswith("at"), "tl.store(out + row," not in kernel
        x = -1 - rl.arange(1000 if is_flat else 4000).float().numpy() % 7
        out = np.zeros(len(x) if stores_all else 4, np.float32)
        sizes = {"BLOCK": 256 if name == "in blocks" else 1024}
        result = launched(HEAD.removesuffix("@triton.jit\n") + kernel, 1 if is_flat else 4, x, out, 1000, **sizes)
        seen, again = set(), None
        for access in result.of("load"):
            elements = {(access.instance, element) for element in access.elements.tolist()}
            again, seen = again or (access.line if elements & seen else None), seen | elements
        found = [finding.line for finding in result.findings] or [again] * (again is not None)
        if found:
            assert found[0] - 3 == masked_line(name), name
        else:
            rows = x.reshape(-1, 1000)
            right = {
                "copied": x, "a sum": rows.sum(1), "a maximum": rows.max(1), "added": rows.sum(1), "a variance": rows.var(1),
                "in blocks": rows.sum(1), "ones": np.exp(rows).sum(1),
                "softmax": (np.exp(rows) / np.exp(rows).sum(1, keepdims=True)).reshape(-1),
            }  # fmt: skip
            assert np.allclose(out, right[name], rtol=1e-4) == (masked_line(name) is None), name


@needs_triton
def test_block_pointers_and_updates_are_watched_too():
    text = HEAD + (
        "def copy(x, out, n, BLOCK: tl.constexpr):\n"
        "    block = tl.make_block_ptr(x, (n,), (1,), (4,), (BLOCK,), (0,))\n"
        '    value = tl.load(block, boundary_check=(0,), padding_option="zero")\n'
        "    tl.atomic_add(out + tl.arange(0, BLOCK), value)\n"
    )
    x, out = np.arange(8, dtype=np.float32), np.ones(8, np.float32)
    result = launched(text, 1, x, out, 8, BLOCK=8)
    assert out.tolist() == [5, 6, 7, 8, 1, 1, 1, 1]
    assert result.bytes("load", "x") == 16 and result.bytes("store", "out") == 32
    assert launched(text.replace('boundary_check=(0,), padding_option="zero"', ""), 1, x, out, 8, BLOCK=8).findings
    assert launched(text.replace("tl.arange", "4 + tl.arange"), 1, x, out, 8, BLOCK=8).findings


@needs_triton
@pytest.mark.sweep
def test_kernels_in_half_precision_and_of_integers_run():
    for kind in ("float16", "bfloat16", "float32", "float64", "int32", "int64", "uint8", "bool"):
        x = rl.tensor([0, 1, 1, 0, 1, 0, 1, 1], dtype=getattr(rl, kind))
        out = rl.zeros(8, dtype=x.dtype)
        result = launched(COPY, 1, x, out, 8, BLOCK=8)
        assert out.tolist() == x.tolist() and result.bytes("load") == 8 * x.element_size()


@needs_triton
@pytest.mark.sweep
def test_the_kernels_of_the_lab_are_right_at_other_sizes():
    a, b, bias = rl.randn(70, 50), rl.randn(50, 90), rl.randn(90)
    out = rl.zeros(70, 90)
    sizes = {"RELU": True, "GROUP": 2, "TILE_M": 32, "TILE_N": 64, "TILE_K": 16}
    strides = [*a.stride(), *b.stride()]
    launched(triton_templates.product_source(), 6, a, b, bias, out, 70, 90, 50, *strides, **sizes)
    np.testing.assert_allclose(out.numpy(), (a @ b + bias).relu().numpy(), rtol=1e-4, atol=1e-4)


@needs_triton
def test_a_mask_and_a_condition_on_a_number_are_one_mask():
    """The interpreter makes whole numbers of them."""
    text, x, out = (
        COPY.replace("at < n)", "(at < n) & (n > 0))"),
        np.arange(8, dtype=np.float32),
        np.zeros(8, np.float32),
    )
    result = Module(text).launch("copy", 1, x[:5], out[:5], 5, BLOCK=8)
    assert result.findings == [] and result.bytes("load") == result.bytes("store") == 20
    np.testing.assert_array_equal(out[:5], x[:5])
