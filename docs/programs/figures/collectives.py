"""Each message of an all-reduce, by ring and by tree, of a reduce-scatter, and of an all-gather, on 2, 4 and 8 ranks.

The ranks are threads, which run rushlight's collectives over a network of queues. Gloo computes the same results.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from datetime import timedelta
from queue import SimpleQueue
from typing import Any, NamedTuple
from unittest.mock import patch

import torch
import torch.distributed as torch_dist
from torch import Tensor

from autograder.language import phrase
from rushlight.distributed import collectives, cost

PHASE, SIZE = "09", (720, 526)
RANKS = 2, 4, 8
LINK = cost.Link(10e-6, 50e9)  # between nodes, as in the reading's projection
SIZES = [digit * 10**power for power in range(3, 9) for digit in (1, 2, 5)] + [10**9]
SECONDS = 60.0  # after which a queue is given up


class Message(NamedTuple):
    """`step` counts from 1; `value` is the tensor that is sent."""

    step: int
    source: int
    target: int
    value: Tensor


class Network:
    """In place of `torch.distributed`, for ranks that are threads. It notes each message.

    A message's step is one more than that of the last message that its sender has sent or received.
    """

    P2POp = staticmethod(lambda call, tensor, group=None, group_peer=None: (call, tensor, group_peer))
    isend, irecv, group = "isend", "irecv", torch_dist.group

    def __init__(self, ranks: int) -> None:
        self.ranks, self.here = ranks, threading.local()
        self.queues = {(a, b): SimpleQueue() for a in range(ranks) for b in range(ranks)}
        self.messages: list[Message] = []

    def run(self, program: Callable[[int], Any]) -> list[Any]:
        """The results of a program on all ranks."""
        results: list[Any] = [None] * self.ranks

        def rank(number: int) -> None:
            self.here.rank, self.here.step = number, 0
            results[number] = program(number)

        threads = [threading.Thread(target=rank, args=(number,)) for number in range(self.ranks)]
        with patch.object(collectives, "dist", self):
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        return results

    def get_rank(self, group: Any = None) -> int:
        return self.here.rank

    def get_world_size(self, group: Any = None) -> int:
        return self.ranks

    def get_group_rank(self, group: Any, rank: int) -> int:
        return rank

    def send(self, tensor: Tensor, group: Any = None, group_dst: int = 0) -> None:
        self.here.step += 1
        message = Message(self.here.step, self.here.rank, group_dst, tensor.clone())
        self.messages.append(message)
        self.queues[message.source, message.target].put(message)

    def recv(self, tensor: Tensor, group: Any = None, group_src: int = 0) -> None:
        message = self.queues[group_src, self.here.rank].get(timeout=SECONDS)
        self.here.step = max(self.here.step, message.step)
        tensor.copy_(message.value)

    def batch_isend_irecv(self, operations: list[tuple]) -> list:
        (_, outgoing, target), (_, incoming, source) = operations
        self.send(outgoing, group_dst=target)
        self.recv(incoming, group_src=source)
        return []


def parts(rank: int, ranks: int) -> Tensor:
    """A rank's tensor, a row for each chunk: 2^rank, so a sum shows whose parts it has, and the number of the chunk."""
    return torch.stack([torch.full((ranks,), 2**rank), torch.arange(ranks)], 1)


def by_ring(name: str, ranks: int) -> tuple[list[Message], list[Tensor]]:
    """The messages of a collective, and the result on each rank."""
    network = Network(ranks)

    def all_reduce(rank: int) -> Tensor:
        collectives.ring_all_reduce(x := parts(rank, ranks))
        return x

    def reduce_scatter(rank: int) -> Tensor:
        x = parts(rank, ranks)
        collectives.ring_reduce_scatter(output := torch.empty_like(x[rank]), list(x))
        return output

    def all_gather(rank: int) -> Tensor:
        x = parts(rank, ranks)
        collectives.ring_all_gather(output := [torch.zeros_like(part) for part in x], x[rank])
        return torch.stack(output)

    results = network.run({"all-reduce": all_reduce, "reduce-scatter": reduce_scatter, "all-gather": all_gather}[name])
    return network.messages, results


def by_tree(ranks: int) -> tuple[list[Message], list[Tensor]]:
    """An all-reduce: the messages of a broadcast backwards, with sums, and then the broadcast."""
    values = [torch.tensor([[2**rank, 0]]) for rank in range(ranks)]
    network = Network(ranks)
    network.run(lambda rank: collectives.tree_broadcast(torch.zeros(1), 0))
    rounds = max(message.step for message in network.messages)
    reduction = []
    for step, parent, child, _ in sorted(network.messages, key=lambda message: -message.step):
        reduction.append(Message(rounds - step + 1, child, parent, values[child].clone()))
        values[parent] = collectives.combine(values[parent], values[child])
    network = Network(ranks)
    network.run(lambda rank: collectives.tree_broadcast(values[rank], 0))
    return reduction + [message._replace(step=message.step + rounds) for message in network.messages], values


def by_gloo(name: str, ranks: int) -> list[Tensor]:
    """The results of torch's own collective, on ranks that are threads."""
    store, results = torch_dist.HashStore(), [None] * ranks

    def rank(number: int) -> None:
        group = torch_dist.ProcessGroupGloo(store, number, ranks, timedelta(seconds=SECONDS))
        x = parts(number, ranks)
        if name == "all-reduce":
            group.allreduce([x]).wait()
            results[number] = x
        elif name == "reduce-scatter":
            results[number] = torch.empty_like(x[number])
            group.reduce_scatter([results[number]], [list(x)]).wait()
        else:
            gathered = [torch.zeros_like(part) for part in x]
            group.allgather([gathered], [x[number].clone()]).wait()
            results[number] = torch.stack(gathered)
        group.barrier().wait()

    threads = [threading.Thread(target=rank, args=(number,)) for number in range(ranks)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


# What the figure shows -----------------------------------------------------------------------------------------------


def bits(value: Tensor) -> int:
    return int(value.reshape(-1)[0])


def chunk(value: Tensor) -> int:
    """Return the number of the chunk that this partial sum belongs to."""
    total, number = value.reshape(-1).tolist()
    return number // total.bit_count()


def halves(name: str, way: str, steps: int) -> list[str]:
    """The part of the collective to which each step belongs."""
    if name != "all-reduce":
        return [name] * steps
    first, second = ("reduce-scatter", "all-gather") if way == "ring" else ("reduce", "broadcast")
    return [first] * (steps // 2) + [second] * (steps // 2)


START = {
    ("all-reduce", "ring"): phrase(
        "Each rank has a tensor of n bytes in {p} chunks. In the end each rank must have the sum."
    ),
    ("all-reduce", "tree"): phrase("Each rank has a tensor of n bytes. In the end each rank must have the sum."),
    ("reduce-scatter", "ring"): phrase(
        "Each rank has a tensor of n bytes in {p} chunks. In the end rank r must have the sum of chunk r."
    ),
    ("all-gather", "ring"): phrase("Rank r has only chunk r. In the end each rank must have all {p} chunks."),
}
STEP = {  # of one sender, and of several
    "reduce-scatter": (
        phrase(
            "Each rank sends one chunk to the next rank, and adds its own part to the chunk that arrives. "
            "This sum has the parts of {k} ranks."
        ),
    )
    * 2,
    "all-gather": (phrase("Each rank sends one whole chunk to the next rank. Each rank has {whole} chunks whole now."),)
    * 2,
    "reduce": (
        phrase(
            "Rank {first} sends n bytes, the whole tensor. Rank 0 adds its own. This sum has the parts of {k} ranks."
        ),
        phrase(
            "{count} ranks send n bytes, the whole tensor. Each receiver adds its own. "
            "This sum has the parts of {k} ranks."
        ),
    ),
    "broadcast": (
        phrase("Rank {first} sends n bytes, the whole sum. {holders} ranks have the sum now."),
        phrase("{count} ranks send n bytes, the whole sum. {holders} ranks have the sum now."),
    ),
}
WHY = {  # the rule by which a rank sends: in the first step of a half, and later
    "reduce-scatter": (
        phrase(
            "rank r begins with chunk r - 1, and rank 0 with the last one, so that the sum of chunk r ends on rank r"
        ),
        phrase("a rank passes on the sum that it has just made"),
    ),
    "all-gather": (
        phrase("a rank begins with the chunk that is whole"),
        phrase("a rank passes on the chunk that has just arrived"),
    ),
    "reduce": (phrase("the second half of the ranks sends to the first half"),) * 2,
    "broadcast": (
        phrase("only rank 0 has the sum"),
        phrase("each rank that has the sum sends it to one that has not"),
    ),
}


def sentence(half: str, messages: list[Message], whole: int, holders: int) -> str:
    count = len(messages)
    k = 2 * bits(messages[0].value).bit_count() if half == "reduce" else bits(messages[0].value).bit_count() + 1
    return STEP[half][count > 1].format(k=k, whole=whole, holders=holders, count=count, first=messages[0].source)


def figures(name: str, way: str, ranks: int) -> dict[str, Any]:
    """Everything that the figure shows of one collective."""
    messages, results = by_ring(name, ranks) if way == "ring" else by_tree(ranks)
    for ours, theirs in zip(results, by_gloo(name, ranks), strict=True):
        assert torch.equal(ours.reshape(-1, 2)[:, 0], theirs.reshape(-1, 2)[: len(ours.reshape(-1, 2)), 0])
    ring, steps = way == "ring", max(message.step for message in messages)
    chunks, everyone = ranks if ring else 1, 2**ranks - 1
    full = [2**i if name == "all-gather" else everyone for i in range(chunks)]
    cells = [[2**r if name != "all-gather" or r == c else 0 for c in range(chunks)] for r in range(ranks)]
    words, frames, before = halves(name, way, steps), [], ""
    for step in range(steps + 1):
        now = [message for message in messages if message.step == step]
        sent = [
            [m.source, m.target, chunk(m.value) if ring else 0, bits(m.value)]
            for m in sorted(now, key=lambda m: m.source)
        ]
        half = words[step - 1]
        for source, _, c, value in sent:
            if half in ("reduce", "reduce-scatter"):
                assert abs(cells[source][c]) == value
                cells[source][c] = -value  # passed on
        for _, target, c, value in sent:
            cells[target][c] = cells[target][c] + value if half in ("reduce", "reduce-scatter") else value
        say = START[name, way].format(p=ranks)
        if step:
            whole = sum(value == want for value, want in zip(cells[0], full))
            say = sentence(half, now, whole, sum(row == full for row in cells))
        following = words[step] if step < steps else ""
        why = WHY[following][following == before] if following else ""
        frames.append(
            {
                "cells": [list(row) for row in cells],
                "sent": sent,
                "half": half if step else "start",
                "say": say,
                "why": why,
            }
        )
        before = following
    for r, row in enumerate(cells):
        mine = [row[r]] if name == "reduce-scatter" else row
        assert mine == [bits(chunk) for chunk in results[r].reshape(-1, 2)]
    _check_cost(name, way, ranks, messages, steps)
    return {
        "name": name,
        "way": phrase("ring") if ring else phrase("tree"),
        "full": full,
        "frames": frames,
        "best": cost.ring_cost(name.replace("-", "_"), 1, ranks)[1],
        "latency": round(steps * LINK.latency * 1e6),
        "times": [round(seconds(name, way, ranks, size) * 1e6, 1) for size in SIZES],
        "even": even(ranks) if name == "all-reduce" else "",
    }


def seconds(name: str, way: str, ranks: int, nbytes: int) -> float:
    if way == "tree":
        return 2 * cost.ring_time("broadcast", nbytes, ranks, LINK)
    return cost.ring_time(name.replace("-", "_"), nbytes, ranks, LINK)


def even(ranks: int) -> str:
    """Up to which size a tree is faster than a ring, in words."""
    (slow, few), (fast, many) = cost.ring_cost("all_reduce", 1, ranks), cost.ring_cost("broadcast", 1, ranks)
    size = (slow - 2 * fast) * LINK.latency * LINK.bandwidth / (2 * many - few)
    if size <= 0:
        return phrase("With 2 ranks the tree is never faster.")
    ring, tree = (seconds("all-reduce", way, ranks, size) for way in ("ring", "tree"))
    assert math.isclose(ring, tree)
    return phrase(f"With {ranks} ranks the tree is faster up to {size / 1e3:.0f} kB.")


def _check_cost(name: str, way: str, ranks: int, messages: list[Message], steps: int) -> None:
    """The model counts the messages and the bytes that were sent."""
    most = max(sum(m.source == rank for m in messages) for rank in range(ranks))
    if way == "ring":
        assert cost.ring_cost(name.replace("-", "_"), ranks, ranks) == (steps, most)
        assert len(messages) == steps * ranks
    else:
        assert cost.ring_cost("broadcast", 1, ranks) == (steps // 2, most)
        assert len(messages) == 2 * (ranks - 1)


def size_name(nbytes: int) -> str:
    power = (len(str(nbytes)) - 1) // 3
    return f"{nbytes // 1000**power} {['', 'kB', 'MB', 'GB'][power]}"


def data() -> dict[str, Any]:
    kinds = (
        phrase("all-reduce, ring"),
        phrase("all-reduce, tree"),
        phrase("reduce-scatter, ring"),
        phrase("all-gather, ring"),
    )
    return {
        "ranks": RANKS,
        "sizes": [size_name(size) for size in SIZES],
        "nbytes": SIZES,
        "legend": phrase(
            "Digits: whose parts a chunk holds. Orange: arrived in this step. Faint: passed on. ✓: complete."
        ),
        "link": phrase("the time, at 10 µs for each message, and 50 GB/s"),
        "sent": phrase("sent so far; dashed: a ring's {0} = {1} n"),
        "title": phrase("{0} of n = {1}, step {2} of {3}"),
        "takes": phrase("{0} steps: {1}, and bytes: {2}"),
        "ask": [phrase("Which rank sends next? Press it."), phrase("Which chunk does rank {} send next? Press it.")],
        "formulas": {
            "all-reduce": "2 (p − 1) / p · n",
            "reduce-scatter": "(p − 1) / p · n",
            "all-gather": "(p − 1) / p · n",
        },
        "kinds": {kind: {ranks: figures(*kind.split(", "), ranks) for ranks in RANKS} for kind in kinds},
    }
