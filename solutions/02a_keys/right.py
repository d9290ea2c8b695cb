"""Correct answers to lab 02a in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

import functools
import operator as of
import re

from rushlight.c10 import dispatch
from rushlight.c10.dispatch import (
    BACKEND_MASK,
    BACKENDS,
    BIT,
    FALLTHROUGH,
    FUNCTIONALITIES,
    MISSING,
    PER_BACKEND,
    RUNTIME_KEYS,
    DispatchKey,
    local,
)
from rushlight.c10.schema import (
    NUMBERS,
    as_int_list,
    bind,
    converted,
    is_of_type,
    may_be_number,
    parse_schema,
)

SHIFT = len(BACKENDS)


class NotThere(NotImplementedError):
    """An error of one's own, of the right type."""


# Keys and sets of them


def highest_priority_key__by_searching_down(key_set):
    backend = next((name for name in reversed(BACKENDS) if BIT[name] & key_set), None)
    for name in reversed(FUNCTIONALITIES):
        if not BIT[name] & key_set:
            continue
        return DispatchKey[name if backend is None or name not in PER_BACKEND else PER_BACKEND[name] + backend]
    return DispatchKey.Undefined


def highest_priority_key__by_names(key_set):
    names = [name for name, bit in BIT.items() if bit & key_set]
    if not names or names[-1] in BACKENDS:
        return DispatchKey(0)
    backends = [name for name in names if name in BACKENDS]
    found = PER_BACKEND[names[-1]] + backends[-1] if names[-1] in PER_BACKEND and backends else names[-1]
    return DispatchKey[found]


def keys_in__by_names(key_set):
    present = [name for name, bit in BIT.items() if bit & key_set]
    found = []
    for name in present:
        if name in PER_BACKEND:
            found += [DispatchKey[PER_BACKEND[name] + backend] for backend in BACKENDS if backend in present]
        elif name not in BACKENDS:
            found.append(DispatchKey[name])
    return tuple(found)


def keys_in__by_filter(key_set):
    return list(filter(lambda key: dispatch.bits(key) | key_set == key_set, RUNTIME_KEYS))


# The table


def compute_table_entry__by_a_list_of_candidates(kernels, fallbacks, key):
    implicit, explicit = DispatchKey.CompositeImplicitAutograd, DispatchKey.CompositeExplicitAutograd
    candidates = [(kernels, key, "kernel")]
    if key.name in (*BACKENDS, "Undefined"):
        candidates += [
            (kernels, DispatchKey.CompositeExplicitAutogradNonFunctional, "default backend kernel"),
            (kernels, explicit, "default backend kernel"),
            (kernels, implicit, "math kernel"),
        ]
    elif key.name.startswith("Autograd"):
        backend = DispatchKey[key.name[len("Autograd") :]]
        if backend not in kernels and explicit not in kernels:
            candidates.append((kernels, implicit, "math kernel"))
        candidates.append((kernels, DispatchKey.Autograd, "autograd kernel"))
    candidates.append((fallbacks, key, "backend fallback"))
    return next(((found[k], why) for found, k, why in candidates if k in found), (MISSING, "missing"))


def compute_table_entry__with_get(kernels, fallbacks, key):
    def of_alias(name):
        return kernels.get(DispatchKey[name])

    if kernels.get(key) is not None:
        return kernels[key], "kernel"
    is_backend = key.name in BACKENDS or key is DispatchKey.Undefined
    is_autograd = key.name.startswith("Autograd")
    explicit = of_alias("CompositeExplicitAutograd")
    if is_backend and (default := of_alias("CompositeExplicitAutogradNonFunctional") or explicit):
        return default, "default backend kernel"
    if is_backend or is_autograd:
        backend = kernels.get(DispatchKey.__members__.get(key.name.replace("Autograd", "")))
        math = of_alias("CompositeImplicitAutograd")
        if math and not (is_autograd and (backend or explicit)):
            return math, "math kernel"
    if is_autograd and of_alias("Autograd"):
        return of_alias("Autograd"), "autograd kernel"
    return (fallbacks[key], "backend fallback") if key in fallbacks else (MISSING, "missing")


# A call


def dispatch_key_set__by_reducing(stack, included, excluded):
    united = functools.reduce(of.or_, (tensor._key_set for tensor in dispatch.tensors_in(stack)), included)
    return united - (united & excluded & ~BACKEND_MASK)


def dispatch_key_set__with_a_search_of_its_own(stack, included, excluded):
    keys, waiting = included, list(stack)
    while waiting:
        value = waiting.pop()
        if isinstance(value, (list, tuple)):
            waiting.extend(value)
        else:
            keys |= getattr(value, "_key_set", 0)
    return keys & BACKEND_MASK | (keys >> SHIFT & ~(excluded >> SHIFT)) << SHIFT


def skip_fallthrough__by_recursion(operator, key_set):
    return key_set - falling(operator, key_set)


def falling(operator, key_set):
    key = dispatch.highest_priority_key(key_set)
    if key == DispatchKey.Undefined:
        return 0
    bit = 1 << key_set.bit_length() - 1
    return falling(operator, key_set - bit) + (bit if operator.entry(key)[0] is FALLTHROUGH else 0)


def skip_fallthrough__functionality_by_functionality(operator, key_set):
    backends = key_set & BACKEND_MASK
    for name in FUNCTIONALITIES:
        if BIT[name] & key_set:
            key = dispatch.highest_priority_key(backends | BIT[name])
            kernel, _ = operator.entry(key)
            if kernel is FALLTHROUGH:
                key_set ^= BIT[name]
    return key_set


def run__with_its_own_error(operator, key_set, stack, how):
    key = dispatch.highest_priority_key(key_set)
    kernel = operator.entry(key)[0]
    if kernel == MISSING:
        raise NotThere(operator.full_name)
    line = f"[{how}] op=[{operator.full_name}], key=[{key}]"
    bound = dispatch.bind_kernel(kernel, operator, key_set)
    with dispatch.traced(line):
        result = bound(*stack)
    return result


def run__as_a_bound_call(operator, key_set, stack, how):
    kernel, reason = operator.entry(key := dispatch.highest_priority_key(key_set))
    if reason == "missing":
        raise NotImplementedError(dispatch.explain_missing(operator, key))
    call = functools.partial(dispatch.bind_kernel(kernel, operator, key_set), *stack)
    with dispatch.traced(f"[{how}] op=[{operator.schema.full_name}], key=[{key!s}]"):
        return call()


def call__in_three_steps(operator, *stack):
    arrived = dispatch.dispatch_key_set(stack=stack, included=local.included, excluded=local.excluded)
    masked = dispatch.skip_fallthrough(operator=operator, key_set=arrived)
    return dispatch.run(operator=operator, key_set=masked, stack=stack, how="call")


def call__with_a_list(operator, *stack):
    stack = list(stack)
    keys = dispatch.dispatch_key_set(stack, local.included, local.excluded)
    return dispatch.run(operator, dispatch.skip_fallthrough(operator, keys), stack, "call")


# Predictions


def device_keys__by_the_rule(program):
    backend = program.upper() if program in ("cuda", "hip", "xpu", "mps", "mtia", "xla") else None
    backend = backend or {"example": "CPU", "own device": "PrivateUse1", "sparse": "CUDA", "meta": "Meta"}[program]
    keys = [] if backend in ("HIP", "Meta") else [f"Autocast{backend}"]
    if program != "xpu":
        keys += ["AutogradOther" if backend == "HIP" else f"Autograd{backend}", "ADInplaceOrView"]
    return tuple(keys) + (("Sparse" if program == "sparse" else "") + backend,)


def device_keys__from_a_text(program):
    text = """
    example: AutocastCPU AutogradCPU ADInplaceOrView CPU
    cuda: AutocastCUDA AutogradCUDA ADInplaceOrView CUDA
    hip: AutogradOther ADInplaceOrView HIP
    xpu: AutocastXPU XPU
    mps: AutocastMPS AutogradMPS ADInplaceOrView MPS
    mtia: AutocastMTIA AutogradMTIA ADInplaceOrView MTIA
    xla: AutocastXLA AutogradXLA ADInplaceOrView XLA
    own device: AutocastPrivateUse1 AutogradPrivateUse1 ADInplaceOrView PrivateUse1
    sparse: AutocastCUDA AutogradCUDA ADInplaceOrView SparseCUDA
    meta: AutogradMeta ADInplaceOrView Meta"""
    return dict(line.strip().split(": ") for line in text.splitlines()[1:])[program].split()


# Before the dispatcher


def variants_and_tags__by_patterns(entry):
    name, parameters = re.match(r"(\w+)[^(]*\((.*)\) ->", entry["func"]).groups()
    tags = entry.get("tags") or []
    found = {tags} if isinstance(tags, str) else {*tags}
    if "!" in parameters.partition("*, ")[2]:
        found.add("out")
    if re.fullmatch(r"__i\w+__|(?:\w*[^_])?_", name):
        found.add("inplace")
    return sorted(entry["variants"].split(", ") if "variants" in entry else ["function"]), [*found, "pt2_compliant_tag"]


def variants_and_tags__in_tuples(entry):
    schema = parse_schema(entry["func"])
    dunder = schema.name.startswith("__") and schema.name.endswith("__")
    kind = ()
    for argument in schema.arguments:
        if argument.kwarg_only and "!" in argument.alias:
            kind = ("out",)
    if schema.name[2] == "i" if dunder else schema.name[-1] == "_":
        kind += ("inplace",)
    tags = entry.get("tags", ())
    tags = (tags,) if type(tags) is str else tuple(tags)
    return tuple(part.strip() for part in entry.get("variants", "function").split(",")), (
        "pt2_compliant_tag",
        *kind,
        *tags,
    )


def choose_signature__one_schema_at_a_time(schemas, args, kwargs):
    def stack_for(schema):
        values = list(args)
        names = [argument.name for argument in schema.positional]
        first = names[:1] == ["self"]
        if len(names) - first == 1 and schema.positional[-1].type == "int[]":
            sizes = values[first:]
            if len(sizes) > 1 or len(sizes) == 1 and as_int_list(sizes[0]) is not sizes[0]:
                values = [*values[:first], tuple(sizes)]
        stack = [converted(argument, value) for argument, value in zip(schema.arguments, bind(schema, values, kwargs))]
        for argument, value in zip(schema.arguments, stack):
            if not is_of_type(argument, value) and not (isinstance(value, NUMBERS) and may_be_number(schema, argument)):
                raise RuntimeError(argument.name)
        return stack

    for i in range(len(schemas)):
        try:
            return i, stack_for(schemas[i])
        except RuntimeError:
            pass


def choose_signature__with_a_generator(schemas, args, kwargs):
    def fitting():
        for i, schema in enumerate(schemas):
            method = bool(schema.positional) and schema.positional[0].name == "self"
            given, rest = args[:method], args[method:]
            takes_sizes = [argument.type for argument in schema.positional[method:]] == ["int[]"]
            if takes_sizes and rest and as_int_list(rest[0]) is not rest[0]:
                rest = (rest,)
            try:
                stack = bind(schema, given + rest, dict(kwargs))
            except RuntimeError:
                continue
            stack = list(map(converted, schema.arguments, stack))
            fits = [
                is_of_type(argument, value) or (may_be_number(schema, argument) and isinstance(value, NUMBERS))
                for argument, value in zip(schema.arguments, stack)
            ]
            if False not in fits:
                yield i, stack

    return next(fitting(), None)


# Cases


def breaks_compute_table_entry__as_a_table():
    table = """
        Explicit NonFunctional          |          | Meta
        Explicit Implicit               |          | Undefined
        Implicit NonFunctional Autograd |          | AutogradCUDA
        Explicit Implicit Autograd      |          | AutogradPrivateUse1
        Implicit Meta                   | Meta     | AutogradMeta
        Implicit Autograd               |          | Python
    """
    named = {
        "Implicit": "CompositeImplicitAutograd",
        "Explicit": "CompositeExplicitAutograd",
        "NonFunctional": "CompositeExplicitAutogradNonFunctional",
    }
    rows = [[half.split() for half in row.split("|")] for row in table.strip().splitlines()]
    return [
        {"kernels": [named.get(name, name) for name in kernels], "fallthroughs": falls, "key": key}
        for kernels, falls, (key,) in rows
    ]


def breaks_compute_table_entry__in_tuples():
    implicit, explicit, default = (
        f"Composite{kind}" for kind in ("ImplicitAutograd", "ExplicitAutograd", "ExplicitAutogradNonFunctional")
    )
    rows = (
        ("Undefined", (default, explicit, implicit), ()),
        ("Meta", (explicit, default, "Python"), ()),
        ("AutogradCUDA", ("CPU", explicit, implicit), ()),
        ("AutogradMeta", ("CPU", default, implicit), ()),
        ("AutogradPrivateUse1", ("PrivateUse1", "Autograd", implicit), ("PrivateUse1",)),
        ("BackendSelect", (implicit, "Autograd", "CPU"), ()),
    )
    return tuple({"key": key, "kernels": kernels, "fallthroughs": falls} for key, kernels, falls in rows)
