"""What the checks of loops in lab 08 share: loop variables, and the numbers that an index takes.

An index, a loop nest and a statement have no counterpart in torch's Python, but torch can compute the same numbers. So a
program computes the numbers of an answer over all iterations of the loops, and torch those of the tensors.
"""

import itertools
import math


def first_line(mine, theirs):
    """For hints: the first line in which two lists differ."""
    if not isinstance(mine, list) or not isinstance(theirs, list) or mine == theirs:
        return None
    both = min(len(mine), len(theirs))
    number = next((n for n in range(both) if mine[n] != theirs[n]), both)
    right = theirs[number] if number < len(theirs) else "none"
    return f"line {number}, counted from 0, is the first that differs; torch has {right}"


def symbols(xp, sizes, prefix="i"):
    return xp.inductor.index.symbols(prefix, sizes)


def numbers(xp, index, variables):
    """The value of an index in every iteration. There is none for another object."""
    if not is_index(xp, index):
        return []
    points = itertools.product(*(range(variable.size) for variable in variables))  # the last varies fastest
    return [xp.inductor.index.evaluate(index, dict(zip(variables, point))) for point in points]


def divisions(xp, index):
    """How many quotients and remainders are in an index, also in one another."""
    kinds = xp.inductor.index.Quotient, xp.inductor.index.Remainder
    return sum(1 + divisions(xp, term.base) for term, _ in index.terms if isinstance(term, kinds))


def is_index(xp, value):
    return type(value) is xp.inductor.index.Index


def shapes(st, most=4, dims=3, least=1):
    return st.lists(st.integers(least, most), max_size=dims)


def tensor_of(xp, sizes, dtype, start):
    """A tensor of small numbers, some of them equal, some negative if the dtype is signed."""
    numbers = (xp.arange(math.prod(sizes)) * 7 + start) % 11
    if dtype == "bool":
        return (numbers % 2).to(xp.bool).reshape(sizes)
    if dtype == "uint8":
        return (numbers * 20).to(xp.uint8).reshape(sizes)
    if dtype in ("int32", "int64"):
        return (numbers - 5).to(getattr(xp, dtype)).reshape(sizes)
    return ((numbers - 5).to(getattr(xp, dtype)) * 0.375).reshape(sizes)
