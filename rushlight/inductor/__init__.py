"""A small Inductor: it compiles a graph of operators to C++ loops, or to kernels in Triton.

The path of a graph: `graph` calls the rules in `lowerings_*` for every node, which gives loops in the language of `ir`. `scheduler`
fuses loops; `cpp_scheduling` writes a kernel for each fused node, or `triton_scheduling` if `config.cpu_backend` is "triton".
`memory` plans the memory of buffers, `externs` multiplies matrices, `wrapper` writes the call around everything, `codecache`
compiles and loads, `triton_heuristics` launches kernels in Triton. `metrics` counts kernels, and `output_code` and `triton_code`
read the code that the real Inductor generates.

In PyTorch: `torch/_inductor/`; `compile_fx` is `torch/_inductor/compile_fx.py`. Left out: tensors on a GPU, templates and
autotuning, modes, sizes that are not known when compiling.
"""

# ruff: noqa: F401

from collections.abc import Callable, Sequence
from typing import Any

from rushlight.aot import aot_autograd
from rushlight.c10.exception import warn
from rushlight.inductor import (
    config,
    cudagraph_utils,
    graph,
    ir,
    memory,
    metrics,
    output_code,
    scheduler,
    triton_code,
    wrapper,
)
from rushlight.utils import _logging as logs
from rushlight.utils.cpp_extension import compiler


def compile_fx(module: Any, example_inputs: Sequence[Any]) -> Callable:
    """The backend "inductor": compiles the graph that Dynamo captured, forward and backward. Without a C++ compiler the graph
    runs uncompiled, and one warning says so."""
    try:
        compiler()
    except RuntimeError as error:
        warn(f"rl.compile runs graphs uncompiled: {error}")
        return module
    return aot_autograd(module, example_inputs, compile_fx_inner)


def compile_fx_inner(module: Any, example_inputs: Sequence[Any]) -> Callable[..., list]:
    """Compile one functional graph to a callable that takes the inputs one by one and returns a list of outputs."""
    if logs.wanted("cudagraphs") and (reason := cudagraph_utils.why_no_graph(cudagraph_utils.graph_nodes(module))):
        logs.artifact("cudagraphs", f"skipping cudagraphs due to {reason}")
    program = scheduler.schedule(graph.lower(module))
    metrics.generated_kernel_count += sum(isinstance(step, ir.Kernel) for step in program.steps)
    compiled = wrapper.compile_program(program, memory.plan(program))
    logs.artifact("output_code", f"{compiled.cpp_text}\n{compiled.python_text}")
    return compiled
