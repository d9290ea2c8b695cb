"""Checks of lab 08: index arithmetic."""

from ...engine.check import program
from ..cases import drawing, field, rows
from ..shared_08 import is_index, numbers, shapes, symbols


@drawing
def _strided(draw, st, most=4):
    """Sizes, strides and the offset of a tensor, and which of its dimensions are indexed from their end."""
    sizes = draw(shapes(st, most))
    count = len(sizes)
    strides = draw(st.lists(st.integers(0, 12), min_size=count, max_size=count))
    flips = draw(st.lists(st.booleans(), min_size=count, max_size=count))
    return {"sizes": sizes, "strides": strides, "offset": draw(st.integers(0, 5)), "flips": flips}


def _indices(xp, sizes, flips):
    """Loop variables for these sizes, and an index for each dimension: the variable, or counted from the end."""
    Index, variables = xp.inductor.index.Index, symbols(xp, sizes)
    indices = [Index.of(size - 1) - v if flip else Index.of(v) for v, size, flip in zip(variables, sizes, flips)]
    return variables, indices


_STRIDED = rows(
    "sizes strides offset flips",
    ([], [], 0, []), ([], [], 4, []), ([3], [1], 0, [False]), ([3], [2], 1, [True]),
    ([2, 3], [3, 1], 0, [False, False]), ([2, 3], [1, 2], 2, [True, False]), ([2, 3], [0, 1], 0, [False, False]),
    ([1, 3], [7, 1], 3, [False, True]),
)  # fmt: skip


@program("inductor.index.element_index", cases=_strided, edges=_STRIDED)
def elements(xp, sizes, strides, offset, flips):
    variables, indices = _indices(xp, sizes, flips)
    kind = tuple if offset else list
    index = xp.inductor.index.element_index(kind(indices), kind(strides), offset)
    return {"is an Index": is_index(xp, index), "elements": numbers(xp, index, variables)}


@elements.oracle
def _(torch, sizes, strides, offset, flips):
    reach = offset + sum((size - 1) * stride for size, stride in zip(sizes, strides)) + 1
    view = torch.arange(reach).as_strided(sizes, strides, offset)
    view = view.flip([dim for dim, flip in enumerate(flips) if flip])
    return {"is an Index": True, "elements": view.reshape(-1).tolist()}


@drawing
def _reshapes(draw, st):
    """Two lists of sizes with the same product: the same factors, multiplied in two ways."""
    factors = draw(st.lists(st.sampled_from([1, 2, 2, 3, 4, 5]), max_size=4))
    case = {}
    for name in ("sizes", "new_sizes"):
        order = draw(st.permutations(factors)) if name == "sizes" else factors
        sizes = []
        for factor in order:
            if sizes and draw(st.booleans()):
                sizes[-1] *= factor
            else:
                sizes.append(factor)
        case[name] = sizes
    return case


@program(
    "inductor.index.reshaped_indices",
    cases=_reshapes,
    edges=rows(
        "sizes new_sizes",
        ([], []), ([], [1, 1]), ([1, 1], []), ([6], [6]), ([6], [2, 3]), ([2, 3], [6]), ([2, 3], [3, 2]),
        ([2, 3, 4], [6, 4]), ([2, 3, 4], [2, 12]), ([2, 12], [2, 3, 4]), ([6, 4], [4, 6]), ([1, 6], [2, 1, 3]),
        ([2, 1, 3], [3, 1, 2]), ([1, 5, 1], [5]), ([2, 2, 2], [4, 2]),
    ),
    hint=lambda case, mine, theirs: (
        "an index that is a sum of loop variables has a division: look at the arguments of `quotient` and `remainder`"
        if field(mine, "element") == field(theirs, "element")
        else "the last dimension varies fastest, in both"
        if field(mine, "element")
        else None
    ),
)  # fmt: skip
def reshaped(xp, sizes, new_sizes):
    variables = symbols(xp, new_sizes)
    kind = tuple if len(new_sizes) == 2 else list
    indices = kind(xp.inductor.index.Index.of(variable) for variable in variables)
    new_indices = xp.inductor.index.reshaped_indices(indices, sizes, new_sizes)
    return {
        "each is an Index": [is_index(xp, index) for index in new_indices],
        "element": [numbers(xp, index, variables) for index in new_indices],
        "has a division": [is_index(xp, index) and not index.is_affine for index in new_indices],
    }


@reshaped.oracle
def _(torch, sizes, new_sizes):
    positions = torch.arange(torch.Size(new_sizes).numel())
    coordinates = list(torch.unravel_index(positions, sizes)) if sizes else []
    return {
        "each is an Index": [True] * len(sizes),
        "element": [index.tolist() for index in coordinates],
        "has a division": [not _is_affine(torch, index.reshape(new_sizes)) for index in coordinates],
    }


def _is_affine(torch, index):
    """Whether an index increases by the same number with every step of each loop variable."""
    steps = [index.diff(dim=dim) for dim in range(index.dim())]
    return all(bool((step == step.reshape(-1)[:1]).all()) for step in steps if step.numel())


@drawing
def _nests(draw, st):
    """Sizes of nested loops, and the strides of some accesses: contiguous, permuted, expanded, with gaps."""
    sizes = draw(st.lists(st.sampled_from([1, 2, 2, 3, 4]), max_size=4))
    accesses = []
    for _ in range(draw(st.integers(0, 3))):
        strides, step = [0] * len(sizes), draw(st.sampled_from([1, 1, 2]))
        order = draw(st.one_of(st.just(list(range(len(sizes)))), st.permutations(range(len(sizes)))))
        kinds = draw(st.lists(st.sampled_from("cccceg"), min_size=len(sizes), max_size=len(sizes)))
        for dim in reversed(order):
            if kinds[dim] == "e":
                continue
            step += kinds[dim] == "g"
            strides[dim] = step
            step *= sizes[dim]
        backwards = draw(st.sampled_from([0, 0, 0, 0, 1, 2, 3, 15]))  # one bit for each loop
        accesses.append([-stride if backwards >> dim & 1 else stride for dim, stride in enumerate(strides)])
    return {"sizes": sizes, "strides": accesses}


_NESTS = rows(
    "sizes strides",
    ([], []), ([1], [[5]]), ([1, 1], []), ([3], [[1]]), ([2, 3], []), ([2, 3], [[3, 1]]), ([2, 3], [[1, 2]]),
    ([2, 3], [[3, 1], [3, 1]]), ([2, 3], [[3, 1], [0, 1]]), ([2, 3], [[3, 1], [0, 0]]), ([2, 3], [[3, 1], [1, 0]]),
    ([2, 1, 3], [[3, 9, 1]]), ([2, 3, 1], [[3, 1, 7]]), ([2, 3, 4], [[12, 4, 1]]), ([2, 3, 4], [[12, 4, 1], [4, 0, 1]]),
    ([2, 3, 4], [[12, 4, 1], [0, 4, 1]]), ([2, 3, 4], [[12, 4, 1], [3, 1, 0]]), ([2, 1, 3, 4], [[24, 24, 8, 2]]),
    ([2, 2, 2], [[4, 2, 1], [2, 1, 1]]), ([4, 6], [[-6, -1]]), ([4, 6], [[6, -1]]), ([4, 6], [[-6, 1]]),
    ([4, 6], [[0, -1]]), ([2, 2, 2, 2], [[8, 4, 2, 1]]), ([2, 2, 2, 2, 2], [[16, 8, 4, 2, 1]]),
)  # fmt: skip


def _about_loops(case, mine, theirs):
    if not isinstance(mine, list) or not all(isinstance(dims, list) for dims in mine):
        return None
    if any(case["sizes"][dim] == 1 for dims in mine for dim in dims):
        return "a loop of one iteration is not in the answer, and does not separate the loops around it"
    if len(mine) > len(theirs):
        return (
            "a loop is merged if in each access the stride of the loop before it is its own size times its own stride"
        )
    if len(mine) < len(theirs) and any(stride < 0 for strides in case["strides"] for stride in strides):
        return "an access may go backwards in one loop and forwards in the other"
    return "in each access the stride of the last loop of a group must be the size of the next loop times its stride"


@program(
    "inductor.index.merge_dims",
    cases=_nests,
    edges=_NESTS,
    hint=_about_loops,
)
def merged_loops(xp, sizes, strides):
    kind = tuple if len(strides) == 1 else list
    return [list(dims) for dims in xp.inductor.index.merge_dims(kind(sizes), kind(map(kind, strides)))]


@merged_loops.oracle
def _(torch, sizes, strides):
    merged = []
    for dim, size in enumerate(sizes):
        if size == 1:
            continue
        if merged and all(_is_one_dimension(torch, sizes, row, [merged[-1][-1], dim]) for row in strides):
            merged[-1].append(dim)
        else:
            merged.append([dim])
    return merged


def _is_one_dimension(torch, sizes, strides, dims):
    """Whether torch can view these dimensions of a tensor as one. If both go backwards, their steps are negated."""
    steps = [strides[dim] for dim in dims]
    if min(steps) < 0 < max(steps):
        return False
    view = torch.zeros(1000).as_strided([sizes[dim] for dim in dims], [abs(step) for step in steps])
    try:
        view.view(-1)
    except RuntimeError:
        return False
    return True
