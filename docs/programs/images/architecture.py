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
ROW, BOX, LETTER = 44, 30, 8.5  # from row to row; of a box; of a character: pixels
FONT = 'font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14" text-anchor="middle"'
COLUMNS = {"autograder": ("the grader", 260), "rushlight": ("the framework", 500)}  # and the width
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


def drawn() -> str:
    """The picture: a column for each package, with its lowest row at the bottom."""
    columns = {package: rows(imports(package)) for package in COLUMNS}
    height = ROW * (max(map(len, columns.values())) + 1)
    shapes, left = [], 0
    for package, levels in columns.items():
        name, width = COLUMNS[package]
        middle, left = left + width / 2, left + width
        shapes.append(_text(middle, height - ROW * (len(levels) + 1) + BOX, f"{package}/ · {name}", "bold"))
        for level, boxes in enumerate(levels):
            shapes += _row([" ⇄ ".join(box) for box in boxes], middle, height - ROW * (level + 1))
    size = f'viewBox="0 0 {left} {height}" width="{left}" height="{height}"'
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" {size} {FONT}>', *shapes, "</svg>"]) + "\n"


def _row(names: list[str], middle: float, top: float) -> Iterator[str]:
    widths = [LETTER * len(name) + 16 for name in names]
    left = middle - (sum(widths) + 10 * (len(names) - 1)) / 2
    for name, width in zip(names, widths):
        box = f'x="{left:.0f}" y="{top:.0f}" width="{width:.0f}" height="{BOX}" rx="4"'
        yield f'<rect {box} fill="#eceff1" stroke="#848d97"/>'
        yield _text(left + width / 2, top + 20, name)
        left += width + 10


def _text(x: float, y: float, text: str, weight: str = "normal") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" fill="#22282c" font-weight="{weight}">{text}</text>'


if __name__ == "__main__":
    PICTURE.write_text(drawn(), encoding="utf-8")
