"""Pictures of quantised and pruned numbers: staircases, histograms with ranges, masks, sizes and scores of a model."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from rushlight.course.draw.paper import FAINT, INK, MARK, OURS, TORCH, Picture, charts, panels

Range = tuple[str, float, float]


def histogram(counts: Sequence[float], low: float, high: float, ranges: Sequence[Range]) -> Picture:
    """A histogram of equal bins between two ends, its counts on a logarithmic axis, and below it a line for each range: its
    name, its least and its greatest value."""
    figure, grid = charts(8, 3.2 + 0.25 * len(ranges), 2, sharex=True, height_ratios=(3, 0.35 * len(ranges) + 0.2))
    upper, lower = grid[:, 0]
    upper.stairs(counts, np.linspace(low, high, len(counts) + 1), fill=True, color="0.75")
    upper.set(yscale="log", ylabel="values", ylim=(0.7, None))
    lower.set(ylim=(len(ranges) - 0.4, -0.6), xlabel="value")
    lower.set_yticks(range(len(ranges)), [name for name, *_ in ranges])
    for row, (_, first, last) in enumerate(ranges):
        lower.plot([first, last], [row, row], color=MARK, linewidth=2, marker="|", markersize=9, solid_capstyle="butt")
    return figure


def sizes_and_scores(rows: Sequence[tuple[str, float, float]]) -> Picture:
    """For each model a line: its name, its size in bytes as a bar, and its score between 0 and 1 as a dot."""
    figure, grid = charts(8, 0.9 + 0.3 * len(rows), 1, 2, sharey=True)
    left, right = grid[0]
    names, sizes, scores = zip(*rows)
    at = range(len(rows))
    left.barh(at, [size / 1000 for size in sizes], color="0.75", height=0.6)
    for row, size in enumerate(sizes):
        left.text(size / 1000 + 2, row, f"{size / 1000:.0f}", va="center", size=10, color=INK)
    left.set(xlabel="kilobytes", xlim=(0, 1.15 * max(sizes) / 1000))
    left.set_yticks(at, names)
    left.invert_yaxis()
    right.hlines(at, 0, scores, color="0.85", linewidth=1)
    right.plot(scores, at, "o", color=OURS, markersize=7)
    for row, score in enumerate(scores):
        right.text(score + 0.03, row, f"{score:.0%}", va="center", size=10, color=INK)
    right.set(xlabel="right answers", xlim=(0, 1.2), xticks=(0, 0.5, 1))
    return figure


def steps(x: Sequence[float], lines: Sequence[tuple[str, Sequence[float]]], marks: Sequence[float] = ()) -> Picture:
    """Functions of x as staircases, and dotted vertical lines at some x."""
    figure, grid = charts(7, 3)
    axes = grid[0, 0]
    for (name, y), (color, width, style) in zip(lines, ((FAINT, 1, "--"), (OURS, 2.4, "-"), (TORCH, 1.4, (0, (4, 2))))):
        axes.plot(x, y, color=color, linewidth=width, linestyle=style, label=name)
    for mark in marks:
        axes.axvline(mark, color=MARK, linewidth=0.8, linestyle=":")
    axes.set_xlabel("x")
    axes.legend(frameon=False, fontsize=10)
    return figure


def masks(weight: np.ndarray, drawn: Sequence[tuple[str, np.ndarray]], grid: int = 4) -> Picture:
    """A weight under several masks, two panels in a line: the darker a cell, the larger the number, and a removed number leaves
    its cell empty. `drawn`: for each its name, and the mask. `grid`: the distance of the lines that show the blocks."""
    height, width = weight.shape
    figure, axes_grid = panels([name for name, _ in drawn], 2, 4.3, 2.5)
    shade = 0.25 + 0.75 * (np.abs(weight) / np.abs(weight).max()) ** 0.5  # the root makes small numbers visible
    for axes, (_, mask) in zip(axes_grid.flat, drawn):
        axes.imshow(np.where(mask, shade, 0.0), cmap="Greys", vmin=0, vmax=1.3, extent=(0, width, height, 0))
        axes.set_xticks(range(0, width + 1, grid), [])
        axes.set_yticks(range(0, height + 1, grid), [])
        axes.grid(color=MARK, linewidth=0.5)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(True)
    return figure


LOOKS = (  # of a family of points: full or empty, so that a print without colour shows them apart
    {"marker": "s", "color": FAINT, "markersize": 6},
    {"marker": "o", "color": OURS, "markersize": 7},
    {"marker": "^", "color": INK, "markersize": 7, "markerfacecolor": "white", "markeredgewidth": 1.4},
)


def trade_off(families: Sequence[tuple[str, Sequence[tuple[str, float, float]]]], x: str, y: str) -> Picture:
    """Points by their size, on a logarithmic axis, and their score between 0 and 1, each with its name. A dashed line joins the
    points that are best for their size: no other point is as small and as good. `families`: up to three, each with its name and
    its points: a name, the size, and the score."""
    figure, [[axes]] = charts(8.6, 5.6)
    points = [point for _, members in families for point in members]
    beaten = {(size, score) for _, size, score in points if any(_beats(other, size, score) for _, *other in points)}
    best = sorted({(size, score) for _, size, score in points} - beaten)
    corners = [(at, score) for (size, score), (end, _) in zip(best, best[1:] + best[-1:]) for at in (size, end)]
    axes.plot(*zip(*corners), color=MARK, linewidth=1.2, linestyle="--", label="best for its size")
    for (name, members), look in zip(families, LOOKS):
        axes.plot([size for _, size, _ in members], [score for *_, score in members], linestyle="", label=name, **look)
    sizes = [size for _, size, _ in points]
    axes.set(xlabel=x, ylabel=y, xscale="log", xlim=(min(sizes) / 1.25, max(sizes) * 1.35), ylim=(-0.03, 1.3))
    ticks = [10 * 2**i for i in range(12) if min(sizes) / 1.25 <= 10 * 2**i <= max(sizes) * 1.35]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1], ["0", "20 %", "40 %", "60 %", "80 %", "100 %"])
    axes.legend(frameon=False, fontsize=9.5, loc="lower right")
    _write_names(figure, axes, points)
    return figure


def _beats(other: Sequence[float], size: float, score: float) -> bool:
    return other[0] <= size and other[1] >= score and (other[0] < size or other[1] > score)


Place = tuple[float, float]
PLACES = (  # of a name, in points from its point: beside it, above, below, then farther and farther above and below
    (8, 0, "left", "center"), (-8, 0, "right", "center"), (0, 8, "center", "bottom"), (0, -8, "center", "top"),
    *((dx, dy, "left" if dx > 0 else "right", "bottom" if dy > 0 else "top") for dx in (7, -7) for dy in (3, -3)),
    *((dx, sign * (16 + 12 * i), "center", "bottom" if sign > 0 else "top") for i in range(9) for sign in (1, -1)
      for dx in (0, -15, 15, -30, 30, -45, 45)),
)  # fmt: skip


def _write_names(figure: Picture, axes: Axes, points: Sequence[tuple[str, float, float]]) -> None:
    """The name of each point near it, where it covers as few points, lines and other names as possible. Points at one place, or so
    near that they look like one, share a text. A thin line leads to a name that is farther away."""
    figure.draw_without_rendering()
    names: dict[Place, list[str]] = {}
    for name, size, score in points:
        near = (place for place in names if abs(place[0] / size - 1) < 0.01 and abs(place[1] - score) < 0.005)
        names.setdefault(next(near, (size, score)), []).append(name)
    style = {"textcoords": "offset points", "size": 9, "color": INK}
    texts = {place: axes.annotate("\n".join(labels), place, (0, 0), **style) for place, labels in names.items()}
    at, pixels = {place: axes.transData.transform(place) for place in names}, figure.dpi / 72  # of a point
    sizes = {place: np.array(text.get_window_extent().size) for place, text in texts.items()}
    choices = {place: [_choice(sizes[place], at[place], offset, pixels) for offset in PLACES] for place in names}
    solid = np.concatenate([_squares([*at.values()], 6 * pixels), [axes.get_legend().get_window_extent().extents]])
    drawn = _squares(_along(axes.transData.transform(axes.lines[0].get_path().vertices)), 1)
    orders = [sorted(names, key=lambda place: sign * place[i]) for i in (0, 1) for sign in (1, -1)]
    _, chosen = min((_settle(axes, order, choices, solid, drawn) for order in orders), key=lambda result: result[0])
    for place, ((dx, dy, side, upright), _, leader) in chosen.items():
        texts[place].set(position=(dx, dy), ha=side, va=upright)
        if len(leader):
            line = {"arrowstyle": "-", "color": FAINT, "linewidth": 0.6, "shrinkA": 0, "shrinkB": 4}
            axes.annotate("", place, (dx, dy), textcoords="offset points", arrowprops=line)


def _choice(size: np.ndarray, at: np.ndarray, where: tuple, pixels: float) -> tuple:
    """A place for a text of this width and height, the box that it would fill, and squares along the line to it, in pixels."""
    dx, dy, side, upright = where
    shift = {"left": 0, "center": 0.5, "right": 1}[side], {"bottom": 0, "center": 0.5, "top": 1}[upright]
    end = at + np.array([dx, dy]) * pixels
    corner = end - size * shift
    way = _along([at, end])[4:] if abs(dy) > 12 else []
    return where, np.concatenate([corner - 2, corner + size + 2]), _squares(way, 1)


def _settle(axes: Axes, order: Sequence[Place], choices: Mapping, solid: np.ndarray, drawn: np.ndarray) -> tuple:
    """In this order, each name takes the best of its choices, given those of the others, three times. The cost of all, and the
    choices."""
    chosen: dict[Place, tuple] = {}
    for _ in range(3):
        costs = []
        for place in order:
            others = [choice for key, choice in chosen.items() if key != place]
            full = np.concatenate([solid, *(box[None] for _, box, _ in others)])
            lines = np.concatenate([drawn, *(leader for *_, leader in others)])
            tried = [_cost(axes, *choice, full, lines) for choice in choices[place]]
            costs.append(min(tried))
            chosen[place] = choices[place][tried.index(costs[-1])]
    return sum(costs), chosen


def _cost(axes: Axes, where: tuple, box: np.ndarray, leader: np.ndarray, full: np.ndarray, lines: np.ndarray) -> float:
    """How far away a text would be, in points, and much more for each thing that it or its line would cover."""
    outside = (box[:2] < axes.bbox.extents[:2]).any() or (box[2:] > axes.bbox.extents[2:]).any()
    covered = _overlaps(box[None], full) + _overlaps(box[None], lines) + _overlaps(leader, full)
    return 1000 * (covered + 100 * outside) + abs(where[0]) / 2 + abs(where[1])


def _squares(middles: Sequence[np.ndarray], half: float) -> np.ndarray:
    middles = np.reshape(middles, (-1, 2))
    return np.concatenate([middles - half, middles + half], 1)


def _overlaps(boxes: np.ndarray, others: np.ndarray) -> int:
    """The number of pairs of boxes, each x0, y0, x1, y1, that have a point in common."""
    common = (boxes[:, None, :2] < others[:, 2:]) & (others[:, :2] < boxes[:, None, 2:])
    return int(common.all(-1).sum())


def _along(corners: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Points on a line through these corners, about 3 pixels apart."""
    pairs = zip(corners, corners[1:])
    return [point for a, b in pairs for point in np.linspace(a, b, 2 + int(np.hypot(*(b - a)) / 3))]
