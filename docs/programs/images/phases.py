"""Draw the small picture on the card of each phase of home: `python docs/programs/images/phases.py`.

A picture is five units wide for two units high, has the lines and colours of the moving figures, and no text.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from docs.programs import IMAGES

WIDE, HIGH = 200, 80
LINE, PAPER, ONE, ONE_SOFT, TWO, TWO_SOFT = "#8c959f", "#ffffff", "#0b69c7", "#cfe4fb", "#b4540a", "#fde3c8"
GOOD, GOOD_SOFT, BAD, BAD_SOFT = "#1a7f37", "#d3f0da", "#b91c2c", "#fbd7da"
SOFT = {LINE: PAPER, ONE: ONE_SOFT, TWO: TWO_SOFT, GOOD: GOOD_SOFT, BAD: BAD_SOFT}  # what a line's colour encloses


# Shapes --------------------------------------------------------------------------------------------------------------


def box(x: float, y: float, width: float, height: float, color: str = LINE, round: float = 2) -> str:
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{round:g}" fill="{SOFT[color]}" stroke="{color}"/>'


def dot(x: float, y: float, color: str = LINE, radius: float = 7) -> str:
    return f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{SOFT[color]}" stroke="{color}"/>'


def line(*points: tuple[float, float], color: str = LINE, width: float = 1.5, more: str = "") -> str:
    way = " ".join(f"{x:.4g},{y:.4g}" for x, y in points)
    return f'<polyline points="{way}" fill="none" stroke="{color}" stroke-width="{width:g}"{more}/>'


def arrow(*points: tuple[float, float], color: str = LINE) -> str:
    """A line with a head at its end."""
    (x0, y0), (x, y) = points[-2:]
    angle = math.atan2(y - y0, x - x0)
    wings = [(x - 6 * math.cos(angle + turn), y - 6 * math.sin(angle + turn)) for turn in (0.5, -0.5)]
    return line(*points, color=color) + line(wings[0], (x, y), wings[1], color=color)


# The phases ----------------------------------------------------------------------------------------------------------


def trace() -> Iterator[str]:
    """A call goes down through four layers."""
    for layer in range(4):
        yield box(30, 8 + 17 * layer, 140, 12)
    yield arrow((56, 4), (56, 31), (100, 31), (100, 48), (144, 48), (144, 70), color=TWO)


def strided() -> Iterator[str]:
    """A column of a matrix, and where its elements are in memory."""
    for place in range(12):
        chosen = ONE if place % 4 == 1 else LINE
        yield box(72 + 14 * (place % 4), 6 + 14 * (place // 4), 14, 14, chosen, 0)
        yield box(16 + 14 * place, 60, 14, 14, chosen, 0)
    for row in range(3):
        yield line((93, 13 + 14 * row), (37 + 56 * row, 67), color=ONE, more=' opacity="0.45"')


def dispatcher() -> Iterator[str]:
    """A call finds its kernel in the row of a key."""
    for key in range(5):
        yield box(78, 7 + 14 * key, 44, 11, TWO if key == 2 else LINE)
    yield dot(34, 40.5, ONE)
    yield arrow((42, 40.5), (75, 40.5), color=ONE)
    yield arrow((122, 40.5), (150, 40.5), color=TWO)
    yield box(153, 31, 22, 19, TWO)


def kernels() -> Iterator[str]:
    """One loop over two inputs and an output, row by row."""
    for left, color in (22, ONE), (82, ONE), (142, TWO):
        for place in range(12):
            yield box(left + 9 * (place % 4), 26 + 9 * (place // 4), 9, 9, color if place < 6 else LINE, 0)
    for y in (32, 40, 48):
        yield line((66, 39.5), (74, 39.5)) if y == 40 else ""
    yield line((70, 35.5), (70, 43.5))
    yield arrow((124, 39.5), (136, 39.5))


def autograd() -> Iterator[str]:
    """The graph of a result, and the way back to its leaves."""
    places = {"loss": (170, 40), "a": (125, 40), "b": (80, 22), "c": (80, 58), "w": (34, 22), "x": (34, 58)}
    for start, end in ("loss", "a"), ("a", "b"), ("a", "c"), ("b", "w"), ("c", "x"), ("c", "w"):
        (x0, y0), (x, y) = places[start], places[end]
        far = math.dist((x0, y0), (x, y))
        dx, dy = (x - x0) / far, (y - y0) / far
        yield arrow((x0 + 9 * dx, y0 + 9 * dy), (x - 10 * dx, y - 10 * dy), color=TWO)
    for name, (x, y) in places.items():
        yield dot(x, y, TWO if name == "loss" else ONE if name in "wx" else LINE)


def training() -> Iterator[str]:
    """A loss that falls."""
    yield line((30, 8), (30, 70), (176, 70))
    points = []
    for x in range(0, 136, 4):
        fall, shake = 48 * (1 - math.exp(-x / 38)), 5 * math.sin(x * 0.9) * math.exp(-x / 60)
        points.append((36 + x, 14 + fall + shake))
    yield line(*points, color=TWO, width=2)


def custom_ops() -> Iterator[str]:
    """An operator of one's own takes its place in a row of others."""
    for place in (0, 1, 3, 4):
        yield box(24 + 32 * place, 44, 26, 24)
    yield line((84, 46), (88, 46), (88, 68), (114, 68), (114, 46), (118, 46), more=' stroke-dasharray="3 3"')
    yield box(88, 8, 26, 24, TWO)
    yield arrow((101, 36), (101, 56), color=TWO)


def capture() -> Iterator[str]:
    """Lines of a program become a graph."""
    for row, (indent, long) in enumerate([(0, 44), (8, 30), (8, 40), (16, 26), (8, 22)]):
        yield line((22 + indent, 14 + 13 * row), (22 + indent + long, 14 + 13 * row), width=4)
    yield arrow((82, 40), (108, 40), color=TWO)
    for start, end in ((126, 18), (148, 40)), ((170, 18), (148, 40)), ((148, 40), (148, 66)):
        yield line(start, end, color=ONE)
    for x, y in (126, 18), (170, 18), (148, 40), (148, 66):
        yield dot(x, y, ONE)


def inductor() -> Iterator[str]:
    """Three loops become one."""
    for row in range(3):
        yield box(24, 8 + 24 * row, 46, 17, ONE)
        yield arrow((74, 16.5 + 24 * row), (112, 34 + 6 * row))
    yield box(116, 14, 60, 52, TWO)
    for row in range(3):
        yield line((126, 27 + 13 * row), (166, 27 + 13 * row), color=TWO, width=3)


def distributed() -> Iterator[str]:
    """A ring of ranks."""
    corners = [
        (100 + 62 * math.cos(a), 40 + 26 * math.sin(a)) for a in (math.pi / 4 + k * math.pi / 2 for k in range(4))
    ]
    for (x0, y0), (x, y) in zip(corners, [*corners[1:], corners[0]]):
        far = math.dist((x0, y0), (x, y))
        dx, dy = (x - x0) / far, (y - y0) / far
        reach = 17 if abs(dx) > 0.5 else 11
        yield arrow((x0 + reach * dx, y0 + reach * dy), (x - (reach + 2) * dx, y - (reach + 2) * dy), color=TWO)
    for x, y in corners:
        yield box(x - 14, y - 9, 28, 18, ONE)


def quantization() -> Iterator[str]:
    """A curve, and the few values that stay of it."""
    heights = [(x, 40 - 27 * math.sin((x - 20) / 160 * 2 * math.pi)) for x in range(20, 181, 4)]
    yield line(*heights, color=ONE)
    stairs = []
    for x, y in heights[:-1:2]:
        step = 40 + 13.5 * round((y - 40) / 13.5)
        stairs += [(x, step), (x + 8, step)]
    yield line(*stairs, color=TWO, width=2)


def profiling() -> Iterator[str]:
    """A trace: what each row did, and when."""
    rows = [(20, 150, LINE), (20, 62, ONE), (88, 78, ONE), (34, 20, TWO), (58, 18, TWO), (96, 34, TWO), (136, 24, TWO)]
    for (left, width, color), row in zip(rows, (0, 1, 1, 2, 2, 2, 2)):
        yield box(left, 10 + 22 * row, width, 15, color)
    yield line((176, 4), (176, 76), more=' stroke-dasharray="3 3"')


def minigpt() -> Iterator[str]:
    """Each token looks at those before it."""
    for row in range(6):
        for column in range(6):
            yield box(
                67 + 11 * column, 7 + 11 * row, 11, 11, TWO if row == column else ONE if column < row else LINE, 0
            )


def clinic() -> Iterator[str]:
    """A pulse with one beat that is wrong."""

    def beat(left: float, high: float) -> list[tuple[float, float]]:
        return [
            (left, 42),
            (left + 10, 42),
            (left + 15, 42 - high),
            (left + 22, 42 + high * 0.6),
            (left + 27, 42),
            (left + 36, 42),
        ]

    yield line((14, 42), *beat(18, 22), *beat(54, 22), (92, 42), color=GOOD, width=2)
    yield line((92, 42), (102, 42), (107, 54), (112, 36), (118, 50), (124, 42), (130, 42), color=BAD, width=2)
    yield line((130, 42), *beat(132, 22), (186, 42), color=GOOD, width=2)
    yield f'<circle cx="112" cy="44" r="21" fill="none" stroke="{LINE}"/>' + line((127, 59), (140, 72), width=4)


def gpu_kernels() -> Iterator[str]:
    """A tile of a product, and the tiles that it needs."""
    for left, chosen in (14, lambda r, c: r == 1), (78, lambda r, c: c == 2), (142, lambda r, c: r == 1 and c == 2):
        for row in range(4):
            for column in range(4):
                color = (TWO if left == 142 else ONE) if chosen(row, column) else LINE
                yield box(left + 11 * column, 18 + 11 * row, 11, 11, color, 0)
    yield line((65, 37), (71, 43)) + line((71, 37), (65, 43))
    yield line((128, 37.5), (136, 37.5)) + line((128, 42.5), (136, 42.5))


def contribute() -> Iterator[str]:
    """A change of a few lines."""
    for row, (color, long) in enumerate([(LINE, 96), (BAD, 112), (GOOD, 122), (GOOD, 84), (LINE, 104)]):
        y = 13 + 13.5 * row
        if color != LINE:
            yield f'<rect x="22" y="{y - 6.5:g}" width="156" height="13" fill="{SOFT[color]}"/>'
            yield line((29, y), (37, y), color=color)
        if color == GOOD:
            yield line((33, y - 4), (33, y + 4), color=color)
        yield line((46, y), (46 + long, y), color=color, width=3)


PICTURES = {
    "00": trace,
    "01": strided,
    "02": dispatcher,
    "03": kernels,
    "04": autograd,
    "05": training,
    "06": custom_ops,
    "07": capture,
    "08": inductor,
    "09": distributed,
    "10": quantization,
    "11": profiling,
    "12": minigpt,
    "13": clinic,
    "14": gpu_kernels,
    "15": contribute,
}


def drawn(phase: str) -> str:
    """The picture of a phase, by its number. Its text alternative is on the page."""
    size = f'viewBox="0 0 {WIDE} {HIGH}" width="{WIDE}" height="{HIGH}"'
    shapes = "\n".join(filter(None, PICTURES[phase]()))
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} stroke-linejoin="round" stroke-linecap="round">\n{shapes}\n</svg>\n'


if __name__ == "__main__":
    (IMAGES / "phases").mkdir(exist_ok=True)
    for phase in PICTURES:
        (IMAGES / "phases" / f"{phase}.svg").write_text(drawn(phase), encoding="utf-8")
