"""The page of a written question, as an instructor marks a class of eight on it: by the keyboard, beside an open formgrader."""

import re
import sqlite3
from contextlib import closing

import nbformat
import pytest
from course import TOKEN, Course

from autograder.engine import sandbox

LAB, QUESTION = "01a_views", "question-a-row-that-keeps-a-matrix"
VIEW = """`logits[-1]` is a view of the last row, with sizes (600,), strides (1,) and offset 4095 · 600.
A view keeps the whole storage, so each row keeps all 9,830,400 bytes. `detach` gives one more view on the same storage.
`contiguous` returns the row itself,
because it is contiguous. Only `clone` copies, {} bytes, and the storage is freed."""
ANSWERS = {
    "ada": VIEW.format("2,400"),
    "ben": VIEW.format("2,400").replace("`", ""),
    "cem": VIEW.format("600"),
    "dina": "`logits` is never freed, because PyTorch has a leak.\n\n| a | b |\n|---|---|\n| 1 | 2 |",
    "eun": "$4096 \\cdot 600 \\cdot 4$ bytes stay, because a view keeps its storage. `clone` helps.",
    "fay": None,
    "gil": "<img src=x onerror=alert(1)> The row is a view. <script>alert(1)</script>",
    "hal": "I do not know.",
}


@pytest.fixture(scope="module")
def course(browser, tmp_path_factory):
    """Eight students have handed in lab 01a with a written answer, or none, and are graded."""
    course = Course(tmp_path_factory.mktemp("written"))
    for student, answer in ANSWERS.items():
        lab = nbformat.read(course.place / "labs" / LAB / f"{LAB}.ipynb", as_version=4)
        for cell in lab.cells:
            if cell.id == QUESTION and answer:
                cell.source = answer
        path = course.place / "classroom/submitted" / student / LAB / f"{LAB}.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(lab, path)
    course.run("nbgrader", "autograde", LAB, *(["--RunInSubject.isolated=False"] if sandbox.missing() else []))
    return course


@pytest.fixture(scope="module")
def address(course):
    with course.jupyterlab("jupyter", "lab") as address:
        yield address


@pytest.fixture
def marks(course):
    """The score and the comment of each student in the gradebook."""

    def marks():
        query = """SELECT student_id, manual_score, manual_comment FROM grade
            JOIN base_cell ON base_cell.id = grade.cell_id
            JOIN submitted_notebook ON submitted_notebook.id = grade.notebook_id
            JOIN submitted_assignment ON submitted_assignment.id = submitted_notebook.assignment_id
            JOIN base_cell AS written ON written.name = base_cell.name AND written.type = 'SolutionCell'
            JOIN comment ON comment.cell_id = written.id AND comment.notebook_id = submitted_notebook.id
            WHERE base_cell.name = ?"""
        with closing(sqlite3.connect(course.place / "classroom/gradebook.db")) as gradebook:
            return {student: rest for student, *rest in gradebook.execute(query, [QUESTION])}

    return marks


def find(page, text):
    """Go on to the answer with this text, by the keyboard."""
    for _ in ANSWERS:
        if text in page.locator("#answer").inner_text():
            return
        page.keyboard.press("j")
    raise AssertionError(f"no answer has {text}")


def press(page, *keys):
    """Press keys, and wait until the last one has been saved."""
    for key in keys[:-1]:
        page.keyboard.press(key)
    with page.expect_response(lambda answer: "/api/written/" in answer.url and answer.request.method == "PUT") as found:
        page.keyboard.press(keys[-1])
    page.locator("#save:not(:disabled)").wait_for()
    return found.value.status


@pytest.mark.sweep
def test_a_class_is_marked_by_the_keyboard_beside_an_open_formgrader(
    browser, page, address, course, marks, shots, problems
):
    page.goto(f"{address}/api/status?token={TOKEN}")
    page.goto(f"{address}/formgrader/gradebook")
    page.get_by_role("link", name="Written answers").click()
    page.get_by_role("link", name="a row that keeps a matrix").click()
    page.locator("#items li").nth(3).wait_for()
    page.locator("#show").select_option("all")
    page.locator("article").focus()
    assert "0 of 7 marked, 1 not answered" in page.locator("#progress").inner_text()
    assert not any(re.search(rf"\b{student}\b", page.locator("body").inner_text()) for student in ANSWERS)

    find(page, "2,400")
    assert "2 students wrote this" in page.locator("#equal").inner_text()
    press(page, "1", "2", "3", "4", "4", "c", *"Good.", "Control+Enter")  # the fourth item: all, and then half
    assert [*marks()["ada"]] == [*marks()["ben"]] and marks()["ada"][0] == 3.5
    assert marks()["ada"][1].startswith("- 1 of 1: the row is a view") and marks()["ada"][1].endswith("\n\nGood.")
    find(page, "600 bytes")
    page.keyboard.press("=")
    assert page.locator("#comment").input_value() == "Good."
    page.screenshot(path=shots / "written.png")
    press(page, "2", "Shift+1", "Enter")  # half for the second item, and without the comment
    assert marks()["cem"][0] == 3 and "Good." not in marks()["cem"][1]

    # Another page of nbgrader, opened before, and closed after the press here
    find(page, "I do not know")
    other = browser.new_page()
    other.goto(f"{address}/api/status?token={TOKEN}")
    other.goto(f"{address}{page.locator('#notebook').get_attribute('href')}")
    field = other.locator("textarea.comment").last
    field.wait_for()
    other.locator("input.extra-credit[placeholder]").last.wait_for()
    press(page, "0", "Enter")
    field.fill("Ask me.")
    with other.expect_response(lambda answer: "/api/comment/" in answer.url and answer.request.method == "PUT"):
        field.press("Escape")
    other.locator("input.extra-credit").last.fill("1")
    with other.expect_response(lambda answer: "/api/grade/" in answer.url and answer.request.method == "PUT"):
        other.locator("input.extra-credit").last.press("Escape")
    score, comment = marks()["hal"]
    assert score == 0 and comment.startswith("- 0 of 1: ") and comment.endswith("\n\nAsk me.")

    # The other way round: what nbgrader's page enters is not overwritten by a page that has not seen it
    find(page, "PyTorch has a leak")
    other.goto(f"{address}{page.locator('#notebook').get_attribute('href')}")
    other.locator("input.extra-credit[placeholder]").last.wait_for()
    with other.expect_response(lambda answer: "/api/grade/" in answer.url and answer.request.method == "PUT"):
        other.locator("input.score").last.fill("2")
        other.locator("input.score").last.press("Escape")
    assert press(page, "1", "Enter") == 409 and marks()["dina"] == [2, None]
    problems.clear()  # the browser logs the refusal
    assert "In the gradebook: 2" in page.locator("#says").inner_text()
    press(page, "Enter")
    assert marks()["dina"][0] == 1
    other.locator(".nbgrader_cell").get_by_role("link", name="with the rubric").click()
    other.locator("#items li").nth(3).wait_for()
    assert "PyTorch has a leak" in other.locator("#answer").inner_text()
    other.context.close()

    # The rubric changes
    source = course.place / "solutions" / LAB / f"{LAB}.md"
    source.write_text(source.read_text().replace("- 1 point: the row is a view,", "- 0.5 points: the row is a view,"))
    page.reload()
    page.locator("#regrade").wait_for()
    with page.expect_response(lambda answer: answer.request.method == "PUT"):
        page.locator("#regrade").click()
    page.locator("#changed").wait_for(state="hidden")
    assert {student: score for student, (score, _) in marks().items() if score is not None} == {
        "ada": 3, "ben": 3, "cem": 2.5, "dina": 0.5, "hal": 0,
    }  # fmt: skip
    page.on("dialog", lambda dialog: dialog.accept())


@pytest.mark.sweep
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_a_phone_in_both_schemes_and_shows_what_a_student_typed(page, address, shots, scheme):
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{address}/api/status?token={TOKEN}")
    page.goto(f"{address}/formgrader/written/{LAB}/{QUESTION}")
    page.locator("#items li").nth(3).wait_for()
    page.locator("#show").select_option("all")
    page.locator("article").focus()
    for text in ("onerror", "PyTorch has a leak", "stay, because"):
        find(page, text)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.screenshot(path=shots / f"written-{scheme}.png", full_page=True)
    assert "$4096" in page.locator("#answer").inner_text()
