"""Runs recorded Triton code on the CPU, in Triton's interpreter, and compares its numbers with eager PyTorch's.

The interpreter runs a kernel's text with numpy, one instance after the other. It has no `libdevice`, the functions of CUDA's own
library, and is slow where a reduction has a function of its own. So `exp`, `rsqrt`, `tanh` and the maximum are Triton's own here.
Modules that take long are left out. `record_triton.py` runs this program: modules come in as JSON, and for each of them
goes out whether the results agree, or null.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import sys
import tempfile
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

os.environ["TRITON_INTERPRET"] = "1"
import torch
import torch._inductor.runtime.triton_helpers as helpers
import triton.language as tl

LARGEST = 50_000  # positions of a module's kernels together
LIBDEVICE = SimpleNamespace(
    exp=lambda x: tl.exp(x), rsqrt=lambda x: tl.rsqrt(x), tanh=lambda x: 2 / (1 + tl.exp(-2 * x)) - 1
)
helpers.libdevice = LIBDEVICE
helpers.max2 = lambda x, dim: tl.max(x, dim)
helpers.maximum = lambda x, y: tl.maximum(x, y)
helpers.any = lambda x, dim: tl.max(x.to(tl.int32), dim) > 0

# What a module asks of a GPU, and what it gets here
INSTEAD = [
    (r"^async_compile = .*$|^async_compile\.wait.*$|^del async_compile$|^from .* import (AsyncCompile|copy_if_misaligned)$", ""),
    (r"^from torch\._C import _cuda_getCurrentRawStream as get_raw_stream$", ""),
    (r"^empty_strided_cuda = .*$", "empty_strided_cuda = empty_strided_cpu"),
    (r"torch\.cuda\._DeviceGuard\(0\)", "nullcontext()"),
    (r"torch\.cuda\.set_device\(0\)", "pass"),
]  # fmt: skip


class Kernel:
    """A kernel that `call` can run, with the last of its configurations."""

    def __init__(self, source: str, name: str, known: dict[str, Any], folder: str):
        source = re.sub(r"^@triton_heuristics\..*?^\)\n", "", source, flags=re.MULTILINE | re.DOTALL)
        source = re.sub(r"^(from torch|triton_helpers\.set).*\n", "", source, flags=re.MULTILINE)
        space = {"triton_helpers": helpers, "libdevice": LIBDEVICE, "tl_math": helpers.math}
        path = Path(folder, f"{name}.py")
        path.write_text(source)  # the interpreter reads the source again
        exec(compile(source, str(path), "exec"), space)
        self.function, self.known = space[name], known

    def run(self, *arguments: Any, stream: int) -> None:
        sizes, config = self.known["numels"], dict(self.known["configs"][-1])
        del config["num_warps"], config["num_stages"]
        grid = [math.ceil(sizes.get(axis, 1) / config.get(f"{axis.upper()}BLOCK", 1)) for axis in "xy"]
        self.function[(*grid, 1)](*arguments, **config)


def agrees(module: dict[str, Any]) -> bool:
    """Whether a module gives the results of its function, on the CPU."""
    torch.manual_seed(0)
    inputs = dict(zip("xyzw", (_input(*described) for described in module["inputs"])))
    copies = [
        torch.empty_strided(x.shape, x.stride(), dtype=x.dtype).copy_(x) for x in map(inputs.get, module["arguments"])
    ]
    space: dict[str, Any] = {"torch": torch, "F": torch.nn.functional}
    exec(module["source"], space)
    theirs = space["f"](*inputs.values())
    text = module["text"]
    for form, instead in INSTEAD:
        text = re.sub(form, instead, text, flags=re.MULTILINE)
    with tempfile.TemporaryDirectory() as folder:

        def made(name: str, source: str, device_str: str) -> Kernel:
            return Kernel(source, name, module["kernels"][name], folder)

        space = {"async_compile": SimpleNamespace(triton=made), "nullcontext": contextlib.nullcontext}
        space |= {"copy_if_misaligned": lambda x: x, "get_raw_stream": lambda index: 0, "__name__": "module"}
        exec(text, space)
        ours = space["call"](copies)
    pairs = list(zip(ours, theirs if isinstance(theirs, tuple) else (theirs,), strict=True))
    return all(a.dtype == b.dtype and a.shape == b.shape and _close(a, b) for a, b in pairs)


def _close(ours: torch.Tensor, theirs: torch.Tensor) -> bool:
    bound = (
        2**-6 if ours.dtype == torch.bfloat16 else 1e-4
    )  # the interpreter cuts off the bits that bfloat16 does not have
    return torch.allclose(ours.double(), theirs.double(), rtol=bound, atol=bound)


def _input(sizes: list[int], strides: list[int] | None, dtype: str) -> torch.Tensor:
    kind = getattr(torch, dtype)
    drawn = torch.randint(0, 5, sizes) if kind == torch.int64 else torch.randn(sizes)
    drawn = drawn > 0 if kind == torch.bool else drawn.to(kind)
    return drawn if strides is None else torch.empty_strided(sizes, strides, dtype=kind).copy_(drawn)


def main() -> None:
    warnings.simplefilter("ignore")
    agreed: dict[str, bool | None] = {}
    for module in json.load(sys.stdin):
        positions = sum(math.prod(kernel["numels"].values()) for kernel in module["kernels"].values())
        unknown = re.search(r"welford|online_softmax|argmax|max_with_index", module["text"].partition("def call(")[0])
        print(module["name"], file=sys.stderr, flush=True)
        left_out = positions > LARGEST or (unknown and positions > 2_000)
        agreed[module["name"]] = None if left_out else agrees(module)
    print(json.dumps(agreed))


if __name__ == "__main__":
    main()
