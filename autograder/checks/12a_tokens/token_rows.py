"""Lab 12a, what a model needs of tokens: words as tokens, rows of inputs and targets, and numbers that compare models."""

from __future__ import annotations

import math
import re

from ...engine.check import program
from ...engine.observe import is_error
from ..cases import drawn, explained, rows, several, type_name

# Words ---------------------------------------------------------------------------------------------------------------

TEXTS = ["she", "walked", "  ", ",", "...", "¿", "hablé", "a", " ", "\n", "_", "7"]


def _about_words(case, mine, theirs):
    if is_error(mine):
        return None
    known = [token for token in theirs if token != len(case["known"])]
    if mine == known:
        return "a word that is not in `ids` is the token `len(ids)`, and is not left out"
    return "a word is a piece without its space, white space is no token, and the token of a word is its value in `ids`"


@program(
    "course.tokens.encode_words",
    cases=drawn(text=lambda st: st.lists(st.sampled_from(TEXTS), max_size=8).map(" ".join), known=several(TEXTS, 0, 5,
        unique=True), turned=bool),
    edges=rows("text known turned", *((text, known, turned) for turned in (False, True) for text, known in (
        ("", []), ("she", []), ("she", ["she"]), ("she walked", ["walked", "she"]), ("she ran", ["she"]), (" she", ["she"]),
        ("she  \n walked", ["she", "walked"]), ("she, walked.", ["she", "walked", "."]), ("(she)", ["(", "she"]), ("  ", ["she"]),
        ("¿hablé?", ["hablé", "¿"]), ("shes", ["she"]), ("she ...", ["..."]), ("she ...", ["."]), ("She", ["she"]), (" . a",
        [" .", "."]),
        ("ran ran she", ["she", "walked"]), ("she\u00a0walked", ["walked"]), ("a_b", ["a", "_", "b"]), (", she", [" she", ","]),
    ))),
    show=lambda torch, text, known, turned: f"encode_words({text!r}, {_numbers(known, turned)})",
    hint=_about_words,
)  # fmt: skip
def words(rl, text, known, turned):
    ids = _numbers(known, turned)
    result = rl.course.tokens.encode_words(text, ids)
    assert ids == _numbers(known, turned), "`ids` has changed"
    return result


def _numbers(known, turned):
    """The words with their tokens, the last one first if `turned`."""
    ids = [(word, i) for i, word in enumerate(known)]
    return dict(ids[::-1] if turned else ids)


@words.oracle
def _(torch, text, known, turned):
    words = re.findall(r"[^\W_]+|(?:[^\w\s]|_)+", text)
    return [known.index(word) if word in known else len(known) for word in words]


# Rows ----------------------------------------------------------------------------------------------------------------


class Letters:
    """A tokenizer for a case: each letter is a token, and two letters c are one."""

    def __init__(self, end):
        self.end = end

    def encode(self, text):
        return [ord(letter) - ord("a") for letter in text.replace("cc", "d")]


@program(
    "course.training.rows",
    cases=drawn(texts=lambda st: st.lists(st.text("abc", max_size=6), max_size=5), length=(1, 6), end=[9, 26], once=bool),
    edges=rows("texts length end once", *(
        ([], 3, 9, False), (["a"], 3, 9, False), (["a"], 2, 9, False), (["a"], 1, 9, False), ([""], 1, 9, False), ([""], 2, 26,
        False),
        (["ab", "c"], 4, 9, False), (["abc"], 4, 26, True), (["abcd"], 4, 9, False), (["abcd", "a", "abc"], 4, 9, True),
        (["ba", "ca", "ab"], 3, 26, False), (["a", "abcab", "", "b"], 3, 9, True), (["cc", "abca"], 6, 9, False),
        (["ab", "c", "ab"], 3, 9, True), (["cccc", "ccca"], 3, 9, False),
    )),
    show=lambda torch, texts, length, end, once: (
        f"rows({f'iter({[*texts]})' if once else [*texts]}, tokenizer, {length})\n"
        f"# the tokens of `tokenizer` are 0 for a, 1 for b, 2 for c and 3 for cc, and its end is {end}"
    ),
    hint=explained(
        kind="each text has a row, unless it has more than `length` targets, its end included, and both arrays are int64",
        inputs="the input of a position is the target before it, and the first input is `end`",
        targets="the targets are all tokens of the text, then its end, and -100 behind it",
    ),
)  # fmt: skip
def shifted(rl, texts, length, end, once):
    result = rl.course.training.rows(iter(texts) if once else texts, Letters(end), length)
    inputs, targets = result
    same = [type_name(result), str(inputs.dtype), str(targets.dtype), [*inputs.shape], [*targets.shape]]
    return {"kind": same, "targets": targets.tolist(), "inputs": inputs.tolist()}


@shifted.oracle
def _(torch, texts, length, end, once):
    every = [torch.tensor([*Letters(end).encode(text), end]) for text in texts]
    kept = [targets for targets in every if len(targets) <= length]
    widest = torch.zeros(length, dtype=torch.int64)  # a row that makes all others as long
    pad = torch.nn.utils.rnn.pad_sequence
    targets = pad([*kept, widest], batch_first=True, padding_value=-100)[:-1]
    padded = pad([*kept, widest], batch_first=True, padding_value=end)[:-1]
    inputs = torch.cat([torch.full((len(kept), 1), end), padded[:, :-1]], 1)
    kind = ["sequence", "int64", "int64", [len(kept), length], [len(kept), length]]
    return {"kind": kind, "targets": targets.tolist(), "inputs": inputs.tolist()}


# Comparisons ---------------------------------------------------------------------------------------------------------

LENGTHS = [1, 3, 2, 5, 0]  # the bytes of each token


def _about_numbers(case, mine, theirs):
    if is_error(mine):
        return None
    if not (isinstance(mine, list) and len(mine) == 2 and all(isinstance(number, float) for number in mine)):
        return "the result is a tuple of two floats"
    apart = [not math.isclose(mine[i], theirs[i]) for i in (0, 1)]
    if apart[1] and case["ignored"] in _targets(case["targets"], case["ignored"]):
        return "a position whose target is `ignore_index` does not count, whatever its loss"
    if apart[0]:
        return "the perplexity is e to the power of the mean of the losses of the positions that count"
    return "bits for a byte: the sum of all losses, divided by ln 2, over the sum of the bytes of all targets"


@program(
    "course.tokens.perplexity_and_bits",
    cases=drawn(scores=several(several((-6, 6), 5, 5), 5, 5), targets=several([0, 1, 2, 3, -1], 0, 4), ignored=[-100, -7, 9, 1],
        as_tuple=bool),
    edges=rows("scores targets ignored as_tuple", *(([[0] * 5] * 5, *others) for others in (
        ([], -100, False), ([-1], -100, False), ([1, -1, -1], -100, True), ([2, 3], 9, False), ([-1, 3, -1], -7, True))),
        *(([[1, 2, 0, -3, 4], [6, 0, 0, 1, -2], [0, 5, -5, 2, 1], [3, 3, 3, 0, 1], [-6, 6, 0, 0, 2]], *others) for others in (
            ([], -100, False), ([0, 1, 2], -100, False), ([3, -1, 1, 1], -100, True), ([-1, 4, 2], 9, False), ([1, 4, 4], -100,
            False), ([1, 0, 1], 1, False))),
    ),
    show=lambda torch, scores, targets, ignored, as_tuple: (
        f"perplexity_and_bits({_losses(scores, targets)}, {_targets(targets, ignored)}, table, ignore_index={ignored})\n"
        f"# the tokens of `table` have {', '.join(map(str, LENGTHS))} bytes, which are beginnings of 'ñññ' in UTF-8"
    ),
    hint=_about_numbers,
)  # fmt: skip
def compared(rl, scores, targets, ignored, as_tuple):
    losses, given = _losses(scores, targets), _targets(targets, ignored)
    if as_tuple:
        losses, given = tuple(losses), tuple(given)
    table = ["ñññ".encode()[:length] for length in LENGTHS]
    function = rl.course.tokens.perplexity_and_bits
    result = function(losses, given, table, **({} if ignored == -100 else {"ignore_index": ignored}))
    return result


def _targets(targets, ignored):
    """The targets, and at the end always a token with bytes."""
    return [ignored if target == -1 else target for target in targets] + [3]


def _losses(scores, targets):
    """The loss of each position, and nan where the target is ignored."""
    losses = []
    for row, target in zip(scores, [*targets, 3]):
        total = math.log(sum(math.exp(number) for number in row))
        losses.append(math.nan if target == -1 else total - row[target])
    return losses


@compared.oracle
def _(torch, scores, targets, ignored, as_tuple):
    given = torch.tensor(_targets(targets, ignored))
    rows = torch.tensor(scores[: len(given)], dtype=torch.float64)
    loss = torch.nn.functional.cross_entropy
    perplexity = loss(rows, given, ignore_index=ignored).exp().item()
    size = sum(LENGTHS[target] for target in given.tolist() if target != ignored)
    nats = loss(rows, given, ignore_index=ignored, reduction="sum").item()
    return [perplexity, nats / math.log(2) / size]
