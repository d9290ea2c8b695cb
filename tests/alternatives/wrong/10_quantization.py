"""Wrong answers to lab 10 that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import re

from rushlight.export.dynamic_shapes import ConstraintViolationError, Dim, ValueRange, intersection, narrow
from rushlight.export.graph_signature import (
    MUTATIONS,
    ConstantArgument,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    TensorArgument,
)
from rushlight.export.serialize import deserialize_argument, encode_float, is_sym_int, serialize_object
from rushlight.export.verifier import KINDS, SpecViolationError, names_in
from rushlight.fx import Node

# ---- export ----------------------------------------------------------------------------------------------------------


def input_specs__names_in_the_order_of_the_graph(parameters, buffers, constants, user_inputs):
    wishes = [(InputKind.PARAMETER, f"p_{name}", name, None) for name in parameters]
    wishes += [(InputKind.BUFFER, f"b_{name}", name, kept) for name, kept in buffers.items()]
    wishes += [(InputKind.CONSTANT_TENSOR, f"c_{name}", name, None) for name in constants]
    wishes += [(InputKind.USER_INPUT, "_".join(map(str, path)), None, None) for path in user_inputs]
    names, specs = [], []
    for kind, wish, target, persistent in wishes:
        name = wish = re.sub("[^a-zA-Z0-9]", "_", wish).lower()
        number = 0
        while name in names:
            number += 1
            name = f"{wish}_{number}"
        names.append(name)
        specs.append(InputSpec(kind, TensorArgument(name), target, persistent))
    return specs


def output_specs__in_the_order_of_the_writes(inputs, new_values, results):
    by_name = {spec.arg.name: spec for spec in inputs}
    specs = []
    for name, node in new_values.items():
        spec = by_name[name]
        specs.append(OutputSpec(MUTATIONS[spec.kind], TensorArgument(node.name), spec.target or name))
    for result in results:
        arg = TensorArgument(result.name) if isinstance(result, Node) else ConstantArgument("", result)
        specs.append(OutputSpec(OutputKind.USER_OUTPUT, arg, None))
    return specs


def run_lifted__replaces_the_state(signature, run, state, user_inputs):
    """The dict has the new tensor. The module still has the old one."""
    users = iter(user_inputs)
    inputs = [next(users) if spec.target is None else state[spec.target] for spec in signature.input_specs]
    results = []
    for spec, value in zip(signature.output_specs, run(*inputs)):
        if spec.kind is OutputKind.USER_OUTPUT:
            results.append(value)
        else:
            state[spec.target] = value
    return results


def constraints__guards_of_each_symbol_alone(symbols, guards):
    found = {}
    for name, symbol in symbols.items():
        named = isinstance(symbol.dim, Dim)
        wanted = ValueRange(2, None)
        if named:
            wanted = intersection(wanted, ValueRange(symbol.dim.min, symbol.dim.max))
        allowed = wanted
        for guard in guards:
            if guard.symbol == name and isinstance(guard.other, int):
                allowed = narrow(allowed, guard.comparison, guard.other)
        if named and allowed != wanted or allowed.lower == allowed.upper and symbol.dim is Dim.DYNAMIC:
            raise ConstraintViolationError(name)
        found[name] = ValueRange(symbol.dim.min, symbol.dim.max) if named else allowed
        if allowed.lower == allowed.upper:
            found[name] = allowed.lower
    return found


def exported_sizes__a_loop_is_general(program):
    return {
        "example": ["5.."],
        "loop": ["2.."],
        "weight": ["2.."],
        "batch": ["2..", "1.."],
        "limits": ["4.."],
        "wish": ["2..31"],
        "data": ["2.."],
        "pair": ["2..16", "2..16"],
        "twins": ["2..16", "2..16"],
    }[program]


def serialize_argument__a_bool_is_an_int(arg, base="Tensor"):
    if isinstance(arg, (list, tuple)):
        if all(isinstance(item, int) for item in arg):
            return {"as_ints": list(arg)}
        if all(isinstance(item, float) for item in arg):
            return {"as_floats": [encode_float(item) for item in arg]}
        return {"as_tensors": [{"name": item.name} for item in arg]}
    if arg is None:
        return {"as_none": True}
    if isinstance(arg, Node):
        return {"as_sym_int": {"as_name": arg.name}} if is_sym_int(arg) else {"as_tensor": {"name": arg.name}}
    if isinstance(arg, (int, float, str)):
        return {f"as_{type(arg).__name__}": arg}
    return serialize_object(arg)


def deserialize_argument__floats_as_they_are(data, values):
    ((kind, value),) = data.items()
    if kind == "as_none":
        return None
    if kind in ("as_tensor", "as_sym_int"):
        return values[value[kind == "as_tensor" and "name" or "as_name"]]
    if kind in ("as_tensors", "as_sym_ints", "as_optional_tensors"):
        return [each.get("as_int") or values.get(each.get("name", each.get("as_name"))) for each in value]
    return value


def run_graph__by_position_only(graph, inputs, call):
    values = {}
    for argument, value in zip(graph["inputs"], inputs):
        values.update(dict.fromkeys(names_in(argument), value))
    for node in graph["nodes"]:
        args = [deserialize_argument(each["arg"], values) for each in node["inputs"]]
        result = call(node, args, {})
        names = [name for output in node["outputs"] for name in names_in(output)]
        values.update(zip(names, result if len(names) > 1 else [result]))
    return [deserialize_argument(each, values) for each in graph["outputs"]]


def verify_graph__all_names_at_once(graph, is_known):
    """It does not ask when a name gets its value."""
    arguments = [*graph["inputs"], *(each for node in graph["nodes"] for each in node["outputs"])]
    used = [*graph["outputs"], *(each["arg"] for node in graph["nodes"] for each in node["inputs"])]
    if any(len(each) != 1 or not {*each} <= {*KINDS} for each in arguments + used):
        raise SpecViolationError("no argument")
    given = [name for each in arguments for name in names_in(each)]
    if len(set(given)) < len(given) or not {name for each in used for name in names_in(each)} <= {*given}:
        raise SpecViolationError("no value")
    if not all(is_known(node["target"]) for node in graph["nodes"]):
        raise SpecViolationError("no operator")
