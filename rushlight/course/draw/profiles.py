"""Pictures of profiles: calls over time, a device that waits, and a roofline.

In a timeline grey is work, hatching is a device without work, and the mark shows a critical path.
"""

from collections.abc import Sequence
from typing import Any

from rushlight.autograd.profiler_util import find_parents
from rushlight.course.draw import paper
from rushlight.course.draw.paper import FAINT, INK, MARK, OURS, Picture, charts

ENGINE = "autograd::engine::evaluate_function: "


def flame(events: Sequence[Any], unit: str = "µs") -> Picture:
    """A flame chart: an event is below the one that it ran in, and as wide as it took long. Grey is an operator, purple a
    node of the backward pass, white a block with a name, or the engine's event around a node.

    Args:
        events: a list of `FunctionEvent`, with their tree.
    """
    depth = {}
    for event in sorted(events, key=lambda event: (event.start, -event.end)):
        depth[event] = 0 if event.cpu_parent is None else depth[event.cpu_parent] + 1
    deep, first = max(depth.values()) + 1, min(event.start for event in events)
    last = max(event.end for event in events)
    figure, [[axes]] = charts(paper.INCHES, 0.7 + 0.36 * deep)
    for event, level in depth.items():
        long = event.end - event.start
        fill = {1: MARK, 7: "0.95"}.get(event.scope, f"{0.86 - 0.07 * (level % 4):.2f}")
        fill = "0.95" if event.name.startswith(ENGINE) else fill
        name = event.name.removeprefix("aten::").replace(ENGINE, "engine: ")
        box = event.start - first, level + 0.06, long, 0.86
        paper.bar(axes, box, fill, name, (paper.INCHES - 0.3) / (last - first), 5)
    axes.set(xlim=(0, last - first), ylim=(deep, 0), xlabel=f"time in {unit}", yticks=[])
    paper.hide_spines(axes, "bottom")
    return figure


def device_timeline(rows: Sequence[tuple[str, dict[str, Any], Sequence[int]]], unit: str = "µs") -> Picture:
    """Programs over time: what the CPU launches above, and what each stream runs below. Hatched is a stream without work.

    Args:
        rows: for each program a title, a trace as `device_trace` makes it, and the numbers of the kernels on the critical path.
    """
    panels = []
    for title, trace, path in rows:
        lines: dict[str, list] = {"CPU": []}
        count = 0
        for event in trace["traceEvents"]:
            if event["ph"] == "X" and event["cat"] == "cuda_runtime":
                lines["CPU"].append((event["ts"], event["dur"], "", event["name"] == "cudaDeviceSynchronize"))
            elif event["ph"] == "X":
                line = lines.setdefault(f"stream {event['args']['stream']}", [])
                line.append((event["ts"], event["dur"], event["name"], count in path))
                count += 1
        panels.append((title, lines))
    last = max(start + long for _, lines in panels for line in lines.values() for start, long, *_ in line)
    heights = [len(lines) + 0.7 for _, lines in panels]
    figure, grid = charts(paper.INCHES, 0.5 + 0.42 * sum(heights), len(panels), sharex=True, height_ratios=heights)
    for axes, (title, lines) in zip(grid[:, 0], panels, strict=True):
        for level, (name, line) in enumerate(lines.items()):
            if name != "CPU":
                begin, end = min(span[0] for span in line), max(span[0] + span[1] for span in line)
                paper.bar(axes, (begin, level + 0.1, end - begin, 0.8), None)
            for start, long, text, marked in line:
                fill = "white" if marked and name == "CPU" else MARK if marked else "0.5" if name == "CPU" else "0.82"
                paper.bar(axes, (start, level + 0.1, long, 0.8), fill, text, (paper.INCHES - 1.2) / last)
        axes.set_title(title, size=10, loc="left", color=INK)
        axes.set(xlim=(0, 1.01 * last), ylim=(len(lines), 0))
        paper.name_rows(axes, list(lines), 9.5)
    grid[-1, 0].set_xlabel(f"time in {unit}")
    return figure


def linked_timeline(trace: dict[str, Any], window: tuple[float, float], unit: str = "µs") -> Picture:
    """A part of a trace with a device: operators, those inside them, calls of the runtime, and streams. A line leads from a call
    to what it put into the queue of a stream: both have the same correlation id.

    Args:
        trace: what `export_chrome_trace` writes. Only its first thread is drawn.
        window: the first and the last moment. What begins outside is left out.
    """
    first, last = window
    events = [event for event in trace["traceEvents"] if event["ph"] == "X" and first <= event["ts"] < last]
    events.sort(key=lambda event: (event["ts"], -event["dur"]))
    thread = next(event["tid"] for event in events if event["cat"] == "cpu_op")
    operators = [event for event in events if event["cat"] == "cpu_op" and event["tid"] == thread]
    parents = find_parents([(0, event["ts"], event["ts"] + event["dur"]) for event in operators])
    lines: dict[str, list] = {}
    depth: list[int] = []
    for event, parent in zip(operators, parents, strict=True):
        depth.append(0 if parent is None else depth[parent] + 1)
        lines.setdefault("operators" if not depth[-1] else " " * depth[-1] + "inside", []).append(event)
    lines["calls"] = [event for event in events if event["cat"] == "cuda_runtime" and event["tid"] == thread]
    for event in events:
        if event["cat"] in ("kernel", "gpu_memcpy", "gpu_memset"):
            lines.setdefault(f"stream {event['args']['stream']}", []).append(event)
    end = max(event["ts"] + event["dur"] for line in lines.values() for event in line)
    figure, [[axes]] = charts(paper.INCHES, 0.6 + 0.5 * len(lines))
    calls = {event["args"]["correlation"]: event for event in lines["calls"]}
    row_of_calls = [*lines].index("calls")
    for level, (name, line) in enumerate(lines.items()):
        on_device = name.startswith("stream")
        fill = "0.82" if on_device else "0.45" if name == "calls" else f"{0.9 - 0.07 * (level % 4):.2f}"
        for event in line:
            start, long = event["ts"] - first, event["dur"]
            text = "" if on_device else event["name"].removeprefix("aten::")
            paper.bar(axes, (start, level + 0.12, long, 0.76), fill, text, (paper.INCHES - 1.2) / (end - first), 5)
            call = calls.get(event["args"].get("correlation")) if on_device else None
            if call:
                axes.plot([call["ts"] - first, start], [row_of_calls + 0.88, level + 0.12], color=INK, linewidth=0.9)
    axes.set(xlim=(0, end - first), ylim=(len(lines), 0), xlabel=f"time in {unit}")
    paper.name_rows(axes, list(lines), 9.5)
    return figure


def roofline(points: Sequence[tuple[str, float, float]], peak: float, bandwidth: float) -> Picture:
    """Programs below the roof of a machine: its products per second, or its memory, whichever is the lower limit.

    Args:
        points: a name, the FLOPs for each byte of memory, and the measured FLOPs per second.
        peak: FLOPs per second.
        bandwidth: bytes per second.
    """
    figure, [[axes]] = charts(8.0, 4.0)
    ridge = peak / bandwidth
    low = min(ridge / 30, *(0.5 * at for _, at, _ in points))
    high = max(ridge * 30, *(2 * at for _, at, _ in points))
    axes.plot([low, ridge, high], [low * bandwidth / 1e9, peak / 1e9, peak / 1e9], color=INK, linewidth=1.6)
    axes.axvline(ridge, color=FAINT, linewidth=0.8, linestyle=":")
    for name, at, reached in points:
        axes.plot(at, reached / 1e9, "o", color=OURS, markersize=7, markeredgecolor=INK)
        style = {"textcoords": "offset points", "ha": "center", "size": 10, "color": INK}
        axes.annotate(name, (at, reached / 1e9), (0, -17), **style)
    axes.set(xscale="log", yscale="log", xlabel="FLOPs for each byte", ylabel="GFLOP per second")
    axes.set_xlim(low, high)
    axes.set_ylim(0.5 * (min(low * bandwidth, *(reached for *_, reached in points)) / 1e9), 3 * peak / 1e9)
    axes.grid(color=FAINT, alpha=0.15)
    return figure
