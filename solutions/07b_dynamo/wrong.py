"""Wrong answers to lab 07b that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import dis
import inspect
import types

import rushlight as rl
from rushlight.course import breaks
from rushlight.course.predictions import logged_by
from rushlight.dynamo import bytecode, calls, guards
from rushlight.dynamo.cache import lookup, recompile_reasons

from ..shared import copied, edited

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


lookup__exchanges_with_the_first = edited(
    lookup, ("entries.insert(0, entries.pop(index))", "entries[0], entries[index] = entries[index], entries[0]")
)


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


def how_to_call__folds_before_it_looks_for_a_rule(function):
    """`str` has a rule, and is among the types that are folded."""
    return "fold" if function in calls.FOLDED_TYPES else HOW_TO_CALL(function)


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


# Sentences that are easily passed over


def read_instructions__jumps_of_eight_bits(code):
    found = []
    for at, name, argument, target in READ_INSTRUCTIONS(code):
        if target is not None:
            target += 2 * (argument & ~255) * (1 if "BACKWARD" in name else -1)
        found.append((at, name, argument, target))
    return found


def read_instructions__one_after_another(code):
    yield from READ_INSTRUCTIONS(code)


def recompile_reasons__none_if_one_fits(entries, L):  # noqa: N803
    failing = [guards.failing_guard(entry.guards, entry.scope, L) for entry in entries]
    if None in failing:
        return []
    return [guards.explain_failure(guard, entry.scope, L) for guard, entry in zip(failing, entries)]


recompile_reasons__up_to_the_one_that_fits = edited(
    recompile_reasons,
    ("guard is not None", "guard is None"),
    (
        "reasons.append(guards.explain_failure(guard, entry.scope, L))",
        "break\n        reasons.append(guards.explain_failure(guard, entry.scope, L))",
    ),
)


_guards_for = guards.guards_for
_build_check = guards.build_check
_SET = "return [same_type, f\"{source} == {bind(scope, value.copy(), 'elements')}\"]"
_CODE = "return [f\"{source}.__code__ is {bind(scope, value.__code__, f'{value.__name__}_code')}\"]"
_EQUAL = 'return [same_type, f"{source} == {written}"]'
_KEYS = "f\"list({source}) == {bind(scope, list(value), 'keys')}\""
_SLICE = "if isinstance(value, slice):"
_LAST_TENSOR_GUARD = 'f"{source}._strides == {value._strides}",'
_METHOD = "return [same_type, *guards_for(value.__func__"
_OBJECT = "    return [same_type]\n"
guards_for__of_derived_classes_too = edited(
    _guards_for,
    (
        'same_type = f"type({source}) is {bind(scope, type(value))}"',
        'same_type = f"isinstance({source}, {bind(scope, type(value))})"',
    ),
)
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
guards_for__slices_that_are_equal = edited(
    _guards_for,
    (_SLICE, f"if isinstance(value, slice):\n        return [same_type, f'{{source}} == {{value}}']\n    {_SLICE}"),
)
guards_for__whatever_has_a_func = edited(_guards_for, ("isinstance(value, MethodType)", 'hasattr(value, "__func__")'))
guards_for__the_type_of_a_start_only = edited(
    _guards_for,
    (
        _SLICE,
        "if isinstance(value, slice):\n        kind = bind(scope, type(value.start))\n        "
        f"return [same_type, f'type({{source}}.start) is {{kind}}', f'{{source}} == {{value}}']\n    {_SLICE}",
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
guards_for__keeps_the_keys_of_the_dict_itself = edited(
    _guards_for,
    (_KEYS, _KEYS.replace("{bind(scope, list(value), 'keys')}", "list({bind(scope, value.keys(), 'keys')})")),
)
guards_for__the_set_of_keys_and_the_first_two = edited(
    _guards_for,
    (
        _KEYS,
        "f\"set({source}) == {bind(scope, set(value), 'keys')}\", "
        "f\"list({source})[:2] == {bind(scope, list(value)[:2], 'start')}\"",
    ),
)
guards_for__the_set_of_keys_and_both_ends = edited(
    _guards_for,
    (
        _KEYS,
        "f\"set({source}) == {bind(scope, set(value), 'keys')}\", "
        "f\"(list({source})[:1], list({source})[-1:]) == {bind(scope, (list(value)[:1], list(value)[-1:]), 'ends')}\"",
    ),
)
guards_for__the_set_of_the_types_of_keys = edited(
    _guards_for,
    (
        "f\"list(map(type, {source})) == {bind(scope, list(map(type, value)), 'types')}\"",
        "f\"set(map(type, {source})) == {bind(scope, set(map(type, value)), 'types')}\"",
    ),
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
_MADE = r'    source, space = "\n".join(lines), dict(scope)'
build_check__returns_the_value_of_the_last_text = edited(
    _build_check,
    (_MADE, f'    if guards:\n        lines[-1] = "    return " + lines[-5].strip()[8:-2]\n{_MADE}'),
)
build_check__replaces_one_source_of_a_text = edited(
    _build_check, ("text.replace(source, names[source])", "text.replace(source, names[source], 1)")
)


def how_to_call__folds_methods_of_known_classes(function):
    if getattr(function, "__self__", None) in calls.FOLDED_TYPES:
        return "fold"
    return HOW_TO_CALL(function)


def how_to_call__makes_nodes_of_classes(function):
    if function not in calls.BUILTINS and getattr(function, "__module__", None) in calls.IN_GRAPH:
        return "break" if getattr(function, "_dynamo_disable", False) else "graph"
    return HOW_TO_CALL(function)


def how_to_call__breaks_on_generators(function):
    if isinstance(function, types.FunctionType) and function.__code__.co_flags & inspect.CO_GENERATOR:
        return "break"
    return HOW_TO_CALL(function)


how_to_call__breaks_on_what_is_disabled_first = edited(
    calls.how_to_call,
    ("if function in BUILTINS:", 'if function in BUILTINS and not getattr(function, "_dynamo_disable", False):'),
)
how_to_call__calls_what_is_disabled_in_the_framework = edited(
    calls.how_to_call,
    (
        'if getattr(function, "_dynamo_disable", False):',
        'if getattr(function, "_dynamo_disable", False) and getattr(function, "__module__", "") not in IN_GRAPH:',
    ),
)


logged_by__where_the_text_is_made = edited(
    logged_by, ("_dynamo/symbolic_convert.py log_graph_break", "_dynamo/exc.py format_graph_break_message")
)
logged_by__where_the_entry_is_looked_up = edited(
    logged_by, ("guards.py get_and_maybe_log_recompilation_reasons", "convert_frame.py _compile")
)
logged_by__with_the_class = edited(
    logged_by, ("output_graph.py _create_proxy", "output_graph.py SubgraphTracer._create_proxy")
)
logged_by__without_the_folder = edited(
    logged_by, ("torch/fx/experimental/symbolic_shapes.py", "torch/_dynamo/symbolic_shapes.py")
)


build_check__of_no_value_first = edited(
    guards.build_check,
    ("for source, text in guards:", "for source, text in sorted(guards, key=lambda guard: guard.source != ''):"),
)
build_check__of_no_value_last = edited(
    guards.build_check,
    ("for source, text in guards:", "for source, text in sorted(guards, key=lambda guard: guard.source == ''):"),
)
read_instructions__none_for_the_offset_0 = edited(
    bytecode.read_instructions, ("(offset, name, argument, target)", "(offset, name, argument, target or None)")
)


# Halves of a rule that no case drew


read_instructions__a_jump_over_nothing_has_no_target = edited(
    rl.dynamo.bytecode.read_instructions, ("if number in dis.hasjrel:", "if argument and number in dis.hasjrel:")
)
guards_for__a_method_of_the_same_function = edited(
    _guards_for,
    (
        '*guards_for(value.__func__, f"{source}.__func__", scope)',
        'f"{source}.__func__ is {bind(scope, value.__func__)}"',
    ),
)
how_to_call__inlines_objects_that_can_be_called = edited(
    calls.how_to_call,
    (
        'else "break"',
        'else "inline" if isinstance(type(function).__call__, FunctionType) else "break"',
    ),
)
how_to_call__inlines_partial_functions = edited(
    calls.how_to_call, ('else "break"', 'else "inline" if hasattr(function, "func") else "break"')
)
how_to_call__folds_methods_of_folded_classes = edited(
    calls.how_to_call,
    ('else "break"', 'else "fold" if getattr(function, "__objclass__", None) in FOLDED_TYPES else "break"'),
)


# Cases

_breaks = copied(breaks.breaks_binary_op)


def breaks_binary_op__of_the_table():
    operations = (
        ("x", "*", "2"),
        ("2", "+", "x"),
        ("list", "+", "list"),
        ("list", "+=", "list"),
        ("tuple", "+", "tuple"),
    )
    return [{"left": left, "symbol": symbol, "right": right} for left, symbol, right in operations]


def breaks_binary_op__with_a_smaller_number():
    return [case | {"symbol": case["symbol"].replace("==", "<")} for case in _breaks()]


def breaks_binary_op__with_lists_of_the_function():
    return [case | {"left": case["left"].replace("argument list", "list")} for case in _breaks()]


def breaks_binary_op__without_words():
    return [case | {"right": case["right"].replace("word", "list")} for case in _breaks()]


def breaks_binary_op__with_operands_exchanged():
    return [case | {"left": case["right"], "right": case["left"]} for case in _breaks()]


def breaks_binary_op__with_plain_tuples():
    return [case | {"left": case["left"].replace("pair", "tuple")} for case in _breaks()]


def breaks_binary_op__as_expressions():
    return ["2 == x", "2 + x", "[1, 2] + (x, 1)"]


def breaks_binary_op__of_eight_cases():
    return [*_breaks(), {"left": "x", "symbol": "+", "right": "x"}]
