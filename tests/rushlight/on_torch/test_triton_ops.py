"""The kernel in Triton computes what torch does; without Triton the module says so."""

import os
import subprocess
import sys
from contextlib import suppress

import pytest
import torch

with suppress(ImportError):
    import triton  # noqa: F401  before it is said that kernels are interpreted, because other tests compile some

from rushlight.on_torch import triton_ops

needs_triton = pytest.mark.skipif(
    not triton_ops.available(), reason="Triton is not installed: it is no requirement of the course"
)

ACTIVATIONS = {"none": lambda z: z, "relu": torch.relu, "tanh": torch.tanh, "gelu": torch.nn.functional.gelu}


def made(*shape, **options):
    return torch.randn(*shape, device=triton_ops.DEVICE, **options)


@needs_triton
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("shape", [(5, 7), (40,), (2, 3, 70), (0, 4), (33, 1)])
def test_it_computes_what_torch_does(shape, activation):
    x, weight, bias = made(*shape), made(37, shape[-1]), made(37)
    for given in (bias, None):
        expected = ACTIVATIONS[activation](torch.nn.functional.linear(x, weight, given))
        torch.testing.assert_close(
            triton_ops.fused_linear(x, weight, given, activation), expected, rtol=1e-4, atol=1e-5
        )


@needs_triton
@pytest.mark.sweep
def test_somebody_else_may_have_imported_triton_before():
    program = (
        "import triton, torch; from rushlight.on_torch.triton_ops import DEVICE, fused_linear\n"
        "x = torch.ones(2, 3, device=DEVICE); fused_linear(x, x, None, 'tanh')"
    )
    untouched = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=untouched,
    )
    assert done.returncode == 0


@needs_triton
def test_any_strides_are_followed():
    x, weight, bias = made(7, 5).t(), made(7, 9).t(), made(18)[::2]
    expected = torch.nn.functional.linear(x, weight, bias)
    torch.testing.assert_close(triton_ops.fused_linear(x, weight, bias), expected, rtol=1e-4, atol=1e-5)


@needs_triton
def test_half_precision_is_added_up_in_single():
    x, weight = made(3, 200, dtype=torch.float16), made(5, 200, dtype=torch.float16)
    result = triton_ops.fused_linear(x, weight)
    torch.testing.assert_close(result, (x.float() @ weight.float().t()).half())


@needs_triton
def test_what_does_not_fit_is_refused_before_the_kernel_starts():
    for x, weight, bias in (
        (made(3, 4), made(5, 3), None),
        (made(3, 4), made(4), None),
        (made(3, 4), made(5, 4), made(4)),
        (made(3, 4), made(5, 4, dtype=torch.float16), None),
        (made(3, 4, dtype=torch.float64), made(5, 4, dtype=torch.float64), None),
    ):
        with pytest.raises(RuntimeError):
            triton_ops.fused_linear(x, weight, bias)
    with pytest.raises(ValueError, match="activation"):
        triton_ops.fused_linear(made(3, 4), made(5, 4), None, "softmax")


@needs_triton
def test_registered_it_passes_opcheck_and_a_full_graph():
    operator = triton_ops.register("rushlight_test_triton")
    x, weight, bias = made(3, 4), made(5, 4), made(5)
    assert set(torch.library.opcheck(operator._opoverload, (x, weight, bias, "relu")).values()) == {"SUCCESS"}
    compiled = torch.compile(lambda x: operator(x, weight, bias, "relu"), fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(x), operator(x, weight, bias, "relu"))


@pytest.mark.sweep
def test_without_triton_one_line_says_what_is_missing():
    code = (
        "import sys; sys.modules['triton'] = None; from rushlight.on_torch import triton_ops; triton_ops.register('n')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.splitlines()[-1].startswith("RuntimeError: Triton is not installed: `pip install triton`")
