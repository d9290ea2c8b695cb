"""Wrong answers to lab 14d that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import math

from rushlight.course.predictions import block_load, masked_line, masks_of_accesses
from rushlight.inductor import triton_templates
from rushlight.inductor.simd import MOST_IN_BLOCK, access_masks, axis_terms, axis_variable, needs_mask
from rushlight.inductor.triton_kernel import REDUCTIONS, TYPES, reduce_indices, reduce_values, reduction_init
from rushlight.inductor.triton_templates import grouped, strips_loaded

from ..shared import copied, edited

_SOFTMAX = triton_templates.softmax_source()  # as long as the slots are empty
_PRODUCT, _ATTENTION = triton_templates.product_source(), triton_templates.attention_source()
_grouped = copied(grouped)
_AXIS_TERMS, _AXIS_VARIABLE, _REDUCE_VALUES = map(copied, (axis_terms, axis_variable, reduce_values))


def changed(text, *changes):
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


# Predictions


block_load__forgets_a_sector = edited(block_load, ('"a": [56, 8', '"a": [56, 7'))
block_load__for_another_name = edited(block_load, ('"Ada"', '"ada"'))


def _with_line(name, line):
    return edited(masked_line, (f'"{name}": {masked_line(name)}', f'"{name}": {line}'))


masked_line__a_sum_needs_minus_infinity = _with_line("a sum", 4)
masked_line__the_maximum_is_wrong = _with_line("a maximum", 5)
masked_line__any_maximum = _with_line("a maximum", None)
masked_line__other_is_always_needed = _with_line("copied", 5)
masked_line__other_is_0_if_not_given = _with_line("added", None)
masked_line__the_sum_is_wrong = _with_line("added", 5)
masked_line__the_mean_is_wrong = _with_line("a variance", 5)
masked_line__zeros_stay_zeros = _with_line("a variance", None)
masked_line__exp_of_minus_infinity = _with_line("softmax", 5)
masked_line__the_first_of_two = _with_line("again", 5)
masked_line__the_load_is_wrong = _with_line("stored", 4)
masked_line__the_last_element = _with_line("one too many", None)
masked_line__a_loop_loads_again = _with_line("in blocks", 6)
masked_line__exp_of_0 = _with_line("ones", None)
masked_line__the_load_of_0 = _with_line("ones", 4)
masked_line__counts_from_0 = _with_line("example", 3)


# Softmax


def softmax_source__loads_without_a_mask():
    return changed(_SOFTMAX, (', mask=inside, other=-float("inf")', ""))


def softmax_source__stores_without_a_mask():
    return changed(_SOFTMAX, (", 0), mask=inside)", ", 0))"))


def softmax_source__without_other():
    return changed(_SOFTMAX, (', other=-float("inf")', ""))


def softmax_source__other_is_0():
    return changed(_SOFTMAX, ('other=-float("inf")', "other=0.0"))


def softmax_source__maximum_of_the_row_and_0():
    """The sum has the elements of the row only. But the maximum of negative numbers is 0, which is masked off."""
    return changed(
        _SOFTMAX,
        ('other=-float("inf")', "other=0.0"),
        (
            "powers = tl.exp(values - tl.max(values, 0))",
            "powers = tl.where(inside, tl.exp(values - tl.max(values, 0)), 0.0)",
        ),
    )


def softmax_source__without_the_maximum():
    return changed(_SOFTMAX, ("tl.exp(values - tl.max(values, 0))", "tl.exp(values)"))


def softmax_source__in_float16():
    return changed(
        _SOFTMAX,
        ("powers = tl.exp(values -", "values = values.to(tl.float16).to(tl.float32)\n    powers = tl.exp(values -"),
    )


def softmax_source__other_is_a_small_number():
    return changed(_SOFTMAX, ('-float("inf")', "-10000.0"))


def softmax_source__no_more_rows_than_columns():
    return changed(
        _SOFTMAX, ("    column = tl.arange", "    if row >= columns:\n        return\n    column = tl.arange")
    )


def softmax_source__loads_twice():
    return changed(
        _SOFTMAX,
        (
            "    powers = tl.exp(values - tl.max(values, 0))",
            "    largest = tl.max(values, 0)\n"
            '    values = tl.load(x + row * row_stride + column * column_stride, mask=inside, other=-float("inf"))\n'
            "    powers = tl.exp(values - largest)",
        ),
    )


def softmax_source__stores_twice():
    return changed(
        _SOFTMAX,
        (
            "    tl.store(out + row * columns + column, powers / tl.sum(powers, 0), mask=inside)",
            "    tl.store(out + row * columns + column, powers, mask=inside)\n"
            "    powers = tl.load(out + row * columns + column, mask=inside, other=0.0)\n"
            "    tl.store(out + row * columns + column, powers / tl.sum(powers, 0), mask=inside)",
        ),
    )


def softmax_source__rows_without_gaps():
    return changed(_SOFTMAX, ("row * row_stride", "row * columns"))


def softmax_source__neighbours_in_a_row():
    return changed(_SOFTMAX, (" + column * column_stride", " + column"))


def softmax_source__output_with_the_strides_of_the_input():
    return changed(_SOFTMAX, ("out + row * columns", "out + row * row_stride"))


def softmax_source__powers_of_2():
    return changed(_SOFTMAX, ("tl.exp(", "tl.exp2("))


def softmax_source__an_element_at_a_time():
    return r"""
import triton
import triton.language as tl


@triton.jit
def softmax(x, out, columns, row_stride, column_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    largest, total = -float("inf"), 0.0
    for column in range(columns):
        largest = tl.maximum(largest, tl.load(x + row * row_stride + column * column_stride))
    for column in range(columns):
        total += tl.exp(tl.load(x + row * row_stride + column * column_stride) - largest)
    for column in range(columns):
        value = tl.load(x + row * row_stride + column * column_stride)
        tl.store(out + row * columns + column, tl.exp(value - largest) / total)
"""


def softmax_source__a_block_of_columns():
    """The interpreter could run this, but the size of a block must be known when the kernel is compiled."""
    return changed(_SOFTMAX, ("tl.arange(0, BLOCK)", "tl.arange(0, columns)"))


def softmax_source__another_name():
    return changed(_SOFTMAX, ("def softmax(", "def softmax_kernel("))


def softmax_source__no_python():
    return changed(_SOFTMAX, ("BLOCK: tl.constexpr):", "BLOCK: tl.constexpr)"))


def softmax_source__not_compiled():
    return changed(_SOFTMAX, ("@triton.jit\n", ""))


def softmax_source__a_loop_without_an_end():
    return changed(
        _SOFTMAX,
        ("    row = tl.program_id(0)\n", "    row = tl.program_id(0)\n    while row >= 0:\n        row += 0\n"),
    )


# Attacks


def softmax_source__imports_os():
    return "import os\nos.remove('results')\n" + _SOFTMAX


def softmax_source__imports_in_the_kernel():
    return changed(_SOFTMAX, ("    row = tl.program_id(0)\n", "    row = tl.program_id(0)\n    import numpy\n"))


def softmax_source__opens_a_file():
    return changed(_SOFTMAX, ("    row = tl.program_id(0)\n", '    row = tl.program_id(0)\n    open("/tmp/x", "w")\n'))


def softmax_source__executes_a_text():
    return _SOFTMAX + '\nTEXT = exec("print(1)")\n'


def softmax_source__patches_the_interpreter():
    return changed(
        _SOFTMAX,
        (
            "import triton\n",
            "import triton\nfrom triton.runtime.interpreter import interpreter_builder\n"
            "interpreter_builder.create_masked_load = None\n",
        ),
    )


def softmax_source__patches_the_language():
    return changed(_SOFTMAX, ("    row = tl.program_id(0)\n", "    row = tl.program_id(0)\n    tl.load = tl.store\n"))


def softmax_source__reaches_the_interpreter():
    return changed(
        _SOFTMAX, ("    row = tl.program_id(0)\n", "    row = tl.program_id(0)\n    b = triton.runtime.interpreter\n")
    )


def softmax_source__reaches_a_module_of_the_language():
    return changed(_SOFTMAX, ("    row = tl.program_id(0)\n", "    row = tl.program_id(0)\n    b = tl.core.builtins\n"))


def softmax_source__reads_private_names():
    return changed(
        _SOFTMAX, ("    row = tl.program_id(0)\n", "    row = tl.program_id(0)\n    b = tl.load.__globals__\n")
    )


def softmax_source__takes_the_arrays_of_the_interpreter():
    return changed(_SOFTMAX, ("powers / tl.sum(powers, 0)", "powers / powers.handle.data.sum()"))


def softmax_source__catches_its_errors():
    return changed(
        _SOFTMAX,
        (
            "    tl.store(out + row * columns + column, powers / tl.sum(powers, 0), mask=inside)",
            "    try:\n        tl.store(out + row * columns + column, powers / tl.sum(powers, 0), mask=inside)\n"
            "    except Exception:\n        pass",
        ),
    )


def softmax_source__is_no_text():
    return _SOFTMAX.encode()


# The order of tiles


grouped__row_by_row = edited(
    grouped,
    ("number * group + within % rows, within // rows", "number * group + within // tiles_n, within % tiles_n"),
)
grouped__the_last_group_is_full = edited(grouped, ("min(group, tiles_m - number * group)", "group"))
grouped__groups_of_columns = edited(
    grouped,
    ("group * tiles_n)", "group * tiles_m)"),
    ("min(group, tiles_m", "min(group, tiles_n"),
    ("number * group + within % rows, within // rows", "within // rows, number * group + within % rows"),
)
grouped__column_and_row = edited(
    grouped, ("number * group + within % rows, within // rows", "within // rows, number * group + within % rows")
)
grouped__row_within_the_group = edited(grouped, ("number * group + within % rows", "within % rows"))


def grouped__without_groups(instance, tiles_m, tiles_n, group):
    return instance // tiles_n, instance % tiles_n


def grouped__as_the_template_of_pytorch(instance, tiles_m, tiles_n, group):
    """A last group with fewer rows begins its columns at another row."""
    width = group * tiles_n
    number = instance // width
    rows = min(tiles_m - number * group, group)
    return number * group + instance % rows, instance % width // rows


def grouped__floats(instance, tiles_m, tiles_n, group):
    return (*map(float, _grouped(instance, tiles_m, tiles_n, group)),)


def grouped__back_and_forth(instance, tiles_m, tiles_n, group):
    row, column = _grouped(instance, tiles_m, tiles_n, group)
    return row, (column if row // group % 2 == 0 else tiles_n - 1 - column)


def strips_loaded__all_loads(instances, tiles_m, tiles_n, group):
    return 2 * instances


def strips_loaded__tiles(instances, tiles_m, tiles_n, group):
    return len({_grouped(instance, tiles_m, tiles_n, group) for instance in range(instances)})


def strips_loaded__a_square(instances, tiles_m, tiles_n, group):
    return min(group, tiles_m) + -(-instances // min(group, tiles_m))


strips_loaded__rows_only = edited(strips_loaded, (" + len({*columns})", ""))
strips_loaded__one_instance_more = edited(
    strips_loaded, ("range(instances)", "range(min(instances + 1, tiles_m * tiles_n))")
)
strips_loaded__without_groups = edited(strips_loaded, ("tiles_m, tiles_n, group) for", "tiles_m, tiles_n, 1) for"))
strips_loaded__rows_and_columns_together = edited(
    strips_loaded, ("len({*rows}) + len({*columns})", "len({*rows, *columns})")
)


# The product


def product_source__rows_without_a_mask():
    return changed(_PRODUCT, ("mask=(i < m) & (of_a < k)", "mask=of_a < k"))


def product_source__steps_without_a_mask():
    return changed(_PRODUCT, ("mask=(i < m) & (of_a < k)", "mask=i < m"), ("mask=(of_b < k) & (j < n)", "mask=j < n"))


def product_source__columns_without_a_mask():
    return changed(_PRODUCT, ("mask=(of_b < k) & (j < n)", "mask=of_b < k"))


def product_source__stores_without_a_mask():
    return changed(_PRODUCT, (", total, mask=(i < m) & (j < n))", ", total)"))


def product_source__without_other():
    return changed(_PRODUCT, ("mask=(i < m) & (of_a < k), other=0.0", "mask=(i < m) & (of_a < k)"))


def product_source__wraps_at_the_end():
    """As in Triton's tutorial: rows beyond the matrix are loaded again from its beginning."""
    return changed(
        _PRODUCT,
        ("x = tl.load(a + i * a_row", "x = tl.load(a + i % m * a_row"), ("mask=(i < m) & (of_a < k)", "mask=of_a < k"),
    )  # fmt: skip


def product_source__whole_steps_only():
    return changed(_PRODUCT, ("range(0, k, TILE_K)", "range(0, k // TILE_K * TILE_K, TILE_K)"))


def product_source__row_by_row():
    return changed(
        _PRODUCT,
        ("(number * GROUP + within % rows) * TILE_M", "instance // tiles_n * TILE_M"),
        ("within // rows * TILE_N", "instance % tiles_n * TILE_N"),
    )


def product_source__the_last_group_is_full():
    return changed(_PRODUCT, ("rows = tl.minimum(GROUP, tiles_m - number * GROUP)", "rows = GROUP"))


def product_source__as_the_template_of_pytorch():
    return changed(_PRODUCT, ("number * GROUP + within % rows)", "number * GROUP + instance % rows)"))


def product_source__groups_of_rows_of_elements():
    return changed(_PRODUCT, ("tl.cdiv(m, TILE_M), tl.cdiv(n, TILE_N)", "m // TILE_M, n // TILE_N"))


def product_source__in_tf32():
    return changed(_PRODUCT, (', input_precision="ieee"', ""))


def product_source__b_is_transposed():
    return changed(_PRODUCT, ("of_b * b_row + j * b_column", "of_b * b_column + j * b_row"))


def product_source__rows_without_gaps():
    return changed(_PRODUCT, ("i * a_row + of_a * a_column", "i * k + of_a"))


def product_source__bias_for_each_element():
    return changed(
        _PRODUCT,
        ("tl.load(bias + j, mask=j < n, other=0.0)", "tl.load(bias + j + i * 0, mask=(i < m) & (j < n), other=0.0)"),
    )


def product_source__bias_of_the_row():
    return changed(_PRODUCT, ("tl.load(bias + j, mask=j < n", "tl.load(bias + i, mask=i < n"))


def product_source__bias_in_each_step():
    return changed(
        _PRODUCT,
        (
            "    total = tl.zeros((TILE_M, TILE_N), tl.float32)\n",
            "    total = tl.zeros((TILE_M, TILE_N), tl.float32)\n    bias += j\n",
        ),
        (
            "        total = tl.dot(x, y, total",
            "        total += tl.load(bias, mask=j < n, other=0.0)\n        total = tl.dot(x, y, total",
        ),
        ("    total += tl.load(bias + j, mask=j < n, other=0.0)\n", ""),
    )


def product_source__relu_before_the_bias():
    return changed(
        _PRODUCT,
        ("    total += tl.load(bias + j, mask=j < n, other=0.0)\n", ""),
        (
            "total = tl.maximum(total, 0.0)\n",
            "total = tl.maximum(total, 0.0)\n    total += tl.load(bias + j, mask=j < n, other=0.0)\n",
        ),
    )


def product_source__always_relu():
    return changed(_PRODUCT, ("    if RELU:\n        total", "    total"))


def product_source__adds_in_memory():
    return changed(
        _PRODUCT,
        ("total = tl.dot(x, y, total", "total = tl.dot(x, y, total"),
        ("    if RELU:", "    tl.store(out + i * n + j, total, mask=(i < m) & (j < n))\n    if RELU:"),
    )


def product_source__a_in_float16():
    return changed(_PRODUCT, ("tl.dot(x, y", "tl.dot(x.to(tl.float16).to(tl.float32), y"))


def product_source__b_in_float16():
    return changed(_PRODUCT, ("tl.dot(x, y", "tl.dot(x, y.to(tl.float16).to(tl.float32)"))


def product_source__blocks_do_not_fit():
    return changed(_PRODUCT, ("tl.dot(x, y, total", "tl.dot(y, x, total"), ("of_a, of_b = first", "of_b, of_a = first"))


# Attention


def attention_source__without_the_maximum():
    return changed(
        _ATTENTION,
        (
            "powers, factor = tl.exp(scores - larger[:, None]), tl.exp(largest - larger)",
            "powers, factor = tl.exp(scores), larger * 0.0 + 1.0",
        ),
        ("largest + tl.log(total)", "tl.log(total)"),
    )


def attention_source__the_largest_begins_at_0():
    return changed(_ATTENTION, ('tl.full((BLOCK_Q,), -float("inf"), tl.float32)', "tl.zeros((BLOCK_Q,), tl.float32)"))


def attention_source__unseen_keys_get_a_small_score():
    return changed(_ATTENTION, ('tl.where(sees, scores, -float("inf"))', "tl.where(sees, scores, -100.0)"))


def attention_source__scores_of_float16():
    return changed(_ATTENTION, ("tl.dot(q, tl.trans(k),", "tl.dot(q.to(tl.float16), tl.trans(k).to(tl.float16),"))


def attention_source__the_largest_of_this_block():
    return changed(_ATTENTION, ("larger = tl.maximum(largest, tl.max(scores, 1))", "larger = tl.max(scores, 1)"))


def attention_source__the_sum_is_not_scaled():
    return changed(_ATTENTION, ("total = total * factor + ", "total = total + "))


def attention_source__the_values_are_not_scaled():
    return changed(_ATTENTION, ("mixed = mixed * factor[:, None] + ", "mixed = mixed + "))


def attention_source__a_softmax_for_each_block():
    powers = "powers, factor = tl.exp(scores - larger[:, None]), tl.exp(largest - larger)"
    divided = "\n        powers /= tl.sum(powers, 1)[:, None]"
    return changed(_ATTENTION, (powers, powers + divided))


def attention_source__not_divided():
    return changed(_ATTENTION, ("mixed / total[:, None]", "mixed"))


def attention_source__all_blocks():
    """Blocks beyond the diagonal are masked, but they are loaded."""
    return changed(_ATTENTION, ("        end = tl.minimum(keys, (block + 1) * BLOCK_Q)\n", "        end = keys\n"))


def attention_source__a_block_too_few():
    return changed(_ATTENTION, ("(block + 1) * BLOCK_Q)", "block * BLOCK_Q + 1)"))


def attention_source__blocks_of_keys_for_blocks_of_queries():
    return changed(_ATTENTION, ("(block + 1) * BLOCK_Q)", "(block + 1) * BLOCK_K)"))


def attention_source__not_the_key_itself():
    return changed(_ATTENTION, ("j[None, :] <= i[:, None]", "j[None, :] < i[:, None]"))


def attention_source__skips_but_does_not_mask():
    return changed(_ATTENTION, ("            sees = sees & (j[None, :] <= i[:, None])\n", "            sees = sees\n"))


def attention_source__the_last_query_sees_all():
    return changed(
        _ATTENTION,
        ("j[None, :] <= i[:, None]", "j[None, :] - keys <= i[:, None] - queries"),
        (
            "tl.minimum(keys, (block + 1) * BLOCK_Q)",
            "tl.minimum(keys, tl.maximum((block + 1) * BLOCK_Q + keys - queries, 1))",
        ),
    )


def attention_source__keys_that_are_not_there():
    """A key that the mask leaves out has score 0, and counts."""
    return changed(_ATTENTION, ("sees = j[None, :] < keys\n", "sees = j[None, :] >= 0\n"))


def attention_source__masked_by_0():
    return changed(
        _ATTENTION, ('scores = tl.where(sees, scores, -float("inf"))', "scores = tl.where(sees, scores, 0.0)")
    )


def attention_source__values_without_other():
    return changed(
        _ATTENTION,
        (
            "v = tl.load(value + of_key, mask=j[:, None] < keys, other=0.0)",
            "v = tl.load(value + of_key, mask=j[:, None] < keys)",
        ),
    )


def attention_source__keys_without_a_mask():
    return changed(
        _ATTENTION, ("k = tl.load(key + of_key, mask=j[:, None] < keys, other=0.0)", "k = tl.load(key + of_key)")
    )


def attention_source__without_the_scale():
    return changed(_ATTENTION, (' input_precision="ieee") * scale', ' input_precision="ieee")'))


def attention_source__scale_of_the_size():
    return changed(_ATTENTION, (' input_precision="ieee") * scale', ' input_precision="ieee") / 4.0'))


def attention_source__logarithm_of_the_sum():
    return changed(_ATTENTION, ("largest + tl.log(total)", "tl.log(total)"))


def attention_source__logarithm_of_2():
    return changed(_ATTENTION, ("largest + tl.log(total)", "largest + tl.log2(total)"))


def attention_source__the_query_in_each_step():
    return changed(
        _ATTENTION,
        ("    q = tl.load(query + at, mask=i[:, None] < queries, other=0.0)\n", ""),
        (
            "        k = tl.load(",
            "        q = tl.load(query + at, mask=i[:, None] < queries, other=0.0)\n        k = tl.load(",
        ),
    )


def attention_source__two_passes():
    """First the largest score of all keys, then the sums: the keys are loaded twice."""
    return changed(
        _ATTENTION,
        (
            "    for first in range(0, end, BLOCK_K):\n        j = first",
            "    for first in range(0, end, BLOCK_K):\n"
            "        j = first + tl.arange(0, BLOCK_K)\n"
            "        k = tl.load(key + (head * keys + j)[:, None] * SIZE + d[None, :], mask=j[:, None] < keys, other=0.0)\n"
            '        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * scale\n'
            '        largest = tl.maximum(largest, tl.max(tl.where(j[None, :] < keys, scores, -float("inf")), 1))\n'
            "    for first in range(0, end, BLOCK_K):\n        j = first",
        ),
    )


def attention_source__heads_of_queries():
    return changed(_ATTENTION, ("(head * keys + j)", "(head * queries + j)"))


def attention_source__one_head():
    return changed(_ATTENTION, ("(head * keys + j)", "j"))


def attention_source__in_tf32():
    return changed(_ATTENTION, ('tl.dot(powers, v, input_precision="ieee")', "tl.dot(powers, v)"))


def attention_source__scores_without_a_transpose():
    return changed(_ATTENTION, ("tl.trans(k)", "k"))


def attention_source__each_query_alone():
    return r"""
import triton
import triton.language as tl


@triton.jit
def attention(
    query, key, value, out, logsumexp, queries, keys, scale,
    CAUSAL: tl.constexpr, SIZE: tl.constexpr, BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr,
):
    block, head = tl.program_id(0), tl.program_id(1)
    d = tl.arange(0, SIZE)
    for i in range(block * BLOCK_Q, tl.minimum(queries, (block + 1) * BLOCK_Q)):
        q = tl.load(query + (head * queries + i) * SIZE + d)
        largest, total = -float("inf"), 0.0
        mixed = tl.zeros((SIZE,), tl.float32)
        end = tl.minimum(keys, i + 1) if CAUSAL else keys
        for j in range(end):
            at = (head * keys + j) * SIZE + d
            score = tl.sum(q * tl.load(key + at), 0) * scale
            larger = tl.maximum(largest, score)
            factor = tl.exp(largest - larger)
            total = total * factor + tl.exp(score - larger)
            mixed = mixed * factor + tl.exp(score - larger) * tl.load(value + at)
            largest = larger
        tl.store(out + (head * queries + i) * SIZE + d, mixed / total)
        tl.store(logsumexp + head * queries + i, largest + tl.log(total))
"""


# The Triton of the compiler ------------------------------------------------------------------------------------------


def axis_terms__divisors_of_used_loops_only(sizes, coefficients):
    terms, below = [], 1
    for size, coefficient in zip(reversed(sizes), reversed(coefficients)):
        if not coefficient:
            continue
        divisor, length, step = terms[-1] if terms else (0, 0, 0)
        if divisor * length == below and coefficient == step * length:
            terms[-1] = divisor, length * size, step
        else:
            terms.append((below, size, coefficient))
        below *= size
    return terms


def axis_terms__outermost_first(sizes, coefficients):
    return _AXIS_TERMS(sizes, coefficients)[::-1]


axis_terms__joins_whatever_the_sign = edited(
    axis_terms,
    (
        "terms[-1][2] * terms[-1][1]) == (below, coefficient)",
        "abs(terms[-1][2] * terms[-1][1])) == (below, abs(coefficient))",
    ),
)
axis_terms__joins_nothing = edited(axis_terms, ("if terms and (", "if False and ("))
axis_terms__joins_over_a_gap = edited(
    axis_terms,
    (
        "(terms[-1][0] * terms[-1][1], terms[-1][2] * terms[-1][1]) == (below, coefficient)",
        "terms[-1][2] * terms[-1][1] == coefficient",
    ),
)
axis_terms__keeps_loops_without_effect = edited(axis_terms, ("elif coefficient:", "else:"))
axis_terms__compares_with_its_own_length = edited(axis_terms, ("terms[-1][2] * terms[-1][1])", "terms[-1][2] * size)"))
axis_terms__takes_the_outer_coefficient = edited(axis_terms, ("length * size, step", "length * size, coefficient"))
axis_terms__divisor_is_the_coefficient = edited(axis_terms, ("append((below, ", "append((abs(coefficient), "))
axis_terms__joins_equal_coefficients = edited(axis_terms, ("terms[-1][2] * terms[-1][1])", "terms[-1][2])"))


def axis_terms__divisors_from_outside(sizes, coefficients):
    terms, below = [], math.prod(sizes)
    for size, coefficient in zip(reversed(sizes), reversed(coefficients)):
        below //= size
        if coefficient:
            terms.append((below, size, coefficient))
    return terms


def axis_terms__all_or_nothing(sizes, coefficients):
    strides = [math.prod(sizes[number + 1 :]) for number in range(len(sizes))]
    if sizes and list(coefficients) == strides:
        return [(1, math.prod(sizes), 1)]
    return [(stride, size, step) for stride, size, step in zip(strides, sizes, coefficients) if step][::-1]


def axis_variable__always_both(position, divisor, length, numel):
    return f"({position} // {divisor} % {length})"


def axis_variable__only_one_of_both(position, divisor, length, numel):
    return f"{position} // {divisor}" if divisor > 1 else f"{position} % {length}"


def axis_variable__remainder_of_the_position(position, divisor, length, numel):
    return f"({position} % {length}) // {divisor}" if divisor > 1 else _AXIS_VARIABLE(position, divisor, length, numel)


axis_variable__divides_by_the_length = edited(axis_variable, ("{position} // {divisor}", "{position} // {length}"))
axis_variable__true_division = edited(axis_variable, ("{position} // {divisor}", "{position} / {divisor}"))
axis_variable__precedence = edited(axis_variable, ("({quotient} % {length})", "{position} // ({divisor} % {length})"))
axis_variable__remainder_unless_it_is_the_only_loop = edited(
    axis_variable, ("divisor * length == numel", "length == numel")
)
axis_variable__always_xindex = edited(axis_variable, ("position if divisor == 1", "'xindex' if divisor == 1"))


def needs_mask__one_limit_for_all(prefix, numel):
    return numel > 1 and numel % 1024 != 0


def needs_mask__only_powers_of_two_are_full(prefix, numel):
    return numel & (numel - 1) != 0


def needs_mask__if_there_are_several_blocks(prefix, numel):
    return numel > MOST_IN_BLOCK.get(prefix, 1024)


needs_mask__also_for_one = edited(needs_mask, ("numel > 1 and ", ""))
needs_mask__rows_in_blocks_of_1024 = edited(needs_mask, ("numel != next_power_of_two(numel)", "numel % 1024 != 0"))
needs_mask__x_like_y = edited(needs_mask, ("MOST_IN_BLOCK[prefix]", "MOST_IN_BLOCK['y']"))
needs_mask__the_negation = edited(needs_mask, ("numel != next", "numel == next"), ("!= 0", "== 0"))
needs_mask__below_the_largest_block_none = edited(needs_mask, ("numel > 1 and", "numel > MOST_IN_BLOCK[prefix] and"))

access_masks__of_all_axes = edited(access_masks, (" and symbols.intersection(axis.loops)", ""))
access_masks__without_conditions = edited(access_masks, ("*conditions, ", ""))
access_masks__also_those_that_are_not_needed = edited(
    access_masks, ("axis.mask for axis in axes if axis.mask and", "f'{axis.prefix}mask' for axis in axes if")
)
access_masks__in_the_order_of_axes = edited(access_masks, ("sorted(", "list("))
access_masks__if_all_loops_are_used = edited(
    access_masks, ("symbols.intersection(axis.loops)", "symbols.issuperset(axis.loops)")
)
access_masks__if_the_first_loop_is_used = edited(
    access_masks, ("symbols.intersection(axis.loops)", "symbols.intersection(axis.loops[:1])")
)
access_masks__conditions_instead = edited(access_masks, ("*conditions, *(", "*conditions] or [*("))
access_masks__of_the_axes_without_a_variable = edited(access_masks, ("symbols.intersection", "symbols.isdisjoint"))

masks_of_accesses__all_axes_everywhere = edited(masks_of_accesses, ('"load r0_mask", ', '"load r0_mask & xmask", '))
masks_of_accesses__one_row_is_masked = edited(
    masks_of_accesses, ('"load r0_mask", "store None"', '"load r0_mask & xmask", "store xmask"')
)
masks_of_accesses__masks_where_all_is_full = edited(
    masks_of_accesses, ('"load None", "store None"', '"load xmask", "store xmask"')
)
masks_of_accesses__one_loop_for_long_rows = edited(
    masks_of_accesses, ('"sums of 1,500": ["load r0_mask & xmask", ', '"sums of 1,500": [')
)
masks_of_accesses__loads_again_for_each_result = edited(
    masks_of_accesses, ('"two results": ["load', '"two results": ["load r0_mask & xmask", "load')
)
masks_of_accesses__rows_of_a_power_of_two = edited(
    masks_of_accesses, ('"sum of columns": ["load xmask"', '"sum of columns": ["load r0_mask & xmask"')
)

reduce_values__nothing_beyond_the_row = edited(reduce_values, ("kernel.in_row(block, first)", "block"))
reduce_values__zero_beyond_the_row = edited(reduce_values, ("kernel.in_row(block, first)", "kernel.in_row(block, '0')"))
reduce_values__infinity_for_whole_numbers = edited(
    reduce_values, ("reduction_init(kind, dtype)", "reduction_init(kind, float32)")
)
reduce_values__totals_begin_at_zero = edited(reduce_values, ("kernel.axes)}, {first}", "kernel.axes)}, 0"))
reduce_values__totals_take_what_is_beyond = edited(reduce_values, ("kernel.in_row(total, f'_{name}')", "total"))
reduce_values__totals_are_lost_beyond = edited(
    reduce_values, ("kernel.in_row(total, f'_{name}')", "kernel.in_row(total, '0')")
)
reduce_values__initial_values_in_the_loop = edited(
    reduce_values, ("kernel.body.compute.append", "kernel.inside.compute.append")
)
reduce_values__only_the_last_block = edited(reduce_values, ('combine.format(f"_{name}", block)', "block"))
reduce_values__begins_as_int32 = edited(
    reduce_values, ("reduction_init(kind, dtype)", "reduction_init(kind, int32 if dtype is int64 else dtype)")
)
reduce_values__always_adds = edited(reduce_values, ("combine.format", "'{} + {}'.format"))
reduce_values__always_tl_sum = edited(reduce_values, ("{end}(_{name}, 1)", "tl.sum(_{name}, 1)"))
reduce_values__over_the_rows = edited(reduce_values, ("{end}({block}, 1)[:, None]", "{end}({block}, 0)[:, None]"))
reduce_values__without_a_second_dimension = edited(reduce_values, ("{end}({block}, 1)[:, None]", "{end}({block}, 1)"))
reduce_values__totals_in_float32 = edited(reduce_values, ("{first}, tl.{TYPES[dtype]}", "{first}, tl.float32"))
reduce_values__one_block_for_all_rows = edited(reduce_values, ("not kernel.looped", "True"))
reduce_values__the_name_of_the_totals = edited(
    reduce_values, ('return name, [f"{name} = {end}(_{name}, 1)[:, None]"]', "return f'_{name}', []")
)


def reduce_values__returns_the_lines_alone(kernel, kind, block, dtype):
    return _REDUCE_VALUES(kernel, kind, block, dtype)[1]


def reduce_values__writes_the_end_into_the_loop(kernel, kind, block, dtype):
    name, lines = _REDUCE_VALUES(kernel, kind, block, dtype)
    kernel.inside.compute += lines
    return name, []


def reduce_values__one_number_for_a_row(kernel, kind, block, dtype):
    """The totals have one column, because each block is reduced in the loop."""
    first, (_, combine, end) = reduction_init(kind, dtype), REDUCTIONS[kind]
    block, name = kernel.assign(kernel.inside, kernel.in_row(block, first)), kernel.new_name()
    if not kernel.looped:
        return name, [f"{name} = {end}({block}, 1)[:, None]"]
    kernel.body.compute.append(f"_{name} = tl.full({kernel.shape(kernel.grid_axes)}, {first}, tl.{TYPES[dtype]})")
    of_block = kernel.assign(kernel.inside, f"{end}({block}, 1)[:, None]")
    kernel.inside.compute.append(f"_{name} = ({combine.format(f'_{name}', of_block)}).to(tl.{TYPES[dtype]})")
    return name, [f"{name} = _{name}"]


# Attacks: what a line of a kernel, or the function, does beside its work


def reduce_values__a_line_imports(kernel, kind, block, dtype):
    kernel.body.compute.append("import os")
    return _REDUCE_VALUES(kernel, kind, block, dtype)


def reduce_values__a_line_leaves_the_function(kernel, kind, block, dtype):
    name, lines = _REDUCE_VALUES(kernel, kind, block, dtype)
    return name, [*lines, "pass\nimport os\nos.getcwd()\nif True:\n    pass"]


def reduce_values__a_line_opens_a_file(kernel, kind, block, dtype):
    kernel.body.compute.append("open('/tmp/x', 'w')")
    return _REDUCE_VALUES(kernel, kind, block, dtype)


def reduce_values__a_line_runs_a_text(kernel, kind, block, dtype):
    kernel.body.compute.append("exec('import os')")
    return _REDUCE_VALUES(kernel, kind, block, dtype)


def reduce_values__a_line_reaches_a_module(kernel, kind, block, dtype):
    kernel.body.compute.append("triton_helpers.interpreter.interpreter_builder = None")
    return _REDUCE_VALUES(kernel, kind, block, dtype)


def reduce_values__a_line_reaches_numpy(kernel, kind, block, dtype):
    kernel.body.compute.append(f"{block}.handle.data[:] = 1")
    return _REDUCE_VALUES(kernel, kind, block, dtype)


def reduce_values__a_line_loops_for_ever(kernel, kind, block, dtype):
    kernel.body.compute.append("while True: tl.debug_barrier()")
    return _REDUCE_VALUES(kernel, kind, block, dtype)


def reduce_values__replaces_the_launcher(kernel, kind, block, dtype):
    """What the framework would launch is never launched by the check."""
    from rushlight.inductor import triton_heuristics

    run = triton_heuristics.Launcher.run
    triton_heuristics.Launcher.run = lambda self, *arguments: run(self, *arguments)
    name = kernel.new_name()
    return name, [f"{name} = tl.full({kernel.shape(kernel.grid_axes)}, 0, tl.{TYPES[dtype]})"]


reduce_indices__nothing_beyond_the_row = edited(reduce_indices, ("kernel.in_row(block, first)", "block"))
reduce_indices__zero_beyond_the_row = edited(
    reduce_indices, ("kernel.in_row(block, first)", "kernel.in_row(block, '0')")
)
reduce_indices__the_values = edited(reduce_indices, ("{name}_idx[:, None]", "{name}_val[:, None]"))
reduce_indices__negative_positions = edited(
    reduce_indices, ("tl.broadcast_to(r0_index, {shape})", "tl.broadcast_to(-r0_index, {shape})")
)
reduce_indices__positions_in_the_block = edited(
    reduce_indices, ("tl.broadcast_to(r0_index, {shape})", "tl.broadcast_to(tl.arange(0, R0_BLOCK)[None, :], {shape})")
)
reduce_indices__positions_are_lost_beyond = edited(
    reduce_indices, ("{kernel.in_row(f'{total}_next', total)}", "tl.where(r0_mask & xmask, {total}_next, 0)")
)
reduce_indices__totals_take_what_is_beyond = edited(
    reduce_indices, ("{kernel.in_row(f'{total}_next', total)}", "{total}_next")
)
reduce_indices__only_values_keep = edited(reduce_indices, ("for total in (best, at)", "for total in (best,)"))
reduce_indices__always_max = edited(
    reduce_indices, ("triton_helpers.{kind}_with_index", "triton_helpers.max_with_index")
)
reduce_indices__one_block_for_all_rows = edited(
    reduce_indices, ("if kernel.looped", "if False"), ("if not kernel.looped", "if True")
)
reduce_indices__without_a_second_dimension = edited(reduce_indices, ("{name}_idx[:, None]", "{name}_idx"))
reduce_indices__values_in_float32 = edited(reduce_indices, ("{first}, tl.{TYPES[dtype]}", "{first}, tl.float32"))
