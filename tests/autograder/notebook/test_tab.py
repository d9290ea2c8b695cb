"""A notebook on a page of the site: its cells run without Jupyter, and a judge in the same process decides."""

import sys
from contextlib import nullcontext
from importlib.util import find_spec

import pytest
from first_lab import EXERCISES

from autograder.engine import limits, practice
from autograder.engine.check import function_of
from autograder.engine.exercise import unplug
from autograder.engine.verdict import PASSED, TIMED_OUT, Verdict
from autograder.notebook import kernel, tab

IMPORTS = "import rushlight as rl\nfrom autograder import check, exercise\n"
LAB, STRIDES, OFFSET = "01a_views", "aten.strided.contiguous_strides", "aten.strided.element_offset"
WRONG = """
@exercise(rl.strided)
def contiguous_strides(sizes):
    strides, step = [], 1
    for size in reversed(sizes):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))
"""
WRONG_NAME = IMPORTS + WRONG.replace("strides(", "stride(")
RIGHT = WRONG.replace("size\n    return", "max(size, 1)\n    return")


@pytest.fixture
def shown():
    return []


@pytest.fixture
def page(shown, monkeypatch):
    """A tab in a Python as a browser has it: without IPython, torch and other processes."""
    monkeypatch.setattr(sys, "platform", "emscripten")
    monkeypatch.setattr(tab, "find_spec", lambda name: None)
    for name in "__main__", "IPython", "IPython.display":
        monkeypatch.setitem(sys.modules, name, sys.modules.get(name))
    monkeypatch.setattr(kernel, "_passed", {})
    yield tab.Tab(shown.append)
    unplug(function_of(STRIDES))


def test_a_cell_shows_what_it_prints_and_its_last_value(page, shown):
    assert page.run("a", "x = 2\nprint('one')\nprint('two')\nx + 1")
    assert page.run("b", "x")
    assert page.run("c", "x + 1;") and page.run("d", "") and page.run("e", "y = None\ny")
    assert [output.get("text") or output["data"] for output in shown] == [
        "one\n",
        "two\n",
        {"text/plain": "3"},
        {"text/plain": "2"},
    ]


def test_the_first_lines_are_shown_as_they_end_and_further_ones_in_larger_parts(page, shown):
    assert page.run("a", f"for i in range({2 * tab.LINES_AT_ONCE}): print(i)")
    texts = [output["text"] for output in shown]
    assert texts[: tab.LINES_AT_ONCE] == [f"{i}\n" for i in range(tab.LINES_AT_ONCE)]
    assert len(texts) < 2 * tab.LINES_AT_ONCE and "".join(texts).count("\n") == 2 * tab.LINES_AT_ONCE


def test_two_tabs_of_a_page_have_names_of_their_own(page, shown, monkeypatch):
    monkeypatch.setattr(tab, "find_spec", find_spec)
    other = tab.Tab(shown.append)
    assert page.run("a", "x = 1") and not other.run("b", "x") and other.run("c", "x = 2") and page.run("d", "x")
    assert shown[-1]["data"] == {"text/plain": "1"} and sys.modules["__main__"] is page.namespace


def test_an_error_names_the_lines_of_the_cell_and_none_of_the_tabs(page, shown):
    assert not page.run("first", "def f():\n    return 1 / 0\nprint('before')\nf()")
    assert not page.run("second", "import sys\nsys.exit()")
    assert not page.run("third", "f(")
    printed, error, exit_error, syntax_error = shown
    assert printed["text"] == "before\n" and error["ename"] == "ZeroDivisionError"
    (text,) = error["traceback"]
    assert "return 1 / 0" in text and "tab.py" not in text
    assert (exit_error["ename"], syntax_error["ename"]) == ("SystemExit", "SyntaxError")
    assert syntax_error["traceback"][0].startswith('  File "<third>", line 1\n')
    assert not page.run("wrong name", WRONG_NAME)
    assert "did you mean contiguous_strides?" in shown[-1]["evalue"] and "exercise.py" not in shown[-1]["traceback"][0]
    assert not page.run("fourth", "input('name? ')") and "write the value into the cell" in shown[-1]["evalue"]
    assert page.run("after", "1")


def test_a_long_text_is_cut_and_says_so(page, shown):
    assert page.run("a", f"print('x' * {2 * tab.MAX_OUTPUT})\nprint('y')")
    (output,) = shown
    assert (
        output["text"].count("x\n") == 1
        and "100,000 characters are shown" in output["text"]
        and "y" not in output["text"]
    )


def test_display_shows_pictures_and_html_as_a_page_can(page, shown):
    page.run(
        "a",
        "from IPython.display import display\n"
        "class Shape:\n"
        "    def _repr_svg_(self): return '<svg/>'\n"
        "    def _repr_png_(self): return b'png'\n"
        "    def __repr__(self): return 'shape'\n"
        "display(Shape(), metadata={'image/svg+xml': {'alt': 'a shape'}})",
    )
    (output,) = shown
    assert output["data"] == {"image/svg+xml": "<svg/>", "image/png": "cG5n", "text/plain": "shape"}
    assert output["metadata"] == {"image/svg+xml": {"alt": "a shape"}}


@pytest.fixture(scope="module")
def recordings(tmp_path_factory):
    """The folder with torch's recorded answers to the lab."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(practice, "FOLDER", tmp_path_factory.mktemp("recordings"))
        practice.record(LAB)
        return practice.FOLDER


@pytest.fixture
def recorded(recordings, monkeypatch):
    monkeypatch.setattr(practice, "FOLDER", recordings)
    monkeypatch.setattr(kernel, "_has_shown_practice", False)
    practice.recorded.cache_clear()


def test_a_check_shows_its_card_and_a_piece_that_has_passed_counts_in_another_tab(page, shown, recorded):
    assert page.run("setup", "import rushlight as rl\nfrom autograder import check, exercise")
    assert page.run("piece", WRONG) and not page.run("check", f"check({STRIDES!r})")
    card, error = shown
    assert "the smallest that does not" in card["data"]["text/html"] and "practice" in card["data"]["text/html"]
    assert error["ename"] == "CheckFailed"
    assert page.run("piece", RIGHT, STRIDES)
    shown.clear()
    assert not page.run("check", f"check({OFFSET!r})", passed=[STRIDES])
    assert kernel._still_passes(STRIDES) and f"1 of {EXERCISES} exercises" in shown[0]["data"]["text/html"]
    shown.clear()
    assert page.run("check", f"check({STRIDES!r})", passed=[], too=["together.strided_views"])
    (card,) = shown
    assert kernel._still_passes("together.strided_views")
    assert page.run("another", "", passed=[STRIDES]) and not kernel._still_passes("together.strided_views")
    assert "cases agree with torch" in card["data"]["text/plain"]
    assert "practice" not in card["data"]["text/plain"]  # the first verdict has said it
    assert f"1 of {EXERCISES} exercises" in card["data"]["text/html"]
    assert page.run(
        "piece", WRONG.replace("@exercise(rl.strided)", ""), STRIDES
    )  # the earlier function is no answer to it
    assert not page.run("check", f"check({STRIDES!r})") and "not attempted" in shown[-2]["data"]["text/plain"]
    assert page.run("piece", WRONG.partition("\n    ")[0] + "\n    raise SystemExit", STRIDES)
    assert not page.run("check", f"check({STRIDES!r})")
    assert "your code ended Python\n" in (said := shown[-2]["data"]["text/plain"]) and "it raises SystemExit" in said


def test_a_page_is_told_a_case_as_a_verdict_shows_it(page, shown, recorded, monkeypatch):
    told = []
    monkeypatch.setattr(limits, "tell_page", lambda **message: told.append(message.get("said", "")))
    assert page.run("setup", IMPORTS)
    assert page.run("piece", "@exercise(rl.strided)\ndef element_offset(*_):\n    return 'wrong'", OFFSET)
    assert not page.run("check", f"check({OFFSET!r})")
    unplug(function_of(OFFSET))
    said = [case for case in told if case.startswith("element_offset(")]
    assert said and any(case in shown[-2]["data"]["text/plain"] for case in said)


def test_a_page_says_that_torch_is_not_in_it(page, shown, recorded, monkeypatch):
    monkeypatch.setattr("autograder.engine.judge.IN_BROWSER", True)
    for source in ("raise ModuleNotFoundError(\"No module named 'torch'\", name='torch')", "torch.arange(3)"):
        assert not page.run("a", source)
        assert "there is no torch in this page" in shown[-1]["traceback"][0]
    wrong = "\n@exercise(rl.strided)\ndef contiguous_strides(sizes):\n    return {}.empty(sizes).stride()\n"
    for name, said in (("torch", "there is no torch in this page"), ("np", "or import it here")):
        page.run("strides", IMPORTS + wrong.format(name), exercise=STRIDES)
        assert not page.run("strides, checked", f"check({STRIDES!r})")
        text = next(output["data"]["text/plain"] for output in reversed(shown) if "data" in output)
        assert said in text and "and this one again" not in text and "differs" not in text
        assert text.count(f"name '{name}' is not defined") <= 2


@pytest.mark.parametrize(
    ("body", "has_none"),
    [
        *[("[*sizes]", True), ("if not sizes: return", True), ("return [*sizes]", False), ("yield 1", False)],
        ("return None", False),  # a contract may allow None
        ("def inner():\n        return 1", True),
        ("result = [*size]", False),  # it raised NameError
    ],
)
def test_a_function_without_a_return_is_told_so(page, shown, recorded, body, has_none):
    source = f"\n@exercise(rl.strided)\ndef contiguous_strides(sizes):\n    {body}\n"
    page.run("strides", IMPORTS + source, exercise=STRIDES)
    assert not page.run("strides, checked", f"check({STRIDES!r})")
    text = next(output["data"]["text/plain"] for output in reversed(shown) if "data" in output)
    assert ("your function has no `return` with a value" in text) == has_none


def test_a_case_that_ends_on_the_references_pieces_no_sooner_is_not_decided_again(monkeypatch):
    def endless(*_):
        while True:
            pass

    late = Verdict(STRIDES, TIMED_OUT, case={"sizes": [2]})
    monkeypatch.setattr(limits, "RETRY_SECONDS", (0.1, 0.1))
    monkeypatch.setattr(kernel, "filled", lambda: {("a", "first"): len, ("a", "second"): len})
    monkeypatch.setattr(kernel, "only", lambda functions: nullcontext())
    monkeypatch.setattr(kernel, "_decide", lambda name, case: Verdict(name, PASSED))
    monkeypatch.setattr(kernel, "_answer_quietly", endless)
    assert kernel._retry_on_reference(late) is late
    monkeypatch.setattr(kernel, "_answer_quietly", lambda name, case, printed: [])
    assert kernel._retry_on_reference(late).passed
