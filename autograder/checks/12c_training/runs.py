"""Lab 12c: a run that is saved, and goes on bit for bit."""

from __future__ import annotations

import io
from copy import deepcopy
from importlib import import_module

import numpy as np

from ...engine.check import program
from ..cases import drawn, entries, explained, field, first_of, numbers, rows, when

KINDS = ["plain", "dropout", "shared", "buffers"]


def _begin(xp, kind, start=0):
    """A new run of a small model in float64, with 12 batches."""
    nn = xp.nn
    layers = [nn.Embedding(5, 4), nn.Linear(4, 5)]
    if kind == "dropout":
        layers.insert(1, nn.Dropout(0.5))  # draws from the default generator
    if kind == "buffers":
        layers.insert(1, nn.BatchNorm1d(3))
    if kind == "shared":
        layers[-1].weight = layers[0].weight
    model = nn.Sequential(*layers).double()
    with xp.no_grad():
        for number, parameter in enumerate(model.parameters()):
            parameter.copy_(numbers(xp, list(parameter.shape), number + start))
    position = np.arange(12 * 6, dtype=np.int64).reshape(12, 2, 3)
    data = [*zip((7 * position + position // 5) % 5, (3 * position + position // 7) % 5)]
    training = import_module("rushlight.course.training")
    return training.Training(xp, model, data, lr=0.05, warmup=3, clip=0.5)


def _steps(run, count):
    return [[*run.step()] for _ in range(count)]


def _state(xp, saved):
    """The entries of a checkpoint, with copies of its tensors, because later steps change these."""
    state = {"keys": sorted(saved), "model": {name: x.detach().clone() for name, x in saved["model"].items()}}
    moments = saved["optimizer"]["state"]
    state["optimizer"] = [
        [number, sorted((name, xp.as_tensor(x).detach().clone()) for name, x in moments[number].items())]
        for number in sorted(moments)
    ]
    state["groups"] = [
        [group["lr"], group["weight_decay"], group["params"]] for group in saved["optimizer"]["param_groups"]
    ]
    state["scheduler"] = [saved["scheduler"][name] for name in ("last_epoch", "base_lrs", "_last_lr")]
    state["generator"] = saved["generator"].clone()
    return state | {"position": saved["position"]}


def _names(saved):
    """The names in the state dicts of the schedule and of the optimizer's groups."""
    return [sorted(state) for state in (saved["scheduler"], *saved["optimizer"]["param_groups"])]


def _through_a_file(xp, value):
    file = io.BytesIO()
    xp.save(value, file)
    file.seek(0)
    return xp.load(file)


def _written(xp, run):
    """A checkpoint of a run that shares no memory with it: it was a file."""
    state = {"model": run.model.state_dict(), "optimizer": run.optimizer.state_dict()}
    state |= {"scheduler": run.scheduler.state_dict(), "generator": xp.get_rng_state(), "position": run.position}
    return _through_a_file(xp, state)


def _lacks_buffers(case, mine, theirs):
    both = entries(field(mine, "model"), field(theirs, "model"))
    return both is not None and not both[0].keys() >= both[1].keys()


@program(
    "course.training.checkpoint",
    cases=drawn(kind=KINDS, before=(0, 4), after=(0, 3), seed=(0, 99)),
    edges=rows(
        "kind before after seed", ("plain", 0, 0, 5), ("plain", 1, 2, 5), ("dropout", 3, 3, 5), ("shared", 2, 1, 5),
        ("shared", 0, 2, 5), ("buffers", 2, 1, 5), ("dropout", 1, 0, 5),
    ),
    draws=15,
    hint=first_of(when(_lacks_buffers, "the state dict of a model has its buffers, too"), explained(
        generator="dropout draws from the default generator, so its state belongs to a checkpoint",
        model="a state dict has the parameters themselves, which later steps change",
        optimizer="the moments in the optimizer's state dict are the optimizer's own, which later steps change",
        exact="the numbers are those of the run, bit for bit",
        whole="the state dicts of the schedule and of the optimizer have more entries",
        rest="the run goes on as if it had not been saved",
    )),
)  # fmt: skip
def saved_run(rl, kind, before, after, seed):
    rl.manual_seed(seed)
    run = _begin(rl, kind)
    _steps(run, before)
    written = _written(rl, run)
    saved = rl.course.training.checkpoint(run)
    exact = _is_exact(rl, saved, written)
    rest = [run.position, _steps(run, after)]
    return _state(rl, saved) | {
        "exact": exact,
        "whole": _names(saved) == _names(written),
        "rest": rest,
        "after a file": _through_a_file(rl, saved)["position"],
    }


@saved_run.oracle
def _(torch, kind, before, after, seed):
    """A file that torch wrote at that moment."""
    torch.manual_seed(seed)
    run = _begin(torch, kind)
    _steps(run, before)
    state = _state(torch, _written(torch, run))
    return state | {"exact": True, "whole": True, "rest": [before, _steps(run, after)], "after a file": before}


@program(
    "course.training.resume",
    cases=drawn(kind=KINDS, before=(0, 4), between=(0, 3), same=bool, seed=(0, 99)),
    edges=rows(
        "kind before between same seed",
        ("plain", 0, 0, False, 5), ("plain", 2, 0, False, 5), ("plain", 2, 2, True, 5), ("dropout", 2, 1, False, 5),
        ("dropout", 3, 2, True, 5), ("shared", 1, 3, False, 5), ("shared", 4, 0, False, 5), ("dropout", 0, 3, False, 5),
        ("buffers", 3, 2, False, 5),
    ),
    draws=10,
    hint=explained(
        state="a part of the checkpoint is not in the run", second="a part of the checkpoint is not in the run",
        exact="the numbers in the run are those of the checkpoint, bit for bit",
        kept="the checkpoint has changed, so it cannot be used again",
    ),
)  # fmt: skip
def resumed_run(rl, kind, before, between, same, seed):
    rl.manual_seed(seed)
    run = _begin(rl, kind)
    _steps(run, before)
    saved = _written(rl, run)
    kept = deepcopy(saved)
    second = run if same else _begin(rl, kind, start=4)
    _steps(second, between)
    result = rl.course.training.resume(second, saved)
    shown = {
        "result": result,
        "state": _state(rl, _written(rl, second)),
        "exact": _is_exact(rl, _written(rl, second), kept),
        "first": [_steps(second, 3), second.position, rl.rand(2)],
        "kept": _equal(rl, kept, saved),
    }
    rl.course.training.resume(second, saved)
    return shown | {"second": [_steps(second, 3), second.position, rl.rand(2)]}  # fmt: skip


@resumed_run.oracle
def _(torch, kind, before, between, same, seed):
    """A run that was never stopped."""
    torch.manual_seed(seed)
    run = _begin(torch, kind)
    _steps(run, before)
    state = _state(torch, _written(torch, run))
    rest = [_steps(run, 3), run.position, torch.rand(2)]
    return {"result": None, "state": state, "exact": True, "first": rest, "kept": True, "second": rest}


def _is_exact(xp, saved, written):
    """Whether the weights, the buffers and the moments are the same, number for number."""
    one, other = ({**state["model"], **_moments(state)} for state in (saved, written))
    return one.keys() == other.keys() and all(bool((xp.as_tensor(one[name]) == other[name]).all()) for name in one)


def _moments(saved):
    return {(i, name): x for i, moments in saved["optimizer"]["state"].items() for name, x in moments.items()}


def _equal(xp, one, other):
    """Whether two results are the same, number for number."""
    if isinstance(one, dict):
        return [*one] == [*other] and all(_equal(xp, one[name], other[name]) for name in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(lambda a, b: _equal(xp, a, b), one, other))
    return bool((one == other).all()) if hasattr(one, "shape") else one == other
