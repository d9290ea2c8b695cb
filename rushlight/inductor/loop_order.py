"""A pass over a fused node: order its loops by strides, and merge neighbouring loops into one.

With the smallest stride in the innermost loop, an inner loop reads memory element after element, in whole vectors and whole
cache lines. One long loop has less overhead than two short ones, and only the innermost loop is vectorised. In PyTorch:
`SchedulerNode.apply_new_loop_order` and `pick_loop_order` in `torch/_inductor/scheduler.py`, `_simplify_loops` in `sizevars.py`.
"""

import math
from collections.abc import Sequence

from rushlight.inductor.index import ZERO, Division, Index, Symbol, merge_dims, stride_of
from rushlight.inductor.ir import loads, walk
from rushlight.inductor.scheduler_node import FusedSchedulerNode, numel


def simplify_loops(node: FusedSchedulerNode) -> FusedSchedulerNode:
    """Return the node with its loops in the order of their strides, and as few loops as possible.

    Any order of the loops is right: a value passes from one nest to another only within one iteration (`can_fuse`), and a
    reduction still covers the same elements. Only `argmax` and `argmin` depend on the order."""
    outer = order_by_stride(node.outer, [nest.index for nest in node.nests])
    inner = node.inner
    if not any(nest.kind in ("argmax", "argmin") for nest in node.nests):  # these need the first of equal elements
        inner = order_by_stride(inner, [load.index for nest in node.nests if nest.kind for load in loads(nest.value)])
    parts = [part for index in dict.fromkeys(all_indices(node)) for part in affine_parts(index)]
    merged_outer, outer_values = merge_loops(outer, "i", parts)
    merged_inner, inner_values = merge_loops(inner, "r", parts)
    return node.reindexed(merged_outer, merged_inner, outer_values | inner_values)


def order_by_stride(loops: Sequence[Symbol], indices: Sequence[Index]) -> list[Symbol]:
    """The loops by decreasing stride in the first index that depends on them; loops on which no index depends come first."""
    strides = {s: next((abs(step) for step in (stride_of(index, s) for index in indices) if step), 0) for s in loops}
    return sorted(loops, key=lambda s: -strides[s] if strides[s] else -math.inf)


def merge_loops(loops: Sequence[Symbol], prefix: str, parts: list[Index]) -> tuple[list[Symbol], dict[Symbol, Index]]:
    """The merged loops, and the index of each old loop variable in them. `parts` are all affine sums of loop variables in
    use. Of the loops that become one, the innermost gets the new variable and the others 0, because the strides of the
    innermost loop continue through all of them."""
    merged, values = [], {}
    dims = merge_dims([s.size for s in loops], [[stride_of(part, s) for s in loops] for part in parts])
    for dim, numbers in enumerate(dims):
        symbol = Symbol(f"{prefix}{dim}", numel([loops[n] for n in numbers]))
        values |= {loops[n]: ZERO for n in numbers} | {loops[numbers[-1]]: Index.of(symbol)}
        merged.append(symbol)
    return merged, values


def affine_parts(index: Index) -> list[Index]:
    """The sum of loop variables in an index, and in every quotient and remainder inside it."""
    parts = [Index(tuple(pair for pair in index.terms if isinstance(pair[0], Symbol)))]
    for term, _ in index.terms:
        if isinstance(term, Division):
            parts += affine_parts(term.base)
    return parts


def all_indices(node: FusedSchedulerNode) -> list[Index]:
    """Every index expression with which a node reads or writes."""
    values = (value for nest in node.nests for value in walk(nest.value))
    return [*(nest.index for nest in node.nests), *(index for value in values for index in value.indices)]
