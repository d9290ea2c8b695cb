"""Sizes as symbols: the sizes that the user's code sees, guards from its comparisons, and expressions for all other sizes.

In PyTorch a size is a `SymInt`, and every kernel computes with its expression. Here kernels compute with numbers. Only a shape
that the user's code reads has items of the class `SymInt`, which record a `Guard` or a `Relation` for each comparison. For all
other sizes the program is traced at several sizes of the inputs. `fit` finds the expression that gives the size in each trace. If
there is none, the size is not an expression of the symbols. The shape of a result is read as numbers in these traces. The program
is then traced once more, with the expressions, to record what it does with them.

In PyTorch: `torch/fx/experimental/symbolic_shapes.py`. Left out: guards of kernels, and fractions: a program that makes a float of
a size has this size only.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping, Sequence
from itertools import combinations_with_replacement
from typing import Any

import numpy

from rushlight.aten.strided import Tensor
from rushlight.c10.dispatch import DispatchMode
from rushlight.c10.storage import Size, size_of
from rushlight.export.dynamic_shapes import Guard
from rushlight.export.expressions import (
    ARITHMETIC,
    COMPARISONS,
    MIRRORED,
    NEGATED,
    Relation,
    evaluate,
    linear,
    symbols_of,
)
from rushlight.export.expressions import Expression as Tree
from rushlight.fx import Graph, Node

# What the user's code sees -------------------------------------------------------------------------------------------


class _LocalState(threading.local):
    guards: list[Guard | Relation] | None = None  # those of the export that is running
    hints: Mapping[str, int] = {}
    expressions: list[Tree] = []  # those that the user's code has computed
    reads: list[Sequence[int]] = []  # the shapes of results that the user's code has read
    known_reads: Sequence[Sequence[Tree]] = ()  # these shapes as expressions, if they are known


local_state = _LocalState()


def is_called_by_user() -> bool:
    """Whether the function that called the caller of this function is not part of the framework."""
    return not sys._getframe(2).f_globals.get("__name__", "").startswith(("rushlight.", "torch."))


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


def guard_of(left: Tree, comparison: str, right: Tree) -> Guard | Relation | None:
    """Return a comparison as a guard on one of its symbols, or as a relation. Return None if every size fulfils it."""
    match left, right:
        case ("//", base, int(divisor)), int() if divisor > 0 and comparison in ("<", "<=", ">", ">="):
            least = right + 1 if comparison in (">", "<=") else right  # x // d >= n means x >= n * d
            return guard_of(base, ">=" if comparison in (">", ">=") else "<", least * divisor)
    sum_of_symbols = linear(("-", left, right))
    if sum_of_symbols is None:
        return Relation(left, comparison, right)
    factors, summand = sum_of_symbols
    if len(factors) < 2:
        return next(
            (linear_guard((factor, symbol, summand), comparison, 0) for symbol, factor in factors.items()), None
        )
    if comparison == "==" and len(factors) == 2 and not sum(factors.values()) and not summand:
        symbol, other = factors
        return Guard(symbol, "==", other)
    return Relation(left, comparison, right)


def record(guard: Guard | Relation | None) -> None:
    """Add a guard to those of this trace, once."""
    if guard is not None and guard not in local_state.guards:
        local_state.guards.append(guard)


UNKNOWN: Any = object()  # the expression of a size of a result, before the program was traced at other sizes


def expression_of(value: Any) -> Tree | None:
    """The expression of a size, or a number. None for other values, such as floats."""
    return value.expression if isinstance(value, SymInt) else int(value) if type(value) in (int, bool) else None


class SymInt(int):
    """A size that is an expression. Its value is that of the example.
    Source: `torch/__init__.py`, `SymInt`; `torch/fx/experimental/sym_node.py`."""

    expression: Tree

    @classmethod
    def of(cls, value: int, expression: Tree) -> SymInt:
        self = cls(value)
        self.expression = expression
        if local_state.guards is not None and isinstance(expression, tuple):
            local_state.expressions.append(expression)
        return self

    def __neg__(self) -> Any:
        return self * -1

    def __abs__(self) -> Any:
        return self if self.compare(">=", 0) else -self

    def __pos__(self) -> Any:
        return self

    def compare(self, comparison: str, other: Any) -> bool:
        number = int.__int__(other) if isinstance(other, SymInt) else other
        result = COMPARISONS[comparison](int.__int__(self), number)
        if local_state.guards is not None and result is not NotImplemented:
            right = expression_of(other)
            if self.expression is UNKNOWN or right is UNKNOWN:
                return result
            if right is not None:
                record(guard_of(self.expression, comparison if result else NEGATED[comparison], right))
            elif isinstance(other, float):
                self.specialise()
        return result

    def specialise(self) -> None:
        """The program is for this size alone. Source: `torch/fx/experimental/symbolic_shapes.py`, `guard_int`."""
        if local_state.guards is not None and self.expression is not UNKNOWN:
            for symbol in symbols_of(self.expression):
                record(Guard(symbol, "==", local_state.hints[symbol]))

    def __bool__(self) -> bool:
        return self.compare("!=", 0) if is_called_by_user() else int.__bool__(self)

    def __hash__(self) -> int:
        if is_called_by_user():
            raise TypeError("unhashable type: non-nested SymInt")
        return int.__hash__(self)

    def __divmod__(self, other: Any) -> Any:
        raise TypeError(f"unsupported operand type(s) for divmod(): 'SymInt' and '{type(other).__name__}'")


def _compared(name: str) -> Any:
    def method(self: SymInt, other: Any) -> bool:
        return self.compare(name, other) if is_called_by_user() else COMPARISONS[name](int.__int__(self), other)

    return method


def _computed(name: str, method: str, is_mirrored: bool) -> Any:
    """The method for an operator of Python: the value, with the expression of it."""
    plain = getattr(int, method)

    def computed(self: SymInt, other: Any) -> Any:
        value, others = plain(self, other), expression_of(other)
        if type(value) is not int or others is None:
            return _specialised(self, other, value) if is_called_by_user() else value
        sides = (others, self.expression) if is_mirrored else (self.expression, others)
        if UNKNOWN in sides:
            return SymInt.of(value, UNKNOWN)
        return SymInt.of(value, simplified((name, *sides)))

    return computed


def _specialised(self: SymInt, other: Any, value: Any) -> Any:
    """Return the value, and specialise the program to the sizes of its operands."""
    for operand in (self, other):
        if isinstance(operand, SymInt) and value is not NotImplemented:
            operand.specialise()
    return value


def _specialising(method: str) -> Any:
    """Return a method whose result is no expression. The program is specialised to the size if the user's code calls the method."""
    plain = getattr(int, method)

    def specialising(self: SymInt, *others: Any) -> Any:
        value = plain(self, *others)
        return _specialised(self, next(iter(others), None), value) if is_called_by_user() else value

    return specialising


for _name, _function in COMPARISONS.items():
    setattr(SymInt, f"__{_function.__name__}__", _compared(_name))
for _name, _function in ARITHMETIC.items():
    setattr(SymInt, f"__{_function.__name__}__", _computed(_name, f"__{_function.__name__}__", False))
    setattr(SymInt, f"__r{_function.__name__}__", _computed(_name, f"__r{_function.__name__}__", True))
for _name in (
    "int", "float", "truediv", "rtruediv", "pow", "rpow", "and", "rand", "or", "ror", "xor", "rxor", "lshift",
    "rlshift", "rshift", "rrshift", "invert", "round", "trunc", "floor", "ceil",
):  # fmt: skip
    setattr(SymInt, f"__{_name}__", _specialising(f"__{_name}__"))
SymInt.bit_length = _specialising("bit_length")


class SymbolicTensor(Tensor):
    """A tensor whose `shape` the user's code sees as symbols: an input with `symbols` by dimension, or a result, whose are None.
    The framework sees the sizes of the example."""

    symbols: Mapping[int, str] | None = None

    def symbolic_sizes(self) -> Size:
        if self.symbols is None:
            return read(self._sizes)
        sizes = enumerate(self._sizes)
        return size_of(SymInt.of(n, self.symbols[d]) if d in self.symbols else n for d, n in sizes)

    @property
    def shape(self) -> Size:
        return self.symbolic_sizes() if is_called_by_user() else self._sizes

    def size(self, dim: int | None = None) -> Any:
        if not is_called_by_user():
            return super().size(dim)
        sizes = self.symbolic_sizes()
        return sizes if dim is None else sizes[dim]

    def numel(self) -> int:
        if not is_called_by_user():
            return super().numel()
        total = 1
        for size in self.symbolic_sizes():
            total = total * size
        return total

    def data_ptr(self) -> int:
        if is_called_by_user():
            raise RuntimeError("Cannot access data pointer of Tensor (e.g. FakeTensor, FunctionalTensor)")
        return super().data_ptr()

    def __len__(self) -> int:
        if is_called_by_user() and self._sizes:
            return int.__int__(specialised(self.symbolic_sizes()[0]))
        return super().__len__()


def specialised(size: int) -> int:
    """Return a size, and specialise the program to it."""
    if isinstance(size, SymInt):
        size.specialise()
    return size


def read(sizes: Size) -> Size:
    """The shape of a result, which the user's code reads."""
    number = len(local_state.reads)
    local_state.reads.append(tuple(sizes))
    if number >= len(local_state.known_reads):
        return size_of(SymInt.of(n, UNKNOWN) for n in sizes)
    expressions = local_state.known_reads[number]
    return size_of(
        n if isinstance(expression, int) else SymInt.of(n, expression) for n, expression in zip(sizes, expressions)
    )


class Results(DispatchMode):
    """A context in which the user's code sees the shapes of results as symbols, too."""

    def __torch_dispatch__(self, func: Any, types: Sequence[type], args: tuple = (), kwargs: dict | None = None) -> Any:
        results = func(*args, **(kwargs or {}))
        for result in results if isinstance(results, (list, tuple)) else [results]:
            if type(result) is Tensor:
                result.__class__ = SymbolicTensor
        return results


def with_symbols(tensor: Tensor, symbols: Mapping[int, str]) -> Tensor:
    """The same tensor, whose sizes in these dimensions are symbols."""
    tensor.__class__ = SymbolicTensor
    tensor.symbols = symbols
    return tensor


# Expressions ---------------------------------------------------------------------------------------------------------


DIVISORS = (2, 3, 4, 8)


def simplified(expression: Tree) -> Tree:
    """A sum with one symbol as a factor and a summand, and other expressions as they are."""
    sum_of_symbols = linear(expression)
    if sum_of_symbols is None or len(sum_of_symbols[0]) != 1:
        return expression
    (((symbol, factor),), summand) = (sum_of_symbols[0].items(), sum_of_symbols[1])
    return line(symbol, factor, summand)


def line(base: Tree, factor: int, summand: int) -> Tree:
    """`factor * base + summand`."""
    scaled = base if factor == 1 else ("*", base, factor)
    return scaled if summand == 0 else ("+", scaled, summand)


def fit(values: Sequence[int], assignments: Sequence[Mapping[str, int]], known: Sequence[Tree] = ()) -> Tree | None:
    """Return a number or an expression that has the value `values[i]` at the sizes `assignments[i]`, or None.

    The candidates are a line in one base (a symbol, a product of two, a quotient of these, an expression of `known`), and a sum of
    symbols. A line has two unknowns and is tested at more sizes than two, so a wrong candidate fails at one of them. The simplest
    candidates come first, because several can fit.
    """
    if len(set(values)) == 1:
        return values[0]
    names = list(assignments[0])
    products = names + [("*", *pair) for pair in combinations_with_replacement(names, 2)]
    divided = [("//", product, divisor) for divisor in DIVISORS for product in products]
    divided += [
        ("//", ("+", name, rest), divisor) for divisor in DIVISORS for rest in range(1, divisor) for name in names
    ]
    for base in [*products, *divided, *known]:
        coefficients = _line([evaluate(base, assignment) for assignment in assignments], values)
        if coefficients is not None:
            return line(base, *coefficients)
    return _sum(names, values, assignments)


def _line(base: Sequence[int], values: Sequence[int]) -> tuple[int, int] | None:
    """Return the factor and the summand that make each value of its base, or None."""
    pairs = sorted(set(zip(base, values)))
    (x0, y0), (x1, y1) = pairs[0], pairs[-1]
    if x0 == x1 or (y1 - y0) % (x1 - x0):
        return None
    factor = (y1 - y0) // (x1 - x0)
    summand = y0 - factor * x0
    return (factor, summand) if factor and all(factor * x + summand == y for x, y in pairs) else None


def _sum(names: Sequence[str], values: Sequence[int], assignments: Sequence[Mapping[str, int]]) -> Tree | None:
    """Return a sum of symbols with factors, and a number. More sizes than unknowns are needed: with as many, a sum always fits."""
    if len({*map(tuple, (assignment.values() for assignment in assignments))}) < len(names) + 2:
        return None
    table = numpy.array([[*(assignment[name] for name in names), 1] for assignment in assignments], dtype=float)
    solution, _, rank, _ = numpy.linalg.lstsq(table, numpy.array(values, dtype=float), rcond=None)
    *factors, summand = (round(x) for x in solution.tolist())
    terms = [line(name, factor, 0) for name, factor in zip(names, factors) if factor]
    if rank < len(names) + 1 or not terms:
        return None
    total = terms[0]
    for term in terms[1:]:
        total = ("+", total, term)
    total = line(total, 1, summand)
    fits = all(evaluate(total, assignment) == value for assignment, value in zip(assignments, values))
    return total if fits else None


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
            name = "sym_size_int" if function is sym_size else None
            self.known[key] = self.graph.call_function(function, args, name=name)
            self.known[key].meta |= {"val": 0, "sizes": None}
        return self.known[key]

    def of(self, expression: Tree) -> Any:
        """The node that computes an expression. A number is itself."""
        if isinstance(expression, int):
            return expression
        if isinstance(expression, str):
            return self.node(expression, sym_size, *self.sources[expression])
        name, left, right = expression
        return self.node(expression, ARITHMETIC[name], self.of(left), self.of(right))
