"""The model whose last layer is the running example: a MiniGPT on whole words, whose head scores the 600 verb forms.

`grammar` reads the file `head.npz`: the head's weight and bias, and for each of the 1,176 sentences of `grammar` the 64 numbers
that the trained model gives to its head. This module made the file on rushlight, from the sentences alone. It makes it again in
about a minute, with `threadpoolctl` from the extra `dev`:

    python -m rushlight.course.head

The same CPU makes the same file, because all products run in one thread. Another CPU rounds differently. The 64 numbers are
stored in float16. This does not change the likeliest word of any sentence.
"""

import hashlib
import json
import platform
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from rushlight.course import corpus, grammar, training
from rushlight.course.gpt import gpt

FILE = Path(__file__).with_name("head.npz")
STEPS, BATCH = 1200, 64


def words(text: str) -> list[str]:
    """The words and marks of a text: "(walk) yesterday she" has five."""
    return re.findall(r"\w+|[^\w\s]", text)


SENTENCES = [(line.before.strip(), line.form) for line in corpus.LINES if line.form in grammar.ids]
SENTENCES += [(sentence.text, sentence.next_token) for sentence in grammar.SENTENCES]
"""Contexts, each with its verb form: the sentences of the corpus whose form is one of the 600, and those of `grammar`."""

WORDS = {word: i for i, word in enumerate(dict.fromkeys(word for text, _ in SENTENCES for word in words(text)))}
"""The number of each word of the sentences."""
LENGTH = max(len(words(text)) for text, _ in SENTENCES)
"""The number of words of the longest sentence."""


def model(xp: ModuleType) -> Any:
    """A new model on rushlight or torch (`xp`): words (batch, n), int64, to scores of the 600 forms (batch, n, 600).

    It is the MiniGPT with an embedding for the words and a head of its own. The last norm has no parameters. So the head reads
    numbers that have mean 0 and variance 1 in each row.
    """
    made = gpt(xp, vocabulary=len(WORDS), width=grammar.FEATURES, length=LENGTH)
    made.norm = xp.nn.LayerNorm(grammar.FEATURES, elementwise_affine=False)
    made.head = xp.nn.Linear(grammar.FEATURES, len(grammar.tokens))
    return made


def rows(texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """The texts as words (texts, LENGTH), int64, and the position of each text's last word. What follows it is never looked at."""
    inputs, last = np.zeros((len(texts), LENGTH), np.int64), np.zeros(len(texts), np.int64)
    for i, text in enumerate(texts):
        numbers = [WORDS[word] for word in words(text)]
        inputs[i, : len(numbers)], last[i] = numbers, len(numbers) - 1
    return inputs, last


def batches(steps: int = STEPS) -> list[tuple[np.ndarray, np.ndarray]]:
    """The batches of the training, in an order that looks mixed. Only a text's last word has a target, the form that follows."""
    inputs, last = rows([text for text, _ in SENTENCES])
    targets = np.full(inputs.shape, training.IGNORED, np.int64)
    targets[np.arange(len(inputs)), last] = [grammar.ids[form] for _, form in SENTENCES]
    order = corpus.mixed(len(inputs))
    return list(training.batches(inputs[order], targets[order], steps, BATCH))


def train(xp: ModuleType, steps: int = STEPS) -> Iterator[tuple[Any, training.Step]]:
    """Train a new model. After each step it gives the model, and what the step gave."""
    xp.manual_seed(0)
    made = model(xp)
    for step in training.train(xp, made, batches(steps)):
        yield made, step


def hidden(xp: ModuleType, made: Any) -> np.ndarray:
    """Return the input of the model's head at the last word of each sentence of `grammar`: (1176, 64), float32."""
    inputs, last = rows([sentence.text for sentence in grammar.SENTENCES])
    seen = []
    handle = made.head.register_forward_pre_hook(lambda _, arguments: seen.append(arguments[0]))
    with xp.no_grad():
        made(xp.from_numpy(inputs))
    handle.remove()
    return seen[0].numpy()[np.arange(len(inputs)), last]


def scored(arrays: dict[str, np.ndarray]) -> tuple[float, float]:
    """The mean loss of the sentences of `grammar`, in nats, and the fraction of them whose likeliest word is the right one."""
    scores = arrays["hidden"].astype(np.float64) @ arrays["weight"].astype(np.float64).T + arrays["bias"]
    targets = grammar.targets(grammar.SENTENCES)
    normalisers = np.log(np.exp(scores - scores.max(1, keepdims=True)).sum(1)) + scores.max(1)
    losses = normalisers - scores[np.arange(len(scores)), targets]
    return float(losses.mean()), float((scores.argmax(1) == targets).mean())


def digest() -> str:
    """The SHA-256 of `SENTENCES`, one a line with the form at its end."""
    return hashlib.sha256("\n".join(f"{text} {form}" for text, form in SENTENCES).encode()).hexdigest()


def make(steps: int, file: Path) -> None:
    """Train on rushlight and write the file."""
    from threadpoolctl import threadpool_info, threadpool_limits

    import rushlight as rl

    begin = time.time()
    with threadpool_limits(1):
        for i, (made, step) in enumerate(train(rl, steps), 1):  # noqa: B007
            if i % 50 == 0 or i == steps:
                print(f"step {i} of {steps}, {time.time() - begin:.0f} s: loss {step.loss:.3f}", flush=True)
        parts = made.head.weight.detach().numpy(), made.head.bias.detach().numpy(), hidden(rl, made)
    arrays = dict(zip(("weight", "bias", "hidden"), parts))
    arrays["hidden"] = arrays["hidden"].astype(np.float16)
    loss, right = scored(arrays)
    blas = sorted(library.get("architecture", "") for library in threadpool_info() if library["user_api"] == "blas")
    provenance = {
        "command": f"python -m rushlight.course.head --steps {steps}",
        "versions": {"rushlight": rl.__version__, "numpy": np.__version__, "python": platform.python_version()},
        "machine": f"{platform.system()} {platform.machine()}, {', '.join(blas)}",
        "texts": digest(),
        "counts": {"sentences": len(SENTENCES), "of grammar": len(grammar.SENTENCES), "words": len(WORDS)},
        "settings": {"steps": steps, "batch": BATCH, "blocks": len(made.blocks), "width": grammar.FEATURES},
        "loss": round(loss, 4),
        "right": right,
    }
    np.savez_compressed(file, **arrays, provenance=json.dumps(provenance))
    print(f"{file}: {file.stat().st_size:,} bytes; loss {loss:.4f}, {right:.2%} right")


if __name__ == "__main__":
    training.run_command("head", "Train the model of the head on rushlight.", STEPS, FILE, make)
