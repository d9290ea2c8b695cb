"""The plan of a term says of the labs what their sources say."""

import re

import pytest

from autograder.build import effort_of
from autograder.course import ROOT, find_lab, labs, number_of

ROW = re.compile(r"^\| *(\d+) \| (.*?) ?\| (.+) \| ([\d.]+) \| ([\d.]+) \| ([\d +]+) \|", re.MULTILINE)
WEEKS = ROW.findall((ROOT / "docs/term.md").read_text(encoding="utf-8"))


def in_half_hours(minutes: int) -> float:
    return round(minutes / 30) / 2


def test_the_term_has_every_lab_once_and_in_order():
    assert [number for week in WEEKS for number in week[2].split(", ")] == [number_of(lab) for lab in labs()]


@pytest.mark.parametrize("week", WEEKS, ids=lambda week: week[0])
def test_a_week_has_the_hours_and_the_points_of_its_labs(week):
    efforts = [effort_of(find_lab(number)) for number in week[2].split(", ")]
    core, further = (in_half_hours(sum(effort.minutes[i] for effort in efforts)) for i in (False, True))
    worth = " + ".join(f"{sum(effort.points):g}" for effort in efforts)
    assert week[3:] == (f"{core:g}", f"{further:g}", worth)
