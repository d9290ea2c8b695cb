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

VERSION = sys.version_info[:2]

# The bytes -----------------------------------------------------------------------------------------------------------


def inline_caches(opname: str) -> int:
    """The number of code units after an instruction in which the interpreter keeps its caches."""
    entries = dis._inline_cache_entries
    return entries.get(opname, 0) if isinstance(entries, dict) else entries[dis.opmap[opname]]


def read_instructions(code: CodeType) -> list[tuple[int, str, int, int | None]]:
    """The instructions in the bytes of a code object, `code.co_code`, in order.

    The bytes are code units of two: the number of an instruction, whose name is `dis.opname[number]`, and its argument, which is 0
    if the instruction takes none. After an instruction come `inline_caches(name)` units that are no instructions: the interpreter
    keeps its caches there. An `EXTENDED_ARG` is no instruction either: its argument gives the bits above the eight of the next
    unit's argument. Several of them before an instruction add up, and the first gives the highest bits.

    The argument of a jump is a distance in code units from the end of the instruction and its caches: backward if "BACKWARD" is in
    its name, otherwise forward. The jumps are those of `dis.hasjrel`, a list of numbers.

    Returns:
        a list with a tuple (offset, name, argument, target) for each instruction: the offset in bytes of its own unit, not of an
        `EXTENDED_ARG` before it; its whole argument; and the offset in bytes of the target of a jump, None for
        all other instructions.

    >>> units = [dis.opmap["EXTENDED_ARG"], 1, dis.opmap["BUILD_LIST"], 3]
    >>> read_instructions((lambda: 0).__code__.replace(co_code=bytes(units)))
    [(2, 'BUILD_LIST', 259, None)]

    Source: `torch/_dynamo/bytecode_transformation.py`, `cleaned_instructions`; CPython's `Lib/dis.py`.
    """
    instructions, data = [], code.co_code
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
            instructions.append((offset, name, argument, target))
        offset = end
    return instructions


# The small set -------------------------------------------------------------------------------------------------------


@dataclass(eq=False, slots=True)
class Instruction:
    """One of the small set. `arg` is a name, a value, a symbol or a number; for a jump, the index of its target. `handler` is
    (index, depth of the stack, whether the offset is pushed) of the handler of an exception here, or None."""

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
    """Reads the argument of an instruction as a name or a constant of the code object."""

    def __init__(self, code: CodeType) -> None:
        self.names, self.consts = code.co_names, code.co_consts
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


NULL_MARK = ("PUSH_NULL", None)


def _one(op: str, value: Callable[[_Reader, int], Any] = lambda reader, arg: arg) -> Callable:
    """A rule that gives one instruction, with the argument `value(reader, arg)`: the number itself, if it is not given."""
    return lambda reader, arg: [(op, value(reader, arg))]


def _fast(*ops: str) -> Callable:
    """A rule for one local variable, or for two, whose indices have four bits each."""
    if len(ops) == 1:
        return lambda reader, arg: reader.fast(*ops, arg)
    return lambda reader, arg: reader.fast(ops[0], arg >> 4) + reader.fast(ops[1], arg & 15)


def _load_global(reader: _Reader, arg: int) -> list:
    load, mark = [("LOAD_GLOBAL", reader.names[arg >> 1])], [NULL_MARK] * (arg & 1)
    return mark + load if VERSION < (3, 13) else load + mark  # what is called may yet be an attribute of it


def _load_attr(reader: _Reader, arg: int) -> list:
    if VERSION < (3, 12):
        return [("LOAD_ATTR", reader.names[arg])]
    return [("LOAD_ATTR", reader.names[arg >> 1])] + [NULL_MARK] * (arg & 1)


def _compare(reader: _Reader, arg: int) -> list:
    shift = {(3, 11): 0, (3, 12): 4}.get(VERSION, 5)
    then = [("TO_BOOL", None)] if VERSION >= (3, 13) and arg & 16 else []
    return [("BINARY_OP", dis.cmp_op[arg >> shift]), *then]


POP_JUMPS = ("POP_JUMP_IF_TRUE", "POP_JUMP_IF_FALSE", "POP_JUMP_IF_NONE", "POP_JUMP_IF_NOT_NONE")
JUMPS = {"JUMP", "FOR_ITER", "SEND", *POP_JUMPS}

# Name in CPython -> rule that gives the instructions of the small set. The argument of a jump is the offset of its target.
SMALL_SET: dict[str, Callable[[_Reader, int], list[tuple[str, Any]]]] = {
    **{name: lambda reader, arg: [] for name in ("RESUME", "NOP", "CACHE", "PRECALL", "COPY_FREE_VARS")},
    **{
        name: _one(name, lambda reader, arg: None)
        for name in (
            "POP_TOP", "PUSH_NULL", "GET_ITER", "RETURN_VALUE", "STORE_SUBSCR", "DELETE_SUBSCR", "LIST_TO_TUPLE", "TO_BOOL",
            "PUSH_EXC_INFO", "POP_EXCEPT", "CHECK_EXC_MATCH", "BEFORE_WITH", "GET_LEN", "WITH_EXCEPT_START", "RETURN_GENERATOR",
            "YIELD_VALUE", "RERAISE",
        )
    },
    **{
        name: _one(name)
        for name in (
            "COPY", "SWAP", "BUILD_TUPLE", "BUILD_LIST", "BUILD_SET", "BUILD_MAP", "BUILD_STRING", "BUILD_SLICE",
            "BUILD_CONST_KEY_MAP", "LIST_APPEND", "SET_ADD", "MAP_ADD", "LIST_EXTEND", "SET_UPDATE", "DICT_UPDATE", "DICT_MERGE",
            "UNPACK_SEQUENCE", "UNPACK_EX", "CALL", "CALL_KW", "CALL_FUNCTION_EX", "IS_OP", "CONTAINS_OP", "MAKE_FUNCTION",
            "SET_FUNCTION_ATTRIBUTE", "RAISE_VARARGS", "CONVERT_VALUE", "FOR_ITER", "SEND",
        )
    },
    **{name: _one("JUMP") for name in ("JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT")},
    **{name.replace("IF", f"{way}IF"): _one(name) for name in POP_JUMPS for way in ("", "FORWARD_", "BACKWARD_")},
    **{f"JUMP_IF_{what}_OR_POP": lambda reader, arg, jump=f"POP_JUMP_IF_{what}": [("COPY", 1), (jump, arg), ("POP_TOP", None)]
       for what in ("TRUE", "FALSE")},
    **{name: _one(name, lambda reader, arg: reader.names[arg])
       for name in ("STORE_GLOBAL", "STORE_ATTR", "DELETE_ATTR", "IMPORT_NAME", "IMPORT_FROM")},
    **{name: _one(name, lambda reader, arg: reader.fast_names[arg])
       for name in ("MAKE_CELL", "LOAD_DEREF", "STORE_DEREF", "DELETE_DEREF", "LOAD_CLOSURE")},
    **{name: _fast(name) for name in ("LOAD_FAST", "LOAD_FAST_AND_CLEAR", "STORE_FAST", "DELETE_FAST")},
    "LOAD_FAST_CHECK": _fast("LOAD_FAST"),
    "LOAD_FAST_LOAD_FAST": _fast("LOAD_FAST", "LOAD_FAST"),
    "STORE_FAST_LOAD_FAST": _fast("STORE_FAST", "LOAD_FAST"),
    "STORE_FAST_STORE_FAST": _fast("STORE_FAST", "STORE_FAST"),
    **{name: _one("LOAD_CONST", lambda reader, arg: reader.consts[arg])
       for name in ("LOAD_CONST", "KW_NAMES")},  # `simplify` moves the names to the call
    "RETURN_CONST": lambda reader, arg: [("LOAD_CONST", reader.consts[arg]), ("RETURN_VALUE", None)],
    "LOAD_ASSERTION_ERROR": _one("LOAD_CONST", lambda reader, arg: AssertionError),
    "LOAD_GLOBAL": _load_global,
    "LOAD_ATTR": _load_attr,
    "LOAD_METHOD": lambda reader, arg: [("LOAD_ATTR", reader.names[arg]), NULL_MARK],
    "LOAD_SUPER_ATTR": lambda reader, arg: [("LOAD_SUPER_ATTR", reader.names[arg >> 2])] + [NULL_MARK] * (arg & 1),
    "BINARY_OP": _one("BINARY_OP", lambda reader, arg: dis._nb_ops[arg][1]),
    "BINARY_SUBSCR": _one("BINARY_OP", lambda reader, arg: "[]"),
    "BINARY_SLICE": lambda reader, arg: [("BUILD_SLICE", 2), ("BINARY_OP", "[]")],
    "STORE_SLICE": lambda reader, arg: [("BUILD_SLICE", 2), ("STORE_SUBSCR", None)],
    "COMPARE_OP": _compare,
    **{f"UNARY_{name}": _one("UNARY_OP", lambda reader, arg, symbol=symbol: symbol)
       for name, symbol in (("NEGATIVE", "-"), ("POSITIVE", "+"), ("INVERT", "~"), ("NOT", "not"))},
    "CALL_INTRINSIC_1": lambda reader, arg: [_INTRINSICS.get(arg, ("UNKNOWN", f"CALL_INTRINSIC_1 {arg}"))],
    "FORMAT_VALUE": _one("FORMAT_VALUE", lambda reader, arg: (arg & 3, bool(arg & 4))),
    "FORMAT_SIMPLE": _one("FORMAT_VALUE", lambda reader, arg: (0, False)),
    "FORMAT_WITH_SPEC": _one("FORMAT_VALUE", lambda reader, arg: (0, True)),
}  # fmt: skip
"""For each instruction of CPython the instructions of the small set that Dynamo interprets: see `_one`."""


def simplify(code: CodeType) -> list[Instruction]:
    """The instructions of a code object, in the small set. Jumps and handlers are indices into the list."""
    entries = dis._parse_exception_table(code)
    result, offsets, indices = [], [], []
    for offset, line, simple in _small_instructions(code):
        offsets.append(offset)
        indices.append(len(result))
        entry = next((row for row in reversed(entries) if row.start <= offset < row.end), None)
        handler = entry and (entry.target, entry.depth, entry.lasti)
        result += [Instruction(op, arg, offset, line, handler) for op, arg in simple]

    def index_of(offset: int) -> int:
        return indices[bisect_left(offsets, offset)]  # a jump goes to the EXTENDED_ARG before an instruction

    for instruction in result:
        if instruction.op in JUMPS:
            instruction.arg = index_of(instruction.arg)
        if instruction.handler is not None:
            target, depth, push_offset = instruction.handler
            instruction.handler = index_of(target), depth, push_offset
    return result


def _small_instructions(code: CodeType) -> Iterator[tuple[int, int | None, list[tuple[str, Any]]]]:
    """For each instruction of CPython: its offset, its line, and those of the small set that replace it."""
    reader, names, line, previous = _Reader(code), None, None, ""
    lines = {start: line for start, _, line in code.co_lines() if line is not None}
    for offset, name, argument, target in read_instructions(code):
        line = lines.get(offset, line)
        rule = SMALL_SET.get(name)
        simple = rule(reader, argument if target is None else target) if rule else [("UNKNOWN", name)]
        if name == "END_FOR" or name == "POP_TOP" and VERSION >= (3, 13) and previous == "END_FOR":
            simple = []  # 3.12 and later: FOR_ITER itself ends the loop
        elif name == "KW_NAMES":
            simple, names = [], simple
        elif name == "CALL" and names is not None:  # from 3.13 on the names are on the stack
            simple, names = [*names, ("CALL_KW", argument)], None
        yield offset, line, simple
        previous = name


instructions_of = lru_cache(maxsize=4096)(simplify)

# Live variables ------------------------------------------------------------------------------------------------------


def successors(instructions: list[Instruction], index: int) -> set[int]:
    """The indices of the instructions that may run right after one: the next, the target of a jump, a handler."""
    instruction = instructions[index]
    indices = set() if instruction.op in ENDS else {index + 1}
    if instruction.op in JUMPS:
        indices.add(instruction.arg)
    if instruction.handler is not None:
        indices.add(instruction.handler[0])
    return indices


def live_names(instructions: list[Instruction], start: int) -> set[str]:
    """The local variables that must be kept if a function stops before `instructions[start]` and is resumed there later.

    The answer is a set of the names that may be read from there on before they are surely written. An instruction `LOAD_FAST`,
    `LOAD_DEREF`, `LOAD_CLOSURE`, `LOAD_FAST_AND_CLEAR`, `DELETE_FAST` or `DELETE_DEREF` reads the name in its `arg`; `STORE_FAST`
    and `STORE_DEREF` write it. A name is surely written if an instruction on the straight path from `start` to the first jump
    writes it. A later write, on a path that may or may not be taken, does not count.

    `successors(instructions, index)` gives a set of the indices of the instructions that may come next. A jump has its `op` in
    `JUMPS`. The straight path also ends at an instruction whose `op` is in `ENDS`. An instruction with a `handler` may go to the
    index `handler[0]`, after it has read or written its own name. So if this instruction is on the straight path, all writes of the
    path up to this instruction are sure in the handler, its own write included. The later writes of the path are not.

    >>> names = [("LOAD_FAST", "x"), ("STORE_FAST", "y"), ("LOAD_FAST", "y"), ("RETURN_VALUE", None)]
    >>> instructions = [rl.dynamo.bytecode.Instruction(*pair) for pair in names]
    >>> live_names(instructions, 0), live_names(instructions, 2)
    ({'x'}, {'y'})

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
