"""Timings: the same blocks, medians and merged rows as torch's, on a clock that the test sets."""

import itertools

import pytest
from torch.utils import benchmark as theirs

from rushlight.utils import benchmark as mine


class Clock:
    """A clock on which a statement takes `cost` seconds, and a look at the clock `look`."""

    def __init__(self, cost, look):
        self.now, self.cost, self.look = 0.0, cost, look

    def __call__(self):
        self.now += self.look
        return self.now

    def work(self):
        self.now += self.cost


@pytest.mark.parametrize(("cost", "look"), [*itertools.product([1e-6, 1e-4, 0.3], [1e-8, 1e-6, 1e-4])])
def test_blocks_are_as_long_as_torchs(cost, look):
    found = []
    for benchmark in (mine, theirs):
        clock = Clock(cost, look)
        found.append(
            benchmark.Timer("work()", timer=clock, globals={"work": clock.work}).blocked_autorange(min_run_time=0.02)
        )
    assert found[0].number_per_run == found[1].number_per_run
    assert found[0].median == pytest.approx(found[1].median)
    assert len(found[0].raw_times) == len(found[1].raw_times)


@pytest.mark.parametrize("times", [[1.0], [1.0, 2.0], [3.0, 1.0, 2.5], [1e-3, 1.1e-3, 5e-3, 1.05e-3, 0.9e-3, 1e-3]])
def test_statistics_are_torchs(times):
    pair = [module.Measurement(2, times, theirs.utils.common.TaskSpec("x", "pass")) for module in (mine, theirs)]
    for name in ("median", "mean", "iqr", "significant_figures", "has_warnings"):
        assert getattr(pair[0], name) == pytest.approx(getattr(pair[1], name)), name


def test_measurements_of_one_task_are_merged():
    task, other = mine.TaskSpec("x"), mine.TaskSpec("y")
    merged = mine.Measurement.merge(
        [mine.Measurement(2, [2.0], task), mine.Measurement(1, [3.0], other), mine.Measurement(1, [5.0], task)]
    )
    assert [(each.task_spec.stmt, each.times) for each in merged] == [("x", [1.0, 5.0]), ("y", [3.0])]


def test_a_table_has_a_row_for_each_task_and_a_column_for_each_description():
    results = [
        mine.Measurement(1, [time], mine.TaskSpec("x", label="sum", sub_label=size, description=name))
        for time, (size, name) in zip([1e-6, 2e-6, 3e-6, 4e-6], itertools.product(["1", "2"], ["a", "b"]))
    ]
    text = str(mine.Compare(results))
    assert [line.split() for line in text.splitlines()[3:5]] == [
        ["1", "|", "1.0", "|", "2.0"],
        ["2", "|", "3.0", "|", "4.0"],
    ]
