"""Guards: the conditions under which a captured graph is valid, as expressions that are checked before it runs again.

A value from before the capture has a *source*, the expression that finds it again: `L['x']` is a local, `G['alpha']` a global, and
`L['self']._modules['fc']` a part of another value. `guards_for` gives the conditions on a value at its source, and `build_check`
makes one Python function of all guards of a capture.

The guards are sufficient because a capture adds guards whenever it looks at a value from before (`VariableBuilder.wrap`), on all
that it can then learn from this value. So if all guards hold, the function takes the same branches and records the same
operations: a new capture would give the same graph.

In PyTorch: `torch/_dynamo/guards.py`, where the check is a tree in C++ (`torch/csrc/dynamo/guards.cpp`). Left out: guards on sizes
as symbols, on global state other than grad mode; keys of a dict that are tuples, which torch compares by value; a guard on a string
that contains its own source, such as "L['x']" at `L['x']`, never holds.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

import rushlight as rl
from rushlight.aten.strided import Tensor

WRITTEN = (int, float, complex, str, bytes)  # constants that are compared by value
CONSTANTS = (*WRITTEN, bool, type(None), type(Ellipsis))


class Guard(NamedTuple):
    """One condition: the source of the value that it is about, and an expression that contains this source."""

    source: str
    text: str


def bind(scope: dict[str, Any], value: Any, hint: str = "") -> str:
    """The name of a value in the scope of guards and generated code. A new name is made from `hint`."""
    for name, other in scope.items():
        if other is value:
            return name
    if isinstance(value, rl.dtype):
        hint = hint or str(value).rpartition(".")[2]
    stem = re.sub(r"\W+", "_", hint or getattr(value, "__name__", type(value).__name__)).lstrip("_") or "value"
    if stem[0].isdigit() or stem in ("L", "G"):
        stem = f"_{stem}"
    name, number = stem, 0
    while name in scope or name in RESERVED:
        number += 1
        name = f"{stem}_{number}"
    scope[name] = value
    return name


RESERVED = set(dir(__builtins__) if isinstance(__builtins__, ModuleType) else __builtins__) | {"L", "G", "out", "graph"}


def guards_for(value: Any, source: str, scope: dict[str, Any]) -> list[str]:
    """The conditions that the value at `source` must meet when a graph is used again: those that `value` meets now.

    All of them hold for another value exactly if torch, after it has captured a graph with `value`, uses this graph again for the
    other value. So they say nothing of the items of a container or the attributes of an object, which have sources and guards of
    their own. Copy what you keep: a list, a dict or a set may be changed after the call. The guards of a dict are those of a
    function that reads its keys or their number: if a function only reads single keys, as in `options["rate"]`, Dynamo guards only
    the class of the dict and the items that were read. Keys of a dict that are tensors are compared as the same objects.

    The result is a list of Python expressions in the order in which they are checked. They contain `source`, itself an expression,
    and may use names in `scope`: `bind(scope, value)` puts an object there and returns its name.

    The kinds of values are: a tensor, whose properties are `_key_set`, `dtype`, `requires_grad`, `_sizes` and `_strides`; the
    classes in `CONSTANTS`; lists, tuples, dicts, sets, frozensets and the classes derived from these; a `range` and a `slice`,
    whose numbers have no sources of their own; a Python function (`FunctionType`); a bound method (`MethodType`), whose `__func__`
    is the function; a class, a Python module, a builtin function, a member of an `enum.Enum`, a `rl.dtype` and a `rl.device`; and
    any other object. A value of another kind may have the same attributes: a `staticmethod` has a `__func__`, too.

    Four things are free. For a value of a class derived from one in `WRITTEN`, its own value may be compared, or only its class.
    A key of a class derived from one in `CONSTANTS` may be compared by its value, or as the same object. Other keys, such as
    tuples, may be compared by value, as in PyTorch, or as the same objects. Elements of a set that are of no class in `CONSTANTS`
    may be compared in any way, or not at all.

    A condition may be written in any way. For `source._sizes == (2, 3)`, and the like for the other properties of a tensor,
    `explain_failure` has PyTorch's message; for all others the message is the text itself.

    >>> scope = {}
    >>> guards = guards_for([1, 2], "L['v']", scope)
    >>> [all(eval(guard, scope, {"L": {"v": value}}) for guard in guards) for value in ([3, 4], [3], (1, 2))]
    [True, False, False]

    Source: `torch/_dynamo/guards.py`, `GuardBuilder`.
    """
    if isinstance(value, (type, ModuleType, BuiltinFunctionType, enum.Enum, rl.dtype)):
        return [f"{source} is {bind(scope, value)}"]
    if isinstance(value, FunctionType):
        return [f"{source}.__code__ is {bind(scope, value.__code__, f'{value.__name__}_code')}"]
    same_type = f"type({source}) is {bind(scope, type(value))}"
    if isinstance(value, Tensor):
        no_gradient = f"({source}._autograd is None or not {source}.requires_grad)"
        return [
            same_type,
            f"{source}._key_set == {value._key_set:#x}",
            f"{source}.dtype is {bind(scope, value.dtype)}",
            f"{source}.requires_grad" if value.requires_grad else no_gradient,
            f"{source}._sizes == {tuple(value._sizes)}",
            f"{source}._strides == {value._strides}",
        ]
    if isinstance(value, MethodType):
        return [same_type, *guards_for(value.__func__, f"{source}.__func__", scope)]
    if type(value) in WRITTEN:
        if value != value:
            return [same_type, f"{source} != {source}"]
        # Python has no literal for inf
        written = bind(scope, value, "constant") if type(value) in (float, complex) else repr(value)
        return [same_type, f"{source} == {written}"]
    if type(value) in CONSTANTS:
        return [f"{source} is {value}"]
    if isinstance(value, slice):
        parts = ((name, getattr(value, name)) for name in ("start", "stop", "step"))
        return [same_type, *(text for name, part in parts for text in guards_for(part, f"{source}.{name}", scope))]
    if isinstance(value, rl.device):
        return [same_type, f"{source} == {bind(scope, value)}"]
    if isinstance(value, range):
        return [same_type, f"{source}.__reduce__() == {bind(scope, value.__reduce__(), 'range_parts')}"]
    if isinstance(value, (set, frozenset)):
        return [same_type, f"{source} == {bind(scope, value.copy(), 'elements')}"]
    if isinstance(value, dict) and all(type(key) in CONSTANTS for key in value):
        same_keys = [same_type, f"list({source}) == {bind(scope, list(value), 'keys')}"]
        if all(type(key) is str for key in value):  # a string is equal to strings only
            return same_keys
        return [*same_keys, f"list(map(type, {source})) == {bind(scope, list(map(type, value)), 'types')}"]
    if isinstance(value, dict):
        return [same_type, f"list(map(id, {source})) == {list(map(id, value))}"]
    if isinstance(value, (list, tuple)):
        return [same_type, f"len({source}) == {len(value)}"]
    return [same_type]


def build_check(guards: list[Guard], scope: dict[str, Any]) -> Callable[[dict[str, Any]], bool]:
    """One function of all guards of a capture: `check(L)` says whether all of them hold for these locals.

    Its text, for a log, is kept as `check.source`, a string. A guard's `text` contains its `source`. A source may
    begin with the source of an earlier guard: `L['self']._modules['fc']` after `L['self']`. Each source is evaluated only once: its
    value gets a name that is not in `scope`, such as `_v0`: names in `scope` do not begin with `_v`. The name replaces the source
    in all texts about it, and at the beginning of longer sources. A source never occurs in a string of a text. The guards are
    checked in their order, and the first that fails ends the check.

    Args:
        guards: a list; the sources use `L`, the argument, and the names in `scope`. A guard with an empty source is about
            no value.
        scope: the names that sources may use beside `L`, with their values, which stay the same. No name is added to it or
            removed, except that `exec` may add `__builtins__`.

    Returns:
        the function. It returns True or False. A source that cannot be evaluated, because an attribute, a key or an index is
        missing or the value has another type (`AttributeError`, `LookupError`, `TypeError`), fails. These are the only errors that
        occur: a source has no names but `L` and those in `scope`. In PyTorch a guard that raises any error fails.

    >>> check = build_check([rl.dynamo.guards.Guard("L['x']", "L['x'] > 2")], {})
    >>> check({"x": 3}), check({"x": 1}), check({})
    (True, False, False)

    Source: `torch/_dynamo/guards.py`, `CheckFunctionManager`, `build_guard_function`.
    """
    names, lines = {}, ["def check(L):", "    try:", "        pass"]
    for source, text in guards:
        if source and source not in names:
            prefixes = [known for known in names if source.startswith(known) and source[len(known)] in ".["]
            longest = max(prefixes, key=len, default="")
            lines.append(f"        _v{len(names)} = {names.get(longest, '')}{source[len(longest) :]}")
            names[source] = f"_v{len(names)}"
        lines.append(f"        if not ({text.replace(source, names[source]) if source in names else text}):")
        lines.append("            return False")
    lines += ["    except (LookupError, AttributeError, TypeError):", "        return False", "    return True"]
    source, space = "\n".join(lines), dict(scope)
    exec(source, space)
    space["check"].source = source
    return space["check"]


def failing_guard(guards: list[Guard], scope: dict[str, Any], L: dict[str, Any]) -> Guard | None:
    """The first guard that does not hold for these locals; None if all do."""
    for guard in guards:
        try:
            if not eval(guard.text, scope, {"L": L}):
                return guard
        except (LookupError, AttributeError, TypeError):
            return guard
    return None


# Messages ------------------------------------------------------------------------------------------------------------


def explain_failure(guard: Guard, scope: dict[str, Any], L: dict[str, Any]) -> str:
    """Explain why this guard does not hold: PyTorch's message for a property of a tensor, else the text of the guard."""
    tensor = re.escape(guard.source)
    what = re.fullmatch(rf"{tensor}\.(_key_set|dtype|_sizes|_strides) (?:==|is) (.+)", guard.text)
    try:
        value = eval(guard.source, scope, {"L": L}) if guard.source else None
        expected = eval(what[2], scope) if what and isinstance(value, Tensor) else None
    except (LookupError, AttributeError, TypeError, SyntaxError, NameError):
        return guard.text
    source = re.sub(r"^L\['(\w+)'\]$", r"\1", guard.source)  # `x` for `L['x']`, as torch prints it
    head = f"tensor '{source}'"
    has_none = rf"\({tensor}\._autograd is None or not {tensor}\.requires_grad\)"
    if isinstance(value, Tensor) and re.fullmatch(
        rf"(not )?{tensor}\.requires_grad( (==|is) \w+)?|{has_none}", guard.text
    ):
        wanted = int(not value.requires_grad)  # because the guard does not hold
        return f"{head} requires_grad mismatch. expected requires_grad={wanted}"
    actual = getattr(value, what[1]) if expected is not None else None
    if not isinstance(actual, type(expected)) or expected == actual:
        return guard.text
    if what[1] == "_key_set":
        return f"{head} dispatch key set mismatch. expected {expected}, actual {actual}"
    if what[1] == "dtype":
        return f"{head} dtype mismatch. expected {expected.type_name}, actual {actual.type_name}"
    if len(expected) != len(actual):
        return f"{head} rank mismatch. expected {len(expected)}, actual {len(actual)}"
    index = next(i for i, (a, b) in enumerate(zip(expected, actual)) if a != b)
    word = {"_sizes": "size", "_strides": "stride"}[what[1]]
    return f"{head} {word} mismatch at index {index}. expected {expected[index]}, actual {actual[index]}"
