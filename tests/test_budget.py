"""What a run says of the CPU time of its tests."""

import subprocess
import sys

import budget

OLD, SLOW, QUICK = (f"tests/docs/test_a.py::{name}" for name in ("test_old", "test_slow", "test_quick"))
OTHER = "tests/rushlight/aten/native/test_b.py::test_other"


def test_a_folder_that_has_grown_is_named_with_the_tests_that_have_grown_most(tmp_path, monkeypatch):
    monkeypatch.setattr(budget, "LOCK", tmp_path / "budget.lock")
    assert budget.read() == {}
    budget.write({OLD: 1000.0, QUICK: 1.0, OTHER: 300.0})
    assert budget.read() == {"all": 1301, "tests/docs": 1001, "tests/rushlight": 300, OLD: 1000, OTHER: 300}
    assert [*budget.complaints({OLD: 1090.0, QUICK: 2.0, OTHER: 320.0}, budget.read())] == []
    folder, *tests = budget.complaints({OLD: 1010.0, QUICK: 2.0, SLOW: 250.0, OTHER: 300.0}, budget.read())
    assert folder == "tests/docs takes 1,262 units, and 1,001 are recorded in tests/budget.lock:"
    assert tests[0] == f"  250 units (0 recorded): {SLOW}" and len(tests) == 3


def test_a_folder_that_is_new_is_named_too(tmp_path, monkeypatch):
    monkeypatch.setattr(budget, "LOCK", tmp_path / "budget.lock")
    budget.write({OLD: 1000.0})
    assert [line.split()[0] for line in budget.complaints({OLD: 1000.0, OTHER: 260.0}, budget.read())][
        0
    ] == "tests/rushlight"


def test_the_table_has_a_line_for_each_folder_and_one_for_all():
    shown = [*budget.table(budget.by_folder({OLD: 1000.0, OTHER: 60.0}), {"tests/docs": 800.0})]
    assert shown == ["    1,000  tests/docs (+25%)", "       60  tests/rushlight", "    1,060  all"]


def test_time_of_processes_that_were_waited_for_is_counted():
    before = budget.cpu_seconds()
    subprocess.run([sys.executable, "-c", "import time\nwhile time.process_time() < 0.3: pass"], check=True)
    assert budget.cpu_seconds() - before >= 0.2
