"""A lab changes in mid-term, and students hand in copies of the release that they fetched."""

import copy
import csv
import sqlite3

import nbformat
import pytest
from nbgrader.coursedir import CourseDirectory
from sweep import sweep

from autograder import course, language, translation
from autograder.author import build
from autograder.classroom import kept_releases, sample
from autograder.classroom.collect import HandedOut
from autograder.classroom.grade import write_csv
from autograder.engine.observe import GradingError
from autograder.model import Lab, check_name, exercise_name, lab_names

LAB = "01a_views"
FIRST, SECOND, THIRD = "aten.strided.element_offset", "aten.strided.contiguous_strides", "aten.strided.permute"


@pytest.fixture
def publish(released, tmp_path, monkeypatch, isolated):
    """`publish(exercises, …)` makes this day's version of the lab, with these exercises only, and returns it."""
    monkeypatch.setenv("RUSHLIGHT_CLASSROOM", str(tmp_path / "class"))
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "seed").write_text("1")

    def publish(exercises, text="", worth=None, version="0.1.0"):
        folder = tmp_path / f"version-{version}"
        monkeypatch.setattr(course, "RELEASED", folder)
        monkeypatch.setattr(build.rushlight, "__version__", version)
        notebook = copy.deepcopy(released)
        notebook.cells = [
            cell for cell in notebook.cells if (exercise_name(cell) or check_name(cell) or FIRST) in exercises
        ]
        for cell in notebook.cells:
            if exercise_name(cell):
                cell.source = cell.source.replace('"""', f'"""{text}', 1)
            if worth and check_name(cell):
                cell.metadata.nbgrader.points = worth
        path = folder / LAB / f"{LAB}.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(build.stamped(notebook, Lab(LAB), path), path)
        return notebook

    return publish


@pytest.fixture
def hand_in(answers, tmp_path):
    def hand_in(student, notebook, text=""):
        notebook = copy.deepcopy(notebook)
        sample.fill(notebook, {key: answer.replace('"""', f'"""{text}', 1) for key, answer in answers.items()})
        folder = tmp_path / "class" / "submitted" / student / LAB
        folder.mkdir(parents=True)
        nbformat.write(notebook, folder / f"{LAB}.ipynb")

    return hand_in


def totals(rows):
    return {row.student: row.total for row in rows}


def graded(student):
    return (course.classroom() / "autograded" / student / LAB / f"{LAB}.ipynb").read_text(encoding="utf-8")


@pytest.mark.parametrize("lab", sweep(lab_names(), every=12))
def test_a_lab_says_which_release_it_is(lab):
    about = nbformat.read(Lab(lab).todays_path, as_version=4).metadata.rushlight
    assert (about.lab, about.release) == (lab, Lab(lab).release_at(Lab(lab).todays_path).digest)


def test_its_version_is_the_one_in_which_it_last_changed(publish, tmp_path, monkeypatch):
    notebook, path = publish([FIRST]), Lab(LAB).todays_path
    monkeypatch.setattr(build.rushlight, "__version__", "0.2.0")
    assert build.stamped(copy.deepcopy(notebook), Lab(LAB), path).metadata.rushlight.version == "0.1.0"
    notebook.cells[0].source += "!"
    assert build.stamped(notebook, Lab(LAB), path).metadata.rushlight.version == "0.2.0"


@pytest.mark.sweep
def test_after_a_change_of_text_and_points_a_copy_keeps_its_text_and_gets_the_new_points(publish, hand_in, quick_grade):
    old = publish([FIRST, SECOND], text="As in week 2. ")
    hand_in("old", old, text="As in week 2. ")
    assert totals(quick_grade(LAB)) == {"old": 4}
    new = publish([FIRST, SECOND], worth=5, version="0.2.0")
    hand_in("new", new)
    hand_in("untouched", old)
    (kept,) = Lab(LAB).kept_folder.iterdir()  # as it was given out
    blank = Lab(LAB).kept_folder.parents[1] / "submitted" / "untouched" / LAB / f"{LAB}.ipynb"
    blank.write_bytes(kept.read_bytes())
    rows = quick_grade(LAB)
    assert totals(rows) == {"old": 10, "new": 10, "untouched": 0}
    assert [row.release for row in rows] == ["", "", ""]
    assert "As in week 2." in graded("untouched") and "As in week 2." not in graded("new")


def test_a_class_goes_on_with_the_exercises_with_which_it_began(publish, hand_in, quick_grade):
    old = publish([FIRST, SECOND])
    assert kept_releases.keep_release(Lab(LAB)) == ""
    new = publish([FIRST, THIRD], version="0.2.0")  # one was removed, or renamed, and one was added
    assert kept_releases.keep_release(Lab(LAB)) == (
        f"{LAB}: this class goes on with the exercises of version 0.1.0: it does not get {THIRD}, and it keeps {SECOND}"
    )
    hand_in("old", old)
    hand_in("new", new)
    rows = {row.student: row for row in quick_grade(LAB)}
    assert Lab(LAB).points.keys() == {FIRST, SECOND}
    assert {student: row.total for student, row in rows.items()} == {
        "old": sum(Lab(LAB).points.values()),
        "new": Lab(LAB).points[FIRST],
    }
    assert rows["old"].remark() == ""
    said = f"made from another release of the lab (of version 0.2.0): no points here for its {THIRD}, and it lacks {SECOND}"
    assert rows["new"].remark().startswith(said)
    assert "def permute" in graded("new")  # the answer is still there
    with write_csv(Lab(LAB), [*rows.values()]).open() as file:
        assert {row["student"]: row["remark"] for row in csv.DictReader(file)}["new"].startswith(said)


@pytest.mark.sweep
def test_a_copy_of_a_release_that_the_class_never_had_is_named_and_its_answers_are_kept(publish, hand_in, quick_grade):
    hand_in("old", publish([FIRST, SECOND]))
    publish([FIRST, THIRD], version="0.2.0")
    (row,) = quick_grade(LAB)
    assert row.total == Lab(LAB).points[FIRST] and "def contiguous_strides" in graded("old")
    assert row.remark().startswith(
        f"made from another release of the lab (of version 0.1.0): no points here for its {SECOND}"
    )


@pytest.mark.parametrize("claims", sweep(["dear", "never", "path", "list", "none"], keep=["dear"]))
def test_to_claim_another_release_earns_nothing(publish, hand_in, quick_grade, claims):
    dear = publish([FIRST, SECOND], worth=50)
    kept_releases.keep_release(Lab(LAB))
    now = publish([FIRST, SECOND], worth=5, version="0.2.0")
    easy = publish([FIRST], worth=10, version="0.3.0")  # a notebook that this class has not had
    publish([FIRST, SECOND], worth=5, version="0.4.0")
    stamps = {
        "dear": dear.metadata.rushlight,
        "never": easy.metadata.rushlight,
        "path": {"release": "../../../etc/passwd"},
        "list": {"release": [1]},
        "none": None,
    }
    now.metadata["rushlight"] = stamps[claims]
    hand_in("ada", now)
    assert totals(quick_grade(LAB)) == {"ada": 10}


@pytest.mark.sweep
def test_a_class_that_has_grades_but_no_release_is_told_before_anything_is_written(publish, hand_in, quick_grade):
    old = publish([FIRST])
    hand_in("ada", old)
    quick_grade(LAB)
    (kept,) = Lab(LAB).kept_folder.iterdir()
    kept.rename(kept.parents[2] / "elsewhere.ipynb")  # as in a class that has lost its releases
    publish([FIRST, SECOND], version="0.2.0")
    with pytest.raises(GradingError, match=f"from before it had {SECOND}: put the notebook of that time into"):
        quick_grade(LAB, force=True)
    assert not [*Lab(LAB).kept_folder.iterdir()]
    with sqlite3.connect(course.classroom() / "gradebook.db") as gradebook:
        assert [*gradebook.execute("select max(auto_score) from grade")] == [(Lab(LAB).points[FIRST],)]
    (kept.parents[2] / "elsewhere.ipynb").rename(Lab(LAB).kept_folder / "week 2.ipynb")
    assert totals(quick_grade(LAB, force=True)) == {"ada": Lab(LAB).points[FIRST]}


def test_a_check_that_the_course_does_not_have_any_more_stops_grading_with_the_version_that_has_it(
    publish, hand_in, quick_grade
):
    old = publish([FIRST, SECOND])
    for cell in old.cells:
        if check_name(cell) == SECOND:
            cell.metadata.rushlight.check = "strided.former_name"
    nbformat.write(build.stamped(old, Lab(LAB), Lab(LAB).todays_path), Lab(LAB).todays_path)
    kept_releases.keep_release(Lab(LAB))
    hand_in("ada", old)
    publish([FIRST], version="0.2.0")
    with pytest.raises(GradingError, match=r"\(strided.former_name\): grade this class with version 0.1.0"):
        quick_grade(LAB)
    assert not (course.classroom() / "gradebook.db").exists()


def test_the_exchange_gives_out_the_lab_of_the_class(publish, tmp_path):
    publish([FIRST, SECOND])
    kept_releases.keep_release(Lab(LAB))
    publish([FIRST, THIRD], version="0.2.0")
    exchange = HandedOut(coursedir=CourseDirectory(assignment_id=LAB))
    exchange.do_copy(str(course.RELEASED / LAB), str(tmp_path / "outbound"))
    given = nbformat.read(tmp_path / "outbound" / f"{LAB}.ipynb", as_version=4)
    assert [name for name in map(exercise_name, given.cells) if name] == [FIRST, SECOND]


def test_a_gradebook_that_cannot_be_read_is_named_and_left_alone(publish, hand_in, quick_grade):
    hand_in("ada", publish([FIRST]))
    gradebook = course.classroom() / "gradebook.db"
    gradebook.write_bytes(b"half of a gradebook" * 100)
    with pytest.raises(GradingError, match="gradebook.db cannot be used"):
        quick_grade(LAB)
    assert gradebook.read_bytes() == b"half of a gradebook" * 100 and not Lab(LAB).kept_folder.exists()


def test_a_kept_release_that_is_no_notebook_is_named(publish):
    publish([FIRST])
    kept_releases.keep_release(Lab(LAB))
    (kept,) = Lab(LAB).kept_folder.iterdir()
    kept.write_text("{")
    with pytest.raises(LookupError, match="is not a notebook"):
        assert Lab(LAB).points


@pytest.mark.sweep
def test_a_class_in_two_languages_is_graded_together(publish, hand_in, quick_grade, tmp_path, monkeypatch):
    folder = tmp_path / "translations"
    catalogue = folder / "fr" / "labs" / f"{LAB}.po"
    catalogue.parent.mkdir(parents=True)
    english = "Position in the storage, counted in elements, of the element at a multi-index."
    catalogue.write_text(f'msgid "{english}"\nmsgstr "Position dans le stockage."\n')
    (folder / "fr" / "verdicts.po").write_text('msgid "not attempted"\nmsgstr "pas essayé"\n')
    for module in language, translation:
        monkeypatch.setattr(module, "FOLDER", folder)
    for function in CACHED:
        function.cache_clear()
    publish([FIRST, SECOND])
    kept_releases.keep_release(Lab(LAB))
    english, french = (
        nbformat.reads(kept_releases.text_for_students(Lab(LAB), code), as_version=4) for code in ("", "fr")
    )
    assert "Position dans le stockage." in exercise_in(french, FIRST) and "Position in" in exercise_in(english, FIRST)
    assert english.metadata.rushlight.release != french.metadata.rushlight.release
    hand_in("ada", english)
    hand_in("zoe", french)
    path = course.classroom() / "submitted" / "blank" / LAB / f"{LAB}.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(french, path)
    exchange = HandedOut(coursedir=CourseDirectory(assignment_id=LAB))
    exchange.do_copy(str(course.RELEASED / LAB), str(tmp_path / "outbound"))
    assert {path.name for path in (tmp_path / "outbound").iterdir()} == {f"{LAB}.ipynb", f"{LAB}.fr.ipynb"}
    for student, worked, blank in ("both_french", french, english), ("both_english", english, french):
        hand_in(student, worked)
        place = course.classroom() / "submitted" / student / LAB
        own, other = [f"{LAB}.ipynb", f"{LAB}.fr.ipynb"][:: -1 if worked is french else 1]
        (place / f"{LAB}.ipynb").rename(place / own)
        nbformat.write(blank, place / other)
    rows = quick_grade(LAB)
    assert totals(rows) == {"ada": 4, "zoe": 4, "blank": 0, "both_french": 4, "both_english": 4}
    assert not any(row.others for row in rows)
    assert 'os.environ["LANGUAGE"] = "fr"' in graded("zoe").replace("\\", "") and "Position in the storage" in graded(
        "ada"
    )
    assert "Position dans le stockage." in graded("blank") and "pas essayé" in graded("blank")
    assert '"outcome": "not attempted"' in graded("blank") and "pas essayé" not in graded("ada") + graded("zoe")
    for function in CACHED:
        function.cache_clear()


CACHED = (translation.catalogue, language._catalogue, language._patterns, language._asked_for)


def exercise_in(notebook, name):
    return next(cell.source for cell in notebook.cells if exercise_name(cell) == name)
