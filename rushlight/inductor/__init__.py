"""A small Inductor: from a graph of operators to C++ loops, compiled by the system's compiler.

The path: `lowering` makes loops of the operators, `scheduler` fuses them, `cpp` writes kernels, `memory` plans where buffers lie,
`externs` multiplies matrices, `wrapper` writes the call around it all, `codecache` compiles and loads. `metrics` counts kernels,
and `output_code` reads what the real Inductor writes.

In PyTorch: `torch/_inductor/`; `compile_fx` is `torch/_inductor/compile_fx.py`. Left out: GPUs, templates and autotuning, modes,
sizes that are not known when compiling.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from rushlight.aot import aot_autograd
from rushlight.inductor import (
    codecache,
    cpp,
    externs,
    index,
    ir,
    lowering,
    memory,
    metrics,
    output_code,
    scheduler,
    wrapper,
)
from rushlight.utils import _logging as logs
from rushlight.utils.cpp_extension import compiler

__all__ = [
    "codecache",
    "compile_fx",
    "compile_inner",
    "cpp",
    "externs",
    "index",
    "ir",
    "lowering",
    "memory",
    "metrics",
    "output_code",
    "scheduler",
    "wrapper",
]


def compile_fx(module: Any, example_inputs: Sequence[Any]) -> Callable:
    """The backend "inductor": what Dynamo captured, as compiled graphs, forward and backward.

    Where there is no compiler the graph runs as it is, and a warning says so once.
    """
    try:
        compiler()
    except RuntimeError as error:
        warnings.warn(f"rl.compile runs graphs uncompiled: {error}", stacklevel=2)
        return module
    return aot_autograd(module, example_inputs, compile_inner)


def compile_inner(module: Any, example_inputs: Sequence[Any]) -> Callable[..., list]:
    """One functional graph, compiled: a callable that takes its inputs one by one and returns a list."""
    program = scheduler.schedule(lowering.lower(module))
    metrics.generated_kernel_count += sum(isinstance(step, ir.Kernel) for step in program.steps)
    compiled = wrapper.compile(program, memory.plan(program))
    logs.artifact("output_code", f"{compiled.cpp_text}\n{compiled.python_text}")
    return compiled
