"""The trained MiniGPT. The file `gpt.npz` has its weights, its tokens, and how they were made.

The file was made once, on torch, in six minutes of one core. This command makes it again:

    python -m rushlight.course.trained

The same CPU gives the same numbers. Another CPU rounds differently, and these differences grow with the steps: the losses of the
first hundred steps agree to four digits, and the final weights differ, but not in how good they are. Rushlight trains the model in
the same way: its losses are the ones in the file. The weights are stored in float16.
"""

import hashlib
import json
import platform
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from rushlight.course import corpus, grammar, tokens, training
from rushlight.course.corpus import Line
from rushlight.course.gpt import gpt
from rushlight.course.tokens import Tokenizer

FILE = Path(__file__).with_name("gpt.npz")

MERGES, INVENTED, STEPS, BATCH, LENGTH = 343, 40_000, 6_000, 32, 32
RATE, SPREAD, SEED = 4e-3, 3.0, 0

PROMPTS = grammar.WORDS["prompts"]
"""Sentences up to the form. Six of their verbs are held out, and no text has the last one."""


# The data and the model ----------------------------------------------------------------------------------------------


def texts() -> list[str]:
    """The texts that the model learns: sentences of verbs that exist and of invented ones, in turn."""
    real, invented = corpus.split("train"), corpus.invented(INVENTED)
    return [line.text for i, sentence in enumerate(invented) for line in (real[i % len(real)], sentence)]


def digest() -> str:
    """The SHA-256 of the texts, one a line."""
    return hashlib.sha256("\n".join(texts()).encode()).hexdigest()


def learn_merges() -> list[tuple[int, int]]:
    """The merges of the sentences for training whose verbs exist."""
    return tokens.train("\n".join(line.text for line in corpus.split("train")), MERGES)


def batches(tokenizer: Tokenizer, steps: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """The batches of the first steps. Texts that no step reads are not encoded. Few are too long for a row, so twice is enough."""
    inputs, targets = training.rows(texts()[: 2 * steps * BATCH], tokenizer, LENGTH)
    return [*training.batches(inputs, targets, steps, BATCH)]


def untrained(xp: ModuleType) -> Any:
    """The model before training, the same on rushlight and on torch. GPT-2, which is wider, begins with smaller matrices."""
    xp.manual_seed(SEED)
    model = gpt(xp)
    with xp.no_grad():
        for parameter in model.parameters():
            if parameter.dim() >= 2:
                parameter.mul_(SPREAD)
    return model


def train(xp: ModuleType, model: Any, data: Sequence[tuple[np.ndarray, np.ndarray]]) -> Iterator[training.Step]:
    """Train the model with the learning rate `RATE`. It yields each step."""
    return training.train(xp, model, data, lr=RATE)


# What the file has ---------------------------------------------------------------------------------------------------


def tokenizer() -> Tokenizer:
    """The tokenizer of the trained model, with 600 tokens."""
    with np.load(FILE) as file:
        return Tokenizer(file["merges"].tolist())


def trained(xp: ModuleType) -> Any:
    """The trained model on rushlight or torch (`xp`), in evaluation mode."""
    model = gpt(xp)
    with np.load(FILE) as file:
        state = {name: xp.from_numpy(file[f"weights/{name}"].astype(np.float32)) for name in model.state_dict()}
    model.load_state_dict(state)
    return model.eval()


def record() -> dict[str, Any]:
    """How the file was made, and how good the model is: a dict with the keys

    - `command`, `versions`, `texts` (their SHA-256), `settings`;
    - `said`: for "before", "half-way" and "after" the training, what the model makes of each of `PROMPTS`;
    - `right`: for "seen", "held out" and "irregular", the counts of `score`.
    """
    with np.load(FILE) as file:
        return json.loads(str(file["record"]))


def losses() -> np.ndarray:
    """The loss of each step, (steps,), float32."""
    with np.load(FILE) as file:
        return file["losses"]


# What the model says -------------------------------------------------------------------------------------------------


class Continuation(NamedTuple):
    """How a text goes on. `margin` is the smallest distance of the best score from the second best, of all tokens."""

    text: str
    margin: float


def complete(
    xp: ModuleType, model: Any, tokenizer: Tokenizer, prompts: Sequence[str], count: int = 24
) -> list[Continuation]:
    """Go on with each prompt: always the token with the best score, until the text ends, at most `count` tokens."""
    by_length: dict[int, list[int]] = {}
    encoded = [[tokenizer.end, *tokenizer.encode(prompt)] for prompt in prompts]
    for i, prompt in enumerate(encoded):
        by_length.setdefault(len(prompt), []).append(i)
    done: dict[int, Continuation] = {}
    for length, members in by_length.items():
        ids, margins = np.array([encoded[i] for i in members]), np.zeros((len(members), 0))
        while ids.shape[1] < length + count and not (ids[:, length:] == tokenizer.end).any(1).all():
            with xp.no_grad():
                scores = model(xp.from_numpy(ids))[:, -1].detach().numpy()
            best = np.sort(scores, 1)
            ids = np.concatenate([ids, scores.argmax(1)[:, None]], 1)
            margins = np.concatenate([margins, best[:, -1:] - best[:, -2:-1]], 1)
        for i, row, margin in zip(members, ids[:, length:].tolist(), margins):
            stop = row.index(tokenizer.end) if tokenizer.end in row else len(row)
            done[i] = Continuation(tokenizer.decode(row[:stop]), float(margin[: stop + 1].min()))
    return [done[i] for i in range(len(prompts))]


def score(xp: ModuleType, model: Any, tokenizer: Tokenizer, lines: Sequence[Line]) -> dict[str, list[int]]:
    """How many forms the model gets right, and of how many, for "all" lines, each language, each language and kind.

    "ending" counts the forms with the right last two letters, "whole" the sentences that are right to their end, and "regular"
    the forms of irregular verbs that the model made by the rule.
    """
    counts: Counter[str] = Counter()
    of: Counter[str] = Counter()
    said = complete(xp, model, tokenizer, [line.before.rstrip() for line in lines])
    for line, (text, _) in zip(lines, said):
        word = (re.match(r"\w*", text.lstrip()) or [""])[0]
        is_right = dict.fromkeys(("all", line.language, f"{line.language} {line.kind}"), word == line.form)
        is_right |= {"ending": word[-2:] == line.form[-2:], "whole": text.lstrip() == line.form + line.after}
        is_right["regular"] = word != line.form and word in _regular(line)
        for key, value in is_right.items():
            counts[key] += value
            of[key] += 1
    return {key: [counts[key], of[key]] for key in of}


def _regular(line: Line) -> set[str]:
    """The forms that the rules give for the verb of a line, in the language of the line."""
    verb = corpus.VERBS[line.verb]
    conjugate = grammar.english if line.language == "en" else grammar.spanish
    infinitive = verb.infinitive(line.language)
    return {conjugate(infinitive, tense, person) for tense in corpus.TENSES[line.language] for person in range(6)}


def irregular(lines: Sequence[Line]) -> list[Line]:
    """The lines whose form is none that the rules give for any tense and person."""
    return [line for line in lines if line.form not in _regular(line)]


def groups() -> dict[str, list[Line]]:
    """The lines that `record` has counts of."""
    seen = corpus.split("train")
    return {"seen": seen[:2000], "held out": corpus.split("validation"), "irregular": irregular(seen)[:1000]}


# The command ---------------------------------------------------------------------------------------------------------


def make(steps: int, file: Path) -> None:
    """Train on torch and write the file."""
    import torch

    torch.set_num_threads(1)
    merges = learn_merges()
    tokenizer, held_out = Tokenizer(merges), corpus.split("validation")
    model, data = untrained(torch), batches(tokenizer, steps)
    snapshot = lambda: [line.text for line in complete(torch, model.eval(), tokenizer, PROMPTS)]  # noqa: E731
    said, values = {"before": snapshot()}, []
    model.train()
    for step, (loss, _) in enumerate(train(torch, model, data), start=1):
        values.append(loss)
        if step % 1000 == 0 or step == steps // 2:
            right = score(torch, model.eval(), tokenizer, held_out[:200])
            print(
                f"step {step}: loss {np.mean(values[-100:]):.3f}, held out: {right['all'][0] / 2:.0f} % right",
                flush=True,
            )
            if step == steps // 2:
                said["half-way"] = snapshot()
            model.train()
    weights = {name: parameter.detach().numpy().astype(np.float16) for name, parameter in model.state_dict().items()}
    model.load_state_dict({name: torch.from_numpy(weight.astype(np.float32)) for name, weight in weights.items()})
    said["after"] = snapshot()
    about = {
        "command": f"python -m rushlight.course.trained --steps {steps}",
        "versions": {"python": platform.python_version(), "numpy": np.__version__, "torch": torch.__version__},
        "machine": f"{platform.system()} {platform.machine()}, {torch.backends.cpu.get_cpu_capability()}",
        "texts": digest(),
        "settings": {"steps": steps, "batch": BATCH, "length": LENGTH, "lr": RATE, "spread": SPREAD, "seed": SEED},
        "said": said,
        "right": {name: score(torch, model, tokenizer, lines) for name, lines in groups().items()},
    }
    np.savez_compressed(
        file,
        merges=np.array(merges, np.int16),
        losses=np.array(values, np.float32),
        record=np.array(json.dumps(about, ensure_ascii=False)),
        **{f"weights/{name}": weight for name, weight in weights.items()},
    )
    print(json.dumps(about, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    training.run_command("trained", "Train the MiniGPT on torch.", STEPS, FILE, make)
