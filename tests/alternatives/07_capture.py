"""Correct answers to lab 07 in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

import dis
import enum
import itertools
import math
import operator
import re
import types

import rushlight as rl
from rushlight.aot.functional import arguments_of, view_forward, view_inverse
from rushlight.aot.partition import RECOMPUTABLE, is_fusible, is_view_node, operator_name, size_of
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
    BaseUserFunctionVariable,
    ConstantVariable,
    ConstDictVariable,
    ExceptionVariable,
    GetAttrVariable,
    GradModeVariable,
    IteratorVariable,
    ListVariable,
    SetVariable,
    TensorVariable,
    TupleVariable,
    UserDefinedObjectVariable,
    UserMethodVariable,
)
from rushlight.fx.codegen import FORMATS, IN_PLACE, arguments, attribute_of, expression, qualified_name
from rushlight.fx.graph import Graph, is_reserved
from rushlight.fx.interpreter import Interpreter
from rushlight.fx.node import Node, immutable_dict, immutable_list, map_aggregate, map_arg
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
from rushlight.library import OpOverload, OpOverloadPacket

# ---- fx ------------------------------------------------------------------------------------------------------------


def create_name__by_looking_at_characters(namespace, candidate, obj):
    if obj is not None and obj in namespace._obj_to_name:
        return namespace._obj_to_name[obj]
    allowed = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
    cleaned, bad_before = "", False
    for character in candidate:
        if character in allowed:
            cleaned += character
        elif not bad_before:
            cleaned += "_"
        bad_before = character not in allowed
    if cleaned == "":
        cleaned = "_unnamed"
    if cleaned[0] in "0123456789":
        cleaned = "_" + cleaned
    base, underscore, digits = cleaned.rpartition("_")
    numbered = bool(underscore) and base != "" and digits.isdigit()
    if not numbered:
        base = cleaned
    free = cleaned not in namespace._used_names
    if numbered and free:
        number, name = int(digits), cleaned
    else:
        number, name = namespace._base_count.get(base, 0), cleaned
        if is_reserved(name, obj):
            number, name = number + 1, f"{base}_{number + 1}"
    while name in namespace._used_names:
        number += 1
        name = base + "_" + str(number)
    namespace._used_names |= {name}
    namespace._base_count.update({base: number})
    if obj is not None:
        namespace._obj_to_name.setdefault(obj, name)
    return name


def create_name__counting_with_itertools(namespace, candidate, obj):
    names, used, counts = namespace._obj_to_name, namespace._used_names, namespace._base_count
    if obj is None or obj not in names:
        text = re.sub(r"[^0-9a-zA-Z_]+", "_", candidate)
        text = "_unnamed" if not text else "_" * text[0].isdigit() + text
        found = re.match(r"^(.+)_([0-9]+)$", text)
        base, start = (found[1], int(found[2])) if found else (text, None)
        tries = [text]
        if start is None or text in used:
            start = counts.get(base, 0)
            if is_reserved(text, obj):
                tries, start = [], start + 1
                tries.append(f"{base}_{start}")
        numbers = itertools.chain([start], itertools.count(start + 1))
        spelled = itertools.chain(tries, (f"{base}_{n}" for n in itertools.count(start + 1)))
        name, counts[base] = next((name, n) for name, n in zip(spelled, numbers) if name not in used)
        used.add(name)
        if obj is None:
            return name
        names[obj] = name
    return names[obj]


def update_args_kwargs__collecting_first(node, args, kwargs):
    found = []
    new_args = map_arg(args, lambda used: found.append(used) or used)
    new_kwargs = map_arg(kwargs, lambda used: found.append(used) or used)
    for used in list(node._input_nodes):
        used.users.pop(node)
    node._args, node._kwargs = new_args, new_kwargs
    node._input_nodes = dict.fromkeys(found)
    for used in node._input_nodes:
        used.users[node] = None


def update_args_kwargs__walking_by_hand(node, args, kwargs):
    def frozen(arg):
        if isinstance(arg, (list, tuple)):
            items = [frozen(item) for item in arg]
            return tuple(items) if isinstance(arg, tuple) else immutable_list(items)
        if isinstance(arg, dict):
            return immutable_dict((key, frozen(item)) for key, item in arg.items())
        if isinstance(arg, slice):
            return slice(frozen(arg.start), frozen(arg.stop), frozen(arg.step))
        if isinstance(arg, Node):
            node._input_nodes.setdefault(arg, None)
        return arg

    for used in node._input_nodes:
        used.users.pop(node, None)
    node._input_nodes = {}
    node._args = frozen(tuple(args))
    node._kwargs = frozen(dict(kwargs))
    for used in node._input_nodes:
        used.users.setdefault(node)


def create_arg__by_kind(tracer, a):
    lower = tracer.create_arg
    match a:
        case Proxy():
            return a.node
        case _ if hasattr(type(a), "__fx_create_arg__"):
            return a.__fx_create_arg__(tracer)
        case tuple() if hasattr(type(a), "_fields"):
            return type(a)._make(map(lower, a))
        case tuple():
            return tuple(map(lower, a))
        case list():
            return list(map(lower, a))
        case dict():
            return dict(
                (key if isinstance(key, str) else dict_key(tracer, key), lower(item)) for key, item in a.items()
            )
        case slice():
            return slice(lower(a.start), lower(a.stop), lower(a.step))
        case range():
            return range(lower(a.start), lower(a.stop), lower(a.step))
    if not isinstance(a, BASE_TYPES):
        raise NotImplementedError(f"argument of type: {type(a)}")
    return a


def create_arg__values_before_keys(tracer, a):
    if isinstance(a, Proxy):
        return a.node
    if hasattr(a, "__fx_create_arg__"):
        return a.__fx_create_arg__(tracer)
    if isinstance(a, dict):
        made = {}
        for key, value in a.items():
            made[key if isinstance(key, str) else dict_key(tracer, key)] = tracer.create_arg(value)
        return made
    if isinstance(a, (tuple, list)):
        items = [tracer.create_arg(item) for item in a]
        kind = list if isinstance(a, list) else type(a)
        return kind(*items) if hasattr(a, "_fields") else kind(items)
    if isinstance(a, (slice, range)):
        return type(a)(*[tracer.create_arg(end) for end in (a.start, a.stop, a.step)])
    if isinstance(a, BASE_TYPES):
        return a
    raise NotImplementedError(f"argument of type: {type(a)}")


def create_arg__constants_first(tracer, a):
    if isinstance(a, BASE_TYPES):
        return a
    if isinstance(a, Proxy):
        return a.node
    if isinstance(a, dict):
        result = {}
        for key in a:
            held = key if isinstance(key, str) else dict_key(tracer, key)
            result[held] = tracer.create_arg(a[key])
        return result
    if isinstance(a, (list, tuple)):
        items = []
        for item in a:
            items.append(tracer.create_arg(item))
        if isinstance(a, list):
            return items
        return type(a)(*items) if hasattr(a, "_fields") else tuple(items)
    if type(a) in (slice, range):
        ends = [tracer.create_arg(end) for end in (a.start, a.stop, a.step)]
        return type(a)(*ends)
    own = getattr(a, "__fx_create_arg__", None)
    if own is None:
        raise NotImplementedError("argument of type: " + str(type(a)))
    return own(tracer)


def statement__one_branch_after_another(node, root, scope, note=""):
    args = [expression(arg, scope) for arg in node.args]
    if node.op == "output":
        return "return " + args[0]
    left = repr(node) + note + " = "
    if node.op == "get_attr":
        return left + attribute_of(root, node.target)
    if node.op == "call_module":
        return left + attribute_of(root, node.target) + "(" + arguments(node.args, node.kwargs, scope) + ")"
    if node.op == "call_method":
        return left + attribute_of(args[0], node.target) + "(" + arguments(node.args[1:], node.kwargs, scope) + ")"
    target = node.target
    if target is getattr and len(args) == 2 and isinstance(node.args[1], str) and node.args[1].isidentifier():
        return left + args[0] + "." + node.args[1]
    if getattr(target, "__module__", None) == "_operator" and target.__name__ in FORMATS:
        return left + FORMATS[target.__name__].format(*args)
    if getattr(target, "__module__", None) == "_operator" and target.__name__ in IN_PLACE:
        return IN_PLACE[target.__name__].format(*args) + ";  " + left + args[0]
    name = scope.add_global(qualified_name(target), target)
    return left + name + "(" + arguments(node.args, node.kwargs, scope) + ")"


def statement__by_what_is_called(node, root, scope, note=""):
    def called(function, args):
        return f"{function}({arguments(args, node.kwargs, scope)})"

    def of_operator(formats):
        return node.target.__module__ == "_operator" and formats.get(node.target.__name__)

    match node.op, node.target:
        case "output", _:
            return f"return {expression(node.args[0], scope)}"
        case "get_attr", path:
            right = attribute_of(root, path)
        case "call_module", path:
            right = called(attribute_of(root, path), node.args)
        case "call_method", name:
            right = called(attribute_of(expression(node.args[0], scope), name), node.args[1:])
        case _, function if written := of_operator(FORMATS):
            right = written.format(*(expression(arg, scope) for arg in node.args))
        case _, function if written := of_operator(IN_PLACE):
            operands = [expression(arg, scope) for arg in node.args]
            return f"{written.format(*operands)};  {node!r}{note} = {operands[0]}"
        case _, function:
            of, attribute, *_ = (*node.args, None, None)
            if function is getattr and len(node.args) == 2 and isinstance(attribute, str) and attribute.isidentifier():
                right = attribute_of(expression(of, scope), attribute)
            else:
                right = called(scope.add_global(qualified_name(function), function), node.args)
    return f"{node!r}{note} = {right}"


def run_node__looking_up_all_first(interpreter, node):
    missing = [used for used in node.all_input_nodes if used not in interpreter.env]
    if missing:
        raise RuntimeError(f"{node} uses {missing}, which have no value")
    args = map_arg(node.args, lambda used: interpreter.env[used])
    kwargs = map_arg(node.kwargs, lambda used: interpreter.env[used])
    run = getattr(interpreter, node.op)
    return run(node.target, args, kwargs)


def run_node__by_a_table(interpreter, node):
    methods = {
        "placeholder": interpreter.placeholder,
        "get_attr": interpreter.get_attr,
        "call_function": interpreter.call_function,
        "call_method": interpreter.call_method,
        "call_module": interpreter.call_module,
        "output": interpreter.output,
    }
    try:
        args, kwargs = map_arg((node.args, node.kwargs), interpreter.env.__getitem__)
    except KeyError as problem:
        raise RuntimeError(f"no value of {problem}") from problem
    return methods[node.op](node.target, args, kwargs)


def eliminate_dead_code__again_and_again(graph, is_impure_node=None):
    graph.lint()
    impure = Node.is_impure if is_impure_node is None else is_impure_node
    any_erased = False
    while True:
        dead = [node for node in graph.nodes if not node.users and not impure(node)]
        for node in dead:
            graph.erase_node(node)
        if not dead:
            return any_erased
        any_erased = True


def eliminate_dead_code__with_a_default(graph, is_impure_node=None):
    graph.lint()
    stays = is_impure_node or (lambda node: node.is_impure())
    dead = False
    for node in list(graph.nodes)[::-1]:
        if not node.users and not stays(node):
            graph.erase_node(node)
            dead = True
    return dead


def eliminate_dead_code__marking_what_lives(graph, is_impure_node=None):
    graph.lint()
    alive = set()
    for node in reversed(list(graph.nodes)):
        stays = is_impure_node(node) if is_impure_node is not None else node.is_impure()
        if stays or not alive.isdisjoint(node.users):
            alive.add(node)
    dead = [node for node in graph.nodes if node not in alive]
    for node in reversed(dead):
        graph.erase_node(node)
    return bool(dead)


def common_subexpressions__with_a_number_of_the_stretch(graph):
    copy, stands, first, stretch = Graph(), {}, {}, 0
    apart = share_memory_with_output(graph)
    for node in graph.nodes:
        stretch += 1 if is_mutation(node) else 0
        key = None
        if node.op.startswith("call") and node not in apart and not is_random(node):
            args = map_arg(node.args, lambda used: stands[used])
            kwargs = map_arg(node.kwargs, lambda used: stands[used])
            key = (stretch, node.op, node.target, fingerprint(args), fingerprint(kwargs))
        if key is not None and key in first:
            stands[node] = first[key]
            continue
        stands[node] = copy.node_copy(node, lambda used: stands[used])
        if key is not None:
            first[key] = stands[node]
    return copy


def common_subexpressions__searching_backwards(graph):
    new, copy_of, kept = Graph(), {}, share_memory_with_output(graph)
    candidates = []  # nodes of the new graph that may stand for others
    for node in graph.nodes:
        if is_mutation(node):
            candidates = []
        mergeable = node.op not in ("placeholder", "get_attr", "output") and not is_random(node) and node not in kept

        def what(n):
            return n.op, n.target, fingerprint(n.args), fingerprint(n.kwargs)

        made = new.node_copy(node, copy_of.get)
        same = [other for other in candidates if what(other) == what(made)] if mergeable else []
        if same:
            new.erase_node(made)
            new._graph_namespace._used_names.discard(made.name)
            copy_of[node] = same[0]
            continue
        copy_of[node] = made
        if mergeable:
            candidates.append(made)
    return new


def constant_fold__with_an_interpreter_of_its_own(module):
    unknown = object()
    interpreter = Interpreter(module, garbage_collect_values=False)
    values, found = interpreter.env, {}
    for node in module.graph.nodes:
        inputs = [values[used] for used in node.all_input_nodes]
        if node.op == "get_attr":
            values[node] = interpreter.run_node(node)
        elif any(value is unknown for value in inputs) or not has_tensor(inputs) or node.is_impure():
            values[node] = unknown
        else:
            values[node] = interpreter.run_node(node)
            if isinstance(values[node], Tensor):
                found[node] = values[node]
    for node in list(found):
        if any(values[user] is unknown for user in node.users):
            freeze(module, node, found[node])
    eliminate_dead_code(module.graph)
    module.recompile()


def constant_fold__freezing_from_the_end(module):
    known, interpreter = {}, Interpreter(module)
    for node in module.graph.nodes:
        if node.is_impure() or not set(node.all_input_nodes) <= known.keys():
            continue
        if node.op != "get_attr" and not has_tensor([known[used] for used in node.all_input_nodes]):
            continue
        interpreter.env = known
        known[node] = interpreter.run_node(node)
    for node in sorted(known, reverse=True):
        if node.op == "get_attr" or not isinstance(known[node], Tensor):
            continue
        if not set(node.users) <= known.keys():
            freeze(module, node, known[node])
    module.graph.eliminate_dead_code()
    module.recompile()


# ---- dynamo --------------------------------------------------------------------------------------------------------


def read_instructions__in_a_generator(code):
    def units():
        extra = 0
        place = iter(range(0, len(code.co_code), 2))
        for at in place:
            name = dis.opname[code.co_code[at]]
            value = extra << 8 | code.co_code[at + 1]
            if name == "EXTENDED_ARG":
                extra = value
                continue
            extra = 0
            skipped = bytecode.inline_caches(name)
            for _ in range(skipped):
                next(place)
            yield at, name, value, at + 2 + 2 * skipped, code.co_code[at]

    return [
        (
            at,
            name,
            value,
            (end - 2 * value if "BACKWARD" in name else end + 2 * value) if number in dis.hasjrel else None,
        )
        for at, name, value, end, number in units()
    ]


def read_instructions__asking_dis(code):
    found = []
    for each in dis.get_instructions(code):
        if each.opname == "EXTENDED_ARG":
            continue
        found.append((each.offset, each.opname, each.arg or 0, each.argval if each.opcode in dis.hasjrel else None))
    return found


def live_names__recursively(instructions, start):
    reads, visited, must = set(), set(), set()

    def walk(index, straight):
        if (index, straight) in visited:
            return
        visited.add((index, straight))
        while index < len(instructions):
            each = instructions[index]
            if each.op in bytecode.READS and each.arg not in must:
                reads.add(each.arg)
            if each.op in bytecode.WRITES and straight:
                must.add(each.arg)
            if each.handler:
                walk(each.handler[0], False)
            if each.op in bytecode.JUMPS:
                walk(each.arg, False)
                straight = False
            if each.op in bytecode.ENDS:
                return
            index += 1

    walk(start, True)
    return reads


def live_names__for_each_name(instructions, start):
    straight, index = [], start
    while True:
        straight.append(index)
        op = instructions[index].op
        if op in bytecode.JUMPS or op in bytecode.ENDS or index + 1 == len(instructions):
            break
        index += 1

    def ways(index):
        each = instructions[index]
        found = [each.handler[0]] if each.handler else []
        found += [each.arg] if each.op in bytecode.JUMPS else []
        return found + ([index + 1] if each.op not in bytecode.ENDS and index + 1 < len(instructions) else [])

    def is_read(name):
        here, roots = set(), []
        for index in straight:
            each = instructions[index]
            here.add(index)
            roots += [way for way in ways(index) if each is instructions[straight[-1]] or way != index + 1]
            if each.arg == name and each.op in bytecode.READS:
                return True
            if each.arg == name and each.op in bytecode.WRITES:
                roots = [
                    way
                    for at in here - {index}
                    for way in ways(at)
                    if instructions[at].handler and way == instructions[at].handler[0]
                ]
                break
        seen = set()
        while roots:
            index = roots.pop()
            if index not in seen:
                seen.add(index)
                if instructions[index].arg == name and instructions[index].op in bytecode.READS:
                    return True
                roots += ways(index)
        return False

    names = {each.arg for each in instructions if each.op in bytecode.READS}
    return {name for name in names if is_read(name)}


def guards_for__by_a_table_of_kinds(value, source, scope):
    def named(other):
        return guards.bind(scope, other, "wanted")

    def same_type():
        return f"type({source}) is {named(type(value))}"

    if any(value is each for each in (None, True, False, ...)) or isinstance(
        value, (type, types.ModuleType, types.BuiltinFunctionType, enum.Enum, rl.dtype)
    ):
        return [f"{source} is {named(value)}"]
    if isinstance(value, types.FunctionType):
        return [f"getattr({source}, '__code__', None) is {named(value.__code__)}"]
    if isinstance(value, rl.Tensor):
        facts = ("_key_set", "dtype", "requires_grad", "_sizes", "_strides")
        return [same_type()] + [f"{source}.{name} == {named(getattr(value, name))}" for name in facts]
    if isinstance(value, types.MethodType):
        return [same_type(), f"{source}.__func__.__code__ is {named(value.__func__.__code__)}"]
    if isinstance(value, (int, float, complex, str, bytes)):
        return [same_type(), f"{source} == {named(value)}" if value == value else f"not {source} == {source}"]
    if isinstance(value, range):
        parts = (value.start, value.stop, value.step)
        return [same_type(), f"({source}.start, {source}.stop, {source}.step) == {parts}"]
    if isinstance(value, (slice, rl.device)):
        return [same_type(), f"not {source} != {named(value)}"]
    if isinstance(value, (set, frozenset)):
        return [same_type(), f"{source} == {named(frozenset(value))}"]
    if isinstance(value, dict) and all(type(key) in guards.CONSTANTS for key in value):
        keys = [(type(key), key) for key in value]
        return [same_type(), f"[(type(key), key) for key in {source}] == {named(keys)}"]
    if isinstance(value, dict):
        same = named(operator.is_)
        return [same_type(), f"len({source}) == {len(value)}", f"all(map({same}, {source}, {named(list(value))}))"]
    if isinstance(value, (list, tuple)):
        return [same_type(), f"len({source}) == {len(value)}"]
    return [same_type()]


def guards_for__in_one_expression(value, source, scope):
    name = guards.bind(scope, guards_fit, "guards_fit")
    kept = value.copy() if isinstance(value, (set, frozenset)) else value
    if isinstance(value, rl.Tensor):
        kept = type(value), value._key_set, value.dtype, value.requires_grad, tuple(value._sizes), value._strides
    elif isinstance(value, dict):
        kept = type(value), list(value)
    elif isinstance(value, (list, tuple)):
        kept = type(value), len(value)
    return [
        f"{name}({source}, {guards.bind(scope, [kept], 'kept')}[0], {guards.bind(scope, [type(value)], 'kind')}[0])"
    ]


def guards_fit(value, kept, kind):
    plain = (type, types.ModuleType, types.BuiltinFunctionType, enum.Enum, rl.dtype)
    if type(value) is not kind:
        return False
    if issubclass(kind, rl.Tensor):
        return kept == (kind, value._key_set, value.dtype, value.requires_grad, tuple(value._sizes), value._strides)
    if issubclass(kind, dict):
        keys = list(value)
        if all(type(key) in guards.CONSTANTS for key in kept[1]):
            return keys == kept[1] and list(map(type, keys)) == list(map(type, kept[1]))
        return len(keys) == len(kept[1]) and all(key is known for key, known in zip(keys, kept[1]))
    if issubclass(kind, (list, tuple)):
        return kept == (kind, len(value))
    if issubclass(kind, plain) or kind in (bool, type(None), type(...)):
        return value is kept
    if kind is types.FunctionType:
        return value.__code__ is kept.__code__
    if kind is types.MethodType:
        return value.__func__.__code__ is kept.__func__.__code__
    if kind is range:
        return (value.start, value.stop, value.step) == (kept.start, kept.stop, kept.step)
    if issubclass(kind, (set, frozenset)) or kind in (int, float, complex, str, bytes, slice, rl.device):
        return value == kept or value != value and kept != kept
    return True


def build_check__as_a_closure(guards_, scope):
    checks, places = [], {}
    for guard in guards_:
        if guard.source and guard.source not in places:
            above = [known for known in places if guard.source.startswith(known) and guard.source[len(known)] in ".["]
            known = max(above, key=len, default=None)
            inside = f"values[{places[known]}]" + guard.source[len(known) :] if known else guard.source
            places[guard.source] = len(places)
            checks.append(("look", compile(inside, "<source>", "eval")))
        text = guard.text.replace(guard.source, f"values[{places[guard.source]}]") if guard.source else guard.text
        checks.append(("hold", compile(text, "<guard>", "eval")))

    def check(L):  # noqa: N803
        values, names = [], dict(scope)
        for kind, code in checks:
            try:
                value = eval(code, names, {"values": values, "L": L})
            except (LookupError, AttributeError, TypeError):
                return False
            if kind == "look":
                values.append(value)
            elif not value:
                return False
        return True

    check.source = "\n".join(guard.text for guard in guards_)
    return check


def build_check__nested_ifs(guards_, scope):
    lines, names, depth = ["def check(L):", "  try:"], {"": ""}, 2
    for source, text in guards_:
        pad = " " * 2 * depth
        if source and source not in names:
            above = max((n for n in names if n == "" or source.startswith((n + ".", n + "["))), key=len)
            names[source] = f"value_{len(names)}"
            lines.append(f"{pad}{names[source]} = {names[above]}{source[len(above) :]}")
        lines.append(f"{pad}if {text.replace(source, names[source]) if source else text}:")
        depth += 1
    lines += [
        " " * 2 * depth + "return True",
        "  except (LookupError, AttributeError, TypeError): pass",
        "  return False",
    ]
    space = {**scope}
    exec("\n".join(lines), space)
    check = space["check"]
    check.source = "\n".join(lines)
    return check


def build_check__run_in_the_scope_itself(guards_, scope):
    """Python's `exec` leaves `__builtins__` in the scope."""
    lines, names = [], {}
    for source, text in guards_:
        if source and source not in names:
            above = [name for name in names if source.startswith((f"{name}.", f"{name}["))]
            known = max(above, key=len, default=None)
            names[source] = f"at_{len(names)}"
            lines.append(f"{names[source]} = {source if known is None else names[known] + source[len(known) :]}")
        lines.append(f"if not ({text.replace(source, names[source]) if source else text}): return False")
    body = "\n        ".join([*lines, "return True"])
    source, made = f"def check(L):\n    try:\n        {body}\n", {}
    source += "    except (LookupError, AttributeError, TypeError):\n        return False\n"
    exec(source, scope, made)
    made["check"].source = source
    return made["check"]


def lookup__with_a_copy(entries, L):  # noqa: N803
    found = next((entry for entry in entries if entry.check(L)), None)
    if found is not None:
        entries.remove(found)
        entries[:] = [found, *entries]
    return found


def lookup__by_places(entries, L):  # noqa: N803
    for i in range(len(entries)):
        if entries[i].check(L):
            entries[: i + 1] = [entries[i]] + entries[:i]
            return entries[0]


def recompile_reasons__with_filter(entries, L):  # noqa: N803
    failing = [(guards.failing_guard(entry.guards, entry.scope, L), entry.scope) for entry in entries]
    return [guards.explain_failure(guard, scope, L) for guard, scope in failing if guard]


def recompile_reasons__as_a_generator(entries, L):  # noqa: N803
    def each():
        for entry in entries:
            if (guard := guards.failing_guard(entry.guards, entry.scope, L)) is not None:
                yield guards.explain_failure(guard, entry.scope, L)

    return list(each())


def how_to_call__as_one_expression(function):
    python = isinstance(function, types.FunctionType)
    builtin = isinstance(function, types.BuiltinFunctionType)
    folded = function in calls.FOLDED or function in calls.FOLDED_TYPES
    folded = (
        folded
        or builtin
        and (function.__module__ in calls.FOLDED_MODULES or isinstance(function.__self__, calls.FOLDED_TYPES))
    )
    return (
        "rule"
        if function in calls.BUILTINS
        else "break"
        if getattr(function, "_dynamo_disable", None)
        else "graph"
        if python and function.__module__ in calls.IN_GRAPH or isinstance(function, (OpOverload, OpOverloadPacket))
        else "inline"
        if python
        else "fold"
        if folded
        else "new"
        if isinstance(function, type) and not builtin
        else "break"
    )


def how_to_call__by_a_list_of_rules(function):
    is_python = isinstance(function, types.FunctionType)
    rules = [
        (lambda: function in calls.BUILTINS, "rule"),
        (lambda: bool(getattr(function, "_dynamo_disable", False)), "break"),
        (lambda: isinstance(function, OpOverload | OpOverloadPacket), "graph"),
        (lambda: is_python and function.__module__ in calls.IN_GRAPH, "graph"),
        (lambda: is_python, "inline"),
        (lambda: function in calls.FOLDED, "fold"),
        (lambda: any(function is each for each in calls.FOLDED_TYPES), "fold"),
        (
            lambda: isinstance(function, types.BuiltinFunctionType) and function.__module__ in calls.FOLDED_MODULES,
            "fold",
        ),
        (
            lambda: (
                isinstance(function, types.BuiltinFunctionType) and isinstance(function.__self__, calls.FOLDED_TYPES)
            ),
            "fold",
        ),
        (lambda: isinstance(function, types.BuiltinFunctionType), "break"),
        (lambda: isinstance(function, type), "new"),
    ]
    return next((word for fits, word in rules if fits()), "break")


def binary_op__with_match(frame, symbol, left, right):
    match symbol, left, right:
        case _, TensorVariable(), _:
            return calls.call_in_graph(frame, bytecode.OPERATORS[symbol], [left, right], {})
        case _, _, TensorVariable() if symbol in bytecode.MIRRORED:
            return calls.call_in_graph(frame, bytecode.OPERATORS[bytecode.MIRRORED[symbol]], [right, left], {})
        case _, _, TensorVariable():
            symbol = bytecode.PLAIN.get(symbol, symbol)
            return calls.call_in_graph(frame, bytecode.OPERATORS[symbol], [left, right], {})
        case "+=", ListVariable(), _:
            added = right.unpack_var_sequence(frame)
            frame.output.changed(left)
            left.items += added
            return left
        case "+", ListVariable(), ListVariable():
            return ListVariable([*left.items, *right.items])
        case (("+" | "+="), TupleVariable(), TupleVariable()) if rl.Size not in (left.cls, right.cls):
            return TupleVariable([*left.items, *right.items])
        case "*", ListVariable(items=items), ConstantVariable(value=int() as n):
            return ListVariable(items * n)
        case "*", ConstantVariable(value=int() as n), ListVariable(items=items):
            return ListVariable(n * items)
        case "*", TupleVariable(items=items, cls=cls), ConstantVariable(value=int() as n) if cls is not rl.Size:
            return TupleVariable(items * n)
        case "*", ConstantVariable(value=int() as n), TupleVariable(items=items, cls=cls) if cls is not rl.Size:
            return TupleVariable(n * items)
    return calls.fold(frame, bytecode.OPERATORS[symbol], [left, right])


def binary_op__known_values_first(frame, symbol, left, right):
    tensors = [isinstance(each, TensorVariable) for each in (left, right)]
    if tensors == [False, True]:
        symbol, turned = bytecode.MIRRORED.get(symbol, symbol), symbol in bytecode.MIRRORED
        left, right, tensors = (right, left, [True, False]) if turned else (left, right, tensors)
    if any(tensors):
        function = bytecode.OPERATORS[symbol if tensors[0] else bytecode.PLAIN.get(symbol, symbol)]
        return calls.call_in_graph(frame, function, [left, right], {})
    if symbol == "+=" and isinstance(left, ListVariable):
        added = [*right.unpack_var_sequence(frame)]
        frame.output.changed(left)
        left.items[len(left.items) :] = added
        return left
    for kind in (ListVariable, TupleVariable):
        mine, theirs = isinstance(left, kind), isinstance(right, kind)
        plain = all(each.cls is not rl.Size for each in (left, right) if isinstance(each, kind))
        if mine and theirs and plain and symbol in {"+", "+="}:
            return kind(left.items + right.items)
        several, count = (left, right) if mine else (right, left)
        if (
            mine != theirs
            and plain
            and symbol == "*"
            and isinstance(count, ConstantVariable)
            and isinstance(count.value, int)
        ):
            return kind([item for _ in range(count.value) for item in several.items])
    return calls.fold(frame, bytecode.OPERATORS[symbol], [left, right])


def load_value__place_by_place(codegen, variable):
    if isinstance(variable, ConstantVariable):
        text = variable.reconstruct(codegen)
    elif variable in codegen.made:
        text = codegen.made[variable]
    elif variable.source is not None:
        text = codegen.remember(variable, variable.source)
    elif isinstance(variable, TensorVariable):
        fakes = [id(known.fake) for known in codegen.outputs]
        if id(variable.fake) not in fakes:
            codegen.outputs.append(variable)
            fakes.append(id(variable.fake))
        text = f"out[{fakes.index(id(variable.fake))}]"
    else:
        text = variable.reconstruct(codegen)
        if variable in codegen.made:
            text = codegen.made[variable]
        codegen.made[variable] = text
    return text


def load_value__with_a_table_of_tensors(codegen, variable):
    source = getattr(variable, "source", None)
    match variable:
        case ConstantVariable():
            return variable.reconstruct(codegen)
        case TensorVariable(source=None):
            places = {id(each.fake): place for place, each in enumerate(codegen.outputs)}
            place = places.get(id(variable.fake), len(places))
            if place == len(places):
                codegen.outputs += [variable]
            return f"out[{place}]"
    try:
        return codegen.made[variable]
    except KeyError:
        if source:
            return codegen.remember(variable, source)
        return codegen.made.setdefault(variable, variable.reconstruct(codegen))


def values_to_restore__in_loops(codegen, frame):
    stack, kept = [], {}
    for variable in frame.stack:
        stack.append(codegen(variable))
    for name in frame.locals:
        if name in bytecode.live_names(frame.instructions, frame.index):
            kept[name] = codegen(frame.locals[name])
    return stack, kept


def values_to_restore__names_first(codegen, frame):
    needed = bytecode.live_names(frame.instructions, frame.index)
    names = [name for name in frame.locals if name in needed]
    texts = [*map(codegen, frame.stack + [frame.locals[name] for name in names])]
    depth = len(frame.stack)
    return texts[:depth], dict(zip(names, texts[depth:]))


def codegen_update_mutated__in_front(codegen, side_effects):
    statements = []
    for variable in side_effects.get_modified_vars():
        if isinstance(variable, ListVariable):
            target = codegen(variable)
            contents = codegen.name(variable.reconstruct_contents(codegen))
            statements = [f"{target}.clear()", f"{target}.extend({contents})", *statements]
        elif isinstance(variable, (ConstDictVariable, SetVariable)):
            contents = codegen.name(variable.reconstruct_contents(codegen))
            statements.insert(0, f"{codegen(variable)}.update({contents})")
            if variable.should_reconstruct_all:
                statements.insert(0, f"{codegen(variable)}.clear()")
        else:
            for name, value in [*side_effects.written(variable).items()][::-1]:
                statements.insert(0, variable.write_attribute(codegen, name, value))
    return statements


def codegen_update_mutated__by_objects(codegen, side_effects):
    def of_one(variable):
        if isinstance(variable, ListVariable):
            return [f"{codegen(variable)}[:] = {variable.reconstruct_contents(codegen)}"]
        if isinstance(variable, (ConstDictVariable, SetVariable)):
            target, new = codegen(variable), variable.reconstruct_contents(codegen)
            return [f"{target}.clear()"] * variable.should_reconstruct_all + [f"{target}.update({new})"]
        backwards = reversed([*side_effects.written(variable).items()])
        return [variable.write_attribute(codegen, *each) for each in backwards][::-1]

    found = [of_one(variable) for variable in side_effects.get_modified_vars()]
    return [statement for statements in reversed(found) for statement in statements]


def truth__by_a_table(frame, value):
    table = {
        ConstantVariable: lambda: bool(value.value),
        ListVariable: lambda: bool(value.items),
        TupleVariable: lambda: bool(value.items),
        ConstDictVariable: lambda: bool(value.items),
        SetVariable: lambda: bool(value.items),
        BaseUserFunctionVariable: lambda: True,
        UserMethodVariable: lambda: True,
        GetAttrVariable: lambda: True,
        ExceptionVariable: lambda: True,
        IteratorVariable: lambda: True,
        GradModeVariable: lambda: True,
    }
    known = next((answer for kind, answer in table.items() if isinstance(value, kind)), None)
    if known is not None:
        return known()
    if isinstance(value, UserDefinedObjectVariable):
        name = "__bool__" if hasattr(value.cls, "__bool__") else "__len__" if hasattr(value.cls, "__len__") else None
        return True if name is None else symbolic.truth(frame, value.call_method(frame, name, [], {}))
    raise Unsupported("Data-dependent branching" if isinstance(value, TensorVariable) else "a truth that is not known")


def truth__with_match(frame, value):
    match value:
        case ConstantVariable(value=known):
            return bool(known)
        case (
            ListVariable(items=items)
            | TupleVariable(items=items)
            | ConstDictVariable(items=items)
            | SetVariable(items=items)
        ):
            return bool(items)
        case (
            BaseUserFunctionVariable()
            | UserMethodVariable()
            | GetAttrVariable()
            | ExceptionVariable()
            | IteratorVariable()
            | GradModeVariable()
        ):
            return True
        case UserDefinedObjectVariable(cls=cls) if hasattr(cls, "__bool__"):
            return truth__with_match(frame, value.call_method(frame, "__bool__", [], {}))
        case UserDefinedObjectVariable(cls=cls) if hasattr(cls, "__len__"):
            return truth__with_match(frame, value.call_method(frame, "__len__", [], {}))
        case UserDefinedObjectVariable():
            return True
        case TensorVariable():
            raise Unsupported("Data-dependent branching")
        case _:
            raise Unsupported("truth")


def build_check__nested_source(guards, scope):
    names, body = {}, []

    def name_for(source):
        if source not in names:
            cuts = (i for i in range(len(source) - 1, 0, -1) if source[i] in ".[" and source[:i] in names)
            cut = next(cuts, 0)
            expr = names[source[:cut]] + source[cut:] if cut else source
            name = f"value_{len(names)}"
            while name in scope:
                name += "_"
            body.append(f"{name} = {expr}")
            names[source] = name
        return names[source]

    for guard in guards:
        text = guard.text.replace(guard.source, name_for(guard.source)) if guard.source else guard.text
        body.append(f"if not ({text}):\n            return False")
    lines = ["def check(L):", "    try:"] + [f"        {each}" for each in [*body, "return True"]]
    lines += ["    except (LookupError, AttributeError, TypeError):", "        return False"]
    space = {**scope}
    exec("\n".join(lines), space)
    function = space.pop("check")
    function.source = "\n".join(lines)
    return function


# ---- aot -----------------------------------------------------------------------------------------------------------


def record_call__with_map_aggregate(mode, func, args, kwargs):
    def shown(value):
        return mode.node_of(value) if isinstance(value, Tensor) else value

    def listed(value):
        return [listed(each) for each in value] if isinstance(value, (list, tuple)) else value

    node_args = map_aggregate(tuple(map(listed, args)), shown)
    node_kwargs = map_aggregate({name: listed(value) for name, value in kwargs.items()}, shown)
    node = mode.create_node(func, node_args, node_kwargs, name=func.schema.name)
    results = run_meta(func, args, kwargs)
    if isinstance(results, Tensor):
        mode.track(results, node)
        return results
    if isinstance(results, (tuple, list)):
        node.meta["val"] = tuple(results)
        for place in range(len(results)):
            part = mode.create_node(operator.getitem, (node, place), {}, "getitem")
            mode.track(results[place], part)
    return results


def record_call__runs_first(mode, func, args, kwargs):
    nodes = []
    for value in [*args, *kwargs.values()]:
        if isinstance(value, Tensor):
            nodes.append(mode.node_of(value))
        elif isinstance(value, (list, tuple)):
            nodes.append([mode.node_of(x) if isinstance(x, Tensor) else x for x in value])
        else:
            nodes.append(value)
    result = run_meta(func, args, kwargs)
    node = mode.create_node(func, tuple(nodes[: len(args)]), dict(zip(kwargs, nodes[len(args) :])), func.schema.name)
    if not isinstance(result, (list, tuple)):
        if isinstance(result, Tensor):
            mode.track(result, node)
    else:
        node.meta["val"] = result
        for pair in enumerate(result):
            mode.track(pair[1], mode.create_node(operator.getitem, (node, pair[0]), {}, "getitem"))
    return result


def view_inverse__by_a_table(base, view, new):
    given, n = arguments_of(view), base.dim()

    def put(start, count):
        return functions.slice_scatter(base, new, given["dim"], start, start + count, 1)

    def permuted():
        order = [0] * n
        for to, dim in enumerate(given["dims"]):
            order[dim] = to
        return functions.permute(new, order)

    def expanded():
        gained = new - base
        dims = [
            d for d in range(gained.dim()) if d < gained.dim() - n or base.shape[d - gained.dim()] < gained.shape[d]
        ]
        return sum_to(gained, base.shape) + base if dims else base + gained

    def unsqueezed():
        dims = given.get("dim", range(n))
        dims = range(n) if dims is None else [dims] if isinstance(dims, int) else dims
        result = new
        for d in sorted({d % n for d in dims} if n else ()):
            if base.shape[d] == 1:
                result = functions.unsqueeze(result, d)
        return result

    table = {
        "alias": lambda: new,
        "detach": lambda: new,
        "view": lambda: new.reshape(base.shape),
        "_reshape_alias": lambda: new.reshape(base.shape),
        "t": lambda: functions.t(new),
        "transpose": lambda: new.transpose(given["dim1"], given["dim0"]),
        "permute": permuted,
        "squeeze": unsqueezed,
        "unsqueeze": lambda: functions.squeeze(new, given["dim"]),
        "expand": expanded,
        "unbind": lambda: functions.select_scatter(base, new, given["dim"], view.place),
        "split": lambda: put(view.place * given["split_size"], new.shape[given["dim"]]),
        "split_with_sizes": lambda: put(sum(given["split_sizes"][: view.place]), given["split_sizes"][view.place]),
    }
    name = view.operator.schema.name
    return table[name]() if name in table else getattr(functions, f"{name}_scatter")(base, new, *view.args)


def view_inverse__one_condition_after_another(base, view, new):
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
        return new.squeeze(given["dim"] % new.dim())
    if name == "squeeze":
        dim = given.get("dim")
        dims = range(len(sizes)) if dim is None else [dim] if isinstance(dim, int) else dim
        among = {d % len(sizes) for d in dims} if sizes else ()
        for d, size in enumerate(sizes):
            if size == 1 and d in among:
                new = new.unsqueeze(d)
        return new
    if name == "expand":
        return base + sum_to(new - base, sizes)
    if name == "unbind":
        return base.select_scatter(new, given["dim"], view.place)
    if name.startswith("split"):
        counts = given.get("split_sizes") or [given["split_size"]] * (view.place + 1)
        start = sum(counts[: view.place])
        return base.slice_scatter(new, given["dim"], start, start + new.shape[given["dim"]])
    return getattr(functions, name + "_scatter")(base, new, *view.args)


def apply_update__recursively(base, new, views):
    def updated(tensor, steps):
        if not steps:
            return new
        first, *rest = steps
        return view_inverse(tensor, first, updated(view_forward(tensor, first), rest) if rest else new)

    return updated(base, list(views))


def apply_update__on_a_stack(base, new, views):
    if len(views) == 0:
        return new
    stack, now = [(base, views[0])], base
    for before, view in zip(views, views[1:]):
        now = view_forward(now, before)
        stack.append((now, view))
    while stack:
        tensor, view = stack.pop()
        new = view_inverse(tensor, view, new)
    return new


def softmax__with_keywords(self, dim, half_to_float):
    x = self
    if self.dtype == float16:
        x = x.to(dtype=float32)
    if 0 in x.shape:
        return functions.exp(x).to(self.dtype)
    e = x.sub(x.amax(dim=dim, keepdim=True)).exp()
    return functions.div(e, e.sum(dim=dim, keepdim=True)).to(self.dtype)


def softmax__always_in_float(self, dim, half_to_float):
    kind = self.dtype
    wide = self.to(float32) if kind.itemsize < 4 else self
    if not wide.numel():
        return (wide - wide).to(kind)
    wide = functions.exp(functions.sub(wide, functions.amax(wide, (dim,), True)))
    total = functions.sum(wide, (dim,), True)
    return functions.div(wide, total).to(kind)


def joint_forward_backward__one_by_one(function, primals, tangents, needs_tangent):
    outs, grads, left = [*function(*primals)], [], list(tangents)
    ends, starts = [], []
    for i in range(len(outs)):
        if needs_tangent[i]:
            tangent = left.pop(0)
            if getattr(outs[i], "requires_grad", False):
                ends.append(outs[i])
                starts.append(tangent)
    wanted = [p for p in primals if isinstance(p, Tensor) and p.requires_grad]
    found = iter(engine.grad(ends, wanted, starts, allow_unused=True)) if ends and wanted else None
    for p in primals:
        takes = found is not None and isinstance(p, Tensor) and p.requires_grad
        grads.append(next(found) if takes else None)
    return outs, grads


def joint_forward_backward__by_itertools(function, primals, tangents, needs_tangent):
    outs = list(function(*primals))
    pairs = list(zip(itertools.compress(outs, needs_tangent), tangents))
    pairs = [pair for pair in pairs if getattr(pair[0], "requires_grad", False)]
    flags = [isinstance(x, Tensor) and x.requires_grad for x in primals]
    if not pairs or not any(flags):
        return outs, [None for _ in primals]
    grads = engine.grad(
        outputs=[out for out, _ in pairs],
        inputs=list(itertools.compress(primals, flags)),
        grad_outputs=[tangent for _, tangent in pairs],
        allow_unused=True,
    )
    by_place = dict(zip([i for i, flag in enumerate(flags) if flag], grads))
    return outs, [by_place.get(i) for i in range(len(primals))]


def extract_graph__from_the_outputs_back(joint, inputs, outputs):
    inputs, outputs = list(inputs), list(outputs)
    needed, waiting = set(), [x for x in outputs if isinstance(x, Node)]
    while waiting:
        node = waiting.pop()
        if node in needed or node in inputs:
            continue
        if node.op == "placeholder":
            raise AssertionError(f"{node} is no input")
        needed.add(node)
        waiting.extend(node.all_input_nodes)
    graph, here = Graph(), {}
    for node in inputs:
        new = graph.placeholder(node.name)
        new.meta = node.meta
        here[node] = new
    for node in joint.nodes:
        if node in needed:
            here[node] = graph.node_copy(node, here.__getitem__)
    graph.output(tuple(here[x] if isinstance(x, Node) else x for x in outputs))
    return graph


def extract_graph__by_recursion(joint, inputs, outputs):
    def valid(node):
        if node in given:
            return True
        return node.op != "placeholder" and all(map(valid, node.all_input_nodes))

    def used(node):
        if node not in reached:
            reached.add(node)
            if node not in given:
                for each in node.all_input_nodes:
                    used(each)

    given, reached = set(inputs), set()
    for x in outputs:
        if isinstance(x, Node):
            assert valid(x), f"{x} cannot be computed"
            used(x)
    graph, env = Graph(), {}
    for x in inputs:
        env[x] = graph.create_node("placeholder", x.name)
        env[x].meta = x.meta
    for x in joint.nodes:
        if x in reached and x not in given:
            env[x] = graph.node_copy(x, lambda node: env[node])
    graph.output(tuple([env.get(x, x) if isinstance(x, Node) else x for x in outputs]))
    return graph


def may_recompute__with_any_and_recursion(node, info):
    def in_memory(of):
        for user in of.users:
            if user not in info.required_fw and not is_fusible(of, user):
                return True
            if is_view_node(user) and in_memory(user):
                return True
        return False

    if node.op == "placeholder":
        return False
    if node.target == operator.getitem or is_view_node(node):
        return True
    if operator_name(node) not in RECOMPUTABLE or in_memory(node):
        return False
    before = 0
    for arg in node.args:
        before += size_of(arg) if isinstance(arg, Node) else 0
    return not 4 * size_of(node) < before


def may_recompute__as_one_question(node, info):
    if node.op != "call_function":
        return False
    shown, queue = [], [node]
    for each in queue:
        shown += [(each, user) for user in each.users]
        queue += [user for user in each.users if is_view_node(user) and user not in queue]
    outside = [pair for pair in shown if pair[1] not in info.required_fw]
    arguments = sum(map(size_of, filter(lambda x: isinstance(x, Node), node.args)))
    return (node.target is operator.getitem or is_view_node(node)) or (
        operator_name(node) in RECOMPUTABLE
        and all(itertools.starmap(is_fusible, outside))
        and size_of(node) >= arguments / 4
    )


def minimum_cut__depth_first(capacities, source, sink):
    points = {source, sink} | {point for pair in capacities for point in pair}
    flow = dict.fromkeys(capacities, 0)

    def left(a, b):
        return capacities.get((a, b), 0) - flow.get((a, b), 0) + flow.get((b, a), 0)

    def path_from(point, seen):
        if point == sink:
            return []
        for other in sorted(points - seen):
            if left(point, other) > 0:
                seen.add(other)
                rest = path_from(other, seen)
                if rest is not None:
                    return [(point, other), *rest]
        return None

    unlimited = {source}
    for _ in points:
        unlimited |= {b for (a, b), width in capacities.items() if a in unlimited and width == math.inf}
    if sink in unlimited:
        raise ValueError("unbounded")
    total = 0
    while (path := path_from(source, {source})) is not None:
        least = min(left(a, b) for a, b in path)
        total += least
        for a, b in path:
            back = min(flow.get((b, a), 0), least)
            if back:
                flow[b, a] -= back
            if least > back:
                flow[a, b] += least - back
    behind = {sink}
    while True:
        more = {a for a in points - behind if any(left(a, b) > 0 for b in behind)}
        if not more:
            return total, points - behind
        behind |= more


def minimum_cut__push_relabel(capacities, source, sink):
    points = sorted({source, sink, *itertools.chain(*capacities)})
    finite = 1 + sum(width for width in capacities.values() if width != math.inf)
    room = {a: dict.fromkeys(points, 0) for a in points}
    for (a, b), width in capacities.items():
        room[a][b] += min(width, finite)
    start = {a: dict(row) for a, row in room.items()}
    height, excess = dict.fromkeys(points, 0), dict.fromkeys(points, 0)
    height[source] = len(points)

    def push(a, b, amount):
        room[a][b] -= amount
        room[b][a] += amount
        excess[a] -= amount
        excess[b] += amount

    for b in points:
        if b != source:
            push(source, b, room[source][b])
    active = [a for a in points if a not in (source, sink) and excess[a] > 0]
    while active:
        a = active[0]
        lower = [b for b in points if room[a][b] > 0 and height[b] == height[a] - 1]
        if lower:
            push(a, lower[0], min(excess[a], room[a][lower[0]]))
        else:
            height[a] = 1 + min(height[b] for b in points if room[a][b] > 0 and b != a)
        active = [a for a in points if a not in (source, sink) and excess[a] > 0]
    if excess[sink] >= finite:
        raise ValueError("there is no bound")
    behind, waiting = {sink}, [sink]
    while waiting:
        b = waiting.pop()
        found = [a for a in points if a not in behind and room[a][b] > 0]
        behind.update(found)
        waiting += found
    assert start is not room
    return excess[sink], set(points) - behind


def run_epilogue__by_iterators(meta, args, outs):
    values = iter(outs)
    for place in meta.mutated:
        info, new, target = meta.inputs[place], next(values), args[place]
        if info.mutates_metadata:
            with no_grad():
                target.as_strided_(info.sizes, info.strides, info.storage_offset)
        if not info.mutates_data:
            continue
        if info.hidden:
            target = target.detach()
        target.copy_(new)
    own = list(itertools.islice(values, len(meta.outputs)))
    bases = list(values)
    results = []
    for value, info in zip(own, meta.outputs):
        kind = info.output_type
        if kind == "is_input":
            results += [args[info.base_idx]]
        elif kind == "alias_of_input":
            results += [view_of(args[info.base_idx], info)]
        elif kind == "alias_of_intermediate_base_is_user_output":
            results += [view_of(own[info.base_idx], info)]
        elif kind.startswith("alias_of_intermediate"):
            results += [view_of(bases[info.base_idx], info)]
        else:
            results += [value]
    return results


def run_epilogue__with_a_table(meta, args, outs):
    k, n = len(meta.mutated), len(meta.outputs)
    for j in range(k):
        place = meta.mutated[j]
        x, info = args[place], meta.inputs[place]
        if info.mutates_metadata:
            with no_grad():
                x.as_strided_(info.sizes, info.strides, info.storage_offset)
        if info.mutates_data and info.hidden:
            x.detach().copy_(outs[j])
        elif info.mutates_data:
            x.copy_(outs[j])
    sources = {
        "alias_of_input": list(args),
        "alias_of_intermediate": outs[k + n :],
        "alias_of_intermediate_save_as_output": outs[k + n :],
        "alias_of_intermediate_base_is_user_output": outs[k : k + n],
    }

    def made(j):
        info = meta.outputs[j]
        if info.output_type == "is_input":
            return args[info.base_idx]
        if info.output_type not in sources:
            return outs[k + j]
        return view_of(sources[info.output_type][info.base_idx], info)

    return [made(j) for j in range(n)]


def may_recompute__edges_of_views(node, info):
    def edges(used):
        for user in used.users:
            yield used, user
            if is_view_node(user):
                yield from edges(user)

    free = is_view_node(node) or node.target is operator.getitem
    if free or operator_name(node) not in RECOMPUTABLE:
        return free
    if not all(user in info.required_fw or is_fusible(used, user) for used, user in edges(node)):
        return False
    return 4 * size_of(node) >= math.fsum(size_of(arg) for arg in node.args if isinstance(arg, Node))


def captured_graphs__by_match(program):
    match program:
        case "length":
            return ("1: add, return", "3: add, return", "4: mul add, return")
        case "number":
            return [f"{call}: mul, return" for call in (1, 3)]
        case "branch":
            return ["1: sin sum gt, branch", "1: relu, return"]
        case "item":
            return ["1: exp max, item", "1: log mul, return", "3: log, return"]
        case "inner":
            return ["1: sin, print", "1: mul, print", "1: add, return", "1: cos, return"]
        case _:
            return [f"{call}: {graph}" for call in (1, 3) for graph in ("sin mul, print", "add, return")]


def captured_graphs__from_tuples(program):
    graphs = {
        "example": [(1, "sin mul", "print"), (1, "add", "return"), (3, "sin mul", "print"), (3, "add", "return")],
        "length": [(1, "add", "return"), (3, "add", "return"), (4, "mul add", "return")],
        "number": [(1, "mul", "return"), (3, "mul", "return")],
        "branch": [(1, "sin sum gt", "branch"), (1, "relu", "return")],
        "item": [(1, "exp max", "item"), (1, "log mul", "return"), (3, "log", "return")],
        "inner": [(1, "sin", "print"), (1, "mul", "print"), (1, "add", "return"), (1, "cos", "return")],
    }
    return [f"{call}: {operators}, {end}" for call, operators, end in graphs[program]]


def may_recompute__fusible_with_the_node_itself(node, info):
    """After rule 2 the node is recomputable, and so are the views of it: `is_fusible` says the same of both."""
    if node.target is operator.getitem or is_view_node(node):
        return True
    if operator_name(node) not in RECOMPUTABLE:
        return False
    users = list(node.users)
    for user in users:
        users += user.users if is_view_node(user) else []
    if any(user not in info.required_fw and not is_fusible(node, user) for user in users):
        return False
    return size_of(node) * 4 >= sum(size_of(arg) for arg in node.args if isinstance(arg, Node))
