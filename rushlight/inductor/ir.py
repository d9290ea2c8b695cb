"""The loop IR: what one element of a result is computed from, and the loops that compute all of them.

An `Expr` is the value of one element: loads at index expressions, constants, operations. `Pointwise` and `Reduction` are
loops over such values, given by a function of the loop variables. A `Computed` is a loop nest that fills a buffer; `Extern`
and `Fallback` leave the work to BLAS and to the eager kernels; a `Program` is what is left when the scheduler has made
kernels of the loops. In PyTorch: `torch/_inductor/ir.py`, `ops_handler.py`, `loop_body.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import numpy as np

from rushlight.aten.strided import Tensor, contiguous_strides
from rushlight.c10.dtypes import bool_, dtype, float32, float64, int32, int64, uint8
from rushlight.inductor.index import Index, Indirect, Symbol, evaluate, substitute

LOOP_DTYPES = (bool_, uint8, int32, int64, float32, float64)  # what loops compute in: C++17 has no half precision

# ------------------------------------------------------------------------------------------------------------
# Values


class Expr:
    """The value of one element, with its `dtype`. Equal values are one object, so that what two results share is found by
    identity."""

    dtype: dtype

    @cached_property
    def symbols(self) -> frozenset[Symbol]:
        """The loop variables that it depends on."""
        found = [each.symbols for each in self.parts] + [index.symbols for index in self.indices]
        return frozenset().union(*found)

    @property
    def parts(self) -> tuple[Expr, ...]:
        """The values that it is computed from."""
        return ()

    @property
    def indices(self) -> tuple[Index, ...]:
        """The index expressions in it."""
        return ()

    def _with(self, name: str, other: Expr | float, swapped: bool = False) -> Expr:
        other = other if isinstance(other, Expr) else constant(other, self.dtype)
        return op(name, other, self) if swapped else op(name, self, other)

    def __add__(self, other: Expr | float) -> Expr:
        return self._with("add", other)

    def __sub__(self, other: Expr | float) -> Expr:
        return self._with("sub", other)

    def __mul__(self, other: Expr | float) -> Expr:
        return self._with("mul", other)

    def __truediv__(self, other: Expr | float) -> Expr:
        return self._with("div", other)

    def __radd__(self, other: float) -> Expr:
        return self._with("add", other, True)

    def __rsub__(self, other: float) -> Expr:
        return self._with("sub", other, True)

    def __rmul__(self, other: float) -> Expr:
        return self._with("mul", other, True)

    def __neg__(self) -> Expr:
        return op("neg", self)


@dataclass(frozen=True, eq=False)
class Load(Expr):
    """The element of a buffer at an index."""

    buffer: str
    index: Index
    dtype: dtype

    @property
    def indices(self) -> tuple[Index, ...]:
        return (self.index,)

    def __str__(self) -> str:
        return f"{self.buffer}[{self.index}]"


@dataclass(frozen=True, eq=False)
class Constant(Expr):
    """A number."""

    value: bool | int | float
    dtype: dtype

    def __str__(self) -> str:
        return str(self.value)


@dataclass(frozen=True, eq=False)
class Position(Expr):
    """An index expression as a value: what `arange` is, and the test whether an element is in range."""

    index: Index
    dtype: dtype

    @property
    def indices(self) -> tuple[Index, ...]:
        return (self.index,)

    def __str__(self) -> str:
        return f"({self.index})"


@dataclass(frozen=True, eq=False)
class Op(Expr):
    """An operation of scalars, by name (`cpp.py` has the table), with a result of this dtype."""

    name: str
    args: tuple[Expr, ...]
    dtype: dtype

    @property
    def parts(self) -> tuple[Expr, ...]:
        return self.args

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.args))})"


load = cache(Load)
position = cache(Position)
_op = cache(Op)
_constant = cache(lambda text, value, dtype: Constant(value, dtype))


def op(name: str, *args: Expr, dtype: dtype | None = None) -> Expr:
    """The operation of these values. Its dtype is that of the first, unless it is said."""
    return _op(name, args, dtype or args[0].dtype)


def constant(value: bool | int | float, dtype: dtype) -> Expr:
    """A number in a dtype, converted to it as a tensor's element would be."""
    value = bool(value) if dtype is bool_ else float(value) if dtype.is_floating_point else int(value)
    value = value % 256 if dtype is uint8 else value
    return _constant(repr(value), value, dtype)  # repr: 0.0 and -0.0 are equal, and are not the same number


def cast(value: Expr, dtype: dtype) -> Expr:
    """The value in another dtype, as `Tensor.to` converts."""
    if value.dtype is dtype:
        return value
    if isinstance(value, Constant) and not (value.dtype.is_floating_point and not dtype.is_floating_point):
        return constant(value.value, dtype)
    return op("cast", value, dtype=dtype)


def forget() -> None:
    """Let go of all values that are shared; those in use stay, and are merely shared no further."""
    for table in (load, position, _op, _constant):
        table.cache_clear()


def walk(value: Expr, seen: set[int] | None = None) -> Iterator[Expr]:
    """Every value in this one once, after those that it is computed from; also those that its indices read."""
    seen = set() if seen is None else seen
    if id(value) in seen:
        return
    seen.add(id(value))
    for part in value.parts:
        yield from walk(part, seen)
    for index in value.indices:
        for inner in indirect(index):
            yield from walk(inner, seen)
    yield value


def indirect(index: Index) -> Iterator[Expr]:
    """The values read from memory that an index depends on."""
    for term, _ in index.terms:
        if isinstance(term, Indirect):
            yield term.value
        elif not isinstance(term, Symbol):
            yield from indirect(term.base)


def replace(value: Expr, values: dict[Symbol, Index], loads: Callable[[Load], Expr] = lambda found: found) -> Expr:
    """The same value with other indices for loop variables, and what `loads` says for every load."""
    done: dict[int, Expr] = {}

    def inside(inner: Expr) -> Expr:
        return replaced(inner)

    def replaced(each: Expr) -> Expr:
        if id(each) not in done:
            if isinstance(each, Load):
                new = loads(load(each.buffer, substitute(each.index, values, inside), each.dtype))
            elif isinstance(each, Position):
                new = position(substitute(each.index, values, inside), each.dtype)
            elif isinstance(each, Op):
                new = _op(each.name, tuple(replaced(part) for part in each.args), each.dtype)
            else:
                new = each
            done[id(each)] = new
        return done[id(each)]

    return replaced(value)


# ------------------------------------------------------------------------------------------------------------
# Loops


@dataclass(eq=False)
class Pointwise:
    """A tensor of `sizes` whose element at `indices` is `inner(indices)`: a function of the loop variables, called when they
    are known."""

    sizes: tuple[int, ...]
    dtype: dtype
    inner: Callable[[Sequence[Index]], Expr]


@dataclass(eq=False)
class Reduction:
    """A tensor of `sizes` whose element is the `kind` ("sum", "max", ...) of `inner(indices, reduced)` over all `reduced`
    indices."""

    sizes: tuple[int, ...]
    dtype: dtype
    inner: Callable[[Sequence[Index], Sequence[Index]], Expr]
    reduced_sizes: tuple[int, ...]
    kind: str


@dataclass(frozen=True)
class Layout:
    """How a buffer's elements lie: sizes, strides in elements, dtype. The first element is at its beginning."""

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: dtype

    @staticmethod
    def contiguous(sizes: Sequence[int], dtype: dtype) -> Layout:
        return Layout(tuple(sizes), contiguous_strides(sizes), dtype)

    @property
    def numel(self) -> int:
        return int(np.prod(self.sizes, dtype=np.int64))

    @property
    def storage(self) -> int:
        """Elements of memory that it needs."""
        if 0 in self.sizes:
            return 0
        return 1 + sum((size - 1) * stride for size, stride in zip(self.sizes, self.strides))

    @property
    def nbytes(self) -> int:
        return self.storage * self.dtype.itemsize


@dataclass(frozen=True)
class Operand:
    """A strided window on a buffer, in elements: what an extern call reads, or a graph returns."""

    buffer: str
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    dtype: dtype


@dataclass(eq=False)
class Computed:
    """A loop nest that fills a buffer: for all `loops`, `buffer[index] = value`, or the `kind` of the values over the
    `reduced` loops.

    `reduced` is empty and `kind` None for pointwise work.
    """

    buffer: str
    loops: list[Symbol]
    index: Index
    value: Expr
    dtype: dtype
    reduced: list[Symbol] = field(default_factory=list)
    kind: str | None = None
    origins: list[str] = field(default_factory=list)
    accesses: Any = None  # `scheduler.accesses` of it, once somebody has asked


@dataclass(eq=False)
class Extern:
    """A product of matrices, left to BLAS: `mm` (a @ b), `bmm`, or `addmm` (beta * bias + alpha * a @ b)."""

    op: str
    operands: list[Operand]
    output: str
    dtype: dtype
    scalars: dict[str, float] = field(default_factory=dict)
    origins: list[str] = field(default_factory=list)

    @property
    def reads(self) -> set[str]:
        return {operand.buffer for operand in self.operands}

    @property
    def writes(self) -> set[str]:
        return {self.output}


@dataclass(eq=False)
class Fallback:
    """An operator left to its eager kernel. In `args` and `kwargs` an `Operand` stands for every tensor; `outputs` are the
    buffers that its results are (None: a result that nobody uses)."""

    target: Any
    args: tuple
    kwargs: dict[str, Any]
    outputs: list[str | None]
    mutates: list[str] = field(default_factory=list)
    origins: list[str] = field(default_factory=list)

    @property
    def reads(self) -> set[str]:
        return {operand.buffer for operand in operands_in((self.args, self.kwargs))}

    @property
    def writes(self) -> set[str]:
        return {name for name in self.outputs if name is not None} | set(self.mutates)


def operands_in(value: Any) -> Iterator[Operand]:
    """Every operand in nested lists, tuples and dicts."""
    if isinstance(value, Operand):
        yield value
    elif isinstance(value, dict):
        yield from operands_in(list(value.values()))
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from operands_in(each)


# ------------------------------------------------------------------------------------------------------------
# Programs


@dataclass(eq=False)
class Lowered:
    """A graph after lowering: operations in order, before any is fused. `layouts` has every buffer, graph inputs too."""

    inputs: list[str]
    layouts: dict[str, Layout]
    constants: dict[str, Tensor]
    operations: list[Computed | Extern | Fallback]
    outputs: list[Operand | bool | int | float | None]
    mutated: list[str]


@dataclass(eq=False)
class Kernel:
    """One C++ function made of fused loops. `arguments` are the buffers in the order of its parameters."""

    name: str
    text: str
    arguments: list[str]
    reads: set[str]
    writes: set[str]
    inplace: dict[str, list[str]]  # an output, and the inputs whose memory it may take over
    origins: list[str]
    work: int


@dataclass(eq=False)
class Program:
    """A graph after scheduling: kernels and calls in the order in which they run, and the buffers that they need."""

    inputs: list[str]
    layouts: dict[str, Layout]
    constants: dict[str, Tensor]
    steps: list[Kernel | Extern | Fallback]
    outputs: list[Operand | bool | int | float | None]
    mutated: list[str]


# ------------------------------------------------------------------------------------------------------------
# Running the IR element by element: slow, and independent of C++


def run(computed: Computed, memory: dict[str, np.ndarray]) -> None:
    """Fill a buffer as its loops say, one element after another. `memory` has each buffer's elements in a flat array."""
    out = memory[computed.buffer]
    for values in iterations(computed.loops):
        if computed.kind is None:
            result = value_of(computed.value, values, memory)
        else:
            each = [value_of(computed.value, values | inner, memory) for inner in iterations(computed.reduced)]
            result = REDUCERS[computed.kind](np.array(each, computed.value.dtype.numpy))
        out[evaluate(computed.index, values)] = result


def iterations(loops: Sequence[Symbol]) -> Iterator[dict[Symbol, int]]:
    """The loop variables' values, iteration for iteration."""
    for place in np.ndindex(*(symbol.size for symbol in loops)):
        yield dict(zip(loops, place))


def value_of(value: Expr, values: dict[Symbol, int], memory: dict[str, np.ndarray]) -> Any:
    """The number that a value is in one iteration."""
    if isinstance(value, Constant):
        return value.dtype.numpy.type(value.value)
    if isinstance(value, Op):
        if value.name == "masked":  # the second is looked at only where the first holds
            chosen = value.args[1] if value_of(value.args[0], values, memory) else value.args[2]
            return value_of(chosen, values, memory)
        args = [value_of(each, values, memory) for each in value.args]
        return SCALARS[value.name](*args, *([value.dtype] if value.name == "cast" else []))
    place = evaluate(value.index, values, lambda inner: int(value_of(inner, values, memory)))
    return memory[value.buffer][place] if isinstance(value, Load) else value.dtype.numpy.type(place)


def _erf(x: Any) -> Any:
    from math import erf

    return type(x)(erf(x))


REDUCERS: dict[str, Callable[[np.ndarray], Any]] = {
    "sum": lambda x: x.sum(dtype=x.dtype),
    "prod": lambda x: x.prod(dtype=x.dtype),
    "max": np.max,
    "min": np.min,
    "any": np.any,
    "all": np.all,
    "argmax": np.argmax,
    "argmin": np.argmin,
}

SCALARS: dict[str, Callable[..., Any]] = {
    "cast": lambda x, to: to.numpy.type(x),
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "floordiv": np.floor_divide,
    "truncdiv": lambda x, y: np.trunc(np.divide(x, y)).astype(np.result_type(x, y)),
    "mod": np.remainder,
    "pow": np.power,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "relu": lambda x: type(x)(0) if x < 0 else x,
    "neg": np.negative,
    "abs": np.abs,
    "sign": np.sign,
    "exp": np.exp,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "log2": np.log2,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "reciprocal": lambda x: 1 / x,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "tanh": np.tanh,
    "erf": _erf,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "round": np.round,
    "isnan": np.isnan,
    "isinf": np.isinf,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
    "and": np.logical_and,
    "or": np.logical_or,
    "not": np.logical_not,
    "bitand": np.bitwise_and,
    "bitor": np.bitwise_or,
    "bitxor": np.bitwise_xor,
    "bitnot": np.invert,
    "where": lambda condition, x, y: x if condition else y,
}
