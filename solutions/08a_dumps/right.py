"""Correct answers to lab 08a in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

import collections
import math
import re

from rushlight.inductor import output_code


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
    for paragraph in log.split("[__recompiles] Recompiling function ")[1:]:
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


def breaks_fused_operations__four_cases():
    return [
        {"operations": [], "others": ["add", "_softmax"]},
        {"operations": ["index", "select_backward"], "others": ["index_select"]},
        {"operations": ["var_mean", "_to_copy", "exp", "_softmax"], "others": ["var", "mean"]},
        {"operations": ["logit", "add_", "add"], "others": ["t", "log", "_softmax"]},
    ]


def breaks_fused_operations__as_tuples():
    return (
        {"operations": (), "others": ()},
        {"operations": ("logit", "add_", "add", "_softmax", "_log_softmax"), "others": ("t", "log")},
        {"operations": ("select_backward", "index", "var_mean"), "others": ("var", "mean", "index_select")},
    )
