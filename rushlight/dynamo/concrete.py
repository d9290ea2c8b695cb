"""Running one instruction, or all that are left, for real: what happens where the graph breaks.

A captured function that stops before an instruction leaves a `Suspended`: its locals, its cells, its stack. `execute` runs that
instruction on these values as CPython would; what comes after it is captured again. PyTorch writes a new function there, a
*resume function*, which jumps to the place; without a hook in CPython's loop nothing would capture it, so the rest of the
function is run from here. In PyTorch: `torch/_dynamo/resume_execution.py`.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from types import CellType, CodeType, FunctionType
from typing import Any

from rushlight.dynamo import variables
from rushlight.dynamo.bytecode import OPERATORS, UNARY, Handlers, Instruction, instructions_of
from rushlight.dynamo.output import Suspended

__all__ = ["execute", "finish"]

NULL = variables.NULL.value


class Frame:
    """A function in the middle of being run."""

    def __init__(self, code: CodeType, f_globals: dict[str, Any], state: Suspended, call: Callable) -> None:
        self.code, self.f_globals, self.call = code, f_globals, call
        self.instructions = instructions_of(code)
        self.index, self.locals, self.cells, self.stack = state.index, state.locals, state.cells, state.stack
        self.handled = list(state.handled)
        self.returned, self.value = False, None

    def step(self) -> None:
        instruction = self.instructions[self.index]
        self.index += 1
        try:
            HANDLERS[instruction.op](self, instruction)
        except Exception as error:
            if instruction.handler is None:
                raise
            self.index, depth, lasti = instruction.handler
            del self.stack[depth:]
            if lasti:
                self.stack.append(instruction.offset)
            self.stack.append(error)

    def popn(self, count: int) -> list:
        taken = self.stack[len(self.stack) - count :]
        del self.stack[len(self.stack) - count :]
        return taken


def execute(code: CodeType, f_globals: dict[str, Any], state: Suspended, call: Callable) -> Suspended | tuple[Any]:
    """Run one instruction. Returns the state after it, or (value,) if the function has returned.

    Args:
        call: takes a function, args and kwargs: how calls are made, so that what is called may be captured in its turn.
    """
    frame = Frame(code, f_globals, state, call)
    frame.step()
    return (
        (frame.value,)
        if frame.returned
        else Suspended(frame.index, frame.locals, frame.cells, frame.stack, frame.handled)
    )


def finish(code: CodeType, f_globals: dict[str, Any], state: Suspended, call: Callable) -> Any:
    """Run the rest. Returns what the function returns."""
    frame = Frame(code, f_globals, state, call)
    while not frame.returned:
        frame.step()
    return frame.value


HANDLERS = Handlers()
handles = HANDLERS.handles


def _simple(name: str, action: Callable) -> None:
    HANDLERS[name] = action


_simple("POP_TOP", lambda f, i: f.stack.pop())
_simple("END_SEND", lambda f, i: f.stack.pop())
_simple("PUSH_NULL", lambda f, i: f.stack.append(NULL))
_simple("COPY", lambda f, i: f.stack.append(f.stack[-i.arg]))
_simple("LOAD_CONST", lambda f, i: f.stack.append(i.arg))
_simple("LOAD_CLOSURE", lambda f, i: f.stack.append(f.cells[i.arg]))
_simple("LOAD_ASSERTION_ERROR", lambda f, i: f.stack.append(AssertionError))
_simple("GET_ITER", lambda f, i: f.stack.append(iter(f.stack.pop())))
_simple("GET_LEN", lambda f, i: f.stack.append(len(f.stack[-1])))
_simple("TO_BOOL", lambda f, i: f.stack.append(bool(f.stack.pop())))
_simple("UNARY_OP", lambda f, i: f.stack.append(UNARY[i.arg](f.stack.pop())))
_simple("LOAD_ATTR", lambda f, i: f.stack.append(getattr(f.stack.pop(), i.arg)))
_simple("DELETE_ATTR", lambda f, i: delattr(f.stack.pop(), i.arg))
_simple("IMPORT_FROM", lambda f, i: f.stack.append(getattr(f.stack[-1], i.arg)))
_simple("BUILD_TUPLE", lambda f, i: f.stack.append(tuple(f.popn(i.arg))))
_simple("BUILD_LIST", lambda f, i: f.stack.append(f.popn(i.arg)))
_simple("BUILD_SET", lambda f, i: f.stack.append(set(f.popn(i.arg))))
_simple("BUILD_STRING", lambda f, i: f.stack.append("".join(f.popn(i.arg))))
_simple("BUILD_SLICE", lambda f, i: f.stack.append(slice(*f.popn(i.arg))))
_simple("LIST_TO_TUPLE", lambda f, i: f.stack.append(tuple(f.stack.pop())))


@handles("SWAP")
def swap(frame: Frame, instruction: Instruction) -> None:
    stack, n = frame.stack, instruction.arg
    stack[-1], stack[-n] = stack[-n], stack[-1]


@handles("LOAD_FAST")
def load_fast(frame: Frame, instruction: Instruction) -> None:
    if instruction.arg not in frame.locals:
        raise UnboundLocalError(
            f"cannot access local variable '{instruction.arg}' where it is not associated with a value"
        )
    frame.stack.append(frame.locals[instruction.arg])


@handles("LOAD_FAST_AND_CLEAR")
def load_fast_and_clear(frame: Frame, instruction: Instruction) -> None:
    frame.stack.append(frame.locals.pop(instruction.arg, NULL))


@handles("STORE_FAST")
def store_fast(frame: Frame, instruction: Instruction) -> None:
    value = frame.stack.pop()
    if value is NULL:
        frame.locals.pop(instruction.arg, None)
    else:
        frame.locals[instruction.arg] = value


@handles("DELETE_FAST")
def delete_fast(frame: Frame, instruction: Instruction) -> None:
    if instruction.arg not in frame.locals:
        raise UnboundLocalError(
            f"cannot access local variable '{instruction.arg}' where it is not associated with a value"
        )
    del frame.locals[instruction.arg]


@handles("MAKE_CELL")
def make_cell(frame: Frame, instruction: Instruction) -> None:
    if instruction.arg not in frame.cells:
        frame.cells[instruction.arg] = CellType(
            *([frame.locals.pop(instruction.arg)] if instruction.arg in frame.locals else [])
        )


@handles("LOAD_DEREF")
def load_deref(frame: Frame, instruction: Instruction) -> None:
    try:
        frame.stack.append(frame.cells[instruction.arg].cell_contents)
    except ValueError:
        raise NameError(
            f"cannot access free variable '{instruction.arg}' where it is not associated with a value"
        ) from None


@handles("STORE_DEREF")
def store_deref(frame: Frame, instruction: Instruction) -> None:
    frame.cells[instruction.arg].cell_contents = frame.stack.pop()


@handles("DELETE_DEREF")
def delete_deref(frame: Frame, instruction: Instruction) -> None:
    del frame.cells[instruction.arg].cell_contents


@handles("LOAD_GLOBAL")
def load_global(frame: Frame, instruction: Instruction) -> None:
    name, builtins = instruction.arg, frame.f_globals.get("__builtins__", sys.modules["builtins"])
    if name in frame.f_globals:
        frame.stack.append(frame.f_globals[name])
        return
    space = builtins if isinstance(builtins, dict) else vars(builtins)
    if name not in space:
        raise NameError(f"name '{name}' is not defined")
    frame.stack.append(space[name])


@handles("STORE_GLOBAL")
def store_global(frame: Frame, instruction: Instruction) -> None:
    frame.f_globals[instruction.arg] = frame.stack.pop()


@handles("IMPORT_NAME")
def import_name(frame: Frame, instruction: Instruction) -> None:
    level, names = frame.popn(2)
    frame.stack.append(__import__(instruction.arg, frame.f_globals, None, names, level))


@handles("STORE_ATTR")
def store_attr(frame: Frame, instruction: Instruction) -> None:
    value, owner = frame.popn(2)
    setattr(owner, instruction.arg, value)


@handles("LOAD_SUPER_ATTR")
def load_super_attr(frame: Frame, instruction: Instruction) -> None:
    name, _ = instruction.arg
    _, cls, owner = frame.popn(3)
    frame.stack.append(getattr(super(cls, owner), name))


@handles("STORE_SUBSCR")
def store_subscr(frame: Frame, instruction: Instruction) -> None:
    value, container, key = frame.popn(3)
    container[key] = value


@handles("DELETE_SUBSCR")
def delete_subscr(frame: Frame, instruction: Instruction) -> None:
    container, key = frame.popn(2)
    del container[key]


@handles("BINARY_SLICE")
def binary_slice(frame: Frame, instruction: Instruction) -> None:
    container, start, stop = frame.popn(3)
    frame.stack.append(container[start:stop])


@handles("STORE_SLICE")
def store_slice(frame: Frame, instruction: Instruction) -> None:
    value, container, start, stop = frame.popn(4)
    container[start:stop] = value


@handles("BINARY_OP")
def binary_op(frame: Frame, instruction: Instruction) -> None:
    left, right = frame.popn(2)
    frame.stack.append(OPERATORS[instruction.arg](left, right))


@handles("IS_OP")
def is_op(frame: Frame, instruction: Instruction) -> None:
    left, right = frame.popn(2)
    frame.stack.append((left is right) != bool(instruction.arg))


@handles("CONTAINS_OP")
def contains_op(frame: Frame, instruction: Instruction) -> None:
    item, container = frame.popn(2)
    frame.stack.append(operator.contains(container, item) != bool(instruction.arg))


@handles("FORMAT_VALUE")
def format_value(frame: Frame, instruction: Instruction) -> None:
    conversion, has_spec = instruction.arg
    spec = frame.stack.pop() if has_spec else ""
    value = frame.stack.pop()
    frame.stack.append(format((str, str, repr, ascii)[conversion](value) if conversion else value, spec))


@handles("CONVERT_VALUE")
def convert_value(frame: Frame, instruction: Instruction) -> None:
    frame.stack.append((str, str, repr, ascii)[instruction.arg](frame.stack.pop()))


@handles("BUILD_MAP")
def build_map(frame: Frame, instruction: Instruction) -> None:
    flat = frame.popn(2 * instruction.arg)
    frame.stack.append(dict(zip(flat[::2], flat[1::2])))


@handles("BUILD_CONST_KEY_MAP")
def build_const_key_map(frame: Frame, instruction: Instruction) -> None:
    keys = frame.stack.pop()
    frame.stack.append(dict(zip(keys, frame.popn(instruction.arg))))


@handles("LIST_APPEND", "SET_ADD")
def append(frame: Frame, instruction: Instruction) -> None:
    item = frame.stack.pop()
    into = frame.stack[-instruction.arg]
    (into.append if instruction.op == "LIST_APPEND" else into.add)(item)


@handles("MAP_ADD")
def map_add(frame: Frame, instruction: Instruction) -> None:
    key, value = frame.popn(2)
    frame.stack[-instruction.arg][key] = value


@handles("LIST_EXTEND", "SET_UPDATE", "DICT_UPDATE")
def extend(frame: Frame, instruction: Instruction) -> None:
    more = frame.stack.pop()
    into = frame.stack[-instruction.arg]
    (into.extend if instruction.op == "LIST_EXTEND" else into.update)(more)


@handles("DICT_MERGE")
def dict_merge(frame: Frame, instruction: Instruction) -> None:
    more = frame.stack.pop()
    into = frame.stack[-instruction.arg]
    for key in more:
        if key in into:
            raise TypeError(f"got multiple values for keyword argument '{key}'")
    into.update(more)


@handles("UNPACK_SEQUENCE")
def unpack_sequence(frame: Frame, instruction: Instruction) -> None:
    items = list(frame.stack.pop())
    if len(items) != instruction.arg:
        few = len(items) < instruction.arg
        got = f", got {len(items)}" if few else ""
        raise ValueError(f"{'not enough' if few else 'too many'} values to unpack (expected {instruction.arg}{got})")
    frame.stack.extend(reversed(items))


@handles("UNPACK_EX")
def unpack_ex(frame: Frame, instruction: Instruction) -> None:
    before, after = instruction.arg & 255, instruction.arg >> 8
    items = list(frame.stack.pop())
    if len(items) < before + after:
        raise ValueError(f"not enough values to unpack (expected at least {before + after}, got {len(items)})")
    end = len(items) - after
    frame.stack.extend(reversed([*items[:before], items[before:end], *items[end:]]))


# Jumps and loops


@handles("JUMP")
def jump(frame: Frame, instruction: Instruction) -> None:
    frame.index = instruction.arg


@handles("POP_JUMP_IF_TRUE", "POP_JUMP_IF_FALSE")
def pop_jump_if(frame: Frame, instruction: Instruction) -> None:
    if bool(frame.stack.pop()) == (instruction.op == "POP_JUMP_IF_TRUE"):
        frame.index = instruction.arg


@handles("JUMP_IF_TRUE_OR_POP", "JUMP_IF_FALSE_OR_POP")
def jump_if_or_pop(frame: Frame, instruction: Instruction) -> None:
    if bool(frame.stack[-1]) == (instruction.op == "JUMP_IF_TRUE_OR_POP"):
        frame.index = instruction.arg
    else:
        frame.stack.pop()


@handles("POP_JUMP_IF_NONE", "POP_JUMP_IF_NOT_NONE")
def pop_jump_if_none(frame: Frame, instruction: Instruction) -> None:
    if (frame.stack.pop() is None) == (instruction.op == "POP_JUMP_IF_NONE"):
        frame.index = instruction.arg


_END = object()


@handles("FOR_ITER")
def for_iter(frame: Frame, instruction: Instruction) -> None:
    item = next(frame.stack[-1], _END)
    if item is _END:
        frame.stack.pop()
        frame.index = instruction.arg
    else:
        frame.stack.append(item)


@handles("RETURN_VALUE")
def return_value(frame: Frame, instruction: Instruction) -> None:
    frame.returned, frame.value = True, frame.stack.pop()


# Calls and functions


def callee_of(frame: Frame) -> tuple[Any, list]:
    first, second = frame.popn(2)
    if first is NULL:
        return second, []
    return (first, []) if second is NULL else (first, [second])


@handles("CALL")
def call(frame: Frame, instruction: Instruction) -> None:
    args = frame.popn(instruction.arg)
    function, first = callee_of(frame)
    frame.stack.append(_call(frame, function, first + args, {}))


@handles("CALL_KW")
def call_kw(frame: Frame, instruction: Instruction) -> None:
    names = frame.stack.pop()
    args = frame.popn(instruction.arg)
    function, first = callee_of(frame)
    positional = len(args) - len(names)
    frame.stack.append(_call(frame, function, first + args[:positional], dict(zip(names, args[positional:]))))


@handles("CALL_FUNCTION_EX")
def call_function_ex(frame: Frame, instruction: Instruction) -> None:
    kwargs = frame.stack.pop() if instruction.arg & 1 else {}
    args = frame.stack.pop()
    function, first = callee_of(frame)
    frame.stack.append(_call(frame, function, first + list(args), kwargs))


def _call(frame: Frame, function: Any, args: list, kwargs: dict[str, Any]) -> Any:
    if function is super and not args:  # it looks for its arguments in the frame that calls it
        name = frame.code.co_varnames[0]
        owner = frame.locals[name] if name in frame.locals else frame.cells[name].cell_contents
        return super(frame.cells["__class__"].cell_contents, owner)
    return frame.call(function, args, kwargs)


@handles("MAKE_FUNCTION")
def make_function(frame: Frame, instruction: Instruction) -> None:
    flags = instruction.arg or 0
    code = frame.stack.pop()
    closure = frame.stack.pop() if flags & 8 else None
    if flags & 4:
        frame.stack.pop()  # annotations
    kwdefaults = frame.stack.pop() if flags & 2 else None
    defaults = frame.stack.pop() if flags & 1 else None
    if code.co_freevars and closure is None:  # from 3.13 on the cells come with the next instruction
        closure = tuple(CellType() for _ in code.co_freevars)
    function = FunctionType(code, frame.f_globals, code.co_name, defaults, closure)
    function.__kwdefaults__, function.__qualname__ = kwdefaults, code.co_qualname
    function.__module__ = frame.f_globals.get("__name__")
    frame.stack.append(function)


@handles("SET_FUNCTION_ATTRIBUTE")
def set_function_attribute(frame: Frame, instruction: Instruction) -> None:
    value, function = frame.popn(2)
    if instruction.arg == 8:
        made = FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__, value)
        made.__kwdefaults__, made.__qualname__ = function.__kwdefaults__, function.__qualname__
        function = made
    elif instruction.arg == 2:
        function.__kwdefaults__ = value
    elif instruction.arg == 1:
        function.__defaults__ = value
    frame.stack.append(function)


# Exceptions and blocks


@handles("RAISE_VARARGS")
def raise_varargs(frame: Frame, instruction: Instruction) -> None:
    if instruction.arg == 0:
        if not frame.handled:
            raise RuntimeError("No active exception to reraise")
        raise frame.handled[-1]
    cause = frame.stack.pop() if instruction.arg == 2 else None
    if instruction.arg == 2:
        raise frame.stack.pop() from cause
    raise frame.stack.pop()


@handles("RERAISE")
def reraise(frame: Frame, instruction: Instruction) -> None:
    raise frame.stack.pop()


@handles("PUSH_EXC_INFO")
def push_exc_info(frame: Frame, instruction: Instruction) -> None:
    frame.handled.append(frame.stack[-1])
    frame.stack.insert(-1, None)


@handles("POP_EXCEPT")
def pop_except(frame: Frame, instruction: Instruction) -> None:
    frame.stack.pop()
    frame.handled.pop()


@handles("CHECK_EXC_MATCH")
def check_exc_match(frame: Frame, instruction: Instruction) -> None:
    classes = frame.stack.pop()
    frame.stack.append(isinstance(frame.stack[-1], classes))


@handles("BEFORE_WITH")
def before_with(frame: Frame, instruction: Instruction) -> None:
    manager = frame.stack.pop()
    leave = type(manager).__exit__.__get__(manager)
    frame.stack.append(leave)
    frame.stack.append(type(manager).__enter__(manager))


@handles("WITH_EXCEPT_START")
def with_except_start(frame: Frame, instruction: Instruction) -> None:
    error = frame.stack[-1]
    frame.stack.append(frame.stack[-4](type(error), error, error.__traceback__))
