"""The mutants themselves: which there are, and what one does. (`test_guarantees.py` tries those of every exercise.)"""

import ast
import re
import textwrap
from contextlib import suppress
from functools import cache

import pytest
from sweep import sweep, swept

import rushlight as rl
from autograder.author import mutants as m
from autograder.author.build import exercise_source
from autograder.engine.check import BREAK_IT, REVIEW, find, kind_of, registry
from autograder.engine.judge import Judge
from autograder.engine.observe import NotGraded
from autograder.model import Course, Lab, lab_names, phases

mutants = cache(m.mutants)
LABS = sweep(lab_names(), every=8)


@pytest.mark.parametrize("lab", sweep(LABS, every=12))
def test_every_mutant_on_the_list_exists(lab):
    made = {mutant.key for name in Lab(lab).exercises for mutant in mutants(name)}
    assert m.equivalents(lab).keys() <= made


@pytest.mark.parametrize("phase", sweep(phases(), every=20))
def test_the_list_is_short_and_gives_reasons(phase):
    listed = {key: why for lab in Course().find_labs(phase[:2]) for key, why in m.equivalents(lab.name).items()}
    assert len(listed) <= 0.05 * sum(
        len(mutants(name)) for lab in Course().find_labs(phase[:2]) for name in lab.exercises
    )
    assert all(why.endswith(".") for why in listed.values())


@pytest.mark.parametrize("lab", LABS)
def test_a_mutant_has_a_name_of_its_own_and_is_no_other_one(lab):
    names = [check.exercise for check in registry().values() if check.prediction] + ["course.predictions.shrink"]
    for exercise in set(Lab(lab).exercises) - {*names}:
        if kind_of(exercise) in (BREAK_IT, REVIEW):
            continue  # a body that is data has few mutants, as a prediction has
        made = mutants(exercise)
        assert len({mutant.change for mutant in made}) == len({mutant.after for mutant in made}) == len(made)
        # Where there are fewer, no rule knows what the reference is made of, and its check is hardly tried.
        assert len(made) > 20 or len(made) >= 2 * _lines_that_can_go_wrong(exercise), exercise
        assert all(mutant.after != mutant.before for mutant in made)


def _lines_that_can_go_wrong(exercise):
    """Count the lines of a reference, but not the last. Of a text that it returns, count those of C++, and no prose."""
    source = exercise_source(exercise)
    is_cpp = {}  # the number of a line that continues a text
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            numbers = range(node.lineno + 1, node.end_lineno + 1)
            is_cpp |= dict.fromkeys(numbers, "#include" in node.value or "__global__" in node.value)
    lines = [*enumerate(source.splitlines(), 1)]
    first = next(number for number, line in lines if line.strip() == "### BEGIN SOLUTION")
    return sum(
        bool(is_cpp[number] and re.match(r"(?!\s*(#include|//|__global__)).*\w", line))  # a kernel's signature is given
        if number in is_cpp
        else line.strip() not in ("try:", "finally:", "else:")
        for number, line in lines[first:-2]
    )


def test_what_a_rare_mutant_calls_leaves_state_and_takes_histories_away():
    for before in (True, False):
        with rl.set_grad_enabled(before):
            with m.undone(rl.no_grad()):
                assert not rl.is_grad_enabled()
            assert rl.is_grad_enabled()
            with suppress(KeyError), m.left_without_error(rl.no_grad()):
                raise KeyError
            assert not rl.is_grad_enabled()
    x = rl.ones(2).requires_grad_() * 2
    result, (inner,), others = m.detached((x, [x], {"x": x}))
    assert not any(tensor.requires_grad for tensor in (result, inner, others["x"]))


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("return tuple(sizes)", m.KILLED),
        ("x = []\nwhile True:\n    x.append(bytes(1 << 20))", m.KILLED),
        swept("while True:\n    pass", m.ENDED),
        ("import os\nos._exit(0)", m.ENDED),
        (
            "import rushlight\nreturn rushlight.c10.memory_formats.dense_strides(sizes, range(len(sizes), 0, -1))",
            m.SURVIVED,
        ),
    ],
)
def test_what_a_mutant_does_is_told_apart_and_harms_nobody(body, what):
    exercise = "aten.strided.contiguous_strides"
    mutant = m.Mutant(exercise, "", "", "", "def contiguous_strides(sizes):\n" + textwrap.indent(body, "    "))
    (outcome,) = m._tried([mutant], lambda name: m._edges(Judge(1), name))
    assert outcome.what == what


def test_a_check_that_cannot_examine_a_mutant_has_not_caught_it(monkeypatch):
    def examine(judge, text, case):
        raise NotGraded("the sandbox does not start")

    exercise = "clinic.compilers.dump_test"
    monkeypatch.setattr(find(exercise), "examine", examine)
    monkeypatch.setattr(m, "_edges", lambda judge, name: [(exercise, {}, {})])
    with pytest.raises(m.Unexamined, match="the sandbox does not start"):
        list(m.run([exercise]))


def test_each_call_of_a_chain_with_texts_is_left_out_once():
    changes = [mutant.change for mutant in mutants("clinic.compilers.dump_test") if mutant.kind == "link"]
    before, after = (f"test.check('blas('){link}.check_next('blas(')" for link in (".check_next('// reuse')", ""))
    assert f"{before} -> {after}" in changes and len(changes) == 12


def test_a_kernels_text_has_mutants():
    changes = {mutant.change for mutant in mutants("aten.native.cuda.loops.add_source") if mutant.kind == "cuda"}
    assert any(" < n" in change and " <= n" in change for change in changes) and len(changes) == 6
