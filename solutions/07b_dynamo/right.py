"""Correct answers to lab 07b in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

import dis
import enum
import operator
import types

import rushlight as rl
from rushlight.dynamo import bytecode, cache, calls, guards
from rushlight.library import OpOverload, OpOverloadPacket

from ..shared import edited


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
    if isinstance(value, slice):
        parts = [(name, getattr(value, name)) for name in ("start", "stop", "step")]
        kinds = [f"type({source}.{name}) is {named(type(part))}" for name, part in parts]
        return [same_type(), *kinds, *(f"{source}.{name} == {part}" for name, part in parts)]
    if isinstance(value, rl.device):
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


def slice_parts(value):
    return value.start, value.stop, value.step


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
    if kind is slice:
        return [(type(part), part) for part in slice_parts(value)] == [(type(part), part) for part in slice_parts(kept)]
    if issubclass(kind, (set, frozenset)) or kind in (int, float, complex, str, bytes, rl.device):
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


def logged_by__by_match(line):
    match line:
        case "instruction" | "line":
            function = {"instruction": "step", "line": "starts_line"}[line]
            return f"torch/_dynamo/symbolic_convert.py {function}"
        case "break":
            return "torch/_dynamo/symbolic_convert.py log_graph_break"
        case "node":
            return "torch/_dynamo/output_graph.py _create_proxy"
        case "graph":
            return "torch/_dynamo/output_graph.py compile_and_call_fx_graph"
        case "guards" | "again":
            function = {"guards": "compile_check_fn", "again": "get_and_maybe_log_recompilation_reasons"}[line]
            return f"torch/_dynamo/guards.py {function}"
        case "size":
            return "torch/fx/experimental/symbolic_shapes.py create_symbol"
        case _:
            return "torch/_dynamo/convert_frame.py log_bytecode"


def logged_by__in_folders(line):
    folders = {
        "torch/_dynamo": {
            "convert_frame": {"example": "log_bytecode"},
            "symbolic_convert": {"instruction": "step", "line": "starts_line", "break": "log_graph_break"},
            "output_graph": {"node": "_create_proxy", "graph": "compile_and_call_fx_graph"},
            "guards": {"guards": "compile_check_fn", "again": "get_and_maybe_log_recompilation_reasons"},
        },
        "torch/fx/experimental": {"symbolic_shapes": {"size": "create_symbol"}},
    }
    for folder, files in folders.items():
        for file, functions in files.items():
            if line in functions:
                return f"{folder}/{file}.py {functions[line]}"


# Cases


def breaks_binary_op__as_a_text():
    text = """
    2 == x
    2 += x
    list_of_numbers += word
    argument_list += list
    pair += pair
    list + pair
    2 * pair
    """
    rows = [line.split() for line in text.strip().splitlines()]
    return [dict(zip(("left", "symbol", "right"), [part.replace("_", " ") for part in row])) for row in rows]


def breaks_binary_op__in_tuples():
    return (
        {"right": "tuple", "symbol": "*", "left": "2"},
        {"right": "tuple", "symbol": "+", "left": "argument list"},
        {"right": "tuple", "symbol": "+=", "left": "pair"},
        {"right": "tuple", "symbol": "+=", "left": "argument list"},
        {"right": "word", "symbol": "+=", "left": "list of numbers"},
        {"right": "x", "symbol": "+=", "left": "2"},
        {"right": "x", "symbol": "==", "left": "2"},
    )


read_instructions__in_a_tuple = edited(
    bytecode.read_instructions, ("return instructions", "return tuple(instructions)")
)


read_instructions__each_a_list = edited(
    bytecode.read_instructions, ("(offset, name, argument, target))", "[offset, name, argument, target])")
)


recompile_reasons__in_a_tuple = edited(cache.recompile_reasons, ("return reasons", "return tuple(reasons)"))
