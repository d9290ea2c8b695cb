"""`Interpreter`: the effect of each instruction of the small set on a frame, written once for two kinds of values.

A method has the name of its instruction, and `ONE_LINE` has the instructions that need no method. Both take the instruction's
argument, take operands off the stack and call the operations that a subclass defines: `InstructionTranslator` on variables, while a
graph is captured, and `PythonInterpreter` on Python's own values, where the graph breaks. In PyTorch: the methods of
`torch/_dynamo/symbolic_convert.py`, `InstructionTranslatorBase`. Left out there and here: an instruction that the table of
`bytecode` does not know.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import CodeType
from typing import Any

from rushlight.dynamo.bytecode import instructions_of


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
    `self.stack.pop` and `popn` give them as they are. `handlers` has what each instruction does, by its name.
    """

    null: Any = NULL
    observed: type[Exception]  # the exceptions that the handlers of the function may catch
    handlers: dict[str, Callable[[Any, Any], Any]]
    returned, value = False, None

    def __init__(self, code: CodeType, f_globals: dict[str, Any], state: SuspendedFrame) -> None:
        self.code, self.f_globals, self.instructions = code, f_globals, instructions_of(code)
        self.index, self.locals, self.cells = state.index, state.locals, state.cells
        self.stack, self.push, self.handled = state.stack, state.stack.append, list(state.handled)

    def __init_subclass__(cls) -> None:
        cls.handlers = ONE_LINE | {name: getattr(cls, name) for name in dir(cls) if name.isupper()}

    def step(self) -> None:
        """Run one instruction. An exception of the function goes to its handler, or out of the frame."""
        instruction = self.instructions[self.index]
        self.index += 1
        try:
            self.handlers[instruction.op](self, instruction.arg)
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

    def SWAP(self, n: int) -> None:
        stack = self.stack
        stack[-1], stack[-n] = stack[-n], stack[-1]

    # Names

    def LOAD_FAST(self, name: str) -> None:
        if name not in self.locals:
            raise self.unbound(name)
        self.push(self.locals[name])

    def STORE_FAST(self, name: str) -> None:
        value = self.stack.pop()
        if value is self.null:  # LOAD_FAST_AND_CLEAR found nothing
            self.locals.pop(name, None)
        else:
            self.locals[name] = value

    def DELETE_FAST(self, name: str) -> None:
        if name not in self.locals:
            raise self.unbound(name)
        del self.locals[name]

    def unbound(self, name: str) -> Exception:
        what = f"cannot access local variable '{name}' where it is not associated with a value"
        return self.error(UnboundLocalError, what)

    def MAKE_CELL(self, name: str) -> None:
        if name not in self.cells:
            self.cells[name] = self.new_cell(*([self.locals.pop(name)] if name in self.locals else []))

    def LOAD_DEREF(self, name: str) -> None:
        try:
            self.push(self.cells[name].cell_contents)
        except ValueError:
            what = f"cannot access free variable '{name}' where it is not associated with a value"
            raise self.error(NameError, what) from None

    # Attributes, items and operators

    def LOAD_SUPER_ATTR(self, name: str) -> None:
        owner, cls, _ = self.pop(), self.pop(), self.stack.pop()
        self.push(self.load_attr(self.make_super(cls, owner), name))

    def STORE_SUBSCR(self, _: None) -> None:
        key, container = self.pop(), self.pop()
        self.store_item(container, key, self.stack.pop())

    def CONTAINS_OP(self, negated: int) -> None:
        item, container = self.operands(2)
        self.push(self.constant(self.contains(container, item) != bool(negated)))

    def FORMAT_VALUE(self, form: tuple[int, bool]) -> None:
        conversion, has_spec = form
        spec = self.pop() if has_spec else self.constant("")
        value = self.pop()
        if conversion:
            value = self.call(self.constant(CONVERSIONS[conversion]), [value], {})
        self.push(self.compute_constant(format, value, spec))

    # Containers

    def BUILD_MAP(self, count: int) -> None:
        flat = self.popn(2 * count)
        self.push(self.build_map(zip(flat[::2], flat[1::2])))

    def BUILD_CONST_KEY_MAP(self, count: int) -> None:
        keys = map(self.constant, self.python_value(self.pop()))
        self.push(self.build_map(zip(keys, self.popn(count))))

    def container(self, index: int) -> Any:
        """The items of a container on the stack; its index counts from below the topmost value."""
        return self.items(self.stack[-index - 1])

    def MAP_ADD(self, index: int) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        self.items(self.stack[-index])[self.key(key)] = value

    def DICT_MERGE(self, index: int) -> None:
        into, more = self.container(index), self.mapping(self.pop())
        for key in more:
            if key in into:
                raise self.error(TypeError, f"got multiple values for keyword argument '{key}'")
        into.update(more)

    def UNPACK_SEQUENCE(self, count: int) -> None:
        items = self.unpack(self.pop())
        if len(items) < count:
            raise self.error(ValueError, f"not enough values to unpack (expected {count}, got {len(items)})")
        if len(items) > count:
            raise self.error(ValueError, f"too many values to unpack (expected {count})")
        self.stack.extend(reversed(items))

    def UNPACK_EX(self, counts: int) -> None:
        before, after = counts & 255, counts >> 8
        items = self.unpack(self.pop())
        if len(items) < before + after:
            what = f"not enough values to unpack (expected at least {before + after}, got {len(items)})"
            raise self.error(ValueError, what)
        end = len(items) - after
        self.stack.extend(reversed([*items[:before], self.build_list(items[before:end]), *items[end:]]))

    # Jumps and loops

    def jump_if(self, condition: bool, target: int) -> None:
        if condition:
            self.index = target

    def FOR_ITER(self, target: int) -> None:
        item = self.advance(self.stack[-1])
        if item is END:
            self.stack.pop()
            self.index = target
        else:
            self.push(item)

    def RETURN_VALUE(self, _: None) -> None:
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

    def CALL_KW(self, count: int) -> None:
        names = self.python_value(self.pop())
        args = self.popn(count)
        positional = count - len(names)
        self.call_below(args[:positional], dict(zip(names, args[positional:])))

    def CALL_FUNCTION_EX(self, flags: int) -> None:
        kwargs = self.mapping(self.pop()) if flags & 1 else {}
        self.call_below(self.unpack(self.pop()), dict(kwargs))

    def MAKE_FUNCTION(self, flags: int | None) -> None:
        function = self.new_function(self.python_value(self.pop()))
        for flag in (8, 4, 2, 1):
            if (flags or 0) & flag:
                function = self.set_function_part(function, flag, self.pop())
        self.push(function)

    # Exceptions

    def PUSH_EXC_INFO(self, _: None) -> None:
        self.handled.append(self.stack[-1])
        self.stack.insert(-1, self.constant(None))

    def POP_EXCEPT(self, _: None) -> None:
        self.stack.pop()
        self.handled.pop()

    def CHECK_EXC_MATCH(self, _: None) -> None:
        classes = self.python_value(self.pop())
        self.push(self.constant(issubclass(self.type_of(self.stack[-1]), classes)))


# The instructions that need no method, as functions of the frame and the instruction's argument.
ONE_LINE: dict[str, Callable[[Any, Any], Any]] = {
    "POP_TOP": lambda frame, _: frame.stack.pop(),
    "PUSH_NULL": lambda frame, _: frame.push(frame.null),
    "COPY": lambda frame, n: frame.push(frame.stack[-n]),
    "LOAD_CONST": lambda frame, value: frame.push(frame.constant(value)),
    "LOAD_FAST_AND_CLEAR": lambda frame, name: frame.push(frame.locals.pop(name, frame.null)),
    "LOAD_CLOSURE": lambda frame, name: frame.push(frame.cells[name]),
    "LOAD_ATTR": lambda frame, name: frame.push(frame.load_attr(frame.pop(), name)),
    "STORE_ATTR": lambda frame, name: frame.store_attr(frame.pop(), name, frame.stack.pop()),
    "DELETE_ATTR": lambda frame, name: frame.delete_attr(frame.pop(), name),
    "DELETE_SUBSCR": lambda frame, _: frame.delete_item(*frame.operands(2)),
    "BINARY_OP": lambda frame, symbol: frame.push(frame.binary_op(symbol, *frame.operands(2))),
    "UNARY_OP": lambda frame, symbol: frame.push(frame.unary_op(symbol, frame.pop())),
    "TO_BOOL": lambda frame, _: frame.push(frame.constant(frame.truth(frame.pop()))),
    "IS_OP": lambda frame, negated: frame.push(frame.constant(frame.is_same(*frame.operands(2)) != bool(negated))),
    "CONVERT_VALUE": lambda frame, n: frame.push(frame.call(frame.constant(CONVERSIONS[n]), [frame.pop()], {})),
    "IMPORT_FROM": lambda frame, name: frame.push(
        frame.compute_constant(getattr, frame.stack[-1], frame.constant(name))
    ),
    "BUILD_TUPLE": lambda frame, count: frame.push(frame.build_tuple(frame.popn(count))),
    "BUILD_LIST": lambda frame, count: frame.push(frame.build_list(frame.popn(count))),
    "BUILD_SET": lambda frame, count: frame.push(frame.build_set(frame.popn(count))),
    "BUILD_SLICE": lambda frame, count: frame.push(frame.build_slice(frame.popn(count))),
    "BUILD_STRING": lambda frame, n: frame.push(frame.constant("".join(map(frame.python_value, frame.popn(n))))),
    "LIST_APPEND": lambda frame, index: frame.container(index).append(frame.stack.pop()),
    "LIST_EXTEND": lambda frame, index: frame.container(index).extend(frame.unpack(frame.pop())),
    "LIST_TO_TUPLE": lambda frame, _: frame.push(frame.build_tuple(frame.items(frame.pop()))),
    "SET_ADD": lambda frame, index: frame.container(index).add(frame.key(frame.stack.pop())),
    "SET_UPDATE": lambda frame, index: frame.container(index).update(map(frame.key, frame.unpack(frame.pop()))),
    "DICT_UPDATE": lambda frame, index: frame.container(index).update(frame.mapping(frame.pop())),
    "GET_LEN": lambda frame, _: frame.push(frame.call(frame.constant(len), [frame.stack[-1]], {})),
    "GET_ITER": lambda frame, _: frame.push(frame.iterate(frame.pop())),
    "JUMP": lambda frame, target: frame.jump_if(True, target),
    "POP_JUMP_IF_TRUE": lambda frame, target: frame.jump_if(frame.truth(frame.pop()), target),
    "POP_JUMP_IF_FALSE": lambda frame, target: frame.jump_if(not frame.truth(frame.pop()), target),
    "POP_JUMP_IF_NONE": lambda frame, target: frame.jump_if(frame.is_none(frame.pop()), target),
    "POP_JUMP_IF_NOT_NONE": lambda frame, target: frame.jump_if(not frame.is_none(frame.pop()), target),
    "CALL": lambda frame, count: frame.call_below(frame.popn(count), {}),
    "SET_FUNCTION_ATTRIBUTE": lambda frame, flag: frame.push(frame.set_function_part(frame.pop(), flag, frame.pop())),
    "BEFORE_WITH": lambda frame, _: frame.stack.extend(frame.enter(frame.pop())),
}
