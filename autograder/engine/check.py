"""The registry of checks.

A check is one small program and the cases to run it on. `@program` registers it. The student's process runs the program with
`xp = rushlight`, the judge runs it with `xp = torch`, and the observed results must agree. If torch has no counterpart in
Python, `.oracle` gives the judge another program, which derives the answer from torch. If torch has nothing to derive it from, this
program computes the answer in another way than the exercise does, and the verdict does not show it.
"""

from __future__ import annotations

import ast
import difflib
import importlib.util
import inspect
import pkgutil
import re
import symtable
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from types import FunctionType
from typing import TYPE_CHECKING, Any

import rushlight
from rushlight.course.short_names import long_form

from .. import checks
from ..language import phrase
from .observe import Tree

if TYPE_CHECKING:
    from .verdict import Verdict

# The registry --------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Check:
    """One program, its cases, and the exercise that it tests.

    `cases(st)` returns a strategy for keyword arguments of the program, from hypothesis.strategies `st`. `edges` are always
    among the cases. If torch makes the edges, `_edges` is a function. Only the judge calls either function.
    `hint(case, mine, theirs)` may name the mistake. A text is the hint for every mistake but an exception. The entry `beyond` of a
    result lists calls that the contract does not allow, and these are named without a hint of the check's own. A `disposable`
    check changes process-wide state of torch (registrations, backends), so torch's side of it runs in a process of its own.
    `show(torch, **case)` returns a case as code, for a check whose cases have programs as data.
    `examine(judge, observed, case)` decides the check instead of a comparison, where the answer is a text or a name.
    `draws` limits the cases that are drawn, and those that are tried while shrinking, for a check whose cases take long. If it
    is a `prediction`, the verdict says how much of it is right, but not torch's answer. If the answer `is_text`, such as a kernel,
    grading tries it in a process in which no code of the student has run.
    `asked` are the edges that `ask` lists. `refuses(case)` says why torch has no answer to a case that a student asks about, or
    nothing.
    """

    name: str
    program: Callable
    cases: Callable[[Any], Any]
    _edges: list[dict] | Callable[[], list[dict]]
    hint: str | Callable[[dict, Tree, Tree], str | None] | None
    disposable: bool = False
    draws: int | None = None
    show: Callable[..., str] | None = None
    prediction: bool = False
    is_text: bool = False
    examine: Callable[[Any, Tree, dict | None], Verdict] | None = None
    asked: list[dict] | None = None
    refuses: Callable[[dict], str | None] | None = None
    torch_program: Callable | None = None
    counts: Callable | None = None
    best: dict[str, int] = field(default_factory=dict)

    @cached_property
    def edges(self) -> list[dict]:
        return self._edges() if callable(self._edges) else self._edges

    def oracle(self, torch_program: Callable) -> Check:
        """Decorator: the program that the judge runs, with `xp = torch`, instead of the check's own."""
        self.torch_program = torch_program
        return self

    def counted(self, **best: int) -> Callable:
        """Decorator: the program that counts what an answer asks for. It takes `xp` and returns numbers by name, the smaller the
        better, of which `best` has the smallest possible. It runs when the check has passed. No points depend on it."""

        def register(counts: Callable) -> Check:
            self.counts, self.best = counts, {name.replace("_", " "): number for name, number in best.items()}
            return self

        return register

    def count(self, xp: Any, **_: object) -> dict[str, int]:
        """What an answer asks for, if the check counts it."""
        return self.counts(xp) if self.counts else {}

    def text_of(self, xp: Any, **_: object) -> str:
        """The answer, which is a text."""
        text = function_of(self.exercise)()
        if not isinstance(text, str):
            raise TypeError(f"the text of a kernel is a str, not {type(text).__name__}")
        return text

    @cached_property
    def asks_torch(self) -> bool:
        """Whether the answer is torch's. It is not if the oracle uses neither torch nor a tensor of the case."""
        return self.torch_program is None or _uses_torch(self.torch_program) or any(map(_has_tensor, self.edges))

    @property
    def is_drawn(self) -> bool:
        """Whether it is a prediction whose programs are drawn for each student."""
        return self.prediction and self.examine is not None

    @cached_property
    def exercise(self) -> str:
        """The exercise, the path of its function below `rushlight`. The check's name may add the name of a part."""
        return exercise_of(self.name)

    @property
    def lab(self) -> str:
        """The lab whose check this is, such as `01a_views`: the name of the package that defines it."""
        return self.program.__module__.removeprefix(f"{checks.__name__}.").partition(".")[0]

    def in_order(self, case: dict) -> dict:
        """A case with its values in the order of the program's parameters. The values that `**case` takes come last."""
        parameters = inspect.signature(self.program).parameters
        named = {name: case[name] for name in parameters if name in case}
        takes_more = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values())
        return named | case if takes_more else named


def source(program: Callable) -> str:
    """The text of a program, without the decorator."""
    lines = textwrap.dedent(inspect.getsource(program)).splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("def "))
    return "\n".join(lines[start:])


# helpers that make a call of a program several times: which argument is the function, and what a reader is told
REPEATED = {
    "lists_too": (0, "  # and with lists for tuples"),
    "mixed_too": (0, "  # and with lists for tuples"),
    "viewed": (1, ""),  # the result says what is looked at
}


def shown_source(program: Callable) -> str:
    """The text of a program as a reader sees it: the call itself, where a helper repeats it."""
    lines = source(program).splitlines()
    for call in ast.walk(ast.parse("\n".join(lines))):
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") in REPEATED and call.lineno == call.end_lineno:
            line, (position, remark) = lines[call.lineno - 1].encode(), REPEATED[ast.unparse(call.func)]
            before, after = line[: call.col_offset].decode(), line[call.end_col_offset :].decode()
            lines[call.lineno - 1] = f"{before}{_plain(*call.args[position:])}{after}{remark}"
    return "\n".join(lines)


def _plain(function: ast.expr, *arguments: ast.expr) -> str:
    """The call that a helper makes of a function, or of a `partial` of it."""
    if isinstance(function, ast.Call) and getattr(function.func, "id", "") == "partial":
        function, *first = function.args
        arguments = (*first, *arguments)
    given: list[ast.expr] = []
    for argument in arguments:  # `*_up_to_defaults(dim, start)` leaves arguments out that have their default
        match argument:
            case ast.Starred(ast.Call(_, inner)):
                given += inner
            case _:
                given.append(argument)
    return ast.unparse(ast.Call(function, given, []))


def _uses_torch(oracle: Callable) -> bool:
    """Whether an oracle uses its first parameter, which is torch, or imports torch, itself or in the helpers that it names."""
    first = next(iter(inspect.signature(inspect.unwrap(oracle)).parameters))
    return first in _names(oracle)[0] or _imports_torch(oracle, set())


def _imports_torch(function: Callable, seen: set[Callable]) -> bool:
    seen.add(function)
    used, imported = _names(function)
    if not imported.isdisjoint({"torch", "torchgen", "torch_dumps"}):
        return True
    known = inspect.unwrap(function).__globals__
    named = [inspect.unwrap(known[name]) for name in used if callable(known.get(name))]
    helpers = [
        helper for helper in named if isinstance(helper, FunctionType) and helper.__module__.startswith(checks.__name__)
    ]
    return any(_imports_torch(helper, seen) for helper in helpers if helper not in seen)


@cache  # oracles share helpers, and to find the text of a function takes long
def _names(function: Callable) -> tuple[set[str], set[str]]:
    """The names that a function uses, and what it imports in its body: the first names of modules, and names from a package."""
    nodes = [*ast.walk(ast.parse(source(function)))]
    statements = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    names = [alias.name for statement in statements for alias in statement.names]
    modules = [module for statement in statements if (module := getattr(statement, "module", None))]
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    return used, {name.partition(".")[0] for name in [*modules, *names]}


def _has_tensor(case: Tree) -> bool:
    if isinstance(case, dict):
        return "tensor" in case or any(map(_has_tensor, case.values()))
    return isinstance(case, list | tuple) and any(map(_has_tensor, case))


ON_BOARD, THE_TEXT = {"on the board": True}, {"the text": True}  # cases for which a subject runs `count` and `text_of`
_registry: dict[str, Check] = {}


def program(
    name: str,
    *,
    cases: Callable,
    edges: list[dict] | Callable[[], list[dict]] | None = None,
    hint: str | Callable | None = None,
    disposable: bool = False,
    draws: int | None = None,
    show: Callable[..., str] | None = None,
    prediction: bool = False,
    is_text: bool = False,
    examine: Callable[[Any, Tree, dict | None], Verdict] | None = None,
    asked: list[dict] | None = None,
    refuses: Callable[[dict], str | None] | None = None,
) -> Callable:
    """Decorator: register a program as the check `name` (`module.function`, or `module.function.part`)."""

    def register(made: Callable) -> Check:
        if name in _registry:
            raise ValueError(f"two checks are called {name!r}")
        _registry[name] = Check(
            name, made, cases, edges or [], hint, disposable, draws, show, prediction, is_text, examine, asked, refuses
        )
        return _registry[name]

    return register


def registry() -> dict[str, Check]:
    """Every check of every lab, by name, in the order of the labs, of their `TOPICS` and of those files."""
    _import_checks()
    return _registry


@cache
def _import_checks() -> None:
    for module in sorted(pkgutil.iter_modules(checks.__path__), key=lambda module: module.name):
        for topic in _of_package(module.name, "TOPICS", ()):
            importlib.import_module(f"{checks.__name__}.{module.name}.{topic}")


def _of_package(lab: str, name: str, default: object) -> Any:
    """Return a name of the package of a lab's checks. Shared checks and a test's own check get the default."""
    package = f"{checks.__name__}.{lab}"
    return getattr(importlib.import_module(package), name, default) if importlib.util.find_spec(package) else default


def find(name: str) -> Check:
    """The check called `name`. Raises LookupError with similar names."""
    if name not in registry():
        module = long_form(name).rpartition(".")[0]
        same_module = [other for other in _registry if other.rpartition(".")[0] == module]
        close = difflib.get_close_matches(name, _registry, n=1, cutoff=0.8)
        advice = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(same_module)}"
        if not same_module:
            advice = "its name is in the lab, in the locked cell below the exercise"
        raise LookupError(f"there is no check {name!r} in this version of the course; {advice}")
    return _registry[name]


def every_exercise() -> list[str]:
    """The exercises of all labs, in order. A milestone has none."""
    return list(dict.fromkeys(check.exercise for check in registry().values() if not is_milestone(check.name)))


SKIPPED_TAGS = {"torch", "figure"}  # cells that run real torch or only draw; no exercise depends on one
DEMONSTRATION = "demonstration"  # the tag of a cell that takes time, and only shows something
# The labs whose answers are about the framework or about torch: there a program on torch may be an answer
CLINIC = ("13", "15a", "15c", "15d")
OF_CLINIC = ("clinic.", "contribute.")  # how the names of their exercises begin
FIRST_GUESS = ".first"  # the part of a check of the clinic that passes only for a right first guess
BODY, PREDICTION, BREAK_IT, REVIEW, DIAGNOSIS = "body", "prediction", "Break it", "review", "diagnosis"
_KINDS = {  # by what the whole name of an exercise is; each other exercise is a body
    PREDICTION: r"course\.predictions\.\w+",
    BREAK_IT: r"course\.breaks\.\w+",
    REVIEW: r"(contribute\.review|course\.reviews)\.\w+",
    DIAGNOSIS: r"(clinic|contribute)\.\w+\.(narrow|name|reproduce|locate|mend|test)_\d+",
}


def kind_of(exercise: str) -> str:
    """What an exercise asks for, by its name: a body, a prediction, cases that break wrong bodies, a review, or a step of a
    diagnosis."""
    return next((kind for kind, names in _KINDS.items() if re.fullmatch(names, exercise)), BODY)


@cache
def is_on_torch(lab: str) -> bool:
    """Whether a lab works on real torch itself, so that its sandbox has torch. The package of its checks says so, by `ON_TORCH`."""
    return _of_package(lab, "ON_TORCH", False)


@cache
def packages_of(lab: str) -> tuple[str, ...]:
    """The packages that a lab needs beside the course's own, so that its sandbox has them. The package of its checks says so."""
    return _of_package(lab, "PACKAGES", ())


LONG_CASES = (
    "on_torch.custom_ops.",
    "on_torch.cpp_ops.",
    "distributed.",
    "together.",
)  # of labs on torch: they compile, or start ranks


def takes_long(name: str) -> bool:
    """Whether a case of a check may take as long as one of a lab on torch, because it compiles C++ or starts ranks."""
    return is_on_torch(find(name).lab) and name.startswith(LONG_CASES)


def is_milestone(name: str) -> bool:
    """Whether a check runs many pieces together, as the milestone of a lab: its name starts with `together.`"""
    return name.startswith("together.")


def pieces_for_milestone(core: Iterable[str], written: Iterable[str]) -> list[str]:
    """The pieces that a milestone should have of the student: those of the core, and further ones that are written. A prediction,
    cases, a review or a diagnosis is no piece."""
    return [name for name in dict.fromkeys([*core, *written]) if kind_of(name) == BODY]


def missing_for_milestone(core: Sequence[str], is_done: Callable[[str], bool]) -> str:
    """Why a lab's milestone is not decided yet: it needs half of the core exercises. Empty if that many are done."""
    count, whole = sum(map(is_done, core)), len(core)
    if 2 * count >= whole:
        return ""
    return phrase(f"a milestone needs half of the lab's core exercises: {count} of {whole} are yours so far")


def exercise_of(check: str) -> str:
    """The exercise that a check of this name tests: the path of modules below `rushlight` to the first function.

    Raises LookupError if the path names no function.
    """
    return _resolve(check)[0]


def function_of(exercise: str) -> FunctionType:
    """The framework's function of an exercise. Raises LookupError if there is none."""
    return _resolve(exercise)[1]


def binding(exercise: str) -> str:
    """The statement that gives a notebook the framework's function under its own name, and no other name."""
    function = function_of(exercise)
    return f'{function.__name__} = __import__("importlib").import_module("{function.__module__}").{function.__name__}'


def global_names(source: str) -> tuple[set[str], set[str]]:
    """The global names that a source binds, and those that it uses."""
    top = symtable.symtable(source, "<source>", "exec")
    bound = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    used = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_referenced()}
    inner = top.get_children()
    while inner:
        table = inner.pop()
        inner += table.get_children()
        for symbol in table.get_symbols():
            if symbol.is_global():
                (bound if symbol.is_assigned() else used).add(symbol.get_name())
    return bound, used


def _resolve(path: str) -> tuple[str, FunctionType]:
    module, names = rushlight, path.split(".")
    for position, name in enumerate(names, start=1):
        try:
            module = importlib.import_module(inner := f"{module.__name__}.{name}")
        except ModuleNotFoundError as error:
            if error.name != inner:  # the module is there, but not one that it imports
                raise
            if isinstance(function := getattr(module, name, None), FunctionType):
                return ".".join(names[:position]), function
            break
    raise LookupError(f"rushlight has no function {path}")


def short_name(check: str) -> str:
    """The name of a check without the module of its exercise: `permute`, `fused_linear_backward.twice`."""
    try:
        return check[exercise_of(check).rfind(".") + 1 :]
    except LookupError:  # a milestone, or an exercise that the course has no more
        return check.partition(".")[2]
