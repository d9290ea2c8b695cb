"""A check that a student wrote earns points only by the values and errors of the function on its cases."""

import inspect
import re

import pytest
from sweep import sweep

from autograder.engine import student_checks
from autograder.engine.check import every_exercise, function_of
from autograder.engine.patients import BUILTINS
from autograder.engine.student_checks import caught, dumps, falsified, find_bodies, refused

SUM_TO = "13b.sum_to"
FILES = ["13b.sum_to", "13b.clip_grad_norm_"]

# Each of these says what it wants to know, and has no test of it.
ATTACKS = {
    "the same from another place": """
def program(xp, sizes):
    return xp.ones([2, 2]).sum_to_size(sizes)
return program, [{"sizes": [1, 2]}, {"sizes": [2]}]""",
    "its own": """
def program(xp, sizes):
    grad = xp.ones([2, 2])
    return grad.sum(0, keepdim=True) if sizes[0] == 1 else grad.sum(0)
return program, [{"sizes": [1, 2]}]""",
    "the name in an error": """
def program(xp):
    try:
        xp.autograd.engine.sum_to()
    except AttributeError:
        return False
    except TypeError as error:
        return "wrong" in str(error)
return program, [{}]""",
    "whether there is a name at all": """
def program(xp):
    try:
        xp.autograd.engine.sum_to
    except AttributeError:
        return "sound"
    return "wrong"
return program, [{}]""",
    "the text of the function": """
def program(xp):
    return str(xp.autograd.engine.sum_to)
return program, [{}]""",
    "its code": """
def program(xp):
    return xp.autograd.engine.sum_to.__code__.co_code
return program, [{}]""",
    "its code, in a string": """
def program(xp):
    return f"{xp.autograd.engine.sum_to.__code__.co_code}"
return program, [{}]""",
    "its code, by a format": """
def program(xp):
    return "{0.__code__}".format(xp.autograd.engine.sum_to)
return program, [{}]""",
    "its code, by a pattern": """
def program(xp):
    match xp.autograd.engine.sum_to:
        case xp.autograd.engine.Iterable(__code__=code):
            return code
return program, [{}]""",
    "its source": """
def program(xp):
    try:
        return len(xp.autograd.grad_mode.inspect.getsource(xp.autograd.engine.sum_to))
    except AttributeError:
        return 0
return program, [{}]""",
    "the modules of Python": """
def program(xp):
    try:
        return [*xp.autograd.graph.sys.modules]
    except AttributeError:
        return 0
return program, [{}]""",
    "the frame of a generator": """
def program(xp):
    return [name for name in (x for x in [1]).gi_frame.f_globals]
return program, [{}]""",
    "chance": """
def program(xp):
    return xp.rand(4)
return program, [{}]""",
    "cases that change": """
def program(xp, name):
    return name
return program, [{"name": str(program)}]""",
    "too many cases": """
def program(xp, i):
    return i
return program, [{"i": i} for i in range(10**7)]""",
    "cases without an end": """
def program(xp, i):
    return i
def cases():
    i = 0
    while True:
        i += 1
        yield {"i": i}
return program, cases()""",
    "a large result": """
def program(xp, n):
    return xp.arange(n)
return program, [{"n": 50_000_000}]""",
    "a deep result": """
def program(xp, n):
    result = 1
    for _ in range(n):
        result = [result]
    return result
return program, [{"n": 10_000}]""",
    "a loop": """
def program(xp):
    while True:
        xp.ones(1)
return program, [{}]""",
    "an error in each case": """
def program(xp):
    return xp.ones(2) + xp.ones(3)
return program, [{}]""",
    "no case": """
return (lambda xp: xp.ones(1)), []""",
    "no pair": """
def program(xp):
    return 1
return program""",
    "cases that are no dicts": """
def program(xp, a):
    return a
return program, [1, 2]""",
    "printing": """
def program(xp):
    print("x" * 100)
    return 1
return program, [{}]""",
    "an import": """
import sys
def program(xp):
    return len(sys.modules)
return program, [{}]""",
    "a global": """
def program(xp):
    return report_cases
return program, [{}]""",
    "state between cases": """
calls = []
def program(xp, i):
    calls.append(i)
    return len(calls)
return program, [{"i": i} for i in range(3)]""",
    "another framework": """
def program(xp):
    xp.Tensor.sum = xp.Tensor.mean
    return xp.ones(2).sum()
return program, [{}]""",
    "a spy in the place of a tensor": """
class Spy:
    def dim(self):
        return 1
def program(xp):
    try:
        return xp.autograd.engine.sum_to(Spy(), (1,)) is None
    except (AttributeError, TypeError):
        return False
return program, [{}]""",
}
QUICK = ["its code", "its code, by a format", "an import"]  # refused by their text: no body of the function is compiled
PROPERTIES = {  # texts of functions that return no property test
    "it always fails": """
@given(st.integers())
def test(value):
    assert False
return test""",
    "it never fails": """
@given(st.integers())
def test(value):
    assert value == value
return test""",
    "nothing is drawn": """
def test():
    assert xp.nn.utils.clip_grad_norm_([], 1.0) == 0
return test""",
    "no function": "return 1",
    "an error": "return xp.frobnicate",
    "a class": """
class Spy:
    grad = None
@given(st.integers())
def test(value):
    assert xp.nn.utils.clip_grad_norm_(Spy(), 1.0) == 0
return test""",
    "the code of the function": """
@given(st.integers())
def test(value):
    assert len(xp.nn.utils.clip_grad_norm_.__code__.co_code) < 200
return test""",
    "the functions of Hypothesis": """
@given(st.integers())
def test(value):
    assert given.__globals__
return test""",
    "the modules of the strategies": """
@given(st.integers())
def test(value):
    assert st.sys.modules
return test""",
    "an import": """
import sys
@given(st.integers())
def test(value):
    assert "torch" in sys.modules
return test""",
    "examples that change": """
count = []
@given(st.integers())
def test(value):
    count.append(value)
    assert len(count) < 50
return test""",
    "no end": """
@given(st.integers())
def test(value):
    while True:
        value += 1
return test""",
    "no example": """
@given(st.integers().filter(lambda value: value != value))
def test(value):
    assert value
return test""",
}
TESTS_OF_DUMPS = {  # texts of functions that return no test of the dumps
    "it accepts everything": "return FileCheck()",
    "it accepts nothing": 'return FileCheck().check("no such text")',
    "no test": "return 1",
    "it has run": 'return FileCheck().check("a").run("a")',
    "an error": "return FileCheck().frobnicate()",
    "a file": "return FileCheck().check(open('/etc/passwd').read())",
    "an import": 'import torch\nreturn torch.testing.FileCheck().check("softmax")',
    "its class": "return FileCheck.__class__",
    "another test at each call": 'return FileCheck().check("x" * len(str(FileCheck)))',
}
ENDLESS_ON_WRONG = """
def program(xp):
    p = xp.nn.Parameter(xp.zeros(2))
    p.grad = xp.tensor([3.0, 4.0])
    while xp.nn.utils.clip_grad_norm_([p], 1.0, 1.0) > 1.001:
        pass
    q = xp.nn.Parameter(xp.zeros(2))
    q.grad = xp.tensor([0.3, 0.4])
    while xp.nn.utils.clip_grad_norm_([p, q], 9.0) > 3 or q.grad[0] != 0.3:
        pass
    return p.grad
return program, [{}]"""


def text_of(body, parameters=""):
    lines = body.strip("\n").splitlines()
    return "\n".join([f"def check({parameters}):", *(f"    {line}" for line in lines)])


@pytest.fixture(autouse=True)
def limits(monkeypatch, isolated):
    monkeypatch.setattr(student_checks, "CHECK_SECONDS", (5.0, 15.0))


@pytest.mark.parametrize("attack", sweep([*ATTACKS], keep=QUICK))
def test_an_attack_earns_nothing(attack):
    verdict = caught(SUM_TO, "1/4")(None, text_of(ATTACKS[attack]), None)
    assert verdict.outcome == "disagreed", verdict


def test_no_text_of_a_check_becomes_a_name():
    call = "xp.fx.Interpreter(xp.fx.symbolic_trace(lambda x: x)).call_method"
    code = f"{call}('__getattri' + 'bute__', (xp.autograd.engine.sum_to, '__code__'), {{}})"
    cases = f"def check():\n    return (lambda xp: {code}), [{{}}]"
    of_property = f"def check(xp, given, st):\n    return given(st.none())(lambda n: {code})"
    runs = student_checks.Runs()
    ran = student_checks._run(cases, student_checks.CASES, None, runs)
    assert "a text names __getattribute__" in str(ran.results)
    assert (
        "a text names __getattribute__" in student_checks._run(of_property, student_checks.PROPERTY, None, runs).problem
    )


def test_the_verdict_on_a_part_of_a_check_does_not_repeat_the_reason():
    whole, half = (caught(SUM_TO, share)(None, text_of(ATTACKS["its code"]), None) for share in ("1", "1/2"))
    assert "it uses co_code" in whole.message
    assert half.message == "it catches nothing yet: the verdict on the whole check says why"
    assert half.outcome == whole.outcome == "disagreed"


@pytest.mark.sweep
def test_a_check_with_too_many_cases_says_so():
    text = "return (lambda xp, i: i), [{'i': i} for i in range(41)]"
    verdict = caught(SUM_TO, "1")(None, text_of(text), None)
    assert verdict.outcome == "disagreed" and "there are more than 40 cases" in verdict.message, verdict


@pytest.mark.parametrize("number", FILES)
def test_each_wrong_body_has_a_sentence_and_each_file_has_right_ones(number):
    bodies = find_bodies(number)
    assert len(bodies.right) >= 2
    assert len(bodies.wrong) == 8
    assert all(bodies.about[name].endswith(".") for name in bodies.wrong)


@pytest.mark.parametrize("kind", sweep([*PROPERTIES], keep=["a class", "the functions of Hypothesis", "an import"]))
def test_what_is_no_property_earns_nothing(kind):
    verdict = falsified("13b.clip_grad_norm_", "1/4")(None, text_of(PROPERTIES[kind], "xp, given, st"), None)
    assert verdict.outcome == "disagreed", verdict


@pytest.mark.sweep
def test_a_failure_with_a_right_body_is_shown_on_the_smallest_example():
    text = """
@given(st.lists(st.floats(1, 50, width=16), min_size=2, max_size=9))
def test(values):
    p = xp.nn.Parameter(xp.zeros(len(values)))
    p.grad = xp.tensor(values)
    assert xp.nn.utils.clip_grad_norm_(p, 1.0) < 60
return test"""
    verdict = falsified("13b.clip_grad_norm_", "1")(None, text_of(text, "xp, given, st"), None)
    assert verdict.message.startswith("on torch: AssertionError"), verdict
    assert "in `assert xp.nn.utils.clip_grad_norm_(p, 1.0) < 60`" in verdict.message, verdict


@pytest.mark.sweep
def test_all_bodies_together_have_a_limit_of_time(monkeypatch):
    """A check that does not end with wrong bodies would take minutes otherwise."""
    monkeypatch.setattr(student_checks, "ALL_RUNS", 1)
    verdict = caught("13b.clip_grad_norm_", "1")(None, text_of(ENDLESS_ON_WRONG), None)
    assert verdict.outcome == "disagreed" and "takes more than" in verdict.message, verdict


def test_the_docstring_of_a_check_to_write_names_the_functions_that_it_may_use():
    """Of the exercises that return a program: otherwise a student learns them by refusals."""
    docs = {name: inspect.getdoc(function_of(name)) or "" for name in every_exercise() if name.startswith("clinic.")}
    about = {name: text for name, text in docs.items() if "Of Python's functions" in text}
    assert {*about} >= {name for name in docs if name.rpartition(".")[2].startswith("check_")} | {
        "clinic.training.clip_property"
    }
    for name, text in about.items():
        (listed,) = re.findall(r"Of Python's functions it may use (.+?), and it may", " ".join(text.split()))
        assert {*re.findall(r"`(\w+)`", listed)} == BUILTINS, name


@pytest.mark.parametrize("kind", sweep([*TESTS_OF_DUMPS], keep=["it accepts everything", "its class", "a file"]))
def test_what_is_no_test_of_a_dump_earns_nothing(kind):
    verdict = refused("13c.chain_dump", "1/4")(None, text_of(TESTS_OF_DUMPS[kind], "FileCheck"), None)
    assert verdict.outcome == "disagreed", verdict


@pytest.mark.sweep
def test_each_wrong_compiler_writes_other_dumps_than_the_right_one_and_than_the_others():
    right, wrong = dumps("13c.chain_dump")
    assert len(right) == 6 and len(wrong) == 10
    for name, made in wrong.items():
        assert all(made[program] != right[program] for program in made) and len(made) == 2, name
    assert len({str(made) for made in wrong.values()}) == len(wrong)


@pytest.mark.sweep
def test_a_dump_does_not_depend_on_the_machine():
    """A product of other sizes calls other functions on machines with wide vectors."""
    right, wrong = dumps("13c.chain_dump")
    texts = [*right.values(), *(text for made in wrong.values() for text in made.values())]
    assert not [text for text in texts if "matmul(" in text or "omp parallel" in text]
