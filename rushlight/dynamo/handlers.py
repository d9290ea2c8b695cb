"""What each instruction of the small set does to a frame: the table `HANDLERS`.

A handler takes what it needs off the stack, asks `calls`, `objects` or `containers` what becomes of it, and pushes the result.
Some only look at variables, `LOAD_FAST` say: those that look at what is behind them realise them first (`Frame.pop`). In PyTorch:
the methods of `torch/_dynamo/symbolic_convert.py`, `InstructionTranslatorBase`, that are named after instructions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rushlight.dynamo import calls, containers, objects, symbolic, training
from rushlight.dynamo.bytecode import Handlers, Instruction
from rushlight.dynamo.values import fold, literal, raised
from rushlight.dynamo.variables import (
    NULL,
    CellVariable,
    Constant,
    DictVariable,
    ExceptionVariable,
    FunctionVariable,
    GradModeVariable,
    Lazy,
    ListVariable,
    MethodVariable,
    ObjectVariable,
    Raised,
    SetVariable,
    TensorVariable,
    TupleVariable,
    Unsupported,
    Variable,
    constant_of,
)

if TYPE_CHECKING:
    from rushlight.dynamo.symbolic import Frame

HANDLERS = Handlers()
handles = HANDLERS.handles


# ------------------------------------------------------------------------------------------------------------
# The stack


@handles("POP_TOP", "END_SEND")
def pop_top(frame: Frame, instruction: Instruction) -> None:
    frame.stack.pop()


@handles("PUSH_NULL")
def push_null(frame: Frame, instruction: Instruction) -> None:
    frame.push(NULL)


@handles("COPY")
def copy(frame: Frame, instruction: Instruction) -> None:
    frame.push(frame.stack[-instruction.arg])


@handles("SWAP")
def swap(frame: Frame, instruction: Instruction) -> None:
    stack, n = frame.stack, instruction.arg
    stack[-1], stack[-n] = stack[-n], stack[-1]


@handles("LOAD_CONST")
def load_const(frame: Frame, instruction: Instruction) -> None:
    frame.push(literal(instruction.arg))


# ------------------------------------------------------------------------------------------------------------
# Names


@handles("LOAD_FAST")
def load_fast(frame: Frame, instruction: Instruction) -> None:
    value = frame.locals.get(instruction.arg)
    if value is None:
        raise raised(UnboundLocalError, f"cannot access local variable '{instruction.arg}'")
    frame.push(value)


@handles("LOAD_FAST_AND_CLEAR")
def load_fast_and_clear(frame: Frame, instruction: Instruction) -> None:
    frame.push(frame.locals.pop(instruction.arg, NULL))


@handles("STORE_FAST")
def store_fast(frame: Frame, instruction: Instruction) -> None:
    value = frame.stack.pop()
    if value is NULL:  # what LOAD_FAST_AND_CLEAR found
        frame.locals.pop(instruction.arg, None)
        return
    seen = value.real if isinstance(value, Lazy) else value
    if (
        isinstance(seen, TensorVariable) and not seen.named
    ):  # nodes are named after the variables that they are stored in
        seen.node._rename(instruction.arg)
        seen.named = True
    frame.locals[instruction.arg] = value


@handles("DELETE_FAST")
def delete_fast(frame: Frame, instruction: Instruction) -> None:
    if frame.locals.pop(instruction.arg, None) is None:
        raise raised(UnboundLocalError, f"cannot access local variable '{instruction.arg}'")


@handles("MAKE_CELL")
def make_cell(frame: Frame, instruction: Instruction) -> None:
    if instruction.arg not in frame.cells:
        frame.cells[instruction.arg] = CellVariable(frame.locals.pop(instruction.arg, None))


@handles("LOAD_CLOSURE")
def load_closure(frame: Frame, instruction: Instruction) -> None:
    frame.push(frame.cells[instruction.arg])


@handles("LOAD_DEREF")
def load_deref(frame: Frame, instruction: Instruction) -> None:
    contents = frame.cells[instruction.arg].contents
    if contents is None:
        raise raised(NameError, f"cannot access free variable '{instruction.arg}'")
    frame.push(contents)


@handles("STORE_DEREF", "DELETE_DEREF")
def store_deref(frame: Frame, instruction: Instruction) -> None:
    cell = frame.cells[instruction.arg]
    if cell.source is not None:
        frame.output.effect("cell", cell)
    cell.contents = frame.stack.pop() if instruction.op == "STORE_DEREF" else None


@handles("LOAD_GLOBAL")
def load_global(frame: Frame, instruction: Instruction) -> None:
    frame.push(objects.global_variable(frame, instruction.arg))


@handles("STORE_GLOBAL")
def store_global(frame: Frame, instruction: Instruction) -> None:
    values = frame.output.globals_written(frame.f_globals)
    values[instruction.arg] = frame.stack.pop()
    frame.output.effect("global", frame.f_globals, instruction.arg, values)


@handles("IMPORT_NAME")
def import_name(frame: Frame, instruction: Instruction) -> None:
    names, level = frame.pop(), frame.pop()
    frame.push(fold(frame, __import__, [Constant(instruction.arg), Constant(frame.f_globals), NULL_DICT, names, level]))


NULL_DICT = Constant(None)


@handles("IMPORT_FROM")
def import_from(frame: Frame, instruction: Instruction) -> None:
    frame.push(fold(frame, getattr, [frame.stack[-1], Constant(instruction.arg)]))


# ------------------------------------------------------------------------------------------------------------
# Attributes and items


@handles("LOAD_ATTR")
def load_attr(frame: Frame, instruction: Instruction) -> None:
    frame.push(objects.get_attribute(frame, frame.pop(), instruction.arg))


@handles("STORE_ATTR")
def store_attr(frame: Frame, instruction: Instruction) -> None:
    owner = frame.pop()
    objects.set_attribute(frame, owner, instruction.arg, frame.stack.pop())


@handles("DELETE_ATTR")
def delete_attr(frame: Frame, instruction: Instruction) -> None:
    objects.set_attribute(frame, frame.pop(), instruction.arg, None)


@handles("LOAD_SUPER_ATTR")
def load_super_attr(frame: Frame, instruction: Instruction) -> None:
    name, two = instruction.arg
    owner, cls, _ = frame.pop(), frame.pop(), frame.stack.pop()
    frame.push(objects.get_attribute(frame, objects.make_super(frame, [cls, owner]), name))


@handles("STORE_SUBSCR")
def store_subscr(frame: Frame, instruction: Instruction) -> None:
    key, container = frame.pop(), frame.pop()
    containers.set_item(frame, container, key, frame.stack.pop())


@handles("DELETE_SUBSCR")
def delete_subscr(frame: Frame, instruction: Instruction) -> None:
    key, container = frame.pop(), frame.pop()
    calls.call_method(frame, container, "__delitem__", [key])


@handles("BINARY_SLICE")
def binary_slice(frame: Frame, instruction: Instruction) -> None:
    stop, start, container = frame.pop(), frame.pop(), frame.pop()
    frame.push(containers.get_item(frame, container, Constant(slice(constant_of(start), constant_of(stop)))))


@handles("STORE_SLICE")
def store_slice(frame: Frame, instruction: Instruction) -> None:
    stop, start, container = frame.pop(), frame.pop(), frame.pop()
    containers.set_item(frame, container, Constant(slice(constant_of(start), constant_of(stop))), frame.stack.pop())


# ------------------------------------------------------------------------------------------------------------
# Operators


@handles("BINARY_OP")
def binary(frame: Frame, instruction: Instruction) -> None:
    left, right = map(frame.output.realize, frame.popn(2))
    if instruction.arg == "[]":
        frame.push(containers.get_item(frame, left, right))
    else:
        frame.push(calls.compute(frame, instruction.arg, left, right))


@handles("UNARY_OP")
def unary(frame: Frame, instruction: Instruction) -> None:
    frame.push(symbolic.unary_op(frame, instruction.arg, frame.pop()))


@handles("TO_BOOL")
def to_bool(frame: Frame, instruction: Instruction) -> None:
    value = frame.stack[-1]  # what is decided by it is a jump or a `not`, which ask themselves
    if not isinstance(frame.output.realize(value), TensorVariable):
        frame.stack[-1] = Constant(symbolic.truth(frame, frame.output.realize(value)))


@handles("IS_OP")
def is_op(frame: Frame, instruction: Instruction) -> None:
    left, right = map(frame.output.realize, frame.popn(2))
    frame.push(Constant(containers.same(frame, left, right) != bool(instruction.arg)))


@handles("CONTAINS_OP")
def contains_op(frame: Frame, instruction: Instruction) -> None:
    item, container = map(frame.output.realize, frame.popn(2))
    found = containers.contains(frame, container, item)
    frame.push(Constant(found != bool(instruction.arg)))


@handles("FORMAT_VALUE")
def format_value(frame: Frame, instruction: Instruction) -> None:
    conversion, has_spec = instruction.arg
    spec = frame.pop() if has_spec else Constant("")
    value = frame.pop()
    if conversion:
        value = calls.call(frame, Constant((None, str, repr, ascii)[conversion]), [value], {})
    frame.push(fold(frame, format, [value, spec]))


@handles("CONVERT_VALUE")
def convert_value(frame: Frame, instruction: Instruction) -> None:
    frame.push(calls.call(frame, Constant((None, str, repr, ascii)[instruction.arg]), [frame.pop()], {}))


# ------------------------------------------------------------------------------------------------------------
# Containers


@handles("BUILD_TUPLE")
def build_tuple(frame: Frame, instruction: Instruction) -> None:
    frame.push(TupleVariable(frame.popn(instruction.arg)))


@handles("BUILD_LIST")
def build_list(frame: Frame, instruction: Instruction) -> None:
    frame.push(ListVariable(frame.popn(instruction.arg)))


@handles("BUILD_SET")
def build_set(frame: Frame, instruction: Instruction) -> None:
    frame.push(SetVariable({containers.key_of(frame, item) for item in frame.popn(instruction.arg)}))


@handles("BUILD_MAP")
def build_map(frame: Frame, instruction: Instruction) -> None:
    flat = frame.popn(2 * instruction.arg)
    frame.push(DictVariable({containers.key_of(frame, key): value for key, value in zip(flat[::2], flat[1::2])}))


@handles("BUILD_CONST_KEY_MAP")
def build_const_key_map(frame: Frame, instruction: Instruction) -> None:
    keys = constant_of(frame.pop())
    frame.push(DictVariable(dict(zip(keys, frame.popn(instruction.arg)))))


@handles("BUILD_STRING")
def build_string(frame: Frame, instruction: Instruction) -> None:
    frame.push(Constant("".join(constant_of(item) for item in frame.popn(instruction.arg))))


@handles("BUILD_SLICE")
def build_slice(frame: Frame, instruction: Instruction) -> None:
    parts = [frame.output.realize(item) for item in frame.popn(instruction.arg)]
    frame.push(Constant(slice(*map(constant_of, parts))))


@handles("LIST_APPEND")
def list_append(frame: Frame, instruction: Instruction) -> None:
    item = frame.stack.pop()
    frame.stack[-instruction.arg].items.append(item)


@handles("SET_ADD")
def set_add(frame: Frame, instruction: Instruction) -> None:
    item = frame.stack.pop()
    frame.stack[-instruction.arg].items.add(containers.key_of(frame, item))


@handles("MAP_ADD")
def map_add(frame: Frame, instruction: Instruction) -> None:
    value, key = frame.stack.pop(), frame.stack.pop()
    frame.stack[-instruction.arg].items[containers.key_of(frame, key)] = value


@handles("LIST_EXTEND")
def list_extend(frame: Frame, instruction: Instruction) -> None:
    more = frame.pop()
    frame.stack[-instruction.arg].items.extend(containers.items_of(frame, more))


@handles("SET_UPDATE")
def set_update(frame: Frame, instruction: Instruction) -> None:
    more = frame.pop()
    frame.stack[-instruction.arg].items.update(
        containers.key_of(frame, item) for item in containers.items_of(frame, more)
    )


@handles("DICT_UPDATE", "DICT_MERGE")
def dict_update(frame: Frame, instruction: Instruction) -> None:
    more = frame.pop()
    if not isinstance(more, DictVariable):
        raise Unsupported(f"a dict from {more!r}")
    into = frame.stack[-instruction.arg].items
    if instruction.op == "DICT_MERGE" and into.keys() & more.items.keys():
        raise raised(TypeError, "got multiple values for keyword argument")
    into.update(more.items)


@handles("LIST_TO_TUPLE")
def list_to_tuple(frame: Frame, instruction: Instruction) -> None:
    frame.push(TupleVariable(list(frame.pop().items)))


@handles("UNPACK_SEQUENCE")
def unpack_sequence(frame: Frame, instruction: Instruction) -> None:
    items = containers.items_of(frame, frame.pop())
    if len(items) != instruction.arg:
        many = "not enough" if len(items) < instruction.arg else "too many"
        raise raised(ValueError, f"{many} values to unpack (expected {instruction.arg})")
    frame.stack.extend(reversed(items))


@handles("UNPACK_EX")
def unpack_ex(frame: Frame, instruction: Instruction) -> None:
    before, after = instruction.arg & 255, instruction.arg >> 8
    items = containers.items_of(frame, frame.pop())
    if len(items) < before + after:
        raise raised(ValueError, "not enough values to unpack")
    middle = items[before : len(items) - after]
    parts = [*items[:before], ListVariable(middle), *items[len(items) - after :]]
    frame.stack.extend(reversed(parts))


@handles("GET_LEN")
def get_len(frame: Frame, instruction: Instruction) -> None:
    frame.push(calls.call(frame, Constant(len), [frame.stack[-1]], {}))


# ------------------------------------------------------------------------------------------------------------
# Jumps and loops


@handles("JUMP")
def jump(frame: Frame, instruction: Instruction) -> None:
    frame.index = instruction.arg


@handles("POP_JUMP_IF_TRUE", "POP_JUMP_IF_FALSE")
def pop_jump_if(frame: Frame, instruction: Instruction) -> None:
    if symbolic.truth(frame, frame.pop()) == (instruction.op == "POP_JUMP_IF_TRUE"):
        frame.index = instruction.arg


@handles("JUMP_IF_TRUE_OR_POP", "JUMP_IF_FALSE_OR_POP")
def jump_if_or_pop(frame: Frame, instruction: Instruction) -> None:
    if symbolic.truth(frame, frame.output.realize(frame.stack[-1])) == (instruction.op == "JUMP_IF_TRUE_OR_POP"):
        frame.index = instruction.arg
    else:
        frame.stack.pop()


@handles("POP_JUMP_IF_NONE", "POP_JUMP_IF_NOT_NONE")
def pop_jump_if_none(frame: Frame, instruction: Instruction) -> None:
    value = frame.pop()
    is_none = isinstance(value, Constant) and value.value is None
    if is_none == (instruction.op == "POP_JUMP_IF_NONE"):
        frame.index = instruction.arg


@handles("GET_ITER")
def get_iter(frame: Frame, instruction: Instruction) -> None:
    frame.push(containers.iterator_over(frame, frame.pop()))


@handles("FOR_ITER")
def for_iter(frame: Frame, instruction: Instruction) -> None:
    iterator = frame.output.realize(frame.stack[-1])
    found = containers.advance(frame, iterator)
    if found is None:
        frame.stack.pop()
        frame.index = instruction.arg
    else:
        frame.push(found)


@handles("RETURN_VALUE")
def return_value(frame: Frame, instruction: Instruction) -> None:
    frame.returned = frame.stack.pop()


@handles("RETURN_GENERATOR")
def return_generator(frame: Frame, instruction: Instruction) -> None:
    frame.push(Constant(None))  # what a POP_TOP takes away


@handles("YIELD_VALUE")
def yield_value(frame: Frame, instruction: Instruction) -> None:
    frame.yielded = frame.stack.pop()
    frame.push(Constant(None))  # what is sent in


# ------------------------------------------------------------------------------------------------------------
# Calls and functions


def callee_of(frame: Frame) -> tuple[Variable, list[Variable]]:
    """What is called, from below its arguments: `NULL, f`, `f, NULL`, or a callable and a first argument."""
    second, first = frame.stack.pop(), frame.stack.pop()
    if first is NULL:
        return second, []
    return (first, []) if second is NULL else (first, [second])


@handles("CALL")
def call(frame: Frame, instruction: Instruction) -> None:
    args = frame.popn(instruction.arg)
    function, first = callee_of(frame)
    frame.push(calls.call(frame, function, first + args, {}))


@handles("CALL_KW")
def call_kw(frame: Frame, instruction: Instruction) -> None:
    names = frame.pop()
    args = frame.popn(instruction.arg)
    function, first = callee_of(frame)
    names = constant_of(names)
    positional = len(args) - len(names)
    frame.push(calls.call(frame, function, first + args[:positional], dict(zip(names, args[positional:]))))


@handles("CALL_FUNCTION_EX")
def call_function_ex(frame: Frame, instruction: Instruction) -> None:
    kwargs = frame.pop() if instruction.arg & 1 else DictVariable({})
    args = frame.pop()
    function, first = callee_of(frame)
    if not isinstance(kwargs, DictVariable):
        raise Unsupported(f"keyword arguments from {kwargs!r}")
    frame.push(calls.call(frame, function, first + containers.items_of(frame, args), dict(kwargs.items)))


@handles("MAKE_FUNCTION")
def make_function(frame: Frame, instruction: Instruction) -> None:
    code = frame.pop().value
    function = FunctionVariable(code, frame.f_globals, code.co_name, [], {}, [])
    for flag in (8, 4, 2, 1):
        if (instruction.arg or 0) & flag:
            set_part(frame, function, flag, frame.pop())
    frame.push(function)


@handles("SET_FUNCTION_ATTRIBUTE")
def set_function_attribute(frame: Frame, instruction: Instruction) -> None:
    function = frame.pop()
    set_part(frame, function, instruction.arg, frame.pop())
    frame.push(function)


def set_part(frame: Frame, function: FunctionVariable, flag: int, value: Variable) -> None:
    if flag == 8:
        function.closure = list(value.items)
    elif flag == 2:
        function.kwdefaults = dict(value.items)
    elif flag == 1:
        function.defaults = [frame.output.realize(each) for each in containers.items_of(frame, value)]  # as torch does


# ------------------------------------------------------------------------------------------------------------
# Exceptions and blocks


@handles("LOAD_ASSERTION_ERROR")
def load_assertion_error(frame: Frame, instruction: Instruction) -> None:
    frame.push(Constant(AssertionError))


@handles("RAISE_VARARGS")
def raise_varargs(frame: Frame, instruction: Instruction) -> None:
    cause = frame.pop() if instruction.arg == 2 else None
    if instruction.arg == 0:
        if not frame.handled:
            raise Unsupported("raise without an exception")
        raise Raised(frame.handled[-1])
    value = frame.pop()
    if isinstance(value, Constant) and isinstance(value.value, type) and issubclass(value.value, BaseException):
        value = calls.call(frame, value, [], {})
    if not isinstance(value, ExceptionVariable):
        raise Unsupported(f"raise of {value!r}")
    value.cause = cause
    raise Raised(value)


@handles("RERAISE")
def reraise(frame: Frame, instruction: Instruction) -> None:
    value = frame.pop()
    if not isinstance(value, ExceptionVariable):
        raise Unsupported("raise of an exception from before")
    raise Raised(value)


@handles("PUSH_EXC_INFO")
def push_exc_info(frame: Frame, instruction: Instruction) -> None:
    value = frame.stack.pop()
    frame.push(frame.handled[-1] if frame.handled else Constant(None))
    frame.handled.append(value)
    frame.push(value)


@handles("POP_EXCEPT")
def pop_except(frame: Frame, instruction: Instruction) -> None:
    frame.stack.pop()
    if frame.handled:
        frame.handled.pop()


@handles("CHECK_EXC_MATCH")
def check_exc_match(frame: Frame, instruction: Instruction) -> None:
    classes = constant_of(frame.pop())
    frame.push(Constant(issubclass(frame.stack[-1].python_type(), classes)))


@handles("BEFORE_WITH")
def before_with(frame: Frame, instruction: Instruction) -> None:
    manager = frame.pop()
    if isinstance(manager, GradModeVariable):
        training.enter_grad_mode(frame, manager)
        frame.push(MethodVariable("__exit__", manager))
        frame.push(Constant(None))
    elif isinstance(manager, ObjectVariable) and hasattr(manager.cls, "__enter__"):
        frame.push(objects.get_attribute(frame, manager, "__exit__"))
        frame.push(calls.call_method(frame, manager, "__enter__", []))
    else:
        raise Unsupported(f"the context manager {manager!r}")


@handles("WITH_EXCEPT_START")
def with_except_start(frame: Frame, instruction: Instruction) -> None:
    exit_method, value = frame.stack[-4], frame.stack[-1]
    args = [Constant(value.python_type()), value, Constant(None)]
    frame.push(calls.call(frame, exit_method, args, {}))
