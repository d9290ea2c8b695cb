"""Lab 03: kernels.

The first exercises are arithmetic on sizes, strides and dtypes; torch shows what it makes of them in the results of its own
operators. Then come the forms of an operator, reductions, products, and one operator in C++, whose text is compiled where
the student's code runs.
"""

from __future__ import annotations

import itertools
import warnings
from contextlib import suppress
from functools import cache

import numpy as np

from ... import observe
from ...check import program
from ..cases import DTYPES, dim, sizes, tensor, tensors

FLOATING = ("float16", "float32", "float64")


# One loop for operands of many shapes --------------------------------------------------------------------------------


def _broadcasts(st):
    @st.composite
    def draw_case(draw):
        to = draw(sizes(st))
        new = draw(st.integers(0, len(to)))
        to = [2 if size == 1 else size for size in to[:new]] + to[new:]  # torch gives a new size 1 a stride of its own
        shape = [1 if draw(st.integers(0, 2)) == 0 else size for size in to[new:]]
        return {"sizes": shape, "strides": [draw(st.integers(0, 12)) for _ in shape], "to": to}

    return draw_case()


@program(
    "iterator.broadcast_strides",
    cases=_broadcasts,
    edges=[
        {"sizes": s, "strides": t, "to": to}
        for s, t, to in (
            ([], [], []),
            ([3], [1], [3]),
            ([3], [2], [2, 3]),
            ([1], [1], [3]),
            ([1], [5], [1]),
            ([3, 1], [4, 7], [3, 5]),
            ([3, 1], [4, 7], [3, 1]),
            ([1, 3], [4, 7], [2, 3]),
            ([], [], [2, 3]),
            ([2, 3], [1, 2], [4, 2, 3]),
            ([2, 3], [1, 2], [4, 5, 2, 3]),
            ([1, 1], [3, 1], [2, 1]),
            ([1], [1], [0]),
            ([0], [1], [0]),
            ([2, 0], [5, 1], [3, 2, 0]),
            ([1, 2, 1], [9, 4, 3], [5, 6, 2, 7]),
            ([2, 1, 3, 1], [1, 9, 2, 8], [3, 2, 4, 3, 1]),
            ([2, 2], [0, 1], [2, 2]),
        )
    ],
    hint=lambda case, mine, theirs: (
        "a dimension is repeated, with stride 0, only where its own size is 1 and the loop's is not"
        if 1 in case["sizes"]
        else None
    ),
)
def strides_in_a_loop(xp, sizes, strides, to):
    return xp.iterator.broadcast_strides(sizes, strides, to)


@strides_in_a_loop.oracle
def _(torch, sizes, strides, to):
    return torch.empty_strided(sizes, strides).expand(to).stride()


def _operands(st):
    dimensioned = st.builds(lambda dtype, size: tensor([size], dtype=dtype), st.sampled_from(DTYPES), st.integers(0, 2))
    zero_dim = st.builds(lambda dtype: tensor([], dtype=dtype), st.sampled_from(DTYPES))
    number = st.sampled_from([True, False, 3, -1, 2.5, -0.5])
    return st.fixed_dictionaries(
        {"operands": st.lists(st.one_of(dimensioned, zero_dim, number), min_size=1, max_size=4)}
    )


def _many(dtype):
    return tensor([2], dtype=dtype)


def _one(dtype):
    return tensor([], dtype=dtype)


@program(
    "dtypes.result_type",
    cases=_operands,
    edges=[
        {"operands": operands}
        for operands in (
            [_many("int32")],
            [_one("uint8")],
            [True],
            [3],
            [2.5],
            [_many("int32"), 1],
            [_many("int32"), 1.5],
            [_many("int32"), True],
            [_many("bool"), True],
            [_many("bool"), 1],
            [_many("float16"), 2.5],
            [_many("float64"), 2.5],
            [_many("uint8"), _one("int64")],
            [_one("int64"), _many("uint8")],
            [_many("float16"), _one("float64")],
            [_many("uint8"), _one("float64")],
            [_many("int32"), _one("float16"), 2.5],
            [_many("int32"), _one("bool"), 2.5],
            [_many("bool"), _one("uint8"), 3],
            [_one("float16"), 2.5],
            [_one("uint8"), 3],
            [_one("uint8"), 3.5],
            [_one("bool"), 3],
            [_one("bool"), False],
            [_one("uint8"), _one("int32")],
            [_one("int32"), _many("bool")],
            [_many("float16"), _many("float64")],
            [_many("float64"), _many("float16")],
            [_many("int64"), _many("float16"), _many("int32")],
            [_many("int64"), _one("int32"), _one("float64")],
            [3, 2.5, True],
            [2.5, 3],
            [True, 3, _one("bool")],
            [tensor([0], dtype="int32"), _one("int64")],
            [tensor([0], dtype="uint8"), _many("int32"), _one("int64"), 7],
            [2.5, _one("float64"), _many("uint8")],
            [2.5, _one("int64"), _many("uint8")],
            [_many("int32"), "a"],
            ["a", _many("int32")],
        )
    ],
    hint=lambda case, mine, theirs: (
        "a tensor without dimensions, or a number, counts only where its category is higher"
        if len(case["operands"]) > 1
        else None
    ),
)
def common_type(xp, operands):
    return xp.dtypes.result_type(*operands)


@common_type.oracle
def _(torch, operands):
    if len(operands) == 2:
        return torch.result_type(*operands)
    from torch._prims_common import ELEMENTWISE_TYPE_PROMOTION_KIND, elementwise_dtypes

    return elementwise_dtypes(*operands, type_promotion_kind=ELEMENTWISE_TYPE_PROMOTION_KIND.DEFAULT)[1]


def _loops(st):
    """Sizes without 0, and one or two operands' strides: those of some order of the dimensions, or any."""

    @st.composite
    def draw_case(draw):
        shape = draw(st.lists(st.sampled_from([1, 2, 2, 3]), max_size=5))
        operands = []
        for _ in range(draw(st.integers(1, 2))):
            if draw(st.booleans()):
                strides = _dense(shape, draw(st.permutations(range(len(shape)))))
                strides = [0 if draw(st.integers(0, 4)) == 0 else stride for stride in strides]
            else:
                strides = [draw(st.sampled_from([0, 1, 2, 3, 4, 6])) for _ in shape]
            operands.append(strides)
        return {"sizes": shape, "operand_strides": operands}

    return draw_case()


def _dense(sizes, order):
    """Strides without holes, `order` from the fastest dimension to the slowest."""
    strides, step = [0] * len(sizes), 1
    for d in order:
        strides[d] = step
        step *= sizes[d]
    return strides


@program(
    "memory_formats.reorder_dimensions",
    cases=_loops,
    edges=[
        {"sizes": s, "operand_strides": operands}
        for s, operands in (
            ([], [[]]),
            ([3], [[1]]),
            ([2, 3], [[3, 1]]),
            ([2, 3], [[1, 2]]),
            ([2, 3, 4], [[12, 4, 1]]),
            ([2, 3, 4], [[1, 2, 6]]),
            ([2, 3, 4], [[4, 8, 1]]),
            ([2, 3, 4], [[3, 1, 6]]),
            ([2, 3, 4], [[12, 1, 3]]),
            ([2, 3], [[0, 1]]),
            ([2, 3], [[1, 0]]),
            ([2, 3], [[0, 0]]),
            ([2, 3], [[0, 1], [1, 2]]),
            ([2, 3], [[1, 2], [3, 1]]),
            ([2, 3], [[3, 1], [1, 2]]),
            ([2, 3], [[0, 0], [1, 2]]),
            ([2, 3], [[1, 0], [1, 2]]),
            ([3, 2], [[1, 1]]),
            ([2, 3], [[1, 1]]),
            ([3, 2], [[1, 1], [1, 5]]),
            ([3, 2], [[1, 1], [5, 1]]),
            ([2, 2], [[1, 1], [1, 5]]),
            ([2, 2], [[1, 1], [5, 1]]),
            ([2, 1, 3], [[1, 1, 2]]),
            ([2, 1, 3], [[1, 7, 2]]),
            ([2, 3, 4], [[1, 0, 2]]),
            ([2, 3, 4], [[2, 0, 1]]),
            ([2, 3, 4], [[1, 0, 2], [0, 1, 0]]),
            ([2, 3, 4], [[1, 0, 2], [4, 8, 1]]),
            ([2, 3, 4], [[0, 1, 2], [1, 0, 0]]),
            ([2, 3, 4], [[0, 2, 1], [2, 0, 1]]),
            ([2, 3, 2, 3], [[18, 1, 9, 3]]),
            ([2, 3, 2, 3], [[1, 2, 6, 12]]),
            ([2, 3, 2, 3], [[1, 0, 0, 2]]),
            ([2, 3, 2, 3], [[1, 0, 6, 0], [0, 1, 0, 3]]),
            ([2, 2, 3, 1, 2], [[1, 2, 4, 5, 12]]),
            ([2, 2, 3, 2, 2], [[8, 1, 0, 4, 2], [0, 0, 1, 0, 3]]),
            ([3, 2, 3], [[2, 2, 1], [0, 3, 0]]),
            ([3, 2, 2], [[1, 0, 1], [3, 1, 3]]),
            ([1, 1, 2, 2, 1], [[2, 1, 2, 1, 0], [1, 2, 1, 6, 1]]),
            ([1, 1, 1, 2, 3], [[1, 0, 2, 1, 2], [1, 3, 0, 3, 2]]),
            ([2, 2, 2, 2, 2], [[0, 0, 16, 8, 1], [3, 3, 1, 4, 1]]),
        )
    ],
    hint=lambda case, mine, theirs: (
        "an operand that has stride 0 in one of two dimensions says nothing about their order"
        if any(0 in strides for strides in case["operand_strides"])
        else None
    ),
)
def strides_of_a_result(xp, sizes, operand_strides):
    order = xp.memory_formats.reorder_dimensions(sizes, operand_strides)
    return _dense(sizes, order), sorted(order)


@strides_of_a_result.oracle
def _(torch, sizes, operand_strides):
    # a new result has the dimensions in the order of the loop; the numbers keep torch from its short way
    number = torch.zeros(())
    operands = [torch.empty_strided(sizes, strides) for strides in operand_strides]
    result = torch.addcmul(*[*operands, number, number][:3])
    return result.stride(), list(range(len(sizes)))


def _even_walks(st):
    """Sizes and strides of a loop, the innermost first, in which many a dimension goes on where the one before it ends."""

    @st.composite
    def draw_case(draw):
        shape = draw(st.lists(st.sampled_from([1, 2, 2, 3, 4]), max_size=5))
        walks = [draw(st.integers(0, 3)) > 0 for _ in shape]  # for all operands: else they would hardly ever agree
        operands = []
        for _ in range(draw(st.integers(0, 3))):
            strides = [draw(st.integers(0, 3)) for _ in shape]
            for d in range(1, len(shape)):
                if walks[d] and draw(st.integers(0, 5)):
                    strides[d] = strides[d - 1] * shape[d - 1]
                elif draw(st.integers(0, 1)):
                    strides[d] = draw(st.integers(0, 30))
            operands.append(strides)
        return {"sizes": shape, "operand_strides": operands}

    return draw_case()


def _in_use(sizes, operand_strides):
    """The strides of dimensions of size 1 are never used, so nobody need agree on them."""
    return [[None if size == 1 else stride for size, stride in zip(sizes, each)] for each in operand_strides]


@program(
    "iterator.coalesce_dimensions",
    cases=_even_walks,
    edges=[
        {"sizes": s, "operand_strides": operands}
        for s, operands in (
            ([], []),
            ([], [[]]),
            ([3], [[2]]),
            ([3], []),
            ([3, 2], [[1, 3]]),
            ([3, 2], [[1, 4]]),
            ([3, 2], [[2, 6]]),
            ([3, 2], [[2, 3]]),
            ([3, 2], [[2, 1]]),
            ([3, 2], [[0, 0]]),
            ([3, 2], [[0, 1]]),
            ([3, 2], [[1, 0]]),
            ([3, 2], [[1, 3], [2, 6]]),
            ([3, 2], [[1, 3], [2, 5]]),
            ([3, 2], [[1, 4], [2, 6]]),
            ([3, 2], [[1, 3], [0, 0], [3, 9]]),
            ([3, 2], [[1, 3], [0, 1], [3, 9]]),
            ([3, 2], []),
            ([3, 2, 4], [[1, 3, 6]]),
            ([3, 2, 4], [[1, 3, 7]]),
            ([3, 2, 4], [[1, 4, 8]]),
            ([3, 2, 4], [[1, 4, 9]]),
            ([3, 2, 4], [[1, 3, 6], [5, 15, 31]]),
            ([3, 2, 4], [[1, 3, 6], [5, 16, 32]]),
            ([1, 3], [[7, 2]]),
            ([3, 1], [[2, 7]]),
            ([1, 3, 2], [[7, 2, 6], [9, 1, 3]]),
            ([3, 1, 2], [[2, 7, 6]]),
            ([3, 1, 2], [[2, 7, 5]]),
            ([1, 1, 3], [[7, 8, 2]]),
            ([1, 1], [[7, 8]]),
            ([2, 3, 1], [[1, 5, 9]]),
            ([2, 3, 1, 4], [[1, 5, 9, 15], [0, 2, 9, 6]]),
            ([2, 3, 4, 2, 3], [[1, 2, 7, 28, 57], [3, 6, 19, 76, 1]]),
            ([2, 1, 2, 1, 2], [[1, 9, 2, 9, 4], [4, 9, 8, 9, 16]]),
            ([2, 4, 2], [[1, 2, 4]]),
            ([2, 2, 2], [[1, 3, 6]]),
        )
    ],
    hint=lambda case, mine, theirs: (
        "every operand has a say: one that does not walk on evenly keeps two dimensions apart"
        if len(case["operand_strides"]) > 1
        else None
    ),
)
def joined(xp, sizes, operand_strides):
    sizes, strides = xp.iterator.coalesce_dimensions(sizes, operand_strides)
    return {"sizes": sizes, "strides": _in_use(sizes, strides)}


@joined.oracle
def _(torch, sizes, operand_strides):
    # two dimensions are one if torch shows every operand as a view with the two flattened; there the innermost is last
    walks = [torch.empty_strided(sizes[::-1], strides[::-1]) for strides in operand_strides]
    sizes = list(sizes[::-1])
    for d in reversed(range(1, len(sizes))):
        flat = [*sizes[: d - 1], sizes[d - 1] * sizes[d], *sizes[d + 1 :]]
        with suppress(RuntimeError):
            walks, sizes = [walk.view(flat) for walk in walks], flat
    sizes, strides = sizes[::-1], [walk.stride()[::-1] for walk in walks]
    return {"sizes": sizes, "strides": _in_use(sizes, strides)}


# The forms of an operator --------------------------------------------------------------------------------------------


def _without_overlap(st, dims=(0, 3), dtypes=("float32",)):
    return (
        tensors(st, dims, 3, dtypes)
        .filter(lambda x: 0 not in x["tensor"]["strides"] or 1 in x["tensor"]["sizes"])
        .map(_never_zero)
    )


def _never_zero(x):
    """The same tensor with strides that repeat nothing."""
    spec = x["tensor"]
    strides = [max(stride, 1) if size == 1 else stride for size, stride in zip(spec["sizes"], spec["strides"])]
    return tensor(spec["sizes"], None if 0 in strides else strides, spec["offset"], spec["dtype"])


def _resizings(st):
    @st.composite
    def draw_case(draw):
        out = draw(_without_overlap(st))
        same = draw(st.integers(0, 3)) == 0
        shape = out["tensor"]["sizes"] if same else draw(sizes(st, (0, 3), 3))
        ordered = not {0, 1} & set(shape) and draw(st.booleans())  # of a size 1 torch chooses the stride itself
        order = list(draw(st.permutations(range(len(shape))))) if ordered else None
        return {"out": out, "sizes": shape, "order": order}

    return draw_case()


@program(
    "structured.resize_output",
    cases=_resizings,
    edges=[
        {"out": out, "sizes": s, "order": order}
        for out, s, order in (
            (tensor([2, 3], dtype="float32"), [2, 3], None),
            (tensor([2, 3], [1, 2], dtype="float32"), [2, 3], None),
            (tensor([2, 3], dtype="float32"), [2, 3], [0, 1]),
            (tensor([2, 3], dtype="float32"), [3, 2], None),
            (tensor([2, 3], dtype="float32"), [3, 2], [0, 1]),
            (tensor([2, 3], dtype="float32"), [4, 2], None),
            (tensor([2, 3], dtype="float32"), [4, 2], [0, 1]),
            (tensor([2, 3], None, 2, "float32"), [4, 2], None),
            (tensor([2, 3], None, 2, "float32"), [2], None),
            (tensor([2, 3], None, 2, "float32", 5), [3, 3], None),
            (tensor([0], dtype="float32"), [2, 3], None),
            (tensor([0], dtype="float32"), [2, 3], [0, 1]),
            (tensor([0], dtype="float32"), [2, 3, 2], [1, 0, 2]),
            (tensor([0, 3], None, 1, "float32"), [2], None),
            (tensor([0, 3], dtype="float32"), [3, 0], None),
            (tensor([2, 3], dtype="float32"), [0], None),
            (tensor([2, 3], dtype="float32"), [], None),
            (tensor([], [], dtype="float32"), [], None),
            (tensor([], [], dtype="float32"), [1], None),
            (tensor([1], dtype="float32"), [], None),
            (tensor([4], [3], 1, "float32"), [4], None),
            (tensor([4], [3], 1, "float32"), [2, 2], None),
        )
    ],
    hint=lambda case, mine, theirs: (
        "an out that has the sizes already is left as it is, its strides too"
        if case["out"]["tensor"]["sizes"] == case["sizes"]
        else None
    ),
)
def resize(xp, out, sizes, order):
    stored = out.untyped_storage().nbytes() // out.element_size()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        resized = xp.structured.resize_output(out, sizes, None if order is None else _dense(sizes, order))
    return {
        "resized": resized,
        "warned": [warning.category.__name__ for warning in warned],
        "out": (out.shape, out.stride(), out.storage_offset(), out.untyped_storage().nbytes()),
        "kept": out.as_strided((stored,), (1,), 0),
    }


@resize.oracle
def _(torch, out, sizes, order):
    stored = out.untyped_storage().nbytes() // out.element_size()
    written = torch.empty(stored).as_strided(out.shape, out.stride(), out.storage_offset())
    result = torch.empty_strided(sizes, _dense(sizes, order)) if order is not None else torch.empty(sizes)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        torch.neg(result, out=written)  # writes its result, so the bytes that stay are looked at in `out`
    resized = out.shape != written.shape
    return {
        "resized": resized,
        "warned": [warning.category.__name__ for warning in warned],
        "out": (written.shape, written.stride(), written.storage_offset(), written.untyped_storage().nbytes()),
        "kept": out.resize_(sizes).as_strided((stored,), (1,), 0),
    }


_MORE = {"add": (1,), "sub": (1,), "mul": (), "eq": (), "mm": ()}  # arguments besides the operands


def _kernel(xp, name):
    """One of the framework's kernels, without the short ways that it may have."""
    kernel = getattr(xp.linear_algebra if name == "mm" else xp.pointwise, name)
    return xp.structured.Structured(kernel.meta, kernel.impl, kernel.casts)


@cache  # as in cases.py: other strategies draw from it
def _pairs(st, dtypes):
    """Two operands that often broadcast."""

    @st.composite
    def draw_pair(draw):
        x = draw(tensors(st, (0, 3), 3, dtypes))
        shape = [1 if draw(st.integers(0, 3)) == 0 else size for size in x["tensor"]["sizes"]]
        shape = shape[draw(st.integers(0, len(shape))) if draw(st.integers(0, 2)) == 0 else 0 :]
        if draw(st.integers(0, 9)) == 0:
            shape = [*shape, 2]
        y = tensor(shape, None, draw(st.integers(0, 2)), draw(st.sampled_from(dtypes)))
        return x, draw(st.sampled_from([3, 2.5, True])) if draw(st.integers(0, 5)) == 0 else y

    return draw_pair()


@cache
def _matrices(st, dtypes=("float32", "int64")):
    @st.composite
    def draw_matrices(draw):
        rows, inner, columns = (draw(st.integers(0, 3)) for _ in range(3))
        dtype = draw(st.sampled_from(dtypes))
        other = dtype if draw(st.integers(0, 7)) else draw(st.sampled_from(dtypes))
        inner2 = inner if draw(st.integers(0, 7)) else draw(st.integers(0, 3))
        x, y = (
            tensor([n, m], [1, max(n, 1)] if draw(st.booleans()) else None, draw(st.integers(0, 1)), dtype)
            for n, m, dtype in ((rows, inner, dtype), (inner2, columns, other))
        )
        return x, y

    return draw_matrices()


_ANY = ("int64", "float32", "int32", "bool", "uint8", "float64")


@cache
def _calls(st):
    @st.composite
    def draw_case(draw):
        name = draw(st.sampled_from(["add", "sub", "mul", "eq", "mm"]))
        x, y = draw(_matrices(st) if name == "mm" else _pairs(st, _ANY))
        return {"name": name, "x": x, "y": y}

    return draw_case()


_FUNCTIONAL = [
    ("add", tensor([2, 3]), tensor([2, 3], [1, 2])),
    ("add", tensor([2, 3], [1, 2]), tensor([2, 3], [1, 2])),
    ("add", tensor([2, 3, 2], [1, 4, 2]), tensor([2])),
    ("add", tensor([2, 3], [1, 2], 1, "int32"), 2.5),
    ("sub", tensor([3]), tensor([2])),
    ("sub", tensor([2], dtype="bool"), True),
    ("mul", tensor([2, 1]), tensor([3], dtype="float32")),
    ("mul", tensor([0, 3]), tensor([1])),
    ("mul", tensor([], []), 3),
    ("eq", tensor([2, 2, 3], [1, 6, 2]), tensor([2, 2, 3])),
    ("eq", tensor([3]), 1),
    ("mm", tensor([2, 3], dtype="float32"), tensor([3, 2], [1, 3], 0, "float32")),
    ("mm", tensor([2, 3]), tensor([3, 2])),
    ("mm", tensor([2, 0]), tensor([0, 3])),
    ("mm", tensor([2, 3]), tensor([2, 3])),
    ("mm", tensor([2, 3]), tensor([3])),
    ("mm", tensor([1, 3], dtype="float32"), tensor([3, 1])),
]


@program(
    "structured.call_functional",
    cases=_calls,
    edges=[{"name": name, "x": x, "y": y} for name, x, y in _FUNCTIONAL],
)
def functional(xp, name, x, y):
    return xp.structured.call_functional(_kernel(xp, name), (x, y, *_MORE[name]))


@functional.oracle
def _(torch, name, x, y):
    return getattr(torch, name)(x, y)


@cache
def _views(st, count):
    """Windows on one storage, without holes, so that torch knows whether they overlap: sizes, strides and offset of each,
    all with as many elements."""

    @st.composite
    def draw_views(draw):
        shape = draw(st.sampled_from([[2], [3], [2, 2], [2, 3], [4]]))
        views = []
        for _ in range(count):
            order = draw(st.permutations(range(len(shape))))
            views.append([shape, _dense(shape, order), draw(st.integers(0, 7))])
        return views

    return draw_views()


def _see(xp, x, view, meta):
    """The operand itself, another view of its storage, or a tensor like it without memory."""
    if meta and hasattr(x, "stride"):
        return xp.empty_strided(x.shape, x.stride(), dtype=x.dtype, device="meta")
    return x if view is None else x.as_strided(*view)


def _shown(x, meta):
    return (x.shape, x.stride(), x.dtype) if meta else x


def _inplace_calls(st):
    @st.composite
    def draw_case(draw):
        name = draw(st.sampled_from(["add", "sub", "mul", "eq"]))
        if draw(st.integers(0, 2)) == 0:
            return {"name": name, "x": tensor([16]), "y": None, "views": draw(_views(st, 2)), "meta": False}
        x, y = draw(_pairs(st, _ANY))
        return {"name": name, "x": x, "y": y, "views": _OWN, "meta": draw(st.integers(0, 7)) == 0}

    return draw_case()


_OWN = [None, None]
_REFUSALS = {  # by words of torch's messages
    "output with shape": "the first argument keeps its sizes; a result of others is refused, even one of as many elements",
    "can't be cast": "the first argument keeps its dtype; a result of a higher category does not fit into it",
    "unsupported operation": "a first argument that overlaps, with itself or in part with another, is refused",
}


@program(
    "structured.call_inplace",
    cases=_inplace_calls,
    edges=[
        {"name": name, "x": x, "y": y, "views": _OWN, "meta": meta}
        for name, x, y, meta in (
            ("add", tensor([2, 3]), tensor([2, 3], [1, 2]), False),
            ("add", tensor([2, 3]), tensor([2, 3], [1, 2]), True),
            ("mul", tensor([2, 3], [1, 2], 0, "float32"), 2.5, True),
            ("add", tensor([3]), tensor([2, 3]), True),
            ("add", tensor([3]), 2.5, True),
            ("add", tensor([2, 3], [1, 2], 1), tensor([3]), False),
            ("add", tensor([2, 3], [3, 2], 1, "float32"), 2.5, False),
            ("add", tensor([3]), tensor([2, 3]), False),
            ("add", tensor([1, 3]), tensor([2, 3]), False),
            ("add", tensor([3]), tensor([1, 3]), False),
            ("add", tensor([2, 3]), tensor([2]), False),
            ("add", tensor([], []), tensor([1]), False),
            ("add", tensor([], []), tensor([], [], 2), False),
            ("add", tensor([3]), 2.5, False),
            ("add", tensor([3], dtype="int32"), tensor([3]), False),
            ("add", tensor([3], dtype="bool"), tensor([3], dtype="uint8"), False),
            ("add", tensor([3], dtype="float32"), tensor([3], dtype="float64"), False),
            ("add", tensor([3]), tensor([], [], 0, "float32"), False),
            ("add", tensor([2, 3], [0, 1]), 1, False),
            ("add", tensor([3], [0]), tensor([3]), False),
            ("add", tensor([1, 3], [0, 1]), 1, False),
            ("add", tensor([0, 3]), 1, False),
            ("mul", tensor([2, 3], [1, 2], 1, "float32"), tensor([2, 1]), False),
            ("sub", tensor([3], dtype="bool"), True, False),
            ("eq", tensor([2, 3], [1, 2]), tensor([2, 3]), False),
            ("eq", tensor([3], dtype="float32"), 1, False),
            ("eq", tensor([3]), tensor([2, 3]), False),
        )
    ]
    + [
        {"name": "add", "x": tensor([16]), "y": None, "views": views, "meta": False}
        for views in (
            [[[4], [1], 0], [[4], [1], 0]],
            [[[4], [1], 0], [[4], [1], 4]],
            [[[4], [1], 4], [[4], [1], 0]],
            [[[4], [1], 1], [[4], [1], 0]],
            [[[4], [1], 0], [[4], [1], 1]],
            [[[4], [1], 0], [[4], [1], 3]],
            [[[2, 2], [2, 1], 0], [[2, 2], [1, 2], 0]],
            [[[2, 2], [2, 1], 0], [[2], [1], 0]],
            [[[2, 2], [2, 1], 0], [[2], [1], 4]],
            [[[2], [1], 0], [[2, 2], [2, 1], 4]],
            [[[2, 2], [0, 1], 0], [[2, 2], [2, 1], 4]],
        )
    ],
    hint=lambda case, mine, theirs: (
        next((hint for words, hint in _REFUSALS.items() if words in theirs["message"]), None)
        if "error" in theirs and "error" not in mine
        else None
    ),
)
def inplace(xp, name, x, y, views, meta):
    first, second = _see(xp, x, views[0], meta), _see(xp, x if y is None else y, views[1], meta)
    result = xp.structured.call_inplace(_kernel(xp, name), (first, second, *_MORE[name]))
    return {"result": _shown(result, meta), "storage": None if meta else x, "is the first argument": result is first}


@inplace.oracle
def _(torch, name, x, y, views, meta):  # torch's own tensors on meta are more lenient than those on the CPU
    first, second = _see(torch, x, views[0], False), _see(torch, x if y is None else y, views[1], False)
    result = getattr(first, name + "_")(second)
    return {"result": _shown(result, meta), "storage": None if meta else x, "is the first argument": result is first}


@program(
    "structured.call_inplace.without_casts",
    cases=lambda st: _products(st, forms=("inplace",)),
    edges=[
        {"bias": bias, "mat1": mat1, "mat2": mat2}
        for bias, mat1, mat2 in (
            (tensor([2, 2]), tensor([2, 3]), tensor([3, 2])),
            (tensor([2, 2], [1, 2], 1), tensor([2, 3], [1, 2]), tensor([3, 2])),
            (tensor([2]), tensor([2, 3]), tensor([3, 2])),
            (tensor([1, 2]), tensor([2, 3]), tensor([3, 2])),
            (tensor([2, 2], [0, 1]), tensor([2, 3]), tensor([3, 2])),
            (tensor([2, 2], dtype="float64"), tensor([2, 3]), tensor([3, 2])),
            (tensor([2, 2]), tensor([2, 3]), tensor([2, 2])),
            (tensor([0, 2]), tensor([0, 3]), tensor([3, 2])),
        )
    ],
)
def addmm_inplace(xp, bias, mat1, mat2):
    kernel = xp.linear_algebra.addmm
    kernel = xp.structured.Structured(kernel.meta, kernel.impl, kernel.casts)
    return xp.structured.call_inplace(kernel, (bias, mat1, mat2, 1, 1))


@addmm_inplace.oracle
def _(torch, bias, mat1, mat2):
    return bias.addmm_(mat1, mat2)


def _out_calls(st):
    @st.composite
    def draw_case(draw):
        if draw(st.integers(0, 3)) == 0:
            name = draw(st.sampled_from(["add", "mul", "eq"]))
            views = draw(_views(st, 3))
            return {"name": name, "x": tensor([16]), "y": None, "out": None, "views": views, "meta": False}
        case = draw(_calls(st))
        shapes = [each["tensor"]["sizes"] for each in (case["x"], case["y"]) if isinstance(each, dict)]
        if draw(st.integers(0, 3)) == 0:
            shape = draw(sizes(st, (0, 2), 3))
        elif case["name"] == "mm":
            shape = [shapes[0][0], shapes[1][1]]
        else:
            shape = max(shapes, key=len)
        order = draw(st.permutations(range(len(shape))))
        strides = _dense([max(size, 1) for size in shape], order)
        # torch's mm, other than its elementwise operators, asks whether out overlaps with itself when it has resized it
        if case["name"] != "mm" and draw(st.integers(0, 11)) == 0:
            strides = [0 for _ in strides]
        dtype = draw(st.sampled_from([*_ANY, case["x"]["tensor"]["dtype"], "float64"]))
        out = tensor(shape, strides, draw(st.integers(0, 1)), dtype)
        return case | {"out": out, "views": _OWN3, "meta": draw(st.integers(0, 7)) == 0}

    return draw_case()


_OWN3 = [None, None, None]


@program(
    "structured.call_out",
    cases=_out_calls,
    edges=[
        {"name": name, "x": x, "y": y, "out": out, "views": _OWN3, "meta": meta}
        for meta, name, x, y, out in (
            (False, "add", tensor([2, 3]), tensor([2, 3], [1, 2]), tensor([2, 3])),
            (False, "add", tensor([2, 3]), tensor([2, 3]), tensor([2, 3], [1, 2], 1)),
            (False, "add", tensor([2, 3], [1, 2]), tensor([2, 3], [1, 2]), tensor([0])),
            (False, "add", tensor([2, 3], [1, 2]), tensor([2, 3], [1, 2]), tensor([6], None, 1)),
            (False, "add", tensor([2, 3]), 2.5, tensor([2, 3], dtype="float64")),
            (False, "add", tensor([2, 3]), 2.5, tensor([2, 3])),
            (False, "add", tensor([2, 3]), 2.5, tensor([2])),
            (False, "add", tensor([2, 3]), 1, tensor([2, 3], dtype="uint8")),
            (False, "add", tensor([2, 3]), 1, tensor([2, 3], dtype="bool")),
            (False, "add", tensor([2, 3]), 1, tensor([0], dtype="float32")),
            (False, "add", tensor([2, 3]), tensor([2]), tensor([2, 3])),
            (False, "add", tensor([2, 3]), 1, tensor([2, 3], [0, 1])),
            (False, "add", tensor([2, 3]), 1, tensor([2, 3, 2], [0, 0, 0])),
            (False, "mul", tensor([2, 3]), 1, tensor([4], [0])),
            (False, "mul", tensor([2, 3], dtype="float32"), 1, tensor([0])),
            (True, "mul", tensor([2, 3], dtype="float32"), 1, tensor([2])),
            (False, "mm", tensor([2, 3]), tensor([3, 2]), tensor([3], dtype="float64")),
            (False, "add", tensor([], []), 1, tensor([1])),
            (False, "mul", tensor([0, 3]), 1, tensor([2])),
            (True, "add", tensor([2, 3], [1, 2]), 1, tensor([0])),
            (True, "add", tensor([2, 3]), 1, tensor([2, 3], [1, 2])),
            (True, "mm", tensor([2, 3]), tensor([3, 2]), tensor([0])),
            (True, "mm", tensor([2, 3]), tensor([3, 2]), tensor([2, 2], dtype="float32")),
            (False, "eq", tensor([2, 3]), 1, tensor([2, 3], dtype="bool")),
            (False, "eq", tensor([2, 3]), 1, tensor([2, 3], dtype="int32")),
            (False, "eq", tensor([2, 3]), 1, tensor([2], dtype="uint8")),
            (False, "mm", tensor([2, 3]), tensor([3, 2]), tensor([2, 2])),
            (False, "mm", tensor([2, 3]), tensor([3, 2]), tensor([2, 2], [1, 2], 1)),
            (False, "mm", tensor([2, 3]), tensor([3, 2]), tensor([0])),
            (False, "mm", tensor([2, 3]), tensor([3, 2]), tensor([2, 2], dtype="float64")),
            (False, "mm", tensor([2, 3]), tensor([3, 2]), tensor([2, 2], [0, 0])),
            (False, "mm", tensor([2, 3]), tensor([2, 2]), tensor([2, 2])),
            (
                False,
                "mm",
                tensor([2, 3], dtype="float32"),
                tensor([3, 2], dtype="float32"),
                tensor([3], dtype="float32"),
            ),
        )
    ]
    + [
        {"name": "add", "x": tensor([16]), "y": None, "out": None, "views": views, "meta": False}
        for views in (
            [[[4], [1], 0], [[4], [1], 4], [[4], [1], 8]],
            [[[4], [1], 0], [[4], [1], 4], [[4], [1], 0]],
            [[[4], [1], 0], [[4], [1], 4], [[4], [1], 4]],
            [[[4], [1], 0], [[4], [1], 4], [[4], [1], 5]],
            [[[4], [1], 1], [[4], [1], 8], [[4], [1], 0]],
            [[[4], [1], 8], [[4], [1], 1], [[4], [1], 0]],
            [[[4], [1], 0], [[4], [1], 8], [[2], [1], 3]],
            [[[2, 2], [1, 2], 0], [[2, 2], [2, 1], 8], [[2, 2], [2, 1], 0]],
        )
    ],
)
def out_form(xp, name, x, y, out, views, meta):
    first, second, out = _out_operands(xp, x, y, out, views, meta)
    before = out.shape
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = xp.structured.call_out(_kernel(xp, name), (first, second, *_MORE[name]), out)
        except RuntimeError as error:
            assert out.shape == before, f"refused, but only after out had been resized: {error}"
            raise
    return {"result": _shown(result, meta), "is out": result is out, "storage": None if meta else x}


@out_form.oracle
def _(torch, name, x, y, out, views, meta):  # torch's mm has resized out when it sees that x and y differ in dtype
    first, second, out = _out_operands(torch, x, y, out, views, False)
    result = getattr(torch, name)(first, second, out=out)
    return {"result": _shown(result, meta), "is out": result is out, "storage": None if meta else x}


def _out_operands(xp, x, y, out, views, meta):
    operands = (x, x if y is None else y, x if out is None else out)
    return [_see(xp, operand, view, meta) for operand, view in zip(operands, views)]


# Reductions ----------------------------------------------------------------------------------------------------------


def _dims(draw, st, ndim, fault=True):
    """Some dimensions, each once, from either end; now and then one twice, or one that does not exist."""
    n = max(ndim, 1)
    chosen = list(draw(st.permutations(range(n))))[: draw(st.integers(0, n))]
    chosen = [d - n if draw(st.booleans()) else d for d in chosen]
    kind = draw(st.sampled_from(["none"] * 8 + ["twice", "beyond"])) if fault else "none"
    if kind == "twice" and chosen:
        chosen.insert(draw(st.integers(0, len(chosen))), chosen[0] % n - (n if draw(st.booleans()) else 0))
    elif kind == "beyond":
        chosen = [draw(st.sampled_from([n, -n - 1]))]
    return chosen


def _reductions(st):
    @st.composite
    def draw_case(draw):
        shape = draw(sizes(st))
        dims = None if draw(st.integers(0, 9)) == 0 else _dims(draw, st, len(shape))
        return {"sizes": shape, "dims": dims, "keepdim": draw(st.booleans())}

    return draw_case()


@program(
    "reductions.reduced_sizes",
    cases=_reductions,
    edges=[
        {"sizes": s, "dims": dims, "keepdim": keepdim}
        for s, dims in (
            ([2, 3], [0]),
            ([2, 3], [1]),
            ([2, 3], [-1]),
            ([2, 3], [-2]),
            ([2, 3], None),
            ([2, 3], []),
            ([2, 3], [1, 0]),
            ([2, 3], [0, 0]),
            ([2, 3], [0, -2]),
            ([2, 3], [2]),
            ([2, 3], [-3]),
            ([2, 3, 4], [2, 0]),
            ([2, 3, 4], [-2]),
            ([2, 3, 4], [0, 1, 2]),
            ([2, 3, 4], [1, 2, -2]),
            ([2, 3, 4], [0, 1, -2]),
            ([2, 3, 4], [0, 1, -3]),
            ([2, 0, 4], [1]),
            ([2, 0, 4], [0]),
            ([1, 3], [0]),
            ([], None),
            ([], []),
            ([], [0]),
            ([], [-1]),
            ([], [1]),
            ([], [0, 0]),
            ([], [0, -1]),
            ([3], [0]),
            ([5, 1, 4, 2, 3], [3, -4]),
        )
        for keepdim in (False, True)
    ],
)
def what_is_left(xp, sizes, dims, keepdim):
    return xp.reductions.reduced_sizes(sizes, dims, keepdim)


@what_is_left.oracle
def _(torch, sizes, dims, keepdim):
    return torch.empty(sizes).sum(dims, keepdim).shape


_NUMBERS = (0, 1, -2.5, 0.125, 3, 88.75, -90, 1000, -1000, 5e4, -5e4)
_SPECIAL = ("inf", "-inf", "nan")  # as words: a case can be typed in again


def _tensor_of_numbers(draw, st, dtypes):
    """Numbers of all magnitudes, and how to see them as a tensor; in some tensors a few are no numbers."""
    x = draw(tensors(st, (0, 3), 3))["tensor"]
    pool = st.sampled_from(_NUMBERS) if draw(st.booleans()) else st.floats(-8, 8, width=16)
    if draw(st.integers(0, 2)) == 0:
        pool = st.one_of(pool, st.sampled_from(_SPECIAL))
    values = draw(st.lists(pool, min_size=x["storage"], max_size=x["storage"]))
    kind = {"dtype": draw(st.sampled_from(dtypes))}
    return {"values": values, "kind": kind, "view": [x["sizes"], x["strides"], x["offset"]]}


def _numbers(xp, values, kind, view):
    return xp.tensor([float(value) for value in values], dtype=kind).as_strided(*view)


def _softmaxes(st):
    @st.composite
    def draw_case(draw):
        case = _tensor_of_numbers(draw, st, FLOATING)
        return case | {"dim": draw(dim(st, max(len(case["view"][0]), 1), draw(st.integers(0, 1))))}

    return draw_case()


_HALF = [
    ([0.7, -1.6, -2.3], "float16"),
    ([1000.1, 1000.7, 999.3], "float64"),
    ([12, 11.5, -3], "float16"),
    ([5e4, 4e4, 1], "float16"),
    ([10, 10.5, 9], "float16"),
    (["-inf", 1, 2], "float16"),
]


def _edges_of_numbers(lines, *more):
    lines = [
        *lines,
        ([1, 2, 3], "float32"),
        ([0.5, -0.25, 3], "float64"),
        ([1000, 999, 0], "float32"),
        ([-1000, -999, -2000], "float32"),
        ([1000, 990, 0], "float64"),
        (["inf", 1, 2], "float32"),
        (["-inf", 1, 2], "float32"),
        (["-inf", "-inf", "-inf"], "float32"),
        (["inf", "inf", "-inf"], "float64"),
        (["nan", 1, "inf"], "float32"),
        ([1, "nan", "-inf"], "float64"),
    ]
    for values, dtype in lines:
        yield {"values": values, "kind": {"dtype": dtype}, "view": [[3], [1], 0]} | more[0]
    for view, extra in more[1:]:
        values = [1, -2, 3, 0.5, 0, 2, -1, 4, 1.5, -3, 2.5, 1, 0.25, 5, -4, 6]
        yield {"values": values, "kind": {"dtype": "float32"}, "view": view} | extra


def _about_softmax(case, mine, theirs):
    if "dict" not in mine or "dict" not in theirs:
        return None
    (ours, after), (real, before) = ([observe.values(tree) for _, tree in side["dict"]] for side in (mine, theirs))
    if not np.array_equal(after, before, equal_nan=True):
        return "x itself has changed: the result is a new array"
    if ours.shape != real.shape or ours.dtype != real.dtype:
        return None
    if (np.isnan(ours) & ~np.isnan(real) | (ours == 0) & (real > 0.001)).any():
        return "subtract the largest element of each line before exp"
    if np.allclose(ours, real, rtol=0.01, atol=1e-4, equal_nan=True):
        return f"right but for the last digits: in which dtype is a softmax of {real.dtype} computed?"
    return None


@program(
    "reductions.softmax",
    cases=_softmaxes,
    edges=[
        *_edges_of_numbers(
            _HALF,
            {"dim": 0},
            ([[2, 3], [3, 1], 0], {"dim": 0}),
            ([[2, 3], [3, 1], 0], {"dim": 1}),
            ([[2, 3], [1, 2], 1], {"dim": -1}),
            ([[2, 3], [1, 2], 1], {"dim": -2}),
            ([[2, 3], [0, 1], 2], {"dim": 0}),
            ([[2, 2, 3], [1, 6, 2], 0], {"dim": 1}),
            ([[2, 3], [3, 1], 0], {"dim": 2}),
            ([[2, 3], [3, 1], 0], {"dim": -3}),
            ([[], [], 3], {"dim": 0}),
            ([[], [], 3], {"dim": -1}),
            ([[0], [1], 0], {"dim": 0}),
            ([[2, 0], [1, 1], 0], {"dim": 0}),
            ([[2, 0], [1, 1], 0], {"dim": 1}),
            ([[0, 3], [1, 1], 0], {"dim": 0}),
            ([[3, 1], [1, 1], 0], {"dim": 1}),
        ),
        {
            "values": [1000, 999, 998, -1000, -1001, -999],
            "kind": {"dtype": "float32"},
            "view": [[2, 3], [3, 1], 0],
            "dim": 1,
        },
    ],
    hint=_about_softmax,
)
def softmax(xp, values, kind, view, dim):
    x = _numbers(xp, values, kind, view)
    return {"softmax": xp.softmax(x, dim), "x afterwards": x}


def _logsumexps(st):
    @st.composite
    def draw_case(draw):
        case = _tensor_of_numbers(draw, st, FLOATING[1:])
        ndim = len(case["view"][0])
        dims = [d % ndim for d in _dims(draw, st, ndim, fault=False) or [0]] if ndim else []
        return case | {"dims": dims, "keepdim": draw(st.booleans())}

    return draw_case()


@program(
    "reductions.logsumexp",
    cases=_logsumexps,
    edges=[
        *_edges_of_numbers(
            [],
            {"dims": [0], "keepdim": False},
            ([[2, 3], [3, 1], 0], {"dims": [0], "keepdim": False}),
            ([[2, 3], [3, 1], 0], {"dims": [1], "keepdim": True}),
            ([[2, 3], [1, 2], 1], {"dims": [1], "keepdim": False}),
            ([[2, 3], [1, 2], 1], {"dims": [1, 0], "keepdim": False}),
            ([[2, 3], [1, 2], 1], {"dims": [1, 0], "keepdim": True}),
            ([[2, 2, 3], [1, 6, 2], 0], {"dims": [0, 2], "keepdim": False}),
            ([[2, 2, 3], [1, 6, 2], 0], {"dims": [0, 2], "keepdim": True}),
            ([[2, 2, 3], [1, 6, 2], 0], {"dims": [1], "keepdim": True}),
            ([[1, 3], [1, 1], 0], {"dims": [0], "keepdim": False}),
            ([[3, 1, 2], [1, 1, 3], 0], {"dims": [0], "keepdim": False}),
            ([[3, 2, 1], [1, 3, 1], 0], {"dims": [0], "keepdim": False}),
            ([[], [], 3], {"dims": [], "keepdim": False}),
            ([[], [], 3], {"dims": [], "keepdim": True}),
            ([[0], [1], 0], {"dims": [0], "keepdim": False}),
            ([[0, 3], [1, 1], 0], {"dims": [0], "keepdim": False}),
            ([[0, 3], [1, 1], 0], {"dims": [0], "keepdim": True}),
            ([[0, 3], [1, 1], 0], {"dims": [1], "keepdim": False}),
            ([[2, 0], [1, 1], 0], {"dims": [0, 1], "keepdim": False}),
        ),
        {
            "values": [1000, 999, 998, -1000, -1001, -999],
            "kind": {"dtype": "float32"},
            "view": [[2, 3], [3, 1], 0],
            "dims": [1],
            "keepdim": False,
        },
        {
            "values": ["inf", 1, 2, 3, "-inf", 3, "-inf", "-inf", 5, 6, 7, 8],
            "kind": {"dtype": "float64"},
            "view": [[4, 3], [3, 1], 0],
            "dims": [1],
            "keepdim": True,
        },
    ],
    hint=lambda case, mine, theirs: (
        "an infinite largest element must not be subtracted: infinity less infinity is NaN"
        if {"inf", "-inf"} & {str(value) for value in case["values"]} or 0 in case["view"][0]
        else None
    ),
)
def logsumexp(xp, values, kind, view, dims, keepdim):
    x = _numbers(xp, values, kind, view)
    found = np.asarray(xp.reductions.logsumexp(x.numpy(), dims, keepdim))
    out = xp.empty(found.shape, dtype=kind)
    out.numpy()[...] = found
    return {"logsumexp": out, "dtype": found.dtype.name, "x afterwards": x}


@logsumexp.oracle
def _(torch, values, kind, view, dims, keepdim):
    x = _numbers(torch, values, kind, view)
    out = torch.logsumexp(x, dims or (0,), keepdim)
    return {"logsumexp": out, "dtype": out.numpy().dtype.name, "x afterwards": x}


# Matrices ------------------------------------------------------------------------------------------------------------

_NUMERIC = ("float32", "int64", "float64", "uint8", "float16", "int32")


@cache
def _products(st, forms, faults=True):
    """A bias and two matrices; sometimes of sizes, dimensions or dtypes that do not go together."""

    @st.composite
    def draw_case(draw):
        rows, inner, columns = (draw(st.integers(0, 4)) for _ in range(3))
        dtypes = [draw(st.sampled_from(_NUMERIC))] * 3
        bias = [rows, columns]
        if "inplace" not in forms or draw(st.integers(0, 5)) == 0:
            bias = [1 if draw(st.integers(0, 2)) == 0 else size for size in bias][draw(st.sampled_from([0, 0, 1, 2])) :]
        shapes = [bias, [rows, inner], [inner, columns]]
        fault = draw(st.sampled_from(["none"] * 5 + ["dtype", "size", "dims"])) if faults else "none"
        place = draw(st.integers(0, 2))
        if fault == "dtype":
            dtypes[place] = draw(st.sampled_from(_NUMERIC))
        elif fault == "size" and shapes[place]:
            shapes[place][draw(st.integers(0, len(shapes[place]) - 1))] += 1
        elif fault == "dims":
            shapes[place] = shapes[place][1:] if draw(st.booleans()) else [1, *shapes[place]]
        operands = []
        for shape, dtype in zip(shapes, dtypes):
            order = draw(st.permutations(range(len(shape))))
            strides = _dense([max(size, 1) for size in shape], order)
            operands.append(tensor(shape, strides, draw(st.integers(0, 2)), dtype))
        return dict(zip(("bias", "mat1", "mat2"), operands))

    return draw_case()


@program(
    "linear_algebra.meta_addmm",
    cases=lambda st: _products(st, forms=("functional",)),
    edges=[
        {"bias": tensor(bias, dtype=a), "mat1": tensor(mat1, dtype=b), "mat2": tensor(mat2, dtype=c)}
        for bias, mat1, mat2, (a, b, c) in (
            ([2], [3, 4], [4, 2], ["float32"] * 3),
            ([3, 2], [3, 4], [4, 2], ["int64"] * 3),
            ([3, 1], [3, 4], [4, 2], ["float64"] * 3),
            ([1, 2], [3, 4], [4, 2], ["float16"] * 3),
            ([1], [3, 4], [4, 2], ["uint8"] * 3),
            ([], [3, 4], [4, 2], ["int32"] * 3),
            ([3], [3, 4], [4, 2], ["float32"] * 3),
            ([4, 2], [3, 4], [4, 2], ["float32"] * 3),
            ([1, 3, 2], [3, 4], [4, 2], ["float32"] * 3),
            ([2, 2], [1, 4], [4, 2], ["float32"] * 3),
            ([3, 2], [3, 4], [4, 1], ["float32"] * 3),
            ([0], [3, 4], [4, 2], ["float32"] * 3),
            ([2], [3, 4], [3, 2], ["float32"] * 3),
            ([2], [3, 2], [3, 2], ["float32"] * 3),
            ([2], [4, 3], [4, 2], ["float32"] * 3),
            ([2], [4], [4, 2], ["float32"] * 3),
            ([2], [1, 3, 4], [4, 2], ["float32"] * 3),
            ([2], [3, 4], [4], ["float32"] * 3),
            ([2], [3, 4], [1, 4, 2], ["float32"] * 3),
            ([2], [3, 0], [0, 2], ["float32"] * 3),
            ([2], [0, 4], [4, 2], ["float32"] * 3),
            ([0, 0], [0, 4], [4, 0], ["float32"] * 3),
            ([1], [3, 4], [4, 0], ["float32"] * 3),
            ([2], [3, 4], [4, 2], ["float64", "float32", "float32"]),
            ([2], [3, 4], [4, 2], ["float32", "float64", "float32"]),
            ([2], [3, 4], [4, 2], ["float32", "float32", "float64"]),
            ([2], [3, 4], [4, 2], ["float32", "float64", "float64"]),
            ([2], [3, 4], [4, 2], ["int64", "int32", "int64"]),
        )
    ],
)
def what_addmm_will_be(xp, bias, mat1, mat2):
    result = xp.structured.allocate(xp.linear_algebra.meta_addmm(bias, mat1, mat2, 1, 1))
    return result.shape, result.stride(), result.dtype


@what_addmm_will_be.oracle
def _(torch, bias, mat1, mat2):
    result = torch.addmm(bias, mat1, mat2)
    return result.shape, result.stride(), result.dtype


def _scaled_products(st):
    @st.composite
    def draw_case(draw):
        case = draw(_products(st, forms=("functional",), faults=False))
        floating = case["bias"]["tensor"]["dtype"] in FLOATING
        number = st.sampled_from([1, 1, 0, 2, -1, 0.5, -1.5] if floating else [1, 1, 0, 2, 3, 2.75, 0.5, True])
        case |= {"beta": draw(number), "alpha": draw(number)}
        if not floating and case["mat1"]["tensor"]["sizes"][1] == 0:  # there torch takes whole numbers only
            case["beta"] = int(case["beta"])
        case["nan"] = floating and case["beta"] == 0 and draw(st.booleans())
        return case | {"transposed": draw(st.booleans()), "own": draw(st.integers(0, 3)) == 0}

    return draw_case()


def _addmm(bias, mat1, mat2, dtype, **more):
    given = {"beta": 1, "alpha": 1, "nan": False, "transposed": False, "own": False} | more
    return {
        "bias": tensor(*bias, dtype=dtype),
        "mat1": tensor(*mat1, dtype=dtype),
        "mat2": tensor(*mat2, dtype=dtype),
    } | given


def _addmm_edges():
    turned = [[2], None, 1], [[3, 4]], [[4, 2], [1, 4], 2]
    square = [[3, 2], [1, 3], 1], [[3, 4]], [[4, 2]]
    for dtype in _NUMERIC:
        yield _addmm(*turned, dtype)
        yield _addmm([[3, 1]], [[3, 4], [1, 3], 1], [[4, 2]], dtype, beta=2, alpha=3)
    for beta, alpha in ((2.75, 1), (1, 2.75), (0.5, 0.5), (True, 3), (0, 1), (1, 0), (0, 0)):
        yield _addmm(*turned, "int64", beta=beta, alpha=alpha)
    for beta, alpha in ((0.5, -1.5), (0, 1), (0, 2), (1, 0), (-1, 1), (1, -1), (1, 0.25), (0.25, 1)):
        yield _addmm(*square, "float64", beta=beta, alpha=alpha)
        yield _addmm(*square, "float16", beta=beta, alpha=alpha)
        yield _addmm(*square, "float64", beta=beta, alpha=alpha, transposed=True, own=True)
    yield _addmm(*square, "float64", beta=0, nan=True)
    yield _addmm(*square, "float16", beta=0, nan=True, alpha=2)
    yield _addmm(*turned, "int64", own=True)
    yield _addmm(*turned, "int64", beta=0, own=True)
    yield _addmm(*turned, "bool")
    yield _addmm([[0]], [[3, 4]], [[4, 0]], "bool")
    yield _addmm([[2], None, 1], [[3, 0]], [[0, 2]], "float32", beta=3)
    yield _addmm([[2], None, 1], [[3, 0]], [[0, 2]], "float32", beta=0, nan=True)
    yield _addmm([[1]], [[3, 4]], [[4, 0]], "float32")
    yield _addmm(
        [[1], None, 3], [[1, 70], None, 2], [[70, 1]], "float16", alpha=0.0625, beta=0.5
    )  # too large in between
    yield _addmm([[1], None, 3], [[1, 3000], None, 2], [[3000, 1]], "int64")  # exact in no smaller dtype


@program(
    "linear_algebra.addmm_out",
    cases=_scaled_products,
    edges=[*_addmm_edges()],
    hint=lambda case, mine, theirs: (
        "with beta 0 self is not looked at, not even multiplied by 0: NaN times 0 is NaN" if case["nan"] else None
    ),
)
def addmm(xp, bias, mat1, mat2, beta, alpha, nan, transposed, own):
    bias, out = _written(xp, bias, mat1, mat2, nan, transposed, own)
    xp.linear_algebra.addmm_out(bias, mat1, mat2, beta, alpha, out)
    return out


@addmm.oracle
def _(torch, bias, mat1, mat2, beta, alpha, nan, transposed, own):
    bias, out = _written(torch, bias, mat1, mat2, nan, transposed, own)
    return torch.addmm(bias, mat1, mat2, beta=beta, alpha=alpha, out=out)


def _written(xp, bias, mat1, mat2, nan, transposed, own):
    """The bias, perhaps all NaN, and what is written to: perhaps column by column, perhaps the (expanded) bias itself."""
    rows, columns = mat1.shape[0], mat2.shape[1]
    out = xp.full((columns, rows) if transposed else (rows, columns), 7, dtype=bias.dtype)
    out = out.t() if transposed else out
    bias = bias * float("nan") if nan else bias
    return (out.copy_(bias), out) if own else (bias, out)


def _block_products(st):
    @st.composite
    def draw_case(draw):
        rows, inner, columns = (draw(st.integers(0, 6)) for _ in range(3))
        dtype = draw(st.sampled_from(["float64", "float32", "int64"]))
        operands = []
        for shape in ([rows, inner], [inner, columns]):
            strides = _dense([max(size, 1) for size in shape], draw(st.permutations(range(2))))
            operands.append(tensor(shape, strides, draw(st.integers(0, 2)), dtype))
        blocks = [draw(st.integers(1, 4)) for _ in range(3)]
        return {"a": operands[0], "b": operands[1], "blocks": blocks, "transposed": draw(st.booleans())}

    return draw_case()


def _about_blocks(case, mine, theirs):
    mine, theirs = dict(mine["dict"]), dict(theirs["dict"])
    if mine["blocks"] == theirs["blocks"]:
        return "out holds any numbers when it is given to you, and multiply adds to them"
    if not all(are_views for *_, are_views in mine["blocks"]):
        return "multiply is to be given views: what it writes into a copy is lost"
    return "every combination of a run of rows, of the inner dimension, of columns comes once"


@program(
    "linear_algebra.blocked_mm",
    cases=_block_products,
    edges=[
        {"a": tensor([n, k]), "b": tensor([k, m], None, 1), "blocks": blocks, "transposed": transposed}
        for (n, k, m), blocks, transposed in (
            ((4, 4, 4), [2, 2, 2], False),
            ((5, 3, 4), [2, 2, 3], False),
            ((3, 5, 4), [3, 2, 4], False),
            ((5, 4, 3), [1, 3, 2], True),
            ((2, 6, 5), [2, 4, 1], False),
            ((6, 5, 2), [4, 1, 2], False),
            ((3, 2, 6), [1, 2, 5], False),
            ((2, 3, 4), [9, 9, 9], False),
            ((1, 1, 1), [1, 1, 1], False),
            ((6, 2, 3), [5, 1, 1], True),
            ((2, 0, 3), [2, 2, 2], False),
            ((0, 2, 3), [2, 2, 2], False),
            ((2, 3, 0), [2, 2, 2], False),
        )
    ]
    + [
        {
            "a": tensor([3, 4], [1, 3], 2, "float32"),
            "b": tensor([4, 5], [1, 4], 1, "float32"),
            "blocks": [2, 3, 2],
            "transposed": True,
        }
    ],
    hint=lambda case, mine, theirs: _about_blocks(case, mine, theirs) if "dict" in mine else None,
)
def block_by_block(xp, a, b, blocks, transposed):
    out = _block_out(xp, a, b, transposed)
    whole, seen = (a.numpy(), b.numpy(), out.numpy()), []

    def multiply(*parts):
        a_block, b_block, out_block = parts
        are_views = all(np.may_share_memory(part, array) for part, array in zip(parts, whole))
        seen.append([*a_block.shape, b_block.shape[1], are_views])
        out_block += a_block @ b_block

    xp.linear_algebra.blocked_mm(*whole, blocks, multiply)
    return {"product": out, "blocks": sorted(seen)}


@block_by_block.oracle
def _(torch, a, b, blocks, transposed):
    rows, inner = ([part.shape[d] for part in a.split(blocks[d], d)] for d in (0, 1))
    columns = [part.shape[1] for part in b.split(blocks[2], 1)]
    runs = [list(sizes) for sizes in itertools.product(rows, inner, columns) if 0 not in sizes]
    out = _block_out(torch, a, b, transposed).copy_(torch.mm(a, b))
    return {"product": out, "blocks": sorted([*run, True] for run in runs)}


def _block_out(xp, a, b, transposed):
    rows, columns = a.shape[0], b.shape[1]
    out = xp.full((columns, rows) if transposed else (rows, columns), 7, dtype=a.dtype)
    return out.t() if transposed else out


# In C++ --------------------------------------------------------------------------------------------------------------


def _lines(st):
    @st.composite
    def draw_case(draw):
        x = draw(tensors(st, (1, 4), 4, ("float32", "float32", "float64", "float64", "int64")))["tensor"]
        size = x["sizes"][-1]
        fault = draw(st.sampled_from(["none"] * 9 + ["size", "dims"])) if x["dtype"] != "int64" else "none"
        shape = {"none": [size], "size": [size + 1], "dims": [1, size]}[fault]
        strides = [draw(st.sampled_from([1, 1, 2, 0]))] * len(shape)
        weight = tensor(shape, strides, draw(st.integers(0, 3)), x["dtype"])
        return {"x": {"tensor": x}, "weight": weight, "eps": draw(st.sampled_from([1e-5, 0.5, 2.0]))}

    return draw_case()


def _about_lines(case, mine, theirs):
    if "tensor" not in mine or "tensor" not in theirs or mine["tensor"]["shape"] != theirs["tensor"]["shape"]:
        return None
    if np.allclose(observe.values(mine), observe.values(theirs), rtol=1e-4, equal_nan=True):
        return "right but for the last digits: is eps in its place, and does each step have the digits of scalar_t?"
    if any(case[name]["tensor"]["strides"][-1] != 1 for name in ("x", "weight")):
        return "the elements of a line are x.stride(-1) apart, those of weight weight.stride(0)"
    return None


@program(
    "cpp.rms_norm_source",
    cases=_lines,
    edges=[
        {"x": tensor(s, t, o, d), "weight": tensor([s[-1]], [step], 1, d), "eps": eps}
        for s, t, o, d, step, eps in (
            ([2, 3], None, 0, "float32", 1, 1e-5),
            ([2, 3], None, 0, "float64", 1, 1e-5),
            ([2, 3], None, 0, "float64", 1, 2.0),
            ([3], None, 2, "float32", 1, 0.5),
            ([3], [2], 1, "float64", 1, 0.5),
            ([3, 4], [1, 3], 1, "float32", 1, 1e-5),
            ([3, 4], [1, 3], 1, "float64", 2, 1e-5),
            ([3, 4], [4, 1], 0, "float32", 2, 1e-5),
            ([3, 4], [0, 1], 5, "float32", 1, 1e-5),
            ([3, 4], [1, 0], 5, "float64", 0, 1e-5),
            ([3, 4], [1, 0], 5, "float32", 1, 1e-5),
            ([3], None, 0, "float64", 0, 0.5),
            ([3, 4], [9, 2], 1, "float32", 1, 1e-5),
            ([2, 3, 4], None, 0, "float32", 1, 1e-5),
            ([2, 3, 4], [1, 8, 2], 3, "float64", 3, 1e-5),
            ([2, 3, 4], [4, 8, 1], 0, "float32", 1, 1e-5),
            ([2, 3, 2, 5], [1, 20, 60, 2], 1, "float32", 1, 1e-5),
            ([3, 2, 2, 2, 3], None, 1, "float64", 1, 0.25),
            ([1, 1], None, 0, "float32", 1, 1e-5),
            ([4, 1], [1, 1], 1, "float32", 1, 0.125),
            ([0, 3], None, 0, "float32", 1, 1e-5),
            ([2, 0], None, 0, "float64", 1, 1e-5),
            ([2, 0, 3], None, 0, "float64", 1, 1e-5),
            ([2, 37], None, 0, "float32", 1, 1e-5),
            ([4096, 32], None, 0, "float32", 1, 1e-5),  # short lines: a plain sum in float32 will do
            ([2, 3], None, 0, "int64", 1, 1e-5),
            ([2, 3], None, 0, "float16", 1, 1e-5),
        )
        if d != "float16"  # torch has it, this header does not
    ]
    + [
        {"x": tensor([2, 3], dtype="float32"), "weight": tensor(s, dtype="float32"), "eps": 1e-5}
        for s in ([2], [4], [1], [0], [1, 3], [2, 3], [])
    ]
    + [
        {"x": tensor([], [], 2, "float32"), "weight": tensor([1], dtype="float32"), "eps": 1e-5},
        {"x": tensor([2, 3]), "weight": tensor([3]), "eps": 1e-5},
    ],
    hint=_about_lines,
)
def rms_norm(xp, x, weight, eps):
    return xp.cpp.rms_norm(x, weight, eps)


@rms_norm.oracle
def _(torch, x, weight, eps):
    result = torch.nn.functional.rms_norm(x, x.shape[-1:], weight, eps)
    return torch.empty(x.shape, dtype=x.dtype).copy_(result)  # its strides differ where a dimension has size 1


# Everything together -------------------------------------------------------------------------------------------------


def _programs(st):
    place = st.integers(0, 5)
    dims = st.lists(st.integers(-2, 1), min_size=1, max_size=2)
    step = st.one_of(
        st.tuples(st.sampled_from(["add", "sub", "mul", "eq", "matmul"]), place, place),
        st.tuples(st.sampled_from(["add_", "mul_"]), place, place),
        st.tuples(st.sampled_from(["sum", "amax", "logsumexp"]), place, dims, st.booleans()),
        st.tuples(st.sampled_from(["softmax", "cumsum"]), place, st.integers(-2, 1)),
        st.tuples(st.just("addmm"), place, place, place),
        st.tuples(st.just("t"), place),
    ).map(list)
    matrix = st.builds(
        lambda shape, turned, dtype: tensor(shape, [1, shape[0]] if turned else None, 1, dtype),
        st.lists(st.integers(1, 3), min_size=2, max_size=2),
        st.booleans(),
        st.sampled_from(["float64", "int64"]),
    )
    return st.fixed_dictionaries(
        {"operands": st.lists(matrix, min_size=2, max_size=3), "steps": st.lists(step, max_size=6)}
    )


@program("together.kernels", cases=_programs)
def small_programs(xp, operands, steps):
    values, refused = list(operands), []
    for name, place, *arguments in steps:
        if name in ("add", "sub", "mul", "eq", "matmul", "add_", "mul_", "addmm"):
            arguments = [values[other % len(values)] for other in arguments]
        try:
            values.append(getattr(values[place % len(values)], name)(*arguments))
        except (IndexError, RuntimeError) as error:  # the program goes on without this step
            refused.append(f"{name}: {'IndexError' if isinstance(error, IndexError) else 'RuntimeError'}")
    return {"values": values, "refused": refused}
