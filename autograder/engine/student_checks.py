"""The examination of a check that a student wrote for a function of the framework: it is graded by what it catches.

A file `autograder/patients/13b/sum_to.py` names the function (`AT`) and has other bodies for it: the functions `right__…` compute
what the framework's own one computes, the functions `wrong__…` do not, and their docstrings say what they do instead. The student's
program runs on the framework with each body in its place, each time in a new process, and on torch. A body is caught if the results
of one case differ from torch's. A check that catches a right body is no check.
"""

from __future__ import annotations

import ast
import math
import re
import textwrap
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from .check import DISAGREED, PASSED, Verdict, describe
from .limits import CHECK_SECONDS, seconds
from .observe import Malformed, SubjectDied, SubjectTimedOut, Tree, clean, difference, is_error, show
from .patients import Examine, open_patient, plain_program, read, read_outputs, run_on_torch

if TYPE_CHECKING:
    from .judge import Judge

MOST_CASES = 40
AT_ONCE = 2  # processes
OWN = "the framework's own body"


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
    text = read(number)
    functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    (at,) = re.findall(r'^AT = "([\w.]+)"$', text, re.MULTILINE)
    about = {node.name: " ".join((ast.get_docstring(node) or "").split()) for node in functions}
    texts = {name: _planting(at, node) for name, node in [(node.name, node) for node in functions]}
    right, wrong = (
        {name: text for name, text in texts.items() if name.startswith(kind)} for kind in ("right__", "wrong__")
    )
    return Bodies(at, right, wrong, about)


def _planting(at: str, function: ast.FunctionDef) -> str:
    """The text of a cell that puts a body in its place, under the name of the function: an error message has this name."""
    function.name = at.rpartition(".")[2]
    if ast.get_docstring(function) is not None:
        del function.body[0]
    body = "\n".join(f"    {line}" for line in ast.unparse(function).splitlines())
    planted = f"def planted():\n{body}\n    return {at!r}, {function.name}\n"
    return f"{planted}from autograder.engine.patient_side import mend\nmend(planted)"


@dataclass(frozen=True)
class Ran:
    """The cases of a check, and the results of its program on each of them, or the reason why there are none."""

    cases: Tree = None
    results: Tree = None
    problem: str = ""


def _run(text: str, body: str | None, with_torch: bool = False) -> Ran:
    """What a student's check gives on the framework with this body, or on torch."""
    name = ast.parse(text).body[0].name  # type: ignore[attr-defined]
    cell = f"{text}\nfrom autograder.engine.student_side import report_cases\n"
    cell += f"report_cases({name}, {MOST_CASES}, {with_torch})"
    try:
        if with_torch:
            message = run_on_torch(cell)
        else:
            with closing(open_patient(None)) as opened:
                if body is not None:
                    opened.request({"cell": body}, seconds(CHECK_SECONDS, False))
                message = read_outputs(opened.request({"cell": cell}, seconds(CHECK_SECONDS, False)))
    except (SubjectDied, SubjectTimedOut, Malformed) as error:
        return Ran(problem=f"{error}")
    if message["cases"] is None:
        return Ran(problem=show(message["result"]))
    return Ran(message["cases"], message["result"])


@lru_cache(16)  # three checks ask for the same
def outcomes(text: str, number: str) -> tuple[Ran, dict[str, Ran]]:
    """What a student's check gives on torch, and with each of the bodies, the framework's own one first. If it refuses a right one,
    the wrong ones are not tried."""
    bodies, ran = find_bodies(number), dict[str, Ran]()
    on_torch = _run(text, None, with_torch=True)
    if on_torch.problem or not on_torch.cases or all(map(is_error, on_torch.results)):
        return on_torch, ran
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for planted in ({OWN: None}, bodies.right, bodies.wrong):
            ran |= zip(planted, pool.map(lambda body: _run(text, body), planted.values()))
            if planted is not bodies.wrong and any(apart(ran[name], on_torch) for name in planted):
                break
    return on_torch, ran


def apart(ran: Ran, on_torch: Ran) -> str | None:
    """How the results differ from torch's, with the first case in which they do, or None."""
    if ran.problem:
        return ran.problem
    if difference(ran.cases, on_torch.cases):
        return "its cases are not the same each time"
    for case, mine, theirs in zip(_plain(ran.cases), ran.results, on_torch.results):
        if told := difference(mine, theirs):
            return f"case {describe(case)}: {told}".replace("\n", ", ")
    return None


def _plain(cases: Tree) -> list[dict]:
    return [dict(case["dict"]) for case in cases]


def caught(number: str, share: str) -> Examine:
    """Examine the text of a function that returns a program and its cases: it accepts every right body of the file `number`, and
    catches at least this share of the wrong ones, such as `"1/2"`."""

    def examine(judge: Judge, text: Tree, case: dict | None) -> Verdict:
        try:
            function = _without_parameters(str(text))
        except (ValueError, SyntaxError) as error:
            return _says(DISAGREED, str(error))
        bodies = find_bodies(number)
        on_torch, ran = outcomes(ast.unparse(function), number)
        if on_torch.problem:
            return _says(DISAGREED, f"on torch: {on_torch.problem}")
        if not on_torch.cases:
            return _says(DISAGREED, "it has no cases")
        if all(map(is_error, on_torch.results)):
            return _says(DISAGREED, f"on torch, the program raises an error in each case: {show(on_torch.results[0])}")
        for name in [name for name in ran if name not in bodies.wrong]:
            if told := apart(ran[name], on_torch):
                what = "the framework's own function" if name == OWN else f"a right one, {_style(name)}"
                return _says(DISAGREED, f"it refuses {what}: {told}")
        missed = [name for name in bodies.wrong if not apart(ran[name], on_torch)]
        count, needed = len(bodies.wrong) - len(missed), Fraction(share) * len(bodies.wrong)
        told = f"it accepts every right one and catches {count} of {len(bodies.wrong)} wrong ones, on {len(on_torch.cases)} cases"
        told += f"; {math.ceil(needed)} are needed" if count < needed else ""
        notes = [f"it does not catch one that is wrong so: {bodies.about[missed[0]]}"] if missed else []
        return _says(PASSED if count >= needed else DISAGREED, told, notes)

    return examine


def _without_parameters(text: str) -> ast.FunctionDef:
    """The function that a text defines, as `plain_program` returns it."""
    function = ast.parse(textwrap.dedent(text)).body[0]
    if isinstance(function, ast.FunctionDef):
        if function.args.args:
            raise ValueError("it has no parameters: its program has them")
        function.args.args = [ast.arg("xp")]
    function = plain_program(ast.unparse(function), catches=True)
    function.args.args = []
    return function


def _style(name: str) -> str:
    return name.partition("__")[2].replace("_", " ")
