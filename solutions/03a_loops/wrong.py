"""Wrong answers to lab 03a that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import functools

import numpy as np

from rushlight.aten import iterator, structured
from rushlight.aten.strided import Tensor, empty_strided, infer_size
from rushlight.aten.structured import check_writable, resize_, resize_output
from rushlight.c10 import memory_formats
from rushlight.c10.dtypes import promote_types, scalar_type
from rushlight.course import breaks, predictions

from ..shared import copied, edited

# One loop for operands of many shapes


def result_type__promotes_all_alike(*operands):
    found = [x.dtype if isinstance(x, Tensor) else scalar_type(x) for x in operands]
    return functools.reduce(promote_types, found)


def result_type__forgets_that_a_number_weighs_less_than_a_tensor_without_dimensions(*operands):
    many = [x.dtype for x in operands if isinstance(x, Tensor) and x.dim()]
    light = [x.dtype if isinstance(x, Tensor) else scalar_type(x) for x in operands]
    low = functools.reduce(promote_types, light)
    high = functools.reduce(promote_types, many) if many else low
    return low if low.category > high.category else high


def result_type__takes_the_first_tensor(*operands):
    tensors = [x.dtype for x in operands if isinstance(x, Tensor)]
    numbers = [scalar_type(x) for x in operands if not isinstance(x, Tensor)]
    if not tensors:
        return functools.reduce(promote_types, numbers)
    best = tensors[0]
    for other in tensors[1:] + numbers:
        best = other if other.category > best.category else best
    return best


def reorder_dimensions__sorts_by_the_first_operand(sizes, operand_strides):
    return sorted(range(len(sizes)), key=lambda d: (operand_strides[0][d], -d))


def reorder_dimensions__sorts_by_all_operands(sizes, operand_strides):
    return sorted(range(len(sizes)), key=lambda d: ([strides[d] for strides in operand_strides], -d))


def reorder_dimensions__leaves_the_dimensions_as_they_are(sizes, operand_strides):
    return tuple(reversed(range(len(sizes))))


def reorder_dimensions__moves_the_dimension_past_those_between(sizes, operand_strides):
    order = list(reversed(range(len(sizes))))
    for i in range(1, len(order)):
        target = i
        for other in reversed(range(i)):
            comparison = _compare(order[other], order[i], sizes, operand_strides)
            if comparison > 0:
                target = other
            elif comparison < 0:
                break
        order.insert(target, order.pop(i))
    return order


def reorder_dimensions__stops_where_no_operand_can_tell(sizes, operand_strides):
    order = list(reversed(range(len(sizes))))
    for i in range(1, len(order)):
        while i > 0 and _compare(order[i - 1], order[i], sizes, operand_strides) > 0:
            order[i - 1], order[i] = order[i], order[i - 1]
            i -= 1
    return order


_reorder_rightly = copied(memory_formats.reorder_dimensions)


def reorder_dimensions__forgets_the_sizes(sizes, operand_strides):
    return _reorder_rightly([1] * len(sizes), operand_strides)


def _compare(a, b, sizes, operand_strides):
    for strides in operand_strides:
        if strides[a] and strides[b] and (strides[a] != strides[b] or sizes[a] > sizes[b]):
            return strides[a] - strides[b] or 1
    return 0


def coalesce_dimensions__asks_the_first_operand_only(sizes, operand_strides):
    new_sizes, places = [], []
    first = operand_strides[0] if operand_strides else [0] * len(sizes)
    for d, size in enumerate(sizes):
        if places and (new_sizes[-1] == 1 or size == 1 or first[d] == new_sizes[-1] * first[places[-1]]):
            places[-1] = d if new_sizes[-1] == 1 else places[-1]
            new_sizes[-1] *= size
        else:
            new_sizes.append(size)
            places.append(d)
    return new_sizes, [[strides[d] for d in places] for strides in operand_strides]


def coalesce_dimensions__only_drops_the_ones(sizes, operand_strides):
    kept = [d for d, size in enumerate(sizes) if size != 1] or ([0] if len(sizes) else [])
    return [sizes[d] for d in kept], [[strides[d] for d in kept] for strides in operand_strides]


def coalesce_dimensions__takes_the_last_dimension_for_the_innermost(sizes, operand_strides):
    new_sizes, new_strides = [], [[] for _ in operand_strides]
    for d in reversed(range(len(sizes))):
        even = all(
            strides[d] == (new_sizes or [0])[0] * (new or [0])[0] for strides, new in zip(operand_strides, new_strides)
        )
        if new_sizes and even:
            new_sizes[0] *= sizes[d]
        else:
            new_sizes.insert(0, sizes[d])
            for strides, new in zip(operand_strides, new_strides):
                new.insert(0, strides[d])
    return new_sizes, new_strides


# The forms of an operator


def resize_output__sets_the_strides_in_any_case(out, sizes, strides=None):
    resized = tuple(sizes) != out.shape
    resize_(out, sizes, strides)
    return resized


resize_output__says_nothing = edited(resize_output, ("    if out.numel():\n        warn_resized(out, sizes)\n", ""))
resize_output__warns_of_empty_ones_too = edited(
    resize_output,
    ("if out.numel():\n        warn_resized(out, sizes)", 'warnings.warn("resized", UserWarning, stacklevel=2)'),
)


def call_inplace__makes_a_copy(kernel, args):
    output = kernel.meta(*args)
    if tuple(output.sizes) != args[0].shape:
        raise RuntimeError("shape")
    check_writable(kernel, args, args[0], output)
    copy = empty_strided(args[0].shape, args[0].stride(), args[0].dtype)
    kernel.impl(*args, copy)
    return copy


def call_inplace__lets_itself_be_resized(kernel, args):
    output = kernel.meta(*args)
    check_writable(kernel, args, args[0], output)
    resize_output(args[0], output.sizes, output.strides)
    kernel.impl(*args, args[0])
    return args[0]


def call_inplace__counts_elements(kernel, args):
    self, output = args[0], kernel.meta(*args)
    if np.prod(output.sizes) != self.numel():
        raise RuntimeError("shape")
    check_writable(kernel, args, self, output)
    if not self.is_meta:
        kernel.impl(*args, self)
    return self


def call_inplace__looks_at_the_dtype_only(kernel, args):
    self, output = args[0], kernel.meta(*args)
    if tuple(output.sizes) != self.shape or output.dtype.category > self.dtype.category:
        raise RuntimeError("no")
    if not self.is_meta:
        kernel.impl(*args, self)
    return self


call_out__refuses_what_has_other_sizes = edited(
    structured.call_out,
    (
        "resize_output(out, output.sizes, output.strides)",
        'if tuple(output.sizes) != out.shape:\n        raise RuntimeError("sizes")',
    ),
)
call_out__resizes_to_contiguous_strides = edited(
    structured.call_out, ("resize_output(out, output.sizes, output.strides)", "resize_output(out, output.sizes)")
)
call_out__resizes_before_it_checks = edited(
    structured.call_out,
    ("    check_writable(kernel, args, out, output)\n", ""),
    ("if not out.is_meta:", "check_writable(kernel, args, out, output)\n    if not out.is_meta:"),
)
call_out__forgets_to_check = edited(structured.call_out, ("    check_writable(kernel, args, out, output)\n", ""))


# In C++


resize_output__list_is_another_size = edited(
    resize_output, ("tuple(sizes) == out.shape", "out.shape == sizes"), ("out.numel()", "out.numel() > 0")
)


def call_inplace__sizes_in_a_list_differ(kernel, args):
    self = args[0]
    output = kernel.meta(*args)
    if self.shape != output.sizes:
        raise RuntimeError(f"a result of sizes {list(output.sizes)} does not fit into {list(self.shape)}")
    check_writable(kernel, args, self, output)
    if not self.is_meta:
        kernel.impl(*args, self)
    return self


def call_inplace__checks_afterwards(kernel, args):
    self, output = args[0], kernel.meta(*args)
    if tuple(output.sizes) != self.shape:
        raise RuntimeError("another shape")
    if not self.is_meta:
        kernel.impl(*args, self)
    check_writable(kernel, args, self, output)
    return self


def result_type__takes_an_array_for_a_tensor(*operands):
    def place(x):
        is_number = isinstance(x, np.generic) or not hasattr(x, "dtype")
        return (2, scalar_type(x)) if is_number else (0 if x.dim() else 1, x.dtype)

    placed = [place(x) for x in operands]
    ranks = ([dtype for at, dtype in placed if at == rank] for rank in range(3))
    return max((functools.reduce(promote_types, rank) for rank in ranks if rank), key=lambda dtype: dtype.category)


def call_inplace__broadcasts_the_result(kernel, args):
    self, output = args[0], kernel.meta(*args)
    if infer_size(self.shape, tuple(output.sizes)) != tuple(self.shape):
        raise RuntimeError("shape")
    check_writable(kernel, args, self, output)
    if not self.is_meta:
        kernel.impl(*args, self)
    return self


# Lists in the place of tuples


_inplace = copied(structured.call_inplace)
_out = copied(structured.call_out)


def call_inplace__takes_a_tuple_only(kernel, args):
    return _inplace(kernel, args[:1] + () + args[1:])


def call_out__takes_a_tuple_only(kernel, args, out):
    if (*args, out) != args + (out,):
        raise RuntimeError
    return _out(kernel, args, out)


# Sentences that are easily passed over


_resize = copied(structured.resize_output)


def resize_output__takes_a_list_of_strides_only(out, sizes, strides=None):
    return _resize(out, sizes, None if strides is None else strides + [])


def call_inplace__takes_another_shape_for_no_elements(kernel, args):
    self, output = args[0], kernel.meta(*args)
    if self.numel() and tuple(output.sizes) != self.shape:
        raise RuntimeError("shape")
    check_writable(kernel, args, self, output)
    if not self.is_meta:
        kernel.impl(*args, self)
    return self


call_inplace__calls_no_impl_for_no_elements = edited(
    structured.call_inplace, ("if not self.is_meta:", "if not self.is_meta and self.numel():")
)
call_out__calls_no_impl_for_no_elements = edited(
    structured.call_out, ("if not out.is_meta:", "if not out.is_meta and out.numel():")
)


def result_type__takes_a_number_of_numpy_for_a_tensor(*operands):
    groups = [[], [], []]
    for x in operands:
        group = (0 if x.dim() else 1) if isinstance(x, Tensor) else 1 if isinstance(x, np.generic) else 2
        groups[group].append(x.dtype if isinstance(x, Tensor) else scalar_type(x))
    result = None
    for found in groups:
        if found:
            dtype = functools.reduce(promote_types, found)
            result = dtype if result is None or dtype.category > result.category else result
    return result


coalesce_dimensions__ones_keep_their_strides = edited(
    iterator.coalesce_dimensions, ("            if size == 1:\n", "            if size == 0:\n")
)
call_inplace__of_any_dtype = edited(
    structured.call_inplace,
    ("    check_writable(kernel, args, self, output)\n", "    assert_no_internal_overlap(self)\n"),
)
call_inplace__checks_nothing_on_meta = edited(
    structured.call_inplace,
    (
        "    check_writable(kernel, args, self, output)\n    if not self.is_meta:\n",
        "    if not self.is_meta:\n        check_writable(kernel, args, self, output)\n",
    ),
)


def _through_a_copy(form, out):
    """The reference of a form, which computes into a new tensor and copies the result."""
    new = f"computed = empty_strided({out}.shape, {out}.stride(), {out}.dtype)"
    lines = f"{new}\n        kernel.impl(*args, computed)\n        {out}.copy_(computed)"
    return edited(form, (f"kernel.impl(*args, {out})", lines))


call_inplace__computes_into_a_copy = _through_a_copy(structured.call_inplace, "self")
call_out__computes_into_a_copy = _through_a_copy(structured.call_out, "out")
call_out__resizes_without_a_warning = edited(
    structured.call_out, ("    resize_output(", "    if tuple(output.sizes) != out.shape:\n        resize_(")
)


# Cases

_breaks = copied(breaks.breaks_coalesce_dimensions)


def breaks_coalesce_dimensions__of_the_lab():
    bias, same = ([1, 600, 3000], [1, 0, 0]), ([1, 600, 3000], [1, 600, 3000])
    return [{"sizes": [600, 5, 8], "operand_strides": strides} for strides in (bias, same)]


def breaks_coalesce_dimensions__the_innermost_last():
    return [
        {"sizes": case["sizes"][::-1], "operand_strides": [strides[::-1] for strides in case["operand_strides"]]}
        for case in _breaks()
    ]


def breaks_coalesce_dimensions__of_one_operand():
    return [case | {"operand_strides": case["operand_strides"][:1]} for case in _breaks()]


def breaks_coalesce_dimensions__without_operands():
    return [case | {"operand_strides": []} for case in _breaks()]


def breaks_coalesce_dimensions__of_size_zero():
    return [case | {"sizes": [0 if size == 3 else size for size in case["sizes"]]} for case in _breaks()]


def breaks_coalesce_dimensions__without_a_loop_of_no_dimensions():
    return [case for case in _breaks() if case["sizes"]]


def breaks_coalesce_dimensions__flat_strides():
    return [case | {"operand_strides": sum(case["operand_strides"], [])} for case in _breaks()]


def breaks_coalesce_dimensions__six_of_them():
    return [*_breaks(), *_breaks()[:2]]


# Predictions

_metadata_of_results = copied(predictions.metadata_of_results)

metadata_of_results__contiguous_in_place = edited(predictions.metadata_of_results, ("[3, 12, 1]", "[6, 3, 1]"))
metadata_of_results__keeps_the_gaps = edited(predictions.metadata_of_results, ("[8, 2, 1]", "[16, 4, 2]"))
metadata_of_results__dtype_of_the_operand = edited(
    predictions.metadata_of_results, ('"float32", [2, 3]', '"float16", [2, 3]')
)
metadata_of_results__for_another_name = edited(predictions.metadata_of_results, ('"Ada"', '"Bob"'))


def metadata_of_results__for_three_programs():
    return {key: value for key, value in _metadata_of_results().items() if key != "b"}
