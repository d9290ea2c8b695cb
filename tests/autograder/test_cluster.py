"""Grading on a dask cluster of real processes on this machine, some of which are killed."""

import inspect
import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time

import psutil
import pytest
from commands import run_each

from autograder.classroom import grade as grading
from autograder.classroom.cluster import _marker, in_marker, run_step
from autograder.engine import sandbox
from autograder.engine.observe import GradingError, NotGraded
from autograder.model import Course, Lab, Submission

LAB = "01a_views"
POINTS = {"half_done": 14, "untouched": 0}


class Cluster:
    """A scheduler, and workers."""

    def __init__(self, folder, root):
        self.folder, self.root, self.file, self.processes = folder, root, folder / "scheduler.json", []
        self.scheduler = self.start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-show")
        self.wait_for(self.scheduler, lambda: self.file.exists() and self.file.read_text().endswith("}"))
        self.address = json.loads(self.file.read_text())["address"]

    def start(self, kind, *options, **environment):
        command = [
            sys.executable,
            "-m",
            f"distributed.cli.dask_{kind}",
            "--scheduler-file",
            self.file,
            "--no-dashboard",
        ]
        log = (self.folder / f"{kind}.log").open("a")
        process = subprocess.Popen(
            [*command, *options], cwd=self.folder, env=os.environ | environment, stdout=log, stderr=log
        )
        self.processes.append(process)
        return process

    def worker(self, course=None, nanny="--no-nanny"):
        """A worker, with the course in this folder. A nanny would start it again."""
        before = self.registered()
        options = "--nthreads", "1", "--local-directory", self.folder, nanny
        process = self.start("worker", *options, PYTHONPATH=str(course or self.root))
        self.wait_for(process, lambda: self.registered() > before)
        return process

    def wait_for(self, process, holds):
        wait_until(lambda: holds() or process.poll() is not None, "a process of the cluster does not start")
        assert process.poll() is None, [log.read_text() for log in self.folder.glob("*.log")]

    def registered(self):
        return (self.folder / "scheduler.log").read_text().count("Register worker")

    def grade(self, classroom):
        return subprocess.Popen(
            [sys.executable, "-m", "autograder.cli", "grade", "01a", "--scheduler", self.address],
            cwd=self.root,
            env=os.environ | {"RUSHLIGHT_CLASSROOM": str(classroom)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


def wait_until(holds, otherwise, seconds=900):
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, otherwise
        time.sleep(0.05)


@pytest.fixture
def cluster(tmp_path_factory, root, isolated):
    cluster = Cluster(tmp_path_factory.mktemp("cluster"), root)
    yield cluster
    for process in reversed(cluster.processes):
        process.kill()
        process.wait()


@pytest.fixture
def classroom(tmp_path, submissions):
    for student in POINTS:
        shutil.copytree(submissions / student, tmp_path / "submitted" / student)
    return tmp_path


def subjects(process):
    """The sandboxes below a process."""
    try:
        return [each for each in psutil.Process(process.pid).children(recursive=True) if each.name() == "bwrap"]
    except psutil.NoSuchProcess:
        return []


def recorded(classroom):
    """The points of each submission in the gradebook, as often as the submission is there."""
    with sqlite3.connect(classroom / "gradebook.db") as gradebook:
        return sorted(
            gradebook.execute(
                "select student.id, sum(grade.auto_score) from submitted_assignment"
                " join student on student.id = submitted_assignment.student_id"
                " join submitted_notebook on submitted_notebook.assignment_id = submitted_assignment.id"
                " join grade on grade.notebook_id = submitted_notebook.id group by submitted_assignment.id"
            )
        )


def test_the_submission_of_a_worker_that_is_killed_is_marked_by_another_one(cluster, classroom):
    lost, other = cluster.worker(), cluster.worker()
    grading = cluster.grade(classroom)
    wait_until(lambda: subjects(lost) or grading.poll() is not None, "the worker has nothing to do")
    left = psutil.Process(lost.pid).children(recursive=True)
    lost.send_signal(signal.SIGKILL)
    said, error = grading.communicate()
    assert grading.returncode == 0, error
    assert left and not error and other.poll() is None
    assert recorded(classroom) == sorted(POINTS.items())
    lost.wait()
    wait_until(lambda: not any(each.is_running() for each in left), "the worker left processes behind")


@pytest.mark.sweep
def test_if_the_scheduler_is_killed_grading_and_workers_end_and_the_next_run_goes_on(
    cluster, tmp_path, submissions, quick_grade, monkeypatch
):
    monkeypatch.setenv("RUSHLIGHT_CLASSROOM", str(tmp_path))
    shutil.copytree(submissions / "untouched", tmp_path / "submitted" / "ada")
    assert [row.total for row in quick_grade(LAB)] == [0]
    page = tmp_path / "feedback" / "ada" / LAB / f"{LAB}.html"
    done = page.stat().st_mtime_ns
    shutil.copytree(submissions / "half_done", tmp_path / "submitted" / "ben")
    worker = cluster.worker(nanny="--nanny")
    grading = cluster.grade(tmp_path)
    wait_until(lambda: subjects(worker) or grading.poll() is not None, "the worker has nothing to do")
    left = psutil.Process(worker.pid).children(recursive=True)
    cluster.scheduler.send_signal(signal.SIGKILL)
    _, error = grading.communicate()
    said = f"rushlight: {LAB}: the scheduler at {cluster.address} does not answer any more: run this again to go on\n"
    assert (grading.returncode, error) == (1, said)
    assert recorded(tmp_path) == [("ada", 0)]
    assert [row.total for row in quick_grade(LAB)] == [0, 14]
    assert recorded(tmp_path) == [("ada", 0), ("ben", 14)]
    assert page.stat().st_mtime_ns == done
    assert left
    wait_until(lambda: worker.poll() is not None, "the worker does not end")
    wait_until(lambda: not any(each.is_running() for each in left), "the worker left processes behind")


def test_a_scheduler_without_workers_and_one_that_is_not_there_are_named(cluster, classroom):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nobody = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    tls = nobody.replace("tcp", "tls")
    said = {
        cluster.address: f"the scheduler at {cluster.address} has no workers",
        nobody: f"no scheduler answers at {nobody}",
        tls: f"{tls} needs TLS",
        "": "--scheduler needs the address",
    }

    def python(*arguments):
        environment = os.environ | {"RUSHLIGHT_CLASSROOM": str(classroom)}
        command = [sys.executable, *arguments]
        return subprocess.run(command, cwd=cluster.root, env=environment, capture_output=True, text=True)

    done = run_each(python, *(("grade", "01a", "--scheduler", address) for address in said))
    for each, words in zip(done, said.values()):
        assert each.stderr.startswith(f"rushlight: {words}")
        assert each.stderr.count("\n") == 1
    assert not (classroom / "gradebook.db").exists()


OTHER_COURSES = {
    "another layout": {"autograder/grade.py": "def mark(lab, text): pass\n"},
    "another step": {
        "autograder/classroom/__init__.py": "",
        "autograder/classroom/cluster.py": "def in_marker(step, *arguments): pass\n",
        "autograder/classroom/grade.py": "def mark(lab, text): pass\n",
    },
}


@pytest.fixture(params=OTHER_COURSES)
def other_course(request, tmp_path):
    files = {"rushlight/__init__.py": '__version__ = "0.0.9"\n', "autograder/__init__.py": ""}
    for name, text in (files | OTHER_COURSES[request.param]).items():
        path = tmp_path / "other" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "other"


def said_by_worker(folder, *options):
    """The last line that a worker's process in this folder says of a submission."""
    text = inspect.getsource(run_step) + 'run_step("mark", {}, 1, True)'
    command = [sys.executable, *options, "-c", text]
    return subprocess.run(command, cwd=folder, env={}, capture_output=True, text=True).stderr.splitlines()[-1]


def test_a_worker_with_another_version_of_the_course_names_its_machine_and_the_version(other_course):
    said = said_by_worker(other_course)
    assert f"{socket.gethostname()} cannot mark for this version of the course, it has 0.0.9 (" in said


def test_a_worker_without_the_course_names_its_machine(tmp_path):
    said = said_by_worker(tmp_path, "-I", "-S")
    assert f"{socket.gethostname()} cannot mark for this version of the course, it has none (" in said


@pytest.mark.sweep
@pytest.mark.parametrize("other_course", ["another step"], indirect=True)
def test_a_worker_with_another_version_of_the_course_ends_grading_with_one_line(cluster, classroom, other_course):
    cluster.worker(other_course)
    grading = cluster.grade(classroom)
    _, error = grading.communicate()
    assert (grading.returncode, error.count("\n")) == (1, 1)
    assert error.startswith(f"rushlight: {LAB}: {socket.gethostname()} cannot mark for this version of the course")
    assert recorded(classroom) == []


@pytest.mark.parametrize("lacks", ["missing", "missing_compiler"])
def test_a_machine_without_a_sandbox_or_a_compiler_is_named(submissions, tmp_path, monkeypatch, lacks):
    shutil.copytree(submissions / "untouched", tmp_path / "submitted" / "ada")
    submission = Submission(Lab(LAB, Course(tmp_path)), "ada")
    monkeypatch.setattr(sandbox, lacks, lambda *lab: "it lacks something")
    with pytest.raises(GradingError, match=f"^{socket.gethostname()}: it lacks something$"):
        grading.mark(grading.packed(submission), 1, True)


def end(code):
    os._exit(code)


def test_a_submission_that_ends_its_marker_is_named_and_the_worker_goes_on():
    try:
        with pytest.raises(NotGraded, match="ended the process that marks it"):
            in_marker(end, 1)
        assert in_marker(abs, -1) == 1
    finally:
        _marker().shutdown()
        _marker.cache_clear()
