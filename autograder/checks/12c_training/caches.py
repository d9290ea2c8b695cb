"""Lab 12c: keys and values are kept, so that each token is computed once."""

from __future__ import annotations

from rushlight.c10.dispatch import DispatchMode
from rushlight.course.gpt import gpt
from rushlight.course.sampling import KeyValues

from ...engine.check import program
from ..cases import attempt, drawn, numbers, rows, several, when
from .steps import GRADIENT_MODES, TENSORS, Framework

REST = 7.0  # what the memory has where nothing was written


class Reads(DispatchMode):
    """How many operators, views aside, read a memory. An operator in place may write to it."""

    def __init__(self, *memory):
        self.addresses, self.count = {tensor.untyped_storage().data_ptr() for tensor in memory}, 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        name = func.name().partition("::")[2].partition(".")[0]
        if not self._is_inside(result) or name.endswith("_"):
            written = args[:1] if name.endswith("_") else ()
            self.count += any(map(self._is_inside, [*args[len(written) :], *(kwargs or {}).values()]))
        return result

    def _is_inside(self, value):
        if isinstance(value, (list, tuple)):
            return any(map(self._is_inside, value))
        return hasattr(value, "untyped_storage") and value.untyped_storage().data_ptr() in self.addresses


@program(
    "course.sampling.append",
    cases=drawn(counts=several((1, 4), 1, 5), positions=(1, 10), batch=(1, 2)),
    edges=rows(
        "counts positions batch",
        ([1], 3, 1), ([3], 3, 1), ([4], 3, 1), ([1, 1, 1], 3, 2), ([2, 1, 3], 8, 2), ([2, 2, 1], 3, 1), ([3, 1, 4], 6, 2),
    ),
    hint=when(lambda case: sum(case["counts"]) > case["positions"], "a cache that is too small stays as it is"),
)  # fmt: skip
def appended(rl, counts, positions, batch):
    cache = KeyValues(*(rl.full((batch, 2, positions, 3), REST) for _ in range(2)))
    memory, shown = (cache.keys, cache.values), []
    for i, count in enumerate(counts):
        new = [numbers(rl, [batch, 2, count, 3], 2 * i + part, "float32") for part in range(2)]
        before = [tensor.clone() for tensor in new]
        with Reads(*memory) as reads:
            result = attempt(rl.course.sampling.append, cache, *new)
        assert all(map(rl.equal, before, new)), "the keys or the values that were given have changed"
        assert not reads.count, "an operator reads the memory of the cache: only the new tokens are copied"
        if not isinstance(result, str):
            result = [[tensor.clone() for tensor in result], _shares(result, memory)]
        shown.append([result, cache.length, (cache.keys is memory[0], cache.values is memory[1])])
    return [shown, cache.keys, cache.values]


def _shares(views, memory):
    """Whether what is written into the cache shows in the views."""
    shown = []
    for view, whole in zip(views, memory):
        whole.add_(1)
        shown.append(view.clone())
        whole.sub_(1)
    return shown


@appended.oracle
def _(torch, counts, positions, batch):
    """All tokens so far, put together anew each time."""
    known, length, shown = [torch.zeros(batch, 2, 0, 3)] * 2, 0, []
    for i, count in enumerate(counts):
        result = "raises ValueError"
        if length + count <= positions:
            length += count
            new = [numbers(torch, [batch, 2, count, 3], 2 * i + part, "float32") for part in range(2)]
            known = [torch.cat(pair, 2) for pair in zip(known, new)]
            result = [known, [tensor + 1 for tensor in known]]
        shown.append([result, length, (True, True)])
    rest = torch.full((batch, 2, positions - length, 3), REST)
    return [shown, *(torch.cat([tensor, rest], 2) for tensor in known)]


def _model(xp, positions, layers):
    model = gpt(xp, vocabulary=11, width=8, heads=2, layers=layers, length=positions).double()
    with xp.no_grad():
        for number, parameter in enumerate(model.parameters()):
            parameter.copy_(numbers(xp, list(parameter.shape), number))
    return model


@program(
    "course.sampling.generate",
    cases=drawn(
        tokens=several((0, 10), 1, 5), order=several((0, 10), 4, 8), count=(1, 8), end=[None, 0, 3, 7], positions=(5, 12),
        layers=(1, 2),
        tuple=bool,
        recorded=[True, True, False],
    ),
    edges=rows(
        "tokens order count end positions layers tuple recorded",
        ([5], [1, 2, 3, 4, 5, 6, 7, 8], 1, None, 8, 1, False, True),
        ([5, 6, 7], [1, 2, 3, 4, 5, 6, 7, 8], 4, None, 12, 2, True, True),
        ([5, 6, 7], [1, 2, 3, 4, 5, 6, 7, 8], 8, 3, 12, 2, False, True),
        ([5, 6, 7], [1, 2, 3, 4, 5, 6, 7, 8], 8, None, 6, 2, False, False),
        ([5, 6, 7, 8, 9], [1, 2, 3, 4, 5, 6, 7, 8], 8, None, 5, 1, True, True),
        ([3, 3], [3, 2, 3, 4, 5, 6, 7, 8], 8, 3, 9, 2, False, True),
        ([5, 6, 7], [1, 2, 7, 4, 5, 6, 7, 8], 3, 7, 5, 2, False, True),
        ([5, 6], [1, 2, 7, 4, 5, 6, 7, 8], 4, None, 5, 2, False, False),
        ([5, 0, 7], [1, 0, 7, 4, 5, 6, 7, 8], 5, 0, 9, 1, False, True),
        ([5, 6, 7], [], 4, None, 12, 1, False, True), ([5, 6], [1, 2], 3, 7, 12, 2, True, False),
    ),
    draws=25,
    hint=when(lambda case: len(case["tokens"]) + case["count"] > case["positions"] + 1, "the cache has no memory for all tokens"),
)  # fmt: skip
def generated(rl, tokens, order, count, end, positions, layers, tuple, recorded):
    model, log, scores, order = _model(rl, positions, layers).train(layers == 1), [], [], [*order]
    model.register_forward_pre_hook(
        lambda module, args: log.append(
            [str(args[0].dtype).rpartition(".")[2], *args[0].shape, rl.is_grad_enabled(), module.training]
        )
    )

    def choose_next(given):
        scores.append(given.tolist())
        if not order:
            raise KeyError("no token is left to choose")
        return order.pop(0)

    given, xp = (*tokens,) if tuple else [*tokens], Framework(rl)
    with rl.set_grad_enabled(recorded):
        new = attempt(rl.course.sampling.generate, xp, model, given, count, choose_next, end)
    xp.assert_asked(TENSORS, GRADIENT_MODES)
    assert [*given] == [*tokens], "the tokens that were given have changed"
    return {"new": new, "calls": log, "scores": scores, "afterwards": [rl.is_grad_enabled(), model.training]}


@generated.oracle
def _(torch, tokens, order, count, end, positions, layers, tuple, recorded):
    """Without a cache: the scores of all tokens are computed at once, at the end."""
    most = min(count, positions + 1 - len(tokens))
    new = order[:most]
    if end in new:
        new = new[: new.index(end) + 1]
    fails = len(new) < most and end not in new
    known = new if fails else new[:-1]
    with torch.no_grad():
        scores = _model(torch, positions, layers)(torch.tensor([[*tokens, *known]]))[0]
    calls = [["int64", 1, length, False, layers == 1] for length in (len(tokens), *[1] * len(known))]
    return {
        "new": "raises KeyError" if fails else new,
        "calls": calls,
        "scores": scores[len(tokens) - 1 :].tolist(),
        "afterwards": [True, layers == 1],
    }
