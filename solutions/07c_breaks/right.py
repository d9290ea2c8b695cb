"""Correct answers to lab 07c in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

from rushlight.course import predictions
from rushlight.dynamo import bytecode
from rushlight.dynamo.variables import (
    ConstantVariable,
    ConstDictVariable,
    ListVariable,
    SetVariable,
    TensorVariable,
)

from ..shared import copied

# ---- dynamo --------------------------------------------------------------------------------------------------------


def live_names__recursively(instructions, start):
    reads, visited, must = set(), set(), set()

    def walk(index, straight):
        if (index, straight) in visited:
            return
        visited.add((index, straight))
        while index < len(instructions):
            each = instructions[index]
            if each.op in bytecode.READS and each.arg not in must:
                reads.add(each.arg)
            if each.op in bytecode.WRITES and straight:
                must.add(each.arg)
            if each.handler:
                walk(each.handler[0], False)
            if each.op in bytecode.JUMPS:
                walk(each.arg, False)
                straight = False
            if each.op in bytecode.ENDS:
                return
            index += 1

    walk(start, True)
    return reads


def live_names__for_each_name(instructions, start):
    straight, index = [], start
    while True:
        straight.append(index)
        op = instructions[index].op
        if op in bytecode.JUMPS or op in bytecode.ENDS or index + 1 == len(instructions):
            break
        index += 1

    def ways(index):
        each = instructions[index]
        found = [each.handler[0]] if each.handler else []
        found += [each.arg] if each.op in bytecode.JUMPS else []
        return found + ([index + 1] if each.op not in bytecode.ENDS and index + 1 < len(instructions) else [])

    def is_read(name):
        here, roots = set(), []
        for index in straight:
            each = instructions[index]
            here.add(index)
            roots += [way for way in ways(index) if each is instructions[straight[-1]] or way != index + 1]
            if each.arg == name and each.op in bytecode.READS:
                return True
            if each.arg == name and each.op in bytecode.WRITES:
                roots = [
                    way
                    for at in here - {index}
                    for way in ways(at)
                    if instructions[at].handler and way == instructions[at].handler[0]
                ]
                break
        seen = set()
        while roots:
            index = roots.pop()
            if index not in seen:
                seen.add(index)
                if instructions[index].arg == name and instructions[index].op in bytecode.READS:
                    return True
                roots += ways(index)
        return False

    names = {each.arg for each in instructions if each.op in bytecode.READS}
    return {name for name in names if is_read(name)}


def load_value__place_by_place(codegen, variable):
    if isinstance(variable, ConstantVariable):
        text = variable.reconstruct(codegen)
    elif variable in codegen.made:
        text = codegen.made[variable]
    elif variable.source is not None:
        text = codegen.remember(variable, variable.source)
    elif isinstance(variable, TensorVariable):
        fakes = [id(known.fake) for known in codegen.outputs]
        if id(variable.fake) not in fakes:
            codegen.outputs.append(variable)
            fakes.append(id(variable.fake))
        text = f"out[{fakes.index(id(variable.fake))}]"
    else:
        text = variable.reconstruct(codegen)
        if variable in codegen.made:
            text = codegen.made[variable]
        codegen.made[variable] = text
    return text


def load_value__with_a_table_of_tensors(codegen, variable):
    source = getattr(variable, "source", None)
    match variable:
        case ConstantVariable():
            return variable.reconstruct(codegen)
        case TensorVariable(source=None):
            places = {id(each.fake): place for place, each in enumerate(codegen.outputs)}
            place = places.get(id(variable.fake), len(places))
            if place == len(places):
                codegen.outputs += [variable]
            return f"out[{place}]"
    try:
        return codegen.made[variable]
    except KeyError:
        if source:
            return codegen.remember(variable, source)
        return codegen.made.setdefault(variable, variable.reconstruct(codegen))


def values_to_restore__in_loops(codegen, frame):
    stack, kept = [], {}
    for variable in frame.stack:
        stack.append(codegen(variable))
    for name in frame.locals:
        if name in bytecode.live_names(frame.instructions, frame.index):
            kept[name] = codegen(frame.locals[name])
    return stack, kept


def values_to_restore__names_first(codegen, frame):
    needed = bytecode.live_names(frame.instructions, frame.index)
    names = [name for name in frame.locals if name in needed]
    texts = [*map(codegen, frame.stack + [frame.locals[name] for name in names])]
    depth = len(frame.stack)
    return texts[:depth], dict(zip(names, texts[depth:]))


def codegen_update_mutated__in_front(codegen, side_effects):
    statements = []
    for variable in side_effects.get_modified_vars():
        if isinstance(variable, ListVariable):
            target = codegen(variable)
            contents = codegen.name(variable.reconstruct_contents(codegen))
            statements = [f"{target}.clear()", f"{target}.extend({contents})", *statements]
        elif isinstance(variable, (ConstDictVariable, SetVariable)):
            contents = codegen.name(variable.reconstruct_contents(codegen))
            statements.insert(0, f"{codegen(variable)}.update({contents})")
            if variable.should_reconstruct_all:
                statements.insert(0, f"{codegen(variable)}.clear()")
        else:
            for name, value in [*side_effects.written(variable).items()][::-1]:
                statements.insert(0, variable.write_attribute(codegen, name, value))
    return statements


def codegen_update_mutated__by_objects(codegen, side_effects):
    def of_one(variable):
        if isinstance(variable, ListVariable):
            return [f"{codegen(variable)}[:] = {variable.reconstruct_contents(codegen)}"]
        if isinstance(variable, (ConstDictVariable, SetVariable)):
            target, new = codegen(variable), variable.reconstruct_contents(codegen)
            return [f"{target}.clear()"] * variable.should_reconstruct_all + [f"{target}.update({new})"]
        backwards = reversed([*side_effects.written(variable).items()])
        return [variable.write_attribute(codegen, *each) for each in backwards][::-1]

    found = [of_one(variable) for variable in side_effects.get_modified_vars()]
    return [statement for statements in reversed(found) for statement in statements]


# ---- aot -----------------------------------------------------------------------------------------------------------


_captured_graphs = copied(predictions.captured_graphs)


def captured_graphs__with_a_second_draw():
    right = _captured_graphs()
    return {"h": [], "g": [], "f": [], "e": []} | {key: right[key] for key in reversed(right)}


def captured_graphs__in_tuples():
    right = _captured_graphs()
    return {key: value if key == "name" else tuple(value) for key, value in right.items()}


# Cases


def breaks_truth__as_a_text():
    text = """
    '' |
    {0: 0} |
    o |
    o | __bool__: False, __len__: 2
    o | inherited __len__: 0, own __bool__: False
    o | __len__: 2, own __bool__: False
    """
    rows = [line.split("|") for line in text.strip().splitlines()]
    return [
        {"value": value.strip(), "methods": [each.strip() for each in methods.split(",") if each.strip()]}
        for value, methods in rows
    ]


def breaks_truth__in_tuples():
    return (
        {"methods": ("own __bool__: False",), "value": "o"},
        {"methods": ("inherited __len__: 0",), "value": "o"},
        {"methods": ("inherited __len__: 0", "__len__: 2"), "value": "o"},
        {"methods": ("inherited __len__: 0", "__bool__: True"), "value": "o"},
        {"methods": ("__len__: 0",), "value": "(0,)"},
        {"methods": (), "value": "''"},
    )
