"""How alike the answers of a class are: pairs of students whose answers share what few other answers have.

An answer becomes a row of *tokens*, its syntax tree without docstrings, annotations and the names of variables. Of these tokens
winnowing (Schleimer, Wilkerson and Aiken, 2003) keeps some of the hashes of `GRAM` in a row: its *fingerprints*. Its *words*, the
names and the comments, are compared too.

Two answers are as alike as the part of their fingerprints, or words, that both have, where one that `k` of `n` answers have weighs
log2(n / k), so a common one weighs nothing. How alike honest answers are depends on the exercise. So a pair counts
log2(pairs / pairs that are at least as alike) bits for each exercise. Nothing here decides whether a student copied.
"""

from __future__ import annotations

import ast
import io
import tokenize
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations

import numpy

from .join import parsed

GRAM = 10  # tokens that make a hash: an expression of some length
WINDOW = 4  # hashes, and the smallest of them is kept


@dataclass(frozen=True)
class Answer:
    """A student's code for an exercise. `lines` has, for each fingerprint, the lines of the source where it is, from 1."""

    student: str
    exercise: str
    source: str
    lines: Mapping[int, tuple[int, int]]
    words: frozenset[str]


@dataclass(frozen=True)
class Likeness:
    """How alike two answers to an exercise are, from 0 to 1, and how rare that is in this class, in bits: of code, and of words."""

    code: float
    code_bits: float
    words: float
    words_bits: float

    @property
    def bits(self) -> float:
        return self.code_bits + self.words_bits


@dataclass(frozen=True)
class Pair:
    """Two students, and how alike their answers are to each exercise that both attempted."""

    students: tuple[str, str]
    exercises: Mapping[str, Likeness]

    @property
    def bits(self) -> float:
        return sum(likeness.bits for likeness in self.exercises.values())


def answer(student: str, exercise: str, source: str, given: str = "") -> Answer:
    """A student's answer. The words of `given`, the lab's own text, are not the student's."""
    prints = dict(fingerprints(tokens(source)))
    return Answer(student, exercise, source, prints, frozenset(_words(source)) - {*_words(given)})


def pairs(answers: Iterable[Answer], published: Sequence[str] = ()) -> list[Pair]:
    """All pairs of students of a class, the most bits first. Those who `published` are compared with the class only."""
    by_exercise: dict[str, dict[str, Answer]] = {}
    for answer in answers:
        by_exercise.setdefault(answer.exercise, {})[answer.student] = answer
    likenesses: dict[tuple[str, str], dict[str, Likeness]] = {}
    for exercise, given in by_exercise.items():
        names = [*given]
        compared = [(i, j) for i, j in combinations(range(len(names)), 2) if {names[i], names[j]} - {*published}]
        if not compared:
            continue
        places = tuple(zip(*compared))
        code = _alike([answer.lines.keys() for answer in given.values()])[places]
        words = _alike([answer.words for answer in given.values()])[places]
        for (i, j), *values in zip(compared, code, _rarity(code), words, _rarity(words)):
            students = min(names[i], names[j]), max(names[i], names[j])
            likenesses.setdefault(students, {})[exercise] = Likeness(*map(float, values))
    return sorted((Pair(*item) for item in likenesses.items()), key=lambda pair: -pair.bits)


def _alike(features: Sequence[Iterable]) -> numpy.ndarray:
    """For each two of these sets, the weight of what both have as a part of the weight of what either has."""
    counts = Counter(feature for one in features for feature in one)
    columns = {feature: place for place, feature in enumerate(counts)}
    has = numpy.zeros((len(features), len(columns)))
    for row, one in enumerate(features):
        has[row, [columns[feature] for feature in one]] = 1
    weights = numpy.log2(len(features) / numpy.array([*counts.values()], dtype=float))
    both, own = (has * weights) @ has.T, has @ weights
    either = own[:, None] + own - both
    return numpy.divide(both, either, out=numpy.zeros_like(both), where=either > 0).round(9)


def _rarity(alike: numpy.ndarray) -> numpy.ndarray:
    """For each value, the bits that say how few are at least as high."""
    return numpy.log2(len(alike) / (len(alike) - numpy.searchsorted(numpy.sort(alike), alike)))


def outlier_bits(compared: Sequence[Pair]) -> float:
    """The bits above which a pair is far out of this class: three interquartile ranges above the third quartile."""
    first, third = numpy.quantile([pair.bits for pair in compared], [0.25, 0.75])
    return float(third + 3 * (third - first))


# Tokens and fingerprints ---------------------------------------------------------------------------------------------


def fingerprints(tokens: Sequence[tuple[str, int]]) -> Iterator[tuple[int, tuple[int, int]]]:
    """The hashes of tokens that winnowing keeps, each with the first and the last line of its tokens."""
    grams = [tokens[i : i + GRAM] for i in range(max(len(tokens) - GRAM, 0) + 1)] if tokens else []
    hashes = [zlib.crc32("\n".join(text for text, _ in gram).encode()) for gram in grams]
    windows = (range(start, min(start + WINDOW, len(hashes))) for start in range(max(len(hashes) - WINDOW, 0) + 1))
    for at in dict.fromkeys(min(window, key=lambda i: (hashes[i], -i)) for window in windows if window):
        numbers = [line for _, line in grams[at] if line]
        yield hashes[at], (min(numbers, default=1), max(numbers, default=1))


def tokens(source: str) -> list[tuple[str, int]]:
    """The nodes of a cell's syntax tree, each with its line. IPython's commands count as `pass`. Empty if it is no Python."""
    with suppress(ValueError):  # for a number of thousands of digits
        return list(_walk(tree)) if (tree := parsed(source)) else []
    return []


def _walk(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """The nodes of a syntax tree from the top down, each with its line."""
    own = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    own |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}

    def walk(node: ast.AST, line: int) -> Iterator[tuple[str, int]]:
        line = getattr(node, "lineno", line)
        if isinstance(node, ast.Name):
            yield ("a variable" if node.id in own else node.id), line
            return
        if isinstance(node, ast.Constant):
            yield ("a text" if isinstance(node.value, str) else repr(node.value)), line
            return
        if not isinstance(node, ast.expr_context | ast.Module | ast.Expr):
            yield f"{type(node).__name__} {getattr(node, 'attr', '')}", line
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list"):
                continue
            children = value if isinstance(value, list) else [value]
            if name == "body" and isinstance(node, ast.FunctionDef) and ast.get_docstring(node) is not None:
                children = children[1:]
            for child in children:
                if isinstance(child, ast.AST):
                    yield from walk(child, line)

    return walk(tree, 1)


def _words(source: str) -> Iterator[str]:
    """The names and the comments of a piece of code."""
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type in (tokenize.NAME, tokenize.COMMENT):
                yield " ".join(token.string.split())
    except (tokenize.TokenError, IndentationError, SyntaxError):
        return
