"""Wrong answers to lab 11 that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import math
from math import prod
from statistics import fmean, median, pstdev

from answers import edited

from rushlight.aten.generated import functions
from rushlight.autograd.profiler_util import average_events, device_times, find_parents
from rushlight.c10.cuda.caching_allocator import (
    MIN_BLOCK_SIZE,
    SMALL_SIZE,
    Block,
    alloc_found_block,
    get_allocation_size,
    round_size,
)
from rushlight.profiler._memory_profiler import CATEGORIES
from rushlight.profiler._utils import critical_path, queue_depths
from rushlight.profiler.profiler import schedule_action
from rushlight.utils.benchmark.utils.common import MAX_SIGNIFICANT_FIGURES, MIN_CONFIDENCE_INTERVAL, significant_figures
from rushlight.utils.checkpoint import CONSUMED, RECOMPUTE, load_result
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


def round_size__always_one_more(size, divisions=0):
    """A multiple becomes the next one."""
    step = MIN_BLOCK_SIZE
    if divisions > 1 and size > MIN_BLOCK_SIZE * divisions:
        step = (1 << size.bit_length() - 1) // divisions
    return (size // step + 1) * step


def find_free_block__first_fit(pool, size, stream, settings):
    for block in pool.blocks:
        if block.stream == stream and block.size >= size:
            if size < settings.max_split_size <= block.size:
                return None
            if size >= settings.max_split_size and block.size >= size + settings.max_non_split_rounding:
                return None
            return block
    return None


def find_free_block__searches_on(pool, size, stream, settings):
    """It looks for another block if the best fit may not serve."""
    fitting = [block for block in pool.blocks if block.stream == stream and block.size >= size]
    if size < settings.max_split_size:
        fitting = [block for block in fitting if block.size < settings.max_split_size]
    else:
        fitting = [block for block in fitting if block.size <= size + settings.max_non_split_rounding]
    return min(fitting, key=lambda block: (block.size, block.ptr), default=None)


def find_free_block__any_stream(pool, size, stream, settings):
    fitting = [block for block in pool.blocks if block.size >= size]
    best = min(fitting, key=lambda block: (block.size, block.ptr), default=None)
    if best is None or size < settings.max_split_size <= best.size:
        return None
    return None if size >= settings.max_split_size and best.size >= size + settings.max_non_split_rounding else best


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


def alloc_found_block__one_way(block, size, requested_size, settings):
    """The block before does not learn of the new one."""
    remaining = block.size - size
    small = block.pool.is_small or settings.expandable_segments
    if remaining >= MIN_BLOCK_SIZE if small else size < settings.max_split_size and remaining > SMALL_SIZE:
        taken = Block(block.stream, size, block.ptr, block.pool, prev=block.prev, next=block, segment=block.segment)
        block.prev, block.ptr, block.size = taken, block.ptr + size, remaining
        block.pool.insert(block)
        block = taken
    block.allocated, block.requested_size = True, requested_size
    return block


def try_merge_blocks__only_allocated_ones_stay(dst, src, pool):
    """A block that waits for another stream is merged."""
    if src is None or src.allocated or dst.mapped != src.mapped:
        return 0
    if dst.prev is src:
        dst.ptr, dst.prev = src.ptr, src.prev
        if dst.prev is not None:
            dst.prev.next = dst
    else:
        dst.next = src.next
        if dst.next is not None:
            dst.next.prev = dst
    dst.size += src.size
    blocks = pool.blocks if src.mapped else pool.unmapped
    if src in blocks:
        blocks.remove(src)
    return src.size


def try_merge_blocks__by_address(dst, src, pool):
    """It keeps the address of dst, as if src were always on the right."""
    if src is None or not src.is_free() or dst.mapped != src.mapped:
        return 0
    if dst.prev is src:
        dst.prev = src.prev
    else:
        dst.next = src.next
    for neighbour, name in ((dst.prev, "next"), (dst.next, "prev")):
        if neighbour is not None:
            setattr(neighbour, name, dst)
    dst.size += src.size
    (pool.blocks if src.mapped else pool.unmapped).remove(src)
    return src.size


def malloc__empties_the_cache_first(allocator, size, stream=0):
    """Everything is given back before the oversize blocks are."""
    settings = allocator.settings
    allocator.process_events()
    rounded = round_size(size, settings.divisions(size))
    pool = allocator.get_pool(rounded)
    block = allocator.get_free_block(pool, rounded, stream) or allocator.alloc_block(pool, rounded, stream)
    if block is None:
        allocator.release_cached_blocks()
        block = allocator.alloc_block(pool, rounded, stream, is_retry=True)
    if block is None:
        raise allocator.out_of_memory(rounded, stream)
    block = alloc_found_block(block, rounded, size, settings)
    allocator.record_alloc(block)
    return block


def malloc__asks_for_the_segment(allocator, size, stream=0):
    """It passes the size of the segment on, which `alloc_block` computes itself."""
    settings = allocator.settings
    allocator.process_events()
    rounded = round_size(size, settings.divisions(size))
    pool = allocator.get_pool(rounded)
    block = allocator.get_free_block(pool, rounded, stream)
    if block is None:
        if allocator.allowed is not None and settings.garbage_collection_threshold > 0:
            allocator.garbage_collect_cached_blocks()
        block = allocator.alloc_block(pool, get_allocation_size(rounded), stream)
    if block is None and allocator.release_available_cached_blocks(pool, rounded, stream):
        block = allocator.alloc_block(pool, get_allocation_size(rounded), stream)
    if block is None:
        allocator.release_cached_blocks()
        block = allocator.alloc_block(pool, get_allocation_size(rounded), stream, is_retry=True)
    if block is None:
        raise allocator.out_of_memory(rounded, stream)
    block = alloc_found_block(block, rounded, size, settings)
    allocator.record_alloc(block)
    return block


def reserved_mebibytes__what_the_tensors_need(program):
    """The sum of the sizes of the tensors that are left, rounded up."""
    return {
        "example": 4, "small": 3, "own": 20, "again": 30, "lost": 12, "holes": 18, "neighbours": 18, "emptied": 8, "streams": 16,
    }[program]  # fmt: skip


# Categories


def propagate_categories__all_inputs(nodes, known):
    """A parameter among the inputs makes an activation too, without any input."""
    found = dict(known)
    for node in nodes:
        categories = {found.get(value) for value in node.inputs}
        if categories and not node.is_backward and categories <= {"input", "activation", "parameter", "temporary"}:
            for value in node.outputs:
                found.setdefault(value, "activation")
    for node in nodes:
        for key, version in node.outputs if node.is_backward else ():
            if found.get((key, version - 1)) in (None, "autograd_detail"):
                found.setdefault((key, version), "autograd_detail")
    return found


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


def coalesce_timeline__changes(events, categories):
    """The bytes that each moment adds, not those that there are."""
    times, sizes = [], []
    for time, action, (key, version), size in events:
        if not times or times[-1] != time:
            times.append(time)
            sizes.append([0] * len(CATEGORIES))
        if action in ("increment_version", "destroy"):
            sizes[-1][CATEGORIES.index(categories.get((key, version)))] -= size
        if action != "destroy":
            version += action == "increment_version"
            sizes[-1][CATEGORIES.index(categories.get((key, version)))] += size
    first = min((time for time in times if time != -1), default=-1)
    return [first if time == -1 else time for time in times], sizes


def coalesce_timeline__ignores_versions(events, categories):
    """A write in place changes nothing."""
    times, sizes, now = [], [], [0] * len(CATEGORIES)
    for time, action, value, size in events:
        if not times or times[-1] != time:
            times.append(time)
            sizes.append(now := [*now])
        sign = {"preexisting": 1, "create": 1, "increment_version": 0, "destroy": -1}[action]
        now[CATEGORIES.index(categories.get(value))] += sign * size
    first = min((time for time in times if time != -1), default=-1)
    return [first if time == -1 else time for time in times], sizes


# Memory against time


def call_again__keeps_the_result(cache, counts, func, args, kwargs):
    """The entry stays, so its memory is not freed."""
    number = counts[func] = counts.get(func, 0) + 1
    entry = cache.get((func, number - 1))
    if entry is None or entry is CONSUMED:
        raise RuntimeError
    return func(*args, **kwargs) if entry is RECOMPUTE else load_result(entry)


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


def unscale_grads__only_inf(grads, scale):
    found = False
    for grad in grads:
        found = found or (grad.abs() == float("inf")).any().item()
        grad.mul_(scale.double().reciprocal().float())
    return found


def update_scale__grows_to_infinity(scale, growth_tracker, found_inf, growth_factor, backoff_factor, growth_interval):
    if found_inf:
        scale.mul_(backoff_factor)
        return 0
    if growth_tracker + 1 == growth_interval:
        scale.mul_(growth_factor)
        return 0
    return growth_tracker + 1


def update_scale__keeps_the_count(scale, growth_tracker, found_inf, growth_factor, backoff_factor, growth_interval):
    """A bad step does not begin the interval again."""
    if found_inf:
        scale.mul_(backoff_factor)
        return growth_tracker
    growth_tracker += 1
    if growth_tracker == growth_interval:
        grown = scale * growth_factor
        if functions.isfinite(grown).item():
            scale.copy_(grown)
        return 0
    return growth_tracker


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


def batch_times__far_ahead(load, step, num_workers, prefetch_factor=2):
    """The workers never wait to be told."""
    times, asked, done = [], 0, [0] * num_workers
    for i, each in enumerate(load):
        if num_workers:
            done[i % num_workers] += each
            got = max(asked, done[i % num_workers])
        else:
            got = asked + each
        times.append((asked, got))
        asked = got + step[i]
    return times
