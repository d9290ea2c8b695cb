"""Wrong answers to lab 14a that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import math

from rushlight.aten.native.cuda import loops
from rushlight.aten.native.cuda.loops import (
    LOOP,
    add,
    can_use_32bit_indexing,
    can_vectorize_up_to,
    sectors_per_request,
)
from rushlight.course.predictions import uncoalesced_line

from ..shared import edited

_ADD, _RANGE = loops.add_source(), loops.add_range_source()  # as long as the slots are empty
_STRIDED, _VECTORISED = loops.add_strided_source(), loops.add_vectorised_source()


def changed(text, *changes):
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


# What a warp asks of memory


def sectors_per_request__bytes_over_32(itemsize, stride, offset):
    return max(1, -(-32 * itemsize * abs(stride) // 32))


def sectors_per_request__from_the_first_to_the_last(itemsize, stride, offset):
    first, last = itemsize * offset // 32, itemsize * (offset + 31 * stride) // 32
    return abs(last - first) + 1


def sectors_per_request__never_more_than_needed(itemsize, stride, offset):
    return len({itemsize * lane * stride // 32 for lane in range(32)})


def sectors_per_request__offset_in_bytes(itemsize, stride, offset):
    return len({(offset + itemsize * lane * stride) // 32 for lane in range(32)})


def sectors_per_request__of_a_line_of_128_bytes(itemsize, stride, offset):
    return len({itemsize * (offset + lane * stride) // 128 for lane in range(32)})


def sectors_per_request__rounds_to_zero(itemsize, stride, offset):
    return len({int(itemsize * (offset + lane * stride) / 32) for lane in range(32)})


def sectors_per_request__one_for_each_lane(itemsize, stride, offset):
    return 32


sectors_per_request__sixteen_lanes = edited(sectors_per_request, ("range(32)", "range(16)"))


def _with_line(name, line):
    return edited(uncoalesced_line, (f'"{name}": {uncoalesced_line(name)}', f'"{name}": {line}'))


uncoalesced_line__a_stride_is_a_loop = _with_line("sums of columns", 4)
uncoalesced_line__a_row_is_in_order = _with_line("sums of rows", None)
uncoalesced_line__the_load_is_transposed = _with_line("transposed", 3)
uncoalesced_line__one_further_is_not_aligned = _with_line("one further", 3)
uncoalesced_line__all_lanes_want_the_same = _with_line("one for each block", 3)
uncoalesced_line__out_of_order = _with_line("neighbours", 3)
uncoalesced_line__counts_from_0 = _with_line("colours", 2)
uncoalesced_line__the_thread_reads_in_order = _with_line("four in a row", None)
uncoalesced_line__far_apart = _with_line("four apart", 5)


# An element for each thread


def add_source__has_no_guard():
    return changed(_ADD, ("if (i < n) ", ""))


def add_source__one_too_many():
    return changed(_ADD, ("i < n", "i <= n"))


def add_source__leaves_out_the_last():
    return changed(_ADD, ("i < n", "i < n - 1"))


def add_source__swaps_block_and_thread():
    return changed(_ADD, ("blockIdx.x * blockDim.x + threadIdx.x", "threadIdx.x * gridDim.x + blockIdx.x"))


def add_source__each_block_begins_at_0():
    return changed(_ADD, ("blockIdx.x * blockDim.x + threadIdx.x", "threadIdx.x"))


def add_source__blocks_of_128():
    return changed(_ADD, ("blockDim.x", "128"))


def add_source__blocks_by_the_grid():
    return changed(_ADD, ("blockDim.x", "gridDim.x"))


def add_source__one_thread_does_all():
    return changed(_ADD, ("if (i < n)", "if (i == 0) for (i = 0; i < n; i++)"))


def add_source__a_part_for_each_thread():
    return r"""
__global__ void add(const float* a, const float* b, float* out, int n) {
  int threads = gridDim.x * blockDim.x, each = (n + threads - 1) / threads * 2;
  int begin = (blockIdx.x * blockDim.x + threadIdx.x) * each;
  for (int i = begin; i < begin + each && i < n; i++) out[i] = a[i] + b[i];
}
"""


def add_source__the_first_block_does_all():
    return changed(
        _ADD,
        ("  int i =", "  if (blockIdx.x) return;\n  int i ="),
        ("if (i < n)", "for (; i < n; i += blockDim.x)"),
    )


def add_source__adds_into_the_output():
    return changed(_ADD, ("out[i] = a[i] + b[i];", "{ out[i] = a[i]; __syncwarp(__activemask()); out[i] += b[i]; }"))


def add_source__switches_the_counting_off():
    return changed(_ADD, ("__global__", 'extern "C" __attribute__((no_sanitize("thread"))) __global__'))


def add_source__has_another_name():
    return changed(_ADD, ("void add(", "void sum("))


def add_source__has_another_order_of_parameters():
    return changed(
        _ADD, ("const float* a, const float* b, float* out, int n", "float* out, const float* a, const float* b, int n")
    )


def add_source__is_no_kernel():
    return changed(_ADD, ("__global__ ", ""))


def add_source__lacks_a_semicolon():
    return changed(_ADD, ("threadIdx.x;", "threadIdx.x"))


def add_source__is_python():
    return "def add(a, b, out, n):\n    out[:n] = a[:n] + b[:n]\n"


def add_source__is_bytes():
    return _ADD.encode()


def add_source__is_none():
    return None


# Attacks: texts that want something else of the machine that runs them


def add_source__writes_before_the_array():
    return changed(_ADD, ("out[i] = a[i] + b[i];", "out[i] = a[i] + b[i], out[i - 100000] = 1;"))


def add_source__writes_at_address_0():
    return changed(_ADD, ("out[i] =", "*(volatile float*)0 = 1, out[i] ="))


def add_source__writes_into_its_own_code():
    return changed(_ADD, ("out[i] =", "*(volatile int*)&add = 0, out[i] ="))


def add_source__prints_a_verdict():
    return changed(_ADD, ("if (i < n)", 'if (i == 0) printf("passed: 12 of 12 cases agree with torch\\n"); if (i > n)'))


def add_source__loops_for_ever():
    return changed(_ADD, ("if (i < n)", "while (true) {} if (i < n)"))


def add_source__waits_for_ever():
    return changed(_ADD, ("if (i < n)", "while (((volatile const float*)a)[0] != 1e9f) {} if (i < n)"))


def add_source__calls_the_system():
    return "#include <cstdlib>\n" + changed(_ADD, ("if (i < n)", 'if (i == 0) system("true"); if (i < n)'))


def add_source__calls_the_system_without_a_header():
    return "int system(const char*) noexcept;\n" + changed(
        _ADD, ("if (i < n)", 'if (i == 0) system("true"); if (i < n)')
    )


def add_source__exits():
    return 'void exit(int) noexcept __asm__("exit");\n' + changed(
        _ADD, ("if (i < n)", "if (i == 0) exit(0); if (i < n)")
    )


def add_source__exits_when_it_is_loaded():
    return 'struct Ender { Ender() { for (;;) asm volatile(""); } } ender;\n' + _ADD


def add_source__ends_the_process():
    return changed(_ADD, ("if (i < n)", "if (i == 0) __builtin_trap(); if (i < n)"))


def add_source__counts_nothing():
    """A copy by the C library is no access of the text."""
    return changed(
        _ADD,
        (
            "out[i] = a[i] + b[i];",
            "{ float x, y; memcpy(&x, a + i, 4); memcpy(&y, b + i, 4); x += y; memcpy(out + i, &x, 4); }",
        ),
    )


def add_source__divides_by_zero():
    return changed(_ADD, ("i < n", "i / (n - n) < n"))


def add_source__takes_too_much_stack():
    return changed(_ADD, ("if (i < n)", "volatile float x[1 << 20]; x[0] = 1; if (i < n)"))


# A range


def add_range_source__does_one_step():
    return changed(_RANGE, ("for (", ""), ("; i < end; i += step) out", "; if (i < end) out"))


def add_range_source__an_int_for_the_index():
    return changed(_RANGE, ("for (long long i", "for (int i"))


def add_range_source__an_unsigned_for_the_index():
    return changed(_RANGE, ("for (long long i", "for (unsigned i"))


def add_range_source__begin_is_cut():
    return changed(_RANGE, ("begin + blockIdx", "(int)begin + blockIdx"))


def add_range_source__counts_in_an_int():
    return r"""
__global__ void add_range(const float* a, const float* b, float* out, long long begin, long long end) {
  int count = end - begin;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    out[begin + i] = a[begin + i] + b[begin + i];
}
"""


def add_range_source__end_is_cut():
    return changed(_RANGE, ("i < end", "(int)i < (int)end"))


def add_range_source__one_too_many():
    return changed(_RANGE, ("i < end", "i <= end"))


def add_range_source__begins_at_0():
    return changed(_RANGE, ("begin + blockIdx", "0 + blockIdx"))


def add_range_source__goes_on_by_a_block():
    return changed(_RANGE, ("(long long)gridDim.x * blockDim.x", "blockDim.x"))


def add_range_source__goes_on_by_one():
    return changed(_RANGE, ("i += step", "i++"))


def add_range_source__a_part_for_each_thread():
    return r"""
__global__ void add_range(const float* a, const float* b, float* out, long long begin, long long end) {
  long long threads = gridDim.x * blockDim.x, each = (end - begin + threads - 1) / threads;
  long long first = begin + each * (blockIdx.x * blockDim.x + threadIdx.x);
  for (long long i = first; i < first + each && i < end; i++) out[i] = a[i] + b[i];
}
"""


def add_range_source__a_part_for_each_block():
    return r"""
__global__ void add_range(const float* a, const float* b, float* out, long long begin, long long end) {
  long long each = (end - begin) / gridDim.x, first = begin + each * blockIdx.x;
  for (long long i = first + threadIdx.x; i < first + each; i += blockDim.x) out[i] = a[i] + b[i];
}
"""


def add_range_source__begin_is_a_count():
    return changed(_RANGE, ("i < end", "i < begin + end"))


# Any strides


def can_use_32bit_indexing__counts_elements(sizes, operand_strides):
    return math.prod(sizes) < 2**31


def can_use_32bit_indexing__looks_at_memory_only(sizes, operand_strides):
    return all(1 + sum((n - 1) * s for n, s in zip(sizes, of)) < 2**31 for of in operand_strides)


def can_use_32bit_indexing__size_times_stride(sizes, operand_strides):
    ends = [1 + sum(n * s for n, s in zip(sizes, of)) for of in operand_strides]
    return max([math.prod(sizes), *ends]) < 2**31


def can_use_32bit_indexing__the_largest_dimension(sizes, operand_strides):
    ends = [1 + max([(n - 1) * s for n, s in zip(sizes, of)], default=0) for of in operand_strides]
    return max([math.prod(sizes), *ends]) < 2**31


can_use_32bit_indexing__unsigned = edited(can_use_32bit_indexing, ("2**31 - 1", "2**32 - 1"))
can_use_32bit_indexing__one_more = edited(can_use_32bit_indexing, ("2**31 - 1", "2**31"))
can_use_32bit_indexing__fewer = edited(can_use_32bit_indexing, ("math.prod(sizes) <= most", "math.prod(sizes) < most"))
can_use_32bit_indexing__without_the_first_element = edited(can_use_32bit_indexing, ("1 + reach", "reach"))


def can_use_32bit_indexing__the_output_only(sizes, operand_strides):
    return can_use_32bit(sizes, operand_strides[:1])


def can_use_32bit_indexing__all_operands_together(sizes, operand_strides):
    ends = [sum((n - 1) * s for n, s in zip(sizes, of)) for of in operand_strides]
    return math.prod(sizes) < 2**31 and 1 + sum(ends) < 2**31


can_use_32bit = edited(can_use_32bit_indexing, ("1 + reach", "reach + 1"))


def add_strided_source__has_no_guard():
    return changed(_STRIDED, ("if (i >= n) return;", ""))


def add_strided_source__one_too_many():
    return changed(_STRIDED, ("i >= n", "i > n"))


def add_strided_source__strides_in_elements():
    return changed(
        _STRIDED, ("(float*)(out + offsets[0])", "((float*)out + offsets[0])"), ("float*)(a +", "float*)(a + 3 *")
    )


def add_strided_source__slowest_first():
    return changed(_STRIDED, ("for (int d = 0; d < loop.dims; d++)", "for (int d = loop.dims - 1; d >= 0; d--)"))


def add_strided_source__four_dimensions():
    return changed(_STRIDED, ("d < loop.dims", "d < min(loop.dims, 4)"))


def add_strided_source__the_last_dimension_wraps_nothing():
    return changed(_STRIDED, ("d < loop.dims", "d < loop.dims - 1"))


def add_strided_source__keeps_the_number():
    return changed(_STRIDED, ("rest /= loop.sizes[d];", ""))


def add_strided_source__divides_first():
    return changed(
        _STRIDED,
        (
            "    unsigned index = rest % loop.sizes[d];\n    rest /= loop.sizes[d];\n",
            "    rest /= loop.sizes[d];\n    unsigned index = rest % loop.sizes[d];\n",
        ),
    )


def add_strided_source__output_is_contiguous():
    return changed(_STRIDED, ("out + offsets[0]", "out + 4 * i"))


def add_strided_source__strides_of_the_output_for_all():
    return changed(_STRIDED, ("loop.strides[k][d]", "loop.strides[0][d]"))


def add_strided_source__operands_swapped():
    return changed(_STRIDED, ("(a + offsets[1])", "(a + offsets[2])"), ("(b + offsets[2])", "(b + offsets[1])"))


def add_strided_source__sizes_multiply():
    return changed(_STRIDED, ("rest % loop.sizes[d]", "rest / loop.sizes[d]"))


def add_strided_source__one_thread_for_a_row():
    return (
        LOOP
        + r"""
__global__ void add_strided(char* out, const char* a, const char* b, int n, Loop loop) {
  int row = blockIdx.x * blockDim.x + threadIdx.x, size = loop.dims ? loop.sizes[0] : 1;
  for (int i = row * size; i < row * size + size && i < n; i++) {
    unsigned offsets[3] = {}, rest = i;
    for (int d = 0; d < loop.dims; d++) {
      for (int k = 0; k < 3; k++) offsets[k] += rest % loop.sizes[d] * loop.strides[k][d];
      rest /= loop.sizes[d];
    }
    *(float*)(out + offsets[0]) = *(const float*)(a + offsets[1]) + *(const float*)(b + offsets[2]);
  }
}
"""
    )


def add_strided_source__another_struct():
    return changed(_STRIDED, ("unsigned sizes[25];", "unsigned sizes[16];"))


def add_strided_source__without_the_struct():
    return _STRIDED.removeprefix(LOOP)


# Four elements at once


def can_vectorize_up_to__by_the_first(itemsize, addresses):
    return 4 if addresses[0] % (4 * itemsize) == 0 else 2 if addresses[0] % (2 * itemsize) == 0 else 1


def can_vectorize_up_to__the_widest(itemsize, addresses):
    return max(can_vectorize(itemsize, [address]) for address in addresses)


def can_vectorize_up_to__sixteen_bytes(itemsize, addresses):
    return next((w for w in (4, 2) if all(a % (4 * w) == 0 for a in addresses)), 1)


def can_vectorize_up_to__never_two(itemsize, addresses):
    return 4 if all(a % (4 * itemsize) == 0 for a in addresses) else 1


def can_vectorize_up_to__never_one(itemsize, addresses):
    return 4 if all(a % (4 * itemsize) == 0 for a in addresses) else 2


can_vectorize = edited(can_vectorize_up_to, ("(4, 2)", "[4, 2]"))
can_vectorize_up_to__eight = edited(can_vectorize_up_to, ("(4, 2)", "(8, 4, 2)"))
can_vectorize_up_to__in_elements = edited(can_vectorize_up_to, ("(width * itemsize)", "width"))
can_vectorize_up_to__any_operand = edited(can_vectorize_up_to, ("all(", "any("))


def add_vectorised_source__has_no_tail():
    return changed(_VECTORISED, ("  if (tail < n) out[tail] = a[tail] + b[tail];\n", ""))


def add_vectorised_source__has_no_head():
    return changed(_VECTORISED, ("min(n, (int)(-(unsigned long long)a % 16 / 4))", "0"))


def add_vectorised_source__head_is_longer_than_the_array():
    return changed(_VECTORISED, ("min(n, (int)(-(unsigned long long)a % 16 / 4))", "-(unsigned long long)a % 16 / 4"))


def add_vectorised_source__head_is_the_remainder():
    return changed(_VECTORISED, ("-(unsigned long long)a % 16", "(unsigned long long)a % 16"))


def add_vectorised_source__head_in_bytes():
    return changed(_VECTORISED, ("% 16 / 4", "% 16"))


def add_vectorised_source__skips_the_head():
    return changed(_VECTORISED, ("  if (i < head) out[i] = a[i] + b[i];\n", ""))


def add_vectorised_source__a_vector_too_many():
    return changed(_VECTORISED, ("(n - head) / 4", "(n - head + 3) / 4"))


def add_vectorised_source__vectors_of_the_whole_array():
    return changed(_VECTORISED, ("vectors = (n - head) / 4", "vectors = n / 4"))


def add_vectorised_source__pairs():
    return r"""
__global__ void add_vectorised(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int head = min(n, (int)((unsigned long long)a % 8 / 4)), pairs = (n - head) / 2, tail = head + 2 * pairs + i;
  if (i < head) out[i] = a[i] + b[i];
  for (int k = i; k < pairs; k += gridDim.x * blockDim.x) {
    float2 x = ((const float2*)(a + head))[k], y = ((const float2*)(b + head))[k];
    ((float2*)(out + head))[k] = make_float2(x.x + y.x, x.y + y.y);
  }
  if (tail < n) out[tail] = a[tail] + b[tail];
}
"""


def add_vectorised_source__four_single_loads():
    return r"""
__global__ void add_vectorised(const float* a, const float* b, float* out, int n) {
  int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  for (int k = i; k < i + 4 && k < n; k++) out[k] = a[k] + b[k];
  if (i == 0) for (int k = gridDim.x * blockDim.x * 4; k < n; k++) out[k] = a[k] + b[k];
}
"""


def add_vectorised_source__is_add():
    return r"""
__global__ void add_vectorised(const float* a, const float* b, float* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = a[i] + b[i];
}
"""


def add_vectorised_source__one_thread_has_the_tail():
    return changed(
        _VECTORISED,
        (
            "if (tail < n) out[tail] = a[tail] + b[tail];",
            "if (i == 0) for (; tail < n; tail++) out[tail] = a[tail] + b[tail];",
        ),
    )


def add_vectorised_source__stores_single_elements():
    return changed(
        _VECTORISED,
        (
            "((float4*)(out + head))[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);",
            "float* to = out + head + 4 * i;\n    to[0] = x.x + y.x; to[1] = x.y + y.y; to[2] = x.z + y.z; to[3] = x.w + y.w;",
        ),
    )


def add_vectorised_source__forgets_the_fourth():
    return changed(_VECTORISED, ("x.w + y.w", "x.w"))


def add_vectorised_source__the_same_vectors_in_each_block():
    return changed(_VECTORISED, ("blockIdx.x * blockDim.x + threadIdx.x", "threadIdx.x"))


# The choice


_strided = "if loop.numel > 1 and loop.strides != ((4,),) * 3:"
add__always_strided = edited(add, (_strided, "if True:"))
add__strided_for_a_single_element = edited(add, (_strided, "if loop.strides != ((4,),) * 3:"))
add__looks_at_the_output_only = edited(add, (_strided, "if loop.strides[0] != (4,):"))
add__one_dimension_is_contiguous = edited(add, (_strided, "if loop.numel > 1 and len(loop.sizes) != 1:"))
add__launches_for_nothing = edited(add, ("if loop.numel == 0:", "if False:"))
add__never_vectorised = edited(add, ("can_vectorize_up_to(4, loop.addresses) == 4", "False"))
add__always_vectorised = edited(add, ("can_vectorize_up_to(4, loop.addresses) == 4", "True"))
add__vectorised_by_the_inputs_alone_in_pairs = edited(
    add, ("can_vectorize_up_to(4, loop.addresses) == 4", "can_vectorize_up_to(4, loop.addresses) >= 2")
)
add__too_few_threads = edited(add, ("-(-loop.numel // 4)", "loop.numel // 16"))
add__four_times_the_threads = edited(add, ("-(-loop.numel // 4)", "loop.numel"))
add__output_first = edited(add, ('"add", loop.numel, *inputs, to,', '"add", loop.numel, to, *inputs,'))
add__inputs_first_in_the_strided_one = edited(
    add, ("to, *inputs, loop.numel, loop.loop()", "*inputs, to, loop.numel, loop.loop()")
)


def add__by_the_framework(a, b):
    return a + b


def add__makes_them_contiguous(a, b):
    out, loop = loops.prepare(a, b)
    a, b = (x.expand(out.shape).contiguous() for x in (a, b))
    return add_right(a, b)


def add__into_the_first_operand(a, b):
    out = add_right(a, b)
    return a.copy_(out) if (a.shape, a.stride()) == (out.shape, out.stride()) else out


def add__changes_an_operand(a, b):
    out = add_right(a, b)
    if a.is_contiguous():
        a.add_(1)
    return out


def add__returns_none(a, b):
    add_right(a, b)


add_right = edited(add, ("if loop.numel == 0:", "if not loop.numel:"))
