"""A conversation with the trained MiniGPT: each step as plain data, with the lines of code that computed it.

A page of the site shows these steps (`docs/talk.md`). All numbers are from the framework's own functions, and a student's piece
takes part where it is plugged in. One token is one call of `sampling.generate`, with the cache of the call before. The fused kernel
of attention never has all weights in memory. So `attention.attention_weights` computes them again, from the query that the block
computed and the keys that the cache has. The lines are those that ran: `sys.settrace` sees them.
"""

import inspect
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import CodeType, FrameType, FunctionType, SimpleNamespace
from typing import Any

import rushlight as rl
from rushlight.course import attention, gpt, sampling, trained
from rushlight.course.tokens import Tokenizer

MOST = 10  # of the next token's candidates


@cache
def loaded() -> tuple[Any, Tokenizer]:
    """The trained model on rushlight, and its tokenizer."""
    return trained.trained(rl), trained.tokenizer()


class Conversation:
    """A text, which the model continues by one token in each `step`.

    >>> talk = Conversation("(climb) every day she")
    >>> "".join(talk.step()["token"]["text"] for _ in range(6))
    ' climbs.'

    Attributes:
        tokens: those that the model has read or will read next. The first one is the tokenizer's `end`, as in training.
        ended: "" as long as there can be a next step. Then "end", because the model ended the text, or "full", because the model
            has no further position.

    Raises:
        ValueError: the model has too few positions for the text.
    """

    def __init__(self, text: str, temperature: float = 0.0, seed: int = 0):
        self.model, self.tokenizer = loaded()
        self.temperature, self.generator = temperature, rl.Generator().manual_seed(seed)
        self.ended = ""
        self.lines: dict[str, dict] = {}
        with self._noting({"tokens": Tokenizer.encode}):
            self.tokens = [self.tokenizer.end, *self.tokenizer.encode(text)]
        whole = "".join(self.tokenizer.decode([token]) for token in self.tokens)
        self.unknown = [each for each in dict.fromkeys(text) if each not in whole]
        self.cache = sampling.new_cache(self.model)
        self.new, self.positions = len(self.tokens), self.cache[0].keys.shape[2]  # new: not in the cache yet
        if self.new > self.positions:
            most = f"the model has {self.positions} positions"
            raise ValueError(f"This text has {self.new} tokens, and {most}. Shorten the text.")

    def begin(self) -> dict[str, Any]:
        """Return the tokens of the text, and the characters that no token has whole: the model reads their bytes."""
        return {"tokens": [*map(self._token, self.tokens)], "unknown": self.unknown, "lines": self.lines}

    def step(self) -> dict[str, Any]:
        """Let the model choose the next token. Returns what it computed for this, as a dict with the keys

        - `token`: the new token, with `id` and `text`;
        - `top`: the most probable next tokens, each with `id`, `text`, `logit` and `probability`, at this temperature;
        - `weights`: by layer and head, how much attention the last position gave to each position;
        - `cache`: its sizes, the positions that are in use, and how many of them are new. Bytes are those of all layers;
        - `lines`: by what they compute, the lines of code that ran, each with `module`, `function`, `number`, `text`;
        - `ended`, and the `seconds` that the step took.
        """
        begun = time.perf_counter()
        projected: list[Any] = []  # by layer, queries, keys and values of the new tokens
        choices: list[Any] = []
        handles = [
            block.attention.register_forward_hook(lambda module, args, x: projected.append(x))
            for block in self.model.blocks
        ]
        watched = {
            "logits": type(self.model).forward,
            "choice": sampling.choose,
            "cache": sampling.append,
            "attention": attention.attention_weights,
        }

        def choose_next(scores: Any) -> int:
            choices.append(scores)
            return sampling.choose(scores, self.temperature, generator=self.generator)

        try:
            with self._noting(watched), rl.no_grad():
                new = self.tokens[-self.new :]
                [chosen] = sampling.generate(rl, _Continued(self.model, self.cache), new, 1, choose_next)
                weights = [*map(self._weights, projected, self.cache)]
        finally:
            for handle in handles:
                handle.remove()
        known = len(self.tokens)
        described = self._cache(known)
        self.tokens.append(chosen)
        self.new = 1
        self.ended = "end" if chosen == self.tokenizer.end else "full" if known == self.positions else ""
        return {
            "token": self._token(chosen),
            "top": self._top(choices[0]),
            "weights": weights,
            "cache": described,
            "lines": self.lines,
            "ended": self.ended,
            "seconds": round(time.perf_counter() - begun, 4),
        }

    def _token(self, token: int) -> dict[str, Any]:
        """A token's number and its text, or its bytes if they are not whole characters."""
        text = self.tokenizer.decode([token])
        return {"id": token, "text": self.tokenizer.bytes[token].hex(" ") if "\ufffd" in text else text}

    def _top(self, scores: Any) -> list[dict[str, Any]]:
        probabilities = (scores / (self.temperature or 1.0)).softmax(0)
        best = scores.topk(MOST)
        return [
            self._token(token) | {"logit": round(logit, 3), "probability": round(probabilities[token].item(), 5)}
            for logit, token in zip(best.values.tolist(), best.indices.tolist())
        ]

    def _weights(self, projected: Any, known: sampling.KeyValues) -> list[list[float]]:
        """By head, the weights of the last position for all positions."""
        query, _, _ = gpt.split_heads(projected, known.keys.shape[1])
        weights = attention.attention_weights(query[:, :, -1:], known.keys[:, :, : known.length])
        return [[round(weight, 4) for weight in row] for row in weights[0, :, 0].tolist()]

    def _cache(self, length: int) -> dict[str, int]:
        _, heads, positions, width = self.cache[0].keys.shape
        memory = [tensor for each in self.cache for tensor in (each.keys, each.values)]
        return {
            "layers": len(self.cache),
            "heads": heads,
            "width": width,
            "positions": positions,
            "length": length,
            "appended": self.new,
            "bytes": sum(tensor[:, :, :length].nbytes for tensor in memory),
            "allocated": sum(tensor.nbytes for tensor in memory),
        }

    def _written(self) -> int:
        """How often the cache was written to."""
        return sum(each.keys._version + each.values._version for each in self.cache)

    @contextmanager
    def _noting(self, watched: dict[str, Callable]) -> Iterator[None]:
        """Within: write down the last line that runs in each of these functions, or the last one that writes to the cache."""
        # Of a student's piece that is plugged in, the piece itself.
        functions = {name: inspect.unwrap(function) for name, function in watched.items()}
        names = {function.__code__: name for name, function in functions.items()}
        ran: dict[str, int] = {}

        def enter(frame: FrameType, event: str, _: Any) -> Callable | None:
            return _follow(frame.f_code, ran, names, self._written) if frame.f_code in names else None

        before = sys.gettrace()
        sys.settrace(enter)
        try:
            yield
        finally:
            sys.settrace(before)
            self.lines |= {name: _line(functions[name], number) for name, number in ran.items()}


class _Continued:
    """A model with the cache of an earlier call, which `new_cache` returns again."""

    def __init__(self, model: Any, cache: list[sampling.KeyValues]):
        self.model = model
        self.blocks = [SimpleNamespace(new_cache=lambda batch, known=known: known) for known in cache]

    def __call__(self, tokens: Any, cache: list[sampling.KeyValues]) -> Any:
        return self.model(tokens, cache)


def _follow(code: CodeType, ran: dict[str, int], names: dict[CodeType, str], written: Callable[[], int]) -> Callable:
    """A trace function for one call."""
    name, last, count = names[code], 0, written() if names[code] == "cache" else 0

    def follow(frame: FrameType, event: str, _: Any) -> Callable:
        nonlocal last, count
        if name != "cache":
            ran[name] = frame.f_lineno
        elif (now := written()) != count:
            ran[name], count = last, now
        last = frame.f_lineno
        return follow

    return follow


def _line(function: FunctionType, number: int) -> dict[str, Any]:
    try:
        source, first = inspect.getsourcelines(function)
    except OSError:
        source, first = [], 0
    text = source[number - first].strip() if 0 <= number - first < len(source) else ""
    name = function.__qualname__.removeprefix("gpt.<locals>.")
    return {"module": function.__module__, "function": name, "number": number, "text": text}
