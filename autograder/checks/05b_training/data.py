"""Data: batches of indices, and batches of samples."""

from __future__ import annotations

import enum
import itertools
from collections import OrderedDict, UserDict, UserList, defaultdict, namedtuple
from types import MappingProxyType

import numpy as np

from ...engine.check import program
from ..cases import attempt, defaults, drawn, field, first_apart, numbers
from ..shared_05 import mostly


def _about_order(case, mine, theirs):
    if "error" in mine and case["count"] is None:
        return "the sampler is endless: each request for a list takes batch_size indices, and no index is taken earlier"
    if not (isinstance(mine, list) and isinstance(theirs, list) and len(mine) == len(theirs)):
        return None
    if mine[0] != theirs[0]:
        return "no index is taken from the sampler before the first request for a list"
    mine, theirs = mine[1 : case["asked"] + 1], theirs[1 : case["asked"] + 1]
    if mine != theirs and [batch[:2] for batch in mine] == [batch[:2] for batch in theirs]:
        return "the lists are right; the number after each counts the indices taken from the sampler so far"
    if case["given"] == "breaks":
        return "an error of the sampler is raised; what was taken before it forms no list"
    if ["list", []] in [batch[:2] for batch in mine]:
        return "there is never an empty list"
    if [batch[1] for batch in mine] != [batch[1] for batch in theirs]:
        return "the rest at the end is a shorter list, or dropped if drop_last"
    return None


@program(
    "utils.data.sampler.batches",
    cases=drawn(
        count=lambda st: st.one_of(st.integers(0, 9), st.none()), given=["iterator", "list", "words", "none", "odd", "sized"],
        batch_size=(1, 4), drop_last=bool, asked=(0, 4),
    ),
    edges=[
        {"count": count, "given": given, "batch_size": size, "drop_last": drop_last, "asked": asked}
        for count in (None, 0, 1, 4, 5, 6)
        for given, asked in (("iterator", 0), ("iterator", 2), ("list", 4), ("words", 4)) for size in (1, 2, 3)
        for drop_last in (True, False)
    ]
    + [
        {"count": 900, "given": "iterator", "batch_size": 400, "drop_last": drop_last, "asked": 4}
        for drop_last in (True, False)
    ]
    + [
        {"count": 5, "given": given, "batch_size": 2, "drop_last": drop_last, "asked": 4}
        for given in ("none", "odd", "sized", "breaks") for drop_last in (True, False)
    ],
    hint=_about_order,
)  # fmt: skip
def batchings(xp, count, given, batch_size, drop_last, asked):
    taken, seen = [], []

    def sampler():
        for i in itertools.count() if count is None else range(count):
            taken.append(i)
            if count is None and len(taken) > (len(seen) + 1) * batch_size:  # otherwise `list(sampler)` would never end
                raise RuntimeError(
                    f"indices taken: {len(taken)}; lists requested: {len(seen)}; batch_size: {batch_size}"
                )
            if given == "breaks" and i == 3:
                raise KeyError("of the sampler")
            yield {"words": f"word {i}", "none": None, "odd": (-1, "", (), False)[i % 4]}.get(given, i)

    class Sized:  # it draws an index only when it is asked, as `RandomSampler` does
        __iter__, __len__ = staticmethod(sampler), lambda self: count

    source = list(range(count)) if given == "list" and count is not None else sampler()
    source = Sized() if given == "sized" and count is not None else source
    order = xp.utils.data.BatchSampler(source, batch_size, drop_last)
    pieces = iter(order)
    seen.append(["before", len(taken)])
    for _ in range(asked):
        piece = attempt(next, pieces, "the end") if given == "breaks" else next(pieces, "the end")
        seen.append([type(piece).__name__, piece, len(taken)])
    if given == "list" and count is not None:
        seen += [list(order), list(order)]
    return seen


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
            return "np.bool_ is no np.number, and most numpy numbers are no Python numbers"
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
