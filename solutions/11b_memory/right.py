"""Correct answers to lab 11b in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

import heapq
import math
from collections import Counter
from itertools import groupby

import numpy as np

from rushlight.aten.generated import functions
from rushlight.c10.cuda.caching_allocator import MIN_BLOCK_SIZE, SMALL_SIZE, Block, alloc_found_block, round_size
from rushlight.profiler._memory_profiler import CATEGORIES
from rushlight.utils.checkpoint import CONSUMED, RECOMPUTE, load_result

# Blocks


def round_size__search(size, divisions=0):
    if divisions < 2 or size <= 512 * divisions:
        return max(512, (size + 511) // 512 * 512)
    low = 512
    while 2 * low <= size:
        low *= 2
    part = low // divisions
    border = low
    while border < size:
        border += part
    return border


def round_size__in_numpy(size, divisions=0):
    return np.int64(round_size__search(size, divisions))


def round_size__bits(size, divisions=0):
    """As in C++: clear the low bits, and add a part if there were any."""
    if size < MIN_BLOCK_SIZE:
        return MIN_BLOCK_SIZE
    if divisions <= 1 or size <= MIN_BLOCK_SIZE * divisions:
        return size + -size % MIN_BLOCK_SIZE
    if size & (size - 1) == 0:
        return size
    part = (1 << (size.bit_length() - 1)) >> (divisions.bit_length() - 1)
    floor = size & ~(part - 1)
    return floor if floor == size else floor + part


def find_free_block__sorted(pool, size, stream, settings):
    for block in sorted(pool.blocks, key=lambda each: (each.size, each.ptr)):
        if block.stream == stream and size <= block.size:
            if size < settings.max_split_size:
                return None if block.size >= settings.max_split_size else block
            return block if block.size - size < settings.max_non_split_rounding else None
    return None


def find_free_block__rules_first(pool, size, stream, settings):
    """If the smallest of the large enough blocks may not serve, then no larger one may."""
    limit = (
        settings.max_split_size - 1 if size < settings.max_split_size else size + settings.max_non_split_rounding - 1
    )
    blocks = [each for each in pool.blocks if each.stream == stream and size <= each.size <= limit]
    return min(blocks, key=lambda each: (each.size, each.ptr)) if blocks else None


def find_free_block__loop(pool, size, stream, settings):
    best = None
    for block in pool.blocks:
        if block.stream != stream or block.size < size:
            continue
        if best is None or block.size < best.size or block.size == best.size and block.ptr < best.ptr:
            best = block
    if best is not None:
        if size < settings.max_split_size:
            if best.size >= settings.max_split_size:
                best = None
        elif best.size >= size + settings.max_non_split_rounding:
            best = None
    return best


def alloc_found_block__early(block, size, requested_size, settings):
    left = block.size - size
    any_pool = block.pool.is_small or settings.expandable_segments
    if (left < MIN_BLOCK_SIZE) if any_pool else (left <= SMALL_SIZE or size >= settings.max_split_size):
        block.allocated = True
        block.requested_size = requested_size
        return block
    new = Block(block.stream, size, block.ptr, block.pool)
    new.segment = block.segment
    new.allocated, new.requested_size = True, requested_size
    new.next, new.prev = block, block.prev
    if new.prev:
        new.prev.next = new
    block.prev = new
    block.size, block.ptr = left, new.ptr + size
    block.pool.insert(block)
    return new


def alloc_found_block__by_name(block, size, requested_size, settings):
    pool = block.pool
    least = 512 if pool.is_small or settings.expandable_segments else 1 << 20
    enough = (
        block.size - size >= least if least == 512 else block.size - size > least and settings.max_split_size > size
    )
    taken = block
    if enough:
        taken = Block(
            stream=block.stream, size=size, ptr=block.ptr, pool=pool, requested_size=requested_size, allocated=True,
            prev=block.prev, next=block, segment=block.segment,
        )  # fmt: skip
        for neighbour in [block.prev] if block.prev else []:
            neighbour.next = taken
        block.ptr, block.size, block.prev = block.ptr + size, block.size - size, taken
        pool.insert(block)
    taken.requested_size, taken.allocated = requested_size, True
    return taken


def try_merge_blocks__left_or_right(dst, src, pool):
    if not src or src.allocated or src.event_count or src.stream_uses or dst.mapped is not src.mapped:
        return 0
    if src.next is dst:
        dst.ptr, dst.prev = src.ptr, src.prev
        if src.prev:
            src.prev.next = dst
    else:
        dst.next = src.next
        if src.next:
            src.next.prev = dst
    blocks = pool.blocks if src.mapped else pool.unmapped
    blocks[:] = [block for block in blocks if block is not src]
    dst.size = dst.size + src.size
    return src.size


def try_merge_blocks__whole_list(dst, src, pool):
    """It links all blocks of the segment again."""
    if src is None or src.is_active() or dst.mapped != src.mapped:
        return 0
    first = dst
    while first.prev is not None:
        first = first.prev
    blocks = []
    while first is not None:
        if first is not src:
            blocks.append(first)
        first = first.next
    dst.ptr, dst.size = min(dst.ptr, src.ptr), dst.size + src.size
    for before, after in zip([None, *blocks], [*blocks, None]):
        if before is not None:
            before.next = after
        if after is not None:
            after.prev = before
    [pool.unmapped, pool.blocks][src.mapped].remove(src)
    return src.size


def malloc__generator(allocator, size, stream=0):
    allocator.process_events()
    rounded = round_size(size, allocator.settings.divisions(size))
    pool = allocator.get_pool(rounded)

    def attempts():
        yield allocator.get_free_block(pool, rounded, stream)
        if allocator.settings.garbage_collection_threshold > 0 and allocator.allowed is not None:
            allocator.garbage_collect_cached_blocks()
        yield allocator.alloc_block(pool, rounded, stream)
        if allocator.release_available_cached_blocks(pool, rounded, stream):
            yield allocator.alloc_block(pool, rounded, stream)
        allocator.release_cached_blocks()
        yield allocator.alloc_block(pool, rounded, stream, is_retry=True)

    for block in attempts():
        if block is not None:
            block = alloc_found_block(block, rounded, size, allocator.settings)
            allocator.record_alloc(block)
            return block
    raise allocator.out_of_memory(rounded, stream)


def malloc__or(allocator, size, stream=0):
    settings, limited = allocator.settings, allocator.allowed is not None
    allocator.process_events()
    bytes_ = round_size(size, settings.divisions(size))
    request = allocator.get_pool(bytes_), bytes_, stream
    found = allocator.get_free_block(*request)
    if not found:
        if limited and settings.garbage_collection_threshold:
            allocator.garbage_collect_cached_blocks()
        found = allocator.alloc_block(*request) or (
            allocator.release_available_cached_blocks(*request) and allocator.alloc_block(*request)
        )
        if not found:
            allocator.release_cached_blocks()
            found = allocator.alloc_block(*request, True)
            if not found:
                raise allocator.out_of_memory(bytes_, stream)
    found = alloc_found_block(found, bytes_, size, settings)
    allocator.record_alloc(found)
    return found


def malloc__asks_for_the_pool_each_time(allocator, size, stream=0):
    """It rounds before it looks at the events."""
    size, requested = round_size(size, allocator.settings.divisions(size)), size
    allocator.process_events()

    def attempt(look, *args):
        return look(allocator.get_pool(size), size, stream, *args)

    block = attempt(allocator.get_free_block)
    if not block and allocator.allowed is not None and allocator.settings.garbage_collection_threshold:
        allocator.garbage_collect_cached_blocks()
    block = block or attempt(allocator.alloc_block)
    if not block and attempt(allocator.release_available_cached_blocks):
        block = attempt(allocator.alloc_block, False)
    if not block:
        allocator.release_cached_blocks()
        block = attempt(allocator.alloc_block, True)
    if not block:
        raise allocator.out_of_memory(size, stream)
    block = alloc_found_block(block, size, requested, allocator.settings)
    allocator.record_alloc(block)
    return block


def reserved_mebibytes__segments(program):
    return sum(
        {
            "example": [20], "small": [2, 2], "own": [20], "again": [30], "lost": [12, 2], "holes": [20, 20], "neighbours": [20],
            "emptied": [20], "streams": [16, 16],
        }[program]
    )  # fmt: skip


def reserved_mebibytes__by_match(program):
    match program:
        case "small":
            return 4
        case "again":
            return 30
        case "lost":
            return 12 + 2
        case "holes":
            return 2 * 20
        case "streams":
            return 2 * 16
    return 20


# Categories


def propagate_categories__counted(nodes, known):
    found = {value: category for value, category in known.items()}
    for node in nodes:
        if node.is_backward:
            continue
        counts = Counter(found.get(value, "nothing") for value in node.inputs)
        sources = counts.pop("input", 0) + counts.pop("activation", 0)
        counts.pop("parameter", 0)
        counts.pop("temporary", 0)
        if sources > 0 and not counts:
            for value in node.outputs:
                if value not in found:
                    found[value] = "activation"
    for node in filter(lambda node: node.is_backward, nodes):
        for value in node.outputs:
            key, version = value
            before = found.get((key, version - 1), "autograd_detail") if version else "autograd_detail"
            if value not in found and before == "autograd_detail":
                found[value] = "autograd_detail"
    return found


def propagate_categories__early(nodes, known):
    allowed = {"input", "activation", "parameter", "temporary"}
    found = {**known}
    for node in nodes:
        inputs = [found.get(value) for value in node.inputs]
        if node.is_backward or not set(inputs) <= allowed or "input" not in inputs and "activation" not in inputs:
            continue
        found |= {value: "activation" for value in node.outputs if value not in found}
    for node in nodes:
        if node.is_backward:
            for key, version in node.outputs:
                known_before = (key, version - 1) in found and found[key, version - 1] != "autograd_detail"
                if (key, version) not in found and not known_before:
                    found[key, version] = "autograd_detail"
    return found


def coalesce_timeline__groups(events, categories):
    times, sizes, now = [], [], Counter()
    for time, group in groupby(events, key=lambda event: event[0]):
        for _, action, (key, version), size in group:
            mine, after = categories.get((key, version)), categories.get((key, version + 1))
            if action == "destroy":
                now[mine] -= size
            elif action == "increment_version":
                now[mine] -= size
                now[after] += size
            else:
                now[mine] += size
        times.append(time)
        sizes.append([now[category] for category in CATEGORIES])
    later = [time for time in times if time != -1]
    if later:
        times = [min(later) if time == -1 else time for time in times]
    return times, sizes


def coalesce_timeline__in_numpy(events, categories):
    events = list(events)
    times = list(dict.fromkeys(time for time, *_ in events))
    changes = np.zeros((len(times), len(CATEGORIES)), dtype=np.int64)
    for time, action, (key, version), size in events:
        row = changes[times.index(time)]
        for each, sign in {
            "preexisting": [(version, 1)], "create": [(version, 1)], "destroy": [(version, -1)],
            "increment_version": [(version, -1), (version + 1, 1)],
        }[action]:  # fmt: skip
            row[CATEGORIES.index(categories.get((key, each)))] += sign * size
    first = min([time for time in times if time >= 0] or [-1])
    return [max(time, first) if time < 0 else time for time in times], changes.cumsum(0).tolist()


# Memory against time


def call_again__by_match(cache, counts, func, args, kwargs):
    i = counts.get(func, 0)
    counts |= {func: i + 1}
    key = func, i
    if key not in cache:
        raise RuntimeError("the second run is another one")
    entry = cache[key]
    if entry is RECOMPUTE:
        return func(*args, **kwargs)
    if entry is CONSUMED:
        raise RuntimeError("backward ran already")
    cache[key] = CONSUMED
    return load_result(entry)


def call_again__popped(cache, counts, func, args, kwargs):
    counts.setdefault(func, 0)
    counts[func] += 1
    key = (func, counts[func] - 1)
    if cache.get(key, CONSUMED) is CONSUMED:
        raise RuntimeError(f"no result for {key}")
    if cache[key] is RECOMPUTE:
        result = func(*args, **kwargs)
    else:
        entry = cache.pop(key)
        cache[key] = CONSUMED
        result = load_result(entry)
    return result


def unscale_grads__two_loops(grads, scale):
    finite = all([bool(functions.isfinite(grad).all().item()) for grad in grads])
    factor = (1.0 / scale.double()).float()
    for grad in grads:
        grad *= factor
    return not finite


def unscale_grads__in_numpy(grads, scale):
    factor, found = float(np.float32(1.0 / float(scale.item()))), False
    for grad in grads:
        if any(not math.isfinite(value) for value in grad.tolist()):
            found = True
        grad.copy_(grad * factor)
    return found


def update_scale__nested(scale, growth_tracker, found_inf, growth_factor, backoff_factor, growth_interval):
    if not found_inf:
        if growth_tracker + 1 == growth_interval:
            larger = (scale * growth_factor).item()
            if larger != math.inf:
                scale.fill_(larger)
            return 0
        return growth_tracker + 1
    scale *= backoff_factor
    return 0


def update_scale__one_factor(scale, growth_tracker, found_inf, growth_factor, backoff_factor, growth_interval):
    tracker = 0 if found_inf else growth_tracker + 1
    factor = backoff_factor if found_inf else growth_factor if tracker == growth_interval else 1.0
    new = scale * factor
    if functions.isfinite(new).item():
        scale.copy_(new)
    return 0 if tracker == growth_interval else tracker


def batch_times__events(load, step, num_workers, prefetch_factor=2):
    """A clock, queues of workers, and what is ready."""
    if num_workers == 0:
        times, now = [], 0
        for each, then in zip(load, step):
            times.append((now, now + each))
            now += each + then
        return times
    clock, waiting, ready, queue = 0, 0, {}, [0] * num_workers

    def tell():
        nonlocal waiting
        if waiting < len(load):
            worker = waiting % num_workers
            queue[worker] = max(queue[worker], clock) + load[waiting]
            ready[waiting] = queue[worker]
            waiting += 1

    for _ in range(prefetch_factor * num_workers):
        tell()
    times = []
    for i, each in enumerate(step):
        asked, clock = clock, max(clock, ready.pop(i))
        tell()
        times.append((asked, clock))
        clock += each
    return times


def batch_times__heap(load, step, num_workers, prefetch_factor=2):
    times, asked, done = [], 0, {}
    for i, (each, then) in enumerate(zip(load, step)):
        if num_workers:
            begins = [0]
            heapq.heappush(begins, -done.get(i - num_workers, 0))
            if i >= prefetch_factor * num_workers:
                heapq.heappush(begins, -times[i - prefetch_factor * num_workers][1])
            done[i] = -begins[0] + each
            got = max(asked, done[i])
        else:
            got = asked + each
        times += [(asked, got)]
        asked = got + then
    return times
