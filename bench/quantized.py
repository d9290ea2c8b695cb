"""The head `Linear(64, 600)` on integers against float32, and rushlight's C++ kernel against torch's, in alternation.

One thread each, on the same numbers. A call is: the float32 layer, the int8 layer from integers to integers, and the dynamic layer
from float32 to float32. Printed are medians and their ratios. The kernel alone runs through ctypes, without tensors.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import time
import warnings
from collections.abc import Callable

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np  # noqa: E402
import torch  # noqa: E402

import rushlight as rl  # noqa: E402
from rushlight.ao.nn.quantized import int8_kernel  # noqa: E402
from rushlight.ao.nn.quantized.reference import Linear as Reference  # noqa: E402

warnings.simplefilter("ignore")
FEATURES, TOKENS = 64, 600


def calls(rows: int) -> dict[str, tuple[Callable, Callable]]:
    """For each kind of layer, rushlight's call and torch's."""
    random = np.random.default_rng(0)
    x = random.standard_normal((rows, FEATURES)).astype(np.float32)
    theirs = torch.nn.Linear(FEATURES, TOKENS).eval()
    mine = rl.nn.Linear(FEATURES, TOKENS).eval()
    mine.load_state_dict({name: rl.from_numpy(tensor.numpy().copy()) for name, tensor in theirs.state_dict().items()})
    observer = rl.ao.quantization.default_per_channel_weight_observer()
    observer(mine.weight)
    layer = rl.ao.nn.quantized.Linear.from_reference(
        Reference.from_float(mine, observer), (0.05, 64), (0.05, 64, 0, 255)
    )
    scales = torch.from_numpy(layer.weight_scale.numpy().astype(np.float64))
    weight = torch.quantize_per_channel(
        theirs.weight.detach(), scales, torch.zeros(TOKENS, dtype=torch.int64), 0, torch.qint8
    )
    packed = torch.ops.quantized.linear_prepack(weight, theirs.bias.detach())
    quantized = torch.quantize_per_tensor(torch.from_numpy(x), 0.05, 64, torch.quint8)
    integers = rl.from_numpy(quantized.int_repr().numpy())
    dynamic = (
        rl.ao.quantization.quantize_dynamic(mine),
        torch.ao.quantization.quantize_dynamic(torch.nn.Sequential(theirs)),
    )
    numbers = rl.from_numpy(x), torch.from_numpy(x)
    return {
        "float32": (lambda: mine(numbers[0]), lambda: theirs(numbers[1])),
        "int8": (lambda: layer(integers), lambda: torch.ops.quantized.linear(quantized, packed, 0.05, 64)),
        "dynamic": (lambda: dynamic[0](numbers[0]), lambda: dynamic[1](numbers[1])),
    }


def medians(functions: list[Callable], rounds: int) -> list[float]:
    """The median time of each, in microseconds, measured in alternation."""
    seconds: list[list[float]] = [[] for _ in functions]
    for _ in range(rounds + 3):
        for function, taken in zip(functions, seconds):
            start = time.perf_counter()
            function()
            taken.append(time.perf_counter() - start)
    return [1e6 * statistics.median(taken[3:]) for taken in seconds]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=500)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    kernel = "in C++" if int8_kernel.library() is not None else "in numpy, because there is no C++ compiler"
    print(
        f"Linear({FEATURES}, {TOKENS}), one thread; torch {torch.__version__}, engine {torch.backends.quantized.engine}"
    )
    print(f"{platform.machine()}; rushlight's int8 kernel {kernel}; {arguments.rounds} rounds\n")
    print(f"{'rows':>5}  {'layer':10}{'rushlight':>12}{'torch':>12}{'ratio':>8}{'to float32':>14}{'torch':>8}")
    with rl.no_grad(), torch.no_grad():
        for rows in (1, 32, 256):
            pairs = calls(rows)
            taken = medians([function for pair in pairs.values() for function in pair], arguments.rounds)
            for i, name in enumerate(pairs):
                mine, theirs = taken[2 * i : 2 * i + 2]
                ratios = f"{mine / theirs:8.1f}{mine / taken[0]:14.2f}{theirs / taken[1]:8.2f}"
                print(f"{rows:5}  {name:10}{mine:9.0f} us{theirs:9.0f} us{ratios}")


if __name__ == "__main__":
    main()
