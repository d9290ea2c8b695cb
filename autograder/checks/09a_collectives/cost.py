"""The cost model: collectives, and cases of a student for the fit of a link."""

from __future__ import annotations

from ...engine.check import program
from ..cases import breaking, drawn, first_apart, no_cases, rows

_COLLECTIVES = ["all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast"]
_OTHERS = [
    *("gather", "reduce", "scatter", "all", "", "all_reduced", "all_reduce_coalesced", "reduce_scatter_tensor"),
    *("all_gather_into_tensor", "all_to_all_single", "broadcast_object_list", "_all_gather_base", "ALL_REDUCE"),
]


def _about_cost(case, mine, theirs):
    wrong, of_a_tree = first_apart(mine, theirs), case["collective"] == "broadcast"
    if isinstance(theirs, str):
        return "there is no cost for this collective: ValueError, whatever the other arguments are"
    if wrong == "steps" and of_a_tree:
        return "each round of a tree doubles the ranks that have the tensor, until all have it"
    if wrong == "steps":
        return "a ring takes p - 1 steps, and an all-reduce is two rings"
    if wrong == "bytes" and of_a_tree:
        return "the steps are right: in each of them the root of the tree sends the whole tensor"
    return "the steps are right: in each of them a rank of a ring sends nbytes / p" if wrong == "bytes" else None


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
    hint=_about_cost,
    draws=40,
)
def cost(xp, collective, nbytes, ranks):
    try:
        link_use = xp.distributed.cost.ring_cost(collective, nbytes, ranks)
    except ValueError:
        return "ValueError"
    steps, sent = link_use
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


BREAKS, BODIES = "course.breaks.breaks_fit", "09a.fit"


@program(f"{BREAKS}.half", cases=no_cases, edges=[{}], examine=breaking(BODIES, "1/2"))
def breaks_half(xp):
    return xp.breaks.breaks_fit()


@program(f"{BREAKS}.most", cases=no_cases, edges=[{}], examine=breaking(BODIES, "3/4"))
def breaks_most(xp):
    return xp.breaks.breaks_fit()


@program(BREAKS, cases=no_cases, edges=[{}], examine=breaking(BODIES, "1"))
def breaks_fit(xp, **case):
    """The cases, or the link that `fit` finds for one of them."""
    if not case:
        return xp.breaks.breaks_fit()
    assert _are_measurements(case["rows"])
    try:
        link = xp.distributed.cost.fit([(steps, nbytes, time / 1e6) for steps, nbytes, time in case["rows"]])
    except ValueError:
        return "ValueError"
    return {"latency in us": float(link.latency * 1e6), "bandwidth": float(link.bandwidth)}


@breaks_fit.oracle
def _(torch, rows):
    if not _are_measurements(rows):
        raise ValueError("a row is no triple of positive numbers")
    table = torch.tensor(rows, dtype=torch.float64).reshape(-1, 3)
    if len(torch.unique(table[:, 1] / table[:, 0])) < 2:
        return "ValueError"
    factors, ones = table[:, :2] / (table[:, 2:] / 1e6), torch.ones(len(table), 1, dtype=torch.float64)
    scale = factors.amax(0)
    factors, candidates = factors / scale, []
    for columns in ([0, 1], [0], [1]):  # both numbers, or one of them, and the other is 0
        found = torch.zeros(2, 1, dtype=torch.float64)
        found[columns] = torch.linalg.lstsq(factors[:, columns], ones).solution
        if found.min() >= 0:
            errors = (factors @ found - 1).square().sum()
            candidates.append([errors.item(), *(found.squeeze() / scale).tolist()])
    _, latency, inverse = min(candidates)
    return {"latency in us": latency * 1e6, "bandwidth": 1 / inverse if inverse else float("inf")}


def _are_measurements(rows):
    return all(len(row) == 3 and min(row) > 0 for row in rows)
