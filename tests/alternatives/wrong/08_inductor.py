"""Wrong answers to lab 08 that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import hashlib
import math
import re
import zlib
from collections import Counter

from answers import edited

from rushlight.aten.native.views import broadcast_shapes
from rushlight.c10.dtypes import result_type
from rushlight.inductor import ir, lowering, memory, output_code, triton_code
from rushlight.inductor.cpp import TYPES, emit, literal
from rushlight.inductor.dependencies import extract_read_writes
from rushlight.inductor.index import (
    ZERO,
    Index,
    Quotient,
    Remainder,
    bounds,
    divided,
    element_index,
    quotient,
    remainder,
    reshaped_indices,
)
from rushlight.inductor.ir import Constant, Load, Pointwise, Reduction

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


def fused_operations__forgets_that_they_are_sorted(name, known):
    ways = [([], name.removeprefix("cpp_fused_"))]
    while ways:
        taken, rest = ways.pop()
        if rest.isdigit():
            return taken
        ways += [([*taken, each], rest[len(each) + 1 :]) for each in known if rest.startswith(each + "_")]
    return []


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


def kernel_reductions__counts_vector_accumulators_too(source):
    return ["sum" for _ in re.findall(r"tmp_acc\d+\w* = .*;", source)]


def kernel_reductions__with_numbers_of_one_digit(source):
    return output_code.kernel_reductions(re.sub(r"tmp_acc\d\d+ = .*", "", source))


def kernel_reductions__takes_zero_for_a_sum(source):
    found = []
    for kind, start in re.findall(r"^ +([\w<>]+) tmp_acc\d+ = (.*);$", source, re.MULTILINE):
        if "Welford" in kind:
            found.append("welford")
        elif "numeric_limits" in start:
            found.append("arg" * ("Index" in kind) + ("max" if "-std" in start or "min()" in start else "min"))
        else:
            found.append("sum" if start == "0" else "prod")
    return found


def kernel_reductions__takes_min_for_a_minimum(source):
    found = []
    for kind, start in re.findall(r"^ +([\w<>]+) tmp_acc\d+ = (.*);$", source, re.MULTILINE):
        if "Welford" in kind:
            found.append("welford")
        elif "numeric_limits" in start:
            found.append("arg" * ("Index" in kind) + ("max" if "-std" in start or "max()" in start else "min"))
        else:
            found.append("any" if kind == "bool" else "sum" if start == "0" else "prod")
    return found


def kernel_reductions__each_number_once(source):
    found = {}
    for kind, number, start in re.findall(r"^ +([\w<>]+) tmp_acc(\d+) = (.*);$", source, re.MULTILINE):
        named = "any" if kind == "bool" else "sum" if start == "0" else "prod"
        if "numeric_limits" in start:
            named = "arg" * ("Index" in kind) + ("max" if "-std" in start or "min()" in start else "min")
        found.setdefault(number, "welford" if "Welford" in kind else named)
    return list(found.values())


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


def _reasons(log, quoted=True, index=False, first=False, missing=None):
    found = []
    for line in log.splitlines():
        said = line.partition("[__recompiles] ")[2]
        if named := re.match(r"Recompiling function (\w+)", said):
            found.append((named[1], []))
        elif one := re.match(
            r" +- (\d+/\d+): tensor '(.*)' (\w+) mismatch(.*)expected (?:\w+=)?(\w+)(, actual (\w+))?", said
        ):
            version, name, what, where, expected, _, actual = one.groups()
            what += f"[{re.search('[0-9]+', where)[0]}]" if index and "index" in where else ""
            found[-1][1].append((version, name, what, expected, actual or missing))
        elif one := re.match(r" +- (\d+/\d+): (.*?) == (.*?) +#", said):
            value = one[3] if quoted else one[3].strip("'")
            found[-1][1].append((one[1], one[2], "value", value, missing))
    return [(name, reasons[:1] if first else reasons) for name, reasons in found]


def recompilations__without_quotation_marks(log):
    return _reasons(log, quoted=False)


def recompilations__says_at_which_index(log):
    return _reasons(log, index=True)


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


def kernel_calls__in_the_order_of_the_definitions(text):
    counts = {name: 0 for name in re.findall(r"^(cpp_fused\w*) = ", text, re.MULTILINE)}
    for name in re.findall(r"^ +(cpp_fused\w*)\(", text, re.MULTILINE):
        counts[name] = counts.get(name, 0) + 1
    return {name: count for name, count in counts.items() if count}


# ---- loops ---------------------------------------------------------------------------------------------------------


def element_index__starts_at_the_beginning(indices, strides, offset):
    total = ZERO
    for index, stride in zip(indices, strides):
        total = total + index * stride
    return total


def element_index__leaves_out_expanded_dimensions_too_late(indices, strides, offset):
    total = Index.of(offset)
    for index, stride in zip(indices, strides):
        total = total + index * max(stride, 1)
    return total


def element_index__assumes_row_major_order(indices, strides, offset):
    total = Index.of(offset)
    for index, stride in zip(indices, sorted(strides, reverse=True)):
        total = total + index * stride
    return total


def quotient__never_simplifies(index, divisor):
    return Index.of(Quotient(index, divisor))


def quotient__divides_every_coefficient(index, divisor):
    return Index(tuple((term, c // divisor) for term, c in index.terms if c // divisor), index.offset // divisor)


def quotient__looks_at_the_upper_bound_only(index, divisor):
    whole, rest = divided(index, divisor)
    return whole if bounds(rest)[1] < divisor else whole + Quotient(rest, divisor)


def quotient__looks_at_the_span_only(index, divisor):
    whole, rest = divided(index, divisor)
    low, high = bounds(rest)
    return whole if high - low < divisor else whole + Quotient(rest, divisor)


def quotient__keeps_the_offset_outside(index, divisor):
    whole, rest = divided(Index(index.terms), divisor)
    low, high = bounds(rest)
    whole = whole + index.offset // divisor
    return whole if low >= 0 and high < divisor else whole + Quotient(rest, divisor)


def reshaped_indices__keeps_what_has_the_same_size(indices, sizes, new_sizes):
    if len(sizes) == len(new_sizes):
        return list(indices)
    position = ZERO
    for index, size in zip(indices, new_sizes):
        position = position * size + index
    return [remainder(quotient(position, math.prod(sizes[dim + 1 :])), size) for dim, size in enumerate(sizes)]


def reshaped_indices__column_major(indices, sizes, new_sizes):
    position, step = ZERO, 1
    for index, size in zip(indices, new_sizes):
        position, step = position + index * step, step * size
    found, step = [], 1
    for size in sizes:
        found.append(remainder(quotient(position, step), size))
        step *= size
    return found


def reshaped_indices__divides_without_looking(indices, sizes, new_sizes):
    position = ZERO
    for index, size in zip(indices, new_sizes):
        position = position * size + index
    found, step = [], math.prod(sizes)
    for size in sizes:
        step //= size
        found.append(Index.of(Remainder(Index.of(Quotient(position, step)), size)))
    return found


def merge_dims__looks_at_the_first_access_only(sizes, strides):
    merged = []
    for dim, size in enumerate(sizes):
        if size == 1:
            continue
        if merged and all(each[merged[-1][-1]] == size * each[dim] for each in strides[:1]):
            merged[-1].append(dim)
        else:
            merged.append([dim])
    return merged


def merge_dims__keeps_loops_of_one_iteration(sizes, strides):
    merged = []
    for dim, size in enumerate(sizes):
        if merged and all(each[merged[-1][-1]] == size * each[dim] for each in strides):
            merged[-1].append(dim)
        else:
            merged.append([dim])
    return merged


def merge_dims__compares_with_the_first_of_the_group(sizes, strides):
    merged = []
    for dim, size in enumerate(sizes):
        if size == 1:
            continue
        if merged and all(each[merged[-1][0]] == size * each[dim] for each in strides):
            merged[-1].append(dim)
        else:
            merged.append([dim])
    return merged


def merge_dims__does_not_merge_what_stands_still(sizes, strides):
    merged = []
    for dim, size in enumerate(sizes):
        if size == 1:
            continue
        if merged and all(each[dim] and each[merged[-1][-1]] == size * each[dim] for each in strides):
            merged[-1].append(dim)
        else:
            merged.append([dim])
    return merged


def merge_dims__forgets_which_way(sizes, strides):
    merged = []
    for dim, size in enumerate(sizes):
        if size == 1:
            continue
        if merged and all(abs(each[merged[-1][-1]]) == abs(size * each[dim]) for each in strides):
            merged[-1].append(dim)
        else:
            merged.append([dim])
    return merged


def merge_dims__three_at_most(sizes, strides):
    merged = []
    for dim, size in enumerate(sizes):
        if size == 1:
            continue
        if merged and len(merged[-1]) < 3 and all(each[merged[-1][-1]] == size * each[dim] for each in strides):
            merged[-1].append(dim)
        else:
            merged.append([dim])
    return merged


def pointwise__aligns_dimensions_from_the_first(name, operands, dtype=None):
    computed = result_type(*operands)
    sizes = tuple(broadcast_shapes(*(each.sizes for each in operands if hasattr(each, "sizes"))))

    def inner(indices):
        values = []
        for operand in operands:
            if hasattr(operand, "sizes"):
                own = [ZERO if size == 1 else index for index, size in zip(indices, operand.sizes)]
                values.append(ir.cast(operand.load(own), computed))
            else:
                values.append(ir.constant(operand, computed))
        return ir.op(name, *values, dtype=dtype)

    return Pointwise(sizes, dtype or computed, inner)


def pointwise__computes_in_the_dtype_of_the_result(name, operands, dtype=None):
    computed = dtype or result_type(*operands)
    sizes = tuple(broadcast_shapes(*(each.sizes for each in operands if hasattr(each, "sizes"))))

    def inner(indices):
        values = []
        for operand in operands:
            if hasattr(operand, "sizes"):
                own = indices[len(indices) - len(operand.sizes) :]
                own = [ZERO if size == 1 else index for index, size in zip(own, operand.sizes)]
                values.append(ir.cast(operand.load(own), computed))
            else:
                values.append(ir.constant(operand, computed))
        return ir.op(name, *values)

    return Pointwise(sizes, computed, inner)


def pointwise__does_not_promote(name, operands, dtype=None):
    computed = result_type(*operands)
    sizes = tuple(broadcast_shapes(*(each.sizes for each in operands if hasattr(each, "sizes"))))

    def inner(indices):
        values = []
        for operand in operands:
            if hasattr(operand, "sizes"):
                own = indices[len(indices) - len(operand.sizes) :]
                values.append(operand.load([ZERO if size == 1 else index for index, size in zip(own, operand.sizes)]))
            else:
                values.append(ir.constant(operand, computed))
        return ir.op(name, *values, dtype=dtype or computed)

    return Pointwise(sizes, dtype or computed, inner)


def pointwise__takes_the_largest_operand_for_the_result(name, operands, dtype=None):
    computed = result_type(*operands)
    sizes = max((each.sizes for each in operands if hasattr(each, "sizes")), key=len)

    def inner(indices):
        values = []
        for operand in operands:
            if hasattr(operand, "sizes"):
                own = indices[len(indices) - len(operand.sizes) :]
                own = [ZERO if size == 1 else index for index, size in zip(own, operand.sizes)]
                values.append(ir.cast(operand.load(own), computed))
            else:
                values.append(ir.constant(operand, computed))
        return ir.op(name, *values, dtype=dtype)

    return Pointwise(tuple(sizes), dtype or computed, inner)


def reduction__reduces_in_the_order_of_dims(kind, operand, dims, keepdim, dtype=None):
    ndim = len(operand.sizes)
    gone = [dim % ndim for dim in dims]
    shown = [dim for dim in range(ndim) if keepdim or dim not in gone]

    def inner(indices, reduced):
        place = dict(zip(shown, indices)) | dict(zip(gone, reduced))
        return ir.cast(operand.load([place[dim] for dim in range(ndim)]), dtype or operand.dtype)

    sizes = tuple(1 if dim in gone else operand.sizes[dim] for dim in shown)
    return Reduction(sizes, dtype or operand.dtype, inner, tuple(operand.sizes[dim] for dim in gone), kind)


def reduction__puts_the_reduced_dimensions_last(kind, operand, dims, keepdim, dtype=None):
    ndim = len(operand.sizes)
    gone = sorted(dim % ndim for dim in dims)
    sizes = [1 if dim in gone else operand.sizes[dim] for dim in range(ndim) if keepdim or dim not in gone]

    def inner(indices, reduced):
        kept = [index for dim, index in enumerate(indices) if dim not in gone] if keepdim else list(indices)
        return ir.cast(operand.load([*kept, *reduced]), dtype or operand.dtype)

    return Reduction(tuple(sizes), dtype or operand.dtype, inner, tuple(operand.sizes[dim] for dim in gone), kind)


def reduction__converts_the_result_only(kind, operand, dims, keepdim, dtype=None):
    ndim = len(operand.sizes)
    gone = sorted(dim % ndim for dim in dims)
    shown = [dim for dim in range(ndim) if keepdim or dim not in gone]

    def inner(indices, reduced):
        place = dict(zip(shown, indices)) | dict(zip(gone, reduced))
        return operand.load([place[dim] for dim in range(ndim)])

    sizes = tuple(1 if dim in gone else operand.sizes[dim] for dim in shown)
    return Reduction(sizes, dtype or operand.dtype, inner, tuple(operand.sizes[dim] for dim in gone), kind)


def can_fuse__looks_forth_only(first, second):
    _, first_write = extract_read_writes(first)
    reads, second_write = extract_read_writes(second)
    same = all(read == first_write for read in reads if read.buffer == first_write.buffer)
    return same and first_write.buffer != second_write.buffer


def can_fuse__is_content_with_one_read_in_place(first, second):
    first_reads, first_write = extract_read_writes(first)
    second_reads, second_write = extract_read_writes(second)
    if first_write.buffer == second_write.buffer:
        return False
    for reads, write in ((second_reads, first_write), (first_reads, second_write)):
        touched = [read for read in reads if read.buffer == write.buffer]
        if touched and write not in touched:
            return False
    return True


def can_fuse__compares_all_indices(first, second):
    first_reads, first_write = extract_read_writes(first)
    second_reads, second_write = extract_read_writes(second)
    indices = {access.index for access in (*first_reads, first_write, *second_reads, second_write)}
    return len(indices) == 1 and first_write.buffer != second_write.buffer


def can_fuse__refuses_every_dependency(first, second):
    first_reads, first_write = extract_read_writes(first)
    second_reads, second_write = extract_read_writes(second)
    names = {read.buffer for read in second_reads} | {second_write.buffer}
    return first_write.buffer not in names and second_write.buffer not in {read.buffer for read in first_reads}


def can_fuse__lets_both_write_one_buffer(first, second):
    first_reads, first_write = extract_read_writes(first)
    second_reads, second_write = extract_read_writes(second)
    forth = all(read == first_write for read in second_reads if read.buffer == first_write.buffer)
    return forth and all(read == second_write for read in first_reads if read.buffer == second_write.buffer)


def _fusable(first, second):
    (first_reads, first_write), (second_reads, second_write) = extract_read_writes(first), extract_read_writes(second)
    forth = all(read == first_write for read in second_reads if read.buffer == first_write.buffer)
    back = all(read == second_write for read in first_reads if read.buffer == second_write.buffer)
    return forth and back and first_write.buffer != second_write.buffer


def can_fuse__nothing_after_a_reduction(first, second):
    return not first.kind and _fusable(first, second)


def can_fuse__no_reduction_after_anything(first, second):
    return not second.kind and _fusable(first, second)


def can_fuse__reductions_with_reductions_only(first, second):
    return first.kind == second.kind and _fusable(first, second)


def can_fuse__whatever_a_reduction_leaves(first, second):
    return first.kind is not None and first.buffer != second.buffer or _fusable(first, second)


def emit__everything_is_a_float(code, value):
    if id(value) in code.names:
        return code.names[id(value)]
    if isinstance(value, Constant):
        return literal(value.value, value.dtype)
    if isinstance(value, Load) and (value.buffer, value.index) in code.store_cache:
        return code.store_cache[value.buffer, value.index]
    if code.hoist is not None and not value.symbols & code.varying:
        name = emit(code.hoist, value)
    else:
        text = code.text(value)
        name = code.new_name()
        code.lines.append(f"const float {name} = {text};")
    code.names[id(value)] = name
    return name


def emit__one_place_for_a_whole_buffer(code, value):
    if id(value) in code.names:
        return code.names[id(value)]
    if isinstance(value, Constant):
        return literal(value.value, value.dtype)
    places = {buffer: place for (buffer, _), place in code.store_cache.items()}
    if isinstance(value, Load) and value.buffer in places:
        return places[value.buffer]
    if code.hoist is not None and not value.symbols & code.varying:
        name = emit(code.hoist, value)
    else:
        text = code.text(value)
        name = code.new_name()
        code.lines.append(f"const {TYPES[value.dtype]} {name} = {text};")
    code.names[id(value)] = name
    return name


def emit__forgets_the_names(code, value):
    if isinstance(value, Constant):
        return literal(value.value, value.dtype)
    if isinstance(value, Load) and (value.buffer, value.index) in code.store_cache:
        return code.store_cache[value.buffer, value.index]
    if code.hoist is not None and not value.symbols & code.varying:
        return emit(code.hoist, value)
    text = code.text(value)
    name = code.new_name()
    code.lines.append(f"const {TYPES[value.dtype]} {name} = {text};")
    return name


def emit__hoists_nothing(code, value):
    if id(value) in code.names:
        return code.names[id(value)]
    if isinstance(value, Constant):
        return literal(value.value, value.dtype)
    if isinstance(value, Load) and (value.buffer, value.index) in code.store_cache:
        return code.store_cache[value.buffer, value.index]
    text = code.text(value)
    name = code.names[id(value)] = code.new_name()
    code.lines.append(f"const {TYPES[value.dtype]} {name} = {text};")
    return name


def emit__hoists_what_varies_too(code, value):
    if id(value) in code.names:
        return code.names[id(value)]
    if isinstance(value, Constant):
        return literal(value.value, value.dtype)
    if isinstance(value, Load) and (value.buffer, value.index) in code.store_cache:
        return code.store_cache[value.buffer, value.index]
    home = code.hoist or code
    text = home.text(value)
    name = code.names[id(value)] = home.new_name()
    home.lines.append(f"const {TYPES[value.dtype]} {name} = {text};")
    return name


def emit__does_not_know_what_has_a_name(code, value):
    if id(value) in code.names:
        return code.names[id(value)]
    if isinstance(value, Constant):
        return literal(value.value, value.dtype)
    if code.hoist is not None and not value.symbols & code.varying:
        name = emit(code.hoist, value)
    else:
        text = code.text(value)
        name = code.new_name()
        code.lines.append(f"const {TYPES[value.dtype]} {name} = {text};")
    code.names[id(value)] = name
    return name


def emit__writes_the_statement_first(code, value):
    if id(value) in code.names:
        return code.names[id(value)]
    if isinstance(value, Constant):
        return literal(value.value, value.dtype)
    if isinstance(value, Load) and (value.buffer, value.index) in code.store_cache:
        return code.store_cache[value.buffer, value.index]
    if code.hoist is not None and not value.symbols & code.varying:
        name = emit(code.hoist, value)
    else:
        name, place = code.new_name(), len(code.lines)
        code.lines.insert(place, f"const {TYPES[value.dtype]} {name} = {code.text(value)};")
    code.names[id(value)] = name
    return name


def emit__hoists_before_it_looks_for_stored_elements(code, value):
    if id(value) in code.names:
        return code.names[id(value)]
    if isinstance(value, Constant):
        return literal(value.value, value.dtype)
    if code.hoist is not None and not (value.symbols & code.varying):
        code.names[id(value)] = emit__hoists_before_it_looks_for_stored_elements(code.hoist, value)
        return code.names[id(value)]
    if isinstance(value, Load):
        stored = code.store_cache.get((value.buffer, value.index))
        if stored is not None:
            return stored
    text = code.text(value)
    code.names[id(value)] = name = code.new_name()
    code.lines.append(f"const {TYPES[value.dtype]} {name} = {text};")
    return name


def emit__hoists_by_one_loop(code, value):
    if id(value) in code.names:
        return code.names[id(value)]
    if isinstance(value, Constant):
        return literal(value.value, value.dtype)
    if isinstance(value, Load) and (value.buffer, value.index) in code.store_cache:
        return code.store_cache[value.buffer, value.index]
    place = code.hoist if code.hoist is not None and value.symbols.isdisjoint(code.varying) else code
    if id(value) not in place.names:
        text = place.text(value)
        place.names[id(value)] = place.new_name()
        place.lines.append(f"const {TYPES[value.dtype]} {place.names[id(value)]} = {text};")
    code.names[id(value)] = place.names[id(value)]
    return code.names[id(value)]


# ---- memory --------------------------------------------------------------------------------------------------------


def last_uses__of_what_is_read_alone(steps, outputs):
    needed, found = set(outputs), []
    for reads, _ in reversed(steps):
        found.append(sorted(set(reads) - needed))
        needed |= set(reads)
    return found[::-1]


def last_uses__in_the_order_of_numbers(steps, outputs):
    return [sorted(names, key=lambda name: (len(name), name)) for names in last_uses_of(steps, outputs)]


def last_uses_of(steps, outputs):
    last = {name: i for i, step in enumerate(steps) for names in step for name in names}
    return [[name for name in last if last[name] == i and name not in outputs] for i in range(len(steps))]


def bytes_alive__frees_before_it_allocates(steps, nbytes, outputs):
    alive, found = set(), []
    for (_, writes), ending in zip(steps, last_uses_of(steps, outputs)):
        alive -= set(ending)
        alive |= {name for name in writes if name in nbytes and name not in ending}
        found.append(sum(nbytes[name] for name in alive))
    return found


def bytes_alive__outputs_end_too(steps, nbytes, outputs):
    ends = last_uses_of(steps, ())
    alive, found = set(), []
    for (_, writes), ending in zip(steps, ends):
        alive |= {name for name in writes if name in nbytes}
        found.append(sum(nbytes[name] for name in alive))
        alive -= set(ending)
    return found


def bytes_alive__from_the_last_write(steps, nbytes, outputs):
    begin = {name: number for number, (_, writes) in enumerate(steps) for name in writes}
    last = {name: number for number, step in enumerate(steps) for names in step for name in names}
    last |= dict.fromkeys(outputs, len(steps))
    return [sum(nbytes[n] for n in nbytes if n in begin and begin[n] <= i <= last[n]) for i in range(len(steps))]


def take_over__as_many_as_can_be(candidates, ending, kept):
    heirs = {}

    def finds(result, seen):
        for name in candidates[result]:
            if name in ending and name not in kept and name not in seen:
                seen.add(name)
                if name not in heirs or finds(heirs[name], seen):
                    heirs[name] = result
                    return True
        return False

    for result in candidates:
        finds(result, set())
    return {result: name for name, result in heirs.items()}


def take_over__two_heirs(candidates, ending, kept):
    found = {}
    for result, inputs in candidates.items():
        for name in inputs:
            if name in ending and name not in kept:
                found[result] = name
                break
    return found


def take_over__the_last_candidate(candidates, ending, kept):
    found = {}
    for result, inputs in candidates.items():
        for name in inputs[::-1]:
            if name in ending and name not in kept and name not in found.values():
                found[result] = name
                break
    return found


def call_lines__frees_before_the_call(steps, kept, outputs, updates):
    known, lines = set(kept), []
    for i, (_, writes) in enumerate(steps):
        for name in writes:
            if name not in known:
                known.add(name)
                lines.append(("reuse", updates[i][name], name) if name in updates[i] else ("allocate", name))
        ending = sorted(last_uses_of(steps, outputs)[i])
        if i + 1 < len(steps):
            lines += [("free", name) for name in ending if name not in kept and name not in updates[i].values()]
        lines.append(("call", i))
    return lines


def call_lines__frees_what_was_passed_on(steps, kept, outputs, updates):
    known, lines = set(kept), []
    for i, (_, writes) in enumerate(steps):
        for name in writes:
            if name not in known:
                known.add(name)
                lines.append(("reuse", updates[i][name], name) if name in updates[i] else ("allocate", name))
        lines.append(("call", i))
        if i + 1 < len(steps):
            lines += [("free", name) for name in sorted(last_uses_of(steps, outputs)[i]) if name not in kept]
    return lines


def plan_reuse__without_looking_at_the_peak(lines, sizes, alive):
    waiting, planned, passed_on = {}, [], set()
    for line in lines:
        if line[0] == "free":
            waiting.setdefault(sizes[line[1]], []).append(line[1])
        elif line[0] == "allocate" and waiting.get(sizes[line[1]]):
            old = waiting[sizes[line[1]]].pop()
            passed_on.add(("free", old))
            line = ("reuse", old, line[1])
        planned.append(line)
    return [line for line in planned if line not in passed_on]


def plan_reuse__first_freed_first(lines, sizes, alive):
    waiting, planned, passed_on = {}, [], set()
    alive, peak, done = list(alive), max(alive), 0
    for line in lines:
        if line[0] == "call":
            done = line[1]
        elif line[0] == "free":
            waiting.setdefault(sizes[line[1]], []).append((line[1], done))
        elif line[0] == "allocate" and waiting.get(sizes[line[1]]):
            (old, before), (_, nbytes) = waiting[sizes[line[1]]][0], sizes[line[1]]
            between = range(before + 1, done + 1)
            if not between or max(alive[i] for i in between) + nbytes <= peak:
                waiting[sizes[line[1]]].pop(0)
                passed_on.add(("free", old))
                line = ("reuse", old, line[1])
                for i in between:
                    alive[i] += nbytes
        planned.append(line)
    return [line for line in planned if line not in passed_on]


def plan_reuse__any_size_that_is_large_enough(lines, sizes, alive):
    waiting, planned, passed_on = [], [], set()
    for line in lines:
        if line[0] == "free":
            waiting.append(line[1])
        elif line[0] == "allocate":
            fitting = [old for old in waiting if sizes[old][1] >= sizes[line[1]][1]]
            if fitting:
                waiting.remove(fitting[-1])
                passed_on.add(("free", fitting[-1]))
                line = ("reuse", fitting[-1], line[1])
        planned.append(line)
    return [line for line in planned if line not in passed_on]


def _planned(lines, sizes, alive, same=lambda size: size, between=None):
    """As the reference, but for what the arguments change."""
    waiting, planned, passed_on = {}, [], set()
    alive, peak, done = list(alive), max(alive), 0
    for line in lines:
        if line[0] == "call":
            done = line[1]
        elif line[0] == "free":
            waiting.setdefault(same(sizes[line[1]]), []).append((line[1], done))
        elif line[0] == "allocate" and waiting.get(same(sizes[line[1]])):
            stack, nbytes = waiting[same(sizes[line[1]])], sizes[line[1]][1]
            old, before = stack[-1]
            steps = range(before + 1, done + 1)
            if not steps or max(alive[i] for i in (between(steps) if between else steps)) + nbytes <= peak:
                stack.pop()
                passed_on.add(("free", old))
                line = ("reuse", old, line[1])
                for i in steps:
                    alive[i] += nbytes
        planned.append(line)
    return [line for line in planned if line not in passed_on]


def plan_reuse__whatever_the_dtype(lines, sizes, alive):
    return _planned(lines, sizes, alive, same=lambda size: size[1])


def plan_reuse__whatever_the_bytes(lines, sizes, alive):
    return _planned(lines, sizes, alive, same=lambda size: size[0])


def plan_reuse__looks_at_the_last_step_only(lines, sizes, alive):
    return _planned(lines, sizes, alive, between=lambda steps: steps[-1:])


def plan_reuse__looks_at_the_first_step_only(lines, sizes, alive):
    return _planned(lines, sizes, alive, between=lambda steps: steps[:1])


def plan_reuse__writes_into_its_argument(lines, sizes, alive):
    lines[:] = _planned(lines, sizes, alive)
    return lines


def _hashed(whole):
    return hashlib.sha256(repr(whole).encode()).hexdigest()[:24]


def cache_key__by_pythons_hash(texts, command, machine):
    return f"{hash((tuple(sorted(texts.items())), tuple(command), machine)) % 2**64:024x}"


def cache_key__in_lower_case(texts, command, machine):
    return hashlib.sha256(repr((sorted(texts.items()), list(command), machine)).lower().encode()).hexdigest()[:24]


def cache_key__parts_in_lines(texts, command, machine):
    parts = [part for item in sorted(texts.items()) for part in item]
    return hashlib.sha256("\n".join([*parts, *command, machine]).encode()).hexdigest()[:24]


def cache_key__parts_between_zeros(texts, command, machine):
    parts = [part for item in sorted(texts.items()) for part in item]
    return hashlib.sha256("\0".join([*parts, *command, machine]).encode()).hexdigest()[:24]


def cache_key__words_between_zeros(texts, command, machine):
    return _hashed((sorted(texts.items()), "\0".join(command), machine))


def cache_key__one_list_of_everything(texts, command, machine):
    return _hashed([*(part for item in sorted(texts.items()) for part in item), *command, machine])


def cache_key__names_joined_to_texts(texts, command, machine):
    return _hashed(([name + text for name, text in sorted(texts.items())], list(command), machine))


def cache_key__each_word_once(texts, command, machine):
    return _hashed((sorted(texts.items()), list(dict.fromkeys(command)), machine))


def cache_key__without_empty_words(texts, command, machine):
    return _hashed((sorted(texts.items()), [word for word in command if word], machine))


def cache_key__of_ascii_only(texts, command, machine):
    whole = repr((sorted(texts.items()), list(command), machine))
    return hashlib.sha256(whole.encode("ascii", "ignore")).hexdigest()[:24]


def cache_key__of_sixteen_bits(texts, command, machine):
    return _hashed((sorted(texts.items()), list(command), machine))[:4] * 6


def cache_key__padded(texts, command, machine):
    return f"{zlib.crc32(repr((sorted(texts.items()), list(command), machine)).encode()):024x}"


def cache_key__joined(texts, command, machine):
    whole = "".join([*texts.values(), *command, machine])
    return hashlib.sha256(whole.encode()).hexdigest()[:24]


def cache_key__joined_by_spaces(texts, command, machine):
    whole = " ".join([*sorted(texts), *(texts[name] for name in sorted(texts)), *command, machine])
    return hashlib.sha256(whole.encode()).hexdigest()[:24]


def cache_key__in_the_order_of_the_dict(texts, command, machine):
    return hashlib.sha256(repr((texts, list(command), machine)).encode()).hexdigest()[:24]


def cache_key__of_sorted_words(texts, command, machine):
    whole = repr((sorted(texts.items()), sorted(command), machine))
    return hashlib.sha256(whole.encode()).hexdigest()[:24]


def kernels_and_buffers__each_result_its_own_buffer(program):
    return {
        "example": ["add relu 2400"],
        "chain": ["mm 3600", "add sin 3600", "mm 3600", "cos 3600"],
        "rows": ["div exp sum 9720"],
        "shared": ["exp neg sum 5360"],
        "kept": ["mm 3600", "relu 3600", "mm 3600"],
        "side": ["cos sin 7200", "mm 3600", "add 3600"],
    }[program]


def kernels_and_buffers__no_buffer_for_an_exponential(program):
    return {
        "example": ["add relu 2400"],
        "chain": ["mm 3600", "add sin 0", "mm 3600", "cos 0"],
        "rows": ["div exp sum 4920"],
        "shared": ["exp neg sum 560"],
        "kept": ["mm 3600", "relu 3600", "mm 3600"],
        "side": ["cos sin 7200", "mm 3600", "add 0"],
    }[program]


# Sentences that are easily passed over


def _copied(slot):
    return type(slot)(slot.__code__, slot.__globals__, slot.__name__, slot.__defaults__)


_element_index, _reshaped_indices, _pointwise, _reduction = map(
    _copied, (element_index, reshaped_indices, lowering.pointwise, lowering.reduction)
)


def element_index__takes_lists_only(indices, strides, offset):
    return _element_index(indices.__add__([]), strides, offset)


def element_index__takes_a_tuple_of_strides_only(indices, strides, offset):
    return _element_index(indices, strides.__add__(()), offset)


def reshaped_indices__takes_a_list_only(indices, sizes, new_sizes):
    return _reshaped_indices(indices.__add__([]), sizes, new_sizes)


def pointwise__takes_a_list_of_operands_only(name, operands, dtype=None):
    return _pointwise(name, operands.__add__([]), dtype)


def reduction__takes_a_tuple_of_dims_only(kind, operand, dims, keepdim, dtype=None):
    return _reduction(kind, operand, dims.__add__(()), keepdim, dtype)


def emit__takes_the_name_before_the_text(code, value):
    if id(value) in code.names:
        return code.names[id(value)]
    if isinstance(value, Constant):
        return literal(value.value, value.dtype)
    if isinstance(value, Load) and (value.buffer, value.index) in code.store_cache:
        return code.store_cache[value.buffer, value.index]
    if code.hoist is not None and not value.symbols & code.varying:
        name = emit(code.hoist, value)
    else:
        name = code.new_name()
        code.lines.append(f"const {TYPES[value.dtype]} {name} = {code.text(value)};")
    code.names[id(value)] = name
    return name


def recompilations__of_functions_with_a_plain_name(log):
    return [(name, reasons) for name, reasons in _reasons(log) if name.isidentifier()]


_last_uses, _bytes_alive, _call_lines = map(_copied, (memory.last_uses, memory.bytes_alive, memory.call_lines))
_take_over = _copied(memory.take_over)


def last_uses__takes_tuples_only(steps, outputs):
    return _last_uses([(reads + (), writes + ()) for reads, writes in steps], outputs)


def last_uses__takes_a_tuple_of_outputs_only(steps, outputs):
    return _last_uses(steps, outputs + ())


def bytes_alive__all_but_inputs_count(steps, nbytes, outputs):
    made = {name for step in steps for names in step for name in names if not name.startswith("arg")}
    return _bytes_alive(steps, {name: nbytes.get(name, 0) for name in made}, outputs)


def bytes_alive__buffers_count(steps, nbytes, outputs):
    return _bytes_alive(steps, {name: size for name, size in nbytes.items() if name.startswith("buf")}, outputs)


def bytes_alive__every_buffer_has_a_size(steps, nbytes, outputs):
    made = {name for step in steps for names in step for name in names if name.startswith("buf")}
    return _bytes_alive(steps, {name: nbytes[name] for name in made}, outputs)


def take_over__takes_a_list_only(candidates, ending, kept):
    return _take_over(candidates, ending, kept + [])


def call_lines__takes_a_list_only(steps, kept, outputs, updates):
    return _call_lines(steps, kept + [], outputs, updates)


def call_lines__keeps_arguments(steps, kept, outputs, updates):
    kept = {name for step in steps for names in step for name in names if name.startswith("arg")}
    return _call_lines(steps, kept, outputs, updates)


def call_lines__keeps_all_but_buffers(steps, kept, outputs, updates):
    kept = {name for step in steps for names in step for name in names if not name.startswith("buf")}
    return _call_lines(steps, kept, outputs, updates)


def call_lines__allocates_again_after_a_reuse(steps, kept, outputs, updates):
    ends, known, lines = last_uses_of(steps, outputs), set(kept), []
    for i, (_, writes) in enumerate(steps):
        for name in writes:
            if name in updates[i]:
                lines.append(("reuse", updates[i][name], name))
            elif name not in known:
                known.add(name)
                lines.append(("allocate", name))
        lines.append(("call", i))
        ending = sorted(ends[i]) if i + 1 < len(steps) else []
        lines += [("free", name) for name in ending if name not in kept and name not in updates[i].values()]
    return lines


def _frees_in_order(key):
    def call_lines(steps, kept, outputs, updates):
        lines = _call_lines(steps, kept, outputs, updates)
        calls = [place for place, line in enumerate(lines) if line[0] == "call"]
        for i, place in enumerate(calls):
            end = next((p for p in range(place + 1, len(lines)) if lines[p][0] != "free"), len(lines))
            lines[place + 1 : end] = sorted(lines[place + 1 : end], key=lambda line: key(line[1], *steps[i]))  # noqa: B023
        return lines

    return call_lines


call_lines__frees_in_the_order_of_numbers = _frees_in_order(lambda name, reads, writes: (len(name), name))
call_lines__frees_in_the_order_of_the_step = _frees_in_order(lambda name, reads, writes: [*reads, *writes].index(name))
call_lines__frees_backwards = _frees_in_order(lambda name, reads, writes: [-ord(letter) for letter in name])


# ---- Triton ----------------------------------------------------------------------------------------------------------

_UNIQUE, _ALL = "np.unique(eval(index, values)).size", "elements = math.prod(sizes.values())"
_SIZE = "POINTER_SIZES[types[pointer]]"

kernel_launches__of_the_definitions = edited(
    triton_code.kernel_launches, (r'r"^ +(triton_\w+)\.run\("', r'r"^(triton_\w+) = "')
)
kernel_launches__each_kernel_once = edited(
    triton_code.kernel_launches,
    ("for name in re.findall(", "for name in dict.fromkeys(re.findall("),
    ("text, re.MULTILINE):\n        kind", "text, re.MULTILINE)):\n        kind"),
)
kernel_launches__rounded_down = edited(triton_code.kernel_launches, ("math.ceil(size / blocks", "int(size / blocks"))
kernel_launches__one_loop = edited(
    triton_code.kernel_launches,
    ('source.count("for r0_offset in") * counts', '("for r0_offset in" in source) * counts'),
)
kernel_launches__a_persistent_reduction_loops_once = edited(
    triton_code.kernel_launches,
    ('source.count("for r0_offset in") * counts', 'max(source.count("for r0_offset in"), 1) * counts'),
)
kernel_launches__y_first = edited(
    triton_code.kernel_launches,
    ('(counts["x"], counts.get("y", 1), 1)', '(counts.get("y", counts["x"]), counts["x"], 1)'),
)
kernel_launches__idle_only_along_x = edited(
    triton_code.kernel_launches,
    (
        "positions - math.prod(sizes.values())",
        '(counts["x"] * blocks["XBLOCK"] - sizes["x"]) * math.prod(sizes.values()) // sizes["x"]',
    ),
)
kernel_launches__idle_in_one_instance = edited(
    triton_code.kernel_launches,
    ("positions - math.prod(sizes.values())", "(positions - math.prod(sizes.values())) // counts['x']"),
)
kernel_launches__size_hints = edited(
    triton_code.kernel_launches, (r'r"^    (\w+)numel = (\d+)$"', "r\"'(x|y|r0_)': (\\d+)\"")
)

kernel_traffic__every_position = edited(triton_code.kernel_traffic, (_UNIQUE, "math.prod(sizes.values())"))
kernel_traffic__the_largest_index = edited(
    triton_code.kernel_traffic, (_UNIQUE, "int(np.max(eval(index, values))) + 1")
)
kernel_traffic__each_pointer_once = edited(triton_code.kernel_traffic, ("of_pointer[what] += ", "of_pointer[what] = "))
kernel_traffic__loads_only = edited(triton_code.kernel_traffic, ('each["load"], each["store"]', 'each["load"], 0'))
kernel_traffic__elements = edited(triton_code.kernel_traffic, (f" * {_SIZE}", ""))
kernel_traffic__four_bytes = edited(triton_code.kernel_traffic, (_SIZE, "4"))
kernel_traffic__loaded_index_is_one_element = edited(triton_code.kernel_traffic, (_ALL, "elements = 1"))
kernel_traffic__loaded_index_along_x_only = edited(triton_code.kernel_traffic, (_ALL, "elements = sizes['x']"))
kernel_traffic__axes_in_step = edited(
    triton_code.kernel_traffic, ("np.ix_(*map(np.arange, sizes.values()))", "map(np.arange, [min(sizes.values())] * 3)")
)
kernel_traffic__without_numbers_as_an_index = edited(triton_code.kernel_traffic, (r"(?:, |\)$|\)\.)", ", "))
