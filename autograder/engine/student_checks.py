"""The examination of a check that a student wrote for a function of the framework, or for what a compiler writes: it is graded by
what it catches.

A file `autograder/patients/13b/sum_to.py` names the function (`AT`) and has other bodies for it: the functions `right__…` compute
what the framework's own one computes, the functions `wrong__…` do not, and their docstrings say what they do instead. The student's
program runs on the framework with each body in its place, each time in a new process, and on torch. A body is caught if the results
of one case differ from torch's, or if a property test fails. A check that catches a right body is no check.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from ..language import phrase
from .limits import CHECK_SECONDS, seconds
from .observe import Malformed, SubjectDied, SubjectTimedOut, Tree, clean, difference, is_error, show
from .patients import TORCH, Examine, open_patient, plain_program, read, read_outputs, run_on_torch
from .verdict import DISAGREED, PASSED, Verdict, describe

if TYPE_CHECKING:
    from .judge import Judge

MOST_CASES = 40
AT_ONCE = 2  # processes
ALL_RUNS = 10  # times `CHECK_SECONDS`, of own time, for all bodies together; a reference takes a tenth of it
EXAMPLES = 100  # of a property, as many as Hypothesis tries; the same ones each time
CASES = f"report_cases(most={MOST_CASES}"
PROPERTY = f"report_property(examples={EXAMPLES}"
OF_WRONG = 2  # programs: a wrong compiler writes the dumps of these only
OWN = phrase("the framework's own body")


@dataclass(frozen=True)
class Bodies:
    """The function that a check is for, and the texts of other bodies by name."""

    at: str
    right: dict[str, str]
    wrong: dict[str, str]
    about: dict[str, str]  # the docstrings of the wrong ones


def _says(outcome: str, message: str, notes: Sequence[str] = ()) -> Verdict:
    return Verdict("", outcome, message=clean(message), notes=[*notes])


@cache
def find_bodies(number: str) -> Bodies:
    """The bodies of the file of this number, such as `13b.sum_to`."""
    functions = _functions(number)
    about = _sentences(functions)  # before `planting` takes the docstrings away
    (at,) = re.findall(r'^AT = "([\w.]+)"$', read(number), re.MULTILINE)
    texts = {name: planting(at, node) for name, node in functions.items()}
    right, wrong = (
        {name: text for name, text in texts.items() if name.startswith(kind)} for kind in ("right__", "wrong__")
    )
    return Bodies(at, right, wrong, about)


def _functions(number: str) -> dict[str, ast.FunctionDef]:
    """The functions of a file, by name."""
    return {node.name: node for node in ast.parse(read(number)).body if isinstance(node, ast.FunctionDef)}


def _sentences(functions: dict[str, ast.FunctionDef]) -> dict[str, str]:
    """The docstring of each function, as a line."""
    return {name: " ".join((ast.get_docstring(node) or "").split()) for name, node in functions.items()}


def planting(at: str, function: ast.FunctionDef) -> str:
    """The text of a cell that puts a body in its place, under the name of the function: an error message has this name."""
    function.name = at.rpartition(".")[2]
    if ast.get_docstring(function) is not None:
        del function.body[0]
    body = "\n".join(f"    {line}" for line in ast.unparse(function).splitlines())
    planted = f"def planted():\n{body}\n    return {at!r}, {function.name}\n"
    return f"{planted}from autograder.engine.patient_side import mend\nmend(planted)"


@dataclass(frozen=True)
class Ran:
    """The cases of a check, and the results of its program on each of them. Or the problem: the reason why there are none, or how
    a property is broken."""

    cases: Tree = None
    results: Tree = ()
    problem: str = ""


class Runs:
    """Processes that run a student's check, and the own time that is left to all of them together. So a check that does not end
    with some bodies costs no minutes."""

    def __init__(self) -> None:
        self.left = ALL_RUNS * seconds(CHECK_SECONDS, False)

    def message(self, cell: str, body: str | None) -> dict:
        """What a cell reports on the framework with this body. Raises what a subject can bring about."""
        if self.left <= 0:
            raise SubjectTimedOut(self.too_long)
        with closing(open_patient(None)) as opened:
            begun = opened.seconds
            try:
                if body is not None:
                    opened.request({"cell": body}, seconds(CHECK_SECONDS, False))
                return read_outputs(opened.request({"cell": cell}, min(self.left, seconds(CHECK_SECONDS, False))))
            finally:
                self.left -= opened.seconds - begun

    @property
    def too_long(self) -> str:
        limit = f"{ALL_RUNS * seconds(CHECK_SECONDS, False):.0f}"
        return phrase(f"with all bodies together it takes more than {limit} s")


@lru_cache(16)  # once, before the threads of `outcomes`: two that parse at a time break CPython 3.11 (gh-106905)
def _name(text: str) -> str:
    """The name of the function that a student's text defines."""
    (function,) = ast.parse(text).body
    return function.name  # type: ignore[attr-defined]


def _run(text: str, report: str, body: str | None, runs: Runs | None = None) -> Ran:
    """What a student's check gives on the framework with this body, or on torch if there are no `runs`."""
    cell = f"{text}\nfrom autograder.engine import student_side\n"
    cell += f"student_side.{report}, make={_name(text)}, with_torch={runs is None})"
    try:
        message = run_on_torch(cell) if runs is None else runs.message(cell, body)
    except (SubjectDied, SubjectTimedOut, Malformed) as error:
        return Ran(problem=f"{error}")
    if message["cases"] is not None:
        return Ran(message["cases"], message["result"]) if message["cases"] is not True else Ran()
    problem = message["result"] if isinstance(message["result"], str) else show(message["result"])
    lines, at = text.splitlines(), message.get("line", 0)
    return Ran(problem=f"{problem}, in `{lines[at - 1].strip()}`" if 0 < at <= len(lines) else problem)


@lru_cache(16)  # three checks ask for the same
def outcomes(text: str, report: str, number: str) -> dict[str, Ran]:
    """What a student's check gives on torch, with the framework's own body, and with each of the others. If it refuses one of the
    right ones, the wrong ones are not tried."""
    bodies, runs = find_bodies(number), Runs()
    ran = {TORCH: _run(text, report, None)}
    if _refused_by_itself(ran[TORCH]):
        return ran
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for planted in ({OWN: None}, bodies.right, bodies.wrong):
            ran |= zip(planted, pool.map(lambda body: _run(text, report, body, runs), planted.values()))
            if planted is not bodies.wrong and any(apart(ran[name], ran[TORCH]) for name in planted):
                break
    return {TORCH: Ran(problem=runs.too_long)} if runs.left <= 0 else ran


@lru_cache(16)
def smallest(text: str, number: str, name: str) -> Ran:
    """How a property test fails on torch, or with a right body, on the smallest example that Hypothesis finds in the time."""
    bodies = {OWN: None, **find_bodies(number).right}
    runs = None if name == TORCH else Runs()
    shrunk = _run(text, f"{PROPERTY}, shrink=True", bodies.get(name), runs)
    return shrunk if "test(" in shrunk.problem else outcomes(text, PROPERTY, number)[name]


def _refused_by_itself(on_torch: Ran) -> str:
    """Why a check is none, whatever the bodies are, or nothing."""
    if on_torch.problem:
        return f"on torch: {on_torch.problem}"
    if on_torch.cases == []:
        return phrase("it has no cases")
    if on_torch.cases and all(map(is_error, on_torch.results)):
        error = show(on_torch.results[0])
        return phrase(f"on torch, the program raises an error in each case: {error}")
    return ""


def apart(ran: Ran, on_torch: Ran) -> str | None:
    """How the results differ from torch's, with the first case in which they do, or None."""
    if ran.problem:
        return ran.problem
    if difference(ran.cases, on_torch.cases):
        return phrase("its cases are not the same each time")
    for case, mine, theirs in zip(_plain(ran.cases), ran.results, on_torch.results):
        if told := difference(mine, theirs):
            shown, told = (text.replace("\n", ", ") for text in (describe(case), told))
            return phrase(f"case {shown}: {told}")
    return None


def _plain(cases: Tree) -> list[dict]:
    return [dict(case["dict"]) for case in cases or []]  # a property has none


def caught(number: str, share: str) -> Examine:
    """Examine the text of a function that returns a program and its cases: it accepts every right body of the file `number`, and
    catches at least this share of the wrong ones, such as `"1/2"`."""

    def examine(judge: Judge, text: Tree, case: dict | None) -> Verdict:
        try:
            function = plain_program(str(text), (), catches=True)
        except (ValueError, SyntaxError) as error:
            return _invalid(share, str(error))
        return _share_of(number, share, ast.unparse(function), CASES)

    return examine


def falsified(number: str, share: str) -> Examine:
    """Examine the text of a function that returns a property test of Hypothesis: it passes on torch and with every right body of
    the file `number`, and fails with at least this share of the wrong ones."""

    def examine(judge: Judge, text: Tree, case: dict | None) -> Verdict:
        try:
            function = plain_program(str(text), ("xp", "given", "st"), catches=True)
            if any(isinstance(node, ast.ClassDef) for node in ast.walk(function)):
                raise ValueError("a property test has no class")
        except (ValueError, SyntaxError) as error:
            return _invalid(share, str(error))
        return _share_of(number, share, ast.unparse(function), PROPERTY)

    return examine


def _share_of(number: str, share: str, text: str, report: str) -> Verdict:
    """Whether a check accepts all right bodies, and refuses this share of the wrong ones."""
    bodies, ran = find_bodies(number), outcomes(text, report, number)
    if report == PROPERTY:
        ran = ran | {
            name: smallest(text, number, name) for name in ran if name not in bodies.wrong and ran[name].problem
        }
    if reason := _refused_by_itself(ran[TORCH]):
        return _invalid(share, reason)
    for name in [name for name in ran if name not in bodies.wrong]:
        if told := apart(ran[name], ran[TORCH]):
            style = _style(name)
            what = phrase("the framework's own function") if name == OWN else phrase(f"a right one ({style})")
            return _invalid(share, f"it refuses {what}: {told}")
    missed = [name for name in bodies.wrong if not apart(ran[name], ran[TORCH])]
    count, whole = len(ran[TORCH].cases or ()), len(bodies.wrong)
    caught = whole - len(missed)
    found = phrase(f"it catches {caught} of {whole} wrong ones")
    told = phrase(f"it accepts every right one and catches {caught} of {whole} wrong ones")
    told = phrase(f"{told}, on {count} cases") if count > 1 else phrase(f"{told}, on 1 case") if count else told
    return _counted(share, missed, bodies.wrong, found, told, bodies.about)


def _invalid(share: str, reason: str, notes: Sequence[str] = ()) -> Verdict:
    """The verdict on a check that is none. A part of the check has a verdict of its own, which does not repeat the reason."""
    if Fraction(share) == 1:
        return _says(DISAGREED, reason, notes)
    return _says(DISAGREED, "it catches nothing yet: the verdict on the whole check says why")


def _counted(
    share: str, missed: Sequence[str], wrong: Collection, found: str, told: str, about: dict[str, str]
) -> Verdict:
    """Whether a check catches this share of the wrong ones. Only the verdict on the whole check shows one that it misses."""
    needed = math.ceil(Fraction(share) * len(wrong))
    passes = len(wrong) - len(missed) >= needed
    said = found if Fraction(share) < 1 else told
    if not passes:
        said = phrase(f"{said}; {needed} are needed")
    elif Fraction(share) < 1:
        said = phrase(f"{said}; {needed} are enough")
    wrong_so = about[missed[0]] if missed and Fraction(share) == 1 else ""
    notes = [phrase(f"it does not catch one that is wrong so: {wrong_so}")] if wrong_so else []
    return _says(PASSED if passes else DISAGREED, said, notes)


# Dumps ---------------------------------------------------------------------------------------------------------------


@cache  # no code of a student takes part
def dumps(number: str) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """What rushlight's Inductor writes for the `programs` of a file: without a fault, and with each wrong function in its place.
    The dict `AT` of the file has their paths."""
    functions = _functions(number)
    (paths,) = [
        ast.literal_eval(node.value)
        for node in ast.parse(read(number)).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "AT"
    ]
    text = f"{ast.unparse(functions['programs'])}\nfrom autograder.engine import student_side\n"
    made, limit = {}, seconds(CHECK_SECONDS, False)
    with closing(open_patient(None)) as opened:
        for name, at in [("", ""), *paths.items()]:
            if name:
                opened.request({"cell": planting(at, functions[name])}, limit)
            report = f"{text}student_side.report_dumps(programs, {OF_WRONG if name else None}, {at!r})"
            made[name] = dict(read_outputs(opened.request({"cell": report}, limit))["result"]["dict"])
    return made.pop(""), made


@lru_cache(16)
def refusals(text: str, number: str) -> Ran:
    """The words with which a test of dumps refuses each dump, the right ones first, or "" if it accepts the dump."""
    right, wrong = dumps(number)
    texts = [*right.values(), *(dump for made in wrong.values() for dump in made.values())]
    cell = f"{text}\nfrom autograder.engine.student_side import report_refusals\n"
    cell += f"report_refusals({_name(text)}, {texts!r})"
    try:
        message = run_on_torch(cell)
    except (SubjectDied, SubjectTimedOut, Malformed) as error:
        return Ran(problem=f"{error}")
    return Ran(results=message["result"]) if message["cases"] else Ran(problem=show(message["result"]))


def refused(number: str, share: str) -> Examine:
    """Examine the text of a function that returns a FileCheck test: it accepts every right dump of the file `number`, and refuses
    all dumps of at least this share of the wrong compilers."""

    def examine(judge: Judge, text: Tree, case: dict | None) -> Verdict:
        try:
            function = plain_program(str(text), ("FileCheck",))
        except (ValueError, SyntaxError) as error:
            return _invalid(share, str(error))
        ran = refusals(ast.unparse(function), number)
        if ran.problem:
            return _invalid(share, ran.problem)
        right, wrong = dumps(number)
        words = iter(ran.results)
        for name, told in zip(right, words):
            if told:
                return _invalid(share, f'it refuses a right dump ("{name}"): {told}', _outline(right[name]))
        missed = [name for name, made in wrong.items() if not all([next(words) for _ in made])]
        refused, whole = len(wrong) - len(missed), len(wrong)
        found = phrase(f"it refuses the dumps of {refused} of {whole} wrong compilers")
        told = phrase(f"it accepts every right dump and refuses the dumps of {refused} of {whole} wrong compilers")
        return _counted(share, missed, wrong, found, told, _sentences(_functions(number)))

    return examine


def _outline(dump: str) -> list[str]:
    """The lines of a dump that name its kernels, and those of `segment_0` that call them or reuse memory."""
    lines = re.findall(r"^static .*|^  (?:if \(cpp_|blas|.*// reuse|.*pool \+).*", dump, re.MULTILINE)
    return ["\n".join([phrase("of this dump, the kernels and their calls:"), *lines])]


def _style(name: str) -> str:
    return f'"{name.partition("__")[2].replace("_", " ")}"'
