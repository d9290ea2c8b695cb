"""Programs that the student's pieces compile, and what their kernels do when Triton's interpreter runs them.

The text of each kernel is run from here, not by the framework's launcher, with small blocks: there are several instances, and
several blocks in a loop. Each load is counted, and an access outside of all arguments ends the program.
"""

from __future__ import annotations

import ast
import math
from unittest.mock import patch

from ..cases import field, first_apart
from .launched import finding_of, line_of

LARGEST = {"XBLOCK": 64, "YBLOCK": 16, "R0_BLOCK": 512}  # blocks
ROWS = {"INNER": 4, "OUTER": 16}  # rows in a block
PARTS = {"tl", "triton_helpers", "libdevice", "tl_math"}  # whose functions a line of a kernel may call
METHODS = {"to", "broadcast_to", "dtype", "reshape", "shape", "sum", "max", "min", "cast", "type", "view"}  # of blocks

REDUCE = {
    "sum",
    "max",
    "min",
    "reduce",
    "max2",
    "min2",
    "prod",
    "any",
    "all",
    "max_with_index",
    "min_with_index",
    "argmax",
    "argmin",
}


class Stopped(Exception):
    """A kernel that ends before its end, with the reason."""


def compiled(rl, function, inputs):
    """What the kernels of a function do: the results, and for each input how many bytes are loaded of it."""
    from rushlight.inductor import config, ir, scheduler
    from rushlight.inductor.graph import lower

    with patch.object(config, "cpu_backend", "triton"):
        program = scheduler.schedule(lower(rl.aot.make_fx(function)(*inputs)))
    memory, loaded, again = dict(zip(program.inputs, inputs)) | program.constants, {}, []

    def buffer(name):
        if name not in memory:
            layout = program.layouts[name]
            memory[name] = rl.empty_strided(layout.sizes, layout.strides, dtype=layout.dtype)
        return memory[name]

    for step in program.steps:
        assert isinstance(step, ir.Kernel), step
        lines = [f"{number:3}  {line}" for number, line in enumerate(step.text.splitlines(), 1)]
        print(*lines[step.text[: step.text.index("\ndef ")].count("\n") + 1 :], "", sep="\n")
        try:
            counts = run(step, [buffer(name) for name in step.arguments])
        except Stopped as error:
            return {"stopped": str(error), "results": [], "reduced in a loop": [], "loaded": []}
        again += reduced_in_a_loop(step.text)
        for name, nbytes in zip(step.arguments, counts):
            loaded[name] = loaded.get(name, 0) + nbytes
    results = [window(buffer(of.buffer), of) if isinstance(of, ir.ReinterpretView) else of for of in program.outputs]
    shown = {"stopped": "", "results": results, "reduced in a loop": again}
    return shown | {"loaded": [loaded.get(name, 0) for name in program.inputs]}


def window(base, view):
    return base.as_strided(view.sizes, view.strides, base.storage_offset() + view.offset)


def run(step, tensors):
    """Run all instances of a kernel. Return how many bytes it has loaded of each of its arguments. Raises Stopped."""
    from rushlight.inductor import triton_heuristics
    from rushlight.on_torch.triton_on_host import watched

    helpers = triton_heuristics.require()
    try:
        used = foreign(step.text)
    except SyntaxError as error:
        raise Stopped(f"{line_of(step.text, error.lineno)}: {error.msg}") from None
    if used:
        raise Stopped(f"`{used}` is no part of a kernel's language")
    path, space = triton_heuristics.loaded(step.name, step.text)
    launcher = space[step.name]
    numels, blocks = dict(zip(launcher.size_hints, step.numels)), dict(LARGEST)
    blocks = {
        f"{axis.upper()}BLOCK": min(size, blocks[f"{axis.upper()}BLOCK"]) for axis, size in launcher.size_hints.items()
    }
    if "r0_" in numels:
        blocks["XBLOCK"] = min(blocks["XBLOCK"], ROWS[launcher.hint])
    grid = [math.ceil(numels[axis] / blocks[f"{axis.upper()}BLOCK"]) if axis in numels else 1 for axis in "xy"]
    names = launcher.function.arg_names
    blocks = {name: size for name, size in blocks.items() if name in names}
    pointers = dict(zip(names, map(triton_heuristics.Pointer, tensors)))
    try:
        with watched(pointers, path) as result, helpers.interpreted():
            launcher.function[(*grid, 1)](*pointers.values(), *step.numels, **blocks)
    except Exception as error:
        raise Stopped(said(error, step.text, path)) from None
    if result.findings:
        raise Stopped(finding_of(step.text, result.findings[0]))
    return [result.bytes("load", name) for name in pointers]


def said(error, text, path):
    """What an error in a kernel says, with the line of the kernel."""
    error = error.__cause__ or error
    trace, number = error.__traceback__, None
    while trace is not None:
        number = trace.tb_lineno if trace.tb_frame.f_code.co_filename == path else number
        trace = trace.tb_next
    return (f"{line_of(text, number)}: " if number else "") + f"{type(error).__name__}: {error}"


# The language of lines -----------------------------------------------------------------------------------------------


def foreign(text):
    """The first thing in a module's text that no kernel of the compiler has, or None."""
    from rushlight.inductor.triton_scheduling import IMPORTS

    header = [ast.unparse(statement) for statement in ast.parse(IMPORTS).body]
    for statement in ast.parse(text).body:
        if isinstance(statement, ast.FunctionDef):
            nodes = (node for line in statement.body for node in ast.walk(line))
            used = next((node for node in nodes if not _is_of_kernel(node)), None)
        else:
            used = None if ast.unparse(statement) in header else statement
        if used is not None:
            return ast.unparse(used).splitlines()[0]
    return None


def reduced_in_a_loop(text):
    """The lines of a loop over blocks that reduce rows."""
    loops = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.For))
    calls = (node for loop in loops for node in ast.walk(loop) if isinstance(node, ast.Call))
    return [line_of(text, call.lineno) for call in calls if getattr(call.func, "attr", "") in REDUCE]


def _is_of_kernel(node):
    if isinstance(node, ast.stmt):
        return isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Expr | ast.For)
    if isinstance(node, ast.Attribute):
        return node.attr in METHODS or (isinstance(node.value, ast.Name) and node.value.id in PARTS)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id in ("float", "int", "range")
    return not isinstance(node, ast.Lambda | ast.comprehension | ast.NamedExpr) and getattr(node, "id", "")[:2] != "__"


# In hints ------------------------------------------------------------------------------------------------------------


def about_kernels(case, mine, theirs):
    """A hint for a kernel that ends before its end, and for one that reduces or loads too often."""
    name = first_apart(mine, theirs)
    if name == "stopped" and isinstance(field(mine, "stopped"), str):
        said = f"a kernel did not run to its end. {field(mine, 'stopped')}"
        advice = "A result of rows has one column: its dimensions are [XBLOCK, 1]"
        return f"{said}. {advice}" if "to have shape" in said else said
    if name == "reduced in a loop":
        lines = field(mine, name)
        return f"{lines[0]} reduces rows again for each block. Totals are reduced after the loop, by the lines that are returned"
    if "unpack" in str(mine.get("message", "")):
        return "the function returns two things: a name, and a list of lines"
    if name == "loaded":
        return "each element of the input is loaded once in each pass over a row"
    return None
