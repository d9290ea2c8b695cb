"""Whole programs, compiled."""

from ...engine.check import program
from ..cases import rows
from ..shared_08 import _BINARY, _SOFTMAX, _programs, as_code, eager, inputs_of, run_steps

_PRODUCT = [[3, 3], [3]], [["product", 0, 0], ["add", 2, 1], ["most", 3], ["t", 3], ["mul", 4, 5]], [6, 3]


@program(
    "together.compiled",
    cases=_programs(list(_BINARY)),
    show=as_code,
    edges=rows("shapes steps results", _SOFTMAX, _PRODUCT),
    hint=lambda case, mine, theirs: (
        "there is no C++ compiler here, so this check cannot test your pieces"
        if "no C++ compiler" in str(mine)
        else None
    ),
    draws=4,
)
def compiled_programs(xp, shapes, steps, results):
    inputs = inputs_of(xp, shapes)
    graph = xp.aot.make_fx(lambda *inputs: run_steps(xp, inputs, steps, results))(*inputs)
    return [result.clone() for result in xp.inductor.compile_fx_inner(graph, inputs)(*inputs)]


compiled_programs.oracle(eager)
