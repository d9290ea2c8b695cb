"""Expressions of sizes, and comparisons of two of them that no range says: `s0 > s1`, `s0 % 2 == 0`.

An expression is a number, the name of a symbol, or `(operator, left, right)`. So it is data that a file can have, and a few lines
compute with it. In PyTorch: sympy, with `torch/utils/_sympy/functions.py` and `torch/utils/_sympy/solve.py`. Left out: fractions,
and equations of several symbols, which torch solves to replace a symbol.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rushlight.export.dynamic_shapes import ConstraintViolationError, Dim, Symbol, ValueRange

Expression = int | str | tuple[str, Any, Any]

COMPARISONS = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
ARITHMETIC = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv, "%": operator.mod,
}  # fmt: skip


def evaluate(expression: Expression, sizes: Mapping[str, int]) -> int:
    """The value of an expression at these sizes of its symbols."""
    if isinstance(expression, str):
        return sizes[expression]
    if isinstance(expression, int):
        return expression
    name, left, right = expression
    return ARITHMETIC[name](evaluate(left, sizes), evaluate(right, sizes))


def symbols_of(expression: Expression) -> list[str]:
    """The symbols in an expression, in order."""
    if isinstance(expression, tuple):
        return [*dict.fromkeys(symbols_of(expression[1]) + symbols_of(expression[2]))]
    return [expression] if isinstance(expression, str) else []


def written(expression: Expression, names: Mapping[str, str] = {}) -> str:
    """An expression as text. `names` are other names for its symbols."""
    if not isinstance(expression, tuple):
        return names.get(expression, expression) if isinstance(expression, str) else str(expression)
    name, left, right = expression
    texts = [written(side, names) for side in (left, right)]
    if name in ("+", "-"):
        if isinstance(right, int) and right < 0:
            name, texts[1] = {"+": "-", "-": "+"}[name], str(-right)
        elif name == "-" and isinstance(right, tuple) and right[0] in ("+", "-"):
            texts[1] = f"({texts[1]})"
        return f"{texts[0]} {name} {texts[1]}"
    texts = [
        f"({text})" if isinstance(side, tuple) and side[0] != "*" else text for side, text in zip((left, right), texts)
    ]
    if name == "*":
        return "*".join(reversed(texts) if isinstance(right, int) else texts)
    return f"({texts[0]}//{texts[1]})" if name == "//" else f"{texts[0]} % {texts[1]}"


def linear(expression: Expression) -> tuple[dict[str, int], int] | None:
    """The factor of each symbol, and the summand. None if the expression is no such sum."""
    if isinstance(expression, str):
        return {expression: 1}, 0
    if isinstance(expression, int):
        return {}, expression
    name, *sides = expression
    left, right = map(linear, sides)
    if left is None or right is None:
        return None
    if name == "*" and not (left[0] and right[0]):
        number, (factors, summand) = (left[1], right) if not left[0] else (right[1], left)
    elif name in ("+", "-"):
        number, (factors, summand) = {"+": 1, "-": -1}[name], right
    else:
        return None
    terms, start = left if name != "*" else ({}, 0)
    total = {symbol: terms.get(symbol, 0) + number * factors.get(symbol, 0) for symbol in {**terms, **factors}}
    return {symbol: factor for symbol, factor in total.items() if factor}, start + number * summand


class Relation(NamedTuple):
    """A comparison of two expressions that holds for the example, and that no range says. It is tested when the program runs."""

    left: Expression
    comparison: str
    right: Expression

    def __str__(self) -> str:
        return self.written({})

    def written(self, names: Mapping[str, str]) -> str:
        return f"{written(self.left, names)} {self.comparison} {written(self.right, names)}"

    def symbols(self) -> list[str]:
        return symbols_of(("-", self.left, self.right))

    def holds(self, sizes: Mapping[str, int]) -> bool:
        try:
            return COMPARISONS[self.comparison](evaluate(self.left, sizes), evaluate(self.right, sizes))
        except ZeroDivisionError:
            return False

    def renamed(self, names: Mapping[str, str]) -> Relation:
        def each(expression: Expression) -> Expression:
            if isinstance(expression, tuple):
                return expression[0], each(expression[1]), each(expression[2])
            return names.get(expression, expression) if isinstance(expression, str) else expression

        return Relation(each(self.left), self.comparison, each(self.right))


# Ranges --------------------------------------------------------------------------------------------------------------


Bounds = tuple[int | None, int | None]  # None is no limit


def scaled(bounds: Bounds, factor: int) -> Bounds:
    """The least and the largest product of a number in these bounds and a factor."""
    ends = tuple(None if end is None else end * factor for end in bounds)
    return ends if factor >= 0 else ends[::-1]


def added(number: int, terms: Sequence[Bounds]) -> Bounds:
    """The bounds of a sum of a number and of terms."""
    least, largest = (None if None in limits else sum(limits) for limits in zip((number, number), *terms))
    return least, largest


def bounds(expression: Expression, ranges: Mapping[str, ValueRange]) -> Bounds:
    """The least and the largest value of an expression, or limits of them. Source: `torch/utils/_sympy/value_ranges.py`."""
    sum_of_symbols = linear(expression)
    if sum_of_symbols is not None:
        terms = [scaled(tuple(ranges[symbol]), factor) for symbol, factor in sum_of_symbols[0].items()]
        return added(sum_of_symbols[1], terms)
    name, (low, high), (least, largest) = expression[0], *(bounds(side, ranges) for side in expression[1:])
    if least is None or least < 0 or low is None or low < 0 or (name != "*" and least == 0):
        return None, None
    if name == "*":
        return low * least, None if high is None or largest is None else high * largest
    if name == "//":
        return 0 if largest is None else low // largest, None if high is None else high // least
    return (0, None if largest is None else largest - 1) if name == "%" else (None, None)


def is_always_true(relation: Relation, ranges: Mapping[str, ValueRange]) -> bool:
    """Whether the ranges alone say that a relation holds.
    Source: `torch/fx/experimental/symbolic_shapes.py`, `ShapeEnv._maybe_evaluate_static`."""
    if linear(("-", relation.left, relation.right)) is not None:
        least, largest = bounds(("-", relation.left, relation.right), ranges)
    else:
        least, largest = added(0, [bounds(relation.left, ranges), scaled(bounds(relation.right, ranges), -1)])
    if relation.comparison == "==":
        return least == largest == 0
    if relation.comparison == "!=":
        return (least is not None and least > 0) or (largest is not None and largest < 0)
    end = least if relation.comparison in (">", ">=") else largest
    return end is not None and COMPARISONS[relation.comparison](end, 0)


def refined(relation: Relation, ranges: Mapping[str, ValueRange]) -> dict[str, ValueRange]:
    """Narrow the ranges to the sizes that fulfil a relation with at least one size of each other symbol.
    Source: `torch/fx/experimental/symbolic_shapes.py`, `ShapeEnv._refine_ranges`."""
    ranges, sum_of_symbols = dict(ranges), linear(("-", relation.left, relation.right))
    if sum_of_symbols is None or relation.comparison == "!=":
        return ranges
    for symbol, factor in sum_of_symbols[0].items():
        rest = [scaled(tuple(ranges[term]), -other) for term, other in sum_of_symbols[0].items() if term != symbol]
        least, largest = added(-sum_of_symbols[1], rest)  # factor * symbol compares with a number between these
        comparison = relation.comparison
        if factor < 0:
            least, largest = None if largest is None else -largest, None if least is None else -least
            factor, comparison = -factor, MIRRORED[comparison]
        lower, upper = ranges[symbol]
        if comparison in (">", ">=", "==") and least is not None:
            lower = max(lower, least // factor + 1 if comparison == ">" else -(-least // factor))
        if comparison in ("<", "<=", "==") and largest is not None:
            end = -(-largest // factor) - 1 if comparison == "<" else largest // factor
            upper = end if upper is None else min(upper, end)
        ranges[symbol] = ValueRange(lower, upper)
    return ranges


def relate(
    relations: list[Relation], symbols: Mapping[str, Symbol], ranges: Mapping[str, ValueRange]
) -> tuple[list[Relation], dict[str, ValueRange]]:
    """The relations that the ranges do not say already, and the ranges that they leave.

    Raises:
        ConstraintViolationError: a relation excludes sizes of a named `Dim`, whatever the other sizes are.
    """
    kept, limits = [], {name: ValueRange(max(lower, 2), upper) for name, (lower, upper) in ranges.items()}
    for relation in relations:
        if relation in kept or is_always_true(relation, limits):
            continue
        names, left = relation.symbols(), refined(relation, limits)
        for name in names:
            if isinstance(symbols[name].dim, Dim) and (len(names) == 1 or left[name] != limits[name]):
                raise ConstraintViolationError(f"Not all values of {symbols[name].dim!r} satisfy {relation}")
        kept.append(relation)
        limits = left
    named = {name for name in ranges if isinstance(symbols[name].dim, Dim)}
    return kept, {name: ranges[name] if name in named else limits[name] for name in ranges}
