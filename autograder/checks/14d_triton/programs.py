"""The check that runs the pieces of lab 14d's compiler together: whole programs on their kernels."""

from __future__ import annotations

from ...engine.check import program
from ..cases import drawn, first_apart, rows
from .kernels import about_kernels, compiled
from .reductions import input_of, results_of

PROGRAMS = [
    "x.softmax(1)", "xp.nn.functional.layer_norm(x, x.shape[-1:])", "[x.argmax(1), x.amin(0)]", "x.t().contiguous()",
    "x + x.amax(1, True) * x.amin(0)", "xp.cat([x, x.flip(1) * 2], 1).log_softmax(1)", "x[1:, ::2] * x[:-1, ::2]",
    "[x.t().relu() + 1, x.sum(0)]", "(x[:1] + x[:, :1]).reshape(-1)", "x.exp().sum()", "x.reshape(-1).flip(0).argmin(0)",
    "(x > 0).any(1) & (x < 2).all(1)", "x[:, :2].t() - x[:, :1].t()", "xp.where(x > 1, x, x.mean(0))",
    "xp.nn.functional.cross_entropy(x, x.argmin(1))",
]  # fmt: skip


@program(
    "together.triton",
    cases=drawn(text=PROGRAMS, height=(3, 40), width=[3, 4, 7, 16, 33, 64, 100, 1100]),
    edges=rows(
        "text height width",
        *((text, 5, 7) for text in PROGRAMS), ("x.softmax(1)", 3, 1500), ("x.t().contiguous()", 33, 70),
        ("[x.argmax(1), x.amin(0)]", 70, 4),
        ("xp.cat([x, x.flip(1) * 2], 1).log_softmax(1)", 3, 600), ("x + x.amax(1, True) * x.amin(0)", 4, 1100),
    ),
    hint=lambda case, mine, theirs: (
        about_kernels(case, mine, theirs)
        or ("the checks of the pieces say more: run them again" if first_apart(mine, theirs) == "results" else None)
    ),
    draws=6,
)  # fmt: skip
def compiled_kernels(rl, text, height, width):
    found = compiled(rl, lambda x: results_of(rl, text, x), [input_of(rl, [height, width], "float32")])
    return {name: found[name] for name in ("stopped", "results")}


@compiled_kernels.oracle
def _(torch, text, height, width):
    return {"stopped": "", "results": results_of(torch, text, input_of(torch, [height, width], "float32"))}
