"""Part 13: the kernels that the labs of phase 14 have students write, on the device.

The framework's own answers to labs 14a to 14c are launched with the host's arguments and compared with what the host computed, and
with sizes that keep a device busy they are timed beside torch. Those of lab 14d are compiled by Triton, and so is a step of a
MiniGPT by rushlight's own Inductor.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

import rushlight as rl
from rushlight.aten.native.cuda import blas, loops, reduce, softmax
from rushlight.inductor import triton_templates
from rushlight.on_torch import cuda_on_host, triton_on_host

TITLE = "the kernels of phase 14"
LIMIT = 55
ROOT = Path(__file__).resolve().parents[2]
SEED = np.random.default_rng(0)


def drawn(*sizes: int) -> np.ndarray:
    return SEED.standard_normal(sizes).astype(np.float32)


# CUDA C++ ------------------------------------------------------------------------------------------------------------


def on_both(text: str, kernel: str, grid: Any, block: Any, *arguments: Any) -> dict[str, Any]:
    """A launch on the host and on the device: the largest difference of what they wrote."""
    module, bases = cuda_on_host.Module(text), {}

    def copied(value: Any) -> Any:
        if isinstance(value, tuple):  # a struct
            return tuple(map(copied, value))
        if not isinstance(value, np.ndarray):
            return value
        base, distance = cuda_on_host.base_of(value)
        copy = bases.setdefault(id(base), (base, base.copy()))[1]
        return np.ndarray(value.shape, value.dtype, copy.reshape(-1).view(np.uint8), distance, value.strides)

    there = [copied(value) for value in arguments]
    module.launch(kernel, grid, block, *arguments)
    took = module.on_gpu(kernel, grid, block, *there)
    apart = [float(np.abs(here - mine).max(initial=0)) for here, mine in bases.values() if here.dtype == np.float32]
    apart += [
        float(np.abs(here.view(np.float32) - mine.view(np.float32)).max(initial=0))
        for here, mine in bases.values()
        if here.dtype == np.uint8
    ]  # the memory of a tensor of rushlight
    return {"kernel": kernel, "grid": grid, "block": block, "difference": max(apart), "microseconds": took.microseconds}


def host_against_device(run: Any) -> dict[str, Any]:
    """Each kernel once: by rushlight's operators, which choose it, and by its text where no operator launches it."""
    run.need_gpu("the host is what the device is compared with")
    rows, launch_blocks = [], loops.launch_blocks

    def recorded(text: str, kernel: str, blocks: Any, block: Any, *arguments: Any) -> None:
        rows.append(on_both(text, kernel, blocks, block, *arguments))

    wide, x, y = (rl.from_numpy(drawn(*sizes)) for sizes in ((40, 300), (30, 50), (50, 70)))
    loops.launch_blocks = blas.launch_blocks = softmax.launch_blocks = recorded  # type: ignore[attr-defined,assignment]
    try:
        loops.add(wide, wide), loops.add(wide.t(), wide.t()), loops.add(x, x[:1])
        loops.add(wide.reshape(-1)[1:], wide.reshape(-1)[1:])
        softmax.softmax(wide, 1), softmax.softmax(rl.from_numpy(drawn(4, 1500)), 1), softmax.softmax(wide, 0)
        blas.addmm(y[0], x, y), blas.addmm(y[0], x, y.t().contiguous().t(), relu=True)
    finally:
        loops.launch_blocks = blas.launch_blocks = softmax.launch_blocks = launch_blocks  # type: ignore[attr-defined]
    a, index = drawn(1000), SEED.integers(0, 7, 50)
    texts = [
        (loops.add_range_source(), 3, 64, drawn(1000), drawn(1000), drawn(1000), 10, 900),
        (reduce.block_sum_source(), 8, 128, a, drawn(8), 1000),
        (reduce.layer_norm_source(), 40, 128, drawn(40, 600), drawn(600), drawn(600), drawn(40, 600), 600, 1e-5),
        (reduce.index_add_source(), 32, 128, drawn(7, 80), index, drawn(50, 80), 50, 80),
        (blas.transpose_source(), (3, 2), (32, 8), drawn(50, 70), drawn(70, 50), 50, 70),
    ]
    for text, grid, block, *arguments in texts:
        module = cuda_on_host.Module(text)
        rows.append(on_both(text, next(iter(module.kernels)), grid, block, *arguments))
    most = max(row["difference"] for row in rows)
    return {"summary": f"{len(rows)} launches, {most:.1e} apart at most", "launches": rows}


def beside_torch(run: Any) -> dict[str, Any]:
    """Kernels of the labs with sizes that keep a device busy, and the same by torch."""
    run.need_gpu("times of a GPU")
    n, rows, columns, size = 1 << 24, 8192, 1000, 1024
    x, y, out = drawn(n), drawn(n), drawn(n)
    square, other, product = drawn(size, size), drawn(size, size), drawn(size, size)
    matrix, wide, result = drawn(rows, columns), drawn(columns), drawn(rows, columns)
    tiles = size // 16

    def add(a: Any, b: Any, out: Any, *_: Any) -> Any:
        return torch.add(a, b, out=out)

    def multiply(a: Any, b: Any, out: Any, *_: Any) -> Any:
        return torch.mm(a, b, out=out)

    launches: list[tuple[Any, ...]] = [
        (loops.add_source(), "add", -(-n // 256), 256, [x, y, out, n], add),
        (loops.add_vectorised_source(), "add_vectorised", n // 4 // 256, 256, [x, y, out, n], add),
        (softmax.softmax_warp_source(), "softmax_warp", rows // 4, (32, 4), [matrix, result, rows, columns],
         lambda x, *_: x.softmax(1)),
        (softmax.softmax_block_source(), "softmax_block", rows, 256, [matrix, result, columns],
         lambda x, *_: x.softmax(1)),
        (reduce.layer_norm_source(), "layer_norm", rows, 256, [matrix, wide, wide, result, columns, 1e-5],
         lambda x, w, b, out, *_: F.layer_norm(x, (columns,), w, b)),
        (blas.transpose_source(), "transpose", (tiles // 2, tiles // 2), (32, 8), [square, product, size, size],
         lambda x, *_: x.t().contiguous()),
        (blas.product_source(), "product", (tiles, tiles), (16, 16), [square, other, product, size, size, size], multiply),
        (blas.product_tiled_source(), "product_tiled", (tiles, tiles), (16, 16),
         [square, other, product, size, size, size], multiply),
    ]  # fmt: skip
    return {"times": [
        times(kernel, functools.partial(cuda_on_host.Module(text).on_gpu, kernel, grid, block, *arguments, beside=beside))
        for text, kernel, grid, block, arguments, beside in launches
    ]}  # fmt: skip


def times(kernel: str, launch: Callable[[], Any]) -> dict[str, Any]:
    try:
        took = launch()
    except Exception as error:  # the others go on
        return {"kernel": kernel, "error": f"{type(error).__name__}: {error}"[:2000]}
    return {
        "kernel": kernel,
        "microseconds": round(took.microseconds, 1),
        "torch": took.beside and round(took.beside, 1),
    }


# Triton --------------------------------------------------------------------------------------------------------------


def triton(run: Any) -> dict[str, Any]:
    """The kernels of lab 14d: the largest difference from torch's values, and times."""
    run.need_gpu("on the CPU, lab 14d interprets them")
    rows, columns, size = 4096, 1500, 1000
    x, square, other, bias = drawn(rows, columns), drawn(size, size), drawn(size, size), drawn(size)
    queries = [drawn(16, 1000, 64) for _ in range(3)]
    tiles = {"GROUP": 8, "TILE_M": 64, "TILE_N": 64, "TILE_K": 32}
    blocks = {"CAUSAL": True, "SIZE": 64, "BLOCK_Q": 64, "BLOCK_K": 64}
    launches: list[tuple[Any, ...]] = [
        (triton_templates.softmax_source(), rows, [x, None, columns, columns, 1], {"BLOCK": 2048},
         lambda x, *_: x.softmax(1), x.shape),
        (triton_templates.product_source(), 16 * 16, [square, other, bias, None, size, size, size, size, 1, size, 1],
         {"RELU": True, **tiles}, lambda a, b, bias, *_: torch.addmm(bias, a, b).relu(), square.shape),
        (triton_templates.attention_source(), (16, 16), [*queries, None, drawn(16, 1000), 1000, 1000, 0.125], blocks,
         lambda q, k, v, *_: F.scaled_dot_product_attention(q, k, v, is_causal=True), queries[0].shape),
    ]  # fmt: skip
    found = []
    for text, grid, arguments, constexprs, beside, shape in launches:
        module, out = triton_on_host.Module(text), np.zeros(shape, np.float32)
        given = [out if value is None else value for value in arguments]
        name = next(iter(module.kernels))
        row = times(name, functools.partial(module.on_gpu, name, grid, *given, beside=beside, **constexprs))
        expected = beside(
            *(torch.from_numpy(value) for value in given if isinstance(value, np.ndarray) and value is not out)
        )
        found.append(row | {"difference": float(np.abs(expected.numpy() - out).max())})
    most = max(row["difference"] for row in found)
    return {"summary": f"{len(found)} kernels, {most:.1e} apart at most", "times": found}


STEP = """
import json
import numpy as np
import rushlight as rl
from rushlight.inductor import config
from rushlight.on_torch import gpu

def losses(compiled):
    rl.manual_seed(0)
    model = rl.nn.Sequential(rl.nn.LayerNorm(64), rl.nn.Linear(64, 600), rl.nn.GELU(), rl.nn.Linear(600, 64))
    x, y = rl.randn(32, 64), rl.randn(32, 64)
    optimizer = rl.optim.AdamW(model.parameters(), lr=0.01)
    step = rl.compile(lambda: rl.nn.functional.mse_loss(model(x).softmax(1), y)) if compiled else (
        lambda: rl.nn.functional.mse_loss(model(x).softmax(1), y))
    values = []
    for _ in range(4):
        loss = step()
        optimizer.zero_grad(), loss.backward(), optimizer.step()
        values.append(loss.item())
    return values

eager = losses(False)
config.cpu_backend = "triton"
print(json.dumps([eager, losses(True)]))
"""


def inductor(run: Any) -> dict[str, Any]:
    """Four steps of training by rushlight: eager on the CPU, and compiled to Triton, whose kernels run on the device."""
    import json

    run.need_gpu("without a GPU the kernels are interpreted")
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", ""), *sys.path])
    printed, ending = run.program(["-c", STEP], 50, env=os.environ | {"TRITON_INTERPRET": "0", "PYTHONPATH": path})
    if ending:
        raise RuntimeError(f"{ending}\n{printed[-3000:]}")
    eager, compiled = json.loads(printed.splitlines()[-1])
    apart = max(abs(a - b) for a, b in zip(eager, compiled))
    return {"summary": f"losses {apart:.1e} apart at most", "eager": eager, "compiled": compiled}


SECTIONS = [
    ("on the host and on the device", host_against_device),
    ("beside torch", beside_torch),
    ("kernels in Triton", triton),
    ("rushlight's Inductor", inductor),
]
