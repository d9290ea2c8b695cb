"""The browser's Python, whose addresses have 32 bits and which has no threads, observes what torch answers natively."""

import base64
import json
import sys
from pathlib import Path

import pytest

from autograder.engine import limits, practice
from autograder.engine.check import find, is_on_torch, registry
from autograder.model import lab_names
from docs.programs.browser import packing, parts
from docs.programs.hooks import tab

ROOT = Path(__file__).parents[2]
LISTED = tab.LISTED
LABS = [lab for lab in lab_names() if not is_on_torch(lab)]
PART = [  # what was once different: threads, int64, bfloat16, a coarse clock; what still is (`test_lab_page.py` tries lab 01a)
    *("c10.dispatch.call", "together.training", "course.sampling.generate", "course.training.checkpoint"),
    *("together.profile", "ao.quantization.affine.quantize_per_tensor", "utils.cpp_extension.rms_norm_source"),
    "dynamo.bytecode.read_instructions",
]

START = """async (program) => {
    const { loadPyodide } = await import("/pyodide.mjs");
    const python = window.python = await loadPyodide({ indexURL: "/" });
    await python.loadPackage("numpy", { messageCallback() {} });
    python.unpackArchive(await (await fetch("/course.zip")).arrayBuffer(), "zip", { extractDir: "/course" });
    python.runPython(program);
}"""
REPLAY = """
import base64, json, sys
from types import FunctionType
sys.path.insert(0, "/course")
from autograder.engine import practice
from autograder.engine.check import find, function_of, is_milestone
from autograder.engine.exercise import fill, is_filled
from autograder.engine.judge import Judge
from autograder.engine.observe import difference
from autograder.engine.source import NotRecorded
from autograder.engine.subject import answer

def plug_in(slot):
    copy = FunctionType(slot.__code__, slot.__globals__, slot.__name__, slot.__defaults__)
    copy.__kwdefaults__ = slot.__kwdefaults__
    fill(slot, copy)

def apart(name):
    '''What the reference observes otherwise than torch, first of all, or why its verdict is not that it passes, or nothing.'''
    try:
        known = practice.recorded(name)
    except NotRecorded as error:
        return str(error)
    if not is_milestone(name) and not is_filled(function_of(find(name).exercise)):
        plug_in(function_of(find(name).exercise))
    if words := next(filter(None, map(difference, answer(name, known.cases), known.answers)), ""):
        return words
    verdict = Judge(source=practice.Practice()).verdict(name, answer)  # which imports more than an answer does
    return "" if verdict.passed else str(verdict)

def replay(lab, data, names):
    practice.FOLDER.mkdir(exist_ok=True)
    (practice.FOLDER / f"{lab}.zip").write_bytes(base64.b64decode(data))
    return json.dumps({name: apart(name) for name in names.split()})
"""
ENDLESS = """
def endless(name):
    '''The verdict on a body that does not end on empty tensors.'''
    from autograder.engine import limits
    from autograder.engine.check import function_of
    from autograder.engine.exercise import fill, unplug
    from autograder.notebook.kernel import _decide_here

    def body(sizes):
        while 0 in sizes:
            try:
                sum(sizes)
            except Exception:
                pass
        return right(sizes)

    limits.CHECK_SECONDS = (0.5, 0.5)
    slot = function_of(name)
    right = type(slot)(slot.__code__, slot.__globals__)
    fill(slot, body)
    try:
        return str(_decide_here(name, None))
    finally:
        unplug(slot)
"""


@pytest.fixture(scope="module")
def started(browser, tmp_path_factory):
    """A page in which the course's Python runs, as a function that calls one of `REPLAY` or `ENDLESS` there."""
    place = parts.fetched()
    if place is None:
        pytest.skip("the parts for the browser are not here (`python docs/programs/browser/parts.py` fetches them)")
    course = tmp_path_factory.mktemp("wasm") / "course.zip"
    course.write_bytes(packing.zipped({name: path.read_bytes() for name, path in _course()}))
    page = browser.new_page()

    def give(route):
        name = route.request.url.rpartition("/")[2]
        path = course if name == course.name else place / name
        route.fulfill(path=path) if name else route.fulfill(body="", content_type="text/html")

    page.route("**/*", give)
    page.goto("http://localhost/")
    page.evaluate(START, REPLAY + ENDLESS)
    yield lambda name, *given: page.evaluate("([name, ...given]) => python.globals.get(name)(...given)", [name, *given])
    page.close()


@pytest.fixture
def python(started):
    """Replay checks of a lab in a page. Returns what is different, by check."""

    def replay(lab, names):
        data = base64.b64encode((practice.FOLDER / f"{lab}.zip").read_bytes()).decode()
        told = json.loads(started("replay", lab, data, " ".join(names)))
        return {name: words for name, words in told.items() if words}

    return replay


def _course():
    yield from tab._course()
    yield tab.GPT.relative_to(ROOT).as_posix(), tab.GPT
    for lab in LABS:
        yield from (
            (path.relative_to(ROOT).as_posix(), path) for path in (ROOT / "autograder/checks" / lab).glob("*.py")
        )


def listed(names):
    """Those of the checks that are on the list."""
    same = (
        ("bytecode",) if sys.version_info[:2] == (3, 12) else ()
    )  # the recordings of this test are those of this Python
    return {name for kind, entry in LISTED.items() if kind not in same for name in entry["checks"]} & {*names}


@pytest.mark.sweep  # Python in the browser; `test_lab_page.py` has a check there
def test_what_once_was_different_is_as_recorded(python, tmp_path, monkeypatch):
    monkeypatch.setattr(practice, "FOLDER", tmp_path / "recordings")
    monkeypatch.setattr(practice, "registry", lambda: {name: find(name) for name in PART})
    apart = {}
    for lab in dict.fromkeys(find(name).lab for name in PART):
        practice.record(lab)
        apart |= python(lab, [name for name in PART if find(name).lab == lab])
    assert apart.keys() == listed(PART), apart


@pytest.mark.sweep
def test_an_endless_loop_has_the_verdict_of_a_notebook(started, python, tmp_path, monkeypatch):
    name = "aten.strided.contiguous_strides"
    monkeypatch.setattr(practice, "FOLDER", tmp_path / "recordings")
    monkeypatch.setattr(practice, "registry", lambda: {name: find(name)})
    monkeypatch.setattr(limits, "CHECK_SECONDS", (0.5, 0.5))
    practice.record("01a_views")
    exec(ENDLESS, own := {})
    assert python("01a_views", [name]) == {}
    said = started("endless", name)
    assert said == own["endless"](name)
    assert "timed out" in said and "an endless loop, perhaps" in said and "sizes = [" in said


@pytest.mark.sweep
@pytest.mark.parametrize("lab", LABS)
def test_a_lab_is_as_recorded(python, lab):
    practice.record(lab)
    names = [check.name for check in registry().values() if check.lab == lab and check.examine is None]
    apart = python(lab, names)
    assert apart.keys() == listed(names), apart


def test_every_listed_check_exists_and_has_a_reason():
    assert all(entry["reason"] and [*map(find, entry["checks"])] for entry in LISTED.values())
