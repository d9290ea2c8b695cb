"""One training step under DDP, FSDP and tensor parallelism: who holds what, what is sent when, and the memory of a rank.

Torch and rushlight run the step as one rank of a fake process group. The order and the bytes of their collectives agree. The times
are those of rushlight's cost model.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, fully_shard
from torch.distributed.tensor.debug import CommDebugMode
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from torch.testing._internal.distributed.fake_pg import FakeStore

from autograder.language import phrase
from rushlight.distributed import Traffic, cost, ddp, fsdp
from rushlight.distributed import tensor_parallel as tp

PHASE, SIZE = "09", (720, 480)
RANKS, BLOCKS, FEATURES, ROWS = (2, 4, 8), 3, 128, 384
KINDS = "DDP", "FSDP", "TP"
LINKS = {"10 GB/s": cost.Link(10e-6, 10e9), "1 GB/s": cost.Link(10e-6, 1e9)}
FLOPS = 1e11  # of a rank, in a second
BLOCK = 4 * 2 * FEATURES * 4 * FEATURES  # bytes of its weights
WORDS = {"gather": "all-gather", "reduce": "reduce-scatter"}  # rushlight's words for FSDP

Event = tuple[str, int]  # a word, "forward", "backward" or a collective, and the number of a block


def blocks() -> nn.Sequential:
    """The model: each block has two layers without bias and keeps two tensors for backward."""
    pair = [(FEATURES, 4 * FEATURES), (4 * FEATURES, FEATURES)]
    layers = [[nn.Linear(*sizes, bias=False) for sizes in pair] for _ in range(BLOCKS)]
    return nn.Sequential(*(nn.Sequential(up, nn.ReLU(), down) for up, down in layers))


@contextmanager
def one_of(ranks: int) -> Iterator[None]:
    """This process is rank 0 of a group whose other ranks do not exist."""
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=ranks)
    try:
        yield
    finally:
        dist.destroy_process_group()


# The step, by torch and by rushlight ---------------------------------------------------------------------------------


def completed(group, bucket):  # DDP refuses annotations that are text
    """DDP's own hook waits for a result, which a fake group does not have."""
    mean = bucket.buffer().div_(dist.get_world_size())
    dist.all_reduce(mean, async_op=True)
    future = torch.futures.Future()
    future.set_result(mean)
    return future


def by_torch(kind: str, ranks: int) -> tuple[nn.Module, nn.Sequential]:
    """A parallel model, and its blocks."""
    model = blocks()
    if kind == "DDP":
        module = nn.parallel.DistributedDataParallel(model, bucket_cap_mb=BLOCK / 2**20, gradient_as_bucket_view=True)
        module.register_comm_hook(None, completed)
        return module, model
    if kind == "FSDP":
        for block in model:
            fully_shard(block)
        for block, following in zip(model, model[1:]):
            block.set_modules_to_forward_prefetch([following])
        return fully_shard(model), model
    plan = {f"{i}.0": ColwiseParallel() for i in range(BLOCKS)} | {f"{i}.2": RowwiseParallel() for i in range(BLOCKS)}
    return parallelize_module(model, init_device_mesh("cpu", (ranks,)), plan), model


def by_rushlight(kind: str, ranks: int) -> tuple[nn.Module, nn.Sequential]:
    model = blocks()
    if kind == "DDP":
        return ddp.DistributedDataParallel(model, limits=[BLOCK]), model
    if kind == "FSDP":
        return fsdp.FullyShardedDataParallel(model, list(model), forward_prefetch=1), model
    for block in model:
        block[0], block[2] = tp.ColumnParallelLinear(block[0]), tp.RowParallelLinear(block[2])
    return model, model


class Step(NamedTuple):
    """One rank's work in a step, and the memory that it has."""

    order: list[tuple[str, int]]  # blocks that begin to compute, and collectives with the bytes that are handed over
    weights: int  # bytes, between two steps
    gradients: int  # bytes, after backward
    state: int  # bytes of the optimizer's state
    activations: int  # bytes that all blocks keep for backward
    whole: list[set[int]]  # FSDP: the blocks that are whole, or being gathered, whenever a block begins to compute


def run(module: nn.Module, model: nn.Sequential, rows: int) -> Step:
    """One step of training."""
    notes = Traffic()
    order, whole, kept = notes.operations, [], {}

    def note(word: str, i: int) -> None:
        order.append((word, i))
        whole.append({number for number, block in enumerate(model) if gathered(module, block)})

    def keep(tensor: Tensor) -> Tensor:
        if tensor.shape[0] == rows:  # no weight has this size
            kept[local(tensor).untyped_storage().data_ptr()] = local(tensor)
        return tensor

    for i, block in enumerate(model):
        block.register_forward_pre_hook(lambda *_, i=i: note("forward", i))
        block.register_forward_hook(lambda *given, i=i: given[-1].register_hook(lambda _: note("backward", i)) and None)
    parameters, states = list(module.parameters()), {}
    optimizer = torch.optim.AdamW(parameters)
    data_parallel = isinstance(module, (ddp.DistributedDataParallel, nn.parallel.DistributedDataParallel))
    for _ in range(3 if data_parallel else 1):  # in the second step DDP makes its buckets anew
        order.clear()
        whole.clear()
        kept.clear()
        optimizer.zero_grad()
        with notes, CommDebugMode() as counted, torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
            module(torch.ones(rows, FEATURES)).sum().backward()
        assert counted.get_total_counts() == len(order) - 2 * BLOCKS
        activations = sum(tensor.untyped_storage().nbytes() for tensor in kept.values())
    if isinstance(module, fsdp.FullyShardedDataParallel):
        fsdp.adamw_step(parameters, states)
    else:
        optimizer.step()
        states = optimizer.state
    moments = [state[name] for state in states.values() for name in ("exp_avg", "exp_avg_sq")]
    weights, gradients, state = (
        sum(local(tensor).nbytes for tensor in tensors)
        for tensors in (parameters, [p.grad for p in parameters], moments)
    )
    names = [
        (operation.kind.replace("_", "-"), operation.nbytes) if hasattr(operation, "kind") else operation
        for operation in order
    ]
    return Step(names, weights, gradients, state, activations, whole)


def local(tensor: Tensor) -> Tensor:
    """This rank's part of a DTensor, also if it is the result of a collective."""
    part = getattr(tensor, "_local_tensor", tensor)
    return getattr(part, "elem", part)


def gathered(module: nn.Module, block: nn.Module) -> bool:
    """Whether a block of an FSDP model is whole, or being gathered."""
    if isinstance(module, fsdp.FullyShardedDataParallel):
        unit = next(wrapped for wrapped in module.units if wrapped.parameters[0].module is block[0])
        return unit.is_gathered or unit.arriving is not None
    if isinstance(module, FSDPModule):
        group = block._get_fsdp_state()._fsdp_param_group
        return group.is_unsharded or group._all_gather_result is not None
    return False


def order_of(kind: str) -> list[Event]:
    """Return the order of a step: the blocks that compute, and the collectives that start, each with its block."""
    if kind == "FSDP":
        work = fsdp.order_of_work([True] * BLOCKS, 1, 1)
        return [(WORDS.get(word, word), i) for word, i in work]
    forward = [("forward", i) for i in range(BLOCKS)]
    backward = [action for i in reversed(range(BLOCKS)) for action in (("backward", i), ("all-reduce", i))]
    if kind == "TP":  # the first block's input needs no gradient
        return [action for event in forward for action in (event, ("all-reduce", event[1]))] + backward[:-1]
    return forward + backward


def rows_of(kind: str, ranks: int) -> int:
    """The rows of the batch on which a rank works."""
    return ROWS if kind == "TP" else ROWS // ranks


def check(kind: str, ranks: int) -> Step:
    """The step of torch, which is the step of rushlight, in the order that `order_of` says."""
    rows = rows_of(kind, ranks)
    with one_of(ranks), warnings.catch_warnings(action="ignore"):
        ours, theirs = (run(*make(kind, ranks), rows) for make in (by_rushlight, by_torch))
    assert ours == theirs, (ours, theirs)
    nbytes = {"all-gather": BLOCK // ranks, "reduce-scatter": BLOCK, "all-reduce": BLOCK}
    if kind == "TP":
        nbytes["all-reduce"] = 4 * rows * FEATURES
    order = [event for event in order_of(kind) if event[0] != "free"]
    assert theirs.order == [(word, nbytes.get(word, i)) for word, i in order]
    whole: set[int] = set()
    at_starts = []
    for word, i in order_of(kind):
        if word == "all-gather":
            whole.add(i)
        elif word == "free":
            whole.remove(i)
        elif word in ("forward", "backward"):
            at_starts.append({*whole})
    assert theirs.whole == at_starts
    return theirs


# The times, by the cost model ----------------------------------------------------------------------------------------


class Span(NamedTuple):
    word: str
    block: int
    start: float  # seconds
    end: float


def schedule(kind: str, ranks: int, link: cost.Link, early: bool = False) -> list[Span]:
    """When each block computes and when each collective is under way: `cost.step_time` with all its times.

    The last block's weights are gathered again only when they have been freed, except if `early`, as in `step_time`.
    """
    forward = 2 * BLOCK / 4 * ROWS / ranks / FLOPS
    layer = cost.Layer(forward, 2 * forward, BLOCK, 4 * rows_of(kind, ranks) * FEATURES)
    cluster = cost.Cluster(1, ranks, link, link)
    if kind == "TP":  # for the model a layer has two such blocks, and a rank that holds the whole layer
        both = layer._replace(forward=ranks * forward)
        sum_up = (cost.layer_costs("tp", both, cluster)[0] - forward) / 2
        seconds = {"forward": forward, "backward": 2 * forward, "all-reduce": sum_up}
        spans, now = [], 0.0
        for word, i in order_of(kind):
            spans.append(Span(word, i, now, now := now + seconds[word]))
        assert math.isclose(now, cost.step_time(BLOCKS, forward + sum_up, 2 * forward + sum_up, 0.0, 0.0) - sum_up)
        return spans
    _, _, gather, reduce = cost.layer_costs(kind.lower(), layer, cluster)
    spans, wire, begun, ended, reducing = [], 0.0, 0.0, 0.0, None

    def send(word: str, i: int, since: float, seconds: float) -> float:
        nonlocal wire
        start = max(wire, since)
        wire = start + seconds
        spans.append(Span(word, i, start, wire))
        return wire

    for word, i in [(w, i) for w, i in order_of(kind) if w in ("forward", "backward")]:
        regathered = (word, i) == ("backward", BLOCKS - 1) and not early
        ready = send("all-gather", i, ended if regathered else begun, gather) if gather else 0.0
        if reducing is not None:
            send("reduce-scatter" if gather else "all-reduce", reducing, ended, reduce)
        begun = max(ended, ready)
        ended = begun + (forward if word == "forward" else 2 * forward)
        spans.append(Span(word, i, begun, ended))
        reducing = i if word == "backward" else None
    send("reduce-scatter" if gather else "all-reduce", 0, ended, reduce)
    if early or not gather:
        assert math.isclose(max(wire, ended), cost.step_time(BLOCKS, forward, 2 * forward, gather, reduce))
    for words in ("forward", "backward"), ("all-gather", "reduce-scatter", "all-reduce"):
        assert [s[:2] for s in spans if s.word in words] == [action for action in order_of(kind) if action[0] in words]
    return spans


# What the figure shows -----------------------------------------------------------------------------------------------

CARRIES = {  # what a collective does, by kind of training and by the direction of the step
    ("DDP", "backward"): phrase("an all-reduce averages the gradients of block {i}"),
    ("FSDP", "all-gather"): phrase("an all-gather brings the shards of block {i}'s weights to all ranks"),
    ("FSDP", "reduce-scatter"): phrase(
        "a reduce-scatter averages the gradients of block {i}, and each rank keeps its shard"
    ),
    ("TP", "forward"): phrase("an all-reduce adds up the ranks' parts of block {i}'s output"),
    ("TP", "backward"): phrase("an all-reduce adds up the ranks' parts of the gradient of block {i}'s input"),
}
COMPUTES = {
    "forward": phrase("Each rank computes the forward of block {i}"),
    "backward": phrase("Each rank computes the backward of block {i}"),
}
BEGIN = {
    "DDP": phrase("Each rank has all weights and a part of the batch."),
    "FSDP": phrase("Each rank has a shard of each weight and a part of the batch."),
    "TP": phrase("Each rank has a shard of each weight and the whole batch."),
}
END = {
    "DDP": phrase("The step is over: each rank has all averages, and AdamW updates all weights on each rank."),
    "FSDP": phrase("The step is over: each rank has its shard of the averages, and AdamW updates this shard only."),
    "TP": phrase("The step is over: each rank has the gradients of its shard, and AdamW updates this shard only."),
}
NOT = {  # why a collective is not the next one
    "DDP": {
        "all-gather": phrase("each rank has all weights already"),
        "reduce-scatter": phrase(
            "each rank updates all weights, so it needs all averages and not only a shard of them"
        ),
    },
    "FSDP": {
        "all-reduce": phrase("a rank updates only its shard of the weights, so a shard of the averages is enough"),
        "all-gather": phrase("each block that computes next is whole, or is being gathered"),
        "reduce-scatter": phrase(
            "it comes when the backward of a block has ended, after the gathers that were asked for before"
        ),
    },
    "TP": {
        "all-gather": phrase("no rank ever needs another rank's weights"),
        "reduce-scatter": phrase("each rank needs the whole sum, because the next layer takes it as its input"),
    },
}


def sent_by(kind: str, span: Span, ranks: int) -> float:
    """The bytes that a rank sends in a collective."""
    nbytes = 4 * ROWS * FEATURES if kind == "TP" else BLOCK
    return cost.ring_cost(span.word.replace("-", "_"), nbytes, ranks)[1]


def is_compute(span: Span) -> bool:
    return span.word in ("forward", "backward")


def block_at(kind: str, i: int, spans: list[Span], now: float) -> str:
    """The weights, gradients and activations of a block: a letter each."""
    mine = [span for span in spans if span.block == i]
    forward, backward = (next(span for span in mine if span.word == word) for word in ("forward", "backward"))
    weights = {"DDP": "w", "FSDP": "s", "TP": "s"}[kind]  # whole, or a shard
    for gather in (span for span in mine if span.word == "all-gather"):
        free = forward.end if gather.start < forward.start else backward.end
        if gather.start <= now < free:
            weights = "g" if now < gather.end else "w"  # being gathered
    gradients = "-"
    if now >= backward.start:
        gradients = "s" if kind == "TP" else "p"  # whole, but of this rank's rows only
        reductions = [
            span for span in mine if span.word in ("reduce-scatter", "all-reduce") and span.start >= backward.start
        ]
        if kind != "TP" and reductions[0].start <= now:
            gradients = "r" if now < reductions[0].end else {"DDP": "w", "FSDP": "s"}[kind]  # being reduced
    activations = "-"
    if forward.start <= now < backward.end:
        sums = [span for span in mine if span.word == "all-reduce" and kind == "TP"]
        activations = "p" if kind == "TP" and now < sums[0].end else "w" if kind == "TP" else "s"
    return weights + gradients + activations


def memory(kind: str, states: list[str], step: Step, ranks: int) -> list[int]:
    """The bytes on a rank: weights between steps, optimizer, gradients, whole weights for now, activations."""
    whole = sum(BLOCK for state in states if kind == "FSDP" and state[0] in "gw")
    if kind == "DDP":
        gradients = step.gradients  # the buckets; they are always there
    else:
        of_block = {"-": 0, "p": BLOCK, "r": BLOCK, "s": BLOCK // ranks}
        gradients = sum(of_block[state[1]] for state in states)
    activations = sum(step.activations // BLOCKS for state in states if state[2] != "-")
    return [step.weights, step.state, gradients, whole, activations]


def sentence(kind: str, now: list[Span], later: bool) -> str:
    computing = next((span for span in now if is_compute(span)), None)
    sending = next((span for span in now if not is_compute(span)), None)
    if not now:
        return END[kind]
    carried = ""
    if sending is not None:
        direction = sending.word if kind == "FSDP" else "backward" if later else "forward"
        carried = CARRIES[kind, direction].format(i=sending.block)
    if computing is None:
        return phrase(f"All ranks wait: {carried}.")
    does = COMPUTES[computing.word].format(i=computing.block)
    return phrase(f"{does}. Meanwhile {carried}.") if carried else phrase(f"{does}, and sends nothing.")


def frames(kind: str, ranks: int, spans: list[Span], step: Step) -> list[list[Any]]:
    """The moments at which something begins, and the end: microseconds, blocks, memory, bytes sent, a sentence."""
    frames: list[list[Any]] = []
    end = max(span.end for span in spans)
    turn = next(span.start for span in spans if span.word == "backward")
    for now in [*sorted({span.start for span in spans}), end]:
        states = [block_at(kind, i, spans, now) for i in range(BLOCKS)]
        active = [span for span in spans if span.start <= now < span.end]
        say = sentence(kind, active, now >= turn)
        sent = sum(sent_by(kind, span, ranks) for span in spans if not is_compute(span) and span.end <= now)
        bytes_now = memory(kind, states, step, ranks)
        frames.append(
            [round(now * 1e6), " ".join(states), bytes_now, round(sent), say if frames else f"{BEGIN[kind]} {say}"]
        )
    assert all(a[0] < b[0] for a, b in pairwise(frames))
    assert bytes_now[2:] == [step.gradients, 0, 0]
    assert max(frame[2][4] for frame in frames) == step.activations
    return frames


def curve(kind: str, ranks: int, spans: list[Span], step: Step) -> list[list[int]]:
    """The memory of a rank whenever it changes: the time, and the five kinds of bytes."""
    points: list[list[int]] = []
    for now in sorted({0.0, *(time for span in spans for time in (span.start, span.end))}):
        here = memory(kind, [block_at(kind, i, spans, now) for i in range(BLOCKS)], step, ranks)
        if not points or points[-1][1:] != here:
            points.append([round(now * 1e6), *here])
    return points


def data() -> dict[str, Any]:
    steps = {(kind, ranks): check(kind, ranks) for kind in KINDS for ranks in RANKS}
    scenes: dict[str, Any] = {}
    sentences: list[str] = []
    for (kind, ranks), step in steps.items():
        for name, link in LINKS.items():
            schedule(kind, ranks, link, early=True)
            spans = [s._replace(start=round(s.start, 9), end=round(s.end, 9)) for s in schedule(kind, ranks, link)]
            shown, whole = frames(kind, ranks, spans, step), curve(kind, ranks, spans, step)
            for frame in shown:
                if frame[-1] not in sentences:
                    sentences.append(frame[-1])
                frame[-1] = sentences.index(frame[-1])
            scenes[f"{kind} {ranks} {name}"] = {
                "spans": [[s.word, s.block, round(s.start * 1e6), round(s.end * 1e6)] for s in spans],
                "frames": shown,
                "curve": whole,
                "peak": max(sum(row[1:]) for row in whole),
            }
    sent = {kind: scenes[f"{kind} 4 {next(iter(LINKS))}"]["frames"][-1][3] for kind in KINDS}
    assert sent["DDP"] * 4 == 2 * 3 * BLOCKS * BLOCK and sent["FSDP"] * 4 == 3 * 3 * BLOCKS * BLOCK
    first = scenes[f"FSDP 4 {next(iter(LINKS))}"]["frames"]
    start = next(i for i, (_, blocks, *_) in enumerate(first) if "p" in blocks)
    return {
        "kinds": KINDS,
        "ranks": RANKS,
        "links": [*LINKS],
        "legend": phrase(
            "Half as high: only a rank's part of a sum. Orange: gathered for now, dashed while on the way."
        ),
        "letters": phrase(
            "F\u00a0forward, B\u00a0backward, G\u00a0all-gather, R\u00a0reduce-scatter, A\u00a0all-reduce, each with its block"
        ),
        "words": ["all-gather", "reduce-scatter", "all-reduce"],
        "start": start,
        "not": NOT,
        "sentences": sentences,
        "scenes": scenes,
    }
