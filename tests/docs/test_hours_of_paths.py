"""The four paths: their labs and sections are there, in an order that a student can follow, and take 12 to 15 hours."""

import re
from pathlib import Path

import pytest
from markdown.extensions.toc import slugify, unique

from autograder import paths
from docs.programs.hooks import divided, notebooks
from docs.programs.hooks import paths as hook
from docs.programs.hooks.tab import why_not

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/paths.md").read_text(encoding="utf-8")
PHASES = notebooks.phases(ROOT)


@pytest.mark.parametrize("path", paths.PATHS)
def test_a_path_takes_12_to_15_hours(path):
    assert 12 <= float(hook.hours(path).split()[0]) <= 15


@pytest.mark.parametrize("path", paths.PATHS)
def test_the_labs_that_a_lab_needs_are_before_it_or_named_in_the_text(path):
    numbers = paths.PATHS[path]
    text = PAGE.partition(f"{{ #{path} }}")[2].partition("## ")[0]
    for place, lab in enumerate(paths.labs_of(path)):
        assert all(need in numbers[:place] or f"lab {need}" in text for need in paths.needs_of(lab)), lab


@pytest.mark.parametrize("path", paths.PATHS)
def test_each_lab_in_a_browser_says_what_it_gives_those_after_it(path):
    *labs, _ = paths.labs_of(path)
    assert [lab.number for lab in labs if not why_not(lab.name)] == [*hook.GIVES[path]]


def test_needs_are_those_that_a_lab_names():
    course = paths.Course()
    needs = {number: paths.needs_of(course.find_lab(number)) for number in ("01a", "07d", "11c", "14c", "15c")}
    assert needs == {"01a": [], "07d": [], "11c": ["00", "11b"], "14c": ["14a", "14b"], "15c": ["15a"]}


@pytest.mark.parametrize("path", paths.PATHS)
def test_a_path_has_each_section_once_and_only_those_about_its_labs(path):
    chosen = paths.sections_of(path)
    core = {exercise for lab in paths.labs_of(path) for exercise in lab.core}
    sections = [section for each in chosen.values() for section in each]
    assert sections and len({*sections}) == len(sections) and all(section.exercises & core for section in sections)
    about = {exercise for section in paths.sections() for exercise in section.exercises}
    assert core & about == core & {exercise for section in sections for exercise in section.exercises}


@pytest.mark.parametrize("path", paths.PATHS)
def test_no_section_of_a_path_comes_after_a_lab_of_a_later_phase(path):
    latest = "00"
    for lab, sections in zip(paths.labs_of(path), paths.sections_of(path).values(), strict=True):
        assert all(section.phase[:2] >= latest for section in sections)
        latest = max(latest, lab.phase)


def test_a_section_of_a_path_is_a_heading_of_its_reading_and_a_page_has_its_anchor():
    for phase in PHASES:
        taken = set()
        anchors = {
            unique(slugify(title, "-"), taken)
            for cell in phase.reading.read().cells
            for _, title in divided.headings(cell)
        }
        for section in paths.sections():
            if section.phase == phase.name and section.exercises:
                assert slugify(divided.plain(section.title), "-") in anchors, section.title


def test_the_page_has_each_path_with_its_name_and_its_table():
    assert re.findall(r"<!-- path: (\w+) -->", PAGE) == [*paths.PATHS] == re.findall(r"\{ #(\w+) \}", PAGE)


def test_the_table_of_a_path_leads_to_labs_and_sections():
    config = type("Config", (), {"extra": {"phases": PHASES}})
    table = hook.table("kernels", config)
    link = '[14c Products](phases/14_kernels/14c_products.md){ data-page="Lab 14c · Products" }'
    assert f"{link}<br><small>with the ideas of 14a, 14b</small>" in table
    assert '[What one thread does](phases/14_kernels/reading.md#what-one-thread-does){ data-page="Part 14a · ' in table
    assert len(re.findall(r"^\|", table, re.MULTILINE)) == 2 + len(paths.PATHS["kernels"]) + 1


def test_numbers_in_a_table_lead_to_labs_and_readings():
    config = type("Config", (), {"extra": {"phases": PHASES}})
    text = "In 12 to 15 hours.\n\n| 12 · a model | 02a, `f(01, 02)`, [03](x.md), 99 |"
    row = "| [12](phases/12_minigpt/reading.md) · a model | [02a](phases/02_dispatcher/02a_keys.md), `f(01, 02)`, [03](x.md), 99 |"
    assert hook.linked(text, config).replace("{ .of-phase }", "") == f"In 12 to 15 hours.\n\n{row}"


@pytest.mark.parametrize(
    ("minutes", "said"),
    [
        (3, "5 minutes"),
        (37, "35 minutes"),
        (52, "1 hour"),
        (96, "1.5 hours"),
        (118, "2 hours"),
        (135, "2.5 hours"),
        (839, "14 hours"),
    ],
)
def test_a_time_is_said_in_rounded_words(minutes, said):
    assert paths.in_words(minutes) == said


@pytest.mark.parametrize(
    "text",
    [
        '**Question.** Which one?\n\n```python tags=["setup"]\nnothing = 0  # is read here?\n```',
        "**Question.** Which one?",
        "<p><strong>Question.</strong> Which one?</p>\n<pre>what it prints</pre>",
        '<p><span lang="en"><strong>Question.</strong> Which one?</span></p>',
    ],
)
def test_a_question_takes_a_minute_and_its_words(text):
    assert paths.reading_minutes(text) == pytest.approx(1 + 3 / paths.WORDS_A_MINUTE)


def test_a_label_without_a_question_takes_only_its_words():
    assert paths.reading_minutes("**Broadcast.** All operands.\n" * 60) == 1
