"""Patterns in a graph. In PyTorch: `torch/ao/quantization/fx/match_utils.py`, `pattern_utils.py`."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from rushlight.ao.quantization.backend_config import Pattern
from rushlight.fx.graph import Graph
from rushlight.fx.node import Node
from rushlight.nn.modules.module import Module

Match = tuple[Node, Pattern, list[Node]]


def is_match(modules: dict[str, Module], node: Any, pattern: Pattern, max_uses: int = sys.maxsize) -> bool:
    """Whether the computation that ends at `node` is `pattern`.

    A pattern is one of:

    - a class of modules: `node` is a `call_module`, and the class of the module is exactly this class. `modules` has the modules by
      the node's target.
    - a function: `node` is a `call_function` of this function. Any other class, such as `int`, counts as a function.
    - a string: `node` is a `call_method` of this name.
    - a tuple `(head, *inner)`: `node` matches `head`, which is one of the three above, `inner` has as many patterns as `node` has
      positional arguments, and each argument matches its inner pattern, in order. With no inner pattern, the arguments do not
      matter.

    `node` may be anything that is an argument of a node: for anything but a `Node`, the result is False. It is False too if more
    than `max_uses` nodes use `node` (`node.users`). An inner node must have one user: any other user would lose the value that it
    reads.

    >>> model = rl.fx.symbolic_trace(rl.nn.Sequential(rl.nn.Linear(2, 2), rl.nn.ReLU()))
    >>> x, linear, relu, _ = model.graph.nodes
    >>> [is_match(dict(model.named_modules()), node, (rl.nn.ReLU, rl.nn.Linear)) for node in (linear, relu)]
    [False, True]

    Source: `torch/ao/quantization/fx/match_utils.py`, `_is_match`.
    """
    head, *inner = pattern if isinstance(pattern, tuple) else (pattern,)
    if not isinstance(node, Node) or len(node.users) > max_uses:
        return False
    if isinstance(head, type) and issubclass(head, Module):
        if node.op != "call_module" or type(modules[node.target]) is not head:
            return False
    elif isinstance(head, str):
        if node.op != "call_method" or node.target != head:
            return False
    elif node.target is not head:
        return False
    if not inner:
        return True
    if len(inner) != len(node.args):
        return False
    return all(is_match(modules, arg, part, 1) for arg, part in zip(node.args, inner))


def pattern_length(pattern: Pattern) -> int:
    """The number of nodes of a pattern."""
    return sum(map(pattern_length, pattern)) if isinstance(pattern, tuple) else 1


def matched_nodes(node: Node, pattern: Pattern) -> list[Node]:
    """The nodes of a match, from the last one to the first one."""
    if not isinstance(pattern, tuple):
        return [node]
    inner = (matched_nodes(arg, part) for arg, part in zip(node.args, pattern[1:]))
    return [node, *(matched for nodes in inner for matched in nodes)]


def find_matches(graph: Graph, modules: dict[str, Module], patterns: Iterable[Pattern]) -> dict[str, Match]:
    """The matches of a graph: each node is in one match at most.

    The walk goes from the last node to the first one. For a node that is in no match yet, it tries the patterns
    (`is_match(modules, node, pattern)`), a longer one before a shorter one (`pattern_length(pattern)`, the number of nodes). Two
    patterns of the same length never fit the same node. The first pattern that fits is taken, and all its nodes belong to this
    match.

    Returns:
        a dict from the name of each matched node to its match, a tuple of the last node, the pattern, and the list of all nodes of
        the match, from the last one to the first one (`matched_nodes(node, pattern)`). All nodes of a match have an equal tuple.

    >>> model = rl.fx.symbolic_trace(rl.nn.Sequential(rl.nn.Linear(2, 2), rl.nn.ReLU()))
    >>> patterns = [rl.nn.ReLU, (rl.nn.ReLU, rl.nn.Linear)]
    >>> {name: match[2] for name, match in find_matches(model.graph, dict(model.named_modules()), patterns).items()}
    {'_1': [_1, _0], '_0': [_1, _0]}

    Source: `torch/ao/quantization/fx/match_utils.py`, `_find_matches`; `pattern_utils.py`, `_sorted_patterns_dict`.
    """
    longest_first = sorted(patterns, key=pattern_length, reverse=True)
    matches = {}
    for node in reversed(graph.nodes):
        if node.name in matches:
            continue
        for pattern in longest_first:
            if is_match(modules, node, pattern):
                nodes = matched_nodes(node, pattern)
                matches |= {matched.name: (node, pattern, nodes) for matched in nodes}
                break
    return matches
