"""Wrong answers to lab 07a that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import re

import rushlight as rl
from rushlight.aten.strided import Tensor
from rushlight.course import breaks
from rushlight.fx.codegen import FORMATS, IN_PLACE, arguments, attribute_of, expression, qualified_name
from rushlight.fx.graph import Graph, is_reserved
from rushlight.fx.interpreter import Interpreter
from rushlight.fx.node import Node, map_arg
from rushlight.fx.passes import (
    common_subexpressions,
    eliminate_dead_code,
    fingerprint,
    freeze,
    has_tensor,
    is_mutation,
    is_random,
    share_memory_with_output,
)

from ..shared import copied, edited

# ---- fx ------------------------------------------------------------------------------------------------------------


def create_name__does_not_look_whether_a_number_is_taken(namespace, candidate, obj):
    if obj in namespace._obj_to_name:
        return namespace._obj_to_name[obj]
    candidate = re.sub("[^0-9a-zA-Z_]+", "_", candidate) or "_unnamed"
    candidate = f"_{candidate}" if candidate[0].isdigit() else candidate
    number = namespace._base_count.get(candidate, 0)
    name = f"{candidate}_{number}" if number or is_reserved(candidate, obj) else candidate
    namespace._base_count[candidate] = number + 1
    namespace._used_names.add(name)
    if obj is not None:
        namespace._obj_to_name[obj] = name
    return name


def create_name__counts_from_one_each_time(namespace, candidate, obj):
    if obj in namespace._obj_to_name:
        return namespace._obj_to_name[obj]
    candidate = re.sub("[^0-9a-zA-Z_]+", "_", candidate) or "_unnamed"
    candidate = f"_{candidate}" if candidate[0].isdigit() else candidate
    base, digits = re.fullmatch(r"(.+?)(?:_(\d+))?", candidate).groups()
    number = int(digits or 0)
    while candidate in namespace._used_names or is_reserved(candidate, obj):
        number += 1
        candidate = f"{base}_{number}"
    namespace._used_names.add(candidate)
    namespace._base_count[base] = number
    if obj is not None:
        namespace._obj_to_name[obj] = candidate
    return candidate


def create_name__gives_a_builtin_no_name_of_its_own(namespace, candidate, obj):
    if obj in namespace._obj_to_name:
        return namespace._obj_to_name[obj]
    candidate = re.sub("[^0-9a-zA-Z_]+", "_", candidate) or "_unnamed"
    candidate = f"_{candidate}" if candidate[0].isdigit() else candidate
    base, digits = re.fullmatch(r"(.+?)(?:_(\d+))?", candidate).groups()
    number = int(digits) if digits else namespace._base_count.get(base, 0)
    if is_reserved(candidate, None if obj is None else object()):
        number += 1
        candidate = f"{base}_{number}"
    while candidate in namespace._used_names:
        number += 1
        candidate = f"{base}_{number}"
    namespace._used_names.add(candidate)
    namespace._base_count[base] = number
    if obj is not None:
        namespace._obj_to_name[obj] = candidate
    return candidate


def update_args_kwargs__looks_at_the_top_only(node, args, kwargs):
    for used in node._input_nodes:
        del used.users[node]
    node._args, node._kwargs = map_arg(args, lambda used: used), map_arg(kwargs, lambda used: used)
    node._input_nodes = dict.fromkeys(arg for arg in [*args, *kwargs.values()] if isinstance(arg, Node))
    for used in node._input_nodes:
        used.users[node] = None


def update_args_kwargs__keeps_the_old_users(node, args, kwargs):
    node._input_nodes = {}
    node._args = map_arg(args, lambda used: node._input_nodes.setdefault(used) or used)
    node._kwargs = map_arg(kwargs, lambda used: node._input_nodes.setdefault(used) or used)
    for used in node._input_nodes:
        used.users[node] = None


def update_args_kwargs__changes_only_what_differs(node, args, kwargs):
    inputs = {}
    node._args = map_arg(args, lambda used: inputs.setdefault(used) or used)
    node._kwargs = map_arg(kwargs, lambda used: inputs.setdefault(used) or used)
    for used in node._input_nodes.keys() - inputs.keys():
        del used.users[node]
    for used in inputs.keys() - node._input_nodes.keys():
        used.users[node] = None
    node._input_nodes = inputs


def statement__prints_arguments_with_str(node, root, scope, note=""):
    args = ", ".join([f"{arg}" for arg in node.args] + [f"{name} = {arg}" for name, arg in node.kwargs.items()])
    if node.op == "output":
        return f"return {node.args[0]}"
    if node.op in ("get_attr", "call_module"):
        called = "" if node.op == "get_attr" else f"({args})"
        return f"{node!r}{note} = {attribute_of(root, node.target)}{called}"
    if node.op == "call_method":
        return f"{node!r}{note} = {node.args[0]}.{node.target}({args.partition(', ')[2]})"
    function = scope.add_global(qualified_name(node.target), node.target)
    return f"{node!r}{note} = {function}({args})"


def statement__takes_any_function_called_add_for_the_operator(node, root, scope, note=""):
    if node.op == "output":
        return f"return {expression(node.args[0], scope)}"
    if node.op == "get_attr":
        return f"{node!r}{note} = {attribute_of(root, node.target)}"
    if node.op == "call_module":
        return f"{node!r}{note} = {attribute_of(root, node.target)}({arguments(node.args, node.kwargs, scope)})"
    if node.op == "call_method":
        called = attribute_of(expression(node.args[0], scope), node.target)
        return f"{node!r}{note} = {called}({arguments(node.args[1:], node.kwargs, scope)})"
    operands = [expression(arg, scope) for arg in node.args]
    if node.target.__name__ in FORMATS:
        return f"{node!r}{note} = {FORMATS[node.target.__name__].format(*operands)}"
    if node.target.__name__ in IN_PLACE:
        return f"{IN_PLACE[node.target.__name__].format(*operands)};  {node!r}{note} = {operands[0]}"
    if node.target is getattr and len(node.args) == 2 and str(node.args[1]).isidentifier():
        return f"{node!r}{note} = {operands[0]}.{node.args[1]}"
    return f"{node!r}{note} = {scope.add_global(qualified_name(node.target), node.target)}({', '.join(operands)})"


def statement__takes_any_function_called_getattr_for_the_builtin(node, root, scope, note=""):
    if node.op == "output":
        return f"return {expression(node.args[0], scope)}"
    if node.op == "get_attr":
        return f"{node!r}{note} = {attribute_of(root, node.target)}"
    if node.op == "call_module":
        return f"{node!r}{note} = {attribute_of(root, node.target)}({arguments(node.args, node.kwargs, scope)})"
    if node.op == "call_method":
        called = attribute_of(expression(node.args[0], scope), node.target)
        return f"{node!r}{note} = {called}({arguments(node.args[1:], node.kwargs, scope)})"
    name, args = node.target.__name__, node.args
    operands = [expression(arg, scope) for arg in args]
    if node.target.__module__ == "_operator" and name in FORMATS:
        return f"{node!r}{note} = {FORMATS[name].format(*operands)}"
    if node.target.__module__ == "_operator" and name in IN_PLACE:
        return f"{IN_PLACE[name].format(*operands)};  {node!r}{note} = {operands[0]}"
    if name == "getattr" and len(args) == 2 and isinstance(args[1], str) and args[1].isidentifier():
        return f"{node!r}{note} = {attribute_of(operands[0], args[1])}"
    function = scope.add_global(qualified_name(node.target), node.target)
    return f"{node!r}{note} = {function}({arguments(args, node.kwargs, scope)})"


def run_node__takes_a_value_of_none_for_no_value(interpreter, node):
    def value(used):
        if interpreter.env.get(used) is None:
            raise RuntimeError("no value")
        return interpreter.env[used]

    return getattr(interpreter, node.op)(node.target, map_arg(node.args, value), map_arg(node.kwargs, value))


def run_node__calls_the_target_itself(interpreter, node):
    if any(used not in interpreter.env for used in node.all_input_nodes):
        raise RuntimeError("no value")
    args = map_arg(node.args, interpreter.env.__getitem__)
    kwargs = map_arg(node.kwargs, interpreter.env.__getitem__)
    if node.op == "call_function":
        return node.target(*args, **kwargs)
    return getattr(interpreter, node.op)(node.target, args, kwargs)


def run_node__looks_at_the_top_only(interpreter, node):
    def value(arg):
        if isinstance(arg, Node) and arg not in interpreter.env:
            raise RuntimeError("no value")
        return interpreter.env[arg] if isinstance(arg, Node) else arg

    args, kwargs = tuple(map(value, node.args)), {name: value(arg) for name, arg in node.kwargs.items()}
    return getattr(interpreter, node.op)(node.target, args, kwargs)


def eliminate_dead_code__once_from_the_front(graph, is_impure_node=None):
    graph.lint()
    erased = False
    for node in graph.nodes:
        impure = node.is_impure() if is_impure_node is None else is_impure_node(node)
        if not node.users and not impure:
            graph.erase_node(node)
            erased = True
    return erased


eliminate_dead_code__always_keeps_inputs_and_output = edited(
    eliminate_dead_code,
    (
        "impure = node.is_impure() if is_impure_node is None else is_impure_node(node)",
        'if node.op in ("placeholder", "output") or node.users:\n            continue',
    ),
    ("not impure and not node.users", "not (is_impure_node or Node.is_impure)(node)"),
    ("return len(graph.nodes) < count", "return len(graph.nodes) != count"),
)
eliminate_dead_code__asks_both = edited(
    eliminate_dead_code,
    (
        "impure = node.is_impure() if is_impure_node is None else is_impure_node(node)",
        "impure = node.is_impure() or (is_impure_node is not None and is_impure_node(node))",
    ),
)


def common_subexpressions__compares_the_old_arguments(graph):
    new, copies, computed, unique = Graph(), {}, {}, share_memory_with_output(graph)
    for node in graph.nodes:
        if is_mutation(node):
            computed.clear()
        key = node.op, node.target, fingerprint((node.args, node.kwargs))
        single = node.op in ("placeholder", "get_attr", "output") or is_random(node) or node in unique
        if not single and key in computed:
            copies[node] = computed[key]
            continue
        copies[node] = new.node_copy(node, copies.__getitem__)
        if not single:
            computed[key] = copies[node]
    return new


def common_subexpressions__takes_one_for_true(graph):
    new, copies, computed, unique = Graph(), {}, {}, share_memory_with_output(graph)
    for node in graph.nodes:
        if is_mutation(node):
            computed.clear()
        args, kwargs = map_arg(node.args, copies.get), map_arg(node.kwargs, copies.get)
        single = node.op in ("placeholder", "get_attr", "output") or is_random(node) or node in unique
        key = node.op, node.target, args, kwargs
        if not single and key in computed:
            copies[node] = computed[key]
            continue
        copies[node] = new.node_copy(node, copies.__getitem__)
        if not single:
            computed[key] = copies[node]
    return new


common_subexpressions__tells_zero_from_minus_zero = edited(common_subexpressions, ("fingerprint(", "repr("))


def common_subexpressions__goes_past_writes(graph):
    new, copies, computed, unique = Graph(), {}, {}, share_memory_with_output(graph)
    for node in graph.nodes:
        key = node.op, node.target, fingerprint(map_arg((node.args, node.kwargs), copies.get))
        single = (
            node.op in ("placeholder", "get_attr", "output") or is_random(node) or is_mutation(node) or node in unique
        )
        if not single and key in computed:
            copies[node] = computed[key]
            continue
        copies[node] = new.node_copy(node, copies.__getitem__)
        if not single:
            computed[key] = copies[node]
    return new


def constant_fold__freezes_every_step(module):
    interpreter = Interpreter(module)
    known = interpreter.env
    for node in module.graph.nodes:
        inputs = node.all_input_nodes
        if node.is_impure() or not all(used in known for used in inputs):
            continue
        if node.op == "get_attr" or has_tensor(known[used] for used in inputs):
            known[node] = interpreter.run_node(node)
    for node, value in known.items():
        if node.op != "get_attr" and isinstance(value, Tensor):
            freeze(module, node, value)
    eliminate_dead_code(module.graph)
    module.recompile()


def constant_fold__folds_what_has_no_inputs(module):
    interpreter = Interpreter(module)
    known = interpreter.env
    for node in module.graph.nodes:
        if not node.is_impure() and all(used in known for used in node.all_input_nodes):
            known[node] = interpreter.run_node(node)
    for node, value in known.items():
        if node.op != "get_attr" and isinstance(value, Tensor) and any(user not in known for user in node.users):
            freeze(module, node, value)
    eliminate_dead_code(module.graph)
    module.recompile()


def constant_fold__forgets_the_code(module):
    interpreter = Interpreter(module)
    known = interpreter.env
    for node in module.graph.nodes:
        inputs = node.all_input_nodes
        if node.is_impure() or not all(used in known for used in inputs):
            continue
        if node.op == "get_attr" or has_tensor(known[used] for used in inputs):
            known[node] = interpreter.run_node(node)
    for node, value in known.items():
        if node.op != "get_attr" and isinstance(value, Tensor) and any(user not in known for user in node.users):
            freeze(module, node, value)
    eliminate_dead_code(module.graph)


def common_subexpressions__random_writes_do_not_count_as_writes(graph):
    new, unique = Graph(), share_memory_with_output(graph)
    copies, computed = {}, {}
    for node in graph.nodes:
        if node.op in ("placeholder", "get_attr", "output") or is_random(node) or node in unique:
            copies[node] = new.node_copy(node, copies.__getitem__)
            continue
        if is_mutation(node):
            computed.clear()
        key = node.op, node.target, fingerprint(map_arg((node.args, node.kwargs), copies.__getitem__))
        if key not in computed:
            computed[key] = new.node_copy(node, copies.__getitem__)
        copies[node] = computed[key]
    return new


# Sentences that are easily passed over


_create_name = copied(rl.fx.graph.create_name)


def create_name__takes_the_last_digit_for_the_number(namespace, candidate, obj):
    name = _create_name(namespace, candidate, obj)
    base, _, digits = name.rpartition("_")
    if base and digits.isdigit() and name == candidate:
        namespace._base_count[base] = int(digits[-1])
    return name


# Two conditions at once, and words that are easily read as others


create_name__by_identity = edited(
    rl.fx.graph.create_name,
    (
        "if obj in namespace._obj_to_name:\n        return namespace._obj_to_name[obj]",
        "for known, name in namespace._obj_to_name.items():\n        if known is obj:\n            return name",
    ),
)
statement__joins_a_method_with_a_dot = edited(
    rl.fx.codegen.statement,
    ("attribute_of(expression(first, scope), node.target)", "expression(first, scope) + '.' + node.target"),
)
statement__takes_pow_of_any_module_for_the_operator = edited(
    rl.fx.codegen.statement, ('== "_operator"', 'in ("_operator", "builtins", "math")')
)
common_subexpressions__whatever_the_order_of_keywords = edited(
    common_subexpressions, ("(node.args, node.kwargs)", "(node.args, dict(sorted(node.kwargs.items())))")
)


constant_fold__erases_only_what_was_known = edited(
    rl.fx.passes.constant_fold,
    (
        "    eliminate_dead_code(module.graph)\n",
        "    for node in reversed(module.graph.nodes):\n"
        "        if node in known and not node.users:\n            module.graph.erase_node(node)\n",
    ),
)


# Halves of a rule, and what is equal or alike


create_name__looks_for_a_digit_before_it_replaces_characters = edited(
    rl.fx.graph.create_name,
    ("    candidate = re.sub(", '    candidate = "_" * candidate[:1].isdigit() + candidate\n    candidate = re.sub('),
)
create_name__keeps_the_counter_at_zero = edited(
    rl.fx.graph.create_name,
    (
        "namespace._base_count[base] = number",
        "namespace._base_count[base] = number or namespace._base_count.get(base, 0)",
    ),
)
update_args_kwargs__leaves_the_users_if_the_nodes_are_the_same = edited(
    rl.fx.node.update_args_kwargs,
    (
        "    for used in node._input_nodes:\n",
        "    now = {}\n    map_arg((args, kwargs), now.setdefault)\n"
        "    if list(now) == list(node._input_nodes):\n"
        "        node._args, node._kwargs = map_arg(args, lambda used: used), map_arg(kwargs, lambda used: used)\n"
        "        return\n"
        "    for used in node._input_nodes:\n",
    ),
)
statement__takes_the_name_for_the_variable = edited(rl.fx.codegen.statement, ("{node!r}", "{node.name}"))
statement__takes_a_name_of_letters_for_an_identifier = edited(
    rl.fx.codegen.statement, ("name.isidentifier()", "name.isalpha()")
)
run_node__looks_attributes_up_itself = edited(
    rl.fx.interpreter.run_node,
    (
        "    return getattr(",
        "    if node.op == 'get_attr':\n        return interpreter.fetch_attr(node.target)\n    return getattr(",
    ),
)
run_node__calls_modules_itself = edited(
    rl.fx.interpreter.run_node,
    (
        "    return getattr(",
        "    if node.op == 'call_module':\n        module = interpreter.fetch_attr(node.target)\n"
        "        return module(*map_arg(node.args, value_of), **map_arg(node.kwargs, value_of))\n    return getattr(",
    ),
)
run_node__calls_methods_itself = edited(
    rl.fx.interpreter.run_node,
    (
        "    return getattr(",
        "    if node.op == 'call_method':\n        first, *others = map_arg(node.args, value_of)\n"
        "        return getattr(first, node.target)(*others, **map_arg(node.kwargs, value_of))\n    return getattr(",
    ),
)
run_node__takes_inputs_itself = edited(
    rl.fx.interpreter.run_node,
    (
        "    return getattr(",
        "    if node.op == 'placeholder':\n        return next(interpreter.args_iter)\n    return getattr(",
    ),
)
run_node__drops_keywords_that_are_none = edited(
    rl.fx.interpreter.run_node,
    (
        "map_arg(node.kwargs, value_of))",
        "{name: value for name, value in map_arg(node.kwargs, value_of).items() if value is not None})",
    ),
)
common_subexpressions__copies_all_methods = edited(
    common_subexpressions, ('"get_attr", ', '"get_attr", "call_method", ')
)
common_subexpressions__replaces_no_nodes_in_lists = edited(
    common_subexpressions,
    (
        "map_arg((node.args, node.kwargs), copies.__getitem__)",
        "([copies.get(arg) if isinstance(arg, Node) else arg for arg in node.args], map_arg(node.kwargs, copies.get))",
    ),
)
common_subexpressions__forgets_only_what_uses_the_written_tensor = edited(
    common_subexpressions,
    (
        "            computed.clear()\n",
        "            written = {copies[used] for used in node.all_input_nodes}\n"
        "            for key in [key for key, copy in computed.items() if written & {*copy.all_input_nodes}]:\n"
        "                del computed[key]\n",
    ),
)
common_subexpressions__starts_again_at_results = edited(
    common_subexpressions, ("if is_mutation(node):", "if is_mutation(node) or node in unique:")
)
common_subexpressions__loses_the_meta = edited(
    common_subexpressions,
    (
        "new.node_copy(node, copies.__getitem__)",
        "new.create_node(node.op, node.target, *map_arg((node.args, node.kwargs), copies.get), node.name)",
    ),
)
constant_fold__if_all_values_are_tensors = edited(
    rl.fx.passes.constant_fold,
    (
        "if has_tensor(known[used] for used in node.all_input_nodes):",
        "if node.all_input_nodes and all(has_tensor([known[used]]) for used in node.all_input_nodes):",
    ),
)
constant_fold__knows_only_attributes_that_are_tensors = edited(
    rl.fx.passes.constant_fold,
    (
        "    for node in looked_up:\n        known[node] = interpreter.run_node(node)\n",
        "    for node in looked_up:\n        value = interpreter.run_node(node)\n"
        "        if isinstance(value, Tensor):\n            known[node] = value\n",
    ),
)


# Cases

_breaks = copied(breaks.breaks_create_arg)


def breaks_create_arg__of_the_table():
    cases = [
        ("x", "tuple", "usual"),
        ("[x]", "dict", "usual"),
        ("x", "start of a slice", "usual"),
        ("3", "list", "doubles"),
    ]
    return [{"value": value, "within": within, "tracer": tracer} for value, within, tracer in cases]


def breaks_create_arg__with_proxies_alone():
    return [case | {"value": "x"} for case in _breaks()]


def breaks_create_arg__with_the_usual_tracer():
    return [case | {"tracer": "usual"} for case in _breaks()]


def breaks_create_arg__in_nothing():
    return [case | {"within": "nothing"} for case in _breaks()]


def breaks_create_arg__with_plain_words():
    return [case | {"value": case["value"].replace("Colour.RED", "'dim'")} for case in _breaks()]


def breaks_create_arg__as_calls():
    return ["tracer.create_arg(x.shape)", "tracer.create_arg({x: None})"]


def breaks_create_arg__values_and_not_words():
    return [case | {"value": 3} for case in _breaks()]


def breaks_create_arg__of_seven_cases():
    return [*_breaks(), *_breaks()[:2]]
