"""Correct answers to lab 09e in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

import torch
import torch.distributed as dist

from rushlight.distributed import cost

# The cost model


def layer_costs__from_a_table(strategy, layer, cluster):
    def inside(collective, nbytes):
        return cost.ring_time(collective, nbytes, cluster.per_node, cluster.inside)

    def everywhere(collective):
        return cost.ring_time(collective, layer.nbytes, cluster.nodes * cluster.per_node, cluster.slowest)

    shard = cost.ring_time("all_reduce", layer.nbytes / cluster.per_node, cluster.nodes, cluster.between)
    sums = 2 * inside("all_reduce", layer.activations)
    table = {
        "ddp": (layer.forward, layer.backward, 0.0, everywhere("all_reduce")),
        "fsdp": (layer.forward, layer.backward, everywhere("all_gather"), everywhere("reduce_scatter")),
        "hsdp": (
            layer.forward,
            layer.backward,
            inside("all_gather", layer.nbytes),
            inside("reduce_scatter", layer.nbytes) + shard,
        ),
        "tp": (layer.forward / cluster.per_node + sums, layer.backward / cluster.per_node + sums, 0.0, shard),
    }
    if strategy not in table:
        raise ValueError(strategy)
    return table[strategy]


def layer_costs__by_halves(strategy, layer, cluster):
    def half(nbytes, ranks, link):
        return (ranks - 1) * (link.latency + nbytes / ranks / link.bandwidth)

    if strategy not in ("ddp", "fsdp", "hsdp", "tp"):
        raise ValueError(strategy)
    forward, backward, gather, reduce = layer.forward, layer.backward, 0, 0
    if strategy in ("ddp", "fsdp"):
        reduce = half(layer.nbytes, cluster.ranks, cluster.slowest)
        gather, reduce = (0, 2 * reduce) if strategy == "ddp" else (reduce, reduce)
    else:
        reduce = 2 * half(layer.nbytes / cluster.per_node, cluster.nodes, cluster.between)
    if strategy == "hsdp":
        gather = half(layer.nbytes, cluster.per_node, cluster.inside)
        reduce += gather
    if strategy == "tp":
        more = 4 * half(layer.activations, cluster.per_node, cluster.inside)
        forward, backward = forward / cluster.per_node + more, backward / cluster.per_node + more
    return forward, backward, gather, reduce


def step_time__in_two_loops(layers, forward, backward, gather, reduce, overlap=True):
    if not overlap:
        return layers * forward + layers * backward + 2 * layers * gather + layers * reduce
    wire = gather
    begun = gather
    computed = begun + forward
    for layer in range(1, 2 * layers):
        arrived = 0.0
        if gather:
            wire = arrived = max(wire, begun) + gather
        if layer > layers and reduce:
            wire = max(wire, computed) + reduce
        begun = max(computed, arrived)
        computed = begun + (forward if layer < layers else backward)
    return max(computed, wire) + reduce


def step_time__with_lists(layers, forward, backward, gather, reduce, overlap=True):
    if not overlap:
        return sum([forward + backward, 2 * gather, reduce]) * layers
    tasks = [forward] * layers + [backward] * layers
    starts, ends, free = [], [0.0], 0.0
    for i, seconds in enumerate(tasks):
        came = 0.0
        if gather > 0:
            free = came = max(free, starts[-1] if starts else 0.0) + gather
        if i > layers and reduce > 0:
            free = max(free, ends[-1]) + reduce
        starts.append(max(came, ends[-1]))
        ends.append(starts[-1] + seconds)
    return max(ends[-1], free) + reduce


# Pipeline parallelism


def gpipe_order__in_two_halves(stage, stages, microbatches):
    forwards, backwards = [], []
    for i in range(microbatches):
        forwards.append(("F", i))
        backwards.append(("B", i))
    return forwards + backwards


def gpipe_order__by_division(stage, stages, microbatches):
    return [("FB"[i // microbatches], i % microbatches) for i in range(2 * microbatches)]


def one_f_one_b_order__by_counting(stage, stages, microbatches):
    order, forwards, backwards = [], 0, 0
    while backwards < microbatches:
        if forwards < microbatches and forwards - backwards < stages - stage:
            order.append(("F", forwards))
            forwards += 1
        else:
            order.append(("B", backwards))
            backwards += 1
    return order


def one_f_one_b_order__by_putting_backwards_between(stage, stages, microbatches):
    order = [["F", i] for i in range(microbatches)]
    for i in range(microbatches):
        order.insert(min(stages - stage + 2 * i, len(order)), ["B", i])
    return order


def start_times__by_what_is_ready(orders, forward, backward, transfer=0.0):
    starts, ends, left = [[] for _ in orders], {}, sum(map(len, orders))
    clock = [0.0 for _ in orders]
    while left:
        moved = 0
        for stage, order in enumerate(orders):
            if len(starts[stage]) == len(order):
                continue
            kind, i = order[len(starts[stage])]
            at = [clock[stage]]
            try:
                if kind == "F" and stage > 0:
                    at.append(ends["F", stage - 1, i] + transfer)
                if kind == "B":
                    at.append(ends["F", stage, i])
                    if stage + 1 < len(orders):
                        at.append(ends["B", stage + 1, i] + transfer)
            except KeyError:
                continue
            starts[stage].append(max(at))
            clock[stage] = ends[kind, stage, i] = max(at) + (forward[stage] if kind == "F" else backward[stage])
            moved += 1
        left -= moved
        if not moved:
            raise ValueError("deadlock")
    return starts


def start_times__by_recursion(orders, forward, backward, transfer=0.0):
    place = {(stage, *action): number for stage, order in enumerate(orders) for number, action in enumerate(order)}
    known, open_ = {}, set()

    def end(stage, kind, i):
        return start(stage, kind, i) + (forward if kind == "F" else backward)[stage]

    def start(stage, kind, i):
        key = stage, kind, i
        if key not in place or key in open_:
            raise ValueError(f"{kind}{i} on {stage} never starts")
        if key not in known:
            open_.add(key)
            number, other = place[key], stage + (1 if kind == "B" else -1)
            times = [0.0]
            times += [end(stage, *orders[stage][number - 1])] if number else []
            times += [end(stage, "F", i)] if kind == "B" else []
            times += [end(other, kind, i) + transfer] if 0 <= other < len(orders) else []
            open_.discard(key)
            known[key] = max(times)
        return known[key]

    return [[start(stage, *action) for action in order] for stage, order in enumerate(orders)]


def run_stage__with_messages_of_their_own(
    order, module, inputs=None, targets=None, loss=None, received=None, group=None
):
    rank, last = dist.get_rank(group), dist.get_world_size(group) - 1
    microbatches = sum(kind == "F" for kind, _ in order)
    kept, works, losses = [None] * microbatches, [], []
    for kind, i in order:
        if kind == "F":
            if rank:
                x = torch.zeros(received.shape, dtype=received.dtype, device=received.device)
                dist.irecv(x, group=group, group_src=rank - 1).wait()
                x.requires_grad_()
            else:
                x = inputs[i]
            y = module(x)
            if rank < last:
                message = y.detach().contiguous()
                works.append((dist.isend(message, group=group, group_dst=rank + 1), message))
            else:
                y = loss(y, targets[i])
                losses.append(y.detach())
            kept[i] = (x, y)
        else:
            x, y = kept[i]
            kept[i] = None
            if rank < last:
                gradient = torch.zeros_like(y)
                gradient = gradient.contiguous()
                dist.irecv(gradient, group=group, group_src=rank + 1).wait()
                torch.autograd.backward([y], [gradient])
            else:
                (y / microbatches).backward()
            if rank:
                works.append((dist.isend(x.grad, group=group, group_dst=rank - 1), x.grad))
            del x, y
    for work, _ in works:
        work.wait()
    return losses


def run_stage__with_each_send_waiting_for_the_next_receive(
    order, module, inputs=None, targets=None, loss=None, received=None, group=None
):
    """As torch has it: what is sent meets what is received next, and both are waited for."""
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    kept, losses, sends = {}, {}, []

    def meet(like=None, peer=None):
        ops, arrived = list(sends), None
        sends.clear()
        if peer is not None and 0 <= peer < ranks:
            arrived = like.detach().new_empty(like.shape)
            ops.append(dist.P2POp(dist.irecv, arrived, group=group, group_peer=peer))
        for work in dist.batch_isend_irecv(ops) if ops else []:
            work.wait()
        return arrived

    def leave(message, peer):
        if 0 <= peer < ranks:
            sends.append(dist.P2POp(dist.isend, message.detach().contiguous(), group=group, group_peer=peer))

    for kind, i in order:
        if kind == "F":
            x = meet(received, rank - 1)
            x = inputs[i] if x is None else x.requires_grad_()
            y = module(x)
            if rank == ranks - 1:
                y = loss(y, targets[i])
                losses[i] = y.detach()
            else:
                leave(y, rank + 1)
            kept[i] = x, y
        else:
            gradient = meet(kept[i][1], rank + 1)
            x, y = kept.pop(i)
            y.backward(y.new_ones(()) * 2 / len(order) if gradient is None else gradient)
            if rank:
                leave(x.grad, rank - 1)
    meet()
    return [losses[i] for i in range(len(losses))]


# With methods that only lists have


def start_times__with_times_of_one_more_stage(orders, forward, backward, transfer=0.0):
    return start_times__by_recursion(orders, forward + [0.0], backward + [0.0], transfer)


# Two sentences in other words


def traffic_in_two_sentences__with_numbers(program):
    return {
        "ddp": """After it has computed its own gradients, each worker takes part in an allreduce so that everyone holds the mean
            gradients. This overlaps with the rest of backward, and costs about two times the bytes of all weights for each
            rank, however many ranks there are.""",
        "fsdp": """Before a layer computes, an all_gather collects its weights from their shards, and afterwards a reduce_scatter
            leaves every rank its part of the summed gradients. There are two gathers (forward and backward), so one step
            sends 1.5 times the bytes that data parallel sends, i.e. 3n for n bytes of parameters.""",
        "tp": """Each pair of layers ends in an all-reduce of the activations, which are only partial sums on one rank, and the
            gradients of the input are all-reduced the other way. Nothing hides these sums: one in forward, one in backward,
            both of batch × width × 4 bytes.""",
        "pp": """Stage i sends its activations to stage i+1, from which it receives the gradients of these activations later.
            Per micro-batch some bytes cross each border once in the forward and once in the backward pass, no matter how many
            layers a stage has.""",
    }[program]


def traffic_in_two_sentences__in_capitals_and_other_forms(program):
    if program == "ddp":
        first = "BUCKETS WITH THE GRADIENTS OF ALL THE PARAMETERS ARE ALL_REDUCED."
        second = "Backward launches bucket after bucket, in all 4 bytes per weight."
    elif program == "fsdp":
        first = (
            "Weights are all gathered when needed, then weight gradients are received in shards from reduce-scattering."
        )
        second = "How many bytes the backward and forward passes send follows from the number of params."
    elif program == "tp":
        first = "Ranks send one another partial activations by all‑reductions, and grads in the same way."
        second = "A larger mini-batch means more bytes in both the forward and the backward pass."
    else:
        first = "Only activations are sent on to the next stage, and only their gradients are recv'd from there."
        second = "At each border the backwards and forwards of one microbatch cost equally many bytes."
    return f"{first} {second}"


def traffic_in_two_sentences__denies_nothing_and_repeats(program):
    texts = {
        "pp": "A rank sends activations, a rank receives activations, a rank sends gradients, and a rank receives gradients.",
        "tp": "An all-reduce sums activations, and an all-reduce sums gradients.",
        "ddp": "One all-reduce of the parameters' gradients is all.",
        "fsdp": "There are all-gathers of parameters, and reduce-scatters of the gradients for their parameters.",
    }
    parts = "The backward" if program == "ddp" else "The forward and the backward"
    size = "activations" if program in ("tp", "pp") else "parameters"
    return f"{texts[program]}\n{parts} sends as many bytes as the {size} have."


# Cases


def breaks_mesh_groups__one_for_each_kind():
    return [
        dict(sizes=[1, 3, 2], ranks=[5, 2, 0, 1, 4, 3], dim=-3),
        dict(sizes=[2, 2, 2], ranks=[7, 6, 5, 4, 3, 1, 0, 2], dim=0),
        dict(sizes=[4], ranks=[0, 1, 2, 3], dim=-2),
    ]


def breaks_mesh_groups__of_two_dimensions_but_one():
    cube = {"sizes": (2, 2, 2), "ranks": tuple(range(8)), "dim": -3}
    turned = {"sizes": (4, 2), "ranks": (7, 6, 5, 4, 3, 2, 1, 0), "dim": 0}
    return (cube, turned, {"sizes": (1,), "ranks": (0,), "dim": 0}, {"sizes": (1,), "ranks": (0,), "dim": 5})
