"""Diagnoses of lab 13a: tensors and dispatch.

For each patient there are three answers: a small program that shows the fault, the name of the function at fault, and a sound
function in its place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def narrow_1(xp: Any) -> Any:
    """A program that shows the fault of patient 13a.1.

    `xp` is the patient's framework, the sound one, or torch. The result differs on the patient, and is the same on the other two.

    The program has at most 4 statements and calls at most 5 operators. It uses `xp`, its own variables, and no import.

    Returns:
        a tensor, a number, a string, or a list or tuple of these. An exception is a result too.
    """
    table = xp.arange(8).reshape(2, 4)
    table[:, ::2].reshape(-1).zero_()
    return table


def name_1() -> list[str]:
    """The function at fault in patient 13a.1.

    Returns:
        a list with one name, or with two if your first guess was wrong: the first guess stays first. A name is the path of the
        function below `rl`, such as `"strided.transpose"`.
    """
    return ["strided.compute_stride"]


def mend_1() -> tuple[str, Callable]:
    """A sound function for patient 13a.1.

    Define the function inside this one. It sees the names of the module in which it is planted. Imports stand in its body.

    Returns:
        two values: the name of the function at fault, as in `name_1`, and your function with the contract of that one.
    """

    def compute_stride(old_sizes, old_strides, new_sizes):
        if 0 in old_sizes:
            return tuple(old_strides) if list(old_sizes) == list(new_sizes) else contiguous_strides(new_sizes)  # noqa: F821
        chunks = [] if old_sizes else [(1, 1)]
        for size, stride in zip(reversed(old_sizes), reversed(old_strides)):
            if chunks and (size == 1 or stride == chunks[-1][0] * chunks[-1][1]):
                chunks[-1] = (chunks[-1][0] * size, chunks[-1][1])
            else:
                chunks.append((size, stride))
        new_strides, remaining = [], list(new_sizes)
        for numel, stride in chunks:
            filled = 1
            while remaining and (filled < numel or remaining[-1] == 1):
                new_strides.append(filled * stride)
                filled *= remaining.pop()
            if filled != numel:
                return None
        return tuple(reversed(new_strides))

    return "strided.compute_stride", compute_stride
