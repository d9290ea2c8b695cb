"""How many threads share the work of a large kernel. In PyTorch: `aten/src/ATen/Parallel.h`."""

import os

__all__ = ["get_num_threads", "set_num_threads"]


def get_num_threads() -> int:
    """`$OMP_NUM_THREADS`, or the number of cores that this process may use."""
    text = os.environ.get("OMP_NUM_THREADS", "")
    if text.isdigit() and int(text) > 0:
        return int(text)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def set_num_threads(threads: int) -> None:
    if threads.__class__ is not int:
        raise RuntimeError(f"set_num_threads expects an int, but got {type(threads).__name__}")
    if threads < 1:
        raise RuntimeError("set_num_threads expects a positive integer")
    os.environ["OMP_NUM_THREADS"] = str(threads)
