"""Grading on a dask cluster of real processes on this machine, some of which are killed."""

import inspect
import json
import logging
import multiprocessing
import os
import re
import shlex
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor

import nbformat
import psutil
import pytest
from commands import run_each
from feedback import Feedback
from sweep import sweep

from autograder import cli
from autograder.classroom import cluster as clusters
from autograder.classroom import grade as grading
from autograder.classroom.cluster import MAX_RESULT, _marker, in_marker, is_protected, run_step, text_of
from autograder.engine import sandbox
from autograder.engine.observe import GradingError, Malformed, NotGraded
from autograder.engine.verdict import Verdict
from autograder.model import Course, Lab, Submission, check_name

LAB = "01a_views"
POINTS = {"half_done": 14, "untouched": 0}
FORK = multiprocessing.get_context("fork")
SCHEDULER = "--host", "127.0.0.1", "--port", "0", "--no-show"
WORKER = "--nthreads", "1", "--local-directory", "."


class Forked(FORK.Process):
    """A function in a fork of this process, which has imported torch and dask, in a folder. It has the methods of a `Popen`."""

    def __init__(self, folder, out, err, function, *arguments):
        super().__init__(target=self._run, args=(folder, out, err, function, arguments))
        self.start()
        self.poll, self.out, self.err = lambda: self.exitcode, out, err

    def _run(self, folder, out, err, function, arguments):
        os.chdir(folder)
        sys.stdout, sys.stderr = out.open("a"), err.open("a")
        log = logging.getLogger("distributed")
        log.handlers, log.level = [logging.StreamHandler(sys.stderr)], logging.INFO
        function(*map(str, arguments))

    def wait(self):
        self.join()

    def send_signal(self, number):
        os.kill(self.pid, number)

    def communicate(self):
        self.join()
        return self.out.read_text(), self.err.read_text()


def fork_marker():
    """This process marks in a fork of it, which is made now, before it has threads."""
    clusters.markers = lambda jobs: ProcessPoolExecutor(jobs, FORK, grading._begin_marker, (os.getpid(),))
    clusters._marker().submit(os.getpid).result()


def schedule(*options):
    from distributed.cli.dask_scheduler import main

    main(options)


def work(*options):
    from distributed.cli.dask_worker import main

    fork_marker()
    main(options)


def grade(classroom, *words):
    feedback = Feedback()
    grading.markers = lambda jobs: feedback
    fork_marker()
    os.environ["RUSHLIGHT_CLASSROOM"], sys.argv[1:] = classroom, words
    cli.main()


class Cluster:
    """A scheduler, and workers."""

    def __init__(self, folder, root):
        self.folder, self.root, self.file, self.processes = folder, root, folder / "scheduler.json", []
        self.log = folder / "scheduler.log"
        self.scheduler = self.start(schedule, self.log, *SCHEDULER)
        self.wait_for(self.scheduler, lambda: self.file.exists() and self.file.read_text().endswith("}"))
        self.address = json.loads(self.file.read_text())["address"]

    def start(self, run, log, *options):
        options = ["--scheduler-file", self.file, "--no-dashboard", *options]
        self.processes.append(Forked(self.folder, log, log, run, *options))
        return self.processes[-1]

    def worker(self, hostile=""):
        """A worker. A hostile one runs this text first."""
        options = []
        if hostile:
            (self.folder / "hostile.py").write_text(hostile)
            options = ["--preload", self.folder / "hostile.py"]
        return self._registered(lambda: self.start(work, self.folder / "worker.log", "--no-nanny", *WORKER, *options))

    def worker_apart(self, course, nanny="--no-nanny"):
        """A worker that is not forked, with the course in this folder. A nanny would start it again."""
        command = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", self.file, "--no-dashboard"]

        def start():
            with (self.folder / "worker.log").open("a") as log:
                environment = os.environ | {"PYTHONPATH": str(course)}
                process = subprocess.Popen(
                    [*command, nanny, *WORKER], cwd=self.folder, env=environment, stdout=log, stderr=log
                )
            self.processes.append(process)
            return process

        return self._registered(start)

    def _registered(self, start):
        before = self._count()
        process = start()
        self.wait_for(process, lambda: self._count() > before)
        return process

    def _count(self):
        return self.log.read_text().count("Register worker")

    def wait_for(self, process, holds):
        wait_until(lambda: holds() or process.poll() is not None, "a process of the cluster does not start")
        assert process.poll() is None, [log.read_text() for log in self.folder.glob("*.log")]

    def grade(self, classroom):
        out, err, words = (
            self.folder / "said",
            self.folder / "complained",
            ("grade", "01a", "--scheduler", self.address),
        )
        self.processes.append(Forked(self.root, out, err, grade, classroom, *words))
        return self.processes[-1]


def wait_until(holds, otherwise, seconds=900):
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, otherwise
        time.sleep(0.05)


@pytest.fixture
def cluster(tmp_path_factory, root, isolated, drawn_once):
    import distributed  # noqa: F401  # once

    cluster = Cluster(tmp_path_factory.mktemp("cluster"), root)
    yield cluster
    for process in reversed(cluster.processes):
        process.kill()
        process.wait()


@pytest.fixture
def classroom(tmp_path, submissions):
    (tmp_path / "seed").write_text("1")  # whose cases are drawn once
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


@pytest.mark.sweep
def test_the_submission_of_a_worker_that_is_killed_is_marked_by_another_one(cluster, classroom):
    lost, other = cluster.worker(), cluster.worker()
    grading = cluster.grade(classroom)
    wait_until(lambda: subjects(lost) or grading.poll() is not None, "the worker has nothing to do")
    left = psutil.Process(lost.pid).children(recursive=True)
    lost.send_signal(signal.SIGKILL)
    said, error = grading.communicate()
    assert grading.exitcode == 0, error
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
    worker = cluster.worker_apart(cluster.root, nanny="--nanny")
    grading = cluster.grade(tmp_path)
    wait_until(lambda: subjects(worker) or grading.poll() is not None, "the worker has nothing to do")
    left = psutil.Process(worker.pid).children(recursive=True)
    cluster.scheduler.send_signal(signal.SIGKILL)
    _, error = grading.communicate()
    said = f"rushlight: {LAB}: the scheduler at {cluster.address} does not answer any more: run this again to go on\n"
    assert (grading.exitcode, error) == (1, said)
    assert recorded(tmp_path) == [("ada", 0)]
    assert [row.total for row in quick_grade(LAB)] == [0, 14]
    assert recorded(tmp_path) == [("ada", 0), ("ben", 14)]
    assert page.stat().st_mtime_ns == done
    assert left
    wait_until(lambda: worker.poll() is not None, "the worker does not end")
    wait_until(lambda: not any(each.is_running() for each in left), "the worker left processes behind")


@pytest.mark.sweep
@pytest.mark.parametrize(
    "absent", sweep([False, True], every=2)
)  # whoever waits for one that is absent waits ten seconds
def test_a_scheduler_without_workers_and_one_that_is_not_there_are_named(cluster, classroom, absent):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nobody = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    tls = nobody.replace("tcp", "tls")
    said = {
        cluster.address: f"the scheduler at {cluster.address} has no workers",
        tls: f"{tls} needs TLS",
        "": "--scheduler needs the address",
    }
    said |= {nobody: f"no scheduler answers at {nobody}"} if absent else {}

    def python(*arguments):
        environment = os.environ | {"RUSHLIGHT_CLASSROOM": str(classroom)}
        command = [sys.executable, *arguments]
        return subprocess.run(command, cwd=cluster.root, env=environment, capture_output=True, text=True)

    done = run_each(python, *(("grade", "01a", "--scheduler", address) for address in said))
    for each, words in zip(done, said.values()):
        assert each.stderr.startswith(f"rushlight: {words}")
        assert each.stderr.count("\n") == 1
    assert not (classroom / "gradebook.db").exists()


@pytest.mark.parametrize(
    ("address", "protected"),
    [
        ("tls://10.0.0.1:8786", True),
        ("tcp://127.0.0.1:8786", True),
        ("localhost:8786", True),
        ("tcp://[::1]:8786", True),
        ("tcp://10.0.0.1:8786", False),
        ("10.0.0.1:8786", False),
        ("localhost.example.org:8786", False),
        ("ws://10.0.0.1:8786", False),
        ("tcp://[::1", False),
    ],
)
def test_a_connection_to_another_machine_is_tls(address, protected):
    assert is_protected(address) == protected


def test_a_scheduler_on_another_machine_without_tls_is_refused_unless_the_instructor_says_so(monkeypatch):
    address = f"tcp://{socket.gethostbyname(socket.gethostname())}:1"
    monkeypatch.setattr(clusters, "is_protected", lambda address: False)
    monkeypatch.setattr(clusters, "CONNECT_SECONDS", 1)
    with pytest.raises(GradingError, match="without TLS.*--insecure"), clusters.cluster(address):
        pass
    with pytest.raises(GradingError, match="no scheduler answers"), clusters.cluster(address, insecure=True):
        pass


@pytest.mark.sweep
def test_the_commands_of_the_page_make_a_cluster_that_a_program_without_the_certificate_cannot_use(
    cluster, tmp_path, root
):
    import dask

    page = (root / "docs/scale.md").read_text()
    [make] = re.findall(r"^\$ (openssl .*)$", page, re.M)
    [start] = re.findall(r"^\$ dask scheduler (.*)$", page, re.M)
    names = dict(re.findall(r"^\$ export DASK_DISTRIBUTED__COMM__TLS__(\w+)=(.*)$", page, re.M))
    for folder in (cluster.folder, tmp_path):
        subprocess.run(shlex.split(make), cwd=folder, check=True, capture_output=True)
    cluster.file.unlink()
    tls = cluster.start(schedule, cluster.log, *SCHEDULER, *shlex.split(start))
    cluster.wait_for(tls, lambda: cluster.file.exists() and cluster.file.read_text().endswith("}"))
    address = json.loads(cluster.file.read_text())["address"]
    assert address.startswith("tls://")

    def said(folder):
        files = {name.lower().replace("__", ".").replace("_", "-"): str(folder / file) for name, file in names.items()}
        settings = dask.config.set({f"distributed.comm.tls.{name}": file for name, file in files.items()})
        with settings, pytest.raises(GradingError) as error, clusters.cluster(address):
            pass
        return str(error.value)

    assert "has no workers" in said(cluster.folder)
    assert "no scheduler answers" in said(tmp_path)  # a certificate of somebody else


# Hostile workers: each answers for an untouched notebook. Each text has what it sends in place of a result.

HOSTILE = """
import builtins, json, os, sys
true = vars(builtins).setdefault("true_eval", builtins.eval)  # dask loads this file twice

class Program:
    def __reduce__(self):
        return os.system, ("touch {canary}",)

def forged(request):
    from autograder.engine.verdict import Verdict
    import json
    released = json.loads(request["arguments"][1]["release"])
    checks = [name for cell in released["cells"] if (name := cell["metadata"].get("rushlight", {{}}).get("check"))]
    code = sum(cell["cell_type"] == "code" for cell in released["cells"])
    passed = [Verdict(check, "passed", cases=9, agreed=9).as_dict() for check in checks]
    marked = {{"verdicts": passed, "outputs": [[]] * (code - len(checks)), "graded_with": {{}}}}
    return json.dumps({{"done": json.dumps(marked)}})

def answer(text, *spaces):
    caller = sys._getframe(1)
    request, *_ = spaces = spaces or (caller.f_globals, caller.f_locals)
    return {answer} if "arguments" in request and "names" in request else true(text, *spaces)

builtins.eval = answer
"""
SAID = {
    "Program()": "a worker sent something else than a result, and none of it ran (UnpicklingError)",
    "forged(request)": "a worker's verdicts on untouched are not this machine's",
    "'x' * (21 << 20)": "a worker sent no text, or more than 20 Mi characters",
    "'no JSON'": "a worker sent no JSON",
    "{'done': 7}": "a worker sent no text",
}


@pytest.mark.parametrize("answer", sweep(SAID, keep=["Program()", "forged(request)"]))
def test_nothing_that_a_hostile_worker_sends_is_run_or_recorded(cluster, classroom, answer):
    shutil.rmtree(classroom / "submitted" / "half_done")
    canary = classroom / "canary"
    cluster.worker(hostile=HOSTILE.format(canary=canary, answer=answer))
    grading = cluster.grade(classroom)
    said, error = grading.communicate()
    assert SAID[answer] in said + error and "Traceback" not in error
    assert not canary.exists()
    assert not (classroom / "gradebook.db").exists() or recorded(classroom) == []


def test_the_result_of_a_worker_is_bounded_json():
    assert text_of(json.dumps({"done": "x"})) == "x"
    for kind in (GradingError, NotGraded):
        with pytest.raises(kind, match="^why$"):
            text_of(json.dumps({"error": kind.__name__, "about": "why"}))
    for result in ("x" * (MAX_RESULT + 1), b"{}", {}, "[]", "{}", "[" * 9000, '{"done": 7}', "no JSON"):
        with pytest.raises(NotGraded):
            text_of(result)


@pytest.fixture(scope="module")
def packed(submissions, tmp_path_factory):
    folder = tmp_path_factory.mktemp("packed")
    shutil.copytree(submissions / "untouched", folder / "submitted" / "ada")
    return grading.packed(Submission(Lab(LAB, Course(folder)), "ada"))


def marked(packed, **changes):
    """A mark for an untouched notebook, in which each verdict is changed."""
    released = json.loads(packed["release"])["cells"]
    checks = [*filter(None, map(check_name, released))]
    code = sum(cell["cell_type"] == "code" for cell in released)
    verdicts = [Verdict(check, "disagreed", cases=3, agreed=1).as_dict() | changes for check in checks]
    return {"verdicts": verdicts, "outputs": [[] for _ in range(code - len(checks))], "graded_with": {"torch": "2"}}


MARKUP = "<script>alert(1)</script><img src=x onerror=y>"


def test_no_text_of_a_worker_is_markup_in_a_marked_notebook(packed):
    texts = ("message", "hint", "listing", "program", "oracle", "mine", "theirs", "raised")
    lists = {"frames": [[MARKUP, 1, MARKUP]], "notes": [MARKUP], "mine_marks": [[0, 9]], "case": {MARKUP: MARKUP}}
    mark = marked(packed, **dict.fromkeys(texts, MARKUP + "\ud800"), **lists)
    shown = {"output_type": "display_data", "data": {"text/html": MARKUP, "text/plain": MARKUP}, "metadata": {}}
    mark["outputs"][0] = [shown, {"output_type": "stream", "name": MARKUP, "text": MARKUP}]
    notebook = nbformat.reads(grading.assembled(packed, json.dumps(mark), 7), as_version=4)
    pages = [
        output.data.get("text/html", "")
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if "data" in output
    ]
    assert any("alert(1)" in page for page in pages)
    assert not any("<script" in page or "<img" in page for page in pages)


@pytest.mark.parametrize(
    "changes",
    [
        {"outcome": "full marks"},
        {"cases": MARKUP},
        {"seconds": "1"},
        {"notes": [7]},
        {"frames": [[MARKUP]], "case": {}},
        {"case": MARKUP},
        {"mine": 7},
        {"points": 28},
        {"layouts": [[["x"], [1], 0], [[1], [1], 0]], "case": {}},
    ],
)
def test_a_mark_in_another_form_is_malformed(packed, changes):
    with pytest.raises(Malformed):
        grading.assembled(packed, json.dumps(marked(packed, **changes)), 7)


@pytest.mark.parametrize("field", ["verdicts", "outputs", "graded_with"])
@pytest.mark.parametrize("value", [None, 7, [], [[7]]])
def test_a_mark_that_lacks_a_field_or_has_another_is_malformed(packed, field, value):
    with pytest.raises(Malformed):
        grading.assembled(packed, json.dumps(marked(packed) | {field: value}), 7)


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
    """The line that a worker's process in this folder says of a submission."""
    text = inspect.getsource(run_step) + 'print(run_step("mark", {}, 1, True))'
    command = [sys.executable, *options, "-c", text]
    answer = subprocess.run(command, cwd=folder, env={}, capture_output=True, text=True).stdout
    with pytest.raises(ModuleNotFoundError) as error:
        text_of(answer)
    return str(error.value)


def test_a_worker_with_another_version_of_the_course_names_its_machine_and_the_version(other_course):
    said = said_by_worker(other_course)
    assert f"{socket.gethostname()} cannot grade for this version of the course, it has 0.0.9 (" in said


def test_a_worker_without_the_course_names_its_machine(tmp_path):
    said = said_by_worker(tmp_path, "-I", "-S")
    assert f"{socket.gethostname()} cannot grade for this version of the course, it has none (" in said


@pytest.mark.sweep
@pytest.mark.parametrize("other_course", ["another step"], indirect=True)
def test_a_worker_with_another_version_of_the_course_ends_grading_with_one_line(cluster, classroom, other_course):
    cluster.worker_apart(other_course)
    grading = cluster.grade(classroom)
    _, error = grading.communicate()
    assert (grading.exitcode, error.count("\n")) == (1, 1)
    assert error.startswith(f"rushlight: {LAB}: {socket.gethostname()} cannot grade for this version of the course")
    assert recorded(classroom) == []


@pytest.mark.parametrize("lacks", ["missing", "missing_compiler", "missing_triton"])
def test_a_machine_without_a_sandbox_or_a_compiler_is_named(submissions, tmp_path, monkeypatch, lacks):
    shutil.copytree(submissions / "untouched", tmp_path / "submitted" / "ada")
    submission = Submission(Lab(LAB, Course(tmp_path)), "ada")
    monkeypatch.setattr(sandbox, lacks, lambda *lab: "it lacks something")
    with pytest.raises(GradingError, match=f"^{socket.gethostname()}: it lacks something$"):
        grading.mark(grading.packed(submission), 1, True)


def end(code):
    os._exit(code)


@pytest.mark.sweep  # `test_nothing_lost.py` has one in a class
def test_a_submission_that_ends_its_marker_is_named_and_the_worker_goes_on():
    try:
        with pytest.raises(NotGraded, match="ended the process that grades it"):
            in_marker(end, 1)
        assert in_marker(abs, -1) == 1
    finally:
        _marker().shutdown()
        _marker.cache_clear()
