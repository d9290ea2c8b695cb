"""Write `variable_type.py` from `derivatives.yaml`: at build time, never at import.

The file has two things for every operator with a derivative: a node, whose `apply` contains the formulas, and a kernel for the
key `Autograd`. The kernel makes the node, saves the values that the formulas need, and calls the kernel below.

In PyTorch: `tools/autograd/load_derivatives.py`, `gen_autograd_functions.py` and `gen_variable_type.py`.
"""

import ast
import re
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from rushlight.c10.schema import Argument, FunctionSchema, may_be_number, parse_schema
from rushlight.torchgen.gen import PACKAGE, Native, entries_of, formatted, load, safe, template, wrapped

SOURCE = PACKAGE / "autograd" / "derivatives.yaml"
TARGET = PACKAGE / "autograd" / "generated" / "variable_type.py"

NAMES = {  # names that the generated code uses, by module
    "engine": "sum_to",
    "graph": "Node, edges_to_compute, gradient_edge, int_getter, save, tensor_getters, unpack, value_getter",
    "history": "any_requires_grad, call_below, check_inplace, check_no_requires_grad, rebase_history, set_history, "
    "set_history_inplace",
}
INPLACE_VIEWS = ("as_strided_", "squeeze_", "t_", "transpose_", "unsqueeze_")  # they write no element
METADATA = {  # metadata that a formula may read from a tensor that is not saved
    ".shape": "_shape", ".dtype": "_dtype", ".stride()": "_stride", ".numel()": "_numel", ".dim()": "_dim",
    ".size(0)": "_sym_argsize_0", ".size(-1)": "_sym_argsize_minus_1", ".size(-2)": "_sym_argsize_minus_2",
}  # fmt: skip
# Their names in `_saved_*`, if others.
SHOWN = {"_shape": "_sym_sizes", "_stride": "_sym_strides", "_numel": "_sym_numel"}
NOT_SHOWN = ("_dtype", "bool[3]", "ScalarType")


@dataclass
class Derivative:
    """One entry: the formulas of an operator by argument, and the node's name."""

    native: Native
    formulas: dict[str, str]
    differentiable: list[bool]  # for each result
    node: str
    checked: list[Argument]  # tensors without a formula, which must not require grad
    is_joint: bool = False  # one formula gives the gradients of all inputs, and reads `grad_input_mask`

    @property
    def inputs(self) -> list[Argument]:
        """The arguments that have a formula, in the schema's order. The node has an edge for each."""
        return [argument for argument in self.native.schema.arguments if argument.name in self.formulas]

    @cached_property
    def needs(self) -> "list[Needs]":
        """The values that each formula needs, in the order of `inputs`."""
        return [read(self.formulas[argument.name], self.native.schema) for argument in self.inputs]

    @property
    def takes_list(self) -> bool:
        """Whether the edges are those of a list of tensors."""
        return any(argument.is_list for argument in self.inputs)

    def users(self, *kinds: str) -> dict[str, list[int]]:
        """The `tensors`, or the `results`, or both, that formulas use, each with the indices of these formulas."""
        indices: dict[str, list[int]] = {}
        for i, needed in enumerate(self.needs):
            for name in sorted(set().union(*(getattr(needed, kind) for kind in kinds))):
                indices.setdefault(name, []).append(i)
        return indices


def load_derivatives(natives: dict[str, Native]) -> list[Derivative]:
    """Read `derivatives.yaml`, in its order. An operator that does not exist, or another schema than in
    `native_functions.yaml`, raises a `ValueError`. Source: `tools/autograd/load_derivatives.py`, `load_derivatives`."""
    derivatives, indices = [], {}
    for entry in entries_of(SOURCE):
        schema = parse_schema(entry.pop("name"))
        name = schema.full_name.removeprefix("aten::")
        if name not in natives:
            raise ValueError(f"derivatives.yaml: there is no operator {name}")
        native = natives[name]
        if str(native.schema) != str(schema):
            raise ValueError(f"derivatives.yaml: {name} is declared as {native.schema}")
        differentiable = entry.pop("output_differentiability", [True] * len(schema.returns))
        known, node = {argument.name for argument in schema.arguments}, entry.pop("node", None)
        joint = next((names for names in entry if "," in names), None)
        if joint is not None:
            entry = dict.fromkeys(joint.split(", "), entry[joint])
        if not set(entry) <= known:
            raise ValueError(f"{name} has no arguments {sorted(set(entry) - known)}")
        checked = [a for a in schema.arguments if a.base == "Tensor" and a.name not in entry]
        formulas = {name: formula for name, formula in entry.items() if formula != "non_differentiable"}
        base = schema.name.title().replace("_", "")  # an in-place operator has the name of the functional one
        index = indices[base] = indices.get(base, -1) + 1
        node = node or f"{base}Backward{index}"
        derivatives.append(Derivative(native, formulas, differentiable, node, checked, joint is not None))
        copied = natives.get(name.replace(schema.name, f"{schema.name}_copy", 1))  # the operator that copies a view
        if native.is_view and copied is not None:
            derivatives.append(replace(derivatives[-1], native=copied, node=f"{node}_copy"))
    return derivatives


# The values that a formula needs -------------------------------------------------------------------------------------


@dataclass
class Needs:
    """A formula in the form that the node runs, with the saved tensors, saved results and plain values that it uses."""

    formula: str
    tensors: set[str]
    results: set[str]
    values: dict[str, str]  # attribute of the node: expression at the time of the call


def read(formula: str, schema: FunctionSchema) -> Needs:
    """Find the values that a node must save for a formula."""
    values = {}
    for argument in schema.arguments:
        if argument.type in ("Tensor", "Tensor?"):
            for attribute, suffix in METADATA.items():
                pattern = rf"\b{argument.name}{re.escape(attribute)}" + (r"\b" if attribute[-1] != ")" else "")
                if re.search(pattern, formula):
                    formula = re.sub(pattern, argument.name + suffix, formula)
                    without = f"None if {argument.name} is None else " if argument.is_optional else ""
                    values[argument.name + suffix] = without + argument.name + attribute
            name = argument.name
            if f"zeros_like({name})" in formula:
                formula = formula.replace(f"zeros_like({name})", f"grad.new_zeros({name}_info)")
                values[f"{name}_info"] = f"{name}.shape"
            if f"TensorGeometry({name})" in formula:
                formula = formula.replace(f"TensorGeometry({name})", f"{name}_geometry")
                values[f"{name}_geometry"] = f"({name}.shape, {name}.stride(), {name}.storage_offset())"
        elif argument.type == "Tensor[]":
            for attribute, suffix in (("shape", "_shapes"), ("dtype", "_dtypes")):
                if f"{argument.name}{suffix}" in formula:
                    values[argument.name + suffix] = f"[each.{attribute} for each in {argument.name}]"
    if "result_shapes" in formula:
        values["result_shapes"] = "[each.shape for each in result]"
    for i, name in enumerate(result_names(schema)):
        if f"{name}.size(-1)" in formula:
            formula = formula.replace(f"{name}.size(-1)", f"{name}_sym_argsize_minus_1")
            values[f"{name}_sym_argsize_minus_1"] = f"result[{i}].size(-1)"
    used = {node.id for node in ast.walk(ast.parse(formula)) if isinstance(node, ast.Name)}
    named = {argument.name: argument for argument in schema.arguments}
    tensors = {name for name in used if name in named and named[name].base == "Tensor"}
    for name in sorted(used & set(named) - tensors):
        values[name] = name
    results = used & {"result", *result_names(schema)}
    return Needs(inline(formula, values), tensors, results, values)


def result_names(schema: FunctionSchema) -> list[str]:
    """The names by which formulas use one of several results: those of the schema, or `result0`, `result1`."""
    return [part.name or f"result{i}" for i, part in enumerate(schema.returns)]


def inline(formula: str, values: dict[str, str]) -> str:
    """A formula that reads its values, except tensors, from attributes of the node."""

    class ReadFromNode(ast.NodeTransformer):
        def visit_Name(self, name: ast.Name) -> ast.expr:  # noqa: N802
            return ast.Attribute(ast.Name("node"), name.id) if name.id in values else name

    return ast.unparse(ReadFromNode().visit(ast.parse(formula, mode="eval")))


# Nodes ---------------------------------------------------------------------------------------------------------------


def node_class(derivative: Derivative) -> str:
    """The text of a node's class, such as `MulBackward0`: what it saves, `apply`, and the release of what it saves.
    Source: `tools/autograd/gen_autograd_functions.py`, `process_function`."""
    schema, needs = derivative.native.schema, derivative.needs
    users = derivative.users("tensors", "results")
    slots = [f"saved_{name}" for name in users]
    lines = [f"class {derivative.node}(Node):"]
    if slots:
        lines += [f"    {' = '.join(slots)} = None"]
        lines += [f"    _saved_{name}, _raw_saved_{name} = tensor_getters('saved_{name}')" for name in users]
    lines += [*saved_values(derivative), ""]
    kept = ", ".join(f"node.{slot}" for slot in slots)
    # torch unpacks the saved tensors even if no gradient arrives
    check = [f"            unpack(node, [{kept}])"] if slots else []
    nothing = "[None] * len(node.next_edges)" if derivative.takes_list else "(" + "None, " * len(needs) + ")"
    if len(schema.returns) > 1 or schema.returns[0].is_list:
        lines += ["    def apply(node, *grads):", "        if all(grad is None for grad in grads):"]
        lines += [*check, f"            return {nothing}"]
        if any(re.search(r"\bgrad\b", needed.formula) for needed in needs):
            lines.append("        grad = grads[0]")
    else:
        lines += ["    def apply(node, grad):", "        if grad is None:", *check, f"            return {nothing}"]
    always = derivative.takes_list or derivative.is_joint or len(needs) == 1
    lines += [] if always or not users else ["        edges = node.next_edges"]
    for name, indices in users.items():
        test = "" if always else f" if {' or '.join(f'edges[{i}].node' for i in indices)} else None"
        lines.append(f"        {name} = unpack(node, node.saved_{name}){test}")
    lines += [] if always else ["        edges = edges_to_compute(node)"]
    if "grad_input_mask" in needs[0].formula:
        lines.append("        grad_input_mask = [edge.node is not None for edge in edges_to_compute(node)]")
    if derivative.takes_list or derivative.is_joint:
        lines.append(f"        return {needs[0].formula}")
    elif len(needs) == 1:
        lines.append(f"        return ({needs[0].formula},)")
    else:
        formulas = [f"({needed.formula})" if " if " in needed.formula else needed.formula for needed in needs]
        parts = [f"{formula} if edges[{i}].node else None" for i, formula in enumerate(formulas)]
        names = [argument.name for argument in derivative.inputs]
        if names != sorted(names):  # PyTorch computes them in the order of their names
            order = sorted(range(len(names)), key=names.__getitem__)
            lines += [f"        grad_{names[i]} = {parts[i]}" for i in order]
            parts = [f"grad_{name}" for name in names]
        lines += ["        return (", *[f"            {part}," for part in parts], "        )"]
    if slots:
        released = " = ".join(f"node.{slot}" for slot in slots)
        lines += ["", "    def release_variables(node):", f"        {released} = None", "        node.released = True"]
    return "\n".join(lines) + "\n"


def saved_values(derivative: Derivative) -> list[str]:
    """The attributes `_saved_*` of a node for values that are not tensors: arguments, sizes, strides, numbers of elements."""
    schema = derivative.native.schema
    types = {argument.name: argument.type for argument in schema.arguments} | dict.fromkeys(result_names(schema), "")
    lines = []
    for name in sorted({name for needed in derivative.needs for name in needed.values}):
        suffix = next((suffix for suffix in METADATA.values() if name.removesuffix(suffix) in types), None)
        if name in types and types[name] not in NOT_SHOWN:
            read = "int_getter" if types[name].startswith("int") else "value_getter"
            lines.append(f"    _saved_{name} = {read}('{name}')")
        elif name not in types and suffix not in (None, *NOT_SHOWN):
            tensor = name.removesuffix(suffix)
            shown = tensor + SHOWN.get(suffix, suffix) + ("_opt" if types[tensor] == "Tensor?" else "")
            lines.append(f"    _saved_{shown} = value_getter('{name}')")
    return lines


# Kernels -------------------------------------------------------------------------------------------------------------


def kernel(derivative: Derivative, native: Native) -> str:
    """The kernel of an operator, or of its in-place form, which has the same node."""
    schema, inputs = native.schema, derivative.inputs
    inplace = schema.arguments[0].is_written
    stack = ", ".join(safe(argument.name) for argument in schema.arguments)
    below = f"{native.variable}.below[key_set]"
    lines = [f"def {function_name(native)}(key_set, {stack}):"]
    if derivative.takes_list:
        lines += [f"    if not any_requires_grad({inputs[0].name}):", f"        return {below}({stack})"]
        lines += [f"    edges = [gradient_edge(each) for each in {inputs[0].name}]"]
    else:
        without = " and ".join(_has_no_history(schema, argument) for argument in [*inputs, *derivative.checked])
        lines += [f"    if not local.grad_enabled or {without}:", f"        return {below}({stack})"]
        for argument in derivative.checked:
            lines += [f"    check_no_requires_grad({schema.name!r}, {argument.name!r}, {argument.name})"]
        edges = f"    edges = [{', '.join(f'gradient_edge({argument.name})' for argument in inputs)}]"
        if inplace:  # the edges last, since they make a view's node
            tensors = ", ".join(argument.name for argument in inputs)
            # As in `VariableTypeManual.cpp`.
            integral = " or not self.dtype.is_floating_point" if schema.name == "copy_" else ""
            needed = [f"    if not any_requires_grad([{tensors}]){integral}:", f"        return {below}({stack})"]
            lines += [*needed, "    check_inplace(self)", edges]
        else:
            all_nodes = " is ".join(f"edges[{i}].node" for i in range(len(inputs)))
            needed = f"not any_requires_grad([{', '.join(argument.name for argument in inputs)}])"
            lines += [edges, f"    if {all_nodes} is None and {needed}:", f"        return {below}({stack})"]
    lines += [f"    node = {derivative.node}()", "    node.next_edges = edges"]
    values = {name: expression for needed in derivative.needs for name, expression in needed.values.items()}
    of_results = {name: values.pop(name) for name in [*values] if re.search(r"\bresult\b", values[name])}
    lines += [f"    node.{name} = {safe(expression)}" for name, expression in values.items()]
    for name, indices in derivative.users("tensors").items():
        kept = "save(self.clone())" if inplace and name == "self" else f"save({name})"
        lines += _if_needed(indices, derivative, f"node.saved_{name} = {kept}")
    lines.append(f"    result = call_below({below}, {stack})")
    if inplace:
        lines.append(f"    {'set_history_inplace' if schema.name in INPLACE_VIEWS else 'rebase_history'}(self, node)")
    else:
        which = "" if all(derivative.differentiable) else f", {derivative.differentiable}"
        masked = any(argument.name == "output_mask" for argument in schema.arguments)  # then a result may be None
        results = "[each for each in result if each is not None]" if masked else "result"
        lines.append(f"    set_history({results}, node{which})")
    lines += [f"    node.{name} = {expression}" for name, expression in of_results.items()]
    parts = result_names(schema)
    for name, indices in derivative.users("results").items():
        of = "result" if name == "result" else f"result[{parts.index(name)}]"
        lines += _if_needed(indices, derivative, f"node.saved_{name} = save({of}, True)")
    lines.append("    return result")
    return "\n".join(lines) + "\n"


def _has_no_history(schema: FunctionSchema, argument: Argument) -> str:
    """The test that a tensor argument has no history. If the argument may be a number or None, the test is true for these."""
    test = f"{argument.name}._autograd is {argument.name}._base is None"
    if may_be_number(schema, argument) or argument.is_optional or argument.name == "self" != schema.arguments[0].name:
        return f"(not isinstance({argument.name}, Tensor) or {test})"
    return test


def _if_needed(indices: list[int], derivative: Derivative, line: str) -> list[str]:
    if len(indices) == len(derivative.inputs) or derivative.takes_list:
        return [f"    {line}"]
    return [f"    if {' or '.join(f'edges[{i}].node' for i in indices)}:", f"        {line}"]


def function_name(native: Native) -> str:
    """The name of the generated function that records the node of an operator, for example `add_Tensor`."""
    return native.variable.removesuffix("_op")


def inplace_forms(derivative: Derivative, natives: dict[str, Native], own: set[str]) -> list[Native]:
    """The in-place operators without an entry of their own, which use the derivative of this functional operator."""
    schema = derivative.native.schema
    taken = [(argument.name, argument.type) for argument in schema.arguments]
    if not derivative.formulas or schema.arguments[0].is_written or schema.arguments[0].name != "self":
        return []
    forms = [n for n in natives.values() if n.schema.name == schema.name + "_" and n.name not in own]
    return [n for n in forms if [(argument.name, argument.type) for argument in n.schema.arguments] == taken]


# The file ------------------------------------------------------------------------------------------------------------


def generate() -> dict[Path, str]:
    """The text of the file."""
    natives = load()
    derivatives = load_derivatives(natives)
    own = {derivative.native.name for derivative in derivatives}
    differentiated = [derivative for derivative in derivatives if derivative.formulas]
    kernels = [(n, d) for d in differentiated for n in [d.native, *inplace_forms(d, natives, own)]]
    known = own | {native.name for native, _ in kernels}
    names = {derivative.native.schema.name for derivative in differentiated}
    without = {derivative.native.schema.name for derivative in derivatives} - names
    outs = [n for n in natives.values() if n.out is not None and not n.is_composite]
    outs = [native.variable for native in outs if native.schema.name not in without]
    missing = [n.variable for n in natives.values() if n.name not in known and _would_need_one(n)]
    views = [native.variable for native in natives.values() if native.is_view]
    written = [native.variable for native in natives.values() if native.schema.is_mutable and not native.is_composite]
    used = {*missing, *outs, *views, *written, *(native.variable for native, _ in kernels)}
    sections = [
        template("variable_type.py"),
        wrapped("from rushlight.aten.generated.functions import (", sorted(used), ")").strip(),
        "from rushlight.aten.strided import Tensor",
        "from rushlight.autograd.derivatives import *",
        *(f"from rushlight.autograd.{module} import {names}" for module, names in NAMES.items()),
        "from rushlight.c10.dispatch import local\n\n",
        "# ---- Nodes\n\n",
        *map(node_class, differentiated),
        "# ---- Kernels for the key Autograd\n\n",
        *(kernel(derivative, native) for native, derivative in kernels),
        "# ---- The groups of operators that `register` uses\n",
        wrapped("AUTOGRAD = {", [f"{native.variable}: {function_name(native)}" for native, _ in kernels], "}"),
        wrapped("OUT = (", outs, ")"),
        wrapped("WITHOUT_DERIVATIVE = (", missing, ")"),
        wrapped("VIEWS = (", views, ")"),
        wrapped("WRITTEN = (", written, ")"),
    ]
    return {TARGET: formatted("\n".join(sections), TARGET)}


def _would_need_one(native: Native) -> bool:
    """Whether an operator without an entry raises if an argument requires a gradient."""
    takes = any(argument.base == "Tensor" for argument in native.schema.arguments)
    gives = any(part.base == "Tensor" for part in native.schema.returns)
    return takes and gives and not native.is_composite and native.out is None
