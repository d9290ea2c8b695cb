"""The plan of a term, and what other pages count, agree with the sources of the labs."""

import re
from functools import cache

import pytest
from sweep import sweep

from autograder.author.build import effort_of
from autograder.course import ROOT
from autograder.model import Course, Lab, lab_names, number_of, phases

ROW = re.compile(r"^\| *(\d+) \| (.*?) ?\| (.+) \| ([\d.]+) \| ([\d.]+) \| ([\d +]+) \|", re.MULTILINE)


effort = cache(lambda name: effort_of(Lab(name)))


def read(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


WEEKS = ROW.findall(read("docs/term.md"))
NUMBERS = {
    13: "thirteen",
    14: "fourteen",
    15: "fifteen",
    16: "sixteen",
    23: "twenty-three",
    24: "twenty-four",
    25: "twenty-five",
    26: "twenty-six",
    27: "twenty-seven",
    28: "twenty-eight",
}


def in_half_hours(minutes: int) -> float:
    return round(minutes / 30) / 2


def test_the_term_has_every_lab_once_and_in_order():
    assert [number for week in WEEKS for number in week[2].split(", ")] == [number_of(lab) for lab in lab_names()]


@pytest.mark.parametrize(("week",), sweep([(week,) for week in WEEKS], every=4), ids=lambda week: week[0])
def test_a_week_has_the_hours_and_the_points_of_its_labs(week):
    efforts = [effort(Course().find_lab(number).name) for number in week[2].split(", ")]
    core, further = (in_half_hours(sum(each.minutes[i] for each in efforts)) for i in (False, True))
    worth = " + ".join(f"{sum(each.points):g}" for each in efforts)
    assert week[3:] == (f"{core:g}", f"{further:g}", worth)


@pytest.mark.parametrize("page", ["docs/term.md", "docs/students.md"])
def test_a_page_has_the_hours_of_all_labs_together(page):
    core, further = (round(sum(effort(lab).minutes[i] for lab in lab_names()) / 60) for i in (False, True))
    words = f"The core of all labs takes about {core} hours, and the further exercises {further} hours more."
    assert words in read(page)


@pytest.mark.parametrize("page", ["docs/term.md", "docs/paths.md"])
def test_a_page_counts_the_weeks_of_the_term(page):
    assert f"{NUMBERS[len(WEEKS)]} weeks" in read(page)


def test_the_term_counts_the_phases():
    assert f"all {NUMBERS[len(phases())]} phases" in read("docs/term.md")


def test_the_readme_leads_to_every_reading_and_every_lab():
    links = set(re.findall(r"\((\S+\.ipynb)\)", read("README.md")))
    readings = {f"phases/{phase}/reading.ipynb" for phase in phases()}
    assert links == readings | {f"labs/{lab}/{lab}.ipynb" for lab in lab_names()}
