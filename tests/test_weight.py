"""Notebooks stay small enough for a reader on a slow line, and for a history that a clone can carry. Files of tests have names."""

from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(("folder", "most"), [("phases", 800), ("labs", 300), ("solutions", 300)])
def test_a_notebook_is_small(folder, most):
    sizes = {path: path.stat().st_size for path in (ROOT / folder).rglob("*.ipynb")}
    assert sizes
    assert {path.stem: size for path, size in sizes.items() if size > 1000 * most} == {}


def test_each_file_of_tests_has_a_name_of_its_own():
    """pytest imports them by name, and refuses the second one, but only in a run that has both."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []
