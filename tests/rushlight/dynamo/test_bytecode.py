"""The small set of instructions is what the function says, on this version of Python."""

import dis
import inspect

import pytest
from sweep import in_one_test

import rushlight as rl
from rushlight.dynamo import bytecode, convert_frame
from rushlight.dynamo.resume_execution import PythonInterpreter
from rushlight.dynamo.symbolic_convert import InstructionTranslatorBase


def ordinary(a, b=1, *c, d=2, **e):
    try:
        with a as f, b:
            g = [h for h in c if h not in e]
            k = f"{a!r:>{d}} {b}"
    except (ValueError, KeyError) as error:
        raise RuntimeError("x") from error
    else:
        c[0], *g = g
        a.b, a[1:2], a[b] = b, c, d
    finally:
        del f
    for i, j in zip(a, b):
        if i is None or j < 1 < 2:
            continue
        g = {**e, "k": (lambda x: x + d)(k), **{i: j}}
    return g, {1, *c}, a(*c, **e), b(a, d=d), not a, -b, ~b


MODULES = [rl.modules, rl.optim, rl.nn.modules.containers, rl.nn.modules.layers, rl.nn.functional, inspect, dis]


def functions():
    found = [ordinary]
    for module in MODULES:
        for value in vars(module).values():
            if inspect.isfunction(value) and value.__module__ == module.__name__:
                found.append(value)
    return [f for f in found if not f.__code__.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE)]


@in_one_test
@pytest.mark.parametrize("function", functions(), ids=lambda f: f"{f.__module__}.{f.__qualname__}")
def test_instructions_are_those_that_dis_finds(function):
    wanted = [
        (i.offset, i.opname, i.arg or 0) for i in dis.get_instructions(function.__code__) if i.opname != "EXTENDED_ARG"
    ]
    assert [each[:3] for each in bytecode.read_instructions(function.__code__) if each[1] != "CACHE"] == [
        each for each in wanted if each[1] != "CACHE"
    ]


@in_one_test
@pytest.mark.parametrize("function", functions(), ids=lambda f: f"{f.__module__}.{f.__qualname__}")
def test_every_jump_and_handler_goes_to_an_instruction(function):
    instructions = bytecode.simplify(function.__code__)
    for instruction in instructions:
        if instruction.op in bytecode.JUMPS:
            assert 0 <= instruction.arg < len(instructions)
        if instruction.handler is not None:
            assert 0 <= instruction.handler[0] < len(instructions)


def test_both_interpreters_know_the_same_instructions():
    generators = {"RETURN_GENERATOR", "YIELD_VALUE"}
    assert set(InstructionTranslatorBase.handlers) - set(PythonInterpreter.handlers) == generators
    assert set(PythonInterpreter.handlers) <= set(InstructionTranslatorBase.handlers)


def test_every_rule_of_the_table_gives_instructions_that_are_known():
    made = {instruction.op for function in functions() for instruction in bytecode.simplify(function.__code__)}
    assert made - {"UNKNOWN", *convert_frame.NEVER} <= set(InstructionTranslatorBase.handlers)


def test_an_unknown_instruction_is_called_unknown():
    def matching(v):
        match v:
            case {"a": 1}:
                return 1

    assert "UNKNOWN" in {instruction.op for instruction in bytecode.simplify(matching.__code__)}


def test_names_that_are_written_first_are_not_kept():
    def f(x):
        y = x
        z = y
        return z

    instructions = bytecode.instructions_of(f.__code__)
    places = {instruction.arg: i for i, instruction in enumerate(instructions) if instruction.op == "STORE_FAST"}
    assert bytecode.live_names(instructions, 0) == {"x"}
    assert bytecode.live_names(instructions, places["y"] + 1) == {"y"}
    assert bytecode.live_names(instructions, places["z"] + 1) == {"z"}
