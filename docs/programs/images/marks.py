"""Take the pictures of a class report, of a class now and of oral questions for the manual: `python docs/programs/images/marks.py`.

The class is made up at the level of verdicts. The questions are those of a student of the sample class.
"""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from pathlib import Path

from autograder.classroom import oral, sample
from autograder.classroom.grade import Row
from autograder.classroom.report import write_report
from autograder.classroom.watch import Watch
from autograder.engine import sandbox
from autograder.model import Lab, Submission
from docs.programs import IMAGES
from docs.programs.pictures import chromium, save_both

STUDENT, MISLEADS = "all_right", "aten.strided.permute"
HEIGHTS = {"report": 1100, "live": 1050, "oral": 900}  # pixels


def row(number: int, draw: random.Random) -> Row:
    """A student who is better the higher the number, and of whom half take one exercise in another way than it is meant."""
    verdicts = {}
    for check in Lab(sample.LAB).points:
        wrong = {"outcome": "disagreed", "message": "[0]", "case": f"sizes = [{draw.randrange(6)}, 0]", "seconds": 0.4}
        verdicts[check] = {"outcome": "passed", "seconds": 0.3} if draw.random() < 0.5 + number / 80 else wrong
    if number % 2:
        verdicts[MISLEADS] = {"outcome": "disagreed", "message": "[0]", "case": "dims = (-1, 0)", "seconds": 0.4}
    scores = {
        check: worth * (verdicts[check]["outcome"] == "passed") for check, worth in Lab(sample.LAB).points.items()
    }
    return Row(f"student{number:02}", scores, verdicts)


def pages(classroom: Path) -> dict[str, Path]:
    os.environ["RUSHLIGHT_CLASSROOM"] = str(classroom)
    (classroom / "seed").write_text("1", encoding="utf-8")  # so that the questions are the same each time
    draw = random.Random(1)
    report = write_report(Lab(sample.LAB), [row(number, draw) for number in range(40)])
    watching = Watch([Lab(sample.LAB)], classroom.parent, jobs=1)
    watching.rows[sample.LAB] = [row(number, draw) for number in range(12)]
    live = watching.write_page()
    sample.make(classroom)
    shutil.copytree(classroom / "submitted" / STUDENT, classroom / "autograded" / STUDENT)
    questions = oral.write(Lab(sample.LAB), [Submission(Lab(sample.LAB), STUDENT)], sandbox.missing() is None).path
    return {"report": report, "live": live, "oral": questions}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        for name, page in pages(Path(folder)).items():
            view = browser.new_page(viewport={"width": 1000, "height": HEIGHTS[name]}, device_scale_factor=1.5)
            view.goto(page.as_uri())
            save_both(view, IMAGES / f"{name}.webp")


if __name__ == "__main__":
    main()
