"""Lab 10, exported programs: which sizes they take."""

from __future__ import annotations

from rushlight.course import draws

from ...engine.check import program
from ...engine.observe import difference
from ..cases import PARTS, drawing, entries, predicting
from .signatures import exported

# Ranges from guards --------------------------------------------------------------------------------------------------
#
# A size is "auto", "dynamic", or [min, max] for a named `Dim`. All sizes are 8 in the example, so each guard holds there.

SIZE = 8
HOLDS = {
    "<": lambda number: number > SIZE, "<=": lambda number: number >= SIZE, ">": lambda number: number < SIZE,
    ">=": lambda number: number <= SIZE, "==": lambda number: number == SIZE, "!=": lambda number: number != SIZE,
}  # fmt: skip


@drawing
def _guards(draw, st):
    least, most = st.sampled_from([0, 1, 2, 3, 5]), st.sampled_from([None, 9, 16, 64])
    dim = st.one_of(st.sampled_from(["auto", "dynamic"]), st.tuples(least, most).map(list))
    dims = draw(st.lists(dim, min_size=1, max_size=3))
    guards = []
    for _ in range(draw(st.integers(0, 4))):
        i = draw(st.integers(0, len(dims) - 1))
        if len(dims) > 1 and draw(st.integers(0, 3)) == 0:
            guards.append([i, "==", f"s{draw(st.sampled_from([j for j in range(len(dims)) if j != i]))}"])
            continue
        number = draw(st.sampled_from([1, 2, 3, 4, 7, 8, 9, 10, 16, 64, 70]))
        comparison = draw(st.sampled_from([name for name, holds in HOLDS.items() if holds(number) and name != "=="]))
        guards.append([i, "==" if number == SIZE and draw(st.integers(0, 2)) == 0 else comparison, number])
    if any(isinstance(other, str) for *_, other in guards):  # which of the two symbols stays says whether 0 and 1 do
        dims = [dim if isinstance(dim, str) else [max(dim[0], 2), dim[1]] for dim in dims]
    return {"dims": dims, "guards": guards}


GUARDS = [{"dims": dims, "guards": guards} for dims, guards in (
    (["auto"], []), (["dynamic"], []), ([[0, 64]], []), ([[5, None]], []), ([[1, 16]], [[0, "!=", 1]]),
    ([[5, None]], [[0, ">", 4]]),
    (["auto"], [[0, ">", 4]]), (["auto"], [[0, "<=", 9], [0, ">=", 3]]), (["auto"], [[0, "==", 8]]),
    (["auto"], [[0, ">=", 8], [0, "<", 9]]), (["dynamic"], [[0, ">", 7], [0, "<=", 8]]), (["dynamic"], [[0, "==", 8]]),
    (["dynamic"], [[0, "<", 64]]), (["auto"], [[0, "!=", 9], [0, "<", 10]]), (["auto"], [[0, "!=", 2]]),
    (["dynamic"], [[0, "!=", 7]]), (["auto"], [[0, ">", 1], [0, "!=", 1]]),
    ([[2, 64]], [[0, ">", 4]]), ([[5, 64]], [[0, ">", 4]]), ([[2, 64]], [[0, "<", 64]]), ([[2, 64]], [[0, "<=", 64]]),
    ([[0, 64]], [[0, ">", 1]]), ([[0, 64]], [[0, ">=", 3]]), ([[2, 64]], [[0, "!=", 64]]), ([[2, 64]], [[0, "!=", 65]]),
    ([[3, 64]], [[0, "!=", 2]]), ([[3, 64]], [[0, "!=", 3]]), ([[3, None]], [[0, "!=", 100]]), ([[3, None]], [[0, "<", 100]]),
    ([[2, 64]], [[0, "==", 8]]), ([[0, None]], [[0, ">=", 2]]),
    (["auto", "auto"], [[0, "==", "s1"]]), (["auto", "auto"], [[0, "==", "s1"], [0, "<", 10], [1, ">", 3]]),
    (["auto", "dynamic"], [[0, "==", "s1"], [0, "==", 8]]), (["dynamic", "auto"], [[1, "==", 8]]),
    ([[2, 64], "auto"], [[0, "==", "s1"]]), (["dynamic", [2, 16]], [[0, "==", "s1"]]),
    ([[2, 64], "auto"], [[1, "==", "s0"], [1, ">", 4]]), ([[2, 64], "auto"], [[1, ">", 4]]),
    ([[2, 64], [2, 64]], [[0, "==", "s1"]]), ([[2, 64], [5, 32]], [[0, ">", 1], [1, ">", 4]]),
    (["auto", "auto", [2, 64]], [[0, "==", "s1"], [1, "==", "s2"]]), 
    (["auto", "auto", "auto"], [[2, "==", "s1"], [0, "==", "s1"], [2, ">", 5]]),
    (["auto", "auto", "auto"], [[0, "==", "s1"], [2, "<", 16]]), ([[2, 64], "auto", [2, 64]], [[0, "==", "s1"], [2, "==", "s1"]]),
    ([[2, 64], "auto"], [[1, "==", "s0"], [1, "!=", 9]]), ([[2, 64], "auto"], [[1, "!=", 9]]),
    (["dynamic", "auto"], [[1, "==", 8], [0, ">", 4]]), (["auto", "dynamic"], [[0, "==", 8], [1, "<", 9]]),
)]  # fmt: skip
GUARDS.append({"dims": ["auto"], "guards": [[0, "==", 1000]], "size": 1000})


def _about_constraints(case, mine, theirs):
    if not (both := entries(mine, theirs)):
        return None
    found, right = both[0].get("in order"), both[1]["in order"]
    if difference(found, right) is None:
        return "the order of the guards does not matter"
    equal = any(isinstance(guard[2], str) for guard in case["guards"])
    if right == "refused":
        if equal:
            return (
                "symbols that are equal are one size: no two have a named Dim, and none with Dim.DYNAMIC is specialised"
            )
        if "dynamic" in case["dims"] and all(isinstance(dim, str) for dim in case["dims"]):
            return "a symbol with Dim.DYNAMIC must not be specialised, whatever guards leave it one size"
        return "the guards must leave the whole range of a named Dim from 2 on, and != must exclude no size in it"
    if found == "refused":
        return "nothing is refused here: the guards leave each named Dim its range from 2 on, and Dim.AUTO takes every range"
    apart = next(i for i, pair in enumerate(zip(found, right)) if pair[0] != pair[1])
    if isinstance(case["dims"][apart], (list, tuple)):
        return "the range of a named Dim is returned as it is, also if it begins at 0 or 1, unless one size is left"
    if equal:
        return "symbols that are equal, also through others, are one size: a guard of one narrows the range of all"
    return "the range of a size begins at 2, each comparison but != narrows it, and one size that is left is an int"


@program("export.dynamic_shapes.constraints", cases=_guards, edges=GUARDS, draws=12, hint=_about_constraints)
def ranges_of_guards(xp, dims, guards, size=SIZE):
    of = xp.export.dynamic_shapes
    hints = {"auto": of.Dim.AUTO, "dynamic": of.Dim.DYNAMIC}

    def dim(i, kind):
        return hints[kind] if isinstance(kind, str) else of.Dim(f"d{i}", min=kind[0], max=kind[1])

    symbols = {f"s{i}": of.Symbol(size, dim(i, kind)) for i, kind in enumerate(dims)}
    made = [of.Guard(f"s{i}", comparison, other) for i, comparison, other in guards]

    def found(guards):
        try:
            result = of.constraints(symbols, guards)
        except of.ConstraintViolationError:
            return "refused"
        return [[name, size if isinstance(size, int) else [size.lower, size.upper]] for name, size in result.items()]

    return {"in order": found(made), "in another order": found(tuple(reversed(made)))}


@ranges_of_guards.oracle
def _(torch, dims, guards, size=SIZE):
    names = [f"s{i}" for i in range(len(dims))]
    conditions = [f"s{i} {comparison} {other}" for i, comparison, other in guards]
    text = [f"def forward(self, {', '.join(name.replace('s', 'x') for name in names)}):"]
    text += [f"    {name} = {name.replace('s', 'x')}.shape[0]" for name in names]
    text += [f"    assert {condition}" for condition in conditions]
    made = {}
    exec("\n".join([*text, "    return x0 * 2"]), made)
    module = type("Exported", (torch.nn.Module,), {"forward": made["forward"]})()
    found = sizes_of(
        torch, module, [torch.ones(size, 3)] * len(dims), [_dim(torch, i, kind) for i, kind in enumerate(dims)]
    )
    if found != "refused":
        found = [[name, size] for name, size in zip(names, found)]
    return dict.fromkeys(["in order", "in another order"], found)


def _dim(torch, i, kind):
    hints = {"auto": torch.export.Dim.AUTO, "dynamic": torch.export.Dim.DYNAMIC}
    return hints[kind] if isinstance(kind, str) else torch.export.Dim(f"d{i}", min=kind[0], max=kind[1])


def sizes_of(torch, module, args, dims):
    """For each argument its size in dimension 0, or the range, or "refused"."""
    from torch._dynamo.exc import UserError
    from torch.fx.experimental.symbolic_shapes import ConstraintViolationError, GuardOnDataDependentSymNode

    args = tuple(x.clone() for x in args)
    try:
        exported_program = exported(torch, module, args, tuple({0: dim} for dim in dims))
    except (UserError, ConstraintViolationError, GuardOnDataDependentSymNode, ValueError):
        return "refused"
    ranges, shown = {str(name): bounds for name, bounds in exported_program.range_constraints.items()}, []
    for node in exported_program.graph.nodes:
        if node.name in exported_program.graph_signature.user_inputs:
            size = node.meta["val"].shape[0]
            bounds = ranges.get(str(size))
            end = None if bounds is None or "oo" in str(bounds.upper) else int(bounds.upper)
            shown.append(int(size) if bounds is None else [int(bounds.lower), end])
    return shown


# Predictions ---------------------------------------------------------------------------------------------------------


for part in PARTS:

    @program(f"course.predictions.exported_sizes{part}", **predicting("exported_sizes", part))
    def exported_sizes(rl, number=0):
        return rl.course.predictions.exported_sizes()


@exported_sizes.oracle
def sizes_of_a_program(torch, number=0):
    made = {"xp": torch, "Dim": torch.export.Dim}
    exec(draws.program("exported_sizes", number), made)
    forward = made["forward"]
    arguments = ", ".join(forward.__code__.co_varnames[: forward.__code__.co_argcount])
    exec(f"def method(self, {arguments}):\n    return forward({arguments})", made)
    module = type("Exported", (torch.nn.Module,), {"forward": made["method"]})()
    found = sizes_of(torch, module, made["args"], made["dims"])
    if found == "refused":
        return ["refused"]
    return [
        str(size) if isinstance(size, int) else f"{size[0]}..{'' if size[1] is None else size[1]}" for size in found
    ]
