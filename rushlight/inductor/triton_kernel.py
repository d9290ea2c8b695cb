"""Triton for the loops of a fused node: the text of one kernel.

A kernel is the program of one *instance*, which computes a block. The axis x has the rows of the node: the variables of its outer
loops are quotients and remainders of `xindex`, the position on the axis. The axis r0 has the elements of a row. A row of up to 1024
elements is one block (a *persistent* reduction). A kernel for longer rows has a loop over blocks for each inner loop of the node
(`scheduler_node.inner_loops`). Pointwise work that goes through memory in two directions has two axes, y and x. A mask excludes the
positions of a block beyond the end of an axis.

The functions that kernels call are in `triton_helpers`, and `triton_heuristics` launches kernels. In PyTorch:
`torch/_inductor/codegen/triton.py` (`TritonKernel`, `TritonOverrides`) and `simd.py` (`IterationRangesRoot`). Left out: hints for
caches, a reduction that several instances share, means and variances in one loop, `in_out_ptr`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from rushlight.c10.dtypes import bool_, dtype, float32, float64, int32, int64, uint8
from rushlight.inductor.common import FusedKernel, reads_and_writes
from rushlight.inductor.index import Index, Indirect, Remainder, Symbol, Term, raised_base, stride_of
from rushlight.inductor.ir import ComputedBuffer, Constant, Expr, IndexExpr, Layout, Load, Op, loads
from rushlight.inductor.scheduler_node import FusedSchedulerNode, numel
from rushlight.inductor.tiling import select_tiling

TYPES = {bool_: "int1", uint8: "uint8", int32: "int32", int64: "int64", float32: "float32", float64: "float64"}
LONGEST_BLOCK = {"INNER": 1024, "OUTER": 64}  # elements of a row that is one block, by the direction of memory
MULTIPLE = {
    "x": 4096,
    "y": 1024,
}  # every size of a block divides it, as torch/_inductor/runtime/hints.py: TRITON_MAX_BLOCK

# Axes ----------------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Axis:
    """An axis of a kernel, "x", "y" or "r0_": the positions in its loops, the outermost first. `dims` is the subscript that gives
    a vector of positions the dimensions of a block. `variables` has a name for each pair (divisor, length) of `axis_terms`."""

    prefix: str
    loops: list[Symbol]
    dims: str
    variables: dict[tuple[int, int], str] = field(default_factory=dict)

    @property
    def numel(self) -> int:
        return numel(self.loops)

    @property
    def block(self) -> str:
        return f"{self.prefix.upper()}BLOCK"

    @property
    def mask(self) -> str | None:
        """The name of the mask of the positions that exist; None if every block has only such positions."""
        is_exact = self.numel.bit_count() == 1 if self.prefix == "r0_" else self.numel % MULTIPLE[self.prefix] == 0
        return None if is_exact or self.numel == 1 else f"{self.prefix}mask"

    def mask_line(self) -> str:
        always = f"tl.full([{self.block}], True, tl.int1){self.dims}"
        return f"{self.prefix}mask = " + (f"{self.prefix}index < {self.prefix}numel" if self.mask else always)


def axis_terms(sizes: Sequence[int], coefficients: Sequence[int]) -> list[tuple[int, int, int]]:
    """The terms of an index on one axis: a tuple (divisor, length, coefficient) for each variable `position // divisor % length`,
    innermost first.

    `sizes` and `coefficients` are those of the axis's loops, the outermost first. A loop on which the index does not depend has
    coefficient 0. Neighbouring loops are one variable if the outer one's coefficient is the inner one's times its length.

    >>> axis_terms((32, 600), (600, 1)), axis_terms((32, 600), (0, 1))
    ([(1, 19200, 1)], [(1, 600, 1)])

    Source: `torch/_inductor/codegen/simd.py`, `IterationRangesRoot.lookup`.
    """
    terms: list[tuple[int, int, int]] = []
    below = 1
    for size, coefficient in zip(reversed(sizes), reversed(coefficients)):
        divisor, length, step = terms[-1] if terms else (0, 0, 0)
        if coefficient and divisor * length == below and coefficient == step * length:
            terms[-1] = divisor, length * size, step
        elif coefficient:
            terms.append((below, size, coefficient))
        below *= size
    return terms


def axis_variable(position: str, divisor: int, length: int, numel: int) -> str:
    """The text of `position // divisor % length`, as simple as possible. The positions are 0 to `numel` - 1.

    >>> axis_variable("xindex", 1, 600, 19200), axis_variable("xindex", 600, 32, 19200)
    ('(xindex % 600)', 'xindex // 600')

    Source: `torch/_inductor/codegen/simd.py`, `IterationRangesRoot.construct_entries`.
    """
    quotient = position if divisor == 1 else f"{position} // {divisor}"
    if divisor * length == numel:
        return quotient
    return f"({quotient} % {length})" if divisor == 1 else f"(({quotient}) % {length})"


def rows_of_tile(node: FusedSchedulerNode) -> int:
    """The number of outer loops that are on an axis y of their own: those up to the loop along which an access goes through memory
    element by element, if that is not the last loop. Then each access is contiguous along one of the axes y and x."""
    accesses = [index for nest in node.nests for index in (nest.index, *(load.index for load in loads(nest.value)))]
    contiguous = [any(stride_of(index, symbol) == 1 for index in accesses) for symbol in node.outer[:-1]]
    return max((number for number, found in enumerate(contiguous, 1) if found), default=0)


def make_axes(node: FusedSchedulerNode) -> list[Axis]:
    """The axes of a node, with a variable for each of its loops."""
    if node.inner:
        axes = [Axis("x", node.outer, "[:, None]"), Axis("r0_", node.inner, "[None, :]")]
    elif rows := rows_of_tile(node):
        axes = [Axis("y", node.outer[:rows], "[:, None]"), Axis("x", node.outer[rows:], "[None, :]")]
    else:
        axes = [Axis("x", node.outer, "[:]")]
    number = 0
    for axis in axes:
        below = 1
        for symbol in reversed(axis.loops):
            axis.variables[below, symbol.size] = f"{axis.prefix}{number}"
            number, below = number + 1, below * symbol.size
    return axes


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
    "relu": "triton_helpers.maximum({zero}, {})", "sign": "((0 < {0}).to(tl.int8) - ({0} < 0).to(tl.int8)).to({type})",
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


def operation(name: str, args: Sequence[str], dtype: dtype, ones: str) -> str:
    """The expression of one operation. `ones` are the dimensions of a number in a block: `[1, 1]`."""
    if name == "cast":
        return f"({args[0]} != 0)" if dtype is bool_ else f"{args[0]}.to(tl.{TYPES[dtype]})"
    return OPERATIONS[name].format(*args, type=f"tl.{TYPES[dtype]}", zero=f"tl.full({ones}, 0, tl.int32)")


def load_text(pointer: str, index: str, masks: Sequence[str], other: bool, dtype: dtype) -> str:
    """The expression that loads a block.

    >>> load_text("in_ptr0", "r0_1 + 600*x0", ["r0_mask", "xmask"], True, float32)
    'tl.load(in_ptr0 + (r0_1 + 600*x0), r0_mask & xmask, other=0.0)'

    Source: `torch/_inductor/codegen/triton.py`, `TritonKernel.load`.
    """
    text = f"tl.load({pointer} + ({index}), {' & '.join(masks) or None}{', other=0.0' * other})"
    return text + ".to(tl.int1)" * (dtype is bool_)  # memory has a byte for each bool


def store_text(pointer: str, index: str, value: str, masks: Sequence[str]) -> str:
    """The statement that stores a block. Source: `torch/_inductor/codegen/triton.py`, `TritonKernel.store`."""
    return f"tl.store({pointer} + ({index}), {value}, {' & '.join(masks) or None})"


# A kernel ------------------------------------------------------------------------------------------------------------


@dataclass
class Block:
    """The statements of a part of a kernel: variables of axes, loads, computations, stores. `names` has the name of each value that
    is computed there, by `id` and by the conditions around it."""

    variables: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    compute: list[str] = field(default_factory=list)
    stores: list[str] = field(default_factory=list)
    names: dict[tuple[int, tuple[str, ...]], str] = field(default_factory=dict)

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
        self.body = self.inside = Block()
        self.totals: dict[tuple[str, Index], str] = {}  # the names of results of reductions
        self.elements: dict[tuple[str, Index], Expr] = {}  # the values of pointwise work
        self.conditions: dict[
            str, frozenset[Symbol]
        ] = {}  # of the `masked` operations around a value, and their variables
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
        for axis in self.axes:
            p, block = axis.prefix, axis.block
            if p != "r0_":
                number = int(p == "y")
                lines.append(f"{p}offset = tl.program_id({number}) * {block}")
                lines.append(f"{p}index = {p}offset + tl.arange(0, {block}){axis.dims}")
            elif self.looped:
                lines.append(f"r0_base = tl.arange(0, {block}){axis.dims}")
                continue
            else:
                lines.insert(len(self.axes), f"{block}: tl.constexpr = {1 << (axis.numel - 1).bit_length()}")
                lines.append(f"r0_index = tl.arange(0, {block}){axis.dims}")
            lines.append(axis.mask_line())
        return lines

    def inner_loop(self, nests: list[ComputedBuffer]) -> None:
        """The nests that work on every element at this point: in a loop over blocks, if the row is longer than a block."""
        if self.looped:
            self.inside = Block()
        ends = [self.reduction(nest) if nest.kind else self.pointwise(nest, self.inside) for nest in nests]
        if self.looped and nests:
            head = ["r0_index = r0_offset + r0_base", self.axes[-1].mask_line()]
            self.loops += [*self.body.loads, *self.body.compute, "for r0_offset in tl.range(0, r0_numel, R0_BLOCK):"]
            self.loops += [f"    {line}" for line in [*head, *self.inside.lines]]
            self.body.loads, self.body.compute = [], []
        for lines in ends:
            self.body.compute += lines

    def pointwise(self, nest: ComputedBuffer, block: Block) -> list[str]:
        value = self.value(nest.value)
        self.elements[nest.buffer, nest.index] = nest.value
        self.store(nest, value, block)
        return []

    def store(self, nest: ComputedBuffer, value: str, block: Block) -> None:
        if nest.buffer not in self.local:
            index, masks = nest.index, self.masks(nest.index.symbols)
            text = self.index(index) if index.terms else self.constant_index(index.offset, self.grid_axes)
            block.stores.append(store_text(self.pointers[nest.buffer], text, value, masks))

    def reduction(self, nest: ComputedBuffer) -> list[str]:
        """Reduce the elements of a nest. Return the lines after the loop.

        Source: `torch/_inductor/codegen/triton.py`, `TritonKernel.reduction`."""
        kind, shape = nest.kind.removeprefix("arg"), f"[{self.axes[0].block}, {self.axes[1].block}]"
        first, combine, end = reduction_init(kind, nest.value.dtype), *REDUCTIONS[kind][1:]
        dtype, mask = f"tl.{TYPES[nest.value.dtype]}", " & ".join(self.masks(self.node.outer + self.node.inner))
        block = self.assign(self.inside, f"tl.broadcast_to({self.value(nest.value)}, {shape})")
        if nest.kind != kind:
            name, lines = self.index_reduction(nest.kind, block, mask, first, dtype, shape)
        elif self.looped:
            name = self.new_name()
            self.body.compute.append(f"_{name} = tl.full({shape}, {first}, {dtype})")
            total = self.assign(self.inside, combine.format(f"_{name}", block))
            self.inside.compute.append(f"_{name} = " + (f"tl.where({mask}, {total}, _{name})" if mask else total))
            lines = [f"{name} = {end}(_{name}, 1)[:, None].to({dtype})"]
        else:
            block = self.assign(self.inside, f"tl.where({mask}, {block}, {first})") if mask else block
            name = self.new_name()
            lines = [f"{name} = {end}({block}, 1)[:, None].to({dtype})"]
        self.totals[nest.buffer, nest.index] = name
        self.store(nest, name, self.body)
        return lines

    def index_reduction(
        self, kind: str, block: str, mask: str, first: str, dtype: str, shape: str
    ) -> tuple[str, list[str]]:
        """Find the position of the first of the largest, or smallest, elements. Return its name, and the lines after the loop."""
        word = kind.removeprefix("arg")
        index, name = self.assign(self.inside, f"tl.broadcast_to(r0_index, {shape})"), self.new_name()
        if self.looped:
            totals = [f"_{name}", f"_{name}_index"]
            self.body.compute.append(f"{totals[0]} = tl.full({shape}, {first}, {dtype})")
            self.body.compute.append(f"{totals[1]} = tl.full({shape}, {np.iinfo(np.int32).max}, tl.int32)")
            call = f"triton_helpers.{word}imum_with_index({', '.join(totals)}, {block}, {index})"
            self.inside.compute.append(f"{totals[0]}_next, {totals[1]}_next = {call}")
            for total in totals:
                new = f"tl.where({mask}, {total}_next, {total})" if mask else f"{total}_next"
                self.inside.compute.append(f"{total} = {new}")
            block, index = totals
        elif mask:
            block = self.assign(self.inside, f"tl.where({mask}, {block}, {first})")
        call = f"triton_helpers.{word}_with_index({block}, {index}, 1)"
        return name, [f"{name}_val, {name}_idx = {call}", f"{name} = {name}_idx[:, None]"]

    # -- values

    def new_name(self) -> str:
        self.counter += 1
        return f"tmp{self.counter - 1}"

    def assign(self, block: Block, text: str) -> str:
        name = self.new_name()
        block.compute.append(f"{name} = {text}")
        return name

    def block(self, symbols: Iterable[Symbol]) -> Block:
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
        block, around = self.block(expr.symbols), tuple(self.conditions)
        for conditions in ((), around):
            if (id(expr), conditions) in block.names:
                return block.names[id(expr), conditions]
        name = self.load(expr, block) if isinstance(expr, Load) else self.assign(block, self.text(expr))
        block.names[id(expr), around] = name
        return name

    def load(self, expr: Load, block: Block) -> str:
        index, pointer, masks = expr.index, self.pointers[expr.buffer], self.masks(expr.index.symbols)
        text, constant = self.index(index), not index.terms
        if self.conditions:  # the pointers need the dimensions of the mask
            around = frozenset().union(*self.conditions.values())
            axes = [axis for axis in self.axes if (index.symbols | around).intersection(axis.loops)]
            if constant:
                text = self.constant_index(index.offset, axes)
            elif not all(index.symbols.intersection(axis.loops) for axis in axes):
                text = f"tl.broadcast_to({text}, {self.shape(axes)})"
        other = "r0_mask" in masks or bool(self.conditions)
        name, line = self.new_name(), load_text(pointer, text, masks, other, expr.dtype)
        if constant and not masks:  # one number for all positions
            line = line.replace(", None", "")
        (block.compute if "tmp" in line else block.loads).append(f"{name} = {line}")
        if constant and not masks:
            number, name = name, self.new_name()
            block.loads.append(f"{name} = tl.broadcast_to({number}, {self.shape(self.grid_axes)})")
        return name

    def text(self, expr: Expr) -> str:
        """One value as an expression of the names of other values, which are computed first."""
        if isinstance(expr, Constant):
            return f"tl.full({self.ones}, {literal(expr.value)}, tl.{TYPES[expr.dtype]})"
        if isinstance(expr, IndexExpr):
            index = self.index(expr.index)
            whole = f"tl.full({self.ones}, {index}, tl.int32)" if not expr.index.terms else f"({index})"
            return f"{whole}.to(tl.{TYPES[expr.dtype]})"
        if isinstance(expr, Op) and expr.name == "masked":
            condition, around = self.value(expr.args[0]), self.conditions
            values = []
            for name, value in ((condition, expr.args[1]), (f"~{condition}", expr.args[2])):
                self.conditions = around | {name: expr.args[0].symbols}
                values.append(self.value(value))
            self.conditions = around
            return f"tl.where({condition}, {', '.join(values)})"
        return operation(expr.name, [self.value(argument) for argument in expr.args], expr.dtype, self.ones)

    # -- indices and masks

    @property
    def grid_axes(self) -> list[Axis]:
        """The axes that instances share: all but r0."""
        return [axis for axis in self.axes if axis.prefix != "r0_"]

    @property
    def ones(self) -> str:
        return str([1] * len(self.axes))

    def shape(self, axes: Iterable[Axis]) -> str:
        """The dimensions of a block along these axes."""
        axes = list(axes)
        return f"[{', '.join(axis.block if axis in axes else '1' for axis in self.axes)}]"

    def constant_index(self, offset: int, axes: Iterable[Axis]) -> str:
        """The same index for each position of a block."""
        return f"tl.full({self.ones}, {offset}, tl.int32).broadcast_to({self.shape(axes)[1:-1]})"

    def index(self, index: Index) -> str:
        """An index expression in the variables of the axes."""
        steps, parts = dict(index.terms), []
        for axis in self.axes:
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
        lines = self.block(term.value.symbols).compute
        if line not in lines:
            lines.append(line)
        return name

    def masks(self, symbols: Iterable[Symbol]) -> list[str]:
        """The masks of an access at an index that depends on these variables, in alphabetical order."""
        symbols = set(symbols)
        names = [axis.mask for axis in self.axes if axis.mask and symbols.intersection(axis.loops)]
        return sorted([*names, *self.conditions])
