"""`rushlight review`: what is asked, when it is asked again, and the file that keeps it."""

import io
import json
import os
import pty
import re
import shutil
import subprocess
import sys
from datetime import date, timedelta

import pytest

from autograder import cli, model
from autograder.cli import deck, review
from autograder.cli.deck import AGAIN, EASY, GOOD, HARD, Card
from autograder.exam.draw import change_of, prediction_of
from autograder.exam.marking import mark
from autograder.model import Course, phases

TODAY = date.today().isoformat()


@pytest.mark.parametrize(
    ("grades", "days"),
    [
        ([GOOD] * 6, [2, 5, 13, 33, 83, 208]),  # with the first ease, 2.5
        ([EASY] * 4, [4, 13, 45, 164]),  # 2.5, 2.65 and 2.8, and each a third more
        ([HARD] * 10, [1, 2, 3, 4, 5, 6, 8, 10, 12, 15]),  # 1.2
        ([HARD] * 11 + [GOOD] * 2, [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 24, 32]),  # and 1.3 is the least ease
        ([GOOD, GOOD, AGAIN, AGAIN, GOOD, GOOD, GOOD], [2, 5, 0, 0, 2, 5, 12]),  # 2.3
        ([AGAIN, AGAIN, GOOD, GOOD, GOOD, GOOD], [0, 0, 2, 5, 12, 28]),  # 2.3, too
    ],
)
def test_intervals_are_those_of_anki(grades, days):
    card, found = Card(), []
    for grade in grades:
        card = deck.scheduled(card, grade, card.due or TODAY)
        found.append(card.days)
    assert found == days
    assert card.due == (date.fromisoformat(TODAY) + timedelta(sum(days))).isoformat()


@pytest.mark.parametrize("ease", [130, 250, 400])
@pytest.mark.parametrize("passed", range(3))
def test_a_better_answer_comes_again_later(ease, passed):
    for days in range(1, 30):
        card = Card(passed, ease, days, TODAY)
        found = [deck.scheduled(card, grade, TODAY).days for grade in (AGAIN, HARD, GOOD, EASY)]
        assert found[0] == 0 and found == sorted({*found}) and (not passed or found[1] > days)


def test_what_was_due_first_is_asked_first_then_what_is_new_and_no_more_than_so_many_a_day():
    names = ["new", "today", "later", "long ago", "also new"]
    due = {"today": "2027-03-15", "later": "2027-03-16", "long ago": "2027-03-01"}
    cards = {name: Card(1, 250, 1, day) for name, day in due.items()}
    assert deck.todays(names, cards, "2027-03-15", 4) == ["long ago", "today", "new"]  # "later" was answered today
    assert deck.todays(names, cards, "2027-03-15", 2) == ["long ago"]
    assert deck.todays(names, cards, "2027-03-16", 5) == ["long ago", "today", "later", "new", "also new"]


def test_what_was_answered_again_comes_at_the_end_of_the_sitting():
    day, card = "2027-03-15", Card(0, 250, 0, "2027-03-15")
    cards = {"last": card, "first": card}
    assert deck.todays(["first", "new", "last", "other"], cards, day, 3) == ["new", "last", "first"]
    assert deck.todays(["first", "last", "other"], cards, day, 2) == ["last", "first"]
    assert deck.todays(["first", "last", "other"], cards, "2027-03-16", 2) == ["first", "last"]


def test_every_folded_answer_of_a_reading_is_that_of_a_question_with_a_name_of_its_own():
    found = {phase: deck.questions(phase) for phase in phases()}
    for phase, questions in found.items():
        text = (deck.READINGS / phase / "reading.md").read_text(encoding="utf-8")
        assert len(questions) == text.count("<details>"), phase
        assert all(each.text and each.answer and "**" not in each.text for each in questions)
    every = [each.name for questions in found.values() for each in questions]
    assert len({*every}) == len(every) >= 276


def test_an_exercise_asks_what_the_section_that_explains_it_asks_and_a_lab_of_bugs_the_whole_phase():
    course, asked = Course(), deck.questions("01_strided")
    [found] = deck.questions_of(["aten.strided.contiguous_strides"], course.find_released("01a"), asked)
    assert found.place == "Contiguous strides" and found.explains == {".contiguous_strides"}
    bugs = deck.questions("13_clinic")
    assert deck.questions_of(["clinic.training.name_1"], course.find_released("13b"), bugs) == bugs
    for lab in course.released_labs():  # of each lab something is asked
        phase = next(phase for phase in phases() if phase[:2] == lab.phase)
        assert deck.questions_of(lab.exercises, lab, deck.questions(phase)), lab.number


def test_questions_are_in_the_language_that_is_spoken(monkeypatch):
    english = deck.questions("01_strided")
    monkeypatch.setenv("LANGUAGE", "es")
    spanish = deck.questions("01_strided")
    assert [each.name for each in spanish] == [each.name for each in english]
    assert all(one.text != other.text and one.answer != other.answer for one, other in zip(spanish, english))


# The file ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def work(tmp_path, monkeypatch, root):
    """A folder of work in which lab 01a is finished."""
    monkeypatch.setattr(deck, "WORK", tmp_path)
    monkeypatch.setattr(model.folders, "WORK", tmp_path)
    shutil.copytree(root / "solutions" / "01a_views", tmp_path / "01a_views")
    return tmp_path


def rushlight(monkeypatch, capsys, *arguments, typed="", torch=None):
    """What the command prints with this input. Without torch it asks questions of the readings alone."""
    monkeypatch.setattr(review.importlib.util, "find_spec", lambda name: torch)
    monkeypatch.setattr(sys, "argv", ["rushlight", "review", *arguments])
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return "".join(capsys.readouterr()) + (ended.value.code if isinstance(ended.value.code, str) else "")


@pytest.mark.parametrize(
    "text",
    [
        '{"version": 1, "cards": {\n',
        "[]",
        '{"version": 2, "cards": {}}',
        '{"version": 1, "cards": {"01/x": {"passed": 1, "ease": 250, "days": 1, "due": "soon"}}}',
        '{"version": 1, "cards": {"01/x": {"passed": true, "ease": 250, "days": 1, "due": "2027-03-15"}}}',
        '{"version": 1, "cards": {"01/x": {"passed": 1}}}',
    ],
)
def test_a_broken_file_is_one_line_and_stays_as_it_is(work, monkeypatch, capsys, text):
    (work / "review.json").write_text(text)
    said = rushlight(monkeypatch, capsys, typed="x\n3\n")
    assert "review.json is no record of reviews" in said and len(said.strip().splitlines()) == 1
    assert (work / "review.json").read_text() == text


def test_the_answers_of_two_sessions_at_once_are_both_kept(tmp_path):
    path = tmp_path / "review.json"
    cards = {name: deck.scheduled(Card(), GOOD, TODAY) for name in ("01/one", "01/other")}
    for name, card in cards.items():
        deck.keep_card(path, name, card)
    assert deck.read_cards(path) == cards
    assert [*tmp_path.iterdir()] == [path]


# The command ---------------------------------------------------------------------------------------------------------


def test_five_questions_are_asked_and_come_again(work, monkeypatch, capsys, root):
    shutil.copytree(root / "solutions" / "01b_reshape", work / "01b_reshape")
    said = rushlight(monkeypatch, capsys, typed="mine\n3\n\nwhat\n1\nmine\neasy\n\n2\nmine\n4\nmore\n1\nyes\n3\n")
    first = deck.questions("01_strided")[0]
    assert said.index(first.text[:40]) < said.index("> mine") < said.index(first.answer[:40])
    assert said.count("It comes again on") == 5 and said.count("It comes again in this sitting") == 2
    assert "6 of 6" in said and "7 of 7" in said and "8 of" not in said
    assert "Today: none is left." in said and "Tomorrow: 5, of which 1 come again." in said
    cards = json.loads((work / "review.json").read_text())["cards"]
    assert [card["days"] for card in cards.values()] == [2, 4, 1, 4, 2]
    assert "Today: none is left." in rushlight(monkeypatch, capsys, typed="mine\n3\n")
    assert "Today: 5, of which 0 come again." in rushlight(monkeypatch, capsys, "--count", "10", "--list")


def test_input_that_ends_keeps_what_was_answered_and_says_what_is_left(work, monkeypatch, capsys):
    said = rushlight(monkeypatch, capsys, typed="mine\n3\nmine\n")
    assert "Today: 4, of which 0 come again." in said
    assert len(json.loads((work / "review.json").read_text())["cards"]) == 1


def test_what_is_due_is_listed_by_its_section(work, monkeypatch, capsys):
    name = deck.questions("01_strided")[3].name
    deck.keep_card(work / "review.json", name, Card(1, 250, 1, "2026-01-01"))
    first, *others = rushlight(monkeypatch, capsys, "--list").splitlines()
    assert re.fullmatch(r"01 +Contiguity, and the sizes 0 and 1 +reading +due since 2026-01-01", first.strip())
    assert len([line for line in others if line.rstrip().endswith("new")]) == 4


def test_the_lab_that_was_changed_last_is_asked_about_first(work, monkeypatch, capsys, root):
    shutil.copytree(root / "solutions" / "04b_engine", work / "04b_engine")
    for day, lab in enumerate(("01a_views", "04b_engine")):
        os.utime(work / lab / f"{lab}.ipynb", (day, day))
    listed = [line[:2] for line in rushlight(monkeypatch, capsys, "--list", "--count", "20").splitlines()]
    assert listed[:3] == ["04"] * 3 and listed[3:9] == ["01"] * 6
    os.utime(work / "01a_views" / "01a_views.ipynb", (3, 3))
    assert rushlight(monkeypatch, capsys, "--list").startswith("01")


@pytest.mark.parametrize("number", ["3", "03", "03_kernels"])
def test_a_phase_that_is_named_is_asked_about_without_work(work, monkeypatch, capsys, number):
    shutil.rmtree(work / "01a_views")
    assert "`rushlight lab 01a` begins one" in rushlight(monkeypatch, capsys)
    lines = rushlight(monkeypatch, capsys, "--phase", number, "--list").splitlines()
    assert [line[:2] for line in lines[:5]] == ["03"] * 5


def test_a_phase_that_is_not_there_is_one_line_with_those_that_are(work, monkeypatch, capsys):
    assert "there is no phase '01_stirded'; did you mean 01_strided?" in rushlight(
        monkeypatch, capsys, "--phase", "01_stirded"
    )


def test_it_runs_on_a_terminal_and_loads_no_torch(work, root):
    """Ctrl-D after the first answer."""
    source = f"""
import pathlib, sys
from autograder import course
course.WORK = pathlib.Path({str(work)!r})
from autograder.cli import app
app.main(["review"], prog_name="rushlight", standalone_mode=False)
assert not {{"torch", "rushlight", "nbformat", "numpy"}} & {{*sys.modules}}
"""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([sys.executable, "-c", source], cwd=root, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    said = ""

    def until(text):
        nonlocal said
        while text not in said:
            said += os.read(ours, 1000).decode()

    for prompt, typed in (("> ", b"mine\n"), ("4 easy: ", b"2\n"), ("2 of 5", b""), ("> ", b"\x04")):
        until(prompt)
        os.write(ours, typed)
        said = said[said.index(prompt) + len(prompt) :]
    until("Tomorrow: 5, of which 1 come again.")
    assert process.wait() == 0
    os.close(ours)


def test_a_function_about_which_nothing_can_be_asked_is_replaced_by_another_a_few_times(work, monkeypatch, capsys):
    functions = {f"01a/{name}" for name in Course().find_released("01a").exercises}
    tried = []
    monkeypatch.setattr(review._Session, "changeable", functions)
    monkeypatch.setattr(review._Session, "drawn", lambda session, asked: tried.append(asked.name))
    said = rushlight(monkeypatch, capsys, typed="mine\n3\n" * 5, torch="here")
    assert len({*tried}) == len(tried) == review.TRIED and {*tried} <= functions
    assert said.index("3 of 5") < said.index("changing a function") < said.index("4 of 5")
    assert "Today: none is left." in said


# What torch marks ----------------------------------------------------------------------------------------------------


def test_a_change_of_ones_own_function_and_a_new_program_are_drawn_and_marked(work):
    lab = Course().find_released("01a")
    for exam in (
        change_of(lab, "aten.strided.contiguous_strides", False, 3),
        prediction_of("course.predictions.view_or_copy", 3),
    ):
        (item,), (key,) = exam.paper.items, exam.keys.values()
        right = {each.key: str(answer) for each, answer in zip(item.fields, key.expected, strict=True)}
        assert all(mark(exam, right).earned.values())
        assert not any(mark(exam, dict.fromkeys(right, "0")).earned.values())


def test_a_function_that_is_not_right_is_not_asked_about(work):
    lab, path = Course().find_released("01a"), work / "01a_views" / "01a_views.ipynb"
    nb = json.loads(path.read_text())
    cell = next(cell for cell in nb["cells"] if model.exercise_name(cell) == "aten.strided.contiguous_strides")
    cell["source"] = "@exercise(rl.strided)\ndef contiguous_strides(sizes):\n    return sizes"
    path.write_text(json.dumps(nb))
    assert change_of(lab, "aten.strided.contiguous_strides", False, 3) is None
