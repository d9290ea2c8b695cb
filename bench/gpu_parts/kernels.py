"""Part 9: int8 and attention.

A linear layer with weights in int8, by `torch._int_mm`, by weights that are packed, and compiled, against float32 and bfloat16; and
attention by each of its backends, with the kernels, the seconds and the memory of each.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from bench.gpu_parts import programs

TITLE = "int8 and attention"
LIMIT = 35
BACKENDS = {
    "math": SDPBackend.MATH,
    "flash": SDPBackend.FLASH_ATTENTION,
    "efficient": SDPBackend.EFFICIENT_ATTENTION,
    "cudnn": SDPBackend.CUDNN_ATTENTION,
}


def quantise(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """int8 and a scale for each row, as in phases 06 and 10: the largest magnitude becomes 127."""
    scale = x.abs().amax(1, keepdim=True) / 127
    scale = torch.where(scale == 0, 1, scale)
    return torch.round(x / scale).to(torch.int8), scale


def int8_linear(x: torch.Tensor, weight: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    """x quantised by rows when it arrives (dynamic), a product in int32, and one scale for each element of the result."""
    numbers, own = quantise(x)
    return torch._int_mm(numbers, weight.t()).to(x.dtype) * own * scale.t()


def linear(run: Any) -> dict[str, Any]:
    """Three sizes: the head, and two where memory or arithmetic is the limit. Differences are relative to float64's largest."""
    sizes = [(32, 64, 600)] if run.cpu else [(32, 64, 600), (32, 4096, 4096), (4096, 4096, 4096)]
    products = {}
    for rows, inner, columns in sizes:
        drawn = torch.Generator().manual_seed(0)
        x, weight = (torch.randn(n, inner, generator=drawn).to(run.device) for n in (rows, columns))
        numbers, scale = quantise(weight)
        exact = F.linear(x.double(), weight.double())
        low_x, low_weight = x.bfloat16(), weight.bfloat16()
        ways = {
            "float32": lambda x=x, weight=weight: F.linear(x, weight),
            "bfloat16": lambda x=low_x, weight=low_weight: F.linear(x, weight),
            "int8": lambda x=x, numbers=numbers, scale=scale: int8_linear(x, numbers, scale),
        }
        rows_found = {}
        for name, way in ways.items():
            result = way()
            rows_found[name] = {
                "difference": float((result.double() - exact).abs().max() / exact.abs().max()),
                "seconds": run.seconds(way),
                "kernels": programs.kernels(programs.profiled(run, way)),
            }
        products[f"({rows}, {inner}) @ ({inner}, {columns})"] = rows_found
    return products


def compiled_linear(run: Any) -> dict[str, Any]:
    """The int8 layer compiled: the quantisation and the scales become kernels of Inductor."""
    run.need_gpu("compiling it for a CPU is part of bench/quantized.py")
    drawn = torch.Generator().manual_seed(0)
    x, weight = (torch.randn(4096, 4096, generator=drawn).to(run.device) for _ in range(2))
    numbers, scale = quantise(weight)
    compiled = torch.compile(int8_linear)
    difference = (compiled(x, numbers, scale) - int8_linear(x, numbers, scale)).abs().max()
    return {
        "largest difference from eager": float(difference),
        "seconds": run.seconds(lambda: compiled(x, numbers, scale)),
        "kernels": programs.kernels(programs.profiled(run, lambda: compiled(x, numbers, scale))),
    }


def weight_only(run: Any) -> dict[str, Any]:
    """Weights in int8, everything else in bfloat16: the operator that PyTorch has for it."""
    drawn = torch.Generator().manual_seed(0)
    x = torch.randn(16, 256, generator=drawn).to(run.device, torch.bfloat16)
    weight = torch.randn(512, 256, generator=drawn).to(run.device)
    numbers, scale = quantise(weight)
    scales = scale.flatten().to(torch.bfloat16)
    ours = torch.ops.aten._weight_int8pack_mm(x, numbers, scales)
    exact = F.linear(x.float(), weight)
    profile = programs.profiled(run, lambda: torch.ops.aten._weight_int8pack_mm(x, numbers, scales))
    return {
        "difference": float((ours.float() - exact).abs().max() / exact.abs().max()),
        "kernels": programs.kernels(profile),
    }


def attention(run: Any) -> dict[str, Any]:
    """Each backend on the same numbers: the difference from float64, seconds, bytes and kernels; or why it refuses."""
    results = {}
    for length in (64,) if run.cpu else (64, 1024, 4096):
        drawn = torch.Generator().manual_seed(0)
        q, k, v = (torch.randn(2, 8, length, 64, generator=drawn).to(run.device, torch.bfloat16) for _ in range(3))
        exact = None
        if length <= 1024:
            exact = F.scaled_dot_product_attention(q.double(), k.double(), v.double(), is_causal=True)
        for name, backend in BACKENDS.items():

            def way(q=q, k=k, v=v, backend=backend) -> torch.Tensor:
                with sdpa_kernel(backend):
                    return F.scaled_dot_product_attention(q, k, v, is_causal=True)

            try:
                result = way()
            except RuntimeError as error:
                results[f"{name}, {length}"] = {"refused": str(error).splitlines()[0]}
                continue
            row: dict[str, Any] = {
                "seconds": run.seconds(way),
                "kernels": programs.kernels(programs.profiled(run, way)),
            }
            if exact is not None:
                row["difference"] = float((result.double() - exact).abs().max())
            if not run.cpu:
                torch.cuda.reset_peak_memory_stats()
                before = torch.cuda.memory_allocated()
                way()
                row["bytes"] = torch.cuda.max_memory_allocated() - before
            results[f"{name}, {length}"] = row
    return results


def default_backend(run: Any) -> dict[str, Any]:
    """Which kernel runs if no backend is named, by dtype and by what the call asks for."""
    results = {}
    for dtype in (torch.float32, torch.bfloat16):
        q = torch.ones(2, 8, 64 if run.cpu else 1024, 64, device=run.device, dtype=dtype)
        mask = torch.zeros(q.shape[2], q.shape[2], device=run.device, dtype=dtype)
        for name, options in (("plain", {}), ("causal", {"is_causal": True}), ("with a mask", {"attn_mask": mask})):
            seen = programs.profiled(run, lambda q=q, o=options: F.scaled_dot_product_attention(q, q, q, **o))
            results[f"{dtype}, {name}"] = {"operators": programs.operators(seen), "kernels": programs.kernels(seen)}
    return results


SECTIONS = [
    ("a linear layer in int8", linear),
    ("weights in int8", weight_only),
    ("attention by backend", attention),
    ("attention, which backend", default_backend),
    ("the int8 layer compiled", compiled_linear),
]
