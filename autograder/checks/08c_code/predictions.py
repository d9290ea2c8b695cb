"""Predictions: the kernels and library calls of a compiled function, and the memory that is allocated for them."""

from __future__ import annotations

import ast
from functools import cache

from rushlight.course.predictions import FUSED

from ...engine.check import program
from ..cases import predicted
from ..shared_08 import _torch_dumps


@program("course.predictions.kernels_and_buffers", **predicted(FUSED), disposable=True)
def kernels_and_buffers(rl, program):
    return list(rl.course.predictions.kernels_and_buffers(program))


@kernels_and_buffers.oracle
def calls_of_the_wrapper(torch, program):
    dump, kernels, nbytes = _dumps()[program], [], 0
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


@cache
def _dumps():
    """By name, each program as Inductor compiles it, up to the text. This process ends afterwards."""
    programs = []
    for text in FUSED.values():
        source, _, sizes = text.partition("\nsizes = ")
        inputs = [[[*shape], None, "float32"] for shape in ast.literal_eval(sizes)]
        programs.append({"source": source, "inputs": inputs, "isa": "none", "threads": 1})
    return dict(zip(FUSED, _torch_dumps()._all(programs), strict=True))
