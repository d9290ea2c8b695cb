"""Lab 12c: which tensors of a step under autocast are of bfloat16."""

from __future__ import annotations

from rushlight.course.predictions import CASTS

from ...engine.check import program
from ..cases import predicted


@program("course.predictions.autocast_dtypes", **predicted(CASTS, draws=len(CASTS)))
def dtypes(rl, program):
    return rl.course.predictions.autocast_dtypes(program)


@dtypes.oracle
def _(torch, program):
    nn = torch.nn
    names = {"xp": torch, "F": nn.functional, "linear": nn.Linear(64, 64), "embedding": nn.Embedding(64, 64)}
    names |= {"norm": nn.LayerNorm(64), "x": torch.ones(2, 8, 64), "tokens": torch.ones(2, 8, dtype=torch.int64)}
    names["optimizer"] = torch.optim.AdamW(names["linear"].parameters())
    with torch.autocast("cpu", dtype=torch.bfloat16):
        exec(CASTS[program], names)
    return str(names["y"].dtype).removeprefix("torch.")
