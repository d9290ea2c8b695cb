"""A class on a JupyterHub, as `docs/jupyterhub.md` describes it: its files and its commands are taken from the page."""

import csv
import os
import re
import sqlite3
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta

import hub as hubs
import nbformat
import pytest
import requests
from first_lab import POINTS, of

from autograder.classroom import sample

LAB = sample.LAB
NOTEBOOK = f"{LAB}/{LAB}.ipynb"
RELEASE, STUDENT, TEACHER = hubs.commands("A lab from release to feedback")
ACTIVATE, FETCH, CHECK, SUBMIT = STUDENT
INTO, ACTIVATE_COURSE, COLLECT, GRADE, *RETURN = TEACHER
pytestmark = pytest.mark.sweep  # a hub, five servers, kernels and two judges


@pytest.fixture(scope="module")
def hub():
    reason, is_root = hubs.missing(), sys.platform == "linux" and os.geteuid() == 0
    if reason and not (is_root and os.environ.get("CI") == "true"):
        pytest.skip(reason)
    assert reason is None
    with hubs.running(["ada", "ben", "cleo"], [LAB]) as hub:
        yield hub


@pytest.fixture(scope="module")
def teacher(hub):
    """The teacher, who has released the lab."""
    teacher = hub.user(hubs.TEACHER)
    teacher.run(*RELEASE)
    return teacher


@pytest.fixture(scope="module")
def students(hub, teacher):
    """Ada in a kernel and by the Assignment List, and Ben in a terminal, have worked on the lab and handed it in."""
    with ThreadPoolExecutor() as pool:
        ada, ben = pool.map(hub.user, ("ada", "ben"))
        list(pool.map(lambda work: work(), (lambda: ask(ada, "fetch"), lambda: ben.run(ACTIVATE, FETCH))))
    answered(ada, sample.all_right), answered(ben, sample.subtly_wrong_strides)
    ada.failed = [cell.source for cell in ada.run_all(NOTEBOOK).cells if failed(cell)]
    ask(ada, "submit")
    ben.said = ben.run(ACTIVATE, CHECK, fails=True)
    ben.place = ben.run(ACTIVATE, SUBMIT).partition("Destination: ")[2].splitlines()[0]
    return ada, ben


def ask(student, action):
    """Send the request of a button of the Assignment List."""
    student.ask("POST", f"assignments/{action}", course_id="rushlight", assignment_id=LAB)


def answered(student, answer):
    """Write the answers into the notebook of a student."""
    solved = nbformat.read(hubs.ROOT / "solutions" / NOTEBOOK, as_version=4)
    student.write(NOTEBOOK, nbformat.reads(answer(student.read(NOTEBOOK), sample.answers(solved)), as_version=4))


def failed(cell):
    return any(output.output_type == "error" for output in cell.get("outputs", ()))


@pytest.fixture(scope="module")
def graded(hub, teacher, students):
    """Return the output of `nbgrader collect`, after the teacher has graded and handed back."""
    ada, ben = students
    later = datetime.now(UTC) + timedelta(seconds=5)
    ben.run(f"cp -r ~/{LAB} '/srv/exchange/rushlight/inbound/ada+{LAB}+{later:%Y-%m-%d %H:%M:%S.%f} UTC+forged'")
    ben.run(f"ln -s /srv/course/nbgrader_config.py '{ben.place}/answers.txt'")
    said = teacher.run(INTO, ACTIVATE_COURSE, COLLECT)
    teacher.run(INTO, ACTIVATE_COURSE, f"{GRADE} --jobs 1", *RETURN)  # each job would draw all cases for itself
    return said


@pytest.fixture(scope="module")
def totals(hub, graded):
    """The points of each student, from the table that grading writes."""
    with (hub.machine.place / f"srv/course/classroom/marks-{LAB}.csv").open() as file:
        return {row["student"]: float(row["total"]) for row in csv.DictReader(file)}


def test_checks_pass_in_the_kernel_of_a_student_who_is_right_and_fail_in_the_terminal_of_one_who_is_not(students):
    ada, ben = students
    assert ada.failed == []
    assert re.findall(r"✗\S* ([\w.]+)", ben.said) == ["aten.strided.contiguous_strides"], ben.said


def test_the_points_are_those_that_the_student_was_shown_before(totals, students):
    assert totals["ada"] == POINTS > totals["ben"] > 0
    assert of(totals["ben"]) in students[1].said


def test_a_submission_in_the_name_of_another_user_is_skipped_and_no_link_is_followed(hub, graded):
    submitted = hub.machine.place / "srv/course/classroom/submitted"
    assert "+forged: not the folder of the user in its name" in graded
    assert {path.name for path in submitted.iterdir()} == {"ada", "ben"}
    assert not (submitted / "ben" / LAB / "answers.txt").exists()


def test_students_get_their_feedback(totals, students):
    ada, ben = students
    ask(ada, "fetch_feedback")
    ben.run(ACTIVATE, f"nbgrader fetch_feedback {LAB}")
    for student in students:
        [folder] = student.ask("GET", f"api/contents/{LAB}/feedback")["content"]
        page = student.ask("GET", f"api/contents/{folder['path']}/{LAB}.html")["content"]
        assert f'<p class="points">{totals[student.name]:g} of ' in page


def test_students_see_nothing_of_the_solutions_of_others_and_of_the_gradebook(students):
    ada, ben = students
    for command in (
        "ls /srv/course",
        "ls /srv/exchange/rushlight/inbound",
        "ls /home/ada",
        "touch /srv/rushlight/mine",
    ):
        assert "denied" in ben.run(command, fails=True)
    assert requests.get(f"{ada.address}/api/contents", headers=ben.headers).status_code == 403


def log_in(page, hub, name):
    page.goto(hub.address)
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill("any")
    page.get_by_role("button", name="Sign in").click()


def test_the_teacher_marks_a_written_answer_on_the_page_of_its_question_and_no_student_reaches_it(
    page, hub, students, graded
):
    log_in(page, hub, hubs.TEACHER)
    page.get_by_role("menuitem", name="Nbgrader").wait_for()
    page.goto(f"{hub.address}/user/{hubs.TEACHER}/formgrader/written")
    page.get_by_role("link", name="a row that keeps a matrix").click()
    page.get_by_text("0 of 2 marked").wait_for()
    page.keyboard.press("a")
    page.keyboard.press("Enter")
    page.get_by_text(re.compile("[12] of 2 marked")).wait_for()  # equal answers are one entry
    with closing(sqlite3.connect(hub.machine.place / "srv/course/classroom/gradebook.db")) as gradebook:
        scores = gradebook.execute("SELECT manual_score FROM grade WHERE manual_score IS NOT NULL").fetchall()
    assert {*scores} == {(4.0,)}
    address = f"{hub.address}/user/{hubs.TEACHER}/formgrader/written"
    assert requests.get(address, headers=students[1].headers).status_code == 403


def test_a_student_works_in_a_browser_alone(page, hub, teacher):
    """Fetch, all cells of the notebook, Submit, Fetch Feedback: by clicks, from the login to the page with the points."""
    log_in(page, hub, "cleo")
    page.get_by_role("menuitem", name="Nbgrader").click()
    assert page.get_by_role("menuitem", name="Formgrader").count() == page.locator(".Toastify__toast").count() == 0
    page.get_by_role("menuitem", name="Assignment List").click()
    page.locator("#released_assignments_list").get_by_role("button", name="Fetch").click()
    submit = page.locator("#fetched_assignments_list").get_by_role("button", name="Submit")
    submit.wait_for()
    page.goto(f"{hub.address}/user/cleo/lab/tree/{NOTEBOOK}?reset")
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    page.get_by_text("aten.strided.element_offset: not attempted").first.wait_for()
    page.keyboard.press("Control+s")
    page.get_by_role("menuitem", name="Nbgrader").click()
    page.get_by_role("menuitem", name="Assignment List").click()
    submit.click()
    page.locator("#submitted_assignments_list").get_by_role("button", name="Fetch Feedback").wait_for()
    teacher.run(INTO, ACTIVATE_COURSE, COLLECT, GRADE, *RETURN)
    page.locator("#submitted_assignments_list").get_by_role("button", name="Fetch Feedback").click()
    page.get_by_text("(view feedback)").click()
    page.get_by_text(f"{LAB}.html").dblclick()
    assert page.frame_locator("iframe").locator(".points").inner_text().startswith("0 of ")
