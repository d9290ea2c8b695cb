"""Are the checks sharp enough? Every small mistake that can be made in a reference must be caught by its check.

A *mutant* is the reference of an exercise with one thing wrong: an operator, a constant, a border, a statement left out. It
fills the slot as a student's function would, on top of the other references, and is compared with torch's answers. It must
differ on one of the check's *edges*, which are among the cases of every class. If it differs only on cases that one seed draws,
that is luck: such a case is printed, to be added to the edges. Some mutants compute the same as the reference. They are listed
beside the lab's text in `solutions/`, with a reason each, and must agree on all drawn cases.
"""

from __future__ import annotations

import ast
import copy
import difflib
import faulthandler
import inspect
import io
import linecache
import math
import multiprocessing
import re
import signal
import sys
import textwrap
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain, groupby
from multiprocessing.connection import Connection, wait
from typing import ClassVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from ..course import SOURCES
from ..engine.check import (
    BREAK_IT,
    OF_CLINIC,
    REVIEW,
    Check,
    find,
    function_of,
    is_milestone,
    is_on_torch,
    kind_of,
    registry,
)
from ..engine.exercise import fill
from ..engine.judge import Judge
from ..engine.observe import Tree, difference, encode, receive
from ..engine.subject import answer
from ..model import Lab

with suppress(ImportError):  # Windows has neither this nor forks
    import resource

SEEDS = (1, 2, 3)
PROCESSES, BATCH = 2, 50
CPU_SECONDS, WALL_SECONDS = (2, 12), 60  # for one case. The reference takes milliseconds. A lab on torch has more
MEMORY = 512 << 20  # bytes that a mutant may take beyond what the process has already

# the beginnings of the names of such exercises of the clinic and of phase 15
EXAMINED_AS_TEXTS = ("narrow_", "reproduce_", "mend_", "check_", "test_", "review_", "samples_", "clip_property")
KILLED, ENDED, BY_LUCK, SURVIVED = "killed", "ended", "by luck", "survived"


@dataclass(frozen=True)
class Mutant:
    """A reference with one thing wrong. `change`, the text before and after, names it wherever its line may move."""

    exercise: str
    kind: str
    change: str
    before: str
    after: str

    @property
    def key(self) -> tuple[str, str]:
        return self.exercise, self.change

    def diff(self) -> str:
        old, new = (text.replace("\\n", "\n").splitlines() for text in (self.before, self.after))
        lines = difflib.unified_diff(old, new, n=1, lineterm="")
        return "\n".join(list(lines)[3:])

    def compiled(self) -> Callable:
        """The mutant as a function that sees what the reference sees."""
        made: dict[str, Callable] = {}
        code = compile(self.after, f"<{self.exercise}: {self.change}>", "exec")
        space = function_of(self.exercise).__globals__
        space |= {called.__name__: called for called in (same_argument, *chain(*RARE.values()))}
        exec(code, space, made)
        return made.popitem()[1]


# What can go wrong: each rule yields replacements for a node ---------------------------------------------------------

Rule = Callable[[ast.AST, list[str]], Iterator[ast.AST]]

_ARITHMETIC = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Add, ast.FloorDiv),
    ast.FloorDiv: (ast.Mult, ast.Div),
    ast.Mod: (ast.FloorDiv,),
    ast.Div: (ast.Mult,),
    ast.Pow: (ast.Mult,),
    ast.BitOr: (ast.BitAnd,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitXor: (ast.BitOr,),
    ast.LShift: (ast.RShift,),
    ast.RShift: (ast.LShift,),
}
_ORDERED = (ast.Sub, ast.FloorDiv, ast.Mod, ast.Div, ast.Pow, ast.LShift, ast.RShift)
_NEIGHBOURS = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq, ast.LtE, ast.GtE),
    ast.NotEq: (ast.Eq, ast.Lt, ast.Gt),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
_IDENTITY = {ast.Eq: (ast.Is,), ast.NotEq: (ast.IsNot,), ast.Is: (ast.Eq,), ast.IsNot: (ast.NotEq,)}
_SINGLE = re.compile(r"([A-Z]{3}\w*|NotImplemented|category|float\d+|bool_)$")  # it is equal to nothing else
_FINAL = {
    "FunctionType",
    "MethodType",
    "BuiltinFunctionType",
    "GeneratorType",
    "range",
    "bool",
}  # they have no subclasses
_OTHER_FUNCTION = {"max": "min", "min": "max", "any": "all", "all": "any"}
_OTHER_METHOD = {"append": "insert(0, {})", "insert": "append({})", "pop": "pop(0)"}
_OTHER_TEXT = {
    "partition": "rpartition",
    "rpartition": "partition",
    "split": "splitlines",
    "find": "rfind",
    "rfind": "find",
}
_OTHER_MATCH = {"fullmatch": "match", "search": "match"}
_COPIES = {"clone", "contiguous", "copy", "detach", "strip", "lstrip", "rstrip"}
_HAVE_DEFAULTS = {"get", "getattr", "next", "pop"}
_ORDERLESS = {"max", "min", "zip"}  # zip: exchanging the two names that it fills is the same mistake
_MUTABLE = re.compile(r"Tensor|list|dict|set\b|Any|object")
_INSTEAD_OF = {"Sequence": ("list", "tuple"), "Mapping": ("dict",)}
_ERRORS = ("IndexError", "RuntimeError", "ValueError")
_DIFFERENTIABLE = re.compile(  # what a contract says of a result
    r"differentiated|[Gg]radients? (of it )?(reach|go through)|so that autograd|with the history"
)
_GRAD_MODE = re.compile(r"\b(no_grad|enable_grad|set_grad_enabled|inference_mode)\b")


def arithmetic(node: ast.AST, parameters: list[str]) -> Iterator[ast.AST]:
    match node:
        case ast.BinOp(left=left, op=op, right=right):
            yield from (ast.BinOp(left, other(), right) for other in _ARITHMETIC.get(type(op), ()))
            yield from (left, right)
            if isinstance(op, ast.FloorDiv):
                yield _expression(f"int({ast.unparse(ast.BinOp(left, ast.Div(), right))})")
            if isinstance(op, _ORDERED) or isinstance(op, ast.Add) and _joins(node):
                yield ast.BinOp(right, op, left)
        case ast.AugAssign(target=target, op=op, value=value):
            yield from (ast.AugAssign(target, other(), value) for other in _ARITHMETIC.get(type(op), ()))
            yield ast.Assign([target], value)
        case ast.UnaryOp(op=ast.USub() | ast.Invert(), operand=operand):
            yield operand


def comparison(node: ast.AST, parameters: list[str]) -> Iterator[ast.AST]:
    if not isinstance(node, ast.Compare):
        return
    for i, op in enumerate(node.ops):
        right = node.comparators[i]
        is_single = isinstance(right, ast.Constant) or _SINGLE.search(ast.unparse(right))
        for other in _NEIGHBOURS[type(op)] + (() if is_single else _IDENTITY.get(type(op), ())):
            yield ast.Compare(node.left, [*node.ops[:i], other(), *node.ops[i + 1 :]], node.comparators)
    match node:
        case ast.Compare(ops=[ast.Is()], comparators=[ast.Constant(value=None)]):
            yield ast.UnaryOp(ast.Not(), node.left)
        case ast.Compare(ops=[ast.IsNot()], comparators=[ast.Constant(value=None)]):
            yield _expression(f"bool({ast.unparse(node.left)})")
    if len(node.ops) == 2:
        yield ast.Compare(node.left, node.ops[:1], node.comparators[:1])
        yield ast.Compare(node.comparators[0], node.ops[1:], node.comparators[1:])


def constant(node: ast.AST, parameters: list[str]) -> Iterator[ast.AST]:
    match node:
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield from map(ast.Constant, dict.fromkeys([value + 1, value - 1, -value, 0, 1]))
        case ast.Constant(value=None):
            yield ast.Constant(False)


def condition(node: ast.AST, parameters: list[str]) -> Iterator[ast.AST]:
    match node:
        case ast.If() | ast.IfExp() | ast.While():
            if not isinstance(node.test, ast.Compare) or len(node.test.ops) > 1:  # else `comparison` has its opposite
                yield _with(node, test=_negated(node.test))
            if not isinstance(node, ast.While):
                yield _with(node, test=ast.Constant(True))
            if isinstance(node, ast.IfExp) or isinstance(node, ast.If) and node.orelse:
                yield _with(node, test=ast.Constant(False))
        case ast.comprehension(ifs=[test, *_]):
            yield from (_with(node, ifs=[]), _with(node, ifs=[_negated(test)]))
        case ast.BoolOp(op=op, values=values):
            yield _with(node, op=ast.Or() if isinstance(op, ast.And) else ast.And())
            yield from (_with(node, values=values[:i] + values[i + 1 :]) for i in range(len(values)))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand


def call(node: ast.AST, parameters: list[str]) -> Iterator[ast.AST]:
    if not isinstance(node, ast.Call):
        return
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    arguments = node.args
    if name not in _ORDERLESS:
        yield from (_with(node, args=swapped) for swapped in _exchanged(arguments))
    if name in _OTHER_FUNCTION:
        yield _with(node, func=ast.Name(_OTHER_FUNCTION[name], ast.Load()))
    if name and name != "tuple":  # of every kind of sequence the checks see a list
        yield from (argument for argument in arguments if not isinstance(argument, ast.Starred))
    yield from (_with(node, keywords=node.keywords[:i] + node.keywords[i + 1 :]) for i in range(len(node.keywords)))
    if isinstance(node.func, ast.Attribute) and node.func.attr in _OTHER_METHOD:
        last = ast.unparse(arguments[-1]) if arguments else ""
        yield _expression(f"{ast.unparse(node.func.value)}.{_OTHER_METHOD[node.func.attr].format(last)}")
    if name == "range":
        yield from (_with(node, args=[*arguments[:-1], _plus(arguments[-1], by)]) for by in (1, -1))
    if getattr(node.func, "attr", name) in _HAVE_DEFAULTS and len(arguments) > 1:
        yield _with(node, args=arguments[:-1])
    if name == "isinstance":
        yield from _other_types(node)


def _other_types(node: ast.Call) -> Iterator[ast.AST]:
    """Not its subclasses, not all of the types, or a type for an abstract one."""
    value, types = node.args
    if isinstance(types, ast.Tuple):
        yield from (
            _with(node, args=[value, _with(types, elts=[*types.elts[:i], *types.elts[i + 1 :]])])
            for i in range(len(types.elts))
        )
    elif ast.unparse(types) not in _FINAL:
        yield _expression(f"type({ast.unparse(value)}) is {ast.unparse(types)}")
    for other in _INSTEAD_OF.get(ast.unparse(types), ()):
        yield _with(node, args=[value, ast.Name(other, ast.Load())])


def text(node: ast.AST, parameters: list[str]) -> Iterator[ast.AST]:
    """Replace a method of a text by one that does nearly the same. Leave out a copy or a strip."""
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr=name), args=arguments):
            if name in _COPIES:
                yield value
            if name in _OTHER_MATCH and arguments:
                yield _with(node, func=_with(node.func, attr=_OTHER_MATCH[name]))
            if name in _OTHER_TEXT:
                yield _with(node, func=_with(node.func, attr=_OTHER_TEXT[name]))
            if name == "split" and not arguments:
                yield _with(node, args=[ast.Constant(" ")])
        case ast.List(elts=[ast.Starred(value=value)]) | ast.Tuple(elts=[ast.Starred(value=value)]):
            yield value


def way_out(node: ast.AST, parameters: list[str]) -> Iterator[ast.AST]:
    """Run clean-up code only if the block ends without an exception. Do not catch an exception, or catch only `Exception`."""
    match node:
        case ast.Try(body=body, handlers=handlers, orelse=rest, finalbody=last):
            if last and handlers:
                yield _in_place([_with(node, finalbody=[]), *last])
            elif last:
                yield _in_place([*body, *last])
            if handlers:
                yield _in_place([*body, *rest, *last])
        case ast.With(items=items, body=body):
            for i in range(len(items)):
                yield _with(node, items=[*items[:i], *items[i + 1 :]]) if items[1:] else _in_place(body)
        case ast.ExceptHandler(type=None | ast.Name(id="BaseException")):
            yield _with(node, type=ast.Name("Exception", ast.Load()))
        case ast.ExceptHandler(type=ast.Tuple(elts=types)):
            yield from (_with(node, type=one) for one in types)


def _in_place(body: list[ast.stmt]) -> ast.If:
    """One statement that does what these do."""
    return ast.If(ast.Constant(True), body, [])


def border(node: ast.AST, parameters: list[str]) -> Iterator[ast.AST]:
    match node:
        case ast.Slice():
            for name in ("lower", "upper", "step"):
                if (value := getattr(node, name)) is not None:
                    yield _with(node, **{name: None})
                    yield from (_with(node, **{name: _plus(value, by)}) for by in (1, -1))
        case ast.Subscript(slice=ast.Name() | ast.BinOp() as index):  # `constant` changes the others
            yield from (_with(node, slice=_plus(index, by)) for by in (1, -1))


def exchange(node: ast.AST, parameters: list[str]) -> Iterator[ast.AST]:
    """Neighbours in a tuple are exchanged: in an assignment, a loop's targets, a result. (`x in (a, b)` has no order.)"""
    if isinstance(node, ast.Tuple) and not getattr(node, "orderless", False):
        yield from (_with(node, elts=swapped) for swapped in _exchanged(node.elts))


def parameter(node: ast.AST, parameters: list[str]) -> Iterator[ast.AST]:
    """One argument of the function for another."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in parameters:
        others = [name for name in parameters if name != "self"]
        if node.id != "self" and len(others) > 1:
            yield ast.Name(others[(others.index(node.id) + 1) % len(others)], ast.Load())


def statement(node: ast.AST, parameters: list[str]) -> Iterator[ast.AST]:
    if not isinstance(node, ast.stmt):
        return
    if not (isinstance(node, ast.If) and len(node.body) == 1 and not node.orelse):  # else that one is dropped instead
        yield ast.Pass()
    match node:
        case ast.Continue():
            yield ast.Break()
        case ast.For() | ast.While():
            yield _with(node, body=[*node.body, ast.Break()])


def result(node: ast.AST, parameters: list[str]) -> Iterator[ast.AST]:
    if isinstance(node, ast.Return):
        yield from (ast.Return(ast.Name(name, ast.Load())) for name in parameters)
        yield ast.Return(ast.Constant(None))
        alike = getattr(node, "alike", ())
        if alike and ast.unparse(node.value) not in alike:
            yield ast.Return(_expression(f"same_argument({', '.join([ast.unparse(node.value), *alike])})"))


def same_argument(result: object, *arguments: object) -> object:
    """The result, or an argument that is as good: what a function returns that makes nothing new then."""
    return next((argument for argument in arguments if _looks_like(argument, result)), result)


def _looks_like(argument: object, result: object) -> bool:
    if type(argument) is not type(result) or isinstance(
        result, (tuple, str, bytes, int, float)
    ):  # which are as good as new
        return False
    try:
        if hasattr(result, "storage_offset"):
            return _described(argument) == _described(result)
        return isinstance(result, (list, dict, set)) and repr(argument) == repr(result)
    except Exception:  # a fake tensor has no numbers
        return False


def _described(tensor) -> tuple:
    metadata = tensor.shape, tensor.stride(), tensor.storage_offset(), tensor.dtype, tensor.requires_grad
    return *metadata, repr(tensor.detach().tolist())


def error(node: ast.AST, parameters: list[str]) -> Iterator[ast.AST]:
    if isinstance(node, ast.Raise):
        yield from (_with(node, exc=_expression(f"{name}(...)")) for name in _ERRORS)


_IN_CPP = [  # patterns, and replacements for the text that they find
    (r" (\+|-|\*|/) ", {"+": "-", "-": "+", "*": "/", "/": "*"}),
    (r" (==|!=|<|<=|>|>=) ", {"==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">"}),
    (r" (&&|\|\|) ", {"&&": "||", "||": "&&"}),
    (r" (\+=|=) ", {"+=": "=", "=": "+="}),
    (r"(?<![\w.])(0|1|-1)(?![\w.'])", {"0": "1", "1": "0", "-1": "0"}),
]


def cpp(node: ast.AST, parameters: list[str]) -> Iterator[ast.AST]:
    """One operator or number of a C++ text that a function returns."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and "#include" in node.value:
        for pattern, others in _IN_CPP:
            for match in re.finditer(pattern, node.value):
                if "//" not in node.value[node.value.rfind("\n", 0, match.start()) : match.start()]:
                    start, end = match.span(1)
                    yield ast.Constant(node.value[:start] + others[match[1]] + node.value[end:])


RULES: list[Rule] = [
    *(arithmetic, comparison, constant, condition, call, border),
    *(exchange, parameter, statement, result, error, text, way_out, cpp),
]
RARE: dict[Rule, tuple[Callable, ...]] = {}  # in few exercises; each with the functions that its mutants call


def rare(*called: Callable) -> Callable[[Rule], Rule]:
    """Add a rule to `RARE`. It makes no line of the lock stale but those of the exercises in which it makes a mutant."""

    def add(rule: Rule) -> Rule:
        RARE[rule] = called
        return rule

    return add


@rare()
def cuda(node: ast.AST, parameters: list[str]) -> Iterator[ast.AST]:
    """One operator or number of the text of a kernel, or of a function for kernels, that a function returns."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.search("__(global|device)__", node.value):
        end = "\n//#include"  # by which `cpp` knows a text of its own
        for mutant in cpp(ast.Constant(node.value + end), parameters):
            yield ast.Constant(mutant.value.removesuffix(end))


_IN_TRITON = [
    (r" (\+|-|\*|/|//|%) ", {"+": "-", "-": "+", "*": "//", "/": "*", "//": "%", "%": "//"}),
    (r" (==|!=|<|<=|>|>=) ", {"==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">"}),
    (r" (&|\+=) ", {"&": "|", "+=": "="}),
    (r"(?<![\w.])(0|1|0\.0)(?![\w.])", {"0": "1", "1": "0", "0.0": "1.0"}),
    (r'other=(-float\("inf"\))', {'-float("inf")': "0.0"}),
    (r"tl\.(max|min|maximum|minimum)\(", {"max": "min", "min": "max", "maximum": "minimum", "minimum": "maximum"}),
]


@rare()
def triton(node: ast.AST, parameters: list[str]) -> Iterator[ast.AST]:
    """One operator, number or function of a text in Triton that a function returns."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and "@triton.jit" in node.value:
        for pattern, others in _IN_TRITON:
            for match in re.finditer(pattern, node.value):
                start, end = match.span(1)
                yield ast.Constant(node.value[:start] + others[match[1]] + node.value[end:])


@rare()
def link(node: ast.AST, parameters: list[str]) -> Iterator[ast.AST]:
    """Leave out one call of a chain of calls with texts: `test.check("a").check_not("b")`."""
    if _is_call_with_texts(node) and _is_call_with_texts(node.func.value):
        yield node.func.value
        yield _with(node, func=_with(node.func, value=node.func.value.func.value))


def _is_call_with_texts(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(), args=[_, *_] as arguments, keywords=[]):
            return all(isinstance(argument, ast.Constant) and isinstance(argument.value, str) for argument in arguments)
    return False


class left_without_error:
    """A context manager that is exited only if its block raises no error."""

    kept: ClassVar[list] = []  # a generator that is collected would run its clean-up code

    def __init__(self, context: AbstractContextManager):
        self.context = context

    def __enter__(self) -> object:
        self.kept.append(self.context)
        return self.context.__enter__()

    def __exit__(self, kind: type | None, *error: object) -> None:
        if kind is None:
            self.context.__exit__(kind, *error)


@contextmanager
def undone(context: AbstractContextManager) -> Iterator[object]:
    """A grad mode, after which grad mode is the opposite, whatever it was before."""
    framework = sys.modules[type(context).__module__.partition(".")[0]]
    with context as value:
        inside = framework.is_grad_enabled()
        yield value
    framework.set_grad_enabled(not inside)


@rare(left_without_error, undone)
def undo(node: ast.AST, parameters: list[str]) -> Iterator[ast.AST]:
    """State gets a fixed value instead of the value that it had before. Or it stays as it is if the caller's code, an argument
    that the block calls, raises an error."""
    match node:
        case ast.With(items=[ast.withitem(context_expr=context)], body=body):
            entered = ast.unparse(context)
            if _called_in(body) & {*parameters}:
                yield _with(node, items=[ast.withitem(_expression(f"left_without_error({entered})"))])
            if _GRAD_MODE.search(entered):
                yield _with(node, items=[ast.withitem(_expression(f"undone({entered})"))])
        case ast.Name() if getattr(node, "restores", False):
            yield from (ast.Constant(True), ast.Constant(False))


def _called_in(body: list[ast.stmt]) -> set[str]:
    """The names that calls begin with: `model` of `model.head(x)`."""
    called = (node.func for node in ast.walk(_in_place(body)) if isinstance(node, ast.Call))
    return {ast.unparse(function).partition(".")[0] for function in called}


def detached(result: object) -> object:
    """A result whose tensors have no history."""
    if isinstance(result, dict):
        return {key: detached(value) for key, value in result.items()}
    if isinstance(result, (list, tuple)) and not hasattr(result, "_fields"):
        return type(result)(map(detached, result))
    return result.detach() if getattr(result, "requires_grad", False) is True else result


@rare(detached)
def history(node: ast.AST, parameters: list[str]) -> Iterator[ast.AST]:
    """Return a tensor without its history, though the contract says that gradients reach the arguments."""
    if isinstance(node, ast.Return) and getattr(node, "differentiable", False):
        yield ast.Return(_expression(f"detached({ast.unparse(node.value)})"))


def _with(node: ast.AST, **fields) -> ast.AST:
    """A copy of a node with other fields."""
    node = copy.copy(node)
    for name, value in fields.items():
        setattr(node, name, value)
    return node


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _negated(test: ast.expr) -> ast.expr:
    is_negation = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    return test.operand if is_negation else ast.UnaryOp(ast.Not(), test)


def _joins(node: ast.BinOp) -> bool:
    """Whether this + seems to join sequences, so that the order matters."""
    return any(isinstance(part, (ast.List, ast.Tuple)) for part in ast.walk(node))


def _plus(value: ast.expr, by: int) -> ast.expr:
    return ast.BinOp(value, ast.Add() if by > 0 else ast.Sub(), ast.Constant(abs(by)))


def _exchanged(items: list) -> Iterator[list]:
    for i in range(len(items) - 1):
        yield [*items[:i], items[i + 1], items[i], *items[i + 2 :]]


# The mutants of an exercise ------------------------------------------------------------------------------------------


class _Plain(ast.NodeTransformer):
    """Only what is looked at: no annotations, no wording of errors; -1 as one constant; what has an order and what not."""

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return _with(node, annotation=None)

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        return _with(node, exc=_with(node.exc, args=[ast.Constant(...)])) if isinstance(node.exc, ast.Call) else node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            return ast.Constant(-node.operand.value)
        return self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        for op, container in zip(node.ops, node.comparators):
            if isinstance(op, (ast.In, ast.NotIn)):
                container.orderless = True
        return self.generic_visit(node)


def _plain(function: ast.FunctionDef) -> ast.FunctionDef:
    if contract := " ".join((ast.get_docstring(function) or "").split()):
        function.body = function.body[1:]
    if function.returns is not None:
        same = ast.unparse(function.returns)
        alike = [
            argument.arg
            for argument in function.args.args
            if argument.annotation and ast.unparse(argument.annotation) == same
        ]
        for node in _own_nodes(function):
            node.alike = alike if _MUTABLE.search(same) else ()
            node.differentiable = "Tensor" in same and _DIFFERENTIABLE.search(contract)
    _mark_restored(function)
    function.decorator_list, function.returns = [], None
    return _Plain().visit(function)


def _mark_restored(function: ast.FunctionDef) -> None:
    """Mark the name of a saved state where the state is restored: `x.mode = before` or `x.set_mode(before)`."""
    saved: set[str] = set()
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                pairs = zip(targets, values)
            case ast.Assign(targets=[target], value=value):
                pairs = [(target, value)]
            case _:
                continue
        saved |= {
            target.id for target, value in pairs if isinstance(target, ast.Name) and isinstance(value, ast.Attribute)
        }
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=[ast.Attribute()], value=ast.Name(id=name) as restored):
                restored.restores = name in saved
            case ast.Expr(value=ast.Call(args=[ast.Name(id=name) as restored])):
                restored.restores = name in saved


def _own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function that belong to no function within it."""
    for node in ast.iter_child_nodes(function):
        if not isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            yield node
            yield from _own_nodes(node)


def mutants(exercise: str, rules: Sequence[Rule] = ()) -> list[Mutant]:
    """Every mutant of an exercise's reference, each once, in the order of its text. Or only those of some rules."""
    function = _plain(ast.parse(textwrap.dedent(inspect.getsource(function_of(exercise)))).body[0])
    parameters = [argument.arg for argument in [*function.args.args, *function.args.kwonlyargs]]
    before = ast.unparse(function)
    by_text: dict[str, Mutant] = {}
    times: Counter[str] = Counter()
    for node, put in replaceable_nodes(ast.Module(function.body)):  # the signature is given, and not looked at
        for rule in rules or (*RULES, *RARE):
            for new in rule(node, parameters):
                put(new)
                after = ast.unparse(ast.fix_missing_locations(function))
                put(node)
                if after not in by_text and after != before:
                    change = _change(before, after)
                    times[change] += 1
                    change += f" ({times[change]})" if times[change] > 1 else ""
                    by_text[after] = Mutant(exercise, rule.__name__, change, before, after)
    return list(by_text.values())


def mutants_to_try(exercise: str) -> list[Mutant]:
    """The mutants of an exercise whose checks compare results.

    A text that is examined has none, and no samples or cases have one. With a change, a program may show its fault as well, and a
    check, a property, samples or cases may catch as much. A mend is decided by the checks of another exercise, whose mutants are
    tried there.
    """
    is_text = exercise.startswith(OF_CLINIC) and exercise.rpartition(".")[2].startswith(EXAMINED_AS_TEXTS)
    return [] if is_text or kind_of(exercise) in (BREAK_IT, REVIEW) else mutants(exercise)


def replaceable_nodes(parent: ast.AST) -> Iterator[tuple[ast.AST, Callable[[ast.AST], None]]]:
    """Every node below `parent` in the order of the text, and a function that replaces it."""
    for field, value in ast.iter_fields(parent):
        for key, node in enumerate(value) if isinstance(value, list) else [(field, value)]:
            if isinstance(node, ast.AST):
                yield node, partial(value.__setitem__ if isinstance(value, list) else partial(setattr, parent), key)
                yield from replaceable_nodes(node)


def _change(before: str, after: str) -> str:
    """`line before -> line after`: what is left when the lines that both begin and end with are taken away."""
    old, new = (text.replace("\\n", "\n").splitlines() for text in (before, after))  # a C++ text is one line of Python
    for end in (0, -1):
        while old and new and old[end] == new[end]:
            del old[end], new[end]
    return " -> ".join(" / ".join(map(str.strip, lines)) or "nothing" for lines in (old, new))


def equivalents(lab: str) -> dict[tuple[str, str], str]:
    """The mutants of a lab that compute what the reference computes, (exercise, change), and why."""
    path = SOURCES / lab / "equivalent.toml"
    listed = tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return {(exercise, change): why for exercise, changes in listed.items() for change, why in changes.items()}


# Running them --------------------------------------------------------------------------------------------------------

Trial = list[tuple[str, dict, Tree]]  # the name of a check, a case, and torch's answer


@dataclass(frozen=True)
class Outcome:
    mutant: Mutant
    what: str
    check: str = ""
    case: dict | None = None  # on which it differs from torch


class Unexamined(Exception):
    """Raised if a check cannot examine the answer of a mutant: this is not a mistake that it has caught."""


def run(names: Sequence[str]) -> Iterator[Outcome]:
    """The outcome of each mutant of these exercises, as soon as it is known: first on the edges, then, of the survivors, on the
    drawn cases."""
    judges, left = [Judge(seed) for seed in SEEDS], []
    for outcome in _tried([m for name in names for m in mutants_to_try(name)], partial(_edges, judges[0])):
        if outcome.what == SURVIVED:
            left.append(outcome.mutant)
        else:
            yield outcome
    trial_of = partial(_drawn, judges)
    for outcome in _tried(left, trial_of):
        if outcome.what == ENDED:  # no edge did that: on a busy machine a process may end for another reason
            (outcome,) = _tried([outcome.mutant], trial_of)
        yield outcome if outcome.what == SURVIVED else replace(outcome, what=BY_LUCK)


def graded_checks(exercise: str) -> list[Check]:
    """The checks of an exercise that carry points."""
    return [check for check in registry().values() if not is_milestone(check.name) and check.exercise == exercise]


def _edges(judge: Judge, exercise: str) -> Trial:
    """The edges of the checks, with torch's answers. An answer that is examined is examined once, and torch's is not compared."""
    checks = graded_checks(exercise)
    compared = [check for check in checks if check.examine is None]
    answered = ((check, zip(check.edges, judge.answers(check, check.edges))) for check in compared)
    examined: Trial = [(check.name, check.edges[0], None) for check in checks if check.examine is not None]
    return examined + [(check.name, _sent(case), theirs) for check, pairs in answered for case, theirs in pairs]


def _drawn(judges: list[Judge], exercise: str) -> Trial:
    """The very cases that a class gets, for each of the seeds. A check that examines an answer draws none."""
    return [
        (check.name, _sent(case), theirs)
        for check in graded_checks(exercise)
        if check.examine is None
        for judge in judges
        for case, theirs in zip(*judge.drawn(check))
    ]


def _sent(case: dict) -> dict:
    """A case as a subject receives it: large numbers that are equal are not the same object."""
    return receive(io.BytesIO(encode(case)))


def _tried(some: list[Mutant], trial_of: Callable[[str], Trial]) -> Iterator[Outcome]:
    """Try mutants, a batch in each process. A mutant that loops or dies ends its process, and the rest of its batch goes on."""
    trial_of = cache(trial_of)
    groups = [list(group) for _, group in groupby(some, key=lambda mutant: mutant.exercise)]
    waiting = [group[i : i + BATCH] for group in groups for i in range(0, len(group), BATCH)]
    running: dict[Connection, list[Mutant]] = {}
    while waiting or running:
        while waiting and len(running) < PROCESSES:
            batch = waiting.pop(0)
            running[_start(batch, trial_of(batch[0].exercise))] = batch
        for connection in wait(list(running)):
            try:
                outcome = connection.recv()
                if isinstance(outcome, Unexamined):
                    raise outcome
                yield outcome
                running[connection].pop(0)
            except EOFError:
                connection.close()
                if batch := running.pop(connection):
                    yield Outcome(batch.pop(0), ENDED)
                waiting += [batch] if batch else []


def _start(batch: list[Mutant], trial: Trial) -> Connection:
    receiver, sender = multiprocessing.Pipe(duplex=False)
    # by fork: the framework, the cases and torch's answers are there already
    multiprocessing.get_context("fork").Process(target=_try, args=(batch, trial, sender), daemon=True).start()
    sender.close()
    return receiver


def _try(batch: list[Mutant], trial: Trial, sender: Connection) -> None:
    """In a process of its own: for each mutant, a case on which it differs from torch. A case that killed a mutant is tried
    first on the next."""
    _limit_memory()
    multiprocessing.current_process()._config["daemon"] = False  # type: ignore[attr-defined]  # a loader's workers are its children
    faulthandler.disable()  # that a mutant dies is an outcome
    trial = list(trial)
    for mutant in batch:
        function, lines = mutant.compiled(), mutant.after.splitlines(True)
        file = function.__code__.co_filename
        linecache.cache[file] = len(mutant.after), None, lines, file  # `inspect` reads its text there
        fill(function_of(mutant.exercise), function)
        try:
            killing = next((i for i, one in enumerate(trial) if _differs(*one)), None)
        except Unexamined as error:
            return sender.send(error)
        if killing is not None:
            trial.insert(0, trial.pop(killing))
        sender.send(Outcome(mutant, SURVIVED) if killing is None else Outcome(mutant, KILLED, *trial[0][:2]))


def _differs(name: str, case: dict, theirs: Tree) -> bool:
    """Whether a case shows it, in the time that one may take: the kernel ends a mutant that loops or waits."""
    limit = math.ceil(time.process_time()) + CPU_SECONDS[is_on_torch(find(name).lab)]
    resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.getrlimit(resource.RLIMIT_CPU)[1]))
    signal.alarm(WALL_SECONDS)
    if (examine := find(name).examine) is not None:
        text = answer(name, [case])[0]
        try:
            return not examine(Judge(SEEDS[0]), text, None).passed
        except Exception as error:
            raise Unexamined(f"{name}: {error!r}") from error
    return difference(answer(name, [case])[0], theirs) is not None


def _limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":  # elsewhere its present use is not known
        with open("/proc/self/statm") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
        _, most = resource.getrlimit(resource.RLIMIT_AS)  # a sandbox that examines an answer may take more
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, most))


# Reporting -----------------------------------------------------------------------------------------------------------


def report(lab: Lab, out: Console) -> int:
    """Run the mutants of a lab and print their outcomes. Returns 1 if a mutant passes unlisted, or the list is wrong."""
    outcomes, listed = _with_progress(lab, out), equivalents(lab.name)
    _print_table(lab, outcomes, listed, out)
    wrong = unexpected(outcomes, listed)
    for outcome in wrong:
        mutant = outcome.mutant
        out.print(f"\n[bold]{mutant.exercise}[/bold] ({mutant.kind}): {outcome.what}")
        out.print(mutant.diff(), markup=False)
        if outcome.case is not None:
            out.print(f"add to the edges of {outcome.check}: {outcome.case}", markup=False, soft_wrap=True)
        else:
            out.print(f"its name: {mutant.change}", markup=False, soft_wrap=True)
    stale = listed.keys() - {outcome.mutant.key for outcome in outcomes if outcome.what == SURVIVED}
    for exercise, change in sorted(stale):
        out.print(f"\nlisted as equivalent, but killed or no longer there: {exercise}: {change}", markup=False)
    return 1 if wrong or stale else 0


def unexpected(outcomes: list[Outcome], listed: dict[tuple[str, str], str]) -> list[Outcome]:
    """The mutants that a class could hand in and pass with."""
    return [o for o in outcomes if o.what == BY_LUCK or o.what == SURVIVED and o.mutant.key not in listed]


def _with_progress(lab: Lab, out: Console) -> list[Outcome]:
    columns = (TextColumn("{task.description:<30}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    total, outcomes = sum(len(mutants_to_try(exercise)) for exercise in lab.exercises), []
    with Progress(*columns, console=out, transient=True, auto_refresh=False) as bar:  # no thread: this process forks
        task = bar.add_task("starting", total=total)
        for outcome in run(lab.exercises):
            outcomes.append(outcome)
            bar.update(task, advance=1, description=outcome.mutant.exercise, refresh=True)
    return outcomes


def _print_table(lab: Lab, outcomes: list[Outcome], listed: dict, out: Console) -> None:
    rows = {exercise: Counter() for exercise in lab.exercises}
    for outcome in outcomes:
        known = outcome.what == SURVIVED and outcome.mutant.key in listed
        rows[outcome.mutant.exercise].update(["mutants", "listed" if known else outcome.what])
    sums = sum(rows.values(), Counter())
    table = Table(title=f"Mutants of lab {lab}", title_justify="left", box=None, pad_edge=False, show_footer=True)
    table.add_column("exercise", "all", no_wrap=True)
    headings = ("mutants", KILLED, ENDED, "listed", BY_LUCK, SURVIVED)
    for heading in headings:
        table.add_column(heading, str(sums[heading]), justify="right")
    for exercise, row in rows.items():
        table.add_row(exercise, *(str(row[heading] or "·") for heading in headings))
    out.print(table)
