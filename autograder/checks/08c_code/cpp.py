"""Checks of lab 08: the C++ statements of a loop body.

Values are built from a list of steps. Python can run the C++ that is emitted for them, because the operations are few.
"""

import math
import re
from collections import Counter

from ...engine.check import program
from ..cases import drawn, listed, several
from ..shared_08 import symbols

# an element; a number for each row; one for all; a constant; an element that already has a name, and another of its buffer that
# has none; a number for each row that has a name in the innermost loop only; a constant of another type
_LEAVES = ("x", "v", "c", "one", "kept", "other", "row", "wide")


def _steps(st):
    leaf = st.sampled_from(_LEAVES).map(lambda name: [name])
    binary = listed(["add", "mul", "sub", "maximum"], (0, 8), (0, 8))(st)
    steps = st.lists(st.one_of(leaf, binary, binary, listed(["neg", "relu", "double"], (0, 8))(st)), max_size=7)
    return steps.map(lambda some: [["x"], ["v"], *some])


def _build(xp, steps, i, r):
    ir, Index = xp.inductor.ir, xp.inductor.index.Index
    leaves = {
        "x": ir.load("x", Index.of(i) * 3 + r, xp.float32),
        "v": ir.load("v", Index.of(i), xp.float32),
        "c": ir.load("c", Index.of(0), xp.float32),
        "one": ir.constant(1.5, xp.float32),
        "kept": ir.load("k", Index.of(i) * 3 + r, xp.float32),
        "other": ir.load("k", Index.of(i) * 3, xp.float32),
        "row": ir.load("w", Index.of(i), xp.float32),
        "wide": ir.constant(2.5, xp.float64),
    }
    values = []
    for name, *operands in steps:
        if name in leaves:
            values.append(leaves[name])
        elif name == "double":
            values.append(ir.op("cast", values[operands[0] % len(values)], dtype=xp.float64))
        else:
            values.append(ir.op(name, *(values[operand % len(values)] for operand in operands)))
    return values


_VALUES = [
    ([["x"]], [0]), ([["x"], ["v"]], [1]), ([["one"]], [0]), ([["kept"]], [0]), ([["x"], ["kept"], ["add", 0, 1]], [2]),
    ([["x"], ["add", 0, 0], ["mul", 1, 1]], [2]), ([["x"], ["add", 0, 0]], [1, 1]),
    ([["x"], ["neg", 0], ["neg", 0], ["add", 1, 2]], [3, 0]), ([["v"], ["neg", 0], ["x"], ["mul", 1, 2]], [3, 1]),
    ([["v"], ["one"], ["add", 0, 1], ["x"], ["sub", 2, 3], ["maximum", 4, 2]], [5, 2, 4]), ([["one"], ["neg", 0]], [1]),
    ([["wide"], ["neg", 0]], [1, 0]),
    ([["x"], ["v"], ["sub", 0, 1], ["sub", 1, 0], ["relu", 2], ["add", 3, 4]], [5]),
    ([["x"], ["double", 0], ["neg", 1]], [2, 0]), ([["v"], ["double", 0], ["x"], ["add", 1, 2]], [3]),
    ([["kept"], ["other"], ["add", 0, 1]], [2]), ([["x"], ["row"], ["mul", 0, 1]], [2, 1]),
    ([["row"], ["neg", 0]], [0, 1, 0]), ([["c"], ["neg", 0], ["v"], ["sub", 1, 2], ["x"], ["mul", 1, 4]], [5, 3, 1]),
]  # fmt: skip


# A loop over columns alone; in one over rows; and in nothing. Both as one loop. And a block in the loops where nothing varies.
_LOOPS = [["r"], ["i", "r"], ["", "i", "r"], ["", "ir"], ["i", "r", ""]]


@program(
    "inductor.cpp.emit",
    cases=drawn(steps=_steps, results=several((0, 8), 1, 3), loops=_LOOPS),
    edges=[{"steps": steps, "results": results, "loops": loops} for steps, results in _VALUES for loops in _LOOPS],
)
def emitted(xp, steps, results, loops):
    """The statements in nested blocks, from outside, each with the letters of the variables that vary in it."""
    Statements = xp.inductor.cpp.Statements
    i, r = symbols(xp, [2], "i")[0], symbols(xp, [3], "r")[0]
    values = _build(xp, steps, i, r)
    pointers = {name: f"{name}_ptr" for name in "xvckw"}
    named = {("k", xp.inductor.index.Index.of(i) * 3 + r): "k", ("w", xp.inductor.index.Index.of(i)): "w"}
    places, inside, number, known = [], None, [0], {}
    for letters in loops:
        known = dict(named if "r" in letters else known)
        varying = frozenset(variable for variable in (i, r) if variable.name[0] in letters)
        inside = Statements(pointers, known, number=number, hoist=inside, varying=varying)
        places.append(inside)
    lists = [place.lines for place in places]
    names = [xp.inductor.cpp.emit(inside, values[result % len(values)]) for result in results]
    print("// what emit has added, from outside", *(line for place in places for line in place.lines), sep="\n")
    numbers = []
    for row in range(2):
        for column in range(3):
            known = {"i0": row, "r0": column, "k": _kept(row, column), "w": _OF_ROWS[row] + 4}
            known |= {"x_ptr": _ELEMENTS, "v_ptr": _OF_ROWS, "c_ptr": [0.375], "k_ptr": _ELEMENTS[::-1]}
            known |= {"w_ptr": [number + 4 for number in _OF_ROWS]}
            for line in (line for place in places for line in place.lines):
                _run_statement(line, known)
            numbers.append([_read_number(name, known) for name in names])
    second_names = [xp.inductor.cpp.emit(inside, values[result % len(values)]) for result in results]
    counts = [len(place.lines) for place in places]
    types = sorted(line.split()[1] for place in places for line in place.lines)
    for place in places:
        order = [int(re.sub(r"\D", "", line.split()[2])) for line in place.lines]
        assert order == sorted(order), f"the names are not in the order of the statements: {place.lines}"
    for buffer in "kx":  # what has a name keeps it
        inside.store_cache[buffer, xp.inductor.index.Index.of(i) * 3 + r] = "stored_later"
    inside.store_cache["v", xp.inductor.index.Index.of(i)] = "stored_later"
    later = [xp.inductor.cpp.emit(inside, values[result % len(values)]) for result in results]
    shown = {
        "numbers": numbers,
        "statements, from outside": counts,
        "types": types,
        "the same again": second_names == names,
    }
    of_names = [Statements(pointers, known, names={id(value): "named"}) for value in values]
    shown["its name in `names`"] = [xp.inductor.cpp.emit(*pair) for pair in zip(of_names, values)]
    constants = [xp.inductor.ir.constant(number, getattr(xp, kind)) for kind, number, _ in _CONSTANTS]
    shown["constants"] = [xp.inductor.cpp.emit(Statements({}), constant) for constant in constants]
    shown["the list of lines stays"] = all(place.lines is some for place, some in zip(places, lists))
    return shown | {"after another store": later == ["stored_later" if name == "k" else name for name in names]}


_CONSTANTS = [
    ("float32", 2.0, "2.0f"), ("float64", 2.0, "2.0"), ("float32", -math.inf, "-INFINITY"), ("bool", True, "true"),
    ("int32", 3, "int32_t(3)"),
]  # fmt: skip
_ELEMENTS, _OF_ROWS = [0.5, -1.0, 2.0, 0.25, -0.75, 1.0], [2.0, -0.5]


def _kept(row, column):
    return 0.125 * (row + 1) * (column - 1)


def _run_statement(line, known):
    """One statement `const TYPE NAME = EXPRESSION;`, as Python."""
    assert line.endswith(";"), f"no ; at the end: {line}"
    words, _, text = line.removesuffix(";").partition(" = ")
    const, _, name = words.split()
    assert const == "const", f"not const: {line}"
    assert name not in known, f"{name} has been declared before: {line}"
    known[name] = _read_number(text, known)


def _read_number(text, known):
    functions = {"maximum_": max, "relu_": lambda x: max(x, 0.0)}
    text = text.replace("1.5f", "1.5").replace("static_cast<double>", "")
    return float(eval(text, {"__builtins__": {}}, functions | known))


@emitted.oracle
def _(torch, steps, results, loops):
    def numbers_of(values):
        return torch.tensor(values, dtype=torch.float64)

    def place_of(depth):
        """The outermost block inside which nothing varies that a value of as many dimensions depends on."""
        return max((place for place, letters in enumerate(loops) if {*letters} & {*"ir"[:depth]}), default=0)

    kept = numbers_of([[_kept(row, column) for column in range(3)] for row in range(2)])
    other = numbers_of(_ELEMENTS[::-1]).reshape(2, 3)[:, :1]
    elements, of_rows = numbers_of(_ELEMENTS).reshape(2, 3), numbers_of(_OF_ROWS).reshape(2, 1)
    leaves = {
        "x": elements,
        "v": of_rows,
        "c": numbers_of(0.375),
        "one": numbers_of(1.5),
        "kept": kept,
        "wide": numbers_of(2.5),
    }
    leaves |= {"other": other, "row": of_rows + 4}
    values, shown, needs, types = [], [], [], {}
    for name, *operands in steps:
        chosen = [operand % len(values) for operand in operands] if name not in leaves else []
        made = getattr(torch.Tensor, name, None)
        values.append(leaves[name] if name in leaves else made(*(values[position] for position in chosen)))
        needs.append(chosen)
        shown.append(name if name in leaves else (name, *(shown[position] for position in chosen)))
        types[shown[-1]] = (
            "double" if name in ("double", "wide") else "float" if name in leaves else types[shown[chosen[0]]]
        )
    depths = [value.dim() and (2 if value.shape[1] == 3 else 1) for value in values]
    wanted, waiting = {}, [(result % len(values), len(loops) - 1) for result in results]
    while waiting:
        number, place_of_user = waiting.pop()
        named = ("one", "wide", "kept", *["row"] * (place_of_user >= place_of(2)))
        if shown[number] not in named:
            wanted[shown[number]] = place_of(depths[number])
        waiting += [(position, place_of(depths[number])) for position in needs[number]]
    numbers = torch.stack([values[result % len(values)].expand(2, 3) for result in results], -1)
    counts = Counter(wanted.values())
    counts = [counts[place] for place in range(len(loops))]
    numbers = numbers.reshape(6, -1).tolist()
    types = sorted(types[name] for name in wanted)
    report = {"numbers": numbers, "statements, from outside": counts, "types": types}
    report |= {"the same again": True, "its name in `names`": ["named"] * len(values)}
    report |= {"constants": [text for _, _, text in _CONSTANTS]}
    return report | {"the list of lines stays": True, "after another store": True}
