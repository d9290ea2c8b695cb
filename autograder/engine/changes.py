"""Changes to PyTorch: patients that are copies of its Python files with one fault, and the examination of what a student says.

A case is a file `autograder/changes/15a/1.py`: the report of a bug, the fault as a few words of the text that are replaced,
programs whose results are compared on the patient and on PyTorch as it is installed, and mends that are right and wrong. A patient
differs from the installed files in ten innocent places too (`autograder/engine/disguise.py`).

A student's patch is data: a unified diff, applied here to files that belong to the case. What it changes runs in a sandbox, whose
PyTorch has these files in the place of the installed ones. Each program runs in a child of that process.
"""

from __future__ import annotations

import ast
import difflib
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from ..language import phrase
from . import sandbox
from .disguise import disguised
from .limits import CHECK_SECONDS, seconds
from .observe import Malformed, NotGraded, SubjectDied, SubjectTimedOut, Tree, clean, difference, is_error, show
from .overlay import site
from .patients import BUILTINS, Examine, plain_program, read_outputs, sealed_in, sound_edition, statements_of, text_in
from .verdict import DISAGREED, PASSED, Verdict

if TYPE_CHECKING:
    from .judge import Judge

CASES = Path(__file__).parents[1] / "changes"
TORCH = "2.13"  # the texts of the faults are in its files
LONGEST_PATCH = 20_000  # characters
KNOWN = BUILTINS | {"isinstance", "iter", "next", "super"}  # functions of Python that a program may use
ERRORS = {
    "AssertionError",
    "AttributeError",
    "Exception",
    "IndexError",
    "KeyError",
    "NotImplementedError",
    "RuntimeError",
}
ERRORS |= {"TypeError", "UserWarning", "ValueError"}  # what a test may expect
OF_TEST = re.compile(
    r"assert\w+|subTest|fail"
)  # what a student's test may use of PyTorch's class, which can start processes
OF_FILES = {
    "metadata",
    "detect_anomaly",
    "set_detect_anomaly",
}  # they lead to lines of PyTorch's files
Edit = tuple[str, str, str]  # a file, a text in it that is there once, and the text instead
Files = Mapping[str, str]  # texts, by names such as `torch/optim/sgd.py`


class NotApplicable(ValueError):
    """A patch that cannot be applied, and why."""


@dataclass(frozen=True)
class Case:
    """A case. `title` and `report` are what a student reads, with the program `symptom`."""

    number: str
    title: str
    report: str
    at: tuple[str, str]  # the file and the function at fault
    fault: list[Edit]
    needs: frozenset[str]  # files that a mend may change
    statements: int
    lines: int  # of a mend, added and removed
    programs: dict[str, str]
    test: str
    wrong: dict[str, list[Edit]] = field(default_factory=dict)
    right: dict[str, list[Edit]] = field(default_factory=dict)
    pull: str = ""  # the text of another contributor's pull request, to be reviewed
    proposed: str = ""  # the mend in it, by its name in `wrong` or `right`

    @property
    def symptom(self) -> str:
        return self.programs["symptom"]

    @property
    def hidden(self) -> dict[str, str]:
        """The programs that a mend is judged by, with the symptom."""
        return {name: text for name, text in self.programs.items() if name != "reproduced"}

    @cached_property
    def patient(self) -> dict[str, str]:
        """The patient's files: those with the fault, and those that a mend may change."""
        return self.files(self.fault)

    @cached_property
    def begun(self) -> dict[str, str]:
        """The files with which a student begins: the patient's, or those with the patch to be reviewed."""
        return self.with_mend((self.wrong | self.right)[self.proposed]) if self.proposed else self.patient

    @property
    def sound(self) -> dict[str, str]:
        """The same files without the fault."""
        return self.files([])

    def with_mend(self, edits: Sequence[Edit]) -> dict[str, str]:
        """The patient's files with edits of its text as it is without innocent differences."""
        return self.files([*self.fault, *edits])

    def files(self, edits: Sequence[Edit]) -> dict[str, str]:
        """PyTorch's files with these edits, and with innocent differences."""
        files = {name: installed(name) for name in {*self.needs, *(edit[0] for edit in self.fault)}}
        for name, old, new in edits:
            if files[name].count(old) != 1:
                raise ValueError(f"{self.number}: {name} has {files[name].count(old)} times {old!r}")
            files[name] = files[name].replace(old, new)
        sound = frozenset({self.at[1].rpartition(".")[2]})
        return {name: disguised(text, sound, f"{self.number} {name}") for name, text in files.items()}


def needs_torch() -> str | None:
    """Why no case can be begun with the PyTorch that is installed, or None."""
    found = version("torch").partition("+")[0]
    if found.startswith(f"{TORCH}."):
        return None
    return f"the cases are about the files of torch {TORCH}, and torch {found} is installed"


def installed(name: str) -> str:
    """The text of a file of PyTorch as it is installed."""
    return (site() / name).read_text(encoding="utf-8")


def numbers() -> list[str]:
    """The numbers of all cases, such as `15a.1`."""
    paths = sorted(CASES.glob("*/[0-9]*.*"), key=lambda path: (path.parent.name, int(path.stem)))
    return [f"{path.parent.name}.{path.stem}" for path in paths]


def sealed(lab: str) -> dict[str, bytes]:
    """The cases of a lab and of the reading of its phase, packed for a class repository, by their names below `CASES`."""
    return sealed_in(CASES, lab)


@cache
def find_case(number: str) -> Case:
    """The case of this number. Raises LookupError with the numbers that there are."""
    if number not in numbers():
        raise LookupError(f"there is no case {number!r}; the cases are {', '.join(numbers())}")
    tree = ast.parse(text_in(CASES, number))
    title, _, report = str(ast.get_docstring(tree)).partition("\n\n")
    assigned = [(node.targets[0], node.value) for node in tree.body if isinstance(node, ast.Assign)]
    known = {target.id: ast.literal_eval(value) for target, value in assigned if isinstance(target, ast.Name)}
    programs = {node.name: ast.unparse(node) for node in tree.body if isinstance(node, ast.FunctionDef)}
    return Case(
        number, title, report, known["AT"], known["FAULT"], frozenset(known["NEEDS"]), known["STATEMENTS"], known["LINES"],
        programs, textwrap.dedent(known["TEST"]).strip(), known["WRONG"], known["RIGHT"],
        known.get("PULL", "").strip(), known.get("PATCH", ""),
    )  # fmt: skip


# Patches -------------------------------------------------------------------------------------------------------------

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


def diff(before: Files, after: Files) -> str:
    """The unified diff of two versions of the same files, as `git diff` has it, without those that are equal."""
    parts: list[str] = []
    for name in sorted(before):
        old, new = (files[name].splitlines(keepends=True) for files in (before, after))
        parts += difflib.unified_diff(old, new, f"a/{name}", f"b/{name}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in parts)


def patched(files: Files, patch: str, most: int | None = None) -> dict[str, str]:
    """The files with a patch applied, all hunks at their lines. With `most`, the patch has so many lines added and removed at most.

    Raises NotApplicable: it names another file, does not fit, is too long, or leaves a file that is no Python.
    """
    if len(patch) > LONGEST_PATCH:
        raise NotApplicable(f"the patch has {len(patch)} characters; at most {LONGEST_PATCH} are allowed")
    result, lines, name, changed, at = dict(files), patch.splitlines(), "", 0, 0
    while at < len(lines):
        line = lines[at]
        if line.startswith("--- "):
            name = lines[at + 1][4:].partition("\t")[0].strip() if at + 1 < len(lines) else ""
            name = re.sub(r"^[ab]/", "", name)
            if not lines[at + 1 : at + 2] or not lines[at + 1].startswith("+++ ") or name not in files:
                raise NotApplicable(
                    f"line {at + 1} of the patch names {name or 'nothing'}, which is no Python file of PyTorch"
                )
            text, moved, at = result[name].splitlines(keepends=True), 0, at + 2
        elif match := _HUNK.match(line):
            if not name:
                raise NotApplicable(f"line {at + 1} of the patch: no file is named before it")
            body, end = _hunk(lines, at + 1, int(match[2] or 1), int(match[4] or 1))
            changed += sum(kind != " " for kind, _ in body)
            old = [content for kind, content in body if kind != "+"]
            first = int(match[1]) - bool(old) + moved
            if [row.rstrip("\r\n") for row in text[first : first + len(old)]] != old:
                raise NotApplicable(f"line {at + 1} of the patch: {name} has other lines there")
            new = [f"{content}\n" for kind, content in body if kind != "-"]
            text[first : first + len(old)] = new
            moved, at = moved + len(new) - len(old), end
            result[name] = "".join(text)
        elif line.strip() and not line.startswith(("diff ", "index ")):
            raise NotApplicable(f"line {at + 1} of the patch belongs to no hunk: {line[:60]!r}")
        else:
            at += 1
    if not changed:
        raise NotApplicable("the patch changes nothing")
    if most is not None and changed > most:
        raise NotApplicable(f"the patch adds and removes {changed} lines; at most {most} are needed")
    for name in (name for name in result if result[name] != files[name]):
        try:
            ast.parse(result[name])
        except (SyntaxError, ValueError, RecursionError) as error:
            raise NotApplicable(f"with the patch, {name} is no Python: {error}") from None
    return result


def _hunk(lines: Sequence[str], begin: int, old: int, new: int) -> tuple[list[tuple[str, str]], int]:
    """The lines of a hunk, each with its kind, and where the next one begins."""
    body, at = [], begin
    while old or new:
        line = lines[at] if at < len(lines) else ""  # an editor may take the space of an empty line, and one at the end
        kind, content = line[:1] or " ", line[1:]
        if kind not in " +-\\":
            break
        at += 1
        if kind == "\\":
            continue
        old, new = old - (kind != "+"), new - (kind != "-")
        if old < 0 or new < 0:
            break
        body.append((kind, content))
    if old or new:
        raise NotApplicable(f"line {begin} of the patch begins a hunk that has fewer or more lines than it says")
    return body, at


# Programs ------------------------------------------------------------------------------------------------------------


_COMPILES = re.compile(
    r"\b(compile|export|_dynamo|_functorch|_decomp)\b"
)  # what a program that needs torch's compiler has


class Process:
    """A process whose PyTorch has these files in the place of the installed ones. `run` runs a program in a child of it."""

    def __init__(self, files: Files):
        edition, isolated = sound_edition(), sandbox.missing() is None
        packages = ("expecttest", "hypothesis")
        self.opened = sandbox.Sandbox(edition, isolated, True, packages=packages, replaced=files)
        self.has_compiler = False

    def run(self, program: str, ours: bool = False) -> dict:
        """What a program `name(torch)` gives, or a test `name(self, torch)`. One of ours may use all of PyTorch. Raises what a
        subject can bring about."""
        node = ast.parse(program).body[0]
        assert isinstance(node, ast.FunctionDef)
        report = "report_test" if node.args.args[0].arg == "self" else "report_on_pytorch"
        cell = f"{program}\nfrom autograder.engine.patient_side import {report}\n{report}({node.name}, {ours})"
        limit = seconds(CHECK_SECONDS, True)
        if not self.has_compiler and _COMPILES.search(
            program
        ):  # once, because each child would take two seconds for it
            self.opened.request({"cell": "import torch._dynamo, torch._functorch.aot_autograd"}, limit)
            self.has_compiler = True
        request = {"cell": f"from autograder.engine.patient_side import in_child\nin_child({cell!r})"}
        return read_outputs(self.opened.request(request, limit))

    def close(self) -> None:
        self.opened.close()


_as_installed: list[Process] = []  # one for all cases: no student's text has changed it
_results: dict[str, dict] = {}  # of our programs


def on_pytorch(program: str, ours: bool = False) -> Tree:
    """The result of a program on PyTorch as it is installed."""
    return _on_pytorch(program, ours)["result"]


def _on_pytorch(program: str, ours: bool) -> dict:
    """What a program gives on PyTorch as it is installed."""
    if ours and program in _results:
        return _results[program]
    if not _as_installed:
        _as_installed.append(Process({}))
    try:
        given = _as_installed[0].run(program, ours)
    except (SubjectDied, SubjectTimedOut, Malformed):
        _as_installed.pop().close()
        raise
    if ours:
        _results[program] = given
    return given


@contextmanager
def processes(*versions: Files) -> Iterator[list[Process]]:
    """Within: a process for each of these versions of the files."""
    with ExitStack() as stack:
        yield [stack.enter_context(closing(Process(files))) for files in versions]


def apart(process: Process, programs: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    """The programs of ours that do not give in a process what they give on PyTorch, each with the first difference."""
    for name, program in programs.items():
        mine, theirs = process.run(program, True), _on_pytorch(program, True)
        words = difference(mine["result"], theirs["result"])
        if not words and mine["graphs"] != theirs["graphs"]:
            words = f"{mine['graphs']} graphs are compiled, on PyTorch {theirs['graphs']}"
        if words:
            yield name, words


# Examinations --------------------------------------------------------------------------------------------------------

ENDED = (SubjectDied, SubjectTimedOut, Malformed)


def _says(outcome: str, message: str, notes: Sequence[str] = ()) -> Verdict:
    return Verdict("", outcome, message=clean(message), notes=[*notes])


def reproduced(number: str) -> Examine:
    """Examine the text of a program that gives another result on the patient than on PyTorch, with few statements."""

    def examine(judge: Judge, text: Tree, case: dict | None) -> Verdict:
        found = find_case(number)
        try:
            function = plain_program(str(text), ("torch",), known=KNOWN)
        except (ValueError, SyntaxError, RecursionError) as error:
            return _says(DISAGREED, str(error))
        if (count := statements_of(function)) > found.statements:
            return _says(DISAGREED, f"it has {count} statements; at most {found.statements} are needed")
        program = ast.unparse(function)
        with processes(found.patient, found.sound) as (patient, sound):
            try:
                mine, again = (patient.run(program)["result"] for _ in range(2))
                theirs, without = on_pytorch(program), sound.run(program)["result"]
            except ENDED as error:
                return _says(DISAGREED, str(error))
        notes = [phrase(f"on the patient: {show(mine)}"), phrase(f"on PyTorch: {show(theirs)}")]
        if is_error(mine) and is_error(theirs):
            return _says(DISAGREED, "it raises an error on both", notes)
        if mine is None and theirs is None:
            return _says(DISAGREED, "it returns None: return a value that shows the fault, such as a tensor", notes)
        if not difference(mine, theirs):
            return _says(DISAGREED, "it gives the same on the patient and on PyTorch", notes)
        if any(re.search(r"\.py\b", repr(tree)) for tree in (mine, theirs) if not is_error(tree)):
            return _says(
                DISAGREED, "it returns a text about PyTorch's files, and no value that PyTorch computes", notes
            )
        if difference(mine, again) or difference(without, theirs):
            return _says(DISAGREED, "it gives another result each time that it runs", notes)
        return _says(PASSED, "it shows the fault", notes)

    return examine


def located(number: str, guesses: int) -> Examine:
    """Examine a list of places, the first guess first, such as `"torch/optim/sgd.py: sgd"`. One of the first `guesses` is right."""

    def examine(judge: Judge, places: Tree, case: dict | None) -> Verdict:
        places = [places] if isinstance(places, str) else places
        if not isinstance(places, list) or not places or not all(isinstance(place, str) for place in places):
            return _says(DISAGREED, "it returns a list of one or two places")
        if len(places) > 2:
            return _says(DISAGREED, f"it returns {len(places)} places; two guesses are allowed")
        file, function = find_case(number).at
        for place in places[:guesses]:
            name, colon, inside = (part.strip() for part in place.partition(":"))
            if not colon or not re.fullmatch(r"torch/[\w/]+\.py", name) or not (site() / name).is_file():
                return _says(DISAGREED, f"{place} is no file of PyTorch with a function: write torch/optim/sgd.py: sgd")
            if not re.search(rf"^\s*def {re.escape(inside.rpartition('.')[2])}\(", installed(name), re.MULTILINE):
                return _says(DISAGREED, f"{name} has no function {inside}")
            if name == file and inside in (function, *function.split(".")):  # also a function around it
                return _says(PASSED, f"{place} is at fault")
        names = ", ".join(places[:guesses])
        return _says(DISAGREED, f"not at fault: {names}")

    return examine


def _with_patch(case: Case, patch: Tree) -> dict[str, str]:
    """The files of the patient with a student's patch, which may be of any Python files of PyTorch. Raises NotApplicable."""
    named = {*re.findall(r"^--- (?:[ab]/)?(torch/[\w/]+\.py)", str(patch), re.MULTILINE)} - case.patient.keys()
    others = {name: installed(name) for name in named if (site() / name).is_file()}
    result = patched(case.patient | others, str(patch), case.lines)
    return {name: text for name, text in result.items() if name in case.patient or text != others[name]}


def together(*numbers: str) -> Examine:
    """Examine a list of patches, one for each of these cases: PyTorch with all their faults and all patches has no symptom."""

    def examine(judge: Judge, patches: Tree, case: dict | None) -> Verdict:
        if not isinstance(patches, list):
            return _says(DISAGREED, f"a mend cannot be read: {show(patches)}")
        files: dict[str, str] = {}
        for number, patch in zip(numbers, patches, strict=True):
            try:
                files |= _with_patch(find_case(number), patch)
            except NotApplicable as error:
                return _says(DISAGREED, f"the mend of {number}: {error}")
        symptoms = {number: find_case(number).symptom for number in numbers}
        try:
            with processes(files) as (process,):
                left = dict(apart(process, symptoms))
        except (NotGraded, *ENDED) as error:
            return _says(DISAGREED, str(error))
        if left:
            names = ", ".join(left)
            return _says(DISAGREED, f"with all mends, a symptom is left in {names}", [*map(": ".join, left.items())])
        count = len(numbers)
        return _says(PASSED, f"with all {count} mends, no symptom is left")

    return examine


def mended(number: str) -> Examine:
    """Examine a patch of the patient: with it, the symptom and other programs give what PyTorch gives."""

    def examine(judge: Judge, patch: Tree, case: dict | None) -> Verdict:
        found = find_case(number)
        try:
            files = _with_patch(found, patch)
        except NotApplicable as error:
            return _says(DISAGREED, str(error))
        on_pytorch(found.symptom, True)  # if no process starts here, that is not the fault of the patch
        try:
            with processes(files) as (process,):
                for name, words in apart(process, found.hidden):
                    kind = name.partition("__")[0]
                    return _says(DISAGREED, f"{_KINDS[kind]}: {words}")
        except NotGraded as error:
            return _says(DISAGREED, f"with the patch, PyTorch cannot be imported: {error}")
        except ENDED as error:
            return _says(DISAGREED, str(error))
        if foreign := ", ".join(sorted(files.keys() - found.needs - {edit[0] for edit in found.fault})):
            return _says(DISAGREED, f"it mends, and changes {foreign}, which no mend of this case needs to change")
        return _says(PASSED, f"with it, all {len(found.hidden)} programs give what PyTorch gives")

    return examine


_KINDS = {
    "symptom": phrase("the symptom is still there"),
    "hidden": phrase("another program does not give what PyTorch gives"),
    "kept": phrase("a program that was right before is not any more"),
}


def tested(number: str) -> Examine:
    """Examine a regression test: it passes on PyTorch, and fails on the patient and on two patients with a mend that is wrong."""

    def examine(judge: Judge, text: Tree, case: dict | None) -> Verdict:
        found = find_case(number)
        try:
            program = ast.unparse(_test(str(text)))
        except (ValueError, SyntaxError, RecursionError) as error:
            return _says(DISAGREED, str(error))
        planted = [name for name in found.wrong if name.startswith("*")]
        try:
            if failure := on_pytorch(program):
                return _says(DISAGREED, f"it fails on PyTorch as it is: {failure}")
            versions = (found.sound, found.patient, *(found.with_mend(found.wrong[name]) for name in planted))
            with processes(*versions) as (sound, *opened):
                if failure := sound.run(program)["result"]:
                    return _says(DISAGREED, f"it fails on a PyTorch without the fault: {failure}")
                for name, process in zip(("", *planted), opened, strict=True):
                    if not process.run(program)["result"]:
                        where = f"with a wrong mend: {name.lstrip('* ')}" if name else phrase("on the patient")
                        return _says(DISAGREED, f"it passes {where}")
        except ENDED as error:
            return _says(DISAGREED, str(error))
        return _says(PASSED, f"it fails on the patient, and on {len(planted)} wrong mends")

    return examine


def _of_outer_self(node: ast.AST, is_shadowed: bool = False) -> Iterator[ast.AST]:
    """What is in a test, without `self.assertEqual` and the like, and without the `self` of methods in it."""
    for child in ast.iter_child_nodes(node):
        is_own = isinstance(child, ast.FunctionDef | ast.Lambda) and "self" in {each.arg for each in child.args.args}
        is_self = isinstance(child, ast.Name) and child.id == "self"
        allowed = is_self and isinstance(node, ast.Attribute) and OF_TEST.fullmatch(node.attr)
        if not (is_self and is_shadowed or allowed):
            yield child
        yield from _of_outer_self(child, is_shadowed or is_own)


def _test(text: str) -> ast.FunctionDef:
    """The test that a text defines. Raises ValueError, with the reason, if it may find out otherwise on what it runs."""
    function = plain_program(text, ("self", "torch"), known=KNOWN | ERRORS)
    for node in _of_outer_self(function):
        name = getattr(node, "attr", "")
        if name in OF_FILES:
            raise ValueError(phrase(f"it uses {name}, which leads to PyTorch's files"))
        if isinstance(node, ast.Name) and node.id == "self":
            raise ValueError(phrase("a test uses self only to call its assertions, subTest and fail"))
    return function


def _review(text: str) -> tuple[str, str]:
    """The test in a review, and what the review says. Raises ValueError."""
    function = _test(text)
    *body, last = function.body
    said = last.value.value if isinstance(last, ast.Return) and isinstance(last.value, ast.Constant) else None
    if said not in ("accept", "refuse") or not body:
        raise ValueError('it is no test that ends with return "accept" or return "refuse"')
    function.body = body
    return ast.unparse(function), said


def merged(*numbers: str) -> Examine:
    """Examine a list of reviews, one for each of these cases. PyTorch with all their faults and all proposed patches passes the
    tests of the accepted patches, and no other one, and the programs of these cases give what PyTorch gives. Without the patches
    each test fails."""

    def examine(judge: Judge, texts: Tree, case: dict | None) -> Verdict:
        if not isinstance(texts, list):
            return _says(DISAGREED, f"a review cannot be read: {show(texts)}")
        faults: dict[str, str] = {}
        patches: dict[str, str] = {}
        tests: dict[str, tuple[str, bool]] = {}
        for number, text in zip(numbers, texts, strict=True):
            try:
                program, said = _review(str(text))
            except (ValueError, SyntaxError, RecursionError) as error:
                return _says(DISAGREED, f"the review of {number}: {error}")
            found = find_case(number)
            faults, patches = faults | found.patient, patches | found.begun
            tests[number] = program, said == "accept"
        try:
            with processes(faults, patches) as (without, process):
                for number, (program, is_accepted) in tests.items():
                    if failure := on_pytorch(program):
                        return _says(DISAGREED, f"the test of {number} fails on PyTorch as it is: {failure}")
                    if not without.run(program)["result"]:
                        return _says(DISAGREED, f"without the patches, the test of {number} passes")
                    programs = find_case(number).hidden if is_accepted else {}
                    if bool(process.run(program)["result"]) == is_accepted or [*apart(process, programs)]:
                        return _says(DISAGREED, f"with the patches merged, the review of {number} does not hold")
        except ENDED as error:
            return _says(DISAGREED, str(error))
        count = len(numbers)
        return _says(PASSED, f"with the patches merged, all {count} reviews hold")

    return examine


def reviewed(number: str) -> Examine:
    """Examine a review: a regression test that ends with `return "accept"` or `return "refuse"`. The test passes on PyTorch, fails
    on the patient, and decides about the proposed patch. If that one is right, the test also fails with two that are wrong."""

    def examine(judge: Judge, text: Tree, case: dict | None) -> Verdict:
        found = find_case(number)
        try:
            program, said = _review(str(text))
        except (ValueError, SyntaxError, RecursionError) as error:
            return _says(DISAGREED, str(error))
        is_right = found.proposed in found.right
        refused = [name for name in found.wrong if name.startswith("*") and (is_right or name == found.proposed)]
        try:
            if failure := on_pytorch(program):
                return _says(DISAGREED, f"it fails on PyTorch as it is: {failure}")
            wrong = (found.with_mend(found.wrong[name]) for name in refused)
            with processes(found.sound, found.patient, found.begun, *wrong) as (sound, *opened):
                if failure := sound.run(program)["result"]:
                    return _says(DISAGREED, f"it fails on a PyTorch without the fault: {failure}")
                on_patient, on_proposed, *on_wrong = (bool(process.run(program)["result"]) for process in opened)
        except ENDED as error:
            return _says(DISAGREED, str(error))
        if not on_patient:
            return _says(DISAGREED, "it passes on the patient, so it does not test what the report is about")
        if is_right and not on_proposed and not all(on_wrong):
            name = next(name for name, failed in zip(refused, on_wrong, strict=True) if not failed)
            return _says(DISAGREED, f"it passes with a wrong mend: {name.lstrip('* ')}")
        if on_proposed == is_right or not all(on_wrong):
            return _says(DISAGREED, "it does not decide: it fails with a right patch, or passes with a wrong one")
        if (said == "accept") != is_right:
            return _says(DISAGREED, "the test decides, and the answer is the other one")
        return _says(PASSED, "it decides about the patch, and so did you")

    return examine
