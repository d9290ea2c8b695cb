"""A student's review of changes to `count_dependencies`."""

from __future__ import annotations

from collections import Counter

from ...engine.check import program
from ..cases import no_cases, reviewing
from ..shared_04 import Graph

REVIEW, CHANGES = "course.reviews.review_count_dependencies", "04b.review_count_dependencies"


@program(f"{REVIEW}.three", cases=no_cases, edges=[{}], examine=reviewing(CHANGES, 3))
def review_three(xp):
    return xp.reviews.review_count_dependencies()


@program(f"{REVIEW}.four", cases=no_cases, edges=[{}], examine=reviewing(CHANGES, 4))
def review_four(xp):
    return xp.reviews.review_count_dependencies()


def results_of(xp, edges):
    """A tensor for each node of a graph: a leaf, or a concatenation of the results of the nodes to which its edges lead."""
    results = [None] * len(edges)
    for number, following in reversed([*enumerate(edges)]):
        parts = [results[each] for each in following]
        assert None not in parts, "an edge leads to a later node"
        results[number] = xp.cat(parts) if parts else xp.ones(1, requires_grad=True)
    return results


@program(REVIEW, cases=no_cases, edges=[{}], examine=reviewing(CHANGES, 5))
def review_all(xp, **case):
    """The decisions, or the counts of `count_dependencies` in the graph of a case, by the numbers of its nodes."""
    if not case:
        return xp.reviews.review_count_dependencies()
    nodes = [xp.graph.gradient_edge(result).node for result in results_of(xp, case["edges"])]
    counts = xp.engine.count_dependencies([nodes[root] for root in case["roots"]])
    return {str(number): counts[node] for number, node in enumerate(nodes) if node in counts}


@review_all.oracle
def _(torch, edges, roots):
    nodes = [torch.autograd.graph.get_gradient_edge(result).node for result in results_of(torch, edges)]
    reached = Graph(*(nodes[root] for root in roots)).nodes
    arriving = Counter(successor for node in reached for successor, _ in node.next_functions)
    return {str(number): arriving[node] for number, node in enumerate(nodes) if node in reached}
