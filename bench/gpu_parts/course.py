"""Part 8: the course itself with CUDA visible.

The custom operator of phase 06, eager and compiled; a tensor of phase 06 made of two others; a rank of phase 09 as `run_ranks`
starts it; and the tests of phases 06, 08 and 09 on a machine with a GPU.
"""

from __future__ import annotations

import importlib.util
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch

from bench.gpu_parts import programs
from bench.gpu_parts.recording import without_paths

TITLE = "the course on CUDA: phases 06, 08, 09"
LIMIT = 215
WORKERS = 2  # one for the first section
ROOT = Path(__file__).resolve().parents[2]
TESTS = ["tests/rushlight/on_torch", "tests/rushlight/inductor", "tests/rushlight/distributed"]
OUTCOME = re.compile(
    r"(PASSED|FAILED|ERROR|SKIPPED|XFAIL) (tests/\S+)|(tests/\S+::.+?) (PASSED|FAILED|ERROR|SKIPPED|XFAIL)"
)


def custom_op(run: Any) -> dict[str, Any]:
    """`custom_ops.fused_linear` with its derivative, eager and compiled by Inductor."""
    from rushlight.on_torch import custom_ops

    operator = custom_ops.register_fused_linear("gpu_pack")
    given = [tensor.requires_grad_() for tensor in programs.head(run.device)]

    def step(function: Any) -> list[torch.Tensor]:
        result = function(*given, "relu")
        return [result.detach(), *torch.autograd.grad(result.sum(), given)]

    expected = step(lambda x, weight, bias, _: torch.relu(torch.nn.functional.linear(x, weight, bias)))
    seconds = {"eager": step(operator)}
    if not run.cpu:
        seconds["compiled"] = step(torch.compile(operator, fullgraph=True))
    return {
        name: [float((ours - theirs).abs().max()) for ours, theirs in zip(results, expected)]
        for name, results in seconds.items()
    }


def quantised(run: Any) -> dict[str, Any]:
    """`wrapper.quantise` and a product with it."""
    from rushlight.on_torch import wrapper

    x, weight, _ = programs.head(run.device)
    q = wrapper.quantise(weight)
    return {"largest difference": float((x @ q.t() - x @ weight.t()).abs().max()), "device": str(q.device)}


def one_rank(run: Any) -> dict[str, Any]:
    """The environment of a rank of `run_ranks` that has a GPU to itself: its backend, its device, and where its tensors are."""
    from rushlight.distributed import device, run_ranks

    def on_rank(x: torch.Tensor) -> dict[str, Any]:
        import torch.distributed as dist

        made = torch.ones(2)
        dist.all_reduce(made)
        host = torch.ones(2, device="cpu")
        dist.all_reduce(host)
        places = {"argument": x, "new tensor": made, "tensor of the CPU": host}
        return {
            "backend": str(dist.get_backend_config()),
            "device": str(device()),
            **{name: str(tensor.device) for name, tensor in places.items()},
            "sums": [made.tolist(), host.tolist()],
        }

    of_rank = run_ranks(on_rank, 1, torch.ones(3))[0]
    result = run_ranks(lambda: torch.ones(2), 1)[0]
    return of_rank | {"result": str(result.device)}


def tests(run: Any) -> dict[str, Any]:
    """The outcome of each test that ended in time. (Without `tests/conftest.py`, which needs the whole course installed.)"""
    return tests_of(run, ["tests/rushlight/on_torch/test_wrapper.py"] if run.cpu else TESTS, "not sweep")


def compiled_triton(run: Any) -> dict[str, Any]:
    """The tests of the kernels in Triton that rushlight's Inductor writes, all samples of all operators, compiled for the device.
    One is left out: an assertion in a kernel ends the use of the device in its process."""
    run.need_gpu("without a GPU the kernels are interpreted")
    path = "tests/rushlight/inductor/test_triton_kernel.py"
    where = [path, "--deselect", f"{path}::test_an_index_from_memory_is_checked"]
    return tests_of(run, where, "", TRITON_INTERPRET="0")


def tests_of(run: Any, where: list[str], marks: str, **own: str) -> dict[str, Any]:
    for needed in ("pytest", "hypothesis"):
        if importlib.util.find_spec(needed) is None:
            raise ModuleNotFoundError(f"{needed} is not installed")
    command = [sys.executable, "-m", "pytest", "-v", "--tb=short", "-o", "addopts=", "-o", "filterwarnings=",
               "-p", "no:cacheprovider", "-m", marks, "--confcutdir=tests/rushlight", *where]  # fmt: skip
    if not run.cpu and importlib.util.find_spec("xdist"):
        command += ["-n", str(min(5, os.cpu_count() or 1)), "--dist", "loadfile" if where == TESTS else "load"]
    path = os.pathsep.join(
        [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests/rushlight"), os.environ.get("PYTHONPATH", "")]
    )
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=os.environ | own | {"PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    ended = True
    try:
        printed, _ = process.communicate(timeout=600 if run.cpu else max(5.0, run.left() - 12))
    except subprocess.TimeoutExpired:
        ended = False
        process.send_signal(signal.SIGINT)  # pytest then prints what has failed
        try:
            printed, _ = process.communicate(timeout=8)
        except subprocess.TimeoutExpired:
            process.kill()
            printed, _ = process.communicate()
    outcomes: dict[str, str] = {}
    for first, name, other, last in OUTCOME.findall(printed):
        outcomes.setdefault((name or other).strip(), first or last)
    counts = {kind: [*outcomes.values()].count(kind) for kind in sorted({*outcomes.values()})}
    words = ", ".join(f"{count} {kind.lower()}" for kind, count in counts.items())
    shown = {
        "summary": words if ended else f"{words}; not all ended",
        "counts": counts,
        "all ended": ended,
        "failed": sorted(name for name, outcome in outcomes.items() if outcome in ("FAILED", "ERROR")),
        "printed": run.write(f"tests{len(own)}.txt", without_paths(printed)),
    }
    if not outcomes:
        raise RuntimeError(f"no test ran: {without_paths(printed)[-2000:]}")
    return shown


SECTIONS = [
    ("rushlight's kernels in Triton, compiled", compiled_triton),
    ("the custom operator", custom_op),
    ("the quantised tensor", quantised),
    ("a rank of run_ranks", one_rank),
    ("tests of phases 06, 08, 09", tests),
]
