"""A prediction: the parameters and the gradients after two steps of small programs."""

from __future__ import annotations

from rushlight.course import draws

from ...engine.check import program
from ..cases import PARTS, predicting

for part in PARTS:

    @program(f"course.predictions.parameters_after{part}", **predicting("parameters_after", part))
    def parameters_after(rl, number=0):
        return rl.course.predictions.parameters_after()


@parameters_after.oracle
def numbers_of_programs(torch, number=0):
    names = {"xp": torch}
    exec(draws.program("parameters_after", number), names)
    w, b = names["w"], names["b"]
    return [value if value is None else int(value) for value in (w, b, w.grad, b.grad)]
