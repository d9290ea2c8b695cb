"""Shared by the checks of distributed training: running a function on ranks, the traffic of a rank, and hints by rank.

A program shows what its ranks saw: numbers, the collectives that each rank called, how many bytes it sent, and which calls
the exercise does not allow. It never says whether a result is right.
"""

from __future__ import annotations

import ctypes
import inspect
import io
import os
import threading
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout, suppress
from datetime import timedelta
from functools import partial, update_wrapper, wraps

from ..engine.exercise import fill_as, filled
from ..engine.observe import difference
from ..engine.recorder import called
from .cases import apart, drawing, drawn, first_apart, numbers, several, strategy, with_layout

_failed = set()  # functions that did not end in time: their next call gets less time


def on_ranks(work, quiet=False):
    """Decorator: a program that runs `work(xp, torch, group, **case)` on each of `ranks` ranks, and returns the results by
    rank. On torch's side, where xp is torch, the function is `work(torch, group, **case)`.

    In a case, `members` are the ranks of the group; with `part` the group has all ranks, or all but the first one if it is
    true. A rank outside the group returns None. The group of a case with neither is None, which means all ranks. A rank that
    raises, dies or waits for ever fails the case; if all ranks sleep for a second, they count as waiting for ever. `quiet`
    hides the standard error output of the ranks.

    `for_cases` runs several cases on the same ranks, if none fails there: starting ranks takes most of the time.
    """

    def on_rank(xp, ranks, members=None, part=None, **case):
        import torch  # which only ranks and the judge have imported

        members = members if part is None else range(int(part), ranks)
        group = torch.distributed.new_group([*members]) if members else None
        if members and torch.distributed.get_rank() not in members:
            return None
        return work(*[torch] if xp is torch else [xp, torch], group, **case)

    def run(xp, ranks, members=None, part=None, **case):
        @wraps(work)
        def call():
            return on_rank(xp, ranks, members, part, **case)

        with redirect_stderr(io.StringIO()) if quiet else nullcontext():
            return _results(call, ranks)

    def for_cases(xp, cases):
        order = sorted(range(len(cases)), key=lambda i: -cases[i]["ranks"])
        ranks = [cases[i]["ranks"] for i in order]

        @wraps(work)
        def in_turn(pieces):
            return _in_turn(pieces, ranks, [partial(on_rank, xp, **cases[i]) for i in order])

        recorded = dict(zip(order, _results_by_case(in_turn, ranks)))
        return [partial(_recall, recorded[i]) if recorded else run for i in range(len(cases))]

    run.for_cases = for_cases
    # the text that a student sees is the function's, the parameters are these
    run.__signature__ = inspect.signature(run)
    return update_wrapper(run, work)


on_ranks_quietly = partial(on_ranks, quiet=True)  # DDP warns of searches for unused parameters that find none


def _results(on_rank, ranks):
    from rushlight.distributed import RanksFailed, run_ranks

    name = on_rank.__qualname__
    timeout, still = (5.0, 0.4) if name in _failed else (15.0, 1.0)
    try:
        results = run_ranks(on_rank, ranks, timeout=timeout, still=still)
    except RanksFailed:
        _failed.add(name)
        raise
    _failed.discard(name)
    return results


# Cases that share ranks ----------------------------------------------------------------------------------------------


def _recall(results, xp, **case):
    return results


def _results_by_case(in_turn, ranks):
    """The results of each case by rank, if the cases have so many ranks, the most first. None at all if a case fails: each then has
    to run on ranks of its own, and says why."""
    from rushlight.distributed import run_ranks
    from rushlight.distributed.ranks import dumps

    if in_turn.__qualname__ in _failed:
        return []
    with suppress(Exception), redirect_stderr(io.StringIO()), redirect_stdout(io.StringIO()):
        # a right answer takes less than one second
        by_rank = run_ranks(in_turn, ranks[0], dumps(filled()), timeout=5.0, still=0.5)
        return [[results[i] for results in by_rank[:count]] for i, count in enumerate(ranks)]
    return []


def _in_turn(pieces, counts, calls):
    """On a rank: the results of calls, each on so many ranks, with a process group of its own, from seed 0, and with copies of the
    student's pieces, so that a call finds nothing in their modules that an earlier one has left there. The call on the most ranks
    is first, so no rank waits for one that it has no part in, which would look as if it ran."""
    import cloudpickle
    import torch
    import torch.distributed as dist

    store, rank, results = dist.distributed_c10d._get_default_store(), dist.get_rank(), []
    for i, (ranks, call) in enumerate(zip(counts, calls)):
        if i:
            dist.barrier()  # a slower rank may still receive
            dist.destroy_process_group()
            if rank >= ranks:
                break
            os.environ.update(WORLD_SIZE=str(ranks), LOCAL_WORLD_SIZE=str(ranks))
            own, limit = dist.PrefixStore(str(i), store), timedelta(minutes=2)
            dist.init_process_group("gloo", store=own, rank=rank, world_size=ranks, timeout=limit)
            torch.manual_seed(0)
        fill_as(cloudpickle.loads(pieces))
        results.append(call())
    return results


@contextmanager
def time_limit(name):
    """Within, a TimeoutError on this thread after two seconds, a thousand times what is needed; sooner after a timeout."""
    raised = ctypes.c_ulong(threading.get_ident()), ctypes.py_object(TimeoutError)
    timer = threading.Timer(0.1 if name in _failed else 2.0, ctypes.pythonapi.PyThreadState_SetAsyncExc, raised)
    timer.start()
    try:
        yield
    except TimeoutError:
        _failed.add(name)
        raise
    else:
        _failed.discard(name)
    finally:
        timer.cancel()


# Records of a rank ---------------------------------------------------------------------------------------------------


@contextmanager
def recorded_traffic(allowed=(), watched=()):
    """Within, on a rank: records what it sends, in a dict that is filled at the end.

    "sent" has the number of operations and of bytes by kind ("send", "recv", "all_reduce", ...). "beyond" has the calls that
    are not allowed: kinds of operations besides `allowed`, and the functions named in `watched` ("torch.distributed.send").
    """
    from rushlight.distributed import Traffic

    seen = {}
    try:
        with called(watched) as names, Traffic() as traffic:
            yield seen
    finally:
        nbytes = traffic.nbytes
        seen["sent"] = {kind: [count, nbytes[kind]] for kind, count in sorted(traffic.counts.items())}
        seen["beyond"] = sorted({*nbytes} - {*allowed}) + names


@contextmanager
def recorded_sends():
    """Within, on a rank: a list of the sends, each as the address of its memory and its work, which gloo completes in `wait`.

    A message that arrives is in its tensor when its work has been waited for, and never before. So an answer that does not wait
    for a receive is wrong each time, also if it sleeps instead.
    """
    import torch
    from torch.distributed import Work
    from torch.utils._python_dispatch import TorchDispatchMode

    sends, receives = [], []  # without Python's object, a work of C++ has no `wait` of ours

    class Receive(Work):
        def __init__(self, work, tensors, received):
            super().__init__()
            self.work, self.tensors, self.received = work, tensors, received

        def wait(self, *args):
            completed = self.work.wait(*args)
            for tensor, values in zip(self.tensors, self.received):
                tensor.detach().copy_(values)
            self.tensors = self.received = ()  # the student's tensors live no longer than without this work
            return completed

        def is_completed(self):
            return self.work.is_completed()

    class Messages(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if func.name() == "c10d::recv_" and all(tensor.is_contiguous() for tensor in args[0]):
                received = [torch.empty_like(tensor) for tensor in args[0]]
                receives.append(Receive(Work.unbox(func(received, *args[1:])), args[0], received))
                return receives[-1].boxed()
            result = func(*args, **(kwargs or {}))
            if func.name() == "c10d::send":
                sends.append((args[0][0].untyped_storage().data_ptr(), Work.unbox(result)))
            return result

    with Messages():
        yield sends


class WatchedWork:
    """The work of an asynchronous collective. It records each wait."""

    def __init__(self, work, waits):
        self.work, self.waits = work, waits

    def wait(self, *args):
        self.waits.append("wait")
        return self.work.wait(*args)

    def __getattr__(self, name):
        return getattr(self.work, name)


@contextmanager
def recorded_waits(*names):
    """Within: a list that grows with each wait for a work that one of these functions of torch.distributed returned."""
    import torch.distributed as dist

    waits, kept = [], {name: getattr(dist, name) for name in names}

    def watched(function):
        def call(*args, **kwargs):
            work = function(*args, **kwargs)
            return work if work is None else WatchedWork(work, waits)

        return call

    for name, function in kept.items():
        setattr(dist, name, watched(function))
    try:
        yield waits
    finally:
        for name, function in kept.items():
            setattr(dist, name, function)


# Cases and hints -----------------------------------------------------------------------------------------------------


@drawing
def rings(draw, st, **more):
    """How many ranks there are, which of them form the group (None: all), and what else a case has: descriptions of values,
    or functions that return one for the number of ranks in the group."""
    ranks = draw(st.sampled_from([2, 3, 3, 4, 4]))
    members = draw(st.one_of(st.none(), st.lists(st.integers(0, ranks - 1), min_size=1, unique=True).map(sorted)))
    count = ranks if members is None else len(members)
    parts = {name: part(count) if callable(part) else part for name, part in more.items()}
    made = {name: draw(strategy(st, part)) for name, part in parts.items()}
    return {"ranks": ranks, "members": members} | made


def explained_by_rank(raised=None, **reasons):
    """A hint chosen by the first entry that differs on the first rank whose results differ. Underscores are spaces.

    `raised` has hints for ranks that fail, by a part of the message.
    """

    def hint(case, mine, theirs):
        if not (isinstance(mine, list) and isinstance(theirs, list)):
            message = mine.get("message", "") if isinstance(mine, dict) else ""
            others = " failed: " in message  # ranks wait for one that has raised something, or die with it
            parts = [part for part in raised or {} if part in message and not (others and part in ("wait", "died"))]
            return raised[parts[0]] if parts else None
        for rank, pair in enumerate(zip(mine, theirs)):
            if difference(*pair):
                wrong = str(first_apart(*pair))
                if wrong == "beyond":
                    return f"rank {rank} calls functions of torch.distributed that the contract does not allow"
                changed = (name for name in ("changed", "kept", "written to") if apart(name)(case, *pair))
                causes = (name for name in changed if name.replace(" ", "_") in reasons)
                return reasons.get(next(causes, wrong).replace(" ", "_"))  # numbers may differ because of such a cause
        return None

    return hint


def global_ranks(group):
    """On a rank: the ranks of a group in the world, in the group's order."""
    import torch.distributed as dist

    return dist.get_process_group_ranks(group or dist.group.WORLD)


_KINDS = ["float64", "float32", "int64"]
_OPS = ["SUM", "MAX"]


def _explained(refused, **reasons):
    """A hint chosen by the first entry that differs, or `refused` for a case that must raise ValueError."""

    def hint(case, mine, theirs):
        return refused if isinstance(theirs, str) else reasons.get(first_apart(mine, theirs))

    return hint


# Broadcasting --------------------------------------------------------------------------------------------------------


def with_strides(torch, shape, kind, layout, start):
    """Numbers with a layout of `with_layout`, or a parameter of them."""
    x = with_layout(torch, numbers(torch, shape, start, kind), layout)
    return x.requires_grad_() if layout == "parameter" else x


# torch's own, and a unit of ours -------------------------------------------------------------------------------------


def units(**more):
    return drawn(ranks=(2, 4), sizes=several(several((1, 5), 1, 3), 1, 4), **more)


UNEVEN = [[5, 2], [1], [4, 1, 2], [3]]
