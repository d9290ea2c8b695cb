"""A drawing of a reading has further files for small screens, if its letters would be too small there.

`NAME-panels.svg` is as wide as a phone and `NAME-middle.svg` as a tablet or a phone on its side, and a page shows the one that
fits. In them, graphs that `draw_panels` draws side by side, each below a title in bold, are below each other where they must.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby, pairwise
from operator import itemgetter

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from docs.programs.hooks.narrow import LEAST, LETTER, PHONE, Window, narrow

COLUMNS = {"panels": PHONE, "middle": 688}  # pixels of the least column for each ending of a file

VIEW = re.compile(r'<svg\b[^>]*?width="([\d.]+)pt" height="[\d.]+pt" viewBox="0 0 ([\d.]+) ([\d.]+)"')
SIZE = re.compile(r"font-size: ([\d.]+)px")
BOLD = re.compile(r"\.(c\d+)\{(?=[^}]*font-weight: 700)(?=[^}]*font-size: 10px)(?![^}]*text-anchor)[^}]*\}")
TEXT = re.compile(r'<text class="(c\d+)" x="([\d.]+)" y="([\d.]+)"')
STROKE = re.compile(r"M[^M\"]*")
NUMBER = re.compile(r"-?[\d.]+")
MANY = 4  # panels: more of them have smaller letters rather than twice the height
ABOVE, LINE = 16, 4  # from the top of a panel to the foot of its title, and how much titles of one line may differ


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Add the drawings for phones, of the pages that this build has."""
    for file in [*files]:
        page = re.fullmatch(r"(phases/.*)_files/\w+\.svg", file.src_uri)
        if not page or config.draft_docs.match_file(f"{page[1]}.md"):
            continue
        for ending, column in COLUMNS.items():
            if drawing := fitted(file.content_string, column):
                path = file.src_uri.replace(".svg", f"-{ending}.svg")
                files.append(File.generated(config, path, content=drawing))
                files.get_file_from_path(path).labelled = file.labelled


def fitted(drawing: str, column: int = PHONE) -> str | None:
    """Return the drawing for a column, or None if the drawing fits, or is large enough when it is made to fit."""
    points, width, height = map(float, VIEW.search(drawing).groups()) if VIEW.search(drawing) else (0, 0, 0)
    letters = min(map(float, SIZE.findall(drawing)), default=99.0)
    if points * 4 / 3 <= column or letters * column / width > 0.99 * LETTER:
        return None
    alone = panels(drawing, width, height)
    for beside in range(max(Counter(top for _, top, *_ in alone).values(), default=1), 1, -1):
        for letter in (LETTER, LEAST) if len(alone) > MANY else (LETTER,):
            if found := narrow(drawing, [*joined(alone, beside)], letter, column, whole=True):
                return found
    return narrow(drawing, alone, column=column)


def joined(panels: Iterable[Window], beside: int) -> Iterator[Window]:
    """Yield the windows of so many panels side by side."""
    for (above, below), line in groupby(panels, key=itemgetter(1, 3)):
        sides = [(left, right) for left, _, right, _ in line]
        for i in range(0, len(sides), beside):
            yield sides[i][0], above, sides[i : i + beside][-1][1], below


def panels(drawing: str, width: float, height: float) -> list[tuple[float, float, float, float]]:
    """Return the panels as (left, top, right, bottom), line by line. Empty unless some are side by side with nothing across."""
    bold = {*BOLD.findall(drawing)}
    titles = [(float(y), float(x)) for kind, x, y in TEXT.findall(drawing) if kind in bold]
    lines: list[list[float]] = []
    tops: list[float] = []
    for y, x in sorted(titles):
        if not tops or y - tops[-1] > LINE:
            tops.append(y)
            lines.append([])
        lines[-1].append(x)
    if max(map(len, lines), default=0) < 2 or tops[0] > ABOVE + LINE or len({min(line) for line in lines}) > 1:
        return []
    margin, found = min(lines[0]), []
    edges = [0.0, *(top - ABOVE for top in tops[1:]), height]
    for line, (above, below) in zip(lines, pairwise(edges)):
        sides = [0.0, *(x - margin for x in sorted(line)[1:]), width]
        found += [(left, above, right, below) for left, right in pairwise(sides)]
    crossing = any(
        min(xs) < left - 1 and max(xs) > left + 1 and above <= min(ys) < below
        for stroke in STROKE.findall("".join(re.findall(r' d="([^"]*)"', drawing)))[1:]  # the first is the ground
        if (xs := [*map(float, NUMBER.findall(stroke)[::2])]) and (ys := [*map(float, NUMBER.findall(stroke)[1::2])])
        for left, above, _, below in found
        if left
    )
    return [] if crossing else found
