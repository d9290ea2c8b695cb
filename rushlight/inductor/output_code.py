"""Reading what Inductor generates.

`TORCH_LOGS=output_code` prints the module that Inductor has made of a function: the kernels as C++ in Python strings, and
`call`, the wrapper, which allocates buffers, calls the kernels and the operators that have none, and frees or reuses what is
no longer needed. `TORCH_LOGS=recompiles` says why a function was compiled anew. The functions here take such a text and say
what happened. They read what Inductor writes for the CPU, with vector instructions or without, for sizes that are known. A
text need not be the whole module: all that matters is in the kernels and in `call`.

Source: `torch/_inductor/codegen/wrapper.py` and `torch/_inductor/codegen/cpp.py`, which write these texts.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence

# Bytes of one element, by torch's name of the dtype and by C++'s.
ITEM_SIZES = {"bool": 1, "uint8": 1, "int8": 1, "int16": 2, "int32": 4, "int64": 8}
ITEM_SIZES |= {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8}
ITEM_SIZES |= {"uint8_t": 1, "int8_t": 1, "int16_t": 2, "int32_t": 4, "int64_t": 8, "half": 2, "float": 4, "double": 8}


# The wrapper ---------------------------------------------------------------------------------------------------------


def kernel_calls(text: str) -> dict[str, int]:
    """How often the wrapper calls each kernel, by the kernels' names, in the order of the first calls.

    A kernel's name begins with `cpp_fused`. It stands in the text where the kernel is defined, at the beginning of a line,

        cpp_fused_add_0 = async_compile.cpp_pybinding(['const float*', 'float*'], r'''

    and on a line of its own, indented, wherever it is called: `cpp_fused_add_0(arg0_1, buf0)`. Two places that need the same
    C++ share one kernel. A text in which no kernel is called gives an empty dictionary. The text is what Inductor generates, or
    only the kernels in it and `call`, without what stands before, between and after them.

    Source: `PythonWrapperCodegen.generate_kernel_call` in `torch/_inductor/codegen/wrapper.py`.
    """
    counts = {}
    for name in re.findall(r"^ +(cpp_fused\w*)\(", text, re.MULTILINE):
        counts[name] = counts.get(name, 0) + 1
    return counts


def extern_calls(text: str) -> list[tuple[str, list[str], str]]:
    """The operators that the wrapper calls as they are, without a kernel of Inductor's, in the order of the calls.

    Each is (operator, operands, result). There are two forms: with memory for the result, and one that allocates it.

        extern_kernels.addmm(arg2_1, arg0_1, reinterpret_tensor(arg1_1, (20, 50), (1, 20), 0), alpha=1, beta=1, out=buf0)
        buf4 = torch.ops.aten.sort.stable(buf0, stable=False, dim=1, descending=False)

    Each call is one indented line. The operator is the dotted name as it is written, which begins with `extern_kernels.`, in
    either form, or with `torch.ops.aten.`, in the second. The operands are the names of the tensors that it reads, in order,
    also those given by keyword: `arg`, a number, `_`, a number, or `buf` and a number; for a `reinterpret_tensor`, which is a
    view, the tensor under it. One given twice is named twice. The result, after `out=` or before ` = `, is not an operand.

    Source: `ExternKernelOutLine` and `ExternKernelAllocLine` in `torch/_inductor/codegen/wrapper.py`.
    """
    found = []
    for line in text.splitlines():
        if call := re.fullmatch(r" +(?:(\w+) = )?((?:extern_kernels|torch\.ops)\.[\w.]+)\((.*)\)", line):
            allocated, operator, arguments = call.groups()
            arguments, _, out = arguments.partition("out=")
            found.append((operator, re.findall(r"\b(?:arg\d+_\d+|buf\d+)", arguments), allocated or out))
    return found


def memory_use(text: str) -> tuple[dict[str, str], int]:
    """Which buffers take over the memory of another, {new: old} in the order of the text, and the most bytes in use at once.

    In the bytes, only memory that the wrapper itself allocates counts, not that of arguments or of what an operator returns; the
    dictionary has every reuse. What it does with memory are indented lines of four kinds (sizes may be empty, or end in a comma):

        buf0 = empty_strided_cpu((33, 50), (50, 1), torch.float32)
        buf3 = buf1; del buf1  # reuse
        buf5 = reinterpret_tensor(buf2, (50, 33), (33, 1), 0); del buf2  # reuse
        del buf0

    A new buffer has the product of its sizes times `ITEM_SIZES` of its dtype bytes. Reuse, in the two forms, is the old memory
    under a new name. Without `# reuse` at the end, `buf6 = reinterpret_tensor(...)  # alias` and `buf1 = buf0[0]` only give
    a name to part of what another has: such a name has no memory to give back, and `del buf6` leaves that of the other in
    use. Nor has an argument any: `del arg0_1`.

    Source: `AllocateLine`, `ReuseLine` and `FreeIfNotReusedLine` in `torch/_inductor/codegen/wrapper.py`.
    """
    reused = {}
    live = {}
    most = 0
    for line in text.splitlines():
        if made := re.match(r" +(\w+) = empty_strided_cpu\(\(([\d, ]*)\), .*torch\.(\w+)\)", line):
            name, sizes, dtype = made.groups()
            live[name] = math.prod(map(int, re.findall(r"\d+", sizes))) * ITEM_SIZES[dtype]
            most = max(most, sum(live.values()))
        elif line.endswith("# reuse"):
            new, old = re.findall(r"buf\d+", line)[:2]
            reused[new] = old
            if old in live:
                live[new] = live.pop(old)
        elif (freed := re.match(r" +del (\w+)", line)) and freed[1] in live:
            del live[freed[1]]
    return reused, most


# The kernels ---------------------------------------------------------------------------------------------------------


def fused_operations(name: str, known: Sequence[str]) -> list[str] | None:
    """The operators whose work a kernel does, from the kernel's name, in the order in which the name has them.

    A name is `cpp_fused`, the operators, and the kernel's number, joined by `_`: `cpp_fused__softmax_mul_relu_3`, or, where no
    operator is known, `cpp_fused_3`. The operators are torch's names of them, before decomposition, each once and sorted as
    Python sorts strings. Since they have `_` in them, `known` lists operators, in any order, that may occur. Of the ways to
    read the name as such a sorted list of known operators there is exactly one; what to do with another name is up to you.

    Source: `get_fused_kernel_name` in `torch/_inductor/utils.py`.
    """
    rest = name.removeprefix("cpp_fused_")
    if rest.isdigit():
        return []
    for operator in known:
        if rest.startswith(operator + "_"):
            later = [other for other in known if other > operator]
            others = fused_operations(rest[len(operator) + 1 :], later)
            if others is not None:
                return [operator, *others]
    # nothing fits: then what was taken off the front before is not an operator


def kernel_loops(source: str) -> list[tuple[str, int, int, int, int]]:
    """The loops of a kernel, (variable, size, step, shared, runs), in the order of its C++ text.

    A loop is a line of this form. Its body follows in braces, which stand on lines of their own and as far to the right as it.

        for(int64_t x1=static_cast<int64_t>(0L); x1<static_cast<int64_t>(50L); x1+=static_cast<int64_t>(16L))

    Here the variable is `x1`, the size 50 and the step 16: sixteen elements in one vector register. A step of 1 is a scalar
    loop, or one around a vectorised loop. What is left of 50 is done under `C10_UNLIKELY` in the same loop, with a mask or
    in a scalar loop. That, and whatever else begins with `for (`, does not count. `shared` is 1 if the line before is
    `#pragma omp for`, n if that ends in `collapse(n)`, for then the threads share out the iterations of so many nested loops,
    from this one on, and 0 otherwise. `runs` is how often the body runs while the kernel runs once, whichever thread does it:
    four times for the loop above, if there is no loop around it.

    Source: `LoopLevel.lines` in `torch/_inductor/codegen/cpp.py`.
    """
    form = r"( +)for\(int64_t (\w+)=.*<static_cast<int64_t>\((\d+)L\);.*\+=static_cast<int64_t>\((\d+)L\)"
    found = []
    around = []  # where the loops end that are open
    runs = [1]  # of what is outside all loops, and of their bodies
    for before, line in itertools.pairwise(source.splitlines()):
        if loop := re.match(form, line):
            pragma = re.search(r"#pragma omp for(?: collapse\((\d)\))?", before)
            shared = int(pragma[1] or 1) if pragma else 0
            size, step = int(loop[3]), int(loop[4])
            runs.append(runs[-1] * math.ceil(size / step))
            found.append((loop[2], size, step, shared, runs[-1]))
            around.append(loop[1] + "}")
        elif line in around:
            around.pop()
            runs.pop()
    return found


def kernel_reductions(source: str) -> list[str]:
    """What a kernel reduces, in the order of its C++ text: "sum", "prod", "max", "min", "any", "argmax", "argmin" or "welford".

    Each reduction has one scalar accumulator, `tmp_acc` and a number, declared on a line of its own before the loop. (The
    declarations of `tmp_acc0_vec`, `tmp_acc0_arr`, `tmp_acc0_local` or `masked_tmp_acc0_vec` belong to the same reduction.) Such a
    declaration gives it the value that changes nothing, and so says what is to be combined:

        float tmp_acc0 = 0;                                                a sum; 1 for a product
        bool tmp_acc0 = 0;                                                 any
        float tmp_acc0 = -std::numeric_limits<float>::infinity();          a maximum; without the minus a minimum
        int64_t tmp_acc0 = std::numeric_limits<int64_t>::min();            a maximum of integers; a minimum has ::max()
        IndexValue<float> tmp_acc0 = IndexValue<float>{0, ...};            argmax or argmin: ... is what max or min begins with
        Welford<float> tmp_acc0 = Welford<float>();                        mean and variance together, as Welford does it

    Source: `reduction_init` in `torch/_inductor/codegen/cpp.py`.
    """
    kinds = [
        ("Welford", "welford"), ("bool", "any"), (r"IndexValue.*(-|min\()", "argmax"), ("IndexValue", "argmin"),
        (r".*(-|min\()", "max"), (".*numeric_limits", "min"), (".*= 1;", "prod"), ("", "sum"),
    ]  # fmt: skip
    declared = re.findall(r"^ +([\w<>]+ tmp_acc\d+ = .*;)$", source, re.MULTILINE)
    return [next(kind for form, kind in kinds if re.match(form, line)) for line in declared]


def bytes_moved(text: str) -> list[tuple[str, int]]:
    """For each call of a kernel in a module, in order: its name and the bytes that it has to move between memory and processor.

    Every argument is moved as a whole: read once if its pointer is `const`, written once if not; one that is called `in_out_ptr`
    is both read and written. Types and names stand in the kernel's C++, in the order of the arguments of the call:

        cpp_fused_add_0 = async_compile.cpp_pybinding(['float*', 'const float*'], r'''
        #include <torch/csrc/inductor/cpp_prefix.h>
        extern "C"  void  kernel(float* in_out_ptr0,
                               const float* in_ptr0)

    The bytes of an argument are those of its elements, by `ITEM_SIZES`, times the product of its sizes, which the wrapper tells
    in one of these forms (the third also with `; del buf0  # reuse` or `  # alias` behind it):

        assert_size_stride(arg0_1, (40, 7), (7, 1), 'input')
        buf0 = empty_strided_cpu((40, 7), (7, 1), torch.float32)
        buf1 = reinterpret_tensor(buf0, (7, 40), (1, 7), 0)
        buf2 = buf1; del buf1  # reuse

    Where a line says no more than `buf2 = buf1` or `buf2 = buf1[0]`, an `assert_size_stride` of `buf2` follows.

    Source: `BaseSchedulerNode.get_read_write_buffers_sizes` in `torch/_inductor/scheduler.py` counts more finely: what is read.
    """
    sizes = {}
    signatures = {}
    moved = []
    kernels = r"^(cpp_fused\w*) = .*\n.*\n.*kernel\(([^)]*)\)"
    for name, parameters in re.findall(kernels, text, re.MULTILINE):
        pointers = re.findall(r"(\w+)\* (\w+)", parameters)
        signatures[name] = [ITEM_SIZES[kind] * (1 + inner.startswith("in_out")) for kind, inner in pointers]
    for line in text.splitlines():
        if shape := re.match(r" +(?:(\w+) = )?\w+\((?:(\w+), )?\(([\d, ]*)\)", line):
            sizes[shape[1] or shape[2]] = math.prod(map(int, re.findall(r"\d+", shape[3])))
        elif same := re.match(r" +(buf\d+) = (buf\d+)\b", line):
            sizes[same[1]] = sizes.get(same[2])
        elif call := re.match(r" +(cpp_fused\w*)\((.*)\)", line):
            operands = [sizes[operand] for operand in call[2].split(", ")]
            moved.append((call[1], sum(map(math.prod, zip(signatures[call[1]], operands)))))
    return moved


# The log -------------------------------------------------------------------------------------------------------------


def recompilations(log: str) -> list[tuple[str, list[tuple[str, str, str, str, str | None]]]]:
    """Why functions were compiled anew, from a log: for each time the function's name, and why no earlier version would do.

    A line of the log begins with a stamp that ends in `[__recompiles] `. What follows is, for the second new version of `step`,

        Recompiling function step in model.py:1
            triggered by the following guard failure(s):
            - 0/1: tensor 'x' size mismatch at index 0. expected 4, actual 5
            - 0/0: count == 3                                  # return x * count  # model.py:2 in step
            - User stack trace:
            -   File "model.py", line 2, in step
            -     return x * count

    A line with a version, such as `0/1`, is a reason: (version, argument, what, expected, actual), all strings. There are
    - `tensor 'x' size mismatch at index 0. expected 4, actual 5`: ("0/1", "x", "size", "4", "5"). The same with `stride`, and,
      without `at index 0`, with `rank` and with `dtype`, whose values are names such as Float;
    - `tensor 'x' requires_grad mismatch. expected requires_grad=0`: ("0/1", "x", "requires_grad", "0", None), for what came is
      not said;
    - `count == 3`, then two or more spaces and `#`, the condition that does not hold: ("0/0", "count", "value", "3", None). The
      value is Python's text of it, with quotation marks if it is a string; in a string, `#` comes after at most one space. The
      argument may be an expression, `xs[0]` or `len(xs)`.

    Source: `get_and_maybe_log_recompilation_reasons` in `torch/_dynamo/guards.py`.
    """
    found = []
    for line in re.findall(r"\[__recompiles\] (.*)", log):
        if named := re.match(r"Recompiling function (\w+)", line):
            reasons = []
            found.append((named[1], reasons))
        elif reason := re.match(r" +- (\d+/\d+): (.*)", line):
            version, why = reason.groups()
            if tensor := re.match(
                r"tensor '(.*)' (\w+) mismatch.*expected (?:requires_grad=)?(\w+)(?:, actual (\w+))?", why
            ):
                reasons.append((version, *tensor.groups()))
            elif value := re.match(r"(.*?) == (.*?) {2,}#", why):
                reasons.append((version, value[1], "value", value[2], None))
    return found
