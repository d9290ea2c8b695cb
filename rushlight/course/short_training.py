"""A MiniGPT that has been trained for a little while, and sentences that it has not seen."""

from __future__ import annotations

from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from rushlight.course import corpus, tokens, trained, training
from rushlight.course.gpt import gpt

LENGTH, SIZE = 32, 32


class Trained(NamedTuple):
    """A model, its tokeniser, and rows of sentences that it has not seen: inputs and targets, (256, 32)."""

    model: Any
    tokenizer: tokens.Tokenizer
    inputs: np.ndarray
    targets: np.ndarray


def trained_gpt(xp: ModuleType, steps: int = 100) -> Trained:
    """Train a MiniGPT on rushlight or on torch (`xp`). It takes some 10 to 30 seconds, and is the same each time."""
    texts = [line.text for line in corpus.split("train")]
    tokenizer = trained.tokenizer()
    inputs, targets = training.rows(texts, tokenizer, LENGTH)
    xp.manual_seed(12)
    model = gpt(xp)
    batches = [*training.batches(inputs[:-256], targets[:-256], steps, SIZE)]
    for _ in training.train(xp, model, batches, lr=1e-2):
        pass
    return Trained(model, tokenizer, inputs[-256:], targets[-256:])
