"""The gradebook after an exam: its marks are there, those of the labs and those by hand stay as they were."""

import csv
import sqlite3
from contextlib import closing

import nbformat
import pytest
from exam.papers import paper

from autograder.classroom.gradebook import open_gradebook
from autograder.engine.observe import GradingError
from autograder.exam.book import Marked, enter, shares_by_exam
from autograder.exam.sheets import list_of_codes, print_sheets, read_typed, write_form
from autograder.model import Lab

ANSWERS = {"1.x": "[3]", "1.line": "3", "2.a": "<script>alert(1)</script>", "3.why": "because\n\n<img src=x>"}


WHY = "It matters for 9 of 90 drawn inputs"


def marked(student="ada", **answers):
    given = ANSWERS | answers
    earned = {field: 0.0 for field in paper().fields} | {"1.x": 2.0, "1.line": 1.0, "3.why": None}
    return Marked(
        paper(student), given, earned, {"1": ["Line 3 was", " x"], "2": [], "3": [WHY]}, {"3": "- 1 point: all"}
    )


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A class with a lab that has a mark by hand."""
    monkeypatch.setenv("RUSHLIGHT_CLASSROOM", str(tmp_path))
    with open_gradebook() as gradebook:
        gradebook.add_assignment("01a_views")
        gradebook.add_notebook("01a_views", "01a_views")
        gradebook.add_grade_cell("one", "01a_views", "01a_views", max_score=5, cell_type="code")
        gradebook.add_student("ada")
        gradebook.add_submission("01a_views", "ada")
        grade = gradebook.find_grade("one", "01a_views", "01a_views", "ada")
        grade.auto_score, grade.manual_score, grade.extra_credit = 2, 4, 1
        gradebook.db.commit()
    return tmp_path


def grades(exam):
    with open_gradebook(read_only=True) as gradebook:
        found = gradebook.find_submission_notebook(exam, exam, "ada").grades
        return {
            grade.name: (grade.auto_score, grade.manual_score, bool(grade.needs_manual_grade), grade.extra_credit)
            for grade in found
        }


def mark_by_hand(score):
    with open_gradebook() as gradebook:
        grade = gradebook.find_grade("item-3", "exam_01a", "exam_01a", "ada")
        grade.manual_score, grade.needs_manual_grade = score, False
        gradebook.db.commit()


def test_marks_are_beside_those_of_the_labs_which_stay(place):
    with closing(sqlite3.connect(place / "gradebook.db")) as database:
        before = [*database.execute("SELECT * FROM grade")]
    lines = [*enter("exam_01a", [marked(), marked("grace")])]
    assert lines == ["ada: 3 of 9 points, 1 to be marked by hand", "grace: 3 of 9 points, 1 to be marked by hand"]
    assert grades("exam_01a") == {
        "item-1": (3, None, False, None),
        "item-2": (0, None, False, None),
        "item-3": (None, None, True, None),
    }
    assert grades("01a_views") == {"one": (2, 4, True, 1)}
    with closing(sqlite3.connect(place / "gradebook.db")) as database:
        assert [row for row in database.execute("SELECT * FROM grade") if row in before] == before


def test_a_mark_by_hand_stays_until_its_answer_changes(place):
    page = place / "feedback/ada/exam_01a/exam_01a.html"
    [*enter("exam_01a", [marked()])]
    assert WHY not in page.read_text(), "what is right belongs to the rubric while an answer waits for a mark"
    mark_by_hand(2)
    assert [*enter("exam_01a", [marked()])] == ["ada: 5 of 9 points"]
    assert grades("exam_01a")["item-3"] == (None, 2, False, None)
    assert "2 of 3" in page.read_text() and WHY in page.read_text()
    [*enter("exam_01a", [marked(**{"3.why": "another"})])]
    assert grades("exam_01a")["item-3"] == (None, 2, True, None), "the old mark stays, and the item waits"


def test_nothing_of_an_answer_is_active_on_a_page(place):
    [*enter("exam_01a", [marked()])]
    page = (place / "feedback/ada/exam_01a/exam_01a.html").read_text()
    assert "<script" not in page and "<img" not in page and "&lt;script&gt;" in page and "waits for a mark" in page
    notebook = nbformat.read(place / "autograded/ada/exam_01a/exam_01a.ipynb", as_version=4)
    nbformat.validate(notebook)
    said = "".join(cell.source for cell in notebook.cells)
    assert "<script>" not in said and "<img " not in said and "- 1 point: all" in said


def test_the_formgrader_shows_it(place):
    from nbconvert.exporters import HTMLExporter

    [*enter("exam_01a", [marked()])]
    page, _ = HTMLExporter().from_filename(str(place / "autograded/ada/exam_01a/exam_01a.ipynb"))
    assert "because" in page and "<script>alert(1)" not in page


# On paper ------------------------------------------------------------------------------------------------------------


def test_sheets_have_a_code_and_no_name(tmp_path):
    papers = [paper("ada lovelace"), paper("grace")]
    pdf = print_sheets(papers, tmp_path / "exam.pdf").read_bytes()
    assert pdf.startswith(b"%PDF") and b"ada lovelace" not in pdf and pdf.count(b"/Type /Page\n") >= 3
    assert list_of_codes(papers, tmp_path / "codes.pdf").exists()


def test_what_was_typed_belongs_to_a_code(tmp_path):
    path, papers = tmp_path / "typed.csv", [paper()]
    write_form(papers, path)
    with pytest.raises(FileExistsError):
        write_form(papers, path)
    assert read_typed(path, papers) == {} and "ada" not in path.read_text()
    rows = [*csv.reader(path.open())]
    rows[1][3], rows[-1][3] = " [1, 2] ", "because, of\nit"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    assert read_typed(path, papers) == {"ada": {"1.x": "[1, 2]", "3.why": "because, of\nit"}}


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("K7Q-X2N,1.x,x,1", "line 3: there is no field '1.x' of a paper 'K7Q-X2N'"),
        ("K7Q-X2M,9.x,x,1", "line 3: there is no field"),
        ("K7Q-X2M,1.x,x,2", "line 3: a second answer to 1.x"),
        ("K7Q-X2M,1.x", "line 3: the columns are"),
        ("K7Q-X2M,1.x,x,1,2", "line 3: the columns are"),
    ],
)
def test_a_wrong_row_is_named(tmp_path, row, said):
    path = tmp_path / "typed.csv"
    path.write_text(f"code,field,label,answer\nK7Q-X2M,1.x,x,1\n{row}\n")
    with pytest.raises(GradingError, match=said):
        read_typed(path, [paper()])


def test_the_share_of_an_exam_is_without_items_that_wait_and_only_of_labs_that_it_names(place):
    [*enter("exam_01a", [marked()])]
    assert shares_by_exam(Lab("01a_views")) == {}, "no exam was drawn here, so the gradebook is not opened"
    (place / "exams/exam_01a").mkdir(parents=True)
    assert shares_by_exam(Lab("01a_views")) == {"ada": 3 / 6} and shares_by_exam(Lab("01b_reshape")) == {}
    mark_by_hand(2)
    assert shares_by_exam(Lab("01a_views")) == {"ada": 5 / 9}
