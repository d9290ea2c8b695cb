"""Sampling from a language model: the choice of the next token from its scores, and a cache that makes each next token cheap.

A token's keys and values depend on this token and those before it. So a block keeps them (`KeyValues`), and the model computes
only the new tokens. Nothing here belongs to one framework: `xp` is rushlight or torch. PyTorch itself has neither: the
names are those of `transformers` (`generation/logits_process.py`, `cache_utils.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

Tensor = Any
"""Of rushlight or of torch."""


# Which token comes next -----------------------------------------------------------------------------------------------


def keep_top_k(scores: Tensor, k: int) -> Tensor:
    """The scores with minus infinity in the place of all but the `k` highest. Scores that are equal to the k-th are kept, too.

    If there are `k` scores or fewer, all are kept. `scores` does not change.

        >>> keep_top_k(rl.tensor([1.0, 4.0, 2.0, 3.0, 3.0]), 2).tolist()
        [-inf, 4.0, -inf, 3.0, 3.0]

    Args:
        scores: (vocabulary,), floating.
        k: at least 1.

    Returns:
        a new tensor (vocabulary,) of the same dtype.

    Source: none in PyTorch. `transformers`, `TopKLogitsWarper`.
    """
    lowest = scores.topk(min(k, scores.shape[0])).values[-1]
    return scores.masked_fill(scores < lowest, float("-inf"))


def keep_top_p(scores: Tensor, p: float) -> Tensor:
    """The scores with minus infinity in the place of all but the *nucleus*: the fewest tokens that have probability `p` together.

    The probabilities are the softmax of the scores. The tokens enter the nucleus in the order of their probabilities, the highest
    first, until their sum is at least `p`. So the nucleus has at least one token, also if `p` is 0. With `p` = 1, it has all
    tokens. A score of minus infinity stays as it is. `scores` does not change. Which of two equal scores enters first is undefined.

        >>> scores = rl.tensor([0.1, 0.5, 0.25, 0.15]).log()
        >>> [keep_top_p(scores, p).exp().tolist() for p in (0.4, 0.7)]
        [[0.0, 0.5, 0.0, 0.0], [0.0, 0.5, 0.25, 0.0]]

    Args:
        scores: (vocabulary,), floating.
        p: from 0 to 1.

    Returns:
        a new tensor (vocabulary,) of the same dtype.

    Source: none in PyTorch. `transformers`, `TopPLogitsWarper`.
    """
    if p >= 1:
        return scores.clone()
    ordered, order = scores.softmax(0).sort(0, descending=True)
    before = ordered.cumsum(0) - ordered
    outside = before >= p
    outside[0] = False
    return scores.masked_fill(outside.new_zeros(outside.shape).scatter(0, order, outside), float("-inf"))


def choose(
    scores: Tensor, temperature: float = 1.0, top_k: int | None = None, top_p: float = 1.0, generator: Any = None
) -> int:
    """The next token: drawn with the probabilities that the scores give, or, with `temperature` 0, the one with the highest score.

    The scores are divided by the temperature, then cut by `keep_top_k`, if `top_k` is given, then by `keep_top_p`. The softmax of
    what is left gives the probabilities, and `multinomial` draws once. With temperature 0, nothing is drawn, and the
    generator stays as it is.

        >>> scores = rl.tensor([0.0, 2.0, 1.0])
        >>> choose(scores, temperature=0), choose(scores, top_k=1), choose(scores, temperature=0.01)
        (1, 1, 1)

    Args:
        scores: (vocabulary,), floating.
        temperature: 0 or more.
        top_k: at least 1, or None.
        top_p: from 0 to 1.
        generator: a `Generator`, or None for the default one.

    Returns:
        a Python int.

    Source: none in PyTorch. `transformers`, `GenerationMixin._sample`.
    """
    if temperature == 0:
        return scores.argmax().item()
    scores = scores / temperature
    if top_k is not None:
        scores = keep_top_k(scores, top_k)
    probabilities = keep_top_p(scores, top_p).softmax(0)
    return probabilities.multinomial(1, generator=generator).item()


# The cache -----------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class KeyValues:
    """The keys and the values of one block. There is memory for all positions. The first `length` of them are written.

    `keys` and `values` are (batch, heads, positions, width of a head). Source: `transformers`, `StaticCache`.
    """

    keys: Tensor
    values: Tensor
    length: int = 0


def new_cache(model: Any, batch: int = 1) -> list[KeyValues]:
    """An empty cache for a `gpt`, one entry for each block, with memory for all its positions."""
    return [block.new_cache(batch) for block in model.blocks]


def append(cache: KeyValues, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """Write the keys and values of new tokens behind those that the cache knows. Returns all that it knows then.

    The numbers are copied into the memory that the cache has. Nothing that was written before is read or copied, and the rest of
    the memory stays as it is. `cache.length` grows by the new tokens. `keys` and `values` do not change.

        >>> cache = KeyValues(rl.zeros(1, 1, 4, 1), rl.zeros(1, 1, 4, 1))
        >>> for number in (5.0, 6.0):
        ...     keys, values = append(cache, rl.full((1, 1, 1, 1), number), rl.full((1, 1, 1, 1), -number))
        >>> keys.flatten().tolist(), cache.keys.flatten().tolist(), cache.length
        ([5.0, 6.0], [5.0, 6.0, 0.0, 0.0], 2)

    Args:
        keys, values: (batch, heads, new tokens, width of a head).

    Returns:
        the keys and the values, each (batch, heads, known tokens, width of a head), a view of the cache's memory.

    Raises:
        ValueError: there is no memory for so many tokens. Then the cache stays as it is.

    Source: none in PyTorch. `transformers`, `StaticLayer.update`.
    """
    start, stop = cache.length, cache.length + keys.shape[2]
    if stop > cache.keys.shape[2]:
        raise ValueError(f"the cache has {cache.keys.shape[2]} positions, too few for {stop} tokens")
    cache.keys[:, :, start:stop].copy_(keys)
    cache.values[:, :, start:stop].copy_(values)
    cache.length = stop
    return cache.keys[:, :, :stop], cache.values[:, :, :stop]


def visible(xp: ModuleType, new: int, known: int) -> Tensor | None:
    """Which tokens the last `new` of `known` tokens see: the mask of their attention, (new, known), bool, True for what is seen.

    A token sees itself and all tokens before it. A single new token sees all tokens: then there is no mask, but None.

        >>> visible(rl, 2, 4).int().tolist(), visible(rl, 1, 4)
        ([[1, 1, 1, 0], [1, 1, 1, 1]], None)

    Args:
        new: at least 1, at most `known`.

    Source: `torch/nn/attention/bias.py`, `causal_lower_right`.
    """
    if new == 1:
        return None
    return xp.ones(new, known, dtype=xp.bool).tril(known - new)


def generate(
    xp: ModuleType, model: Any, tokens: Sequence[int], count: int, choose_next: Callable, end: int | None = None
) -> list[int]:
    """The tokens with which a model continues a text. Each is computed once, because a cache keeps what is known of it.

    First the model gets all `tokens` at once, with an empty cache, and then each new token by itself, with the same cache. The
    scores of its last position go to `choose_next`, which returns the next token. It ends with the token `end`, or after `count`
    new tokens, or when the cache has no memory for the last token. A token after which it ends is not given to the model.
    No graph is recorded. Afterwards, also if `choose_next` raises an error, grad mode is what it was before the call, on or off.
    The model keeps its mode, also while it runs.

        >>> from rushlight.course.gpt import gpt
        >>> model = gpt(rl, vocabulary=9, width=4, heads=1, layers=1, length=8)
        >>> order = iter([3, 1, 4, 1, 5])
        >>> generate(rl, model, [2, 7], 5, lambda scores: next(order), end=4)
        [3, 1, 4]

    Args:
        xp: rushlight or torch, the framework of the model.
        model: is called as `model(tokens, cache)`, with tokens (1, n) of int64 and a cache from `new_cache`. It returns
            scores (1, n, vocabulary).
        tokens: a list or tuple of at least one int. The model has a position for each.
        count: at least 1.
        choose_next: from scores (vocabulary,) to an int.

    Returns:
        the new tokens, a list of ints, with `end` if it was chosen.

    Source: none in PyTorch. `transformers`, `GenerationMixin._sample`.
    """
    cache, new, said = new_cache(model), [*tokens], []
    with xp.no_grad():
        while True:
            scores = model(xp.tensor([new]), cache)[0, -1]
            new = [choose_next(scores)]
            said += new
            is_full = cache[0].length == cache[0].keys.shape[2]
            if new[0] == end or len(said) == count or is_full:
                return said


# A small model guesses, a large one decides ---------------------------------------------------------------------------


def draw_token(weights: Tensor, u: float) -> int:
    """Return the first token whose cumulative weight, itself included, is more than u times the sum of all weights."""
    return (weights.cumsum(0) / weights.sum() > u).int().argmax().item()


def speculate(guesses: Sequence[int], guessed: Tensor, wanted: Tensor, draws: Sequence[float]) -> list[int]:
    """Which of a small model's guesses for the next tokens stay, and the token after them: by the large model's probabilities.

    The guesses are looked at in their order. Guess i, the token t, stays if draws[i] < wanted[i, t] / guessed[i, t]. The first one
    that does not stay is replaced by a token drawn with the probabilities max(wanted[i] - guessed[i], 0), divided by their sum,
    and the guesses after it are dropped. If all stay, a token drawn with wanted[-1] follows. The last number of `draws`, u, draws
    the token: it is the first one where the sum of the probabilities up to it, itself included, is more than u. So the
    tokens have exactly the distribution of the large model, whatever the small one guesses. No argument changes.

        >>> wanted = rl.tensor([[0.5, 0.5, 0.0], [0.0, 0.25, 0.75]])
        >>> guessed = rl.tensor([[0.25, 0.25, 0.5]])
        >>> speculate([1], guessed, wanted, [0.9, 0.2]), speculate([2], guessed, wanted, [0.0, 0.8])
        ([1, 1], [1])

    Args:
        guesses: n tokens. Each has a `guessed` probability above 0.
        guessed: (n, vocabulary), floating: the small model's probabilities, from which the guesses were drawn.
        wanted: (n + 1, vocabulary): the large model's, also those after all guesses.
        draws: n + 1 random numbers, in [0, 1).

    Returns:
        a list of 1 to n + 1 ints.

    Source: none in PyTorch. Leviathan et al., "Fast Inference from Transformers via Speculative Decoding", algorithm 1.
    """
    said = []
    for i, token in enumerate(guesses):
        if draws[i] >= (wanted[i, token] / guessed[i, token]).item():
            return [*said, draw_token((wanted[i] - guessed[i]).clamp(min=0), draws[-1])]
        said.append(token)
    return [*said, draw_token(wanted[-1], draws[-1])]
