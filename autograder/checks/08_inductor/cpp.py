"""Checks of lab 08: the C++ statements of a loop body.

Values are built from a list of steps. Python can run the C++ that is emitted for them, because the operations are few.
"""

from ...check import program
from ..cases import drawn, listed, several
from .loop_nests import symbols

# an element; one number for each row; a constant; an element that already has a name, and another of its buffer that has none
_LEAVES = ("x", "v", "one", "kept", "other")


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
        "one": ir.constant(1.5, xp.float32),
        "kept": ir.load("k", Index.of(i) * 3 + r, xp.float32),
        "other": ir.load("k", Index.of(i) * 3, xp.float32),
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
    ([["x"], ["v"], ["sub", 0, 1], ["sub", 1, 0], ["relu", 2], ["add", 3, 4]], [5]),
    ([["x"], ["double", 0], ["neg", 1]], [2, 0]), ([["v"], ["double", 0], ["x"], ["add", 1, 2]], [3]),
    ([["kept"], ["other"], ["add", 0, 1]], [2]),
]  # fmt: skip


@program(
    "inductor.cpp.emit",
    cases=drawn(steps=_steps, results=several((0, 8), 1, 3), hoists=bool),
    edges=[
        {"steps": steps, "results": results, "hoists": hoists} for steps, results in _VALUES for hoists in (False, True)
    ],
)
def emitted(xp, steps, results, hoists):
    Statements = xp.inductor.cpp.Statements
    i, r = symbols(xp, [2], "i")[0], symbols(xp, [3], "r")[0]
    values = _build(xp, steps, i, r)
    pointers = {name: f"{name}_ptr" for name in "xvk"}
    named = {("k", xp.inductor.index.Index.of(i) * 3 + r): "k"}
    before = Statements(pointers, named)
    hoist = before if hoists else None
    inside = Statements(pointers, named, number=before.number, hoist=hoist, varying=frozenset([r]))
    names = [xp.inductor.cpp.emit(inside, values[result % len(values)]) for result in results]
    numbers = []
    for row in range(2):
        for column in range(3):
            known = {"i0": row, "r0": column, "k": _kept(row, column)}
            known |= {"x_ptr": _ELEMENTS, "v_ptr": _OF_ROWS, "k_ptr": _ELEMENTS[::-1]}
            for line in before.lines + inside.lines:
                _run_statement(line, known)
            numbers.append([_read_number(name, known) for name in names])
    again = [xp.inductor.cpp.emit(inside, values[result % len(values)]) for result in results]
    counts = {"statements before the loop": len(before.lines), "statements in the loop": len(inside.lines)}
    types = sorted(line.split()[1] for line in before.lines + inside.lines)
    return {"numbers": numbers, **counts, "types": types, "the same again": again == names}


_ELEMENTS, _OF_ROWS = [0.5, -1.0, 2.0, 0.25, -0.75, 1.0], [2.0, -0.5]


def _kept(row, column):
    return 0.125 * (row + 1) * (column - 1)


def _run_statement(line, known):
    """One statement `const TYPE NAME = EXPRESSION;`, as Python."""
    words, _, text = line.rstrip(";").partition(" = ")
    const, _, name = words.split()
    assert const == "const", f"not const: {line}"
    assert name not in known, f"{name} has been declared before: {line}"
    known[name] = _read_number(text, known)


def _read_number(text, known):
    functions = {"maximum_": max, "relu_": lambda x: max(x, 0.0)}
    text = text.replace("1.5f", "1.5").replace("static_cast<double>", "")
    return float(eval(text, {"__builtins__": {}}, functions | known))


@emitted.oracle
def _(torch, steps, results, hoists):
    def numbers_of(values):
        return torch.tensor(values, dtype=torch.float64)

    kept = numbers_of([[_kept(row, column) for column in range(3)] for row in range(2)])
    other = numbers_of(_ELEMENTS[::-1]).reshape(2, 3)[:, :1]
    elements, of_rows = numbers_of(_ELEMENTS).reshape(2, 3), numbers_of(_OF_ROWS).reshape(2, 1)
    leaves = {"x": elements, "v": of_rows, "one": numbers_of(1.5), "kept": kept, "other": other}
    values, shown, needs, types = [], [], [], {}
    for name, *operands in steps:
        chosen = [operand % len(values) for operand in operands] if name not in leaves else []
        made = getattr(torch.Tensor, name, None)
        values.append(leaves[name] if name in leaves else made(*(values[each] for each in chosen)))
        needs.append(chosen)
        shown.append(name if name in leaves else (name, *(shown[each] for each in chosen)))
        types[shown[-1]] = "float" if name in leaves else "double" if name == "double" else types[shown[chosen[0]]]
    wanted, waiting = {}, [result % len(values) for result in results]
    while waiting:
        number = waiting.pop()
        if shown[number] not in ("one", "kept"):
            wanted[shown[number]] = values[number]
        waiting += needs[number]
    varies = [value.dim() == 2 and value.shape[1] == 3 for value in wanted.values()]
    numbers = torch.stack([values[result % len(values)].expand(2, 3) for result in results], -1)
    counts = {"statements before the loop": varies.count(False) if hoists else 0}
    counts["statements in the loop"] = varies.count(True) if hoists else len(varies)
    types = sorted(types[each] for each in wanted)
    return {"numbers": numbers.reshape(6, -1).tolist(), **counts, "types": types, "the same again": True}
