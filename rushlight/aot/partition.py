"""The partitioner: it splits a joint graph into a forward and a backward graph, and chooses the tensors to save.

A value that the forward graph computes and the backward graph needs is either saved, which costs memory and bandwidth, or
recomputed from saved values, which costs time. To choose, the graph becomes a network of pipes, from the nodes that cannot be
recomputed to the nodes that the backward needs. A node is a pipe, and its capacity is the cost of saving its result. The nodes
in the minimum cut of the network are saved.

In PyTorch: `torch/_functorch/partitioners.py`. Left out: memory budgets, tags of activation checkpointing, generator states,
quantized activations.
"""

from __future__ import annotations

import heapq
import math
import operator
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rushlight.aten.strided import Tensor
from rushlight.fx import Graph, GraphModule, Node
from rushlight.fx.passes import common_subexpressions

# Operators by name, with all overloads, as in PyTorch's lists --------------------------------------------------------

_VIEWS = "alias as_strided expand permute select slice split squeeze t unsqueeze view"
_CHEAP = """
    _to_copy _unsafe_view abs acos acosh add addcdiv addcmul amax any arange argmax asin asinh atan atan2 atanh bitwise_and
    bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor broadcast_tensors ceil celu clamp clamp_max
    clamp_min clip clone copysign cos cosh deg2rad digamma div elu empty empty_like eq equal erf erfc erfinv exp exp2 expm1
    conj_physical float_power floor fmax fmin fmod frac full full_like gather gcd ge gelu gelu_backward gt hardshrink
    hardsigmoid hardtanh heaviside hypot index isfinite isinf isnan isneginf isposinf lcm ldexp le leaky_relu lerp lgamma
    lift_fresh_copy log log10 log1p
    log2 logaddexp logaddexp2 logical_and logical_not logical_or logical_xor logit lt masked_fill max maximum mean min minimum mish
    mul mvlgamma nan_to_num ne neg new_zeros ones polygamma positive pow rad2deg reciprocal relu remainder reshape round rrelu
    rsqrt rsub scalar_tensor selu sgn sigmoid sigmoid_backward sign signbit silu silu_backward sin sinc sinh softplus
    softshrink sqrt square std sub sum sum_to_size tan tanh tanh_backward threshold threshold_backward to triu true_divide
    trunc type_as var var_mean where xlogy zeros zeros_like
"""
VIEWS = frozenset(_VIEWS.split())
RECOMPUTABLE = VIEWS | frozenset(_CHEAP.split())
FUSIBLE = RECOMPUTABLE | {"rand_like", "randn_like"}


def operator_name(node: Node) -> str | None:
    """The name of the operator that a node calls, without its overload; "getitem" for `operator.getitem`."""
    if node.op != "call_function":
        return None
    return "getitem" if node.target is operator.getitem else node.target.schema.name


def is_view_node(node: Node) -> bool:
    """Whether a node calls an operator that returns a view."""
    return operator_name(node) in VIEWS


def is_fusible(a: Node, b: Node) -> bool:
    """Return whether `b`, which uses `a`, may be computed in one loop with `a`, so that `a` need not be in memory."""
    if operator_name(b) == "cat":
        return True
    return all(operator_name(node) in FUSIBLE or operator_name(node) == "getitem" for node in (a, b))


def size_of(node: Node) -> int:
    """The size of a node's result in bytes. For several tensors it is their sum."""

    def nbytes(x: Any) -> int:
        return x.numel() * x.dtype.itemsize if isinstance(x, Tensor) else 0

    value = node.meta.get("val")
    return sum(map(nbytes, value)) if isinstance(value, (list, tuple)) else nbytes(value)


# Nodes of the forward and of the backward ----------------------------------------------------------------------------


@dataclass
class NodeInfo:
    """Which nodes of a joint graph the forward and the backward pass need.
    Source: `torch/_functorch/partitioners.py`, `NodeInfo`."""

    required_fw: set[Node]  # the forward outputs need these
    required_bw: set[Node]  # nodes that depend on tangents, and backward outputs
    tangents_closure: set[Node]  # nodes that depend on tangents
    fw_order: dict[Node, int]  # the index of each among the nodes of `required_fw`
    dist_from_bw: dict[Node, int]  # the number of steps to the nearest node that the forward does not need


def is_tangent(node: Node) -> bool:
    """Whether a node is an input of the backward graph: a gradient of an output.
    Source: `torch/_functorch/partitioners.py`, `_is_tangent`."""
    return node.op == "placeholder" and "tangents" in node.target


def is_primal(node: Node) -> bool:
    """Whether a node is an input of the forward graph. Source: `torch/_functorch/partitioners.py`, `_is_primal`."""
    return node.op == "placeholder" and "tangents" not in node.target


FAR = 10**9


def classify_nodes(joint: Graph, num_fwd_outputs: int) -> NodeInfo:
    """Find which nodes of a joint graph the forward and the backward pass need.
    Source: `torch/_functorch/partitioners.py`, `classify_nodes`, and the beginning of
    `min_cut_rematerialization_partition`."""
    tangents_closure: set[Node] = set()
    for node in joint.nodes:
        if is_tangent(node):
            tangents_closure.add(node)
        if node in tangents_closure:
            tangents_closure.update(node.users)
    required_fw = set(filter(is_primal, joint.nodes))
    outputs = output_values(joint)
    backward = {node for node in outputs[num_fwd_outputs:] if isinstance(node, Node)}
    forward = [node for node in outputs[:num_fwd_outputs] if isinstance(node, Node)]
    required_fw |= needed_for(forward, known=required_fw)
    fw_order = {node: i for i, node in enumerate(n for n in joint.nodes if n in required_fw)}
    dist = {joint.output_node(): FAR}
    for node in reversed(joint.nodes):
        dist.setdefault(node, min([FAR, *(dist[user] + 1 for user in node.users)]) if node in required_fw else 0)
    return NodeInfo(required_fw, tangents_closure | backward, tangents_closure, fw_order, dist)


def needed_for(nodes: Iterable[Node], known: Container[Node]) -> set[Node]:
    """These nodes, and all that they need, without those that are known."""
    needed, waiting = set(), [*nodes]
    while waiting:
        node = waiting.pop()
        if node not in needed and node not in known:
            needed.add(node)
            waiting += node.all_input_nodes
    return needed


def output_values(graph: Graph) -> list[Any]:
    """The values that a graph returns: nodes and constants."""
    return list(graph.output_node().args[0])


# The network ---------------------------------------------------------------------------------------------------------


def may_recompute(node: Node, info: NodeInfo) -> bool:
    """Return whether the backward graph may recompute this node of the forward graph, an input or a call. The first rule that
    applies decides:

    1. `operator.getitem` and views (`is_view_node`) may be recomputed, because they cost nothing.
    2. An operator whose name (`operator_name`) is not in `RECOMPUTABLE` must not: it is expensive, or random. An input calls no
       operator, has no such name, and cannot be recomputed.
    3. A node must not be recomputed if the backward needs its result in memory anyway: a user that the forward does not need (not
       in `info.required_fw`) cannot be fused with it (`is_fusible(node, user)`). If a user is a view, its users count too, and so
       on. Each of them must be fusible with the view that it uses. (Fusible with the node means the same, because rule 2 leaves
       only nodes and views that are both in `RECOMPUTABLE`.)
    4. A node must not be recomputed if its result is small: 4 times its bytes (`size_of`) are fewer than the bytes of its arguments
       together. Only nodes directly in `node.args` count as arguments. So reductions are saved.
    5. All other nodes may be recomputed.

    >>> f, args = lambda x, w: (rl.sin(x @ w).sum(),), (rl.ones(2, 3), rl.ones(3, 2).requires_grad_())
    >>> graph = rl.aot.joint.joint_graph(f, args, rl.aot.joint.collect_metadata(f, args)).graph
    >>> info = rl.aot.partition.classify_nodes(graph, 1)
    >>> [(node.name, may_recompute(node, info)) for node in graph.nodes if node in info.required_fw]
    [('primals_1', False), ('primals_2', False), ('mm', False), ('sin', True), ('sum_1', False)]

    Source: `torch/_functorch/partitioners.py`, `should_ban_recomputation` and `ban_recomputation_if_allowed`.
    """
    if node.target is operator.getitem or is_view_node(node):
        return True
    if operator_name(node) not in RECOMPUTABLE:
        return False
    waiting = [node]
    while waiting:
        current = waiting.pop()
        for user in current.users:
            if user not in info.required_fw and not is_fusible(current, user):
                return False
            if is_view_node(user):
                waiting.append(user)
    return size_of(node) * 4 >= sum(size_of(arg) for arg in node.args if isinstance(arg, Node))


def get_node_weight(node: Node, info: NodeInfo) -> float:
    """The cost of saving the result of a node. A result that is not a single tensor (`meta["val"]`) cannot be saved: `math.inf`.
    Otherwise the cost is the size in bytes, times 1.1 for each step to the nearest node that the forward does not need (at least 1
    and at most 100 steps), so that nodes near the backward are preferred. It is doubled for a result that is not in memory
    otherwise, because it must be written and read. Source: `torch/_functorch/partitioners.py`, `get_node_weight`."""
    if not isinstance(node.meta.get("val"), Tensor):
        return math.inf
    weight = int(size_of(node) * 1.1 ** max(min(info.dist_from_bw[node], 100), 1))
    in_memory = node.op == "placeholder" or not all(is_fusible(node, user) for user in node.users)
    return weight if in_memory else weight * 2


Edge = tuple[str, str]


def network(joint: Graph, info: NodeInfo) -> dict[Edge, float]:
    """The capacities of the pipes. Each node is a pipe from `<name>_in` to `<name>_out`, which leads to its users. A pipe of
    unlimited width leads from `source` to the `<name>_in` of each node that must not be recomputed, and one leads to `sink` from
    each node that the backward needs.
    Source: `torch/_functorch/partitioners.py`, `solve_min_cut`."""
    capacities: dict[Edge, float] = {}
    banned: set[Node] = set()

    def ban(node: Node) -> None:
        if not is_view_node(node):
            banned.add(node)
            capacities["source", f"{node.name}_in"] = math.inf

    for node in joint.nodes:
        if node.op == "output":
            continue
        if node in info.required_bw:
            end = "in" if node in info.tangents_closure else "out"
            capacities[f"{node.name}_{end}", "sink"] = math.inf
            if node in info.tangents_closure:
                continue
        if node in info.required_fw and node.op != "get_attr" and not may_recompute(node, info):
            ban(node)
        capacities[f"{node.name}_in", f"{node.name}_out"] = get_node_weight(node, info)
        for user in node.users:
            capacities[f"{node.name}_out", f"{user.name}_in"] = math.inf
    for node in used_far_apart(info):
        ban(node)
    for node in ends_of_long_chains(joint, info, banned):
        ban(node)
    return capacities


def used_far_apart(info: NodeInfo) -> list[Node]:
    """Users of a node that come after another user of it and after a node that cannot be fused with it. To recompute them would
    keep this node alive for a long time.
    Source: `torch/_functorch/partitioners.py`, `solve_min_cut`, `find_first_unfusible`."""
    far_users = []
    for used in info.fw_order:
        users = [user for user in used.users if user in info.required_fw]
        if not users:
            continue
        first = find_first_unfusible(users, max(info.fw_order[user] for user in users), info)
        far_users += [user for user in users if info.fw_order[user] > first and is_fusible(used, user)]
    return far_users


def find_first_unfusible(start: Sequence[Node], furthest: int, info: NodeInfo) -> int:
    """Return the position, in the order of the forward, of the first node that depends on `start` and cannot be fused with the node
    before it on the path; `furthest` if there is none."""
    waiting = [(info.fw_order[node], True) for node in start]
    nodes = {i: node for node, i in info.fw_order.items()}
    heapq.heapify(waiting)
    while waiting:
        current, fusible = heapq.heappop(waiting)
        if not fusible:
            return current
        for user in nodes[current].users:
            if user in info.required_fw and info.fw_order[user] <= furthest:
                entry = (info.fw_order[user], is_fusible(nodes[current], user))
                if entry not in waiting:
                    heapq.heappush(waiting, entry)
    return furthest


def ends_of_long_chains(joint: Graph, info: NodeInfo, banned: set[Node]) -> Iterable[Node]:
    """A chain of more than 100 fusible nodes is not computed again as a whole.
    Source: `torch/_functorch/partitioners.py`, `solve_min_cut`."""
    visited: set[Node] = set()
    nodes = {i: node for node, i in info.fw_order.items()}
    for start in joint.nodes:
        if start not in info.required_fw:
            continue
        fusible, first = [info.fw_order[start]], info.fw_order[start]
        while fusible:
            current = nodes[heapq.heappop(fusible)]
            if current in visited:
                continue
            visited.add(current)
            if info.fw_order[current] > first + 100 and not fusible:
                yield current
                break
            for user in current.users:
                if user in info.required_fw and is_fusible(current, user) and user not in banned:
                    heapq.heappush(fusible, info.fw_order[user])


def minimum_cut(capacities: Mapping[Edge, float], source: str, sink: str) -> tuple[float, set[str]]:
    """The minimum cut of a network of pipes: it splits the points in two parts, so that nothing flows from source to sink.

    The cost of a cut is the sum of the capacities of the pipes that lead from the source's part to the sink's part. The minimum
    cost is equal to the maximum flow. To find the maximum flow, add flow along a path that still has capacity, until there is no
    such path. A flow through a pipe adds the same capacity in the other direction, because it can be sent back.

    `find_path(room, source, sink)` finds a path that still has capacity. `room` is a dict of dicts with an entry `room[point]` for
    each point, and `room[start][end]` is the capacity that is left. The result is a list of the pipes of a shortest path in order,
    as pairs (start, end), or None if there is no path.

    Of several minimum cuts, return the one next to the sink: the sink's part has the points with a path to the sink that still has
    capacity.

    Args:
        capacities: a dict by pair of points, from and to, which is not changed. A capacity is a whole number of any size, 0 or
            more, or `math.inf`. There may be pipes in both directions between two points, and a pipe from a point to itself. Source
            or sink may have no pipes.
        source, sink: two different points.

    Returns:
        a tuple: the cost, and the set of points in the source's part, with the source. All points are those in `capacities`, the
        source and the sink.

    Raises:
        ValueError: there is a path of infinite capacity from source to sink.

    >>> cost, before = minimum_cut({("source", "a"): 3, ("a", "sink"): 2}, "source", "sink")
    >>> cost, sorted(before)
    (2, ['a', 'source'])

    Source: `networkx.minimum_cut`, which `torch/_functorch/partitioners.py` uses.
    """
    room = {source: {}, sink: {}}
    for (start, end), capacity in capacities.items():
        room.setdefault(start, {})
        room.setdefault(end, {})
        room[start][end] = capacity
        room[end].setdefault(start, 0)
    flow = 0
    while (path := find_path(room, source, sink)) is not None:
        least = min(room[start][end] for start, end in path)
        if least == math.inf:
            raise ValueError("there is a path of infinite capacity: the flow is unbounded")
        for start, end in path:
            room[start][end] -= least
            room[end][start] += least
        flow += least
    behind, waiting = {sink}, [sink]
    while waiting:
        end = waiting.pop()
        for start in room[end]:  # each pipe has one in the other direction, perhaps of capacity 0
            if start not in behind and room[start][end] > 0:
                behind.add(start)
                waiting.append(start)
    return flow, set(room) - behind


def find_path(room: Mapping[str, Mapping[str, float]], source: str, sink: str) -> list[Edge] | None:
    """The pipes of a shortest path that has capacity, or None if there is no path. `room[start][end]` is the capacity left."""
    came_from: dict[str, str] = {source: source}
    waiting = [source]
    for point in waiting:  # the list grows during the loop: breadth first
        for end, left in room[point].items():
            if left > 0 and end not in came_from:
                came_from[end] = point
                waiting.append(end)
        if sink in came_from:
            break
    else:
        return None
    path = [(came_from[sink], sink)]
    while path[-1][0] != source:
        path.append((came_from[path[-1][0]], path[-1][0]))
    return path[::-1]


def solve_min_cut(joint: Graph, info: NodeInfo) -> list[Node]:
    """Return the nodes to save, in the graph's order. Source: `torch/_functorch/partitioners.py`, `solve_min_cut`."""
    capacities = network(joint, info)
    # Only the pipes of nodes have a limited capacity, so the cut is a set of nodes, and its cost is the cost of saving them. Every
    # path from a node that must not be recomputed to the backward goes through the cut. So the backward can compute each value
    # that it needs from the saved nodes, and it recomputes no forbidden node.
    _, before = minimum_cut(capacities, "source", "sink")
    cut = {start.removesuffix("_in") for start, end in capacities if start in before and end not in before}
    return [node for node in joint.nodes if node.name in cut]


# The two graphs ------------------------------------------------------------------------------------------------------


def extract_graph(joint: Graph, inputs: Sequence[Node], outputs: Sequence[Any]) -> Graph:
    """The part of a graph between some of its nodes and others, as a new graph. `joint` does not change.

    `inputs` and `outputs` are lists or tuples. The new graph begins with a placeholder for each of `inputs`, in order, with the
    name and the `meta` of the node, whatever its `op` is in `joint`. Then come copies (`Graph.node_copy`) of all other nodes that
    the outputs need, in the order of `joint`. The last node is the output, and its value is a tuple: for each of `outputs` the new
    node, or the value itself if it is not a node (None). An impure node (`node.is_impure()`), such as a random one, may stay even
    if no output needs it. A joint graph has no writes.

    Raises:
        AssertionError: an output needs a placeholder of `joint` that is not among the inputs.

    >>> graph = rl.fx.symbolic_trace(lambda x: rl.exp(rl.sin(x)) + 1).graph
    >>> x, sin, exp, add, output = graph.nodes
    >>> [(node.op, node.name) for node in extract_graph(graph, [sin], [exp]).nodes]
    [('placeholder', 'sin'), ('call_function', 'exp'), ('output', 'output')]

    Source: `torch/_functorch/partitioners.py`, `_extract_graph_with_inputs_outputs`.
    """
    graph, known = Graph(), {}
    for node in inputs:
        known[node] = graph.placeholder(node.name)
        known[node].meta = node.meta
    invalid = set()
    for node in joint.nodes:
        if node in known or node.op == "output":
            continue
        if node.op == "placeholder" or any(used in invalid for used in node.all_input_nodes):
            invalid.add(node)
            continue
        known[node] = graph.node_copy(node, lambda used: known[used])
    for value in outputs:
        assert not isinstance(value, Node) or value in known, f"Node {value} was invalid, but is output"
    graph.output(tuple(known[value] if isinstance(value, Node) else value for value in outputs))
    graph.eliminate_dead_code()
    return graph


def extract_fwd_bwd_modules(
    joint: GraphModule, saved: Sequence[Node], num_fwd_outputs: int
) -> tuple[GraphModule, GraphModule]:
    """A forward graph, which also returns the saved nodes, and a backward graph of the saved nodes and the tangents.
    Source: `torch/_functorch/partitioners.py`, `_extract_fwd_bwd_modules`."""
    graph = joint.graph
    primals = [node for node in graph.nodes if is_primal(node)]
    tangents = [node for node in graph.nodes if is_tangent(node)]
    outputs = output_values(graph)
    forward, backward = outputs[:num_fwd_outputs], outputs[num_fwd_outputs:]
    trial = extract_graph(graph, [*saved, *tangents], backward)
    used = {node.name for node in trial.nodes if node.op == "placeholder" and node.users}
    saved = [node for node in saved if node.name in used]
    fw = extract_graph(graph, primals, [*forward, *saved])
    bw = extract_graph(graph, [*saved, *tangents], backward)
    return GraphModule(joint, fw), GraphModule(joint, bw)


def default_partition(joint: GraphModule, _joint_inputs: Any = None, *, num_fwd_outputs: int, **_: Any):
    """The partition of eager mode: the forward graph has all nodes of the forward, and saves those that the backward uses.
    Source: `torch/_functorch/partitioners.py`, `default_partition`."""
    nodes = list(joint.graph.nodes)
    last = max(i for i, x in enumerate(nodes) if is_primal(x) or x.meta.get("partitioner_tag") == "is_forward")
    forward = [node for node in nodes[: last + 1] if not is_tangent(node)]
    there = set(forward)
    tuples = {node for node in forward if node.users and all(user.target is operator.getitem for user in node.users)}
    saved = [node for node in forward if node not in tuples and any(user not in there for user in node.users)]
    fw, bw = extract_fwd_bwd_modules(joint, saved, num_fwd_outputs)
    return raise_getitems(fw), raise_getitems(bw)


def min_cut_rematerialization_partition(
    joint: GraphModule, _joint_inputs: Any = None, compiler: str = "inductor", *, num_fwd_outputs: int, **_: Any
) -> tuple[GraphModule, GraphModule]:
    """Split a joint graph into a forward and a backward graph, so that the saved and the recomputed nodes are cheap.
    Source: `torch/_functorch/partitioners.py`."""
    joint.graph.eliminate_dead_code()
    joint.graph = common_subexpressions(joint.graph)
    info = classify_nodes(joint.graph, num_fwd_outputs)
    if not info.required_bw:
        return default_partition(joint, num_fwd_outputs=num_fwd_outputs)
    fw, bw = extract_fwd_bwd_modules(joint, solve_min_cut(joint.graph, info), num_fwd_outputs)
    return raise_getitems(fw), raise_getitems(reordering_to_mimic_autograd_engine(bw))


def reordering_to_mimic_autograd_engine(module: GraphModule) -> GraphModule:
    """Recompute a node when it is needed, and not at the start of the backward.
    Source: `torch/_functorch/partitioners.py`, `reordering_to_mimic_autograd_engine`."""
    nodes = list(module.graph.nodes)
    order = {node: i for i, node in enumerate(nodes)}
    firsts = [order[user] for node in nodes if is_tangent(node) for user in node.users]
    if not firsts:
        return module
    graph = Graph()
    known = {node: graph.node_copy(node) for node in nodes if node.op == "placeholder"}
    for node in nodes[min(firsts) :]:
        for missing in sorted(needed_for([node], known), key=order.__getitem__):
            known[missing] = graph.node_copy(missing, lambda used: known[used])
    return GraphModule(module, graph)


def raise_getitems(module: GraphModule) -> GraphModule:
    """Move each `getitem` to right after the node that it uses. Source: `torch/_functorch/partitioners.py`, `raise_getitems`."""
    for node in reversed([n for n in module.graph.nodes if n.target is operator.getitem]):
        node.args[0].append(node)
    module.recompile()
    return module
