"""The notebook's half of a check: the kernel in which a student works is the subject.

`check(name)` finds the judge of the machine (`service.py`), or starts one as a helper process, once for each kernel. It answers
the judge's questions with observations, and shows the verdict that comes back. Nothing is decided here.
"""

from __future__ import annotations

import ast
import atexit
import builtins
import contextlib
import dis
import inspect
import io
import itertools
import json
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from contextvars import copy_context
from dataclasses import replace
from functools import partial
from typing import IO, Any

from ..engine import devices
from ..engine.check import (
    exercise_of,
    find,
    function_of,
    is_milestone,
    missing_for_milestone,
    pieces_for_milestone,
    short_name,
    takes_long,
)
from ..engine.exercise import definition, filled, is_filled, only, student_frames, with_lines
from ..engine.observe import Malformed, SubjectDied, SubjectTimedOut, Tree, clean, clean_frames, encode, receive, send
from ..engine.subject import MAX_OUTPUT, answer, is_grading
from ..engine.verdict import (
    DISAGREED,
    GRADER_ERROR,
    LONGEST_REPLAY,
    MILESTONE_NOTE,
    NEEDS_TORCH,
    NOT_ATTEMPTED,
    NOT_RUN,
    NOT_THEIR_FAULT,
    PASSED,
    PRACTICE,
    SECOND_CHANCE_NOTE,
    TIMED_OUT,
    Verdict,
    describe,
)
from ..language import phrase, speak
from . import cells

if not is_grading() and devices.hide_from_kernel():
    print(
        speak(
            "The kernel of this notebook runs on the CPU, as grading does."
            " With RUSHLIGHT_DEVICE=cuda in its environment it sees the GPU."
        )
    )

A_MOMENT = 1.0  # seconds after which a check says that it runs
WIDTH = 60  # characters of a line of text: JupyterLab breaks a longer one inside a word where its window is narrow


class CheckFailed(Exception):
    """Raised by `check` where the student's piece and torch do not agree, so that nbgrader sees a failed cell.

    Its message is the verdict in a line. A notebook, in which a card `is_above`, does not repeat it.
    """

    def __init__(self, message: str, is_above: bool = False):
        super().__init__(message)
        self.is_above = is_above

    def _render_traceback_(self) -> list[str]:
        said = speak("see above") if self.is_above else self
        return [_in_lines(f"{type(self).__name__}: {said}")]  # IPython shows it and no traceback


def _in_lines(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


class NoJudge(CheckFailed):
    """Raised by `check` if the judge's process has ended, so that there is no verdict."""


class _Judge:
    """A conversation with a judge."""

    source: IO[bytes]
    target: IO[bytes]
    pids: Collection[int] = ()  # its processes below this one, whose time is not the student's

    def verdict(self, name: str, case: dict | None) -> Verdict:
        """Let the judge decide a check. Raises EOFError or OSError if it ends."""
        printed: dict[str, str] = {}  # the program's output, by case
        send(self.target, {"check": name, "case": case})
        while "verdict" not in (message := receive(self.source)):
            try:
                reply: Tree = {"observed": _answer(name, message["ask"], printed, self.pids)}
            except (SubjectTimedOut, SubjectDied) as error:
                end = "timed out" if isinstance(error, SubjectTimedOut) else "died"
                reply = {end: str(error), "at": message["ask"].index(error.case)}
            send(self.target, reply)
        _keep_output(printed)
        return Verdict(**message["verdict"])


class _Helper(_Judge):
    """A judge of this kernel's own: a process, and what it writes to standard error."""

    def __init__(self) -> None:
        self.errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  (open as long as the process runs)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "autograder.engine.judge"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            start_new_session=True,
        )
        assert self.process.stdout is not None and self.process.stdin is not None
        self.source, self.target, self.pids = self.process.stdout, self.process.stdin, {self.process.pid}

    def is_running(self) -> bool:
        return self.process.poll() is None

    def verdict(self, name: str, case: dict | None) -> Verdict:
        """Let the judge decide a check. Raises NoJudge if its process ends."""
        try:
            return super().verdict(name, case)
        except (EOFError, BrokenPipeError):
            raise NoJudge(self.why_it_ended()) from None

    def why_it_ended(self) -> str:
        """Why the process has ended, and what the student can do."""
        code = self.process.wait()
        self.errors.seek(0)
        last = self.errors.read().decode(errors="replace").strip().rpartition("\n")[2]
        error, _, message = last.partition(": ")
        if error == "ModuleNotFoundError":
            return message
        name = signal.Signals(-code).name if code < 0 else ""
        reason = speak("{name}, out of memory perhaps", name=name) if name else last or f"exit code {code}"
        return speak(
            "the process that holds torch has ended ({reason}): run the cell again; if it ends again,"
            " `python -m autograder.engine.judge` in a terminal shows more",
            reason=reason,
        )

    def close(self) -> None:
        self.process.kill()


class _Shared(_Judge):
    """A judge of the machine's service."""

    def __init__(self, connection: socket.socket):
        self.connection = connection
        self.source, self.target = connection.makefile("rb"), connection.makefile("wb")

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)
        self.connection.close()


def _decide_here(name: str, case: dict | None) -> Verdict:
    """The verdict of a judge in this very process, by torch's recorded answers: a browser starts no other process."""
    from ..engine.judge import Judge
    from ..engine.limits import tell_page
    from ..engine.practice import Practice, recorded
    from ..engine.source import NotRecorded

    judge, printed, numbers, whole = Judge(source=Practice()), dict[str, str](), itertools.count(1), 1
    listings: dict[str, str] = {}
    if case is None and find(name).examine is None:
        with contextlib.suppress(NotRecorded):  # the verdict says it
            known = recorded(name)
            whole, listings = len(known.cases), dict(zip(map(_key, known.cases), known.listings))

    def ask(name: str, cases: list[dict]) -> list[Tree]:
        observed: list[Tree] = []
        for asked in cases:
            if (number := next(numbers)) <= whole > 1:  # and no case that is asked again
                tell_page(case=number, of=whole, said=listings.get(_key(asked)) or describe(asked, with_strides=True))
            observed += _answer(name, [asked], printed)
        return receive(io.BytesIO(encode(observed)))  # plain data, as from another process

    verdict = judge.verdict(name, ask) if case is None else judge.replay(name, case, ask)
    _keep_output(printed)
    return verdict


_stopped_in: list[Tree] = []  # the frames of the student's code that took too long last
_printed: dict[str, str] = {}  # by case, what the program printed when a check first ran it


def _keep_output(printed: dict[str, str]) -> None:
    _printed.update(printed | _printed)


def _show_output(verdict: Verdict) -> None:
    """Print what the program printed for the shown case: that helps, the output of a hundred others does not."""
    if verdict.case is not None:
        print(clean(_printed.get(_key(verdict.case), "")), end="")


_helper: _Helper | None = None
_shared: _Shared | None = None


def check(name: str, case: dict | None = None) -> None:
    """Compare the student's piece with torch and show the verdict; `case` replays one case.

    Raises CheckFailed if they differ, and LookupError for a name that does not exist. While a lab is graded it does nothing,
    because the grader runs the checks.
    """
    find(name)
    if is_grading():
        return
    if reason := _why_not_run(name):
        _display(verdict := Verdict(name, NOT_RUN, message=reason))
        raise CheckFailed(verdict.line(), is_above=True)
    reason = _not_yet(name) if is_milestone(name) and case is None else ""
    _printed.clear()
    _stopped_in.clear()
    verdict = Verdict(name, NOT_ATTEMPTED, message=reason) if reason else _verdict_on(name, case)
    if is_milestone(name):
        verdict.pieces = _pieces(name)
    elif verdict.outcome == DISAGREED and _has_no_result(function_of(exercise_of(name)), verdict.frames):
        verdict.notes.insert(0, phrase("your function has no `return` with a value, so it returns None"))
    _show_output(verdict)
    _show_practice_once(verdict)
    _display(verdict, *([] if case or not has_points else _standing(verdict)))  # one case earns no points
    if not case:
        _display_end(name)
    if not verdict.passed:
        raise CheckFailed(verdict.line(), is_above=True)


def _verdict_on(name: str, case: dict | None) -> Verdict:
    """The verdict on the student's piece, after its second chance. As long as it takes, a notebook says that it runs."""
    from .last_check import noted  # as `limits` above

    with _saying_that_it_runs(name), noted(name):
        verdict = _decide(name, case)
        if verdict.outcome == TIMED_OUT:
            verdict.frames = clean_frames({"frames": _stopped_in})
        is_alone = verdict.was_examined and not is_milestone(name)  # it depends on no other piece
        if case is None and not is_alone and verdict.outcome not in (PASSED, NOT_ATTEMPTED, GRADER_ERROR, NEEDS_TORCH):
            verdict = _retry_on_reference(verdict)
        return verdict


def ask(name: str, /, **case: Any) -> None:
    """Print what torch gives in the program of a check, on a case of the student's own: `ask("aten.strided.expand", sizes=[2])`.

    The values have the form that a verdict shows for *case*, and `ask("aten.strided.expand")` prints some cases. A tensor is
    `{"tensor": {"sizes": [2, 3], "strides": [1, 2]}}`, contiguous without strides. No exercise has to
    be written. Raises TypeError or ValueError for a case that the program cannot have, LookupError for a check that does not exist
    or compares nothing, and CheckFailed if torch cannot answer.
    """
    from ..engine.asking import call_of_ask, complete, edges_of, listed  # not in the sandbox
    from ..engine.source import NotRecorded

    check = find(name)
    if check.examine is not None or check.prediction:
        raise LookupError(phrase(f"{name} is about your own answer: torch's is not given"))
    try:
        edges = edges_of(check)
    except NotRecorded as error:
        raise _unanswered(name, str(error)) from None
    if edges and edges[0] and not case:
        print("\n".join(call_of_ask(check, shown) for shown in listed(check)))
        return
    case = complete(check, case)
    if is_grading():
        return
    with _no_answer():
        verdict = _decide(name, case)
    if not verdict.theirs:
        if sys.platform == "emscripten" and not verdict.message.endswith(NOT_THEIR_FAULT):
            raise CheckFailed(speak('in this page you can ask recorded cases: ask("{name}") lists some', name=name))
        raise _unanswered(name, verdict.message.removesuffix(NOT_THEIR_FAULT))
    print(verdict.theirs)


def _unanswered(name: str, message: str) -> CheckFailed:
    reason = speak(message)
    return CheckFailed(f"{name}: {speak('torch has no answer to this case: {reason}', reason=reason)}")


NO_ANSWER = "\0"  # what no program gives: a verdict then has torch's answer
_is_asking = False


@contextlib.contextmanager
def _no_answer() -> Iterator[None]:
    """Have no program of the student run."""
    global _is_asking
    _is_asking = True
    try:
        yield
    finally:
        _is_asking = False


def _retry_on_reference(verdict: Verdict) -> Verdict:
    """Give a piece that fails on top of the student's other pieces the second chance that it has in grading, on the reference's,
    and find which of the others is at fault. For a milestone, those that have not passed are the reference's.

    A case that fails there too shows a mistake of this piece: then the verdict stays.
    """
    name, own = verdict.check, filled()
    if is_milestone(name):
        passing = [
            function_of(exercise_of(check)) for check in _passed if not is_milestone(check) and _still_passes(check)
        ]
        note = MILESTONE_NOTE
    else:
        passing, note = [function_of(exercise_of(name))], SECOND_CHANCE_NOTE
    kept = {place: own[place] for slot in passing if (place := (slot.__module__, slot.__name__)) in own}
    others = [place for place in own if place not in kept]

    def decided(count: int, case: dict | None) -> Verdict:
        """The verdict with the first `count` of the other pieces, and the reference in the place of the rest."""
        with only(kept | {place: own[place] for place in others[:count]}):
            return _decide(name, case)

    if not others or verdict.outcome == TIMED_OUT and verdict.case is not None and not _ends(name, verdict.case, kept):
        return verdict
    if verdict.case is not None and not decided(0, verdict.case).passed:
        return verdict
    second = decided(0, None)
    if verdict.case is not None and second.passed:
        fewer, more = 0, len(others)  # it passes with so few of the others, and fails with so many
        while more - fewer > 1:
            middle = (fewer + more) // 2
            fewer, more = (middle, more) if decided(middle, verdict.case).passed else (fewer, middle)
        name, call = others[more - 1][1], verdict.replay()
        fault = phrase(f"{name} is at fault")
        fault = phrase(f"{fault}: {call} shows how") if len(call) < LONGEST_REPLAY else fault
        note = f"{note}; {fault}"
    if second.passed:
        return replace(second, notes=[note, *second.notes])
    return verdict if verdict.was_examined else second  # the clinic of a class has no references


def _ends(name: str, case: dict, pieces: dict) -> bool:
    """Whether a case that took too long ends soon with these pieces and the reference's. No student waits for the limit twice."""
    from ..engine import limits  # not in the sandbox

    limit = limits.seconds(limits.RETRY_SECONDS, takes_long(name))
    try:
        with only(pieces), _one_thread(), contextlib.suppress(SystemExit):
            limits.limited(partial(_answer_quietly, name, case, {}), limit)
    except SubjectTimedOut:
        return False
    return True


def _has_no_result(slot: Callable, frames: list[list]) -> bool:
    """Whether the function that runs in the place of this one has no `return` with a value, and should have one. `frames` are
    those of an exception: a function among them has raised, and returned nothing."""
    piece = filled().get((slot.__module__, slot.__name__))
    code = piece and getattr(definition(piece), "__code__", None)
    if code is None or code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE):
        return False
    if code.co_qualname.rpartition("<locals>.")[2] in [function for function, *_ in frames]:
        return False
    try:
        [written] = ast.parse(textwrap.dedent(inspect.getsource(code))).body
    except (OSError, SyntaxError):
        return False
    if not isinstance(written, ast.FunctionDef):  # a lambda has a value
        return False
    ends = any(step.opname.startswith("RETURN_") for step in dis.get_instructions(code))  # or it raises
    is_wanted = slot.__annotations__.get("return") not in (None, "None")
    return ends and is_wanted and not any(map(_returns_value, written.body))


def _returns_value(statement: ast.AST) -> bool:
    """Whether a statement has a `return` with an expression, such as `return None`, that is not of an inner function."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return False
    return (
        isinstance(statement, ast.Return)
        and statement.value is not None
        or any(map(_returns_value, ast.iter_child_nodes(statement)))
    )


def _still_passes(check: str) -> bool:
    """Whether a check has passed in this kernel with the function that runs now."""
    return check in _passed and _passed[check] is _function(check)


def _not_yet(milestone: str) -> str:
    """Why a milestone is not decided yet in this kernel, or nothing."""
    from ..model import Lab  # as `limits` above

    lab = Lab(find(milestone).lab)
    return missing_for_milestone(lab.core, _is_own) if lab.path.exists() else ""


def _why_not_run(check: str) -> str:
    """Why the code that a check would decide is not what stands in the notebook, or nothing."""
    from ..model import Lab  # as `limits` above

    if not is_milestone(check):
        return cells.why_not_run(exercise_of(check))
    lab = Lab(find(check).lab)
    found = {name: cells.why_not_run(name) for name in (lab.exercises if lab.path.exists() else ())}
    return next((f"{short_name(name)}: {reason}" for name, reason in found.items() if reason), "")


def _pieces(milestone: str) -> dict[str, bool]:
    """Whether each piece that a milestone should have is the student's."""
    from ..model import Lab  # as `limits` above

    lab = Lab(find(milestone).lab)
    if not lab.path.exists():
        return {}
    pieces = pieces_for_milestone(lab.core, [name for name in lab.exercises if is_filled(function_of(name))])
    return {short_name(name): _is_own(name) for name in pieces}


def _is_own(exercise: str) -> bool:
    """Whether an exercise is written, and its function has failed none of its checks, as grading counts it."""
    now = [check for check, function in _failed.items() if not is_milestone(check) and function is _function(check)]
    return is_filled(function_of(exercise)) and exercise not in map(exercise_of, now)


def _show_practice_once(verdict: Verdict) -> None:
    """Leave out the note that answers are recorded, if this kernel has shown it."""
    global _has_shown_practice
    notes = [note for note in verdict.notes if not note.startswith(PRACTICE)]
    if _has_shown_practice:
        verdict.notes = notes
    _has_shown_practice |= notes != verdict.notes


_has_shown_practice = False
has_points = True  # a verdict: not that on an answer which a page has from another person
_passed: dict[str, Callable | None] = {}  # the checks that have passed in this kernel, and the function that did
_failed: dict[str, Callable | None] = {}  # and those that have failed
_passed_too: list[str] = []  # the checks that a page counts again if the one that runs passes


def count_alone(passed: Iterable[str], too: Iterable[str]) -> None:
    """Count the checks that a page has as passed, and no others. `too` count with the next check if it passes."""
    _passed.clear()
    _passed_too[:] = too
    for check in passed:
        with contextlib.suppress(LookupError, ImportError):  # of another version of the course
            count_as_passed(check)


def count_as_passed(check: str) -> None:
    """Count the piece that is plugged in now as one that has passed its check."""
    _passed[check] = _function(check)
    _failed.pop(check, None)


def _standing(verdict: Verdict) -> list:
    """The points of a check in its lab, and a line with what has passed so far. Empty for a check that is in no lab.

    A piece that was defined again after its check is counted when it is checked again.
    """
    from ..engine.card import points_of
    from ..model import Lab  # as `limits` above

    name = verdict.check
    if verdict.passed:
        for check in (name, *_passed_too):
            count_as_passed(check)
    else:
        _passed.pop(name, None)
        _failed[name] = _function(name)
    with contextlib.suppress(OSError, ValueError, KeyError):  # a student may have changed the files of the course
        lab = Lab(find(name).lab)
        worth = lab.points if lab.path.exists() else {}
        if name in worth:
            done = {check for check in worth if _still_passes(check)}
            pieces = [exercise_of(check) for check in worth if not is_milestone(check)]
            left = {exercise_of(check) for check in worth if check not in done and not is_milestone(check)}
            whole = len({*pieces})
            points = points_of(sum(worth[check] for check in done), lab.all_points)
            exercises = speak("{count} of {whole} exercises", count=whole - len(left), whole=whole)
            if further := len({*pieces} - {*lab.core}):  # the lab's introduction counts them apart
                exercises = speak(
                    "{exercises} ({core} core and {further} further)",
                    exercises=exercises,
                    core=whole - further,
                    further=further,
                )
            said = speak("lab {number}: {exercises} · {points}", number=lab.number, exercises=exercises, points=points)
            if sys.platform != "emscripten":  # a page keeps what has passed
                said = speak("in this session, {said}", said=said)
            return [worth[name], said]
    return []


def _function(check: str) -> Callable | None:
    """The function that runs in the place of a check's exercise now."""
    return None if is_milestone(check) else getattr(function_of(exercise_of(check)), "__wrapped__", None)


def _decide(name: str, case: dict | None) -> Verdict:
    """The verdict of the machine's judge, or where there is none that can decide, of this kernel's own."""
    try:
        if sys.platform == "emscripten":
            return _decide_here(name, case)
        return _ask_shared(name, case) or _ask_helper(name, case)
    except KeyboardInterrupt:
        raise CheckFailed(f"{name}: {speak('interrupted')}") from None


def _ask_shared(name: str, case: dict | None) -> Verdict | None:
    """The verdict of the machine's judge, which ends after a long silence: then of a new one. None if there is none."""
    global _shared
    while _helper is None:  # otherwise its memory is taken already
        kept, _shared = _shared, None
        judge = kept or _connect()
        if judge is None:
            return None
        try:
            verdict = judge.verdict(name, case)
        except (EOFError, OSError, Malformed):
            judge.close()
            if kept is None:
                return None
        except BaseException:
            judge.close()
            raise
        else:
            _shared = judge
            return None if verdict.outcome == GRADER_ERROR else verdict
    return None


def _connect() -> _Shared | None:
    with contextlib.suppress(ImportError):  # of what only Linux has; nor is the service in the sandbox
        from .service import connect

        return _Shared(connection) if (connection := connect()) else None
    return None


def _ask_helper(name: str, case: dict | None) -> Verdict:
    global _helper
    if _helper is None or not _helper.is_running():
        _helper = _Helper()
    helper, _helper = _helper, None  # after an error in mid-conversation the next check starts another process
    try:
        verdict = helper.verdict(name, case)
    except BaseException:
        helper.close()
        raise
    _helper = helper
    return verdict


def _answer(name: str, cases: list[dict], printed: dict[str, str], besides: Collection[int] = ()) -> list[Tree]:
    """The observation of each case. Raises SubjectTimedOut or SubjectDied, with the case, if one takes longer than the limit, or
    would end Python."""
    from ..engine import limits  # not in the sandbox, where no check runs here

    if _is_asking:
        return [NO_ANSWER] * len(cases)
    limit, observed = limits.seconds(limits.CHECK_SECONDS, takes_long(name)), list[Tree]()
    for case in cases:
        try:
            with _one_thread():
                observed.append(limits.limited(partial(_answer_quietly, name, case, printed), limit, besides))
        except SubjectTimedOut as error:
            error.case = case
            if error.__cause__:
                _stopped_in[:] = with_lines(student_frames(error.__cause__))
            raise
        except SystemExit as error:
            died = SubjectDied(phrase(f"it raises {error!r}, which ends Python: return a value instead"))
            died.case = case
            raise died from None
    return observed


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Have torch compute on one thread, as in the sandbox: own time counts all threads, and so may depend on the machine."""
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _answer_quietly(name: str, case: dict, printed: dict[str, str]) -> Tree:
    """The observation of one case. What the program prints goes into `printed`."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output), _without_input():
        (observed,) = answer(name, [case])
    printed[_key(case)] = output.getvalue()[:MAX_OUTPUT]
    if not find(name).is_drawn:
        return observed
    from .first_answers import first_answer  # as `limits` above

    return first_answer(name, observed)


@contextlib.contextmanager
def _without_input() -> Iterator[None]:
    """Within: `input` raises the error of grading, where there is no input, at once. A kernel would wait, and so take too long."""
    before, builtins.input = builtins.input, _no_input
    try:
        yield
    finally:
        builtins.input = before


def _no_input(prompt: object = "") -> str:
    raise EOFError(phrase("a check cannot wait for input: write the value into your code"))


def _key(case: dict) -> str:
    return json.dumps(case, sort_keys=True, default=repr)


@contextlib.contextmanager
def _saying_that_it_runs(name: str) -> Iterator[None]:
    """Within: say in the place of the verdict of a notebook that the check runs and when it ends, as soon as it has taken
    `A_MOMENT`. The first check of a kernel, which starts torch, says it at once, as does one that always takes long."""
    from ..engine import limits  # not in the sandbox

    global _place
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if not hasattr(shell, "kernel"):
        yield
        return
    from IPython.display import display

    first = _helper is None and _shared is None
    limit = limits.seconds(limits.CHECK_SECONDS, takes_long(name))
    said = speak("running: a case that computes longer than {seconds:.0f} s is stopped", seconds=limit)
    said = f"{speak('starting torch: ten seconds, once in a kernel')}; {said}" if first else said

    def say() -> None:
        global _place
        _place = display({"text/plain": said}, raw=True, display_id=True)

    wait = 0.0 if first or takes_long(name) else A_MOMENT
    timer = threading.Timer(wait, copy_context().run, [say])  # as from this cell
    timer.daemon = True
    timer.start()
    has_ended = False
    try:
        yield
        has_ended = True
    finally:
        timer.cancel()
        timer.join()
        if _place and not has_ended:  # interrupted: there is no verdict to take its place
            _place.update({"text/plain": ""}, raw=True)
            _place = None


_place: Any = None  # of the verdict, if something stands there


def _display(verdict: Verdict, *standing: Any) -> None:
    """Show a verdict, with its points and the tally of its lab."""
    global _place
    try:
        from IPython import get_ipython  # a script may use `check` without IPython
        from IPython.display import display
    except ImportError:
        _print(verdict)
        return
    if get_ipython() is None and sys.platform != "emscripten":  # a page of the site displays without a shell
        _print(verdict)
    else:
        from ..engine.card import card  # not in the sandbox, where nothing is displayed

        show, _place = _place.update if _place else display, None
        show(
            {"text/html": card(verdict, *standing), "text/plain": verdict.text(whole=sys.platform == "emscripten")},
            raw=True,
        )


def _display_end(name: str) -> None:
    """Show the end of a check's lab, if this was the last check of it. A page of the site has an end of its own."""
    from ..model import Lab  # as `limits` above

    lab = Lab(find(name).lab)
    if "IPython" not in sys.modules or sys.platform == "emscripten" or not lab.path.exists() or name not in lab.points:
        return
    from IPython.display import display

    from .end import end_of  # as `limits` above

    passed = [check for check in lab.points if _still_passes(check)]
    settled = [check for check in _failed if find(check).is_drawn]
    with contextlib.suppress(OSError, ValueError, LookupError):  # a student may have changed the files of the course
        if end := end_of(lab, passed, settled):
            display(end, raw=True)


def _print(verdict: Verdict) -> None:
    """Print a verdict, on Windows also to a pipe that cannot hold its marks."""
    encoding = sys.stdout.encoding or "utf-8"
    print(str(verdict).encode(encoding, "replace").decode(encoding))


def _begin() -> None:
    """Prepare a student's notebook: for a Python without torch or with another one, and for the end of its shell."""
    if is_grading() or "IPython" not in sys.modules:
        return
    from IPython import get_ipython

    from ..engine.practice import about_judge, has_torch  # as `limits` above
    from .last_check import why_ended

    if shell := get_ipython():
        cells.install(shell)
        atexit.register(_forget_hooks)
        if line := why_ended():
            print(_in_lines(line))
        if not has_torch():
            from .without_torch import install

            install(shell)
        elif line := about_judge():
            print(speak(line))


def _forget_hooks() -> None:
    """Forget the hooks with which Dynamo deletes its names from the shell's namespace when compiled code goes. At its end IPython
    clears the namespace, which holds compiled code, and the names are gone before the hooks run."""
    if "torch._dynamo" in sys.modules:
        sys.modules["torch._dynamo.utils"].CleanupManager.instance.clear()


_begin()
