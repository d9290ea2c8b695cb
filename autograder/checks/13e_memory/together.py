"""The check that runs the mended scripts of lab 13e together."""

from __future__ import annotations

from ...engine.check import program
from ..cases import drawn, numbers, rows


def _model(torch, attend, length, start):
    class Pool(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.queries = torch.nn.Parameter(numbers(torch, [2, 3], start, "float32") * 100)
            self.register_buffer("allowed", torch.arange(length) < torch.tensor([[length], [start % 2]]))

        def forward(self, x):
            return attend(self.queries @ x.T * 8, x, self.allowed)

    return torch.nn.Sequential(Pool())


def _batches(torch, length, start):
    for i in range(4):
        x = numbers(torch, [length, 3], start + i, "float32")
        yield x, numbers(torch, [2, 3 - i % 2], start + i + 1, "float32")


@program(
    "together.clinic_memory",
    cases=drawn(length=(1, 10), start=(0, 10), rate=[0.5, 0.25, 0.125]),
    edges=rows("length start rate", (4, 1, 0.5), (3, 2, 0.5), (1, 3, 0.5)),
    draws=6,
)
def trained_without_waste(rl, length, start, rate):
    import torch

    memory = rl.clinic.memory
    model, report = _model(torch, memory.attend, length, start), []
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)

    def run():
        report.extend(memory.fit(model, optimizer, _batches(torch, length, start)))

    first = memory.first_not_finite(model, run)
    losses, activity, messages = report
    x, target = numbers(torch, [4], start, "float32"), numbers(torch, [4], start + 1, "float32")
    points = [*memory.descend(x, target, [0.5, 2.5, 0.5])]
    return {
        "first": first,
        "held": dict(memory.held_bytes({"parameters": [*model.parameters()], "report": report, "points": points})),
        "reads": dict(memory.transfers(memory.descend, x, target, [0.5, 2.5])),
        "report": [torch.tensor(losses), torch.tensor(activity), len(messages)],
        "queries": model[0].queries.detach(),
        "points": points,
    }


@trained_without_waste.oracle
def trained_by_torch(torch, length, start, rate):
    def attend(scores, values, allowed):
        attended = [
            torch.nn.functional.softmax(row[keep], 0) @ values[keep] if keep.any() else values[:0].sum(0)
            for row, keep in zip(scores, allowed)
        ]
        return torch.stack(attended)

    model, losses, activity = _model(torch, attend, length, start), [], []
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    for i, (x, y) in enumerate(_batches(torch, length, start)):
        result = model(x)
        activity.append(result.detach().abs().mean())
        if i % 2 == 0:
            optimizer.zero_grad()
            loss = (result - y).square().mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
    x, target = numbers(torch, [4], start, "float32"), numbers(torch, [4], start + 1, "float32")
    seen, points = [], []
    for step in (0.5, 2.5, 0.5):
        error = x - target
        seen.append(error.square().mean())
        points.append(x)
        x = x - step * (error / max(1.0, error.abs().max().item()))
    at = int(torch.stack(seen).argmin())
    held = {"parameters": 24, "report": 0, "points": 12 + 4 + 16}
    return {
        "first": None,
        "held": held,
        "reads": {},
        "report": [torch.stack(losses), torch.stack(activity), 2],
        "queries": model[0].queries.detach(),
        "points": [torch.stack(seen), seen[at], points[at]],
    }
