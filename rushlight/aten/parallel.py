"""How many threads share the work of a large kernel, and what goes wrong when they share more than that.

`parallel_for` is a model: it has no threads. It runs the parts of a loop one after the other, and may interrupt one of them after
any instruction to run the others. So the caller decides when the parts run, and a race shows in each run or in none. In PyTorch:
`aten/src/ATen/Parallel.h`, `Parallel-inl.h`. Left out: atomic operations, locks, an interruption of more than one part.
"""

import os
import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

__all__ = ["get_num_threads", "set_num_threads"]


def get_num_threads() -> int:
    """`$OMP_NUM_THREADS`, or the number of cores that this process may use.
    Source: `aten/src/ATen/ParallelOpenMP.cpp`, `get_num_threads`."""
    text = os.environ.get("OMP_NUM_THREADS", "")
    if text.isdigit() and int(text) > 0:
        return int(text)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def set_num_threads(threads: int) -> None:
    """Set the number of threads that a kernel may use. Raises a RuntimeError for another type than int, or for a number below 1.
    Source: `torch/csrc/Module.cpp`, `THPModule_setNumThreads`."""
    if threads.__class__ is not int:
        raise RuntimeError(f"set_num_threads expects an int, but got {type(threads).__name__}")
    if threads < 1:
        raise RuntimeError("set_num_threads expects a positive integer")
    os.environ["OMP_NUM_THREADS"] = str(threads)


def parallel_for(
    begin: int,
    end: int,
    grain: int,
    body: Callable[[int, int], object],
    *,
    threads: int = 4,
    first: int = 0,
    after: int = 0,
) -> None:
    """Call `body(b, e)` for consecutive parts of a range, in an order that several threads could have.

    As in PyTorch each thread gets one part. A part has `grain` elements or more, except for the last one. (PyTorch's parts are
    equal instead: with a `grain` of 4, five elements become 3 and 2.) Part number `first` begins. After as many of its bytecode
    instructions as `after` says, it is interrupted: all other parts run, each to its end, and then it continues. With an `after`
    of 0, or of more instructions than there are, it is not interrupted.

    Source: `aten/src/ATen/Parallel-inl.h`, `parallel_for`; `aten/src/ATen/ParallelOpenMP.h`, `invoke_parallel`.
    """
    size = max(grain, -(-(end - begin) // threads), 1)
    others = [(b, min(b + size, end)) for b in range(begin, end, size)]
    if not others:
        return
    interrupted = others.pop(first % len(others))
    left = after

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal left
        frame.f_trace_opcodes = True
        left -= event == "opcode"
        while left == 0 and after and others:
            body(*others.pop(0))
        return trace

    tracer = sys.gettrace()
    sys._getframe().f_trace_opcodes = (
        True  # Python 3.12 counts instructions only if a frame has asked before `settrace`
    )
    sys.settrace(trace)
    try:
        body(*interrupted)
    finally:
        sys.settrace(tracer)
    while others:
        body(*others.pop(0))


def two_pass_sum(x: Sequence[float], grain: int, parallel_for: Callable[..., None]) -> float:
    """The sum of numbers that are added up in parts, which may run at the same time.

    `parallel_for(begin, end, grain, body)` calls `body(b, e)` for consecutive parts of `range(begin, end)`, and returns when all
    calls have ended. It makes no call for an empty range. How many parts there are is not known before. They have `grain`
    elements or more, except for the last one. A call may pause after any instruction while others run, and the calls may begin
    and end in any order. There are no locks.

    Args:
        x: a sequence of floats, with `len(x)`, `x[i]` and slices `x[i:j]`.
        grain: how many elements of `x` a part has at least, except for the last one: 1 or more.
        parallel_for: the function above.

    Returns:
        the sum, a float; 0.0 for no numbers. Where the parts begin may change its last digits, because floats are rounded. The
        order in which the parts run changes nothing, not even the last bit. Each element is read in a call of `body`, and never
        outside of one. If `x` has more than `grain` elements, and `parallel_for` more than one thread, no call reads all of them.

    >>> two_pass_sum([1.0, 2.0, 3.0, 4.0], 1, parallel_for)
    10.0

    Source: `aten/src/ATen/native/TensorIteratorReduce.cpp`, `two_pass_reduction`; `aten/src/ATen/Parallel.h`, `parallel_reduce`.
    """
    blocks = -(-len(x) // grain)
    sums = [0.0] * blocks

    def add_up(begin, end):
        for block in range(begin, end):
            for value in x[block * grain : (block + 1) * grain]:
                sums[block] += value

    parallel_for(0, blocks, 1, add_up)
    return sum(sums, 0.0)
