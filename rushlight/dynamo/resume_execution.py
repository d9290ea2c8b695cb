"""Run one instruction, or all that are left, on Python's own values: the step where the graph breaks.

A captured function that stops before an instruction leaves a `SuspendedFrame`: its locals, its cells, its stack. `run_instruction`
runs that instruction as CPython would, and the function is captured again from the next one. PyTorch generates a new function, a
*resume function*, which jumps to that instruction; without a hook in CPython's loop nothing would capture such a function, so the
rest is run from here. In PyTorch: `torch/_dynamo/resume_execution.py`.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from types import CellType, CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from rushlight.dynamo.bytecode import OPERATORS, UNARY, live_names
from rushlight.dynamo.opcodes import END, Interpreter, SuspendedFrame

if TYPE_CHECKING:
    from rushlight.dynamo.codegen import PyCodegen
    from rushlight.dynamo.symbolic_convert import InstructionTranslator

Call = Callable[[Any, list, dict[str, Any]], Any]


def values_to_restore(codegen: PyCodegen, frame: InstructionTranslator) -> tuple[list[str], dict[str, str]]:
    """The values with which Python continues a frame, which has stopped before the instruction `frame.instructions[frame.index]`.

    Each value is an expression, which `codegen(variable)` gives for a variable. The graph returns new tensors in the order in which
    `codegen` meets them, and this order is PyTorch's. The values of the stack, `frame.stack`, are a list of variables, the lowest
    first. The values of the local variables, `frame.locals`, are a dict of variables by name. Cells are found later.

    Returns:
        two values: a list or a tuple of the expressions for the stack, in the order of the stack, and a dict of the expressions
        for the local variables that must be kept, by name, in the order of `frame.locals`.

    >>> def f(x, y):
    ...     z = x + 1
    ...     rl.dynamo.graph_break()
    ...     return y + z
    >>> [len(graph.graph.output_node().args[0]) for graph in rl.dynamo.explain(f)(rl.ones(2), rl.ones(2)).graphs]
    [1, 1]

    Source: `torch/_dynamo/output_graph.py`, `OutputGraph._get_stack_values_to_restore`; `torch/_dynamo/symbolic_convert.py`,
    `create_call_resume_at`.
    """
    live = live_names(frame.instructions, frame.index)
    stack = [codegen(variable) for variable in frame.stack]
    return stack, {name: codegen(variable) for name, variable in frame.locals.items() if name in live}


def cells_to_restore(codegen: PyCodegen, frame: InstructionTranslator) -> dict[str, str]:
    """The cells with which Python continues a frame: those of live names, and those that it writes and something else refers to."""
    live = {"__class__", *live_names(frame.instructions, frame.index)}
    shared = {name for name, cell in frame.cells.items() if cell.source is not None or cell in codegen.made}
    needed = live | shared & {instruction.arg for instruction in frame.instructions if instruction.op == "STORE_DEREF"}
    return {name: codegen(cell) for name, cell in frame.cells.items() if name in needed}


def write_result(frame: InstructionTranslator, codegen: PyCodegen) -> str:
    """Write the result of a captured frame: its return value, or the `SuspendedFrame` in which it has stopped."""
    if frame.returned:
        return codegen(frame.value)
    codegen.realize_constants(frame.stack)
    stack, local_variables = values_to_restore(codegen, frame)
    named = local_variables, cells_to_restore(codegen, frame)
    dicts = [f"{{{', '.join(f'{name!r}: {text}' for name, text in values.items())}}}" for values in named]
    parts = f"{frame.index}, {', '.join(dicts)}, [{', '.join(stack)}]"
    return f"{codegen.bind(SuspendedFrame)}({parts})"


class PythonInterpreter(Interpreter):
    """Runs instructions for real. `call` makes the calls, so a function that is called may be captured in its turn."""

    observed = Exception
    new_cell = CellType
    constant = python_value = items = key = mapping = exception_value = staticmethod(lambda value: value)
    truth, iterate, type_of, unpack = bool, iter, type, list
    is_same, contains = operator.is_, operator.contains
    load_attr, store_attr, delete_attr, make_super = getattr, setattr, delattr, super
    store_item, delete_item = operator.setitem, operator.delitem
    build_tuple, build_list, build_set, build_map = tuple, list, set, dict
    operands = Interpreter.popn
    build_slice = staticmethod(lambda parts: slice(*parts))
    error = compute_constant = operator.call
    is_none = staticmethod(lambda value: value is None)
    advance = staticmethod(lambda iterator: next(iterator, END))
    binary_op = staticmethod(lambda symbol, left, right: OPERATORS[symbol](left, right))
    unary_op = staticmethod(lambda symbol, value: UNARY[symbol](value))
    enter = staticmethod(lambda manager: (type(manager).__exit__.__get__(manager), type(manager).__enter__(manager)))

    def __init__(self, code: CodeType, f_globals: dict[str, Any], state: SuspendedFrame, call: Call) -> None:
        super().__init__(code, f_globals, state)
        self.call_function, self.pop = call, self.stack.pop

    # The most frequent instructions, without a call of an operation

    def LOAD_CONST(self, value: Any) -> None:
        self.push(value)

    def BINARY_OP(self, symbol: str) -> None:
        right, left = self.pop(), self.pop()
        self.push(OPERATORS[symbol](left, right))

    # Names

    def STORE_DEREF(self, name: str) -> None:
        self.cells.setdefault(name, CellType()).cell_contents = self.stack.pop()

    def DELETE_DEREF(self, name: str) -> None:
        del self.cells[name].cell_contents

    def LOAD_GLOBAL(self, name: str) -> None:
        space = self.f_globals
        if name not in space:
            builtins = space.get("__builtins__", sys.modules["builtins"])
            space = builtins if isinstance(builtins, dict) else vars(builtins)
        if name not in space:
            raise NameError(f"name '{name}' is not defined")
        self.push(space[name])

    def STORE_GLOBAL(self, name: str) -> None:
        self.f_globals[name] = self.stack.pop()

    def IMPORT_NAME(self, name: str) -> None:
        level, names = self.popn(2)
        self.push(__import__(name, self.f_globals, None, names, level))

    # Calls and functions

    def call(self, function: Any, args: list, kwargs: dict[str, Any]) -> Any:
        if function is super and not args:  # it looks for its arguments in the frame that calls it
            name = self.code.co_varnames[0]
            owner = self.locals[name] if name in self.locals else self.cells[name].cell_contents
            return super(self.cells["__class__"].cell_contents, owner)
        return self.call_function(function, args, kwargs)

    def new_function(self, code: CodeType) -> FunctionType:
        cells = tuple(CellType() for _ in code.co_freevars) or None  # the real ones come as a part of it
        return FunctionType(code, self.f_globals, code.co_name, None, cells)

    def set_function_part(self, function: FunctionType, flag: int, value: Any) -> FunctionType:
        match flag:
            case 8:  # a closure can be given to a new function only
                new = FunctionType(function.__code__, self.f_globals, function.__name__, function.__defaults__, value)
                new.__kwdefaults__ = function.__kwdefaults__
                return new
            case 2:
                function.__kwdefaults__ = value
            case 1:
                function.__defaults__ = value
        return function

    # Exceptions and blocks

    def RAISE_VARARGS(self, count: int | None) -> None:
        if count == 2:
            cause = self.pop()
            raise self.pop() from cause
        if count == 0 and not self.handled:
            raise RuntimeError("No active exception to reraise")
        raise self.handled[-1] if count == 0 else self.pop()

    RERAISE = RAISE_VARARGS

    def WITH_EXCEPT_START(self, _: None) -> None:
        error = self.stack[-1]
        self.push(self.stack[-4](type(error), error, error.__traceback__))


def run_instruction(code: CodeType, f_globals: dict[str, Any], state: SuspendedFrame, call: Call) -> Any:
    """Run one instruction. Returns the state after it, or (value,) if the function has returned."""
    frame = PythonInterpreter(code, f_globals, state, call)
    frame.step()
    if frame.returned:
        return (frame.value,)
    return SuspendedFrame(frame.index, frame.locals, frame.cells, frame.stack, frame.handled)


def run_to_end(code: CodeType, f_globals: dict[str, Any], state: SuspendedFrame, call: Call) -> Any:
    """Run the rest. Returns what the function returns."""
    frame = PythonInterpreter(code, f_globals, state, call)
    while not frame.returned:
        frame.step()
    return frame.value
