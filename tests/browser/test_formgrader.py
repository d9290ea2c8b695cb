"""nbgrader's formgrader as an instructor meets it, on a class that has been graded."""

import csv
import re

import nbformat
import pytest
from course import TOKEN, Course

from autograder.engine import sandbox

LAB = "01a_views"
QUESTION = "question-a-row-that-keeps-a-matrix"
# In the table of exercises, the words of results and points that take two lines beside a long name.
BROKEN_WORDS = """
() => {
  const broken = [], range = document.createRange();
  document.querySelector("tbody th a, tbody th").append("vocabulary_parallel_cross_entropy_of_all_ranks");
  for (const cell of document.querySelectorAll("table td:not([colspan])"))
    for (const word of cell.textContent.matchAll(/\\S+/g)) {
      range.setStart(cell.firstChild, word.index);
      range.setEnd(cell.firstChild, word.index + word[0].length);
      if (range.getClientRects().length > 1) broken.push(word[0]);
    }
  return broken;
}
"""


@pytest.fixture(scope="module")
def course(browser, tmp_path_factory):
    """Two students have handed in lab 01 with a written answer, and are graded."""
    course = Course(tmp_path_factory.mktemp("instructor"))
    for student in ("ada", "ben"):
        lab = nbformat.read(course.place / "labs" / LAB / f"{LAB}.ipynb", as_version=4)
        for cell in lab.cells:
            if cell.id == QUESTION:
                cell.source = f"No copy, says {student}."
        path = course.place / "classroom/submitted" / student / LAB / f"{LAB}.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(lab, path)
    course.run("nbgrader", "autograde", LAB, *(["--RunInSubject.isolated=False"] if sandbox.missing() else []))
    return course


@pytest.fixture(scope="module")
def address(course):
    with course.jupyterlab("jupyter", "lab") as address:
        yield address


@pytest.mark.sweep
def test_a_score_given_in_the_formgrader_is_in_the_export(page, address, course):
    page.goto(f"{address}/lab?token={TOKEN}")
    page.get_by_role("menuitem", name="Nbgrader").click()
    page.get_by_role("menuitem", name="Formgrader", exact=True).click()
    formgrader = page.frame_locator("iframe")
    formgrader.get_by_role("link", name="Manual Grading").click()
    formgrader.get_by_role("link", name=LAB).click()
    formgrader.locator("tbody").get_by_role("link", name=LAB).click()
    formgrader.get_by_role("link", name=re.compile("#1")).click()
    answer = formgrader.locator(".nbgrader_cell", has_text="No copy, says")
    student = re.search("ada|ben", answer.inner_text())[0]
    answer.locator("input.extra-credit[placeholder]").wait_for()  # then what the gradebook has is in the fields
    answer.locator("input.score").fill("3")
    with page.expect_response(lambda response: "/api/grade/" in response.url and response.request.method == "PUT"):
        answer.locator("input.score").press("Escape")
    course.run("nbgrader", "export", "--to=grades.csv")
    with (course.place / "grades.csv").open() as file:
        scores = {(row["student_id"], row["assignment"]): float(row["score"]) for row in csv.DictReader(file)}
    assert scores.pop((student, LAB)) == 3
    assert set(scores.values()) == {0}


@pytest.mark.sweep
def test_the_button_generate_leaves_the_lab_with_its_figures_and_its_release(page, address, course):
    """nbgrader's button calls `generate_assignment --force`, which would write the notebook again without either."""
    lab = course.place / "labs" / LAB / f"{LAB}.ipynb"
    before = lab.read_bytes()
    page.goto(f"{address}/formgrader/manage_assignments?token={TOKEN}")
    with page.expect_response(lambda response: response.url.endswith(f"/{LAB}/assign"), timeout=600_000) as answered:
        page.locator("tr", has_text=LAB).locator(".assign a").click()
    assert answered.value.json()["success"], answered.value.json()
    page.get_by_text(f"Successfully created the student version of '{LAB}'").wait_for()
    assert lab.read_bytes() == before
    notebook = nbformat.reads(before.decode(), as_version=4)
    assert notebook.metadata.rushlight.release
    assert any(
        "image/svg+xml" in output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", ())
    )


@pytest.mark.sweep
def test_a_page_of_feedback_needs_no_network_and_fits_a_phone(page, course):
    course.run("nbgrader", "generate_feedback", LAB, "--student=ada")
    page.goto(f"file://{course.place}/classroom/feedback/ada/{LAB}/{LAB}.html")
    assert page.get_by_text("No copy, says ada").is_visible() and page.title() == f"Lab {LAB}: ada"
    for details in page.locator("details").all():
        details.evaluate("each => { each.open = true }")
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate(BROKEN_WORDS) == []
