"""Lab 07, graph breaks: where a graph ends, what the compiled part returns there, and with what Python continues."""

from __future__ import annotations

from ...engine.check import program
from ..cases import breaking, define, drawn, dynamo_of, evaluate, field, is_torch, listed, no_cases, several
from ..shared_07 import (
    BREAKING_LINES,
    BYTECODE,
    HELPERS,
    LINES,
    LONG_FUNCTION,
    calls_of,
    captured,
    drawn_texts,
    indented,
)
from ..shared_07 import text_of as drawn_text_of

# Branches ------------------------------------------------------------------------------------------------------------

BREAKS, BODIES = "course.breaks.breaks_truth", "07c.truth"


@program(f"{BREAKS}.half", cases=no_cases, edges=[{}], examine=breaking(BODIES, "1/2"))
def breaks_half(xp):
    return xp.breaks.breaks_truth()


@program(BREAKS, cases=no_cases, edges=[{}], examine=breaking(BODIES, "1"))
def breaks_truth(xp, **case):
    """The cases, or the capture of the branch of one of them."""
    return branch_taken(xp, **case) if case else xp.breaks.breaks_truth()


@breaks_truth.oracle
def _(torch, value, methods):
    return branch_taken(torch, value, methods)


def branch_taken(xp, value, methods):
    """A branch on a value. `o` is an object of the caller, whose class, base class and attributes have these methods."""
    places = {"__": "Plain", "inherited": "Base", "own": "o"}
    text = f"{HELPERS}class Base:\n    pass\n\nclass Plain(Base):\n    pass\n\no = Plain()\n"
    for method in methods:
        name, result = method.split(": ")
        place = next(place for word, place in places.items() if name.startswith(word))
        text += f"{place}.{name.split()[-1]} = lambda *self: {result}\n"
    text += f"def f(x):\n    y = x + 1\n    v = {value}\n    if v:\n        return y * 2\n    return y - 1\n"
    return captured(xp, define(xp, text), [[xp.ones(3)]])


# Live variables ------------------------------------------------------------------------------------------------------


def line_offsets(code):
    """The offsets at which the lines of a function begin."""
    import dis

    instructions = (instruction for instruction in dis.get_instructions(code) if instruction.opname != "EXTENDED_ARG")
    return sorted({instruction.offset for instruction in instructions if instruction.starts_line})


def missing_name(case, mine, theirs):
    names = field(mine, "names")
    missing = isinstance(names, list) and {*field(theirs, "names")} - {*names}
    return "a name that may be read later is missing" if missing else None


DELETED = "def f(x):\n    y = x\n    del y\n    return y\n"  # on the straight path, and read afterwards
NAMED_ALIKE = "def f(o, x):\n    o.x = 1\n    return x\n"  # an attribute has the name of a variable


@program(
    "dynamo.bytecode.live_names",
    cases=drawn(text=drawn_texts(LINES + BREAKING_LINES, 8), line=(0, 40)),
    edges=[
        {"text": text, "line": line}
        for text in [*BYTECODE, DELETED, NAMED_ALIKE]
        if text != LONG_FUNCTION
        for line in range(8)
    ],
    hint=missing_name,
)
def names_alive(xp, text, line):
    code = define(xp, text).__code__
    offsets = line_offsets(code)
    offset = offsets[line % len(offsets)]
    instructions = xp.dynamo.bytecode.instructions_of(code)
    start = next(
        (i for i, instruction in enumerate(instructions) if instruction.offset >= offset), len(instructions) - 1
    )
    live = xp.dynamo.bytecode.live_names(instructions, start)
    return {"names": sorted(live), "a set": isinstance(live, (set, frozenset))}


@names_alive.oracle
def _(torch, text, line):
    import dis
    from itertools import groupby

    from torch._dynamo.bytecode_analysis import livevars_analysis
    from torch._dynamo.bytecode_transformation import cleaned_instructions

    code = define(torch, text).__code__
    offsets = line_offsets(code)
    offset = offsets[line % len(offsets)]
    instructions = cleaned_instructions(code)
    # torch splits an instruction of newer Pythons in two, which moves what comes after. Positions in the text stay the same.
    spans = [list(span) for _, span in groupby(instructions, lambda each: each.positions)]
    before = [instruction for instruction in dis.get_instructions(code) if instruction.offset < offset]
    start = spans[len(list(groupby(before, lambda each: each.positions)))][0]
    return {"names": sorted(livevars_analysis(instructions, start)), "a set": True}


# Functions with one break --------------------------------------------------------------------------------------------

BEFORE = [  # x, y, a and b are tensors, l is a list of a tensor and a number, o an object with a tensor, n a number
    "a = b", "b = a", "a = a * 2", "b = x - a", "a = x", "b = y", "a = l[0]", "b = o.v", "a, b = b, a", "x = x + 1", "x = y",
    "y = a", "y = a + b", "c = n", "c = n + 1", "c = [a, b]", "d = c", "c = (a, d)", "d = {'k': b, 'x': x}", "d = l", "c = o",
    "c = [c, a - 1]", "c = 'word'", "d = None", "b = a.mul_(2)", "c = b.add_(1)", "d = a.view(-1)", "c = xp.relu(y)",
    "d = x.split(1)", "d = -1.5", "c = len(l) + n", "d = [n, n]",
    "c = Plain()\nc.v = a", "c = {n, 7}", "d = lambda: [a, n]", "c = lambda: [d]",
    "def inner():\n    nonlocal b\n    b = b - 1\ninner()",
]  # fmt: skip
NAMES = ["x", "y", "n", "l", "o", "a", "b", "c", "d"]
START = ["a = x + 1", "b, c, d = y, 2, ()"]
PLAIN = """class Plain:
    pass

"""


def text_of(before, below, after, breaks=True):
    """A function that may break in its last expression: in the middle of a list, so values are on the stack."""
    last = f"return [{', '.join([*below, *['graph_break()'] * breaks, *after])}]"
    return f"{PLAIN}def f(x, y, n, l, o):\n{indented(chr(10).join([*START, *before, last]))}\n"


def flat(value, found):
    """The tensors and constants in a result, and the containers themselves, in order."""
    found.append(value)
    if isinstance(value, (list, tuple)):
        for item in value:
            flat(item, found)
    elif isinstance(value, dict):
        for item in value.values():
            flat(item, found)
    elif type(value).__name__ == "Plain":
        flat(value.v, found)
    elif callable(value):
        flat(value(), found)
    return found


def same_objects(values):
    """For each mutable value the position of the first value that is the same object."""
    kept = [
        x for x in values if isinstance(x, (list, dict, set)) or hasattr(x, "dtype") or hasattr(x, "v") or callable(x)
    ]
    return [next(i for i, other in enumerate(kept) if other is value) for value in kept]


def readable(value):
    if hasattr(value, "dtype"):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *map(readable, value)]
    if isinstance(value, dict):
        return {key: readable(item) for key, item in value.items()}
    if isinstance(value, set):
        return ["set", *sorted(value)]
    if callable(value):
        return ["calls", readable(value())]
    return readable(value.v) if hasattr(value, "v") else value


def graphs_returned(xp, function, args):
    """Call a compiled function: its result, and what each graph returned."""
    returns = []

    def collect(gm, example_inputs):
        *_, output = gm.graph.nodes
        passed = [node.op == "placeholder" for node in output.args[0]]
        returned = ["a node twice"] * (len({node.name for node in output.args[0]}) < len(passed))
        if not is_torch(xp):  # torch returns a tensor again if it was written in place
            tensors = {id(node.meta["example_value"]) for node in output.args[0]}
            returned += ["a tensor twice"] * (len(tensors) < len(passed))
        returns.append(returned)

        def run(*inputs):
            results = gm.forward(*inputs)
            seen = list(inputs)
            for value, is_argument in zip(results, passed, strict=True):
                if is_argument:
                    returned.append("an argument")
                elif not any(value is other for other in seen):
                    returned.append(value.tolist())
                    seen.append(value)
            return results

        return run

    dynamo_of(xp).reset()
    result = xp.compile(function, backend=collect, dynamic=False)(*args)
    return result, returns


def arguments(xp, function):
    plain = function.__globals__["Plain"]()
    plain.v = xp.tensor([7.0, 8.0])
    return [xp.tensor([1.0, 2.0]), xp.tensor([3.0, -4.5]), 3, [xp.tensor([5.0, 6.0]), 4], plain]


def continued_with(xp, function, run):
    """The names of the local variables with which Python continues after the first break of a function."""
    if is_torch(xp):
        from torch._dynamo.eval_frame import _debug_get_cache_entry_list

        result = run()
        entries = _debug_get_cache_entry_list(function.__code__)
        names = [name for entry in entries for name in entry.code.co_names if name.startswith("__resume")]
        codes = [function.__globals__[name].__code__ for name in names]
        parameters = [list(code.co_varnames[: code.co_argcount]) for code in codes]
        return result, [[name for name in names if not name.startswith("__")] for names in parameters]
    module, states = xp.dynamo.resume_execution, []
    run_instruction = module.run_instruction

    def watched(code, f_globals, state, call):
        states.append(list(state.locals))
        return run_instruction(code, f_globals, state, call)

    module.run_instruction = watched
    try:
        return run(), states
    finally:
        module.run_instruction = run_instruction


def called_once(xp, text, call):
    """A call of a compiled function: what each graph returned, and the result."""
    function = define(xp, text)
    args = arguments(xp, function)
    (result, graphs), names = call(xp, function, lambda: graphs_returned(xp, function, args))
    # torch asks for the contents of cells and of new objects later than for other values
    if any(word in text for word in ("lambda", "nonlocal", "Plain()")):
        graphs = [sorted(graph, key=repr) for graph in graphs]
    seen = {"returned by the graphs": graphs, "variables": names, "result": readable([result, args])}
    return seen | {"same objects": same_objects(flat([result, args], []))}


_BELOW = [*NAMES, *NAMES, "a + 1", "b * y", "[a, x]", "2"]
_few = several(_BELOW, 0, 3)
_breaks = drawn(before=several(BEFORE, 0, 5), below=_few, after=_few)


def _break(before="", below="", after=""):
    parts = {"before": before, "below": below, "after": after}
    return {name: [text for text in part.split("; ") if text] for name, part in parts.items()}


BREAK_EDGES = [
    _break(), _break(after="a"), _break(below="a", after="a"), _break("c = x", after="c; x; y"),
    _break("b = a * 2", "b; a", "a; b"),    _break("b = a * 2", "a + 1; 2; x", "b; a"),
    _break("c = [a, b]; d = c", "d", "c; a"), _break("c = (a, d)", after="c; a; n"),
    _break("c = n + 1", "c; n", "c"), _break("a = l[0]; b = o.v", after="a; b; l; o"), _break("c = o; d = l", "c", "o; d; l"),
    _break("b = a.mul_(2)", after="a; b"), _break("c = b.add_(1)", after="c; b; y"), _break("x = x + 1; y = a", after="x; y; a"),
    _break("d = lambda: [a, n]", after="d; a"), _break("d = lambda: [a, n]; c = d", "d", "c; d"),
    _break("c = Plain()\nc.v = a; d = c", "d", "c; d; a"), _break("c = {n, 7}; d = c", "d", "c; d"),
    _break("c = Plain()\nc.v = a; c.w = c", "c", "c"), _break("d = lambda: [a, n]", after="y"),
    _break("c = Plain()\nc.v = a", after="c; a + 1"),
    _break("d = {'k': b, 'x': x}", "d", "d; x"),
    _break("c = [a]; c.append(c)", after="n; c[0]"), _break("c = [n]; d = [c, c]", after="d; c"),
    _break("b = a * 2", "b; a", "a - b; x"), _break("c = [b]", "c", "a; c; y"),
    _break("d = -1e999; c = 'word'", "c; d", "d; c"), _break("d = None", after="d; a"), _break("b = a * 2", "b", "(a := y); a"),
    _break("d = a.view(-1)", after="d; a; d"),
    _break("c = a * 3; del c", after="a"),
    _break("del a; a = y - 1; b = x * 3", after="b; a"),
]  # fmt: skip


def values_before_a_write(rl):
    """Whether expressions of the items of a list, a word and a tensor, give these after others have taken their places."""
    output, values = rl.dynamo.output_graph.OutputGraph({}), ["old", rl.ones(1)]
    codegen, old = rl.dynamo.codegen.PyCodegen(output), [*values]
    variables = output.builder.lazy("old", "L['values'][0]"), output.builder.wrap(values[1], "L['values'][1]")
    texts = [codegen(variable) for variable in variables]
    space = output.scope | {"L": {"values": values}}
    exec("\n".join(codegen.lines), space)
    values[:] = "new", "new"
    return all(evaluate(text, space) is value for text, value in zip(texts, old))


@program(
    "dynamo.codegen.load_value",
    cases=_breaks,
    edges=BREAK_EDGES,
    show=lambda torch, **case: text_of(**case, breaks=False),
    draws=12,
)
def values_found(xp, before, below, after):
    text = text_of(before, below, after, breaks=False)  # no later exercise of the lab runs
    seen = called_once(xp, text, lambda xp, function, run: (run(), "no break"))
    return seen | {"read before a write": is_torch(xp) or values_before_a_write(xp)}


@program(
    "dynamo.resume_execution.values_to_restore",
    cases=_breaks,
    edges=BREAK_EDGES
    + [
        _break("c = a * 2; d = c", "c; d; 3; c", "d"),
        _break("if x.sum() < 0:\n    c = b\nelse:\n    c = y", after="c"),
        _break("if x.sum() > 0:\n    c = b\nelse:\n    c = y", after="c"),
    ],
    show=lambda torch, **case: text_of(**case),
    draws=12,
)
def values_kept(xp, before, below, after):
    several = any(word in line for line in before for word in ("lambda", "def ", "if "))

    def call(xp, function, run):  # with closures or two breaks, torch's names depend on more than the break
        return (run(), "not compared") if several else continued_with(xp, function, run)

    return called_once(xp, text_of(before, below, after), call)


# Together ------------------------------------------------------------------------------------------------------------

MIXED = LINES + BREAKING_LINES * 3 + ["log.append(x - {c})"] * 2


@program(
    "together.broken",
    cases=drawn(text=drawn_texts(MIXED, 6), calls=several(listed((2, 3), (1, 2)), 1, 4)),
    edges=[
        {"text": drawn_text_of(lines), "calls": [[2, 1], [3, 1], [2, 2], [2, 1]]}
        for lines in (["x = helper(x, k)", "y = breaks(y, k)"], ["log.append(x)", "x = breaks(x, k)", "log.append(x)"])
    ],
    hint=lambda case, mine, theirs: case["text"],
    draws=15,
)
def programs_broken(xp, text, calls):
    """Random functions that break, and write to a list: the graphs of each call, the results, and the list."""
    return calls_of(xp, text, calls)
