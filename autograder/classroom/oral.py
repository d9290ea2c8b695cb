"""Three questions on a student's own answers, and what is right to say.

A question is about one function of the student's: what it returns on a call and how, which line is there for a call, or what a
small change would do. All three are worked out by running the function, or a copy with one place changed, on cases of its check
in a sandbox. The class's seed and the student's name choose, so the same student gets the same questions again.

In the sandbox of a function all others are the course's own, and no other code of the student has run there: it could write what
it likes on the examiner's paper. A call is asked about if the course's own function, before, is called with the same arguments, and
ends in the same way, or torch says that the student's result is wrong. Each student's part runs in a process under limits.
"""

from __future__ import annotations

import ast
import inspect
import json
import math
import multiprocessing
import random
import re
import signal
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from ..engine.check import (
    DEMONSTRATION,
    SKIPPED_TAGS,
    Check,
    binding,
    find,
    function_of,
    is_milestone,
    is_on_torch,
    source,
)
from ..engine.judge import Judge
from ..engine.limits import Allowance, seconds
from ..engine.observe import Malformed, NotGraded, Tree, clean, difference, result_of, show
from ..engine.run import FAILURES, Session
from ..engine.verdict import describe
from ..model import Lab, Submission, check_name, exercise_name
from . import walk
from .alike import answers_of_class
from .explain import answers_of, graded, numbered, seed_of_graded
from .pages import SCHEMES, escaped, write_page
from .restore import StudentNotebook
from .winnowing import Answer, answer

QUESTIONS = 3
CASES = 24  # of a check: short ones, from the shortest on
AT_ONCE = 4  # cases of one request
TRIED = 16  # changes of a function
LONGEST_CASE = 400  # characters
LONGEST_CALL = 260  # characters of the arguments, or of a result: more is nothing for a whiteboard
LONGEST_CODE = 40  # lines
LONGEST_CELL = 120  # lines: a longer function is not asked about
CPU_SECONDS = 300  # of this course's own work for one student: a sandbox has limits of its own
MEMORY = 4 << 30  # bytes that this work may write, with what a fork has from its parent
SECONDS = (6.0, 40.0)  # for one request, in a lab on rushlight and in one on torch

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Question:
    """Paragraphs of a question and of its answer. A paragraph that begins with a blank is shown as code."""

    exercise: str
    title: str
    text: list[str]
    answer: list[str]
    code: str


@dataclass(frozen=True)
class Call:
    """The first call of a function in a case: its arguments and notes, and the result of the check's program."""

    case: dict
    arguments: dict[str, str]
    notes: list[list]
    result: str

    @property
    def lines(self) -> set[int]:
        return {line for line, _, _ in self.notes if line}

    @cached_property
    def _last(self) -> list:
        return next((note for note in reversed(self.notes) if note[1] in ("return", "raises")), [0, "return", "None"])

    @property
    def raises(self) -> bool:
        return self._last[1] == "raises"

    @property
    def ends(self) -> str:
        return f"{'raises' if self.raises else 'returns'} `{self._last[2]}`"

    @property
    def how(self) -> str:
        """How it ends, without the text of an exception, and a list as a tuple: a right answer may differ in these."""
        return self._last[2].partition(":")[0] if self.raises else re.sub(r"[][(), ]", "", self.ends)

    @property
    def is_whole(self) -> bool:
        """Whether text tells all of the call."""
        texts = [*self.arguments.values(), self.ends]
        return not any(map(_opaque, texts)) and self._last[2] != "None"


@dataclass(frozen=True)
class Ends:
    """How a call ends before and after a change, in words: of the function, or of the check's program around it."""

    before: str
    after: str
    of_program: bool = False

    def sentences(self, before: str, after: str) -> list[str]:
        if self.of_program:
            return [f"{before} gives", _code(self.before), f"{after} gives", _code(self.after)]
        return [f"{before} {self.before}. {after} {self.after}."]


def _opaque(text: str) -> bool:
    return bool(re.search(r"<\w+>|\(cut\)", text))


class Trials:
    """Runs a lab on the course's own functions in a subject, and tries copies of one function there."""

    def __init__(self, lab: Lab, isolated: bool, allowance: Allowance):
        self.session = Session(lab, isolated, allowance, missing=[])
        self.limit = seconds(SECONDS, is_on_torch(lab.name))

    def prepare(self, exercise: str) -> str:
        """Run the lab's cells with the course's own functions, and return the cell of the exercise with its own. No other code has
        run before it."""
        unneeded, name, own = {*SKIPPED_TAGS, DEMONSTRATION}, exercise.rpartition(".")[2], ""
        for cell in self.session.lab.released["cells"]:
            text, other = "".join(cell["source"]), exercise_name(cell)
            if other == exercise:
                own = walk.with_body_of(text, name, inspect.getsource(function_of(exercise)))
            elif (
                cell["cell_type"] == "code"
                and not check_name(cell)
                and unneeded.isdisjoint(cell["metadata"].get("tags", []))
            ):
                self.session.run_cell(NotebookNode(source=binding(other) if other else text, metadata={}))
        return own

    def own_calls(self, exercise: str, check: str, cases: list[dict]) -> list[Call]:
        """The calls of the course's own function."""
        return self.calls(self.prepare(exercise), exercise.rpartition(".")[2], check, cases)

    def take(self, cell: str) -> None:
        """Let the student's function take the place of the course's own."""
        self.session.run_cell(NotebookNode(source=cell, metadata={}))

    def observe(self, check: str, cases: list[dict], limit: float | None = None) -> list[Tree]:
        return self.session.observe(check, cases, limit)

    def calls(self, cell: str, name: str, check: str, cases: list[dict]) -> list[Call]:
        """Return the first call of the cell's function in each case. Empty if one takes too long or ends the process."""
        traced: list[Call] = []
        try:
            taking_notes = f"import autograder.engine.probe as {walk.NAME}\n{walk.with_notes(cell, name)}"
            if any(output.output_type == "error" for output in self.session.try_cell(taking_notes, self.limit)):
                return []
            for start in range(0, len(cases), AT_ONCE):
                some = cases[start : start + AT_ONCE]
                trace = f"print({walk.NAME}.trace({check!r}, {json.dumps(some)!r}))"
                traced += _calls(some, self.session.try_cell(trace, self.limit))
        except (*FAILURES, RecursionError, ValueError):
            return []
        return traced

    def put_back(self, cell: str) -> None:
        with suppress(*FAILURES):  # a new subject begins with the student's own cells
            self.session.try_cell(cell, self.limit)

    def close(self) -> None:
        self.session.close()


def _calls(cases: list[dict], outputs: list[NotebookNode]) -> list[Call]:
    """The calls that a subject tells of. Raises Malformed if it tells something else, which a student's code can bring about."""
    text = "".join(output.text for output in outputs if output.output_type == "stream" and output.name == "stdout")
    try:
        return [_call(case, record) for case, record in zip(cases, json.loads(text), strict=True)]
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        raise Malformed("notes in another form") from None


def _call(case: dict, record: dict) -> Call:
    arguments = {clean(name): clean(value) for name, value in (record["arguments"] or {}).items()}
    notes = [[int(line), clean(label), clean(value)] for line, label, value in record["notes"]]
    return Call(case, arguments, notes, clean(record["result"]))


class StudentFunction:
    """An exercise that a student has written, and the simplest cases of its check with what the function does on them."""

    def __init__(self, trials: Trials, judge: Judge, exercise: str, check: Check, cell: str, draw: random.Random):
        self.trials, self.judge, self.draw = trials, judge, draw
        self.exercise, self.check, self.cell = exercise, check, cell
        self.name = exercise.rpartition(".")[2]

    @cached_property
    def calls(self) -> list[Call]:
        """The cases on which a copy that takes notes does what the function does, and that the course's own function confirms."""
        cases = _short_cases(self.check, self.judge)
        own = self.trials.own_calls(self.exercise, self.check.name, cases)
        self.trials.take(self.cell)
        try:
            observed = self.trials.observe(self.check.name, cases)
        except FAILURES:
            return []
        calls = self.trials.calls(self.cell, self.name, self.check.name, cases)
        self.trials.put_back(self.cell)
        return [
            call
            for call, confirmed, observation in zip(calls, own, observed)
            if call.result == clean(show(result_of(observation)), len(call.result))
            and call.arguments
            and len(_arguments(call)) <= LONGEST_CALL
            and len(call.notes) < 60
            and "NameError: name" not in call.ends  # it needs another cell of the student
            and self._is_confirmed(call, confirmed, observation)
        ]

    def _is_confirmed(self, call: Call, own: Call, observed: Tree) -> bool:
        """Whether the course's own function has such a call, unless torch says that the result is wrong."""
        if [*call.arguments.values()] != [*own.arguments.values()]:
            return False
        return call.how == own.how or bool(difference(observed, self.judge.answer(self.check, call.case)))

    def changed(self, change: walk.Change, calls: list[Call]) -> list[Call]:
        after = self.trials.calls(change.source, self.name, self.check.name, [call.case for call in calls])
        self.trials.put_back(self.cell)
        return after

    def theirs(self, call: Call) -> str:
        """A sentence if torch's result is another one."""
        try:
            (mine,) = self.trials.observe(self.check.name, [call.case])
        except FAILURES:
            return ""
        theirs = self.judge.answer(self.check, call.case)
        return f"That is wrong. {self.check.name} asks for: {show(theirs)}" if difference(mine, theirs) else ""

    # The three kinds of questions

    def result(self) -> Question | None:
        """Ask for the result of a call, and for the way to it."""
        fit = [
            call for call in self.calls if call.is_whole and len(call.ends) <= LONGEST_CALL and 3 < len(call.notes) < 60
        ]
        if not fit:
            return None
        fit = [call for call in fit if not call.raises] or fit
        fit.sort(key=lambda call: (-len(call.lines), -len(call.notes), len(_arguments(call))))
        call = self.draw.choice(fit[: max(1, len(fit) // 3)])
        question = [f"Your `{self.name}` is called with", _code(self._call_text(call))]
        question.append("What does it return? Say what each of your lines does on the way.")
        answer = [f"It {call.ends}.", self.theirs(call), _code(self._by_line(call))]
        return self._question("what does it return on this call?", question, answer)

    def line(self) -> Question | None:
        """Which line is there for a call, and what happens without it?"""
        pairs = []
        for line in walk.inner_lines(self.cell, self.name):
            on = [call for call in self.calls if line in call.lines]
            off = [call for call in self.calls if line not in call.lines]
            for call in on[:: max(1, len(on) // 4)] if off else ():
                other = min(off, key=lambda one: (one.raises, len(one.lines ^ call.lines), len(_arguments(one))))
                plain = (call.raises or other.raises, len(call.lines - other.lines) > 3, self.draw.random())
                pairs.append((plain, line, call, other, len(on)))
        candidates = []
        for plain, line, call, other, count in sorted(pairs, key=lambda pair: pair[0])[:TRIED]:
            change = walk.without(self.cell, self.name, line)
            after = self.changed(change, [call]) if change else []
            if change and after and (ends := self._both(call, after[0])):
                candidates.append(((after[0].raises, ends.of_program, *plain), call, other, change, ends, count))
        return self._line_question(*min(candidates, key=lambda candidate: candidate[0])[1:]) if candidates else None

    def _line_question(self, call: Call, other: Call, change: walk.Change, ends: Ends, count: int) -> Question:
        more = sorted(call.lines - other.lines - {change.line})
        question = [f"Compare two calls of your `{self.name}`. First:", _code(self._call_text(call))]
        question += ["Second:", _code(self._call_text(other))]
        question.append(
            "Which of your lines run for the first call only? What would the first call do without them, and why?"
        )
        named = (
            f"Line {change.line}, `{walk.split_lines(self.cell)[change.line - 1].strip()}`"
            + f", and {', '.join(map(str, more))}" * bool(more)
        )
        answer = [f"{named}. Line {change.line} runs in {count} of {len(self.calls)} cases of the check."]
        answer += [*self._shown(call, ends), *ends.sentences("The first call", f"Without line {change.line} it")]
        return self._question("which line is there for this call?", question, answer)

    def change(self) -> Question | None:
        """Ask for the effect of a small change."""
        every, candidates = walk.places(self.cell, self.name), []
        chosen = self.draw.sample(every, min(TRIED, len(every)))
        for change in walk.changes(self.cell, self.name, chosen):
            after = self.changed(change, self.calls)
            pairs = [
                ((call.raises or changed.raises, ends.of_program, len(_arguments(call))), call, ends)
                for call, changed in zip(self.calls, after)
                if (ends := self._both(call, changed))
            ]
            same = [
                call for call, changed in zip(self.calls, after) if call.result == changed.result and not call.raises
            ]
            if pairs and same:
                plain, call, ends = min(pairs, key=lambda pair: pair[0])
                candidates.append(((*plain[:2], len(pairs)), change, call, ends, same))
        if not candidates:
            return None
        (*_, count), change, call, ends, same = min(candidates, key=lambda candidate: candidate[0])
        other = max(same, key=lambda call: (len(call.lines), -len(_arguments(call))))
        question = [f"Suppose that line {change.line} of your `{self.name}` were", _code(change.after)]
        question += ["and not", _code(change.before)]
        question.append("Give a call that then goes wrong, and say what it does. Give a call that is still right.")
        answer = ["Wrong, for example:", _code(self._call_text(call)), *self._shown(call, ends)]
        answer += ends.sentences("As it is, it", "With the change it")
        answer += ["Still right, for example:", _code(self._call_text(other))]
        answer.append(f"{count} of {len(self.calls)} cases of the check go wrong.")
        return self._question("what would this change do?", question, answer)

    def _both(self, call: Call, other: Call) -> Ends | None:
        """How two runs of a case end. None if there is no difference, or if it is too long to be shown."""
        if call.result == other.result:
            return None
        ends = Ends(call.ends, other.ends)
        if not (call.is_whole and other.is_whole and ends.before != ends.after):
            ends = Ends(call.result, other.result, of_program=True)
            if len("".join(self._program(call))) > 2 * LONGEST_CASE:
                return None
        return ends if max(len(ends.before), len(ends.after)) <= LONGEST_CALL else None

    def _call_text(self, call: Call) -> str:
        """The arguments, and the case too if an argument is something that has no text."""
        arguments = _arguments(call)
        if not _opaque(arguments):
            return arguments
        return f"{arguments}\n# this case of the check:\n{_described(self.check, call.case)}"

    def _shown(self, call: Call, ends: Ends) -> list[str]:
        return self._program(call) if ends.of_program else []

    def _program(self, call: Call) -> list[str]:
        program, case = source(self.check.program), _described(self.check, call.case)
        shown = [] if _opaque(_arguments(call)) else ["with", _code(case)]
        return ["The check calls it in this program, whose result counts:", _code(program), *shown]

    def _by_line(self, call: Call) -> str:
        """The values that were noted, below the lines of the code."""
        texts = walk.split_lines(self.cell)
        shown = []
        for line in walk.lines_of(self.cell, self.name):
            values: dict[str, list[str]] = {}
            for number, label, value in call.notes:
                if number == line and (label, value) != ("", "None"):
                    values.setdefault(label, []).append(value)
            shown.append(f"{line:>4}  {texts[line - 1]}" + ("" if line in call.lines else "      (does not run)"))
            for label, results in values.items():
                name = {"?": "is", "": "gives", "return": "returns"}.get(label, f"{label} =")
                shown.append(f"{'':>10}{name} {', then '.join(results[:6])}{' ...' * (len(results) > 6)}")
        return "\n".join(shown)

    def _question(self, title: str, question: list[str], answer: list[str]) -> Question:
        return Question(
            self.exercise, title, question, [paragraph for paragraph in answer if paragraph], numbered(self.cell)
        )


def _code(text: str) -> str:
    return "\n".join(f" {line}" for line in text.splitlines())


def _arguments(call: Call) -> str:
    return "\n".join(f"{name} = {value}" for name, value in call.arguments.items())


def _described(check: Check, case: dict) -> str:
    import torch

    return check.show(torch, **case) if check.show else describe(check.in_order(case))


def _short_cases(check: Check, judge: Judge) -> list[dict]:
    every = {json.dumps(case, sort_keys=True): case for case in [*check.edges, *judge.source.draw(check)]}
    short = sorted((len(describe(case)), key) for key, case in every.items() if len(describe(case)) <= LONGEST_CASE)
    most = CASES if not is_on_torch(check.lab) else CASES // 2
    return [every[key] for _, key in short[:: max(1, len(short) // most)]][:most]


# The choice of exercises ---------------------------------------------------------------------------------------------


def questions(
    submission: Submission,
    isolated: bool,
    progress: Progress = lambda *_: None,
    others: Sequence[Answer] | None = None,
) -> tuple[list[Question], list[str]]:
    """The questions, and in one line the exercises that cannot be asked about. `others` are the answers of the class.

    Raises LookupError if the student has not been graded, or has written nothing.
    """
    student, lab, notebook = submission.student, submission.lab, graded(submission)
    seed = seed_of_graded(lab.course)
    draw = random.Random(f"{seed}/{lab}/{student}")
    cells = _attempted(notebook, lab)
    order = _most_telling(submission, cells, answers_of_class(lab)[0] if others is None else others, draw)
    if not order:
        raise LookupError(f"{student} has not written a function in {lab} that can be asked about")
    allowance = Allowance(is_on_torch(lab.name))
    try:
        return _three(lambda: Trials(lab, isolated, allowance), Judge(seed), cells, order, draw, progress)
    except (*FAILURES, NotGraded) as error:  # a subject can end, or take too long, at its start too
        raise LookupError(f"no questions for {student}: {error}") from None


def _questions(
    submission: Submission, isolated: bool, others: Sequence[Answer], progress: Progress
) -> tuple[list[Question], list[str]]:
    return questions(submission, isolated, progress, others)


_PROCESSES = multiprocessing.get_context("fork") if sys.platform == "linux" else multiprocessing.get_context("spawn")


def limited(work: Callable[[Progress], Any], student: str, progress: Progress = lambda *_: None) -> Any:
    """What `work(progress)` returns, from a process of its own under limits. Raises LookupError if it fails, whatever the student
    brought about."""
    receiver, sender = _PROCESSES.Pipe(duplex=False)
    process = _PROCESSES.Process(target=_send_result, args=(sender, work))
    process.start()
    sender.close()
    try:
        while (told := receiver.recv())[0] == "progress":
            progress(*told[1:])
    except EOFError:
        process.join()
        why = f"more than {CPU_SECONDS} s" if process.exitcode == -signal.SIGPROF else f"exit code {process.exitcode}"
        told = "failed", f"the process that works out the questions ended ({why})"
    finally:
        process.kill()
        process.join()
        receiver.close()
    kind, result = told
    if kind == "failed":
        raise LookupError(result if student in result else f"no questions for {student}: {result}")
    return result


def _send_result(sender: Connection, work: Callable[[Progress], Any]) -> None:
    """Send progress, and then the result, or in one line why there is none."""
    if sys.platform == "linux":
        import resource

        signal.setitimer(
            signal.ITIMER_PROF, CPU_SECONDS
        )  # SIGPROF ends this process. A sandbox does not inherit the timer
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    try:
        sender.send(("done", work(lambda *told: sender.send(("progress", *told)))))
    except LookupError as error:
        sender.send(("failed", str(error.args[0])))
    except Exception as error:
        sender.send(("failed", clean(f"{type(error).__name__}: {error}".partition("\n")[0], LONGEST_CASE)))


def askable(submission: Submission) -> list[str]:
    """The exercises that a student has written and that have a check; nothing has run. Raises LookupError like `questions`."""
    cells = _attempted(graded(submission), submission.lab)
    return [name for name, cell in cells.items() if _function(name, cell) and _is_short(cell) and _check_of(name)]


def _attempted(notebook: NotebookNode, lab: Lab) -> dict[str, str]:
    """The cells in which the student has written something."""
    given = answers_of(StudentNotebook(lab, nbformat.writes(notebook)).released)
    return {name: text for name, text in answers_of(notebook).items() if text.strip() != given.get(name, "").strip()}


def _is_short(cell: str) -> bool:
    return len(numbered(cell).splitlines()) <= LONGEST_CELL


def _function(exercise: str, cell: str) -> ast.FunctionDef | None:
    return walk.function_in(cell, exercise.rpartition(".")[2])


def _most_telling(
    submission: Submission, cells: dict[str, str], answers: Sequence[Answer], draw: random.Random
) -> list[str]:
    """The exercises in the order in which they are asked about: first those where the student wrote much that few others wrote."""
    others = [answer for answer in answers if answer.student != submission.student]
    weight: dict[str, float] = {}
    for exercise, cell in cells.items():
        if _function(exercise, cell) is None or not _is_short(cell):
            continue
        counts = Counter(part for answer in others if answer.exercise == exercise for part in answer.lines)
        count = sum(answer.exercise == exercise for answer in others)
        parts = answer(submission.student, exercise, cell).lines
        bits = sum(math.log2((count + 2) / (counts[part] + 1)) for part in parts)
        weight[exercise] = bits * draw.uniform(0.5, 1.0) * (len(numbered(cell).splitlines()) <= LONGEST_CODE or 0.1)
    return sorted(weight, key=lambda exercise: -weight[exercise])


def _three(
    trials: Callable[[], Trials],
    judge: Judge,
    cells: dict[str, str],
    order: list[str],
    draw: random.Random,
    progress: Progress,
) -> tuple[list[Question], list[str]]:
    """A question of each kind, each on another exercise, if there are enough of both."""
    functions = {
        exercise: StudentFunction(trials(), judge, exercise, check, cells[exercise], draw)
        for exercise in order
        if (check := _check_of(exercise))
    }
    kinds = draw.sample(["result", "line", "change"], QUESTIONS)
    asked: list[Question] = []
    tried: set[tuple[str, str]] = set()

    def ask(kind: str, names: list[str]) -> None:
        for name in names:
            if len(asked) < QUESTIONS and (kind, name) not in tried:
                progress(len(asked), QUESTIONS, name)
                tried.add((kind, name))
                try:
                    question = getattr(functions[name], kind)()
                except (
                    RecursionError,
                    ValueError,
                ):  # in `ast`, at a long expression, or a number too long to be written
                    functions[name].calls, question = [], None
                finally:
                    functions[name].trials.close()  # the next question about it starts another one
                if question:
                    asked.append(question)
                    return

    for kind in kinds:
        ask(kind, [name for name in functions if name not in {question.exercise for question in asked}])
    for kind in kinds:  # then two of a kind, or two on one exercise
        ask(kind, [name for name in functions if name not in {question.exercise for question in asked}])
        ask(kind, [*functions])
    none = [name for name, function in functions.items() if "calls" in vars(function) and not function.calls]
    why = "no short case, a long expression, code in another cell, another process, or notes change what happens"
    remarks = [f"cannot be asked about: {', '.join(none)} ({why})"] if none else []
    return asked, remarks


def _check_of(exercise: str) -> Check | None:
    """The first check of an exercise that the course has."""
    try:
        return find(exercise)
    except LookupError:
        from ..engine.check import registry

        return next(
            (check for check in registry().values() if not is_milestone(check.name) and check.exercise == exercise),
            None,
        )


# The page ------------------------------------------------------------------------------------------------------------

_STYLE = f"""
{SCHEMES}
body {{ font: 16px/1.45 system-ui, sans-serif; max-width: 56rem; margin: 1.5rem auto; padding: 0 1rem;
  color: var(--page); background: var(--page-b); overflow-wrap: anywhere; }}
pre {{ margin: .3rem 0; padding: .4rem .6rem; white-space: pre-wrap; background: var(--code-b); color: var(--code);
  font-size: .85rem; }}
code {{ background: var(--code-b); color: var(--code); }} .note {{ color: var(--muted); }} p {{ margin: .4rem 0; }}
section {{ break-inside: avoid; }} .answers, .answers + .questions {{ break-before: page; }}
"""


@dataclass
class Paper:
    """The paper of an examiner: how many questions each student gets, and remarks on each."""

    path: Path | None = None
    questions: dict[str, list[Question]] = field(default_factory=dict)
    remarks: dict[str, list[str]] = field(default_factory=dict)


def write(
    lab: Lab, submissions: Sequence[Submission], isolated: bool = True, progress: Progress = lambda *_: None
) -> Paper:
    """Write `classroom/oral/STUDENT/LAB.html`, or for several students one file to be printed, `classroom/oral-LAB.html`, in which
    each begins on a new sheet. A student for whom there are no questions is named in a remark."""
    paper, others = Paper(), answers_of_class(lab)[0]
    for number, submission in enumerate(submissions):
        student = submission.student

        def part(done: int, of: int, what: str, number: int = number) -> None:
            progress(QUESTIONS * number + done, QUESTIONS * len(submissions), what)

        try:
            work = partial(_questions, submission, isolated, others)
            asked, remarks = limited(work, student, part)
            if not asked:
                raise LookupError(f"no questions for {student}: {'; '.join(remarks)}")
        except LookupError as error:
            paper.remarks[student] = [error.args[0]]
            continue
        paper.questions[student], paper.remarks[student] = asked, remarks
    if paper.questions:
        one, folder = submissions[0].student if len(submissions) == 1 else None, lab.course.folder
        paper.path = folder / "oral" / one / f"{lab}.html" if one else folder / f"oral-{lab}.html"
        paper.path.parent.mkdir(parents=True, exist_ok=True)
        title = f"{escaped(one)}, lab {lab}: questions" if one else f"Lab {lab}: questions"
        bodies = [body_of(Submission(lab, student), asked) for student, asked in paper.questions.items()]
        write_page(paper.path, title, _STYLE, f"<main>{''.join(bodies)}</main>")
    return paper


def body_of(submission: Submission, asked: list[Question]) -> str:
    """The questions with the student's code, and on a new sheet of paper the answers."""
    name = f"{escaped(submission.student)}, lab {escaped(submission.lab.name)}"
    questions = [
        f"<section><h2>{number}. <code>{escaped(question.exercise)}</code>: {escaped(question.title)}</h2>"
        f"{_paragraphs(question.text)}"
        f'<p class="note">The cell, without its docstring:</p><pre>{escaped(question.code)}</pre></section>'
        for number, question in enumerate(asked, 1)
    ]
    answers = [
        f"<section><h2>{number}. <code>{escaped(question.exercise)}</code></h2>{_paragraphs(question.answer)}</section>"
        for number, question in enumerate(asked, 1)
    ]
    note = "Worked out by running the student's own code."
    return (
        f'<div class="questions"><h1>{name}: questions</h1>{"".join(questions)}</div>'
        f'<div class="answers"><h1>{name}: answers</h1><p class="note">{note}</p>{"".join(answers)}</div>'
    )


def _paragraphs(texts: list[str]) -> str:
    shown = [
        f"<pre>{escaped(text[1:].replace(chr(10) + ' ', chr(10)))}</pre>"
        if text.startswith(" ")
        else f"<p>{_inline(text)}</p>"
        for text in texts
    ]
    return "".join(shown)


def _inline(text: str) -> str:
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", escaped(text))
