"""The loop IR: the computation of one element of a result, and the loops that compute all elements.

An `Expr` is the value of one element: loads at index expressions, constants, operations. `Pointwise` and `Reduction` are
functions from loop variables to such a value. A `ComputedBuffer` is a loop nest that fills a buffer. `ExternKernel` is a call
of BLAS, `FallbackKernel` a call of an eager kernel. A `Program` is a graph after scheduling, with kernels in place of loop nests.
In PyTorch: `torch/_inductor/ir.py`, `ops_handler.py`, `loop_body.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import numpy as np

from rushlight.aten.strided import Tensor, storage_size
from rushlight.c10.dtypes import bool_, dtype, float32, float64, int32, int64, uint8
from rushlight.fx.node import map_aggregate
from rushlight.inductor.index import Division, Index, Indirect, Symbol, evaluate, substitute

LOOP_DTYPES = (bool_, uint8, int32, int64, float32, float64)  # of loops: C++17 has no half precision

# Values --------------------------------------------------------------------------------------------------------------


def _binary(name: str, swapped: bool = False) -> Callable[[Expr, Any], Expr]:
    def method(self: Expr, other: Expr | float) -> Expr:
        other = other if isinstance(other, Expr) else constant(other, self.dtype)
        return op(name, other, self) if swapped else op(name, self, other)

    return method


class Expr:
    """The value of one element, with its `dtype`. Equal values are one object."""

    dtype: dtype
    parts: tuple[Expr, ...] = ()  # the values that it is computed from
    indices: tuple[Index, ...] = ()  # the index expressions in it

    @cached_property
    def symbols(self) -> frozenset[Symbol]:
        """The loop variables that the value depends on."""
        return frozenset().union(*(part.symbols for part in (*self.parts, *self.indices)))

    __add__, __sub__, __mul__, __truediv__ = _binary("add"), _binary("sub"), _binary("mul"), _binary("div")
    __radd__, __rsub__, __rmul__ = _binary("add", True), _binary("sub", True), _binary("mul", True)

    def __neg__(self) -> Expr:
        return op("neg", self)


@dataclass(frozen=True, eq=False)
class Load(Expr):
    """The element of a buffer at an index."""

    buffer: str
    index: Index
    dtype: dtype

    indices = property(lambda self: (self.index,))

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
class IndexExpr(Expr):
    """An index expression as a value, for `arange` and for tests whether an element is in range."""

    index: Index
    dtype: dtype

    indices = property(lambda self: (self.index,))

    def __str__(self) -> str:
        return f"({self.index})"


@dataclass(frozen=True, eq=False)
class Op(Expr):
    """An operation on scalars, by name (`cpp.py` has the table), with a result of this dtype."""

    name: str
    args: tuple[Expr, ...]
    dtype: dtype

    parts = property(lambda self: self.args)

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.args))})"


load = cache(Load)
index_expr = cache(IndexExpr)
_op = cache(Op)
_constant = cache(lambda text, value, dtype: Constant(value, dtype))


def op(name: str, *args: Expr, dtype: dtype | None = None) -> Expr:
    """The operation on these values. Without `dtype` the result has the dtype of the first value."""
    return _op(name, args, dtype or args[0].dtype)


def constant(value: bool | int | float, dtype: dtype) -> Expr:
    """A number in a dtype, converted as a tensor's element is."""
    value = bool(value) if dtype is bool_ else float(value) if dtype.is_floating_point else int(value)
    value = value % 256 if dtype is uint8 else value
    return _constant(repr(value), value, dtype)  # repr, because 0.0 == -0.0


def cast(value: Expr, dtype: dtype) -> Expr:
    """The value in another dtype, as `Tensor.to` converts."""
    if value.dtype is dtype:
        return value
    if isinstance(value, Constant) and not (value.dtype.is_floating_point and not dtype.is_floating_point):
        return constant(value.value, dtype)
    return op("cast", value, dtype=dtype)


def clear_expressions() -> None:
    """Empty the tables of shared values. Values in use stay valid; new equal values are new objects."""
    for table in (load, index_expr, _op, _constant):
        table.cache_clear()


def walk(value: Expr, seen: set[int] | None = None) -> Iterator[Expr]:
    """Every value in this value once, each after the values that it is computed from, also the values read by indices."""
    seen = set() if seen is None else seen
    if id(value) in seen:
        return
    seen.add(id(value))
    for part in value.parts:
        yield from walk(part, seen)
    for index in value.indices:
        for inner in indirect_values(index):
            yield from walk(inner, seen)
    yield value


def loads(value: Expr) -> list[Load]:
    """The loads in a value, each once."""
    return [node for node in walk(value) if isinstance(node, Load)]


def indirect_values(index: Index) -> Iterator[Expr]:
    """The values read from memory that an index depends on."""
    for term, _ in index.terms:
        if isinstance(term, Indirect):
            yield term.value
        elif isinstance(term, Division):
            yield from indirect_values(term.base)


def reindexed(value: Expr, values: dict[Symbol, Index]) -> Expr:
    """The same value with other indices for its loop variables."""

    @cache
    def visit(node: Expr) -> Expr:
        if isinstance(node, Load):
            return load(node.buffer, substitute(node.index, values, visit), node.dtype)
        if isinstance(node, IndexExpr):
            return index_expr(substitute(node.index, values, visit), node.dtype)
        return _op(node.name, tuple(map(visit, node.args)), node.dtype) if isinstance(node, Op) else node

    return visit(value)


# Loops ---------------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Pointwise:
    """A tensor of `sizes` whose element at `indices` is `inner(indices)`. `inner` is called when the loop variables are known."""

    sizes: tuple[int, ...]
    dtype: dtype
    inner: Callable[[Sequence[Index]], Expr]

    def __post_init__(self) -> None:
        self.sizes = tuple(self.sizes)


@dataclass(eq=False)
class Reduction:
    """A tensor of `sizes` whose element is the `kind` ("sum", "max", ...) of `inner(indices, reduced)` over all `reduced`."""

    sizes: tuple[int, ...]
    dtype: dtype
    inner: Callable[[Sequence[Index], Sequence[Index]], Expr]
    reduced_sizes: tuple[int, ...]
    kind: str

    def __post_init__(self) -> None:
        self.sizes, self.reduced_sizes = tuple(self.sizes), tuple(self.reduced_sizes)


@dataclass(frozen=True)
class Layout:
    """The layout of a buffer's elements: sizes, strides in elements, dtype. The first element is at the beginning."""

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: dtype

    @property
    def nbytes(self) -> int:
        """Bytes of memory that the buffer needs."""
        return storage_size(self.sizes, self.strides) * self.dtype.itemsize


@dataclass(frozen=True)
class ReinterpretView:
    """A strided view of a buffer, in elements: an operand of an extern kernel, or an output of the graph."""

    buffer: str
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    dtype: dtype


@dataclass(eq=False)
class ComputedBuffer:
    """A loop nest that fills a buffer: for all `loops`, `buffer[index] = value`. In a reduction `buffer[index]` is the `kind`
    ("sum", "max", ...) of the values over the `reduced` loops. In pointwise work `reduced` is empty and `kind` is None."""

    buffer: str
    loops: list[Symbol]
    index: Index
    value: Expr
    dtype: dtype
    reduced: list[Symbol] = field(default_factory=list)
    kind: str | None = None
    origins: list[str] = field(default_factory=list)
    read_writes: Any = field(default=None, init=False)  # computed once, by `dependencies.extract_read_writes`


@dataclass(eq=False)
class ExternKernel:
    """A product of matrices by BLAS: `mm` (a @ b), `bmm`, or `addmm` (beta * bias + alpha * a @ b)."""

    op: str
    operands: list[ReinterpretView]
    output: str
    dtype: dtype
    scalars: dict[str, float] = field(default_factory=dict)
    origins: list[str] = field(default_factory=list)

    @property
    def arguments(self) -> list[str]:
        """The buffers in the order of the operands, and the output."""
        return [*(operand.buffer for operand in self.operands), self.output]

    @property
    def reads(self) -> set[str]:
        return set(self.arguments[:-1])

    @property
    def writes(self) -> set[str]:
        return {self.output}


@dataclass(eq=False)
class FallbackKernel:
    """A call of an operator's eager kernel. `args` and `kwargs` have a `ReinterpretView` for every tensor. `outputs` names the
    buffers of the results, None for a result that is no tensor."""

    target: Any
    args: tuple
    kwargs: dict[str, Any]
    outputs: list[str | None]
    mutates: list[str] = field(default_factory=list)
    origins: list[str] = field(default_factory=list)

    @property
    def reads(self) -> set[str]:
        return {view.buffer for view in leaves((self.args, self.kwargs), ReinterpretView)}

    @property
    def writes(self) -> set[str]:
        return {name for name in self.outputs if name is not None} | set(self.mutates)


def leaves(value: Any, kinds: type | tuple[type, ...]) -> list[Any]:
    """The values of these classes in nested lists, tuples and dicts."""
    members: list[Any] = []
    map_aggregate(value, lambda member: members.append(member) if isinstance(member, kinds) else None)
    return members


Operation = ComputedBuffer | ExternKernel | FallbackKernel

# Programs ------------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Kernel:
    """One function made of fused loops. `arguments` are the buffers in the order of its parameters. A kernel in Triton also has the
    number of positions of each of its axes, and a kernel in C++ has no `numels`."""

    name: str
    text: str
    arguments: list[str]
    reads: set[str]
    writes: set[str]
    inplace: dict[str, list[str]]  # for each output the inputs whose memory it can reuse
    origins: list[str]
    numels: tuple[int, ...] = ()


Step = Kernel | ExternKernel | FallbackKernel


@dataclass(eq=False)
class Program:
    """A graph after scheduling: kernels and calls in the order of execution, and the buffers that they need."""

    inputs: list[str]
    layouts: dict[str, Layout]
    constants: dict[str, Tensor]
    steps: list[Step]
    outputs: list[ReinterpretView | bool | int | float | None]
    mutated: list[str]


# An interpreter, element by element: slow, and independent of C++ ----------------------------------------------------


def run(computed: ComputedBuffer, memory: dict[str, np.ndarray], outer: dict[Symbol, int] | None = None) -> None:
    """Fill a buffer, one element after another. `memory` has each buffer's elements in a flat array. With `outer`, values of loop
    variables, only the iterations with these values run."""
    out, outer = memory[computed.buffer], outer or {}
    for inner in iterations([symbol for symbol in computed.loops if symbol not in outer]):
        values = outer | inner
        if computed.kind is None:
            result = value_of(computed.value, values, memory)
        else:
            terms = [value_of(computed.value, values | last, memory) for last in iterations(computed.reduced)]
            result = REDUCERS[computed.kind](np.array(terms, computed.value.dtype.numpy))
        out[evaluate(computed.index, values)] = result


def iterations(loops: Sequence[Symbol]) -> Iterator[dict[Symbol, int]]:
    """The values of the loop variables in each iteration."""
    for point in np.ndindex(*(symbol.size for symbol in loops)):
        yield dict(zip(loops, point))


def value_of(value: Expr, values: dict[Symbol, int], memory: dict[str, np.ndarray]) -> Any:
    """The number that a value has in one iteration."""
    if isinstance(value, Constant):
        return value.dtype.numpy.type(value.value)
    if isinstance(value, Op):
        if value.name == "masked":  # the second argument is evaluated only where the first is true
            chosen = value.args[1] if value_of(value.args[0], values, memory) else value.args[2]
            return value_of(chosen, values, memory)
        args = [value_of(argument, values, memory) for argument in value.args]
        return SCALARS[value.name](*args, *([value.dtype] if value.name == "cast" else []))
    number = evaluate(value.index, values, lambda inner: int(value_of(inner, values, memory)))
    return memory[value.buffer][number] if isinstance(value, Load) else value.dtype.numpy.type(number)


REDUCERS: dict[str, Callable[[np.ndarray], Any]] = {
    "sum": lambda x: x.sum(dtype=x.dtype), "prod": lambda x: x.prod(dtype=x.dtype), "max": np.max, "min": np.min,
    "any": np.any, "all": np.all, "argmax": np.argmax, "argmin": np.argmin,
}  # fmt: skip

SCALARS: dict[str, Callable[..., Any]] = {
    "cast": lambda x, to: to.numpy.type(x),
    "truncdiv": lambda x, y: np.trunc(np.divide(x, y)).astype(np.result_type(x, y)),
    "relu": lambda x: type(x)(0) if x < 0 else x,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "reciprocal": lambda x: 1 / x,
    "erf": lambda x: type(x)(math.erf(x)),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "where": lambda condition, x, y: x if condition else y,
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "floordiv": np.floor_divide, "mod": np.remainder,
    "pow": np.power, "maximum": np.maximum, "minimum": np.minimum, "neg": np.negative, "abs": np.abs, "sign": np.sign,
    "exp": np.exp, "expm1": np.expm1, "log": np.log, "log1p": np.log1p, "log2": np.log2, "sqrt": np.sqrt, "sin": np.sin,
    "cos": np.cos, "tan": np.tan, "tanh": np.tanh, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "round": np.round,
    "isnan": np.isnan, "isinf": np.isinf, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
    "eq": np.equal, "ne": np.not_equal, "and": np.logical_and, "or": np.logical_or, "not": np.logical_not,
    "bitand": np.bitwise_and, "bitor": np.bitwise_or, "bitxor": np.bitwise_xor, "bitnot": np.invert,
}  # fmt: skip
