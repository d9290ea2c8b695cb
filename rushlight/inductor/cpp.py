"""C++ for values: straight-line code with one statement for each value.

A value that two results share is computed once: it gets a name at its first use (common subexpression elimination). A value that
does not change along a row is computed before the loop over the row. `#pragma omp simd` says that the iterations of an inner loop
are independent, so that the compiler vectorises the loop. The functions that kernels call are in `cpp_prelude.py`. In PyTorch:
`torch/_inductor/codegen/common.py` (`CSE`), `codegen/cpp.py` (`CppOverrides`). Left out: vector intrinsics; the compiler vectorises
these loops itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from rushlight.c10.dtypes import bool_, dtype, float32, float64, int32, int64, uint8
from rushlight.inductor.cpp_prelude import FLAGS, PRELUDE  # noqa: F401  (the head of a translation unit, and compiler flags)
from rushlight.inductor.index import Index, Indirect, Remainder, Symbol, Term, raised_base
from rushlight.inductor.ir import Constant, Expr, IndexExpr, Load, Op

TYPES = {bool_: "bool", uint8: "uint8_t", int32: "int32_t", int64: "int64_t", float32: "float", float64: "double"}

# Values --------------------------------------------------------------------------------------------------------------

INFIX = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
    "bitand": "&", "bitor": "|", "bitxor": "^", "and": "&", "or": "|",
}  # fmt: skip
PREFIX = {"neg": "-", "not": "!", "bitnot": "~"}


def literal(value: bool | int | float, dtype: dtype) -> str:
    """The C++ literal of a number in a dtype."""
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
    """The C++ expression of one operation: an operator of the language, or a function of the prelude with the same name."""
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
    """Straight-line C++ for some values: `lines`, and in `names` the C++ name of each value that has been computed, by `id`.
    `store_cache` has the C++ expression of an element of a buffer, by buffer and index, if it is not `pointer[index]`."""

    pointers: dict[str, str]
    store_cache: dict[tuple[str, Index], str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)
    number: list[int] = field(default_factory=lambda: [0])
    hoist: Statements | None = None  # gets the values that do not depend on a variable in `varying`
    varying: frozenset[Symbol] = frozenset()

    def new_name(self) -> str:
        self.number[0] += 1
        return f"tmp{self.number[0] - 1}"

    def text(self, expr: Expr) -> str:
        """One value as a C++ expression of the names of other values, which are emitted first."""
        if isinstance(expr, Load):
            return f"{self.pointers[expr.buffer]}[{self.index(expr.index)}]"
        if isinstance(expr, IndexExpr):
            return self.index(expr.index)
        if isinstance(expr, Op) and expr.name == "masked":
            condition = emit(self, expr.args[0])
            return f"{condition} ? {self.inline(expr.args[1])} : {self.inline(expr.args[2])}"
        return operation(expr.name, [emit(self, argument) for argument in expr.args], expr.dtype)

    def inline(self, expr: Expr) -> str:
        """Write a value as one expression. An operand of `? :` needs this: C++ must not evaluate it before the condition."""
        is_stored = isinstance(expr, Load) and (expr.buffer, expr.index) in self.store_cache
        if id(expr) in self.names or isinstance(expr, Constant) or is_stored:
            return emit(self, expr)
        if isinstance(expr, Load):
            return f"{self.pointers[expr.buffer]}[{self.index(expr.index, inline=True)}]"
        if isinstance(expr, IndexExpr):
            return f"({self.index(expr.index, inline=True)})"
        args = [f"({self.inline(argument)})" for argument in expr.args]
        text = operation("where" if expr.name == "masked" else expr.name, args, expr.dtype)
        return f"static_cast<{TYPES[expr.dtype]}>({text})"

    def index(self, index: Index, inline: bool = False) -> str:
        """An index expression in C++. A term read from memory is checked, so that nothing is read out of range."""
        parts = []
        for term, coefficient in index.terms:
            text = self.term(term, inline)
            parts.append(text if coefficient == 1 else f"{coefficient} * {text}")
        return " + ".join(parts + ([str(index.offset)] if index.offset or not parts else []))

    def term(self, term: Term, inline: bool) -> str:
        if isinstance(term, Symbol):
            return term.name
        if isinstance(term, Indirect):
            return f"inside({self.inline(term.value)}, {term.size}, bad)" if inline else self.check_index(term)
        raised, lift = raised_base(term)
        base = self.index(raised, inline)
        if isinstance(term, Remainder):
            return f"(({base}) % {term.divisor})"
        text = f"(({base}) / {term.divisor})"
        return f"({text} - {lift})" if lift else text

    def check_index(self, term: Indirect) -> str:
        """The name of an index that was read from memory and checked, once, outside all loops that it does not depend on."""
        block = self
        while block.hoist is not None and not term.value.symbols & block.varying:
            block = block.hoist
        key = id(term.value), term.size
        if key not in block.names:
            value, block.names[key] = emit(block, term.value), block.new_name()
            block.lines.append(f"const int64_t {block.names[key]} = inside({value}, {term.size}, bad);")
        return block.names[key]


def emit(code: Statements, value: Expr) -> str:
    """The name or number of a value in C++. The statements that compute it are added to the list `code.lines`.

    The first of these rules that applies:

    - The value has been emitted already: its name in the dict `code.names`, by `id(value)`.
    - It is a `Constant`: `literal(value.value, value.dtype)`.
    - It is a `Load` of an element with an expression in `code.store_cache`, by `(value.buffer, value.index)`: that expression.
    - There is a `code.hoist`, the statements before the loop around these statements, and no loop variable in `value.symbols` is
      in `code.varying`: the result of `emit` for `code.hoist`, so that the value is computed once and not in every iteration.
    - Otherwise add a new statement `const TYPE NAME = TEXT;` to the end of `code.lines`, with `TYPES[value.dtype]`,
      `code.new_name()` and `code.text(value)`. `text` emits the values that this value is computed from, if they have not been
      emitted yet. So call `text` before `new_name`.

    In the last two cases, keep the name in `code.names`. The text of a constant may be kept there too.

    >>> code = rl.inductor.cpp.Statements({"x": "in_ptr0"})
    >>> x = rl.inductor.ir.load("x", rl.inductor.index.Index.of(0), rl.float32)
    >>> emit(code, rl.inductor.ir.op("mul", x, x)), code.lines
    ('tmp1', ['const float tmp0 = in_ptr0[0];', 'const float tmp1 = tmp0 * tmp0;'])

    Source: `torch/_inductor/codegen/common.py`, `CSE.generate`.
    """
    if id(value) in code.names:
        return code.names[id(value)]
    if isinstance(value, Constant):
        return literal(value.value, value.dtype)
    if isinstance(value, Load) and (value.buffer, value.index) in code.store_cache:
        return code.store_cache[value.buffer, value.index]
    if code.hoist is not None and not value.symbols & code.varying:
        name = emit(code.hoist, value)
    else:
        text = code.text(value)
        name = code.new_name()
        code.lines.append(f"const {TYPES[value.dtype]} {name} = {text};")
    code.names[id(value)] = name
    return name


# Reductions ----------------------------------------------------------------------------------------------------------

FIRST = {"sum": 0, "prod": 1, "any": False, "all": True, "max": -math.inf, "min": math.inf}
SIMD = {"sum": "+", "prod": "*", "any": "||", "all": "&&", "max": "max", "min": "min"}


def reduction_init(kind: str, dtype: dtype) -> str:
    """The initial value of a reduction."""
    if kind in ("max", "min") and not dtype.is_floating_point:
        return f"std::numeric_limits<{TYPES[dtype]}>::{'lowest' if kind == 'max' else 'max'}()"
    return literal(FIRST[kind], dtype)


def reduction_combine(kind: str, total: str, value: str) -> str:
    """The statement that adds one value to a reduction. (A kernel has a flag of its own for NaN in max and min.)"""
    if kind in ("max", "min"):
        return f"{total} = {value} {'>' if kind == 'max' else '<'} {total} ? {value} : {total};"
    return f"{total} = {total} {SIMD[kind]} {value};"


# Threads -------------------------------------------------------------------------------------------------------------
