"""Categories and bytes of real training steps are those of torch's memory profiler."""

import pytest
import torch
from torch import nn
from torch.profiler._memory_profiler import MemoryProfileTimeline

from rushlight.on_torch import memory
from rushlight.on_torch.memory import profile_memory
from rushlight.profiler._memory_profiler import CATEGORIES, coalesce_timeline, propagate_categories


def training(model, make_optimizer, loss=lambda y: y.square().mean()):
    x = torch.randn(8, 4)
    optimizer = make_optimizer(model.parameters())

    def step():
        loss(model(x)).backward()
        optimizer.step()

    step()
    optimizer.zero_grad()
    return step


STEPS = {
    "a layer": lambda: training(nn.Linear(4, 3), lambda parameters: torch.optim.SGD(parameters, lr=0.1)),
    "momentum": lambda: training(
        nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 2)),
        lambda parameters: torch.optim.SGD(parameters, lr=0.1, momentum=0.9, foreach=False),
    ),
    "AdamW": lambda: training(
        nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.LayerNorm(5), nn.Linear(5, 2)),
        lambda parameters: torch.optim.AdamW(parameters, foreach=False),
    ),
    "in place": lambda: training(
        nn.Sequential(nn.Linear(4, 5), nn.ReLU(inplace=True), nn.Linear(5, 2)),
        lambda parameters: torch.optim.SGD(parameters, lr=0.1),
        loss=lambda y: nn.functional.log_softmax(y, 1).sum(),
    ),
}


@pytest.mark.parametrize("name", STEPS)
def test_the_rules_find_the_categories_that_torch_finds(name):
    found = profile_memory(STEPS[name]())
    assert propagate_categories(found.nodes, found.known) == found.categories
    assert {"activation", "gradient", "parameter", "autograd_detail"} <= {*found.categories.values()}


@pytest.mark.parametrize("name", STEPS)
def test_the_bytes_of_each_category_over_time_are_those_of_torch(name, monkeypatch):
    kept, as_data = [], memory._as_data
    monkeypatch.setattr(memory, "_as_data", lambda made: kept.append(made) or as_data(made))
    found = profile_memory(STEPS[name]())
    times, sizes = coalesce_timeline(found.events, found.categories)
    expected = MemoryProfileTimeline(kept[0])._coalesce_timeline("cpu")
    assert times == expected[0] and sizes == [each[1:] for each in expected[1]]
    assert sizes[0][CATEGORIES.index("parameter")] > 0 and all(size >= 0 for each in sizes for size in each)
