"""Late submissions: policies, extensions, times, and the term's total."""

import csv
import json
import os
import shutil
from datetime import timedelta

import pytest
from first_lab import ALL, HALF, LEFT, POINTS
from marked import LAB, enter, mark_by_hand, open_marked

from autograder.classroom import late, sample, table
from autograder.classroom.grade import write_csv
from autograder.classroom.plugin import Export
from autograder.classroom.term import Term
from autograder.engine.observe import GradingError
from autograder.model import Course, Lab, reason_in_timestamp

DUE = "2027-03-15 22:00:00 UTC"


@pytest.fixture
def gradebook(classroom):
    with open_marked() as gradebook:
        gradebook.update_or_create_assignment(LAB, duedate=DUE)
        yield gradebook


def penalties(gradebook, lab=LAB):
    rules = table.Rules.of(Lab(lab))
    late.renew_times(gradebook, Lab(lab), rules.extensions)
    late.renew(gradebook, Lab(lab), rules.policy)
    gradebook.db.expire_all()
    return {each.student_id: each.late_submission_penalty for each in late.submissions(gradebook, Lab(lab))}


@pytest.mark.parametrize(
    ("policy", "grace", "seconds", "penalty"),
    [
        ("10%/day", "", 0, 0),
        ("10%/day", "", 1, 2),
        ("10%/day", "", 86400, 2),
        ("10%/day", "", 86401, 4),
        ("10%/day", "", 11 * 86400, 20),
        ("10%/day", "15min", 900, 0),
        ("10%/day", "15min", 901, 2),
        ("10%/day", "15min", 86400 + 900, 2),
        ("2.5%/hour", "2h", 7201, 0.5),
        ("2.5%/hour", "1d", 86400 + 3601, 1),
        ("100%/day", "", 1, 20),
        ("none", "", 1e9, 0),
    ],
)
def test_each_day_or_hour_that_has_begun_after_the_grace_takes_off_its_share(policy, grace, seconds, penalty):
    assert table.read_policy(policy, grace).penalty(20, seconds) == penalty


@pytest.mark.parametrize(
    ("policy", "grace"),
    [
        ("10", ""),
        ("10%", ""),
        ("10%/week", ""),
        ("200%/day", ""),
        ("-1%/day", ""),
        ("10%/day", "15"),
        ("10%/day", "-1h"),
        ("", ""),
        ("ten", ""),
    ],
)
def test_a_policy_that_cannot_be_understood_is_refused_and_nothing_is_kept(classroom, policy, grace):
    with pytest.raises(GradingError):
        table.set_policy(Course(), Lab(LAB), policy, grace)
    assert not (classroom / "late.csv").exists()


def test_a_lab_has_its_own_policy_or_that_of_all_labs(classroom):
    assert table.policy_of(Lab(LAB)) is None
    table.set_policy(Course(), None, "10%/day", "")
    table.set_policy(Course(), Lab(LAB), "none", "")
    assert table.policy_of(Lab(LAB)).percent == 0 and table.policy_of(Lab("00_trace")).percent == 10
    table.set_policy(Course(), Lab(LAB), "5%/hour", "2h")
    assert table.policy_of(Lab(LAB)).text == "5%/hour, grace 2h" and table.policy_of(Lab("00_trace")).percent == 10


def test_another_rate_keeps_the_grace_before(classroom):
    table.set_policy(Course(), None, "10%/day", "15min")
    assert table.set_policy(Course(), Lab(LAB), "5%/hour") == "5%/hour, grace 15min"
    table.set_policy(Course(), Lab(LAB), "5%/hour", "2h")
    table.set_policy(Course(), Lab(LAB), "10%/hour")
    assert table.policy_of(Lab(LAB)).text == "10%/hour, grace 2h"
    assert table.set_policy(Course(), Lab(LAB), "10%/hour", "0min") == "10%/hour, grace 0min"


def test_what_canvas_marks_as_late_loses_the_least_unless_a_time_or_an_extension_is_known(gradebook, classroom):
    folder = classroom / "downloaded" / LAB
    folder.mkdir(parents=True)
    names = {name: f"{name}_LATE_{number}_88_{LAB}.ipynb" for number, name in enumerate(("ada", "ben", "cem"), 501)}
    (folder / "names.json").write_text(json.dumps(names | {"dora": f"dora_505_88_{LAB}.ipynb"}))
    for student, time in {"ada": None, "ben": "2027-03-15 21:00:00 UTC", "cem": None, "dora": None}.items():
        enter(gradebook, student, 20, *filter(None, [time]))
    gradebook.find_submission(LAB, "cem").extension = timedelta(days=1)
    table.set_policy(Course(), Lab(LAB), "10%/day", "15min")
    assert penalties(gradebook) == {"ada": 2, "ben": 0, "cem": 0, "dora": 0}
    rules = table.Rules(table.policy_of(Lab(LAB)), None, {})
    said = late.remarks(gradebook, Lab(LAB), rules)
    assert "late in Canvas, which does not say how late (1): ada; each loses the share of one day" in said


def test_another_policy_changes_the_penalties_in_the_gradebook_and_points_by_hand_count(gradebook):
    enter(gradebook, "ada", 20, "2027-03-16 23:00:00 UTC")
    enter(gradebook, "ben", 20, "2027-03-15 21:00:00 UTC")
    enter(gradebook, "cem", 20)
    assert penalties(gradebook) == {"ada": 0, "ben": 0, "cem": 0}
    table.set_policy(Course(), Lab(LAB), "10%/day", "")
    assert penalties(gradebook) == {"ada": 4, "ben": 0, "cem": 0}
    mark_by_hand(gradebook, "ada", 4)
    assert penalties(gradebook)["ada"] == 4.8
    assert gradebook.find_submission(LAB, "ada").score == 24
    table.set_policy(Course(), Lab(LAB), "none", "")
    assert penalties(gradebook)["ada"] == 0


def test_what_nbgrader_itself_recorded_stays_where_the_course_has_no_policy(gradebook):
    enter(gradebook, "ada", 20, "2027-03-16 23:00:00 UTC").notebooks[0].late_submission_penalty = 7
    assert penalties(gradebook) == {"ada": 7}


def test_an_export_has_the_penalty_of_the_present_marks(gradebook, classroom):
    enter(gradebook, "ada", 20, "2027-03-16 23:00:00 UTC")
    penalties(gradebook)
    table.set_policy(Course(), Lab(LAB), "10%/day", "")
    mark_by_hand(gradebook, "ada", 4)
    Export(to=str(classroom / "out.csv")).export(gradebook)
    (row,) = csv.DictReader((classroom / "out.csv").open())
    assert [float(row[key]) for key in ("raw_score", "late_submission_penalty", "score")] == [24, 4.8, 19.2]


def test_an_extension_holds_for_one_student_and_one_lab_and_ends_with_its_line(gradebook, classroom):
    table.set_policy(Course(), None, "10%/day", "")
    for student in ("ada", "ben"):
        enter(gradebook, student, 20, "2027-03-17 21:00:00 UTC")
    assert penalties(gradebook) == {"ada": 4, "ben": 4}
    path = classroom / "extensions.csv"
    path.write_text("student, lab, until\nada, 1a, 2027-03-17 20:30:00 UTC\nben, 00, 2027-03-18 00:00:00 UTC\n\n")
    assert penalties(gradebook) == {"ada": 2, "ben": 4}
    assert late.remarks(gradebook, Lab(LAB), table.Rules.of(Lab(LAB))) == ["due 2027-03-15 22:00 UTC: 2 late (10%/day)"]
    path.write_text("student,lab,until\n")
    assert penalties(gradebook) == {"ada": 4, "ben": 4}


def test_without_a_file_of_extensions_those_in_the_gradebook_stay(gradebook):
    table.set_policy(Course(), None, "10%/day", "")
    enter(gradebook, "ada", 20, "2027-03-17 21:00:00 UTC")
    gradebook.grant_extension(LAB, "ada", days=2)
    assert penalties(gradebook) == {"ada": 0}


def test_an_extension_of_a_lab_without_a_due_date_stops_nothing(gradebook):
    table.set_policy(Course(), None, "10%/day", "")
    enter(gradebook, "ada", 20, "2027-03-17 21:00:00 UTC")
    gradebook.grant_extension(LAB, "ada", days=2)
    gradebook.find_assignment(LAB).duedate = None
    assert penalties(gradebook) == {"ada": 0}
    assert late.remarks(gradebook, Lab(LAB), table.Rules.of(Lab(LAB))) == [
        "01a_views has no due date, so no submission is late"
    ]


def test_strange_extensions_are_named(gradebook, classroom):
    enter(gradebook, "ada", 20, DUE)
    (classroom / "extensions.csv").write_text(
        "student,lab,until\nada,01a,2027-03-01 22:00:00 UTC\nbob,01a,2027-03-20 22:00:00 UTC\n"
        "adda,01a,2027-03-20 22:00:00 UTC\n"
    )
    _, unknown, similar, early = late.remarks(gradebook, Lab(LAB), table.Rules.of(Lab(LAB)))
    assert unknown == "there is an extension for bob, who is not in the gradebook" and "did you mean ada?" in similar
    assert "ada" in early
    assert penalties(gradebook) == {"ada": 0}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("student,lab\nada,01a\n", "needs the columns"),
        ("student;lab;until\nada;01a;x\n", "line 2: 'x' is not a time"),
        ("", "needs the columns"),
        ("student,lab,until\nada,01x,2027-03-17 21:00:00 UTC\n", "line 2: there is no lab '01x'"),
        ("student,lab,until\nada,01a,tomorrow at noon or so\n", "line 2: "),
        ("student,lab,until\nada,01a,2027-03-17 21:00:00 Europe/Berlim\n", "no time zone 'Europe/Berlim'"),
        ("student,lab,until\nada,01a,2027-03-17 21:00:00 +0100\n", "no time zone '+0100'"),
        ("student,lab,until\nada,01a,\n", "line 2: '' is not a time"),
        ("student,lab,until\nada,01a,9999-12-31 23:59:59 UTC\n", "is not a time"),
    ],
)
def test_a_mistake_in_the_extensions_stops_grading_before_anything_is_written(classroom, quick_grade, text, words):
    (classroom / "extensions.csv").write_text(text)
    with pytest.raises(GradingError, match="extensions.csv") as caught:
        quick_grade(LAB)
    assert words in str(caught.value) and sorted(os.listdir(classroom)) == ["extensions.csv", "seed"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("2027-03-28 22:00:00 CEST", "no time zone 'CEST'"),
        ("2027-03-28T22:00:00 CEST", "no time zone 'CEST'"),
        ("2027-03-28 22:00:00CEST", "no time zone 'CEST'"),
        ("2027-03-28T22:00:00 Europe/Berlin", "is not a time"),  # nbgrader takes it for UTC
        ("2027-03-28 22:00:00 +0100", "no time zone '+0100'"),
        ("05.03.2027 22:00:00 UTC", "is not a time"),
        ("22:00", "is not a time"),
        ("2027-03-28 22:00:00.123456 UTC\n", ""),
        ("2027-03-28 22:00:00 Europe/Berlin", ""),
        ("2027-03-28T22:00:00+02:00", ""),
        ("2027-03-28 22:00:07", ""),
        ("", ""),
    ],
)
def test_a_time_beside_a_submission_that_nbgrader_takes_for_another_one_is_refused(tmp_path, text, words):
    (tmp_path / "timestamp.txt").write_text(text)
    reason = reason_in_timestamp(tmp_path / "timestamp.txt")
    assert words in reason and bool(reason) == bool(words)


@pytest.mark.parametrize(
    ("due", "time", "policy", "off"),
    [
        ("2027-03-26 22:00:00 Europe/Berlin", "2027-03-28 21:59:00 Europe/Berlin", "10%/day", 4),  # 46:59 h
        ("2027-03-26 22:00:00 Europe/Berlin", "2027-03-28 22:01:00 Europe/Berlin", "10%/day", 6),  # 47:01 h
        ("2027-10-30 22:00:00 Europe/Berlin", "2027-10-31 22:00:00 Europe/Berlin", "10%/day", 2),  # 25 h
        ("2027-10-30 22:00:00 Europe/Berlin", "2027-10-31 22:01:00 Europe/Berlin", "10%/day", 4),
        ("2027-10-30 20:00:00 UTC", "2027-10-31 20:30:00 UTC", "10%/day", 4),
        ("2027-10-30 22:00:00 Europe/Berlin", "2027-10-31 22:00:00 Europe/Berlin", "10%/hour", 20),
        ("2027-10-31 02:50:00 Europe/Berlin", "2027-10-31 01:10:00 UTC", "10%/day", 2),  # 2:10, for the second time
        ("2027-03-28 01:59:00 Europe/Berlin", "2027-03-28 03:01:00 Europe/Berlin", "10%/day", 2),  # 2 min
    ],
)
def test_late_days_end_at_the_hour_of_the_due_date_also_when_its_clocks_change(gradebook, due, time, policy, off):
    gradebook.update_or_create_assignment(LAB, duedate=due)
    late.keep_zone(Lab(LAB), due)
    enter(gradebook, "ada", 20, time)
    table.set_policy(Course(), None, policy, "")
    assert penalties(gradebook) == {"ada": off}
    (line,) = late.remarks(gradebook, Lab(LAB), table.Rules.of(Lab(LAB)))
    assert line.startswith(f"due {due[:16]} {due.rpartition(' ')[2]}: 1 late")


def test_a_due_date_in_an_unknown_zone_is_refused(gradebook):
    with pytest.raises(ValueError, match="no time zone 'CEST'"):
        late.keep_zone(Lab(LAB), "2027-03-15 22:00:00 CEST")
    assert late.zone_of(Lab(LAB)) == "UTC"


def test_the_same_notebook_handed_in_again_when_it_is_late_costs_nothing_and_a_line_says_why(gradebook, classroom):
    table.set_policy(Course(), None, "10%/day", "")
    enter(gradebook, "ada", 20)
    path = classroom / "submitted" / "ada" / LAB / f"{LAB}.ipynb"
    path.parent.mkdir(parents=True)

    def hand_in(text, time):
        path.write_text(text)
        path.with_name("timestamp.txt").write_text(time)
        return penalties(gradebook)["ada"], late.came_again(Lab(LAB), gradebook.find_submission(LAB, "ada"))

    assert hand_in("first", "2027-03-15 21:00:00 UTC") == (0, "")
    line = "handed in again at 2027-03-16 23:00 UTC, unchanged: the first time counts, 2027-03-15 21:00 UTC"
    assert hand_in("first", "2027-03-16 23:00:00 UTC") == (0, line)
    assert hand_in("second", "2027-03-16 23:00:00 UTC") == (4, "")
    assert hand_in("second", "2027-03-18 23:00:00 UTC")[0] == 4
    assert hand_in("first", "2027-03-18 23:00:00 UTC")[0] == 0
    assert hand_in("second", "no time") == (0, "")  # the one in the gradebook stays, because nothing is graded
    assert len((classroom / "handed_in" / f"{LAB}.csv").read_text().splitlines()) == 3


def test_the_same_notebook_that_canvas_marks_as_late_when_it_comes_again_costs_nothing(gradebook, classroom):
    table.set_policy(Course(), None, "10%/day", "")
    names, path = classroom / "downloaded" / LAB / "names.json", classroom / "submitted" / "ada" / LAB / f"{LAB}.ipynb"
    for folder in (names.parent, path.parent):
        folder.mkdir(parents=True)
    enter(gradebook, "ada", 20)

    def hand_in(text, mark):
        path.write_text(text)
        names.write_text(json.dumps({"ada": f"ada_{mark}501_88_{LAB}.ipynb"}))
        return penalties(gradebook)["ada"], late.came_again(Lab(LAB), gradebook.find_submission(LAB, "ada"))

    assert hand_in("first", "") == (0, "")
    assert hand_in("first", "LATE_") == (
        0,
        "handed in again, unchanged: the first time counts, which was not late in Canvas",
    )
    assert hand_in("second", "LATE_") == (2, "")


def test_a_time_is_read_in_its_zone_also_where_the_clock_is_changed():
    hours = {text: table.read_time(f"{text} 22:00:00 Europe/Berlin").hour for text in ("2027-03-27", "2027-03-28")}
    assert hours == {"2027-03-27": 21, "2027-03-28": 20}
    same = ["2027-03-15 22:00:00 UTC", "2027-03-15 22:00:00", "2027-03-15T23:00:00+01:00", "2027-03-15 22:00"]
    assert {table.read_time(text) for text in same} == {table.read_time(DUE)}


def test_the_time_beside_a_submission_counts_without_grading_again(gradebook, classroom):
    table.set_policy(Course(), None, "10%/day", "")
    enter(gradebook, "ada", 20)
    assert late.remarks(gradebook, Lab(LAB), table.Rules.of(Lab(LAB))) == [
        "due 2027-03-15 22:00 UTC: 0 late (10%/day), 1 without a time, which count as on time"
    ]
    path = classroom / "submitted" / "ada" / LAB / "timestamp.txt"
    path.parent.mkdir(parents=True)
    path.write_text("2027-03-16 00:00:00 Europe/London\n")
    assert penalties(gradebook) == {"ada": 2}
    path.write_text("no time at all")
    assert penalties(gradebook) == {"ada": 2}


@pytest.mark.sweep
def test_grading_takes_points_off_and_another_policy_writes_the_page_again_but_marks_nothing(
    classroom, tmp_path_factory, monkeypatch, quick_grade, isolated
):
    (classroom / "seed").write_text("1")
    place = tmp_path_factory.mktemp("sample")
    sample.make(place)
    shutil.copytree(place / "submitted" / "half_done", classroom / "submitted" / "half_done")
    (classroom / "submitted" / "half_done" / LAB / "timestamp.txt").write_text("2027-03-16 23:00:00 UTC")
    with open_marked() as gradebook:
        gradebook.update_or_create_assignment(LAB, duedate=DUE)
    page = classroom / "feedback" / "half_done" / LAB / f"{LAB}.html"

    table.set_policy(Course(), Lab(LAB), "10%/day", "15min")
    (row,) = quick_grade(LAB)
    assert (row.earned, row.penalty, row.total) == pytest.approx((HALF, HALF * 0.2, HALF * 0.8))
    assert row.remark() == f"late by 25:00 h: {row.penalty:g} points off; not attempted: {LEFT}"
    assert f"{row.penalty:g} points were taken off" in page.read_text() and f">{row.total:g} of " in page.read_text()
    graded = (classroom / "autograded" / "half_done" / LAB / f"{LAB}.ipynb").stat().st_mtime_ns

    table.set_policy(Course(), Lab(LAB), "50%/day", "1h")
    (row,) = quick_grade(LAB)
    assert row.penalty == row.total == HALF / 2 and f"{HALF / 2:g} points were taken off" in page.read_text()
    assert (classroom / "autograded" / "half_done" / LAB / f"{LAB}.ipynb").stat().st_mtime_ns == graded
    (line,) = csv.DictReader(write_csv(Lab(LAB), [row]).open())
    assert [float(line[key]) for key in ("hours late", "late penalty", "total", "maximum", "mark")] == [
        25,
        HALF / 2,
        HALF / 2,
        POINTS,
        HALF / 2,
    ]


# A term --------------------------------------------------------------------------------------------------------------


def test_a_terms_total_leaves_out_the_labs_with_the_smallest_share(gradebook, classroom):
    with open_marked("00_trace"):
        pass
    enter(gradebook, "ada", ALL / 2, first_name="=1+1", last_name='Poe, "A."')
    enter(gradebook, "ada", 37, lab="00_trace")
    enter(gradebook, "ben", ALL / 4)
    worth = {lab: gradebook.find_assignment(lab).max_score for lab in (LAB, "00_trace")}
    assert worth == {LAB: ALL, "00_trace": 37}

    def table(drop):
        Term(to=str(classroom / "term.csv"), drop=drop).export(gradebook)
        return {row["id"]: row for row in csv.DictReader((classroom / "term.csv").open(newline=""))}

    rows = table(0)
    assert [rows["ada"][key] for key in ("00_trace", LAB, "sum", "maximum", "dropped")] == [
        "37.0",
        str(ALL / 2),
        str(ALL / 2 + 37),
        str(ALL + 37.0),
        "",
    ]
    assert rows["ada"]["first_name"] == "'=1+1" and rows["ada"]["last_name"] == 'Poe, "A."'
    assert rows["ben"]["00_trace"] == "" and float(rows["ben"]["percent"]) == round(100 * ALL / 4 / (ALL + 37), 2)
    rows = table(1)
    assert (rows["ada"]["dropped"], rows["ada"]["percent"]) == (LAB, "100.0")
    assert (rows["ben"]["dropped"], rows["ben"]["percent"]) == ("00_trace", "25.0")
    assert table(9)["ada"]["percent"] == "100.0"  # one lab counts in any case


def test_a_policy_written_by_hand_may_name_a_lab_in_short_and_have_a_column_of_its_own(classroom):
    (classroom / "late.csv").write_text("lab,late,grace,why\nevery lab,10%/day,,term\n1a,5%/day,,first lab\n")
    assert table.policy_of(Lab(LAB)).text == "5%/day" and table.policy_of(Lab("01b_reshape")).text == "10%/day"
    table.set_policy(Course(), Lab(LAB), "20%/day", "1h")
    assert (
        table.policy_of(Lab(LAB)).text == "20%/day, grace 1h" and table.policy_of(Lab("01b_reshape")).text == "10%/day"
    )
    with (classroom / "late.csv").open() as file:
        assert {row["lab"]: row["why"] for row in csv.DictReader(file)} == {"every lab": "term", LAB: "first lab"}


@pytest.mark.parametrize("rows", [f"01a,5%/day,\n{LAB},none,\n", "every lab,5%/day,\nevery lab,none,\n", "01x,none,\n"])
def test_two_policies_for_a_lab_are_refused(classroom, rows):
    (classroom / "late.csv").write_text(f"lab,late,grace\n{rows}")
    with pytest.raises(GradingError, match="late.csv"):
        table.policy_of(Lab(LAB))


def test_without_its_policy_a_lab_has_no_penalty(gradebook, classroom):
    enter(gradebook, "ada", 20, "2027-03-16 12:00:00 UTC")
    table.set_policy(Course(), Lab(LAB), "10%/day", "")
    assert penalties(gradebook) == {"ada": 2}
    (classroom / "late.csv").unlink()
    assert penalties(gradebook) == {"ada": 0}


def test_an_extension_for_another_phase_stops_nothing(classroom):
    path = classroom / "extensions.csv"
    path.write_text(f"student,lab,until\nada,77,x\nada,02,{DUE}\nada,1a,{DUE}\n")
    assert [*table.read_extensions(Lab(LAB))] == ["ada"]
    path.write_text(f"student,lab,until\nada,01,{DUE}\n")
    with pytest.raises(GradingError, match="several labs"):
        table.read_extensions(Lab(LAB))
