"""Wrong answers to lab 07c that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import dataclasses
import types

import rushlight as rl
from rushlight.course import breaks, predictions
from rushlight.dynamo import bytecode
from rushlight.dynamo.codegen import load_value
from rushlight.dynamo.variables import (
    ConstantVariable,
    ConstDictVariable,
    ListVariable,
    TensorVariable,
)

from ..shared import copied, edited

# ---- dynamo --------------------------------------------------------------------------------------------------------


def live_names__all_that_are_read_later(instructions, start):
    return {each.arg for each in instructions[start:] if each.op in bytecode.READS}


def live_names__a_handler_before_its_own_write(instructions, start):
    """An instruction with a handler as two: a jump to it, then the instruction."""
    live = LIVE_NAMES(instructions, start)
    first = instructions[start]
    if first.handler is not None:
        live |= LIVE_NAMES(instructions, first.handler[0])
    return live


LIVE_NAMES = types.FunctionType(bytecode.live_names.__code__, vars(bytecode))


def live_names__forgets_the_handlers(instructions, start):
    live, written, seen, waiting, sure = set(), set(), set(), [start], True
    while waiting:
        index = waiting.pop()
        while index not in seen and index < len(instructions):
            seen.add(index)
            each = instructions[index]
            if each.op in bytecode.READS and each.arg not in written:
                live.add(each.arg)
            if each.op in bytecode.WRITES and sure:
                written.add(each.arg)
            if each.op in bytecode.JUMPS:
                sure = False
                waiting.append(each.arg)
            if each.op in bytecode.ENDS:
                break
            index += 1
        sure = False
    return live


# ---- aot -----------------------------------------------------------------------------------------------------------


captured_graphs__guards_on_the_decision = edited(predictions.captured_graphs, (', "4: cos add add, return"', ""))
captured_graphs__makes_no_size_a_symbol = edited(
    predictions.captured_graphs,
    ('"3: exp cos tanh mul, return"', '"3: exp cos tanh mul, return", "4: exp cos tanh mul, return"'),
)
# A tensor with two names is returned twice.
load_value__an_output_for_each_name = edited(
    load_value,
    (
        "        for i, other in enumerate(codegen.outputs):\n"
        "            if other.fake is variable.fake:\n"
        '                return f"out[{i}]"\n',
        "",
    ),
)


def values_to_restore__all_variables(codegen, frame):
    return [*map(codegen, frame.stack)], {name: codegen(each) for name, each in frame.locals.items()}


def values_to_restore__each_variable_of_the_stack_once(codegen, frame):
    live = bytecode.live_names(frame.instructions, frame.index)
    stack = [*map(codegen, dict.fromkeys(frame.stack))]
    return stack, {name: codegen(each) for name, each in frame.locals.items() if name in live}


def values_to_restore__variables_before_the_stack(codegen, frame):
    live = bytecode.live_names(frame.instructions, frame.index)
    kept = {name: codegen(each) for name, each in frame.locals.items() if name in live}
    return [*map(codegen, frame.stack)], kept


def values_to_restore__live_before_the_function(codegen, frame):
    live = bytecode.live_names(frame.instructions, 0)
    stack = [*map(codegen, frame.stack)]
    return stack, {name: codegen(each) for name, each in frame.locals.items() if name in live}


# Sentences that are easily passed over


def live_names__a_deletion_reads_nothing(instructions, start):
    plain = [dataclasses.replace(each, op="POP_TOP") if each.op == "DELETE_FAST" else each for each in instructions]
    return LIVE_NAMES(plain, start)


live_names__a_deletion_takes_the_write_back = edited(
    bytecode.live_names,
    (
        "        if instruction.handler is not None:",
        "        if instruction.op.startswith('DELETE'):\n            written.discard(instruction.arg)\n"
        "        if instruction.handler is not None:",
    ),
)


def live_names__cells_on_the_straight_path_only(instructions, start):
    cells = ("LOAD_CLOSURE", "LOAD_DEREF", "DELETE_DEREF")
    plain = [dataclasses.replace(each, op="POP_TOP") if each.op in cells else each for each in instructions]
    ends = (i for i, each in enumerate(instructions) if i >= start and each.op in bytecode.JUMPS | bytecode.ENDS)
    end = next(ends)
    return LIVE_NAMES([*instructions[:end], *plain[end:]], start)


def live_names__in_a_list(instructions, start):
    return [*LIVE_NAMES(instructions, start)]


live_names__every_store_writes = edited(
    bytecode.live_names, ("instruction.op in WRITES", "instruction.op.startswith('STORE')")
)
_load_value = rl.dynamo.codegen.load_value
load_value__the_source_of_a_tensor_late = edited(
    _load_value,
    (
        "            return codegen.remember(variable, variable.source)\n",
        "            if isinstance(variable, TensorVariable):\n                return variable.source\n"
        "            return codegen.remember(variable, variable.source)\n",
    ),
)


def load_value__constants_as_they_are_printed(codegen, variable):
    return repr(variable.value) if isinstance(variable, ConstantVariable) else LOAD_VALUE(codegen, variable)


load_value__reads_the_source_late = edited(
    _load_value, ("return codegen.remember(variable, variable.source)", "return variable.source")
)
load_value__arguments_from_the_graph = edited(  # every tensor is an output
    _load_value,
    ("isinstance(variable, TensorVariable) and variable.source is None", "isinstance(variable, TensorVariable)"),
)
load_value__made_each_time = edited(  # two names of one list become two lists
    _load_value,
    (
        "    codegen.made.setdefault(variable, variable.reconstruct(codegen))\n",
        "    return variable.reconstruct(codegen)\n",
    ),
)
load_value__compares_the_variables = edited(_load_value, ("other.fake is variable.fake", "other is variable"))


def load_value__only_lists_and_dicts_once(codegen, variable):
    containers = isinstance(variable, (ListVariable, ConstDictVariable))
    if variable.source is None and not containers and not isinstance(variable, TensorVariable):
        return variable.reconstruct(codegen)
    return LOAD_VALUE(codegen, variable)


LOAD_VALUE = types.FunctionType(_load_value.__code__, _load_value.__globals__)
values_to_restore__live_after_the_instruction = edited(
    rl.dynamo.resume_execution.values_to_restore, ("frame.index)", "frame.index + 1)")
)


def values_to_restore__all_that_is_read_later(codegen, frame):
    read = {each.arg for each in frame.instructions[frame.index :] if each.op in bytecode.READS}
    stack = [*map(codegen, frame.stack)]
    return stack, {name: codegen(each) for name, each in frame.locals.items() if name in read}


def values_to_restore__without_none(codegen, frame):
    live = bytecode.live_names(frame.instructions, frame.index)
    kept = {name: each for name, each in frame.locals.items() if name in live}
    stack = [*map(codegen, frame.stack)]
    return stack, {
        name: codegen(each)
        for name, each in kept.items()
        if not isinstance(each, ConstantVariable) or each.value is not None
    }


_update = rl.dynamo.side_effects.codegen_update_mutated
codegen_update_mutated__turned_around_in_an_iterator = edited(
    _update, ("return statements[::-1]", "return reversed(statements)")
)
codegen_update_mutated__in_the_order_of_the_program = edited(
    _update,
    ("reversed(side_effects.written(variable).items())", "side_effects.written(variable).items()"),
    ("return statements[::-1]", "return statements"),
)
codegen_update_mutated__attributes_turned_around = edited(
    _update, ("reversed(side_effects.written(variable).items())", "side_effects.written(variable).items()")
)
codegen_update_mutated__new_objects = edited(  # the name in the frame gets a new list, and nobody else does
    _update, ("{codegen(variable)}[:] =", "{codegen(variable)} =")
)
codegen_update_mutated__always_cleared = edited(  # a dict that only grew loses its other items
    _update, ("if variable.should_reconstruct_all", "if True")
)
codegen_update_mutated__deletes_first = edited(
    _update,
    ("return statements[::-1]", "return sorted(statements[::-1], key=lambda each: not each.startswith('del '))"),
)


# Cases

_breaks = copied(breaks.breaks_truth)


def breaks_truth__of_the_table():
    cases = ("0", []), ("[]", []), ("'a'", []), ("o", ["__bool__: False"]), ("o", ["__len__: 0"])
    return [{"value": value, "methods": methods} for value, methods in cases]


def breaks_truth__with_zero_for_the_empty_word():
    return [case | {"value": case["value"].replace("''", "0")} for case in _breaks()]


def breaks_truth__with_lists():
    return [case | {"value": case["value"].replace("(0,)", "[0]")} for case in _breaks()]


def breaks_truth__with_methods_of_the_class():
    return [case | {"methods": [each[each.index("_") :] for each in case["methods"]]} for case in _breaks()]


def breaks_truth__with_one_method():
    return [case | {"methods": case["methods"][:1]} for case in _breaks()]


def breaks_truth__with_lengths_of_zero():
    return [case | {"methods": [each.replace("2", "0") for each in case["methods"]]} for case in _breaks()]


def breaks_truth__as_conditions():
    return ["''", "(0,)", "o"]


def breaks_truth__of_seven_cases():
    return [*_breaks(), {"value": "0", "methods": []}]
