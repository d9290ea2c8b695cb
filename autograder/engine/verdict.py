"""The judge's verdict on one check: its outcome, and its texts for a reader. `card.py` draws it in a notebook."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import accumulate, groupby

from ..language import phrase, speak, spoken_entry
from .check import short_name
from .observe import Tree, show_frames

PASSED, DISAGREED, NOT_ATTEMPTED = phrase("passed"), phrase("disagreed"), phrase("not attempted")
TIMED_OUT, DIED, UNSTABLE = phrase("timed out"), phrase("died"), phrase("unstable")
MALFORMED, GRADER_ERROR = phrase("malformed"), phrase("grader error")
DID_NOT_RUN = phrase("its cell did not run")  # in the place of "not attempted", for a reader: see `outcome_of`
NEEDS_TORCH = phrase("needs another torch")  # than the one that is installed: the message names both versions
NOT_RUN = "not run"  # in a notebook: the function that runs is not the one in the cell; the message says why
NO_RESULT = phrase("(no result)")  # in the place of the student's, if there is none to show
NOT_THEIR_FAULT = "; this is not the student's fault"  # after an error of the judge
OUTCOMES = {PASSED, DISAGREED, NOT_ATTEMPTED, TIMED_OUT, DIED, UNSTABLE, MALFORMED, GRADER_ERROR, NEEDS_TORCH}
UNDECIDED = (NEEDS_TORCH, NOT_RUN)  # the headline says why

# what a verdict says that was reached with the reference in the place of other pieces, in a notebook and in grading
SECOND_CHANCE_NOTE = phrase("on top of your other pieces it fails; on the reference's it passes, and earns its points")
MILESTONE_NOTE = phrase(
    "with the reference's in the place of your pieces that do not pass, it passes and earns its points"
)

# names of entries of results that checks put together. All others are in their text, for catalogues
COUNTS = (
    *(phrase("bytes of loads"), phrase("requests of loads"), phrase("sectors of loads")),
    *(phrase("bytes of stores"), phrase("requests of stores"), phrase("sectors of stores")),
)
_ENTRY = re.compile(r"^ *(?:\[\d+\] )?([^:\n]+)(?=:)", re.MULTILINE)  # the name of an entry at the beginning of a line

MANY_LINES = 40  # of a verdict: a long case then comes last
LONG = 12  # lines of a case, a program or a result: of a longer program or result some are left out
KEPT = 10  # lines of a longer result: two differences
CONTEXT = 2  # lines around those that differ
FEW_LINES = 4  # that are left out together: fewer are shown
PRACTICE = "practice: "  # begins the note on recorded answers, which a notebook or a page shows once
LONGEST_REPLAY = 1000  # characters: a student does not type a case with a page of text


def outcome_of(verdict: Mapping) -> str:
    """The outcome of a verdict's data as a reader sees it: a cell with an error is no empty one."""
    outcome = str(verdict.get("outcome", ""))
    return DID_NOT_RUN if outcome == NOT_ATTEMPTED and "did not run" in verdict.get("message", "") else outcome


@dataclass
class Verdict:
    """The judge's decision on one check, and the smallest case that shows the reason.

    Its fields are English in every language. Its texts for a reader are in the language that is spoken where they are made.
    """

    check: str
    outcome: str
    cases: int = 0
    agreed: int = 0
    seconds: float = 0.0
    message: str = ""  # one line: the difference, or the event
    hint: str = ""
    case: dict | None = None
    listing: str = ""  # the case as code, if the check shows it so
    program: str = ""
    oracle: str = ""  # the program that ran on torch, if it is another one
    exact: bool = False  # whether the answer is that of an exact calculation without torch
    mine: str = ""
    theirs: str = ""
    mine_marks: list[list[int]] = field(default_factory=list)  # where the text differs from torch's: [start, end]
    theirs_marks: list[list[int]] = field(default_factory=list)
    layouts: list = field(default_factory=list)  # sizes, strides and offset of both tensors, if these differ
    raised: str = ""  # an exception of the student's function that did not end the program
    frames: list[list] = field(default_factory=list)  # of an exception: [function, line, text of the line]
    notes: list[str] = field(default_factory=list)  # added by grading
    without_result: int = 0  # cases that agree, though the student's function did not run, or an error is right
    raised_always: str = ""  # the type of the exception that each call of the student's function raised, in all cases
    counts: dict[str, int] = field(default_factory=dict)  # what an answer that passes asks for, if the check counts it
    drawn_for: str = ""  # the name that has drawn the programs of a prediction
    pieces: dict[str, bool] = field(default_factory=dict)  # of a milestone: whether each of the lab's is the student's

    @property
    def passed(self) -> bool:
        return self.outcome == PASSED

    def as_dict(self) -> dict:
        return asdict(self)

    @property
    def was_examined(self) -> bool:
        """Whether the message says what was decided, because nothing was compared case by case."""
        return self.outcome in (PASSED, DISAGREED) and not self.cases and bool(self.message)

    @property
    def judged_by(self) -> str:
        """The side that the results are compared with, in a sentence."""
        return phrase("an exact calculation") if self.exact else "torch"

    @property
    def raises(self) -> bool:
        """Whether the message only says that the student's side alone raises an exception, which is all of its result."""
        said = re.fullmatch(r"yours raises (\w+) \(.*", self.message, re.DOTALL)
        return said is not None and self.mine.startswith(f"{said[1]}: ")

    def results(self) -> list[tuple[str, list[list[int]]]]:
        """The student's result and torch's as a reader sees them, each with where it differs."""
        mine = (speak(NO_RESULT), []) if self.mine == NO_RESULT else spoken_entries(self.mine, self.mine_marks)
        return [mine, spoken_entries(self.theirs, self.theirs_marks)]

    def headline(self) -> str:
        judge = speak(self.judged_by)
        if self.was_examined or self.outcome in UNDECIDED:
            said = speak(self.message)
        elif self.passed and self.cases == 1:
            said = speak("the one case agrees with {judge}", judge=judge)
        elif self.passed:
            said = speak("all {cases} cases agree with {judge}", cases=self.cases, judge=judge)
        elif self.outcome == DISAGREED and self.cases == 1:
            said = speak("this case does not agree with {judge}:", judge=judge)
        elif self.outcome == DISAGREED and self.case is None:
            said = self._count()
        elif self.outcome == DISAGREED:
            said = speak("{agreed}; the smallest that does not:", agreed=self._count())
        elif self.outcome == DIED:
            said = speak("your code ended Python")
        else:
            said = speak(outcome_of({"outcome": self.outcome, "message": self.message}))
        if self.passed and self.lacking:
            counts = {"own": len(self.pieces) - len(self.lacking), "whole": len(self.pieces), "said": said}
            said = speak("passes, with {own} of {whole} pieces yours: {said}", **counts)
        return f"{self.check}: {said}"

    @property
    def lacking(self) -> list[str]:
        """The pieces in whose place a milestone has the reference's."""
        return [name for name, is_own in self.pieces.items() if not is_own]

    @property
    def agrees_by_errors(self) -> bool:
        """Whether cases agree, but none of them by a result of the student's function."""
        return not self.passed and 0 < self.agreed == self.without_result

    def _count(self) -> str:
        counts = {"agreed": self.agreed, "cases": self.cases, "judge": speak(self.judged_by)}
        if self.agrees_by_errors and self.raised_always:
            counts["error"] = self.raised_always
            return speak("each call of yours raised {error}: {agreed} of {cases} cases expect an error", **counts)
        if self.agrees_by_errors:
            return speak("{agreed} of {cases} cases agree with {judge}, none by a result of yours", **counts)
        return speak("{agreed} of {cases} cases agree with {judge}", **counts)

    @property
    def mark(self) -> str:
        return "✓" if self.passed else "–" if self.outcome in (NOT_ATTEMPTED, *UNDECIDED) else "✗"

    def line(self) -> str:
        """The verdict in one short line, below a display of all of it."""
        if self.outcome == DISAGREED and self.cases:
            return f"{self.check}: {self._count()}"
        fails = self.was_examined and not self.passed
        return f"{self.check}: {speak('it does not pass')}" if fails else self.headline()

    def replay(self) -> str:
        """The call that decides the check on the shown case alone."""
        return f'check("{self.check}", case={self.case!r})'

    def rows(self, whole: bool = False) -> list[tuple[str, str]]:
        """The rows of the table below its headline, with `whole` programs and results or with those around what differs. Their
        names are English."""
        rows: list[tuple[str, str]] = []
        if self.message and self.outcome not in (DISAGREED, *UNDECIDED) and not self.was_examined:
            rows = [(phrase("why"), speak(self.message))]
        if self.case is not None:
            name, most = short_name(self.check).partition(".")[0], math.inf if whole else KEPT
            rows += [(phrase("case"), self.listing or describe(self.case, with_strides=True))]
            rows += [(phrase("program"), abridged_program(self.program, name, max(most, LONG)))]
            rows += [(phrase("in torch"), abridged_program(self.oracle, name, most))] if self.oracle else []
            frames = show_frames(self.frames)
            own, others = self.results()
            mine = abridged(*own, most, beside=marked_lines(*others))[0]
            theirs = abridged(*others, most, beside=marked_lines(*own))[0]
            rows += [(phrase("yours"), mine if self.raised else mine + frames)]
            answer = phrase("expected") if self.exact else phrase("torch's")
            rows += [(answer, theirs)] if self.theirs else []
            rows += [(phrase("raised"), speak(self.raised) + frames)] if self.raised else []
            is_said = bool(self.theirs) and self.raises
            rows += [(phrase("differs"), speak(self.message))] if self.outcome == DISAGREED and not is_said else []
            rows += [(phrase("hint"), speak(self.hint))] if self.hint else []
        notes = [speak("the programs are those of {name}", name=self.drawn_for)] if self.drawn_for else []
        if self.passed and self.lacking:
            notes.append(speak("the reference's run in the place of {names}", names=", ".join(self.lacking)))
        rows += [(phrase("note"), note) for note in [*notes, *map(speak, self.notes)]]  # below what they are about
        if self.case is not None:
            rows += [(phrase("replay"), self.replay())] if len(self.replay()) < LONGEST_REPLAY else []
        if sum(text.count("\n") for _, text in rows) > MANY_LINES:  # the difference and the hint, then the long case
            rows.sort(key=lambda row: row[0] in ("case", "program", "in torch"))
        return rows

    def __str__(self) -> str:
        return self.text()

    def text(self, whole: bool = False) -> str:
        """The verdict as lines of text, with `whole` programs and results."""
        rows = [(speak(name), text) for name, text in self.rows(whole)]
        width = max((len(name) for name, _ in rows), default=0)
        lines = [f"{self.mark} {self.headline()}"]
        for name, text in rows:
            first, *rest = text.splitlines() or [""]
            lines += [f"  {name:<{width}}  {first}"] + [" " * (width + 4) + line for line in rest]
        return "\n".join(lines)


def verdict_from(data: Mapping) -> Verdict:
    """The verdict whose `as_dict` another process has sent. Raises TypeError or ValueError if a field is of another kind."""
    verdict, blank = Verdict(**data), Verdict("", "")
    if verdict.outcome not in OUTCOMES:
        raise ValueError(f"{verdict.outcome!r} is no outcome")
    for name, value in vars(verdict).items():
        kinds = (dict, type(None)) if name == "case" else (type(getattr(blank, name)), int)[: 1 + (name == "seconds")]
        if not isinstance(value, kinds):
            raise TypeError(f"{name} of a verdict is {type(value).__name__}")
    return verdict


def spoken_entries(text: str, marks: Sequence[Sequence[int]]) -> tuple[str, list[list[int]]]:
    """A result with the names of its entries in the language that is spoken here, and where its marked parts are now."""
    changes = [(*match.span(1), spoken_entry(match[1])) for match in _ENTRY.finditer(text)]

    def moved(position: int) -> int:
        return position + sum(len(said) - (end - start) for start, end, said in changes if end <= position)

    spoken = text
    for start, end, said in reversed(changes):
        spoken = spoken[:start] + said + spoken[end:]
    return spoken, [[moved(start), moved(end)] for start, end in marks]


def marked_lines(text: str, marks: Sequence[Sequence[int]]) -> list[int]:
    """The numbers of the lines of a text that have a marked part."""
    lines = text.splitlines(keepends=True)
    ends = accumulate(map(len, lines))
    spans = ((end - len(line), end) for line, end in zip(lines, ends))
    return [i for i, (start, end) in enumerate(spans) if any(first < end and start < last for first, last in marks)]


def abridged(
    text: str, marks: Sequence[Sequence[int]], most: float = KEPT, beside: Sequence[int] = ()
) -> tuple[str, list[list[int]]]:
    """A text of more than `LONG` lines as about `most` of them, around its first marked parts, and where its marked parts are now.
    If no part is marked, the first lines. `beside` are the marked lines of a text that is shown beside it: so both are cut at the
    same lines."""
    lines = text.splitlines(keepends=True)
    if len(lines) <= max(most, LONG):
        return text, [[*mark] for mark in marks]
    ends, near = [*accumulate(map(len, lines))], set[int]()
    for line in sorted({*marked_lines(text, marks), *beside}) or range(len(lines)):
        around = near | {*range(max(0, line - CONTEXT), min(len(lines), line + CONTEXT + 1))}
        near = around if len(around) <= most else near
    short, moved = "", []
    for is_near, group in groupby(range(len(lines)), key=lambda i: i in near):
        kept = [*group]
        if not is_near and len(kept) >= FEW_LINES:
            short += speak("… {count} lines", count=len(kept)) + "\n"
            continue
        start, end = ends[kept[0]] - len(lines[kept[0]]), ends[kept[-1]]
        shift = len(short) - start
        moved += [[max(a, start) + shift, min(b, end) + shift] for a, b in marks if a < end and start < b]
        short += text[start:end]
    return short.removesuffix("\n"), moved


def abridged_program(program: str, name: str, most: float = LONG) -> str:
    """A program as `abridged`, around its parameters, and around where it mentions this name and returns."""
    marks = [match.span() for match in re.finditer(rf"^def |\b{name}\b|^    return ", program, re.MULTILINE)]
    return abridged(program, marks, most)[0]


def describe(case: dict, with_strides: bool = False) -> str:
    """A case as assignments; a tensor as the calls that make it in torch, and if wanted its strides as a comment."""
    is_exact = "stride" in f"{[*case]} {case.get('steps')}"  # as_strided sees how large a storage is

    def line(name: str, value: Tree) -> str:
        spec = value["tensor"] if with_strides and isinstance(value, dict) and value.keys() == {"tensor"} else None
        remark = _layout(**spec) if spec else ""
        return f"{name} = {_text(value) or _literal(value, is_exact)}{remark}"

    return "\n".join(line(*item) for item in case.items()) or speak("(no arguments)")


def _text(value: Tree) -> str | None:
    """A text of several lines as a readable literal."""
    return f'"""\\\n{value}"""' if isinstance(value, str) and "\n" in value and '"""' not in value else None


def _literal(value: Tree, is_exact: bool = False) -> str:
    match value:
        case {"tensor": dict(spec), **rest} if not rest:
            return _tensor(**spec, is_exact=is_exact)
        case {"dtype": str(name), **rest} if not rest:
            return f"torch.{name}"
        case list():
            return f"[{', '.join(_literal(item, is_exact) for item in value)}]"
        case dict():
            return f"{{{', '.join(f'{key!r}: {_literal(item, is_exact)}' for key, item in value.items())}}}"
        case _:
            return repr(value)


# A tensor as calls ---------------------------------------------------------------------------------------------------


def _tensor(dtype: str, storage: int, sizes: list[int], strides: list[int], offset: int, is_exact: bool) -> str:
    """The calls that make a tensor over a storage with 0, 1, 2, ...

    If it `is_exact`, the storage is as large as in the case, and otherwise as the calls need it. Strides that slices do not give
    are those of `as_strided`.
    """
    count, calls = calls_of(sizes, strides, offset) or (-1, "")
    if count < 0 or is_exact and count != storage:
        count, calls = storage, f".as_strided({tuple(sizes)}, {tuple(strides)}, {offset})"
    if dtype == "bool":
        return f"(torch.arange({count}) % 2 == 1){calls}"
    return f"torch.arange({count}{'' if dtype == 'int64' else f', dtype=torch.{dtype}'}){calls}"


def _layout(sizes: list[int], strides: list[int], offset: int, **_: object) -> str:
    """A comment with the strides and the offset of a tensor that is not a new one. Empty if its calls say them."""
    calls = (calls_of(sizes, strides, offset) or (0, "as_strided"))[1]
    if not sizes or "as_strided" in calls or re.fullmatch(r"(\.reshape\([\d, ]+\))?", calls):
        return ""
    return f"  # stride {tuple(strides)}" + f", offset {offset}" * (offset > 0)


def calls_of(sizes: list[int], strides: list[int], offset: int) -> tuple[int, str] | None:
    """The number of elements of an `arange`, and the calls that make a tensor with these sizes, strides and offset of it: it gets
    the dimensions in the order in which they lie in memory, then slices, the order wanted, and dimensions of stride 0. None if
    these do not give such strides."""
    if len(sizes) != len(strides) or min(strides, default=0) < 0:
        return None
    if 0 in sizes:
        is_new = not offset and strides == [
            math.prod(max(size, 1) for size in sizes[d + 1 :]) for d in range(len(sizes))
        ]
        return (0, f".reshape({', '.join(map(str, sizes))})" * (len(sizes) > 1)) if is_new else None
    expanded = [d for d, step in enumerate(strides) if step == 0]
    kept = [d for d in range(len(sizes)) if d not in expanded]
    memory = sorted(kept, key=lambda d: (-strides[d], sizes[d] == 1))
    base, slices = list[int](), list[str]()
    for i, d in enumerate(memory):
        step = strides[d] if d == memory[-1] else 1
        unit, reach = strides[d] // step, (sizes[d] - 1) * step + 1
        length, rest = divmod(strides[memory[i - 1]], unit) if i else (reach, 0)
        if rest or length < reach:
            return None
        base.append(length)
        stop = "" if -(-length // step) == sizes[d] else str(reach)
        slices.append(f":{stop}:{step}" if step > 1 else f":{stop}")
    if any(sizes[d] == 1 for d in expanded):
        return None
    count, order = offset + math.prod(base), [memory.index(d) for d in kept]
    text = f"[{offset}]" if not sizes else f"[{offset}:]" if offset else ""
    if len(base) == 1 and slices != [":"]:
        text, slices, base = f"[{offset or ''}{slices[0]}]", [":"], [sizes[kept[0]]]
    is_plain = order == sorted(order) and {*slices} <= {":"}
    shape = [1 if d in expanded else base[kept.index(d)] for d in range(len(sizes))] if is_plain else base
    text += f".reshape({', '.join(map(str, shape))})" if len(shape) > 1 else ""
    text += _indexed(slices)
    moved = [i for i, place in enumerate(order) if i != place]
    if len(moved) == 2:
        text += f".transpose({moved[0]}, {moved[1]})"
    elif moved:
        text += f".permute({', '.join(map(str, order))})"
    if expanded:
        text += "" if is_plain else _indexed(["None" if d in expanded else ":" for d in range(len(sizes))])
        text += f".expand({', '.join(map(str, sizes))})"
    return count, text


def _indexed(parts: list[str]) -> str:
    """An index with these parts for the first dimensions. Empty if each takes all of its dimension."""
    while parts and parts[-1] == ":":
        parts = parts[:-1]
    return f"[{', '.join(parts)}]" if parts else ""
