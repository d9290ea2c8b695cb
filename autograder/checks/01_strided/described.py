"""Tensors of the cases of lab 01, and what is shown of a view.

Every tensor in a case is a description: a storage with 0, 1, 2, ..., and sizes, strides and an offset. So the value of an
element is its own position in the storage.
"""

from __future__ import annotations

from functools import partial

from ..cases import as_lists, drawing, lists_too, tensors


def with_tensor(draw_arguments):
    """Decorator: cases of a tensor and of what `draw_arguments(draw, st, sizes)` draws for it."""

    @drawing
    def cases(draw, st, dims=(0, 4)):
        x = draw(tensors(st, dims=dims, dtypes=("int64", "float32", "bool")))
        return {"x": x} | draw_arguments(draw, st, x["tensor"]["sizes"])

    return cases


def shares(a, b):
    """Whether two tensors share a storage, or None if there is no memory to share."""
    if a.untyped_storage().nbytes() == 0 or b.untyped_storage().nbytes() == 0:
        return None
    return a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()


def mixed_too(function, *arguments):
    """`lists_too`, and the same result with a list in the place of one of several tuples, as in `x.as_strided(x.shape, [2, 1])`."""
    result = lists_too(function, *arguments)
    tuples = [i for i, argument in enumerate(arguments) if isinstance(argument, tuple)]
    for i in tuples if len(tuples) > 1 else []:
        mixed = [*arguments[:i], as_lists(arguments[i]), *arguments[i + 1 :]]
        assert as_lists(function(*mixed)) == as_lists(result), f"a list and a tuple give another result: {mixed}"
    return result


def viewed(x, view, *arguments, exercise=None):
    """The view of x that `view(*arguments)` makes. A method makes tuples of lists, so lists go to the `exercise` itself."""
    y = mixed_too(view, *arguments)
    if exercise is not None:
        mixed_too(partial(exercise, x), *arguments)
    return {"view": y, "shares its storage": shares(x, y), "is x itself": y is x}
