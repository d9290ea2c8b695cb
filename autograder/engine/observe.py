"""Results of programs as plain data: observing, sending, comparing, and describing a difference.

A program returns tensors, numbers or sequences, or raises. `observe` turns its result into a *tree* of None, bool, int, float,
str, bytes, list and dict, in which a tensor is its metadata and its raw values. Judge and subject exchange trees (JSON and raw
buffers, bounded, never pickle), and trees are compared. No framework is imported here: each process has a `Side`, which
converts its own tensors.
"""

from __future__ import annotations

import builtins
import difflib
import io
import json
import math
import os.path
import re
import struct
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import groupby, product, takewhile, zip_longest
from traceback import walk_tb
from typing import IO, Any, BinaryIO, NamedTuple, Protocol

import numpy as np

from ..language import phrase, speak

Tree = Any  # None | bool | int | float | str | bytes | list[Tree] | dict[str, Tree]

MAX_DEPTH = 16  # of an observation
MAX_NESTING = 64  # of a message
MAX_TEXT = 4 << 20  # bytes of JSON in a message: as Python objects it may take fifty times as much
MAX_BYTES = 16 << 20  # bytes of buffers in a message
MAX_FRAMES = 8  # of an exception
MAX_LINE = 200  # characters of a line of code
MAX_SHOWN = 1000  # elements of a tensor that are shown with its shape
MAX_PRINTED = 60  # elements of a tensor that are shown; of a larger one only those at the edges are
MAX_LENGTH = 100_000  # characters of one text that a subject sent
MAX_RESULT = 20_000  # characters of a result that is shown
MAX_VALUE = 4_000  # characters of one value in it
MAX_MESSAGE = 500  # characters of an exception's message
MAX_WORDS = 200  # characters of a value in a sentence
MAX_KIND = 50  # characters of the name of a class, or of a value that is named in a sentence
MAX_NAMED = 3  # items of a list that are named because the other list lacks them
MAX_SOUGHT = 1000  # items which only one list has: they are not looked for among more
_HEADER = struct.Struct(">II")
_FIELDS = ("dtype", "shape", "stride", "offset")

# rtol and atol per dtype: the defaults of torch.testing.assert_close
TOLERANCES = {"float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7)}


class Side(Protocol):
    """One of the two frameworks, as `observe` uses it."""

    xp: Any  # the program's first argument: rushlight or torch

    def make(self, spec: dict) -> Any:
        """The tensor that a description in a case asks for: `dtype`, `sizes`, `strides`, `offset`, and the number of
        elements of its `storage`, which holds 0, 1, 2, ... in that dtype (modulo 2 for bool, modulo 256 for uint8)."""

    def dtype(self, name: str) -> Any:
        """The dtype of that name."""

    def take(self, value: Any) -> Tree | None:
        """The tree of one of the framework's own objects (a tensor, a dtype), or None if it is not one."""


class Readable(Protocol):
    def read(self, count: int, /) -> bytes:
        """`count` bytes, or fewer at the end of the stream."""


class Malformed(Exception):
    """The other side sent something that is not a message, or one that is too large."""


class SubjectDied(Exception):
    """The process that runs the student's code has ended."""

    case: dict | None = None  # that it ran, if it ran only one


class SubjectTimedOut(Exception):
    """The student's code has taken longer than it may."""

    case: dict | None = None  # as above


class NotGraded(Exception):
    """A submission takes longer than all of it may, or this machine is too busy to tell. There are no marks."""


class GradingError(Exception):
    """Raised if grading cannot start or go on. The message says what to do."""


class Apart(AssertionError):
    """Raised by a program of which two calls should agree. The message has both calls and what they gave, a line for each."""


# Observing -----------------------------------------------------------------------------------------------------------


def observe(value: Any, side: Side, depth: int = 0) -> Tree:
    """The tree of a program's result.

    Sequences of every kind become lists and numpy scalars become Python numbers, so that style makes no difference.
    """
    if depth > MAX_DEPTH:
        return {"other": "nested too deeply"}
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, float, str)):
        return value
    if isinstance(value, int):
        return int(value) if abs(value) < 2**63 else {"other": "an integer beyond 64 bits"}
    taken = side.take(value)
    if taken is not None:
        return taken
    if isinstance(value, (list, tuple)):
        return [observe(item, side, depth + 1) for item in value]
    if isinstance(value, dict):
        if len({*map(str, value)}) < len(value):
            return {"other": "a dict with keys that read alike"}
        return {"dict": [[str(key), observe(item, side, depth + 1)] for key, item in value.items()]}
    return {"other": type(value).__name__}


def observe_call(program: Callable, side: Side, case: dict) -> Tree:
    """Run a program on one case and observe its result, or the error that it raised."""
    try:
        return observe_result(program, side, case)
    except Exception as error:
        return error_tree(error)


def observe_result(program: Callable, side: Side, case: dict) -> Tree:
    """The same for a program of ours: if a case cannot be built, or a result cannot be read, an error is raised. It would be no
    answer, and a subject with the same error would agree with it."""
    arguments = {name: build(value, side) for name, value in case.items()}
    try:
        result = program(side.xp, **arguments)
    except Exception as error:
        return error_tree(error)
    return observe(result, side)


def for_cases(program: Callable, xp: Any, cases: list[dict]) -> list[Callable]:
    """A program for each case. A program with a method `for_cases` may run several cases ahead, together."""
    together = getattr(program, "for_cases", None)
    return together(xp, cases) if together and len(cases) > 1 else [program] * len(cases)


def error_tree(error: Exception) -> Tree:
    names = _builtin_names(type(error))
    message = f"{str(error)[:MAX_MESSAGE]}{_suggestion(error)}"
    return {"error": names, "type": type(error).__name__, "message": message}


def _suggestion(error: Exception) -> str:
    """What Python's traceback adds to the message of a misspelled name: `. Did you mean: 'bits'?` Its own function is only
    for the end of a process before Python 3.12, and does not look through as many names as the module `torch` has."""
    if not isinstance(error, (NameError, AttributeError)) or not error.name:
        return ""
    with suppress(Exception):  # the object whose attribute is missing may be the student's
        if isinstance(error, AttributeError):
            names = dir(error.obj)
        else:
            *_, (frame, _) = walk_tb(error.__traceback__)
            names = [*frame.f_locals, *frame.f_globals, *vars(builtins)]
        other = _nearest(error.name, tuple(name for name in names if name != error.name))
        return f". Did you mean: {other!r}?" if other else ""
    return ""


@cache
def _nearest(name: str, names: tuple[str, ...]) -> str:
    public = [other for other in names if name.startswith("_") or not other.startswith("_")]
    return next(iter(difflib.get_close_matches(name, public, n=1, cutoff=0.75)), "")


def with_raised(result: Tree, raised: Tree = None) -> Tree:
    """An observation with the exception that left a student's function while the case ran, even if something caught it.

    `raised` is an error tree with "frames", a list of [function, line, text of the line]. It has "returned" if another call of the
    function returned a result, or if this is unknown. It is only shown, never compared.
    """
    return result if raised is None else {"result": result, "raised": raised}


def without_call(result: Tree) -> Tree:
    """The observation of a case in which the student's function has not run. This is only counted, never compared."""
    return {"result": result, "raised": None}


def is_of_function(observed: Tree) -> bool:
    """Whether the result of a case may come from a result of the student's function: it is no error, and a call of the function
    returned, as far as the subject knows."""
    raised = raised_of(observed)
    has_returned = not _is_with_raised(observed) or isinstance(raised, dict) and "returned" in raised
    return has_returned and not is_error(result_of(observed))


def with_returned(result: Tree, returned: str = "") -> Tree:
    """The observation of an error of the program itself, which left no function of the student's, with what such a function has
    returned before. It is only shown, never compared. An error of the framework's own says what is wrong. No name of the program's
    is misspelled."""
    is_plain = is_error(result) and result["type"] == result["error"][0]
    if not returned or not is_plain:
        return result
    return result | {"returned": returned, "message": result["message"].partition(". Did you mean: ")[0]}


def kind_of_value(value: Any) -> str:
    """What a value is, in a few words."""
    kind = type(value).__name__[:MAX_KIND]
    if type(value) in (bool, int, float, str) and len(shown := repr(value)) < MAX_KIND:
        return phrase(f"{shown} of type {kind}")
    if isinstance(value, list | tuple):
        length = len(value)
        return phrase(f"a {kind} of length {length}")
    return "None" if value is None else phrase(f"a value of type {kind}")


def returned_value(result: Tree) -> str:
    """The short value that the student's function has returned before an error of the program itself, if there is one."""
    value, _, kind = result.get("returned", "").rpartition(" of type ")
    return value if kind in ("bool", "int", "float", "str") and value != "a value" else ""


def is_error(tree: Tree) -> bool:
    """Whether an observation is that of an exception."""
    return isinstance(tree, dict) and "error" in tree


def has(tree: Tree, key: str, value: Tree) -> bool:
    """Whether an observation, which may have any form, has this entry."""
    return isinstance(tree, dict) and tree.get(key) == value


def result_of(observed: Tree) -> Tree:
    """An observation without what may accompany it."""
    return observed["result"] if _is_with_raised(observed) else observed


def raised_of(observed: Tree) -> Tree:
    """The exception that accompanies an observation, or None."""
    return observed["raised"] if _is_with_raised(observed) else None


def _is_with_raised(observed: Tree) -> bool:
    return isinstance(observed, dict) and observed.keys() == {"result", "raised"}


def _builtin_names(error: type[BaseException]) -> list[str]:
    """An exception's built-in classes, the nearest first: torch raises subclasses of its own, and so may a student.

    In Python NotImplementedError and RecursionError are RuntimeErrors. Here they are not, so that a missing body or endless
    recursion never passes for a RuntimeError of torch. Of several bases only the first counts, so that no exception is every
    error at once. numpy's AxisError alone is both an IndexError and a ValueError.
    """
    lineage = [*_lineage(np.exceptions.AxisError if issubclass(error, np.exceptions.AxisError) else error)]
    names = [base.__name__ for base in lineage if base.__module__ == "builtins"]
    return next(([name] for name in names if name in ("NotImplementedError", "RecursionError")), names)


def _lineage(error: type) -> Iterator[type]:
    if error is np.exceptions.AxisError:
        yield from error.__mro__
        return
    base: type | None = error
    while base is not None and base is not object:
        yield base
        base = base.__base__


def build(value: Tree, side: Side) -> Any:
    """A value of a case with its descriptions, `{"tensor": {...}}` and `{"dtype": name}`, replaced by what they describe.

    Sequences become tuples, as rushlight itself passes them, so that a function that changes its arguments fails.
    """
    match value:
        case {"tensor": dict(spec), **rest} if not rest:
            return side.make(spec)
        case {"dtype": str(name), **rest} if not rest:
            return side.dtype(name)
        case dict():
            return {key: build(item, side) for key, item in value.items()}
        case list():
            return tuple(build(item, side) for item in value)
        case _:
            return value


# Sending -------------------------------------------------------------------------------------------------------------


def send(stream: IO[bytes], message: Tree) -> None:
    """Write one message: two lengths, the JSON, and the raw buffers that it points into."""
    stream.write(encode(message))
    stream.flush()


def receive(stream: Readable) -> Tree:
    """Read one message. Raises EOFError at the end of the stream, and Malformed for data that is no message or too large."""
    lengths = _HEADER.unpack(_read(stream, _HEADER.size))
    for length, limit in zip(lengths, (MAX_TEXT, MAX_BYTES)):
        if length > limit:
            raise Malformed(f"a message of {length} bytes; the limit is {limit}")
    text, blob = _read(stream, lengths[0]), _read(stream, lengths[1])
    try:
        return _unpack(json.loads(text), io.BytesIO(blob))
    except (ValueError, TypeError, RecursionError) as error:
        raise Malformed(f"not a message: {error}") from None


def _read(stream: Readable, count: int) -> bytes:
    data = stream.read(count)
    if len(data) < count:
        raise EOFError("the other side has ended")
    return data


def encode(message: Tree) -> bytes:
    buffers: list[bytes] = []
    text = json.dumps(_pack(message, buffers)).encode()
    blob = b"".join(buffers)
    return _HEADER.pack(len(text), len(blob)) + text + blob


def _pack(tree: Tree, buffers: list[bytes]) -> Tree:
    if isinstance(tree, bytes):
        buffers.append(tree)
        return {"bytes": len(tree)}
    if isinstance(tree, (list, tuple)):
        return [_pack(item, buffers) for item in tree]
    if isinstance(tree, dict):
        return {key: _pack(item, buffers) for key, item in tree.items()}
    return tree


def _unpack(tree: Tree, blob: BinaryIO, depth: int = 0) -> Tree:
    """Insert the buffers, each once and in order, so that a message takes no more memory than was sent."""
    if depth > MAX_NESTING:
        raise ValueError("nested too deeply")
    if isinstance(tree, dict):
        if set(tree) == {"bytes"}:
            return _read_buffer(blob, tree["bytes"])
        return {key: _unpack(item, blob, depth + 1) for key, item in tree.items()}
    if isinstance(tree, list):
        return [_unpack(item, blob, depth + 1) for item in tree]
    return tree


def _read_buffer(blob: BinaryIO, length: Tree) -> bytes:
    if type(length) is not int or length < 0:
        raise ValueError("a buffer without a length")
    data = blob.read(length)
    if len(data) < length:
        raise ValueError("a buffer that is not there")
    return data


# Accepting -----------------------------------------------------------------------------------------------------------

DTYPE_NAMES = {f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)}
DTYPE_NAMES |= {"bool", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"}


def accept(tree: Tree, depth: int = 0) -> None:
    """Raise Malformed unless `observe` can make this tree. Only such trees are compared, shown and explained.

    A subject may send anything. The judge uses only trees that this function accepts.
    """
    if _is_with_raised(tree) and depth <= 1:  # an observation, or one of a list of them
        if tree["raised"] is not None:
            _accept_raised(tree["raised"])
        tree, depth = tree["result"], max(depth, 1)
    match tree:
        case None | bool() | float() | str():
            return
        case int() if abs(tree) < 2**63:
            return
        case list() if depth <= MAX_DEPTH:
            items = tree
        case {"dict": list(pairs), **rest} if not rest and depth <= MAX_DEPTH and _are_pairs(pairs):
            items = [item for _, item in pairs]
        case {"tensor": dict(fields), **rest} if not rest and _is_tensor(fields):
            return
        case {"error": list(names), "type": str(), "message": str(), **rest} if _is_lineage(names):
            if rest and not (rest.keys() == {"returned"} and isinstance(rest["returned"], str)):
                raise Malformed("a result that is not an observation")
            return
        case {"dtype": str(), **rest} | {"other": str(), **rest} if not rest:
            return
        case _:
            raise Malformed("a result that is not an observation")
    for item in items:
        accept(item, depth + 1)


def _accept_raised(raised: Tree) -> None:
    match raised:
        case {"error": list(), "frames": list(frames), **rest} if len(frames) <= MAX_FRAMES and all(
            map(_is_frame, frames)
        ):
            accept({"error": raised["error"], **rest}, MAX_DEPTH)
        case _:
            raise Malformed("a result that is not an observation")


def _is_frame(frame: Tree) -> bool:
    match frame:
        case [str(function), int(number), str(line)]:
            return type(number) is int and max(len(function), len(line)) <= MAX_LINE
    return False


def _are_pairs(items: list[Tree]) -> bool:
    """Whether these are the items of a dict: no key occurs twice."""
    pairs = all(isinstance(item, list) and len(item) == 2 and isinstance(item[0], str) for item in items)
    return pairs and len({key for key, _ in items}) == len(items)


def _is_lineage(names: list[Tree]) -> bool:
    """Whether these are the classes of one exception that a program may raise."""
    first = getattr(builtins, names[0], None) if names and isinstance(names[0], str) else None
    if not isinstance(first, type) or not issubclass(first, BaseException):
        return False
    return names in (_builtin_names(first), _builtin_names(np.exceptions.AxisError))


def _is_tensor(fields: dict) -> bool:
    match fields:
        case {"dtype": str(dtype), "shape": list(shape), "stride": list(stride), "offset": offset, "data": bytes(data)}:
            if len(fields) > 5 or dtype not in DTYPE_NAMES or len(shape) > MAX_NESTING or len(stride) > MAX_NESTING:
                return False
            if not all(type(number) is int for number in [*shape, *stride, offset]) or min(shape, default=0) < 0:
                return False
            size = _in_numpy(dtype).itemsize
            if math.prod(max(1, length) for length in shape) * size >= 2**63:  # numpy has no such array, empty or not
                return False
            return math.prod(shape) * size == len(data)
    return False


# Comparing -----------------------------------------------------------------------------------------------------------


class Origin(NamedTuple):
    """Who gave the answer that a result is compared with, and the answer, in words."""

    name: str
    answer: str


TORCH = Origin("torch", phrase("torch's"))
CALCULATION = Origin(phrase("the calculation"), phrase("expected"))

# Steps from an observation to a part of it: an item's position, an entry's key, a field, or an element's index
Path = tuple[int | str | tuple[int, ...], ...]


class Difference(NamedTuple):
    """Where two observations differ, and how, in words."""

    path: Path
    words: str
    of_floats: bool = False  # which are compared with a tolerance
    only: str = ""  # "mine" or "theirs", if the other side has no such part


def difference(mine: Tree, theirs: Tree, origin: Origin = TORCH) -> str | None:
    """The first difference between two observations, in words, or None if they agree.

    `theirs` is torch's, or that of an exact calculation, and is trusted. `mine` may be any JSON.
    """
    first = next(differences(mine, theirs, origin), None)
    return first and first.words


def differences(mine: Tree, theirs: Tree, origin: Origin = TORCH) -> Iterator[Difference]:
    """All differences between two observations."""
    try:
        result = result_of(mine)
        if is_refused(mine, theirs):
            message = _cut(clean(result["message"]).partition("\n")[0], MAX_MESSAGE)
            yield Difference((), phrase(f"the check does not accept what yours returned: {message}"))
            return
        yield from _differences(result, theirs, (), origin)
    except (KeyError, TypeError, ValueError, OverflowError):
        yield Difference((), "the result: yours is not an observation")


def is_refused(mine: Tree, theirs: Tree) -> bool:
    """Whether the check itself, by an assertion, does not accept what the student's function did."""
    return has(result_of(mine), "type", "AssertionError") and raised_of(mine) is None and not is_error(theirs)


def told_first(parts: list[Difference], theirs: Tree) -> Difference:
    """The first difference, or if it is one of numbers the first of dtypes, because of which numbers may differ."""
    first = parts[0]
    numbers = isinstance(first.path[-1], tuple) or _kind(part_of(theirs, first.path)) in ("int", "float")
    of_dtypes = (part for part in parts if any(isinstance(step, str) and "dtype" in step for step in part.path))
    return next(of_dtypes, first) if numbers else first


def _differences(mine: Tree, theirs: Tree, path: Path, origin: Origin) -> Iterator[Difference]:
    kind = _kind(theirs)
    if _kind(mine) != kind:
        yield Difference(path, _at(path) + _kinds_apart(mine, theirs, origin))
        return
    match kind:
        case "error":
            if theirs["error"][0] not in mine["error"]:
                raised, other = clean(mine["type"], MAX_WORDS), theirs["type"]
                words = phrase(f"yours raises {raised}, {origin.name} raises {other}")
                yield Difference((*path, "type"), _at(path) + words)
        case "tensor":
            yield from _tensor_differences(mine, theirs, path, origin)
        case "list":
            if len(mine) != len(theirs):
                count, other = len(mine), len(theirs)
                items = phrase("1 item") if count == 1 else phrase(f"{count} items")
                words = phrase(f"yours has {items}, {origin.answer} has {other}")
                yield from _lengths_apart(mine, theirs, path, _at(path) + words)
                return
            for i, (m, t) in enumerate(zip(mine, theirs, strict=True)):
                yield from _differences(m, t, (*path, i), origin)
        case "dict":
            mine, theirs = dict(mine["dict"]), dict(theirs["dict"])
            if list(mine) != list(theirs):
                own, other = _cut(str(list(mine))), _cut(str(list(theirs)))
                words = phrase(f"yours has keys {own}, torch's has {other}")
                words = words if origin is TORCH else phrase(f"yours has keys {own}, expected has {other}")
                words += _missing([repr(key) for key in theirs if key not in mine], "theirs")
                words += _missing([repr(key) for key in mine if key not in theirs], "mine")
                for key in mine.keys() ^ theirs.keys() or [None]:  # None: only their order differs
                    yield Difference(path if key is None else (*path, key), _at(path) + words)
                return
            for key in theirs:
                yield from _differences(mine[key], theirs[key], (*path, key), origin)
        case "float":
            if not _close(mine, theirs):
                yield Difference(path, _at(path) + _apart(mine, theirs, origin), of_floats=True)
        case _:
            if mine != theirs:
                words = _at(path) + _values_apart(mine, theirs, origin)
                lines = [*zip_longest(mine.split("\n"), theirs.split("\n"))] if kind == "str" else []
                apart = [(*path, i) for i, (m, t) in enumerate(lines) if len(lines) > 1 and m != t] or [path]
                yield from (Difference(part, words) for part in apart)


def _lengths_apart(mine: list[Tree], theirs: list[Tree], path: Path, words: str) -> Iterator[Difference]:
    """The items that only one of two lists has, if the others are the same in the same order, or else all after the first
    difference. The words name a few short items."""
    short, long, only = (mine, theirs, "theirs") if len(mine) < len(theirs) else (theirs, mine, "mine")
    left, others = 0, list[int]()
    searched = long if not short or len(long) - len(short) <= MAX_SOUGHT else list[Tree]()
    for i, item in enumerate(searched):
        if left < len(short) and difference(short[left], item) is None:
            left += 1
        else:
            others.append(i)
    if left < len(short):
        agree = sum(1 for _ in takewhile(lambda pair: difference(*pair) is None, zip(mine, theirs)))
        yield from (Difference((*path, i), words) for i in range(agree, len(long)))
        return
    words += _missing([show(long[i]) for i in others[: MAX_NAMED + 1]], only)
    yield from (Difference((*path, i), words, only=only) for i in others)


def _missing(items: list[str], only: str) -> str:
    """Words, after others, that name a few short items which only one side has."""
    if not items or len(items) > MAX_NAMED or any(len(item) >= MAX_KIND or "\n" in item for item in items):
        return ""
    names = ", ".join(items)
    said = phrase(f"missing in yours: {names}") if only == "theirs" else phrase(f"only in yours: {names}")
    return f"; {said}"


def _at(path: Path) -> str:
    """A path before words: `view[0]: `"""
    steps = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return f"{steps.removeprefix('.')}: " if path else ""


_NOTED = re.compile(r"raises (\w{1,80})")  # the text by which a program notes an exception that a contract names


def _kinds_apart(mine: Tree, theirs: Tree, origin: Origin) -> str:
    of_mine = _kind(mine) == "error"
    if of_mine and mine["type"] == Apart.__name__:
        return phrase("with lists in the place of tuples yours gives another result")
    if of_mine and "returned" in mine:
        returned = clean(mine["returned"], MAX_WORDS)
        return phrase(f"after yours has returned {returned}, the program cannot go on")
    if of_mine or _kind(theirs) == "error":
        raised, which, other = (mine, phrase("yours"), origin.name) if of_mine else (theirs, origin.name, "yours")
        message = clean(raised["message"]).partition("\n")[0]  # if ranks fail, the other lines describe each rank
        kind, message = clean(raised["type"], MAX_WORDS), _cut(message, MAX_MESSAGE)
        return phrase(f"{which} raises {kind} ({message}), {other} does not")
    for noted, which, other in ((mine, phrase("yours"), origin.name), (theirs, origin.name, phrase("yours"))):
        if isinstance(noted, str) and (caught := _NOTED.fullmatch(noted)):
            kind = caught[1]
            return phrase(f"{which} raises {kind}, {other} does not")
    is_short = (
        theirs is None and isinstance(mine, (int, float, list, tuple)) and "\n" not in show(mine)
    )  # what has changed
    if is_short or {type(mine), type(theirs)} == {type(None), str}:  # such as the name of an error, or none
        return _apart(_cut(show(mine)), _cut(show(theirs)), origin)
    own, expected = _name(mine), _name(theirs)
    return phrase(f"yours is {own}, {origin.answer} is {expected}")


def _values_apart(mine: Tree, theirs: Tree, origin: Origin) -> str:
    """Both values, or where they are long texts, both from a little before the first character that differs."""
    first = None
    if isinstance(theirs, str) and max(len(repr(mine)), len(repr(theirs))) > MAX_WORDS:
        first = len(os.path.commonprefix([mine, theirs]))
        start = max(0, first - MAX_WORDS // 10)
        mine, theirs = mine[start:], theirs[start:]
    words = _apart(_cut(show(mine)), _cut(show(theirs)), origin)
    return words if first is None else phrase(f"from character {first}: {words}")


def _apart(own: object, other: object, origin: Origin) -> str:
    if origin is TORCH:
        return phrase(f"yours {own}, torch's {other}")
    return phrase(f"yours {own}, expected {other}")


def agreement(mine: Tree, theirs: Tree, origin: Origin = TORCH) -> Difference:
    """How much of a prediction is right, a list or one value, in words that do not tell the answer."""
    if not isinstance(mine, list) or not isinstance(theirs, list):
        if _kind(mine) != _kind(theirs):
            return Difference((), difference(mine, theirs, origin) or "")
        return Difference((), "your prediction for this program is wrong")
    right = sum(1 for _ in takewhile(lambda pair: difference(*pair) is None, zip(mine, theirs)))
    if right == len(mine):
        words = phrase("your entry is right") if right == 1 else phrase(f"your {right} entries are right")
        words = phrase(f"{words}, but others are missing")
        return Difference((right,), words if mine else "entries are missing: yours has none")
    words = phrase("your first entry is right") if right == 1 else phrase(f"your first {right} entries are right")
    wrong = right + 1
    words = phrase(f"{words}, your entry {wrong} is wrong")
    return Difference((right,), words if right else "your first entry is wrong")


def _tensor_differences(mine: Tree, theirs: Tree, path: Path, origin: Origin) -> Iterator[Difference]:
    fields = [field for field in _FIELDS if mine["tensor"][field] != theirs["tensor"][field]]
    for field in fields:
        words = _apart(_brief(mine, field), _brief(theirs, field), origin)
        yield Difference((*path, field), f"{_at(path)}{field}: {words}")
    if not {"dtype", "shape"}.isdisjoint(fields):
        return
    ours, real, dtype = values(mine), values(theirs), theirs["tensor"]["dtype"]
    for index in map(tuple, np.argwhere(~_equal(ours, real, dtype)).tolist()):
        place, words = ", ".join(map(str, index)), _apart(ours[index], real[index], origin)
        words = phrase(f"element [{place}]: {words}")
        yield Difference((*path, index), _at(path) + words, of_floats=dtype in TOLERANCES)


def _equal(ours: np.ndarray, real: np.ndarray, dtype: str) -> np.ndarray:
    """Which elements agree. `np.isclose` is for floats: it rounds 64-bit integers, and ignores the other part of a complex NaN."""
    if dtype in TOLERANCES:
        rtol, atol = TOLERANCES[dtype]
        return np.isclose(ours, real, rtol=rtol, atol=atol, equal_nan=True)
    if np.iscomplexobj(real):
        parts = ((ours.real, real.real), (ours.imag, real.imag))
        return np.logical_and(*((m == t) | np.isnan(m) & np.isnan(t) for m, t in parts))
    return ours == real


def _close(mine: float, theirs: float) -> bool:
    both_nan = math.isnan(mine) and math.isnan(theirs)
    return both_nan or math.isclose(mine, theirs, rel_tol=1e-6, abs_tol=1e-7)


def _kind(tree: Tree) -> str:
    if isinstance(tree, dict):
        return next((kind for kind in ("tensor", "error", "dict", "dtype", "other") if kind in tree), "unknown")
    return {tuple: "list"}.get(type(tree), type(tree).__name__)


_NAMES = {"NoneType": "None", "list": phrase("a sequence"), "str": phrase("a string"), "int": phrase("an int")}
_NAMES |= {"float": phrase("a float"), "bool": phrase("a bool"), "tensor": phrase("a tensor"), "dict": phrase("a dict")}
_NAMES |= {"dtype": phrase("a dtype")}


def _name(tree: Tree) -> str:
    match _kind(tree):
        case "other":
            kind = clean(tree["other"], MAX_WORDS)
            return phrase(f"a value of type {kind}") if kind.isidentifier() else kind
        case kind:
            return _NAMES.get(kind, kind)


# Showing -------------------------------------------------------------------------------------------------------------


def tensor_tree(dtype: str, shape: Sequence[int], stride: Sequence[int], offset: int, data: bytes) -> Tree:
    """The tree of a tensor: `data` holds its values in logical (row-major) order. Those of bfloat16 are float32 there."""
    fields = {"dtype": dtype, "shape": list(shape), "stride": list(stride), "offset": offset, "data": data}
    return {"tensor": fields}


def values(tree: Tree) -> np.ndarray:
    fields = tree["tensor"]
    return np.frombuffer(fields["data"], dtype=_in_numpy(fields["dtype"])).reshape(fields["shape"])


def _in_numpy(dtype: str) -> np.dtype:
    return np.dtype("float32" if dtype == "bfloat16" else dtype)


def show(tree: Tree) -> str:
    """An observation as readable text."""
    return show_marked(tree)[0]


def show_marked(tree: Tree, paths: Collection[Path] = ()) -> tuple[str, list[list[int]]]:
    """An observation as readable text, and where in it, [start, end], the parts at these paths are."""
    text = ""
    marks: list[list[int]] = []
    for piece, path in _pieces(tree, ()):
        start, text = len(text), text + piece
        if any(path[:length] in paths for length in range(len(path) + 1)):
            if marks and marks[-1][1] == start:
                start, _ = marks.pop()
            marks.append([start, len(text)])
        if len(text) > MAX_RESULT:
            if marks or not paths:
                break
            text = "… "  # what differs is further on
    return _cut(text, MAX_RESULT), [[start, min(end, MAX_RESULT)] for start, end in marks]


def _pieces(tree: Tree, path: Path) -> Iterator[tuple[str, Path]]:
    """The text of an observation in pieces, each with the path of the part that it shows. All texts of a subject are clean."""
    match _kind(tree):
        case "tensor":
            for field in _FIELDS:
                yield f"{field} {_brief(tree, field)}", (*path, field)
                yield "\n" if field == _FIELDS[-1] else "  ", path
            yield from _elements(values(tree), path)
        case "error" if tree["type"] == Apart.__name__:
            yield clean(tree["message"], MAX_VALUE), path
        case "error":
            yield clean(tree["type"], MAX_VALUE), (*path, "type")
            yield f": {clean(tree['message'], MAX_VALUE)}", (*path, "message")
        case "list":
            yield from _items(tree, path)
        case "dict" if not tree["dict"]:
            yield "{}", path
        case "dict":
            for position, (key, item) in enumerate(tree["dict"]):
                yield "\n" * (position > 0), path
                pieces = [*_pieces(item, (*path, key))]
                is_group = _kind(item) in ("dict", "list") and any("\n" in text for text, _ in pieces)
                yield f"{clean(key, MAX_VALUE)}:" + ("\n  " if is_group else " "), (*path, key)
                yield from _indented(pieces, 2)
        case "dtype" | "other" as kind:
            yield clean(tree[kind], MAX_VALUE), path
        case "str":
            for i, line in enumerate(_LINE.findall(repr(tree))):
                yield _cut(line, MAX_VALUE), (*path, i)
        case _:
            yield _cut(repr(tree), MAX_VALUE), path


def _indented(pieces: Iterable[tuple[str, Path]], spaces: int) -> Iterator[tuple[str, Path]]:
    """Pieces of a text whose lines after the first one are indented."""
    return ((text.replace("\n", "\n" + " " * spaces), path) for text, path in pieces)


def _items(tree: list[Tree], path: Path) -> Iterator[tuple[str, Path]]:
    """A list on one line if its items are, or else on a line for each."""
    items, left = [], MAX_RESULT
    for position, item in enumerate(tree):
        items.append([*_pieces(item, (*path, position))])
        left -= sum(len(text) for text, _ in items[-1]) + 1
        if left < 0:
            break
    in_lines = any("\n" in text for item in items for text, _ in item)
    yield "" if in_lines else "(", path
    for position, item in enumerate(items):
        yield ("\n" if in_lines else ", ") * (position > 0), path
        is_entry = in_lines and _kind(tree[position]) == "dict"  # numbered as in the words on what differs
        yield f"[{position}] " * is_entry, (*path, position)
        yield from _indented(item, 4) if is_entry else item
    yield "" if in_lines else ",)" if len(items) == 1 else ")", path


def _elements(elements: np.ndarray, path: Path) -> Iterator[tuple[str, Path]]:
    """The elements of a tensor, or those at the edges of a large one."""
    shape = elements.shape
    if elements.size > MAX_SHOWN:  # numpy abbreviates long dimensions only
        elements = elements.reshape(-1)
    text = np.array2string(elements, separator=", ", threshold=MAX_PRINTED, edgeitems=_EDGE)
    matches = [match for match in _ELEMENT.finditer(text) if match[0] != "..."]
    is_cut = elements.size > MAX_PRINTED
    shown = [
        [*range(_EDGE), *range(size - _EDGE, size)] if is_cut and size > 2 * _EDGE else range(size)
        for size in elements.shape
    ]
    indices = [*product(*shown)] if elements.size else []
    if elements.ndim != len(shape):
        indices = [tuple(int(i) for i in np.unravel_index(index[0], shape)) for index in indices]
    end = 0
    for match, index in zip(matches, indices, strict=True) if len(matches) == len(indices) else ():
        yield text[end : match.start()], path
        yield match[0], (*path, index)
        end = match.end()
    yield text[end:], path


_LINE = re.compile(r"(?:\\.|[^\\])+?(?:\\n|\Z)")  # of a text in quotes, with its line end
_EDGE = 3  # elements at each end of a dimension that is abbreviated
_ELEMENT = re.compile(r"[^\s\[\],](?:[^\n\[\],]*[^\s\[\],])?")  # a complex number has a space in it


def layouts(mine: Tree, theirs: Tree, differing: Iterable[Difference]) -> list[Tree]:
    """Sizes, strides and offset of both tensors of the first difference in a layout, or an empty list."""
    for path, *_ in differing:
        if path and path[-1] in ("shape", "stride", "offset"):
            both = [part_of(tree, path[:-1]) for tree in (mine, theirs)]
            if {*map(_kind, both)} == {"tensor"}:  # a dict, too, may have an entry of this name
                return [[tree["tensor"][field] for field in ("shape", "stride", "offset")] for tree in both]
    return []


def part_of(tree: Tree, path: Path) -> Tree:
    for step in path:
        tree = tree[step] if isinstance(step, int) else dict(tree["dict"])[step]
    return tree


def show_frames(frames: list[Tree]) -> str:
    """The frames of an exception of a student's function, a line each."""
    frames = [frame for frame, _ in groupby(frames)]  # one that calls itself
    places = [(speak("{function}, line {line}", function=name, line=line), text) for name, line, text in frames]
    return "".join(f"\n  {place}:  {text}" for place, text in places)


def clean_frames(raised: Tree) -> list[Tree]:
    """The frames of an error tree, each a function, a line and the text of the line. Empty if they have another form."""
    with suppress(KeyError, TypeError, ValueError):
        frames = raised["frames"][-MAX_FRAMES:]
        return [[clean(name, MAX_LINE), int(line), clean(text, MAX_LINE)] for name, line, text in frames]
    return []


_CONTROLS = re.compile(  # a terminal's, and those that reverse the order of the letters around them
    r"\x1b\[[0-9;?]*[@-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)


def clean(text: Any, limit: int = MAX_LENGTH) -> str:
    """Text that can be written as UTF-8 and shown: no lone surrogates, no terminal's control sequences, not too long."""
    return _cut(_CONTROLS.sub("", str(text)[: 2 * limit]).encode("utf-8", "replace").decode(), limit)


def _cut(text: str, limit: int = MAX_WORDS) -> str:
    return text if len(text) <= limit else f"{text[:limit]} ... (cut)"


def _brief(tree: Tree, field: str) -> str:
    value = tree["tensor"][field]
    return _tuple(map(str, value)) if isinstance(value, list) else str(value)


def _tuple(parts: Iterable[str]) -> str:
    items = list(parts)
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"
