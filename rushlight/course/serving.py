"""A trained MiniGPT where it is used: weights in a few bits, perplexity, and text from a program of a fixed length.

Counterparts: `torch/ao/quantization/fx/_decomposed.py` (`quantize_per_channel_group`), torchao's `int4_weight_only`, and
`torch.export`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from rushlight.aten.native.creation import tensor
from rushlight.aten.strided import Tensor
from rushlight.autograd.grad_mode import no_grad
from rushlight.c10 import dtypes
from rushlight.course.training import IGNORED
from rushlight.nn.functional import cross_entropy

# Weights in a few bits -----------------------------------------------------------------------------------------------

SMALLEST_SCALE = 2.0**-23


def quantize_groups(weight: Tensor, bits: int, group: int) -> tuple[Tensor, Tensor]:
    """Quantise a weight symmetrically, each group of neighbours in a row with a scale of its own.

    A row of `weight` has features / group groups. The largest integer is 2**(bits - 1) - 1, and the smallest one is the same
    number with a minus: with 4 bits -7 to 7. The scale of a group is its largest absolute value divided by the largest
    integer, but not less than `SMALLEST_SCALE`. Each number of the weight is divided by its scale and rounded to the nearest
    integer; a half goes to the even integer, so 2.5 becomes 2 and -3.5 becomes -4. No zero point is needed. PyTorch multiplies by
    1 / scale instead, and you may, too: only a quotient that is almost a half may then go to the other side.

    Args:
        weight: (outs, features), float32, with any strides. It does not change.
        bits: 2 to 8.
        group: how many features share a scale.

    Returns:
        `(q, scales)`: a tensor of integers (outs, features), of dtype int8, and a tensor (outs, features / group), float32.
        Neither requires grad.

    Raises:
        ValueError: `group` does not divide the number of features.

    >>> q, scales = quantize_groups(rl.tensor([[0.5, -3.5, 0.0, 14.0]]), bits=4, group=2)
    >>> q.tolist(), scales.tolist()
    ([[1, -7, 0, 7]], [[0.5, 2.0]])

    Source: `quantize_per_channel_group` in `torch/ao/quantization/fx/_decomposed.py`.
    """
    outs, features = weight.shape
    if features % group:
        raise ValueError(f"groups of {group} do not divide {features} features")
    largest = 2 ** (bits - 1) - 1
    groups = weight.detach().reshape(outs, features // group, group)
    scales = (groups.abs().amax(2) / largest).clamp(min=SMALLEST_SCALE)
    q = (groups / scales.unsqueeze(2)).round()
    return q.to(dtypes.int8).reshape(outs, features), scales


def dequantize_groups(q: Tensor, scales: Tensor) -> Tensor:
    """The weight that the integers stand for, (outs, features), float32."""
    return (q.unflatten(1, (scales.shape[1], -1)).to(dtypes.float32) * scales.unsqueeze(2)).flatten(1)


def quantize_model(model: Any, bits: int, group: int) -> int:
    """Replace the weight of each `Linear` by what its integers stand for. Returns the bytes of the model in a file: integers,
    scales, and all other parameters in float32.

    `group` 0 is a whole row. The head's weight is the token embedding, which changes with it.
    """
    nbytes, done = sum(parameter.nbytes for parameter in model.parameters()), set()
    with no_grad():
        for module in model.modules():
            weight = getattr(module, "weight", None)
            if type(module).__name__ != "Linear" or id(weight) in done:
                continue
            q, scales = quantize_groups(weight, bits, group or weight.shape[1])
            weight.copy_(dequantize_groups(q, scales))
            done.add(id(weight))
            nbytes += q.numel() * bits // 8 + scales.nbytes - weight.nbytes
    return nbytes


# How well it predicts ------------------------------------------------------------------------------------------------


def perplexity(model: Any, batches: Iterable[tuple[Tensor, Tensor]]) -> float:
    """How many tokens the model is undecided between, on average: e to the mean loss of a token.

    The mean is over all tokens of all batches that have a target. Batches may have different numbers of them, and a batch may
    have none. While the model runs, it is in evaluation mode, and grad mode is off. Afterwards the model's mode and grad mode are
    what they were before the call, also if the model raises an error, which is not caught. Both modes may be on or off before.

    Args:
        model: a module from tokens (batch, n) to scores (batch, n, vocabulary), with the same mode in all of its parts.
        batches: pairs (tokens, targets) of tensors (batch, n), int64, which do not change. They may come from a generator. A
            target `IGNORED` counts nothing. At least one target is another.

    Returns:
        a float.

    >>> model = rl.nn.Embedding(8, 8, _weight=rl.zeros(8, 8))
    >>> round(perplexity(model, [(rl.tensor([[1, 2, 3]]), rl.tensor([[2, 3, -100]]))]), 4)
    8.0
    """
    nats, count, was_training = 0.0, 0, model.training
    model.eval()
    try:
        with no_grad():
            for tokens, targets in batches:
                scores = model(tokens).flatten(0, 1)
                nats += cross_entropy(scores, targets.flatten(), ignore_index=IGNORED, reduction="sum").item()
                count += (targets != IGNORED).sum().item()
    finally:
        model.train(was_training)
    return math.exp(nats / count)


# A program of a fixed length -----------------------------------------------------------------------------------------


def generate_padded(
    program: Callable[[Tensor], Tensor], tokens: Sequence[int], count: int, length: int, end: int
) -> list[int]:
    """Generate text with a program that takes exactly `length` tokens, such as an exported MiniGPT: always the best token.

    The program maps tokens (1, length) to scores (1, length, vocabulary). Its attention is causal: the scores at a position
    depend on the tokens up to this position only. So fill up with `end` behind the text, and read the scores at the text's
    last token. If the text is longer than `length`, use its last `length` tokens.

    Args:
        program: it is called once for each new token, with a tensor of dtype int64.
        tokens: a list of ints, the text so far, at least one. It does not change.
        count: how many tokens to generate at most.
        end: the token that ends a text. If it is generated, nothing follows.

    Returns:
        a list of ints: the new tokens, without those of `tokens`. If the last one is `end`, it is there.

    >>> program = lambda tokens: rl.nn.functional.one_hot(tokens + 1, 10)  # after each token comes the next number
    >>> generate_padded(program, [2, 3], count=3, length=4, end=8)
    [4, 5, 6]
    """
    text = [*tokens]
    while len(text) < len(tokens) + count:
        seen = text[-length:]
        scores = program(tensor([seen + [end] * (length - len(seen))]))
        text.append(scores[0, len(seen) - 1].argmax().item())
        if text[-1] == end:
            break
    return text[len(tokens) :]
