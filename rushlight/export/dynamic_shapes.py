"""Dynamic dimensions: sizes that may differ from call to call, as far as the guards of the program allow it.

An export runs the program once, with example inputs. A size that the user marks as dynamic is a symbol. If the program compares
it, the comparison has a result for the example, and the result is a *guard*. `constraints` turns the guards into ranges, or says
that the program cannot have the sizes that the user has marked.

In PyTorch: `torch/export/dynamic_shapes.py`, `torch/fx/experimental/symbolic_shapes.py`. Left out: derived dimensions (`2 * b`),
`ShapesCollection`, sizes that depend on data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class UserError(Exception):
    """A wish that an export cannot meet. Source: `torch/_dynamo/exc.py`, `UserError`."""


class ConstraintViolationError(UserError):
    """The program is not valid for all sizes of a dynamic dimension. Source: `torch/fx/experimental/symbolic_shapes.py`."""


class GuardOnDataDependentSymNode(RuntimeError):
    """The program branches on data. Source: `torch/fx/experimental/symbolic_shapes.py`."""


class DimHint(NamedTuple):
    """A size without a name: `Dim.AUTO`, `Dim.DYNAMIC` or `Dim.STATIC`.
    Source: `torch/export/dynamic_shapes.py`, `_DimHint`."""

    type: str

    def __repr__(self) -> str:
        return f"Dim.{self.type}"


class Dim:
    """A dimension with a name and a range of sizes. Source: `torch/export/dynamic_shapes.py`, `Dim`."""

    AUTO, DYNAMIC, STATIC = DimHint("AUTO"), DimHint("DYNAMIC"), DimHint("STATIC")

    def __init__(self, name: str, *, min: int | None = None, max: int | None = None) -> None:
        if not name.isidentifier():
            raise ValueError(f"Dim name must be a valid identifier, got {name}")
        self.__name__, self.min, self.max = name, min or 0, max
        if max is not None and max <= self.min:
            raise AssertionError(f"Cannot create Dim with inconsistent min={self.min}, max={max}")

    def _derived(self, other: int) -> Dim:
        raise NotImplementedError(f"derived dimensions are left out: {self.__name__} and {other}")

    __add__ = __radd__ = __sub__ = __mul__ = __rmul__ = _derived

    def __repr__(self) -> str:
        ends = [f"{name}={end}" for name, end in (("min", self.min or None), ("max", self.max)) if end is not None]
        return f"Dim({', '.join([repr(self.__name__), *ends])})"


class Symbol(NamedTuple):
    """A size that may change: its value in the example, and the user's `Dim` or hint."""

    hint: int
    dim: Dim | DimHint


class Guard(NamedTuple):
    """A comparison that holds for the example: of a symbol with a number, or with another symbol."""

    symbol: str
    comparison: str
    other: int | str

    def __str__(self) -> str:
        return f"{self.symbol} {self.comparison} {self.other}"


class ValueRange(NamedTuple):
    """The least and the largest size. None is no limit. Source: `torch/utils/_sympy/value_ranges.py`."""

    lower: int
    upper: int | None

    def __str__(self) -> str:
        return f"VR[{self.lower}, {'int_oo' if self.upper is None else self.upper}]"


def narrow(range: ValueRange, comparison: str, number: int) -> ValueRange:
    """The part of a range that a comparison with a number allows. "!=" does not change a range."""
    lower, upper = range
    if comparison in (">", ">=", "=="):
        lower = max(lower, number + (comparison == ">"))
    if comparison in ("<", "<=", "=="):
        least = number - (comparison == "<")
        upper = least if upper is None else min(upper, least)
    return ValueRange(lower, upper)


def intersection(first: ValueRange, second: ValueRange) -> ValueRange:
    """The sizes that are in both ranges."""
    lower, upper = second
    return narrow(narrow(first, ">=", lower), "<=", upper) if upper is not None else narrow(first, ">=", lower)


def contains(range: ValueRange, number: int) -> bool:
    """Whether a range has this size."""
    lower, upper = narrow(range, "==", number)
    return lower <= upper


def constraints(symbols: Mapping[str, Symbol], guards: Sequence[Guard]) -> dict[str, int | ValueRange]:
    """Return the sizes that an exported program accepts, from its guards: for each symbol its size, if there is only one, or
    else its range.

    `symbols` is a dict of `Symbol(hint, dim)`. `hint` is the size in the example. All guards hold for it, so you do not need it.
    `dim` is `Dim.AUTO`, `Dim.DYNAMIC`, or a named `Dim`, which is an object of the class `Dim`. It has `min`, an int, and `max`, an
    int, or None for no limit. `guards` is a list or a tuple of `Guard(symbol, comparison, other)`. The other side is a number, or,
    if the comparison is "==", perhaps another symbol. The order of the guards does not matter.

    1. The range of a symbol begins at 2, because an export treats 0 and 1 as special sizes. With a named `Dim` it is the part of
       `min` to `max` from 2 on. (This part always has more than one size here.)
    2. Symbols that a guard says are equal, directly or through others, are one size. All of them have the intersection of their
       ranges.
    3. A comparison with a number narrows the range, except "!=": `narrow(range, comparison, number)` is the new range.
    4. If one size is left, the symbols are *specialised* to it.

    The program is refused in three cases: a symbol with `Dim.DYNAMIC` is specialised. Or the range of a named `Dim` is not that of
    step 1 any more, or "!=" excludes a size in it. Or two symbols with a named `Dim` are equal. (They have different names.) For
    `Dim.AUTO` every range is right. What "!=" excludes from a range without a named `Dim` is tested when the program runs.

    Returns:
        a dict with all symbols, in the same order. If the symbol has a named `Dim`, its range is `ValueRange(min, max)`, also if
        `min` is 0 or 1. (Here `min` is 2 or more if a guard says that another symbol is equal.)

    Raises:
        ConstraintViolationError: the program is refused.

    >>> symbols = {"s0": Symbol(8, Dim.AUTO), "s1": Symbol(8, Dim("batch", max=64))}
    >>> constraints(symbols, [Guard("s0", ">", 4)])
    {'s0': ValueRange(lower=5, upper=None), 's1': ValueRange(lower=0, upper=64)}

    Source: `torch/fx/experimental/symbolic_shapes.py`, `ShapeEnv.produce_guards`, `DimConstraints`.
    """
    groups = {name: {name} for name in symbols}
    for guard in guards:
        if isinstance(guard.other, str):
            joined = groups[guard.symbol] | groups[guard.other]
            groups |= dict.fromkeys(joined, joined)
    values = {}
    for name, group in groups.items():
        dims = [symbols[member].dim for member in group]
        named = [dim for dim in dims if isinstance(dim, Dim)]
        if len(named) > 1:
            raise ConstraintViolationError(f"The values of {named[0]!r} and {named[1]!r} must always be equal")
        wanted = ValueRange(2, None)
        for dim in named:
            wanted = intersection(wanted, ValueRange(dim.min, dim.max))
        allowed, excluded = wanted, []
        for guard in guards:
            if guard.symbol in group and guard.comparison == "!=":
                excluded.append(guard.other)
            elif guard.symbol in group and not isinstance(guard.other, str):
                allowed = narrow(allowed, guard.comparison, guard.other)
        if named and (allowed != wanted or any(contains(wanted, number) for number in excluded)):
            raise ConstraintViolationError(f"Not all values of {named[0]!r} satisfy the guards of {name}")
        values[name] = ValueRange(named[0].min, named[0].max) if named else allowed
        if allowed.lower == allowed.upper:
            if Dim.DYNAMIC in dims:
                raise ConstraintViolationError(
                    f"You marked {name} as dynamic but your code specialized it to {allowed.lower}"
                )
            values[name] = allowed.lower
    return values
