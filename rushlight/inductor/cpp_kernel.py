"""The C++ function of a fused group of loops.

The loops are put in the order in which memory lies, and merged. Then there are three forms. Pointwise work is one nest of
loops. With reductions it is a loop over rows, and in it inner loops over a row, one after another (`scheduler.inner_loops`).
Where memory goes on from row to row rather than along a row, `TILE` rows are worked on side by side. In PyTorch:
`torch/_inductor/codegen/cpp.py` (`CppKernel`, `CppVecKernel`, `TilingSelect`, `KernelGroup`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rushlight.aten.strided import contiguous_strides
from rushlight.c10.dtypes import dtype, float32, float64
from rushlight.inductor import ir
from rushlight.inductor.cpp import SIMD, TYPES, Statements, emit, first_value, joined, threads
from rushlight.inductor.index import (
    ZERO,
    Index,
    Indirect,
    Symbol,
    element_index,
    merge_dims,
    stride_of,
)
from rushlight.inductor.ir import Computed, Expr, Kernel, Layout, Load, op, walk

if TYPE_CHECKING:
    from rushlight.inductor.scheduler import Group

GRAIN = 1 << 15  # so many elements are worth a thread of their own
BLOCK = 256  # elements of a row of which the largest is looked for before they are looked at again
TILE = 64  # rows that are worked on side by side, where the elements of a column lie together and those of a row do not
LONGEST_SUM = 4096  # elements that are added up in float32 before the sum goes on in float64
SCRATCH = 1 << 15  # bytes of a row that a kernel keeps to itself


def affine_parts(index: Index) -> list[Index]:
    """The index, and every index in a quotient or remainder in it: what has to go on evenly where loops are merged."""
    found = [Index(tuple(pair for pair in index.terms if isinstance(pair[0], Symbol)))]
    for term, _ in index.terms:
        if not isinstance(term, (Symbol, Indirect)):
            found += affine_parts(term.base)
    return found


def all_indices(group: Group) -> list[Index]:
    found = [nest.index for nest in group.nests]
    for nest in group.nests:
        found += [index for value in walk(nest.value) for index in value.indices]
    return found


def arranged(group: Group) -> Group:
    """The group with its loops in the order in which memory lies, as few as there can be."""
    if any(nest.kind in ("argmax", "argmin") for nest in group.nests):
        inner = list(group.inner)  # the first of several that are equal is wanted
    else:
        inner = by_stride(
            group.inner, [e.index for n in group.nests if n.kind for e in walk(n.value) if isinstance(e, Load)]
        )
    outer = by_stride(group.outer, [nest.index for nest in group.nests])
    parts = [part for index in dict.fromkeys(all_indices(group)) for part in affine_parts(index)]
    values: dict[Symbol, Index] = {}
    merged: list[list[Symbol]] = []
    for loops, prefix in ((outer, "i"), (inner, "r")):
        new = []
        dims = merge_dims([s.size for s in loops], [[stride_of(part, s) for s in loops] for part in parts])
        for dim, numbers in enumerate(dims):
            symbol = Symbol(f"{prefix}{dim}", math.prod(loops[n].size for n in numbers))
            values |= {loops[n]: ZERO for n in numbers} | {loops[numbers[-1]]: Index.of(symbol)}
            new.append(symbol)
        merged.append(new)
    return group.on(*merged, values)


def by_stride(loops: Sequence[Symbol], indices: Sequence[Index]) -> list[Symbol]:
    """The loops in the order of their steps in memory, the largest outside, as the first of these indices that moves has them."""
    steps = {s: next((abs(step) for step in (stride_of(index, s) for index in indices) if step), 0) for s in loops}
    return sorted(loops, key=lambda s: -steps[s] if steps[s] else -math.inf)


@dataclass
class Online:
    """The largest of a row and the sum of `exp(a - largest)` in one loop over the row: a softmax is two loops, not three.

    The loop goes on in blocks, which stay in the cache. What has been summed before a larger element was met is made smaller
    by the one factor that is missing; `powers`, where they are kept for the next loop, are so with a factor for each block.
    """

    most: Computed
    total: Computed
    power: Expr  # exp(a - largest)
    powers: Computed | None  # the nest that keeps them
    place: int


class Writer:
    """The text of one kernel."""

    def __init__(self, group: Group, places: Sequence[int], unused: set[str], layouts: dict[str, Layout]):
        before = {nest.buffer: place for nest, place in zip(group.nests, places)}
        self.group = group = arranged(group)
        self.layouts, self.unused = layouts, unused
        self.places = [before[nest.buffer] for nest in group.nests]
        self.online: Online | None = None
        self.lanes = self.side_by_side()
        self.local = local = {nest.buffer for nest in group.nests if nest.buffer in unused and self.fits(nest)}
        reads = dict.fromkeys(each.buffer for n in group.nests for each in walk(n.value) if isinstance(each, Load))
        self.outputs = [nest.buffer for nest in group.nests if nest.buffer not in local]
        self.inputs = [name for name in reads if name not in self.outputs and name not in local]
        self.pointers = {name: f"in_ptr{n}" for n, name in enumerate(self.inputs)}
        self.pointers |= {name: f"out_ptr{n}" for n, name in enumerate(self.outputs)}
        self.find_online()
        self.number = [0]
        self.lines: list[str] = []
        self.depth = 1

    def in_loop(self, nest: Computed) -> bool:
        """Whether a nest works on every element of a row, rather than once for the row."""
        return nest.kind is not None or len(nest.loops) > len(self.group.outer) or not self.group.inner

    def fits(self, nest: Computed) -> bool:
        """Whether a nest whose result nobody else reads can do without a buffer: it is a value, or a row that is not too long."""
        if not self.in_loop(nest) or nest.kind is not None or not self.group.inner or not self.read_later(nest):
            return True
        lanes = TILE if self.lanes is not None else 1
        return math.prod(s.size for s in self.group.inner) * lanes * nest.dtype.itemsize <= SCRATCH * (
            8 if self.lanes else 1
        )

    def side_by_side(self) -> Symbol | None:
        """The outer variable along which memory lies together, if it is not the innermost one: then rows are worked on side
        by side."""
        group = self.group
        if not group.inner or not group.outer or any(n.kind in ("argmax", "argmin") for n in group.nests):
            return None
        across, along = group.outer[-1], group.inner[-1]
        nests = [nest for nest in group.nests if self.in_loop(nest)]
        moves = [nest.index for nest in nests if nest.kind is None]
        moves += [each.index for nest in nests for each in walk(nest.value) if isinstance(each, Load)]
        votes = sum(
            (stride_of(i, across) == 1) - (stride_of(i, along) == 1) for i in moves if {across, along} <= i.symbols
        )
        return across if votes > 0 else None

    def find_online(self) -> None:
        """Look for `max(a)` and, in the next inner loop, `sum(exp(a - max(a)))`: one loop does both, in blocks (see `Online`)."""
        group = self.group
        if len(group.inner) != 1 or self.lanes is not None:
            return
        for most, place in zip(group.nests, self.places):
            following = [n for n, at in zip(group.nests, self.places) if at == place + 1 and self.in_loop(n)]
            powers = [n for n in following if n.kind is None and n.buffer in self.unused]
            totals = [n for n in following if n.kind == "sum"]
            if most.kind != "max" or len(totals) != 1 or len(powers) + 1 != len(following) or len(powers) > 1:
                continue
            exponential = powers[0].value if powers else totals[0].value
            if powers and totals[0].value is not ir.load(powers[0].buffer, powers[0].index, powers[0].dtype):
                continue
            if exponential is not op("exp", op("sub", most.value, ir.load(most.buffer, most.index, most.dtype))):
                continue
            self.online = Online(most, totals[0], exponential, powers[0] if powers else None, place)
            self.places = [
                at - (at > place + 1 or (at == place + 1 and nest in following))
                for nest, at in zip(group.nests, self.places)
            ]
            return

    def write(self, text: str) -> None:
        self.lines.append("  " * self.depth + text)

    def open(self, text: str) -> None:
        self.write(text + " {")
        self.depth += 1

    def close(self) -> None:
        self.depth -= 1
        self.write("}")

    # -- the whole

    def body(self) -> list[str]:
        group = self.group
        rows = [symbol for symbol in group.outer if symbol is not self.lanes]
        if not group.inner:
            self.pointwise()
            return self.lines
        self.parallel(rows + ([self.lanes] if self.lanes else []), simd=False)
        for symbol in rows:
            self.loop(symbol)
        if self.lanes is not None:
            n = self.lanes.size
            self.open(f"for (int64_t tile = 0; tile < {n}; tile += {min(TILE, n)})")
            width = str(min(TILE, n)) if n % min(TILE, n) == 0 else f"({n} - tile < {TILE} ? {n} - tile : {TILE})"
            self.write(f"const int64_t lanes = {width};")
        self.rows()
        for _ in rows + ([self.lanes] if self.lanes is not None else []):
            self.close()
        return self.lines

    def loop(self, symbol: Symbol) -> None:
        self.open(f"for (int64_t {symbol.name} = 0; {symbol.name} < {symbol.size}; {symbol.name}++)")

    def parallel(self, loops: Sequence[Symbol], simd: bool) -> bool:
        """The pragma that shares out the outermost loop, if that is worth it."""
        most = self.threads(loops)
        if most > 1:
            self.write(f"#pragma omp parallel for {'simd ' if simd else ''}num_threads(team({most}))" + self.flags())
        return most > 1

    def threads(self, loops: Sequence[Symbol]) -> int:
        """How many threads the outermost of these loops is shared among."""
        work = math.prod(s.size for s in self.group.loops)
        return min(threads(), work // GRAIN, loops[0].size if loops else 0)

    def flags(self) -> str:
        return " reduction(|:bad)" if self.reads_indices() else ""

    def reads_indices(self) -> bool:
        return any(next(ir.indirect(index), None) is not None for index in all_indices(self.group))

    def statements(self, hoist: Statements | None = None, varying: Sequence[Symbol] = ()) -> Statements:
        return Statements(self.pointers, self.known, number=self.number, hoist=hoist, varying=frozenset(varying))

    # -- without reductions: one nest of loops

    def pointwise(self) -> None:
        group, self.known = self.group, {}
        outer, last = group.outer[:-1], group.outer[-1:]
        shared = self.parallel(group.outer, simd=not outer)
        for symbol in outer:
            self.loop(symbol)
        before = self.statements()
        inside = self.statements(before, last)
        stores = []
        for nest in group.nests:
            value = emit(inside, nest.value)
            self.known[nest.buffer, nest.index] = value
            if nest.buffer not in self.local:
                stores.append(f"{self.pointers[nest.buffer]}[{inside.index(nest.index)}] = {value};")
        for line in before.lines:
            self.write(line)
        if last:
            if not (shared and not outer):
                self.write("#pragma omp simd" + self.flags())
            self.loop(last[0])
        for line in inside.lines + stores:
            self.write(line)
        for _ in group.outer:
            self.close()

    # -- with reductions: inner loops over a row, one after another

    def rows(self) -> None:
        self.known: dict[tuple[str, Index], str] = {}
        self.row = self.statements()
        for number in range(max(self.places) + 1):
            self.once_for_each_row(number)
            nests = [n for n, place in zip(self.group.nests, self.places) if place == number and self.in_loop(n)]
            if nests:
                self.over_the_row(nests, number)
        self.flush()

    def flush(self) -> None:
        for line in self.row.lines:
            self.write(line)
        self.row.lines.clear()

    def once_for_each_row(self, number: int) -> None:
        nests = [n for n, place in zip(self.group.nests, self.places) if place == number and not self.in_loop(n)]
        if self.lanes is None:
            for nest in nests:
                value = emit(self.row, nest.value)
                self.known[nest.buffer, nest.index] = value
                self.row.names[id(nest.value)] = value
                self.store(nest, value, self.row.lines)
            return
        for nest in nests:
            self.flush()
            array = self.array(nest.buffer, nest.dtype)
            self.each_lane()
            inside = self.statements(self.row, [self.lanes])
            value = emit(inside, nest.value)
            self.flush_into(inside)
            self.write(f"{array}[lane] = {value};")
            self.store(nest, value)
            self.close()
            self.known[nest.buffer, nest.index] = f"{array}[lane]"

    def flush_into(self, inside: Statements) -> None:
        """Statements of the row that came up while those inside were made stand before the loop that is open already."""
        if self.row.lines:
            at = len(self.lines) - self.opened
            indent = "  " * (self.depth - self.opened)
            self.lines[at:at] = [indent + line for line in self.row.lines]
            self.row.lines.clear()
        for line in inside.lines:
            self.write(line)

    def each_lane(self) -> None:
        start = len(self.lines)
        self.write("#pragma omp simd" + self.flags())
        self.open("for (int64_t lane = 0; lane < lanes; lane++)")
        self.write(f"const int64_t {self.lanes.name} = tile + lane;")
        self.opened = len(self.lines) - start

    def array(self, buffer: str, dtype: dtype, first: str | None = None) -> str:
        name = f"row_{buffer}"
        self.write(f"{TYPES[dtype]} {name}[{TILE}];")
        if first is not None:
            self.write(f"for (int64_t lane = 0; lane < {TILE}; lane++) {name}[lane] = {first};")
        return name

    def store(self, nest: Computed, value: str, lines: list[str] | None = None) -> None:
        if nest.buffer in self.local:
            return
        text = f"{self.pointers[nest.buffer]}[{self.row.index(nest.index)}] = {value};"
        if lines is None:
            self.write(text)
        else:
            lines.append(text)

    def over_the_row(self, nests: list[Computed], number: int) -> None:
        """One inner loop: everything that works on the elements of the row at this point."""
        group, lanes = self.group, self.lanes
        reduced = [nest for nest in nests if nest.kind is not None]
        inner = group.inner
        exact = (
            any(n.kind == "sum" and n.dtype is float32 for n in reduced)
            and math.prod(s.size for s in inner) > LONGEST_SUM
        )
        varying = [*inner, lanes] if lanes is not None else inner
        inside = self.statements(self.row, varying)
        self.flush()
        online = self.online if self.online is not None and self.online.place == number else None
        apart = [] if online is None else [online.total, online.powers]
        totals, clauses, steps, ends = {nest: self.total(nest, exact) for nest in reduced}, {}, [], []
        parts = [
            totals[n]
            for n in reduced
            if n not in apart and exact and n.kind == "sum" and n.dtype is float32 and lanes is None
        ]
        stores = []
        for nest in nests:
            if nest in apart:
                continue
            value = emit(inside, nest.value)
            if nest.kind is None:
                kept = self.kept(nest)
                if nest.buffer in self.local and kept:
                    stores.append(f"{kept} = {value};")
                elif nest.buffer not in self.local:
                    stores.append(f"{self.pointers[nest.buffer]}[{inside.index(nest.index)}] = {value};")
                self.known[nest.buffer, nest.index] = value
            else:
                total = f"{totals[nest]}_part" if totals[nest] in parts else totals[nest]
                self.take_in(nest, value, total, steps, clauses, ends)
        self.flush()
        clause = (
            "".join(f" reduction({operator}:{', '.join(names)})" for operator, names in clauses.items()) + self.flags()
        )
        if any(nest.kind in ("argmax", "argmin") for nest in reduced):
            clause = None
        if online is not None:
            self.largest_and_sum(online, inside.lines + steps + stores, clause, totals, parts)
        else:
            self.inner_loops(inside.lines + steps + stores, clause, parts, self.reads_powers(nests))
        for line in ends:
            self.write(line)
        if online is not None and self.kept(online.powers):
            blocks = -(-inner[0].size // BLOCK)
            self.write(f"for (int64_t n = 0; n < {blocks}; n++) factors[n] = exp_(factors[n] - {totals[online.most]});")
        for nest in nests:
            if nest.kind is None:
                kept = self.kept(nest)
                self.known.pop((nest.buffer, nest.index), None)
                if kept:
                    self.known[nest.buffer, nest.index] = f"({kept} * factor)" if nest in apart else kept
                continue
            name = totals[nest]
            value = f"{name}[lane]" if lanes is not None else name
            self.known[nest.buffer, nest.index] = value
            if nest.buffer not in self.local:
                if lanes is not None:
                    self.each_lane()
                self.write(f"{self.pointers[nest.buffer]}[{self.row.index(nest.index)}] = {value};")
                if lanes is not None:
                    self.close()

    def largest_and_sum(
        self, online: Online, lines: list[str], clause: str, totals: dict[Computed, str], parts: list[str]
    ) -> None:
        """One loop over a row, block by block: the largest element so far, then the sum of the powers."""
        (symbol,) = self.group.inner
        most, total, kind = totals[online.most], totals[online.total], TYPES[online.most.dtype]
        kept = self.kept(online.powers)
        if kept:
            self.write(f"{kind} factors[{-(-symbol.size // BLOCK)}];")
            self.flush()
        self.open_blocks(BLOCK)
        self.write(f"const {kind} old = {most};")
        self.over_block(lines, clause, parts)
        self.write(f"const {kind} shift = {most} == -INFINITY ? 0 : {most};  // or the difference would be NaN")
        self.write(f"{kind} part = 0;")
        self.known[online.most.buffer, online.most.index] = "shift"
        for nest, place in zip(self.group.nests, self.places):
            before = self.kept(nest) if place == online.place and nest.kind is None and self.in_loop(nest) else None
            if before and nest is not online.powers:
                self.known[nest.buffer, nest.index] = before
        powers = Statements(self.pointers, self.known, number=self.number, hoist=self.row, varying=frozenset([symbol]))
        value = emit(powers, online.power)
        powers.lines += [f"part = part + {value};", *([f"{kept} = {value};"] if kept else [])]
        self.flush()
        self.over_block(powers.lines, " reduction(+:part)" + self.flags(), [])
        self.write(f"{total} = {total} * exp_(old - shift) + part;")
        if kept:
            self.write(f"factors[block / {BLOCK}] = shift;")
        self.close()

    def open_blocks(self, size: int) -> None:
        symbol = self.group.inner[-1]
        self.open(f"for (int64_t block = 0; block < {symbol.size}; block += {size})")
        self.write(f"const int64_t end = {symbol.size} - block < {size} ? {symbol.size} : block + {size};")

    def over_block(
        self, lines: list[str], clause: str | None, parts: list[str], start: str = "block", end: str = "end"
    ) -> None:
        """The innermost loop, and what of a sum comes together in it."""
        symbol = self.group.inner[-1]
        for name in parts:
            self.write(f"float {name}_part = 0;")
        if clause is not None:
            alone = not self.group.outer and len(self.group.inner) == 1 and start == "0"
            most = self.threads([symbol]) if alone else 1
            self.write(
                "#pragma omp " + (f"parallel for simd num_threads(team({most}))" if most > 1 else "simd") + clause
            )
        self.open(f"for (int64_t {symbol.name} = {start}; {symbol.name} < {end}; {symbol.name}++)")
        for line in lines:
            self.write(line)
        self.close()
        for name in parts:
            self.write(f"{name} += {name}_part;")

    def reads_powers(self, nests: Sequence[Computed]) -> bool:
        """Whether some of these nests read powers that are kept with a factor for each block."""
        kept = self.online.powers if self.online is not None else None
        return kept is not None and any(
            isinstance(e, Load) and e.buffer == kept.buffer for n in nests for e in walk(n.value)
        )

    def read_later(self, nest: Computed) -> bool:
        """Whether another inner loop, or the second half of the same one, reads what a nest made of the elements of the row."""
        place, online = self.places[self.group.nests.index(nest)], self.online
        later = [n for n, at in zip(self.group.nests, self.places) if at > place]
        if online is not None and place == online.place and nest is not online.powers:
            later += [n for n in (online.total, online.powers) if n is not None]
        return any(isinstance(e, Load) and e.buffer == nest.buffer for n in later for e in walk(n.value))

    def kept(self, nest: Computed | None) -> str | None:
        """Where an element of a row is kept for a later inner loop; None if there is none that reads it."""
        if nest is None or not self.read_later(nest):
            return None
        if nest.buffer not in self.local:
            return f"{self.pointers[nest.buffer]}[{self.row.index(nest.index)}]"
        sizes = [symbol.size for symbol in self.group.inner]
        place = self.row.index(element_index([Index.of(s) for s in self.group.inner], contiguous_strides(sizes), 0))
        if self.lanes is not None:
            place = f"({place}) * {TILE} + lane"
        name = f"row_{nest.buffer}"
        declaration = (
            f"alignas(64) {TYPES[nest.dtype]} {name}[{math.prod(sizes) * (TILE if self.lanes is not None else 1)}];"
        )
        if not any(line.strip() == declaration for line in self.lines):
            self.row.lines.append(declaration)
        return f"{name}[{place}]"

    def total(self, nest: Computed, exact: bool) -> str:
        """The variable in which a reduction's result comes together."""
        if nest.kind in ("argmax", "argmin"):
            name = self.row.new_name()
            value_type = nest.value.dtype
            self.write(
                f"{TYPES[value_type]} {name}_best = {first_value(nest.kind[3:], value_type)}; int64_t {name} = -1;"
            )
            return name
        wide = float64 if exact and nest.kind == "sum" and nest.dtype is float32 else nest.dtype
        if self.lanes is not None:
            name = self.array(nest.buffer, wide, first_value(nest.kind, wide))
            if nest.kind in ("max", "min") and nest.dtype.is_floating_point:
                self.write(f"int32_t {name}_nan[{TILE}] = {{}};")
            return name
        name = self.row.new_name()
        self.write(f"{TYPES[wide]} {name} = {first_value(nest.kind, wide)};")
        if nest.kind in ("max", "min") and nest.dtype.is_floating_point:
            self.write(f"int32_t {name}_nan = 0;")
        return name

    def take_in(self, nest: Computed, value: str, total: str, steps: list, clauses: dict, ends: list) -> None:
        """The statements by which a reduction takes in one value, and those after the loop."""
        if nest.kind in ("argmax", "argmin"):
            sizes = [symbol.size for symbol in self.group.inner]
            place = self.row.index(element_index([Index.of(s) for s in self.group.inner], contiguous_strides(sizes), 0))
            sign = ">" if nest.kind == "argmax" else "<"
            beats = (
                f"{total} < 0 || {value} {sign} {total}_best || ({value} != {value} && {total}_best == {total}_best)"
            )
            steps.append(f"if ({beats}) {{ {total}_best = {value}; {total} = {place}; }}")
            return
        minds_nan = nest.kind in ("max", "min") and nest.dtype.is_floating_point
        if self.lanes is not None:
            steps.append(joined(nest.kind, f"{total}[lane]", value))
            if minds_nan:
                steps.append(f"{total}_nan[lane] |= {value} != {value};")
                ends.append(f"for (int64_t lane = 0; lane < lanes; lane++) if ({total}_nan[lane]) {total}[lane] = NAN;")
            return
        steps.append(joined(nest.kind, total, value))
        clauses.setdefault(SIMD[nest.kind], []).append(total)
        if minds_nan:
            steps.append(f"{total}_nan |= {value} != {value};")
            clauses.setdefault("|", []).append(f"{total}_nan")
            ends.append(f"if ({total}_nan) {total} = NAN;")

    def inner_loops(self, lines: list[str], clause: str | None, parts: list[str], factors: bool) -> None:
        """The loops over one row around these statements: in blocks, if a long sum is to be exact or kept powers have factors."""
        inner, depth = self.group.inner, self.depth
        for symbol in inner[:-1]:
            self.loop(symbol)
        size = BLOCK if factors else LONGEST_SUM
        if self.lanes is not None:
            self.loop(inner[-1])
            self.each_lane()
            for line in lines:
                self.write(line)
        elif factors or (parts and inner[-1].size > size):
            if clause is not None and not factors and self.threads(inner) > 1 and not self.group.outer:
                self.write(
                    f"#pragma omp parallel for num_threads(team({self.threads(inner)}))" + clause.replace("_part", "")
                )
            self.open_blocks(size)
            if factors:
                self.write(f"const {TYPES[self.online.most.dtype]} factor = factors[block / {BLOCK}];")
            self.over_block(lines, clause, parts)
        else:
            if parts:
                self.open("")
            self.over_block(lines, clause, parts, "0", str(inner[-1].size))
        while self.depth > depth:
            self.close()


# ------------------------------------------------------------------------------------------------------------
# Kernels


def kernel(group: Group, places: Sequence[int], unused: set[str], layouts: dict[str, Layout], number: int) -> Kernel:
    """The C++ function of a fused group. `unused` are the buffers that nobody else reads: they need no memory, but for a row
    at most."""
    writer = Writer(group, places, unused, layouts)
    body = writer.body()
    origins = list(dict.fromkeys(name for nest in group.nests for name in nest.origins))
    words = [re.sub(r"_\d+$", "", name) for name in origins]
    name = "_".join(["cpp_fused", *sorted(dict.fromkeys(words))[:6], str(number)])
    arguments = writer.inputs + writer.outputs
    parameters = [
        f"{'const ' if each in writer.inputs else ''}{TYPES[layouts[each].dtype]}* {writer.pointers[each]}"
        for each in arguments
    ]
    text = "\n".join(
        [f"static int64_t {name}({', '.join(parameters)}) {{", "  int64_t bad = 0;", *body, "  return bad;", "}"]
    )
    work = math.prod(symbol.size for symbol in group.loops)
    reads, written = set(), set()
    for nest in group.nests:
        reads |= {each.buffer for each in walk(nest.value) if isinstance(each, Load)} - written
        written.add(nest.buffer)
    return Kernel(
        name, text + "\n", arguments, reads, written - writer.local, takeovers(writer, layouts), origins, work
    )


def takeovers(writer: Writer, layouts: dict[str, Layout]) -> dict[str, list[str]]:
    """For each output the inputs whose memory it may take over: every element is read for the last time by the iteration, and
    before the moment, in which the same place of the output is written."""
    group, found = writer.group, {}
    for nest, place in zip(group.nests, writer.places):
        if nest.buffer in writer.local:
            continue
        able = []
        for name in writer.inputs:
            readers = [
                (at, e.index)
                for n, at in zip(group.nests, writer.places)
                for e in walk(n.value)
                if isinstance(e, Load) and e.buffer == name
            ]
            same = all(index == nest.index and (at <= place) for at, index in readers)
            if same and layouts[name] == layouts[nest.buffer] and (writer.in_loop(nest) or not group.inner):
                able.append(name)
        found[nest.buffer] = able
    return found
