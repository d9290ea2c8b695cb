"""Correct answers to lab 08c in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

import ast
import collections
import hashlib
import itertools
import math
import re

import numpy

from rushlight.course import predictions
from rushlight.inductor import memory
from rushlight.inductor.cpp import TYPES, emit, literal
from rushlight.inductor.ir import Constant, Load
from rushlight.inductor.triton_code import POINTER_SIZES

from ..shared import copied

# ---- loops ---------------------------------------------------------------------------------------------------------


def emit__with_one_return(code, value):
    name = code.names.get(id(value))
    if name is None and isinstance(value, Constant):
        name = literal(value.value, value.dtype)
    elif name is None and isinstance(value, Load) and (value.buffer, value.index) in code.store_cache:
        name = code.store_cache[(value.buffer, value.index)]
    elif name is None:
        if code.hoist and code.varying.isdisjoint(value.symbols):
            name = emit(code.hoist, value)
        else:
            text = code.text(value)
            name = code.new_name()
            code.lines += [f"const {TYPES[value.dtype]} {name} = {text};"]
        code.names[id(value)] = name
    return name


def emit__remembering_constants_too(code, value):
    key = id(value)
    if key in code.names:
        return code.names[key]
    if type(value) is Constant:
        found = literal(value.value, value.dtype)
    elif type(value) is Load and code.store_cache.get((value.buffer, value.index)):
        return code.store_cache[value.buffer, value.index]
    elif code.hoist is None or value.symbols & code.varying:
        for part in value.parts:
            emit(code, part)
        text, found = code.text(value), code.new_name()
        code.lines.append("const " + TYPES[value.dtype] + " " + found + " = " + text + ";")
    else:
        found = emit(code.hoist, value)
    return code.names.setdefault(key, found)


def emit__walks_out_of_the_loops(code, value):
    passed, place, key = [], code, id(value)
    while True:
        if key in place.names:
            name = place.names[key]
            break
        if isinstance(value, Constant):
            name = literal(value.value, value.dtype)
            break
        stored = place.store_cache.get((value.buffer, value.index)) if isinstance(value, Load) else None
        if stored is not None:
            name = stored
            break
        passed.append(place)
        if place.hoist is not None and not any(symbol in place.varying for symbol in value.symbols):
            place = place.hoist
            continue
        text = place.text(value)
        name = place.new_name()
        place.lines += [" ".join(("const", TYPES[value.dtype], name, "=", text)) + ";"]
        break
    for each in passed:
        each.names[key] = name
    return name


# ---- memory --------------------------------------------------------------------------------------------------------


def last_uses__from_the_front(steps, outputs):
    last = {}
    for i, (reads, writes) in enumerate(steps):
        for name in list(reads) + list(writes):
            last[name] = i
    ending = [[] for _ in steps]
    for name in sorted(last):
        if name not in outputs:
            ending[last[name]].append(name)
    return ending


def last_uses__by_looking_ahead(steps, outputs):
    def used(step):
        return set(step[0]) | set(step[1])

    found = []
    for i, step in enumerate(steps):
        later = set(outputs).union(*map(used, steps[i + 1 :]))
        found.append(sorted(used(step).difference(later)))
    return found


def bytes_alive__as_differences(steps, nbytes, outputs):
    changes = [0] * (len(steps) + 1)
    for name, size in nbytes.items():
        uses = [i for i, step in enumerate(steps) if name in step[0] or name in step[1]]
        made = [i for i, step in enumerate(steps) if name in step[1]]
        if made:
            changes[made[0]] += size
            changes[len(steps) if name in outputs else uses[-1] + 1] -= size
    return list(itertools.accumulate(changes))[:-1]


def bytes_alive__by_ranges(steps, nbytes, outputs):
    alive = [0 for _ in steps]
    for start, (_, writes) in enumerate(steps):
        for name in writes:
            if name not in nbytes or any(name in earlier for _, earlier in steps[:start]):
                continue
            end = start
            for i in range(start, len(steps)):
                if name in outputs or name in steps[i][0] or name in steps[i][1]:
                    end = i
            for i in range(start, end + 1):
                alive[i] += nbytes[name]
    return alive


def call_lines__as_a_generator(steps, kept, outputs, updates):
    def lines():
        made = set()
        for i, (_, writes) in enumerate(steps):
            for name in writes:
                if name in made or name in kept:
                    continue
                made.add(name)
                old = updates[i].get(name)
                yield ("allocate", name) if old is None else ("reuse", old, name)
            yield "call", i
            if i == len(steps) - 1:
                return
            later = set(outputs)
            for reads, others in steps[i + 1 :]:
                later.update(reads, others)
            gone = later.union(kept, updates[i].values())
            yield from (("free", name) for name in sorted({*steps[i][0], *writes}) if name not in gone)

    return list(lines())


def call_lines__and_then_the_end_is_dropped(steps, kept, outputs, updates):
    lines, seen = [], set(kept)
    ends = memory.last_uses(steps, outputs)
    for i, (_, writes) in enumerate(steps):
        new = [name for name in dict.fromkeys(writes) if name not in seen]
        seen.update(new)
        lines.extend(("reuse", updates[i][name], name) if name in updates[i] else ("allocate", name) for name in new)
        lines.append(("call", i))
        passed = set(updates[i].values()) | set(kept)
        lines.extend(("free", name) for name in ends[i] if name not in passed)
    while lines and lines[-1][0] == "free":
        lines.pop()
    return lines


def plan_reuse__with_stacks_of_places(lines, sizes, alive):
    planned, alive, peak = list(lines), list(alive), sorted(alive)[-1]
    steps = list(
        itertools.accumulate((line[0] == "call" for line in lines), initial=0)
    )  # how many ran before each line
    stacks = collections.defaultdict(list)
    for place, line in enumerate(lines):
        if line[0] == "free":
            stacks[sizes[line[1]]].append(place)
        if line[0] != "allocate" or not stacks[sizes[line[1]]]:
            continue
        freed = stacks[sizes[line[1]]][-1]
        first, last = steps[freed], steps[place]  # the steps between the two
        nbytes = sizes[line[1]][1]
        if first < last and max(alive[first:last]) + nbytes > peak:
            continue
        alive[first:last] = [each + nbytes for each in alive[first:last]]
        stacks[sizes[line[1]]].pop()
        planned[place], planned[freed] = ("reuse", lines[freed][1], line[1]), None
    return [line for line in planned if line]


def plan_reuse__searching_backwards(lines, sizes, alive):
    alive, peak, result = [*alive], max(alive), []
    for line in lines:
        if line[0] == "allocate":
            freed = [each for each in result if each[0] == "free" and sizes[each[1]] == sizes[line[1]]]
            if freed:
                place = result.index(freed[-1])
                steps = sum(each[0] == "call" for each in result)
                before = sum(each[0] == "call" for each in result[:place])
                raised = [number + sizes[line[1]][1] for number in alive[before:steps]]
                if all(number <= peak for number in raised):
                    alive[before:steps] = raised
                    del result[place]
                    line = ("reuse", freed[-1][1], line[1])
        result.append(line)
    return result


def cache_key__with_lengths(texts, command, machine):
    digest = hashlib.sha256()
    files = [part for name in sorted(texts) for part in (name, texts[name])]
    for group in files, command, [machine]:
        digest.update(len(group).to_bytes(8, "big"))
        for part in group:
            encoded = part.encode()
            digest.update(len(encoded).to_bytes(8, "big") + encoded)
    return digest.hexdigest()[:24]


def cache_key__as_json(texts, command, machine):
    import json

    whole = json.dumps({"command": list(command), "machine": machine, "texts": texts}, sort_keys=True)
    return hashlib.blake2b(whole.encode(), digest_size=12).hexdigest()


def cache_key__of_one_list(texts, command, machine):
    whole = repr([sorted(texts.items()), *command, machine])
    return hashlib.blake2b(whole.encode(), digest_size=12).hexdigest()


_kernels_and_buffers = copied(predictions.kernels_and_buffers)


def kernels_and_buffers__with_a_second_draw():
    right = _kernels_and_buffers()
    return {"h": [], "g": [], "f": [], "e": []} | {key: right[key] for key in reversed(right)}


def kernels_and_buffers__in_tuples():
    right = _kernels_and_buffers()
    return {key: value if key == "name" else tuple(value) for key, value in right.items()}


def last_uses__by_joining_lists(steps, outputs):
    used = [reads + writes for reads, writes in steps] + [outputs]
    return [sorted({*names} - set().union(*used[i + 1 :])) for i, names in enumerate(used[:-1])]


# ---- Triton ----------------------------------------------------------------------------------------------------------


def kernel_launches__line_by_line(text, configs):
    kernels, launches, current = {}, [], None
    for line in text.splitlines():
        if line.startswith("triton_"):
            current = kernels[line.split(" ")[0]] = {"sizes": {}, "blocks": {}, "loops": 0}
        elif line.startswith("@triton_heuristics."):
            current["kind"] = line.removeprefix("@triton_heuristics.").rstrip("(")
        elif ".run(" in line:
            launches.append(line.strip().split(".run(")[0])
        words = line.split()
        if len(words) == 3 and words[0] in ("xnumel", "ynumel", "r0_numel") and words[2].isdigit():
            current["sizes"][words[0].removesuffix("numel")] = int(words[2])
        elif words[:2] == ["R0_BLOCK:", "tl.constexpr"] and words[-1].isdigit():
            current["blocks"]["R0_BLOCK"] = int(words[-1])
        elif words[:2] == ["for", "r0_offset"]:
            current["loops"] += 1
    found = []
    for name in launches:
        kernel = kernels[name]
        blocks = {**configs[name], **kernel["blocks"]}
        counts, inside, real = {"x": 1, "y": 1, "r0_": 0}, 1, 1
        for axis, size in kernel["sizes"].items():
            block = blocks[axis.upper() + "BLOCK"]
            counts[axis] = -(-size // block)
            inside, real = inside * counts[axis] * block, real * size
        grid = [counts["x"], counts["y"], 1]
        found.append([name, kernel["kind"], grid, kernel["loops"] * counts["r0_"], inside - real])
    return found


def _launch_of_triton(name, text, config):
    start = text.index(f"\n{name} = async_compile")
    tree = ast.parse(text[start:].partition("'''\n")[2].partition("''', device_str")[0])
    (function,) = tree.body
    loops = [node for node in ast.walk(function) if isinstance(node, ast.For)]
    config = dict(config)
    sizes = {}
    for node in function.body:
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Constant)
            and "numel" in ast.unparse(node.targets[0])
        ):
            sizes[node.targets[0].id.replace("numel", "block").upper()] = node.value.value
        if isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Constant):
            config[node.target.id] = node.value.value
    steps = {axis: len(range(0, size, config[axis])) for axis, size in sizes.items()}
    grid = tuple(steps.get(axis, 1) for axis in ("XBLOCK", "YBLOCK")) + (1,)
    real = math.prod(sizes.values())
    idle = math.prod(steps[axis] * config[axis] for axis in sizes) - real
    return name, function.decorator_list[0].func.attr, grid, len(loops) * steps.get("R0_BLOCK", 0), idle


def kernel_launches__with_ast(text, configs):
    calls = re.findall(r"^\s+(\w+)\.run\(", text, re.MULTILINE)
    return [_launch_of_triton(name, text, configs[name]) for name in calls]


def kernel_traffic__position_by_position(source):
    sizes = {axis: int(size) for axis, size in re.findall(r"^ +(x|y|r0_)numel = (\d+)", source, re.MULTILINE)}
    lines = [line.strip() for line in source.splitlines()]
    defined = [line.split(" = ") for line in lines if re.match(r"[xyr][0-9_]+ = ", line)]
    defined = [(name, compile(text, "index", "eval")) for name, text in defined]
    accesses = []
    for line in lines:
        if where := re.search(r"tl\.(load|store)\((\w+) \+ ", line):
            depth, end = 0, where.end()
            while True:
                depth += {"(": 1, ")": -1}.get(line[end], 0)
                end += 1
                if depth == 0:
                    break
            index = line[where.end() : end]
            accesses.append((where[1], where[2], index, set()))
    codes = [
        0 if "tl." in index else None if "tmp" in index else compile(index, "i", "eval") for _, _, index, _ in accesses
    ]
    for position in itertools.product(*(range(size) for size in sizes.values())):
        known = {f"{axis}index": at for axis, at in zip(sizes, position)}
        for name, text in defined:
            known[name] = eval(text, {}, known)
        for (*_, seen), code in zip(accesses, codes):
            seen.add(position if code is None else 0 if code == 0 else eval(code, {}, known))
    moved = {}
    for what, pointer, _, seen in accesses:
        kind = re.search(rf"'{pointer}': '\*([a-z]+)(\d+)'", source)
        bits = max(int(kind[2]), 8)
        moved.setdefault(pointer, [0, 0])[what == "store"] += len(seen) * bits // 8
    return moved


def kernel_traffic__with_flat_arrays(source):
    sizes = collections.OrderedDict((m[1], int(m[2])) for m in re.finditer(r"^    (\w+)numel = (\d+)$", source, re.M))
    total = math.prod(sizes.values())
    names, before = {}, 1
    for axis, size in sizes.items():
        names[f"{axis}index"] = numpy.arange(total) // before % size
        before *= size
    moved = collections.defaultdict(collections.Counter)
    for line in source.splitlines():
        left, _, right = line.strip().partition(" = ")
        if "index" in right and left in ("x0", "x1", "x2", "x3", "y0", "y1", "y2", "r0_0", "r0_1", "r0_2", "r0_3"):
            names[left] = eval(right, names)
        for what in ("load", "store"):
            if f"tl.{what}(" in line:
                pointer, _, rest = line.partition(f"tl.{what}(")[2].partition(" + ")
                if "tmp" in rest.partition(", ")[0]:
                    elements = total
                elif "tl.full" in rest or rest.startswith("(0)"):
                    elements = 1
                else:
                    elements = len(set(eval(rest.partition(", ")[0], names).tolist()))
                type_of = re.search(f"'{pointer}': '([^']*)'", source).group(1)
                moved[pointer][what] += elements * POINTER_SIZES[type_of]
    return {pointer: (bytes_of["load"], bytes_of["store"]) for pointer, bytes_of in moved.items()}


def breaks_take_over__with_a_buffer_that_is_needed_later():
    return [
        {"candidates": [[], [0, 1, 2]], "ending": [0, 2], "kept": [0]},
        {"candidates": [[], [0, 1], [0]], "ending": [1, 0], "kept": []},
        {"candidates": [[0], [1], [0]], "ending": [0, 1], "kept": []},
    ]


def breaks_take_over__four_of_large_numbers():
    a, b, c = 1_000_000, 70, 2
    return (
        {"candidates": ((b,), (c,), (b,)), "ending": (c, b), "kept": (a,)},
        {"candidates": ((), (a, b, c)), "ending": (c, b), "kept": (b,)},
        {"candidates": ((a, b), (a,)), "ending": (b, a), "kept": ()},
        {"candidates": ((c, a),), "ending": (a,), "kept": ()},
    )
