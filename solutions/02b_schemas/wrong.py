"""Wrong answers to lab 02b that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import functools
import inspect
import re
from functools import partial

import rushlight as rl
from rushlight.amp import autocast_mode
from rushlight.amp.autocast_mode import cached_cast, get_autocast_dtype, is_eligible, promote_type
from rushlight.c10 import dispatch, schema
from rushlight.c10.dispatch import (
    ABOVE_PYTHON,
    BIT,
    PYTHON,
    dispatch_key_set,
    excluding,
    local,
    redispatch,
    skip_fallthrough,
)
from rushlight.c10.dtypes import float32
from rushlight.c10.schema import (
    _SCHEMA,
    REQUIRED,
    FunctionSchema,
    cast_returns,
    explain_keywords,
    parse_argument,
    split_at_commas,
    unbind,
)
from rushlight.course import breaks, predictions, reviews
from rushlight.library import invoke

from ..shared import copied, edited


def split_at_commas__splits_everywhere(text):
    return [part.strip() for part in text.split(",")] if text.strip() else []


def split_at_commas__knows_no_quotes(text):
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts] if text.strip() else []


def split_at_commas__knows_one_kind_of_quotes(text):
    parts, depth, quoted = [""], 0, False
    for letter in text:
        quoted ^= letter == '"'
        depth += 0 if quoted else (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0 and not quoted:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts] if text.strip() else []


def split_at_commas__nothing_is_one_empty_part(text):
    return split_at_commas__knows_no_quotes(text) or [""]


_review = reviews.review_parse_argument()


def review_parse_argument__accepts_all():
    return dict.fromkeys("abcde")


def review_parse_argument__refuses_all_by_one_text():
    return dict.fromkeys("abcde", {"text": "int[2] x=0"})


def review_parse_argument__refuses_what_is_right():
    return _review | {"a": {"text": "int x="}, "d": {"text": "Tensor"}}


def review_parse_argument__accepts_what_matches_later():
    return _review | {"e": None, "c": {"text": "int x=1"}}


def review_parse_argument__with_a_long_text():
    return _review | {"b": {"text": "int[2] stride=1"}, "c": {"text": "Tensor? bias=None"}}


def review_parse_argument__by_texts_alone():
    return {letter: case and case["text"] for letter, case in _review.items()}


def review_parse_argument__as_a_list():
    return [*_review.values()]


def parse_schema__knows_no_keyword_only_arguments(text, namespace="aten"):
    return parsed(text, namespace, lambda parts: [schema.parse_argument(part) for part in parts if part != "*"])


def parse_schema__the_star_is_for_the_next_argument_only(text, namespace="aten"):
    def arguments(parts):
        pairs = zip([None, *parts], parts)
        return [schema.parse_argument(part, before == "*") for before, part in pairs if part != "*"]

    return parsed(text, namespace, arguments)


def parse_schema__takes_any_order_of_defaults(text, namespace="aten"):
    def arguments(parts):
        star = parts.index("*") if "*" in parts else len(parts)
        return [schema.parse_argument(part, i > star) for i, part in enumerate(parts) if part != "*"]

    return parsed(text, namespace, arguments)


def parsed(text, namespace, arguments_of):
    head = schema._SCHEMA.match(text)
    if head is None or head["overload"] == "default" or "->" not in text:
        raise RuntimeError(text)
    inside, _, returned = head["rest"].rpartition("->")
    returned = returned.strip()
    arguments = arguments_of(schema.split_at_commas(inside.rstrip()[:-1]))
    if not all(argument.name for argument in arguments):
        raise RuntimeError(text)
    returns = schema.split_at_commas(returned[1:-1]) if returned.startswith("(") else [returned]
    returns = tuple(schema.parse_argument(part) for part in returns)
    return FunctionSchema(head["ns"] or namespace, head["name"], head["overload"] or "", tuple(arguments), returns)


def bind__ignores_unknown_keywords(schema, args, kwargs):
    if len(args) > len(schema.positional):
        raise RuntimeError("too many")
    rest = schema.arguments[len(args) :]
    if any(not argument.has_default and argument.name not in kwargs for argument in rest):
        raise RuntimeError("missing")
    return [*args, *(kwargs.get(argument.name, argument.default) for argument in rest)]


def bind__raises_what_python_raises(schema, args, kwargs):
    positional = [argument.name for argument in schema.positional]
    given = dict(zip(positional, args))
    values = {argument.name: argument.default for argument in schema.arguments} | given | kwargs
    if len(args) > len(positional) or given.keys() & kwargs.keys() or len(values) > len(schema.arguments):
        raise TypeError("unexpected argument")
    if any(value is rl.schema.REQUIRED for value in values.values()):
        raise TypeError("missing argument")
    return list(values.values())


def bind__takes_keyword_only_arguments_by_position(schema, args, kwargs):
    names = [argument.name for argument in schema.arguments]
    given = dict(zip(names, args))
    if len(args) > len(names) or given.keys() & kwargs.keys() or kwargs.keys() - set(names):
        raise RuntimeError("refused")
    given |= kwargs
    stack = [given.get(argument.name, argument.default) for argument in schema.arguments]
    if any(value is rl.schema.REQUIRED for value in stack):
        raise RuntimeError("missing")
    return stack


def bind_kernel__the_operator_comes_first(kernel, operator, key_set):
    def bound(*stack):
        before = [operator] * kernel.boxed + [key_set] * kernel.with_key_set
        if not (kernel.boxed or kernel.pythonic):
            return kernel.function(*before, *stack)
        args, kwargs = schema.unbind(operator.schema, stack)
        return schema.cast_returns(operator.schema, kernel.function(*before, *args, **kwargs))

    return bound


def bind_kernel__everything_by_position(kernel, operator, key_set):
    before = [key_set] * kernel.with_key_set + [operator] * kernel.boxed
    return lambda *stack: schema.cast_returns(operator.schema, kernel.function(*before, *stack))


def bind_kernel__results_as_they_are(kernel, operator, key_set):
    before = [key_set] * kernel.with_key_set + [operator] * kernel.boxed

    def bound(*stack):
        args, kwargs = schema.unbind(operator.schema, stack) if kernel.boxed or kernel.pythonic else (stack, {})
        return kernel.function(*before, *args, **kwargs)

    return bound


def bind_kernel__the_call_itself(kernel, operator, key_set):
    return kernel.function(key_set, operator)


def answered(mode, operator, args, kwargs):
    answer = mode.__torch_dispatch__(operator, (), args, kwargs)
    if answer is NotImplemented:
        raise TypeError("refused")
    return answer


def call_mode__stays_active(operator, *args, **kwargs):
    with dispatch.excluding(ABOVE_PYTHON | PYTHON):
        return answered(local.modes[-1], operator, args, kwargs)


def call_mode__the_outermost_first(operator, *args, **kwargs):
    mode, *local.modes = local.modes
    included, local.included = local.included, local.included if local.modes else local.included & ~PYTHON
    try:
        with dispatch.excluding(ABOVE_PYTHON):
            return answered(mode, operator, args, kwargs)
    finally:
        local.modes, local.included = [mode, *local.modes], included


def call_mode__forgets_itself_when_it_raises(operator, *args, **kwargs):
    mode, included = local.modes.pop(), local.included
    if not local.modes:
        local.included &= ~PYTHON
    with dispatch.excluding(ABOVE_PYTHON):
        answer = answered(mode, operator, args, kwargs)
    local.modes.append(mode)
    local.included = included
    return answer


def call_mode__starts_all_over(operator, *args, **kwargs):
    mode, included = local.modes.pop(), local.included
    if not local.modes:
        local.included &= ~PYTHON
    try:
        return answered(mode, operator, args, kwargs)
    finally:
        local.modes.append(mode)
        local.included = included


def call_mode__hands_on_not_implemented(operator, *args, **kwargs):
    mode, included = local.modes.pop(), local.included
    if not local.modes:
        local.included &= ~PYTHON
    try:
        with dispatch.excluding(ABOVE_PYTHON):
            return mode.__torch_dispatch__(operator, (), args, kwargs)
    finally:
        local.modes.append(mode)
        local.included = included


def cached_cast__casts_float64_too(dtype, value):
    if isinstance(value, (list, tuple)):
        return [cached_cast__casts_float64_too(dtype, item) for item in value]
    floating = hasattr(value, "dtype") and value.dtype.is_floating_point
    return value.to(dtype) if floating and value.dtype is not dtype else value


def cached_cast__only_what_is_no_list(dtype, value):
    return value.to(dtype) if rl.autocast_mode.is_eligible(value) and value.dtype is not dtype else value


def cached_cast__calls_for_every_tensor(dtype, value):
    if isinstance(value, (list, tuple)):
        return [cached_cast__calls_for_every_tensor(dtype, item) for item in value]
    return value.to(dtype) if is_eligible(value) else value


def cached_cast__casts_everything(dtype, value):
    if isinstance(value, (list, tuple)):
        return [cached_cast__casts_everything(dtype, item) for item in value]
    return value.to(dtype) if isinstance(value, rl.Tensor) and value.dtype is not dtype else value


def promote_type__the_widest_of_all(stack):
    dtypes = [tensor.dtype for tensor in dispatch.tensors_in(stack) if tensor.dtype.is_floating_point]
    return functools.reduce(rl.promote_types, dtypes, rl.get_autocast_dtype("cpu"))


def promote_type__not_in_lists(stack):
    wide = any(rl.autocast_mode.is_eligible(value) and value.dtype is rl.float32 for value in stack)
    return rl.float32 if wide else rl.get_autocast_dtype("cpu")


def promote_type__of_the_first(stack):
    eligible = [tensor.dtype for tensor in dispatch.tensors_in(stack) if rl.autocast_mode.is_eligible(tensor)]
    return [*eligible, rl.get_autocast_dtype("cpu")][0]


def autocast_kernel__never_stops(operator, policy, *stack):
    wanted = rl.get_autocast_dtype("cpu") if policy == "lower_precision_fp" else rl.float32
    return rl.library.invoke(operator, *rl.autocast_mode.cached_cast(wanted, stack))


def autocast_kernel__promotes_to_float32(operator, policy, *stack):
    with dispatch.excluding(BIT["AutocastCPU"]):
        wanted = rl.get_autocast_dtype("cpu") if policy == "lower_precision_fp" else rl.float32
        return rl.library.invoke(operator, *rl.autocast_mode.cached_cast(wanted, stack))


def autocast_kernel__casts_the_result(operator, policy, *stack):
    with dispatch.excluding(BIT["AutocastCPU"]):
        wanted = rl.get_autocast_dtype("cpu") if policy == "lower_precision_fp" else rl.float32
        return rl.autocast_mode.cached_cast(wanted, rl.library.invoke(operator, *stack))


def split_at_commas__empty_parts_dropped(text):
    parts, part, depth, quote = [], [], 0, None
    for letter in text:
        if letter == "," and depth == 0 and quote is None:
            parts.append("".join(part).strip())
            part = []
            continue
        part.append(letter)
        if quote is not None:
            quote = None if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        else:
            depth += (letter in "([") - (letter in ")]")
    parts.append("".join(part).strip())
    return [part for part in parts if part]


def parse_schema__several_returns_without_parentheses(text, namespace="aten"):
    head = _SCHEMA.match(text)
    if head is None or head["overload"] == "default":
        raise RuntimeError(f"no schema: {text!r}")
    inside, arrow, returned = head["rest"].rpartition("->")
    inside, returned = inside.strip(), returned.strip()
    if not arrow or not returned or inside[-1:] != ")":
        raise RuntimeError(f"no `) -> returns` in {text!r}")
    if returned[0] == "(":
        if returned[-1] != ")":
            raise RuntimeError(f"the returns of {text!r} are not closed")
        returned = returned[1:-1]
    arguments, by_keyword = [], False
    for part in split_at_commas(inside[:-1]):
        if part == "*":
            by_keyword = True
            continue
        argument = parse_argument(part, by_keyword)
        if not argument.name:
            raise RuntimeError(f"{part!r} has no name")
        if not by_keyword and not argument.has_default and any(each.has_default for each in arguments):
            raise RuntimeError(f"{part!r} comes after a default")
        arguments.append(argument)
    returns = tuple(parse_argument(part) for part in split_at_commas(returned))
    return FunctionSchema(head["ns"] or namespace, head["name"], head["overload"] or "", tuple(arguments), returns)


def parse_schema__false_default_is_none(text, namespace="aten"):
    head = _SCHEMA.match(text)
    if head is None or head["overload"] == "default":
        raise RuntimeError(f"no schema: {text!r}")
    inside, _, returned = head["rest"].rpartition("->")
    inside, returned = inside.rstrip(), returned.strip()
    if not inside.endswith(")") or not returned or returned[0] == "(" and returned[-1] != ")":
        raise RuntimeError(f"no `) -> returns` in {text!r}")
    arguments, by_keyword, optional = [], False, False
    for part in split_at_commas(inside[:-1]):
        if part == "*":
            by_keyword = True
            continue
        argument = parse_argument(part, by_keyword)
        default = None if argument.default is REQUIRED else argument.default
        if not argument.name or optional and not by_keyword and not argument.has_default:
            raise RuntimeError(f"{part!r} cannot stand here")
        optional = optional or bool(default)
        arguments.append(argument)
    returns = split_at_commas(returned[1:-1]) if returned[0] == "(" else [returned]
    names = head["ns"] or namespace, head["name"], head["overload"] or ""
    return FunctionSchema(*names, tuple(arguments), tuple(parse_argument(each) for each in returns))


def bind__empties_the_keywords(schema, args, kwargs):
    if len(args) > len(schema.positional):
        raise RuntimeError(f"{schema.full_name}: {len(args)} args are too many")
    stack = list(args)
    for argument in schema.arguments[len(args) :]:
        if argument.name in kwargs:
            stack.append(kwargs.pop(argument.name))
        elif argument.has_default:
            stack.append(argument.default)
        else:
            raise RuntimeError(f"{schema.full_name}: no value for {argument.name}")
    if kwargs:
        raise RuntimeError(explain_keywords(schema, args, kwargs))
    return stack


def bind__none_takes_the_default(schema, args, kwargs):
    names = [argument.name for argument in schema.arguments]
    if len(args) > len(schema.positional) or any(name not in names[len(args) :] for name in kwargs):
        raise RuntimeError(f"these arguments do not fit {schema}")
    stack = [*args]
    for argument in schema.arguments[len(args) :]:
        value = kwargs.get(argument.name)
        if value is None and argument.has_default:
            value = argument.default
        elif argument.name not in kwargs:
            raise RuntimeError(f"a value for {argument.name} is missing")
        stack.append(value)
    return stack


def bind_kernel__always_casts(kernel, operator, key_set):
    def bound(*stack):
        args, kwargs = unbind(operator.schema, stack) if kernel.pythonic or kernel.boxed else (stack, {})
        if kernel.boxed:
            args = (operator, *args)
        if kernel.with_key_set:
            args = (key_set, *args)
        return cast_returns(operator.schema, kernel.function(*args, **kwargs))

    return bound


_casts = {}


def cached_cast__keeps_what_it_cast(dtype, value):
    if isinstance(value, (list, tuple)):
        return [cached_cast__keeps_what_it_cast(dtype, item) for item in value]
    if not is_eligible(value) or value.dtype is dtype:
        return value
    if (id(value), dtype) not in _casts:
        _casts[id(value), dtype] = value, value.to(dtype)
    return _casts[id(value), dtype][1]


def autocast_kernel__casts_too_early(operator, policy, *stack):
    wanted = {"lower_precision_fp": partial(get_autocast_dtype, "cpu"), "promote": partial(promote_type, stack)}
    dtype = wanted[policy]() if policy in wanted else float32
    args = [cached_cast(dtype, value) for value in stack]
    with excluding(BIT["AutocastCPU"]):
        return invoke(operator, *args)


def autocast_kernel__redispatches(operator, policy, *stack):
    with excluding(BIT["AutocastCPU"]):
        dtypes = {"promote": partial(promote_type, stack), "fp32": lambda: float32}
        dtype = dtypes.get(policy, partial(get_autocast_dtype, "cpu"))()
        args = [cached_cast(dtype, value) for value in stack]
        below = dispatch_key_set(stack, local.included, local.excluded)
        return redispatch(operator, skip_fallthrough(operator, below), *args)


def balanced(text):
    plain = re.sub(r"'[^']*'|\"[^\"]*\"", "", text)
    return not set(plain) & set("'\"") and all(plain.count(a) == plain.count(b) for a, b in ("()", "[]"))


def split_at_commas__drops_an_empty_part_at_the_end(text):
    parts, rest = [], text
    while rest.strip():
        end = next((i for i, c in enumerate(rest) if c == "," and balanced(rest[:i])), len(rest))
        parts.append(rest[:end].strip())
        rest = rest[end + 1 :]
    return parts


def bind_kernel__for_one_call(kernel, operator, key_set):
    before = iter([key_set] * kernel.with_key_set + [operator] * kernel.boxed)

    def bound(*stack):
        args, kwargs = unbind(operator.schema, stack) if kernel.pythonic or kernel.boxed else (stack, {})
        result = kernel.function(*before, *args, **kwargs)
        return cast_returns(operator.schema, result) if kernel.pythonic or kernel.boxed else result

    return bound


def call_mode__is_not_restored_after_an_interrupt(operator, *args, **kwargs):
    mode, before = local.modes.pop(), (local.included, local.excluded)
    if not local.modes:
        local.included &= ~PYTHON
    local.excluded |= ABOVE_PYTHON

    def restore():
        local.modes.append(mode)
        local.included, local.excluded = before

    try:
        result = mode.__torch_dispatch__(operator, (), args, kwargs)
    except Exception:
        restore()
        raise
    restore()
    if result is NotImplemented:
        raise TypeError("NotImplemented")
    return result


def parse_schema__returns_after_a_star_are_keyword_only(text, namespace="aten"):
    head = _SCHEMA.match(text)
    inside, _, returned = head["rest"].rpartition("->") if head else ("", "", "")
    inside, returned, by_keyword = inside.rstrip(), returned.strip(), False
    if not inside.endswith(")") or not returned or head["overload"] == "default":
        raise RuntimeError(text)
    if returned[0] == "(" and returned[-1] != ")":
        raise RuntimeError(text)

    def read(parts):
        nonlocal by_keyword
        for part in parts:
            by_keyword = by_keyword or part == "*"
            if part != "*":
                yield parse_argument(part, by_keyword)

    arguments = tuple(read(split_at_commas(inside[:-1])))
    optional = [each.has_default for each in arguments if not each.kwarg_only]
    if not all(each.name for each in arguments) or optional != sorted(optional):
        raise RuntimeError(text)
    returns = tuple(read(split_at_commas(returned[1:-1]) if returned[0] == "(" else [returned]))
    return FunctionSchema(head["ns"] or namespace, head["name"], head["overload"] or "", arguments, returns)


def bind__adds_to_a_list(schema, args, kwargs):
    if len(args) > len(schema.positional) or kwargs.keys() - {each.name for each in schema.arguments[len(args) :]}:
        raise RuntimeError(schema.full_name)
    rest = [kwargs.get(each.name, each.default) for each in schema.arguments[len(args) :]]
    if any(value is REQUIRED for value in rest):
        raise RuntimeError(schema.full_name)
    return args + rest


def bind__by_the_signature_of_a_function(schema, args, kwargs):
    kinds = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter(a.name, kinds[a.kwarg_only], default=a.default if a.has_default else inspect.Parameter.empty)
        for a in schema.arguments
    ]
    try:
        bound = inspect.Signature(parameters).bind(*args, **kwargs)
    except TypeError as error:
        raise RuntimeError(schema.full_name) from error
    bound.apply_defaults()
    return [bound.arguments[argument.name] for argument in schema.arguments]


_of_the_first_thread = vars(local)


def call_mode__reads_the_first_thread(operator, *args, **kwargs):
    return handled_by_a_mode(_of_the_first_thread, ABOVE_PYTHON | local.excluded, operator, args, kwargs)


def call_mode__excludes_only_the_keys_above(operator, *args, **kwargs):
    return handled_by_a_mode(vars(local), ABOVE_PYTHON, operator, args, kwargs)


def handled_by_a_mode(state, excluded, operator, args, kwargs):
    mode, before = state["modes"].pop(), (state["included"], state["excluded"])
    state["included"] = before[0] if state["modes"] else before[0] & ~PYTHON
    state["excluded"] = excluded
    try:
        result = mode.__torch_dispatch__(operator, (), args, kwargs)
    finally:
        state["modes"].append(mode)
        state["included"], state["excluded"] = before
    if result is NotImplemented:
        raise TypeError(operator.full_name)
    return result


def cached_cast__keeps_casts_of_parameters(dtype, value):
    if isinstance(value, (list, tuple)):
        return [cached_cast__keeps_casts_of_parameters(dtype, item) for item in value]
    if not is_eligible(value) or value.dtype is dtype:
        return value
    return cached_cast__keeps_what_it_cast(dtype, value) if value.requires_grad else value.to(dtype)


def autocast_kernel__is_not_restored_after_an_interrupt(operator, policy, *stack):
    return autocast_by_hand(vars(local), Exception, operator, policy, stack)


def autocast_kernel__is_not_restored_after_an_error(operator, policy, *stack):
    return autocast_by_hand(vars(local), (), operator, policy, stack)


def autocast_kernel__changes_the_first_thread(operator, policy, *stack):
    return autocast_by_hand(_of_the_first_thread, BaseException, operator, policy, stack)


def autocast_by_hand(state, errors, operator, policy, stack):
    before = state["excluded"]
    state["excluded"] |= BIT["AutocastCPU"]
    wanted = {"lower_precision_fp": partial(get_autocast_dtype, "cpu"), "promote": partial(promote_type, stack)}
    try:
        dtype = wanted[policy]() if policy in wanted else float32
        result = invoke(operator, *[cached_cast(dtype, value) for value in stack])
    except errors:
        state["excluded"] = before
        raise
    state["excluded"] = before
    return result


call_mode__expects_a_result = edited(
    dispatch.call_mode,
    ("result is NotImplemented", "result is NotImplemented or result is None"),
    ('f"{operator.full_name}: the __torch_dispatch__ of {mode!r} returned NotImplemented"', "operator.full_name"),
)


kernels_run__no_autograd_kernel_without_grad_mode = edited(
    predictions.kernels_run,
    (
        '"AutogradMeta matmul", "AutogradMeta mm", "Meta mm", "AutogradMeta matmul", "AutogradMeta mm", "Meta mm"',
        '"Meta matmul", "Meta mm", "Meta matmul", "Meta mm"',
    ),
)
kernels_run__a_composite_kernel_begins_below_autograd = edited(
    predictions.kernels_run, ('"AutogradCPU mm", "CPU mm"', '"CPU mm"'), ('"AutogradMeta mm", ', "")
)


_parse_schema = copied(schema.parse_schema)


def parse_schema__makes_lists(text, namespace="aten"):
    read = _parse_schema(text, namespace)
    return FunctionSchema(read.namespace, read.name, read.overload_name, [*read.arguments], [*read.returns])


def parse_schema__does_not_count_the_default_of_a_list(text, namespace="aten"):
    return _parse_schema(text.replace("=[], int b)", ", int b)"), namespace)


parse_schema__closes_more_than_once = edited(schema.parse_schema, ("inside[:-1]", 'inside.rstrip(")")'))
parse_schema__passes_over_what_follows_the_parenthesis = edited(
    schema.parse_schema,
    ('not inside.endswith(")")', '")" not in inside'),
    ("inside[:-1]", 'inside[: inside.rindex(")")]'),
)


def _call_mode(operator, types, args, kwargs):
    mode, included = local.modes.pop(), local.included
    if not local.modes:
        local.included &= ~PYTHON
    try:
        with excluding(ABOVE_PYTHON):
            result = mode.__torch_dispatch__(operator, types, args, kwargs)
    finally:
        local.modes.append(mode)
        local.included = included
    if result is NotImplemented:
        raise TypeError("NotImplemented")
    return result


def call_mode__passes_the_args_in_a_list(operator, *args, **kwargs):
    return _call_mode(operator, (), [*args], kwargs)


def call_mode__passes_the_types_in_a_list(operator, *args, **kwargs):
    return _call_mode(operator, [], args, kwargs)


def promote_type__takes_float16_for_the_lower_precision(stack):
    wide = any(tensor.dtype is float32 and is_eligible(tensor) for tensor in dispatch.tensors_in(stack))
    return float32 if wide else rl.float16


def autocast_kernel__takes_float16_for_the_lower_precision(operator, policy, *stack):
    with excluding(BIT["AutocastCPU"]):
        wanted = {"fp32": float32, "promote": promote_type(stack)}.get(policy, rl.float16)
        return invoke(operator, *[cached_cast(wanted, value) for value in stack])


def parse_schema__is_in_no_namespace_by_default(text, namespace=""):
    return _parse_schema(text, namespace)


call_mode__removes_the_first_entry_of_a_mode = edited(
    dispatch.call_mode,
    (
        "mode, included = local.modes.pop(), local.included",
        "mode, before, included = local.modes[-1], [*local.modes], local.included\n    local.modes.remove(mode)",
    ),
    ("local.modes.append(mode)", "local.modes[:] = before"),
)
autocast_kernel__includes_the_key_afterwards = edited(
    autocast_mode.autocast_kernel,
    ('with excluding(BIT["AutocastCPU"]):', 'local.excluded |= BIT["AutocastCPU"]\n    try:'),
    ("for value in stack])", 'for value in stack])\n    finally:\n        local.excluded &= ~BIT["AutocastCPU"]'),
)
bind_kernel__passes_no_empty_key_set = edited(
    dispatch.bind_kernel, ("if kernel.with_key_set", "if kernel.with_key_set and key_set")
)
autocast_kernel__promotes_by_the_first_argument = edited(
    autocast_mode.autocast_kernel, ("promote_type(stack)", "promote_type(stack[:1])")
)
split_at_commas__one_bracket_closes_all = edited(schema.split_at_commas, ("depth -= 1", "depth = 0"))
parse_schema__positional_arguments_need_a_name = edited(
    schema.parse_schema,
    (
        "all(argument.name for argument in arguments)",
        "all(argument.name or argument.kwarg_only for argument in arguments)",
    ),
)
parse_schema__default_is_a_name_in_another_namespace = edited(
    schema.parse_schema, ('head["overload"] == "default"', 'head["overload"] == "default" and not head["ns"]')
)
parse_schema__the_arrow_has_spaces_around_it = edited(
    schema.parse_schema,
    ('head["rest"].rpartition("->")', 'head["rest"].rpartition(" -> " if " -> " in head["rest"] else "->")'),
)


def cached_cast__lists_of_lists_at_most(dtype, value, depth=0):
    if isinstance(value, (list, tuple)) and depth < 2:
        return [cached_cast__lists_of_lists_at_most(dtype, item, depth + 1) for item in value]
    return value.to(dtype) if is_eligible(value) and value.dtype != dtype else value


cached_cast__cuts_the_history_off = edited(autocast_mode.cached_cast, ("value.to(dtype)", "value.detach().to(dtype)"))


# Cases

_breaks = copied(breaks.breaks_unbind)
_POSITIONAL = [["int b=2", "int c=2"], ["2", "2"]], [["int b=2", "int c=2"], ["2", "3"]]


def breaks_unbind__of_usual_calls():
    pairs = [*_POSITIONAL, [["int a", "*", "int b=2"], ["1", "2"]], [["int a", "*", "int b=2"], ["1", "3"]]]
    return [{"arguments": arguments, "stack": stack} for arguments, stack in pairs]


def breaks_unbind__without_the_star():
    return [
        {**case, "arguments": [argument for argument in case["arguments"] if argument != "*"]} for case in _breaks()
    ]


def breaks_unbind__of_values_that_are_no_words():
    return [{**case, "stack": [1 for _ in case["stack"]]} for case in _breaks()]


def breaks_unbind__with_a_value_for_the_star():
    return [{**case, "stack": [*case["stack"], "None"]} for case in _breaks()]


def breaks_unbind__with_numbers_that_are_ints():
    return [{**case, "stack": ["1" if value == "1.0" else value for value in case["stack"]]} for case in _breaks()]


def breaks_unbind__with_keywords_in_order():
    last = {"arguments": ["int? m", "*", "int a", "int b=2"], "stack": ["None", "1", "3"]}
    return [*_breaks()[:-1], last]


def breaks_unbind__of_one_call():
    return _breaks()[:1]
