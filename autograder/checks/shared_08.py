"""Shared by the checks of loops in phase 08: loop variables, and the numbers that an index takes.

An index, a loop nest and a statement have no counterpart in torch's Python, but torch can compute the same numbers. So a
program computes the numbers of an answer over all iterations of the loops, and torch those of the tensors.
"""

import gzip
import itertools
import json
import math
from functools import cache
from importlib import import_module

from .cases import drawn, listed, several
from .listing import Listing


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


_UNARY = {
    "neg": lambda xp, x: -x, "relu": lambda xp, x: x.relu(), "exp": lambda xp, x: (x * 0.25).exp(),
    "tanh": lambda xp, x: x.tanh(), "shift": lambda xp, x: x * 2 + 1, "clip": lambda xp, x: x.clamp(-1, 1),
    "choose": lambda xp, x: xp.where(x > 0, x, x * 0.5), "whole": lambda xp, x: x.floor().to(xp.int64).to(x.dtype),
    "sum": lambda xp, x: x.sum(), "mean": lambda xp, x: x.mean(-1, True) if x.dim() else x,
    "most": lambda xp, x: x.amax(0) if x.dim() else x, "softmax": lambda xp, x: x.softmax(-1) if x.dim() else x,
    "t": lambda xp, x: x.t() if x.dim() < 3 else x, "last": lambda xp, x: x[-1:] if x.dim() else x,
    "column": lambda xp, x: x.select(-1, 0) if x.dim() else x, "flat": lambda xp, x: x.reshape(-1)[:3],
    "turned": lambda xp, x: x.flip(0) if x.dim() else x, "wide": lambda xp, x: x.expand(3, 3),
}  # fmt: skip
_BINARY = {
    "add": lambda xp, x, y: x + y, "mul": lambda xp, x, y: x * y, "sub": lambda xp, x, y: x - y,
    "larger": lambda xp, x, y: xp.maximum(x, y), "below": lambda xp, x, y: (x < y).to(xp.float32),
    "both": lambda xp, x, y: xp.cat([x.expand(3, 3), y.expand(3, 3)])[2:5],
    "product": lambda xp, x, y: x.expand(3, 3) @ y.expand(3, 3),
}  # fmt: skip


def run_steps(xp, inputs, steps, results):
    values = list(inputs)
    for name, *numbers in steps:
        operands = [values[number % len(values)] for number in numbers]
        values.append((_UNARY | _BINARY)[name](xp, *operands))
    return [values[number % len(values)] for number in results]


def inputs_of(xp, shapes):
    inputs = []
    for number, sizes in enumerate(shapes):
        count = 3 ** sum(size == 3 for size in sizes)
        inputs.append(((xp.arange(count) * 5 + number) % 7).to(xp.float32).reshape(sizes) * 0.5 - 1.25)
    return inputs


def _programs(binary):
    """Small programs with these binary operations."""

    def steps(st):
        one, two = listed(list(_UNARY), (0, 9)), listed(binary, (0, 9), (0, 9))
        return st.lists(st.one_of(one(st), two(st)), min_size=1, max_size=9)

    shapes = several([[3, 3], [3], [3, 1], [1, 3], []], 1, 3)
    return drawn(shapes=shapes, steps=steps, results=several((0, 9), 1, 2))


_SOFTMAX = [[3, 3]], [["shift", 0], ["relu", 1], ["softmax", 2]], [3]


def as_code(torch, shapes, steps, results):
    """A program as code."""
    page = Listing(torch, __name__)
    for number, (sizes, x) in enumerate(zip(shapes, inputs_of(torch, shapes))):
        numbers = f"((torch.arange({x.numel()}) * 5 + {number}) % 7).to(torch.float32)"
        page.add(f"{numbers}.reshape({sizes}) * 0.5 - 1.25", x)
    for name, *operands in steps:
        made = run_steps(torch, page.values, [[name, *operands]], [-1])
        page.add(page.operation(name, operands[0], operands[-1]), made[0])
    return "\n".join([*page.lines, f"results = {page.names(results)}"])


def eager(torch, shapes, steps, results):
    return [result.clone() for result in run_steps(torch, inputs_of(torch, shapes), steps, results)]


def _torch_dumps():
    """The module that only the judge has."""
    from ..engine import torch_dumps

    return torch_dumps


@cache
def modules():
    """The recorded modules by name. Only the judge reads the file."""
    path = import_module("autograder.course").READINGS / "recorded" / "stand_in" / "triton.json.gz"
    return {module["name"]: module for module in json.loads(gzip.decompress(path.read_bytes()))["modules"]}
