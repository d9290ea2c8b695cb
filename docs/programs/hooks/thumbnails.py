"""The small pictures on the cards of the phases: each is a part of a figure of the phase's reading.

A figure is the name of a moving one, or the position among those that cells of the reading draw. Its part is the `viewBox` of the
thumbnail, five units wide for two units high.
"""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

PARTS: dict[str, tuple[str | int, str]] = {
    "00": (0, "20 30 450 180"),
    "01": ("strides", "-6 34 664 266"),
    "02": ("dispatcher", "-6 50 500 200"),
    "03": (1, "36 22 500 200"),
    "04": ("backward", "-12 10 672 269"),
    "05": (5, "0 158 395 158"),
    "06": (3, "0 100 320 128"),
    "07": ("min_cut", "-12 20 600 240"),
    "08": (4, "0 8 625 250"),
    "09": ("collectives", "100 60 430 172"),
    "10": (3, "0 0 504 202"),
    "11": (2, "0 0 625 250"),
    "12": (0, "0 4 320 128"),
    "13": (0, "60 0 530 212"),
    "14": ("warps", "0 10 400 160"),
    "15": (0, "0 0 500 200"),
}
DRAWN = re.compile(r"figure_(\d+)_(\d+)\.svg$")
ROOT_TAG = re.compile(r"<svg\b[^>]*>")
SIZES = re.compile(r'\s(?:width|height|viewBox)="[^"]*"')


def on_files(files: Files, config: MkDocsConfig) -> None:
    for phase in config.extra["phases"]:
        if phase.name[:2] in PARTS:
            figure, box = PARTS[phase.name[:2]]
            picture = _figure(figure, Path(config.config_file_path).parent / "phases" / phase.name, files)
            files.append(File.generated(config, path(phase.name), content=thumbnail(picture, box)))


def path(phase: str) -> str:
    return f"images/phases/{phase[:2]}.svg"


def _figure(name: str | int, phase: Path, files: Files) -> str:
    """A moving figure's picture, or what a cell of the reading drew."""
    if isinstance(name, str):
        return (phase / f"{name}.svg").read_text(encoding="utf-8")
    drawn = {}
    for file in files:
        if file.src_uri.startswith(f"phases/{phase.name}/reading_files/") and (match := DRAWN.search(file.src_uri)):
            drawn[int(match[1]), int(match[2])] = file
    return drawn[sorted(drawn)[name]].content_string


def thumbnail(picture: str, box: str) -> str:
    """The part of an SVG that is in a box, in the site's typeface."""
    width, height = box.split()[2:]
    root = SIZES.sub("", ROOT_TAG.search(picture)[0])
    root = root.replace("<svg", f'<svg viewBox="{box}" width="{width}" height="{height}"', 1)
    return ROOT_TAG.sub(lambda _: root, picture, count=1).replace("system-ui", "'Segoe UI', Roboto, 'Liberation Sans'")
