"""Predictions: dtype, sizes and strides of the results of elementwise operators, or what raises an error."""

from __future__ import annotations

import warnings

from rushlight.course import draws

from ...engine.check import program
from ..cases import PARTS, predicting

_REFUSED = {  # a part of torch's message, and what it is about
    "can't be cast": "dtype",
    "doesn't match the broadcast shape": "sizes",
    "must match the size of tensor": "sizes",
    "single memory location": "memory",
}

for part in PARTS:

    @program(f"course.predictions.metadata_of_results{part}", **predicting("metadata_of_results", part))
    def metadata_of_results(rl, number=0):
        return rl.course.predictions.metadata_of_results()


@metadata_of_results.oracle
def metadata_of_programs(torch, number=0):
    names = {"xp": torch}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # `out` is resized
        try:
            exec(draws.program("metadata_of_results", number), names)
        except RuntimeError as error:
            (refused,) = {word for part, word in _REFUSED.items() if part in str(error)}
            return ["raises", refused]
    y = names["y"]
    return [str(y.dtype).removeprefix("torch."), [*y.shape], [*y.stride()]]
