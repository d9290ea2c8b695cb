"""The path: which pieces of the course a training step of the MiniGPT runs, which of them are the student's, and which break it.

The pieces are found by running: a step, and the generation of a few tokens, run under Python's profiler, which sees each call
of a function that is an exercise. If a step with the student's pieces is another one than with the reference, the pieces are put in
one after another, in the order in which the step calls them. Labs and grading do not need this module.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType, FunctionType
from typing import Any

import numpy

import rushlight
from rushlight.c10 import fast_paths
from rushlight.course import gpt, sampling, tokens, training
from rushlight.nn.utils.clip_grad import clip_grad_norm_

from ..engine import subject
from ..engine.check import function_of, is_on_torch
from ..engine.exercise import fill_as, filled, only
from ..language import speak
from ..model import Course

STAGES = ("tokens", "set-up", "forward", "loss", "backward", "update", "generate")
TEXTS = ("(walk) yesterday she walked.", "(open) the doors? yesterday they opened them.", "(cantar) hoy tú cantas.")
RTOL, ATOL = 1e-3, 1e-5  # float32 in another order
SLOW = 1.5  # times the reference's step

Slot = tuple[str, str]  # the module and the name of a function


@dataclass
class StepPath:
    """The pieces on the path of a training step. Names are those of exercises, `module.function`."""

    stages: dict[str, list[str]]  # by stage, the pieces in the order in which it first calls them
    labs: dict[str, str]  # by piece, its lab's number
    yours: list[str]  # those that are plugged in and do not break the step
    broken: dict[str, str] = field(default_factory=dict)  # why
    seconds: tuple[float, float] = (0.0, 0.0)  # a step on the reference and with the pieces
    slow: list[tuple[str, float]] = field(default_factory=list)  # the part of the step's time

    def pieces(self) -> list[str]:
        """All pieces on the path, in the order of their first call."""
        return list(dict.fromkeys(piece for stage in self.stages.values() for piece in stage))

    def own(self) -> list[str]:
        """The pieces on the path that are the student's."""
        return [piece for piece in self.pieces() if piece in self.yours]

    def lines(self) -> Iterator[str]:
        count, own = len(self.pieces()), len(self.own())
        yield speak(
            "{count} pieces of the course are on the path of a training step: {own} are yours", count=count, own=own
        )
        for piece, why in self.broken.items():
            said = speak("breaks the step: {why}. The reference runs in its place", why=speak(why))
            yield f"    {piece} {said}"
        if self.slow:
            times = self.seconds[1] / self.seconds[0]
            said = speak("with your pieces a step takes {times:.1f} times as long as with the reference", times=times)
            yield f"    {said}"
        yield from (f"    {piece} {speak('is slow: {part:.0%} of the step', part=part)}" for piece, part in self.slow)


def show_path() -> StepPath:
    """Find the path, print what it says, and draw it."""
    path = find_path()
    print("\n".join(path.lines()))
    drawn = [(stage, [(piece, path.labs[piece]) for piece in path.stages[stage]]) for stage in STAGES]
    counts = {"count": len(path.pieces()), "stages": len(STAGES), "own": len(path.own())}
    about = speak("{count} pieces in {stages} stages, {own} of them yours.", **counts)
    rushlight.draw.show(rushlight.draw.path(drawn, path.yours, [*path.broken]), about)
    return path


def find_path() -> StepPath:
    """The path with the pieces that are plugged in. Afterwards the pieces that break the step are the reference's."""
    slots, labs = _slots()
    own = filled()
    names = {_place(function): name for name, function in slots.items()}
    with _only({}):
        reference, seconds = _timed()
        stages, times = _recorded(slots)
    order = [_place(slots[name]) for name in dict.fromkeys(name for stage in stages.values() for name in stage)]
    candidates = sorted(own, key=lambda place: order.index(place) if place in order else len(order))
    broken = _find_broken(own, candidates, reference)
    kept = {place: function for place, function in own.items() if place not in broken}
    yours = [names.get(place, ".".join(place)) for place in kept]
    path = StepPath(stages, labs, yours, {names.get(place, ".".join(place)): why for place, why in broken.items()})
    fill_as(kept)
    if kept:
        with _only(kept):
            path.seconds = seconds, _timed()[1]
            if path.seconds[1] > SLOW * seconds:
                path.slow = _slow(times, _recorded(slots)[1], yours)
    return path


def stages() -> dict[str, list[str]]:
    """By stage of a training step on the reference, the pieces that it calls."""
    with _only({}):
        return _recorded(_slots()[0])[0]


def _slots() -> tuple[dict[str, FunctionType], dict[str, str]]:
    """The function of each exercise of the labs on rushlight, and the number of its lab, by its name."""
    slots, labs = {}, {}
    for lab in Course().released_labs():
        for name in [] if is_on_torch(lab.name) else lab.exercises:
            try:
                slots[name] = function_of(name)
            except (LookupError, ImportError):  # a part that this installation does not have
                continue
            labs[name] = lab.number
    return slots, labs


def _place(slot: FunctionType) -> Slot:
    return slot.__module__, slot.__name__


@contextmanager
def _only(pieces: dict[Slot, Callable]) -> Iterator[None]:
    """Within: these pieces in the framework and no others, and no fast path, which would pass by a piece."""
    with (
        only(pieces),
        fast_paths.disabled("c10"),
        warnings.catch_warnings(),
        numpy.errstate(all="ignore"),
        subject.new_thread(),
    ):
        warnings.simplefilter("ignore")
        yield


# A step ---------------------------------------------------------------------------------------------------------------


def _step(enter: Callable[[str], None] = lambda stage: None) -> dict[str, Any]:
    """Two steps of a small MiniGPT, and what it says then. `enter` is called at the beginning of a stage."""
    rl = rushlight
    enter("tokens")
    tokenizer = tokens.Tokenizer(tokens.train("\n".join(TEXTS), 20))
    inputs, targets = training.rows(TEXTS, tokenizer, 48)
    shown: dict[str, Any] = {"tokens": [inputs.tolist(), tokenizer.decode(inputs[0])]}
    enter("set-up")
    rl.manual_seed(0)
    model = gpt.gpt(rl, vocabulary=len(tokenizer), width=16, heads=2, layers=2, length=48)

    def forward(batch: Any) -> Any:
        enter("forward")
        scores = model(batch)
        enter("loss")
        return scores

    run = training.Training(rl, model, [(inputs, targets)] * 2, forward=forward, warmup=2, parts=2)
    for number, step in enumerate(run, 1):
        shown[f"the loss of step {number}"] = step.loss
        shown[f"the norm of the gradient of step {number}"] = step.grad_norm
    shown |= {f"the gradient of {name}": parameter.grad.numpy() for name, parameter in model.named_parameters()}
    enter("generate")
    scores: list[numpy.ndarray] = []

    def greedy(given: Any) -> Any:
        scores.append(given.numpy().copy())
        return sampling.choose(given, 0)

    sampling.generate(rl, model, inputs[0, :5].tolist(), 3, greedy)
    return shown | {"the scores of generated tokens": numpy.stack(scores)}


def _timed() -> tuple[dict[str, Any], float]:
    """Run a step twice, and return its results and the seconds it takes, the better of two."""
    seconds = []
    for _ in range(2):
        start = time.perf_counter()
        shown = _step()
        seconds.append(time.perf_counter() - start)
    return shown, min(seconds)


def _difference(reference: dict[str, Any]) -> str:
    """How a step with the pieces that are plugged in differs from the reference's, in words. Empty if it does not."""
    try:
        shown = _step()
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:200]
    for name, expected in reference.items():
        value: Any = shown.get(name)
        if isinstance(expected, list):
            if value != expected:
                return f"other {name}"
        elif numpy.shape(value) != numpy.shape(expected):
            return f"{name} has other sizes"
        elif not numpy.allclose(value, expected, RTOL, ATOL * max(1.0, float(numpy.abs(expected).max()))):
            return f"{name} is {value:.4g}, not {expected:.4g}" if numpy.ndim(value) == 0 else f"{name} is another"
    return ""


def _find_broken(own: dict[Slot, Callable], candidates: list[Slot], reference: dict[str, Any]) -> dict[Slot, str]:
    """The pieces that break the step, and how: each the first one in the order with which it breaks, without those before."""
    broken: dict[Slot, str] = {}

    def why(count: int) -> str:
        with _only({place: own[place] for place in candidates[:count] if place not in broken}):
            return _difference(reference)

    while reason := why(len(candidates)):
        good, bad = 0, len(candidates)  # the step is right with the first `good` ones, and wrong with the first `bad`
        while bad - good > 1:
            middle = (good + bad) // 2
            if difference := why(middle):
                bad, reason = middle, difference
            else:
                good = middle
        broken[candidates[bad - 1]] = reason
    return broken


# Which pieces run -----------------------------------------------------------------------------------------------------


def _recorded(slots: dict[str, FunctionType]) -> tuple[dict[str, list[str]], dict[str, float]]:
    """By stage, the pieces that a step calls; and by piece, the seconds in it, without those in other pieces."""
    names = {id(function.__code__): name for name, function in slots.items()}
    begins = {id(rushlight.Tensor.backward.__code__): "backward", id(clip_grad_norm_.__code__): "update"}
    stages: dict[str, dict[str, None]] = {stage: {} for stage in STAGES}
    times: dict[str, float] = {}
    stage, running, last = STAGES[0], [""], time.perf_counter()

    def enter(name: str) -> None:
        nonlocal stage
        stage = name

    def note(frame: FrameType, event: str, _: Any) -> None:
        nonlocal last
        if event not in ("call", "return"):
            return
        code = id(frame.f_code)
        if event == "call" and code in begins:
            enter(begins[code])
        if code not in names:
            return
        now = time.perf_counter()
        times[running[-1]] = times.get(running[-1], 0.0) + now - last
        last = now
        if event == "call":
            stages[stage].setdefault(names[code])
            running.append(names[code])
        elif len(running) > 1:
            running.pop()

    sys.setprofile(note)
    try:
        _step(enter)
    finally:
        sys.setprofile(None)
    return {name: [*pieces] for name, pieces in stages.items()}, times


def _slow(reference: dict[str, float], own: dict[str, float], yours: list[str]) -> list[tuple[str, float]]:
    """The pieces that have most of the time that was added, and their part of the step."""
    added = {name: own[name] - reference.get(name, 0.0) for name in own if name in yours}
    total = sum(more for more in added.values() if more > 0)
    slow = [(name, own[name] / sum(own.values())) for name, more in added.items() if more > 0.2 * total]
    return sorted(slow, key=lambda pair: -pair[1])
