"""Which memory each buffer has: when it is needed for the last time, and what may lie in its place after that.

A schedule is a list of steps, each of which reads some buffers and writes others. From it follow the lines of the call:
allocate, call, free. Then memory is passed on in two ways. A loop that reads a buffer for the last time may write its result
in the same places (in place), and a new buffer may have the memory of one of the same size that has been freed (reuse). In
PyTorch: `torch/_inductor/scheduler.py` (`last_usage`, `decide_inplace_update`), `torch/_inductor/codegen/wrapper.py`
(`AllocateLine`, `FreeIfNotReusedLine`, `ReuseLine`), `torch/_inductor/memory.py`. Left out: sizes that are not known when
compiling, inputs that the caller gives away, and the search for an order of the steps that needs less memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rushlight.inductor.ir import Extern, Fallback, Kernel, Operand, Program

Step = tuple[Sequence[str], Sequence[str]]  # the buffers that it reads, and those that it writes
Line = tuple  # ("allocate", buffer), ("reuse", old, new), ("call", step), ("free", buffer)

# ------------------------------------------------------------------------------------------------------------
# How long a buffer is needed


def last_uses(steps: Sequence[Step], outputs: Sequence[str]) -> list[list[str]]:
    """The buffers that each step is the last to use.

    A step uses what it reads and what it writes; so one that nobody reads is used for the last time where it is written. An
    output of the graph is needed after the last step, and so has no last use.

    Args:
        steps: for each the names that it reads and the names that it writes, in the order of execution. Inputs of the graph are
            named like any other buffer.
        outputs: the names of the graph's outputs.

    Returns:
        for each step the names, each once, in the order of Python's `sorted`.

    Source: `torch/_inductor/scheduler.py`, `Scheduler.compute_last_usage` and `free_buffers`.
    """
    needed = set(outputs)
    found = []
    for step in reversed(steps):
        ending = {name for names in step for name in names} - needed
        found.append(sorted(ending))
        needed |= ending
    return found[::-1]


def bytes_alive(steps: Sequence[Step], nbytes: dict[str, int], outputs: Sequence[str]) -> list[int]:
    """How much memory is in use while each step runs, if every buffer has its own.

    A buffer is in use from the step that writes it first to the one that uses it last, both included, and an output from the
    step that writes it first to the end of the schedule. Several steps may write the same buffer.

    Args:
        steps, outputs: as in `last_uses`.
        nbytes: the size, in bytes, of each buffer that counts. Names that are not in it (inputs of the graph) do not count.

    Returns:
        bytes, one number for each step.

    Source: `torch/_inductor/memory.py`, `estimate_peak_memory`, of which the largest is the peak.
    """
    ends = last_uses(steps, outputs)
    alive = set()
    found = []
    for (_, writes), ending in zip(steps, ends):
        alive |= {name for name in writes if name in nbytes}
        found.append(sum(nbytes[name] for name in alive))
        alive -= set(ending)
    return found


# ------------------------------------------------------------------------------------------------------------
# Passing memory on


def take_over(candidates: dict[str, Sequence[str]], ending: Sequence[str], kept: Sequence[str]) -> dict[str, str]:
    """In which buffers a step writes its results in place.

    A result may lie in the memory of a candidate that this step is the last to use. Results choose in their order, each the
    first of its candidates that may be had; a buffer has one heir. Nobody gives way to one that chooses later, even if that
    leaves a result with none.

    Args:
        candidates: for each buffer that the step writes, in order, the buffers that it could be written into element by
            element: those of the same size and dtype of which each element is read only where the result's is written.
        ending: the buffers that this step is the last to use (`last_uses`).
        kept: buffers that must not be written: inputs of the graph, which are the caller's, and constants.

    Returns:
        from the name of each result that has found one, to the name of the buffer that it takes over.

    Source: `torch/_inductor/scheduler.py`, `SchedulerNode.decide_inplace_update`.
    """
    found = {}
    for result, inputs in candidates.items():
        for name in inputs:
            if name in ending and name not in kept and name not in found.values():
                found[result] = name
                break
    return found


def call_lines(
    steps: Sequence[Step], kept: Sequence[str], outputs: Sequence[str], updates: Sequence[dict[str, str]]
) -> list[Line]:
    """What the call does, line by line, before memory is reused.

    For each step, in this order:

    - for each buffer that it writes, in their order, if no earlier step wrote it and it is not kept: `("reuse", old, new)`
      where it takes over another (`updates`), else `("allocate", new)`;
    - `("call", i)`, with the number of the step, from 0;
    - `("free", name)` for each buffer that it is the last to use, in the order of `last_uses`, unless this step has passed it
      on, or it is kept.

    Nothing is freed after the last call, when everything is going to be.

    Args:
        steps, outputs: as in `last_uses`.
        kept: buffers that are not allocated, and not freed: inputs of the graph and constants.
        updates: for each step what `take_over` found.

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
    """The lines of a call, in which new buffers have the memory of freed ones where that costs nothing.

    Freed buffers wait. An `("allocate", new)` looks at the one that has been waiting for the shortest time, of those with the
    dtype and the number of bytes that `new` has. If it is taken, the line becomes `("reuse", old, new)`, the line that freed
    `old` goes away, and `old` waits no longer. It is not taken, and goes on waiting, if that would raise the peak, since its
    memory would then be held through steps that could have done without it: let `f` be the step before the line that freed it
    and `a` the step after the allocation. If there are steps between the two, then the most that is alive during them
    (`alive[f + 1]` to `alive[a - 1]`), and the bytes of `new`, must together be no more than the peak, the largest of `alive` as
    given. When it is taken, the bytes of `new` are added to what is alive during these steps, for later lines to count with.

    Args:
        lines: as `call_lines` makes them, tuples. They may have "reuse" lines, which stay as they are.
        sizes: dtype and number of bytes, for each buffer.
        alive: `bytes_alive`, a number for each step. It is not changed.

    Returns:
        a new list; `lines` stays as it is.

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


# ------------------------------------------------------------------------------------------------------------
# Where the memory comes from

ALIGNMENT = 64  # bytes: a line of the cache, and the widest vector


@dataclass
class Plan:
    """The lines of a call, and where each buffer that they allocate lies.

    A buffer that takes over another, or reuses it (`before`), has the memory of the first of them, its root. What leaves the
    graph, and what is handed to an operator that is called from Python, is `held` as a tensor; all else lies in a pool of
    `nbytes` bytes, at an offset, while one run of compiled steps is on.
    """

    lines: list[Line]
    before: dict[str, str]
    roots: dict[str, str]
    held: set[str]
    offsets: dict[str, int]
    nbytes: int


def plan(program: Program) -> Plan:
    """The plan of a scheduled graph."""
    layouts = program.layouts
    outside = [step for step in program.steps if isinstance(step, Fallback)]
    made = [name for step in outside for name in step.outputs if name is not None]
    kept = {*program.inputs, *program.constants, *made}
    views = [step for step in outside if any(each.alias for each in step.target._schema.returns)]
    outputs = [each.buffer for each in program.outputs if isinstance(each, Operand)]
    outputs += [name for step in views for name in sorted(step.reads)]  # for what is seen through another must stay
    steps = [(sorted(step.reads), writes_in_order(step)) for step in program.steps]
    updates = [
        take_over(step.inplace if isinstance(step, Kernel) else {}, ending, kept)
        for step, ending in zip(program.steps, last_uses(steps, outputs))
    ]
    nbytes = {name: layout.nbytes for name, layout in layouts.items() if name not in kept}
    sizes = {name: (str(layouts[name].dtype), nbytes[name]) for name in nbytes}
    written = {name for _, writes in steps for name in writes}
    empty = [name for name in sizes if name not in written]  # nothing needs to fill a buffer without elements
    lines = [("allocate", name) for name in empty] + call_lines(steps, kept, outputs, updates)
    if steps:
        lines = plan_reuse(lines, sizes, bytes_alive(steps, nbytes, outputs))
    return place(lines, program, outputs)


def writes_in_order(step: Kernel | Extern | Fallback) -> list[str]:
    """What a step writes, in the order of its parameters: the lines of the call are the same each time that it is planned."""
    return sorted(step.writes, key=step.arguments.index) if isinstance(step, Kernel) else sorted(step.writes)


def segments(program: Program) -> list[int | None]:
    """For each step the number of the run of compiled steps that it is in; None for an operator called from Python."""
    found, number, running = [], -1, False
    for step in program.steps:
        compiled = not isinstance(step, Fallback)
        number += compiled and not running
        running = compiled
        found.append(number if compiled else None)
    return found


def place(lines: list[Line], program: Program, outputs: Sequence[str]) -> Plan:
    """The plan that these lines make: what is passed on from whom, and where it lies."""
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
            nbytes += round_up(program.layouts[root].nbytes)
    return Plan(lines, before, roots, held, offsets, nbytes)


def round_up(nbytes: int) -> int:
    """The next multiple of `ALIGNMENT`."""
    return -(-nbytes // ALIGNMENT) * ALIGNMENT
