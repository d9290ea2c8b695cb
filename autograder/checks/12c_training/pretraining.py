"""Lab 12c, all pieces together: a small MiniGPT is trained, stopped, resumed and asked."""

from __future__ import annotations

import numpy as np

from rushlight.course import sampling
from rushlight.course import training as course
from rushlight.course.gpt import gpt

from ...engine.check import program
from ..cases import drawn, explained, numbers, rows

IGNORED = -100


def _begin(xp, parts, steps, start=0):
    """A run of a small GPT in float64, on batches whose rows have different numbers of targets."""
    model = gpt(xp, vocabulary=11, width=8, heads=2, layers=1, length=6).double()
    with xp.no_grad():
        for number, parameter in enumerate(model.parameters()):
            parameter.copy_(numbers(xp, list(parameter.shape), number + start) * 0.3)
    position = np.arange(8 * 5, dtype=np.int64).reshape(8, 5)
    inputs, targets = (7 * position + position // 4) % 11, (3 * position + position // 6) % 11
    targets[np.arange(5) > np.arange(8)[:, None] % 5] = IGNORED
    data = [*course.batches(inputs, targets, steps, 4)]
    return course.Training(xp, model, data, lr=0.02, warmup=2, clip=0.5, parts=parts)


@program(
    "together.pretraining",
    cases=drawn(parts=(1, 4), steps=(1, 4), stop=(0, 4), seed=(0, 100)),
    edges=rows("parts steps stop seed", (1, 3, 0, 0), (3, 4, 2, 1), (4, 1, 1, 2)),
    draws=5,
    hint=explained(
        steps="the losses and the norms of the gradients, step by step", validation="the loss on the batches of the training",
        greedy="the tokens of the highest scores", drawn="tokens drawn with top-k 5 and top-p 0.9",
    ),
)  # fmt: skip
def pretraining(xp, parts, steps, stop, seed):
    run = _begin(xp, parts, steps)
    shown = [[*run.step()] for _ in range(min(stop, steps))]
    saved = course.checkpoint(run)
    run = _begin(xp, parts, steps, start=3)
    course.resume(run, saved)
    shown += [[*step] for step in run]
    validation = course.evaluate(xp, run.model, run.data, 100)
    generator = xp.Generator().manual_seed(seed)
    draw = lambda scores: sampling.choose(scores, 1.5, top_k=5, top_p=0.9, generator=generator)  # noqa: E731
    greedy = sampling.generate(xp, run.model, [1, 2], 5, lambda scores: sampling.choose(scores, 0))
    return {"steps": shown, "validation": [*validation], "greedy": greedy,
            "drawn": sampling.generate(xp, run.model, [3], 6, draw, end=0)}  # fmt: skip


@pretraining.oracle
def _(torch, parts, steps, stop, seed):
    """A run in torch that is never stopped, of batches in one part, and generation without a cache."""
    run = _begin(torch, 1, steps)
    shown = [[*step] for step in run]
    losses = [
        loss
        for inputs, targets in run.data
        for loss in torch.nn.functional.cross_entropy(
            run.model(torch.from_numpy(inputs)).flatten(0, 1), torch.from_numpy(targets).flatten(), reduction="none"
        )[torch.from_numpy(targets).flatten() != IGNORED].tolist()
    ]
    mean, generator = float(np.mean(losses)), torch.Generator().manual_seed(seed)

    def go_on(text, count, choose):
        start, positions = len(text), 6
        while len(text) < start + count and len(text) <= positions:
            with torch.no_grad():
                text = [*text, choose(run.model(torch.tensor([text]))[0, -1])]
            if text[-1] == 0 and choose is draw:
                break
        return text[start:]

    def draw(scores):
        return sampling.choose(scores, 1.5, top_k=5, top_p=0.9, generator=generator)

    greedy = go_on([1, 2], 5, lambda scores: scores.argmax().item())
    return {"steps": shown, "validation": [mean, float(np.exp(mean)), float(np.sum(losses) / np.log(2) / 100)], "greedy": greedy,
            "drawn": go_on([3], 6, draw)}  # fmt: skip
