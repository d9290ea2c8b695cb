"""Drawn programs of views, writes in place, modes, custom functions and hooks do what they do on torch (`bench/programs.py`)."""

import pytest
from sweep import sweep, swept

from bench import programs


@pytest.mark.parametrize("count", [100, swept(3000)])
def test_drawn_programs_agree(count):
    programs.draw(count, number=count)


@pytest.mark.parametrize("name", sweep(sorted({*programs.NAMES}), every=8))
def test_each_step_agrees_in_each_mode(name):
    for mode in sorted({*programs.MODES}):
        for then in ("", "mul_"):
            programs.agree([(name, mode, 0, 1), *([(then, "", 4, 0)] if then else [])])
            programs.agree([(name, mode, 2, 1), *([(then, "", 4, 0)] if then else [])])
