"""Lab 09, the cost model: collectives, a link fitted to measurements, the costs of a layer, and the time of a step."""

from __future__ import annotations

from ...engine.check import program
from ..cases import drawing, drawn, first_apart, listed, rows, words

_COLLECTIVES = ["all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast"]


def _explained(refused, **reasons):
    """A hint chosen by the first entry that differs, or `refused` for a case that must raise ValueError."""

    def hint(case, mine, theirs):
        return refused if isinstance(theirs, str) else reasons.get(first_apart(mine, theirs))

    return hint


@program(
    "distributed.cost.ring_cost",
    cases=drawn(
        collective=[*_COLLECTIVES, *_COLLECTIVES, "scatter"],
        nbytes=[0, 4, 12, 1000, 2400000],
        ranks=lambda st: st.one_of(st.integers(1, 20), st.sampled_from([512, 1000, 16384])),
    ),
    edges=rows(
        "collective nbytes ranks",
        *[(each, 1200, ranks) for each in _COLLECTIVES for ranks in (1, 2, 3, 4, 8)],
        *[("broadcast", 8, ranks) for ranks in (5, 7, 9, 16384)],
        *[("all_reduce", 4096, 16384), ("gather", 12, 2), ("barrier", 12, 1)],
    ),
    hint=_explained(
        refused="there is no cost for this collective: ValueError, whatever the other arguments are",
        steps="a ring takes p - 1 steps, an all-reduce two rings; a tree as many as p can be doubled up to, rounded up",
        bytes="in each step of a ring a rank sends nbytes / p; the root of a tree the whole tensor in each round",
    ),
    draws=40,
)
def cost(xp, collective, nbytes, ranks):
    try:
        steps, sent = xp.distributed.cost.ring_cost(collective, nbytes, ranks)
    except ValueError:
        return "ValueError"
    return {"steps": float(steps), "bytes": float(sent)}


@cost.oracle
def cost_by_going_round(torch, collective, nbytes, ranks):
    from fractions import Fraction

    if collective not in _COLLECTIVES:
        return "ValueError"
    rounds, knowing = 0, 1
    while collective == "broadcast" and knowing < ranks:
        rounds, knowing = rounds + 1, knowing * 2
    if collective == "broadcast":
        return {"steps": float(rounds), "bytes": float(rounds * nbytes)}
    parts = [Fraction(nbytes, ranks) for other in range(ranks) if other != 0]  # one for each other rank
    passes = 2 if collective == "all_reduce" else 1
    return {"steps": float(passes * len(parts)), "bytes": float(passes * sum(parts))}


@drawing
def _measurements(draw, st):
    """Measurements of different sizes: true numbers with errors."""
    sizes = draw(st.lists(st.integers(2, 22), min_size=2, max_size=6, unique=True))
    steps = draw(st.sampled_from([1, 2, 6, 14]))
    latency, bandwidth = draw(st.sampled_from([2e-6, 3e-5, 1e-3])), draw(st.sampled_from([1e8, 2e9, 4e10]))
    measured = []
    for size in sizes:
        seconds = (steps * latency + 2**size / bandwidth) * draw(st.sampled_from([0.7, 0.9, 1.0, 1.25, 1.6]))
        measured.append([steps, float(2**size), float(f"{seconds:.6g}")])
    if draw(st.integers(0, 3)) == 0:
        measured.append([steps, 4096.0, 0.01])
    if len({seconds for _, _, seconds in measured}) == 1:  # 1 / bandwidth is then 0, or what is left by rounding
        measured[0][2] *= 2
    return {"rows": measured}


@program(
    "distributed.cost.fit",
    cases=_measurements,
    edges=rows(
        "rows",
        ([[2, 1000.0, 0.003], [2, 5000.0, 0.007]],), ([[6, 4e3, 0.00013], [6, 4e5, 0.00025], [6, 4e7, 0.0137]],),
        ([[1, 10.0, 1.0], [1, 20.0, 2.5], [1, 40.0, 3.0], [1, 80.0, 11.0]],),
        ([[2, 100.0, 0.1], [2, 1000.0, 5.0]],),  # a negative latency, unless it is forbidden
        ([[2, 100.0, 0.1], [4, 5000.0, 3.0], [2, 1000.0, 5.0]],),
        ([[2, 100.0, 0.5], [2, 1000.0, 0.2]],),  # a negative 1 / bandwidth
        ([[1, 100.0, 0.5], [3, 1000.0, 0.2], [2, 500.0, 0.4]],), ([[1, 10.0, 0.5], [2, 20.0, 0.5], [2, 60.0, 1.5]],),
        ([[2, 10.0, 0.5]],), ([[2, 10.0, 0.5], [4, 20.0, 0.7]],), ([[3, 10.0, 0.5], [3, 10.0, 0.7]],), ([],),
        ([[2, 1000.0, 0.003], [4, 1000.0, 0.005]],),  # of one size, in messages of different sizes
    ),
    hint=_explained(
        refused="all rows have the same number of bytes per step: latency and bandwidth cannot be separated, ValueError",
        latency="least squares of (model - seconds) / seconds: divide each row by its seconds; never negative",
        bandwidth="if one of the two would be negative it is 0, and the other is fitted again on its own",
    ),
    draws=60,
)  # fmt: skip
def fitted(xp, rows):
    try:
        link = xp.distributed.cost.fit([*rows])
    except ValueError:
        return "ValueError"
    return {"latency in us": float(link.latency * 1e6), "bandwidth": float(link.bandwidth)}


@fitted.oracle
def fitted_by_numpy(torch, rows):
    import numpy as np

    table = np.array(rows, dtype=np.float64).reshape(-1, 3)
    if len(np.unique(table[:, 1] / table[:, 0])) < 2:
        return "ValueError"
    factors, ones = table[:, :2] / table[:, 2:], np.ones(len(table))
    scale = factors.max(0)
    candidates = []
    for columns in ([0, 1], [0], [1]):
        found = np.zeros(2)
        found[columns] = np.linalg.lstsq((factors / scale)[:, columns], ones, rcond=None)[0]
        if min(found) >= 0:
            candidates.append([(((factors / scale) @ found - 1) ** 2).sum(), *(found / scale).tolist()])
    _, latency, inverse = min(candidates)
    return {"latency in us": latency * 1e6, "bandwidth": 1 / inverse if inverse else float("inf")}


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
        *[(each, _LAYER, n, 8, _LINK, _SLOW) for each in words("ddp fsdp hsdp tp cp ep gpipe pp zero") for n in (1, 4)],
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
