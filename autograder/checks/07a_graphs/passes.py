"""Lab 07, a graph is run and changed: the interpreter, dead code, common subexpressions, constants, and tracing as a whole."""

from __future__ import annotations

import operator

from ...engine.check import program
from ..cases import attempt, drawn, field, rows, several, when
from . import drawn_graphs as fx
from .drawn_graphs import USER, N, X, Y, attribute, call, method, module


def _as_code(torch, statements, returned=None, impure="as usual", tensors=(), swapped=False, **others):
    """The calls that build the graph of a case, which returns the nodes `returned`, or all; then what else is in the case."""
    whole = [X, Y, *statements, fx.output_of(range(len(statements) + 2) if returned is None else returned)]
    lines, nodes = [fx.as_code(torch, whole, **others)], fx.graph_of(torch, whole).nodes
    lines += [f"{node}.meta['val'] = {name}" for node, name in zip(nodes, tensors) if name != "none"]
    lines += [f"is_impure_node = {IMPURE[impure]}"] * (impure != "as usual")
    lines += ["interpreter: its class calls mul in the place of add and sub, and returns 'swapped'"] * swapped
    return "\n".join(lines)


# Running -------------------------------------------------------------------------------------------------------------


def _numbers(st):
    node = fx.drawn_node(st)
    value = st.one_of(node, node, st.integers(0, 9))
    one, pair = st.lists(value, min_size=1, max_size=1), st.lists(value, min_size=2, max_size=2)
    receiver = st.tuples(node, value).map(list)
    nested = st.one_of(value, pair, pair.map(lambda items: {"list": items}), node.map(lambda n: {"dict": {"a": n}}))
    named = st.dictionaries(st.sampled_from(["a", "b"]), nested, max_size=1)
    drawn = [
        ("call_function", "add", pair),
        ("call_function", "sub", pair),
        ("call_function", "neg", one),
        ("call_function", USER, st.lists(nested, max_size=2), named),
        ("call_method", "__add__", receiver),
        ("call_method", "__rsub__", receiver),
        ("call_module", "triple", one, st.dictionaries(st.just("plus"), value)),
        ("get_attr", "seven", st.just([])),
    ]
    return fx.drawn_statements(st, drawn)


@program(
    "fx.interpreter.run_node",
    cases=drawn(
        statements=several(_numbers, 0, 5), inputs=several((10, 99), 2, 2), swapped=bool,
        moved=lambda st: fx.drawn_move(st, 6),
    ),
    edges=rows("statements inputs swapped moved", *((statements, [40, 2], swapped, moved) for statements, moved in (
        ([], None), ([call("sub", N[0], N[1])], None), ([call("add", N[0], N[1]), call("add", N[2], N[2])], None),
        ([method("__rsub__", N[0], N[1])], None), ([module("triple", N[0], plus=N[1]), module("triple", N[2])], None),
        ([attribute("seven"), call("sub", N[2], N[0])], None), ([call(USER, [N[0], {"list": [N[1], [N[0]]]}], a=N[1])], None),
        ([call(USER, {"dict": {"a": N[1]}}, {"slice": [N[0], 1, N[1]]})], None),
        ([call("neg", N[0]), call("neg", N[2])], [2, 3]), ([call(USER, 1, a=N[1])], [1, 2]),
    ) for swapped in (False, True)), ([call(USER, N[1], a=N[1])], [40, None], False, None)),
    hint=when("swapped", "call the interpreter's own method, because a subclass may override it"),
    show=_as_code,
)  # fmt: skip
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

    for op in ("placeholder", "get_attr", "call_method", "call_module"):
        setattr(Listening, op, _listening(op, getattr(xp.fx.Interpreter, op)))

    class Failing(xp.fx.Interpreter):
        def call_function(self, target, args, kwargs):
            raise KeyError(target)

    graph = fx.graph_of(xp, [X, Y, *statements, fx.output_of(range(len(statements) + 2))])
    nodes = list(graph.nodes)
    fx.move(nodes, moved)
    interpreter = Listening(xp.fx.GraphModule({"triple": Triple(), "seven": 7}, graph), garbage_collect_values=False)
    result = attempt(lambda: str(interpreter.run(*inputs)))
    after, interpreter.env = interpreter.env, {}
    alone = [attempt(lambda n=node: str(interpreter.run_node(n))) for node in nodes[2:]]
    failing = Failing(interpreter.module, garbage_collect_values=False)
    failing.env = after
    return {
        "result": result,
        "heard": Listening.heard,
        "each without the others": alone,
        "functions that raise": [attempt(failing.run_node, node) for node in nodes if node.op == "call_function"],
        "values": [[node.name, str(value)] for node, value in after.items()],
    }


def _listening(op, run):
    """The method `op` of an interpreter that keeps what it hears."""

    def method(self, target, args, kwargs):
        self.heard.append([op, target, str(args), str(kwargs)])
        return run(self, target, args, kwargs)

    return method


# Dead code -----------------------------------------------------------------------------------------------------------


def _dead_or_alive(st):
    node = fx.drawn_node(st)
    pair = st.lists(node, min_size=1, max_size=2)
    drawn = [
        ("call_function", ["add"], st.tuples(node, node).map(list)),
        ("call_function", ["torch.add", "aten.add", "aten.add_", "aten.rand_like", "relu"], pair),
        ("call_function", ["cat"], pair.map(lambda items: [{"list": items}])),
        ("call_method", ["relu", "add_"], pair),
        ("call_module", ["pure", "impure"], pair),
        ("get_attr", ["weight"], st.just([])),
    ]
    return fx.drawn_statements(st, drawn)


IMPURE = {  # the functions that decide, as texts
    "as usual": "None",
    "all": "lambda node: True",
    "none": "lambda node: False",
    "ends": "lambda node: node.op in ('placeholder', 'output')",
    "functions": "lambda node: node.op == 'call_function'",
}


@program(
    "fx.passes.eliminate_dead_code",
    cases=drawn(
        statements=several(_dead_or_alive, 0, 6), returned=several((0, 7), 0, 2),
        impure=["as usual", "as usual", *IMPURE], moved=lambda st: fx.drawn_move(st, 7),
    ),
    edges=rows("statements returned impure moved", *((statements, [], impure, None) for statements in (
        [], [call("torch.add", N[0]), call("relu", N[2]), method("relu", N[3])], [module("pure", N[0]), module("impure", N[2])],
        [call("aten.add_", N[0], N[1]), call("aten.rand_like", N[2])],
        [method("add_", N[0], N[1]), attribute("weight"), ["placeholder", "z", [], {}]],
    ) for impure in IMPURE), *(([call("torch.add", N[0]), call("relu", N[used])], returned, "as usual", moved)
        for used, returned, moved in ((2, [3], None), (2, [2], None), (2, [1], [2, 3]), (0, [1], [0, 3]))
    )),
    hint=when(lambda case: case["impure"] != "as usual", "a given function decides alone, for inputs and the output too"),
    show=_as_code,
)  # fmt: skip
def dead_code(xp, statements, returned, impure, moved):
    modules = {"pure": xp.nn.ReLU(), "impure": xp.nn.ReLU(), "weight": xp.ones(2)}
    modules["impure"]._is_impure = True
    graph = fx.graph_of(xp, [X, Y, *statements, fx.output_of(returned)])
    nodes = list(graph.nodes)
    module = xp.fx.GraphModule(modules, graph)
    fx.move(nodes, moved)
    changed = [attempt(module.graph.eliminate_dead_code, eval(IMPURE[impure])) for _ in range(2)]
    return {"changed, then again": changed, "nodes": fx.shown(graph)}


# Common subexpressions -----------------------------------------------------------------------------------------------


def _repeated(st):
    node = fx.drawn_node(st, 5)
    value = st.one_of(node, st.sampled_from([1, 1.0, True, 2]))
    pair, one = st.tuples(node, value).map(list), st.tuples(node).map(list)
    alpha = st.sampled_from([{}, {}, {"alpha": 1}, {"alpha": 1.0}, {"out": {"node": 0}}])
    drawn = [
        ("call_function", ["torch.add", "torch.add", "aten.add"], pair, alpha),
        ("call_function", ["mul", "add", "aten.add_"], pair),
        ("call_function", ["relu", "aten.rand_like", "aten.bernoulli", "aten.relu_", "aten.uniform_"], one),
        ("call_function", ["cat"], pair.map(lambda items: [{"list": items}])),
        ("call_method", ["add", "add_", "relu"], pair),
        ("get_attr", ["weight"], st.just([])),
    ]
    return fx.drawn_statements(st, drawn)


def _merges_results(case, mine, theirs):
    """Whether too few nodes are copied, of a graph that has tensors."""
    both = field(mine, "copy"), field(theirs, "copy")
    return case["tensors"] and all(isinstance(copy, (list, tuple)) for copy in both) and len(both[0]) < len(both[1])


ADD, ONE = call("torch.add", N[0], N[1]), call("mul", N[0], 1)
ONES = [1, 1.0, True]
TENSORS = ["none", "none", "a", "b", "a view of a", "a view of b", "a number"]


@program(
    "fx.passes.common_subexpressions",
    cases=drawn(
        statements=several(_repeated, 0, 8), returned=several((0, 9), 0, 2),
        tensors=lambda st: st.one_of(st.just([]), st.lists(st.sampled_from(TENSORS), max_size=8)),
    ),
    edges=rows("statements returned tensors", *((statements, [2, 3, len(statements) + 1], []) for statements in (
        [ADD, ADD, ADD], [ADD, ADD, call("mul", N[2], 1), call("mul", N[3], 1)],
        [ADD, call("add", N[0], N[1]), method("add", N[0], N[1]), ADD],
        [call("torch.add", N[0], one) for one in ONES * 2], [call("torch.add", N[0], 1, alpha=one) for one in ONES * 2],
        [call("torch.add", N[0], N[1], alpha=1), call("torch.add", N[0], N[1], 1)],
        [call("torch.add", N[0], other=N[1], alpha=2), call("torch.add", N[0], alpha=2, other=N[1])],
        [call("torch.add", N[0], alpha=N[1]), call("torch.add", N[0], other=N[1])], [ADD, call("torch.add", N[1], N[0]), ADD],
        [ADD, ADD] + [call("torch.add", N[0], other=N[i]) for i in (2, 3)], [call("mul", N[0], zero) for zero in (0.0, -0.0)],
        [ADD, call("aten.add_", N[0], 1), ADD, ADD], [call("aten.add_", N[0], 1)] * 3,
        [ADD, method("add_", N[0], 1), ADD, ADD, method("add_", N[0], 1)], [ADD, call("torch.add", N[0], N[1], out=N[0]), ADD],
        [call("aten.rand_like", N[0])] * 2 + [call("aten.bernoulli", N[0])] * 2, [ADD, call("aten.uniform_", N[0]), ADD],
        [attribute("weight")] * 2 + [call("mul", N[2], N[3])],
        [call("cat", {"list": [N[0], 1]}), call("cat", {"list": [N[0], 1.0]})] * 2,
        [module("pure", N[0]), module("other", N[0]), module("pure", N[0])], [method("relu", N[0])] * 2,
        [ADD, ADD] + [call("cat", {"list": [N[i]]}) for i in (2, 3)],
        [call("relu", N[1]), call("aten.add_", N[0], 1), call("relu", N[1])],  # a write to another tensor
        [["placeholder", "z", [], {}], ["placeholder", "z", [], {}]],
    )), *(([ADD, ADD, ADD, ONE, ONE], returned, tensors) for returned, tensors in (
        ([2, 4], ["none", "none", "a", "b", "a"]),
        ([3], ["none", "none", "none", "b"]), ([2], ["none", "none", "a", "a view of a", "b", "a", "b"]),
        ([4], ["a", "none", "b", "a number", "b", "a", "a"]),
        ([0, 5], ["none", "a number", "a number", "none", "a number", "a number"]),
        ([3], ["none", "none", "b", "b", "b", "b", "b"]),
        ([], ["none", "none", "b", "b", "b", "b", "b"]),
    ))),
    hint=when(_merges_results, "a node whose tensor shares memory with a returned tensor is always copied"),
    show=_as_code,
)  # fmt: skip
def without_repetition(xp, statements, returned, tensors):
    graph = graph_with_tensors(xp, statements, returned, tensors)
    before = fx.shown(graph)
    result = xp.fx.passes.common_subexpressions(graph)
    stays = fx.shown(graph) == before and indices_of(graph) == list(range(len(before))) and result is not graph
    return {"copy": fx.shown(result), "indices": indices_of(result), "the graph itself stays": stays}


def graph_with_tensors(xp, statements, returned, tensors):
    graph = fx.graph_of(xp, [X, Y, *statements, fx.output_of(returned)])
    a, b = xp.ones(2), xp.ones(2)
    values = {"a": a, "b": b, "a view of a": a[1:], "a view of b": b.view(1, 2), "a number": 2}
    for i, node in enumerate(graph.nodes):
        node.meta["index"] = i
    for node, name in zip(graph.nodes, tensors):
        if name in values:
            node.meta["val"] = values[name]
    return graph


@without_repetition.oracle
def _(torch, statements, returned, tensors):
    from torch._functorch.compile_utils import fx_graph_cse

    graph = graph_with_tensors(torch, statements, returned, tensors)
    result = fx_graph_cse(graph)
    return {"copy": fx.shown(result), "indices": indices_of(result), "the graph itself stays": True}


def indices_of(graph):
    """The `meta` of the nodes: in which position each was in the first graph."""
    return [node.meta.get("index") for node in graph.nodes]


# Constants -----------------------------------------------------------------------------------------------------------

C, D = attribute("c"), attribute("d")
FULL = call("aten.full", {"list": [2]}, 0.5)


def _folded(st):
    node = fx.drawn_node(st)
    pair, one = st.lists(node, min_size=2, max_size=2), st.tuples(node).map(list)
    drawn = [
        ("call_function", ["aten.add", "torch.add", "aten.mul", "mul"], pair),
        ("call_function", ["relu"], one),
        ("call_method", ["add"], pair),
        ("call_module", ["layer"], one),
        ("call_function", ["aten.rand_like"], one),
    ]
    return fx.drawn_statements(st, drawn, st.just(FULL))


def add(i, j):
    return call("torch.add", N[i], N[j])


@program(
    "fx.passes.constant_fold",
    cases=drawn(statements=several(_folded, 0, 7), returned=several((0, 11), 1, 3)),
    edges=rows(
        "statements returned",  # x, y, c and d are 0 to 3
        ([], [0]), ([], [2]), ([add(0, 1)], [0]), ([add(2, 3)], [4]), ([add(2, 3), add(4, 2), add(5, 0)], [6]),
        ([add(2, 3), add(4, 2), add(5, 0)], [6, 4, 5]), ([add(2, 2), add(4, 4), add(5, 1)], [6]),
        ([add(2, 0), add(4, 2), add(2, 2)], [5, 1]), ([add(2, 3), add(4, 0), add(4, 1), add(4, 3), add(7, 5)], [6, 8]),
        ([call("aten.rand_like", N[2]), add(4, 2), add(2, 2)], [4, 5, 6]), ([FULL, add(4, 4)], [5]), ([FULL, add(2, 4)], [5]),
        ([method("size", N[2], 0), call("aten.full", {"list": [N[4]]}, 1.5)], [5]),
        ([call("aten.split", N[2], 1), call("getitem", N[4], 1)], [5]),
        ([call("aten.split", N[2], 1), call("getitem", N[4], 0), add(5, 0), method("size", N[2], 0), method("view", N[0], N[7])],
         [6, 8]),
        ([call("aten.add_", N[0], N[2]), call("aten.add_", N[0], N[2])], [4]),
        ([module("layer", N[2]), method("add", N[4], N[0])], [5]),
        ([attribute("p"), module("same", N[4]), add(5, 0)], [6]),
        ([call("aten.cat", {"list": [N[2], N[2]]}), method("sum", N[4])], [4, 5, 0]),
        ([call("cat", {"list": [N[2], N[0]]})], [4]), ([method("size", N[2], 0), add(2, 4), add(5, 0)], [6]),
        ([attribute("three"), call("mul", N[2], N[4]), add(5, 0)], [6]),
    ),
    show=lambda torch, statements, returned: _as_code(torch, [C, D, *statements], returned),
)  # fmt: skip
def constants_folded(xp, statements, returned):
    module = module_with_constants(xp, statements, returned)
    xp.fx.passes.constant_fold(module)
    return folded(module)


def module_with_constants(xp, statements, returned):
    graph = fx.graph_of(xp, [X, Y, C, D, *statements, fx.output_of(returned)])
    c, d = xp.arange(2, dtype=xp.float64) - 1, xp.ones(2, dtype=xp.float64) * 0.5
    module = xp.fx.GraphModule(
        {
            "c": c,
            "d": d,
            "p": xp.nn.Parameter(c + 3, False),
            "three": 3,
            "layer": xp.nn.ReLU(),
            "same": xp.nn.Identity(),
        },
        graph,
    )
    for i, node in enumerate(graph.nodes):
        node.meta["index"] = i
        if node.args and node.args[1:] == node.args[:1]:  # x + x counts as two users in torch's pass
            node.args = (node.args[0], 2)
    module.recompile()
    return module


def folded(module):
    """The nodes, the tensors that they look up, and whether the code is that of the graph; names of new attributes are free."""
    nodes, shown = list(module.graph.nodes), fx.shown(module.graph)
    for row in shown:
        if row["calls"][1].startswith("_frozen_param"):
            row["calls"] = "something new"
    looked_up = {node.name: getattr(module, node.target) for node in nodes if node.op == "get_attr"}
    used = {node.target for node in nodes if node.op == "get_attr"}
    names = {f"_frozen_param{i}" for i in range(20)}
    return {
        "nodes": shown,
        "looked up": looked_up,
        "indices": indices_of(module.graph),
        "spare constants": sum(hasattr(module, name) for name in names - used),
        "code is the graph's": module.code == module.graph.python_code("self").src,
    }


@constants_folded.oracle
def _(torch, statements, returned):
    from torch._inductor.constant_folding import constant_fold

    module = module_with_constants(torch, statements, returned)
    constant_fold(module)
    return folded(module)


# Together ------------------------------------------------------------------------------------------------------------

LINES = {  # m is the module, F is nn.functional
    "x + y": "x + y", "x + 2": "x + 2", "1 - x": "1 - x", "-x": "-x", "abs": "abs(x)", "x > y": "(x > y) * 1.0",
    "constant + x": "m.constant + x", "x * buffer": "x * m.buffer", "weight @ x": "m.linear.weight @ x", "x.T": "x.T",
    "rows": "x / x.shape[0]", "x[:, 1:]": "x + x[:, 1:2]", "sum": "x.sum(dim=0, keepdim=True) + y",
    "xp.sum": "xp.sum(x, 1, keepdim=True) + y", "relu": "xp.relu(x)", "F.relu": "F.relu(x)", "F.gelu": "F.gelu(x)",
    "F.softmax": "F.softmax(x, dim=-1)", "F.sigmoid": "F.sigmoid(x)", "F.mse_loss": "F.mse_loss(x, y) + x",
    "cat": "xp.cat([x, y], dim=1)[:, :3]", "where": "xp.where(x > 0, x, y)", "chunk": "x.chunk(3, 0)[0] + y",
    "unpacked": "unpacked(x)", "linear": "m.linear(x)", "block": "m.block(x, y)", "aten": "xp.ops.aten.mul.Tensor(x, y)",
    "zeros_like": "x + xp.zeros_like(y)", "x.mT": "x.mT", "branch": "x if (x > 0).any() else y",
    "loop": "sum(row for row in x)", "number": "x * float(y.sum())", "length": "x * len(y)",
}  # fmt: skip


def unpacked(x):
    first, second, _ = x
    return first * second + x


def module_of(xp, lines):
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
            values, names = [x, y], globals() | {"m": self, "xp": xp, "F": xp.nn.functional}
            for name, left, right in lines:
                x, y = values[left % len(values)], values[right % len(values)]
                values.append(eval(LINES[name], names | {"x": x, "y": y}))
            return values[-1]

    module = Traced()
    with xp.no_grad():
        for i, parameter in enumerate(module.parameters()):
            parameter.copy_((xp.arange(parameter.numel()).reshape(parameter.shape) + i) * 0.125 - 0.5)
    return module


def _lines(st):
    index = st.integers(0, 9)
    return st.lists(st.tuples(st.sampled_from(list(LINES)[:-4]), index, index).map(list), max_size=6)


@program(
    "together.traced",
    cases=drawn(lines=_lines),
    edges=[{"lines": [[name, 0, 1], ["x + y", 2, 0]]} for name in LINES],
    draws=40,
)
def traced(xp, lines):
    module = module_of(xp, lines)
    result = attempt(xp.fx.symbolic_trace, module)
    if isinstance(result, str):
        return result
    x, y = xp.arange(9).reshape(3, 3) * 0.25 - 1, xp.ones(3, 3) * 0.5
    return {
        "graph": fx.in_torch(str(result.graph)),
        "code": fx.in_torch(result.code),
        "result": result(x, y).detach(),
        "interpreted": xp.fx.Interpreter(result).run(x, y).detach(),
    }
