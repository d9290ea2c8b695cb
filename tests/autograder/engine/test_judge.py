"""The judge against subjects that are wrong, unsteady, or not honest."""

import dataclasses
import itertools
import json
import linecache
import math
import multiprocessing
import random
import re
import subprocess
import sys
import threading
from collections import Counter
from contextlib import suppress

import numpy as np
import pytest
from answers import over_the_wire
from hypothesis.internal.conjecture import providers
from sweep import failures, sweep, swept

from autograder.checks.cases import first_of, tensor, when
from autograder.engine import judge as judging
from autograder.engine import torch_source
from autograder.engine.card import PALE_GREEN, card
from autograder.engine.check import exercise_of, find, function_of, is_milestone, registry
from autograder.engine.exercise import fill, unplug
from autograder.engine.judge import Judge
from autograder.engine.observe import (
    Malformed,
    SubjectDied,
    SubjectTimedOut,
    accept,
    difference,
    error_tree,
    is_of_function,
    tensor_tree,
    with_raised,
)
from autograder.engine.subject import answer
from autograder.engine.torch_source import TorchSource
from autograder.engine.verdict import DIED, DISAGREED, GRADER_ERROR, MALFORMED, TIMED_OUT, UNSTABLE, Verdict
from rushlight.c10 import dispatch
from rushlight.c10.dispatch import local
from solutions.shared import copied

STRIDES, SOFTMAX = "aten.strided.contiguous_strides", "aten.native.reductions.softmax"


@pytest.fixture
def strides(plugged):
    return function_of(STRIDES)


def without_the_rule_for_empty_dimensions(sizes):
    strides, step = [], 1
    for size in reversed(sizes):
        strides.insert(0, step)
        step *= size
    return strides


def test_a_disagreement_comes_back_as_the_smallest_case(judge, strides, monkeypatch):
    monkeypatch.setattr(judging, "SHRINK_SECONDS", 600.0)
    fill(strides, without_the_rule_for_empty_dimensions)
    verdict = judge.verdict(STRIDES, answer)
    assert verdict.outcome == DISAGREED
    assert sorted(verdict.case["sizes"]) in ([0, 0], [0, 1])
    assert "yours" in verdict.message and verdict.hint


@pytest.mark.parametrize(
    ("answered", "said", "hint"),
    [
        (lambda: 7, "7 of type int", "the contract says that the result is tuple[Kernel, str], and yours returned 7"),
        (lambda: None, "None", "the contract says that the result is tuple[Kernel, str], and yours returned None"),
        (lambda: (1, 2, 3), "a tuple of length 3", "the program takes several values from the result"),
    ],
)
def test_where_the_program_fails_on_a_result_the_verdict_says_what_was_returned(judge, answered, said, hint):
    name = "c10.dispatch.compute_table_entry"
    fill(function_of(name), lambda kernels, fallbacks, key: answered())
    verdict = judge.verdict(name, answer)
    unplug(function_of(name))
    assert verdict.message == f"after yours has returned {said}, the program cannot go on"
    assert "values to unpack" in verdict.mine or "cannot unpack" in verdict.mine
    assert verdict.hint.startswith(hint)


def test_no_result_breaks_a_contract_that_allows_any(judge):
    name = "autograd.function.apply"
    run = copied(function_of(name))
    fill(function_of(name), lambda cls, *args: [run(cls, *args)])
    verdict = judge.verdict(name, answer)
    unplug(function_of(name))
    assert "list of length 1" in verdict.message and "Any" not in verdict.hint


def test_a_hint_about_a_case_does_not_explain_a_number_of_another_type(judge):
    name = "aten.native.cuda.loops.can_use_32bit_indexing"
    fill(function_of(name), lambda sizes, strides: 1)
    verdict = judge.verdict(name, answer)
    unplug(function_of(name))
    assert (verdict.message, verdict.hint) == ("yours is an int, torch's is a bool", "")


def test_a_rule_of_the_contract_does_not_explain_a_result_of_no_type_of_the_contract(judge):
    found = []
    for name, answered in (
        ("on_torch.trace.layer_of", lambda path: (part for part in path)),
        ("course.tokens.decode", lambda ids, table: None),
    ):
        fill(function_of(name), answered)
        verdict = judge.verdict(name, answer)
        unplug(function_of(name))
        found.append((verdict.message, verdict.hint))
    said = "yours is a value of type generator, expected is a sequence"
    assert found == [(said, ""), ("yours None, expected ''", "")]


@pytest.mark.parametrize(
    ("guard", "reason"), [("{} is function", "NameError: name 'function'"), ("{} == <f>", "SyntaxError: ")]
)
def test_an_expression_that_python_cannot_evaluate_is_shown(judge, guard, reason):
    name, text = "dynamo.guards.guards_for", guard.format("L['values'][0]")
    fill(function_of(name), lambda value, source, scope: [text])
    verdict = judge.replay(name, {"kind": "call", "first": "one", "second": "one"}, answer)
    unplug(function_of(name))
    assert f"your text `{text}` for v = plus_one: {reason}" in verdict.mine and "a cell above" not in verdict.hint


def test_no_other_name_is_suggested_for_one_of_the_program(judge):
    name = "autograd.graph.gradient_edge"
    fill(function_of(name), lambda tensor: "0")
    verdict = judge.verdict(name, answer)
    unplug(function_of(name))
    assert verdict.mine == "AttributeError: 'str' object has no attribute 'node'"


def test_a_falsy_result_that_a_check_does_not_accept_is_shown(judge):
    name = "c10.dispatch.highest_priority_key"
    fill(function_of(name), lambda key_set: 0)
    verdict = judge.verdict(name, answer)
    unplug(function_of(name))
    assert verdict.mine == "0" and "a DispatchKey is expected, not 0" in verdict.message


@pytest.mark.parametrize(
    ("body", "said"),
    [("return bts >> 16", "Did you mean: 'bits'?"), ("import math; return math.flor(bits)", "Did you mean: 'floor'?")],
)
def test_a_misspelled_name_is_shown_with_the_nearest_one(judge, body, said):
    name, made = "c10.small_floats.bfloat16_bits", {}
    exec(f"def bfloat16_bits(bits):\n    {body}", made)
    fill(function_of(name), made["bfloat16_bits"])
    verdict = judge.replay(name, {"bits": 0}, answer)
    unplug(function_of(name))
    assert said in verdict.mine


def test_an_item_that_a_list_lacks_is_named_and_no_other_one_is_marked(judge):
    name = "c10.dispatch.keys_in"
    case = {"bits": ["CPUBit", "Dense", "Python", "BackendSelect", "ADInplaceOrView"]}
    right = function_of(name)(sum(dispatch.BIT[bit.removesuffix("Bit")] for bit in case["bits"]))
    fill(function_of(name), lambda key_set: [key for key in right if key.name != "Python"])
    verdict = judge.replay(name, case, answer)
    unplug(function_of(name))
    [(start, end)] = verdict.theirs_marks
    assert verdict.message.endswith("missing in yours: 'Python'")
    assert verdict.mine_marks == [] and verdict.theirs[start:end] == "'Python'"


def test_a_case_whose_tensor_is_empty_or_whose_loop_has_no_operands_is_no_simple_one():
    assert judging.complexity({"sizes": [0], "p": 0.5}) > judging.complexity({"sizes": [1200], "p": 0.5})
    loops = [{"sizes": [2, 2], "operand_strides": strides} for strides in ([], [[1, 2]])]
    assert judging.complexity(loops[0]) > judging.complexity(loops[1])
    assert judging.complexity({"x": 0.1}) < judging.complexity({"x": 1.0}) < judging.complexity({"x": 1e-45})
    assert (
        judging.complexity({"x": [1, 2, 3]})
        < judging.complexity({"x": ["inf"]})
        == judging.complexity({"x": [math.inf]})
    )


def test_a_case_that_tells_little_comes_after_the_others():
    little = [judging.Disagreement(*parts) for parts in (({"text": ""}, 1, 2), ({"n": 1}, 0, [0] * 100))]
    assert (
        min([*little, judging.Disagreement({"text": "a\nb"}, 1, 2)], key=judging.Disagreement.order).case["text"]
        == "a\nb"
    )


def test_what_a_check_does_not_accept_is_said_once(judge):
    name = "c10.dispatch.keys_in"
    fill(function_of(name), lambda key_set: {*()})
    verdict = judge.verdict(name, answer)
    unplug(function_of(name))
    reason = verdict.message.removeprefix("the check does not accept what yours returned: ")
    assert reason != verdict.message and str(verdict).count(reason) == 1 and card(verdict).count(reason) == 1


@pytest.mark.parametrize("raises", [False, True])
def test_an_answer_leaves_the_state_of_its_thread_as_it_was(judge, strides, raises):
    def with_gradients_off(sizes):
        local.grad_enabled = False
        if raises:
            raise ValueError
        return [math.prod(max(size, 1) for size in sizes[i + 1 :]) for i in range(len(sizes))]

    fill(strides, with_gradients_off)
    verdict = judge.verdict(STRIDES, answer)
    assert verdict.outcome == DISAGREED and verdict.agreed == 0
    assert "StateLeft (after the call grad_enabled is not as before)" in verdict.message
    assert local.grad_enabled


def test_torch_answers_a_case_once_and_only_one_case_is_asked_twice_to_see_that_it_is_stable(monkeypatch, strides):
    asked, answered, answers = Counter(), Counter(), torch_source.answers

    def counted(name, cases):
        answered.update(map(json.dumps, cases))
        return answers(name, cases)

    def ask(name, cases):
        asked.update(map(json.dumps, cases))
        return answer(name, cases)

    monkeypatch.setattr(torch_source, "answers", counted)
    fill(strides, without_the_rule_for_empty_dimensions)
    verdict = Judge(4).verdict(STRIDES, ask)
    assert verdict.outcome == DISAGREED and max(answered.values()) == 1
    assert sorted(asked.values())[-2:] == [1, 2]


def test_a_case_can_be_replayed(judge, strides):
    fill(strides, without_the_rule_for_empty_dimensions)
    assert judge.replay(STRIDES, {"sizes": [2, 0]}, answer).outcome == DISAGREED
    assert judge.replay(STRIDES, {"sizes": [2, 3]}, answer).passed


IN_ORDER = [
    {"x": tensor([2], dtype="float32")},
    {"x": tensor([2], [2])},
    {"x": tensor([2], offset=1)},
    {"x": tensor([2, 3])},
    {"x": tensor([2, 2], [1, 2])},
    {"x": tensor([])},
    {"x": tensor([1])},
    {"x": tensor([2], dtype="int32")},
    {"x": tensor([1, 2])},
    {"x": tensor([1, 2]), "dim": 1},
    {"x": tensor([1, 2]), "dim": -1},
    {"x": tensor([1, 2]), "dim": 7},
    {"x": tensor([1, 1])},
    {"x": tensor([3]), "y": tensor([1])},
    {"x": tensor([1, 1], dtype="bool")},
    {"x": tensor([2, 3, 4])},
    {"x": tensor([0])},
    {"x": tensor([1, 0, 4])},
    {"x": tensor([1, 2]), "dim": float("nan")},
]


def test_the_simplest_case_is_the_one_that_a_person_would_choose():
    disagreements = [judging.Disagreement(case, 1, 2) for case in IN_ORDER]
    for shuffled in (disagreements[::-1], random.Random(1).sample(disagreements, len(IN_ORDER))):
        assert [each.case for each in sorted(shuffled, key=judging.Disagreement.order)] == IN_ORDER


@pytest.mark.parametrize("case", [{"n": 10**400, "x": 0.5}, {"n": [math.inf, -math.inf]}, {}, {"n": None, "s": "text"}])
def test_every_case_has_a_place_in_that_order(case):
    assert sorted([judging.complexity(case), judging.complexity({"x": 1})])


def test_a_case_in_which_only_the_students_side_raises_comes_first(judge, strides):
    def mistaken(sizes):
        if len(sizes) > 2:
            raise ValueError("mine")
        return [7] * len(sizes)

    fill(strides, mistaken)
    verdict = judge.verdict(STRIDES, answer)
    assert "ValueError" in verdict.message and len(verdict.case["sizes"]) == 3


def test_a_verdict_says_if_no_case_agrees_by_a_result_of_the_student(judge, plugged):
    def refuses(x, dims):
        raise RuntimeError("always")

    permute = function_of("aten.strided.permute")
    right = vars(permute)["__wrapped__"]
    fill(permute, refuses)
    verdict = judge.verdict("aten.strided.permute", answer)
    assert 0 < verdict.agreed == verdict.without_result
    said = f"each call of yours raised RuntimeError: {verdict.agreed} of {verdict.cases} cases expect an error"
    assert said in verdict.headline() and PALE_GREEN not in card(verdict)
    verdict.raised_always = ""  # as if it raised something else, too
    assert "cases agree with torch, none by a result of yours" in verdict.headline()
    fill(permute, lambda x, dims: refuses(x, dims) if x.dim() > 2 else right(x, dims))
    verdict = judge.verdict("aten.strided.permute", answer)
    assert verdict.agreed > verdict.without_result > 0 and verdict.headline().count("cases agree with torch;") == 1


@pytest.mark.parametrize("lab", ["07a_graphs"])
def test_a_result_counts_though_another_call_of_the_program_raises_as_torch_does(judge, lab, plugged):
    run_node = function_of("fx.interpreter.run_node")
    right = vars(run_node)["__wrapped__"]

    def refuses_none(interpreter, node):
        if None in interpreter.env.values():
            raise RuntimeError("none")
        return right(interpreter, node)

    fill(run_node, refuses_none)
    verdict = judge.verdict("fx.interpreter.run_node", answer)
    assert verdict.agreed > 0 == verdict.without_result


@pytest.fixture
def softmax():
    """The slot of a softmax, emptied afterwards."""
    yield function_of(SOFTMAX)
    unplug(function_of(SOFTMAX))


def test_a_case_in_which_the_function_does_not_run_agrees_without_a_result(judge, softmax):
    case = {"values": [], "kind": {"dtype": "float32"}, "view": [[2, 0], [1, 1], 0], "dim": 1}
    fill(softmax, lambda array, dim: None)
    (seen,) = over_the_wire(SOFTMAX, [case])
    accept(seen)
    assert not is_of_function(seen) and difference(seen, judge.answer(find(SOFTMAX), case)) is None


def test_entries_that_are_none_on_both_sides_are_not_shown_and_the_case_is_code(judge, softmax):
    fill(softmax, lambda array, dim: array)
    verdict = judge.verdict(SOFTMAX, answer)
    assert "None" not in verdict.mine + verdict.theirs and "x = torch.tensor(" in verdict.listing


def test_an_exception_in_a_corner_does_not_hide_what_is_wrong_elsewhere(judge, strides):
    fill(strides, lambda sizes: [7] * len(sizes) if sizes else sizes[0])
    verdict = judge.verdict(STRIDES, answer)
    assert "IndexError" not in verdict.message and len(verdict.case["sizes"]) == 1

    def right_elsewhere(sizes):
        steps = [max(1, size) for size in sizes]
        return [math.prod(steps[i + 1 :]) for i in range(len(sizes))] if sizes else sizes[0]

    fill(strides, right_elsewhere)
    assert "IndexError" in judge.verdict(STRIDES, answer).message


def test_of_several_exceptions_a_rare_one_is_not_shown_first(judge, strides):
    fill(strides, lambda sizes: sizes.missing if sizes else sizes[0])
    verdict = judge.verdict(STRIDES, answer)
    assert "AttributeError" in verdict.message and verdict.case["sizes"]


@pytest.mark.parametrize("bits", [32, 64])
def test_a_result_that_numpy_has_cut_off_is_explained_where_its_integers_have_32_bits(
    judge, plugged, monkeypatch, bits
):
    name = "aten.strided.element_offset"

    def in_32_bits(index, strides, storage_offset):
        return storage_offset + sum(int(np.array(i * s).astype(np.int32)) for i, s in zip(index, strides))

    fill(function_of(name), in_32_bits)
    monkeypatch.setattr("autograder.engine.judge.INTEGER_BITS", bits)
    verdict = judge.verdict(name, answer)
    assert verdict.outcome == DISAGREED and ("dtype=np.int64" in verdict.hint) == (bits == 32)


def test_a_kind_of_case_that_has_a_hint_does_not_hide_what_is_wrong_elsewhere(judge, strides):
    def in_the_wrong_order(sizes):
        steps = [max(1, size) for size in reversed(sizes)]  # so a size of 0 is treated correctly
        return [math.prod(steps[:i]) for i in range(len(sizes))]

    fill(strides, in_the_wrong_order)
    verdict = judge.verdict(STRIDES, answer)
    assert 0 not in verdict.case["sizes"] and len(verdict.case["sizes"]) == 2 and not verdict.hint
    fill(strides, without_the_rule_for_empty_dimensions)
    verdict = judge.verdict(STRIDES, answer)
    assert 0 in verdict.case["sizes"] and "a size of 0 counts as 1" in verdict.hint


def test_cases_with_a_hint_about_themselves_are_special_if_the_simplest_that_fails_has_none():
    check, (mine, theirs) = find(STRIDES), ([1], [2])
    simplest, special = (judging.Disagreement({"sizes": sizes}, mine, theirs) for sizes in ([3], [0]))
    is_special = judging.hinted(check, [simplest, special])
    assert (is_special(simplest), is_special(special)) == (False, True)


def test_a_case_that_is_replayed_is_run_and_explained_itself_and_no_smaller_one(judge, strides):
    fill(strides, without_the_rule_for_empty_dimensions)
    asked, case = [], {"sizes": [4, 3, 0, 2]}

    def ask(name, cases):
        asked.extend(cases)
        return answer(name, cases)

    verdict = judge.replay(STRIDES, case, ask)
    assert (verdict.outcome, verdict.case) == (DISAGREED, case)
    assert all(each == case for each in asked)


@pytest.fixture(scope="module")
def without_torch():
    """The checks whose oracles do not ask torch. Only a process that runs these tests looks for them."""
    return [name for name, check in registry().items() if not (check.asks_torch or check.examine)]


def test_an_oracle_that_does_not_ask_torch_is_not_shown_nor_called_torch(without_torch, pytestconfig, monkeypatch):
    monkeypatch.setattr(judging, "SHRINK_SECONDS", 0.0)
    every = 4 if pytestconfig.option.markexpr else 1
    assert failures(is_not_shown_nor_called_torch, zip(without_torch[::every], without_torch[::every])) == {}


def is_not_shown_nor_called_torch(name):
    verdict = Judge(1).verdict(name, lambda name, cases: [True for _ in cases])
    assert verdict.outcome == DISAGREED and not verdict.oracle
    rows = dict(verdict.rows())
    assert ("expected" in rows) is not find(name).prediction and "in torch" not in rows
    shown = str(verdict).replace(verdict.program, "").replace(repr(verdict.case), "")
    assert "torch's" not in shown and "torch raises" not in shown
    assert "an exact calculation" in verdict.headline() and "an exact calculation" in verdict.line()


def test_an_oracle_that_asks_torch_is_one_that_uses_it_or_a_tensor_of_its(without_torch):
    assert {"distributed.cost.ring_cost", "aot.partition.minimum_cut"} <= {*without_torch}
    asking = {
        "aten.strided.is_contiguous",
        "inductor.output_code.kernel_calls",
        "on_torch.trace.registrations",
        "aten.strided.permute",
    }
    assert asking.isdisjoint(without_torch)


@pytest.mark.parametrize(
    ("of_lists", "told"),
    [(lambda strides: [7, *strides], "returned [7"), (lambda strides: strides + (1,), "raised TypeError: can only")],
)
def test_an_answer_to_lists_that_differs_is_shown_with_both_calls_and_what_they_gave(judge, strides, of_lists, told):
    def fails_for_lists(sizes):
        right = without_the_rule_for_empty_dimensions([max(size, 1) for size in sizes])
        return of_lists(right) if isinstance(sizes, list) else tuple(right)

    fill(strides, fails_for_lists)
    verdict = judge.verdict(STRIDES, answer)
    with_lists, with_tuples = verdict.mine.splitlines()
    sizes = verdict.case["sizes"]
    assert with_lists.startswith(f"contiguous_strides({sizes}) {told}")
    assert with_tuples == f"contiguous_strides({tuple(sizes)}) returned {verdict.theirs}"
    assert "lists in the place of tuples" in verdict.message and "a tuple never equals a list" in verdict.hint


def test_an_answer_that_changes_is_unstable(judge, strides):
    turns = itertools.count()
    fill(strides, lambda sizes: [next(turns)] * len(sizes))
    assert judge.verdict(STRIDES, answer).outcome == UNSTABLE


def test_an_error_that_is_worded_anew_each_time_is_a_disagreement(judge, strides):
    turns = itertools.count()

    def failing(sizes):
        raise RuntimeError(f"attempt {next(turns)}")

    fill(strides, failing)
    assert judge.verdict(STRIDES, answer).outcome == DISAGREED


@pytest.mark.parametrize(
    ("error", "outcome"), [(SubjectDied, DIED), (SubjectTimedOut, TIMED_OUT), (Malformed, MALFORMED)]
)
def test_what_becomes_of_a_subject_has_a_name(judge, error, outcome):
    def ask(name, cases):
        raise error("so it was")

    verdict = judge.verdict(STRIDES, ask)
    assert (verdict.outcome, verdict.message) == (outcome, "so it was")


@pytest.mark.parametrize(("error", "outcome"), [(SubjectDied, DIED), (SubjectTimedOut, TIMED_OUT)])
def test_a_subject_that_ends_is_shown_with_the_case_on_which_it_does(judge, strides, error, outcome):
    def ask(name, cases):
        if any(len(case["sizes"]) == 3 for case in cases):
            raise error("so it was")
        return answer(name, cases)

    verdict = judge.verdict(STRIDES, ask)
    assert verdict.outcome == outcome and len(verdict.case["sizes"]) == 3
    rows = dict(verdict.rows())
    assert rows["why"] == "so it was" and rows["case"].startswith("sizes = ") and rows["replay"]


def test_a_case_that_does_not_end_is_waited_for_once_and_is_the_simplest_of_the_edges(judge, strides):
    """The subject has named it."""
    stopped = []

    def is_endless(case):
        return 0 in case["sizes"] and len(case["sizes"]) > 1

    def ask(name, cases):
        for case in cases:
            if is_endless(case):
                stopped.append(case)
                error = SubjectTimedOut("so it was")
                error.case = case
                raise error
        return answer(name, cases)

    verdict = judge.verdict(STRIDES, ask)
    assert verdict.outcome == TIMED_OUT and [verdict.case] == stopped
    assert judging.simplicity(verdict.case) <= min(map(judging.simplicity, filter(is_endless, find(STRIDES).edges)))


def test_a_function_that_runs_itself_through_the_framework_is_told_so(judge, plugged):
    def permute(x, dims):
        return x.permute(dims)

    fill(function_of("aten.strided.permute"), permute)
    verdict = judge.verdict("aten.strided.permute", answer)
    assert verdict.notes[0].startswith("permute calls itself, or what it calls runs it again")


def test_how_long_all_cases_take_together_decides_nothing(judge, strides):
    def ask(name, cases):
        if len(cases) > 3:
            raise SubjectTimedOut("so it was")
        return answer(name, cases)

    verdict = judge.verdict(STRIDES, ask)
    assert verdict.passed and verdict.agreed == len(judge.drawn(find(STRIDES))[0])


def test_a_subject_that_dies_of_many_cases_and_of_none_alone_has_died(judge, strides):
    def ask(name, cases):
        if len(cases) > 3:
            raise SubjectDied("so it was")
        return answer(name, cases)

    assert judge.verdict(STRIDES, ask).outcome == DIED


def test_a_slow_answer_gets_all_edges_and_fewer_of_the_drawn_cases(judge, strides, monkeypatch):
    monkeypatch.setattr(judging, "SLOW_SECONDS", 0.0)
    monkeypatch.setattr(judging, "PORTION_SECONDS", 0.0)
    cases, _ = judge.drawn(check := find(STRIDES))
    asked = []

    def ask(name, cases):
        asked.extend(cases)
        return answer(name, cases)

    verdict = judge.verdict(STRIDES, ask)
    assert verdict.passed and sorted(map(repr, asked)) == sorted(map(repr, cases[: len(asked)]))
    assert len(check.edges) + judging.FEWEST <= len(asked) == verdict.cases < len(cases)
    assert f"{len(asked)} of {len(cases)} cases" in verdict.notes[0]


def test_a_disagreement_is_one_also_if_the_answer_does_not_end_on_a_smaller_case(judge, strides):
    cases, _ = judge.drawn(find(STRIDES))

    def ask(name, asked):
        if any(case not in cases for case in asked):
            raise SubjectTimedOut("so it was")
        return answer(name, asked)

    fill(strides, without_the_rule_for_empty_dimensions)
    verdict = judge.verdict(STRIDES, ask)
    assert verdict.outcome == DISAGREED and verdict.case in cases


RMSPROP = "optim.rules.rmsprop"
SETTINGS = {"centered": True, "alpha": 0.0, "weight_decay": 0.5}  # the centred average is 0 but for rounding
GRADIENTS = [[5, 5, 9], [6, 6, 7], [2, None, 8], [8, 9, None]]
NOISE = {"kind": "RMSprop", "settings": SETTINGS, "second": None, "gradients": GRADIENTS, "digits": "float64"}
NOISE |= {"changes": [{}] * 4, "infinite": False}


ZEROS = tensor_tree("float64", [3], [1], 0, bytes(24))


def replaced(tree, path, value):
    """An observation with this value at this path."""
    if not path:
        return value
    first, *rest = path
    if isinstance(tree, list):
        return [replaced(item, rest, value) if i == first else item for i, item in enumerate(tree)]
    return {"dict": [[key, replaced(item, rest, value) if key == first else item] for key, item in tree["dict"]]}


@pytest.fixture
def with_noise(monkeypatch):
    """`with_noise(path, value)` is a subject that changes one part of its right answer to the noise, which every seed draws."""
    draw, slot = TorchSource.draw, function_of(RMSPROP)
    monkeypatch.setattr(TorchSource, "draw", lambda source, check: [NOISE, *draw(source, check)])
    monkeypatch.setattr(torch_source, "CASES", 12)
    fill(slot, copied(slot))

    def with_noise(path, value):
        def ask(name, cases):
            return [
                replaced(tree, path, value) if case == NOISE and path is not None else tree
                for case, tree in zip(cases, answer(name, cases))
            ]

        return ask

    yield with_noise
    unplug(slot)


@pytest.mark.parametrize(("path", "value"), [(None, None), (("steps", 3, "params", 0), ZEROS)])
def test_a_drawn_case_whose_answer_is_rounding_noise_is_left_out(with_noise, path, value):
    judge = Judge(4)
    verdict = judge.verdict(RMSPROP, with_noise(path, value))
    assert verdict.passed, verdict
    assert verdict.cases == len(judge.drawn(find(RMSPROP))[0]) - 1 and verdict.notes[0].endswith("noise: 1")


WRONG_BESIDE_NOISE = {
    "it raises": ((), error_tree(ValueError("mine"))),
    "there is no tensor": (("steps", 3, "params", 0), None),
    "another dtype": (("steps", 3, "params", 0), tensor_tree("float32", [3], [1], 0, bytes(12))),
    "a number that torch does not round": (("steps", 0, "params", 0), ZEROS),
    "no number": (("in place", 0), False),
}


@pytest.mark.parametrize(("path", "value"), sweep(WRONG_BESIDE_NOISE.values(), every=3), ids=[*WRONG_BESIDE_NOISE])
def test_noise_in_a_case_excuses_nothing_else(with_noise, path, value):
    assert Judge(4).verdict(RMSPROP, with_noise(path, value), lambda verdict: verdict).outcome == DISAGREED


def test_more_than_half_of_the_drawn_cases_are_never_left_out(with_noise, monkeypatch):
    monkeypatch.setattr(TorchSource, "draw", lambda source, check: [NOISE])
    assert Judge(4).verdict(RMSPROP, with_noise(None, None), lambda verdict: verdict).outcome == DISAGREED


def test_an_edge_is_never_left_out(with_noise, monkeypatch):
    monkeypatch.setattr(find(RMSPROP), "edges", [NOISE])
    assert Judge(4).verdict(RMSPROP, with_noise(None, None), lambda verdict: verdict).outcome == DISAGREED


@pytest.mark.sweep
def test_no_case_is_drawn_for_rmsprop_whose_answer_is_rounding_noise():
    check, source = find(RMSPROP), TorchSource(seed=6)
    cases = source.draw(check)
    assert any(case["settings"].get("alpha") == 0 for case in cases)
    for case, theirs in zip(cases, source.ask(check, cases)()):
        assert all(difference(other, theirs) is None for other in itertools.islice(source.rounded(check, case), 3)), (
            case
        )


@pytest.mark.parametrize("error", [SubjectDied, SubjectTimedOut, Malformed, None])
def test_every_way_to_fail_has_a_second_chance(judge, strides, error):
    turns, tried = itertools.count(), []

    def ask(name, cases):
        if error:
            raise error("so it was")
        return [next(turns) for _ in cases]

    def second_chance(verdict):
        tried.append(verdict.outcome)
        return Verdict(STRIDES, "passed")

    assert judge.verdict(STRIDES, ask, second_chance).passed
    assert tried == [{SubjectDied: DIED, SubjectTimedOut: TIMED_OUT, Malformed: MALFORMED, None: UNSTABLE}[error]]


@pytest.fixture
def torch_waits(monkeypatch):
    """Torch answers no case until it is told to."""
    told, answers = threading.Event(), torch_source.answers
    monkeypatch.setattr(torch_source, "answers", lambda name, cases: told.wait(30.0) and answers(name, cases))
    return told


def test_the_subject_works_while_torch_does(torch_waits, strides):
    def ask(name, cases):
        if len(cases) > 1:  # the first, alone, shows whether there is an answer at all
            torch_waits.set()
        return answer(name, cases)

    assert Judge(4).verdict(STRIDES, ask).passed


def test_torch_is_asked_one_thing_at_a_time_whatever_becomes_of_the_subject(torch_waits, strides):
    judge, ended = Judge(4), []

    def ask(name, cases):
        if len(cases) == 1:
            return answer(name, cases)
        threading.Timer(0.2, lambda: ended.append("late") or torch_waits.set()).start()
        raise SubjectDied("so it was")

    assert judge.verdict(STRIDES, ask).outcome == DIED
    assert ended == ["late"]
    assert judge.verdict(STRIDES, answer).passed


def test_what_torch_could_not_answer_once_is_asked_again(monkeypatch, strides):
    judge = Judge(4)

    def failing(name, cases):
        raise RuntimeError("torch's own ranks failed")

    with monkeypatch.context() as patch:
        patch.setattr(torch_source, "answers", failing)
        assert judge.verdict(STRIDES, answer).outcome == GRADER_ERROR
    assert judge.verdict(STRIDES, answer).passed


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("course.predictions.device_keys", ModuleNotFoundError("no module named 'that'")),
        ("course.predictions.device_keys", RuntimeError("torch refuses the program")),
        ("aten.strided.slice", ModuleNotFoundError("no module named 'that'")),
        ("aten.strided.slice", NameError("name 'that' is not defined")),
    ],
)
def test_an_oracle_that_is_broken_is_the_graders_error_and_no_wrong_answer(monkeypatch, plugged, name, error):
    def broken(torch, **case):
        raise error

    monkeypatch.setattr(find(name), "torch_program", broken)
    slot = function_of(find(name).exercise)
    if find(name).prediction:
        fill(slot, _saying([]))
    verdict = Judge(4).verdict(name, answer)
    if find(name).prediction:
        unplug(slot)
    assert verdict.outcome == GRADER_ERROR
    assert str(error) in verdict.message and "not the student's fault" in verdict.message


@pytest.mark.parametrize("reply", [None, [], "all of them", {"observed": 1}, [None] * 3])
def test_a_reply_of_another_form_is_malformed(judge, reply):
    assert judge.verdict(STRIDES, lambda name, cases: reply).outcome == MALFORMED


@pytest.mark.parametrize(
    "forged", [None, True, "passed", {"tensor": 1}, {"error": None}, {"type": "NotAttempted"}, [[]]]
)
def test_a_forged_observation_never_passes(judge, forged):
    verdict = judge.verdict(STRIDES, lambda name, cases: [forged] * len(cases))
    assert not verdict.passed
    assert str(verdict) and card(verdict)


def test_the_cases_depend_on_the_seed_alone(judge):
    check = find(STRIDES)
    assert Judge(7).drawn(check) == Judge(7).drawn(check)
    assert Judge(7).drawn(check)[0] != Judge(8).drawn(check)[0]


# checks with few cases, all of them known beforehand: programs that the lab prints, or all that there is to ask
FEW = {
    "contribute.add.softcap_derivative": "ten cases of one formula",
    "autograd.profiler_util.device_times.recorded": "the timelines that were recorded",
    "autograd.profiler_util.find_parents.deep": "one depth",
    "course.anatomy.backward_graph": "graphs that are in the lab",
    "dynamo.calls.how_to_call": "calls that are in the lab",
    "dynamo.calls.how_to_call.breaks": "calls that are in the lab",
    "profiler._utils.critical_path.long": "one length",
    "together.pipeline": "schedules on two and three ranks",
}


@pytest.mark.sweep
def test_every_class_gets_cases_of_its_own():
    """For 25 classes, at most four of the cases that are drawn for each. The labs on dumps draw from a pool of each class."""
    repeated = {}
    for name, check in registry().items():
        if check.prediction or check.examine or name in FEW or check.lab.startswith("08"):
            continue
        few = dataclasses.replace(check, draws=min(check.draws or 4, 4))
        drawn = [
            json.dumps(case, sort_keys=True, default=repr)
            for seed in range(25)
            for case in Judge(seed + 1).source.draw(few)
        ]
        if len({*drawn}) < 0.35 * len(drawn):
            repeated[name] = f"{len({*drawn})} of {len(drawn)}"
    assert repeated == {}


def test_the_search_for_a_smaller_case_draws_from_a_stream_of_its_own(judge, monkeypatch):
    drawn = []

    def find_nothing(*_, random, **settings):
        drawn.append(random.getrandbits(64))
        raise judging.ShrinkTimeout

    monkeypatch.setattr(torch_source.hypothesis, "find", find_nothing)
    names = [STRIDES, "aten.strided.permute", STRIDES]
    for seed, name in [*((7, name) for name in names), (8, STRIDES)]:
        assert not Judge(seed).verdict(name, lambda name, cases: [7] * len(cases)).passed
    first, other, again, elsewhere = drawn
    assert first == again and len({first, other, elsewhere, random.Random(7).getrandbits(64)}) == 4


@pytest.mark.sweep
def test_the_cases_are_those_that_hypothesis_draws_from_its_own_strategies(monkeypatch):
    check = find("nn.modules.module.named_members")  # its strategies are made while it is drawn
    cases = Judge(7).source.draw(check)
    monkeypatch.setattr(torch_source, "_strategies", torch_source.st)
    assert Judge(7).source.draw(check) == cases


def test_hypothesis_asks_the_function_that_the_judge_replaces_for_constants_of_imported_modules(monkeypatch):
    constants = providers.Constants()
    assert providers._get_local_constants is providers.Constants
    monkeypatch.setattr(providers, "_get_local_constants", lambda: constants)
    assert providers.HypothesisProvider(None)._local_constants is constants


@pytest.mark.parametrize(
    "imported", [swept("rushlight"), "rushlight.aten.generated.functions, rushlight.nn, rushlight.course.grammar"]
)
def test_one_seed_gives_the_same_cases_in_every_process(imported):
    program = f"import json, {imported}; from autograder.engine import judge; from autograder.engine.check import find"
    program += "; print(json.dumps(judge.Judge(7).source.draw(find('aten.native.random.dropout'))))"
    drawn = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert json.loads(drawn) == Judge(7).source.draw(find("aten.native.random.dropout"))


def test_what_a_student_wrote_cannot_become_markup(judge, strides):
    def hostile(sizes):
        raise TypeError("<script>alert(1)</script>")

    fill(strides, hostile)
    assert "<script>" not in card(judge.verdict(STRIDES, answer))


def piece_of(source):
    """The function `piece` of a notebook's cell."""
    file = f"<cell {len(linecache.cache)}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    exec(compile(source, file, "exec"), space := {"__name__": "__main__"})
    return space["piece"]


def yours(verdict):
    return dict(verdict.rows())["yours"].splitlines()


RAISES_IN_A_HELPER = """
def helper(sizes):
    raise ValueError("mine")

class Strides:
    def __init__(self, sizes):
        self.sizes = helper(sizes)

def piece(sizes):
    return Strides(sizes)
"""


def test_an_exception_is_shown_with_the_lines_of_the_student_and_no_others(judge, strides):
    fill(strides, piece_of(RAISES_IN_A_HELPER))
    assert yours(judge.verdict(STRIDES, over_the_wire)) == [
        "ValueError: mine",
        "  piece, line 10:  return Strides(sizes)",
        "  Strides.__init__, line 7:  self.sizes = helper(sizes)",
        '  helper, line 3:  raise ValueError("mine")',
    ]


def test_the_frames_of_the_framework_are_not_shown(judge, plugged):
    fill(function_of("aten.strided.permute"), piece_of("def piece(self, dims):\n    return self.sum(5)\n"))
    verdict = judge.replay("aten.strided.permute", {"x": tensor([2]), "dims": [0]}, over_the_wire)
    assert yours(verdict)[1:] == ["  piece, line 2:  return self.sum(5)"]


@pytest.fixture
def slot(name):
    """The slot of an exercise, emptied afterwards."""
    slot = function_of(exercise_of(name))
    yield slot
    unplug(slot)


CAUGHT = ["distributed.cost.ring_cost", "dynamo.calls.how_to_call", "aot.runtime.run_epilogue"]
CAUGHT += ["on_torch.backend.copy_from"]  # in a child
CAUGHT_IN_RANKS = ["distributed.tensor_parallel.vocabulary_parallel_cross_entropy"]


COMPARED = [name for name, check in registry().items() if not is_milestone(name) and check.examine is None]
EXAMINED = [name for name in registry() if re.match(r"clinic\.\w+\.name_", name)]  # the others are read, not called
EXAMINED += ["course.anatomy.trace_of_an_operation"]


@pytest.mark.parametrize("name", sweep(COMPARED, keep=CAUGHT))
def test_an_exception_is_shown_also_if_the_program_or_the_framework_catches_it(judge, slot, name):
    fill(slot, piece_of("def piece(*args, **kwargs):\n    raise ValueError('mine')\n"))
    verdicts = (judge.replay(name, case, over_the_wire) for case in find(name).edges)
    verdict = next(each for each in verdicts if not each.passed)
    rows = dict(verdict.rows())
    shown = rows.get("raised", rows["yours"])
    assert "ValueError: mine" in shown and shown.endswith("\n  piece, line 2:  raise ValueError('mine')")
    assert "piece, line 2" in str(verdict) and "piece, line 2" in card(verdict)
    assert bool(verdict.raised) >= (name in CAUGHT + CAUGHT_IN_RANKS)


@pytest.mark.parametrize("name", sweep(EXAMINED, keep=["clinic.tensors.name_1"]))
def test_an_exception_is_shown_also_if_the_answer_is_examined(judge, slot, name):
    fill(slot, piece_of("def piece():\n    raise ValueError('mine')\n"))
    verdict = judge.replay(name, {}, over_the_wire)
    assert not verdict.passed and verdict.message == "ValueError: mine"
    assert "piece, line 2:  raise ValueError('mine')" in str(verdict)
    assert "piece, line 2" in card(verdict)


class RanksFailed(RuntimeError):
    pass


@pytest.mark.parametrize(
    ("tree", "hinted"),
    [([], True), (error_tree(ValueError()), False), (error_tree(RanksFailed("a deadlock")), True)],
)
def test_a_hint_for_every_wrong_result_is_not_shown_for_an_exception(judge, tree, hinted):
    name = "clinic.tensors.aliased"
    assert bool(judge.replay(name, find(name).edges[3], lambda name, cases: [tree] * len(cases)).hint) == hinted


def test_a_hint_that_cannot_read_a_result_is_not_shown(judge):
    tree = {"dict": [["view", "no tensor"]]}
    name = "aten.strided.expand"
    assert judge.replay(name, find(name).edges[0], lambda name, cases: [tree] * len(cases)).hint == ""


@pytest.mark.parametrize(
    ("case", "mine", "hint"),
    [
        ({"flag": True, "n": 0}, 1, "an argument"),
        ({"flag": False, "n": 3}, 1, "the case"),
        ({"flag": False, "n": 0}, 1, "both results"),
        ({"flag": False, "n": 0}, 5, None),
    ],
)
def test_a_hint_is_for_an_argument_or_a_case_or_the_difference_of_both_results(case, mine, hint):
    hints = first_of(
        when("flag", "an argument"),
        when(lambda case: case["n"] > 2, "the case"),
        when(lambda case, mine, theirs: mine < theirs, "both results"),
    )
    assert hints(case, mine, 4) == hint


@pytest.mark.parametrize(
    ("result", "beyond", "hint"),
    [
        ("right", ["torch.vmap"], "it calls torch.vmap, which"),
        ("error", ["torch.vmap"], "try it"),
        ("right", 1, "something"),
    ],
)
def test_the_hint_is_of_the_entry_that_differs_and_names_calls_beyond_the_contract(judge, result, beyond, hint):
    tree = {"dict": [["result", result], ["beyond", beyond]]}
    name = "on_torch.custom_ops.what_breaks"
    assert hint in judge.replay(name, find(name).edges[0], lambda name, cases: [tree] * len(cases)).hint


def test_an_exception_that_the_students_function_catches_is_not_shown(judge, strides):
    def mistaken(sizes):
        with suppress(ValueError):
            raise ValueError("mine")
        return [7] * len(sizes)

    fill(strides, mistaken)
    verdict = judge.verdict(STRIDES, over_the_wire)
    assert verdict.outcome == DISAGREED and not verdict.raised


@pytest.mark.parametrize(("names", "shown"), [(["RuntimeError"], False), (["ValueError"], True)])
def test_an_exception_that_the_program_catches_is_not_shown_if_torch_raises_it_too(judge, names, shown):
    """The second pass raises on both sides, because the first has freed the saved tensors. The difference is in the first."""
    case = next(case for case in find("autograd.engine.execute").edges if case["statements"] == [["mul", 0, 0]])

    def ask(name, cases):
        raised = error_tree(RuntimeError("a second time")) | {"error": names, "frames": []}
        passes = [
            {"dict": [["raises", None], ["gradients", []]]},
            [],
            {"dict": [["raises", names[0]], ["gradients", None]]},
        ]
        return [with_raised({"dict": [["passes", passes]]}, raised) for _ in cases]

    verdict = judge.replay("autograd.engine.execute", case, ask)
    assert verdict.outcome == DISAGREED and bool(verdict.raised) == shown


@pytest.mark.parametrize("raised", [1, {}, {"type": "<b>", "message": 1}, {"error": 1, "frames": [1]}])
def test_a_forged_exception_changes_no_verdict(judge, strides, raised):
    def ask(name, cases):
        return [{"result": tree, "raised": raised} for tree in over_the_wire(name, cases)]

    right = strides.__wrapped__
    fill(strides, lambda sizes: [7] * len(sizes))
    verdict = judge.verdict(STRIDES, ask)
    assert verdict.outcome == DISAGREED and "<b>" not in card(verdict)
    fill(strides, right)
    assert judge.verdict(STRIDES, ask).passed


def decide_endless(sender):
    fill(function_of(STRIDES), piece_of("def piece(sizes):\n    return piece(sizes)\n"))
    sender.send(yours(Judge(1).verdict(STRIDES, over_the_wire)))


def test_endless_recursion_is_shown_by_its_innermost_frames():
    """In a fork: CPython 3.11 may crash if the code is also traced, as Hypothesis does to explain a failure."""
    fork = multiprocessing.get_context("fork")
    receiver, sender = fork.Pipe(duplex=False)
    process = fork.Process(target=decide_endless, args=(sender,))
    process.start()
    process.join()
    assert receiver.poll(), process.exitcode
    first, *frames = receiver.recv()
    assert first.startswith("RecursionError") and frames == ["  piece, line 2:  return piece(sizes)"]  # once


def test_a_function_that_hides_one_of_pythons_and_calls_it_is_told_so():
    frames = [["slice", 3, "slice(start, end, step)"]] * 2
    assert "Python's is builtins.slice" in judging._hidden_builtin({"error": ["RecursionError"], "frames": frames})
    assert not judging._hidden_builtin({"error": ["RecursionError"], "frames": [["select", 3, "select(x)"]] * 2})
    assert not judging._hidden_builtin({"error": ["TypeError"], "frames": frames})


def test_a_wrong_prediction_is_not_told_torchs_answer(judge):
    from rushlight.course import predictions

    right = predictions.device_keys("cuda")
    answers = {
        "your first entry is wrong": ["AutogradCUDA", "CUDA"],
        "your first entry is right, your entry 2 is wrong": ["AutocastCUDA", "CUDA"],
        "your 2 entries are right, but others are missing": right[:2],
        "entries are missing: yours has none": [],
        "after yours has returned 3 of type int": 3,
        "yours raises KeyError": None,
    }
    for words, answer_of_mine in answers.items():
        fill(predictions.device_keys, _saying(answer_of_mine))
        verdict = judge.replay("course.predictions.device_keys", {"program": "cuda"}, answer)
        unplug(predictions.device_keys)
        assert verdict.outcome == DISAGREED and words in verdict.message
        assert "ADInplaceOrView" not in str(verdict) and not verdict.oracle


def test_a_wrong_answer_in_the_clinic_is_not_told_a_program_on_torch(judge):
    """There the framework is torch, so such a program may be the answer."""
    name = "clinic.compilers.untrue"
    fill(function_of(name), _saying([]))
    verdict = judge.replay(name, find(name).edges[0] | {"kernel": "returns x"}, answer)
    unplug(function_of(name))
    assert verdict.outcome == DISAGREED and not verdict.oracle and "in torch" not in str(verdict)


def test_a_wrong_prediction_of_one_number_is_not_told_torchs_answer(judge):
    from rushlight.course import predictions

    right = predictions.reserved_mebibytes("lost")
    for words, answer_of_mine in {
        "is wrong": 987654,
        "yours is a string": "987654",
        "yours raises KeyError": None,
    }.items():
        fill(predictions.reserved_mebibytes, _saying(answer_of_mine))
        verdict = judge.replay("course.predictions.reserved_mebibytes", {"program": "lost"}, answer)
        unplug(predictions.reserved_mebibytes)
        assert verdict.outcome == DISAGREED and words in verdict.message
        assert str(right) not in f"{verdict.message} {verdict.mine} {verdict.theirs}" and not verdict.oracle


def test_where_a_prediction_is_wrong_is_its_first_wrong_entry_and_torchs_is_not_marked(judge):
    from rushlight.course import predictions

    fill(predictions.device_keys, lambda program: ["AutocastCUDA", "CUDA"])
    verdict = judge.replay("course.predictions.device_keys", {"program": "cuda"}, answer)
    unplug(predictions.device_keys)
    assert [verdict.mine[start:end] for start, end in verdict.mine_marks] == ["'CUDA'"]
    assert not verdict.theirs_marks and not verdict.theirs and not verdict.layouts


@pytest.mark.parametrize("text", ["\x1b[31mred\x1b[0m", "\ud800", "\u202e"])
def test_no_text_of_a_student_reaches_a_verdict_with_a_control_sequence_or_half_a_character(judge, strides, text):
    hostile = type(text.replace("\ud800", "Mine"), (ValueError,), {})  # half a character is in no name

    def raising(sizes):
        raise hostile(text)

    for function in (raising, lambda sizes: {text: text}, lambda sizes: hostile(), lambda sizes: [text]):
        fill(strides, function)
        verdict = judge.replay(STRIDES, {"sizes": [2]}, over_the_wire)
        assert verdict.outcome == DISAGREED
        shown = str(verdict) + card(verdict)
        assert text not in shown and "\x1b" not in shown and shown.encode()


def test_a_huge_result_is_cut_and_the_verdict_says_where_it_differs(judge, strides):
    fill(strides, lambda sizes: ["a" * 10**6] * len(sizes))
    verdict = judge.replay(STRIDES, {"sizes": [2]}, over_the_wire)
    assert len(str(verdict)) < 10_000 and "(cut)" in verdict.mine and "[0]: yours is a string" in verdict.message


def _saying(prediction):
    return lambda program: {}[program] if prediction is None else prediction


def test_a_verdict_shows_a_long_case_after_the_difference_and_the_hint():
    def names(text):
        verdict = Verdict(
            "a.check", DISAGREED, case={"text": text}, program="p", mine="1", theirs="2", message="m", hint="h"
        )
        return [name for name, _ in verdict.rows()]

    assert names("one\n")[:2] == ["case", "program"]
    assert names("line\n" * 100) == ["yours", "torch's", "differs", "hint", "replay", "case", "program"]


def test_the_smallest_case_is_one_in_which_torch_has_a_result_if_there_is_one():
    refused = {"error": ["RuntimeError"], "message": "dims"}
    plain, early = judging.Disagreement({"sizes": [20, 30, 40]}, 1, 2), judging.Disagreement({"sizes": []}, 1, refused)
    assert min(early, plain, key=judging.Disagreement.order) is plain
    assert judging.Disagreement({"sizes": [20, 30, 40]}, refused, 2).order() < plain.order()


LATER = """
import os
import torch
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend
from autograder.engine.judge import Judge

Judge(1)
_setup_privateuseone_for_python_backend("later")
torch.ones(2, requires_grad=True).sum().backward()
child = os.fork()
if not child:
    try:
        torch.ones(2, requires_grad=True).sum().backward()
    except RuntimeError:
        os._exit(1)
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.sweep
@pytest.mark.skipif(sys.platform != "linux", reason="the judge forks on Linux only")
def test_a_fork_of_the_judge_can_run_backward_after_a_device_has_appeared():
    """A fake tensor in a build for CUDA without a GPU makes eight appear."""
    done = subprocess.run([sys.executable, "-c", LATER], capture_output=True, text=True)
    assert done.stdout == "0\n", done.stderr
