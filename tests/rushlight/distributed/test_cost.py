import itertools
import math

import numpy as np
import pytest

from rushlight.distributed.cost import Cluster, Layer, Link, fit, layer_costs, measure, project, ring_cost, step_time

KINDS = ["all_reduce", "reduce_scatter", "all_gather", "all_to_all"]
INSIDE, BETWEEN = Link(2e-6, 4e11), Link(8e-6, 5e10)
LAYER = Layer(1e-3, 2e-3, 4e7, 1e7)


def test_an_all_reduce_costs_a_reduce_scatter_and_an_all_gather():
    for ranks in (1, 2, 3, 8, 16384):
        whole, first, second = (ring_cost(kind, 48.0, ranks) for kind in KINDS[:3])
        assert whole == (first[0] + second[0], pytest.approx(first[1] + second[1]))
    assert ring_cost("broadcast", 10.0, 5) == (3, 30.0)
    with pytest.raises(ValueError):
        ring_cost("gather", 1.0, 2)


def test_a_fit_finds_the_link_that_made_the_times():
    rows = [(6, n, 6 * 2e-5 + n / 3e9) for n in (4e3, 4e5, 4e7)]
    assert fit(rows) == pytest.approx(Link(2e-5, 3e9))


def test_no_other_link_fits_better():
    generator = np.random.default_rng(0)
    for _ in range(50):
        rows = [(6, n, t) for n, t in zip(generator.uniform(1, 100, 5), generator.uniform(0.1, 1, 5))]

        def error(latency, inverse):
            return sum(((steps * latency + n * inverse) / seconds - 1) ** 2 for steps, n, seconds in rows)

        link = fit(rows)
        assert min(link.latency, link.bandwidth) >= 0
        best = error(link.latency, 1 / link.bandwidth)
        grid = [error(a, b) for a in np.linspace(0, 0.2, 40) for b in np.linspace(0, 0.05, 40)]
        assert best <= min(grid)
    with pytest.raises(ValueError):
        fit([(2, 10, 1.0), (4, 20, 3.0)])


def test_what_overlaps_takes_less_time_but_not_less_than_the_longer_of_the_two():
    for layers, gather, reduce in itertools.product((1, 2, 7), (0.0, 0.5, 3.0, 8.0), (0.0, 0.5, 3.0, 8.0)):
        alone = step_time(layers, 1.0, 2.0, gather, reduce, overlap=False)
        both = step_time(layers, 1.0, 2.0, gather, reduce)
        assert alone == pytest.approx(layers * (3.0 + 2 * gather + reduce))
        assert max(3.0 * layers, layers * (2 * gather + reduce)) <= both + 1e-9 <= alone + 2e-9


def test_of_a_step_of_ddp_only_the_last_reduction_is_exposed():
    assert step_time(10, 1.0, 2.0, 0.0, 1.5) == pytest.approx(30 + 1.5)
    assert step_time(10, 1.0, 2.0, 0.0, 5.0) == pytest.approx(10 + 2 + 50)


def test_strategies_send_what_they_send():
    one = Cluster(1, 8, INSIDE, BETWEEN)
    many = Cluster(4, 8, INSIDE, BETWEEN)
    ddp, fsdp, hsdp = (layer_costs(strategy, LAYER, many) for strategy in ("ddp", "fsdp", "hsdp"))
    assert fsdp[2] + fsdp[3] == pytest.approx(ddp[3])
    assert hsdp[2] < fsdp[2] and hsdp[3] < fsdp[3]
    assert layer_costs("hsdp", LAYER, one) == layer_costs("fsdp", LAYER, one)
    assert layer_costs("tp", LAYER, one)[3] == 0
    with pytest.raises(ValueError):
        layer_costs("pp", LAYER, one)


def test_projections_go_up_to_16384_ranks():
    rows = project("hsdp", 24, LAYER, 8, INSIDE, BETWEEN)
    assert [ranks for ranks, _, _ in rows] == [8 * 2**k for k in range(12)]
    assert all(0 < share <= 1 for _, _, share in rows)
    assert rows[-1][1] > rows[0][1]


@pytest.mark.sweep
def test_what_is_measured_here_can_be_fitted():
    rows = measure([4, 40_000, 4_000_000], ranks=2, repeat=3)
    assert [(steps, nbytes) for steps, nbytes, _ in rows] == [(2, 4), (2, 40_000), (2, 4_000_000)]
    link = fit(rows)
    assert link.latency >= 0 and 0 < link.bandwidth <= math.inf
