"""Reading the code that Inductor generates.

`TORCH_LOGS=output_code` prints the module that Inductor has generated for a function: the kernels as C++ in Python strings, and
`call`, the wrapper, which allocates buffers, calls the kernels and the operators without a kernel, and frees or reuses buffers that
are no longer needed. `TORCH_LOGS=recompiles` says why a function was recompiled. The functions here read such a text. They read
the code for the CPU, with or without vector instructions, for sizes that are known. A text need not be the whole module: the
kernels and `call` are enough.

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
ITEM_SIZES |= {"uint8_t": 1, "int8_t": 1, "int16_t": 2, "int32_t": 4, "int64_t": 8}
ITEM_SIZES |= {"at::Half": 2, "at::BFloat16": 2, "float": 4, "double": 8}


# The wrapper ---------------------------------------------------------------------------------------------------------


def kernel_calls(text: str) -> dict[str, int]:
    """The number of calls of each kernel in the wrapper, by the kernels' names, in the order of the first calls.

    A kernel's name begins with `cpp_fused`. The text has the name in the definition of the kernel, at the beginning of a line,

        cpp_fused_add_0 = async_compile.cpp_pybinding(['const float*', 'float*'], r'''

    and in every call, on an indented line of its own: `cpp_fused_add_0(arg0_1, buf0)`. Calls that need the same C++ share one
    kernel. The definitions can have another order than the calls. Each kernel in the text is called, and a text without kernels
    gives an empty dictionary. The text is the whole generated module, or only the kernels in it and `call`.

    >>> kernel_calls('''
    ...     cpp_fused_add_0(arg0_1, buf0)
    ...     cpp_fused_add_0(buf0, buf1)
    ... ''')
    {'cpp_fused_add_0': 2}

    Source: `PythonWrapperCodegen.generate_kernel_call` in `torch/_inductor/codegen/wrapper.py`.
    """
    counts = {}
    for name in re.findall(r"^ +(cpp_fused\w*)\(", text, re.MULTILINE):
        counts[name] = counts.get(name, 0) + 1
    return counts


def extern_calls(text: str) -> list[tuple[str, list[str], str]]:
    """The operators that the wrapper calls directly, without a kernel of Inductor's, in the order of the calls.

    Each is a tuple (operator, operands, result), and the operands are a list or tuple. There are two forms: a call with memory for
    the result, and a call that allocates it.

        extern_kernels.addmm(arg2_1, arg0_1, reinterpret_tensor(arg1_1, (20, 50), (1, 20), 0), alpha=1, beta=1, out=buf0)
        buf4 = torch.ops.aten.sort.stable(buf0, stable=False, dim=1, descending=False)

    Each call is one indented line. The operator is the dotted name in the text. In the first form the name begins with
    `extern_kernels.`, in the second form with `extern_kernels.` or `torch.ops.`. The operands are the names of the tensors that it
    reads, in order, also keyword arguments: `arg`, a number and `_1`, or `buf` and a number. For a `reinterpret_tensor`,
    which is a view, the operand is its base. A tensor that is passed twice is named twice, and lists, such as `[arg1_1, None]`,
    are looked through. The result, the name after `out=` or before ` = `, is not an operand.

    >>> extern_calls("    extern_kernels.mm(buf1, reinterpret_tensor(arg1_1, (64, 600), (1, 64), 0), out=buf2)")
    [('extern_kernels.mm', ['buf1', 'arg1_1'], 'buf2')]

    Source: `ExternKernelOutLine` and `ExternKernelAllocLine` in `torch/_inductor/codegen/wrapper.py`.
    """
    calls = []
    for line in text.splitlines():
        if call := re.fullmatch(r" +(?:(\w+) = )?((?:extern_kernels|torch\.ops)\.[\w.]+)\((.*)\)", line):
            allocated, operator, arguments = call.groups()
            arguments, _, out = arguments.partition(", out=")
            calls.append((operator, re.findall(r"\b(?:arg\d+_\d+|buf\d+)", arguments), allocated or out))
    return calls


def memory_use(text: str) -> tuple[dict[str, str], int]:
    """The buffers that reuse the memory of another, {new: old} in the order of the text, and the most bytes in use at once.

    The bytes count only memory that the wrapper itself allocates, not arguments and not results that an operator returns. The
    dictionary has every reuse. Four kinds of indented lines manage memory (sizes can be empty, or end in a comma):

        buf0 = empty_strided_cpu((33, 50), (50, 1), torch.float32)
        buf3 = buf1; del buf1  # reuse
        buf5 = reinterpret_tensor(buf2, (50, 33), (33, 1), 0); del buf2  # reuse
        del buf0

    The bytes of a new buffer are the product of its sizes times `ITEM_SIZES` of its dtype. Reuse, in the two forms, gives the old
    memory a new name. Lines without `# reuse` at the end, `buf6 = reinterpret_tensor(...)  # alias` and `buf1 = buf0[0]`, only name
    a part of another buffer. Such a name has no memory of its own: after `del buf6` the memory of the other buffer is still in use.
    An argument has no memory of its own either, `del arg0_1`, and is never reused.

    >>> memory_use('''
    ...     buf0 = empty_strided_cpu((2, 3), (3, 1), torch.float32)
    ...     buf1 = buf0; del buf0  # reuse
    ... ''')
    ({'buf1': 'buf0'}, 24)

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
    """The operators that a kernel computes, from the kernel's name, in the order of the name.

    A name is `cpp_fused`, the operators, and the kernel's number, joined by `_`: `cpp_fused__softmax_mul_relu_3`, or, if no
    operator is known, `cpp_fused_3`. The operators have torch's names, before decomposition, each once and sorted as Python sorts
    strings. Because these names contain `_`, the list `known` has the operators that can occur, in any order. There is exactly one
    way to read the name as such a sorted list of known operators. For another name, any behaviour is right.

    >>> fused_operations("cpp_fused__softmax_relu_3", ["relu", "softmax", "_softmax"])
    ['_softmax', 'relu']

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
    # no operator fits: a prefix removed before was not an operator


def kernel_loops(source: str) -> list[tuple[str, int, int, int, int]]:
    """The loops of a kernel, a list of tuples (variable, size, step, shared, runs), in the order of its C++ text.

    A loop is a line of this form. Its body follows in braces, which are on lines of their own with the indent of the loop.

        for(int64_t x1=static_cast<int64_t>(0L); x1<static_cast<int64_t>(50L); x1+=static_cast<int64_t>(16L))

    Here the variable is `x1`, the size 50 and the step 16: sixteen elements in one vector register. A step of 1 means a scalar
    loop, or a loop around a vectorised loop. The rest of the 50 elements is computed under `C10_UNLIKELY` in the same loop, with a
    mask or in a scalar loop. That loop, and every other line that begins with `for (`, does not count. `shared` is 1 if the line
    before is `#pragma omp for`. It is n if that line ends in `collapse(n)`, because the threads then share the iterations of n
    nested loops, beginning with this one. Otherwise it is 0. `runs` is the number of times that the body runs while the kernel
    runs once, in all threads together: four times for the loop above, if there is no loop around it.

    >>> kernel_loops('''
    ...     for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(40L); x0+=static_cast<int64_t>(16L))
    ...     {
    ...     }
    ... ''')
    [('x0', 40, 16, 0, 3)]

    Source: `LoopLevel.lines` in `torch/_inductor/codegen/cpp.py`.
    """
    form = r"( +)for\(int64_t (\w+)=.*<static_cast<int64_t>\((\d+)L\);.*\+=static_cast<int64_t>\((\d+)L\)"
    loops = []
    around = []  # the lines that end the open loops
    runs = [1]  # of the code outside all loops, and of the bodies of the open loops
    for before, line in itertools.pairwise(source.splitlines()):
        if loop := re.match(form, line):
            pragma = re.search(r"#pragma omp for(?: collapse\((\d+)\))?", before)
            shared = int(pragma[1] or 1) if pragma else 0
            size, step = int(loop[3]), int(loop[4])
            runs.append(runs[-1] * math.ceil(size / step))
            loops.append((loop[2], size, step, shared, runs[-1]))
            around.append(loop[1] + "}")
        elif line in around:
            around.pop()
            runs.pop()
    return loops


def kernel_reductions(source: str) -> list[str]:
    """The reductions of a kernel, in the order of its C++: "sum", "prod", "max", "min", "any", "argmax", "argmin" or "welford".

    Each reduction has one scalar accumulator, `tmp_acc` and a number, declared on a line of its own before the loop. (The
    declarations of `tmp_acc0_vec`, `tmp_acc0_arr`, `tmp_acc0_local` or `masked_tmp_acc0_vec` belong to the same reduction.) Such a
    declaration initialises it with the neutral value, which shows the kind of the reduction:

        float tmp_acc0 = 0;                                                a sum; 1 for a product
        bool tmp_acc0 = 0;                                                 any
        float tmp_acc0 = -std::numeric_limits<float>::infinity();          a maximum; without the minus a minimum
        int64_t tmp_acc0 = std::numeric_limits<int64_t>::min();            a maximum of integers; a minimum has ::max()
        IndexValue<float> tmp_acc0 = IndexValue<float>{0, ...};            argmax or argmin: ... is the initial value of max or min
        Welford<float> tmp_acc0 = Welford<float>();                        mean and variance together, by Welford's algorithm

    >>> kernel_reductions("    float tmp_acc0 = 0;"), kernel_reductions("    bool tmp_acc0 = 0;")
    (['sum'], ['any'])

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

    Every argument counts as a whole: as read once if its pointer is `const`, and as written once if not, however many loops of the
    kernel use it. An argument named `in_out_ptr` counts as both read and written. The kernel's C++ has types and names, in the
    order of the arguments of the call:

        cpp_fused_add_0 = async_compile.cpp_pybinding(['float*', 'const float*'], r'''
        #include <torch/csrc/inductor/cpp_prefix.h>
        extern "C"  void  kernel(float* in_out_ptr0,
                               const float* in_ptr0)

    The bytes of an argument are `ITEM_SIZES` of its type (as in the text, also `at::BFloat16`) times the product of its sizes,
    which the wrapper shows in one of these forms (the third also with `; del buf0  # reuse` or `  # alias` at its end):

        assert_size_stride(arg0_1, (40, 7), (7, 1), 'input')
        buf0 = empty_strided_cpu((40, 7), (7, 1), torch.float32)
        buf1 = reinterpret_tensor(buf0, (7, 40), (1, 7), 0)
        buf2 = buf1; del buf1  # reuse

    A line that is only `buf2 = buf1` or `buf2 = buf1[0]` is followed by an `assert_size_stride` of `buf2`.

    >>> kernel = ["cpp_fused_relu_0 = async_compile.cpp_pybinding(['float*'], r'''", "#include <a.h>"]
    >>> kernel += ['extern "C"  void  kernel(float* in_out_ptr0)']
    >>> call = ["    buf0 = empty_strided_cpu((2, 3), (3, 1), torch.float32)", "    cpp_fused_relu_0(buf0)"]
    >>> bytes_moved(chr(10).join(kernel + call))
    [('cpp_fused_relu_0', 48)]

    Source: `BaseSchedulerNode.get_read_write_buffers_sizes` in `torch/_inductor/scheduler.py` counts only the elements in use.
    """
    sizes = {}
    signatures = {}
    moved = []
    kernels = r"^(cpp_fused\w*) = .*\n.*\n.*kernel\(([^)]*)\)"
    for name, parameters in re.findall(kernels, text, re.MULTILINE):
        pointers = re.findall(r"([\w:]+)\* (\w+)", parameters)
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
    """The reasons of recompilations, from a log: for each recompilation the function's name, and why each earlier version failed.

    A line of the log begins with a stamp that ends in `[__recompiles] `. For the second recompilation of `step`, the rest is

        Recompiling function step in model.py:1
            triggered by the following guard failure(s):
            - 0/1: tensor 'x' size mismatch at index 0. expected 4, actual 5
            - 0/0: count == 3                                  # return x * count  # model.py:2 in step
            - User stack trace:
            -   File "model.py", line 2, in step
            -     return x * count

    A lambda is called `<lambda>`.

    A line with a version, such as `0/1`, is a reason: (version, argument, what, expected, actual), all strings. The first number of
    a version is that of the compiled function, and the second counts its compilations. There are
    - `tensor 'x' size mismatch at index 0. expected 4, actual 5`: ("0/1", "x", "size", "4", "5"). The same with `stride`, and,
      without `at index 0`, with `rank` and with `dtype`, whose values are names such as Float;
    - `tensor 'x' requires_grad mismatch. expected requires_grad=0`: ("0/1", "x", "requires_grad", "0", None), because the line does
      not say the actual value;
    - `count == 3`, then two or more spaces and `#`, the condition that is false: ("0/0", "count", "value", "3", None). The value is
      its `repr`, with quotation marks if it is a string; in a string, `#` comes after at most one space. The argument can be any
      expression, as in `len(xs) == 2` and `tensor 'xs[0]' size mismatch`.

    >>> recompilations('''
    ... V [__recompiles] Recompiling function f in a.py:1
    ... V [__recompiles]     - 0/0: tensor 'x' size mismatch at index 0. expected 4, actual 5
    ... ''')
    [('f', [('0/0', 'x', 'size', '4', '5')])]

    Source: `get_and_maybe_log_recompilation_reasons` in `torch/_dynamo/guards.py`.
    """
    functions = []
    for line in re.findall(r"\[__recompiles\] (.*)", log):
        if named := re.match(r"Recompiling function (\S+)", line):
            reasons = []
            functions.append((named[1], reasons))
        elif reason := re.match(r" +- (\d+/\d+): (.*)", line):
            version, why = reason.groups()
            if tensor := re.match(
                r"tensor '(.*)' (\w+) mismatch.*expected (?:requires_grad=)?(\w+)(?:, actual (\w+))?", why
            ):
                reasons.append((version, *tensor.groups()))
            elif value := re.match(r"(.*?) == (.*?) {2,}#", why):
                reasons.append((version, value[1], "value", value[2], None))
    return functions
