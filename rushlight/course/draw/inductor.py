"""Pictures of compiled programs: fused operators, nested loops, the memory of buffers, a kernel's text, and times.

Colours have the same meaning in all pictures: light grey for inputs and outputs, no fill for operators without work, one grey for
each kernel, purple for a call of a library. Labels name the kernels and the calls.
"""

import re
import textwrap
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes

from rushlight.course.draw import paper
from rushlight.course.draw.boxes import LEAF, NODE, THIN, Box, draw_panels
from rushlight.course.draw.capture import INPUTS, MARKED, call_of, node_rows, nodes_of, sizes_of
from rushlight.course.draw.paper import CHARACTER, INK, LETTER, MARGIN, MONO, charts, ink_on, rectangle, sheet
from rushlight.inductor.ir import ComputedBuffer, Kernel
from rushlight.inductor.scheduler_node import FusedSchedulerNode, inner_loops

KERNELS = ("0.78", "0.62", "0.86", "0.7", "0.55")
LINE = 0.52  # cells from one line of text to the next


def fused(graph: Any, steps: Sequence[tuple[str, Collection[str]]] | Any, sizes: bool = True) -> paper.Picture:
    """Draw a graph of operators, each with the steps that compute it: kernels, or calls of a library.

    An operator has the fill of the first of its steps. An operator that no step computes has no fill.

    Args:
        graph: of rushlight or torch.
        steps: for each step its name and the names of its nodes. A step whose name does not begin with "kernel" is a library's. Or
            a scheduled program of rushlight's.
        sizes: whether to write the sizes on the arrows, if they are known.
    """
    if hasattr(steps, "steps"):
        names = [
            "kernel {}" if isinstance(step, Kernel) else f"{getattr(step, 'op', 'operator')} ({{}})"
            for step in steps.steps
        ]
        steps = [(name.format(i), step.origins) for i, (name, step) in enumerate(zip(names, steps.steps))]
    greys = iter(KERNELS * len(steps))
    fills = {name: next(greys) if name.startswith("kernel") else MARKED for name, _ in steps}
    boxes = {}
    for node in nodes_of(graph):
        if node.op in (*INPUTS, "output"):
            boxes[node] = Box([node.name], fill=LEAF)
            continue
        where = [name for name, members in steps if node.name in members]
        called = call_of(node)
        lines = [node.name, *([called] if called != node.name else []), *([", ".join(where)] if where else [])]
        boxes[node] = Box(lines, fill=fills[where[0]] if where else NODE)
    return draw_panels([("", node_rows(boxes, lambda start, end: (sizes_of(start) if sizes else "", THIN)))])


Body = Sequence[Any]  # lines of text, and loops: (head, body)


def nests(panels: Sequence[tuple[str, Any]]) -> paper.Picture:
    """Loop nests as boxes in boxes, one above the other; deeper loops are darker. `panels`: for each panel a title and its
    content: a loop nest or fused node of rushlight's Inductor, or a list of these; or a body, which is a list of lines of
    text and of loops. A loop is a pair of a head and a body."""
    drawn = [(title, _body(what)) for title, what in panels]
    width = max(max(_wide(body), len(title) * 9 * CHARACTER) for title, body in drawn)
    titles = any(title for title, _ in drawn)
    heights = [_tall(body) + (0.75 if titles else 0) + 0.45 for _, body in drawn]
    figure, axes = sheet(width + 2 * MARGIN, sum(heights) + MARGIN)
    top = MARGIN
    for (title, body), height in zip(drawn, heights):
        paper.write_title(axes, MARGIN, top + 0.2, title, 9)
        _draw_body(axes, body, MARGIN, top + (0.75 if titles else 0), width, 0)
        top += height
    return figure


def _body(what: ComputedBuffer | FusedSchedulerNode | Body) -> list:
    """The loops of a nest or of a fused node, with a line for the work of each nest."""
    if isinstance(what, ComputedBuffer):
        return _loops([*what.loops, *what.reduced], [_line(what)])
    if isinstance(what, FusedSchedulerNode):
        return _loops(what.outer, _rows(what))
    return [line for part in what for line in ([part] if isinstance(part, (str, tuple)) else _body(part))]


def _rows(node: FusedSchedulerNode) -> list:
    """The body of the loop over rows: lines that run once for a row, and inner loops."""
    lines: list[Any] = []
    numbers = inner_loops(node)
    for number in range(max(numbers, default=0) + 1):
        nests = [nest for nest, at in zip(node.nests, numbers) if at == number]
        inside = [_line(nest) for nest in nests if not node.works_by_row(nest)]
        lines += [_line(nest) for nest in nests if node.works_by_row(nest)]
        lines += _loops(node.inner, inside) if inside else []
    return lines


def _line(nest: ComputedBuffer) -> str:
    over = ", ".join(symbol.name for symbol in nest.reduced)
    value = f"{nest.kind} over {over} of {nest.value}" if nest.kind else str(nest.value)
    return f"{nest.buffer}[{nest.index}] = {value}"


def _loops(symbols: Sequence[Any], body: Body) -> list:
    for symbol in reversed([symbol for symbol in symbols if symbol.size != 1]):
        body = [(f"for {symbol.name} < {symbol.size}", body)]
    return list(body)


def loops_in(source: str, keep: Collection[str] = ()) -> list:
    """The loops of a kernel's C++, for `nests`, with the lines inside them that contain one of `keep`."""
    whole: list[Any] = []
    open_: list[tuple[list, int]] = [(whole, -1)]
    for line in source.splitlines():
        text, indent = line.strip(), len(line) - len(line.lstrip())
        while text and indent <= open_[-1][1] and text != "{":
            open_.pop()
        if text.startswith("for"):
            body: list[Any] = []
            head = re.sub(r"static_cast<int64_t>|int64_t ", "", text)  # without the casts that Inductor writes
            head = head.replace("(0L)", "0").replace("L)", "").replace("(", " ").replace(")", "").rstrip(" {")
            open_[-1][0].append((head, body))
            open_.append((body, indent))
        elif any(word in text for word in keep):
            open_[-1][0].append(text)
    return whole


def _tall(body: Body) -> float:
    return sum(LINE if isinstance(part, str) else _tall(part[1]) + LINE + 0.35 for part in body)


def _wide(body: Body) -> float:
    widths = [len(part) * LETTER if isinstance(part, str) else 0.7 + _wide([part[0], *part[1]]) for part in body]
    return max(widths, default=0) + 0.1


def _draw_body(axes: Axes, body: Body, left: float, top: float, width: float, depth: int) -> None:
    for part in body:
        if isinstance(part, str):
            axes.text(left, top + LINE / 2, part, size=7.5, **MONO)
            top += LINE
            continue
        head, inside = part
        tall = _tall(inside) + LINE + 0.2
        rectangle(axes, left, top, width, tall, ("white", "0.93", "0.85", "0.77", "0.7")[min(depth, 4)])
        axes.text(left + 0.25, top + LINE / 2 + 0.05, head, size=7.5, weight="bold", **MONO)
        _draw_body(axes, inside, left + 0.45, top + LINE + 0.05, width - 0.65, depth + 1)
        top += tall + 0.15


def lifetimes(panels: Sequence[tuple[str, Sequence[tuple]]], nbytes: Mapping[str, int]) -> paper.Picture:
    """Buffers as bars over the steps of a call, one row for each piece of memory, and below the allocated bytes at each step.
    `panels`: for each panel a title and the lines of a call, as `rushlight.inductor.memory` has them: ("allocate", buffer),
    ("reuse", old, new), ("call", step), ("free", buffer). `nbytes`: of each buffer."""
    lanes = [_lanes(lines) for _, lines in panels]
    steps = max(sum(line[0] == "call" for line in lines) for _, lines in panels)
    most = max(map(len, lanes))
    shape = {"sharex": True, "sharey": "row", "height_ratios": (0.34 * most + 0.2, 0.8)}
    figure, grid = charts(4.2 * len(panels) + 0.3, 1.9 + 0.34 * most, 2, len(panels), **shape)
    for (upper, lower), (title, _), rows in zip(grid.T, panels, lanes):
        total = [0] * steps
        for row, bars in enumerate(rows):
            for name, begin, end in bars:
                end = steps if end is None else end
                fill = {"color": paper.colour_of(title), "edgecolor": INK, "linewidth": 0.8}
                upper.barh(row, end - begin, left=begin, height=0.72, **fill)
                paper.write(upper, (begin + end) / 2, row, name, fill=fill["color"], ha="center")
                for step in range(begin, end):
                    total[step] += nbytes[name]
        lower.stairs(total, fill=True, color="0.8", edgecolor=INK)
        lower.axhline(max(total), color=INK, linewidth=0.9, linestyle=(0, (4, 2)))
        style = {"textcoords": "offset points", "size": 8, "va": "bottom"}
        lower.annotate(f"{max(total):,} bytes", (0, max(total)), (3, 3), **style)
        lower.set(xlim=(0, steps), xlabel="step")
        lower.set_xticks([step + 0.5 for step in range(steps)], [str(step) for step in range(steps)])
        lower.margins(y=0.3)
        upper.set_title(title, size=9, loc="left")
        upper.set_yticks([])
        upper.tick_params(bottom=False)
        paper.hide_spines(upper)
        for step in range(1, steps):
            upper.axvline(step, color="0.9", linewidth=0.6, zorder=0)
    grid[0][0].set(ylim=(most - 0.5, -0.6), ylabel="memory")
    grid[1][0].set(ylim=(0, None), ylabel="allocated", yticks=[])
    return figure


def _lanes(lines: Sequence[tuple]) -> list[list[list]]:
    """For each piece of memory its buffers, one after another: name, first step, and the step before which the buffer ends."""
    lanes: list[list[list]] = []
    at: dict[str, list] = {}
    step = 0
    for what, *names in lines:
        if what == "call":
            step += 1
        elif what == "free":
            at[names[0]][-1][2] = step
        elif what == "allocate":
            lanes.append([[names[0], step, None]])
            at[names[0]] = lanes[-1]
        else:
            lane = at[names[1]] = at[names[0]]
            if lane[-1][2] is None:  # in place; memory that was freed ended earlier
                lane[-1][2] = step
            lane.append([names[1], step, None])
    return lanes


def annotated_lines(rows: Sequence[tuple[str, str]], dark: Collection[str] = ()) -> paper.Picture:
    """Lines of a text, each with a note beside it. A line that is too long continues below. Neighbouring lines with the same
    note share one band. `rows`: a line, and its note; "" for none. `dark`: notes whose bands are darker."""
    note = max(len(label) for _, label in rows) * LETTER + 0.3
    most = int((paper.ROOM - 2 * MARGIN - 1.1 - note) / LETTER)  # characters
    rows = [(part, label) for line, label in rows for part in _parts(line, most)]
    wide = max(len(line) for line, _ in rows) * LETTER + 0.6
    figure, axes = sheet(MARGIN + wide + 0.5 + note + MARGIN, 2 * MARGIN + LINE * len(rows))
    begun = 0
    for i, (line, label) in enumerate(rows):
        if i + 1 == len(rows) or rows[i + 1][1] != label:
            top, tall = MARGIN + LINE * begun, LINE * (i + 1 - begun)
            fill = "0.78" if label in dark else "0.92"
            if label:
                rectangle(axes, MARGIN, top + 0.03, wide + 0.3, tall - 0.06, fill)
                axes.text(MARGIN + wide + 0.5, top + tall / 2, label, size=7.5, weight="bold", **MONO)
            begun = i + 1
        axes.text(MARGIN + 0.25, MARGIN + LINE * (i + 0.5), line, size=7.5, **MONO | {"color": ink_on("0.9")})
    return figure


def _parts(line: str, most: int) -> list[str]:
    return textwrap.wrap(line, most, subsequent_indent=" " * (len(line) - len(line.lstrip()) + 4)) or [""]


def times(
    panels: Sequence[tuple[str, Sequence[tuple[str, Sequence[float]]]]], x: str = "microseconds"
) -> paper.Picture:
    """Times as bars from zero: the median of several runs, with a line from the smallest to the largest. A single bar that is
    more than three times as long as any other is cut, with a gap near its end. `panels`: for each panel a title, and for each
    bar its name and the times. Each panel has a scale of its own. `x`: the label of the scale."""
    figure, grid = charts(8.4, (0.75 + 0.34 * max(len(rows) for _, rows in panels)) * len(panels), len(panels))
    for axes, (title, rows) in zip(grid[:, 0], panels):
        medians = [sorted(values)[len(values) // 2] for _, values in rows]
        longest, second = (sorted(medians)[::-1] + [0])[:2]
        end = 1.5 * second if second and longest > 3 * second else longest
        fills = [paper.colour_of(name) for name, _ in rows]
        bars = {"color": fills, "edgecolor": INK, "linewidth": 0.8, "height": 0.62}
        axes.barh(range(len(rows)), [min(median, end) for median in medians], **bars)
        for row, ((_, values), median) in enumerate(zip(rows, medians)):
            if median > end:
                for gap in 0.93, 0.95:
                    axes.plot([gap * end, (gap + 0.01) * end], [row + 0.4, row - 0.4], color="white", linewidth=3)
            elif len(values) > 1:
                axes.plot([min(values), min(max(values), 1.1 * end)], [row, row], color=INK, linewidth=1.3)
            text = f"{median:.3g}" if median < 1000 else f"{median:,.0f}"
            right = end if median > end else min(max(values), 1.1 * end)
            axes.annotate(text, (right, row), (6, 0), textcoords="offset points", va="center", size=8.5)
        axes.set_yticks(range(len(rows)), [name for name, _ in rows], size=8.5)
        axes.set(xlim=(0, 1.25 * end), xlabel=x)
        axes.set_title(title, size=9, loc="left")
        axes.invert_yaxis()
        paper.hide_spines(axes, "left", "bottom")
    return figure
