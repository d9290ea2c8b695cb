"""A step of a backward pass that runs two nodes, because one formula for both takes fewer calls and passes over the memory.
PyTorch's engine runs each node alone. Here too the graph, its saved tensors and its errors are the same. `fused_pairs.py` has the
pairs and their formulas."""

from collections.abc import Sequence

from rushlight.aten.strided import Tensor
from rushlight.autograd.graph import Edge, Node
from rushlight.c10 import dispatch, fast_paths
from rushlight.c10.dispatch import AUTOCAST_KEYS, local


class FusedNode(Node):
    """Two nodes in the place of the first of them. One function has computed the gradients of both (`fused_pairs.FUSED`)."""

    def __init__(self, first: Node, second: Node, outputs: Sequence, next_edges: Sequence[Edge]) -> None:
        self.first, self.second, self.outputs, self.next_edges = first, second, outputs, next_edges

    def apply(self, *grads: Tensor | None) -> Sequence:
        return self.outputs

    def release_variables(self) -> None:
        self.first.release_variables()
        self.second.release_variables()


def fuse(node: Node, grads: Sequence, dependencies: dict[Node, int], inputs: dict[Node, list], ready: list) -> Node:
    """Return a `FusedNode` for the node and its next node if one function can compute both, otherwise the node.

    The next node must be the one that runs next, and it must get its gradient from this node only. Otherwise another gradient
    is missing, or other nodes would run later than in PyTorch. So no ready node is newer. Nothing must see the gradient between
    the nodes: no capture, no hook, no recorded graph, no mode, autocast, profiler or filled slot.
    """
    if node.fused is None or local.grad_enabled or fast_paths.slow_from_layer <= fast_paths.AUTOGRAD:
        return node
    if local.graph_task is None or local.graph_task.captures is not None:
        return node
    (position, kind, function), edges = node.fused, node.next_edges
    successor = edges[position].node
    if successor.__class__ is not kind or dependencies[successor] > 1 or successor in inputs:
        return node
    if ready and ready[0][0] < -successor.sequence_nr:
        return node
    if local.modes or local.excluded != AUTOCAST_KEYS or dispatch.observer is not None:
        return node
    if node.pre_hooks or node.post_hooks or successor.pre_hooks or successor.post_hooks:
        return node
    if successor.tensor_pre_hooks or successor.retains_grad_hooks:
        return node
    outputs = function(node, successor, *grads)
    if outputs is None:
        return node
    return FusedNode(node, successor, outputs, [*edges[:position], *successor.next_edges, *edges[position + 1 :]])
