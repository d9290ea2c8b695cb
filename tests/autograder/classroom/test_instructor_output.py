"""The output of an instructor's commands about marks, and about files that they cannot use."""

import csv
import re

import pytest
from first_lab import ALL, POINTS
from marked import LAB, enter, mark_by_hand, open_marked

from autograder import cli
from autograder.classroom import grade as grading
from autograder.classroom.grade import Row
from autograder.classroom.lms import pack_feedback
from autograder.classroom.report import write_report
from autograder.cli.grading import LINES, grade_lab, print_table
from autograder.model import Lab


@pytest.fixture
def rushlight(monkeypatch, capsys):
    """`rushlight(arguments)`: the exit code and all that is printed, an error included."""

    def rushlight(*arguments):
        monkeypatch.setattr("sys.argv", ["rushlight", *map(str, arguments)])
        with pytest.raises(SystemExit) as caught:
            cli.main()
        said = capsys.readouterr()
        code = caught.value.code or 0
        return (1, said.out + said.err + code) if isinstance(code, str) else (code, said.out + said.err)

    return rushlight


def row(student, **more):
    """A student with all points of the checks."""
    return Row(student, dict(Lab(LAB).points), {check: {"outcome": "passed"} for check in Lab(LAB).points}, **more)


def lines_of(text, *students):
    return {line.split()[0]: line.split() for line in text.splitlines() if line.startswith(students)}


def test_the_table_has_the_mark_of_the_gradebook_if_it_differs_and_otherwise_no_such_column(classroom, capsys):
    print_table(Lab(LAB), [row("ada", mark=POINTS + 3), row("ben", mark=POINTS), Row("cem", problem="no notebook")])
    said = lines_of(capsys.readouterr().out, "student", "ada", "ben")
    assert (
        said["student"][-2:] == ["total", "mark"]
        and said["ada"][-2:] == [f"{POINTS:g}", f"{POINTS + 3:g}"]
        and said["ben"][-2:] == [f"{POINTS:g}", f"{POINTS:g}"]
    )
    print_table(Lab(LAB), [row("ada", mark=POINTS), row("ben", penalty=2.8, mark=POINTS - 2.8)])
    said = lines_of(capsys.readouterr().out, "student", "ben")
    assert said["student"][-1] == "total" and said["ben"][-2:] == ["-2.8", f"{POINTS - 2.8:g}"]


def test_grading_says_how_many_answers_wait_and_whose_page_is_new(classroom, monkeypatch, capsys):
    rows = [row("ada", waiting=1), row("ben", waiting=2), row("cem", is_rewritten=True)]
    monkeypatch.setattr(grading, "grade", lambda *arguments: rows)
    grade_lab(Lab(LAB), False, False, None, None)
    said = capsys.readouterr().out
    assert "3 answers of 2 students wait" in said and "(1): cem" in said
    monkeypatch.setattr(grading, "grade", lambda *arguments: [row("ada")])
    grade_lab(Lab(LAB), False, False, None, None)
    said = capsys.readouterr().out
    assert "wait" not in said and "written again" not in said


@pytest.mark.parametrize(("first", "total"), [(0, 40), (0, 3), (0, 1), (37, 40)])
def test_outside_a_terminal_progress_is_a_line_now_and_then(classroom, monkeypatch, capsys, first, total):
    def grade(lab, force, isolated, jobs, executor, progress, only):
        for done in range(first, total + 1):
            progress(done, total, f"student{done}")
        progress(total + 1, total + 1, "a page that is written again")
        return [row("ada")]

    monkeypatch.setattr(grading, "grade", grade)
    grade_lab(Lab(LAB), False, False, None, None)
    said = [line for line in capsys.readouterr().out.splitlines() if line.startswith(f"{LAB}: ")]
    assert 1 <= len(said) <= LINES + 1 and f"{LAB}: {total} of {total}" in said


def test_the_report_is_of_the_marks_after_late_penalties_and_shows_both(classroom):
    off = POINTS - 14.0
    rows = [row("ada", penalty=off, mark=17.0), row("ben", penalty=off, mark=14.0), row("cem", mark=POINTS)]
    said = write_report(Lab(LAB), rows).read_text(encoding="utf-8")
    facts = dict(zip(said.split("<dt>")[1:], said.split("<dd>")[1:]))
    facts = {name.partition("<")[0]: value.partition("<")[0] for name, value in facts.items()}
    assert facts["median total"] == f"14 of {POINTS:g}" and facts["all points"] == "1"
    assert facts["median before late penalties"] == f"{POINTS:g}"
    assert facts["median mark, with points by hand"] == f"17 of {ALL:g}"
    bars = said.partition('class="bars"')[2].partition("</table>")[0]
    bars = re.findall(r'<td class="number">(\d+)(?: to (\d+))?</td>.*?<td>(\d+)</td>', bars)
    (first, last, two), (_, top, one) = [(int(a), int(b or a), int(count)) for a, b, count in bars if count != "0"]
    assert (first <= 14 <= last, two) == (True, 2) and (top, one) == (POINTS, 1)
    assert [*map(float, _numbers(said, "ada"))] == [-off, 14, 17]
    assert [*map(float, _numbers(said, "cem"))] == [0, POINTS, POINTS]
    plain = write_report(Lab(LAB), [row("ada", mark=POINTS), row("ben", mark=POINTS)]).read_text(encoding="utf-8")
    assert "penalties" not in plain and "gradebook" not in plain and [*map(float, _numbers(plain, "ada"))] == [POINTS]


def _numbers(page, student):
    """The numbers of a student's line of the map."""
    line = page.partition(f'data-key="{student}"')[2].partition("</tr>")[0]
    return [cell.partition('"')[0] for cell in line.split('<td data-key="')[1:]]


def test_a_lab_that_was_not_downloaded_is_one_line(classroom):
    with open_marked() as gradebook:
        for student in ("ada", "ben", "cem"):
            enter(gradebook, student, 20)
        written, lines = pack_feedback(Lab(LAB), gradebook)
    assert not written and len(lines) == 1 and "ada" not in lines[0]


def test_the_marks_of_the_term_name_what_is_not_of_the_present_submission(classroom, rushlight):
    with open_marked() as gradebook:
        for student in ("ada", "ben", "cem"):
            enter(gradebook, student, 20)
        (grade,) = [
            each
            for each in gradebook.find_submission(LAB, "cem").notebooks[0].grades
            if each.cell.cell_type == "markdown"
        ]
        grade.needs_manual_grade = True
        gradebook.db.commit()
    for student in ("ada", "zoe"):  # of ben and cem the files are kept elsewhere
        path = classroom / "submitted" / student / LAB / f"{LAB}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text("no notebook")
    code, said = rushlight("marks")
    assert code == 0 and (classroom / "marks.csv").exists()
    named = {line.rpartition(": ")[2]: line for line in said.splitlines() if line.startswith(LAB)}
    assert [*named] == ["cem", "ada", "zoe"]
    assert "wait to be marked" in named["cem"] and "EARLIER" in named["ada"] and "NOT graded" in named["zoe"]


def test_a_term_without_anything_to_say_says_nothing(classroom, rushlight):
    with open_marked() as gradebook:
        enter(gradebook, "ada", 20)
        mark_by_hand(gradebook, "ada", 2)
    code, said = rushlight("marks")
    assert code == 0 and said.count("\n") == 1
    assert [line["sum"] for line in csv.DictReader((classroom / "marks.csv").open())] == ["22.0"]


# Files that cannot be used -------------------------------------------------------------------------------------------


def files(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", ["groups.csv", "late.csv", "extensions.csv"])
def test_a_table_that_cannot_be_read_is_one_line_and_changes_nothing(classroom, rushlight, isolated, name):
    (classroom / "submitted" / "ada" / LAB).mkdir(parents=True)
    (classroom / name).mkdir()
    code, said = rushlight("grade", "01a")
    assert code == 1 and said.strip().endswith(f"{name} cannot be read: Is a directory")
    assert said.strip().count("\n") == 0 and "Errno" not in said and not (classroom / "gradebook.db").exists()


@pytest.mark.parametrize("command", [["grade", "01a"], ["marks"], ["feedback", "01a"], ["alike", "01a"]])
def test_a_class_that_is_a_file_is_one_line_and_stays(tmp_path, monkeypatch, rushlight, command):
    path = tmp_path / "class"
    path.write_text("precious")
    monkeypatch.setenv("RUSHLIGHT_CLASSROOM", str(path))
    code, said = rushlight(*command)
    assert (
        code == 1 and said.strip().count("\n") == 0 and f"{path} is a file" in said and path.read_text() == "precious"
    )


def test_a_folder_that_is_not_there_is_one_line_and_nothing_is_written(classroom, rushlight, tmp_path):
    with open_marked() as gradebook:
        enter(gradebook, "ada", 20)
    before = files(tmp_path)
    code, said = rushlight("marks", "--out", tmp_path / "none" / "marks.csv")
    assert code == 1 and said == f"rushlight: there is no folder {tmp_path / 'none'}"
    assert files(tmp_path) == before


def test_an_error_of_the_system_is_a_path_and_a_reason(classroom, rushlight, tmp_path):
    (tmp_path / "file").write_text("precious")
    code, said = rushlight("release", "00", "--out", tmp_path / "file" / "course")
    assert code == 1 and said == f"rushlight: {tmp_path / 'file'}: file exists"
    assert (tmp_path / "file").read_text() == "precious"
