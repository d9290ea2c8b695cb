"""Lab 12c: which tensors of a program under autocast are of bfloat16."""

from __future__ import annotations

from rushlight.course import draws

from ...engine.check import program
from ..cases import PARTS, predicting

for part in PARTS:

    @program(f"course.predictions.autocast_dtypes{part}", **predicting("autocast_dtypes", part))
    def autocast_dtypes(rl, number=0):
        return rl.course.predictions.autocast_dtypes()


@autocast_dtypes.oracle
def dtypes_of_results(torch, number=0):
    nn = torch.nn
    names = {"xp": torch, "F": nn.functional, "linear": nn.Linear(64, 64), "norm": nn.LayerNorm(64)}
    names |= {"x": torch.ones(64, 64), "tokens": torch.arange(64)}
    exec(draws.program("autocast_dtypes", number), names)
    return [str(value.dtype).removeprefix("torch.") for value in names["y"]]
