"""Other sizes for the same elements: broadcasting, view and reshape, and overlap."""

from __future__ import annotations

import math

from ...engine.check import program
from ...engine.observe import is_error
from ..cases import breaking, drawing, field, first_apart, is_torch, lists_too, no_cases, rows, sizes, tensor
from ..shared_01 import mixed_too, viewed, with_tensor

# Broadcasting --------------------------------------------------------------------------------------------------------


@drawing
def _pairs_of_sizes(draw, st):
    a = draw(sizes(st))
    b = [size if draw(st.integers(0, 2)) else draw(st.integers(0, 3)) for size in a]
    b = draw(sizes(st, (0, 2))) + b if draw(st.booleans()) else b[draw(st.integers(0, len(b))) :]
    b = [1 if draw(st.integers(0, 3)) == 0 else size for size in b]
    return {"a": a, "b": b} if draw(st.booleans()) else {"a": b, "b": a}


@program(
    "aten.strided.infer_size",
    cases=_pairs_of_sizes,
    edges=rows(
        "a b",
        ([], []), ([2, 3], []), ([], [2, 3]), ([2, 1], [3]), ([3], [2, 1]), ([32, 600], [600]), ([2, 3], [3, 2]),
        ([2, 3], [2]), ([0], [1]), ([1], [0]), ([0], [2]), ([2], [0]), ([4, 1, 3], [2, 1]), ([1, 1], [1]),
        ([2, 3], [2, 4]), ([2, 3, 4], [3, 3, 4]), ([3, 0], [3, 1]), ([1, 0], [3, 1]), ([5, 1, 4, 1, 2], [3, 1, 1]),
        ([2], [5, 1, 4, 3, 1]),
    ),
    asked=rows(
        "a b",
        ([], []), ([2, 3], []), ([3], [2, 1]), ([32, 600], [600]), ([4, 1, 3], [2, 1]), ([2, 3], [3, 2]), ([1], [0]),
        ([0], [2]), ([3, 0], [3, 1]), ([1, 0], [3, 1]),
    ),
)  # fmt: skip
def broadcast_sizes(xp, a, b):
    return mixed_too(xp.strided.infer_size, a, b)


@broadcast_sizes.oracle
def _(torch, a, b):
    return (torch.empty(a) + torch.empty(b)).shape


@with_tensor
def _expansions(draw, st, sizes):
    target = [
        draw(st.sampled_from([-1, size, size, size] + ([2, 3, 0] if size == 1 else [])))
        if draw(st.integers(0, 11))
        else draw(st.integers(-2, 4))
        for size in sizes
    ]
    front = draw(st.lists(st.integers(0, 3), max_size=2))
    if draw(st.integers(0, 15)) == 0:
        front = [-1]
    target = front + target
    return {"sizes": target[1:] if draw(st.integers(0, 15)) == 0 else target}


def _sensible(case):
    """torch accepts a negative size if the result has no elements, and for a 0-dim tensor a size overflows: no answer has
    to do the same."""
    old = case["x"]["tensor"]["sizes"]
    return min(case["sizes"], default=0) >= 0 or (old and 0 not in case["sizes"] + old)


def _about_expand(case, mine, theirs):
    wrong = first_apart(mine, theirs)
    if is_error(theirs) and min(case["sizes"], default=0) < 0:
        return "-1 is for a dimension of `self` only, and every other negative size raises a RuntimeError"
    if wrong != "view":
        return "no element is copied: the view shares the memory of `self`" if wrong == "shares its storage" else None
    yours, wanted = (field(tree, wrong)["tensor"] for tree in (mine, theirs))
    if yours["shape"] != wanted["shape"]:
        return "the last size belongs to the last dimension of `self`, and -1 keeps a size of it"
    apart = [i for i, pair in enumerate(zip(yours["stride"], wanted["stride"])) if pair[0] != pair[1]]
    if not apart:
        return "the view begins where `self` begins: it has the same storage offset"
    dim, new_dims = (
        apart[-1],
        len(wanted["shape"]) - len(case["x"]["tensor"]["sizes"]),
    )  # a stride depends on those after it
    if dim >= new_dims and wanted["shape"][dim] == case["x"]["tensor"]["sizes"][dim - new_dims]:
        return "a dimension that already has the requested size keeps its stride, also if this size is 1"
    if wanted["shape"][dim] == 1:
        return "the stride of a new dimension of size 1 is the size times the stride of the next one, and 0 if it is the last"
    return "a repeated dimension has stride 0: every step reaches the same element"


@program(
    "aten.strided.expand",
    cases=lambda st: _expansions(st, (0, 3)).filter(_sensible),
    edges=rows(
        "x sizes",
        (tensor([3, 1]), [3, 4]), (tensor([3]), [2, 3]), (tensor([3]), [2, -1]), (tensor([1]), [0]),
        (tensor([3]), [1, 3]), (tensor([3], [2]), [1, 1, 3]), (tensor([], []), [2]), (tensor([], []), [1]),
        (tensor([], [], 3), []), (tensor([2, 3]), [3]), (tensor([3]), [4]), (tensor([3]), [-1, 3]), (tensor([1]), [-2]),
        (tensor([3, 1], [1, 5]), [3, 1]), (tensor([1, 3], [3, 1], 2), [2, 2, 3]), (tensor([0, 1]), [0, 2]),
        (tensor([2]), [1, 2]), (tensor([2]), [1]), (tensor([3]), [1, 2, 3]), (tensor([3]), [2, 1, 3]),
        (tensor([3]), [0, 3]), (tensor([], []), [1, 1]), (tensor([], []), [3, 1]), (tensor([], []), [2, 3]),
        (tensor([0, 2]), [1, 0, 2]), (tensor([4]), [1, -1]), (tensor([2, 3], [1, 2]), [-1, -1]),
        (tensor([3, 1]), [-1, 4]), (tensor([2, 3]), [3, 3]), (tensor([2]), [0]), (tensor([0]), [1]), (tensor([0]), [2]),
        (tensor([3]), [-2]), (tensor([3]), [-2, 3]), (tensor([1, 2, 4], [12, 12, 1], 2), [3, 0, 1, 2, 4]),
        (tensor([3, 2, 1], [1, 27, 9], 3), [-1, -1, 3]), (tensor([2, 1, 3], [5, 4, 1]), [1, 2, 1, 2, 4, 3]),
        (tensor([300]), [300]), (tensor([1, 300]), [2, 300]), (tensor([1], [5]), [1, 4]), (tensor([1, 3], [9, 2]), [1, 2, 3]),
        (tensor([1, 3]), [3]), (tensor([0, 2]), [-1, 2]),
    ),
    asked=rows(
        "x sizes",
        (tensor([3, 1]), [3, 4]), (tensor([3]), [2, 3]), (tensor([3]), [2, -1]), (tensor([1]), [0]), (tensor([3]), [1, 3]),
        (tensor([3, 1], [1, 5]), [3, 1]), (tensor([3]), [4]), (tensor([3]), [-1, 3]), (tensor([1]), [-2]), (tensor([3]), [1, 2, 3]),
    ),
    hint=_about_expand,
)  # fmt: skip
def expand(xp, x, sizes):
    return viewed(x, x.expand, sizes, exercise=None if is_torch(xp) else xp.strided.expand)


# View and reshape ----------------------------------------------------------------------------------------------------


@with_tensor
def _regrouped(draw, st, sizes):
    """Sizes that hold as many elements: the prime factors in new groups, with ones between them."""
    numel = math.prod(sizes)
    if numel == 0:
        target = draw(st.lists(st.integers(0, 3), max_size=3))
        return {"sizes": target if 0 in target else [*target, 0]}
    if draw(st.integers(0, 2)):  # keep the dimensions, split some and merge some
        factors = [part for size in sizes for part in draw(st.sampled_from(_splits(size)))]
    else:
        factors = list(draw(st.permutations(_primes(numel))))
    target = []
    for factor in factors:
        if target and draw(st.integers(0, 2)) == 0:
            target[-1] *= factor
        else:
            target.append(factor)
    for _ in range(draw(st.integers(0, 2))):
        target.insert(draw(st.integers(0, len(target))), 1)
    return {"sizes": target}


def _viewings(st):
    return st.one_of(_regrouped(st), _regrouped(st, (2, 4)))


def _primes(number):
    for divisor in range(2, number + 1):
        if number % divisor == 0:
            return [divisor, *_primes(number // divisor)]
    return []


def _splits(size):
    return [[size]] + [[d, size // d] for d in range(2, size) if size % d == 0] + ([[]] if size == 1 else [])


_VIEW_EDGES = rows(
    "x sizes",
    (tensor([2, 3]), [3, 2]), (tensor([2, 3]), [6]), (tensor([3, 2], [1, 3]), [6]),
    (tensor([2, 3, 4], [12, 1, 3]), [2, 12]), (tensor([2, 3, 4], [12, 4, 1], 1), [6, 2, 2]),
    (tensor([2, 4], [8, 1]), [2, 2, 2]), (tensor([2, 4], [8, 2]), [2, 2, 2]), (tensor([2, 4], [8, 2]), [8]),
    (tensor([4], [0]), [2, 2]), (tensor([2, 2], [0, 1]), [4]), (tensor([3, 2], [0, 0]), [2, 3]),
    (tensor([2, 1, 3], [3, 9, 1]), [6]), (tensor([1], [5]), [1, 1]), (tensor([], [], 2), [1, 1]),
    (tensor([1, 1], [4, 7]), []), (tensor([2, 0, 3]), [0, 3]), (tensor([2, 0], [5, 7]), [2, 0]),
    (tensor([0, 2], [5, 7]), [2, 0]), (tensor([2, 3]), [2, 1, 3]), (tensor([2, 3]), [1, 6, 1]),
    (tensor([2, 3], [1, 2]), [1, 2, 1, 3, 1]), (tensor([4, 2, 2], [4, 1, 2]), [2, 2, 2, 2]),
    (tensor([4, 6], [1, 4]), [4, 2, 3]), (tensor([4, 6], [1, 4]), [8, 3]), (tensor([2, 3, 5], [3, 1, 6]), [6, 5]),
    (tensor([2, 3, 5], [3, 1, 6]), [30]), (tensor([2, 3, 2, 2, 2], [3, 1, 6, 24, 12], 1), [1, 6, 1, 2, 1, 1, 4]),
    (tensor([2, 4, 2, 2], [4, 1, 8, 0]), [2, 2, 2, 2, 2]), (tensor([3, 2], [1, 1]), [2, 3]),
    (tensor([3, 2], [1, 1]), [3, 1, 2]), (tensor([1, 2, 3], [99, 3, 1]), [6]), (tensor([1, 3], [9, 1]), [1, 3]),
    (tensor([2, 1, 3], [1, 99, 2]), [2, 3]), (tensor([2, 1, 3], [1, 99, 2]), [2, 1, 3]),
    (tensor([2, 1, 3], [1, 99, 2]), [6]), (tensor([2, 1], [1, 5]), [2]), (tensor([2, 1], [1, 5]), [1, 2]),
    (tensor([2, 1], [1, 5]), [2, 1, 1]), (tensor([0, 2], [5, 7]), [0, 2, 1]), (tensor([0, 2], [5, 7]), [0]),
    (tensor([2, 4], [8, 2]), [4, 2]), (tensor([4, 2], [8, 2]), [2, 4]), (tensor([2, 300]), [600]),
    (tensor([2, 1, 3], [3, 0, 1]), [6]), (tensor([2, 3, 1], [3, 1, 50]), [6, 1]),
)  # fmt: skip


def _last_stride(result):
    view = field(result, "view")
    return view["tensor"]["stride"][-1:] if isinstance(view, dict) and "tensor" in view else None


_LAST = "the last old dimension begins a chunk with its own stride, also if its size is 1"


def _about_chunks(case, mine, theirs):
    old = case["x"]["tensor"]["sizes"]
    if 0 in old:
        return "without elements there is no order: equal sizes keep the old strides, and other sizes get contiguous strides"
    if not old:
        return "a 0-dim tensor is one chunk of one element, with stride 1: so all new strides are 1"
    if mine.get("returned", "None").rpartition(" ")[2] not in ("None", str(len(case["sizes"]))):
        return "the result has one stride for each of the new sizes"
    if is_error(mine) or is_error(theirs):
        if 1 in old[:-1]:
            return "an old dimension of size 1 joins the chunk of the dimensions after it, whatever its stride is"
        if old[-1] == 1:
            return "a chunk of one element is filled already: it needs no new size" if is_error(mine) else _LAST
        return "neighbouring old dimensions are one chunk if their strides continue, and the new sizes fill each chunk exactly"
    if old[-1] == 1 and _last_stride(mine) != _last_stride(theirs):
        return _LAST
    return (
        "a new stride is the number of elements that are filled in the chunk so far, times the stride of the chunk, also for a "
        "size of 1 after a full chunk"
    )


@program(
    "aten.strided.compute_stride",
    cases=_viewings,
    edges=_VIEW_EDGES,
    asked=rows(
        "x sizes",
        (tensor([2, 3]), [3, 2]), (tensor([3, 2], [1, 3]), [6]), (tensor([2, 3, 4], [12, 1, 3]), [2, 12]),
        (tensor([2, 4], [8, 2]), [2, 2, 2]), (tensor([2, 1, 3], [3, 9, 1]), [6]), (tensor([2, 1], [1, 5]), [2, 1, 1]),
        (tensor([2, 3, 1], [3, 1, 50]), [6, 1]), (tensor([], [], 2), [1, 1]), (tensor([2, 0], [5, 7]), [2, 0]),
        (tensor([0, 2], [5, 7]), [2, 0]),
    ),
    hint=_about_chunks,
)  # fmt: skip
def view(xp, x, sizes):
    if not is_torch(xp):
        mixed_too(xp.strided.compute_stride, x.shape, x.stride(), sizes)
    return viewed(x, x.view, sizes)


@program(
    "aten.strided.reshape",
    cases=_viewings,
    edges=[
        *_VIEW_EDGES,
        *rows(
            "x sizes",
            (tensor([2, 3]), [-1]), (tensor([3, 2], [1, 3], 2), [2, -1]), (tensor([2, 3]), [4]),
            (tensor([2, 3]), [-1, -1]), (tensor([2, 3]), [-1, 4]), (tensor([2, 3]), [-2, 3]), (tensor([0, 3]), [-1, 0]),
            (tensor([0, 3]), [-1, 2]), (tensor([3, 2], [1, 3], 1, "uint8"), [6]),
            (tensor([3, 2], [1, 3], 1, "float16"), [2, 3]), (tensor([300, 2], [1, 300], 0, "float64"), [-1]),
        ),
    ],
)  # fmt: skip
def reshape(xp, x, sizes):
    return viewed(x, x.reshape, sizes, exercise=None if is_torch(xp) else xp.strided.reshape)


# Cases of a student --------------------------------------------------------------------------------------------------

BREAKS, BODIES = "course.breaks.breaks_has_internal_overlap", "01b.has_internal_overlap"
LARGEST = 2**62  # bytes, of a tensor without memory


@program(f"{BREAKS}.half", cases=no_cases, edges=[{}], examine=breaking(BODIES, "1/2"))
def breaks_half(xp):
    return xp.breaks.breaks_has_internal_overlap()


@program(BREAKS, cases=no_cases, edges=[{}], examine=breaking(BODIES, "1"))
def breaks_has_internal_overlap(xp, **case):
    """The cases, or what `has_internal_overlap` gives on one of them."""
    if not case:
        return xp.breaks.breaks_has_internal_overlap()
    return lists_too(xp.strided.has_internal_overlap, case["sizes"], case["strides"])


@breaks_has_internal_overlap.oracle
def _(torch, sizes, strides):
    storage = torch.empty(LARGEST, dtype=torch.uint8, device="meta")
    return torch._debug_has_internal_overlap(storage.as_strided(sizes, strides)) == 1  # yes
