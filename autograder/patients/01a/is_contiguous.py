"""Wrong bodies of `is_contiguous`, for lab 01a: what cases of a student must catch."""

AT = "aten.strided.is_contiguous"
MOST = 5
CASE = {"sizes": "list[int]", "strides": "list[int]"}


def is_contiguous(sizes, strides):
    if 0 in sizes:
        return True
    expected = 1
    for size, stride in zip(reversed(sizes), reversed(strides)):
        if size == 1:
            continue
        if stride != expected:
            return False
        expected *= size
    return True


WRONG = {
    "tensors without elements": [("    if 0 in sizes:\n        return True\n", "")],
    "some tensors without elements": [("0 in sizes", "0 in sizes[:1]")],
    "dimensions of size 1": [("        if size == 1:\n            continue\n", "")],
    "some strides of dimensions of size 1": [("size == 1", "size == 1 and stride >= expected")],
    "elements with gaps between them": [("stride != expected", "stride < expected")],
    "elements that share a position": [("stride != expected", "stride > expected")],
    "repeated elements of one kind": [("size == 1", "size == 1 or stride == 0")],
    "the dimensions before the last two": [("reversed(strides)", "strides[:-3:-1]")],
    "contiguous tensors of several dimensions": [("expected *= size", "expected = size")],
    "a number of dimensions": [("expected *= size\n    return True", "expected *= size\n    return len(sizes) > 0")],
}

# Cases that the lab shows: they catch less than half
USUAL = [
    {"sizes": [4], "strides": [1]},
    {"sizes": [2, 3], "strides": [3, 1]},
    {"sizes": [3, 2], "strides": [1, 3]},
]
