"""Take the pictures of a student's feedback for the manual, in light and dark: `python docs/programs/images/feedback.py`.

It grades one student of the sample class in a temporary folder, and shows the upper part of the page in Chromium.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from autograder.classroom import grade, sample
from autograder.engine import sandbox
from autograder.model import Lab
from docs.programs import IMAGES
from docs.programs.pictures import chromium, save_both

STUDENT, HEIGHT = "subtly_wrong_strides", 830  # pixels, down to the end of the list of exercises


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


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        view = browser.new_page(viewport={"width": 760, "height": HEIGHT}, device_scale_factor=2)
        view.goto(page(Path(folder)).as_uri())
        save_both(view, IMAGES / "feedback.webp")


if __name__ == "__main__":
    main()
