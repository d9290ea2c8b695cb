"""Patients: the framework with one function planted wrong, as bytecode, and the examination of what a student says about one.

A patient is a file `autograder/patients/13a/1.py`: the path of the function at fault (`AT`), the wrong function, and a program
`symptom(xp)` that gives another result on the patient than on torch. Its edition has no source files, and no line numbers. In each
of its functions stands a statement without effect, so that the bytecode of every function differs from that of the sound framework.
It takes no fast path, because a fast path does not call the functions that it stands for.

A student's answers are texts here. They run in processes of their own, never in the judge's.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import importlib.util
import marshal
import random
import re
import symtable
import textwrap
import zlib
from base64 import b85decode, b85encode
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rushlight
from rushlight.course.short_names import long_form

from ..language import phrase
from ..model import number_of
from . import sandbox
from .check import Check, every_exercise, function_of, is_milestone, registry
from .edition import body_lines, file_of, keep, patient_files
from .limits import CHECK_SECONDS, PROGRAM_SECONDS, seconds
from .observe import Malformed, SubjectDied, SubjectTimedOut, Tree, accept, clean, difference, is_error, show
from .patient_side import PRIVATE, read_report
from .verdict import DISAGREED, PASSED, Verdict

if TYPE_CHECKING:
    from .judge import Judge

PATIENTS = Path(__file__).parents[1] / "patients"
SEALED = ".sealed"  # the ending of a patient's file in a class repository
FRAMEWORKS = PATIENT, SOUND, TORCH = phrase("the patient"), phrase("the sound framework"), "torch"
SLOW = 'sys.modules["rushlight.c10.fast_paths"].disable("c10")\n'
Examine = Callable[["Judge", Tree, dict | None], Verdict]


@dataclass(frozen=True)
class Patient:
    """A patient: its number, such as `13a.1`, the path below `rushlight` of the function at fault, and two functions as text."""

    number: str
    at: str
    symptom: str
    planted: str

    @property
    def checks(self) -> list[Check]:
        """The checks of the exercise at fault."""
        return [check for check in registry().values() if not is_milestone(check.name) and check.exercise == self.at]

    @property
    def on_torch(self) -> bool:
        """Whether its framework works on torch's tensors: a program gets torch with some names of the framework."""
        return self.at.startswith(("distributed.", "on_torch."))

    @cached_property
    def edition(self) -> Path:
        """The folder of the patient's framework."""
        return _edition(self)


def find_patient(number: str) -> Patient:
    """The patient of this number. Raises LookupError with the numbers that there are."""
    known = {f"{path.parent.name}.{path.stem}" for path in PATIENTS.glob("*/[0-9]*.*")}
    if number not in known:
        raise LookupError(f"there is no patient {number!r}; the patients are {', '.join(sorted(known))}")
    text = read(number)
    parts = {node.name: ast.unparse(node) for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}
    (at,) = re.findall(r'^AT = "([\w.]+)"$', text, re.MULTILINE)
    return Patient(number, at, parts["symptom"], parts[at.rpartition(".")[2]])


def read(number: str) -> str:
    """The text of the file `13a/1.py` for `13a.1`, or of the packed one that a class repository has."""
    return text_in(PATIENTS, number)


def text_in(place: Path, number: str) -> str:
    """The text of the file of a number in this folder, or of the packed one."""
    path = place / f"{number.replace('.', '/')}.py"
    if path.exists():
        return path.read_text(encoding="utf-8")
    return zlib.decompress(b85decode(path.with_suffix(SEALED).read_bytes())).decode()


def sealed(lab: str) -> dict[str, bytes]:
    """The files of a lab and of the reading of its phase, by their names below `PATIENTS`. They are packed for a class repository,
    so that no student reads them by accident."""
    return sealed_in(PATIENTS, lab)


def sealed_in(place: Path, lab: str) -> dict[str, bytes]:
    """The files of a lab and of the reading of its phase in this folder, packed, by their names below it."""
    paths = [path for folder in (number_of(lab), lab[:2]) for path in sorted((place / folder).glob("*.py"))]
    names = [path.relative_to(place).with_suffix(SEALED).as_posix() for path in paths]
    return {name: b85encode(zlib.compress(path.read_bytes(), 9)) for name, path in zip(names, paths)}


def labs_with_checks(lab: str) -> set[str]:
    """The labs whose checks grade the mends of a lab, and of the reading of its phase."""
    numbers = [name.removesuffix(SEALED).replace("/", ".") for name in sealed(lab)]
    return {check.lab for number in numbers if number[-1].isdigit() for check in find_patient(number).checks}


# Editions as bytecode ------------------------------------------------------------------------------------------------


@cache
def sound_edition() -> Path:
    """The folder of the framework without a fault, in the form in which patients have it."""
    return _edition()


@cache
def _edition(*planted: Patient, seed: int = 0) -> Path:
    """The folder of a framework with the faults of these patients. All editions for the seed of a class have the same statements
    without effect, and no checks: so one differs from another by the faults only."""
    files = patient_files({check.lab for patient in planted for check in patient.checks} if not seed else ())
    files["rushlight/__init__.py"] = str(files["rushlight/__init__.py"]) + SLOW
    for patient in planted:
        file = file_of(patient.at)
        files[file] = _planted(str(files[file]), patient.planted)
    number = "+".join(patient.number for patient in planted)
    noise = hashlib.sha256(f"{seed}".encode()).hexdigest()[:16] if seed else number  # a seed never enters a sandbox
    return keep(f"patient{number}" + f"-{noise}" * (seed != 0), files, lambda files: _bytecode(files, noise))


def _planted(source: str, wrong: str) -> str:
    """The text of a module in which the function of this name has the body of the wrong one."""
    module, function = ast.parse(source), ast.parse(wrong).body[0]
    assert isinstance(function, ast.FunctionDef)
    (place,) = [node for node in module.body if isinstance(node, ast.FunctionDef) and node.name == function.name]
    first, last = body_lines(place)
    lines = source.splitlines()
    lines[first - 1 : last] = textwrap.indent("\n".join(map(ast.unparse, function.body)), "    ").splitlines()
    return "\n".join(lines)


def _bytecode(files: dict[str, str | bytes], number: str) -> dict[str, str | bytes]:
    """The same files, the modules as `.pyc` files, which Python imports without their source.

    Each patient has its own statements without effect in all modules that define an exercise, and so has the sound edition. So two
    editions differ in each function of these modules. All other modules are the same in all editions.
    """
    own = {file_of(exercise) for exercise in every_exercise()}
    return {
        name + "c" * name.endswith(".py"): _compiled(name, str(text), number * (name in own))
        if name.endswith(".py")
        else text
        for name, text in files.items()
    }


@cache  # editions share the modules that define no exercise
def _compiled(name: str, text: str, number: str) -> bytes:
    tree = ast.parse(text)
    if name.startswith("rushlight/"):
        tree = _WithoutEffect(random.Random(f"{number}/{name}")).visit(tree)
    for node in ast.walk(tree):  # a planted function may be longer than the sound one
        if "lineno" in node._attributes:
            vars(node).update(lineno=1, end_lineno=1, col_offset=0, end_col_offset=0)
    code = compile(tree, name, "exec", dont_inherit=True)
    unchecked = (1).to_bytes(4, "little") + bytes(8)
    return importlib.util.MAGIC_NUMBER + unchecked + marshal.dumps(code, 2)  # later formats tell what is interned


class _WithoutEffect(ast.NodeTransformer):
    """Adds assignments to each function, at random places, of a random constant, or of a method of one, to a variable that nothing
    reads. So the bytecode differs, and so do its constants and its names."""

    METHODS = ("count", "index", "strip", "split", "find", "lower", "title")

    def __init__(self, chance: random.Random):
        self.chance = chance

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Visit the statements in a node, because no expression defines a function with a name."""
        for name in ("body", "handlers", "orelse", "finalbody", "cases"):
            for child in getattr(node, name, ()):
                self.visit(child)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.generic_visit(node)
        first = next((i for i, statement in enumerate(node.body) if not _comes_first(statement)), len(node.body))
        for _ in range(self.chance.randint(1, 4)):
            target = ast.Name(f"_{self.chance.getrandbits(16)}", ast.Store())
            at = self.chance.randint(first, max(first, len(node.body) - 1))
            node.body.insert(at, ast.Assign([target], self._value()))
        return node

    def _value(self) -> ast.expr:
        word = ast.Constant(self.chance.choice(self.METHODS))
        number, method = ast.Constant(self.chance.getrandbits(4)), self.chance.choice(self.METHODS)
        return self.chance.choice((number, word, ast.Attribute(word, method, ast.Load())))


def _comes_first(statement: ast.stmt) -> bool:
    """Whether a statement is a docstring or declares names."""
    return isinstance(statement, ast.Global | ast.Nonlocal) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )


# Programs ------------------------------------------------------------------------------------------------------------


def open_patient(patient: Patient | None, with_torch: bool = False, seed: int = 0) -> sandbox.Sandbox:
    """A new process with a patient's framework, or with the sound one, for the seed of a class if there is one. In it `xp` is that
    framework, or torch."""
    edition = _edition(*[patient] * (patient is not None), seed=seed)
    with_torch = with_torch or patient is not None and patient.on_torch
    return sandbox.Sandbox(edition, sandbox.missing() is None, with_torch, packages=("hypothesis",))


def run_on(framework: str, patient: Patient, program: str, seed: int = 0) -> dict:
    """What `run_in` returns, in a new process."""
    if framework == TORCH and not patient.on_torch:
        return run_on_torch(_reporting(program, True, None))
    with closing(open_patient(patient if framework == PATIENT else None, patient.on_torch, seed)) as opened:
        return run_in(opened, program, patient, framework == TORCH)


@contextmanager
def running(patient: Patient, seed: int = 0) -> Iterator[Callable[[str, str], dict]]:
    """A function that is `run_on` for this patient and seed. Programs of a patient on torch share a process for each framework,
    because most of their time is the start of such a process. Programs on torch alone run in that of the sound framework."""
    opened: dict[bool, sandbox.Sandbox] = {}

    def run(framework: str, program: str) -> dict:
        if not patient.on_torch:
            return run_on(framework, patient, program, seed)
        if (wrong := framework == PATIENT) not in opened:
            opened[wrong] = stack.enter_context(closing(open_patient(patient if wrong else None, True, seed)))
        return run_in(opened[wrong], program, patient, framework == TORCH)

    with ExitStack() as stack:
        yield run


def run_in(opened: sandbox.Sandbox, program: str, patient: Patient | None = None, with_torch: bool = False) -> dict:
    """What a program `name(xp)` gives in a process of a patient: its `result`, the `operators` that it calls, and the framework's
    `functions` that run. Raises what a subject can bring about."""
    cell = _reporting(program, with_torch, patient)
    ranks = patient is not None and patient.at.startswith("distributed.")
    limit = seconds(CHECK_SECONDS if ranks else PROGRAM_SECONDS, patient is not None and patient.on_torch)
    return read_outputs(opened.request({"cell": cell}, limit))


def _reporting(program: str, with_torch: bool, patient: Patient | None) -> str:
    side, report = "patient_side", "report"
    if patient is not None and patient.on_torch:
        ranks = patient.at.startswith("distributed.")
        side, report = "ranks_side", "report_on_ranks" if ranks else "report_on_torch"
    return f"{program}\nfrom autograder.engine.{side} import {report}\n{report}({_name(program)}, {with_torch})"


def read_outputs(reply: Tree) -> dict:
    return read_report("".join(output.get("text", "") for output in reply["outputs"]))


_importing_torch: list[sandbox.Sandbox] = []  # a process that has imported torch: programs run in children of it


def run_on_torch(cell: str) -> dict:
    """What a cell reports that runs in a process with torch. Raises what a subject can bring about."""
    if not _importing_torch:
        _importing_torch.append(open_patient(None, with_torch=True))
    request = {"cell": f"from autograder.engine.patient_side import in_child\nin_child({cell!r})"}
    try:
        return read_outputs(_importing_torch[0].request(request, seconds(PROGRAM_SECONDS, True)))
    except (SubjectDied, SubjectTimedOut, Malformed):
        _importing_torch.pop().close()
        raise


def _name(program: str) -> str:
    """The name of the function that a text defines."""
    return next(node.name for node in ast.parse(program).body if isinstance(node, ast.FunctionDef))


@cache
def functions_run(patient: Patient) -> frozenset[str]:
    """The paths of the framework's functions that the symptom's program runs on the patient."""
    return frozenset(run_on(PATIENT, patient, patient.symptom)["functions"])


BUILTINS = {
    "abs",
    "all",
    "any",
    "bool",
    "dict",
    "enumerate",
    "float",
    "int",
    "len",
    "list",
    "map",
    "max",
    "min",
    "range",
}
BUILTINS |= {"reversed", "round", "set", "slice", "sorted", "str", "sum", "tuple", "zip"}
BY_TEXT = {"format", "format_map", "mro", "obj"}  # they read what a text names, a class, or what an error is about
BY_TEXT |= {
    "from_file",
    "load",
    "load_library",
    "on_generate_code",  # a text that torch.fx compiles
    "set_codegen",
    "hub",
    "FileStore",
}  # or a file: an edition's files say which one it is
FORBIDDEN = {  # by kinds of nodes, what a program does not have, and why
    (ast.Import, ast.ImportFrom): phrase("no imports: all that it needs is in its parameters"),
    (ast.Try, ast.TryStar): phrase("no try: an exception is a result too"),
    (ast.Global, ast.Nonlocal): phrase("no names of the module: it has its own variables"),
    (ast.AsyncFunctionDef, ast.Await, ast.Match): phrase("no coroutine and no match"),
}
COUNTED = (ast.stmt, ast.NamedExpr, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def plain_program(
    text: str, parameters: Sequence[str] = ("xp",), catches: bool = False, known: Collection[str] = BUILTINS
) -> ast.FunctionDef:
    """The function that a text defines, without its decorators and its docstring. Raises ValueError, with the reason, unless it
    has as many parameters and uses only these, its own variables, and a few of Python's functions: then it cannot know where it
    runs. `known` are the functions of Python that it may use. With `catches` it may catch errors."""
    function = _WithoutAnnotations().visit(_bare(text))
    names = [argument.arg for argument in function.args.args]
    if ast.unparse(function.args) != ", ".join(names) or len(names) != len(parameters):
        names = ", ".join(parameters)
        count = phrase(f"the parameters {names}") if parameters[1:] else phrase(f"one parameter, {names}")
        count = count if parameters else phrase("no parameters")
        raise ValueError(f"it is a function of {count}")
    if ast.get_docstring(function) is not None:
        del function.body[0]
    for node in ast.walk(function):
        if isinstance(node, ast.FunctionDef) and node.name in ("__repr__", "__str__", "__format__"):
            raise ValueError(f"it defines {node.name}: torch.fx compiles what an object says of itself")
        for kinds, reason in FORBIDDEN.items():
            if isinstance(node, kinds) and not (catches and isinstance(node, ast.Try)):
                raise ValueError(f"a program has {reason}")
        name = node.attr if isinstance(node, ast.Attribute) else ""
        if name.startswith(PRIVATE) and not name.endswith(("_backward", "__init__")) or name in BY_TEXT:
            raise ValueError(f"it uses {name}: a program uses public names of the framework only")
    (scope,) = symtable.symtable(ast.unparse(function), "program", "exec").get_children()
    for name in names_of_others(scope):
        if name not in known and not (catches and name.endswith("Error") and name in vars(builtins)):
            names = _list({*known})
            raise ValueError(f"it uses {name}: a program uses its parameters, its own variables, and {names}")
    return function


def names_of_others(scope: symtable.SymbolTable) -> Iterator[str]:
    """The names that a scope and those in it read, and that no function in it binds. In the body of a class any name may be one."""
    for symbol in scope.get_symbols():
        if symbol.is_referenced() and (symbol.is_global() or scope.get_type() == "class" and symbol.is_local()):
            yield symbol.get_name()
    for inner in scope.get_children():
        yield from names_of_others(inner)


def _bare(text: str) -> ast.FunctionDef:
    """The function that a text defines, without decorators and annotations, whose names belong to another module. Raises
    ValueError if it defines none."""
    statements = ast.parse(textwrap.dedent(text)).body
    if len(statements) != 1 or not isinstance(function := statements[0], ast.FunctionDef):
        raise ValueError("it is no function")
    function.decorator_list = []
    return without_annotations(function)


def without_annotations(function: ast.FunctionDef) -> ast.FunctionDef:
    function.returns = None
    for node in ast.walk(function.args):
        if isinstance(node, ast.arg):
            node.annotation = None
    return function


class _WithoutAnnotations(ast.NodeTransformer):
    """Takes the annotations of all functions and variables of a program away: a program need not know what they name."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.returns = None
        self.generic_visit(node)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        self.generic_visit(node)
        return ast.copy_location(ast.Assign([node.target], node.value) if node.value else ast.Pass(), node)


def _called(name: str) -> tuple[str, Any]:
    """A student's name without spaces around it, and the function that it means. Raises LookupError, with similar names, if there
    is none."""
    name = name.strip()
    path = long_form(re.sub(r"^(rushlight|rl)\.", "", name))
    called: Any = rushlight
    for part in path.split("."):
        called = getattr(called, part, None)
    if callable(called):
        return name, called
    similar = [exercise for exercise in every_exercise() if exercise.rpartition(".")[2] == path.rpartition(".")[2]]
    missing, names = phrase(f"rushlight has no function {name}"), ", ".join(similar)
    raise LookupError(f"{missing}; did you mean {names}?" if similar else missing)


def statements_of(function: ast.FunctionDef) -> int:
    """The number of statements of a function, those in other statements included. What replaces a statement counts as one."""
    return sum(isinstance(node, COUNTED) for node in ast.walk(function)) - 1


def _list(names: set[str]) -> str:
    return ", ".join(sorted(names))


# Examinations --------------------------------------------------------------------------------------------------------


def _says(outcome: str, message: str, notes: Sequence[str] = ()) -> Verdict:
    return Verdict("", outcome, message=clean(message), notes=[*notes])


def narrowed(number: str, statements: int, operators: int) -> Examine:
    """Examine the text of a program that shows the fault: its result differs on the patient, and is the same on the sound framework
    and on torch. It has at most so many statements, and calls at most so many operators."""

    def examine(judge: Judge, text: Tree, case: dict | None) -> Verdict:
        patient = find_patient(number)
        with running(patient, getattr(judge.source, "pool", 0) if judge else 0) as run:
            return narrow(text, run, function_of(patient.at))

    def narrow(text: Tree, run: Callable[[str, str], dict], at: Callable) -> Verdict:
        try:
            function = plain_program(str(text))
            program = ast.unparse(function)
        except (ValueError, SyntaxError, RecursionError) as error:
            return _says(DISAGREED, str(error))
        if (count := statements_of(function)) > statements:
            return _says(DISAGREED, f"it has {count} statements; at most {statements} are needed")
        results, reports = {}, {}
        for framework in FRAMEWORKS:
            try:
                reports[framework] = run(framework, program)
            except (SubjectDied, SubjectTimedOut, Malformed) as error:
                return _says(DISAGREED, f"on {framework}: {error}")
            results[framework] = reports[framework]["result"]
        shown = {framework: show(result) for framework, result in results.items()}
        notes = [phrase(f"on {framework}: {result}") for framework, result in shown.items()]
        both = notes[::2]  # without the sound framework
        if is_error(results[TORCH]) and is_error(results[SOUND]) and is_error(results[PATIENT]):
            return _says(DISAGREED, "it raises an error on all three", notes)
        if all(result is None or is_error(result) for result in results.values()):
            return _says(DISAGREED, "it returns None: return a value that shows the fault, such as a tensor", notes)
        if apart := difference(results[SOUND], results[TORCH]):
            apart = re.sub(r"\byours\b", "the sound framework's", apart)
            return _says(DISAGREED, f"it already differs between the sound framework and torch: {apart}", notes)
        if not difference(results[PATIENT], results[TORCH]):
            return _says(DISAGREED, "it gives the same within the tolerance on the patient and on torch", both)
        if f"{at.__module__}.{at.__name__}" not in reports[PATIENT]["functions"]:
            return _says(DISAGREED, "it shows something else: the function at fault does not run in it", both)
        names = ", ".join(used := reports[TORCH]["operators"])
        if (count := len(used)) > operators:
            return _says(DISAGREED, f"it calls {count} operators, and {operators} are enough: {names}", both)
        for framework in (PATIENT, SOUND):  # an address, for example, is by chance
            if difference(run(framework, program)["result"], results[framework]):
                return _says(DISAGREED, f"on {framework}: it gives another result each time that it runs", both)
        names = names or phrase("no operator")
        return _says(PASSED, f"it shows the fault, and calls {names}", both)

    return examine


def named(number: str, guesses: int) -> Examine:
    """Examine a list of names of functions, the first guess first: one of the first `guesses` is the function at fault."""

    def examine(judge: Judge, names: Tree, case: dict | None) -> Verdict:
        names = [names] if isinstance(names, str) else names
        if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
            return _says(DISAGREED, "it returns a list of one or two names")
        if (count := len(names)) > 2:
            return _says(DISAGREED, f"it returns {count} names; two guesses are allowed")
        patient = find_patient(number)
        for name in names[:guesses]:
            try:
                given, called = _called(name)
            except LookupError as error:
                return _says(DISAGREED, str(error))
            if called is function_of(patient.at):
                return _says(PASSED, f"{given} is the function at fault")
        ran = f"{called.__module__}.{called.__name__}" in functions_run(patient)
        return _says(
            DISAGREED, f"{given} is not the function at fault", [phrase("the symptom's program runs it")] * ran
        )

    return examine


def together(*numbers: str) -> Examine:
    """Examine a mend for each of these patients: on a framework with all their faults, no symptom is left."""

    def examine(judge: Judge, texts: Tree, case: dict | None) -> Verdict:
        patients = [*map(find_patient, numbers)]
        with closing(sandbox.Sandbox(_edition(*patients), sandbox.missing() is None)) as opened:
            for patient, text in zip(patients, texts):
                try:
                    function = _bare(str(text))
                except (ValueError, SyntaxError, RecursionError) as error:
                    return _says(DISAGREED, f"the mend of {patient.number}: {error}")
                for output in opened.request({"cell": _mending(function)}, seconds(CHECK_SECONDS, False))["outputs"]:
                    if output["output_type"] == "error":
                        return _says(DISAGREED, f"the mend of {patient.number}: {output['ename']}: {output['evalue']}")
            left = {}
            for patient in patients:
                right = run_on(TORCH, patient, patient.symptom)["result"]
                if apart := difference(run_in(opened, patient.symptom, patient)["result"], right):
                    left[patient.number] = apart
            if left:
                notes = [f"{number}: {apart}" for number, apart in left.items()]
                names = ", ".join(left)
                return _says(DISAGREED, f"with all mends, a symptom is left in {names}", notes)
        count = len(patients)
        return _says(PASSED, f"with all {count} mends, no symptom is left")

    return examine


def _mending(function: ast.FunctionDef) -> str:
    """A cell that plants what `function()` returns. Annotations that a student copies name nothing there, so none is evaluated."""
    lazy, mend = "from __future__ import annotations", "from autograder.engine.patient_side import mend"
    return f"{lazy}\n{ast.unparse(function)}\n{mend}\nmend({function.name})"


def mended(number: str) -> Examine:
    """Examine the text of a function `mend()` that returns the name of the function at fault and the function in its place: on the
    patient with that function, the checks of the exercise at fault pass."""

    def examine(judge: Judge, text: Tree, case: dict | None) -> Verdict:
        patient = find_patient(number)
        limit = seconds(CHECK_SECONDS, patient.on_torch)
        try:
            function = _bare(str(text))
            cell = _mending(function)
        except (ValueError, SyntaxError, RecursionError) as error:
            return _says(DISAGREED, str(error))
        with closing(open_patient(patient)) as opened:
            (*_, output) = opened.request({"cell": cell}, limit)["outputs"] or [{}]
            said = output.get("evalue", phrase("it prints nothing"))
            try:
                if output.get("ename") == "LookupError":
                    _called(said.removeprefix("rushlight has no function "))  # it knows similar names
                if output.get("output_type") != "stream":
                    return _says(DISAGREED, f"{output.get('ename', 'nothing')}: {said}")
                given, called = _called(output["text"].rstrip("\n").rpartition("\n")[2])
            except LookupError as error:
                return _says(DISAGREED, str(error))
            if called is not function_of(patient.at):
                return _says(DISAGREED, f"{given} is not the function at fault")
            ended: list[Exception] = []

            def ask(name: str, cases: list[dict]) -> list[Tree]:
                if ended:
                    raise ended[0]
                try:
                    observed = opened.request({"check": name, "cases": cases}, limit)["observed"]
                except (SubjectDied, SubjectTimedOut) as error:
                    ended.append(error)
                    raise
                accept(observed)
                return observed

            cases: dict[str, int] = {}  # their numbers, by what they were compared with
            for check in patient.checks:
                verdict = judge.verdict(check.name, ask)
                if not verdict.passed:
                    return verdict
                cases[verdict.judged_by] = cases.get(verdict.judged_by, 0) + verdict.cases
            right = run_on(TORCH, patient, patient.symptom)["result"]
            if apart := difference(run_in(opened, patient.symptom, patient)["result"], right):
                return _says(DISAGREED, f"with it, the symptom is another one: {apart}")
            agrees = [phrase(f"all {count} cases of {given} agree with {side}") for side, count in cases.items()]
            agree = agrees.pop()
            agree = phrase(f"{agrees[0]} and {agree}") if agrees else agree
            return _says(PASSED, f"with it, {agree}")

    return examine
