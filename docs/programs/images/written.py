"""Take the pictures of the page for written answers: `python docs/programs/images/written.py`.

It grades four students with made-up answers in a temporary folder, marks one of them, and shows the page in Chromium.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

import nbformat

from autograder.classroom import grade, sample, written
from autograder.classroom.formgrader import page
from autograder.classroom.gradebook import open_gradebook
from autograder.engine import sandbox
from autograder.model import Lab
from docs.programs import IMAGES
from docs.programs.pictures import chromium, save_both

KEY, ADDRESS = "question-a-row-that-keeps-a-matrix", "http://localhost/formgrader/written"
VIEW = """`logits[-1]` is a view of the last row, with sizes (600,), strides (1,) and offset 4095 · 600. A view keeps the
whole storage, so each kept row keeps 9,830,400 bytes, and 1,000 of them 9.8 GB. `detach` gives one more view on the same storage.
`contiguous` returns the row itself, because it is contiguous already. Only `clone` always copies: {} bytes stay, and the large
storage is freed. The column has stride 600, so `contiguous` copies it."""
ANSWERS = {"a": VIEW.format("2,400"), "b": VIEW.format("2,400").lower(), "c": VIEW.format("600"), "d": "A leak."}


def state(classroom: Path) -> dict:
    """What the page shows of the class after the first answer was marked."""
    os.environ["RUSHLIGHT_CLASSROOM"] = str(classroom)
    (classroom / "seed").write_text("1", encoding="utf-8")
    for student, answer in ANSWERS.items():
        notebook = nbformat.read(Lab(sample.LAB).path, as_version=4)
        next(cell for cell in notebook.cells if cell.id == KEY).source = answer
        path = classroom / "submitted" / student / sample.LAB / f"{sample.LAB}.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(notebook, path)
    grade.grade(Lab(sample.LAB), isolated=sandbox.missing() is None)
    question = written.question_of(Lab(sample.LAB), KEY)
    with open_gradebook() as gradebook:
        first = next(one for one in written.state(question, gradebook)["entries"] if len(one["ids"]) == 2)
        pressed = {"ids": first["ids"], "earned": [1, 1, 1, 0.5], "score": 3.5, "comment": "The sizes of the column?"}
        written.enter(question, gradebook, {"rubric": question.digest, "changes": [pressed]})
        return written.state(question, gradebook) | {"problem": ""}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        data = json.dumps(state(Path(folder)))
        view = browser.new_page(viewport={"width": 1120, "height": 850}, device_scale_factor=1.5)
        html = page("Written answers", "", "", "picture")
        view.route("**/*", lambda route: route.fulfill(body=data if "/api/" in route.request.url else html, content_type=
                   "application/json" if "/api/" in route.request.url else "text/html"))  # fmt: skip
        view.goto(f"{ADDRESS}/{sample.LAB}/{KEY}")
        view.locator("#items li").nth(3).wait_for()
        while "nearly equal" not in view.locator("#equal").inner_text():
            view.keyboard.press("j")
        view.keyboard.press("=")
        save_both(view, IMAGES / "written.webp")


if __name__ == "__main__":
    main()
