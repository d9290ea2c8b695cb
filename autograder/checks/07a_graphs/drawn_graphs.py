"""Graphs of fx as data: how a case describes a graph, how a graph is drawn, and how it is shown.

A graph is a list of statements, [op, target, args, kwargs]. In arguments {"node": i} is one of the nodes so far (the index wraps
around); {"list": [...]}, {"dict": {...}} and {"slice": [...]} are containers, {"colour": name} is an enum, and a sequence is a
tuple.
"""

from __future__ import annotations

import math
import operator
from enum import Enum


class Colour(Enum):
    RED = 1


def user_function(*args, **kwargs):
    return args


def user_add(*args):
    return args


def user_getattr(*args):
    return args


user_add.__module__, user_add.__name__ = "__main__", "add"
user_getattr.__module__, user_getattr.__name__ = "__main__", "getattr"

USER, USER_ADD, USER_GETATTR = "a function of the program", "a function add", "a function getattr"
_OPERATORS = {name: f"operator.{name}" for name in dir(operator) if not name.startswith("_")}
TARGETS = _OPERATORS | {  # what a call_function node may call
    "math.sqrt": "math.sqrt", "math.pow": "math.pow", "pow": "pow", "len": "len", "getattr": "getattr",
    USER: "user_function", USER_ADD: "user_add",
    USER_GETATTR: "user_getattr", "relu": "xp.relu", "cat": "xp.cat", "torch.add": "xp.add", "gelu": "xp.nn.functional.gelu",
    "softmax": "xp.nn.functional.softmax", "aten.add": "aten.add.Tensor", "aten.mul": "aten.mul.Tensor",
    "aten.add_": "aten.add_.Tensor", "aten.relu_": "aten.relu_.default", "aten.relu": "aten.relu", "aten.cat": "aten.cat.default",
    "aten.split": "aten.split.Tensor", "aten.full": "aten.full.default", "aten.rand_like": "aten.rand_like.default",
    "aten.bernoulli": "aten.bernoulli.default", "aten.uniform_": "aten.uniform_.default",
}  # fmt: skip


# Statements ----------------------------------------------------------------------------------------------------------

N = [{"node": i} for i in range(12)]
X, Y = ["placeholder", "x", [], {}], ["placeholder", "y", [], {}]


def _statement(op):
    return lambda target, *args, **kwargs: [op, target, list(args), kwargs]


call, method, module = map(_statement, ("call_function", "call_method", "call_module"))
attribute = _statement("get_attr")


def output(*args):
    return ["output", "output", list(args), {}]


def output_of(indices):
    return ["output", "output", (tuple({"node": i} for i in indices),), {}]


def value_of(described, nodes):
    match described:
        case {"node": i}:
            return nodes[i % len(nodes)] if nodes else 0
        case {"list": items}:
            return [value_of(item, nodes) for item in items]
        case {"dict": items}:
            return {key: value_of(item, nodes) for key, item in items.items()}
        case {"slice": items}:
            return slice(*(value_of(item, nodes) for item in items))
        case {"colour": name}:
            return Colour[name]
        case tuple():
            return tuple(value_of(item, nodes) for item in described)
        case _:
            return described


def arguments_of(args, kwargs, nodes):
    return tuple(value_of(arg, nodes) for arg in args), {name: value_of(arg, nodes) for name, arg in kwargs.items()}


def graph_of(xp, statements):
    graph, nodes, names = xp.fx.Graph(), [], globals() | {"xp": xp, "aten": xp.ops.aten, "math": math}
    for op, target, args, kwargs in statements:
        target = eval(TARGETS[target], names) if op == "call_function" else target
        nodes.append(graph.create_node(op, target, *arguments_of(args, kwargs, nodes)))
    return graph


def as_code(torch, statements, moved=None, **others):
    """The calls that build the graph of a case, the move of a node, and the other values of the case."""
    lines, nodes = ["graph = Graph()"], [*graph_of(torch, statements).nodes]
    for node, (_, target, *_) in zip(nodes, statements):
        called = TARGETS[target].replace("xp.", "torch.") if node.op == "call_function" else repr(target)
        arguments = [called, str(node.args), *[str(node.kwargs)] * bool(node.kwargs)]
        if node.op in ("placeholder", "get_attr", "output"):
            arguments = [*map(str, node.args)] if node.op == "output" else [called]
        call = f"{node} = graph.{node.op}({', '.join(arguments)})"
        lines.append(call.replace(repr(Colour.RED), str(Colour.RED)))
    if moved is not None:
        node, place = (nodes[i % len(nodes)] for i in moved)
        lines.append(f"{place}.append({node})  # moves it to right after the other node")
    return "\n".join([*lines, *(f"{name} = {value!r}" for name, value in others.items())])


def move(nodes, moved):
    """Move one node to right after another; `moved` has the indices of both, or is None."""
    if moved is not None:
        nodes[moved[1] % len(nodes)].append(nodes[moved[0] % len(nodes)])


# What a check sees ---------------------------------------------------------------------------------------------------


def shown(graph):
    """Each node with its target, the nodes that it uses, and its users."""
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


def in_torch(text):
    """The lines of generated code, as they read in either framework."""
    return text.replace("rushlight", "torch").split("\n")


# Strategies ----------------------------------------------------------------------------------------------------------


def drawn_node(st, most=9):
    return st.integers(0, most).map(lambda i: {"node": i})


def drawn_statements(st, drawn, *more):
    """One of some statements, each with one of its targets; a single target that is no list is not drawn."""

    def statement(op, targets, args, kwargs=None):
        target = st.just(targets) if isinstance(targets, str) else st.sampled_from(targets)
        return st.tuples(st.just(op), target, args, st.just({}) if kwargs is None else kwargs).map(list)

    return st.one_of(*(statement(*form) for form in drawn), *more)


def drawn_argument(st):
    node = drawn_node(st)
    leaf = st.one_of(node, node, st.sampled_from([0, 1, 2, True, 0.5, None, "dim"]))

    def within(inner):
        names = st.sampled_from(["a", "b", "dim"])
        return st.one_of(
            st.lists(inner, max_size=3).map(lambda items: {"list": items}),
            st.lists(inner, max_size=3),
            st.dictionaries(names, inner, max_size=2).map(lambda items: {"dict": items}),
            st.lists(leaf, min_size=3, max_size=3).map(lambda items: {"slice": items}),
        )

    return st.one_of(leaf, leaf, st.recursive(leaf, within, max_leaves=5))


def drawn_move(st, most):
    index = st.integers(0, most)
    return st.one_of(st.none(), st.none(), st.tuples(index, index).map(list))
