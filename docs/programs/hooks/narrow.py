"""A drawing as wide as a phone, made of a drawing that is as wide as a page.

A phone that shows a wide drawing whole makes its letters too small to read. Here the shapes become narrower and the letters do not.
The drawing is a row of intervals between the sides of its shapes, and each interval shrinks as far as the texts in it, above it and
below it allow. A chart shrinks as one interval, so its scale stays even. A long text gets a second line, and what is below moves
down. A bracket that fits a line is not broken. The entries of a legend that are in a row get further rows. In a chart, a text that
is longer than its bar is cut, as the programs that draw do. If marks of an axis touch each other, every second one is left out, or
is lower than the others if they are words. A word is cut only where it has no room whole. If letters would be smaller than `LEAST`,
words be cut or several names of a chart be on each other, the drawing is wider than the phone, and moves sideways.

A unit is that of the drawings of `rushlight/course/draw`, whose smallest text is 7.5 units high.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import pairwise
from math import cos, inf, radians, sin
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import matplotlib
from PIL import ImageFont

PHONE = 358  # pixels of its column
LETTER, LEAST = 11, 9  # pixels of the smallest text, and of it where a word would be cut otherwise
WIDER = 1.25  # than a column is a drawing with the smallest letters, rather than that a word is cut
SMALLEST, LARGEST = 7.5, 8.5  # sizes of texts
INSIDE = 3.5, 1.5  # between a text and the side of its box, and at the least
LABEL = 9.5  # the size of the largest text of a drawing in pixels, which has short texts
CAPS = 1, 0.8, 0.6, 0.5, 0.4, 0.3, 0.22, 0.18, 0.15, 0.12  # of the width, for a line of text
BREAK = re.compile(r"(?<=[ ,(_.:<])(?=[^ ,(_.:<])|(?<=[a-z]-)(?=[a-z])|(?<=[a-z])(?=[A-Z])")  # where a line may end
NUMBER, COMMAND = re.compile(r"-?[\d.]+"), re.compile(r"([MLCQz])([^MLCQz]*)")
ROTATE, PLACE = re.compile(r"rotate\((-?[\d.]+)"), re.compile(r"translate\((-?[\d.]+) (-?[\d.]+)\)")
SHARE = {"start": 0.0, "middle": 0.5, "end": 1.0}  # of a text, on the left of its anchor
NAMES = (
    "font-size",
    "font-weight",
    "font-family",
    "text-anchor",
    "fill",
    "stroke",
)  # of attributes that are a style, too
SVG, HREF = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
BELOW = 14  # a panel, before the next one
MARKER = 15  # the width of the largest marker

ElementTree.register_namespace("", SVG[1:-1])
ElementTree.register_namespace("xlink", "http://www.w3.org/1999/xlink")

Map = Callable[[float], float]  # from where something was to where it is
Window = tuple[float, float, float, float]  # left, top, right, bottom
Need = tuple[float, float, float]  # two positions of x, and what has to be between them at least


@dataclass(eq=False)
class Shape:
    """A path, a box, a marker or an image, and what it fills."""

    element: Element
    left: float
    top: float
    right: float
    bottom: float
    fill: str = ""
    stroked: bool = False
    closed: bool = False
    boxy: bool = False  # its corners may be round
    arrow: bool = False  # the head of one, which keeps its size
    held: Text | None = None  # by this text of a legend or of a hatched bar
    plate: bool = False  # the ground of that text on hatching

    @property
    def wide(self) -> float:
        return self.right - self.left

    @property
    def middle(self) -> tuple[float, float]:
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2

    def around(self, text: Text) -> bool:
        left = text.x - SHARE[text.anchor] * text.before
        across = self.left - 1 <= left and left + text.before <= self.right + 1
        return self.boxy and across and self.top - 1 <= text.y - 0.3 * text.was <= self.bottom + 1

    def hugs(self, text: Text) -> bool:
        """Whether this is only the ground of a text, which covers the hatching below it."""
        return not self.stroked and self.wide < text.before + 3 and self.bottom - self.top < 1.5 * text.was


@dataclass(eq=False)
class Text:
    """A text, and where its anchor is."""

    element: Element
    said: str
    x: float
    y: float
    was: float  # its size
    before: float  # its width
    anchor: str
    turned: float
    mono: bool
    bold: bool
    label: bool = False  # of a drawing in pixels
    lines: list[str] = field(default_factory=list)
    cut: bool = False  # a word of it is in two lines
    box: Shape | None = None  # in which it is
    soft: bool = False  # in a chart, where it gets the room that there is
    handle: float = 0.0  # how much of a legend is on its left
    row: list[Text] = field(default_factory=list)  # of its legend
    to: float = 0.0
    moved: float = 0.0  # down

    @property
    def middle(self) -> tuple[float, float]:
        return self.x, self.y

    @property
    def size(self) -> float:
        return (
            max(self.was, SMALLEST)
            if self.label
            else min(max(self.was, SMALLEST), LARGEST if self.element.tag == f"{SVG}text" else inf)
        )

    def length(self, line: str) -> float:
        return length(line, self.mono, self.bold) * self.size

    @property
    def width(self) -> float:
        return max(map(self.length, self.lines or [self.said]))

    @property
    def reach(self) -> tuple[float, float]:
        """How far it goes to the left and to the right of its anchor."""
        turn, share = radians(self.turned), SHARE[self.anchor]
        along, across = self.width * cos(turn), self.size * abs(sin(turn))
        above = (0.8 if sin(turn) < 0 else 0.2) * across  # letters are above their line
        return share * along + above + self.handle, (1 - share) * along + across - above

    @property
    def upright(self) -> bool:
        return abs(self.turned) > 80


@cache
def length(line: str, mono: bool, bold: bool) -> float:
    """Return the length of a line of size 1."""
    return _font(mono, bold).getlength(line) / 100


@cache
def _font(mono: bool, bold: bool) -> ImageFont.FreeTypeFont:
    path = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / f"DejaVuSans{'Mono' * mono}{'-Bold' * bold}.ttf"
    return ImageFont.truetype(path, 100, layout_engine=ImageFont.Layout.BASIC)


def narrow(
    drawing: str, windows: Sequence[Window] = (), letter: int = LETTER, column: int = PHONE, whole: bool = False
) -> str | None:
    """Return the drawing as wide as a column, with its windows below each other. If `whole`, None if a text needs two lines."""
    root = ElementTree.fromstring(drawing)
    in_pixels = not root.get("width").endswith("pt")
    if in_pixels:
        shrink(root)
    width, height = map(float, root.get("viewBox").split()[2:])
    unfold(root)
    shapes, texts = read(root)
    if in_pixels:
        natural, ground = letter / LABEL, None
        for text in texts:
            text.label = True
    else:
        natural, (ground, *shapes) = float(root.get("width")[:-2]) * 4 / 3 / width, shapes
    charts = [shape for shape in shapes if ground and is_chart(shape, ground)]
    foot, widest, room, crowded = 0.0, 0.0, column * (LABEL if in_pixels else SMALLEST) / letter, 0
    for left, top, right, bottom in windows or [(0.0, 0.0, width, height)]:
        inside = [
            [item for item in items if left <= item.middle[0] <= right and top <= item.middle[1] < bottom]
            for items in (shapes, texts, charts)
        ]
        across, total = fit(*inside, left, right, room, room if letter > LEAST else WIDER * room)
        if whole and (total > room + 0.1 or any(len(text.lines) > 1 for text in inside[1])):
            return None
        flow(inside[0], inside[1], room)
        stagger(inside[1], inside[2], across)
        if windows:  # a panel beside a higher one ends where its own drawing does
            bottom = min(bottom, max([shape.bottom for shape in inside[0]] + [text.y for text in inside[1]]) + BELOW)
        down, end = lower(inside[0], inside[1], top, bottom, foot)
        crowded += write(*inside, across, down, total)
        foot, widest = end, max(widest, total)
    if letter > LEAST and any(text.cut for text in texts):
        return narrow(drawing, windows, letter - 1, column)
    if crowded > 1 and column < natural * width:
        return narrow(drawing, windows, max(letter - 1, LEAST), round(1.1 * column))
    if ground:
        ground.element.set("d", f"M0 {foot:.2f}L{widest:.2f} {foot:.2f}L{widest:.2f} 0L0 0z")
    scale = column / widest if in_pixels else max(column / widest, LEAST / SMALLEST)
    scale = min(natural, scale)
    root.set("viewBox", f"0 0 {widest:.2f} {foot:.2f}")
    root.set("width", f"{widest * scale:.2f}")
    root.set("height", f"{foot * scale:.2f}")
    return ElementTree.tostring(root, encoding="unicode")


def shrink(root: Element) -> None:
    """Let a drawing in pixels have the size of the others, by its letters."""
    part = LABEL / max(float(each.get("font-size", 0)) for each in root.iter())
    inside = {each for defined in root.iter(f"{SVG}defs") for each in defined.iter()}
    for element in root.iter():
        for name in ("x", "y", "width", "height", "rx", "font-size", "d", "viewBox") if element not in inside else ():
            if name in element.attrib:
                text = NUMBER.sub(lambda number: f"{float(number[0]) * part:.2f}", element.get(name))
                element.set(name, text)


def unfold(root: Element) -> None:
    """Let an area of a chart be a path in its place. matplotlib defines its outline and uses it, as it does with markers."""
    outlines = {path.get("id"): path for defined in root.iter(f"{SVG}defs") for path in defined.iter(f"{SVG}path")}
    for use in root.iter(f"{SVG}use"):
        outline = outlines[use.get(HREF)[1:]].get("d")
        xs = [*map(float, NUMBER.findall(outline))][::2]
        if max(xs) - min(xs) > MARKER:
            dx, dy = float(use.attrib.pop("x")), float(use.attrib.pop("y"))
            use.tag = f"{SVG}path"
            use.set("d", shifted(outline, lambda x, y, dx=dx, dy=dy: (x + dx, y + dy)))
            del use.attrib[HREF]


def shifted(outline: str, move: Callable[[float, float], tuple[float, float]]) -> str:
    """Return the outline of a path with each of its points moved."""

    def command(match: re.Match) -> str:
        numbers = [*map(float, NUMBER.findall(match[2]))]
        points = (move(x, y) for x, y in zip(numbers[::2], numbers[1::2], strict=True))
        return match[1] + " ".join(f"{x:.2f} {y:.2f}" for x, y in points)

    return COMMAND.sub(command, outline)


def is_chart(shape: Shape, ground: Shape) -> bool:
    """Whether a shape is the ground of a chart: it has the fill of the drawing's ground, and no edge."""
    large = shape.wide > 30 and shape.bottom - shape.top > 15
    return (
        large
        and shape.closed
        and shape.fill == ground.fill
        and not shape.stroked
        and "clip-path" not in shape.element.attrib
    )


# Reading -------------------------------------------------------------------------------------------------------------


def read(root: Element) -> tuple[list[Shape], list[Text]]:
    sheet = "".join(each.text or "" for each in root.iter(f"{SVG}style"))
    rules, shapes, texts = dict(re.findall(r"\.(c\d+)\{([^}]*)\}", sheet)), list[Shape](), list[Text]()

    def visit(element: Element, style: str, moved: Element | None) -> None:
        own = "".join(f"{name}: {element.get(name)};" for name in NAMES if name in element.attrib)
        style = (
            f"{element.get('style', '')};{rules.get(element.get('class', ''), '')};{own}{style}"  # the first one holds
        )
        tag = element.tag.removeprefix(SVG)
        if tag == "text":
            parts = "".join(
                f"{part.get('style', '')};{rules.get(part.get('class', ''), '')};" for part in element.iter()
            )
            texts.append(_text(element, style, style + parts, moved))
        elif shape := _shape(tag, element, style):
            shapes.append(shape)
        if tag not in ("text", "defs"):
            group = element if tag == "g" and PLACE.search(element.get("transform", "")) else moved
            for child in element:
                visit(child, style, group)

    visit(root, "", None)
    for clip in root.iter(f"{SVG}clipPath"):
        left, top, wide, high = (float(clip[0].get(name)) for name in ("x", "y", "width", "height"))
        shapes.append(Shape(clip[0], left, top, left + wide, top + high))
    texts = [text for text in texts if text.said.strip()]
    centre(shapes, texts)
    return shapes, texts


def _value(style: str, name: str, otherwise: str) -> str:
    found = re.search(rf"(?<![\w-]){name}: *([^;]+)", style)
    return found[1].strip() if found else otherwise


def _shape(tag: str, element: Element, style: str) -> Shape | None:
    look = _value(style, "fill", "black"), _value(style, "stroke", "none") != "none"
    if tag == "path" and element.get("d"):
        numbers = [*map(float, NUMBER.findall(element.get("d")))]
        xs, ys = numbers[::2], numbers[1::2]
        left, top, right, bottom = min(xs), min(ys), max(xs), max(ys)
        closed = "z" in element.get("d") and element.get("d").count("M") == 1
        boxy = closed and all(min(x - left, right - x) < 5 for x in xs)
        arrow = closed and len(xs) == 4 and len({*xs}) > 2 and right - left < 10 and bottom - top < 10
        return Shape(element, left, top, right, bottom, *look, closed, boxy, arrow)
    if tag in ("rect", "image"):
        left, top, wide, high = (float(element.get(name)) for name in ("x", "y", "width", "height"))
        top = -top if tag == "image" else top  # matplotlib draws it upside down
        return Shape(element, left, top, left + wide, top + high, *look, tag == "rect", tag == "rect")
    if tag == "use":
        x, y = float(element.get("x")), float(element.get("y"))
        return Shape(element, x, y, x, y)
    return None


def _text(element: Element, style: str, inside: str, moved: Element | None) -> Text:
    """A text, by its style and those of its parts. One of several sizes, an exponent, is in a group that has its place."""
    sizes = [*map(float, re.findall(r"font-size: ([\d.]+)", inside))]
    size = sizes[0] if moved is None else max(sizes)
    whole = element if moved is None else moved
    transform = whole.get("transform", "")
    turn, place = ROTATE.search(transform), PLACE.search(transform)
    x, y = map(float, place.groups()) if place else (float(element.get("x")), float(element.get("y")))
    said = "".join(element.itertext()).replace("\n", "")
    mono, bold = (
        "mono" in _value(inside, "font-family", "").lower(),
        _value(style, "font-weight", "400") in ("600", "700", "bold"),
    )
    before, anchor = length(said, mono, bold) * size, _value(style, "text-anchor", "start")
    return Text(whole, said, x, y, size, before, anchor, float(turn[1]) if turn else 0.0, mono, bold)


def centre(shapes: Sequence[Shape], texts: Sequence[Text]) -> None:
    """Anchor in the middle what matplotlib has centred by its start: the lines of a text of several lines."""
    lines = [
        text for text in texts
        if text.element.tag == f"{SVG}text" and "translate" in text.element.get("transform", "")
        and text.anchor == "start" and not text.turned
    ]  # fmt: skip
    middles = [text.x + text.before / 2 for text in lines]
    for text, middle in zip(lines, middles, strict=True):
        near = [
            other
            for other, its in zip(lines, middles, strict=True)
            if abs(its - middle) < 0.7 and abs(other.y - text.y) < 16
        ]
        if near[1:] or any(abs(shape.middle[0] - middle) < 0.7 for shape in shapes if shape.around(text)):
            text.x, text.anchor = middle, "middle"
            text.element.set("style", f"{text.element.get('style', '')}; text-anchor: middle")


# Across --------------------------------------------------------------------------------------------------------------


def fit(
    shapes: Sequence[Shape],
    texts: Sequence[Text],
    charts: Sequence[Shape],
    left: float,
    right: float,
    room: float,
    whole: float,
) -> tuple[Map, float]:
    """Return where each x goes, and the width of the whole, which is `room` at most if it can be, and `whole` if words would be cut
    otherwise. Texts get their lines."""
    for text in texts:
        inside = [chart for chart in charts if chart.left - 1 <= text.x <= chart.right + 1]
        text.soft = any(chart.top - 2 <= text.y <= chart.bottom or is_mark(text, chart, texts) for chart in inside)
        boxes = [shape for shape in shapes if shape.around(text) and not shape.arrow and shape not in charts]
        for ground in (grounds := [box for box in boxes if (text.soft or len(boxes) > 1) and box.hugs(text)]):
            ground.held, ground.plate = text, True
        boxes = [box for box in boxes if box not in grounds]
        text.box = min(boxes, key=lambda box: box.wide * (box.bottom - box.top), default=None)
    hold(shapes, texts)
    for text in texts:  # two charts side by side have a legend each
        if text.row and any(
            chart.left < text.x < chart.right and chart.top < text.y < chart.bottom for chart in charts
        ):
            text.row = []
    knots = sides(shapes, texts, charts, left, right)

    def spaced(inside: float, least: float) -> list[float]:
        asked = shared(knots, needs(shapes, texts, charts, left, right, inside), charts)
        low, high = least, 1.0
        for _ in range(8):
            part = (low + high) / 2
            low, high = (part, high) if sum(shrunk(knots, asked, part)) <= room else (low, part)
        return shrunk(knots, asked, low)

    for most, least, caps in (
        (room, 0.2, CAPS[:-2]),
        (room, 0.0, CAPS),
        (inf, 0.0, CAPS[-1:]),
    ):  # rather close than broken
        for cap in caps:
            for text in texts:  # a box that is wide now stays so
                share = text.box.wide / (right - left) if text.box else 0.0
                text.lines = wrapped(text, max(cap, 0.85 * share) * room)
            for inside in INSIDE:
                widths, limit = spaced(inside, least), min(most, room if inside > INSIDE[-1] else inf)
                if sum(widths) <= limit + 0.1:
                    widths = mended(texts, widths, partial(spaced, inside, least), max(limit, whole) + 0.1)
                    return mapping(knots, widths), sum(widths)
    raise AssertionError("the last attempt has no limit")


def mended(texts: Sequence[Text], widths: list[float], spaced: Callable[[], list[float]], most: float) -> list[float]:
    """Keep the words of a text whole, of one after the other, if the intervals have room for them. Return the widths of these."""
    for text in texts:
        if text.cut:
            before, longest = text.lines, max(map(text.length, BREAK.split(text.said)))
            text.lines = wrapped(text, longest + text.length("  "))
            if sum(found := spaced()) <= most:
                widths = found
            else:
                text.lines, text.cut = before, True
    return widths


def is_mark(text: Text, chart: Shape, texts: Iterable[Text]) -> bool:
    """Whether a text is below a chart and in a row with others, as the marks of an axis are."""
    row = (chart.left - 1 <= other.x <= chart.right + 1 and abs(other.y - text.y) < 1 for other in texts)
    return text.anchor == "middle" and chart.bottom < text.y <= chart.bottom + 30 and sum(row) > 1


def hold(shapes: Sequence[Shape], texts: Sequence[Text]) -> None:
    """Let the lines, boxes and markers of a legend move with its texts."""
    named = [text for text in texts if text.anchor == "start" and not text.turned and re.search("[a-z]", text.said)]
    for text in named:
        near = [
            shape for shape in shapes
            if text.x - 32 < shape.left and shape.right < text.x + 0.1 and (not shape.wide or 6 < shape.wide < 27)
            and abs(shape.middle[1] - (text.y - 0.35 * text.was)) < 4
        ]  # fmt: skip
        several = sum(abs(other.x - text.x) < 0.1 for other in named) > 1
        if near and (several or any(shape.wide for shape in near)):
            text.box, text.soft, text.handle = None, True, text.x - min(shape.left for shape in near)
            for shape in near:
                shape.held = text
    for text in texts:
        row = sorted(
            (other for other in texts if other.handle and abs(other.y - text.y) < 2), key=lambda other: other.x
        )
        text.row = row if text.handle and row[1:] else []


def sides(shapes, texts, charts, left: float, right: float) -> list[float]:
    """Return the ends of the intervals: the sides of charts and of shapes outside of them, and where texts are anchored."""
    found = {right} | {text.x for text in texts if not (text.box or text.soft)}
    found |= {side for shape in shapes if not (shape.arrow or shape.held) for side in (shape.left, shape.right)}
    knots = [left]
    for x in sorted(found):
        if x - knots[-1] > 0.3 and x <= right and not any(chart.left + 0.1 < x < chart.right - 0.1 for chart in charts):
            knots.append(x)
    return knots


def needs(shapes, texts, charts, first: float, last: float, inside: float) -> Iterator[Need]:
    for text in texts:
        left, right = text.reach
        if not (text.soft and (text.box or text.handle)):
            if text.x > first + 0.5:
                yield first, text.x, left + 0.5
            if text.x < last - 0.5 and not (text.soft and text.anchor == "middle"):
                yield text.x, last, right + 0.5
    for text in (free := [text for text in texts if not (text.soft or text.box and text.box.held)]):
        left, right = text.reach
        if text.box and text.anchor == "middle":
            yield text.box.left, text.box.right, left + right + 2 * inside
        elif text.box and text.anchor == "start":
            yield text.x, text.box.right, right + inside
        elif text.box:
            yield text.box.left, text.x, left + inside
        if not text.turned:
            yield from (
                (text.x, chart.left, right + 4) for chart in charts
                if chart.top - 6 < text.y < chart.bottom + 6 and 0.5 < chart.left - text.x < 60
            )  # fmt: skip
            yield from beside(text, shapes)
        yield from ((text.x, other.x, gap) for other in free if text.x < other.x and (gap := apart(text, other)))


def beside(text: Text, shapes: Iterable[Shape]) -> Iterator[Need]:
    """Yield the room between a text and the boxes that are on its left and on its right."""
    left, right = text.reach
    for shape in shapes:
        inside = (
            text.box is None or shape is not text.box and text.box.left <= shape.left and shape.right <= text.box.right
        )
        level = shape.top < text.y and text.y - 0.7 * text.size < shape.bottom
        if inside and level and shape.closed and not (shape.arrow or shape.held):
            if shape.left > text.x:
                yield text.x, shape.left, right + 4
            elif shape.right < text.x:
                yield shape.right, text.x, left + 4


def apart(one: Text, other: Text) -> float:
    """How far the anchors of two texts have to be from each other: 0 if they are not in one line."""
    if one.turned and other.turned:
        return 1.25 * one.size if abs(one.y - other.y) < 2 and one.box is None else 0
    if one.upright:
        middle = one.y - (0.5 - SHARE[one.anchor]) * one.width
        return one.reach[1] + other.reach[0] + 3 if abs(middle - other.y) < one.width / 2 + 6 else 0
    level = abs(one.y - other.y) < 5 and not other.turned and not one.turned
    if not level or one.box is not None and one.box is other.box:
        return 0
    phrases = one.mono and not one.box and not other.box and one.lines[1:] and other.lines[1:]  # they are no one line
    return one.reach[1] + other.reach[0] + (2 * one.size if phrases else 4)


def shared(knots: Sequence[float], needs: Iterable[Need], charts) -> list[tuple]:
    """Return each need from the shortest on: its least width, the share of each interval in it, and how they grow for it. A chart
    grows only if nothing else is there."""
    rigid = [any(chart.left - 0.3 <= a and b <= chart.right + 0.3 for chart in charts) for a, b in pairwise(knots)]
    most: dict[tuple[float, float], float] = {}  # of several needs between two positions the largest
    for start, end, least in needs:
        most[start, end] = max(least, most.get((start, end), 0))
    asked = []
    for (start, end), least in sorted(most.items(), key=lambda need: need[0][1] - need[0][0]):
        first, last = max(bisect_right(knots, start) - 1, 0), bisect_left(knots, end)
        inner = enumerate(pairwise(knots[first : last + 1]), first)
        lengths = {i: min(end, b) - max(start, a) for i, (a, b) in inner}
        shares = [(i, inside / (knots[i + 1] - knots[i])) for i, inside in lengths.items()]
        loose = [0.0 if rigid[i] else inside for i, inside in lengths.items()]
        if sum(lengths.values()):
            asked.append((least, shares, loose if sum(loose) > 1 else [*lengths.values()]))
    return asked


def shrunk(knots: Sequence[float], asked: Sequence[tuple], part: float) -> list[float]:
    """Return the least widths of the intervals, each of which keeps a part of its width."""
    widths = [part * (end - start) for start, end in pairwise(knots)]
    for least, shares, grown in asked:
        lacks = least - sum([share * widths[i] for i, share in shares])
        if lacks > 0:
            gains = sum(grow * share for (_, share), grow in zip(shares, grown, strict=True))
            for (i, _), grow in zip(shares, grown, strict=True):
                widths[i] += lacks * grow / gains
    return widths


def mapping(knots: Sequence[float], widths: Sequence[float]) -> Map:
    def across(x: float) -> float:
        start = 0.0
        for (a, b), wide in zip(pairwise(knots), widths, strict=True):
            if x <= b:
                return start + (x - a) * wide / (b - a)
            start += wide
        return start + x - knots[-1]

    return across


# Down ----------------------------------------------------------------------------------------------------------------


def wrapped(text: Text, most: float) -> list[str]:
    """Return the lines of a text, each at most so wide."""
    text.cut = False
    if text.turned or text.soft or len(text.element) or text.length(text.said) <= most:
        return [text.said]
    indent = re.match(" *", text.said)[0] + "  " * (text.mono and text.anchor == "start")
    lines, line = [], ""
    for part in parts(text, most - text.length(indent)):
        while part:
            if line.strip() and text.length((line + part).rstrip()) > most:
                lines.append(line.rstrip())
                line, part = indent, part.lstrip()
            short = (n for n in range(len(part), 0, -1) if text.length((line + part[:n]).rstrip()) <= most)
            fits = len(part) if text.label else next(short, 1)
            text.cut |= fits < len(part)
            line, part = line + part[:fits], part[fits:]
    return [line for line in [*lines, line] if line.strip()]


def parts(text: Text, most: float) -> Iterator[str]:
    """Yield what is between two places where a line may end. A bracket that fits a line is a whole."""
    held: list[str] = []
    for part in BREAK.split(text.said):
        held.append(part)
        whole = "".join(held)
        fits = text.length(whole.rstrip()) <= most
        if fits and sum(map(whole.count, "([")) > sum(map(whole.count, ")]")):
            continue
        yield from [whole] if fits else held
        held = []
    yield from held


def flow(shapes: Sequence[Shape], texts: Sequence[Text], room: float) -> None:
    """Place the entries of a legend that are in one row: beside each other, and in further rows."""
    for first in texts:
        if first.row and first.row[0] is first:
            tall = max([shape.bottom - shape.top for shape in shapes if shape.held in first.row] + [first.size])
            x = down = 0.0
            for text in first.row:
                if x and x + text.handle + text.width > room:
                    x, down = 0.0, down + tall + 0.5 * first.size
                text.to, text.moved = x + text.handle + 2, down
                column = [other for other in texts if text.label and other.row and abs(other.x - text.x) < 0.1]
                x = text.to + max(other.width for other in [text, *column]) + 8


def stagger(texts: Sequence[Text], charts: Sequence[Shape], across: Map) -> None:
    """Let every second mark of an axis be lower if they are words that would touch each other."""
    for row in marks(texts, charts):
        words = all(re.search("[a-z]{2}", text.said) for text in row)
        if words and touch(row, across) and not touch(row[::2], across) and not touch(row[1::2], across):
            for text in row[1::2]:
                text.moved = 1.3 * text.size


def marks(texts: Iterable[Text], charts: Sequence[Shape]) -> Iterable[list[Text]]:
    """Return the marks of each axis below a chart, from the left."""
    rows: dict[int, list[Text]] = {}
    for text in sorted(texts, key=lambda text: text.x):
        if text.soft and not text.turned and any(chart.bottom < text.y < chart.bottom + 30 for chart in charts):
            rows.setdefault(round(text.y), []).append(text)
    return rows.values()


def touch(row: Sequence[Text], across: Map) -> bool:
    return any(across(one.x) + one.reach[1] + 2 > across(other.x) - other.reach[0] for one, other in pairwise(row))


def lower(shapes: Sequence[Shape], texts: Sequence[Text], top: float, bottom: float, foot: float) -> tuple[Map, float]:
    """Return where each y goes, and the foot of the window, whose top goes to the foot of the one before it. A box that has nothing
    but a column of labels grows at its foot, and they stay together in its middle."""
    rows: list[list[float]] = []  # y, and what is added below it
    stacks = columns(shapes, texts)
    added = [(box.bottom - 1.5, sum(map(more_of, stack))) for box, stack in stacks.items()]
    added += [(text.y, more_of(text)) for text in texts if text.box not in stacks]
    for y, more in sorted(added):
        if more and rows and y - rows[-1][0] < 4:
            rows[-1][1] = max(rows[-1][1], more)
        elif more:
            rows.append([y, more])

    def down(y: float) -> float:
        return foot + y - top + sum(more for row, more in rows if row + 1 < y)

    for box, stack in stacks.items():
        grown = down(box.bottom) - down(box.top) - (box.bottom - box.top)
        moved = (grown - sum(map(more_of, stack))) / 2
        for text in stack:
            more, above = more_of(text), down(text.y) - down(box.top) - (text.y - box.top)
            text.moved, moved = moved - above, moved + more
    return down, down(bottom)


def more_of(text: Text) -> float:
    """How much lower a text ends than its first line."""
    return text.moved or (len(text.lines) - 1) * 1.2 * text.size


def columns(shapes: Sequence[Shape], texts: Sequence[Text]) -> dict[Shape, list[Text]]:
    """The boxes that have nothing inside but labels that are centred below each other, with these from the top."""
    found: dict[Shape, list[Text]] = {}
    for text in sorted(texts, key=lambda text: text.y):
        if text.label and text.box and not text.box.held:
            found.setdefault(text.box, []).append(text)

    def inside(shape: Shape, box: Shape) -> bool:
        across = box.left - 1 <= shape.left and shape.right <= box.right + 1
        smaller = shape.wide < box.wide - 2 or shape.bottom - shape.top < box.bottom - box.top - 2
        return across and smaller and box.top - 1 <= shape.top and shape.bottom <= box.bottom + 1

    return {
        box: stack
        for box, stack in found.items()
        if all(text.anchor == "middle" and abs(text.x - stack[0].x) < 0.7 and not text.soft for text in stack)
        and not any(inside(shape, box) for shape in shapes)
    }


# Writing -------------------------------------------------------------------------------------------------------------


def write(shapes, texts, charts, across: Map, down: Map, total: float) -> int:
    """Place everything. Return how many names of a chart had to move off others, or are on a marker, and
    how many charts have only one mark left on an axis."""
    for text in sorted(texts, key=lambda text: text.box is not None):
        place(text, texts, charts, across, total)
    lonely = thin_out(texts, charts)
    stop(shapes, texts, across)
    keep_off(shapes, texts, across, total)
    crowded = lonely + spread(texts) + covering(texts, shapes, across)
    for text in texts:
        move_text(text, across, down)
    for shape in shapes:
        move_shape(shape, across, down)
    return crowded


def place(text: Text, texts, charts, across: Map, total: float) -> None:
    left, right = text.reach
    if text.row:
        return
    text.to = across(text.x)
    if text.box and (held := text.box.held):
        text.to, text.moved = held.to + text.x - held.x, held.moved
    elif box := text.box:
        start, end = across(box.left), across(box.right)
        if text.anchor == "middle":
            text.to = start + (text.x - box.left) / box.wide * (end - start)
        elif text.anchor == "start":
            column = [other.reach[1] for other in texts if other.box is box and abs(other.x - text.x) < 0.5]
            text.to = start + min(text.x - box.left, max((end - start - max(column)) / 2, 2))
    elif text.handle:
        column = [other for other in texts if other.handle and abs(other.x - text.x) < 0.1]
        inside = [
            chart for chart in charts if chart.left < text.x < chart.right and chart.top - 2 < text.y < chart.bottom
        ]
        least = max([across(chart.left) + 3 for chart in inside], default=0.5) + max(other.handle for other in column)
        most = min(
            [across(chart.right) for chart in inside if text.x + text.before < chart.right + 2], default=total - 0.5
        )
        text.to = max(min(text.to, most - max(other.reach[1] for other in column)), least)
    elif text.soft and not text.turned:
        text.to = max(min(text.to, total - right - 0.5), left + 0.5)


def move_shape(shape: Shape, across: Map, down: Map) -> None:
    element, tag, held = shape.element, shape.element.tag.removeprefix(SVG), shape.held
    if held and not held.said:
        element.attrib.pop("d", None)
        return
    if held and shape.plate:
        left, right = held.reach
        y = baseline(held, down)
        top, foot = y - 0.95 * held.size, y + (1.2 * max(len(held.lines) - 1, 0) + 0.35) * held.size
        left, right = held.to - left - 1, held.to + right + 1
        element.set("d", f"M{left:.2f} {foot:.2f}L{right:.2f} {foot:.2f}L{right:.2f} {top:.2f}L{left:.2f} {top:.2f}z")
        return
    rigid = (shape.middle[0], across(shape.middle[0]), shape.bottom, down(shape.bottom)) if shape.arrow else None
    rigid = (held.x, held.to, held.y, down(held.y) + held.moved) if held else rigid

    def move(x: float, y: float) -> tuple[float, float]:
        return (rigid[1] + x - rigid[0], rigid[3] + y - rigid[2]) if rigid else (across(x), down(y))

    if tag == "path":
        element.set("d", shifted(element.get("d"), move))
        return
    (left, top), (right, bottom) = move(shape.left, shape.top), move(shape.right, shape.bottom)
    element.set("x", f"{left:.2f}")
    element.set("y", f"{-top if tag == 'image' else top:.2f}")
    if tag != "use":
        element.set("width", f"{right - left:.2f}")
        element.set("height", f"{bottom - top:.2f}")
    if tag == "image":
        element.set("transform", f"scale(1 -1) translate(0 -{bottom - top:.2f})")
        element.set("preserveAspectRatio", "none")


def thin_out(texts: Sequence[Text], charts: Sequence[Shape]) -> int:
    """Leave out every second mark of an axis as long as some touch each other. Return how many charts have only one left."""
    lonely = 0
    for row in marks(texts, charts):
        row = [text for text in row if not text.moved]
        all_of = [[text for text in row if chart.left <= text.x <= chart.right] for chart in charts]
        while row[2:] and any(one.to + one.reach[1] + 2 > other.to - other.reach[0] for one, other in pairwise(row)):
            for text in row[1::2]:
                text.said, text.lines = "", []
            row[:] = row[::2]
        lonely += sum(len(of_chart) > 2 and sum(text.said != "" for text in of_chart) < 2 for of_chart in all_of)
    return lonely


def keep_off(shapes: Sequence[Shape], texts: Sequence[Text], across: Map, total: float) -> None:
    """Let a text of a chart that is on the right of a marker stay as far from it."""
    markers = [shape for shape in shapes if shape.element.tag == f"{SVG}use"]
    for text in texts:
        if text.soft and text.anchor == "start" and not (text.turned or text.box or text.handle):
            near = [
                shape.left for shape in markers
                if 0 < text.x - shape.left < 14 and abs(shape.top - text.y + 0.35 * text.was) < 5
            ]  # fmt: skip
            if near:
                text.to = min(across(max(near)) + text.x - max(near), total - text.width - 0.5)


def stop(shapes: Sequence[Shape], texts: Sequence[Text], across: Map) -> None:
    """End a text of a chart on the left of an upright stroke that was on its right."""
    strokes = [shape for shape in shapes if shape.stroked and not shape.closed and shape.element.tag == f"{SVG}path"]
    corners = [[*map(float, NUMBER.findall(shape.element.get("d")))] for shape in strokes]
    lines = [line for each in corners for line in pairwise(zip(each[::2], each[1::2], strict=False))]
    for text in texts:
        end = text.x + text.before
        if text.soft and text.anchor == "start" and not (text.turned or text.box or text.handle):
            sides = [
                across(x) for (x, above), (other, below) in lines
                if x == other and end < x and min(above, below) < text.y and text.y - 0.7 * text.was < max(above, below)
            ]  # fmt: skip
            text.to = max(min([text.to, *(side - text.width - 2 for side in sides)]), 0.5)


def spread(texts: Sequence[Text]) -> int:
    """Move texts of a chart up, or else down, that would be on each other. Return how many."""
    done: list[Text] = []
    crowded = 0

    def free(text: Text) -> bool:
        left, right = text.to - text.reach[0], text.to + text.reach[1]
        return not any(
            left < other.to + other.reach[1]
            and other.to - other.reach[0] < right
            and abs(text.y + text.moved - other.y - other.moved) < text.size
            for other in done
        )

    for text in sorted(texts, key=lambda text: (not text.handle, text.x)):
        if text.soft and not text.turned and text.said and not text.box:
            steps = (step * 1.1 * text.size for step in (0, -1, 1, -2, 2, -3, 3))
            if not (text.handle or text.moved):
                text.moved = next((text.moved for text.moved in steps if free(text)), 0.0)
                crowded += text.moved != 0 or not free(text)
            done.append(text)
    return crowded


def covering(texts: Sequence[Text], shapes: Sequence[Shape], across: Map) -> int:
    """Return how many texts of a chart are on the marker of another."""
    markers = [shape for shape in shapes if shape.element.tag == f"{SVG}use"]
    return sum(
        any(
            text.to - text.reach[0] < across(shape.left) < text.to + text.reach[1]
            for shape in markers
            if abs(shape.top - text.y + 0.35 * text.was) < 0.5 * text.size
        )
        for text in texts
        if text.soft and text.said and not (text.turned or text.box or text.handle)
    )


def baseline(text: Text, down: Map) -> float:
    held = text.box.held if text.box and text.box.held else text
    return down(held.y) + text.y - held.y + text.moved


def move_text(text: Text, across: Map, down: Map) -> None:
    element, several = text.element, len(text.element) > 0
    if text.soft and text.box and text.said:
        shorten(text, across(text.box.right) - across(text.box.left) - 1)
    if not text.said:
        element.clear()
        return
    y = baseline(text, down)
    turn = f" rotate({text.turned:g})" if text.turned else ""
    scale = f" scale({text.size / text.was:.3f})" if several and text.size != text.was else ""
    element.set("transform", f"translate({text.to:.2f} {y:.2f}){turn}{scale}")
    element.attrib.pop("x", None)
    element.attrib.pop("y", None)
    if several:
        return
    if text.size != text.was:
        element.set("style", f"{element.get('style', '')}; font-size: {text.size:g}px")
    element.text = text.said if len(text.lines) < 2 else ""
    for number, line in enumerate(text.lines if len(text.lines) > 1 else ()):
        more = {"dy": f"{1.2 * text.size:.2f}"} if number else {}
        ElementTree.SubElement(element, f"{SVG}tspan", {"x": "0"} | more).text = line


def shorten(text: Text, room: float) -> None:
    """Cut a text that is longer than its bar, or leave it out."""
    said = text.said
    while said and text.length(said + "…" * (said != text.said)) > room:
        said = said[:-1]
    if said != text.said:
        text.said, text.lines = (said.rstrip() + "…" if len(said) > 2 else ""), []
