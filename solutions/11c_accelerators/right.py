"""Correct answers to lab 11c in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

import math

from rushlight import cuda
from rushlight.autograd import input_buffer
from rushlight.cuda import graphs
from rushlight.cuda._sanitizer import is_ordered_after, merge
from rushlight.cuda.graphs import Node
from rushlight.cuda.memory import empty, launch
from rushlight.cuda.waves import Waves
from rushlight.inductor.cudagraph_utils import FORBIDDEN_CUDAGRAPH_OPS, INDEX_PUT_OPS

from ..shared import edited


def schedule__longest_of_a_list(device, stream, duration, engine=None):
    device.now = launched = device.now + device.launch_overhead
    times = [launched]
    if stream in device.ready:
        times.append(device.ready[stream])
    if engine in ("HtoD", "DtoH") and engine in device.engines:
        times.append(device.engines[engine])
    times.sort()
    device.ready |= {stream: times[-1] + duration}
    if engine:
        device.engines |= {engine: times[-1] + duration}
    return [times[-1], times[-1] + duration]


def schedule__waits(device, stream, duration, engine=None):
    """How long the work waits after its launch."""
    device.now += device.launch_overhead
    waits = max(0.0, device.ready.setdefault(stream, 0.0) - device.now)
    if engine is not None:
        waits = max(waits, device.engines.setdefault(engine, 0.0) - device.now)
        device.engines[engine] = device.now + waits + duration
    device.ready[stream] = device.now + waits + duration
    return device.now + waits, device.ready[stream]


def host_times__sums(program):
    launch, copy, staging = 5, 40, 20
    return {
        "example": 2 * launch,
        "wait for all": launch + 100 + 100,
        "a number each time": 3 * (launch + 20),
        "a number at the end": launch + 3 * 20,
        "an event": launch + 100,
        "a question": 2 * launch,
        "one waits for another": launch + 100,
        "two streams": 2 * launch + 100,
        "from pinned memory": 3 * launch,
        "from pageable memory": 3 * launch + staging,
        "to pageable memory": launch + 100 + copy + staging,
    }[program]


def host_times__floats(program):
    names = ["example", "wait for all", "a number each time", "a number at the end", "an event", "a question"]
    names += [
        "one waits for another",
        "two streams",
        "from pinned memory",
        "from pageable memory",
        "to pageable memory",
    ]
    return dict(zip(names, [10.0, 205.0, 75.0, 65.0, 105.0, 10.0, 105.0, 110.0, 15.0, 35.0, 165.0], strict=True))[
        program
    ]


def update_clocks__match(clocks, step):
    match tuple(step):
        case ("record", event, stream):
            clocks.events[event] = {**clocks.of(stream)}
            return
        case ("wait", event, stream):
            if event in clocks.events:
                merge(clocks.of(stream), clocks.events[event])
            return
        case ("synchronize event", event):
            done = dict(clocks.events.get(event, {}))
        case ("synchronize stream", stream):
            done = dict(clocks.of(stream))
        case _:
            done = {}
            for clock in clocks.streams.values():
                merge(done, clock)
    merge(clocks.host, done)
    for clock in clocks.streams.values():
        merge(clock, clocks.host)


def update_clocks__new_dicts(clocks, step):
    """It replaces clocks, and changes none."""

    def later(*given):
        return {stream: max(each.get(stream, 0) for each in given) for stream in {s for each in given for s in each}}

    kind = step[0]
    if kind == "record":
        clocks.events[step[1]] = later(clocks.of(step[2]))
    elif kind == "wait":
        clocks.streams[step[2]] = later(clocks.of(step[2]), clocks.events.get(step[1], {}))
    else:
        if kind == "synchronize event":
            others = [clocks.events[step[1]]] if step[1] in clocks.events else []
        else:
            others = [clocks.of(step[1])] if kind == "synchronize stream" else list(clocks.streams.values())
        clocks.host = later(clocks.host, *others)
        clocks.streams = {stream: later(clock, clocks.host) for stream, clock in clocks.streams.items()}


def check_access__cases(accesses, clocks, number, stream, writes):
    found = []
    if not writes or not accesses.reads:
        if accesses.write is not None and not is_ordered_after(clocks, stream, accesses.write[0], accesses.write[1]):
            found.append(accesses.write)
    else:
        for earlier, other in accesses.reads:
            if not is_ordered_after(clocks, stream, earlier, other):
                found.append((earlier, other))
    if writes:
        accesses.reads.clear()
        accesses.write = [number, stream]
        return found
    accesses.reads = [*accesses.reads, [number, stream]]
    return found


def check_access__by_clock(accesses, clocks, number, stream, writes):
    """It looks into the clock itself."""
    clock = clocks.of(stream)
    last = [] if accesses.write is None else [accesses.write]
    candidates = (accesses.reads or last) if writes else last
    if writes:
        accesses.write = (number, stream)
        accesses.reads = []
    else:
        accesses.reads += [(number, stream)]
    return [(earlier, other) for earlier, other in candidates if clock.get(other, -1) < earlier and other != stream]


def compute_in_chunks__three_streams_for_a_buffer(inputs, outputs, compute, duration, buffers=2):
    """Streams for the copies too, and events between them."""
    device = [empty(inputs[0].data.shape, inputs[0].data.dtype) for _ in range(min(buffers, len(inputs)))]
    streams = [(cuda.Stream(), cuda.Stream(), cuda.Stream()) for _ in device]
    for i in range(len(inputs)):
        buffer, (first, middle, last) = device[i % len(device)], streams[i % len(device)]
        with cuda.stream(first):
            first.wait_stream(last)
            buffer.copy_(inputs[i], non_blocking=True)
        with cuda.stream(middle):
            middle.wait_stream(first)
            launch("compute", duration, compute, (buffer,), buffer)
        with cuda.stream(last):
            last.wait_event(middle.record_event())
            outputs[i].copy_(buffer, True)
    for each in streams:
        each[2].synchronize()


def compute_in_chunks__a_stream_for_a_chunk(inputs, outputs, compute, duration, buffers=2):
    kept, ends = [], []
    for i, given in enumerate(inputs):
        side = cuda.Stream()
        if i < buffers:
            kept.append(empty(given.data.shape, given.data.dtype))
        else:
            side.wait_event(ends[i - buffers])
        with cuda.stream(side):
            kept[i % buffers].copy_(given, non_blocking=True)
            launch("chunk", duration, compute, inputs=[kept[i % buffers]], out=kept[i % buffers])
            outputs[i].copy_(kept[i % buffers], non_blocking=True)
        ends.append(side.record_event())
    for event in ends:
        event.synchronize()


def add_node__number_first(graph, stream, work):
    number = len(graph.nodes)
    before = [i for i in range(number) if i in graph.frontiers[stream]]
    graph.nodes += [Node(work, stream, (*before,))]
    graph.frontiers = graph.frontiers | {stream: frozenset([number])}


def add_node__by_name(graph, stream, work):
    frontier = list(graph.frontiers.pop(stream))
    frontier.sort()
    graph.nodes.append(Node(work=work, stream=stream, dependencies=tuple(frontier)))
    graph.frontiers[stream] = frozenset(range(len(graph.nodes) - 1, len(graph.nodes)))


def joined__needed_by_another(nodes, frontier):
    """Each node is in the frontier, or another one depends on it."""
    needed = set(frontier)
    for node in nodes:
        needed |= {*node.dependencies}
    return needed == {*range(len(nodes))}


def joined__walk(nodes, frontier):
    left, seen = [*frontier], set()
    while left:
        i = left.pop()
        if i not in seen:
            seen.add(i)
            left += nodes[i].dependencies
    return all(i in seen for i in range(len(nodes)))


def replay_times__by_index(device, stream, nodes):
    device.now = device.now + device.launch_overhead
    begin = device.now if stream not in device.ready else max(device.now, device.ready[stream])
    starts, ends = [], []
    for node in nodes:
        start = begin
        for i in node.dependencies:
            start = ends[i] if ends[i] > start else start
        if node.work.engine:
            start = max(start, device.engines.get(node.work.engine, start))
            device.engines[node.work.engine] = start + node.work.duration
        starts.append(start)
        ends.append(start + node.work.duration)
    device.ready[stream] = max(ends, default=begin)
    return [*zip(starts, ends, strict=True)]


def replay_times__ready_unless_empty(device, stream, nodes):
    """A graph without nodes leaves the stream as it is."""
    device.now += device.launch_overhead
    begin, times = max(device.now, device.ready.get(stream, 0.0)), []
    for node in nodes:
        engine = node.work.engine
        start = max(begin, device.engines.get(engine, 0.0), *(times[i][1] for i in node.dependencies), 0.0)
        times.append((start, start + node.work.duration))
        if engine is not None:
            device.engines[engine] = times[-1][1]
    if times:
        device.ready[stream] = max(end for _, end in times)
    return times


def replay_times__relative(device, stream, nodes):
    """Times from the start of the graph."""
    device.now += device.launch_overhead
    begin = max(device.now, device.ready.get(stream, 0.0))
    free = {engine: time - begin for engine, time in device.engines.items()}
    found = []
    for node in nodes:
        causes = [0.0] + [found[i][1] for i in node.dependencies]
        causes += [free[node.work.engine]] if node.work.engine in free else []
        found.append([max(causes), max(causes) + node.work.duration])
        if node.work.engine is not None:
            free[node.work.engine] = found[-1][1]
            device.engines[node.work.engine] = begin + found[-1][1]
    device.ready[stream] = begin + max([0.0, *(end for _, end in found)])
    return [(begin + start, begin + end) for start, end in found]


def quantize__ceil(m, n, tile=(128, 128), multiprocessors=108, blocks_each=1):
    rows, columns = math.ceil(m / tile[0]), math.ceil(n / tile[1])
    waves = math.ceil(rows * columns / (multiprocessors * blocks_each))
    useful = (m * n) / (rows * tile[0] * columns * tile[1])
    return Waves(rows * columns, waves, useful, rows * columns / (waves * multiprocessors * blocks_each))


def quantize__count(m, n, tile=(128, 128), multiprocessors=108, blocks_each=1):
    tiles = len(range(0, m, tile[0])) * len(range(0, n, tile[1]))
    places = 0
    while places < tiles:
        places += multiprocessors * blocks_each
    waves = places // (multiprocessors * blocks_each)
    return Waves(
        tiles=tiles, waves=waves, tile_efficiency=m * n / (tiles * math.prod(tile)), wave_efficiency=tiles / places
    )


def backward_steps__a_table_of_inputs(nodes, roots, caller):
    steps, inputs = [], [{} for _ in nodes]  # for each node, by input: the event to wait for, or None

    def record(stream):
        steps.append(("record", sum(each[0] == "record" for each in steps), stream))
        return steps[-1][1]

    def arrive(to, at, made_on):
        own = nodes[to].stream
        new = None if own == made_on else record(made_on)
        if at not in inputs[to]:
            inputs[to][at] = new
            return
        for event in [new, inputs[to][at]]:
            if event is not None:
                steps.append(("wait", event, own))
        steps.append(("add", own))
        inputs[to][at] = None

    for to, at in roots:
        arrive(to, at, caller)
    for i in range(len(nodes)):
        for at in sorted(inputs[i]):
            if inputs[i][at] is not None:
                steps.append(("wait", inputs[i][at], nodes[i].stream))
        steps.append(("run", i))
        for to, at in nodes[i].edges:
            arrive(to, at, nodes[i].stream)
    leaves = {node.stream for node in nodes if len(node.edges) == 0}
    for leaf in sorted(leaves):
        if leaf != caller:
            event = record(leaf)
            steps.append(("wait", event, caller))
    return steps


def backward_steps__the_caller_as_a_node(nodes, roots, caller):
    out, filled, events = [], set(), {}
    runs = [(None, caller, roots)] + [(i, node.stream, node.edges) for i, node in enumerate(nodes)]
    number = 0
    for i, stream, edges in runs:
        if i is not None:
            for edge in sorted(edge for edge in events if edge[0] == i):
                out.append(("wait", events.pop(edge), stream))
            out.append(("run", i))
        for edge in map(tuple, edges):
            target, waits = nodes[edge[0]].stream, []
            if target != stream:
                out.append(("record", number, stream))
                waits, number = [number], number + 1
            if edge in filled:
                waits += [events.pop(edge)] if edge in events else []
                out += [("wait", event, target) for event in waits] + [("add", target)]
            elif waits:
                [events[edge]] = waits
            filled.add(edge)
    for stream in sorted({stream for i, stream, edges in runs[1:] if not edges}):
        if stream != caller:
            out += [("record", number, stream), ("wait", number, caller)]
            number += 1
    return out


def why_no_graph__one_pass(nodes, static_input_idxs=()):
    dtype, device, inputs, first_cpu, devices = {}, {}, [], None, []
    used = set().union(*(node.inputs for node in nodes))
    writes = set()
    for node in nodes:
        dtype[node.name], device[node.name] = node.dtype, node.device
        if node.target in FORBIDDEN_CUDAGRAPH_OPS:
            return f"incompatible op {node.target}"
        if node.target in INDEX_PUT_OPS:
            _, *indices, _ = node.inputs
            if {"bool", "uint8"} & {dtype[each] for each in indices}:
                return f"incompatible op {node.target}"
        if node.target == "placeholder":
            inputs.append(node.name)
            if node.name not in used:
                continue
        if node.target == "aten.copy_.default":
            writes.add(node.inputs[0])
        if node.device is not None and node.device not in devices:
            devices.append(node.device)
            first_cpu = node.name if node.device == "cpu" else first_cpu
    if first_cpu is not None:
        return f"cpu device ({first_cpu})"
    if len(devices) >= 2:
        return "multiple devices: " + ", ".join(devices)
    count = len({i for i, name in enumerate(inputs) if name in writes} - {*static_input_idxs})
    return None if count == 0 else f"mutated inputs ({count} instances)"


def why_no_graph__rule_by_rule(nodes, static_input_idxs=()):
    by_name = {node.name: node for node in nodes}

    def forbidden(node):
        if node.target not in INDEX_PUT_OPS:
            return node.target in FORBIDDEN_CUDAGRAPH_OPS
        return any(by_name[each].dtype in {"bool", "uint8"} for each in node.inputs[1 : len(node.inputs) - 1])

    def users(name):
        return [node for node in nodes if name in node.inputs]

    for node in filter(forbidden, nodes):
        return "incompatible op " + node.target
    placeholders = [node for node in nodes if node.target == "placeholder"]
    placed = [node for node in nodes if node.device is not None and (node not in placeholders or users(node.name))]
    for node in placed:
        if node.device == "cpu":
            return "cpu device (" + node.name + ")"
    order = sorted({node.device for node in placed}, key=[node.device for node in placed].index)
    if order[1:]:
        return "multiple devices: " + ", ".join(order)
    mutated = 0
    for i, node in enumerate(placeholders):
        written = any(user.target == "aten.copy_.default" and user.inputs[0] == node.name for user in users(node.name))
        mutated += written and i not in static_input_idxs
    if mutated:
        return f"mutated inputs ({mutated} instances)"


replay_times__in_a_tuple = edited(graphs.replay_times, ("return times", "return tuple(times)"))
backward_steps__lists_in_a_tuple = edited(input_buffer.backward_steps, ("return steps", "return (*map(list, steps),)"))
