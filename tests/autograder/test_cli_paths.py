"""`rushlight status` says where a student is, `--path` follows a path, and a record shows whether it was changed."""

import os
import re

import click
import pytest

from autograder import course
from autograder.classroom import record
from autograder.cli import app, students
from autograder.model import Course
from autograder.paths import core_checks, labs_of


@pytest.fixture
def work(tmp_path, monkeypatch):
    """A folder for work, in which `begin` puts a lab with the checks that pass in it."""
    passing = {}
    monkeypatch.setattr(course, "WORK", tmp_path)
    monkeypatch.setattr(students, "_passed", lambda lab, path, isolated, progress: passing[lab.name])
    monkeypatch.setattr(students, "_isolated", lambda *_: False)

    def begin(number, passed, changed):
        lab = Course().find_lab(number)
        lab.work_path.parent.mkdir()
        lab.work_path.write_text("")
        os.utime(lab.work_path, (changed, changed))
        passing[lab.name] = passed
        return lab

    return begin


def said(capsys, *arguments):
    students.out.width = 1000
    app.main([*arguments], standalone_mode=False)
    return capsys.readouterr().out


CORE = core_checks(Course().find_lab("01a"))


def test_status_names_the_exercise_that_is_next(work, capsys):
    assert "Next: 01a_views. `rushlight lab 01a` opens it." in said(capsys, "status")
    work("01a", CORE[:2], 1)
    assert "Next: 01a_views, aten.strided.is_contiguous. `rushlight lab 01a` opens it." in said(capsys, "status")


def test_status_of_one_lab_shows_its_exercises(work, capsys):
    lab = work("01a", ["aten.strided.transpose", "course.breaks.breaks_is_contiguous"], 1)
    told = said(capsys, "status", "1a")
    marks = dict(re.findall(r"^([✓–])  (\w+)", told, re.M)[::-1])
    assert marks == {"✓": "transpose", "–": "element_offset"}
    assert re.search(r"^–  breaks_is_contiguous +1 / 3 +further$", told, re.M)
    assert re.search(r"^–  strided_views +0 / 2 +milestone$", told, re.M)
    assert f"3 of {lab.all_points:g} points" in told and "Next: 01a_views, aten.strided.element_offset." in told
    lab.work_path.unlink(), lab.work_path.parent.rmdir()
    work("01a", [*lab.points], 1)
    told = said(capsys, "status", "1a")
    assert "–  " not in told and "01a_views is finished" in told and "Next: 01b_reshape. `rushlight lab 01b`" in told


def test_status_shows_the_end_of_the_lab_that_was_finished_last(work, capsys):
    work("01b", core_checks(Course().find_lab("01b")), 1)
    lab = work("01a", CORE, 2)
    told = said(capsys, "status")
    earned = sum(lab.points[check] for check in CORE)
    assert f"01a_views is finished: {earned:g} of {lab.all_points:g} points.\nUp to 4 more are for" in told
    assert re.search("  contiguous_strides +c10/util/strides.h\n", told) and "infer_size" not in told
    assert "`rushlight check 01a`" in told and "/01a_views/01a_views.ipynb` in the way" in told
    assert "Next: 02a_keys." in told


def test_a_path_goes_on_with_its_first_lab_that_is_not_finished(work, capsys):
    work("01a", CORE, 1)
    told = said(capsys, "status", "--path", "compiler")
    assert "01b_reshape" not in told and "Next: 07a_graphs." in told
    assert "  07  A program as data" in told
    assert "About 8 h of exercises are left" in told
    assert students._next_of("compiler", False).number == "07a"
    for lab in labs_of("compiler")[1:]:
        work(lab.number, core_checks(lab), 2)
    told = said(capsys, "status", "--path", "compiler")
    assert "Every lab of the path is finished." in told and "are left" not in told
    assert students._next_of("compiler", False).number == "08b"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["lab", "01a", "--path", "compiler"], "a lab or a path"),
        (["status", "01a", "--path", "compiler"], "a lab or a path"),
        (["status", "01a", "--verify", "x.html"], "are for a path"),
        (["status", "--record", "x.html", "--name", "Ada"], "--record needs --path"),
        (["status", "--record", "x.html", "--path", "compiler"], "either --name or --student"),
        (["status", "--name", "Ada"], "are for --record"),
        (["status", "--record", "x.html", "--path", "compiler", "--student", "ada", "--no-sandbox"], "in a sandbox"),
    ],
)
def test_options_that_do_not_belong_together_are_refused(arguments, words):
    with pytest.raises(click.UsageError, match=words):
        app.main(arguments, standalone_mode=False)


def test_a_path_that_is_not_there_is_refused_with_those_that_are():
    with pytest.raises(LookupError, match="no path 'compilers'; the paths are compiler, distributed"):
        app.main(["status", "--path", "compilers"], standalone_mode=False)


# Records -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def page(tmp_path):
    def write(key):
        passed = {lab: core_checks(lab) if lab.number == "01a" else [] for lab in labs_of("compiler")}
        record.write(tmp_path / "ada.html", "Ada <Lovelace>", "compiler", passed, key)
        return tmp_path / "ada.html"

    return write


def test_a_record_without_a_class_says_that_no_class_vouches_for_it(page):
    path = page(None)
    text = path.read_text(encoding="utf-8")
    assert "Ada &lt;Lovelace&gt;" in text and "No class vouches for this page" in text and "torch 2.13" in text
    assert f"<td>01a_views</td><td>{len(CORE)} of 12</td>" in text
    for key in (None, 7):
        holds, words = record.verified(path, key)
        assert holds and "no class vouches for it" in words


def test_a_record_with_a_seal_is_known_by_its_class_alone(page):
    path = page(7)
    assert "No class vouches" not in path.read_text(encoding="utf-8")
    holds, words = record.verified(path, 7)
    assert holds and "this class sealed it" in words
    for other in (None, 8):
        holds, words = record.verified(path, other)
        assert not holds and "only that class can tell" in words


@pytest.mark.parametrize("key", [None, 7])
def test_a_record_that_was_changed_is_refused(page, key):
    path = page(key)
    whole = path.read_bytes()
    for before, after in (b"Ada", b"Bob"), (b"</html>\n", b"</html>"), (b"digest=", b"digest=0"):
        path.write_bytes(whole.replace(before, after, 1))
        try:
            holds, words = record.verified(path, key)
        except LookupError:  # the last line is none any more
            continue
        assert not holds and "was changed" in words


def test_a_seal_that_another_key_made_is_refused_although_the_digest_is_right(page, tmp_path):
    sealed = page(7).read_bytes()
    other = page(8).read_bytes()
    wrong = other.rpartition(b"seal=")[2]
    path = tmp_path / "forged.html"
    path.write_bytes(sealed.rpartition(b"seal=")[0] + b"seal=" + wrong)
    holds, words = record.verified(path, 7)
    assert not holds and "this class did not make" in words


def test_a_page_of_a_class_whose_seal_was_taken_off_has_none(page, tmp_path):
    text = page(7).read_bytes()
    path = tmp_path / "bare.html"
    path.write_bytes(text.rpartition(b" key=")[0] + b" -->\n")
    assert record.verified(path, 7)[1].endswith("no class vouches for it")


@pytest.mark.parametrize("content", [b"", b"<html></html>", b"{}", b"\xff\xfe" * 9, b"x" * (2 << 20)])
def test_a_file_of_another_kind_is_no_record(tmp_path, content):
    path = tmp_path / "x.html"
    path.write_bytes(content)
    with pytest.raises(LookupError, match="is not a record"):
        record.verified(path, None)
