"""`rushlight grade` on the sample class."""

import csv
import json
import os
import shutil
import signal
from datetime import datetime
from types import SimpleNamespace

import nbformat
import pytest
from at_once import AtOnce
from first_lab import CHECKS, HALF, LEFT, POINTS
from nbgrader.preprocessors import SaveAutoGrades, SaveCells
from sweep import sweep

from autograder import model
from autograder.classroom import grade as grading
from autograder.classroom import late, plugin, restore, sample
from autograder.classroom.collect import name_as_handed_in, take_renamed
from autograder.classroom.grade import GradingError, Row, grade, write_csv
from autograder.classroom.report import write_report
from autograder.cli.grading import logging_to, print_table
from autograder.engine import limits
from autograder.model import Lab, Submission, check_name, exercise_name

LAB = "01a_views"


@pytest.fixture
def classroom(classroom, isolated):
    return classroom


@pytest.mark.sweep
def test_a_submission_that_takes_too_long_is_named_and_loses_nothing(classroom, quick_grade, monkeypatch):
    sample.make(classroom)
    for student in {path.name for path in (classroom / "submitted").iterdir()} - {"half_done", "untouched"}:
        shutil.rmtree(classroom / "submitted" / student)
    with monkeypatch.context() as patch:
        patch.setattr(limits, "TOTAL_SECONDS", (0.0, 0.0))
        rows = {row.student: row for row in quick_grade(LAB, executor=AtOnce())}
    assert rows["half_done"].remark().startswith("not graded: it takes more than the 0 s")
    assert rows["half_done"].scores == {}
    other = classroom / "submitted/half_done" / LAB / f"{LAB}-1.ipynb"
    other.write_text("a second one")
    rows = {row.student: row for row in quick_grade(LAB)}
    assert {student: row.total for student, row in rows.items()} == {"half_done": 14, "untouched": 0}
    assert rows["half_done"].remark().endswith(f"not graded, beside the submission: {other.name}")


def test_a_submission_that_cannot_be_read_gets_a_page_with_the_reason(classroom, quick_grade):
    submission = Submission(Lab(LAB), "ben")
    submission.folder.mkdir(parents=True)
    submission.path.write_text("<b>")
    rows = quick_grade(LAB)
    page = submission.page.read_text(encoding="utf-8")
    assert "Not a notebook: the file is not JSON." in page and f"JupyterLab opens {LAB}.ipynb" in page
    assert f'<a href="feedback/ben/{LAB}/{LAB}.html">' in write_report(Lab(LAB), rows).read_text(encoding="utf-8")


@pytest.mark.sweep
def test_the_log_has_a_line_for_each_submission_with_its_outcome_and_seconds(classroom, quick_grade, tmp_path):
    sample.make(classroom)
    for student in {path.name for path in (classroom / "submitted").iterdir()} - {"corrupt_file", "untouched"}:
        shutil.rmtree(classroom / "submitted" / student)
    with logging_to(tmp_path / "log"):
        quick_grade(LAB)
        quick_grade(LAB)  # what is graded already has no second line
    quick_grade(LAB, force=True)
    times, *fields = zip(*(line.split("\t") for line in (tmp_path / "log").read_text(encoding="utf-8").splitlines()))
    broken = ("corrupt_file", LAB, "not a notebook: the file is not JSON")
    assert sorted(zip(*fields[:3])) == [broken, broken, ("untouched", LAB, "graded")]
    assert all(map(datetime.fromisoformat, times)) and all(0 <= float(seconds) < 300 for seconds in fields[3])


@pytest.mark.sweep  # each outcome is in `tests/autograder/engine`, and others' processes mark in `test_nothing_lost.py`
def test_the_sample_class_gets_the_grades_it_deserves(classroom, quick_grade, forked_markers, monkeypatch):
    monkeypatch.setattr(limits, "CHECK_SECONDS", (2.0, 2.0))  # an endless loop works for so long
    sample.make(classroom)
    rows = {row.student: row for row in grade(Lab(LAB), jobs=1)}
    assert {student: row.total for student, row in rows.items()} == {
        "all_right": POINTS,
        "half_done": HALF,
        "subtly_wrong_strides": POINTS - 2,
        "untouched": 0,
        "syntax_error": POINTS - 3,
        "endless_loop": POINTS - 2,
        "meddled_with_checks": 0,
        "corrupt_file": 0,
    }
    assert rows["corrupt_file"].remark() == "not a notebook: the file is not JSON"
    with write_csv(Lab(LAB), [*rows.values()]).open() as file:
        totals = {row["student"]: row["total"] for row in csv.DictReader(file)}
    assert totals["corrupt_file"] == "not graded" and totals["untouched"] == "0.0"
    assert rows["meddled_with_checks"].remark() == f"changed check cells, put back: {CHECKS}; not attempted: {CHECKS}"
    assert rows["endless_loop"].remark() == "timed out: element_offset"
    assert rows["subtly_wrong_strides"].remark() == "disagreed: contiguous_strides"
    assert rows["syntax_error"].remark() == "its cell did not run: permute"
    for student in set(rows) - {"corrupt_file"}:
        assert (classroom / "feedback" / student / LAB / f"{LAB}.html").exists()

    with write_csv(Lab(LAB), list(rows.values())).open() as file:
        table = {row["student"]: row for row in csv.DictReader(file)}
    assert float(table["all_right"]["total"]) == float(table["all_right"]["maximum"]) == POINTS

    before = {path: path.stat().st_mtime_ns for path in (classroom / "autograded").rglob("*.ipynb")}
    again = {row.student: row.total for row in quick_grade(LAB)}
    assert again == {student: row.total for student, row in rows.items()}
    assert {path: path.stat().st_mtime_ns for path in (classroom / "autograded").rglob("*.ipynb")} == before


@pytest.fixture
def one_student(classroom, tmp_path_factory):
    place = tmp_path_factory.mktemp("sample")
    sample.make(place)
    shutil.copytree(place / "submitted" / "half_done", classroom / "submitted" / "half_done")
    return classroom


@pytest.mark.sweep
def test_students_who_are_named_are_graded_and_the_others_are_not(one_student, quick_grade):
    shutil.copytree(one_student / "submitted" / "half_done", one_student / "submitted" / "ada")
    rows = {row.student: row for row in quick_grade(LAB, only=["half_done"])}
    assert rows["half_done"].total == 14 and rows["ada"].remark() == "not graded yet"
    with pytest.raises(GradingError, match="no student 'adda' has handed in 01a_views; did you mean ada?"):
        quick_grade(LAB, only=["adda"])
    assert not (one_student / "autograded" / "ada").exists()


@pytest.mark.sweep
def test_what_an_interrupted_run_left_behind_is_graded_again(one_student, quick_grade):
    half = one_student / "autograded" / "half_done" / LAB / f"{LAB}.ipynb"
    half.parent.mkdir(parents=True)
    shutil.copy(one_student / "submitted" / "half_done" / LAB / f"{LAB}.ipynb", half)  # nbgrader's first step, no more
    (row,) = quick_grade(LAB)
    assert row.total == HALF and row.remark() == f"not attempted: {LEFT}"


def test_what_has_been_marked_is_not_run_again_when_it_is_recorded(one_student, monkeypatch, quick_grade):
    monkeypatch.setattr(plugin, "run", lambda *arguments: 1 / 0)
    (row,) = quick_grade(LAB)
    assert row.total == HALF


@pytest.mark.sweep
@pytest.mark.parametrize(
    "said", sweep([{"outcome": ["passed"]}, None, 5, ["x"], {"outcome": "passed", "message": 5}], every=5), ids=str
)
def test_what_a_notebook_that_nbgrader_alone_graded_says_stops_no_class(one_student, quick_grade, said):
    quick_grade(LAB)
    path = one_student / "autograded" / "half_done" / LAB / f"{LAB}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    del notebook.metadata["submission"], notebook.metadata["entered"]
    for cell in filter(check_name, notebook.cells):
        if said is None:
            cell.outputs = [nbformat.v4.new_output("stream", name="stdout", text="printed")]
        else:
            cell.outputs[0].metadata["rushlight"] = said
    for about in (said, {"check": "strided.no_such_check"}, {"check": ["a"]}, {"exercise": 5}):
        notebook.cells.append(nbformat.v4.new_code_cell("1", metadata={"rushlight": about}))
    nbformat.write(notebook, path)
    os.utime(one_student / "feedback" / "half_done" / LAB / f"{LAB}.html")
    (row,) = quick_grade(LAB)
    assert row.total == HALF and row.remark().startswith("graded by nbgrader alone: ")


@pytest.mark.parametrize(
    "about", [5, "x", ["x"], {"check": 5, "exercise": 5}, {"check": ["a"], "exercise": {"a": 1}}], ids=str
)
def test_a_name_in_the_metadata_of_a_cell_is_a_text(about):
    cell = nbformat.v4.new_code_cell(metadata={"rushlight": about})
    assert check_name(cell) is exercise_name(cell) is None


@pytest.mark.sweep
def test_nbformat_does_not_see_the_text_of_a_submission(one_student, monkeypatch, quick_grade):
    seen, reads = [], nbformat.reads
    monkeypatch.setattr(
        nbformat, "reads", lambda text, *more, **options: seen.append(text) or reads(text, *more, **options)
    )
    (row,) = quick_grade(LAB, executor=AtOnce())
    assert row.total == HALF and seen
    assert (one_student / "submitted" / "half_done" / LAB / f"{LAB}.ipynb").read_text() not in seen


def test_a_submission_is_read_parsed_and_restored_once_before_it_is_recorded(one_student, monkeypatch, quick_grade):
    own = (one_student / "submitted" / "half_done" / LAB / f"{LAB}.ipynb").read_text()
    done = []

    def note(module, name, wanted=lambda given: True):
        function = getattr(module, name)

        def noting(given, *more, **options):
            done.extend([name] * wanted(given))
            return function(given, *more, **options)

        monkeypatch.setattr(module, name, noting)

    note(model, "read_notebook")
    note(json, "loads", lambda text: text == own)
    note(restore, "restore")
    note(late, "renew_times")
    (row,) = quick_grade(LAB, executor=AtOnce())
    assert row.total == HALF and done[: done.index("renew_times")] == ["read_notebook", "loads", "restore"]


@pytest.mark.sweep
def test_a_lab_that_is_half_in_the_gradebook_is_entered_again(one_student, quick_grade):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SaveCells, "_create_source_cell", lambda self, cell: None)
        plugin.register(f"sqlite:///{one_student / 'gradebook.db'}", LAB)
    (row,) = quick_grade(LAB)
    assert row.total == HALF


@pytest.mark.sweep
def test_an_interrupt_stops_the_class_and_running_again_finishes_it(one_student, monkeypatch, quick_grade):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(SaveAutoGrades, "preprocess", interrupted)
        with pytest.raises(KeyboardInterrupt):
            quick_grade(LAB)
    (row,) = quick_grade(LAB)
    assert row.total == HALF


def test_what_a_marker_cannot_do_costs_that_submission_only(one_student, quick_grade):
    class Broken(AtOnce):
        def submit(self, function, *arguments):
            return super().submit(lambda: 1 / 0)

    (row,) = grade(Lab(LAB), executor=Broken())
    assert "could not be marked (ZeroDivisionError" in row.problem
    assert [row.total for row in quick_grade(LAB)] == [14]


@pytest.mark.parametrize("step", sweep(["packed", "assembled", "_read_grades"], keep=["packed", "assembled"]))
def test_what_cannot_be_read_costs_that_submission_only(one_student, quick_grade, monkeypatch, step):
    def read(*_):
        raise RecursionError("maximum recursion depth exceeded")

    monkeypatch.setattr(grading, step, read)
    (row,) = quick_grade(LAB)
    assert "(RecursionError: maximum recursion depth exceeded)" in row.problem and row.scores == {}


def test_the_report_shows_what_students_share_and_no_markup_of_theirs(classroom):
    verdict = {"outcome": "disagreed", "message": "<script>", "case": "sizes = [0]", "seconds": 1.0}
    rows = [
        Row(name, {"aten.strided.permute": 0.0}, {"aten.strided.permute": dict(verdict)})
        for name in ("<b>ada</b>", "ben")
    ]
    for row in rows:
        row.verdicts |= {name: {"outcome": "passed"} for name in Lab(LAB).points if name not in row.verdicts}
    page = write_report(Lab(LAB), [*rows, Row("cem", problem="no notebook")]).read_text()
    assert "sizes = [0]" in page and "cem" in page
    assert page.count("<script") == 1 and "&lt;script&gt;" in page and "<b>ada" not in page


@pytest.mark.sweep  # the next but one replaces one too, by an older file
def test_a_submission_that_was_replaced_is_graded_again(one_student, answers, released, quick_grade):
    quick_grade(LAB)
    sample.fill(released, answers)
    nbformat.write(released, one_student / "submitted" / "half_done" / LAB / f"{LAB}.ipynb")
    (row,) = quick_grade(LAB)
    assert row.total == POINTS


RENAMED = [
    "01a_views (1).ipynb",
    "01a_views-Copy1.ipynb",
    "ana_01a_views.ipynb",
    "01A_Views.IPYNB",
    "01a_views.ipynb.txt",
]


@pytest.mark.parametrize("name", RENAMED)
def test_a_notebook_under_another_name_is_taken_if_it_is_the_only_one_and_of_this_lab(one_student, root, name):
    folder = one_student / "submitted" / "half_done" / LAB
    kept = (folder / f"{LAB}.ipynb").rename(folder / name).read_bytes()
    (folder / "timestamp.txt").write_text("2027-03-15 22:00:00 UTC")
    (folder / "._hidden.ipynb").touch()
    assert take_renamed(Lab(LAB), folder) == name and take_renamed(Lab(LAB), folder) == ""
    assert (folder / f"{LAB}.ipynb").read_bytes() == kept and name_as_handed_in(folder) == name
    (folder / f"{LAB}.ipynb").rename(folder / name)
    (folder / "second.ipynb").write_bytes(kept)
    assert take_renamed(Lab(LAB), folder) == "" and not (folder / f"{LAB}.ipynb").exists()
    (folder / name).unlink()
    shutil.copy(root / "labs" / "02a_keys" / "02a_keys.ipynb", folder / "second.ipynb")
    assert take_renamed(Lab(LAB), folder) == "" and not (folder / f"{LAB}.ipynb").exists()


@pytest.mark.sweep
def test_the_row_names_the_file_that_a_student_handed_in(one_student, quick_grade):
    given = one_student / "submitted" / "half_done" / LAB / f"{LAB}.ipynb"
    for student, names in {"ada": ["a.ipynb", "b.ipynb"], "ben": ["homework.zip"], "cem": []}.items():
        folder = one_student / "submitted" / student / LAB
        folder.mkdir(parents=True)
        for name in names:
            shutil.copy(given, folder / name)
    given.rename(given.with_name("01a_views (1).ipynb"))
    for _ in range(2):
        rows = {row.student: row for row in quick_grade(LAB)}
        assert rows["half_done"].total == 14
        assert rows["half_done"].remark() == f"handed in as 01a_views (1).ipynb; not attempted: {LEFT}"
        said = f"no {LAB}.ipynb in the submission"
        assert rows["ada"].remark() == f"{said}, only a.ipynb, b.ipynb: rename the one that is this lab's"
        assert rows["ben"].remark() == f"{said}, only homework.zip: rename the one that is this lab's"
        assert rows["cem"].remark() == said
    assert not [*(one_student / "autograded").rglob("*.txt")]


@pytest.mark.sweep
@pytest.mark.parametrize("year", sweep([1990, 2090], every=2))
def test_the_time_of_a_file_does_not_decide_whether_it_is_new(one_student, answers, released, quick_grade, year):
    path, graded = (one_student / place / "half_done" / LAB / f"{LAB}.ipynb" for place in ("submitted", "autograded"))
    quick_grade(LAB)
    sample.fill(released, answers)
    nbformat.write(released, path)
    os.utime(path, ((year - 1970) * 31_556_952,) * 2)
    assert [row.total for row in quick_grade(LAB)] == [POINTS]
    before = graded.stat().st_mtime_ns
    assert [row.total for row in quick_grade(LAB)] == [POINTS]
    assert graded.stat().st_mtime_ns == before


def test_no_more_jobs_run_at_once_than_fit_into_the_memory(tmp_path, monkeypatch):
    limit, free = tmp_path / "memory.max", [64 << 30]
    monkeypatch.setattr(grading, "CONTAINER_MEMORY", limit)
    monkeypatch.setattr(grading.os, "cpu_count", lambda: 16)
    monkeypatch.setattr(grading.psutil, "virtual_memory", lambda: SimpleNamespace(available=free[0]))
    assert (grading.jobs_here(Lab(LAB)), grading.jobs_here(Lab("09a_collectives"))) == (16, 16)
    limit.write_text("max\n")
    free[0] = 6 << 30
    assert (grading.jobs_here(Lab(LAB)), grading.jobs_here(Lab("09a_collectives"))) == (8, 4)
    limit.write_text(f"{3 << 29}\n")
    assert (grading.jobs_here(Lab(LAB)), grading.jobs_here(Lab("09a_collectives"))) == (2, 1)


def test_the_sample_class_is_made_once(tmp_path):
    sample.make(tmp_path)
    assert not [path for path in tmp_path.rglob("*.ipynb") if "**Rubric" in path.read_text()]  # no student has it
    path = tmp_path / "submitted" / "untouched" / LAB / f"{LAB}.ipynb"
    path.write_text("changed")
    sample.make(tmp_path)
    assert path.read_text() == "changed"
    (tmp_path / "made-from").write_text("another version")
    with pytest.raises(FileExistsError, match="another release"):
        sample.make(tmp_path)


def test_a_class_without_submissions_is_refused_and_nothing_is_written(classroom, quick_grade):
    with pytest.raises(GradingError, match="no student has handed in"):
        quick_grade(LAB)
    assert [path.name for path in classroom.iterdir()] == ["seed"]


def test_without_bubblewrap_grading_stops_with_what_to_do(classroom, monkeypatch):
    sample.make(classroom)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(GradingError, match="--no-sandbox"):
        grade(Lab(LAB))
    assert not (classroom / "gradebook.db").exists()


def test_the_notebook_of_another_course_gets_a_clear_line(classroom, released, quick_grade):
    released.cells = [cell for cell in released.cells if cell.cell_type == "raw"]
    path = classroom / "submitted" / "stray" / LAB / f"{LAB}.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(released, path)
    (row,) = quick_grade(LAB)
    assert "not a notebook of this lab" in row.remark()


def test_another_labs_notebook_under_this_ones_name_gets_a_line_and_no_marks(classroom, quick_grade):
    path = classroom / "submitted" / "stray" / LAB / f"{LAB}.ipynb"
    path.parent.mkdir(parents=True)
    shutil.copy(Lab("01b_reshape").path, path)
    (row,) = quick_grade(LAB)
    assert "is it the notebook of another one?" in row.problem and not row.scores


def test_no_table_has_a_formula_or_a_control_character_of_a_student(classroom, capsys):
    name = "\x1b[2J\u202e\udce9"
    verdicts = {check: {"outcome": "disagreed", "message": name, "case": name} for check in Lab(LAB).points}
    rows = [Row(student, verdicts=verdicts) for student in ("=1+1", "\t=1+1", "+1", "-1", "@x", name, name + "2")]
    rows += [Row("ada", problem="=1+1"), Row("ben", problem=name)]
    texts = [
        write_csv(Lab(LAB), rows).read_text(encoding="utf-8"),
        write_report(Lab(LAB), rows).read_text(encoding="utf-8"),
    ]
    print_table(Lab(LAB), rows)
    for text in [*texts, capsys.readouterr().out]:
        assert "\\u001b[2J\\u202e\\udce9" in text and not {*"\x1b\u202e\udce9\t"} & {*text}
    with (classroom / f"marks-{LAB}.csv").open(newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert not [cell for cell in cells if cell[:1] in [*"=+-@\t\r"]]


def test_where_a_spreadsheet_splits_at_semicolons_no_part_is_a_formula(classroom):
    names = ["a;=1+1", "a; @x", 'a;"=1+1', "a;;-1;＝1", '"=1', "a,b;+1"]
    write_csv(Lab(LAB), [Row(name, problem=name) for name in names])
    with (classroom / f"marks-{LAB}.csv").open(newline="") as file:
        cells = [cell for line in file for cell in line.strip().split(";")]
    assert not [cell for cell in cells if cell.lstrip(" \"'")[:1] in [*"=+-@＝"] and cell.lstrip(' "')[:1] != "'"]


def test_a_long_name_leaves_room_for_the_points(classroom, capsys):
    worth = Lab(LAB).points
    rows = [Row("x" * 200, scores=worth), Row("漢" * 200, scores=worth, problem="remark"), Row("[b]ada", scores=worth)]
    print_table(Lab(LAB), rows)
    said = capsys.readouterr().out
    lines = [line for line in said.splitlines() if line.endswith((f" {sum(worth.values()):g}", " not graded"))]
    lines = [line.replace("not graded", "ungraded") for line in lines]
    assert [line[:3] for line in lines] == ["xxx", "漢漢漢", "[b]"]
    assert all(
        len(line) <= 80 and line.split()[-len(worth) - 1 : -1] == [f"{each:g}" for each in worth.values()]
        for line in lines
    )
    assert "remark" in said and "x" * 200 in write_csv(Lab(LAB), rows).read_text(encoding="utf-8")


def test_the_limit_of_a_page_of_feedback_leaves_the_alarm_as_it_was():
    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(TimeoutError, match="took longer than 60 s"), grading._alarm(60):
        signal.raise_signal(signal.SIGALRM)
    assert signal.getsignal(signal.SIGALRM) is before
