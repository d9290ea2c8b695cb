"""Index expressions: the position in a buffer that an iteration of a loop reads or writes.

An `Index` is a sum of loop variables, each times a whole number, plus an offset: `600*i0 + i1 + 3`. A view is only another index
expression, so it costs nothing. A reshape that cuts across dimensions adds quotients and remainders of indices to the terms. Sizes
are known, so most of these simplify away. In PyTorch: sympy expressions, `torch/_inductor/sizevars.py`, and `FloorDiv` and
`ModularIndexing` of `torch/utils/_sympy/functions.py`. Left out: symbolic sizes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from operator import mul
from typing import Any

# Terms and sums of them ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Symbol:
    """A loop variable: a whole number from 0 to `size` - 1."""

    name: str
    size: int

    symbols = property(lambda self: frozenset([self]))

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Division:
    """The result of dividing an index by a whole number."""

    base: Index
    divisor: int

    symbols = property(lambda self: self.base.symbols)


class Quotient(Division):
    """`base // divisor`, rounded down."""

    def __str__(self) -> str:
        return f"({self.base})//{self.divisor}"


class Remainder(Division):
    """`base % divisor`, from 0 to `divisor` - 1."""

    def __str__(self) -> str:
        return f"({self.base})%{self.divisor}"


@dataclass(frozen=True)
class Indirect:
    """A number from 0 to `size` - 1 that is read from memory, as the indices of `gather` and of embeddings are."""

    value: Any  # an `ir.Expr`
    size: int

    symbols = property(lambda self: self.value.symbols)

    def __str__(self) -> str:
        return f"[{self.value}]"


Term = Symbol | Quotient | Remainder | Indirect


@dataclass(frozen=True)
class Index:
    """`offset` plus the sum of each term times its coefficient. Indices that are the same sum are equal.

    `terms` has every term once, none with coefficient 0, in the order of their texts. Make an index by adding, and by multiplying
    with whole numbers: `Index.of(i) * 3 + 1`.
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
        """The loop variables that the index depends on, also inside quotients and through memory."""
        return frozenset().union(*(term.symbols for term, _ in self.terms))

    @property
    def is_affine(self) -> bool:
        """Return whether all terms are loop variables."""
        return all(isinstance(term, Symbol) for term, _ in self.terms)

    def __str__(self) -> str:
        parts = [_product(term, coefficient) for term, coefficient in self.terms]
        return " + ".join(parts + ([str(self.offset)] if self.offset or not parts else []))


ZERO = Index()


def _product(term: Term, coefficient: int) -> str:
    """A term times its coefficient as Python reads it: `4*((i0)%2)`, because `4*(i0)%2` is another number."""
    if coefficient == 1:
        return str(term)
    return f"{coefficient}*({term})" if isinstance(term, Division) else f"{coefficient}*{term}"


def _sum(counts: dict[Term, int], offset: int) -> Index:
    """The index of these terms. `n * (x // n) + x % n` becomes `x`."""
    for term, coefficient in list(counts.items()):
        if isinstance(term, Remainder) and coefficient:
            whole = Quotient(term.base, term.divisor)
            if counts.get(whole) == coefficient * term.divisor:
                del counts[term], counts[whole]
                return _sum(counts, offset) + term.base * coefficient
    kept = ((term, coefficient) for term, coefficient in counts.items() if coefficient)
    return Index(tuple(sorted(kept, key=lambda pair: str(pair[0]))), offset)


def bounds(index: Index) -> tuple[int, int]:
    """The least and the greatest value that an index can have, by the bounds of each term alone."""
    low = high = index.offset
    for term, coefficient in index.terms:
        least, most = 0, getattr(term, "size", getattr(term, "divisor", 1)) - 1
        if isinstance(term, Quotient):
            least, most = (end // term.divisor for end in bounds(term.base))
        ends = least * coefficient, most * coefficient
        low, high = low + min(ends), high + max(ends)
    return low, high


def raised_base(term: Division) -> tuple[Index, int]:
    """The base of a division plus some divisors, so that it is never negative, and the number of these divisors. C++ and Triton
    round a quotient towards 0, and `Quotient` rounds it down."""
    lift = max(0, -(bounds(term.base)[0] // term.divisor))
    return term.base + lift * term.divisor, lift


def evaluate(index: Index, values: Mapping[Symbol, int], read: Callable[[Any], int] | None = None) -> int:
    """The value of an index for these values of the loop variables. `read` gives the value of an `Indirect` term."""
    total = index.offset
    for term, coefficient in index.terms:
        if isinstance(term, Symbol):
            number = values[term]
        elif isinstance(term, Indirect):
            number = read(term.value)
        else:
            base = evaluate(term.base, values, read)
            number = base // term.divisor if isinstance(term, Quotient) else base % term.divisor
        total += coefficient * number
    return total


def substitute(index: Index, values: Mapping[Symbol, Any], inside: Callable[[Any], Any] = lambda value: value) -> Index:
    """The index with other indices for its loop variables. `inside` does the same for values read from memory."""
    total = Index((), index.offset)
    for term, coefficient in index.terms:
        if isinstance(term, Symbol):
            new = Index.of(values.get(term, term))
        elif isinstance(term, Indirect):
            new = Index.of(Indirect(inside(term.value), term.size))
        else:
            divide = quotient if isinstance(term, Quotient) else remainder
            new = divide(substitute(term.base, values, inside), term.divisor)
        total = total + new * coefficient
    return total


def symbols(prefix: str, sizes: Sequence[int]) -> list[Symbol]:
    """A loop variable for each size: `i0`, `i1`, ..."""
    return [Symbol(f"{prefix}{number}", size) for number, size in enumerate(sizes)]


# Views ---------------------------------------------------------------------------------------------------------------


def element_index(indices: Sequence[Index], strides: Sequence[int], offset: int) -> Index:
    """The position in its buffer of the element at `indices` of a strided tensor.

    Args:
        indices: a list or tuple with one `Index` for each dimension.
        strides: a list or tuple, of each dimension, in elements; 0 for an expanded dimension.
        offset: of the first element, in elements.

    Returns:
        an `Index`, also if there are no dimensions: `Index.of(offset)` is the index of a whole number. Add indices with `+`, and
        multiply them by whole numbers with `*`.

    >>> i, j = (Index.of(symbol) for symbol in symbols("i", (4, 6)))
    >>> print(element_index([i, j], (1, 6), 2))
    i0 + 6*i1 + 2

    Source: `torch/_inductor/ir.py`, `FixedLayout.make_indexer`.
    """
    total = Index.of(offset)
    for index, stride in zip(indices, strides):
        total = total + index * stride
    return total


def quotient(index: Index, divisor: int) -> Index:
    """`index // divisor`, rounded down, as simple as the bounds of the index allow. `divisor` is at least 1.

    The index is the sum of two parts: `divisor` times a *whole* index, and the *rest*. The whole index has all terms whose
    coefficients are multiples of `divisor`, and so much of the offset that the offset of the rest is at least 0 and less than
    `divisor`. If by its `bounds` the rest is at least 0 and less than `divisor`, the result is the whole index. Otherwise the
    result is the whole index plus one term, `Quotient(rest, divisor)`. Indices and terms are added with `+`.

    `divided(index, divisor)` gives the two indices, whole and rest. `bounds(index)` gives the least and the greatest value.

    >>> i, j, k = (Index.of(symbol) for symbol in symbols("i", (3, 4, 5)))
    >>> print(quotient(i * 12 + j, 4), " and ", quotient(i * 12 + k, 4))
    3*i0  and  (i2)//4 + 3*i0

    Source: `torch/_inductor/sizevars.py`, `simplify_with_ranges`; `torch/utils/_sympy/functions.py`, `FloorDiv.eval`.
    """
    whole, rest = divided(index, divisor)
    low, high = bounds(rest)
    if low >= 0 and high < divisor:
        return whole
    return whole + Quotient(rest, divisor)


def divided(index: Index, divisor: int) -> tuple[Index, Index]:
    """The whole index and the rest, with `index == divisor * whole + rest`; `divisor` divides no term of the rest."""
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
    """The indices in a tensor of `sizes` of the element at `indices` in the same tensor reshaped to `new_sizes`.

    Both are row-major orders of the same elements: the last dimension varies fastest, whatever the strides are.

    Args:
        indices: a list or tuple with one `Index` for each of `new_sizes`.
        sizes, new_sizes: of any numbers of dimensions, with the same product, which is not 0.

    Returns:
        a list or tuple with one `Index` for each of `sizes`, made with `+`, `*`, and `quotient` and `remainder` of an index and a
        divisor, which use the bounds of an index. An answer that can be a sum of loop variables contains no division.

    >>> (i,) = (Index.of(symbol) for symbol in symbols("i", (6,)))
    >>> print(*reshaped_indices([i], (2, 3), (6,)), sep=" and ")
    (i0)//3 and (i0)%3

    Source: `torch/_inductor/ir.py`, `View.dynamic_reshape_indexer`.
    """
    position = ZERO
    for index, size in zip(indices, new_sizes):
        position = position * size + index
    reshaped, step = [], math.prod(sizes)
    for size in sizes:
        step //= size
        reshaped.append(remainder(quotient(position, step), size))
    return reshaped


# Loops ---------------------------------------------------------------------------------------------------------------


def merge_dims(sizes: Sequence[int], strides: Sequence[Sequence[int]]) -> list[list[int]]:
    """The groups of nested loops that can be merged into one loop each.

    Two loops, one directly inside the other, are one loop if this loop visits the same elements in the same order, in every
    access.

    Args:
        sizes: a list or tuple: iterations of each loop, the outermost first; none is 0.
        strides: a list or tuple: for each access the strides of the loops, a list or tuple as long as `sizes`. A stride is the
            number of elements that the access moves with one iteration of the loop, negative if it moves backwards.

    Returns:
        a list of the loops that remain, outermost first: for each a list or tuple of the numbers of the loops in it, in order.
        No two neighbours in the answer can be merged further. If all loops have one iteration, or there are none: `[]`.

    >>> merge_dims((8, 4, 6), [(24, 6, 1), (0, 6, 1)])
    [[0], [1, 2]]
    >>> merge_dims((4, 6), [(1, 4)])
    [[0], [1]]

    Rules:
        The loop `outer` and the loop `inner` directly inside it, of n iterations, are one loop of `size of outer * n` iterations
        if for every access the stride of `outer` is n times the stride of `inner`. Loops of one iteration disappear: they are not
        in the answer, whatever their strides are, and do not separate the loops around them.

    Source: `torch/_inductor/sizevars.py`, `SizeVarAllocator._simplify_loops`.
    """
    merged = []
    for dim, size in enumerate(sizes):
        if size == 1:
            continue
        if merged and all(access[merged[-1][-1]] == size * access[dim] for access in strides):
            merged[-1].append(dim)
        else:
            merged.append([dim])
    return merged


def stride_of(index: Index, symbol: Symbol) -> int | None:
    """The number of elements that an index moves with one iteration of a loop; None if that number varies."""
    total = 0
    for term, coefficient in index.terms:
        if term == symbol:
            total += coefficient
        elif symbol in term.symbols:
            return None
    return total


def refinement(*loops: Sequence[int]) -> list[int] | None:
    """The coarsest loops into which nests of the same number of iterations can all be cut, row-major; None if there are none.
    `[6, 4]` and `[2, 12]` are cut into `[2, 3, 4]`. `[6, 4]` and `[4, 6]` have no common refinement."""
    cuts = sorted({1}.union(*(accumulate(reversed(sizes), mul) for sizes in loops)))
    if any(after % before for before, after in pairwise(cuts)):
        return None
    return [after // before for before, after in pairwise(cuts)][::-1]


def reindex_loops(loops: Iterable[Symbol], fine: Sequence[Symbol]) -> dict[Symbol, Index]:
    """The index of each of these loop variables in the finer loops into which their loops are cut."""
    waiting, values = list(fine), {}
    for symbol in loops:
        value, size = ZERO, 1
        while size < symbol.size:
            part = waiting.pop(0)
            value, size = value * part.size + part, size * part.size
        values[symbol] = value
    return values
