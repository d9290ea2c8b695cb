"""Predictions: the kernels and library calls of a compiled function, and the memory that is allocated for them."""

from __future__ import annotations

import ast

from rushlight.course import draws

from ...engine.check import program
from ..cases import PARTS, predicting
from ..shared_08 import _torch_dumps

for part in PARTS:

    @program(
        f"course.predictions.kernels_and_buffers{part}", **predicting("kernels_and_buffers", part), disposable=True
    )
    def kernels_and_buffers(rl, number=0):
        return rl.course.predictions.kernels_and_buffers()


@kernels_and_buffers.oracle
def calls_of_the_wrapper(torch, number=0):
    dump, kernels, nbytes = _dumps(number), [], 0
    for what, name, *more in dump["events"]:
        if what == "allocate":
            nbytes += more[0]
        elif what in ("kernel", "outside"):
            operators = (
                dump["kernels"][name]["operations"] if what == "kernel" else [name.removeprefix("extern_kernels.")]
            )
            kernels.append(f"{' '.join(operators)} {nbytes}")
            nbytes = 0
    return kernels


def _dumps(number):
    """A program as Inductor compiles it, up to the text. This process ends afterwards."""
    source, _, sizes = draws.program("kernels_and_buffers", number).partition("\nsizes = ")
    inputs = [[[*shape], None, "float32"] for shape in ast.literal_eval(sizes)]
    return _torch_dumps()._all([{"source": source, "inputs": inputs, "isa": "none", "threads": 1}])[0]
