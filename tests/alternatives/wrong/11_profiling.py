"""Wrong answers to lab 11 that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import math
from math import prod
from statistics import fmean, median, pstdev

from answers import edited

from rushlight import cuda
from rushlight.amp.grad_scaler import unscale_grads, update_scale
from rushlight.aten.generated import functions
from rushlight.autograd import input_buffer
from rushlight.autograd.profiler_util import average_events, device_times, find_parents
from rushlight.c10.cuda.caching_allocator import (
    MIN_BLOCK_SIZE,
    SMALL_SIZE,
    Block,
    alloc_found_block,
    find_free_block,
    malloc,
    round_size,
    try_merge_blocks,
)
from rushlight.cuda import _sanitizer, graphs, overlap, waves
from rushlight.cuda.graphs import Node
from rushlight.cuda.memory import empty, launch
from rushlight.cuda.waves import Waves
from rushlight.inductor import cudagraph_utils
from rushlight.profiler._memory_profiler import CATEGORIES, coalesce_timeline, propagate_categories
from rushlight.profiler._utils import critical_path, queue_depths
from rushlight.profiler.profiler import schedule_action
from rushlight.utils.benchmark.utils.common import MAX_SIGNIFICANT_FIGURES, MIN_CONFIDENCE_INTERVAL, significant_figures
from rushlight.utils.checkpoint import CONSUMED, RECOMPUTE, call_again, load_result
from rushlight.utils.data.timeline import batch_times
from rushlight.utils.flop_counter import operator_flops

# Profiles


def find_parents__shortest_around(events):
    """The shortest event around it, also if another one overlaps in part, and an equal one."""
    found = []
    for i, (thread, start, end) in enumerate(events):
        around = [
            j for j, each in enumerate(events) if j != i and each[0] == thread and each[1] <= start and end <= each[2]
        ]
        found.append(min(around, key=lambda j: events[j][2] - events[j][1], default=None))
    return found


def find_parents__open_brackets(events):
    """It never removes an event that overlaps in part."""
    parents, stacks = [None] * len(events), {}
    for i in sorted(range(len(events)), key=lambda i: (events[i][1], -events[i][2])):
        thread, start, end = events[i]
        stack = stacks.setdefault(thread, [])
        while stack and start >= events[stack[-1]][2]:
            stack.pop()
        parents[i] = stack[-1] if stack else None
        stack.append(i)
    return parents


device_times__ranges_on_the_device = edited(  # a block's range on the stream is no work
    device_times, ('("kernel", "gpu_memcpy", "gpu_memset")', '("kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation")'),
    ('event["cat"] == "cpu_op"', 'event["cat"] in ("cpu_op", "user_annotation")'),
)  # fmt: skip
device_times__waiting_is_work = edited(
    device_times, ('("kernel", "gpu_memcpy", "gpu_memset")', '("kernel", "gpu_memcpy", "gpu_memset", "cuda_sync")')
)
device_times__calls_have_it_too = edited(  # a call of the runtime has the number of its operator
    device_times,
    ('event["args"]["External id"]] if event["cat"] == "cpu_op" else 0', 'event["args"].get("External id", -1)]'),
)
device_times__by_correlation = edited(
    device_times, ('event["args"].get("External id")', 'event["args"]["correlation"]')
)  # the numbers of launches are others
device_times__only_kernels = edited(device_times, ('("kernel", "gpu_memcpy", "gpu_memset")', '("kernel",)'))
device_times__no_calls = edited(  # a call is a child too, and then no other event is alone
    device_times, ('("cpu_op", "user_annotation", "cuda_runtime", "cuda_driver")', '("cpu_op", "user_annotation")')
)
device_times__all_in_one_thread = edited(device_times, ('(event["tid"], ', "(0, "))


def device_times__by_time(events):
    """Work belongs to the operator that runs when the work begins: but it runs later."""
    timed = [event for event in events if event["ph"] == "X"]
    rows = {
        event["name"]: [0, 0]
        for event in timed
        if event["cat"] in ("cpu_op", "user_annotation", "cuda_runtime", "cuda_driver")
    }
    for event in timed:
        if event["cat"] in ("kernel", "gpu_memcpy", "gpu_memset"):
            around = [
                each
                for each in timed
                if each["cat"] in ("cpu_op", "user_annotation") and each["ts"] <= event["ts"] < each["ts"] + each["dur"]
            ]
            for i, each in enumerate(sorted(around, key=lambda each: each["dur"])):
                rows[each["name"]][1] += event["dur"]
                rows[each["name"]][0] += 0 if i else event["dur"]
    return rows


def device_times__keeps_all(events):
    """No event is removed: an operator that calls itself counts twice."""
    timed = [event for event in events if event["ph"] == "X"]
    host = [event for event in timed if event["cat"] in ("cpu_op", "user_annotation", "cuda_runtime", "cuda_driver")]
    parents = find_parents([(event["tid"], event["ts"], event["ts"] + event["dur"]) for event in host])
    at = {event["args"]["External id"]: i for i, event in enumerate(host) if event["cat"] == "cpu_op"}
    rows = {event["name"]: [0, 0] for event in host}
    for event in timed:
        i = at.get(event["args"].get("External id")) if event["cat"] in ("kernel", "gpu_memcpy", "gpu_memset") else None
        if i is not None:
            rows[host[i]["name"]][0] += event["dur"]
        while i is not None:
            rows[host[i]["name"]][1] += event["dur"]
            i = parents[i]
    return rows


def average_events__keeps_all(events, group_by_input_shapes=False):
    rows = {}
    for i, (name, shapes, time, _) in enumerate(events):
        row = rows.setdefault((name, str(shapes)) if group_by_input_shapes else (name,), [0, 0, 0])
        row[0] += 1
        row[1] += time - sum(each[2] for each in events if each[3] == i)
        row[2] += time
    return rows


def average_events__every_recursion(events, group_by_input_shapes=False):
    """An event within another one of its name is removed, also if it is not alone."""
    rows = {}
    for i, (name, shapes, time, parent) in enumerate(events):
        if parent is not None and events[parent][0] == name:
            continue
        row = rows.setdefault((name, str(shapes)) if group_by_input_shapes else (name,), [0, 0, 0])
        row[0] += 1
        row[1] += time - sum(each[2] for each in events if each[3] == i)
        row[2] += time
    return rows


average_events__never_negative = edited(
    average_events,
    ("time - sum(events[child][2] for child in inside)", "max(time - sum(events[child][2] for child in inside), 0)"),
)


def recorded_operators__always_copies(program):
    known = {
        "same type": ["to", "_to_copy"],
        "contiguous": ["contiguous"],
        "rows": ["reshape", "clone", "_unsafe_view"],
    }
    return known.get(program, ["matmul", "mm"])


def recorded_operators__only_kernels(program):
    return {"linear": ["addmm"], "no bias": ["mm"], "product": ["mm"], "batch": ["mm"], "number": ["sum"]}.get(
        program, []
    )


schedule_action__saves_each = edited(
    schedule_action,
    ("RECORD if position < wait + warmup + active - 1 else ProfilerAction.RECORD_AND_SAVE", "RECORD_AND_SAVE"),
)
# the first steps are left out of each cycle
schedule_action__skips_again = edited(
    schedule_action,
    ("- skip_first\n", "\n"),
    (
        "divmod(step, wait + warmup + active)",
        "divmod(step, skip_first + wait + warmup + active)\n    position -= skip_first",
    ),
)
# no cycle waits, not only the first
schedule_action__never_waits = edited(
    schedule_action,
    ("    cycle,", "    step, wait = (step - wait, 0) if skip_first_wait else (step, wait)\n    cycle,"),
)


def queue_depths__launches_less_kernels(events):
    """A launch counts even if its kernel is missing."""
    ordered = sorted(events, key=lambda each: (each[1], each[0] == "kernel"))
    found = []
    for _, start, duration, _ in ordered:
        launches = sum(each[0] == "launch" and each[1] <= start for each in events)
        begun = sum(each[0] == "kernel" and each[1] <= start for each in events)
        found.append((start, start + duration, max(launches - begun, 0)))
    return found


# at the end of a launch, not at its start
queue_depths__after_the_launch = edited(
    queue_depths, ("bisect_right(starts, start)", "bisect_right(starts, start + duration * (kind == 'launch'))")
)


def queue_depths__running(events):
    """A kernel counts until it has ended."""
    ordered = sorted(events, key=lambda each: (each[1], each[0] == "kernel"))
    kernels = sorted((each for each in events if each[0] == "kernel"), key=lambda each: each[1])
    number = {each[3]: i for i, each in enumerate(kernels)}
    launched, found = -1, []
    for kind, start, duration, correlation in ordered:
        if kind == "launch":
            launched = number.get(correlation, launched)
        ended = sum(each[1] + each[2] <= start for each in kernels)
        found.append((start, start + duration, max(launched - ended + 1, 0)))
    return found


# it follows the longest predecessor, not the one that ended last
critical_path__longest_kernels = edited(
    critical_path,
    ("before.append(latest if", "before.append(max(needed, key=lambda j: kernels[j][2]) if"),
)
# the times of the launches do not matter
critical_path__without_launches = edited(
    critical_path, (" and ends[latest] >= launched", ""), ("else launched)", "else 0)")
)


operator_flops__every_product = edited(
    operator_flops, ('name in ("mm", "addmm", "bmm", "baddbmm")', 'name.endswith("mm")')
)
operator_flops__every_attention = edited(
    operator_flops, ('name == "_scaled_dot_product_flash_attention"', '"attention" in name')
)
operator_flops__every_convolution = edited(operator_flops, ('name == "convolution"', 'name.endswith("convolution")'))
operator_flops__shapes_of_the_result = edited(
    operator_flops, ("return 2 * prod(inputs[0]) * inputs[1][-1]", "return 2 * prod(outputs[0]) * inputs[0][-1]")
)
operator_flops__only_tuples = edited(
    operator_flops,
    ("        inputs = inputs[1:]", "        inputs = inputs[1:]\n    inputs = [() + shape for shape in inputs]"),
)
operator_flops__no_gradient_by_default = edited(operator_flops, ("(True, True, True)", "(False, False, False)"))
operator_flops__two_dimensions = edited(operator_flops, ("prod(positions)", "prod(positions[:2])"))
operator_flops__an_empty_batch = edited(operator_flops, ("2 * inputs[0][0] *", "2 * max(inputs[0][0], 1) *"))
operator_flops__no_keys = edited(operator_flops, ("* s * t *", "* s * max(t, 1) *"))


def operator_flops__one_each(name, inputs, outputs, transposed=False, output_mask=(True, True, True)):
    """A multiplication and its addition are one."""
    if name in ("addmm", "baddbmm"):
        inputs = inputs[1:]
    return prod(inputs[0]) * inputs[1][-1] if name.endswith("mm") else 0


def operator_flops__bias_counts(name, inputs, outputs, transposed=False, output_mask=(True, True, True)):
    """It counts the added tensor, and all gradients of a convolution."""
    if name in ("addmm", "baddbmm"):
        return (2 * inputs[1][-1] + 1) * prod(inputs[1][:-1]) * inputs[2][-1]
    if name in ("mm", "bmm"):
        return 2 * prod(inputs[0]) * inputs[1][-1]
    if name == "convolution":
        return 2 * inputs[0][0] * prod(outputs[0][2:]) * prod(inputs[1])
    if name == "convolution_backward":
        return sum(output_mask) * 2 * inputs[1][0] * prod(inputs[0][2:]) * prod(inputs[2])
    return 0


def significant_figures__all_times(times):
    """The deviation of all times."""
    interval = max(1.645 * pstdev(times) / math.sqrt(len(times)), MIN_CONFIDENCE_INTERVAL)
    return min(max(math.floor(math.log10(median(times) / interval)), 1), MAX_SIGNIFICANT_FIGURES)


def significant_figures__median_of_the_middle(times):
    ordered = sorted(times)
    middle = ordered[len(times) // 4 : math.ceil(3 * len(times) / 4)]
    interval = max(1.645 * pstdev(middle) / math.sqrt(len(middle)), MIN_CONFIDENCE_INTERVAL)
    return min(max(math.floor(math.log10(fmean(middle) / interval)), 1), MAX_SIGNIFICANT_FIGURES)


significant_figures__lower_median = edited(
    significant_figures, ("median(times)", "sorted(times)[(len(times) - 1) // 2]")
)
significant_figures__upper_median = edited(significant_figures, ("median(times)", "sorted(times)[len(times) // 2]"))
# 25 ns only if all times are equal
significant_figures__equal_times = edited(
    significant_figures, ("max(1.645", "(1.645"), (", MIN_CONFIDENCE_INTERVAL)", " or MIN_CONFIDENCE_INTERVAL)")
)
significant_figures__clock_besides = edited(
    significant_figures, ("max(1.645", "(1.645"), (", MIN_CONFIDENCE_INTERVAL)", " + MIN_CONFIDENCE_INTERVAL)")
)
significant_figures__around_the_median = edited(
    significant_figures, ("pstdev(middle)", "pstdev(middle, median(times))")
)


# Blocks


def round_size__next_power_of_two(size, divisions=0):
    """With divisions, it rounds up to a power of 2."""
    if divisions > 1 and size > MIN_BLOCK_SIZE * divisions:
        return 1 << (size - 1).bit_length()
    return -(-size // MIN_BLOCK_SIZE) * MIN_BLOCK_SIZE


# a multiple becomes the next one
round_size__always_one_more = edited(round_size, ("-(-size // step)", "(size // step + 1)"))
round_size__parts_of_less_than_a_block = edited(round_size, ("MIN_BLOCK_SIZE * divisions", "2 * MIN_BLOCK_SIZE"))


def find_free_block__first_fit(pool, size, stream, settings):
    for block in pool.blocks:
        if block.stream == stream and block.size >= size:
            if size < settings.max_split_size <= block.size:
                return None
            if size >= settings.max_split_size and block.size >= size + settings.max_non_split_rounding:
                return None
            return block
    return None


find_free_block__any_stream = edited(find_free_block, ("block.stream == stream and ", ""))
find_free_block__limit_as_int = edited(
    find_free_block, ("    fitting", "    int(settings.max_split_size)\n    fitting")
)
find_free_block__a_copy = edited(
    find_free_block, ("return best", "return Block(best.stream, best.size, best.ptr, pool)")
)
find_free_block__takes_it = edited(
    find_free_block, ("    return best\n", "    best.allocated = True\n    return best\n")
)
find_free_block__counts_calls = edited(
    find_free_block, ("    fitting", "    pool.get_free_blocks_call_count += 1\n    fitting")
)


def alloc_found_block__remainder_in_front(block, size, requested_size, settings):
    """The tensor gets the last bytes of the block."""
    remaining = block.size - size
    small = block.pool.is_small or settings.expandable_segments
    if remaining >= MIN_BLOCK_SIZE if small else size < settings.max_split_size and remaining > SMALL_SIZE:
        taken = Block(
            block.stream, size, block.ptr + remaining, block.pool, prev=block, next=block.next, segment=block.segment
        )
        if block.next is not None:
            block.next.prev = taken
        block.next, block.size = taken, remaining
        block.pool.insert(block)
        block = taken
    block.allocated, block.requested_size = True, requested_size
    return block


alloc_found_block__one_way = edited(alloc_found_block, ("before.next = block", "pass"))
alloc_found_block__small_by_size = edited(alloc_found_block, ("block.pool.is_small", "size <= SMALL_SIZE"))
alloc_found_block__small_by_segment = edited(alloc_found_block, ("block.pool.is_small", "block.size <= SMALL_BUFFER"))
alloc_found_block__names_the_rest_too = edited(
    alloc_found_block, ("rest.size = remaining", "rest.size, rest.requested_size = remaining, requested_size")
)
alloc_found_block__shared_streams = edited(
    alloc_found_block, ("segment=rest.segment)", "segment=rest.segment, stream_uses=rest.stream_uses)")
)

# a block that waits for another stream is merged, if it is in a list
try_merge_blocks__only_allocated_ones_stay = edited(
    try_merge_blocks,
    ("not src.is_free()", "src.allocated"),
    ("    (pool.blocks", "    if src in pool.blocks + pool.unmapped:\n        (pool.blocks"),
)

try_merge_blocks__keeps_the_address = edited(try_merge_blocks, ("        dst.ptr = src.ptr\n", ""))
try_merge_blocks__maps = edited(
    try_merge_blocks, ("dst.size += src.size", "dst.size, dst.mapped = dst.size + src.size, True")
)
try_merge_blocks__adds_the_requests = edited(
    try_merge_blocks, ("    return src.size", "    dst.requested_size += src.requested_size\n    return src.size")
)


_OVERSIZE = """\
    if block is None and allocator.release_available_cached_blocks(pool, rounded, stream):
        block = allocator.alloc_block(pool, rounded, stream)
"""
_ERROR = "raise allocator.out_of_memory(rounded, stream)"

malloc__empties_the_cache_first = edited(malloc, (_OVERSIZE, ""))

malloc__asks_for_the_segment = edited(
    malloc, ("alloc_block(pool, rounded", "alloc_block(pool, -(-rounded // SMALL_BUFFER) * SMALL_BUFFER")
)
malloc__rounds_to_512 = edited(malloc, ("settings.divisions(size)", "0"))
malloc__one_number_of_divisions = edited(malloc, ("settings.divisions(size)", "settings.roundup_power2_divisions"))
malloc__divisions_of_the_rounded = edited(malloc, ("divisions(size)", "divisions(round_size(size))"))
malloc__no_memory_is_no_limit = edited(malloc, ("allocator.allowed is not None", "allocator.allowed"))
malloc__usual_settings = edited(malloc, ("rounded, size, settings", "rounded, size, Settings()"))
malloc__an_error_of_its_own = edited(
    malloc, (_ERROR, "raise OutOfMemoryError(str(allocator.out_of_memory(rounded, stream)))")
)
malloc__any_error = edited(malloc, (_ERROR, "allocator.out_of_memory(rounded, stream)\n        raise RuntimeError"))


def reserved_mebibytes__what_the_tensors_need(program):
    """The sum of the sizes of the tensors that are left, rounded up."""
    return {
        "example": 4, "small": 3, "own": 20, "again": 30, "lost": 12, "holes": 18, "neighbours": 18, "emptied": 8, "streams": 16,
    }[program]  # fmt: skip


# Categories

# a parameter among the inputs makes an activation too, without any input
propagate_categories__all_inputs = edited(
    propagate_categories,
    ('categories & {"input", "activation"}', "categories"),
    ("{*from_input, ", '{"input", "activation", '),
)
propagate_categories__after_temporaries = edited(
    propagate_categories, ('(None, "autograd_detail")', '(None, "autograd_detail", "temporary")')
)
propagate_categories__all_versions_before = edited(
    propagate_categories,
    ("found.get((key, version - 1)) in", "next((found[key, v] for v in range(version) if (key, v) in found), None) in"),
)
propagate_categories__first_version = edited(
    propagate_categories, ("found.get((key, version - 1))", "version and found.get((key, 0)) or None")
)


def propagate_categories__one_walk(nodes, known):
    """Both rules in one walk: a detail of autograd is then seen by the first rule."""
    found = dict(known)
    for node in nodes:
        if node.is_backward:
            for key, version in node.outputs:
                if found.get((key, version - 1)) in (None, "autograd_detail"):
                    found.setdefault((key, version), "autograd_detail")
            continue
        categories = {found.get(value) for value in node.inputs} - {"autograd_detail"}
        if categories & {"input", "activation"} and categories <= {"input", "activation", "parameter", "temporary"}:
            for value in node.outputs:
                found.setdefault(value, "activation")
    return found


# the bytes that each moment adds, not those that there are
coalesce_timeline__changes = edited(coalesce_timeline, ("now := [*now]", "now := [0] * len(CATEGORIES)"))

# a write in place changes nothing
coalesce_timeline__ignores_versions = edited(
    coalesce_timeline, ('version += action == "increment_version"', "version += 0")
)
coalesce_timeline__keeps_a_category = edited(
    coalesce_timeline,
    (
        "categories.get((key, version)))] += size",
        "categories.get((key, version), categories.get((key, version - 1))))] += size",
    ),
)


def coalesce_timeline__what_is_live(events, categories):
    """It adds up the live tensors by their keys. Memory of no tensor has one key, but there may be several pieces."""
    sizes, live = {}, {}
    for time, action, (key, version), size in events:
        live[key] = version + (action == "increment_version"), size
        if action == "destroy":
            del live[key]
        sizes[time] = [0] * len(CATEGORIES)
        for other, (at, bytes_) in live.items():
            sizes[time][CATEGORIES.index(categories.get((other, at)))] += bytes_
    first = min((time for time in sizes if time != -1), default=-1)
    return [first if time == -1 else time for time in sizes], [*sizes.values()]


# Memory against time

# the memory of the entry is not freed
call_again__keeps_the_result = edited(call_again, ("    cache[func, number] = CONSUMED\n", ""))
call_again__counts_results = edited(
    call_again,
    ("    counts[func] = number + 1\n", ""),
    (
        "    if entry is None:",
        "    if entry is not RECOMPUTE:\n        counts[func] = number + 1\n    if entry is None:",
    ),
    (
        "        return func(*args, **kwargs)",
        "        result = func(*args, **kwargs)\n        counts[func] = number + 1\n        return result",
    ),
)


def call_again__counts_all_operators(cache, counts, func, args, kwargs):
    """One number for all operators."""
    number = sum(counts.values())
    counts[func] = counts.get(func, 0) + 1
    entry = cache.get((func, number))
    if entry is None or entry is CONSUMED:
        raise RuntimeError
    if entry is RECOMPUTE:
        return func(*args, **kwargs)
    cache[func, number] = CONSUMED
    return load_result(entry)


def unscale_grads__stops(grads, scale):
    """The gradients after a bad one stay as they are."""
    inverse = scale.double().reciprocal().float()
    for grad in grads:
        if not functions.isfinite(grad).all().item():
            return True
        grad.mul_(inverse)
    return False


unscale_grads__only_inf = edited(
    unscale_grads, ("not functions.isfinite(grad).all()", '(grad.abs() == float("inf")).any()')
)
unscale_grads__of_the_sum = edited(unscale_grads, ("isfinite(grad).all()", "isfinite(grad.sum())"))
unscale_grads__as_float32 = edited(unscale_grads, ("isfinite(grad)", "isfinite(grad.float())"))
unscale_grads__in_float64 = edited(unscale_grads, (".reciprocal().float()", ".reciprocal()"))

update_scale__grows_to_infinity = edited(update_scale, ("if functions.isfinite(grown).item():", "if True:"))

# a bad step does not begin the interval again
update_scale__keeps_the_count = edited(
    update_scale,
    ("scale.mul_(backoff_factor)\n        return 0", "scale.mul_(backoff_factor)\n        return growth_tracker"),
)
update_scale__divides_by_growth = edited(update_scale, ("scale.mul_(backoff_factor)", "scale.div_(growth_factor)"))


def batch_times__the_first_free_worker(load, step, num_workers, prefetch_factor=2):
    """A batch goes to whichever worker is free first."""
    times, asked, done = [], 0, [0] * num_workers
    for i, each in enumerate(load):
        if num_workers:
            ahead = prefetch_factor * num_workers
            worker = min(range(num_workers), key=done.__getitem__)
            done[worker] = max(times[i - ahead][1] if i >= ahead else 0, done[worker]) + each
            got = max(asked, done[worker])
        else:
            got = asked + each
        times.append((asked, got))
        asked = got + step[i]
    return times


# the workers never wait to be told
batch_times__far_ahead = edited(batch_times, ("if i >= ahead else 0", "if i < 0 else 0"))
batch_times__ahead_of_itself = edited(
    batch_times, ("got = asked + load[i]", "got = asked + load[i] - (step[i - 1] if i and prefetch_factor > 1 else 0)")
)


# Streams, graphs and waves


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


def schedule__host_waits(device, stream, duration, engine=None):
    device.now += device.launch_overhead
    start = max(device.now, device.ready.get(stream, 0.0), device.engines.get(engine, 0.0))
    device.now = device.ready[stream] = start + duration
    if engine is not None:
        device.engines[engine] = start + duration
    return start, start + duration


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


add_node__keeps_the_frontier = edited(graphs.add_node, ("= frozenset({", "|= frozenset({"))


def add_node__the_last_node(graph, stream, work):
    """It depends on the last node of the graph."""
    graph.nodes.append(Node(work, stream, (len(graph.nodes) - 1,) if graph.nodes else ()))
    graph.frontiers[stream] = frozenset({len(graph.nodes) - 1})


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


def quantize__area(m, n, tile=(128, 128), multiprocessors=108, blocks_each=1):
    """As many tiles as the area of the result needs."""
    tiles = math.ceil(m * n / (tile[0] * tile[1]))
    waves = math.ceil(tiles / (multiprocessors * blocks_each))
    return Waves(tiles, waves, m * n / (tiles * prod(tile)), tiles / (waves * multiprocessors * blocks_each))


quantize__one_more = edited(waves.quantize, ("waves = -(-tiles // places)", "waves = tiles // places + 1"))


quantize__a_block_each = edited(waves.quantize, ("places = multiprocessors * blocks_each", "places = multiprocessors"))


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
    input_buffer.backward_steps, ("(event, waiting[edge]) if each", "(waiting[edge], event) if each")
)


backward_steps__the_sum_has_the_last_event = edited(input_buffer.backward_steps, ("            event = None\n", ""))


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
