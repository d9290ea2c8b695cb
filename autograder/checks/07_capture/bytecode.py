"""Lab 07, bytecode: instructions, and the names that are read later."""

from __future__ import annotations

from ...engine.check import program
from ..cases import define, drawn, when
from .drawn_functions import BREAKING_LINES, LINES, drawn_texts

# Texts ---------------------------------------------------------------------------------------------------------------

LONG_FUNCTION = (
    "def f(x):\n"
    + "".join(f"    v{i} = x.a{i} + {1000 + i}\n" for i in range(300))
    + "    while v1:\n        v1 = v299\n    return v0\n"
)
LARGE_ARGUMENT = """def f(x):
    return x

import dis
f.__code__ = f.__code__.replace(
    co_code=bytes(v for name, arg in [("EXTENDED_ARG", 1), ("EXTENDED_ARG", 2), ("BUILD_LIST", 3)] for v in (dis.opmap[name], arg))
    + f.__code__.co_code
)
"""
BYTECODE = [
    "def f(x):\n    return x\n", LONG_FUNCTION,
    "def f(x):\n    while x:\n" + "        x = x.a + 1\n" * 40 + "    return x\n",  # jumps of more than 255 units
    "def f(x, a, b, c, d):\n    g = (lambda: b, lambda: c)\n    if x:\n        del b, d\n        return c\n    return lambda: a\n",
    "def f(x, y):\n    del x\n    return y\n",
    "def f(a, b=1, *c, d=2, **e):\n    return g(a, *c, d=d, **e)[1:b] if a is None else not b\n",
    "def f(x):\n    with x as y, y:\n        return [z for z in y if z not in x]\n",
    "def f(x):\n    n = 1\n    def g():\n        nonlocal n\n        n += x\n        return n\n    del x\n    return g, n\n",
    "def f(x):\n    try:\n        y = x.z\n    except (ValueError, g) as e:\n        raise h from e\n"
    "    else:\n        z = y\n    finally:\n        w = x\n    return z, w\n",
    "def f(x):\n    for i in x:\n        if i:\n            break\n        y = i\n    else:\n        y = 2\n    return y\n",
    "def f(x):\n    yield x\n    z = yield from g(x)\n    return z\n",
    "def f(x, y):\n    if x:\n        z = y\n    return z\n",
    "def f(x):\n    y = 1\n    try:\n        y = g(x)\n        z = h(y)\n    except E:\n        return y\n    return z\n",
    "def f(x, a, b, c, d, e):\n    if x:\n        if a:\n            y = b\n        else:\n            y = c\n        return y\n    return (lambda: 1) if x.y else (d if x.z else e)\n",  # noqa: E501
    "def f(x, y):\n    try:\n        (a,\n         y) = x\n    except E:\n        return y\n    return a\n",
    "def f(x, y):\n    z = x.y\n    w = x.z\n    return y, z\n",
    "def f(x, y, z):\n    a = x and y or z\n    b = x < y < z\n    return a is not None, b\n",
]  # fmt: skip


# Reading bytecode ----------------------------------------------------------------------------------------------------


@program(
    "dynamo.bytecode.read_instructions",
    cases=drawn(text=drawn_texts(LINES + BREAKING_LINES, 8)),
    edges=[{"text": text} for text in (*BYTECODE, LARGE_ARGUMENT)],
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

    code, found = define(torch, text).__code__, []
    for each in dis.get_instructions(code):
        if each.opname != "EXTENDED_ARG":
            target = each.argval if each.opcode in dis.hasjrel else None
            found.append([each.offset, each.opname, each.arg or 0, target])
    return found
