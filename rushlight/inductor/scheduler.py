"""Scheduling: which loops become one kernel, and in which order everything runs.

Two loop nests over the same elements can share their loops if every element that one passes to the other is passed within one
iteration. The scheduler brings pairs of nodes to common loops, and fuses the pairs that share most memory first. In PyTorch:
`torch/_inductor/scheduler.py`, `codegen/cpp.py` (`can_fuse_*`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from rushlight.inductor import config, cpp_scheduling, ir, triton_scheduling
from rushlight.inductor.dependencies import extract_read_writes
from rushlight.inductor.graph import GraphLowering
from rushlight.inductor.index import Symbol, refinement, reindex_loops, symbols
from rushlight.inductor.ir import ComputedBuffer, ExternKernel, Layout, Operation, Program, ReinterpretView
from rushlight.inductor.scheduler_node import FusedSchedulerNode

MOST_NESTS = 64  # in one kernel, as torch/_inductor/config.py: max_fusion_size

# Pairs of loop nests -------------------------------------------------------------------------------------------------


def can_fuse(first: ComputedBuffer, second: ComputedBuffer) -> bool:
    """Return whether two loop nests over the same loop variables can be one nest, in which every iteration does the work of the
    first nest and then the work of the second.

    They can be one nest if everything that passes from one to the other through memory passes within one iteration.
    `extract_read_writes(computed)` gives the elements that a nest reads, as a list, and the element that it writes; each has a
    `buffer` and an `index`. Index expressions are equal (`==`) if and only if they are the same sum of the same loop variables.

    Args:
        first, second: `ComputedBuffer`s, in the order in which the program runs them.

    >>> graph = rl.aot.make_fx(lambda x: (lambda y: (y, y + 1, y.t() + 1))(x.exp()))(rl.ones(3, 3))
    >>> nodes = rl.inductor.scheduler.create_nodes(rl.inductor.graph.lower(graph).operations)
    >>> exp, same_order, transposed = (node.nests[0] for node in nodes)
    >>> can_fuse(exp, same_order), can_fuse(exp, transposed)
    (True, False)
    >>> can_fuse(same_order, transposed)
    True

    Rules:
        - If the second nest reads a buffer that the first writes, every such read has the index expression of the write.
        - If the second nest writes a buffer that the first reads, every such read has the index expression of the write. (Otherwise
          the second nest overwrites an element before the first has read it. For example, the program ends in `x.copy_(y)`,
          because it wrote to its argument `x`.)
        - The nests do not write to the same buffer. (In torch, those of a `cat` do: each writes its part of the result.)

        Buffers that both nests only read do not matter. It does not matter either whether a nest reduces (its `kind`): the result
        of a reduction is complete after its loop over a row, and `inner_loops` puts the nests that read it into a later loop.

    Source: `torch/_inductor/scheduler.py`, `Scheduler.can_fuse_vertical`, `fusable_read_and_write`.
    """
    first_reads, first_write = extract_read_writes(first)
    second_reads, second_write = extract_read_writes(second)
    if first_write.buffer == second_write.buffer:
        return False
    forth = all(read == first_write for read in second_reads if read.buffer == first_write.buffer)
    back = all(read == second_write for read in first_reads if read.buffer == second_write.buffer)
    return forth and back


# Common loops of two nodes -------------------------------------------------------------------------------------------

Pairs = Iterator[tuple[FusedSchedulerNode, FusedSchedulerNode]]


def common_loops(first: FusedSchedulerNode, second: FusedSchedulerNode, rotate: bool = True) -> Pairs:
    """Both nodes in the same loops, in every order to try: row-major first, then with the loops of a pointwise node rotated."""
    (rows, columns), (other_rows, other_columns) = first.numels, second.numels
    if bool(first.inner) == bool(second.inner):
        if (rows, columns) == (other_rows, other_columns):
            yield from refine_loops(first, second, [first.outer, first.inner], [second.outer, second.inner])
            if rotate and not first.inner:
                for order in rotations(second.outer):
                    yield from refine_loops(first, second, [first.outer, []], [order, []])
    elif second.inner:
        yield from ((one, other) for other, one in common_loops(second, first, rotate))
    elif other_rows == rows * columns:
        for order in [second.outer, *(rotations(second.outer) if rotate else [])]:
            yield from refine_into_rows(first, second, order)
    elif other_rows == rows:
        yield from refine_loops(first, second, [first.outer, first.inner], [second.outer, first.inner])


def refine_loops(first: FusedSchedulerNode, second: FusedSchedulerNode, mine: list, theirs: list) -> Pairs:
    """Both nodes in the coarsest loops that refine the outer loops of both, and the inner loops of both."""
    sizes = [refinement([s.size for s in a], [s.size for s in b]) for a, b in zip(mine, theirs)]
    if None not in sizes:
        outer, inner = symbols("i", sizes[0]), symbols("r", sizes[1])
        values = [reindex_loops(loops[0], outer) | reindex_loops(loops[1], inner) for loops in (mine, theirs)]
        yield first.reindexed(outer, inner, values[0]), second.reindexed(outer, inner, values[1])


def refine_into_rows(reduction: FusedSchedulerNode, pointwise: FusedSchedulerNode, order: list[Symbol]) -> Pairs:
    """A node with reductions and a pointwise node over the same elements, whose loops, in this order, are cut into rows too."""
    sizes = refinement([s.size for s in reduction.loops], [s.size for s in order])
    if sizes is None:
        return
    rows = next(n for n in range(len(sizes) + 1) if math.prod(sizes[:n]) == reduction.numels[0])
    outer, inner = symbols("i", sizes[:rows]), symbols("r", sizes[rows:])
    values = reindex_loops(reduction.outer, outer) | reindex_loops(reduction.inner, inner)
    other_values = reindex_loops(order, outer + inner)
    yield reduction.reindexed(outer, inner, values), pointwise.reindexed(outer, inner, other_values)


def rotations(loops: Sequence[Symbol]) -> list[list[Symbol]]:
    """The other cyclic orders of these loops, as candidates for the order of a kernel."""
    return [[*loops[n:], *loops[:n]] for n in range(1, len(loops))]


def fuse(first: FusedSchedulerNode, second: FusedSchedulerNode) -> FusedSchedulerNode | None:
    """The two nodes as one, with the work of `first` first in every iteration; None if that would change a result."""
    linked = bool(first.writes & (second.reads | second.writes) or first.reads & second.writes)
    if len(first.nests) + len(second.nests) > MOST_NESTS:
        return None
    for one, other in common_loops(first, second, linked):
        if all(can_fuse(a, b) for a in one.nests for b in other.nests):
            return FusedSchedulerNode(one.outer, one.inner, one.nests + other.nests)
    return None


# The schedule --------------------------------------------------------------------------------------------------------

BACKENDS = {"cpp": cpp_scheduling.codegen_node, "triton": triton_scheduling.codegen_node}  # by `config.cpu_backend`

BaseSchedulerNode = FusedSchedulerNode | ExternKernel | ir.FallbackKernel


def live_operations(graph: GraphLowering) -> list[Operation]:
    """The operations whose results are used. Source: `torch/_inductor/scheduler.py`, `Scheduler.dead_node_elimination`."""
    wanted = {output.buffer for output in graph.outputs if isinstance(output, ReinterpretView)} | set(graph.mutated)
    kept = []
    for operation in reversed(graph.operations):
        if isinstance(operation, ComputedBuffer):
            if operation.buffer not in wanted:
                continue
            wanted |= {read.buffer for read in extract_read_writes(operation)[0]}
        elif isinstance(operation, ExternKernel) and not operation.writes & wanted:
            continue
        else:
            wanted |= operation.reads
        kept.append(operation)
    return kept[::-1]


def create_nodes(operations: Sequence[Operation]) -> list[BaseSchedulerNode]:
    """A node for each operation."""
    return [FusedSchedulerNode.of(work) if isinstance(work, ComputedBuffer) else work for work in operations]


def fuse_nodes(nodes: list[BaseSchedulerNode], layouts: dict[str, Layout]) -> list[BaseSchedulerNode]:
    """Fuse pairs of nodes, the pairs that share most memory first, until no pair can be fused.
    Source: `torch/_inductor/scheduler.py`, `Scheduler.fuse_nodes`."""
    refused: set[tuple[BaseSchedulerNode, BaseSchedulerNode]] = set()
    while True:
        ancestors = compute_ancestors(nodes)
        for a, b in possible_fusions(nodes, ancestors, layouts, refused):
            together = fuse(nodes[a], nodes[b])
            if together is not None:
                # The nodes between that need `a` move after the pair. `b` needs none of them: `possible_fusions` leaves such pairs
                # out. The other nodes stay before the pair. They need none of the moved nodes, or they would need `a` too. So
                # each node still runs after all nodes that it needs.
                before = [nodes[c] for c in range(a + 1, b) if a not in ancestors[c]]
                after = [nodes[c] for c in range(a + 1, b) if a in ancestors[c]]
                nodes = [*nodes[:a], *before, together, *after, *nodes[b + 1 :]]
                break
            refused.add((nodes[a], nodes[b]))
        else:
            return nodes


def possible_fusions(
    nodes: Sequence[BaseSchedulerNode], ancestors: list[set[int]], layouts: dict[str, Layout], refused: set
) -> list[tuple[int, int]]:
    """The positions of pairs that share buffers and have no node between them that must run between them, best pairs first."""
    pairs = []
    for b, second in enumerate(nodes):
        for a, first in enumerate(nodes[:b]):
            if not isinstance(first, FusedSchedulerNode) or not isinstance(second, FusedSchedulerNode):
                continue
            shared = (first.reads | first.writes) & (second.reads | second.writes)
            if not shared or (first, second) in refused:
                continue
            if not any(c in ancestors[b] and a in ancestors[c] for c in range(a + 1, b)):
                pairs.append((-sum(layouts[name].nbytes for name in shared), b - a, a, b))
    return [(a, b) for _, _, a, b in sorted(pairs)]


def compute_ancestors(nodes: Sequence[BaseSchedulerNode]) -> list[set[int]]:
    """For each node the positions of the earlier nodes on which it depends, directly or not."""
    ancestors: list[set[int]] = []
    sets = [(node.reads, node.writes) for node in nodes]
    for b, (reads, writes) in enumerate(sets):
        mine: set[int] = set()
        for a in range(b):
            if reads & sets[a][1] or writes & (sets[a][0] | sets[a][1]):
                mine |= ancestors[a] | {a}
        ancestors.append(mine)
    return ancestors


def schedule(graph: GraphLowering) -> Program:
    """The kernels and calls of a lowered graph, in the order of execution."""
    nodes = fuse_nodes(create_nodes(live_operations(graph)), graph.layouts)
    kept = {output.buffer for output in graph.outputs if isinstance(output, ReinterpretView)}
    kept |= {*graph.inputs, *graph.constants}
    codegen_node = BACKENDS[config.cpu_backend]
    steps: list[ir.Step] = []
    for number, node in enumerate(nodes):
        if isinstance(node, FusedSchedulerNode):
            used = kept.union(*(other.reads for other in nodes if other is not node))
            node = codegen_node(node, node.writes - used, graph.layouts, number)
        steps.append(node)
    alive = kept.union(*(step.reads | step.writes for step in steps))
    layouts = {name: layout for name, layout in graph.layouts.items() if name in alive}
    return Program(graph.inputs, layouts, graph.constants, steps, graph.outputs, graph.mutated)
