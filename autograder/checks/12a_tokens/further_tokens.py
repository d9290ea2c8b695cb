"""Lab 12a, further: a trainer that keeps its counts, special tokens, and batches by length."""

from __future__ import annotations

import itertools
from itertools import groupby

from ...engine.check import program
from ...engine.observe import is_error
from ..cases import drawn, explained, field, first_of, listed, rows, several, when
from .tokens import BETWEEN, _ids, _string

# A trainer that keeps its counts -------------------------------------------------------------------------------------


class Counted(list):
    """A list that counts how often each item is read."""

    def __init__(self, items):
        super().__init__(items)
        self.reads = [0] * len(self)

    def __getitem__(self, key):
        for i in range(len(self))[key] if isinstance(key, slice) else [key]:
            self.reads[i] += 1
        return super().__getitem__(key)

    def __iter__(self):
        return (self[i] for i in range(len(self)))


def _reads_each(name):
    """The method of list of this name, which reads all items: on a copy, so that the reads count."""
    return lambda self, *args: getattr([*self], name)(*args)


for _name in ("__add__", "__contains__", "__eq__", "__mul__", "__reversed__", "__rmul__", "copy", "count", "index"):
    setattr(Counted, _name, _reads_each(_name))
Counted.__radd__ = lambda self, other: other + [*self]


def _is_first_apart(case, mine, theirs):
    """Whether the first merge is another pair, or missing."""
    yours, wanted = (field(tree, "merges") for tree in (mine, theirs))
    return isinstance(yours, list) and yours[:1] != wanted[:1]


@program(
    "course.tokens.train_incremental",
    cases=drawn(words=several(listed(several((97, 99), 0, 6), (1, 4)), 0, 6), count=(0, 6)),
    edges=rows("words count", *(
        ([], 3), ([[[], 3]], 3), ([[[97], 3]], 3), ([[[97, 98], 1]], 3), ([[[97, 98], 2]], 3), ([[[97, 98], 2]], 0),
        ([[[97, 98, 97, 98], 1]], 3), ([[[97, 97, 97], 1]], 3), ([[[97, 97, 97, 97], 1]], 3), ([[[97] * 5, 2], [[97] * 2, 1]], 4),
        ([[[97, 98, 99], 1], [[97, 98], 2], [[98, 99], 3]], 4), ([[[97, 98, 99], 2], [[98, 99], 1], [[99, 97], 3]], 2),
        ([[[97, 98], 1], [[99, 98], 1], [[97, 98, 97, 98], 1]], 5), ([[[98, 97], 3], [[97, 98], 3]], 1),
        ([[[97, 98, 97], 2], [[98, 97, 98], 2], [[99], 9], [[97, 97], 3]], 5), ([[[97, 98, 97, 98, 97, 98], 2]], 4),
        ([[[97, 98, 99, 97, 98], 2], [[99, 97, 98, 98], 1], [[98, 98], 4]], 6), ([[[99, 98, 99, 98], 2], [[98, 99], 1]], 3),
        ([[[97, 98, 98, 99], 1], [[97, 98, 98], 1], [[98, 98, 99], 1]], 6), ([[[97, 98, 99, 97, 99, 98], 1], [[97, 99], 1]], 4),
        ([[[97, 97, 98], 1], [[97, 97, 98], 1], [[97, 98], 1]], 3),
    )),
    show=lambda torch, words, count: f"train_incremental({[(*w,) for w, _ in words]}, {[times for _, times in words]}, {count})",
    hint=first_of(
        when(_is_first_apart,
             "the choice is as in `train`: a pair of piece i counts `times[i]` times, and of equal ones the smallest is taken"),
        explained(
            merges="a merge also ends the pairs beside it, and makes new ones",
            pieces_are_tuples="the pieces in `words` stay tuples, also those that a merge changes",
            read_too_often="piece i may be read once at the start, and once for each merge that changes it",
        ),
    ),
)  # fmt: skip
def trained(rl, words, count):
    given, times = Counted(tuple(word) for word, _ in words), [count for _, count in words]
    merges = rl.course.tokens.train_incremental(given, times, count)
    reads, after = [*given.reads], [list.__getitem__(given, i) for i in range(len(given))]
    changes = [sum(_changes(word, merges)) for word, _ in words]
    read_too_often = [i for i, (read, changed) in enumerate(zip(reads, changes)) if read > 1 + changed]
    tuples = all(isinstance(word, tuple) for word in after)
    return {"merges": merges, "words": after, "read too often": read_too_often, "pieces are tuples": tuples}


def _changes(word, merges):
    """For each merge whether it changes the piece."""
    string = _string(word)
    for new, pair in enumerate(merges, 256):
        before, string = string, string.replace(_string(pair), chr(new))
        yield before != string


@trained.oracle
def _(torch, words, count):
    strings, merges = [_string(word) for word, _ in words], []
    while len(merges) < count:
        every = BETWEEN.join(string for string, (_, times) in zip(strings, words) for _ in range(times))
        pairs = sorted(a + b for a, b in zip(every, every[1:]) if BETWEEN not in (a, b))
        times = {pair: len([*same]) for pair, same in groupby(pairs)}  # the smallest pair is the first
        best = max(times, key=times.get, default="")
        if times.get(best, 0) < 2:
            break
        strings = [string.replace(best, chr(256 + len(merges))) for string in strings]
        merges.append(_ids(best))
    return {
        "merges": merges,
        "words": [_ids(string) for string in strings],
        "read too often": [],
        "pieces are tuples": True,
    }


# Special tokens ------------------------------------------------------------------------------------------------------

SPECIAL = {"<|end|>": 300, "<|user|>": 301, "<|end|><|user|>": 302, "[a]": 0, "a": 304, "|><|user|>": 305}
PARTS = ["<|end|>", "<|user|>", "[a]", "a", "hi ", "<|", "end", "|>", "b", "ñ"]


def _about_special(case, mine, theirs):
    if is_error(theirs):
        return "a name that is disallowed is an error, wherever it is in the text, also if it is allowed or not a special token"
    if is_error(mine):
        return (
            'a name that is not disallowed is no error: "all" means all special tokens that are not allowed'
            if mine["error"][0] == "ValueError"
            else None
        )
    if "" in field(mine, "encoded"):
        return "an empty part is not encoded"
    return "cut the text at allowed names only, as they are written: the one that begins first, and of two there the longer one"


@program(
    "course.tokens.encode_special",
    cases=drawn(
        text=lambda st: st.lists(st.sampled_from(PARTS), max_size=5).map("".join), allowed=several([*SPECIAL], 0, 3, unique=True),
        disallowed=[None, "all", [], ["<|end|>"], ["a", "[a]"]], kind=["list", "tuple", "set"],
    ),
    edges=rows("text allowed disallowed", *(
        ("", [], None), ("hi b", [], None), ("hi b", ["<|end|>"], "all"), ("hi <|end|>", [], None), ("hi <|end|>", ["<|end|>"],
        None),
        ("<|end|>", ["<|end|>"], "all"), ("<|end|>hi <|end|><|end|>b", ["<|end|>"], None), ("<|user|>", ["<|end|>"], None),
        ("<|user|>", ["<|end|>"], []), ("<|user|><|end|>", ["<|end|>"], []), ("hi <|end|>", [], []), ("<|end|>", ["<|end|>"],
        ["<|end|>"]),
        ("[b]", ["[a]"], []), ("a[a]a", ["[a]"], []), ("a[a]a", ["a", "[a]"], None), ("bab", ["a"], None), ("bab", [], ["a"]),
        ("<|end|><|user|>", ["<|end|>", "<|user|>", "<|end|><|user|>"], None), ("<|end|><|user|>", ["<|end|>", "<|end|><|user|>"],
        []),
        ("<|end|><|user|>", ["<|end|><|user|>", "<|end|>"], []), ("<|end|><|end|><|user|>", ["<|user|>", "<|end|><|user|>"], []),
        ("ñ<|end", ["<|end|>"], None), ("<|end|>|>", ["<|end|>"], None), ("b", ["<|end|>", "a"], ["<|user|>"]), ("aa", ["a"], []),
        ("<|end|><|user|>", ["<|end|>", "|><|user|>"], []), ("<|><|user|>", ["<|end|>", "|><|user|>"], []),  # they overlap
        ("a", [], "all"), ("<|end|><|user|>", ["<|end|><|user|>"], ["<|user|>"]), ("hi b", [], ["b"]),
    )) + rows("text allowed disallowed kind", *(
        ("a<|end|>", ["<|end|>", "a"], None, kind) for kind in ("tuple", "set", "list"))) + rows("text allowed disallowed kind", *(
        (text, [], disallowed, "not given") for text, disallowed in (("hi b", None), ("a", None), ("a", [])))),
    hint=_about_special,
)  # fmt: skip
def special(rl, text, allowed, disallowed, kind="list"):
    parts, given = [], {"list": list, "tuple": tuple, "set": set}.get(kind, tuple)(allowed)

    def encode(part):
        parts.append(part)
        return iter(part.encode())

    names = ({} if kind == "not given" else {"allowed_special": given}) | (
        {} if disallowed is None else {"disallowed_special": disallowed}
    )
    tokens = rl.course.tokens.encode_special(text, encode, {**SPECIAL}, **names)
    assert sorted(given) == sorted(allowed) and (kind != "list" or given == [*allowed]), "`allowed_special` has changed"
    return {"tokens": tokens, "encoded": sorted(parts)}


@special.oracle
def _(torch, text, allowed, disallowed, kind="list"):
    if disallowed in (None, "all"):
        disallowed = [name for name in SPECIAL if name not in allowed]
    for name in disallowed:
        if len(text.split(name)) > 1:
            raise ValueError
    tokens, parts, i, start = [], [], 0, 0

    def finish(end):
        if end > start:
            parts.append(text[start:end])
            tokens.extend(text[start:end].encode())

    while i < len(text):
        here = max((name for name in allowed if text[i:].startswith(name)), key=len, default="")
        if here:
            finish(i)
            tokens.append(SPECIAL[here])
            start = i + len(here)
        i = start if here else i + 1
    finish(i)
    return {"tokens": tokens, "encoded": sorted(parts)}


# Batches by length ---------------------------------------------------------------------------------------------------


def _about_batches(case, mine, theirs):
    if not isinstance(mine, list) or not all(isinstance(batch, list) for batch in mine):
        return None
    if [] in mine:
        return "no batch is empty, also before a row that is longer than the budget"
    if [*itertools.chain(*mine)] != [*itertools.chain(*theirs)]:
        return "rows are taken by length, the shortest first, and of equal lengths the earlier one"
    if any(len(batch) > 1 and len(batch) * case["lengths"][batch[-1]] > case["budget"] for batch in mine):
        return "with a longer row, all rows of the batch are padded to its length"
    return "a batch takes the next row as long as its tokens, padding included, are at most the budget"


@program(
    "course.tokens.batches_by_length",
    cases=drawn(lengths=several((1, 6), 0, 9), budget=(1, 14)),
    edges=rows("lengths budget", *(
        ([], 4), ([3], 4), ([3], 3), ([3], 2), ([5, 2, 3, 2], 6), ([1, 1, 1, 1], 3), ([1, 1, 1, 1], 4), ([4, 3, 2, 1], 4),
        ([6, 6, 1], 5),
        ([2, 2, 2, 3], 9), ([2, 2, 2, 3], 12), ([2, 2, 2, 3], 11), ([6, 5], 5), ([1, 6, 1], 6), ([3, 1, 2, 3, 1, 2], 6), ([2, 1],
        3),
        ([5, 5, 5, 1, 1], 10),
    )),
    hint=_about_batches,
)  # fmt: skip
def batched(rl, lengths, budget):
    return rl.course.tokens.batches_by_length(lengths, budget)


@batched.oracle
def _(torch, lengths, budget):
    order = [i for _, i in sorted(zip(lengths, range(len(lengths))))]
    batches = []
    while order:  # as many as fit, and one at least
        most = max((n for n in range(1, len(order) + 1) if n * lengths[order[n - 1]] <= budget), default=1)
        batches.append(order[:most])
        order = order[most:]
    return batches
