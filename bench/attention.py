"""Attention: rushlight's fused kernel against torch's, in alternation: float32, one thread each.

The first shape is the MiniGPT's. Printed are the medians in milliseconds, their ratio, and the most memory that rushlight's forward
and backward pass hold, beside the memory that the weights of all queries and keys would need. `--numpy` measures the kernel that
runs where there is no compiler.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
import tracemalloc
from collections.abc import Callable

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np  # noqa: E402
import torch  # noqa: E402

import rushlight as rl  # noqa: E402
from rushlight.aten.native import attention  # noqa: E402

SHAPES = [(16, 4, 40, 16), (16, 4, 64, 16), (4, 8, 128, 32), (1, 4, 1024, 64), (1, 1, 4096, 64)]


def passes(xp, shape: tuple[int, ...], is_causal: bool) -> list[Callable[[], None]]:
    """The forward pass, and both passes, on the layout that a transformer makes: heads split by strides."""
    batch, heads, length, width = shape
    random, function = np.random.default_rng(0), xp.nn.functional.scaled_dot_product_attention
    x = [random.standard_normal((batch, length, heads, width)).astype(np.float32) for _ in range(3)]
    tensors = [xp.from_numpy(array).transpose(1, 2).requires_grad_() for array in x]
    grad = xp.ones_like(function(*tensors).detach())

    def forward() -> None:
        with xp.no_grad():
            function(*tensors, is_causal=is_causal)

    def both() -> None:
        function(*tensors, is_causal=is_causal).backward(grad)
        for tensor in tensors:
            tensor.grad = None

    return [forward, both]


def measure(shape: tuple[int, ...], is_causal: bool, seconds: float) -> list[list[float]]:
    """For each pass the medians of rushlight and of torch, in milliseconds."""
    medians = []
    for mine, theirs in zip(passes(rl, shape, is_causal), passes(torch, shape, is_causal), strict=True):
        times, end = ([], []), time.perf_counter() + seconds
        while time.perf_counter() < end or len(times[0]) < 3:
            for function, milliseconds in zip((mine, theirs), times, strict=True):
                start = time.perf_counter()
                function()
                milliseconds.append((time.perf_counter() - start) * 1000)
        medians.append([statistics.median(milliseconds) for milliseconds in times])
    return medians


def peak(shape: tuple[int, ...]) -> int:
    """The most bytes that rushlight's arrays have during both passes, beyond the tensors that were there before."""
    _, both = passes(rl, shape, True)
    both()
    tracemalloc.start()
    both()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=1.0, help="for each number")
    parser.add_argument("--numpy", action="store_true", help="the kernel without a compiler")
    arguments = parser.parse_args()
    if arguments.numpy:
        attention.compiled_kernels = lambda: None
    torch.set_num_threads(1)
    print(f"torch {torch.__version__}, rushlight in {'C++' if attention.compiled_kernels() else 'numpy'}\n")
    print(f"{'batch, heads, length, width':30}{'forward':>24}{'forward and backward':>28}{'memory':>12}{'weights':>10}")
    for shape in SHAPES:
        memory, weights = peak(shape) / 1e6, 4 * shape[0] * shape[1] * shape[2] ** 2 / 1e6
        for is_causal in (True, False):
            row = "".join(f"{a:10.3f}{b:9.3f}{a / b:7.2f}" for a, b in measure(shape, is_causal, arguments.seconds))
            name = f"{shape}{', causal' * is_causal}"
            print(f"{name:30}{row}{memory:10.1f} MB{weights:7.1f} MB")


if __name__ == "__main__":
    main()
