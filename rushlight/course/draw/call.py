"""Pictures of one call in real torch: the layers that it passes, a profile's timeline, an asynchronous device.

Greys have the same meaning in all pictures: a darker grey means more self time. Hatched means time spent waiting.
"""

from collections.abc import Sequence
from typing import Any

from rushlight.course.draw import paper
from rushlight.course.draw.paper import CHARACTER, INK, MARGIN, MONO, arrow, charts, rectangle, sheet

LAYERS = ("Python frontend", "dispatcher", "ATen and c10", "compiler")
BANDS = ("1.0", "0.94", "0.88", "0.94")


def layers(paths: Sequence[tuple[str, Sequence[tuple[str, str]]]]) -> paper.Picture:
    """Calls side by side, from top to bottom, with each step in its layer of PyTorch. `paths`: for each call its title and
    its steps in order, a layer of LAYERS and a text each."""
    label = max(map(len, LAYERS)) * 8 * CHARACTER + 0.6
    wides = [max(len(title) * 9, max(len(text) for _, text in steps) * 7.5) * CHARACTER + 1.4 for title, steps in paths]
    row, counts = 0.95, [max(sum(at == layer for at, _ in steps) for _, steps in paths) for layer in LAYERS]
    tops = [MARGIN + 0.9 + sum(max(count, 1) * row + 0.4 for count in counts[:i]) for i in range(len(LAYERS) + 1)]
    width = 2 * MARGIN + label + sum(wides)
    figure, axes = sheet(width, tops[-1] + MARGIN)
    for i, layer in enumerate(LAYERS):
        rectangle(axes, MARGIN, tops[i], width - 2 * MARGIN, tops[i + 1] - tops[i] - 0.06, BANDS[i])
        axes.text(MARGIN + 0.25, (tops[i] + tops[i + 1]) / 2, layer, size=8.5, weight="bold", **MONO)
    for j, (title, steps) in enumerate(paths):
        left = MARGIN + label + sum(wides[:j]) + 0.35
        axes.text(left, MARGIN + 0.35, title, size=9, weight="bold", **MONO)
        before = None
        for k, (layer, text) in enumerate(steps):
            i = LAYERS.index(layer)
            at = sum(earlier == layer for earlier, _ in steps[:k])
            top = tops[i] + 0.25 + at * row
            rectangle(axes, left, top, wides[j] - 0.7, 0.62, "white", INK, zorder=3)
            axes.text(left + 0.2, top + 0.31, text, size=7.5, zorder=4, **MONO)
            if before is not None:
                arrow(axes, (left + 0.6, before), (left + 0.6, top), zorder=2, linewidth=0.9)
            before = top + 0.62
    return figure


def spans(events: Sequence[Any], own: Sequence[float] | None = None, unit: str = "µs") -> paper.Picture:
    """The events of a profile over time: an event is below the event that called it, and each thread has a panel. `events`:
    each with a `name`, a `thread`, and its `start` and `end` in any unit. `own`: for each event its self time, without the
    events that it called; the longer, the darker its bar."""
    first, last = min(event.start for event in events), max(event.end for event in events)
    darkest = max(own or [0]) or 1
    threads = list(dict.fromkeys(event.thread for event in events))
    panels = {thread: [i for i, event in enumerate(events) if event.thread == thread] for thread in threads}
    around = lambda event, e: e.thread == event.thread and e.start <= event.start and event.end <= e.end  # noqa: E731
    levels = [sum(around(event, e) for e in events) - 1 for event in events]  # an event is inside itself
    deep = [max(levels[i] for i in panel) + 1 for panel in panels.values()]
    figure, grid = charts(9.6, 0.7 + 0.32 * sum(deep), len(threads), sharex=True, height_ratios=deep)
    for axes, depth, (thread, panel) in zip(grid[:, 0], deep, panels.items()):
        for i in panel:
            event, long = events[i], events[i].end - events[i].start
            fill = f"{1 - 0.75 * own[i] / darkest:.2f}" if own else "0.9"
            box = event.start - first, levels[i] + 0.06, long, 0.88
            paper.bar(axes, box, fill, event.name.removeprefix("aten::"), (paper.INCHES - 0.8) / (last - first), 6)
        axes.set(xlim=(0, last - first), ylim=(depth, 0), yticks=[])
        axes.spines[["top", "right", "left"]].set_visible(False)
        if len(threads) > 1:
            axes.set_ylabel(f"thread {thread}", size=8)
    grid[-1, 0].set_xlabel(f"time in {unit}")
    return figure


Done = tuple[str, float, float]  # name of the work, start, end
Read = tuple[str, float]  # text, time


def queues(
    panels: Sequence[tuple[str, Sequence[Done], Sequence[Done], Sequence[Read]]], unit: str = "ms"
) -> paper.Picture:
    """A program and its device on one time axis: the program's work above, the device's work below. `panels`: for each a
    title, the program's work, the device's work, and the times at which a clock was read, with a text each. Work named "wait"
    is hatched."""
    last = max(end for _, program, device, _ in panels for _, _, end in (*program, *device))
    figure, grid = charts(8.8, 1.6 * len(panels) + 0.4, len(panels), sharex=True)
    for axes, (title, program, device, reads) in zip(grid[:, 0], panels):
        for level, (line, grey) in enumerate(((program, "0.45"), (device, "0.80"))):
            for name, start, end in line:
                fill = None if name == "wait" else grey
                paper.bar(axes, (start, level + 0.14, end - start, 0.72), fill, name, (paper.INCHES - 2) / last)
        for i, (text, moment) in enumerate(reads):
            axes.plot([moment, moment], [-0.12, 2], color=INK, linewidth=1, linestyle="--", clip_on=False)
            axes.text(moment, -0.28, f" {text} ", size=7.5, ha="left" if i % 2 else "right", **MONO)
        axes.set_title(title, size=9, family="monospace", loc="left", pad=20)
        axes.set(xlim=(-0.02 * last, 1.08 * last), ylim=(2, 0))
        axes.set_yticks([0.5, 1.5], ["program", "device"], size=8)
    grid[-1, 0].set_xlabel(f"time in {unit}")
    return figure


def halves(looks: Sequence[tuple[int, int, int, bool]], steps: int) -> paper.Picture:
    """A search by halves, a row for each look. A look is the last step known to be right, the first one known to be wrong, the step
    that is looked at, and whether it is right. Steps that are still possible are grey, and steps ruled out are hatched."""
    wide, left = 14.4 / steps, 2.6
    figure, axes = paper.sheet(left + steps * wide + 2.8, len(looks) + 0.4)
    for top, (right, wrong, middle, is_right) in enumerate(looks):
        paper.write(axes, 0.2, top + 0.65, f"look {top + 1}", size=8.5)
        for start, end in ((0, right), (right, wrong), (wrong, steps)):
            fill = "0.82" if start == right else None
            paper.rectangle(axes, left + start * wide, top + 0.3, (end - start) * wide, 0.7, fill)
        paper.rectangle(axes, left + (middle - 1) * wide, top + 0.2, wide, 0.9, paper.MARK, edge=paper.INK)
        text = f"{middle}: {'right' if is_right else 'wrong'}"
        paper.write(axes, left + steps * wide + 0.3, top + 0.65, text, size=8.5)
    return figure
