"""The statistics of exercises, and which of them the class report warns of."""

import random

import pytest

from autograder.classroom import grade as grading
from autograder.classroom.grade import Row
from autograder.classroom.items import is_negative, share_interval, warnings
from autograder.classroom.report import write_report
from autograder.cli.grading import grade_lab
from autograder.model import Lab

LAB = "01a_views"
CHECKS = [*Lab(LAB).points]
BAD = CHECKS[4]


def class_of(size, change=lambda number, ability, verdicts: None):
    """Students of different ability, and what `change` makes of a student's verdicts."""
    draw, rows = random.Random(size), []
    for number in range(size):
        ability = number / size
        verdicts = {check: {"outcome": "passed"} for check in CHECKS}
        for check in CHECKS:
            if draw.random() > 0.5 + ability / 2:
                verdicts[check] = disagreed(f"sizes = [{draw.randrange(9)}]")
        change(number, ability, verdicts)
        scores = {check: Lab(LAB).points[check] * (each["outcome"] == "passed") for check, each in verdicts.items()}
        rows.append(Row(f"s{number:03}", scores, verdicts))
    return rows


def disagreed(case):
    return {"outcome": "disagreed", "message": "[0]", "case": case, "seconds": 0.5}


def nobody(number, ability, verdicts):
    verdicts[BAD] = disagreed(f"sizes = [{number}]")


def misled(number, ability, verdicts):
    if number % 2:
        verdicts[BAD] = disagreed("sizes = [7]")


def reversed_(number, ability, verdicts):
    verdicts[BAD] = {"outcome": "passed"} if ability < 0.5 else disagreed(f"sizes = [{number}]")


def slow(number, ability, verdicts):
    if number % 4 == 0:
        verdicts[BAD] = {"outcome": "timed out"}


def broken_check(number, ability, verdicts):
    if number == 3:
        verdicts[BAD] = {"outcome": "grader error"}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (nobody, "nearly all fail: 0 of the 40"),
        (misled, "fail with one smallest case"),
        (reversed_, "fewer points elsewhere"),
        (slow, "of 40 are timed out"),
        (broken_check, "the check itself failed for 1"),
    ],
)
def test_a_bad_exercise_warns_and_no_other_one(change, why):
    (found,) = warnings(class_of(40, change), CHECKS)
    assert found.check == BAD and why in found.why


@pytest.mark.parametrize("size", [1, 5, 20, 40, 200])
def test_an_ordinary_class_has_no_warning(size):
    assert warnings(class_of(size), CHECKS) == []


@pytest.mark.parametrize("change", [nobody, misled, reversed_, slow])
def test_a_handful_of_students_is_too_few_to_warn(change):
    assert warnings(class_of(4, change), CHECKS) == []


def test_who_attempted_nothing_does_not_count():
    untouched = [
        Row(f"u{i}", dict.fromkeys(CHECKS, 0.0), {check: {"outcome": "not attempted"} for check in CHECKS})
        for i in range(60)
    ]
    assert warnings(class_of(20) + untouched, CHECKS) == []
    assert warnings(untouched, CHECKS) == []


def test_intervals_are_those_of_the_books():
    assert share_interval(0, 10) == pytest.approx((0, 0.2775), abs=1e-3)  # Wilson
    assert share_interval(5, 10) == pytest.approx((0.2366, 0.7634), abs=1e-3)
    assert is_negative(-0.43, 30) and not is_negative(-0.41, 30) and is_negative(-1.0, 10)  # Fisher


def test_the_report_begins_with_the_warning_and_escapes_the_case(tmp_path, monkeypatch):
    monkeypatch.setenv("RUSHLIGHT_CLASSROOM", str(tmp_path))

    def shouts(number, ability, verdicts):
        verdicts[BAD] = disagreed("x = '<script>'")

    page = write_report(Lab(LAB), class_of(40, shouts)).read_text(encoding="utf-8")
    assert page.index("Early warning") < page.index(">Totals</h2>")
    assert f"<li><strong>{BAD.rpartition('.')[2]}</strong>: nearly all fail" in page and "<script>'" not in page
    assert "Early warning" not in write_report(Lab(LAB), class_of(40)).read_text(encoding="utf-8")


def test_grading_says_in_one_line_where_to_look(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("RUSHLIGHT_CLASSROOM", str(tmp_path))
    monkeypatch.setattr(grading, "grade", lambda *arguments: class_of(40, nobody))
    grade_lab(Lab(LAB), False, False, None, None)
    assert f"look at:  {BAD.rpartition('.')[2]}: the report says why" in capsys.readouterr().out


def test_a_group_counts_once_in_the_statistics_of_exercises(tmp_path, monkeypatch):
    monkeypatch.setenv("RUSHLIGHT_CLASSROOM", str(tmp_path))
    rows = class_of(12)
    group = [Row(f"g{number}", copy_of="s003") for number in range(8)]
    rows[3].verdicts[BAD] = disagreed("sizes = [7]")
    for row in group:
        row.scores, row.verdicts = rows[3].scores, rows[3].verdicts
    assert warnings(rows + group, CHECKS) == warnings(rows, CHECKS)
    page = write_report(Lab(LAB), rows + group).read_text()
    assert "20 submissions, 20 graded" in page and "8 are copies of a group" in page
    assert '<td class="number" data-key="9">' not in page.partition('id="cases"')[2]
