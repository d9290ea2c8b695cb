"""Notebooks stay small enough for a reader on a slow line, and for a history that a clone can carry. The framework says what it
weighs. Files of tests have names."""

import re
from collections import Counter
from pathlib import Path

import pytest

from bench.weight import code_lines, room_of

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(("folder", "most"), [("phases", 800), ("labs", 300), ("solutions", 300)])
def test_a_notebook_is_small(folder, most):
    sizes = {path: path.stat().st_size for path in (ROOT / folder).rglob("*.ipynb")}
    assert sizes
    assert {path.stem: size for path, size in sizes.items() if size > 1000 * most} == {}


def test_the_page_says_what_the_framework_weighs():
    (said,) = re.findall(
        r"^\| framework, by hand \| ([\d,]+) \|$", (ROOT / "docs/contributing.md").read_text(), re.MULTILINE
    )
    by_hand = (path for path in (ROOT / "rushlight").rglob("*.py") if room_of(path) not in ("generated", "clinic"))
    count = sum(code_lines(path.read_text(encoding="utf-8")) for path in by_hand)
    assert abs(int(said.replace(",", "")) - count) <= count / 100


def test_each_file_of_tests_has_a_name_of_its_own():
    """pytest imports them by name, and refuses the second one, but only in a run that has both."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []
