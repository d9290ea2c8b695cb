"""Triton for the loops of a fused node: the text of one kernel.

A kernel is the program of one *instance*, which computes a block of positions on each axis (`simd`). A row of up to 1024 elements
is one block: the reduction is *persistent*. A kernel for longer rows has a loop over blocks for each inner loop of the node
(`scheduler_node.inner_loops`). The functions that kernels call are in `triton_helpers`, and `triton_heuristics` launches kernels.

In PyTorch: `torch/_inductor/codegen/triton.py` (`TritonKernel`, `TritonOverrides`). Left out: hints for caches, a reduction that
several instances share, means and variances in one loop, `in_out_ptr`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from rushlight.c10.dtypes import bool_, dtype, float32, float64, int32, int64, uint8
from rushlight.inductor.common import FusedKernel, reads_and_writes
from rushlight.inductor.index import Index, Indirect, Remainder, Symbol, Term, raised_base
from rushlight.inductor.ir import ComputedBuffer, Constant, Expr, IndexExpr, Layout, Load, Op, constant
from rushlight.inductor.scheduler_node import FusedSchedulerNode, numel
from rushlight.inductor.simd import Axis, access_masks, axis_terms, axis_variable, make_axes, next_power_of_two
from rushlight.inductor.tiling import select_tiling

TYPES = {bool_: "int1", uint8: "uint8", int32: "int32", int64: "int64", float32: "float32", float64: "float64"}
LONGEST_BLOCK = {"INNER": 1024, "OUTER": 64}  # elements of a row that is one block, by the direction of memory

# Operations ----------------------------------------------------------------------------------------------------------

OPERATIONS = {
    "add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "div": "({} / {})", "neg": "-{}", "lt": "{} < {}", "le": "{} <= {}",
    "gt": "{} > {}", "ge": "{} >= {}", "eq": "{} == {}", "ne": "{} != {}", "bitand": "{} & {}", "bitor": "{} | {}",
    "bitxor": "{} ^ {}", "bitnot": "~{}", "and": "{} & {}", "or": "{} | {}", "not": "{} == 0", "where": "tl.where({}, {}, {})",
    "maximum": "triton_helpers.maximum({}, {})", "minimum": "triton_helpers.minimum({}, {})", "sigmoid": "tl.sigmoid({})",
    "mod": "triton_helpers.remainder({}, {})", "floordiv": "libdevice.floor({} / {})", "truncdiv": "libdevice.trunc({} / {})",
    "reciprocal": "(1 / {})", "abs": "tl_math.abs({})", "log": "tl_math.log({})", "sin": "tl_math.sin({})",
    "cos": "tl_math.cos({})", "round": "libdevice.nearbyint({})", "pow": "libdevice.pow({}, {})",
    "isnan": "libdevice.isnan({}).to(tl.int1)", "isinf": "libdevice.isinf({}).to(tl.int1)",
    "relu": "triton_helpers.maximum({1}, {0})", "sign": "((0 < {0}).to(tl.int8) - ({0} < 0).to(tl.int8)).to({type})",
} | {
    name: f"libdevice.{name}({{}})"
    for name in ("exp", "expm1", "log1p", "log2", "sqrt", "rsqrt", "tan", "tanh", "erf", "floor", "ceil", "trunc")
}  # fmt: skip

# Of each kind of reduction: the initial value, how a block is added to the totals, and how each row of totals becomes one number
REDUCTIONS = {
    "sum": (0, "{} + {}", "tl.sum"), "prod": (1, "{} * {}", "triton_helpers.prod"),
    "any": (False, "{} | {}", "triton_helpers.any"), "all": (True, "{} & {}", "triton_helpers.all"),
    "max": (-math.inf, "triton_helpers.maximum({}, {})", "triton_helpers.max2"),
    "min": (math.inf, "triton_helpers.minimum({}, {})", "triton_helpers.min2"),
}  # fmt: skip


def literal(value: bool | int | float) -> str:
    """A number in Triton."""
    return repr(value) if math.isfinite(value) else f'float("{value}")'


def reduction_init(kind: str, dtype: dtype) -> str:
    """The initial value of a reduction, which changes no result."""
    if kind in ("max", "min") and not dtype.is_floating_point:
        ends = (False, True) if dtype is bool_ else (np.iinfo(dtype.numpy).min, np.iinfo(dtype.numpy).max)
        return literal(ends[kind == "min"])
    return literal(REDUCTIONS[kind][0])


def operation(name: str, args: Sequence[str], dtype: dtype) -> str:
    """The expression of one operation. "relu" has a second argument: zero."""
    if name == "cast":
        return f"({args[0]} != 0)" if dtype is bool_ else f"{args[0]}.to(tl.{TYPES[dtype]})"
    return OPERATIONS[name].format(*args, type=f"tl.{TYPES[dtype]}")


def load_text(pointer: str, index: str, masks: Sequence[str], has_other: bool, dtype: dtype) -> str:
    """The expression that loads a block.

    A block of bools has the type `tl.int1`. In memory each bool is a byte, so a load of bools is converted by `.to(tl.int1)`.

    >>> load_text("in_ptr0", "r0_1 + 600*x0", ["r0_mask", "xmask"], True, float32)
    'tl.load(in_ptr0 + (r0_1 + 600*x0), r0_mask & xmask, other=0.0)'
    >>> load_text("in_ptr1", "x0", [], False, bool_)
    'tl.load(in_ptr1 + (x0), None).to(tl.int1)'

    Args:
        pointer: the name of the pointer to the first element of memory.
        index: the text of the index, a sum such as "r0_1 + 600*x0".
        masks: names of masks. A position is loaded if all of them are true.
        has_other: whether the block has 0 at the other positions. Otherwise they may have any number.
        dtype: the type of the elements.

    Source: `torch/_inductor/codegen/triton.py`, `TritonKernel.load`.
    """
    text = f"tl.load({pointer} + ({index}), {' & '.join(masks) or None}{', other=0.0' * has_other})"
    return text + ".to(tl.int1)" * (dtype is bool_)  # memory has a byte for each bool


def store_text(pointer: str, index: str, value: str, masks: Sequence[str]) -> str:
    """The statement that stores a block. Source: `torch/_inductor/codegen/triton.py`, `TritonKernel.store`."""
    return f"tl.store({pointer} + ({index}), {value}, {' & '.join(masks) or None})"


def reduce_values(kernel: TritonKernel, kind: str, block: str, dtype: dtype) -> tuple[str, list[str]]:
    """Reduce each row of a block. Return the name of the result, and the lines that make it.

    The block may have any number at the positions beyond the ends of the axes. They change no result.

    Without a loop (a *persistent* reduction), the row is one block. These positions get the initial value of the reduction, and
    the block is reduced by the last line, which is returned:

        tmp2 = tl.where(r0_mask & xmask, tmp1, 0)
        tmp3 = tl.sum(tmp2, 1)[:, None].to(tl.float32)

    With a loop over blocks (`kernel.looped`), a block of totals, as large as the loop's, gets the initial value before the loop.
    In the loop each block is added to the totals, but these positions keep their totals. The lines that reduce the totals are
    returned, because they follow after the loop.

    Args:
        kernel: `kernel.inside` is the part of the kernel in the loop, and `kernel.body` the part around it. Without a loop they
            are the same. `part.compute` is the list of a part's lines, without indentation. `kernel.assign(part, text)` adds
            the line `tmpN = text` to a part and returns "tmpN". `kernel.new_name()` returns such a name without a line.
            `kernel.in_row(a, b)` is the text of a block with `a` at the positions that exist and `b` at the others.
            `kernel.shape(kernel.axes)` is the text of the dimensions of a block, such as "[XBLOCK, R0_BLOCK]".
        kind: a key of `REDUCTIONS`. `reduction_init(kind, dtype)` is its initial value, a text.
        block: the name of the block.
        dtype: its type. In Triton it is `tl.` and the name in `TYPES`, for example `tl.float32`.

    Source: `torch/_inductor/codegen/triton.py`, `TritonKernel.reduction`.
    """
    first, (_, combine, end) = reduction_init(kind, dtype), REDUCTIONS[kind]
    if not kernel.looped:
        block = kernel.assign(kernel.inside, kernel.in_row(block, first))
        name = kernel.new_name()
        return name, [f"{name} = {end}({block}, 1)[:, None].to(tl.{TYPES[dtype]})"]
    name = kernel.new_name()
    kernel.body.compute.append(f"_{name} = tl.full({kernel.shape(kernel.axes)}, {first}, tl.{TYPES[dtype]})")
    total = kernel.assign(kernel.inside, combine.format(f"_{name}", block))
    kernel.inside.compute.append(f"_{name} = {kernel.in_row(total, f'_{name}')}")
    return name, [f"{name} = {end}(_{name}, 1)[:, None]"]


def reduce_indices(kernel: TritonKernel, kind: str, block: str, dtype: dtype) -> tuple[str, list[str]]:
    """Find in each row of a block the position of the first of the largest ("max") or smallest ("min") elements. Return the name
    of the result, and the lines that make it, as `reduce_values` does for the elements.

    A block of positions goes with the block of elements. `r0_index`, a block with one row, has the positions on the axis r0, and
    `tl.broadcast_to(r0_index, shape)` repeats it for each row. Two functions of the kernel work on such pairs of blocks:

        tmp4_val, tmp4_idx = triton_helpers.max_with_index(values, positions, 1)
        values_next, positions_next = triton_helpers.maximum_with_index(values, positions, other_values, other_positions)

    (`min_with_index`, `minimum_with_index`). The first one reduces rows and is followed by `[:, None]`, the second one takes the
    better pair at each position of the block. Of two equal elements both take the one with the smaller position. In a loop, the
    totals are a block of values and a block of positions, which begins with the largest int32.

    Source: `torch/_inductor/codegen/triton.py`, `TritonKernel.reduction`.
    """
    first, shape = reduction_init(kind, dtype), kernel.shape(kernel.axes)
    if not kernel.looped:
        block = kernel.assign(kernel.inside, kernel.in_row(block, first))
    index, name = kernel.assign(kernel.inside, f"tl.broadcast_to(r0_index, {shape})"), kernel.new_name()
    if kernel.looped:
        best, at = f"_{name}", f"_{name}_index"
        kernel.body.compute.append(f"{best} = tl.full({shape}, {first}, tl.{TYPES[dtype]})")
        kernel.body.compute.append(f"{at} = tl.full({shape}, {np.iinfo(np.int32).max}, tl.int32)")
        call = f"triton_helpers.{kind}imum_with_index({best}, {at}, {block}, {index})"
        kernel.inside.compute.append(f"{best}_next, {at}_next = {call}")
        for total in (best, at):
            kernel.inside.compute.append(f"{total} = {kernel.in_row(f'{total}_next', total)}")
        block, index = best, at
    call = f"triton_helpers.{kind}_with_index({block}, {index}, 1)"
    return name, [f"{name}_val, {name}_idx = {call}", f"{name} = {name}_idx[:, None]"]


# A kernel ------------------------------------------------------------------------------------------------------------


@dataclass
class Part:
    """The statements of a part of a kernel: variables of axes, loads, computations, stores. `names` has the name of each value that
    is computed there, by `id` and by the conditions around it, and `known` that of each expression."""

    variables: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    compute: list[str] = field(default_factory=list)
    stores: list[str] = field(default_factory=list)
    names: dict[tuple[int, tuple[str, ...]], str] = field(default_factory=dict)
    known: dict[str, str] = field(default_factory=dict)

    @property
    def lines(self) -> list[str]:
        return [*self.variables, *self.loads, *self.compute, *self.stores]


class TritonKernel(FusedKernel):
    """The text of one kernel.

    `body` has the statements of the kernel, and `inside` those of the loop over blocks of r0 that is being written. In a kernel
    without such loops they are the same. An element that a later loop needs again is computed again there (`elements`)."""

    def __init__(self, node: FusedSchedulerNode, unused: set[str], layouts: dict[str, Layout]) -> None:
        super().__init__(node, unused, layouts)
        self.hint = "INNER" if select_tiling(node) is None else "OUTER"
        self.looped = numel(node.inner) > LONGEST_BLOCK[self.hint]
        self.axes = make_axes(node)
        self.body = self.inside = Part()
        self.totals: dict[tuple[str, Index], str] = {}  # the names of results of reductions
        self.elements: dict[tuple[str, Index], Expr] = {}  # the values of pointwise work
        self.conditions: dict[
            str, frozenset[Symbol]
        ] = {}  # of `masked` operations around a value, with their variables
        self.loops: list[str] = []  # the lines of the loops that are written
        self.counter = 0
        if self.looped:  # what overwrites an input waits for the last loop, because every loop may read the input
            overwritten = reads_and_writes(self)[0] & node.writes
            last = max(at for nest, at in zip(node.nests, self.numbers) if not self.works_by_row(nest))
            late = [nest.buffer in overwritten and not self.works_by_row(nest) for nest in node.nests]
            self.numbers = [last if is_late else at for is_late, at in zip(late, self.numbers)]

    # -- the loop nests

    def codegen(self) -> list[str]:
        """The lines of the function's body."""
        for number in range(max(self.numbers) + 1):
            nests = [nest for nest, at in zip(self.node.nests, self.numbers) if at == number]
            for nest in nests:
                if self.works_by_row(nest):
                    self.pointwise(nest, self.body)
            self.inner_loop([nest for nest in nests if not self.works_by_row(nest)])
        variables, self.body.variables = self.body.variables, []
        return [*self.head(), *variables, *self.loops, *self.body.lines]

    def head(self) -> list[str]:
        """The lines of the axes: their sizes, and the positions and the mask of this instance's block."""
        lines = [f"{axis.prefix}numel = {axis.numel}" for axis in self.axes]
        if self.node.inner and not self.looped:
            lines.append(f"R0_BLOCK: tl.constexpr = {next_power_of_two(self.axes[-1].numel)}")
        for axis in self.grid_axes:
            p, block = axis.prefix, axis.block
            lines.append(f"{p}offset = tl.program_id({'xy'.index(p)}) * {block}")
            lines.append(f"{p}index = {p}offset + tl.arange(0, {block}){axis.dims}")
            lines.append(axis.mask_line())
        if self.looped:
            return [*lines, "r0_base = tl.arange(0, R0_BLOCK)[None, :]"]
        if self.node.inner:
            lines += ["r0_index = tl.arange(0, R0_BLOCK)[None, :]", self.axes[-1].mask_line()]
        return lines

    def inner_loop(self, nests: list[ComputedBuffer]) -> None:
        """The nests that work on every element at this point: in a loop over blocks, if the row is longer than a block."""
        if self.looped:
            self.inside = Part()
        after: list[str] = []  # the loop
        for nest in nests:
            if nest.kind is None:
                self.pointwise(nest, self.inside)
            else:
                (after if self.looped else self.body.compute).extend(self.reduction(nest))
        if self.looped and nests:
            head = ["r0_index = r0_offset + r0_base", self.axes[-1].mask_line()]
            self.loops += [*self.body.loads, *self.body.compute, "for r0_offset in tl.range(0, r0_numel, R0_BLOCK):"]
            self.loops += [f"    {line}" for line in [*head, *self.inside.lines]]
            self.body.loads, self.body.compute = [], []
        self.body.compute += after

    def pointwise(self, nest: ComputedBuffer, part: Part) -> None:
        self.store(nest, self.value(nest.value), part)
        self.elements[nest.buffer, nest.index] = nest.value

    def reduction(self, nest: ComputedBuffer) -> list[str]:
        """Reduce the elements of a nest. Return the lines that end it, after the loop if there is one."""
        block = self.assign(self.inside, f"tl.broadcast_to({self.value(nest.value)}, {self.shape(self.axes)})")
        reduce, kind = (reduce_indices, nest.kind[3:]) if nest.kind.startswith("arg") else (reduce_values, nest.kind)
        name, lines = reduce(self, kind, block, nest.value.dtype)
        self.totals[nest.buffer, nest.index] = name
        self.store(nest, name, self.body)
        return lines

    def store(self, nest: ComputedBuffer, value: str, part: Part) -> None:
        if nest.buffer not in self.local:
            index, masks = nest.index, self.masks(nest.index.symbols)
            text = self.index(index) if index.terms else self.constant_index(index.offset, self.grid_axes)
            part.stores.append(store_text(self.pointers[nest.buffer], text, value, masks))

    # -- values

    def new_name(self) -> str:
        self.counter += 1
        return f"tmp{self.counter - 1}"

    def assign(self, part: Part, text: str) -> str:
        """The name of an expression. Its statement is added to a part, if it is not there."""
        if text not in part.known:
            name = self.new_name()
            part.known |= {text: name, name: name}
            part.compute.append(f"{name} = {text}")
        return part.known[text]

    def part_of(self, symbols: Iterable[Symbol]) -> Part:
        """The part of the kernel for a value that depends on these variables, and on the conditions around it."""
        symbols = frozenset(symbols).union(*self.conditions.values())
        return self.inside if symbols.intersection(self.node.inner) else self.body

    def value(self, expr: Expr) -> str:
        """The name of a value. The statements that compute it are added to their block."""
        element = (expr.buffer, expr.index) if isinstance(expr, Load) else None
        if element in self.totals:
            return self.totals[element]
        if element in self.elements:
            return self.value(self.elements[element])
        part, around = self.part_of(expr.symbols), tuple(self.conditions)
        for conditions in ((), around):
            if (id(expr), conditions) in part.names:
                return part.names[id(expr), conditions]
        name = self.load(expr, part) if isinstance(expr, Load) else self.assign(part, self.text(expr))
        part.names[id(expr), around] = name
        return name

    def load(self, expr: Load, part: Part) -> str:
        index, pointer, masks = expr.index, self.pointers[expr.buffer], self.masks(expr.index.symbols)
        has_other = bool(masks) and bool(self.conditions or index.symbols.intersection(self.node.inner))
        text, name = load_text(pointer, self.load_index(index), masks, has_other, expr.dtype), self.new_name()
        if index.terms or masks:
            (part.compute if "tmp" in text else part.loads).append(f"{name} = {text}")
            return name
        part.loads.append(f"{name} = {text.replace(', None', '')}")  # one number for all positions
        part.loads.append(f"{(block := self.new_name())} = tl.broadcast_to({name}, {self.shape(self.grid_axes)})")
        return block

    def load_index(self, index: Index) -> str:
        """The index of a load. Under conditions it has the dimensions of their mask."""
        around = frozenset().union(*self.conditions.values())
        axes = [axis for axis in self.axes if (index.symbols | around).intersection(axis.loops)]
        if not index.terms and self.conditions:
            return self.constant_index(index.offset, axes)
        if all(index.symbols.intersection(axis.loops) for axis in axes):
            return self.index(index)
        return f"tl.broadcast_to({self.index(index)}, {self.shape(axes)})"

    def text(self, expr: Expr) -> str:
        """One value as an expression of the names of other values, which are computed first."""
        if isinstance(expr, Constant):
            return f"tl.full({self.shape([])}, {literal(expr.value)}, tl.{TYPES[expr.dtype]})"
        if isinstance(expr, IndexExpr):
            index = self.index(expr.index)
            whole = f"tl.full({self.shape([])}, {index}, tl.int32)" if not expr.index.terms else f"({index})"
            return f"{whole}.to(tl.{TYPES[expr.dtype]})"
        if isinstance(expr, Op) and expr.name == "masked":
            condition, around = self.value(expr.args[0]), self.conditions
            values = []
            for name, value in ((condition, expr.args[1]), (f"~{condition}", expr.args[2])):
                self.conditions = around | {name: expr.args[0].symbols}
                values.append(self.value(value))
            self.conditions = around
            return f"tl.where({condition}, {', '.join(values)})"
        args = [*expr.args, *[constant(0, int32)] * (expr.name == "relu")]
        return operation(expr.name, [self.value(argument) for argument in args], expr.dtype)

    # -- indices and masks

    @property
    def grid_axes(self) -> list[Axis]:
        """The axes that instances share: all but r0."""
        return [axis for axis in self.axes if axis.prefix != "r0_"]

    def in_row(self, block: str, beyond: str) -> str:
        """The expression that has another value beyond the ends of the rows."""
        masks = self.masks(self.node.outer + self.node.inner)
        return f"tl.where({' & '.join(masks)}, {block}, {beyond})" if masks else block

    def shape(self, axes: Sequence[Axis]) -> str:
        """The dimensions of a block along these axes; `[1, 1]` for a number."""
        return f"[{', '.join(axis.block if axis in axes else '1' for axis in self.axes)}]"

    def constant_index(self, offset: int, axes: Sequence[Axis]) -> str:
        """The same index for each position of a block."""
        return f"tl.full({self.shape([])}, {offset}, tl.int32).broadcast_to({self.shape(axes)[1:-1]})"

    def index(self, index: Index) -> str:
        """An index expression in the variables of the axes."""
        steps, parts = dict(index.terms), []
        for axis in reversed(self.axes):
            sizes = [symbol.size for symbol in axis.loops]
            for divisor, length, step in axis_terms(sizes, [steps.get(symbol, 0) for symbol in axis.loops]):
                parts.append((step, self.variable(axis, divisor, length)))
        parts += [(step, self.term(term)) for term, step in index.terms if not isinstance(term, Symbol)]
        texts = [text if step == 1 else f"{step}*{text}" for step, text in sorted(parts, key=lambda part: abs(part[0]))]
        return " + ".join([str(index.offset)] * bool(index.offset or not texts) + texts)

    def variable(self, axis: Axis, divisor: int, length: int) -> str:
        """The name of a variable of an axis. Its line is added to the kernel, or to the loop."""
        number = sum(len(axis.variables) for axis in self.axes)
        name = axis.variables.setdefault((divisor, length), f"{axis.prefix}{number}")
        lines = (self.inside if axis.prefix == "r0_" else self.body).variables
        line = f"{name} = {axis_variable(f'{axis.prefix}index', divisor, length, axis.numel)}"
        if line not in lines:
            lines.append(line)
        return name

    def term(self, term: Term) -> str:
        if isinstance(term, Indirect):
            return self.check_index(term)
        raised, lift = raised_base(term)
        if isinstance(term, Remainder):
            return f"(({self.index(raised)}) % {term.divisor})"
        quotient = f"(({self.index(raised)}) // {term.divisor})"
        return f"({quotient} - {lift})" if lift else quotient

    def check_index(self, term: Indirect) -> str:
        """The name of an index that was read from memory, and that is checked where the mask allows the access."""
        name, masks = self.value(term.value), self.masks(term.value.symbols)
        inside = f"(0 <= {name}) & ({name} < {term.size})"
        text = f"({inside}) | ~({' & '.join(masks)})" if masks else inside
        line = f'tl.device_assert({text}, "index out of bounds: 0 <= {name} < {term.size}")'
        lines = self.part_of(term.value.symbols).compute
        if line not in lines:
            lines.append(line)
        return name

    def masks(self, symbols: Iterable[Symbol]) -> list[str]:
        """The masks of an access at an index that depends on these variables."""
        return access_masks(self.axes, symbols, self.conditions)
