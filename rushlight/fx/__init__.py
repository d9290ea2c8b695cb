"""Capture a program as a graph that other programs can change: `torch.fx`.

node              a node, its arguments and its users
graph             nodes in order, with names
codegen           a graph as Python source
graph_module      a module that runs this source
overrides, proxy  values that record the calls on them
_symbolic_trace   runs a function or a module on proxies, and records some functions without tracing through them
interpreter       runs a graph node by node
subgraph_rewriter replaces what computes a pattern
passes            dead code, common subexpressions, constants; managers of passes
operator_schemas  signatures of operators, for passes
experimental      tracers and passes that may change
"""

# ruff: noqa: F401
from rushlight.fx import passes
from rushlight.fx._symbolic_trace import ProxyableClassMeta, Tracer, symbolic_trace, wrap
from rushlight.fx.codegen import CodeGen
from rushlight.fx.graph import Graph
from rushlight.fx.graph_module import GraphModule
from rushlight.fx.interpreter import Interpreter, Transformer
from rushlight.fx.node import Node, has_side_effect, map_arg
from rushlight.fx.proxy import Proxy
from rushlight.fx.subgraph_rewriter import replace_pattern

__all__ = [
    "CodeGen", "Graph", "GraphModule", "Interpreter", "Node", "Proxy", "ProxyableClassMeta", "Tracer", "Transformer",
    "has_side_effect", "map_arg", "replace_pattern", "symbolic_trace", "wrap",
]  # fmt: skip
