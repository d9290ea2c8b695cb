"""A text is checked as torch checks it, and objects have the names that torch gives."""

import pytest
import torch
from both import FRAMEWORKS, agree

import rushlight as rl

TEXT = "mul add x x sub add"
CHECKS = {
    "in order": lambda check: check.check("mul").check("add").check("sub"),
    "out of order": lambda check: check.check("sub").check("mul"),
    "twice": lambda check: check.check_count("x", 2),
    "too often": lambda check: check.check_count("x", 1, exactly=True),
    "not often enough": lambda check: check.check_count("x", 3),
    "exactly": lambda check: check.check_count("x", 2, exactly=True).check("sub"),
    "not between": lambda check: check.check("mul").check_not("sub").check("x"),
    "between": lambda check: check.check("mul").check_not("add").check("x"),
    "not after": lambda check: check.check("sub").check_not("x"),
    "after": lambda check: check.check("mul").check_not("sub"),
    "not there": lambda check: check.check_not("div"),
}


@pytest.mark.parametrize("name", CHECKS)
def test_a_text_passes_the_checks_that_it_passes_in_torch(name):
    def passes(xp):
        file_check = torch._C.FileCheck if xp is torch else rl.testing.FileCheck
        try:
            CHECKS[name](file_check()).run(TEXT)
        except RuntimeError:
            return False
        return True

    ours, theirs = (passes(xp) for xp in FRAMEWORKS)
    assert ours == theirs


def test_the_name_of_an_object_has_its_module():
    for value in (int, 3, pytest.raises, "text", len):
        agree(lambda xp: xp.typename(value))
    agree(lambda xp: xp.typename(xp.ops.aten.add.Tensor).replace("rushlight", "torch"))
    agree(lambda xp: [xp.typename(xp.zeros(1)), xp.typename(xp.zeros(1, dtype=xp.int64))])
