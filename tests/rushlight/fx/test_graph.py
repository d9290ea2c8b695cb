"""Graphs and their nodes are made, linked, changed, checked and shown as torch.fx does it."""

import copy
import operator
import warnings
from collections import namedtuple

import pytest
import torch
from both import FRAMEWORKS, agree
from hypothesis import given
from hypothesis import strategies as st
from sweep import in_one_test

import rushlight as rl

Pair = namedtuple("Pair", "first second")


def small(xp):
    """x + y, its relu, and a call that uses both twice; the output is the last."""
    graph = xp.fx.Graph()
    x, y = graph.placeholder("x"), graph.placeholder("y", default_value=None)
    total = graph.call_function(operator.add, (x, y))
    relu = graph.call_method("relu", (total,))
    cat = graph.call_function(xp.cat, ([total, relu, total],), {"dim": 0})
    graph.output((cat, {"x": x}))
    return graph


def shown(graph):
    nodes = [
        [n.op, n.name, n.args, n.kwargs, n.all_input_nodes, list(n.users), n.type, n.prev.name, n.next.name]
        for n in graph.nodes
    ]
    return [str(graph), len(graph.nodes), [str(node) for node in nodes], [n.name for n in reversed(graph.nodes)]]


# Arguments


@pytest.mark.parametrize(
    "arg",
    [
        (1, [2, {"a": 3, "b": (4,)}], slice(5, 6), range(3)),
        Pair(1, [2, Pair(3, None)]),
        [],
        (),
        {"a": slice(None)},
        "abc",
    ],
)
def test_mapping_an_argument_goes_through_its_containers_and_makes_them_immutable(arg):
    def program(xp):
        met = []
        mapped = xp.fx.node.map_aggregate(arg, lambda x: met.append(x) or x)
        kinds = []
        xp.fx.node.map_aggregate([mapped], lambda x: None)

        def walk(a):
            kinds.append(type(a).__name__)
            for item in a.values() if isinstance(a, dict) else a if isinstance(a, (list, tuple)) else ():
                walk(item)

        walk(mapped)
        return [met, kinds, mapped]

    agree(program)


@pytest.mark.parametrize("change", ["append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort"])
def test_a_list_of_a_node_cannot_be_changed(change):
    agree(lambda xp: getattr(xp.fx.Graph().call_function(len, ([1, 2],)).args[0], change)(1))


def test_a_dict_of_a_node_cannot_be_changed_and_both_can_be_hashed_and_copied():
    agree(lambda xp: xp.fx.Graph().call_function(len, ({"a": 1},)).args[0].update(b=2))
    agree(lambda xp: xp.fx.Graph().call_function(len, (), {"a": 1}).kwargs.__setitem__("a", 2))
    agree(lambda xp: hash(xp.fx.Graph().call_function(len, ([1],)).args[0]) == hash((1,)))
    agree(lambda xp: copy.deepcopy(xp.fx.Graph().call_function(len, ([1, {"a": [2]}],)).args))


# Nodes


@in_one_test
@pytest.mark.parametrize(
    "make",
    [
        lambda graph: graph.create_node("call_function", "add"),
        lambda graph: graph.create_node("call_method", len),
        lambda graph: graph.create_node("call", "add"),
        lambda graph: graph.create_node("call_method", "add", [1]),
        lambda graph: graph.create_node("call_method", "add", (), [1]),
        lambda graph: graph.find_nodes(op="call_function"),
        lambda graph: graph.erase_node(next(iter(graph.nodes))),
        lambda graph: graph.erase_node(next(n for n in graph.nodes if n.op == "output")),
        lambda graph: graph.inserting_before(graph.__class__().placeholder("x")),
        lambda graph: next(iter(graph.nodes)).append(graph.__class__().placeholder("x")),
        lambda graph: graph.output_node(),
        lambda graph: graph.__class__().output_node(),
        lambda graph: graph.output_node().insert_arg(5, 1),
        lambda graph: graph.output_node().update_arg(1, 1),
        lambda graph: graph.call_module("layer").is_impure(),
    ],
)
def test_what_is_wrong_raises_as_in_torch(make):
    agree(lambda xp: str(make(small(xp))))


def test_who_uses_a_node_follows_its_arguments():
    def program(xp):
        graph, seen = small(xp), []
        x, y, total, relu, cat, output = graph.nodes
        relu.args = (x, [y, {"k": slice(total, None)}])
        seen.append(shown(graph))
        cat.kwargs = {"dim": relu, "out": x}
        seen.append(shown(graph))
        cat.update_arg(0, (y, y))
        cat.update_kwarg("dim", y)
        cat.insert_arg(0, total)
        seen.append(shown(graph))
        output.replace_input_with(x, relu)
        seen.append([y.replace_all_uses_with(x), shown(graph)])
        seen.append([total.replace_all_uses_with(y, lambda user: user is cat), shown(graph)])
        x.meta = {"val": 1}
        seen.append([cat.replace_all_uses_with(y, propagate_meta=True), y.meta, shown(graph)])
        return seen

    agree(program)


def test_metadata_are_not_put_over_others():
    def program(xp):
        graph = small(xp)
        x, y, *_ = graph.nodes
        x.meta["a"], y.meta["b"] = 1, 2
        x.replace_all_uses_with(y, propagate_meta=True)

    agree(program)


def test_a_node_can_be_renamed_and_its_name_stays_taken():
    def program(xp):
        graph = small(xp)
        x, y, total, *_ = graph.nodes
        total._rename("sum")
        y._rename("y")
        x._rename("add")
        return [shown(graph), graph.call_function(operator.add, (x, y)).name, graph.call_method("sum", (x,)).name]

    agree(program)


def test_impure_is_what_writes_draws_or_ends():
    def program(xp):
        aten, graph = xp.ops.aten, xp.fx.Graph()
        x = graph.placeholder("x")
        targets = [
            operator.add, operator.setitem, xp.relu, xp.rand_like, xp.bernoulli, xp.randn, xp.relu_, xp.dropout,
            xp.nn.functional.dropout, aten.add.Tensor, aten.add_.Tensor, aten.relu, aten.relu_, aten.add.out, aten.rand_like,
            aten.rand_like.default, aten.bernoulli.default, aten.randn.default, aten.uniform_.default, aten.randperm.default,
            aten.copy_.default, aten.view.default, aten.full.default, aten.empty_like.default, aten.index_put_.default,
        ]  # fmt: skip
        nodes = [x, graph.call_method("add_", (x, 1)), graph.get_attr("w"), graph.output(x)]
        nodes += [graph.call_function(target, (x,)) for target in targets]
        return [[str(node), node.is_impure(), node.is_impure(impure_random=False)] for node in nodes]

    agree(program)


def test_a_function_can_be_said_to_have_an_effect():
    def program(xp):
        def function(x):
            return x

        node = xp.fx.Graph().call_function(function, (1,))
        before = node.is_impure()
        return [before, xp.fx.has_side_effect(function) is function, node.is_impure()]

    agree(program)


# Names


@in_one_test
@pytest.mark.parametrize(
    "target",
    [
        "relu",
        "ReLU",
        "twoWords",
        "ALL_CAPS",
        "__getitem__",
        "_private",
        "sum",
        "if",
        "a.b.0",
        "0",
        "x_1",
        "_",
        "__",
        "layer1",
    ],
)
def test_nodes_are_named_after_what_they_call(target):
    def program(xp):
        graph = xp.fx.Graph()
        return [
            [graph.create_node(op, target).name for op in ("call_method", "get_attr", "placeholder")] for _ in range(2)
        ]

    agree(program)


def test_functions_name_their_nodes():
    def program(xp):
        aten, functional = xp.ops.aten, xp.nn.functional
        targets = [
            operator.getitem,
            operator.and_,
            operator.iadd,
            xp.sum,
            xp.relu,
            xp.relu_,
            aten.add.Tensor,
            aten.add,
            getattr,
        ]
        targets += [aten._softmax.default, functional.relu, functional.gelu, xp.Tensor.add, Pair, len, max]
        graph = xp.fx.Graph()
        return [graph.call_function(target).name for target in targets * 2]

    agree(program)


def test_a_name_can_be_wished_for():
    def program(xp):
        graph = xp.fx.Graph()
        wishes = ["a", "a", "a_5", "a", "not a name", "1", "if", "", "a_5", "sum"]
        return [graph.create_node("call_method", "m", (), {}, wish).name for wish in wishes]

    agree(program)


# The list of nodes


def test_nodes_go_where_the_insert_point_is():
    def program(xp):
        graph = small(xp)
        x, _, total, relu, *_ = graph.nodes
        with graph.inserting_before(relu):
            graph.call_method("a", (total,))
            graph.call_method("b", (total,))
            with graph.inserting_after(x):
                graph.call_method("c", (x,))
                graph.call_method("d", (x,))
            graph.call_method("e", (total,))
        with graph.inserting_before():
            graph.placeholder("first")
        with graph.inserting_after():
            graph.call_method("last", (x,))
        graph.inserting_before(total)
        graph.call_method("stays", (x,))
        return shown(graph)

    agree(program)


def test_nodes_know_which_comes_first():
    def program(xp):
        graph = small(xp)
        nodes = list(graph.nodes)
        nodes[1].append(nodes[4])
        nodes[3].prepend(nodes[5])
        nodes[2].prepend(nodes[2])
        with graph.inserting_after(nodes[1]):
            nodes += [graph.call_method("m") for _ in range(3)]
        order = [[a < b, a <= b, a > b, a >= b] for a in nodes for b in nodes]
        return [order, sorted(nodes), max(nodes), list(graph.nodes) == sorted(nodes)]

    agree(program)


def test_the_list_may_change_while_one_walks_over_it():
    def program(xp):
        graph, met = small(xp), []
        for node in graph.nodes:
            met.append(node.name)
            if node.name == "add":
                node.next.replace_all_uses_with(node)
                graph.erase_node(node.next)
            if node.name == "cat":
                with graph.inserting_after(node):
                    node.replace_all_uses_with(graph.call_method("after", ()))
                graph.erase_node(node)
        return [met, shown(graph)]

    agree(program)


def test_an_erased_node_uses_nothing_and_is_erased_once():
    def program(xp):
        graph = small(xp)
        output = graph.output_node()
        cat = output.args[0][0]
        graph.erase_node(output)
        graph.erase_node(cat)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            graph.erase_node(cat)
        return [shown(graph), cat.args, cat.kwargs, cat.all_input_nodes, output.args, len(caught)]

    agree(program)


def test_nodes_are_found_by_kind_and_target():
    def program(xp):
        graph = small(xp)
        nodes = list(graph.nodes)
        graph.call_function(operator.add, (nodes[0], nodes[1]))
        nodes[2].prepend(list(graph.nodes)[-1])
        found = [graph.find_nodes(op="placeholder"), graph.find_nodes(op="call_function", target=operator.add)]
        found += [
            graph.find_nodes(op="call_method", target="relu"),
            graph.find_nodes(op="call_function", target=xp.relu),
        ]
        return [*found, graph.find_nodes(op="output"), graph.find_nodes(op="get_attr")]

    agree(program)


# Copies


def test_graphs_are_copied_into_others():
    def program(xp):
        graph, other, values = small(xp), xp.fx.Graph(), {}
        other.placeholder("x")
        result = other.graph_copy(graph, values)
        x = next(iter(graph.nodes))
        x.meta["val"] = [1]
        copied = other.node_copy(x)
        again = copy.deepcopy(graph)
        same = next(iter(again.nodes)).meta["val"] is x.meta["val"]
        output = other.graph_copy(graph, {x: copied}, return_output_node=True)
        return [result, shown(other), copied.meta, shown(again), same, str(output)]

    agree(program)


# Lint


@in_one_test
@pytest.mark.parametrize(
    "spoil",
    [
        lambda graph, nodes: None,
        lambda graph, nodes: nodes[3].append(nodes[2]),
        lambda graph, nodes: setattr(nodes[3], "args", (graph.__class__().placeholder("x"),)),
        lambda graph, nodes: setattr(nodes[3], "name", "x"),
        lambda graph, nodes: setattr(nodes[3], "op", "call"),
        lambda graph, nodes: setattr(nodes[3], "graph", graph.__class__()),
        lambda graph, nodes: graph.create_node("get_attr", "weight"),
        lambda graph, nodes: graph.create_node("get_attr", "weight.more"),
        lambda graph, nodes: graph.create_node("call_module", "layer"),
        lambda graph, nodes: graph.create_node("call_module", "weight"),
        lambda graph, nodes: graph.create_node("call_module", "none.layer"),
        lambda graph, nodes: setattr(nodes[3], "target", len),
    ],
)
@pytest.mark.parametrize("owned", [False, True])
def test_lint_finds_what_is_not_well_formed(spoil, owned):
    def program(xp):
        graph = small(xp)
        if owned:
            module = xp.nn.Module()
            module.weight, module.layer = xp.ones(2), xp.nn.ReLU()
            owner = xp.fx.GraphModule(module, graph)
            owner.weight, owner.layer = xp.ones(2), xp.nn.ReLU()
        spoil(graph, list(graph.nodes))
        graph.lint()

    agree(program)


# Showing


def test_a_graph_is_printed_with_types_defaults_and_users():
    def program(xp):
        graph = xp.fx.Graph()
        x = graph.placeholder("x", type_expr=xp.Tensor)
        y = graph.placeholder("y", type_expr=int, default_value=3)
        rest = graph.placeholder("*rest")
        w = graph.get_attr("layer.weight", type_expr=xp.Tensor)
        a = graph.call_function(xp.add, (x, w), {"alpha": y}, type_expr=xp.Tensor)
        b = graph.call_module(
            "layer", (a, "text", None, 0.5, xp.float64, xp.device("cpu"), [rest, (a,)]), {"k": {"a": a}}
        )
        c = graph.call_function(operator.getitem, (b, (slice(None, y), ..., None)))
        d = graph.call_function(getattr, (c, "shape"), type_expr=list[int])
        graph.output((d, [c], {"k": True}), type_expr=tuple)
        lines = [node.format_node() for node in graph.nodes]
        return [str(graph), lines, repr(a), str(graph.nodes.__class__.__name__ != ""), graph.python_code("self").src]

    agree(program)


def test_a_node_shows_its_tensor_if_asked():
    def program(xp):
        graph = small(xp)
        node = graph.find_nodes(op="call_method")[0]
        node.meta["val"] = xp.ones(2, 3, dtype=xp.float16).t()
        seen = [node.format_node(include_tensor_metadata=True), node.format_node()]
        node.meta = {"example_value": xp.ones(2, dtype=xp.int64, device="meta")}
        return [*seen, node.format_node(include_tensor_metadata=True)]

    agree(program)


def test_a_graph_is_printed_as_a_table(capsys):
    small(rl).print_tabular()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["opcode", "name", "target", "args", "kwargs"] and set(lines[1]) == {"-", " "}
    assert lines[5].split(None, 3)[:3] == ["call_method", "relu", "relu"]
    assert lines[6].endswith("{'dim': 0}")


# Everything at random


@st.composite
def edits(draw):
    place = st.integers(0, 20)
    kinds = [
        "new",
        "args",
        "replace",
        "input",
        "append",
        "prepend",
        "erase",
        "before",
        "after",
        "copy",
        "dead",
        "rename",
    ]
    return [
        (draw(st.sampled_from(kinds)), draw(place), draw(place), draw(place)) for _ in range(draw(st.integers(0, 12)))
    ]


def edit(xp, steps):
    graph, seen = small(xp), []
    for kind, i, j, k in steps:
        nodes = list(graph.nodes)
        if not nodes:
            break
        a, b, c = (nodes[n % len(nodes)] for n in (i, j, k))
        try:
            match kind:
                case "new":
                    graph.call_function((operator.add, xp.relu, operator.getitem)[i % 3], (b, [c, {"k": b}]))
                case "args":
                    a.args = (b, (c, slice(b, c)))
                case "replace":
                    a.replace_all_uses_with(b)
                case "input":
                    a.replace_input_with(b, c)
                case "append":
                    a.append(b)
                case "prepend":
                    a.prepend(b)
                case "erase":
                    graph.erase_node(a)
                case "before":
                    with graph.inserting_before(a):
                        graph.call_method("m", (b, c))
                case "after":
                    with graph.inserting_after(a):
                        graph.call_method("m", (b, c))
                case "copy":
                    graph.node_copy(a, lambda n: n)
                case "dead":
                    seen.append(graph.eliminate_dead_code())
                case "rename":
                    a._rename(b.name)
        except (RuntimeError, AssertionError) as error:
            seen.append(type(error).__name__)
    code = graph.python_code("self").src.replace(
        "pass\n    ", ""
    )  # torch leaves out the `pass` of a function of inputs alone
    return [seen, shown(graph), code, [[a < b for a in graph.nodes] for b in graph.nodes]]


@given(edits())
def test_any_edits_leave_the_same_graph(steps):
    ours, theirs = (edit(xp, steps) for xp in FRAMEWORKS)
    assert str(ours).replace("rushlight", "torch") == str(theirs)


def test_rushlight_does_not_need_torch_for_this():
    assert rl.fx.Graph is not torch.fx.Graph
