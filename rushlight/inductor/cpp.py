"""C++ for a kernel: loops, and in them one statement for each value.

A value that two results share is computed once: it gets a name where it is first met. What does not change along a row is
computed before the loop over the row. `#pragma omp simd` says that the iterations of an inner loop are independent, so that
the compiler takes several at a time. The functions that kernels call are in `cpp_prelude.py`. In PyTorch:
`torch/_inductor/codegen/cpp.py` (`CppKernel`, `CppVecKernel`, `KernelGroup`). Left out: vector intrinsics; the compiler
vectorises these loops itself.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rushlight.c10.dtypes import bool_, dtype, float32, float64, int32, int64, uint8
from rushlight.inductor.cpp_prelude import FLAGS, PRELUDE  # noqa: F401  (what a translation unit begins with, and its flags)
from rushlight.inductor.index import (
    Index,
    Indirect,
    Quotient,
    Symbol,
    bounds,
)
from rushlight.inductor.ir import Constant, Expr, Load, Op, Position

if TYPE_CHECKING:
    pass

TYPES = {bool_: "bool", uint8: "uint8_t", int32: "int32_t", int64: "int64_t", float32: "float", float64: "double"}

# ------------------------------------------------------------------------------------------------------------
# Values

INFIX = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
    "bitand": "&", "bitor": "|", "bitxor": "^", "and": "&", "or": "|",
}  # fmt: skip
PREFIX = {"neg": "-", "not": "!", "bitnot": "~"}


def literal(value: bool | int | float, dtype: dtype) -> str:
    """A number as C++ writes it in a dtype."""
    if dtype is bool_:
        return "true" if value else "false"
    if not dtype.is_floating_point:
        return f"INT64_C({value})" if dtype is int64 and value > -(2**63) else f"{TYPES[dtype]}({value})"
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return repr(float(value)) + ("f" if dtype is float32 else "")


def operation(name: str, args: Sequence[str], dtype: dtype) -> str:
    """The C++ expression of one operation: an operator of the language, or a function of the prelude by the same name."""
    if name == "cast":
        return f"static_cast<{TYPES[dtype]}>({args[0]})"
    if name == "where":
        return f"{args[0]} ? {args[1]} : {args[2]}"
    if name in INFIX:
        return f"{args[0]} {INFIX[name]} {args[1]}"
    if name in PREFIX:
        return f"{PREFIX[name]}{args[0]}"
    return f"{name}_({', '.join(args)})"


@dataclass
class Statements:
    """Straight-line C++ for some values: `lines`, and in `names` what each value (by `id`) is called once it is there.

    `places` says how an element of a buffer is written in C++ where that is not `pointer[index]`: by buffer and index.
    """

    pointers: dict[str, str]
    places: dict[tuple[str, Index], str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)
    number: list[int] = field(default_factory=lambda: [0])
    hoist: Statements | None = None  # where that goes which no variable of `varying` changes
    varying: frozenset[Symbol] = frozenset()

    def new_name(self) -> str:
        self.number[0] += 1
        return f"tmp{self.number[0] - 1}"

    def text(self, expr: Expr) -> str:
        """One value as a C++ expression of the names of others, which are emitted for it."""
        if isinstance(expr, Load):
            return f"{self.pointers[expr.buffer]}[{self.index(expr.index)}]"
        if isinstance(expr, Position):
            return self.index(expr.index)
        if isinstance(expr, Op) and expr.name == "masked":
            condition = emit(self, expr.args[0])
            return f"{condition} ? {self.inline(expr.args[1])} : {self.inline(expr.args[2])}"
        return operation(expr.name, [emit(self, each) for each in expr.args], expr.dtype)

    def inline(self, expr: Expr) -> str:
        """A value as one expression: where it stands behind a condition, nothing of it may be looked at before."""
        if id(expr) in self.names or isinstance(expr, Constant):
            return emit(self, expr)
        if isinstance(expr, Load):
            if (expr.buffer, expr.index) in self.places:
                return self.places[expr.buffer, expr.index]
            return f"{self.pointers[expr.buffer]}[{self.index(expr.index, inline=True)}]"
        if isinstance(expr, Position):
            return f"({self.index(expr.index, inline=True)})"
        args = [f"({self.inline(each)})" for each in expr.args]
        text = operation("where" if expr.name == "masked" else expr.name, args, expr.dtype)
        return f"static_cast<{TYPES[expr.dtype]}>({text})"

    def index(self, index: Index, inline: bool = False) -> str:
        """An index expression in C++. One that is read from memory is looked at: beyond the end, nothing is read."""
        parts = []
        for term, coefficient in index.terms:
            if isinstance(term, Symbol):
                text = term.name
            elif isinstance(term, Indirect):
                text = f"inside({self.inline(term.value)}, {term.size}, bad)" if inline else self.checked(term)
            else:
                # C++ rounds towards 0: what may be below 0 is divided as the number that is `lift` divisors more
                lift = max(0, -(bounds(term.base)[0] // term.divisor))
                base = self.index(term.base + lift * term.divisor, inline)
                quotient = isinstance(term, Quotient)
                text = f"(({base}) {'/' if quotient else '%'} {term.divisor})"
                text = f"({text} - {lift})" if quotient and lift else text
            parts.append(text if coefficient == 1 else f"{coefficient} * {text}")
        return " + ".join(parts + ([str(index.offset)] if index.offset or not parts else []))

    def checked(self, term: Indirect) -> str:
        home = self
        while home.hoist is not None and not term.value.symbols & home.varying:
            home = home.hoist
        key = id(term.value), term.size
        if key not in home.names:
            value, home.names[key] = emit(home, term.value), home.new_name()
            home.lines.append(f"const int64_t {home.names[key]} = inside({value}, {term.size}, bad);")
        return home.names[key]


def emit(code: Statements, value: Expr) -> str:
    """The name or number by which C++ knows a value; the statements that it needs join `code.lines`.

    What holds first of these:

    - the value has been emitted: the name it has got in `code.names`, where it is found by `id(value)`;
    - it is a `Constant`: `literal(value.value, value.dtype)`;
    - it is a `Load` of an element for which `code.places`, by `(value.buffer, value.index)`, has a name in C++: that;
    - there is a `code.hoist`, statements that stand before the loop around these, and no loop variable among `value.symbols`
      is in `code.varying`: what `emit` gives there, so that it is computed once and not in every iteration;
    - otherwise a new statement `const TYPE NAME = TEXT;` is added to the end of `code.lines`: `TYPES[value.dtype]`,
      `code.new_name()` and `code.text(value)`, which emits what the value is computed from, if it has not been emitted yet.
      So the text comes before the name.

    In the last two cases the name is kept in `code.names`.

    Source: `torch/_inductor/codegen/common.py`, `CSE.generate`.
    """
    if id(value) in code.names:
        return code.names[id(value)]
    if isinstance(value, Constant):
        return literal(value.value, value.dtype)
    if isinstance(value, Load) and (value.buffer, value.index) in code.places:
        return code.places[value.buffer, value.index]
    if code.hoist is not None and not value.symbols & code.varying:
        name = emit(code.hoist, value)
    else:
        text = code.text(value)
        name = code.new_name()
        code.lines.append(f"const {TYPES[value.dtype]} {name} = {text};")
    code.names[id(value)] = name
    return name


# ------------------------------------------------------------------------------------------------------------
# Reductions

FIRST = {"sum": 0, "prod": 1, "any": False, "all": True, "max": -math.inf, "min": math.inf}
SIMD = {"sum": "+", "prod": "*", "any": "||", "all": "&&", "max": "max", "min": "min"}


def first_value(kind: str, dtype: dtype) -> str:
    """What a reduction starts with."""
    value = FIRST[kind]
    if kind in ("max", "min") and not dtype.is_floating_point:
        return f"std::numeric_limits<{TYPES[dtype]}>::{'lowest' if kind == 'max' else 'max'}()"
    return literal(value, dtype)


def joined(kind: str, total: str, value: str) -> str:
    """The statement by which a reduction takes in one more value. (NaN of max and min is seen to apart: `is_nan` below.)"""
    if kind in ("max", "min"):
        return f"{total} = {value} {'>' if kind == 'max' else '<'} {total} ? {value} : {total};"
    return f"{total} = {total} {dict(sum='+', prod='*', any='||', all='&&')[kind]} {value};"


# ------------------------------------------------------------------------------------------------------------
# Threads


def threads() -> int:
    """How many threads a kernel with much to do is shared among: `$OMP_NUM_THREADS`, or the number of cores."""
    text = os.environ.get("OMP_NUM_THREADS", "")
    return (
        int(text)
        if text.isdigit() and int(text) > 0
        else len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count() or 1
    )
