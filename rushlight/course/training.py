"""The training of the MiniGPT: the same loop, in the same order, on rushlight or on torch.

Nothing in it belongs to one framework: `xp` is rushlight or torch, the batches are numpy arrays, so both get the same numbers.
A run (`Training`) is everything that a step changes. `checkpoint` writes all of it down, so that a run that was stopped goes on
bit for bit.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from rushlight.course.tokens import Tokenizer

IGNORED = -100
"""The target of a position that has none, `ignore_index` of the cross-entropy."""


Batch = tuple[np.ndarray, np.ndarray]
"""Inputs and targets, (rows, length), int64."""


class Step(NamedTuple):
    """The result of a training step: the mean loss in nats a token, and the gradient's norm before it was clipped."""

    loss: float
    grad_norm: float


class Validation(NamedTuple):
    """How well a model predicts a text: the mean loss in nats a token, e to this power, and the loss in bits a byte of the text."""

    loss: float
    perplexity: float
    bits_per_byte: float


# Data ----------------------------------------------------------------------------------------------------------------


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
    encoded = [ids for ids in encoded if len(ids) <= length]
    inputs = np.full((len(encoded), length), tokenizer.end, np.int64)
    targets = np.full((len(encoded), length), IGNORED, np.int64)
    for i, ids in enumerate(encoded):
        inputs[i, 1 : len(ids)], targets[i, : len(ids)] = ids[:-1], ids
    return inputs, targets


def batches(inputs: np.ndarray, targets: np.ndarray, steps: int, size: int) -> Iterator[Batch]:
    """The rows in their order, `size` at a time, from the start again after the last."""
    for step in range(steps):
        chosen = np.arange(step * size, (step + 1) * size) % len(inputs)
        yield inputs[chosen], targets[chosen]


# Rules ---------------------------------------------------------------------------------------------------------------


def parameter_groups(model: Any, weight_decay: float) -> list[dict[str, Any]]:
    """Two groups of parameters for AdamW. Those of two or more dimensions decay, and the others (biases, those of norms) do not.

    The first group has the weight decay `weight_decay`, and the second has 0.0. A group is a dict with the keys `params`, a list in
    the order of `model.parameters()`, and `weight_decay`. A parameter that does not require a gradient is in no group, and a
    parameter that two modules share is in its group once. There are two groups, even if one is empty.

        >>> groups = parameter_groups(rl.nn.Linear(64, 600), 0.1)
        >>> [([*group["params"][0].shape], group["weight_decay"]) for group in groups]
        [([600, 64], 0.1), ([600], 0.0)]

    Source: none. This is how GPT-3's authors and most training code after them use `torch/optim/adamw.py`.
    """
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    return [
        {"params": [parameter for parameter in parameters if parameter.dim() >= 2], "weight_decay": weight_decay},
        {"params": [parameter for parameter in parameters if parameter.dim() < 2], "weight_decay": 0.0},
    ]


def warmup_cosine(step: int, steps: int, warmup: int, last: float = 0.1) -> float:
    """The factor of the learning rate in a step. It rises in a line, then falls along half a wave of a cosine.

    In the steps 0 to `warmup` - 1 it is (step + 1) / `warmup`: it begins above 0 and reaches 1. From step `warmup` on, it is
    `last` + (1 - `last`) · (1 + cos(π t)) / 2, where t is the part of the way from `warmup` to `steps` that is done. From step
    `steps` on, it is `last`. If `warmup` is larger than `steps`, it rises all the same.

        >>> [round(warmup_cosine(step, 100, 20), 3) for step in (0, 9, 19, 20, 60, 100, 200)]
        [0.05, 0.5, 1.0, 1.0, 0.55, 0.1, 0.1]

    Args:
        step: counts from 0.
        steps: at least 1.
        warmup: the steps in which it rises. With 0, it begins with 1.

    Source: `torch/optim/lr_scheduler.py`: `LinearLR`, then `CosineAnnealingLR`, in a `SequentialLR`.
    """
    if step < warmup:
        return (step + 1) / warmup
    if step >= steps:
        return last
    done = (step - warmup) / (steps - warmup)
    return last + (1 - last) * (1 + math.cos(math.pi * done)) / 2


# A step --------------------------------------------------------------------------------------------------------------


def sum_of_losses(xp: ModuleType, forward: Callable, inputs: np.ndarray, targets: np.ndarray) -> Any:
    """The losses of all positions that have a target, added up: a tensor () with a graph, if gradients are recorded."""
    scores, targets = forward(xp.from_numpy(inputs)).flatten(0, 1), xp.from_numpy(targets).flatten()
    return xp.nn.functional.cross_entropy(scores, targets, ignore_index=IGNORED, reduction="sum")


def accumulate(xp: ModuleType, forward: Callable, parts: Sequence[Batch]) -> float:
    """Compute the gradient of a batch that comes in parts, one part after another. Returns the mean loss, a float.

    The loss is the cross-entropy, in the mean over all positions of all parts that have a target (one that is not `IGNORED`). The
    parts have different numbers of such positions, and each position counts the same. A part may have none, but not all parts.
    The gradient of this mean is added to the `grad` of the parameters: for each part in its order, `forward` is called with the
    part's inputs, and its scores are differentiated before the next part begins, so that the activations of only one part
    are in memory. The result is the one of a single batch with all the rows, but for rounding. `parts` does not change.

        >>> scores = rl.zeros(1, 4, 600, requires_grad=True)
        >>> parts = [(np.zeros((1, 4), int), np.array([[5, 7, IGNORED, IGNORED]])) for _ in range(2)]
        >>> round(accumulate(rl, lambda inputs: scores, parts), 4)
        6.3969

    Args:
        xp: rushlight or torch, the framework of `forward`.
        forward: from inputs (rows, length), a tensor of int64, to scores (rows, length, vocabulary).
        parts: a list of pairs of numpy arrays, inputs and targets, (rows, length).

    Source: none. `docs/source/notes/amp_examples.rst`, "Gradient accumulation", divides by the number of parts.
    """
    count = sum(int((targets != IGNORED).sum()) for _, targets in parts)
    total = 0.0
    for inputs, targets in parts:
        loss = sum_of_losses(xp, forward, inputs, targets) / count
        loss.backward()
        total += loss.item()
    return total


def evaluate(xp: ModuleType, model: Any, data: Iterable[Batch], size: int) -> Validation:
    """How well a model predicts a text of `size` bytes, whose tokens are the targets of `data` that are not `IGNORED`.

    The model runs in evaluation mode, and grad mode is off. Afterwards both modes are what they were before: each may be on or off.
    The parameters and their gradients are unchanged. The loss is the mean over all tokens, and each token counts the same, whatever
    its batch. A nat is 1 / log(2) bits.

        >>> indifferent = rl.nn.Embedding.from_pretrained(rl.zeros(600, 600))
        >>> data = [(np.zeros((1, 4), int), np.full((1, 4), 7))]
        >>> [round(x, 2) for x in evaluate(rl, indifferent, data, size=10)]
        [6.4, 600.0, 3.69]

    Args:
        xp: rushlight or torch, the framework of the model.
        model: a module with the same mode in all of its parts.
        data: pairs of numpy arrays, inputs and targets, (rows, length), which do not change. It may be a generator.
        size: the bytes of the text in UTF-8. A tokenizer with other tokens has another loss for each, but the same text.

    Returns:
        a `Validation` of three floats.

    Source: none.
    """
    was_training, total, count = model.training, 0.0, 0
    model.eval()
    with xp.no_grad():
        for inputs, targets in data:
            total += sum_of_losses(xp, model, inputs, targets).item()
            count += int((targets != IGNORED).sum())
    model.train(was_training)
    return Validation(total / count, math.exp(total / count), total / math.log(2) / size)


# A run ---------------------------------------------------------------------------------------------------------------


class Training:
    """A run: all that a step changes. `step` makes one step with the next batch.

    Args:
        data: the batches of the run, one for each step, in their order.
        parts: into how many parts of equal rows each batch is cut (`accumulate`).
        autocast: whether the forward pass runs in bfloat16 where autocast allows it.
        forward: is called in the place of the model: compiled, say.
    """

    def __init__(
        self,
        xp: ModuleType,
        model: Any,
        data: Sequence[Batch],
        *,
        lr: float = 3e-3,
        warmup: int = 20,
        weight_decay: float = 0.1,
        clip: float = 1.0,
        parts: int = 1,
        autocast: bool = False,
        forward: Callable | None = None,
    ):
        self.xp, self.model, self.data, self.clip, self.parts = xp, model, data, clip, parts
        forward = model if forward is None else forward  # a compiled model may have no length
        self.forward = _under_autocast(xp, forward) if autocast else forward
        self.optimizer = xp.optim.AdamW(parameter_groups(model, weight_decay), lr=lr, betas=(0.9, 0.95))
        factor = lambda step: warmup_cosine(step, len(data), warmup)  # noqa: E731
        self.scheduler = xp.optim.lr_scheduler.LambdaLR(self.optimizer, factor)
        self.position = 0

    def step(self) -> Step:
        inputs, targets = self.data[self.position]
        parts = [*zip(np.array_split(inputs, self.parts), np.array_split(targets, self.parts))]
        self.optimizer.zero_grad()
        loss = accumulate(self.xp, self.forward, parts)
        norm = self.xp.nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
        self.optimizer.step()
        self.scheduler.step()
        self.position += 1
        return Step(loss, norm.item())

    def __iter__(self) -> Iterator[Step]:
        """The steps that are left."""
        while self.position < len(self.data):
            yield self.step()


def _under_autocast(xp: ModuleType, forward: Callable) -> Callable:
    def cast(inputs: Any) -> Any:
        with xp.autocast("cpu", dtype=xp.bfloat16):
            return forward(inputs).float()  # the cross-entropy is on autocast's list of operators for float32

    return cast


def train(xp: ModuleType, model: Any, data: Sequence[Batch], **options: Any) -> Iterator[Step]:
    """Train on the batches in their order, one step each. The options are those of `Training`."""
    return iter(Training(xp, model, data, **options))


def run_command(module: str, description: str, steps: int, file: Path, make: Callable[[int, Path], None]) -> None:
    """The command `python -m` of a module that trains a model and writes a file."""
    parser = argparse.ArgumentParser(prog=f"python -m rushlight.course.{module}", description=description)
    parser.add_argument("--steps", type=int, default=steps)
    parser.add_argument("--file", type=Path, default=file, help="where to write the result")
    arguments = parser.parse_args()
    make(arguments.steps, arguments.file)


def checkpoint(run: Training) -> dict[str, Any]:
    """All that a step of this run depends on and changes, at this moment, as a dict that `rl.save` and `torch.save` can write.

    Its keys are `model`, `optimizer` and `scheduler`, with the state dict of each, `generator`, the state of the default generator
    (`xp.get_rng_state()`), and `position`. The dict shares no memory with the run: later steps do not change it.
    The run goes on as if it had not been saved.

        >>> run = Training(rl, rl.nn.Linear(64, 600), [])
        >>> list(checkpoint(run)), checkpoint(run)["position"]
        (['model', 'optimizer', 'scheduler', 'generator', 'position'], 0)

    Args:
        run: a `Training`. `run.xp` is its framework.

    Source: none. `torchtitan/components/checkpoint.py` writes the same five.
    """
    return {"model": deepcopy(run.model.state_dict()), "optimizer": deepcopy(run.optimizer.state_dict()),
            "scheduler": deepcopy(run.scheduler.state_dict()),
            "generator": run.xp.get_rng_state(), "position": run.position}  # fmt: skip


def resume(run: Training, saved: dict[str, Any]) -> None:
    """Bring a run to the moment of a `checkpoint`. Its next steps are then those of the run that was saved, bit for bit.

    `run` is a new `Training` with a model of the same form, the same data and the same options, or the saved run itself, some steps
    later. `saved` stays as it is, also in later steps, so that it can be used again.

        >>> data = [(np.zeros((1, 2), int), np.ones((1, 2), int))] * 3
        >>> run = Training(rl, rl.nn.Sequential(rl.nn.Embedding(9, 9)), data)
        >>> saved = checkpoint(run)
        >>> first = run.step()
        >>> resume(run, saved)
        >>> run.step() == first
        True

    Source: none. `torchtitan/components/checkpoint.py`, `CheckpointManager.load`.
    """
    saved = deepcopy(saved)
    run.model.load_state_dict(saved["model"])
    run.optimizer.load_state_dict(saved["optimizer"])
    run.scheduler.load_state_dict(saved["scheduler"])
    run.xp.set_rng_state(saved["generator"])
    run.position = saved["position"]


# How large a batch should be -----------------------------------------------------------------------------------------


def noise_scale(small: float, large: float, small_size: int, large_size: int) -> tuple[float, float]:
    """How noisy the gradient is, from the mean squared norms of the gradients of small batches and of large ones.

    The gradient of a batch is the true gradient plus noise, which is smaller in a larger batch: with B tokens its squared norm
    is, in the mean, |G|² + S / B. G is the true gradient, and S the noise of a single token. Two sizes give both unknowns.

        >>> noise_scale(small=5.0, large=2.0, small_size=100, large_size=400)
        (1.0, 400.0)

    Args:
        small, large: the squared norms, each the mean over some batches.
        small_size, large_size: the tokens in a batch. They differ.

    Returns:
        |G|², and S / |G|²: the size at which half of a batch's squared norm is noise. Larger batches help little.

    Source: none. McCandlish et al., "An Empirical Model of Large-Batch Training", appendix A.1.
    """
    noise = (small - large) / (1 / small_size - 1 / large_size)
    signal = large - noise / large_size
    return signal, noise / signal
