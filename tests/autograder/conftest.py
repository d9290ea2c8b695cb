import json
import multiprocessing
import os
import shutil
import sqlite3
import subprocess
import sys
import types
from concurrent.futures import ProcessPoolExecutor
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path

import nbformat
import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from at_once import AtOnce
from feedback import Feedback
from jsonschema import Draft4Validator
from nbgrader import api
from nbgrader.apps.nbgraderapp import NbGraderApp
from sqlalchemy import event
from sqlalchemy.engine import Engine

from autograder import language
from autograder.classroom import grade as grading
from autograder.classroom import sample
from autograder.course import RELEASED, SOURCES, set_environment
from autograder.engine import sandbox
from autograder.engine.check import function_of
from autograder.engine.edition import edition
from autograder.engine.exercise import fill, unplug
from autograder.engine.judge import Judge
from autograder.engine.sandbox import Sandbox
from autograder.model import Course, Lab

LAB = "01a_views"


@pytest.fixture(scope="session")
def judge(drawn_once):
    return Judge(seed=1)


@pytest.fixture
def french(tmp_path_factory, monkeypatch):
    """`french(messages)`: the course has French, with these translations of what the code says, and no other language."""
    cached = (language._catalogue, language._patterns, language._asked_for)
    monkeypatch.setattr(language, "FOLDER", tmp_path_factory.mktemp("translations"))

    def write(messages):
        path = language.FOLDER / "fr" / "verdicts.po"
        path.parent.mkdir()
        entries = [f"msgid {json.dumps(english)}\nmsgstr {json.dumps(said)}\n" for english, said in messages.items()]
        path.write_text("\n".join(entries))
        for function in cached:
            function.cache_clear()

    yield write
    for function in cached:
        function.cache_clear()


@pytest.fixture
def classroom(tmp_path, monkeypatch):
    """The folder of a class of its own, with nothing in it but the seed."""
    folder = tmp_path / "class"
    folder.mkdir()
    (folder / "seed").write_text("1")  # the same for all tests, so that the cases are drawn once
    monkeypatch.setenv("RUSHLIGHT_CLASSROOM", str(folder))
    return folder


@pytest.fixture(scope="session")
def isolated():
    """Sandboxes are there for the asking, or the test is skipped; in CI they have to be there."""
    reason = sandbox.missing()
    if reason and os.environ.get("CI") != "true":
        pytest.skip(reason)
    assert reason is None
    return True


@pytest.fixture(scope="module")
def shared_box(isolated):
    """A sandbox for the tests of a file that only look around in it. To start one takes half a second."""
    box = Sandbox(edition(Lab(LAB)))
    yield box
    box.close()


@cache
def version_of_tables():
    with api._temp_alembic_ini("sqlite:////tmp/gradebook.db") as settings:
        return ScriptDirectory.from_config(Config(settings)).get_current_head()


@pytest.fixture(scope="session", autouse=True)
def schema_version():
    """Of a new gradebook nbgrader asks another program which version of the tables it has: here this process finds it out, once."""
    set_environment()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(api, "get_alembic_version", version_of_tables)
        yield


@pytest.fixture(scope="session", autouse=True)
def unsafe_at_power_cuts():
    """No commit waits for the disk, which is a quarter of the time that nbgrader takes. A kill loses nothing by it."""

    def begin(connection, _):
        if isinstance(connection, sqlite3.Connection):
            connection.execute("pragma synchronous = off")

    event.listen(Engine, "connect", begin)
    yield
    event.remove(Engine, "connect", begin)


@pytest.fixture(scope="session", autouse=True)
def prepared_once():
    """nbgrader asks for each cell whether its schema of a cell is one, and compiles its SQL for each `Gradebook`: here it does both
    once for a class."""
    check_schema = Draft4Validator.check_schema
    check = cache(lambda schema: check_schema(json.loads(schema)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Draft4Validator, "check_schema", lambda schema: check(json.dumps(schema)))
        patch.setattr(api, "create_engine", lru_cache(4)(api.create_engine))
        yield


@pytest.fixture(scope="session")
def feedback():
    feedback = Feedback()
    yield feedback
    feedback.pool.shutdown()


class Marker(AtOnce):
    """Marks submissions in this very process, and each but once in a run of the tests, whoever hands it in: a mark follows from
    the rest of what `mark` is given."""

    def submit(self, step, *given):
        assert step is grading.mark
        return super().submit(self._marked, *given)

    def _marked(self, given, *more):
        digest = sha256(json.dumps([given | {"student": ""}, *more]).encode()).hexdigest()
        kept = Path(os.environ["RUSHLIGHT_TESTS"], f"marked-{digest}")
        if not kept.exists():
            aside = kept.with_name(f"{kept.name}.{os.getpid()}")
            aside.write_text(grading.mark(given, *more), encoding="utf-8")
            aside.rename(kept)
        return kept.read_text(encoding="utf-8")


@pytest.fixture
def marker():
    """A `Marker` for tests that do not call `quick_grade`."""
    return Marker()


@pytest.fixture(scope="session")
def quick_grade(feedback, drawn_once):
    """`grade` with a `Marker`, and one process for the feedback of all tests."""

    def quick_grade(lab, executor=None, **options):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(grading, "markers", lambda jobs: feedback)
            return grading.grade(Lab(lab), jobs=1, executor=executor or Marker(), **options)

    return quick_grade


@pytest.fixture
def forked_markers(drawn_once, monkeypatch):
    """The markers of `grade` are forked from this process, which has imported torch and knows the cases."""

    def markers(jobs):
        return ProcessPoolExecutor(jobs, multiprocessing.get_context("fork"), grading._begin_marker, (os.getpid(),))

    monkeypatch.setattr(grading, "markers", markers)


@pytest.fixture
def lab():
    """The lab that a test is about; tests that hold for all of them take it from a list."""
    return LAB


@pytest.fixture
def released(lab):
    return nbformat.read(RELEASED / lab / f"{lab}.ipynb", as_version=4)


@pytest.fixture
def answers(lab):
    """The source of every answer cell, by cell id."""
    return sample.answers(nbformat.read(SOURCES / lab / f"{lab}.ipynb", as_version=4))


@pytest.fixture
def solved(released, answers):
    sample.fill(released, answers)
    return released


@pytest.fixture
def plugged(request):
    """Every exercise of the phase (of the test's `check` or `lab`, if it has one) plugged in, with copies of the reference; taken
    out again afterwards. The labs of the clinic use nothing of each other."""
    given = request.node.callspec.params if hasattr(request.node, "callspec") else {}
    own = given["check"].lab if "check" in given else given.get("lab", LAB)
    labs = Course().find_labs(own if own.startswith("13") else own[:2])
    slots = [function_of(name) for lab in labs for name in lab.exercises]
    for slot in slots:
        copy = types.FunctionType(slot.__code__, slot.__globals__, slot.__name__, slot.__defaults__)
        copy.__kwdefaults__ = slot.__kwdefaults__
        fill(slot, copy)
    yield
    for slot in slots:
        unplug(slot)


@pytest.fixture(scope="session")
def root():
    return Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def submissions(tmp_path_factory):
    """The folder of the sample class's submissions. To be copied from, not changed."""
    place = tmp_path_factory.mktemp("sample")
    sample.make(place)
    return place / "submitted"


@pytest.fixture(scope="session")
def empty_gradebook(tmp_path_factory, schema_version):
    """A gradebook as nbgrader makes it for a new class. To be copied."""
    path = tmp_path_factory.mktemp("gradebook") / "gradebook.db"
    api.Gradebook(f"sqlite:///{path}", "rushlight").close()
    return path


def run_forked(arguments, folder, environment, file):
    """Run a command of nbgrader that needs no judge, in a fork: this process has imported what it needs. Returns the exit code
    and the output."""

    def run():
        sys.stdout = sys.stderr = file.open("w", encoding="utf-8", errors="backslashreplace")
        os.chdir(folder)
        os.environ.update(environment)
        NbGraderApp.launch_instance(arguments)

    process = multiprocessing.get_context("fork").Process(target=run)
    process.start()
    process.join()
    return process.exitcode, file.read_text(encoding="utf-8")


@pytest.fixture
def nbgrader(request, tmp_path, root, submissions, isolated):
    """`nbgrader(command, ...)` on a class with the students asked for; `nbgrader.place` is where it lies."""

    def call(*arguments, grader="rushlight", fails=False):
        environment = {"RUSHLIGHT_CLASSROOM": str(tmp_path), "RUSHLIGHT_GRADER": grader}
        # the others need no judge here, and `validate` prints to the output that was there when it was imported
        programs = ("validate",) if request.config.option.markexpr else ("autograde", "validate")
        if arguments[0] not in programs or grader == "stock":
            code, said = run_forked(arguments, root, environment, tmp_path / "said")
        else:
            done = subprocess.run(
                [sys.executable, "-m", "nbgrader", *arguments],
                cwd=root,
                env=os.environ | environment,
                capture_output=True,
                text=True,
            )
            code, said = done.returncode, done.stdout + done.stderr
        assert (code != 0) == fails, said
        return said

    def enrol(*students):
        for student in students:
            shutil.copytree(submissions / student, tmp_path / "submitted" / student)

    def hand_in(student, lab, notebook):
        path = tmp_path / "submitted" / student / lab / f"{lab}.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(notebook, path)

    call.enrol, call.hand_in, call.place = enrol, hand_in, tmp_path
    return call


@pytest.fixture(scope="session")
def said():
    """`said(box, source)`: what a cell prints in a sandbox, or the names of its errors."""

    def run(box, source):
        outputs = box.request({"cell": source}, 60)["outputs"]
        return "".join(o["text"] if o["output_type"] == "stream" else o.get("ename", "") for o in outputs)

    return run
