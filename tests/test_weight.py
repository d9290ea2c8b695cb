"""Notebooks stay small enough for a reader on a slow line, and for a history that a clone can carry."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(("folder", "most"), [("phases", 800), ("labs", 300), ("solutions", 300)])
def test_a_notebook_is_small(folder, most):
    sizes = {path: path.stat().st_size for path in (ROOT / folder).rglob("*.ipynb")}
    assert sizes
    assert {path.stem: size for path, size in sizes.items() if size > 1000 * most} == {}
