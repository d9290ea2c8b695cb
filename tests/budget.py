"""The budget: how much CPU time the tests of each folder take, in `make test`.

The time of a test is that of its process and of the processes that it has waited for, with its fixtures. A fixture that several
tests share counts for the first of them. The unit is the CPU time of a loop of a million steps. Each process times a short one
before each file, so that neither a slow machine nor a busy one changes much. `tests/budget.lock` has what each folder took when
it was last recorded, and the tests that took most of it. Every run prints the table.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from statistics import median

import pytest

LOCK = Path(__file__).with_name("budget.lock")
MAY_GROW = 0.1  # of what is recorded
LEAST = 200  # units, which one run takes more than another
WORTH_A_LINE = 50  # units, for a test
STEPS, TIMES = 100_000, 10  # about 3 ms, and a unit

Units = dict[str, float]  # by the name of a folder or of a test


def unit() -> float:
    """CPU seconds of a unit."""
    begin, total = time.process_time(), 0
    for number in range(STEPS):
        total += number & 7
    return TIMES * (time.process_time() - begin)


def cpu_seconds() -> float:
    """Of this process, and of those that it has waited for."""
    return time.process_time() + sum(os.times()[2:4])


class Budget:
    """Measures in the processes that run tests, and adds up in the one that reports."""

    def __init__(self, what: str | None):
        self.what = what  # to do at the end, besides printing the table: "record", "enforce"
        self.path: Path | None = None  # of the latest test, in a process that runs them
        self.before = 0.0
        self.seconds: Counter[str] = Counter()  # by the test's name
        self.loops: list[float] = []
        self.lines: list[str] = []

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item):
        if item.path != self.path:
            self.path = item.path
            item.user_properties.append(("unit", unit()))
        self.before = cpu_seconds()
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item):
        try:
            return (yield)
        finally:
            item.user_properties.append(("cpu", cpu_seconds() - self.before))

    def pytest_runtest_logreport(self, report):
        if report.when != "teardown":
            return
        name = report.nodeid.partition("@")[0]  # xdist adds a group
        for kind, value in report.user_properties:
            if kind == "unit":
                self.loops.append(value)
            if kind == "cpu":
                self.seconds[name] += value

    def pytest_sessionfinish(self, session):
        if hasattr(session.config, "workerinput") or not self.loops or not _is_whole(session.config):
            return
        tests = {name: seconds / median(self.loops) for name, seconds in self.seconds.items()}
        recorded = read()
        self.lines = [*table(by_folder(tests), recorded)]
        if self.what == "record":
            write(tests)
        elif self.what == "enforce" and (grown := [*complaints(tests, recorded)]):
            self.lines += grown
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter):
        if self.lines:
            terminalreporter.section(f"CPU time, in units of {median(self.loops) * 1000:.1f} ms")
            terminalreporter.write("".join(f"{line}\n" for line in self.lines))


def _is_whole(config: pytest.Config) -> bool:
    """Whether these are the tests of `make test`."""
    return config.option.markexpr == "not sweep" and config.args_source == config.ArgsSource.TESTPATHS


def folder_of(test: str) -> str:
    """Of `tests/rushlight/aten/test_sort.py::…`, `tests/rushlight`: what a process does once counts for any of its tests."""
    return "/".join(test.partition("::")[0].split("/")[:-1][:2])


def by_folder(tests: Units) -> Units:
    folders: Counter[str] = Counter()
    for name, units in tests.items():
        folders[folder_of(name)] += units
    return dict(sorted(folders.items()))


def table(folders: Units, recorded: Units) -> Iterable[str]:
    for name, units in [*folders.items(), ("all", sum(folders.values()))]:
        before = recorded.get(name)
        yield f"{units:9,.0f}  {name}" + (f" ({units / before - 1:+.0%})" if before else "")


def complaints(tests: Units, recorded: Units) -> Iterable[str]:
    """The folders that have grown by more than a tenth, each with the tests that have grown most."""
    for name, units in by_folder(tests).items():
        if units - recorded.get(name, 0) <= max(LEAST, MAY_GROW * recorded.get(name, 0)):
            continue
        yield f"{name} takes {units:,.0f} units, and {recorded.get(name, 0):,.0f} are recorded in tests/budget.lock:"
        grown = {test: tests[test] - recorded.get(test, 0) for test in tests if folder_of(test) == name}
        for test in sorted(grown, key=grown.get, reverse=True)[:5]:
            yield f"  {tests[test]:,.0f} units ({recorded.get(test, 0):,.0f} recorded): {test}"


def read() -> Units:
    """The folders and tests of the lock, and `all`."""
    lines = LOCK.read_text(encoding="utf-8").splitlines() if LOCK.exists() else []
    return {name: float(units) for units, name in (line.split(maxsplit=1) for line in lines)}


def write(tests: Units) -> None:
    """A line for all, then one for each folder, then one for each test that takes much."""
    most = {name: units for name, units in sorted(tests.items()) if units >= WORTH_A_LINE}
    rows = {"all": sum(tests.values())} | by_folder(tests) | most
    LOCK.write_text("".join(f"{units:8.0f} {name}\n" for name, units in rows.items()), encoding="utf-8")
