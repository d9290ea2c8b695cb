"""Correct answers to lab 10c in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

import re
from collections import defaultdict

from rushlight.ao.quantization.pt2e import (
    BINARY,
    KEY,
    LAYERS,
    RELU,
    SHARING,
    QuantizationAnnotation,
    SharedQuantizationSpec,
)
from rushlight.course import predictions
from rushlight.export.dynamic_shapes import ConstraintViolationError, Dim, ValueRange
from rushlight.export.graph_signature import (
    MUTATIONS,
    ConstantArgument,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    TensorArgument,
)
from rushlight.export.serialize import (
    EMPTY_LISTS,
    SerializeError,
    deserialize_argument,
    deserialize_object,
    encode_float,
    is_sym_int,
    serialize_object,
)
from rushlight.export.verifier import IDENTIFIER, KINDS, SpecViolationError, names_in
from rushlight.fx.node import Node

from ..shared import copied


def input_specs__largest_numbers(parameters, buffers, constants, user_inputs):
    """As torch: the largest number is kept for each beginning."""
    largest, used = defaultdict(int), set()

    def choose(text):
        text = "".join(c if c.isascii() and c.isalnum() else "_" for c in text).lower()
        name = f"{text}_{largest[text] + 1}" if text in used else text
        found = re.match(r"(.*)_(\d+)", name)
        if found:
            largest[found[1]] = max(largest[found[1]], int(found[2]))
        used.add(name)
        return TensorArgument(name=name)

    users = []
    for first, *rest in user_inputs:
        name = first
        for key in rest:
            name += f"_{key}"
        users.append(InputSpec(kind=InputKind.USER_INPUT, arg=choose(name), target=None, persistent=None))
    found = []
    for name in parameters:
        found.append(InputSpec(InputKind.PARAMETER, choose("p_" + name), name, None))
    for name in buffers:
        found.append(InputSpec(InputKind.BUFFER, choose("b_" + name), name, buffers[name]))
    for name in constants:
        found.append(InputSpec(InputKind.CONSTANT_TENSOR, choose("c_" + name), name, None))
    found.extend(users)
    return found


def input_specs__table_of_wishes(parameters, buffers, constants, user_inputs):
    wishes = [(InputKind.USER_INPUT, "_".join(str(key) for key in path), None, None) for path in user_inputs]
    count = len(wishes)
    wishes += [(InputKind.PARAMETER, "p_" + name, name, None) for name in parameters]
    wishes += [(InputKind.BUFFER, "b_" + name, name, persistent) for name, persistent in buffers.items()]
    wishes += [(InputKind.CONSTANT_TENSOR, "c_" + name, name, None) for name in constants]
    specs, names = [], []
    for kind, wish, target, persistent in wishes:
        wish = re.sub(r"[^A-Za-z0-9]", "_", wish).lower()
        name = wish
        if name in names:
            number = 0
            for other in names:
                parts = re.match(r"(.*)_(\d+)", other)
                if parts is not None and parts.group(1) == wish:
                    number = max(number, int(parts.group(2)))
            name = f"{wish}_{number + 1}"
        names.append(name)
        specs.append(InputSpec(kind, TensorArgument(name), target, persistent))
    return specs[count:] + specs[:count]


def output_specs__by_kind(inputs, new_values, results):
    found = []
    for spec in inputs:
        node = new_values.get(spec.arg.name)
        if node is None:
            continue
        kind = MUTATIONS[spec.kind]
        target = spec.target if spec.target is not None else spec.arg.name
        found.append(OutputSpec(kind=kind, arg=TensorArgument(node.name), target=target))
    for each in results:
        if isinstance(each, Node):
            found.append(OutputSpec(OutputKind.USER_OUTPUT, TensorArgument(each.name), None))
        else:
            found.append(OutputSpec(OutputKind.USER_OUTPUT, ConstantArgument(name="", value=each), None))
    return found


def output_specs__two_lists(inputs, new_values, results):
    written = [spec for spec in inputs if spec.arg.name in new_values]
    return [
        *(
            OutputSpec(MUTATIONS[s.kind], TensorArgument(new_values[s.arg.name].name), s.target or s.arg.name)
            for s in written
        ),
        *(
            OutputSpec(
                OutputKind.USER_OUTPUT, TensorArgument(x.name) if isinstance(x, Node) else ConstantArgument("", x), None
            )
            for x in results
        ),
    ]


def run_lifted__indices(signature, run, state, user_inputs):
    users = [spec for spec in signature.input_specs if spec.kind is InputKind.USER_INPUT]
    given = {spec.arg.name: user_inputs[i] for i, spec in enumerate(users)}
    values = run(*[state[s.target] if s.target is not None else given[s.arg.name] for s in signature.input_specs])
    for i, spec in enumerate(signature.output_specs):
        if spec.kind is not OutputKind.USER_OUTPUT:
            where = given if spec.kind is OutputKind.USER_INPUT_MUTATION else state
            where[spec.target].copy_(values[i])
    return [values[i] for i, spec in enumerate(signature.output_specs) if spec.kind is OutputKind.USER_OUTPUT]


def run_lifted__queue(signature, run, state, user_inputs):
    queue, arguments, names = list(user_inputs), [], {}
    for spec in signature.input_specs:
        if spec.kind == InputKind.USER_INPUT:
            names[spec.arg.name] = queue[0]
            arguments.append(queue.pop(0))
        else:
            arguments.append(state[spec.target])
    outputs = list(run(*arguments))
    results = []
    for spec in signature.output_specs:
        value = outputs.pop(0)
        if spec.kind == OutputKind.USER_OUTPUT:
            results += [value]
        else:
            (names if spec.kind == OutputKind.USER_INPUT_MUTATION else state)[spec.target].copy_(value)
    return results


def _limits(dim):
    if not isinstance(dim, Dim):
        return 2, float("inf")
    return max(2, dim.min), float("inf") if dim.max is None else dim.max


def constraints__roots(symbols, guards):
    """Each group has a root, as in union-find."""
    parent = {name: name for name in symbols}

    def root(name):
        while parent[name] != name:
            name = parent[name]
        return name

    for guard in guards:
        if guard.other in symbols:
            parent[root(guard.symbol)] = root(guard.other)
    found = {}
    for name in symbols:
        members = [each for each in symbols if root(each) == root(name)]
        dims = [symbols[each].dim for each in members]
        named = [dim for dim in dims if isinstance(dim, Dim)]
        lower, upper = max(_limits(dim)[0] for dim in dims), min(_limits(dim)[1] for dim in dims)
        first = lower, upper
        bad = len(named) >= 2
        for guard in guards:
            if guard.symbol not in members or guard.other in symbols:
                continue
            number = guard.other
            if guard.comparison == "!=":
                bad = bad or bool(named) and first[0] <= number <= first[1]
            if guard.comparison in ("==", ">=", ">"):
                lower = max(lower, number + 1 if guard.comparison == ">" else number)
            if guard.comparison in ("==", "<=", "<"):
                upper = min(upper, number - 1 if guard.comparison == "<" else number)
        if bad or named and (lower, upper) != first or lower == upper and any(d is Dim.DYNAMIC for d in dims):
            raise ConstraintViolationError(name)
        if named:
            found[name] = ValueRange(named[0].min, named[0].max)
        elif lower == upper:
            found[name] = lower
        else:
            found[name] = ValueRange(lower, None if upper == float("inf") else upper)
    return found


def constraints__sets_of_sizes(symbols, guards):
    """A range is the set of its sizes up to a large one, which stands for no limit."""
    most = 2000
    compare = {
        "<": int.__lt__, "<=": int.__le__, ">": int.__gt__, ">=": int.__ge__, "==": int.__eq__, "!=": lambda n, m: True,
    }  # fmt: skip
    groups = [{name} for name in symbols]
    for guard in guards:
        if guard.other in symbols:
            one, other = ({*g} for g in groups if guard.symbol in g), ({*g} for g in groups if guard.other in g)
            joined = next(one) | next(other)
            groups = [group for group in groups if not group & joined] + [joined]
    sizes = {}
    for group in groups:
        named = [symbols[name].dim for name in group if isinstance(symbols[name].dim, Dim)]
        if len(named) > 1:
            raise ConstraintViolationError("equal")
        wanted = set(range(2, most))
        for dim in named:
            wanted &= set(range(dim.min, most if dim.max is None else dim.max + 1))
        allowed = set(wanted)
        for symbol, comparison, other in guards:
            if symbol in group and other not in symbols:
                allowed = {size for size in allowed if compare[comparison](size, other)}
                if comparison == "!=" and named and other in wanted:
                    raise ConstraintViolationError("excluded")
        if named and allowed != wanted:
            raise ConstraintViolationError("narrower")
        if len(allowed) == 1 and Dim.DYNAMIC in [symbols[name].dim for name in group]:
            raise ConstraintViolationError("specialised")
        for name in group:
            if named:
                sizes[name] = ValueRange(named[0].min, named[0].max)
            elif len(allowed) == 1:
                sizes[name] = next(iter(allowed))
            else:
                sizes[name] = ValueRange(min(allowed), None if max(allowed) == most - 1 else max(allowed))
    return {name: sizes[name] for name in symbols}


_exported_sizes = copied(predictions.exported_sizes)


def exported_sizes__with_a_second_draw():
    right = _exported_sizes()
    return {"h": [], "g": [], "f": [], "e": []} | {key: right[key] for key in reversed(right)}


def exported_sizes__in_tuples():
    right = _exported_sizes()
    return {key: value if key == "name" else tuple(value) for key, value in right.items()}


def serialize_argument__match(arg, base="Tensor"):
    match arg:
        case None:
            return {"as_none": True}
        case bool():
            return {"as_bool": arg}
        case int():
            return {"as_int": arg}
        case float():
            return {"as_float": encode_float(arg)}
        case str():
            return {"as_string": arg}
        case Node():
            return {"as_sym_int": {"as_name": arg.name}} if is_sym_int(arg) else {"as_tensor": {"name": arg.name}}
        case list() | tuple():
            kinds = {"size" if is_sym_int(x) else "node" if isinstance(x, Node) else type(x) for x in arg}
            plain = {bool: "as_bools", int: "as_ints", str: "as_strings"}
            if not kinds:
                return {EMPTY_LISTS[base]: []}
            if len(kinds) == 1 and [*kinds][0] in plain:
                return {plain[kinds.pop()]: [*arg]}
            if kinds == {float}:
                return {"as_floats": [encode_float(x) for x in arg]}
            if kinds <= {"size", int}:
                return {"as_sym_ints": [{"as_name": x.name} if is_sym_int(x) else {"as_int": x} for x in arg]}
            if kinds == {"node"}:
                return {"as_tensors": [{"name": x.name} for x in arg]}
            if kinds <= {"node", type(None)}:
                items = [{"as_none": True} if x is None else {"as_tensor": {"name": x.name}} for x in arg]
                return {"as_optional_tensors": items}
            raise SerializeError("a list of many kinds")
        case _:
            return serialize_object(arg)


def serialize_argument__items_first(arg, base="Tensor"):
    """The items of a list are serialised one by one, and their kinds decide."""
    if isinstance(arg, (list, tuple)):
        if len(arg) == 0:
            return {EMPTY_LISTS[base]: []}
        items = [serialize_argument__items_first(item, base) for item in arg]
        kinds = {next(iter(item)) for item in items}
        if kinds <= {"as_int", "as_sym_int"} and kinds != {"as_int"}:
            return {"as_sym_ints": [item.get("as_sym_int", item) for item in items]}
        if kinds <= {"as_tensor", "as_none"} and "as_none" in kinds:
            return {"as_optional_tensors": items}
        if len(kinds) > 1 or kinds & {"as_scalar_type", "as_device", "as_memory_format", "as_layout"}:
            raise SerializeError(str(kinds))
        if any(isinstance(item, (list, tuple)) for item in arg):
            raise SerializeError("a list of lists")
        (kind,) = kinds
        return {f"{kind}s": [item[kind] for item in items]}
    if isinstance(arg, Node):
        return {"as_sym_int": {"as_name": arg.name}} if is_sym_int(arg) else {"as_tensor": {"name": arg.name}}
    kinds = {type(None): "as_none", bool: "as_bool", int: "as_int", str: "as_string", float: "as_float"}
    if type(arg) not in kinds:
        return serialize_object(arg)
    value = True if arg is None else encode_float(arg) if type(arg) is float else arg
    return {kinds[type(arg)]: value}


def deserialize_argument__table(data, values):
    kind = next(iter(data))
    value = data[kind]
    readers = {
        "as_none": lambda x: None,
        "as_bool": lambda x: x,
        "as_int": lambda x: x,
        "as_string": lambda x: x,
        "as_float": float,
        "as_tensor": lambda x: values[x["name"]],
        "as_sym_int": lambda x: values[x["as_name"]],
        "as_bools": list,
        "as_ints": list,
        "as_strings": list,
        "as_floats": lambda x: list(map(float, x)),
        "as_tensors": lambda x: [values[each["name"]] for each in x],
        "as_sym_ints": lambda x: [values[each["as_name"]] if "as_name" in each else each["as_int"] for each in x],
        "as_optional_tensors": lambda x: [None if "as_none" in e else values[e["as_tensor"]["name"]] for e in x],
    }
    return readers[kind](value) if kind in readers else deserialize_object(data)


def deserialize_argument__recursive(data, values):
    kind, value = [*data.items()][0]
    if kind == "as_none":
        return None
    if kind in ("as_tensor", "as_sym_int"):
        return values[value.get("name") or value["as_name"]]
    if kind == "as_tensors":
        return [deserialize_argument__recursive({"as_tensor": each}, values) for each in value]
    if kind == "as_sym_ints":
        return [each["as_int"] if "as_int" in each else values[each["as_name"]] for each in value]
    if kind == "as_optional_tensors":
        return [deserialize_argument__recursive(each, values) for each in value]
    if kind in ("as_float", "as_floats"):
        return float(value) if kind == "as_float" else [float(each) for each in value]
    if kind in ("as_bool", "as_int", "as_string"):
        return value
    if kind in ("as_bools", "as_ints", "as_strings"):
        return [*value]
    return deserialize_object(data)


def run_graph__small_functions(graph, inputs, call):
    values = {}

    def give(outputs, result):
        first = outputs[0]
        if "as_tensors" in first:
            give_each([each["name"] for each in first["as_tensors"]], result)
        elif len(outputs) > 1:
            give_each([each["as_tensor"]["name"] for each in outputs], result)
        else:
            ((kind, name),) = first.items()
            values[name["name" if kind == "as_tensor" else "as_name"]] = result

    def give_each(names, results):
        for name, result in zip(names, results):
            values[name] = result

    for argument, value in zip(graph["inputs"], inputs):
        if "as_tensor" in argument:
            give([argument], value)
    for node in graph["nodes"]:
        read = [(each["kind"], each["name"], deserialize_argument(each["arg"], values)) for each in node["inputs"]]
        args = [value for kind, _, value in read if kind == 1]
        give(node["outputs"], call(node, args, {name: value for kind, name, value in read if kind == 2}))
    return [deserialize_argument(each, values) for each in graph["outputs"]]


def run_graph__names_first(graph, inputs, call):
    values = {}
    for i, argument in enumerate(graph["inputs"]):
        for kind, each in argument.items():
            if kind == "as_tensor":
                values[each["name"]] = inputs[i]
    for node in graph["nodes"]:
        args = [deserialize_argument(each["arg"], values) for each in node["inputs"] if each["kind"] != 2]
        kwargs = {
            each["name"]: deserialize_argument(each["arg"], values) for each in node["inputs"] if each["kind"] == 2
        }
        result = call(node, args, kwargs)
        names, is_list = [], len(node["outputs"]) > 1
        for output in node["outputs"]:
            is_list = is_list or "as_tensors" in output
            for each in output.get("as_tensors") or [output.get("as_tensor") or output["as_sym_int"]]:
                names.append(each.get("name") or each["as_name"])
        values.update(zip(names, result if is_list else [result]))
    return [deserialize_argument(each, values) for each in graph["outputs"]]


def verify_graph__events(graph, is_known):
    """A list of (gives, argument) in order, then one loop."""
    events = [(True, each) for each in graph["inputs"]]
    for node in graph["nodes"]:
        if not is_known(node["target"]):
            raise SpecViolationError("unknown operator")
        numbers = [each["kind"] for each in node["inputs"]]
        for i, number in enumerate(numbers):
            if number not in (1, 2) or i and number < numbers[i - 1]:
                raise SpecViolationError("arguments in a wrong order")
        events += [(False, each["arg"]) for each in node["inputs"]] + [(True, each) for each in node["outputs"]]
    events += [(False, each) for each in graph["outputs"]]
    known = []
    for gives, argument in events:
        if len(argument) != 1 or not set(argument) <= set(KINDS):
            raise SpecViolationError("no argument")
        for name in names_in(argument):
            if gives and (name in known or IDENTIFIER.fullmatch(name) is None):
                raise SpecViolationError("no new name")
            if gives:
                known.append(name)
            elif name not in known:
                raise SpecViolationError("no value")


def verify_graph__asserts(graph, is_known):
    def must(holds):
        if not holds:
            raise SpecViolationError("the graph must not run")

    def names(argument):
        must(len(argument) == 1 and all(kind in KINDS for kind in argument))
        return names_in(argument)

    values = set()

    def add(arguments):
        for argument in arguments:
            for name in names(argument):
                must(name not in values and IDENTIFIER.fullmatch(name))
                values.add(name)

    add(graph["inputs"])
    for node in graph["nodes"]:
        must(is_known(node["target"]))
        must(re.fullmatch("1*2*", "".join(str(each["kind"]) for each in node["inputs"])))
        must(all(name in values for each in node["inputs"] for name in names(each["arg"])))
        add(node["outputs"])
    must(all(name in values for argument in graph["outputs"] for name in names(argument)))


# ---- quantisation ----------------------------------------------------------------------------------------------------


def annotate__a_pass_for_each_kind(graph, activation, weight):
    """As in torchao: patterns first, and a bias has an entry that is None."""
    nodes = list(graph.nodes)
    is_free = lambda node: KEY not in node.meta  # noqa: E731

    def operands(node):
        if node.target in BINARY:
            return {arg: activation for arg in node.args[:2] if type(arg) is not float and type(arg) is not int}
        found = {node.args[0]: activation, node.args[1]: weight}
        if len(node.args) > 2 and node.args[2] is not None:
            found[node.args[2]] = None
        return found

    for relu in nodes:
        if relu.target == RELU and is_free(relu):
            (first,) = relu.args
            if first.target in LAYERS + BINARY and is_free(first) and list(first.users) == [relu]:
                first.meta[KEY] = QuantizationAnnotation(operands(first))
                relu.meta[KEY] = QuantizationAnnotation(output_qspec=activation)
    for node in nodes:
        if node.target in LAYERS + BINARY and is_free(node):
            node.meta[KEY] = QuantizationAnnotation(operands(node), activation)
    for node in reversed(nodes):
        if node.target in SHARING and is_free(node):
            items = [node.args[0]] if isinstance(node.args[0], Node) else list(node.args[0])
            specs = {}
            for item in items:
                specs.setdefault(item, SharedQuantizationSpec((items[0], node)) if specs else activation)
            node.meta[KEY] = QuantizationAnnotation(specs, SharedQuantizationSpec((items[-1], node)))


def annotate__the_observer_of_the_value_before(graph, activation, weight):
    """An input shares with the value that it is, if this value has a spec, and the first input with the result."""

    def annotate_one(node, values, result):
        node.meta[KEY] = QuantizationAnnotation(dict(values), result)

    for node in graph.nodes:
        if node.meta.get(KEY) is not None or node.op != "call_function":
            continue
        is_layer, is_binary = node.target in LAYERS, node.target in BINARY
        if is_layer or is_binary:
            readers = [*node.users]
            pattern = len(readers) == 1 and readers[0].target is RELU and readers[0].meta.get(KEY) is None
            if pattern:
                annotate_one(readers[0], [], activation)
            values = [(node.args[0], activation), (node.args[1], weight if is_layer else activation)]
            annotate_one(
                node, [value for value in values if isinstance(value[0], Node)], None if pattern else activation
            )
        elif node.target in SHARING:
            first, *others = node.all_input_nodes
            before = first.meta.get(KEY)
            spec = SharedQuantizationSpec(first) if before and before.output_qspec else activation
            pairs = [(first, spec), *((other, SharedQuantizationSpec((first, node))) for other in others)]
            annotate_one(node, pairs, SharedQuantizationSpec((first, node)))
