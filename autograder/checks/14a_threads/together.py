"""The check that runs all pieces of lab 14a together: sums of views of sums."""

from __future__ import annotations

from ...engine.check import program
from ..cases import attempt, drawn, listed, rows, several, tensor
from ..shared_14 import SECONDS, about_kernels

VIEWS = {
    "": lambda x: x,
    "turned": lambda x: x.t(),
    "without the first row": lambda x: x[1:],
    "each second column": lambda x: x[:, ::2],
    "one row": lambda x: x[:1],
    "one column": lambda x: x[:, :1],
}
_operand = listed((1, 6), (1, 40), (0, 2))  # rows, columns, offset
_STEP = listed((0, 4), [*VIEWS], (0, 4), [*VIEWS])


def _matrix(rows, columns, offset=0):
    return tensor([rows, columns], None, offset, "float32")


@program(
    "together.sums",
    cases=drawn(
        operands=lambda st: several(_operand, 1, 3)(st).map(lambda all: [_matrix(*each) for each in all]),
        steps=several(_STEP, 1, 6),
    ),
    edges=rows(
        "operands steps",
        ([_matrix(4, 40)], [[0, "", 0, ""]]),
        (
            [_matrix(4, 40, 1)],
            [[0, "turned", 0, "turned"], [1, "without the first row", 0, "one row"], [1, "turned", 0, ""]],
        ),
        (
            [_matrix(6, 40), _matrix(6, 20, 2)],
            [[0, "each second column", 1, ""], [2, "one row", 1, "one column"], [3, "", 2, ""]],
        ),
    ),
    hint=about_kernels,
    draws=3,
)
def small_programs(rl, operands, steps):
    import rushlight.on_torch.cuda_on_host  # noqa: F401  the device of `loops.launch`
    from rushlight.aten.native.cuda import loops
    from rushlight.utils.child import run_in_child

    return run_in_child(_sums, loops, operands, steps, seconds=SECONDS)


def _sums(loops, operands, steps):
    loops.launches.clear()
    values = _run(loops.add, operands, steps)
    findings = [finding.kind for launch in loops.launches for finding in launch.result.findings]
    return {"findings": findings, "values": values}


@small_programs.oracle
def _(torch, operands, steps):
    return {"findings": [], "values": _run(torch.add, operands, steps)}


def _run(add, operands, steps):
    values = list(operands)
    for a, view_of_a, b, view_of_b in steps:  # sizes that do not broadcast are refused
        both = [VIEWS[view](values[which % len(values)]) for which, view in ((a, view_of_a), (b, view_of_b))]
        values.append(result if not isinstance(result := attempt(add, *both), str) else values[0])
    return values[len(operands) :]
