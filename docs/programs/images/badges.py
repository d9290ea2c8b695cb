"""Draw the badges of the README from what the course declares: `python docs/programs/images/badges.py`.

They are files of the course, so that no page asks another host. With `SITE_URL`, the address of a hosted site, the first line of
the README gets a button that opens it.
"""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path

import matplotlib
from PIL import ImageFont

from autograder.course import ROOT
from autograder.model import lab_names, phases
from docs.programs import IMAGES

FONT = ImageFont.truetype(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf", 11)
SITE, BUTTON = re.compile(r"(?: \[!\[\S.*)? <!-- site -->$", re.MULTILINE), ("open the course", "in your browser")
HIGH, PAD, RIGHT = 20, 7, "#b3430a"  # pixels; white text on this ground has a contrast of 5.5


def badges() -> dict[str, tuple[str, str]]:
    """The name and the value on each badge, by the name of its file."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pythons = re.fullmatch(r">=(3\.\d+),<3\.(\d+)", project["requires-python"])
    torch = re.search(r"^torch==(\d+\.\d+)", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE)
    assert pythons and torch
    code, text = project["license"].split(" AND ")
    return {
        "course": ("course", f"{len(phases())} phases, {len(lab_names())} labs"),
        "python": ("Python", f"{pythons[1]} to 3.{int(pythons[2]) - 1}"),
        "torch": ("graded against", f"torch {torch[1]}"),
        "gpu": ("GPU", "not needed"),
        "licence": ("licence", f"{code}, text {text.replace('CC-', 'CC ').replace('-4.0', ' 4.0')}"),
    }


def drawn(name: str, value: str) -> str:
    """A badge: a name on grey, and its value on the colour of the flame."""
    left, right = (round(FONT.getlength(text)) + 2 * PAD for text in (name, value))
    text = 'y="14" fill="#fff" font-family="DejaVu Sans, Verdana, sans-serif" font-size="11" lengthAdjust="spacingAndGlyphs"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="{HIGH}" role="img" aria-label="{name}: {value}">'
        f'<clipPath id="round"><rect width="{left + right}" height="{HIGH}" rx="3"/></clipPath><g clip-path="url(#round)">'
        f'<path d="M0 0h{left}v{HIGH}H0z" fill="#4f5860"/><path d="M{left} 0h{right}v{HIGH}H{left}z" fill="{RIGHT}"/></g>'
        f'<text x="{PAD}" textLength="{left - 2 * PAD}" {text}>{name}</text>'
        f'<text x="{left + PAD}" textLength="{right - 2 * PAD}" {text}>{value}</text></svg>\n'
    )


def with_button(readme: str, site: str) -> str:
    """The README with a button that opens a hosted site at the end of its first line, in the place of an earlier one."""
    return SITE.sub(
        lambda _: f" [![{': '.join(BUTTON)}](docs/images/badge-site.svg)]({site}) <!-- site -->", readme, count=1
    )


if __name__ == "__main__":
    for name, words in badges().items():
        (IMAGES / f"badge-{name}.svg").write_text(drawn(*words), encoding="utf-8")
    if site := os.environ.get("SITE_URL"):
        (IMAGES / "badge-site.svg").write_text(drawn(*BUTTON), encoding="utf-8")
        readme = ROOT / "README.md"
        readme.write_text(with_button(readme.read_text(encoding="utf-8"), site), encoding="utf-8")
