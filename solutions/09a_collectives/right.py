"""Correct answers to lab 09a in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

import math

import torch
import torch.distributed as dist
from torch.distributed import ReduceOp

from rushlight.distributed import collectives, cost

# Collectives


def ring_shift__with_work_handles(outgoing, incoming, group=None):
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    if ranks > 1:
        sending = dist.isend(outgoing, group=group, group_dst=(rank + 1) % ranks)
        dist.irecv(incoming, group=group, group_src=(rank + ranks - 1) % ranks).wait()
        sending.wait()
    else:
        incoming.copy_(outgoing)


def ring_shift__the_last_rank_receives_first(outgoing, incoming, group=None):
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    after, before = (rank + 1) % ranks, (rank - 1) % ranks
    if ranks == 1:
        incoming.copy_(outgoing)
    elif rank == ranks - 1:
        dist.recv(incoming, group=group, group_src=before)
        dist.send(outgoing, group=group, group_dst=after)
    else:
        dist.send(outgoing, group=group, group_dst=after)
        dist.recv(incoming, group=group, group_src=before)


def ring_reduce_scatter__in_copies(output, input_list, op=ReduceOp.SUM, group=None):
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    parts = [part.clone() for part in input_list]
    for step in range(ranks - 1):
        out, into = (rank - step - 1) % ranks, (rank - step - 2) % ranks
        incoming = torch.empty_like(parts[into])
        collectives.ring_shift(parts[out], incoming, group)
        if op == ReduceOp.SUM:
            parts[into] += incoming
        else:
            parts[into] = torch.maximum(parts[into], incoming)
    output.copy_(parts[rank])


def ring_reduce_scatter__sends_by_itself(output, input_list, op=ReduceOp.SUM, group=None):
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    travelling = input_list[rank - 1].clone()
    for place in range(rank - 2, rank - ranks - 1, -1):
        sending = dist.isend(travelling, group=group, group_dst=(rank + 1) % ranks)
        arrived = input_list[place % ranks].clone()
        dist.irecv(arrived, group=group, group_src=(rank - 1) % ranks).wait()
        sending.wait()
        travelling = collectives.combine(input_list[place % ranks], arrived, op)
    output.copy_(travelling)


def ring_all_gather__passes_on_what_came(output_list, input, group=None):
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    output_list[rank].copy_(input)
    travelling = input.clone()
    for step in range(1, ranks):
        arrived = torch.empty_like(output_list[rank - step])
        collectives.ring_shift(travelling, arrived, group)
        output_list[rank - step].copy_(arrived)
        travelling = arrived


def ring_all_gather__from_a_rotated_list(output_list, input, group=None):
    place = dist.get_rank(group)
    order = [*reversed(output_list[: place + 1]), *reversed(output_list[place + 1 :])]
    order[0].copy_(input)
    for known, unknown in zip(order, order[1:]):
        collectives.ring_shift(known, unknown, group)


def ring_all_reduce__in_two_turns(tensor, op=ReduceOp.SUM, group=None):
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    parts = torch.tensor_split(tensor.flatten(), ranks)
    parts = [part.clone() for part in parts]
    for turn in range(2):
        for step in range(ranks - 1):
            out, into = (rank - step - 1 + turn) % ranks, (rank - step - 2 + turn) % ranks
            incoming = torch.empty_like(parts[into])
            collectives.ring_shift(parts[out], incoming, group)
            parts[into] = incoming if turn else collectives.combine(parts[into], incoming, op)
    tensor.copy_(torch.cat(parts).reshape(tensor.shape))


def ring_all_reduce__with_sizes_of_its_own(tensor, op=ReduceOp.SUM, group=None):
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    few, more = divmod(tensor.numel(), ranks)
    parts = tensor.reshape(-1).split([few + 1] * more + [few] * (ranks - more))
    done = parts[rank].clone()
    collectives.ring_reduce_scatter(done, [part.clone() for part in parts], op, group)
    collectives.ring_all_gather(parts, done, group)


def tree_broadcast__from_who_to_whom(tensor, src, group=None):
    ranks = dist.get_process_group_ranks(group or dist.group.WORLD)
    root, count = ranks.index(src), len(ranks)
    place = (dist.get_rank(group) - root) % count
    if place:
        dist.recv(tensor, group=group, group_src=(root + place - (1 << place.bit_length() - 1)) % count)
    hop = 1 << place.bit_length()
    while place + hop < count:
        dist.send(tensor, group=group, group_dst=(root + place + hop) % count)
        hop *= 2


def tree_broadcast__sends_all_at_once(tensor, src, group=None):
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    place = (rank - dist.get_group_rank(dist.group.WORLD if group is None else group, src)) % ranks
    powers = [2**k for k in range(ranks.bit_length())]
    for power in powers:
        if power <= place < 2 * power:
            dist.irecv(tensor, group=group, group_src=(rank - power) % ranks).wait()
    works = [
        dist.isend(tensor, group=group, group_dst=(rank + power) % ranks)
        for power in powers
        if place < power < ranks - place
    ]
    for work in works:
        work.wait()


# The cost model


def ring_cost__from_a_table(collective, nbytes, ranks):
    passes = {"all_reduce": 2, "reduce_scatter": 1, "all_gather": 1, "all_to_all": 1}
    if collective == "broadcast":
        rounds = math.ceil(math.log2(ranks))
        return rounds, float(nbytes * rounds)
    if collective not in passes:
        raise ValueError(collective)
    return passes[collective] * (ranks - 1), passes[collective] * nbytes * (ranks - 1) / ranks


def ring_cost__step_by_step(collective, nbytes, ranks):
    match collective:
        case "all_reduce":
            steps, sent = cost.ring_cost("reduce_scatter", nbytes, ranks)
            return 2 * steps, 2 * sent
        case "reduce_scatter" | "all_gather" | "all_to_all":
            return ranks - 1, nbytes - nbytes / ranks
        case "broadcast":
            rounds = 0
            while 2**rounds < ranks:
                rounds += 1
            return rounds, nbytes * rounds
    raise ValueError("unknown")


def breaks_fit__one_for_each_end():
    return [
        {"rows": []},
        {"rows": [[3, 30, 10], [5, 50, 90]]},
        {"rows": [[1, 1, 90], [7, 1000, 80], [1, 1, 90]]},
        {"rows": [[1, 10, 1], [2, 1000, 900], [1, 10, 1]]},
    ]


def breaks_fit__as_tuples():
    return (
        {"rows": ((2, 10, 30), (4, 20, 30))},
        {"rows": ((2, 1, 10), (4, 1, 30), (2, 1, 10))},
        {"rows": ((4, 1, 1), (2, 1, 10), (4, 1, 1))},
        {"rows": ()},
    )
