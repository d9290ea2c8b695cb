"""Lab 09: distributed training, on torch itself.

What a program shows is what its ranks saw: numbers, which collectives each called, how many bytes it handed over to them, and
what it called that the exercise does not allow. It says of nothing whether it is right. A program starts its ranks by
`on_ranks`; the function that runs on them is at the top level of this file, and imports what it needs itself.
"""

from __future__ import annotations

import ctypes
import io
import math
import sys
import threading
from contextlib import contextmanager, redirect_stderr

from ...check import program
from ...observe import difference
from ...recorder import called

# What both sides need ------------------------------------------------------------------------------------------------


_failed = set()  # what did not come to its end here: trying it again takes less long


def on_ranks(ranks, work, *args):
    """What `work(*args)` returns on each of so many ranks, by rank. A rank that raises, dies or waits for ever fails the case;
    where all sleep for half a second, that is taken for waiting."""
    from rushlight.distributed import RanksFailed, run_ranks

    name = work.__qualname__
    timeout, still = (5.0, 0.4) if name in _failed else (15.0, 1.0)
    try:
        results = run_ranks(work, ranks, *args, timeout=timeout, still=still)
    except RanksFailed:
        _failed.add(name)
        raise
    _failed.discard(name)
    return results


def on_ranks_of_ddp(ranks, work, *args):
    """`on_ranks` without what torch's reducer has to say where all parameters are used after all."""
    with redirect_stderr(io.StringIO()):
        return on_ranks(ranks, work, *args)


@contextmanager
def recorded_traffic(allowed=(), watched=()):
    """Within, on a rank: notes what is sent. The dict that it gives is filled when it ends.

    "sent" has number and bytes of the operations by kind, "beyond" what was called that is not allowed: kinds of operations
    besides `allowed` ("send", "recv", "all_reduce", ...), and functions of `watched`, which is names ("torch.distributed.
    all_reduce").
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


class Noted:
    """What an asynchronous collective returns, and a note when it is waited for."""

    def __init__(self, work, waited):
        self.work, self.waited = work, waited

    def wait(self, *args):
        self.waited.append("wait")
        return self.work.wait(*args)

    def __getattr__(self, name):
        return getattr(self.work, name)


@contextmanager
def waits_noted(*names):
    """Within: a list of the times that what these functions of torch.distributed return is waited for."""
    import torch.distributed as dist

    waited, kept = [], {name: getattr(dist, name) for name in names}

    def noting(function):
        def call(*args, **kwargs):
            work = function(*args, **kwargs)
            return work if work is None else Noted(work, waited)

        return call

    for name, function in kept.items():
        setattr(dist, name, noting(function))
    try:
        yield waited
    finally:
        for name, function in kept.items():
            setattr(dist, name, function)


@contextmanager
def ended_in_time(name):
    """Within, a TimeoutError on this thread after two seconds, a thousand times what is needed; soon, if it ran out last time."""
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


def numbers(torch, shape, start=0, kind="float64"):
    """Small numbers of both signs, and zeros, by rule; the same `start` gives the same ones."""
    count = 1
    for size in shape:
        count *= size
    values = [((7 * i + 3 * start) % 11) * 0.25 - 1 for i in range(count)]
    return torch.tensor(values, dtype=getattr(torch, kind)).reshape(shape)


def error_name(error):
    """The builtin name of an exception that belongs to the contract."""
    return next(each for each in type(error).__mro__ if each.__module__ == "builtins").__name__


def first_apart(mine, theirs):
    """The name of the first entry in which two results that are dicts differ."""
    if not (isinstance(mine, dict) and isinstance(theirs, dict) and "dict" in mine and "dict" in theirs):
        return None
    mine, theirs = dict(mine["dict"]), dict(theirs["dict"])
    return next((name for name in theirs if difference(mine.get(name), theirs[name])), None)


# Collectives ---------------------------------------------------------------------------------------------------------

MESSAGES = ("send", "recv")


def _member(members):
    """On a rank: the group of these ranks, and whether this one is in it; None stands for all."""
    import torch.distributed as dist

    group = None if members is None else dist.new_group([*members])
    return group, members is None or dist.get_rank() in members


@contextmanager
def messages(allowed=MESSAGES):
    """Within, on a rank: notes the peers and the bytes of the messages that it sends, in order, but for empty ones. Whoever
    receives says from whom."""
    from rushlight.distributed import Traffic

    with recorded_traffic(allowed) as seen, Traffic() as traffic:
        yield seen
    sent = [each for each in traffic.operations if each.kind == "send"]
    del seen["sent"]
    if any(each.kind == "recv" and each.peer is None for each in traffic.operations):
        seen["beyond"].append("a recv from any rank")
    seen["messages"] = [[each.peer, each.nbytes] for each in sent if each.nbytes]


def around(rank, ranks, sizes):
    """What a rank of a ring sends: so many bytes each to the next one, but for empty messages."""
    return {"beyond": [], "messages": [[(rank + 1) % ranks, size] for size in sizes if size]}


def _rings(st, **more):
    """How many ranks there are, which of them form the group (None: all), and what else a case has; `more` is made of how
    many ranks the group has."""

    @st.composite
    def draw_ring(draw):
        ranks = draw(st.sampled_from([2, 3, 3, 4, 4]))
        members = draw(st.one_of(st.none(), st.lists(st.integers(0, ranks - 1), min_size=1, unique=True).map(sorted)))
        count = ranks if members is None else len(members)
        return {"ranks": ranks, "members": members} | {name: draw(make(count)) for name, make in more.items()}

    return draw_ring()


def _ring(ranks, members=None, **more):
    return {"ranks": ranks, "members": members} | more


_KINDS = ("float64", "float32", "int64")
_OPS = ("SUM", "MAX")


def _about_messages(**reasons):
    """A hint by the first thing that differs on the first rank where something does."""

    def hint(case, mine, theirs):
        if not (isinstance(mine, list) and isinstance(theirs, list)):
            return None
        for rank, pair in enumerate(zip(mine, theirs)):
            if difference(*pair):
                both = [dict(each["dict"]) if isinstance(each, dict) and "dict" in each else {} for each in pair]
                wrong = next((name for name in both[1] if difference(both[0].get(name), both[1][name])), "")
                if wrong == "beyond":
                    return f"rank {rank} calls more of torch.distributed than the contract allows"
                return reasons.get(wrong)
        return None

    return hint


_PEERS = "all messages of a ring go to the next rank; p - 1 of them (2(p - 1) of an all-reduce), each of one part"


@program(
    "distributed.collectives.ring_shift",
    cases=lambda st: _rings(
        st,
        sizes=lambda count: st.lists(st.integers(0, 5), min_size=count, max_size=count),
        kind=lambda count: st.sampled_from(_KINDS),
    ),
    edges=[
        _ring(2, sizes=[3, 3], kind="float64"),
        _ring(3, sizes=[1, 2, 3], kind="float64"),
        _ring(4, sizes=[2, 0, 3, 1], kind="int64"),
        _ring(1, sizes=[2], kind="float64"),
        _ring(3, [1, 2], sizes=[4, 1], kind="float32"),
        _ring(4, [0, 2, 3], sizes=[1, 2, 3], kind="float64"),
        _ring(3, [1], sizes=[2], kind="float64"),
        _ring(2, sizes=[600000, 600000], kind="float32"),
        _ring(3, sizes=[600000, 600000, 600000], kind="float32"),
    ],
    hint=_about_messages(
        first="send to rank + 1, receive from rank - 1, both modulo the number of ranks of the group, not of the world",
        messages="one message for each rank, to the next one in its group",
        kept="what is sent is not changed",
    ),
    draws=6,
)
def shift(xp, ranks, members, sizes, kind):
    def shifted():
        import torch

        from rushlight.distributed.collectives import ring_shift

        group, inside = _member(members)
        if not inside:
            return None
        rank = torch.distributed.get_rank(group)
        outgoing = numbers(torch, [sizes[rank]], rank, kind)
        before, incoming = outgoing.clone(), torch.zeros(sizes[rank - 1], dtype=outgoing.dtype)
        with messages() as seen:
            ring_shift(outgoing, incoming, group)
        return {"first": incoming[:9].clone(), "sum": incoming.sum(), "kept": torch.equal(outgoing, before)} | seen

    return on_ranks(ranks, shifted)


@shift.oracle
def shift_by_lists(torch, ranks, members, sizes, kind):
    members = members or range(ranks)
    count = len(members)
    sent = [numbers(torch, [size], i, kind) for i, size in enumerate(sizes)]
    seen = {
        rank: {"first": sent[i - 1][:9].clone(), "sum": sent[i - 1].sum(), "kept": True}
        | around(i, count, [sent[i].nbytes] if count > 1 else [])
        for i, rank in enumerate(members)
    }
    return [seen.get(rank) for rank in range(ranks)]


def _shapes_for(st, count):
    return st.lists(st.lists(st.integers(0, 3), max_size=2), min_size=count, max_size=count)


@program(
    "distributed.collectives.ring_reduce_scatter",
    cases=lambda st: _rings(
        st,
        shapes=lambda count: _shapes_for(st, count),
        op=lambda count: st.sampled_from(_OPS),
        kind=lambda count: st.sampled_from(_KINDS),
    ),
    edges=[
        _ring(2, shapes=[[3], [3]], op="SUM", kind="float64"),
        _ring(3, shapes=[[3], [3], [3]], op="SUM", kind="float64"),
        _ring(3, shapes=[[1], [2], [3]], op="MAX", kind="float64"),
        _ring(4, shapes=[[2], [2, 3], [], [1, 1]], op="SUM", kind="float32"),
        _ring(4, shapes=[[1], [0], [2], [0, 3]], op="MAX", kind="int64"),
        _ring(4, shapes=[[4], [4], [4], [4]], op="SUM", kind="int64"),
        _ring(1, shapes=[[2]], op="SUM", kind="float64"),
        _ring(3, [1, 2], shapes=[[2], [3]], op="SUM", kind="float64"),
        _ring(4, [0, 2, 3], shapes=[[2], [3], [1]], op="SUM", kind="float64"),
        _ring(3, [2], shapes=[[3, 2]], op="MAX", kind="float64"),
    ],
    hint=_about_messages(
        output="the partial result of a place ends on the rank of that number: so it must begin on the rank after it",
        kept="the tensors that are given are not changed: what comes in needs memory of its own",
        messages=_PEERS,
    ),
    draws=6,
)
def reduce_scatter(xp, ranks, members, shapes, op, kind):
    def reduced():
        import torch
        from torch.distributed import ReduceOp

        from rushlight.distributed.collectives import ring_reduce_scatter

        group, inside = _member(members)
        if not inside:
            return None
        rank = torch.distributed.get_rank(group)
        inputs = [numbers(torch, shape, 5 * rank + place, kind) for place, shape in enumerate(shapes)]
        before, output = [each.clone() for each in inputs], torch.zeros_like(inputs[rank])
        with messages() as seen:
            ring_reduce_scatter(output, inputs, getattr(ReduceOp, op), group)
        return {"output": output, "kept": all(map(torch.equal, inputs, before))} | seen

    return on_ranks(ranks, reduced)


@reduce_scatter.oracle
def torch_reduce_scatter(torch, ranks, members, shapes, op, kind):
    def reduced():
        import torch
        from torch.distributed import ReduceOp

        group, inside = _member(members)
        if not inside:
            return None
        rank, count = torch.distributed.get_rank(group), len(shapes)
        inputs = [numbers(torch, shape, 5 * rank + place, kind) for place, shape in enumerate(shapes)]
        output = torch.zeros_like(inputs[rank])
        torch.distributed.reduce_scatter(output, inputs, getattr(ReduceOp, op), group)
        sizes = [inputs[(rank - step) % count].nbytes for step in range(1, count)]
        return {"output": output, "kept": True} | around(rank, count, sizes)

    return on_ranks(ranks, reduced)


@program(
    "distributed.collectives.ring_all_gather",
    cases=lambda st: _rings(
        st,
        shapes=lambda count: _shapes_for(st, count),
        kind=lambda count: st.sampled_from(_KINDS),
        shared=lambda count: st.booleans(),
    ),
    edges=[
        _ring(2, shapes=[[3], [3]], kind="float64", shared=False),
        _ring(3, shapes=[[2], [2], [2]], kind="float64", shared=True),
        _ring(3, shapes=[[1], [2], [3]], kind="float64", shared=False),
        _ring(4, shapes=[[2], [2, 3], [], [1, 1]], kind="float32", shared=False),
        _ring(4, shapes=[[1], [0], [2], [0, 3]], kind="int64", shared=False),
        _ring(1, shapes=[[2]], kind="float64", shared=False),
        _ring(1, shapes=[[2]], kind="float64", shared=True),
        _ring(3, [1, 2], shapes=[[2], [3]], kind="float64", shared=False),
        _ring(4, [0, 2, 3], shapes=[[2], [3], [1]], kind="float64", shared=False),
    ],
    hint=_about_messages(
        outputs="in step k each rank passes on what it received in step k - 1, first of all its own",
        kept="input is not changed",
        messages=_PEERS,
    ),
    draws=6,
)
def all_gather(xp, ranks, members, shapes, kind, shared):
    def gathered():
        import torch

        from rushlight.distributed.collectives import ring_all_gather

        group, inside = _member(members)
        if not inside:
            return None
        rank = torch.distributed.get_rank(group)
        mine = numbers(torch, shapes[rank], rank, kind)
        before, outputs = mine.clone(), [torch.zeros(shape, dtype=mine.dtype) for shape in shapes]
        if shared:
            mine = outputs[rank].copy_(mine)
        with messages() as seen:
            ring_all_gather(outputs, mine, group)
        return {"outputs": outputs, "kept": torch.equal(mine, before)} | seen

    return on_ranks(ranks, gathered)


@all_gather.oracle
def gather_by_lists(torch, ranks, members, shapes, kind, shared):
    members = members or range(ranks)
    count = len(members)
    outputs = [numbers(torch, shape, i, kind) for i, shape in enumerate(shapes)]
    seen = {}
    for i, rank in enumerate(members):
        sizes = [outputs[(i - step) % count].nbytes for step in range(count - 1)]
        seen[rank] = {"outputs": outputs, "kept": True} | around(i, count, sizes)
    return [seen.get(rank) for rank in range(ranks)]


@program(
    "distributed.collectives.ring_all_reduce",
    cases=lambda st: _rings(
        st,
        shape=lambda count: st.lists(st.integers(0, 5), max_size=3),
        op=lambda count: st.sampled_from(_OPS),
        kind=lambda count: st.sampled_from(_KINDS),
    ),
    edges=[
        _ring(2, shape=[4], op="SUM", kind="float64"),
        _ring(3, shape=[6], op="SUM", kind="float64"),
        _ring(3, shape=[7], op="MAX", kind="float64"),
        _ring(4, shape=[2, 3], op="SUM", kind="float32"),
        _ring(4, shape=[3], op="SUM", kind="float64"),
        _ring(3, shape=[], op="SUM", kind="int64"),
        _ring(3, shape=[0, 2], op="SUM", kind="float64"),
        _ring(4, shape=[4, 1, 2], op="MAX", kind="int64"),
        _ring(1, shape=[3], op="SUM", kind="float64"),
        _ring(3, [1, 2], shape=[5], op="SUM", kind="float64"),
        _ring(4, [0, 2, 3], shape=[7], op="MAX", kind="float64"),
        _ring(3, [0], shape=[2], op="SUM", kind="float64"),
        _ring(2, shape=[3, 200001], op="SUM", kind="float32"),
    ],
    hint=_about_messages(
        first="cut the flat tensor in as many parts as the group has ranks; reduce-scatter, then all-gather them in place",
        messages="2(p - 1) messages, each of one part of tensor_split, all of them to the next rank of the group",
    ),
    draws=6,
)
def all_reduce(xp, ranks, members, shape, op, kind):
    def reduced():
        import torch
        from torch.distributed import ReduceOp

        from rushlight.distributed.collectives import ring_all_reduce

        group, inside = _member(members)
        if not inside:
            return None
        tensor = numbers(torch, shape, torch.distributed.get_rank(group), kind)
        with messages() as seen:
            ring_all_reduce(tensor, getattr(ReduceOp, op), group)
        return {"shape": tensor.shape, "first": tensor.reshape(-1)[:99].clone(), "sum": tensor.double().sum()} | seen

    return on_ranks(ranks, reduced)


@all_reduce.oracle
def torch_all_reduce(torch, ranks, members, shape, op, kind):
    def reduced():
        import torch
        from torch.distributed import ReduceOp

        group, inside = _member(members)
        if not inside:
            return None
        rank, count = torch.distributed.get_rank(group), torch.distributed.get_world_size(group)
        tensor = numbers(torch, shape, rank, kind)
        torch.distributed.all_reduce(tensor, getattr(ReduceOp, op), group)
        few, more = divmod(tensor.numel(), count)
        sizes = [tensor.element_size() * (few + ((rank - step) % count < more)) for step in range(1, count)]
        sizes += [tensor.element_size() * (few + ((rank - step) % count < more)) for step in range(count - 1)]
        seen = {"shape": tensor.shape, "first": tensor.reshape(-1)[:99].clone(), "sum": tensor.double().sum()}
        return seen | around(rank, count, sizes)

    return on_ranks(ranks, reduced)


@program(
    "distributed.collectives.tree_broadcast",
    cases=lambda st: _rings(
        st,
        root=lambda count: st.integers(0, count - 1),
        shape=lambda count: st.lists(st.integers(1, 3), max_size=2),
        kind=lambda count: st.sampled_from(_KINDS),
    ),
    edges=[
        _ring(2, root=0, shape=[3], kind="float64"),
        _ring(2, root=1, shape=[3], kind="float64"),
        _ring(3, root=0, shape=[2], kind="float64"),
        _ring(3, root=2, shape=[2, 2], kind="int64"),
        _ring(4, root=0, shape=[2], kind="float64"),
        _ring(4, root=1, shape=[], kind="float32"),
        _ring(4, root=3, shape=[2], kind="float64"),
        _ring(1, root=0, shape=[2], kind="float64"),
        _ring(3, [1, 2], root=0, shape=[2], kind="float64"),
        _ring(4, [0, 2, 3], root=1, shape=[2], kind="float64"),
        _ring(4, [1, 2, 3], root=2, shape=[2], kind="float64"),
        _ring(3, [2], root=0, shape=[2], kind="float64"),
    ],
    hint=_about_messages(
        tensor="src is a rank of the world, peers are ranks of the group, counted from the source",
        messages="in round k the places below 2^k send, to the place 2^k further on: nobody sends to all the others",
    ),
    draws=6,
)
def broadcast(xp, ranks, members, root, shape, kind):
    def told():
        import torch

        from rushlight.distributed.collectives import tree_broadcast

        group, inside = _member(members)
        if not inside:
            return None
        tensor = numbers(torch, shape, torch.distributed.get_rank(), kind)
        with messages() as seen:
            tree_broadcast(tensor, members[root] if members else root, group)
        return {"tensor": tensor} | seen

    return on_ranks(ranks, told)


@broadcast.oracle
def torch_broadcast(torch, ranks, members, root, shape, kind):
    def told():
        import torch

        group, inside = _member(members)
        if not inside:
            return None
        tensor = numbers(torch, shape, torch.distributed.get_rank(), kind)
        torch.distributed.broadcast(tensor, members[root] if members else root, group)
        count = torch.distributed.get_world_size(group)
        place = (torch.distributed.get_rank(group) - root) % count
        hops = [2**k for k in range(8) if place < 2**k and place + 2**k < count]
        sent = [[(root + place + hop) % count, tensor.nbytes] for hop in hops]
        return {"tensor": tensor, "beyond": [], "messages": sent}

    return on_ranks(ranks, told)


def _coalesced(torch, tensors, rank):
    """The tensors that are described: [shape, dtype, layout] each."""
    made = []
    for place, (shape, kind, layout) in enumerate(tensors):
        tensor = numbers(torch, shape, 5 * rank + place, kind)
        if layout == "gaps":
            tensor = torch.zeros([*shape, 2], dtype=tensor.dtype)[..., 1].copy_(tensor)
        if layout == "turned":
            tensor = tensor.permute([*reversed(range(tensor.dim()))])
        made.append(tensor)
    return made


@program(
    "distributed.collectives.all_reduce_coalesced",
    cases=lambda st: _rings(
        st,
        op=lambda count: st.sampled_from(_OPS),
        tensors=lambda count: st.lists(
            st.tuples(
                st.lists(st.integers(0, 3), max_size=3),
                st.sampled_from(_KINDS),
                st.sampled_from(["plain", "plain", "gaps", "turned"]),
            ).map(list),
            max_size=5,
        ),
    ),
    edges=[
        _ring(2, op="SUM", tensors=[[[3], "float64", "plain"]]),
        _ring(2, op="SUM", tensors=[[[3], "float64", "plain"], [[2, 2], "float64", "plain"]]),
        _ring(3, op="SUM", tensors=[[[2], "int64", "plain"], [[3], "float32", "plain"], [[1], "int64", "plain"]]),
        _ring(3, op="MAX", tensors=[[[], "float64", "plain"], [[2, 3], "float64", "turned"], [[3], "int64", "gaps"]]),
        _ring(2, op="SUM", tensors=[[[2], "float32", "plain"], [[2], "float64", "plain"], [[3], "float32", "gaps"]]),
        _ring(3, [1, 2], op="SUM", tensors=[[[2, 2], "float64", "turned"], [[0, 2], "float64", "plain"]]),
        _ring(3, [0, 2], op="MAX", tensors=[[[0], "int64", "plain"], [[2], "float64", "plain"]]),
        _ring(2, op="SUM", tensors=[]),
    ],
    hint=_about_messages(
        waits="nothing is waited for before wait() is called",
        unchanged="the tensors are written to by wait(), not before",
        works="wait() waits for one work of each all_reduce, which it returns if async_op=True",
        sent="one all_reduce for each dtype, of all the elements of that dtype in one buffer, in order of first appearance",
        tensors="each tensor takes its own elements back from its buffer, in its own shape",
    ),
    draws=6,
)
def coalesced(xp, ranks, members, op, tensors):
    def reduced():
        import torch
        from torch.distributed import ReduceOp

        from rushlight.distributed import Traffic
        from rushlight.distributed.collectives import all_reduce_coalesced

        group, inside = _member(members)
        if not inside:
            return None
        given = _coalesced(torch, tensors, torch.distributed.get_rank(group))
        before = [each.clone() for each in given]
        with recorded_traffic(["all_reduce"]) as seen, Traffic() as traffic, waits_noted("all_reduce") as waited:
            pending = all_reduce_coalesced(given, getattr(ReduceOp, op), group)
            unchanged, sent, waits = all(map(torch.equal, given, before)), traffic.operations[:], [*waited]
            pending.wait()
        works = sum(isinstance(work, torch.distributed.Work | Noted) for work in pending.works)
        seen = {"sent": [each.nbytes for each in sent], "beyond": seen["beyond"], "waits": waits}
        return seen | {"unchanged": unchanged, "works": works, "tensors": [each.clone() for each in given]}

    return on_ranks(ranks, reduced)


@coalesced.oracle
def one_by_one(torch, ranks, members, op, tensors):
    def reduced():
        import torch
        from torch.distributed import ReduceOp

        group, inside = _member(members)
        if not inside:
            return None
        given, sent = _coalesced(torch, tensors, torch.distributed.get_rank(group)), {}
        for each in given:
            sent[each.dtype] = sent.get(each.dtype, 0) + each.nbytes
            flat = each.contiguous()
            torch.distributed.all_reduce(flat, getattr(ReduceOp, op), group)
            each.copy_(flat)
        seen = {"sent": [*sent.values()], "beyond": [], "waits": [], "unchanged": True, "works": len(sent)}
        return seen | {"tensors": [each.clone() for each in given]}

    return on_ranks(ranks, reduced)


# Data parallel --------------------------------------------------------------------------------------------------------


def among(members):
    """The group of these ranks (None: all), and whether this rank is in it. All ranks call it."""
    import torch.distributed as dist

    group = dist.new_group(members) if members else None
    return group, not members or dist.get_rank() in members


def copied(x):
    """The values of a tensor, which may be None."""
    return None if x is None else x.new_empty(x.shape, requires_grad=False).copy_(x.detach())


_BUCKETED = {"float32": ("float32", "cpu"), "float64": ("float64", "cpu"), "elsewhere": ("float32", "meta")}


def _bucketed(torch, tensors):
    made = []
    for numel, kind in tensors:
        dtype, where = _BUCKETED[kind]
        made.append(torch.empty(numel, dtype=getattr(torch, dtype), device=where))
    return made


@program(
    "distributed.ddp.assign_buckets",
    cases=lambda st: st.fixed_dictionaries(
        {
            "tensors": st.lists(
                st.tuples(st.integers(0, 6), st.sampled_from(["float32", "float32", "float64", "elsewhere"])).map(list),
                min_size=1,
                max_size=9,
            ),
            "limits": st.lists(st.integers(1, 80), min_size=1, max_size=3),
        }
    ),
    edges=[
        {"tensors": [[4, "float32"]], "limits": [16]},
        {"tensors": [[4, "float32"], [4, "float32"]], "limits": [16]},
        {"tensors": [[4, "float32"], [4, "float32"]], "limits": [17]},
        {"tensors": [[4, "float32"]] * 7, "limits": [16, 48]},
        {"tensors": [[4, "float32"]] * 7, "limits": [16, 32, 48]},
        {"tensors": [[1, "float32"], [20, "float32"], [1, "float32"]], "limits": [40]},
        {"tensors": [[4, "float32"], [4, "float64"]] * 4, "limits": [16, 60]},
        {"tensors": [[4, "float32"], [4, "elsewhere"]] * 4, "limits": [8, 32]},
        {"tensors": [[1, "float64"], [2, "float32"], [2, "float32"], [9, "float64"]], "limits": [16, 64]},
        {"tensors": [[0, "float32"], [0, "float32"], [4, "float32"]], "limits": [16]},
        {"tensors": [[2, "elsewhere"], [2, "float64"], [2, "float32"], [2, "float64"]], "limits": [1]},
    ],
    hint=lambda case, mine, theirs: (
        "a bucket is closed by the tensor with which it reaches its limit; each kind has its own buckets and its own limits"
    ),
)
def buckets(xp, tensors, limits):
    import torch

    with called(["torch.distributed._compute_bucket_assignment_by_size"]) as beyond:
        result = xp.distributed.ddp.assign_buckets(_bucketed(torch, tensors), limits)
    return {"buckets": result, "beyond": beyond}


@buckets.oracle
def torch_buckets(torch, tensors, limits):
    made = _bucketed(torch, tensors)
    return {"buckets": torch.distributed._compute_bucket_assignment_by_size(made, limits)[0], "beyond": []}


def _laid_out(torch, shape, kind, layout, start):
    x = numbers(torch, shape, start, kind)
    if layout == "backwards":
        backwards = [*reversed(range(x.dim()))]
        x = x.permute(backwards).contiguous().permute(backwards)
    if layout == "gaps":
        x = torch.zeros([*shape, 2], dtype=x.dtype)[..., 1].copy_(x)
    return x.requires_grad_() if layout == "parameter" else x


def broadcast_on_rank(tensors, source, members):
    import torch
    import torch.distributed as dist

    import rushlight as rl

    group, inside = among(members)
    mine = [_laid_out(torch, *each, dist.get_rank() + i) for i, each in enumerate(tensors)]
    strides = [each.stride() for each in mine]
    with recorded_traffic(["broadcast"], ["torch.distributed._broadcast_coalesced"]) as seen:
        if inside:
            rl.distributed.ddp.broadcast_coalesced(mine, group, source)
    return {
        "tensors": [copied(each) for each in mine],
        "strides": [each.stride() for each in mine] == strides,
        "leaves": [each.is_leaf for each in mine],
        **seen,
    }


def torch_broadcast_on_rank(tensors, source, members):
    import torch
    import torch.distributed as dist

    group, inside = among(members)
    mine = [_laid_out(torch, *each, dist.get_rank() + i) for i, each in enumerate(tensors)]
    with recorded_traffic(["broadcast"]) as seen:
        if inside and mine:
            dist._broadcast_coalesced(group or dist.group.WORLD, [each.detach() for each in mine], 1 << 30, source)
    return {"tensors": [copied(each) for each in mine], "strides": True, "leaves": [True] * len(mine), **seen}


def _broadcasts(st):
    each = st.tuples(
        st.lists(st.integers(0, 3), max_size=3),
        st.sampled_from(["float64", "float32", "int64"]),
        st.sampled_from(["", "backwards", "gaps"]),
    ).map(list)
    parameter = st.lists(st.integers(1, 3), max_size=2).map(lambda shape: [shape, "float32", "parameter"])
    return st.fixed_dictionaries(
        {
            "ranks": st.integers(2, 3),
            "tensors": st.lists(st.one_of(each, parameter), max_size=5),
            "source": st.integers(0, 1),
            "members": st.sampled_from([[], [], [0, 1]]),
        }
    )


_several = [
    [[2, 3], "float64", "backwards"],
    [[], "int64", ""],
    [[3], "float64", "gaps"],
    [[2], "float32", "parameter"],
]


@program(
    "distributed.ddp.broadcast_coalesced",
    cases=_broadcasts,
    edges=[
        {"ranks": 2, "tensors": _several, "source": 0, "members": []},
        {"ranks": 3, "tensors": _several, "source": 2, "members": []},
        {"ranks": 3, "tensors": _several, "source": 0, "members": [1, 2]},
        {"ranks": 3, "tensors": _several[::-1], "source": 1, "members": [1, 2]},
        {"ranks": 2, "tensors": [], "source": 0, "members": []},
        {
            "ranks": 2,
            "tensors": [[[0, 2], "float32", ""], [[2, 2], "float32", "parameter"]],
            "source": 1,
            "members": [],
        },
    ],
    hint=lambda case, mine, theirs: (
        "one broadcast for each dtype; source is a rank of the group (group_src), and the tensors keep their strides"
    ),
    draws=8,
)
def broadcasts(xp, ranks, tensors, source, members):
    return on_ranks(ranks, broadcast_on_rank, tensors, source, members)


@broadcasts.oracle
def torch_broadcasts(torch, ranks, tensors, source, members):
    return on_ranks(ranks, torch_broadcast_on_rank, tensors, source, members)


def in_turn(torch, parameters, order):
    """A loss to whose gradient the parameters contribute in this order."""
    y = torch.ones((), dtype=torch.float64)
    for i in reversed(order):
        y = y * (parameters[i] * numbers(torch, parameters[i].shape, i + 1)).sum().add(2).sigmoid()
    return y


def _parameters(torch, sizes, start=0):
    return [torch.nn.Parameter(numbers(torch, shape, start + i)) for i, shape in enumerate(sizes)]


def _assignment(torch, parameters, limit):
    """Buckets as DistributedDataParallel has them while it looks for unused parameters."""
    return torch.distributed._compute_bucket_assignment_by_size(parameters, [limit])[0][::-1]


class Arrivals:
    """Notes which parameters have had their gradients, and how much had been sent by then."""

    def __init__(self, traffic):
        self.traffic, self.seen = traffic, []

    def __call__(self, i):
        self.seen.append([i, len(self.traffic.operations)])

    def sent(self, leave_out=0):
        return [[each.kind, each.nbytes, each.ranks] for each in self.traffic.operations][: -leave_out or None]


def mark_on_rank(sizes, limit, orders, earlier, members):
    import torch
    import torch.distributed as dist

    import rushlight as rl

    ddp = rl.distributed.ddp
    group, inside = among(members)
    if not inside:
        return None
    order = orders[dist.get_rank(group)]
    parameters = _parameters(torch, sizes)
    reducer = ddp.make_reducer(parameters, _assignment(torch, parameters, limit), group)
    for bucket in reducer.buckets:
        bucket.buffer.fill_(7.0)  # of an earlier backward
    for i in earlier:
        parameters[i].grad = numbers(torch, sizes[i], dist.get_rank() + 5)
    with rl.distributed.Traffic() as traffic, waits_noted("all_reduce") as waited:
        arrivals = Arrivals(traffic)

        def came(i):
            arrivals(i)
            if len(arrivals.seen) == 1:
                for unused in range(len(sizes)):
                    if unused not in order:
                        ddp.mark_ready(reducer, parameters[unused])
            ddp.mark_ready(reducer, parameters[i])

        for i, each in enumerate(parameters):
            each.register_post_accumulate_grad_hook(lambda _, i=i: came(i))
        in_turn(torch, parameters, order).backward()
        sent, waits = arrivals.sent(), [*waited]
        works = [bucket.work is not None for bucket in reducer.buckets]
    for bucket in reducer.buckets:
        bucket.work.wait()
    views = [reducer.buckets[a].views[b] for a, b in map(reducer.places.get, parameters)]
    return {
        "arrivals": arrivals.seen,
        "sent": sent,
        "works": works,
        "waits": waits,
        "launched": reducer.launched == len(reducer.buckets),
        "pending": [bucket.pending for bucket in reducer.buckets],
        "averages": [copied(each) for each in views],
        "own": [copied(each.grad) for each in parameters],
    }


def torch_mark_on_rank(sizes, limit, orders, earlier, members):
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel

    from rushlight.distributed import Traffic

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.parts = torch.nn.ParameterList(_parameters(torch, sizes))

        def forward(self, order):
            return in_turn(torch, [*self.parts], order)

    group, inside = among(members)
    if not inside:
        return None
    order = orders[dist.get_rank(group)]
    alone, model = Model(), Model()
    for each in (alone, model):
        for i in earlier:
            each.parts[i].grad = numbers(torch, sizes[i], dist.get_rank() + 5)
    alone(order).backward()
    count = len(_assignment(torch, [*model.parts], limit))
    parallel = DistributedDataParallel(
        model, process_group=group, bucket_cap_mb=limit / 2**20, find_unused_parameters=True
    )
    loss = parallel(order)
    with Traffic() as traffic:
        arrivals = Arrivals(traffic)
        for i, each in enumerate(model.parts):
            each.register_post_accumulate_grad_hook(lambda _, i=i: arrivals(i))
        loss.backward()
    grads = [torch.zeros_like(each) if each.grad is None else each.grad for each in model.parts]
    for i in earlier:  # what no rank has used keeps its gradient; in the bucket there is the average all the same
        if all(i not in each for each in orders):
            members = members or range(dist.get_world_size())
            grads[i] = sum(numbers(torch, sizes[i], rank + 5) for rank in members) / len(members)
    return {
        "arrivals": arrivals.seen,
        "sent": arrivals.sent(leave_out=1),  # at last it is asked which parameters were used
        "works": [True] * count,
        "waits": [],
        "launched": True,
        "pending": [0] * count,
        "averages": [copied(each) for each in grads],
        "own": [copied(each.grad) for each in alone.parts],
    }


def _orders(n, ranks, draw, st):
    return [draw(st.lists(st.sampled_from(range(n)), min_size=1, max_size=n, unique=True)) for _ in range(ranks)]


def _marks(st):
    @st.composite
    def draw_marks(draw):
        sizes = draw(st.lists(st.lists(st.integers(1, 4), min_size=1, max_size=2), min_size=1, max_size=5))
        return {
            "ranks": draw(st.just(2)),
            "sizes": sizes,
            "limit": draw(st.integers(8, 120)),
            "orders": _orders(len(sizes), 2, draw, st),
            "earlier": draw(st.lists(st.sampled_from(range(len(sizes))), max_size=2, unique=True)),
            "members": [],
        }

    return draw_marks()


_four = {"ranks": 2, "sizes": [[2, 3], [3], [4], [2, 2]], "limit": 40, "earlier": [], "members": []}


@program(
    "distributed.ddp.mark_ready",
    cases=_marks,
    edges=[
        _four | {"orders": [[3, 2, 1, 0], [3, 2, 1, 0]]},
        _four | {"orders": [[0, 1, 2, 3], [3, 2, 1, 0]]},
        _four | {"orders": [[2, 0, 1, 3], [1, 3, 2, 0]], "limit": 8},
        _four | {"orders": [[3, 1, 0], [3, 2, 1]]},
        _four | {"orders": [[1], [1, 0]], "earlier": [1, 2]},
        _four | {"orders": [[0, 1, 2, 3], [3, 2, 1, 0]], "limit": 1000, "earlier": [0]},
        _four | {"orders": [[3, 0, 2, 1], [0, 1, 3, 2]], "ranks": 3, "members": [1, 2], "limit": 20},
    ],
    hint=lambda case, mine, theirs: (
        "buckets go off in their order, as soon as they and all before them are full, and nobody waits here; what goes off is "
        "the gradients divided by the number of ranks of the group"
    ),
    draws=8,
)
def marks(xp, ranks, sizes, limit, orders, earlier, members):
    return on_ranks(ranks, mark_on_rank, sizes, limit, orders, earlier, members)


@marks.oracle
def torch_marks(torch, ranks, sizes, limit, orders, earlier, members):
    return on_ranks_of_ddp(ranks, torch_mark_on_rank, sizes, limit, orders, earlier, members)


def graph_of(torch, count, steps, outputs):
    """Parameters, and outputs that are computed from them: each step is an operation, of values by their numbers."""
    parameters = [torch.nn.Parameter(torch.full((), 1.0 + i)) for i in range(count)]
    values = [*parameters]
    for operation, a, b in steps:
        x, y = values[a % len(values)], values[b % len(values)]
        made = {
            "add": lambda x, y: x + y,
            "both": lambda x, y: torch.stack([x, y]).unbind()[0],
            "stop": lambda x, y: x.detach() + 1,
            "alias": lambda x, y: x.view(()),
            "long": lambda x, y: _repeated(lambda z: z + 1, x, 3000),
            "wide": lambda x, y: _repeated(lambda z: z + z, x, 60) + y,
        }[operation](x, y)
        values.append(made)
    return parameters, _chosen(values, outputs)


def _repeated(function, x, times):
    for _ in range(times):
        x = function(x)
    return x


def _chosen(values, outputs):
    if isinstance(outputs, int):
        return values[outputs % len(values)]
    if isinstance(outputs, dict):
        return {name: _chosen(values, each) for name, each in outputs.items()}
    return [_chosen(values, each) for each in outputs] if isinstance(outputs, (list, tuple)) else outputs


def _tensors(torch, outputs):
    if isinstance(outputs, dict):
        outputs = [*outputs.values()]
    if isinstance(outputs, (list, tuple)):
        return [inner for each in outputs for inner in _tensors(torch, each)]
    return [outputs] if isinstance(outputs, torch.Tensor) else []


def _graphs(st):
    operation = st.sampled_from(["add", "add", "add", "both", "stop", "alias"])
    step = st.tuples(operation, st.integers(0, 9), st.integers(0, 9)).map(list)
    place = st.one_of(st.integers(0, 12), st.none())
    return st.fixed_dictionaries(
        {
            "count": st.integers(1, 5),
            "steps": st.lists(step, max_size=6),
            "outputs": st.recursive(
                place,
                lambda inner: st.one_of(
                    st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
                ),
                max_leaves=4,
            ),
        }
    )


@program(
    "distributed.ddp.find_unused",
    cases=_graphs,
    edges=[
        {"count": 3, "steps": [["add", 0, 2]], "outputs": 3},
        {"count": 3, "steps": [["add", 0, 1], ["add", 3, 1]], "outputs": [3, None]},
        {"count": 3, "steps": [["add", 0, 1], ["stop", 3, 3], ["add", 4, 2]], "outputs": {"a": 5, "b": [4]}},
        {"count": 4, "steps": [["add", 0, 0], ["add", 2, 2]], "outputs": [4, {"a": 5}]},
        {"count": 2, "steps": [], "outputs": 1},
        {"count": 2, "steps": [], "outputs": []},
        {"count": 2, "steps": [["stop", 0, 0]], "outputs": 2},
        {"count": 3, "steps": [["both", 0, 1]], "outputs": [3]},
        {"count": 3, "steps": [["alias", 1, 1]], "outputs": [[3], 0]},
        {"count": 2, "steps": [["add", 1, 1], ["long", 2, 2]], "outputs": {"a": {"b": 3}}},
        {"count": 3, "steps": [["add", 1, 1], ["wide", 3, 2]], "outputs": 4},
        {"count": 4, "steps": [["add", 3, 3], ["add", 4, 1]], "outputs": [4, 5, 5]},
    ],
    hint=lambda case, mine, theirs: (
        "from the outputs' nodes along next_functions: an AccumulateGrad has its parameter as `variable`; look at a node once, "
        "with a list of those that are left instead of a function that calls itself"
    ),
)
def unused(xp, count, steps, outputs):
    import torch

    parameters, made = graph_of(torch, count, steps, outputs)
    engine = ["torch.autograd.grad", "torch.autograd.backward", "torch.autograd.graph._engine_run_backward"]
    with called(engine) as beyond, ended_in_time("find_unused"):
        result = xp.distributed.ddp.find_unused(made, parameters)
    return {"unused": result, "grads": [each.grad for each in parameters], "beyond": beyond}


@unused.oracle
def torch_unused(torch, count, steps, outputs):
    parameters, made = graph_of(torch, count, steps, outputs)
    ends = [each for each in _tensors(torch, made) if each.requires_grad]
    found = torch.autograd.grad(ends, parameters, allow_unused=True) if ends else [None] * count
    none = [None] * count
    return {"unused": [i for i, each in enumerate(found) if each is None], "grads": none, "beyond": []}


def _gradients(torch, sizes, used, earlier, rank):
    """What a parameter's gradient is on a rank before the ranks average it."""
    found = []
    for i, shape in enumerate(sizes):
        parts = [numbers(torch, shape, rank + i)] * used[i] + [numbers(torch, shape, 2 * rank + i + 3)] * (i in earlier)
        found.append(sum(parts[1:], parts[0]) if parts else None)
    return found


def finish_on_rank(sizes, buckets, used, earlier, looks, late, members):
    import torch
    import torch.distributed as dist

    import rushlight as rl

    ddp, (group, inside) = rl.distributed.ddp, among(members)
    if not inside:
        return None
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    parameters = _parameters(torch, sizes)
    cuts = range(0, len(sizes), buckets)
    reducer = ddp.make_reducer(parameters, [[*range(len(sizes))][i : i + buckets] for i in cuts][::-1], group)
    grads = _gradients(torch, sizes, used[rank], earlier, rank)
    for each, grad in zip(parameters, grads):
        each.grad = grad
    for bucket in reducer.buckets[: -1 if late else None]:
        for each, view in zip(bucket.parameters, bucket.views):
            view.zero_() if each.grad is None else view.copy_(each.grad / ranks)
        bucket.work = dist.all_reduce(bucket.buffer, group=group, async_op=True)
        bucket.pending, reducer.launched = 0, reducer.launched + 1
    before, refused = [*map(copied, grads)], None
    with recorded_traffic(["all_reduce"]) as seen:
        try:
            ddp.finish(reducer, used[rank] if looks else None)
        except RuntimeError as error:
            refused = error_name(error)
    if refused:
        same = [b is a if b is None else torch.equal(b, a) for a, b in zip(before, grads)]
        return {"error": refused, "gradients as they were": all(same), **seen}
    state = [[b.pending - len(b.parameters), b.work is None] for b in reducer.buckets]
    for bucket in reducer.buckets:
        bucket.buffer.fill_(99)
    return {
        "grads": [copied(each.grad) for each in parameters],
        "in place": [old is None or each.grad is old for each, old in zip(parameters, grads)],
        "state": [[0, True]] if all(each == [0, True] for each in state) else state,
        "launched": reducer.launched,
        **seen,
    }


def torch_finish_on_rank(sizes, buckets, used, earlier, looks, late, members):
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel

    group, inside = among(members)
    if not inside:
        return None
    rank = dist.get_rank(group)

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.parts = torch.nn.ParameterList(_parameters(torch, sizes))

        def forward(self):
            terms = [(p * numbers(torch, p.shape, rank + i)).sum() for i, p in enumerate(self.parts) if used[rank][i]]
            return sum(terms)

    model = Model()
    for i in earlier:
        model.parts[i].grad = numbers(torch, sizes[i], 2 * rank + i + 3)
    parallel = DistributedDataParallel(model, process_group=group, find_unused_parameters=looks)
    loss = parallel()
    with recorded_traffic(["all_reduce"]) as seen:
        loss.backward()
    if not looks:
        try:
            parallel()
        except RuntimeError as error:
            return {"error": error_name(error), "gradients as they were": True, "sent": {}, "beyond": []}
    size = sum(each.nbytes for each in model.parts)  # of its only bucket
    count, nbytes = seen["sent"]["all_reduce"]
    sent = {"all_reduce": [count - 1, nbytes - size]} if count > 1 else {}
    return {
        "grads": [copied(each.grad) for each in model.parts],
        "in place": [True] * len(sizes),
        "state": [[0, True]],
        "launched": 0,
        "sent": sent,
        "beyond": [],
    }


def _finishes(st):
    @st.composite
    def draw_finish(draw):
        n, ranks = draw(st.integers(1, 4)), draw(st.integers(2, 3))
        looks = draw(st.sampled_from([True, True, False]))
        used = [[not looks or draw(st.booleans()) for _ in range(n)] for _ in range(ranks)]
        for each in used:
            each[draw(st.integers(0, n - 1))] = True
        return {
            "ranks": ranks,
            "sizes": [draw(st.lists(st.integers(1, 3), min_size=1, max_size=2)) for _ in range(n)],
            "buckets": draw(st.integers(1, 3)),
            "used": used,
            "earlier": draw(st.lists(st.sampled_from(range(n)), max_size=2, unique=True)),
            "looks": looks,
            "late": False,
            "members": [],
        }

    return draw_finish()


_three = {
    "members": [],
    "ranks": 2,
    "sizes": [[2, 2], [3], [1, 4]],
    "buckets": 2,
    "earlier": [],
    "looks": True,
    "late": False,
}
_Y, _N = True, False


@program(
    "distributed.ddp.finish",
    cases=_finishes,
    edges=[
        _three | {"used": [[_Y, _Y, _Y], [_Y, _Y, _Y]]},
        _three | {"used": [[_Y, _Y, _Y], [_Y, _Y, _Y]], "looks": False},
        _three | {"used": [[_Y, _N, _N], [_Y, _Y, _N]]},
        _three | {"used": [[_N, _N, _Y], [_Y, _N, _N]], "earlier": [1]},
        _three | {"used": [[_N, _N, _Y], [_Y, _N, _N]], "earlier": [0, 2]},
        _three | {"used": [[_Y, _N, _N]] * 3, "earlier": [0, 1], "ranks": 3, "buckets": 1},
        _three | {"used": [[_Y, _Y, _N]] * 2, "looks": False, "late": True},
        _three | {"used": [[_N, _N, _Y]] * 2, "looks": False, "late": True},
        _three | {"used": [[_Y, _N, _N], [_N, _Y, _N]], "ranks": 3, "members": [0, 2], "buckets": 3},
        _three | {"used": [[_Y, _Y, _Y]] * 2, "looks": False, "buckets": 1, "earlier": [0, 1, 2]},
    ],
    hint=lambda case, mine, theirs: (
        "wait for each bucket, ask which parameters any rank has used if `used` is given, copy the averages into those "
        "gradients, in place where there is one, and set the reducer back"
    ),
    draws=8,
)
def finishes(xp, ranks, sizes, buckets, used, earlier, looks, late, members):
    return on_ranks(ranks, finish_on_rank, sizes, buckets, used, earlier, looks, late, members)


@finishes.oracle
def torch_finishes(torch, ranks, sizes, buckets, used, earlier, looks, late, members):
    return on_ranks_of_ddp(ranks, torch_finish_on_rank, sizes, buckets, used, earlier, looks, late, members)


def train_data_parallel(wrapped, layers, left_out, alone):
    """Some steps with a module that `wrapped` has made parallel; what was left over of each."""
    import torch
    import torch.distributed as dist

    class Layers(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.ModuleList([torch.nn.Linear(4, 4, bias=False) for _ in range(layers)])

        def forward(self, x, without):
            for i, layer in enumerate(self.layers):
                x = x if i in without else torch.tanh(layer(x))
            return {"y": [x]}

    rank = dist.get_rank()
    torch.manual_seed(rank)  # in the beginning the ranks have other weights
    module = Layers().double()
    model = wrapped(module)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1, momentum=0.9)
    seen = []
    for step in range(3):
        x = numbers(torch, [2, 4], rank + step)
        if step in alone:
            with model.no_sync():
                model(x, left_out[rank])["y"][0].square().sum().backward()
        with recorded_traffic(["all_reduce"]) as traffic:
            loss = model(x + 1, left_out[rank])["y"][0].square().sum()
            loss.backward()
        grads = [copied(each.grad) for each in module.parameters()]
        optimizer.step()
        optimizer.zero_grad()
        seen.append({"loss": copied(loss), "grads": grads, "weights": [copied(each) for each in module.parameters()]})
    return {"steps": seen, **traffic}


def data_parallel_on_rank(layers, limit, left_out, alone):
    import rushlight as rl

    looks, ddp = any(left_out), rl.distributed.ddp
    return train_data_parallel(
        lambda module: ddp.DistributedDataParallel(module, limits=[limit], find_unused_parameters=looks),
        layers,
        left_out,
        alone,
    )


def torch_data_parallel_on_rank(layers, limit, left_out, alone):
    from torch.nn.parallel import DistributedDataParallel

    looks, cap = any(left_out), limit / 2**20
    return train_data_parallel(
        lambda module: DistributedDataParallel(module, bucket_cap_mb=cap, find_unused_parameters=looks),
        layers,
        left_out,
        alone,
    )


def _trainings(st):
    @st.composite
    def draw_training(draw):
        layers, ranks = draw(st.integers(2, 5)), draw(st.integers(2, 3))
        some = st.lists(st.integers(1, layers - 1), max_size=layers - 1, unique=True)
        left_out = [draw(some) if draw(st.booleans()) else [] for _ in range(ranks)]
        limit, alone = draw(st.integers(100, 500)), draw(st.lists(st.integers(0, 2), max_size=2, unique=True))
        return {"ranks": ranks, "layers": layers, "limit": limit, "left_out": left_out, "alone": alone}

    return draw_training()


@program(
    "together.data_parallel",
    cases=_trainings,
    edges=[
        {"ranks": 2, "layers": 4, "limit": 200, "left_out": [[], []], "alone": []},
        {"ranks": 2, "layers": 4, "limit": 200, "left_out": [[1], [1, 2]], "alone": [1]},
        {"ranks": 3, "layers": 5, "limit": 128, "left_out": [[], [2], []], "alone": [0, 2]},
    ],
    draws=4,
)
def data_parallel(xp, ranks, layers, limit, left_out, alone):
    return on_ranks(ranks, data_parallel_on_rank, layers, limit, left_out, alone)


@data_parallel.oracle
def torch_data_parallel(torch, ranks, layers, limit, left_out, alone):
    return on_ranks_of_ddp(ranks, torch_data_parallel_on_rank, layers, limit, left_out, alone)


# Fully sharded --------------------------------------------------------------------------------------------------------


def _storage(torch, x):
    """All that a tensor's memory holds, flat."""
    return torch.empty(0, dtype=x.dtype).set_(x.untyped_storage()).clone()


def _about_shards(case, mine, theirs):
    if isinstance(mine, list) and [each[0] for each in mine if isinstance(each, list)] == [each[0] for each in theirs]:
        return "the sizes are right; an empty shard begins where the dimension ends"
    return "ceil(size / ranks) for each rank as long as there are enough, as torch.chunk cuts"


@program(
    "distributed.shards.shard_sizes",
    cases=lambda st: st.fixed_dictionaries({"size": st.integers(0, 60), "ranks": st.integers(1, 12)}),
    edges=[
        {"size": size, "ranks": ranks}
        for size, ranks in [(4, 2), (5, 2), (5, 4), (6, 4), (7, 4), (1, 3), (0, 3), (9, 1), (9, 8), (10, 4), (600, 7)]
    ],
    hint=_about_shards,
    draws=40,
)
def shards(xp, size, ranks):
    from rushlight.distributed.shards import shard_sizes

    return [[*each] for each in shard_sizes(size, ranks)]


@shards.oracle
def torch_shards(torch, size, ranks):
    from torch.distributed.tensor import Shard

    return [[int(number) for number in Shard.local_shard_size_and_offset(size, ranks, rank)] for rank in range(ranks)]


def _seen_shard(torch, part):
    return {"part": copied(part), "strides": list(part.stride()), "memory": _storage(torch, part)}


@program(
    "distributed.fsdp.shard",
    cases=lambda st: st.fixed_dictionaries(
        {
            "shape": st.lists(st.integers(1, 5), min_size=1, max_size=3),
            "ranks": st.integers(2, 4),
            "layout": st.sampled_from(["", "backwards", "parameter"]),
        }
    ),
    edges=[
        {"shape": shape, "ranks": ranks, "layout": layout}
        for shape, ranks, layout in [
            ([4, 2], 2, ""),
            ([5, 2], 2, "parameter"),
            ([5], 4, ""),  # the parts have 2, 2, 1 and no rows
            ([1, 3], 4, ""),
            ([3, 2], 3, "backwards"),
            ([3, 4, 2], 4, "gaps"),
            ([9], 4, ""),
            ([], 2, ""),
        ]
    ],
    hint=lambda case, mine, theirs: (
        "ceil(size / ranks) rows each, fewer or none at the end; the memory behind a part is as long as the largest, with zeros"
    ),
    draws=8,
)
def sharding(xp, shape, ranks, layout):
    import torch

    x = _laid_out(torch, shape, "float64", layout, 2)
    torch.use_deterministic_algorithms(True)  # so that memory which nobody has set is nan, and not by luck zero
    try:
        parts = [xp.distributed.fsdp.shard(x, rank, ranks) for rank in range(ranks)]
    finally:
        torch.use_deterministic_algorithms(False)
    alone = [part.untyped_storage().data_ptr() != x.untyped_storage().data_ptr() for part in parts]
    graph = [part.requires_grad for part in parts]
    return {"parts": [_seen_shard(torch, part) for part in parts], "alone": alone, "graph": graph}


@sharding.oracle
def torch_sharding(torch, shape, ranks, layout):
    found = on_ranks(ranks, torch_shard_on_rank, shape)
    if isinstance(found[0], str):
        raise ValueError(found[0])
    return {"parts": found, "alone": [True] * ranks, "graph": [False] * ranks}


def _mesh(torch, group):
    from torch.distributed.device_mesh import DeviceMesh, init_device_mesh

    return (
        DeviceMesh.from_group(group, "cpu") if group else init_device_mesh("cpu", (torch.distributed.get_world_size(),))
    )


def _sharded(torch, tensors, group=None):
    """torch's own: a module with these parameters, fully sharded, and what handles them."""
    from torch.distributed.fsdp import fully_shard

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.parts = torch.nn.ParameterList(tensors)

        def forward(self, x, factors):
            pairs = zip(self.parts, factors)
            return x + sum((p * factor).sum() for p, factor in pairs if factor is not None)

    mesh = _mesh(torch, group)
    model = fully_shard(Model(), mesh=mesh)
    state = model._get_fsdp_state()
    state._lazy_init()
    return model, state._fsdp_param_groups[0]


def torch_shard_on_rank(shape):
    import torch

    try:
        model, _ = _sharded(torch, [torch.nn.Parameter(numbers(torch, shape, 2))])
    except ValueError as error:
        return error_name(error)
    return _seen_shard(torch, model.parts[0].to_local())


def _unit(torch, fsdp, tensors, group=None):
    """A unit of these parameters in which this rank has its shards, and all parts of the flat tensors of the others."""
    import torch.distributed as dist

    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    parameters, flat = [], [[] for _ in range(ranks)]
    for i, tensor in enumerate(tensors):
        module = torch.nn.Module()
        rows = -(-tensor.shape[0] // ranks)
        length = rows * (tensor.numel() // tensor.shape[0])
        everything = torch.cat([tensor.detach().reshape(-1), tensor.new_zeros(length * ranks - tensor.numel())])
        for each, part in zip(flat, everything.split(length)):
            each.append(part)
        padded = everything.split(length)[rank].clone()
        [part] = _shards_of(torch, [tensor], rank, ranks)
        sharded = torch.nn.Parameter(padded[: part.numel()].view(part.shape))
        gathered = torch.full_like(everything, 77.0)
        whole = torch.nn.Parameter(gathered.data[: tensor.numel()].view(tensor.shape))
        gathered.untyped_storage().resize_(0)
        module.register_parameter(f"p{i}", sharded)
        parameters.append(fsdp.ShardedParameter(module, f"p{i}", padded, sharded, gathered, whole))
    return fsdp.Unit(parameters, group), torch.cat([part for each in flat for part in each])


def _wholes(torch, sizes):
    return [numbers(torch, shape, i + 1) for i, shape in enumerate(sizes)]


def start_on_rank(sizes, members):
    import torch

    import rushlight as rl

    group, inside = among(members)
    if not inside:
        return None
    unit, _ = _unit(torch, rl.distributed.fsdp, _wholes(torch, sizes), group)
    names = ("all_gather_single", "all_gather_into_tensor", "all_gather")
    with recorded_traffic(["all_gather"]) as seen, waits_noted(*names) as waited:
        rl.distributed.fsdp.start_gather(unit)
        waits = [*waited]
    work, everything = unit.arriving
    work.wait()
    memory = [each.gathered.untyped_storage().nbytes() for each in unit.parameters]
    state = {"whole": unit.is_gathered, "memory": memory, "waits": waits}
    return {"flat": copied(everything), "shards": [copied(each.padded) for each in unit.parameters], **state, **seen}


def torch_start_on_rank(sizes, members):
    import torch

    group, inside = among(members)
    if not inside:
        return None
    _, handled = _sharded(torch, [torch.nn.Parameter(each) for each in _wholes(torch, sizes)], group)
    with recorded_traffic(["all_gather"]) as seen:
        handled.unshard(async_op=True)
    handled._all_gather_result.all_gather_work.wait()
    flat = handled._all_gather_result.all_gather_output.clone()
    state = {"whole": False, "memory": [0] * len(sizes), "waits": []}
    shards = [each._sharded_param_data.clone() for each in handled.fsdp_params]
    handled.wait_for_unshard()
    return {"flat": flat, "shards": shards, **state, **seen}


def _units(st, **more):
    sizes = st.lists(st.lists(st.integers(1, 5), min_size=1, max_size=3), min_size=1, max_size=4)
    return st.fixed_dictionaries({"ranks": st.integers(2, 4), "sizes": sizes, **more})


_UNEVEN = [[5, 2], [1], [4, 1, 2], [3]]


@program(
    "distributed.fsdp.start_gather",
    cases=lambda st: _units(st, members=st.just([])),
    edges=[
        {"ranks": 2, "sizes": [[4, 2]], "members": []},
        {"ranks": 2, "sizes": _UNEVEN, "members": []},
        {"ranks": 4, "sizes": _UNEVEN, "members": []},
        {"ranks": 3, "sizes": _UNEVEN[:2], "members": [1, 2]},
    ],
    hint=lambda case, mine, theirs: (
        "one asynchronous all_gather_single of all `padded` one behind another, in the unit's group; the work and its result "
        "go to unit.arriving, and nobody waits"
    ),
    draws=6,
)
def gathering(xp, ranks, sizes, members):
    return on_ranks(ranks, start_on_rank, sizes, members)


@gathering.oracle
def torch_gathering(torch, ranks, sizes, members):
    return on_ranks(ranks, torch_start_on_rank, sizes, members)


class Arriving:
    """A work that fills a tensor when it is waited for."""

    def __init__(self, result, values):
        self.result, self.values = result, values

    def wait(self, *args):
        self.result.copy_(self.values)
        return True


def finish_gather_on_rank(sizes, times):
    import torch

    import rushlight as rl

    fsdp = rl.distributed.fsdp
    unit, values = _unit(torch, fsdp, _wholes(torch, sizes))
    objects = [each.whole for each in unit.parameters]
    with recorded_traffic() as seen:
        for time in range(times):
            for each in unit.parameters:
                each.gathered.untyped_storage().resize_(0)
            result = torch.full_like(values, -55.0)
            unit.arriving, unit.is_gathered = (Arriving(result, values + time), result), False
            fsdp.finish_gather(unit)
            result.fill_(-44.0)
    return {
        "wholes": [copied(getattr(each.module, each.name)) for each in unit.parameters],
        "same": [getattr(each.module, each.name) is old for each, old in zip(unit.parameters, objects)],
        "versions": [each.whole._version for each in unit.parameters],
        "memory": [_storage(torch, each.gathered) for each in unit.parameters],
        "shared": [each.whole.data_ptr() == each.gathered.data_ptr() for each in unit.parameters],
        "state": [unit.arriving is None, unit.is_gathered],
        **seen,
    }


def torch_finish_gather_on_rank(sizes, times):
    import torch

    tensors = [each + times - 1 for each in _wholes(torch, sizes)]
    model, handled = _sharded(torch, [torch.nn.Parameter(each) for each in tensors])
    # the padding is gathered too, and in torch stays zero
    for each in handled.fsdp_params:
        used = each._sharded_local_tensor.numel()
        each._sharded_param_data[used:] = times - 1
    model.unshard()
    wholes = [copied(each) for each in model.parts]
    versions = [each._version for each in model.parts]
    memory = [copied(each.all_gather_outputs[0]) for each in handled.fsdp_params]
    true = [True] * len(sizes)
    state = {"shared": true, "state": [True, True], "sent": {}, "beyond": []}
    return {"wholes": wholes, "same": true, "versions": versions, "memory": memory, **state}


@program(
    "distributed.fsdp.finish_gather",
    cases=lambda st: _units(st, times=st.integers(1, 2)),
    edges=[
        {"ranks": 2, "sizes": [[4, 2]], "times": 1},
        {"ranks": 2, "sizes": _UNEVEN, "times": 2},
        {"ranks": 4, "sizes": _UNEVEN, "times": 1},
        {"ranks": 3, "sizes": [[2, 3], [2, 2]], "times": 2},
    ],
    hint=lambda case, mine, theirs: (
        "wait; give each `gathered` its bytes back; copy there the parameter's piece from each rank's part; write to `gathered`, "
        "for a write to `whole` is one that autograd sees; the module gets `whole`"
    ),
    draws=6,
)
def gathered(xp, ranks, sizes, times):
    return on_ranks(ranks, finish_gather_on_rank, sizes, times)


@gathered.oracle
def torch_gathered(torch, ranks, sizes, times):
    return on_ranks(ranks, torch_finish_gather_on_rank, sizes, times)


def _factors(torch, sizes, without, rank, time, layout=""):
    found = [_laid_out(torch, shape, "float64", layout, rank + 2 * i + time) for i, shape in enumerate(sizes)]
    return [None if i in without else each for i, each in enumerate(found)]


def reduce_on_rank(sizes, without, times, layout, members):
    import torch
    import torch.distributed as dist

    import rushlight as rl

    fsdp = rl.distributed.fsdp
    group, inside = among(members)
    if not inside:
        return None
    unit, _ = _unit(torch, fsdp, _wholes(torch, sizes), group)
    for time in range(times):
        for each, grad in zip(
            unit.parameters, _factors(torch, sizes, without, dist.get_rank(), time, layout), strict=True
        ):
            each.whole.grad = grad
        with recorded_traffic(["reduce_scatter"]) as seen:
            fsdp.reduce_gradients(unit)
    free = [each.whole.grad is None for each in unit.parameters]
    return {"grads": [copied(each.sharded.grad) for each in unit.parameters], "free": free, **seen}


def torch_reduce_on_rank(sizes, without, times, layout, members):
    import torch
    import torch.distributed as dist

    group, inside = among(members)
    if not inside:
        return None
    model, _ = _sharded(torch, [torch.nn.Parameter(each) for each in _wholes(torch, sizes)], group)
    x = torch.zeros((), dtype=torch.float64, requires_grad=True)
    for time in range(times):
        loss = model(x, _factors(torch, sizes, without, dist.get_rank(), time))
        with recorded_traffic(["all_gather", "reduce_scatter"]) as seen:
            loss.backward()
    seen["sent"].pop("all_gather", None)
    grads = [None if p.grad is None else copied(p.grad.to_local()) for p in model.parts]
    return {"grads": grads, "free": [True] * len(sizes), **seen}


@program(
    "distributed.fsdp.reduce_gradients",
    cases=lambda st: _units(
        st,
        without=st.lists(st.integers(0, 3), max_size=2, unique=True),
        times=st.integers(1, 2),
        layout=st.sampled_from(["", "backwards"]),
        members=st.just([]),
    ),
    edges=[
        {"ranks": 2, "sizes": [[4, 2]], "without": [], "times": 1, "layout": "", "members": []},
        {"ranks": 2, "sizes": _UNEVEN, "without": [], "times": 2, "layout": "backwards", "members": []},
        {"ranks": 4, "sizes": _UNEVEN, "without": [0, 2], "times": 1, "layout": "", "members": []},
        {"ranks": 3, "sizes": _UNEVEN, "without": [1], "times": 2, "layout": "gaps", "members": [0, 2]},
        {"ranks": 2, "sizes": [[2], [3]], "without": [0, 1], "times": 1, "layout": "", "members": []},
    ],
    hint=lambda case, mine, theirs: (
        "what a rank gets is contiguous: first all that is for rank 0, parameter after parameter, each as long as `padded`; "
        "averages, not sums, added to what sharded.grad has"
    ),
    draws=6,
)
def reduction(xp, ranks, sizes, without, times, layout, members):
    return on_ranks(ranks, reduce_on_rank, sizes, without, times, layout, members)


@reduction.oracle
def torch_reduction(torch, ranks, sizes, without, times, layout, members):
    return on_ranks(ranks, torch_reduce_on_rank, sizes, without, times, layout, members)


@program(
    "distributed.fsdp.order_of_work",
    cases=lambda st: st.fixed_dictionaries(
        {
            "reshard": st.lists(st.booleans(), min_size=1, max_size=5),
            "forward": st.integers(0, 3),
            "backward": st.integers(0, 3),
        }
    ),
    edges=[
        {"reshard": reshard, "forward": forward, "backward": backward}
        for reshard, forward, backward in [
            ([True], 0, 1),
            ([False], 0, 1),
            ([True] * 4, 0, 1),
            ([True] * 4, 0, 0),
            ([True] * 4, 1, 1),
            ([True] * 5, 2, 2),
            ([False] * 4, 2, 1),
            ([True, True, False], 0, 1),
            ([True, False, True, False], 1, 2),
            ([False, True, True], 3, 3),
        ]
    ],
    hint=lambda case, mine, theirs: (
        "before it computes a unit is gathered, unless it is whole or being gathered, and then those that are prefetched are; "
        "after its backward it is freed, then its gradients are reduced"
    ),
    draws=8,
)
def order(xp, reshard, forward, backward):
    return [list(each) for each in xp.distributed.fsdp.order_of_work(reshard, forward, backward)]


@order.oracle
def torch_order(torch, reshard, forward, backward):
    return on_ranks(2, torch_order_on_rank, reshard, forward, backward)[0]


def torch_order_on_rank(reshard, forward, backward):
    """What torch does, as it does it. Unit i is known by its size, i + 1 rows for each rank."""
    import torch
    from torch.distributed.fsdp import fully_shard
    from torch.distributed.fsdp._fully_shard import _fsdp_param
    from torch.utils._python_dispatch import TorchDispatchMode

    done = []

    class Scale(torch.nn.Module):
        def __init__(self, i):
            super().__init__()
            self.i, self.weight = i, torch.nn.Parameter(torch.ones(2 * (i + 1)))

        def forward(self, x):
            done.append(["forward", self.i])
            y = x * self.weight.sum()
            y.register_hook(lambda _: done.append(["backward", self.i]))
            return y.clone()

    class Collectives(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            name = func.name()
            if "allgather" in name:
                done.append(["gather", args[1].numel() - 1])
            if "reduce_scatter" in name:
                done.append(["reduce", args[0].numel() - 1])
            return func(*args, **(kwargs or {}))

    chain = torch.nn.Sequential(*[Scale(i) for i in range(len(reshard))])
    for i, each in enumerate(chain):
        fully_shard(each, reshard_after_forward=reshard[i])
    fully_shard(chain)
    for i, each in enumerate(chain):
        each.set_modules_to_forward_prefetch([*chain[i + 1 : i + 1 + forward]])
        before = [chain[j] for j in range(i - 1, i - 1 - backward, -1) if j >= 0]
        each.set_modules_to_backward_prefetch(before or [each])  # without any it prefetches one
    free = _fsdp_param.free_storage

    def freed(tensor):
        if tensor.untyped_storage().size():
            done.append(["free", tensor.numel() // 2 - 1])
        free(tensor)

    _fsdp_param.free_storage = freed
    try:
        with Collectives():
            chain(torch.ones(())).backward()
    finally:
        _fsdp_param.free_storage = free
    return done


def _shards_of(torch, tensors, rank, ranks):
    """The parts that torch.chunk makes, of some tensors or None."""
    found = []
    for each in tensors:
        parts = () if each is None else torch.chunk(each, ranks)
        found.append(None if each is None else parts[rank].clone() if rank < len(parts) else each[:0].clone())
    return found


def _grads(torch, sizes, without, start):
    scaled = [numbers(torch, shape, start + i) * (i + 1) for i, shape in enumerate(sizes)]
    return [None if i in without else each for i, each in enumerate(scaled)]


def clip_on_rank(sizes, without, max_norm, norm_type, members):
    import torch
    import torch.distributed as dist

    import rushlight as rl

    group, inside = among(members)
    if not inside:
        return None
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    parameters = _shards_of(torch, _wholes(torch, sizes), rank, ranks)
    grads = _shards_of(torch, _grads(torch, sizes, without, 4), rank, ranks)
    for each, grad in zip(parameters, grads):
        each.requires_grad_().grad = grad
    with recorded_traffic(["all_reduce"], ["torch.nn.utils.clip_grad_norm_"]) as seen:
        norm = rl.distributed.fsdp.clip_grad_norm(parameters, max_norm, float(norm_type), group)
    same = [each.grad is grad for each, grad in zip(parameters, grads)]
    count = {kind: number for kind, (number, _) in seen["sent"].items()}
    grads = [copied(each.grad) for each in parameters]
    return {"norm": copied(norm.double()), "grads": grads, "in place": same, "sent": count, "beyond": seen["beyond"]}


def torch_clip_on_rank(sizes, without, max_norm, norm_type, members):
    import torch
    from torch.distributed.tensor import Shard, distribute_tensor

    group, inside = among(members)
    if not inside:
        return None
    mesh = _mesh(torch, group)
    rank, ranks = mesh.get_local_rank(), mesh.size()

    def deal(x):
        return x if norm_type == "inf" else distribute_tensor(x, mesh, [Shard(0)], src_data_rank=None)

    def local(x):  # torch refuses to look for the largest in a shard that is empty: so that is seen of the whole
        return _shards_of(torch, [x], rank, ranks)[0] if norm_type == "inf" else copied(x.to_local())

    parameters = [torch.nn.Parameter(deal(each)) for each in _wholes(torch, sizes)]
    for each, grad in zip(parameters, _grads(torch, sizes, without, 4)):
        each.grad = None if grad is None else deal(grad)
    norm = torch.nn.utils.clip_grad_norm_(parameters, max_norm, float(norm_type))
    norm = norm.full_tensor() if hasattr(norm, "full_tensor") else norm
    grads = [None if each.grad is None else local(each.grad) for each in parameters]
    sent = (
        {} if all(each.grad is None for each in parameters) else {"all_reduce": 1}
    )  # torch's are one for each parameter
    return {"norm": copied(norm.double()), "grads": grads, "in place": [True] * len(sizes), "sent": sent, "beyond": []}


@program(
    "distributed.fsdp.clip_grad_norm",
    cases=lambda st: _units(
        st,
        without=st.lists(st.integers(0, 3), max_size=2, unique=True),
        max_norm=st.sampled_from([0.1, 1.0, 2.5, 100.0]),
        norm_type=st.sampled_from(["2", "2", "1", "3", "inf"]),
        members=st.just([]),
    ),
    edges=[
        {"ranks": 2, "sizes": sizes, "without": without, "max_norm": most, "norm_type": kind, "members": []}
        for sizes, without, most, kind in [
            ([[4, 2]], [], 1.0, "2"),
            (_UNEVEN, [1], 1.0, "2"),
            (_UNEVEN, [], 1e6, "2"),
            (_UNEVEN, [0], 0.5, "1"),
            (_UNEVEN, [0], 0.5, "3"),
            ([[4], [6, 2]], [], 0.5, "inf"),
            ([[1], [1, 2]], [], 0.5, "inf"),  # the second rank has nothing
            (_UNEVEN, [0, 1, 2, 3], 1.0, "2"),
        ]
    ]
    + [
        {"ranks": 3, "sizes": _UNEVEN, "without": [], "max_norm": 1.0, "norm_type": kind, "members": [1, 2]}
        for kind in ("2", "inf")
    ],
    hint=lambda case, mine, theirs: (
        "the powers are summed over the ranks, then the root is taken, once; all gradients are multiplied by "
        "min(1, max_norm / (norm + 1e-6)), in place"
    ),
    draws=6,
)
def clipping(xp, ranks, sizes, without, max_norm, norm_type, members):
    return on_ranks(ranks, clip_on_rank, sizes, without, max_norm, norm_type, members)


@clipping.oracle
def torch_clipping(torch, ranks, sizes, without, max_norm, norm_type, members):
    return on_ranks(ranks, torch_clip_on_rank, sizes, without, max_norm, norm_type, members)


def _adam_seen(parameters, states, local=lambda x: x):
    seen = []
    for each in parameters:
        state = states.get(each)
        moments = None if not state else [copied(local(state[name])) for name in ("exp_avg", "exp_avg_sq")]
        seen.append([copied(local(each)), float(state["step"]) if state else 0.0, moments])
    return seen


@program(
    "distributed.fsdp.adamw_step",
    cases=lambda st: _units(
        st,
        without=st.lists(st.lists(st.integers(0, 3), max_size=2, unique=True), min_size=1, max_size=4),
        lr=st.sampled_from([0.1, 0.01]),
        betas=st.sampled_from([[0.9, 0.999], [0.5, 0.75]]),
        eps=st.sampled_from([1e-8, 0.1]),
        decay=st.sampled_from([0.0, 0.01, 0.5]),
    ),
    edges=[
        {"ranks": 2, "sizes": _UNEVEN, "without": without, "lr": 0.1, "betas": [0.9, 0.99], "eps": eps, "decay": decay}
        for without, eps, decay in [
            ([[]], 1e-8, 0.0),
            ([[], [], []], 1e-8, 0.5),
            ([[1], [], [0, 1], []], 0.5, 0.1),
            ([[0, 1, 2, 3]], 1e-8, 0.1),
            ([[2], [2]], 1e-3, 0.0),
        ]
    ],
    hint=lambda case, mine, theirs: (
        "the decay is of the weights, not of the gradient, and comes first; each parameter counts its own steps; what has no "
        "gradient is left alone"
    ),
    draws=6,
)
def adamw(xp, ranks, sizes, without, lr, betas, eps, decay):
    import torch

    seen = []
    for rank in range(ranks):
        parameters = [torch.nn.Parameter(each) for each in _shards_of(torch, _wholes(torch, sizes), rank, ranks)]
        states, moments = {}, {}
        for time, left_out in enumerate(without):
            for each, grad in zip(
                parameters, _shards_of(torch, _grads(torch, sizes, left_out, time), rank, ranks), strict=True
            ):
                each.grad = grad
            with called(["torch.optim.Adam.__init__", "torch.optim._functional.adam"]) as beyond:
                xp.distributed.fsdp.adamw_step(parameters, states, lr, tuple(betas), eps, decay)
            for i, each in enumerate(parameters):
                if each in states:
                    moments.setdefault(i, []).append((states[each]["exp_avg"], states[each]["exp_avg_sq"]))
        same = all(a[0] is b[0] and a[1] is b[1] for each in moments.values() for a, b in zip(each, each[1:]))
        seen.append({"after": _adam_seen(parameters, states), "same": same, "beyond": beyond})
    return seen


@adamw.oracle
def torch_adamw(torch, ranks, sizes, without, lr, betas, eps, decay):
    return on_ranks(ranks, torch_adamw_on_rank, sizes, without, lr, betas, eps, decay)


def torch_adamw_on_rank(sizes, without, lr, betas, eps, decay):
    import torch
    from torch.distributed.tensor import distribute_tensor

    model, _ = _sharded(torch, [torch.nn.Parameter(each) for each in _wholes(torch, sizes)])
    parameters = [*model.parts]
    optimizer = torch.optim.AdamW(parameters, lr=lr, betas=betas, eps=eps, weight_decay=decay)
    for time, left_out in enumerate(without):
        for each, grad in zip(parameters, _grads(torch, sizes, left_out, time)):
            if grad is not None:
                grad = distribute_tensor(grad, each.device_mesh, each.placements, src_data_rank=None)
            each.grad = grad
        optimizer.step()
    return {"after": _adam_seen(parameters, optimizer.state, lambda x: x.to_local()), "same": True, "beyond": []}


def train_fully_sharded(wrapped, widths):
    """Some steps with a module that `wrapped` shards; it gives the model, what makes a step, and what this rank has of a
    parameter. The last dimension of the units is 3."""
    import torch
    import torch.distributed as dist

    class Unit(torch.nn.Module):
        def __init__(self, width):
            super().__init__()
            self.one, self.two = torch.nn.Linear(3, width), torch.nn.Linear(width, 3)

        def forward(self, x):
            return self.two(torch.tanh(self.one(x)))

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.units = torch.nn.Linear(2, 3), torch.nn.Sequential(*map(Unit, widths))

        def forward(self, x):
            return self.units(self.first(x)).square()

    torch.manual_seed(0)
    module = Model().double()
    model, step, local = wrapped(torch, module, module.units)
    seen = []
    for time in range(3):
        with recorded_traffic(["all_gather", "reduce_scatter"]) as traffic:
            loss = model(numbers(torch, [4, 2], dist.get_rank() + time)).sum()
            loss.backward()
        parameters = [*module.parameters()]
        grads = [copied(local(each.grad)) for each in parameters]
        step(parameters)
        seen.append({"loss": copied(loss), "grads": grads, "weights": [copied(local(each)) for each in parameters]})
    return {"steps": seen, **traffic}


def fully_sharded_on_rank(widths, reshard, forward):
    import rushlight as rl

    fsdp = rl.distributed.fsdp
    most, bound, states = [0], [0], {}

    def wrapped(torch, module, units):
        model = fsdp.FullyShardedDataParallel(
            module, units, reshard_after_forward=reshard, forward_prefetch=forward, backward_prefetch=1
        )
        *sizes, rest = [sum(each.gathered.numel() * 8 for each in unit.parameters) for unit in model.units]
        bound[0] = rest + sum(sorted(sizes)[-2:] if reshard else sizes)  # two units at once, if they are freed
        for unit in units:
            unit.two.register_forward_hook(lambda *_: most.append(model.gathered_bytes()))
            unit.two.register_full_backward_hook(lambda *_: most.append(model.gathered_bytes()))

        def step(parameters):
            fsdp.clip_grad_norm(parameters, 0.5)
            fsdp.adamw_step(parameters, states, lr=0.1)
            for each in parameters:
                each.grad = None

        return model, step, lambda x: x

    return train_fully_sharded(wrapped, widths) | {"bounded": max(most) <= bound[0]}


def torch_fully_sharded_on_rank(widths, reshard, forward):
    def wrapped(torch, module, units):
        from torch.distributed.fsdp import fully_shard

        for unit in units:
            fully_shard(unit, reshard_after_forward=reshard)
        fully_shard(module)
        for i, unit in enumerate(units):
            unit.set_modules_to_forward_prefetch([*units[i + 1 : i + 1 + forward]])
        optimizer = torch.optim.AdamW(module.parameters(), lr=0.1)

        def step(parameters):
            torch.nn.utils.clip_grad_norm_(parameters, 0.5)
            optimizer.step()
            optimizer.zero_grad()

        return module, step, lambda x: x.to_local()

    return train_fully_sharded(wrapped, widths) | {"bounded": True}


@program(
    "together.fully_sharded",
    cases=lambda st: st.fixed_dictionaries(
        {
            "ranks": st.integers(2, 3),
            "widths": st.lists(st.integers(1, 7), min_size=1, max_size=4),
            "reshard": st.booleans(),
            "forward": st.integers(0, 1),
        }
    ),
    edges=[
        {"ranks": 2, "widths": [4, 5, 3], "reshard": True, "forward": 0},
        {"ranks": 3, "widths": [4, 5, 3], "reshard": True, "forward": 1},
        {"ranks": 2, "widths": [40] * 8, "reshard": True, "forward": 0},
        {"ranks": 2, "widths": [4, 5, 3], "reshard": False, "forward": 0},
    ],
    draws=3,
)
def fully_sharded(xp, ranks, widths, reshard, forward):
    return on_ranks(ranks, fully_sharded_on_rank, widths, reshard, forward)


@fully_sharded.oracle
def torch_fully_sharded(torch, ranks, widths, reshard, forward):
    return on_ranks(ranks, torch_fully_sharded_on_rank, widths, reshard, forward)


# Checkpoints of shards ------------------------------------------------------------------------------------------------


def _reads_of_torch(torch, size, pieces, offsets, sizes):
    """What torch would read, sorted by the pieces' numbers: number, start in the piece, start in the region, lengths."""
    from torch.distributed.checkpoint.metadata import ChunkStorageMetadata, TensorProperties, TensorStorageMetadata
    from torch.distributed.checkpoint.planner_helpers import create_read_items_for_chunk_list

    chunks = [ChunkStorageMetadata(torch.Size(o), torch.Size(s)) for o, s in pieces]
    saved = TensorStorageMetadata(TensorProperties(), torch.Size(size), chunks)
    wanted = [ChunkStorageMetadata(torch.Size(offsets), torch.Size(sizes))]
    items = create_read_items_for_chunk_list("x", saved, wanted)
    found = [[i.storage_index.index, *map(list, (i.storage_offsets, i.dest_offsets, i.lengths))] for i in items]
    return sorted(each for each in found if 0 not in each[3])


def _boxes(st, dims=3):
    @st.composite
    def draw_boxes(draw):
        """The pieces into which a tensor is cut, in any order, some perhaps missing, and a region."""
        n = draw(st.integers(0, dims))
        size = [draw(st.integers(1, 6)) for _ in range(n)]
        pieces = [([], [])]
        for each in size:
            cuts = sorted({0, each, *draw(st.lists(st.integers(0, each), max_size=2))})
            parts = list(zip(cuts, cuts[1:]))
            pieces = [([*o, a], [*s, b - a]) for o, s in pieces for a, b in parts]
        pieces = draw(st.permutations(pieces))[: draw(st.integers(1, len(pieces)))]
        offsets = [draw(st.integers(0, each)) for each in size]
        sizes = [draw(st.integers(0, each - start)) for each, start in zip(size, offsets)]
        return {"size": size, "pieces": [list(each) for each in pieces], "offsets": offsets, "sizes": sizes}

    return draw_boxes()


_quarters = [[[0, 0], [2, 3]], [[0, 3], [2, 2]], [[2, 0], [3, 3]], [[2, 3], [3, 2]]]


@program(
    "distributed.checkpoint.plan_load",
    cases=_boxes,
    edges=[
        {"size": [5, 5], "pieces": pieces, "offsets": offsets, "sizes": sizes}
        for pieces, offsets, sizes in [
            (_quarters, [0, 0], [5, 5]),
            (_quarters, [1, 1], [3, 3]),
            (_quarters, [1, 1], [1, 2]),
            (_quarters, [2, 3], [3, 2]),
            (_quarters, [0, 3], [2, 1]),
            (_quarters, [4, 4], [1, 1]),
            (_quarters, [2, 0], [0, 5]),
            (_quarters[::-1], [0, 2], [5, 2]),
            ([_quarters[0], [[5, 0], [0, 5]], _quarters[3]], [0, 0], [5, 5]),
            ([[[0, 0], [5, 5]], [[0, 0], [5, 5]]], [3, 0], [2, 5]),
        ]
    ]
    + [
        {"size": [], "pieces": [[[], []]], "offsets": [], "sizes": []},
        {"size": [6], "pieces": [[[0], [2]], [[2], [2]], [[4], [2]]], "offsets": [1], "sizes": [4]},
        {"size": [6], "pieces": [[[0], [6]]], "offsets": [2], "sizes": [3]},
        {"size": [6], "pieces": [[[2], [2]]], "offsets": [0], "sizes": [6]},
    ],
    hint=lambda case, mine, theirs: (
        "in each dimension the overlap is from the larger start to the smaller end; `source` counts from the piece's offset, "
        "`target` from the region's; nothing is read where a length is 0"
    ),
)
def plans(xp, size, pieces, offsets, sizes):
    checkpoint = xp.distributed.checkpoint
    saved = [checkpoint.Piece(tuple(o), tuple(s)) for o, s in pieces]
    torchs = "torch.distributed.checkpoint.planner_helpers"  # which takes long to import: that, too, is seen
    known = torchs in sys.modules
    with called([f"{torchs}.create_read_items_for_chunk_list"] * known) as beyond:
        reads = checkpoint.plan_load(saved, tuple(offsets), tuple(sizes))
    beyond += [torchs] * (torchs in sys.modules and not known)
    return {"reads": [[r.piece, *map(list, (r.source, r.target, r.lengths))] for r in reads], "beyond": beyond}


@plans.oracle
def torch_plans(torch, size, pieces, offsets, sizes):
    return {"reads": _reads_of_torch(torch, size, pieces, offsets, sizes), "beyond": []}


def _dealt(torch, tensor, ranks, dim):
    """For each rank its part along a dimension, as torch.chunk cuts, and where it begins."""
    dim = min(dim, tensor.dim() - 1)
    parts = [*torch.chunk(tensor, ranks, dim)]
    parts += [tensor.narrow(dim, tensor.shape[dim], 0)] * (ranks - len(parts))
    found, start = [], 0
    for part in parts:
        found.append((part, tuple(start if d == dim else 0 for d in range(tensor.dim()))))
        start += part.shape[dim]
    return found


def _names(torch, sizes):
    return {f"p{i}": numbers(torch, shape, i + 1) for i, shape in enumerate(sizes)}


@program(
    "distributed.checkpoint.load_shards",
    cases=lambda st: _units(
        st,
        before=st.tuples(st.integers(1, 4), st.integers(0, 1)).map(list),
        after=st.tuples(st.integers(1, 4), st.integers(0, 1)).map(list),
        only=st.integers(1, 4),
        kind=st.sampled_from(["float64", "float32"]),
        layout=st.sampled_from(["", "backwards", "parameter"]),
        wrong=st.sampled_from(["", "", "", "name", "larger", "smaller"]),
    ).map(lambda case: {name: value for name, value in case.items() if name != "ranks"}),
    edges=[
        {
            "sizes": _UNEVEN,
            "before": before,
            "after": after,
            "only": only,
            "kind": kind,
            "layout": layout,
            "wrong": wrong,
        }
        for before, after, only, kind, layout, wrong in [
            ([2, 0], [2, 0], 4, "float64", "", ""),
            ([2, 0], [4, 0], 4, "float64", "", ""),
            ([4, 0], [3, 1], 4, "float64", "backwards", ""),
            ([3, 1], [1, 0], 2, "float32", "", ""),
            ([1, 0], [2, 0], 4, "float64", "parameter", ""),
            ([2, 0], [3, 0], 3, "float64", "", "name"),
            ([2, 0], [3, 0], 3, "float64", "", "larger"),
            ([2, 0], [3, 0], 3, "float64", "", "smaller"),
        ]
    ],
    hint=lambda case, mine, theirs: (
        "plan_load says what to read of which piece; store.read once for each, into shard.data, in place; first of all the names "
        "and the sizes are looked at"
    ),
    draws=20,
)
def loading(xp, sizes, before, after, only, kind, layout, wrong):
    import tempfile

    import torch

    checkpoint = xp.distributed.checkpoint
    reads = []

    class Counted(checkpoint.Store):
        def read(self, file, name, source, lengths):
            reads.append([file, name, [*source], [*lengths]])
            return super().read(file, name, source, lengths)

    wholes = _names(torch, sizes)
    with tempfile.TemporaryDirectory() as folder:
        store = Counted(folder)
        for rank in range(before[0]):
            parts = {name: _dealt(torch, each, *before)[rank] for name, each in wholes.items()}
            shapes = {name: tuple(each.shape) for name, each in wholes.items()}
            store.save({name: checkpoint.Shard(*parts[name], shapes[name]) for name in parts}, rank)
        seen = []
        for rank in range(after[0]):
            state = {}
            for name in [*wholes][:only]:
                part, offsets = _dealt(torch, wholes[name], *after)[rank]
                data = _laid_out(torch, [*part.shape], kind, layout, 9)
                state[name] = checkpoint.Shard(data, offsets, tuple(wholes[name].shape))
            last = state[[*state][-1]]
            if wrong in ("larger", "smaller"):
                last.size = (last.size[0] + (1 if wrong == "larger" else -1), *last.size[1:])
            if wrong == "name":
                state["elsewhere"] = last
            objects, raised = [each.data for each in state.values()], ""
            try:
                checkpoint.load_shards(store, state)
            except (KeyError, ValueError) as error:
                raised = error_name(error)
            same = [each.data is old for each, old in zip(state.values(), objects)]
            seen.append([raised, [copied(each) for each in objects], same])
    return {"ranks": seen, "reads": sorted(reads)}


@loading.oracle
def torch_loading(torch, sizes, before, after, only, kind, layout, wrong):
    seen, reads, wholes = [], [], _names(torch, sizes)
    for rank in range(after[0]):
        loaded = []
        for name in [*wholes][:only]:
            part, offsets = _dealt(torch, wholes[name], *after)[rank]
            pieces = [(start, each.shape) for each, start in _dealt(torch, wholes[name], *before)]
            values = numbers(torch, [*part.shape], 9, kind) if wrong else part.to(getattr(torch, kind))
            loaded.append(copied(values))
            for number, source, _, lengths in _reads_of_torch(torch, wholes[name].shape, pieces, offsets, part.shape):
                reads.append([f"shards-{number}.pt", name, source, lengths])
        loaded += loaded[-1:] * (wrong == "name")
        raised = {"": "", "name": "KeyError"}.get(wrong, "ValueError")
        seen.append([raised, loaded, [True] * len(loaded)])
    return {"ranks": seen, "reads": [] if wrong else sorted(reads)}


# Tensor parallelism --------------------------------------------------------------------------------------------------


def group_of(ranks, part):
    """The group in which a case works: all ranks, or all but the first, which gets None."""
    import torch.distributed as dist

    group = dist.new_group(range(int(part), ranks))
    return group if dist.get_rank() >= part else None


def flat(x):
    """The numbers of a tensor in a new one of which nothing else says anything."""
    return None if x is None else x.new_empty(x.shape).copy_(x.detach())


def laid(torch, x, layout):
    """The same numbers, otherwise in memory; or one number everywhere."""
    if layout == "turned" and x.dim():
        return x.movedim(0, -1).contiguous().movedim(-1, 0)
    if layout == "equal" and x.numel():
        return x.reshape(-1)[:1].reshape([1] * x.dim()).expand(x.shape)
    return x


def numbers_by_rank(torch, shape, start, each, kind):
    """Numbers by rule; with `each`, other ones on each rank."""
    import torch.distributed as dist

    return numbers(torch, shape, start + (2 * dist.get_rank() if each else 0), kind)


DTENSOR = ["torch.distributed.tensor.DTensor.from_local", "torch.distributed.tensor.distribute_tensor"]  # has it all


def both_directions(call, case, way_in, watched=()):
    """A function for autograd, applied: what comes out and comes back, and what was sent for either."""
    import torch

    x = laid(torch, numbers_by_rank(torch, case["shape"], 1, not way_in, case["kind"]), case["layout"])
    gradient = laid(torch, numbers_by_rank(torch, case["shape"], 4, way_in, case["kind"]), case["back"])
    before = flat(x), flat(gradient)
    x = x.detach().requires_grad_()
    with recorded_traffic(["all_reduce"], watched) as forward:
        y = call(x)
    with recorded_traffic(["all_reduce"], watched) as backward:
        (found,) = torch.autograd.grad(y, x, gradient)
    return {
        "result": flat(y),
        "gradient": flat(found),
        "sent forward": forward["sent"],
        "sent backward": backward["sent"],
        "unchanged": torch.equal(x, before[0]) and torch.equal(gradient, before[1]),
        "beyond": sorted({*forward["beyond"], *backward["beyond"]}),
    }


def explained(**reasons):
    """A hint by the first thing that differs on the first rank where something does; underscores stand for spaces."""
    return _about_messages(**{name.replace("_", " "): reason for name, reason in reasons.items()})


def ways(st):
    return st.fixed_dictionaries(
        {
            "ranks": st.integers(2, 3),
            "part": st.just(False),
            "shape": st.lists(st.integers(1, 3), max_size=3),
            "kind": st.sampled_from(["float32", "float64"]),
            "layout": st.sampled_from(["", "turned", "equal"]),
            "back": st.sampled_from(["", "turned", "equal"]),
        }
    )


def way(ranks=2, part=False, shape=(2, 3), kind="float32", layout="", back=""):
    return {"ranks": ranks, "part": part, "shape": [*shape], "kind": kind, "layout": layout, "back": back}


_WAYS = [
    way(),
    way(3),
    way(3, part=True),
    way(3, layout="turned", back="turned", kind="float64"),
    way(layout="equal", back="equal"),
    way(4, shape=()),
]

_ABOUT_WAYS = explained(
    result="into the ranks' own parts x goes as it is; out of them comes the sum of what each has",
    gradient="each rank finds a part of the gradient of what all have; a sum gives each summand the gradient of the sum",
    sent_forward="one of the two directions sends nothing",
    sent_backward="one of the two directions sends nothing",
    unchanged="what is given, and the gradient that arrives, may be somebody else's too: the sum goes into a new tensor",
)


def way_in(case):
    from rushlight.distributed import tensor_parallel

    group = group_of(case["ranks"], case["part"])
    return group and both_directions(lambda x: tensor_parallel.copy_to_ranks(x, group), case, True, DTENSOR)


@program("distributed.tensor_parallel.copy_to_ranks", cases=ways, edges=_WAYS, hint=_ABOUT_WAYS, draws=5)
def ways_in(xp, ranks, part, shape, kind, layout, back):
    case = {"ranks": ranks, "part": part, "shape": shape, "kind": kind, "layout": layout, "back": back}
    return on_ranks(ranks, way_in, case)


@ways_in.oracle
def torch_ways_in(torch, **case):
    def on_rank(case):
        from torch.distributed.tensor import DeviceMesh, DTensor, Partial, Replicate

        def call(x):
            mesh = DeviceMesh.from_group(group, "cpu")
            return DTensor.from_local(x, mesh, [Replicate()], run_check=False).to_local(grad_placements=[Partial()])

        group = group_of(case["ranks"], case["part"])
        return group and both_directions(call, case, True)

    return on_ranks(case["ranks"], on_rank, case)


def way_out(case):
    from rushlight.distributed import tensor_parallel

    group = group_of(case["ranks"], case["part"])
    return group and both_directions(lambda x: tensor_parallel.reduce_from_ranks(x, group), case, False, DTENSOR)


@program("distributed.tensor_parallel.reduce_from_ranks", cases=ways, edges=_WAYS, hint=_ABOUT_WAYS, draws=5)
def ways_out(xp, ranks, part, shape, kind, layout, back):
    case = {"ranks": ranks, "part": part, "shape": shape, "kind": kind, "layout": layout, "back": back}
    return on_ranks(ranks, way_out, case)


@ways_out.oracle
def torch_ways_out(torch, **case):
    def on_rank(case):
        from torch.distributed.tensor import DeviceMesh, DTensor, Partial, Replicate

        def call(x):
            mesh = DeviceMesh.from_group(group, "cpu")
            return (
                DTensor.from_local(x, mesh, [Partial()], run_check=False).redistribute(mesh, [Replicate()]).to_local()
            )

        group = group_of(case["ranks"], case["part"])
        return group and both_directions(call, case, False)

    return on_ranks(case["ranks"], on_rank, case)


def layers(st):
    return st.fixed_dictionaries(
        {
            "ranks": st.integers(2, 3),
            "part": st.just(False),
            "lead": st.lists(st.integers(1, 3), min_size=1, max_size=2),
            "features": st.integers(3, 7),
            "outs": st.integers(3, 7),
            "bias": st.booleans(),
            "gather": st.booleans(),
            "frozen": st.booleans(),
        }
    )


def layer(ranks=2, part=False, lead=(2,), features=4, outs=6, bias=True, gather=False, frozen=False):
    sizes = {"lead": [*lead], "features": features, "outs": outs}
    return {"ranks": ranks, "part": part} | sizes | {"bias": bias, "gather": gather, "frozen": frozen}


def whole_layer(torch, case):
    """The layer that all ranks have together, its input, and the gradient of its output."""
    linear = torch.nn.Linear(case["features"], case["outs"], bias=case["bias"], dtype=torch.float64)
    with torch.no_grad():
        linear.weight.copy_(numbers(torch, [case["outs"], case["features"]], 2))
        if case["bias"]:
            linear.bias.copy_(numbers(torch, [case["outs"]], 3))
    x = numbers(torch, [*case["lead"], case["features"]], 1)
    return linear, x, numbers(torch, [*case["lead"], case["outs"]], 5)


def layer_seen(call, x, parameters, gradient, allowed, watched=()):
    """A layer's output and gradients on this rank, and what was sent for them."""
    with recorded_traffic(allowed, watched) as forward:
        y = call(x)
    with recorded_traffic(allowed, watched) as backward:
        y.backward(gradient)
    local = [p.grad.to_local() if hasattr(p.grad, "to_local") else p.grad for p in (x, *parameters)]
    return {
        "result": flat(y.to_local() if hasattr(y, "to_local") else y),
        "gradients": [flat(each) for each in local],
        "sent forward": forward["sent"],
        "sent backward": backward["sent"],
        "beyond": sorted({*forward["beyond"], *backward["beyond"]}),
    }


_ABOUT_LAYERS = {
    "sent_forward": "the contract says which collectives there are on the way forward",
    "sent_backward": "the gradient of what all ranks have is summed over them once, if it is needed; no other one is",
}


def columns(case):
    import torch

    from rushlight.distributed import tensor_parallel as tp

    group = group_of(case["ranks"], case["part"])
    if group is None:
        return None
    linear, x, gradient = whole_layer(torch, case)
    weight, bias = tp.shard(linear.weight, 0, group).requires_grad_(), None
    if case["bias"]:
        bias = tp.shard(linear.bias, 0, group).requires_grad_()
    size = case["outs"] if case["gather"] else None
    gradient = gradient if case["gather"] else tp.shard(gradient, -1, group)
    x.requires_grad_(not case["frozen"])
    parameters = [each for each in (weight, bias) if each is not None]
    return layer_seen(
        lambda x: tp.column_parallel_linear(x, weight, bias, size, group),
        x,
        parameters,
        gradient,
        ["all_reduce", "all_gather"],
        DTENSOR,
    )


@program(
    "distributed.tensor_parallel.column_parallel_linear",
    cases=layers,
    edges=[
        layer(),
        layer(bias=False),
        layer(3, lead=(2, 2), outs=7),
        layer(3, gather=True, outs=7),
        layer(3, part=True, gather=True),
        layer(4, outs=5, gather=True),
        layer(frozen=True),
    ],
    hint=explained(
        result="each rank computes its own outputs; with `size` they are put side by side",
        gradients="each rank's outputs give x a part of its gradient",
        **_ABOUT_LAYERS,
    ),
    draws=5,
)
def column_layers(xp, ranks, part, lead, features, outs, bias, gather, frozen):
    case = {
        "ranks": ranks,
        "part": part,
        "lead": lead,
        "features": features,
        "outs": outs,
        "bias": bias,
        "gather": gather,
        "frozen": frozen,
    }
    return on_ranks(ranks, columns, case)


@column_layers.oracle
def torch_column_layers(torch, **case):
    def on_rank(case):
        import torch
        from torch.distributed.tensor import DeviceMesh, Replicate, Shard
        from torch.distributed.tensor.parallel import ColwiseParallel, parallelize_module

        group = group_of(case["ranks"], case["part"])
        if group is None:
            return None
        linear, x, gradient = whole_layer(torch, case)
        mesh = DeviceMesh.from_group(group, "cpu")
        parallelize_module(linear, mesh, ColwiseParallel(output_layouts=Replicate() if case["gather"] else Shard(-1)))
        if not case["gather"]:
            chunks = gradient.chunk(group.size(), -1)
            gradient = chunks[group.rank()] if group.rank() < len(chunks) else gradient[..., :0]
        x.requires_grad_(not case["frozen"])
        return layer_seen(linear, x, [*linear.parameters()], gradient.contiguous(), ["all_reduce", "all_gather"])

    return on_ranks(case["ranks"], on_rank, case)


def rows(case):
    import torch

    from rushlight.distributed import tensor_parallel as tp

    group = group_of(case["ranks"], case["part"])
    if group is None:
        return None
    linear, x, gradient = whole_layer(torch, case)
    weight = tp.shard(linear.weight, 1, group).requires_grad_()
    x = tp.shard(x, -1, group).requires_grad_()
    parameters = [weight, linear.bias] if case["bias"] else [weight]
    return layer_seen(
        lambda x: tp.row_parallel_linear(x, weight, linear.bias, group),
        x,
        parameters,
        gradient,
        ["all_reduce"],
        DTENSOR,
    )


@program(
    "distributed.tensor_parallel.row_parallel_linear",
    cases=layers,
    edges=[
        layer(),
        layer(bias=False),
        layer(3, lead=(2, 2), features=7),
        layer(3, part=True),
        layer(4, features=5, outs=3),
    ],
    hint=explained(
        result="the output is the sum over ranks; the bias counts once",
        gradients="each rank has the whole bias, and so its whole gradient",
        **_ABOUT_LAYERS,
    ),
    draws=5,
)
def row_layers(xp, ranks, part, lead, features, outs, bias, gather, frozen):
    case = {
        "ranks": ranks,
        "part": part,
        "lead": lead,
        "features": features,
        "outs": outs,
        "bias": bias,
        "gather": gather,
        "frozen": frozen,
    }
    return on_ranks(ranks, rows, case)


@row_layers.oracle
def torch_row_layers(torch, **case):
    def on_rank(case):
        import torch
        from torch.distributed.tensor import DeviceMesh, Shard, distribute_tensor
        from torch.distributed.tensor.parallel import RowwiseParallel, parallelize_module

        group = group_of(case["ranks"], case["part"])
        if group is None:
            return None
        linear, x, gradient = whole_layer(torch, case)
        mesh = DeviceMesh.from_group(group, "cpu")
        x = distribute_tensor(x, mesh, [Shard(x.dim() - 1)]).requires_grad_()
        parallelize_module(linear, mesh, RowwiseParallel())
        return layer_seen(linear, x, [*linear.parameters()], gradient, ["all_reduce"])

    return on_ranks(case["ranks"], on_rank, case)


def losses_cases(st):
    @st.composite
    def draw_losses(draw):
        ranks = draw(st.integers(2, 3))
        tokens = draw(st.sampled_from([5, 6, 7, 8]))  # of these each rank has at least one
        targets = draw(st.lists(st.integers(0, tokens - 1), min_size=1, max_size=5))
        ignored = draw(st.sampled_from([-100, -100, 0, 2, -1]))
        if ignored < 0:
            targets = [ignored if draw(st.integers(0, 4)) == 0 else each for each in targets]
        return loss_case(
            ranks,
            tokens,
            targets,
            ignored,
            draw(st.sampled_from(["none", "sum", "mean"])),
            draw(st.sampled_from([1, 1, 1000])),
        )

    return draw_losses()


def loss_case(
    ranks=2, tokens=6, targets=(0, 5, 3), ignored=-100, reduction="mean", scale=1, part=False, kind="float64"
):
    found = {"ranks": ranks, "part": part, "tokens": tokens, "targets": [*targets], "ignored": ignored}
    return found | {"reduction": reduction, "scale": scale, "kind": kind}


def whole_loss(torch, case):
    """Logits, targets, and the gradient of the loss."""
    shape = [len(case["targets"]), case["tokens"]]
    logits = numbers(torch, shape, 1, case["kind"])
    if case["scale"] != "one rank has none":
        logits = logits * case["scale"]
    else:
        logits[:, : -(-case["tokens"] // case["ranks"])] = -float("inf")
    gradient = numbers(torch, shape[:1], 2, case["kind"])
    return logits, torch.tensor(case["targets"]), gradient if case["reduction"] == "none" else gradient.new_tensor(2.0)


def loss_seen(call, logits, case, gradient, watched=()):
    """A loss and its gradient on this rank, and whether more was sent than three numbers for each row."""
    with recorded_traffic(["all_reduce"], watched) as forward:
        try:
            loss = call(logits)
        except Exception as error:
            loss = error_name(error)
    found = {"loss": loss, "gradient": None}
    with recorded_traffic() as backward:
        if not isinstance(loss, str):
            loss.backward(gradient)
            found = {"loss": flat(loss.to_local() if hasattr(loss, "to_local") else loss)}
            found["gradient"] = flat(logits.grad.to_local() if hasattr(logits.grad, "to_local") else logits.grad)
    calls, nbytes = forward["sent"].get("all_reduce", (0, 0))
    sent = {"something": calls > 0, "too often": calls > 3}
    sent["too much"] = nbytes > 3 * len(case["targets"]) * logits.element_size()
    return found | {"sent forward": sent, "sent backward": backward["sent"], "beyond": forward["beyond"]}


def token_losses(case):
    import torch

    from rushlight.distributed import tensor_parallel as tp
    from rushlight.distributed.shards import shard_sizes

    group = group_of(case["ranks"], case["part"])
    if group is None:
        return None
    logits, targets, gradient = whole_loss(torch, case)
    _, first = shard_sizes(case["tokens"], group.size())[group.rank()]
    logits = tp.shard(logits, 1, group).requires_grad_()

    def call(logits):
        return tp.vocabulary_parallel_cross_entropy(logits, targets, first, case["ignored"], case["reduction"], group)

    return loss_seen(call, logits, case, gradient, DTENSOR)


@program(
    "distributed.tensor_parallel.vocabulary_parallel_cross_entropy",
    cases=losses_cases,
    edges=[
        loss_case(),
        loss_case(3, 7, (6, 0, 2, 3), reduction="sum"),
        loss_case(3, 7, (4, -100, 2), reduction="none"),
        loss_case(3, 8, (1, 2, 2, 5), ignored=2),
        loss_case(targets=(-100, -100)),
        loss_case(scale=1000, kind="float32"),
        loss_case(scale=-1000, targets=(1, 4)),
        loss_case(3, part=True, targets=(0, 1, 5)),
        loss_case(scale="one rank has none", targets=(3, 4)),
        loss_case(reduction="average"),
    ],
    hint=explained(
        loss="the largest logit, the sum of exponentials and the target's logit are the whole row's, wherever they are",
        gradient="a part of the loss that one rank has goes into the sum of all; the gradient comes back to it as it is",
        sent_forward="three numbers for each row; and nothing if the reduction is refused",
        sent_backward="nothing is sent on the way back",
    ),
    draws=6,
)
def losses_of_tokens(xp, ranks, part, tokens, targets, ignored, reduction, scale, kind):
    case = {
        "ranks": ranks,
        "part": part,
        "tokens": tokens,
        "targets": targets,
        "ignored": ignored,
        "reduction": reduction,
        "scale": scale,
        "kind": kind,
    }
    return on_ranks(ranks, token_losses, case)


@losses_of_tokens.oracle
def torch_losses_of_tokens(torch, **case):
    def on_rank(case):
        import torch
        from torch.distributed.tensor import DeviceMesh, DTensor, Replicate, Shard, distribute_tensor
        from torch.distributed.tensor.parallel import loss_parallel

        group = group_of(case["ranks"], case["part"])
        if group is None:
            return None
        logits, targets, gradient = whole_loss(torch, case)
        mesh = DeviceMesh.from_group(group, "cpu")
        logits = distribute_tensor(logits, mesh, [Shard(1)]).requires_grad_()
        gradient = DTensor.from_local(gradient, mesh, [Replicate()], run_check=False)

        def call(logits):
            return torch.nn.functional.cross_entropy(
                logits, targets, ignore_index=case["ignored"], reduction=case["reduction"]
            )

        with loss_parallel():
            return loss_seen(call, logits, case, gradient)

    return on_ranks(case["ranks"], on_rank, case)


# Pipeline parallelism ------------------------------------------------------------------------------------------------


def stages_cases(st):
    return st.integers(1, 5).flatmap(
        lambda stages: st.fixed_dictionaries(
            {"stage": st.integers(0, stages - 1), "stages": st.just(stages), "microbatches": st.integers(1, 9)}
        )
    )


_STAGES = [
    {"stage": stage, "stages": stages, "microbatches": m}
    for stages, m in ((1, 1), (1, 3), (2, 2), (3, 5), (4, 4), (4, 2))
    for stage in range(stages)
]


class Noting:
    """A stage that does nothing but note when torch's schedule calls it for a forward or a backward."""

    def __init__(self, torch, name, stage, stages, microbatches):
        from torch.distributed import pipelining

        self.stage_index, self.num_stages, self.has_backward, self.order = stage, stages, True, []
        self.device = torch.device("cpu")
        schedule = getattr(pipelining, name)(self, max(stages, microbatches))
        schedule._n_microbatches = microbatches  # that there are as many as stages is checked before, and not needed
        schedule._step_microbatches([()] * microbatches, [{}] * microbatches)

    def forward_one_chunk(self, i, *args, **kwargs):
        self.order.append(["F", i])

    def backward_one_chunk(self, i, *args, **kwargs):
        self.order.append(["B", i])

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: []


@program(
    "distributed.pipeline.gpipe_order",
    cases=stages_cases,
    edges=_STAGES,
    hint=lambda case, mine, theirs: "all forwards, then all backwards, each from 0 on",
    draws=20,
)
def gpipe_orders(xp, stage, stages, microbatches):
    return xp.distributed.pipeline.gpipe_order(stage, stages, microbatches)


@gpipe_orders.oracle
def torch_gpipe_orders(torch, stage, stages, microbatches):
    return Noting(torch, "ScheduleGPipe", stage, stages, microbatches).order


def _about_1f1b(case, mine, theirs):
    if isinstance(mine, list) and sorted(map(str, mine)) != sorted(map(str, theirs)):
        return "each micro-batch goes forward once and backward once"
    later = case["stages"] - 1 - case["stage"]
    return f"{later} stages come after this one: so many forwards first, as far as there are micro-batches; then one F, one B"


@program("distributed.pipeline.one_f_one_b_order", cases=stages_cases, edges=_STAGES, hint=_about_1f1b, draws=30)
def one_f_one_b_orders(xp, stage, stages, microbatches):
    return xp.distributed.pipeline.one_f_one_b_order(stage, stages, microbatches)


@one_f_one_b_orders.oracle
def torch_one_f_one_b_orders(torch, stage, stages, microbatches):
    return Noting(torch, "Schedule1F1B", stage, stages, microbatches).order


def an_order(schedule, stage, stages, microbatches):
    """Orders by rule, for what is not about orders."""
    ahead = microbatches if schedule == "gpipe" else min(microbatches, stages - stage)
    order = [["F", i] for i in range(ahead)]
    for i in range(microbatches):
        order += [["B", i]] + [["F", ahead + i]] * (ahead + i < microbatches)
    return order


def times_cases(st):
    @st.composite
    def draw_times(draw):
        stages, microbatches = draw(st.integers(1, 4)), draw(st.integers(1, 5))
        orders = []
        for stage in range(stages):
            order = an_order(draw(st.sampled_from(["gpipe", "1f1b"])), stage, stages, microbatches)
            for _ in range(
                draw(st.sampled_from([0, 0, 0, 1, 2]))
            ):  # two neighbours change places: it may or may not go on
                place = draw(st.integers(0, len(order) - 1))
                order[place : place + 2] = order[place : place + 2][::-1]
            orders.append(order[: len(order) - draw(st.sampled_from([0, 0, 0, 0, 1]))])
        time = st.integers(1, 8).map(lambda each: each / 2)
        times = st.lists(time, min_size=stages, max_size=stages)
        transfer = draw(st.sampled_from([0, 0, 0.25, 2.0]))
        return {"orders": orders, "forward": draw(times), "backward": draw(times), "transfer": transfer}

    return draw_times()


def times_case(orders, forward=None, backward=None, transfer=0):
    n = len(orders)
    return {"orders": orders, "forward": forward or [1] * n, "backward": backward or [2] * n, "transfer": transfer}


def schedule_of(name, stages, microbatches):
    return [an_order(name, stage, stages, microbatches) for stage in range(stages)]


_F0, _F1, _B0, _B1 = ["F", 0], ["F", 1], ["B", 0], ["B", 1]


@program(
    "distributed.pipeline.start_times",
    cases=times_cases,
    edges=[
        times_case([[_F0, _B0]]),
        times_case(schedule_of("gpipe", 2, 3)),
        times_case(schedule_of("1f1b", 3, 4)),
        times_case(schedule_of("1f1b", 3, 4), [1, 3, 2], [2, 1, 4], 0.5),
        times_case([an_order("gpipe", 0, 2, 4), an_order("1f1b", 1, 2, 4)], transfer=3),
        times_case([[_F0, _F1], [_F1, _F0]]),
        times_case([[_F0], [_F0], []]),
        times_case([[_F0, _B0]], transfer=5),
        times_case([[_F0, _F1, _B0, _B1], [_F0, _F1, _B1, _B0]], [2, 1], [1, 2]),
        times_case([[_B0, _F0]]),
        times_case([[_F1, _F0], [_F0, _B1, _F1, _B0]]),
        times_case([[_F0, _B0], [_F0]]),
        times_case([[], [_F0]]),
    ],
    hint=lambda case, mine, theirs: (
        "something here waits for ever: ValueError"
        if isinstance(theirs, dict)
        else "each starts when its stage is free and all that it needs is there: from another stage `transfer` after it ended"
    ),
    draws=60,
)
def times(xp, orders, forward, backward, transfer):
    orders = [[tuple(action) for action in order] for order in orders]
    with ended_in_time("start_times"):
        found = xp.distributed.pipeline.start_times(orders, forward, backward, transfer)
    return [[float(each) for each in starts] for starts in found]


@times.oracle
def longest_ways(torch, orders, forward, backward, transfer):
    """The longest way to each action, by trying for as long as one gets longer."""
    last = len(orders) - 1
    starts = {(stage, kind, i): 0.0 for stage, order in enumerate(orders) for kind, i in order}
    needs = []
    for stage, order in enumerate(orders):
        for place, (kind, i) in enumerate(order):
            here = stage, kind, i
            if place:
                needs.append((here, (stage, *order[place - 1]), 0))
            if kind == "B":
                needs.append((here, (stage, "F", i), 0))
            if kind == "F" and stage > 0:
                needs.append((here, (stage - 1, "F", i), transfer))
            if kind == "B" and stage < last:
                needs.append((here, (stage + 1, "B", i), transfer))
    for _ in range(len(starts) + 1):
        before = dict(starts)
        for here, needed, late in needs:
            if needed not in starts:
                raise ValueError("nobody does that")
            time = (forward if needed[1] == "F" else backward)[needed[0]]
            starts[here] = max(starts[here], starts[needed] + time + late)
        if starts == before:
            return [[starts[stage, kind, i] for kind, i in order] for stage, order in enumerate(orders)]
    raise ValueError("they wait for each other")


def runs(st):
    return st.integers(2, 3).flatmap(
        lambda ranks: st.fixed_dictionaries(
            {
                "ranks": st.just(ranks),
                "part": st.just(False),
                "schedule": st.sampled_from(["gpipe", "1f1b"]),
                "microbatches": st.integers(ranks, 5),
                "rows": st.integers(1, 3),
                "first": st.sampled_from(["numbers", "tokens"]),
                "turned": st.booleans(),
            }
        )
    )


def run(ranks=2, schedule="1f1b", microbatches=4, rows=2, part=False, first="numbers", turned=False):
    found = {"ranks": ranks, "part": part, "schedule": schedule, "microbatches": microbatches, "rows": rows}
    return found | {"first": first, "turned": turned}


def width(stage):
    """How many numbers a row has that goes into a stage."""
    return 3 + stage % 2


def watched_stage(torch, stage, first, turned, calls):
    """A stage of a model that notes in `calls` its forwards and backwards, and what is kept between them."""
    inside = torch.nn.functional

    class Kept:
        alive = 0

        def __init__(self, x):
            self.x = x.detach()
            Kept.alive += 1

        def __del__(self):
            Kept.alive -= 1

    def taken(kept):
        if calls["order"][-1:] != ["B"] or calls["left"] == 0:
            calls["order"].append("B")
            calls["left"] = calls["each"]
        calls["left"] -= 1
        return kept.x

    class Stage(torch.nn.Module):
        def __init__(self):
            super().__init__()
            shape = [width(stage + 1), width(stage)]
            self.weight = torch.nn.Parameter(numbers(torch, shape, stage + 1, "float64"))

        def forward(self, x):
            calls["order"].append("F")
            if stage == 0 and first == "tokens":
                x = inside.one_hot(x, width(0)).to(torch.float64)
            before = Kept.alive
            with torch.autograd.graph.saved_tensors_hooks(Kept, taken):
                y = torch.tanh(inside.linear(x, self.weight))
            calls["each"] = Kept.alive - before
            calls["most kept"] = max(calls["most kept"], Kept.alive / calls["each"])
            return y.t().contiguous().t() if turned else y

    return Stage()


def whole_run(torch, case, stages):
    """Micro-batches and targets."""
    sizes = case["microbatches"], case["rows"]
    if case["first"] == "tokens":
        inputs = torch.arange(sizes[0] * sizes[1]).reshape(sizes) % width(0)
    else:
        inputs = numbers(torch, [*sizes, width(0)], 2)
    return inputs, numbers(torch, [*sizes, width(stages)], 7)


def difference_squared(output, target):
    return ((output - target) ** 2 + output).mean()


def no_calls():
    return {"order": [], "most kept": 0, "each": 1, "left": 0}


def stage_run(case):
    import torch

    from rushlight.distributed.pipeline import run_stage

    group = group_of(case["ranks"], case["part"])
    if group is None:
        return None
    stage, stages, calls = group.rank(), group.size(), no_calls()
    module = watched_stage(torch, stage, case["first"], case["turned"], calls)
    inputs, targets = whole_run(torch, case, stages)
    module.weight.grad = torch.ones_like(module.weight)
    order = [tuple(each) for each in an_order(case["schedule"], stage, stages, case["microbatches"])]
    received = torch.empty(case["rows"], width(stage), dtype=torch.float64)
    ends = {"inputs": [*inputs]} if stage == 0 else {"received": received}
    if stage == stages - 1:
        ends |= {"targets": [*targets], "loss": difference_squared}
    with recorded_traffic(["send", "recv"]) as seen:
        losses = run_stage(order, module, **ends, group=group)
    found = {"losses": [flat(each) for each in losses], "graph": any(each.requires_grad for each in losses)}
    found["gradient"] = flat(module.weight.grad) - 1
    return found | {"order": calls["order"], "most kept": calls["most kept"], **seen}


@program(
    "distributed.pipeline.run_stage",
    cases=runs,
    edges=[
        run(schedule="gpipe"),
        run(),
        run(3, microbatches=5),
        run(3, microbatches=3, part=True, rows=1),
        run(first="tokens", microbatches=2),
        run(3, turned=True, schedule="gpipe", microbatches=3),
        run(4, microbatches=6),
    ],
    hint=explained(
        losses="the loss of each micro-batch as it is, on the last stage only",
        graph="a loss that still has its graph keeps all that the forward has left",
        gradient="the gradient of the mean of the losses, added to what is there",
        order="forwards and backwards in the order that is given",
        most_kept="what a forward leaves is kept until its backward, and no longer",
        sent="one message for each forward and each backward between two stages",
    ),
    draws=4,
)
def stage_runs(xp, ranks, part, schedule, microbatches, rows, first, turned):
    case = {
        "ranks": ranks,
        "part": part,
        "schedule": schedule,
        "microbatches": microbatches,
        "rows": rows,
        "first": first,
        "turned": turned,
    }
    return on_ranks(ranks, stage_run, case)


@stage_runs.oracle
def torch_stage_runs(torch, **case):
    def on_rank(case):
        import torch
        from torch.distributed import pipelining

        group = group_of(case["ranks"], case["part"])
        if group is None:
            return None
        stage, stages, calls = group.rank(), group.size(), no_calls()
        module = watched_stage(torch, stage, case["first"], False, calls)
        inputs, targets = whole_run(torch, case, stages)
        shapes = [torch.empty(case["rows"], width(stage + i), dtype=torch.float64) for i in range(2)]
        like = {
            "input_args": inputs[0] if stage == 0 else shapes[0].requires_grad_(),
            "output_args": shapes[1].requires_grad_(),
        }
        theirs = pipelining.PipelineStage(module, stage, stages, torch.device("cpu"), group=group, **like)
        kind = {"gpipe": pipelining.ScheduleGPipe, "1f1b": pipelining.Schedule1F1B}[case["schedule"]]
        schedule = kind(theirs, case["microbatches"], loss_fn=difference_squared)
        losses, last = [], stage == stages - 1
        args = [inputs.flatten(0, 1)] if stage == 0 else []
        kwargs = {"target": targets.flatten(0, 1), "losses": losses} if last else {}
        schedule.step(*args, **kwargs)  # the first step sends more, to open the ways between neighbours
        module.weight.grad = None
        calls.update(no_calls())
        with recorded_traffic(["send", "recv"]) as seen:
            schedule.step(*args, **kwargs)
        found = {"losses": [flat(each) for each in losses], "graph": False, "gradient": flat(module.weight.grad)}
        return found | {"order": calls["order"], "most kept": calls["most kept"], **seen}

    return on_ranks(case["ranks"], on_rank, case)


# The device mesh -----------------------------------------------------------------------------------------------------


def _meshes(st):
    """The sizes of a mesh, its ranks in any order, and a dimension, now and then one that is not there."""

    @st.composite
    def draw_mesh(draw):
        sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
        ranks = draw(st.one_of(st.just(range(math.prod(sizes))), st.permutations(range(math.prod(sizes)))))
        return {"sizes": sizes, "ranks": [*ranks], "dim": draw(st.integers(-len(sizes) - 1, len(sizes)))}

    return draw_mesh()


def _about_groups(case, mine, theirs):
    if isinstance(theirs, dict):
        return "the mesh has no such dimension: IndexError"
    if isinstance(mine, list) and sorted(map(str, mine)) == sorted(map(str, theirs)):
        return "the groups are right; they come in the order in which their first ranks stand in the mesh"
    return "in a group only the place along dim differs, and its ranks are in the mesh's order, which may be any"


@program(
    "distributed.mesh.mesh_groups",
    cases=_meshes,
    edges=[
        {"sizes": [4], "ranks": [0, 1, 2, 3], "dim": 0},
        {"sizes": [2, 3], "ranks": [*range(6)], "dim": 0},
        {"sizes": [2, 3], "ranks": [*range(6)], "dim": 1},
        {"sizes": [2, 3], "ranks": [*range(6)], "dim": -1},
        {"sizes": [2, 3], "ranks": [*range(6)], "dim": -2},
        {"sizes": [2, 2], "ranks": [3, 1, 2, 0], "dim": 0},
        {"sizes": [2, 2], "ranks": [3, 1, 2, 0], "dim": 1},
        {"sizes": [2, 3, 4], "ranks": [*range(24)], "dim": 0},
        {"sizes": [2, 3, 4], "ranks": [*range(24)], "dim": 1},
        {"sizes": [3, 2, 2], "ranks": [5, 11, 1, 0, 9, 8, 2, 3, 4, 10, 7, 6], "dim": 2},
        {"sizes": [2, 2], "ranks": [0, 1, 2, 3], "dim": 2},
        {"sizes": [2, 2], "ranks": [0, 1, 2, 3], "dim": -3},
        {"sizes": [1], "ranks": [0], "dim": 0},
    ],
    hint=_about_groups,
    draws=30,
)
def groups(xp, sizes, ranks, dim):
    import torch

    from rushlight.distributed.mesh import mesh_groups

    try:
        found = mesh_groups(torch.tensor(ranks).reshape(sizes), dim)
    except IndexError:
        return "IndexError"
    return [[int(rank) for rank in group] for group in found]


@groups.oracle
def torch_groups(torch, sizes, ranks, dim):
    import torch.distributed as dist
    from torch.distributed.device_mesh import DeviceMesh
    from torch.testing._internal.distributed.fake_pg import FakeStore

    names, found = [f"d{i}" for i in range(len(sizes))], []
    if not -len(sizes) <= dim < len(sizes):
        return "IndexError"
    for rank in ranks:
        dist.init_process_group("fake", rank=rank, world_size=len(ranks), store=FakeStore())
        try:
            mesh = DeviceMesh("cpu", torch.tensor(ranks).reshape(sizes), mesh_dim_names=tuple(names))
            group = mesh[names[dim]].mesh.tolist()
        finally:
            dist.destroy_process_group()
        found += [] if group in found else [group]
    return found


_WHOLE = ["R", "S0", "S1"]
_PARTS = ["P sum", "P max"]


def placement(text):
    """What "R", "S1" and "P max" stand for."""
    from torch.distributed.tensor import Partial, Replicate, Shard

    return Replicate() if text == "R" else Shard(int(text[1:])) if text[0] == "S" else Partial(text[2:])


def _cut(torch, shape, source, rank, ranks):
    """What a rank has of a tensor before it is redistributed: the whole, a shard, or another summand on each rank."""
    if source[0] == "P":
        return numbers(torch, shape, rank)
    whole = numbers(torch, shape)
    if source == "R":
        return whole
    parts, dim = whole.chunk(ranks, int(source[1:])), int(source[1:])
    empty = whole.narrow(dim, 0, 0)
    return (parts[rank] if rank < len(parts) and shape[dim] else empty).contiguous()


def _padded_bytes(local, shape, source, target, ranks):
    """How many bytes all of a rank's pieces have if shards are as large as the first one."""
    sizes = [*shape]
    for each in (source, target):
        sizes[int(each[1:])] = -(-shape[int(each[1:])] // ranks)
    return ranks * math.prod(sizes) * local.element_size()


def _changes(st):
    @st.composite
    def draw_changes(draw):
        shape = draw(st.lists(st.integers(0, 5), min_size=2, max_size=3))
        of = [*_WHOLE, "S2"] if len(shape) == 3 else _WHOLE
        seldom = draw(st.integers(0, 5)) == 0
        change = st.tuples(st.sampled_from([*of, *_PARTS]), st.sampled_from([*of, *_PARTS] if seldom else of))
        changes = draw(st.lists(change.map(list), min_size=1, max_size=6))
        return draw(_rings(st)) | {"shape": shape, "changes": changes}

    return draw_changes()


_SENDING = [["S0", "R"], ["P sum", "R"], ["P sum", "S0"], ["S0", "S1"]]
_ALL_CHANGES = [[source, target] for source in [*_WHOLE, *_PARTS] for target in _WHOLE]


def _about_placements(case, mine, theirs):
    if not (isinstance(mine, list) and isinstance(theirs, list)):
        return None
    for rank, (ours, torchs) in enumerate(zip(mine, theirs)):
        for (source, target), one, other in zip(case["changes"], ours or [], torchs or []):
            if difference(one, other):
                what = f"rank {rank}, from {source} to {target}: "
                wrong = first_apart(one, other)
                if wrong == "called":
                    return what + "the collective of the table, once, and of shards no larger than the first one"
                if wrong == "beyond":
                    return what + "it calls what the contract does not allow"
                return what + "every rank's shard is as shard_sizes says, whatever was added for the collective"
    return None


@program(
    "distributed.mesh.redistribute",
    cases=_changes,
    edges=[
        *[_ring(2, shape=[4, 2], changes=[each]) for each in _SENDING],
        _ring(2, shape=[4, 2], changes=_ALL_CHANGES),
        _ring(2, shape=[4, 2], changes=[["R", "P sum"], ["S0", "P sum"], ["P sum", "P max"], ["P max", "P max"]]),
        _ring(3, shape=[5, 4], changes=_ALL_CHANGES),
        _ring(4, shape=[5, 2], changes=_ALL_CHANGES),
        _ring(3, shape=[1, 7], changes=_ALL_CHANGES),
        _ring(2, shape=[0, 3], changes=_ALL_CHANGES),
        _ring(1, shape=[3, 2], changes=[["P sum", "R"], ["R", "S1"]]),
        _ring(3, [1, 2], shape=[3, 5], changes=_ALL_CHANGES),
        _ring(4, [0, 2, 3], shape=[4, 5], changes=_ALL_CHANGES),
        _ring(3, shape=[2, 4, 5], changes=[["S2", "S0"], ["S1", "S2"], ["S2", "R"], ["P sum", "S2"], ["R", "S2"]]),
    ],
    hint=_about_placements,
    draws=6,
)
def redistribution(xp, ranks, members, shape, changes):
    def changed():
        import torch

        from rushlight.distributed.mesh import redistribute

        group, inside = _member(members)
        if not inside:
            return None
        rank, count = torch.distributed.get_rank(group), torch.distributed.get_world_size(group)
        seen = []
        for source, target in changes:
            local = _cut(torch, shape, source, rank, count)
            before = local.clone()
            try:
                with recorded_traffic(["all_reduce", "all_gather", "reduce_scatter", "all_to_all"]) as traffic:
                    result = redistribute(local, tuple(shape), placement(source), placement(target), group)
            except RuntimeError as error:
                seen.append(error_name(error))
                continue
            called = traffic["sent"] if count > 1 else {}
            if "all_to_all" in called and called["all_to_all"][1] <= _padded_bytes(local, shape, source, target, count):
                called["all_to_all"].pop()  # torch pads what it sends
            result = result.clone(memory_format=torch.contiguous_format)
            seen.append({"local": result, "called": called, "kept": torch.equal(local, before)})
            seen[-1]["beyond"] = traffic["beyond"]
        return seen

    return on_ranks(ranks, changed)


@redistribution.oracle
def torch_redistribution(torch, ranks, members, shape, changes):
    def changed():
        import logging

        import torch
        from torch.distributed.tensor import DeviceMesh, DTensor, placement_types
        from torch.distributed.tensor.debug import CommDebugMode

        from rushlight.distributed import Traffic

        mesh = DeviceMesh("cpu", [*(members or range(ranks))])
        if mesh.get_coordinate() is None:
            return None
        seen, at_once, strides = [], [], torch.empty(shape).stride()
        names = {"all_gather_into_tensor": "all_gather", "reduce_scatter_tensor": "reduce_scatter"}

        def all_to_all(*args):  # which is made of an all-gather where there is no GPU
            at_once.append(args)
            return before(*args)

        logging.disable(logging.WARNING)  # it speaks of that all-gather each time
        before, placement_types.shard_dim_alltoall = placement_types.shard_dim_alltoall, all_to_all
        try:
            for source, target in changes:
                local = _cut(torch, shape, source, mesh.get_local_rank(), mesh.size())
                at = [[placement(source)], [placement(target)]]
                spread = DTensor.from_local(
                    local, mesh, at[0], run_check=False, shape=torch.Size(shape), stride=strides
                )
                at_once.clear()
                try:
                    with CommDebugMode() as counts, Traffic() as traffic:
                        result = spread.redistribute(mesh, at[1]).to_local()
                except RuntimeError as error:
                    seen.append(error_name(error))
                    continue
                called = {str(op).rpartition(".")[2]: count for op, count in counts.get_comm_counts().items()}
                called = {names.get(name, name): count for name, count in called.items()}
                called = {kind: [count, traffic.nbytes[kind]] for kind, count in called.items()}
                if at_once:
                    called = {"all_to_all": [len(at_once)]}
                result = result.clone(memory_format=torch.contiguous_format)
                called = called if mesh.size() > 1 else {}
                seen.append({"local": result, "called": called, "kept": True, "beyond": []})
        finally:
            placement_types.shard_dim_alltoall = before
            logging.disable(logging.NOTSET)
        return seen

    return on_ranks(ranks, changed)


# The cost model ------------------------------------------------------------------------------------------------------

_COLLECTIVES = ["all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast"]


def _named(**texts):
    """A hint by the first entry that differs, and for a case in which torch's side raises: `refused`."""

    def hint(case, mine, theirs):
        if isinstance(theirs, str):
            return texts["refused"]
        return texts.get(first_apart(mine, theirs) or "")

    return hint


@program(
    "distributed.cost.ring_cost",
    cases=lambda st: st.fixed_dictionaries(
        {
            "collective": st.sampled_from([*_COLLECTIVES, *_COLLECTIVES, "scatter"]),
            "nbytes": st.sampled_from([0, 4, 12, 1000, 2400000]),
            "ranks": st.one_of(st.integers(1, 20), st.sampled_from([512, 1000, 16384])),
        }
    ),
    edges=[
        *[{"collective": each, "nbytes": 1200, "ranks": ranks} for each in _COLLECTIVES for ranks in (1, 2, 3, 4, 8)],
        *[{"collective": "broadcast", "nbytes": 8, "ranks": ranks} for ranks in (5, 7, 9, 16384)],
        {"collective": "all_reduce", "nbytes": 4096, "ranks": 16384},
        {"collective": "gather", "nbytes": 12, "ranks": 2},
        {"collective": "barrier", "nbytes": 12, "ranks": 1},
    ],
    hint=_named(
        refused="there is no cost for this collective: ValueError, whatever the other arguments are",
        steps="a ring takes p - 1 steps, an all-reduce two rings; a tree as many as p can be doubled up to, rounded up",
        bytes="in each step of a ring a rank sends nbytes / p; the root of a tree the whole tensor in each round",
    ),
    draws=40,
)
def cost(xp, collective, nbytes, ranks):
    from rushlight.distributed.cost import ring_cost

    try:
        steps, sent = ring_cost(collective, nbytes, ranks)
    except ValueError:
        return "ValueError"
    return {"steps": float(steps), "bytes": float(sent)}


@cost.oracle
def cost_by_going_round(torch, collective, nbytes, ranks):
    from fractions import Fraction

    if collective not in _COLLECTIVES:
        return "ValueError"
    rounds, knowing = 0, 1
    while collective == "broadcast" and knowing < ranks:
        rounds, knowing = rounds + 1, knowing * 2
    if collective == "broadcast":
        return {"steps": float(rounds), "bytes": float(rounds * nbytes)}
    parts = [Fraction(nbytes, ranks) for other in range(ranks) if other != 0]  # of all places but one's own
    passes = 2 if collective == "all_reduce" else 1
    return {"steps": float(passes * len(parts)), "bytes": float(passes * sum(parts))}


def _rows(st):
    """Measurements: true numbers, disturbed, of different sizes."""

    @st.composite
    def draw_rows(draw):
        sizes = draw(st.lists(st.integers(2, 22), min_size=2, max_size=6, unique=True))
        steps = draw(st.sampled_from([1, 2, 6, 14]))
        latency, bandwidth = draw(st.sampled_from([2e-6, 3e-5, 1e-3])), draw(st.sampled_from([1e8, 2e9, 4e10]))
        rows = []
        for size in sizes:
            seconds = (steps * latency + 2**size / bandwidth) * draw(st.sampled_from([0.7, 0.9, 1.0, 1.25, 1.6]))
            rows.append([steps, float(2**size), float(f"{seconds:.6g}")])
        if draw(st.integers(0, 3)) == 0:
            rows.append([steps, 4096.0, 0.01])
        return {"rows": rows}

    return draw_rows()


@program(
    "distributed.cost.fit",
    cases=_rows,
    edges=[
        {"rows": [[2, 1000.0, 0.003], [2, 5000.0, 0.007]]},
        {"rows": [[6, 4e3, 0.00013], [6, 4e5, 0.00025], [6, 4e7, 0.0137]]},
        {"rows": [[1, 10.0, 1.0], [1, 20.0, 2.5], [1, 40.0, 3.0], [1, 80.0, 11.0]]},
        {"rows": [[2, 100.0, 0.1], [2, 1000.0, 5.0]]},  # a negative latency, unless it is forbidden
        {"rows": [[2, 100.0, 0.1], [4, 5000.0, 3.0], [2, 1000.0, 5.0]]},
        {"rows": [[2, 100.0, 0.5], [2, 1000.0, 0.2]]},  # a negative 1 / bandwidth
        {"rows": [[1, 100.0, 0.5], [3, 1000.0, 0.2], [2, 500.0, 0.4]]},
        {"rows": [[1, 10.0, 0.5], [2, 20.0, 0.5], [2, 60.0, 1.5]]},
        {"rows": [[2, 10.0, 0.5]]},
        {"rows": [[2, 10.0, 0.5], [4, 20.0, 0.7]]},
        {"rows": [[3, 10.0, 0.5], [3, 10.0, 0.7]]},
        {"rows": []},
    ],
    hint=_named(
        refused="all rows have the same number of bytes per step: latency and bandwidth cannot be told apart, ValueError",
        latency="least squares of (model - seconds) / seconds: divide each row by its seconds; never negative",
        bandwidth="if one of the two would be negative it is 0, and the other is fitted again on its own",
    ),
    draws=60,
)
def fitted(xp, rows):
    from rushlight.distributed.cost import fit

    try:
        link = fit(rows)
    except ValueError:
        return "ValueError"
    return {"latency in us": float(link.latency * 1e6), "bandwidth": float(link.bandwidth)}


@fitted.oracle
def fitted_by_numpy(torch, rows):
    import numpy as np

    table = np.array(rows, dtype=np.float64).reshape(-1, 3)
    if len(np.unique(table[:, 1] / table[:, 0])) < 2:
        return "ValueError"
    factors, ones = table[:, :2] / table[:, 2:], np.ones(len(table))
    scale = factors.max(0)
    candidates = []
    for columns in ([0, 1], [0], [1]):
        found = np.zeros(2)
        found[columns] = np.linalg.lstsq((factors / scale)[:, columns], ones, rcond=None)[0]
        if min(found) >= 0:
            candidates.append([(((factors / scale) @ found - 1) ** 2).sum(), *(found / scale).tolist()])
    _, latency, inverse = min(candidates)
    return {"latency in us": latency * 1e6, "bandwidth": 1 / inverse if inverse else float("inf")}


_LINK = [0.000002, 400000000000.0]
_SLOW = [0.000008, 50000000000.0]
_LAYER = [0.001, 0.002, 40000000.0, 10000000.0]


def _layers(st):
    link = st.tuples(st.sampled_from([2e-6, 1e-5]), st.sampled_from([5e10, 4e11])).map(list)
    layer = st.tuples(
        *[st.sampled_from([1e-3, 2e-3]), st.sampled_from([3e-3, 5e-3]), st.sampled_from([4e6, 4e8])],
        st.sampled_from([1e6, 7e7]),
    )
    return st.fixed_dictionaries(
        {
            "strategy": st.sampled_from(["ddp", "fsdp", "hsdp", "tp"]),
            "layer": layer.map(list),
            "nodes": st.sampled_from([1, 2, 3, 16, 2048]),
            "per_node": st.sampled_from([1, 2, 4, 8]),
            "inside": link,
            "between": link,
        }
    )


@program(
    "distributed.cost.layer_costs",
    cases=_layers,
    edges=[
        {"strategy": each, "layer": _LAYER, "nodes": nodes, "per_node": 8, "inside": _LINK, "between": _SLOW}
        for each in ("ddp", "fsdp", "hsdp", "tp", "cp", "ep", "gpipe", "pp", "zero")
        for nodes in (1, 4)
    ],
    hint=_named(
        refused="no such strategy: ValueError",
        forward="only tensor parallelism changes it: less to compute on each rank, and two all-reduces of the activations",
        backward="only tensor parallelism changes it: less to compute on each rank, and two all-reduces of the activations",
        gather="what has to come before a layer can compute: the parameters that the other ranks hold",
        reduce="over how many ranks, through which link, and how much: after a reduce-scatter a rank has only its shard",
    ),
    draws=30,
)
def layer_cost(xp, strategy, layer, nodes, per_node, inside, between):
    from rushlight.distributed.cost import Cluster, Layer, Link, layer_costs

    try:
        costs = layer_costs(strategy, Layer(*layer), Cluster(nodes, per_node, Link(*inside), Link(*between)))
    except ValueError:
        return "ValueError"
    return {name: float(cost * 1e6) for name, cost in zip(("forward", "backward", "gather", "reduce"), costs)}


@layer_cost.oracle
def layer_cost_by_formula(torch, strategy, layer, nodes, per_node, inside, between):
    forward, backward, nbytes, activations = (1e6 * number for number in layer)  # microseconds, and bytes for them

    def half(size, ranks, link):
        """A reduce-scatter or an all-gather."""
        return (ranks - 1) * (link[0] * 1e6 + size / ranks / link[1])

    everywhere, world = between if nodes > 1 else inside, nodes * per_node
    shards = 2 * half(nbytes / per_node, nodes, between)
    within = 4 * half(activations, per_node, inside)
    costs = {
        "ddp": lambda: [forward, backward, 0.0, 2 * half(nbytes, world, everywhere)],
        "fsdp": lambda: [forward, backward, half(nbytes, world, everywhere), half(nbytes, world, everywhere)],
        "hsdp": lambda: [forward, backward, half(nbytes, per_node, inside), half(nbytes, per_node, inside) + shards],
        "tp": lambda: [forward / per_node + within, backward / per_node + within, 0.0, shards],
    }
    if strategy not in costs:
        return "ValueError"
    return dict(zip(("forward", "backward", "gather", "reduce"), costs[strategy]()))


def _steps(st):
    seconds = st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0, 8.0])
    return st.fixed_dictionaries(
        {
            "layers": st.integers(1, 6),
            "forward": st.sampled_from([0.5, 1.0, 2.0]),
            "backward": st.sampled_from([1.0, 2.0, 3.0]),
            "gather": seconds,
            "reduce": seconds,
            "overlap": st.sampled_from([True, True, True, False]),
        }
    )


def _step(layers, forward, backward, gather, reduce, overlap=True):
    return {
        "layers": layers,
        "forward": forward,
        "backward": backward,
        "gather": gather,
        "reduce": reduce,
        "overlap": overlap,
    }


def _about_steps(case, mine, theirs):
    if not case["overlap"]:
        return "without overlap: all forwards, backwards and reductions, and two gathers for each layer"
    if not case["gather"]:
        return (
            "without gathers: computing never waits, and each reduction begins after its backward and the one before it"
        )
    return (
        "a gather goes on the wire when the computation before the one that wants it begins: not earlier, and not later"
    )


@program(
    "distributed.cost.step_time",
    cases=_steps,
    edges=[
        _step(4, 1.0, 2.0, 0.5, 1.5, overlap=False),
        _step(1, 1.0, 2.0, 0.0, 0.0),
        _step(1, 1.0, 2.0, 0.0, 3.0),
        _step(4, 1.0, 2.0, 0.0, 1.0),
        _step(4, 1.0, 2.0, 0.0, 5.0),
        _step(1, 1.0, 2.0, 0.5, 0.0),
        _step(3, 1.0, 2.0, 0.5, 0.0),
        _step(3, 1.0, 2.0, 4.0, 0.0),
        _step(4, 1.0, 2.0, 0.5, 0.5),
        _step(4, 1.0, 2.0, 0.5, 1.5),
        _step(4, 1.0, 2.0, 3.0, 3.0),
        _step(5, 0.5, 3.0, 2.0, 1.0),
        _step(2, 2.0, 1.0, 1.0, 8.0),
        _step(6, 1.0, 2.0, 1.5, 0.5),
        _step(4, 2.0, 1.0, 1.5, 0.0),
        _step(5, 2.0, 1.0, 1.5, 0.5),
    ],
    hint=_about_steps,
    draws=60,
)
def step(xp, layers, forward, backward, gather, reduce, overlap):
    from rushlight.distributed.cost import step_time

    return float(step_time(layers, forward, backward, gather, reduce, overlap))


@step.oracle
def step_by_events(torch, layers, forward, backward, gather, reduce, overlap):
    if not overlap:
        return float(sum([forward, backward, gather, gather, reduce] * layers))
    # Everything that takes place, by name: how long it takes, and what must have begun and have ended before it.
    names = [f"forward {i}" for i in range(layers)] + [f"backward {i}" for i in range(layers)]
    wire = []  # in the order of being put there
    for place, name in enumerate(names):
        wire += [("gather", name)] if gather else []
        if place > layers and reduce:
            wire.append(("reduce", names[place - 1]))
    wire += [("reduce", names[-1])] if reduce else []
    began, ended = {}, {("compute", None): 0.0}
    waiting = {"compute": [("compute", name) for name in names], "wire": wire}
    free = {"compute": 0.0, "wire": 0.0}
    while any(waiting.values()):
        for queue, tasks in waiting.items():
            if not tasks:
                continue
            kind, name = tasks[0]
            before = names[names.index(name) - 1] if names.index(name) else None
            if kind == "compute":
                needs = [ended.get(("gather", name)) if gather else 0.0, ended.get(("compute", before))]
                seconds = forward if name.startswith("forward") else backward
            elif kind == "gather":
                needs, seconds = [began.get(before, None if before else 0.0)], gather
            else:
                needs, seconds = [ended.get(("compute", name))], reduce
            if None in needs:
                continue
            start = max(free[queue], *needs)
            if kind == "compute":
                began[name] = start
            free[queue] = ended[kind, name] = start + seconds
            tasks.pop(0)
    return float(max(free.values()))
