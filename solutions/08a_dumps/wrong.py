"""Wrong answers to lab 08a that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import math
import re
from collections import Counter

from rushlight.course import breaks
from rushlight.inductor import output_code

from ..shared import copied, edited

# ---- dumps ---------------------------------------------------------------------------------------------------------


def kernel_calls__counts_the_definitions(text):
    return dict(Counter(re.findall(r"^ *(cpp_fused\w+)", text, re.MULTILINE)))


def kernel_calls__one_for_each_definition(text):
    return dict.fromkeys(re.findall(r"^(cpp_fused\w+) = ", text, re.MULTILINE), 1)


def kernel_calls__in_the_order_of_the_alphabet(text):
    return dict(sorted(Counter(re.findall(r" (cpp_fused\w+)\(", text)).items(), key=lambda each: each[0], reverse=True))


def kernel_calls__the_most_common_first(text):
    return dict(Counter(re.findall(r"^ +(cpp_fused\w*)\(", text, re.MULTILINE)).most_common())


def kernel_calls__without_digits_in_names(text):
    return dict(Counter(re.findall(r"^ +(cpp_fused_[a-z_]*\d+)\(", text, re.MULTILINE)))


def kernel_calls__of_longer_names_too(text):
    return {name: text.count(f" {name}") for name in re.findall(r"^ +(cpp_fused\w*)\(", text, re.MULTILINE)}


def kernel_calls__indented_by_eight(text):
    return dict(Counter(re.findall(r"^ {8}(cpp_fused\w*)\(", text, re.MULTILINE)))


def _externs(text, operand=r"\b(?:arg\d+_\d+|buf\d+)", keywords=True):
    found = []
    for line in text.splitlines():
        if call := re.fullmatch(r" +(?:(\w+) = )?((?:extern_kernels|torch\.ops)\.[\w.]+)\((.*)\)", line):
            inside, _, out = call[3].partition("out=")
            inside = inside if keywords else re.sub(r"\w+=\w+", "", inside)
            found.append((call[2], re.findall(operand, inside), call[1] or out))
    return found


def extern_calls__with_numbers_of_one_digit(text):
    return _externs(text, r"\b(?:arg\d_1|buf\d)\b")


def extern_calls__without_what_is_given_by_keyword(text):
    return _externs(text, keywords=False)


def extern_calls__only_of_aten(text):
    return [call for call in _externs(text) if call[0].startswith(("extern_kernels", "torch.ops.aten"))]


def extern_calls__only_of_extern_kernels(text):
    found = re.findall(r"(extern_kernels\.\w+)\((.*), out=(\w+)\)", text)
    return [(name, re.findall(r"arg\d+_\d+|buf\d+", inside), out) for name, inside, out in found]


def extern_calls__with_the_result_among_the_operands(text):
    found = []
    for line in text.splitlines():
        if call := re.fullmatch(r" +(?:(\w+) = )?((?:extern_kernels|torch\.ops)\.[\w.]+)\((.*)\)", line):
            operands = re.findall(r"arg\d+_\d+|buf\d+", call[3])
            found.append((call[2], operands, call[1] or operands[-1]))
    return found


def extern_calls__names_each_operand_once(text):
    found = []
    for line in text.splitlines():
        if call := re.fullmatch(r" +(?:(\w+) = )?((?:extern_kernels|torch\.ops)\.[\w.]+)\((.*)\)", line):
            inside, _, out = call[3].partition("out=")
            operands = list(dict.fromkeys(re.findall(r"arg\d+_\d+|buf\d+", inside)))
            found.append((call[2], operands, call[1] or out))
    return found


def extern_calls__splits_at_every_comma(text):
    found = []
    for line in text.splitlines():
        if call := re.fullmatch(r" +(?:(\w+) = )?((?:extern_kernels|torch\.ops)\.[\w.]+)\((.*)\)", line):
            inside, _, out = call[3].partition("out=")
            operands = [each for each in inside.split(", ") if re.fullmatch(r"arg\d+_\d+|buf\d+", each)]
            found.append((call[2], operands, call[1] or out))
    return found


def _memory(text, exact=True, aliases=False, keeps=False, elements=False):
    reused, live, most = {}, {}, 0
    for line in text.splitlines():
        names = re.findall(r"buf\d+", line)
        if "empty_strided_cpu((" in line:
            sizes = re.findall(r"\d+", line.partition("((")[2].partition(")")[0])
            live[names[0]] = math.prod(map(int, sizes))
            if not elements:
                live[names[0]] *= output_code.ITEM_SIZES[line.rpartition(".")[2][:-1]]
        elif "# reuse" in line and (exact or "reinterpret" not in line) or aliases and "# alias" in line:
            reused[names[0]] = names[1]
            live[names[0]] = live.get(names[1], 0) if keeps else live.pop(names[1], 0)
        elif line.strip().startswith("del buf"):
            live.pop(names[0], None)
        most = max(most, sum(live.values()))
    return reused, most


def memory_use__misses_reuse_in_another_shape(text):
    return _memory(text, exact=False)


def memory_use__takes_an_alias_for_reuse(text):
    return _memory(text, aliases=True)


def memory_use__counts_reused_memory_twice(text):
    return _memory(text, keeps=True)


def memory_use__gives_back_through_an_alias(text):
    for line in text.splitlines():
        if line.endswith("# alias"):
            alias, whole = re.findall(r"buf\d+", line)[:2]
            text = text.replace(f" del {alias}\n", f" del {whole}\n")
    return _memory(text)


def memory_use__only_reuse_of_its_own(text):
    reused, most = _memory(text)
    made = re.findall(r"(\w+) = empty_strided_cpu", text)
    for new, old in reused.items():
        if old in made:
            made.append(new)
    return {new: old for new, old in reused.items() if new in made}, most


def memory_use__nothing_if_nothing_is_left(text):
    reused, most = _memory(text)
    left = {*re.findall(r"(\w+) = empty_strided_cpu", text), *reused} - {*reused.values()}
    return reused, most if left - {*re.findall(r"^ +del (\w+)$", text, re.MULTILINE)} else 0


def memory_use__counts_elements(text):
    return _memory(text, elements=True)


def memory_use__adds_up_whatever_is_allocated(text):
    sizes = re.findall(r"empty_strided_cpu\(\(([^)]*)\).*torch\.(\w+)\)", text)
    total = sum(math.prod(map(int, re.findall(r"\d+", each))) * output_code.ITEM_SIZES[dtype] for each, dtype in sizes)
    return _memory(text)[0], total


def fused_operations__at_every_underscore(name, known):
    return [part for part in name.split("_")[2:-1] if part]


def fused_operations__takes_the_first_that_fits(name, known):
    rest, found = name.removeprefix("cpp_fused_"), []
    while not rest.isdigit():
        operator = next((each for each in known if rest.startswith(each + "_")), None)
        if operator is None:
            break
        found.append(operator)
        rest = rest[len(operator) + 1 :]
    return found


def fused_operations__the_longest_that_may_follow(name, known):
    rest, found = name.removeprefix("cpp_fused_"), []
    while not rest.isdigit():
        fitting = [each for each in known if rest.startswith(each + "_") and (not found or each > found[-1])]
        if not fitting:
            break
        found.append(max(fitting, key=len))
        rest = rest[len(found[-1]) + 1 :]
    return found


def fused_operations__looks_for_each_anywhere(name, known):
    return sorted(each for each in known if f"_{each}_" in name)


def _operations(name, known, is_sorted=True):
    ways = [([], name.removeprefix("cpp_fused_"))]
    while ways:
        taken, rest = ways.pop()
        if rest.isdigit():
            return taken
        later = known if not taken or not is_sorted else [each for each in known if each > taken[-1]]
        ways += [([*taken, each], rest[len(each) + 1 :]) for each in later if rest.startswith(each + "_")]
    return []


def fused_operations__forgets_that_they_are_sorted(name, known):
    return _operations(name, known, is_sorted=False)


def fused_operations__in_the_order_of_the_list(name, known):
    right = _operations(name, known)
    return [each for each in known if each in right]


def fused_operations__gives_none_for_none(name, known):
    return _operations(name, known) or None


fused_operations__without_the_digits_at_the_end = edited(
    output_code.fused_operations,
    (
        'name.removeprefix("cpp_fused_")',
        '(name.rstrip("_0123456789") + "_0" if name[:9] == "cpp_fused" else name).removeprefix("cpp_fused_")',
    ),
)


def extern_calls__with_the_last_name_of_the_operator(text):
    return [(name.rpartition(".")[2], *others) for name, *others in _externs(text)]


def extern_calls__without_a_result_that_the_call_allocates(text):
    return [
        (name, operands, None if name.startswith("torch.ops") else result) for name, operands, result in _externs(text)
    ]


def bytes_moved__in_the_order_of_the_names(text):
    return sorted(_moved(text))


def recompilations__with_the_file_of_the_function(log):
    return _reasons(log, name_at=lambda _, said: re.match(r"Recompiling function (.*)", said))


fused_operations__one = edited(output_code.fused_operations, ("return [operator, *others]", "return [operator]"))


def _loops(source, every=False, collapse=True, threads=True, nested=True, tail=True):
    found, lines, runs = [], source.splitlines(), {}
    form = r" +for\(int64_t x(\d+)=.*<static_cast<int64_t>\((\d+)L\);.*\((\d+)L\)"
    for before, line in zip(lines, lines[1:]):
        if loop := re.match(form, line):
            shared = re.search(r"omp for(?: collapse\((\d)\))?", before) if threads else None
            shared = int(shared[1] or 1) if shared and collapse else int(shared is not None)
            depth, size, step = map(int, loop.groups())
            runs[depth] = -(-size // step) if tail else size // step
            runs[depth] *= runs.get(depth - 1, 1) if nested else 1
            found.append((f"x{depth}", size, step, shared, runs[depth]))
        elif every and (loop := re.match(r" +for \(\w+ (x\d+\w*) *= .*<int64_t>\((\d+)L?\);", line)):
            found.append((loop[1], int(loop[2]), 1, 0, int(loop[2])))
    return found


def kernel_loops__does_not_know_collapse(source):
    return _loops(source, collapse=False)


def kernel_loops__does_not_see_the_threads(source):
    return _loops(source, threads=False)


def kernel_loops__takes_each_loop_alone(source):
    return _loops(source, nested=False)


def kernel_loops__forgets_the_tail(source):
    return _loops(source, tail=False)


def kernel_loops__counts_every_for(source):
    return _loops(source, every=True)


def _moved(text, kinds=True, both=True, views=True):
    forms = r" (\w+) = empty_strided_cpu\(\(([^)]*)\)| assert_size_stride\((\w+), \(([^)]*)\)"
    forms += r"| (\w+) = reinterpret_tensor\(\w+, \(([^)]*)\)" * views
    sizes, moved = {}, []
    for groups in re.findall(forms, text):
        name, numbers = next((a, b) for a, b in zip(groups[::2], groups[1::2]) if a)
        sizes[name] = math.prod(map(int, re.findall(r"\d+", numbers)))
    for new, old in re.findall(r" (buf\d+) = (buf\d+);?.*", text):
        sizes.setdefault(new, sizes.get(old, 0))
    for name, operands in re.findall(r"^ +(cpp_fused\w+)\((.*)\)", text, re.MULTILINE):
        body = text[text.index(f"\n{name} = ") :].partition("kernel(")[2].partition(")")[0]
        pointers = re.findall(r"([\w:]+)\* (\w+)", body)
        total = 0
        for (kind, inner), operand in zip(pointers, operands.split(", ")):
            twice = 1 + (both and inner.startswith("in_out"))
            total += sizes.get(operand, 0) * (output_code.ITEM_SIZES[kind] if kinds else 4) * twice
        moved.append((name, total))
    return moved


def bytes_moved__takes_everything_for_float(text):
    return _moved(text, kinds=False)


def bytes_moved__moves_in_out_once(text):
    return _moved(text, both=False)


def bytes_moved__does_not_know_views(text):
    return _moved(text, views=False)


def bytes_moved__one_for_each_kernel(text):
    return list(dict(_moved(text)).items())


bytes_moved__of_buffers_only = edited(output_code.bytes_moved, (r"(?:(\w+) = )?", r"(?:(\w+) = )"))


def _reasons(log, quoted=True, index=False, first=False, missing=None, name_at=re.match, version_at=re.match):
    found = []
    for line in log.splitlines():
        said = line.partition("[__recompiles] ")[2]
        if named := name_at(r"Recompiling function (\S+)", said):
            found.append((named[1], []))
        elif one := version_at(
            r" +- (\d+/\d+): tensor '(.*)' (\w+) mismatch(.*)expected (?:\w+=)?(\w+)(, actual (\w+))?", said
        ):
            version, name, what, where, expected, _, actual = one.groups()
            what += f"[{re.search('[0-9]+', where)[0]}]" if index and "index" in where else ""
            found[-1][1].append((version, name, what, expected, actual or missing))
        elif one := version_at(r" +- (\d+/\d+): (.*?) == (.*?) +#", said):
            value = one[3] if quoted else one[3].strip("'")
            found[-1][1].append((one[1], one[2], "value", value, missing))
    return [(name, reasons[:1] if first else reasons) for name, reasons in found]


def recompilations__without_quotation_marks(log):
    return _reasons(log, quoted=False)


def recompilations__says_at_which_index(log):
    return _reasons(log, index=True)


def recompilations__a_name_anywhere_in_a_line(log):
    return _reasons(log, name_at=re.search)


def recompilations__a_version_anywhere_in_a_line(log):
    return _reasons(log, version_at=re.search)


def recompilations__only_the_newest_version(log):
    return _reasons(log, first=True)


def recompilations__an_empty_text_for_what_is_not_said(log):
    return _reasons(log, missing="")


def recompilations__a_value_ends_at_the_first_hash(log):
    found = _reasons(log)
    for _, reasons in found:
        reasons[:] = [(*one[:3], re.split(r"\s+#", one[3])[0], one[4]) for one in reasons]
    return found


def recompilations__only_tensors(log):
    return [(name, [one for one in reasons if one[2] != "value"]) for name, reasons in _reasons(log)]


kernel_calls__in_the_order_of_the_definitions = edited(
    output_code.kernel_calls,
    ("counts = {}", 'counts = {name: 0 for name in re.findall(r"^(cpp_fused\\w*) = ", text, re.MULTILINE)}'),
    ("return counts", "return {name: count for name, count in counts.items() if count}"),
)


# Sentences that are easily passed over


def recompilations__of_functions_with_a_plain_name(log):
    return [(name, reasons) for name, reasons in _reasons(log) if name.isidentifier()]


recompilations__a_value_ends_at_two_spaces = edited(output_code.recompilations, ("(.*?) {2,}#", "(.*?) {2,}"))
recompilations__at_an_index_of_one_digit = edited(
    output_code.recompilations, ("mismatch.*expected", r"mismatch(?: at index \d)?\. expected")
)
recompilations__of_numbers_of_one_digit = edited(
    output_code.recompilations, (r"(\w+)(?:, actual (\w+))?", r"(\d|[A-Z]\w+)(?:, actual (\d|[A-Z]\w+))?$")
)
kernel_loops__collapses_two_loops_at_most = edited(
    output_code.kernel_loops, ("int(pragma[1] or 1)", "min(2, int(pragma[1] or 1))")
)


# What only some texts show


kernel_calls__a_later_call_moves_it_to_the_end = edited(output_code.kernel_calls, ("counts.get(", "counts.pop("))
extern_calls__indented_by_eight = edited(output_code.extern_calls, ('r" +(?', 'r" {8}(?'))
memory_use__indented_by_eight = edited(output_code.memory_use, ('r" +(\\w+) =', 'r" {8}(\\w+) ='))
bytes_moved__indented_by_eight = edited(output_code.bytes_moved, ('r" +(cpp', 'r" {8}(cpp'))
memory_use__reuse_in_another_shape_is_of_floats = edited(
    output_code.memory_use,
    (
        "live[new] = live.pop(old)",
        'again = re.findall(r"\\d+", line.partition("(buf")[2].partition("(")[2].partition(")")[0])\n'
        "                live[new] = (live.pop(old), 4 * math.prod(map(int, again)))[bool(again)]",
    ),
)
memory_use__a_size_of_zero_counts_as_one = edited(
    output_code.memory_use,
    ('map(int, re.findall(r"\\d+", sizes))', '(int(x) or 1 for x in re.findall(r"\\d+", sizes))'),
)


def fused_operations__in_any_order_the_longest_first(name, known):
    def read(rest, left):
        if rest.isdigit():
            return []
        for operator in sorted(left, key=len, reverse=True):
            if rest.startswith(operator + "_"):
                others = read(rest[len(operator) + 1 :], left - {operator})
                if others is not None:
                    return [operator, *others]

    return read(name.removeprefix("cpp_fused_"), {*known})


kernel_loops__variables_of_one_digit = edited(output_code.kernel_loops, (r"int64_t (\w+)=", r"int64_t (\w\d)="))
recompilations__of_arguments_without_quotes = edited(output_code.recompilations, ("'(.*)'", "'([^']*)'"))
recompilations__of_conditions_without_brackets = edited(output_code.recompilations, ("(.*?) ==", r"([\w()]+) =="))


# ---- cases ---------------------------------------------------------------------------------------------------------

_breaks = copied(breaks.breaks_fused_operations)


def breaks_fused_operations__of_plain_names():
    return [
        {"operations": ["add", "relu"], "others": ["mul"]},
        {"operations": ["relu", "mul", "exp", "add"], "others": ["t", "log"]},
    ]


def breaks_fused_operations__without_other_operators():
    return [case | {"others": []} for case in _breaks()]


def breaks_fused_operations__with_an_operator_at_least():
    return [case for case in _breaks() if case["operations"]]


def breaks_fused_operations__in_the_order_of_the_alphabet():
    return [{key: sorted(words) for key, words in case.items()} for case in _breaks()]


def breaks_fused_operations__without_underscores_at_the_ends():
    return [
        {key: [word for word in words if word == word.strip("_")] for key, words in case.items()} for case in _breaks()
    ]


def breaks_fused_operations__of_all_operators():
    words = sorted({word for case in _breaks() for word in case["operations"]})
    return [{"operations": words, "others": []}, *_breaks()[:1]]


def breaks_fused_operations__of_names_that_torch_does_not_know():
    return [case | {"others": [*case["others"], "layer"]} for case in _breaks()]
