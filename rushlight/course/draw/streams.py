"""Pictures of a device with streams: work over time, a graph and its replay, and the waves of tiles of a matrix product.

In a timeline a kernel is light grey, a copy is middle grey, and a launch is dark grey. Hatching is waiting: a host that waits, or
a stream that waits for its next launch. Purple is a race. An arrow goes from an event's work to the first work that waits for the
event.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes

from rushlight.course.draw import paper
from rushlight.course.draw.paper import CHARACTER, FAINT, INK, MARGIN, MARK, MONO, Picture, arrow, charts, sheet
from rushlight.cuda.graphs import CUDAGraph
from rushlight.cuda.simulator import DEFAULT_STREAM, Device, Span
from rushlight.cuda.waves import quantize

KERNEL, COPY, LAUNCH = "0.88", "0.68", "0.40"
CHARACTER_INCHES = 0.07  # of size 7.5
LANE_INCHES = 0.42


def stream_timeline(programs: Device | Sequence[tuple], unit: str = "µs") -> Picture:
    """Draw the host's calls above, and the work of each stream below them, over time.

    Args:
        programs: a device; or a tuple for each panel, (title, device) or (title, device, races), where `races` is a list as
            `rushlight.cuda._sanitizer.find_races` returns it.
    """
    panels = [("", programs)] if isinstance(programs, Device) else list(programs)
    lanes = [_lanes(device.timeline) for _, device, *_ in panels]
    last = max(_last(device) for _, device, *_ in panels)
    figure, axes = _panels([title for title, *_ in panels], lanes, last, unit)
    for axis, lane, (_, device, *races) in zip(axes, lanes, panels, strict=True):
        spans_of, orders = _walk(device)
        racing = {access for race in (races[0] if races else ()) for access in (race.current, race.previous)}
        marked = {i for number in racing for i in spans_of.get(number, ())}
        _draw_host(axis, device, device.timeline)
        for i, span in enumerate(device.timeline):
            _box(axis, lane[span.stream], span.start, span.end, _name(span), MARK if i in marked else _fill(span))
        for before, after in orders:
            start, end = device.timeline[before], device.timeline[after]
            if lane[start.stream] != lane[end.stream]:
                down = lane[end.stream] > lane[start.stream]
                at = lane[start.stream] + (0.88 if down else 0.12), lane[end.stream] + (0.12 if down else 0.88)
                arrow(axis, (start.end, at[0]), (end.start, at[1]), linewidth=1.3)
    return figure


def graph_replay(eager: Device, replay: Device, unit: str = "µs") -> Picture:
    """The last replay of a graph, against as many kernels that were launched one by one.

    Hatched is a stream whose next work is not launched yet. Any other gap before work is a wait for another stream or an engine.

    Args:
        eager: its last work is what is drawn. Its streams may be others than those of the capture.
        replay: it has replayed a graph that is not empty.
    """
    spans = [span for span in replay.timeline if span.queued == replay.timeline[-1].queued]
    drawings = [(f"{len(spans)} launches", eager, eager.timeline[-len(spans) :]), ("one replay", replay, spans)]
    begins = [min(span.queued for span in drawn) - device.launch_overhead for _, device, drawn in drawings]
    last = max(max(span.end for span in drawn) - begin for begin, (*_, drawn) in zip(begins, drawings))
    lanes = [_lanes(drawn) for *_, drawn in drawings]
    figure, axes = _panels([title for title, *_ in drawings], lanes, last, unit)
    for axis, lane, begin, (_, device, drawn) in zip(axes, lanes, begins, drawings, strict=True):
        _draw_host(axis, device, drawn, begin)
        for stream, level in lane.items():
            free = begin
            for span in (event for event in drawn if event.stream == stream):
                if span.queued > free:
                    paper.bar(axis, (free - begin, level + 0.12, span.queued - free, 0.76), None)
                free = span.end
        for span in drawn:
            _box(axis, lane[span.stream], span.start - begin, span.end - begin, _name(span), _fill(span))
    return figure


def capture_graph(graph: CUDAGraph) -> Picture:
    """The nodes of a captured graph, a row for each stream of the capture. An arrow goes to a node that must wait."""
    depths: list[int] = []
    for node in graph.nodes:
        depths.append(1 + max((depths[i] for i in node.dependencies), default=-1))
    lanes = {stream: level for level, stream in enumerate(dict.fromkeys(node.stream for node in graph.nodes))}
    labels = {stream: _stream(stream) for stream in lanes}
    size, gap, row = 7.5, 0.9, 1.5
    longest = [1] * (max(depths, default=0) + 1)  # name at each depth, in characters
    for node, depth in zip(graph.nodes, depths):
        longest[depth] = max(longest[depth], len(_name(node.work)))
    wides = [count * size * CHARACTER + 0.6 for count in longest]
    label = max((len(text) for text in labels.values()), default=0) * 8 * CHARACTER + 0.5
    lefts = [MARGIN + label + sum(wides[:i]) + gap * i for i in range(len(wides))]
    figure, axes = sheet(lefts[-1] + wides[-1] + MARGIN, 2 * MARGIN + row * max(len(lanes), 1) - 0.5)
    middles = {stream: MARGIN + 0.5 + row * level for stream, level in lanes.items()}
    for stream, text in labels.items():
        axes.text(MARGIN, middles[stream], text, size=8, weight="bold", **MONO)
    for node, depth in zip(graph.nodes, depths):
        here = lefts[depth], middles[node.stream]
        paper.rectangle(axes, here[0], here[1] - 0.36, wides[depth], 0.72, _fill(node.work), INK, zorder=3)
        axes.text(here[0] + wides[depth] / 2, here[1], _name(node.work), size=size, ha="center", zorder=4, **MONO)
        for i in node.dependencies:
            start = lefts[depths[i]] + wides[depths[i]], middles[graph.nodes[i].stream]
            far = depth - depths[i] > 1 and graph.nodes[i].stream == node.stream
            arrow(axes, start, here, zorder=2, **({"connectionstyle": "arc3,rad=-0.25"} if far else {}))
    return figure


def wave_steps(
    sizes: range,
    n: int,
    tile: tuple[int, int] = (128, 128),
    multiprocessors: int = 108,
    blocks_each: int = 1,
    shown: int | None = None,
) -> Picture:
    """The waves of a product with m rows and n columns, and the share of the device's work that is useful.

    Below are the tiles of the last wave for `shown` rows, by default the last of `sizes`. Hatched is a place without a tile.

    Args:
        sizes: from its first m to its last one. Both curves are exact between them, whatever its step is.
    """
    first, last = sizes[0], sizes[-1]
    # A step goes from a multiple of the tile's height to one row more. Between two steps both curves are straight.
    full = range(first // tile[0] * tile[0], last, tile[0])
    rows = sorted({first, last, *(m for multiple in full for m in (multiple, multiple + 1) if m > first)})
    quantizations = [quantize(m, n, tile, multiprocessors, blocks_each) for m in rows]
    shown = last if shown is None else shown
    places, here = multiprocessors * blocks_each, quantize(shown, n, tile, multiprocessors, blocks_each)
    across = min(places, 36)
    down = -(-places // across)
    heights = [1.3, 1.3, 0.3 + 0.2 * down]
    figure, grid = charts(paper.INCHES, 1.0 + sum(heights), 3, height_ratios=heights)
    above, middle, below = grid[:, 0]
    waves = [quantized.waves for quantized in quantizations]
    useful = [quantized.tile_efficiency * quantized.wave_efficiency for quantized in quantizations]
    titles = "waves", "share of the device's work that is useful"
    for axis, values, title, end in zip((above, middle), (waves, useful), titles, (None, 1.05)):
        axis.plot(rows, values, color=INK)
        axis.set(ylim=(0, end), xlim=(first, last))
        axis.set_title(title, size=10, loc="left", color=INK)
        axis.axvline(shown, color=MARK, linestyle=":", linewidth=1.4)
        axis.grid(color=FAINT, alpha=0.15)
    middle.set_xlabel("rows m")
    rest = here.tiles - (here.waves - 1) * places
    for i in range(places):
        paper.rectangle(below, i % across + 0.08, i // across + 0.08, 0.84, 0.84, "0.75" if i < rest else None, INK)
    below.set(xlim=(0, across), ylim=(down, 0), aspect="equal", xticks=[], yticks=[], anchor="W")
    below.set_title(f"m = {shown}: {rest} of {places} places in the last wave", size=10, loc="left", color=INK)
    paper.hide_spines(below)
    return figure


# Parts of a timeline -------------------------------------------------------------------------------------------------


def _panels(
    titles: Sequence[str], lanes: Sequence[Mapping[int, int]], last: float, unit: str
) -> tuple[Picture, list[Axes]]:
    heights = [len(rows) + 1 + 0.7 * bool(title) for title, rows in zip(titles, lanes)]
    inches = 0.55 + LANE_INCHES * sum(heights)
    figure, grid = charts(paper.INCHES, inches, len(titles), sharex=True, height_ratios=heights)
    for axes, title, lane in zip(grid[:, 0], titles, lanes, strict=True):
        if title:
            axes.set_title(title, size=10, loc="left", color=INK)
        axes.set(xlim=(0, 1.01 * last), ylim=(len(lane) + 1, 0))
        axes.room = (paper.INCHES - 1.3) / last  # inches for a unit of time
        paper.name_rows(axes, ["host", *map(_stream, lane)], 9.5)
    grid[-1, 0].set_xlabel(f"time in {unit}")
    return figure, [*grid[:, 0]]


def _lanes(spans: Sequence[Span]) -> dict[int, int]:
    """The streams that have work, in ascending order, and their rows below the host."""
    return {stream: level for level, stream in enumerate(sorted({span.stream for span in spans}), 1)}


def _last(device: Device) -> float:
    return max([device.now, *(span.end for span in device.timeline)])


def _draw_host(axes: Axes, device: Device, spans: Sequence[Span], begin: float = 0.0) -> None:
    """The host's lane: launches, other work, and waiting."""
    for queued in dict.fromkeys(span.queued for span in spans):
        _box(axes, 0, queued - device.launch_overhead - begin, queued - begin, "", LAUNCH)
    for what, start, end in device.host_timeline:
        if start >= begin and what == "wait":
            paper.bar(axes, (start - begin, 0.12, end - start, 0.76), None)
        elif start >= begin:
            _box(axes, 0, start - begin, end - begin, what, "white" if what == "busy" else LAUNCH)


def _box(axes: Axes, level: int, start: float, end: float, text: str, fill: str) -> None:
    paper.bar(axes, (start, level + 0.12, end - start, 0.76), fill, text, axes.room, 4)


def _walk(device: Device) -> tuple[dict[int, list[int]], list[tuple[int, int]]]:
    """The numbers of the spans of each launch, which are counted from 1, and the pairs of spans that an event orders."""
    spans_of: dict[int, list[int]] = {}
    orders: list[tuple[int, int]] = []
    last: dict[int, set[int]] = {}  # by stream: the spans that its next work waits for
    marks: dict[int, set[int]] = {}
    position = 0
    for step in device.trace:
        if step[0] == "launch":
            own = [*range(position, position + _length(device.timeline, position, step))]
            spans_of[len(spans_of) + 1] = own
            if own:
                position = own[-1] + 1
                first = min(own, key=lambda i: device.timeline[i].start)
                orders += [(before, first) for before in sorted(last.get(step[1], ()))]
                last[step[1]] = {max(own, key=lambda i: device.timeline[i].end)}
        elif step[0] == "record":
            marks[step[1]] = set(last.get(step[2], ()))
        elif step[0] == "wait":
            last[step[2]] = last.get(step[2], set()) | marks.get(step[1], set())
    return spans_of, orders


def _length(timeline: Sequence[Span], position: int, launch: Sequence[Any]) -> int:
    """How many spans a launch has: one, or, if it is the replay of a graph, all that were queued at the same time."""
    if launch[-1] != "graph":
        return 1
    queued = timeline[position].queued if position < len(timeline) else None
    return sum(span.queued == queued for span in timeline[position:])


def _stream(stream: int) -> str:
    return "default stream" if stream == DEFAULT_STREAM else f"stream {stream}"


def _name(work: Any) -> str:
    return work.name.removeprefix("Memcpy ")


def _fill(work: Any) -> str:
    return KERNEL if work.engine is None else COPY
