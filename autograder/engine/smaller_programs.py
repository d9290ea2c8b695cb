"""The examination of programs that a student made smaller: each fails as a long program of `FAILING` fails, and is short.

Both programs run on torch, in processes of their own, and anomaly mode names the node that fails. A student's program has
only public names of torch and a few of Python's functions, so it cannot report a failure that is none.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import io
import re
import secrets
import symtable
import tokenize
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from rushlight.course import predictions

from ..language import phrase
from .observe import Malformed, SubjectDied, SubjectTimedOut, Tree, clean, is_error, result_of, show
from .patients import BUILTINS, BY_TEXT, FORBIDDEN, PRIVATE, Examine, names_of_others, run_on_torch
from .verdict import DISAGREED, PASSED, Verdict

if TYPE_CHECKING:
    from .judge import Judge

FAILING: dict[str, str] = vars(predictions)["FAILING"]
TOKENS: dict[str, int] = vars(predictions)["TOKENS"]
ALLOWED = BUILTINS | {"classmethod", "print", "property", "staticmethod", "super"}
LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
IMPORTS = (ast.Import, ast.ImportFrom)
TORCH = "_torch"  # its name in a program that runs
WORD = r"[\w.,>+-]{0,20}"  # a string in a program: such as "cpu", "mean" or "ij,jk->ik"
LONGEST = 5000  # characters of a program that is looked at: the long ones have 2000
LARGE = 2  # times as many tokens as are small: such a program does not run


class Failure(NamedTuple):
    """How a program fails: the exception's type, the first line of its message without dtypes, sizes and versions, the function
    that raises it, and the node of the graph that anomaly mode names."""

    type: str
    message: str
    place: str
    node: str


PARTS = ("the exception", "the message", "the function that raises it", "the node that fails")  # of a Failure


def count_tokens(program: str) -> int:
    """The number of tokens of a program, without line ends, indentation and comments."""
    tokens = tokenize.generate_tokens(io.StringIO(program).readline)
    return sum(token.type not in LAYOUT for token in tokens)


def plain_script(text: str) -> str:
    """A program that runs: its imports of torch's modules are assignments. Raises ValueError, with the reason, if it imports other
    modules, or uses private names, other functions of Python, or strings that may hold code."""
    script = ast.parse(text)
    for node in ast.walk(script):
        for kinds, reason in FORBIDDEN.items():
            if isinstance(node, kinds) and not isinstance(node, IMPORTS):
                raise ValueError(f"a program has {reason}")
        if isinstance(node, ast.ImportFrom) and any(each.name == "*" for each in node.names):
            raise ValueError("it imports *: a program says which names it imports")
        if isinstance(node, ast.Attribute):
            name = node.attr
            hidden = name.startswith(PRIVATE) or name in BY_TEXT
        else:
            name = _bound(node)
            hidden = name.startswith("__")
        if hidden and name != "__init__":
            raise ValueError(f"it uses {name}: a program uses public names of torch only")
        value = getattr(node, "value", None) if isinstance(node, ast.Constant) else None
        if isinstance(value, bytes) or isinstance(value, str) and not re.fullmatch(WORD, value):
            raise ValueError("a string in it is more than a short word")
    within = "def program():\n    pass\n" + "".join(f"    {line}\n" for line in ast.unparse(script).splitlines())
    (scope,) = symtable.symtable(within, "program", "exec").get_children()
    own = {_bound(node) for node in ast.walk(script)} - vars(builtins).keys()
    for name in names_of_others(scope):
        if name not in ALLOWED | own:
            raise ValueError(f"it uses {name}, which it neither imports nor defines: see the list in the docstring")
    return ast.unparse(_Imports().visit(script))


def _bound(node: ast.AST) -> str:
    """The name that a node of a program binds, other than an import, or nothing."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return name
    return ""


class _Imports(ast.NodeTransformer):
    """Makes each import of torch's names an assignment, because a program gets torch without the modules that torch imports."""

    def visit_Import(self, node: ast.Import) -> list[ast.stmt]:
        return [
            _assignment(each.asname or "torch", each.name if each.asname else "torch") for each in self._public(node)
        ]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> list[ast.stmt]:
        return [_assignment(each.asname or each.name, f"{node.module}.{each.name}") for each in self._public(node)]

    def _public(self, node: ast.Import | ast.ImportFrom) -> Iterator[ast.alias]:
        for each in node.names:
            path = each.name
            if isinstance(node, ast.ImportFrom):
                path = f"{'.' * node.level}{node.module}.{each.name}"
            if not re.fullmatch(r"torch(\.[A-Za-z]\w*)*", path):
                raise ValueError(f"it imports {path}: a program imports names of torch and of its public modules only")
            if not BY_TEXT.isdisjoint(path.split(".")):
                raise ValueError(f"it imports {path}: a program reads no files")
            yield each


def _assignment(name: str, path: str) -> ast.stmt:
    (statement,) = ast.parse(f"{name} = {path.replace('torch', TORCH, 1)}").body
    return statement


def failure_of(script: str) -> Failure | None:
    """How a program fails on torch, or None if it does not. Raises what a subject can bring about."""
    nonce = secrets.token_hex(8)  # the program does not know it
    cell = (
        f"from autograder.engine.student_side import report_failure\nreport_failure({script!r}, {TORCH!r}, {nonce!r})"
    )
    match run_on_torch(cell)["result"]:
        case [known] if known == nonce:
            return None
        case [known, str(kind), str(message), str(place), str(node)] if known == nonce:
            message = re.sub(r"\[(torch\.\w+ \[[\d, ]*\]|[\d, ]*)\]", "[…]", message.partition(" Hint: ")[0])
            return Failure(kind, re.sub(r"\bversion \d+", "version …", message), place, node)
    raise Malformed("the program printed something")


@cache
def failure_of_long(name: str) -> Failure:
    """How the long program of this name fails."""
    failure = failure_of(ast.unparse(_Imports().visit(ast.parse(FAILING[name]))))
    assert failure is not None, name
    return failure


@lru_cache(64)  # three checks ask for the same
def examined(name: str, text: str) -> tuple[bool, str]:
    """Whether a text is small and fails as the long program of this name, and what a verdict says of it."""
    try:
        if len(text) > LONGEST:
            raise ValueError(f"it has more than {LONGEST} characters")
        text = inspect.cleandoc(text) + "\n"
        count, most = count_tokens(text), TOKENS[name]
        if count > LARGE * most:
            return False, phrase(f"it has {count} tokens; at most {most} are small")
        failure, expected = failure_of(plain_script(text)), failure_of_long(name)
    except ValueError as error:
        return False, f"{error}"
    except (SyntaxError, RecursionError, MemoryError, tokenize.TokenError) as error:
        problem = error or type(error).__name__
        return False, phrase(f"it is no program: {problem}")
    except (SubjectDied, SubjectTimedOut, Malformed) as error:
        return False, f"on torch: {error}"
    if failure is None:
        return False, phrase("it does not fail")
    for part, mine, theirs in zip(PARTS, failure, expected):
        if mine != theirs:
            return False, f"it fails, but {part} is another one: {mine or 'none'}; of the long program: {theirs}"
    if count > most:
        return False, phrase(f"it fails as before, and has {count} tokens; at most {most} are small")
    return True, phrase(f"it fails as before, and has {count} tokens")


def shrunk(needed: int) -> Examine:
    """Examine the programs that a student made smaller, by the names of the long ones: at least so many fail as before, and are
    small."""

    def examine(judge: Judge, texts: Tree, case: dict | None) -> Verdict:
        texts = result_of(texts)
        if is_error(texts) or not isinstance(texts, dict) or "dict" not in texts:
            return _says(DISAGREED, show(texts))
        given = {name: text for name, text in texts["dict"] if isinstance(name, str) and isinstance(text, str)}
        told = {
            name: examined(name, given[name]) if name in given else (False, phrase("the exercise returns no text"))
            for name in FAILING
        }
        good, all_of_them = sum(passes for passes, _ in told.values()), len(FAILING)
        message = f"{good} of {all_of_them} programs are small and fail as before"
        if needed < all_of_them:
            return _says(
                PASSED if good >= needed else DISAGREED,
                f"{message}; {needed} {'is' if needed == 1 else 'are'} {'enough' if good >= needed else 'needed'}",
            )
        notes = [f"{name}: {words}" for name, (_, words) in told.items()]
        return _says(PASSED if good >= needed else DISAGREED, message, notes)

    return examine


def _says(outcome: str, message: str, notes: list[str] | None = None) -> Verdict:
    return Verdict("", outcome, message=clean(message), notes=[*map(clean, notes or [])])
