"""`rushlight watch`: what arrives is graded, the best or the last attempt counts, and nothing is lost."""

import shutil

import nbformat
import pytest
from at_once import AtOnce
from first_lab import CHECKS, HALF, LAB, LEFT, POINTS, of
from nbgrader.utils import notebook_hash

from autograder.classroom import grade as grading
from autograder.classroom import sample, watch
from autograder.classroom.gradebook import open_gradebook
from autograder.course import RELEASED, SOURCES
from autograder.model import Lab, Submission


@pytest.fixture
def arrive(tmp_path):
    """`arrive(student, change, ...)`: a notebook of the sample class is in the folder of hand-ins."""

    def arrive(student, change, time=""):
        notebook, solved = (nbformat.read(place / LAB / f"{LAB}.ipynb", as_version=4) for place in (RELEASED, SOURCES))
        path = tmp_path / "hand-ins" / student / LAB / f"{LAB}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(change(notebook, sample.answers(solved)), encoding="utf-8")
        if time:
            path.with_name("timestamp.txt").write_text(time)
        return path

    return arrive


@pytest.fixture
def watching(classroom, tmp_path, isolated, drawn_once, feedback, marker, monkeypatch):
    """`watching(...)`: a `Watch` of the folder of hand-ins, and `said`, its lines."""
    monkeypatch.setattr(watch, "SETTLED", 0)
    monkeypatch.setattr(grading, "markers", lambda jobs: feedback)
    monkeypatch.setattr(watch, "markers", lambda jobs: marker)
    (tmp_path / "hand-ins").mkdir()

    def watching(**options):
        made = watch.Watch([Lab(LAB)], **{"source": tmp_path / "hand-ins", "jobs": 1, "say": lines.append} | options)
        made.said = lines
        return made

    lines = []
    return watching


def points_of(student):
    """The points in the gradebook, by the checks and by hand."""
    with open_gradebook() as gradebook:
        return gradebook.find_submission(LAB, student).score


def written_grade(gradebook, student):
    grades = gradebook.find_submission(LAB, student).notebooks[0].grades
    return next(grade for grade in grades if grade.cell.cell_type == "markdown")


def test_of_several_attempts_the_best_counts_and_each_gets_its_feedback(watching, arrive, classroom):
    watching = watching(keep="best")
    arrive("ada", sample.half_done)
    arrive("ben", sample.corrupt_file)
    assert watching.look() and points_of("ada") == HALF
    with open_gradebook() as gradebook:
        grade = written_grade(gradebook, "ada")
        grade.manual_score, grade.needs_manual_grade = 1.5, False
        gradebook.db.commit()
    arrive("ada", sample.untouched)
    entered = (classroom / "autograded/ada" / LAB / f"{LAB}.ipynb").stat().st_mtime_ns
    assert watching.look()
    assert (classroom / "autograded/ada" / LAB / f"{LAB}.ipynb").stat().st_mtime_ns == entered
    with open_gradebook() as gradebook:
        assert not written_grade(gradebook, "ada").needs_manual_grade
    assert points_of("ada") == HALF + 1.5
    arrive("ben", sample.half_done)
    arrive("ada", sample.all_right)
    assert watching.look()
    with open_gradebook() as gradebook:
        assert written_grade(gradebook, "ada").manual_score == 1.5
    assert points_of("ada") == POINTS + 1.5 and points_of("ben") == HALF
    assert not watching.look()
    said = [line.partition(" ")[2] for line in watching.said]
    assert said == [
        f"{LAB} ada, attempt 1: {of(HALF)}; not attempted: {LEFT}",
        f"{LAB} ben, attempt 1: not a notebook: the file is not JSON",
        f"{LAB} ada, attempt 2: {of(0)}; not attempted: {CHECKS}; attempt 1 counts, with {HALF:g}",
        f"{LAB} ada, attempt 3: {of(POINTS)}",
        f"{LAB} ben, attempt 2: {of(HALF)}; not attempted: {LEFT}",
    ]
    kept = [path.name for path in sorted((classroom / "attempts/ada" / LAB).iterdir())]
    assert kept == [f"{number:04}{kind}" for number in (1, 2, 3) for kind in ("", ".html", ".json")]
    assert not (classroom / "trial").exists()


@pytest.mark.sweep
def test_of_several_attempts_the_last_counts_unless_told_otherwise_and_a_better_one_can_be_brought_back(
    watching, arrive, classroom
):
    first = watching()
    arrive("ada", sample.half_done)
    first.look()
    arrive("ada", sample.untouched)
    first.look()
    assert points_of("ada") == 0
    again = watching(keep="best")
    assert again.look() and points_of("ada") == HALF and not again.look()


@pytest.mark.sweep
def test_what_was_collected_before_is_an_attempt_too(watching, arrive, classroom):
    before = Submission(Lab(LAB), "ada").path
    before.parent.mkdir(parents=True)
    shutil.copy(arrive("ada", sample.half_done), before)
    arrive("ada", sample.untouched)
    watching = watching(keep="best")
    watching.look(), watching.look()
    assert points_of("ada") == HALF and len(watch.attempts(Lab(LAB), "ada")) == 2


def test_what_is_still_being_written_is_not_read(watching, arrive, monkeypatch):
    monkeypatch.setattr(watch, "SETTLED", 1000)
    watching = watching()
    arrive("ada", sample.half_done)
    assert not watching.look() and not watching.look() and watching.said == []
    monkeypatch.setattr(watch, "SETTLED", 0)
    assert watching.look()


def test_a_renamed_notebook_is_an_attempt_once_and_of_two_none_is_taken(watching, arrive):
    for student, names in {"ada": ["01a_views (1).ipynb"], "ben": ["a.ipynb", "b.ipynb"], "cem": []}.items():
        path = arrive(student, sample.half_done)
        for name in names:
            shutil.copy(path, path.with_name(name))
        path.unlink()
    watching = watching()
    assert watching.look() and not watching.look()
    said = [line.partition(" ")[2] for line in watching.said]
    assert said == [
        f"{LAB} ada, attempt 1: {of(HALF)}; handed in as 01a_views (1).ipynb; not attempted: {LEFT}",
        f"{LAB} ben, attempt 1: no {LAB}.ipynb in the submission, only a.ipynb, b.ipynb: rename the one that is this lab's",
    ]


def test_a_link_in_the_folder_of_hand_ins_leads_nowhere(watching, arrive, tmp_path):
    path = arrive("ada", sample.half_done)
    (tmp_path / "hand-ins" / "eve").symlink_to(path.parents[1])
    link = tmp_path / "hand-ins" / "mallory" / LAB / f"{LAB}.ipynb"
    link.parent.mkdir(parents=True)
    link.symlink_to(path)
    watching = watching()
    watching.look()
    assert [student for student in ("ada", "eve", "mallory") if Submission(Lab(LAB), student).path.exists()] == ["ada"]
    assert any(f"mallory, attempt 1: no {LAB}.ipynb in the submission" in line for line in watching.said)


@pytest.mark.sweep
@pytest.mark.parametrize("step", ["_take", "_try", "_grade", "_return", "_line"])
def test_a_stop_at_any_step_loses_nothing(watching, arrive, monkeypatch, step):
    """Right before each step of a better attempt an interrupt: the next watch ends where an undisturbed one does."""
    one = watching(keep="best")
    arrive("ada", sample.half_done)
    one.look()
    arrive("ada", sample.all_right)
    with monkeypatch.context() as patch:
        patch.setattr(watch.Watch, step, interrupt)
        with pytest.raises(KeyboardInterrupt):
            one.look()
    two = watching(keep="best")
    two.look(), two.look()
    assert points_of("ada") == POINTS


def interrupt(*arguments):
    raise KeyboardInterrupt


@pytest.mark.sweep
def test_one_that_takes_too_long_stops_the_class_once(watching, arrive, monkeypatch):
    calls = []

    def mark(given, *rest):
        calls.append(given["student"])
        if given["student"] == "slow":
            raise grading.NotGraded("it takes more than 600 s")
        return grading.mark(given, *rest)

    class Slow(AtOnce):
        def submit(self, step, *given):
            return super().submit(mark, *given)

    monkeypatch.setattr(watch, "markers", lambda jobs: Slow())
    watching = watching()
    arrive("slow", sample.untouched)
    watching.look()
    arrive("ada", sample.untouched)
    watching.look()
    assert sorted(calls) == ["ada", "slow"] and "slow, attempt 1: not graded: it takes more" in watching.said[0]


@pytest.mark.sweep
def test_the_page_of_the_class_has_names_only_if_told(watching, arrive, classroom):
    watching = watching()
    arrive("ada<b>", sample.half_done)
    arrive("ben", sample.subtly_wrong_strides)
    arrive("cyd", sample.all_right)
    watching.look()
    page = (classroom / "live.html").read_text(encoding="utf-8")
    assert 'http-equiv="refresh"' in page and not any(name in page for name in ("ada", "ben", "cyd"))
    assert "<strong>contiguous_strides</strong> stops most: 1 × <code>" in page
    watching.names = True
    watching.close()
    page = (classroom / "live.html").read_text(encoding="utf-8")
    assert 'http-equiv="refresh"' not in page and ">ben<" in page and "ada&lt;b&gt;" in page


@pytest.fixture
def exchange(tmp_path, monkeypatch):
    """nbgrader's exchange, as the configuration of this machine names it, with the course in it."""
    (tmp_path / "config").mkdir()
    text = (
        f"c = get_config()\nc.Exchange.root = {str(tmp_path / 'exchange')!r}\nc.ExchangeCollect.check_owner = False\n"
    )
    (tmp_path / "config/nbgrader_config.py").write_text(text)
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "config"))
    for name in ("inbound", "outbound"):
        (tmp_path / "exchange/rushlight" / name).mkdir(parents=True)
    return tmp_path / "exchange/rushlight"


@pytest.mark.sweep
def test_each_attempt_in_the_exchange_is_graded_in_order_and_its_feedback_goes_back(
    watching, arrive, exchange, monkeypatch
):
    def submit(change, time, secret):
        folder = exchange / "inbound" / f"ada+{LAB}+{time} UTC"
        shutil.copytree(arrive("ada", change).parent, folder)
        (folder / "timestamp.txt").write_text(f"{time} UTC")
        (folder / "submission_secret.txt").write_text(secret)
        return folder

    def returned():
        return {
            name for name in "abcd" if (exchange / "feedback" / f"{notebook_hash(None, None, name, LAB)}.html").exists()
        }

    watching = watching(keep="best", source=None)
    submit(sample.half_done, "2027-03-01 10:00:00", "a")
    submit(sample.all_right, "2027-03-01 11:00:00", "b")
    submit(sample.untouched, "2027-03-01 12:00:00", "c")
    (submit(sample.untouched, "2027-03-01 13:00:00", "d") / "submission_secret.txt").unlink()  # it is being written
    while watching.look():
        pass
    totals = [line.partition("attempt ")[2].partition(" of")[0] for line in watching.said]
    assert totals == [f"1: {HALF:g}", f"2: {POINTS:g}", "3: 0"]
    assert points_of("ada") == POINTS and returned() == {*"abc"}
    again = watch.Watch([Lab(LAB)], keep="best", jobs=1)
    assert not again.look() and not again.look()


def test_an_exchange_without_the_course_gets_a_line(watching, exchange):
    shutil.rmtree(exchange)
    with pytest.raises(grading.GradingError, match="nothing can be collected: .*"):
        watching(source=None).look()
