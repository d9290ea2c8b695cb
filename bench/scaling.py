"""How the time of a backward pass grows with the graph: rushlight against torch eager, in alternation.

Four shapes of graph, each in several sizes, of tensors with one element so that the engine is what is measured: a chain; a fan
of many branches from one leaf that are added up; a ladder of diamonds, in which the number of paths doubles with each; and a
matrix product, whose elements grow instead of its nodes. Printed are microseconds a node (a product, for the last), and the
ratio of the medians.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import time
from collections.abc import Callable

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import torch  # noqa: E402

import rushlight as rl  # noqa: E402


def chain(xp, leaf, size: int):
    for _ in range(size):
        leaf = leaf * 1.0
    return leaf


def fan(xp, leaf, size: int):
    return xp.stack([leaf * 1.0 for _ in range(size)]).sum()


def diamonds(xp, leaf, size: int):
    for _ in range(size):
        leaf = leaf * 0.5 + leaf * 0.5
    return leaf


def product(xp, leaf, size: int):
    return (leaf.expand(size, size) @ xp.ones(size, size)).sum()


GRAPHS: dict[Callable, tuple[tuple[int, ...], int]] = {  # sizes, and nodes for each unit of size; 0 for one in all
    chain: ((100, 1_000, 10_000, 100_000), 1),
    fan: ((100, 1_000, 10_000), 1),
    diamonds: ((20, 60, 2_000), 3),
    product: ((64, 256, 1024), 0),
}


def seconds(xp, graph: Callable, size: int) -> float:
    """Of one backward pass, on a graph that is made anew."""
    leaf = xp.ones(()).requires_grad_()
    result = graph(xp, leaf, size)
    start = time.perf_counter()
    result.backward()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=2.0, help="for each row")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    print(f"torch {torch.__version__}, Python {platform.python_version()}, {platform.machine()}, one thread\n")
    print(f"{'graph':12}{'size':>9}{'rushlight':>14}{'torch':>12}{'ratio':>8}")
    for graph, (sizes, nodes) in GRAPHS.items():
        for size in sizes:
            ours, theirs, end = [], [], time.perf_counter() + arguments.seconds
            while len(ours) < 3 or time.perf_counter() < end:
                ours.append(seconds(rl, graph, size))
                theirs.append(seconds(torch, graph, size))
            mine, real = (statistics.median(taken) * 1e6 / (nodes * size or 1) for taken in (ours, theirs))
            print(f"{graph.__name__:12}{size:9,}{mine:11.2f} us{real:9.2f} us{mine / real:8.2f}")


if __name__ == "__main__":
    main()
