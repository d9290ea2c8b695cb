"""The text of `print(x)`, identical to that of PyTorch's `torch/_tensor_str.py`.

All elements have one format: whole floats as `1.`, others with four decimals, and all in scientific notation if
large and small numbers are mixed. Rows are broken at 80 columns. Of more than 1000 elements only three at each
end of a dimension are shown. Left out: `set_printoptions`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from rushlight.aten.strided import Tensor, add_attributes
from rushlight.c10.dtypes import Scalar, bool_, float32, int64

PRECISION, THRESHOLD, EDGEITEMS, LINEWIDTH = 4, 1000, 3, 80
PREFIX = "tensor("


def tensor_repr(self: Tensor) -> str:
    is_plain = type(self).__module__.startswith(("rushlight.", "torch"))  # which course/as_torch.py names so
    prefix = PREFIX if is_plain else f"{type(self).__name__}("
    text = prefix + ("..." if self.is_meta else "[]")
    if self.numel() and not self.is_meta:
        shown = _summarise(self.tolist()) if self.numel() > THRESHOLD else self.tolist()
        text = prefix + _block(shown, self.dim(), len(prefix), *_number_format(list(_numbers(shown))))
    column = len(text) - text.rfind("\n") + 1
    for suffix in _suffixes(self):
        if column + len(suffix) + 2 > LINEWIDTH:
            text, column = f"{text},\n{' ' * len(prefix)}{suffix}", len(prefix) + len(suffix)
        else:
            text, column = f"{text}, {suffix}", column + len(suffix) + 2
    return text + ")"


def _suffixes(self: Tensor) -> Iterator[str]:
    """Information that the elements do not show: the sizes if there are no elements, and a dtype other than Python's."""
    if self.is_meta:
        yield "device='meta'"
    if self.is_meta or self.numel() == 0 and self.dim() != 1:
        yield f"size={tuple(self.shape)}"
    if self.dtype not in ((float32, int64, bool_) if self.numel() and not self.is_meta else (float32,)):
        yield f"dtype={self.dtype}"
    try:
        grad_fn = self.grad_fn
    except RuntimeError:  # a view whose history cannot be made again
        yield "grad_fn=<Invalid>"
        return
    if grad_fn is not None:
        yield f"grad_fn=<{grad_fn.name()}>"
    elif self.requires_grad:
        yield "requires_grad=True"


def _summarise(nested: list | Scalar) -> list | Scalar:
    """Nested lists with `...` instead of all but the first and last three items."""
    if not isinstance(nested, list):
        return nested
    if len(nested) > 2 * EDGEITEMS:
        nested = [*nested[:EDGEITEMS], ..., *nested[-EDGEITEMS:]]
    return [_summarise(item) for item in nested]


def _numbers(nested: list | Scalar) -> Iterator[Scalar]:
    for item in nested if isinstance(nested, list) else [nested]:
        if isinstance(item, list):
            yield from _numbers(item)
        elif item is not ...:
            yield item


def _number_format(numbers: list[Scalar]) -> tuple[str, int]:
    """The format and the width in which all these numbers are shown."""
    if not isinstance(numbers[0], float):
        return "", max(len(str(number)) for number in numbers)
    finite = [number for number in numbers if number and math.isfinite(number)]
    if not finite:
        return ".0f", 1
    largest, smallest = max(map(abs, finite)), min(map(abs, finite))
    if largest / smallest > 1000 or largest > 1e8 or smallest < 1e-4:
        spec = f".{PRECISION}e"
    else:
        spec = ".0f" if all(number == math.ceil(number) for number in finite) else f".{PRECISION}f"
    return spec, max(len(_format(number, spec, 0)) for number in finite)


def _format(number: Scalar, spec: str, width: int) -> str:
    point = "." if spec == ".0f" and math.isfinite(number) else ""
    return f"{number:{spec}}{point}".rjust(width)


def _block(nested: Any, dim: int, indent: int, spec: str, width: int) -> str:
    """The elements of a tensor with `dim` dimensions, a number or nested lists. The first bracket is in column `indent`."""
    if dim == 0:
        return _format(nested, spec, width)
    if dim == 1:
        items = [" ..." if item is ... else _format(item, spec, width) for item in nested]
        per_line = max(1, (LINEWIDTH - indent) // (width + 2))
        blocks = [", ".join(items[i : i + per_line]) for i in range(0, len(items), per_line)]
    else:
        blocks = ["..." if item is ... else _block(item, dim - 1, indent + 1, spec, width) for item in nested]
    return "[" + ("," + "\n" * max(dim - 1, 1) + " " * (indent + 1)).join(blocks) + "]"


add_attributes(__repr__=tensor_repr)
