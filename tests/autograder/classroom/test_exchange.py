"""A class hands in through nbgrader's exchange, with the users, the files and the commands of `docs/jupyterhub.md`."""

import csv
import os
import re
import shutil
import struct
import sys
from concurrent.futures import ThreadPoolExecutor

import classroom as classes
import hub as hubs
import nbformat
import pytest
from first_lab import HALF, LAB, POINTS, of

from autograder.classroom import sample, table
from autograder.classroom.collect import exchange_problem, take_renamed
from autograder.classroom.grade import write_csv
from autograder.classroom.gradebook import open_gradebook
from autograder.course import RELEASED, SOURCES
from autograder.model import Course, Lab

SIZE = 10
RELEASE, STUDENT, TEACHER = hubs.commands("A lab from release to feedback")
ACTIVATE, FETCH, _, SUBMIT = STUDENT
INTO, ACTIVATE_COURSE, COLLECT, GRADE, *RETURN = TEACHER
DUE = f'nbgrader db assignment add {LAB} --duedate="{classes.DUE:%Y-%m-%d %H:%M:%S} UTC"'


@pytest.mark.skipif(sys.platform == "win32", reason="nbgrader's exchange needs the users of Unix")
def test_what_each_student_submitted_last_is_collected(nbgrader, tmp_path):
    exchange, folders = tmp_path / "exchange", {}
    for student, kind in classes.make(tmp_path / "class", LAB, SIZE).items():
        if kind != "absent":
            folders[student] = tmp_path / "class" / "submitted" / student / LAB

    def submit(student, folder, number):
        time = (folder / "timestamp.txt").read_text().strip()
        shutil.copytree(folder, exchange / "rushlight" / "inbound" / f"{student}+{LAB}+{time}+{number}")

    def collect(*options):
        root = f"--Exchange.root={exchange}"
        nbgrader("collect", LAB, root, "--ExchangeCollect.check_owner=False", *options)
        return {path.parts[-3]: files(path.parent) for path in nbgrader.place.glob(f"submitted/*/{LAB}/{LAB}.ipynb")}

    def files(folder):
        return {path.name: path.read_text() for path in folder.iterdir() if path.suffix == ".ipynb"}

    twice, again, *_ = folders
    write_handed_in(tmp_path / "first", "an earlier one", "2027-03-01 12:00:00 UTC")
    submit(twice, tmp_path / "first", 9)
    for student, folder in folders.items():
        submit(student, folder, 1)
    assert collect() == {student: files(folder) for student, folder in folders.items()}
    write_handed_in(tmp_path / "later", Lab(LAB).path.read_text(), "2027-04-01 12:00:00 UTC")
    submit(again, tmp_path / "later", 1)
    (arrived,) = (exchange / "rushlight" / "inbound").glob(f"{again}+*2027-04-01*/{LAB}.ipynb")
    arrived.rename(arrived.with_name("01a_views (1).ipynb"))
    later = {student: files(folder) for student, folder in folders.items()} | {again: files(tmp_path / "later")}
    assert collect("--update") == later


def test_every_page_that_a_student_can_fetch_is_released_and_who_gets_none_is_named(nbgrader, tmp_path):
    for student in ("ada", "ben", "cem", "dora"):
        (nbgrader.place / "submitted" / student / LAB).mkdir(parents=True)
    for student in ("ada", "ben", "dora"):
        folder = nbgrader.place / "feedback" / student / LAB
        folder.mkdir(parents=True)
        (folder / f"{LAB}.html").write_text(student)
        if student != "ben":  # who is in the group of ada, and has a copy
            (folder / "submission_secret.txt").write_text(f"secret0of0{student}")
            (folder / "timestamp.txt").write_text("2027-03-15 21:00:00 UTC")
    exchange = tmp_path / "exchange"
    exchange.mkdir(mode=0o777)
    exchange.chmod(0o777)
    said = nbgrader("release_feedback", LAB, f"--Exchange.root={exchange}")
    released = (exchange / "rushlight" / "feedback").glob("*.html")
    assert sorted(page.read_text() for page in released) == ["ada", "dora"] and "Traceback" not in said
    assert "no page has been written (1): cem" in said and "send the page (1): ben" in said


@pytest.mark.skipif(sys.platform == "win32", reason="nbgrader's exchange needs the users of Unix")
@pytest.mark.parametrize(
    "names",
    [[LAB], [LAB, f"{LAB}.es"], [LAB, "Untitled"], [f"{LAB} (1)"]],
    ids=["one notebook", "two languages", "a draft", "renamed"],
)
def test_the_list_of_assignments_shows_a_student_that_there_is_feedback(nbgrader, tmp_path, names):
    time = "2027-03-15 21:00:00 UTC"
    exchange, mine = tmp_path / "exchange", tmp_path / "cache" / "rushlight" / f"ada+{LAB}+{time}"
    arrived, page = nbgrader.place / "submitted" / "ada" / LAB, nbgrader.place / "feedback" / "ada" / LAB
    write_handed_in(mine, Lab(LAB).path.read_text(), time)
    (mine / "submission_secret.txt").write_text("secret0of0ada")
    for name in names:
        shutil.copyfile(Lab(LAB).path, mine / f"{name}.ipynb")
    if LAB not in names:
        (mine / f"{LAB}.ipynb").unlink()
    shutil.copytree(mine, arrived)
    take_renamed(Lab(LAB), arrived)
    shutil.copytree(arrived, page, ignore=shutil.ignore_patterns("*.ipynb"))
    (page / f"{LAB}.html").write_text("ada")
    exchange.mkdir(mode=0o755)

    def listed():
        said = nbgrader("list", LAB, "--cached", f"--Exchange.root={exchange}", f"--Exchange.cache={mine.parents[1]}")
        return [line for line in said.splitlines() if f"ada {LAB} {time}" in line]

    assert [line.endswith("(no feedback available)") for line in listed()] == [True]
    nbgrader("release_feedback", LAB, f"--Exchange.root={exchange}")
    assert [line.endswith("(feedback ready to be fetched)") for line in listed()] == [True]


@pytest.mark.skipif(sys.platform != "linux", reason="access control lists are Linux's")
@pytest.mark.parametrize(
    ("tag", "rights", "mask", "is_refused"),
    [(2, 7, 7, True), (8, 2, 7, True), (2, 7, 5, False), (2, 5, 7, False)],
    ids=["a user", "a group", "masked", "reads only"],
)
def test_an_exchange_whose_access_control_list_lets_another_user_write_is_refused(
    tmp_path, monkeypatch, tag, rights, mask, is_refused
):
    monkeypatch.setenv("RUSHLIGHT_CLASSROOM", str(tmp_path))
    folder = tmp_path / "exchange" / "rushlight"
    folder.mkdir(parents=True)
    nobody = 0xFFFFFFFF
    entries = [(1, 7, nobody), (4, 5, nobody), (16, mask, nobody), (32, 5, nobody), (tag, rights, 12345)]
    acl = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in sorted(entries))
    try:
        os.setxattr(folder, "system.posix_acl_access", acl)
    except OSError as error:
        pytest.skip(str(error))
    problem = exchange_problem(tmp_path / "exchange", "rushlight")
    assert ("other users can write to" in problem) == is_refused


@pytest.mark.skipif(sys.platform == "win32", reason="nbgrader's exchange needs the users of Unix")
def test_feedback_is_not_released_into_an_exchange_that_another_user_can_replace(nbgrader, tmp_path):
    folder = nbgrader.place / "feedback" / "ada" / LAB
    folder.mkdir(parents=True)
    (nbgrader.place / "submitted" / "ada" / LAB).mkdir(parents=True)
    (folder / f"{LAB}.html").write_text("ada")
    (folder / "submission_secret.txt").write_text("secret0of0ada")
    (folder / "timestamp.txt").write_text("2027-03-15 21:00:00 UTC")
    (tmp_path / "exchange" / "rushlight").mkdir(parents=True)
    (tmp_path / "exchange").chmod(0o777)
    said = nbgrader("release_feedback", LAB, f"--Exchange.root={tmp_path / 'exchange'}", fails=True)
    assert "chmod +t" in said and not [*(tmp_path / "exchange").rglob("*.html")]


class Class:
    """The class of `classroom.py`: `folder` has what each student hands in, and `machine` has its users."""

    def __init__(self, folder, machine, people):
        self.folder, self.machine, self.people = folder, machine, people
        self.students = [student for student, kind in people.items() if kind != "absent"]
        self.course = machine.place / "srv" / "course" / "classroom"

    def some(self, kind):
        return next(student for student in self.students if self.people[student] == kind)

    def handed_in(self, student):
        return self.folder / "submitted" / student / LAB

    def submit(self, student, folder=None):
        """Copy the notebooks of a folder into the student's, and submit at the time of its `timestamp.txt`."""
        folder = folder or self.handed_in(student)
        for notebook in folder.glob("*.ipynb"):
            mine = self.machine.place / "home" / student / LAB / notebook.name
            shutil.copyfile(notebook, mine)
            shutil.chown(mine, student_id(self.machine, student))
        time = (folder / "timestamp.txt").read_text().strip()
        return self.machine.work(student, ACTIVATE, f"{SUBMIT} --Exchange.timestamp_format='{time}'")

    def all(self, step):
        with ThreadPoolExecutor(2) as pool:
            return dict(zip(self.students, pool.map(step, self.students)))

    def teach(self, *commands):
        # grading ends with 1, because of the file that is no notebook
        commands = [f"{{ {each} || test $? -eq 1; }}" if each.startswith(GRADE) else each for each in commands]
        return self.machine.work(hubs.TEACHER, INTO, ACTIVATE_COURSE, *commands)

    def pages(self):
        """The pages of feedback on the teacher's side, by student."""
        return {path.parts[-3]: path for path in self.course.glob(f"feedback/*/{LAB}/{LAB}.html")}

    def rows(self):
        return read_rows(self.course / f"marks-{LAB}.csv")


def student_id(machine, student):
    return (machine.place / "home" / student).stat().st_uid


def read_rows(path):
    with path.open(encoding="utf-8") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


def write_handed_in(folder, text, time):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{LAB}.ipynb").write_text(text, encoding="utf-8")
    (folder / "timestamp.txt").write_text(time)


def filled(change):
    notebook, solved = (nbformat.read(place / LAB / f"{LAB}.ipynb", as_version=4) for place in (RELEASED, SOURCES))
    return change(notebook, sample.answers(solved))


@pytest.fixture(scope="module")
def school(tmp_path_factory):
    """A class: each student has fetched the lab and handed it in, and the teacher has collected, graded and returned."""
    reason, is_root = hubs.missing(), sys.platform == "linux" and os.geteuid() == 0
    if reason and not (is_root and os.environ.get("CI") == "true"):
        pytest.skip(reason)
    assert reason is None
    folder = tmp_path_factory.mktemp("handed-in")
    people = classes.make(folder, LAB, SIZE)
    with hubs.installed(list(people), [LAB]) as machine:
        school = Class(folder, machine, people)
        school.teach(*RELEASE[2:], DUE)
        school.all(lambda student: machine.work(student, ACTIVATE, FETCH))
        write_handed_in(school.handed_in(school.some("broken")), filled(sample.corrupt_file), "2027-03-15 21:00:00 UTC")
        write_handed_in(folder / "first", filled(sample.untouched), "2027-03-01 12:00:00 UTC")
        school.submit(school.some("right"), folder / "first")
        school.all(school.submit)
        school.teach(COLLECT, f"{GRADE} --late 10%/day", *RETURN)
        yield school


@pytest.fixture
def direct(school, tmp_path, monkeypatch, quick_grade, isolated):
    """`direct()`: the rows of the same class, graded with the same seed, without an exchange."""

    def grade():
        monkeypatch.setenv("RUSHLIGHT_CLASSROOM", str(tmp_path))
        for student in school.students:
            shutil.copytree(school.handed_in(student), tmp_path / "submitted" / student / LAB)
        shutil.copy(school.course / "seed", tmp_path)
        table.set_policy(Course(), None, "10%/day", "")
        with open_gradebook() as gradebook:
            gradebook.update_or_create_assignment(LAB, duedate=classes.DUE.replace(tzinfo=None))
        return read_rows(write_csv(Lab(LAB), quick_grade(LAB)))

    return grade


@pytest.mark.sweep
def test_the_marks_are_those_of_the_same_notebooks_handed_in_directly(school, direct):
    rows = school.rows()
    assert rows == direct()
    assert float(rows[school.some("late")]["hours late"]) > 0
    assert "beside the submission" in rows[school.some("doubled")]["remark"]
    assert rows[school.some("broken")]["remark"].startswith("not a notebook")
    assert float(rows[school.some("right")]["total"]) == POINTS


@pytest.mark.sweep
def test_no_student_can_take_the_place_of_the_course_or_of_another_submission(school):
    attempts = (
        "mv /srv/exchange/rushlight /srv/exchange/mine",
        "mkdir /srv/exchange/rushlight/outbound/02a_keys",
        "chmod 777 /srv/exchange/rushlight/inbound",
        "ls /srv/exchange/rushlight/inbound",
    )
    for attempt in attempts:
        said = school.machine.work(school.students[0], f"({attempt}) 2>&1 || true")
        assert "denied" in said or "not permitted" in said, attempt


@pytest.mark.sweep
def test_each_student_fetches_the_page_about_the_own_submission(school):
    pages = school.pages()
    assert {student for student in school.students if school.rows()[student]["mark"]} == pages.keys()
    school.all(lambda student: school.machine.work(student, ACTIVATE, f"nbgrader fetch_feedback {LAB}"))
    for student in school.students:
        home = school.machine.place / "home" / student / LAB
        fetched = {path.stem: path.read_bytes() for path in (home / "feedback").glob("*/*.html")}
        own = pages[student].read_bytes() if student in pages else None
        assert fetched == ({path.stem: own for path in home.glob("*.ipynb")} if own else {})
        listed = school.machine.work(student, ACTIVATE, f"nbgrader list {LAB} --cached 2>&1")
        assert ("(feedback already fetched)" in listed) == bool(own)
        assert "denied" in school.machine.work(student, "ls /srv/exchange/rushlight/feedback || true")


@pytest.mark.sweep
def test_who_submits_again_after_grading_is_graded_again_and_nobody_else(school):
    student, before = school.some("wrong"), school.rows()
    times = {each: page.stat().st_mtime_ns for each, page in school.pages().items()}
    write_handed_in(school.folder / "again", filled(sample.all_right), "2027-03-15 21:59:00 UTC")
    school.submit(student, school.folder / "again")
    school.teach(COLLECT, GRADE)
    assert school.rows() == before
    school.teach(f"{COLLECT} --update", GRADE)
    changed = {each for each, page in school.pages().items() if page.stat().st_mtime_ns != times[each]}
    assert changed == {student} and before | {student: school.rows()[student]} == school.rows()
    assert float(before[student]["total"]) < float(school.rows()[student]["total"]) == POINTS
    school.teach(*RETURN)
    school.machine.work(student, ACTIVATE, f"nbgrader fetch_feedback {LAB}")
    [page] = (school.machine.place / "home" / student / LAB / "feedback").glob(f"2027-03-15 21:59:00*/{LAB}.html")
    assert page.read_bytes() == school.pages()[student].read_bytes()


@pytest.mark.sweep
def test_what_students_submit_while_the_teacher_watches_is_graded_and_returned_and_the_best_counts(school):
    student = school.some("right")
    write_handed_in(school.folder / "worse", filled(sample.half_done), "2027-03-15 21:59:30 UTC")
    write_handed_in(school.folder / "broken", filled(sample.corrupt_file), "2027-03-15 21:59:40 UTC")
    school.submit(student, school.folder / "worse")
    school.submit(school.some("late"), school.folder / "broken")
    before = school.rows()
    command = f"""{{ set -m
        rushlight watch 01a --keep best > watch.log 2>&1 &
        until grep -q "{student}, attempt .*: {HALF:g} of " watch.log &&
            grep -q "{school.some("late")}, attempt .*: not a" watch.log ||
            ! kill -0 %1; do sleep 1; done
        kill -INT %1; wait %1; echo ended with $?; cat watch.log; }}"""
    said = school.teach(command)
    assert "ended with 130" in said and "stopped; what is not graded yet" in said, said
    assert re.search(rf"{student}, attempt \d+: {of(HALF)}; .*; attempt \d+ counts, with {POINTS:g}", said), said
    assert re.search(rf"{school.some('late')}, attempt \d+: not a notebook: .*; attempt \d+ counts", said), said
    school.teach(GRADE)
    rows = school.rows()
    assert [rows[name]["total"] for name in school.students] == [before[name]["total"] for name in school.students]
    school.machine.work(student, ACTIVATE, f"nbgrader fetch_feedback {LAB}")
    pages = school.machine.place / "home" / student / LAB / "feedback"
    assert [*pages.glob("2027-03-15 21:59:30*/*.html")]
