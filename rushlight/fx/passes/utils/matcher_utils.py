"""Find the subgraphs that compute what a pattern computes: `SubgraphMatcher`.

The match starts at the results of the pattern that no other node of it uses, its anchors, and follows the arguments. Each anchor
is tried at each node of the graph, with what the anchors before it have fixed. In PyTorch:
`torch/fx/passes/utils/matcher_utils.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from rushlight.aten.strided import Tensor
from rushlight.fx.graph import Graph
from rushlight.fx.node import Node
from rushlight.library import OpOverload

NOT_COMPUTED = ("placeholder", "output")


@dataclass
class InternalMatch:
    """The value for each node of the pattern, and which of them are inputs and results."""

    anchors: list[Node]
    nodes_map: dict[Node, Any] = field(default_factory=dict)
    placeholder_nodes: list[Any] = field(default_factory=list)
    returning_nodes: list[Node] = field(default_factory=list)
    name_node_map: dict[str, Node] = field(default_factory=dict)

    @property
    def computed(self) -> dict[Node, Node]:
        """The nodes without the inputs and the output, with those of the pattern by them."""
        return {given: wanted for wanted, given in self.nodes_map.items() if wanted.op not in NOT_COMPUTED}


def arguments_of(node: Node) -> list[Any]:
    """All arguments of a call of an operator, with the defaults."""
    values = []
    for i, argument in enumerate(node.target.schema.arguments):
        positional = node.args[i] if not argument.kwarg_only and i < len(node.args) else argument.default
        values.append(node.kwargs.get(argument.name, positional))
    return values


def validate_partition(partition: Iterable[Node]) -> bool:
    """Return whether no path leaves these nodes and comes back, so that they can become one node.
    Source: `torch/fx/passes/utils/fuser_utils.py`, `validate_partition`."""
    inside = {*partition}
    ahead = [user for node in inside for user in node.users if user not in inside]
    seen: set[Node] = set()
    while ahead:
        node = ahead.pop()
        if node in inside:
            return False
        if node not in seen:
            seen.add(node)
            ahead += node.users
    return True


class SubgraphMatcher:
    """Finds a pattern in graphs. A placeholder of the pattern matches any value, with `match_placeholder` only a placeholder. With
    `ignore_literals`, other constants match too."""

    def __init__(
        self,
        pattern: Graph,
        match_output: bool = False,
        match_placeholder: bool = False,
        remove_overlapping_matches: bool = True,
        ignore_literals: bool = False,
    ) -> None:
        self.pattern, self.match_output, self.match_placeholder = pattern, match_output, match_placeholder
        self.remove_overlapping_matches, self.ignore_literals = remove_overlapping_matches, ignore_literals
        if not len(pattern.nodes):
            raise ValueError("SubgraphMatcher cannot be initialized with an empty pattern")
        dead = [node for node in pattern.nodes if node.op != "output" and not node.users and not node.is_impure()]
        assert not dead, "SubgraphMatcher cannot be initialized with an pattern with dead code"
        output = pattern.output_node()
        self.pattern_placeholder_nodes = pattern.find_nodes(op="placeholder")
        self.pattern_returning_nodes = output.all_input_nodes
        sinks = [node for node in output.all_input_nodes if len(node.users) == 1]
        self.pattern_anchors = [output] if match_output else sinks

    def match(self, graph: Graph, node_name_match: str = "") -> list[InternalMatch]:
        """The matches, in the order of the graph. Other nodes use no value of a match but its results. A node matches an anchor
        also if `node_name_match` is a part of its name."""
        found = []
        for nodes_map in self._matches(graph, self.pattern_anchors, {}, node_name_match):
            match = InternalMatch(self.pattern_anchors, nodes_map)
            match.placeholder_nodes = [nodes_map[node] for node in self.pattern_placeholder_nodes]
            match.returning_nodes = [nodes_map[node] for node in self.pattern_returning_nodes]
            if self._is_contained(match) and validate_partition(match.computed):
                found.append(match)
        if not self.remove_overlapping_matches:
            return found
        kept, taken = [], set[Node]()
        for match in found:
            if taken.isdisjoint(match.computed):
                taken.update(match.computed)
                kept.append(match)
        return kept

    def _matches(
        self, graph: Graph, anchors: list[Node], known: dict[Node, Any], node_name_match: str
    ) -> Iterator[dict[Node, Any]]:
        """The values for all nodes of the pattern, given those for the anchors before `anchors`."""
        if not anchors:
            yield known
            return
        for node in graph.nodes:
            nodes_map = {**known}
            if self._match_nodes(anchors[0], node, nodes_map, node_name_match):
                yield from self._matches(graph, anchors[1:], nodes_map, node_name_match)

    def _is_contained(self, match: InternalMatch) -> bool:
        inner = match.computed
        return all(
            wanted in self.pattern_returning_nodes or all(user in inner for user in node.users)
            for node, wanted in inner.items()
        )

    def _nodes_are_equal(self, wanted: Node, given: Node, node_name_match: str) -> bool:
        if (
            wanted.op == "placeholder"
            and not self.match_placeholder
            or node_name_match
            and node_name_match in given.name
        ):
            return True
        if wanted.op == given.op == "get_attr":
            left, right = (attrgetter(node.target)(node.graph.owning_module) for node in (wanted, given))
            if type(left) is type(right) and not isinstance(left, Tensor):
                raise RuntimeError(f"Unsupported type {left} when matching attributes")
            return type(left) is type(right)  # with any elements
        return wanted.op == given.op and (wanted.op in NOT_COMPUTED or wanted.target == given.target)

    def _match_nodes(self, wanted: Node, given: Node, nodes_map: dict[Node, Any], node_name_match: str = "") -> bool:
        if wanted in nodes_map:
            return nodes_map[wanted] is given
        taken = any(value is given for value in nodes_map.values())
        if taken or not self._nodes_are_equal(wanted, given, node_name_match):
            return False
        nodes_map[wanted] = given
        if wanted.op == "placeholder":
            return True
        left, right = ([*node.args, *node.kwargs.values()] for node in (wanted, given))
        if len(wanted.args) != len(given.args) or [*wanted.kwargs] != [*given.kwargs]:
            if not (wanted.op == "call_function" and isinstance(wanted.target, OpOverload)):
                return False
            left, right = arguments_of(wanted), arguments_of(given)
        return self._match_arguments(left, right, nodes_map)

    def _match_arguments(self, left: Any, right: Any, nodes_map: dict[Node, Any]) -> bool:
        return len(left) == len(right) and all(self._match_argument(x, y, nodes_map) for x, y in zip(left, right))

    def _match_argument(self, wanted: Any, given: Any, nodes_map: dict[Node, Any]) -> bool:
        if isinstance(wanted, Node) and isinstance(given, Node):
            return self._match_nodes(wanted, given, nodes_map)
        if isinstance(wanted, (list, tuple)) and isinstance(given, (list, tuple)):
            return self._match_arguments(wanted, given, nodes_map)
        if isinstance(wanted, Node) and wanted.op == "placeholder":
            same = nodes_map.setdefault(wanted, given) == given
        else:
            same = not isinstance(wanted, Node) and type(wanted) is type(given) and wanted == given
        return same or self.ignore_literals
