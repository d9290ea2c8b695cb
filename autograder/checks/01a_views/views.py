"""Strides, and views: transpose, permute, select and slice."""

from __future__ import annotations

from functools import partial

from ...engine.check import program
from ...engine.observe import difference, is_error
from ...engine.verdict import describe
from ..cases import dim, drawing, drawn, field, is_torch, lists_too, rows, sizes, tensor, tensors, when
from ..shared_01 import mixed_too, viewed, with_tensor

# Strides -------------------------------------------------------------------------------------------------------------


@program(
    "aten.strided.contiguous_strides",
    cases=drawn(sizes=lambda st: sizes(st, (0, 5), 6)),
    edges=[
        {"sizes": s}
        for s in (
            [], [3], [2, 3], [64, 600], [2, 3, 4], [2, 0, 3], [0, 4], [0, 0], [3, 1, 1], [1, 2, 1, 3], [2, 0, 0, 3],
            [2, 1, 3, 2, 2, 3], [0, 70_000, 70_000],
        )
    ],
    hint=when(lambda case: 0 in case["sizes"], "a size of 0 counts as 1 in the product, so that no stride becomes 0"),
)  # fmt: skip
def strides_of_a_new_tensor(xp, sizes):
    return lists_too(xp.strided.contiguous_strides, sizes)


@strides_of_a_new_tensor.oracle
def _(torch, sizes):
    return torch.empty(sizes, device="meta").stride()


@drawing
def _indices(draw, st):
    spec = draw(tensors(st, dims=(0, 4)))["tensor"]
    index = [draw(st.integers(0, max(size - 1, 0))) for size in spec["sizes"]]
    return {"index": index, "strides": spec["strides"], "storage_offset": spec["offset"]}


@program(
    "aten.strided.element_offset",
    cases=_indices,
    edges=rows(
        "index strides storage_offset",
        ([1, 2], [3, 1], 0), ([2, 1], [1, 3], 4), ([], [], 5), ([1, 1], [0, 1], 2), ([1, 2, 0, 1, 1], [24, 8, 4, 2, 1], 1),
        ([50_000, 3], [100_000, 1], 0), ([1], [2**31], 2**31), ([1, 2**53], [2, 1], 1),
    ),
    show=lambda torch, index, strides, storage_offset: f"element_offset({tuple(index)}, {tuple(strides)}, {storage_offset})",
)  # fmt: skip
def offset_of_an_element(xp, index, strides, storage_offset):
    return mixed_too(xp.strided.element_offset, index, strides, storage_offset)


@offset_of_an_element.oracle
def _(torch, index, strides, storage_offset):
    storage = torch.empty(2**58, dtype=torch.uint8, device="meta")
    return storage.as_strided([i + 1 for i in index], strides, storage_offset)[tuple(index)].storage_offset()


def _layout_of(torch, x):
    """The tensor whose layout torch judges, and the arguments."""
    spec = x["tensor"]
    return f"{describe({'x': x})}\nis_contiguous({tuple(spec['sizes'])}, {tuple(spec['strides'])})"


@program(
    "aten.strided.is_contiguous",
    cases=drawn(x=lambda st: st.one_of(tensors(st), sizes(st).map(tensor), tensors(st, dims=(1, 3), most=2))),
    edges=[
        {"x": x}
        for x in (
            tensor([2, 3]), tensor([2, 3], [1, 2]), tensor([2, 3], [4, 1]), tensor([2, 1, 3], [3, 7, 1]),
            tensor([1, 3], [9, 1]), tensor([3, 1], [1, 5]), tensor([2, 0, 3], [1, 1, 5]), tensor([], []),
            tensor([1], [0]), tensor([2], [0]), tensor([2, 2], [1, 1]), tensor([4, 3], [3, 1], 2), tensor([2, 2, 3]),
            tensor([2, 2, 3], [7, 3, 1]), tensor([2, 2, 2], [3, 3, 1]), tensor([2, 1], [2, 1]), tensor([1, 1], [5, 7]),
            tensor([2, 1, 2, 1, 3, 2], [12, 5, 6, 0, 2, 1]), tensor([2, 3, 2, 2], [12, 2, 6, 1]), tensor([2, 300]),
            tensor([2, 3, 4], [12, 5, 1]), tensor([2, 3, 4], [12, 4, 2]), tensor([2, 3, 4], [13, 4, 1]),
        )
    ],
    show=_layout_of,
    hint=when(lambda case: 1 in case["x"]["tensor"]["sizes"], "the stride of a dimension of size 1 does not matter"),
)  # fmt: skip
def contiguity(xp, x):
    return mixed_too(xp.strided.is_contiguous, x.shape, x.stride())


@contiguity.oracle
def _(torch, x):
    return x.is_contiguous()


# Views ---------------------------------------------------------------------------------------------------------------


@program(
    "aten.strided.transpose",
    cases=lambda st: with_tensor(
        lambda draw, st, sizes: {"dim0": draw(dim(st, len(sizes))), "dim1": draw(dim(st, len(sizes)))}
    )(st, dims=(1, 4)),
    edges=rows(
        "x dim0 dim1",
        (tensor([2, 3]), 0, 1), (tensor([2, 3, 4], None, 5), -1, 0), (tensor([2, 3]), 1, 1), (tensor([2, 3]), 0, 2),
        (tensor([2, 3]), -3, 0), (tensor([], []), 0, -1), (tensor([], []), 0, 1), (tensor([], []), 1, 0),
        (tensor([], []), -2, -1), (tensor([2, 3]), 2, 0), (tensor([2, 3]), 0, -3), (tensor([2, 3, 4]), 0, 1),
        (tensor([2, 1, 3, 2], [1, 7, 2, 9], 1), 1, -1),
    ),
)  # fmt: skip
def transpose(xp, x, dim0, dim1):
    return viewed(x, x.transpose, dim0, dim1)


@drawing
def _orders(draw, st):
    """All sizes differ and are more than 1, so that the smallest case shows where each dimension comes from."""
    sizes = draw(st.permutations([2, 3, 4, 5]))[: draw(st.integers(0, 4))]
    memory = draw(st.permutations(range(len(sizes))))  # the dimensions by their strides, the largest first
    steps = dict(zip(memory, tensor([sizes[d] for d in memory])["tensor"]["strides"]))
    strides = [steps[d] * draw(st.sampled_from([1, 1, 1, 2, 0])) for d in range(len(sizes))]
    x = tensor(sizes, strides, draw(st.integers(0, 3)), draw(st.sampled_from(["int64", "float32", "bool"])))
    dims = list(draw(st.permutations(range(len(sizes)))))
    dims = [d - len(sizes) if draw(st.booleans()) else d for d in dims]
    # one fault at a time, because the order of the tests is free
    fault = draw(st.sampled_from(["none"] * 6 + ["length", "twice", "beyond"]))
    if fault == "length":
        dims = dims[:-1] if draw(st.booleans()) else [*dims, 0]
    elif fault == "twice" and len(dims) > 1:
        dims[0] = dims[1]
    elif fault == "beyond" and dims:
        dims[-1] = draw(st.sampled_from([len(sizes), -len(sizes) - 1]))
    return {"x": x, "dims": dims}


@program(
    "aten.strided.permute",
    cases=_orders,
    edges=rows(
        "x dims",
        (tensor([2, 3, 4]), [2, 0, 1]), (tensor([2, 3, 4]), [1, 2, 0]), (tensor([2, 3, 4], None, 3), [-1, 0, -2]),
        (tensor([2, 3]), [0, 0]), (tensor([2, 3]), [1, -1]), (tensor([2, 3]), [0]), (tensor([2, 3]), [0, 1, 2]),
        (tensor([2, 3]), [0, 2]), (tensor([2, 3]), [0, -3]), (tensor([2, 3, 4]), [0, 0, 5]),
        (tensor([2, 3, 4]), [5, 0, 0]), (tensor([], []), []), (tensor([], []), [0]), (tensor([2]), []),
        (tensor([2]), [0, 0]), (tensor([2, 1, 3, 2, 2], [1, 7, 2, 9, 0], 1), [3, -1, 0, -3, 1]),
        (tensor([2, 0, 3]), [2, 0, 1]), (tensor([1, 0, 0, 4]), [1, -2, 0, -1]),
    ),
    hint=lambda case, mine, theirs: (
        None
        if "error" in theirs or "error" in mine or "offset" in difference(mine, theirs)
        else "dimension i of the result is dimension dims[i] of the tensor, not the other way round"
    ),
)  # fmt: skip
def permute(xp, x, dims):
    return viewed(x, x.permute, dims, exercise=None if is_torch(xp) else xp.strided.permute)


@with_tensor
def _selections(draw, st, sizes):
    d = draw(dim(st, len(sizes)))
    size = sizes[d] if -len(sizes) <= d < len(sizes) else 2
    return {"dim": d, "index": draw(dim(st, size))}


def _about_selections(case, mine, theirs):
    if is_error(mine):
        return None
    if is_error(theirs):
        size = "an index is at least -size and less than size: any other one is an IndexError"
        return size if -len(case["x"]["tensor"]["sizes"]) <= case["dim"] < len(case["x"]["tensor"]["sizes"]) else None
    if "offset" in difference(mine, theirs):
        return "the offset grows by the index times the stride that the tensor has in this dimension, also if it has no elements"
    return None


@program(
    "aten.strided.select",
    cases=_selections,
    edges=rows(
        "x dim index",
        (tensor([2, 3]), 0, 1), (tensor([2, 3]), 1, 2), (tensor([2, 3, 4], None, 2), -2, -1), (tensor([2, 3]), 0, 2),
        (tensor([2, 3]), 0, -3), (tensor([2, 3]), 2, 0), (tensor([0, 3]), 0, 0), (tensor([], []), 0, 0),
        (tensor([3], [2], 1), 0, -3), (tensor([], []), -1, -1), (tensor([2, 3], [1, 4], 2), 1, 2),
        (tensor([2, 3]), -3, 0), (tensor([2, 0, 3]), 0, 1), (tensor([2, 0, 3]), 1, -1),
        (tensor([2, 1, 3, 2, 2], [1, 7, 2, 9, 0], 1), 3, -1),
    ),
    hint=_about_selections,
)  # fmt: skip
def select(xp, x, dim, index):
    return viewed(x, x.select, dim, index)


@with_tensor
def _slices(draw, st, sizes):
    border = st.one_of(st.none(), st.integers(-6, 6))
    return {
        "dim": draw(dim(st, len(sizes))),
        "start": draw(border),
        "end": draw(border),
        "step": draw(st.integers(0, 4)),
    }


def _size_of(tree, dim):
    return field(tree, "view")["tensor"]["shape"][dim]


def _about_slices(case, mine, theirs):
    if is_error(theirs):
        return None
    size = case["x"]["tensor"]["sizes"][case["dim"]]
    if not is_error(mine) and "shape" not in difference(mine, theirs):
        return None
    if any(border is not None and not -size <= border <= size for border in (case["start"], case["end"])):
        return "a start or an end beyond the dimension is no error: it becomes the nearest end of it"
    if is_error(mine):
        return None
    if case["end"] == 0 and _size_of(mine, case["dim"]) == len(range(size)[case["start"] :: case["step"]]):
        return "0 is a position like any other: only None stands for the end of the dimension"
    return "the last step may be shorter, and counts too: the size is rounded up, and is never below 0"


@program(
    "aten.strided.slice",
    cases=_slices,
    edges=[
        {"x": tensor([6]), "dim": 0, "start": start, "end": end, "step": step}
        for start, end, step in (
            (1, 5, 1), (0, 6, 2), (1, 6, 2), (None, None, 1), (None, -1, 1), (-2, None, 1), (-9, 9, 1), (4, 2, 1),
            (9, 12, 1), (0, 5, 4), (2, -9, 1), (0, 6, 0), (0, 6, -1), (5, 6, 3), (-1, None, 1), (-2, -1, 1),
            (-6, -5, 1), (0, 0, 1), (None, 0, 1), (0, -6, 1), (1, -7, 2), (4, 2, 3), (6, 9, 2), (None, 9, 2), (0, 6, 9),
            (None, None, 2**33), (1, 2**63 - 1, 2), (-(2**63), 3, 1),
            (0, 6, 6), (1, 6, 4), (2, 2, 2),
        )
    ]
    + rows(
        "x dim start end step",
        (tensor([2, 6], None, 1), -1, 1, 6, 3), (tensor([2, 6], None, 1), 2, 0, 1, 1), (tensor([], []), 0, 0, 1, 1),
        (tensor([2, 3]), 5, 0, 1, 0), (tensor([2, 3]), -3, 0, 1, -1), (tensor([], []), 0, 0, 1, 0),
        (tensor([0, 2]), 0, 0, 3, 2), (tensor([3, 2], [2, 1], 1), 0, 3, 1, 1), (tensor([2, 6]), -3, 0, 1, 1),
        (tensor([], []), -1, None, None, 1), (tensor([3, 4], [1, 5], 2), 1, 1, 4, 2), (tensor([2, 0, 3]), 0, 1, 2, 1),
        (tensor([2, 1, 3, 2, 4], [1, 7, 2, 9, 0], 1), 2, -2, None, 2),
        (tensor([2**60], [0], dtype="uint8"), 0, None, None, 2**59), (tensor([0, 2]), 0, 0, 3, 0),
    ),
    hint=_about_slices,
)  # fmt: skip
def slice(xp, x, dim, start, end, step):
    return viewed(x, partial(xp.strided.slice, x), *_up_to_defaults(dim, start, end, step))


def _up_to_defaults(*arguments):
    """The arguments of a slice without those at the end that have their default."""
    for default in (1, None, None, 0):
        if arguments[-1] != default:
            break
        arguments = arguments[:-1]
    return arguments


@slice.oracle
def _(torch, x, dim, start, end, step):
    return viewed(x, partial(torch.ops.aten.slice, x), *_up_to_defaults(dim, start, end, step))
