"""The time that a student's code takes, as the limits count it."""

import contextlib
import platform
import subprocess
import sys
import time

import pytest

from autograder.engine import limits
from autograder.engine.check import is_on_torch
from autograder.engine.limits import LOOP_SECONDS, OwnTime, limited, seconds
from autograder.engine.observe import SubjectTimedOut


@pytest.fixture
def own_time():
    """`own_time(source)`: what a Python process takes, with what it starts, until it ends, and how long that was by the clock."""

    def own_time(source):
        begun = time.monotonic()
        with subprocess.Popen([sys.executable, "-c", source]) as process:
            clock = OwnTime(process.pid)
            while process.poll() is None:
                time.sleep(limits.WATCH_SECONDS)
                clock.measure()
        return clock.seconds(), time.monotonic() - begun

    return own_time


CPU = "import time\nwhile time.process_time() < 2: pass\n"


@pytest.mark.sweep
def test_cpu_time_counts_however_busy_the_machine_is(own_time):
    hogs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(8)]
    try:
        taken, clock = own_time(CPU)
    finally:
        for hog in hogs:
            hog.kill()
    assert 1 < taken < 3.5 and clock > taken


@pytest.mark.sweep
def test_cpu_time_of_what_it_starts_counts(own_time):
    taken, _ = own_time(f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {CPU!r}])")
    assert taken > 1


def test_waiting_counts(own_time):
    taken, clock = own_time("import time; time.sleep(2)")
    assert 0.5 < taken <= clock


VFORK = """
import ctypes, os, platform, time
number = {"x86_64": 56, "aarch64": 220}[platform.machine()]
if ctypes.CDLL(None).syscall(number, 0x4000 | 17, 0, 0, 0, 0) == 0:  # CLONE_VFORK: until the child ends, state D
    time.sleep(20)
    os._exit(0)
"""


@pytest.mark.skipif(platform.machine() not in ("x86_64", "aarch64"), reason="the number of clone is not known")
def test_a_wait_that_looks_like_one_for_a_disk_counts_in_part():
    with subprocess.Popen([sys.executable, "-c", VFORK]) as process:
        clock = OwnTime(process.pid)
        while process.poll() is None and clock.seconds() < 1:
            time.sleep(limits.WATCH_SECONDS)
            clock.measure()
        process.kill()
    assert clock.seconds() >= 1


def test_the_limits_are_the_references_where_they_were_chosen_and_more_on_a_slower_machine(monkeypatch):
    limits._slowness.cache_clear()
    monkeypatch.setattr(limits, "_loop", lambda: LOOP_SECONDS / 2)
    assert [seconds((10.0, 60.0), is_on_torch(lab)) for lab in ("01a_views", "06a_operators")] == [10, 60]
    limits._slowness.cache_clear()
    monkeypatch.setattr(limits, "_loop", lambda: LOOP_SECONDS * 3)
    assert seconds((10.0, 60.0), is_on_torch("01a_views")) == 30
    limits._slowness.cache_clear()


def test_what_takes_too_long_is_interrupted_even_if_it_catches_everything():
    def stubborn():
        for _ in range(3):
            with contextlib.suppress(BaseException):  # as a student's code may
                time.sleep(3600)
        return "done"

    with pytest.raises(SubjectTimedOut, match="an endless loop, perhaps"):
        limited(stubborn, 0.5)
    assert limited(lambda: "in time", 600) == "in time"
    with pytest.raises(ZeroDivisionError):
        limited(lambda: 1 / 0, 600)
