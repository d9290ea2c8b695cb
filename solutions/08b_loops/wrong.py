"""Wrong answers to lab 08b that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import math

from rushlight.aten.native.views import broadcast_shapes
from rushlight.c10.dtypes import result_type
from rushlight.course import breaks, reviews
from rushlight.course.predictions import generated_by
from rushlight.inductor import ir, lowering
from rushlight.inductor.index import (
    ZERO,
    element_index,
    merge_dims,
    quotient,
    remainder,
    reshaped_indices,
)
from rushlight.inductor.ir import Pointwise, Reduction

from ..shared import copied, edited

# ---- loops ---------------------------------------------------------------------------------------------------------


element_index__starts_at_the_beginning = edited(element_index, ("total = Index.of(offset)", "total = ZERO"))
element_index__leaves_out_expanded_dimensions_too_late = edited(
    element_index, ("index * stride", "index * max(stride, 1)")
)
element_index__assumes_row_major_order = edited(
    element_index, ("zip(indices, strides)", "zip(indices, sorted(strides, reverse=True))")
)


_review = reviews.review_quotient()


def review_quotient__accepts_all():
    return dict.fromkeys("abcde")


def review_quotient__refuses_all():
    return {letter: case or _review["c"] for letter, case in _review.items()}


def review_quotient__of_an_index_without_an_offset():
    return _review | {letter: {"sizes": [4], "coefficients": [1], "offset": 0, "divisor": 4} for letter in "ad"}


def review_quotient__refuses_a_negative_quotient():
    return _review | {"b": {"sizes": [2], "coefficients": [-1], "offset": -3, "divisor": 4}}


def review_quotient__of_three_loops():
    three = {"sizes": [2, 2, 2], "coefficients": [4, 2, 1], "offset": 0, "divisor": 4}
    return _review | {"a": three | {"offset": 1}, "d": three}


def review_quotient__by_values_alone():
    return _review | {"d": {"sizes": [3], "coefficients": [1], "offset": 0, "divisor": 2}, "c": None}


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


reshaped_indices__divides_without_looking = edited(
    reshaped_indices,
    (
        "reshaped.append(remainder(quotient(position, step), size))",
        "reshaped.append(Index.of(Remainder(Index.of(Quotient(position, step)), size)))",
    ),
)
merge_dims__looks_at_the_first_access_only = edited(
    merge_dims,
    (
        "if merged and all(access[merged[-1][-1]] == size * access[dim] for access in strides):",
        "if merged and all(access[merged[-1][-1]] == size * access[dim] for access in strides[:1]):",
    ),
)
merge_dims__keeps_loops_of_one_iteration = edited(merge_dims, ("        if size == 1:\n            continue\n", ""))


merge_dims__compares_with_the_first_of_the_group = edited(merge_dims, ("merged[-1][-1]", "merged[-1][0]"))
merge_dims__does_not_merge_what_stands_still = edited(
    merge_dims,
    ("access[merged[-1][-1]] == size * access[dim]", "access[dim] and access[merged[-1][-1]] == size * access[dim]"),
)
merge_dims__forgets_which_way = edited(
    merge_dims,
    ("access[merged[-1][-1]] == size * access[dim]", "abs(access[merged[-1][-1]]) == abs(size * access[dim])"),
)
merge_dims__three_at_most = edited(
    merge_dims,
    (
        "merged and all(access[merged[-1][-1]] == size * access[dim] for access in strides)",
        "merged and len(merged[-1]) < 3 and all(access[merged[-1][-1]] == size * access[dim] for access in strides)",
    ),
)
pointwise__aligns_dimensions_from_the_first = edited(
    lowering.pointwise,
    (
        'tensors = [operand for operand in operands if hasattr(operand, "sizes")]\n'
        "    sizes = tuple(broadcast_shapes(*(tensor.sizes for tensor in tensors)))",
        'sizes = tuple(broadcast_shapes(*(tensor.sizes for tensor in operands if hasattr(tensor, "sizes"))))',
    ),
    ("                own = indices[len(indices) - len(operand.sizes) :]\n", ""),
    ("zip(own, operand.sizes)", "zip(indices, operand.sizes)"),
)


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


_breaks = copied(breaks.breaks_can_fuse)


def breaks_can_fuse__of_usual_nests():
    reads = ["c[i, j]"]
    return [
        {"first_reads": reads, "first_writes": "a[i, j]", "second_reads": [second], "second_writes": "b[i, j]"}
        for second in ("a[i, j]", "a[j, i]", "c[i, j]", "c[j, i]")
    ]


def breaks_can_fuse__with_nests_in_the_other_order():
    return [
        {
            "first_reads": case["second_reads"],
            "first_writes": case["second_writes"],
            "second_reads": case["first_reads"],
            "second_writes": case["first_writes"],
        }
        for case in _breaks()
    ]


def breaks_can_fuse__without_offsets():
    return [
        {**case, "second_reads": [read.replace("j + 1", "j") for read in case["second_reads"]]} for case in _breaks()
    ]


def breaks_can_fuse__without_reductions():
    return [{**case, "first_writes": "a[i, j]"} for case in _breaks()]


def breaks_can_fuse__of_nests_that_share_nothing():
    return [{**case, "first_reads": [], "second_reads": []} for case in _breaks()[2:]]


def breaks_can_fuse__with_one_text_for_the_reads():
    return [{**case, "first_reads": "c[i, j]"} for case in _breaks()]


def breaks_can_fuse__with_another_buffer():
    return [{**case, "second_writes": "d[i, j]"} for case in _breaks()]


# Sentences that are easily passed over


_element_index = copied(element_index)
_reshaped_indices = copied(reshaped_indices)
_merge_dims = copied(merge_dims)
_pointwise = copied(lowering.pointwise)
_reduction = copied(lowering.reduction)


def element_index__takes_lists_only(indices, strides, offset):
    return _element_index(indices.__add__([]), strides, offset)


def element_index__takes_a_tuple_of_strides_only(indices, strides, offset):
    return _element_index(indices, strides.__add__(()), offset)


def reshaped_indices__takes_a_list_only(indices, sizes, new_sizes):
    return _reshaped_indices(indices.__add__([]), sizes, new_sizes)


def merge_dims__takes_lists_only(sizes, strides):
    return _merge_dims(sizes.__add__([]), strides)


def merge_dims__takes_a_tuple_of_strides_only(sizes, strides):
    return _merge_dims(sizes, strides.__add__(()))


def pointwise__takes_a_list_of_operands_only(name, operands, dtype=None):
    return _pointwise(name, operands.__add__([]), dtype)


pointwise__takes_the_dtype_of_the_computation = edited(
    lowering.pointwise, ("ir.op(name, *values, dtype=dtype)", "ir.op(name, *values)")
)
pointwise__a_dimension_more = edited(lowering.pointwise, ("sizes = tuple(", "sizes = (1,) + tuple("))
pointwise__multiplies_to_add = edited(lowering.pointwise, ("ir.op(name", 'ir.op("mul" if name == "add" else name'))


def reduction__takes_a_tuple_of_dims_only(kind, operand, dims, keepdim, dtype=None):
    return _reduction(kind, operand, dims.__add__(()), keepdim, dtype)


reduction__keeps_all_dimensions = edited(lowering.reduction, ("if keepdim or dim in kept]", "]"))
reduction__always_sums = edited(lowering.reduction, ("reduced_sizes, kind)", 'reduced_sizes, "sum")'))
reduction__the_first_element_for_each = edited(lowering.reduction, ("iter(reduced)", "iter([ZERO] * ndim)"))


generated_by__where_the_text_is_made = edited(
    generated_by, ("wrapper.py _codegen_assert_size_stride", "wrapper.py make_assert_size_stride")
)
generated_by__where_a_text_is_passed_on = edited(generated_by, ("_generate_extern_kernel_out_helper", "dispatch"))
generated_by__where_an_object_is_kept = edited(
    generated_by, ("_generate_extern_kernel_out_helper", "generate_extern_kernel_out")
)
generated_by__where_a_template_begins = edited(
    generated_by, ("codegen/cpp.py codegen_group", "codegen/cpp_template.py header")
)
generated_by__by_the_class = edited(generated_by, ("scheduler.py __call__", "scheduler.py WhyNoFuse"))
generated_by__where_the_round_is_run = edited(generated_by, ("scheduler.py fuse_nodes", "scheduler.py fuse_nodes_once"))
generated_by__where_it_is_called = edited(generated_by, ("cpp.py define_kernel", "cpp.py flush"))


pointwise__numbers_last = edited(
    lowering.pointwise,
    ("return ir.op(name, *values", "return ir.op(name, *sorted(values, key=lambda one: isinstance(one, ir.Constant))"),
)


def pointwise__keeps_the_first_elements(name, operands, dtype=None):
    loops, kept = _pointwise(name, operands, dtype), []

    def inner(indices):
        kept[1:] = kept or [loops.inner(indices)]
        return kept[0]

    return Pointwise(loops.sizes, loops.dtype, inner)


reduction__reads_once = edited(
    lowering.reduction,
    ("    def inner(", "    axes = iter(range(ndim))\n\n    def inner("),
    ("for dim in range(ndim)])", "for dim in axes])"),
)
reduction__in_the_order_of_a_set = edited(lowering.reduction, ("for dim in sorted(gone)", "for dim in gone"))
reduction__sorts_before_it_counts_from_the_start = edited(
    lowering.reduction, ("for dim in sorted(gone)", "for dim in [dim % ndim for dim in sorted(dims)]")
)
reduction__converts_before_a_sum_only = edited(
    lowering.reduction,
    ("return ir.cast(element, dtype)", 'return ir.cast(element, dtype) if kind in ("sum", "prod") else element'),
)
