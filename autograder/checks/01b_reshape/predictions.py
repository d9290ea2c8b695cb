"""Predictions: the tensor at the end of a chain of views and copies."""

from __future__ import annotations

from rushlight.course import draws

from ...engine.check import program
from ..cases import PARTS, predicting

for part in PARTS:

    @program(f"course.predictions.view_or_copy{part}", **predicting("view_or_copy", part))
    def view_or_copy(rl, number=0):
        return rl.course.predictions.view_or_copy()


@view_or_copy.oracle
def tensor_at_the_end(torch, number=0):
    names, raises = {"xp": torch}, False
    for line in draws.program("view_or_copy", number).splitlines():
        try:
            exec(line, names)
        except RuntimeError:
            raises = True
            break
        y = names[line[0]]
    shares = y.untyped_storage().data_ptr() == names["x"].untyped_storage().data_ptr()
    word = "raises" if raises else "view" if shares else "copy"
    return [[*y.shape], [*y.stride()], y.storage_offset(), word]
