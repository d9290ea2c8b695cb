"""Index expressions: where in a buffer an iteration of a loop reads or writes.

An `Index` is a sum of loop variables, each times a whole number, plus an offset: `600*i0 + i1 + 3`. A view needs no more than
another index expression, so it costs nothing. Where a reshape cuts across dimensions, quotients and remainders of indices
join the terms; sizes are known, so most of them simplify away. In PyTorch: sympy expressions, `torch/_inductor/sizevars.py`,
and `FloorDiv` and `ModularIndexing` of `torch/utils/_sympy/functions.py`. Left out: symbolic sizes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

# ------------------------------------------------------------------------------------------------------------
# Terms and sums of them


@dataclass(frozen=True)
class Symbol:
    """A loop variable: a whole number, 0 <= it < `size`."""

    name: str
    size: int

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Quotient:
    """`base // divisor`, rounded down."""

    base: Index
    divisor: int

    def __str__(self) -> str:
        return f"({self.base})//{self.divisor}"


@dataclass(frozen=True)
class Remainder:
    """`base % divisor`: 0 <= it < divisor."""

    base: Index
    divisor: int

    def __str__(self) -> str:
        return f"({self.base})%{self.divisor}"


@dataclass(frozen=True)
class Indirect:
    """A number that is itself read from memory, 0 <= it < `size`: what `gather` and embedding tables are indexed by."""

    value: Any  # an `ir.Expr`
    size: int

    def __str__(self) -> str:
        return f"[{self.value}]"


Term = Symbol | Quotient | Remainder | Indirect


@dataclass(frozen=True)
class Index:
    """`offset` plus the sum of each term times its coefficient; two that are the same sum are equal.

    `terms` has every term once, none with coefficient 0, in the order of their texts: make one by adding, and by multiplying with
    whole numbers: `Index.of(i) * 3 + 1`.
    """

    terms: tuple[tuple[Term, int], ...] = ()
    offset: int = 0

    @staticmethod
    def of(value: Index | Term | int) -> Index:
        if isinstance(value, Index):
            return value
        if isinstance(value, int):
            return Index((), value)
        if isinstance(value, Symbol) and value.size == 1:
            return ZERO
        return Index(((value, 1),), 0)

    def __add__(self, other: Index | Term | int) -> Index:
        other = Index.of(other)
        if not other.terms:
            return Index(self.terms, self.offset + other.offset) if other.offset else self
        counts = dict(self.terms)
        for term, coefficient in other.terms:
            counts[term] = counts.get(term, 0) + coefficient
        return _sum(counts, self.offset + other.offset)

    __radd__ = __add__

    def __mul__(self, factor: int) -> Index:
        if factor == 0:
            return ZERO
        return Index(tuple((term, coefficient * factor) for term, coefficient in self.terms), self.offset * factor)

    __rmul__ = __mul__

    def __sub__(self, other: Index | Term | int) -> Index:
        return self + Index.of(other) * -1

    @cached_property
    def symbols(self) -> frozenset[Symbol]:
        """The loop variables that it depends on, also inside quotients and through memory."""
        found: set[Symbol] = set()
        for term, _ in self.terms:
            if isinstance(term, Symbol):
                found.add(term)
            else:
                found |= term.value.symbols if isinstance(term, Indirect) else term.base.symbols
        return frozenset(found)

    @property
    def is_affine(self) -> bool:
        """Whether loop variables are its only terms."""
        return all(isinstance(term, Symbol) for term, _ in self.terms)

    def __str__(self) -> str:
        parts = [str(term) if coefficient == 1 else f"{coefficient}*{term}" for term, coefficient in self.terms]
        return " + ".join(parts + ([str(self.offset)] if self.offset or not parts else []))


ZERO = Index()


def _sum(counts: dict[Term, int], offset: int) -> Index:
    """The index of these terms. `n * (x // n) + x % n` is put together again to `x`."""
    for term, coefficient in list(counts.items()):
        if isinstance(term, Remainder) and coefficient:
            whole = Quotient(term.base, term.divisor)
            if counts.get(whole) == coefficient * term.divisor:
                del counts[term], counts[whole]
                return _sum(counts, offset) + term.base * coefficient
    kept = ((term, coefficient) for term, coefficient in counts.items() if coefficient)
    return Index(tuple(sorted(kept, key=lambda pair: str(pair[0]))), offset)


def bounds(index: Index) -> tuple[int, int]:
    """The least and the greatest value that an index could have, going by the bounds of each of its terms alone."""
    low = high = index.offset
    for term, coefficient in index.terms:
        least, most = 0, getattr(term, "size", getattr(term, "divisor", 1)) - 1
        if isinstance(term, Quotient):
            least, most = (end // term.divisor for end in bounds(term.base))
        ends = least * coefficient, most * coefficient
        low, high = low + min(ends), high + max(ends)
    return low, high


def evaluate(index: Index, values: Mapping[Symbol, int], read: Callable[[Any], int] | None = None) -> int:
    """The number that an index is for these values of the loop variables; `read` gives what comes from memory."""
    total = index.offset
    for term, coefficient in index.terms:
        if isinstance(term, Symbol):
            number = values[term]
        elif isinstance(term, Indirect):
            number = read(term.value)
        elif isinstance(term, Quotient):
            number = evaluate(term.base, values, read) // term.divisor
        else:
            number = evaluate(term.base, values, read) % term.divisor
        total += coefficient * number
    return total


def substitute(
    index: Index, values: Mapping[Symbol, Index | int], inside: Callable[[Any], Any] = lambda value: value
) -> Index:
    """The index with other indices in place of loop variables; `inside` does the same to what is read from memory."""
    total = Index((), index.offset)
    for term, coefficient in index.terms:
        if isinstance(term, Symbol):
            new = Index.of(values.get(term, term))
        elif isinstance(term, Indirect):
            new = Index.of(Indirect(inside(term.value), term.size))
        elif isinstance(term, Quotient):
            new = quotient(substitute(term.base, values, inside), term.divisor)
        else:
            new = remainder(substitute(term.base, values, inside), term.divisor)
        total = total + new * coefficient
    return total


def symbols(prefix: str, sizes: Sequence[int]) -> list[Symbol]:
    """A loop variable for each size: `i0`, `i1`, ..."""
    return [Symbol(f"{prefix}{number}", size) for number, size in enumerate(sizes)]


# ------------------------------------------------------------------------------------------------------------
# Views


def element_index(indices: Sequence[Index], strides: Sequence[int], offset: int) -> Index:
    """Where the element at `indices` of a strided tensor lies in its buffer.

    Args:
        indices: one `Index` for each dimension.
        strides: of each dimension, in elements; 0 for a dimension that was expanded.
        offset: of the first element, in elements.

    Returns:
        an `Index`, also if there are no dimensions: `Index.of(offset)` is that of a whole number. Indices are added with `+`
        and multiplied by whole numbers with `*`.

    Source: `torch/_inductor/ir.py`, `FixedLayout.make_indexer`.
    """
    total = Index.of(offset)
    for index, stride in zip(indices, strides):
        total = total + index * stride
    return total


def quotient(index: Index, divisor: int) -> Index:
    """`index // divisor`, rounded down, as simple as the bounds of the index allow. `divisor` is at least 1.

    The index is taken as two sums: `divisor` times a *whole* index (of all terms whose coefficient it divides, and of as much
    of the offset as it can, so that what stays is at least 0 and less than it), and the *rest*. If by its `bounds` the rest
    is at least 0 and less than `divisor`, the whole index is the answer. Otherwise it is that plus one term, the
    `Quotient(rest, divisor)`: indices and terms are added with `+`.

    `divided(index, divisor)` gives the two indices, whole and rest; `bounds(index)` the least and the greatest value.

    So `(12*i + j) // 4` with `j` of size 4 is `3*i`, and with `j` of size 5 it is `3*i + j//4`.

    Source: `torch/_inductor/sizevars.py`, `simplify_with_ranges`; `torch/utils/_sympy/functions.py`, `FloorDiv.eval`.
    """
    whole, rest = divided(index, divisor)
    low, high = bounds(rest)
    if low >= 0 and high < divisor:
        return whole
    return whole + Quotient(rest, divisor)


def divided(index: Index, divisor: int) -> tuple[Index, Index]:
    """A whole index and a rest, with `index == divisor * whole + rest`: the rest has the terms that `divisor` does not divide."""
    inside = [(term, coefficient) for term, coefficient in index.terms if coefficient % divisor]
    outside = [(term, coefficient // divisor) for term, coefficient in index.terms if coefficient % divisor == 0]
    return Index(tuple(outside), index.offset // divisor), Index(tuple(inside), index.offset % divisor)


def remainder(index: Index, divisor: int) -> Index:
    """`index % divisor`, at least 0, as simple as the bounds of the index allow. `divisor` is at least 1."""
    _, rest = divided(index, divisor)
    low, high = bounds(rest)
    if low >= 0 and high < divisor:
        return rest
    for term, coefficient in rest.terms:  # the remainder of a remainder: x % 12 % 4 is x % 4
        if isinstance(term, Remainder) and coefficient * term.divisor % divisor == 0:
            return remainder(rest + (term.base - term) * coefficient, divisor)
    return Index.of(Remainder(rest, divisor))


def reshaped_indices(indices: Sequence[Index], sizes: Sequence[int], new_sizes: Sequence[int]) -> list[Index]:
    """Which element of a tensor of `sizes` is the element at `indices` of the same tensor reshaped to `new_sizes`.

    Both are row-major orders of the same elements: the last dimension goes fastest, whatever the strides are.

    Args:
        indices: one `Index` for each of `new_sizes`.
        sizes, new_sizes: of any numbers of dimensions, with the same product, which is not 0.

    Returns:
        one `Index` for each of `sizes`, made with `+`, `*`, `quotient(index, divisor)` and `remainder(index, divisor)`, which
        know the bounds of an index: no division is left in an answer that is a sum of loop variables without one.

    Source: `torch/_inductor/ir.py`, `View.dynamic_reshape_indexer`.
    """
    position = ZERO
    for index, size in zip(indices, new_sizes):
        position = position * size + index
    found, step = [], math.prod(sizes)
    for size in sizes:
        step //= size
        found.append(remainder(quotient(position, step), size))
    return found


# ------------------------------------------------------------------------------------------------------------
# Loops


def merge_dims(sizes: Sequence[int], strides: Sequence[Sequence[int]]) -> list[list[int]]:
    """Which nested loops can be written as one, because every access goes on evenly from each row to the next.

    A loop `outer` and the loop `inner` directly inside it, of n iterations, are one loop of `size of outer * n` iterations if
    for every access the stride of `outer` is n times the stride of `inner`. Loops of one iteration disappear: whatever their
    strides are, they are not in the answer and stand between no two others.

    Args:
        sizes: iterations of each loop, the outermost first; none is 0.
        strides: for each access, by how many elements it moves when each loop goes on by one, below 0 where it goes
            backwards; as long as `sizes`.

    Returns:
        the loops that remain, outermost first: each a list of the numbers of the loops it is made of, in order. No two
        neighbours in the answer can be merged any further. Only loops of one iteration (or none at all): `[]`.

    Source: `torch/_inductor/sizevars.py`, `SizeVarAllocator._simplify_loops`.
    """
    merged = []
    for dim, size in enumerate(sizes):
        if size == 1:
            continue
        if merged and all(each[merged[-1][-1]] == size * each[dim] for each in strides):
            merged[-1].append(dim)
        else:
            merged.append([dim])
    return merged


def stride_of(index: Index, symbol: Symbol) -> int | None:
    """By how many elements an index moves when a loop variable goes on by one; None where that is not always the same."""
    total = 0
    for term, coefficient in index.terms:
        if term == symbol:
            total += coefficient
        elif not isinstance(term, Symbol) and symbol in (
            term.value.symbols if isinstance(term, Indirect) else term.base.symbols
        ):
            return None
    return total


def refinement(*loops: Sequence[int]) -> list[int] | None:
    """The fewest loops into which nests of the same number of iterations can all be cut, row-major; None if there are none.

    `[6, 4]` and `[2, 12]` are cut into `[2, 3, 4]`; `[6, 4]` and `[4, 6]` cannot be.
    """
    steps = set()
    for sizes in loops:
        step = 1
        for size in reversed(sizes):
            step *= size
            steps.add(step)
    cuts = sorted(steps | {1})
    if any(after % before for before, after in zip(cuts, cuts[1:])):
        return None
    return [after // before for before, after in zip(cuts, cuts[1:])][::-1]


def spread(loops: Iterable[Symbol], fine: Sequence[Symbol]) -> dict[Symbol, Index]:
    """Each of these loop variables in terms of finer ones, into which their loops are cut."""
    waiting, values = list(fine), {}
    for symbol in loops:
        value, size = ZERO, 1
        while size < symbol.size:
            part = waiting.pop(0)
            value, size = value * part.size + part, size * part.size
        values[symbol] = value
    return values
