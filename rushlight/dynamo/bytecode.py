"""Reading bytecode: from the bytes of a code object to a small set of instructions, the same for CPython 3.11, 3.12 and 3.13.

Each version of CPython has instructions of its own. `read_instructions` takes the bytes apart. `simplify` translates the
instructions into a small set by one table, `SMALL_SET`: a fused instruction becomes two, a jump has the index of its target, a
call is one of three. An instruction that is not in the table becomes `UNKNOWN`, and a function that has one is left to Python. In
PyTorch: `torch/_dynamo/bytecode_transformation.py`, `bytecode_analysis.py`. Left out: writing bytecode, because no frame is
rewritten here.
"""

from __future__ import annotations

import dis
import operator
import sys
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType
from typing import Any

__all__ = ["Instruction", "read_instructions", "simplify", "live_names", "instructions_of"]

VERSION = sys.version_info[:2]

# ------------------------------------------------------------------------------------------------------------
# The bytes


def inline_caches(opname: str) -> int:
    """The number of code units after an instruction in which the interpreter keeps its caches."""
    entries = dis._inline_cache_entries
    return entries.get(opname, 0) if isinstance(entries, dict) else entries[dis.opmap[opname]]


def read_instructions(code: CodeType) -> list[tuple[int, str, int, int | None]]:
    """The instructions in the bytes of a code object, `code.co_code`, in order.

    The bytes are code units of two: the number of an instruction, whose name is `dis.opname[number]`, and its argument. After an
    instruction come `inline_caches(name)` units that are no instructions: the interpreter keeps its caches there. An `EXTENDED_ARG`
    is no instruction either: its argument gives the bits above the eight of the next unit's argument. Several of them before an
    instruction add up, and the first gives the highest bits.

    The argument of a jump is a distance in code units from the end of the instruction and its caches: backward if "BACKWARD" is in
    its name, otherwise forward. The jumps are those of `dis.hasjrel`, a list of numbers.

    Returns:
        for each instruction a tuple (offset, name, argument, target): the offset in bytes of its own unit, not of an
        `EXTENDED_ARG` before it; its whole argument, 0 if it takes none; and the offset in bytes of the target of a jump, None for
        all other instructions.

    Source: `torch/_dynamo/bytecode_transformation.py`, `cleaned_instructions`; CPython's `Lib/dis.py`.
    """
    found, data = [], code.co_code
    offset = extended = 0
    while offset < len(data):
        number, argument = data[offset], data[offset + 1] | extended
        name, extended = dis.opname[number], 0
        end = offset + 2 + 2 * inline_caches(name)
        if name == "EXTENDED_ARG":
            extended = argument << 8
        else:
            target = None
            if number in dis.hasjrel:
                target = end - 2 * argument if "BACKWARD" in name else end + 2 * argument
            found.append((offset, name, argument, target))
        offset = end
    return found


def exception_table(code: CodeType) -> list[tuple[int, int, int, int, bool]]:
    """Which handlers cover which instructions: (start, end, target, depth, whether the offset is pushed), offsets in bytes."""
    data, position, entries = code.co_exceptiontable, 0, []

    def number() -> int:
        nonlocal position
        value = data[position] & 63
        while data[position] & 64:  # six bits each, the highest first; bit 7 marks the start of an entry
            position += 1
            value = value << 6 | data[position] & 63
        position += 1
        return value

    while position < len(data):
        start, length, target, depth = number(), number(), number(), number()
        entries.append((2 * start, 2 * (start + length), 2 * target, depth >> 1, bool(depth & 1)))
    return entries


# ------------------------------------------------------------------------------------------------------------
# The small set


@dataclass(eq=False, slots=True)
class Instruction:
    """One of the small set. `arg` is a name, a value, a symbol or a number; for a jump, the index of its target.

    `handler` is (index, depth of the stack, whether the offset is pushed) of the handler of an exception here, or None.
    """

    op: str
    arg: Any = None
    offset: int = 0
    line: int | None = None
    handler: tuple[int, int, bool] | None = None

    def __repr__(self) -> str:
        return f"{self.offset:4} {self.op}" + ("" if self.arg is None else f" {self.arg!r}")


OPERATORS: dict[str, Callable] = {
    "+": operator.add, "&": operator.and_, "//": operator.floordiv, "<<": operator.lshift, "@": operator.matmul,
    "*": operator.mul, "%": operator.mod, "|": operator.or_, "**": operator.pow, ">>": operator.rshift,
    "-": operator.sub, "/": operator.truediv, "^": operator.xor, "[]": operator.getitem,
    "+=": operator.iadd, "&=": operator.iand, "//=": operator.ifloordiv, "<<=": operator.ilshift, "@=": operator.imatmul,
    "*=": operator.imul, "%=": operator.imod, "|=": operator.ior, "**=": operator.ipow, ">>=": operator.irshift,
    "-=": operator.isub, "/=": operator.itruediv, "^=": operator.ixor,
    "<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
PLAIN = {symbol: symbol[:-1] for symbol in OPERATORS if symbol.endswith("=") and symbol not in ("<=", ">=", "==", "!=")}
MIRRORED = {"<": ">", "<=": ">=", "==": "==", "!=": "!=", ">": "<", ">=": "<="}
UNARY: dict[str, Callable] = {"-": operator.neg, "+": operator.pos, "~": operator.invert, "not": operator.not_}

# Intrinsics of 3.12 and later that were instructions before.
_INTRINSICS = {3: ("STOPITERATION_ERROR", None), 5: ("UNARY_OP", "+"), 6: ("LIST_TO_TUPLE", None)}


class _Reader:
    """The names and constants of the code, for the rules of the table."""

    def __init__(self, code: CodeType) -> None:
        self.code = code
        cells = [name for name in code.co_cellvars if name not in code.co_varnames]
        self.fast_names = [*code.co_varnames, *cells, *code.co_freevars]
        self.boxed = {*code.co_cellvars, *code.co_freevars}

    def fast(self, op: str, index: int) -> list[tuple[str, Any]]:
        name = self.fast_names[index]
        if name in self.boxed and VERSION >= (3, 13) and op == "LOAD_FAST":
            return [("LOAD_CLOSURE", name)]  # the cell itself
        if name in self.boxed and op in ("LOAD_FAST_AND_CLEAR", "STORE_FAST"):
            return [("UNKNOWN", f"{op} of a cell")]
        return [(op, name)]


def _same(op: str) -> Callable:
    return lambda reader, arg: [(op, None)]


def _number(op: str) -> Callable:
    return lambda reader, arg: [(op, arg)]


def _const(reader: _Reader, arg: int) -> list:
    return [("LOAD_CONST", reader.code.co_consts[arg])]


def _name(op: str) -> Callable:
    return lambda reader, arg: [(op, reader.code.co_names[arg])]


def _fast(op: str) -> Callable:
    return lambda reader, arg: reader.fast(op, arg)


def _two(first: str, second: str) -> Callable:
    return lambda reader, arg: reader.fast(first, arg >> 4) + reader.fast(second, arg & 15)


def _cell(op: str) -> Callable:
    return lambda reader, arg: [(op, reader.fast_names[arg])]


def _load_global(reader: _Reader, arg: int) -> list:
    load, mark = [("LOAD_GLOBAL", reader.code.co_names[arg >> 1])], [("PUSH_NULL", None)] if arg & 1 else []
    return mark + load if VERSION < (3, 13) else load + mark  # what is called may yet be an attribute of it


def _load_attr(reader: _Reader, arg: int) -> list:
    if VERSION < (3, 12):
        return [("LOAD_ATTR", reader.code.co_names[arg])]
    load = [("LOAD_ATTR", reader.code.co_names[arg >> 1])]
    return load + [("PUSH_NULL", None)] if arg & 1 else load


def _load_super_attr(reader: _Reader, arg: int) -> list:
    load = [("LOAD_SUPER_ATTR", (reader.code.co_names[arg >> 2], bool(arg & 2)))]
    return load + [("PUSH_NULL", None)] if arg & 1 else load


def _compare(reader: _Reader, arg: int) -> list:
    shift = {(3, 11): 0, (3, 12): 4}.get(VERSION, 5)
    then = [("TO_BOOL", None)] if VERSION >= (3, 13) and arg & 16 else []
    return [("BINARY_OP", dis.cmp_op[arg >> shift]), *then]


def _binary(reader: _Reader, arg: int) -> list:
    return [("BINARY_OP", dis._nb_ops[arg][1])]


def _unary(symbol: str) -> Callable:
    return lambda reader, arg: [("UNARY_OP", symbol)]


def _format(reader: _Reader, arg: int) -> list:
    return [("FORMAT_VALUE", (arg & 3, bool(arg & 4)))]


# Name in CPython -> rule that gives the instructions of the small set.
SMALL_SET: dict[str, Callable[[_Reader, int], list[tuple[str, Any]]]] = {
    **{name: lambda reader, arg: [] for name in ("RESUME", "NOP", "CACHE", "PRECALL", "COPY_FREE_VARS")},
    **{
        name: _same(name)
        for name in (
            "POP_TOP", "PUSH_NULL", "GET_ITER", "RETURN_VALUE", "STORE_SUBSCR", "DELETE_SUBSCR", "LIST_TO_TUPLE", "TO_BOOL",
            "BINARY_SLICE", "STORE_SLICE", "PUSH_EXC_INFO", "POP_EXCEPT", "CHECK_EXC_MATCH", "BEFORE_WITH", "GET_LEN",
            "WITH_EXCEPT_START", "LOAD_ASSERTION_ERROR", "RETURN_GENERATOR", "YIELD_VALUE", "GET_YIELD_FROM_ITER", "END_SEND",
        )
    },
    **{
        name: _number(name)
        for name in (
            "COPY", "SWAP", "BUILD_TUPLE", "BUILD_LIST", "BUILD_SET", "BUILD_MAP", "BUILD_STRING", "BUILD_SLICE",
            "BUILD_CONST_KEY_MAP", "LIST_APPEND", "SET_ADD", "MAP_ADD", "LIST_EXTEND", "SET_UPDATE", "DICT_UPDATE", "DICT_MERGE",
            "UNPACK_SEQUENCE", "UNPACK_EX", "CALL", "CALL_KW", "CALL_FUNCTION_EX", "IS_OP", "CONTAINS_OP", "MAKE_FUNCTION",
            "SET_FUNCTION_ATTRIBUTE", "RAISE_VARARGS", "RERAISE",
        )
    },
    **{
        name: _number(name.replace("_FORWARD", "").replace("_BACKWARD", ""))  # the direction is in the target
        for name in (
            "FOR_ITER", "SEND", "JUMP_IF_TRUE_OR_POP", "JUMP_IF_FALSE_OR_POP",
            *(f"POP_JUMP_{way}IF_{what}" for way in ("", "FORWARD_", "BACKWARD_")
              for what in ("TRUE", "FALSE", "NONE", "NOT_NONE")),
        )
    },
    **{name: _number("JUMP") for name in ("JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT")},
    "LOAD_CONST": _const,
    "RETURN_CONST": lambda reader, arg: [*_const(reader, arg), ("RETURN_VALUE", None)],
    "KW_NAMES": _const,  # `simplify` moves it to the call
    **{name: _name(name) for name in ("STORE_GLOBAL", "STORE_ATTR", "DELETE_ATTR", "IMPORT_NAME", "IMPORT_FROM")},
    "LOAD_GLOBAL": _load_global,
    "LOAD_ATTR": _load_attr,
    "LOAD_METHOD": lambda reader, arg: [("LOAD_ATTR", reader.code.co_names[arg]), ("PUSH_NULL", None)],
    "LOAD_SUPER_ATTR": _load_super_attr,
    "LOAD_FAST": _fast("LOAD_FAST"),
    "LOAD_FAST_CHECK": _fast("LOAD_FAST"),
    "LOAD_FAST_AND_CLEAR": _fast("LOAD_FAST_AND_CLEAR"),
    "STORE_FAST": _fast("STORE_FAST"),
    "DELETE_FAST": _fast("DELETE_FAST"),
    "LOAD_FAST_LOAD_FAST": _two("LOAD_FAST", "LOAD_FAST"),
    "STORE_FAST_LOAD_FAST": _two("STORE_FAST", "LOAD_FAST"),
    "STORE_FAST_STORE_FAST": _two("STORE_FAST", "STORE_FAST"),
    **{name: _cell(name) for name in ("MAKE_CELL", "LOAD_DEREF", "STORE_DEREF", "DELETE_DEREF", "LOAD_CLOSURE")},
    "BINARY_OP": _binary,
    "BINARY_SUBSCR": lambda reader, arg: [("BINARY_OP", "[]")],
    "COMPARE_OP": _compare,
    "UNARY_NEGATIVE": _unary("-"),
    "UNARY_POSITIVE": _unary("+"),
    "UNARY_INVERT": _unary("~"),
    "UNARY_NOT": _unary("not"),
    "CALL_INTRINSIC_1": lambda reader, arg: [_INTRINSICS.get(arg, ("UNKNOWN", f"CALL_INTRINSIC_1 {arg}"))],
    "FORMAT_VALUE": _format,
    "CONVERT_VALUE": _number("CONVERT_VALUE"),
    "FORMAT_SIMPLE": lambda reader, arg: [("FORMAT_VALUE", (0, False))],
    "FORMAT_WITH_SPEC": lambda reader, arg: [("FORMAT_VALUE", (0, True))],
}  # fmt: skip

JUMPS = {name.replace("_FORWARD", "").replace("_BACKWARD", "") for name in SMALL_SET if "JUMP" in name}
JUMPS = {"JUMP" if name.startswith("JUMP_NO") or name == "JUMP" else name for name in JUMPS} | {"FOR_ITER", "SEND"}


def simplify(code: CodeType) -> list[Instruction]:
    """The instructions of a code object, in the small set. Jumps and handlers are indices into the list."""
    entries = exception_table(code)
    result, offsets, indices, targets = [], [], [], []
    for offset, line, simple, target in _small_instructions(code):
        offsets.append(offset)
        indices.append(len(result))
        handler = next((entry for entry in reversed(entries) if entry[0] <= offset < entry[1]), None)
        for op, arg in simple:
            result.append(Instruction(op, arg, offset, line, handler and handler[2:]))
        if target is not None and simple:
            targets.append((result[-1], target))
    for instruction, target in targets:
        instruction.arg = indices[bisect_left(offsets, target)]  # a jump goes to the EXTENDED_ARG before an instruction
    for instruction in result:
        if instruction.handler is not None:
            target, depth, push_offset = instruction.handler
            instruction.handler = indices[bisect_left(offsets, target)], depth, push_offset
    return result


def _small_instructions(code: CodeType) -> Iterator[tuple[int, int | None, list[tuple[str, Any]], int | None]]:
    """For each instruction of CPython: its offset, its line, those of the small set that replace it, the target of a jump."""
    reader, names, line, previous = _Reader(code), None, None, ""
    lines = {start: line for start, _, line in code.co_lines() if line is not None}
    for offset, name, argument, target in read_instructions(code):
        line = lines.get(offset, line)
        rule = SMALL_SET.get(name)
        simple = rule(reader, argument) if rule else [("UNKNOWN", name)]
        if name == "END_FOR" or name == "POP_TOP" and VERSION >= (3, 13) and previous == "END_FOR":
            simple = []  # 3.12 and later: FOR_ITER itself ends the loop
        elif name == "KW_NAMES":
            simple, names = [], simple
        elif name == "CALL" and names is not None:  # from 3.13 on the names are on the stack
            simple, names = [*names, ("CALL_KW", argument)], None
        yield offset, line, simple, target
        previous = name


@lru_cache(maxsize=4096)
def instructions_of(code: CodeType) -> list[Instruction]:
    return simplify(code)


# ------------------------------------------------------------------------------------------------------------
# Live variables


def successors(instructions: list[Instruction], index: int) -> set[int]:
    """The indices of the instructions that may run right after one: the next, the target of a jump, a handler."""
    instruction = instructions[index]
    found = set() if instruction.op in ENDS else {index + 1}
    if instruction.op in JUMPS:
        found.add(instruction.arg)
    if instruction.handler is not None:
        found.add(instruction.handler[0])
    return found


def live_names(instructions: list[Instruction], start: int) -> set[str]:
    """The local variables that must be kept if a function stops before `instructions[start]` and is resumed there later.

    They are the names that may be read from there on before they are surely written. An instruction `LOAD_FAST`, `LOAD_DEREF`,
    `LOAD_CLOSURE`, `LOAD_FAST_AND_CLEAR`, `DELETE_FAST` or `DELETE_DEREF` reads the name in its `arg`; `STORE_FAST` and
    `STORE_DEREF` write it. A name is surely written if an instruction on the straight path from `start` to the first jump writes
    it. A later write, on a path that may or may not be taken, does not count.

    `successors(instructions, index)` gives the indices of the instructions that may come next. A jump has its `op` in `JUMPS`. The
    straight path also ends at an instruction whose `op` is in `ENDS`. An instruction with a `handler` may go to the index
    `handler[0]` after it has read or written its name. In the handler, the names are surely written that were surely written before
    this instruction, and the name that it writes itself.

    Source: `torch/_dynamo/bytecode_analysis.py`, `livevars_analysis`.
    """
    live = set()
    written = set()
    seeds = []
    index = start
    while True:  # the straight path
        instruction = instructions[index]
        if instruction.op in READS and instruction.arg not in written:
            live.add(instruction.arg)
        if instruction.op in WRITES:
            written.add(instruction.arg)
        if instruction.handler is not None:
            seeds.append((instruction.handler[0], set(written)))
        if instruction.op in JUMPS or instruction.op in ENDS:
            break
        index += 1
    seeds += [(way, written) for way in successors(instructions, index)]
    seen = set()
    for seed, sure in seeds:  # those with the fewest names surely written come first
        waiting = {seed}
        while waiting:
            index = waiting.pop()
            seen.add(index)
            if instructions[index].op in READS and instructions[index].arg not in sure:
                live.add(instructions[index].arg)
            waiting |= successors(instructions, index) - seen
    return live


READS = {"LOAD_FAST", "LOAD_DEREF", "LOAD_CLOSURE", "LOAD_FAST_AND_CLEAR", "DELETE_FAST", "DELETE_DEREF"}
WRITES = {"STORE_FAST", "STORE_DEREF"}
ENDS = {"JUMP", "RETURN_VALUE", "RAISE_VARARGS", "RERAISE"}
