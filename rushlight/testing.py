"""Whether tensors and numbers are close, and a text has what it should: `assert_close`, `FileCheck`.

In PyTorch: `torch/testing/_comparison.py`, `torch/csrc/jit/testing/file_check.cpp`. Left out: sparse and quantized tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Number
from typing import Any

import numpy as np

from rushlight.aten.generated import functions
from rushlight.aten.native.creation import as_tensor
from rushlight.aten.strided import Tensor
from rushlight.c10.dtypes import bfloat16, bool_, float16, float32, float64, int64, promote_any

__all__ = ["FileCheck", "assert_close"]

TOLERANCES = {
    float16: (1e-3, 1e-5),
    bfloat16: (1.6e-2, 1e-5),
    float32: (1.3e-6, 1e-5),
    float64: (1e-7, 1e-7),
}  # rtol, atol


def assert_close(
    actual: Any, expected: Any, *, allow_subclasses: bool = True, rtol: float | None = None, atol: float | None = None,
    equal_nan: bool = False, check_device: bool = True, check_dtype: bool = True, check_layout: bool = True,
    check_stride: bool = False, msg: str | Callable[[str], str] | None = None,
) -> None:  # fmt: skip
    """Raise AssertionError unless `|actual - expected| <= atol + rtol * |expected|` for all elements, at any depth of sequences
    and mappings. Sizes, and unless `check_dtype` is false dtypes, must be equal too.

    Source: `torch/testing/_comparison.py`, `assert_close`.
    """
    if (rtol is None) != (atol is None):
        raise ValueError("rtol and atol must both be specified or both be unspecified")
    checked = ["shape", *["dtype"] * check_dtype, *["stride()"] * check_stride]
    if problem := find_problem(actual, expected, checked, rtol, atol, equal_nan):
        raise AssertionError(msg(problem) if callable(msg) else msg or problem)


def find_problem(
    actual: Any, expected: Any, checked: list[str], rtol: float | None, atol: float | None, equal_nan: bool
) -> str:
    """What is not close, in PyTorch's words. Empty if all is."""
    for kind in (Mapping, Sequence):
        if isinstance(actual, kind) and isinstance(expected, kind):
            keys, others = (list(one) if kind is Mapping else list(range(len(one))) for one in (actual, expected))
            if {*keys} != {*others}:
                return f"The length of the {kind.__name__.lower()}s mismatch: {len(keys)} != {len(others)}"
            for key in keys:
                if problem := find_problem(actual[key], expected[key], checked, rtol, atol, equal_nan):
                    return f"{problem}\n\nThe failure occurred for item [{key!r}]"
            return ""
    is_number = isinstance(actual, Number) and isinstance(expected, Number)
    if not is_number and not all(isinstance(one, Tensor | np.ndarray) for one in (actual, expected)):
        kinds = f"{type(actual)} and {type(expected)}"
        raise TypeError(f"No comparison pair was able to handle inputs of type {kinds}.")
    double = float64 if is_number and isinstance(expected + actual, float) else None
    a, b = as_tensor(actual, dtype=double), as_tensor(expected, dtype=double)
    for name in checked:
        left, right = (one.stride() if name == "stride()" else getattr(one, name) for one in (a, b))
        if left != right:
            return f"The values for attribute '{name}' do not match: {left} != {right}."
    if rtol is None or atol is None:
        pairs = [TOLERANCES.get(one.dtype, (0.0, 0.0)) for one in (a, b)]
        rtol, atol = (max(values) for values in zip(*pairs))
    a, b = (one.detach().to(promote_any(a.dtype, b.dtype)) for one in (a, b))
    close = functions.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)
    return "" if close.all() else _difference(a, b, close, rtol, atol)


def _difference(a: Tensor, b: Tensor, close: Tensor, rtol: float, atol: float) -> str:
    are_exact, is_number = rtol == atol == 0, close.dim() == 0
    lines = [f"{'Scalars' if is_number else 'Tensor-likes'} are not {'equal' if are_exact else 'close'}!", ""]
    if is_number:
        lines.append(f"Expected {b.item()} but got {a.item()}.")
    else:
        count = int(close.logical_not().sum())
        lines.append(f"Mismatched elements: {count} / {close.numel()} ({count / close.numel():.1%})")
    a, b = (one.to(int64) if one.dtype is bool_ else one for one in (a, b))
    apart = (a - b).abs()
    for kind, values, allowed in (("Absolute", apart, atol), ("Relative", apart / b.abs(), rtol)):
        largest = values.masked_fill(close, 0).max().item()
        line = f"{kind} difference: {largest}"
        if not is_number:
            index = np.unravel_index(int(values.masked_fill(close, 0).argmax()), close.shape)
            line = f"Greatest {line[0].lower()}{line[1:]} at index {tuple(map(int, index))}"
        lines.append(line if are_exact else f"{line} (up to {allowed} allowed)")
    return "\n".join(lines)


class FileCheck:
    """Checks that a text has other texts in an order.

    >>> FileCheck().check("mul").check_not("sub").check("add").check_count("x", 2, exactly=True).run("mul add x x")

    Source: `torch/csrc/jit/testing/file_check.cpp`.
    """

    def __init__(self) -> None:
        self.steps: list[tuple[str, int, bool]] = []  # a text, how often it is there, and whether not more often

    def check(self, test_string: str) -> FileCheck:
        return self.check_count(test_string, 1)

    def check_count(self, test_string: str, count: int, exactly: bool = False) -> FileCheck:
        self.steps.append((test_string, count, exactly))
        return self

    def check_not(self, test_string: str) -> FileCheck:
        """The text is not between the texts before and after it."""
        return self.check_count(test_string, 0, exactly=True)

    def run(self, checks_file: str) -> None:
        """RuntimeError unless the text passes all checks."""
        position, absent = 0, list[str]()
        for wanted, count, exactly in [*self.steps, ("", 1, False)]:
            start = position
            if not count:
                absent.append(wanted)
                continue
            for _ in range(count):
                found = checks_file.find(wanted, position) if wanted else len(checks_file)
                if found < 0:
                    raise RuntimeError(
                        f'Expected to find "{wanted}" but did not find it\nSearched string:\n{checks_file}'
                    )
                between, position = checks_file[position:found], found + len(wanted)
                refused = next((text for text in absent if text in between), None)
                if refused is not None:
                    raise RuntimeError(
                        f'Expected to not find "{refused}" but found it\nSearched string:\n{checks_file}'
                    )
                absent = []
            if exactly and checks_file.count(wanted, start) != count:
                raise RuntimeError(f'Expected to not find "{wanted}" but found it\nSearched string:\n{checks_file}')
