"""Wrong bodies of `has_internal_overlap`, for lab 01b: what cases of a student must catch."""

from rushlight.aten.strided import non_overlapping_and_dense

AT = "aten.strided.has_internal_overlap"
MOST = 5
CASE = {"sizes": "list[int]", "strides": "list[int]"}


def has_internal_overlap(sizes, strides):
    if non_overlapping_and_dense(sizes, strides):
        return False
    return any(size > 1 and stride == 0 for size, stride in zip(sizes, strides))


WRONG = {
    "tensors without elements": [("    if non_overlapping_and_dense(sizes, strides):\n        return False\n", "")],
    "some tensors without elements": [("non_overlapping_and_dense(sizes, strides)", "sizes and sizes[-1] == 0")],
    "strides that are never used": [("size > 1 and ", "")],
    "the dimensions after the first one": [("zip(sizes, strides)", "zip(sizes[:1], strides[:1])")],
    "the dimensions before the last two": [("zip(sizes, strides)", "zip(sizes[-2:], strides[-2:])")],
    "tensors that have a dimension of size 1": [("if non_", "if 1 in sizes or non_")],
    "overlaps in several dimensions": [("return any(", "return 1 == sum(")],
    "overlaps between gaps": [("return any(", "return 1 in strides and any(")],
    "gaps without an overlap": [("return any(", "return min(strides, default=1) > 1 or any(")],
}

# Cases that the lab shows: they catch less than half
USUAL = [
    {"sizes": [3, 2], "strides": [1, 3]},
    {"sizes": [2, 3], "strides": [0, 1]},
    {"sizes": [1, 3], "strides": [0, 1]},
    {"sizes": [2, 3], "strides": [4, 1]},
    {"sizes": [4, 3], "strides": [1, 1]},
]
