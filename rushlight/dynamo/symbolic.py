"""The symbolic interpreter: runs a function's instructions on variables, and records what happens to tensors.

A `Frame` is a function being run: its locals, its stack, the next instruction. `handlers` has a function for each instruction of
the small set. The outermost frame, `Root`, may start anywhere in the function, and may stop before an instruction that cannot be
captured; a function that is called is run in a frame of its own, `inline`, and can only be captured whole. In PyTorch:
`torch/_dynamo/symbolic_convert.py`, `InstructionTranslator`, `InliningInstructionTranslator`.
"""

from __future__ import annotations

from types import CodeType
from typing import Any

from rushlight.dynamo import calls, handlers
from rushlight.dynamo.bytecode import MIRRORED, OPERATORS, PLAIN, UNARY, instructions_of
from rushlight.dynamo.output import Output
from rushlight.dynamo.values import raised
from rushlight.dynamo.variables import (
    CellVariable,
    Constant,
    DictVariable,
    ExceptionVariable,
    FunctionVariable,
    GradModeVariable,
    IteratorVariable,
    ListVariable,
    MethodVariable,
    ObjectVariable,
    Raised,
    SetVariable,
    TensorVariable,
    TupleVariable,
    Unsupported,
    Variable,
)

__all__ = ["Frame", "Root", "binary_op", "truth", "inline"]

CONTAINERS = (ListVariable, TupleVariable, DictVariable, SetVariable)
ALWAYS_TRUE = (FunctionVariable, MethodVariable, ExceptionVariable, IteratorVariable, GradModeVariable)
MOST_INSTRUCTIONS = 200_000  # of one capture: a loop that long is better left to Python


class Break(Exception):  # noqa: N818  (it ends a capture, as a Return does)
    """The outermost frame stops before its next instruction."""


# ------------------------------------------------------------------------------------------------------------
# What instructions do to values


def binary_op(frame: Frame, symbol: str, left: Variable, right: Variable) -> Variable:
    """What `left symbol right` gives while a graph is captured; `symbol` is a key of `OPERATORS`, which has the functions.

    1. If one of the two is a `TensorVariable`, the operation becomes a node of the graph: what
       `calls.call_in_graph(frame, OPERATORS[symbol], [left, right], {})` gives. Where the left one is none, an operator that
       works in place is taken for the plain one, `PLAIN[symbol]`, and a comparison is turned round, as Python does when it
       asks the right operand: `MIRRORED[symbol]` of right and left. Both are dicts by symbol.
    2. `+=` with a `ListVariable` on the left: it gets all that is in the right one too, `calls.items_of(frame, right)`, and is
       the result; before it is changed `frame.output.changed(left)` is told.
    3. If both are known, all through, Python computes the result: it is what `calls.fold(frame, OPERATORS[symbol], [left, right])`
       gives, which also takes care of errors. It raises Unsupported if one of the two is not known.
    4. `+` of two `ListVariable`s, `+` and `+=` of two `TupleVariable`s: a new one with the items of both.
    5. `*` of a `ListVariable` or a `TupleVariable` and a `Constant`, in either order: a new one that repeats the items.

    Raises:
        Unsupported: for anything else.

    Source: `torch/_dynamo/variables/builtin.py`, `BuiltinVariable._binop_handlers`.
    """
    if isinstance(left, TensorVariable):
        return calls.call_in_graph(frame, OPERATORS[symbol], [left, right], {})
    if isinstance(right, TensorVariable):
        if symbol in MIRRORED:
            return calls.call_in_graph(frame, OPERATORS[MIRRORED[symbol]], [right, left], {})
        return calls.call_in_graph(frame, OPERATORS[PLAIN.get(symbol, symbol)], [left, right], {})
    if symbol == "+=" and isinstance(left, ListVariable):
        more = calls.items_of(frame, right)
        frame.output.changed(left)
        left.items.extend(more)
        return left
    try:
        return calls.fold(frame, OPERATORS[symbol], [left, right])
    except Unsupported:
        match left, right:
            case ListVariable(), ListVariable() if symbol == "+":
                return ListVariable(left.items + right.items)
            case TupleVariable(), TupleVariable() if symbol in ("+", "+="):
                return TupleVariable(left.items + right.items)
            case ListVariable() | TupleVariable(), Constant() if symbol == "*":
                return type(left)(left.items * right.value)
            case Constant(), ListVariable() | TupleVariable() if symbol == "*":
                return type(right)(left.value * right.items)
        raise


def truth(frame: Frame, value: Variable) -> bool:
    """Whether a value counts as true, as far as that is known while a graph is captured.

    - A `Constant`: Python knows (`bool`).
    - One of `CONTAINERS`, the classes of variables for lists, tuples, dicts and sets: whether it has `items`.
    - One of `ALWAYS_TRUE`, those for functions, methods, exceptions, iterators and managers of grad mode: true.
    - An `ObjectVariable`: if its class (`cls`) has `__bool__` or else `__len__`, what that gives: `calls.call_method(frame, value,
      name, [])`, of which the truth is taken in turn; true if it has neither.

    Raises:
        Unsupported: for a `TensorVariable`, whose data are not known: "Data-dependent branching". For anything else.

    Source: `torch/_dynamo/symbolic_convert.py`, `generic_jump`.
    """
    if isinstance(value, Constant):
        return bool(value.value)
    if isinstance(value, CONTAINERS):
        return len(value.items) > 0
    if isinstance(value, ALWAYS_TRUE):
        return True
    if isinstance(value, ObjectVariable):
        for name in ("__bool__", "__len__"):
            if hasattr(value.cls, name):
                return truth(frame, calls.call_method(frame, value, name, []))
        return True
    raise Unsupported("Data-dependent branching" if isinstance(value, TensorVariable) else f"the truth of {value!r}")


def unary_op(frame: Frame, symbol: str, value: Variable) -> Variable:
    if symbol == "not" and not isinstance(value, TensorVariable):
        return Constant(not truth(frame, value))
    if isinstance(value, TensorVariable):
        if symbol == "not":
            raise Unsupported("Data-dependent branching")
        return calls.call_in_graph(frame, UNARY[symbol], [value], {})
    return calls.fold(frame, UNARY[symbol], [value])


# ------------------------------------------------------------------------------------------------------------
# Frames


class Frame:
    """A function being run on variables."""

    def __init__(self, output: Output, code: CodeType, f_globals: dict[str, Any], parent: Frame | None = None) -> None:
        self.output, self.code, self.f_globals, self.parent = output, code, f_globals, parent
        self.instructions = instructions_of(code)
        self.index = 0
        self.locals: dict[str, Variable] = {}
        self.cells: dict[str, CellVariable] = {}
        self.stack: list[Variable] = []
        self.handled: list[Variable] = []  # exceptions that are being handled
        self.returned: Variable | None = None
        self.yielded: Variable | None = None
        self.root: Root = self if parent is None else parent.root  # type: ignore[assignment]
        if parent is not None and self.depth() > 60:
            raise Unsupported("calls that are nested too deeply")

    def depth(self) -> int:
        return 1 if self.parent is None else 1 + self.parent.depth()

    def push(self, value: Variable) -> None:
        self.stack.append(value)

    def pop(self) -> Variable:
        """The top of the stack, looked at."""
        return self.output.realize(self.stack.pop())

    def popn(self, count: int) -> list[Variable]:
        """The topmost `count` in their order, as they are."""
        taken = self.stack[len(self.stack) - count :]
        del self.stack[len(self.stack) - count :]
        return taken

    def step(self) -> None:
        """Run one instruction. An exception of the captured function goes to its handler, or out of the frame."""
        instruction = self.instructions[self.index]
        self.root.count += 1
        if self.root.count > MOST_INSTRUCTIONS:
            raise Unsupported("a capture of too many instructions")
        self.index += 1
        try:
            handler = handlers.HANDLERS.get(instruction.op)
            if handler is None:
                raise Unsupported(f"the instruction {instruction.arg or instruction.op}")
            handler(self, instruction)
        except Raised as raised:
            if instruction.handler is None:
                raise
            self.index, depth, lasti = instruction.handler
            del self.stack[depth:]
            if lasti:
                self.push(Constant(instruction.offset))
            self.push(raised.variable)

    def run(self) -> Variable:
        while self.returned is None:
            self.step()
        return self.returned

    def run_to_yield(self) -> Variable | None:
        """Of a generator: the next value, None at its end."""
        self.yielded = None
        while self.returned is None and self.yielded is None:
            self.step()
        return self.yielded


class Root(Frame):
    """The outermost frame, from the state in which it is (`locals`, `cells`, `stack`, `index`) to a return or a break."""

    def __init__(
        self,
        output: Output,
        code: CodeType,
        f_globals: dict[str, Any],
        stop_at: int | None = None,
    ) -> None:
        super().__init__(output, code, f_globals)
        self.count, self.steps, self.stop_at = 0, 0, stop_at

    def step(self) -> None:
        if self.steps == self.stop_at:
            raise Break
        super().step()
        self.steps += 1


def inline(frame: Frame, function: FunctionVariable, args: list[Variable], kwargs: dict[str, Variable]) -> Variable:
    """Run a function that is called in a frame of its own, in the same graph.

    Source: `torch/_dynamo/symbolic_convert.py`, `InliningInstructionTranslator.inline_call_`.
    """
    code = function.code
    if code.co_flags & 0x280:  # a coroutine, an asynchronous generator
        raise Unsupported("an asynchronous function")
    callee = Frame(frame.output, code, function.globals, frame)
    bind_arguments(callee, function, args, kwargs)
    for name, cell in zip(code.co_freevars, function.closure):
        callee.cells[name] = cell
    if code.co_flags & 0x20:
        return IteratorVariable(generate(callee), cls=type(_ for _ in ()), made=(function, tuple(args), kwargs))
    callee.closure_function = function
    return callee.run()


def generate(callee: Frame):
    while (value := callee.run_to_yield()) is not None:
        yield value


def bind_arguments(frame: Frame, function: FunctionVariable, args: list[Variable], kwargs: dict[str, Variable]) -> None:
    """Put the arguments of a call into the locals, as Python does."""
    code, kwargs = function.code, dict(kwargs)
    names = code.co_varnames[: code.co_argcount]
    keyword_only = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    rest = code.co_varnames[code.co_argcount + code.co_kwonlyargcount :]
    frame.locals.update(zip(names, args))
    extra = args[len(names) :]
    for name in (*names[code.co_posonlyargcount :], *keyword_only):
        if name in kwargs:
            if name in frame.locals:
                raise raised(TypeError, f"{function.name}() got multiple values for argument '{name}'")
            frame.locals[name] = kwargs.pop(name)
    defaults = zip(reversed(names), reversed(function.defaults))
    for name, value in (*defaults, *function.kwdefaults.items()):
        frame.locals.setdefault(name, value)
    missing = [name for name in (*names, *keyword_only) if name not in frame.locals]
    if missing:
        raise raised(TypeError, f"{function.name}() missing a required argument: '{missing[0]}'")
    if code.co_flags & 0x04:
        frame.locals[rest[0]], extra, rest = TupleVariable(extra), [], rest[1:]
    if code.co_flags & 0x08:
        frame.locals[rest[0]], kwargs = DictVariable(kwargs), {}
    if extra or kwargs:
        raise raised(TypeError, f"{function.name}() got an unexpected argument")
