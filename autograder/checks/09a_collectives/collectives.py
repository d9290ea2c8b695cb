"""Collectives: rings and trees made of messages."""

from __future__ import annotations

from contextlib import contextmanager

from ...engine.check import program
from ...engine.observe import difference, values
from ..cases import field, first_of, numbers, rows, several, when
from ..shared_09 import _KINDS, _OPS, explained_by_rank, global_ranks, on_ranks, recorded_sends, recorded_traffic, rings


@contextmanager
def recorded_messages(*given):
    """Within, on a rank: records the receiver and the number of bytes of each message that is not empty, in order.

    "in use" is whether a message of the memory of a given tensor has not been waited for.
    """
    from rushlight.distributed import Traffic

    with recorded_traffic(("send", "recv")) as seen, Traffic() as traffic, recorded_sends() as sends:
        yield seen
    memory = {tensor.untyped_storage().data_ptr() for tensor in given if tensor.numel()}
    seen["in use"] = any(start in memory and not work.is_completed() for start, work in sends)
    sent = [operation for operation in traffic.operations if operation.kind == "send"]
    del seen["sent"]
    if any(operation.kind == "recv" and operation.peer is None for operation in traffic.operations):
        seen["beyond"].append("a recv from any rank")
    seen["messages"] = [[operation.peer, operation.nbytes] for operation in sent if operation.nbytes]


def messages_to_next(rank, ranks, nbytes):
    """The record of a rank of a ring: messages of these sizes to the next rank, without the empty ones."""
    return {"beyond": [], "in use": False, "messages": [[(rank + 1) % ranks, size] for size in nbytes if size]}


def in_turn(nbytes, first, count):
    """`count` of the sizes of a ring's parts, from the first one on, each with the number before that of the last one."""
    return [nbytes[(first - step) % len(nbytes)] for step in range(count)]


def sent_to_reduce_and_scatter(rank, nbytes):
    """The sizes of a rank's messages, from the sizes of the parts."""
    return in_turn(nbytes, rank - 1, len(nbytes) - 1)


def sent_to_gather(rank, nbytes):
    """The sizes of a rank's messages, from the sizes of the parts."""
    return in_turn(nbytes, rank, len(nbytes) - 1)


def sent_down_a_tree(distance, count):
    """How far away are the receivers of the rank at this distance from the source, of so many ranks."""
    receivers, knowing = {0: []}, 1
    while knowing < count:
        for sender in range(min(knowing, count - knowing)):
            receivers[sender + knowing] = []
            receivers[sender].append(knowing)
        knowing *= 2
    return receivers[distance]


def _shapes(count):
    """A shape for each rank of the group."""
    return several(several((0, 3), 0, 2), count, count)


_IN_USE = "a send may still read its tensor after the return: wait for what isend returns"
_WORLD = "`dst=`, `src=` and `peer=` are ranks of the world; ranks of the group are `group_dst=`, `group_src=` and `group_peer=`"
_NEIGHBOURS = "send to rank + 1, receive from rank - 1, both modulo the number of ranks of the group, not of the world"
_OTHER_PART = "a rank receives another index than it has made room for: which index does each rank send first?"
_PEERS = "all messages of a ring go to the next rank; p - 1 of them (2(p - 1) of an all-reduce), each of one part"


_UNWRITTEN = "a tensor that was given for the result is still as it was"
BEFORE = 77  # each number of a result's tensor before the call


def _is_unwritten(name):
    """For `when`: whether an entry is still as before the call, on the first rank whose results differ."""

    def test(case, mine, theirs):
        ranks = zip(mine, theirs) if isinstance(mine, list) and isinstance(theirs, list) else ()
        yours, wanted = next((pair for pair in ranks if difference(*pair)), (None, None))
        pairs = [(field(yours, name), field(wanted, name))]
        pairs = [*zip(*pairs[0])] if isinstance(pairs[0][0], list) else pairs
        return any(values(a).size and (values(a) == BEFORE).all() for a, b in pairs if a and b)

    return test


@program(
    "distributed.collectives.ring_shift",
    cases=lambda st: rings(st, shapes=_shapes, kind=_KINDS),
    edges=rows(
        "ranks members shapes kind",
        (2, None, [[3], [3]], "float64"), (3, None, [[1], [1], [1]], "float64"), (3, None, [[1], [2], [3]], "float64"),
        (4, None, [[2], [0], [], [2, 3]], "int64"), (1, None, [[]], "float64"), (3, [1, 2], [[4], [1]], "float32"),
        (4, [0, 2, 3], [[1], [2], [3]], "float64"), (3, [1], [[2]], "float64"),
        (2, None, [[600000]] * 2, "float32"), (3, None, [[600000]] * 3, "float32"),
    ),
    hint=first_of(when(_is_unwritten("first"), _UNWRITTEN), explained_by_rank(
        raised={"Pair": _WORLD, "not part of": _WORLD, "not registered": _WORLD, "data size": _NEIGHBOURS},
        first=_NEIGHBOURS,
        messages="one message for each rank, to the next one in its group",
        kept="the outgoing tensor is not changed",
        in_use=_IN_USE,
    )),
    draws=6,
)  # fmt: skip
@on_ranks
def shift(xp, torch, group, shapes, kind):
    rank = torch.distributed.get_rank(group)
    outgoing = numbers(torch, shapes[rank], rank, kind)
    before, incoming = outgoing.clone(), torch.full(shapes[rank - 1], BEFORE, dtype=outgoing.dtype)
    memory = incoming.view(-1)  # another view of it, which sees only what is written in place
    with recorded_messages(outgoing) as seen:
        xp.distributed.collectives.ring_shift(outgoing, incoming, group)
    return {"first": memory[:9].clone(), "sum": memory.sum(), "kept": torch.equal(outgoing, before)} | seen


@shift.oracle
def shift_by_lists(torch, ranks, members, shapes, kind):
    members = members or range(ranks)
    count = len(members)
    sent = [numbers(torch, shape, i, kind) for i, shape in enumerate(shapes)]
    seen = {
        rank: {"first": sent[i - 1].view(-1)[:9].clone(), "sum": sent[i - 1].sum(), "kept": True}
        | messages_to_next(i, count, [sent[i].nbytes] if count > 1 else [])
        for i, rank in enumerate(members)
    }
    return [seen.get(rank) for rank in range(ranks)]


def _to_reduce(torch, group, shapes, kind):
    """This rank's number in the group, its tensors, and an output for the reduction of the one with that number."""
    rank = torch.distributed.get_rank(group)
    inputs = [numbers(torch, shape, 5 * rank + i, kind) for i, shape in enumerate(shapes)]
    return rank, inputs, torch.full_like(inputs[rank], BEFORE)


@program(
    "distributed.collectives.ring_reduce_scatter",
    cases=lambda st: rings(st, shapes=_shapes, op=_OPS, kind=_KINDS),
    edges=rows(
        "ranks members shapes op kind",
        (2, None, [[3], [3]], "SUM", "float64"), (3, None, [[3], [3], [3]], "SUM", "float64"),
        (3, None, [[1], [2], [3]], "MAX", "float64"), (4, None, [[2], [2, 3], [], [1, 1]], "SUM", "float32"),
        (4, None, [[1], [0], [2], [0, 3]], "MAX", "int64"), (4, None, [[4], [4], [4], [4]], "SUM", "int64"),
        (1, None, [[2]], "SUM", "float64"), (1, None, [[]], "SUM", "float64"), (3, [1, 2], [[2], [3]], "SUM", "float64"),
        (4, [0, 2, 3], [[2], [3], [1]], "SUM", "float64"), (3, [2], [[3, 2]], "MAX", "float64"),
    ),
    hint=first_of(when(_is_unwritten("output"), _UNWRITTEN), explained_by_rank(
        raised={"shape": _OTHER_PART, "size": _OTHER_PART},
        output="the partial result number i ends on rank i, so it must begin on the rank after it; `combine` applies `op`",
        kept="the given tensors are not changed: received parts need memory of their own",
        in_use=_IN_USE,
        messages=_PEERS,
    )),
    draws=6,
)  # fmt: skip
@on_ranks
def reduce_scatter(xp, torch, group, shapes, op, kind):
    _, inputs, output = _to_reduce(torch, group, shapes, kind)
    before, memory = [tensor.clone() for tensor in inputs], output.detach()
    with recorded_messages(*inputs) as seen:
        reduction = getattr(torch.distributed.ReduceOp, op)
        given = tuple(inputs) if op == "MAX" else inputs
        xp.distributed.collectives.ring_reduce_scatter(output, given, reduction, group)
    return {"output": memory, "kept": all(map(torch.equal, inputs, before))} | seen


@reduce_scatter.oracle
@on_ranks
def torch_reduce_scatter(torch, group, shapes, op, kind):
    rank, inputs, output = _to_reduce(torch, group, shapes, kind)
    torch.distributed.reduce_scatter(output, inputs, getattr(torch.distributed.ReduceOp, op), group)
    nbytes = sent_to_reduce_and_scatter(rank, [tensor.nbytes for tensor in inputs])
    return {"output": output, "kept": True} | messages_to_next(rank, len(shapes), nbytes)


@program(
    "distributed.collectives.ring_all_gather",
    cases=lambda st: rings(st, shapes=_shapes, kind=_KINDS, shared=lambda _: bool),
    edges=rows(
        "ranks members shapes kind shared",
        (2, None, [[3], [3]], "float64", False), (3, None, [[2], [2], [2]], "float64", True),
        (3, None, [[1], [2], [3]], "float64", False), (4, None, [[2], [2, 3], [], [1, 1]], "float32", False),
        (4, None, [[1], [0], [2], [0, 3]], "int64", False), (1, None, [[2]], "float64", False),
        (1, None, [[2]], "float64", True), (3, [1, 2], [[2], [3]], "float64", False),
        (4, [0, 2, 3], [[2], [3], [1]], "float64", False),
    ),
    hint=first_of(when(_is_unwritten("outputs"), _UNWRITTEN), explained_by_rank(
        outputs="number r is the input of rank r. In step k each rank sends the part that it received in step k - 1; in step 0, "
        "its own part",
        kept="input is not changed",
        in_use=_IN_USE,
        messages=_PEERS,
    )),
    draws=6,
)  # fmt: skip
@on_ranks
def all_gather(xp, torch, group, shapes, kind, shared):
    rank = torch.distributed.get_rank(group)
    mine = numbers(torch, shapes[rank], rank, kind)
    before, outputs = mine.clone(), [torch.full(shape, BEFORE, dtype=mine.dtype) for shape in shapes]
    if shared:
        mine = outputs[rank].copy_(mine)
    memory = [tensor.detach() for tensor in outputs]
    with recorded_messages(mine, *outputs) as seen:
        xp.distributed.collectives.ring_all_gather(tuple(outputs) if shared else [*outputs], mine, group)
    return {"outputs": memory, "kept": torch.equal(mine, before)} | seen


@all_gather.oracle
def gather_by_lists(torch, ranks, members, shapes, kind, shared):
    members = members or range(ranks)
    count = len(members)
    outputs = [numbers(torch, shape, i, kind) for i, shape in enumerate(shapes)]
    seen = {}
    for i, rank in enumerate(members):
        nbytes = sent_to_gather(i, [tensor.nbytes for tensor in outputs])
        seen[rank] = {"outputs": outputs, "kept": True} | messages_to_next(i, count, nbytes)
    return [seen.get(rank) for rank in range(ranks)]


def _to_all_reduce(torch, rank, shape, kind):
    """A rank's tensor. Its integers are not those of float32: a buffer needs the dtype of the tensor."""
    return numbers(torch, shape, rank, kind) * (2**25 + 1 if kind == "int64" else 1)


@program(
    "distributed.collectives.ring_all_reduce",
    cases=lambda st: rings(st, shape=lambda _: several((0, 5), 0, 3), op=_OPS, kind=_KINDS),
    edges=rows(
        "ranks members shape op kind",
        (2, None, [4], "SUM", "float64"), (3, None, [6], "SUM", "float64"), (3, None, [7], "MAX", "float64"),
        (4, None, [2, 3], "SUM", "float32"), (4, None, [3], "SUM", "float64"), (3, None, [], "SUM", "int64"),
        (3, None, [0, 2], "SUM", "float64"), (4, None, [4, 1, 2], "MAX", "int64"), (1, None, [3], "SUM", "float64"),
        (3, [1, 2], [5], "SUM", "float64"), (4, [0, 2, 3], [7], "MAX", "float64"), (3, [0], [2], "SUM", "float64"),
        (2, None, [3, 200001], "SUM", "float32"),
    ),
    hint=explained_by_rank(
        first="cut the flat tensor in as many parts as the group has ranks; reduce-scatter, then all-gather them in place, "
        "in its dtype",
        in_use=_IN_USE,
        messages="2(p - 1) messages, each of one part of tensor_split, all of them to the next rank of the group",
    ),
    draws=6,
)  # fmt: skip
@on_ranks
def all_reduce(xp, torch, group, shape, op, kind):
    tensor = _to_all_reduce(torch, torch.distributed.get_rank(group), shape, kind)
    memory = tensor.view(-1)
    with recorded_messages(tensor) as seen:
        xp.distributed.collectives.ring_all_reduce(tensor, getattr(torch.distributed.ReduceOp, op), group)
    return {"shape": tensor.shape, "first": memory[:99].clone(), "sum": memory.double().sum()} | seen


@all_reduce.oracle
@on_ranks
def torch_all_reduce(torch, group, shape, op, kind):
    rank, count = torch.distributed.get_rank(group), torch.distributed.get_world_size(group)
    tensor = _to_all_reduce(torch, rank, shape, kind)
    torch.distributed.all_reduce(tensor, getattr(torch.distributed.ReduceOp, op), group)
    parts = [part.nbytes for part in tensor.reshape(-1).tensor_split(count)]
    nbytes = sent_to_reduce_and_scatter(rank, parts) + sent_to_gather(rank, parts)
    seen = {"shape": tensor.shape, "first": tensor.reshape(-1)[:99].clone(), "sum": tensor.double().sum()}
    return seen | messages_to_next(rank, count, nbytes)


_BROADCASTS = rows(
    "ranks members root shape kind",
    (2, None, 0, [3], "float64"), (2, None, 1, [3], "float64"), (3, None, 0, [2], "float64"),
    (3, None, 2, [2, 2], "int64"), (4, None, 0, [2], "float64"), (4, None, 1, [], "float32"),
    (4, None, 3, [2], "float64"), (1, None, 0, [2], "float64"), (3, [1, 2], 0, [2], "float64"),
    (4, [0, 2, 3], 1, [2], "float64"), (4, [1, 2, 3], 2, [2], "float64"), (3, [2], 0, [2], "float64"),
)  # fmt: skip


@program(
    "distributed.collectives.tree_broadcast",
    cases=lambda st: rings(st, root=lambda count: (0, count - 1), shape=lambda _: several((1, 3), 0, 2), kind=_KINDS),
    edges=_BROADCASTS,
    hint=explained_by_rank(
        tensor="the numbers are received into the tensor itself. src is a rank of the world, peers are ranks of the group, "
        "counted from the source",
        in_use=_IN_USE,
        messages="count ranks from the source: in round k the ranks below 2^k send, each to the rank 2^k further on",
    ),
    draws=6,
)
@on_ranks
def broadcast(xp, torch, group, root, shape, kind):
    tensor = numbers(torch, shape, torch.distributed.get_rank(), kind)
    memory = tensor.detach()
    with recorded_messages(tensor) as seen:
        xp.distributed.collectives.tree_broadcast(tensor, global_ranks(group)[root], group)
    return {"tensor": memory} | seen


@broadcast.oracle
@on_ranks
def torch_broadcast(torch, group, root, shape, kind):
    tensor, count = numbers(torch, shape, torch.distributed.get_rank(), kind), torch.distributed.get_world_size(group)
    torch.distributed.broadcast(tensor, global_ranks(group)[root], group)
    distance = (torch.distributed.get_rank(group) - root) % count  # from the source
    sent = [[(root + distance + hop) % count, tensor.nbytes] for hop in sent_down_a_tree(distance, count)]
    return {"tensor": tensor, "beyond": [], "in use": False, "messages": sent}


# All together --------------------------------------------------------------------------------------------------------


def _train_by_hand(torch, group, root, steps, broadcast, all_reduce):
    """Data parallel training without a module for it: all ranks begin with the root's weight, and average their gradients."""
    rank, count = torch.distributed.get_rank(group), torch.distributed.get_world_size(group)
    weight, losses = numbers(torch, [3, 5], rank + 1), []
    broadcast(weight, global_ranks(group)[root], group)
    for step in range(steps):
        leaf = weight.clone().requires_grad_()
        loss = torch.tanh(numbers(torch, [2, 3], rank + step) @ leaf).square().mean()
        loss.backward()
        all_reduce(leaf.grad, torch.distributed.ReduceOp.SUM, group)
        weight -= leaf.grad / count
        losses.append(loss.detach())
    return {"losses": losses, "weight": weight}


@program(
    "together.collectives",
    cases=lambda st: rings(st, root=lambda count: (0, count - 1), steps=(1, 8)),
    edges=rows("ranks members root steps", (2, None, 0, 1), (4, None, 3, 3), (4, [0, 2, 3], 1, 2)),
    draws=4,
)
@on_ranks
def by_messages(xp, torch, group, root, steps):
    own = xp.distributed.collectives
    with recorded_traffic(("send", "recv")) as seen:
        shown = _train_by_hand(torch, group, root, steps, own.tree_broadcast, own.ring_all_reduce)
    return shown | {"beyond": seen["beyond"]}


@by_messages.oracle
@on_ranks
def by_torch(torch, group, root, steps):
    own = torch.distributed
    return _train_by_hand(torch, group, root, steps, own.broadcast, own.all_reduce) | {"beyond": []}
