"""The C++ function of a fused node.

Pointwise work is one nest of loops. Work with reductions is a loop over rows, and in it the inner loops over a row, one after
another (`scheduler_node.inner_loops`). The subclass in `tiling` works on several rows at once. In PyTorch:
`torch/_inductor/codegen/cpp.py` (`CppKernel`, `KernelGroup`).
"""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cached_property

from rushlight.aten.parallel import get_num_threads
from rushlight.aten.strided import contiguous_strides
from rushlight.c10.dtypes import float32, float64
from rushlight.inductor import ir
from rushlight.inductor.common import FusedKernel
from rushlight.inductor.cpp import SIMD, TYPES, Statements, emit, reduction_combine, reduction_init
from rushlight.inductor.index import Index, Symbol, element_index
from rushlight.inductor.ir import ComputedBuffer, Layout
from rushlight.inductor.loop_order import all_indices
from rushlight.inductor.scheduler_node import FusedSchedulerNode, numel

GRAIN = 1 << 15  # elements per thread at least: a thread with less work costs more than it saves
LONGEST_SUM = 4096  # elements: a longer sum of float32 is added up in blocks of this length, and the blocks in float64


@dataclass
class InnerLoop:
    """The text of one inner loop over a row, as it is collected."""

    steps: list[str] = field(default_factory=list)  # add an element to the totals
    stores: list[str] = field(default_factory=list)
    clauses: dict[str, list[str]] = field(default_factory=dict)  # totals by the operator of their OpenMP reduction
    ends: list[str] = field(default_factory=list)  # after the loop
    parts: list[str] = field(default_factory=list)  # totals in float64 of parts in float32
    in_order: bool = False  # an iteration depends on the one before


class CppKernel(FusedKernel):
    """The text of one kernel: row after row, element after element."""

    rows_at_once = 1
    scratch = 1 << 15  # bytes of the stack for a row that a later inner loop reads again
    lanes = nullcontext  # around the statement for every row worked on at once
    lane = each_row = ""  # after a variable of the row; before a statement for every row worked on at once

    def __init__(self, node: FusedSchedulerNode, unused: set[str], layouts: dict[str, Layout]) -> None:
        super().__init__(node, unused, layouts)
        self.varying = node.inner  # the variables of the loops around an element of a row
        self.stored: dict[tuple[str, Index], str] = {}  # the C++ name of an element that is computed already
        self.row_buffers: set[str] = set()  # declared
        self.counter = [0]
        self.lines: list[str] = []
        self.depth = 1

    # -- the loop nests

    def needs_no_buffer(self, nest: ComputedBuffer) -> bool:
        """Return whether a nest needs no memory, or only a row that fits on the stack."""
        if self.works_by_row(nest) or nest.kind is not None or not self.node.inner or not self.read_later(nest):
            return True
        return numel(self.node.inner) * self.rows_at_once * nest.dtype.itemsize <= self.scratch

    # -- lines of text

    def write(self, *lines: str) -> None:
        self.lines += ["  " * self.depth + line for line in lines]

    def open(self, text: str) -> None:
        self.write(text + " {")
        self.depth += 1

    def close(self, depth: int) -> None:
        """Close the blocks that are deeper than `depth`."""
        while self.depth > depth:
            self.depth -= 1
            self.write("}")

    def loop(self, symbol: Symbol, start: str = "0", end: str | None = None) -> None:
        name = symbol.name
        self.open(f"for (int64_t {name} = {start}; {name} < {symbol.size if end is None else end}; {name}++)")

    def statements(self, hoist: Statements | None = None, varying: Sequence[Symbol] = ()) -> Statements:
        return Statements(self.pointers, self.stored, number=self.counter, hoist=hoist, varying=frozenset(varying))

    # -- threads

    def threads(self, loops: Sequence[Symbol]) -> int:
        """The number of threads that share the outermost of these loops."""
        return min(get_num_threads(), numel(self.node.loops) // GRAIN, loops[0].size if loops else 0)

    def parallel(self, loops: Sequence[Symbol], simd: bool) -> bool:
        """Write the pragma that shares the outermost loop among threads, if there is enough work."""
        most = self.threads(loops)
        if most > 1:
            self.write(f"#pragma omp parallel for {'simd ' if simd else ''}num_threads(team({most}))" + self.flags)
        return most > 1

    @cached_property
    def flags(self) -> str:
        """The clause for `bad`, the flag of an index from memory that is out of range."""
        indirect = any(next(ir.indirect_values(index), None) is not None for index in all_indices(self.node))
        return " reduction(|:bad)" if indirect else ""

    # -- pointwise work: one nest of loops

    def codegen(self) -> list[str]:
        """The lines of the function's body."""
        if self.node.inner:
            self.codegen_rows()
        else:
            self.codegen_pointwise()
        return self.lines

    def codegen_pointwise(self) -> None:
        outer, last = self.node.outer[:-1], self.node.outer[-1:]
        shared = self.parallel(self.node.outer, simd=not outer)
        for symbol in outer:
            self.loop(symbol)
        before = self.statements()
        inside = self.statements(before, last)
        stores = []
        for nest in self.node.nests:
            value = self.stored[nest.buffer, nest.index] = emit(inside, nest.value)
            if nest.buffer not in self.local:
                stores.append(f"{self.pointers[nest.buffer]}[{inside.index(nest.index)}] = {value};")
        self.write(*before.lines)
        if last:
            if outer or not shared:
                self.write("#pragma omp simd" + self.flags)
            self.loop(last[0])
        self.write(*inside.lines, *stores)
        self.close(1)

    # -- reductions: inner loops over a row, one after another

    def codegen_rows(self) -> None:
        self.parallel(self.node.outer, simd=False)
        self.open_rows()
        self.row = self.statements()
        for number in range(max(self.numbers) + 1):
            nests = [nest for nest, at in zip(self.node.nests, self.numbers) if at == number]
            self.once_for_each_row([nest for nest in nests if self.works_by_row(nest)])
            if nests := [nest for nest in nests if not self.works_by_row(nest)]:
                self.inner_loop(nests)
        self.flush()
        self.close(1)

    def open_rows(self) -> None:
        for symbol in self.node.outer:
            self.loop(symbol)

    def flush(self) -> None:
        """Write the statements of the row that are collected so far."""
        self.write(*self.row.lines)
        self.row.lines.clear()

    def once_for_each_row(self, nests: list[ComputedBuffer]) -> None:
        for nest in nests:
            value = self.stored[nest.buffer, nest.index] = emit(self.row, nest.value)
            self.row.names[id(nest.value)] = value
            if nest.buffer not in self.local:
                self.row.lines.append(self.store(nest, value))

    def store(self, nest: ComputedBuffer, value: str) -> str:
        return f"{self.pointers[nest.buffer]}[{self.row.index(nest.index)}] = {value};"

    def inner_loop(self, nests: list[ComputedBuffer]) -> None:
        """One inner loop: the nests that work on the elements of the row at this point."""
        inside, loop = self.statements(self.row, self.varying), InnerLoop()
        self.flush()
        totals = {nest: self.declare_total(nest, loop) for nest in nests if nest.kind is not None}
        for nest in nests:
            value = emit(inside, nest.value)
            if nest.kind is None:
                self.store_element(nest, value, inside, loop)
            else:
                self.combine(nest, value, totals[nest], loop)
        self.flush()
        depth = self.depth
        self.write_loop(inside.lines + loop.steps + loop.stores, loop)
        self.close(depth)
        self.write(*loop.ends)
        for nest in nests:  # from here on, nests find the result elsewhere
            self.stored.pop((nest.buffer, nest.index), None)
            element = totals[nest] + self.lane if nest in totals else self.row_element(nest)
            if element is not None:
                self.stored[nest.buffer, nest.index] = element
            if nest in totals and nest.buffer not in self.local:
                with self.lanes():
                    self.write(self.store(nest, element))

    # -- elements that a later inner loop reads again

    def store_element(self, nest: ComputedBuffer, value: str, inside: Statements, loop: InnerLoop) -> None:
        """Store an element of pointwise work, in its buffer or in a row on the stack, if there is a reader."""
        row_element = self.row_element(nest)
        if nest.buffer not in self.local:
            loop.stores.append(f"{self.pointers[nest.buffer]}[{inside.index(nest.index)}] = {value};")
        elif row_element:
            loop.stores.append(f"{row_element} = {value};")
        self.stored[nest.buffer, nest.index] = value

    def row_element(self, nest: ComputedBuffer) -> str | None:
        """The C++ name of an element for a later inner loop; None if no later loop reads it."""
        if not self.read_later(nest):
            return None
        if nest.buffer not in self.local:
            return f"{self.pointers[nest.buffer]}[{self.row.index(nest.index)}]"
        name = f"row_{nest.buffer}"
        if name not in self.row_buffers:
            self.row_buffers.add(name)
            length = numel(self.node.inner) * self.rows_at_once
            self.row.lines.append(f"alignas(64) {TYPES[nest.dtype]} {name}[{length}];")
        return f"{name}[{self.row_position()}]"

    def row_position(self) -> str:
        """The position of an element in its row."""
        inner = self.node.inner
        strides = contiguous_strides([symbol.size for symbol in inner])
        return self.row.index(element_index([Index.of(symbol) for symbol in inner], strides, 0))

    # -- totals

    def is_long_sum(self, nest: ComputedBuffer) -> bool:
        """Return whether a sum in float32 alone would lose digits."""
        return nest.kind == "sum" and nest.dtype is float32 and numel(self.node.inner) > LONGEST_SUM

    def declare_total(self, nest: ComputedBuffer, loop: InnerLoop) -> str:
        """Declare the variable of a reduction's result."""
        name = self.row.new_name()
        if nest.kind in ("argmax", "argmin"):
            kind = nest.value.dtype
            self.write(f"{TYPES[kind]} {name}_best = {reduction_init(nest.kind[3:], kind)}; int64_t {name} = -1;")
            return name
        wide = float64 if self.is_long_sum(nest) else nest.dtype
        self.write(f"{TYPES[wide]} {name} = {reduction_init(nest.kind, wide)};")
        if notices_nan(nest):
            self.write(f"int32_t {name}_nan = 0;")
        if self.is_long_sum(nest):
            loop.parts.append(name)
        return name

    def combine(self, nest: ComputedBuffer, value: str, total: str, loop: InnerLoop) -> None:
        """The statements that add one element to a total, and those after the loop."""
        if nest.kind in ("argmax", "argmin"):  # the first of equal elements; NaN counts as larger and as smaller
            sign = ">" if nest.kind == "argmax" else "<"
            nan = f"({value} != {value} && {total}_best == {total}_best)"
            beats = f"{total} < 0 || {value} {sign} {total}_best || {nan}"
            loop.steps.append(f"if ({beats}) {{ {total}_best = {value}; {total} = {self.row_position()}; }}")
            loop.in_order = True
            return
        name = f"{total}_part" if total in loop.parts else total
        loop.steps.append(reduction_combine(nest.kind, name + self.lane, value))
        loop.clauses.setdefault(SIMD[nest.kind], []).append(name)
        if notices_nan(nest):
            nan = f"{total}_nan{self.lane}"
            loop.steps.append(f"{nan} |= {value} != {value};")
            loop.clauses.setdefault("|", []).append(f"{total}_nan")
            loop.ends.append(f"{self.each_row}if ({nan}) {total}{self.lane} = NAN;")

    # -- the loop itself

    def write_loop(self, lines: list[str], loop: InnerLoop) -> None:
        """The loops over one row around these statements; in blocks for a long sum."""
        *around, last = self.node.inner
        for symbol in around:
            self.loop(symbol)
        start, end, most = "0", str(last.size), 1 if self.node.outer or around else self.threads([last])
        if loop.parts and last.size > LONGEST_SUM:  # in blocks, which threads share if there is no loop over rows
            shared = self.threads(self.node.inner)
            if not loop.in_order and shared > 1 and not self.node.outer:
                clause = self.clause(loop).replace("_part", "")
                self.write(f"#pragma omp parallel for num_threads(team({shared}))" + clause)
            self.open(f"for (int64_t block = 0; block < {end}; block += {LONGEST_SUM})")
            self.write(f"const int64_t end = {end} - block < {LONGEST_SUM} ? {end} : block + {LONGEST_SUM};")
            start, end, most = "block", "end", 1
        elif loop.parts:
            self.open("")
        self.write(*[f"float {name}_part = 0;" for name in loop.parts])
        if not loop.in_order:
            shared = f"parallel for simd num_threads(team({most}))" if most > 1 else "simd"
            self.write(f"#pragma omp {shared}{self.clause(loop)}")
        depth = self.depth
        self.loop(last, start, end)
        self.write(*lines)
        self.close(depth)
        self.write(*[f"{name} += {name}_part;" for name in loop.parts])

    def clause(self, loop: InnerLoop) -> str:
        """The OpenMP clauses that allow the compiler to reorder these reductions, and no others."""
        totals = (f" reduction({operator}:{', '.join(names)})" for operator, names in loop.clauses.items())
        return "".join(totals) + self.flags


def notices_nan(nest: ComputedBuffer) -> bool:
    """Return whether a reduction needs a flag of its own for NaN, because a comparison with NaN is false."""
    return nest.kind in ("max", "min") and nest.dtype.is_floating_point
