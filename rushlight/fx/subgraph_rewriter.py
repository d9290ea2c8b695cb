"""Replace each subgraph that computes what a pattern computes: `replace_pattern`.

In PyTorch: `torch/fx/subgraph_rewriter.py`, `torch/fx/passes/utils/matcher_utils.py`. Left out: patterns with several
results, filters, and replacements that a function computes for each match.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from rushlight.fx._symbolic_trace import symbolic_trace
from rushlight.fx.graph import Graph
from rushlight.fx.graph_module import GraphModule, assign_attribute, owner_of
from rushlight.fx.node import Node, map_aggregate
from rushlight.nn.modules.module import Module

__all__ = ["Match", "replace_pattern"]


class Match(NamedTuple):
    """The pattern's result, and the subgraph's node for each node of the pattern."""

    anchor: Node
    nodes_map: dict[Node, Any]


def replace_pattern(
    gm: GraphModule, pattern: Callable | Graph | GraphModule, replacement: Callable | Graph | GraphModule
) -> list[Match]:
    """Replace the subgraphs of `gm` that match, as long as they do not overlap. A placeholder of the pattern matches any value,
    and the replacement's placeholders, in order, get the values of the pattern's.

    Source: `torch/fx/subgraph_rewriter.py`, `replace_pattern`.
    """
    wanted, new = _graph(pattern), _graph(replacement)
    anchor, inner = (
        wanted.output_node().args[0],
        [node for node in wanted.nodes if node.op not in ("placeholder", "output")],
    )
    if not isinstance(anchor, Node):
        raise NotImplementedError("replace_pattern: rushlight leaves out patterns with several results")
    matches: list[Match] = []
    taken: set[Node] = set()
    changed: dict[Node, Node] = {}
    for node in gm.graph.nodes:
        nodes_map = match_at(wanted, node)
        if nodes_map and taken.isdisjoint(nodes_map[one] for one in inner):
            taken.update(nodes_map[one] for one in inner)
            matches.append(Match(anchor, nodes_map))
    for match in matches:
        values: list[Any] = [match.nodes_map.get(node) for node in wanted.find_nodes(op="placeholder")]
        values = [changed.get(value, value) if isinstance(value, Node) else value for value in values]
        result = match.nodes_map[anchor]
        user = next((node for node in gm.graph.nodes if node in result.users), result.next)
        with gm.graph.inserting_before(user):
            changed[result] = gm.graph.graph_copy(new, dict(zip(new.find_nodes(op="placeholder"), values)))
        result.replace_all_uses_with(changed[result])
        for node in reversed(inner):
            gm.graph.erase_node(match.nodes_map[node])
    if isinstance(replacement, Module):
        _copy_attributes(gm, replacement)
    gm.recompile()
    return matches


def _graph(program: Callable | Graph | GraphModule) -> Graph:
    if isinstance(program, Graph):
        return program
    return (program if isinstance(program, GraphModule) else symbolic_trace(program)).graph


def match_at(pattern: Graph, node: Node) -> dict[Node, Any] | None:
    """The nodes for those of the pattern if `node` computes its result, and no node outside uses what is between."""
    found: dict[Node, Any] = {}

    def same(wanted: Any, given: Any) -> bool:
        if not isinstance(wanted, Node):
            return type(wanted) is type(given) and wanted == given
        if wanted in found or wanted.op == "placeholder":
            return found.setdefault(wanted, given) is given
        if not isinstance(given, Node) or (wanted.op, wanted.target) != (given.op, given.target):
            return False
        found[wanted] = given
        left, right = leaves(wanted), leaves(given)
        return len(left) == len(right) and all(map(same, left, right))

    result = pattern.output_node().args[0]
    if not same(result, node):
        return None
    matched = [*found.values()]
    inner = [found[one] for one in found if one.op != "placeholder" and one is not result]
    return found if all(user in matched for one in inner for user in one.users) else None


def leaves(node: Node) -> list[Any]:
    """The arguments, at any depth, in order."""
    values: list[Any] = []
    map_aggregate((node.args, node.kwargs), values.append)
    return values


def _copy_attributes(gm: GraphModule, replacement: Module) -> None:
    """Copy what the nodes from a replacement use, and delete modules that no node uses now."""
    gm.delete_all_unused_submodules()
    for node in gm.graph.nodes:
        if node.op in ("call_module", "get_attr"):
            owner, name = owner_of(replacement, node.target)
            if hasattr(owner, name):
                assign_attribute(getattr(owner, name), gm, node.target)
