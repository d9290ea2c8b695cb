"""Recordings of what a CUDA build of PyTorch decides before the device does anything, made without a GPU.

On the stand-in of `cuda.c` and `kernels.c` PyTorch dispatches to its CUDA kernels, launches them by name and writes Triton code.
No kernel runs and nothing is timed, so results are not recorded. cuBLAS and cuDNN do not start here: they choose their kernels
with a device, so no matrix product is recorded. By hand, as `record.py` says:

    cuda/bin/python bench/stand_in/record_code.py

It writes `phases/recorded/stand_in/code.json.gz`.
"""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
from pathlib import Path
from typing import Any

from bench.stand_in import record

OUTPUT = record.OUTPUT.with_name("code.json.gz")

TABLES = [
    "add.Tensor",
    "mm",
    "relu",
    "_softmax",
    "empty.memory_format",
    "view",
    "linear",
    "zeros_like",
    "copy_",
    "dropout",
]

# name, what is made before, what is recorded
LAUNCHES = [
    ("a + b", "a, b = empty(32, 600), empty(32, 600)", "a + b"),
    ("a + b, strided", "a, b = empty(600, 32).t(), empty(32, 600)", "a + b"),
    ("a + b, bf16", "a, b = empty(32, 600, dtype=torch.bfloat16), empty(32, 600, dtype=torch.bfloat16)", "a + b"),
    ("a + b, large", "a, b = empty(4096, 4096), empty(4096, 4096)", "a + b"),
    ("a * 2 + b", "a, b = empty(32, 600), empty(32, 600)", "a * 2 + b"),
    ("zeros", "", "torch.zeros(32, 600, device='cuda')"),
    ("relu", "a = empty(32, 600)", "a.relu()"),
    ("sum", "a = empty(32, 600)", "a.sum()"),
    ("sum of rows", "a = empty(32, 600)", "a.sum(1)"),
    ("softmax", "a = empty(32, 600)", "a.softmax(1)"),
    ("softmax, long rows", "a = empty(32, 60000)", "a.softmax(1)"),
    ("contiguous of a transpose", "a = empty(600, 32).t()", "a.contiguous()"),
    ("layer norm", "a, norm = empty(32, 600), torch.nn.LayerNorm(600, device='cuda')", "norm(a)"),
    ("layer norm, backward", "a, norm = empty(32, 600).requires_grad_(), torch.nn.LayerNorm(600, device='cuda')",
     "norm(a).sum().backward()"),
    ("cross entropy, backward", "a, t = empty(32, 600).requires_grad_(), torch.zeros(32, dtype=torch.long, device='cuda')",
     "torch.nn.functional.cross_entropy(a, t).backward()"),
    ("SGD", "p = [empty(600, 64).requires_grad_(), empty(600).requires_grad_()]\n"
     "for x in p: x.grad = torch.empty_like(x)\noptimizer = torch.optim.SGD(p, lr=0.1)", "optimizer.step()"),
    ("SGD, one by one", "p = [empty(600, 64).requires_grad_(), empty(600).requires_grad_()]\n"
     "for x in p: x.grad = torch.empty_like(x)\noptimizer = torch.optim.SGD(p, lr=0.1, foreach=False)", "optimizer.step()"),
    ("Adam, fused", "p = [empty(600, 64).requires_grad_(), empty(600).requires_grad_()]\n"
     "for x in p: x.grad = torch.empty_like(x)\noptimizer = torch.optim.Adam(p, fused=True)", "optimizer.step()"),
]  # fmt: skip

# name, source of a function f, sizes of its inputs
TRITON = [
    ("softmax", "def f(x):\n    return torch.softmax(x, -1)\n", [(32, 600)]),
    ("softmax, long rows", "def f(x):\n    return torch.softmax(x, -1)\n", [(32, 60000)]),
    ("layer norm", "def f(x, weight, bias):\n    return torch.nn.functional.layer_norm(x, (600,), weight, bias)\n",
     [(32, 600), (600,), (600,)]),
    ("pointwise", "def f(x, y):\n    return torch.relu(x * 2 + y)\n", [(32, 600), (32, 600)]),
    ("sum", "def f(x):\n    return x.sum()\n", [(32, 600)]),
    ("head", "def f(x, weight, bias):\n    return torch.log_softmax(torch.nn.functional.linear(x, weight, bias), -1)\n",
     [(32, 64), (600, 64), (600,)]),
]  # fmt: skip


def launched() -> list[dict[str, Any]]:
    """The kernels that each program launches, in order, with their grids."""
    import torch

    device = ctypes.CDLL(os.environ[record.LIBRARY])
    device.stand_in_launch.restype = ctypes.c_char_p
    numbers = (ctypes.c_long * 7)()

    def empty(*sizes: int, **options: Any) -> torch.Tensor:
        return torch.empty(*sizes, device="cuda", **options)

    programs = []
    for name, setup, source in LAUNCHES:
        space = {"torch": torch, "empty": empty}
        exec(setup, space)
        before = device.stand_in_launches()
        exec(source, space)
        kernels = []
        for i in range(before, device.stand_in_launches()):
            mangled = device.stand_in_launch(i, numbers).decode()
            kernels.append(
                {"kernel": mangled, "grid": numbers[:3], "block": numbers[3:6], "shared": numbers[6]},
            )
        programs.append({"name": name, "setup": setup, "source": source, "launches": kernels})
    names = [kernel["kernel"] for program in programs for kernel in program["launches"]]
    plain = subprocess.run(
        ["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True
    ).stdout.split("\n")
    for kernel, text in zip((kernel for program in programs for kernel in program["launches"]), plain):
        kernel["kernel"] = text
    return programs


def generated() -> list[dict[str, Any]]:
    """The text of the module that Inductor writes for each function. Triton is told the target, and does not compile."""
    import torch
    import torch._inductor.config as config
    import triton
    from torch._inductor.graph import GraphLowering
    from triton.backends.compiler import GPUTarget

    class Target:
        def get_current_target(self) -> GPUTarget:
            return GPUTarget("cuda", 90, 32)

    class Written(BaseException):
        pass

    def stop(self: GraphLowering) -> None:
        raise Written(self.codegen()[0].value)

    triton.runtime.driver.set_active(Target())
    GraphLowering.compile_to_module = stop  # after the code is written, before it is compiled
    config.fx_graph_cache, config.compile_threads = False, 1
    modules = []
    for name, source, sizes in TRITON:
        torch._dynamo.reset()
        space: dict[str, Any] = {"torch": torch}
        exec(source, space)
        try:
            torch.compile(space["f"])(*(torch.empty(size, device="cuda") for size in sizes))
        except Written as written:
            text = re.sub(r"# kernel path: .*\n", "", str(written))
            modules.append({"name": name, "source": source, "inputs": sizes, "text": text})
    return modules


def record_all() -> dict[str, Any]:
    import torch

    x = torch.empty(2, 3, device="cuda", requires_grad=True)
    by_key = {key: {*torch._C._dispatch_get_registrations_for_dispatch_key(key)} for key in ("CUDA", "CPU")}
    return {
        "provenance": record.provenance(
            "What a CUDA build of PyTorch dispatches to, launches and writes", "record_code.py"
        ),
        "tables": {name: _without_folder(torch._C._dispatch_dump_table(f"aten::{name}")) for name in TABLES},
        "key sets": {
            "torch.empty(2, 3, device='cuda', requires_grad=True)": str(torch._C._dispatch_keys(x)),
            "the same, detached": str(torch._C._dispatch_keys(x.detach())),
            "torch.empty(2, 3)": str(torch._C._dispatch_keys(torch.empty(2, 3))),
        },
        "operators with a kernel for CUDA and none for CPU": sorted(by_key["CUDA"] - by_key["CPU"]),
        "operators with a kernel for CPU and none for CUDA": sorted(by_key["CPU"] - by_key["CUDA"]),
        "launches": launched(),
        "triton": generated(),
    }


def _without_folder(text: str) -> str:
    """Text that names files of the installed PyTorch from `torch/` on."""
    import torch

    return text.replace(f"{Path(torch.__file__).parent.parent}{os.sep}", "")


if __name__ == "__main__":
    record.main(__doc__, OUTPUT, record_all, ["launches", "triton"], indent=1)
