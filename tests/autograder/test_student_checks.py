"""A check that a student wrote earns points only by the values and errors of the function on its cases."""

import pytest
from sweep import sweep

from autograder.engine import student_checks
from autograder.engine.student_checks import caught, find_bodies

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
QUICK = ["its code", "its code, by a format", "an import", "the name in an error"]


def text_of(body):
    lines = body.strip("\n").splitlines()
    return "\n".join(["def check():", *(f"    {line}" for line in lines)])


@pytest.fixture(autouse=True)
def limits(monkeypatch, isolated):
    monkeypatch.setattr(student_checks, "CHECK_SECONDS", (5.0, 15.0))


@pytest.mark.parametrize("attack", sweep([*ATTACKS], keep=QUICK))
def test_an_attack_earns_nothing(attack):
    verdict = caught(SUM_TO, "1/4")(None, text_of(ATTACKS[attack]), None)
    assert verdict.outcome == "disagreed", verdict


@pytest.mark.parametrize("number", FILES)
def test_each_wrong_body_has_a_sentence_and_each_file_has_right_ones(number):
    bodies = find_bodies(number)
    assert len(bodies.right) >= 2
    assert len(bodies.wrong) == 8
    assert all(bodies.about[name].endswith(".") for name in bodies.wrong)
