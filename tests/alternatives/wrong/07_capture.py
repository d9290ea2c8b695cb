"""Wrong answers to lab 07 that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import dataclasses
import dis
import inspect
import math
import operator
import re
import types

from answers import edited

import rushlight as rl
from rushlight.aot.functional import arguments_of, view_forward, view_inverse
from rushlight.aot.partition import RECOMPUTABLE, find_path, is_fusible, is_view_node, operator_name, size_of
from rushlight.aot.proxy_tensor import run_meta
from rushlight.aot.runtime import view_of
from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.autograd import engine
from rushlight.autograd.engine import sum_to
from rushlight.autograd.grad_mode import no_grad
from rushlight.c10.dtypes import float16, float32
from rushlight.dynamo import bytecode, calls, guards, symbolic
from rushlight.dynamo.exc import Unsupported
from rushlight.dynamo.variables import (
    ConstDictVariable,
    ListVariable,
    SetVariable,
    TensorVariable,
    TupleVariable,
    UserDefinedObjectVariable,
)
from rushlight.fx.codegen import FORMATS, IN_PLACE, arguments, attribute_of, expression, qualified_name
from rushlight.fx.graph import Graph, is_reserved
from rushlight.fx.interpreter import Interpreter
from rushlight.fx.node import Node, map_arg
from rushlight.fx.passes import (
    eliminate_dead_code,
    fingerprint,
    freeze,
    has_tensor,
    is_mutation,
    is_random,
    share_memory_with_output,
)
from rushlight.fx.proxy import BASE_TYPES, Proxy, dict_key

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


def create_arg__asks_itself_about_items(tracer, a):
    def lower(item):
        return create_arg__asks_itself_about_items(tracer, item)

    if isinstance(a, Proxy):
        return a.node
    if hasattr(a, "__fx_create_arg__"):
        return a.__fx_create_arg__(tracer)
    if isinstance(a, tuple):
        return type(a)(*map(lower, a)) if hasattr(a, "_fields") else tuple(map(lower, a))
    if isinstance(a, list):
        return list(map(lower, a))
    if isinstance(a, dict):
        return {key if isinstance(key, str) else dict_key(tracer, key): lower(item) for key, item in a.items()}
    if isinstance(a, (slice, range)):
        return type(a)(lower(a.start), lower(a.stop), lower(a.step))
    if isinstance(a, BASE_TYPES):
        return a
    raise NotImplementedError(f"argument of type: {type(a)}")


def create_arg__makes_tuples_of_named_tuples(tracer, a):
    if isinstance(a, tuple):
        return tuple(tracer.create_arg(item) for item in a)
    if isinstance(a, list):
        return [tracer.create_arg(item) for item in a]
    if isinstance(a, dict):
        return {key if isinstance(key, str) else dict_key(tracer, key): tracer.create_arg(a[key]) for key in a}
    if isinstance(a, (slice, range)):
        return type(a)(tracer.create_arg(a.start), tracer.create_arg(a.stop), tracer.create_arg(a.step))
    if isinstance(a, Proxy):
        return a.node
    if hasattr(a, "__fx_create_arg__"):
        return a.__fx_create_arg__(tracer)
    if isinstance(a, BASE_TYPES):
        return a
    raise NotImplementedError(f"argument of type: {type(a)}")


def create_arg__takes_everything(tracer, a):
    if isinstance(a, Proxy):
        return a.node
    if isinstance(a, (tuple, list)):
        return type(a)([tracer.create_arg(item) for item in a])
    if isinstance(a, dict):
        return {key: tracer.create_arg(item) for key, item in a.items()}
    return a


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


def eliminate_dead_code__always_keeps_inputs_and_output(graph, is_impure_node=None):
    graph.lint()
    count = len(graph.nodes)
    for node in reversed(graph.nodes):
        if node.op in ("placeholder", "output") or node.users:
            continue
        if not (is_impure_node or Node.is_impure)(node):
            graph.erase_node(node)
    return len(graph.nodes) != count


def eliminate_dead_code__asks_both(graph, is_impure_node=None):
    graph.lint()
    count = len(graph.nodes)
    for node in reversed(graph.nodes):
        impure = node.is_impure() or (is_impure_node is not None and is_impure_node(node))
        if not impure and not node.users:
            graph.erase_node(node)
    return len(graph.nodes) < count


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


def create_arg__same_class_of_dict(tracer, a):
    if isinstance(a, Proxy):
        return a.node
    if hasattr(a, "__fx_create_arg__"):
        return a.__fx_create_arg__(tracer)
    if isinstance(a, tuple):
        items = [tracer.create_arg(item) for item in a]
        return type(a)(*items) if hasattr(a, "_fields") else type(a)(items)
    if isinstance(a, list):
        return [tracer.create_arg(item) for item in a]
    if isinstance(a, dict):
        pairs = [(k if isinstance(k, str) else dict_key(tracer, k), tracer.create_arg(v)) for k, v in a.items()]
        return type(a)(pairs)
    if isinstance(a, (slice, range)):
        return type(a)(tracer.create_arg(a.start), tracer.create_arg(a.stop), tracer.create_arg(a.step))
    if isinstance(a, BASE_TYPES):
        return a
    raise NotImplementedError(f"argument of type: {type(a)}")


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


# ---- dynamo --------------------------------------------------------------------------------------------------------


def read_instructions__forgets_the_extended_arguments(code):
    found, offset = [], 0
    while offset < len(code.co_code):
        number, argument = code.co_code[offset], code.co_code[offset + 1]
        name = dis.opname[number]
        end = offset + 2 + 2 * bytecode.inline_caches(name)
        if name != "EXTENDED_ARG":
            target = (
                (end - 2 * argument if "BACKWARD" in name else end + 2 * argument) if number in dis.hasjrel else None
            )
            found.append((offset, name, argument, target))
        offset = end
    return found


def read_instructions__keeps_one_extended_argument(code):
    found, raw = [], code.co_code
    for each in READ_INSTRUCTIONS(code):
        place, name, _, target = each
        before = raw[place - 1] << 8 if place and dis.opname[raw[place - 2]] == "EXTENDED_ARG" else 0
        found.append((place, name, before | raw[place + 1], target))
    return found


READ_INSTRUCTIONS = types.FunctionType(bytecode.read_instructions.__code__, vars(bytecode))


def read_instructions__jumps_only_forward(code):
    found, offset, extended = [], 0, 0
    while offset < len(code.co_code):
        number, argument = code.co_code[offset], code.co_code[offset + 1] | extended
        name = dis.opname[number]
        end = offset + 2 + 2 * bytecode.inline_caches(name)
        extended = argument << 8 if name == "EXTENDED_ARG" else 0
        if name != "EXTENDED_ARG":
            found.append((offset, name, argument, end + 2 * argument if number in dis.hasjrel else None))
        offset = end
    return found


def live_names__all_that_are_read_later(instructions, start):
    return {each.arg for each in instructions[start:] if each.op in bytecode.READS}


def live_names__a_handler_before_its_own_write(instructions, start):
    """An instruction with a handler as two: a jump to it, then the instruction."""
    live = LIVE_NAMES(instructions, start)
    first = instructions[start]
    if first.handler is not None:
        live |= LIVE_NAMES(instructions, first.handler[0])
    return live


LIVE_NAMES = types.FunctionType(bytecode.live_names.__code__, vars(bytecode))


def live_names__forgets_the_handlers(instructions, start):
    live, written, seen, waiting, sure = set(), set(), set(), [start], True
    while waiting:
        index = waiting.pop()
        while index not in seen and index < len(instructions):
            seen.add(index)
            each = instructions[index]
            if each.op in bytecode.READS and each.arg not in written:
                live.add(each.arg)
            if each.op in bytecode.WRITES and sure:
                written.add(each.arg)
            if each.op in bytecode.JUMPS:
                sure = False
                waiting.append(each.arg)
            if each.op in bytecode.ENDS:
                break
            index += 1
        sure = False
    return live


def guards_for__compares_without_types(value, source, scope):
    if isinstance(value, (int, float, complex, str, bytes)) and value is not True and value is not False:
        return [f"{source} == {guards.bind(scope, value)}"]
    return GUARDS_FOR(value, source, scope)


def guards_for__looks_at_sizes_only(value, source, scope):
    if isinstance(value, rl.Tensor):
        kind = guards.bind(scope, type(value))
        return [
            f"type({source}) is {kind}",
            f"{source}.dtype == {guards.bind(scope, value.dtype)}",
            f"{source}._sizes == {tuple(value.shape)}",
        ]
    return GUARDS_FOR(value, source, scope)


def guards_for__compares_dicts_as_sets(value, source, scope):
    if isinstance(value, dict):
        return [
            f"type({source}) is {guards.bind(scope, type(value))}",
            f"set({source}) == {guards.bind(scope, set(value), 'keys')}",
        ]
    return GUARDS_FOR(value, source, scope)


def guards_for__looks_at_the_elements(value, source, scope):
    if isinstance(value, (list, tuple)):
        return [f"type({source}) is {guards.bind(scope, type(value))}", f"{source} == {guards.bind(scope, value)}"]
    return GUARDS_FOR(value, source, scope)


def guards_for__keeps_the_function(value, source, scope):
    if isinstance(value, types.MethodType):
        return [f"{source} is {guards.bind(scope, value)}"]
    return GUARDS_FOR(value, source, scope)


def guards_for__keeps_the_set_itself(value, source, scope):
    if isinstance(value, (set, frozenset)):
        return [f"type({source}) is {guards.bind(scope, type(value))}", f"{source} == {guards.bind(scope, value)}"]
    return GUARDS_FOR(value, source, scope)


def guards_for__a_method_without_its_type(value, source, scope):
    if isinstance(value, types.MethodType):
        return [f"{source}.__func__.__code__ is {guards.bind(scope, value.__func__.__code__)}"]
    return GUARDS_FOR(value, source, scope)


GUARDS_FOR = types.FunctionType(guards.guards_for.__code__, vars(guards))


def build_check__lets_errors_out(guards_, scope):
    source = "def check(L):\n    return True" + "".join(f" and bool({guard.text})" for guard in guards_)
    space = dict(scope)
    exec(source, space)
    space["check"].source = source
    return space["check"]


def build_check__evaluates_each_time(guards_, scope):
    source = "\n".join(
        ["def check(L):", "    try:", "        return True" + "".join(f" and bool({guard.text})" for guard in guards_)]
        + ["    except (LookupError, AttributeError, TypeError):", "        return False"]
    )
    space = dict(scope)
    exec(source, space)
    space["check"].source = source
    return space["check"]


def build_check__takes_any_beginning(guards_, scope):
    names, lines = {}, ["def check(L):", "    try:", "        pass"]
    for source, text in guards_:
        if source and source not in names:
            longest = max((known for known in names if source.startswith(known)), key=len, default="")
            lines.append(f"        _v{len(names)} = {names.get(longest, '')}{source[len(longest) :]}")
            names[source] = f"_v{len(names)}"
        text = text.replace(source, names[source]) if source else text
        lines += [f"        if not ({text}):", "            return False"]
    lines += [
        "    except (LookupError, AttributeError, TypeError, NameError):",
        "        return False",
        "    return True",
    ]
    space = dict(scope)
    exec("\n".join(lines), space)
    space["check"].source = "\n".join(lines)
    return space["check"]


def lookup__leaves_the_order(entries, L):  # noqa: N803
    return next((entry for entry in entries if entry.check(L)), None)


def lookup__exchanges_with_the_first(entries, L):  # noqa: N803
    for i, entry in enumerate(entries):
        if entry.check(L):
            entries[0], entries[i] = entries[i], entries[0]
            return entry


def lookup__asks_all(entries, L):  # noqa: N803
    fitting = [entry for entry in entries if entry.check(L)]
    if fitting:
        entries.remove(fitting[0])
        entries.insert(0, fitting[0])
        return fitting[0]


def recompile_reasons__of_the_first_entry_only(entries, L):  # noqa: N803
    for entry in entries:
        guard = guards.failing_guard(entry.guards, entry.scope, L)
        if guard is not None:
            return [guards.explain_failure(guard, entry.scope, L)]
    return []


def recompile_reasons__all_guards_that_fail(entries, L):  # noqa: N803
    return [
        guards.explain_failure(guard, entry.scope, L)
        for entry in entries
        for guard in entry.guards
        if guards.failing_guard([guard], entry.scope, L)
    ]


def recompile_reasons__the_oldest_first(entries, L):  # noqa: N803
    found = [(guards.failing_guard(entry.guards, entry.scope, L), entry.scope) for entry in reversed(entries)]
    return [guards.explain_failure(guard, scope, L) for guard, scope in found if guard]


def how_to_call__breaks_on_every_builtin(function):
    if isinstance(function, types.BuiltinFunctionType):
        return "rule" if function in calls.BUILTINS else "break"
    return HOW_TO_CALL(function)


def how_to_call__inlines_the_framework(function):
    if (
        isinstance(function, types.FunctionType)
        and not getattr(function, "_dynamo_disable", False)
        and function not in calls.BUILTINS
    ):
        return "inline"
    return HOW_TO_CALL(function)


def how_to_call__traces_what_is_disabled(function):
    if isinstance(function, types.FunctionType) and getattr(function, "_dynamo_disable", False):
        return "inline"
    return HOW_TO_CALL(function)


def how_to_call__folds_every_builtin(function):
    if isinstance(function, types.BuiltinFunctionType) and function not in calls.BUILTINS:
        return "fold"
    return HOW_TO_CALL(function)


HOW_TO_CALL = types.FunctionType(calls.how_to_call.__code__, vars(calls))


def binary_op__always_makes_a_new_list(frame, symbol, left, right):
    if isinstance(left, ListVariable) and isinstance(right, ListVariable) and symbol in ("+", "+="):
        return ListVariable(left.items + right.items)
    return BINARY_OP(frame, symbol, left, right)


def binary_op__changes_a_list_in_secret(frame, symbol, left, right):
    if isinstance(left, ListVariable) and isinstance(right, ListVariable) and symbol == "+=":
        left.items.extend(right.items)
        return left
    return BINARY_OP(frame, symbol, left, right)


def binary_op__joins_a_list_and_a_tuple(frame, symbol, left, right):
    kinds = (ListVariable, TupleVariable)
    if isinstance(left, kinds) and isinstance(right, kinds) and symbol == "+":
        return type(left)(left.items + right.items)
    return BINARY_OP(frame, symbol, left, right)


def binary_op__in_place_on_numbers(frame, symbol, left, right):
    if isinstance(right, TensorVariable) and symbol in bytecode.PLAIN:
        return calls.call_in_graph(frame, bytecode.OPERATORS[symbol], [left, right], {})
    return BINARY_OP(frame, symbol, left, right)


def binary_op__tensors_in_order_only(frame, symbol, left, right):
    if isinstance(right, TensorVariable) and not isinstance(left, TensorVariable):
        left, right = right, left
    return BINARY_OP(frame, symbol, left, right)


BINARY_OP = types.FunctionType(symbolic.binary_op.__code__, vars(symbolic))


def truth__a_length_before_a_truth(frame, value):
    if isinstance(value, UserDefinedObjectVariable) and hasattr(value.cls, "__len__"):
        return symbolic.truth(frame, value.call_method(frame, "__len__", [], {}))
    return TRUTH(frame, value)


def truth__forgets_lengths(frame, value):
    if isinstance(value, UserDefinedObjectVariable) and not hasattr(value.cls, "__bool__"):
        return True
    return TRUTH(frame, value)


def truth__every_object_is_true(frame, value):
    return True if isinstance(value, UserDefinedObjectVariable) else TRUTH(frame, value)


def truth__of_the_meta_tensor(frame, value):
    return value.fake.numel() > 0 if isinstance(value, TensorVariable) else TRUTH(frame, value)


def truth__of_containers_is_not_known(frame, value):
    if isinstance(value, (ListVariable, TupleVariable, ConstDictVariable, SetVariable)):
        raise Unsupported("a container")
    return TRUTH(frame, value)


TRUTH = types.FunctionType(symbolic.truth.__code__, vars(symbolic))


def how_to_call__derived_classes_are_folded(function):
    if function in calls.BUILTINS:
        return "rule"
    if getattr(function, "_dynamo_disable", False):
        return "break"
    if isinstance(function, types.FunctionType):
        return "graph" if function.__module__ in calls.IN_GRAPH else "inline"
    if isinstance(function, calls.OPERATOR_TYPES):
        return "graph"
    if isinstance(function, type):
        return "fold" if issubclass(function, calls.FOLDED_TYPES) else "new"
    if function in calls.FOLDED:
        return "fold"
    if isinstance(function, types.BuiltinFunctionType):
        known = function.__module__ in calls.FOLDED_MODULES or isinstance(function.__self__, calls.FOLDED_TYPES)
        return "fold" if known else "break"
    return "break"


def how_to_call__any_disable_attribute_breaks(function):
    if function in calls.BUILTINS:
        return "rule"
    if hasattr(function, "_dynamo_disable"):
        return "break"
    if isinstance(function, calls.OPERATOR_TYPES):
        return "graph"
    if isinstance(function, types.FunctionType):
        return "graph" if function.__module__ in calls.IN_GRAPH else "inline"
    if function in calls.FOLDED or function in calls.FOLDED_TYPES:
        return "fold"
    if isinstance(function, types.BuiltinFunctionType):
        known = function.__module__ in calls.FOLDED_MODULES or isinstance(function.__self__, calls.FOLDED_TYPES)
        return "fold" if known else "break"
    return "new" if isinstance(function, type) else "break"


def truth__methods_that_are_inherited_do_not_count(frame, value):
    match value:
        case symbolic.ConstantVariable():
            return bool(value.value)
        case UserDefinedObjectVariable():
            for name in "__bool__", "__len__":
                if name in vars(value.cls):
                    return truth__methods_that_are_inherited_do_not_count(frame, value.call_method(frame, name, [], {}))
            return True
        case TensorVariable():
            raise Unsupported("Data-dependent branching")
    if isinstance(value, symbolic.CONTAINERS):
        return len(value.items) != 0
    if not isinstance(value, symbolic.ALWAYS_TRUE):
        raise Unsupported(f"truth of {value}")
    return True


# ---- aot -----------------------------------------------------------------------------------------------------------


def record_call__forgets_lists(mode, func, args, kwargs):
    nodes = tuple(mode.node_of(x) if isinstance(x, Tensor) else x for x in args)
    node = mode.create_node(func, nodes, kwargs, func.schema.name)
    result = run_meta(func, args, kwargs)
    if isinstance(result, Tensor):
        mode.track(result, node)
    else:
        node.meta["val"] = result
        for i, tensor in enumerate(result):
            mode.track(tensor, mode.create_node(operator.getitem, (node, i), {}, "getitem"))
    return result


def record_call__keeps_the_first_node_of_what_is_written(mode, func, args, kwargs):
    def seen(value):
        if isinstance(value, Tensor):
            return mode.node_of(value)
        return [seen(item) for item in value] if isinstance(value, (list, tuple)) else value

    node = mode.create_node(func, tuple(map(seen, args)), {k: seen(v) for k, v in kwargs.items()}, func.schema.name)
    result = run_meta(func, args, kwargs)
    if isinstance(result, Tensor):
        if not func.schema.name.endswith("_"):
            mode.track(result, node)
    else:
        node.meta["val"] = result
        for i, tensor in enumerate(result):
            mode.track(tensor, mode.create_node(operator.getitem, (node, i), {}, "getitem"))
    return result


def inverse_as_torch_has_it(base, view, new):
    name, given, sizes = view.operator.schema.name, arguments_of(view), list(base.shape)
    if name in ("alias", "detach"):
        return new
    if name in ("view", "_reshape_alias"):
        return new.view(sizes)
    if name in ("t", "transpose"):
        return view.operator(new, *view.args)
    if name == "permute":
        dims = [d % len(sizes) for d in given["dims"]]
        return new.permute(sorted(range(len(sizes)), key=dims.__getitem__))
    if name == "unsqueeze":
        return new.squeeze(given["dim"])
    if name == "expand":
        return base + sum_to(new - base, sizes)
    if name == "squeeze":
        dim = given.get("dim")
        dims = range(len(sizes)) if dim is None else [dim] if isinstance(dim, int) else dim
        for d in sorted(d % len(sizes) for d in dims if sizes):
            new = new.unsqueeze(d) if sizes[d] == 1 else new
        return new
    if name == "unbind":
        return base.select_scatter(new, given["dim"], view.place)
    if name.startswith("split"):
        counts = given.get("split_sizes") or [given["split_size"]] * (view.place + 1)
        start = sum(counts[: view.place])
        return base.slice_scatter(new, given["dim"], start, start + new.shape[given["dim"]])
    return getattr(functions, name + "_scatter")(base, new, *view.args)


def view_inverse__writes_into_the_base(base, view, new):
    if view.operator.schema.name == "expand":
        return base + sum_to(new - base, base.shape)
    view_forward(base, view).copy_(new)
    return base


def view_inverse__writes_into_a_copy(base, view, new):
    if view.operator.schema.name == "expand":
        gained = new - base
        while gained.dim() > base.dim():
            gained = gained.sum(0)
        for d, size in enumerate(base.shape):
            if size == 1 and gained.shape[d] != 1:
                gained = gained.sum(d, keepdim=True)
        return base + gained
    copy = base.clone()
    view_forward(copy, view).copy_(new)
    return copy


def view_inverse__reshapes_what_stays_as_it_is(base, view, new):
    if view.operator.schema.name in ("alias", "detach"):
        return new.reshape(base.shape)
    return inverse_as_torch_has_it(base, view, new)


def view_inverse__reshapes_where_a_dimension_of_size_1_goes(base, view, new):
    if view.operator.schema.name == "unsqueeze":
        return new.reshape(base.shape)
    return inverse_as_torch_has_it(base, view, new)


def view_inverse__sets_each_copy_of_expand(base, view, new):
    if view.operator.schema.name == "expand":
        while new.dim() > base.dim():
            new = new[-1]
        for d in range(base.dim()):
            new = new if new.shape[d] == base.shape[d] else new.narrow(d, new.shape[d] - 1, 1)
        return new
    copy = base.clone()
    view_forward(copy, view).copy_(new)
    return copy


def apply_update__from_the_first_to_the_last(base, new, views):
    for view in views:
        new = view_inverse(base, view, new)
        base = view_forward(base, view)
    return new


def apply_update__always_on_the_base(base, new, views):
    for view in reversed(views):
        new = view_inverse(base, view, new)
    return new


def softmax__overflows(self, dim, half_to_float):
    powers = functions.exp(self.to(float32) if self.dtype is float16 else self)
    return (powers / functions.sum(powers, [dim], True)).to(self.dtype)


def softmax__takes_off_the_largest_of_all(self, dim, half_to_float):
    x = self.to(float32) if self.dtype is float16 else self
    if x.numel():
        x = x - functions.amax(x, list(range(x.dim())), True)
    powers = functions.exp(x)
    return (powers / functions.sum(powers, [dim], True)).to(self.dtype)


def joint_forward_backward__gives_the_outputs_as_they_came(function, primals, tangents, needs_tangent):
    outs = function(*primals)
    wanted = [out for out, needs in zip(outs, needs_tangent) if needs]
    pairs = [(out, grad) for out, grad in zip(wanted, tangents) if isinstance(out, Tensor) and out.requires_grad]
    places = [i for i, x in enumerate(primals) if isinstance(x, Tensor) and x.requires_grad]
    grads = [None] * len(primals)
    if pairs and places:
        ends, given = zip(*pairs)
        found = engine.grad(ends, [primals[i] for i in places], given, allow_unused=True)
        for i, grad in zip(places, found):
            grads[i] = grad
    return outs, grads


def joint_forward_backward__with_a_tangent_for_every_output(function, primals, tangents, needs_tangent):
    outs = list(function(*primals))
    pairs = [(out, grad) for out, grad in zip(outs, tangents) if isinstance(out, Tensor) and out.requires_grad]
    places = [i for i, x in enumerate(primals) if isinstance(x, Tensor) and x.requires_grad]
    grads = [None] * len(primals)
    if pairs and places:
        found = engine.grad(
            [p[0] for p in pairs], [primals[i] for i in places], [p[1] for p in pairs], allow_unused=True
        )
        for i, grad in zip(places, found):
            grads[i] = grad
    return outs, grads


def joint_forward_backward__drops_what_needs_no_gradient(function, primals, tangents, needs_tangent):
    outs = list(function(*primals))
    wanted = [out for out, needs in zip(outs, needs_tangent) if needs]
    pairs = [(out, grad) for out, grad in zip(wanted, tangents) if isinstance(out, Tensor) and out.requires_grad]
    inputs = [x for x in primals if isinstance(x, Tensor) and x.requires_grad]
    if not pairs or not inputs:
        return outs, []
    return outs, list(engine.grad([p[0] for p in pairs], inputs, [p[1] for p in pairs], allow_unused=True))


def extract_graph__takes_all_that_the_inputs_allow(joint, inputs, outputs):
    graph, known = Graph(), {}
    for node in inputs:
        known[node] = graph.placeholder(node.name)
        known[node].meta = node.meta
    for node in joint.nodes:
        if node in known or node.op in ("output", "placeholder"):
            continue
        if all(used in known for used in node.all_input_nodes):
            known[node] = graph.node_copy(node, lambda used: known[used])
    assert all(not isinstance(x, Node) or x in known for x in outputs)
    graph.output(tuple(known[x] if isinstance(x, Node) else x for x in outputs))
    return graph


def extract_graph__returns_a_list(joint, inputs, outputs):
    graph, known = Graph(), {}
    for node in inputs:
        known[node] = graph.placeholder(node.name)
        known[node].meta = node.meta
    for node in joint.nodes:
        if node in known or node.op in ("output", "placeholder"):
            continue
        if all(used in known for used in node.all_input_nodes):
            known[node] = graph.node_copy(node, lambda used: known[used])
    assert all(not isinstance(x, Node) or x in known for x in outputs)
    graph.output([known[x] if isinstance(x, Node) else x for x in outputs])
    graph.eliminate_dead_code()
    return graph


def extract_graph__has_only_placeholders_that_are_used(joint, inputs, outputs):
    graph, known = Graph(), {}
    for node in inputs:
        known[node] = graph.placeholder(node.name)
        known[node].meta = node.meta
    for node in joint.nodes:
        if node in known or node in inputs or node.op in ("output", "placeholder"):
            continue
        if all(used in known for used in node.all_input_nodes):
            known[node] = graph.node_copy(node, lambda used: known[used])
    assert all(not isinstance(x, Node) or x in known for x in outputs)
    graph.output(tuple(known[x] if isinstance(x, Node) else x for x in outputs))
    graph.eliminate_dead_code()
    for node in [node for node in graph.nodes if node.op == "placeholder" and not node.users]:
        graph.erase_node(node)
    return graph


def may_recompute__by_the_list_alone(node, info):
    if node.op != "call_function":
        return node.op != "placeholder"
    return node.target is operator.getitem or is_view_node(node) or operator_name(node) in RECOMPUTABLE


def may_recompute__does_not_look_behind_views(node, info):
    if node.op != "call_function":
        return node.op != "placeholder"
    if node.target is operator.getitem or is_view_node(node):
        return True
    if operator_name(node) not in RECOMPUTABLE:
        return False
    if any(user not in info.required_fw and not is_fusible(node, user) for user in node.users):
        return False
    return size_of(node) * 4 >= sum(size_of(arg) for arg in node.args if isinstance(arg, Node))


def minimum_cut__next_to_the_source(capacities, source, sink):
    room = {source: {}, sink: {}}
    for (start, end), capacity in capacities.items():
        room.setdefault(start, {})[end] = capacity
        room.setdefault(end, {}).setdefault(start, 0)
    flow = 0
    while (path := find_path(room, source, sink)) is not None:
        least = min(room[start][end] for start, end in path)
        if least == math.inf:
            raise ValueError("unbounded")
        for start, end in path:
            room[start][end] -= least
            room[end][start] += least
        flow += least
    before, waiting = {source}, [source]
    for start in waiting:
        more = [end for end in room[start] if room[start][end] > 0 and end not in before]
        before.update(more)
        waiting += more
    return flow, before


def minimum_cut__never_sends_back(capacities, source, sink):
    room = {source: {}, sink: {}}
    for (start, end), capacity in capacities.items():
        room.setdefault(start, {})[end] = capacity
        room.setdefault(end, {}).setdefault(start, 0)
    flow = 0
    while (path := find_path(room, source, sink)) is not None:
        least = min(room[start][end] for start, end in path)
        if least == math.inf:
            raise ValueError("unbounded")
        for start, end in path:
            room[start][end] -= least
        flow += least
    behind, waiting = {sink}, [sink]
    for end in waiting:
        more = [start for start in room if room[start].get(end, 0) > 0 and start not in behind]
        behind.update(more)
        waiting += more
    return flow, set(room) - behind


def run_epilogue__returns_what_the_graph_returned(meta, args, outs):
    count = len(meta.mutated)
    for i, new in zip(meta.mutated, outs):
        info = meta.inputs[i]
        if info.mutates_metadata:
            with no_grad():
                args[i].as_strided_(info.sizes, info.strides, info.storage_offset)
        if info.mutates_data:
            (args[i].detach() if info.hidden else args[i]).copy_(new)
    return list(outs[count : count + len(meta.outputs)])


def run_epilogue__never_tells_autograd(meta, args, outs):
    count = len(meta.mutated)
    own, bases = outs[count : count + len(meta.outputs)], outs[count + len(meta.outputs) :]
    for i, new in zip(meta.mutated, outs):
        info = meta.inputs[i]
        with no_grad():
            if info.mutates_metadata:
                args[i].as_strided_(info.sizes, info.strides, info.storage_offset)
            if info.mutates_data:
                args[i].copy_(new)
    results = []
    for value, info in zip(own, meta.outputs):
        if info.output_type == "is_input":
            value = args[info.base_idx]
        elif info.output_type == "alias_of_input":
            value = view_of(args[info.base_idx], info)
        elif info.output_type == "alias_of_intermediate_base_is_user_output":
            value = view_of(own[info.base_idx], info)
        elif info.output_type.startswith("alias_of_intermediate"):
            value = view_of(bases[info.base_idx], info)
        results.append(value)
    return results


def apply_update__makes_the_last_view_too(base, new, views):
    chain = [base]
    for step in views:
        chain.append(view_forward(chain[-1], step))
    for i in reversed(range(len(views))):
        new = view_inverse(chain[i], views[i], new)
    return new


def may_recompute__all_inputs_count_once(node, info):
    if node.target is operator.getitem or is_view_node(node):
        return True
    if operator_name(node) not in RECOMPUTABLE:
        return False

    def needed_in_memory(used):
        for user in used.users:
            if user not in info.required_fw and not is_fusible(used, user):
                return True
            if is_view_node(user) and needed_in_memory(user):
                return True
        return False

    return not needed_in_memory(node) and size_of(node) * 4 >= sum(map(size_of, node.all_input_nodes))


def joint_forward_backward__differentiates_by_nothing(function, primals, tangents, needs_tangent):
    outs = list(function(*primals))
    wanted = zip([out for out, needs in zip(outs, needs_tangent) if needs], tangents)
    pairs = [pair for pair in wanted if isinstance(pair[0], Tensor) and pair[0].requires_grad]
    grads = {i: None for i, x in enumerate(primals) if isinstance(x, Tensor) and x.requires_grad}
    if pairs:
        found = engine.grad(
            [out for out, _ in pairs], [primals[i] for i in grads], [g for _, g in pairs], allow_unused=True
        )
        grads = dict(zip(grads, found))
    return outs, [grads.get(i) for i in range(len(primals))]


def captured_graphs__guards_on_the_decision(program):
    return {
        "example": ["1: sin mul, print", "1: add, return", "3: sin mul, print", "3: add, return"],
        "length": ["1: add, return", "4: mul add, return"],
        "number": ["1: mul, return", "3: mul, return"],
        "branch": ["1: sin sum gt, branch", "1: relu, return"],
        "item": ["1: exp max, item", "1: log mul, return", "3: log, return"],
        "inner": ["1: sin, print", "1: mul, print", "1: add, return", "1: cos, return"],
    }[program]


def captured_graphs__makes_no_number_a_symbol(program):
    return {
        "example": ["1: sin mul, print", "1: add, return", "3: sin mul, print", "3: add, return"],
        "length": ["1: add, return", "3: add, return", "4: mul add, return"],
        "number": ["1: mul, return", "3: mul, return", "4: mul, return"],
        "branch": ["1: sin sum gt, branch", "1: relu, return"],
        "item": ["1: exp max, item", "1: log mul, return", "3: log, return", "4: log, return"],
        "inner": ["1: sin, print", "1: mul, print", "1: add, return", "1: cos, return"],
    }[program]


def load_value__an_output_for_each_name(codegen, variable):
    """A tensor with two names is returned twice."""
    if isinstance(variable, TensorVariable) and variable.source is None:
        codegen.outputs.append(variable)
        return f"out[{len(codegen.outputs) - 1}]"
    if variable not in codegen.made:
        if variable.source is not None:
            return codegen.remember(variable, variable.source)
        codegen.made.setdefault(variable, variable.reconstruct(codegen))
    return codegen.made[variable]


def values_to_restore__all_variables(codegen, frame):
    return [*map(codegen, frame.stack)], {name: codegen(each) for name, each in frame.locals.items()}


def values_to_restore__variables_before_the_stack(codegen, frame):
    live = bytecode.live_names(frame.instructions, frame.index)
    kept = {name: codegen(each) for name, each in frame.locals.items() if name in live}
    return [*map(codegen, frame.stack)], kept


def values_to_restore__live_before_the_function(codegen, frame):
    live = bytecode.live_names(frame.instructions, 0)
    stack = [*map(codegen, frame.stack)]
    return stack, {name: codegen(each) for name, each in frame.locals.items() if name in live}


# Sentences that are easily passed over


def _copied(slot):
    return type(slot)(slot.__code__, slot.__globals__, slot.__name__, slot.__defaults__)


_view_inverse, _apply_update = _copied(rl.aot.functional.view_inverse), _copied(rl.aot.functional.apply_update)
_joint, _extract_graph = _copied(rl.aot.joint.joint_forward_backward), _copied(rl.aot.partition.extract_graph)


def view_inverse__leaves_out_a_permutation_that_changes_nothing(base, view, new):
    if view.operator.schema.name == "permute":
        dims = [dim % base.dim() for dim in arguments_of(view)["dims"]]
        if dims == sorted(dims):
            return new
    return _view_inverse(base, view, new)


def apply_update__takes_a_tuple_only(base, new, views):
    return _apply_update(base, new, views.__add__(()))


def joint_forward_backward__takes_a_list_of_primals_only(function, primals, tangents, needs_tangent):
    return _joint(function, primals.__add__([]), tangents, needs_tangent)


def joint_forward_backward__takes_a_list_of_tangents_only(function, primals, tangents, needs_tangent):
    return _joint(function, primals, tangents.__add__([]), needs_tangent)


def joint_forward_backward__takes_a_tuple_of_needs_only(function, primals, tangents, needs_tangent):
    return _joint(function, primals, tangents, needs_tangent.__add__(()))


def extract_graph__takes_a_list_of_inputs_only(joint, inputs, outputs):
    return _extract_graph(joint, inputs.__add__([]), outputs)


def extract_graph__takes_a_list_of_outputs_only(joint, inputs, outputs):
    return _extract_graph(joint, inputs, outputs.__add__([]))


def extract_graph__moves_the_meta(joint, inputs, outputs):
    graph = _extract_graph(joint, inputs, outputs)
    for node in inputs:
        node.meta = {}
    return graph


def extract_graph__raises_a_value_error(joint, inputs, outputs):
    try:
        return _extract_graph(joint, inputs, outputs)
    except AssertionError:
        raise ValueError("an output needs a placeholder that is not among the inputs") from None


_create_name = _copied(rl.fx.graph.create_name)


def create_name__takes_the_last_digit_for_the_number(namespace, candidate, obj):
    name = _create_name(namespace, candidate, obj)
    base, _, digits = name.rpartition("_")
    if base and digits.isdigit() and name == candidate:
        namespace._base_count[base] = int(digits[-1])
    return name


def _may_recompute_but(node, info, small=None, behind_views=None):
    if node.target is operator.getitem or is_view_node(node):
        return True
    if operator_name(node) not in RECOMPUTABLE:
        return False
    waiting = [node]
    for used in waiting:
        for user in used.users:
            forward = user in info.required_fw and (used is node or behind_views is None)
            if not forward and not is_fusible(used, user):
                return False
            waiting += [user] if is_view_node(user) else []
    arguments = [arg for arg in node.args if isinstance(arg, Node)]
    return small(node, arguments) if small else size_of(node) * 4 >= sum(map(size_of, arguments))


def may_recompute__users_of_views_in_the_forward_too(node, info):
    return _may_recompute_but(node, info, behind_views="any user")


def may_recompute__elements_instead_of_bytes(node, info):
    def elements(node):
        value = node.meta["val"]
        return sum(x.numel() for x in (value if isinstance(value, (list, tuple)) else [value]))

    return _may_recompute_but(node, info, lambda node, args: elements(node) * 4 >= sum(map(elements, args)))


def may_recompute__compares_with_each_argument(node, info):
    return _may_recompute_but(node, info, lambda node, args: all(size_of(node) * 4 >= size_of(arg) for arg in args))


def may_recompute__counts_an_argument_that_occurs_twice_once(node, info):
    return _may_recompute_but(node, info, lambda node, args: size_of(node) * 4 >= sum(map(size_of, {*args})))


_run_epilogue = _copied(rl.aot.runtime.run_epilogue)


def run_epilogue__takes_a_tuple_of_arguments_only(meta, args, outs):
    return _run_epilogue(meta, args + (), outs)


def run_epilogue__takes_a_list_of_arguments_only(meta, args, outs):
    return _run_epilogue(meta, args + [], outs)


def run_epilogue__takes_a_tuple_of_results_only(meta, args, outs):
    return _run_epilogue(meta, args, outs + ())


def run_epilogue__takes_a_list_of_results_only(meta, args, outs):
    return _run_epilogue(meta, args, outs + [])


def read_instructions__jumps_of_eight_bits(code):
    found = []
    for at, name, argument, target in READ_INSTRUCTIONS(code):
        if target is not None:
            target += 2 * (argument & ~255) * (1 if "BACKWARD" in name else -1)
        found.append((at, name, argument, target))
    return found


def read_instructions__one_after_another(code):
    yield from READ_INSTRUCTIONS(code)


def live_names__a_deletion_reads_nothing(instructions, start):
    plain = [dataclasses.replace(each, op="POP_TOP") if each.op == "DELETE_FAST" else each for each in instructions]
    return LIVE_NAMES(plain, start)


def live_names__cells_on_the_straight_path_only(instructions, start):
    cells = ("LOAD_CLOSURE", "LOAD_DEREF", "DELETE_DEREF")
    plain = [dataclasses.replace(each, op="POP_TOP") if each.op in cells else each for each in instructions]
    ends = (i for i, each in enumerate(instructions) if i >= start and each.op in bytecode.JUMPS | bytecode.ENDS)
    end = next(ends)
    return LIVE_NAMES([*instructions[:end], *plain[end:]], start)


def live_names__in_a_list(instructions, start):
    return [*LIVE_NAMES(instructions, start)]


def recompile_reasons__none_if_one_fits(entries, L):  # noqa: N803
    failing = [guards.failing_guard(entry.guards, entry.scope, L) for entry in entries]
    if None in failing:
        return []
    return [guards.explain_failure(guard, entry.scope, L) for guard, entry in zip(failing, entries)]


def recompile_reasons__up_to_the_one_that_fits(entries, L):  # noqa: N803
    reasons = []
    for entry in entries:
        guard = guards.failing_guard(entry.guards, entry.scope, L)
        if guard is None:
            break
        reasons.append(guards.explain_failure(guard, entry.scope, L))
    return reasons


_guards_for, _build_check, _binary_op = guards.guards_for, guards.build_check, symbolic.binary_op
_SET = "return [same_type, f\"{source} == {bind(scope, value.copy(), 'elements')}\"]"
_CODE = "return [f\"{source}.__code__ is {bind(scope, value.__code__, f'{value.__name__}_code')}\"]"
_EQUAL = 'return [same_type, f"{source} == {written}"]'
_KEYS = "f\"list({source}) == {bind(scope, list(value), 'keys')}\""
_SLICE = "if isinstance(value, (slice, rl.device)):"
_LAST_TENSOR_GUARD = 'f"{source}._strides == {value._strides}",'
_METHOD = "return [same_type, *guards_for(value.__func__"
_OBJECT = "    return [same_type]\n"
guards_for__the_same_function = edited(_guards_for, (_CODE, "return [f'{source} is {bind(scope, value)}']"))
guards_for__a_function_by_its_name = edited(
    _guards_for, (_CODE, "return [f'{source}.__qualname__ == {value.__qualname__!r}']")
)
guards_for__the_type_of_self = edited(
    _guards_for,
    (_METHOD, _METHOD.replace("*", "f'type({source}.__self__) is {bind(scope, type(value.__self__))}', *", 1)),
)
guards_for__the_elements_of_a_tensor = edited(
    _guards_for, (_LAST_TENSOR_GUARD, _LAST_TENSOR_GUARD + " f'{source}.tolist() == {value.tolist()}',")
)
guards_for__without_dispatch_keys = edited(_guards_for, ('f"{source}._key_set == {value._key_set:#x}",', ""))
guards_for__the_same_number = edited(_guards_for, (_EQUAL, "return [same_type, f'{source} is {bind(scope, value)}']"))
guards_for__numbers_as_they_are_printed = edited(
    _guards_for, (_EQUAL, "return [same_type, f'repr({source}) == {repr(value)!r}']")
)
guards_for__the_same_device = edited(
    _guards_for,
    (
        _SLICE,
        f"if isinstance(value, rl.device):\n        return [f'{{source}} is {{bind(scope, value)}}']\n    {_SLICE}",
    ),
)
guards_for__which_parts_of_a_slice_are_none = edited(
    _guards_for,
    (
        _SLICE,
        "if isinstance(value, slice):\n        parts = 'start', 'stop', 'step'\n        return [same_type, "
        f"*(f'({{source}}.{{part}} is None) is {{getattr(value, part) is None}}' for part in parts)]\n    {_SLICE}",
    ),
)
guards_for__keeps_the_list_itself = edited(
    _guards_for, ('f"len({source}) == {len(value)}"', "f'len({source}) == len({bind(scope, value)})'")
)
guards_for__keeps_the_dict_itself = edited(
    _guards_for, (_KEYS, _KEYS.replace("{bind(scope, list(value), 'keys')}", "list({bind(scope, value, 'keys')})"))
)
guards_for__looks_at_attributes = edited(
    _guards_for, (_OBJECT, "    return [same_type, f'vars({source}) == {bind(scope, dict(vars(value)))}']\n")
)
guards_for__the_types_of_elements = edited(
    _guards_for,
    (_SET, "return [same_type, f'{{(type(i), i) for i in {source}}} == {bind(scope, {(type(i), i) for i in value})}']"),
)
guards_for__the_order_of_elements = edited(
    _guards_for, (_SET, "return [same_type, f'list({source}) == {bind(scope, list(value))}']")
)
guards_for__looks_at_plain_sets_only = edited(
    _guards_for, ("if isinstance(value, (set, frozenset)):", "if type(value) in (set, frozenset):")
)
guards_for__a_member_by_its_value = edited(
    _guards_for,
    ("enum.Enum, rl.dtype)):", "rl.dtype)):"),
    (
        "    same_type =",
        "    if isinstance(value, enum.Enum):\n        return [f'{source}.value == {value.value!r}']\n    same_type =",
    ),
)
guards_for__a_class_by_its_name = edited(
    _guards_for,
    (
        "    if isinstance(value, (type,",
        "    if isinstance(value, type):\n        return [f'{source}.__name__ == {value.__name__!r}']\n"
        "    if isinstance(value, (type,",
    ),
)


def guards_for__with_the_source_of_the_example(value, source, scope):
    return GUARDS_FOR(value, "L['v']", scope)


def guards_for__one_after_another(value, source, scope):
    yield from GUARDS_FOR(value, source, scope)


_ERRORS = "(LookupError, AttributeError, TypeError)"
build_check__names_only_locals = edited(
    _build_check,
    ('source[len(known)] in ".["]', "source[len(known)] in '.[' and known.count('[') == 1 and '.' not in known]"),
)
build_check__lets_out_an_index_error = edited(_build_check, (_ERRORS, "(KeyError, AttributeError, TypeError)"))
build_check__passes_over_what_has_no_source = edited(
    _build_check,
    (
        "    for source, text in guards:\n",
        "    for source, text in guards:\n        if not source:\n            continue\n",
    ),
)
build_check__replaces_one_source_of_a_text = edited(
    _build_check, ("text.replace(source, names[source])", "text.replace(source, names[source], 1)")
)

_JOINED = "return TupleVariable(left.items + right.items)"
binary_op__two_tuples_make_a_list = edited(_binary_op, (_JOINED, _JOINED.replace("Tuple", "List")))
binary_op__a_sum_of_the_class_on_the_left = edited(
    _binary_op, (_JOINED, _JOINED.replace("items)", "items, cls=left.cls)"))
)
binary_op__plain_tuples_only = edited(
    _binary_op,
    ("TupleVariable(), TupleVariable() if", "TupleVariable(cls=a), TupleVariable(cls=b) if a is b is tuple and"),
)
binary_op__a_multiple_is_a_tuple = edited(
    _binary_op, ("return type(left)(left.items * right.value)", "return TupleVariable(left.items * right.value)")
)
binary_op__once_at_least = edited(_binary_op, ("left.items * right.value", "left.items * max(right.value, 1)"))
binary_op__nothing_new_if_nothing_is_added = edited(
    _binary_op,
    (
        "return ListVariable(left.items + right.items)",
        "return ListVariable(left.items + right.items) if right.items else left",
    ),
)


def how_to_call__folds_methods_of_known_classes(function):
    if getattr(function, "__self__", None) in calls.FOLDED_TYPES:
        return "fold"
    return HOW_TO_CALL(function)


def how_to_call__breaks_on_generators(function):
    if isinstance(function, types.FunctionType) and function.__code__.co_flags & inspect.CO_GENERATOR:
        return "break"
    return HOW_TO_CALL(function)


def truth__asks_the_object_for_its_methods(frame, value):
    if isinstance(value, UserDefinedObjectVariable) and value.real is not None:
        for name in "__bool__", "__len__":
            if hasattr(value.real, name):
                return symbolic.truth(frame, value.call_method(frame, name, [], {}))
        return True
    return TRUTH(frame, value)


def truth__of_the_object_itself(frame, value):
    if isinstance(value, UserDefinedObjectVariable) and value.real is not None:
        return bool(value.real)
    return TRUTH(frame, value)


_load_value = rl.dynamo.codegen.load_value
load_value__reads_the_source_late = edited(
    _load_value, ("return codegen.remember(variable, variable.source)", "return variable.source")
)
load_value__arguments_from_the_graph = edited(  # every tensor is an output
    _load_value,
    ("isinstance(variable, TensorVariable) and variable.source is None", "isinstance(variable, TensorVariable)"),
)
load_value__made_each_time = edited(  # two names of one list become two lists
    _load_value,
    (
        "    codegen.made.setdefault(variable, variable.reconstruct(codegen))\n",
        "    return variable.reconstruct(codegen)\n",
    ),
)
load_value__compares_the_variables = edited(_load_value, ("other.fake is variable.fake", "other is variable"))


def load_value__only_lists_and_dicts_once(codegen, variable):
    containers = isinstance(variable, (ListVariable, ConstDictVariable))
    if variable.source is None and not containers and not isinstance(variable, TensorVariable):
        return variable.reconstruct(codegen)
    return LOAD_VALUE(codegen, variable)


LOAD_VALUE = types.FunctionType(_load_value.__code__, _load_value.__globals__)
values_to_restore__live_after_the_instruction = edited(
    rl.dynamo.resume_execution.values_to_restore, ("frame.index)", "frame.index + 1)")
)
_update = rl.dynamo.side_effects.codegen_update_mutated
codegen_update_mutated__in_the_order_of_the_program = edited(
    _update,
    ("reversed(side_effects.written(variable).items())", "side_effects.written(variable).items()"),
    ("return statements[::-1]", "return statements"),
)
codegen_update_mutated__attributes_turned_around = edited(
    _update, ("reversed(side_effects.written(variable).items())", "side_effects.written(variable).items()")
)
codegen_update_mutated__new_objects = edited(  # the name in the frame gets a new list, and nobody else does
    _update, ("{codegen(variable)}[:] =", "{codegen(variable)} =")
)
codegen_update_mutated__always_cleared = edited(  # a dict that only grew loses its other items
    _update, ("if variable.should_reconstruct_all", "if True")
)
codegen_update_mutated__deletes_first = edited(
    _update,
    ("return statements[::-1]", "return sorted(statements[::-1], key=lambda each: not each.startswith('del '))"),
)
