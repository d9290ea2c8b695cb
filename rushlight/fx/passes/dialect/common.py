"""Common subexpressions as a pass for a manager, which takes the operators whose calls all stay: `CSEPass`.

In PyTorch: `torch/fx/passes/dialect/common/cse_pass.py`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from rushlight.fx.graph import Graph
from rushlight.fx.graph_module import GraphModule
from rushlight.fx.node import RANDOM_OPERATORS, Node, map_arg
from rushlight.fx.passes import fingerprint
from rushlight.fx.passes.infra import PassBase, PassResult
from rushlight.library import OpOverload, OpOverloadPacket, ops

IN_PLACE = {f"{name}_" for name in ("add", "sub", "mul", "div", "pow", "lerp", "relu", "sigmoid", "tanh")}


def get_CSE_banned_ops() -> set[OpOverloadPacket]:  # noqa: N802
    """The operators that draw random numbers or write to an argument."""
    return {getattr(ops.aten, name) for name in RANDOM_OPERATORS | IN_PLACE if hasattr(ops.aten, name)}


class CSEPass(PassBase):
    """Computes no value twice. It takes each operator that is not in `banned_ops` for a pure one."""

    def __init__(self, banned_ops: Iterable[OpOverloadPacket] | None = None) -> None:
        self.banned_ops = {*map(str, banned_ops or ())}

    def call(self, graph_module: GraphModule) -> PassResult:
        new, copies = Graph(), dict[Node, Node]()
        computed: dict[Hashable, Node] = {}
        for node in graph_module.graph.nodes:
            operator = node.target.overloadpacket if isinstance(node.target, OpOverload) else node.target
            key = node.op, node.target, fingerprint(map_arg((node.args, node.kwargs), copies.__getitem__))
            if node.op in ("placeholder", "get_attr", "output") or str(operator) in self.banned_ops:
                copies[node] = new.node_copy(node, copies.__getitem__)
                continue
            if key not in computed:
                computed[key] = new.node_copy(node, copies.__getitem__)
            copies[node] = computed[key]
        if len(new.nodes) == len(graph_module.graph.nodes):
            return PassResult(graph_module, False)
        return PassResult(GraphModule(graph_module, new), True)
