"""`Interpreter`: what each instruction of the small set does to a frame, written once for two kinds of values.

A method has the name of its instruction. It takes operands off the stack and calls the operations that a subclass defines:
`InstructionTranslator` on variables, while a graph is captured, and `PythonInterpreter` on Python's own values, where the graph
breaks. In PyTorch: the methods of `torch/_dynamo/symbolic_convert.py`, `InstructionTranslatorBase`. Left out there and here: an
instruction that the table of `bytecode` does not know.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import CodeType
from typing import Any

from rushlight.dynamo.bytecode import Instruction, instructions_of

__all__ = ["END", "NULL", "Interpreter", "SuspendedFrame"]


class _Null:
    def __repr__(self) -> str:
        return "NULL"


NULL = _Null()  # CPython's mark below a callable that is no method
END = object()  # `advance` gives it at the end of an iterator
CONVERSIONS = (str, str, repr, ascii)  # of a field in an f-string, by number


@dataclass(eq=False, slots=True)
class SuspendedFrame:
    """A function before one of its instructions, with all that is needed to run it from there."""

    index: int
    locals: dict[str, Any]
    cells: dict[str, Any]
    stack: list
    handled: Sequence = ()  # exceptions that are being handled, the innermost last


class Interpreter:
    """A function that is being run: its locals, cells and stack, and the index of its next instruction.

    A subclass defines the operations that the methods call. `pop` and `operands` give values that an operation may look at;
    `self.stack.pop` and `popn` give them as they are. `handlers` has the methods by the names of their instructions.
    """

    null: Any = NULL
    observed: type[Exception]  # the exceptions that the handlers of the function may catch
    handlers: dict[str, Callable[[Any, Instruction], None]]
    returned, value = False, None

    def __init__(self, code: CodeType, f_globals: dict[str, Any], state: SuspendedFrame) -> None:
        self.code, self.f_globals, self.instructions = code, f_globals, instructions_of(code)
        self.index, self.locals, self.cells = state.index, state.locals, state.cells
        self.stack, self.push, self.handled = state.stack, state.stack.append, list(state.handled)

    def __init_subclass__(cls) -> None:
        cls.handlers = {name: getattr(cls, name) for name in dir(cls) if name.isupper()}

    def step(self) -> None:
        """Run one instruction. An exception of the function goes to its handler, or out of the frame."""
        instruction = self.instructions[self.index]
        self.index += 1
        try:
            self.handlers[instruction.op](self, instruction)
        except self.observed as error:
            if instruction.handler is None:
                raise
            self.index, depth, push_offset = instruction.handler
            del self.stack[depth:]
            if push_offset:
                self.push(self.constant(instruction.offset))
            self.push(self.exception_value(error))

    def popn(self, count: int) -> list:
        """The topmost `count` values in their order."""
        taken = self.stack[len(self.stack) - count :]
        del self.stack[len(self.stack) - count :]
        return taken

    # The stack

    def POP_TOP(self, instruction: Instruction) -> None:
        self.stack.pop()

    def PUSH_NULL(self, instruction: Instruction) -> None:
        self.push(self.null)

    def COPY(self, instruction: Instruction) -> None:
        self.push(self.stack[-instruction.arg])

    def SWAP(self, instruction: Instruction) -> None:
        stack, n = self.stack, instruction.arg
        stack[-1], stack[-n] = stack[-n], stack[-1]

    def LOAD_CONST(self, instruction: Instruction) -> None:
        self.push(self.constant(instruction.arg))

    # Names

    def LOAD_FAST(self, instruction: Instruction) -> None:
        if instruction.arg not in self.locals:
            raise self.unbound(instruction.arg)
        self.push(self.locals[instruction.arg])

    def LOAD_FAST_AND_CLEAR(self, instruction: Instruction) -> None:
        self.push(self.locals.pop(instruction.arg, self.null))

    def STORE_FAST(self, instruction: Instruction) -> None:
        value = self.stack.pop()
        if value is self.null:  # LOAD_FAST_AND_CLEAR found nothing
            self.locals.pop(instruction.arg, None)
        else:
            self.locals[instruction.arg] = value

    def DELETE_FAST(self, instruction: Instruction) -> None:
        if instruction.arg not in self.locals:
            raise self.unbound(instruction.arg)
        del self.locals[instruction.arg]

    def unbound(self, name: str) -> Exception:
        what = f"cannot access local variable '{name}' where it is not associated with a value"
        return self.error(UnboundLocalError, what)

    def MAKE_CELL(self, instruction: Instruction) -> None:
        name = instruction.arg
        if name not in self.cells:
            self.cells[name] = self.new_cell(*([self.locals.pop(name)] if name in self.locals else []))

    def LOAD_CLOSURE(self, instruction: Instruction) -> None:
        self.push(self.cells[instruction.arg])

    def LOAD_DEREF(self, instruction: Instruction) -> None:
        try:
            self.push(self.cells[instruction.arg].cell_contents)
        except ValueError:
            what = f"cannot access free variable '{instruction.arg}' where it is not associated with a value"
            raise self.error(NameError, what) from None

    # Attributes and items

    def LOAD_ATTR(self, instruction: Instruction) -> None:
        self.push(self.load_attr(self.pop(), instruction.arg))

    def STORE_ATTR(self, instruction: Instruction) -> None:
        self.store_attr(self.pop(), instruction.arg, self.stack.pop())

    def DELETE_ATTR(self, instruction: Instruction) -> None:
        self.delete_attr(self.pop(), instruction.arg)

    def LOAD_SUPER_ATTR(self, instruction: Instruction) -> None:
        owner, cls, _ = self.pop(), self.pop(), self.stack.pop()
        self.push(self.load_attr(self.make_super(cls, owner), instruction.arg))

    def STORE_SUBSCR(self, instruction: Instruction) -> None:
        key, container = self.pop(), self.pop()
        self.store_item(container, key, self.stack.pop())

    def DELETE_SUBSCR(self, instruction: Instruction) -> None:
        key, container = self.pop(), self.pop()
        self.delete_item(container, key)

    # Operators

    def BINARY_OP(self, instruction: Instruction) -> None:
        self.push(self.binary_op(instruction.arg, *self.operands(2)))

    def UNARY_OP(self, instruction: Instruction) -> None:
        self.push(self.unary_op(instruction.arg, self.pop()))

    def TO_BOOL(self, instruction: Instruction) -> None:
        self.push(self.constant(self.truth(self.pop())))

    def IS_OP(self, instruction: Instruction) -> None:
        self.push(self.constant(self.is_same(*self.operands(2)) != bool(instruction.arg)))

    def CONTAINS_OP(self, instruction: Instruction) -> None:
        item, container = self.operands(2)
        self.push(self.constant(self.contains(container, item) != bool(instruction.arg)))

    def FORMAT_VALUE(self, instruction: Instruction) -> None:
        conversion, has_spec = instruction.arg
        spec = self.pop() if has_spec else self.constant("")
        value = self.pop()
        if conversion:
            value = self.call(self.constant(CONVERSIONS[conversion]), [value], {})
        self.push(self.compute_constant(format, value, spec))

    def CONVERT_VALUE(self, instruction: Instruction) -> None:
        self.push(self.call(self.constant(CONVERSIONS[instruction.arg]), [self.pop()], {}))

    def IMPORT_FROM(self, instruction: Instruction) -> None:
        self.push(self.compute_constant(getattr, self.stack[-1], self.constant(instruction.arg)))

    # Containers

    def BUILD_TUPLE(self, instruction: Instruction) -> None:
        self.push(getattr(self, instruction.op.lower())(self.popn(instruction.arg)))

    BUILD_LIST = BUILD_SET = BUILD_SLICE = BUILD_TUPLE

    def BUILD_MAP(self, instruction: Instruction) -> None:
        flat = self.popn(2 * instruction.arg)
        self.push(self.build_map(zip(flat[::2], flat[1::2])))

    def BUILD_CONST_KEY_MAP(self, instruction: Instruction) -> None:
        keys = map(self.constant, self.python_value(self.pop()))
        self.push(self.build_map(zip(keys, self.popn(instruction.arg))))

    def BUILD_STRING(self, instruction: Instruction) -> None:
        self.push(self.constant("".join(map(self.python_value, self.popn(instruction.arg)))))

    def container(self, instruction: Instruction) -> Any:
        """The items of a container on the stack; its index counts from below the topmost value."""
        return self.items(self.stack[-instruction.arg - 1])

    def LIST_APPEND(self, instruction: Instruction) -> None:
        self.container(instruction).append(self.stack.pop())

    def SET_ADD(self, instruction: Instruction) -> None:
        self.container(instruction).add(self.key(self.stack.pop()))

    def MAP_ADD(self, instruction: Instruction) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        self.items(self.stack[-instruction.arg])[self.key(key)] = value

    def LIST_EXTEND(self, instruction: Instruction) -> None:
        self.container(instruction).extend(self.unpack(self.pop()))

    def SET_UPDATE(self, instruction: Instruction) -> None:
        self.container(instruction).update(map(self.key, self.unpack(self.pop())))

    def DICT_UPDATE(self, instruction: Instruction) -> None:
        self.container(instruction).update(self.mapping(self.pop()))

    def DICT_MERGE(self, instruction: Instruction) -> None:
        into, more = self.container(instruction), self.mapping(self.pop())
        for key in more:
            if key in into:
                raise self.error(TypeError, f"got multiple values for keyword argument '{key}'")
        into.update(more)

    def LIST_TO_TUPLE(self, instruction: Instruction) -> None:
        self.push(self.build_tuple(self.items(self.pop())))

    def UNPACK_SEQUENCE(self, instruction: Instruction) -> None:
        items, count = self.unpack(self.pop()), instruction.arg
        if len(items) < count:
            raise self.error(ValueError, f"not enough values to unpack (expected {count}, got {len(items)})")
        if len(items) > count:
            raise self.error(ValueError, f"too many values to unpack (expected {count})")
        self.stack.extend(reversed(items))

    def UNPACK_EX(self, instruction: Instruction) -> None:
        before, after = instruction.arg & 255, instruction.arg >> 8
        items = self.unpack(self.pop())
        if len(items) < before + after:
            what = f"not enough values to unpack (expected at least {before + after}, got {len(items)})"
            raise self.error(ValueError, what)
        end = len(items) - after
        self.stack.extend(reversed([*items[:before], self.build_list(items[before:end]), *items[end:]]))

    def GET_LEN(self, instruction: Instruction) -> None:
        self.push(self.call(self.constant(len), [self.stack[-1]], {}))

    # Jumps and loops

    def JUMP(self, instruction: Instruction) -> None:
        self.index = instruction.arg

    def POP_JUMP_IF_TRUE(self, instruction: Instruction) -> None:
        if self.truth(self.pop()) == (instruction.op == "POP_JUMP_IF_TRUE"):
            self.index = instruction.arg

    POP_JUMP_IF_FALSE = POP_JUMP_IF_TRUE

    def POP_JUMP_IF_NONE(self, instruction: Instruction) -> None:
        if self.is_none(self.pop()) == (instruction.op == "POP_JUMP_IF_NONE"):
            self.index = instruction.arg

    POP_JUMP_IF_NOT_NONE = POP_JUMP_IF_NONE

    def GET_ITER(self, instruction: Instruction) -> None:
        self.push(self.iterate(self.pop()))

    def FOR_ITER(self, instruction: Instruction) -> None:
        item = self.advance(self.stack[-1])
        if item is END:
            self.stack.pop()
            self.index = instruction.arg
        else:
            self.push(item)

    def RETURN_VALUE(self, instruction: Instruction) -> None:
        self.returned, self.value = True, self.stack.pop()

    # Calls and functions

    def call_below(self, args: list, kwargs: dict[str, Any]) -> None:
        """Call the callable that was below its arguments: `NULL, f`, `f, NULL`, or `f` and a first argument."""
        function, first = self.popn(2)
        if function is self.null:
            function = first
        elif first is not self.null:
            args = [first, *args]
        self.push(self.call(function, args, kwargs))

    def CALL(self, instruction: Instruction) -> None:
        self.call_below(self.popn(instruction.arg), {})

    def CALL_KW(self, instruction: Instruction) -> None:
        names = self.python_value(self.pop())
        args = self.popn(instruction.arg)
        positional = len(args) - len(names)
        self.call_below(args[:positional], dict(zip(names, args[positional:])))

    def CALL_FUNCTION_EX(self, instruction: Instruction) -> None:
        kwargs = self.mapping(self.pop()) if instruction.arg & 1 else {}
        self.call_below(self.unpack(self.pop()), dict(kwargs))

    def MAKE_FUNCTION(self, instruction: Instruction) -> None:
        function = self.new_function(self.python_value(self.pop()))
        for flag in (8, 4, 2, 1):
            if (instruction.arg or 0) & flag:
                function = self.set_function_part(function, flag, self.pop())
        self.push(function)

    def SET_FUNCTION_ATTRIBUTE(self, instruction: Instruction) -> None:
        function = self.pop()
        self.push(self.set_function_part(function, instruction.arg, self.pop()))

    # Exceptions and blocks

    def BEFORE_WITH(self, instruction: Instruction) -> None:
        self.stack.extend(self.enter(self.pop()))

    def PUSH_EXC_INFO(self, instruction: Instruction) -> None:
        self.handled.append(self.stack[-1])
        self.stack.insert(-1, self.constant(None))

    def POP_EXCEPT(self, instruction: Instruction) -> None:
        self.stack.pop()
        self.handled.pop()

    def CHECK_EXC_MATCH(self, instruction: Instruction) -> None:
        classes = self.python_value(self.pop())
        self.push(self.constant(issubclass(self.type_of(self.stack[-1]), classes)))
