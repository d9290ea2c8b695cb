"""Wrong answers to lab 00 that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import re
import statistics

import torch
import yaml
from torch.profiler import profile
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from rushlight.on_torch import trace

from ..shared import edited

# The source map


def layer_of__only_from_the_beginning(path):
    fitting = [entry for entry in trace.SOURCE_MAP if path.startswith(entry)]
    if not fitting:
        raise ValueError(path)
    entry = max(fitting, key=len)
    return trace.SOURCE_MAP[entry][0], entry


def layer_of__the_longest_name(path):
    fitting = [entry for entry in trace.SOURCE_MAP if f"/{entry}/" in f"/{path}/"]
    if not fitting:
        raise ValueError(path)
    entry = max(fitting, key=len)
    return trace.SOURCE_MAP[entry][0], entry


def layer_of__knows_no_way_out(path):
    fitting = [entry for entry in trace.SOURCE_MAP if f"/{entry}/" in f"/{path}/"] or ["torch"]
    entry = max(fitting, key=lambda entry: (entry.count("/"), f"/{path}/".rindex(f"/{entry}/") if entry in path else 0))
    return trace.SOURCE_MAP[entry][0], entry


# Schemas and registrations


def read_schema__asks_torch(schema):
    parsed = torch._C.parse_schema(schema)
    read = trace_read(schema)
    return read | {"required": [each.name for each in parsed.arguments if not each.has_default_value()]}


trace_layer_of = trace.layer_of.__class__(trace.layer_of.__code__, trace.layer_of.__globals__)
trace_timed = trace.timed.__class__(trace.timed.__code__, trace.timed.__globals__)
trace_read = trace.read_schema.__class__(trace.read_schema.__code__, trace.read_schema.__globals__)


def read_schema__ends_at_the_first_arrow(schema):
    parts = trace.split_at_commas(schema.partition("(")[2].partition(" -> ")[0].removesuffix(")"))
    names = [part.partition("=")[0].split()[-1] for part in parts if part != "*" and "=" not in part]
    return trace_read(schema) | {"required": names}


def read_schema__takes_an_annotation_for_a_promise_to_write(schema):
    read = trace_read(schema)
    return read | {"written": sorted({name for names in read["shared"] for name in names})}


def read_schema__looks_for_an_exclamation_mark_anywhere(schema):
    read = trace_read(schema)
    parts = trace.split_at_commas(schema.partition("(")[2].rpartition(") -> ")[0])
    return read | {"written": [part.partition("=")[0].split()[-1] for part in parts if "!" in part]}


def read_schema__splits_within_brackets(schema):
    parts = schema.partition("(")[2].rpartition(") -> ")[0].split(", ")
    names = [part.partition("=")[0].split()[-1] for part in parts if part and part != "*" and "=" not in part]
    return trace_read(schema) | {"required": names}


def registrations__forgets_the_delegate(text, name):
    entries = {entry["func"].partition("(")[0]: entry for entry in yaml.safe_load(text)}
    if name not in entries:
        raise LookupError(name)
    dispatch = entries[name].get("dispatch", {"CompositeImplicitAutograd": name.partition(".")[0]})
    return {key: kernel for keys, kernel in dispatch.items() for key in keys.split(", ")}


registrations__takes_all_of_the_delegate = edited(
    trace.registrations, ("{key: kernel for key, kernel in inherited.items() if key in STRUCTURED_KEYS}", "inherited")
)


def registrations__keeps_keys_together(text, name):
    entries = {entry["func"].partition("(")[0]: entry for entry in yaml.safe_load(text)}
    return entries[name].get("dispatch", {"CompositeImplicitAutograd": name.partition(".")[0]})


registrations__splits_no_keys = edited(
    trace.registrations,
    ('keys.split(", ")', "[keys]"),
    ("if key in STRUCTURED_KEYS", 'if {*key.split(", ")} & {*STRUCTURED_KEYS}'),
)
registrations__takes_an_empty_dispatch_for_none = edited(trace.registrations, ('if "dispatch" in entry', "if kernels"))
registrations__registers_nothing_by_default = edited(
    trace.registrations, ('{"CompositeImplicitAutograd": name.partition(".")[0] + "_out" * ("!" in by_name)}', "{}")
)


# Calls


def aten_calls__asks_the_profiler(function, *args):
    with profile() as seen:
        function(*args)
    return [(event.name.replace("::", ".") + ".default", []) for event in seen.events()]


def aten_calls__without_arguments_by_name(function, *args):
    calls = []

    class Record(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            calls.append((str(func), [tuple(x.shape) for x in args if isinstance(x, torch.Tensor)]))
            return func(*args, **(kwargs or {}))

    with Record():
        function(*args)
    return calls


def aten_calls__never_leaves(function, *args):
    calls = []

    class Record(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            calls.append((str(func), []))
            return func(*args, **(kwargs or {}))

    mode = Record()
    mode.__enter__()
    function(*args)
    mode.__exit__(None, None, None)
    return calls


def aten_calls__swallows_errors(function, *args):
    calls = []

    class Record(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            leaves = torch.utils._pytree.tree_leaves((args, kwargs or {}))
            calls.append((str(func), [tuple(x.shape) for x in leaves if isinstance(x, torch.Tensor)]))
            return func(*args, **(kwargs or {}))

    try:
        with Record():
            function(*args)
    except RuntimeError:
        pass
    return calls


# Keys and kernels


def keys_in_order__of_the_tensor_alone(x):
    keys, found = torch._C._dispatch_keys(x), []
    while (key := keys.highestPriorityTypeId()) != torch._C.DispatchKey.Undefined:
        found.append(key.name)
        keys = keys.remove(key)
    return found


def keys_in_order__as_they_are_printed(x):
    keys = torch._C._dispatch_keys(x) | torch._C._dispatch_tls_local_include_set()
    keys = keys - torch._C._dispatch_tls_local_exclude_set()
    return str(keys).removeprefix("DispatchKeySet(").removesuffix(")").split(", ")


def keys_in_order__autograd_only_where_it_is_asked_for(x):
    keys = torch._C._dispatch_keys(x) | torch._C._dispatch_tls_local_include_set()
    keys, found = keys - torch._C._dispatch_tls_local_exclude_set(), []
    while (key := keys.highestPriorityTypeId()) != torch._C.DispatchKey.Undefined:
        if not key.name.startswith("Autograd") or x.requires_grad and torch.is_grad_enabled():
            found.append(key.name)
        keys = keys.remove(key)
    return found


def serving__finds_a_line_by_its_beginning(table, keys):
    for key in [*keys, "Undefined"]:
        line = next((line for line in table.splitlines() if line.startswith(key)), None)
        if line is None:
            return None
        where = line.partition(": ")[2]
        if not where.startswith("fallthrough "):
            place, _, kind = where.removeprefix("registered at ").rpartition(" [")
            return key, place, kind.rstrip("]")


def serving__by_the_first_key(table, keys):
    lines = dict(line.split(": ", 1) for line in table.splitlines())
    if not keys or keys[0] not in lines:
        return None
    where, _, kind = lines[keys[0]].partition(" [")
    return keys[0], where.rpartition(" at ")[2], kind[:-1]


def serving__ends_the_path_at_a_space(table, keys):
    lines = dict(line.split(": ") for line in table.splitlines())
    key = next(key for key in (*keys, "Undefined") if not lines.get(key, "").startswith("fallthrough"))
    if key not in lines:
        return None
    _, _, place, kind = lines[key].split(" ", 3)
    return key, place, kind.strip("[]")


def serving__passes_over_what_is_missing(table, keys):
    lines = dict(line.split(": ", 1) for line in table.splitlines())
    for key in (*keys, "Undefined"):
        if key in lines and not lines[key].startswith("fallthrough"):
            where, _, kind = lines[key].partition(" [")
            return key, where.rpartition(" at ")[2], kind[:-1]
    return None


def serving__in_the_order_of_the_table(table, keys):
    for line in table.splitlines():
        key, _, rest = line.partition(": ")
        if key in keys and not rest.startswith("fallthrough"):
            where, _, kind = rest.partition(" [")
            return key, where.rpartition(" at ")[2], kind[:-1]
    return None


# Time


def hot_operators__divides_by_the_sum(events, share=0.05):
    times = trace_hot(events, -1.0) or [(event.name, 0) for event in events]
    total = sum(time for _, time in times)
    return [(name, time) for name, time in times if time / total > share]


trace_hot = trace.hot_operators.__class__(trace.hot_operators.__code__, trace.hot_operators.__globals__)


def hot_operators__by_total_time(events, share=0.05):
    times = {}
    for event in events:
        times[event.name] = times.get(event.name, 0) + event.end - event.start
    hot = [(name, time) for name, time in times.items() if time > share * sum(times.values())]
    return sorted(hot, key=lambda each: (-each[1], each[0]))


def hot_operators__subtracts_all_that_is_within(events, share=0.05):
    times = dict.fromkeys([event.name for event in events], 0)
    for event in events:
        inside = [other for other in events if other.within(event) and other != event]
        times[event.name] += event.end - event.start - sum(other.end - other.start for other in inside)
    hot = [(name, time) for name, time in times.items() if time > share * sum(times.values())]
    return sorted(hot, key=lambda each: (-each[1], each[0]))


def hot_operators__of_the_time_from_first_to_last(events, share=0.05):
    if not events:
        return []
    times = dict(trace_hot(events, -1))
    whole = max(event.end for event in events) - min(event.start for event in events)
    return sorted([(n, t) for n, t in times.items() if t > share * whole and t], key=lambda each: (-each[1], each[0]))


trace_hot = trace.hot_operators.__class__(trace.hot_operators.__code__, trace.hot_operators.__globals__)


def hot_operators__mixes_threads(events, share=0.05):
    return trace_hot([trace.Event(event.name, 0, event.start, event.end) for event in events], share)


def timed__without_synchronising(call, synchronize, clock, warmup=3, repeats=5):
    for _ in range(warmup):
        call()
    times = []
    for _ in range(repeats):
        start = clock()
        call()
        times.append(clock() - start)
    return statistics.median(times)


def timed__synchronises_only_afterwards(call, synchronize, clock, warmup=3, repeats=5):
    for _ in range(warmup):
        call()
    times = []
    for _ in range(repeats):
        start = clock()
        call()
        synchronize()
        times.append(clock() - start)
    return statistics.median(times)


def timed__all_at_once(call, synchronize, clock, warmup=3, repeats=5):
    for _ in range(warmup):
        call()
    synchronize()
    start = clock()
    for _ in range(repeats):
        call()
    synchronize()
    return (clock() - start) / repeats


timed__with_the_mean = edited(trace.timed, ("return median(times)", "return sum(times) / repeats"))


def timed__includes_the_first_calls(call, synchronize, clock, warmup=3, repeats=5):
    times = []
    for _ in range(warmup + repeats):
        synchronize()
        start = clock()
        call()
        synchronize()
        times.append(clock() - start)
    return statistics.median(times)


def aten_calls__of_one_namespace(function, *args):
    return [call for call in trace_calls(function, *args) if call[0].startswith("aten.")]


trace_calls = trace.aten_calls.__class__(trace.aten_calls.__code__, trace.aten_calls.__globals__)


def aten_calls__stays_on_after_an_interrupt(function, *args):
    calls = []

    class Record(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            tensors = [each for each in tree_leaves((args, kwargs)) if isinstance(each, torch.Tensor)]
            calls.append((str(func), [tuple(each.shape) for each in tensors]))
            return func(*args, **kwargs)

    mode = Record()
    mode.__enter__()
    try:
        function(*args)
    except Exception:
        mode.__exit__(None, None, None)
        raise
    mode.__exit__(None, None, None)
    return calls


def layer_of__dot_of_a_pattern(path):
    found = []
    for entry in trace.SOURCE_MAP:
        for match in re.finditer(rf"(?:^|(?<=/)){entry}(?=/|$)", path):
            found.append((entry.count("/"), match.start(), entry))
    if not found:
        raise ValueError(f"{path} is not on the source map")
    entry = max(found)[2]
    return trace.SOURCE_MAP[entry][0], entry


read_schema__a_name_up_to_the_last_equals_sign = edited(
    trace.read_schema, ('part.partition("=")[0].split()', 'part.rsplit("=", 1)[0].split()')
)
read_schema__shared_needs_the_same_annotation = edited(
    trace.read_schema,
    ("annotation(part)[:1]", 'annotation(part).partition(" ")[0]'),
    ("annotation(result).startswith(letters[argument])", 'annotation(result).partition(" ")[0] == letters[argument]'),
)


def aten_calls__only_those_that_succeed(function, *args):
    calls = []

    class Record(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args, kwargs):
            shapes = [tuple(each.shape) for each in tree_leaves((args, kwargs)) if isinstance(each, torch.Tensor)]
            result = func(*args, **kwargs)
            calls.append((str(func), shapes))
            return result

    with Record():
        function(*args)
    return calls


def aten_calls__no_lists_among_the_keywords(function, *args):
    calls = []

    class Record(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            tensors = [*tree_leaves(args), *kwargs.values()]
            calls.append((str(func), [tuple(each.shape) for each in tensors if isinstance(each, torch.Tensor)]))
            return func(*args, **kwargs)

    with Record():
        function(*args)
    return calls


def serving__fallthrough_in_the_path(table, keys):
    lines = dict(line.split(": ", 1) for line in table.splitlines())
    for key in (*keys, "Undefined"):
        line = lines.get(key)
        if line is None:
            return None
        if "fallthrough" not in line:
            place, kind = re.fullmatch(r"registered at (.*) \[(.*)\]", line).groups()
            return key, place, kind


def timed__warm_up_watches_the_clock(call, synchronize, clock, warmup=3, repeats=5):
    begin = clock()
    for _ in range(warmup):
        call()
        if clock() - begin > 60:
            break
    times = []
    for _ in range(repeats):
        synchronize()
        start = clock()
        call()
        synchronize()
        times.append(clock() - start)
    return statistics.median(times)


def layer_of__from_the_last_package(path):
    return trace_layer_of(path.rpartition("site-packages/")[2])


def layer_of__ends_at_a_colon(path):
    return trace_layer_of(path.partition(":")[0])


def aten_calls__alone(function, *args):
    calls = []

    class Record(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args, kwargs):
            calls.append(
                (str(func), [tuple(x.shape) for x in tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)])
            )
            with torch.utils._python_dispatch._disable_current_modes():
                return func(*args, **kwargs)

    with Record():
        function(*args)
    return calls


def timed__in_microseconds(call, synchronize, clock, warmup=3, repeats=5):
    return round(trace_timed(call, synchronize, clock, warmup, repeats), 6)


_registrations = type(trace.registrations)(trace.registrations.__code__, trace.registrations.__globals__)


def registrations__falls_back_on_the_overload_tensor(text, name):
    names = {entry["func"].partition("(")[0] for entry in yaml.safe_load(text)}
    return _registrations(text, name if name in names else f"{name}.Tensor")


def registrations__prefers_the_overload_tensor(text, name):
    names = {entry["func"].partition("(")[0] for entry in yaml.safe_load(text)}
    return _registrations(text, f"{name}.Tensor" if f"{name}.Tensor" in names else name)


# Backtraces


def _frame_rows(text, name_of, choose=lambda starts: max(starts, key=len)):
    """Rows of a backtrace, with a rule for the name of a frame and one for the entry."""
    rows = []
    for frame in re.findall(r"^#\d+ +(?:0x[0-9a-f]+ in )?(.*)", text, re.MULTILINE):
        name = name_of(frame)
        if starts := [start for start in trace.FRAME_MAP if name.startswith(start)]:
            rows.append((name, *trace.FRAME_MAP[choose(starts)]))
    return rows


def _without(pattern, frame):
    """A frame up to its first parenthesis, after the places that fit a pattern are gone."""
    return re.sub(pattern, "", frame.replace("(anonymous namespace)::", "")).partition("(")[0].strip()


def _plain(frame):
    while frame != (frame := re.sub(r"<[^<>]*>", "", frame.replace("(anonymous namespace)::", ""))):
        pass
    return _without("<>", frame).rpartition(" ")[2]


def read_backtrace__up_to_the_first_template(text):
    return _frame_rows(text, lambda frame: _without("<.*", frame).rpartition(" ")[2])


def read_backtrace__removes_one_level_of_templates(text):
    return _frame_rows(text, lambda frame: _without("<.*?>", frame).rpartition(" ")[2])


def read_backtrace__removes_the_longest_template(text):
    return _frame_rows(text, lambda frame: _without("<.*>", frame).rpartition(" ")[2])


def read_backtrace__keeps_the_result(text):
    return _frame_rows(text, lambda frame: _without("<[^<>]*>", frame))


def read_backtrace__ends_at_an_anonymous_namespace(text):
    return _frame_rows(text, lambda frame: frame.partition("(")[0] if "(anonymous" in frame else _plain(frame))


read_backtrace__any_line_with_a_hash = edited(trace.read_backtrace, (r"^#\d+ +", r"^#\S* *"))
read_backtrace__indented_lines_too = edited(trace.read_backtrace, (r"^#\d+ +", r"^ *#\d+ +"))
read_backtrace__a_number_anywhere = edited(trace.read_backtrace, (r"^#\d+ +", r"#\d+ +"))
read_backtrace__the_first_anonymous_namespace = edited(
    trace.read_backtrace, ('"(anonymous namespace)::", ""', '"(anonymous namespace)::", "", 1')
)
read_backtrace__after_the_last_in = edited(trace.read_backtrace, ("(?:0x[0-9a-f]+ in )?(.*)", "(?:.* in )?(.*)"))


def read_backtrace__by_the_first_entry(text):
    return _frame_rows(text, _plain, lambda starts: starts[0])


def read_backtrace__by_the_shortest_entry(text):
    return _frame_rows(text, _plain, lambda starts: min(starts, key=len))


def read_backtrace__needs_an_address(text):
    return _frame_rows("\n".join(line for line in text.splitlines() if " in " in line.partition("(")[0]), _plain)


def read_backtrace__any_line(text):
    return _frame_rows(re.sub(r"^(?!#).*?0x", "#0 0x", text, flags=re.MULTILINE), _plain)


def read_backtrace__of_the_library(text):
    return _frame_rows("\n".join(line for line in text.splitlines() if "libtorch" in line), _plain)


def read_backtrace__once_each(text):
    return list(dict.fromkeys(_frame_rows(text, _plain)))


def read_backtrace__without_adapters(text):
    return [row for row in _frame_rows(text, _plain) if "wrap_kernel_functor" not in row[0]]


# What each hint is for

hot_operators__leaves_ties_as_they_come = edited(trace.hot_operators, ("(-item[1], item[0])", "-item[1]"))
serving__calls_what_falls_through = edited(
    trace.serving,
    (' if not lines.get(key, "").startswith("fallthrough")', ""),
    ('(r"registered at', '(r".*?registered at'),
)
serving__the_last_key = edited(trace.serving, ('(*keys, "Undefined")', '(*reversed(keys), "Undefined")'))
serving__another_for_what_is_missing = edited(
    trace.serving, ("        return None\n", "        key = next(iter(lines))\n")
)
serving__the_first_word_of_the_kind = edited(
    trace.serving, ("return key, place, kind", "return key, place, kind.split()[0]")
)

read_schema__keyword_arguments_are_not_required = edited(
    trace.read_schema, ('names if "=" not', 'names if part in parts[:star] and "=" not')
)
read_schema__arguments_without_a_default_are_positional = edited(
    trace.read_schema, ("parts[star + 1 :]]", "parts[star + 1 :] if '=' in part]")
)
aten_calls__calls_the_function_once_more = edited(
    trace.aten_calls, ("    return calls", "    function(*args)\n    return calls")
)
timed__warms_up_once = edited(trace.timed, ("    for _ in range(warmup):", "    if warmup:"))

aten_calls__keywords_in_the_order_of_their_names = edited(
    trace.aten_calls, ("tree_leaves((args, kwargs))", "tree_leaves((args, [kwargs[name] for name in sorted(kwargs)]))")
)
serving__splits_at_each_registered_at = edited(
    trace.serving,
    (
        'place, kind = re.fullmatch(r"registered at (.*) \\[(.*)\\]", lines[key]).groups()',
        'place, kind = lines[key].split("registered at ")[1].removesuffix("]").rsplit(" [", 1)',
    ),
)
read_backtrace__needs_a_parenthesis = edited(
    trace.read_backtrace,
    (
        '        name = name.partition("(")',
        '        if "(" not in name:\n            continue\n        name = name.partition("(")',
    ),
)
read_backtrace__an_entry_anywhere = edited(trace.read_backtrace, ("if name.startswith(start)", "if start in name"))
read_schema__any_letter_of_the_annotation = edited(
    trace.read_schema,
    ("annotation(part)[:1]", "annotation(part)"),
    ("annotation(result).startswith(letters[argument])", "annotation(result)[:1] in {*letters[argument]}"),
)
read_backtrace__an_anonymous_namespace_within_another = edited(
    trace.read_backtrace, ('"(anonymous namespace)::", ""', '"::(anonymous namespace)::", "::"')
)
