"""Sizes as symbols: the sizes that the user's code sees, guards from its comparisons, and expressions for all other sizes.

In PyTorch a size is a `SymInt`, and every kernel computes with its expression. Here kernels compute with numbers. Only the shape
of an input, read by the user's code, is a `SymInt`, which records a `Guard` for each comparison. For all other sizes the program
is traced at several sizes of the inputs. `fit` finds the expression that gives the size in each trace. If there is none, the size
is not an expression of the symbols.

In PyTorch: `torch/fx/experimental/symbolic_shapes.py`. Left out: guards on other sizes than those of inputs, and on anything but
a symbol with a factor and a summand.
"""

from __future__ import annotations

import operator
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

from rushlight.aten.strided import Tensor
from rushlight.c10.storage import Size
from rushlight.export.dynamic_shapes import Guard
from rushlight.fx import Graph, Node

# What the user's code sees -------------------------------------------------------------------------------------------


class _LocalState(threading.local):
    guards: list[Guard] | None = None  # those of the export that is running


local_state = _LocalState()
NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
COMPARISONS = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip


def is_called_by_user() -> bool:
    """Whether the function that called the caller of this function is not part of the framework."""
    return not sys._getframe(2).f_globals.get("__name__", "").startswith("rushlight.")


def linear_guard(expression: tuple[int, str, int], comparison: str, number: int) -> Guard | None:
    """The guard on a symbol that says that `factor * symbol + summand` compares with a number. None if no size decides."""
    factor, symbol, summand = expression
    quotient, rest = divmod(number - summand, factor)
    if factor < 0:
        comparison = MIRRORED[comparison]
    if rest and comparison in ("==", "!="):
        return None
    if rest:  # the quotient is rounded down
        comparison = {">=": ">", "<": "<="}.get(comparison, comparison)
    return Guard(symbol, comparison, quotient)


class SymInt(int):
    """A size that is a symbol with a factor and a summand. Its value is that of the example.
    Source: `torch/__init__.py`, `SymInt`; `torch/fx/experimental/sym_node.py`."""

    expression: tuple[int, str, int]

    @classmethod
    def of(cls, value: int, expression: tuple[int, str, int]) -> SymInt:
        self = cls(value)
        self.expression = expression
        return self

    def __add__(self, other: Any) -> Any:
        factor, symbol, summand = self.expression
        value = int(self) + other
        return SymInt.of(value, (factor, symbol, summand + other)) if type(other) is int else value

    def __mul__(self, other: Any) -> Any:
        factor, symbol, summand = self.expression
        value = int(self) * other
        is_linear = type(other) is int and other != 0
        return SymInt.of(value, (factor * other, symbol, summand * other)) if is_linear else value

    def __sub__(self, other: Any) -> Any:
        return self + -other if type(other) is int else int(self) - other

    def __rsub__(self, other: Any) -> Any:
        return self * -1 + other

    __radd__, __rmul__ = __add__, __mul__

    def compare(self, comparison: str, other: Any) -> bool:
        result = COMPARISONS[comparison](int(self), other if not isinstance(other, SymInt) else int(other))
        if local_state.guards is not None:
            held = comparison if result else NEGATED[comparison]
            guard = None
            if not isinstance(other, SymInt):
                guard = linear_guard(self.expression, held, other) if type(other) is int else None
            elif held == "==" and (self.expression[0], self.expression[2]) == (
                other.expression[0],
                other.expression[2],
            ):
                guard = Guard(self.expression[1], "==", other.expression[1])
                guard = guard if guard.symbol != guard.other else None
            if guard is not None and guard not in local_state.guards:
                local_state.guards.append(guard)
        return result

    def __bool__(self) -> bool:
        return self.__ne__(0)

    __hash__ = int.__hash__


def _compared(name: str) -> Any:
    def method(self: SymInt, other: Any) -> bool:
        return self.compare(name, other) if is_called_by_user() else COMPARISONS[name](int(self), other)

    return method


for _name, _function in COMPARISONS.items():
    setattr(SymInt, f"__{_function.__name__}__", _compared(_name))


class SymbolicTensor(Tensor):
    """An input whose `shape` the user's code sees as symbols. The framework sees the sizes of the example."""

    symbols: Mapping[int, str] = {}

    @property
    def shape(self) -> Size:
        if not is_called_by_user():
            return self._sizes
        sizes = enumerate(self._sizes)
        return Size(SymInt.of(n, (1, self.symbols[d], 0)) if d in self.symbols else n for d, n in sizes)

    def size(self, dim: int | None = None) -> Any:
        if not is_called_by_user():
            return super().size(dim)
        sizes = enumerate(self._sizes)
        sizes = Size(SymInt.of(n, (1, self.symbols[d], 0)) if d in self.symbols else n for d, n in sizes)
        return sizes if dim is None else sizes[dim]


def with_symbols(tensor: Tensor, symbols: Mapping[int, str]) -> Tensor:
    """The same tensor, whose sizes in these dimensions are symbols."""
    if symbols:
        tensor.__class__ = SymbolicTensor
        tensor.symbols = symbols
    return tensor


# Expressions ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Expression:
    """`factor * (product of symbols // divisor) + summand`."""

    symbols: tuple[str, ...]
    factor: int = 1
    summand: int = 0
    divisor: int = 1

    def value(self, sizes: Mapping[str, int]) -> int:
        product = 1
        for symbol in self.symbols:
            product *= sizes[symbol]
        return self.factor * (product // self.divisor) + self.summand

    def __str__(self) -> str:
        text = "*".join(self.symbols)
        text = text if self.divisor == 1 else f"({text}//{self.divisor})"
        text = text if self.factor == 1 else f"{self.factor}*{text}"
        return (
            text
            if self.summand == 0
            else f"{text} + {self.summand}"
            if self.summand > 0
            else f"{text} - {-self.summand}"
        )


def fit(values: Sequence[int], worlds: Sequence[Mapping[str, int]]) -> int | Expression | None:
    """A number, or an expression, that has `values[i]` for the sizes `worlds[i]`. None if none is known."""
    if len(set(values)) == 1:
        return values[0]
    names = list(worlds[0])
    products = [(name,) for name in names] + list(combinations_with_replacement(names, 2))
    for divisor in (1, 2, 3, 4, 8):
        for symbols in products:
            base = [Expression(symbols, divisor=divisor).value(world) for world in worlds]
            found = _line(base, values)
            if found is not None:
                return Expression(symbols, *found, divisor)
    return None


def _line(base: Sequence[int], values: Sequence[int]) -> tuple[int, int] | None:
    """A factor and a summand that make each value of its base."""
    pairs = sorted(set(zip(base, values)))
    (x0, y0), (x1, y1) = pairs[0], pairs[-1]
    if x0 == x1 or (y1 - y0) % (x1 - x0):
        return None
    factor = (y1 - y0) // (x1 - x0)
    summand = y0 - factor * x0
    return (factor, summand) if factor and all(factor * x + summand == y for x, y in pairs) else None


# In a graph ----------------------------------------------------------------------------------------------------------


def sym_size(self: Tensor, dim: int) -> int:
    """The operator `aten.sym_size.int`: the size of a tensor in one dimension, as a value of a graph."""
    return int(self._sizes[dim])


class SizeNodes:
    """The nodes that compute sizes in a graph: one for each expression."""

    def __init__(self, graph: Graph, sources: Mapping[str, tuple[Node, int]]) -> None:
        self.graph, self.sources = graph, sources  # for each symbol the placeholder and the dimension that has its size
        self.known: dict[Any, Node] = {}

    def node(self, key: Any, function: Any, *args: Any) -> Node:
        if key not in self.known:
            self.known[key] = self.graph.call_function(
                function, args, name="sym_size_int" if function is sym_size else None
            )
            self.known[key].meta |= {"val": 0, "sizes": None}
        return self.known[key]

    def of(self, expression: Expression) -> Node:
        symbols, factor, summand, divisor = (
            expression.symbols, expression.factor, expression.summand, expression.divisor,
        )  # fmt: skip
        found, *others = [self.node(symbol, sym_size, *self.sources[symbol]) for symbol in symbols]
        for other in others:
            found = self.node((symbols, "*"), operator.mul, found, other)
        if divisor != 1:
            found = self.node((symbols, divisor), operator.floordiv, found, divisor)
        if factor != 1:
            found = self.node((symbols, divisor, factor), operator.mul, found, factor)
        if summand:
            found = self.node((symbols, divisor, factor, summand), operator.add, found, summand)
        return found
