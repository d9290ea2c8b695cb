"""Wrong bodies of `reduced_sizes`, for lab 03b: what cases of a student must catch."""

from rushlight.aten.strided import wrap_dim

AT = "aten.native.reductions.reduced_sizes"
MOST = 5
CASE = {"sizes": "list[int]", "dims": "list[int]", "keepdim": "bool"}


def reduced_sizes(sizes, dims, keepdim):
    reduced, left = [wrap_dim(dim, len(sizes)) for dim in dims or ()], []
    for dim in reduced:
        if reduced.count(dim) > 1:
            raise RuntimeError(f"dim {dim} appears multiple times in the list of dims")
    for dim, size in enumerate(sizes):
        if dims and dim not in reduced:
            left.append(size)
        elif keepdim:
            left.append(1)
    return tuple(left)


WRONG = {
    "a dimension that is given twice": [("reduced.count(dim) > 1", "False")],
    "one dimension under two numbers": [
        ("for dim in reduced:", "for dim in dims or ():"),
        ("reduced.count(dim)", "dims.count(dim)"),
    ],
    "an empty list of dimensions": [("if dims and", "if dims is not None and")],
    "sizes that are kept where everything is reduced": [("elif keepdim", "elif keepdim and dims")],
    "what a tensor without dimensions accepts": [
        ("    reduced, left", "    if dims and not sizes:\n        raise IndexError(dims)\n    reduced, left")
    ],
    "what a tensor without dimensions refuses": [
        ("    reduced, left", "    if not sizes:\n        return ()\n    reduced, left")
    ],
    "which of two errors comes first": [
        (
            "[wrap_dim(dim, len(sizes)) for dim in dims or ()], []\n    for dim in reduced:\n",
            "[], []\n    for dim in dims or ():\n        dim = wrap_dim(dim, len(sizes))\n        reduced.append(dim)\n",
        )
    ],
    "the order in which dimensions are given": [
        (
            "    return tuple(left)",
            "    if dims and not keepdim:\n        left = [*sizes]\n        for dim in reversed(reduced):\n"
            "            del left[dim : dim + 1]\n    return tuple(left)",
        )
    ],
    "dimensions of size 1 that are not reduced": [
        ("left.append(size)", "left.extend([size] * (keepdim or size != 1))")
    ],
    "the size of a dimension that was empty": [("left.append(1)", "left.append(min(size, 1))")],
}

# Cases that the lab shows: they catch less than half
USUAL = [
    {"sizes": [8, 5, 600], "dims": [-1], "keepdim": False},
    {"sizes": [8, 5, 600], "dims": [-1], "keepdim": True},
    {"sizes": [8, 5, 600], "dims": [0, 2], "keepdim": False},
]
