"""Pictures of tokens: texts cut into boxes, rows of inputs and targets, and what a larger vocabulary brings."""

from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator, ScalarFormatter

from rushlight.course.draw.paper import CHARACTER, FAINT, INK, MARGIN, MARK, MONO, OURS, ROOM, Fill, cell, charts, sheet

SIZE, HEIGHT, GAP = 9, 0.62, 0.16  # of a letter in points; of a box, and between two lines, in cells
MERGED = "#f6d9b4"  # a pale orange, on which ink is legible
LABEL = 8.5


def written(token: bytes) -> str:
    """A token as it is written in a box: a space as `␣`, a new line as `⏎`, and bytes that are no text as numbers."""
    try:
        text = token.decode()
    except UnicodeDecodeError:
        return token.hex().upper()
    text = text.replace(" ", "␣").replace("\n", "⏎")
    return text if text.isprintable() else token.hex().upper()


def token_boxes(lines: Sequence[tuple[str, Sequence[bytes]]]) -> Figure:
    """Texts, each as a label and its tokens. A token of one byte is grey, and a token that merges made is orange. A text that is
    too long goes on in the next line."""
    left = MARGIN + max(len(label) for label, _ in lines) * LABEL * CHARACTER + 0.3
    placed, row, widest = [], 0, left
    for label, tokens in lines:
        at = left
        placed.append((row, None, label, MARGIN, 0))
        for token in tokens:
            text = written(token)
            width = (len(text) + 0.8) * SIZE * CHARACTER
            if at + width > ROOM - MARGIN:
                at, row = left, row + 1
            placed.append((row, MERGED if len(token) > 1 else "0.92", text, at, width))
            at += width
            widest = max(widest, at)
        row += 1
    figure, axes = sheet(widest + MARGIN, 2 * MARGIN + row * (HEIGHT + GAP) - GAP)
    for row, fill, text, at, width in placed:
        top = MARGIN + row * (HEIGHT + GAP)
        if fill is None:
            axes.text(at, top + HEIGHT / 2, text, size=LABEL, **MONO)
        else:
            cell(axes, at, top, width, HEIGHT, fill, text, size=SIZE, color=INK)
    return figure


def token_rows(inputs: Sequence[bytes], targets: Sequence[bytes | None]) -> Figure:
    """A row that a model is trained on: the input of each position, and below it the target. A target that is ignored is None."""
    columns = [(written(a), "" if b is None else written(b)) for a, b in zip(inputs, targets)]
    widths = [(max(map(len, pair)) + 1.2) * SIZE * CHARACTER for pair in columns]
    left = MARGIN + 7 * LABEL * CHARACTER + 0.3
    figure, axes = sheet(left + sum(widths) + MARGIN, 2 * MARGIN + 2 * HEIGHT + 0.5)
    for top, label in ((MARGIN, "input"), (MARGIN + HEIGHT + 0.5, "target")):
        axes.text(MARGIN, top + HEIGHT / 2, label, size=LABEL, **MONO)
    at = left
    for (above, below), width, target in zip(columns, widths, targets):
        fill: Fill = None if target is None else MERGED
        cell(axes, at, MARGIN, width, HEIGHT, "0.92", above, size=SIZE, color=INK)
        cell(axes, at, MARGIN + HEIGHT + 0.5, width, HEIGHT, fill, below, size=SIZE, color=INK)
        middle = at + width / 2
        if target is not None:
            axes.annotate("", (middle, MARGIN + HEIGHT + 0.5), (middle, MARGIN + HEIGHT), arrowprops={
                "arrowstyle": "->", "color": FAINT, "shrinkA": 1, "shrinkB": 1})  # fmt: skip
        at += width
    return figure


def compression(
    sizes: Sequence[int], lines: Sequence[tuple[str, Sequence[float]]], marks: Sequence[int] = ()
) -> Figure:
    """Bytes for each token against the size of the vocabulary, which is on a logarithmic axis, and dotted lines at some sizes."""
    figure, grid = charts(7.4, 3.2)
    axes = grid[0, 0]
    styles = ((OURS, "-", "o"), (INK, (0, (4, 2)), "s"), (FAINT, ":", "^"))
    for (name, values), (color, style, marker) in zip(lines, styles):
        axes.plot(sizes, values, color=color, linestyle=style, marker=marker, markersize=5, label=name)
    for mark in marks:
        axes.axvline(mark, color=MARK, linewidth=0.8, linestyle=":")
    axes.set(xscale="log", xlabel="tokens in the vocabulary", ylabel="bytes for each token", ylim=(0, None))
    axes.xaxis.set_major_locator(FixedLocator(list(sizes)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(ScalarFormatter())
    axes.legend(frameon=False, fontsize=10, loc="lower right")
    return figure
