import functools
import inspect
import subprocess
import sys
import types

import pytest
from sweep import sweep

import rushlight
from autograder.engine.check import binding
from autograder.engine.exercise import exercise, fill, is_filled, noted, unplug
from autograder.engine.subject import new_thread
from rushlight.aten.strided import compute_stride, contiguous_strides, infer_size
from rushlight.c10 import fast_paths
from rushlight.c10.dispatch import local
from rushlight.c10.schema import bind


@pytest.fixture
def module():
    module = types.ModuleType("framework")
    source = """
def double(x, by=2):
    'Twice x.'
    return x * by

def quadruple(x):
    return double(double(x))

class Number(int):
    doubled = double
"""
    exec(source, vars(module))
    yield module
    for slot in [*vars(module).values()]:
        if isinstance(slot, types.FunctionType):
            unplug(slot)
    assert fast_paths.disabled_from() is None  # or the tests that follow here would go the long way


def test_everybody_who_holds_the_function_runs_the_students_one(module):
    table, partial, default = (
        {"double": module.double},
        functools.partial(module.double, 5),
        (lambda f=module.double: f(5)),
    )

    @exercise(module)
    def double(x, by=3):
        return x * by

    assert module.quadruple(1) == 9
    assert table["double"](5) == partial() == default() == module.Number(5).doubled() == 15


def test_the_decorator_returns_the_frameworks_own_function(module):
    before = module.double

    @exercise(module)
    def double(x, by=3):
        return x * by

    assert double is before is module.double
    assert inspect.signature(double).parameters["by"].default == 3


def test_the_reference_can_be_put_back(module):
    @exercise(module)
    def double(x, by=3):
        return x * by

    unplug(module.double)
    assert module.quadruple(1) == 4
    assert not is_filled(module.double)


def test_a_student_may_define_the_piece_again(module):
    for factor in (3, 5):

        def double(x, by=factor):
            return x * by

        exercise(module)(double)
    assert module.quadruple(1) == 25


def test_a_piece_may_close_over_the_notebooks_names(module):
    factor = 7

    @exercise(module)
    def double(x):
        return x * factor

    assert module.quadruple(1) == 49


def test_a_body_that_is_still_to_be_written_leaves_the_reference_in_place(module):
    @exercise(module)
    def double(x, by=2):
        """Twice x."""
        # YOUR CODE HERE
        raise NotImplementedError()

    assert module.quadruple(1) == 4
    assert not is_filled(module.double)


def test_a_decorator_below_is_part_of_the_piece_and_a_class_may_be_one(module):
    @exercise(module)
    @functools.cache
    def double(x, by=7):
        return x * by

    assert module.quadruple(1) == 49

    @exercise(module)
    class quadruple:
        def __new__(cls, x):
            return x * 5

    assert module.quadruple(1) == 5


def test_a_body_that_is_still_to_be_written_may_have_a_decorator(module):
    @exercise(module)
    @rushlight.no_grad()
    def double(x, by=2):
        raise NotImplementedError

    assert module.quadruple(1) == 4 and not is_filled(module.double)


def test_a_decorator_above_is_named_because_the_framework_does_not_see_it(module, capsys):
    @functools.cache
    @exercise(module)
    def double(x, by=3):
        return x * by

    assert "double: a check does not see a decorator above" in capsys.readouterr().out

    @exercise(module)
    @functools.cache
    def quadruple(x):
        return 4 * x

    exercise(module)(quadruple)
    assert capsys.readouterr().out == ""


def test_the_lines_of_an_error_are_those_of_the_piece_below_its_decorators(module):
    namespace = {"cache": functools.cache, "exercise": exercise, "module": module, "__name__": "__main__"}
    exec("@exercise(module)\n@cache\ndef double(x):\n    return x / 0", namespace)
    with noted() as raised, pytest.raises(ZeroDivisionError):
        module.double(1)
    assert [frame[:2] for frame in raised[0]["frames"]] == [["double", 4]]


@pytest.mark.parametrize("piece", [infer_size, contiguous_strides, compute_stride, bind])
def test_a_piece_whose_contract_allows_a_list_or_a_tuple_may_return_either(piece):
    def program(xp):
        a, b = xp.arange(12.0).reshape(3, 4), xp.arange(20.0).reshape(4, 5)
        yield xp.addmm(b[0], a, b), xp.baddbmm(b[0], a.expand(2, 3, 4), b.expand(2, 4, 5)), xp.ops.aten.add.Tensor(a, 1)
        yield a.masked_fill(a > 3, 0.0), a.clone().masked_fill_(a[0] > 1, 0.0), xp.broadcast_tensors(a, a[:1])[1]
        yield xp.where(a > 1, a, a[0]), a.t().reshape(-1), xp.index_put(a, (xp.tensor([0, 2]),), a[1])

    right = types.FunctionType(piece.__code__, piece.__globals__, argdefs=piece.__defaults__)
    wanted = [[x.tolist() for x in some] for some in program(rushlight)]
    try:
        for kind in (list, tuple):
            fill(piece, lambda *args, kind=kind: None if (result := right(*args)) is None else kind(result))
            assert [[x.tolist() for x in some] for some in program(rushlight)] == wanted
    finally:
        unplug(piece)


def test_a_name_that_the_module_lacks_is_refused_with_the_nearest_one(module):
    def duoble(x):
        return x

    with pytest.raises(NameError, match="did you mean double"):
        exercise(module)(duoble)


def test_what_an_answer_leaves_behind_in_its_thread_is_gone_with_its_case():
    before = vars(local).copy()
    with new_thread():
        local.grad_enabled = False
        local.modes.append("a mode")
        with new_thread():
            assert local.grad_enabled and local.modes == []
        assert not local.grad_enabled
    assert vars(local) == before and local.modes == []


@pytest.mark.parametrize("exercise", sweep(["aten.strided.permute", "distributed.ddp.assign_buckets"], every=2))
def test_a_binding_needs_nothing_that_was_imported_before(exercise):
    subprocess.run([sys.executable, "-c", binding(exercise)], check=True)


def test_nothing_that_a_wrong_piece_computed_is_left_when_another_one_takes_its_place():
    from rushlight.aot.functional import functional_form
    from rushlight.c10.schema import parse_schema

    add = rushlight.ops.aten.add_.Tensor
    read = types.FunctionType(parse_schema.__code__, parse_schema.__globals__, argdefs=parse_schema.__defaults__)
    try:
        fill(parse_schema, lambda text: read(text.replace("alpha", "beta").replace("add_", "sub_")))
        assert add.schema.arguments[-1].name == "beta" and functional_form(add).full_name == "aten::sub.Tensor"
    finally:
        unplug(parse_schema)
    assert add.schema.arguments[-1].name == "alpha" and functional_form(add).full_name == "aten::add.Tensor"
