"""Data: batches of indices, and batches of samples."""

from __future__ import annotations

import enum
import itertools
from collections import OrderedDict, UserDict, UserList, defaultdict, namedtuple
from types import MappingProxyType

import numpy as np

from ...engine.check import program
from ..cases import attempt, defaults, drawn, field, first_apart, numbers
from ..listing import expression
from ..shared_05 import mostly


def _about_order(case, mine, theirs):
    if "error" in mine and case["count"] is None:
        return "the sampler is endless: each request for a list takes batch_size indices, and no index is taken earlier"
    wrong = str(first_apart(mine, theirs))
    if wrong == "taken before the first request":
        return "no index is taken from the sampler before the first request for a list"
    if wrong == "read again":
        return (
            "yield a new list each time: if you fill or clear one that you have yielded, the caller's list changes, too"
        )
    if not wrong.startswith("request"):
        return None
    (yours, _), (wanted, _) = field(mine, wrong), field(theirs, wrong)
    if yours == wanted:
        return "the lists are right; the number after each counts the indices taken so far, batch_size for each request"
    if case["given"] == "breaks":
        return "an error of the sampler is raised; what was taken before it forms no list"
    if yours == "[]":
        return "there is never an empty list"
    is_rest = case["count"] is not None and int(wrong.removeprefix("request ")) * case["batch_size"] > case["count"]
    return "the rest at the end is a shorter list, or dropped if drop_last" if is_rest else None


_SAMPLERS = {
    "ints": lambda i: i, "list": lambda i: i, "words": lambda i: f"word {i}", "nones": lambda i: None,
    "falsy": lambda i: (-1, "", (), False)[i % 4], "sized": lambda i: i, "breaks": lambda i: i if i != 3 else error(i),
}  # fmt: skip


def error(i):
    raise KeyError(i)


class _Sampler:
    """Indices of a kind. It counts those that are taken, and of endless ones gives only as many as the requests need: otherwise
    `list(sampler)` would never end."""

    def __init__(self, count, given, batch_size):
        self.count, self.given, self.batch_size, self.taken, self.requests = count, given, batch_size, 0, 0

    def __iter__(self):
        for i in itertools.count() if self.count is None else range(self.count):
            self.taken += 1
            if self.count is None and self.taken > (self.requests + 1) * self.batch_size:
                requests = f"lists requested: {self.requests}; batch_size: {self.batch_size}"
                raise RuntimeError(f"indices taken: {self.taken}; {requests}")
            yield _SAMPLERS[self.given](i)

    def __len__(self):
        return self.count

    def source(self):
        """What `BatchSampler` is given: a list, an object that begins anew each time, or an iterator."""
        if self.count is None or self.given not in ("list", "sized"):
            return iter(self)
        return self if self.given == "sized" else list(range(self.count))


def shown_batches(torch, count, given, batch_size, drop_last, asked):
    numbers, sampler = "itertools.count()" if count is None else f"range({count})", f"{given}()"
    value = expression(__name__, "_SAMPLERS", given)
    if given == "list" and count is not None:
        sampler = f"list({numbers})"
    elif value == "i":
        sampler = numbers if given == "sized" and count is not None else f"iter({numbers})"
    else:
        sampler = f"({value} for i in {numbers})"
    made = f"sampler = torch.utils.data.BatchSampler({sampler}, {batch_size}, drop_last={drop_last})"
    again = ["[list(sampler), list(sampler)]"] * (given == "list" and count is not None)
    return "\n".join([made, "lists = iter(sampler)", *["next(lists)"] * asked, *again])


@program(
    "utils.data.sampler.batches",
    cases=drawn(
        count=lambda st: st.one_of(st.integers(0, 9), st.none()), given=["ints", "list", "words", "nones", "falsy", "sized"],
        batch_size=(1, 4), drop_last=bool, asked=(0, 4),
    ),
    edges=[
        {"count": count, "given": given, "batch_size": size, "drop_last": drop_last, "asked": asked}
        for count in (None, 0, 1, 4, 5, 6)
        for given, asked in (("ints", 0), ("ints", 2), ("list", 4), ("words", 4)) for size in (1, 2, 3)
        for drop_last in (True, False)
    ]
    + [
        {"count": 900, "given": "ints", "batch_size": 400, "drop_last": drop_last, "asked": 4}
        for drop_last in (True, False)
    ]
    + [
        {"count": 5, "given": given, "batch_size": 2, "drop_last": drop_last, "asked": 4}
        for given in ("nones", "falsy", "sized", "breaks") for drop_last in (True, False)
    ],
    show=shown_batches,
    hint=_about_order,
)  # fmt: skip
def batchings(xp, count, given, batch_size, drop_last, asked):
    indices = _Sampler(count, given, batch_size)
    sampler = xp.utils.data.BatchSampler(indices.source(), batch_size, drop_last)
    lists, seen = iter(sampler), {"taken before the first request": indices.taken}
    for indices.requests in range(1, asked + 1):
        given_list = attempt(next, lists, "the end") if given == "breaks" else next(lists, "the end")
        seen[f"request {indices.requests}"] = [_said(given_list), indices.taken]
    return seen | ({"read again": [list(sampler), list(sampler)]} if given == "list" and count is not None else {})


def _said(given):
    """A list as code, which tells it from a tuple, and its class if it is of another one."""
    return given if isinstance(given, str) else f"{'' if type(given) is list else type(given).__name__}{given!r}"


Point = namedtuple("Point", "x y")


class Fields(UserList):
    """No named tuple, although it has `_fields`. It holds more than its items."""

    _fields, note = ("x", "y"), ""

    @classmethod
    def noted(cls, made):
        self = cls(made)
        self.note = "of the sample"
        return self


class Signal(np.ndarray):
    """An array of a subclass."""


class Level(enum.IntEnum):
    LOW, HIGH = 1, 2


class Metres(float):
    """A float of a subclass."""


class Word(str):
    """A text of a subclass."""


class Packet(bytes):
    """Bytes of a subclass."""


_LEAVES = {
    "int": lambda xp, i: i + 1, "float": lambda xp, i: i + 0.1, "bool": lambda xp, i: i % 2 == 0,
    "text": lambda xp, i: f"text {i}", "bytes": lambda xp, i: b"bytes",
    "tensor": lambda xp, i: numbers(xp, [2], i, "float32"), "whole": lambda xp, i: numbers(xp, [], i, "int64"),
    "array": lambda xp, i: np.array([i, i + 0.5], np.float32), "number": lambda xp, i: np.float32(i + 0.5),
    "whole number": lambda xp, i: np.int32(i), "truth": lambda xp, i: np.bool_(i % 2 == 0),
}  # fmt: skip
_OTHERS = {
    "none": lambda xp, i: None,
    "object": lambda xp, i: object(),
    "set": lambda xp, i: {i},
    "words": lambda xp, i: np.array(["a", "b"]),
}
_OF_SUBCLASSES = {
    "parameter": lambda xp, i: xp.nn.Parameter(numbers(xp, [2], i), requires_grad=False),
    "recorded": lambda xp, i: xp.nn.Parameter(numbers(xp, [2], i)),
    "signal": lambda xp, i: np.array([i, i + 0.5], np.float32).view(Signal), "level": lambda xp, i: Level(i % 2 + 1),
    "metres": lambda xp, i: Metres(i + 0.1), "double": lambda xp, i: np.float64(i + 0.5),
    "number in an array": lambda xp, i: np.array(i + 0.5),
    "word": lambda xp, i: Word(f"text {i}"), "packet": lambda xp, i: Packet(b"bytes"),
    "bytearray": lambda xp, i: bytearray(b"ab"),
    "long": lambda xp, i: [*range(i, i + 300)], "long tuple": lambda xp, i: (*range(i, i + 300),),
}  # fmt: skip
_CONTAINERS = {
    "list": list, "tuple": tuple, "own list": UserList, "fields": Fields.noted, "point": lambda made: Point(*made),
    "dict": lambda made: _named(made), "ordered": lambda made: OrderedDict(reversed(_named(made).items())),
    "default dict": lambda made: defaultdict(list, _named(made)),
    "own dict": lambda made: UserDict(_named(made)), "fixed dict": lambda made: MappingProxyType(_named(made)),
}  # fmt: skip


def _named(made):
    return {name: value for name, value in zip("abcdef", made)}


def _samples(st):
    leaf = mostly(st, st.sampled_from(list(_LEAVES)), st.sampled_from(list(_OTHERS)), 19)

    mappings = ["dict", "ordered", "default dict", "own dict", "fixed dict"]

    def wider(inner):
        several = st.lists(inner, min_size=1, max_size=3)
        return st.one_of(
            st.tuples(st.sampled_from(["list", "tuple", "own list", "fields", "range"]), several).map(list),
            st.tuples(st.just("point"), st.lists(inner, min_size=2, max_size=2)).map(list),
            st.tuples(st.sampled_from(mappings), several).map(list),
        )

    what = st.recursive(leaf, wider, max_leaves=5)
    return drawn(what=what, count=(1, 3), odd=[None] * 5 + ["longer", "other"], at=[-1, -1, 1, 0])(st)


_sample = defaults(what="int", count=2, odd=None, at=-1)


def _made(xp, what, i):
    """Sample number i of a batch."""
    if isinstance(what, str):
        return (_LEAVES | _OTHERS | _OF_SUBCLASSES)[what](xp, i)
    kind, parts = what
    made = [_made(xp, part, i) for part in parts]
    return range(i, i + len(made)) if kind == "range" else _CONTAINERS[kind](made)


def _batch(value):
    """A batch as plain data, with the type of each part."""
    name = type(value).__name__
    if isinstance(value, (dict, UserDict, MappingProxyType)):
        return {"type": name, "values": {key: _batch(item) for key, item in value.items()}}
    if isinstance(value, (list, tuple, UserList)):
        return {"type": name, "items": [_batch(item) for item in value], "note": getattr(value, "note", "")}
    if isinstance(value, bytes):
        return value.decode()
    return {"type": name, "text": str(value)} if isinstance(value, str) else value


def _has_kind(what, kind):
    return what == kind or isinstance(what, list | tuple) and any(_has_kind(part, kind) for part in what)


def _about_batches(case, mine, theirs):
    if "error" in theirs and "error" not in mine:
        return "sequences of different lengths are refused, and so are values of any other kind"
    if [field(field(side, "batch"), "type") for side in (mine, theirs)] == ["tuple", "list"]:
        return "the positions of the samples are collated one by one; tuples give a list"
    if first_apart(mine, theirs) in ("recorded", "is the first sample"):
        return "the batch is a new object, and autograd records how tensors were stacked"
    if _has_kind(case["what"], "point"):
        return "the test for a named tuple comes before other sequences"
    match case["what"]:
        case ["dict", *_]:
            return "the keys are those of the first sample"
        case "float" | "metres":
            return "Python's floats become float64"
        case "number" | "whole number" | "truth":
            return "numpy's numbers and booleans keep their dtype, and np.bool_ is no np.number"
    return None


@program(
    "utils.data.collate.default_collate",
    cases=_samples,
    edges=[
        *[_sample(what, count) for what in (*_LEAVES, *_OTHERS, *_OF_SUBCLASSES) for count in (1, 3)],
        *[_sample([kind, parts])
          for kind in ("list", "tuple", "own list", "fields", "range") for parts in (["int"], ["int", "tensor"])],
        *[_sample([kind, ["int", "text"]]) for kind in ("point", "dict", "ordered", "default dict", "own dict", "fixed dict")],
        *[_sample([kind, ["int", "none"]]) for kind in ("list", "tuple", "point", "dict", "fixed dict")],
        *[_sample([kind, ["int", "int"]], 3, odd)
          for kind in ("list", "tuple", "dict") for odd in ("longer", "shorter", "other")],
        *[_sample([kind, ["int", "int"]], 3, "longer", at) for kind in ("list", "tuple") for at in (0, 1)],
        _sample("tensor", 2, "longer"), _sample("array", 2, "longer"), _sample("int", 3, "other"),
        _sample("bool", 2, "other"), _sample("float", 2, "other"),
        *[_sample([kind, []]) for kind in ("list", "tuple", "dict")],
        _sample(["tuple", [["dict", ["float", ["list", ["int", "tensor"]]]], ["point", ["text", "array"]]]], 3),
        _sample(["dict", [["tuple", ["int", "int"]], ["fixed dict", ["bool"]]]]),
        _sample(["list", [["list", ["bytes"]], "whole"]], 1),
    ],
    hint=_about_batches,
)  # fmt: skip
def collated(xp, what, count, odd, at):
    samples = [_made(xp, what, i) for i in range(count)]
    if odd is not None:
        samples[at % count] = _oddly(xp, what, samples[at % count], odd)
    before = repr(samples[0])
    result = xp.utils.data.default_collate(samples)
    same = repr(samples[0]) == before
    recorded = isinstance(result, xp.Tensor) and result.requires_grad
    shown = {"batch": _batch(result.detach() if recorded else result), "recorded": recorded}
    shown |= {"is the list of samples": result is samples, "is the first sample": result is samples[0]}
    return shown | {"the first sample stays": same}


def _oddly(xp, what, sample, odd):
    """A sample with a difference to the others."""
    if isinstance(sample, xp.Tensor):
        return numbers(xp, [3], 1, "float32")
    if isinstance(sample, np.ndarray):
        return np.zeros(3, np.float32)
    if isinstance(sample, Point):
        return sample
    if isinstance(sample, dict):
        turned = dict(reversed(sample.items()))
        return {"longer": {**sample, "z": 1}, "shorter": {"b": 1}, "other": turned}[odd]
    if isinstance(sample, (list, tuple)):
        return {"longer": [*sample, 1], "shorter": list(sample[:1]), "other": tuple(sample)}[odd]
    return 2.5 if isinstance(sample, int) else True if isinstance(sample, float) else sample
