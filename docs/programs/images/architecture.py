"""Draw the rooms of the code for `docs/architecture.md`: `python docs/programs/images/architecture.py`.

A room stands above all rooms that its modules import when they are imported. Rooms that import each other share a box.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from docs.programs import DOCS, IMAGES

ROOT = DOCS.parent
PICTURE = IMAGES / "architecture.svg"
PHONE = IMAGES / "architecture-panels.svg"  # the same for a phone
ROW, LINE, BOX, LETTER, GAP = (
    44,
    34,
    30,
    8.5,
    10,
)  # from row to row; from line to line; of a box; of a character; pixels
WIDE, NARROW = 446, 358  # of a column at most
FONT = 'font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14" text-anchor="middle"'
COLUMNS = {"autograder": "the grader", "rushlight": "the framework"}
Imports = dict[str, set[str]]


def imports(package: str) -> Imports:
    """The rooms of a package, each with the rooms that its modules import when they are imported."""
    rooms: Imports = {}
    for path in sorted((ROOT / package).rglob("*.py")):
        if path in (ROOT / package / "__init__.py", ROOT / package / "__main__.py"):
            continue  # they give all rooms their names and start a program, and belong to none
        room = path.relative_to(ROOT / package).with_suffix("").parts[0]
        rooms.setdefault(room, set()).update(name for name in imported(path, package) if name != room)
    return {room: below & rooms.keys() for room, below in rooms.items()}


def imported(path: Path, package: str) -> Iterator[str]:
    """The room of each module of the package that a module imports when it is imported."""
    inside = path.relative_to(ROOT).parts[:-1]
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            start = inside[: len(inside) + 1 - node.level] if node.level else ()
            for alias in node.names:
                full = [*start, *filter(None, (node.module or "").split(".")), alias.name]
                if full[0] == package:
                    yield full[1]


def rows(rooms: Imports) -> list[list[list[str]]]:
    """Boxes in rows, from the bottom up. A box has the rooms that reach each other."""

    @cache
    def below(room: str) -> frozenset[str]:
        reached, new = set(), set(rooms[room])
        while new:
            reached |= new
            new = set().union(*(rooms[name] for name in new)) - reached
        return frozenset(reached)

    boxes = {frozenset({room, *(name for name in below(room) if room in below(name))}) for room in rooms}
    height: dict[frozenset[str], int] = {}
    for box in sorted(boxes, key=lambda box: len(set().union(*map(below, box)) - box)):
        under = set().union(*map(below, box)) - box
        height[box] = 1 + max((height[other] for other in boxes if other & under), default=-1)
    return [sorted(sorted(box) for box in boxes if height[box] == level) for level in range(max(height.values()) + 1)]


def drawn(most: int = WIDE) -> str:
    """The picture: a column for each package, with its lowest row at the bottom. On a phone the columns are below each other."""
    columns = {package: [_lines(row, most - 6) for row in rows(imports(package))] for package in COLUMNS}
    heights = {package: ROW + sum(ROW + LINE * (len(row) - 1) for row in levels) for package, levels in columns.items()}
    widths = [max(_width(line) for row in levels for line in row) + 4 for levels in columns.values()]
    width, height = sum(widths) + 2 * GAP, max(heights.values())
    if most == NARROW:
        width, height = most, sum(heights.values())
    shapes, left, foot = list[str](), 0.0, height
    for (package, levels), wide in zip(columns.items(), widths, strict=True):
        middle = left + wide / 2
        if most == NARROW:
            middle, foot = width / 2, heights[package] + (foot if shapes else 0)
        else:
            left += wide + 2 * GAP
        shapes.append(_text(middle, foot - heights[package] + BOX, f"{package}/ · {COLUMNS[package]}", "bold"))
        top = foot
        for row in levels:
            for number, line in enumerate(reversed(row)):
                top -= LINE if number else ROW
                shapes += _row(line, middle, top)
    size = f'viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" height="{height}"'
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" {size} {FONT}>', *shapes, "</svg>"]) + "\n"


def _lines(boxes: list[list[str]], most: int) -> list[list[str]]:
    """The names of the boxes of a row, in as many lines as they need."""
    lines: list[list[str]] = [[]]
    for name in (" ⇄ ".join(box) for box in boxes):
        if lines[-1] and _width([*lines[-1], name]) > most:
            lines.append([])
        lines[-1].append(name)
    return lines


def _width(names: list[str]) -> float:
    return sum(LETTER * len(name) + 16 for name in names) + GAP * (len(names) - 1)


def _row(names: list[str], middle: float, top: float) -> Iterator[str]:
    left = middle - _width(names) / 2
    for name in names:
        width = _width([name])
        box = f'x="{left:.0f}" y="{top:.0f}" width="{width:.0f}" height="{BOX}" rx="4"'
        yield f'<rect {box} fill="#eceff1" stroke="#848d97"/>'
        yield _text(left + width / 2, top + 20, name)
        left += width + GAP


def _text(x: float, y: float, text: str, weight: str = "normal") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" fill="#22282c" font-weight="{weight}">{text}</text>'


if __name__ == "__main__":
    PICTURE.write_text(drawn(), encoding="utf-8")
    PHONE.write_text(drawn(NARROW), encoding="utf-8")
