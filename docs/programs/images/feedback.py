"""Take the pictures of a student's feedback for the manual, in light and dark: `python docs/programs/images/feedback.py`.

It grades one student of the sample class in a temporary folder, and shows the upper part of the page in Chromium.
"""

from __future__ import annotations

import io
import os
import shutil
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from autograder.classroom import grade, sample
from autograder.engine import sandbox
from autograder.model import Lab
from docs.programs import IMAGES

STUDENT, HEIGHT = "subtly_wrong_strides", 830  # pixels, down to the end of the list of exercises
BROWSERS = "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"


def page(classroom: Path) -> Path:
    """The feedback of the student."""
    os.environ["RUSHLIGHT_CLASSROOM"] = str(classroom)
    (classroom / "seed").write_text("1", encoding="utf-8")  # so that the cases are the same each time
    for student in sample.make(classroom):
        if student != STUDENT:
            shutil.rmtree(classroom / "submitted" / student)
    (row,) = grade.grade(Lab(sample.LAB), isolated=sandbox.missing() is None)
    if row.problem:
        raise SystemExit(row.problem)
    return classroom / "feedback" / STUDENT / sample.LAB / f"{sample.LAB}.html"


def save_both(view: Page, path: Path) -> None:
    """Write pictures of a page in the light scheme, and in the dark one as `NAME-dark.webp`."""
    for scheme, ending in ("light", ""), ("dark", "-dark"):
        view.emulate_media(color_scheme=scheme)
        save(view.screenshot(), path.with_stem(path.stem + ending))


def save(shot: bytes, path: Path) -> None:
    """Write a screenshot with its 256 most different colours, which needs less room."""
    colours = (
        Image.open(io.BytesIO(shot)).convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    )
    colours.convert("RGB").save(path, lossless=True, method=6)


def main() -> None:
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise SystemExit("no chromium here (`sh system.sh chromium` brings it)")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        view = chromium.new_page(viewport={"width": 760, "height": HEIGHT}, device_scale_factor=2)
        view.goto(page(Path(folder)).as_uri())
        save_both(view, IMAGES / "feedback.webp")
        chromium.close()


if __name__ == "__main__":
    main()
