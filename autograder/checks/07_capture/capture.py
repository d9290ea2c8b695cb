"""Lab 07: graph capture."""

from __future__ import annotations

import contextlib
import math
import operator
from collections import Counter
from enum import Enum
from typing import NamedTuple

from ...check import program

# ---- fx ------------------------------------------------------------------------------------------------------------
#
# A graph is drawn as a list of statements, [op, target, args, kwargs]. In arguments {"node": i} is one of the nodes so far,
# counted round; {"list": [...]}, {"dict": {...}} and {"slice": [...]} are what they say, {"colour": name} is an enum, and a
# sequence a tuple.


class FxColour(Enum):
    RED = 1


def fx_value(described, nodes):
    match described:
        case {"node": i}:
            return nodes[i % len(nodes)] if nodes else 0
        case {"list": items}:
            return [fx_value(item, nodes) for item in items]
        case {"dict": items}:
            return {key: fx_value(item, nodes) for key, item in items.items()}
        case {"slice": items}:
            return slice(*(fx_value(item, nodes) for item in items))
        case {"colour": name}:
            return FxColour[name]
        case tuple():
            return tuple(fx_value(item, nodes) for item in described)
        case _:
            return described


def fx_user_function(*args, **kwargs):
    return args


def fx_user_add(*args):
    return args


def fx_user_getattr(*args):
    return args


fx_user_add.__module__, fx_user_add.__name__ = "__main__", "add"
fx_user_getattr.__module__, fx_user_getattr.__name__ = "__main__", "getattr"


FX_TARGETS = {
    **{name: lambda xp, name=name: getattr(operator, name) for name in dir(operator) if not name.startswith("_")},
    "math.sqrt": lambda xp: math.sqrt,
    "len": lambda xp: len,
    "getattr": lambda xp: getattr,
    "a function of the program": lambda xp: fx_user_function,
    "a function add": lambda xp: fx_user_add,
    "a function getattr": lambda xp: fx_user_getattr,
    "relu": lambda xp: xp.relu,
    "cat": lambda xp: xp.cat,
    "torch.add": lambda xp: xp.add,
    "gelu": lambda xp: xp.nn.functional.gelu,
    "softmax": lambda xp: xp.nn.functional.softmax,
    "aten.add": lambda xp: xp.ops.aten.add.Tensor,
    "aten.mul": lambda xp: xp.ops.aten.mul.Tensor,
    "aten.add_": lambda xp: xp.ops.aten.add_.Tensor,
    "aten.relu_": lambda xp: xp.ops.aten.relu_.default,
    "aten.relu": lambda xp: xp.ops.aten.relu,
    "aten.cat": lambda xp: xp.ops.aten.cat.default,
    "aten.split": lambda xp: xp.ops.aten.split.Tensor,
    "aten.full": lambda xp: xp.ops.aten.full.default,
    "aten.rand_like": lambda xp: xp.ops.aten.rand_like.default,
    "aten.bernoulli": lambda xp: xp.ops.aten.bernoulli.default,
}


def fx_graph(xp, statements):
    graph, nodes = xp.fx.Graph(), []
    for op, target, args, kwargs in statements:
        args = tuple(fx_value(arg, nodes) for arg in args)
        kwargs = {name: fx_value(arg, nodes) for name, arg in kwargs.items()}
        target = FX_TARGETS[target](xp) if op == "call_function" else target
        nodes.append(graph.create_node(op, target, args, kwargs))
    return graph


def fx_output(places):
    return ["output", "output", (tuple({"node": i} for i in places),), {}]


def fx_shown(graph):
    """Each node with what it calls, what it uses, and who uses it."""
    return [
        {
            "node": node.name,
            "calls": [node.op, node.target if isinstance(node.target, str) else node.target.__name__],
            "with": [str(node.args), str(node.kwargs)],
            "uses": [used.name for used in node.all_input_nodes],
            "used by": [user.name for user in node.users],
        }
        for node in graph.nodes
    ]


def fx_in_torch(text):
    """Generated code as it reads in either framework."""
    return text.replace("rushlight", "torch").split("\n")


def fx_attempt(run):
    try:
        return run()
    except (
        RuntimeError,
        TypeError,
        ValueError,
        NotImplementedError,
        AttributeError,
        AssertionError,
        KeyError,
    ) as error:
        if isinstance(error, RecursionError):
            raise
        return f"raises {next(each for each in type(error).__mro__ if each.__module__ == 'builtins').__name__}"


def _fx_arguments(st, deep=True):
    node = st.integers(0, 9).map(lambda i: {"node": i})
    plain = st.sampled_from([0, 1, 2, True, 0.5, None, "dim"])
    leaf = st.one_of(node, node, plain)
    if not deep:
        return leaf

    def within(inner):
        names = st.sampled_from(["a", "b", "dim"])
        return st.one_of(
            st.lists(inner, max_size=3).map(lambda items: {"list": items}),
            st.lists(inner, max_size=3),
            st.dictionaries(names, inner, max_size=2).map(lambda items: {"dict": items}),
            st.lists(leaf, min_size=3, max_size=3).map(lambda items: {"slice": items}),
        )

    return st.one_of(leaf, leaf, st.recursive(leaf, within, max_leaves=5))


FX_X, FX_Y = ["placeholder", "x", [], {}], ["placeholder", "y", [], {}]
FX_RED = {"colour": "RED"}
FX_N = [{"node": i} for i in range(12)]


# Names ---------------------------------------------------------------------------------------------------------------

FX_HOLDERS = {"an object": object(), "another": object(), "sum": sum, "inf": math.inf, "print": print}


@program(
    "fx.graph.create_name",
    cases=lambda st: st.fixed_dictionaries(
        {
            "requests": st.lists(
                st.tuples(
                    st.one_of(
                        st.sampled_from(
                            ["relu", "relu_1", "relu_2", "relu_12", "add", "sum", "sum_1", "if", "inf", "print"]
                        ),
                        st.sampled_from(
                            ["a.b", "a.0", "_1", "_1_2", "x__1", "x_01", "1", "", ".", "NoneType", "getattr", "_"]
                        ),
                        st.text("ab_12.", max_size=5),
                        st.text("aé_-0:", max_size=4),
                    ),
                    st.sampled_from([None, None, None, *FX_HOLDERS]),
                ).map(list),
                max_size=8,
            )
        }
    ),
    edges=[
        {"requests": [[name, None] for name in names]}
        for names in (
            ["relu", "relu", "relu", "relu_1", "relu_7", "relu_7", "relu", "relu_2"],
            ["relu_3", "relu", "relu", "relu_1", "relu_4", "relu_4"],
            ["sum", "sum", "sum_1", "sum_5", "sum", "if", "if", "print"],
            ["linear.weight", "linear..weight", "linear_weight", "a b", "é", "éé", "aéb", "...", "_"],
            ["", "", "_unnamed", "0", "0", "_0", "1x", "_1", "_1", "_1_1"],
            ["x_", "x_", "x__1", "x__1", "x_1_1", "x_1_1", "x_1", "x_1"],
            ["x_01", "x_1", "x_01", "x", "inf", "nan", "device", "NoneType", "None", "lambda", "lambda_1", "lambda"],
        )
    ]
    + [
        {"requests": requests}
        for requests in (
            [["relu", "an object"], ["add", "an object"], ["relu", "another"], ["relu", None], ["relu", "another"]],
            [["sum", "sum"], ["sum", None], ["sum", "print"], ["print", "sum"], ["sum", "sum"]],
            [["inf", "inf"], ["inf", "an object"], ["print", "print"], ["x", "print"], ["sum_1", "sum"], ["sum", None]],
            [["", "an object"], ["0.1", "another"], ["", "an object"]],
        )
    ],
    hint=lambda case, mine, theirs: (
        "a name that is Python's own, or that generated code gives a meaning, is only for the object that it stands for"
        if any(name in ("sum", "if", "inf", "print", "None", "lambda") for name, _ in case["requests"])
        else None
    ),
)
def names_given(xp, requests):
    namespace = xp.fx.graph._Namespace()
    given = [namespace.create_name(candidate, FX_HOLDERS.get(holder)) for candidate, holder in requests]
    return {
        "given": given,
        "used": sorted(namespace._used_names),
        "counts": sorted(namespace._base_count.items()),
        "held": sorted(namespace._obj_to_name.values()),
    }


# What a node uses ----------------------------------------------------------------------------------------------------


def _fx_steps(st):
    args = st.lists(_fx_arguments(st), max_size=3)
    kwargs = st.dictionaries(st.sampled_from(["a", "dim"]), _fx_arguments(st), max_size=2)
    place = st.integers(0, 9)
    return st.lists(
        st.one_of(
            st.tuples(st.just("new"), st.just(0), args, kwargs).map(list),
            st.tuples(st.just("args"), place, args, st.just({})).map(list),
            st.tuples(st.just("kwargs"), place, st.just([]), kwargs).map(list),
            st.tuples(st.just("replace"), place, st.lists(place, min_size=1, max_size=1), st.just({})).map(list),
        ),
        max_size=5,
    )


@program(
    "fx.node.update_args_kwargs",
    cases=lambda st: st.fixed_dictionaries({"steps": _fx_steps(st)}),
    edges=[
        {"steps": steps}
        for steps in (
            [],
            [["new", 0, [FX_N[1], FX_N[0]], {}], ["new", 0, [FX_N[0], FX_N[0]], {}]],
            [
                ["new", 0, [FX_N[0], FX_N[1]], {}],
                ["new", 0, [FX_N[0]], {}],
                ["args", 2, [FX_N[0]], {}],
                ["args", 2, [FX_N[1], FX_N[0]], {}],
            ],
            [["new", 0, [FX_N[0]], {"a": FX_N[1]}], ["args", 2, [], {}], ["kwargs", 2, [], {}]],
            [["new", 0, [FX_N[0], FX_N[1]], {}], ["args", 2, [], {}]],
            [["new", 0, [FX_N[0]], {"a": FX_N[1]}], ["kwargs", 2, [], {"dim": FX_N[0]}], ["args", 2, [FX_N[1]], {}]],
            [
                [
                    "new",
                    0,
                    [{"list": [FX_N[0], [{"dict": {"a": FX_N[1]}}]]}, {"slice": [FX_N[0], None, 2]}],
                    {"a": {"list": []}},
                ]
            ],
            [["new", 0, [{"slice": [None, FX_N[1], FX_N[0]]}], {"a": {"dict": {"b": {"list": [1, 2]}}}}]],
            [
                ["new", 0, [FX_N[0]], {}],
                ["new", 0, [FX_N[2], FX_N[2]], {"a": FX_N[2]}],
                ["replace", 2, [0], {}],
                ["args", 3, [FX_N[3]], {}],
            ],
            [["new", 0, [FX_N[1]], {"a": FX_N[0], "dim": FX_N[1]}], ["replace", 1, [0], {}]],
            [["new", 0, [], {"dim": FX_N[1], "a": FX_N[0]}], ["new", 0, [[FX_N[2], [FX_N[0]]]], {}]],
        )
    ],
    hint=lambda case, mine, theirs: (
        "users: whoever used before is taken out first, and comes last if it goes on using"
        if any(step[0] in ("args", "kwargs", "replace") for step in case["steps"])
        else None
    ),
)
def uses_and_users(xp, steps):
    graph = fx_graph(xp, [FX_X, FX_Y])
    for kind, place, args, kwargs in steps:
        nodes = list(graph.nodes)
        node = nodes[place % len(nodes)]
        if kind == "replace":
            node.replace_all_uses_with(nodes[args[0] % len(nodes)])
            continue
        args = tuple(fx_value(arg, nodes) for arg in args)
        kwargs = {name: fx_value(arg, nodes) for name, arg in kwargs.items()}
        if kind == "new":
            graph.create_node("call_function", operator.add, args, kwargs)
        elif kind == "args":
            node.args = args
        else:
            node.kwargs = kwargs
    kinds = [[fx_kinds(node.args), fx_kinds(node.kwargs)] for node in graph.nodes]
    values = [[list(node._input_nodes.values()), list(node.users.values())] for node in graph.nodes]
    return {"nodes": fx_shown(graph), "kinds": kinds, "values": values}


def fx_kinds(arg):
    """The types of the containers in an argument."""
    if isinstance(arg, (tuple, list, dict)):
        return [type(arg).__name__, *map(fx_kinds, arg.values() if isinstance(arg, dict) else arg)]
    return type(arg).__name__ if isinstance(arg, slice) else None


# What is recorded ----------------------------------------------------------------------------------------------------


class FxPair(NamedTuple):
    first: object
    second: object


class FxOwn:
    def __fx_create_arg__(self, tracer):
        return "its own", type(tracer).__name__


FX_OBJECTS = {
    "set": lambda xp: {1},
    "object": lambda xp: object(),
    "function": lambda xp: operator.add,
    "bytes": lambda xp: b"",
    "own": lambda xp: FxOwn(),
    "enum": lambda xp: FxColour.RED,
    "dtype": lambda xp: xp.float64,
    "device": lambda xp: xp.device("cpu"),
    "ellipsis": lambda xp: ...,
    "complex": lambda xp: 1j,
    "tensor": lambda xp: xp.ones(2),
    "range": lambda xp: range(1, 7, 2),
    "operator": lambda xp: xp.ops.aten.add.Tensor,
}


def fx_given(xp, described, proxies):
    match described:
        case {"proxy": i}:
            return proxies[i]
        case {"attribute": name}:
            return getattr(proxies[0], name)
        case {"object": name}:
            return FX_OBJECTS[name](xp)
        case {"list": items}:
            return [fx_given(xp, item, proxies) for item in items]
        case {"pair": items}:
            return FxPair(*(fx_given(xp, item, proxies) for item in items))
        case {"slice": items}:
            return slice(*(fx_given(xp, item, proxies) for item in items))
        case {"dict": items}:
            return {fx_given(xp, key, proxies): fx_given(xp, item, proxies) for key, item in items}
        case tuple():
            return tuple(fx_given(xp, item, proxies) for item in described)
        case _:
            return described


def fx_held(arg):
    """An argument with the types of all that is in it."""
    kind = type(arg).__name__
    if isinstance(arg, (tuple, list)):
        return [kind, *map(fx_held, arg)]
    if isinstance(arg, dict):
        return [kind, *([fx_held(key), fx_held(item)] for key, item in arg.items())]
    if isinstance(arg, slice):
        return [kind, *map(fx_held, (arg.start, arg.stop, arg.step))]
    return [kind, str(arg).replace("rushlight", "torch")]


def _refused_alone(items):
    """The items of a dict; beside a key that is refused no value does anything, so that it shows nowhere which came first."""
    refused = any("proxy" in str(key) for key, _ in items)
    return [[key, 3] for key, _ in items] if refused else items


def _fx_given(st):
    leaf = st.one_of(
        st.integers(0, 1).map(lambda i: {"proxy": i}),
        st.sampled_from([0, 3, True, 0.5, None, "dim", {"attribute": "shape"}]),
        st.sampled_from(["own", "enum", "dtype", "device", "ellipsis", "complex", "tensor", "range", "operator"]).map(
            lambda name: {"object": name}
        ),
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


@program(
    "fx.proxy.create_arg",
    cases=lambda st: st.fixed_dictionaries({"given": _fx_given(st), "doubling": st.booleans()}),
    edges=[
        {"given": given, "doubling": doubling}
        for given in (
            {"proxy": 0},
            {"attribute": "shape"},
            [3, {"list": [3, [{"proxy": 0}, {"slice": [3, {"proxy": 1}, None]}]]}],
            {"pair": [3, {"list": [{"proxy": 1}]}]},
            {"dict": [["a", {"proxy": 0}], [2, 3], [[3, "c"], {"list": [3]}]]},
            {"dict": [[{"proxy": 0}, 1]]},
            {"dict": [[[1, [{"proxy": 1}]], 1]]},
            {"dict": [["a", {"object": "set"}]]},
            {"list": [1, {"object": "object"}]},
            *({"object": name} for name in FX_OBJECTS),
            True,
            None,
            "name",
            [],
            {"list": []},
        )
        for doubling in (False, True)
    ],
    hint=lambda case, mine, theirs: (
        "what is inside goes through tracer.create_arg, which a subclass has overridden" if case["doubling"] else None
    ),
)
def arguments_recorded(xp, given, doubling):
    class Tracer(xp.fx.proxy.GraphAppendingTracer):
        def create_arg(self, a):
            return a * 2 if doubling and type(a) in (int, str) else super().create_arg(a)

    graph = fx_graph(xp, [FX_X, FX_Y])
    tracer = Tracer(graph)
    proxies = [tracer.proxy(node) for node in graph.nodes]
    return {
        "held": fx_attempt(lambda: fx_held(tracer.create_arg(fx_given(xp, given, proxies)))),
        "nodes": fx_shown(graph),
    }


# Code ----------------------------------------------------------------------------------------------------------------

FX_UNARY = ["neg", "invert", "pos", "not_", "index"]
FX_BINARY = [
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "matmul",
    "getitem",
    "eq",
    "lt",
    "and_",
    "xor",
    "contains",
]
FX_IN_PLACE = ["iadd", "isub", "imul", "itruediv", "ipow", "iand", "ilshift", "imatmul"]
FX_CALLED = ["math.sqrt", "len", "a function of the program", "a function add", "relu", "cat", "gelu", "softmax"]
FX_CALLED += ["torch.add", "aten.add", "aten.relu"]
FX_METHODS = ["relu", "sum", "__getitem__", "to"]
FX_PATHS = ["weight", "linear.weight", "layers.0", "layers.0.weight", "0", "a.1b.c"]
FX_NAMES = ["shape", "T", "not a name", "2", "if"]


def _fx_written(st):
    arg = _fx_arguments(st)
    args, kwargs = st.lists(arg, max_size=3), st.dictionaries(st.sampled_from(["dim", "out"]), arg, max_size=2)
    some = st.lists(arg, min_size=1, max_size=3)
    node = st.integers(0, 9).map(lambda i: {"node": i})

    def call(op, targets, args, kwargs=None):
        kwargs = st.just({}) if kwargs is None else kwargs
        return st.tuples(st.just(op), st.sampled_from(targets), args, kwargs).map(list)

    return st.one_of(
        call("placeholder", ["x", "y", "*args", "**kw", "sum"], st.lists(st.sampled_from([3, None, "a"]), max_size=1)),
        call("get_attr", FX_PATHS, st.just([])),
        call("call_module", FX_PATHS, args, kwargs),
        call("call_method", FX_METHODS, some, kwargs),
        call("call_function", FX_UNARY, st.lists(arg, min_size=1, max_size=1)),
        call("call_function", FX_BINARY, st.lists(arg, min_size=2, max_size=2)),
        call("call_function", FX_IN_PLACE, st.lists(arg, min_size=2, max_size=2)),
        call("call_function", ["setitem"], st.lists(arg, min_size=3, max_size=3)),
        call("call_function", FX_CALLED, args, kwargs),
        call("call_function", ["getattr"], st.tuples(node, st.sampled_from(FX_NAMES)).map(list)),
        call("call_function", ["getattr"], st.tuples(node, st.sampled_from(FX_NAMES), arg).map(list)),
        call("output", ["output"], st.lists(arg, min_size=1, max_size=1)),
    )


@program(
    "fx.codegen.statement",
    cases=lambda st: st.fixed_dictionaries(
        {
            "statements": st.lists(_fx_written(st), max_size=5),
            "typed": st.booleans(),
            "root": st.sampled_from(["self", "self", "module"]),
        }
    ),
    edges=[
        {"statements": [FX_X, FX_Y, *statements], "typed": typed, "root": root}
        for statements in (
            [["get_attr", path, [], {}] for path in FX_PATHS],
            [["call_module", path, [FX_N[0], FX_N[1]], {"dim": 1}] for path in FX_PATHS[:4]],
            [["call_method", name, [FX_N[0]], {}] for name in FX_METHODS],
            [
                ["call_method", "sum", [FX_N[0], 1, {"list": [FX_N[1]]}], {"dim": FX_N[1]}],
                ["call_method", "if", [[FX_N[0]]], {}],
            ],
            [["call_function", name, [FX_N[0]], {}] for name in FX_UNARY],
            [["call_function", name, [FX_N[0], FX_N[1]], {}] for name in FX_BINARY],
            [["call_function", name, [FX_N[0], FX_N[1]], {}] for name in FX_IN_PLACE],
            [["call_function", "setitem", [FX_N[0], [0, {"slice": [None, FX_N[1], None]}], 0.5], {}]],
            [["call_function", name, [FX_N[0]], {"dim": {"list": [FX_N[1], "a"]}}] for name in FX_CALLED],
            [["call_function", "getattr", [FX_N[0], name], {}] for name in FX_NAMES],
            [
                ["call_function", "getattr", [FX_N[0], "shape", None], {}],
                ["call_function", "getattr", [FX_N[0], FX_N[1]], {}],
                ["call_function", "a function getattr", [FX_N[0], "shape"], {}],
            ],
            [["output", "output", [[FX_N[0], {"dict": {"a": FX_N[1]}}]], {}]],
            [["output", "output", [None], {}]],
            [
                ["output", "output", [FX_N[0], FX_N[1]], {}],
                ["output", "output", [FX_RED], {}],
                ["output", "output", ["a"], {}],
            ],
            [
                ["call_module", "linear", [FX_RED], {}],
                ["call_method", "sum", [FX_RED, {"list": [FX_RED]}], {"dim": FX_RED}],
                ["call_function", "add", [FX_RED, "a"], {}],
                ["call_function", "iadd", [FX_RED, {"list": [FX_RED]}], {}],
                ["call_function", "getattr", ["a", "shape"], {}],
                ["call_method", "sum", ["a"], {}],
                ["call_function", "getattr", [[FX_RED], "shape"], {}],
                ["call_function", "relu", [[FX_RED]], {"dim": FX_RED}],
            ],
            [["call_function", name, [FX_N[0], "dim"], {}] for name in FX_CALLED],
        )
        for typed, root in ((False, "self"), (True, "module"))
    ],
    hint=lambda case, mine, theirs: (
        "attributes are looked up in `root`, and `note` comes right behind the variable" if case["typed"] else None
    ),
)
def code_of_a_graph(xp, statements, typed, root):
    graph = fx_graph(xp, [*statements, ["output", "output", [None], {}]])
    for node in graph.nodes if typed else ():
        node.type = int
    code = graph.python_code(root)
    known = {"inf", "nan", "NoneType", "device", "torch", "rushlight", "fx_pytree", "pytree", "getattr"}
    return {"code": fx_in_torch(code.src), "globals": sorted(set(code.globals) - known)}


# Running -------------------------------------------------------------------------------------------------------------

FX_NUMBERS = ["add", "sub", "mul", "neg", "a function of the program"]


def _fx_numbers(st):
    node = st.integers(0, 9).map(lambda i: {"node": i})
    value = st.one_of(node, node, st.integers(0, 9))
    pair = st.lists(value, min_size=2, max_size=2)
    nested = st.one_of(value, pair, pair.map(lambda items: {"list": items}), node.map(lambda n: {"dict": {"a": n}}))

    def call(op, target, args, kwargs=None):
        kwargs = st.just({}) if kwargs is None else kwargs
        return st.tuples(st.just(op), st.just(target), args, kwargs).map(list)

    return st.one_of(
        call("call_function", "add", pair),
        call("call_function", "sub", pair),
        call("call_function", "neg", st.lists(value, min_size=1, max_size=1)),
        call(
            "call_function",
            "a function of the program",
            st.lists(nested, max_size=2),
            st.dictionaries(st.sampled_from(["a", "b"]), nested, max_size=1),
        ),
        call("call_method", "__add__", st.tuples(node, value).map(list)),
        call("call_method", "__rsub__", st.tuples(node, value).map(list)),
        call("call_module", "triple", st.lists(value, min_size=1, max_size=1), st.dictionaries(st.just("plus"), value)),
        call("get_attr", "seven", st.just([])),
    )


@program(
    "fx.interpreter.run_node",
    cases=lambda st: st.fixed_dictionaries(
        {
            "statements": st.lists(_fx_numbers(st), max_size=5),
            "inputs": st.lists(st.integers(10, 99), min_size=2, max_size=2),
            "swapped": st.booleans(),
            "moved": st.one_of(st.none(), st.none(), st.tuples(st.integers(0, 6), st.integers(0, 6)).map(list)),
        }
    ),
    edges=[
        {"statements": statements, "inputs": [40, 2], "swapped": swapped, "moved": moved}
        for statements, moved in (
            ([], None),
            ([["call_function", "sub", [FX_N[0], FX_N[1]], {}]], None),
            (
                [["call_function", "add", [FX_N[0], FX_N[1]], {}], ["call_function", "add", [FX_N[2], FX_N[2]], {}]],
                None,
            ),
            ([["call_method", "__rsub__", [FX_N[0], FX_N[1]], {}]], None),
            ([["call_module", "triple", [FX_N[0]], {"plus": FX_N[1]}], ["call_module", "triple", [FX_N[2]], {}]], None),
            ([["get_attr", "seven", [], {}], ["call_function", "sub", [FX_N[2], FX_N[0]], {}]], None),
            (
                [
                    [
                        "call_function",
                        "a function of the program",
                        [[FX_N[0], {"list": [FX_N[1], [FX_N[0]]]}]],
                        {"a": FX_N[1]},
                    ]
                ],
                None,
            ),
            (
                [
                    [
                        "call_function",
                        "a function of the program",
                        [{"dict": {"a": FX_N[1]}}, {"slice": [FX_N[0], 1, FX_N[1]]}],
                        {},
                    ]
                ],
                None,
            ),
            ([["call_function", "neg", [FX_N[0]], {}], ["call_function", "neg", [FX_N[2]], {}]], [2, 3]),
            ([["call_function", "a function of the program", [1], {"a": FX_N[1]}]], [1, 2]),
        )
        for swapped in (False, True)
    ]
    + [
        {
            "statements": [["call_function", "a function of the program", [FX_N[1]], {}]],
            "inputs": [40, None],
            "swapped": False,
            "moved": None,
        }
    ],
    hint=lambda case, mine, theirs: (
        "the interpreter's own method is asked, which a subclass has overridden" if case["swapped"] else None
    ),
)
def graph_interpreted(xp, statements, inputs, swapped, moved):
    class Triple(xp.nn.Module):
        def forward(self, x, plus=0):
            return x * 3 + plus

    class Listening(xp.fx.Interpreter):
        heard = []

        def call_function(self, target, args, kwargs):
            self.heard.append(["call_function", target.__name__, str(args), str(kwargs)])
            if swapped and target in (operator.add, operator.sub):
                target = operator.mul
            return super().call_function(target, args, kwargs)

        def output(self, target, args, kwargs):
            self.heard.append(["output", target, str(args), str(kwargs)])
            return "swapped" if swapped else super().output(target, args, kwargs)

    graph = fx_graph(xp, [FX_X, FX_Y, *statements, fx_output(range(len(statements) + 2))])
    nodes = list(graph.nodes)
    if moved is not None:
        nodes[moved[1] % len(nodes)].append(nodes[moved[0] % len(nodes)])
    module = xp.fx.GraphModule({"triple": Triple(), "seven": 7}, graph)
    interpreter = Listening(module, garbage_collect_values=False)
    Listening.heard = []
    result = fx_attempt(lambda: str(interpreter.run(*inputs)))
    after, interpreter.env = interpreter.env, {}
    alone = [fx_attempt(lambda n=node: str(interpreter.run_node(n))) for node in nodes[2:]]
    return {
        "result": result,
        "heard": Listening.heard,
        "each without the others": alone,
        "values": [[node.name, str(value)] for node, value in after.items()],
    }


# Dead code -----------------------------------------------------------------------------------------------------------


def _fx_lived(st):
    node = st.integers(0, 9).map(lambda i: {"node": i})
    pair = st.lists(node, min_size=1, max_size=2)

    def call(op, targets, args):
        return st.tuples(st.just(op), st.sampled_from(targets), args, st.just({})).map(list)

    return st.one_of(
        call("call_function", ["add"], st.tuples(node, node).map(list)),
        call("call_function", ["torch.add", "aten.add", "aten.add_", "aten.rand_like", "relu"], pair),
        call("call_function", ["cat"], pair.map(lambda items: [{"list": items}])),
        call("call_method", ["relu", "add_"], pair),
        call("call_module", ["pure", "impure"], pair),
        call("get_attr", ["weight"], st.just([])),
    )


FX_IMPURE = {
    "as usual": None,
    "all": lambda node: True,
    "none": lambda node: False,
    "ends": lambda node: node.op in ("placeholder", "output"),
    "functions": lambda node: node.op == "call_function",
}


@program(
    "fx.passes.eliminate_dead_code",
    cases=lambda st: st.fixed_dictionaries(
        {
            "statements": st.lists(_fx_lived(st), max_size=6),
            "returned": st.lists(st.integers(0, 7), max_size=2),
            "impure": st.sampled_from(["as usual", "as usual", *FX_IMPURE]),
            "moved": st.one_of(st.none(), st.none(), st.tuples(st.integers(0, 7), st.integers(0, 7)).map(list)),
        }
    ),
    edges=[
        {"statements": statements, "returned": [], "impure": impure, "moved": None}
        for statements in (
            [],
            [
                ["call_function", "torch.add", [FX_N[0]], {}],
                ["call_function", "relu", [FX_N[2]], {}],
                ["call_method", "relu", [FX_N[3]], {}],
            ],
            [["call_module", "pure", [FX_N[0]], {}], ["call_module", "impure", [FX_N[2]], {}]],
            [
                ["call_function", "aten.add_", [FX_N[0], FX_N[1]], {}],
                ["call_function", "aten.rand_like", [FX_N[2]], {}],
            ],
            [
                ["call_method", "add_", [FX_N[0], FX_N[1]], {}],
                ["get_attr", "weight", [], {}],
                ["placeholder", "z", [], {}],
            ],
        )
        for impure in FX_IMPURE
    ]
    + [
        {"statements": statements, "returned": returned, "impure": "as usual", "moved": moved}
        for statements, returned, moved in (
            ([["call_function", "torch.add", [FX_N[0]], {}], ["call_function", "relu", [FX_N[2]], {}]], [3], None),
            ([["call_function", "torch.add", [FX_N[0]], {}], ["call_function", "relu", [FX_N[2]], {}]], [2], None),
            ([["call_function", "torch.add", [FX_N[0]], {}], ["call_function", "relu", [FX_N[2]], {}]], [1], [2, 3]),
            ([["call_function", "torch.add", [FX_N[0]], {}], ["call_function", "relu", [FX_N[0]], {}]], [1], [0, 3]),
        )
    ],
    hint=lambda case, mine, theirs: (
        "a function that is given decides alone, about inputs and the output too"
        if case["impure"] != "as usual"
        else None
    ),
)
def dead_code(xp, statements, returned, impure, moved):
    modules = {"pure": xp.nn.ReLU(), "impure": xp.nn.ReLU(), "weight": xp.ones(2)}
    modules["impure"]._is_impure = True
    graph = fx_graph(xp, [FX_X, FX_Y, *statements, fx_output(returned)])
    nodes = list(graph.nodes)
    module = xp.fx.GraphModule(modules, graph)
    if moved is not None:
        nodes[moved[1] % len(nodes)].append(nodes[moved[0] % len(nodes)])
    changed = [fx_attempt(lambda: module.graph.eliminate_dead_code(FX_IMPURE[impure])) for _ in range(2)]
    return {"changed, then again": changed, "nodes": fx_shown(graph)}


# Common subexpressions -----------------------------------------------------------------------------------------------


def _fx_repeated(st):
    node = st.integers(0, 5).map(lambda i: {"node": i})
    value = st.one_of(node, st.sampled_from([1, 1.0, True, 2]))
    pair = st.tuples(node, value).map(list)
    alpha = st.sampled_from([{}, {}, {"alpha": 1}, {"alpha": 1.0}, {"out": {"node": 0}}])

    def call(op, targets, args, kwargs=None):
        kwargs = st.just({}) if kwargs is None else kwargs
        return st.tuples(st.just(op), st.sampled_from(targets), args, kwargs).map(list)

    return st.one_of(
        call("call_function", ["torch.add", "torch.add", "aten.add"], pair, alpha),
        call("call_function", ["mul", "add", "aten.add_"], pair),
        call("call_function", ["relu", "aten.rand_like", "aten.bernoulli", "aten.relu_"], st.tuples(node).map(list)),
        call("call_function", ["cat"], pair.map(lambda items: [{"list": items}])),
        call("call_method", ["add", "add_", "relu"], pair),
        call("get_attr", ["weight"], st.just([])),
    )


FX_ADD, FX_ONE, FX_ONES = (
    ["call_function", "torch.add", [FX_N[0], FX_N[1]], {}],
    ["call_function", "mul", [FX_N[0], 1], {}],
    [1, 1.0, True],
)
FX_TENSORS = ["none", "none", "a", "b", "a view of a", "a view of b", "a number"]


@program(
    "fx.passes.common_subexpressions",
    cases=lambda st: st.fixed_dictionaries(
        {
            "statements": st.lists(_fx_repeated(st), max_size=8),
            "returned": st.lists(st.integers(0, 9), max_size=2),
            "tensors": st.one_of(st.just([]), st.lists(st.sampled_from(FX_TENSORS), max_size=8)),
        }
    ),
    edges=[
        {"statements": statements, "returned": [2, 3, len(statements) + 1], "tensors": []}
        for statements in (
            [FX_ADD, FX_ADD, FX_ADD],
            [FX_ADD, FX_ADD, ["call_function", "mul", [FX_N[2], 1], {}], ["call_function", "mul", [FX_N[3], 1], {}]],
            [
                FX_ADD,
                ["call_function", "add", [FX_N[0], FX_N[1]], {}],
                ["call_method", "add", [FX_N[0], FX_N[1]], {}],
                FX_ADD,
            ],
            [["call_function", "torch.add", [FX_N[0], one], {}] for one in FX_ONES * 2],
            [["call_function", "torch.add", [FX_N[0], 1], {"alpha": one}] for one in FX_ONES * 2],
            [
                ["call_function", "torch.add", [FX_N[0], FX_N[1]], {"alpha": 1}],
                ["call_function", "torch.add", [FX_N[0], FX_N[1], 1], {}],
            ],
            [
                ["call_function", "torch.add", [FX_N[0]], {"alpha": FX_N[1]}],
                ["call_function", "torch.add", [FX_N[0]], {"other": FX_N[1]}],
            ],
            [FX_ADD, ["call_function", "torch.add", [FX_N[1], FX_N[0]], {}], FX_ADD],
            [FX_ADD, FX_ADD] + [["call_function", "torch.add", [FX_N[0]], {"other": FX_N[i]}] for i in (2, 3)],
            [FX_ADD, ["call_function", "aten.add_", [FX_N[0], 1], {}], FX_ADD, FX_ADD],
            [["call_function", "aten.add_", [FX_N[0], 1], {}]] * 3,
            [
                FX_ADD,
                ["call_method", "add_", [FX_N[0], 1], {}],
                FX_ADD,
                FX_ADD,
                ["call_method", "add_", [FX_N[0], 1], {}],
            ],
            [FX_ADD, ["call_function", "torch.add", [FX_N[0], FX_N[1]], {"out": FX_N[0]}], FX_ADD],
            [["call_function", "aten.rand_like", [FX_N[0]], {}]] * 2
            + [["call_function", "aten.bernoulli", [FX_N[0]], {}]] * 2,
            [["get_attr", "weight", [], {}]] * 2 + [["call_function", "mul", [FX_N[2], FX_N[3]], {}]],
            [
                ["call_function", "cat", [{"list": [FX_N[0], 1]}], {}],
                ["call_function", "cat", [{"list": [FX_N[0], 1.0]}], {}],
            ]
            * 2,
            [
                ["call_module", "pure", [FX_N[0]], {}],
                ["call_module", "other", [FX_N[0]], {}],
                ["call_module", "pure", [FX_N[0]], {}],
            ],
            [["placeholder", "z", [], {}], ["placeholder", "z", [], {}]],
        )
    ]
    + [
        {"statements": [FX_ADD, FX_ADD, FX_ADD, FX_ONE, FX_ONE], "returned": returned, "tensors": tensors}
        for returned, tensors in (
            ([2, 4], ["none", "none", "a", "b", "a"]),
            ([2], ["none", "none", "a", "a view of a", "b", "a", "b"]),
            ([4], ["a", "none", "b", "a number", "b", "a", "a"]),
            ([0, 5], ["none", "a number", "a number", "none", "a number", "a number"]),
            ([3], ["none", "none", "b", "b", "b", "b", "b"]),
            ([], ["none", "none", "b", "b", "b", "b", "b"]),
        )
    ],
    hint=lambda case, mine, theirs: (
        "a node whose tensor is in the memory of one that is returned is always copied" if case["tensors"] else None
    ),
)
def without_repetition(xp, statements, returned, tensors):
    graph = fx_repeating(xp, statements, returned, tensors)
    before = fx_shown(graph)
    result = xp.fx.passes.common_subexpressions(graph)
    return {"copy": fx_shown(result), "the graph itself stays": fx_shown(graph) == before and result is not graph}


def fx_repeating(xp, statements, returned, tensors):
    graph = fx_graph(xp, [FX_X, FX_Y, *statements, fx_output(returned)])
    a, b = xp.ones(2), xp.ones(2)
    values = {"a": a, "b": b, "a view of a": a[1:], "a view of b": b.view(1, 2), "a number": 2}
    for node, name in zip(graph.nodes, tensors):
        if name in values:
            node.meta["val"] = values[name]
    return graph


@without_repetition.oracle
def _(torch, statements, returned, tensors):
    from torch._functorch.compile_utils import fx_graph_cse

    graph = fx_repeating(torch, statements, returned, tensors)
    return {"copy": fx_shown(fx_graph_cse(graph)), "the graph itself stays": True}


# Constants -----------------------------------------------------------------------------------------------------------


def _fx_folded(st):
    node = st.integers(0, 9).map(lambda i: {"node": i})

    def call(op, targets, args):
        return st.tuples(st.just(op), st.sampled_from(targets), args, st.just({})).map(list)

    return st.one_of(
        call("call_function", ["aten.add", "torch.add", "aten.mul", "mul"], st.lists(node, min_size=2, max_size=2)),
        call("call_function", ["relu"], st.tuples(node).map(list)),
        call("call_method", ["add"], st.lists(node, min_size=2, max_size=2)),
        call("call_module", ["layer"], st.tuples(node).map(list)),
        call("call_function", ["aten.rand_like"], st.tuples(node).map(list)),
        st.just(["call_function", "aten.full", [{"list": [2]}, 0.5], {}]),
    )


FX_C, FX_D = ["get_attr", "c", [], {}], ["get_attr", "d", [], {}]
FX_FULL = ["call_function", "aten.full", [{"list": [2]}, 0.5], {}]


def fx_sum(i, j):
    return ["call_function", "torch.add", [FX_N[i], FX_N[j]], {}]


@program(
    "fx.passes.constant_fold",
    cases=lambda st: st.fixed_dictionaries(
        {
            "statements": st.lists(_fx_folded(st), max_size=7),
            "returned": st.lists(st.integers(0, 11), min_size=1, max_size=3),
        }
    ),
    edges=[
        {"statements": statements, "returned": returned}  # x, y, c and d are 0 to 3
        for statements, returned in (
            ([], [0]),
            ([], [2]),
            ([fx_sum(2, 3)], [4]),
            ([fx_sum(2, 3), fx_sum(4, 2), fx_sum(5, 0)], [6]),
            ([fx_sum(2, 3), fx_sum(4, 2), fx_sum(5, 0)], [6, 4, 5]),
            ([fx_sum(2, 2), fx_sum(4, 4), fx_sum(5, 1)], [6]),
            ([fx_sum(2, 0), fx_sum(4, 2), fx_sum(2, 2)], [5, 1]),
            ([fx_sum(2, 3), fx_sum(4, 0), fx_sum(4, 1), fx_sum(4, 3), fx_sum(7, 5)], [6, 8]),
            ([["call_function", "aten.rand_like", [FX_N[2]], {}], fx_sum(4, 2), fx_sum(2, 2)], [4, 5, 6]),
            ([FX_FULL, fx_sum(4, 4)], [5]),
            ([FX_FULL, fx_sum(2, 4)], [5]),
            (
                [
                    ["call_method", "size", [FX_N[2], 0], {}],
                    ["call_function", "aten.full", [{"list": [FX_N[4]]}, 1.5], {}],
                ],
                [5],
            ),
            ([["call_function", "aten.split", [FX_N[2], 1], {}], ["call_function", "getitem", [FX_N[4], 1], {}]], [5]),
            (
                [
                    ["call_function", "aten.split", [FX_N[2], 1], {}],
                    ["call_function", "getitem", [FX_N[4], 0], {}],
                    fx_sum(5, 0),
                    ["call_method", "size", [FX_N[2], 0], {}],
                    ["call_method", "view", [FX_N[0], FX_N[7]], {}],
                ],
                [6, 8],
            ),
            (
                [
                    ["call_function", "aten.add_", [FX_N[0], FX_N[2]], {}],
                    ["call_function", "aten.add_", [FX_N[0], FX_N[2]], {}],
                ],
                [4],
            ),
            ([["call_module", "layer", [FX_N[2]], {}], ["call_method", "add", [FX_N[4], FX_N[0]], {}]], [5]),
            (
                [
                    ["call_function", "aten.cat", [{"list": [FX_N[2], FX_N[2]]}], {}],
                    ["call_method", "sum", [FX_N[4]], {}],
                ],
                [4, 5, 0],
            ),
            ([["call_function", "cat", [{"list": [FX_N[2], FX_N[0]]}], {}]], [4]),
        )
    ],
)
def constants_folded(xp, statements, returned):
    module = fx_with_constants(xp, statements, returned)
    xp.fx.passes.constant_fold(module)
    return fx_folded(module)


def fx_with_constants(xp, statements, returned):
    graph = fx_graph(xp, [FX_X, FX_Y, FX_C, FX_D, *statements, fx_output(returned)])
    c, d = xp.arange(2, dtype=xp.float64) - 1, xp.ones(2, dtype=xp.float64) * 0.5
    module = xp.fx.GraphModule({"c": c, "d": d, "layer": xp.nn.ReLU()}, graph)
    for i, node in enumerate(graph.nodes):
        node.meta["place"] = i
        if node.args and node.args[1:] == node.args[:1]:  # x + x counts as two users in torch's pass
            node.args = (node.args[0], 2)
    module.recompile()
    return module


def fx_folded(module):
    """The nodes, with what they look up, and whether the code is that of the graph; names of new attributes are free."""
    looked_up = {node.name: getattr(module, node.target) for node in module.graph.nodes if node.op == "get_attr"}
    shown = fx_shown(module.graph)
    for each in shown:
        if each["calls"][1].startswith("_frozen_param"):
            each["calls"] = "something new"
    same = module.code == module.graph.python_code("self").src
    places = [node.meta.get("place") for node in module.graph.nodes]
    used = [node.target for node in module.graph.nodes if node.op == "get_attr"]
    names = [f"_frozen_param{i}" for i in range(20)]
    spare = sum(hasattr(module, name) and name not in used for name in names)
    return {
        "nodes": shown,
        "looked up": looked_up,
        "places": places,
        "spare constants": spare,
        "code is the graph's": same,
    }


@constants_folded.oracle
def _(torch, statements, returned):
    from torch._inductor.constant_folding import constant_fold

    module = fx_with_constants(torch, statements, returned)
    constant_fold(module)
    return fx_folded(module)


# Together ------------------------------------------------------------------------------------------------------------

FX_DONE = {
    "x + y": lambda xp, m, x, y: x + y,
    "x + 2": lambda xp, m, x, y: x + 2,
    "1 - x": lambda xp, m, x, y: 1 - x,
    "-x": lambda xp, m, x, y: -x,
    "abs": lambda xp, m, x, y: abs(x),
    "x > y": lambda xp, m, x, y: (x > y) * 1.0,
    "constant + x": lambda xp, m, x, y: m.constant + x,
    "x * buffer": lambda xp, m, x, y: x * m.buffer,
    "weight @ x": lambda xp, m, x, y: m.linear.weight @ x,
    "x.T": lambda xp, m, x, y: x.T,
    "rows": lambda xp, m, x, y: x / x.shape[0],
    "x[:, 1:]": lambda xp, m, x, y: x + x[:, 1:2],
    "sum": lambda xp, m, x, y: x.sum(dim=0, keepdim=True) + y,
    "xp.sum": lambda xp, m, x, y: xp.sum(x, 1, keepdim=True) + y,
    "relu": lambda xp, m, x, y: xp.relu(x),
    "F.relu": lambda xp, m, x, y: xp.nn.functional.relu(x),
    "F.gelu": lambda xp, m, x, y: xp.nn.functional.gelu(x),
    "F.softmax": lambda xp, m, x, y: xp.nn.functional.softmax(x, dim=-1),
    "F.sigmoid": lambda xp, m, x, y: xp.nn.functional.sigmoid(x),
    "F.mse_loss": lambda xp, m, x, y: xp.nn.functional.mse_loss(x, y) + x,
    "cat": lambda xp, m, x, y: xp.cat([x, y], dim=1)[:, :3],
    "where": lambda xp, m, x, y: xp.where(x > 0, x, y),
    "chunk": lambda xp, m, x, y: x.chunk(3, 0)[0] + y,
    "unpacked": lambda xp, m, x, y: fx_unpacked(x),
    "linear": lambda xp, m, x, y: m.linear(x),
    "block": lambda xp, m, x, y: m.block(x, y),
    "aten": lambda xp, m, x, y: xp.ops.aten.mul.Tensor(x, y),
    "zeros_like": lambda xp, m, x, y: x + xp.zeros_like(y),
    "x.mT": lambda xp, m, x, y: x.mT,
    "branch": lambda xp, m, x, y: x if (x > 0).any() else y,
    "loop": lambda xp, m, x, y: sum(row for row in x),
    "number": lambda xp, m, x, y: x * float(y.sum()),
    "length": lambda xp, m, x, y: x * len(y),
}


def fx_unpacked(x):
    first, second, _ = x
    return first * second + x


def fx_traced_module(xp, lines):
    class Block(xp.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = xp.nn.Parameter(xp.ones(3) * 2)
            self.inner = xp.nn.Sequential(xp.nn.ReLU(), xp.nn.Linear(3, 3))

        def forward(self, x, y):
            return self.inner(x) * self.scale + y

    class Traced(xp.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear, self.block = xp.nn.Linear(3, 3), Block()
            self.register_buffer("buffer", xp.ones(3) * 0.5)
            self.constant = xp.ones(3, 3) * 3

        def forward(self, x, y):
            values = [x, y]
            for name, left, right in lines:
                values.append(FX_DONE[name](xp, self, values[left % len(values)], values[right % len(values)]))
            return values[-1]

    module = Traced()
    with xp.no_grad():
        for i, parameter in enumerate(module.parameters()):
            parameter.copy_((xp.arange(parameter.numel()).reshape(parameter.shape) + i) * 0.125 - 0.5)
    return module


@program(
    "together.traced",
    cases=lambda st: st.fixed_dictionaries(
        {
            "lines": st.lists(
                st.tuples(st.sampled_from(list(FX_DONE)[:-4]), st.integers(0, 9), st.integers(0, 9)).map(list),
                max_size=6,
            )
        }
    ),
    edges=[{"lines": [[name, 0, 1], ["x + y", 2, 0]]} for name in FX_DONE],
    draws=40,
)
def traced(xp, lines):
    module = fx_traced_module(xp, lines)
    result = fx_attempt(lambda: xp.fx.symbolic_trace(module))
    if isinstance(result, str):
        return result
    x, y = xp.arange(9).reshape(3, 3) * 0.25 - 1, xp.ones(3, 3) * 0.5
    return {
        "graph": fx_in_torch(str(result.graph)),
        "code": fx_in_torch(result.code),
        "result": result(x, y).detach(),
        "interpreted": xp.fx.Interpreter(result).run(x, y).detach(),
    }


# ---- dynamo --------------------------------------------------------------------------------------------------------
#
# A case has a function as text. Both frameworks define it and capture it; what is compared is the graphs, how often there was
# one, and the results.


def dynamo_is_torch(xp):
    return xp.__name__ == "torch"


def dynamo_of(xp):
    return xp._dynamo if dynamo_is_torch(xp) else xp.dynamo


def dynamo_defined(xp, text, name="f"):
    """The function `name` of a text; `inspect` finds its lines."""
    import linecache
    import logging

    if dynamo_is_torch(xp):
        logging.getLogger("torch._dynamo").setLevel(logging.CRITICAL)
        # it times the guards, on a processor whose caches it empties first: 20 ms for each capture
        xp._dynamo.guards.profile_guard_manager = lambda *_: 0.0
    file = f"<case {len(linecache.cache)}>"
    linecache.cache[file] = len(text), None, text.splitlines(True), file
    space = {"xp": xp, "graph_break": dynamo_of(xp).graph_break}
    exec(compile(text, file, "exec"), space)
    return space[name]


def dynamo_graph(gm):
    """Each operation of a graph: its name, and its arguments, nodes by their places."""
    places, shown = {}, []

    def argument(value):
        if value in places if type(value).__hash__ and type(value).__name__ == "Node" else False:
            return f"%{places[value]}"
        if isinstance(value, (list, tuple)):
            return [argument(item) for item in value]
        return str(value).replace("torch.", "").replace("rushlight.", "")

    for node in gm.graph.nodes:
        places[node] = len(places)
        target = node.target if isinstance(node.target, str) else node.target.__name__
        if node.op == "placeholder":
            shown.append([target, []])
        elif node.op != "output":
            named = [f"{key}={argument(value)}" for key, value in node.kwargs.items()]
            shown.append([target, [*argument(node.args), *named]])
    return shown


def dynamo_captured(xp, function, calls):
    """Call a compiled function again and again: after each call what it gave, and the graphs that are new."""
    graphs, found = [], []

    def collect(gm, example_inputs):
        graphs.append(dynamo_graph(gm))
        return gm.forward

    dynamo_of(xp).reset()
    compiled = xp.compile(function, backend=collect, dynamic=False)
    for args in calls:
        result = dynamo_attempt(compiled, args)
        graphs_shown = [] if isinstance(result, str) else list(graphs)  # torch leaves a function that raises to Python
        found.append({"result": result, "graphs": graphs_shown})
        graphs.clear()
    dynamo_of(xp).reset()
    return found


def dynamo_attempt(function, args):
    """What a call returns, or that it raises: which error it is depends on who finds it first."""
    try:
        return function(*args)
    except (RuntimeError, ValueError, TypeError, LookupError, AttributeError) as error:
        if isinstance(error, RecursionError) or isinstance(error, NotImplementedError) and not error.args:
            raise  # a piece that is not written yet
        return "raises"


# Functions as text ---------------------------------------------------------------------------------------------------

DYNAMO_LINES = [  # x and y are tensors of the same size n, k is a number, log a list
    "x = x * {c} + y",
    "x = xp.relu(x - {c})",
    "y = (x + y).sin()",
    "x = -x if k > {c} else x.abs()",
    "k = k + {c}",
    "x = x + k",
    "log.append(k)",
    "s = f'{{k}}-{{x.dim()}}'\nx = x * len(s)",
    "for i in range({c}):\n    x = x * i + y",
    "for i, v in enumerate([x, y]):\n    if i == {c}:\n        continue\n    x = x + v * i",
    "items = [v * {c} for v in (x, y)]\nx = items[0] + items[-1]",
    "parts = {{'a': x, 'b': y}}\nparts['c'] = parts.pop('a') + {c}\nx = parts['b'] * parts['c']",
    "def inner(v, w=y):\n    return v * w + k\nx = inner(x) + inner(y, x)",
    "x = (lambda v: v + {c})(x)",
    "if x.shape[0] > {c}:\n    x = x[1:].sum() + x\nelse:\n    x = x * 2",
    "n = 0\nwhile n < {c}:\n    n += 1\n    x = x - n",
    "z = x.clone()\nz[0] = {c}\nz += 1\nx = z",
    "a, *b = (x, y, k)\nx = a + b[0] * b[1]",
    "x = x + isinstance(k, int) + len((x, k))",
    "try:\n    x = x + [1, 2][k]\nexcept IndexError:\n    x = x * {c}\nfinally:\n    y = y + 1",
    "x = xp.cat([x[:1], y[1:]])",
    "with xp.no_grad():\n    y = x * {c}\nx = x + y",
    "x = helper(x, {c})",
]
DYNAMO_BREAKING = [
    "graph_break()",
    "print(end='')",
    "if x.sum() > {c}:\n    x = x - 1\nelse:\n    x = x + 1",
    "k = k + int(x[0].item() * 0)",
    "x = breaks(x, {c})",
    "if (y > 100).any():\n    return y",
]
BREAKS = """def breaks(v, n):
    v = v * n
    graph_break()
    return v + n

"""
DYNAMO_HELPERS = f"""def helper(v, n):
    if n > 1:
        return v * n
    return v - 1

{BREAKS}"""


def dynamo_text(lines):
    body = "\n".join(["def f(x, y, k, log):", *lines, "return x, y, k"])
    first, *rest = body.splitlines()
    return DYNAMO_HELPERS + "\n".join([first, *(f"    {line}" for line in rest)]) + "\n"


def dynamo_texts(st, lines, most=6):
    statement = st.builds(lambda line, c: line.format(c=c), st.sampled_from(lines), st.integers(0, 3))
    return st.lists(statement, min_size=1, max_size=most).map(dynamo_text)


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
    "def f(x):\n    return x\n",
    LONG_FUNCTION,
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
]


# Reading bytecode


@program(
    "dynamo.bytecode.read_instructions",
    cases=lambda st: st.fixed_dictionaries({"text": dynamo_texts(st, DYNAMO_LINES + DYNAMO_BREAKING, 8)}),
    edges=[{"text": text} for text in (*BYTECODE, LARGE_ARGUMENT)],
    hint=lambda case, mine, theirs: (
        "an argument above 255 comes in several units, and what comes after an instruction may be its caches"
        if case["text"] in (LONG_FUNCTION, LARGE_ARGUMENT)
        else None
    ),
    draws=30,
)
def instructions_read(xp, text):
    code = dynamo_defined(xp, text).__code__
    return [list(each) for each in xp.dynamo.bytecode.read_instructions(code)]


@instructions_read.oracle
def _(torch, text):
    import dis

    code, found = dynamo_defined(torch, text).__code__, []
    for each in dis.get_instructions(code):
        if each.opname != "EXTENDED_ARG":
            target = each.argval if each.opcode in dis.hasjrel else None
            found.append([each.offset, each.opname, each.arg or 0, target])
    return found


def places_in(code):
    """Where the lines of a function begin."""
    import dis

    return sorted(
        {each.offset for each in dis.get_instructions(code) if each.starts_line and each.opname != "EXTENDED_ARG"}
    )


@program(
    "dynamo.bytecode.live_names",
    cases=lambda st: st.fixed_dictionaries(
        {"text": dynamo_texts(st, DYNAMO_LINES + DYNAMO_BREAKING, 8), "line": st.integers(0, 40)}
    ),
    edges=[{"text": text, "line": line} for text in BYTECODE if text != LONG_FUNCTION for line in range(8)],
    hint=lambda case, mine, theirs: (
        (
            "a name that may be read later is missing"
            if set(theirs["list"]) - set(mine.get("list", theirs["list"]))
            else None
        )
        if isinstance(mine, dict)
        and isinstance(theirs, dict)
        and "list" in theirs
        and all(isinstance(n, str) for n in theirs["list"])
        else None
    ),
)
def names_alive(xp, text, line):
    code = dynamo_defined(xp, text).__code__
    places = places_in(code)
    place = places[line % len(places)]
    instructions = xp.dynamo.bytecode.instructions_of(code)
    start = next((i for i, each in enumerate(instructions) if each.offset >= place), len(instructions) - 1)
    return sorted(xp.dynamo.bytecode.live_names(instructions, start))


@names_alive.oracle
def _(torch, text, line):
    import dis
    from itertools import groupby

    from torch._dynamo.bytecode_analysis import livevars_analysis
    from torch._dynamo.bytecode_transformation import cleaned_instructions

    code = dynamo_defined(torch, text).__code__
    places = places_in(code)
    place = places[line % len(places)]
    instructions = cleaned_instructions(code)
    # torch takes in two steps what newer Pythons do in one, and moves what comes after: the text stays where it was
    spans = [list(span) for _, span in groupby(instructions, lambda each: each.positions)]
    before = [each for each in dis.get_instructions(code) if each.offset < place]
    start = spans[len(list(groupby(before, lambda each: each.positions)))][0]
    return sorted(livevars_analysis(instructions, start))


# Guards --------------------------------------------------------------------------------------------------------------

GUARDED = {  # what is looked at, by the kind of a value
    "tensor": "def f(x, v):\n    return v + 1\n",
    "number": "def f(x, v):\n    return x + (1 if v == 0 else 2)\n",
    "length": "def f(x, v):\n    return x + len(v)\n",
    "keys": "def f(x, v):\n    x = x * 2\n    for key in v:\n        x = x + 1\n    return x\n",
    "tensor keys": "def f(x, v):\n    return x + len(v)\n",
    "element": "def f(x, v):\n    return x + (1 in v)\n",
    "call": "def f(x, v):\n    return v(x)\n",
    "class": "def f(x, v):\n    return x + isinstance(x, v)\n",
    "attribute": "def f(x, v):\n    return x + v.size\n",
    "index": "def f(x, v):\n    return x[v]\n",
    "cast": "def f(x, v):\n    return x.to(v)\n",
    "module": "def f(x, v):\n    return x * v.e\n",
}


def plus_one(x):
    return x + 1


def plus_two(x):
    return x + 2


class DynamoSized:
    size = 2

    def plus(self, x):
        return x + self.size

    def minus(self, x):
        return x - self.size


class AlsoSized(DynamoSized):
    pass


def guarded_values(xp):
    """Values by their kind and a name: the same on both sides."""
    import cmath
    import collections
    import enum
    import math

    pair, other_pair = collections.namedtuple("Pair", "a b"), collections.namedtuple("Pair", "a b")
    colour = enum.Enum("Colour", "RED BLUE")
    x = xp.ones(2, 3)
    nan, inf = float("nan"), float("inf")
    y = xp.ones(2)
    return {
        "tensor": {
            "plain": x, "wide": xp.ones(2, 4), "flat": xp.ones(6), "double": x.double(), "learned": xp.ones(2, 3).requires_grad_(),
            "turned": xp.ones(3, 2).t(), "gaps": xp.ones(2, 6)[:, ::2], "parameter": xp.nn.Parameter(x), "long": x.long(),
            "one": xp.ones(1, 3), "one, strange": xp.ones(30).as_strided((1, 3), (7, 1)), "shifted": xp.ones(3, 3)[1:],
            "empty": xp.ones(0, 3), "number": xp.ones(()), "turned, learned": xp.ones(3, 2).requires_grad_().t(),
        },
        "number": {
            "0": 0, "1": 1, "2": 2, "True": True, "False": False, "None": None, "1.0": 1.0, "0.5": 0.5, "nan": nan, "inf": inf,
            "-inf": -inf, "1e300": 1e300, "0.1": 0.1, "word": "a", "other word": "b", "quotes": "'\"\\\n", "bytes": b"a", "1j": 1j,
            "nan j": complex(0, nan), "1+0j": 1 + 0j, "large": 2**70, "...": ..., "red": colour.RED, "blue": colour.BLUE,
        },
        "length": {
            "[1]": [1], "[2]": [2], "[1, 2]": [1, 2], "(1,)": (1,), "(2,)": (2,), "[]": [], "()": (), "pair": pair(1, 2),
            "other pair": other_pair(1, 2), "(1, 2)": (1, 2), "word": "a", "size": xp.Size([1, 2]),
        },
        "keys": {
            "{1: 2}": {1: 2}, "{1: 3}": {1: 3}, "{2: 2}": {2: 2}, "{1.0: 2}": {1.0: 2}, "{True: 2}": {True: 2},
            "{1, 2}": {1: 0, 2: 0}, "{2, 1}": {2: 0, 1: 0}, "words": {"a": 1}, "more words": {"a": 1, "b": 2}, "{}": {},
            "ordered": collections.OrderedDict(a=1), "range": range(3), "range(4)": range(4), "range of one": range(1),
            "another of one": range(0, 3, 5), "from 1": range(1, 4), "none": {None: 1}, "inf": {inf: 1},
            "built": {int("12345"): 1}, "built again": {int("12345"): 1}, "joined": {"".join("ab"): 1},
            "joined again": {"".join("ab"): 1},
            "mixed": {"a": 1, 1: 2}, "mixed True": {"a": 1, True: 2},
        },
        "tensor keys": {
            "{x}": {x: 0}, "{y}": {y: 0}, "{x, y}": {x: 0, y: 0}, "{y, x}": {y: 0, x: 0}, "{x, a}": {x: 0, "a": 1},
            "{y, a}": {y: 0, "a": 1}, "{x, b}": {x: 0, "b": 1},
        },
        "element": {
            "{1}": {1}, "{1, 2}": {1, 2}, "{2, 1}": {2, 1}, "{1, 3}": {1, 3}, "frozen": frozenset({1}), "frozen 2": frozenset({2}),
            "{1, inf}": {1, inf},
        },
        "call": {
            "one": plus_one, "two": plus_two, "method": DynamoSized().plus,
            "of another": DynamoSized().plus, "other method": DynamoSized().minus,
            "abs": abs, "relu": xp.relu, "sin": xp.sin, "static": staticmethod(DynamoSized.plus),
        },
        "class": {"int": int, "Sized": DynamoSized, "AlsoSized": AlsoSized, "both": (int, float)},
        "attribute": {"sized": DynamoSized(), "another": DynamoSized(), "also sized": AlsoSized()},
        "index": {"1": 1, "1:": slice(1, None), "1:2": slice(1, 2), "1:2:1": slice(1, 2, 1), "again": slice(1, 2)},
        "cast": {
            "float64": xp.float64, "float32": xp.float32, "int64": xp.int64, "cpu": xp.device("cpu"), "meta": xp.device("meta"),
        },
        "module": {"math": math, "cmath": cmath},
    }  # fmt: skip


GUARDED_NAMES = {
    "tensor": ["plain", "wide", "flat", "double", "learned", "turned", "gaps", "parameter", "long", "one", "one, strange",
               "shifted", "empty", "number", "turned, learned"],
    "number": ["0", "1", "2", "True", "False", "None", "1.0", "0.5", "nan", "inf", "-inf", "1e300", "0.1", "word", "other word",
               "quotes", "bytes", "1j", "nan j", "1+0j", "large", "...", "red", "blue"],
    "length": ["[1]", "[2]", "[1, 2]", "(1,)", "(2,)", "[]", "()", "pair", "other pair", "(1, 2)", "word", "size"],
    "keys": ["{1: 2}", "{1: 3}", "{2: 2}", "{1.0: 2}", "{True: 2}", "{1, 2}", "{2, 1}", "words", "more words", "{}", "ordered",
             "range", "range(4)", "range of one", "another of one", "from 1", "none", "inf", "built", "built again",
             "joined", "joined again", "mixed", "mixed True"],
    "tensor keys": ["{x}", "{y}", "{x, y}", "{y, x}", "{x, a}", "{y, a}", "{x, b}"],
    "element": ["{1}", "{1, 2}", "{2, 1}", "{1, 3}", "frozen", "frozen 2", "{1, inf}"],
    "call": ["one", "two", "method", "of another", "other method", "abs", "relu", "sin"],
    "class": ["int", "Sized", "AlsoSized", "both"],
    "attribute": ["sized", "another", "also sized"],
    "index": ["1", "1:", "1:2", "1:2:1", "again"],
    "cast": ["float64", "float32", "int64", "cpu", "meta"],
    "module": ["math", "cmath"],
}  # fmt: skip


def _guard_case(kind, first, second):
    return {"kind": kind, "first": first, "second": second}


@program(
    "dynamo.guards.guards_for",
    cases=lambda st: st.sampled_from(list(GUARDED_NAMES)).flatmap(
        lambda kind: st.builds(
            _guard_case, st.just(kind), st.sampled_from(GUARDED_NAMES[kind]), st.sampled_from(GUARDED_NAMES[kind])
        )
    ),
    edges=[
        _guard_case(kind, first, second)
        for kind, first, second in [
            *(("tensor", "plain", other) for other in GUARDED_NAMES["tensor"]),
            *((kind, name, name) for kind in GUARDED_NAMES for name in GUARDED_NAMES[kind]),
            ("tensor", "learned", "plain"),
            ("tensor", "one", "one, strange"),
            ("tensor", "learned", "parameter"),
            ("number", "1", "True"),
            ("number", "True", "1"),
            ("number", "True", "False"),
            ("number", "...", "None"),
            ("number", "1", "1.0"),
            ("number", "0.5", "nan"),
            ("number", "nan", "0.5"),
            ("number", "word", "bytes"),
            ("number", "None", "0"),
            ("number", "False", "0"),
            ("number", "inf", "-inf"),
            ("number", "1j", "1+0j"),
            ("number", "red", "blue"),
            ("number", "nan j", "1j"),
            ("length", "[1]", "[2]"),
            ("length", "[1]", "[1, 2]"),
            ("length", "[1]", "(1,)"),
            ("length", "pair", "other pair"),
            ("length", "pair", "(1, 2)"),
            ("length", "(1, 2)", "size"),
            ("keys", "{1: 2}", "{1: 3}"),
            ("keys", "{1: 2}", "{2: 2}"),
            ("keys", "{1: 2}", "{1.0: 2}"),
            ("keys", "{1, 2}", "{2, 1}"),
            ("keys", "words", "more words"),
            ("keys", "words", "ordered"),
            ("keys", "range", "range(4)"),
            ("keys", "range of one", "another of one"),
            ("keys", "{1: 2}", "{True: 2}"),
            ("keys", "mixed", "mixed True"),
            ("keys", "built", "built again"),
            ("keys", "joined", "joined again"),
            ("keys", "{1.0: 2}", "{True: 2}"),
            ("tensor keys", "{x}", "{y}"),
            ("tensor keys", "{x}", "{x, y}"),
            ("tensor keys", "{x, y}", "{y, x}"),
            ("tensor keys", "{x, a}", "{y, a}"),
            ("tensor keys", "{x, a}", "{x, b}"),
            ("element", "{1, 2}", "{2, 1}"),
            ("element", "{1}", "frozen"),
            ("element", "{1, 2}", "{1, 3}"),
            ("element", "frozen", "frozen 2"),
            ("element", "{1}", "grown"),
            ("call", "one", "two"),
            ("call", "method", "of another"),
            ("call", "method", "other method"),
            ("call", "method", "static"),
            ("call", "one", "method"),
            ("call", "relu", "sin"),
            ("call", "abs", "one"),
            ("class", "Sized", "AlsoSized"),
            ("attribute", "sized", "another"),
            ("attribute", "sized", "also sized"),
            ("index", "1", "1:"),
            ("index", "1:2", "1:2:1"),
            ("index", "1:2", "again"),
            ("cast", "float64", "float32"),
            ("cast", "cpu", "meta"),
            ("cast", "cpu", "float32"),
            ("module", "math", "cmath"),
        ]
    ],  # fmt: skip
    hint=lambda case, mine, theirs: f"the guards made of {case['first']!r}, asked about {case['second']!r}",
    draws=20,
)
def guards_hold(xp, kind, first, second):
    values, scope = guarded_values(xp)[kind], {}
    texts = xp.dynamo.guards.guards_for(values[first], "L['v']", scope)
    other = _second_value(values, first, second)
    return {"holds": all(_guard_holds(text, scope, other) for text in texts)}


def _second_value(values, first, second):
    """It may be the first itself, a set that has grown in the meantime."""
    if second == "grown":
        values[first].add(2)
    return values[first if second == "grown" else second]


def _guard_holds(text, scope, value):
    try:
        return bool(eval(text, dict(scope), {"L": {"v": value}}))
    except (LookupError, AttributeError, TypeError):
        return False


@guards_hold.oracle
def _(torch, kind, first, second):
    values = guarded_values(torch)[kind]

    def calls():
        yield torch.ones(3), values[first]
        yield torch.ones(3), _second_value(values, first, second)

    seen = dynamo_captured(torch, dynamo_defined(torch, GUARDED[kind]), calls())
    return {"holds": not seen[1]["graphs"] and not str(seen[1]["result"]).startswith("raises")}


class DynamoHolder:
    pass


# What a guard may look at, as the containers on the way to it and itself; what a case may change; None takes it away.
GUARD_LOOKS = {
    "k": ["k"], "kk": ["kk"], "d['a']": ["d", "d['a']"], "d['b']": ["d", "d['b']"], "l[0]": ["l", "l[0]"],
    "l[1][0]": ["l", "l[1]", "l[1][0]"], "o.n": ["o", "o.n"], "o.nn": ["o", "o.nn"], "o.inner.n": ["o", "o.inner", "o.inner.n"],
    "d['c'][1]": ["d", "d['c']", "d['c'][1]"],
}  # fmt: skip
LOCAL_CHANGES = [
    *([place, 2] for place in GUARD_LOOKS), ["d['a']", None], ["d['b']", None], ["d['c']", None], ["o.n", None], ["o.nn", None],
    ["o.inner", None], ["o.inner.n", None], ["l[1]", 3], ["d['c']", 3], ["o.inner", 3], ["k", 1],
]  # fmt: skip


def dynamo_state(changes):
    """Locals, with some numbers changed and some places taken away."""
    inner, o = DynamoHolder(), DynamoHolder()
    inner.n, o.n, o.nn, o.inner = 1, 1, 1, inner
    state = {"k": 1, "kk": 1, "d": {"a": 1, "b": 1, "c": [1, 1]}, "l": [1, [1]], "o": o}
    for place, value in changes:
        exec(f"del {place}" if value is None else f"{place} = {value}", {}, state)
    return state


class CountingLocals(dict):
    """Locals that count how often each of them is looked for."""

    def __init__(self, values):
        super().__init__(values)
        self.counts = Counter()

    def __getitem__(self, name):
        self.counts[name] += 1
        return super().__getitem__(name)


def dynamo_source(place):
    """`d['a']` as a guard says it: `L['d']['a']`."""
    name = "kk" if place == "kk" else place[0]
    return f"L['{name}']{place.removeprefix(name)}"


@program(
    "dynamo.guards.build_check",
    cases=lambda st: st.fixed_dictionaries(
        {
            "looks": st.lists(st.sampled_from(list(GUARD_LOOKS)), max_size=6),
            "changes": st.lists(st.lists(st.sampled_from(LOCAL_CHANGES), max_size=1), min_size=1, max_size=3),
        }
    ),
    edges=[
        {"looks": ["o.n", "o.nn"], "changes": [[], [["o.nn", 2]], [["o.n", None]], [["o.n", 2]]]},
        {"looks": ["k", "kk"], "changes": [[], [["kk", 2]], [["k", 2]]]},
        {"looks": ["kk", "k"], "changes": [[], [["kk", 2]], [["k", 2]]]},
        {"looks": ["o.nn", "o.n"], "changes": [[], [["o.nn", 2]], [["o.n", 2]], [["o.nn", None]]]},
        {"looks": ["l[1][0]", "l[0]"], "changes": [[], [["l[1]", 3]], [["l[1][0]", 2]], [["l[0]", 2]]]},
        {
            "looks": ["d['a']", "d['b']", "d['c'][1]"],
            "changes": [[["d['a']", None]], [["d['c']", 3]], [["d['c']", None]]],
        },
        {
            "looks": ["o.inner.n", "o.inner.n"],
            "changes": [[], [["o.inner.n", None]], [["o.inner.n", 2]], [["o.inner", 3]]],
        },
        {"looks": ["d['a']", "o.inner.n", "o.n"], "changes": [[["o.n", 2]], [["o.inner.n", 2]], [["d['a']", 2]]]},
        {"looks": [], "changes": [[]]},
    ],
    hint=lambda case, mine, theirs: f"guards on {', '.join(case['looks'])}" if case["looks"] else None,
    draws=12,
)
def guards_checked(xp, looks, changes):
    """Guards on the containers on the way to a number, then on the number."""
    guards = []
    for look in looks:
        for place in GUARD_LOOKS[look]:
            text = "{} == one" if place == look else "{} is not None"
            guards.append(xp.dynamo.guards.Guard(dynamo_source(place), text.format(dynamo_source(place))))
    guards.append(xp.dynamo.guards.Guard("", "one == 1"))
    scope = {"one": 1}
    check = xp.dynamo.guards.build_check(guards, scope)
    shown = [name for name in scope if name != "__builtins__"]  # which Python's `exec` puts there
    found = [{"scope": shown, "has its text": isinstance(check.source, str)}]
    for change in changes:
        state = CountingLocals(dynamo_state(change))
        found.append({"holds": check(state), "looked twice for a local": max(state.counts.values(), default=0) > 1})
    return found


@guards_checked.oracle
def _(torch, looks, changes):
    text = f"def f(x, k, kk, d, l, o):\n    return x{''.join(f' + {look}' for look in looks)} + 0\n"
    function, found = dynamo_defined(torch, text), [{"scope": ["one"], "has its text": True}]
    for change in changes:
        states = [[torch.ones(2), *dynamo_state(each).values()] for each in ([], change)]
        after = dynamo_captured(torch, function, states)[1]
        found.append(
            {"holds": not after["graphs"] and not isinstance(after["result"], str), "looked twice for a local": False}
        )
    return found


# The cache -----------------------------------------------------------------------------------------------------------


def _few_numbers(st, most=4):
    return st.integers(0, most)


@program(
    "dynamo.cache.lookup",
    cases=lambda st: st.fixed_dictionaries({"numbers": st.lists(_few_numbers(st), max_size=7)}),
    edges=[{"numbers": numbers} for numbers in ([1, 2, 3, 1, 3, 2], [1, 2, 3, 2, 2], [1, 1], [], [1, 2, 3, 4, 1, 2])],
    draws=15,
)
def entries_found(xp, numbers):
    """A function of a number, captured anew for each: which entries there are after each call, and which were asked."""
    cache, entries, asked, found = xp.dynamo.cache, [], [], []

    def entry_for(number):
        def check(L):  # noqa: N803
            asked.append(number)
            return L["k"] == number

        made = cache.CacheEntry([], {}, check)
        made.number = number
        return made

    for number in numbers:
        asked.clear()
        entry = cache.lookup(entries, {"k": number})
        if entry is None:
            entries.insert(0, entry_for(number))
        found.append({"found": entry and entry.number, "entries": [e.number for e in entries], "asked": list(asked)})
    return found


@entries_found.oracle
def _(torch, numbers):
    from torch._dynamo.eval_frame import _debug_get_cache_entry_list

    function = dynamo_defined(torch, "def f(x, k):\n    return x + k\n")
    torch._dynamo.reset()
    compiled = torch.compile(function, backend="eager", dynamic=False)
    made, found, before = {}, [], []
    for number in numbers:
        compiled(torch.ones(2), number)
        codes = [entry.code for entry in _debug_get_cache_entry_list(function.__code__)]
        new = [code for code in codes if code not in made]
        made.update(dict.fromkeys(new, number))
        asked = before if new else before[: before.index(number) + 1]
        before = [made[code] for code in codes]
        found.append({"found": None if new else number, "entries": before, "asked": asked})
    torch._dynamo.reset()
    return found


DYNAMO_SIZES = [[2, 3], [3, 2], [4], [2, 3, 1], [6]]


def _dynamo_call(sizes=(2, 3), kind="float32", learns=False, turned=False, k=1, length=1):
    return {"sizes": list(sizes), "kind": kind, "learns": learns, "turned": turned, "k": k, "length": length}


def _dynamo_calls(st):
    """Calls that differ in one of the three only: in which order torch looks at them is its own affair."""
    tensor_only = st.builds(
        _dynamo_call,
        st.sampled_from(DYNAMO_SIZES),
        st.sampled_from(["float32", "float32", "float64"]),
        st.sampled_from([False, False, True]),
        st.booleans(),
    )
    kinds = [
        tensor_only,
        st.builds(_dynamo_call, k=st.integers(1, 3)),
        st.builds(_dynamo_call, length=st.integers(1, 3)),
    ]
    return st.one_of([st.lists(one, min_size=2, max_size=4) for one in (tensor_only, *kinds)])


def dynamo_tensor(xp, call):
    sizes = call["sizes"]
    x = xp.ones(sizes[::-1] if call["turned"] else sizes, dtype=getattr(xp, call["kind"]))
    x = x.permute(list(range(len(sizes)))[::-1]) if call["turned"] else x
    return x.detach().requires_grad_() if call["learns"] else x


def dynamo_guards(xp, source, value, scope):
    """Guards on an argument, in the words that `explain_failure` knows, whatever an answer to `guards_for` says."""
    kind = type(value).__name__
    scope[kind] = type(value)
    texts = [f"type({source}) is {kind}"]
    if isinstance(value, int):
        texts.append(f"{source} == {value}")
    elif isinstance(value, list):
        texts.append(f"len({source}) == {len(value)}")
    else:
        scope["wanted"] = value.dtype
        learns = f"{source}.requires_grad" if value.requires_grad else f"not {source}.requires_grad"
        texts += [f"{source}._key_set == {value._key_set}", f"{source}.dtype is wanted", learns]
        texts += [f"{source}._sizes == {tuple(value._sizes)}", f"{source}._strides == {tuple(value._strides)}"]
    return [xp.dynamo.guards.Guard(source, text) for text in texts]


@program(
    "dynamo.cache.recompile_reasons",
    cases=lambda st: st.fixed_dictionaries({"calls": _dynamo_calls(st)}),
    edges=[
        {"calls": calls}
        for calls in (
            [_dynamo_call(), _dynamo_call([3, 2])],
            [_dynamo_call(), _dynamo_call([4]), _dynamo_call([2, 3, 1])],
            [_dynamo_call(), _dynamo_call(kind="float64"), _dynamo_call([4], "float64", True)],
            [_dynamo_call(), _dynamo_call(learns=True), _dynamo_call([3, 2], learns=True)],
            [_dynamo_call(), _dynamo_call(turned=True), _dynamo_call([3, 2]), _dynamo_call([3, 2], turned=True)],
            [_dynamo_call([6]), _dynamo_call([2, 3, 1], "float64", True, True), _dynamo_call()],
            [_dynamo_call(), _dynamo_call(length=2), _dynamo_call(length=3), _dynamo_call(length=2)],
            [_dynamo_call(k=1), _dynamo_call(k=2), _dynamo_call(k=3), _dynamo_call(k=1)],
            [_dynamo_call(), _dynamo_call()],
        )
    ],
    draws=12,
)
def reasons_given(xp, calls):
    """For each call of a function that looks at a tensor, a number and a list: why none of the entries so far fits."""
    cache, entries, found = xp.dynamo.cache, [], []
    for call in calls:
        values = {"x": dynamo_tensor(xp, call), "k": call["k"], "l": [1] * call["length"]}
        reasons = cache.recompile_reasons(entries, values)
        fits = len(reasons) < len(entries)
        found.append([reason.replace("L['", "").replace("']", "") for reason in ([] if fits else reasons)])
        if not fits:
            scope, made = {}, []
            for name, value in values.items():
                made += dynamo_guards(xp, f"L['{name}']", value, scope)
            entries.insert(0, cache.CacheEntry(made, scope, None))
        else:
            fitting = next(e for e in entries if not cache.recompile_reasons([e], values))
            entries.insert(0, entries.pop(entries.index(fitting)))
    return found


@reasons_given.oracle
def _(torch, calls):
    reasons, found = [], []
    function = dynamo_defined(torch, "def f(x, k, l):\n    return x * k + len(l)\n")
    torch._dynamo.reset()
    watching = torch._dynamo.optimize(
        "eager", dynamic=False, guard_fail_fn=lambda failure: reasons.append(failure.reason)
    )
    compiled = watching(function)
    for call in calls:
        reasons.clear()
        compiled(dynamo_tensor(torch, call), call["k"], [1] * call["length"])
        found.append([reason.partition(": ")[2].partition("  #")[0].strip() for reason in reasons])
    torch._dynamo.reset()
    return found


# What becomes of instructions and calls ------------------------------------------------------------------------------

OPERANDS = {
    "x": "x", "y": "y", "2": "2", "2.5": "2.5", "True": "True", "word": "'ab'", "list": "[x, 1]", "list of numbers": "[1, 2]",
    "tuple": "(y, 1)", "tuple of numbers": "(1, 2)", "set": "{1, 2}", "None": "None", "argument list": "l", "argument number": "n",
    "dict": "{1: 2}", "size": "x.shape", "frozen": "s", "argument tuple": "t",
}  # fmt: skip
WITH_TENSORS = {"x", "y", "2", "2.5", "argument number"}
SYMBOLS = [
    "+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "^", "<", "<=", "==", "!=", ">", ">=",
    "+=", "-=", "/=", "**=", "|=", "//=", "%=", "&=",
]  # fmt: skip


def _binary_operation(left, symbol, right):
    return {"left": left, "symbol": symbol, "right": right}


def _may_be_applied(case):
    """Not a tensor and a container. Containers that hold tensors are not compared (torch unrolls it), nor with words or sizes."""
    both = {case["left"], case["right"]}
    compared = case["symbol"] in ("<", "<=", "==", "!=", ">", ">=")
    if both & {"list", "tuple"} and (compared or both & {"size", "word"}):
        return False
    return not both & {"x", "y"} or both <= WITH_TENSORS


def _operations(st):
    """Of any two operands, most of which have no such operator; and of two that go with tensors."""
    symbol = st.sampled_from(SYMBOLS)
    drawn = [
        st.builds(_binary_operation, operand, symbol, operand)
        for operand in map(st.sampled_from, (list(OPERANDS), sorted(WITH_TENSORS)))
    ]
    return st.one_of(drawn).filter(_may_be_applied)


def in_symbols(xp, left, symbol, right):
    """What the operator gives for two operands, in a function that also looks at what became of the left one."""
    before = f"    a = {OPERANDS[left]}\n    b = {OPERANDS[right]}\n    m = a\n"
    how = (
        f"    a {symbol} b\n"
        if symbol.endswith("=") and symbol not in ("<=", "==", "!=", ">=")
        else f"    a = a {symbol} b\n"
    )
    text = (
        f"def f(x, y, n, l, t, s, w):\n    w = w + 1\n{before}{how}    return a, m, w * 2\n"  # a break between is seen
    )
    listed = [1, 2]
    found = dynamo_captured(
        xp,
        dynamo_defined(xp, text),
        [[xp.tensor([1.0, 2.0]), xp.tensor([3.0, 2.0]), 3, listed, (3, 4), frozenset({2}), xp.ones(2)]],
    )
    return {"found": found, "the list": listed}


@program(
    "dynamo.symbolic.binary_op",
    cases=_operations,
    edges=[
        _binary_operation(*each)
        for each in [
            ("x", "+", "y"),
            ("x", "*", "2"),
            ("2.5", "-", "x"),
            ("x", "@", "y"),
            ("x", "+=", "y"),
            ("x", "<", "2"),
            *(("2", symbol, "x") for symbol in ("<", "<=", "==", "!=", ">", ">=", "-", "/", "**", "+=", "-=", "*=")),
            ("2", "**", "2"),
            ("2", "/", "2.5"),
            ("word", "*", "2"),
            ("word", "+", "word"),
            ("2", "+", "word"),
            ("2", "<", "word"),
            ("list", "+", "list"),
            ("list", "+=", "list"),
            ("argument list", "+=", "list of numbers"),
            ("argument list", "+", "list"),
            ("argument list", "+=", "list"),
            ("tuple", "+", "tuple"),
            ("tuple", "+=", "tuple"),
            ("argument tuple", "+", "tuple"),
            ("list", "*", "2"),
            ("2", "*", "list"),
            ("tuple", "*", "2"),
            ("argument number", "*", "tuple"),
            ("argument list", "*", "2"),
            ("list", "*", "True"),
            ("list", "*", "2.5"),
            ("list", "%", "2"),
            ("2", "%", "list"),
            ("2", "/", "list"),
            ("2", "+", "list"),
            ("list", "@", "2"),
            ("2", "@", "tuple"),
            ("2", "&", "tuple"),
            ("tuple", "-", "tuple"),
            ("tuple", "&", "tuple"),
            ("list", "+", "tuple"),
            ("tuple", "+", "list"),
            ("set", "|", "frozen"),
            ("set", "&", "set"),
            ("dict", "|", "dict"),
            ("size", "+", "tuple of numbers"),
            ("size", "==", "tuple of numbers"),
            ("tuple of numbers", "+", "size"),
            ("size", "*", "2"),
            ("None", "==", "None"),
            ("None", "+", "2"),
            ("list of numbers", "==", "list of numbers"),
            ("tuple of numbers", "<", "tuple of numbers"),
            ("list of numbers", "+=", "list of numbers"),
            ("list", "-", "list"),
            ("list", "&", "list"),
            ("list", "+=", "tuple"),
            ("list", "+=", "word"),
            ("list", "+=", "2"),
            ("argument list", "+=", "tuple"),
            ("list", "/", "2"),
            ("tuple", "/", "2"),
            ("tuple", "*", "tuple"),
            ("2", "*", "2.5"),
            ("argument number", "+=", "2"),
            ("list of numbers", "*", "2"),
            ("2", "//", "argument number"),
            ("x", "*", "list"),
            ("tuple of numbers", "+=", "argument tuple"),
            ("2", "*", "argument list"),
            ("word", "%", "2"),
        ]
    ],  # fmt: skip
    hint=lambda case, mine, theirs: f"{OPERANDS[case['left']]} {case['symbol']} {OPERANDS[case['right']]}",
    draws=25,
)
def operator_applied(xp, left, symbol, right):
    return in_symbols(xp, left, symbol, right)


CALLED = {  # a function that calls something
    "operator": "return xp.relu(x) + 1",
    "functional": "return xp.nn.functional.softmax(x, dim=0)",
    "aten": "return xp.ops.aten.relu.default(x) * 2",
    "packet": "return xp.ops.aten.sin(x) * 2",
    "user": "return helper(x, 2) + 1",
    "nested": "def inner(v):\n    return helper(v, 3)\nreturn inner(inner(x))",
    "lambda": "return (lambda v: v * 2)(x)",
    "len": "return x * len(x)",
    "isinstance": "return x * isinstance(x, xp.Tensor)",
    "zip": "for v, n in zip([x, x], (2, 3)):\n    x = x + v * n\nreturn x",
    "sum": "return sum([x, x])",
    "print": "y = x + 1\nprint(end='')\nreturn y * 2",
    "abs": "return abs(x) * abs(-2)",
    "round": "return x * round(2.7)",
    "divmod": "return x * divmod(7, 2)[1]",
    "math": "import math\nreturn x * math.sqrt(4.0)",
    "math of a tensor": "import math\ny = x + 1\nreturn y * math.floor(y[0])",
    "words": "return x * len('a b'.upper().split())",
    "format": "return x * len('{}'.format(12))",
    "int": "return x * int('3') * float('2')",
    "int of a tensor": "y = x + 1\nreturn y * int(y[0])",
    "range": "return x * len(range(1, 7, 2))",
    "slice": "return x[slice(0, 2)] * 2",
    "class": "return Scaled(x, 2).times(3)",
    "exception": "why = KeyError('k')\nreturn x * len(why.args)",
    "disabled": "y = x + 1\nz = off(y)\nreturn z * 2",
    "operator module": "import operator\nreturn operator.mul(x, operator.add(1, 2))",
    "builtin of another module": "import time\ny = x + 1\ntime.sleep(0)\nreturn y * 2",
    "generator": "return sum(v * 2 for v in (x, x))",
    "breaks": "y = x + 1\nz = breaks(y, 2)\nreturn z * 2",
    "list": "return list((x, x))[1] + tuple([x])[0]",
    "set": "return x * len(set([1, 1, 2]))",
    "hash": "return x * (hash(1) + ord('a') - ord('a'))",
    "getattr": "return getattr(x, 'shape')[0] * x",
    "sorted": "return x * sorted([3, 1, 2], key=lambda n: -n)[0]",
    "map": "return list(map(lambda v: v + 1, [x, x]))[1]",
    "dtype": "return x.to(xp.float64) + 1",
    "match of words": "return x * ('a' in 'abc') * 'abc'.index('c')",
    "callable": "return x * callable(helper)",
    "method of a list": "l = [x]\nl.append(x * 2)\nreturn l[1] + l[-2]",
}
CALL_HELPERS = (
    BREAKS
    + """def helper(v, n):
    return v * n

class Scaled:
    def __init__(self, v, n):
        self.v, self.n = v, n

    def times(self, k):
        return self.v * self.n * k

@xp._dynamo.disable if hasattr(xp, "_dynamo") else xp.dynamo.disable
def off(v):
    return v - 1

"""
)


def function_calling(xp, name):
    body = "\n".join(f"    {line}" for line in CALLED[name].splitlines())
    return dynamo_defined(xp, f"{CALL_HELPERS}def f(x):\n    x = x + 1\n{body}\n")


@program(
    "dynamo.calls.how_to_call",
    cases=lambda st: st.fixed_dictionaries({"name": st.sampled_from(list(CALLED))}),
    edges=[{"name": name} for name in CALLED],
    hint=lambda case, mine, theirs: CALLED[case["name"]],
    draws=10,
)
def calls_made(xp, name):
    return dynamo_captured(xp, function_calling(xp, name), [[xp.arange(3.0)]])


CALLABLES = {  # how a thing is called, and what the call is in a function
    "print": "print(end='')", "sleep": "time.sleep(0)", "off": "off(x)", "helper": "helper(x, 2)", "sqrt": "math.sqrt(4)",
    "relu": "xp.relu(x)", "len": "len([x])", "upper": "'a'.upper()", "int": "int('3')", "object": "Scaled(x, 2)",
    "round": "round(2.5)",
    "input": "sys.getrefcount(x)", "gc": "gc.collect()", "wrapper": "gc.collect.__call__()",
}  # fmt: skip


def callable_named(xp, name):
    text = f"{CALL_HELPERS}import gc, math, sys, time\ncalled = {CALLABLES[name].partition('(')[0]}\n"
    return dynamo_defined(xp, text, "called")


@program(
    "dynamo.calls.how_to_call.breaks",
    cases=lambda st: st.fixed_dictionaries({"name": st.sampled_from(list(CALLABLES))}),
    edges=[{"name": name} for name in CALLABLES],
    hint=lambda case, mine, theirs: f"a call of {CALLABLES[case['name']].partition('(')[0]}",
    draws=5,
)
def whether_it_breaks(xp, name):
    return {"breaks": xp.dynamo.calls.how_to_call(callable_named(xp, name)) == "break"}


@whether_it_breaks.oracle
def _(torch, name):
    text = (
        f"{CALL_HELPERS}import gc, math, sys, time\ndef f(x):\n    y = x + 1\n    {CALLABLES[name]}\n    return y * 2\n"
    )
    return {"breaks": len(dynamo_captured(torch, dynamo_defined(torch, text), [[torch.arange(3.0)]])[0]["graphs"]) > 1}


CONDITIONS = {
    "number": "k", "zero": "k - 3", "none": "None", "word": "''", "another word": "'a'", "list": "l", "empty list": "[]",
    "list of a tensor": "[x]", "tuple": "(x,)", "empty tuple": "()", "dict": "{1: x}", "empty dict": "{}", "set": "{1}",
    "empty set": "set()", "argument dict": "d", "function": "helper", "lambda": "lambda: 0", "method": "o.flip", "object": "o",
    "object with a truth": "Truth(0)", "and with another": "Truth(k)", "object with a length": "DynamoSized(0)",
    "and another length": "DynamoSized(2)", "both": "Both()",
    "tensor": "x.sum() > 0", "tensor of numbers": "x", "size": "x.shape[0] > 2",
    "known of a tensor": "x.dim()", "exception": "ValueError()", "class": "Truth", "iterator": "iter([])",
    "generator": "(v for v in [])",
    "flag and tensor": "k > 5 and x.sum() > 0", "flag or tensor": "k > 2 or x.sum() > 0", "not a tensor": "not x.sum()",
    "not a list": "not l", "shape": "x.shape", "dtype": "x.dtype", "method of a tensor": "x.sum",
    "range": "range(0)", "module": "xp", "object first": "o or k > 5", "function first": "helper or k > 5",
    "not a function": "not helper",
    "truth first": "Truth(1) or k > 5", "list first": "[x] or k > 5", "not an object": "not o",
    "grad mode": "xp.no_grad()",
}  # fmt: skip
TRUTH_HELPERS = (
    DYNAMO_HELPERS
    + """class Truth:
    def __init__(self, value):
        self.value = value

    def __bool__(self):
        return bool(self.value)

class DynamoSized:
    def __init__(self, length):
        self.length = length

    def __len__(self):
        return self.length

class Both(DynamoSized):
    def __init__(self):
        self.length = 0

    def __bool__(self):
        return True

class Plain:
    def flip(self):
        return self

"""
)


@program(
    "dynamo.symbolic.truth",
    cases=lambda st: st.fixed_dictionaries(
        {"condition": st.sampled_from(list(CONDITIONS)), "sign": st.sampled_from([1, -1])}
    ),
    edges=[{"condition": name, "sign": sign} for name in CONDITIONS for sign in (1, -1)],
    hint=lambda case, mine, theirs: f"if {CONDITIONS[case['condition']]}: ...",
    draws=10,
)
def branch_taken(xp, condition, sign):
    text = f"{TRUTH_HELPERS}o = Plain()\ndef f(x, k, l, d):\n    y = x + 1\n    if {CONDITIONS[condition]}:\n"
    text += "        return y * 2\n    return y - 1\n"
    x = xp.ones(1 if condition == "tensor of numbers" else 3) * sign
    return dynamo_captured(xp, dynamo_defined(xp, text), [[x, 3, [], {1: 2}]])


@program(
    "together.captured",
    cases=lambda st: st.fixed_dictionaries(
        {
            "text": st.one_of(
                dynamo_texts(st, DYNAMO_LINES, 5),
                dynamo_texts(st, [*DYNAMO_LINES, *DYNAMO_BREAKING, *DYNAMO_BREAKING], 5),
            ),
            "calls": st.lists(st.tuples(st.integers(2, 3), st.integers(1, 2)).map(list), min_size=1, max_size=4),
        }
    ),
    edges=[
        {"text": dynamo_text(lines), "calls": [[2, 1], [3, 1], [2, 2], [2, 1]]}
        for lines in (["x = x * k + y"], ["if k > 1:\n    x = x * 2"], ["x = helper(x, k)", "y = breaks(y, k)"])
    ],
    hint=lambda case, mine, theirs: case["text"],
    draws=15,
)
def programs_captured(xp, text, calls):
    """Random functions, called with tensors of several sizes and several numbers: the graphs of each call, and the results."""
    log, arguments = [], []
    for size, k in calls:
        arguments.append([xp.arange(float(size)), xp.ones(size), k, log])
    return {"calls": dynamo_captured(xp, dynamo_defined(xp, text), arguments), "log": log}


# ---- aot -----------------------------------------------------------------------------------------------------------
#
# A program is a list of statements, [operation, place, place]: an operation and its operands among the values so far, counted
# round. The first values are the inputs, [sizes, requires_grad].


def aot_inputs(xp, inputs):
    """Tensors of small numbers, all different, away from the places where a maximum could be in doubt."""
    made = []
    for i, (shape, grad) in enumerate(inputs):
        count = math.prod(shape)
        values = (xp.arange(count, dtype=xp.float32) * 7 % 11 * 0.25 - 1.1 + 0.07 * i).reshape(shape).clone()
        made.append(values.requires_grad_() if grad else values)
    return made


AOT_PURE = {
    "neg": lambda xp, x, y: -x,
    "double": lambda xp, x, y: x * 2,
    "shift": lambda xp, x, y: x + 0.5,
    "bell": lambda xp, x, y: (x * -x).exp(),
    "sigmoid": lambda xp, x, y: x.sigmoid(),
    "tanh": lambda xp, x, y: x.tanh(),
    "relu": lambda xp, x, y: x.relu(),
    "cos": lambda xp, x, y: x.cos(),
    "clone": lambda xp, x, y: x.clone(),
    "detach": lambda xp, x, y: x.detach(),
    "sum": lambda xp, x, y: x.sum(),
    "rows": lambda xp, x, y: x.sum(-1, True) if x.dim() else x.sum(),
    "amax": lambda xp, x, y: x.amax(-1, True) if x.dim() else x.tanh(),
    "softmax": lambda xp, x, y: x.softmax(-1),
    "add": lambda xp, x, y: x + y,
    "sub": lambda xp, x, y: x - y,
    "mul": lambda xp, x, y: x * y,
    "div": lambda xp, x, y: x / (y + 7),
    "add twice": lambda xp, x, y: xp.add(x, y, alpha=2),
    "mm": lambda xp, x, y: x.mm(y) if x.dim() == y.dim() == 2 and x.shape[1] == y.shape[0] else x * y,
    "stack": lambda xp, x, y: xp.stack([x, x]),
    "cat": lambda xp, x, y: xp.cat([x, x]) if x.dim() else x + x,
}
AOT_VIEWS = {
    "t": lambda xp, x, y: x.t() if x.dim() < 3 else x.transpose(0, -1),
    "first": lambda xp, x, y: x[0] if x.dim() and x.shape[0] else x.unsqueeze(0),
    "last": lambda xp, x, y: x.select(-1, -1) if x.dim() and x.shape[-1] else x.unsqueeze(0),
    "tail": lambda xp, x, y: x[1:] if x.dim() else x.unsqueeze(0),
    "unsqueeze": lambda xp, x, y: x.unsqueeze(0) if x.dim() < 3 else x.squeeze(0),
    "view": lambda xp, x, y: x.view(-1) if x.is_contiguous() else x.unsqueeze(-1),
    "expand": lambda xp, x, y: x.expand(2, *x.shape),
}
AOT_SEVERAL = {
    "split": lambda xp, x, y: x.split(1) if x.dim() else (x + 1,),
    "unbind": lambda xp, x, y: x.unbind(0) if x.dim() else (x + 1,),
    "max": lambda xp, x, y: x.max(-1) if x.dim() and x.shape[-1] else (x * 3,),
}
AOT_WRITES = {
    "double_": lambda xp, x, y: x.mul_(2),
    "add_": lambda xp, x, y: x.add_(y * 1) if aot_fits(x, y) else x.add_(1),
    "zero_": lambda xp, x, y: x.zero_(),
    "fill_": lambda xp, x, y: x.fill_(3.0),
    "copy_": lambda xp, x, y: x.copy_(y * 1) if aot_fits(x, y) else x.neg_(),
}
AOT_OUT = {"neg out": lambda xp, x, y: xp.neg(x, out=x.clone())}
AOT_STEEP = {"exp": lambda xp, x, y: x.exp()}  # not drawn: after a few in a row the last bit is the fifth digit
AOT_OPERATIONS = AOT_STEEP | AOT_OUT | AOT_PURE | AOT_VIEWS | AOT_SEVERAL | AOT_WRITES


def aot_fits(x, y):
    """Whether y can be broadcast to the sizes of x."""
    return len(y.shape) <= len(x.shape) and all(a in (1, b) for a, b in zip(reversed(y.shape), reversed(x.shape)))


def aot_run(xp, statements, *values):
    """The program's values; a statement whose operands do not fit together gives its first operand."""
    values = list(values)
    for operation, i, j in statements:
        x, y = values[i % len(values)], values[j % len(values)]
        if operation in ("add", "sub", "mul", "div", "add twice", "mm") and not (aot_fits(x, y) or aot_fits(y, x)):
            y = x
        if not x.dtype.is_floating_point or not y.dtype.is_floating_point:
            operation = "clone"
        result = AOT_OPERATIONS[operation](xp, x, y)
        values += result if isinstance(result, (list, tuple)) else [result]
    return values


def aot_function(xp, statements, outputs, own=False):
    """The program as a function of its inputs; `outputs` are the places, from the end, of what it returns. If it works on its
    `own` copies of inputs, it may write to them even where an input is a leaf."""

    def function(*inputs):
        values = aot_run(xp, statements, *[x.clone() if own and x.requires_grad else x for x in inputs])
        return [values[-1 - place % len(values)] for place in outputs]

    return function


AOT_SHAPES = [[3, 3], [3, 3], [2, 3], [3], [1, 3], []]


def aot_programs(st, operations, grad, most=6, least=0, shapes=AOT_SHAPES):
    place = st.integers(0, 30)
    shape = st.sampled_from(shapes)
    return {
        "inputs": st.lists(
            st.tuples(shape, st.booleans() if grad else st.just(False)).map(list), min_size=1, max_size=2
        ),
        "statements": st.lists(
            st.tuples(st.sampled_from(sorted(operations)), place, place).map(list), min_size=least, max_size=most
        ),
        "outputs": st.lists(st.integers(0, 6), min_size=1, max_size=3),
    }


def aot_target(target):
    if target is operator.getitem:
        return "getitem"
    return target if isinstance(target, str) else str(target).removeprefix("aten.")


def aot_argument(value):
    """An argument of a node as text: nodes by name, and what is the frameworks' own without their names."""
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(aot_argument, value))}]"
    return str(value).removeprefix("torch.").removeprefix("rushlight.")


def aot_line(node):
    args = [aot_argument(arg) for arg in node.args] if node.op != "placeholder" else []
    kwargs = [f"{name}={aot_argument(value)}" for name, value in node.kwargs.items()]
    return f"{node.name} = {aot_target(node.target)}({', '.join([*args, *kwargs])})"


def aot_shown(graph):
    return [aot_line(node) for node in graph.nodes]


def aot_metadata(value):
    """What a node's `val` says of its result."""
    if isinstance(value, (list, tuple)):
        return [aot_metadata(each) for each in value]
    return [list(value.shape), str(value.dtype).rpartition(".")[2]] if hasattr(value, "shape") else None


def aot_attempt(run):
    try:
        return run()
    except (RuntimeError, ValueError, TypeError, AssertionError) as error:
        if isinstance(error, (NotImplementedError, RecursionError)):
            raise
        return "raises"


def aot_raised(case, mine, theirs):
    return "the compiled function raised an error, which it does not in torch" if mine == "raises" else None


# Recording -----------------------------------------------------------------------------------------------------------


def aot_traced(xp, make_fx, inputs, statements, constant):
    outside = xp.ones(())

    def function(*values):
        values = aot_run(xp, statements, *values)
        if constant:
            values += [values[-1] + outside, outside * 2]
        return values

    values = aot_inputs(xp, inputs)
    module = make_fx(function)(*aot_inputs(xp, inputs))
    nodes = [node for node in module.graph.nodes if node.op == "call_function"]
    return {
        "graph": aot_shown(module.graph),
        "metadata": [aot_metadata(node.meta.get("val")) for node in nodes],
        "results": [x.clone() for x in module(*values)],
    }


def _to_record(st):
    kinds = AOT_PURE | AOT_VIEWS | AOT_SEVERAL | AOT_WRITES | AOT_OUT
    return st.fixed_dictionaries(aot_programs(st, kinds, False) | {"constant": st.booleans()}).map(
        lambda case: {name: value for name, value in case.items() if name != "outputs"}
    )


AOT_RECORDED = [
    {"inputs": [[[3], False]], "statements": [["neg out", 0, 0], ["exp", 1, 0]], "constant": False},
    {"inputs": [[[3, 3], False]], "statements": [["double", 0, 0]], "constant": False},
    {"inputs": [[[3], False]], "statements": [], "constant": True},
    {"inputs": [[[3, 3], False], [[3], False]], "statements": [["add twice", 0, 1], ["sum", 2, 0]], "constant": True},
    {"inputs": [[[3, 3], False]], "statements": [["split", 0, 0], ["mul", 2, 1], ["max", 0, 0]], "constant": False},
    {"inputs": [[[2, 3], False]], "statements": [["cat", 0, 0], ["stack", 1, 0], ["unbind", 2, 0]], "constant": False},
    {"inputs": [[[3, 3], False]], "statements": [["double_", 0, 0], ["neg", 0, 0], ["add", 0, 1]], "constant": False},
    {"inputs": [[[3], False]], "statements": [["clone", 0, 0], ["fill_", 1, 0], ["exp", 1, 0]], "constant": False},
    {"inputs": [[[3, 3], False]], "statements": [["tail", 0, 0], ["zero_", 1, 0], ["expand", 0, 0]], "constant": False},
]


@program("aot.proxy_tensor.record_call", cases=_to_record, edges=AOT_RECORDED, draws=40)
def operators_as_recorded(xp, inputs, statements, constant):
    def make_fx(function):
        return xp.aot.make_fx(function, tracing_mode="fake")

    return aot_traced(xp, make_fx, inputs, statements, constant)


@operators_as_recorded.oracle
def _(torch, inputs, statements, constant):
    from torch.fx.experimental.proxy_tensor import make_fx

    def fake(function):
        return make_fx(function, tracing_mode="fake", _allow_non_fake_inputs=True)

    return aot_traced(torch, fake, inputs, statements, constant)


# Views ---------------------------------------------------------------------------------------------------------------
#
# A step from a base to a view is [overload, arguments after the tensor, which of several results or None].


def aot_numbers(xp, shape, first=0.0):
    return (xp.arange(math.prod(shape), dtype=xp.float32) + first).reshape(shape)


def aot_rows(x):
    """A tensor's values, row by row: how it lies in memory is nobody's business here."""
    return x.detach().reshape(-1).clone().reshape(x.shape)


def aot_step(xp, x, step):
    name, args, place = step
    packet, _, overload = name.partition(".")
    result = getattr(getattr(xp.ops.aten, packet), overload or "default")(x, *args)
    return result if place is None else result[place]


def aot_view(xp, step):
    name, args, place = step
    packet, _, overload = name.partition(".")
    return xp.aot.functional.View(getattr(getattr(xp.ops.aten, packet), overload or "default"), args, place)


def aot_sizes_of_view(shape, steps):
    """The sizes of a view, worked out by numpy on a shape alone: cases hold the sizes of what is put there."""
    import numpy as np

    x = np.zeros(shape)
    for name, args, place in steps:
        x = AOT_ON_NUMPY[name.partition(".")[0]](x, *args)
        x = x if place is None else x[place]
    return list(x.shape)


def _split(x, size, dim=0):
    import numpy as np

    return np.split(x, range(size, x.shape[dim], size), dim)


AOT_ON_NUMPY = {
    "alias": lambda x: x,
    "detach": lambda x: x,
    "view": lambda x, size: x.reshape(size),
    "t": lambda x: x.T,
    "transpose": lambda x, a, b: x.swapaxes(a, b),
    "permute": lambda x, dims: x.transpose(dims),
    "squeeze": lambda x, dim=None: (
        x.squeeze()
        if dim is None
        else x.squeeze(tuple(d for d in [dim] * isinstance(dim, int) or dim if x.shape[d] == 1))
    ),
    "unsqueeze": lambda x, dim: x.reshape([*x.shape[: dim % (x.ndim + 1)], 1, *x.shape[dim % (x.ndim + 1) :]]),
    "select": lambda x, dim, i: x.take(i, dim),
    "slice": lambda x, dim=0, start=None, end=None, step=1: x[
        (slice(None),) * (dim % x.ndim) + (slice(start, end, step),)
    ],
    "diagonal": lambda x, offset=0, a=0, b=1: x.diagonal(offset, a, b),
    "unbind": lambda x, dim=0: [x.take(i, dim) for i in range(x.shape[dim])],
    "split": _split,
    "split_with_sizes": lambda x, sizes, dim=0: [
        x.take(range(sum(sizes[:i]), sum(sizes[: i + 1])), dim) for i in range(len(sizes))
    ],
}


def _whole_step(st, shape):
    """A step that shows all of a base of these sizes."""
    n = len(shape)
    choices = [st.sampled_from([["alias", [], None], ["detach", [], None], ["squeeze", [], None]])]
    choices += [
        st.permutations(shape).map(lambda size: ["view", [size], None]),
        st.just(["view", [[math.prod(shape)]], None]),
    ]
    choices += [st.integers(-n - 1, n).map(lambda dim: ["unsqueeze", [dim], None])]
    if n <= 2:
        choices.append(st.just(["t", [], None]))
    if n:
        dim = st.integers(-n, n - 1)
        choices += [st.tuples(dim, dim).map(lambda dims: ["transpose.int", list(dims), None])]
        choices += [st.permutations(range(n)).map(lambda dims: ["permute", [dims], None])]
        choices += [st.permutations(range(n)).map(lambda dims: ["permute", [[d - n for d in dims]], None])]
        choices += [dim.map(lambda d: ["squeeze.dim", [d], None])]
        choices += [
            st.lists(st.integers(0, n - 1), unique=True, max_size=n).map(lambda dims: ["squeeze.dims", [dims], None])
        ]
    return st.one_of(choices)


def _part_step(st, shape):
    """A step that shows a part of a base of these sizes, which has at least one dimension."""
    n = len(shape)

    @st.composite
    def step(draw):
        dim = draw(st.integers(-n, n - 1))
        size = shape[dim]
        kind = draw(st.sampled_from(["select", "slice", "slice", "unbind", "split", "split_with_sizes", "diagonal"]))
        if kind == "diagonal" and n >= 2:
            a, b = draw(st.permutations(range(n)))[:2]
            return ["diagonal", [draw(st.integers(-2, 2)), a, b - draw(st.sampled_from([0, n]))], None]
        if kind == "slice" or size == 0 or kind == "diagonal":
            start, end = draw(st.integers(-4, 4)), draw(st.sampled_from([-1, 0, 2, 3, 100]))
            return ["slice.Tensor", [dim, start, end, draw(st.integers(1, 3))], None]
        place = draw(st.integers(0, size - 1))
        if kind == "select":
            return ["select.int", [dim, place - draw(st.sampled_from([0, size]))], None]
        if kind == "unbind":
            return ["unbind.int", [dim], place]
        if kind == "split":
            return ["split.Tensor", [draw(st.integers(1, 3)), dim], draw(st.integers(0, 2))]
        first = draw(st.integers(0, size))
        return ["split_with_sizes", [[first, size - first], dim], draw(st.integers(0, 1))]

    def in_range(step):
        name, args, place = step
        return step if name != "split.Tensor" else [name, args, place % len(_split_sizes(shape, args))]

    return step().map(in_range)


def _split_sizes(shape, args):
    size = shape[args[1]]
    return range(0, size, args[0])


def _inverses(kind):
    def cases(st):
        shapes = st.lists(st.integers(1, 3), min_size=kind is _part_step, max_size=3)
        return shapes.flatmap(lambda shape: st.fixed_dictionaries({"shape": st.just(shape), "step": kind(st, shape)}))

    return cases


AOT_WHOLE = [
    {"shape": [2, 3], "step": ["alias", [], None]},
    {"shape": [2, 3], "step": ["detach", [], None]},
    {"shape": [2, 3], "step": ["view", [[3, 2]], None]},
    {"shape": [2, 3], "step": ["_reshape_alias", [[6], [1]], None]},
    {"shape": [2, 3], "step": ["t", [], None]},
    {"shape": [3], "step": ["t", [], None]},
    {"shape": [2, 3, 4], "step": ["transpose.int", [0, -1], None]},
    {"shape": [2, 3, 4], "step": ["transpose.int", [1, 0], None]},
    {"shape": [2, 3, 4], "step": ["permute", [[1, 2, 0]], None]},
    {"shape": [2, 3, 4], "step": ["permute", [[-1, 0, -2]], None]},
    {"shape": [1, 2, 1], "step": ["squeeze", [], None]},
    {"shape": [1, 2, 1], "step": ["squeeze.dim", [0], None]},
    {"shape": [1, 2, 1], "step": ["squeeze.dim", [-1], None]},
    {"shape": [1, 2, 1], "step": ["squeeze.dim", [1], None]},
    {"shape": [1, 2, 1, 3], "step": ["squeeze.dims", [[2, 0]], None]},
    {"shape": [1, 2, 1, 3], "step": ["squeeze.dims", [[-2, 0, 1]], None]},
    {"shape": [1, 1, 1, 2], "step": ["squeeze.dims", [[-2, -4]], None]},
    {"shape": [0, 1], "step": ["squeeze", [], None]},
    {"shape": [], "step": ["squeeze", [], None]},
    {"shape": [], "step": ["squeeze.dim", [0], None]},
    {"shape": [2, 1], "step": ["unsqueeze", [1], None]},
    {"shape": [1, 2], "step": ["unsqueeze", [-1], None]},
    {"shape": [1, 2], "step": ["unsqueeze", [0], None]},
    {"shape": [2, 3], "step": ["expand", [[4, 2, 3]], None]},
    {"shape": [2, 1, 3], "step": ["expand", [[2, 2, 3]], None]},
    {"shape": [], "step": ["expand", [[3]], None]},
]
AOT_PARTS = [
    {"shape": [2, 3], "step": ["select.int", [0, 1], None]},
    {"shape": [2, 3], "step": ["select.int", [-1, -1], None]},
    {"shape": [4, 3], "step": ["slice.Tensor", [0, 1, 3, 1], None]},
    {"shape": [4, 5], "step": ["slice.Tensor", [1, 0, 100, 2], None]},
    {"shape": [4, 5], "step": ["slice.Tensor", [], None]},
    {"shape": [3, 3], "step": ["diagonal", [], None]},
    {"shape": [3, 4, 3], "step": ["diagonal", [1, 2, 0], None]},
    {"shape": [2, 3], "step": ["as_strided", [[2], [3], 1], None]},
    {"shape": [2, 3], "step": ["unbind.int", [], 1]},
    {"shape": [2, 3], "step": ["unbind.int", [-1], 2]},
    {"shape": [5, 2], "step": ["split.Tensor", [2], 0]},
    {"shape": [5, 2], "step": ["split.Tensor", [2], 1]},
    {"shape": [5, 2], "step": ["split.Tensor", [2], 2]},
    {"shape": [2, 5], "step": ["split.Tensor", [3, -1], 1]},
    {"shape": [5, 2], "step": ["split_with_sizes", [[1, 3, 1]], 0]},
    {"shape": [5, 2], "step": ["split_with_sizes", [[1, 3, 1]], 1]},
    {"shape": [2, 5], "step": ["split_with_sizes", [[1, 2, 2], 1], 2]},
    {"shape": [2, 5], "step": ["split_with_sizes", [[1, 2, 2], -1], 1]},
]


def aot_inverse(xp, shape, step):
    base = aot_numbers(xp, shape)
    new = aot_numbers(xp, aot_step(xp, base, step).shape, 100.5)
    view = aot_view(xp, step)
    found, called = aot_calls(
        xp, lambda: xp.aot.functional.view_inverse(base, view, new), xp.aot.proxy_tensor.composite
    )
    return {"base": aot_rows(found), "before": base, "new": new, "operators": called}


def aot_inverse_in_torch(torch, shape, step):
    """The operators are those of the functional graph that come after the write; an alias counts for nothing."""
    from torch.fx.experimental.proxy_tensor import make_fx

    base = aot_numbers(torch, shape)
    new = aot_numbers(torch, aot_step(torch, base, step).shape, 100.5)

    def write(base, new):
        base = base.clone()
        aot_step(torch, base, step).copy_(new)
        return base

    written = torch.func.functionalize(write)
    graph = make_fx(written)(base, new).graph
    graph.eliminate_dead_code()
    called = [aot_target(node.target).partition(".")[0] for node in graph.nodes if node.op == "call_function"]
    called = called[called.index("copy") + 1 :]
    called = ["view" if name == "_reshape_alias" else name for name in called if name != "alias"]
    return {"base": aot_rows(written(base, new)), "before": base, "new": new, "operators": called}


@program("aot.functional.view_inverse", cases=_inverses(_whole_step), edges=AOT_WHOLE, draws=30)
def writes_through_a_view_of_all(xp, shape, step):
    return aot_inverse(xp, shape, step)


@program("aot.functional.view_inverse.part", cases=_inverses(_part_step), edges=AOT_PARTS, draws=30)
def writes_through_a_view_of_a_part(xp, shape, step):
    return aot_inverse(xp, shape, step)


writes_through_a_view_of_all.oracle(aot_inverse_in_torch)
writes_through_a_view_of_a_part.oracle(aot_inverse_in_torch)


def _updates(st):
    @st.composite
    def draw_case(draw):
        shape = draw(st.lists(st.integers(1, 3), max_size=3))
        steps, now = [], shape
        for _ in range(draw(st.integers(0, 4))):
            steps.append(draw(_part_step(st, now) if now and draw(st.booleans()) else _whole_step(st, now)))
            if steps[-1][0] == "view":  # which not every order of dimensions allows
                steps[-1] = ["unsqueeze", [0], None]
            now = aot_sizes_of_view(now, steps[-1:])
        return {"shape": shape, "steps": steps}

    return draw_case()


@program(
    "aot.functional.apply_update",
    cases=_updates,
    edges=[
        {"shape": [2, 3], "steps": []},
        {"shape": [2, 3], "steps": [["t", [], None]]},
        {"shape": [2, 3], "steps": [["select.int", [0, 1], None], ["slice.Tensor", [0, 1, 3, 1], None]]},
        {"shape": [3, 4], "steps": [["t", [], None], ["unbind.int", [0], 2], ["slice.Tensor", [0, 1, 3, 1], None]]},
        {
            "shape": [4, 2, 3],
            "steps": [
                ["slice.Tensor", [0, 1, 3, 1], None],
                ["permute", [[2, 0, 1]], None],
                ["select.int", [0, 0], None],
                ["diagonal", [], None],
            ],
        },
    ],
)
def writes_through_several_steps(xp, shape, steps):
    base = view = aot_numbers(xp, shape)
    for step in steps:
        view = aot_step(xp, view, step)
    new = aot_numbers(xp, view.shape, 100.5)
    found = xp.aot.functional.apply_update(base, new, tuple(aot_view(xp, step) for step in steps))
    return {"base": aot_rows(found), "before": base, "new": new}


@writes_through_several_steps.oracle
def _(torch, shape, steps):
    base = aot_numbers(torch, shape)
    after = view = base.clone()
    for step in steps:
        view = aot_step(torch, view, step)
    new = aot_numbers(torch, view.shape, 100.5)
    view.copy_(new)
    return {"base": aot_rows(after), "before": base, "new": new}


# Decompositions ------------------------------------------------------------------------------------------------------


def aot_graded(xp, shape, kind, factor, first):
    """first, first + factor, ..., rounded to the dtype."""
    return (xp.arange(math.prod(shape), dtype=xp.float64) * factor + first).reshape(shape).to(getattr(xp, kind))


AOT_SIMPLE = {"amax", "sub", "exp", "sum", "div", "_to_copy"}


def aot_calls(xp, run, composite=lambda func: None):
    """What a function returns, and the operators that it called; what `composite` knows as made of others are those."""
    called = []

    class Watch(xp.dispatch.DispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            simpler = composite(func)
            if simpler is not None:
                with self:
                    return simpler(*args, **kwargs or {})
            called.append(func.schema.name)
            return func(*args, **kwargs or {})

    with Watch():
        result = run()
    return result, called


@program(
    "aot.decompositions.softmax",
    cases=lambda st: st.fixed_dictionaries(
        {
            "shape": st.lists(st.integers(0, 4), max_size=3),
            "dim": st.integers(-3, 2),
            "kind": st.sampled_from(["float32", "float32", "float64", "float16"]),
            "factor": st.sampled_from([1, 0.125, 50, 1000, -1000]),
            "first": st.sampled_from([-3, 0, 0.5]),
        }
    ).map(lambda case: case | {"dim": case["dim"] % len(case["shape"]) if case["shape"] else -(case["dim"] % 2)}),
    edges=[
        {"shape": [2, 3], "dim": 1, "kind": "float32", "factor": 1, "first": -3},
        {"shape": [2, 3], "dim": -2, "kind": "float64", "factor": 1000, "first": -3},
        {"shape": [2, 3], "dim": -1, "kind": "float32", "factor": 1000, "first": -3},
        {"shape": [2, 3], "dim": -1, "kind": "float64", "factor": 0.1, "first": 1000000},
        {"shape": [40], "dim": 0, "kind": "float16", "factor": 0.125, "first": -3},
        {"shape": [8], "dim": 0, "kind": "float16", "factor": 0.314, "first": -1.003},
        {"shape": [8], "dim": 0, "kind": "float16", "factor": 1000, "first": -3},
        {"shape": [], "dim": 0, "kind": "float32", "factor": 1, "first": -3},
        {"shape": [], "dim": -1, "kind": "float32", "factor": 1, "first": -3},
        {"shape": [0], "dim": 0, "kind": "float32", "factor": 1, "first": -3},
        {"shape": [2, 0], "dim": 1, "kind": "float32", "factor": 1, "first": -3},
        {"shape": [0, 3], "dim": 1, "kind": "float16", "factor": 1, "first": -3},
    ],
)
def softmax_in_simpler_operators(xp, shape, dim, kind, factor, first):
    x = aot_graded(xp, shape, kind, factor, first)
    result, called = aot_calls(xp, lambda: xp.aot.decompositions.softmax(x, dim, False))
    return {"result": aot_rows(result), "not simple": sorted(set(called) - AOT_SIMPLE)}


@softmax_in_simpler_operators.oracle
def _(torch, shape, dim, kind, factor, first):
    x = aot_graded(torch, shape, kind, factor, first)
    return {"result": aot_rows(torch.softmax(x, dim)), "not simple": []}


# Joint ---------------------------------------------------------------------------------------------------------------


def _joints(st):
    kinds = AOT_PURE.keys() - {"stack", "cat"} | AOT_VIEWS.keys() | AOT_SEVERAL.keys()
    return st.fixed_dictionaries(
        aot_programs(st, kinds, True)
        | {
            "needs": st.lists(st.booleans(), min_size=3, max_size=3),
            "kind": st.sampled_from(["list", "tuple", "numbers"]),
        }
    ).map(lambda case: case | {"needs": case["needs"][: len(case["outputs"])]})


def aot_joint(xp, joint, inputs, statements, outputs, needs, kind):
    """With `kind` "numbers" there are also an argument and an output that are no tensors, and one that no primal leads to."""
    program, outside, numbers = aot_function(xp, statements, outputs), xp.ones(2).requires_grad_(), kind == "numbers"

    def function(*inputs):
        outs = program(*inputs[: len(inputs) - numbers])
        outs = [None, *outs, outside * 2] if numbers else outs
        return tuple(outs) if kind == "tuple" else outs

    primals = aot_inputs(xp, inputs) + [2] * numbers
    needs = (True, *needs, True) if numbers else needs
    likes = [out if hasattr(out, "shape") else outside for out in function(*primals)]
    tangents = [aot_numbers(xp, like.shape, 0.5 + i) for i, (like, needed) in enumerate(zip(likes, needs)) if needed]
    outs, grads = joint(function, primals, tangents, needs)
    return {
        "are": [type(outs).__name__, type(grads).__name__],
        "outputs": [None if out is None else [aot_rows(out), out.requires_grad] for out in outs],
        "gradients": [None if grad is None else aot_rows(grad) for grad in grads],
        "kept": [primal.grad is None for primal in primals if hasattr(primal, "grad")] + [outside.grad is None],
    }


AOT_M = [[3, 3], True]
AOT_JOINTS = [
    {"inputs": [AOT_M], "statements": [["exp", 0, 0]], "outputs": [0], "needs": [True]},
    {"inputs": [AOT_M, AOT_M], "statements": [["mul", 0, 1], ["sum", 2, 0]], "outputs": [0, 1], "needs": [True, True]},
    {"inputs": [AOT_M, AOT_M], "statements": [["mul", 0, 1], ["sum", 2, 0]], "outputs": [0, 1], "needs": [False, True]},
    {"inputs": [AOT_M, AOT_M], "statements": [["mul", 0, 1], ["cos", 0, 0]], "outputs": [0], "needs": [True]},
    {"inputs": [AOT_M, [[3], False]], "statements": [["mul", 0, 1]], "outputs": [0], "needs": [True]},
    {
        "inputs": [[[3], False], AOT_M],
        "statements": [["mul", 0, 1], ["exp", 0, 0]],
        "outputs": [0, 1],
        "needs": [True, True],
    },
    {"inputs": [[[3], False]], "statements": [["exp", 0, 0]], "outputs": [0], "needs": [True]},
    {"inputs": [AOT_M], "statements": [["exp", 0, 0]], "outputs": [0], "needs": [False]},
    {"inputs": [AOT_M], "statements": [["exp", 0, 0], ["detach", 1, 0]], "outputs": [0, 1], "needs": [True, True]},
    {"inputs": [AOT_M], "statements": [["exp", 0, 0], ["detach", 1, 0]], "outputs": [0], "needs": [True]},
    {"inputs": [AOT_M], "statements": [["max", 0, 0]], "outputs": [0, 1], "needs": [True, True]},
    {"inputs": [AOT_M], "statements": [["exp", 0, 0]], "outputs": [1, 0], "needs": [True, True]},
    {"inputs": [AOT_M], "statements": [["exp", 0, 0]], "outputs": [0, 0], "needs": [True, True]},
]


@program(
    "aot.joint.joint_forward_backward",
    cases=_joints,
    edges=[case | {"kind": kind} for kind in ("tuple", "numbers") for case in AOT_JOINTS],
    hint=lambda case, mine, theirs: (
        "with kind 'numbers' the last primal is 2, the first output is None and has a tangent, and so has the last, which no "
        "primal leads to"
        if case["kind"] == "numbers"
        else None
    ),
    draws=30,
)
def forward_and_backward(xp, inputs, statements, outputs, needs, kind):
    return aot_joint(xp, xp.aot.joint.joint_forward_backward, inputs, statements, outputs, needs, kind)


@forward_and_backward.oracle
def _(torch, inputs, statements, outputs, needs, kind):
    from types import SimpleNamespace

    from torch._functorch._aot_autograd.graph_capture_wrappers import create_joint
    from torch.fx.experimental.proxy_tensor import make_fx

    def joint(function, primals, tangents, needs):
        made = create_joint(lambda *args: (list(function(*args)), needs), aot_config=SimpleNamespace(no_tangents=False))
        outs, grads = make_fx(made)(primals, tangents)(primals, tangents)
        flags = [like is not None and like.requires_grad for like in function(*primals)]
        return [x if x is None else x.detach().requires_grad_(flag) for x, flag in zip(outs, flags)], list(grads)

    return aot_joint(torch, joint, inputs, statements, outputs, needs, kind)


# What may be computed again ------------------------------------------------------------------------------------------

AOT_WIDE = [[8, 8], [8, 8], [8], [1, 8], [2, 3], []]


def aot_captured(xp, inputs, statements, outputs, own=False):
    """The joint graph of a program, and how many of its outputs are the forward's; None if there is no backward."""
    function, values = aot_function(xp, statements, outputs, own), aot_inputs(xp, inputs)
    meta = xp.aot.joint.collect_metadata(function, values)
    if not xp.aot.joint.needs_autograd(meta):
        return None
    return xp.aot.joint.joint_graph(function, values, meta), meta.num_forward_outputs


def aot_partitioned_in_torch(torch, inputs, statements, outputs, own=False):
    """What torch makes of a program: the joint graph, which nodes are banned, what is saved, and the halves; None without."""
    from unittest import mock

    from functorch.compile import aot_function as compiled
    from torch._functorch import config, partitioners

    class Enough(BaseException):
        """Nothing is to be run: torch 2.13 cannot always make views again of what this graph gives."""

    found, solve = {}, partitioners.solve_min_cut

    def watched(graph, info, options):
        found["saved"], found["banned"] = solve(graph, info, options)
        found["graph"], found["forward"] = graph, set(info.required_fw_nodes)
        return found["saved"], found["banned"]

    def partition(joint, args, **options):
        found["joint"] = aot_shown(joint.graph)
        halves = partitioners.min_cut_rematerialization_partition(joint, args, **options)
        found["halves"] = [aot_shown(half.graph) for half in halves]
        raise Enough

    def nothing(module, args):
        return module

    with mock.patch.object(partitioners, "solve_min_cut", watched), config.patch(donated_buffer=False):
        function = aot_function(torch, statements, outputs, own)
        with contextlib.suppress(Enough):
            compiled(function, nothing, nothing, partition)(*aot_inputs(torch, inputs))
            return None
    return found


def _recomputations(st):
    kinds = AOT_PURE | AOT_VIEWS | AOT_SEVERAL
    return st.fixed_dictionaries(aot_programs(st, kinds, True, 8, 1, AOT_WIDE))


def _wide(statements, outputs, *shapes):
    return {"inputs": [[shape, True] for shape in shapes or [[8, 8]]], "statements": statements, "outputs": outputs}


AOT_RECOMPUTED = [
    _wide([["exp", 0, 0], ["mul", 1, 1]], [0]),
    _wide([["mm", 0, 1], ["tanh", 2, 0], ["mm", 3, 1]], [0], [8, 8], [8, 8]),
    _wide([["tanh", 0, 0], ["t", 1, 0], ["mm", 2, 0]], [0]),
    _wide([["tanh", 0, 0], ["t", 1, 0], ["t", 2, 0], ["mm", 3, 0]], [0]),
    _wide([["cos", 0, 0], ["t", 1, 0], ["mm", 2, 0]], [0]),
    _wide([["cos", 0, 0], ["t", 1, 0], ["t", 2, 0], ["mm", 3, 0]], [0]),
    _wide([["cos", 0, 0], ["add", 1, 0], ["mm", 2, 2]], [0]),
    _wide([["sigmoid", 0, 0], ["mul", 1, 0], ["mm", 2, 2]], [0, 1]),
    _wide([["rows", 0, 0], ["mul", 0, 1], ["exp", 2, 0]], [0]),
    _wide([["rows", 0, 0], ["mul", 0, 1], ["exp", 2, 0]], [0], [2, 3]),
    _wide([["rows", 0, 0], ["mul", 0, 1], ["exp", 2, 0]], [0], [2, 4]),
    _wide([["rows", 0, 0], ["mul", 0, 1], ["exp", 2, 0]], [0], [2, 5]),
    _wide([["amax", 0, 0], ["sub", 0, 1], ["exp", 2, 0], ["rows", 3, 0], ["div", 3, 4]], [0]),
    _wide([["softmax", 0, 0], ["mul", 1, 0], ["sum", 2, 0]], [0]),
    _wide([["split", 0, 0], ["mul", 1, 2], ["exp", -1, 0]], [0]),
    _wide([["max", 0, 0], ["mul", 1, 0], ["cos", -1, 0]], [0]),
    _wide([["cos", 0, 0], ["cat", 1, 0], ["mul", 2, 2]], [0]),
    _wide([["cos", 0, 0], ["stack", 1, 0], ["mul", 2, 2]], [0]),
    _wide([["cos", 0, 0], ["first", 1, 0], ["unsqueeze", 2, 0], ["mul", 3, 3]], [0]),
    _wide([["cos", 0, 0], ["sum", 1, 0], ["mul", 2, 1]], [0, 1]),
]


@program("aot.partition.may_recompute", cases=_recomputations, edges=AOT_RECOMPUTED, draws=20)
def nodes_that_may_be_computed_again(xp, inputs, statements, outputs):
    captured = aot_captured(xp, inputs, statements, outputs)
    if captured is None:
        return "no backward"
    graph = xp.fx.passes.common_subexpressions(captured[0].graph)
    info = xp.aot.partition.classify_nodes(graph, captured[1])
    if not info.required_bw:
        return "no backward"
    nodes = [node for node in graph.nodes if node in info.required_fw]
    return {node.name: xp.aot.partition.may_recompute(node, info) for node in nodes}


@nodes_that_may_be_computed_again.oracle
def _(torch, inputs, statements, outputs):
    from torch._functorch import config

    with config.patch(ban_recompute_used_far_apart=False, ban_recompute_long_fusible_chains=False):
        found = aot_partitioned_in_torch(torch, inputs, statements, outputs)
    if found is None or "graph" not in found:
        return "no backward"
    return {node.name: node not in found["banned"] for node in found["graph"].nodes if node in found["forward"]}


# The narrowest cut ---------------------------------------------------------------------------------------------------


def _networks(st):
    point, width = st.sampled_from("sabcdet"), st.one_of(st.integers(0, 6), st.integers(1, 3), st.none())
    pipes = st.lists(st.tuples(point, point, width).map(list), max_size=16)
    return st.fixed_dictionaries(
        {"pipes": pipes, "ends": st.sampled_from([["s", "t"], ["s", "t"], ["a", "d"], ["x", "y"]])}
    )


def _pipes(text, ends="st"):
    pipes = [pipe.split("-") for pipe in text.split()]
    return {"pipes": [[a, b, None if w == "inf" else int(w)] for a, w, b in pipes], "ends": list(ends)}


AOT_NETWORKS = [
    _pipes(""),
    _pipes("s-3-t"),
    _pipes("t-3-s"),
    _pipes("s-inf-t"),
    _pipes("s-3-a a-3-t"),
    _pipes("s-3-a a-2-t"),
    _pipes("s-2-a a-3-t"),
    _pipes("s-inf-a a-2-t"),
    _pipes("s-inf-a a-2-b b-inf-t"),
    _pipes("s-2-a a-inf-b b-2-t"),
    _pipes("s-1-a s-1-b a-1-b a-1-t b-1-t"),
    _pipes("s-1-a a-1-d d-1-t s-1-b b-1-c c-1-t a-1-c"),
    _pipes("s-1-a s-1-b a-1-c b-1-c b-1-d a-1-d c-1-t d-1-t"),
    _pipes("s-5-a s-5-b a-3-b b-2-a a-4-c b-4-d c-3-d d-1-c c-5-t d-5-t"),
    _pipes("s-2-a a-2-b b-2-a b-2-t"),
    _pipes("s-2-a a-5-a a-1-t b-3-t s-0-c c-4-t"),
    _pipes("s-4-a b-4-t a-0-b c-2-d"),
    _pipes("s-1-a a-inf-b b-inf-a b-1-t s-1-b"),
    _pipes("s-3-a a-3-b b-3-t s-1-c c-inf-b"),
    _pipes("s-1-a a-5-b b-5-c c-5-t"),
    _pipes("s-1-a a-5-b b-5-c c-5-t d-1-a e-1-d"),
    _pipes("s-1-c a-2-b b-1-c d-4-t t-1-b b-1-t c-4-b c-2-d s-3-a t-3-d"),
    _pipes("a-1-b b-1-d a-1-d", "ad"),
    _pipes("s-2-t", "xy"),
    _pipes("s-1-a s-1-b a-1-c a-1-d b-1-c c-1-t d-1-t"),
    _pipes("s-1-c s-1-b b-1-c c-1-d b-1-a d-1-t a-1-t c-1-a"),
]


@program("aot.partition.minimum_cut", cases=_networks, edges=AOT_NETWORKS)
def the_narrowest_cut(xp, pipes, ends):
    capacities = {(a, b): math.inf if width is None else width for a, b, width in pipes}
    kept = dict(capacities)
    try:
        cost, before = xp.aot.partition.minimum_cut(capacities, *ends)
    except ValueError:
        return "unbounded"
    return {"cost": float(cost), "before the cut": sorted(before), "untouched": capacities == kept}


@the_narrowest_cut.oracle
def _(torch, pipes, ends):
    import networkx

    graph = networkx.DiGraph()
    graph.add_nodes_from(ends)
    for a, b, width in pipes:
        graph.add_edge(a, b, capacity=math.inf if width is None else width)
    try:
        cost, (before, _) = networkx.minimum_cut(graph, *ends)
    except networkx.NetworkXUnbounded:
        return "unbounded"
    return {"cost": float(cost), "before the cut": sorted(before), "untouched": True}


# Cutting -------------------------------------------------------------------------------------------------------------


def _extractions(st):
    kinds = AOT_PURE | AOT_VIEWS | AOT_SEVERAL
    places = st.lists(st.integers(0, 12), max_size=4)
    wanted = st.lists(st.one_of(st.integers(0, 12), st.integers(0, 12), st.sampled_from([None, 0.5])), max_size=4)
    return st.fixed_dictionaries(
        aot_programs(st, kinds, False) | {"constant": st.booleans(), "starts": places, "ends": wanted}
    ).map(lambda case: {name: value for name, value in case.items() if name != "outputs"})


def aot_extracted(xp, make_fx, extract, inputs, statements, constant, starts, ends):
    outside = xp.ones(())

    def function(*values):
        values = aot_run(xp, statements, *values)
        return [*values, values[-1] + outside] if constant else values

    graph = make_fx(function)(*aot_inputs(xp, inputs)).graph
    before, nodes = aot_shown(graph), [node for node in graph.nodes if node.op != "output"]
    starts = list(dict.fromkeys(nodes[place % len(nodes)] for place in starts))
    ends = [nodes[-1 - place % len(nodes)] if isinstance(place, int) else place for place in ends]
    found = aot_attempt(lambda: extract(graph, starts, ends))
    if found == "raises":
        return found
    metadata = [aot_metadata(node.meta.get("val")) for node in found.nodes if node.op != "output"]
    value = found.output_node().args[0]
    return {
        "graph": aot_shown(found),
        "a tuple": isinstance(value, tuple),
        "metadata": metadata,
        "untouched": aot_shown(graph) == before,
    }


AOT_CHAIN = {
    "inputs": [AOT_M, AOT_M],
    "statements": [["mul", 0, 1], ["exp", 2, 0], ["add", 3, 0], ["split", 4, 0], ["add twice", 3, 2]],
    "constant": False,
}  # arg0_1, arg1_1, mul, exp, add, split, three getitems, add_1: places from the end for what is wanted


@program(
    "aot.partition.extract_graph",
    cases=_extractions,
    edges=[
        AOT_CHAIN | {"starts": [0, 1], "ends": [0, 5]},
        AOT_CHAIN | {"starts": [1, 0], "ends": [5]},
        AOT_CHAIN | {"starts": [0, 1], "ends": [None, 5, 0.5]},
        {"inputs": [AOT_M, AOT_M], "statements": [], "constant": True, "starts": [], "ends": [None, 1, 0.5]},
        AOT_CHAIN | {"starts": [], "ends": [None, 9, 9]},
        {"inputs": [AOT_M, AOT_M], "statements": [["neg", 0, 0]], "constant": False, "starts": [], "ends": [None, 12]},
        AOT_CHAIN | {"starts": [3, 0], "ends": [5, 3]},
        AOT_CHAIN | {"starts": [3], "ends": [0]},
        AOT_CHAIN | {"starts": [3, 2], "ends": [0]},
        AOT_CHAIN | {"starts": [0, 1, 3], "ends": [6, 7]},
        AOT_CHAIN | {"starts": [0, 1, 3], "ends": [6, 6, 9]},
        AOT_CHAIN | {"starts": [6], "ends": [3]},
        AOT_CHAIN | {"starts": [0], "ends": [5]},
        AOT_CHAIN | {"starts": [0, 3], "ends": []},
        AOT_CHAIN | {"starts": [], "ends": [None]},
        AOT_CHAIN | {"starts": [], "ends": [9]},
        AOT_CHAIN | {"constant": True, "starts": [0, 1], "ends": [0]},
        AOT_CHAIN | {"constant": True, "starts": [9], "ends": [0]},
    ],
    draws=60,
)
def part_of_a_graph(xp, inputs, statements, constant, starts, ends):
    def make_fx(function):
        return xp.aot.make_fx(function, tracing_mode="fake")

    return aot_extracted(xp, make_fx, xp.aot.partition.extract_graph, inputs, statements, constant, starts, ends)


@part_of_a_graph.oracle
def _(torch, inputs, statements, constant, starts, ends):
    from torch._functorch.partitioners import _extract_graph_with_inputs_outputs
    from torch.fx.experimental.proxy_tensor import make_fx

    def fake(function):
        return make_fx(function, tracing_mode="fake", _allow_non_fake_inputs=True)

    def extract(graph, starts, ends):
        return _extract_graph_with_inputs_outputs(graph, starts, ends, [None] * len(ends))

    return aot_extracted(torch, fake, extract, inputs, statements, constant, starts, ends)


# Afterwards ----------------------------------------------------------------------------------------------------------


def aot_quietly(run):
    def quietly(xp, x, y):
        with xp.no_grad():
            return run(xp, x, y)

    return quietly


AOT_MORE_WRITES = {f"quietly {name}": aot_quietly(run) for name, run in AOT_WRITES.items()} | {
    "t_": lambda xp, x, y: x if x.requires_grad or x.dim() != 2 else x.t_(),
    "unsqueeze_": lambda xp, x, y: x if x.requires_grad or x.dim() > 2 else x.unsqueeze_(0),
}
AOT_OPERATIONS |= AOT_MORE_WRITES


def aot_lying(x):
    """Where a tensor's elements are: its strides, but for dimensions along which there is no step, and its offset."""
    steps = [stride if size > 1 else None for size, stride in zip(x.shape, x.stride())]
    return [steps, x.storage_offset()] if x.numel() else "nowhere"


def aot_expanding_nothing_written(case):
    """Eager mode mostly refuses to write where elements share memory, and a functional graph does it in a way of its own."""
    writes = any(operation in AOT_WRITES or operation in AOT_MORE_WRITES for operation, _, _ in case["statements"])
    statements = [
        ["unsqueeze" if writes and operation == "expand" else operation, i, j] for operation, i, j in case["statements"]
    ]
    return case | {"statements": statements}


def aot_called(xp, compiled, inputs, statements, outputs):
    """What a call shows of itself: results and what they share memory with, inputs afterwards, and gradients."""
    leaves = aot_inputs(xp, [[shape, bool(grad)] for shape, grad in inputs])
    given = [leaf * 1 if grad == "computed" else leaf for leaf, (_, grad) in zip(leaves, inputs)]
    outs = compiled(aot_function(xp, statements, outputs))(*given)
    everything = [*given, *outs]
    places = [x.untyped_storage().data_ptr() for x in everything]
    sharing = [[j for j, place in enumerate(places) if place == here] for here in places]
    same = [[j for j, x in enumerate(given) if x is out] for out in outs]
    lying = [aot_lying(x) if len(sharing[i]) > 1 else None for i, x in enumerate(everything)]
    shown = {
        "results": [[aot_rows(out), out.requires_grad] for out in outs],
        "inputs": [[aot_rows(x), x.requires_grad, x.is_leaf] for x in given],
        "memory": sharing,
        "lying": lying,
        "the same": same,
    }
    loss = [(x * x).sum() for x in everything if x.requires_grad]
    if loss:
        sum(loss).backward()
    return shown | {"gradients": [None if x.grad is None else aot_rows(x.grad) for x in leaves]}


def _calls(st):
    kinds = {*AOT_VIEWS, *AOT_WRITES, *AOT_MORE_WRITES, "cos", "double", "mul", "detach", "unbind"}
    drawn = aot_programs(st, kinds, False)
    grad = st.sampled_from([False, True, "computed"])
    inputs = st.lists(st.tuples(st.sampled_from(AOT_SHAPES), grad).map(list), min_size=1, max_size=2)
    return st.fixed_dictionaries(drawn | {"inputs": inputs}).map(aot_expanding_nothing_written).map(_detached_for_good)


def _detached_for_good(case):
    """What is detached may share memory with an input, and gets no history of its own by what is written there."""
    detached = any(operation == "detach" for operation, _, _ in case["statements"])
    statements = [
        ["double_" if detached and operation in ("add_", "copy_") else operation, i, j]
        for operation, i, j in case["statements"]
    ]
    return case | {"statements": statements}


def _called(grad, statements, outputs, *more):
    return {"inputs": [[[2, 3], grad], *more], "statements": statements, "outputs": outputs}


AOT_CALLED = [
    _called(False, [["double", 0, 0]], [0]),
    _called(True, [["double", 0, 0]], [0]),
    _called(False, [["double_", 0, 0]], [0]),
    _called(False, [["double_", 0, 0], ["exp", 0, 0]], [0]),
    _called("computed", [["double_", 0, 0], ["exp", 0, 0]], [0, 2]),
    _called(True, [["quietly double_", 0, 0], ["exp", 0, 0]], [0]),
    _called(True, [["exp", 0, 0]], [1, 0]),
    _called(False, [["t", 0, 0], ["first", 0, 0]], [0, 1]),
    _called(True, [["t", 0, 0], ["exp", 0, 0]], [0, 1]),
    _called(True, [["detach", 0, 0], ["exp", 0, 0]], [0, 1]),
    _called(True, [["detach", 0, 0], ["add_", 1, 1]], [0]),
    _called(True, [["detach", 0, 0], ["exp", 0, 0], ["double_", 1, 0]], [0, 1]),
    _called(True, [["exp", 0, 0], ["t", 1, 0], ["first", 1, 0]], [0, 1]),
    _called(True, [["exp", 0, 0], ["t", 1, 0], ["first", 1, 0]], [0, 1, 2]),
    _called(True, [["exp", 0, 0], ["t", 1, 0]], [0]),
    _called(True, [["exp", 0, 0], ["detach", 1, 0]], [0, 1]),
    _called(True, [["exp", 0, 0], ["unbind", 1, 0]], [0, 1]),
    _called(True, [["double_", 1, 0], ["exp", 0, 0], ["t", 3, 0], ["first", 3, 0]], [0, 1], [[3], False]),
    _called(True, [["double_", 1, 0], ["exp", 0, 0], ["t", 3, 0], ["first", 3, 0]], [0, 1, 2, 3], [[3], False]),
    _called(True, [["quietly double_", 0, 0], ["exp", 0, 0]], [0, 1], [[2, 3], False]),
    _called(False, [["quietly double_", 1, 0], ["exp", 1, 0]], [0, 1], [[2, 3], True]),
    _called(False, [["t_", 0, 0], ["exp", 0, 0]], [0]),
    _called(False, [["t_", 0, 0], ["double_", 0, 0], ["first", 0, 0]], [0, 1]),
    _called(False, [["double_", 0, 0], ["t", 0, 0], ["double_", 1, 0]], [1, 2, 3], [[3], False]),
    _called(False, [["add_", 0, 1], ["add_", 1, 0], ["unsqueeze_", 1, 0]], [0], [[3], True]),
    _called(False, [["add_", 0, 1], ["fill_", 1, 0], ["unsqueeze_", 1, 0]], [2, 3], [[3], False]),
]


@program("aot.runtime.run_epilogue", cases=_calls, edges=AOT_CALLED, draws=60, hint=aot_raised)
def compiled_calls(xp, inputs, statements, outputs):
    def compiled(function):
        return xp.aot.aot_function(function, xp.aot.nop)

    return aot_attempt(lambda: aot_called(xp, compiled, inputs, statements, outputs))


@compiled_calls.oracle
def _(torch, inputs, statements, outputs):
    return aot_attempt(lambda: aot_called(torch, lambda function: function, inputs, statements, outputs))


# All together --------------------------------------------------------------------------------------------------------


AOT_JOINED = {*AOT_PURE, *AOT_VIEWS, *AOT_WRITES, "max"}  # of parts that nobody uses torch makes zeros from nothing


@program(
    "together.joint",
    cases=lambda st: st.fixed_dictionaries(aot_programs(st, AOT_JOINED, True, 8, 1, AOT_WIDE)).map(
        aot_expanding_nothing_written
    ),
    edges=[case for case in AOT_RECOMPUTED if case["statements"][0][0] != "split"]
    + [_wide([["view", 0, 0], ["max", 1, 0]], [0, 1], [8])],
    draws=25,
)
def joint_graphs_and_what_is_saved(xp, inputs, statements, outputs):
    captured = aot_attempt(lambda: aot_captured(xp, inputs, statements, outputs, True))
    if captured in (None, "raises"):
        return captured
    joint, count = captured
    shown = aot_shown(joint.graph)
    halves = xp.aot.min_cut_rematerialization_partition(joint, num_fwd_outputs=count)
    return {"joint": shown, "halves": [aot_shown(half.graph) for half in halves]}


@joint_graphs_and_what_is_saved.oracle
def _(torch, inputs, statements, outputs):
    found = aot_attempt(lambda: aot_partitioned_in_torch(torch, inputs, statements, outputs, True))
    if found in (None, "raises"):
        return found
    return {"joint": found["joint"], "halves": found["halves"]}
