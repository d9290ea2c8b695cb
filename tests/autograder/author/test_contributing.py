"""What the page for contributors says of a check: the example decides, and the helpers are those that there are."""

import linecache
import re
from pathlib import Path
from types import ModuleType

import pytest

from autograder.checks import cases
from autograder.engine import check
from autograder.engine.exercise import fill
from autograder.engine.subject import answer
from autograder.engine.verdict import DISAGREED

PAGE = (Path(__file__).parents[3] / "docs" / "contributing.md").read_text(encoding="utf-8")
SECTION = PAGE[PAGE.index("### A check, line by line") :].partition("\n## ")[0]
EXERCISE = "aten.strided.contiguous_strides"


@pytest.fixture
def example(monkeypatch):
    """The example of the page as a check of lab 01a, beside those that there are."""
    (text,) = re.findall(r"```python\n(.*?)```", SECTION, re.S)
    text = text.replace(f'"{EXERCISE}"', f'"{EXERCISE}.example"')
    module = ModuleType("autograder.checks.01a_views.example")
    module.__package__ = "autograder.checks.01a_views"
    monkeypatch.setattr(check, "_registry", dict(check.registry()))
    monkeypatch.setitem(linecache.cache, "<example>", (len(text), None, text.splitlines(True), "<example>"))
    exec(compile(text, "<example>", "exec"), vars(module))
    return f"{EXERCISE}.example"


def test_the_example_accepts_the_reference_and_names_the_mistake(example, judge, plugged):
    assert judge.verdict(example, answer).passed
    fill(check.function_of(EXERCISE), lambda sizes: tuple(range(len(sizes), 0, -1)))
    assert judge.verdict(example, answer).outcome == DISAGREED

    def forgets_that_an_empty_size_counts_as_one(sizes):
        strides, step = [], 1
        for size in reversed(sizes):
            strides.insert(0, step)
            step *= size
        return tuple(strides)

    fill(check.function_of(EXERCISE), forgets_that_an_empty_size_counts_as_one)
    assert "a size of 0 counts as 1" in judge.verdict(example, answer).hint


def test_the_helpers_of_the_table_exist():
    table = [row.split("|")[1] for row in SECTION.splitlines() if row.startswith("| `")]
    named = {name for cell in table for name in re.findall(r"`(\w+)", cell)}
    assert len(named) > 14 and [name for name in named if not hasattr(cases, name)] == []
