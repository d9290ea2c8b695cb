"""Lab 12a, text as tokens: pieces, pairs and merges, learned and applied, and back to text.

The oracles work on texts in which each token is a character, so that a merge is `str.replace`.
"""

from __future__ import annotations

import math
from collections import Counter

from rushlight.course.predictions import TOKENIZED

from ...engine.check import program
from ...engine.observe import is_error
from ..cases import drawn, field, listed, predicted, rows, several, type_name

# Pieces --------------------------------------------------------------------------------------------------------------

CHARACTERS = [*"ab7ñ_.,¿(  \n\t", "é", "½", "²", "\u00a0", "\u0301", "日", "🙂"]


def _text(characters, most=10):
    return lambda st: st.lists(st.sampled_from(characters), max_size=most).map("".join)


def _about_pieces(case, mine, theirs):
    if not isinstance(mine, list) or not all(isinstance(piece, str) for piece in mine):
        return "the result is a list of str" if not is_error(mine) else None
    words, wanted = ([piece.strip() for piece in pieces if piece.strip()] for pieces in (mine, theirs))
    if words != wanted:
        return "letters and digits are all c with c.isalnum(), and marks all others that are no white space, as long as possible"
    return "only the last white space before a word or a mark belongs to it, and only if it is a space"


@program(
    "course.tokens.pieces",
    cases=drawn(text=_text(CHARACTERS)),
    edges=rows("text", *((text,) for text in (
        "", "a", " ", "a b", "a  b", "a   b", " a", "  a", "a ", "a  ", "a\nb", "a\n b", "a \nb", "a\n\nb", "\t a", "\ta", " \t",
        ".a",
        "a.", "a .", "a  .", ".,a", ". ,", "(talk) yesterday she", "¿los libros? sí.", "niños", "a1b2 34", "a_b", "_", " _", "__ a",
        "._.", " ._ ", "don't", "½²", "a\u00a0b", "\u00a0a", " \u00a0 a", "e\u0301a", "日本 語", "🙂🙂 a", " 🙂", "a\u3000b", "\n.",
        " \n.", "\u00a0.", "\x1f a", "a\x85.",
    ))),
    hint=_about_pieces,
)  # fmt: skip
def split(rl, text):
    return rl.course.tokens.pieces(text)


@split.oracle
def _(torch, text):
    return _pieces(text)


def _kind(character):
    return "space" if character.isspace() else "word" if character.isalnum() else "mark"


def _pieces(text):
    """One character after another: it is added to the piece before it, or begins a new one."""
    pieces = []
    for character in text:
        before = _kind(pieces[-1][-1]) if pieces else ""
        if pieces and (before == _kind(character) or pieces[-1] == " "):
            pieces[-1] += character
        elif before == "space" and pieces[-1].endswith(" "):
            pieces[-1:] = [pieces[-1][:-1], " " + character]
        else:
            pieces.append(character)
    return pieces


# Pairs and merges ----------------------------------------------------------------------------------------------------

WORD = listed(several((97, 99), 0, 6), (1, 4))  # few letters, so that pairs occur again


def _about_pairs(case, mine, theirs):
    if is_error(mine):
        return None
    if field(mine, "type") != "Counter":
        return "the result is a `Counter`"
    if [pair for pair, _ in field(mine, "result")] != [pair for pair, _ in field(theirs, "result")]:
        return (
            "the pairs are those that occur in a piece: its last token and the first one of the next piece are no pair"
        )
    return (
        "a piece counts as often as it occurs, and its pairs overlap: (7, 7, 7) has the pair (7, 7) twice. "
        "No pair goes from one piece to the next"
    )


@program(
    "course.tokens.count_pairs",
    cases=drawn(words=several(WORD, 0, 5)),
    edges=rows("words", *((words,) for words in (
        [], [[[], 3]], [[[97], 2]], [[[97, 98], 1]], [[[97, 98], 4]], [[[97, 98, 97, 98], 3]], [[[97, 97, 97], 2]],
        [[[97, 98], 1], [[98, 97], 2]], [[[97, 98, 99], 2], [[98, 99], 3]], [[[99, 300, 99], 1], [[300, 99], 5]],
    ))),
    show=lambda torch, words: f"count_pairs({_as_words(words)})",
    hint=_about_pairs,
)  # fmt: skip
def pairs(rl, words):
    given = _as_words(words)
    counts = rl.course.tokens.count_pairs(given)
    assert given == _as_words(words), "`words` has changed"
    pairs = sorted([list(pair), times] for pair, times in counts.items())
    return {"type": "Counter" if isinstance(counts, Counter) else type_name(counts), "result": pairs}


def _as_words(words):
    """A dict of pieces, each with how often it occurs. A piece that is listed twice occurs as often as its last entry says."""
    return {tuple(word): times for word, times in words}


@pairs.oracle
def _(torch, words):
    every = [word for word, times in _as_words(words).items() for _ in range(times) if len(word) > 1]
    if not every:
        return {"type": "Counter", "result": []}
    both = torch.cat([torch.tensor(word).unfold(0, 2, 1) for word in every])
    pairs, times = torch.unique(both, dim=0, return_counts=True)
    return {"type": "Counter", "result": [[pair, number] for pair, number in zip(pairs.tolist(), times.tolist())]}


def _about_merging(case, mine, theirs):
    if is_error(mine):
        return None
    if field(mine, "type") != "tuple":
        return "the result is a tuple, also for a list"
    if case["pair"][0] == case["pair"][1] or case["new"] in case["pair"]:
        return (
            "pairs are joined from left to right, and a token that is part of one, or that is new, is not joined again"
        )
    return "every pair is joined, and all other tokens stay: the last one has no right neighbour"


@program(
    "course.tokens.merge",
    cases=drawn(ids=several((97, 99), 0, 9), pair=listed((97, 98), (97, 98)), new=[256, 300, 97, 98], as_list=bool),
    edges=rows("ids pair new as_list", *(
        ([], [97, 98], 256, False), ([97], [97, 97], 256, False), ([97, 98], [97, 98], 256, False), ([97, 98], [97, 98], 256, True),
        ([98, 97], [97, 98], 256, False), ([97, 97, 97], [97, 97], 256, False), ([97, 97, 97, 97], [97, 97], 256, False),
        ([97] * 5, [97, 97], 256, True), ([99, 97, 98, 97, 98, 99], [97, 98], 256, False), ([97, 98, 97], [97, 98], 256, False),
        ([97, 98, 98], [97, 98], 97, False), ([97, 97, 97], [97, 97], 97, False), ([97, 97, 98], [97, 98], 98, False),
        ([97, 97, 98, 98], [97, 98], 97, True), ([99, 99, 97], [99, 97], 256, False), ([97, 99, 98], [97, 98], 256, False),
        ([256, 97, 256, 97], [256, 97], 257, False), ([97, 98, 99], [98, 99], 300, False), ([97, 97, 97, 98], [97, 97], 300, False),
        ([197, 98], [97, 98], 256, False), ([97, 985], [97, 98], 256, True), ([97], [97, 0], 256, False),
        ([0, 0, 97, 0], [0, 0], 256, False),
        ([97, 98, 98, 98], [97, 98], 97, False), ([97, 97, 98], [97, 98], 97, True),
        ([97] * 6, [97, 97], 97, False), ([98, 97, 98, 98], [97, 98], 97, False), ([99, 97, 98, 98], [97, 98], 97, False),
        ([97, 97, 97, 98], [97, 97], 97, False),
        ([97, 0], [97, 98], 256, False), ([99, 97, 98, 97], [97, 98], 0, True), ([300, 301, 300, 301], [300, 301], 302, False),
    )),
    hint=_about_merging,
)  # fmt: skip
def merged(rl, ids, pair, new, as_list):
    given = list(ids) if as_list else tuple(ids)
    merged = rl.course.tokens.merge(given, tuple(pair), new)
    assert [*given] == [*ids], "`ids` has changed"
    return {"type": "tuple" if isinstance(merged, tuple) else type(merged).__name__, "items": merged}


@merged.oracle
def _(torch, ids, pair, new, as_list):
    return {"type": "tuple", "items": _ids(_string(ids).replace(_string(pair), chr(new)))}


def _string(ids):
    return "".join(map(chr, ids))


def _ids(string):
    return [*map(ord, string)]


# Learning ------------------------------------------------------------------------------------------------------------

BETWEEN = chr(5000)  # between two pieces


def _times(text, merges):
    """How often each pair occurs after these merges: the merges and the pairs are strings, and all pieces are one string."""
    string = BETWEEN.join(_string(piece.encode()) for piece in _pieces(text))
    for new, pair in enumerate(merges, 256):
        string = string.replace(pair, chr(new))
    return Counter(a + b for a, b in zip(string, string[1:]) if BETWEEN not in (a, b))


def merges_of(text, count):
    """The merges of a text, by merging in one string of all pieces."""
    merges = []
    while len(merges) < count:
        times = _times(text, merges)
        most = max(times.values(), default=0)
        if most < 2:
            break
        merges.append(min(pair for pair in times if times[pair] == most))
    return [*map(_ids, merges)]


def _about_learning(case, mine, theirs):
    if not isinstance(mine, list):
        return None
    same = next((i for i, pair in enumerate(zip(mine, theirs)) if pair[0] != pair[1]), min(len(mine), len(theirs)))
    if same == len(mine) and case["text"].isascii():
        return "the learning goes on as long as a pair occurs twice, in one piece or in several, also in white space"
    now, first = (_times(case["text"], [*map(_string, merges)]) for merges in (theirs[:same], []))
    pair = _string(mine[same]) if same < len(mine) else ""
    if not now[pair] and not first[pair]:
        return "at first the tokens are the UTF-8 bytes of each piece: no pair crosses from one piece into the next"
    if same == len(theirs):
        return "a pair that occurs only once is not merged, and there are at most `count` merges"
    if now[pair] == now[_string(theirs[same])]:
        return "of equally frequent pairs the smallest is merged, as tuples compare"
    return (
        "count the pairs again after each merge: a pair counts as often as it occurs, in all pieces, also in equal ones"
    )


@program(
    "course.tokens.train",
    cases=drawn(text=_text([*"aab b ", "ñ", "."], 24), count=(0, 6)),
    edges=rows("text count", *(
        ("", 3), ("a", 3), ("aa", 3), ("abab", 0), ("abab", 1), ("abab", 5), ("ab ab ab", 5), ("aaaa", 3), ("aaa aaa", 3),
        ("ab ba", 4),
        ("ba ab ba ab", 1), ("ba ab ba ab", 4), ("abc abc abd", 3), ("low lower lowest", 3), ("low lower lowest", 9), ("ññ ñ", 4),
        ("is this this is", 9), ("a a a a", 3), ("a, a, a,", 5), ("ab\nab\nab", 4), ("acab acab cab", 3), ("aabb aabb", 2),
        ("xyxyxy", 2),
        ("abcabc cab", 4), ("a  b  a  b", 3), ("zz yy zz yy", 2), ("ddd ccc ddd ccc", 4), ("ab a b", 2), ("abab.abab", 3),
        ("Ab\nab\nAb", 3),
        ("az\nbc\naz\nbc", 1), ("ac\nab\nac\nab", 1), ("a    b    ", 2),
    )),
    hint=_about_learning,
)  # fmt: skip
def learned(rl, text, count):
    return rl.course.tokens.train(text, count)


@learned.oracle
def _(torch, text, count):
    return merges_of(text, count)


# Text to tokens and back ---------------------------------------------------------------------------------------------


def encoded(text, merges):
    """The tokens of a text, after all merges in their order."""
    return [token for piece in _pieces(text) for token in _after(piece.encode(), dict(enumerate(merges, 256)))]


def _after(ids, merges):
    """The tokens of one piece, after merges by their tokens."""
    string = _string(ids)
    for new in sorted(merges):
        string = string.replace(_string(merges[new]), chr(new))
    return _ids(string)


def _merges(picked):
    """Merges from pairs of numbers: each number is an index of the tokens that there are so far."""
    known, merges = [97, 98, 99], {}
    for a, b in picked:
        pair = [known[a % len(known)], known[b % len(known)]]
        if pair not in merges.values():
            merges[256 + 2 * len(merges)] = pair
            known.append(254 + 2 * len(merges))
    return merges


def _about_order(case, mine, theirs):
    if is_error(mine):
        return None
    return "of all pairs that fit anywhere in the piece the one with the smallest token comes first, then all are searched again"


@program(
    "course.tokens.apply_merges",
    cases=drawn(ids=several((97, 99), 0, 10), picked=several(listed((0, 8), (0, 8)), 0, 5), kind=["tuple", "list", "bytes"],
        turned=bool),
    edges=rows("ids picked kind turned", *(
        ([], [], "tuple", False), ([97], [[0, 0]], "tuple", False), ([97, 98], [], "list", False), ([97, 98], [[0, 1]], "tuple",
        False),
        ([97, 98, 99], [[1, 2], [0, 1]], "bytes", False), ([97, 98, 99], [[0, 1], [1, 2]], "tuple", False),
        ([97, 98, 99], [[1, 2], [0, 1]], "tuple", True), ([97, 98, 99], [[0, 1], [1, 2]], "tuple", True),
        ([97] * 7, [[0, 0], [3, 3]], "tuple", False), ([97] * 7, [[0, 0], [3, 0]], "list", True),
        ([97, 98], [[1, 0]], "bytes", False),
        ([97, 98, 97, 98, 99], [[0, 1], [3, 3], [3, 2]], "tuple", False), ([97, 98, 99, 97, 98], [[0, 1], [3, 2], [1, 2]], "bytes",
        True),
        ([99, 98, 97, 98], [[2, 1], [0, 1], [3, 4]], "tuple", False), ([97, 98, 99, 98, 99], [[1, 2], [0, 3], [4, 3]], "tuple",
        True),
        ([97, 97, 98, 98], [[0, 1], [0, 3], [4, 1]], "tuple", False), ([98, 99, 97, 98], [[0, 1], [2, 3], [1, 2]], "list", False),
    )),
    show=lambda torch, ids, picked, kind, turned: f"apply_merges({_given(ids, kind)}, {_ranks(picked, turned)})",
    hint=_about_order,
)  # fmt: skip
def applied(rl, ids, picked, kind, turned):
    given, ranks = _given(ids, kind), _ranks(picked, turned)
    result = rl.course.tokens.apply_merges(given, ranks)
    assert given == _given(ids, kind), "`ids` has changed"
    assert ranks == _ranks(picked, turned), "`ranks` has changed"
    return result


def _given(ids, kind):
    return {"tuple": tuple, "list": list, "bytes": bytes}[kind](ids)


def _ranks(picked, turned):
    """The merges as a dict from pairs to tokens, the last one first if `turned`."""
    ranks = [(tuple(pair), new) for new, pair in _merges(picked).items()]
    return dict(ranks[::-1] if turned else ranks)


@applied.oracle
def _(torch, ids, picked, kind, turned):
    return _after(ids, _merges(picked))


PARTS = [text.encode() for text in ("a", "ñ", "né", "🙂", "\n", ".")]
PARTS += [b"\xc3", b"\xb1", b"\xf0\x9f", b"\x99\x82", b"\xff", b"", b"\x80\x80", b"n\xc3", b"\xed\xa0"]


def _about_text(case, mine, theirs):
    parts = [PARTS[part] for part in case["parts"]]
    if mine == "".join(part.decode(errors="replace") for part in parts):
        return "a character may begin in one token and end in the next one"
    if is_error(mine) and mine["error"][0] == "UnicodeDecodeError":
        return "bytes that are no character are no error: each such part becomes U+FFFD"
    if mine == b"".join(parts).decode(errors="ignore"):
        return "bytes that are no character are not left out: each such part becomes U+FFFD"
    return "the bytes are UTF-8, in which a character has up to four" if isinstance(mine, str) else None


@program(
    "course.tokens.decode",
    cases=drawn(parts=several((0, len(PARTS) - 1), 0, 7), as_iterator=bool),
    edges=rows("parts as_iterator", *((parts, as_iterator) for as_iterator in (False, True) for parts in (
        [], [0], [0, 5], [1, 2], [3], [6], [6, 7], [7], [6, 0], [6, 6, 7], [8, 9], [8], [9], [8, 0, 9], [10], [11], [12], [13, 7],
        [13, 13, 7],
        [14], [14, 12], [0, 4, 0], [8, 9, 8, 9], [6, 7, 6], [4], [4, 0, 4],
    ))),
    show=lambda torch, parts, as_iterator: "decode({}, {})".format(
        f"iter({_with_table(parts)[0]})" if as_iterator else _with_table(parts)[0], _with_table(parts)[1]
    ),
    hint=_about_text,
)  # fmt: skip
def decoded(rl, parts, as_iterator):
    ids, table = _with_table(parts)
    return rl.course.tokens.decode(iter(ids) if as_iterator else ids, table)


def _with_table(parts):
    """Tokens for these parts, and the table that has their bytes."""
    known = sorted({*parts})
    return [known.index(part) for part in parts], [PARTS[part] for part in known]


@decoded.oracle
def _(torch, parts, as_iterator):
    import codecs

    decoder = codecs.getincrementaldecoder("utf-8")("replace")  # byte by byte
    texts = [decoder.decode(bytes([byte])) for part in parts for byte in PARTS[part]]
    return "".join(texts) + decoder.decode(b"", final=True)


# Predictions ---------------------------------------------------------------------------------------------------------


@program("course.predictions.tokenized", **predicted(TOKENIZED, draws=len(TOKENIZED)))
def numbers(rl, program):
    return rl.course.predictions.tokenized(program)


@numbers.oracle
def _(torch, program):
    names = {"xp": torch, "math": math, "pieces": _pieces, "train": merges_of, "encode": _written_out}
    names["decode"] = lambda parts: b"".join(parts).decode(errors="replace")
    exec(TOKENIZED[program], names)
    return round(names["answer"])


def _written_out(text, merges):
    """The tokens of a text as bytes. The merges are pairs of texts."""
    bytes_of = [bytes([byte]) for byte in range(256)]
    numbers = []
    for a, b in merges:
        numbers.append([bytes_of.index(a.encode()), bytes_of.index(b.encode())])
        bytes_of.append(a.encode() + b.encode())
    return [bytes_of[token] for token in encoded(text, numbers)]
