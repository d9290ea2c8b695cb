"""The end of a lab in a notebook: when it is shown, and what it says."""

import pytest
from IPython import display

from autograder import course
from autograder.language import speaking
from autograder.model import Lab
from autograder.notebook import end, kernel
from autograder.paths import core_checks

LAB = Lab("01a_views")
ALL, CORE = [*LAB.points], core_checks(LAB)


@pytest.fixture(autouse=True)
def cheap(monkeypatch, tmp_path):
    """No training step runs, and no lab has been begun."""
    monkeypatch.setattr(end.pieces, "stages", lambda: {"forward": ["aten.strided.transpose", "nn.functional.linear"]})
    monkeypatch.setattr(course, "WORK", tmp_path)
    monkeypatch.setattr(end, "_shown", {})


def test_the_core_and_then_all_of_a_lab_have_an_end_which_is_shown_once():
    assert end.end_of(LAB, CORE[:-1], []) == {}
    core = end.end_of(LAB, CORE, [])["text/plain"]
    left = {check.split(".")[2] for check in ALL if check not in CORE}
    assert "the core is finished" in core and left and all(name in core for name in left)
    assert end.end_of(LAB, CORE, []) == {}
    whole = end.end_of(LAB, ALL, [])["text/plain"]
    assert f"{sum(LAB.points.values()):g} of {LAB.all_points:g} points" in whole
    assert "Lab 01a: finished" in whole and "c10/util/strides.h" in whole and "calls 1 of these 8" in whole
    assert "submit the lab under Nbgrader" in whole  # the lab is not in work/
    assert end.end_of(LAB, ALL[1:], []) == {}
    assert "finished" in end.end_of(LAB, ALL, [])["text/plain"]  # after a piece that failed again


def test_a_prediction_that_was_wrong_at_first_ends_a_lab_too():
    assert "Lab 01a: finished" in end.end_of(LAB, ALL[1:], ALL[:1])["text/plain"]


def test_the_next_lab_is_a_link_where_it_is_begun_and_a_command_where_it_is_not():
    LAB.work_path.parent.mkdir()
    LAB.work_path.touch()
    command = "rushlight lab 01b --no-open"
    assert command in (said := end.end_of(LAB, ALL, [])["text/html"]) and "<code>rushlight check 01a</code>" in said
    end._shown.clear()
    with speaking("es"):
        assert "rushlight lab 01b --lang es --no-open" in (said := end.end_of(LAB, ALL, [])["text/html"])
        assert "Laboratorio 01b · Otros tamaños" in said
    path = Lab("01b_reshape").work_path
    path.parent.mkdir()
    path.touch()
    end._shown.clear()
    said = end.end_of(LAB, ALL, [])["text/html"]
    assert 'href="../01b_reshape/01b_reshape.ipynb"' in said and command not in said
    last_of_phase, reading = Lab("01b_reshape"), "02_dispatcher/reading.ipynb"
    assert reading in end.end_of(last_of_phase, [*last_of_phase.points], [])["text/html"]


def test_a_student_of_another_language_is_led_to_the_reading_beside_the_next_lab():
    lab, following = Lab("01b_reshape"), Lab("02a_keys")
    for folder in lab.work_path.parent, following.work_path.parent:
        folder.mkdir()
    lab.work_path.with_name("reading.ipynb").touch()
    assert 'reading.ipynb"' not in (said := end.end_of(lab, [*lab.points], [])["text/html"])
    assert "copies it and its reading" in said
    following.work_path.with_name("reading.ipynb").touch()
    end._shown.clear()
    assert 'href="../02a_keys/reading.ipynb"' in end.end_of(lab, [*lab.points], [])["text/html"]


def test_the_check_that_is_the_last_one_shows_the_end(monkeypatch):
    shown = []
    monkeypatch.setattr(display, "display", lambda data, raw: shown.append(data["text/plain"]))
    passed = {*ALL[1:]}
    monkeypatch.setattr(kernel, "_still_passes", passed.__contains__)
    kernel._display_end(ALL[1])
    passed.add(ALL[0])
    kernel._display_end(ALL[0])
    assert [text.partition("\n")[0] for text in shown] == ["Lab 01a: finished"]
