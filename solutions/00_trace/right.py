"""Correct answers to lab 00 in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

import re
from collections import defaultdict
from pathlib import PurePosixPath

import torch
import yaml
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten

from rushlight.on_torch import trace

# The source map


def layer_of__window_by_window(path):
    parts = path.split("/")
    for size in range(len(parts), 0, -1):
        for start in range(len(parts) - size, -1, -1):
            entry = "/".join(parts[start : start + size])
            if entry in trace.SOURCE_MAP:
                return trace.SOURCE_MAP[entry][0], entry
    raise ValueError("unknown")


def layer_of__by_regular_expressions(path):
    found = []
    for entry, (layer, _) in trace.SOURCE_MAP.items():
        for match in re.finditer(rf"(?<![^/]){re.escape(entry)}(?![^/])", path):
            found.append((len(PurePosixPath(entry).parts), match.start(), layer, entry))
    if found:
        *_, layer, entry = sorted(found)[-1]
        return [layer, entry]
    raise ValueError(f"no {path}")


# Schemas and registrations


def read_schema__letter_by_letter(schema):
    name, rest = schema[: schema.index("(")], schema[schema.index("(") + 1 :]
    end = rest.rindex(") -> ")
    groups, depth, word = [[]], 0, ""
    for letter in rest[:end] + ", ":
        depth += (letter in "[(") - (letter in "])")
        if letter == "," and not depth:
            groups[-1].append(word.strip())
            word = ""
        else:
            word += letter
    arguments = [each for each in groups[-1] if each]
    result = rest[end + 5 :]
    results = [each for each in result.strip("() ").split(", ") if each] if result[0] == "(" else [result]
    if result[0] == "(":
        results = [each for each in result[1:-1].split(", ") if each]
    read = {"name": name, "required": [], "by name": [], "written": [], "shared": [[] for _ in results]}
    star = False
    for argument in arguments:
        if argument == "*":
            star = True
            continue
        head, has_default, _ = argument.partition("=")
        called = head.rsplit(" ", 1)[1]
        if not has_default:
            read["required"].append(called)
        if star:
            read["by name"].append(called)
        letters = re.findall(r"^\w+\((\w)(!?)", head)
        if letters and letters[0][1]:
            read["written"].append(called)
        for place, each in enumerate(results):
            if letters and re.match(rf"\w+\({letters[0][0]}\W", each):
                read["shared"][place].append(called)
    return read


def read_schema__with_classes(schema):
    class Argument:
        def __init__(self, text, by_name):
            before, self.equals, _ = text.partition("=")
            self.name, self.by_name = before.split(" ")[-1], by_name
            self.alias = trace.annotation(before)

    match = re.fullmatch(r"([^(]*)\((.*)\) -> (.*)", schema)
    before, star, after = f", {match[2]}".partition(", *")
    arguments = [Argument(text, False) for text in trace.split_at_commas(before[2:])]
    arguments += [Argument(text, True) for text in trace.split_at_commas(after[2:])]
    results = trace.split_at_commas(re.sub(r"^\((.*)\)$", r"\1", match[3]))
    aliases = [trace.annotation(result) for result in results]
    return {
        "name": match[1],
        "required": tuple(each.name for each in arguments if not each.equals),
        "by name": tuple(each.name for each in arguments if each.by_name),
        "written": tuple(each.name for each in arguments if each.alias.endswith("!")),
        "shared": [[e.name for e in arguments if e.alias and alias and e.alias[0] == alias[0]] for alias in aliases],
    }


def registrations__line_by_line(text, name):
    blocks = {}
    for block in text.split("- func: ")[1:]:
        blocks[block[: block.index("(")]] = block
    try:
        block = blocks[name]
    except KeyError:
        raise LookupError(name) from None

    def own(block):
        inside, found = False, {}
        for line in block.splitlines()[1:]:
            if line.startswith("  dispatch:"):
                inside = True
            elif inside and line.startswith("    "):
                keys, kernel = line.split("#")[0].rsplit(":", 1)
                found.update({key.strip(): kernel.strip() for key in keys.split(",")})
            else:
                inside = False
        return found

    found = own(block)
    delegate = re.search(r"structured_delegate: (\S+)", block)
    if delegate:
        if delegate[1] not in blocks:
            raise LookupError(delegate[1])
        for key, kernel in own(blocks[delegate[1]]).items():
            if key in trace.STRUCTURED_KEYS:
                found.setdefault(key, kernel)
    elif "  dispatch:" not in block:
        base = name.split(".")[0]
        schema = trace.read_schema(block.splitlines()[0])
        return {"CompositeImplicitAutograd": base + ("_out" if {*schema["written"]} & {*schema["by name"]} else "")}
    return found


def registrations__with_a_helper(text, name):
    def entry_of(name):
        for entry in yaml.safe_load(text):
            if entry["func"].startswith(f"{name}("):
                return entry
        raise KeyError(name)

    def kernels(entry, allowed=None):
        for keys, kernel in (entry.get("dispatch") or {}).items():
            for key in map(str.strip, keys.split(",")):
                if allowed is None or key in allowed:
                    yield key, kernel

    entry, found = entry_of(name), {}
    if entry.keys().isdisjoint({"dispatch", "structured_delegate"}):
        arguments = entry["func"][: entry["func"].rindex("->")]
        out = re.search(r"\*, .*!\)", arguments)
        return {"CompositeImplicitAutograd": entry["func"].split("(")[0].split(".")[0] + "_out" * bool(out)}
    if delegate := entry.get("structured_delegate"):
        found |= kernels(entry_of(delegate), trace.STRUCTURED_KEYS)
    return found | dict(kernels(entry))


# Calls


def aten_calls__in_a_list_subclass(function, *args):
    class Calls(TorchDispatchMode):
        def __init__(self):
            super().__init__()
            self.found = []

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            leaves, _ = tree_flatten([list(args), list((kwargs or {}).values())])
            self.found.append([f"{func}", [list(x.shape) for x in leaves if torch.is_tensor(x)]])
            return func(*args, **(kwargs or {}))

    mode = Calls()
    with mode:
        function(*args)
    return mode.found


def aten_calls__by_hand(function, *args):
    seen = []

    def shapes(value):
        if isinstance(value, torch.Tensor):
            return [tuple(value.size())]
        if isinstance(value, dict):
            value = list(value.values())
        return [shape for each in value for shape in shapes(each)] if isinstance(value, list | tuple) else []

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, op, types, args=(), kwargs=None):
            kwargs = {} if kwargs is None else kwargs
            seen.append((f"{op.namespace}.{op.__name__}", shapes(args) + shapes(kwargs)))
            return op(*args, **kwargs)

    mode = Mode()
    mode.__enter__()
    try:
        function(*args)
    finally:
        mode.__exit__(None, None, None)
    return seen


# Keys and kernels


def keys_in_order__recursively(x):
    def listed(keys):
        key = keys.highestPriorityTypeId()
        return [] if key == torch._C.DispatchKey.Undefined else [str(key).split(".")[1], *listed(keys.remove(key))]

    own, C = torch._C._dispatch_keys(x), torch._C
    return listed((C._dispatch_tls_local_include_set() | own) - C._dispatch_tls_local_exclude_set())


def keys_in_order__of_each_set_apart(x):
    included, excluded = torch._C._dispatch_tls_local_include_set(), torch._C._dispatch_tls_local_exclude_set()
    keys = (torch._C._dispatch_keys(x) - excluded) | (included - excluded)
    found = []
    while True:
        key = keys.highestPriorityTypeId()
        if key.name == "Undefined":
            return tuple(found)
        found += [key.name]
        keys = keys - torch._C.DispatchKeySet(key)


def serving__line_by_line(table, keys):
    for key in list(keys) + ["Undefined"]:
        line = next((line for line in table.split("\n") if line.startswith(key + ":")), None)
        if line is None:
            return None
        if ": fallthrough" in line:
            continue
        start, end = line.index(" at ") + 4, line.rindex(" [")
        return key, line[start:end], line[end + 2 : -1]


def serving__by_one_expression(table, keys):
    form = re.compile(r"^(\w+): (fallthrough )?registered at (.*?) \[([\w ]+)\]$", re.MULTILINE)
    found = {key: (passed, place, kind) for key, passed, place, kind in form.findall(table)}
    for key in (*keys, "Undefined"):
        passed, *rest = found.get(key, ("", None))
        if not passed:
            return [key, *rest] if len(rest) == 2 else None
    return None


# Time


def hot_operators__with_a_stack(events, share=0.05):
    times = defaultdict(int)
    for thread in {event.thread for event in events}:
        stack = []
        here = [event for event in events if event.thread == thread]
        for event in sorted(here, key=lambda event: (event.start, -event.end)):
            while stack and stack[-1].end <= event.start:
                stack.pop()
            if stack:
                times[stack[-1].name] -= event.end - event.start
            times[event.name] += event.end - event.start
            stack.append(event)
    total = sum(times.values())
    ordered = sorted(sorted(times), key=times.__getitem__, reverse=True)
    return [(name, times[name]) for name in ordered if times[name] > share * total]


def hot_operators__second_by_second(events, share=0.05):
    times = defaultdict(int)
    for thread in {event.thread for event in events}:
        here = [event for event in events if event.thread == thread]
        for moment in range(max(event.end for event in here)):
            running = [event for event in here if event.start <= moment < event.end]
            if running:
                innermost = min(running, key=lambda event: event.end - event.start)
                times[innermost.name] += 1
    return sorted(
        ([name, time] for name, time in times.items() if time > share * sum(times.values())),
        key=lambda each: (-each[1], each[0]),
    )


def hot_operators__by_quotients(events, share=0.05):
    times = dict(hot_operators__with_a_stack(events, -1))
    total = sum(times.values())
    return [(name, time) for name, time in times.items() if total and time / total > share]


def timed__sorted(call, synchronize, clock, warmup=3, repeats=5):
    times = []
    for number in range(warmup + repeats):
        synchronize()
        before = clock()
        call()
        synchronize()
        after = clock()
        if number >= warmup:
            times.append(after - before)
    times.sort()
    middle = repeats // 2
    return times[middle] if repeats % 2 else (times[middle - 1] + times[middle]) / 2


def timed__in_torch(call, synchronize, clock, warmup=3, repeats=5):
    [call() for _ in range(warmup)]
    synchronize()

    def once():
        start = clock()
        call()
        synchronize()
        return clock() - start

    return torch.tensor([once() for _ in range(repeats)], dtype=torch.float64).quantile(0.5).item()


# Backtraces


def read_backtrace__character_by_character(text):
    found = []
    for line in text.splitlines():
        if line[:1] != "#" or not line[1:2].isdigit():
            continue
        words = line.split(None, 1)[1]
        if words.startswith("0x"):
            words = words.split(" in ", 1)[1]
        words, name, depth = words.replace("(anonymous namespace)::", ""), [], 0
        for character in words:
            if character == "(" and not depth:
                break
            if character == ">":
                depth -= 1
            elif character == "<":
                depth += 1
            elif not depth:
                name.append(character)
        name = "".join(name).split()[-1]
        for size in range(len(name), 0, -1):
            if name[:size] in trace.FRAME_MAP:
                layer, place = trace.FRAME_MAP[name[:size]]
                found.append([name, layer, place])
                break
    return found


def read_backtrace__from_the_inside(text):
    def without_templates(part):
        while match := re.search(r"<[^<>]*>", part):
            part = part[: match.start()] + part[match.end() :]
        return part

    rows = []
    for match in re.finditer(r"(?m)^#\d+\s+(0x\w+ in )?(?P<frame>.+)$", text):
        plain = without_templates(match["frame"].replace("(anonymous namespace)::", ""))
        name = re.match(r"(?:[^(]* )?([^( ]+) ?(?:\(|$)", plain)[1]
        starts = sorted(filter(name.startswith, trace.FRAME_MAP), key=len)
        if starts:
            rows.append((name,) + tuple(trace.FRAME_MAP[starts[-1]]))
    return tuple(rows)
