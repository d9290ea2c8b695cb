"""The rules of an exercise are in a fold of its lab. The docstring in the lab and `ask` are enough to find them."""

import ast
import doctest
import inspect
import re
import textwrap

import pytest

import autograder
from autograder import translation
from autograder.author.build import exercise_source, rules_of
from autograder.engine.asking import call_of_ask, complete, listed
from autograder.engine.check import find, function_of
from autograder.engine.exercise import fill, unplug
from autograder.engine.judge import Judge
from autograder.exam.draw import _contract
from autograder.model import Lab, lab_names
from autograder.notebook import kernel
from solutions.shared import copied

RULED = [(lab, name) for lab in lab_names() for name in Lab(lab).exercises if rules_of(name)]
CODE = re.compile(r"```python\n(.+?)\n```", re.DOTALL)
SHORTEST = 12  # characters of a line that is code of its own


@pytest.fixture(scope="module")
def judge():
    return Judge(0)


def _beside_the_check(lab, name, step):
    cells = Lab(lab).released["cells"]
    at = next(i for i, cell in enumerate(cells) if cell["metadata"].get("rushlight", {}).get("check") == name)
    return "".join(cells[at + step]["source"])


def _above_the_check(lab, name):
    """The cell above the check of an exercise in the students' lab, with the call of `ask`."""
    return _beside_the_check(lab, name, -1)


def _below_the_check(lab, name):
    """The cell below the check of an exercise in the students' lab: the rules and the hints."""
    return _beside_the_check(lab, name, 1)


def _parts(name):
    """The function in a lab, and its docstring there."""
    (function,) = ast.parse(exercise_source(name)).body
    return function, ast.get_docstring(function)


def _reference(name):
    return ast.parse(textwrap.dedent(inspect.getsource(function_of(name)))).body[0]


def test_there_are_exercises_with_rules():
    assert len(RULED) >= 10


@pytest.mark.parametrize(("lab", "name"), RULED)
def test_the_call_above_the_check_prints_torchs_answer_which_is_the_references(lab, name, judge, monkeypatch, capsys):
    slot, verdicts = function_of(name), []

    def decide(name, case):
        verdicts.append(judge.replay(name, case, lambda name, cases: kernel._answer(name, cases, {})))
        return verdicts[-1]

    def ask(name, **case):
        kernel.ask(name, **case)
        fill(slot, copied(slot))
        case = complete(find(name), case)
        decide(name, case)
        assert case in find(name).edges  # to which a page has torch's answers

    monkeypatch.setattr(kernel, "_decide", decide)
    monkeypatch.setattr(autograder, "ask", ask)
    try:
        exec(CODE.search(_above_the_check(lab, name))[1], {})
    finally:
        unplug(slot)
    asked, reference = verdicts
    assert capsys.readouterr().out == f"{asked.theirs}\n" and asked.theirs and reference.passed


@pytest.mark.parametrize(("lab", "name"), RULED)
def test_the_calls_that_ask_lists_mean_edges_to_which_a_page_has_torchs_answers(lab, name):
    check, asked = find(name), []
    for case in listed(check):
        exec(call_of_ask(check, case), {"ask": lambda _, **short: asked.append(complete(check, short))})
    assert asked == listed(check) and all(case in check.edges for case in asked)


@pytest.mark.parametrize(("lab", "name"), RULED)
def test_the_docstring_in_the_lab_names_arguments_and_errors_and_has_two_examples(lab, name):
    function, contract = _parts(name)
    assert "Rules:" not in contract and f"Rules</summary>\n\n{rules_of(name)}\n\n" in _below_the_check(lab, name)
    arguments = [*function.args.args, *function.args.kwonlyargs, *filter(None, [function.args.vararg])]
    given = {argument.arg for argument in arguments} - {"self"}
    described = re.search(r"^Args:\n((?: .*\n|\n)+)", contract + "\n", re.MULTILINE)[1]
    assert given == {*re.findall(r"\w+", " ".join(re.findall(r"^    ([\w, ]+):", described, re.MULTILINE)))}
    examples = doctest.DocTestParser().get_examples(contract)
    assert sum(bool(example.want) for example in examples) >= 2
    raises = any(isinstance(node, ast.Raise) for node in ast.walk(_reference(name)))
    assert "Source:" in contract and ("Raises:" in contract or not raises)


@pytest.mark.parametrize(("lab", "name"), RULED)
def test_the_rules_hold_no_line_of_the_answer(lab, name):
    lines = {"".join(line.split()) for node in _reference(name).body[1:] for line in ast.unparse(node).splitlines()}
    rules = "".join(rules_of(name).split())
    assert not [line for line in lines if len(line) >= SHORTEST and line in rules]


@pytest.mark.parametrize(("lab", "name"), RULED[:1])
def test_a_translation_leaves_the_call_and_the_tags(lab, name):
    text = f"{_above_the_check(lab, name)}\n\n{_below_the_check(lab, name)}"
    said = translation.markdown(text, lambda message, kind: message.swapcase())
    assert CODE.findall(said) == CODE.findall(text)
    assert re.findall(r"</?\w+>", said) == re.findall(r"</?\w+>", text) and "<summary>rULES</summary>" in said


@pytest.mark.parametrize(("lab", "name"), RULED)
def test_an_exam_shows_the_rules_although_it_cuts_long_docstrings(lab, name):
    assert all(line in _contract(name) for line in rules_of(name).splitlines())
