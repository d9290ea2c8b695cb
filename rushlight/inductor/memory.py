"""Memory planning: the lifetime of each buffer, and which buffers share memory.

A schedule is a list of steps. Each step reads some buffers and writes others. The steps determine the lines of the call: allocate,
call, free. Memory is then passed on in two ways. A loop that reads a buffer for the last time can write its result to the same
memory (in place). A new buffer can reuse the memory of a freed buffer of the same size. No value is lost: a freed buffer is never
read again, and a loop in place reads each element before it writes this element. In PyTorch: `torch/_inductor/scheduler.py`
(`last_usage`, `decide_inplace_update`), `torch/_inductor/codegen/wrapper.py` (`AllocateLine`, `FreeIfNotReusedLine`, `ReuseLine`),
`torch/_inductor/memory.py`. Left out: sizes that are not known when compiling, inputs that the caller gives away, and the search
for an order of the steps that needs less memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from rushlight.inductor.ir import FallbackKernel, Kernel, Program, ReinterpretView

Step = tuple[Sequence[str], Sequence[str]]  # the buffers that it reads, and those that it writes
Line = tuple  # ("allocate", buffer), ("reuse", old, new), ("call", step), ("free", buffer)

# Lifetimes -----------------------------------------------------------------------------------------------------------


def last_uses(steps: Sequence[Step], outputs: Sequence[str]) -> list[list[str]]:
    """The buffers that each step is the last to use.

    A step uses the buffers that it reads and the buffers that it writes. So the last use of a buffer that no step reads is the step
    that writes it. An output of the graph is needed after the last step, so it has no last use.

    Args:
        steps: for each step a pair, which is a tuple of two lists: the names that it reads and those that it writes, in the
            order of execution. Inputs of the graph have names like any other buffer.
        outputs: a list of the names of the graph's outputs. The arguments are only read.

    Returns:
        for each step a list of the names, each once, in the order of Python's `sorted`.

    >>> last_uses([(["x"], ["buf0"]), (["buf0", "x"], ["buf1"])], outputs=["buf1"])
    [[], ['buf0', 'x']]

    Source: `torch/_inductor/scheduler.py`, `Scheduler.compute_last_usage` and `free_buffers`.
    """
    needed = set(outputs)
    last = []
    for step in reversed(steps):
        ending = {name for names in step for name in names} - needed
        last.append(sorted(ending))
        needed |= ending
    return last[::-1]


def bytes_alive(steps: Sequence[Step], nbytes: dict[str, int], outputs: Sequence[str]) -> list[int]:
    """The memory in use while each step runs, if every buffer has memory of its own.

    A buffer is in use from its first write to its last use, both included. An output is in use from its first write to the end of
    the schedule. Several steps can write the same buffer.

    Args:
        steps, outputs: as in `last_uses`.
        nbytes: the size, in bytes, of each buffer that counts. Names that are not in this dict (inputs of the graph, and buffers
            that an operator has allocated) do not count. No step reads a buffer that counts before its first write. The arguments
            are only read.

    Returns:
        a list of bytes, one number for each step.

    >>> steps = [(["x"], ["buf0"]), (["buf0"], ["buf1"]), (["buf1"], ["buf2"])]
    >>> bytes_alive(steps, {"buf0": 4, "buf1": 40, "buf2": 400}, outputs=["buf2"])
    [4, 44, 440]

    Source: `torch/_inductor/memory.py`, `estimate_peak_memory`, whose result is the largest of these numbers.
    """
    ends = last_uses(steps, outputs)
    alive = set()
    totals = []
    for (_, writes), ending in zip(steps, ends):
        alive |= {name for name in writes if name in nbytes}
        totals.append(sum(nbytes[name] for name in alive))
        alive -= set(ending)
    return totals


# Reuse of memory -----------------------------------------------------------------------------------------------------


def take_over(candidates: dict[str, Sequence[str]], ending: Sequence[str], kept: set[str]) -> dict[str, str]:
    """The buffers whose memory a step reuses to write its results in place.

    A result can reuse a candidate that this step is the last to use. The results choose in their order. Each takes the first of its
    candidates that is available. Only one result can reuse a buffer. A result takes a buffer even if a later result then has no
    candidate left.

    Args:
        candidates: a dict: for each buffer that the step writes, in order, the buffers that it can overwrite element by element.
            They have the same size and dtype, and each of their elements is read only where the same element of the result is
            written.
        ending: the buffers that this step is the last to use (`last_uses`).
        kept: a set of buffers that must not be overwritten: inputs of the graph, which belong to the caller, constants, and
            buffers that an operator has allocated. The arguments are only read.

    Returns:
        a dict: for the name of each result that reuses a buffer, the name of that buffer.

    >>> take_over({"buf2": ["x", "buf1"]}, ending=["buf1", "x"], kept={"x"})
    {'buf2': 'buf1'}

    Source: `torch/_inductor/scheduler.py`, `SchedulerNode.decide_inplace_update`.
    """
    reused = {}
    for result, inputs in candidates.items():
        for name in inputs:
            if name in ending and name not in kept and name not in reused.values():
                reused[result] = name
                break
    return reused


def call_lines(
    steps: Sequence[Step], kept: set[str], outputs: Sequence[str], updates: Sequence[dict[str, str]]
) -> list[Line]:
    """The lines of the call, before freed memory is reused.

    For each step, in this order:

    - For each buffer that it writes (a step names each once), in their order, if no earlier step wrote it and it is not kept:
      `("reuse", old, new)` if it is written in place of another (`updates`), else `("allocate", new)`.
    - `("call", i)`, with the number of the step, from 0.
    - `("free", name)` for each buffer that it is the last to use, in the order of `last_uses`, unless this step reuses the buffer,
      or the buffer is kept.

    After the last call no buffer is freed, because all memory is freed then.

    Args:
        steps, outputs: as in `last_uses`.
        kept: a set of buffers that are neither allocated nor freed: inputs of the graph, constants, and buffers that an operator
            has allocated. No step reads another buffer before its first write.
        updates: for each step the result of `take_over`. The arguments are only read.

    >>> steps = [(["x"], ["buf0"]), (["buf0"], ["buf1"]), (["buf1"], ["buf2"])]
    >>> call_lines(steps, {"x"}, ["buf2"], [{}, {}, {"buf2": "buf1"}])[-4:]
    [('call', 1), ('free', 'buf0'), ('reuse', 'buf1', 'buf2'), ('call', 2)]

    Source: `torch/_inductor/codegen/wrapper.py`, `codegen_allocation`, `codegen_inplace_reuse`, `codegen_free`.
    """
    ends = last_uses(steps, outputs)
    known = set(kept)
    lines = []
    for i, (_, writes) in enumerate(steps):
        for name in writes:
            if name not in known:
                known.add(name)
                lines.append(("reuse", updates[i][name], name) if name in updates[i] else ("allocate", name))
        lines.append(("call", i))
        if i + 1 < len(steps):
            lines += [("free", name) for name in ends[i] if name not in kept and name not in updates[i].values()]
    return lines


def plan_reuse(lines: Sequence[Line], sizes: dict[str, tuple[str, int]], alive: Sequence[int]) -> list[Line]:
    """The lines of a call, in which new buffers reuse the memory of freed buffers where that does not raise the peak.

    Freed buffers wait. An `("allocate", new)` looks at the freed buffer that has waited for the shortest time, of those with the
    same dtype and the same number of bytes as `new`. If it takes this buffer, the line becomes `("reuse", old, new)`, the line
    that freed `old` is removed, and `old` waits no longer. Otherwise the buffer goes on waiting. The buffer is not taken if that
    would raise the peak, because its memory would be held during steps that do not need it: let `f` be the step before the line
    that freed it, and `a` the step after the allocation. If there are steps between the two, then the largest of `alive[f + 1]`
    to `alive[a - 1]` plus the bytes of `new` must not exceed the peak, which is the largest of `alive` as given. If the buffer is
    taken, the bytes of `new` are added to what is alive during these steps, and later lines use these new numbers.

    Args:
        lines: tuples, as `call_lines` makes them. Lines with "reuse" stay unchanged.
        sizes: dtype and number of bytes, for each buffer.
        alive: the result of `bytes_alive`, a number for each step. There is at least one step. The list is not changed.

    Returns:
        a new list; `lines` stays unchanged.

    >>> lines = [("allocate", "a"), ("call", 0), ("free", "a"), ("allocate", "b"), ("call", 1)]
    >>> plan_reuse(lines, {"a": ("float32", 64), "b": ("float32", 64)}, [64, 64])
    [('allocate', 'a'), ('call', 0), ('reuse', 'a', 'b'), ('call', 1)]

    Source: `torch/_inductor/codegen/wrapper.py`, `AllocateLine.plan`, `should_reuse_buffer`, `FreeIfNotReusedLine.plan`.
    """
    alive, peak = list(alive), max(alive)
    waiting, planned, passed_on = {}, [], set()
    for line in lines:
        what, name = line[:2]
        if what == "call":
            done = name
        elif what == "free":
            waiting.setdefault(sizes[name], []).append((name, done))
        elif what == "allocate" and waiting.get(sizes[name]):
            (old, before), (_, nbytes) = waiting[sizes[name]][-1], sizes[name]
            between = range(before + 1, done + 1)
            if not between or max(alive[i] for i in between) + nbytes <= peak:
                waiting[sizes[name]].pop()
                passed_on.add(("free", old))
                line = ("reuse", old, name)
                for i in between:
                    alive[i] += nbytes
        planned.append(line)
    return [line for line in planned if line not in passed_on]


# The plan of a program -----------------------------------------------------------------------------------------------

ALIGNMENT = 64  # bytes: a cache line, and the widest vector


@dataclass
class Plan:
    """The lines of a call, and the memory of each buffer that they allocate. A buffer that reuses the memory of another
    (`before`) has the memory of the first buffer of this chain, its root. Outputs of the graph and arguments of operators
    that Python calls are `held` as tensors. All other roots have an offset in a pool of `nbytes` bytes, for the time of one
    segment."""

    lines: list[Line]
    before: dict[str, str]
    roots: dict[str, str]
    held: set[str]
    offsets: dict[str, int]
    nbytes: int


def plan(program: Program) -> Plan:
    """The plan of a scheduled graph."""
    fallbacks = [step for step in program.steps if isinstance(step, FallbackKernel)]
    made = [name for step in fallbacks for name in step.outputs if name is not None]
    kept = {*program.inputs, *program.constants, *made}
    views = [step for step in fallbacks if any(returned.alias for returned in step.target._schema.returns)]
    outputs = [output.buffer for output in program.outputs if isinstance(output, ReinterpretView)]
    outputs += [name for step in views for name in sorted(step.reads)]  # a view keeps its base alive
    orders = [step.arguments.index if isinstance(step, Kernel) else None for step in program.steps]  # of the parameters
    steps = [(sorted(step.reads), sorted(step.writes, key=order)) for step, order in zip(program.steps, orders)]
    candidates = [step.inplace if isinstance(step, Kernel) else {} for step in program.steps]
    updates = [take_over(reusable, ending, kept) for reusable, ending in zip(candidates, last_uses(steps, outputs))]
    sizes = {name: (str(layout.dtype), layout.nbytes) for name, layout in program.layouts.items() if name not in kept}
    written = {name for _, writes in steps for name in writes}
    empty = [name for name in sizes if name not in written]  # buffers without elements: no step writes them
    lines = [("allocate", name) for name in empty]
    lines += map(tuple, call_lines(steps, kept, outputs, updates))
    if steps:
        nbytes = {name: size for name, (_, size) in sizes.items()}
        lines = [*map(tuple, plan_reuse(lines, sizes, bytes_alive(steps, nbytes, outputs)))]
    return assign_memory(lines, program, outputs)


def is_triton(step: object) -> bool:
    """Return whether a step is a kernel in Triton."""
    return isinstance(step, Kernel) and bool(step.numels)


def segments(program: Program) -> list[int | None]:
    """For each step the number of its segment, a run of steps in C++; None for an operator, or a kernel in Triton, that Python
    calls."""
    numbers, number = [], -1
    for compiled, steps in groupby(
        program.steps, lambda step: not (isinstance(step, FallbackKernel) or is_triton(step))
    ):
        number += compiled
        numbers += [number if compiled else None for _ in steps]
    return numbers


def assign_memory(lines: list[Line], program: Program, outputs: Sequence[str]) -> Plan:
    """The plan of these lines: which buffer reuses which, and the offsets in the pool."""
    before = {line[2]: line[1] for line in lines if line[0] == "reuse"}
    roots: dict[str, str] = {}
    for line in lines:
        if line[0] in ("allocate", "reuse"):
            roots[line[-1]] = roots[line[1]] if line[0] == "reuse" else line[1]
    used: dict[str, set[int | None]] = {}
    for step, segment in zip(program.steps, segments(program)):
        for name in {*step.reads, *step.writes} & roots.keys():
            used.setdefault(roots[name], set()).add(segment)
    held = {roots[name] for name in outputs if name in roots}
    held |= {root for root, where in used.items() if len(where) > 1 or None in where}
    offsets: dict[str, int] = {}
    nbytes = 0
    for root in dict.fromkeys(roots.values()):
        if root not in held:
            offsets[root] = nbytes
            nbytes += -(-program.layouts[root].nbytes // ALIGNMENT) * ALIGNMENT  # the next multiple
    return Plan(lines, before, roots, held, offsets, nbytes)
