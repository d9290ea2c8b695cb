"""Lab 11b, memory against time: selective checkpoints, the scale of a loss, and a loader that is ahead of the loop."""

from __future__ import annotations

import math
from collections import defaultdict
from importlib import import_module
from types import SimpleNamespace

from ...engine.check import program
from ...engine.observe import difference
from ..cases import attempt, drawn, listed, rows, several, when

# Selective checkpoints -----------------------------------------------------------------------------------------------

OPERATORS = [
    "mul.Tensor",
    "exp.default",
    "sort.default",
    "mm.default",
]  # the last one raises an error: it gets a vector
ENTRIES = ["saved", "recompute", "consumed", "written", "None"]


def _entries(st):
    entry = st.tuples(st.integers(0, 3), st.integers(0, 2), st.sampled_from(ENTRIES))
    return st.lists(entry.map(list), max_size=6, unique_by=lambda each: (each[0], each[1]))


@program(
    "utils.checkpoint.call_again",
    cases=drawn(entries=_entries, calls=several((0, 3), 1, 5), twice=bool),
    edges=rows("entries calls twice", *(
        ([], [0], False), ([[0, 0, "saved"]], [0], False), ([[0, 0, "recompute"]], [0], False), ([[0, 0, "consumed"]], [0], False),
        ([[0, 0, "written"]], [0], False), ([[0, 0, "saved"]], [0], True), ([[0, 0, "recompute"]], [0], True),
        ([[0, 0, "saved"], [0, 1, "recompute"]], [0, 0], False), ([[0, 0, "recompute"], [0, 1, "saved"]], [0, 0], False),
        ([[0, 0, "saved"], [1, 0, "saved"]], [1, 0], False), ([[0, 1, "saved"]], [0, 0, 0], False),
        ([[2, 0, "saved"]], [2], False), ([[2, 0, "written"]], [2], False), ([[2, 0, "recompute"]], [2], False),
        ([[0, 0, "saved"], [0, 1, "saved"], [0, 2, "saved"], [1, 0, "recompute"]], [0, 1, 0, 0], True),
        ([[0, 0, "written"], [0, 1, "saved"]], [0, 0], False), ([[0, 0, "consumed"], [0, 1, "saved"]], [0, 0], False),
        ([[3, 0, "recompute"], [3, 1, "saved"]], [3, 3], False), ([[0, 0, "None"]], [0], False),
    )),
    hint=when("twice", "a second backward pass counts from 0 again, and finds what the first one has consumed"),
)  # fmt: skip
def called_again(rl, entries, calls, twice):
    names, cache = rl.utils.checkpoint, {}
    for at, number, kind in entries:
        func = _operator(rl, at)
        saved = None if kind == "None" else _result(rl, at, number)
        cache[func, number] = {"recompute": names.RECOMPUTE, "consumed": names.CONSUMED}.get(kind) or names.save_result(
            saved
        )
        if kind == "written":
            _first(saved).add_(1)
    shown = {}
    for run in ["the second run", "a third run"][: 1 + twice]:
        counts = {}
        for number, at in enumerate(calls):
            func = _operator(rl, at)
            result = attempt(lambda: _shown(names.call_again(cache, counts, func, _args(rl, at), _kwargs(at))))  # noqa: B023
            shown[f"{run}, call {number} in all"] = result
        shown[f"counts after {run}"] = sorted([str(func), count] for func, count in counts.items())
    entries = {(str(func), i): entry is names.CONSUMED for (func, i), entry in cache.items()}
    return shown | {f"{func}, call {i}: its entry is CONSUMED": entries[func, i] for func, i in sorted(entries)}


@called_again.oracle
def _(torch, entries, calls, twice):
    names, storage = import_module("torch.utils.checkpoint"), defaultdict(dict)
    for at, number, kind in entries:
        saved = _result(torch, at, number)
        saved = [None] if kind == "None" else saved if at == 2 else [saved]
        wrapped = [names._VersionWrapper(names._detach_helper(x)) for x in saved]
        kept = tuple(wrapped) if isinstance(saved, tuple) else wrapped[0]
        storage[_operator(torch, at)][number] = {"recompute": names._RECOMPUTE, "consumed": names._CONSUMED}.get(
            kind, kept
        )
        if kind == "written":
            saved[0].add_(1)
    mode, shown = names._CachedTorchDispatchMode(None, storage), {}
    for run in ["the second run", "a third run"][: 1 + twice]:
        mode.func_counter.clear()
        for number, at in enumerate(calls):
            func = _operator(torch, at)
            result = attempt(lambda: _shown(mode.__torch_dispatch__(func, (), _args(torch, at), _kwargs(at))))  # noqa: B023
            shown[f"{run}, call {number} in all"] = result
        shown[f"counts after {run}"] = sorted([str(func), count] for func, count in mode.func_counter.items())
    entries = {
        (str(func), i): entry is names._CONSUMED for func, outputs in storage.items() for i, entry in outputs.items()
    }
    return shown | {f"{func}, call {i}: its entry is CONSUMED": entries[func, i] for func, i in sorted(entries)}


def _operator(xp, at):
    name, overload = OPERATORS[at].split(".")
    return getattr(getattr(xp.ops.aten, name), overload)


def _args(xp, at):
    x = xp.tensor([2.0, 0.0, 1.0])
    return {0: (x, 3.0), 3: (x, x)}.get(at, (x,))


def _kwargs(at):
    return {"descending": True} if at == 2 else {}


def _result(xp, at, number):
    """Make a result with numbers that no operator computes here, so that a cached result is recognised by them."""
    x = xp.tensor([-1.0 - number, 0.5])
    return (x, xp.tensor([1, 0])) if at == 2 else x


def _first(result):
    return result[0] if isinstance(result, tuple) else result


def _shown(result):
    results = result if isinstance(result, (tuple, list)) else [result]
    return [tensor if tensor is None else tensor.tolist() for tensor in results]


# The scale of a loss -------------------------------------------------------------------------------------------------

NUMBERS = [0.0, 1.0, -2.5, 3e38, 1e-45, "inf", "-inf", "nan"]


@program(
    "amp.grad_scaler.unscale_grads",
    cases=drawn(
        grads=lambda st: st.lists(st.lists(st.sampled_from([0.0, 1.0, -2.5, 7.0, *NUMBERS]), max_size=3), max_size=3),
        scale=[1.0, 2.0, 8.0, 65536.0, 3.0, 0.1, 1e-40], kind=["float32", "float64"],
    ),
    edges=rows("grads scale kind", *(
        ([], 2.0, "float32"), ([[]], 2.0, "float32"), ([[4.0, 8.0]], 4.0, "float32"), ([[4.0], ["inf"]], 4.0, "float32"),
        ([["nan"], [4.0]], 4.0, "float32"), ([["-inf", 1.0], [4.0]], 4.0, "float32"), ([[4.0, "nan", 8.0]], 2.0, "float64"),
        ([[1.0, 7.0]], 3.0, "float64"), ([[1.0]], 0.1, "float64"), ([[3e38]], 0.1, "float32"), ([[1.0, 0.0]], 1e-40, "float32"),
        ([["inf"], ["nan"]], 2.0, "float32"), ([[1.0], [2.5]], 65536.0, "float32"), ([[1.0, 0.0]], 1e-40, "float64"),
        ([[3e38, 3e38, -2.5]], 2.0, "float32"), ([[1e300]], 2.0, "float64"),
    )),
    hint=lambda case, mine, theirs: _about_unscaling(case["grads"], mine, theirs),
)  # fmt: skip
def unscaled(rl, grads, scale, kind):
    made, given = _tensors(rl, grads, kind), rl.tensor(scale)
    overflow = rl.amp.grad_scaler.unscale_grads([*made], given)
    return [type(overflow).__name__, overflow, [tensor.tolist() for tensor in made], given.item()]


def _about_unscaling(grads, mine, theirs):
    if not isinstance(mine, list) or len(mine) != 4:
        return None
    if difference(mine[0], theirs[0]):
        is_tensor = mine[0] == "Tensor"
        return "`item()` of a Tensor of bool is a bool, which is the result" if is_tensor else "the result is a bool"
    given = [[float(number) for number in grad] for grad in grads]
    apart = [i for i, pair in enumerate(zip(mine[2], theirs[2], strict=True)) if difference(*pair)]
    left = [i for i in apart if difference(mine[2][i], given[i]) is None]
    if left and not all(map(math.isfinite, sum(given[: left[0] + 1], []))):
        return "all gradients are divided, also one with an infinite or NaN element and those after it"
    if apart:
        return "a gradient is multiplied in place by 1 / scale, and 1 / scale is rounded to float32 for each type of gradients"
    if difference(mine[1], theirs[1]):
        if theirs[1]:
            return "one infinite or NaN element is enough, in whichever gradient it is"
        return "the elements count as they are before the division, each by itself and in the gradient's own type"
    return None


@unscaled.oracle
def _(torch, grads, scale, kind):
    made, overflow, given = _tensors(torch, grads, kind), torch.zeros(1), torch.tensor(scale)
    inverse = given.double().reciprocal().float()
    for tensor in made:
        torch._amp_foreach_non_finite_check_and_unscale_([tensor], overflow, inverse)
    return ["bool", bool(overflow.item()), [tensor.tolist() for tensor in made], given.item()]


def _tensors(xp, grads, kind):
    return [xp.tensor([float(number) for number in grad], dtype=getattr(xp, kind)) for grad in grads]


@program(
    "amp.grad_scaler.update_scale",
    cases=drawn(
        scale=[1.0, 8.0, 65536.0, 1e38, 3e38, 1e-45], found=several(bool, 1, 6), growth=[2.0, 1.5, 4.0], backoff=[0.5, 0.25],
        interval=(1, 3), tracker=[0, 0, 1, 5],
    ),
    edges=rows("scale found growth backoff interval tracker", *(
        (8.0, [False], 2.0, 0.5, 1, 0), (8.0, [False], 2.0, 0.5, 2, 0), (8.0, [False, False], 2.0, 0.5, 2, 0),
        (8.0, [True], 2.0, 0.5, 2, 1), (8.0, [False, True, False, False], 4.0, 0.25, 2, 0), (3e38, [False, False], 2.0, 0.5, 1, 0),
        (3e38, [False, True], 2.0, 0.5, 1, 0), (8.0, [False], 2.0, 0.5, 3, 5), (1e38, [False], 1.5, 0.5, 1, 0),
        (8.0, [True, True, True], 2.0, 0.5, 1, 0), (8.0, [False] * 6, 2.0, 0.5, 3, 0), (1e-45, [True], 2.0, 0.5, 1, 0),
        (8.0, [False, False], 2.0, 0.5, 1000, 998), (8.0, [True], 4.0, 0.5, 2, 0),
    )),
    hint=when(lambda case: case["scale"] > 1e37, "the largest float32 is about 3.4e38"),
)  # fmt: skip
def scales(rl, scale, found, growth, backoff, interval, tracker):
    given, shown = rl.tensor(scale), []
    for overflow in found:
        tracker = rl.amp.grad_scaler.update_scale(given, tracker, overflow, growth, backoff, interval)
        shown.append([given.item(), tracker, str(given.dtype).rpartition(".")[2]])
    return shown


@scales.oracle
def _(torch, scale, found, growth, backoff, interval, tracker):
    given, count, shown = torch.tensor(scale), torch.tensor(tracker, dtype=torch.int32), []
    for overflow in found:
        torch._amp_update_scale_(given, count, torch.tensor([float(overflow)]), growth, backoff, interval)
        shown.append([given.item(), count.item(), "float32"])
    return shown


# A loader and its loop -----------------------------------------------------------------------------------------------


@program(
    "utils.data.timeline.batch_times",
    cases=drawn(batches=lambda st: st.lists(listed((0, 40), (0, 40))(st), max_size=9), workers=(0, 3), prefetch=(1, 3)),
    edges=rows("batches workers prefetch", *(
        ([], 0, 2), ([], 2, 2), ([[30, 10]] * 3, 0, 1), ([[30, 10]] * 4, 1, 1), ([[30, 10]] * 5, 2, 1), ([[30, 10]] * 6, 3, 1),
        ([[5, 20]] * 5, 1, 1), ([[5, 20]] * 5, 1, 2), ([[40, 1], [1, 1], [1, 1], [1, 1], [1, 1]], 2, 1),
        ([[40, 1], [1, 1], [1, 1], [1, 1], [1, 1], [30, 1], [1, 1]], 2, 2), ([[1, 30], [1, 1], [40, 1], [1, 1], [1, 1]], 1, 3),
        ([[7, 3], [11, 2], [1, 9], [4, 4], [20, 1], [2, 2], [3, 30], [8, 1]], 2, 1),
        ([[7, 3], [11, 2], [1, 9], [4, 4], [20, 1], [2, 2], [3, 30], [8, 1]], 3, 2),
        ([[1, 40], [1, 40], [1, 1], [1, 1], [1, 1]], 1, 1), ([[0, 0], [3, 0]], 0, 1), ([[7, 3], [1, 9], [4, 4]], 0, 2),
    )),
    hint=when(lambda case: case["workers"] > 0, "a worker is told of a later batch only when the loop has got an earlier one"),
)  # fmt: skip
def loaded(rl, batches, workers, prefetch):
    load, step = [batch[0] for batch in batches], [batch[1] for batch in batches]
    times = rl.utils.data.timeline.batch_times(load, step, workers, prefetch)
    result = [[int(start), int(got)] for start, got in times]
    if prefetch == 2:
        assert times == rl.utils.data.timeline.batch_times(load, step, workers), "prefetch_factor is 2 by default"
    return result


@loaded.oracle
def _(torch, batches, workers, prefetch):
    """Torch's own iterator, whose queues and workers are a clock here."""
    iterator = _iterator(torch, batches, workers, prefetch) if workers else None
    times, clock = [], iterator.clock if workers else SimpleNamespace(now=0)
    for load, step in batches:
        start = clock.now
        if workers:
            iterator._next_data()
        else:
            clock.now += load
        times.append([start, clock.now])
        clock.now += step
    return times


def _iterator(torch, batches, workers, prefetch):
    loader = import_module("torch.utils.data.dataloader")

    class Iterator(loader._MultiProcessingDataLoaderIter):
        def __init__(self):
            self._prefetch_factor, self._num_workers, self._in_order = prefetch, workers, True
            self._index_queues = [_Queue(self, [0]) for _ in range(workers)]
            self.clock, self.loaded = SimpleNamespace(now=0), []
            self._sampler_iter, self._base_seed, self._dataset_kind = (
                iter(range(len(batches))),
                0,
                loader._DatasetKind.Map,
            )
            self._send_idx = self._rcvd_idx = self._tasks_outstanding = 0
            self._task_info, self._shutdown, self._persistent_workers = {}, False, False
            self._workers_status, self._workers_num_tasks = [True] * workers, [0] * workers
            self._worker_queue_idx_cycle = iter(i % workers for i in range(10**6))
            for _ in range(prefetch * workers):
                self._try_put_index()

        def _next_index(self):
            return next(self._sampler_iter)

        def _get_data(self):
            """The batch that is ready first. Until then the loop waits."""
            ready, index = min(self.loaded)
            self.loaded.remove((ready, index))
            self.clock.now = max(self.clock.now, ready)
            return index, index

        def __del__(self):
            pass

    class _Queue:
        """A worker: it loads what it is told to, one batch after the other."""

        def __init__(self, owner, done):
            self.owner, self.done = owner, done

        def put(self, task):
            index, _ = task
            self.done[0] = max(self.done[0], self.owner.clock.now) + batches[index][0]
            self.owner.loaded.append((self.done[0], index))

    return Iterator()
