"""A student's own pieces, taken from the notebooks in `work/` and plugged into the framework of this process.

Only the finished pieces of a notebook run, with the imports, definitions and assignments that they use, in the notebook's order
and in a namespace of their own. A lab's experiments do not run again. Labs and grading do not need this module.
"""

from __future__ import annotations

import ast
import builtins
import json
import linecache
import textwrap
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rushlight.course.short_names import long_form

from ..engine import subject
from ..engine.check import CLINIC, SKIPPED_TAGS, binding, exercise_of, function_of, global_names, is_milestone
from ..language import phrase, speak

UNWRITTEN = phrase("not written yet")
_wrap = partial(textwrap.wrap, width=100, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)


def use(folder: str | Path = "work/") -> None:
    """Plug in every finished piece of the labs in `folder`, and print which pieces are the student's now.

    A relative `folder` is searched here and in the folders above, because a lab's notebook runs in the lab's own folder. A piece
    is finished if its body is written and its check, if it has run and was saved, passed. The code of these pieces runs here, so
    a notebook that you downloaded must be one that you would run. Raises FileNotFoundError.
    """
    if subject.is_grading():
        return
    nearest = _nearest(Path(folder))
    paths = sorted([*nearest.glob("*.ipynb"), *nearest.glob("*/*.ipynb")])
    labs = [path for path in paths if path.stem == path.resolve().parent.name]  # without copies in the same folder
    labs = [path for path in labs if not path.stem.startswith(CLINIC)]
    if not labs:
        print(speak("there is no lab in {folder}: `rushlight lab 01a` puts one into work/", folder=nearest))
    else:
        said = phrase("running the finished pieces in {folder}. This also runs code of a notebook that you downloaded")
        print(speak(said, folder=nearest))
    for path in labs:
        print("\n".join(_plug_in(path)))


def path() -> Any:
    """Run a training step of a small MiniGPT, first on the reference and then with the pieces that are plugged in, and draw which
    pieces run, stage by stage: yours green, the reference's grey.

    A piece with which the step has another loss, other gradients or other tokens than the reference, or raises an error, is named,
    and the reference takes its place, so that you can train. A piece that slows the step down is named, too. Returns the
    `pieces.StepPath`.
    """
    if subject.is_grading():
        return None
    from .pieces import show_path  # it needs the labs, which a sandbox does not have

    return show_path()


def _nearest(folder: Path) -> Path:
    for start in (Path.cwd(), *Path.cwd().parents):
        if (start / folder).is_dir():
            return start / folder
    raise FileNotFoundError(
        f"there is no folder {folder} here or above: `rushlight lab 01a` makes work/, with a lab in it"
    )


def _plug_in(path: Path) -> Iterator[str]:
    """Plug in a notebook's finished pieces. Yields lines that name them."""
    try:
        statements, left = _read(path)
    except (ValueError, LookupError, TypeError, AttributeError):
        yield f"{path.stem}: {speak('the file is not a notebook')}"
        return
    yours = _run(statements, left)
    count, whole = len(yours), len(yours) + len(left)
    yield f"{path.stem}: " + speak("{count} of {whole} pieces are yours", count=count, whole=whole)
    yield from _wrap(", ".join(yours))
    for name, why in left.items():
        if why != UNWRITTEN:
            yield "    " + speak("not {name}: {why}", name=name, why=speak(why))


def _run(statements: list[Statement], left: dict[str, str]) -> list[str]:
    """Run the finished pieces and the statements that they use. Returns their names; those that fail go into `left`."""
    namespace = {"__name__": "__main__"}  # as in a notebook, so that a piece is pickled by value
    defined = {*dir(builtins), *namespace}.union(*(statement.bound for statement in statements))
    yours = []
    for statement in _needed(statements):
        missing = sorted(statement.used - defined - namespace.keys())
        try:
            if missing:
                name = repr(missing[0])
                raise NameError(phrase(f"it uses {name}, which is not there without the rest of the notebook"))
            if statement.piece:  # imports the piece's module, which the notebook may import for other names
                with suppress(LookupError):
                    function_of(statement.piece)
            statement.run(namespace)
        except Exception as error:
            defined -= statement.bound
            if statement.piece:
                left[statement.piece] = f"{type(error).__name__}: {error}"
        else:
            yours += [statement.piece] if statement.piece else []
    return yours


# The statements of a notebook ----------------------------------------------------------------------------------------


@dataclass(eq=False)
class Statement:
    """A statement at the top of a cell, the names that it binds there, and the names from there that it uses."""

    node: ast.stmt
    file: str
    piece: str  # the finished exercise that it defines, if it does
    bound: set[str]
    used: set[str]

    def run(self, namespace: dict) -> None:
        exec(compile(ast.Module([self.node], []), self.file, "exec", dont_inherit=True), namespace)


def _read(path: Path) -> tuple[list[Statement], dict[str, str]]:
    """The statements of a notebook, and why some of its exercises are not finished, by their names.

    An exercise counts as it was defined last. One that is not finished is imported, so that pieces that call it find it.
    """
    nodes: list[tuple[ast.stmt, str]] = []
    left: dict[str, str] = {}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        about = cell["metadata"].get("rushlight", {})
        check = about.get("check", "together.")
        if not is_milestone(check) and any(output.get("ename") == "CheckFailed" for output in cell["outputs"]):
            left[exercise_of(check)] = phrase("its check did not pass when it ran last")
        if cell["cell_type"] != "code" or SKIPPED_TAGS & {*cell["metadata"].get("tags", [])}:
            continue
        try:
            nodes += _parse("".join(cell["source"]), f"<{path.stem}, cell {cell.get('id')}>")
        except SyntaxError as error:
            if "exercise" in about:
                left[about["exercise"]] = f"{type(error).__name__}: {error.msg}"
                nodes.append((_bind(about["exercise"]), ""))
    last = {_exercise(node): node for node, _ in nodes}
    left |= {name: UNWRITTEN for name, node in last.items() if name and _is_stub(node)}
    nodes = [(node, file) for node, file in nodes if not _exercise(node) or last[_exercise(node)] is node]
    return [_statement(node, file, left) for node, file in nodes], left


def _parse(source: str, file: str) -> list[tuple[ast.stmt, str]]:
    from IPython.core.inputtransformer2 import TransformerManager  # slow, and not needed in the sandbox

    source = TransformerManager().transform_cell(source)  # `%magic` and `!command` made Python
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file  # what tracebacks show
    return [(node, file) for node in ast.parse(source).body]


def _exercise(node: ast.stmt) -> str:
    """The exercise that a statement defines, or nothing."""
    for decorator in getattr(node, "decorator_list", []):
        match node, decorator:
            case ast.FunctionDef(name) | ast.ClassDef(name), ast.Call(ast.Name("exercise"), [module]):
                return long_form(f"{ast.unparse(module)}.{name}".removeprefix("rushlight.").removeprefix("rl."))
    return ""


def _is_stub(function: ast.stmt) -> bool:
    if not isinstance(function, ast.FunctionDef):
        return False
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return ast.unparse(ast.Module(body, [])) in ("", "raise NotImplementedError", "raise NotImplementedError()")


def _bind(exercise: str) -> ast.stmt:
    return ast.parse(binding(exercise)).body[0]


def _statement(node: ast.stmt, file: str, left: dict[str, str]) -> Statement:
    piece = _exercise(node)
    if piece in left:
        node, piece = _bind(piece), ""
    return Statement(node, file, piece, *global_names(ast.unparse(node)))


def _needed(statements: list[Statement]) -> list[Statement]:
    """The pieces, the statements that bind names that the pieces use, and so on, in their order. Nothing without a piece."""
    if not any(statement.piece for statement in statements):
        return []
    names = set().union(*(statement.used for statement in statements if statement.piece))
    while True:
        needed = [
            statement for statement in statements if statement.piece or statement.bound & names or _is_star(statement)
        ]
        wider = names.union(*(statement.used for statement in needed))
        if wider == names:
            return needed
        names = wider


def _is_star(statement: Statement) -> bool:
    return isinstance(statement.node, ast.ImportFrom) and statement.node.names[0].name == "*"
