"""The time of a call apart from its computation: rushlight against torch, on tensors of one element and on views.

Both run in one process, one thread each, in alternation, round after round; a time is the median of its rounds, the ratio
that of the two medians. What is called is written out in each row, as a program that both run. (numpy has one thread for
these functions.)
"""

from __future__ import annotations

import argparse
import platform
import statistics
import sys
import time
from collections.abc import Callable
from types import ModuleType

import numpy as np
import torch

import rushlight as rl

TARGET = 2.5  # of DESIGN.md, for the first row
PROGRAMS = {  # what is called, and on what
    "add(x, y)": lambda xp: {"x": xp.ones(1), "y": xp.ones(1), "add": xp.add},
    "x + y": lambda xp: {"x": xp.ones(1), "y": xp.ones(1)},
    "x * 2": lambda xp: {"x": xp.ones(1)},
    "x.add_(y)": lambda xp: {"x": xp.ones(1), "y": xp.zeros(1)},
    "x.relu()": lambda xp: {"x": xp.ones(1)},
    "z + y": lambda xp: {"z": xp.ones(2, 3), "y": xp.ones(3)},
    "z.transpose(0, 1)": lambda xp: {"z": xp.ones(2, 3)},
    "z.view(3, 2)": lambda xp: {"z": xp.ones(2, 3)},
}


def loop(program: str, xp: ModuleType, calls: int) -> Callable[[], list]:
    """A function that makes so many calls and keeps no result but the last one's."""
    names = PROGRAMS[program](xp) | {"calls": range(calls)}
    return eval(f"lambda: [None for _ in calls if ({program}) is None]", names)


def seconds(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def measure(program: str, calls: int, rounds: int) -> dict[str, float]:
    """Microseconds of one call, by framework."""
    loops = {xp.__name__: loop(program, xp, calls) for xp in (rl, torch)}
    for run in loops.values():
        run()
    times: dict[str, list[float]] = {name: [] for name in loops}
    for _ in range(rounds):
        for name, run in loops.items():
            times[name].append(seconds(run))
    return {name: 1e6 * statistics.median(values) / calls for name, values in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=5000, help="calls in a round")
    parser.add_argument("--rounds", type=int, default=21)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    table = {}
    for program in PROGRAMS:
        table[program] = measure(program, arguments.calls, arguments.rounds)
        print(f"{program} measured", file=sys.stderr, flush=True)

    versions = f"torch {torch.__version__}, numpy {np.__version__}, Python {platform.python_version()}"
    print(f"{versions}; {platform.machine()}; medians of {arguments.rounds} rounds of {arguments.calls} calls\n")
    print(f"{'microseconds a call':24}{'rushlight':>10}{'torch':>8}{'ratio':>8}")
    for program, row in table.items():
        ratio = row["rushlight"] / row["torch"]
        print(f"{program:24}{row['rushlight']:10.2f}{row['torch']:8.2f}{ratio:8.2f}")
    first = next(iter(table.values()))
    print(f"\nratio of one add: {first['rushlight'] / first['torch']:.2f}, wanted: {TARGET} or less")


if __name__ == "__main__":
    main()
