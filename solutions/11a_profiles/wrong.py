"""Wrong answers to lab 11a that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import math
from statistics import fmean, median, pstdev

from rushlight.autograd.profiler_util import average_events, device_times, find_parents
from rushlight.course import predictions
from rushlight.profiler._utils import busy_and_gaps, critical_path, queue_depths, what_to_change
from rushlight.profiler.profiler import schedule_action
from rushlight.utils.benchmark.utils.common import MAX_SIGNIFICANT_FIGURES, MIN_CONFIDENCE_INTERVAL, significant_figures
from rushlight.utils.flop_counter import operator_flops

from ..shared import copied, edited


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


recorded_operators__converts_the_same_type = edited(
    predictions.recorded_operators,
    ('["to", "matmul", "mm", "to", ', '["to", "_to_copy", "matmul", "mm", "to", "_to_copy", '),
)
recorded_operators__copies_what_is_contiguous = edited(
    predictions.recorded_operators, ('"sin"]', '"sin", "contiguous", "clone"]')
)
recorded_operators__for_another_name = edited(predictions.recorded_operators, ('"Ada"', '"ada"'))


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


# the kernels in the order of their correlation ids, not of their starts
queue_depths__by_the_ids = edited(
    queue_depths,
    (
        "for kind, _, _, correlation in ordered:\n        if",
        "for kind, _, _, correlation in sorted(ordered, key=lambda each: each[3]):\n        if",
    ),
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


critical_path__of_no_kernels = edited(critical_path, ("    if not ends:\n        return [], 0\n", ""))
critical_path__ends_before_the_launch = edited(critical_path, ("ends[latest] >= launched", "ends[latest] > launched"))
critical_path__always_the_one_before = edited(
    critical_path, ("before.append(latest if waited else None)", "before.append(latest)")
)
critical_path__backwards = edited(critical_path, ("path[::-1]", "path"))


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
operator_flops__the_smaller_shape = edited(
    operator_flops,
    (
        "positions = (inputs[0] if transposed else outputs[0])[2:]",
        "positions = min(inputs[0][2:], outputs[0][2:], key=prod)",
    ),
)
operator_flops__the_larger_shape = edited(
    operator_flops,
    (
        "positions = (inputs[0] if transposed else outputs[0])[2:]",
        "positions = (min if transposed else max)(inputs[0][2:], outputs[0][2:], key=prod)",
    ),
)
operator_flops__neither_padding_nor_stride = edited(
    operator_flops,
    (
        "positions = (inputs[0] if transposed else outputs[0])[2:]",
        "positions = [x - (0 if transposed else k - 1) for x, k in zip(inputs[0][2:], inputs[1][2:])]",
    ),
)
operator_flops__no_keys = edited(operator_flops, ("* s * t *", "* s * max(t, 1) *"))


# a multiplication and its addition are one
operator_flops__one_each = edited(
    operator_flops, ("2 * prod", "prod"), ("2 * inputs", "inputs"), ("return 2 * b", "return b")
)
_PRODUCT = "return 2 * prod(inputs[0]) * inputs[1][-1]"
operator_flops__bias_counts = edited(
    operator_flops, (_PRODUCT, f"{_PRODUCT} + ('add' in name) * prod(inputs[0][:-1]) * inputs[1][-1]")
)
operator_flops__the_gradient_of_the_bias_counts = edited(operator_flops, ("output_mask[:2]", "output_mask"))
operator_flops__one_gradient = edited(operator_flops, ("sum(output_mask[:2])", "any(output_mask[:2])"))
operator_flops__a_float = edited(operator_flops, (_PRODUCT, _PRODUCT.replace("2", "2.0", 1)))
operator_flops__positions_of_the_result = edited(
    operator_flops, ("(inputs[0] if transposed else outputs[0])", "outputs[0]")
)
operator_flops__values_as_wide_as_keys = edited(operator_flops, ("(d + e)", "(d + d)"))


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
significant_figures__a_least_deviation = edited(  # 25 ns limit the deviation, not the interval
    significant_figures,
    ("max(1.645 * pstdev(middle) / math.sqrt(len(middle)), MIN_CONFIDENCE_INTERVAL)",
     "1.645 * max(pstdev(middle), MIN_CONFIDENCE_INTERVAL) / math.sqrt(len(middle))"),
)  # fmt: skip
significant_figures__root_of_all = edited(significant_figures, ("math.sqrt(len(middle))", "math.sqrt(len(times))"))


busy_and_gaps__all_kernels = edited(  # time in which two run counts twice
    busy_and_gaps, ("max(end - max(start, latest), 0)", "end - start")
)
busy_and_gaps__only_neighbours = edited(  # the end before is not the latest end
    busy_and_gaps, ("latest = max(end, latest)", "latest = end")
)
busy_and_gaps__only_kernels = edited(busy_and_gaps, ('("kernel", "gpu_memcpy", "gpu_memset")', '("kernel",)'))
busy_and_gaps__all_of_the_device = edited(  # a block's range on the device, and a wait, are no work
    busy_and_gaps, ('event["cat"] in ("kernel", "gpu_memcpy", "gpu_memset")', 'event["pid"] == 0')
)
busy_and_gaps__in_the_order_of_the_file = edited(busy_and_gaps, ("work = sorted(", "work = list("))
busy_and_gaps__from_zero = edited(busy_and_gaps, ("work[0][0] if work else 0", "0"))  # before the first work is no gap
busy_and_gaps__empty_gaps = edited(busy_and_gaps, ("start > latest", "start >= latest"))


def busy_and_gaps__each_stream(events):
    """A gap of a stream is no gap if another stream works."""
    busy, gaps = 0, []
    for stream in (7, 8):
        found = busy_and_gaps([event for event in events if event.get("tid") == stream])
        busy, gaps = busy + found[0], gaps + found[1]
    return busy, sorted(gaps)


what_to_change__longest_event = edited(  # the event around all the others
    what_to_change, ("min(during", "max(during")
)
what_to_change__covers_the_gap = edited(what_to_change, ("2 * (min(", "(min("))
what_to_change__any_overlap = edited(what_to_change, (">= end - start > 0", "> 0"))
what_to_change__only_operators = edited(
    what_to_change, ('("cpu_op", "user_annotation", "cuda_runtime", "cuda_driver")', '("cpu_op",)')
)
what_to_change__ranges_on_the_device = edited(
    what_to_change, ('"cuda_driver")', '"cuda_driver", "gpu_user_annotation", "overhead")')
)
what_to_change__all_gaps = edited(what_to_change, ("idle - (end - start)", "idle"))  # the largest gap is in two parts
what_to_change__last_gap = edited(  # of equal gaps the last
    what_to_change, ("lambda gap: gap[1] - gap[0], default", "lambda gap: (gap[1] - gap[0], gap[0]), default")
)
what_to_change__longest_in_the_gap = edited(  # the longest time in the gap: its caller has the same, or more
    what_to_change,
    (
        'min(during, key=lambda event: event["dur"])',
        'max(during, key=lambda event: min(event["ts"] + event["dur"], end) - max(event["ts"], start))',
    ),
)


_what_to_change = copied(what_to_change)


def what_to_change__by_the_share(events):
    """The busy share alone decides."""
    busy, gaps = busy_and_gaps(events)
    idle = sum(end - start for start, end in gaps)
    largest = max((end - start for start, end in gaps), default=0)
    if 2 * busy >= busy + idle:
        return "faster kernels", busy, _what_to_change(events)[2]
    change = ("load ahead", largest) if 2 * largest >= idle else ("CUDA graph", idle - largest)
    return *change, _what_to_change(events)[2]


what_to_change__began_last = edited(what_to_change, ('event["dur"])["name"]', '-event["ts"])["name"]'))
what_to_change__equally_short_began_last = edited(
    what_to_change, ('event["dur"])["name"]', '(event["dur"], -event["ts"]))["name"]')
)
what_to_change__equally_short_longest_in_the_gap = edited(
    what_to_change,
    (
        'event["dur"])["name"]',
        '(event["dur"], -min(event["ts"] + event["dur"], end) + max(event["ts"], start)))["name"]',
    ),
)
what_to_change__shortest_in_the_gap = edited(
    what_to_change,
    ('event["dur"])["name"]', 'min(event["ts"] + event["dur"], end) - max(event["ts"], start))["name"]'),
)
what_to_change__operators_first = edited(
    what_to_change, ('event["dur"])["name"]', '(event["cat"] != "cpu_op", event["dur"]))["name"]')
)
what_to_change__all_that_is_no_work = edited(
    what_to_change,
    (
        'event["cat"] in ("cpu_op", "user_annotation", "cuda_runtime", "cuda_driver")',
        'event["cat"] not in ("kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation", "overhead", "cuda_sync")',
    ),
)
what_to_change__graph_before_kernels = edited(  # of equal parts
    what_to_change,
    (
        "change = max(parts, key",
        'change = "CUDA graph" if busy == idle - (end - start) > end - start else max(parts, key',
    ),
)


what_to_change__the_busy_time = edited(what_to_change, ("return change, parts[change]", "return change, busy"))


def busy_and_gaps__one_piece_for_each_start(events):
    """Of two pieces that begin at once, the last in the list counts."""
    work = [event for event in events if event["ph"] == "X" and event["cat"] in ("kernel", "gpu_memcpy", "gpu_memset")]
    return busy_and_gaps([*{event["ts"]: event for event in work}.values()])
