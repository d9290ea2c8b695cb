"""Lab 07, graph breaks: what the compiled part returns, and with what Python continues."""

from __future__ import annotations

from ...check import program
from ..cases import drawn, is_torch, several
from .drawn_functions import define, dynamo_of, indented

# Functions with one break --------------------------------------------------------------------------------------------

BEFORE = [  # x, y, a and b are tensors, l is a list of a tensor and a number, o an object with a tensor, n a number
    "a = b", "b = a", "a = a * 2", "b = x - a", "a = x", "b = y", "a = l[0]", "b = o.v", "a, b = b, a", "x = x + 1", "x = y",
    "y = a", "y = a + b", "c = n", "c = n + 1", "c = [a, b]", "d = c", "c = (a, d)", "d = {'k': b, 'x': x}", "d = l", "c = o",
    "c = [c, a - 1]", "c = 'word'", "d = None", "b = a.mul_(2)", "c = b.add_(1)", "d = a.view(-1)", "c = xp.relu(y)",
    "d = x.split(1)", "d = -1.5", "c = len(l) + n", "d = [n, n]",
    "d = lambda: [a, n]", "c = lambda: [d]", "def inner():\n    nonlocal b\n    b = b - 1\ninner()",
]  # fmt: skip
NAMES = ["x", "y", "n", "l", "o", "a", "b", "c", "d"]
START = ["a = x + 1", "b, c, d = y, 2, ()"]
HELPERS = """class Plain:
    pass

"""


def text_of(before, below, after, by_data=False):
    """A function that breaks in its last expression. A break by a call is in the middle of a list, so values are on the stack."""
    last = f"return [{', '.join([*below, 'graph_break()', *after])}]"
    if by_data:
        last = f"return [{', '.join(below)}] if y.sum() > 0 else ({', '.join([*after, ''])[:-1]})"
    return f"{HELPERS}def f(x, y, n, l, o):\n{indented(chr(10).join([*START, *before, last]))}\n"


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
    kept = [value for value in values if isinstance(value, (list, dict)) or hasattr(value, "dtype") or hasattr(value, "v")]
    return [next(i for i, other in enumerate(kept) if other is value) for value in kept]


def readable(value):
    if hasattr(value, "dtype"):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *map(readable, value)]
    if isinstance(value, dict):
        return {key: readable(item) for key, item in value.items()}
    if callable(value):
        return ["calls", readable(value())]
    return readable(value.v) if hasattr(value, "v") else value


def graphs_returned(xp, function, args):
    """Call a compiled function: its result, and what each graph returned."""
    found = []

    def collect(gm, example_inputs):
        *_, output = gm.graph.nodes
        passed = [node.op == "placeholder" for node in output.args[0]]
        returned = []
        found.append(returned)

        def run(*inputs):
            results = gm.forward(*inputs)
            seen = list(inputs)
            for value, is_argument in zip(results, passed, strict=True):
                if is_argument:
                    returned.append("an argument")
                elif not any(value is other for other in seen):  # torch lists a tensor again after an operation in place
                    returned.append(value.tolist())
                    seen.append(value)
            return results

        return run

    dynamo_of(xp).reset()
    result = xp.compile(function, backend=collect, dynamic=False)(*args)
    return result, found


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
        found = [list(code.co_varnames[: code.co_argcount]) for code in codes]
        return result, [[name for name in each if not name.startswith("__")] for each in found]
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


def one_break(xp, before, below, after, by_data):
    """A call of a function with a break: what each graph returned, the names of the variables with which Python continued, and
    the result. After a branch, or with closures, torch's names depend on more than the break."""
    function = define(xp, text_of(before, below, after, by_data))
    args = arguments(xp, function)
    (result, graphs), names = continued_with(xp, function, lambda: graphs_returned(xp, function, args))
    closures = any("lambda" in line or "def " in line for line in before)
    return {
        "returned by the graphs": graphs,
        "variables": "not compared" if by_data or closures else names,
        "result": readable([result, args]),
        "same objects": same_objects(flat([result, args], [])),
    }


_BELOW = [*NAMES, *NAMES, "a + 1", "b * y", "[a, x]", "2"]
_breaks = drawn(before=several(BEFORE, 0, 5), below=several(_BELOW, 0, 3), after=several(_BELOW, 0, 3), by_data=[False, False, True])


def _break(before="", below="", after="", by_data=False):
    parts = (before.split("; "), below.split("; "), after.split("; "))
    return dict(zip(("before", "below", "after"), ([each for each in part if each] for part in parts), strict=True), by_data=by_data)


BREAK_EDGES = [
    _break(), _break(after="a"), _break(below="a", after="a"), _break("c = x", after="c; x; y"), _break("b = a * 2", "b; a", "a; b"),
    _break("b = a * 2", "a + 1; 2; x", "b; a"), _break("c = [a, b]; d = c", "d", "c; a"), _break("c = (a, d)", after="c; a; n"),
    _break("c = n + 1", "c; n", "c"), _break("a = l[0]; b = o.v", after="a; b; l; o"), _break("c = o; d = l", "c", "o; d; l"),
    _break("b = a.mul_(2)", after="a; b"), _break("c = b.add_(1)", after="c; b; y"), _break("x = x + 1; y = a", after="x; y; a"),
    _break("d = lambda: [a, n]", after="d; a"), _break("d = lambda: [a, n]", after="y"), _break("d = {'k': b, 'x': x}", "d", "d; x"),
    _break("c = [a]; c.append(c)", after="n; c[0]"), _break("c = [n]; d = [c, c]", after="d; c"), _break("a = a * 2", by_data=True),
    _break("b = a * 2", "b; a", "a - b; x", by_data=True), _break("c = [b]", "c", "a; c; y", by_data=True),
    _break("d = -1.5; c = 'word'", "c; d", "d; c"), _break("d = a.view(-1)", after="d; a; d"), _break("c = a * 3; del c", after="a"),
    _break("del a; a = y - 1; b = x * 3", after="b; a"),
]  # fmt: skip
_show = {"show": lambda torch, **case: text_of(**case), "draws": 12}


@program("dynamo.codegen.load_value", cases=_breaks, edges=BREAK_EDGES, **_show)
def values_found(xp, before, below, after, by_data):
    return one_break(xp, before, below, after, by_data)


@program("dynamo.resume_execution.values_to_restore", cases=_breaks, edges=BREAK_EDGES, **_show)
def values_kept(xp, before, below, after, by_data):
    return one_break(xp, before, below, after, by_data)
