"""Fused loop nests: common loops, and the inner loop in which each nest works.

A fused node is an outer loop over rows and, in it, inner loops over a row, one after another. The result of a reduction is
complete only after its inner loop, so a nest that reads the result needs a later inner loop. Pointwise work alone has no inner
loops. In PyTorch: `FusedSchedulerNode` in `torch/_inductor/scheduler.py`; a node of one nest is `SchedulerNode` there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from rushlight.inductor import ir
from rushlight.inductor.dependencies import extract_read_writes
from rushlight.inductor.index import Index, Symbol, substitute
from rushlight.inductor.ir import ComputedBuffer


@dataclass(eq=False)
class FusedSchedulerNode:
    """Loop nests in common loops: `outer` over rows, `inner` over each row, empty in pointwise work. A nest reduces over
    `inner`, or works on every element (outer and inner), or works once for each row (outer only)."""

    outer: list[Symbol]
    inner: list[Symbol]
    nests: list[ComputedBuffer]

    @staticmethod
    def of(nest: ComputedBuffer) -> FusedSchedulerNode:
        """The node of one loop nest, without loops of one iteration."""
        outer = [symbol for symbol in nest.loops if symbol.size != 1]
        return FusedSchedulerNode(outer, [s for s in nest.reduced if s.size != 1], [replace(nest, loops=outer)])

    @cached_property
    def reads(self) -> set[str]:
        return {read.buffer for nest in self.nests for read in extract_read_writes(nest)[0]}

    @cached_property
    def writes(self) -> set[str]:
        return {nest.buffer for nest in self.nests}

    @property
    def loops(self) -> list[Symbol]:
        return self.outer + self.inner

    @property
    def numels(self) -> tuple[int, int]:
        """Iterations of the outer loops, and of the inner ones."""
        return numel(self.outer), numel(self.inner)

    def works_by_row(self, nest: ComputedBuffer) -> bool:
        """Return whether a nest works once for each row."""
        return nest.kind is None and bool(self.inner) and len(nest.loops) == len(self.outer)

    def reindexed(self, outer: list[Symbol], inner: list[Symbol], values: dict[Symbol, Index]) -> FusedSchedulerNode:
        """The same node with other loop variables."""
        nests, total = [], numel(outer + inner)
        for nest in self.nests:
            index, value = substitute(nest.index, values), ir.reindexed(nest.value, values)
            reduced = inner if nest.kind is not None else []
            on_every_element = nest.kind is None and numel(nest.loops) == total
            loops = outer + inner if on_every_element else outer
            nests.append(replace(nest, loops=loops, reduced=reduced, index=index, value=value))
        return FusedSchedulerNode(outer, inner, nests)


def numel(loops: Sequence[Symbol]) -> int:
    """The iterations of nested loops."""
    return math.prod(symbol.size for symbol in loops)


def inner_loops(node: FusedSchedulerNode) -> list[int]:
    """For each nest of a node the number of the inner loop in which the nest works: 0 is the first loop over a row. A nest
    that works once for each row runs just before the inner loop of its number, which can be one more than there are. A nest
    can read the result of another nest in the same inner loop if that nest works on every element or once for each row, and
    in the next inner loop if that nest is a reduction."""
    numbers: list[int] = []
    for nest in node.nests:
        reads, write = extract_read_writes(nest)
        names, number = {read.buffer for read in reads}, 0
        for before, its_number in zip(node.nests, numbers):
            if before.buffer in names:
                number = max(number, its_number + (before.kind is not None))
            if any(read.buffer == write.buffer for read in extract_read_writes(before)[0]):
                overtakes = node.works_by_row(nest) and not node.works_by_row(before)
                number = max(number, its_number + overtakes)
        numbers.append(number)
    return numbers
