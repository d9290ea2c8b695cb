"""Values as somebody writes them in an exam: of a case, and of a result.

`[2, 3]`, `None`, `"add"`, `torch.float32`, and `tensor([2, 3], [1, 2], offset=1, dtype="float32")` for the tensor of these sizes
and strides over a storage with 0, 1, 2 ... A result is written in the same way, but a tensor as the list of its sizes, strides
and offset.
"""

from __future__ import annotations

import ast
import math
import re
from typing import Any

from ..checks.cases import DTYPES, tensor
from ..engine.observe import Tree, is_error
from ..language import phrase

MOST_TEXT = 90  # characters of a value on the paper
MOST_ITEMS, MOST_ELEMENTS, MOST_LETTERS, DEEPEST = 64, 4096, 2000, 6
LARGEST = 1 << 33  # of a number that somebody writes: beyond the sizes that a storage may have, no loop counts so far

TENSOR = phrase(
    "A tensor is written `tensor(sizes, strides, offset, dtype)`, such as `tensor([2, 3])` or `tensor([2, 3], [1, 2], offset=1, "
    'dtype="float32")`. Without strides it is contiguous, and without a dtype int64. In its storage are the numbers 0, 1, 2 and so '
    "on, as many as it needs, and `slack` more."
)


class NotAsked(ValueError):
    """Raised for a value that nobody can write down, and for a text that is no value. The message is the reason, in one line."""


# Writing -------------------------------------------------------------------------------------------------------------


def as_text(value: Tree) -> str:
    """A value of a case, or of a `plain` result. Raises NotAsked for one that is no matter for paper."""
    match value:
        case {"tensor": dict(spec), **rest} if not rest and {*spec} == {
            "dtype", "storage", "sizes", "strides", "offset"
        }:  # fmt: skip
            return _tensor_text(spec)
        case {"dtype": str(name), **rest} if not rest:
            return f"torch.{name}"
        case dict():
            return f"{{{', '.join(f'{key!r}: {as_text(item)}' for key, item in value.items())}}}"
        case list() | tuple():
            return f"[{', '.join(map(as_text, value))}]"
        case str() if "\n" in value or "\\" in value:
            raise NotAsked("a text of several lines")
        case float() if not math.isfinite(value) or len(repr(value)) > 7:
            raise NotAsked("a number with many digits")
        case None | bool() | int() | float() | str():
            return repr(value)
    raise NotAsked("something else than a value")


def _tensor_text(spec: dict) -> str:
    sizes, strides, offset, dtype = spec["sizes"], spec["strides"], spec["offset"], spec["dtype"]
    usual = tensor(sizes, None, offset, dtype)["tensor"]
    whole = tensor(sizes, strides, offset, dtype)["tensor"]
    parts = [str(sizes)]
    parts += [str(strides)] if strides != usual["strides"] else []
    parts += [f"offset={offset}"] * bool(offset) + [f'dtype="{dtype}"'] * (dtype != "int64")
    slack = spec["storage"] - whole["storage"]
    return f"tensor({', '.join([*parts, *[f'slack={slack}'] * bool(slack)])})"


def plain(tree: Tree) -> Tree:
    """A result as somebody writes it: a tensor is a list of its sizes, strides and offset. Raises NotAsked."""
    match tree:
        case {"tensor": _, **rest} if not rest:
            raise NotAsked("a description")
        case {"dict": list(pairs), **rest} if not rest:
            return {key: plain(item) for key, item in pairs}
        case dict() if {"sizes", "strides", "offset"} <= tree.keys():
            return [[*tree["sizes"]], [*tree["strides"]], tree["offset"]]
        case dict():
            raise NotAsked("something else than a value")
        case list():
            return [plain(item) for item in tree]
    return tree


# Reading -------------------------------------------------------------------------------------------------------------


def read_value(text: str, like: Tree = None) -> Tree:
    """The value that a text is. Raises NotAsked. Nothing in the text runs."""
    if len(text) > MOST_LETTERS:
        raise NotAsked(f"longer than {MOST_LETTERS} characters")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise NotAsked(f"not a value of Python: {text.strip()[:40]!r}") from None
    return _read(tree, 0, like)


def _read(node: ast.expr, depth: int, like: Tree = None) -> Tree:
    if depth > DEEPEST:
        raise NotAsked("nested too deeply")
    match node:
        case ast.Constant(value=None | bool() | str() as value):
            return value
        case ast.Constant(value=int() | float() as value):
            return _number(value)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return _number(-value)
        case ast.List(elts=items) | ast.Tuple(elts=items) if len(items) <= MOST_ITEMS:
            return [_read(item, depth + 1) for item in items]
        case ast.Dict(keys=keys, values=values) if len(keys) <= MOST_ITEMS and None not in keys:
            names = [_read(key, depth + 1) for key in keys if key is not None]
            return {str(name): _read(value, depth + 1) for name, value in zip(names, values)}
        case ast.Attribute(value=ast.Name(id="torch"), attr=name) if name.replace("_", "").isalnum():
            return {"dtype": name}
        case ast.Call(func=ast.Name(id="tensor") | ast.Attribute(attr="tensor"), args=args, keywords=named):
            return _read_tensor(args, named, depth)
    raise NotAsked(f"not a value: {ast.unparse(node)[:40]!r}")


def _number(value: float) -> float:
    if isinstance(value, float) and not math.isfinite(value) or abs(value) > LARGEST:
        raise NotAsked(f"a number larger than {LARGEST}")
    return value


def _read_tensor(args: list[ast.expr], named: list[ast.keyword], depth: int) -> Tree:
    given = dict(zip(("sizes", "strides", "offset", "dtype", "slack"), args))
    for keyword in named:
        if keyword.arg not in ("sizes", "strides", "offset", "dtype", "slack") or keyword.arg in given:
            raise NotAsked(f"a tensor has no {keyword.arg!r}, or has it twice")
        given[keyword.arg] = keyword.value
    values = {name: _read(value, depth + 1) for name, value in given.items()}
    sizes: Any = values.get("sizes")
    strides: Any = values.get("strides")
    offset: Any = values.get("offset", 0)
    dtype: Any = values.get("dtype", "int64")
    slack: Any = values.get("slack", 0)
    dtype = dtype.get("dtype") if isinstance(dtype, dict) else dtype
    if not _are_counts(sizes) or not (strides is None or _are_counts(strides) and len(strides) == len(sizes)):
        raise NotAsked("the sizes and strides of a tensor are lists of as many numbers, from 0")
    if not _are_counts([offset, slack]) or dtype not in (*DTYPES, "bfloat16", "int8", "int16"):
        raise NotAsked("the offset of a tensor is a number, and its dtype a text such as 'int64'")
    made = tensor(sizes, strides, offset, dtype, slack)
    if made["tensor"]["storage"] > MOST_ELEMENTS or math.prod(sizes) > MOST_ELEMENTS:
        raise NotAsked(f"a tensor of more than {MOST_ELEMENTS} elements")
    return made


def _are_counts(values: Tree) -> bool:
    return isinstance(values, list) and all(type(value) is int and value >= 0 for value in values)


_ERROR = re.compile(r"\s*(?:raises?\s+)?(?:an?\s+)?([A-Z]\w*(?:Error|Exception|Interrupt|Warning))\b", re.IGNORECASE)


def is_answer(text: str, right: Tree) -> bool:
    """Whether a text is this result. An exception is written as the name of its class."""
    if is_error(right):
        named = _ERROR.match(text)
        return named is not None and named[1].lower() in {
            name.lower() for name in (*right["error"], right["type"]) if name not in ("Exception", "BaseException")
        }
    try:
        return _same(read_value(text), plain(right))
    except NotAsked:  # a text is often written without its quotes
        return isinstance(right, str) and text.strip().strip("'\"") == right


def _same(one: Tree, other: Tree) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in other)
    if type(one) is bool or type(other) is bool:
        return one is other
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return math.isclose(one, other, rel_tol=1e-3, abs_tol=1e-6) if isinstance(other, float) else one == other
    return one == other
