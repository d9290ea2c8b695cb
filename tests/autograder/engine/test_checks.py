import hypothesis
import pytest
from sweep import in_one_test, sweep

from autograder.engine import torch_source
from autograder.engine.check import OF_CLINIC, find, function_of, is_milestone, kind_of, registry
from autograder.engine.exercise import fill
from autograder.engine.observe import difference, result_of
from autograder.engine.source import key_of
from autograder.engine.subject import answer
from autograder.engine.verdict import PASSED
from autograder.model import Lab, check_name, exercise_name, lab_names

CHECKS = [*registry().values()]
GRADED = [check for check in CHECKS if not is_milestone(check.name)]
WITH_RANKS = [check for check in CHECKS if check.lab.startswith("09")]  # these take long
LONG = [  # made of pieces that others try, or of opcheck and Inductor (see also `test_torch_dumps.py`)
    "ao.quantization.observer.non_linear_search",
    "together.device",
    "together.dump",
    "together.broken",
    "on_torch.custom_ops.register_fused_linear.inductor",
    "on_torch.custom_ops.register_fused_linear.judged",
    "on_torch.custom_ops.register_momentum_step.judged",
    "on_torch.cpp_ops.rms_norm_source",
    "on_torch.cpp_ops.rms_norm_source.compiled",
    *(check.name for check in CHECKS if check.name.startswith((*OF_CLINIC, "inductor.output_code."))),
]
# That the reference agrees with torch is a thing that `make test` proves of a few checks: the lock says that it was tried of all.
COMPARED = [check for check in CHECKS if check.examine is None]  # the others are decided without cases
TRIED = [check for check in CHECKS if check.name not in LONG and check not in WITH_RANKS] + WITH_RANKS[::18]
DRAWN = TRIED[1::180]
ON_EDGES = [check for check in TRIED[::60] if check in COMPARED]
NO_WARNING = "nbgrader by itself gives no points to a cell that wrote to stderr"


def named(checks, keep):
    return dict(argnames="check", argvalues=sweep(checks, keep=keep), ids=[check.name for check in checks])


@pytest.mark.parametrize(**named(COMPARED, keep=ON_EDGES))
def test_the_reference_agrees_with_torch_on_one_edge_in_three(check, judge, plugged, recwarn):
    edges = check.edges[::3]
    apart = [*map(difference, answer(check.name, edges), judge.answers(check, edges))]
    assert not any(apart), next((case, words) for case, words in zip(edges, apart) if words)
    assert not recwarn.list, NO_WARNING


class LaterError(Exception):
    """A piece that is not there yet."""


def later(*_, **__):
    raise LaterError


LONG_LABS = ("06", "08a", "09", "13", "14", "15")  # their programs compile, start ranks, or are about patients
SHORT_LABS = [lab for lab in lab_names() if not lab.startswith(LONG_LABS)]


@pytest.mark.parametrize("lab", sweep(lab_names(), keep=SHORT_LABS[::9]))
def test_no_check_needs_a_piece_that_its_lab_defines_below_it(lab, plugged):
    for cell in reversed(Lab(lab).released["cells"]):
        if name := exercise_name(cell):
            fill(function_of(name), later)
        if name := check_name(cell):
            edges = find(name).edges[::3]
            results = map(result_of, answer(name, edges))
            assert not [case for case, result in zip(edges, results) if "LaterError" in repr(result)], name


@pytest.mark.parametrize(**named(CHECKS, keep=DRAWN))
def test_the_reference_agrees_with_torch_on_all_cases(check, judge, plugged, recwarn):
    verdict = judge.verdict(check.name, answer)
    assert verdict.outcome == PASSED, str(verdict)
    assert not recwarn.list, NO_WARNING


@in_one_test
@pytest.mark.parametrize("check", GRADED)
def test_an_empty_slot_is_not_attempted(check, judge):
    assert judge.verdict(check.name, answer).outcome == "not attempted"


@pytest.mark.parametrize(**named(COMPARED, keep=DRAWN))
def test_edges_are_among_the_cases_and_torch_both_answers_and_refuses(check, judge):
    cases, answers = judge.drawn(check)
    shown = {repr(case) for case in cases}  # nan is equal to nothing, but is written alike
    assert all(repr(edge) in shown for edge in check.edges)
    assert len(cases) >= min(40, check.draws or 40)
    assert any(not (isinstance(a, dict) and "error" in a) for a in answers)


@pytest.mark.parametrize(
    **named(
        [each for each in COMPARED if each in GRADED and each.name != "on_torch.custom_ops.what_breaks"], keep=DRAWN
    )
)
def test_a_table_of_the_edges_and_the_commonest_answer_for_the_rest_do_not_get_through(check, judge):
    """(What `what_breaks` can be asked is finite, and nearly all of it is edges: there a table is right.)"""
    cases, answers = judge.drawn(check)
    edges = [*map(repr, check.edges)]
    known = [answer for case, answer in zip(cases, answers) if repr(case) in edges]
    others = [answer for case, answer in zip(cases, answers) if repr(case) not in edges]
    commonest = max(known or [None], key=known.count)
    assert sum(bool(difference(commonest, answer)) for answer in others) >= min(3, len(others))


DIFFERENT = 300  # cases that a check draws over many seeds, at least
DUMPS = "the texts of one class: its seed makes them"
PREDICTION = "a question for each program of a reading"
SMALL = {  # checks that draw fewer, and why
    "on_torch.custom_ops.register_momentum_step": "each case compiles: the check of momentum_step varies sizes and layouts",
    "on_torch.custom_ops.what_breaks": "all ways to break a custom function, under all transforms",
    "on_torch.cpp_ops.rms_norm_source.compiled": "shapes and strides of one compiled kernel, whose source has a check of its own",
    "dynamo.calls.how_to_call": "all kinds of callables that Dynamo tells apart",
    "dynamo.calls.how_to_call.breaks": "all kinds of callables that break a graph",
    "autograd.profiler_util.find_parents.deep": "one deep nesting, which shows whether an answer recurses",
    "autograd.profiler_util.device_times.recorded": "the recordings of a GPU",
    "profiler._utils.critical_path.long": "one long graph, which shows whether an answer recurses",
    "aten.native.cuda.blas.fragment_position": "all registers of all lanes: 256",
    "course.anatomy.backward_graph": "small models by name, whose graphs a student draws",
    "together.fake_quantized_training": "the settings of one loop over pieces that have checks of their own",
    "together.dump": DUMPS,
}
SMALL |= {check.name: DUMPS for check in CHECKS if check.name.startswith("inductor.output_code.")}
SMALL |= {check.name: PREDICTION for check in CHECKS if check.prediction}


class EnoughError(BaseException):
    pass


LARGE = [check for check in COMPARED if check.name not in SMALL]


@pytest.mark.parametrize(**named(LARGE, keep=[find("course.attention.causal_mask")]))
def test_a_seed_draws_from_300_different_cases_or_the_table_says_why_it_cannot(check, judge):
    different = set()

    @hypothesis.seed(1)
    @torch_source._settings(phases=[hypothesis.Phase.generate], max_examples=10_000)
    @hypothesis.given(judge.source._cases(check))
    def collect(case):
        different.add(key_of(case))
        if len(different) >= DIFFERENT:
            raise EnoughError

    with pytest.raises(EnoughError):
        collect()


def test_the_table_of_small_checks_names_checks():
    assert SMALL.keys() <= registry().keys()


def test_every_check_is_a_cell_of_its_lab():
    cells = [name for lab in lab_names() for cell in Lab(lab).released["cells"] if (name := check_name(cell))]
    assert sorted(cells) == sorted(registry())


@pytest.mark.parametrize(
    ("exercise", "kind"),
    [
        ("aten.strided.permute", "body"),
        ("course.predictions.tokenized", "prediction"),
        ("course.breaks.breaks_is_contiguous", "Break it"),
        ("contribute.review.review_1", "review"),
        ("contribute.mend.locate_2", "diagnosis"),
        ("clinic.tensors.narrow_1", "diagnosis"),
        ("clinic.training.check_sum_to", "body"),
    ],
)
def test_the_name_of_an_exercise_says_what_kind_it_is(exercise, kind):
    assert function_of(exercise) and kind_of(exercise) == kind
