"""The cost model: collectives, and a link fitted to measurements."""

from __future__ import annotations

from ...engine.check import program
from ..cases import drawing, drawn, rows
from ..shared_09 import _explained

_COLLECTIVES = ["all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast"]
_OTHERS = [
    *("gather", "reduce", "scatter", "all", "", "all_reduced", "all_reduce_coalesced", "reduce_scatter_tensor"),
    *("all_gather_into_tensor", "all_to_all_single", "broadcast_object_list", "_all_gather_base", "ALL_REDUCE"),
]


@program(
    "distributed.cost.ring_cost",
    cases=drawn(
        collective=[*_COLLECTIVES, *_COLLECTIVES, "scatter", "all_reduced"],
        nbytes=[0, 4, 12, 1000, 2400000],
        ranks=lambda st: st.one_of(st.integers(1, 20), st.sampled_from([512, 1000, 16384])),
    ),
    edges=rows(
        "collective nbytes ranks",
        *[(collective, 1200, ranks) for collective in _COLLECTIVES for ranks in (1, 2, 3, 4, 8)],
        *[("broadcast", 8, ranks) for ranks in (5, 7, 9, 16384)],
        ("all_gather", 0, 4),
        ("broadcast", 0, 4),
        *[("all_reduce", 4096, 16384), ("barrier", 12, 1), *[(other, 12, 2) for other in _OTHERS]],
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


_FIT = (
    "least squares of (model - seconds) / seconds: divide each row by its seconds. If one of the two would be negative it is 0, "
    "and the other is fitted again on its own"
)


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
        ([[3, 10.0, 0.5], [3, 11.0, 0.52], [3, 11.0, 0.53]],),  # by less than a byte per step
    ),
    hint=_explained(
        refused="all rows have the same number of bytes per step: latency and bandwidth cannot be separated, ValueError",
        bandwidth=_FIT, **{"latency in us": _FIT},
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
        fit = np.zeros(2)
        fit[columns] = np.linalg.lstsq((factors / scale)[:, columns], ones, rcond=None)[0]
        if min(fit) >= 0:
            candidates.append([(((factors / scale) @ fit - 1) ** 2).sum(), *(fit / scale).tolist()])
    _, latency, inverse = min(candidates)
    return {"latency in us": latency * 1e6, "bandwidth": 1 / inverse if inverse else float("inf")}
