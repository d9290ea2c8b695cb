"""Strides that a caller gives: `as_strided`."""

from __future__ import annotations

from ...engine.check import program
from ..cases import drawing, rows, sizes, tensor, tensors
from ..shared_01 import viewed

# Any sizes and strides -----------------------------------------------------------------------------------------------


@drawing
def _windows(draw, st):
    x = draw(tensors(st, dims=(1, 3), dtypes=("int64", "float32", "uint8")))
    shape = draw(sizes(st, (0, 3)))
    strides = [draw(st.integers(-1 if draw(st.integers(0, 9)) == 0 else 0, 5)) for _ in shape]
    if draw(st.integers(0, 15)) == 0:
        strides = strides[1:]
    return {"x": x, "sizes": shape, "strides": strides, "storage_offset": draw(st.none() | st.integers(-1, 6))}


@program(
    "aten.strided.as_strided",
    cases=_windows,
    edges=[
        {"x": tensor([12]), "sizes": s, "strides": t, "storage_offset": o}
        for s, t, o in (
            ([3, 4], [4, 1], None), ([3, 4], [4, 1], 0), ([3, 4], [4, 1], 1), ([3, 4], [1, 3], 0), ([4, 3], [1, 1], 6),
            ([4, 3], [1, 1], 7), ([2], [0], 11), ([2], [2**32], 0), ([2], [0], 12), ([0], [1], 12), ([0], [1], 50), ([], [], 11),
            ([], [], 12), ([2], [-1], 3), ([2], [1], -1), ([-1], [1], 0), ([2, 2], [1], 0), ([2], [1, 1], 0),
            ([1], [40], 0), ([0, 3], [1, 1], 0), ([2, 0], [40, 40], 3), ([2, 3], [2], 0), ([], [1], 0), ([1], [], 0),
            ([2, 1, 2, 1, 2], [1, 9, 0, 9, 5], 5), ([2, 1, 2, 1, 2], [1, 9, 0, 9, 5], 6),
            ([0], [-1], 0), ([1], [-1], 0), ([0], [1], -1), ([2, 0], [1, -3], None),
        )
    ]
    + rows(
        "x sizes strides storage_offset",
        (tensor([2, 2], [1, 2], 3), [2], [1], None), (tensor([2, 2], [1, 2], 3), [7], [1], 0),
        (tensor([2, 2], [1, 2], 3), [7], [1], None), (tensor([2, 2], [1, 2], 3, slack=4), [11], [1], 0),
        (tensor([2, 2], [1, 2], 3, slack=4), [12], [1], 0), (tensor([4], dtype="float32"), [4], [1], 0),
        (tensor([4], dtype="float32"), [5], [1], 0),
    ),
)  # fmt: skip
def as_strided(xp, x, sizes, strides, storage_offset):
    return viewed(x, x.as_strided, sizes, strides, storage_offset)
