"""Lab 12d, a prediction: the graphs that are captured while a model generates text."""

from __future__ import annotations

from rushlight.course.predictions import GENERATIONS

from ...engine.check import program
from ..cases import define, predicted

_ATTEND = """\
text = xp.arange(32.0).reshape(8, 4).sin()

def attend(x):
    return xp.softmax(x @ x.t(), -1) @ x

"""


@program("course.predictions.graphs_of_generation", **predicted(GENERATIONS))
def graphs(rl, program):
    return list(rl.course.predictions.graphs_of_generation(program))


@graphs.oracle
def _(torch, program):
    step, new, counts = define(torch, _ATTEND + GENERATIONS[program], "step"), [], []

    def count(gm, example_inputs):
        new.append(gm)
        return gm.forward

    torch._dynamo.reset()
    compiled = torch.compile(step, backend=count)
    for args in step.__globals__["calls"]:
        compiled(*args)
        counts.append(len(new))
        new.clear()
    torch._dynamo.reset()
    return counts
