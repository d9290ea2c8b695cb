"""Wrong answers to lab 09e that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import torch
import torch.distributed as dist

from rushlight.course import breaks, predictions
from rushlight.distributed import cost, pipeline

from ..shared import copied, edited

# The cost model


def _costs(layer, cluster, *, shard=None, gathers=1, tensor_parallel=4, hsdp="inside"):
    """Costs of all strategies, with something wrong."""
    forward, backward, nbytes, activations = layer

    def half(size, ranks, link):
        return (ranks - 1) * (link.latency + size / ranks / link.bandwidth)

    each, across = (
        half(nbytes, cluster.ranks, cluster.slowest),
        2 * half(nbytes / cluster.per_node if shard is None else shard, cluster.nodes, cluster.between),
    )
    inside = half(nbytes, cluster.per_node, cluster.inside)
    sums = tensor_parallel * half(activations, cluster.per_node, cluster.inside)
    return {
        "ddp": (forward, backward, 0.0, 2 * each),
        "fsdp": (forward, backward, gathers * each, each),
        "hsdp": (forward, backward, inside, inside + across) if hsdp == "inside" else (forward, backward, each, across),
        "tp": (forward / cluster.per_node + sums, backward / cluster.per_node + sums, 0.0, across),
    }


def layer_costs__reduces_everything_between_the_nodes(strategy, layer, cluster):
    if strategy not in ("ddp", "fsdp", "hsdp", "tp"):
        raise ValueError
    return _costs(layer, cluster, shard=layer.nbytes)[strategy]


def layer_costs__gathers_twice(strategy, layer, cluster):
    if strategy not in ("ddp", "fsdp", "hsdp", "tp"):
        raise ValueError
    return _costs(layer, cluster, gathers=2)[strategy]


def layer_costs__reduces_activations_once(strategy, layer, cluster):
    if strategy not in ("ddp", "fsdp", "hsdp", "tp"):
        raise ValueError
    return _costs(layer, cluster, tensor_parallel=2)[strategy]


def layer_costs__gathers_over_all_ranks(strategy, layer, cluster):
    if strategy not in ("ddp", "fsdp", "hsdp", "tp"):
        raise ValueError
    return _costs(layer, cluster, hsdp="everywhere")[strategy]


def layer_costs__raises_KeyError(strategy, layer, cluster):
    return _costs(layer, cluster)[strategy]


def step_time__nothing_overlaps(layers, forward, backward, gather, reduce, overlap=True):
    return layers * (forward + backward + 2 * gather + reduce)


def step_time__the_longer_of_the_two(layers, forward, backward, gather, reduce, overlap=True):
    if not overlap:
        return layers * (forward + backward + 2 * gather + reduce)
    return max(layers * (forward + backward), layers * (2 * gather + reduce))


def step_time__gathers_as_early_as_it_can(layers, forward, backward, gather, reduce, overlap=True):
    if not overlap:
        return layers * (forward + backward + 2 * gather + reduce)
    wire = computed = 0.0
    for _ in range(layers):
        wire += gather
        computed = max(computed, wire) + forward
    for _ in range(layers):
        wire += gather
        computed = max(computed, wire) + backward
        wire = max(wire, computed) + reduce
    return max(wire, computed)


def step_time__gathers_only_when_it_waits(layers, forward, backward, gather, reduce, overlap=True):
    if not overlap:
        return layers * (forward + backward + 2 * gather + reduce)
    computed = layers * (gather + forward)
    wire = computed
    for _ in range(layers):
        computed = max(computed, wire if gather else 0) + gather + backward
        wire = max(wire, computed) + reduce
    return max(wire, computed)


def step_time__has_a_wire_for_each_kind(layers, forward, backward, gather, reduce, overlap=True):
    if not overlap:
        return layers * (forward + backward + 2 * gather + reduce)
    gathered = reduced = begun = computed = 0.0
    for place in range(2 * layers):
        gathered = max(gathered, begun) + gather
        begun = max(computed, gathered if gather else 0)
        computed = begun + (forward if place < layers else backward)
        reduced = max(reduced, computed) + reduce if place >= layers else 0.0
    return max(computed, reduced)


# Pipeline parallelism


def gpipe_order__goes_back_from_the_last(stage, stages, microbatches):
    return [("F", i) for i in range(microbatches)] + [("B", i) for i in reversed(range(microbatches))]


def gpipe_order__takes_turns(stage, stages, microbatches):
    return [(kind, i) for i in range(microbatches) for kind in "FB"]


gpipe_order__as_far_as_there_are_stages = edited(
    pipeline.gpipe_order, ("range(microbatches)", "range(min(stages, microbatches))")
)
one_f_one_b_order__one_ahead_of_itself = edited(pipeline.one_f_one_b_order, ("stages - 1 - stage", "stages - stage"))


one_f_one_b_order__goes_ahead_everywhere = edited(pipeline.one_f_one_b_order, ("stages - 1 - stage", "stages - 1"))
one_f_one_b_order__with_more_micro_batches_than_there_are = edited(
    pipeline.one_f_one_b_order,
    ("min(stages - 1 - stage, microbatches)", "stages - 1 - stage"),
    ("range(microbatches - ahead, microbatches)", "range(max(0, microbatches - ahead), microbatches)"),
)
one_f_one_b_order__without_an_end = edited(
    pipeline.one_f_one_b_order,
    ('return order + [("B", i) for i in range(microbatches - ahead, microbatches)]', "return order"),
)


def _times_but(orders, forward, backward, transfer, own=True, other=True, late=None, blocks=0, strict=True):
    """The whole answer but for what is said."""
    starts, ends, free = [[] for _ in orders], {}, [0.0] * len(orders)
    for _ in range(sum(map(len, orders))):
        for stage, order in enumerate(orders):
            if len(starts[stage]) == len(order):
                continue
            kind, i = order[len(starts[stage])]
            from_ = stage - 1 if kind == "F" else stage + 1
            needed = [(from_, kind, i)] if other and 0 <= from_ < len(orders) else []
            needed += [(stage, "F", i)] if own and kind == "B" else []
            if all(each in ends for each in needed):
                at = [ends[each] + (transfer if each[0] != stage or late else 0) for each in needed]
                start = max([free[stage], *at])
                starts[stage].append(start)
                ends[stage, kind, i] = start + (forward if kind == "F" else backward)[stage]
                free[stage] = ends[stage, kind, i] + blocks
    if strict and list(map(len, starts)) != list(map(len, orders)):
        raise ValueError
    return starts


def start_times__says_nothing_of_what_never_starts(orders, forward, backward, transfer=0.0):
    return _times_but(orders, forward, backward, transfer, strict=False)


def start_times__without_the_stages_own_forward(orders, forward, backward, transfer=0.0):
    return _times_but(orders, forward, backward, transfer, own=False)


def start_times__waits_for_a_message_to_itself(orders, forward, backward, transfer=0.0):
    return _times_but(orders, forward, backward, transfer, late=True)


def start_times__stands_still_while_it_sends(orders, forward, backward, transfer=0.0):
    return _times_but(orders, forward, backward, transfer, blocks=transfer)


def start_times__forgets_the_transfer(orders, forward, backward, transfer=0.0):
    return _times_but(orders, forward, backward, 0.0)


def start_times__takes_the_other_stages_time(orders, forward, backward, transfer=0.0):
    return _times_but(orders, backward, forward, transfer)


def _run_but(order, module, inputs, targets, loss, received, group, **kind):
    """The whole answer but for what is said."""
    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    kept, losses, works, microbatches = {}, [], [], len(order) // 2

    def send(message, peer):
        if kind.get("sizes"):
            works.append(dist.isend(torch.tensor(message.shape), group=group, group_dst=peer))
        if kind.get("blocking"):
            dist.send(message, group=group, group_dst=peer)
        else:
            works.append(dist.isend(message, group=group, group_dst=peer))

    def receive(message, peer):
        if kind.get("sizes"):
            dist.recv(torch.tensor(message.shape), group=group, group_src=peer)
        dist.recv(message, group=group, group_src=peer)

    for what, i in order:
        if what == "F":
            if rank == 0:
                x = inputs[i]
            else:
                x = torch.empty_like(received)
                receive(x, rank - 1)
                x.requires_grad_()
            y = module(x)
            if rank < ranks - 1:
                send(y.detach().contiguous(), rank + 1)
            else:
                y = loss(y, targets[i])
                losses.append(y if kind.get("graph") else y.detach() / (microbatches if kind.get("scaled") else 1))
                y = y if kind.get("sum") else y / microbatches
            kept[i] = x, y
        else:
            x, y = kept[i] if kind.get("keeps") or kind.get("lists") else kept.pop(i)
            gradient = None
            if rank < ranks - 1:
                gradient = torch.empty_like(y).contiguous()
                receive(gradient, rank + 1)
            if kind.get("anew"):
                module.zero_grad()
            y.backward(gradient, retain_graph=kind.get("keeps"))
            if rank:
                send(x.grad, rank - 1)
    for work in works[:-1] if kind.get("hasty") else works:
        work.wait()
    return losses


def run_stage__waits_until_its_message_is_received(
    order, module, inputs=None, targets=None, loss=None, received=None, group=None
):
    return _run_but(order, module, inputs, targets, loss, received, group, blocking=True)


def run_stage__sends_sizes_before(order, module, inputs=None, targets=None, loss=None, received=None, group=None):
    return _run_but(order, module, inputs, targets, loss, received, group, sizes=True)


def run_stage__takes_the_sum(order, module, inputs=None, targets=None, loss=None, received=None, group=None):
    return _run_but(order, module, inputs, targets, loss, received, group, sum=True)


def run_stage__returns_losses_with_their_graphs(
    order, module, inputs=None, targets=None, loss=None, received=None, group=None
):
    return _run_but(order, module, inputs, targets, loss, received, group, graph=True)


def run_stage__returns_parts_of_the_mean(
    order, module, inputs=None, targets=None, loss=None, received=None, group=None
):
    return _run_but(order, module, inputs, targets, loss, received, group, scaled=True)


def run_stage__keeps_inputs_and_outputs(order, module, inputs=None, targets=None, loss=None, received=None, group=None):
    return _run_but(order, module, inputs, targets, loss, received, group, lists=True)


def run_stage__does_not_wait_for_its_sends(
    order, module, inputs=None, targets=None, loss=None, received=None, group=None
):
    return _run_but(order, module, inputs, targets, loss, received, group, hasty=True)


def run_stage__keeps_what_it_has_used(order, module, inputs=None, targets=None, loss=None, received=None, group=None):
    return _run_but(order, module, inputs, targets, loss, received, group, keeps=True)


def run_stage__has_the_last_gradient_only(
    order, module, inputs=None, targets=None, loss=None, received=None, group=None
):
    return _run_but(order, module, inputs, targets, loss, received, group, anew=True)


def run_stage__does_all_forwards_first(order, module, inputs=None, targets=None, loss=None, received=None, group=None):
    order = sorted(order, key=lambda each: each[0], reverse=True)
    return _run_but(order, module, inputs, targets, loss, received, group)


# Answers that break one sentence of a contract


_START_TIMES = copied(pipeline.start_times)
_RUN_STAGE = copied(pipeline.run_stage)


def start_times__is_an_iterator(orders, forward, backward, transfer=0.0):
    return iter(_START_TIMES(orders, forward, backward, transfer))


def run_stage__takes_lists_only(order, module, inputs=None, targets=None, loss=None, received=None, group=None):
    inputs, targets = (each and each.__add__([]) for each in (inputs, targets))
    return _RUN_STAGE(order, module, inputs, targets, loss, received, group)


def run_stage__takes_tuples_only(order, module, inputs=None, targets=None, loss=None, received=None, group=None):
    inputs, targets = (each and each.__add__(()) for each in (inputs, targets))
    return _RUN_STAGE(order, module, inputs, targets, loss, received, group)


# Two sentences that are not about this traffic

_TWO_SENTENCES = copied(predictions.traffic_in_two_sentences)


def traffic_in_two_sentences__lists_all_words(program):
    return """All-reduce, all-gather, reduce-scatter, send and receive parameters, gradients and activations. Forward and backward
        have bytes that grow with parameters and batch."""


def traffic_in_two_sentences__lists_the_collectives_of_all_patterns(program):
    _, second = _TWO_SENTENCES(program).split(". ")
    return f"All-reduce, all-gather and reduce-scatter send parameters, gradients and activations. {second}"


def traffic_in_two_sentences__names_all_tensors(program):
    tensors = "parameters, gradients and activations"
    return _text_with(program, activations=tensors, gradients=tensors)


def _text_with(program, **words):
    text = _TWO_SENTENCES(program)
    for old, new in words.items():
        text = text.replace(old, new)
    return text


def traffic_in_two_sentences__swaps_data_and_tensor_parallel(program):
    return _TWO_SENTENCES({"ddp": "tp", "tp": "ddp"}.get(program, program))


def traffic_in_two_sentences__swaps_sharding_and_pipelines(program):
    return _TWO_SENTENCES({"fsdp": "pp", "pp": "fsdp"}.get(program, program))


def traffic_in_two_sentences__has_data_parallel_send_parameters(program):
    if program == "ddp":
        return "Every rank all-reduces parameters and gradients. In backward the bytes of all parameters are sent."
    return _TWO_SENTENCES(program)


def traffic_in_two_sentences__forgets_the_gradients_of_activations(program):
    if program == "tp":
        return "The ranks all-reduce their activations. In forward these are bytes that grow with the batch."
    return _TWO_SENTENCES(program)


def traffic_in_two_sentences__forgets_the_reduce_scatter(program):
    if program == "fsdp":
        return "Every rank all-gathers the parameters. Forward and backward both need the bytes of all parameters."
    return _TWO_SENTENCES(program)


def traffic_in_two_sentences__sends_and_receives_nothing(program):
    if program == "pp":
        return "Each rank has its own layers, and the model is a pipeline. In forward and backward the bytes grow with the batch."
    return _TWO_SENTENCES(program)


def traffic_in_two_sentences__says_nothing_of_traffic_in_the_second(program):
    first, _ = _TWO_SENTENCES(program).split(". ")
    return f"{first}. This is why large models can be trained on many devices."


def traffic_in_two_sentences__in_one_sentence(program):
    return _TWO_SENTENCES(program).replace(". ", ", and ")


def traffic_in_two_sentences__in_three_sentences(program):
    return _TWO_SENTENCES(program) + " That is all of the traffic."


def traffic_in_two_sentences__in_too_many_words(program):
    return _TWO_SENTENCES(program)[:-1] + " and so on" * 12 + "."


def traffic_in_two_sentences__in_keywords(program):
    return {
        "ddp": "All-reduce gradients. Backward, bytes, parameters.",
        "fsdp": "All-gather parameters, reduce-scatter gradients. Forward, backward, bytes, parameters.",
        "tp": "All-reduce activations, gradients. Forward, backward, bytes, batch.",
        "pp": "Send, receive activations, gradients. Forward, backward, bytes, batch.",
    }[program]


def traffic_in_two_sentences__does_not_know_pipelines(program):
    return {name: _TWO_SENTENCES(name) for name in ("ddp", "fsdp", "tp")}.get(program, "")


def traffic_in_two_sentences__denies_what_is_not_sent(program):
    first, second = _TWO_SENTENCES(program).split(". ")
    return f"{first}, and never an all-to-all. {second}"


def traffic_in_two_sentences__has_no_bytes(program):
    return _TWO_SENTENCES(program).replace("bytes", "costs")


layer_costs__knows_its_name_in_a_text = edited(cost.layer_costs, ('strategy == "tp"', 'strategy in "tp"'))
layer_costs__rounds_a_shard_down = edited(cost.layer_costs, ("nbytes / per_node", "nbytes // per_node"))


# What each hint is for


step_time__gathers_once_without_overlap = edited(cost.step_time, ("2 * gather", "gather"))
step_time__hides_all_reductions_but_the_last = edited(
    cost.step_time,
    ("    wire = begun", "    if not gather:\n        return layers * (forward + backward) + reduce\n    wire = begun"),
)


def traffic_in_two_sentences__grows_with_the_other(program):
    first, second = _TWO_SENTENCES(program).split(". ")
    return f"{first}. {second.replace('parameters', 'batch') if 'parameters' in second else second.replace('batch', 'parameters')}"


# Sentences that are easily passed over


layer_costs__in_any_case = edited(cost.layer_costs, ('strategy == "ddp"', 'strategy.lower() == "ddp"'))
layer_costs__by_how_its_name_begins = edited(cost.layer_costs, ('strategy == "tp"', 'strategy.startswith("tp")'))


# Cases

_breaks = copied(breaks.breaks_mesh_groups)


def breaks_mesh_groups__that_are_usual():
    return [{"sizes": [2, 4], "ranks": [*range(8)], "dim": dim} for dim in (1, 0)]


def breaks_mesh_groups__in_ascending_order():
    return [case | {"ranks": sorted(case["ranks"])} for case in _breaks()]


def breaks_mesh_groups__of_dimensions_from_the_front():
    return [case | {"dim": max(case["dim"], 0)} for case in _breaks()]


def breaks_mesh_groups__of_two_dimensions():
    return [case | {"sizes": [case["sizes"][0], len(case["ranks"]) // case["sizes"][0]]} for case in _breaks()]


def breaks_mesh_groups__of_dimensions_that_exist():
    return [case | {"dim": case["dim"] % len(case["sizes"])} for case in _breaks()]


def breaks_mesh_groups__without_dimensions_of_size_1():
    return [case for case in _breaks() if 1 not in case["sizes"]]


def breaks_mesh_groups__with_ranks_from_1():
    return [case | {"ranks": [rank + 1 for rank in case["ranks"]]} for case in _breaks()]


def breaks_mesh_groups__with_rows_as_lists():
    return [case | {"ranks": [[rank] for rank in case["ranks"]]} for case in _breaks()]
