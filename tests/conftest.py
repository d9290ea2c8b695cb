import gc
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import budget
import pytest

os.environ["LANGUAGE"] = "en"  # whatever the machine's own is
os.environ["XDG_STATE_HOME"] = os.devnull  # no first answers to predictions are kept
COMPILER = Path(__file__).parent / "compiler" / "g++"
SHARD, SHARDS = map(int, (os.environ.get("SHARD") or "1/1").split("/"))
SWEEP_SECONDS = 4500  # of `make test-all` on two cores, without the trials of exercises, whose seconds are in the lock


def pytest_addoption(parser):
    parser.addoption(
        "--lock", metavar="EXERCISES", help="try these exercises, or all that have `changed`; record what held"
    )
    parser.addoption(
        "--budget", choices=["record", "enforce"], help="what to do with the CPU time of the tests' folders"
    )
    parser.addoption("--seeds", type=int, default=3, help="the right answers get the cases of so many classes")


# The process that starts the workers needs no torch. So what imports torch is imported in the functions that use it.
def pytest_report_header(config):
    if not config.option.markexpr and not config.option.lock:
        import guarantees

        trials = guarantees.read().seconds(guarantees.every_exercise()[SHARD - 1 :: SHARDS])
        return f"shard {SHARD} of {SHARDS}, which takes {guarantees.in_words(trials / 2 + SWEEP_SECONDS / SHARDS)}"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """One shard of the tests. The trials of an exercise stay together, and so do the tests of a group."""
    import guarantees

    # The site's group (see `_group`), then mypy and others that wait for one process. They would end last.
    first = "browser", "tests"
    items.sort(key=lambda item: first.index(name) if (name := item.path.parent.name) in first else len(first))
    for item in items:
        if item.path.suffix == ".ipynb":  # `tests/docs/test_runs.py` says which of them runs
            item.add_marker(pytest.mark.sweep)
        tags = getattr(item, "cell", {}).get("metadata", {}).get("tags", ())
        if "compiler" in tags and not _has_compiler():
            item.add_marker(pytest.mark.skip(reason="there is no C++ compiler here"))
        if "triton" in tags and not find_spec("triton"):
            item.add_marker(pytest.mark.skip(reason="Triton is not installed here"))
    names = guarantees.every_exercise()
    groups = [guarantees.trial_of(item) or _group(item) for item in items]
    number = {name: position for position, name in enumerate(sorted({*groups} - {*names}))}
    number |= {name: position for position, name in enumerate(names)}
    kept, left = [], []
    for item, group in zip(items, groups):
        (kept if number[group] % SHARDS == SHARD - 1 else left).append(item)
        item.add_marker(pytest.mark.xdist_group(group))
    if left:
        config.hook.pytest_deselected(items=left)
    items[:] = kept


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc):
    """`make test` makes no items of the parameters that it leaves out, which are most of them. If all are, one is deselected."""
    if metafunc.config.option.markexpr != "not sweep":
        return
    definition = metafunc.definition
    whole = definition.get_closest_marker("sweep") is not None
    definition.own_markers[:] = [_without_swept(mark, whole) for mark in definition.own_markers]


def _without_swept(mark, whole):
    """A mark, without the parameters that are marked `sweep`, or all but one if the whole test is."""
    if mark.name != "parametrize":
        return mark
    given = dict(zip(("argnames", "argvalues", "indirect", "ids"), mark.args)) | mark.kwargs
    values = given["argvalues"] = [*given["argvalues"]]
    stay = [place for place, value in enumerate(values) if not (whole or _is_swept(value))] or [*range(len(values))][:1]
    for name in ("argvalues", "ids"):
        if isinstance(given.get(name), Sequence):
            given[name] = [given[name][place] for place in stay]
    return pytest.mark.parametrize(**given).mark


def _is_swept(value):
    return any(mark.name == "sweep" for mark in getattr(value, "marks", ()))


def _has_compiler():
    return any(map(shutil.which, filter(None, (os.environ.get("CXX"), "g++", "clang++", "c++"))))


def pytest_collection():
    """Nothing is freed while tests are collected, so no time is spent on looking for it."""
    gc.disable()


def pytest_collection_finish():
    """Keep the present objects (torch, thousands of tests) out of later searches for garbage, because they stay to the end. The
    searches are rarer than usual: what a test makes, such as syntax trees, is looked through less often before it is let go."""
    gc.freeze()
    gc.set_threshold(10_000)
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item, nextitem):
    """Do the same at the end of a file's tests: what is left then, such as drawn cases, stays too."""
    yield
    if nextitem is None or nextitem.path != item.path:
        gc.collect()
        gc.freeze()


def _group(item):
    """A worker has a group to itself: all that look at the site, or a file's tests, or those on one lab or exercise."""
    fixtures = getattr(item, "fixturenames", ())  # a cell of a notebook has none
    if "database" in fixtures and item.config.option.markexpr:  # torch's samples, whose import takes two seconds
        return "samples"
    if item.path.parent.name == "browser" and "folder" in fixtures:
        return "browser-site"
    from autograder.engine.check import Check

    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    about = [str(parameters[name]) for name in ("lab", "exercise") if name in parameters]
    about += [check.lab for check in parameters.values() if isinstance(check, Check)]
    return "-".join([item.path.parent.name, item.path.stem, *about])


def pytest_configure(config):
    """A folder for what this run of the tests needs to make but once. (Workers of xdist have it from who started them.)"""
    if config.option.lock:
        import guarantees

        only = () if config.option.lock == "changed" else config.option.lock.split()
        config.pluginmanager.register(guarantees.Recorder(config, only))
    config.pluginmanager.register(budget.Budget(config.option.budget))
    if hasattr(config, "workerinput"):
        return
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # hundreds of processes would compile the course again
    os.environ |= {
        "OMP_WAIT_POLICY": "PASSIVE",
        "OPENBLAS_NUM_THREADS": "1",
    }  # a thread that waits leaves its core to the others
    folder = tempfile.mkdtemp(prefix="rushlight-tests-")
    os.environ["RUSHLIGHT_TESTS"] = folder
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    if sys.platform == "linux" and shutil.which("g++") and not os.environ.get("CXX"):
        os.environ["CXX"] = str(COMPILER)


@pytest.fixture
def seeded():
    """What a test of many cases calls before each of them. Those of the framework seed its generators and torch's."""
    return lambda: None


@pytest.fixture(scope="session")
def drawn_once(pytestconfig):
    """Keep the cases that a judge draws for a lab's check from a seed, and torch's answers, for the other judges of this run."""
    from autograder.engine.source import PendingCases
    from autograder.engine.torch_source import TorchSource
    from autograder.model import lab_names

    begin, seeds = TorchSource.begin, range(1, pytestconfig.option.seeds + 1)

    def begun(self, check):
        if check.name in self._pending or self.seed not in seeds:
            return begin(self, check)
        if check.lab not in lab_names():  # a test's own
            pending = begin(self, check)
            pending.answers()  # first, since its subject is this very process
            return pending
        kept = Path(os.environ["RUSHLIGHT_TESTS"], f"{check.name}-{self.seed}")
        if not kept.exists():
            pending = begin(self, check)
            aside = kept.with_name(f"{kept.name}.{os.getpid()}")
            aside.write_bytes(pickle.dumps((pending.cases, pending.answers(), pending.edges)))
            aside.rename(kept)
        cases, answers, edges = pickle.loads(kept.read_bytes())
        self._pending[check.name] = PendingCases(cases, lambda: answers, edges)
        return self._pending[check.name]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TorchSource, "begin", begun)
        yield


@pytest.fixture(scope="session")
def precompiled():
    """PyTorch's headers as lab 06's reference includes them: a text that begins with the same ones is compiled in half the time."""
    if os.environ.get("CXX") == str(COMPILER):
        from rushlight.on_torch import cpp_ops

        with tempfile.TemporaryDirectory() as place:
            Path(place, "operator.cpp").write_text(cpp_ops.rms_norm_source(), encoding="utf-8")
            subprocess.run([*cpp_ops.command(), "--precompile"], cwd=place, check=True)
