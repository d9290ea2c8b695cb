"""Lab 07, graphs of fx: names, uses and users, what is recorded, and the code of a graph."""

from __future__ import annotations

import enum
import math
import operator
from collections import OrderedDict, defaultdict, deque  # noqa: F401  (in OBJECTS)
from fractions import Fraction  # noqa: F401
from types import MappingProxyType  # noqa: F401
from typing import NamedTuple

from ...engine.check import program
from ..cases import attempt, drawn, field, first_of, rows, several, when, words
from . import drawn_graphs as fx
from .drawn_graphs import USER, USER_ADD, USER_GETATTR, N, X, Y, attribute, call, method, module, output

# Names ---------------------------------------------------------------------------------------------------------------

NAMED_OBJECTS = {
    "an object": object(),
    "another": object(),
    "sum": sum,
    "inf": math.inf,
    "print": print,
    "zero": 0,
    "equal": 0.0,  # to the zero
    "empty": (),
}
CANDIDATES = ["relu", "relu_1", "relu_2", "relu_12", "add", "sum", "sum_1", "if", "inf", "print"]
ODD_CANDIDATES = ["a.b", "a.0", "_1", "_1_2", "x__1", "x_01", "1", "", ".", "NoneType", "getattr", "_"]
REQUESTS = [[[name, None] for name in names] for names in (
    ["relu", "relu", "relu", "relu_1", "relu_7", "relu_7", "relu", "relu_2"],
    ["relu_3", "relu", "relu", "relu_1", "relu_4", "relu_4"], ["relu_12", "relu", "relu"], ["x_3", "x_0", "x", "x_3"],
    ["sum", "sum", "sum_1", "sum_5", "sum", "if", "if", "print"],
    ["linear.weight", "linear..weight", "linear_weight", "a b", "é", "éé", "aéb", "...", "_", "²x"],
    ["", "", "_unnamed", "0", "0", "_0", "1x", "_1", "_1", "_1_1"],
    ["x_", "x_", "x__1", "x__1", "x_1_1", "x_1_1", "x_1", "x_1"],
    ["x_01", "x_1", "x_01", "x", "inf", "nan", "device", "NoneType", "None", "lambda", "lambda_1", "lambda"],
)] + [
    [["relu", "an object"], ["add", "an object"], ["relu", "another"], ["relu", None], ["relu", "another"]],
    [["sum", "sum"], ["sum", None], ["sum", "print"], ["print", "sum"], ["sum", "sum"]],
    [["inf", "inf"], ["inf", "an object"], ["print", "print"], ["x", "print"], ["sum_1", "sum"], ["sum", None]],
    [["", "an object"], ["0.1", "another"], ["", "an object"]],
    [[name, holder] for holder in ("zero", "empty", "equal") for name in ("x", "y", "x")],
]  # fmt: skip


def _requests(st):
    names = [st.sampled_from(CANDIDATES), st.sampled_from(ODD_CANDIDATES)]
    names += [st.text("ab_12.", max_size=5), st.text("aé_-0:", max_size=4)]
    holder = st.sampled_from([None, None, None, *NAMED_OBJECTS])
    return st.lists(st.tuples(st.one_of(*names), holder).map(list), max_size=8)


@program(
    "fx.graph.create_name",
    cases=drawn(requests=_requests),
    edges=[{"requests": requests} for requests in REQUESTS],
    hint=when(
        lambda case: {"sum", "if", "inf", "print", "None", "lambda"} & {name for name, _ in case["requests"]},
        "a name that Python uses, or that is a global of all generated code, may only be given to the object of this name",
    ),
)
def names_given(xp, requests):
    namespace = xp.fx.graph._Namespace()
    given = [namespace.create_name(candidate, NAMED_OBJECTS.get(holder)) for candidate, holder in requests]
    return {
        "given": given,
        "used": sorted(namespace._used_names),
        "counts": sorted(namespace._base_count.items()),
        "held": sorted(namespace._obj_to_name.values()),
    }


# What a node uses ----------------------------------------------------------------------------------------------------


def _steps(st):
    args = st.lists(fx.drawn_argument(st), max_size=3)
    kwargs = st.dictionaries(st.sampled_from(["a", "dim"]), fx.drawn_argument(st), max_size=2)
    index = st.integers(0, 9)
    return st.lists(
        st.one_of(
            st.tuples(st.just("new"), st.just(0), args, kwargs).map(list),
            st.tuples(st.just("args"), index, args, st.just({})).map(list),
            st.tuples(st.just("kwargs"), index, st.just([]), kwargs).map(list),
            st.tuples(st.just("replace"), index, st.lists(index, min_size=1, max_size=1), st.just({})).map(list),
        ),
        max_size=5,
    )


@program(
    "fx.node.update_args_kwargs",
    cases=drawn(steps=_steps),
    edges=[{"steps": steps} for steps in (
        [], [["new", 0, [N[1], N[0]], {}], ["new", 0, [N[0], N[0]], {}]],
        [["new", 0, [N[0], N[1]], {}], ["new", 0, [N[0]], {}], ["args", 2, [N[0]], {}], ["args", 2, [N[1], N[0]], {}]],
        [["new", 0, [N[0]], {"a": N[1]}], ["args", 2, [], {}], ["kwargs", 2, [], {}]],
        [["new", 0, [N[0], N[1]], {}], ["args", 2, [], {}]],
        [["new", 0, [N[0], 1], {"a": 0.0}], ["args", 2, [N[0], True], {}], ["kwargs", 2, [], {"a": -0.0}]],  # equal ones
        [["new", 0, [N[0]], {}], ["new", 0, [N[0]], {}], ["args", 2, [{"list": [N[0]]}], {}]],  # other ones, with the same nodes
        [["new", 0, [N[0]], {"a": N[1]}], ["kwargs", 2, [], {"dim": N[0]}], ["args", 2, [N[1]], {}]],
        [["new", 0, [{"list": [N[0], [{"dict": {"a": N[1]}}]]}, {"slice": [N[0], None, 2]}], {"a": {"list": []}}]],
        [["new", 0, [{"slice": [None, N[1], N[0]]}], {"a": {"dict": {"b": {"list": [1, 2]}}}}]],
        [["new", 0, [N[0]], {}], ["new", 0, [N[2], N[2]], {"a": N[2]}], ["replace", 2, [0], {}], ["args", 3, [N[3]], {}]],
        [["new", 0, [N[1]], {"a": N[0], "dim": N[1]}], ["replace", 1, [0], {}]],
        [["new", 0, [], {"dim": N[1], "a": N[0]}], ["new", 0, [[N[2], [N[0]]]], {}]],
    )],
    hint=when(
        lambda case: {"args", "kwargs", "replace"} & {step[0] for step in case["steps"]},
        "a node that used another one before is first removed from its users, so it comes last if it uses it again",
    ),
)  # fmt: skip
def uses_and_users(xp, steps):
    graph = fx.graph_of(xp, [X, Y])
    for kind, index, args, kwargs in steps:
        nodes = list(graph.nodes)
        node = nodes[index % len(nodes)]
        if kind == "replace":
            node.replace_all_uses_with(nodes[args[0] % len(nodes)])
            continue
        args, kwargs = fx.arguments_of(args, kwargs, nodes)
        if kind == "new":
            graph.create_node("call_function", operator.add, args, kwargs)
        elif kind == "args":
            node.args = args
        else:
            node.kwargs = kwargs
    kinds = [[container_types(node.args), container_types(node.kwargs)] for node in graph.nodes]
    values = [[list(node._input_nodes.values()), list(node.users.values())] for node in graph.nodes]
    return {"nodes": fx.shown(graph), "kinds": kinds, "values": values}


def container_types(arg):
    """The types of the containers in an argument."""
    if isinstance(arg, (tuple, list, dict)):
        return [type(arg).__name__, *map(container_types, arg.values() if isinstance(arg, dict) else arg)]
    return type(arg).__name__ if isinstance(arg, slice) else None


# What is recorded ----------------------------------------------------------------------------------------------------


class Pair(NamedTuple):
    first: object
    second: object


class Status(enum.IntEnum):
    OK = 1


class Items(list):
    pass


class Word(str):
    pass


class Count(int):
    pass


class Ratio(float):
    pass


class OwnSet(set):
    def __fx_create_arg__(self, tracer):
        return OwnSet(self)


class Own:
    def __fx_create_arg__(self, tracer):
        return "its own", type(tracer).__name__


class OwnNumber(Own, int):
    pass


OBJECTS = {
    "set": "{1}", "object": "object()", "function": "operator.add", "bytes": "b''", "own": "Own()", "enum": "fx.Colour.RED",
    "dtype": "xp.float64", "device": "xp.device('cpu')", "ellipsis": "...", "complex": "1j", "tensor": "xp.ones(2)",
    "range": "range(1, 7, 2)", "operator": "xp.ops.aten.add.Tensor", "ordered": "OrderedDict(a=3, b=[True])",
    "default": "defaultdict(list, a=3)",
    "own list": "Items([3, [3]])", "own number": "OwnNumber(3)", "own set": "OwnSet({3})",
    "own word": "Word('a')", "own key": "{Word('a'): Word('b')}", "status": "Status.OK",
    "own count": "Count(3)", "own ratio": "Ratio(0.5)", "deque": "deque([3])", "frozenset": "frozenset({3})",
    "read only": "MappingProxyType({'a': 3})", "fraction": "Fraction(1, 2)", "class": "int",
}  # fmt: skip


def recorded_value(xp, described, proxies):
    def each(items):
        return [recorded_value(xp, item, proxies) for item in items]

    match described:
        case {"proxy": i}:
            return proxies[i]
        case {"attribute": name}:
            return getattr(proxies[0], name)
        case {"object": name}:
            return eval(OBJECTS[name], globals() | {"xp": xp})
        case {"list": items}:
            return each(items)
        case {"pair": items}:
            return Pair(*each(items))
        case {"slice": items}:
            return slice(*each(items))
        case {"dict": items}:
            return dict(map(each, items))
        case tuple():
            return tuple(each(described))
        case _:
            return described


def typed(arg):
    """An argument with the types of all that is in it."""
    kind = type(arg).__name__
    if isinstance(arg, (tuple, list)):
        return [kind, *map(typed, arg)]
    if isinstance(arg, dict):
        return [kind, *([typed(key), typed(item)] for key, item in arg.items())]
    if isinstance(arg, slice):
        return [kind, *map(typed, (arg.start, arg.stop, arg.step))]
    return [kind, str(arg).replace("rushlight", "torch")]


def _refused_alone(items):
    """The items of a dict. If a key is refused, no value records anything, so the order of keys and values does not matter."""
    refused = any("proxy" in str(key) for key, _ in items)
    return [[key, 3] for key, _ in items] if refused else items


def _values(st):
    accepted = ["own", "enum", "dtype", "device", "ellipsis", "complex", "tensor", "range", "operator"]
    leaf = st.one_of(
        st.integers(0, 1).map(lambda i: {"proxy": i}),
        st.sampled_from([0, 3, True, 0.5, None, "dim", {"attribute": "shape"}]),
        st.sampled_from(accepted).map(lambda name: {"object": name}),
        st.sampled_from(["set", "object", "function", "bytes"]).map(lambda name: {"object": name}),
    )

    def within(inner):
        key = st.one_of(st.sampled_from(["a", "b"]), st.sampled_from([1, 2, [3, "c"], [{"proxy": 0}], {"proxy": 1}]))
        return st.one_of(
            st.lists(inner, max_size=3),
            st.lists(inner, max_size=3).map(lambda items: {"list": items}),
            st.lists(inner, min_size=2, max_size=2).map(lambda items: {"pair": items}),
            st.lists(inner, min_size=3, max_size=3).map(lambda items: {"slice": items}),
            st.lists(st.tuples(key, inner).map(list), max_size=2).map(lambda items: {"dict": _refused_alone(items)}),
        )

    return st.recursive(leaf, within, max_leaves=5)


VALUES = [
    {"proxy": 0}, {"attribute": "shape"}, {"attribute": "node"},
    [3, {"list": [3, [{"proxy": 0}, {"slice": [3, {"proxy": 1}, None]}]]}],
    {"pair": [3, {"list": [{"proxy": 1}]}]}, {"dict": [["a", {"proxy": 0}], [2, 3], [[3, "c"], {"list": [3]}]]},
    {"dict": [[{"proxy": 0}, 1]]}, {"dict": [[[1, [{"proxy": 1}]], 1]]}, {"dict": [["a", {"object": "set"}]]},
    {"list": [1, {"object": "object"}]}, *({"object": name} for name in OBJECTS), True, None, "name", [], {"list": []},
]  # fmt: skip


def _keys(held):
    """The keys of the dicts in an argument, of derived classes too, as `typed` shows it."""
    if not isinstance(held, list):
        return []
    pairs = [part for part in held[1:] if isinstance(part, list) and isinstance(part[0], list)]
    return [pair[0] for pair in pairs] + [key for part in held for key in _keys(part)]


def _kinds(held):
    """The types in an argument, without the values."""
    return [
        _kinds(part) if isinstance(part, list) else part for part in held if part is held[0] or isinstance(part, list)
    ]


def _keys_differ(case, mine, theirs):
    held = field(mine, "held")
    refused = case["given"] == {"object": "read only"}  # whatever its keys are
    return isinstance(held, list) and not refused and _keys(held) != _keys(field(theirs, "held"))


def _misses_a_call(case, mine, theirs):
    """Whether a tracer that doubles numbers and words was not asked: then only values differ."""
    both = field(mine, "held"), field(theirs, "held")
    return case["doubling"] and all(isinstance(held, list) for held in both) and _kinds(both[0]) == _kinds(both[1])


@program(
    "fx.proxy.create_arg",
    cases=drawn(given=_values, doubling=bool),
    edges=[{"given": given, "doubling": doubling} for given in VALUES for doubling in (False, True)],
    hint=first_of(
        when(_keys_differ, "a key that is a string stays as it is. Another key becomes `dict_key(tracer, key)`"),
        when(_misses_a_call, "call tracer.create_arg for the items, because a subclass may override it"),
    ),
)
def arguments_recorded(xp, given, doubling):
    class Tracer(xp.fx.proxy.GraphAppendingTracer):
        def create_arg(self, a):
            return a * 2 if doubling and type(a) in (int, str, Word) else super().create_arg(a)

    graph = fx.graph_of(xp, [X, Y])
    tracer = Tracer(graph)
    proxies = [tracer.proxy(node) for node in graph.nodes]
    try:
        held = attempt(_recorded, tracer, recorded_value(xp, given, proxies))
    except NotImplementedError:  # which the contract names
        held = "raises NotImplementedError"
    return {"held": held, "nodes": fx.shown(graph)}


def _recorded(tracer, value):
    """The argument of a node. The program goes on and changes its lists and dicts."""
    held = tracer.create_arg(value)
    _empty(value)
    return typed(held)


def _empty(value):
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ():
        _empty(item)
    if isinstance(value, (list, dict, set)):
        value.clear()
    if isinstance(value, (list, dict)):
        value.__init__([("changed", 3)])


# Code ----------------------------------------------------------------------------------------------------------------

UNARY = ["neg", "invert", "pos", "not_", "index"]
BINARY = words("add sub mul truediv floordiv mod pow matmul getitem eq lt and_ xor contains")
IN_PLACE = ["iadd", "isub", "imul", "itruediv", "ipow", "iand", "ilshift", "imatmul"]
CALLED = [
    "math.sqrt",
    "math.pow",
    "pow",
    "len",
    USER,
    USER_ADD,
    "relu",
    "cat",
    "gelu",
    "softmax",
    "torch.add",
    "aten.add",
    "aten.relu",
]
METHODS = ["relu", "sum", "__getitem__", "to", "1b"]
PATHS = ["weight", "linear.weight", "layers.0", "layers.0.weight", "0", "a.1b.c"]
ATTRIBUTES = ["shape", "_x1", "T", "not a name", "2", "if"]


def _statements(st):
    arg = fx.drawn_argument(st)
    args, kwargs = st.lists(arg, max_size=3), st.dictionaries(st.sampled_from(["dim", "out"]), arg, max_size=2)
    some, one, two, three = (
        st.lists(arg, min_size=least, max_size=most) for least, most in ((1, 3), (1, 1), (2, 2), (3, 3))
    )
    named = fx.drawn_node(st), st.sampled_from(ATTRIBUTES)
    default = st.lists(st.sampled_from([3, None, "a"]), max_size=1)
    drawn = [
        ("placeholder", ["x", "y", "*args", "**kw", "sum"], default),
        ("get_attr", PATHS, st.just([])),
        ("call_module", PATHS, args, kwargs),
        ("call_method", METHODS, some, kwargs),
        ("call_function", UNARY, one),
        ("call_function", BINARY, two),
        ("call_function", IN_PLACE, two),
        ("call_function", ["setitem"], three),
        ("call_function", CALLED, args, kwargs),
        ("call_function", ["getattr"], st.tuples(*named).map(list)),
        ("call_function", ["getattr"], st.tuples(*named, arg).map(list)),
        ("output", ["output"], one),
    ]
    return fx.drawn_statements(st, drawn)


RED = {"colour": "RED"}


@program(
    "fx.codegen.statement",
    cases=drawn(statements=several(_statements, 0, 5), typed=bool, root=["self", "self", "module"]),
    edges=rows("statements typed root", *(([X, Y, *statements], *typed) for statements in (
        [attribute(path) for path in PATHS], [module(path, N[0], N[1], dim=1) for path in PATHS[:4]],
        [method(name, N[0]) for name in METHODS],
        [method("sum", N[0], 1, {"list": [N[1]]}, dim=N[1]), method("if", [N[0]])],
        [call("math.sqrt", N[0]), method("math_sqrt", N[0]), method("relu", N[3])],  # the variable is not the name
        [call(name, N[0]) for name in UNARY], [call(name, N[0], N[1]) for name in BINARY],
        [call(name, N[0], N[1]) for name in IN_PLACE],
        [call("setitem", N[0], [0, {"slice": [None, N[1], None]}], 0.5)],
        [call(name, N[0], dim={"list": [N[1], "a"]}) for name in CALLED],
        [call("getattr", N[0], name) for name in ATTRIBUTES],
        [call("getattr", N[0], "shape", None), call("getattr", N[0], N[1]), call(USER_GETATTR, N[0], "shape")],
        [output([N[0], {"dict": {"a": N[1]}}])], [output(None)], [output(N[0], N[1]), output(RED), output("a")],
        [module("linear", RED), method("sum", RED, {"list": [RED]}, dim=RED), call("add", RED, "a"),
         call("iadd", RED, {"list": [RED]}), call("getattr", "a", "shape"), method("sum", "a"), call("getattr", [RED], "shape"),
         call("relu", [RED], dim=RED)],
        [call(name, N[0], "dim") for name in CALLED],
    ) for typed in ((False, "self"), (True, "module")))),
    hint=when("typed", "attributes are looked up in `root`, and `note` comes right after the variable"),
    show=fx.as_code,
)  # fmt: skip
def code_of_a_graph(xp, statements, typed, root):
    graph = fx.graph_of(xp, [*statements, output(None)])
    for node in graph.nodes if typed else ():
        node.type = int
    code = graph.python_code(root)
    known = {"inf", "nan", "NoneType", "device", "torch", "rushlight", "fx_pytree", "pytree", "getattr"}
    return {"code": fx.in_torch(code.src), "globals": sorted(set(code.globals) - known)}
