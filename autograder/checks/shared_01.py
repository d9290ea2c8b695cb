"""Shared by the checks of labs 01a and 01b: tensors of the cases, and the properties of a view that a result shows.

Every tensor in a case is a description: a storage with 0, 1, 2, ..., and sizes, strides and an offset. So the value of an
element is its own position in the storage.
"""

from __future__ import annotations

from functools import partial

from .cases import as_lists, called_with, drawing, drawn, lists_too, repeating, several, tensors


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
        mixed = (*arguments[:i], as_lists(arguments[i]), *arguments[i + 1 :])
        called_with(lambda mixed=mixed: mixed, function, arguments, result)
    return result


def viewed(x, view, *arguments, exercise=None):
    """The view of x that `view(*arguments)` makes. A method makes tuples of lists, so lists go to the `exercise` itself."""
    y = mixed_too(view, *arguments)
    if exercise is not None:
        with repeating():
            mixed_too(partial(exercise, x), *arguments)
    return {"view": y, "shares its storage": shares(x, y), "is x itself": y is x}


# All together --------------------------------------------------------------------------------------------------------


def _chains(st, names):
    number = st.integers(-3, 4)
    small = st.sampled_from([None, 0, 1, 3])
    arguments = {
        "transpose": [number, number], "select": [number, number], "narrow": [number, st.integers(0, 2), st.integers(0, 3)],
        "unsqueeze": [number], "squeeze": [], "flatten": [], "contiguous": [],
        "reshape": [st.sampled_from([[-1], [2, -1], [-1, 3], [3, -1, 2]])],
        "view": [st.sampled_from([[-1], [2, -1], [-1, 2], [2, -1, 3]])],
        "permute": [st.permutations(range(3)).map(list)],
        "expand": [st.sampled_from([[2, -1], [3, -1, -1], [-1, -1], [-1, 2, -1]])],
        "as_strided": [st.sampled_from([[2, 2], [1, 3]]), st.sampled_from([[1, 1], [0, 2], [3, 1]]), small],
    }  # fmt: skip
    step = st.one_of([st.tuples(st.just(name), *arguments[name]) for name in names]).map(list)
    return drawn(x=tensors(st, dims=(1, 3)), steps=several(step, 0, 6))(st)


def _chained(x, steps):
    """The last view of a chain, and the steps that were refused."""
    y, errors = x, []
    for name, *arguments in steps:
        try:
            y = getattr(y, name)(*arguments)
        except (NotImplementedError, RecursionError):
            raise
        except (IndexError, RuntimeError) as error:  # the chain continues without this step
            errors.append(f"{name}: {'IndexError' if isinstance(error, IndexError) else 'RuntimeError'}")
    return {"view": y, "shares its storage": shares(x, y), "refused": errors}
