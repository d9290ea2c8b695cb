"""Correct answers to lab 08 in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

import ast
import collections
import functools
import hashlib
import itertools
import math
import re

import numpy

from rushlight.aten.native.views import broadcast_shapes
from rushlight.aten.strided import contiguous_strides
from rushlight.c10.dtypes import result_type
from rushlight.inductor import ir, memory, output_code
from rushlight.inductor.cpp import TYPES, emit, literal
from rushlight.inductor.dependencies import extract_read_writes
from rushlight.inductor.index import (
    ZERO,
    Index,
    Quotient,
    bounds,
    divided,
    element_index,
    quotient,
    remainder,
)
from rushlight.inductor.ir import Constant, Load, Pointwise, Reduction
from rushlight.inductor.triton_code import POINTER_SIZES

# ---- dumps ---------------------------------------------------------------------------------------------------------


def kernel_calls__with_split(text):
    found = collections.Counter()
    for line in text.split("\n"):
        name, bracket, _ = line.partition("(")
        if line.startswith(" ") and bracket and name.strip().startswith("cpp_fused"):
            found[name.strip()] += 1
    return dict(found)


def kernel_calls__from_the_wrapper(text):
    wrapper = text[text.find("def call(self") :]
    names = [name for name in re.findall(r"(cpp_fused\w+)\(", wrapper)]
    return {name: names.count(name) for name in names}


def kernel_calls__by_the_definitions(text):
    names = re.findall(r"^(cpp_fused\w+) =", text, re.MULTILINE)
    places = {name: text.index(f" {name}(") for name in names}
    return {name: text.count(f" {name}(") for name in sorted(places, key=places.get)}


def extern_calls__with_split(text):
    calls = []
    for line in text.splitlines():
        head, bracket, rest = line.strip().partition("(")
        *result, operator = head.split(" = ")
        if not bracket or not operator.startswith(("extern_kernels.", "torch.ops.")) or len(result) > 1:
            continue
        words = rest.translate(str.maketrans("()[],", " " * 5)).split()
        out = [word[4:] for word in words if word.startswith("out=")]
        read = [word.rpartition("=")[2] for word in words if not word.startswith("out=")]
        operands = [w for w in read if re.fullmatch(r"buf[0-9]+|arg[0-9]+_[0-9]+", w)]
        calls.append((operator, operands, (result + out)[0]))
    return calls


def extern_calls__in_two_passes(text):
    with_memory = re.finditer(r"^ +(extern_kernels[.\w]+|torch\.ops[.\w]+)\((.*), out=(\w+)\)$", text, re.M)
    allocating = re.finditer(r"^ +(\w+) = (extern_kernels[.\w]+|torch\.ops[.\w]+)\((.*)\)$", text, re.M)
    found = [(m.start(), m[1], m[2], m[3]) for m in with_memory] + [(m.start(), m[2], m[3], m[1]) for m in allocating]
    return [(name, re.findall(r"arg\d+_\d+|buf\d+", inside), result) for _, name, inside, result in sorted(found)]


def memory_use__word_by_word(text):
    sizes, heirs, steps = {}, {}, [0]
    for line in map(str.strip, text.splitlines()):
        if " = empty_strided_cpu(" in line:
            name, _, rest = line.partition(" = empty_strided_cpu((")
            count = 1
            for size in rest.partition(")")[0].split(","):
                count *= int(size) if size.strip() else 1
            sizes[name] = count * output_code.ITEM_SIZES[line.rpartition("torch.")[2].rstrip(")")]
        elif line.endswith("reuse"):
            new, _, old = line.partition(" = ")
            old = old.partition("(")[2].partition(",")[0] if "reinterpret" in old else old.partition(";")[0]
            heirs[new] = old
            sizes[new] = sizes.pop(old, 0)
        elif line.startswith("del "):
            sizes.pop(line[4:], None)
        steps.append(sum(sizes.values()))
    return heirs, max(steps)


def memory_use__as_differences(text):
    allocation = r" +(?P<new>\w+) = empty_strided_cpu\(\((?P<sizes>[^)]*)\).*torch\.(?P<dtype>\w+)\)"
    reuse = r" +(?P<heir>buf\d+) = (?:reinterpret_tensor\()?(?P<old>buf\d+).*# reuse"
    release = r" +del (?P<gone>buf\d+)$"
    heirs, behind, now, most = {}, {}, 0, 0
    for found in re.finditer(f"^(?:{allocation}|{reuse}|{release})", text, re.MULTILINE):
        what = found.groupdict()
        if what["new"]:
            behind[what["new"]] = output_code.ITEM_SIZES[what["dtype"]] * math.prod(
                int(size) for size in what["sizes"].split(",") if size.strip()
            )
            now += behind[what["new"]]
        elif what["heir"]:
            heirs[what["heir"]] = what["old"]
            behind[what["heir"]] = behind.pop(what["old"], 0)
        else:
            now -= behind.pop(what["gone"], 0)
        most = max(now, most)
    return heirs, most


def fused_operations__from_the_back(name, known):
    ways = [([], name[len("cpp_fused") : name.rindex("_")])]
    while True:
        taken, rest = ways.pop(0)
        if not rest:
            return taken
        for operator in known:
            if rest.endswith("_" + operator) and (not taken or operator < taken[0]):
                ways.append(([operator, *taken], rest[: -len(operator) - 1]))


def fused_operations__all_choices(name, known):
    parts = name.split("_")[2:-1]
    reachable = {0: [[]]}
    for start in range(len(parts)):
        for taken in reachable.get(start, []):
            for end in range(start + 1, len(parts) + 1):
                operator = "_".join(parts[start:end])
                if operator in known and all(operator > other for other in taken):
                    reachable.setdefault(end, []).append([*taken, operator])
    return reachable[len(parts)][0]


def kernel_loops__by_braces(source):
    lines, found, around, level = source.splitlines(), [], [], 0
    for i, line in enumerate(lines):
        text = line.strip()
        if text.startswith("for(int64_t"):
            start, end, step = text[len("for(int64_t ") :].rstrip(")").split(";")
            before = lines[i - 1].strip()
            shared = 0
            if before.startswith("#pragma omp for"):
                shared = int(before[before.index("(") + 1 : -1]) if "collapse" in before else 1
            number = [int(part[part.rindex("(") + 1 : part.rindex("L")]) for part in (end, step)]
            around.append((level, -(-number[0] // number[1])))
            found.append((start.partition("=")[0], *number, shared, math.prod(runs for _, runs in around)))
        level += text.count("{") - text.count("}")
        if text == "}" and around and around[-1][0] == level:
            around = around[:-1]
    return found


def kernel_loops__in_one_expression(source):
    start = r"^(?P<pragma> +#pragma omp for.*\n)?(?P<indent> +)for\(int64_t (?P<name>\w+)="
    form = start + r".*?<static_cast<int64_t>\((?P<size>\d+)L.*?\((?P<step>\d+)L\)\)$"
    found, open_ones = [], []
    for loop in re.finditer(form, source, re.MULTILINE):
        open_ones = [(end, runs) for end, runs in open_ones if end > loop.start()]
        closing = "\n" + loop["indent"] + "}\n"
        shared = 0
        if loop["pragma"]:
            shared = int((re.search(r"collapse\((\d+)", loop["pragma"]) or [0, 1])[1])
        size, step = int(loop["size"]), int(loop["step"])
        runs = (size + step - 1) // step
        for _, outer in open_ones[-1:]:
            runs *= outer
        found.append([loop["name"], size, step, shared, runs])
        open_ones.append((source.index(closing, loop.end()), runs))
    return found


def kernel_loops__by_the_numbers_of_the_variables(source):
    lines, found, runs = source.splitlines(), [], {-1: 1}
    for before, line in zip(lines, lines[1:]):
        numbers = re.findall(r"\d+", line)
        if line.lstrip().startswith("for(int64_t"):  # 64 0 64 0 0 64 50 0 64 16
            depth, size, step = int(numbers[1]), int(numbers[6]), int(numbers[9])
            runs[depth] = runs[depth - 1] * -(-size // step)
            shared = [*map(int, re.findall(r"\d+", before)), 1][0] if "omp for" in before else 0
            found.append((f"x{depth}", size, step, shared, runs[depth]))
    return found


def kernel_reductions__by_cases(source):
    found = []
    for line in source.splitlines():
        words = line.split(maxsplit=3)
        if len(words) < 4 or not re.fullmatch(r"tmp_acc[0-9]+", words[1]) or words[2] != "=":
            continue
        kind, start = words[0], words[3].rstrip(";")
        if "Welford" in kind:
            found.append("welford")
        elif kind == "bool":
            found.append("any")
        elif start in ("0", "1"):
            found.append(["sum", "prod"][int(start)])
        else:
            least = start.split("{0, ")[-1].startswith("-") or start.rstrip("}").endswith("min()")
            found.append("arg" * ("IndexValue" in kind) + ("max" if least else "min"))
    return found


def kernel_reductions__from_a_table(source):
    table = {"0": "sum", "1": "prod"}
    for kind in ("float", "double"):
        table |= {f"-std::numeric_limits<{kind}>::infinity()": "max", f"std::numeric_limits<{kind}>::infinity()": "min"}
    for kind in ("int64_t", "int32_t", "uint8_t"):
        table |= {f"std::numeric_limits<{kind}>::min()": "max", f"std::numeric_limits<{kind}>::max()": "min"}
    found = []
    for kind, start in re.findall(r"\n +([^ \n]+) tmp_acc[0-9]+ = ([^;\n]+);", source):
        inside = re.fullmatch(r"IndexValue<\w+>\{0, (.*)\}", start)
        if kind.startswith("Welford<") and start == kind + "()":
            found.append("welford")
        elif inside:
            found.append("arg" + table[inside[1]])
        elif start in table and kind not in ("auto", "return"):
            found.append("any" if kind == "bool" else table[start])
    return found


def bytes_moved__looking_up_each_argument(text):
    def count(name):
        told = re.search(rf"(?:\b{name} = \w+\((?:\w+, )?|assert_size_stride\({name}, )\(([^)]*)\)", text)
        if told:
            return math.prod(int(size) for size in told[1].split(",") if size.strip())
        return count(re.search(rf"\b{name} = (\w+)", text)[1])

    found = []
    for line in text.splitlines():
        if line.startswith("  ") and line.strip().startswith("cpp_fused"):
            name, _, operands = line.strip().rstrip(")").partition("(")
            body = text[text.index(f"\n{name} = async_compile") :]
            signature = body[body.index("kernel(") + 7 : body.index("{")].strip().rstrip(")")
            total = 0
            for operand, parameter in zip(operands.split(", "), signature.split(","), strict=True):
                kind, inner = parameter.replace("const", "").replace("*", "").split()
                total += count(operand) * output_code.ITEM_SIZES[kind] * (2 if inner.startswith("in_out_ptr") else 1)
            found.append((name, total))
    return found


def bytes_moved__kernel_by_kernel(text):
    sizes, parameters, kernel, moved = {}, collections.defaultdict(list), None, []
    for line in text.splitlines():
        if defined := re.match(r"(cpp_fused\w+) = ", line):
            kernel = defined[1]
        elif line.startswith("'''"):
            kernel = None
        elif kernel and (pointer := re.search(r"([\w:]+)\* ((?:in|out|in_out)_ptr\d+)[,)]", line)) and "=" not in line:
            parameters[kernel].append((output_code.ITEM_SIZES[pointer[1]], "in_out" in pointer[2]))
        elif kernel is None:
            numbers = r"\(((?:\d+, ?)*\d*)\)"
            if known := re.match(rf" +assert_size_stride\((\w+), {numbers}", line):
                sizes[known[1]] = known[2]
            elif made := re.match(rf" +(\w+) = (?:empty_strided_cpu|reinterpret_tensor)\((?:\w+, )?{numbers}", line):
                sizes[made[1]] = made[2]
            elif named := re.match(r" +(buf\d+) = (buf\d+)($|;| )", line):
                sizes[named[1]] = sizes.get(named[2])
            elif called := re.match(r" +(cpp_fused\w+)\(([\w, ]+)\)", line):
                total = 0
                for (size, twice), operand in zip(parameters[called[1]], called[2].split(", ")):
                    elements = 1
                    for number in re.findall(r"\d+", sizes[operand]):
                        elements *= int(number)
                    total += elements * size * (1 + twice)
                moved.append([called[1], total])
    return moved


def recompilations__with_split(log):
    found = []
    for line in log.splitlines():
        _, _, said = line.partition("[__recompiles] ")
        words = said.split()
        if said.startswith("Recompiling function"):
            found.append((words[2], []))
        elif len(words) > 1 and words[0] == "-" and words[1][0].isdigit() and "/" in words[1]:
            version, why = words[1].rstrip(":"), said.partition(": ")[2]
            if why.startswith("tensor '"):
                argument, what = why[len("tensor '") :].split("' ")[0], why.split("' ")[1].split()[0]
                expected = why.partition("expected ")[2].partition(",")[0].removeprefix("requires_grad=")
                actual = why.partition("actual ")[2] or None
                found[-1][1].append((version, argument, what, expected.strip(), actual and actual.strip()))
            else:
                condition = why.partition("  #")[0] if "  #" in why else why.partition(" #")[0]
                argument, _, value = condition.strip().partition(" == ")
                found[-1][1].append((version, argument, "value", value.strip(), None))
    return found


def recompilations__paragraph_by_paragraph(log):
    found = []
    for paragraph in log.split("Recompiling function ")[1:]:
        reasons = []
        tensor = r"- (\S+): tensor '(.+)' (\w+) mismatch(?: at index \d+)?\. "
        tensor += r"expected (?:requires_grad=)?(\w+)(?:, actual (\w+))?\s*$"
        value = r"__recompiles\] +- (\d+/\d+): (.+?) == (.+?) {2,}#|__recompiles\] +- (\d+/\d+): (.+?) == (.+?) #"
        for line in paragraph.splitlines():
            if one := re.search(tensor, line):
                reasons.append(list(one.groups()))
            elif one := re.search(value, line):
                version, name, text = [group for group in one.groups() if group]
                reasons.append([version, name, "value", text, None])
        found.append([paragraph.split()[0], reasons])
    return found


def recompilations__by_the_kind_of_value(log):
    tensor = r"tensor '(.+)' (\w+) mismatch.*expected (?:requires_grad=)?(\w+)(?:, actual (\w+))?$"
    value = r"(\S+) == ('.*?'|\".*?\"|\S+) {2,}#"
    found = []
    for line in log.splitlines():
        said = line.partition("[__recompiles]")[2].strip()
        if said.startswith("Recompiling"):
            found.append((said.split()[2], []))
        elif reason := re.match(r"- (\d+/\d+): (.*)", said):
            if one := re.match(tensor, reason[2]):
                found[-1][1].append((reason[1], *one.groups()))
            elif one := re.match(value, reason[2]):
                found[-1][1].append((reason[1], one[1], "value", one[2], None))
    return found


# ---- loops ---------------------------------------------------------------------------------------------------------


def element_index__by_reduce(indices, strides, offset):
    pairs = zip(indices, strides)
    return functools.reduce(lambda total, pair: total + pair[0] * pair[1], pairs, Index((), offset))


def element_index__from_the_last_dimension(indices, strides, offset):
    where = Index.of(0)
    for dim in range(len(indices) - 1, -1, -1):
        if strides[dim]:
            where += strides[dim] * indices[dim]
    return where + offset


def quotient__with_loops(index, divisor):
    whole, rest = Index.of(index.offset // divisor), Index.of(index.offset % divisor)
    for term, coefficient in index.terms:
        if coefficient % divisor:
            rest = rest + Index.of(term) * coefficient
        else:
            whole = whole + Index.of(term) * (coefficient // divisor)
    low, high = bounds(rest)
    return whole if low >= 0 and high <= divisor - 1 else whole + Quotient(rest, divisor)


def quotient__by_the_rest_of_the_bounds(index, divisor):
    whole, rest = divided(index, divisor)
    if {bound // divisor for bound in bounds(rest)} == {0}:
        return whole
    return Index.of(Quotient(rest, divisor)) + whole


def reshaped_indices__from_the_last_dimension(indices, sizes, new_sizes):
    position, step = ZERO, 1
    for index, size in list(zip(indices, new_sizes))[::-1]:
        position, step = position + index * step, step * size
    found, step = [], 1
    for dim in reversed(range(len(sizes))):
        here = quotient(position, step)
        found.insert(0, remainder(here, sizes[dim]) if dim else here)
        step *= sizes[dim]
    return [ZERO if size == 1 else index for index, size in zip(found, sizes)]


def reshaped_indices__from_the_outermost_dimension(indices, sizes, new_sizes):
    flat, answer = ZERO, []
    for index, size in zip(indices, new_sizes):
        flat = flat * size + index
    for dim in range(len(sizes)):
        stride = math.prod(sizes[dim + 1 :])
        answer.append(quotient(flat, stride))
        flat = remainder(flat, stride)
    return answer


def reshaped_indices__by_recursion(indices, sizes, new_sizes):
    strides = contiguous_strides(new_sizes)
    where = element_index(list(indices), strides, 0)

    def parts(where, sizes):
        if not sizes:
            return []
        *others, last = sizes
        return [*parts(quotient(where, last), others), remainder(where, last)]

    return parts(where, list(sizes))


def merge_dims__from_the_inside(sizes, strides):
    dims = [dim for dim in range(len(sizes)) if sizes[dim] != 1]
    groups = []
    for dim in reversed(dims):
        if groups and all(each[dim] == each[groups[0][0]] * sizes[groups[0][0]] for each in strides):
            groups[0].insert(0, dim)
        else:
            groups.insert(0, [dim])
    return groups


def merge_dims__by_where_to_cut(sizes, strides):
    dims = [dim for dim, size in enumerate(sizes) if size > 1]
    cuts = [
        n
        for n, (outer, inner) in enumerate(zip(dims, dims[1:]), 1)
        if not all(each[outer] - each[inner] * sizes[inner] == 0 for each in strides)
    ]
    borders = [0, *cuts, len(dims)]
    return [dims[start:end] for start, end in zip(borders, borders[1:])] if dims else []


def pointwise__with_a_function_for_each_operand(name, operands, dtype=None):
    common = result_type(*operands)
    sizes = broadcast_shapes(*[getattr(each, "sizes", ()) for each in operands])

    def value(operand, indices):
        if not hasattr(operand, "load"):
            return ir.constant(operand, common)
        skipped = len(sizes) - len(operand.sizes)
        chosen = [indices[skipped + dim] if size != 1 else ZERO for dim, size in enumerate(operand.sizes)]
        return ir.cast(operand.load(chosen), common)

    return Pointwise(
        sizes=list(sizes),
        dtype=common if dtype is None else dtype,
        inner=lambda indices: ir.op(name, *[value(each, indices) for each in operands], dtype=dtype or common),
    )


def pointwise__from_the_last_dimension(name, operands, dtype=None):
    common = result_type(*operands)
    tensors = [hasattr(each, "sizes") for each in operands]
    sizes = tuple(broadcast_shapes(*(each.sizes for each, known in zip(operands, tensors) if known)))

    def inner(indices):
        found = []
        for operand, is_tensor in zip(operands, tensors):
            if is_tensor:
                backwards = zip(reversed(operand.sizes), reversed(list(indices)))
                own = [ZERO if size == 1 else index for size, index in backwards]
                found += [ir.cast(operand.load(own[::-1]), common)]
            else:
                found += [ir.constant(operand, common)]
        return ir.op(name, *found, dtype=dtype)

    return Pointwise(sizes, dtype or common, inner)


def reduction__with_places(kind, operand, dims, keepdim, dtype=None):
    ndim = len(operand.sizes)
    gone = sorted(dim + ndim if dim < 0 else dim for dim in dims)
    sizes = []
    for dim, size in enumerate(operand.sizes):
        if dim not in gone:
            sizes.append(size)
        elif keepdim:
            sizes.append(1)

    def inner(indices, reduced):
        full = list(indices)
        for dim, index in zip(gone, reduced):
            if keepdim:
                full[dim] = index
            else:
                full.insert(dim, index)
        return ir.cast(operand.load(full), operand.dtype if dtype is None else dtype)

    return Reduction(
        sizes=sizes,
        dtype=operand.dtype if dtype is None else dtype,
        inner=inner,
        reduced_sizes=[operand.sizes[dim] for dim in gone],
        kind=kind,
    )


def reduction__with_dictionaries(kind, operand, dims, keepdim, dtype=None):
    sizes = dict(enumerate(operand.sizes))
    gone = [dim for dim in sizes if dim in dims or dim - len(sizes) in dims]
    shown = [dim for dim in sizes if keepdim or dim not in gone]
    into = dtype or operand.dtype

    def inner(indices, reduced):
        place = dict(zip(shown, indices)) | dict(zip(gone, reduced))
        return ir.cast(operand.load([place[dim] for dim in sizes]), into)

    kept = tuple(1 if dim in gone else sizes[dim] for dim in shown)
    return Reduction(kept, into, inner, tuple(map(sizes.get, gone)), kind)


def can_fuse__with_sets(first, second):
    reads, (writes, later) = (
        zip(extract_read_writes(first), extract_read_writes(second)),
        (extract_read_writes(first)[1], extract_read_writes(second)[1]),
    )
    first_reads, second_reads = (set(side) for side in next(iter(reads)))
    if writes.buffer == later.buffer:
        return False
    forth = {read for read in second_reads if read.buffer == writes.buffer}
    back = {read for read in first_reads if read.buffer == later.buffer}
    return forth <= {writes} and back <= {later}


def can_fuse__one_conflict_after_another(first, second):
    (before, put), (after, get) = extract_read_writes(first), extract_read_writes(second)
    if put.buffer == get.buffer:
        return False
    for reads, write in ((after, put), (before, get)):
        for read in reads:
            if read.buffer == write.buffer and read.index != write.index:
                return False
    return True


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


def take_over__by_crossing_off(candidates, ending, kept):
    free = [name for name in ending if name not in kept]
    heirs = {}
    for result in candidates:
        choice = next((name for name in candidates[result] if name in free), None)
        if choice is not None:
            free.remove(choice)
            heirs[result] = choice
    return heirs


def take_over__recursive(candidates, ending, kept):
    if not candidates:
        return {}
    (result, inputs), *others = candidates.items()
    wanted = [name for name in inputs if name in set(ending) - set(kept)]
    found = {result: wanted[0]} if wanted else {}
    return found | take_over__recursive(dict(others), set(ending) - set(found.values()), kept)


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


def kernels_and_buffers__by_match(program):
    match program:
        case "example":
            return ("add relu 2400",)
        case "chain":
            return ["mm 3600", "add sin 0", "mm 3600", "cos 0"]
        case "rows":
            return [f"div exp sum {4 * (30 * 40 + 30)}"]
        case "shared":
            return [f"exp neg sum {4 * (30 * 40 + 2 * 40 + 2 * 30)}"]
        case "kept":
            return ["mm 3600", "relu 3600", "mm 3600"]
        case "side":
            return [f"cos sin {2 * 3600}", "mm 3600", "add 0"]


def kernels_and_buffers__from_elements(program):
    calls = {
        "example": [("relu add", 600)],
        "chain": [("mm", 900), ("sin add", 0), ("mm", 900), ("cos", 0)],
        "rows": [("exp sum div", 1230)],
        "shared": [("exp neg sum", 1340)],
        "kept": [("mm", 900), ("relu", 900), ("mm", 900)],
        "side": [("sin cos", 1800), ("mm", 900), ("add", 0)],
    }
    return [" ".join([*sorted(names.split()), str(4 * numel)]) for names, numel in calls[program]]


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
