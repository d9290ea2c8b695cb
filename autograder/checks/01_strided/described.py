"""Tensors of the cases of lab 01, and what is shown of a view.

Every tensor in a case is a description: a storage with 0, 1, 2, ..., and sizes, strides and an offset. So the value of an
element is its own position in the storage.
"""

from __future__ import annotations

from ..cases import drawing, tensors


@drawing
def tensor_and(draw, st, arguments, dims=(0, 4)):
    """A tensor, and what `arguments(draw, sizes)` draws for it."""
    x = draw(tensors(st, dims=dims, dtypes=("int64", "float32", "bool")))
    return {"x": x} | arguments(draw, x["tensor"]["sizes"])


def shares(a, b):
    """Whether two tensors share a storage, or None if there is no memory to share."""
    if a.untyped_storage().nbytes() == 0 or b.untyped_storage().nbytes() == 0:
        return None
    return a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()


def viewed(x, y):
    return {"view": y, "shares its storage": shares(x, y)}
