"""Lab 07, side effects: what a compiled function does to objects from before it, and in which order."""

from __future__ import annotations

from ...engine.check import program
from ..cases import define, drawn, dynamo_of, is_torch
from ..shared_07 import indented, result_or_raises

# Functions that write to objects from before -------------------------------------------------------------------------

# x is a tensor, a and b are objects, l is a list, d a dict, s a set, g and h are global variables, c is one of a closure
WRITES = [
    "a.p = x + 1", "b.p = x * 2", "a.q = x - 3", "a.q = b.p", "a.p, b.p = b.p, a.p", "a.n += 1", "b.n = a.n + 2", "b.new = l",
    "del a.p", "del b.q", "b.new = 3\ndel b.new", "a.p = 4\nb.q = 5\na.q = 6",
    "l.append(x + 4)", "l[0] = x * 5", "l.pop()", "l.clear()", "l.reverse()", "l += [a, 2]", "l.insert(0, a)",
    "d['k'] = x + 6", "d['new'] = x - 7", "del d['j']", "d.update(k=1, z=x * 8)", "d.clear()", "d['k'] = d.pop('j', None)",
    "d.setdefault('j', 5)", "d.setdefault('u', x + 9)", "s.add(7)", "s.discard(1)", "s |= {8}", "s.clear()",
    "g = x + 10", "h = g", "h = 11", "c = x - 12", "x = x * 2", "u = len(l)", "u = len(d)", "u = a.n + b.n", "u = (l, a)",
    "t = Plain()\nt.p = x + 13", "t = Plain()\nt.p = 14\na.q = t", "m = l\nm.append(1)", "a.l.append(x + 15)",
    "t = [x + 16]\nl.append(t)\nd['t'] = t", "x.add_(1)",
]  # fmt: skip
BREAKS = ["graph_break()", "note(a, b, l, d, s)", "if x.sum() > 0:\n    u = 1", "refuse()", "x = x[i]"]
HELPERS = """disable = (xp._dynamo if hasattr(xp, '_dynamo') else xp.dynamo).disable
notes = []
g = h = None

class Plain:
    n = 0

class Old:
    def __init__(self, name, released):
        self.name, self.released = name, released

    def __del__(self):
        self.released.append(self.name)

@disable
def refuse():
    raise ValueError

@disable
def note(a, b, l, d, s):
    notes.append(seen(a, b, l, d, s, g, h))

"""


def text_of(lines):
    """A function of a closure, with its set-up."""
    body = "\n".join(["global g, h", "nonlocal c", *lines, "return x * 2"])
    return f"{HELPERS}def closed(c):\n    def f(x, a, b, l, d, s, i):\n{indented(indented(body))}\n    return f\n\nf = closed(0)\n"


def objects(xp, function, released):
    """New objects for one call: the arguments, and the contents of the globals and the cell. An old value that dies tells it."""
    space, x = function.__globals__, xp.tensor([1.0, -2.0])

    def old(name):
        return space["Old"](name, released)

    a, b = space["Plain"](), space["Plain"]()
    a.p, a.q, a.l, b.p, b.q, b.n = old("a.p"), old("a.q"), [old("a.l[0]")], old("b.p"), old("b.q"), 5
    space["g"], space["h"], function.__closure__[0].cell_contents = old("g"), old("h"), old("c")
    return [x, a, b, [old("l[0]"), 1, old("l[2]")], {"j": old("d['j']"), "k": old("d['k']")}, {1, 2}]


def seen(*values):
    """Values with all their parts. A value that was there before is shown as its position in this walk."""
    kept = []

    def walk(value):
        if isinstance(value, (int, float, str, type(None))):
            return value
        if type(value).__name__ == "Old":
            return f"the old {value.name}"
        for i, other in enumerate(kept):
            if other is value:
                return f"value {i}"
        kept.append(value)
        if isinstance(value, (list, tuple)):
            return [type(value).__name__, *map(walk, value)]
        if isinstance(value, dict):
            return [[key, walk(item)] for key, item in value.items()]
        if isinstance(value, set):
            return sorted(value)
        if hasattr(value, "dtype"):
            return value.tolist()
        return [type(value).__name__, *([name, walk(item)] for name, item in vars(value).items())]

    return [walk(value) for value in values]


def calls_seen(xp, lines, indices):
    """Two calls of a compiled function: the graphs, the result, the notes that it makes, the objects afterwards, and the order
    in which old values were released."""
    function, runs, graphs = define(xp, text_of(lines)), [], []
    space = function.__globals__
    space["seen"] = seen

    def collect(gm, example_inputs):
        def run(*inputs):
            results = gm.forward(*inputs)
            returned = []
            for value in results:
                if not any(value is other for other in (*inputs, *returned)):
                    returned.append(value)
            graphs.append([value.tolist() for value in returned])
            return results

        return run

    dynamo_of(xp).reset()
    compiled = xp.compile(function, backend=collect, dynamic=False)
    for index in indices:
        released = []
        args = objects(xp, function, released)
        for log in (graphs, space["notes"]):
            log.clear()
        result = result_or_raises(compiled, [*args, xp.tensor([index])])
        order = "not compared" if not runs or result == "raises" else list(released)  # to capture takes references
        returned = [] if result == "raises" else list(graphs)  # torch runs a function that raises in Python
        state = seen(result, *args, space["g"], space["h"], function.__closure__[0].cell_contents)
        runs.append({"objects": state, "notes": list(space["notes"]), "died in order": order, "graphs": returned})
        del result
    dynamo_of(xp).reset()
    return runs


def _writes(st):
    """Up to six statements that write, and mostly one that breaks. In a last call its index may be out of range."""
    lines = st.lists(st.sampled_from(WRITES), min_size=1, max_size=6)
    broken = lambda lines, i, each: [*lines[:i], each, *lines[i:]]  # noqa: E731
    with_break = st.builds(broken, lines, st.integers(0, 6), st.sampled_from(BREAKS))
    return st.one_of(lines, with_break, with_break)


def _case(text, last=0):
    return {"lines": text.split("; "), "indices": [0, 0, last]}


@program(
    "dynamo.side_effects.codegen_update_mutated",
    cases=drawn(lines=_writes, indices=lambda st: st.sampled_from([[0, 0], [0, 0, 5]])),
    edges=[
        _case("a.p = x + 1; b.p = x * 2"), _case("u = b.n; a.p = x + 1; b.p = x * 2"), _case("a.q = x - 3; a.p = x + 1"),
        _case("a.p, b.p = b.p, a.p; a.n += 1"), _case("del a.p; a.q = b.p"), _case("a.q = x - 3; del a.p; b.p = 2"),
        _case("b.p = 2; u = a.n; a.p = x + 1; del b.q"), _case("b.new = 3\ndel b.new; b.n = a.n + 2"),
        _case("l.append(x + 4); a.p = l"), _case("u = len(l); d['k'] = x + 6; l[0] = x * 5"),
        _case("l.clear(); d.clear(); s.clear()"),
        _case("l.pop(); l.reverse(); a.l.append(x + 15)"), _case("d['new'] = x - 7; del d['j']; d['j'] = 1"),
        _case("d['k'] = x + 6; d.setdefault('j', 5)"), _case("d['k'] = d.pop('j', None)"), _case("s.add(7); s.discard(1)"),
        _case("s.add(7)"), _case("s.discard(2); s.add(9)"), _case("g = x + 10; h = g; c = x - 12"),
        _case("d['k'] = 1; a.p = x + 1; l.pop(); b.q = 2"),
        _case("h = 11; u = len(d); g = 1"),
        _case("t = Plain()\nt.p = x + 13; x.add_(1)"), _case("t = Plain()\nt.p = 14\na.q = t"), _case("u = len(l)"),
        _case("t = [x + 16]\nl.append(t)\nd['t'] = t"), _case("m = l\nm.append(1); l.append(m[1])"),
        _case("l.append(x + 4); note(a, b, l, d, s); l.pop(); a.p = 1"), _case("a.p = x + 1; graph_break(); b.p = a.p"),
        _case("a.p = x + 1; l.pop(); refuse()"), _case("a.n += 1; l.append(x); d.clear(); g = x; x = x[i]; b.p = 2", 5),
        _case("d['k'] = x + 6; if x.sum() > 0:\n    u = 1; c = 4; b.q = x"),
    ],
    show=lambda torch, lines, indices: text_of(lines),
    draws=15,
)  # fmt: skip
def effects_replayed(xp, lines, indices):
    runs = calls_seen(xp, lines, indices)
    effects = xp.dynamo.side_effects if not is_torch(xp) else None
    statements = effects.codegen_update_mutated(None, effects.SideEffects()) if effects else []
    return {"runs": runs, "a list": isinstance(statements, (list, tuple))}
