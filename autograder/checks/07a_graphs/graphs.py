"""Lab 07, graphs of fx: names, uses and users, and the code of a graph."""

from __future__ import annotations

import math
import operator

from ...engine.check import program
from ...engine.observe import build
from ..cases import drawn, first_apart, rows, several, when, words
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


def _requests_as_code(torch, requests):
    """The requests as calls. A name that is given to no object is asked for with None."""
    objects = {
        "an object": "an_object",
        "another": "another",
        "inf": "math.inf",
        "zero": "0",
        "equal": "0.0",
        "empty": "()",
    }
    lines = [
        f"{objects[name]} = object()" for name in ("an object", "another") if name in [held for _, held in requests]
    ]
    lines.append("namespace = torch.fx.graph._Namespace()")
    lines += [f"namespace.create_name({name!r}, {objects.get(holder, holder)})" for name, holder in requests]
    return "\n".join(lines)


def _about_names(case, mine, theirs):
    wrong = first_apart(mine, theirs)
    if wrong == "counts":
        return "`_base_count` has the number of the base's last name with a number, or 0 as long as there is none"
    if wrong == "given" and _RESERVED & {name for name, _ in case["requests"]}:
        return "a name that Python uses, or that is a global of all generated code, may only be given to the object of this name"
    return None


_RESERVED = {"sum", "if", "inf", "print", "None", "lambda"}


@program(
    "fx.graph.create_name",
    cases=drawn(requests=_requests),
    show=_requests_as_code,
    edges=[{"requests": requests} for requests in REQUESTS],
    hint=_about_names,
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


def _steps_as_code(torch, steps):
    """The steps as calls and assignments, on the names of the nodes."""
    graph, lines = fx.graph_of(torch, [X, Y]), [fx.as_code(torch, [X, Y])]
    for kind, index, args, kwargs in build(steps, None):
        nodes = [*graph.nodes]
        node = nodes[index % len(nodes)]
        if kind == "replace":
            other = nodes[args[0] % len(nodes)]
            lines.append(f"{node}.replace_all_uses_with({other})")
            node.replace_all_uses_with(other)
            continue
        args, kwargs = fx.arguments_of(args, kwargs, nodes)
        if kind == "new":
            node = graph.create_node("call_function", operator.add, args, kwargs)
            lines.append(f"{node} = graph.call_function(operator.add, {args}{f', {kwargs}' if kwargs else ''})")
        else:
            value = args if kind == "args" else kwargs
            setattr(node, kind, value)
            lines.append(f"{node}.{kind} = {value}")
    return "\n".join(lines)


@program(
    "fx.node.update_args_kwargs",
    cases=drawn(steps=_steps),
    show=_steps_as_code,
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
