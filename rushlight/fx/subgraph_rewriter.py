"""Replace each subgraph that computes what a pattern computes: `replace_pattern`.

In PyTorch: `torch/fx/subgraph_rewriter.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from rushlight.fx._symbolic_trace import symbolic_trace
from rushlight.fx.graph import Graph
from rushlight.fx.graph_module import GraphModule, assign_attribute, owner_of
from rushlight.fx.node import Node
from rushlight.fx.passes.utils.matcher_utils import InternalMatch, SubgraphMatcher
from rushlight.nn.modules.module import Module

__all__ = ["Match", "replace_pattern", "replace_pattern_with_filters"]

Program = Callable | Graph | GraphModule


class Match(NamedTuple):
    """The pattern's result, and the subgraph's node for each node of the pattern."""

    anchor: Node
    nodes_map: dict[Node, Any]


@dataclass
class ReplacedPatterns:
    """A match, and the nodes that are in its place now."""

    anchor: Node
    nodes_map: dict[Node, Any]
    replacements: list[Node]


def replace_pattern(gm: GraphModule, pattern: Program, replacement: Program) -> list[Match]:
    """Replace the subgraphs of `gm` that match, as long as they do not overlap. A placeholder of the pattern matches any value,
    and the replacement's placeholders, in order, get the values of the pattern's.

    Source: `torch/fx/subgraph_rewriter.py`, `replace_pattern`.
    """
    return [Match(one.anchor, one.nodes_map) for one in replace_pattern_with_filters(gm, pattern, replacement)]


def replace_pattern_with_filters(
    gm: GraphModule,
    pattern: Program,
    replacement: Program | None = None,
    match_filters: list[Callable[[InternalMatch, Graph, Graph], bool]] | None = None,
    ignore_literals: bool = False,
    replacement_callback: Callable[[InternalMatch, Graph, Graph], Graph] | None = None,
    node_name_match: str = "",
) -> list[ReplacedPatterns]:
    """`replace_pattern` for the matches that all filters accept. `replacement_callback` returns the replacement for a match.

    Both get the match, the graph and the pattern's graph.
    """
    graph, wanted = gm.graph, _graph(pattern)
    new = None if replacement is None else _graph(replacement)
    assert new or replacement_callback, "Must provide either a replacement GraphModule or a replacement callback"
    matches = SubgraphMatcher(wanted, ignore_literals=ignore_literals).match(graph, node_name_match)
    matches = [match for match in matches if all(accepts(match, graph, wanted) for accepts in match_filters or ())]
    changed: dict[Node, Node] = {}  # what is in the place of a result that is gone
    replaced = []
    for match in matches:
        graph_of = cast(Graph, replacement_callback(match, graph, wanted) if replacement_callback else new)
        for node, value in match.nodes_map.items():
            if node.op == "placeholder" and isinstance(value, Node):
                match.nodes_map[node] = changed.get(value, value)
        match.placeholder_nodes = [match.nodes_map[node] for node in wanted.find_nodes(op="placeholder")]
        added = _replace(graph, match, graph_of, changed)
        for node in reversed(wanted.nodes):
            if node.op not in ("placeholder", "output"):
                graph.erase_node(match.nodes_map[node])
        replaced.append(ReplacedPatterns(match.anchors[0], match.nodes_map, added))
    gm.recompile()
    if isinstance(replacement, Module):
        _copy_attributes(gm, replacement)
    return replaced


def _replace(graph: Graph, match: InternalMatch, replacement: Graph, changed: dict[Node, Node]) -> list[Node]:
    """Copy the replacement before the first user of a result, and let the users use its results. Returns the new nodes."""
    inputs = replacement.find_nodes(op="placeholder")
    assert len(inputs) == len(match.placeholder_nodes), (
        "the pattern and the replacement have different numbers of placeholders"
    )
    copies = dict(zip(inputs, match.placeholder_nodes))
    users = {user for node in match.returning_nodes for user in node.users}
    last = max(match.returning_nodes)
    with graph.inserting_before(min(users, default=last.next)):
        results = graph.graph_copy(replacement, copies)
    results = (results,) if isinstance(results, Node) else results
    assert len(results) == len(match.returning_nodes), (
        "the pattern and the replacement have different numbers of results"
    )
    for old, result in zip(match.returning_nodes, results):
        old.replace_all_uses_with(result)
        changed[old] = result
    return [node for node in copies.values() if node not in match.placeholder_nodes]


def _graph(program: Program) -> Graph:
    if isinstance(program, Graph):
        return program
    return (program if isinstance(program, GraphModule) else symbolic_trace(program)).graph


def _copy_attributes(gm: GraphModule, replacement: Module) -> None:
    """Copy what the nodes from a replacement use, and delete modules that no node uses now."""
    gm.delete_all_unused_submodules()
    for node in gm.graph.nodes:
        if node.op in ("call_module", "get_attr"):
            owner, name = owner_of(replacement, node.target)
            if hasattr(owner, name):
                assign_attribute(getattr(owner, name), gm, node.target)
