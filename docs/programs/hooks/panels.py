"""A drawing of a reading has a second file for a phone, if its letters would be too small there.

The second file of `NAME.svg` is `NAME-panels.svg`, as wide as a phone, and a page shows the one that fits. In it, graphs that
`draw_panels` draws side by side, each below a title in bold, are below each other.
"""

from __future__ import annotations

import re
from itertools import pairwise

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from docs.programs.hooks.narrow import LETTER, PHONE, narrow

VIEW = re.compile(r'<svg\b[^>]*?width="([\d.]+)pt" height="[\d.]+pt" viewBox="0 0 ([\d.]+) ([\d.]+)"')
SIZE = re.compile(r"font-size: ([\d.]+)px")
BOLD = re.compile(r"\.(c\d+)\{(?=[^}]*font-weight: 700)(?=[^}]*font-size: 10px)(?![^}]*text-anchor)[^}]*\}")
TEXT = re.compile(r'<text class="(c\d+)" x="([\d.]+)" y="([\d.]+)"')
STROKE = re.compile(r"M[^M\"]*")
NUMBER = re.compile(r"-?[\d.]+")
ABOVE, LINE = 16, 4  # from the top of a panel to the foot of its title, and how much titles of one line may differ


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Add the drawings for phones, of the pages that this build has."""
    for file in [*files]:
        page = re.fullmatch(r"(phases/.*)_files/\w+\.svg", file.src_uri)
        if not page or config.draft_docs.match_file(f"{page[1]}.md"):
            continue
        if drawing := of_phone(file.content_string):
            path = file.src_uri.replace(".svg", "-panels.svg")
            files.append(File.generated(config, path, content=drawing))
            files.get_file_from_path(path).labelled = file.labelled


def of_phone(drawing: str) -> str | None:
    """Return the drawing for a phone, or None if the drawing fits, or is large enough when it is made to fit."""
    points, width, height = map(float, VIEW.search(drawing).groups()) if VIEW.search(drawing) else (0, 0, 0)
    letters = min(map(float, SIZE.findall(drawing)), default=99.0)
    if points * 4 / 3 <= PHONE or letters * PHONE / width > 0.99 * LETTER:
        return None
    return narrow(drawing, panels(drawing, width, height))


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
