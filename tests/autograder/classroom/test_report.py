"""The class report, as its instructor reads it."""

import re

import nbformat
import pytest
from first_lab import CHECKS, POINTS, WORTH

from autograder.classroom.grade import Row
from autograder.classroom.items import cases, discrimination, rank_correlation
from autograder.classroom.pages import COLOURS, LINES
from autograder.classroom.report import write_report
from autograder.classroom.restore import aliases, edited_checks, verdict_in
from autograder.course import ROOT
from autograder.engine.check import short_name
from autograder.engine.run import outputs_of
from autograder.engine.verdict import OUTCOMES, Verdict
from autograder.model import Course, Lab, exercise_name

LAB = "01a_views"
FIRST = "aten.strided.element_offset"


def row(student, passed, **more):
    """A student who passes the first `passed` checks, and fails the others on the same case."""
    scores, verdicts = {}, {}
    for i, (check, worth) in enumerate(Lab(LAB).points.items()):
        scores[check] = worth if i < passed else 0.0
        wrong = {"outcome": "disagreed", "message": "[0]", "case": "sizes = [0]"}
        verdicts[check] = {"outcome": "passed"} if i < passed else wrong
    return Row(student, scores, verdicts, **more)


@pytest.fixture
def page(tmp_path, monkeypatch):
    monkeypatch.setenv("RUSHLIGHT_CLASSROOM", str(tmp_path))
    return lambda *rows, **more: write_report(Lab(LAB), [*rows], **more).read_text(encoding="utf-8")


def test_a_cell_of_the_map_leads_to_the_feedback_by_a_relative_path(page):
    said = page(row("ada b", 3), Row("cem", problem="no notebook"))
    assert f'href="feedback/ada%20b/{LAB}/{LAB}.html#check-aten-strided-element_offset"' in said
    assert "feedback/cem" not in said and "no notebook" in said
    assert not re.findall(r"(?:src|href)=\"?(?:https?:|//|/)", said)


def test_a_case_that_one_student_has_is_in_the_report(page):
    rows = [row("ada", CHECKS - 1), row("ben", CHECKS), row("cem", CHECKS - 1), row("dan", CHECKS - 2)]
    (last, two), (other, one) = [(check, count) for check, *_, count in cases(rows)]
    assert (last, two, other, one) == ([*WORTH][-1], 3, [*WORTH][-2], 1)
    assert page(row("ada", 9)).count("sizes = [0]") >= 1


def test_the_most_common_case_is_a_line_and_says_where_it_is_cut(page):
    ada = row("ada", 1)
    for i, verdict in enumerate(ada.verdicts.values()):
        verdict |= {"case": f"sizes = [{i}]\n  dim = 0" + i * "0123456789"} if "case" in verdict else {}
    said = page(ada)
    assert "1 × sizes = [1], dim = 00123456789</code>" in said and "1 × sizes = [6], dim = 00123" in said
    assert re.search(r"sizes = \[6\], dim = \d+ …</code>", said)


def test_discrimination_is_the_correlation_with_the_other_points():
    good, bad = [row(f"g{i}", CHECKS) for i in range(5)], [row(f"b{i}", 0) for i in range(5)]
    assert discrimination(good + bad, FIRST) == pytest.approx(1)
    assert discrimination([row("a", CHECKS), row("b", CHECKS)], FIRST) == 0


def test_changed_check_cells_are_found_and_flagged(page):
    released = Lab(LAB).release.nodes
    copy = {"cells": [dict(cell) for cell in released.cells]}
    assert edited_checks(copy, released) == []
    next(cell for cell in copy["cells"] if cell["id"] == "check-aten-strided-permute")["source"] = "pass"
    assert edited_checks(copy, released) == ["aten.strided.permute"]
    assert "put back for grading: permute" in page(row("ada", 3, edited=["aten.strided.permute"]))


def test_an_exercise_whose_check_cell_was_changed_is_not_shown_as_one_that_was_only_left_out(page):
    meddled = row("ada", 3, edited=[FIRST, "aten.strided.select"])
    meddled.verdicts |= {check: {"outcome": "not attempted"} for check in ("aten.strided.select", "aten.strided.slice")}
    cells = re.findall(r'aria-label="ada, ([^"]*)">(.)<', page(meddled))
    assert ("aten.strided.select: not attempted, changed check cell", "⚑") in cells
    assert ("aten.strided.slice: not attempted", "–") in cells and (
        f"{FIRST}: passed, changed check cell",
        "✓",
    ) in cells
    assert meddled.remark().startswith("changed check cells, put back: element_offset, select; ")


def test_totals_are_counted_in_ranges_of_whole_points(page):
    totals = [POINTS, 0.5, POINTS - 1, POINTS - 3.75]
    rows = [row(f"s{number}", CHECKS, penalty=POINTS - total) for number, total in enumerate(totals)]
    said = page(*rows).partition('which total">')[2].partition("</table>")[0]
    bars = re.findall(r'<td class="number">(\d+)(?: to (\d+))?</td>.*?<td>(\d+)</td>', said)
    ranges = {range(int(first), int(last or first) + 1): int(count) for first, last, count in bars}
    assert [number for each in ranges for number in each] == [*range(int(POINTS) + 1)] and len({*map(len, ranges)}) <= 2
    assert said.count('class="bar"') == sum(count > 0 for count in ranges.values())
    assert ranges == {each: sum(int(total) in each for total in totals) for each in ranges}


def _luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear))


def _contrast(one, other):
    bright, dark = sorted(map(_luminance, (one, other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("kind", COLOURS)
def test_text_has_the_contrast_of_wcag_aa_in_both_schemes(kind):
    light, light_behind, dark, dark_behind = COLOURS[kind]
    assert _contrast(light, light_behind) >= 4.5 and _contrast(dark, dark_behind) >= 4.5


@pytest.mark.parametrize("kind", LINES)
def test_lines_and_bars_have_the_contrast_of_wcag_aa_in_both_schemes(kind):
    for colour, behind in zip(LINES[kind], COLOURS["page"][1::2]):
        assert _contrast(colour, behind) >= 3


@pytest.mark.parametrize("kind", ["muted", "link", "pass"])
def test_coloured_code_has_the_contrast_of_wcag_aa_in_both_schemes(kind):
    for colour, behind in zip(COLOURS[kind][::2], COLOURS["code"][1::2]):
        assert _contrast(colour, behind) >= 4.5


def test_all_colours_of_the_page_are_those_that_are_tested(page):
    style = re.search(r"<style>(.*?)</style>", page(row("ada", 3)), re.S)[1]
    rules = re.sub(r"--[\w-]+:[^;]*;", "", style)
    assert not re.findall(r"#[0-9a-f]{3,8}\b|rgb|hsl", rules)
    assert {*re.findall(r"var\(--([\w-]+)\)", rules)} <= {*LINES, *COLOURS, *(f"{kind}-b" for kind in COLOURS)}


def test_not_attempted_has_the_sign_of_a_verdict_and_not_graded_another_one(page):
    attempted = row("ada", 9)
    attempted.verdicts["together.strided_views"] = {"outcome": "not attempted"}
    said = page(attempted, Row("cem", problem="no notebook"))
    assert Verdict("x.y", "not attempted").mark == "–"
    marks = re.findall(r'aria-label="(\w+), together[^:]*: ([^"]*)">([^<]*)<', said)
    assert marks == [("ada", "not attempted", "–"), ("cem", "not graded", "○")]
    attempted.verdicts["together.strided_views"] = {"outcome": "died"}
    assert "<li>ada, strided_views: died</li>" in page(attempted)
    assert "– not attempted" in said and "○ not graded" in said and "·" not in said


def test_the_report_says_what_is_next_which_exercise_is_the_hardest_and_who_may_need_help(page):
    good, nothing = row("ada", CHECKS, waiting=2), row("dan", CHECKS)
    nothing.verdicts |= {check: {"outcome": "not attempted"} for check in nothing.verdicts}
    meddled, half = row("fay", 0, edited=[FIRST]), row("gus", CHECKS // 2)
    meddled.verdicts = nothing.verdicts
    half.verdicts |= {check: {"outcome": "not attempted"} for check in [*WORTH][CHECKS // 2 :]}
    eva = Row("eva", problem="no notebook")
    said = page(good, row("ben", 3), row("cem", CHECKS - 1), nothing, eva, meddled, half)
    assert "not be graded: 1." in said and "wait for your mark: 2," in said and "rushlight grade 01a" in said
    assert f"<dt>hardest exercise</dt><dd>{short_name([*WORTH][-1])}: 33 % pass</dd>" in said
    help_ = said.partition('<h2 id="help">')[2].partition("<h2")[0]
    assert re.findall(r">(\w+)</a></th>", help_) == ["ben", "gus"]
    words = re.sub(r"<[^>]+>", "", help_)
    assert "Nothing was attempted by 1: dan." in words and "The submissions of 1 could not be graded: eva." in words
    assert "Nothing was attempted, and check cells were changed, by 1: fay." in words
    assert re.search(r'id="look".*<a href="feedback/fay/[^>]+>fay</a>', said) and "Moodle" not in said
    tied = page(row("ada", CHECKS - 2), row("ben", CHECKS - 2))
    names = ", ".join(map(short_name, [*WORTH][-2:]))
    assert f"<dt>hardest exercises</dt><dd>{names}: 0 % pass</dd>" in tied
    assert "hardest exercise" not in page(row("ada", CHECKS - 2), row("ben", CHECKS))
    empty = re.sub(r"<[^>]+>", "", page(nothing).partition('<h2 id="help">')[2].partition("<h2")[0])
    assert "Nothing was attempted by 1: dan." in empty and "None." not in empty
    assert '<a href="#look">The reasons are below.</a>' in said
    assert [*re.findall(r'<a href="#(\w+)">', said.partition("<nav>")[2])] == [*re.findall(r'<h2 id="(\w+)">', said)]
    assert "wait for your mark" not in page(row("ada", CHECKS)) and "None." in page(row("ada", CHECKS))


def test_the_commands_of_the_report_name_a_class_that_is_not_in_classroom(page, monkeypatch, tmp_path):
    monkeypatch.setattr("autograder.classroom.report.downloads", lambda lab: {"ada": ("1", "ada_1_2_01a.ipynb")})
    assert f"rushlight feedback 01a --class {tmp_path}<" in page(row("ada", CHECKS))
    for folder, name in (("classroom", ""), ("sample", f"{ROOT}/sample"), ("our class", f"'{ROOT}/our class'")):
        monkeypatch.setenv("RUSHLIGHT_CLASSROOM", str(ROOT / folder))
        assert Course().name == name


@pytest.mark.parametrize(
    ("body", "called"),
    [
        ("    return dense_strides(sizes)", "dense_strides"),
        (
            '    """The strides."""\n    from rushlight.c10 import memory_formats\n    return memory_formats.dense_strides(sizes)',
            "dense_strides",
        ),
        ("    return rl.c10.memory_formats.dense_strides(sizes)", "dense_strides"),
        (
            "    from rushlight.c10.memory_formats import dense_strides as permute\n    return permute(sizes)",
            "dense_strides",
        ),
        ("    result = dense_strides(list(sizes))\n    return tuple(result)", "dense_strides"),
        ("    return (lambda s: dense_strides(s))(sizes)", "dense_strides"),
        ("    return functools.partial(formats.dense_strides, sizes)()", "dense_strides"),
        ("    return getattr(formats, 'dense_strides')(sizes)", "dense_strides"),
        ("    return vars(formats)['dense_strides'](sizes)", "dense_strides"),
        ("    return importlib.import_module('rushlight.c10.memory_formats').dense_strides(sizes)", "dense_strides"),
        ("    return sizes.dense_strides()", "dense_strides"),
        ("    return helper(sizes)\n\ndef helper(sizes):\n    return dense_strides(sizes)", "dense_strides"),
        ("    return helper(sizes)\n\nhelper = lambda s: dense_strides(s)", "dense_strides"),
        ("    return Own().of(sizes)\n\nclass Own:\n    of = staticmethod(dense_strides)", "dense_strides"),
        ("    return formats.dense_strides(sizes)\n\ndense_strides = 0", "dense_strides"),
        ("    return Own(sizes)\n\nclass Own(dense_strides):\n    pass", "dense_strides"),
        ("    class Own:\n        def __init__(self):\n            self.n = 1\n    return Own()", None),
        ("    return tuple(sizes)", None),
        ("    return sizes.append(1)", None),
        ("    return dense_strides([*sizes, 1])", None),
        ("    return unsqueeze(sizes)", None),
        ("    return contiguous_strides(sizes)", None),
        ("    return helper(sizes)\n\ndef helper(sizes):\n    return helper(sizes)", None),
        ("    return helper(sizes)\n\ndef helper(sizes):\n    return dense_strides(sizes)[:1]", None),
        ("    return one(sizes)\n\none = other\nother = one", None),
        ("    return (", None),
    ],
)
def test_a_body_that_only_calls_what_the_lab_does_not_name_is_told_to_the_instructor(page, body, called):
    exercise, released = "aten.strided.contiguous_strides", Lab(LAB).release.nodes
    copy = {"cells": [dict(cell) for cell in released.cells]}
    next(cell for cell in copy["cells"] if exercise_name(cell) == exercise)["source"] = (
        f"@exercise(rl.strided)\ndef contiguous_strides(sizes):\n{body}"
    )
    found = aliases(copy, released)
    assert found == ({"contiguous_strides": called} if called else {})
    if found:
        alias = row("ada", 9, aliases=found)
        assert "contiguous_strides only calls dense_strides" in page(alias) and "only calls" in alias.remark()


def test_a_prediction_about_the_programs_of_another_name_is_told_to_the_instructor(page):
    check = "course.predictions.backward_order"
    for name, is_told in (("Bob", True), ("ada", False), (" Ada ", False)):
        about = row("ada", 9)
        about.verdicts[check] = {"outcome": "passed", "drawn_for": name}
        assert (f"is about the programs of {name}" in page(about)) == is_told == ("the programs of" in about.remark())


def test_no_solution_is_taken_for_an_alias():
    labs = Course().released_labs()
    solutions = [nbformat.read(ROOT / "solutions" / lab.name / f"{lab.name}.ipynb", as_version=4) for lab in labs]
    assert {
        lab.name: found for lab, solution in zip(labs, solutions) if (found := aliases(solution, lab.released))
    } == {}


@pytest.mark.parametrize("outcome", sorted(OUTCOMES))
def test_what_grading_writes_into_the_cell_of_a_check_is_read_again(outcome):
    verdict = Verdict("a.check", outcome, 3, 2, 0.5, "differs", case={"x": 1}, notes=["late"], counts={"sectors": 4})
    read = verdict_in({"outputs": outputs_of(verdict)})
    assert read["outcome"] == outcome and read["counts"] == {"sectors": 4} and read["notes"] == ["late"]


def test_shares_by_exam_are_beside_those_by_lab_and_nothing_is_without_an_exam(page):
    rows = [row("ada", CHECKS), row("ben", 0), Row("cem", problem="no notebook")]
    said = page(*rows, by_exam={"ada": 0.25, "cem": 0.5})
    shown = re.findall(r'data-key="([^"]*)"><span>((?:\d+ %)?)</span>', said)
    assert shown == [("1.0", "100 %"), ("0.25", "25 %"), ("0.0", "0 %"), ("-1", ""), ("-1", ""), ("0.5", "50 %")]
    assert "by exam" in said and "rank correlation" not in said, "one student has both"
    assert "exam" not in page(*rows).partition("<nav>")[2], "after the commands, which name the folder of this test"


def test_the_rank_correlation_of_lab_and_exam_needs_five_students_who_have_both(page):
    rows = [row(f"s{i}", 2 * i) for i in range(5)]
    shares = {each.student: i / 4 for i, each in enumerate(rows)}
    assert "correlation of the two is 1.00" in page(*rows, by_exam=shares)
    assert "correlation of the two is -1.00" in page(*rows, by_exam={name: 1 - share for name, share in shares.items()})
    assert "rank correlation" not in page(*rows[:4], by_exam=shares)
    assert "rank correlation" not in page(*rows, by_exam=dict.fromkeys(shares, 0.5)), "all have one share"


def test_equal_numbers_share_the_mean_of_their_ranks():
    assert rank_correlation([(1, 1), (1, 2), (2, 3)]) == pytest.approx(3**0.5 / 2)
    assert rank_correlation([(1, 10), (2, 1000), (3, 999)]) == pytest.approx(0.5)
    assert rank_correlation([(1, 1), (1, 2)]) is None
