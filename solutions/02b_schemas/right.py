"""Correct answers to lab 02b in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

import functools
import itertools
import re
from contextlib import ExitStack
from operator import attrgetter

import rushlight as rl
from rushlight.c10 import dispatch, schema
from rushlight.c10.dispatch import ABOVE_PYTHON, BIT, FUNCTIONALITIES, PYTHON, DispatchKey, excluding, local
from rushlight.c10.schema import (
    _SCHEMA,
    REQUIRED,
    FunctionSchema,
    explain_keywords,
    parse_argument,
    split_at_commas,
)
from rushlight.course import predictions

from ..shared import copied


class Unreadable(RuntimeError):
    """Another."""


# Schemas


def split_at_commas__by_a_stack_of_what_is_open(text):
    closing, opened, starts, ends = {"(": ")", "[": "]", "'": "'", '"': '"'}, [], [0], []
    for i, letter in enumerate(text):
        if opened and letter == opened[-1]:
            opened.pop()
        elif opened and opened[-1] in "'\"":
            continue
        elif letter in closing:
            opened.append(closing[letter])
        elif letter == "," and not opened:
            ends.append(i)
            starts.append(i + 1)
    parts = [text[start:end].strip() for start, end in zip(starts, [*ends, len(text)])]
    return parts if parts != [""] else []


def review_parse_argument__with_short_texts():
    return {"e": {"text": "1x"}, "d": None, "c": {"text": "int?x=None"}, "b": {"text": "int[1]x=7"}, "a": None}


def review_parse_argument__by_text():
    texts = dict(b="int[3] x=-1", c="bool x=False", e="(int x")
    return {letter: {"text": texts[letter]} if letter in texts else None for letter in "abcde"}


def parse_schema__in_steps(text, namespace="aten"):
    head = schema._SCHEMA.match(text)
    if not head:
        raise Unreadable(text)
    ns, name, overload = head["ns"], head["name"], head["overload"]
    if overload == "default":
        raise Unreadable("default")
    rest = head["rest"]
    arrow = rest.rfind("->")
    if arrow < 0:
        raise Unreadable("no arrow")
    before, after = rest[:arrow].strip(), rest[arrow + 2 :].strip()
    if before[-1:] != ")" or not after:
        raise Unreadable("no end")
    arguments, keyword, seen_default = (), False, False
    for part in schema.split_at_commas(before[:-1]):
        if part == "*":
            keyword = True
            continue
        argument = schema.parse_argument(part, keyword)
        if not argument.name or seen_default and not argument.has_default and not keyword:
            raise Unreadable(part)
        seen_default = seen_default or argument.has_default
        arguments += (argument,)
    if after[0] == "(":
        if after[-1] != ")":
            raise Unreadable("open")
        returns = [schema.parse_argument(part) for part in schema.split_at_commas(after[1:-1])]
    else:
        returns = [schema.parse_argument(after)]
    return FunctionSchema(ns if ns else namespace, name, overload or "", arguments, tuple(returns))


def parse_schema__with_an_iterator(text, namespace="aten"):
    declaration, arrow, returned = text.rpartition("->")
    head, opened, inside = declaration.strip().partition("(")
    if not (arrow and opened and inside.endswith(")") and returned.strip()):
        raise RuntimeError("not a schema")
    found = re.fullmatch(r"(?:(\w+)::)?([A-Za-z_]\w*)(?:\.(\w+))?", head.strip())
    if found is None or found[3] == "default":
        raise RuntimeError("not a name")
    parts = schema.split_at_commas(inside[:-1])
    positional = list(itertools.takewhile(lambda part: part != "*", parts))
    keyword = [part for part in parts[len(positional) :] if part != "*"]
    arguments = [*map(schema.parse_argument, positional), *(schema.parse_argument(part, True) for part in keyword)]
    first = arguments[: len(positional)]
    if any(a.has_default and not b.has_default for a, b in itertools.pairwise(first)):
        raise RuntimeError("a default before none")
    if "" in [argument.name for argument in arguments]:
        raise RuntimeError("no name")
    returned = returned.strip()
    several = returned.startswith("(")
    if several != returned.endswith(")") and several:
        raise RuntimeError("open")
    returns = schema.split_at_commas(returned[1:-1]) if several else [returned]
    return FunctionSchema(
        found[1] or namespace, found[2], found[3] or "", tuple(arguments), tuple(map(schema.parse_argument, returns))
    )


def bind__by_a_dict(schema, args, kwargs):
    positional = [argument.name for argument in schema.arguments if not argument.kwarg_only]
    if len(args) > len(positional):
        raise Unreadable("too many")
    given = dict(zip(positional, args))
    if given.keys() & kwargs.keys():
        raise Unreadable("twice")
    given |= kwargs
    values = {argument.name: argument.default for argument in schema.arguments}
    if given.keys() - values.keys():
        raise Unreadable("unknown")
    values |= given
    if any(value is REQUIRED for value in values.values()):
        raise Unreadable("missing")
    return list(values.values())


def bind__with_what_is_left(schema, args, kwargs):
    left, stack = dict(kwargs), ()
    for position, argument in enumerate(schema.arguments):
        if position < len(args):
            if argument.kwarg_only:
                raise RuntimeError("keyword only")
            stack += (args[position],)
        elif argument.name in left:
            stack += (left.pop(argument.name),)
        elif argument.default is not REQUIRED:
            stack += (argument.default,)
        else:
            raise RuntimeError(argument.name)
    if left or len(args) > len(schema.arguments):
        raise RuntimeError(left)
    return stack


# A call


def bind_kernel__always_in_a_closure(kernel, operator, key_set):
    def bound(*stack):
        first = [key_set] * kernel.with_key_set + [operator] * kernel.boxed
        if kernel.pythonic or kernel.boxed:
            args, kwargs = schema.unbind(operator.schema, stack)
            return schema.cast_returns(operator.schema, kernel.function(*first, *args, **kwargs))
        return kernel.function(*first, *stack)

    return bound


def bind_kernel__by_wrapping_again_and_again(kernel, operator, key_set):
    function = kernel.function
    if kernel.with_key_set:
        function = functools.partial(function, key_set)
    if kernel.boxed:
        function = functools.partial(function, operator)
    return Unboxed(function, operator.schema) if kernel.pythonic or kernel.boxed else function


class Unboxed:
    def __init__(self, function, schema):
        self.function, self.schema = function, schema

    def __call__(self, *stack):
        args, kwargs = schema.unbind(self.schema, stack)
        return schema.cast_returns(self.schema, self.function(*args, **kwargs))


# Modes


def call_mode__by_slicing_the_modes(operator, *args, **kwargs):
    modes, included, excluded = local.modes, local.included, local.excluded
    local.modes = modes[:-1]
    local.included = included if local.modes else included & ~PYTHON
    local.excluded = excluded | ABOVE_PYTHON
    try:
        answer = modes[-1].__torch_dispatch__(operator, (), args=args, kwargs=kwargs)
    finally:
        local.modes, local.included, local.excluded = modes, included, excluded
    if answer is NotImplemented:
        raise TypeError("refused")
    return answer


def call_mode__with_guards(operator, *args, **kwargs):
    *outer, mode = local.modes
    before = local.modes, local.included
    local.modes = outer
    if not outer:
        local.included ^= PYTHON
    try:
        with dispatch.excluding(sum(BIT[name] for name in FUNCTIONALITIES[FUNCTIONALITIES.index("Python") + 1 :])):
            if (answer := mode.__torch_dispatch__(operator, (), args, kwargs)) is NotImplemented:
                raise TypeError("refused")
            return answer
    finally:
        local.modes, local.included = before


# Autocast


def cached_cast__by_cases(dtype, value):
    match value:
        case list() | tuple():
            return tuple(cached_cast__by_cases(dtype, item) for item in value)
        case rl.Tensor() if rl.autocast_mode.is_eligible(value) and value.dtype is not dtype:
            return value.to(dtype)
        case _:
            return value


def cached_cast__by_map(dtype, value):
    if type(value) in (list, tuple):
        return list(map(functools.partial(cached_cast__by_map, dtype), value))
    if not rl.autocast_mode.is_eligible(value) or value.dtype == dtype:
        return value
    return value.to(dtype=dtype)


def promote_type__by_a_loop(stack):
    for value in stack:
        if isinstance(value, (list, tuple)):
            if promote_type__by_a_loop(value) is rl.float32:
                return rl.float32
        elif rl.autocast_mode.is_eligible(value) and value.dtype == rl.float32:
            return rl.float32
    return rl.get_autocast_dtype("cpu")


def promote_type__by_promotion(stack):
    dtypes = [tensor.dtype for tensor in dispatch.tensors_in(stack) if rl.autocast_mode.is_eligible(tensor)]
    return functools.reduce(rl.promote_types, dtypes, rl.get_autocast_dtype("cpu"))


def autocast_kernel__by_a_dict(operator, policy, *stack):
    types = {"fp32": lambda: rl.float32, "promote": lambda: rl.autocast_mode.promote_type(stack)}
    with dispatch.excluding(dispatch.bits(DispatchKey.AutocastCPU)):
        wanted = types.get(policy, lambda: rl.get_autocast_dtype("cpu"))()
        return rl.library.invoke(operator, *(rl.autocast_mode.cached_cast(wanted, value) for value in stack))


def autocast_kernel__by_calling_the_dispatcher(operator, policy, *stack):
    before = local.excluded
    local.excluded |= BIT["AutocastCPU"]
    try:
        lower = rl.get_autocast_dtype("cpu")
        wanted = lower if policy == "lower_precision_fp" else rl.float32
        if policy == "promote":
            wanted = rl.autocast_mode.promote_type(stack)
        return dispatch.call(operator, *rl.autocast_mode.cached_cast(wanted, stack))
    finally:
        local.excluded = before


def fail(problem):
    raise RuntimeError(problem)


def parse_schema__two_halves(text, namespace="aten"):
    head = _SCHEMA.match(text) or fail(f"{text!r} has no name")
    namespace_there, name, overload, rest = head.group("ns", "name", "overload", "rest")
    arrow = rest.rfind("->")
    inside, returned = rest[: max(arrow, 0)].rstrip(), rest[arrow + 2 :].strip()
    if arrow < 0 or inside[-1:] != ")" or not returned or (returned[0] == "(" and returned[-1] != ")"):
        fail(f"{text!r} has no arguments in parentheses, or no returns after an arrow")
    if overload == "default":
        fail(f"{text!r}: `default` is not a name for an overload")
    parts = split_at_commas(inside[:-1])
    stars = [place for place, part in enumerate(parts) if part == "*"]
    border = min(stars, default=len(parts))
    positional = [parse_argument(part) for part in parts[:border]]
    by_keyword = [parse_argument(part, True) for part in parts[border:] if part != "*"]
    for before, after in zip(positional, positional[1:]):
        if before.default is not REQUIRED and after.default is REQUIRED:
            fail(f"{text!r}: {after.name!r} needs a default, since {before.name!r} has one")
    if "" in map(attrgetter("name"), positional + by_keyword):
        fail(f"{text!r}: an argument without a name")
    returns = split_at_commas(returned[1:-1]) if returned[0] == "(" else [returned]
    names = namespace_there or namespace, name, overload or ""
    return FunctionSchema(*names, (*positional, *by_keyword), tuple(parse_argument(each) for each in returns))


def split_at_commas__tokens(text):
    parts, depth = [[]], 0
    for token in re.findall(r"""'[^']*'?|"[^"]*"?|[^'"]""", text):
        if token == "," and not depth:
            parts.append([])
            continue
        depth += (token in ("(", "[")) - (token in (")", "]"))
        parts[-1].append(token)
    parts = ["".join(part).strip() for part in parts]
    return parts if parts != [""] else []


def bind__by_name(schema, args, kwargs):
    if len(schema.positional) < len(args):
        raise RuntimeError(f"{schema.full_name} takes {len(schema.positional)} arguments by position, not {len(args)}")
    names = [argument.name for argument in schema.arguments]
    values = {argument.name: argument.default for argument in schema.arguments if argument.has_default}
    by_position = dict(zip(names, args))
    if by_position.keys() & kwargs.keys() or kwargs.keys() - set(names):
        raise RuntimeError(explain_keywords(schema, args, kwargs))
    values |= by_position
    values |= kwargs
    if missing := [name for name in names if name not in values]:
        raise RuntimeError(f"{schema.full_name} needs {', '.join(missing)}")
    return [values[name] for name in names]


def call_mode__callbacks(operator, *args, **kwargs):
    with ExitStack() as restore:
        restore.callback(setattr, local, "included", local.included)
        mode = local.modes.pop()
        restore.callback(local.modes.append, mode)
        if len(local.modes) == 0:
            local.included &= ~PYTHON
        restore.enter_context(excluding(ABOVE_PYTHON))
        result = mode.__torch_dispatch__(operator, (), args, kwargs)
    if result is not NotImplemented:
        return result
    raise TypeError(f"{mode!r} does not implement {operator.full_name}")


_kernels_run = copied(predictions.kernels_run)


def kernels_run__with_a_second_draw():
    right = _kernels_run()
    return {"h": [], "g": [], "f": [], "e": []} | {key: right[key] for key in reversed(right)}


def kernels_run__in_tuples():
    right = _kernels_run()
    return {key: value if key == "name" else tuple(value) for key, value in right.items()}


# Cases


def breaks_unbind__of_short_calls():
    rows = [
        (["bool flag=False", "int[] dims=[0, 1]", "*", "int a"], ["False", "[0, 1]", "1"]),
        (["int b=2", "bool flag=False"], ["2", "True"]),
        (["int? m", "int a", "*", "Scalar s=1", "int c=2", "int b=2"], ["1", "1", "True", "3", "3"]),
        (["int? m", "*", "int c=2", "int a"], ["None", "2", "1"]),
    ]
    return [{"arguments": arguments, "stack": stack} for arguments, stack in rows]


def breaks_unbind__of_long_calls():
    return (
        {
            "arguments": ["int? m", "int? n=None", "int c=2", "*", "int a", "bool flag=False"],
            "stack": ["None", "None", "2", "3", "True"],
        },
        {
            "arguments": ["int b=2", "int? n=None", "int[] dims=[0, 1]", "bool flag=False"],
            "stack": ["2", "1", "[0, 1]", "False"],
        },
        {"arguments": ["int a", "*", "str mode='sum'", "Scalar s=1", "int? m"], "stack": ["2", "'sum'", "1.0", "1"]},
    )
