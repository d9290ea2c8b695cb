"""Writing `variable_type.py` from `derivatives.yaml`: run at build time, never at import.

For every operator with a derivative: its node, whose `apply` holds the formulas, and its kernel for the key `Autograd`, which
makes the node, saves what the formulas need, and calls the kernel below. In PyTorch: `tools/autograd/load_derivatives.py`,
`gen_autograd_functions.py` and `gen_variable_type.py`.
"""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

if __name__ == "__main__":  # alone, since the package cannot be imported while what it generates is out of date
    sys.modules["rushlight"] = ModuleType("rushlight")
    sys.modules["rushlight"].__path__ = [str(Path(__file__).parent)]

from rushlight.codegen import Native, formatted, load, main
from rushlight.schema import Argument, FunctionSchema, may_be_number, parse_schema

SOURCE = Path(__file__).with_name("derivatives.yaml")
TARGET = Path(__file__).with_name("variable_type.py")

HEADER = '''"""The nodes of backward graphs and the kernels that make them: generated from `derivatives.yaml` by
`codegen_autograd.py`. Do not edit.

A kernel that nobody asks for a gradient calls the one below it (`operator.below`) and does nothing else.
"""

# ruff: noqa: E501, F401, F403, F405, I001
'''

NAMES = (  # of autograd.py, which the generated code uses
    "Node",
    "call_below",
    "check_inplace",
    "gradient_edge",
    "rebase_history",
    "refuse_grad",
    "save",
    "set_history",
    "sum_to",
    "unpack",
)
METADATA = {  # what a formula may ask of a tensor without its being saved
    ".shape": "_shape", ".dtype": "_dtype", ".stride()": "_stride", ".storage_offset()": "_offset", ".numel()": "_numel",
}  # fmt: skip


@dataclass
class Derivative:
    """One entry: the formulas of an operator by argument, and the node's name."""

    native: Native
    formulas: dict[str, str]
    differentiable: list[bool]  # for each result
    node: str


def load_derivatives(natives: dict[str, Native]) -> list[Derivative]:
    import yaml

    found, indices = [], {}
    for entry in yaml.safe_load(SOURCE.read_text(encoding="utf-8")):
        schema = parse_schema(entry.pop("name"))
        name = schema.full_name.removeprefix("aten::")
        if name not in natives:
            raise ValueError(f"derivatives.yaml: there is no operator {name}")
        native = natives[name]
        if str(native.schema) != str(schema):
            raise ValueError(f"derivatives.yaml: {name} is declared as {native.schema}")
        differentiable = entry.pop("output_differentiability", [True] * len(schema.returns))
        known, node = {argument.name for argument in schema.arguments}, entry.pop("node", None)
        if not set(entry) <= known:
            raise ValueError(f"{name} has no arguments {sorted(set(entry) - known)}")
        base = camel(schema.name)
        index = indices[base] = indices.get(base, -1) + 1
        found.append(Derivative(native, dict(entry), differentiable, node or f"{base}Backward{index}"))
    return found


def camel(name: str) -> str:
    """`_log_softmax` as `LogSoftmax`; an in-place operator has the name of the functional one."""
    return name.title().replace("_", "")


# ------------------------------------------------------------------------------------------------------------
# What a formula needs


@dataclass
class Needs:
    """Names of what a formula uses: tensors that are saved, results that are saved, and plain values."""

    tensors: set[str]
    results: set[str]
    values: dict[str, str]  # attribute of the node: expression at the time of the call


def rewrite(formula: str, derivative: Derivative) -> tuple[str, Needs]:
    """A formula in terms of local names, and what has to be kept for it."""
    schema, values = derivative.native.schema, {}
    for argument in schema.arguments:
        if argument.type == "Tensor":
            for attribute, suffix in METADATA.items():
                pattern = rf"\b{argument.name}{re.escape(attribute)}" + (r"\b" if attribute[-1] != ")" else "")
                if re.search(pattern, formula):
                    formula = re.sub(pattern, argument.name + suffix, formula)
                    values[argument.name + suffix] = argument.name + attribute
        elif argument.type == "Tensor[]":
            for attribute, suffix in (("shape", "_shapes"), ("dtype", "_dtypes")):
                if f"{argument.name}{suffix}" in formula:
                    values[argument.name + suffix] = f"[each.{attribute} for each in {argument.name}]"
    if "result_shapes" in formula:
        values["result_shapes"] = "[each.shape for each in result]"
    used = {node.id for node in ast.walk(ast.parse(formula)) if isinstance(node, ast.Name)}
    named = {argument.name: argument for argument in schema.arguments}
    tensors = {name for name in used if name in named and _may_be_tensor(named[name])}
    for name in sorted(used & set(named) - tensors):
        values[name] = name
    results = {name for name in used if name in ("result", *(part.name for part in schema.returns if part.name))}
    return formula, Needs(tensors, results - {""}, values)


def inline(formula: str, needs: Needs) -> str:
    """A formula in which values that are no tensors are read off the node."""

    class OffTheNode(ast.NodeTransformer):
        def visit_Name(self, name: ast.Name) -> ast.expr:  # noqa: N802
            return ast.Attribute(ast.Name("node"), name.id) if name.id in needs.values else name

    return ast.unparse(OffTheNode().visit(ast.parse(formula, mode="eval")))


def _may_be_tensor(argument: Argument) -> bool:
    return argument.base == "Tensor"


# ------------------------------------------------------------------------------------------------------------
# Nodes


def node_class(derivative: Derivative) -> str:
    schema = derivative.native.schema
    inputs = differentiable_inputs(derivative)
    many = len(schema.returns) > 1 or schema.returns[0].is_list
    body, saved = [], {}
    needs = {argument.name: rewrite(derivative.formulas[argument.name], derivative) for argument in inputs}
    for _, each in needs.values():
        saved |= dict.fromkeys(sorted(each.tensors | each.results))
    taken = "*grads" if many else "grad"
    lines = [f"class {derivative.node}(Node):"]
    if saved:
        lines += [f"    {' = '.join(f'saved_{name}' for name in saved)} = None", ""]
    lines += [f"    def apply(node, {taken}):"]
    if many:
        body += ["if all(grad is None for grad in grads):", f"    return {_nones(inputs)}"]
        if not schema.returns[0].is_list:
            body += ["grad = grads[0]"]
    else:
        body += ["if grad is None:", f"    return {_nones(inputs)}"]
    for name in saved:
        conditions = [
            i
            for i, argument in enumerate(inputs)
            if name in needs[argument.name][1].tensors | needs[argument.name][1].results
        ]
        always = len(conditions) == len(inputs) == 1
        test = (
            ""
            if always or not _single(inputs)
            else f" if {' or '.join(f'node.needs({i})' for i in conditions)} else None"
        )
        body.append(f"{name} = unpack(node, node.saved_{name}){test}")
    formulas = {name: inline(formula, each) for name, (formula, each) in needs.items()}
    if len(inputs) == 1:
        formula = formulas[inputs[0].name]
        if inputs[0].is_list:
            body.append(f"return {formula}")
        else:
            body.append(f"return ({formula},)")
    else:
        body.append("return (")
        for i, argument in enumerate(inputs):
            body.append(f"    {formulas[argument.name]} if node.needs({i}) else None,")
        body.append(")")
    lines += ["        " + line for line in body]
    if saved:
        released = " = ".join(f"node.saved_{name}" for name in saved)
        lines += ["", "    def release_variables(node):", f"        {released} = None", "        node.released = True"]
    return "\n".join(lines) + "\n"


def _single(inputs: list[Argument]) -> bool:
    return all(not argument.is_list for argument in inputs)


def _nones(inputs: list[Argument]) -> str:
    if len(inputs) == 1 and inputs[0].is_list:
        return "[None] * len(node.next_edges)"
    return "(" + "None, " * len(inputs) + ")"


def differentiable_inputs(derivative: Derivative) -> list[Argument]:
    """The tensor arguments that have a formula, in the schema's order: the node has an edge for each."""
    return [argument for argument in derivative.native.schema.arguments if argument.name in derivative.formulas]


# ------------------------------------------------------------------------------------------------------------
# Kernels


def kernel(derivative: Derivative, native: Native) -> str:
    """The kernel of an operator, or of its in-place form, which has the same node."""
    schema = native.schema
    inplace = schema.arguments[0].is_written
    inputs = differentiable_inputs(derivative)
    names = [argument.name for argument in schema.arguments]
    stack = ", ".join(_safe(name) for name in names)
    below = f"{native.variable}.below[key_set]"
    lines = [f"def {function_name(native)}(key_set, {stack}):"]
    checks = [argument.name for argument in inputs]
    listed = [argument for argument in inputs if argument.is_list]
    if listed:
        lines += [f"    edges = [gradient_edge(each) for each in {checks[0]}] if local.grad_enabled else []"]
    else:
        without = " and ".join(_has_no_history(schema, argument) for argument in inputs)
        lines += [f"    if not local.grad_enabled or {without}:", f"        return {below}({stack})"]
        lines += [f"    edges = [{', '.join(f'gradient_edge({name})' for name in checks)}]"]
    others = [a.name for a in schema.arguments if a.base == "Tensor" and a.name not in derivative.formulas]
    lines += ["    if not any(edge.node for edge in edges):", f"        return {below}({stack})"]
    for name in others:
        lines += [f"    refuse_grad({schema.name!r}, {name!r}, {_safe(name)})"]
    if inplace:
        lines += ["    check_inplace(self)"]
    lines += [f"    node = {derivative.node}()", "    node.next_edges = edges"]
    tensors: dict[str, list[int]] = {}
    results: dict[str, list[int]] = {}
    values: dict[str, str] = {}
    for i, argument in enumerate(inputs):
        _, each = rewrite(derivative.formulas[argument.name], derivative)
        for name in sorted(each.tensors):
            tensors.setdefault(name, []).append(i)
        for name in sorted(each.results):
            results.setdefault(name, []).append(i)
        values |= each.values
    for name, expression in values.items():
        if name != "result_shapes":
            lines.append(f"    node.{name} = {_safe(expression)}")
    for name, users in tensors.items():
        kept = "save(self.clone())" if inplace and name == "self" else f"save({name})"
        lines += _if_needed(users, inputs, f"node.saved_{name} = {kept}")
    lines.append(f"    result = call_below({below}, {stack})")
    if inplace:
        lines.append("    rebase_history(self, node)")
    elif not all(derivative.differentiable):
        lines.append(f"    set_history(result, node, {derivative.differentiable})")
    else:
        lines.append("    set_history(result, node)")
    if "result_shapes" in values:
        lines.append(f"    node.result_shapes = {values['result_shapes']}")
    parts = [part.name for part in schema.returns]
    for name, users in results.items():
        of = "result" if name == "result" else f"result[{parts.index(name)}]"
        lines += _if_needed(users, inputs, f"node.saved_{name} = save({of}, True)")
    lines.append("    return result")
    return "\n".join(lines) + "\n"


def _has_no_history(schema: FunctionSchema, argument: Argument) -> str:
    """The test that a tensor argument has nothing to do with autograd; where a number or None may stand, for these too."""
    test = f"{argument.name}._autograd is None is {argument.name}._base"
    if may_be_number(schema, argument) or argument.is_optional or argument.name == "self" != schema.arguments[0].name:
        return f"({argument.name}.__class__ is not Tensor or {test})"
    return test


def _if_needed(users: list[int], inputs: list[Argument], line: str) -> list[str]:
    if len(users) == len(inputs) or not _single(inputs):
        return [f"    {line}"]
    return [f"    if {' or '.join(f'edges[{i}].node' for i in users)}:", f"        {line}"]


def _safe(name: str) -> str:
    return "from_" if name == "from" else name


def function_name(native: Native) -> str:
    return native.variable.removesuffix("_op")


def inplace_forms(derivative: Derivative, natives: dict[str, Native], own: set[str]) -> list[Native]:
    """The in-place operator that has the derivative of this functional one, if it has no entry of its own."""
    schema = derivative.native.schema
    if schema.arguments[0].is_written or schema.arguments[0].name != "self":
        return []
    found = []
    for native in natives.values():
        if native.schema.name != schema.name + "_" or native.name in own:
            continue
        theirs = [(a.name, a.type) for a in native.schema.arguments]
        if theirs == [(a.name, a.type) for a in schema.arguments]:
            found.append(native)
    return found


# ------------------------------------------------------------------------------------------------------------
# The file


def generate() -> str:
    natives = load()
    derivatives = load_derivatives(natives)
    own = {derivative.native.name for derivative in derivatives}
    nodes, kernels, registered = [], [], []
    derived = set(own)
    for derivative in derivatives:
        derived |= {form.name for form in inplace_forms(derivative, natives, own)}
        if not derivative.formulas:
            continue
        nodes.append(node_class(derivative))
        for native in [derivative.native, *inplace_forms(derivative, natives, own)]:
            kernels.append(kernel(derivative, native))
            registered.append(f"    {native.variable}: {function_name(native)},")
    outs = [n.variable for n in natives.values() if n.out is not None and "CompositeImplicitAutograd" not in n.dispatch]
    missing = without_derivative(natives, derivatives, derived)
    used = set(missing) | {d.native.variable for d in derivatives} | {*outs}
    used |= {form.variable for d in derivatives for form in inplace_forms(d, natives, own)}
    sections = [
        HEADER,
        "import math\n",
        f"from rushlight.autograd import {', '.join(NAMES)}",
        "from rushlight.derivatives import *",
        "from rushlight.dispatch import local",
        "from rushlight.strided import Tensor",
        f"from rushlight.functions import {', '.join(sorted(used))}\n\n",
        "# ---- Nodes\n\n",
        *nodes,
        "# ---- Kernels for the key Autograd\n\n",
        *kernels,
        "AUTOGRAD = {\n" + "\n".join(registered) + "\n}\n",
        f"OUT = ({', '.join(outs)})\n",
        f"WITHOUT_DERIVATIVE = ({', '.join(missing)},)\n",
    ]
    return formatted("\n".join(sections), TARGET)


def without_derivative(natives: dict[str, Native], derivatives: list[Derivative], derived: set[str]) -> list[str]:
    """The operators that would have to have a derivative, and have none: asked for a gradient, they raise."""
    found = []
    for native in natives.values():
        schema = native.schema
        composite, out = "CompositeImplicitAutograd" in native.dispatch, native.out is not None
        takes = any(argument.base == "Tensor" for argument in schema.arguments)
        gives = any(part.base == "Tensor" for part in schema.returns)
        if takes and gives and not composite and not out and native.name not in derived:
            found.append(native.variable)
    return found


if __name__ == "__main__":
    main(sys.modules[__name__])
