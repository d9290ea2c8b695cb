"""Lab 07, bytecode: instructions, and the names that are read later."""

from __future__ import annotations

from ...engine.check import program
from ..cases import define, drawn, when
from ..shared_07 import BREAKING_LINES, BYTECODE, LINES, LONG_FUNCTION, drawn_texts

# Texts ---------------------------------------------------------------------------------------------------------------


LARGE_ARGUMENT = """def f(x):
    return x

import dis
f.__code__ = f.__code__.replace(
    co_code=bytes(v for name, arg in [("EXTENDED_ARG", 1), ("EXTENDED_ARG", 2), ("BUILD_LIST", 3)] for v in (dis.opmap[name], arg))
    + f.__code__.co_code
)
"""
JUMP = """def f(x):
    return x

import dis
f.__code__ = f.__code__.replace(co_code=bytes([dis.opmap["NAME"], DISTANCE]))
"""
JUMPS = [
    JUMP.replace("NAME", n).replace("DISTANCE", d)
    for n, d in (("JUMP_BACKWARD_NO_INTERRUPT", "1"), ("JUMP_FORWARD", "0"))
]


# Reading bytecode ----------------------------------------------------------------------------------------------------


@program(
    "dynamo.bytecode.read_instructions",
    cases=drawn(text=drawn_texts(LINES + BREAKING_LINES, 8)),
    edges=[{"text": text} for text in (*BYTECODE, LARGE_ARGUMENT, *JUMPS)],
    hint=when(
        lambda case: case["text"] in (LONG_FUNCTION, LARGE_ARGUMENT),
        "an argument above 255 comes in several units, and what comes after an instruction may be its cache entries",
    ),
    draws=30,
)
def instructions_read(xp, text):
    return xp.dynamo.bytecode.read_instructions(define(xp, text).__code__)


@instructions_read.oracle
def _(torch, text):
    import dis

    code, instructions = define(torch, text).__code__, []
    for instruction in dis.get_instructions(code):
        if instruction.opname != "EXTENDED_ARG":
            target = instruction.argval if instruction.opcode in dis.hasjrel else None
            instructions.append([instruction.offset, instruction.opname, instruction.arg or 0, target])
    return instructions
