"""The modules of a pattern become one module: relu after a linear, batch norm after a convolution.
In PyTorch: `torch/ao/quantization/fx/fuse.py`, `fuse_handler.py`.
"""

from collections.abc import Callable

from rushlight.ao.quantization.backend_config import Pattern, fusion_patterns
from rushlight.ao.quantization.fx.match_utils import find_matches
from rushlight.fx.graph import Graph
from rushlight.fx.graph_module import GraphModule
from rushlight.fx.node import Node
from rushlight.nn.modules.module import Module
from rushlight.nn.modules.stateless import ReLU


def parent_of(modules: dict[str, Module], target: str) -> tuple[Module, str]:
    """The module that has the attribute `target`, and the attribute's own name."""
    path, _, name = target.rpartition(".")
    return modules[path], name


def fuse(model: GraphModule, patterns: dict[Pattern, Callable] | None = None) -> GraphModule:
    """A copy of a model in which each match of a pattern is one call of one module.

    The new module replaces the module of the match's first node, and has its name. The module's function in `patterns` makes it
    of the modules of the match, in the order of their computation.

    Source: `torch/ao/quantization/fx/fuse.py`, `fuse`.
    """
    patterns = fusion_patterns() if patterns is None else patterns
    modules = dict(model.named_modules())
    matches = find_matches(model.graph, modules, patterns)
    graph = Graph(tracer_cls=model.graph._tracer_cls)
    copies: dict[Node, Node] = {}
    for node in model.graph.nodes:
        last, pattern, nodes = matches.get(node.name, (None, None, []))
        if last is None:
            copies[node] = graph.node_copy(node, copies.__getitem__)
        elif node is last:
            first = nodes[-1]
            parts = [_module_of(fused, modules, modules[first.target]) for fused in reversed(nodes)]
            owner, name = parent_of(modules, first.target)
            setattr(owner, name, patterns[pattern](*parts))
            copies[node] = graph.node_copy(first, copies.__getitem__)
    return GraphModule(model, graph, type(model).__name__)


def _module_of(node: Node, modules: dict[str, Module], first: Module) -> Module:
    if node.op == "call_module":
        return modules[node.target]
    relu = ReLU()
    relu.training = first.training
    return relu
