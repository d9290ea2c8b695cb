"""Checks of lab 02: operator schemas, and the arguments of a call by its schema."""

import itertools
import re
from functools import cache

from ...engine.check import program
from ..cases import drawing, rows, when
from ..shared_02.keys import IMPLICIT
from ..shared_02.operators import library, pack, unpack

_TYPES = [
    "Tensor", "Tensor?", "Tensor[]", "Tensor?[]", "Tensor(a!)", "Tensor(a)", "Tensor(b!)?", "Tensor(a!)[]", "int", "int?",
    "int[]", "int[2]", "int[]?", "int[1]?", "float", "float?", "float[]", "bool", "bool[3]", "str", "str?", "Scalar",
    "Scalar?", "ScalarType?", "Device?", "MemoryFormat?", "Layout", "Generator?", "SymInt", "SymInt[]",
]  # fmt: skip
_DEFAULTS = {
    "int": ["0", "1", "-1", "42", "Mean"], "int[]": ["[]", "[1]", "[1,2]", "[0, -1]"],
    "int[2]": ["[1,2]", "[3, 3]", "1", "-1"], "float": ["1.0", "0.5", "-2.5", "1e-05", "1", "1e10"],
    "float[]": ["[1.0, 2.5]", "[1]", "[]"], "bool": ["True", "False"], "bool[3]": ["[True,False,True]", "True"],
    "str": ['"a"', "'b'", '"a,b"', "'(,'", '"it\'s"', "']'", "'say \"x\"'"], "Scalar": ["1", "0.5", "-3"],
}  # fmt: skip


@cache  # other strategies draw from it
@drawing
def _arguments(draw, st, name="x"):
    """The text of an argument, with or without a default."""
    type = draw(st.sampled_from(_TYPES))
    gap, around = draw(st.sampled_from([" ", " ", " ", "  "])), draw(st.sampled_from(["", "", " "]))
    defaults = ["None"] if type.endswith("?") else _DEFAULTS.get(type, [])
    if not defaults or draw(st.booleans()):
        return f"{type}{gap}{name}"
    return f"{type}{gap}{name}{around}={around}{draw(st.sampled_from(defaults))}"


@drawing
def _lists_of_arguments(draw, st):
    count = draw(st.integers(0, 5))
    parts = [draw(st.one_of(_arguments(st, f"x{i}"), st.just(f"(int, float) x{i}"))) for i in range(count)]
    parts.sort(key=lambda part: "=" in part)  # those with a default come last
    text = draw(st.sampled_from(["", " "])) + draw(st.sampled_from([", ", ",", " , "])).join(parts)
    return {"text": text + draw(st.sampled_from(["", " "]))}


@program(
    "c10.schema.split_at_commas",
    cases=_lists_of_arguments,
    edges=[{"text": text} for text in (
        "", " ", "int x", " int x ", "int x, int y", "int x,int y , int z",
        "Tensor self, Tensor other, *, Scalar alpha=1", "Tensor(a!) x, int[2] d=[1,2]", "int[] a=[1, 2, 3], int b=1",
        "(int, float) x, int y", "(int, (int, int)) x, int[] y=[1,2]", 'str s="a,b", int y=1', "str s='a,b', int y=1",
        'str s="it\'s, so", int y=1', "str s='say \", so', int y=1", 'str s="(", int y=1', 'str s="[,", int y=1',
        "str s=')', int y=1", "str s=']', int[] y=[1, 2], int z=0", "str s=\"'\", str t='\"', int y=1",
        "Tensor?[] a, int[]? b=None, int[1] c=[0]", "\tint x,\n\tint[10] y = 1", "int x, , int y", "int x,,int y", "int x,",
        ",int x, ,", ",", " , ", "(int, (int, int), int) x, int y",
    )],
    hint=when(lambda case: {*"'\""} & {*case["text"]}, "inside quotes brackets and the other kind of quote do not count"),
)  # fmt: skip
def parts(xp, text):
    return xp.schema.split_at_commas(text)


@parts.oracle
def _(torch, text):
    """A comma ends a part where torch can read both the text before it and the text after it as arguments.

    It reads an argument in the place of each part that is empty.
    """
    if "," in text:
        text = re.sub(r"(?:^|(?<=,))\s*(?=,|$)", " int nothing", text)

    def is_list(text):
        try:
            return torch._C.parse_schema(f"f({text}) -> ()") is not None
        except RuntimeError:
            return False

    commas = [i for i, letter in enumerate(text) if letter == "," and is_list(text[:i]) and is_list(text[i + 1 :])]
    borders = [-1, *commas, len(text)]
    count = len(torch._C.parse_schema(f"f({text}) -> ()").arguments)
    parts = [text[i + 1 : j].strip() for i, j in itertools.pairwise(borders)] if count else []
    return ["" if part == "int nothing" else part for part in parts]


@drawing
def _schemas(draw, st):
    arguments = [draw(_arguments(st, f"x{i}")) for i in range(draw(st.integers(0, 4)))]
    if draw(st.integers(0, 5)) or any("[" in argument for argument in arguments):
        arguments.sort(key=lambda argument: "=" in argument)
    if arguments and draw(st.integers(0, 2)) == 0:
        arguments.insert(draw(st.integers(0, len(arguments))), "*")
    results = [draw(st.sampled_from(["Tensor", "Tensor(a!)", "int", "Tensor[]", "Tensor out"])) for _ in range(3)]
    results = results[: draw(st.integers(0, 3))]
    returns = results[0] if len(results) == 1 and draw(st.booleans()) else f"({', '.join(results)})"
    name = draw(st.sampled_from(["f", "f_", "_f", "ns::f", "f.Tensor", "ns::f.out", "__and__.Tensor"]))
    arrow = draw(st.sampled_from([" -> ", " -> ", "->"]))
    text = f"{name}({', '.join(arguments)}){arrow}{returns}"
    fault = draw(st.integers(0, 11))  # sometimes a letter is missing
    cut = draw(st.integers(0, len(text) - 1))
    return {"text": text[:cut] + text[cut + 1 :] if fault == 0 and text[cut] in "()->:[]" else text}


_SCHEMAS = [
    "f(Tensor x) -> Tensor", "ns::f(Tensor x) -> Tensor", "ns::f.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)",
    "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", "f() -> ()", "f() -> int", "f (int a)->int",
    "f(*, int a) -> int", "f(int a, *, int b, *, int c) -> int", "f(Tensor x) -> (Tensor, int)",
    "f(Tensor x) -> (Tensor values, Tensor indices)", "f(Tensor x) -> (Tensor)", "f(Tensor x) -> (Tensor a)",
    "f(Tensor x) -> Tensor a", "f(Tensor(a!) a, Tensor(b!) b) -> (Tensor(a!), Tensor(b!))",
    'f(int[2] d=[1,2], str s="->", *, float eps=1e-05) -> Tensor[]', 'f(str s=") -> (") -> Tensor',
    "f(int a=1, int b) -> int", "f(int a=1, *, int b) -> int", "f(int? a=None, int b=2, *, int c, int d=3) -> int",
    "f(int) -> int", "f(int a, Tensor) -> int", "f(int a", "f(int a)", "f(int a) ->", "f(int a) -> ", "f(int a -> int",
    "f(int a) -> (int", "f int a) -> int", "(int a) -> int", "1f(int a) -> int", "f.default(int a) -> int",
    "f.defaults(int a) -> int", "f.a.b(int a) -> int", "f(int a,) -> int", "f(int a,, int b) -> int",
    "f(int a b) -> int", "", "f(Tensor x) -> Tensor, Tensor", "f(Tensor x) -> (Tensor), Tensor", "f() -> (int,)",
    "f(int a=0, int b) -> ()", "f(bool a=False, int b) -> ()", "f(int? a=None, int b) -> ()", "f(str a='', int b) -> ()",
    "f(int a=0, *, int b=0, int c) -> ()", "f (\tint[10] a ,\tint b=9007199254740993 )\t->\t( int , int\tb10 ) ",
    "ns2::f2.out10(*, *, int a) -> ()", "f(int a, *) -> ( )", "f(*) -> Tensor(a!)[]", "f._x(Tensor? a) -> Tensor?",
    "f(int a) -> int)", "f(int a) int", "default(int a) -> int", "f(int[] a=[], int b) -> ()", "f(int a)) -> int",
    "f(int a) b -> int", "f(*, int) -> int", "ns::f.default(int a) -> int", 'f(str s=" -> ")->int',
]  # fmt: skip


@program("c10.schema.parse_schema", cases=_schemas, edges=[{"text": text} for text in _SCHEMAS])
def schema(xp, text):
    read = xp.schema.parse_schema(text, "lab")
    assert isinstance(read.arguments, tuple) and isinstance(read.returns, tuple), "arguments and returns are tuples"
    shown = {"namespace": read.namespace, "namespace by default": xp.schema.parse_schema(text).namespace}
    shown |= {"name": read.name, "overload_name": read.overload_name, "arguments": _named(read.arguments)}
    return shown | {"returns": _named(read.returns), "text": str(read)}


def _named(arguments):
    return [{"name": argument.name, "kwarg_only": argument.kwarg_only} for argument in arguments]


@schema.oracle
def _(torch, text):
    read = torch._C.parse_schema(text)
    namespace, _, name = read.name.rpartition("::")
    shown = {"namespace": namespace or "lab", "namespace by default": namespace or "aten"}
    shown |= {"name": name, "overload_name": read.overload_name, "arguments": _named(read.arguments)}
    return shown | {"returns": _named(read.returns), "text": str(read) if namespace else f"lab::{read}"}


_NONE, _TWO = "f() -> ()", "f(int a, int b) -> ()"
_LONG = "f(int a, int b=2, int c=3, *, int d, int e=5) -> ()"
_MIXED = "f(Tensor x, int a=2, *, float b=1.0) -> ()"
_DEFAULTED = "f(int[] a=[1,2], str? b=None, bool c=True) -> ()"
_BY_NAME = "f(*, int z=1, Tensor? b=None, str c='q') -> ()"
_LISTS = "f(Tensor[] a, Scalar b=1, *, int[2] c=1) -> ()"
_OPTIONAL = "f(int? a=1, str? b='q', *, bool? c=True, int? d=0) -> ()"
_RESERVED = "f(Tensor self, float from=0.0, *, Scalar lambda=1) -> ()"  # names that Python does not allow
CALLED = sorted([_NONE, _TWO, _LONG, _MIXED, _DEFAULTED, _BY_NAME, _LISTS, _OPTIONAL, _RESERVED])
PASSED = {  # the values to pass, by type
    "Tensor": ["cpu", "meta"], "Tensor?": ["cpu", None], "Tensor[]": [["cpu"], [], ["meta", "cpu"]],
    "int": [0, 1, 2, 3, 5, -4], "int[]": [[1, 2], [], [2, 1], [7]], "int[2]": [[1, 1], [1, 2]], "float": [1.0, 2.5],
    "str": ["q", "", "x"], "str?": [None, "x", "q"], "bool": [True, False], "Scalar": [1, 1.5, 0, 1.0, True],
    "int?": [None, 0, 1], "bool?": [None, False, True],
}  # fmt: skip


def arguments_of(schema):
    """Of each argument of a schema above: its name, its type, whether it is keyword-only and whether it has a default."""
    arguments, kwarg_only = [], False
    for part in re.split(r",\s*(?![^\[]*\])", schema[2:].partition(")")[0]):
        if part == "*":
            kwarg_only = True
        elif part:
            type, name = part.partition("=")[0].split()
            arguments.append((name, type, kwarg_only, "=" in part))
    return arguments


@drawing
def _calls(draw, st):
    schema = draw(st.sampled_from(CALLED))
    args, kwargs, by_name = [], {}, False
    for name, type, kwarg_only, has_default in arguments_of(schema):
        by_name = by_name or kwarg_only or draw(st.integers(0, 3)) == 0
        if draw(st.integers(0, 2 if has_default else 12)) == 0:
            by_name = True
        elif by_name:
            kwargs[name] = draw(st.sampled_from(PASSED[type]))
        else:
            args.append(draw(st.sampled_from(PASSED[type])))
    fault = draw(st.integers(0, 11))
    positional = [(name, type) for name, type, kwarg_only, _ in arguments_of(schema) if not kwarg_only]
    if fault == 0:
        name, type = draw(st.sampled_from([("zz", "int"), *positional]))
        kwargs[name] = draw(st.sampled_from(PASSED[type]))
    elif fault == 1:
        args += [1] * (len(positional) + 1 - len(args))
    return {"schema": schema, "args": args, "kwargs": dict(draw(st.permutations(list(kwargs.items()))))}


def split(schema, stack):
    """The args and kwargs that pass these values."""
    kwarg_only = [argument[2] for argument in arguments_of(schema)]
    kwargs = {argument[0]: value for argument, value in zip(arguments_of(schema), stack) if argument[2]}
    return [value for value, named in zip(stack, kwarg_only) if not named], kwargs


def with_defaults(torch, schema, args, kwargs):
    """All arguments of a call in the schema's order, with torch's defaults for those that are missing."""
    missing = torch._C.parse_schema(schema).arguments[len(args) :]
    return [*args, *(kwargs.get(argument.name, argument.default_value) for argument in missing)]


def received(torch, text, args, kwargs):
    """The args and kwargs that a kernel in Python receives."""
    got = []
    with library(torch) as (namespace, made):
        made.define(text)
        made.impl("f", lambda *args, **kwargs: got.append((args, kwargs)), IMPLICIT)
        getattr(torch.ops, namespace).f(*args, **kwargs)
    return got[0]


_CALLS = rows(
    "schema args kwargs",
    (_NONE, [], {}), (_NONE, [1], {}), (_NONE, [], {"a": 1}), (_TWO, [1, 2], {}), (_TWO, [1], {"b": 2}),
    (_TWO, [], {"b": 2, "a": 1}), (_TWO, [1], {}), (_TWO, [], {"b": 2}), (_TWO, [1, 2, 3], {}),
    (_TWO, [1, 2], {"a": 1}), (_TWO, [1], {"a": 1, "b": 2}), (_TWO, [1, 2], {"c": 1}), (_TWO, [1], {"a": 5}),
    (_LONG, [1], {"d": 4}), (_LONG, [1, 7], {"d": 4}), (_LONG, [1], {"d": 4, "c": 7}),
    (_LONG, [1, 7, 8], {"e": 9, "d": 4}), (_LONG, [1, 2, 3, 4], {}), (_LONG, [1, 2, 3], {}),
    (_LONG, [1], {"d": 4, "zz": 1}), (_LONG, [1], {"d": 4, "a": 1}), (_LONG, [1, 2, 3, 4], {"e": 5}),
    (_LONG, [1, 2, 3, 4], {"d": 5}), (_LONG, [], {}), (_LONG, [], {"e": 6, "d": 4, "c": 5, "a": 1}), (_BY_NAME, [], {}),
    (_BY_NAME, [1], {}), (_BY_NAME, [], {"b": "cpu"}), (_LISTS, [["cpu", "meta"]], {}), (_DEFAULTED, [], {"c": False}),
    (_OPTIONAL, [], {"a": None, "c": None}), (_OPTIONAL, [None, None], {"d": None}), (_OPTIONAL, [0, ""], {"c": False}),
    (_OPTIONAL, [], {"d": 0, "c": True, "b": "q", "a": 1}), (_RESERVED, ["cpu"], {"lambda": 2}),
    (_RESERVED, [], {"from": 2.5, "self": "cpu"}),
)  # fmt: skip


@program("c10.schema.bind", cases=_calls, edges=_CALLS, disposable=True)
def stack(xp, schema, args, kwargs):
    args, kwargs = tuple(unpack(xp, args)), unpack(xp, kwargs)
    before = kwargs.copy()
    try:
        return pack(xp, xp.schema.bind(xp.schema.parse_schema(schema), args, kwargs))
    finally:
        assert kwargs == before, f"the caller's kwargs, {before}, are now {kwargs}"


@stack.oracle
def _(torch, schema, args, kwargs):
    """The arguments that the kernel received, and torch's defaults for the others."""
    args, kwargs = received(torch, schema, unpack(torch, args), unpack(torch, kwargs))
    return pack(torch, with_defaults(torch, schema, args, kwargs))
