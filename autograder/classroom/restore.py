"""Restoring: a submission rebuilt on the released notebook.

Only a student's answers are taken from a submission, with the text of cells that the student added. Check cells, points,
metadata and the kernel are the release's. A submission that cannot be graded is `Unreadable`, with the reason in one line.
"""

from __future__ import annotations

import ast
import builtins
import copy
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

import nbformat
from nbformat import NotebookNode

from ..engine.verdict import OUTCOMES
from ..language import phrase
from ..model import ADDED, Lab, Unreadable, check_name, digest, exercise_name, is_added, names_by_grade_id
from ..text import printable
from .join import LONGEST, Part, join, parsed, reason_left_out
from .pictures import attach, with_pictures

MAX_WRITTEN = 100_000  # characters of all cells that a student wrote
MAX_ADDED = 200  # cells that a student added
OVER_ALL = phrase("left out: all cells together are too long to be graded")


# Reading -------------------------------------------------------------------------------------------------------------


class StudentNotebook:
    """A student's notebook of a lab, parsed once. The text may be anything.

    nbformat does not see the text: to say what is wrong with a notebook takes it minutes and gigabytes.
    """

    def __init__(self, lab: Lab, text: str) -> None:
        self.lab, self.text = lab, text
        self.content: Any = None
        self.error: Exception | None = None
        try:
            self.content = json.loads(text)
        except (ValueError, RecursionError) as error:
            self.error = error

    @property
    def claimed(self) -> dict[str, str]:
        """The claim of the notebook about its release: `lab`, `release` and `version`, as far as they are there. A student can
        write anything there."""
        try:
            about = self.content["metadata"]["rushlight"]
            return {key: about[key] for key in ("lab", "release", "version") if isinstance(about.get(key), str)}
        except (LookupError, TypeError, AttributeError):
            return {}

    @cached_property
    def released(self) -> NotebookNode:
        """The release on which the notebook is restored: the one that it was made from if this class has had it, with the points
        that count today, and otherwise this class's lab. It must be copied before it is changed."""
        own, claimed = self.lab.release, self.claimed.get("release", "")
        releases = self.lab.kept_editions() | {release.digest: release for release in self.lab.kept_releases()}
        kept = releases.get(claimed, own)
        if kept.digest == own.digest or kept.names.keys() != own.names.keys():
            return own.nodes
        released = copy.deepcopy(kept.nodes)
        given = {cell.metadata.nbgrader.grade_id: cell for cell in own.nodes.cells if "nbgrader" in cell.metadata}
        for cell in released.cells:
            if "nbgrader" in cell.metadata and cell.metadata.nbgrader.grade_id in given:
                cell.metadata = copy.deepcopy(given[cell.metadata.nbgrader.grade_id].metadata)
        return released

    def restored(self) -> NotebookNode:
        """The notebook, restored, with the digest of its text in the metadata. Raises Unreadable, whatever is wrong with it."""
        try:
            if self.error:
                raise self.error
            notebook = restore(self.content, self.released)
        except json.JSONDecodeError:
            raise Unreadable("not a notebook: the file is not JSON") from None
        except Exception as error:  # RecursionError, and others for cells that are none
            first = next(iter(str(error).splitlines()), "") or type(error).__name__
            raise Unreadable(f"not a notebook of this lab: {printable(first[:200])}") from None
        notebook.metadata["restored"] = digest(self.text)
        return notebook

    def remark(self) -> str:
        """A line about answers to exercises that this class's lab does not have. Otherwise nothing."""
        try:
            answered = names_by_grade_id(self.content)
        except (LookupError, TypeError, AttributeError):
            return ""
        wanted = self.lab.release.names
        more, less = names_only_in(answered, wanted), names_only_in(wanted, answered)
        if not more:
            return ""
        version = self.claimed.get("version", "unknown")[:20]
        line = f"made from another release of the lab (of version {version}): no points here for its {more}"
        return printable(line + (f", and it lacks {less}" if less else ""))


def names_only_in(some: Mapping[str, str], others: Collection[str]) -> str:
    """The names of the cells that are here and not there, in words."""
    names = list(dict.fromkeys(name[:60] for key, name in some.items() if key not in others))
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if names[4:] else "")


# Restoring -----------------------------------------------------------------------------------------------------------


def restore(submitted: dict, released: NotebookNode) -> NotebookNode:
    """The released notebook with the student's answers, and with the cells that the student added where they were added.

    An answer is the source of a cell that the lab asks to be filled in, or what `join` makes of its parts. The metadata of the
    result say which answers were joined. Raises Unreadable if the submission has no answer of this lab, or is not made of cells.
    """
    cells, lines = _taken(submitted, released)
    cells, pictures = with_pictures(cells, _source)
    remarks = _leave_out(cells, released)
    parts = _parts(cells, released)
    answers, used, joined = join(parts, released.cells)
    own = {key for cell in released.cells if "nbgrader" in cell.metadata for key in _cell_keys(cell)}
    has_own = any(key in own for cell in cells for key in _cell_keys(cell))
    if not has_own and not any(released.cells[position].cell_type == "code" for position in answers) or not answers:
        raise Unreadable("none of its cells belongs to this lab: is it the notebook of another one?")
    added: dict[int, list[dict]] = {}  # by the position of the released cell before them
    before = -1
    for part, cell in zip(parts, cells):
        if part.position is not None:
            before = part.position
        elif part.index not in used and cell.get("cell_type") in ("code", "markdown"):
            added.setdefault(before, []).append(cell)
    result = copy.deepcopy(released)
    result.cells = _plain_cells(added.get(-1, []), "first")
    for position, cell in enumerate(copy.deepcopy(released).cells):
        if _is_answer(cell) and answers.get(position, cell.source) != cell.source:
            answer = answers[position]
            cell.source = deactivate_markup(answer) if cell.cell_type == "markdown" else answer
        result.cells += [cell, *_plain_cells(added.get(position, []), str(position))]
    remarks |= _leave_out(result.cells, released)  # what was joined may be too long now
    for cell in result.cells:
        if cell.cell_type == "markdown" and (is_added(cell) or _is_answer(cell)):
            attach(cell, pictures)
    lines += dict.fromkeys(_named(cell, cell.source[2:]) for cell in result.cells if cell.source in remarks)
    result.metadata |= {"joined": joined + lines} if joined or lines else {}
    return result


def _named(cell: NotebookNode, reason: str) -> str:
    """The reason, after the name of the answer if the cell is one."""
    name = (exercise_name(cell) or "").rpartition(".")[2] or cell.metadata.get("nbgrader", {}).get("grade_id")
    return f"{name}: {reason}" if name else reason


def _taken(submitted: dict, released: NotebookNode) -> tuple[list[dict], list[str]]:
    """Copies of the cells that stand for those of the release, and of the first of the others, and a line if there are more."""
    own = {key for cell in released.cells for key in (*_cell_keys(cell), cell.source)}
    taken, added = [], 0
    for cell in _cells(submitted):
        keys = own & {*_cell_keys(cell), _source(cell)}
        own -= keys  # a further cell with the same id is another one
        added += not keys
        if keys or added <= MAX_ADDED:
            taken.append({**cell})
    count = added - MAX_ADDED
    return taken, [phrase(f"{count} of the added cells are left out, too many to be graded")] if count > 0 else []


def _parts(cells: list[dict], released: NotebookNode) -> list[Part]:
    """The cells of a submission, with the positions of the released cells that they stand for. They are recognised by an id, or by
    their text if the program that wrote the file has dropped the ids."""
    positions = {key: position for position, cell in enumerate(released.cells) for key in _cell_keys(cell)}
    by_id = [next((positions[key] for key in _cell_keys(cell) if key in positions), None) for cell in cells]
    by_text = {cell.source: position for position, cell in enumerate(released.cells) if position not in by_id}
    parts = []
    for index, (cell, position) in enumerate(zip(cells, by_id)):
        source, count = _source(cell), cell.get("execution_count")
        position = by_text.get(source) if position is None else position
        is_code = cell.get("cell_type") == "code"
        parts.append(Part(index, source, is_code, position, count if isinstance(count, int) else None))
    return parts


def edited_checks(submitted: dict, released: NotebookNode) -> list[str]:
    """The checks whose cells a submission has changed or lost. Raises Unreadable if it is not made of cells."""
    pairs = checks_in(submitted, released).items()
    return [name for name, (given, cell) in pairs if cell is None or _source(cell) != given.source]


def checks_in(submitted: dict, released: NotebookNode) -> dict[str, tuple[NotebookNode, dict | None]]:
    """The cell of each check in a released notebook, and that in a submission, if it is there. Raises Unreadable if the submission
    is not made of cells."""
    cells = {key: cell for cell in _cells(submitted) for key in _cell_keys(cell)}
    return {
        str(check_name(cell)): (cell, next((cells[key] for key in _cell_keys(cell) if key in cells), None))
        for cell in released.cells
        if check_name(cell)
    }


_KINDS: dict[str, Any] = {
    "outcome": str,
    "seconds": int | float,
    "message": str,
    "case": str,
    "given": str,
    "seal": str,
}
_KINDS |= {"notes": list, "counts": dict, "drawn_for": str}


def verdict_in(cell: dict | None) -> dict:
    """Read the verdict in the cell of a check in a graded notebook. Empty if the course's steps have not written it: where nbgrader
    alone has graded, the outputs are the student's own."""
    if cell is None:
        return {}
    try:
        verdict = dict(cell["outputs"][0]["metadata"]["rushlight"])
        known = verdict["outcome"] in OUTCOMES and all(isinstance(value, _KINDS[key]) for key, value in verdict.items())
    except (LookupError, TypeError, ValueError, AttributeError):
        return {}
    return verdict if known else {}


def aliases(notebook: Mapping, released: Mapping) -> dict[str, str]:
    """By exercise, the function or method that is all its body calls, if neither the released lab nor Python has its name.

    Such an answer may be another name for what the course has already. Names, functions and classes of the student are looked
    through, and so are `functools.partial`, `getattr` and lambdas.
    """
    given = {_source(cell) for cell in released["cells"]}
    known = {name for cell in released["cells"] for name in re.findall(r"\w+", _source(cell))} | _OF_PYTHON
    own = [(exercise_name(cell), _source(cell)) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    trees = [(name, tree) for name, source in own if source not in given and (tree := parsed(source))]
    answers, bound = [], dict[str, ast.AST]()
    for exercise, tree in trees:
        for name, node in _bindings(tree):
            if isinstance(node, ast.FunctionDef) and exercise and exercise.endswith(f".{name}"):
                answers.append((name, node))
            else:
                bound[name] = node
    bound = {name: node for name, node in bound.items() if name not in dict(answers)}
    called = [(name, _only_call(function, bound)) for name, function in answers]
    return {name: other for name, other in called if other and other not in known}


_OF_PYTHON = {*dir(builtins)}.union(*map(dir, (list, dict, set, str, bytes, int, float)))


def _bindings(tree: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """The names that a source binds, each with a function, a value, or the name that is imported."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name, node
            case ast.Assign([ast.Name(name)], value) | ast.AnnAssign(ast.Name(name), value=ast.expr() as value):
                yield name, value
            case ast.NamedExpr(ast.Name(name), value):
                yield name, value
            case ast.ImportFrom(names=imported):
                yield from ((alias.asname or alias.name, ast.Name(alias.name)) for alias in imported)


def _only_call(function: ast.FunctionDef | ast.Lambda, bound: Mapping[str, ast.AST], depth: int = 9) -> str:
    """The name of the function that is all a body calls, besides imports, names and a docstring. Empty if the body does more."""
    if isinstance(function, ast.Lambda):
        result: ast.AST | None = function.body
    else:
        bound = {**bound, **{name: node for name, node in _bindings(function) if node is not function}}
        *before, last = function.body
        docstring = before[:1] if ast.get_docstring(function) is not None else []
        if not all(_only_binds(node) or node in docstring for node in before):
            return ""
        result = last.value if isinstance(last, ast.Return) else None
    result = _looked_up(result, bound)
    match result:
        case ast.NamedExpr(value=inner) | ast.Call(ast.Name("list" | "tuple"), [inner], []):
            result = _looked_up(inner, bound)
    if not isinstance(result, ast.Call) or depth == 0:
        return ""
    passed = [*result.args, *(keyword.value for keyword in result.keywords)]
    return _called(result.func, bound, depth) if all(_is_plain(value, bound) for value in passed) else ""


def _looked_up(node: ast.AST | None, bound: Mapping[str, ast.AST]) -> ast.AST | None:
    """What a name of the student stands for."""
    for _ in range(9):
        node = bound.get(node.id, node) if isinstance(node, ast.Name) else node
    return node


def _called(node: ast.AST, bound: Mapping[str, ast.AST], depth: int) -> str:
    """The name of the function that an expression is."""
    match _looked_up(node, bound):
        case ast.FunctionDef() | ast.Lambda() as function:
            return _only_call(function, bound, depth - 1)
        case ast.ClassDef(bases=bases, body=body) if (
            any(isinstance(each, ast.FunctionDef) for each in body) or not bases
        ):
            return ""  # a class of the student's own
        case ast.ClassDef(bases=[base, *_]) if depth:
            return _called(base, bound, depth - 1)
        case ast.Call(ast.Name("partial" | "staticmethod") | ast.Attribute(_, "partial"), [inner, *_]) if depth:
            return _called(inner, bound, depth - 1)
        case ast.Call(ast.Name("getattr"), [_, name]) | ast.Subscript(_, name):
            return name.value if isinstance(name, ast.Constant) and isinstance(name.value, str) else ""
        case ast.Attribute(owner, name) if _is_owner(owner):
            inner = bound.get(name)
            other = _called(inner, bound, depth - 1) if inner and depth else ""
            return other if other or isinstance(inner, ast.FunctionDef | ast.Lambda) else name
        case ast.Name(name):
            return name
    return ""


def _is_owner(node: ast.AST) -> bool:
    """Whether an expression is a module, an object or a class, without a computation."""
    match node:
        case ast.Attribute(value):
            return _is_owner(value)
        case ast.Call(ast.Name() | ast.Attribute(_, "import_module"), args):
            return all(isinstance(argument, ast.Constant) for argument in args)
    return isinstance(node, ast.Name)


def _only_binds(statement: ast.stmt) -> bool:
    match statement:
        case ast.Assign([target]) | ast.AnnAssign(target):
            return isinstance(target, ast.Name)
    return isinstance(statement, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef)


def _is_plain(argument: ast.AST, bound: Mapping[str, ast.AST]) -> bool:
    """Whether an argument is passed on as it is."""
    match argument := _looked_up(argument, bound) or argument:
        case ast.Starred(value) | ast.Call(ast.Name("list" | "tuple"), [value], []):
            return _is_plain(value, {})
    return isinstance(argument, ast.Name | ast.Constant)


def differences(submitted: NotebookNode, released: NotebookNode) -> list[str]:
    """How a student's copy differs from the released lab in cells that are not answers: a line for each kind, with advice."""
    cells = {key: cell for cell in _cells(submitted) for key in _cell_keys(cell)}
    checks, lost = edited_checks(submitted, released), []
    for cell in released.cells:
        if "nbgrader" in cell.metadata and _is_answer(cell) and not cells.keys() & {*_cell_keys(cell)}:
            lost.append(cell.metadata.nbgrader.grade_id)
    given = {key for cell in released.cells for key in _cell_keys(cell)}
    unknown = [cell for cell in _cells(submitted) if _is_answer(cell) and not given & {*_cell_keys(cell)}]
    lines = []
    if checks:
        lines.append(f"not the lab's own check cells any more, and put back for grading: {', '.join(checks)}")
    if lost or unknown:
        names = ", ".join(lost + [cell["metadata"]["nbgrader"]["grade_id"] for cell in unknown])
        lines.append(
            f"made from another release of the lab, or cells were deleted ({names}): "
            "rename its folder, let `rushlight lab` make a new copy, and paste your answers"
        )
    return lines


# Cells ---------------------------------------------------------------------------------------------------------------


def _cells(submitted: dict) -> list[dict]:
    if isinstance(submitted, dict) and "worksheets" in submitted:
        raise Unreadable("open it in JupyterLab and save it, because it is of nbformat 3")
    cells = submitted.get("cells") if isinstance(submitted, dict) else None
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise Unreadable("it is not made of cells")
    return cells


def _cell_keys(cell: dict) -> list[str]:
    """The ids by which a cell can be recognised: nbgrader's and the notebook's."""
    grade_id = cell
    for name in ("metadata", "nbgrader", "grade_id"):
        grade_id = grade_id.get(name) if isinstance(grade_id, dict) else None
    return [f"{kind} {key}" for kind, key in (("grade", grade_id), ("cell", cell.get("id"))) if isinstance(key, str)]


def _is_answer(cell: dict) -> bool:
    return cell["metadata"].get("nbgrader", {}).get("solution", False)


def _source(cell: dict) -> str:
    source = cell.get("source", "")
    text = "".join(map(str, source)) if isinstance(source, list) else str(source)
    text = re.sub(r"^[^\S\n]+$", "", text, flags=re.MULTILINE)  # pygments takes minutes for lines of blanks
    text = re.sub("[\u202a-\u202e\u2066-\u2069]", "\ufffd", text)  # code that reads in another order than it runs
    return text.encode("utf-8", "replace").decode()  # a lone surrogate cannot be written to a file


_NEW = {"code": nbformat.v4.new_code_cell, "markdown": nbformat.v4.new_markdown_cell}


def _plain_cells(cells: list[dict], position: str) -> list[NotebookNode]:
    """Cells that a student added, with their text alone."""
    plain = []
    for number, cell in enumerate(cells):
        kind, source = cell["cell_type"], _source(cell)
        source = deactivate_markup(source) if kind == "markdown" else source
        plain.append(_NEW[kind](source, id=f"{ADDED}{position}-{number}"))
    return plain


_JOINER = "\u2060"  # a word joiner: invisible, and with it a text is no tag, no character reference and no URL scheme
_ACTIVE = re.compile(
    r"<(?=[a-z/!?])|&(?=#|[a-z][a-z0-9]*;)|\b(?:javascript|vbscript|data|file|attachment)(?=[\\\s]*:)"
    r"|(?:```|~~~)(?=[ \t]*[^\s`~])(?![ \t]*python\s)",
    re.IGNORECASE,
)


def deactivate_markup(markdown: str) -> str:
    """Markdown that is shown but does nothing, because nbgrader copies the HTML in it into its pages unescaped.

    Tags and character references appear as the student typed them, and links to scripts lead nowhere. Code is coloured as
    Python or not at all, because pygments takes minutes for some languages.
    """
    return _ACTIVE.sub(lambda match: match[0] + _JOINER, markdown)


def _leave_out(cells: Iterable[dict], released: NotebookNode) -> set[str]:
    """Replace the sources that are too long or too deep to run, to render and to read by remarks, which are returned."""
    given, remarks, left = {cell.source for cell in released.cells}, set(), MAX_WRITTEN
    for cell in cells:
        source = _source(cell)
        if source in given:
            continue
        left -= len(source) if len(source) <= LONGEST else 0
        reason = reason_left_out(source, cell.get("cell_type") == "code" and left >= 0)
        if reason := reason or (OVER_ALL if left < 0 else ""):
            cell["source"] = f"# {reason}"
            remarks.add(cell["source"])
    return remarks
