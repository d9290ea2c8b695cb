"""Pictures of memory: blocks in segments, bytes of each category over time, and bytes against what must be computed again.

In a map of memory, grey is allocated, purple is freed but still in use on another stream, and hatching is free.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rushlight.course.draw import paper
from rushlight.course.draw.paper import FAINT, INK, MARK, Picture, charts

MIB = 1 << 20
FILLS = {"active_allocated": "0.82", "active_pending_free": MARK}
LOOKS = {  # from the bottom; an area is a grey, the mark, or hatched
    "parameter": {"facecolor": "0.35"},
    "optimizer_state": {"facecolor": "0.52"},
    "input": {"facecolor": "0.92"},
    "temporary": {"facecolor": "white", "hatch": "////", "edgecolor": "0.6"},
    "activation": {"facecolor": MARK},
    "gradient": {"facecolor": "0.68"},
    "autograd_detail": {"facecolor": "0.82"},
    "unknown": {"facecolor": "white", "hatch": "\\\\\\\\", "edgecolor": "0.6"},
}


def memory_map(moments: Sequence[tuple[str, Sequence[dict[str, Any]]]]) -> Picture:
    """The segments of an allocator at several moments, a row for each: blocks in the order of their addresses, in MiB. The size of
    a segment is below it, because a block may have no room for a number.

    Args:
        moments: for each row a label, and the segments as `CachingAllocator.snapshot` or `torch.cuda.memory._snapshot` has them.
    """
    widest = max(sum(segment["total_size"] for segment in segments) for _, segments in moments) / MIB
    gap = 0.02 * widest
    widest += gap * max(len(segments) - 1 for _, segments in moments)
    figure, [[axes]] = charts(paper.INCHES, 0.4 + 0.8 * len(moments))
    axes.set(
        xlim=(-0.002 * widest, 1.002 * widest), ylim=(len(moments), 0), xlabel="sizes in MiB", xticks=[], yticks=[]
    )
    for row, (name, segments) in enumerate(moments):
        left = 0.0
        axes.text(0, row + 0.17, name, size=9.5, va="center", color=INK)
        for segment in segments:
            start = left
            for block in segment["blocks"]:
                width, fill = block["size"] / MIB, FILLS.get(block["state"])
                paper.bar(axes, (left, row + 0.34, width, 0.36), fill, f"{width:.3g}", paper.INCHES / widest)
                left += width
            paper.rectangle(axes, start, row + 0.31, left - start, 0.42, "none", INK, linewidth=1.4)
            paper.write(axes, (start + left) / 2, row + 0.85, f"{segment['total_size'] / MIB:.3g}", 8, ha="center")
            left += gap
    paper.hide_spines(axes)
    return figure


def memory_timeline(
    times: Sequence[int], sizes: Sequence[Sequence[int]], marks: Sequence[tuple[str, int]] = ()
) -> Picture:
    """The bytes of each category after each moment, one above the other. The moments have equal distances.

    Args:
        times, sizes: as `coalesce_timeline` returns them.
        marks: a name and a time each: a dotted line at the first moment from then on.
    """
    figure, [[axes]] = charts(paper.INCHES, 3.6)
    stacked = np.cumsum(np.array(sizes).T / 1e6, axis=0)
    moments, below = np.arange(len(times) + 1), np.zeros(len(times))
    for row, (name, look) in zip(stacked, LOOKS.items(), strict=True):
        if (row > below).any():
            top, bottom = (np.append(values, values[-1]) for values in (row, below))
            axes.fill_between(moments, bottom, top, step="post", label=name, linewidth=0.3, **{"edgecolor": INK} | look)
        below = row
    axes.set(xlim=(0, len(times)), ylim=(0, 1.12 * stacked[-1].max()), xlabel="moments", ylabel="megabytes")
    for name, time in marks:
        at = next((i for i, moment in enumerate(times) if moment >= time), len(times))
        axes.axvline(at, color=INK, linewidth=0.8, linestyle=":")
        where = at + 0.005 * len(times), 1.06 * stacked[-1].max()
        axes.text(*where, name, size=9.5, color=INK, bbox=paper.PLATE | {"pad": 1.0})
    handles, names = axes.get_legend_handles_labels()
    axes.legend(handles[::-1], names[::-1], loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=10)
    return figure


def memory_trade(
    points: Sequence[tuple[str, float, float]], x: str = "megabytes at the peak", y: str = "operators computed again"
) -> Picture:
    """A dot for each way to train: its name, the memory that it needs, and what it computes again."""
    figure, [[axes]] = charts(7.5, 3.4)
    for name, kept, again in points:
        axes.plot(kept, again, "o", color=MARK, markersize=7)
        axes.annotate(name, (kept, again), xytext=(9, 0), textcoords="offset points", va="center", size=10, color=INK)
    most, top = max(kept for _, kept, _ in points), max(again for *_, again in points)
    axes.set(xlim=(-0.04 * most, 1.45 * most), ylim=(-0.1 * top, 1.2 * top), xlabel=x, ylabel=y)
    axes.grid(color=FAINT, alpha=0.2)
    return figure


def batch_timeline(loaders: Sequence[tuple[str, Sequence[tuple[int, int]], Sequence[int]]], x: str = "ms") -> Picture:
    """The training loop over time, a row for each loader: steps in grey, and hatched while it waits for a batch.

    Args:
        loaders: for each row a label, the pairs of `batch_times`, and the time of each step.
    """
    figure, [[axes]] = charts(paper.INCHES, 0.7 + 0.45 * len(loaders))
    end = max(times[-1][1] + steps[-1] for _, times, steps in loaders)
    for row, (_, times, steps) in enumerate(loaders):
        for i, ((asked, got), step) in enumerate(zip(times, steps, strict=True)):
            if got > asked:
                paper.bar(axes, (asked, row, got - asked, 0.62), None)
            paper.bar(axes, (got, row, step, 0.62), "0.82", i, 8 / end)
    axes.set(xlim=(0, 1.01 * end), ylim=(len(loaders) - 0.1, -0.2), xlabel=x)
    paper.name_rows(axes, [name for name, *_ in loaders], 10, 0.31)
    return figure
