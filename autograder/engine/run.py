"""Running one notebook: a subject runs its cells, and the judge decides its checks.

The verdict on each check is written into its cell in the form that nbgrader reads: a table, and an error if the check failed.
A subject that dies or hangs is replaced, and the earlier cells run again without the cell that killed it.
"""

from __future__ import annotations

import itertools
import json
import re
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from nbformat import NotebookNode

from ..language import language_of, phrase, speaking
from ..model import check_name, exercise_name
from . import limits
from .card import card
from .check import (
    DEMONSTRATION,
    SKIPPED_TAGS,
    THE_TEXT,
    binding,
    exercise_of,
    find,
    global_names,
    is_milestone,
    is_on_torch,
    missing_for_milestone,
    packages_of,
    pieces_for_milestone,
    short_name,
    takes_long,
)
from .edition import IS_MISSING, edition, versions
from .observe import Malformed, NotGraded, SubjectDied, SubjectTimedOut, Tree, accept, clean, result_of
from .sandbox import CUDA, INDUCTOR, Sandbox
from .verdict import DIED, MILESTONE_NOTE, NOT_ATTEMPTED, SECOND_CHANCE_NOTE, TIMED_OUT, Verdict, describe

if TYPE_CHECKING:
    from ..model import Lab
    from .judge import Judge, SecondChance

MAX_OUTPUTS = 4 << 20  # characters of all outputs of a notebook, pictures included
MAX_PARSED = 1 << 18  # characters of a student's cells: they may take 150 MiB and a quarter of a second

RERUN_TIMES = 2  # the limit of a cell that runs again, in limits of a cell: it must not fail now

FAILURES = (SubjectDied, SubjectTimedOut, Malformed)
_IMPORTS = "from autograder import"  # in the first cell of a lab
NOT_RUN = "(not run in grading: no check depends on this cell)\n"


def run(
    notebook: NotebookNode,
    lab: Lab,
    judge: Judge,
    isolated: bool = True,
    progress: Callable[[str], None] = lambda check: None,
) -> dict[str, Verdict]:
    """Run a lab's notebook and write every cell's outputs into it. Returns the verdicts by check name, in order.

    `progress(check)` is called before each check.

    Raises NotGraded if it takes longer than a submission may, and nothing else that a submission can bring about.
    """
    names = [name for cell in notebook.cells if (name := check_name(cell))]
    inductor = tuple(name for name in names if name.startswith(INDUCTOR))
    kernels = _kernels(lab, judge, inductor) if isolated and inductor else {}
    if isolated and any(name.startswith(CUDA) for name in names):
        kernels = kernels | _cuda_runtime()
    session = Session(lab, isolated, limits.Allowance(is_on_torch(lab.name)), kernels=kernels)
    try:
        verdicts = _run_cells(notebook, session, judge, progress)
    finally:
        session.close()
    with speaking(language_of(notebook)):
        for cell in notebook.cells:
            if name := check_name(cell):
                cell.outputs = outputs_of(verdicts[name])
    notebook.metadata["graded_with"] = versions(lab, session.missing)
    return verdicts


def _run_cells(
    notebook: NotebookNode, session: Session, judge: Judge, progress: Callable[[str], None]
) -> dict[str, Verdict]:
    """Run each cell on which a check may depend, and decide each check, in order. The output of another cell says that it was not
    run, because a person reads the notebook to mark the written answers."""
    verdicts: dict[str, Verdict] = {}
    core, to_run = session.lab.core, _to_run(notebook, session.lab)
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        cell.outputs, cell.execution_count = [], None
        if name := check_name(cell):
            progress(name)
            passed = _passed(verdicts)
            if is_milestone(name) and (reason := missing_for_milestone(core, passed.__contains__)):
                verdicts[name] = Verdict(name, NOT_ATTEMPTED, message=reason)
            else:
                retry = partial(_retry_on_reference, to_run, session, judge, passed, _unwritten(verdicts))
                verdicts[name] = session.decide(judge, name, retry)
                if is_milestone(name):
                    written = {each for each in map(exercise_name, to_run) if each} - _unwritten(verdicts)
                    pieces = pieces_for_milestone(core, sorted(written))
                    verdicts[name].pieces = {short_name(piece): piece in passed for piece in pieces}
        elif any(cell is other for other in to_run):
            cell.outputs = session.run_cell(cell)
            if _IMPORTS in cell.source and any(map(_is_error, cell.outputs)):
                session.expect_setup()
        elif cell.source.strip():
            cell.outputs = [NotebookNode(output_type="stream", name="stdout", text=NOT_RUN)]
    return verdicts


def _passed(verdicts: dict[str, Verdict]) -> set[str]:
    """The exercises that have passed every check so far."""
    by_exercise = [(exercise_of(name), verdict) for name, verdict in verdicts.items() if not is_milestone(name)]
    return {name for name, _ in by_exercise} - {name for name, verdict in by_exercise if not verdict.passed}


def _unwritten(verdicts: dict[str, Verdict]) -> set[str]:
    """The exercises so far that the student has not written, or whose cell did not run."""
    return {
        exercise_of(name)
        for name, verdict in verdicts.items()
        if verdict.outcome == NOT_ATTEMPTED and not is_milestone(name)
    }


def _to_run(notebook: NotebookNode, lab: Lab) -> list[NotebookNode]:
    """The checks, and the cells on which a check may depend. No check depends on a cell after the last check, nor on one that runs
    real torch or only draws. A demonstration of the lab runs only if the student's own cells use a name that it binds."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    last = max((i for i, cell in enumerate(code) if check_name(cell)), default=0)
    given = {"".join(cell["source"]): _tags(cell) for cell in lab.released["cells"]}
    used = _used([cell.source for cell in code if cell.source not in given])

    def is_needed(cell: NotebookNode) -> bool:
        if DEMONSTRATION in given.get(cell.source, ()):
            return used is None or not used.isdisjoint(global_names(cell.source)[0])
        return bool(check_name(cell)) or SKIPPED_TAGS.isdisjoint(_tags(cell))

    return [*filter(is_needed, code[: last + 1])]


def _used(sources: list[str]) -> set[str] | None:
    """The global names that sources use, or None if they do not tell, or only after too long."""
    if sum(map(len, sources)) > MAX_PARSED:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a student's text
            return set().union(*(global_names(source)[1] for source in sources))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _tags(cell: Mapping) -> list[str]:
    """In a student's notebook anything may be there."""
    tags = cell["metadata"].get("tags")
    return [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []


def _is_error(output: NotebookNode) -> bool:
    return output.output_type == "error"


def outputs_of(verdict: Verdict) -> list[NotebookNode]:
    """A verdict as the outputs of its check cell. nbgrader gives no points to a cell with an error among its outputs.

    What a reader sees is in the language that is spoken here, and the metadata are English.
    """
    shown = {"text/html": card(verdict), "text/plain": str(verdict)}
    summary = {"outcome": verdict.outcome, "seconds": round(verdict.seconds, 3), "message": verdict.message}
    summary |= {"notes": verdict.notes} if verdict.notes else {}
    summary |= {"counts": verdict.counts} if verdict.counts else {}
    summary |= {"drawn_for": verdict.drawn_for} if verdict.drawn_for else {}
    summary |= {} if verdict.case is None else {"case": verdict.listing or describe(verdict.case)}
    summary |= {} if verdict.case is None else {"given": json.dumps(verdict.case)}  # for a replay
    outputs = [{"output_type": "display_data", "data": shown, "metadata": {"rushlight": summary}}]
    if not verdict.passed:
        line = verdict.line()
        outputs.append({"output_type": "error", "ename": "CheckFailed", "evalue": line, "traceback": [line]})
    return [NotebookNode(output) for output in outputs]


class Session:
    """The subject of one submission, and the cells that a new subject must run first."""

    def __init__(
        self,
        lab: Lab,
        isolated: bool,
        allowance: limits.Allowance,
        missing: list[str] | None = None,
        kernels: Mapping[str, bytes] | None = None,
        filling: Path | None = None,
    ):
        self.lab, self.isolated, self.allowance = lab, isolated, allowance
        self.kernels, self.filling = kernels, filling
        self.missing = lab.required if missing is None else missing
        self.edition = edition(lab, self.missing)
        self.ran: list[NotebookNode] = []
        self.failed: dict[str | None, str] = {}  # the error of each exercise's cell
        self.sandbox: Sandbox | None = None
        self.clean: Session | None = None  # in which answers that are texts are tried
        self.output_left = MAX_OUTPUTS
        self.started = False

    def run_cell(self, cell: NotebookNode, times: int = 1) -> list[NotebookNode]:
        """The outputs of a cell, which may take so many times as long as a cell may."""
        try:
            reply = self._request({"cell": cell.source}, times * self._seconds(limits.CELL_SECONDS))
            self.ran.append(cell)
            outputs = [*self._limit_outputs(map(safe_output, reply["outputs"]))]
        except (*FAILURES, KeyError, TypeError, AttributeError) as error:
            outputs = [_error_output(type(error).__name__, str(error))]
        errors = filter(_is_error, outputs)
        self.failed |= {exercise_name(cell): f"{output.ename}: {output.evalue}" for output in errors}
        return outputs

    def expect_setup(self) -> None:
        """Raises NotGraded if the lab's own first cell fails here too, in a subject without any code of the student."""
        code = (cell for cell in self.lab.released["cells"] if cell["cell_type"] == "code")
        setup = next(source for cell in code if _IMPORTS in (source := "".join(cell["source"])))
        alone = Session(self.lab, self.isolated, self.allowance, [], self.kernels)
        try:
            outputs = alone.run_cell(NotebookNode(source=setup, metadata={}))
        finally:
            alone.close()
        if any(map(_is_error, outputs)):
            raise NotGraded(f"the lab's own first cell does not run here ({alone.failed[None]})")

    def _limit_outputs(self, outputs: Iterable[NotebookNode]) -> Iterator[NotebookNode]:
        for output in outputs:
            self.output_left -= len(json.dumps(output))
            if self.output_left < 0:
                yield _error_output(
                    "OutputLimit", f"a notebook may show {MAX_OUTPUTS} characters; the rest is left out"
                )
                return
            yield output

    def decide(self, judge: Judge, name: str, second_chance: SecondChance | None) -> Verdict:
        """The judge's verdict on a check. If it is not attempted because the exercise's cell did not run, it says why."""
        verdict = judge.verdict(name, self.observe, second_chance)
        exercise = None if is_milestone(name) else exercise_of(name)
        if verdict.outcome in (TIMED_OUT, DIED):  # the next subject runs without the piece that killed this one
            self.ran = [cell for cell in self.ran if exercise_name(cell) != name]
            self.failed[exercise] = f"{name}: {verdict.outcome}"
        if verdict.outcome == NOT_ATTEMPTED and exercise and exercise in self.failed:
            error = self.failed[exercise]
            verdict.message = phrase(f"the cell that defines it did not run: {error}")
        return verdict

    def try_cell(self, source: str, seconds: float) -> list[NotebookNode]:
        """The outputs of a cell that a new subject does not run again. Raises what a subject can bring about."""
        reply = self._request({"cell": source}, seconds)
        try:
            return [*map(safe_output, reply["outputs"])]
        except (LookupError, TypeError, AttributeError):
            raise Malformed("outputs in another form") from None

    def observe(self, name: str, cases: list[dict], limit: float | None = None) -> list[Tree]:
        """The subject's observation of each case of a check, each within `limit` seconds. If the answer is a text, it is that of a
        subject in which no code of the student has run: only the text is theirs."""
        if not find(name).is_text:
            return self._observe(name, cases, limit)
        [seen] = self._observe(name, [THE_TEXT])
        text = result_of(seen)
        if not isinstance(text, str):  # the exercise is not attempted, or raises
            return [seen] * len(cases)
        self.clean = self.clean or Session(self.lab, self.isolated, self.allowance, [], self.kernels)
        self.clean.try_cell(
            _FILL_WITH_TEXT.format(exercise=exercise_of(name), text=text), self._seconds(limits.CELL_SECONDS)
        )
        return self.clean._observe(name, cases)

    def _observe(self, name: str, cases: list[dict], limit: float | None = None) -> list[Tree]:
        """The subject's observation of each case of a check. It says when a case begins, because each may take as long as the
        limit. The error of one that takes longer has the case."""
        begun, limit = 0, limit or limits.seconds(limits.CHECK_SECONDS, takes_long(name))
        try:
            reply = self._request({"check": name, "cases": cases, "begins": True}, limit)
            while reply == {"begins": True} and begun < len(cases):
                begun += 1
                reply = self._exchange(None, limit)
        except SubjectTimedOut as error:
            error.case = cases[begun - 1] if begun else None
            raise
        observed = reply.get("observed") if isinstance(reply, dict) else None
        accept(observed)
        if not isinstance(observed, list) or len(observed) != len(cases):
            raise Malformed(f"asked for {len(cases)} observations, received something else")
        return observed

    def _seconds(self, limit: tuple[float, float]) -> float:
        return limits.seconds(limit, is_on_torch(self.lab.name))

    def _request(self, message: Tree, seconds: float) -> Tree:
        if self.sandbox is None:
            self._start()
        return self._exchange(message, seconds)

    def _start(self) -> None:
        """Start a subject and run the earlier cells in it, without those that kill it."""
        while True:
            self.allowance.check()
            self.sandbox = Sandbox(
                self.edition,
                self.isolated,
                is_on_torch(self.lab.name),
                self.kernels,
                self.filling,
                self.lab.course.private_folders,
                packages_of(self.lab.name),
            )
            if self.started:  # who ends process after process takes the machine's time
                self.allowance.left -= self.sandbox.seconds
            self.started = True
            killer = next((i for i, cell in enumerate(self.ran) if not self._survives(cell)), None)
            if killer is None:
                return
            del self.ran[killer]

    def _survives(self, cell: NotebookNode) -> bool:
        try:
            self._exchange({"cell": cell.source}, RERUN_TIMES * self._seconds(limits.CELL_SECONDS))
            return True
        except FAILURES:
            return False

    def _exchange(self, message: Tree, seconds: float) -> Tree:
        sandbox = self.sandbox
        assert sandbox is not None
        before = sandbox.seconds
        self.allowance.check()
        try:
            return sandbox.request(message, seconds)
        except FAILURES:
            self.close()
            raise
        finally:
            self.allowance.left -= sandbox.seconds - before

    def close(self) -> None:
        if self.clean is not None:
            self.clean.close()
        if self.sandbox is not None:
            self.sandbox.close()
            self.sandbox = None


_FILL_WITH_TEXT = """
from autograder.engine.check import function_of
from autograder.engine.exercise import fill
fill(function_of({exercise!r}), lambda: {text!r})
"""
_FILL_WITH_REFERENCE = """
from types import FunctionType
from autograder.engine.check import function_of
from autograder.engine.exercise import fill
for slot in map(function_of, {exercises}):
    fill(slot, FunctionType(slot.__code__, slot.__globals__, slot.__name__, slot.__defaults__))
"""


@cache
def _cuda_runtime() -> dict[str, bytes]:
    """The library that runs kernels in CUDA C++, by the name of its file. Without it each submission would compile it. No text of a
    student is part of it."""
    from rushlight.on_torch.cuda_on_host import runtime_library

    with suppress(RuntimeError, OSError):  # then a submission says why
        library = runtime_library()
        return {library.name: library.read_bytes()}
    return {}


@cache
def _kernels(lab: Lab, judge: Judge, names: tuple[str, ...]) -> dict[str, bytes]:
    """The kernels that Inductor compiles for the reference on the judge's cases of these checks.

    g++ takes two seconds for a kernel, and a right submission needs mostly the same ones. Inductor finds a kernel by a hash of its
    text and of the compile command, so these cannot change what a submission does. The reference makes them, alone in a sandbox.
    If it does not pass there, there are none, and a submission only takes longer. They stay in this process, because a kernel is
    for this machine's CPU.
    """
    with tempfile.TemporaryDirectory() as folder, suppress(NotGraded):
        if all(verdict.passed for verdict in _reference_verdicts(lab, judge, names, Path(folder))):
            return {f"{path.parent.name}/{path.name}": path.read_bytes() for path in Path(folder).glob("*/*.so")}
    return {}


def _reference_verdicts(lab: Lab, judge: Judge, names: Iterable[str], folder: Path) -> Iterator[Verdict]:
    """The verdicts on the reference, which leaves its kernels in the folder."""
    session = Session(lab, True, limits.Allowance(is_on_torch(lab.name)), missing=[], filling=folder)
    try:
        source = _FILL_WITH_REFERENCE.format(exercises=sorted(set(map(exercise_of, names))))
        session.run_cell(NotebookNode(source=source, metadata={}))
        yield from (session.decide(judge, name, None) for name in names)
    finally:
        session.close()


def _retry_on_reference(
    to_run: list[NotebookNode],
    session: Session,
    judge: Judge,
    passed: set[str],
    unwritten: set[str],
    verdict: Verdict,
) -> Verdict | None:
    """A second chance for an exercise that failed on top of the student's other pieces: the earlier ones are the reference's here.
    For a milestone, all of the lab that have not passed are. A note says so, unless only unwritten pieces were the reason: in
    the notebook they are the reference's, too.

    The later ones are not. So of two answers that call each other one fails, and a student who reads the reference in this
    subject finds answers to decided checks only. Nothing but the verdict leaves it.
    """
    named = list(filter(None, map(exercise_name, to_run)))
    if is_milestone(verdict.check):
        replaced, note = set(named) - passed, MILESTONE_NOTE
    else:
        exercise = exercise_of(verdict.check)
        replaced, note = set(itertools.takewhile(lambda name: name != exercise, named)), SECOND_CHANCE_NOTE
    if not replaced or session.allowance.left < session.allowance.total / 2:
        return None  # the second attempt would be the same as the first, or the time of the other pieces is at stake
    missing = replaced & unwritten if note == SECOND_CHANCE_NOTE else set()
    retry = partial(_on_reference, to_run=to_run, session=session, judge=judge, verdict=verdict)
    if missing and verdict.message.endswith(IS_MISSING):  # with them the verdict is the notebook's, right or wrong
        alone = retry(missing, fails_too=True)
        if alone is None or alone.passed or replaced <= missing:
            return alone
        second = retry(replaced)
        return alone if second is None else replace(second, notes=[note, *second.notes])
    second = retry(replaced)
    if second is None or note == SECOND_CHANCE_NOTE and replaced <= unwritten:
        return second
    has_time = session.allowance.left >= session.allowance.total / 2
    third = retry(missing) if missing and has_time else None
    return third or replace(second, notes=[note, *second.notes])


def _on_reference(
    replaced: set[str],
    to_run: list[NotebookNode],
    session: Session,
    judge: Judge,
    verdict: Verdict,
    fails_too: bool = False,
) -> Verdict | None:
    """The verdict on a check that failed, with the reference in the place of these exercises. None if it fails again, unless that
    verdict is asked for, too."""
    missing = [name for name in session.missing if name not in replaced]
    retry = Session(session.lab, session.isolated, session.allowance, missing, session.kernels)
    check, case = verdict.check, verdict.case
    try:
        # as in the notebook, later cells have no effect on the check
        for cell in itertools.takewhile(lambda cell: check_name(cell) != check, to_run):
            if check_name(cell):
                continue
            other = exercise_name(cell)
            if other in replaced:  # its name is the reference's now
                cell = NotebookNode(source=binding(other), metadata=cell.metadata)
            retry.run_cell(cell, RERUN_TIMES)
        if case is not None and not judge.replay(check, case, retry.observe).passed:
            return None  # the case on which it did not end: the whole check might not end again on a later one
        second = retry.decide(judge, check, None if fails_too else lambda failed: failed)
    finally:
        retry.close()
    return second if second.passed or fails_too else None


# What a subject sent, made safe to show ------------------------------------------------------------------------------

_PNG = re.compile(r"iVBORw0KGgo[A-Za-z0-9+/\n]*={0,2}\n?")


def safe_output(output: dict) -> NotebookNode:
    """An output that the subject described, without anything that is unsafe or too large to show an instructor."""
    kind = output["output_type"]
    if kind == "display_data":
        data = {"text/plain": clean(output["data"].get("text/plain", ""))}
        if _PNG.fullmatch(picture := str(output["data"].get("image/png", ""))):
            data["image/png"] = picture
        return NotebookNode(output_type=kind, data=data, metadata={})
    if kind == "stream":
        name = "stderr" if output["name"] == "stderr" else "stdout"
        return NotebookNode(output_type=kind, name=name, text=clean(output["text"]))
    return _error_output(output["ename"], output["evalue"], "\n".join(map(str, output["traceback"])))


def _error_output(name: str, value: str, traceback: str = "") -> NotebookNode:
    name, value = clean(name), clean(value)
    lines = [clean(traceback or f"{name}: {value}")]
    return NotebookNode(output_type="error", ename=name, evalue=value, traceback=lines)
