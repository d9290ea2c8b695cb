"""The judge: sends cases to a subject, compares what comes back with torch's answers, and decides.

The judge never runs a student's code. It sends cases to a *subject* through `ask(check name, cases)`, receives
observations as plain data, and compares them with torch's. These come from torch itself (`torch_source.py`), which also looks for
the smallest case on which the two differ; or, where there is no torch, from what was recorded of it (`practice.py`).

`python -m autograder.engine.judge` is the helper process of one notebook kernel, which is then the subject.
"""

from __future__ import annotations

import builtins
import math
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, BinaryIO

import numpy as np

from ..checks.cases import entries, field, first_apart
from ..language import phrase
from .check import CLINIC, ON_BOARD, Check, find, function_of, is_milestone, is_on_torch, shown_source
from .limits import IN_BROWSER
from .observe import (
    CALCULATION,
    TORCH,
    Apart,
    Difference,
    Malformed,
    NotGraded,
    Path,
    Readable,
    SubjectDied,
    SubjectTimedOut,
    Tree,
    accept,
    agreement,
    clean,
    clean_frames,
    difference,
    differences,
    has,
    is_error,
    is_of_function,
    is_refused,
    layouts,
    part_of,
    raised_of,
    receive,
    result_of,
    returned_value,
    send,
    show,
    show_frames,
    show_marked,
    told_first,
)
from .source import NOT_IN_A_PAGE, NotRecorded, PendingCases, Source, key_of, other_torch
from .verdict import (
    DIED,
    DISAGREED,
    GRADER_ERROR,
    MALFORMED,
    NEEDS_TORCH,
    NO_RESULT,
    NOT_ATTEMPTED,
    NOT_THEIR_FAULT,
    PASSED,
    TIMED_OUT,
    UNSTABLE,
    Verdict,
    calls_of,
)

SHRINK_SECONDS = 2.0
PORTION_SECONDS = 1.0  # of cases that are asked for at once, about: more are asked for if an answer takes less
PORTION_GROWTH = 4
SLOW_SECONDS = 30.0  # after which a slow answer is asked for no more drawn cases than `FEWEST`
FEWEST = 10
RARE = 5  # disagreements, of which one that raises is an edge case
INTEGER_BITS = 8 * np.dtype(int).itemsize  # of numpy's default integer, by the machine: it cannot be set
CODING_ERRORS = {"TypeError", "AttributeError", "NameError"}
_UNPACKS = re.compile("cannot unpack non-iterable|(?:not enough|too many) values to unpack")
_NUMBERS = {bool, int, float}
MAX_MARKED = 100  # differences between two results
MOST_COUNTS, LARGEST_COUNT, LONGEST_NAME = 20, 1 << 53, 40  # of what is counted: numbers, and characters of a name

Ask = Callable[[str, list[dict]], list[Tree]]
SecondChance = Callable[[Verdict], Verdict | None]


@dataclass(frozen=True)
class Disagreement:
    """A case on which subject and torch differ, the observation of each, and the exception that left the student's function."""

    case: dict
    mine: Tree
    theirs: Tree
    raised: Tree = None

    @property
    def raises(self) -> bool:
        """Whether only the student's side raises. An exception with a line of the student's is the clearest evidence."""
        return is_error(self.mine) and not is_error(self.theirs)

    @property
    def ended(self) -> bool:
        """Whether the exception of the student's function ended the program."""
        return is_error(self.mine) and isinstance(self.raised, dict) and self.raised.items() >= self.mine.items()

    @property
    def torch_raises_too(self) -> bool:
        """Whether torch has the exception of the student's function at each point of its answer where the student's has it."""
        names = self.raised.get("error") if isinstance(self.raised, dict) else None
        names = names[:1] if isinstance(names, list) else []
        mine = {path for name in names for path in _mentions(self.mine, name)}
        return bool(mine) and mine <= {path for name in names for path in _mentions(self.theirs, name)}

    @property
    def kind(self) -> tuple[bool, bool]:
        """A key that sorts the kinds of disagreements: only the student's side raises, torch has a result, torch raises."""
        return not self.raises, is_error(self.theirs)

    def order(self) -> tuple:
        """A key that sorts the disagreements, the simplest to a person first."""
        return self.kind, self.tells_little, *simplicity(self.case)

    @property
    def tells_little(self) -> bool:
        """Whether another case tells more: all of this one is an empty list or text, or its result has a tensor without elements,
        or is too long to read."""
        return _is_empty(self.case) or _parts(self.theirs) > MUCH


def _mentions(tree: Tree, name: str, path: tuple = ()) -> Iterator[tuple]:
    """The paths in an observation at which a program has noted that it caught an exception of this class."""
    match tree:
        case str() if tree in (name, f"raises {name}"):
            yield path
        case dict() | list():
            for key, item in tree.items() if isinstance(tree, dict) else enumerate(tree):
                yield from _mentions(item, name, (*path, key))


def simplicity(case: dict) -> tuple:
    """A key that sorts cases, the simplest to a person first."""
    return _is_empty(case), complexity(case), len(key_of(case))


def _is_empty(case: dict) -> bool:
    """Whether all of a case is an empty list or text."""
    [value, *others] = [*case.values()] or [None]
    return not others and (value == [] or isinstance(value, str) and not value.strip())


_PLAIN_DTYPES = ("float32", "int64")
FEW = 6  # elements of a tensor that is as easy to read as a smaller one
MUCH = 80  # values in a result: a reader sees a few of them only
ODD = 3  # elements that a dimension of size 1, no dimension, or an unusual dtype outweighs


def complexity(tree: Tree) -> tuple[float, ...]:
    """How hard a case is to read, the most important part first: tensors that are empty or made by `as_strided`, numbers that are
    infinite or NaN, and loops without operands; elements and lines of text, with what makes a small tensor a special one, such as
    a size of 1; dimensions, storage offsets, strides that are not contiguous, unusual dtypes, and the sizes of numbers."""
    match tree:
        case {"tensor": {"sizes": sizes, "strides": strides, "offset": offset, "dtype": dtype}}:
            steps = [step for size, step in zip(sizes, strides) if size != 1]
            plain = [math.prod(max(size, 1) for size in sizes[i + 1 :]) for i, size in enumerate(sizes) if size != 1]
            odd = (offset != 0, steps != plain, dtype not in _PLAIN_DTYPES)
            unusual = (0 in sizes) + (calls_of(sizes, strides, offset) is None)
            special = sizes.count(1) + (not sizes) + (dtype not in _PLAIN_DTYPES)
            return (unusual, max(math.prod(sizes), FEW) + ODD * special, len(sizes), *odd, 0)
        case {"view": [list(sizes), list(strides), int(offset)], "kind": {"dtype": str(dtype)}, **rest}:
            layout = {"sizes": sizes, "strides": strides, "offset": offset, "dtype": dtype}
            return complexity([{"tensor": layout}, rest])
        case {"dtype": str(dtype), **rest} if not rest:
            return (0, 1, 0, 0, 0, dtype not in _PLAIN_DTYPES, 0)
        case dict() | list() | tuple():
            items = tree.values() if isinstance(tree, dict) else tree
            unusual = (_has_no_elements(tree), *(0,) * 6)
            return tuple(map(sum, zip(unusual, *map(complexity, items))))
        case "inf" | "-inf" | "nan":
            return complexity(float(tree))
        case int() | float():
            size, unusual = abs(tree), isinstance(tree, float) and not math.isfinite(tree)
            magnitude = min(1e300, 1 / size if 1e-300 < size < 1e-3 else size)  # also for nan
            return (unusual, 1, 0, 0, 0, 0, magnitude)
        case str():
            return (0, 1 + tree.count("\n"), 0, 0, 0, 0, 0)
        case _:
            return (0, 1, 0, 0, 0, 0, 0)


def _has_no_elements(tree: Tree) -> bool:
    """Whether a tensor of a case is empty, which the case has as a list of `sizes` or as a `shape`, or a loop has no operands."""
    case = tree if isinstance(tree, dict) else {}
    sizes = [size for name in ("sizes", "shape") if isinstance(case.get(name), list) for size in case[name]]
    return 0 in sizes or case.get("operand_strides") == []


def _parts(tree: Tree) -> int:
    """The number of plain values in an observation. A tensor is one, and one without elements too much."""
    match tree:
        case {"tensor": {"shape": list(shape)}}:
            return 2 * MUCH if 0 in shape else 1
        case dict() | list():
            return sum(map(_parts, tree.values() if isinstance(tree, dict) else tree))
    return 1


Known = dict[str, Disagreement | None]  # by case, as a key: None if subject and torch agree on it


class Judge:
    """Decides checks on the cases of a source: by default torch's, of this seed or of one by chance.

    The same seed gives the same cases, so one judge grades a whole class alike; torch's answers are computed once.
    """

    def __init__(self, seed: int | None = None, source: Source | None = None):
        if source is None:
            from .torch_source import TorchSource  # imports torch

            source = TorchSource(seed)
        self.source = source

    def verdict(self, name: str, ask: Ask, second_chance: SecondChance | None = None) -> Verdict:
        """Decide one check. Every way in which a subject can fail has an outcome; only NotGraded is raised.

        A disagreement is explained by its smallest case, unless `second_chance(verdict)` returns another verdict.
        """
        verdict = self._timed(name, lambda check: self._decide(check, ask, second_chance))
        if second_chance is not None and verdict.outcome in (TIMED_OUT, DIED, MALFORMED):
            return second_chance(verdict) or verdict
        return verdict

    def replay(self, name: str, case: dict, ask: Ask) -> Verdict:
        """Decide one check on one given case, and explain that case."""
        return self._timed(name, lambda check: self._decide(check, ask, None, case))

    def _timed(self, name: str, decide: Callable[[Check], Verdict]) -> Verdict:
        start = time.perf_counter()
        try:
            verdict = decide(find(name))
        except (SubjectTimedOut, SubjectDied) as error:
            verdict = Verdict(name, TIMED_OUT if isinstance(error, SubjectTimedOut) else DIED, message=str(error))
            self._explain_end(verdict, find(name), error)
        except Malformed as error:
            verdict = Verdict(name, MALFORMED, message=str(error))
        except NotGraded:
            raise
        except NotRecorded as error:
            verdict = Verdict(name, GRADER_ERROR, message=str(error))
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
            verdict = Verdict(name, GRADER_ERROR, message=f"{said}{NOT_THEIR_FAULT}")
            if needs := other_torch():
                verdict = Verdict(name, NEEDS_TORCH, message=needs, notes=[clean(said)])
        verdict.message, verdict.hint = clean(verdict.message), clean(verdict.hint)
        verdict.seconds = time.perf_counter() - start
        verdict.notes += [self.source.note] if self.source.note and verdict.cases else []
        if verdict.outcome not in (PASSED, NOT_ATTEMPTED, NEEDS_TORCH) and (needs := other_torch()):
            verdict.notes.append(phrase(f"this check {needs}, and that may be the reason"))
        return verdict

    def drawn(self, check: Check) -> tuple[list[dict], list[Tree]]:
        """The cases of a check, edges first, and torch's answers."""
        pending = self.source.begin(check)
        return pending.cases, pending.answers()

    def answer(self, check: Check, case: dict) -> Tree:
        return self.answers(check, [case])[0]

    def answers(self, check: Check, cases: list[dict]) -> list[Tree]:
        """Torch's observations of cases of a check."""
        return self.source.ask(check, cases)()

    def _decide(self, check: Check, ask: Ask, second_chance: SecondChance | None, case: dict | None = None) -> Verdict:
        """Decide a check on one `case`, or on the cases of the source: on the simplest edge, and if the exercise is attempted, on
        the others."""
        first = sorted(self.source.edges(check), key=simplicity)[:1] if case is None else [case]
        observed = _ask(ask, check, first)
        if observed and has(observed[0], "type", "NotAttempted"):
            return Verdict(check.name, NOT_ATTEMPTED, message=_safely(lambda tree: tree["message"], observed[0]))
        if check.examine is not None:
            answer, raised = result_of(observed[0]), raised_of(observed[0])
            if is_error(answer) and raised is not None:  # the student's function
                where = show_frames(clean_frames(raised)).strip()
                verdict = Verdict(check.name, DISAGREED, message=show(answer).partition("\n")[0])
                verdict.notes = [where] if where else []
            else:
                verdict = replace(check.examine(self, answer, case), check=check.name)
            again = second_chance if is_milestone(check.name) and not verdict.passed else None
            return again and again(verdict) or verdict
        pending = self.source.begin(check) if case is None else PendingCases([case], self.source.ask(check, [case]), 0)
        needed = pending.edges + FEWEST
        order = _simplest_first(pending, needed)
        cases = [pending.cases[i] for i in order]
        try:
            observed += _observe(ask, check, cases[len(first) :], needed)
        finally:  # also if the subject has died: torch answers one request at a time
            answers = pending.answers()
        answers = [answers[i] for i in order]
        tried = cases[: len(observed)]
        known = {key_of(pair[0]): _compare(*pair) for pair in zip(tried, observed, answers)}
        if hasattr(check.program, "for_cases"):
            self._decide_alone(check, known, tried[len(first) :], dict(zip(map(key_of, tried), answers)), ask)
        noise = self._leave_noise_out(check, known) if case is None else 0
        failing = sum(disagreement is not None for disagreement in known.values())
        count = len(tried) - noise
        verdict = Verdict(check.name, PASSED, cases=count, agreed=count - failing, exact=self.source.is_exact(check))
        verdict.without_result = sum(
            known[key_of(case)] is None and not is_of_function(mine) for case, mine in zip(tried, observed)
        )
        verdict.raised_always = str(_safely(_type_raised_by, observed, ""))
        if len(tried) < len(cases):
            count, most = len(tried), len(cases)
            verdict.notes = [phrase(f"it is slow: {count} of {most} cases were tried, and its speed costs nothing")]
        if noise:
            verdict.notes.append(phrase(f"cases left out, because torch's own answer is rounding noise: {noise}"))
        if failing:
            return self._decide_failure(verdict, check, known, ask, second_chance, case is None)
        verdict.counts = _counts(ask, check) if check.counts and case is None else {}
        return verdict

    def _decide_alone(
        self, check: Check, known: Known, together: list[dict], answers: dict[str, Tree], ask: Ask
    ) -> None:
        """Ask again for the cases that disagree, each by itself, the simplest first, until one still does: cases that run
        `together` may disagree because of what an earlier one has left behind. This comes up each time that they run so. If it
        does not, the answer is right by chance, and a case that disagreed once does disagree."""

        def compared(case: dict, mine: Tree) -> Disagreement | None:
            return _compare(case, mine, answers[key_of(case)])

        before = {key: disagreement for key, disagreement in known.items() if disagreement}
        while any(known.values()):
            case = _simplest(known).case
            known[key_of(case)] = compared(case, _ask(ask, check, [case])[0])
            if known[key_of(case)]:
                return
        if before:
            second = {key_of(case): compared(case, mine) for case, mine in zip(together, _ask(ask, check, together))}
            known |= {key: disagreement for key, disagreement in before.items() if second.get(key) is None}

    def _leave_noise_out(self, check: Check, known: Known) -> int:
        """Leave out the disagreements on noise, the simplest first, until one is not noise. Return how many were left out.

        An edge is never left out, because wrong answers are known to fail on edges, and half of the drawn cases stay.
        """
        edges, noise = {*map(key_of, self.source.edges(check))}, 0
        while any(known.values()) and noise < (len(known) - len(edges)) // 2:
            simplest = _simplest(known)
            if key_of(simplest.case) in edges or not self._is_noise(check, simplest):
                break
            known[key_of(simplest.case)] = None
            noise += 1
        return noise

    def _is_noise(self, check: Check, disagreement: Disagreement) -> bool:
        """Whether student and torch differ in floats only, and in each of them torch differs from itself if it rounds otherwise."""
        theirs, apart = disagreement.theirs, [*differences(disagreement.mine, disagreement.theirs)]
        if not all(part.of_floats for part in apart):
            return False
        steady = {part.path for part in apart}
        with suppress(Exception):  # torch may refuse, and without torch there is no answer
            usual, *others = self.source.rounded(check, disagreement.case)
            for other in others if difference(usual, theirs) is None else ():
                steady -= {part.path for part in differences(other, theirs)}
        return not steady

    def _decide_failure(
        self,
        verdict: Verdict,
        check: Check,
        known: Known,
        ask: Ask,
        second_chance: SecondChance | None,
        shrink: bool,
    ) -> Verdict:
        """The verdict on a check that fails on some of the known cases."""
        is_special = special(check, [each for each in known.values() if each])
        known = {key: None if each and is_special(each) else each for key, each in known.items()}
        simplest = _simplest(known)
        second = result_of(_ask(ask, check, [simplest.case])[0])
        changed = key_of(second) != key_of(simplest.mine) and difference(
            second, simplest.mine
        )  # another wording is no other result
        verdict.outcome = UNSTABLE if changed else DISAGREED
        if is_missing := has(simplest.mine, "error", ["NotImplementedError"]):
            verdict.message = _safely(lambda tree: tree["message"], simplest.mine, "")
        if second_chance is not None and (other := second_chance(verdict)) is not None:
            return other
        if changed:
            self._explain_instability(verdict, check, simplest, second)
            return verdict
        if shrink and not is_missing:  # there a smaller case explains no more
            simplest = self._shrink(check, simplest, known, ask, is_special)
        self._explain(verdict, check, simplest)
        return verdict

    def _shrink(
        self, check: Check, first: Disagreement, known: Known, ask: Ask, is_special: Callable[[Disagreement], bool]
    ) -> Disagreement:
        """Return the simplest disagreement that comes up in the time allowed, of the kind of the `first` one, or of a plainer kind,
        and not `special`.

        Hypothesis only proposes cases. Each one that subject and torch have answered is in `known`, and the result is the minimum
        of `known`, in an order for persons (`Disagreement.order`). So the result is never worse than `first`, wherever the search
        ends, and it may be simpler than Hypothesis's own, which is minimal in the number of draws. Hypothesis needs a predicate
        that gives the same answer for the same case. `known` provides this, even if the student's code depends on chance.
        """
        deadline, limit = time.perf_counter() + SHRINK_SECONDS, len(known) + (check.draws or math.inf)

        def differs(candidate: dict) -> bool:
            key = key_of(candidate)
            if time.perf_counter() > deadline or key not in known and len(known) >= limit:
                raise ShrinkTimeout
            if key not in known:
                try:
                    (mine,) = _ask(ask, check, [candidate])
                except (SubjectTimedOut, SubjectDied):  # there is a case already, and the next one might take as long
                    raise ShrinkTimeout from None
                found = _compare(candidate, mine, self.answer(check, candidate))
                known[key] = None if found and is_special(found) else found
            disagreement = known[key]
            return disagreement is not None and disagreement.kind <= first.kind

        with suppress(ShrinkTimeout):
            self.source.search(check, differs)
        self._leave_noise_out(check, known)
        return _simplest(known)

    def _explain(self, verdict: Verdict, check: Check, disagreement: Disagreement) -> None:
        mine, theirs = _without_idle_entries(disagreement.mine, disagreement.theirs)
        self._describe(verdict, check, replace(disagreement, theirs=theirs))
        origin = CALCULATION if verdict.exact else TORCH
        if check.prediction:
            parts = [agreement(disagreement.mine, disagreement.theirs, origin)]
        else:
            parts = [*islice(differences(disagreement.mine, disagreement.theirs, origin), MAX_MARKED)]
        paths, others = ({part.path for part in parts if part.only != side} for side in ("theirs", "mine"))
        verdict.message = _safely(partial(told_first, parts), disagreement.theirs, parts[0]).words
        verdict.mine, verdict.mine_marks = _safely(partial(show_marked, paths=paths), mine, (_UNREADABLE, []))
        if disagreement.raised is None and _safely(partial(is_refused, disagreement.mine), disagreement.theirs, False):
            value = _safely(returned_value, disagreement.mine, "")
            verdict.mine, verdict.mine_marks = value or NO_RESULT, []  # the message has all of it
        if not check.prediction:
            verdict.theirs_marks = show_marked(theirs, others)[1]
            verdict.layouts = _safely(
                partial(layouts, theirs=disagreement.theirs, differing=parts), disagreement.mine, []
            )
        if disagreement.raised is not None and (disagreement.ended or not disagreement.torch_raises_too):
            verdict.frames = clean_frames(disagreement.raised)
            if not disagreement.ended:
                verdict.raised = _safely(
                    partial(_show_caught, went_on=not is_error(disagreement.mine)), disagreement.raised
                )
        verdict.notes += filter(None, [_safely(_recursion, disagreement.raised, "")])
        undefined = _safely(partial(_undefined_name, check), disagreement.raised or disagreement.mine)
        hidden = _safely(_hidden_builtin, disagreement.raised, None)
        unpacked = _safely(partial(_other_kind, check), disagreement.mine, None)
        if unpacked is None and disagreement.raised is None:  # it is an error of the program
            unpacked = _safely(partial(_unpacked, check), disagreement.mine, None)
        too_few_bits = _safely(partial(_too_few_bits, disagreement.mine, parts), disagreement.theirs, None)
        verdict.hint = undefined or hidden or unpacked or too_few_bits or _hint(check, disagreement) or ""

    def _explain_instability(self, verdict: Verdict, check: Check, disagreement: Disagreement, second: Tree) -> None:
        self._describe(verdict, check, disagreement)
        verdict.message = phrase(
            "the same case gave two different results: the answer depends on something besides its arguments, "
            "or it uses what it has not waited for"
        )
        verdict.mine = f"{_safely(show, disagreement.mine)}\nand then\n{_safely(show, second)}"

    def _explain_end(self, verdict: Verdict, check: Check, error: SubjectTimedOut | SubjectDied) -> None:
        """Show the case on which the subject ended, if there is one."""
        if error.case is not None:
            with suppress(Exception):  # torch's answer may be what failed
                self._describe(verdict, check, Disagreement(error.case, None, self.answer(check, error.case)))
                verdict.mine = NO_RESULT

    def _describe(self, verdict: Verdict, check: Check, disagreement: Disagreement) -> None:
        """The case, the programs, and torch's answer."""
        verdict.case, verdict.program = check.in_order(disagreement.case), shown_source(check.program)
        with suppress(Exception):  # a case without a listing is shown as data
            verdict.listing = self.source.listing(check, disagreement.case)
        is_secret = check.prediction or check.lab.startswith(CLINIC)
        torch_program = None if self.source.is_exact(check) or is_secret else check.torch_program
        verdict.oracle = shown_source(torch_program) if torch_program else ""
        verdict.theirs = "" if check.prediction else show(disagreement.theirs)


class ShrinkTimeout(BaseException):
    """Ends the search for a smaller case. It is no Exception, because Hypothesis takes an Exception for a failing case."""


def _observe(ask: Ask, check: Check, cases: list[dict], needed: int) -> list[Tree]:
    """Ask for the observations of cases, in portions: a limit of time is for one case, and the time of all decides nothing.

    A portion that does not come back is asked for case by case, which shows the case at fault, unless the subject has named it.
    Cases that run on the same ranks are one portion. Of an answer that is slow so many are observed as are `needed`: all edges
    and `FEWEST` of the drawn cases.
    """
    observed: list[Tree] = []
    deadline = time.perf_counter() + SLOW_SECONDS
    size = len(cases) if hasattr(check.program, "for_cases") else PORTION_GROWTH
    singly, died = False, None
    while len(observed) < len(cases) and (len(observed) < needed or time.perf_counter() < deadline):
        begun, portion = time.perf_counter(), cases[len(observed) :][: 1 if singly else size]
        try:
            observed += _ask(ask, check, portion)
        except (SubjectTimedOut, SubjectDied) as error:
            if error.case is not None:
                raise
            singly, died = True, error if isinstance(error, SubjectDied) else died
        else:
            is_fast = time.perf_counter() < begun + PORTION_SECONDS
            size = size * PORTION_GROWTH if is_fast else max(1, size // PORTION_GROWTH)
    if died is not None:  # though on no case alone
        raise died
    return observed


def _type_raised_by(observed: Sequence[Tree]) -> str:
    """Return the type of the exception that each call of the student's function raised in these cases. Empty if a call returned, or
    if they raised exceptions of several types."""
    raised = [raised_of(each) for each in observed]
    found = {each["type"] if is_error(each) and "returned" not in each else "" for each in raised}
    return found.pop() if len(found) == 1 else ""


def _simplest_first(pending: PendingCases, needed: int) -> list[int]:
    """The order in which cases are asked for: the simplest edge, then those that are `needed`, the simplest first, because a case
    that does not end is shown, and no other is waited for. The rest are asked for as they are drawn."""
    ranked = sorted(range(len(pending.cases[:needed])), key=lambda i: simplicity(pending.cases[i]))
    first = next((i for i in ranked if i < pending.edges), None)
    ranked.sort(key=lambda i: i != first)
    return [*ranked, *range(len(ranked), len(pending.cases))]


def _counts(ask: Ask, check: Check) -> dict[str, int]:
    """What the board shows of an answer that has passed. Nothing, if the subject does not bring numbers."""

    def numbers(tree: Tree) -> dict[str, int]:
        pairs = [(name, n) for name, n in tree["dict"] if type(n) is int and 0 <= n < LARGEST_COUNT]
        return {name: n for name, n in pairs[:MOST_COUNTS] if len(name) < LONGEST_NAME}

    with suppress(SubjectTimedOut, SubjectDied, Malformed):
        return _safely(numbers, result_of(_ask(ask, check, [ON_BOARD])[0]), {})
    return {}


def _ask(ask: Ask, check: Check, cases: list[dict]) -> list[Tree]:
    try:
        observed = ask(check.name, cases)
    except (SubjectTimedOut, SubjectDied) as error:
        error.case = cases[0] if len(cases) == 1 else error.case
        raise
    if not isinstance(observed, list) or len(observed) != len(cases):
        raise Malformed(f"asked for {len(cases)} observations, received something else")
    return observed


def special(check: Check, disagreements: Sequence[Disagreement]) -> Callable[[Disagreement], bool]:
    """Whether a disagreement is of a special kind, so that another one shows first what is wrong: `rare`, or `hinted` among the
    others."""
    is_rare = rare(disagreements)
    is_hinted = hinted(check, [each for each in disagreements if not is_rare(each)])
    return lambda each: is_rare(each) or is_hinted(each)


def rare(disagreements: Sequence[Disagreement]) -> Callable[[Disagreement], bool]:
    """Whether a disagreement is an exception of the student's side, which at most one disagreement in five has, or at most one
    exception in five is of its class. It is an edge case then, such as a tensor without dimensions."""
    count = Counter(each.mine.get("type") for each in disagreements if each.raises)
    are_rare = count.total() <= len(disagreements) / RARE
    kinds = {kind for kind in count if are_rare or count[kind] <= count.total() / RARE}
    if len(disagreements) == sum(count[kind] for kind in kinds):  # they are all there is
        return lambda each: False
    return lambda each: each.raises and each.mine.get("type") in kinds


def hinted(check: Check, disagreements: Sequence[Disagreement]) -> Callable[[Disagreement], bool]:
    """Whether the check has a hint for a disagreement. This is a special kind if the simplest disagreement has a hint for its case,
    whatever the results are, such as for a size of 0, and others have no hint at all: then this hint does not explain the mistake.
    If the simplest has no such hint, only those that have one are special.
    """

    def has_hint(each: Disagreement) -> bool:
        return _hint_of_case(check, each) is not None or _hint(check, each) is not None

    def has_hint_of_case(each: Disagreement) -> bool:
        about = _hint_of_case(check, each)
        return about is not None and about == _hint(check, each)

    if all(map(has_hint, disagreements)):
        return lambda each: False
    return has_hint if has_hint_of_case(min(disagreements, key=Disagreement.order)) else has_hint_of_case


def _simplest(known: Known) -> Disagreement:
    return min(filter(None, known.values()), key=Disagreement.order)


def _compare(case: dict, mine: Tree, theirs: Tree) -> Disagreement | None:
    return Disagreement(case, result_of(mine), theirs, raised_of(mine)) if difference(mine, theirs) else None


def _hint(check: Check, disagreement: Disagreement) -> str | None:
    if _safely(partial(first_apart, disagreement.mine), disagreement.theirs) == "beyond":
        called = field(disagreement.mine, "beyond")
        names = ", ".join(name for name in called if isinstance(name, str)) if isinstance(called, list) else ""
        names = names or phrase("something")
        return phrase(f"it calls {names}, which the contract does not allow: the contract names what the body may call")
    if has(disagreement.mine, "type", "StateLeft"):
        return None  # its message says what is wrong
    if has(disagreement.mine, "type", Apart.__name__):
        return phrase("in Python a tuple never equals a list: (2, 3) == [2, 3] is False, and (2,) + [3] is an error")
    if isinstance(check.hint, str):  # of results; an exception says itself what is wrong, but not why ranks wait
        if _is_no_result(check, disagreement):
            return None  # a rule of the contract does not explain it
        return None if disagreement.raises and not has(disagreement.mine, "type", "RanksFailed") else check.hint
    if disagreement.raises and _safely(lambda mine: CODING_ERRORS & {*mine["error"]}, disagreement.mine, None):
        return None  # a rule of the contract does not explain it
    about = check.hint and partial(check.hint, disagreement.case, disagreement.mine)
    hint = _safely(about, disagreement.theirs, None) if about else None
    types = {type(disagreement.mine), type(disagreement.theirs)}
    if len(types) == 2 and types <= _NUMBERS and hint == _hint_of_case(check, disagreement):
        return None  # a rule about the case does not explain a number of another type
    if hint and callable(check.hint) and _is_no_result(check, disagreement):
        of_any = _safely(partial(check.hint, disagreement.case, {"other": "object"}), disagreement.theirs, None)
        return None if hint == of_any else hint  # each object would get it
    return hint


def _is_no_result(check: Check, disagreement: Disagreement) -> bool:
    """Whether the whole result is None or an object such as a generator, and the contract has another type."""
    mine = disagreement.mine
    if is_milestone(check.name) or is_error(disagreement.theirs):
        return False
    name = "None" if mine is None else mine["other"] if isinstance(mine, dict) and mine.keys() == {"other"} else ""
    wanted = str(function_of(check.exercise).__annotations__.get("return", ""))
    return bool(name and wanted) and re.search(rf"\b({re.escape(name)}|Any|object|Optional)\b", wanted) is None


def _hint_of_case(check: Check, disagreement: Disagreement) -> str | None:
    """The hint for a case itself, which is the same if both sides have one result."""
    same = callable(check.hint) and partial(check.hint, disagreement.case, disagreement.theirs)
    return _safely(same, disagreement.theirs, None) if same else None


def _too_few_bits(mine: Tree, parts: Sequence[Difference], theirs: Tree) -> str | None:
    """A hint for integers that are beyond those of numpy, where these have 32 bits."""

    def is_cut_off(path: Path) -> bool:
        both = part_of(mine, path), part_of(theirs, path)
        return {*map(type, both)} == {int} and (both[0] - both[1]) % 2**INTEGER_BITS == 0

    if INTEGER_BITS == 64 or not all(is_cut_off(part.path) for part in parts):
        return None
    return phrase(
        "numpy's default integer has 32 bits in this page, and the answer has more: give your arrays dtype=np.int64"
    )


def _undefined_name(check: Check, mine: Tree) -> str | None:
    """A hint for a NameError, for which a notebook was most often run out of order, and for torch where it is not."""
    error, message = mine.get("error", [])[:1] if isinstance(mine, dict) else [], ""
    if error in (["NameError"], ["ModuleNotFoundError"]):
        message = mine["message"]
    message, _, suggested = message.partition(". Did you mean: ")
    if message in ("name 'torch' is not defined", "No module named 'torch'") and IN_BROWSER:
        return NOT_IN_A_PAGE
    if message in ("name 'torch' is not defined", "No module named 'torch'") and not is_on_torch(check.lab):
        return phrase("there is no torch where this lab is graded: your code uses rushlight")
    if error == ["NameError"]:
        name, line = message.split("'")[1:2], (mine.get("frames") or [["", 0, ""]])[-1][-1]
        if line and name and name[0] not in line:  # it is in a text that the line runs
            return None
        advice = phrase(
            "if a cell above defines it, run that first, or import it in a cell. "
            "Then run the exercise's cell and this one again"
        )
        advice = phrase("if a cell above defines it, run that first, or import it here") if IN_BROWSER else advice
        if suggested:
            other = suggested.removesuffix("?")
            return phrase(f"is it a misspelling of {other}? Or else: {advice}")
        return f"{message}: {advice}"
    return None


def _calls_itself(raised: Tree) -> str:
    """The name of the student's function of an endless recursion, or an empty text."""
    names = [name for name, *_ in raised["frames"]] if has(raised, "error", ["RecursionError"]) else []
    return next((name for name in names if names.count(name) > 1), "")


def _hidden_builtin(raised: Tree) -> str:
    """A hint for a function that has the name of one of Python's, and calls itself in the place of that."""
    name = _calls_itself(raised)
    return phrase(f"here {name} is your function; Python's is builtins.{name}") if hasattr(builtins, name) else ""


def _other_kind(check: Check, mine: Tree) -> str | None:
    """A hint for a result of another type than the contract says, with which the program cannot go on."""
    if is_milestone(check.name) or "returned" not in mine or mine["type"] == "AssertionError":
        return None
    function, returned = function_of(check.exercise), mine["returned"]
    wanted = str(function.__annotations__.get("return", ""))
    kinds = {part.partition("[")[0].strip() for part in wanted.split("|")}
    known = vars(builtins) | function.__globals__
    is_plain = all(kind in ("None", "Tensor") or isinstance(known.get(kind), type) for kind in kinds)  # no alias
    kind = _RETURNED.fullmatch(returned)
    names = {*(kind.groups() if kind else ()), returned} & _ALIKE.keys()
    if not names or not is_plain or not kinds.isdisjoint({"object", "Any"}.union(*(_ALIKE[name] for name in names))):
        return None
    return phrase(f"the contract says that the result is {wanted}, and yours returned {returned}")


_RETURNED = re.compile(r"a (list|tuple) of length \d+|.* of type (\w+)", re.DOTALL)
_ALIKE = {  # the types of the contract that a value of a type may fit
    "None": {"None"}, "list": {"list", "tuple"}, "tuple": {"list", "tuple"}, "str": {"str"}, "dict": {"dict"}, "set": {"set"},
    "bool": {"bool", "int", "float"}, "int": {"int", "float"}, "float": {"float"},
}  # fmt: skip


def _unpacked(check: Check, mine: Tree) -> str | None:
    """A hint for a result that is not what the program takes from it, such as several values."""
    if _UNPACKS.search(mine["message"]) and ("returned" in mine or "non-iterable" in mine["message"]):
        return phrase(
            "the program takes several values from the result: return as many as the contract says, in a tuple"
        )
    gives_nothing = function_of(check.exercise).__annotations__.get("return") in (None, "None")
    if "returned" not in mine and "'NoneType' object" in mine["message"] and not gives_nothing:
        return phrase("something is None that the program uses: does each path of your function return a result?")
    return None


def _recursion(raised: Tree) -> str:
    """A line for a RecursionError through a student's function, which may be reached by what it calls of the framework."""
    name = _calls_itself(raised)
    return phrase(f"{name} calls itself, or what it calls runs it again, until Python's stack is full") if name else ""


def _show_caught(raised: Tree, went_on: bool) -> str:
    error = show(raised)
    said = phrase(f"your function raised {error}")
    return phrase(f"{said}, and the program went on") if went_on else said


def _without_idle_entries(mine: Tree, theirs: Tree) -> tuple[Tree, Tree]:
    """Both results without the entries that are None in both: they say nothing about the case. If the student's is an error, it has
    no entry. Results by rank lose them rank by rank."""
    if isinstance(mine, list) and isinstance(theirs, list) and len(mine) == len(theirs):
        pairs = [_without_idle_entries(*each) for each in zip(mine, theirs)]
        return [one for one, _ in pairs], [other for _, other in pairs]

    def kept(tree: Tree) -> Tree:
        return {"dict": [pair for pair in tree["dict"] if pair[0] not in idle]} if tree is not mine or ours else tree

    both = entries(mine, theirs)
    real = dict(theirs["dict"]) if isinstance(theirs, dict) and "dict" in theirs else {}
    if not real or not (both and both[0].keys() == real.keys() or is_error(mine)):
        return mine, theirs
    ours = both[0] if both else {}
    idle = {key for key, value in real.items() if value is None and ours.get(key) is None}
    return (mine, theirs) if len(idle) == len(real) else (kept(mine), kept(theirs))


_UNREADABLE = "(not an observation)"


def _safely(render: Callable[[Tree], Any], tree: Tree, otherwise: Any = _UNREADABLE) -> Any:
    """Render an observation of a subject, which may have any form."""
    try:
        return render(tree)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        return otherwise


def serve(source: Readable, target: BinaryIO, any_case: bool = True, cases: Source | None = None) -> None:
    """Serve one kernel: it names a check, is asked for observations, and receives a verdict, until the end of the stream.

    `cases` is what the judge asks, by default torch. A case may hold a program, which then runs here. Without `any_case` only a
    case that has been shown is replayed.
    """
    judge, shown = Judge(source=cases), set()

    def ask(name: str, cases: list[dict]) -> list[Tree]:
        send(target, {"ask": cases})
        reply = receive(source)
        for end, kind in (("timed out", SubjectTimedOut), ("died", SubjectDied)):
            if end in reply:
                error = kind(reply[end])
                error.case = cases[reply["at"]]
                raise error
        accept(reply["observed"])
        return reply["observed"]

    while True:
        try:
            message = receive(source)
        except EOFError:
            return
        if message.get("case") is None:
            judge.source.reseed()
            decide = partial(judge.verdict, message["check"], ask)
        elif any_case or key_of([message["check"], message["case"]]) in shown:
            decide = partial(judge.replay, message["check"], message["case"], ask)
        else:
            return
        try:
            verdict = decide()
        except NotGraded as error:
            verdict = Verdict(message["check"], GRADER_ERROR, message=str(error))
        shown.add(key_of([verdict.check, verdict.case]))
        send(target, {"verdict": verdict.as_dict()})


def main() -> None:
    """Serve one kernel on standard input and output."""
    kernel, target = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # printed text is no message
    from .practice import source

    serve(kernel, target, cases=source())


if __name__ == "__main__":
    main()
