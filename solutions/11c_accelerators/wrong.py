"""Wrong answers to lab 11c that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import math
from math import prod

from rushlight import cuda
from rushlight.autograd import input_buffer
from rushlight.cuda import _sanitizer, graphs, overlap, waves
from rushlight.cuda.graphs import Node
from rushlight.cuda.memory import empty, launch
from rushlight.cuda.simulator import schedule
from rushlight.cuda.waves import Waves
from rushlight.inductor import cudagraph_utils

from ..shared import edited


def schedule__free_launch(device, stream, duration, engine=None):
    """The launch takes the host no time."""
    start = max(device.now, device.ready.get(stream, 0.0), device.engines.get(engine, 0.0))
    device.ready[stream] = start + duration
    if engine is not None:
        device.engines[engine] = start + duration
    return start, start + duration


def schedule__launch_on_the_device(device, stream, duration, engine=None):
    """The overhead is added after the wait for the stream."""
    start = max(device.now, device.ready.get(stream, 0.0), device.engines.get(engine, 0.0)) + device.launch_overhead
    device.now += device.launch_overhead
    device.ready[stream] = start + duration
    if engine is not None:
        device.engines[engine] = start + duration
    return start, start + duration


schedule__host_waits = edited(
    schedule,
    ("end = start + duration\n    device.ready[stream] = end", "device.now = device.ready[stream] = start + duration"),
    ("device.engines[engine] = end", "device.engines[engine] = start + duration"),
    ("return start, end", "return start, start + duration"),
)


def schedule__an_engine_for_each_stream(device, stream, duration, engine=None):
    device.now += device.launch_overhead
    start = max(device.now, device.ready.get(stream, 0.0), device.engines.get((engine, stream), 0.0))
    device.ready[stream] = start + duration
    if engine is not None:
        device.engines[engine, stream] = start + duration
    return start, start + duration


def schedule__kernels_share_an_engine(device, stream, duration, engine=None):
    device.now += device.launch_overhead
    start = max(device.now, device.ready.get(stream, 0.0), device.engines.get(engine, 0.0))
    device.ready[stream] = device.engines[engine] = start + duration
    return start, start + duration


def host_times__everything_waits(program):
    return {
        "example": 210,
        "a number each time": 75,
        "a number at the end": 75,
        "one waits for another": 205,
        "from pinned memory": 255,
    }.get(program, 205)


def host_times__only_synchronize_waits(program):
    return {"wait for all": 205, "two streams": 110, "a number each time": 30, "an event": 10}.get(program, 15)


def host_times__streams_in_turn(program):
    """The host waits for both streams, and two streams work one after the other."""
    known = {"example": 10, "wait for all": 205, "a number each time": 75, "a number at the end": 65, "an event": 105}
    known |= {"a question": 10, "one waits for another": 205, "two streams": 205, "from pinned memory": 15}
    return (known | {"from pageable memory": 35, "to pageable memory": 165})[program]


update_clocks__event_is_the_stream = edited(
    _sanitizer.update_clocks, ("dict(clocks.of(names[1]))", "clocks.of(names[1])")
)
update_clocks__record_merges = edited(
    _sanitizer.update_clocks,
    (
        "clocks.events[names[0]] = dict(clocks.of(names[1]))",
        "merge(clocks.events.setdefault(names[0], {}), clocks.of(names[1]))",
    ),
)
update_clocks__new_streams_wait_for_nothing = edited(
    _sanitizer.update_clocks, ("(clocks.host, *clocks.streams.values())", "clocks.streams.values()")
)
update_clocks__only_the_host_waits = edited(
    _sanitizer.update_clocks, ("(clocks.host, *clocks.streams.values())", "(clocks.host,)")
)


update_clocks__an_unrecorded_event_is_the_host = edited(
    _sanitizer.update_clocks,
    (
        "clocks.of(names[1]), clocks.events.get(names[0], {})",
        "clocks.of(names[1]), clocks.events.get(names[0], {1: 9})",
    ),
)


update_clocks__a_new_stream_begins_at_zero = edited(
    _sanitizer.update_clocks, ("dict(clocks.of(names[1]))", "dict(clocks.streams.setdefault(names[1], {}))")
)


# a write is compared with the last write too, and a read with reads
check_access__all_before = edited(
    _sanitizer.check_access,
    ("accesses.reads if writes and accesses.reads else [accesses.write] if accesses.write else []",
     "[*([accesses.write] if accesses.write else []), *accesses.reads]"),
)  # fmt: skip


check_access__only_the_last_read = edited(
    _sanitizer.check_access, ("before = accesses.reads if", "before = accesses.reads[-1:] if")
)
check_access__first_race = edited(_sanitizer.check_access, ("return races", "return races[:1]"))


check_access__racing_kernels_are_not_entered = edited(
    _sanitizer.check_access, ("    if writes:\n", "    if races:\n        return races\n    if writes:\n")
)


check_access__a_write_that_is_none = edited(_sanitizer.check_access, (" if accesses.write else []", ""))


check_access__reads_stay_after_a_write = edited(
    _sanitizer.check_access,
    ("accesses.write, accesses.reads = (number, stream), []", "accesses.write = (number, stream)"),
)


compute_in_chunks__one_stream = edited(
    overlap.compute_in_chunks, ("side = Stream()", "side = lanes[0][0] if lanes else Stream()")
)
compute_in_chunks__blocking_copies = edited(
    overlap.compute_in_chunks, ("result.copy_(buffer, non_blocking=True)", "result.copy_(buffer)")
)
compute_in_chunks__a_buffer_for_each_chunk = edited(
    overlap.compute_in_chunks, ("range(min(buffers, len(inputs)))", "range(len(inputs))")
)
compute_in_chunks__does_not_wait = edited(overlap.compute_in_chunks, ("    synchronize()\n", ""))


def compute_in_chunks__shared_buffer_without_a_wait(inputs, outputs, compute, duration, buffers=2):
    kept = [empty(inputs[0].data.shape, inputs[0].data.dtype) for _ in range(min(buffers, len(inputs)))]
    for i, given in enumerate(inputs):
        with cuda.stream(cuda.Stream()):
            kept[i % len(kept)].copy_(given, non_blocking=True)
            launch("kernel", duration, compute, [kept[i % len(kept)]], kept[i % len(kept)])
            outputs[i].copy_(kept[i % len(kept)], non_blocking=True)
    cuda.synchronize()


def compute_in_chunks__all_copies_first(inputs, outputs, compute, duration, buffers=2):
    """The work of one buffer is right, but a later copy waits behind it in the order of queueing."""
    lanes = [
        (cuda.Stream(), empty(inputs[0].data.shape, inputs[0].data.dtype)) for _ in range(min(buffers, len(inputs)))
    ]
    for begin in range(0, len(inputs), len(lanes)):
        part = [*zip(lanes, inputs[begin : begin + len(lanes)], outputs[begin : begin + len(lanes)])]
        for (side, buffer), given, _ in part:
            with cuda.stream(side):
                buffer.copy_(given, non_blocking=True)
        for (side, buffer), _, result in part:
            with cuda.stream(side):
                launch("kernel", duration, compute, [buffer], buffer)
                result.copy_(buffer, non_blocking=True)
    cuda.synchronize()


compute_in_chunks__out_of_the_first_buffer = edited(
    overlap.compute_in_chunks, ("result.copy_(buffer", "result.copy_(lanes[0][1]")
)


add_node__keeps_the_frontier = edited(graphs.add_node, ("= frozenset({", "|= frozenset({"))
# It depends on the last node of the graph.
add_node__the_last_node = edited(
    graphs.add_node, ("tuple(sorted(graph.frontiers[stream]))", "(len(graph.nodes) - 1,) if graph.nodes else ()")
)


def add_node__all_streams_go_on(graph, stream, work):
    graph.nodes.append(Node(work, stream, tuple(sorted(graph.frontiers[stream]))))
    graph.frontiers = dict.fromkeys(graph.frontiers, frozenset({len(graph.nodes) - 1}))


def joined__one_edge(nodes, frontier):
    return len({*frontier}.union(*(nodes[i].dependencies for i in frontier))) == len(nodes)


def joined__last_node(nodes, frontier):
    return not nodes or len(nodes) - 1 in frontier


replay_times__a_launch_for_each_node = edited(
    graphs.replay_times,
    ("    for node in nodes:\n", "    for node in nodes:\n        device.now += device.launch_overhead\n"),
)


def replay_times__one_after_the_other(device, stream, nodes):
    """The nodes are a queue."""
    device.now += device.launch_overhead
    at, times = max(device.now, device.ready.get(stream, 0.0)), []
    for node in nodes:
        at = max(at, device.engines.get(node.work.engine, 0.0))
        times.append((at, at + node.work.duration))
        at = times[-1][1]
        if node.work.engine is not None:
            device.engines[node.work.engine] = at
    device.ready[stream] = at
    return times


replay_times__ready_after_the_last_node = edited(
    graphs.replay_times, ("max([begin, *(end for _, end in times)])", "times[-1][1] if times else begin")
)


def replay_times__captured_streams(device, stream, nodes):
    """Nodes of one captured stream are in order, and wait for this stream's earlier work."""
    device.now += device.launch_overhead
    begin, times = device.now, []
    for node in nodes:
        free = max(begin, device.ready.get(node.stream, 0.0))
        start = max([free, device.engines.get(node.work.engine, 0.0), *(times[i][1] for i in node.dependencies)])
        times.append((start, start + node.work.duration))
        device.ready[node.stream] = times[-1][1]
        if node.work.engine is not None:
            device.engines[node.work.engine] = times[-1][1]
    return times


replay_times__an_engine_is_free_at_once = edited(
    graphs.replay_times, ("device.engines[engine] = times[-1][1]", "device.engines[engine] = start")
)


def quantize__area(m, n, tile=(128, 128), multiprocessors=108, blocks_each=1):
    """As many tiles as the area of the result needs."""
    tiles = math.ceil(m * n / (tile[0] * tile[1]))
    waves = math.ceil(tiles / (multiprocessors * blocks_each))
    return Waves(tiles, waves, m * n / (tiles * prod(tile)), tiles / (waves * multiprocessors * blocks_each))


quantize__one_more = edited(waves.quantize, ("waves = -(-tiles // places)", "waves = tiles // places + 1"))
quantize__a_block_each = edited(waves.quantize, ("places = multiprocessors * blocks_each", "places = multiprocessors"))


quantize__elements_of_all_places = edited(waves.quantize, ("m * n / (tiles *", "m * n / (waves * places *"))


quantize__tiles_of_a_wave = edited(waves.quantize, ("tiles / (waves * places)", "tiles / places"))


backward_steps__waits_at_once = edited(
    input_buffer.backward_steps,
    ("            steps.append((\"add\", consumer))\n            event = None\n        waiting[edge] = event",
     "            steps.append((\"add\", consumer))\n"
     "        elif event is not None:\n            steps.append((\"wait\", event, consumer))\n        waiting[edge] = None"),
)  # fmt: skip


backward_steps__adds_where_the_gradient_is_made = edited(
    input_buffer.backward_steps, ('steps.append(("add", consumer))', 'steps.append(("add", producer))')
)
backward_steps__the_old_event_first = edited(
    input_buffer.backward_steps, ("(event, waiting[edge]) if awaited", "(waiting[edge], event) if awaited")
)
backward_steps__the_sum_has_the_last_event = edited(input_buffer.backward_steps, ("            event = None\n", ""))


backward_steps__sorts_inputs_as_texts = edited(
    input_buffer.backward_steps, ("sorted(waiting)", "sorted(waiting, key=str)")
)
backward_steps__an_event_for_each_edge = edited(
    input_buffer.backward_steps, ("record(producer) if producer != consumer else None", "record(producer)")
)
backward_steps__one_event_for_a_node = edited(
    input_buffer.backward_steps,
    ("        for edge in node.edges:\n            send(edge, node.stream)",
     "        for edge in dict.fromkeys(node.edges):\n            send(edge, node.stream)"),
)  # fmt: skip


backward_steps__the_caller_waits_for_all = edited(
    input_buffer.backward_steps, (" for node in nodes if not node.edges}", " for node in nodes}")
)
backward_steps__nobody_waits_at_the_end = edited(
    input_buffer.backward_steps, ("sorted({node.stream", "sorted(set() & {node.stream")
)
backward_steps__gradients_are_there_already = edited(
    input_buffer.backward_steps,
    ("    for edge in roots:\n        send(edge, caller)", "    for edge in roots:\n        waiting[edge] = None"),
)
why_no_graph__forbidden_operators_before_masks = edited(
    cudagraph_utils.why_no_graph,
    (
        "    for node in nodes:\n        masked",
        "    for node in sorted(nodes, key=lambda node: node.target not in FORBIDDEN_CUDAGRAPH_OPS):\n        masked",
    ),
)
why_no_graph__devices_first = edited(
    cudagraph_utils.why_no_graph,
    ("        if node.target in FORBIDDEN_CUDAGRAPH_OPS or masked:",
     "        if node.device == \"cpu\" and (node.target != \"placeholder\" or node.name in used):\n"
     "            return f\"cpu device ({node.name})\"\n"
     "        if node.target in FORBIDDEN_CUDAGRAPH_OPS or masked:"),
)  # fmt: skip


why_no_graph__unused_inputs_count = edited(cudagraph_utils.why_no_graph, (" and node.name not in unused", ""))
why_no_graph__the_output_is_no_use = edited(
    cudagraph_utils.why_no_graph,
    (
        "for node in nodes for name in node.inputs}",
        'for node in nodes if node.target != "output" for name in node.inputs}',
    ),
)
why_no_graph__only_index_put = edited(
    cudagraph_utils.why_no_graph, ("node.target in INDEX_PUT_OPS", 'node.target == "aten.index_put.default"')
)
why_no_graph__only_one_observer = edited(
    cudagraph_utils.why_no_graph,
    ("node.target in FORBIDDEN_CUDAGRAPH_OPS", "node.target.endswith('_obs_fq_helper.default')"),
)
why_no_graph__any_mask = edited(cudagraph_utils.why_no_graph, ("node.inputs[1:-1]", "node.inputs"))


why_no_graph__one_index = edited(cudagraph_utils.why_no_graph, ("node.inputs[1:-1]", "node.inputs[1:2]"))
why_no_graph__sorted_devices = edited(
    cudagraph_utils.why_no_graph,
    ("dict.fromkeys(node.device for node in counted)", "sorted({node.device for node in counted})"),
)
why_no_graph__writes_are_counted = edited(
    cudagraph_utils.why_no_graph,
    ("written = {node.inputs[0] for", "written = [node.inputs[0] for"),
    ('== "aten.copy_.default"}', '== "aten.copy_.default"]'),
    ("mutated = [name for i, name in enumerate(placeholders) if name in written and",
     "mutated = [name for i, name in enumerate(placeholders) for _ in range(written.count(name)) if"),
)  # fmt: skip


why_no_graph__numbers_of_nodes = edited(
    cudagraph_utils.why_no_graph,
    (
        'placeholders = [node.name for node in nodes if node.target == "placeholder"]',
        "placeholders = [node.name for node in nodes]",
    ),
)
why_no_graph__the_number_in_the_graph = edited(
    cudagraph_utils.why_no_graph,
    (
        "in enumerate(placeholders) if name in written",
        "in enumerate(dtypes) if name in placeholders and name in written",
    ),
)
