"""Values as somebody writes them in an exam: of a case, and of a result.

`[2, 3]`, `None`, `"add"`, `torch.float32`, and `tensor([2, 3], [1, 2], offset=1, dtype="float32")` for the tensor of these sizes
and strides over a storage with 0, 1, 2 ... A result is written in the same way, but a tensor as the list of its sizes, strides
and offset.
"""

from __future__ import annotations

import ast
import math
import re
import unicodedata
from typing import Any

from ..checks.cases import DTYPES, tensor
from ..engine.observe import Tree, is_error
from ..language import phrase
from ..text import printable

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


def read_value(text: str, like: Tree = None, bare: bool = False) -> Tree:
    """The value that a text is, where one like another is wanted. Raises NotAsked. Nothing in the text runs. If it may be bare, a
    name stands for a text, which is often written without quotes."""
    if len(text) > MOST_LETTERS:
        raise NotAsked(f"longer than {MOST_LETTERS} characters")
    said = tidied(text)
    try:
        return _like(_read(_parsed(said), 0, bare), like)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if isinstance(error, NotAsked):
            raise
        raise NotAsked(f"not a value of Python: {printable(said[:40])!r}") from None


def _parsed(text: str) -> ast.expr:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        if not re.match(r"[A-Za-z_]\w*\s*=", text):  # `sizes=[2], strides=[1]`
            raise
        return ast.parse(f"dict({text})", mode="eval").body


_TYPED = str.maketrans("\u2212\u2010\u2011\u2012\u2013\u2014\u201c\u201d\u201e\u2018\u2019\u00b4", "------\"\"\"'''")


def tidied(text: str) -> str:
    """A text without what a phone, a text program or a sentence adds: other minus signs and quotes, wide digits, a full stop."""
    said = unicodedata.normalize("NFKC", text).translate(_TYPED).strip("\ufeff\u200b \t\r\n")
    said = re.sub(r"^(?:(?:it )?(?:gives|returns)\b|->|=>?|:)\s*", "", said, flags=re.IGNORECASE)
    if len(said) > 2 and said[0] == said[-1] == "`":
        said = said.strip("`").strip()
    return said[:-1].rstrip() if re.search(r"[^.\d][.;]$", said) else said


def _read(node: ast.expr, depth: int, bare: bool = False) -> Tree:
    if depth > DEEPEST:
        raise NotAsked("nested too deeply")
    match node:
        case ast.Constant(value=None | bool() | str() as value):
            return value
        case ast.Constant(value=int() | float() as value):
            return _number(value)
        case ast.Name(id=name) if name.lower() in _NAMED:
            return _NAMED[name.lower()]
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as op, operand=operand):
            value = _read(operand, depth + 1)
            if isinstance(value, int | float) and not isinstance(value, bool):
                return -value if isinstance(op, ast.USub) else value
        case ast.List(elts=items) | ast.Tuple(elts=items) if len(items) <= MOST_ITEMS:
            return [_read(item, depth + 1, bare) for item in items]
        case ast.Call(func=ast.Name(id="tuple" | "list" | "Size") | ast.Attribute(attr="Size"), args=args, keywords=[]):
            value = _read(args[0], depth + 1, bare) if len(args) == 1 else []
            if isinstance(value, list) and len(args) < 2:
                return value
        case ast.Dict(keys=keys, values=values) if len(keys) <= MOST_ITEMS and None not in keys:
            names = [str(_read(key, depth + 1, bare)) for key in keys if key is not None]
            if len({*names}) == len(names):
                return {name: _read(value, depth + 1, bare) for name, value in zip(names, values)}
        case ast.Call(func=ast.Name(id="dict"), args=[], keywords=named) if None not in {
            each.arg for each in named
        } and len({each.arg for each in named}) == len(named):
            return {str(each.arg): _read(each.value, depth + 1, bare) for each in named}
        case ast.Attribute(value=ast.Name(id="torch"), attr=name) if name in _DTYPES:
            return {"dtype": _DTYPES[name]}
        case ast.Call(func=ast.Name(id="tensor") | ast.Attribute(attr="tensor"), args=args, keywords=named):
            return _read_tensor(args, named, depth)
        case ast.Name(id=name) if bare:
            return name
    raise NotAsked(f"not a value: {printable(ast.unparse(node)[:40])!r}")


_NAMED = {"true": True, "false": False, "none": None, "null": None}
_DTYPES = {name: name for name in (*DTYPES, "bfloat16", "int8", "int16")} | {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "long": "int64",
    "int": "int32",
    "short": "int16",
}


def dtype_of(value: Tree) -> str:
    """The dtype that `torch.float32`, `float32` or "torch.float32" names. Empty if it names none."""
    name = value.get("dtype") if isinstance(value, dict) else value
    return _DTYPES.get(name.removeprefix("torch."), "") if isinstance(name, str) else ""


def _like(value: Tree, like: Tree) -> Tree:
    """The value as one of the kind of another: a dtype by its name or as a text, and a whole number without a point."""
    if isinstance(like, list) and isinstance(value, list) and like:
        return [_like(item, like[0]) for item in value]
    if isinstance(like, dict) and {*like} == {"dtype"} and dtype_of(value):
        return {"dtype": dtype_of(value)}
    if isinstance(like, str) and dtype_of(like) and dtype_of(value):
        return dtype_of(value)
    if type(like) is int and isinstance(value, float) and value.is_integer():
        return int(value)
    return value


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
    values = {name: _read(value, depth + 1, name == "dtype") for name, value in given.items()}
    sizes: Any = values.get("sizes")
    strides: Any = values.get("strides")
    offset: Any = values.get("offset", 0)
    dtype = dtype_of(values.get("dtype", "int64"))
    slack: Any = values.get("slack", 0)
    if not _are_counts(sizes) or not (strides is None or _are_counts(strides) and len(strides) == len(sizes)):
        raise NotAsked("the sizes and strides of a tensor are lists of as many numbers, from 0")
    if not _are_counts([offset, slack]) or not dtype:
        raise NotAsked("the offset of a tensor is a number, and its dtype a text such as 'int64'")
    made = tensor(sizes, strides, offset, dtype, slack)
    if made["tensor"]["storage"] > MOST_ELEMENTS or math.prod(sizes) > MOST_ELEMENTS:
        raise NotAsked(f"a tensor of more than {MOST_ELEMENTS} elements")
    return made


def _are_counts(values: Tree) -> bool:
    return isinstance(values, list) and all(type(value) is int and value >= 0 for value in values)


_ERRORS = re.compile(r"\b([a-z]\w*?) ?(error|exception|interrupt|warning)\b", re.IGNORECASE)


def is_answer(text: str, right: Tree) -> bool:
    """Whether a text is this result. An exception is written as the name of its class, in a sentence or alone."""
    if is_error(right):
        return _names(text, {*right["error"], right["type"]} - {"Exception", "BaseException"})
    right = plain(right)
    try:
        return _same(_as_result(read_value(text, bare=True)), right)
    except NotAsked:  # a text is often written without its quotes
        return isinstance(right, str) and tidied(text).strip("'\"") == right


def _names(text: str, classes: set[str]) -> bool:
    """Whether the text names an exception of these classes, and no other one before its message."""
    if len(text) > MOST_LETTERS or re.search(r"\b(?:not?|or|never)\b", text.partition(":")[0], re.IGNORECASE):
        return False
    known = {name.lower() for name in classes}
    for part in (text.partition(":")[0], text):
        named = {(word + kind).lower() for word, kind in _ERRORS.findall(part)} - {"anerror", "theerror", "anexception"}
        if named:
            return len(named) == 1 and named <= known
    return False


def _as_result(value: Tree) -> Tree:
    """A tensor as it stands in a result: its sizes, strides and offset."""
    spec = value.get("tensor", value) if isinstance(value, dict) else None
    if isinstance(spec, dict) and {"sizes", "strides", "offset"} <= {*spec}:
        return [spec["sizes"], spec["strides"], spec["offset"]]
    return value


def _same(one: Tree, other: Tree) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        named = {str(key): value for key, value in other.items()}
        return one.keys() == named.keys() and all(_same(one[key], named[key]) for key in named)
    if type(one) is bool or type(other) is bool:
        return one is other
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return math.isclose(one, other, rel_tol=1e-3, abs_tol=1e-6) if isinstance(other, float) else one == other
    return one == other
