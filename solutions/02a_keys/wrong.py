"""Wrong answers to lab 02a that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import functools

from rushlight.c10 import dispatch, schema
from rushlight.c10.dispatch import (
    AUTOGRAD_KEYS,
    BACKEND_KEYS,
    BACKEND_MASK,
    BACKENDS,
    BIT,
    FALLTHROUGH,
    FUNCTIONALITIES,
    MISSING,
    PER_BACKEND,
    RUNTIME_KEYS,
    DispatchKey,
    bind_kernel,
    dispatch_key_set,
    explain_missing,
    highest_priority_key,
    local,
    run,
    skip_fallthrough,
    traced,
)
from rushlight.course import breaks, predictions

from ..shared import copied, edited

SHIFT = len(BACKENDS)


def united_bits(key):
    if key.name in FUNCTIONALITIES:
        return BIT[key.name]
    prefix = "Autograd" if key.name.startswith("Autograd") else ""
    functionality = "AutogradFunctionality" if prefix else "Dense"
    return BIT[functionality] | BIT.get(key.name.removeprefix(prefix), 0)


def highest_priority_key__of_the_lowest_backend(key_set):
    key = highest(key_set)
    backends = [name for name in BACKENDS if BIT[name] & key_set]
    return DispatchKey[PER_BACKEND[key] + backends[0]] if key in PER_BACKEND and backends else DispatchKey[key]


def highest(key_set):
    return next((name for name in reversed(FUNCTIONALITIES) if BIT[name] & key_set), "Undefined")


def highest_priority_key__takes_the_cpu_without_a_backend(key_set):
    key = highest(key_set)
    backend = next((name for name in reversed(BACKENDS) if BIT[name] & key_set), "CPU")
    return DispatchKey[PER_BACKEND[key] + backend] if key in PER_BACKEND else DispatchKey[key]


def highest_priority_key__a_backend_is_a_key(key_set):
    return max((key for key in RUNTIME_KEYS if united_bits(key) & key_set), default=DispatchKey.Undefined)


def keys_in__any_bit_in_common(key_set):
    return [key for key in RUNTIME_KEYS if united_bits(key) & key_set]


def keys_in__highest_first(key_set):
    return [key for key in reversed(RUNTIME_KEYS) if united_bits(key) & key_set == united_bits(key)]


def keys_in__one_key_for_each_functionality(key_set):
    found = []
    while key_set >> SHIFT:
        key = highest_priority_key__takes_the_cpu_without_a_backend(key_set)
        found.insert(0, key)
        key_set ^= BIT[highest(key_set)]
    return found


def entry(kernels, fallbacks, key, order):
    """The first of these that is there, by (key, reason)."""
    for candidate, reason in order:
        if candidate in kernels:
            return kernels[candidate], reason
    return (fallbacks[key], "backend fallback") if key in fallbacks else (MISSING, "missing")


EXPLICIT, IMPLICIT = DispatchKey.CompositeExplicitAutograd, DispatchKey.CompositeImplicitAutograd
NON_FUNCTIONAL = DispatchKey.CompositeExplicitAutogradNonFunctional
DEFAULTS = [(NON_FUNCTIONAL, "default backend kernel"), (EXPLICIT, "default backend kernel"), (IMPLICIT, "math kernel")]


def compute_table_entry__autograd_always_takes_the_composite_kernel(kernels, fallbacks, key):
    order = [(key, "kernel")]
    if key.name in (*BACKENDS, "Undefined"):
        order += DEFAULTS
    if key.name.startswith("Autograd"):
        order += [(IMPLICIT, "math kernel"), (DispatchKey.Autograd, "autograd kernel")]
    return entry(kernels, fallbacks, key, order)


def compute_table_entry__autograd_alias_first(kernels, fallbacks, key):
    order = [(key, "kernel")]
    if key.name in (*BACKENDS, "Undefined"):
        order += DEFAULTS
    if key.name.startswith("Autograd"):
        order.append((DispatchKey.Autograd, "autograd kernel"))
        if DispatchKey[key.name.removeprefix("Autograd")] not in kernels and EXPLICIT not in kernels:
            order.append((IMPLICIT, "math kernel"))
    return entry(kernels, fallbacks, key, order)


def compute_table_entry__any_backend_kernel_will_do(kernels, fallbacks, key):
    order = [(key, "kernel")]
    if key.name in (*BACKENDS, "Undefined"):
        order += DEFAULTS
    if key.name.startswith("Autograd"):
        if not {EXPLICIT, *(DispatchKey[name] for name in BACKENDS)} & set(kernels):
            order.append((IMPLICIT, "math kernel"))
        order.append((DispatchKey.Autograd, "autograd kernel"))
    return entry(kernels, fallbacks, key, order)


def compute_table_entry__composite_kernels_for_every_key(kernels, fallbacks, key):
    return entry(kernels, fallbacks, key, [(key, "kernel"), *DEFAULTS, (DispatchKey.Autograd, "autograd kernel")])


def compute_table_entry__nothing_for_no_tensors(kernels, fallbacks, key):
    if key == DispatchKey.Undefined:
        return MISSING, "missing"
    return compute_table_entry__any_backend_kernel_will_do(kernels, fallbacks, key)


def compute_table_entry__fallback_before_the_aliases(kernels, fallbacks, key):
    if key in fallbacks and key not in kernels:
        return fallbacks[key], "backend fallback"
    return compute_table_entry__any_backend_kernel_will_do(kernels, fallbacks, key)


def dispatch_key_set__of_the_first_tensor(stack, included, excluded):
    first = next((value._key_set for value in stack if hasattr(value, "_key_set")), 0)
    return (first | included) & (~excluded | BACKEND_MASK)


def dispatch_key_set__not_in_lists(stack, included, excluded):
    keys = functools.reduce(int.__or__, (getattr(value, "_key_set", 0) for value in stack), included)
    return keys & (~excluded | BACKEND_MASK)


def dispatch_key_set__excludes_backends_too(stack, included, excluded):
    keys = functools.reduce(int.__or__, (tensor._key_set for tensor in dispatch.tensors_in(stack)), included)
    return keys & ~excluded


def dispatch_key_set__including_wins(stack, included, excluded):
    keys = functools.reduce(int.__or__, (tensor._key_set for tensor in dispatch.tensors_in(stack)), 0)
    return keys & (~excluded | BACKEND_MASK) | included


def skip_fallthrough__only_the_highest(operator, key_set):
    while operator.entry(dispatch.highest_priority_key(key_set))[0] is FALLTHROUGH:
        key_set ^= 1 << key_set.bit_length() - 1
    return key_set


def skip_fallthrough__takes_the_backend_too(operator, key_set):
    for key in RUNTIME_KEYS:
        if united_bits(key) & key_set == united_bits(key) and operator.entry(key)[0] is FALLTHROUGH:
            key_set &= ~united_bits(key)
    return key_set


def skip_fallthrough__if_any_backend_falls_through(operator, key_set):
    for key in RUNTIME_KEYS:
        if united_bits(key) & key_set == united_bits(key) and operator.entry(key)[0] is FALLTHROUGH:
            key_set &= ~united_bits(key) | BACKEND_MASK
    return key_set


def run__goes_down_to_a_key_that_has_a_kernel(operator, key_set, stack, how):
    for key in reversed(dispatch.keys_in(key_set)):
        kernel, _ = operator.entry(key)
        if kernel is not MISSING:
            with dispatch.traced(f"[{how}] op=[{operator.full_name}], key=[{key.name}]"):
                return dispatch.bind_kernel(kernel, operator, key_set)(*stack)
    raise NotImplementedError(operator.full_name)


def run__traces_afterwards(operator, key_set, stack, how):
    key = dispatch.highest_priority_key(key_set)
    kernel, _ = operator.entry(key)
    if kernel is MISSING:
        raise NotImplementedError(operator.full_name)
    result = dispatch.bind_kernel(kernel, operator, key_set)(*stack)
    with dispatch.traced(f"[{how}] op=[{operator.full_name}], key=[{key.name}]"):
        return result


run__says_runtime_error = edited(
    run, ("raise NotImplementedError(explain_missing(operator, key))", "raise RuntimeError(operator.full_name)")
)
run__takes_the_key_out_of_the_set = edited(
    run,
    ("NotImplementedError(explain_missing(operator, key))", "NotImplementedError(operator.full_name)"),
    (
        "bind_kernel(kernel, operator, key_set)(*stack)",
        "bind_kernel(kernel, operator, key_set & keys_below(key))(*stack)",
    ),
)
call__forgets_the_thread = edited(
    dispatch.call, ("dispatch_key_set(stack, local.included, local.excluded)", "dispatch_key_set(stack, 0, 0)")
)


def call__skips_nothing(operator, *stack):
    return dispatch.run(operator, dispatch.dispatch_key_set(stack, local.included, local.excluded), stack, "call")


def compute_table_entry__fallthrough_is_no_kernel(kernels, fallbacks, key):
    if kernels.get(key, FALLTHROUGH) is not FALLTHROUGH:
        return kernels[key], "kernel"
    on_backend, on_autograd = key in BACKEND_KEYS or key == DispatchKey.Undefined, key in AUTOGRAD_KEYS
    if on_backend:
        for name in ("CompositeExplicitAutogradNonFunctional", "CompositeExplicitAutograd"):
            if DispatchKey[name] in kernels:
                return kernels[DispatchKey[name]], "default backend kernel"
    implicit = kernels.get(DispatchKey.CompositeImplicitAutograd)
    if implicit is not None and on_backend:
        return implicit, "math kernel"
    if on_autograd:
        own = {DispatchKey[key.name.removeprefix("Autograd")], DispatchKey.CompositeExplicitAutograd}
        if implicit is not None and not own & kernels.keys():
            return implicit, "math kernel"
        if DispatchKey.Autograd in kernels:
            return kernels[DispatchKey.Autograd], "autograd kernel"
    if key in kernels:
        return FALLTHROUGH, "kernel"
    return (fallbacks[key], "backend fallback") if key in fallbacks else (MISSING, "missing")


def run__traces_what_is_missing(operator, key_set, stack, how):
    key = highest_priority_key(key_set)
    with traced(f"[{how}] op=[{operator.full_name}], key=[{key.name}]"):
        kernel, _ = operator.entry(key)
        if kernel is MISSING:
            raise NotImplementedError(explain_missing(operator, key))
        return bind_kernel(kernel, operator, key_set)(*stack)


def dispatch_key_set__in_lists_but_not_in_tuples(stack, included, excluded):
    keys, waiting = included, list(stack)
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += value
        keys |= getattr(value, "_key_set", 0)
    return keys & (~excluded | BACKEND_MASK)


def skip_fallthrough__skips_what_is_missing(operator, key_set):
    rest = key_set
    while rest >> SHIFT:
        key, bit = highest_priority_key(rest), BIT[highest(rest)]
        rest ^= bit
        if operator.entry(key)[0] in (FALLTHROUGH, MISSING):
            key_set ^= bit
    return key_set


def skip_fallthrough__skips_fallbacks(operator, key_set):
    rest = key_set
    while rest >> SHIFT:
        key, bit = highest_priority_key(rest), BIT[highest(rest)]
        rest ^= bit
        kernel, reason = operator.entry(key)
        if kernel is FALLTHROUGH or reason == "backend fallback":
            key_set ^= bit
    return key_set


_of_the_first_thread = vars(local)


def call__reads_the_first_thread(operator, *stack):
    state = _of_the_first_thread
    key_set = dispatch_key_set(stack, state["included"], state["excluded"])
    return run(operator, skip_fallthrough(operator, key_set), stack, "call")


def run__explains_every_error(operator, key_set, stack, how):
    key = highest_priority_key(key_set)
    kernel, _ = operator.entry(key)
    try:
        if kernel is MISSING:
            raise NotImplementedError
        with traced(f"[{how}] op=[{operator.full_name}], key=[{key.name}]"):
            return bind_kernel(kernel, operator, key_set)(*stack)
    except NotImplementedError:
        raise NotImplementedError(explain_missing(operator, key)) from None


run__explains_nothing = edited(run, ("NotImplementedError(explain_missing(operator, key))", "NotImplementedError"))


_highest = copied(highest_priority_key)
_keys_in = copied(dispatch.keys_in)


def highest_priority_key__gives_an_int(key_set):
    return int(_highest(key_set))


def keys_in__yields(key_set):
    yield from _keys_in(key_set)


def keys_in__gives_ints(key_set):
    return [int(key) for key in _keys_in(key_set)]


run__leaves_the_overload_out_of_the_line = edited(
    run,
    (
        'f"[{how}] op=[{operator.full_name}], key=[{key.name}]"',
        "f\"[{how}] op=[{operator.full_name.partition('.')[0]}], key=[{key}]\"",
    ),
)


def call__says_that_it_redispatches(operator, *stack):
    key_set = dispatch_key_set(stack, local.included, local.excluded)
    return run(operator, skip_fallthrough(operator, key_set), stack, "redispatch")


run__leaves_the_overload_out_of_the_message = edited(
    run,
    (
        "raise NotImplementedError(explain_missing(operator, key))",
        "raise NotImplementedError(f\"{operator.full_name.partition('.')[0]} has no kernel for {key}\")",
    ),
    ("key.name", "key"),
)


# Predictions

_device_keys = copied(predictions.device_keys)


def device_keys__autocast_for_every_device(program):
    keys = list(_device_keys(program))
    return keys if keys[0].startswith("Autocast") else [f"Autocast{keys[-1]}", *keys]


def device_keys__no_autocast_because_it_is_off(program):
    return [key for key in _device_keys(program) if not key.startswith("Autocast")]


def device_keys__an_autograd_key_for_hip(program):
    return [key.replace("AutogradOther", "AutogradHIP") for key in _device_keys(program)]


def device_keys__rocm_says_cuda(program):
    return _device_keys("cuda" if program == "hip" else program)


def device_keys__autograd_for_a_gradient_only(program):
    return [key for key in _device_keys(program) if not key.startswith("Autograd") or program in ("example", "mps")]


def device_keys__inference_mode_keeps_its_keys(program):
    return ["AutocastXPU", "AutogradXPU", "ADInplaceOrView", "XPU"] if program == "xpu" else _device_keys(program)


def device_keys__sparse_is_a_functionality_of_its_own(program):
    return [key.replace("SparseCUDA", "Sparse") for key in _device_keys(program)]


def device_keys__the_lowest_first(program):
    return [*reversed(_device_keys(program))]


def device_keys__other_for_a_device_outside_pytorch(program):
    return [key.replace("AutogradPrivateUse1", "AutogradOther") for key in _device_keys(program)]


# Before the dispatcher

_entry, _choose = copied(schema.variants_and_tags), copied(schema.choose_signature)

variants_and_tags__every_written_argument_is_out = edited(_entry, ("argument.kwarg_only and ", ""))
variants_and_tags__a_name_with_out = edited(
    _entry,
    (
        "any(argument.kwarg_only and argument.is_written for argument in schema.arguments)",
        '"_out" in entry["func"] or ".out" in entry["func"]',
    ),
)
variants_and_tags__an_underscore_at_the_end = edited(
    _entry,
    ('schema.name.startswith("__i") if schema.name.endswith("__") else ', ""),
)
variants_and_tags__no_operators_of_python_in_place = edited(_entry, ('schema.name.startswith("__i") if', "False if"))
variants_and_tags__two_underscores_at_the_beginning = edited(
    _entry, ('if schema.name.endswith("__")', 'if schema.name.startswith("__")')
)
variants_and_tags__in_place_if_self_is_written = edited(
    _entry,
    (
        'schema.name.startswith("__i") if schema.name.endswith("__") else schema.name.endswith("_")',
        "schema.arguments[0].is_written",
    ),
)
variants_and_tags__out_after_self = edited(
    _entry,
    (
        "argument.kwarg_only and argument.is_written for argument in schema.arguments",
        "argument.is_written for argument in schema.arguments[1:]",
    ),
)
variants_and_tags__letters_of_one_tag = edited(_entry, ("[tags] if isinstance(tags, str) else tags", "tags"))
variants_and_tags__forgets_that_it_compiles = edited(_entry, (', "pt2_compliant_tag"]', "]"))
variants_and_tags__methods_by_default = edited(_entry, ('"variants", "function"', '"variants", "function, method"'))
variants_and_tags__out_in_addition = edited(
    _entry,
    (
        '["inplace"] * is_inplace',
        '["inplace"] * (is_inplace or is_out)',
    ),
)
variants_and_tags__out_or_in_place = edited(
    _entry, ('["inplace"] * is_inplace', '["inplace"] * (is_inplace and not is_out)')
)
variants_and_tags__in_place_or_out = edited(_entry, ('["out"] * is_out', '["out"] * (is_out and not is_inplace)'))


def variants_and_tags__into_the_entry(entry):
    entry.setdefault("tags", [])
    return _entry(entry)


choose_signature__the_last_that_fits = edited(_choose, ("enumerate(schemas)", "reversed([*enumerate(schemas)])"))
choose_signature__no_sizes_without_brackets = edited(_choose, ('== ["int[]"]', '== ["nothing"]'))
choose_signature__brackets_around_any_list = edited(_choose, ("and as_int_list(rest[0]) is not rest[0]", ""))
choose_signature__brackets_around_more_than_one = edited(
    _choose, ("as_int_list(rest[0]) is not rest[0]", "len(rest) > 1")
)
choose_signature__sizes_in_functions_only = edited(_choose, ('== ["self"]', '== ["nothing"]'))
choose_signature__the_first_is_always_self = edited(
    _choose, ('[argument.name for argument in schema.positional[:1]] == ["self"]', "True")
)
choose_signature__sizes_before_other_arguments = edited(
    _choose,
    (
        "[argument.type for argument in schema.positional[is_method:]]",
        "[argument.type for argument in schema.positional[is_method:][:1]]",
    ),
)
choose_signature__brackets_around_lists_of_known_length = edited(
    _choose, ('== ["int[]"]', 'in (["int[]"], ["int[2]"])')
)
choose_signature__numbers_of_two_types = edited(_choose, ("isinstance(value, NUMBERS)", "type(value) in (int, float)"))
choose_signature__numbers_of_python_only = edited(
    _choose, ("isinstance(value, NUMBERS)", "type(value) in (bool, int, float)")
)
choose_signature__sizes_stay_for_the_next = edited(
    _choose,
    ("for position,", "passed = args\n    for position,"),
    ("passed, is_method = args, ", "is_method = "),
    ("rest = args[is_method:]", "rest = passed[is_method:]"),
)
choose_signature__no_conversion = edited(_choose, ("[*map(converted, schema.arguments, stack)]", "[*stack]"))
choose_signature__no_numbers_for_tensors = edited(
    _choose, (" or isinstance(value, NUMBERS) and may_be_number(schema, a)", "")
)
choose_signature__anything_for_tensors = edited(_choose, ("isinstance(value, NUMBERS) and ", ""))
choose_signature__numbers_for_all_tensors = edited(_choose, (" and may_be_number(schema, a)", ""))
choose_signature__the_types_do_not_matter = edited(_choose, ("is_of_type(a, value) or", "True or"))
choose_signature__only_the_position = edited(_choose, ("return position, stack", "return position, [*args]"))
choose_signature__stops_at_the_first_error = edited(_choose, ("            continue", "            return None"))
choose_signature__converted_before_sizes = edited(
    _choose, ("rest = args[is_method:]", "rest = (*map(as_int_list, args[is_method:]),)")
)
compute_table_entry__a_fallthrough_for_all_backends_is_no_kernel = edited(
    dispatch.compute_table_entry,
    ("explicit not in kernels:", "kernels.get(explicit, FALLTHROUGH) is FALLTHROUGH:"),
)
compute_table_entry__asks_for_the_backend_alone = edited(
    dispatch.compute_table_entry, ("own not in kernels and explicit not in kernels:", "own not in kernels:")
)
compute_table_entry__not_beside_any_explicit_kernel = edited(
    dispatch.compute_table_entry,
    (
        "explicit not in kernels:",
        "not {explicit, DispatchKey.CompositeExplicitAutogradNonFunctional} & kernels.keys():",
    ),
)
skip_fallthrough__goes_on_without_the_backend = edited(
    dispatch.skip_fallthrough, ("rest &= ~functionality", "rest &= ~bits(key)")
)
skip_fallthrough__removes_the_backend_of_a_key = edited(
    dispatch.skip_fallthrough, ("kept &= ~functionality", "kept &= ~bits(key)")
)
variants_and_tags__in_place_by_the_beginning = edited(
    _entry,
    (
        'schema.name.startswith("__i") if schema.name.endswith("__") else schema.name.endswith("_")',
        'schema.name.startswith("__i") or schema.name.endswith("_") and not schema.name.endswith("__")',
    ),
)


def _without_fallthroughs(alias):
    """The reference, where a fallthrough that is registered for an alias key counts as nothing."""
    return edited(
        dispatch.compute_table_entry,
        (
            "    if key in kernels:",
            f"    if kernels.get(DispatchKey.{alias}) is FALLTHROUGH:\n        kernels = {{**kernels}}\n"
            f"        del kernels[DispatchKey.{alias}]\n    if key in kernels:",
        ),
    )


compute_table_entry__a_fallthrough_for_autograd_is_no_kernel = _without_fallthroughs("Autograd")
compute_table_entry__a_composite_fallthrough_is_no_kernel = _without_fallthroughs("CompositeImplicitAutograd")
compute_table_entry__a_fallthrough_that_is_not_functional_is_no_kernel = _without_fallthroughs(
    "CompositeExplicitAutogradNonFunctional"
)
compute_table_entry__a_fallback_that_falls_through_is_missing = edited(
    dispatch.compute_table_entry, ("if key in fallbacks:", "if fallbacks.get(key, FALLTHROUGH) is not FALLTHROUGH:")
)
choose_signature__no_sizes_without_brackets_beside_keywords = edited(
    _choose, ("takes_sizes and rest", "takes_sizes and not kwargs and rest")
)

# Cases

_breaks = copied(breaks.breaks_compute_table_entry)


def breaks_compute_table_entry__of_the_table():
    rows = ["CPU"], ["CompositeExplicitAutograd"], ["CompositeImplicitAutograd"], ["CPU", "Autograd"]
    return [
        {"kernels": kernels, "fallthroughs": [], "key": key} for key in ("CPU", "AutogradCPU") for kernels in rows[1:]
    ]


def breaks_compute_table_entry__without_fallthroughs():
    return [case | {"fallthroughs": []} for case in _breaks()]


def breaks_compute_table_entry__of_the_cpu_only():
    return [case | {"key": "AutogradCPU" if case["key"].startswith("Auto") else "CPU"} for case in _breaks()]


def breaks_compute_table_entry__with_keys_instead_of_names():
    return [case | {"key": DispatchKey[case["key"]]} for case in _breaks()]


def breaks_compute_table_entry__asks_for_alias_keys():
    return [case | {"key": "Autograd"} for case in _breaks()]


def breaks_compute_table_entry__leaves_out_what_is_empty():
    return [{name: value for name, value in case.items() if value} for case in _breaks()]


def breaks_compute_table_entry__seven_of_them():
    return [*_breaks(), {"kernels": [], "fallthroughs": [], "key": "CPU"}]
