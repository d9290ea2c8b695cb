"""Wrong bodies of `coalesce_dimensions`, for lab 03a: what cases of a student must catch."""

AT = "aten.iterator.coalesce_dimensions"
MOST = 5
CASE = {"sizes": "list[int]", "operand_strides": "list[list[int]]"}


def coalesce_dimensions(sizes, operand_strides):
    if not sizes:
        return (), ((),) * len(operand_strides)
    new_sizes, new_strides = [sizes[0]], [[strides[0]] for strides in operand_strides]
    for dim in range(1, len(sizes)):
        size = new_sizes[-1]
        even = all(strides[dim] == size * new[-1] for strides, new in zip(operand_strides, new_strides))
        if even or 1 in (size, sizes[dim]):
            new_sizes[-1] *= sizes[dim]
            if size == 1:
                for strides, new in zip(operand_strides, new_strides):
                    new[-1] = strides[dim]
        else:
            new_sizes.append(sizes[dim])
            for strides, new in zip(operand_strides, new_strides):
                new.append(strides[dim])
    return tuple(new_sizes), tuple(tuple(new) for new in new_strides)


WRONG = {
    "loops without dimensions": [("((),) * len(operand_strides)", "()")],
    "operands before the last one": [
        ("all(strides", "[True, *(strides"),
        ("new_strides))\n        if", "new_strides))][-1]\n        if"),
    ],
    "a dimension of size 1 before another one": [("1 in (size, sizes[dim])", "sizes[dim] == 1")],
    "a dimension of size 1 after another one": [("1 in (size, sizes[dim])", "size == 1")],
    "the stride that a joined dimension has": [("if size == 1:", "if sizes[dim - 1] == 1:")],
    "the strides that a dimension of size 1 takes over": [
        (
            "                for strides, new in zip(operand_strides, new_strides):\n                    new",
            "                for strides, new in zip(operand_strides[:1], new_strides):\n                    new",
        )
    ],
    "the size that a joined dimension has": [("size = new_sizes[-1]", "size = sizes[dim - 1]")],
    "a dimension that joins after one of size 1": [("size * new[-1]", "sizes[dim - 1] * strides[dim - 1]")],
    "broadcast operands that can join": [("size * new[-1]", "size * new[-1] != 0")],
    "broadcast operands that cannot join": [("== size * new[-1]", "in (size * new[-1], 0)")],
}

# Cases that the lab shows: they catch less than half
USUAL = [
    {"sizes": [600, 5, 8], "operand_strides": [[1, 600, 3000], [1, 0, 0]]},
    {"sizes": [600, 5, 8], "operand_strides": [[1, 600, 3000], [1, 600, 3000]]},
]
