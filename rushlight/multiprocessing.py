"""Python's `multiprocessing`, and `spawn`. A tensor that is sent to another process is copied. In PyTorch, which shares its memory:
`torch/multiprocessing/`."""

# ruff: noqa: F403, F405
from collections.abc import Callable
from multiprocessing import *
from multiprocessing import get_context
from typing import Any


def spawn(fn: Callable, args: tuple = (), nprocs: int = 1, join: bool = True, daemon: bool = False,
          start_method: str = "spawn") -> Any:  # fmt: skip
    """Call `fn(rank, *args)` in `nprocs` processes, and wait for them. Source: `torch/multiprocessing/spawn.py`."""
    context = get_context(start_method)
    processes = [context.Process(target=fn, args=(rank, *args), daemon=daemon) for rank in range(nprocs)]
    for process in processes:
        process.start()
    for rank, process in enumerate(processes if join else ()):
        process.join()
        if process.exitcode:
            raise RuntimeError(f"process {rank} terminated with exit code {process.exitcode}")
    return None if join else processes
