"""Strategies for what checks draw. `st` is hypothesis.strategies; only the judge calls these, so nothing is imported here."""

from __future__ import annotations

from functools import cache
from typing import Any

DTYPES = ("bool", "uint8", "int32", "int64", "float16", "float32", "float64")


@cache  # drawing goes through these again and again, and a strategy that is known is not looked into again
def sizes(st: Any, dims: tuple[int, int] = (0, 4), most: int = 4) -> Any:
    """Shapes with `dims` dimensions of 0 to `most` elements; small ones, and size 1, more often than not."""
    return st.lists(st.one_of(st.integers(1, most), st.integers(0, most)), min_size=dims[0], max_size=dims[1])


def dim(st: Any, ndim: int, beyond: int = 1) -> Any:
    """A dimension of an ndim-dimensional tensor, from either end, and now and then one that does not exist."""
    return st.integers(-ndim - beyond, ndim - 1 + beyond)


@cache
def tensors(st: Any, dims: tuple[int, int] = (0, 4), most: int = 4, dtypes: tuple[str, ...] = ("int64",)) -> Any:
    """Descriptions of strided tensors: any order of dimensions in memory, gaps between elements, stride 0, any offset."""

    @st.composite
    def draw_tensor(draw):
        shape = draw(sizes(st, dims, most))
        order = draw(st.permutations(range(len(shape))))
        strides, step = [0] * len(shape), 1
        for d in order:
            gap = draw(st.sampled_from([1, 1, 1, 1, 2, 3, 0]))
            strides[d] = step * gap
            step = max(step * gap * max(shape[d], 1), step)
        return tensor(shape, strides, draw(st.integers(0, 3)), draw(st.sampled_from(dtypes)), draw(st.integers(0, 2)))

    return draw_tensor()


def tensor(
    sizes: list[int], strides: list[int] | None = None, offset: int = 0, dtype: str = "int64", slack: int = 0
) -> dict:
    """The description of one tensor over a storage just large enough for it, plus `slack` elements."""
    if strides is None:
        strides, step = [], 1
        for size in reversed(sizes):
            strides.insert(0, step)
            step *= max(size, 1)
    reach = 0 if 0 in sizes else 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
    spec = {"dtype": dtype, "storage": offset + reach + slack, "sizes": list(sizes), "strides": list(strides)}
    return {"tensor": spec | {"offset": offset}}
