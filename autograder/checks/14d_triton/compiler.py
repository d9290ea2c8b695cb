"""Lab 14d, pieces of the compiler that are no kernels yet: variables of an axis, and masks.

The program of a text evaluates it at all positions, and counts its operations, because several texts are right.
"""

from __future__ import annotations

import ast
import math

import numpy as np

from ...engine.check import program
from ..cases import drawing, drawn, explained, field, only_read, rows

POSITIONS = ["xindex", "yindex", "r0_index"]


def operations(text):
    """The number of operators in an expression."""
    return sum(isinstance(node, ast.BinOp | ast.UnaryOp) for node in ast.walk(ast.parse(text, mode="eval")))


# A variable of an axis -----------------------------------------------------------------------------------------------


@drawing
def _variables(draw, st):
    divisor, length = draw(st.sampled_from([1, 1, 2, 3, 5, 8, 30])), draw(st.sampled_from([2, 3, 4, 7, 20, 32]))
    outer = draw(st.sampled_from([1, 1, 2, 3, 6]))
    return {
        "position": draw(st.sampled_from(POSITIONS)),
        "divisor": divisor,
        "length": length,
        "numel": divisor * length * outer,
    }


@program(
    "inductor.simd.axis_variable",
    cases=_variables,
    edges=rows(
        "position divisor length numel",
        ("xindex", 1, 6, 6), ("xindex", 1, 3, 6), ("xindex", 3, 2, 6), ("xindex", 2, 3, 24), ("xindex", 4, 2, 24),
        ("r0_index", 1, 2, 10), ("yindex", 5, 2, 10), ("xindex", 2, 2, 8), ("xindex", 4, 4, 16), ("xindex", 1, 1, 1),
        ("r0_index", 600, 32, 19200), ("yindex", 30, 20, 600), ("xindex", 3, 3, 27),
    ),
    hint=explained(
        names="the only name in the text is that of the position",
        values="first `// divisor`, and then `% length` of the quotient",
        operations="`// 1` changes nothing, and neither does `%` if no quotient reaches `length`",
    ),
)  # fmt: skip
def variables_of_axes(rl, position, divisor, length, numel):
    text = rl.inductor.simd.axis_variable(position, divisor, length, numel)
    names = sorted({node.id for node in ast.walk(ast.parse(text, mode="eval")) if isinstance(node, ast.Name)})
    values = eval(text, {"__builtins__": {}}, dict.fromkeys(names, np.arange(numel)))
    values = (np.zeros(numel, int) + values).tolist()
    return {"names": names or [position], "values": values, "operations": operations(text)}


@variables_of_axes.oracle
def _(torch, position, divisor, length, numel):
    shape = [numel // (divisor * length), length, divisor]
    values = torch.arange(length).reshape(1, length, 1).expand(shape).reshape(-1)
    return {"names": [position], "values": values.tolist(), "operations": sum(size > 1 for size in (shape[0], divisor))}


# The terms of an index -----------------------------------------------------------------------------------------------


@drawing
def _loops(draw, st):
    """Loops, of which neighbours are often contiguous."""
    sizes = draw(st.lists(st.integers(2, 5), max_size=4))
    steps, coefficients = st.sampled_from(["joins", "joins", "joins", 0, 1, 2, 6, 12, -1]), []
    for number in range(len(sizes)):
        step = draw(steps)
        if step == "joins":
            step = coefficients[-1] * sizes[len(sizes) - number] if coefficients else 1
        coefficients.append(step)
    return {"sizes": sizes, "coefficients": coefficients[::-1]}


def _about_terms(case, mine, theirs):
    if mine is None or mine == theirs:
        return None
    if sorted(mine) == theirs:
        return "the term with the smallest divisor comes first"
    if len(mine) > len(theirs):
        if any(term[2] == 0 for term in mine):
            return "a loop with coefficient 0 has no term"
        return "neighbouring loops have one term together if the outer coefficient is the inner one times its length"
    if [term[1] for term in mine] != [term[1] for term in theirs]:
        return (
            "loops with one term together are neighbours, and the outer coefficient is the inner one times its length"
        )
    if [term[0] for term in mine] != [term[0] for term in theirs]:
        return "the divisor of a loop is the product of the sizes of all loops inside, also of those without a term"
    return "loops that have one term together have its length together, and the coefficient of the innermost one"


def _positions(xp, sizes, coefficients):
    """The index at each position of the loops, in torch."""
    index = xp.tensor(0)
    for size, coefficient in zip(sizes, coefficients):
        index = index.unsqueeze(-1) + xp.arange(size) * coefficient
    return index.reshape(-1).tolist()


@program(
    "inductor.simd.axis_terms",
    cases=_loops,
    edges=rows(
        "sizes coefficients",
        ([], []), ([5], [1]), ([5], [0]), ([5], [-2]), ([2, 3], [3, 1]), ([2, 3], [0, 1]), ([2, 3], [3, 0]), ([2, 3], [1, 2]),
        ([2, 3], [6, 2]), ([2, 3], [0, 0]), ([2, 3, 4], [12, 4, 1]), ([2, 3, 4], [1, 2, 6]), ([2, 3, 4], [12, 0, 1]),
        ([2, 3, 4], [4, 0, 1]), ([2, 3, 4], [4, 4, 1]), ([2, 3, 4], [0, 4, 1]), ([2, 3, 4], [3, 1, 0]), ([2, 3, 4], [24, 4, 1]),
        ([2, 3, 4], [12, 4, 2]), ([4, 2], [-2, -1]), ([2, 2, 2], [2, 1, 0]), ([3, 2, 2, 2], [8, 0, 2, 1]), ([2, 4], [4, 2]),
        ([3, 2, 2, 3], [6, 3, 6, 2]), ([2, 3], [-3, 1]), ([2, 3], [3, -1]), ([2, 20, 20], [400, 20, 1]),
    ),
    hint=lambda case, mine, theirs: _about_terms(case, field(mine, "terms"), field(theirs, "terms")),
)  # fmt: skip
def terms_of_axes(rl, sizes, coefficients):
    given = tuple(sizes), tuple(coefficients)
    terms = [[int(number) for number in term] for term in only_read(rl.inductor.simd.axis_terms, *given)]
    positions = np.arange(math.prod(sizes))
    index = sum((step * (positions // divisor % length) for divisor, length, step in terms), 0 * positions)
    return {"index": index.tolist(), "terms": terms}


@terms_of_axes.oracle
def _(torch, sizes, coefficients):
    divisors = [math.prod(sizes[number + 1 :]) for number in range(len(sizes))]
    loops = [*zip(divisors, sizes, coefficients)][::-1]
    joins = [
        number > 0 and loops[number - 1][2] * loops[number - 1][1] == step != 0
        for number, (_, _, step) in enumerate(loops)
    ]
    terms = []
    for number, (divisor, _, step) in enumerate(loops):
        if step and not joins[number]:
            following = [joins[later] for later in range(number + 1, len(loops))]
            count = 1 + (following.index(False) if False in following else len(following))
            terms.append([divisor, math.prod(length for _, length, _ in loops[number : number + count]), step])
    return {"index": _positions(torch, sizes, coefficients), "terms": terms}


# Masks ---------------------------------------------------------------------------------------------------------------

MOST = {"x": 4096, "y": 1024}


def _numels(st):
    near = st.sampled_from([512, 1024, 2048, 4096, 8192, 12288, 20480]).flatmap(
        lambda size: st.sampled_from([size, size + 1, size - 1])
    )
    return st.one_of(st.integers(1, 40), near, st.integers(1, 30000))


@program(
    "inductor.simd.needs_mask",
    cases=drawn(prefix=["x", "y", "r0_"], numel=_numels),
    edges=rows(
        "prefix numel",
        ("x", 1), ("y", 1), ("r0_", 1), ("x", 2), ("x", 600), ("x", 1024), ("x", 2048), ("x", 4096), ("x", 8192), ("x", 12288),
        ("x", 6144), ("x", 4097), ("y", 512), ("y", 1024), ("y", 2048), ("y", 3072), ("y", 1536), ("y", 4096), ("r0_", 2),
        ("r0_", 3), ("r0_", 600), ("r0_", 1024), ("r0_", 4096), ("r0_", 12288), ("r0_", 6144), ("r0_", 8192), ("y", 4), ("x", 4),
        ("y", 3), ("x", 3), ("r0_", 5),
    ),
    hint=lambda case, mine, theirs: (
        f"a block of {_first_block(**case)} positions is possible here, and its last one has positions beyond the end"
        if _first_block(**case)
        else "each size of a block that is possible divides the number of positions"
    ),
)  # fmt: skip
def needed_masks(rl, prefix, numel):
    return bool(rl.inductor.simd.needs_mask(prefix, numel))


def _first_block(prefix, numel):
    """The smallest size of a block that leaves positions over, or None."""
    most = MOST.get(prefix) if numel > 1 and prefix != "r0_" else 1
    while prefix == "r0_" and most < numel:
        most *= 2
    return next((1 << power for power in range(most.bit_length()) if numel % (1 << power)), None)


@needed_masks.oracle
def _(torch, prefix, numel):
    return _first_block(prefix, numel) is not None


def _about_masks(case, mine, theirs):
    if not isinstance(mine, list) or mine == theirs:
        return None
    for name in (name for name in theirs if name not in mine):
        if name in case["conditions"]:
            return f"the condition {name} is a mask, too"
        return f"{name} is missing: the index has a loop variable of this axis"
    for name in (name for name in mine if name not in theirs):
        loops = dict(case["axes"]).get(str(name).removesuffix("mask"))
        if loops is not None and any(symbol.startswith(str(name).removesuffix("mask")) for symbol in case["symbols"]):
            return f"{name} is not needed: `axis.mask` is None for this axis"
        return f"{name} is not needed: the index has no loop variable of this axis"
    return "the masks are in alphabetical order, the conditions among them, and each is there once"


@drawing
def _accesses(draw, st):
    names = draw(st.sampled_from([["x"], ["y", "x"], ["x", "r0_"]]))
    axes = [
        [name, draw(st.sampled_from([[], [1], [5], [2, 3], [4096], [2, 8], [3, 4], [600], [1024]]))] for name in names
    ]
    loops = [f"{name}{number}" for name, sizes in axes for number in range(len(sizes))]
    return {
        "axes": axes,
        "symbols": draw(st.lists(st.sampled_from(loops), unique=True)) if loops else [],
        "conditions": draw(st.sampled_from([[], [], ["tmp3"], ["~tmp12"], ["tmp7", "tmp2"], ["zero"]])),
    }


@program(
    "inductor.simd.access_masks",
    cases=_accesses,
    edges=rows(
        "axes symbols conditions",
        ([["x", [5]]], ["x0"], []), ([["x", [5]]], [], []), ([["x", [4096]]], ["x0"], []), ([["x", []]], [], []),
        ([["x", [5]], ["r0_", [6]]], ["x0", "r0_0"], []), ([["x", [5]], ["r0_", [6]]], ["r0_0"], []),
        ([["x", [5]], ["r0_", [6]]], ["x0"], []), ([["x", [5]], ["r0_", [8]]], ["x0", "r0_0"], []),
        ([["y", [5]], ["x", [6]]], ["y0", "x0"], []), ([["y", [5]], ["x", [6]]], ["y0"], []),
        ([["y", [2, 3]], ["x", [6]]], ["y1"], []), ([["y", [2, 3]], ["x", [6]]], ["x0", "y0"], []),
        ([["x", [2, 3]]], ["x0", "x1"], []), ([["x", [5]], ["r0_", [6]]], ["x0"], ["tmp3"]),
        ([["x", [5]], ["r0_", [6]]], ["x0", "r0_0"], ["tmp3", "~tmp2"]), ([["x", [4096]]], [], ["tmp4"]),
        ([["x", [5]]], ["x0"], ["zero", "a"]), ([["x", [5]], ["r0_", [6]]], [], ["tmp3"]),
    ),
    hint=lambda case, mine, theirs: _about_masks(case, field(mine, "masks"), field(theirs, "masks")),
)  # fmt: skip
def masks_of_accesses(rl, axes, symbols, conditions):
    simd, by_name = rl.inductor.simd, {}
    made = []
    for name, sizes in axes:
        loops = [rl.inductor.index.Symbol(f"{name}{number}", size) for number, size in enumerate(sizes)]
        by_name |= {symbol.name: symbol for symbol in loops}
        made.append(simd.Axis(name, loops, "[:]"))
    held = [frozenset(by_name[name] for name in symbols), dict.fromkeys(conditions)]  # a set, and a dict's keys
    masks = [*simd.access_masks(made, *held)]
    shown = {"masks": masks, "without conditions": [*simd.access_masks(made, [by_name[name] for name in symbols])]}
    return shown | {
        "arguments": [*held[1]] == [*conditions] and len(held[0]) == len(symbols) and len(made) == len(axes)
    }


@masks_of_accesses.oracle
def _(torch, axes, symbols, conditions):
    masks = []
    for name, sizes in axes:
        used = any(symbol.startswith(name) for symbol in symbols)
        if used and _first_block(name, math.prod(sizes)):
            masks.append(f"{name}mask")
    return {"masks": sorted([*masks, *conditions]), "without conditions": sorted(masks), "arguments": True}
