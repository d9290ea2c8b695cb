"""Lab 07, instructions and calls: what Dynamo does with an operator and a call, and whole programs."""

from __future__ import annotations

from unittest.mock import patch

from ...engine.check import program
from ..cases import breaking, define, drawn, listed, no_cases, several
from ..shared_07 import BREAKS, LINES, calls_of, captured, drawn_texts, indented, text_of

# Operators -----------------------------------------------------------------------------------------------------------

BREAKS_OPERATORS, BODIES = "course.breaks.breaks_binary_op", "07b.binary_op"
OPERANDS = {  # in a function of a tensor x, a list l, and a named tuple p
    "x": "x", "2": "2", "word": "'ab'", "list": "[x, 1]", "list of numbers": "[1, 2]", "argument list": "l", "tuple": "(x, 1)",
    "pair": "p",
}  # fmt: skip
PAIR = "from collections import namedtuple\nPair = namedtuple('Pair', 'a b')\n\n"


@program(f"{BREAKS_OPERATORS}.half", cases=no_cases, edges=[{}], examine=breaking(BODIES, "1/2"))
def breaks_half(xp):
    return xp.breaks.breaks_binary_op()


@program(f"{BREAKS_OPERATORS}.most", cases=no_cases, edges=[{}], examine=breaking(BODIES, "3/4"))
def breaks_most(xp):
    return xp.breaks.breaks_binary_op()


@program(BREAKS_OPERATORS, cases=no_cases, edges=[{}], examine=breaking(BODIES, "1"))
def breaks_binary_op(xp, **case):
    """The cases, or the capture of the operation of one of them."""
    return operator_applied(xp, **case) if case else xp.breaks.breaks_binary_op()


@breaks_binary_op.oracle
def _(torch, left, symbol, right):
    if symbol in ("<", "==") and not {left, right} <= {"x", "2"}:  # torch compares containers item by item
        raise ValueError("only comparisons of x and 2 count")
    return operator_applied(torch, left, symbol, right)


def operator_applied(xp, left, symbol, right):
    """An operator in a function that also looks at the left operand afterwards. The results are shown with their classes, and with
    whether they are one container."""
    in_place = symbol in ("+=", "*=")
    lines = ["w = w + 1", f"a = {OPERANDS[left]}", f"b = {OPERANDS[right]}", "m = a"]
    lines += [f"a {symbol} b" if in_place else f"a = a {symbol} b", "return a, m, w * 2"]
    function = define(xp, PAIR + "\n    ".join(["def f(x, l, w, p):", *lines]) + "\n")
    argument = [1, 2]
    pair = function.__globals__["Pair"](xp.tensor([3.0, 2.0]), 1)  # an argument: its class is not called here
    (capture,) = captured(xp, function, [[xp.tensor([1.0, 2.0]), argument, xp.ones(2), pair]])
    if isinstance(capture["result"], tuple):
        first, second, _ = capture["result"]
        capture["one container"] = isinstance(first, (list, tuple)) and first is second
        capture["classes"] = [type(value).__name__ for value in capture["result"]]
    return {"found": capture, "the list": argument}


# Calls ---------------------------------------------------------------------------------------------------------------

CALLED = {  # a function that calls something
    "operator": "return xp.relu(x) + 1", "functional": "return xp.nn.functional.softmax(x, dim=0)",
    "aten": "return xp.ops.aten.relu.default(x) * 2", "packet": "return xp.ops.aten.sin(x) * 2",
    "user": "return helper(x, 2) + 1", "nested": "def inner(v):\n    return helper(v, 3)\nreturn inner(inner(x))",
    "lambda": "return (lambda v: v * 2)(x)", "len": "return x * len(x)", "isinstance": "return x * isinstance(x, xp.Tensor)",
    "zip": "for v, n in zip([x, x], (2, 3)):\n    x = x + v * n\nreturn x", "sum": "return sum([x, x])",
    "print": "y = x + 1\nprint(end='')\nreturn y * 2", "abs": "return abs(x) * abs(-2)", "round": "return x * round(2.7)",
    "divmod": "return x * divmod(7, 2)[1]", "math": "import math\nreturn x * math.sqrt(4.0)",
    "math of a tensor": "import math\ny = x + 1\nreturn y * math.floor(y[0])", "words": "return x * len('a b'.upper().split())",
    "format": "return x * len('{}'.format(12))", "int": "return x * int('3') * float('2')",
    "int of a tensor": "y = x + 1\nreturn y * int(y[0])", "range": "return x * len(range(1, 7, 2))",
    "slice": "return x[slice(0, 2)] * 2", "class": "return Scaled(x, 2).times(3)",
    "exception": "why = KeyError('k')\nreturn x * len(why.args)", "disabled": "y = x + 1\nz = off(y)\nreturn z * 2",
    "operator module": "import operator\nreturn operator.mul(x, operator.add(1, 2))",
    "builtin of another module": "import time\ny = x + 1\ntime.sleep(0)\nreturn y * 2",
    "class of numbers": "y = x + 1\nm = Metres(2.5)\nreturn y * 2", "not disabled": "return on(x) * 2",
    "generator": "return sum(v * 2 for v in (x, x))", "generator function": "return sum(both(x))",
    "breaks": "y = x + 1\nz = breaks(y, 2)\nreturn z * 2",
    "list": "return list((x, x))[1] + tuple([x])[0]", "set": "return x * len(set([1, 1, 2]))",
    "hash": "return x * (hash(1) + ord('a') - ord('a'))", "getattr": "return getattr(x, 'shape')[0] * x",
    "sorted": "return x * sorted([3, 1, 2], key=lambda n: -n)[0]", "map": "return list(map(lambda v: v + 1, [x, x]))[1]",
    "dtype": "return x.to(xp.float64) + 1", "match of words": "return x * ('a' in 'abc') * 'abc'.index('c')",
    "class in a module of operations": "return Inside(x + 1, 2).times(3)",
    "str of an object": "return x * len(str(Named()))",
    "callable": "return x * callable(helper)", "method of a list": "l = [x]\nl.append(x * 2)\nreturn l[1] + l[-2]",
}  # fmt: skip
ELSE = {"an object": "adds(x)", "partial": "twice(x)", "descriptor": "str.upper('a')"}  # torch captures these
CALLABLES = ELSE | {  # a callable, as a call of it in a function
    "print": "print(end='')", "sleep": "time.sleep(0)", "off": "off(x)", "helper": "helper(x, 2)", "sqrt": "math.sqrt(4)",
    "relu": "xp.relu(x)", "len": "len([x])", "upper": "'a'.upper()", "int": "int('3')", "object": "Scaled(x, 2)",
    "abstract": "Abstract(x, 2)",
    "round": "round(2.5)", "input": "sys.getrefcount(x)", "gc": "gc.collect()", "wrapper": "gc.collect.__call__()",
    "on": "on(x)", "bits": "True.bit_length()", "upper of a derived class": "word.upper()", "conjugate": "1j.conjugate()",
    "fromhex": "bytes.fromhex('01')", "maketrans": "str.maketrans('a', 'b')", "quiet": "quiet(x)",
    "disabled, with a rule": "xp.is_tensor(x)",
}  # fmt: skip
CALL_HELPERS = f"""import abc, functools, gc, math, sys, time, types
{BREAKS}def helper(v, n):
    return v * n

class Scaled:
    def __init__(self, v, n):
        self.v, self.n = v, n

    def times(self, k):
        return self.v * self.n * k

@xp._dynamo.disable if hasattr(xp, "_dynamo") else xp.dynamo.disable
def off(v):
    return v - 1

def on(v):
    return v - 1

on._dynamo_disable = on._torchdynamo_disable = False

quiet = types.FunctionType(xp.nn.functional.relu.__code__, xp.nn.functional.relu.__globals__)  # in the same module
quiet.__defaults__ = xp.nn.functional.relu.__defaults__
quiet._dynamo_disable = quiet._torchdynamo_disable = True

def both(v):
    yield v
    yield v * 2

class Metres(float):
    pass

class Word(str):
    pass

word = Word('a')

class Named:
    def __str__(self):
        return 'ab'

class Abstract(Scaled, abc.ABC):
    pass

class Adds:
    def __call__(self, v):
        return v + 1

adds, twice = Adds(), functools.partial(helper, n=2)

class Inside(Scaled):
    __module__ = xp.nn.functional.__name__

"""


@program(
    "dynamo.calls.how_to_call",
    cases=drawn(name=list(CALLED)),
    edges=[{"name": name} for name in CALLED],
    hint=lambda case, mine, theirs: CALLED[case["name"]],
    draws=10,
)
def calls_made(xp, name):
    text = f"{CALL_HELPERS}def f(x):\n    x = x + 1\n{indented(CALLED[name])}\n"
    return captured(xp, define(xp, text), [[xp.arange(3.0)]])


@program(
    "dynamo.calls.how_to_call.breaks",
    cases=drawn(name=list(CALLABLES)),
    edges=[{"name": name} for name in CALLABLES],
    hint=lambda case, mine, theirs: f"a call of {CALLABLES[case['name']].partition('(')[0]}",
    draws=5,
)
def whether_it_breaks(xp, name):
    called = define(xp, f"{CALL_HELPERS}called = {CALLABLES[name].partition('(')[0]}\n", "called")
    with _disabled(xp, name):
        return {"breaks": xp.dynamo.calls.how_to_call(called) == "break"}


@whether_it_breaks.oracle
def _(torch, name):
    if name in ELSE:
        return {"breaks": True}
    function = define(torch, f"{CALL_HELPERS}def f(x):\n    y = x + 1\n    {CALLABLES[name]}\n    return y * 2\n")
    with _disabled(torch, name):
        return {"breaks": len(captured(torch, function, [[torch.arange(3.0)]])[0]["graphs"]) > 1}


def _disabled(xp, name):
    """Within, `is_tensor` is disabled if the name says so."""
    disabled = dict.fromkeys(("_dynamo_disable", "_torchdynamo_disable"), True)
    return patch.dict(vars(xp.is_tensor), disabled if name.startswith("disabled") else {})


# Together ------------------------------------------------------------------------------------------------------------


_calls = several(listed((2, 3), (1, 2)), 1, 4)
_together = {
    "edges": [
        {"text": text_of(lines), "calls": [[2, 1], [3, 1], [2, 2], [2, 1]]}
        for lines in (["x = x * k + y"], ["if k > 1:\n    x = x * 2"], ["x = helper(x, k)"])
    ],
    "hint": lambda case, mine, theirs: case["text"],
    "draws": 15,
}


@program("together.captured", cases=drawn(text=drawn_texts(LINES, 5), calls=_calls), **_together)
def programs_captured(xp, text, calls):
    """Random functions, called with tensors of several sizes and several numbers: the graphs of each call, and the results."""
    return calls_of(xp, text, calls)
