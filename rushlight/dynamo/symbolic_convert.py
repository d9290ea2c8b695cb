"""The symbolic interpreter: runs a function's instructions on variables, and records what happens to tensors.

`InstructionTranslatorBase` has the operations that `opcodes.Interpreter` calls, for variables. The outermost frame, an
`InstructionTranslator`, may start anywhere in its function, and may stop before an instruction that cannot be captured. A function
that is called is run by an `InliningInstructionTranslator`, and can only be captured whole. In PyTorch:
`torch/_dynamo/symbolic_convert.py`. Left out: asynchronous functions, and blocks that PyTorch leaves and enters again at a break.
"""

from __future__ import annotations

import builtins
import inspect
from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter, methodcaller
from types import CellType, CodeType, FunctionType
from typing import Any

from rushlight.dynamo import calls, symbolic
from rushlight.dynamo.exc import ObservedException, Unsupported
from rushlight.dynamo.guards import bind
from rushlight.dynamo.opcodes import END, NULL, Interpreter, SuspendedFrame
from rushlight.dynamo.output_graph import OutputGraph
from rushlight.dynamo.variables.base import Args, Kwargs, VariableTracker, known_value
from rushlight.dynamo.variables.builder import constant
from rushlight.dynamo.variables.constant import ConstantVariable, fold
from rushlight.dynamo.variables.dicts import ConstDictVariable, SetVariable, key_of
from rushlight.dynamo.variables.functions import BaseUserFunctionVariable, NestedUserFunctionVariable
from rushlight.dynamo.variables.iter import IteratorVariable
from rushlight.dynamo.variables.lazy import LazyVariableTracker
from rushlight.dynamo.variables.lists import ListVariable, TupleVariable
from rushlight.dynamo.variables.misc import CellVariable, ExceptionVariable, SuperVariable
from rushlight.dynamo.variables.tensor import TensorVariable

MAX_INSTRUCTIONS = 200_000  # of one capture: Python runs a longer loop better
MAX_DEPTH = 60
GENERATOR = type(_ for _ in ())

Function = BaseUserFunctionVariable


def operation(name: str) -> Callable:
    """An operation of the interpreter that the variable itself defines, as a method with this name."""
    return lambda tx, variable, *args: getattr(variable, name)(tx, *args)


class InstructionTranslatorBase(Interpreter):
    """A function that is being run on variables. `root` is the outermost frame."""

    null = ConstantVariable(NULL)
    observed, exception_value = ObservedException, attrgetter("variable")
    constant, new_cell = staticmethod(constant), CellVariable
    build_tuple, build_list, items = TupleVariable, ListVariable, attrgetter("items")
    python_value, type_of, is_none = map(methodcaller, ("as_python_constant", "python_type", "is_constant_none"))
    load_attr, store_attr, store_item = map(operation, ("var_getattr", "var_setattr", "setitem"))
    contains, iterate, unpack = map(operation, ("contains", "iterate", "unpack_var_sequence"))
    call, enter = operation("call_function"), operation("enter")
    call_callable, key = calls.call_callable, key_of
    compute, unary_op, truth = symbolic.compute, symbolic.unary_op, symbolic.truth

    root: InstructionTranslator

    def __init__(self, output: OutputGraph, code: CodeType, f_globals: dict[str, Any]) -> None:
        super().__init__(code, f_globals, SuspendedFrame(0, {}, {}, []))
        self.output, self.builder = output, output.builder

    def step(self) -> None:
        self.root.count += 1
        if self.root.count > MAX_INSTRUCTIONS:
            raise Unsupported("a capture of too many instructions")
        instruction = self.instructions[self.index]
        if instruction.op not in self.handlers:
            self.index += 1
            raise Unsupported(f"the instruction {instruction.arg or instruction.op}")
        super().step()

    def pop(self) -> VariableTracker:
        return self.stack.pop().realize()

    def operands(self, count: int) -> list[VariableTracker]:
        return [value.realize() for value in self.popn(count)]

    def error(self, cls: type[BaseException], *args: Any) -> ObservedException:
        """Return an exception to raise, which the captured function may catch."""
        return ObservedException(ExceptionVariable(cls, [ConstantVariable(arg) for arg in args]))

    # Operators

    def binary_op(self, symbol: str, left: VariableTracker, right: VariableTracker) -> VariableTracker:
        return left.getitem(self, right) if symbol == "[]" else self.compute(symbol, left, right)

    def compute_constant(self, function: Callable, *args: VariableTracker) -> VariableTracker:
        return fold(self, function, list(args))

    def is_same(self, left: VariableTracker, right: VariableTracker) -> bool:
        return left.is_same(right)

    def TO_BOOL(self, _: None) -> None:
        if not self.stack[-1].realize().is_tensor():  # the jump or the `not` that follows breaks the graph
            self.push(self.constant(self.truth(self.pop())))

    # Attributes, items and containers

    def delete_attr(self, owner: VariableTracker, name: str) -> None:
        owner.var_setattr(self, name, None)

    def make_super(self, cls: VariableTracker, owner: VariableTracker) -> SuperVariable:
        return SuperVariable(cls.as_python_constant(), owner)

    def delete_item(self, container: VariableTracker, key: VariableTracker) -> None:
        container.call_method(self, "__delitem__", [key], {})

    def build_set(self, items: list[VariableTracker]) -> SetVariable:
        return SetVariable(set(map(self.key, items)))

    def build_map(self, pairs: Iterable[tuple[VariableTracker, VariableTracker]]) -> ConstDictVariable:
        return ConstDictVariable({self.key(key): value for key, value in pairs})

    def build_slice(self, parts: list[VariableTracker]) -> ConstantVariable:
        return ConstantVariable(slice(*map(known_value, parts)))

    def mapping(self, value: VariableTracker) -> dict[Any, VariableTracker]:
        if not isinstance(value, ConstDictVariable):
            raise Unsupported(f"a dict from {value!r}")
        return value.items

    def advance(self, iterator: VariableTracker) -> Any:
        item = iterator.realize().next_variable(self)
        return END if item is None else item

    # Names

    def STORE_FAST(self, name: str) -> None:
        value = self.stack[-1]
        seen = value.real if isinstance(value, LazyVariableTracker) else value
        if isinstance(seen, TensorVariable) and not seen.named:  # nodes are named after the variables of the program
            seen.node._rename(name)
            seen.named = True
        super().STORE_FAST(name)

    def STORE_DEREF(self, name: str) -> None:
        self.write_cell(self.cells.setdefault(name, CellVariable()), self.stack.pop())

    def DELETE_DEREF(self, name: str) -> None:
        self.write_cell(self.cells[name], None)

    def write_cell(self, cell: CellVariable, contents: VariableTracker | None) -> None:
        if cell.source is not None:
            self.output.side_effects.store_attr(cell, "cell_contents", contents)
        cell.contents = contents

    def LOAD_GLOBAL(self, name: str) -> None:
        space = self.f_globals
        written = self.output.side_effects.load_global(space, name)
        if written is not None:
            self.push(written)
        elif name in space and str(space.get("__name__", "")).startswith(("rushlight.", "torch.")):  # it stays as it is
            self.push(self.builder.known(space[name]))
        elif name in space:
            source = bind(self.output.scope, space, f"globals_of_{space.get('__name__', 'a_module')}")
            self.push(self.builder.lazy(space[name], f"{source}[{name!r}]"))
        elif hasattr(builtins, name):
            self.push(ConstantVariable(getattr(builtins, name)))
        else:
            raise self.error(NameError, f"name '{name}' is not defined")

    def STORE_GLOBAL(self, name: str) -> None:
        self.output.side_effects.store_global(self.f_globals, name, self.stack.pop())

    def IMPORT_NAME(self, name: str) -> None:
        names, level = self.pop(), self.pop()
        args = [ConstantVariable(value) for value in (name, self.f_globals, None)]
        self.push(fold(self, __import__, [*args, names, level]))

    # Calls and functions

    def inline_user_function_return(self, function: Function, args: Args, kwargs: Kwargs) -> VariableTracker:
        flags = function.code.co_flags
        if flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
            raise Unsupported("an asynchronous function")
        callee = InliningInstructionTranslator(self, function)
        callee.bind_args(function, args, kwargs)
        if flags & inspect.CO_GENERATOR:
            return IteratorVariable(callee.generate(), cls=GENERATOR, made=(function, tuple(args), kwargs))
        while not callee.returned:
            callee.step()
        return callee.value

    def new_function(self, code: CodeType) -> NestedUserFunctionVariable:
        return NestedUserFunctionVariable(code, self.f_globals)

    def set_function_part(self, function: Function, flag: int, value: VariableTracker) -> Function:
        match flag:
            case 8:
                function.closure = list(value.items)
            case 2:
                function.kwdefaults = dict(value.items)
            case 1:
                function.defaults = [default.realize() for default in value.unpack_var_sequence(self)]
        return function

    def RETURN_GENERATOR(self, _: None) -> None:
        self.push(ConstantVariable(None))  # a POP_TOP takes it away

    def YIELD_VALUE(self, _: None) -> None:
        self.yielded = self.stack.pop()
        self.push(ConstantVariable(None))  # the value that is sent in

    # Exceptions and blocks

    def RAISE_VARARGS(self, count: int | None) -> None:
        if count == 2:
            self.pop()  # the cause
        if count == 0 and not self.handled:
            raise Unsupported("raise without an exception")
        value = self.handled[-1] if count == 0 else self.pop()
        known = value.value if isinstance(value, ConstantVariable) else None
        if isinstance(known, type) and issubclass(known, BaseException):
            value = self.call(value, [], {})
        if not isinstance(value, ExceptionVariable):
            raise Unsupported(f"raise of {value!r}")
        raise ObservedException(value)

    RERAISE = RAISE_VARARGS

    def WITH_EXCEPT_START(self, _: None) -> None:
        value = self.stack[-1]
        args = [ConstantVariable(value.python_type()), value, ConstantVariable(None)]
        self.push(self.call(self.stack[-4], args, {}))


class InstructionTranslator(InstructionTranslatorBase):
    """The outermost frame, from a state (`locals`, `cells`, `stack`, `index`) to a return, or to instruction `stop_at`."""

    def __init__(self, output: OutputGraph, code: CodeType, f_globals: dict, stop_at: int | None = None) -> None:
        super().__init__(output, code, f_globals)
        self.root, self.count, self.steps, self.stop_at, self.depth = self, 0, 0, stop_at, 1

    def run(self) -> None:
        while not self.returned and self.steps != self.stop_at:
            self.step()
            self.steps += 1


class InliningInstructionTranslator(InstructionTranslatorBase):
    """The frame of a function that is called, in the same graph."""

    def __init__(self, parent: InstructionTranslatorBase, function: Function) -> None:
        super().__init__(parent.output, function.code, function.globals)
        self.root, self.depth = parent.root, parent.depth + 1
        self.yielded: VariableTracker | None = None
        if self.depth > MAX_DEPTH:
            raise Unsupported("calls that are nested too deeply")
        self.cells.update(zip(function.code.co_freevars, function.closure))

    def generate(self) -> Iterator[VariableTracker]:
        """The values of a generator."""
        while not self.returned:
            self.yielded = None
            while not self.returned and self.yielded is None:
                self.step()
            if self.yielded is not None:
                yield self.yielded

    def bind_args(self, function: Function, args: Args, kwargs: Kwargs) -> None:
        """Put the arguments of a call into the locals, as Python does."""
        cells = tuple(CellType() for _ in function.closure)
        plain = FunctionType(function.code, {}, function.name, tuple(function.defaults), cells)
        plain.__kwdefaults__ = function.kwdefaults
        try:
            bound = inspect.signature(plain).bind(*args, **kwargs)
        except TypeError as error:
            raise self.error(TypeError, f"{function.name}() {error}") from None
        bound.apply_defaults()
        for name, value in bound.arguments.items():
            if isinstance(value, tuple):  # of `*args`
                value = TupleVariable(list(value))
            elif isinstance(value, dict):
                value = ConstDictVariable(value)
            self.locals[name if name in function.code.co_varnames else ".0"] = value  # the iterator of a comprehension
