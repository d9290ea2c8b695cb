"""Cases whose programs are data, as code."""

import importlib
import re
from contextlib import suppress
from string import ascii_lowercase

import pytest
import torch
from sweep import sweep

from autograder.engine.card import card
from autograder.engine.check import find, function_of, registry
from autograder.engine.exercise import fill, unplug
from autograder.engine.judge import Judge
from autograder.engine.subject import answer

autograd = importlib.import_module("autograder.checks.shared_04")
aot = importlib.import_module("autograder.checks.07d_aot.drawn_programs")
graph = importlib.import_module("autograder.checks.04a_history.graph")
loops = importlib.import_module("autograder.checks.shared_08")
SHOWN = {name: check for name, check in registry().items() if check.show and not check.prediction}
TOO_LONG = 1000  # times that a program is repeated


def values_of(code, **names):
    exec(code, names)
    return names


@pytest.mark.parametrize("name", [name for name in SHOWN if name.startswith("engine.")])
def test_the_code_of_a_program_of_autograd_makes_the_values_of_the_program(name):
    for case in SHOWN[name].edges:
        if case["times"] < TOO_LONG:
            found = {}
            with suppress(RuntimeError, TypeError, KeyboardInterrupt):  # of the backward pass
                exec(SHOWN[name].show(torch, **case), found)
            expected = autograd.run_repeatedly(torch, case["leaves"], case["statements"], case["times"])
            for letter, value in zip(ascii_lowercase, expected):
                assert torch.equal(found[letter], value) and found[letter].requires_grad == value.requires_grad


@pytest.mark.parametrize("name", ["aot.joint.joint_forward_backward"])
def test_the_code_of_a_program_for_aot_makes_the_results_of_the_program(name):
    for case in SHOWN[name].edges:
        found = values_of(SHOWN[name].show(torch, **case))
        inputs = aot.inputs_of(torch, case["inputs"])
        for letter, x in zip(ascii_lowercase, inputs):
            assert torch.allclose(found[letter], x) and found[letter].requires_grad == x.requires_grad
        expected = aot.function_of(torch, case["statements"], case["outputs"])(*inputs)
        assert all(map(torch.allclose, found["program"](*inputs), expected))


def test_the_code_of_a_program_with_writes_makes_the_values_of_the_program():
    check = find("autograd.graph.gradient_edge")
    for case in [*check.edges, *Judge(1).source.draw(check)]:
        found = values_of(check.show(torch, **case), gradient_edge=lambda x: None)
        for letter, value in zip(ascii_lowercase, graph.run_with_writes(torch, **case)):
            assert torch.equal(found[letter], value) and found[letter].requires_grad == value.requires_grad


def test_the_code_of_a_program_for_loops_makes_its_results():
    check = find("together.loops")
    for case in [*check.edges, *Judge(1).source.draw(check)]:
        found = values_of(check.show(torch, **case))["results"]
        expected = loops.eager(torch, **case)
        assert len(found) == len(expected) and all(map(torch.equal, found, expected))


def test_the_code_of_a_write_to_a_view_calls_the_exercise_with_the_tensors_of_the_case():
    check = find("autograd.history.copy_slices")
    for case in [*check.edges, *Judge(1).source.draw(check)]:
        given = values_of(check.show(torch, **case), copy_slices=lambda *given: None)
        assert given["of_base"][1] == given["grad"].stride() or case["layout"] in ("columns", "infinite")
        base = importlib.import_module("autograder.checks.04a_history.engine").base_of(
            torch, case["layout"], case["shape"], case["offset"]
        )
        assert given["of_base"] == (base.shape, base.stride(), base.storage_offset())
        assert given["grad"].requires_grad == case["history"] and given["grad"].is_leaf


@pytest.mark.parametrize("name", sweep([*SHOWN], every=6))
def test_each_case_has_a_listing_and_a_drawn_one_is_code_that_python_accepts(name):
    check = find(name)
    for case in check.edges:
        assert isinstance(check.show(torch, **case), str)
    for case in Judge(1).source.draw(check)[:30]:
        code = check.show(torch, **case)
        if not code.startswith("- func:"):  # an entry of native_functions.yaml
            compile(code, "case", "exec")
    assert torch.is_grad_enabled()


@pytest.fixture
def replayed():
    """The verdict on one edge of a check, with an answer that is wrong."""
    name = "autograd.engine.nodes_to_execute"
    fill(function_of(name), lambda ends, reachable: set())
    yield lambda number: Judge(1).replay(name, find(name).edges[number], answer)
    unplug(function_of(name))


def test_the_card_shows_the_program_and_folds_what_is_around_it(replayed):
    verdict = replayed(6)
    assert "b = a.tanh()\nc = -b\nd = b * 2\ne = c + d\nroots = [e]" in verdict.listing
    assert "c = -b" in str(verdict) and "statements = " not in str(verdict)
    shown, folded, _ = card(verdict).partition("<details>")
    assert "c = -b" in shown and folded and "def nodes_that_run" not in shown


def test_a_program_that_is_repeated_is_a_loop(replayed):
    edges = find("autograd.engine.nodes_to_execute").edges
    verdict = replayed([edge["times"] for edge in edges].index(1500))
    found = values_of(verdict.listing)
    assert len(found["values"]) == 1501 and found["roots"] == found["values"][-1:]


def test_a_case_that_has_no_code_is_shown_as_data(replayed, monkeypatch):
    monkeypatch.setattr(find("autograd.engine.nodes_to_execute"), "show", lambda torch, **case: str(1 / 0))
    verdict = replayed(6)
    assert not verdict.listing and "statements = " in str(verdict)
    assert "statements = " in re.sub("<details>.*?</details>", "", card(verdict), flags=re.DOTALL)
