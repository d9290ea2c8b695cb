"""Correct answers to lab 11a in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

import heapq
import itertools
import math
from collections import Counter, defaultdict
from statistics import median, pstdev

import numpy as np

from rushlight.autograd.profiler_util import average_events, find_parents
from rushlight.course import predictions
from rushlight.profiler._utils import busy_and_gaps
from rushlight.profiler.profiler import ProfilerAction
from rushlight.utils.benchmark.utils.common import MIN_CONFIDENCE_INTERVAL

from ..shared import copied


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


_recorded_operators = copied(predictions.recorded_operators)


def recorded_operators__with_a_second_draw():
    right = _recorded_operators()
    return {"h": [], "g": [], "f": [], "e": []} | {key: right[key] for key in reversed(right)}


def recorded_operators__in_tuples():
    right = _recorded_operators()
    return {key: value if key == "name" else tuple(value) for key, value in right.items()}


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


def busy_and_gaps__moments(events):
    """How many pieces of work run, from moment to moment."""
    change = Counter()
    for event in events:
        match event:
            case {"ph": "X", "cat": "kernel" | "gpu_memcpy" | "gpu_memset", "ts": start, "dur": length}:
                change[start] += 1
                change[start + length] -= 1
    busy, gaps, running, before = 0.0, [], 0, None
    for moment in sorted(change):
        if before is not None and running:
            busy += moment - before
        elif before is not None and gaps and gaps[-1][1] == before:
            gaps[-1] = (gaps[-1][0], moment)
        elif before is not None:
            gaps.append((before, moment))
        running += change[moment]
        before = moment
    return busy, gaps


def busy_and_gaps__arrays(events):
    """The gaps first: the rest of the time is busy."""
    rows = [(e["ts"], e["ts"] + e["dur"]) for e in events if e.get("cat") in {"kernel", "gpu_memcpy", "gpu_memset"}]
    if not rows:
        return 0, []
    spans = np.array(sorted(rows))
    latest = np.maximum.accumulate(spans[:, 1])
    apart = spans[1:, 0] > latest[:-1]
    gaps = np.stack([latest[:-1], spans[1:, 0]], 1)[apart]
    return latest[-1] - spans[0, 0] - (gaps[:, 1] - gaps[:, 0]).sum(), [tuple(gap) for gap in gaps.tolist()]


def busy_and_gaps__merged(events):
    timed = [event for event in events if event["ph"] == "X" and event["cat"] != "gpu_user_annotation"]
    heap = [[event["ts"], event["ts"] + event["dur"]] for event in timed if event["cat"][:4] in ("kern", "gpu_")]
    heapq.heapify(heap)
    islands = []
    while heap:
        start, end = heapq.heappop(heap)
        if islands and islands[-1][1] >= start:
            islands[-1][1] = max(islands[-1][1], end)
        else:
            islands.append([start, end])
    return sum(b - a for a, b in islands), [(a[1], b[0]) for a, b in itertools.pairwise(islands)]


def what_to_change__loops(events):
    """No max and no min: comparisons."""
    busy, gaps = busy_and_gaps(events)
    longest, others, where = 0, 0, None
    for start, end in gaps:
        if end - start > longest:
            longest, others, where = end - start, others + longest, (start, end)
        else:
            others += end - start
    name, shortest = None, None
    for event in events:
        if where is None or event["ph"] != "X":
            continue
        if event["cat"] not in {"cpu_op", "user_annotation", "cuda_driver", "cuda_runtime"}:
            continue
        begin, until = event["ts"], event["ts"] + event["dur"]
        shared = (until if until < where[1] else where[1]) - (begin if begin > where[0] else where[0])
        if shared >= longest / 2 and (shortest is None or event["dur"] < shortest):
            name, shortest = event["name"], event["dur"]
    if busy >= longest and busy >= others:
        return "faster kernels", busy, name
    return ("load ahead", longest, name) if longest >= others else ("CUDA graph", others, name)


def what_to_change__sorted(events):
    busy, gaps = busy_and_gaps(events)
    lengths = sorted((end - start for start, end in gaps), reverse=True)
    parts = [(busy, 2, "faster kernels"), (sum(lengths[:1]), 1, "load ahead"), (sum(lengths[1:]), 0, "CUDA graph")]
    saved, _, change = max(parts)
    if not gaps:
        return [change, saved, None]
    [(start, end)] = [gap for gap in gaps if gap[1] - gap[0] == lengths[0]][:1]
    middle = [
        (event["dur"], i)
        for i, event in enumerate(events)
        if event.get("cat") in ("cpu_op", "user_annotation", "cuda_runtime", "cuda_driver")
        and min(end - event["ts"], end - start, event["ts"] + event["dur"] - start, event["dur"]) * 2 >= lengths[0]
    ]
    return [change, saved, events[min(middle)[1]]["name"] if middle else None]
