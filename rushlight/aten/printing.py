"""The text of `print(x)`, identical to that of PyTorch's `torch/_tensor_str.py`.

All elements have one format: whole floats as `1.`, others with four decimals, and all in scientific notation if
large and small numbers are mixed. Rows are broken at 80 columns. Of more than 1000 elements only three at each
end of a dimension are shown. `set_printoptions` changes these numbers.
"""

import math
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from rushlight.aten.strided import NO_DATA, Tensor, add_attributes
from rushlight.c10.dtypes import Scalar, bool_, get_default_dtype, int64

__all__ = ["set_printoptions"]

PREFIX = "tensor("
OPTIONS = ("precision", "threshold", "edgeitems", "linewidth")
PROFILES = {"default": (4, 1000, 3, 80), "short": (2, 1000, 2, 80), "full": (4, math.inf, 3, 80)}
PRINT_OPTS: Any = SimpleNamespace(**dict(zip(OPTIONS, PROFILES["default"])), sci_mode=None)


def set_printoptions(
    precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None
) -> None:
    """Set the digits after the point, the number of elements from which the middle is left out, how many are shown at each end, and
    the columns. `profile` is "default", "short" or "full". Without `sci_mode` the numbers decide about scientific notation.
    Source: `torch/_tensor_str.py`, `set_printoptions`."""
    given = zip(OPTIONS, (precision, threshold, edgeitems, linewidth))
    options = dict(zip(OPTIONS, PROFILES.get(profile, ())))
    options |= {name: value for name, value in given if value is not None}
    PRINT_OPTS.__dict__.update(options, sci_mode=sci_mode)


def tensor_repr(self: Tensor, *, tensor_contents: str | None = None) -> str:
    """The text of `repr(x)`: the elements, summarised above `PRINT_OPTS.threshold`, then the suffixes that differ from
    the defaults, such as `dtype=` and `grad_fn=`. `tensor_contents` replaces the text of the elements.
    Source: `torch/_tensor_str.py`, `_str_intern`."""
    is_plain = type(self).__module__.startswith(("rushlight.", "torch"))  # which course/as_torch.py names so
    prefix = PREFIX if is_plain else f"{type(self).__name__}("
    has_data = not self._key_set & NO_DATA
    text = prefix + (tensor_contents or ("[]" if has_data else "..."))
    if self.numel() and has_data and tensor_contents is None:
        shown = _summarise(self.tolist()) if self.numel() > PRINT_OPTS.threshold else self.tolist()
        text = prefix + _block(shown, self.dim(), len(prefix), *_number_format(list(_numbers(shown))))
    column = len(text) - text.rfind("\n") + 1
    for suffix in _suffixes(self):
        if column + len(suffix) + 2 > PRINT_OPTS.linewidth:
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
    if self.dtype not in (get_default_dtype(), *((int64, bool_) if self.numel() and not self.is_meta else ())):
        yield f"dtype={self.dtype}"
    try:
        grad_fn = self.grad_fn
    except RuntimeError:  # a view whose history cannot be made again
        yield "grad_fn=<Invalid>"
        return
    if grad_fn is not None:
        yield f"grad_fn=<{grad_fn.name().rpartition('::')[2]}>"
    elif self.requires_grad:
        yield "requires_grad=True"


def _summarise(nested: list | Scalar) -> list | Scalar:
    """Nested lists with `...` instead of all but the first and last items."""
    if not isinstance(nested, list):
        return nested
    edge = PRINT_OPTS.edgeitems
    if len(nested) > 2 * edge:
        nested = [*nested[:edge], ..., *nested[len(nested) - edge :]]
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
    mixed = largest / smallest > 1000 or largest > 1e8 or smallest < 1e-4
    if mixed if PRINT_OPTS.sci_mode is None else PRINT_OPTS.sci_mode:
        spec = f".{PRINT_OPTS.precision}e"
    else:
        spec = ".0f" if all(number == math.ceil(number) for number in finite) else f".{PRINT_OPTS.precision}f"
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
        per_line = max(1, (PRINT_OPTS.linewidth - indent) // (width + 2))
        blocks = [", ".join(items[i : i + per_line]) for i in range(0, len(items), per_line)]
    else:
        blocks = ["..." if item is ... else _block(item, dim - 1, indent + 1, spec, width) for item in nested]
    return "[" + ("," + "\n" * max(dim - 1, 1) + " " * (indent + 1)).join(blocks) + "]"


add_attributes(__repr__=tensor_repr)
