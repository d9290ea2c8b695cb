"""Lab 01: the strided tensor.

Every tensor in a case is a description: a storage that holds 0, 1, 2, ... and the sizes, strides and offset to see it with,
so that an element's value is its own position in the storage.
"""

from __future__ import annotations

import ctypes
import math

from ...check import program
from ..cases import DTYPES, dim, sizes, tensor, tensors


def shares(a, b):
    """Whether two tensors lie in one storage; None where there is no memory to share."""
    if a.untyped_storage().nbytes() == 0 or b.untyped_storage().nbytes() == 0:
        return None
    return a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()


# Arithmetic on sizes and strides -------------------------------------------------------------------------------------


@program(
    "strided.contiguous_strides",
    cases=lambda st: st.fixed_dictionaries({"sizes": sizes(st, (0, 5), 6)}),
    edges=[
        {"sizes": s}
        for s in (
            [],
            [3],
            [2, 3],
            [64, 600],
            [2, 3, 4],
            [2, 0, 3],
            [0, 4],
            [3, 1, 1],
            [1, 2, 1, 3],
            [2, 0, 0, 3],
            [2, 1, 3, 2, 2, 3],
            [0, 70_000, 70_000],
        )
    ],
    hint=lambda case, mine, theirs: (
        "a size of 0 counts as 1 in the product, so that no stride becomes 0" if 0 in case["sizes"] else None
    ),
)
def strides_of_a_new_tensor(xp, sizes):
    return xp.empty(sizes).stride()


def _places(st):
    @st.composite
    def draw_place(draw):
        x = draw(tensors(st, dims=(0, 4)).filter(lambda x: 0 not in x["tensor"]["sizes"]))
        return {"x": x, "index": [draw(st.integers(0, size - 1)) for size in x["tensor"]["sizes"]]}

    return draw_place()


@program(
    "strided.element_offset",
    cases=_places,
    edges=[
        {"x": tensor([2, 3]), "index": [1, 2]},
        {"x": tensor([3, 2], [1, 3], 4), "index": [2, 1]},
        {"x": tensor([], [], 5), "index": []},
        {"x": tensor([2, 3], [0, 1], 2), "index": [1, 1]},
        {"x": tensor([2, 3, 2, 2, 2], None, 1), "index": [1, 2, 0, 1, 1]},
    ],
)
def place_of_an_element(xp, x, index):
    return xp.strided.element_offset(index, x.stride(), x.storage_offset())


@place_of_an_element.oracle
def _(torch, x, index):
    return x[tuple(index)].item()  # the storage holds 0, 1, 2, ...: a value is its own position


@program(
    "strided.is_contiguous",
    cases=lambda st: st.fixed_dictionaries(
        {"x": st.one_of(tensors(st), sizes(st).map(tensor), tensors(st, dims=(1, 3), most=2))}
    ),
    edges=[
        {"x": x}
        for x in (
            tensor([2, 3]),
            tensor([2, 3], [1, 2]),
            tensor([2, 3], [4, 1]),
            tensor([2, 1, 3], [3, 7, 1]),
            tensor([1, 3], [9, 1]),
            tensor([3, 1], [1, 5]),
            tensor([2, 0, 3], [1, 1, 5]),
            tensor([], []),
            tensor([1], [0]),
            tensor([2], [0]),
            tensor([2, 2], [1, 1]),
            tensor([4, 3], [3, 1], 2),
            tensor([2, 2, 3]),
            tensor([2, 2, 3], [7, 3, 1]),
            tensor([2, 2, 2], [3, 3, 1]),
            tensor([2, 1], [2, 1]),
            tensor([1, 1], [5, 7]),
            tensor([2, 1, 2, 1, 3, 2], [12, 5, 6, 0, 2, 1]),
            tensor([2, 3, 2, 2], [12, 2, 6, 1]),
        )
    ],
    hint=lambda case, mine, theirs: (
        "a dimension of size 1 is never stepped along: its stride may be anything"
        if 1 in case["x"]["tensor"]["sizes"]
        else None
    ),
)
def contiguity(xp, x):
    return x.is_contiguous()


# Views ---------------------------------------------------------------------------------------------------------------


def _tensor_and(st, arguments, dims=(0, 4)):
    """A tensor, and what `arguments(draw, sizes)` draws for it."""

    @st.composite
    def draw_case(draw):
        x = draw(tensors(st, dims=dims, dtypes=("int64", "float32", "bool")))
        return {"x": x} | arguments(draw, x["tensor"]["sizes"])

    return draw_case()


@program(
    "strided.transpose",
    cases=lambda st: _tensor_and(
        st, lambda draw, sizes: {"dim0": draw(dim(st, len(sizes))), "dim1": draw(dim(st, len(sizes)))}, dims=(1, 4)
    ),
    edges=[
        {"x": tensor([2, 3]), "dim0": 0, "dim1": 1},
        {"x": tensor([2, 3, 4], None, 5), "dim0": -1, "dim1": 0},
        {"x": tensor([2, 3]), "dim0": 1, "dim1": 1},
        {"x": tensor([2, 3]), "dim0": 0, "dim1": 2},
        {"x": tensor([2, 3]), "dim0": -3, "dim1": 0},
        {"x": tensor([], []), "dim0": 0, "dim1": -1},
        {"x": tensor([], []), "dim0": 0, "dim1": 1},
        {"x": tensor([], []), "dim0": 1, "dim1": 0},
        {"x": tensor([], []), "dim0": -2, "dim1": -1},
        {"x": tensor([2, 3]), "dim0": 2, "dim1": 0},
        {"x": tensor([2, 3]), "dim0": 0, "dim1": -3},
        {"x": tensor([2, 3, 4]), "dim0": 0, "dim1": 1},
        {"x": tensor([2, 1, 3, 2], [1, 7, 2, 9], 1), "dim0": 1, "dim1": -1},
    ],
)
def transpose(xp, x, dim0, dim1):
    y = x.transpose(dim0, dim1)
    return {"view": y, "shares its storage": shares(x, y)}


def _orders(st):
    def arguments(draw, sizes):
        dims = list(draw(st.permutations(range(len(sizes)))))
        dims = [d - len(sizes) if draw(st.booleans()) else d for d in dims]
        fault = draw(
            st.sampled_from(["none"] * 6 + ["length", "twice", "beyond"])
        )  # one at a time: their order is nobody's
        if fault == "length":
            dims = dims[:-1] if draw(st.booleans()) else [*dims, 0]
        elif fault == "twice" and len(dims) > 1:
            dims[0] = dims[1]
        elif fault == "beyond" and dims:
            dims[-1] = draw(st.sampled_from([len(sizes), -len(sizes) - 1]))
        return {"dims": dims}

    return _tensor_and(st, arguments)


@program(
    "strided.permute",
    cases=_orders,
    edges=[
        {"x": tensor([2, 3, 4]), "dims": [2, 0, 1]},
        {"x": tensor([2, 3, 4]), "dims": [1, 2, 0]},
        {"x": tensor([2, 3, 4], None, 3), "dims": [-1, 0, -2]},
        {"x": tensor([2, 3]), "dims": [0, 0]},
        {"x": tensor([2, 3]), "dims": [1, -1]},
        {"x": tensor([2, 3]), "dims": [0]},
        {"x": tensor([2, 3]), "dims": [0, 1, 2]},
        {"x": tensor([2, 3]), "dims": [0, 2]},
        {"x": tensor([2, 3]), "dims": [0, -3]},
        {"x": tensor([2, 3, 4]), "dims": [0, 0, 5]},
        {"x": tensor([2, 3, 4]), "dims": [5, 0, 0]},
        {"x": tensor([], []), "dims": []},
        {"x": tensor([], []), "dims": [0]},
        {"x": tensor([2]), "dims": []},
        {"x": tensor([2]), "dims": [0, 0]},
        {"x": tensor([2, 1, 3, 2, 2], [1, 7, 2, 9, 0], 1), "dims": [3, -1, 0, -3, 1]},
    ],
    hint=lambda case, mine, theirs: (
        "dimension i of the result is dimension dims[i] of the tensor, not the other way round"
        if "error" not in theirs and "error" not in mine
        else None
    ),
)
def permute(xp, x, dims):
    y = x.permute(dims)
    return {"view": y, "shares its storage": shares(x, y)}


def _selections(st):
    def arguments(draw, sizes):
        d = draw(dim(st, len(sizes)))
        size = sizes[d] if -len(sizes) <= d < len(sizes) else 2
        return {"dim": d, "index": draw(dim(st, size))}

    return _tensor_and(st, arguments)


@program(
    "strided.select",
    cases=_selections,
    edges=[
        {"x": tensor([2, 3]), "dim": 0, "index": 1},
        {"x": tensor([2, 3]), "dim": 1, "index": 2},
        {"x": tensor([2, 3, 4], None, 2), "dim": -2, "index": -1},
        {"x": tensor([2, 3]), "dim": 0, "index": 2},
        {"x": tensor([2, 3]), "dim": 0, "index": -3},
        {"x": tensor([2, 3]), "dim": 2, "index": 0},
        {"x": tensor([0, 3]), "dim": 0, "index": 0},
        {"x": tensor([], []), "dim": 0, "index": 0},
        {"x": tensor([3], [2], 1), "dim": 0, "index": -3},
        {"x": tensor([], []), "dim": -1, "index": -1},
        {"x": tensor([2, 3], [1, 4], 2), "dim": 1, "index": 2},
        {"x": tensor([2, 3]), "dim": -3, "index": 0},
        {"x": tensor([2, 0, 3]), "dim": 0, "index": 1},
        {"x": tensor([2, 0, 3]), "dim": 1, "index": -1},
        {"x": tensor([2, 1, 3, 2, 2], [1, 7, 2, 9, 0], 1), "dim": 3, "index": -1},
    ],
)
def select(xp, x, dim, index):
    y = x.select(dim, index)
    return {"view": y, "shares its storage": shares(x, y)}


def _slices(st):
    def arguments(draw, sizes):
        border = st.one_of(st.none(), st.integers(-6, 6))
        d = draw(dim(st, len(sizes)))
        exists = -len(sizes) <= d < len(sizes)  # one fault at a time: which is seen first is nobody's
        return {"dim": d, "start": draw(border), "end": draw(border), "step": draw(st.integers(0 if exists else 1, 4))}

    return _tensor_and(st, arguments)


@program(
    "strided.slice",
    cases=_slices,
    edges=[
        {"x": tensor([6]), "dim": 0, "start": start, "end": end, "step": step}
        for start, end, step in (
            (1, 5, 1),
            (0, 6, 2),
            (1, 6, 2),
            (None, None, 1),
            (None, -1, 1),
            (-2, None, 1),
            (-9, 9, 1),
            (4, 2, 1),
            (9, 12, 1),
            (0, 5, 4),
            (2, -9, 1),
            (0, 6, 0),
            (0, 6, -1),
            (5, 6, 3),
            (-1, None, 1),
            (-2, -1, 1),
            (-6, -5, 1),
            (0, 0, 1),
            (None, 0, 1),
            (0, -6, 1),
            (1, -7, 2),
            (4, 2, 3),
            (6, 9, 2),
            (None, 9, 2),
            (0, 6, 9),
            (0, 6, 6),
            (1, 6, 4),
            (2, 2, 2),
        )
    ]
    + [
        {"x": tensor([2, 6], None, 1), "dim": -1, "start": 1, "end": 6, "step": 3},
        {"x": tensor([2, 6], None, 1), "dim": 2, "start": 0, "end": 1, "step": 1},
        {"x": tensor([], []), "dim": 0, "start": 0, "end": 1, "step": 1},
        {"x": tensor([0, 2]), "dim": 0, "start": 0, "end": 3, "step": 2},
        {"x": tensor([3, 2], [2, 1], 1), "dim": 0, "start": 3, "end": 1, "step": 1},
        {"x": tensor([2, 6]), "dim": -3, "start": 0, "end": 1, "step": 1},
        {"x": tensor([], []), "dim": -1, "start": None, "end": None, "step": 1},
        {"x": tensor([3, 4], [1, 5], 2), "dim": 1, "start": 1, "end": 4, "step": 2},
        {"x": tensor([2, 0, 3]), "dim": 0, "start": 1, "end": 2, "step": 1},
        {"x": tensor([2, 1, 3, 2, 4], [1, 7, 2, 9, 0], 1), "dim": 2, "start": -2, "end": None, "step": 2},
    ],
)
def slice(xp, x, dim, start, end, step):
    y = xp.strided.slice(x, dim, start, end, step)
    return {"view": y, "shares its storage": shares(x, y)}


@slice.oracle
def _(torch, x, dim, start, end, step):
    y = torch.ops.aten.slice(x, dim, start, end, step)
    return {"view": y, "shares its storage": shares(x, y)}


@program(
    "strided.unsqueeze",
    cases=lambda st: _tensor_and(st, lambda draw, sizes: {"dim": draw(dim(st, len(sizes) + 1))}),
    edges=[
        {"x": tensor([2, 3]), "dim": 0},
        {"x": tensor([2, 3]), "dim": 1},
        {"x": tensor([2, 3]), "dim": 2},
        {"x": tensor([2, 3]), "dim": -1},
        {"x": tensor([2, 3]), "dim": -3},
        {"x": tensor([2, 3]), "dim": 3},
        {"x": tensor([2, 3]), "dim": -4},
        {"x": tensor([], []), "dim": 0},
        {"x": tensor([3, 2], [1, 4], 2), "dim": 1},
        {"x": tensor([0, 2]), "dim": 0},
        {"x": tensor([], []), "dim": -1},
        {"x": tensor([], []), "dim": 1},
        {"x": tensor([], []), "dim": -2},
        {"x": tensor([3, 2], [1, 4], 2), "dim": -1},
        {"x": tensor([2, 1, 3, 2, 2], [1, 7, 2, 9, 0], 1), "dim": -4},
    ],
)
def unsqueeze(xp, x, dim):
    y = x.unsqueeze(dim)
    return {"view": y, "shares its storage": shares(x, y)}


# Broadcasting --------------------------------------------------------------------------------------------------------


def _pairs_of_sizes(st):
    @st.composite
    def draw_pair(draw):
        a = draw(sizes(st))
        b = [size if draw(st.integers(0, 2)) else draw(st.integers(0, 3)) for size in a]
        b = draw(sizes(st, (0, 2))) + b if draw(st.booleans()) else b[draw(st.integers(0, len(b))) :]
        b = [1 if draw(st.integers(0, 3)) == 0 else size for size in b]
        return {"a": a, "b": b} if draw(st.booleans()) else {"a": b, "b": a}

    return draw_pair()


@program(
    "strided.infer_size",
    cases=_pairs_of_sizes,
    edges=[
        {"a": a, "b": b}
        for a, b in (
            ([], []),
            ([2, 3], []),
            ([], [2, 3]),
            ([2, 1], [3]),
            ([3], [2, 1]),
            ([32, 600], [600]),
            ([2, 3], [3, 2]),
            ([2, 3], [2]),
            ([0], [1]),
            ([1], [0]),
            ([0], [2]),
            ([2], [0]),
            ([4, 1, 3], [2, 1]),
            ([1, 1], [1]),
            ([2, 3], [2, 4]),
            ([2, 3, 4], [3, 3, 4]),
            ([3, 0], [3, 1]),
            ([1, 0], [3, 1]),
            ([5, 1, 4, 1, 2], [3, 1, 1]),
            ([2], [5, 1, 4, 3, 1]),
        )
    ],
)
def broadcast_sizes(xp, a, b):
    return xp.strided.infer_size(a, b)


@broadcast_sizes.oracle
def _(torch, a, b):
    return (torch.empty(a) + torch.empty(b)).shape


def _expansions(st):
    def arguments(draw, sizes):
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

    # torch lets a negative size through where the result has no elements, and makes a number that overflows of a 0-dim
    # tensor's: nobody need imitate that
    def sensible(case):
        old = case["x"]["tensor"]["sizes"]
        return min(case["sizes"], default=0) >= 0 or (old and 0 not in case["sizes"] + old)

    return _tensor_and(st, arguments, dims=(0, 3)).filter(sensible)


@program(
    "strided.expand",
    cases=_expansions,
    edges=[
        {"x": tensor([3, 1]), "sizes": [3, 4]},
        {"x": tensor([3]), "sizes": [2, 3]},
        {"x": tensor([3]), "sizes": [2, -1]},
        {"x": tensor([1]), "sizes": [0]},
        {"x": tensor([3]), "sizes": [1, 3]},
        {"x": tensor([3], [2]), "sizes": [1, 1, 3]},
        {"x": tensor([], []), "sizes": [2]},
        {"x": tensor([], []), "sizes": [1]},
        {"x": tensor([], [], 3), "sizes": []},
        {"x": tensor([2, 3]), "sizes": [3]},
        {"x": tensor([3]), "sizes": [4]},
        {"x": tensor([3]), "sizes": [-1, 3]},
        {"x": tensor([1]), "sizes": [-2]},
        {"x": tensor([3, 1], [1, 5]), "sizes": [3, 1]},
        {"x": tensor([1, 3], [3, 1], 2), "sizes": [2, 2, 3]},
        {"x": tensor([0, 1]), "sizes": [0, 2]},
        {"x": tensor([2]), "sizes": [1, 2]},
        {"x": tensor([2]), "sizes": [1]},
        {"x": tensor([3]), "sizes": [1, 2, 3]},
        {"x": tensor([3]), "sizes": [2, 1, 3]},
        {"x": tensor([3]), "sizes": [0, 3]},
        {"x": tensor([], []), "sizes": [1, 1]},
        {"x": tensor([], []), "sizes": [3, 1]},
        {"x": tensor([], []), "sizes": [2, 3]},
        {"x": tensor([0, 2]), "sizes": [1, 0, 2]},
        {"x": tensor([4]), "sizes": [1, -1]},
        {"x": tensor([2, 3], [1, 2]), "sizes": [-1, -1]},
        {"x": tensor([3, 1]), "sizes": [-1, 4]},
        {"x": tensor([2, 3]), "sizes": [3, 3]},
        {"x": tensor([2]), "sizes": [0]},
        {"x": tensor([0]), "sizes": [1]},
        {"x": tensor([0]), "sizes": [2]},
        {"x": tensor([3]), "sizes": [-2]},
        {"x": tensor([3]), "sizes": [-2, 3]},
        {"x": tensor([1, 2, 4], [12, 12, 1], 2), "sizes": [3, 0, 1, 2, 4]},
        {"x": tensor([3, 2, 1], [1, 27, 9], 3), "sizes": [-1, -1, 3]},
        {"x": tensor([2, 1, 3], [5, 4, 1]), "sizes": [1, 2, 1, 2, 4, 3]},
    ],
    hint=lambda case, mine, theirs: (
        "a repeated dimension has stride 0: every step lands on the same element"
        if "error" not in mine and "error" not in theirs
        else None
    ),
)
def expand(xp, x, sizes):
    y = x.expand(sizes)
    return {"view": y, "shares its storage": shares(x, y)}


# Other sizes for the same elements -----------------------------------------------------------------------------------


def _viewings(st):
    """A tensor and sizes that hold as many elements: its prime factors, dealt out anew, with ones between them."""

    def arguments(draw, sizes):
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

    return st.one_of(_tensor_and(st, arguments), _tensor_and(st, arguments, dims=(2, 4)))


def _primes(number):
    for divisor in range(2, number + 1):
        if number % divisor == 0:
            return [divisor, *_primes(number // divisor)]
    return []


def _splits(size):
    return [[size]] + [[d, size // d] for d in range(2, size) if size % d == 0] + ([[]] if size == 1 else [])


_VIEW_EDGES = [
    {"x": tensor([2, 3]), "sizes": [3, 2]},
    {"x": tensor([2, 3]), "sizes": [6]},
    {"x": tensor([3, 2], [1, 3]), "sizes": [6]},
    {"x": tensor([2, 3, 4], [12, 1, 3]), "sizes": [2, 12]},
    {"x": tensor([2, 3, 4], [12, 4, 1], 1), "sizes": [6, 2, 2]},
    {"x": tensor([2, 4], [8, 1]), "sizes": [2, 2, 2]},
    {"x": tensor([2, 4], [8, 2]), "sizes": [2, 2, 2]},
    {"x": tensor([2, 4], [8, 2]), "sizes": [8]},
    {"x": tensor([4], [0]), "sizes": [2, 2]},
    {"x": tensor([2, 2], [0, 1]), "sizes": [4]},
    {"x": tensor([3, 2], [0, 0]), "sizes": [2, 3]},
    {"x": tensor([2, 1, 3], [3, 9, 1]), "sizes": [6]},
    {"x": tensor([1], [5]), "sizes": [1, 1]},
    {"x": tensor([], [], 2), "sizes": [1, 1]},
    {"x": tensor([1, 1], [4, 7]), "sizes": []},
    {"x": tensor([2, 0, 3]), "sizes": [0, 3]},
    {"x": tensor([2, 0], [5, 7]), "sizes": [2, 0]},
    {"x": tensor([0, 2], [5, 7]), "sizes": [2, 0]},
    {"x": tensor([2, 3]), "sizes": [2, 1, 3]},
    {"x": tensor([2, 3]), "sizes": [1, 6, 1]},
    {"x": tensor([2, 3], [1, 2]), "sizes": [1, 2, 1, 3, 1]},
    {"x": tensor([4, 2, 2], [4, 1, 2]), "sizes": [2, 2, 2, 2]},
    {"x": tensor([4, 6], [1, 4]), "sizes": [4, 2, 3]},
    {"x": tensor([4, 6], [1, 4]), "sizes": [8, 3]},
    {"x": tensor([2, 3, 5], [3, 1, 6]), "sizes": [6, 5]},
    {"x": tensor([2, 3, 5], [3, 1, 6]), "sizes": [30]},
    {"x": tensor([2, 3, 2, 2, 2], [3, 1, 6, 24, 12], 1), "sizes": [1, 6, 1, 2, 1, 1, 4]},
    {"x": tensor([2, 4, 2, 2], [4, 1, 8, 0]), "sizes": [2, 2, 2, 2, 2]},
    {"x": tensor([3, 2], [1, 1]), "sizes": [2, 3]},
    {"x": tensor([3, 2], [1, 1]), "sizes": [3, 1, 2]},
    {"x": tensor([1, 2, 3], [99, 3, 1]), "sizes": [6]},
    {"x": tensor([1, 3], [9, 1]), "sizes": [1, 3]},
    {"x": tensor([2, 1, 3], [1, 99, 2]), "sizes": [2, 3]},
    {"x": tensor([2, 1, 3], [1, 99, 2]), "sizes": [2, 1, 3]},
    {"x": tensor([2, 1, 3], [1, 99, 2]), "sizes": [6]},
    {"x": tensor([2, 1], [1, 5]), "sizes": [2]},
    {"x": tensor([2, 1], [1, 5]), "sizes": [1, 2]},
    {"x": tensor([2, 1], [1, 5]), "sizes": [2, 1, 1]},
    {"x": tensor([0, 2], [5, 7]), "sizes": [0, 2, 1]},
    {"x": tensor([0, 2], [5, 7]), "sizes": [0]},
    {"x": tensor([2, 4], [8, 2]), "sizes": [4, 2]},
    {"x": tensor([4, 2], [8, 2]), "sizes": [2, 4]},
]


@program("strided.compute_stride", cases=_viewings, edges=_VIEW_EDGES)
def view(xp, x, sizes):
    y = x.view(sizes)
    return {"view": y, "shares its storage": shares(x, y)}


@program(
    "strided.reshape",
    cases=_viewings,
    edges=[
        *_VIEW_EDGES,
        {"x": tensor([2, 3]), "sizes": [-1]},
        {"x": tensor([3, 2], [1, 3], 2), "sizes": [2, -1]},
        {"x": tensor([2, 3]), "sizes": [4]},
        {"x": tensor([2, 3]), "sizes": [-1, -1]},
        {"x": tensor([2, 3]), "sizes": [-1, 4]},
        {"x": tensor([2, 3]), "sizes": [-2, 3]},
        {"x": tensor([0, 3]), "sizes": [-1, 0]},
        {"x": tensor([0, 3]), "sizes": [-1, 2]},
        {"x": tensor([3, 2], [1, 3], 1, "uint8"), "sizes": [6]},
        {"x": tensor([3, 2], [1, 3], 1, "float16"), "sizes": [2, 3]},
        {"x": tensor([300, 2], [1, 300], 0, "float64"), "sizes": [-1]},
    ],
)
def reshape(xp, x, sizes):
    y = x.reshape(sizes)
    return {"view": y, "shares its storage": shares(x, y)}


# Any sizes and strides -----------------------------------------------------------------------------------------------


def _windows(st):
    @st.composite
    def draw_window(draw):
        x = draw(tensors(st, dims=(1, 3), dtypes=("int64", "float32", "uint8")))
        shape = draw(sizes(st, (0, 3)))
        strides = [draw(st.integers(-1 if draw(st.integers(0, 9)) == 0 else 0, 5)) for _ in shape]
        if draw(st.integers(0, 15)) == 0:
            strides = strides[1:]
        return {"x": x, "sizes": shape, "strides": strides, "storage_offset": draw(st.none() | st.integers(-1, 6))}

    return draw_window()


@program(
    "strided.as_strided",
    cases=_windows,
    edges=[
        {"x": tensor([12]), "sizes": s, "strides": t, "storage_offset": o}
        for s, t, o in (
            ([3, 4], [4, 1], None),
            ([3, 4], [4, 1], 0),
            ([3, 4], [4, 1], 1),
            ([3, 4], [1, 3], 0),
            ([4, 3], [1, 1], 6),
            ([4, 3], [1, 1], 7),
            ([2], [0], 11),
            ([2], [0], 12),
            ([0], [1], 12),
            ([0], [1], 50),
            ([], [], 11),
            ([], [], 12),
            ([2], [-1], 3),
            ([2], [1], -1),
            ([-1], [1], 0),
            ([2, 2], [1], 0),
            ([2], [1, 1], 0),
            ([1], [40], 0),
            ([0, 3], [1, 1], 0),
            ([2, 0], [40, 40], 3),
            ([2, 3], [2], 0),
            ([], [1], 0),
            ([1], [], 0),
            ([2, 1, 2, 1, 2], [1, 9, 0, 9, 5], 5),
            ([2, 1, 2, 1, 2], [1, 9, 0, 9, 5], 6),
        )
    ]
    + [
        {"x": tensor([2, 2], [1, 2], 3), "sizes": [2], "strides": [1], "storage_offset": None},
        {"x": tensor([2, 2], [1, 2], 3), "sizes": [7], "strides": [1], "storage_offset": 0},
        {"x": tensor([2, 2], [1, 2], 3), "sizes": [7], "strides": [1], "storage_offset": None},
        {"x": tensor([2, 2], [1, 2], 3, slack=4), "sizes": [11], "strides": [1], "storage_offset": 0},
        {"x": tensor([2, 2], [1, 2], 3, slack=4), "sizes": [12], "strides": [1], "storage_offset": 0},
        {"x": tensor([4], dtype="float32"), "sizes": [4], "strides": [1], "storage_offset": 0},
        {"x": tensor([4], dtype="float32"), "sizes": [5], "strides": [1], "storage_offset": 0},
    ],
)
def as_strided(xp, x, sizes, strides, storage_offset):
    y = x.as_strided(sizes, strides, storage_offset)
    return {"view": y, "shares its storage": shares(x, y)}


def _expanded(x, dim):
    """A tensor with stride 0 in one of its dimensions."""
    spec = x["tensor"]
    strides = [0 if d == dim % len(spec["strides"]) else stride for d, stride in enumerate(spec["strides"])]
    return {"tensor": spec | {"strides": strides}}


@program(
    "strided.has_internal_overlap",
    cases=lambda st: st.fixed_dictionaries(
        {"x": st.one_of(tensors(st), st.builds(_expanded, tensors(st, dims=(1, 3), most=3), st.integers(0, 2)))}
    ),
    edges=[
        {"x": x}
        for x in (
            tensor([2, 3]),
            tensor([2, 3], [0, 1]),
            tensor([1, 3], [0, 1]),
            tensor([0, 3], [0, 0]),
            tensor([3], [0]),
            tensor([3, 3], [1, 1]),
            tensor([2, 3], [1, 2]),
            tensor([1, 1], [0, 0]),
            tensor([2, 2], [0, 0]),
            tensor([], []),
            tensor([2, 1], [1, 0]),
            tensor([3, 2], [4, 0]),
            tensor([1, 3], [0, 2]),
            tensor([1, 2, 1], [4, 2, 0]),
            tensor([3, 2], [1, 3]),
            tensor([2, 1, 3], [0, 5, 1]),
            tensor([2, 3, 0], [0, 0, 1]),
            tensor([2, 2, 2], [1, 2, 2]),
            tensor([2, 3, 1, 2, 2], [1, 2, 0, 0, 6]),
        )
    ],
)
def overlap(xp, x):
    return xp.strided.has_internal_overlap(x.shape, x.stride())


@overlap.oracle
def _(torch, x):
    try:
        x.add_(1)  # refused where the tensor is known to overlap itself
    except RuntimeError:
        return True
    return False


# Types, and other people's memory ------------------------------------------------------------------------------------


@program(
    "dtypes.promote_types",
    cases=lambda st: st.fixed_dictionaries({"a": st.sampled_from(_DTYPES), "b": st.sampled_from(_DTYPES)}),
    edges=[{"a": {"dtype": a}, "b": {"dtype": b}} for a in DTYPES for b in DTYPES],
)
def promoted(xp, a, b):
    return xp.promote_types(a, b)


_DTYPES = [{"dtype": name} for name in DTYPES]


class _DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _DLTensor(ctypes.Structure):
    """DLPack's struct, as `dlpack.h` declares it."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("dtype", _DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


def _described(x, null_strides, lanes, bits):
    """A DLTensor of `x` whose `data` is the beginning of the storage; `bits` and `lanes` may be told wrong."""
    code = {"b": 6, "u": 1, "i": 0, "f": 2}[str(x.dtype).rpartition(".")[2][0]]
    ints = ctypes.c_int64 * x.dim()
    return _DLTensor(
        ndim=x.dim(),
        dtype=_DataType(code, bits or 8 * x.element_size(), lanes),
        shape=ints(*x.shape),
        strides=None if null_strides else ints(*x.stride()),
        byte_offset=x.storage_offset() * x.element_size(),
    )


def _loans(st):
    contiguous = st.fixed_dictionaries({"x": _of_any_dtype(st, sizes(st)), "null_strides": st.booleans()})
    strided = st.fixed_dictionaries({"x": tensors(st, dtypes=DTYPES), "null_strides": st.just(False)})
    odd = {"lanes": st.sampled_from([1] * 9 + [2]), "bits": st.sampled_from([None] * 9 + [24])}
    return st.tuples(contiguous | strided, st.fixed_dictionaries(odd)).map(lambda parts: parts[0] | parts[1])


def _of_any_dtype(st, shapes):
    return st.tuples(shapes, st.integers(0, 3), st.sampled_from(DTYPES)).map(lambda t: tensor(t[0], None, t[1], t[2]))


@program(
    "dlpack.layout",
    cases=_loans,
    edges=[
        {"x": tensor([2, 3], None, 1, dtype), "null_strides": null, "lanes": 1, "bits": None}
        for dtype, null in (("int64", True), ("float32", False), ("bool", True), ("uint8", False), ("float16", True))
    ]
    + [
        {"x": tensor([2, 3], [1, 2], 2, "float64"), "null_strides": False, "lanes": 1, "bits": None},
        {"x": tensor([], [], 1, "int32"), "null_strides": True, "lanes": 1, "bits": None},
        {"x": tensor([2, 0, 3], dtype="float32"), "null_strides": True, "lanes": 1, "bits": None},
        {"x": tensor([2, 0], [5, 7], 2, "int32"), "null_strides": False, "lanes": 1, "bits": None},
        {"x": tensor([2, 1, 3, 2, 2], [1, 7, 2, 9, 0], 1, "float16"), "null_strides": False, "lanes": 1, "bits": None},
        {"x": tensor([2]), "null_strides": False, "lanes": 2, "bits": None},
        {"x": tensor([2]), "null_strides": False, "lanes": 0, "bits": None},
        {"x": tensor([2]), "null_strides": False, "lanes": 1, "bits": 24},
        {"x": tensor([2], dtype="float32"), "null_strides": True, "lanes": 1, "bits": 24},
    ],
    hint=lambda case, mine, theirs: (
        "byte_offset counts bytes, a storage offset counts elements" if case["x"]["tensor"]["offset"] else None
    ),
)
def layout(xp, x, null_strides, lanes, bits):
    return xp.dlpack.layout(_described(x, null_strides, lanes, bits))


@layout.oracle
def _(torch, x, null_strides, lanes, bits):
    if lanes == 1 and bits is None:
        return x.shape, x.stride(), x.storage_offset(), x.dtype
    capsule = x.clone().__dlpack__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    struct = _DLTensor.from_address(pointer(capsule, b"dltensor"))
    struct.dtype = _DataType(struct.dtype.code, bits or struct.dtype.bits, lanes)
    return torch.from_dlpack(capsule)


# Everything together -------------------------------------------------------------------------------------------------


def _chains(st):
    number = st.integers(-3, 4)
    step = st.one_of(
        st.tuples(st.just("transpose"), number, number),
        st.tuples(st.just("select"), number, number),
        st.tuples(st.just("narrow"), number, st.integers(0, 2), st.integers(0, 3)),
        st.tuples(st.just("unsqueeze"), number),
        st.tuples(st.just("squeeze")),
        st.tuples(st.just("flatten")),
        st.tuples(st.just("contiguous")),
        st.tuples(st.just("reshape"), st.sampled_from([[-1], [2, -1], [-1, 3], [3, -1, 2]])),
        st.tuples(st.just("view"), st.sampled_from([[-1], [2, -1], [-1, 2], [2, -1, 3]])),
        st.tuples(st.just("permute"), st.permutations(range(3)).map(list)),
        st.tuples(st.just("expand"), st.sampled_from([[2, -1], [3, -1, -1], [-1, -1], [-1, 2, -1]])),
    ).map(list)
    return st.fixed_dictionaries({"x": tensors(st, dims=(1, 3)), "steps": st.lists(step, max_size=6)})


@program("together.chain_of_views", cases=_chains)
def chain_of_views(xp, x, steps):
    y, errors = x, []
    for name, *arguments in steps:
        try:
            y = getattr(y, name)(*arguments)
        except (NotImplementedError, RecursionError):
            raise
        except (IndexError, RuntimeError) as error:  # the chain goes on without this step
            errors.append(f"{name}: {'IndexError' if isinstance(error, IndexError) else 'RuntimeError'}")
    return {"view": y, "shares its storage": shares(x, y), "refused": errors}
