"""A regrade request: which verdicts hold, what is said of them, and that nothing is changed."""

import hashlib
import hmac
import json
import shutil

import nbformat
import pytest
from nbgrader.api import Gradebook
from sweep import sweep

from autograder.classroom import sample
from autograder.classroom.explain import Explained, explain, text
from autograder.classroom.gradebook import gradebook_url
from autograder.classroom.oral import questions
from autograder.classroom.seals import seal_of
from autograder.cli import app
from autograder.course import SOURCES
from autograder.engine.judge import Judge
from autograder.engine.verdict import Verdict
from autograder.model import Lab, Submission, check_name, exercise_name

LAB, WRONG = "01a_views", "aten.strided.contiguous_strides"
STUDENTS = ("subtly_wrong_strides", "half_done", "corrupt_file")


@pytest.fixture(scope="module")
def graded_once(tmp_path_factory, submissions, isolated, quick_grade):
    place = tmp_path_factory.mktemp("class")
    (place / "seed").write_text("1")  # whose cases are drawn once
    for student in STUDENTS:
        shutil.copytree(submissions / student, place / "submitted" / student)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RUSHLIGHT_CLASSROOM", str(place))
        quick_grade(LAB)
    shutil.copytree(submissions / "untouched", place / "submitted" / "untouched")
    return place


@pytest.fixture
def place(graded_once, tmp_path, monkeypatch):
    """A copy of the graded class."""
    shutil.copytree(graded_once, tmp_path / "class")
    monkeypatch.setenv("RUSHLIGHT_CLASSROOM", str(tmp_path / "class"))
    return tmp_path / "class"


def contents(place):
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in place.rglob("*") if path.is_file()}


def rewrite(place, student, change):
    path = place / "autograded" / student / LAB / f"{LAB}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    change(notebook)
    nbformat.write(notebook, path)


@pytest.mark.sweep
def test_a_wrong_answer_is_shown_with_its_case_both_results_and_the_students_lines(place):
    before = contents(place)
    found = explain(Submission(Lab(LAB), "subtly_wrong_strides"), "contiguous_strides")
    (each,) = found.checks
    assert each.holds and each.on_case.outcome == "disagreed" and each.now.cases > each.now.agreed > 0
    said = text(found)
    assert "holds: was disagreed" in said and "│  torch's" in said and "step *= size" in said
    assert f"all {each.now.cases} cases have to agree" in said and "every verdict holds" in said
    assert contents(place) == before


def test_a_cell_that_did_not_run_is_told_from_an_empty_one():
    for message, told in (
        ("did not run: SyntaxError", " (its cell did not run)"),
        ("its body is still to be written", ""),
    ):
        now = Verdict(WRONG, "not attempted", message=message)
        each = Explained(WRONG, 2, "0", {"outcome": now.outcome, "message": message}, now, None, "", 0, sealed=True)
        assert each.ruling() == f"holds: was not attempted{told}, and is now not attempted{told}"


def correct(notebook):
    right = sample.answers(nbformat.read(SOURCES / LAB / f"{LAB}.ipynb", as_version=4))
    cell = next(cell for cell in notebook.cells if exercise_name(cell) == WRONG)
    cell.source = right[cell.id]


def seal(place, student):
    """As if the class's judge had decided, in an earlier version of a check, what the notebook says."""

    def seal(notebook):
        for cell in filter(check_name, notebook.cells):
            said = cell.outputs[0].metadata.rushlight
            said["seal"] = seal_of(
                said, Submission(Lab(LAB), student), check_name(cell), int((place / "seed").read_text()), notebook
            )

    rewrite(place, student, seal)


@pytest.mark.sweep
def test_a_verdict_that_is_another_one_now_does_not_hold(place, capsys):
    rewrite(place, "subtly_wrong_strides", correct)
    seal(place, "subtly_wrong_strides")
    page = place.parent / "request.html"
    command = ["explain", "subtly_wrong_strides", "01a", WRONG, "--out", str(page)]
    assert app.main(command, standalone_mode=False) == 1
    said = capsys.readouterr().out
    assert "DOES NOT HOLD: was disagreed, and is now passed" in said and "the case of the feedback passes" in said
    assert "DOES NOT HOLD" in page.read_text(encoding="utf-8")


@pytest.mark.sweep
def test_the_seal_is_for_the_text_of_all_cells(place):
    rewrite(place, "subtly_wrong_strides", correct)
    found = explain(Submission(Lab(LAB), "subtly_wrong_strides"))
    assert not any(each.sealed or each.on_case for each in found.checks)
    assert [each.check for each in found.checks if not each.holds][0] == WRONG


@pytest.mark.sweep
def test_points_in_the_gradebook_that_are_not_those_of_a_sealed_verdict_do_not_hold(place, capsys):
    before = {each.check: each for each in explain(Submission(Lab(LAB), "half_done")).checks}
    passed = next(name for name, each in before.items() if each.now.passed and each.worth)
    failed = next(name for name, each in before.items() if not each.now.passed and each.worth)
    assert all(each.holds and each.sealed for each in before.values())
    with Gradebook(gradebook_url(), "rushlight") as gradebook:
        for check, score in ((passed, 0.0), (failed, 1.0)):
            (grade,) = [
                each
                for each in gradebook.find_submission_notebook(LAB, LAB, "half_done").grades
                if each.name == f"check-{check.replace('.', '-')}"
            ]
            grade.auto_score = score
        gradebook.db.commit()
    found = explain(Submission(Lab(LAB), "half_done"))
    assert [each.check for each in found.checks if not each.holds] == sorted([passed, failed], key=[*before].index)
    rulings = {each.check: each.ruling() for each in found.checks}
    assert rulings[passed].endswith(f"; but the gradebook has 0 of {before[passed].worth:g} points for it")
    assert rulings[failed].endswith(f"; but the gradebook has 1 of {before[failed].worth:g} points for it")
    assert any("the next grading enters it again" in line for line in found.remarks)
    assert app.main(["explain", "half_done", "01a", passed], standalone_mode=False) == 1
    assert "DOES NOT HOLD: was passed, and is now passed" in capsys.readouterr().out


def lose(cell):
    cell.update(nbformat.v4.new_markdown_cell("lost"))


def lose_names(cell):
    cell.metadata["rushlight"] = cell.metadata["tags"] = "a text"


@pytest.mark.sweep
@pytest.mark.parametrize("change", sweep([lose, lose_names], keep=[lose]))
def test_a_check_whose_cell_the_graded_notebook_has_no_more_is_named_and_decided(place, change):
    rewrite(place, "half_done", lambda notebook: [change(cell) for cell in filter(check_name, notebook.cells)][:0])
    found = explain(Submission(Lab(LAB), "half_done"))
    lab = [check_name(cell) for cell in Lab(LAB).released["cells"] if check_name(cell)]
    assert [each.check for each in found.checks] == lab
    assert all(each.holds and each.sealed == (change is lose_names) for each in found.checks)
    assert {each.now.passed for each in found.checks} == {True, False}
    named = [line for line in found.remarks if line.startswith("the graded notebook has no cell of")]
    assert len(named) == (change is lose) and all(name in line for line in named for name in lab)
    assert ("was not in the graded notebook" in found.checks[0].ruling()) == (change is lose)
    assert questions(Submission(Lab(LAB), "half_done"), True)[0]


@pytest.mark.sweep  # in `make test` a cell of the lab has what is no verdict
@pytest.mark.parametrize("name", [WRONG, "strided.no_such_check", "dispatcher.KeySet.add", ["a", "list"]])
def test_a_cell_that_only_looks_like_a_check_is_none(place, name):
    def add(notebook):
        cell = nbformat.v4.new_code_cell("print(1)", metadata={"rushlight": {"check": name}})
        notebook.cells.append(cell)

    before = explain(Submission(Lab(LAB), "half_done")).checks
    rewrite(place, "half_done", add)
    after = explain(Submission(Lab(LAB), "half_done")).checks
    assert [(each.check, each.entered, each.now.outcome) for each in after] == [
        (each.check, each.entered, each.now.outcome) for each in before
    ]
    assert not any(each.sealed for each in after)


@pytest.mark.sweep  # what a seal is for, the next test has
def test_verdicts_of_another_students_notebook_are_not_sealed_here(place):
    graded = place / "autograded"
    shutil.copytree(graded / "half_done", graded / "ada")
    assert not any(each.sealed for each in explain(Submission(Lab(LAB), "ada")).checks)
    theirs = nbformat.read(graded / "half_done" / LAB / f"{LAB}.ipynb", as_version=4)
    outputs = {check_name(cell): cell.outputs for cell in filter(check_name, theirs.cells)}

    def paste(notebook):
        for cell in filter(check_name, notebook.cells):
            cell.outputs = outputs[check_name(cell)]

    rewrite(place, "subtly_wrong_strides", paste)
    assert not any(each.sealed for each in explain(Submission(Lab(LAB), "subtly_wrong_strides")).checks)


def test_a_seal_is_for_a_lab_a_student_a_check_a_verdict_and_the_cells():
    said, about = {"outcome": "passed"}, ["01a_views", "ada", "aten.strided.permute"]
    cells = [("code", "a"), ("code", "b")]

    def seal(said=said, seed=1, about=about, cells=cells):
        lab, student, check = about
        submission = Submission(Lab(lab), student)
        return seal_of(
            said, submission, check, seed, {"cells": [{"cell_type": kind, "source": text} for kind, text in cells]}
        )

    others = [seal(about=[*about[:i], "x", *about[i + 1 :]]) for i in range(3)]
    others += [seal(about=["01a_viewsada", "", about[2]]), seal(said={"outcome": "died"}), seal(seed=2)]
    others += [
        seal(cells=cells[:1]),
        seal(cells=[("code", "ab"), ("code", "")]),
        seal(cells=[cells[0], ("markdown", "b")]),
    ]
    assert seal() == seal(said=said | {"seal": "x"}) and len({seal(), *others}) == 1 + len(others)


@pytest.mark.sweep
def test_a_verdict_with_the_seal_of_an_earlier_version_can_still_be_read(place):
    def seal_as_before(notebook):
        for cell in filter(check_name, notebook.cells):
            said = cell.outputs[0].metadata.rushlight
            text = json.dumps({key: said[key] for key in said if key != "seal"}, sort_keys=True)
            text = f"{check_name(cell)}\n{text}".encode()
            said["seal"] = hmac.new((place / "seed").read_bytes(), text, "sha256").hexdigest()

    rewrite(place, "subtly_wrong_strides", seal_as_before)
    found = explain(Submission(Lab(LAB), "subtly_wrong_strides"))
    assert all(each.holds and not each.sealed and each.on_case is None for each in found.checks)
    assert "verdicts do not have the seal" in found.remarks[0] and "an earlier version" in found.remarks[0]
    assert "was passed (NOT TO BE TRUSTED" in found.checks[0].ruling()


@pytest.mark.sweep
def test_what_has_changed_since_is_said(place):
    with Gradebook(gradebook_url(), "rushlight") as gradebook:
        grades = gradebook.find_submission_notebook(LAB, LAB, "half_done").grades
        grade = next(grade for grade in grades if grade.name == "check-aten-strided-element_offset")
        grade.manual_score = 1.5
        gradebook.db.commit()
    rewrite(place, "half_done", lambda notebook: notebook.metadata.graded_with.update(torch="1.0"))
    shutil.copy(
        place / "submitted" / "untouched" / LAB / f"{LAB}.ipynb",
        place / "submitted" / "half_done" / LAB / f"{LAB}.ipynb",
    )
    found = explain(Submission(Lab(LAB), "half_done"), "element_offset")
    assert found.checks[0].entered == "1.5, CHANGED BY HAND from 2"
    said = "\n".join(found.remarks)
    assert "graded with torch 1.0; here is" in said and "has been replaced since" in said


@pytest.mark.sweep
def test_a_submission_and_a_gradebook_that_are_gone_do_not_stop_it(place):
    shutil.rmtree(place / "submitted" / "half_done")
    (place / "gradebook.db").write_text("half written")
    found = explain(Submission(Lab(LAB), "half_done"), "as_strided")
    assert any("the submission on disk is gone" in line for line in found.remarks)
    assert any("gradebook.db cannot be used" in line for line in found.remarks)
    assert found.checks[0].now.outcome == "not attempted" and "has to define the function" in found.checks[0].needed()
    assert (place / "gradebook.db").read_text() == "half written"


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("student", "asked", "said"),
    [
        ("half_dome", None, "did you mean half_done"),
        ("untouched", None, "untouched has not been graded"),
        ("corrupt_file", None, "the file is not JSON"),
        ("half_done", "contiguos_strides", "did you mean contiguous_strides"),
        ("..", None, "no student '..'"),
    ],
)
def test_what_cannot_be_explained_is_one_line(place, student, asked, said):
    with pytest.raises(LookupError) as error:
        explain(Submission(Lab(LAB), student), asked)
    assert said in error.value.args[0] and "\n" not in error.value.args[0]


@pytest.mark.sweep
def test_another_seed_is_said_and_none_is_made(place):
    assert explain(Submission(Lab(LAB), "half_done"), "element_offset").remarks == []
    (place / "seed").write_text("8")
    seeds, seals = explain(Submission(Lab(LAB), "half_done"), "element_offset").remarks
    assert "the class has another seed" in seeds and "do not have the seal" in seals
    (place / "seed").unlink()
    with pytest.raises(LookupError, match="seed is missing"):
        questions(Submission(Lab(LAB), "half_done"), True)
    assert not (place / "seed").exists()


@pytest.mark.sweep
def test_a_class_without_a_seed_or_a_broken_notebook_is_one_line(place):
    (place / "seed").unlink()
    with pytest.raises(LookupError, match="seed is missing"):
        explain(Submission(Lab(LAB), "half_done"))
    assert not (place / "seed").exists()
    (place / "autograded" / "half_done" / LAB / f"{LAB}.ipynb").write_text("{")
    with pytest.raises(LookupError, match="cannot be read"):
        explain(Submission(Lab(LAB), "half_done"))


@pytest.mark.sweep
def test_a_case_that_the_judge_has_not_shown_is_not_replayed(place, monkeypatch):
    replayed = []
    monkeypatch.setattr(Judge, "replay", lambda self, name, case, ask: replayed.append(case))

    def forge(notebook):
        cell = next(cell for cell in notebook.cells if check_name(cell) == WRONG)
        cell.outputs[0].metadata.rushlight["given"] = '{"sizes": [2, 7]}'

    explain(Submission(Lab(LAB), "subtly_wrong_strides"), WRONG)
    count = len(replayed)
    assert count
    rewrite(place, "subtly_wrong_strides", forge)
    (each,) = explain(Submission(Lab(LAB), "subtly_wrong_strides"), WRONG).checks
    assert len(replayed) == count and each.holds and each.on_case is None


@pytest.mark.sweep
def test_a_verdict_without_the_seal_of_the_classs_judge_is_not_to_be_trusted(place):
    def forge(notebook):
        for cell in filter(check_name, notebook.cells):
            cell.outputs[0].metadata.rushlight["outcome"] = "passed"

    before = explain(Submission(Lab(LAB), "subtly_wrong_strides"))
    assert all(each.sealed for each in before.checks) and before.remarks == []
    rewrite(place, "subtly_wrong_strides", forge)
    found = explain(Submission(Lab(LAB), "subtly_wrong_strides"))
    forged = [each for each in found.checks if not each.sealed]
    failed = [each.check for each in before.checks if not each.now.passed]
    assert WRONG in failed and [each.check for each in forged] == failed
    assert f"{len(forged)} of {len(found.checks)} verdicts do not have the seal" in found.remarks[0]
    assert all("was passed (NOT TO BE TRUSTED: without the seal" in each.ruling() for each in forged)
    assert all("the gradebook has no points" in each.ruling() and each.holds for each in forged)
    (alone,) = explain(Submission(Lab(LAB), "subtly_wrong_strides"), WRONG).checks
    assert not alone.sealed and alone.holds and alone.on_case is None


@pytest.mark.sweep
@pytest.mark.parametrize("said", [{"outcome": [1]}, 7, {"outcome": "\x1b[2J"}, {}])
def test_outputs_of_the_students_own_are_no_verdict(place, said):
    def forge(notebook):
        for cell in filter(check_name, notebook.cells):
            cell.outputs[0].metadata["rushlight"] = said

    rewrite(place, "half_done", forge)
    assert [each.then for each in explain(Submission(Lab(LAB), "half_done"), "element_offset").checks] == [{}]


@pytest.mark.sweep
def test_a_submission_that_stock_nbgrader_graded_is_compared_with_the_gradebook(place):
    def as_stock_leaves_it(notebook):
        for cell in filter(check_name, notebook.cells):
            cell.outputs = [nbformat.v4.new_output("stream", name="stdout", text="printed"), *cell.outputs[1:]]

    rewrite(place, "half_done", as_stock_leaves_it)
    checks = explain(Submission(Lab(LAB), "half_done")).checks
    assert {each.now.passed for each in checks} == {True, False} and all(each.holds for each in checks)
    assert not any(each.sealed for each in checks)
    assert "was graded by nbgrader alone (NOT TO BE TRUSTED" in checks[0].ruling()
    with Gradebook(gradebook_url(), "rushlight") as gradebook:
        for grade in gradebook.find_submission_notebook(LAB, LAB, "half_done").grades:
            grade.auto_score = 0.0
        gradebook.db.commit()
    assert [each.holds for each in explain(Submission(Lab(LAB), "half_done")).checks] == [
        not each.now.passed for each in checks
    ]


@pytest.mark.sweep
def test_the_graded_notebook_keeps_the_case_and_the_versions(place):
    notebook = nbformat.read(place / "autograded" / "subtly_wrong_strides" / LAB / f"{LAB}.ipynb", as_version=4)
    summary = next(cell for cell in notebook.cells if check_name(cell) == WRONG).outputs[0].metadata.rushlight
    assert summary.given.startswith('{"sizes"')
    assert {*notebook.metadata.graded_with} == {"torch", "rushlight", "Python", "seed"}
