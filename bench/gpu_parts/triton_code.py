"""Part 4: the Triton code that Inductor writes.

The text of the modules for the head's softmax, layer norm, the head with its loss, and their backward passes; for two of them what
Triton made of the kernels (its two intermediate languages and PTX); and the log of autotuning, for a reduction and for a product.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch._inductor import config
from torch._inductor.utils import run_and_get_code
from torch.nn import functional as F

from bench.gpu_parts import programs
from bench.gpu_parts.recording import without_paths

TITLE = "Inductor's Triton code"
LIMIT = 95
LOGS = ("torch._inductor.runtime.triton_heuristics", "torch._inductor.runtime.coordinate_descent_tuner",
        "torch._inductor.select_algorithm", "torch._inductor.autotune_process")  # fmt: skip


def softmax(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x, -1)


def layer_norm(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(x, x.shape[-1:], weight, bias)


def pointwise(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.relu(x * 2 + y)


def total(x: torch.Tensor) -> torch.Tensor:
    return x.sum()


def head(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return torch.log_softmax(F.linear(x, weight, bias), -1)


def loss(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(F.linear(x, weight, bias), torch.arange(len(x), device=x.device))


def generate(
    run: Any, name: str, function: Callable, *sizes: tuple[int, ...], backward: bool = False, **options: Any
) -> dict:
    """Compile and run a function. Its code goes into a file, and its numbers are compared with eager PyTorch's."""
    drawn = torch.Generator().manual_seed(0)
    inputs = [torch.randn(size, generator=drawn).to(run.device).requires_grad_(backward) for size in sizes]
    compiled = torch.compile(function, options={"fx_graph_cache": False, **options})

    def call() -> torch.Tensor:
        result = compiled(*inputs)
        if backward:
            result.sum().backward()
        return result.detach()

    result, codes = run_and_get_code(call)
    text = "\n\n# " + "=" * 100 + "\n\n"
    text = without_paths(text.join(re.sub(r"# kernel path: .*\n", "", code) for code in codes))
    shown = {
        "inputs": [list(size) for size in sizes],
        "code": run.write(f"{name}.py", text),
        "modules": len(codes),
        "kernels": re.findall(r"def (triton_\w+)\(", text) or re.findall(r"\b(cpp_fused_\w+) =", text),
        "largest difference from eager": float((result - function(*inputs).detach()).abs().max()),
    }
    if not backward:
        with torch.no_grad():
            shown["seconds"] = {
                "compiled": run.seconds(lambda: compiled(*inputs)),
                "eager": run.seconds(lambda: function(*inputs)),
            }
    return shown


def of_softmax(run: Any) -> dict[str, Any]:
    return {"code": generate(run, "softmax", softmax, (32, 600)), "from Triton": intermediate(run, "softmax")}


def of_layer_norm(run: Any) -> dict[str, Any]:
    sizes = (32, 600), (600,), (600,)
    return {"code": generate(run, "layer_norm", layer_norm, *sizes), "from Triton": intermediate(run, "layer_norm")}


_seen: set[Path] = set()


def intermediate(run: Any, name: str) -> dict[str, str]:
    """Return the code that Triton has written since the last call: its languages before and after the layout, and PTX."""
    files = {}
    for variable in ("TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR"):
        folder = Path(os.environ.get(variable, "/nonexistent"))
        for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
            if path.suffix in (".ttir", ".ttgir", ".ptx") and path not in _seen and path.suffix[1:] not in files:
                text = without_paths(path.read_text(errors="replace"))
                files[path.suffix[1:]] = run.write(f"{name}{path.suffix}.txt", text)
            _seen.add(path)
    return files


def of_long_rows(run: Any) -> dict[str, Any]:
    run.need_gpu("two C++ texts are enough to try this")
    return generate(run, "softmax_long_rows", softmax, (32, 60000))


def of_pointwise(run: Any) -> dict[str, Any]:
    run.need_gpu("two C++ texts are enough to try this")
    return generate(run, "pointwise", pointwise, (32, 600), (32, 600))


def of_sum(run: Any) -> dict[str, Any]:
    run.need_gpu("two C++ texts are enough to try this")
    return generate(run, "sum", total, (4096, 4096))


def of_head(run: Any) -> dict[str, Any]:
    run.need_gpu("two C++ texts are enough to try this")
    return generate(run, "head", head, (32, 64), (600, 64), (600,))


def of_training(run: Any) -> dict[str, Any]:
    """Forward and backward of the head's loss, and of layer norm."""
    run.need_gpu("two C++ texts are enough to try this")
    return {
        "loss": generate(run, "loss_backward", loss, (32, 64), (600, 64), (600,), backward=True),
        "layer norm": generate(run, "layer_norm_backward", layer_norm, (32, 600), (600,), (600,), backward=True),
    }


@contextlib.contextmanager
def logged():
    """Within: what Inductor logs and prints while it tunes, in a text."""
    text = io.StringIO()
    handler = logging.StreamHandler(text)
    handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
    loggers = [logging.getLogger(name) for name in LOGS]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(logging.DEBUG)
    try:
        with contextlib.redirect_stderr(text):
            yield text
    finally:
        for logger, level in zip(loggers, levels):
            logger.removeHandler(handler)
            logger.setLevel(level)


def tuned_reduction(run: Any) -> dict[str, Any]:
    """The candidates of a softmax and their times. All in this process, so that the log has them."""
    run.need_gpu("on a CPU Inductor does not tune reductions")
    with logged() as text, config.patch(compile_threads=1, force_disable_caches=True):
        generated = generate(run, "softmax_tuned", softmax, (4096, 600), max_autotune_pointwise=True, max_autotune=True,
                         coordinate_descent_tuning=True)  # fmt: skip
    return generated | {"log": run.write("softmax_tuned.log", without_paths(text.getvalue()))}


def tuned_product(run: Any) -> dict[str, Any]:
    """The candidates of a product in bfloat16: cuBLAS, and Triton's templates."""
    run.need_gpu("on a CPU the templates are in C++")
    if run.left() < 25:
        raise TimeoutError("not begun: too little time was left")
    a = torch.ones(2048, 2048, device=run.device, dtype=torch.bfloat16)
    b = torch.ones(2048, 2048, device=run.device, dtype=torch.bfloat16)
    compiled = torch.compile(lambda a, b: torch.relu(a @ b), options={"max_autotune": True})
    with logged() as text:
        _, codes = run_and_get_code(compiled, a, b)
    return {
        "log": run.write("product_tuned.log", without_paths(text.getvalue())),
        "code": run.write("product_tuned.py", without_paths("\n\n".join(codes))),
        "kernels": programs.kernels(programs.profiled(run, lambda: compiled(a, b))),
    }


def triton_op(run: Any) -> dict[str, Any]:
    """`fused_linear` as a Triton kernel, its numbers and its kernel in the profile; and the same, compiled."""
    from rushlight.on_torch import triton_ops

    if run.cpu and not triton_ops.available():
        run.need_gpu("Triton is not installed here")
    assert run.device.type == triton_ops.DEVICE, f"Triton's kernels run on {triton_ops.DEVICE}"
    x, weight, bias = programs.head(run.device)
    expected = torch.relu(torch.nn.functional.linear(x, weight, bias))
    ours = triton_ops.fused_linear(x, weight, bias, "relu")
    operator = triton_ops.register("gpu_pack_triton")
    compiled = torch.compile(lambda x: operator(x, weight, bias, "relu") + 1, fullgraph=True)
    result, codes = run_and_get_code(compiled, x)
    profile = programs.profiled(run, lambda: triton_ops.fused_linear(x, weight, bias, "relu"))
    return {
        "largest difference": float((ours - expected).abs().max()),
        "largest difference, compiled": float((result - 1 - expected).abs().max()),
        "kernels": programs.kernels(profile),
        "code": run.write("triton_op.py", without_paths("\n\n".join(codes))),
        "seconds": {
            "ours": run.seconds(lambda: triton_ops.fused_linear(x, weight, bias, "relu")),
            "PyTorch": run.seconds(lambda: torch.relu(torch.nn.functional.linear(x, weight, bias))),
        },
    }


SECTIONS = [
    ("the Triton operator of phase 06", triton_op),
    ("softmax", of_softmax),
    ("layer norm", of_layer_norm),
    ("pointwise", of_pointwise),
    ("sum", of_sum),
    ("softmax of long rows", of_long_rows),
    ("head", of_head),
    ("backward", of_training),
    ("autotuning a reduction", tuned_reduction),
    ("autotuning a product", tuned_product),
]
