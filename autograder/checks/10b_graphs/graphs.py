"""Lab 10b: patterns in a graph, where observers go, which of them are shared, and what becomes of them."""

from __future__ import annotations

import operator
from importlib import import_module

from ...engine.check import program
from ..cases import drawn, entries, first_apart, rows, several
from .programs import (
    USUAL,
    drawn_lines,
    drawn_settings,
    first_node_apart,
    graph_of,
    inputs_of,
    model_of,
    prepared,
    quantize_fx,
    shown,
)

# Patterns ------------------------------------------------------------------------------------------------------------

CALLS = {  # what a node may call, and what a pattern may name
    "Linear": ("call_module", "linear"), "ReLU": ("call_module", "relu"), "MyReLU": ("call_module", "my_relu"),
    "BatchNorm1d": ("call_module", "norm"), "add": ("call_function", "operator.add"), "F.relu": ("call_function", "F.relu"),
    "xp.relu": ("call_function", "xp.relu"), "int": ("call_function", "int"), ".relu": ("call_method", "relu"),
    ".add": ("call_method", "add"),
}  # fmt: skip


def graph_with_calls(xp, calls):
    """A graph of calls: each is a name in CALLS, positional arguments (an index of a value, or a string for a constant), and an
    argument by name."""
    graph, names = xp.fx.Graph(), {"xp": xp, "F": xp.nn.functional, "operator": operator}

    class MyReLU(xp.nn.ReLU):
        pass

    modules = {"linear": xp.nn.Linear(2, 2), "relu": xp.nn.ReLU(), "my_relu": MyReLU(), "norm": xp.nn.BatchNorm1d(2)}
    modules["other"] = modules["relu"]
    nodes = [graph.placeholder("x"), graph.placeholder("y")]
    for name, args, named in calls:
        op, target = CALLS[name]
        target = eval(target, names) if op == "call_function" else target
        values = tuple(nodes[arg % len(nodes)] if isinstance(arg, int) else 2 for arg in args)
        kwargs = {} if named is None else {"other": nodes[named % len(nodes)]}
        nodes.append(graph.create_node(op, target, values, kwargs))
    return graph, nodes, modules


def pattern_of(xp, described):
    """The pattern for a name in CALLS, or for a list of such patterns."""
    if not isinstance(described, str):
        return tuple(pattern_of(xp, part) for part in described)
    if described[0] == ".":
        return described[1:]
    if described in ("add", "F.relu", "xp.relu"):
        return {"add": operator.add, "F.relu": xp.nn.functional.relu, "xp.relu": xp.relu}[described]
    return int if described == "int" else getattr(xp.nn, described)


def _calls(st, most=5):
    arg = st.one_of(st.integers(0, 6), st.integers(0, 6), st.just("2"))
    args = st.lists(arg, min_size=1, max_size=2)
    named = st.sampled_from([None, None, None, 0, 3])
    return st.lists(st.tuples(st.sampled_from([*CALLS]), args, named).map(list), min_size=1, max_size=most)


def _pattern(st):
    names = st.sampled_from([name for name in CALLS if name != "MyReLU"])
    inner = st.one_of(names, st.tuples(names, names).map(list))
    return st.one_of(
        names, st.tuples(names).map(list), st.tuples(names, inner).map(list), st.tuples(names, inner, names).map(list)
    )


LINEAR, RELU = ["Linear", [0], None], ["ReLU", [2], None]
CHAIN = [LINEAR, ["BatchNorm1d", [2], None], ["ReLU", [3], None]]


def _match_hint(case, mine, theirs):
    difference = first_apart(mine, theirs)
    mine, theirs = entries(mine, theirs) or ({}, {})
    if any("my_relu" in name and mine[name] != theirs[name] for name in theirs):
        return "MyReLU is a subclass of ReLU. A pattern fits the modules of exactly its class"
    if difference == "matches" and case["max_uses"] is not None:
        return "max_uses is about the node itself; inner nodes may have one user each"
    return None


@program(
    "ao.quantization.fx.match_utils.is_match",
    cases=drawn(
        calls=_calls, node=lambda st: st.one_of(st.integers(0, 6), st.integers(2, 6), st.just("2")), pattern=_pattern,
        max_uses=[None, None, 0, 1, 2],
    ),
    edges=rows("calls node pattern max_uses", *(
        ([LINEAR], 2, "Linear", None), ([LINEAR], 2, "ReLU", None), ([LINEAR], 0, "Linear", None), ([LINEAR], "2", "add", None),
        ([LINEAR, RELU], 3, ["ReLU", "Linear"], None), ([LINEAR, RELU], 3, ["ReLU", "BatchNorm1d"], None),
        ([LINEAR, RELU], 3, ["F.relu", "Linear"], None), ([LINEAR, RELU], 3, ["ReLU"], None), ([LINEAR, RELU], 2, ["Linear"], 0),
        ([LINEAR, RELU, ["add", [2, 3], None]], 3, ["ReLU", "Linear"], None), ([LINEAR, ["MyReLU", [2], None]], 3, "ReLU", None),
        ([LINEAR, RELU, ["add", [3, 3], None], ["add", [3, 4], None]], 3, ["ReLU", "Linear"], None),
        ([LINEAR, RELU, ["add", [3, 3], None], ["add", [3, 4], None]], 3, ["ReLU", "Linear"], 1),
        ([LINEAR, RELU, ["add", [3, 3], None], ["add", [3, 4], None]], 3, ["ReLU", "Linear"], 2),
        ([LINEAR, RELU, ["add", [3, 3], None]], 3, ["ReLU", "Linear"], 1), ([["add", [0, 0], None]], 0, "add", 1),
        (CHAIN, 4, ["ReLU", ["BatchNorm1d", "Linear"]], None), (CHAIN, 4, ["ReLU", ["BatchNorm1d", "ReLU"]], None),
        (CHAIN, 4, ["ReLU", "BatchNorm1d"], 0), (CHAIN, 4, ["ReLU", "BatchNorm1d"], None),
        ([*CHAIN, ["add", [2, 4], None]], 4, ["ReLU", ["BatchNorm1d", "Linear"]], None),
        ([LINEAR, ["F.relu", [1], None], ["add", [2, 3], None]], 4, ["add", "Linear", "F.relu"], None),
        ([LINEAR, ["F.relu", [1], None], ["add", [2, 3], None]], 4, ["add", "F.relu", "Linear"], None),
        ([LINEAR, ["F.relu", [1], None], ["add", [2, 3], None]], 4, ["add", "Linear"], None),
        ([LINEAR, ["F.relu", [1], None], ["add", [2, 3], None]], 4, ["add", ["Linear"], ["F.relu"]], None),
        ([LINEAR, ["add", [2, "2"], None]], 3, ["add", "Linear", "add"], None), ([LINEAR, ["add", [2, "2"], None]], 3, "add", None),
        ([LINEAR, [".relu", [2], None]], 3, [".relu", "Linear"], None), ([LINEAR, [".relu", [2], None]], 3, [".add", "Linear"],
        None), ([LINEAR, ["F.relu", [2], None]], 3, "xp.relu", None), ([LINEAR, ["F.relu", [2], None]], 3, ".relu", None),
        ([LINEAR, [".add", [2], 0]], 3, [".add", "Linear"], None), ([LINEAR, ["ReLU", [2], 0]], 3, ["ReLU", "Linear"], None),
        ([LINEAR, ["ReLU", [0], 2]], 3, ["ReLU", "Linear"], None), ([LINEAR, RELU], 4, "Linear", None),
        ([[".relu", [0], None]], 2, "F.relu", None), ([["F.relu", [0], None]], 2, "ReLU", None),
        ([["ReLU", [0], None]], 2, ".relu", None), ([["int", [0], None]], 2, "int", None), ([["int", [0], None]], 2, "add", None),
        ([LINEAR, RELU], 3, ["ReLU", "Linear", "Linear"], None), ([LINEAR, RELU], 3, ["ReLU", "Linear", "add"], None),
        ([LINEAR, [".add", [2, 0], None]], 3, [".relu", "Linear"], None), ([[".add", [0], None]], 2, ".relu", None),
        ([LINEAR, ["add", [2, "2"], None]], 3, ["add", "Linear"], None), ([LINEAR], 2, "Linear", 1),
        ([["Linear", [0], None], ["add", [2, 2], None]], 3, ["add", "Linear", "Linear"], None),
    )),
    hint=_match_hint,
)  # fmt: skip
def matching(rl, calls, node, pattern, max_uses):
    return _matched(rl, rl.ao.quantization.fx.match_utils.is_match, calls, node, pattern, max_uses)


@matching.oracle
def _(torch, calls, node, pattern, max_uses):
    quantize_fx(torch)
    is_match = import_module("torch.ao.quantization.fx.match_utils")._is_match
    return _matched(torch, is_match, calls, node, pattern, max_uses)


def _matched(xp, is_match, calls, node, pattern, max_uses):
    """Whether the node matches the pattern, and for each node of the graph the other patterns that it matches."""
    graph, nodes, modules = graph_with_calls(xp, calls)
    value = nodes[node % len(nodes)] if isinstance(node, int) else 2
    limit = () if max_uses is None else (max_uses,)
    shown = {"matches": is_match(modules, value, pattern_of(xp, pattern), *limit)}
    for candidate in nodes:
        shown[f"patterns that {candidate} matches"] = [
            str(other) for other in PATTERNS if is_match(modules, candidate, pattern_of(xp, other))
        ]
    return shown


PATTERNS = [
    "ReLU",
    ["ReLU", "Linear"],
    "Linear",
    ["ReLU", ["BatchNorm1d", "Linear"]],
    ["BatchNorm1d", "Linear"],
    "add",
    "F.relu",
]
PATTERNS += [
    ["F.relu", "add"],
    ["add", "Linear", "F.relu"],
    ["F.relu", ["add", "Linear", "Linear"]],
    ["ReLU", "add"],
    ".relu",
]


SUM = [LINEAR, ["F.relu", [1], None], ["add", [2, 3], None], ["F.relu", [4], None]]
OF_LAYERS = [LINEAR, ["Linear", [1], None], ["add", [2, 3], None], ["F.relu", [4], None]]


@program(
    "ao.quantization.fx.match_utils.find_matches",
    cases=drawn(
        calls=lambda st: _calls(st, 7), patterns=lambda st: st.lists(st.sampled_from(PATTERNS), unique_by=str, max_size=8)
    ),
    edges=[{"calls": calls, "patterns": [PATTERNS[i] for i in numbers]} for calls, numbers in (
        ([LINEAR, RELU], [0, 1, 2]), ([LINEAR, RELU], [2, 0]), ([LINEAR, RELU], []), (CHAIN, [0, 1, 2, 3, 4]), (CHAIN, [4, 1, 0]),
        (CHAIN, [0, 2]), ([*CHAIN, ["add", [3, 4], None]], [0, 1, 2, 3, 4, 5]), ([LINEAR, RELU, ["add", [2, 3], None]], [1, 2]),
        (SUM, [5, 6, 7, 8, 9, 2]), (SUM, [8, 7, 6]), (SUM, [7, 8, 6]), (OF_LAYERS, [9, 7, 2, 5]), (OF_LAYERS, [7, 9]),
        ([LINEAR, RELU, ["Linear", [3], None], ["ReLU", [4], None]], [0, 1]),
        ([["add", [0, 1], None], ["ReLU", [2], None], [".relu", [3], None]], [5, 0, 10, 11]),
    )],
)  # fmt: skip
def matches(rl, calls, patterns):
    graph, nodes, modules = graph_with_calls(rl, calls)
    known = [pattern_of(rl, pattern) for pattern in patterns]
    matches = rl.ao.quantization.fx.match_utils.find_matches(graph, modules, known)
    return {
        name: [last.name, patterns[known.index(pattern)], [node.name for node in inner]]
        for name, (last, pattern, inner) in sorted(matches.items())
    }


@matches.oracle
def _(torch, calls, patterns):
    quantize_fx(torch)
    graph, nodes, modules = graph_with_calls(torch, calls)
    known = [pattern_of(torch, pattern) for pattern in patterns]
    fx = import_module("torch.ao.quantization.fx.match_utils")
    longest_first = import_module("torch.ao.quantization.fx.pattern_utils")._sorted_patterns_dict(
        dict.fromkeys(known, _Handler)
    )
    matches = fx._find_matches(graph, modules, longest_first, {})
    return {
        name: [last.name, patterns[known.index(pattern)], [node.name for node in _flat(inner)]]
        for name, (last, inner, pattern, _) in sorted(matches.items())
    }


class _Handler:
    def __init__(self, *args):
        pass


def _flat(nested):
    if not isinstance(nested, (list, tuple)):
        return [nested]
    return [node for inner in nested for node in _flat(inner)]


# Shared observers ----------------------------------------------------------------------------------------------------


def _steps(st):
    index = st.integers(0, 9)
    step = st.one_of(
        st.tuples(st.just("observe"), index).map(list), st.tuples(st.just("observe"), index).map(list),
        st.tuples(st.just("neg"), index).map(list), st.tuples(st.just("add"), index, index).map(list),
        st.tuples(st.just("twice"), index).map(list), st.tuples(st.just("ones")).map(list),
    )  # fmt: skip
    return st.lists(step, min_size=1, max_size=6)


def _shared(st):
    return st.one_of(
        st.tuples(st.just("neg"), st.integers(0, 9)).map(list), st.tuples(st.just("twice"), st.integers(0, 9)).map(list),
        st.tuples(st.just("named"), st.integers(0, 9)).map(list),
        st.tuples(st.just("cat"), st.lists(st.integers(0, 9), min_size=1, max_size=3)).map(list),
        st.tuples(st.just("pair"), st.lists(st.integers(0, 9), min_size=1, max_size=3)).map(list), st.just(["ones"]),
    )  # fmt: skip


OBSERVE = [["observe", 0], ["observe", 1]]


@program(
    "ao.quantization.fx.prepare.share_observers",
    cases=drawn(steps=_steps, node=_shared, users=(0, 2)),
    edges=rows("steps node users", *((steps, node, users) for steps, node in (
        (OBSERVE, ["neg", 2]), (OBSERVE, ["neg", 0]), (OBSERVE, ["cat", [2, 3]]), (OBSERVE, ["pair", [3, 2]]),
        (OBSERVE, ["cat", [0, 2]]), (OBSERVE, ["cat", [2, 1, 3]]), (OBSERVE, ["cat", [2, 3, 0]]), (OBSERVE, ["twice", 3]),
        ([*OBSERVE, ["neg", 2], ["neg", 4]], ["neg", 5]), ([*OBSERVE, ["neg", 3], ["add", 4, 2]], ["cat", [2, 4, 5]]),
        (OBSERVE, ["named", 2]), ([*OBSERVE, ["named", 2]], ["neg", 4]), ([*OBSERVE, ["joined", 2]], ["neg", 4]),
        ([*OBSERVE, ["add", 0, 2]], ["neg", 4]), ([*OBSERVE, ["twice", 2]], ["neg", 4]), ([["ones"]], ["neg", 2]),
        (OBSERVE, ["ones"]), ([*OBSERVE, ["observe", 1], ["neg", 2], ["neg", 3]], ["cat", [5, 6, 4]]),
    ) for users in (1, 2))) + rows("steps node users", (OBSERVE, ["cat", [2, 3]], 0)),
)  # fmt: skip
def shared(rl, steps, node, users):
    model, last = observed_graph(rl, steps, node, users, rl.ao.quantization.MinMaxObserver)
    done = rl.ao.quantization.fx.prepare.share_observers(model, last)
    return {"returned": done} | graph_of(model)


@shared.oracle
def _(torch, steps, node, users):
    quantize_fx(torch)
    model, last = observed_graph(torch, steps, node, users, torch.ao.quantization.MinMaxObserver)
    prepare = import_module("torch.ao.quantization.fx.prepare")
    modules = dict(model.named_modules(remove_duplicate=False))
    done = prepare._maybe_make_input_output_share_observers(last, model, modules)
    return {"returned": done} | graph_of(model)


def observed_graph(xp, steps, node, users, observer):
    graph, root = xp.fx.Graph(), {}
    nodes = [graph.placeholder("x"), graph.placeholder("y")]
    at = lambda index: nodes[index % len(nodes)]  # noqa: E731

    def observe(value):
        root[name := f"activation_post_process_{len(root)}"] = observer()
        return graph.create_node("call_module", name, (value,))

    for step in (*steps, node):
        match step:
            case ("observe", index):
                new = observe(at(index))
            case ("neg", index):
                new = graph.call_function(operator.neg, (at(index),))
            case ("named", index):
                new = graph.call_function(xp.neg, (), {"input": at(index)})
            case ("joined", index):
                new = graph.call_function(xp.cat, ([at(index)],))
            case ("add", left, right):
                new = graph.call_function(operator.add, (at(left), at(right)))
            case ("twice", index):
                first = step is node or not isinstance(node[-1], (list, tuple))
                new = graph.call_function(operator.mul, (2, at(index)) if first else (at(index), 2))
            case ("cat", indices):
                new = graph.call_function(xp.cat, ([at(index) for index in indices],))
            case ("pair", indices):
                new = graph.call_function(xp.cat, (0, tuple(at(index) for index in indices)))
            case _:
                new = graph.call_function(xp.ones, () if isinstance(node[-1], (list, tuple)) else (2,))
        nodes.append(new)
    graph.output([nodes[-1] if users == 0 else observe(nodes[-1]) for _ in range(max(users, 1))] if users else 0)
    return xp.fx.GraphModule(root, graph), nodes[-1]


# The walk ------------------------------------------------------------------------------------------------------------


MANY = [
    "linear",
    "linear relu",
    "linear bn",
    "conv bn relu",
    "x + 1",
    "2 * x",
    "xp.add",
    "relu of x + y",
    "relu of x + 1",
]
MANY += ["F.relu", "xp.relu", "cat", "transpose", "view", "shape", "dropout", "bias", "unused", "sum of itself"]
MANY += ["bn", "bn relu", "conv of two users, bn F.relu", "linear of two users, bn relu"]


@program(
    "ao.quantization.fx.prepare.insert_observers",
    cases=drawn(lines=drawn_lines, settings=drawn_settings, returned=several((0, 9), 1, 2)),
    edges=[
        *({"lines": [["x - y", 0, 1], [name, 2, 1]], "settings": USUAL, "returned": [3]} for name in MANY),
        *({"lines": lines, "settings": settings, "returned": returned} for lines, settings, returned in (
            ([["linear", 0, 0], ["linear", 0, 0], ["x + y", 2, 3]], USUAL, [4, 2]),
            ([["linear", 0, 0], ["linear", 2, 0]], [0, 127, False, ["linears.0"], []], [3]),
            ([["linear", 0, 0], ["linear", 2, 0]], [0, 127, False, ["linears.1"], []], [3, 2]),
            ([["abs", 0, 0], ["neg", 0, 0], ["cat", 2, 3], ["linear", 2, 0]], USUAL, [4, 5]),
            ([["x + 1", 0, 0], ["cat", 0, 2], ["x * y", 0, 3]], USUAL, [4]),
            ([["cat", 0, 1], ["cat", 2, 0], ["x + y", 1, 3]], [0, 255, True, [], []], [4, 0]),
            ([["relu of x + y", 0, 1], ["relu", 2, 0], ["transpose", 3, 0]], USUAL, [4, 2]),
            ([["linear", 0, 0], ["view", 2, 0], ["flatten", 2, 0], ["x + y", 3, 4]], USUAL, [5]),
            ([["linear", 0, 0], ["linear", 0, 0], ["cat", 2, 3]], [0, 127, False, [], ["linears.1"]], [4]),
            ([["abs", 0, 0], ["linear", 2, 0], ["linear relu", 2, 0], ["x + y", 2, 4]], [0, 127, True, [], ["linears.2"]], [5, 3]),
            ([["abs", 0, 0], ["linear", 2, 0], ["linear relu", 2, 0], ["x + y", 2, 4]], [0, 127, True, [], ["linears.1"]], [5, 3]),
            *(([["abs", 0, 0], ["relu of x * y", 0, 2], ["linear", 3, 0]], [0, 127, False, *names], [4, 2])
              for names in ([[], ["relu"]], [["relu"], []])),
        )),
    ],
    draws=10,
    show=shown,
    hint=first_node_apart,
)  # fmt: skip
def observed(xp, lines, settings, returned):
    return graph_of(prepared(xp, model_of(xp, lines, returned), settings))


@program(
    "ao.quantization.fx.convert.replace_observer",
    cases=drawn(lines=lambda st: drawn_lines(st, 3), settings=drawn_settings, signed=bool),
    edges=[
        *({"lines": [["x - y", 0, 1], [name, 2, 1]], "settings": settings, "signed": False}
          for name in ("linear", "cat", "x + y", "linear relu")
          for settings in (USUAL, [0, 255, True, [], []], [5, 200, False, [], []])),
        {"lines": [["linear", 0, 1], ["linear relu", 2, 1], ["x + y", 2, 3]], "settings": USUAL, "signed": False},
        {"lines": [["x + y", 0, 1], ["x * y", 2, 2], ["linear", 2, 3]], "settings": USUAL, "signed": True},
    ],
    draws=10,
    show=shown,
)  # fmt: skip
def converted(rl, lines, settings, signed):
    model = prepared(rl, model_of(rl, lines), settings)
    if signed:
        model.activation_post_process_0 = rl.ao.quantization.MinMaxObserver(dtype=rl.int8, quant_min=-100, quant_max=90)
    model(*inputs_of(rl))
    replace_observer = rl.ao.quantization.fx.convert.replace_observer
    for node in observer_nodes(model):
        replace_observer(model, node)
    return _calls_of(model)


@converted.oracle
def _(torch, lines, settings, signed):
    model = prepared(torch, model_of(torch, lines), settings)
    if signed:
        observer = torch.ao.quantization.MinMaxObserver
        model.activation_post_process_0 = observer(dtype=torch.qint8, quant_min=-100, quant_max=90)
    model(*inputs_of(torch))
    convert = import_module("torch.ao.quantization.fx.convert")
    known, modules = model.meta["_observed_graph_module_attrs"], dict(model.named_modules(remove_duplicate=False))
    for node in observer_nodes(model):
        convert._replace_observer_with_quantize_dequantize_node_decomposed(
            model, node, modules, known.node_name_to_scope, known.node_name_to_qconfig
        )
    return _calls_of(model)


def observer_nodes(model):
    """Every second observer's node first, then the others, so that each must be put at its own place."""
    nodes = [node for node in model.graph.nodes if node.name.startswith("activation_post_process")]
    return nodes[1::2] + nodes[::2]


def _calls_of(model):
    """The calls and inputs of a converted graph, by name. Scales are numbers, because they are compared with a tolerance."""
    return {
        node.name: [node.op, str(node.target).replace("rushlight", "torch"), *map(_argument, node.args)]
        for node in model.graph.nodes
        if node.op != "call_function" or "quant" in str(node.target)
    }


def _argument(arg):
    return arg if type(arg) in (int, float) else str(arg).replace("rushlight", "torch")


# Together ------------------------------------------------------------------------------------------------------------


@program(
    "together.quantized",
    cases=drawn(lines=drawn_lines, settings=drawn_settings),
    edges=[
        {"lines": [["linear relu", 0, 1], [name, 2, 1], ["linear", 3, 1]], "settings": [0, 127, True, [], []]}
        for name in ("conv bn relu", "conv bn", "x + y", "cat", "view", "abs", "relu of x + 1")
    ],
    draws=10,
    show=shown,
)
def quantized(xp, lines, settings):
    model, inputs = prepared(xp, model_of(xp, lines), settings), inputs_of(xp)
    before = model(*inputs).detach()
    observers = graph_of(model)
    converted = quantize_fx(xp)._convert_to_reference_decomposed_fx(model)
    weights = {
        name: module.get_quantized_weight().to(xp.int32)
        for name, module in converted.named_modules()
        if hasattr(module, "get_quantized_weight")
    }
    return {"before": before, "observers": observers, "after": _calls_of(converted), "weights": weights}
