"""The training of the MiniGPT: the same loop, in the same order, on rushlight or on torch.

Nothing in it belongs to one framework: `xp` is rushlight or torch, the batches are numpy arrays, so both get the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from rushlight.course.tokens import Tokenizer

IGNORED = -100
"""The target of a position that has none, `ignore_index` of the cross-entropy."""


class Step(NamedTuple):
    """What a step of training gave: the mean loss in nats a token, and the gradient's norm before it was clipped."""

    loss: float
    grad_norm: float


def rows(texts: Iterable[str], tokenizer: Tokenizer, length: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows that a model is trained on: its inputs, and for each position the token that it has to predict.

    The targets of a text are its tokens, `tokenizer.encode(text)`, and then `tokenizer.end`, from the first position of the row on.
    The inputs are one token behind: the first input is `end`, as if another text had just ended, and the input at each later
    position of the text is the target before. Behind the text the targets are `IGNORED` and the inputs are `end`. A text with more
    than `length` targets has no row.

    >>> inputs, targets = rows(["hi", "a"], Tokenizer([]), 3)
    >>> inputs.tolist(), targets.tolist()
    ([[256, 104, 105], [256, 97, 256]], [[104, 105, 256], [97, 256, -100]])

    Args:
        texts: any iterable of str.
        tokenizer: has `encode` and `end`.
        length: how many positions a row has, 1 or more.

    Returns:
        a tuple of two numpy arrays, (rows, `length`), int64. The rows are in the order of the texts.

    Source: `torch/nn/utils/rnn.py`, `pad_sequence`, and `torch/nn/functional.py`, `cross_entropy`.
    """
    encoded = [[*tokenizer.encode(text), tokenizer.end] for text in texts]
    encoded = [each for each in encoded if len(each) <= length]
    inputs = np.full((len(encoded), length), tokenizer.end, np.int64)
    targets = np.full((len(encoded), length), IGNORED, np.int64)
    for i, each in enumerate(encoded):
        inputs[i, 1 : len(each)], targets[i, : len(each)] = each[:-1], each
    return inputs, targets


def batches(inputs: np.ndarray, targets: np.ndarray, steps: int, size: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The rows in their order, `size` at a time, from the start again after the last."""
    for step in range(steps):
        chosen = np.arange(step * size, (step + 1) * size) % len(inputs)
        yield inputs[chosen], targets[chosen]


def parameter_groups(model: Any, weight_decay: float) -> list[dict[str, Any]]:
    """Two groups for an optimiser: matrices, which decay, and biases and the parameters of norms, which do not."""
    parameters = [*model.parameters()]
    return [
        {"params": [each for each in parameters if each.dim() >= 2], "weight_decay": weight_decay},
        {"params": [each for each in parameters if each.dim() < 2], "weight_decay": 0.0},
    ]


def warmup_cosine(step: int, steps: int, warmup: int, last: float = 0.1) -> float:
    """The factor of the learning rate: it rises to 1 in `warmup` steps, then falls to `last` on half a wave of a cosine."""
    if step < warmup:
        return (step + 1) / warmup
    done = (step - warmup) / max(1, steps - warmup)
    return last + (1 - last) * (1 + math.cos(math.pi * min(done, 1))) / 2


def train(
    xp: ModuleType,
    model: Any,
    data: Sequence[tuple[np.ndarray, np.ndarray]],
    *,
    lr: float = 3e-3,
    warmup: int = 20,
    weight_decay: float = 0.1,
    clip: float = 1.0,
    forward: Any = None,
) -> Iterator[Step]:
    """Train on the batches in their order, one step each. `forward` is called in the place of the model: compiled, say."""
    forward = forward or model
    optimizer = xp.optim.AdamW(parameter_groups(model, weight_decay), lr=lr, betas=(0.9, 0.95))
    factor = lambda step: warmup_cosine(step, len(data), warmup)  # noqa: E731
    scheduler = xp.optim.lr_scheduler.LambdaLR(optimizer, factor)
    for inputs, targets in data:
        scores = forward(xp.from_numpy(inputs))
        loss = xp.nn.functional.cross_entropy(
            scores.flatten(0, 1), xp.from_numpy(targets).flatten(), ignore_index=IGNORED
        )
        optimizer.zero_grad()
        loss.backward()
        norm = xp.nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        scheduler.step()
        yield Step(loss.item(), norm.item())
