"""Correct answers to lab 11 in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

import heapq
import math
from collections import Counter, defaultdict
from itertools import groupby
from statistics import median, pstdev

import numpy as np

from rushlight import cuda
from rushlight.aten.generated import functions
from rushlight.autograd.profiler_util import average_events, find_parents
from rushlight.c10.cuda.caching_allocator import (
    MIN_BLOCK_SIZE,
    SMALL_SIZE,
    Block,
    alloc_found_block,
    round_size,
)
from rushlight.cuda._sanitizer import is_ordered_after, merge
from rushlight.cuda.graphs import Node
from rushlight.cuda.memory import empty, launch
from rushlight.cuda.waves import Waves
from rushlight.inductor.cudagraph_utils import FORBIDDEN_CUDAGRAPH_OPS, INDEX_PUT_OPS
from rushlight.profiler._memory_profiler import CATEGORIES
from rushlight.profiler.profiler import ProfilerAction
from rushlight.utils.benchmark.utils.common import MIN_CONFIDENCE_INTERVAL
from rushlight.utils.checkpoint import CONSUMED, RECOMPUTE, load_result

# Profiles


def find_parents__by_thread(events):
    parents = [None] * len(events)
    for thread in {each[0] for each in events}:
        mine = [i for i in range(len(events)) if events[i][0] == thread]
        mine.sort(key=lambda i: -events[i][2])
        mine.sort(key=lambda i: events[i][1])  # a sort is stable
        around = []
        for i in mine:
            _, start, end = events[i]
            while around:
                if events[around[-1]][2] > start and events[around[-1]][2] >= end:
                    parents[i] = around[-1]
                    break
                del around[-1]
            around.append(i)
    return parents


def find_parents__heap(events):
    queue = [(thread, start, -end, i) for i, (thread, start, end) in enumerate(events)]
    heapq.heapify(queue)
    found, stack, current = {}, [], None
    while queue:
        thread, start, end, i = heapq.heappop(queue)
        if thread != current:
            stack, current = [], thread
        while stack and not (start < stack[-1][1] and -end <= stack[-1][1]):
            stack.pop()
        found[i] = stack[-1][0] if stack else None
        stack.append((i, -end))
    return [found[i] for i in range(len(events))]


def average_events__as_torch(events, group_by_input_shapes=False):
    """Remove in passes until nothing changes, as PyTorch does."""
    parent = {i: each[3] for i, each in enumerate(events)}
    alive = set(parent)
    while True:
        count = Counter(parent[i] for i in alive)
        gone = next(
            (
                i
                for i in sorted(alive)
                if parent[i] is not None and count[parent[i]] == 1 and events[parent[i]][0] == events[i][0]
            ),
            None,
        )
        if gone is None:
            break
        alive.remove(gone)
        for i in alive:
            if parent[i] == gone:
                parent[i] = parent[gone]
    rows = {}
    for i in alive:
        name, shapes, time, _ = events[i]
        key = (name, str(shapes))[: 1 + group_by_input_shapes]
        count, own, total = rows.get(key, (0, 0, 0))
        inner = sum(events[j][2] for j in alive if parent[j] == i)
        rows[key] = [count + 1, own + time - inner, total + time]
    return rows


def average_events__two_passes(events, group_by_input_shapes=False):
    lists = [[j for j, other in enumerate(events) if other[3] == i] for i in range(len(events))]
    removed = set()
    for i, (name, *_) in enumerate(events):
        while i not in removed and len(lists[i]) == 1 and events[lists[i][0]][0] == name:
            removed.add(lists[i][0])
            lists[i] = lists[lists[i][0]]
    rows = defaultdict(lambda: [0, 0, 0])
    for i, (name, shapes, time, _) in enumerate(events):
        if i not in removed:
            row = rows[(name, str(shapes)) if group_by_input_shapes else (name,)]
            row[0] += 1
            row[1] += time
            row[2] += time
            for child in lists[i]:
                row[1] -= events[child][2]
    return dict(rows)


def device_times__recursive(events):
    """The tree as a recursion, and rows by hand."""
    host, work = [], Counter()
    for event in events:
        if event["ph"] != "X":
            continue
        if event["cat"] in {"kernel", "gpu_memcpy", "gpu_memset"}:
            if "External id" in event["args"]:
                work[event["args"]["External id"]] += event["dur"]
        elif event["cat"] in {"cpu_op", "user_annotation", "cuda_runtime", "cuda_driver"}:
            host.append(event)
    children = defaultdict(list)
    for event, parent in zip(host, find_parents([(e["tid"], e["ts"], e["ts"] + e["dur"]) for e in host]), strict=True):
        children[None if parent is None else id(host[parent])].append(event)
    rows = defaultdict(lambda: [0, 0])

    def visit(event):
        inside, total = children[id(event)], 0
        while len(inside) == 1 and inside[0]["name"] == event["name"]:
            [same] = inside
            total += own(same)
            inside = children[id(same)]
        mine = own(event) + total
        total = mine + sum(visit(child) for child in inside)
        rows[event["name"]][0] += mine
        rows[event["name"]][1] += total
        return total

    def own(event):
        return work[event["args"].get("External id")] if event["cat"] == "cpu_op" else 0

    for event in children[None]:
        visit(event)
    return dict(rows)


def device_times__up_from_the_work(events):
    """Each piece of work is added to its operator and to all that are around it."""
    timed = [event for event in events if event["ph"] == "X"]
    host = [event for event in timed if event["cat"] in ("user_annotation", "cuda_driver", "cuda_runtime", "cpu_op")]
    parents = find_parents([(event["tid"], event["ts"], event["ts"] + event["dur"]) for event in host])
    at = {event["args"]["External id"]: i for i, event in enumerate(host) if event["cat"] == "cpu_op"}
    totals = [0] * len(host)
    for event in timed:
        if event["cat"] == "kernel" or event["cat"].startswith("gpu_mem"):
            i = at.get(event["args"].get("External id"))
            while i is not None:
                totals[i] += event["dur"]
                i = parents[i]
    found = average_events([(e["name"], [], total, up) for e, total, up in zip(host, totals, parents, strict=True)])
    return {key[0]: row[1:] for key, row in found.items()}


def recorded_operators__words(program):
    return {
        "example": "softmax _softmax", "linear": "linear t addmm", "no bias": "linear t matmul mm", "product": "matmul mm",
        "batch": "matmul reshape view mm _unsafe_view", "same type": "to", "half": "to _to_copy", "contiguous": "",
        "columns": "t contiguous clone", "rows": "reshape view", "columns in rows": "t reshape clone _unsafe_view",
        "number": "sum item _local_scalar_dense",
    }[program].split()  # fmt: skip


def recorded_operators__tuples(program):
    if program in ("columns", "columns in rows"):
        return ("t", "contiguous", "clone") if program == "columns" else ("t", "reshape", "clone", "_unsafe_view")
    product = ("matmul", "mm")
    known = {
        "linear": ("linear", "t", "addmm"),
        "no bias": ("linear", "t", *product),
        "product": product,
        "contiguous": (),
    }
    known |= {
        "batch": ("matmul", "reshape", "view", "mm", "_unsafe_view"),
        "same type": ("to",),
        "half": ("to", "_to_copy"),
    }
    known |= {"rows": ("reshape", "view"), "number": ("sum", "item", "_local_scalar_dense")}
    return known.get(program, ("softmax", "_softmax"))


def schedule_action__list(step, wait, warmup, active, repeat=0, skip_first=0, skip_first_wait=0):
    """The steps of one cycle as a list."""
    none, warm, record, save = ProfilerAction
    cycle = [none] * wait + [warm] * warmup + [record] * (active - 1) + [save]
    position = step - skip_first + wait * bool(skip_first_wait)
    if step < skip_first or (repeat > 0 and position >= repeat * len(cycle)):
        return none
    return cycle[position % len(cycle)]


def schedule_action__walk(step, wait, warmup, active, repeat=0, skip_first=0, skip_first_wait=0):
    left = step - skip_first
    if left < 0:
        return ProfilerAction.NONE
    cycles = 0
    while True:
        waiting = 0 if skip_first_wait and cycles == 0 else wait
        if repeat and cycles == repeat:
            return ProfilerAction.NONE
        for length, what in ((waiting, "NONE"), (warmup, "WARMUP"), (active - 1, "RECORD"), (1, "RECORD_AND_SAVE")):
            if left < length:
                return ProfilerAction[what]
            left -= length
        cycles += 1


def queue_depths__count(events):
    kernels = sorted((each for each in events if each[0] == "kernel"), key=lambda each: each[1])
    launches = sorted((each for each in events if each[0] == "launch"), key=lambda each: each[1])
    position = {each[3]: i for i, each in enumerate(kernels)}
    found = []
    for _, start, duration, _ in sorted(events, key=lambda each: (each[1], each[0] != "launch")):
        past = [position[each[3]] for each in launches if each[1] <= start and each[3] in position]
        begun = sum(each[1] <= start for each in kernels)
        found.append((start, start + duration, max(0, (past[-1] + 1 if past else 0) - begun)))
    return found


def queue_depths__pointer(events):
    """Two pointers, as in PyTorch."""
    ordered = [*sorted((e for e in events if e[0] == "launch"), key=lambda e: e[1])]
    kernels = [*sorted((e for e in events if e[0] != "launch"), key=lambda e: e[1])]
    numbers = {e[3]: i for i, e in enumerate(kernels)}
    current, spawned, result = 0, -1, []
    for event in sorted(ordered + kernels, key=lambda e: e[1]):
        if event[0] == "launch" and event[3] in numbers:
            spawned = numbers[event[3]]
        while current < len(kernels) and kernels[current][1] <= event[1]:
            current += 1
        depth = spawned - current + 1
        result.append([event[1], event[1] + event[2], depth if depth > 0 else 0])
    return result


def critical_path__recursion_free(kernels):
    ends, cause, tail = {}, {}, {}
    for i, (stream, launched, duration, waits) in enumerate(kernels):
        start, cause[i] = launched, None
        for j in sorted({*waits, *([tail[stream]] if stream in tail else [])}):
            if ends[j] > start or (ends[j] == start and cause[i] is None):
                start, cause[i] = ends[j], j
        ends[i] = start + duration
        tail[stream] = i
    if not kernels:
        return [], 0
    end = max(ends.values())
    path = [next(i for i in ends if ends[i] == end)]
    while cause[path[-1]] is not None:
        path.append(cause[path[-1]])
    path.reverse()
    return path, end


def critical_path__tuples(kernels):
    """The path of each kernel is kept with it, as a linked list."""
    best, last = [], {}
    for i, (stream, launched, duration, waits) in enumerate(kernels):
        before = [best[j] for j in (*waits, *last.get(stream, ()))]
        last[stream] = (i,)
        end, number, chain = max(before, key=lambda each: (each[0], -each[1]), default=(-1, 0, None))
        if end < launched:
            end, chain = launched, None
        best.append((end + duration, i, (i, chain)))
    if not best:
        return ((), 0)
    end, _, chain = max(best, key=lambda each: (each[0], -each[1]))
    path = []
    while chain:
        at, chain = chain
        path.insert(0, at)
    return tuple(path), end


def operator_flops__table(name, inputs, outputs, transposed=False, output_mask=(True, True, True)):
    def matrices(a, b):
        return 2 * math.prod([*a, b[-1]])

    def convolution(x, w, y):
        return 2 * math.prod(w) * x[0] * math.prod((x if transposed else y)[2:])

    def attention(q, k, v):
        scores = (*q[:3], k[2])
        return matrices(q, (k[3], k[2])) + matrices(scores, v)

    formulas = {
        "mm": lambda: matrices(*inputs), "bmm": lambda: matrices(*inputs), "addmm": lambda: matrices(*inputs[1:]),
        "baddbmm": lambda: matrices(*inputs[1:]), "convolution": lambda: convolution(*inputs, outputs[0]),
        "convolution_backward": lambda: (output_mask[0] + output_mask[1]) * convolution(inputs[1], inputs[2], inputs[0]),
        "_scaled_dot_product_flash_attention": lambda: attention(*inputs),
    }  # fmt: skip
    return formulas[name]() if name in formulas else 0


def operator_flops__cases(name, inputs, outputs, transposed=False, output_mask=(True, True, True)):
    total = 0
    if name in ("mm", "addmm", "bmm", "baddbmm"):
        *_, left, right = inputs
        total = 2
        for size in left:
            total *= size
        total *= right[-1]
    elif name in ("convolution", "convolution_backward"):
        x, weight, y = (inputs[1], inputs[2], inputs[0]) if "backward" in name else (*inputs, outputs[0])
        total = 2 * x[0]
        for size in (*weight, *(x[2:] if transposed else y[2:])):
            total *= size
        if "backward" in name:
            total = sum(total for wanted in output_mask[:2] if wanted)
    elif name == "_scaled_dot_product_flash_attention":
        query, key, value = inputs
        total = 2 * query[0] * query[1] * query[2] * key[2] * (query[3] + value[3])
    return total


def significant_figures__numpy(times):
    ordered = np.sort(np.asarray(times, dtype=np.float64))
    n = len(ordered)
    middle = ordered[n // 4 : -(-3 * n // 4)]
    interval = max(1.645 * middle.std() / len(middle) ** 0.5, 25e-9)
    return int(np.clip(np.floor(np.log10(np.median(ordered) / interval)), 1, 4))


def significant_figures__statistics(times):
    n = len(times)
    middle = sorted(times)[n // 4 : n - n // 4]
    interval = max(1.645 * pstdev(middle) / math.sqrt(len(middle)), MIN_CONFIDENCE_INTERVAL)
    ratio = median(times) / interval
    return 1 + (ratio >= 100) + (ratio >= 1000) + (ratio >= 10000)


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


# Streams, graphs and waves


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
