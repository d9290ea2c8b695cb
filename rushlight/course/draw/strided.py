"""Pictures of strided tensors, and of loops over them.

A strided tensor is drawn as the grid that a program sees, above its memory. A cell shows its element and, small, the index of
the element in the storage. The shade depends on this index, from light to dark along the memory. So a transposed grid looks
transposed, and an element that occurs twice looks the same twice. Arrows show the strides: the distance of one step in the
row below. Elements that no view reaches are hatched.
"""

import itertools
import math
import operator
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator

from rushlight.aten.strided import Tensor, compute_stride
from rushlight.course.draw import paper
from rushlight.course.draw.paper import CHARACTER, FAINT, INK, MARGIN, MONO, Point, arrow, charts, rectangle, sheet

PER_LINE = 16  # elements of the storage in one line
HEADER, GAP, ARROW = 2.4, 1.1, 0.9  # in cells
LIGHT, DARK = (0.97, 0.97, 0.97), (0.6, 0.6, 0.6)  # dark text is legible on all shades between these


def strides(x: Tensor, name: str = "x") -> paper.Picture:
    """A tensor of up to three dimensions, and the storage below it."""
    return compare([(name, x)])


def compare(views: Sequence[tuple[str, Tensor]]) -> paper.Picture:
    """Several views of one storage, each with its name, side by side above that storage, in several lines if need be."""
    tensors = [x for _, x in views]
    first = tensors[0]
    if any(x.untyped_storage() is not first.untyped_storage() or x.dtype is not first.dtype for x in tensors):
        raise ValueError("draw.compare shows views of one storage and dtype; draw the others by themselves")
    if any(x.dim() > 3 for x in tensors):
        raise ValueError("draw shows tensors of up to 3 dimensions; select() one index of the others")
    total = first.untyped_storage().nbytes() // first.itemsize
    sizes = [_panel_size(name, x) for name, x in views]
    lines = paper.in_lines([width for width, _ in sizes], GAP)
    tall = [max(sizes[i][1] for i in line) + GAP for line in lines]
    widest = max(sum(sizes[i][0] for i in line) + GAP * (len(line) - 1) for line in lines)
    storage_top = MARGIN + sum(tall)
    bars = [(name, set(_storage_indices(x).values())) for name, x in views] if len(views) > 1 else []
    label_width = max((len(name) for name, _ in bars), default=0) * 8 * CHARACTER + 0.3 if bars else 0
    line_height = 1.7 + 0.35 * len(bars)
    width = 2 * MARGIN + max(widest, label_width + min(total, PER_LINE))
    height = storage_top + 0.7 + line_height * math.ceil(total / PER_LINE) + MARGIN / 2

    figure, axes = sheet(width, height)
    top = MARGIN
    for line, height in zip(lines, tall):
        left = MARGIN
        for i in line:
            _draw_panel(axes, *views[i], left, top, total)
            left += sizes[i][0] + GAP
        top += height
    seen = set().union(*(_storage_indices(x).values() for x in tensors))
    _draw_storage(axes, first, seen, bars, label_width, storage_top)
    return figure


def _storage_indices(x: Tensor) -> dict[tuple[int, ...], int]:
    """The index in the storage, in elements, of every index of the tensor."""
    indices = itertools.product(*map(range, x.shape))
    return {index: x.storage_offset() + sum(map(operator.mul, index, x.stride())) for index in indices}


def _facts(x: Tensor) -> str:
    return f"sizes {tuple(x.shape)}  strides {x.stride()}  offset {x.storage_offset()}"


def _panel_size(name: str, x: Tensor) -> tuple[float, float]:
    slices, rows, columns = (1,) * (3 - x.dim()) + tuple(x.shape)
    text = max(len(name) * 11, len(_facts(x)) * 8) * CHARACTER
    return max(ARROW + slices * columns + (slices - 1) * ARROW, text), HEADER + rows


def _draw_panel(axes: Axes, name: str, x: Tensor, left: float, top: float, total: int) -> None:
    axes.text(left, top + 0.3, name, size=11, weight="bold", **MONO)
    axes.text(left, top + 0.95, _facts(x), size=8, **MONO)
    slices, rows, columns = (1,) * (3 - x.dim()) + tuple(x.shape)
    left, top = left + ARROW, top + HEADER
    steps = (0,) * (3 - x.dim()) + x.stride()
    if columns > 1:  # an arrow is one step long, from the middle of a cell to the middle of the next
        _arrow(axes, (left + 0.5, top - 0.25), (left + 1.5, top - 0.25), f"+{steps[2]}", (0, -0.35))
    if rows > 1:
        _arrow(axes, (left - 0.25, top + 0.5), (left - 0.25, top + 1.5), f"+{steps[1]}", (-0.4, 0))
    for index, position in _storage_indices(x).items():
        i, row, column = (0,) * (3 - x.dim()) + index
        corner = left + i * (columns + ARROW) + column, top + row
        _draw_cell(axes, corner, _element(x, position), _shade(position, total), position)
    for i in range(1, slices):
        edge = left + i * (columns + ARROW)
        y = top + rows / 2
        _arrow(axes, (edge - ARROW + 0.1, y), (edge - 0.1, y), f"+{steps[0]}", (0, -0.3))


def _draw_storage(axes: Axes, x: Tensor, seen: set[int], bars: list, label_width: float, top: float) -> None:
    total = x.untyped_storage().nbytes() // x.itemsize
    axes.text(MARGIN, top, f"storage: {total} × {x.dtype.name}, {total * x.itemsize} bytes", size=8, **MONO)
    left, line_height = MARGIN + label_width, 1.7 + 0.35 * len(bars)
    for position in range(total):
        line, column = divmod(position, PER_LINE)
        corner = left + column, top + 0.5 + line * line_height
        _draw_cell(axes, corner, _element(x, position), _shade(position, total) if position in seen else None)
        axes.text(corner[0] + 0.5, corner[1] + 1.2, position, size=7.5, ha="center", **{**MONO, "color": FAINT})
        for i, (_, positions) in enumerate(bars):
            if position in positions:
                rectangle(axes, corner[0] + 0.06, corner[1] + 1.45 + 0.35 * i, 0.88, 0.16, INK, "none")
    for line, (i, (name, _)) in itertools.product(range(math.ceil(total / PER_LINE)), enumerate(bars)):
        axes.text(MARGIN, top + 2.03 + line * line_height + 0.35 * i, name, size=8, **MONO)


def _draw_cell(axes: Axes, corner: tuple[float, float], text: str, shade, position: int | None = None) -> None:
    rectangle(axes, *corner, 1, 1, shade)
    middle = 0.5 if position is None else 0.68
    ink, size = FAINT if shade is None else INK, 9 if len(text) < 4 else 7.5
    paper.write(axes, corner[0] + 0.5, corner[1] + middle, text, size, ha="center", color=ink)
    if position is not None:
        axes.text(corner[0] + 0.08, corner[1] + 0.22, position, size=7.5, ha="left", **{**MONO, "color": INK})


def _arrow(axes: Axes, start: Point, end: Point, text: str, shift: Point) -> None:
    arrow(axes, start, end, color=FAINT, linewidth=0.8)
    middle = (start[0] + end[0]) / 2 + shift[0], (start[1] + end[1]) / 2 + shift[1]
    axes.text(*middle, text, size=7.5, ha="center", **MONO)


def _shade(position: int, total: int) -> tuple[float, ...]:
    part = position / max(total - 1, 1)
    return tuple(light + part * (dark - light) for light, dark in zip(LIGHT, DARK))


def _element(x: Tensor, position: int) -> str:
    value = Tensor(x.untyped_storage(), (), (), position, x.dtype).item()
    return f"{value:.3g}" if isinstance(value, float) else str(value)


# Loops ---------------------------------------------------------------------------------------------------------------


def walks(loops: Sequence[tuple[str, Sequence[int], Sequence[int]]], line: int = 0) -> paper.Picture:
    """The path of loops through memory: the position that each step reads, one panel for each loop. `loops`: for each a name,
    its sizes, and the strides of one operand, in elements; the last dimension is the innermost. `line`: the number of
    elements in a cache line; every second line is shaded. 0 for no shading."""
    walked = [[sum(map(operator.mul, at, by)) for at in itertools.product(*map(range, to))] for _, to, by in loops]
    last, steps = max(map(max, walked)), max(map(len, walked))
    columns = len(loops) if len(loops) < 4 else 2
    rows = -(-len(loops) // columns)
    figure, panels = charts(3.3 * columns, 3.3 * rows, rows, columns, sharex=True, sharey=True)
    for axes, positions, (name, sizes, by) in zip(panels.flat, walked, loops):
        for start in range(0, last + 1, 2 * line) if line else ():
            axes.axvspan(start - 0.5, start + line - 0.5, color="0.92", linewidth=0)
        style = {"marker": "o", "markersize": 4, "markerfacecolor": INK}
        axes.plot(positions, range(len(positions)), color=FAINT, linewidth=0.8, **style)
        axes.set_title(f"{name}\nsizes {tuple(sizes)}, strides {tuple(by)}", size=9, family="monospace", loc="left")
        axes.set(xlim=(-0.8, last + 0.8), ylim=(steps - 0.4, -0.6))
    for axes in panels[-1]:
        axes.set_xlabel("position in memory")
    for axes in panels[:, 0]:
        axes.set_ylabel("step of the loop")
    return figure


def chunks(
    sizes: Sequence[int], by: Sequence[int], chunks: Sequence[tuple[int, int]], shapes: Sequence[Sequence[int]]
) -> paper.Picture:
    """Which `shapes` a tensor can be viewed with. A row of boxes for its sizes, one for its chunks, one for each shape. A box is
    as wide as the logarithm of its size. A box across a border between chunks is hatched, and its shape is refused. `by`: the
    strides of the tensor. `chunks`: the size and the step of each chunk."""
    rows = [(f"{tuple(sizes)}", [(size, f"stride {stride}") for size, stride in zip(sizes, by)])]
    rows += [("its chunks", [(size, f"step {step}") for size, step in chunks])]
    borders = [*itertools.accumulate(math.log2(size) for size, _ in chunks)][:-1]
    for shape in shapes:
        strides = compute_stride(sizes, by, shape)
        labels = [f"stride {stride}" for stride in strides] if strides else ["" for _ in shape]
        rows.append((f"view {tuple(shape)}" + ("" if strides else ", refused"), [*zip(shape, labels)]))
    label, tall = max(len(name) for name, _ in rows) * 8 * CHARACTER + 0.4, 1.25
    scale = (paper.ROOM - 2 * MARGIN - label) / math.log2(math.prod(sizes))
    figure, axes = sheet(paper.ROOM, 2 * MARGIN + tall * len(rows))
    for row, (name, boxes) in enumerate(rows):
        top, left = MARGIN + tall * row, 0.0
        axes.text(MARGIN, top + 0.5, name, size=8, **MONO)
        for size, text in boxes:
            end = left + math.log2(size)
            across = row > 1 and any(left + 1e-9 < border < end - 1e-9 for border in borders)
            fill = None if across else "0.8" if row == 1 else "0.93"
            box = MARGIN + label + scale * left, top, scale * (end - left), 1
            plate = paper.PLATE | {"pad": 1} if across else None
            paper.cell(axes, *box, fill, f"{size}\n{text}" if text else size, bbox=plate)
            left = end
    for border in borders:
        x = MARGIN + label + scale * border
        ends = MARGIN + 2 * tall - 0.2, MARGIN + tall * len(rows)
        axes.plot([x, x], ends, color=INK, linewidth=1.5, linestyle="--")
    return figure


def loop_nests(
    stages: Sequence[tuple[str, Sequence[int], Sequence[Sequence[int]]]], names: Sequence[str], note: str = ""
) -> paper.Picture:
    """The same loop in several stages, one below the other: a box for each dimension, the outermost on the left. `stages`:
    for each a name, the sizes of the loop, and for each operand its strides. `names`: of the operands."""
    rows, columns = len(stages), max(len(sizes) for _, sizes, _ in stages)
    tall, wide = 0.75 + 0.42 * len(names), 4.6
    label = max(len(name) for name, _, _ in stages) * 9 * CHARACTER + 0.5
    width, height = MARGIN + label + wide * columns + MARGIN, MARGIN + rows * (tall + 0.35) + (0.8 if note else 0)
    figure, axes = sheet(width, height)
    for row, (stage, sizes, operand_strides) in enumerate(stages):
        top = MARGIN + row * (tall + 0.35)
        axes.text(MARGIN, top + tall / 2, stage, size=9, **MONO)
        for dim, size in enumerate(sizes):
            left = MARGIN + label + wide * (columns - len(sizes) + dim)  # align the innermost loops
            rectangle(axes, left, top, wide - 0.3, tall, "0.88" if dim == len(sizes) - 1 else "white")
            axes.text(left + 0.2, top + 0.35, f"for {size}", size=9, weight="bold", **MONO)
            for i, (name, strides) in enumerate(zip(names, operand_strides)):
                axes.text(left + 0.2, top + 0.85 + 0.42 * i, f"{name} +{strides[dim]}", size=8, **MONO)
    if note:
        axes.text(MARGIN, height - 0.45, note, size=8, **{**MONO, "color": FAINT})
    return figure


def blocks(rows: int, inner: int, columns: int, block: int, at: tuple[int, int, int] = (0, 0, 0)) -> paper.Picture:
    """A matrix product in blocks: `out` (rows, columns) = `a` (rows, inner) times `b` (inner, columns). The three blocks in
    use at the block indices `at`, in the order row, column, inner, are shaded. The blocks that the block of `out` needs are
    hatched."""
    i, j, k = at
    unit = max(rows, inner, columns) / 12  # of the margins and of the space for names
    width, height = inner + columns + 4 * unit, rows + inner + 4.5 * unit
    scale = 0.22 / unit  # inches
    figure = paper.Picture(figsize=(width * scale, height * scale), facecolor="white")
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(height, 0), aspect="equal")
    axes.set_axis_off()
    left, right, upper, lower = unit, inner + 3 * unit, 1.5 * unit, inner + 3.5 * unit
    matrices = [  # name, corner, sizes, and the block in use; None for a whole row or column of blocks
        ("a", (left, lower), (rows, inner), (i, k), (i, None)),
        ("b", (right, upper), (inner, columns), (k, j), (None, j)),
        ("out", (right, lower), (rows, columns), (i, j), (i, j)),
    ]
    for name, (x, y), (tall, wide), used, strip in matrices:
        for row, column in itertools.product(range(0, tall, block), range(0, wide, block)):
            sides = min(block, wide - column), min(block, tall - row)
            here = (row // block, column // block)
            needed = all(want in (None, index) for index, want in zip(here, strip))
            rectangle(axes, x + column, y + row, *sides, "0.55" if here == used else None if needed else "none")
        axes.text(x, y - 0.6 * unit, f"{name} ({tall}, {wide})", size=9, **MONO)
    return figure


def ratios(measured: Sequence[tuple[str, Sequence[float]]], than: str) -> paper.Picture:
    """Measured ratios as bars, on a logarithmic axis: the median of each, and a line from the smallest to the largest.
    `measured`: for each a name, and the ratios of several runs. `than`: the name of the divisor; a dashed line marks 1."""
    medians = [sorted(values)[len(values) // 2] for _, values in measured]
    figure, [[axes]] = charts(7, 0.7 + 0.42 * len(measured))
    lengths = [median - 1 for median in medians]  # bars begin at 1 because the axis is logarithmic
    axes.barh([name for name, _ in measured], lengths, left=1, color="0.75", edgecolor=INK, linewidth=0.8, height=0.6)
    for row, ((_, values), median) in enumerate(zip(measured, medians)):
        axes.plot([min(values), max(values)], [row, row], color=INK, linewidth=1.5)
        text = f"{median:.2g}" if median < 100 else f"{median:.0f}"
        axes.annotate(text, (max(max(values), 1), row), (6, 0), textcoords="offset points", va="center", size=9)
    axes.axvline(1, color=INK, linewidth=1, linestyle=(0, (4, 2)))
    axes.set(xscale="log", xlabel=f"time, in times of {than}")
    axes.margins(x=0.15)
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter("")
    axes.invert_yaxis()
    return figure
