"""Wrong answers to lab 10c that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import rushlight as rl
from rushlight.ao.quantization import pt2e
from rushlight.export import serialize, verifier
from rushlight.export.graph_signature import InputKind, OutputKind
from rushlight.export.serialize import deserialize_argument, encode_float, is_sym_int, serialize_object
from rushlight.export.verifier import KINDS, SpecViolationError, names_in
from rushlight.fx.node import Node

from ..shared import edited

# ---- export ----------------------------------------------------------------------------------------------------------


_INPUT_SPECS = rl.export.graph_signature.input_specs
_OUTPUT_SPECS = rl.export.graph_signature.output_specs
_USERS = (
    '    users = [InputSpec(InputKind.USER_INPUT, named("_".join(map(str, path))), None) for path in user_inputs]\n'
)
input_specs__names_in_the_order_of_the_graph = edited(
    _INPUT_SPECS, (_USERS, ""), ("    return specs + users", f"{_USERS}    return specs + users")
)


output_specs__in_the_order_of_the_writes = edited(
    _OUTPUT_SPECS,
    ("in inputs:", "in sorted(inputs, key=lambda each: [*new_values, each.arg.name].index(each.arg.name)):"),
)


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


_CONSTRAINTS = rl.export.dynamic_shapes.constraints
constraints__guards_of_each_symbol_alone = edited(
    _CONSTRAINTS,
    ("groups |= dict.fromkeys(joined, joined)", "pass"),
    ("    joined = groups[guard.symbol] | groups[guard.other]\n", ""),
)


exported_sizes__a_size_of_1_is_dynamic = edited(rl.course.predictions.exported_sizes, ('"c": ["1", ', '"c": ["1..", '))
exported_sizes__for_another_name = edited(rl.course.predictions.exported_sizes, ('"Ada"', '"ada"'))


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


# Names of placeholders: each takes another number


_NUMBERS = """        matches = [re.match("(.*)_([0-9]+)", other) for other in taken]
        numbers = [int(match[2]) for match in matches if match and match[1] == name]
"""


def _numbered(numbers):
    """The reference with another list of the numbers that a name has taken."""
    return edited(_INPUT_SPECS, (_NUMBERS, f"        numbers = {numbers}\n"))


def _matching(pattern, how="match"):
    return _numbered(f"[int(found[1]) for each in taken if (found := re.{how}(f'{pattern}', each))]")


input_specs__numbers_at_the_end = _matching("{name}_([0-9]+)", "fullmatch")
input_specs__numbers_between_underscores = _matching("{name}_([0-9]+)(_[^0-9]|$)")
input_specs__the_first_number_of_a_name = _matching("{name}_([0-9]+)")
input_specs__no_number_after_another = edited(
    _INPUT_SPECS, ("match[1] == name", "match[1] == name and not name[-1].isdigit()")
)
input_specs__one_digit = _matching("{name}_([0-9])")
input_specs__the_smallest_number_that_is_free = _numbered(
    "[next(k for k in range(99) if f'{name}_{k + 1}' not in taken)]"
)
input_specs__the_number_of_numbers = _numbered(
    "[sum(bool(re.fullmatch(f'{name}_[0-9]+(_[^0-9].*)?', each)) for each in taken)]"
)
input_specs__numbers_in_the_order_of_texts = edited(
    _INPUT_SPECS, ("int(match[2])", "match[2]"), ("max(numbers, default=0)", "int(max(numbers, default=0))")
)
input_specs__numbers_of_names_that_begin_alike = _matching("{name}.*_([0-9]+)")
input_specs__numbers_of_names_that_end_alike = _matching(".*{name}_([0-9]+)")
input_specs__numbers_of_the_target = _matching("(?:{name[:2]})?{name[2:]}_([0-9]+)$")
output_specs__a_constant_has_a_name = edited(
    _OUTPUT_SPECS, ('ConstantArgument("", result)', "ConstantArgument(str(result), result)")
)

# A run with lifted tensors


def _write(signature, values, where_of):
    results = []
    for spec, value in zip(signature.output_specs, values):
        if spec.kind is OutputKind.USER_OUTPUT:
            results.append(value)
        else:
            where_of(spec)[spec.target].copy_(value)
    return results


def _users(signature, user_inputs):
    names = [spec.arg.name for spec in signature.input_specs if spec.kind is InputKind.USER_INPUT]
    return dict(zip(names, user_inputs))


def _inputs(signature, state, user_inputs):
    users = iter(user_inputs)
    return [next(users) if spec.target is None else state[spec.target] for spec in signature.input_specs]


def run_lifted__targets_and_names_in_one_dict(signature, run, state, user_inputs):
    values, users = {}, iter(user_inputs)
    for spec in signature.input_specs:
        values[spec.target or spec.arg.name] = next(users) if spec.target is None else state[spec.target]
    return _write(signature, run(*values.values()), lambda spec: values)


def run_lifted__user_inputs_over_the_state(signature, run, state, user_inputs):
    where = {**state, **_users(signature, user_inputs)}
    return _write(signature, run(*_inputs(signature, state, user_inputs)), lambda spec: where)


def run_lifted__in_the_order_of_the_state(signature, run, state, user_inputs):
    users = _users(signature, user_inputs)
    values = run(*state.values(), *user_inputs)
    return _write(signature, values, lambda s: users if s.kind is OutputKind.USER_INPUT_MUTATION else state)


def run_lifted__user_inputs_last(signature, run, state, user_inputs):
    users = _users(signature, user_inputs)
    values = run(*(state[spec.target] for spec in signature.input_specs if spec.target is not None), *user_inputs)
    return _write(signature, values, lambda s: users if s.kind is OutputKind.USER_INPUT_MUTATION else state)


def run_lifted__new_memory_for_the_state(signature, run, state, user_inputs):
    results, users = [], _users(signature, user_inputs)
    for spec, value in zip(signature.output_specs, run(*_inputs(signature, state, user_inputs))):
        if spec.kind is OutputKind.USER_OUTPUT:
            results.append(value)
        elif spec.kind is OutputKind.USER_INPUT_MUTATION:
            users[spec.target].copy_(value)
        else:
            state[spec.target].data = value
    return results


def run_lifted__placeholders_named_after_their_targets(signature, run, state, user_inputs):
    inputs = _inputs(signature, state, user_inputs)
    by_name = {spec.arg.name: value for spec, value in zip(signature.input_specs, inputs)}
    results = []
    for spec, value in zip(signature.output_specs, run(*inputs)):
        if spec.kind is OutputKind.USER_OUTPUT:
            results.append(value)
        else:
            names = [spec.target, f"b_{spec.target}", f"p_{spec.target}"]
            next(by_name[name] for name in names if name in by_name).copy_(value)
    return results


def run_lifted__takes_the_user_inputs_out_of_a_list(signature, run, state, user_inputs):
    users = _users(signature, user_inputs)
    queue = user_inputs if isinstance(user_inputs, list) else list(user_inputs)
    values = run(*(queue.pop(0) if s.target is None else state[s.target] for s in signature.input_specs))
    return _write(signature, values, lambda s: users if s.kind is OutputKind.USER_INPUT_MUTATION else state)


def run_lifted__takes_the_tensors_out_of_the_state(signature, run, state, user_inputs):
    users, rest = _users(signature, user_inputs), iter(user_inputs)
    before = dict(state)
    values = run(*(next(rest) if s.target is None else state.pop(s.target) for s in signature.input_specs))
    return _write(signature, values, lambda s: users if s.kind is OutputKind.USER_INPUT_MUTATION else before)


def run_lifted__one_result_alone(signature, run, state, user_inputs):
    users, values = _users(signature, user_inputs), run(*_inputs(signature, state, user_inputs))
    results = _write(signature, values, lambda s: users if s.kind is OutputKind.USER_INPUT_MUTATION else state)
    return results[0] if len(results) == 1 else results


# Ranges


constraints__a_range_without_an_upper_end_begins_at_2 = edited(
    _CONSTRAINTS,
    (
        "wanted = intersection(wanted, ValueRange(dim.min, dim.max))",
        "wanted = intersection(wanted, ValueRange(dim.min if dim.max else 2, dim.max))",
    ),
)


constraints__two_names_of_one_size = edited(_CONSTRAINTS, ("if len(named) > 1:", "if False:"))
constraints__specialises_what_is_dynamic = edited(_CONSTRAINTS, ("if Dim.DYNAMIC in dims:", "if False:"))
constraints__narrows_a_named_dim = edited(_CONSTRAINTS, ("if named and (allowed != wanted", "if named and (False"))
constraints__a_named_range_from_2 = edited(
    _CONSTRAINTS, ("ValueRange(named[0].min, named[0].max) if named else allowed", "allowed")
)
constraints__from_0 = edited(
    _CONSTRAINTS, ("wanted = ValueRange(2, None)", "wanted = ValueRange(0 if not named else 2, None)")
)
constraints__joined_in_pairs = edited(
    _CONSTRAINTS, ("groups |= dict.fromkeys(joined, joined)", "groups |= {guard.symbol: joined, guard.other: joined}")
)

# Arguments in a file


_REFUSED = '        raise SerializeError(f"Unsupported list'


serialize_argument__a_list_of_dtypes = edited(
    serialize.serialize_argument,
    (_REFUSED,
     "        if not any(isinstance(item, (Node, int, float, str, type(None), list, tuple)) for item in arg):\n"
     "            return {\"as_ints\": [next(iter(serialize_object(item).values())) for item in arg]}\n" + _REFUSED),
)  # fmt: skip
serialize_argument__a_list_of_lists = edited(
    serialize.serialize_argument,
    (_REFUSED,
     "        if all(isinstance(item, (list, tuple)) for item in arg):\n"
     "            return {\"as_lists\": [serialize_argument(item) for item in arg]}\n" + _REFUSED),
)  # fmt: skip
serialize_argument__the_target_of_a_node = edited(
    serialize.serialize_argument,
    ("arg.name", "str(arg.target)"),
    ("item.name", "str(item.target)"),
)
deserialize_argument__a_size_is_an_int = edited(
    serialize.deserialize_argument, ('return values[value["as_name"]]', 'return int(values[value["as_name"]])')
)
deserialize_argument__infinity_has_no_sign = edited(
    serialize.deserialize_argument,
    ("float(value)", '{"NaN": float("nan"), "Infinity": float("inf")}.get(value, value)'),
    ("float(item)", '{"NaN": float("nan"), "Infinity": float("inf")}.get(item, item)'),
)

# Graphs of a file


run_graph__some_names_are_positional = edited(
    serialize.run_graph, ('given["kind"] == 1', 'given["name"] in ("self", "input", "dim", "end")')
)
run_graph__a_size_is_an_int = edited(serialize.run_graph, ('["as_name"]] = result', '["as_name"]] = int(result)'))
run_graph__only_what_an_output_needs = edited(
    serialize.run_graph,
    ("    for node in graph[\"nodes\"]:\n",
     "    from rushlight.export.verifier import names_in\n"
     "    used, nodes = {name for each in graph[\"outputs\"] for name in names_in(each)}, []\n"
     "    for node in reversed(graph[\"nodes\"]):\n"
     "        if used & {name for each in node[\"outputs\"] for name in names_in(each)}:\n"
     "            nodes.insert(0, node)\n"
     "            used |= {name for each in node[\"inputs\"] for name in names_in(each[\"arg\"])}\n"
     "    for node in nodes:\n"),
)  # fmt: skip
verify_graph__names_in_all_alphabets = edited(
    verifier.verify_graph, ("IDENTIFIER.fullmatch(name)", "name.isidentifier()")
)
verify_graph__a_name_with_a_line_break = edited(
    verifier.verify_graph, ("IDENTIFIER.fullmatch(name)", 're.match("[A-Za-z_][A-Za-z0-9_]*$", name)')
)
verify_graph__a_node_without_results_is_not_looked_at = edited(
    verifier.verify_graph, ("if not is_known", 'if node["outputs"] and not is_known')
)
verify_graph__takes_none_for_a_kind = edited(verifier.verify_graph, ("<= {1, 2}", "<= {1, 2, None}"))
verify_graph__kinds_of_positional_arguments_only = edited(
    verifier.verify_graph,
    ("    def use(argument: Mapping[str, Any]):\n        kind_of(argument)\n",
     "    def use(argument, skips=False):\n        if not (skips and argument):\n            kind_of(argument)\n"),
    ("use(argument[\"arg\"])", "use(argument[\"arg\"], argument[\"kind\"] == 2)"),
)  # fmt: skip


verify_graph__an_error_of_two_lines = edited(verifier.verify_graph, ("has no value", "has\\nno value"))
verify_graph__known_if_true = edited(
    verifier.verify_graph, ('if not is_known(node["target"])', 'if is_known(node["target"]) is not True')
)
verify_graph__positional_only = edited(verifier.verify_graph, ("kinds != sorted(kinds)", "2 in kinds"))
verify_graph__given_twice = edited(verifier.verify_graph, ("if name in given:", "if False:"))
verify_graph__of_any_kind = edited(verifier.verify_graph, ("not {*kinds} <= {1, 2} or kinds != sorted(kinds)", "False"))
verify_graph__used_before_it_is_given = edited(
    verifier.verify_graph, ("            if name not in given:\n", "            if name not in given and False:\n")
)

# Annotations of an exported graph

_FREE = " and KEY not in relu.meta"
annotate__a_pattern_that_other_nodes_read = edited(pt2e.annotate, ("len(node.users) == 1", "node.users"))
annotate__a_bias_is_an_input = edited(
    pt2e.annotate,
    ("inputs = {node.args[0]: activation, node.args[1]: weight}",
     "inputs = dict.fromkeys(node.all_input_nodes, activation) | {node.args[1]: weight}"),
)  # fmt: skip
annotate__every_attribute_is_a_weight = edited(
    pt2e.annotate,
    ("inputs = {arg: activation for", 'inputs = {arg: weight if arg.op == "get_attr" else activation for'),
)
annotate__all_values_of_cat_have_their_own = edited(
    pt2e.annotate,
    ("output = SharedQuantizationSpec((first, node))", "output = activation"),
)
annotate__the_result_of_cat_has_its_own = edited(
    pt2e.annotate,
    ("inputs = dict.fromkeys(node.all_input_nodes, output) | {first: activation}",
     "inputs = dict.fromkeys(node.all_input_nodes, output) | {first: activation}\n            output = activation"),
)  # fmt: skip
annotate__a_value_between_layer_and_relu = edited(
    pt2e.annotate,
    ("QuantizationAnnotation({}, activation), None", "QuantizationAnnotation({node: activation}, activation), output"),
)
annotate__a_relu_of_another_quantizer = edited(pt2e.annotate, (_FREE, ""))
annotate__replaces_annotations = edited(pt2e.annotate, ("if KEY in node.meta", "if False"), (_FREE, ""))
annotate__a_relu_is_always_a_pattern = edited(
    pt2e.annotate, ("node.target in SHARING:", "node.target in SHARING and node.target is not RELU:")
)
annotate__an_empty_annotation_for_all_others = edited(
    pt2e.annotate, ("            continue\n        relu", "            output = None\n        relu")
)
annotate__cat_shares_with_the_first_node_alone = edited(
    pt2e.annotate, ("SharedQuantizationSpec((first, node))", "SharedQuantizationSpec(first)")
)
