"""Views of a 3 x 4 tensor: for each chain of operations the tensor that torch makes, which is also rushlight's."""

from __future__ import annotations

from typing import Any

import torch

import rushlight
from autograder.language import phrase

PHASE, SIZE = "01", (640, 330)
LONGEST, MOST_DIMS = 3, 3
BASE = "arange(12).view(3, 4)"
OPERATIONS = ".t()", "[1:]", "[:, ::2]", "[:, :1]", ".expand(-1, 4)", ".unfold(1, 2, 1)", ".view(-1)", ".reshape(-1)"
NAMES = "t", "slice", "step", "column", "expand", "unfold", "view", "reshape"  # in an address
COPYING = ".reshape(-1)"
SAID = {
    "copied": phrase(
        "No sizes and strides read these elements in this order, so reshape copied them. "
        "The new tensor has a storage of its own."
    ),
    "empty": phrase("The tensor has no elements. Its record still has strides and an offset."),
    "record": phrase(
        "A tensor is a record: sizes, strides and an offset. They say where in the storage each element is."
    ),
}


def step(x: Any, operation: str) -> Any:
    """The next tensor of a chain, or the error that the framework raises."""
    try:
        return eval(f"x{operation}", {"x": x})
    except (RuntimeError, IndexError, ValueError) as error:
        return error


def facts(x: Any) -> dict:
    """Return the data that the figure draws of a tensor: the storage's values, and how the tensor reads them."""
    flat = x.as_strided((x.untyped_storage().nbytes() // 8,), (1,), 0)
    read = {"sizes": [*x.shape], "strides": [*x.stride()], "offset": x.storage_offset()}
    return {"storage": flat.tolist(), **read, "contiguous": x.is_contiguous()}


def data() -> dict:
    """Each tensor that a chain of operations makes, and where each operation leads from it.

    `next` has a number for each operation: the place of another tensor; or below zero, `-1 - i`, where torch refuses with
    `errors[i]`; or None where the figure ends. Of the operations only the one in `copying` copies: `copies` says from which
    tensors.
    """
    tensors: list[dict] = []
    places: dict[str, int] = {}
    errors: dict[str, int] = {}

    def place(x: Any) -> int:
        key = str(facts(x))
        if key not in places:
            places[key] = len(tensors)
            tensors.append(facts(x))
        return places[key]

    def lead(pair: list, operation: str, depth: int, made: list) -> int | None:
        theirs, ours = (step(x, operation) for x in pair)
        if isinstance(theirs, Exception):
            assert isinstance(ours, Exception), (facts(pair[0]), operation)
            return -1 - errors.setdefault(str(theirs).split("\n")[0], len(errors))
        assert facts(theirs) == facts(ours), (facts(pair[0]), operation)
        copies = theirs.untyped_storage().data_ptr() != pair[0].untyped_storage().data_ptr()
        assert not copies or operation == COPYING
        if theirs.dim() > MOST_DIMS or depth == LONGEST:
            return None
        made.append([theirs, ours])
        return place(theirs)

    waiting, depth = [[eval(f"xp.{BASE}", {"xp": xp}) for xp in (torch, rushlight)]], 0
    place(waiting[0][0])
    while waiting:
        made: list = []
        for pair in waiting:
            entry = tensors[place(pair[0])]
            if "next" not in entry:
                entry["next"] = [lead(pair, operation, depth, made) for operation in OPERATIONS]
                entry["copies"] = not_a_view(pair[0])
        waiting, depth = made, depth + 1
    storages = {str(tensor["storage"]): tensor["storage"] for tensor in tensors}
    for tensor in tensors:
        tensor["storage"] = [*storages].index(str(tensor["storage"]))
    return {
        "base": BASE,
        "operations": OPERATIONS,
        "names": NAMES,
        "copying": COPYING,
        **SAID,
        "errors": [*errors],
        "storages": [*storages.values()],
        "tensors": tensors,
    }


def not_a_view(x: torch.Tensor) -> bool:
    """Whether `x.reshape(-1)` copies."""
    return bool(x.numel()) and x.reshape(-1).untyped_storage().data_ptr() != x.untyped_storage().data_ptr()
