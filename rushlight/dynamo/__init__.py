"""Capturing graphs from the bytecode of ordinary functions: `torch._dynamo`, on CPython 3.11 to 3.13.

bytecode     reading instructions, and a small set of them for all versions
guards       what a capture has taken for granted, and one function that checks it
variables    what stands on the symbolic stack
output       the graph, its inputs, and the Python around it
values       what is known becomes a constant, what is not becomes a node
training     backward, grad and step within a captured function
tensors      methods and attributes of a tensor
objects      names, attributes, objects and classes
containers   lists, tuples, dicts, sets, and what goes through them
rules        builtin functions
calls        what becomes of a call
symbolic     the interpreter that runs instructions on variables
handlers     what each instruction does
concrete     the interpreter that runs them for real, where the graph breaks
cache        entries, and why none of them fits
eval_frame   running functions with all this
"""

from rushlight.dynamo import calls  # first: it and the modules that it stands upon know each other  # isort: skip
from rushlight.dynamo import (
    bytecode,
    cache,
    concrete,
    containers,
    eval_frame,
    guards,
    handlers,
    objects,
    output,
    rules,
    symbolic,
    tensors,
    training,
    values,
    variables,
)
from rushlight.dynamo.eval_frame import (
    ExplainOutput,
    OptimizedModule,
    compile,  # noqa: A004
    disable,
    explain,
    graph_break,
    list_backends,
    lookup_backend,
    reset,
)
from rushlight.dynamo.variables import Unsupported

__all__ = [
    "ExplainOutput", "OptimizedModule", "Unsupported", "bytecode", "cache", "calls", "compile", "concrete", "containers",
    "disable", "eval_frame", "explain", "graph_break", "guards", "handlers", "list_backends", "lookup_backend", "objects",
    "output", "reset", "rules", "symbolic", "tensors", "training", "values", "variables",
]  # fmt: skip
