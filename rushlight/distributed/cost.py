"""A model of communication costs: two numbers fitted to measurements, and projections with them.

A message of n bytes takes latency + n / bandwidth seconds. The time of a collective follows from its number of messages,
because a step of a ring cannot begin before the previous step has ended. The time of a training step follows from the
collectives and from the computation that overlaps them. The results for 16,384 ranks are *projections*: arithmetic on a model
that was fitted to a few processes. The model has no stragglers, no congestion, and no trees, which NCCL might choose instead
of rings.

Counterparts: nccl-tests' `doc/PERFORMANCE.md` (bus bandwidth), `torch/distributed/tensor/_collective_utils.py`
(`MeshTopoInfo`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import NamedTuple

from rushlight.distributed.ranks import device, run_ranks


class Link(NamedTuple):
    """A connection between two ranks."""

    latency: float  # seconds for each message
    bandwidth: float  # bytes per second


class Layer(NamedTuple):
    """One of a model's equal layers, on one rank that holds the whole layer."""

    forward: float  # seconds
    backward: float  # seconds
    nbytes: float  # of its parameters, and of their gradients
    activations: float  # bytes of its output, for the samples of one rank


class Cluster(NamedTuple):
    """Nodes of `per_node` ranks each, with one link between the ranks of a node and another one between nodes."""

    nodes: int
    per_node: int
    inside: Link
    between: Link

    @property
    def ranks(self) -> int:
        return self.nodes * self.per_node

    @property
    def slowest(self) -> Link:
        """The link that limits a ring over all ranks: each step waits for its slowest message."""
        return self.inside if self.nodes == 1 else self.between


# One collective ------------------------------------------------------------------------------------------------------


def ring_cost(collective: str, nbytes: float, ranks: int) -> tuple[int, float]:
    """Count the messages of a collective that follow one another, and the bytes that one rank sends in all of them: a pair.

    `nbytes` is the size of the whole tensor: what each rank has before an "all_reduce", a "reduce_scatter" or an
    "all_to_all", and after an "all_gather" or a "broadcast". The first four use rings (an all-to-all takes as many steps as a
    ring), in parts of nbytes / ranks. The "broadcast" is a binomial tree, and each message is the whole tensor; the bytes are
    those of the root, which sends in every round. A single rank sends nothing. Raises ValueError for any other collective.

    >>> ring_cost("all_gather", 1200, 4)
    (3, 900.0)

    Source: nccl-tests' `doc/PERFORMANCE.md`; `ring_all_reduce` and the others of this course's `collectives`.
    """
    if collective == "broadcast":
        rounds = (ranks - 1).bit_length()
        return rounds, rounds * nbytes
    if collective not in ("all_reduce", "reduce_scatter", "all_gather", "all_to_all"):
        raise ValueError(f"no cost is known for {collective!r}")
    steps = (ranks - 1) * (2 if collective == "all_reduce" else 1)
    return steps, steps * nbytes / ranks


def ring_time(collective: str, nbytes: float, ranks: int, link: Link) -> float:
    """The seconds that a collective takes over this link."""
    steps, sent = ring_cost(collective, nbytes, ranks)
    return steps * link.latency + sent / link.bandwidth


def fit(rows: Sequence[tuple[int, float, float]]) -> Link:
    """The link that fits measurements best.

    `rows`: a list of triples (steps, bytes, seconds), all positive: `steps` messages one after the other, with `bytes` bytes
    in all, took `seconds`. The model is seconds = steps * latency + bytes / bandwidth. Find the latency and the 1 /
    bandwidth, neither of them negative, that minimise the sum of the squares of the *relative* errors, (model - seconds) /
    seconds. With absolute errors the largest message alone would decide. Where the best 1 / bandwidth is 0, the bandwidth is
    math.inf.

    If one of the two is negative in the unrestricted minimum, that one is 0, and the other one is the best for this 0. Raises
    ValueError unless two rows have different numbers of bytes per step: otherwise the two numbers cannot be told apart.

    >>> link = fit([(2, 1000, 0.003), (2, 5000, 0.007)])
    >>> round(link.latency, 6), round(link.bandwidth)
    (0.001, 1000000)
    """
    if len({nbytes / steps for steps, nbytes, _ in rows}) < 2:
        raise ValueError("fit: latency and bandwidth can be told apart only by messages of different sizes")
    a = [steps / seconds for steps, _, seconds in rows]
    b = [nbytes / seconds for _, nbytes, seconds in rows]
    aa, ab, bb = sum(x * x for x in a), sum(x * y for x, y in zip(a, b)), sum(y * y for y in b)
    latency = (sum(a) * bb - sum(b) * ab) / (aa * bb - ab * ab)
    inverse = (sum(b) * aa - sum(a) * ab) / (aa * bb - ab * ab)
    if latency < 0:
        latency, inverse = 0.0, sum(b) / bb
    if inverse <= 0:
        latency, inverse = sum(a) / aa, 0.0
    return Link(latency, 1 / inverse if inverse else math.inf)


# One step of training ------------------------------------------------------------------------------------------------


def layer_costs(strategy: str, layer: Layer, cluster: Cluster) -> tuple[float, float, float, float]:
    """The times of one layer on a cluster, in seconds: its forward, its backward, its gather and its reduction.

    The layer cannot compute before its `gather` has ended, in forward and again in backward. Its `reduce` sums its gradients
    after its backward. Each is 0.0 if there is none. Each collective is a ring; `ring_time` gives its time. Collectives over
    all ranks of the cluster use the link `cluster.slowest`.

    - "ddp": the gradients are all-reduced over all ranks.
    - "fsdp": the parameters are all-gathered over all ranks, and the gradients are reduce-scattered over all ranks.
    - "hsdp", hybrid sharding: all-gather and reduce-scatter within a node only; then each rank's shard of the gradients is
      all-reduced between the nodes.
    - "tp": the layer is split over the ranks of a node, and each rank computes its share in proportionally less time. There
      are two all-reduces of the activations in the forward and two in the backward, within the node. Nothing overlaps them,
      so they count as part of the forward and of the backward. Each rank's share of the gradients is all-reduced between the
      nodes.

    Raises ValueError for any other strategy.

    >>> link = Link(latency=0.0, bandwidth=1e9)
    >>> layer_costs("ddp", Layer(1.0, 2.0, 4e9, 1e6), Cluster(1, 2, link, link))
    (1.0, 2.0, 0.0, 4.0)
    """
    forward, backward, nbytes, activations = layer
    nodes, per_node, inside, between = cluster
    if strategy == "ddp":
        return forward, backward, 0.0, ring_time("all_reduce", nbytes, cluster.ranks, cluster.slowest)
    if strategy == "fsdp":
        gather = ring_time("all_gather", nbytes, cluster.ranks, cluster.slowest)  # a reduce-scatter takes as long
        return forward, backward, gather, gather
    across = ring_time("all_reduce", nbytes / per_node, nodes, between)
    if strategy == "hsdp":
        gather = ring_time("all_gather", nbytes, per_node, inside)
        return forward, backward, gather, gather + across
    if strategy == "tp":
        exposed = 2 * ring_time("all_reduce", activations, per_node, inside)
        return forward / per_node + exposed, backward / per_node + exposed, 0.0, across
    raise ValueError(f"no such strategy: {strategy!r}")


def step_time(
    layers: int, forward: float, backward: float, gather: float, reduce: float, overlap: bool = True
) -> float:
    """Seconds of one training step of `layers` equal layers.

    `forward`, `backward`, `gather` and `reduce` are the seconds of one layer's forward, its backward, one gather of it and one
    reduction of its gradient, as `layer_costs` returns them.

    The forward goes through all layers, then the backward goes through all of them in reverse. Each forward and each backward
    of a layer waits for a gather of its own; a reduction follows each backward. Without overlap all of these run one after
    the other. With overlap there are two queues, one for computation and one for communication. Each queue runs one entry at
    a time, in order, as early as possible:

    - a gather enters the communication queue when the previous computation begins (the first gather at once): so
      communication is one gather ahead, never more;
    - a reduction enters the communication queue when its backward ends, which is after the gather of the next computation has
      entered it;
    - a computation begins when the previous computation and its own gather have ended.

    The step ends when both queues are empty.

    >>> step_time(2, 1.0, 2.0, 0.5, 0.0), step_time(2, 1.0, 2.0, 0.5, 0.0, overlap=False)
    (6.5, 8.0)

    Source: the prefetching of `torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py`, and DDP's reducer, over one link.
    """
    if not overlap:
        return layers * (forward + backward + 2 * gather + reduce)
    wire = begun = ended = pending = 0.0
    for seconds, after in [(forward, 0.0)] * layers + [(backward, reduce)] * layers:
        wire = ready = max(wire, begun) + gather
        wire = max(wire, ended) + pending
        begun = max(ended, ready)
        ended, pending = begun + seconds, after
    return max(ended, wire) + pending


def project(
    strategy: str, layers: int, layer: Layer, per_node: int, inside: Link, between: Link, overlap: bool = True
) -> list[tuple[int, float, float]]:
    """Projections for 8 to 16,384 ranks: (ranks, seconds of a step, the fraction of the step in which a rank computes), for
    each power of two that is at least a node."""
    rows = []
    for ranks in (2**k for k in range(3, 15)):
        if ranks % per_node == 0:
            costs = layer_costs(strategy, layer, Cluster(ranks // per_node, per_node, inside, between))
            seconds = step_time(layers, *costs, overlap)
            computed = layers * (layer.forward + layer.backward) / (per_node if strategy == "tp" else 1)
            rows.append((ranks, seconds, computed / seconds))
    return rows


# Measuring -----------------------------------------------------------------------------------------------------------


def measure(sizes: Sequence[int], ranks: int = 2, repeat: int = 20) -> list[tuple[int, float, float]]:
    """Rows for `fit`: steps, bytes and seconds of an all-reduce of each of `sizes` (bytes, multiples of 4) on ranks of this
    machine. The seconds are the median of `repeat` runs, each from a barrier until the last rank has the result. On a CPU the
    ranks are processes that share the machine's cores: with more ranks than cores the scheduler is measured."""
    seconds = run_ranks(_all_reduce_seconds, ranks, list(sizes), repeat)
    slowest = [[max(runs) for runs in zip(*of_ranks)] for of_ranks in zip(*seconds)]
    return [(*ring_cost("all_reduce", size, ranks), sorted(runs)[repeat // 2]) for size, runs in zip(sizes, slowest)]


def _all_reduce_seconds(sizes: list[int], repeat: int) -> list[list[float]]:
    """The seconds of each run on this rank, for each size."""
    import torch
    import torch.distributed as dist

    tensors = [torch.zeros(size // 4, device=device()) for size in sizes]
    seconds: list[list[float]] = [[] for _ in sizes]
    for _ in range(repeat + 1):
        dist.all_reduce(tensors[0].clone())  # after a large message even the next small one is slow
        for tensor, runs in zip(tensors, seconds):
            dist.barrier()
            start = time.perf_counter()
            dist.all_reduce(tensor)
            tensor[:1].tolist()  # on a GPU this waits for the result
            runs.append(time.perf_counter() - start)
    return [runs[1:] for runs in seconds]  # the first run connects the ranks
