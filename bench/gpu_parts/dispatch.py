"""Part 1: the way of a call to its kernel on CUDA.

The tables of the dispatcher, the key sets of tensors, what is registered for CUDA and not for the CPU, and, from the profiler, the
operators and the kernels of some calls: `a + b`, and products of matrices by dtype and by shape.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from bench.gpu_parts import programs
from bench.gpu_parts.recording import without_paths

TITLE = "dispatch: tables, key sets, the kernels of calls"
LIMIT = 30

TABLES = [
    "add.Tensor",
    "mm",
    "addmm",
    "relu",
    "_softmax",
    "native_layer_norm",
    "empty.memory_format",
    "view",
    "linear",
    "zeros_like",
    "copy_",
    "_to_copy",
    "dropout",
    "scaled_dot_product_attention",
]


def tables(run: Any) -> dict[str, str]:
    return {name: without_paths(torch._C._dispatch_dump_table(f"aten::{name}")) for name in TABLES}


def key_sets(run: Any) -> dict[str, str]:
    made = {
        "x": torch.ones(2, 3, device=run.device),
        "x, requires_grad": torch.ones(2, 3, device=run.device, requires_grad=True),
        "x, bfloat16": torch.ones(2, 3, device=run.device, dtype=torch.bfloat16),
        "x, sparse": torch.ones(2, 3, device=run.device).to_sparse(),
        "x, on the CPU": torch.ones(2, 3),
        "x, meta": torch.ones(2, 3, device="meta"),
    }
    with torch.inference_mode():
        made["x, of inference_mode"] = torch.ones(2, 3, device=run.device)
    return {name: str(torch._C._dispatch_keys(x)) for name, x in made.items()}


def registrations(run: Any) -> dict[str, list[str]]:
    names = torch._C._dispatch_get_registrations_for_dispatch_key
    cuda, cpu = {*names("CUDA")}, {*names("CPU")}
    return {"CUDA and not CPU": sorted(cuda - cpu), "CPU and not CUDA": sorted(cpu - cuda)}


class Calls(TorchDispatchMode):
    """The operators that arrive below autograd, with the keys of their first tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[list[str]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        tensor = next((arg for arg in args if isinstance(arg, torch.Tensor)), None)
        keys = "" if tensor is None else str(torch._C._dispatch_keys(tensor))
        self.found.append([str(func), keys])
        return func(*args, **(kwargs or {}))


def add(run: Any) -> dict[str, Any]:
    """`a + b` with gradients: its keys in order, the kernel that each has in the table, the operators, the node, the kernel."""
    a = torch.ones(programs.ROWS, programs.CLASSES, device=run.device, requires_grad=True)
    b = torch.ones_like(a)
    with Calls() as calls:
        c = a + b
    profile = programs.profiled(run, lambda: a + b)
    table = torch._C._dispatch_dump_table("aten::add.Tensor")
    device = "CPU" if run.cpu else "CUDA"
    return {
        "keys": str(torch._C._dispatch_keys(a)),
        "lines of the table": [
            line
            for line in table.splitlines()
            if line.startswith((f"{device}:", f"Autograd{device}:", "ADInplaceOrView:"))
        ],
        "below autograd": calls.found,
        "node": c.grad_fn.name(),
        "operators": programs.operators(profile),
        "kernels": programs.kernels(profile),
    }


def product(run: Any, rows: int, inner: int, columns: int, dtype: torch.dtype) -> dict[str, Any]:
    a = torch.ones(rows, inner, device=run.device, dtype=dtype)
    b = torch.ones(inner, columns, device=run.device, dtype=dtype)
    profile = programs.profiled(run, lambda: a @ b)
    return {
        "sizes": [rows, inner, columns],
        "dtype": str(dtype),
        "operators": programs.operators(profile),
        "kernels": programs.kernels(profile),
    }


def products(run: Any) -> list[dict[str, Any]]:
    """Which kernel a product gets: by dtype, with and without TF32, and for sizes that tensor cores like or do not."""
    large = 256 if run.cpu else 4096
    products = []
    for precision in ("highest", "high"):
        torch.set_float32_matmul_precision(precision)
        products.append({"float32 precision": precision} | product(run, large, large, large, torch.float32))
    torch.set_float32_matmul_precision("highest")
    for dtype in (torch.bfloat16, torch.float16):
        products.append(product(run, large, large, large, dtype))
    for sizes in ((large, large, large - 1), (large, large - 1, large), (large - 1, large, large), (32, 64, 600),
                  (32, 64, 601), (1, large, large), (64, 64, 64)):  # fmt: skip
        products.append(product(run, *sizes, torch.bfloat16))
    return products


def autocast(run: Any) -> dict[str, Any]:
    x, weight, bias = programs.head(run.device)
    by_dtype = {}
    for name, function in (
        ("linear", lambda: torch.nn.functional.linear(x, weight, bias)),
        ("softmax", lambda: torch.softmax(torch.nn.functional.linear(x, weight, bias), -1)),
    ):
        with torch.autocast(run.device.type, torch.bfloat16):
            seen = programs.profiled(run, function)
            dtype = str(function().dtype)
        by_dtype[name] = {"dtype": dtype, "operators": programs.operators(seen), "kernels": programs.kernels(seen)}
    return by_dtype


def training(run: Any) -> dict[str, Any]:
    """The kernels of a step of the head: linear, cross entropy, backward, SGD and fused Adam."""
    results = {}
    for name, options in (("SGD", {}), ("SGD", {"foreach": False}), ("Adam", {"fused": True})):
        torch.manual_seed(0)
        model = torch.nn.Linear(programs.FEATURES, programs.CLASSES).to(run.device)
        optimizer = getattr(torch.optim, name)(model.parameters(), lr=0.1, **options)
        x, y = programs.head(run.device)[0], torch.zeros(programs.ROWS, dtype=torch.long, device=run.device)

        def step(model=model, optimizer=optimizer, x=x, y=y) -> None:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()

        seen = programs.profiled(run, step)
        results[f"{name}, {options}" if options else name] = {
            "operators": programs.operators(seen),
            "kernels": programs.kernels(seen),
        }
    return results


SECTIONS = [
    ("tables of the dispatcher", tables),
    ("key sets", key_sets),
    ("registrations", registrations),
    ("a + b", add),
    ("products of matrices", products),
    ("under autocast", autocast),
    ("a step of the head", training),
]
