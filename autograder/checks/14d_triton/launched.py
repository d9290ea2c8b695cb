"""A text in Triton is read, translated and launched in a child process, and held against what is needed."""

from __future__ import annotations

import ast
import builtins
import signal
from types import ModuleType

import numpy as np

from ...engine.observe import values
from ..cases import field, first_apart, numbers
from ..shared_14 import about_count

SECONDS = 10  # of a child: a launch takes a tenth of a second
LONGEST_LINE = 70
UNWRITTEN = -7.5  # in an output, before the launch

# The language --------------------------------------------------------------------------------------------------------

BUILTINS = {"abs", "bool", "float", "int", "isinstance", "len", "list", "max", "min", "print", "range", "tuple"}
OF_PYTHON = {*dir(builtins)} - {"_"}  # Python's shell adds this one
OF_TRITON = {"cdiv", "constexpr_function", "jit", "language", "next_power_of_2"}
OF_BLOCKS = {"T", "dtype", "element_ty", "numel", "shape", "type", "value"}  # and the methods
_STATEMENTS = (
    ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith, ast.Await, ast.ClassDef, ast.Delete, ast.DictComp, ast.GeneratorExp,
    ast.Global, ast.Lambda, ast.Match, ast.Nonlocal, ast.Raise, ast.SetComp, ast.Try, ast.TryStar, ast.With, ast.Yield,
    ast.YieldFrom,
)  # fmt: skip


def foreign(text):
    """What a text uses that is no part of the language. Raises SyntaxError if it is no Python."""
    tree, modules = ast.parse(text), {}
    found = [_foreign_at_top(statement, modules) for statement in tree.body]
    inner = [node for statement in tree.body for node in ast.walk(statement) if node is not statement]
    found += [_shown(node) for node in inner if isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef)]
    found += [_foreign_name(node, modules) for node in ast.walk(tree)]
    return sorted({each for each in found if each})


def _shown(node):
    """The first line of a statement, or an expression."""
    return ast.unparse(node).splitlines()[0][:LONGEST_LINE]


def _foreign_at_top(statement, modules):
    """A statement that may not be at the top of a text, or "". Adds the names that an import binds to `modules`."""
    import triton
    import triton.language as tl

    match statement:
        case ast.Import(names):
            for alias in names:
                if alias.name not in ("triton", "triton.language"):
                    return _shown(statement)
                modules[alias.asname or "triton"] = tl if alias.asname and alias.name != "triton" else triton
        case ast.ImportFrom(source, names) if source in ("triton", "triton.language"):
            owner = triton if source == "triton" else tl
            for alias in names:
                if not _is_in_language(owner, alias.name):
                    return _shown(statement)
                if isinstance(value := getattr(owner, alias.name, None), ModuleType):
                    modules[alias.asname or alias.name] = value
        case ast.FunctionDef(decorator_list=[decorator]) if _shown(decorator).rpartition(".")[2] == "jit":
            pass
        case ast.FunctionDef(name=name):
            return f"def {name}"
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if module := _module(value, modules):
            modules[name] = module
        case ast.Assign(targets=[ast.Name()]) | ast.AnnAssign(target=ast.Name()) | ast.Expr(ast.Constant()):
            pass
        case _:
            return _shown(statement)
    return ""


def _module(node, modules):
    """The module that an expression is, or None."""
    match node:
        case ast.Name(id=name):
            return modules.get(name)
        case ast.Attribute(value=value, attr=attribute) if owner := _module(value, modules):
            found = getattr(owner, attribute, None)
            return found if isinstance(found, ModuleType) else None
    return None


def _foreign_name(node, modules):
    """A name, an attribute or a statement that a kernel may not use, or ""."""
    import triton.language as tl

    match node:
        case ast.Name(id=name) if name.startswith("__") or name in OF_PYTHON - BUILTINS:
            return name
        case ast.Attribute(value=value, attr=attribute, ctx=ast.Load()):
            if owner := _module(value, modules):
                return "" if _is_in_language(owner, attribute) else _shown(node)
            methods = {name for of in (tl.tensor, tl.dtype, tl.tensor_descriptor) for name in dir(of)}
            return "" if attribute in OF_BLOCKS | methods and not attribute.startswith("_") else _shown(node)
        case ast.Attribute():
            return f"{_shown(node)} = ..."
        case _ if isinstance(node, _STATEMENTS):
            return _shown(node)
    return ""


def _is_in_language(module, name):
    """Whether a kernel may use this name of a module: no other module, except two, and nothing private."""
    if module.__name__ == "triton":
        return name in OF_TRITON
    is_module = isinstance(getattr(module, name, None), ModuleType)
    return not name.startswith("_") and (name == "math" or not is_module)


# In programs ---------------------------------------------------------------------------------------------------------

_endless = set()  # texts


def ran(rl, text, kernel, grid, arguments, needed, order=None, **constexprs):
    """What a launch of a kernel shows: findings, counts, and the outputs, which are the arguments that `needed` has stores of. With
    `order` also what this function returns of the first element of `out` that each instance stores."""
    from rushlight.inductor import triton_heuristics
    from rushlight.utils.child import run_in_child

    triton_heuristics.require()
    if not isinstance(text, str):
        raise TypeError(f"the text of a kernel is a str, not {type(text).__name__}")
    if beyond := foreign(text):
        return {"not in the language": beyond}
    if text in _endless:
        raise ChildProcessError(_ENDLESS)
    try:
        shown = run_in_child(_launch, text, kernel, grid, arguments, needed, constexprs, seconds=SECONDS)
    except ChildProcessError as error:
        if signal.SIGALRM.name in str(error):
            _endless.add(text)
            raise ChildProcessError(_ENDLESS) from None
        raise
    outputs = {name: rl.from_numpy(array) for name, array in shown["outputs"].items()}
    before = {name: shown[name] for name in ("findings", "rounded to TF32")}
    order = {"order of instances": order(shown["first"])} if order else {}
    return {"not in the language": []} | before | outputs | order | shown["counts"]


_ENDLESS = f"the kernel was stopped after {SECONDS} seconds: it has a loop without an end"


def _launch(text, kernel, grid, arguments, needed, constexprs):
    from rushlight.on_torch.triton_on_host import Module

    module = Module(text)
    translated = module.compile(kernel, *arguments.values(), **constexprs)
    result = module.launch(kernel, grid, *arguments.values(), **constexprs)
    outputs = {name: arguments[name] for name in arguments if f"sectors stored in {name}" in needed}
    findings = [finding_of(text, each) for each in result.findings]
    first = {}  # of the output, by the instance that stores it
    for access in result.of("store", "out"):
        element = int(access.elements.min())
        first[access.instance] = min(first.get(access.instance, element), element)
    shown = {"findings": findings, "rounded to TF32": "inputPrecision = tf32 " in translated, "outputs": outputs}
    return shown | {"first": [first[instance] for instance in sorted(first)], "counts": counted(text, result, needed)}


def on_board(text, kernel, grid, arguments, **constexprs):
    """What a launch asks for, as numbers for the board."""
    from rushlight.utils.child import run_in_child

    return run_in_child(_count, text, kernel, grid, arguments, constexprs, seconds=SECONDS)


def _count(text, kernel, grid, arguments, constexprs):
    from rushlight.on_torch.triton_on_host import Module

    result = Module(text).launch(kernel, grid, *arguments.values(), **constexprs)
    return {
        "bytes": result.bytes("load") + result.bytes("store"),
        "sectors": result.sectors("load") + result.sectors("store"),
    }


def counted(text, result, needed):
    """The counts of a launch by the names in `needed`. One that is not above what is needed becomes this. Another one is shown with
    the line that has most of it."""
    shown = {}
    for name, most in needed.items():
        what, kind, _, argument = name.split()
        accesses = result.of("load" if kind == "loaded" else "store", argument)
        of_line = {}
        for access in accesses:
            of_line[access.line] = of_line.get(access.line, 0) + getattr(access, what)
        count = sum(of_line.values())
        line = max(of_line, key=of_line.get, default=None)
        shown[name] = most if count <= int(most) else f"{count}, most of them in {line_of(text, line)}"
    return shown


def finding_of(text, finding):
    return f"{finding}, `{text.splitlines()[finding.line - 1].strip()[:LONGEST_LINE]}`"


def line_of(text, number):
    return f"line {number}, `{text.splitlines()[number - 1].strip()[:LONGEST_LINE]}`"


def inputs_of(xp, *counts):
    """Tensors of small numbers by rule."""
    return [numbers(xp, [count], start, "float32") for start, count in enumerate(counts)]


def memory_of(rl, *counts):
    """The memory of the inputs and, last, of the output, as arrays."""
    *inputs, out = counts
    return [x.numpy().copy() for x in (*inputs_of(rl, *inputs), rl.full((out,), UNWRITTEN))]


def wanted(needed, **outputs):
    """What a right launch shows, in torch."""
    return {"not in the language": [], "findings": [], "rounded to TF32": False} | outputs | needed


# What is needed ------------------------------------------------------------------------------------------------------


def needs(**accesses):
    """What is needed, by the names in `counted`. An argument has a kind, "loaded of" or "stored in", and for each access of an
    instance an array with the numbers of the elements."""
    shown = {}
    for name, (kind, blocks) in accesses.items():
        sectors = sum(np.unique(block * 4 // 32).size for block in blocks)
        shown[f"bytes {kind} {name}"] = f"{4 * sum(block.size for block in blocks)}"
        shown[f"sectors {kind} {name}"] = f"{sectors}"
        shown[f"bytes {'stored in' if kind == 'loaded of' else 'loaded of'} {name}"] = "0"
    return shown


# In hints ------------------------------------------------------------------------------------------------------------


def about_triton(case, mine, theirs):
    """A hint for a text that is not in the language or does not compile, for a finding, and for a count above the budget."""
    said = str(mine.get("message", "")) if isinstance(mine, dict) else ""
    if "Triton is not installed" in said:
        return "this check cannot test your kernel without Triton"
    if "child process died" in said:
        return "the kernel ended the process that it ran in"
    if "Triton's compiler" in said:
        return "the interpreter might run this, and the compiler for a GPU does not accept it"
    name = first_apart(mine, theirs)
    if name == "not in the language":
        used = ", ".join(f"`{each}`" for each in field(mine, name) if isinstance(each, str))
        return f"the text has {used}: it may have functions with `@triton.jit`, constants, and what `triton.language` offers"
    if name == "findings":
        finding = next((each for each in field(mine, name) if isinstance(each, str)), "")
        return f"{finding}. Which elements of the block does the array not have? Its mask must be False there"
    if name == "rounded to TF32":
        return '`tl.dot` rounds float32 to the 10 bits of TF32 on a GPU, unless you ask for `input_precision="ieee"`'
    if name == "order of instances":
        return "which tile does each instance compute? `grouped` has the order"
    if name in ("out", "logsumexp"):
        return _about_output(values(field(mine, name)), values(field(theirs, name)))
    if name is not None and " of " in name or " in " in name:
        return about_count(name, field(mine, name), field(theirs, name), _advice(name))
    return None


def _advice(name):
    if name.startswith("bytes"):
        return (
            "each element is accessed once" if "stored" in name else "which elements are loaded twice, or not needed?"
        )
    return "does an instance access neighbouring elements in one block?"


def is_written(mine):
    """Whether a part of a result is a tensor of numbers, and all of its elements were written."""
    return not (np.isnan(mine) | (mine == UNWRITTEN)).any()


def _about_output(mine, theirs):
    mine, theirs = mine.reshape(-1), theirs.reshape(-1)
    apart = np.flatnonzero(~np.isclose(mine, theirs, rtol=1.3e-6, atol=1e-5, equal_nan=True))  # as they are compared
    missing, beyond = (apart[of[apart] == UNWRITTEN] for of in (mine, theirs))
    if len(missing):
        return f"element {missing[0]} of the output was not written, as the first of {len(missing)}: which instance has it?"
    if len(beyond):
        return f"element {beyond[0]} of the output was written, and no instance should write it"
    if len(unclear := apart[np.isnan(mine[apart])]):
        cause = "does a masked-off element of a load without `other` count, or minus infinity minus minus infinity?"
        return f"element {unclear[0]} of the output is NaN: {cause}"
    return f"element {apart[0]} of the output was written, but not with the right value: from which elements is it computed?"
