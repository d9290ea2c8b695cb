"""Lab 02: the dispatcher.

Key sets are written as lists of names: of keys, or of single bits (a backend, a functionality). Every case that registers
something does so in a namespace of its own, and takes it back; torch's side of such a check runs in a process of its own.
"""

from __future__ import annotations

import itertools
import re
from contextlib import ExitStack, contextmanager
from functools import cache

from ...check import program

NAMESPACE = "lab02"
BACKENDS = ["CPU", "CUDA", "PrivateUse1", "Meta"]
FUNCTIONALITIES = [
    *("Dense", "BackendSelect", "Python", "ADInplaceOrView"),
    *("AutogradFunctionality", "AutocastCPU", "AutocastCUDA"),
]
AUTOGRAD = ["AutogradCPU", "AutogradCUDA", "AutogradPrivateUse1", "AutogradMeta"]
RUNTIME = [*BACKENDS, "BackendSelect", "Python", "ADInplaceOrView", *AUTOGRAD, "AutocastCPU", "AutocastCUDA"]
IMPLICIT, EXPLICIT = "CompositeImplicitAutograd", "CompositeExplicitAutograd"
NON_FUNCTIONAL = "CompositeExplicitAutogradNonFunctional"
ALIASES = ["Autograd", IMPLICIT, EXPLICIT, NON_FUNCTIONAL]


# What both sides need ------------------------------------------------------------------------------------------------


def is_torch(xp):
    return xp.__name__ == "torch"


def bit(xp, name):
    """The set of one bit: of a backend, or of a functionality."""
    if not is_torch(xp):
        return xp.dispatch.BIT[name]
    of = xp._C.DispatchKeySet
    keys = xp._C.DispatchKey
    return of(getattr(keys, name)) - of(keys.Dense) if name in BACKENDS else of(getattr(keys, name))


def bits(xp, names):
    """The set of these bits."""
    united = xp._C.DispatchKeySet(xp._C.DispatchKey.Undefined) if is_torch(xp) else 0
    for name in names:
        united = united | bit(xp, name)
    return united


def bits_of(xp, keys):
    """The bits of these keys, each one a backend's and a functionality's, or a functionality's alone."""
    names = set()
    for key in keys:
        backend = next((backend for backend in BACKENDS if key.removeprefix("Autograd") == backend), None)
        functionality = "AutogradFunctionality" if key.startswith("Autograd") else "Dense"
        names |= {key} if backend is None else {backend, functionality}
    return bits(xp, names)


def names(xp, key_set):
    """The names of a set's bits, and how many bits it has that mean nothing."""
    number = key_set.raw_repr() if is_torch(xp) else int(key_set)
    known = {name: raw(xp, name) for name in [*BACKENDS, *FUNCTIONALITIES]}
    others = bin(number & ~sum(known.values())).count("1")
    return [name for name, value in known.items() if value & number] + [f"{others} other bits"] * bool(others)


def raw(xp, name):
    return bit(xp, name).raw_repr() if is_torch(xp) else bit(xp, name)


@contextmanager
def library(xp):
    """A namespace of one's own, and what to define and register in it. Afterwards all is as before, also where a student's
    piece has left a mode or a key behind."""
    made = xp.library.Library(NAMESPACE, "DEF")
    state = {} if is_torch(xp) else vars(xp.dispatch.local)
    before = {name: list(value) if name == "modes" else value for name, value in state.items()}
    try:
        yield NAMESPACE, made
    finally:
        made._destroy()
        state.update(before)


def example(xp, device):
    """A tensor of one element on a device, made without a call of the dispatcher."""
    return xp.empty(1, device=device) if is_torch(xp) else xp.strided.empty_strided((1,), (1,), xp.float32, device)


def unpack(xp, value):
    """An argument in a case: `"cpu"` and `"meta"` stand for tensors."""
    if isinstance(value, (list, tuple)):
        return [unpack(xp, item) for item in value]
    return example(xp, value) if value in ("cpu", "meta") else value


def pack(xp, value):
    """The other way, to show an argument."""
    if isinstance(value, xp.Tensor):
        return str(value.device)
    if isinstance(value, (list, tuple)):
        return [pack(xp, item) for item in value]
    return {name: pack(xp, item) for name, item in value.items()} if isinstance(value, dict) else value


def listed(xp, key_set):
    """A key set as text."""
    return f"<{' '.join(names(xp, key_set))}>"


def passed(xp, args, kwargs):
    """The arguments of a call as text."""
    return f"args {pack(xp, args)}, kwargs {pack(xp, kwargs)}"


def attempt(call):
    """What a call returns, or the name of the built-in error it raises."""
    try:
        return call()
    except RecursionError:
        raise
    except Exception as error:
        return next(base.__name__ for base in type(error).__mro__ if base.__module__ == "builtins")


def subsets(st, of, least=0, most=None):
    """Some of these, in their order."""
    chosen = st.sets(st.sampled_from(of), min_size=least, max_size=most)
    return chosen.map(lambda some: [item for item in of if item in some])


# Keys and sets of them -----------------------------------------------------------------------------------------------


@program(
    "dispatch.bits",
    cases=lambda st: st.fixed_dictionaries({"keys": subsets(st, ["Undefined", "Dense", *RUNTIME, *ALIASES], 1, 3)}),
    edges=[{"keys": [key]} for key in ("Undefined", "Dense", "AutogradFunctionality", *RUNTIME, *ALIASES)],
    hint=lambda case, mine, theirs: (
        "an alias key is registered to, but no tensor has it: it has no bits"
        if set(case["keys"]) & set(ALIASES)
        else None
    ),
)
def bits_of_keys(xp, keys):
    return [names(xp, xp.dispatch.bits(getattr(xp._C.DispatchKey, key))) for key in keys]


@bits_of_keys.oracle
def _(torch, keys):
    return [names(torch, torch._C.DispatchKeySet(getattr(torch._C.DispatchKey, key))) for key in keys]


def _sets_of_bits(st):
    return st.fixed_dictionaries({"bits": subsets(st, [*BACKENDS, *FUNCTIONALITIES])})


_SETS = [
    {"bits": some}
    for some in (
        [],
        ["CPU"],
        ["CPU", "Meta"],
        ["Dense"],
        ["AutogradFunctionality"],
        ["CPU", "Dense"],
        ["Meta", "Dense"],
        ["CUDA", "Dense"],
        ["PrivateUse1", "Dense"],
        ["CPU", "Meta", "Dense"],
        ["CUDA", "PrivateUse1", "Dense"],
        ["CPU", "AutogradFunctionality"],
        ["PrivateUse1", "AutogradFunctionality"],
        ["CUDA", "Meta", "AutogradFunctionality"],
        ["CPU", "Dense", "AutogradFunctionality"],
        ["CPU", "PrivateUse1", "Dense", "AutogradFunctionality", "ADInplaceOrView"],
        ["CPU", "Dense", "AutogradFunctionality", "AutocastCPU", "ADInplaceOrView"],
        ["CPU", "Dense", "Python", "BackendSelect", "ADInplaceOrView"],
        ["BackendSelect"],
        ["Python"],
        ["Meta", "ADInplaceOrView"],
        ["CPU", "CUDA", "AutocastCPU", "AutocastCUDA"],
        ["CPU", "AutocastCPU"],
        ["Dense", "AutogradFunctionality", "Python"],
        [*BACKENDS, *FUNCTIONALITIES],
    )
]


@program("dispatch.highest_priority_key", cases=_sets_of_bits, edges=_SETS)
def highest_key(xp, bits):
    return xp._C.DispatchKey(xp.dispatch.highest_priority_key(united(xp, bits))).name


@highest_key.oracle
def _(torch, bits):
    return _highest(torch, bits)


def _highest(torch, bits):
    """The name of a set's highest key; torch has one of its own for a functionality whose backend is missing."""
    name = united(torch, bits).highestPriorityTypeId().name
    without_backend = {"StartOfDenseBackends": "Dense", "StartOfAutogradFunctionalityBackends": "AutogradFunctionality"}
    return without_backend.get(name, name)


@program(
    "dispatch.keys_in",
    cases=_sets_of_bits,
    edges=_SETS,
    hint=lambda case, mine, theirs: (
        "each functionality that is per backend is there on every backend of the set"
        if len(set(BACKENDS) & set(case["bits"])) > 1
        else None
    ),
)
def keys_of_a_set(xp, bits):
    return [xp._C.DispatchKey(key).name for key in xp.dispatch.keys_in(united(xp, bits))]


@keys_of_a_set.oracle
def _(torch, bits):
    return re.findall(r"\w+", str(united(torch, bits)))[1:]


united = bits  # the function, where `bits` is a case's


# Schemas -------------------------------------------------------------------------------------------------------------

_TYPES = ["Tensor", "Tensor?", "Tensor[]", "Tensor?[]", "Tensor(a!)", "Tensor(a)", "Tensor(b!)?", "Tensor(a!)[]"]
_TYPES += [
    "int",
    "int?",
    "int[]",
    "int[2]",
    "int[]?",
    "int[1]?",
    "float",
    "float?",
    "float[]",
    "bool",
    "bool[3]",
    "str",
    "str?",
]
_TYPES += ["Scalar", "Scalar?", "ScalarType?", "Device?", "MemoryFormat?", "Layout", "Generator?", "SymInt", "SymInt[]"]
_DEFAULTS = {
    "int": ["0", "1", "-1", "42", "Mean"],
    "int[]": ["[]", "[1]", "[1,2]", "[0, -1]"],
    "int[2]": ["[1,2]", "[3, 3]", "1", "-1"],
    "float": ["1.0", "0.5", "-2.5", "1e-05", "1", "1e10"],
    "float[]": ["[1.0, 2.5]", "[1]", "[]"],
    "bool": ["True", "False"],
    "bool[3]": ["[True,False,True]", "True"],
    "str": ['"a"', "'b'", '"a,b"', "'(,'", '"it\'s"', "']'", "'say \"x\"'"],
    "Scalar": ["1", "0.5", "-3"],
}


@cache  # as in cases.py
def _arguments(st, name="x"):
    """The text of an argument, with or without a default."""

    @st.composite
    def draw_argument(draw):
        type = draw(st.sampled_from(_TYPES))
        gap, around = draw(st.sampled_from([" ", " ", " ", "  "])), draw(st.sampled_from(["", "", " "]))
        defaults = ["None"] if type.endswith("?") else _DEFAULTS.get(type, [])
        if not defaults or draw(st.booleans()):
            return f"{type}{gap}{name}"
        return f"{type}{gap}{name}{around}={around}{draw(st.sampled_from(defaults))}"

    return draw_argument()


def _lists_of_arguments(st):
    @st.composite
    def draw_list(draw):
        count = draw(st.integers(0, 5))
        parts = [draw(st.one_of(_arguments(st, f"x{i}"), st.just(f"(int, float) x{i}"))) for i in range(count)]
        parts.sort(key=lambda part: "=" in part)  # those with a default come last
        text = draw(st.sampled_from(["", " "])) + draw(st.sampled_from([", ", ",", " , "])).join(parts)
        return {"text": text + draw(st.sampled_from(["", " "]))}

    return draw_list()


@program(
    "schema.split_at_commas",
    cases=_lists_of_arguments,
    edges=[
        {"text": text}
        for text in (
            "",
            " ",
            "int x",
            " int x ",
            "int x, int y",
            "int x,int y , int z",
            "Tensor self, Tensor other, *, Scalar alpha=1",
            "Tensor(a!) x, int[2] d=[1,2]",
            "int[] a=[1, 2, 3], int b=1",
            "(int, float) x, int y",
            "(int, (int, int)) x, int[] y=[1,2]",
            'str s="a,b", int y=1',
            "str s='a,b', int y=1",
            'str s="it\'s, so", int y=1',
            "str s='say \", so', int y=1",
            'str s="(", int y=1',
            'str s="[,", int y=1',
            "str s=')', int y=1",
            "str s=']', int[] y=[1, 2], int z=0",
            "str s=\"'\", str t='\"', int y=1",
            "Tensor?[] a, int[]? b=None, int[1] c=[0]",
        )
    ],
    hint=lambda case, mine, theirs: (
        "inside quotes a bracket is no bracket" if "'" in case["text"] or '"' in case["text"] else None
    ),
)
def parts(xp, text):
    return xp.schema.split_at_commas(text)


@parts.oracle
def _(torch, text):
    """A comma ends a part where torch can read both what stands before it and what stands after it as arguments."""

    def is_list(text):
        try:
            return torch._C.parse_schema(f"f({text}) -> ()") is not None
        except RuntimeError:
            return False

    commas = [i for i, letter in enumerate(text) if letter == "," and is_list(text[:i]) and is_list(text[i + 1 :])]
    borders = [-1, *commas, len(text)]
    count = len(torch._C.parse_schema(f"f({text}) -> ()").arguments)
    return [text[i + 1 : j].strip() for i, j in itertools.pairwise(borders)] if count else []


def _single_arguments(st):
    wrong = [
        "",
        "int x y",
        "int 1x",
        "1 x",
        "int[ x",
        "int] x",
        "Tensor x=1",
        "int x=",
        "int x=3=4",
        "(x",
        "Tensor(a x",
        "-",
        "int x=[",
    ]
    text = st.one_of(*[_arguments(st)] * 6, st.sampled_from(_TYPES), st.sampled_from(wrong))
    return st.fixed_dictionaries({"text": text, "kwarg_only": st.booleans()})


@program(
    "schema.parse_argument",
    cases=_single_arguments,
    edges=[
        {"text": text, "kwarg_only": kwarg_only}
        for text, kwarg_only in (
            ("Tensor x", False),
            ("Tensor x", True),
            ("Tensor", False),
            ("Tensor(a!)", False),
            ("Tensor(a!) x", False),
            ("Tensor(a!)[]? x", False),
            ("Tensor?[] x", False),
            ("Tensor? x=None", True),
            ("int[2] dim=[0, 1]", False),
            ("int[2] dim=1", False),
            ("int  x  =  3", False),
            ("int x=-1", True),
            ("float x=1", False),
            ("float x=2.5", True),
            ("float[] x=[1, 2]", False),
            ("float? x=None", False),
            ("bool x=True", False),
            ("bool x=False", True),
            ('str x="a,b"', False),
            ("str? x=None", False),
            ("int reduction=Mean", False),
            ("Scalar x=1", False),
            ("ScalarType? dtype=None", True),
            ("int _x1", False),
            ("", False),
            ("int x y", False),
            ("int 1x", False),
            ("1 x", False),
            ("int[ x", False),
            ("Tensor x=1", False),
            ("int x=", False),
            ("int x=3=4", False),
        )
    ],
)
def argument(xp, text, kwarg_only):
    read = xp.schema.parse_argument(text, kwarg_only)
    return {
        "name": read.name,
        "type": read.type,
        "alias": read.alias,
        "default": read.default if read.has_default else "(required)",
        "kwarg_only": read.kwarg_only,
    }


@argument.oracle
def _(torch, text, kwarg_only):
    """As an argument of a schema that torch reads and writes again, or, if it has no name, as a return."""
    try:
        schema = torch._C.parse_schema(f"f({'*, ' * kwarg_only}{text}) -> ()")
        (read,), written = schema.arguments, str(schema)[2:-7].removeprefix("*, ")
    except (RuntimeError, ValueError):
        schema = torch._C.parse_schema(f"f() -> {text}")
        (read,), written = schema.returns, str(schema).partition("-> ")[2]
    type = written.partition("=")[0].removesuffix(read.name).strip()
    return {
        "name": read.name,
        "type": re.sub(r"\(.*\)", "", type),
        "alias": type.partition("(")[2].partition(")")[0],
        "default": read.default_value if read.has_default_value() else "(required)",
        "kwarg_only": kwarg_only,
    }


def _schemas(st):
    @st.composite
    def draw_schema(draw):
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
        fault = draw(st.integers(0, 11))  # now and then a letter too few
        cut = draw(st.integers(0, len(text) - 1))
        return {"text": text[:cut] + text[cut + 1 :] if fault == 0 and text[cut] in "()->:[]" else text}

    return draw_schema()


@program(
    "schema.parse_schema",
    cases=_schemas,
    edges=[
        {"text": text}
        for text in (
            "f(Tensor x) -> Tensor",
            "ns::f(Tensor x) -> Tensor",
            "ns::f.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)",
            "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
            "f() -> ()",
            "f() -> int",
            "f (int a)->int",
            "f(*, int a) -> int",
            "f(int a, *, int b, *, int c) -> int",
            "f(Tensor x) -> (Tensor, int)",
            "f(Tensor x) -> (Tensor values, Tensor indices)",
            "f(Tensor x) -> (Tensor)",
            "f(Tensor x) -> (Tensor a)",
            "f(Tensor x) -> Tensor a",
            "f(Tensor(a!) a, Tensor(b!) b) -> (Tensor(a!), Tensor(b!))",
            'f(int[2] d=[1,2], str s="->", *, float eps=1e-05) -> Tensor[]',
            'f(str s=") -> (") -> Tensor',
            "f(int a=1, int b) -> int",
            "f(int a=1, *, int b) -> int",
            "f(int? a=None, int b=2, *, int c, int d=3) -> int",
            "f(int) -> int",
            "f(int a, Tensor) -> int",
            "f(int a",
            "f(int a)",
            "f(int a) ->",
            "f(int a) -> ",
            "f(int a -> int",
            "f(int a) -> (int",
            "f int a) -> int",
            "(int a) -> int",
            "1f(int a) -> int",
            "f.default(int a) -> int",
            "f.defaults(int a) -> int",
            "f.a.b(int a) -> int",
            "f(int a,) -> int",
            "f(int a,, int b) -> int",
            "f(int a b) -> int",
            "",
        )
    ],
)
def schema(xp, text):
    read = xp.schema.parse_schema(text, "lab")
    arguments = [[argument.name, argument.kwarg_only] for argument in read.arguments]
    returns = [result.name for result in read.returns]
    return [read.namespace, read.name, read.overload_name, arguments, returns, str(read)]


@schema.oracle
def _(torch, text):
    read = torch._C.parse_schema(text)
    namespace, _, name = read.name.rpartition("::")
    arguments = [[argument.name, argument.kwarg_only] for argument in read.arguments]
    written = str(read) if namespace else f"lab::{read}"
    return [namespace or "lab", name, read.overload_name, arguments, [result.name for result in read.returns], written]


_CALLED = {  # schemas to call, and by type what may be passed
    "f(Tensor x, int a=2, *, float b=1.0) -> ()",
    "f(int a, int b) -> ()",
    "f(int a, int b=2, int c=3, *, int d, int e=5) -> ()",
    "f(int[] a=[1,2], str? b=None, bool c=True) -> ()",
    "f(*, int a=1, Tensor? b=None, str c='q') -> ()",
    "f(Tensor[] a, Scalar b=1, *, int[2] c=1) -> ()",
    "f() -> ()",
}
_PASSED = {
    "Tensor": ["cpu", "meta"],
    "Tensor?": ["cpu", None],
    "Tensor[]": [["cpu"], [], ["meta", "cpu"]],
    "int": [0, 1, 2, 3, 5, -4],
    "int[]": [[1, 2], [], [2, 1], [7]],
    "int[2]": [[1, 1], [1, 2]],
    "float": [1.0, 2.5],
    "str": ["q", "", "x"],
    "str?": [None, "x"],
    "bool": [True, False],
    "Scalar": [1, 1.5, 0],
}


def _typed(schema):
    """Name, type, whether keyword only and whether there is a default, of each argument of a schema above."""
    found, kwarg_only = [], False
    for part in re.split(r",\s*(?![^\[]*\])", schema[2:].partition(")")[0]):
        if part == "*":
            kwarg_only = True
        elif part:
            type, name = part.partition("=")[0].split()
            found.append((name, type, kwarg_only, "=" in part))
    return found


def _calls(st):
    @st.composite
    def draw_call(draw):
        schema = draw(st.sampled_from(sorted(_CALLED)))
        args, kwargs, by_name = [], {}, False
        for name, type, kwarg_only, has_default in _typed(schema):
            by_name = by_name or kwarg_only or draw(st.integers(0, 3)) == 0
            if draw(st.integers(0, 2 if has_default else 12)) == 0:
                by_name = True
            elif by_name:
                kwargs[name] = draw(st.sampled_from(_PASSED[type]))
            else:
                args.append(draw(st.sampled_from(_PASSED[type])))
        fault = draw(st.integers(0, 11))
        positional = [(name, type) for name, type, kwarg_only, _ in _typed(schema) if not kwarg_only]
        if fault == 0:
            name, type = draw(st.sampled_from([("zz", "int"), *positional]))
            kwargs[name] = draw(st.sampled_from(_PASSED[type]))
        elif fault == 1:
            args += [1] * (len(positional) + 1 - len(args))
        return {"schema": schema, "args": args, "kwargs": dict(draw(st.permutations(list(kwargs.items()))))}

    return draw_call()


def received(torch, text, args, kwargs):
    """What a kernel in Python receives: its args and kwargs, and the schema."""
    got = []
    with library(torch) as (namespace, made):
        made.define(text)
        made.impl("f", lambda *args, **kwargs: got.append((args, kwargs)), IMPLICIT)
        getattr(torch.ops, namespace).f(*args, **kwargs)
    return *got[0], torch._C.parse_schema(text)


_LONG = "f(int a, int b=2, int c=3, *, int d, int e=5) -> ()"


@program(
    "schema.bind",
    cases=_calls,
    edges=[
        {"schema": schema, "args": args, "kwargs": kwargs}
        for schema, args, kwargs in (
            ("f() -> ()", [], {}),
            ("f() -> ()", [1], {}),
            ("f() -> ()", [], {"a": 1}),
            ("f(int a, int b) -> ()", [1, 2], {}),
            ("f(int a, int b) -> ()", [1], {"b": 2}),
            ("f(int a, int b) -> ()", [], {"b": 2, "a": 1}),
            ("f(int a, int b) -> ()", [1], {}),
            ("f(int a, int b) -> ()", [], {"b": 2}),
            ("f(int a, int b) -> ()", [1, 2, 3], {}),
            ("f(int a, int b) -> ()", [1, 2], {"a": 1}),
            ("f(int a, int b) -> ()", [1], {"a": 1, "b": 2}),
            ("f(int a, int b) -> ()", [1, 2], {"c": 1}),
            ("f(int a, int b) -> ()", [1], {"a": 5}),
            (_LONG, [1], {"d": 4}),
            (_LONG, [1, 7], {"d": 4}),
            (_LONG, [1], {"d": 4, "c": 7}),
            (_LONG, [1, 7, 8], {"e": 9, "d": 4}),
            (_LONG, [1, 2, 3, 4], {}),
            (_LONG, [1, 2, 3], {}),
            (_LONG, [1], {"d": 4, "zz": 1}),
            (_LONG, [1], {"d": 4, "a": 1}),
            (_LONG, [1, 2, 3, 4], {"e": 5}),
            (_LONG, [1, 2, 3, 4], {"d": 5}),
            (_LONG, [], {}),
            (_LONG, [], {"e": 6, "d": 4, "c": 5, "a": 1}),
            ("f(*, int a=1, Tensor? b=None, str c='q') -> ()", [], {}),
            ("f(*, int a=1, Tensor? b=None, str c='q') -> ()", [1], {}),
            ("f(*, int a=1, Tensor? b=None, str c='q') -> ()", [], {"b": "cpu"}),
            ("f(Tensor[] a, Scalar b=1, *, int[2] c=1) -> ()", [["cpu", "meta"]], {}),
            ("f(int[] a=[1,2], str? b=None, bool c=True) -> ()", [], {"c": False}),
        )
    ],
    disposable=True,
)
def stack(xp, schema, args, kwargs):
    read = xp.schema.parse_schema(schema)
    return pack(xp, xp.schema.bind(read, unpack(xp, args), {name: unpack(xp, value) for name, value in kwargs.items()}))


@stack.oracle
def _(torch, schema, args, kwargs):
    """What arrived, with torch's defaults where nothing did."""
    kwargs = {name: unpack(torch, value) for name, value in kwargs.items()}
    args, kwargs, read = received(torch, schema, unpack(torch, args), kwargs)
    rest = [kwargs.get(argument.name, argument.default_value) for argument in read.arguments[len(args) :]]
    return pack(torch, [*args, *rest])


def _stacks(st):
    @st.composite
    def draw_stack(draw):
        schema = draw(st.sampled_from(sorted(_CALLED)))
        return {"schema": schema, "stack": [draw(st.sampled_from(_PASSED[type])) for _, type, _, _ in _typed(schema)]}

    return draw_stack()


def _about_defaults(case, mine, theirs):
    """What is wrong with the args and kwargs that a stack was made into."""
    match mine, theirs:
        case [list(args), {"dict": kwargs}], [list(wanted), {"dict": wanted_kwargs}]:
            if len(args) < len(wanted):
                return "a default in the middle stays: what follows it has to keep its place"
            if len(args) > len(wanted):
                return "at the end of the args every argument goes that only repeats its default, not just the last one"
            if len(kwargs) > len(wanted_kwargs):
                return "a keyword-only argument that only repeats its default is left out"
    return None


@program(
    "schema.unbind",
    cases=_stacks,
    edges=[
        {"schema": schema, "stack": stack}
        for schema, stack in (
            ("f() -> ()", []),
            ("f(int a, int b) -> ()", [1, 2]),
            ("f(Tensor x, int a=2, *, float b=1.0) -> ()", ["cpu", 2, 1.0]),
            ("f(Tensor x, int a=2, *, float b=1.0) -> ()", ["meta", 2, 2.5]),
            ("f(Tensor x, int a=2, *, float b=1.0) -> ()", ["cpu", 3, 1.0]),
            (_LONG, [2, 2, 3, 5, 5]),
            (_LONG, [3, 2, 5, 5, 5]),
            (_LONG, [3, 3, 3, 5, 6]),
            (_LONG, [3, 3, 2, 4, 6]),
            (_LONG, [1, 2, 4, 4, 5]),
            ("f(int[] a=[1,2], str? b=None, bool c=True) -> ()", [[1, 2], None, True]),
            ("f(int[] a=[1,2], str? b=None, bool c=True) -> ()", [[1, 2], None, False]),
            ("f(int[] a=[1,2], str? b=None, bool c=True) -> ()", [[2, 1], None, True]),
            ("f(int[] a=[1,2], str? b=None, bool c=True) -> ()", [[1, 2], "x", True]),
            ("f(*, int a=1, Tensor? b=None, str c='q') -> ()", [1, None, "q"]),
            ("f(*, int a=1, Tensor? b=None, str c='q') -> ()", [2, "cpu", ""]),
            ("f(*, int a=1, Tensor? b=None, str c='q') -> ()", [1, "cpu", "q"]),
            ("f(Tensor[] a, Scalar b=1, *, int[2] c=1) -> ()", [["cpu"], 1, [1, 1]]),
            ("f(Tensor[] a, Scalar b=1, *, int[2] c=1) -> ()", [["cpu"], 0, [1, 2]]),
        )
    ],
    disposable=True,
    hint=_about_defaults,
)
def arguments_of_a_kernel(xp, schema, stack):
    args, kwargs = xp.schema.unbind(xp.schema.parse_schema(schema), unpack(xp, stack))
    return [pack(xp, args), pack(xp, kwargs)]


@arguments_of_a_kernel.oracle
def _(torch, schema, stack):
    values = dict(zip([(name, kwarg_only) for name, _, kwarg_only, _ in _typed(schema)], unpack(torch, stack)))
    args = [value for (_, kwarg_only), value in values.items() if not kwarg_only]
    kwargs = {name: value for (name, kwarg_only), value in values.items() if kwarg_only}
    args, kwargs, _ = received(torch, schema, args, kwargs)
    return [pack(torch, args), pack(torch, kwargs)]


# The table -----------------------------------------------------------------------------------------------------------


def _registrations(st):
    usual = ["CPU", "Meta", *AUTOGRAD[:1], *AUTOGRAD[3:], *ALIASES]
    kernels = st.one_of(subsets(st, usual, most=5), subsets(st, [*RUNTIME, *ALIASES], most=6))
    return st.fixed_dictionaries({"kernels": kernels, "more_fallbacks": subsets(st, ["CPU", "PrivateUse1"])})


@program(
    "dispatch.compute_table_entry",
    cases=_registrations,
    edges=[
        {"kernels": kernels, "more_fallbacks": more_fallbacks}
        for kernels, more_fallbacks in (
            ([], []),
            ([], ["CPU"]),
            ([], ["CPU", "PrivateUse1"]),
            (["CPU"], ["CPU"]),
            (["CPU"], []),
            (["CPU", "Meta"], []),
            ([IMPLICIT], []),
            ([IMPLICIT], ["CPU"]),
            ([EXPLICIT], []),
            ([EXPLICIT], ["PrivateUse1"]),
            ([NON_FUNCTIONAL], []),
            (["Autograd"], []),
            (["AutogradCPU"], []),
            (["AutogradCPU", "Autograd"], []),
            (["CPU", IMPLICIT], []),
            (["Meta", IMPLICIT], []),
            (["CPU", IMPLICIT, "Autograd"], []),
            (["CPU", EXPLICIT], []),
            (["CPU", "Autograd", EXPLICIT], []),
            ([IMPLICIT, EXPLICIT], []),
            ([IMPLICIT, EXPLICIT, "Autograd"], []),
            ([IMPLICIT, NON_FUNCTIONAL], []),
            ([IMPLICIT, NON_FUNCTIONAL, "Autograd"], []),
            ([EXPLICIT, NON_FUNCTIONAL], []),
            ([EXPLICIT, NON_FUNCTIONAL, IMPLICIT, "Autograd"], []),
            (["AutogradCPU", IMPLICIT], []),
            (["AutogradCPU", "CPU", IMPLICIT], []),
            (["BackendSelect", IMPLICIT], []),
            (["ADInplaceOrView", "AutocastCPU", "Python"], []),
            ([*RUNTIME, *ALIASES], ["CPU"]),
        )
    ],
    disposable=True,
    hint=lambda case, mine, theirs: (
        "an operator with a kernel for the backend itself has no use for the composite one at its autograd key"
        if IMPLICIT in case["kernels"]
        else None
    ),
)
def table(xp, kernels, more_fallbacks):
    """Of an operator with these kernels, where those fallbacks stand besides the ones that are always there."""
    key, kernel = xp._C.DispatchKey, xp.dispatch.Kernel
    registered = {key[name]: kernel(print, name) for name in kernels}
    standing = {
        each: kernel(print, "fallback") for each in [*xp.dispatch.fallbacks, *(key[name] for name in more_fallbacks)]
    }
    entries = {
        name: xp.dispatch.compute_table_entry(registered, standing, key[name]) for name in ["Undefined", *RUNTIME]
    }
    return {name: [chosen.origin, reason] for name, (chosen, reason) in entries.items()}


@table.oracle
def _(torch, kernels, more_fallbacks):
    """Registers for each key from a file of its own, whose name torch's dump shows beside the reason."""
    with ExitStack() as stack:
        namespace, made = stack.enter_context(library(torch))
        made.define("f(Tensor x) -> Tensor")
        for name in [*kernels, *(f"fallback {name}" for name in more_fallbacks)]:
            of = "_" if name.startswith("fallback") else namespace
            registered = torch._C._dispatch_library("IMPL", of, "", name, 0)
            stack.callback(registered.reset)
            if of == "_":
                registered.fallback(name.removeprefix("fallback "), print, False)
            else:
                registered.impl("f", name, print, False)
        dump = torch._C._dispatch_dump_table(f"{namespace}::f")
    entries = {name: ["missing", "missing"] for name in ["Undefined", *RUNTIME]}
    for name, where, reason in re.findall(r"^(\w+): (.*) \[(.*)\]$", dump, re.MULTILINE):
        if name in entries:
            file = where.removeprefix("fallthrough ").removeprefix("registered at ").rpartition(":")[0]
            entries[name] = ["fallback" if reason == "backend fallback" else file, reason]
    return entries


# A call --------------------------------------------------------------------------------------------------------------

_ARGUMENTS = "Tensor?[] xs, Tensor? y=None, int n=0"


def kernel(xp, overload, key, kind, log):
    """A kernel for a key, which says in `log` that it ran and with what; and whether it takes the key set.

    Its `kind`: to give a number back ("leaf"); that, and to take the key set ("keyset"); to go on below its own key
    ("redispatch"); to call another operator ("other").
    """
    number = [*RUNTIME, *ALIASES].index(key)
    own = getattr(xp._C.DispatchKey, "AutogradCPU" if key == "Autograd" else key)

    def plain(*args, **kwargs):
        log.append(f"{key}: {passed(xp, args, kwargs)}")
        return overload("g")(*args, **kwargs) + 100 if kind == "other" else number

    def with_key_set(key_set, *args, **kwargs):
        log.append(f"{key}: {listed(xp, key_set)}, {passed(xp, args, kwargs)}")
        if kind == "redispatch":
            below = xp._C._dispatch_keyset_full_after(own)
            return overload("f").redispatch(key_set & below, *args, **kwargs) + 100
        return number

    return (plain, False) if kind in ("leaf", "other") else (with_key_set, True)


def in_order(kernels):
    """As torch wants them: a kernel for `Meta` before a composite one, and the explicit one before the implicit one, or it
    does not bring the table's autograd entries up to date."""
    first = ["Meta", EXPLICIT]
    return sorted(kernels, key=lambda pair: first.index(pair[0]) if pair[0] in first else len(first))


@contextmanager
def operators(xp, kernels, log):
    """The operator `f` with these kernels, `[key, kind]`, and `g` with a few; gives what finds them by name."""
    with library(xp) as (namespace, made):

        def overload(name):
            return getattr(getattr(xp.ops, namespace), name).default

        made.define(f"f({_ARGUMENTS}) -> int")
        made.define(f"g({_ARGUMENTS}) -> int")
        for key, kind in in_order(kernels):
            function, keyset = (xp.library.fallthrough_kernel, False)
            if kind != "fallthrough":
                function, keyset = kernel(xp, overload, key, kind, log)
            made.impl("f", function, key, with_keyset=keyset)
        for key in ("AutogradCPU", EXPLICIT):
            made.impl("g", lambda *args, key=key, **kwargs: log.append(f"g, {key}") or 1, key)
        yield overload


@contextmanager
def guards(xp, include, exclude):
    """Within: a thread that includes and excludes these keys."""
    with ExitStack() as stack:
        for key in include:
            stack.enter_context(xp._C._IncludeDispatchKeyGuard(getattr(xp._C.DispatchKey, key)))
        if exclude:
            stack.enter_context(xp._C._ExcludeDispatchKeyGuard(bits_of(xp, exclude)))
        yield


_ABOVE = [*RUNTIME[4:5], *RUNTIME[6:]]  # what has a kernel besides a backend's: all but Python
_MASK = ["BackendSelect", "ADInplaceOrView", "AutogradCPU", "AutogradMeta", "AutocastCPU", "CPU", "Meta"]


def _items(st):
    one = st.sampled_from(["cpu", "cpu", "meta", None])
    return st.lists(st.one_of(one, st.lists(one, max_size=3), st.integers(0, 3)), max_size=4)


@program(
    "dispatch.dispatch_key_set",
    cases=lambda st: st.fixed_dictionaries(
        {"stack": _items(st), "included": subsets(st, RUNTIME, most=3), "excluded": subsets(st, RUNTIME, most=3)}
    ),
    edges=[
        {"stack": stack, "included": included, "excluded": excluded}
        for stack, included, excluded in (
            ([], [], []),
            (["cpu"], [], []),
            (["meta"], [], []),
            (["cpu", "meta"], [], []),
            ([1, None, "cpu"], [], []),
            ([["cpu", "meta"]], [], []),
            ([[], [None, "meta"], 2], [], []),
            ([[], 1], ["BackendSelect"], []),
            ([], ["BackendSelect", "Meta"], []),
            (["cpu"], ["BackendSelect", "ADInplaceOrView"], ["AutocastCPU", "AutocastCUDA"]),
            (["cpu"], ["AutocastCPU"], ["AutocastCPU"]),
            (["cpu"], ["AutocastCUDA"], ["AutocastCPU"]),
            (["cpu"], [], ["AutogradCPU"]),
            (["cpu"], [], ["AutogradMeta"]),
            (["cpu", "meta"], [], ["AutogradCPU", "ADInplaceOrView"]),
            (["meta"], [], ["CPU"]),
            (["cpu"], ["Meta"], ["Meta"]),
            ([], ["CUDA"], ["CPU"]),
            ([], ["PrivateUse1", "Python"], ["Python"]),
        )
    ],
    disposable=True,
    hint=lambda case, mine, theirs: (
        "to exclude a key excludes its functionality; the backends stay" if case["excluded"] else None
    ),
)
def key_set_of_a_call(xp, stack, included, excluded):
    return names(xp, xp.dispatch.dispatch_key_set(unpack(xp, stack), bits_of(xp, included), bits_of(xp, excluded)))


@key_set_of_a_call.oracle
def _(torch, stack, included, excluded):
    """What the first kernel is given by an operator that has one for every key, in a thread that includes and excludes so."""
    types = [
        "Tensor?[]" if isinstance(item, (list, tuple)) else "int" if isinstance(item, int) else "Tensor?"
        for item in stack
    ]
    got = []
    with library(torch) as (namespace, made):
        made.define(f"f({', '.join(f'{type} x{i}' for i, type in enumerate(types))}) -> ()")
        for key in (*RUNTIME, EXPLICIT):
            made.impl("f", lambda key_set, *args: got.append(key_set), key, with_keyset=True)
        stack = unpack(torch, stack)
        with torch._C._ForceDispatchKeyGuard(bits_of(torch, included), bits_of(torch, excluded)):
            getattr(torch.ops, namespace).f(*stack)
    return names(torch, got[0])


def _fallthroughs(st):
    fall = st.sampled_from(["kernel", "fallthrough"])
    perhaps = st.sampled_from(["kernel", "fallthrough", "nothing"])  # these fall through unless something is registered
    always = ["BackendSelect", "ADInplaceOrView", "AutocastCPU", "AutocastCUDA"]
    each = {key: perhaps if key in always else fall for key in RUNTIME}
    some = st.sets(st.sampled_from([*BACKENDS, *FUNCTIONALITIES])).map(sorted)
    return st.fixed_dictionaries({"kernels": st.fixed_dictionaries(each), "bits": some})


def _all(kind, **others):
    return {key: others.get(key, kind) for key in RUNTIME}


@program(
    "dispatch.skip_fallthrough",
    cases=_fallthroughs,
    edges=[
        {"kernels": kernels, "bits": bits}
        for kernels, bits in (
            (_all("kernel"), [*BACKENDS, *FUNCTIONALITIES]),
            (_all("fallthrough"), [*BACKENDS, *FUNCTIONALITIES]),
            (_all("fallthrough"), []),
            (_all("kernel"), ["CPU"]),
            (_all("kernel", CPU="fallthrough"), ["CPU", "Dense"]),
            (_all("kernel", CPU="fallthrough"), ["CPU", "Meta", "Dense"]),
            (_all("kernel", Meta="fallthrough"), ["CPU", "Meta", "Dense"]),
            (_all("kernel", Meta="fallthrough"), ["CPU", "Dense", "AutogradFunctionality"]),
            (_all("kernel", AutogradCPU="fallthrough"), ["CPU", "Dense", "AutogradFunctionality", "AutocastCPU"]),
            (_all("kernel", AutogradMeta="fallthrough"), ["CPU", "Meta", "Dense", "AutogradFunctionality"]),
            (_all("kernel", AutogradCPU="fallthrough"), ["CPU", "Meta", "Dense", "AutogradFunctionality"]),
            (_all("kernel", ADInplaceOrView="nothing"), ["CPU", "Dense", "ADInplaceOrView", "AutogradFunctionality"]),
            (_all("fallthrough", CPU="kernel"), ["CPU", "Dense", "AutogradFunctionality", "AutocastCPU", "Python"]),
            (_all("kernel", CPU="fallthrough"), ["Dense"]),
            (_all("kernel", CUDA="fallthrough"), ["Dense"]),
            (_all("kernel", AutogradCPU="fallthrough"), ["AutogradFunctionality", "BackendSelect"]),
            (
                _all("kernel", BackendSelect="nothing", AutocastCPU="nothing"),
                ["BackendSelect", "AutocastCPU", "Python"],
            ),
            (
                _all("kernel", Python="fallthrough", PrivateUse1="fallthrough"),
                ["PrivateUse1", "Dense", "Python", "CPU"],
            ),
        )
    ],
    disposable=True,
    hint=lambda case, mine, theirs: "of several backends the highest is the one whose entries count",
)
def without_fallthroughs(xp, kernels, bits):
    with passing(xp, kernels, []) as overload:
        return names(xp, xp.dispatch.skip_fallthrough(overload, united(xp, bits)))


@without_fallthroughs.oracle
def _(torch, kernels, bits):
    """What the first kernel is given that does not fall through, or the one for no key at all."""
    got = []
    empty = torch._C.DispatchKeySet(torch._C.DispatchKey.Undefined)
    with passing(torch, kernels, got) as overload, torch._C._ForceDispatchKeyGuard(united(torch, bits), empty):
        overload()
    return names(torch, got[0])


@contextmanager
def passing(xp, kernels, got):
    """An operator without arguments whose kernels give away their key set, or fall through."""
    with library(xp) as (namespace, made):
        made.define("f() -> ()")
        for key, kind in [*kernels.items(), (EXPLICIT, "kernel")]:
            if kind == "kernel":
                made.impl("f", lambda key_set: got.append(key_set), key, with_keyset=True)
            elif kind == "fallthrough":
                made.impl("f", xp.library.fallthrough_kernel, key)
        yield getattr(xp.ops, namespace).f.default


_RESULTS = {  # what a kernel may give back for each kind of return, and what it may not
    "int": ([3, True, "q", None], 1),
    "float": ([2.5, 3, "q"], 1),
    "()": ([None, 3], 1),
    "int[]": ([[1, 2], [], 3], 2),
    "(int, float)": ([[1, 2.5], [1, 2], 3], 1),
}
_BOUND = [schema.removesuffix(" -> ()") for schema in sorted(_CALLED)]


def _bindings(st):
    @st.composite
    def draw_binding(draw):
        schema = draw(st.sampled_from(_BOUND))
        returns = draw(st.sampled_from(sorted(_RESULTS)))
        kind = draw(st.sampled_from(["unboxed", "pythonic", "boxed"]))
        results, fitting = _RESULTS[returns]
        return {
            "schema": f"{schema} -> {returns}",
            "kind": kind,
            "with_key_set": draw(st.booleans()),
            "bits": [
                "Dense",
                *draw(
                    st.sampled_from([["CPU"], ["PrivateUse1"], ["CPU", "PrivateUse1"], ["CPU", "CUDA", "PrivateUse1"]])
                ),
            ],
            "stack": [draw(st.sampled_from(_PASSED[type])) for _, type, _, _ in _typed(schema)],
            "result": draw(st.sampled_from(results[:fitting] if kind == "unboxed" else results)),
        }

    return draw_binding()


@program(
    "dispatch.bind_kernel",
    cases=_bindings,
    edges=[
        {"schema": schema, "kind": kind, "with_key_set": with_key_set, "bits": bits, "stack": stack, "result": result}
        for kind in ("unboxed", "pythonic", "boxed")
        for with_key_set in (False, True)
        for bits in (["Dense", "CPU"], ["Dense", "CPU", "PrivateUse1"])
        for schema, stack, result in (
            ("f(Tensor x, int a=2, *, float b=1.0) -> int", ["cpu", 2, 1.0], 3),
            ("f(Tensor x, int a=2, *, float b=1.0) -> ()", ["cpu", 3, 2.5], None),
            ("f(int a, int b=2, int c=3, *, int d, int e=5) -> (int, float)", [1, 2, 4, 7, 5], [1, 2.5]),
            ("f() -> int[]", [], [1, 2]),
        )
    ]
    + [
        {"schema": f"f(int a, int b) -> {returns}", "kind": kind, "with_key_set": False, "bits": ["Dense", "CPU"]}
        | {"stack": [1, 2], "result": result}
        for kind in ("pythonic", "boxed")
        for returns, result in (("int", "q"), ("float", 3), ("()", 3), ("int", True), ("(int, float)", [1, 2]))
    ],
    disposable=True,
)
def bound(xp, schema, kind, with_key_set, bits, stack, result):
    got = []

    def function(*received, **kwargs):
        got.append((received, kwargs))
        return result

    with library(xp) as (namespace, made):
        made.define(schema)
        kinds = {"pythonic": kind == "pythonic", "boxed": kind == "boxed", "with_key_set": with_key_set}
        kernel = xp.dispatch.Kernel(function, **kinds)
        callable = xp.dispatch.bind_kernel(kernel, getattr(xp.ops, namespace).f.default, united(xp, bits))
        returned = callable(*unpack(xp, stack))
    return [_explained(xp, *got[0], kind, with_key_set), returned]


@bound.oracle
def _(torch, schema, kind, with_key_set, bits, stack, result):
    """A kernel of a namespace, or a fallback of all, called by redispatch with this key set.

    What an unboxed one receives is what one in Python does, and its defaults.
    """
    got = []

    def function(*received, **kwargs):
        got.append((received, kwargs))
        return result

    values = dict(zip([(name, kwarg_only) for name, _, kwarg_only, _ in _typed(schema)], unpack(torch, stack)))
    key = "PrivateUse1" if "PrivateUse1" in bits else "CPU"
    with ExitStack() as exits:
        namespace, made = exits.enter_context(library(torch))
        made.define(schema)
        if kind == "boxed":
            everywhere = torch.library.Library("_", "IMPL")
            exits.callback(everywhere._destroy)
            everywhere.fallback(function, key, with_keyset=with_key_set)
        else:
            made.impl("f", function, key, with_keyset=with_key_set)
        returned = getattr(torch.ops, namespace).f.default.redispatch(
            united(torch, bits),
            *[value for (_, kwarg_only), value in values.items() if not kwarg_only],
            **{name: value for (name, kwarg_only), value in values.items() if kwarg_only},
        )
    received, kwargs = got[0]
    if kind == "unboxed":
        read, start = torch._C.parse_schema(schema).arguments, int(with_key_set)
        rest = [kwargs.get(argument.name, argument.default_value) for argument in read[len(received) - start :]]
        received, kwargs = (*received, *rest), {}
    return [_explained(torch, received, kwargs, kind, with_key_set), returned]


def _explained(xp, received, kwargs, kind, with_key_set):
    """What a kernel received, in parts."""
    received, told = list(received), {}
    if with_key_set:
        told["key set"] = names(xp, received.pop(0))
    if kind == "boxed":
        told["operator"] = str(received.pop(0)).partition(".")[2]
    return told | {"args": pack(xp, received), "kwargs": pack(xp, kwargs)}


def _kernels(
    st, keys=(*RUNTIME[:4], *_ABOVE, *ALIASES), kinds=("leaf", "keyset", "redispatch", "redispatch", "fallthrough")
):
    """Kernels for some keys. A composite one is at no key to go on from, and an alias cannot fall through."""

    def kinds_for(key):
        if key in (IMPLICIT, EXPLICIT, NON_FUNCTIONAL):
            return st.sampled_from(["leaf", "keyset", "other"] if "leaf" in kinds else ["keyset"])
        return st.sampled_from([kind for kind in kinds if kind != "redispatch" or key not in BACKENDS])

    return subsets(st, list(keys), most=6).flatmap(
        lambda chosen: st.tuples(*[st.tuples(st.just(key), kinds_for(key)).map(list) for key in chosen]).map(list)
    )


def _stack_of_f(st):
    one = st.sampled_from(["cpu", "cpu", "cpu", "meta", None])
    return st.tuples(st.lists(one, max_size=2), one, st.integers(0, 2)).map(list)


def _leaves_out_fallbacks(case):
    """Whether the operator has a kernel of its own for autograd: torch's fallback says in no log that it ran."""
    backend = next((name for name in reversed(BACKENDS) if name in case["bits"]), "CPU")
    registered = [key for key, _ in case["kernels"]]
    return "AutogradFunctionality" not in case["bits"] or {"Autograd", f"Autograd{backend}"} & set(registered)


_CHAIN = [
    ["CPU", "keyset"],
    ["ADInplaceOrView", "redispatch"],
    ["AutogradCPU", "redispatch"],
    ["AutocastCPU", "redispatch"],
]
_RUNS = [
    (["CPU", "Dense"], [["CPU", "leaf"]]),
    (["CPU", "Dense", "AutogradFunctionality"], [["CPU", "leaf"], ["AutogradCPU", "redispatch"]]),
    (["CPU", "Dense", "AutogradFunctionality", "ADInplaceOrView", "AutocastCPU"], _CHAIN),
    (["CPU", "Dense", "AutogradFunctionality", "ADInplaceOrView"], _CHAIN),
    (["CPU", "Meta", "Dense", "AutogradFunctionality"], [["Meta", "leaf"], ["Autograd", "redispatch"]]),
    (["CPU", "Dense", "AutogradFunctionality"], [["CPU", "leaf"], ["Autograd", "keyset"]]),
    (["CPU", "Dense"], []),
    (["Meta", "Dense"], [["CPU", "leaf"]]),
    (["CPU", "Dense", "AutogradFunctionality"], [["AutogradCPU", "redispatch"]]),
    (["CPU", "Dense", "BackendSelect"], [["CPU", "leaf"]]),
    (["Dense"], [["CPU", "leaf"]]),
    (["AutogradFunctionality"], [["AutogradCPU", "leaf"], ["AutogradMeta", "keyset"]]),
    ([], [[EXPLICIT, "leaf"]]),
    ([], [["CPU", "leaf"]]),
    (["CPU", "Dense", "AutogradFunctionality"], [[IMPLICIT, "leaf"]]),
    (["PrivateUse1", "CUDA", "Dense"], [["PrivateUse1", "keyset"], ["CUDA", "keyset"]]),
]


@program(
    "dispatch.run",
    cases=lambda st: st.fixed_dictionaries(
        {
            "kernels": _kernels(st, kinds=("keyset", "redispatch", "redispatch")),
            "bits": subsets(st, [*BACKENDS, *(f for f in FUNCTIONALITIES if f != "Python")], 1, 5),
            "stack": _stack_of_f(st),
            "how": st.sampled_from(["call", "redispatch"]),
        }
    ).filter(_leaves_out_fallbacks),
    edges=[
        {"kernels": kernels, "bits": bits, "stack": [["cpu"], None, 1], "how": how}
        for how in ("call", "redispatch")
        for bits, kernels in _RUNS
    ],
    disposable=True,
)
def run(xp, kernels, bits, stack, how):
    log, lines = [], []
    with operators(xp, [[key, "keyset" if kind == "leaf" else kind] for key, kind in kernels], log) as overload:
        name = overload("f")._schema.full_name
        with xp.dispatch.show_dispatch_trace(lines.append):
            result = attempt(lambda: xp.dispatch.run(overload("f"), united(xp, bits), unpack(xp, stack), how))
    return {"kernels": log, "result": result, "trace": [line.replace(name, "lab::f") for line in lines[: len(log)]]}


@run.oracle
def _(torch, kernels, bits, stack, how):
    """Torch's own trace is not in its release builds: the line is written when a kernel is entered, from what torch gave it."""
    log, hows, lines = [], iter([how, *["redispatch"] * 9]), []
    with operators(torch, [[key, "keyset" if kind == "leaf" else kind] for key, kind in kernels], log) as overload:
        result = attempt(lambda: overload("f").redispatch(united(torch, bits), *unpack(torch, stack)))
    for entry in log:
        key = _highest(torch, re.findall(r"\w+", re.search("<(.*)>", entry)[1]))
        lines.append(f"{' ' * len(lines)}[{next(hows)}] op=[lab::f], key=[{key}]")
    return {"kernels": log, "result": result, "trace": lines}


def _calls_of_f(st):
    include = [
        "BackendSelect",
        "AutogradCPU",
        "AutogradMeta",
        "AutocastCPU",
        "AutocastCUDA",
        "CPU",
        "Meta",
        "PrivateUse1",
    ]
    parts = {
        "kernels": _kernels(st),
        "stack": _stack_of_f(st),
        "include": subsets(st, include, most=2),
        "exclude": subsets(st, [*_MASK, "AutocastCUDA"], most=2),
    }
    return st.fixed_dictionaries(parts)


@program(
    "dispatch.call",
    cases=_calls_of_f,
    edges=[
        {"kernels": kernels, "stack": stack, "include": include, "exclude": exclude}
        for stack, include, exclude in (
            ([["cpu"], None, 1], [], []),
            ([[], None, 2], [], []),
            ([[None], "meta", 0], [], []),
            ([["cpu", "meta"], None, 0], [], ["ADInplaceOrView"]),
            ([["cpu"], None, 0], ["AutocastCUDA", "Meta"], ["AutogradCPU"]),
            ([[], None, 0], ["CPU"], []),
        )
        for kernels in (
            [["CPU", "keyset"], ["Meta", "keyset"]],
            _CHAIN,
            [[IMPLICIT, "other"]],
            [[EXPLICIT, "keyset"], ["Autograd", "redispatch"]],
            [
                ["CPU", "keyset"],
                ["AutogradCPU", "fallthrough"],
                ["AutogradMeta", "keyset"],
                ["BackendSelect", "redispatch"],
            ],
            [["CPU", "fallthrough"], ["ADInplaceOrView", "redispatch"], ["Meta", "leaf"]],
        )
    ],
    disposable=True,
)
def called(xp, kernels, stack, include, exclude):
    log, stack = [], unpack(xp, stack)
    with operators(xp, kernels, log) as overload, guards(xp, include, exclude):
        result = attempt(lambda: overload("f")(*stack))
    return {"kernels": log, "result": result}


# Modes ---------------------------------------------------------------------------------------------------------------


def mode(xp, overload, number, kind, log):
    """A mode that says in `log` what it sees. Its `kind`: to let the call go on ("on"), to answer itself ("answer"), to
    raise ("raise"), to hand back NotImplemented ("refuse"), to call another operator before it lets the call go on
    ("other"), or to let the call go on within itself, the first time ("again")."""
    base = xp.utils._python_dispatch.TorchDispatchMode if is_torch(xp) else xp.dispatch.DispatchMode

    class Mode(base):
        again = kind == "again"

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log.append(
                f"mode {number}: {str(func).partition('.')[2]}, types {list(types)}, {passed(xp, args, kwargs)}, {thread(xp)}"
            )
            if kind == "raise":
                raise KeyError("the mode's")
            if kind == "refuse":
                return NotImplemented
            if kind == "answer":
                return 1000 + number
            if kind == "other" and func is overload("f"):
                overload("g")(*args, **kwargs)
            if self.again:
                self.again = False
                with self:
                    return func(*args, **kwargs)
            return func(*args, **kwargs)

    return Mode()


def thread(xp):
    """What the thread includes and excludes, of the functionalities that there are."""
    local = xp._C._dispatch_tls_local_include_set(), xp._C._dispatch_tls_local_exclude_set()
    included, excluded = (" ".join(name for name in names(xp, keys) if name in FUNCTIONALITIES) for keys in local)
    return f"included <{included}>, excluded <{excluded}>"


_MODES = ["on", "on", "other", "again", "answer", "raise", "refuse"]
_IN_MODES = ["CPU", "Meta", "AutogradCPU", "Autograd", "ADInplaceOrView", "BackendSelect", IMPLICIT, EXPLICIT]


@program(
    "dispatch.call_mode",
    cases=lambda st: st.fixed_dictionaries(
        {
            "kernels": _kernels(st, _IN_MODES),
            "modes": st.lists(st.sampled_from(_MODES), min_size=1, max_size=3),
            "stack": _stack_of_f(st),
        }
    ),
    edges=[
        {"kernels": kernels, "modes": modes, "stack": [["cpu"], None, number]}
        for number, modes in enumerate(
            (
                ["on"],
                ["on", "on"],
                ["on", "other"],
                ["other"],
                ["again"],
                ["on", "again", "on"],
                ["answer"],
                ["on", "answer"],
                ["raise"],
                ["on", "raise"],
                ["refuse"],
                ["on", "refuse"],
            )
        )
        for kernels in (
            [["CPU", "keyset"]],
            [["CPU", "keyset"], ["AutogradCPU", "redispatch"], ["ADInplaceOrView", "redispatch"]],
        )
    ]
    + [
        {"kernels": [[IMPLICIT, "other"]], "modes": ["on"], "stack": [[], "cpu", 2]},
        {"kernels": [[EXPLICIT, "leaf"]], "modes": ["other"], "stack": [[], None, 2]},
    ],
    disposable=True,
)
def moded(xp, kernels, modes, stack):
    log, stack = [], unpack(xp, stack)
    with operators(xp, kernels, log) as overload:
        with ExitStack() as exits:
            for number, kind in enumerate(modes):
                exits.enter_context(mode(xp, overload, number, kind, log))
            first = attempt(lambda: overload("f")(*stack))
            within = thread(xp)
            second = attempt(lambda: overload("f")(*stack))
        after = thread(xp)
        third = attempt(lambda: overload("f")(*stack))
    return {"log": log, "results": [first, second, third], "within": within, "after": after}


# Autocast ------------------------------------------------------------------------------------------------------------

_CAST = ["float16", "float32", "float32", "float64", "int64", "bool"]


def typed_tensor(xp, spec):
    """A tensor in a case, `"float32 cpu"`, made without a call of the dispatcher."""
    name, device = spec.split()
    dtype = getattr(xp, name)
    return (
        xp.empty(1, dtype=dtype, device=device) if is_torch(xp) else xp.strided.empty_strided((1,), (1,), dtype, device)
    )


def typed(xp, value):
    if isinstance(value, (list, tuple)):
        return [typed(xp, item) for item in value]
    return typed_tensor(xp, value) if isinstance(value, str) and " " in value else value


def types(xp, value):
    """The dtype and device of each tensor in a result."""
    if isinstance(value, (list, tuple)):
        return [types(xp, item) for item in value]
    return [value.dtype, str(value.device)] if isinstance(value, xp.Tensor) else value


def _values(st):
    tensors = st.tuples(st.sampled_from(_CAST), st.sampled_from(["cpu", "cpu", "meta"])).map(" ".join)
    one = st.one_of(tensors, tensors, st.sampled_from([None, 3, 2.5, True, "mean"]))
    return st.lists(st.one_of(one, one, st.lists(one, max_size=3)), max_size=4)


_LIST_IN_A_LIST = [["float16 cpu", ["float32 cpu"], None], 1]
_VALUES = [
    ["float32 cpu"],
    ["float16 cpu"],
    ["float64 cpu"],
    ["int64 cpu"],
    ["bool cpu"],
    ["float32 meta"],
    [3, None, 2.5, True, "mean"],
    [["float32 cpu", "float16 cpu"], "int64 cpu"],
    [["float16 cpu", "float32 cpu"], 1],
    _LIST_IN_A_LIST,
    [["float16 cpu", "float64 cpu"], "float16 cpu"],
    [["float16 cpu"], "float32 meta", "int64 cpu"],
    [[], 2],
    [],
]


@program(
    "autocast_mode.cached_cast",
    cases=lambda st: st.fixed_dictionaries({"to": st.sampled_from(["float16", "float32"]), "values": _values(st)}),
    edges=[{"to": to, "values": values} for to in ("float16", "float32") for values in _VALUES],
)
def cast(xp, to, values):
    return [types(xp, xp.autocast_mode.cached_cast(getattr(xp, to), value)) for value in typed(xp, values)]


@cast.oracle
def _(torch, to, values):
    cast = torch.amp.autocast_mode._cast
    return [types(torch, cast(value, "cpu", getattr(torch, to))) for value in typed(torch, values)]


@program(
    "autocast_mode.promote_type",
    cases=lambda st: st.fixed_dictionaries({"values": _values(st)}),
    edges=[{"values": values} for values in _VALUES if values != _LIST_IN_A_LIST],  # no operator takes one
)
def promoted(xp, values):
    with xp.autocast("cpu", dtype=xp.float16):
        return xp.autocast_mode.promote_type(typed(xp, values))


@promoted.oracle
def _(torch, values):
    """What becomes of one more tensor, in the lower precision, when all of them are joined."""

    def tensors(value):
        if isinstance(value, (list, tuple)):
            return [tensor for item in value for tensor in tensors(item)]
        return [value] if isinstance(value, torch.Tensor) else []

    class Below(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if func.name() != "aten::cat":
                return func(*args, **(kwargs or {}))
            seen.append(args[0][0].dtype)
            return args[0][0]

    seen, probe = [], torch.ones(1, dtype=torch.float16)
    with torch.autocast("cpu", dtype=torch.float16), Below():
        torch.cat([probe, *tensors(typed(torch, values))])
    return seen[0]


def _operands(st):
    """An operator of one of the lists, or of none, and matrices for it."""

    def matrix(dtypes):
        spec = {"storage": 4, "sizes": [2, 2], "strides": [2, 1], "offset": 0}
        return st.sampled_from(dtypes).map(lambda dtype: {"tensor": {"dtype": dtype} | spec})

    dtypes = st.sampled_from(
        [["float16", "float32"], ["float16", "float32"], ["float64"], ["float16", "float32", "float64"]]
    )
    settings = st.lists(st.sampled_from([True, True, False]), max_size=2)
    return dtypes.flatmap(
        lambda some: st.fixed_dictionaries(
            {"name": st.sampled_from(sorted(_OPERATORS)), "a": matrix(some), "b": matrix(some), "enabled": settings}
        )
    )


_OPERATORS = {  # how to call each with two square matrices
    "mm": lambda ops, a, b: ops.mm(a, b),
    "matmul": lambda ops, a, b: ops.matmul(a, b),
    "linear": lambda ops, a, b: ops.linear(a, b),
    "linear with a bias": lambda ops, a, b: ops.linear(a, b, ops.select(b, 0, 0)),
    "addmm": lambda ops, a, b: ops.addmm(a, a, b),
    "addmm with numbers": lambda ops, a, b: ops.addmm(a, a, b, beta=2, alpha=3),
    "bmm": lambda ops, a, b: ops.bmm(ops.unsqueeze(a, 0), ops.unsqueeze(b, 0)),
    "prod": lambda ops, a, b: ops.prod(b),
    "prod.dim_int": lambda ops, a, b: ops.prod(b, 1, True),
    "cat": lambda ops, a, b: ops.cat([a, b], 1),
    "stack": lambda ops, a, b: ops.stack([a, b], -1),
    "add": lambda ops, a, b: ops.add(a, b),
}


def _matrix(dtype):
    return {"tensor": {"dtype": dtype, "storage": 4, "sizes": [2, 2], "strides": [2, 1], "offset": 0}}


@program(
    "autocast_mode.autocast_kernel",
    cases=_operands,
    edges=[
        {"name": name, "a": _matrix(a), "b": _matrix(b), "enabled": enabled}
        for name in _OPERATORS
        for a, b, enabled in (
            ("float32", "float32", [True]),
            ("float16", "float32", [True]),
            ("float64", "float32", [True]),
            ("float32", "float16", [True, False]),
        )
    ]
    + [
        {"name": "mm", "a": _matrix("float64"), "b": _matrix("float64"), "enabled": [True]},
        {"name": "cat", "a": _matrix("float16"), "b": _matrix("float16"), "enabled": [True]},
        {"name": "prod", "a": _matrix("float16"), "b": _matrix("float16"), "enabled": [False, True]},
        {"name": "mm", "a": _matrix("int64"), "b": _matrix("int64"), "enabled": []},
    ],
)
def autocasting(xp, name, a, b, enabled):
    with ExitStack() as stack:
        for each in enabled:
            stack.enter_context(xp.autocast("cpu", dtype=xp.float16, enabled=each))
        result = _OPERATORS[name](xp.ops.aten, a, b)
        return [result, xp.is_autocast_enabled("cpu")]


# Everything together -------------------------------------------------------------------------------------------------


def _programs(st):
    include = ["AutocastCUDA", "BackendSelect", "Meta", "AutogradCPU", "PrivateUse1"]
    call = st.fixed_dictionaries(
        {
            "stack": _stack_of_f(st),
            "include": subsets(st, include, most=2),
            "exclude": subsets(st, _MASK, most=2),
            "autocast": st.booleans(),
            "modes": st.lists(st.sampled_from(_MODES), max_size=2),
        }
    )
    fallbacks = st.sampled_from([[], [], ["CPU"], ["PrivateUse1"], ["CPU", "PrivateUse1"]])

    def in_torch_s_order(case):
        """No explicit composite kernel comes after an implicit one, or is taken back before it: see `in_order`."""
        first, later = ([key for key, _ in case[stage]] for stage in ("kernels", "later"))
        return EXPLICIT not in later or IMPLICIT not in first + later

    return st.fixed_dictionaries(
        {
            "kernels": _kernels(st),
            "later": _kernels(st),
            "fallbacks": fallbacks,
            "calls": st.lists(call, min_size=1, max_size=3),
        }
    ).filter(in_torch_s_order)


@program("together.dispatcher", cases=_programs, disposable=True)
def dispatcher(xp, kernels, later, fallbacks, calls):
    """Register kernels, call; register more kernels, call again; take those back, and call once more."""
    log, results = [], []

    def fallback(key_set, operator, *args, **kwargs):
        name = str(operator).partition(".")[2]
        log.append(f"fallback for {name}: {listed(xp, key_set)}, {passed(xp, args, kwargs)}")
        return 5000

    def call(overload, stack, include, exclude, autocast, modes):
        with ExitStack() as exits:
            exits.enter_context(guards(xp, include, exclude))
            if autocast:
                exits.enter_context(xp.autocast("cpu", dtype=xp.float16))
            for number, kind in enumerate(modes):
                exits.enter_context(mode(xp, overload, number, kind, log))
            return overload("f")(*stack)

    calls = [case | {"stack": unpack(xp, case["stack"])} for case in calls]
    with ExitStack() as exits:
        everywhere = xp.library.Library("_", "IMPL")
        exits.callback(everywhere._destroy)
        for key in fallbacks:
            everywhere.fallback(fallback, key, with_keyset=True)
        overload = exits.enter_context(operators(xp, kernels, log))
        more = xp.library.Library(NAMESPACE, "IMPL")
        for stage in ("first", "more", "less"):
            if stage == "more":
                for key, kind in in_order(later):
                    falls = kind == "fallthrough"
                    function, keyset = (
                        (xp.library.fallthrough_kernel, False) if falls else kernel(xp, overload, key, kind, log)
                    )
                    results.append([stage, key, attempt(lambda: more.impl("f", function, key, with_keyset=keyset))])  # noqa: B023
            elif stage == "less":
                more._destroy()
            for case in calls:
                if stage == "less":  # under a mode torch would still run kernels in Python that were taken back
                    case = case | {"modes": []}
                results.append([stage, attempt(lambda: call(overload, **case))])  # noqa: B023
    return {"kernels": log, "results": results}
