"""Rebuilding a submission on the released notebook."""

import copy
import csv

import nbformat
import pytest
from first_lab import ALL
from nbgrader.api import Gradebook
from nbgrader.converters.base import NbGraderException
from sweep import sweep

from autograder import course
from autograder.classroom import plugin, sample
from autograder.classroom.restore import restore
from autograder.engine import sandbox
from autograder.model import check_name, exercise_name, lab_names


def sources(notebook):
    return [(c.id, c.cell_type, c.source) for c in notebook.cells]


@pytest.mark.parametrize("lab", sweep(lab_names(), every=8))
def test_an_untouched_submission_is_the_release(lab, released):
    assert restore(copy.deepcopy(released), released) == released


@pytest.mark.parametrize("lab", sweep(lab_names(), every=8))
def test_the_reference_stays_what_it_is(lab, released, answers):
    submitted = copy.deepcopy(released)
    sample.fill(submitted, answers)
    assert restore(submitted, released) == submitted


def test_answers_are_kept_and_everything_else_is_the_releases(released, answers):
    submitted = copy.deepcopy(released)
    for cell in submitted.cells:
        cell.source = answers.get(cell.id, "changed")
    submitted.metadata.kernelspec = {"name": "bash", "display_name": "", "language": "bash"}
    result = restore(submitted, released)
    for cell, original in zip(result.cells, released.cells, strict=True):
        assert cell.source == answers.get(cell.id, original.source)
        assert cell.metadata == original.metadata
    assert result.metadata == released.metadata


def test_missing_check_cells_come_back_where_they_were(released):
    submitted = copy.deepcopy(released)
    submitted.cells = [c for c in submitted.cells if not check_name(c)]
    assert sources(restore(submitted, released)) == sources(released)


def test_a_check_cell_that_occurs_twice_counts_once(released):
    submitted = copy.deepcopy(released)
    submitted.cells += [copy.deepcopy(c) for c in submitted.cells if check_name(c)]
    assert sources(restore(submitted, released)) == sources(released)


def test_forged_points_and_extra_graded_cells_are_gone(released):
    submitted = copy.deepcopy(released)
    forged = nbformat.v4.new_code_cell("check('mine')")
    forged.metadata = {
        "nbgrader": {
            "grade": True,
            "grade_id": "mine",
            "points": 100,
            "locked": True,
            "solution": False,
            "schema_version": 3,
        },
        "rushlight": {"check": "aten.strided.transpose"},
    }
    submitted.cells.insert(3, forged)
    for cell in submitted.cells:
        if check_name(cell):
            cell.metadata.nbgrader.points = 100
    result = restore(submitted, released)
    assert sum(c.metadata.get("nbgrader", {}).get("points", 0) for c in result.cells) == ALL
    assert result.cells[3].source == "check('mine')" and result.cells[3].metadata == {}


def test_cells_that_the_student_added_stay_after_the_cell_they_followed(released):
    submitted = copy.deepcopy(released)
    place = next(i for i, c in enumerate(submitted.cells) if exercise_name(c))
    submitted.cells.insert(place + 1, nbformat.v4.new_code_cell("x = 1"))
    submitted.cells.insert(place + 2, nbformat.v4.new_markdown_cell("a note"))
    submitted.cells.insert(0, nbformat.v4.new_code_cell("y = 2"))
    result = restore(submitted, released)
    assert [c.source for c in result.cells] == [c.source for c in submitted.cells]
    assert len({c.id for c in result.cells}) == len(result.cells)


def test_an_answer_that_occurs_twice_counts_as_it_stood_last(released):
    submitted = copy.deepcopy(released)
    again = copy.deepcopy(next(c for c in submitted.cells if exercise_name(c)))
    again.source = "second try"
    submitted.cells.append(again)
    assert "second try" in [c.source for c in restore(submitted, released).cells]


def test_answers_are_found_by_cell_id_where_the_metadata_is_lost(released, answers):
    submitted = copy.deepcopy(released)
    for cell in submitted.cells:
        cell.metadata = {}
        cell.source = answers.get(cell.id, cell.source)
    result = restore(submitted, released)
    assert {c.id: c.source for c in result.cells if c.id in answers} == answers


@pytest.mark.parametrize("metadata", [{"nbgrader": "text"}, {"nbgrader": {"grade_id": ["list"]}}, {"nbgrader": None}])
def test_metadata_of_another_form_do_no_harm(released, metadata):
    submitted = copy.deepcopy(released)
    submitted.cells.insert(0, nbformat.v4.new_code_cell("x = 1", metadata=metadata))
    assert restore(submitted, released).cells[0].metadata == {}


def test_the_notebook_of_another_course_is_refused(released):
    other = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("print('hello')")])
    with pytest.raises(ValueError, match="none of its cells belongs to this lab"):
        restore(other, released)


def test_points_that_have_changed_reach_a_gradebook_with_submissions(released, lab, tmp_path, monkeypatch):
    monkeypatch.setattr(course, "RELEASED", tmp_path)
    (tmp_path / lab).mkdir()
    gradebook_url = f"sqlite:///{tmp_path / 'gradebook.db'}"
    cell = next(cell for cell in released.cells if check_name(cell))
    for points in (2, 5):
        cell.metadata.nbgrader.points = points
        nbformat.write(released, tmp_path / lab / f"{lab}.ipynb")
        plugin.register(gradebook_url, lab)
        with Gradebook(gradebook_url, "rushlight") as gradebook:
            gradebook.update_or_create_student("ada")
            gradebook.update_or_create_submission(lab, "ada")
            assert gradebook.find_grade_cell(cell.metadata.nbgrader.grade_id, lab, lab).max_score == points


def test_beside_a_graded_notebook_nothing_stays_that_a_browser_or_a_system_runs(tmp_path):
    kept = ["a.txt", "b.PNG", "more/c.csv", "lab.ipynb"]
    others = ["a.shtml", ".html", "b.png.hta", "c.mht", "more/d.xsl", "e.txt ", "random.py", "Makefile"]
    (tmp_path / "more").mkdir()
    for name in kept + others:
        (tmp_path / name).touch()
    plugin.remove_active(tmp_path)
    assert {path for path in tmp_path.rglob("*") if path.is_file()} == {tmp_path / name for name in kept}


def test_large_files_beside_a_notebook_are_not_copied_on_and_the_small_ones_are(tmp_path):
    sizes = {"a.png": 46 << 20, "b.png": 900_000, "lab.ipynb": 5 << 20, "submission_secret.txt": 20, "z.csv": 300_000}
    for name, size in sizes.items():
        with (tmp_path / name).open("wb") as file:
            file.truncate(size)
    plugin.remove_active(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"lab.ipynb", "submission_secret.txt", "z.csv"}


def test_an_export_has_one_cell_for_each_name_and_no_formula(tmp_path):
    names = {"ada": ("Lovelace, Countess", '=HYPERLINK("http://x")'), "-1+1": ("@SUM(1+1)", "\x1b[2J")}
    with Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}", "rushlight") as gradebook:
        gradebook.add_assignment("01a_views")
        for student, (last, first) in names.items():
            gradebook.add_student(student, last_name=last, first_name=first)
        plugin.Export(to=str(tmp_path / "grades.csv")).export(gradebook)
    with (tmp_path / "grades.csv").open() as file:
        rows = {row["student_id"]: row for row in csv.DictReader(file)}
    assert rows["ada"]["last_name"] == "Lovelace, Countess" and rows["ada"]["first_name"][:2] == "'="
    assert rows["'-1+1"]["last_name"] == "'@SUM(1+1)" and rows["'-1+1"]["first_name"] == "\\u001b[2J"
    assert {row["score"] for row in rows.values()} == {"0.0"}


def test_in_an_export_a_submission_without_a_grade_is_not_graded_and_has_no_zero(classroom):
    (classroom / "submitted" / "ada" / "01a_views").mkdir(parents=True)
    with Gradebook(f"sqlite:///{classroom / 'gradebook.db'}", "rushlight") as gradebook:
        gradebook.add_assignment("01a_views")
        for student in ("ada", "ben"):
            gradebook.add_student(student)
        plugin.Export().export(gradebook)
    with (classroom / "export.csv").open() as file:
        scores = {row["student_id"]: row["score"] for row in csv.DictReader(file)}
    assert scores == {"ada": "not graded", "ben": "0.0"}


@pytest.mark.parametrize("lacks", ["missing", "missing_compiler", "missing_triton"])
def test_a_bare_autograde_needs_what_grading_needs(monkeypatch, tmp_path, lacks):
    monkeypatch.setattr(sandbox, lacks, lambda *lab: "it lacks something")
    step = plugin.RunInSubject(seed_file=str(tmp_path / "seed"))
    with pytest.raises(NbGraderException, match="^it lacks something$"):
        step.preprocess(nbformat.v4.new_notebook(), {"nbgrader": {"notebook": "06b_transforms", "student": "ada"}})
