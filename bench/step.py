"""One training step of the head, `Linear(64, 600)` on a batch of 32: rushlight against torch eager, in alternation.

float32, one thread each. A step is the forward pass, a loss (the sum, or cross-entropy), the backward pass, and plain gradient
descent in place. Printed is the ratio of the medians. With `--compile` one line more compiles forward and loss on rushlight's side.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import time
from collections.abc import Callable
from functools import partial

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np  # noqa: E402
import torch  # noqa: E402
from threadpoolctl import threadpool_info  # noqa: E402

import rushlight as rl  # noqa: E402

BATCH, FEATURES, TOKENS = 32, 64, 600


def steps(xp, compiled: Callable[[Callable], Callable] = lambda loss: loss) -> dict[str, Callable[[], None]]:
    """The two steps in one framework, on the same numbers. `compiled` may compile what computes a loss."""
    random = np.random.default_rng(0)
    weight = xp.from_numpy(random.standard_normal((TOKENS, FEATURES)).astype(np.float32) / 8).requires_grad_()
    bias = xp.from_numpy(np.zeros(TOKENS, np.float32)).requires_grad_()
    x = xp.from_numpy(random.standard_normal((BATCH, FEATURES)).astype(np.float32))
    target = xp.from_numpy(random.integers(0, TOKENS, BATCH))
    linear, cross_entropy = xp.nn.functional.linear, xp.nn.functional.cross_entropy

    def step(loss: Callable) -> None:
        loss(x, weight, bias).backward()
        with xp.no_grad():
            for parameter in weight, bias:
                parameter.add_(parameter.grad, alpha=-0.01)
                parameter.grad = None

    losses = {
        "sum": lambda x, weight, bias: linear(x, weight, bias).sum(),
        "cross-entropy": lambda x, weight, bias: cross_entropy(linear(x, weight, bias), target),
    }
    return {name: partial(step, compiled(loss)) for name, loss in losses.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--compile", action="store_true", help="rushlight's step is compiled; torch's stays eager")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    ours, theirs = steps(rl, rl.compile) if arguments.compile else steps(rl), steps(torch)
    blas = [
        library for library in threadpool_info() if library["user_api"] == "blas"
    ]  # `OPENBLAS_CORETYPE` chooses its kernels
    core = ", ".join(
        f"{library['internal_api']} {library['version']} for {library['architecture']}" for library in blas
    )
    print(f"Linear({FEATURES}, {TOKENS}), batch {BATCH}; torch {torch.__version__}, numpy {np.__version__} ({core})")
    print(f"Python {platform.python_version()}, {platform.machine()}; {arguments.rounds} rounds\n")
    print(f"{'loss':16}{'rushlight':>12}{'torch':>12}{'ratio':>8}")
    for loss in ours:
        times: tuple[list[float], list[float]] = ([], [])
        for number in range(arguments.rounds + 50):
            for program, taken in zip((ours[loss], theirs[loss]), times):
                start = time.perf_counter()
                program()
                if number >= 50:
                    taken.append(time.perf_counter() - start)
        mine, real = (statistics.median(taken) for taken in times)
        print(f"{loss:16}{mine * 1e6:9.0f} us{real * 1e6:9.0f} us{mine / real:8.2f}")


if __name__ == "__main__":
    main()
