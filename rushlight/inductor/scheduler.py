"""Scheduling: which loops become one kernel, and in which order everything runs.

Two loop nests that go over the same elements can share their loops when whatever passes between them passes within one
iteration. What a reduction leaves is there after its loop over a row; so a fused kernel is an outer loop over rows and in it,
one after another, as few *inner loops* over a row as its reductions demand. In PyTorch: `torch/_inductor/scheduler.py`,
`dependencies.py`, `codegen/cpp.py` (`can_fuse_*`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from rushlight.inductor import cpp_kernel
from rushlight.inductor.index import Index, Symbol, refinement, spread, substitute, symbols
from rushlight.inductor.ir import Computed, Extern, Fallback, Kernel, Layout, Load, Lowered, Operand, Program, walk
from rushlight.inductor.ir import replace as replace_in

# ------------------------------------------------------------------------------------------------------------
# Dependencies


@dataclass(frozen=True)
class Access:
    """An element of a buffer that one iteration of some loops reads or writes."""

    buffer: str
    index: Index


def accesses(computed: Computed) -> tuple[list[Access], Access]:
    """What one iteration of a loop nest reads, each element once and in no particular order, and what it writes.

    Args:
        computed: its `value` is an `Expr`; `walk(value)` gives every `Expr` in it, those from which an index is read too.
            Each `Load` has `buffer` and `index`. `computed.buffer` at `computed.index` is what is written.

    Source: `torch/_inductor/dependencies.py`, `extract_read_writes`.
    """
    if computed.accesses is None:
        loads = [each for each in walk(computed.value) if isinstance(each, Load)]
        reads = dict.fromkeys(Access(each.buffer, each.index) for each in loads)
        computed.accesses = list(reads), Access(computed.buffer, computed.index)
    return computed.accesses


def can_fuse(first: Computed, second: Computed) -> bool:
    """Whether two loop nests over the same loop variables can be one nest, in which every iteration does what the first does,
    then what the second does.

    They can if whatever goes from one to the other through memory does so within one iteration:

    - an element of a buffer that the first writes and the second reads has in both the same index expression, for each such read;
    - so has an element that the first reads and the second writes (or the second would overwrite what the first has still to
        read);
    - they do not write to the same buffer.

    What they only read, both of them, does not matter. Nor does it matter whether one of them reduces (its `kind`): what a
    reduction leaves is there after its loop over a row, and `inner_loops` sees to it that whoever reads it works in a later
    one. Index expressions are equal (`==`) if and only if they are the same
    sum of the same loop variables. `accesses(computed)` gives what a nest reads and what it writes.

    Source: `torch/_inductor/scheduler.py`, `Scheduler.can_fuse_vertical`, `fusable_read_and_write`.
    """
    first_reads, first_write = accesses(first)
    second_reads, second_write = accesses(second)
    if first_write.buffer == second_write.buffer:
        return False
    forth = all(read == first_write for read in second_reads if read.buffer == first_write.buffer)
    back = all(read == second_write for read in first_reads if read.buffer == second_write.buffer)
    return forth and back


# ------------------------------------------------------------------------------------------------------------
# Groups of loop nests that run as one


@dataclass(eq=False)
class Group:
    """Loop nests in common loops: `outer` over rows, `inner` over each row, none in pointwise work. A nest reduces over
    `inner`, or works on every element (outer and inner), or once for each row (outer only)."""

    outer: list[Symbol]
    inner: list[Symbol]
    nests: list[Computed]

    @cached_property
    def reads(self) -> set[str]:
        return {read.buffer for nest in self.nests for read in accesses(nest)[0]}

    @cached_property
    def writes(self) -> set[str]:
        return {nest.buffer for nest in self.nests}

    @property
    def loops(self) -> list[Symbol]:
        return self.outer + self.inner

    def iterations(self) -> tuple[int, int]:
        return count(self.outer), count(self.inner)

    def on(self, outer: list[Symbol], inner: list[Symbol], values: dict[Symbol, Index]) -> Group:
        """The same group with other loop variables."""
        return Group(outer, inner, [moved(nest, outer, inner, values) for nest in self.nests])


def count(loops: Sequence[Symbol]) -> int:
    return math.prod(symbol.size for symbol in loops)


def moved(nest: Computed, outer: list[Symbol], inner: list[Symbol], values: dict[Symbol, Index]) -> Computed:
    index = substitute(nest.index, values)
    value = replace_in(nest.value, values)
    if nest.kind is not None:
        return replace(nest, loops=outer, reduced=inner, index=index, value=value, accesses=None)
    everywhere = count(nest.loops) == count(outer) * count(inner)
    return replace(nest, loops=outer + inner if everywhere else outer, index=index, value=value, accesses=None)


def group_of(nest: Computed) -> Group:
    """The group of one loop nest, without loops of one iteration."""
    outer = [symbol for symbol in nest.loops if symbol.size != 1]
    return Group(outer, [symbol for symbol in nest.reduced if symbol.size != 1], [replace(nest, loops=outer)])


def common_loops(first: Group, second: Group, rotate: bool = True) -> Iterator[tuple[Group, Group]]:
    """Both groups in the same loops, in every way that is tried: row-major first, then with the loops of a pointwise group
    rotated."""
    (rows, columns), (other_rows, other_columns) = first.iterations(), second.iterations()
    if bool(first.inner) == bool(second.inner):
        if (rows, columns) == (other_rows, other_columns):
            yield from cut(first, second, [first.outer, first.inner], [second.outer, second.inner])
            if rotate and not first.inner:
                for order in rotations(second.outer):
                    yield from cut(first, second, [first.outer, []], [order, []])
    elif second.inner:
        yield from ((one, other) for other, one in common_loops(second, first, rotate))
    elif other_rows == rows * columns:
        for order in [second.outer, *(rotations(second.outer) if rotate else [])]:
            sizes = refinement([s.size for s in first.loops], [s.size for s in order])
            if sizes is not None:
                place = 0
                while math.prod(sizes[:place]) != rows:
                    place += 1
                fine = symbols("i", sizes)
                outer, inner = fine[:place], [Symbol(f"r{n}", s.size) for n, s in enumerate(fine[place:])]
                yield (
                    first.on(outer, inner, spread(first.outer, outer) | spread(first.inner, inner)),
                    second.on(outer, inner, spread(order, outer + inner)),
                )
    elif other_rows == rows:
        yield from cut(first, second, [first.outer, first.inner], [second.outer, first.inner])


def cut(
    first: Group, second: Group, mine: list[list[Symbol]], theirs: list[list[Symbol]]
) -> Iterator[tuple[Group, Group]]:
    """Both groups in loops into which the outer ones of both, and the inner ones of both, can be cut."""
    sizes = [refinement([s.size for s in a], [s.size for s in b]) for a, b in zip(mine, theirs)]
    if None not in sizes:
        outer, inner = symbols("i", sizes[0]), symbols("r", sizes[1])
        values = [spread(loops[0], outer) | spread(loops[1], inner) for loops in (mine, theirs)]
        yield first.on(outer, inner, values[0]), second.on(outer, inner, values[1])


def rotations(loops: Sequence[Symbol]) -> list[list[Symbol]]:
    return [[*loops[n:], *loops[:n]] for n in range(1, len(loops))]


def fused(first: Group, second: Group) -> Group | None:
    """The two groups as one, the first one's work first in every iteration; None if that would change a result."""
    linked = bool(first.writes & (second.reads | second.writes) or first.reads & second.writes)
    if len(first.nests) + len(second.nests) > MOST_NESTS:
        return None
    for one, other in common_loops(first, second, linked):
        if all(can_fuse(a, b) for a in one.nests for b in other.nests):
            return Group(one.outer, one.inner, one.nests + other.nests)
    return None


MOST_NESTS = 64  # in one kernel, as torch/_inductor/config.py: max_fusion_size

# ------------------------------------------------------------------------------------------------------------
# Inner loops


def inner_loops(group: Group) -> list[int]:
    """For each nest of a group the number of the inner loop in which it works: 0 is the first over a row.

    A nest that works once for each row runs just before the inner loop of its number (which may be one more than there are).
    What a nest reads of another nest is there in the same inner loop, if that works on every element or has worked once for
    the row; in the next, if it is a reduction.
    """
    places: list[int] = []
    for nest in group.nests:
        reads, write = accesses(nest)
        names, place = {read.buffer for read in reads}, 0
        for before, at in zip(group.nests, places):
            if before.buffer in names:
                place = max(place, at + (before.kind is not None))
            if any(read.buffer == write.buffer for read in accesses(before)[0]):
                by_row = nest.kind is None and works_by_row(nest, group)
                place = max(place, at + (by_row and not works_by_row(before, group)))
        places.append(place)
    return places


def works_by_row(nest: Computed, group: Group) -> bool:
    """Whether a nest works once for each row of a group."""
    return nest.kind is None and bool(group.inner) and len(nest.loops) == len(group.outer)


# ------------------------------------------------------------------------------------------------------------
# The schedule

Unit = Group | Extern | Fallback


def needed(lowered: Lowered) -> list[Computed | Extern | Fallback]:
    """The operations whose results somebody uses."""
    wanted = {each.buffer for each in lowered.outputs if isinstance(each, Operand)} | set(lowered.mutated)
    kept = []
    for operation in reversed(lowered.operations):
        if isinstance(operation, Computed):
            if operation.buffer not in wanted:
                continue
            wanted |= {read.buffer for read in accesses(operation)[0]}
        elif isinstance(operation, Extern) and not operation.writes & wanted:
            continue
        else:
            wanted |= operation.reads
        kept.append(operation)
    return kept[::-1]


def fuse_all(units: list[Unit], layouts: dict[str, Layout]) -> list[Unit]:
    """Fuse pairs of groups, those first that share most memory, until none is left that can be.

    Source: `torch/_inductor/scheduler.py`, `Scheduler.fuse_nodes`.
    """
    refused: set[tuple[int, int]] = set()
    keep = list(units)  # refused pairs are known by id
    while True:
        before = reachable(units)
        pairs = []
        for b, second in enumerate(units):
            for a, first in enumerate(units[:b]):
                if not (isinstance(first, Group) and isinstance(second, Group)) or (id(first), id(second)) in refused:
                    continue
                shared = (first.reads | first.writes) & (second.reads | second.writes)
                if shared and not any(c in before[b] and a in before[c] for c in range(a + 1, b)):
                    pairs.append((-sum(layouts[name].nbytes for name in shared), b - a, a, b))
        for _, _, a, b in sorted(pairs):
            together = fused(units[a], units[b])
            if together is not None:
                keep.append(together)
                # what needs the first part comes after both: the second part needs none of it
                behind = [c for c in range(a + 1, b) if a in before[c]]
                ahead = [c for c in range(a + 1, b) if a not in before[c]]
                places = [*range(a), *ahead, None, *behind, *range(b + 1, len(units))]
                units = [together if place is None else units[place] for place in places]
                break
            refused.add((id(units[a]), id(units[b])))
        else:
            return units


def reachable(units: Sequence[Unit]) -> list[set[int]]:
    """For each unit the places of those before it on which it depends, directly or not."""
    found: list[set[int]] = []
    sets = [(unit.reads, unit.writes) for unit in units]
    for b, (reads, writes) in enumerate(sets):
        mine: set[int] = set()
        for a in range(b):
            if reads & sets[a][1] or writes & (sets[a][0] | sets[a][1]):
                mine |= found[a] | {a}
        found.append(mine)
    return found


def schedule(lowered: Lowered) -> Program:
    """The kernels and calls of a lowered graph, in the order in which they run."""
    units: list[Unit] = [group_of(each) if isinstance(each, Computed) else each for each in needed(lowered)]
    units = fuse_all(units, lowered.layouts)
    kept = {each.buffer for each in lowered.outputs if isinstance(each, Operand)}
    kept |= {*lowered.inputs, *lowered.constants}
    steps: list[Kernel | Extern | Fallback] = []
    for place, unit in enumerate(units):
        if isinstance(unit, Group):
            used = kept.union(*(other.reads for other in units[:place] + units[place + 1 :]))
            unit = cpp_kernel.kernel(unit, inner_loops(unit), unit.writes - used, lowered.layouts, place)
        steps.append(unit)
    alive = kept.union(*(step.reads | step.writes for step in steps))
    layouts = {name: layout for name, layout in lowered.layouts.items() if name in alive}
    return Program(lowered.inputs, layouts, lowered.constants, steps, lowered.outputs, lowered.mutated)
