"""Lab 12c: a batch in parts, a model's loss on text that it has not seen, and the noise of the gradient."""

from __future__ import annotations

import gc
import math
import weakref
from copy import deepcopy
from types import ModuleType

import numpy as np

from ...engine.check import program
from ..cases import drawn, listed, numbers, rows, several, type_name, when

IGNORED = -100

# the targets of a part: of each row, the first ones; -100 stands for a position without a target
ROW = several([0, 1, 2, 3, 4, IGNORED], 3, 3)
PART = several(ROW, 1, 3)


GRADIENT_MODES = {"no_grad", "inference_mode", "set_grad_enabled", "autograd"}


class Framework(ModuleType):
    """A framework that records the names that are asked of it: an answer must not ask another one."""

    def __init__(self, xp):
        super().__init__(xp.__name__)
        self._xp, self._asked = xp, set()

    def __getattr__(self, name):
        attribute = getattr(self._xp, name)
        self._asked.add(name)
        return attribute

    def assert_asked(self, *purposes):
        for names in purposes:
            assert self._asked & names, f"the framework is `xp`, and it was asked for none of {sorted(names)}"


TENSORS = {"from_numpy", "tensor", "as_tensor", "asarray", "LongTensor"}


def _arrays(part):
    """The inputs and the targets of a part, from its targets."""
    targets = np.array(part, np.int64).reshape(-1, 3)
    return (np.arange(targets.size, dtype=np.int64).reshape(targets.shape) * 3 + len(part)) % 5, targets


def _layers(xp, *between):
    """Scores (rows, length, 5) of inputs (rows, length), in float64, with weights by rule."""
    model = xp.nn.Sequential(xp.nn.Embedding(5, 4), *between, xp.nn.Linear(4, 5)).double()
    with xp.no_grad():
        for number, parameter in enumerate(model.parameters()):
            parameter.copy_(numbers(xp, list(parameter.shape), number))
    return model


_SHORT, _LONG = [[1, IGNORED, IGNORED]], [[1, 2, 3], [4, 0, 1]]
_EMPTY = [[IGNORED] * 3]


@program(
    "course.training.accumulate",
    cases=drawn(parts=lambda st: several(PART, 1, 4)(st).filter(_has_targets), before=bool),
    edges=rows(
        "parts before",
        ([_LONG], False), ([_SHORT], False), ([_SHORT, _LONG], False), ([_LONG, _SHORT], True), ([_SHORT, _EMPTY, _LONG], False),
        ([_EMPTY, _SHORT], True), ([_LONG, _LONG], False), ([_SHORT, _LONG, _SHORT, [[0, IGNORED, 2]] * 3], True),
    ),
    hint=when(
        lambda case: len({np.sum(np.array(part) != IGNORED) for part in case["parts"]}) > 1,
        "the parts have different numbers of targets, so the mean of their means is not the mean over all targets",
    ),
)  # fmt: skip
def accumulated(rl, parts, before):
    model, log, inner, xp = _layers(rl), [], [], Framework(rl)
    made = {str(part): _arrays(part) for part in parts}
    given = [made[str(part)] for part in parts]  # equal parts are the same arrays
    before_it = deepcopy(given)
    model[0].register_forward_hook(lambda module, args, out: inner.append(weakref.ref(out)))
    if before:
        for parameter in model.parameters():
            parameter.grad = rl.ones_like(parameter)

    def forward(inputs):
        log.append(f"{_alive(inner)} activations of other parts")
        log.append(["forward", type(inputs).__name__, str(inputs.dtype).rpartition(".")[2], *inputs.shape])
        scores = model(inputs)
        scores.register_hook(lambda grad: log.append("backward"))
        return scores

    loss = rl.course.training.accumulate(xp, forward, given)
    xp.assert_asked(TENSORS)
    assert np.array_equal(_flat(given), _flat(before_it)), "the arrays that were given have changed"
    return [loss, log, [parameter.grad for parameter in model.parameters()]]


def _alive(references):
    """How many objects are alive. Cycles are collected only where one is: this takes long with torch in memory."""
    if any(reference() is not None for reference in references):
        gc.collect()
    return sum(reference() is not None for reference in references)


def _flat(parts):
    return np.concatenate([[len(parts)], *(array.ravel() for part in parts for array in part)])


def _has_targets(parts):
    return any(target != IGNORED for part in parts for row in part for target in row)


@accumulated.oracle
def _(torch, parts, before):
    """All rows as one batch, with torch's own mean."""
    model, given = _layers(torch), [_arrays(part) for part in parts]
    inputs, targets = (torch.from_numpy(np.concatenate(arrays)) for arrays in zip(*given))
    loss = torch.nn.functional.cross_entropy(model(inputs).flatten(0, 1), targets.flatten(), ignore_index=IGNORED)
    grads = torch.autograd.grad(loss, [*model.parameters()])
    kept = "0 activations of other parts"
    log = [call for inputs, _ in given for call in (kept, ["forward", "Tensor", "int64", *inputs.shape], "backward")]
    return [loss.item(), log, [grad + before for grad in grads]]


@accumulated.counted()
def _(rl):
    """The gradients of a small MiniGPT for 16 rows of 32 tokens, in four parts."""
    from rushlight.autograd.profiler import Recorder

    model = rl.course.gpt.gpt(rl, vocabulary=50, width=16, heads=2, layers=2, length=32)
    inputs, targets = (np.arange(512, dtype=np.int64).reshape(4, 4, 32) * factor % 50 for factor in (3, 7))
    with Recorder(profile_memory=True) as recorder:
        rl.course.training.accumulate(rl, model, [*zip(inputs, targets)])
    calls = sum(event.name.startswith("aten::") for event in recorder.events)
    peak = max(allocated for *_, allocated in recorder.memory)
    return {
        "calls of operators": calls,
        "bytes allocated": sum(max(n, 0) for _, n, *_ in recorder.memory),
        "bytes at the peak": peak,
    }


@program(
    "course.training.evaluate",
    cases=drawn(
        data=lambda st: several(PART, 1, 4)(st).filter(_has_targets), size=(1, 40), training=bool,
        recorded=[True, True, False],
    ),
    edges=rows(
        "data size training recorded",
        ([_LONG], 10, True, True), ([_SHORT], 1, False, True), ([_SHORT, _LONG], 7, True, True),
        ([_SHORT, _EMPTY, _LONG], 33, False, True), ([_LONG], 10, True, False),
    ),
    hint=when("training", "the model is in training mode here, and must be in training mode again afterwards"),
)  # fmt: skip
def evaluated(rl, data, size, training, recorded):
    model = _layers(rl, rl.nn.Dropout(0.5)).train(training)
    for parameter in model.parameters():
        parameter.grad = rl.ones_like(parameter)
    modes, given, xp = [], [_arrays(part) for part in data], Framework(rl)
    before = deepcopy(given)
    model.register_forward_pre_hook(lambda module, args: modes.append([module.training, rl.is_grad_enabled()]))
    with rl.set_grad_enabled(recorded):
        result = rl.course.training.evaluate(xp, model, (batch for batch in given), size)
        afterwards = rl.is_grad_enabled()
    xp.assert_asked(TENSORS, GRADIENT_MODES)
    assert np.array_equal(_flat(given), _flat(before)), "the arrays that were given have changed"
    modes.append([[module.training for module in model.modules()], afterwards])
    return {"type": type(result).__name__, "loss": result.loss, "perplexity": result.perplexity, "bits": result.bits_per_byte,
            "numbers": [*map(type_name, result)], "modes": modes,
            "parameters": [[parameter.requires_grad, parameter.grad] for parameter in model.parameters()]}  # fmt: skip


@evaluated.oracle
def _(torch, data, size, training, recorded):
    """The losses of all positions as one list."""
    model, losses = _layers(torch), []
    for inputs, targets in map(_arrays, data):
        scores, targets = model(torch.from_numpy(inputs)).flatten(0, 1), torch.from_numpy(targets).flatten()
        losses += torch.nn.functional.cross_entropy(scores, targets, reduction="none")[targets != IGNORED].tolist()
    mean = math.fsum(losses) / len(losses)
    modes = [[False, False]] * len(data) + [[[training] * 4, recorded]]
    return {"type": "Validation", "loss": mean, "perplexity": math.exp(mean), "bits": math.fsum(losses) * math.log2(math.e) / size,
            "numbers": ["float"] * 3, "modes": modes,
            "parameters": [[True, torch.ones_like(parameter)] for parameter in model.parameters()]}  # fmt: skip


@program(
    "course.training.noise_scale",
    cases=drawn(small=(20, 90), large=(1, 19), sizes=listed((1, 20), (21, 90))),
    edges=rows("small large sizes", (5, 2, [100, 400]), (20, 19, [1, 2]), (90, 1, [7, 64]), (4, 3, [8, 3])),
)  # fmt: skip
def noise(rl, small, large, sizes):
    return [float(number) for number in rl.course.training.noise_scale(small / 4, (large + 0.37) / 4, *sizes)]


@noise.oracle
def _(torch, small, large, sizes):
    """The two unknowns of two equations."""
    equations = torch.tensor([[1.0, 1 / size] for size in sizes], dtype=torch.float64)
    signal, noise = torch.linalg.solve(equations, torch.tensor([small, large + 0.37], dtype=torch.float64) / 4).tolist()
    return [signal, noise / signal]
