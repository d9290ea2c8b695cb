"""Lab 07, joint graphs: forward and backward, what is saved and computed again, the two halves, and the epilogue."""

from __future__ import annotations

import contextlib
import math

from ...engine.check import program
from ..cases import drawn, listed, rows, several, type_name, when
from . import drawn_programs as aot

# Joint ---------------------------------------------------------------------------------------------------------------


def _joints(st):
    kinds = aot.PURE.keys() - {"stack", "cat"} | aot.VIEWS.keys() | aot.SEVERAL.keys()
    cases = aot.drawn_program(
        kinds, True, needs=several(bool, 3, 3), kind=["list", "tuple", "numbers", "parameters", "same"]
    )
    return cases(st).map(lambda case: case | {"needs": case["needs"][: len(case["outputs"])]})


def joint_results(xp, joint, inputs, statements, outputs, needs, kind):
    """With the kind "numbers" an argument and an output are not tensors, and another output does not depend on a primal. With the
    kind "parameters" primals are Parameters, and the first one is also an output. With the kind "same" primals of the same sizes
    are one tensor, and none is a leaf. A gradient of an output that arrives twice shows a second backward pass."""
    program, outside, numbers = aot.function_of(xp, statements, outputs), xp.ones(2).requires_grad_(), kind == "numbers"
    arrived = []

    def function(*inputs):
        outs = program(*inputs[: len(inputs) - numbers])
        for out in {id(out): out for out in outs if out.grad_fn is not None}.values():
            out.register_hook(lambda grad: arrived.append("gradient"))
        outs = [None, *outs, outside * 2] if numbers else [*outs, inputs[0]] if kind == "parameters" else outs
        return tuple(outs) if kind == "tuple" else outs

    primals = aot.inputs_of(xp, inputs) + [2] * numbers
    if kind == "same":
        primals = [primal * 1 for primal in primals]
        primals = [next(other for other in primals if other.shape == primal.shape) for primal in primals]
    if kind == "parameters":
        primals = [xp.nn.Parameter(primal) if primal.requires_grad else primal for primal in primals]
    needs = (True, *needs, True) if numbers else (*needs, True) if kind == "parameters" else needs
    likes = [out if hasattr(out, "shape") else outside for out in function(*primals)]
    tangents = [aot.numbers(xp, like.shape, 0.5 + i) for i, (like, needed) in enumerate(zip(likes, needs)) if needed]
    outs, grads = joint(function, primals, tangents, needs)
    return {
        "are": [type(outs).__name__, type(grads).__name__],
        "outputs": [None if out is None else [aot.in_order(out), out.requires_grad] for out in outs],
        "gradients": [None if grad is None else aot.in_order(grad) for grad in grads],
        "arrived": arrived,
        "kept": [x.grad is None for x in (*primals, outside) if hasattr(x, "grad") and x.is_leaf],
    }


M = [[3, 3], True]
JOINTS = rows(
    "inputs statements outputs needs",
    ([M], [["exp", 0, 0]], [0], [True]), ([M, M], [["mul", 0, 1], ["sum", 2, 0]], [0, 1], [True, True]),
    ([M, M], [["mul", 0, 1], ["sum", 2, 0]], [0, 1], [False, True]), ([M, M], [["mul", 0, 1], ["cos", 0, 0]], [0], [True]),
    ([M, [[3], False]], [["mul", 0, 1]], [0], [True]),
    ([[[3], False], M], [["mul", 0, 1], ["exp", 0, 0]], [0, 1], [True, True]),
    ([[[3], False]], [["exp", 0, 0]], [0], [True]), ([M], [["exp", 0, 0]], [0], [False]),
    ([M], [["exp", 0, 0], ["detach", 1, 0]], [0, 1], [True, True]), ([M], [["exp", 0, 0], ["detach", 1, 0]], [0], [True]),
    ([M], [["max", 0, 0]], [0, 1], [True, True]), ([M], [["exp", 0, 0]], [1, 0], [True, True]),
    ([M], [["exp", 0, 0]], [0, 0], [True, True]),
)  # fmt: skip


@program(
    "aot.joint.joint_forward_backward",
    show=aot.as_code,
    cases=_joints,
    edges=[case | {"kind": kind} for kind in ("tuple", "numbers", "parameters", "same") for case in JOINTS],
    hint=when(
        lambda case: case["kind"] == "numbers",
        "with the kind 'numbers' the last primal is 2, the first output is None and has a tangent, and the last output also has a "
        "tangent but does not depend on a primal",
    ),
    draws=30,
)
def forward_and_backward(xp, **case):
    calls = []

    def joint(function, *given):
        def counted(*args):
            calls.append(args)
            return function(*args)

        kind = tuple if case["kind"] == "tuple" else list
        return xp.aot.joint.joint_forward_backward(counted, *map(kind, given))

    return joint_results(xp, joint, **case) | {"calls": len(calls)}


@forward_and_backward.oracle
def _(torch, **case):
    from types import SimpleNamespace

    from torch._functorch._aot_autograd.graph_capture_wrappers import create_joint
    from torch.fx.experimental.proxy_tensor import make_fx

    def joint(function, primals, tangents, needs):
        made = create_joint(lambda *args: (list(function(*args)), needs), aot_config=SimpleNamespace(no_tangents=False))
        outs, grads = make_fx(made)(primals, tangents)(primals, tangents)
        flags = [like is not None and like.requires_grad for like in function(*primals)]
        return [x if x is None else x.detach().requires_grad_(flag) for x, flag in zip(outs, flags)], list(grads)

    return joint_results(torch, joint, **case) | {"calls": 1}


# What may be computed again ------------------------------------------------------------------------------------------


NOISES = {
    "uniform": lambda xp, x: xp.rand_like(x),
    "normal": lambda xp, x: xp.randn_like(x),
    "whole": lambda xp, x: xp.randint_like(x, 2, 9),
    "coins": lambda xp, x: xp.bernoulli(x.detach() * 0 + 0.5),
}


def _with_noise(xp, statements, outputs, own, noise):
    """The program. Its first input is multiplied by exp of noise of this kind, if there is one."""
    program = aot.function_of(xp, statements, outputs, own)
    return program if noise is None else lambda x, *others: program(x * NOISES[noise](xp, x).exp(), *others)


def joint_of(xp, inputs, statements, outputs, own=False, noise=None):
    """The joint graph of a program, and how many of its outputs are the forward graph's; None if there is no backward pass."""
    function, values = _with_noise(xp, statements, outputs, own, noise), aot.inputs_of(xp, inputs)
    meta = xp.aot.joint.collect_metadata(function, values)
    if not xp.aot.joint.needs_autograd(meta):
        return None
    return xp.aot.joint.joint_graph(function, values, meta), meta.num_forward_outputs


def partitioned_in_torch(torch, inputs, statements, outputs, own=False, noise=None):
    """In torch: the joint graph, the banned and the saved nodes, and the two graphs; None if there is no backward pass."""
    from unittest import mock

    from functorch.compile import aot_function
    from torch._functorch import config, partitioners

    class Enough(BaseException):
        """Stop before a run: torch 2.13 cannot always regenerate views from the outputs of this graph."""

    seen, solve = {}, partitioners.solve_min_cut

    def watched(graph, info, options):
        seen["saved"], seen["banned"] = solve(graph, info, options)
        seen["graph"], seen["forward"] = graph, set(info.required_fw_nodes)
        return seen["saved"], seen["banned"]

    def partition(joint, args, **options):
        seen["joint"] = aot.shown(joint.graph)
        halves = partitioners.min_cut_rematerialization_partition(joint, args, **options)
        seen["halves"] = [aot.shown(half.graph) for half in halves]
        raise Enough

    def nothing(module, args):
        return module

    with mock.patch.object(partitioners, "solve_min_cut", watched), config.patch(donated_buffer=False):
        function = _with_noise(torch, statements, outputs, own, noise)
        with contextlib.suppress(Enough):
            aot_function(function, nothing, nothing, partition)(*aot.inputs_of(torch, inputs))
            return None
    return seen


def _wide(statements, outputs, *shapes):
    return {"inputs": [[shape, True] for shape in shapes or [[8, 8]]], "statements": statements, "outputs": outputs}


RECOMPUTED = [
    _wide([["exp", 0, 0], ["mul", 1, 1]], [0]), _wide([["mm", 0, 1], ["tanh", 2, 0], ["mm", 3, 1]], [0], [8, 8], [8, 8]),
    _wide([["tanh", 0, 0], ["t", 1, 0], ["mm", 2, 0]], [0]),
    _wide([["tanh", 0, 0], ["t", 1, 0], ["t", 2, 0], ["mm", 3, 0]], [0]),
    _wide([["cos", 0, 0], ["t", 1, 0], ["mm", 2, 0]], [0]), _wide([["cos", 0, 0], ["t", 1, 0], ["t", 2, 0], ["mm", 3, 0]], [0]),
    _wide([["cos", 0, 0], ["add", 1, 0], ["mm", 2, 2]], [0]), _wide([["sigmoid", 0, 0], ["mul", 1, 0], ["mm", 2, 2]], [0, 1]),
    _wide([["rows", 0, 0], ["mul", 0, 1], ["exp", 2, 0]], [0]),
    _wide([["rows", 0, 0], ["mul", 0, 1], ["exp", 2, 0]], [0], [2, 3]),
    _wide([["rows", 0, 0], ["mul", 0, 1], ["exp", 2, 0]], [0], [2, 4]),
    _wide([["rows", 0, 0], ["mul", 0, 1], ["exp", 2, 0]], [0], [2, 5]),
    _wide([["amax", 0, 0], ["sub", 0, 1], ["exp", 2, 0], ["rows", 3, 0], ["div", 3, 4]], [0]),
    _wide([["softmax", 0, 0], ["mul", 1, 0], ["sum", 2, 0]], [0]), _wide([["split", 0, 0], ["mul", 1, 2], ["exp", -1, 0]], [0]),
    _wide([["max", 0, 0], ["mul", 1, 0], ["cos", -1, 0]], [0]), _wide([["cos", 0, 0], ["cat", 1, 0], ["mul", 2, 2]], [0]),
    _wide([["cos", 0, 0], ["stack", 1, 0], ["mul", 2, 2]], [0]),
    _wide([["cos", 0, 0], ["first", 1, 0], ["unsqueeze", 2, 0], ["mul", 3, 3]], [0]),
    _wide([["cos", 0, 0], ["sum", 1, 0], ["mul", 2, 1]], [0, 1]),
    _wide([["cos", 0, 0], ["t", 2, 0], ["mm", 3, 1]], [0]) | {"inputs": [[[8, 8], True], [[8, 8], False]]},
    _wide([["masked", 0, 1]], [0], [8, 8], [8, 8]), _wide([["masked", 0, 0]], [0]),
    _wide([["picked", 0, 1], ["mul", 3, 2]], [0]) | {"inputs": [[[8], False], [[2, 3], False], [[2], True]]},
]  # fmt: skip


def may_be_computed_again(xp, **case):
    """Of each node of the forward graph: whether the backward graph may compute it again."""
    joint = joint_of(xp, **case)
    if joint is None:
        return "no backward"
    graph = xp.fx.passes.common_subexpressions(joint[0].graph)
    info = xp.aot.partition.classify_nodes(graph, joint[1])
    if not info.required_bw:
        return "no backward"
    nodes = [node for node in graph.nodes if node in info.required_fw]
    return {node.name: xp.aot.partition.may_recompute(node, info) for node in nodes}


def may_be_computed_again_in_torch(torch, **case):
    from torch._functorch import config

    with config.patch(ban_recompute_used_far_apart=False, ban_recompute_long_fusible_chains=False):
        partitioned = partitioned_in_torch(torch, **case)
    if partitioned is None or "graph" not in partitioned:
        return "no backward"
    return {
        node.name: node not in partitioned["banned"]
        for node in partitioned["graph"].nodes
        if node in partitioned["forward"]
    }


# The minimum cut ------------------------------------------------------------------------------------------------------


def _width(st):
    return st.one_of(st.integers(0, 6), st.integers(1, 3), st.none())


def _pipes(text, ends="st"):
    pipes = [pipe.split("-") for pipe in text.split()]
    return {"pipes": [[a, b, None if w == "inf" else int(w)] for a, w, b in pipes], "ends": list(ends)}


NETWORKS = [
    _pipes(""), _pipes("s-3-t"), _pipes("t-3-s"), _pipes("s-inf-t"), _pipes("s-3-a a-3-t"), _pipes("s-3-a a-2-t"),
    _pipes("s-2-a a-3-t"), _pipes("s-inf-a a-2-t"), _pipes("s-inf-a a-2-b b-inf-t"), _pipes("s-2-a a-inf-b b-2-t"),
    _pipes("s-1-a s-1-b a-1-b a-1-t b-1-t"), _pipes("s-1-a a-1-d d-1-t s-1-b b-1-c c-1-t a-1-c"),
    _pipes("s-1-a s-1-b a-1-c b-1-c b-1-d a-1-d c-1-t d-1-t"),
    _pipes("s-5-a s-5-b a-3-b b-2-a a-4-c b-4-d c-3-d d-1-c c-5-t d-5-t"), _pipes("s-2-a a-2-b b-2-a b-2-t"),
    _pipes("s-2-a a-5-a a-1-t b-3-t s-0-c c-4-t"), _pipes("s-4-a b-4-t a-0-b c-2-d"),
    _pipes("s-1-a a-inf-b b-inf-a b-1-t s-1-b"), _pipes("s-3-a a-3-b b-3-t s-1-c c-inf-b"), _pipes("s-1-a a-5-b b-5-c c-5-t"),
    _pipes("s-1-a a-5-b b-5-c c-5-t d-1-a e-1-d"), _pipes("s-1-c a-2-b b-1-c d-4-t t-1-b b-1-t c-4-b c-2-d s-3-a t-3-d"),
    _pipes("s-inf-a a-2-t a-inf-b b-inf-t"),
    _pipes("a-1-b b-1-d a-1-d", "ad"), _pipes("s-2-t", "xy"), _pipes("s-1-a s-1-b a-1-c a-1-d b-1-c c-1-t d-1-t"),
    _pipes("s-1-c s-1-b b-1-c c-1-d b-1-a d-1-t a-1-t c-1-a"), _pipes("s-1-t a-2-a b-0-c"), _pipes("s-70000-a a-50000-t"),
    _pipes(f"s-{2**53 + 1}-t"), _pipes(f"s-{10**30}-a a-inf-t"),
]  # fmt: skip


@program(
    "aot.partition.minimum_cut",
    cases=drawn(
        pipes=several(listed([*"sabcdet"], [*"sabcdet"], _width), 0, 16),
        ends=[["s", "t"], ["s", "t"], ["a", "d"], ["x", "y"]],
    ),
    edges=NETWORKS,
)
def the_narrowest_cut(xp, pipes, ends):
    capacities = {(a, b): math.inf if width is None else width for a, b, width in pipes}
    kept = dict(capacities)
    try:
        pair = xp.aot.partition.minimum_cut(capacities, *ends)
    except ValueError:
        return "unbounded"
    cost, before = pair
    seen = {
        "type": type_name(pair),
        "cost": int(cost),
        "before the cut": sorted(before),
        "untouched": capacities == kept,
    }
    return seen | {"a set": isinstance(before, (set, frozenset))}


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
    return {"type": "sequence", "cost": int(cost), "before the cut": sorted(before), "untouched": True, "a set": True}


# Two graphs ----------------------------------------------------------------------------------------------------------


def _extractions(st):
    wanted = st.one_of(st.integers(0, 12), st.integers(0, 12), st.sampled_from([None, 0.5]))
    more = {"constant": bool, "starts": several((0, 12), 0, 4), "ends": several(wanted, 0, 4)}
    return aot.drawn_program(aot.PURE | aot.VIEWS | aot.SEVERAL, False, **more)(st).map(aot.without_outputs)


def extracted(xp, extract, inputs, statements, constant, starts, ends):
    outside = xp.ones(())

    def function(*values):
        values = aot.run(xp, statements, *values)
        return [*values, values[-1] + outside] if constant else values

    graph = aot.make_fx_of(xp)(function)(*aot.inputs_of(xp, inputs)).graph
    nodes = [node for node in graph.nodes if node.op != "output"]
    for i, node in enumerate(nodes):
        node.meta["position"] = i
    before = _with_meta(graph)
    starts = list(dict.fromkeys(nodes[index % len(nodes)] for index in starts))
    ends = [nodes[-1 - index % len(nodes)] if isinstance(index, int) else index for index in ends]
    kind = tuple if constant else list
    try:
        extracted = extract(graph, kind(starts), kind(ends))
    except AssertionError:
        return "raises"
    return {
        "graph": aot.shown(extracted),
        "a tuple": isinstance(extracted.output_node().args[0], tuple),
        "metadata": [aot.metadata(node.meta.get("val")) for node in extracted.nodes if node.op != "output"],
        "another entry": [node.meta.get("position") for node in extracted.nodes if node.op != "output"],
        "untouched": _with_meta(graph) == before,
    }


def _with_meta(graph):
    """A graph as text, and the names of the entries that each node's `meta` has."""
    return aot.shown(graph), [[*node.meta] for node in graph.nodes]


# arg0_1, arg1_1, mul, exp, add, split, three getitems, add_1: `ends` counts from the end
CHAIN = [["mul", 0, 1], ["exp", 2, 0], ["add", 3, 0], ["split", 4, 0], ["add twice", 3, 2]]
EXTRACTED = [
    {"inputs": [M, M], "statements": statements, "constant": constant, "starts": starts, "ends": ends}
    for statements, constant, starts, ends in (
        (CHAIN, False, [0, 1], [0, 5]), (CHAIN, False, [1, 0], [5]), (CHAIN, False, [0, 1], [None, 5, 0.5]),
        ([], True, [], [None, 1, 0.5]), (CHAIN, False, [], [None, 9, 9]), ([["neg", 0, 0]], False, [], [None, 12]),
        (CHAIN, False, [3, 0], [5, 3]), (CHAIN, False, [3], [0]), (CHAIN, False, [3, 2], [0]), (CHAIN, False, [0, 1, 3], [6, 7]),
        (CHAIN, False, [0, 1, 3], [6, 6, 9]), (CHAIN, False, [6], [3]), (CHAIN, False, [0], [5]), (CHAIN, False, [0, 3], []),
        (CHAIN, False, [], [None]), (CHAIN, False, [], [9]), (CHAIN, True, [0, 1], [0]), (CHAIN, True, [9], [0]),
    )
]  # fmt: skip


@program("aot.partition.extract_graph", cases=_extractions, edges=EXTRACTED, draws=60, show=aot.as_code)
def part_of_a_graph(xp, **case):
    return extracted(xp, xp.aot.partition.extract_graph, **case)


@part_of_a_graph.oracle
def _(torch, **case):
    from torch._functorch.partitioners import _extract_graph_with_inputs_outputs

    extract = _extract_graph_with_inputs_outputs
    return extracted(torch, lambda graph, starts, ends: extract(graph, starts, ends, [None] * len(ends)), **case)


# After the graph has run ---------------------------------------------------------------------------------------------


def memory_of(x):
    """Where a tensor's elements are: the strides of dimensions with more than one element, and the offset."""
    steps = [stride if size > 1 else None for size, stride in zip(x.shape, x.stride())]
    return [steps, x.storage_offset()] if x.numel() else "nowhere"


def called(xp, compiled, inputs, statements, outputs):
    """The effects of a call: results and the tensors that share their memory, the inputs afterwards, and gradients."""
    leaves = aot.inputs_of(xp, [[shape, bool(grad)] for shape, grad in inputs])
    given = [leaf * 1 if grad == "computed" else leaf for leaf, (_, grad) in zip(leaves, inputs)]
    outs = compiled(aot.function_of(xp, statements, outputs))(*given)
    everything = [*given, *outs]
    storages = [x.untyped_storage().data_ptr() for x in everything]
    sharing = [[j for j, other in enumerate(storages) if other == storage] for storage in storages]
    seen = {
        "results": [[aot.in_order(out), out.requires_grad] for out in outs],
        "inputs": [[aot.in_order(x), x.requires_grad, x.is_leaf] for x in given],
        "memory": sharing,
        "strides and offset": [memory_of(x) if len(sharing[i]) > 1 else None for i, x in enumerate(everything)],
        "the same": [[j for j, x in enumerate(given) if x is out] for out in outs],
        "a list": isinstance(outs, list),
    }
    loss = [(x * x).sum() for x in everything if x.requires_grad]
    if loss:
        sum(loss).backward()
    return seen | {"gradients": [None if x.grad is None else aot.in_order(x.grad) for x in leaves]}


def _calls(st):
    kinds = {*aot.VIEWS, *aot.WRITES, *aot.MORE_WRITES, "cos", "double", "mul", "detach", "unbind"}
    inputs = several(listed(aot.SHAPES, [False, True, "computed"]), 1, 2)
    cases = aot.drawn_program(kinds, False, inputs=inputs, args_and_outs=[None, "lists", "tuples"])
    return cases(st).map(aot.without_writes_to_expanded).map(_without_unfit_writes).map(_compiled_if_recorded)


def _without_history(case):
    return not any(history for _, history in case["inputs"])


def _compiled_if_recorded(case):
    """Only without a backward pass `run_epilogue` is all that follows the graph."""
    return case if _without_history(case) else case | {"args_and_outs": None}


def _without_unfit_writes(case):
    """A detached tensor may share memory with an input, and gets no history of its own from what is written to it. An input
    that is turned in place after the call is no longer the tensor that was saved for the backward pass: `aot_function` raises."""
    detached = any(operation == "detach" for operation, _, _ in case["statements"])
    writes = ("add_", "copy_") if detached else ()
    if any(history for _, history in case["inputs"]):
        writes += (*aot.METADATA_WRITES,)
    statements = [["double_" if operation in writes else operation, i, j] for operation, i, j in case["statements"]]
    return case | {"statements": statements}


def _called(grad, statements, outputs, *more):
    return {"inputs": [[[2, 3], grad], *more], "statements": statements, "outputs": outputs}


CALLED = [
    _called(False, [["double", 0, 0]], [0]), _called(True, [["double", 0, 0]], [0]), _called(False, [["double_", 0, 0]], [0]),
    _called(False, [["double_", 0, 0], ["exp", 0, 0]], [0]), _called("computed", [["double_", 0, 0], ["exp", 0, 0]], [0, 2]),
    _called(True, [["quietly double_", 0, 0], ["exp", 0, 0]], [0]), _called(True, [["exp", 0, 0]], [1, 0]),
    _called(False, [["t", 0, 0], ["first", 0, 0]], [0, 1]), _called(True, [["t", 0, 0], ["exp", 0, 0]], [0, 1]),
    _called(True, [["detach", 0, 0], ["exp", 0, 0]], [0, 1]), _called(True, [["detach", 0, 0], ["add_", 1, 1]], [0]),
    _called(True, [["detach", 0, 0], ["exp", 0, 0], ["double_", 1, 0]], [0, 1]),
    _called(True, [["exp", 0, 0], ["t", 1, 0], ["first", 1, 0]], [0, 1]),
    _called(True, [["exp", 0, 0], ["t", 1, 0], ["first", 1, 0]], [0, 1, 2]), _called(True, [["exp", 0, 0], ["t", 1, 0]], [0]),
    _called(True, [["exp", 0, 0], ["detach", 1, 0]], [0, 1]), _called(True, [["exp", 0, 0], ["unbind", 1, 0]], [0, 1]),
    _called(True, [["double_", 1, 0], ["exp", 0, 0], ["t", 3, 0], ["first", 3, 0]], [0, 1], [[3], False]),
    _called(True, [["double_", 1, 0], ["exp", 0, 0], ["t", 3, 0], ["first", 3, 0]], [0, 1, 2, 3], [[3], False]),
    _called(True, [["quietly double_", 0, 0], ["exp", 0, 0]], [0, 1], [[2, 3], False]),
    _called(False, [["quietly double_", 1, 0], ["exp", 1, 0]], [0, 1], [[2, 3], True]),
    _called(False, [["t_", 0, 0], ["exp", 0, 0]], [0]), _called(True, [["quietly turn", 0, 0]], [0]),
    _called(False, [["t_", 0, 0], ["double_", 0, 0], ["first", 0, 0]], [0, 1]),
    _called(False, [["last row_", 0, 0], ["exp", 0, 0]], [0]),
    _called(False, [["double_", 0, 0], ["t", 0, 0], ["double_", 1, 0]], [1, 2, 3], [[3], False]),
    _called(False, [["add_", 0, 1], ["add_", 1, 0], ["unsqueeze_", 1, 0]], [0], [[3], True]),
    _called(False, [["add_", 0, 1], ["fill_", 1, 0], ["unsqueeze_", 1, 0]], [2, 3], [[3], False]),
]  # fmt: skip
CALLED = [case | {"args_and_outs": None} for case in CALLED] + [
    case | {"args_and_outs": kind} for kind in ("lists", "tuples") for case in CALLED if _without_history(case)
]


@program(
    "aot.runtime.run_epilogue",
    show=aot.as_code,
    cases=_calls,
    edges=CALLED,
    draws=60,
    hint=lambda case, mine, theirs: (
        "the compiled function raised an error, but torch's does not" if mine == "raises" else None
    ),
)
def compiled_calls(xp, args_and_outs, **case):
    def epilogue_of(function):
        """The graph and its epilogue, which gets lists or tuples. With tuples grad mode is off, which makes no difference here."""
        kind = {"lists": list, "tuples": tuple}[args_and_outs]

        def run(*args):
            meta = xp.aot.joint.collect_metadata(function, args)
            graph = xp.aot.joint.inference_graph(function, args, meta)
            outs = kind(graph(*args))
            with xp.set_grad_enabled(kind is list):
                return xp.aot.runtime.run_epilogue(meta, kind(args), outs)

        return run

    compiled = (lambda function: xp.aot.aot_function(function, xp.aot.nop)) if args_and_outs is None else epilogue_of
    return aot.result_or_raises(lambda: called(xp, compiled, **case))


@compiled_calls.oracle
def _(torch, args_and_outs, **case):
    return aot.result_or_raises(lambda: called(torch, lambda function: function, **case))


# Together ------------------------------------------------------------------------------------------------------------

JOINED = {*aot.PURE, *aot.VIEWS, *aot.WRITES, "max"}  # for unused parts torch makes zeros out of nothing


@program(
    "together.joint",
    show=aot.as_code,
    cases=lambda st: aot.drawn_program(JOINED, True, 8, 1, aot.WIDE)(st).map(aot.without_writes_to_expanded),
    edges=[case for case in RECOMPUTED if case["statements"][0][0] != "split"]
    + [_wide([["view", 0, 0], ["max", 1, 0]], [0, 1], [8])],
    draws=25,
)
def joint_graphs_and_what_is_saved(xp, **case):
    captured = aot.result_or_raises(lambda: joint_of(xp, **case, own=True))
    if captured in (None, "raises"):
        return captured
    joint, count = captured
    seen = aot.shown(joint.graph)
    halves = xp.aot.min_cut_rematerialization_partition(joint, num_fwd_outputs=count)
    return {"joint": seen, "halves": [aot.shown(half.graph) for half in halves]}


@joint_graphs_and_what_is_saved.oracle
def _(torch, **case):
    partitioned = aot.result_or_raises(lambda: partitioned_in_torch(torch, **case, own=True))
    if partitioned in (None, "raises"):
        return partitioned
    return {"joint": partitioned["joint"], "halves": partitioned["halves"]}
