"""Panels that are side by side in a drawing are below each other on a phone.

`draw_panels` draws graphs side by side, each below a title in bold. A phone would show half of them. So such a drawing, `NAME.svg`,
has a second file, `NAME-panels.svg`, in which each panel is a window on the same drawing, and a page shows the one that fits.
"""

from __future__ import annotations

import re
from itertools import pairwise

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

VIEW = re.compile(
    r'(<svg\b[^>]*?)width="([\d.]+)pt" height="[\d.]+pt" viewBox="0 0 ([\d.]+) ([\d.]+)"([^>]*>)(.*)</svg>', re.DOTALL
)
BOLD = re.compile(r"\.(c\d+)\{(?=[^}]*font-weight: 700)(?=[^}]*font-size: 10px)(?![^}]*text-anchor)[^}]*\}")
TEXT = re.compile(r'<text class="(c\d+)" x="([\d.]+)" y="([\d.]+)"')
STROKE = re.compile(r"M[^M\"]*")
NUMBER = re.compile(r"-?[\d.]+")
PHONE = 358  # pixels
ABOVE, LINE = 16, 4  # from the top of a panel to the foot of its title, and how much titles of one line may differ


def on_files(files: Files, config: MkDocsConfig) -> None:
    for file in [*files]:
        if re.fullmatch(r"phases/.*_files/\w+\.svg", file.src_uri) and (drawing := stacked(file.content_string)):
            files.append(File.generated(config, file.src_uri.replace(".svg", "-panels.svg"), content=drawing))


def stacked(drawing: str) -> str | None:
    """Return the drawing with its panels below each other, or None if it fits a phone, or gains nothing."""
    whole = VIEW.search(drawing)
    boxes = panels(drawing, float(whole[3]), float(whole[4])) if whole else []
    if not boxes:
        return None
    head, points, natural, _, rest, inside = whole.groups()
    width, top, windows = max(right - left for left, _, right, _ in boxes), 0.0, []
    if float(points) * 4 / 3 < PHONE or width > 0.75 * float(natural):
        return None
    for left, above, right, below in boxes:
        wide, high = right - left, below - above
        place = f'y="{top:.2f}" width="{wide:.2f}" height="{high:.2f}" viewBox="{left:.2f} {above:.2f} {wide:.2f} {high:.2f}"'
        windows.append(f'<svg {place}><use href="#all"/></svg>')
        top += high
    scale = float(points) / float(natural)
    size = f'width="{width * scale:.2f}pt" height="{top * scale:.2f}pt" viewBox="0 0 {width:.2f} {top:.2f}"'
    inside = re.sub(r"#\w+ (\.c\d+\{)", r"\1", inside)  # a window is not inside of the drawing
    return f'{head}{size}{rest}<defs><g id="all">{inside}</g></defs>{"".join(windows)}</svg>'


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
