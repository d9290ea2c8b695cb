"""What a student may ask torch: a case of a check, in a short form, and the cases that `ask` lists.

In the short form of a case, values that the program has defaults for are left out, and of a tensor all but its sizes.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..language import phrase, speak
from . import practice
from .observe import DTYPE_NAMES

if TYPE_CHECKING:
    from .check import Check

LONGEST_LINE = 100  # characters of a call of `ask`
FEWEST, MOST = 3, 10  # cases that `ask` lists where a check names none
FIELDS = ("sizes", "strides", "offset", "dtype", "storage")  # of a tensor in a case
EXAMPLE = '{"tensor": {"sizes": [2, 3], "strides": [1, 2]}}'
PLAIN = (bool, int, float, str, type(None))


# A case of a student -------------------------------------------------------------------------------------------------


def complete(check: Check, case: dict[str, Any]) -> dict[str, Any]:
    """A case in its full form. Raises TypeError or ValueError, which say what is wrong with a student's case."""
    defaults = _defaults(check)
    names = [*edges[0]] if (edges := edges_of(check)) else [*case]
    needed = [name for name in names if name not in defaults]
    if not {*needed} <= case.keys() <= {*names}:
        values, rest = ", ".join(needed), ", ".join(name for name in names if name in defaults)
        said = phrase(f"a case of {check.name} has a value for each of: {values}")
        raise TypeError(phrase(f"{said}; and it may have: {rest}") if rest else said)
    whole = {name: _plain(check, case[name]) if name in case else defaults[name] for name in names}
    if check.refuses is not None and (reason := check.refuses(whole)):
        raise ValueError(speak(reason))
    return whole


def _defaults(check: Check) -> dict[str, Any]:
    """The values that a case need not have: the defaults of the program's parameters, as data."""
    parameters = inspect.signature(check.program).parameters.values()
    given = {one.name: one.default for one in parameters if one.default is not one.empty}
    return {name: [*value] if isinstance(value, tuple) else value for name, value in given.items()}


def _plain(check: Check, value: Any) -> Any:
    """A value of a case as plain data, with whole descriptions of tensors."""
    match value:
        case {"tensor": spec, **rest} if not rest:
            return {"tensor": _tensor(check, spec)}
        case dict():
            return {str(name): _plain(check, part) for name, part in value.items()}
        case list() | tuple():
            return [_plain(check, part) for part in value]
        case _ if isinstance(value, PLAIN):
            return value
    kind = type(value).__name__
    raise TypeError(phrase(f"a case is plain data, and has no {kind}. A tensor is {EXAMPLE}"))


def _tensor(check: Check, spec: Any) -> dict[str, Any]:
    """The whole description of a tensor that is perhaps given by its sizes alone."""
    if not isinstance(spec, dict) or not {"sizes"} <= spec.keys() <= {*FIELDS}:
        fields = ", ".join(FIELDS[1:])
        raise TypeError(phrase(f"a tensor is {EXAMPLE}: it has sizes, and may have {fields}"))
    sizes, strides = [*spec["sizes"]], spec.get("strides")
    strides = _contiguous(sizes) if strides is None else [*strides]
    offset, dtype = spec.get("offset", 0), spec.get("dtype") or _usual_dtype(check)
    if len(sizes) != len(strides):
        raise ValueError(phrase(f"a tensor has a stride for each size: {sizes} and {strides} do not fit"))
    if not all(type(number) is int and number >= 0 for number in (*sizes, *strides, offset)):
        raise ValueError(phrase("the sizes, the strides and the offset of a tensor are whole numbers from 0"))
    if dtype not in DTYPE_NAMES:
        raise ValueError(phrase(f"there is no dtype {dtype!r}: write its name, such as 'float32'"))
    least = _elements(sizes, strides, offset)
    if (storage := spec.get("storage", least)) < least:
        raise ValueError(phrase(f"a storage of {storage} elements is too small for this tensor: it needs {least}"))
    return {"dtype": dtype, "storage": storage, "sizes": sizes, "strides": strides, "offset": offset}


def _contiguous(sizes: list[int]) -> list[int]:
    strides, step = list[int](), 1
    for size in reversed(sizes):
        strides.insert(0, step)
        step *= max(size, 1)
    return strides


def _elements(sizes: list[int], strides: list[int], offset: int) -> int:
    """How many elements a storage has at least."""
    reach = 0 if 0 in sizes else 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides))
    return offset + reach


def _usual_dtype(check: Check) -> str:
    """The dtype of the first tensor among the cases of a check."""
    return next((spec["dtype"] for case in edges_of(check) for spec in _tensors(case)), "float32")


def _tensors(value: Any) -> Iterator[dict]:
    match value:
        case {"tensor": dict(spec), **rest} if not rest:
            yield spec
        case dict() | list():
            for part in value.values() if isinstance(value, dict) else value:
                yield from _tensors(part)


# Calls ---------------------------------------------------------------------------------------------------------------


def call_of_ask(check: Check, case: dict) -> str:
    """The call that prints torch's answer for a case, in the short form."""
    defaults = _defaults(check)
    short = {name: _short(check, value) for name, value in case.items() if value != defaults.get(name, ...)}
    parts = [f'"{check.name}"', *(f"{name}={_code(value)}" for name, value in short.items())]
    line = f"ask({', '.join(parts)})"
    return line if len(line) <= LONGEST_LINE else "\n".join(["ask(", *(f"    {part}," for part in parts), ")"])


def _short(check: Check, value: Any) -> Any:
    match value:
        case {"tensor": dict(spec), **rest} if not rest:
            usual = _tensor(check, {"sizes": spec["sizes"]})
            kept = {"sizes": spec["sizes"]} | {name: spec[name] for name in FIELDS[1:4] if spec[name] != usual[name]}
            if len({spec["dtype"] for case in edges_of(check) for spec in _tensors(case)}) > 1:
                kept["dtype"] = spec["dtype"]  # where it matters
            if _tensor(check, kept) != spec:
                kept["storage"] = spec["storage"]
            return {"tensor": kept}
        case dict():
            return {name: _short(check, part) for name, part in value.items()}
        case list():
            return [_short(check, part) for part in value]
        case _:
            return value


def _code(value: Any) -> str:
    """A value of a case as code, with the quotes of the course."""
    match value:
        case dict():
            return "{" + ", ".join(f'"{name}": {_code(part)}' for name, part in value.items()) + "}"
        case list():
            return f"[{', '.join(map(_code, value))}]"
        case str() if '"' not in value and value.isprintable() and "\\" not in value:
            return f'"{value}"'
        case _:
            return repr(value)


# The cases that are listed -------------------------------------------------------------------------------------------


def listed(check: Check) -> list[dict]:
    """The cases that a check names, or else its first edges, and those after them in which a word occurs for the first time."""
    known, varied = set[str](), list[dict]()
    for case in (edges := edges_of(check)):
        words = {*_words(case)}
        if len(varied) < FEWEST or words - known:
            varied.append(case)
            known |= words
    return [case for case in check.asked or () if case in edges] or varied[:MOST]


def edges_of(check: Check) -> list[dict]:
    """The edges of a check, of which torch may make some. Where it is not here, those that are recorded; raises NotRecorded if none
    are."""
    recorded = practice.source()
    return recorded.edges(check) if recorded else check.edges


def _words(value: Any) -> Iterator[str]:
    """The texts in a case."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _words(part)
