"""The cost model: the costs of a layer, and the time of a step."""

from __future__ import annotations

from ...engine.check import program
from ..cases import drawn, listed, rows, words
from ..shared_09 import _explained

_LINK = [0.000002, 400000000000.0]
_SLOW = [0.000008, 50000000000.0]
_LAYER = [0.001, 0.002, 40000000.0, 10000000.0]
_links = listed([2e-6, 1e-5], [5e10, 4e11])
_layers = drawn(
    strategy=["ddp", "fsdp", "hsdp", "tp"], layer=listed([1e-3, 2e-3], [3e-3, 5e-3], [4e6, 4e8], [1e6, 7e7]),
    nodes=[1, 2, 3, 16, 2048], per_node=[1, 2, 4, 8], inside=_links, between=_links,
)  # fmt: skip


@program(
    "distributed.cost.layer_costs",
    cases=_layers,
    edges=rows(
        "strategy layer nodes per_node inside between",
        *[
            (strategy, _LAYER, n, 8, _LINK, _SLOW)
            for strategy in words("ddp fsdp hsdp tp cp ep gpipe p pp zero DDP fsdp2 tp2")
            for n in (1, 4)
        ],
        *[
            (strategy, [0.001, 0.002, 12.0, 20.0], 4, 8, [0.0, 1e3], [0.0, 1e2])
            for strategy in words("ddp fsdp hsdp tp")
        ],
    ),
    hint=_explained(
        refused="no such strategy: ValueError",
        forward="only tensor parallelism changes it: less to compute on each rank, and two all-reduces of the activations",
        backward="only tensor parallelism changes it: less to compute on each rank, and two all-reduces of the activations",
        gather="what has to come before a layer can compute: the parameters that the other ranks hold",
        reduce="over how many ranks, through which link, and how much: after a reduce-scatter a rank has only its shard",
    ),
    draws=30,
)
def layer_cost(xp, strategy, layer, nodes, per_node, inside, between):
    cost = xp.distributed.cost
    cluster = cost.Cluster(nodes, per_node, cost.Link(*inside), cost.Link(*between))
    try:
        costs = cost.layer_costs(strategy, cost.Layer(*layer), cluster)
    except ValueError:
        return "ValueError"
    return {name: float(cost * 1e6) for name, cost in zip(("forward", "backward", "gather", "reduce"), costs)}


@layer_cost.oracle
def layer_cost_by_formula(torch, strategy, layer, nodes, per_node, inside, between):
    forward, backward, nbytes, activations = (1e6 * number for number in layer)  # microseconds, and bytes for them

    def half(size, ranks, link):
        """A reduce-scatter or an all-gather."""
        return (ranks - 1) * (link[0] * 1e6 + size / ranks / link[1])

    everywhere, world = between if nodes > 1 else inside, nodes * per_node
    shards = 2 * half(nbytes / per_node, nodes, between)
    within = 4 * half(activations, per_node, inside)
    costs = {
        "ddp": lambda: [forward, backward, 0.0, 2 * half(nbytes, world, everywhere)],
        "fsdp": lambda: [forward, backward, half(nbytes, world, everywhere), half(nbytes, world, everywhere)],
        "hsdp": lambda: [forward, backward, half(nbytes, per_node, inside), half(nbytes, per_node, inside) + shards],
        "tp": lambda: [forward / per_node + within, backward / per_node + within, 0.0, shards],
    }
    if strategy not in costs:
        return "ValueError"
    return dict(zip(("forward", "backward", "gather", "reduce"), costs[strategy]()))


_SECONDS = [0.0, 0.5, 1.0, 2.0, 3.0, 8.0]
_steps = drawn(
    layers=(1, 6), forward=[0.5, 1.0, 2.0], backward=[1.0, 2.0, 3.0], gather=_SECONDS, reduce=_SECONDS,
    overlap=[True, True, True, False],
)  # fmt: skip
_STEPS = rows(
    "layers forward backward gather reduce overlap",
    (4, 1.0, 2.0, 0.5, 1.5, False), (1, 1.0, 2.0, 0.0, 0.0, True), (1, 1.0, 2.0, 0.0, 3.0, True),
    (4, 1.0, 2.0, 0.0, 1.0, True), (4, 1.0, 2.0, 0.0, 5.0, True), (1, 1.0, 2.0, 0.5, 0.0, True),
    (3, 1.0, 2.0, 0.5, 0.0, True), (3, 1.0, 2.0, 4.0, 0.0, True), (4, 1.0, 2.0, 0.5, 0.5, True),
    (4, 1.0, 2.0, 0.5, 1.5, True), (4, 1.0, 2.0, 3.0, 3.0, True), (5, 0.5, 3.0, 2.0, 1.0, True),
    (2, 2.0, 1.0, 1.0, 8.0, True), (6, 1.0, 2.0, 1.5, 0.5, True), (4, 2.0, 1.0, 1.5, 0.0, True),
    (5, 2.0, 1.0, 1.5, 0.5, True),
)  # fmt: skip


def _about_steps(case, mine, theirs):
    if not case["overlap"]:
        return "without overlap: all forwards, backwards and reductions, and two gathers for each layer"
    if not case["gather"]:
        return (
            "without gathers computing never waits; a reduction begins after its backward and the reduction before it"
        )
    return "a gather begins when the computation before the one that needs it begins: not earlier, and not later"


@program("distributed.cost.step_time", cases=_steps, edges=_STEPS, hint=_about_steps, draws=60)
def step(xp, layers, forward, backward, gather, reduce, overlap):
    return float(xp.distributed.cost.step_time(layers, forward, backward, gather, reduce, overlap))


@step.oracle
def step_by_events(torch, layers, forward, backward, gather, reduce, overlap):
    if not overlap:
        return float(sum([forward, backward, gather, gather, reduce] * layers))
    # Every event by name: its duration, and the events that must have begun or ended before it.
    names = [f"forward {i}" for i in range(layers)] + [f"backward {i}" for i in range(layers)]
    wire = []  # in the order of their start
    for i, name in enumerate(names):
        wire += [("gather", name)] if gather else []
        if i > layers and reduce:
            wire.append(("reduce", names[i - 1]))
    wire += [("reduce", names[-1])] if reduce else []
    began, ended = {}, {("compute", None): 0.0}
    waiting = {"compute": [("compute", name) for name in names], "wire": wire}
    free = {"compute": 0.0, "wire": 0.0}
    while any(waiting.values()):
        for queue, tasks in waiting.items():
            if not tasks:
                continue
            kind, name = tasks[0]
            before = names[names.index(name) - 1] if names.index(name) else None
            if kind == "compute":
                needs = [ended.get(("gather", name)) if gather else 0.0, ended.get(("compute", before))]
                seconds = forward if name.startswith("forward") else backward
            elif kind == "gather":
                needs, seconds = [began.get(before, None if before else 0.0)], gather
            else:
                needs, seconds = [ended.get(("compute", name))], reduce
            if None in needs:
                continue
            start = max(free[queue], *needs)
            if kind == "compute":
                began[name] = start
            free[queue] = ended[kind, name] = start + seconds
            tasks.pop(0)
    return float(max(free.values()))
