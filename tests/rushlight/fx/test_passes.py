"""Dead code goes, nothing is computed twice, and constants are computed once, as in torch's own passes."""

import operator

import pytest
import torch
from both import agree
from hypothesis import given
from hypothesis import strategies as st
from torch._functorch.compile_utils import fx_graph_cse
from torch._inductor.constant_folding import constant_fold

import rushlight as rl
from rushlight.fx import passes

TARGETS = {
    "add": lambda xp: xp.ops.aten.add.Tensor,
    "mul": lambda xp: xp.ops.aten.mul.Tensor,
    "neg": lambda xp: xp.ops.aten.neg.default,
    "cat": lambda xp: xp.ops.aten.cat.default,
    "split": lambda xp: xp.ops.aten.split.Tensor,
    "getitem": lambda xp: operator.getitem,
    "add_": lambda xp: xp.ops.aten.add_.Tensor,
    "rand_like": lambda xp: xp.ops.aten.rand_like.default,
    "bernoulli": lambda xp: xp.ops.aten.bernoulli.default,
    "empty": lambda xp: xp.ops.aten.empty.memory_format,
    "view": lambda xp: xp.ops.aten.view.default,
    "torch.add": lambda xp: xp.add,
    "relu_": lambda xp: xp.relu_,
    "set_grad_enabled": lambda xp: set_grad_enabled,
}


def set_grad_enabled(mode):
    return mode


def build(xp, statements, returned):
    graph = xp.fx.Graph()
    nodes = [graph.placeholder("x"), graph.placeholder("y")]
    for target, places, kwargs in statements:
        args = [nodes[place % len(nodes)] for place in places]
        if target == "get_attr":
            nodes.append(graph.get_attr("cd"[places[0] % 2]))
        elif target == "method":
            nodes.append(graph.call_method("add_" if kwargs else "add", tuple(args)))
        elif target in ("cat", "split"):
            nodes.append(graph.call_function(TARGETS[target](xp), (args, 0) if target == "cat" else (args[0], 1)))
        else:
            nodes.append(graph.call_function(TARGETS[target](xp), tuple(args), kwargs))
    graph.output(tuple(nodes[place % len(nodes)] for place in returned))
    return graph


def statements_of(names):
    one = st.tuples(
        st.sampled_from(names),
        st.lists(st.integers(0, 5), min_size=1, max_size=2),
        st.sampled_from([{}, {}, {"alpha": 2}]),
    )
    return st.lists(one, max_size=12)


# Dead code


@given(statements_of(list(TARGETS)), st.lists(st.integers(0, 9), max_size=2))
def test_dead_code_is_eliminated(statements, returned):
    def program(xp):
        graph = build(xp, statements, returned)
        return [graph.eliminate_dead_code(), str(graph), graph.eliminate_dead_code()]

    agree(program)


def test_a_graph_that_is_out_of_order_is_left_alone():
    def program(xp):
        graph = build(xp, [("add", [0, 1], {}), ("neg", [2], {}), ("neg", [0], {})], [3])
        nodes = list(graph.nodes)
        nodes[3].append(nodes[2])
        try:
            graph.eliminate_dead_code()
        except RuntimeError:
            return str(graph)

    agree(program)


# Common subexpressions


@given(statements_of([name for name in TARGETS if name != "split"]), st.lists(st.integers(0, 13), max_size=2))
def test_nothing_is_computed_twice(statements, returned):
    ours = passes.common_subexpressions(build(rl, statements, returned))
    theirs = fx_graph_cse(build(torch, statements, returned))
    assert str(ours).replace("rushlight", "torch") == str(theirs)


def test_two_results_do_not_become_one_tensor():
    def graph_of(xp):
        graph = build(xp, [("neg", [0], {}), ("neg", [0], {}), ("view", [2], {}), ("neg", [0], {})], [2, 3, 5])
        base = xp.ones(2)
        for node, value in zip(graph.nodes, [xp.ones(2), xp.ones(2), base, xp.ones(2), base.view(2), xp.ones(2)]):
            node.meta["val"] = value
        return graph

    assert str(passes.common_subexpressions(graph_of(rl))).replace("rushlight", "torch") == str(
        fx_graph_cse(graph_of(torch))
    )


@pytest.mark.parametrize("value", [1, 1.0, True, "1", None, (1,), [1], slice(1), {"a": 1}, rl.float32])
def test_an_argument_is_the_same_only_as_itself(value):
    others = [1, 1.0, True, "1", None, (1,), [1], slice(1), {"a": 1}, rl.float32]
    same = [passes.fingerprint(value) == passes.fingerprint(other) for other in others]
    assert sum(same) == 1 and hash(passes.fingerprint(value)) is not None


# Constants


def folded(xp, fold, statements, returned):
    graph = xp.fx.Graph()
    inner = build(xp, [("get_attr", [0], {}), ("get_attr", [1], {}), *statements], returned)
    graph.output(graph.graph_copy(inner, {}))
    for node in graph.nodes:
        if node.args and node.args[1:] == node.args[:1]:  # x + x counts as two users in torch's pass
            node.args = (node.args[0], 2)
    c, d = xp.arange(2, dtype=xp.float64) - 3, xp.ones(2, dtype=xp.float64) * 0.5
    module = xp.fx.GraphModule({"c": c, "d": d}, graph)
    fold(module)
    values = [getattr(module, node.target).tolist() for node in module.graph.nodes if node.op == "get_attr"]
    names = [node.name for node in module.graph.nodes]
    x, y = xp.ones(2, dtype=xp.float64), xp.arange(2, dtype=xp.float64)
    return values, names, [each.tolist() for each in module(x, y)] if "rand_like" not in str(statements) else None


@given(
    statements_of(["add", "mul", "neg", "torch.add", "rand_like"]).map(
        lambda some: [
            (name, (places * 2)[: 1 if name in ("neg", "rand_like") else 2], kwargs if "add" in name else {})
            for name, places, kwargs in some
        ]
    ),
    st.lists(st.integers(0, 15), min_size=1, max_size=3),
)
def test_constants_are_folded(statements, returned):
    assert folded(rl, passes.constant_fold, statements, returned) == folded(torch, constant_fold, statements, returned)
