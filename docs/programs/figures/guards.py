"""Calls of one compiled function: the entries of its cache, the guards that fail, and what a call compiles.

Torch compiles each call once for each set of sizes and numbers that are symbols by then (*automatic dynamic*). The guards of each
entry answer for all calls. So a cache is the order of its entries, and the order in which they were compiled. Walks over random
calls check this with torch, and with rushlight, which has no symbols. Guards are in the order of a new entry: torch moves a guard
that fails to the front. Guards that none of the calls fails are left out.
"""

from __future__ import annotations

import copy
import dis
import io
import json
import logging
import random
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout
from itertools import product
from string import ascii_lowercase
from types import CodeType
from typing import Any, NamedTuple
from unittest.mock import patch

import torch
from torch._dynamo import config, eval_frame, guards, pgo

import rushlight
from autograder.language import phrase
from rushlight.course.draw.capture import fx_nodes
from rushlight.dynamo import bytecode
from rushlight.dynamo import cache as small

PHASE, SIZE = "07", (744, 430)
LIMIT = 3
PRINT = '    print("summed")\n'
CODE = f"""\
def f(x, n):
    y = x.sum(0)
{PRINT}\
    if n > 6:
        return y * n
    return y + n
"""
PARTS = "f", "resume"
Verdict = tuple[int, str] | None  # the row of the guard that fails, and torch's reason


class Call(NamedTuple):
    """The arguments of a call of `f`."""

    name: str
    rows: int = 3
    n: int = 2
    dtype: str = "float32"
    grad_mode: bool = True

    def args(self, xp: Any) -> tuple[Any, int]:
        return xp.ones(self.rows, 4, dtype=getattr(xp, self.dtype)), self.n

    def locals(self, part: str) -> dict[str, Any]:
        """Return the values that the guards of a part read."""
        x, n = self.args(torch)
        break_ = {"__nested_resume_fns": [], "__nested_frame_values": [], "___stack0": None}
        return {"x": x, "n": n} if part == "f" else {**break_, "n": n, "y": x.sum(0)}


CALLS = (
    Call("f(x, 2)"),
    Call(phrase("7 rows"), rows=7),
    Call(phrase("1 row"), rows=1),
    Call("n = 5", n=5),
    Call("n = 9", n=9),
    Call("float64", dtype="float64"),
    Call("no_grad", grad_mode=False),
)


class Setting(NamedTuple):
    dynamic: bool | None
    breaks: bool

    @property
    def parts(self) -> tuple[str, ...]:
        return PARTS[: 1 + self.breaks]

    @property
    def name(self) -> str:
        return f"{self.dynamic} {'print' if self.breaks else ''}".strip()

    @property
    def code(self) -> str:
        return CODE if self.breaks else CODE.replace(PRINT, "")

    def function(self) -> Any:
        """A new `f`, which nothing has compiled."""
        space: dict[str, Any] = {"__name__": "guards_figure"}
        exec(compile(self.code, "<f>", "exec"), space)
        return space["f"]


class Entry(NamedTuple):
    """A cache entry: its guards in rows, the operations of its graph, the sizes and numbers that are symbols, and for each call
    the guard that fails."""

    rows: tuple[str, ...]
    graph: tuple[str, ...]
    symbols: tuple[str, ...]
    verdicts: tuple[Verdict, ...]


# Torch ---------------------------------------------------------------------------------------------------------------


@contextmanager
def settings() -> Iterator[None]:
    """The limit of entries, in both frameworks, and no warning about it. Afterwards torch has forgotten what it compiled here."""
    logger = logging.getLogger("torch._dynamo.convert_frame")
    level = logger.level
    with ExitStack() as stack:
        stack.callback(logger.setLevel, level)
        logger.setLevel(logging.ERROR)
        stack.enter_context(config.patch(recompile_limit=LIMIT, automatic_dynamic_local_pgo=False))
        stack.enter_context(patch.object(small, "recompile_limit", LIMIT))
        stack.callback(torch._dynamo.reset)
        yield


class Torch:
    """A new `f`, compiled by torch with a backend that keeps its graphs."""

    def __init__(self, setting: Setting) -> None:
        torch._dynamo.reset()
        self.function, self.graphs = setting.function(), []
        self.compiled = torch.compile(self.function, backend=self.keep, dynamic=setting.dynamic)

    def keep(self, graph: torch.fx.GraphModule, _: list) -> Any:
        self.graphs.append(graph)
        return graph.forward

    def call(self, call: Call) -> None:
        with torch.set_grad_enabled(call.grad_mode), redirect_stdout(io.StringIO()):
            self.compiled(*call.args(torch))

    def code(self, part: str) -> CodeType | None:
        """The code of a part. All entries of `f` share the code of the resume function."""
        functions = [value for name, value in self.function.__globals__.items() if name.startswith("__resume")]
        return self.function.__code__ if part == "f" else functions[0].__code__ if functions else None

    def entries(self, part: str) -> list[Any]:
        code = self.code(part)
        return eval_frame._debug_get_cache_entry_list(code) if code else []


def sizes_seen(part: str) -> tuple[pgo.CodeId, pgo.CodeState]:
    """The sizes that automatic dynamic remembers for a part."""
    name = {"f": "f", "resume": "torch_dynamo_resume"}[part]
    return next(state for state in pgo.get_code_state().items() if state[0].name.startswith(name))


def merged(states: list[pgo.CodeState]) -> pgo.CodeState:
    """The sizes that automatic dynamic remembers after several calls."""
    result = pgo.CodeState()
    for state in states:
        for source, entry in state.automatic_dynamic.items():
            result.automatic_dynamic[source] |= copy.deepcopy(entry)
    return result


def symbols(state: pgo.CodeState) -> tuple[str, ...]:
    """The sizes and numbers that have changed."""
    names = []
    for source, entry in state.automatic_dynamic.items():
        name = guards.strip_local_scope(source)
        if isinstance(entry.size, tuple):
            names += [f"{name}.size({i})" for i, size in enumerate(entry.size) if size is pgo.auto_dynamic]
        elif entry.scalar is pgo.auto_dynamic:
            names.append(name)
    return tuple(names)


def guard_rows(manager: Any) -> tuple[str, ...]:
    """The guards that some call may fail, in torch's order: those on tensors and numbers, then those on symbols."""
    rows = []
    for line in str(manager).splitlines():
        kind, _, text = line.lstrip(" |+-").partition(": ")
        text = guards.strip_local_scope(text.partition("  #")[0].strip())
        if kind == "GLOBAL_STATE":
            mode = json.loads(text.partition(" against ")[2])["grad_mode"]
            rows.append(phrase("grad mode on") if mode else phrase("grad mode off"))
        elif kind == "TYPE_MATCH" and "'int'" in text:
            rows.append("n: any int")
        elif kind == "TENSOR_MATCH":
            name, dtype, size = re.search(r"\((\w+), .*torch\.(\w+), .*size=(\[.*\]), stride", text).groups()
            rows += [f"{name}: {dtype}", f"{name}.size {size}".replace("None", "any")]
        elif kind in ("EQUALS_MATCH", "LAMBDA_GUARD") and re.search(r"\bn\b|x\.size\(\)\[0\]$", text):
            rows.append(text)
    return tuple(rows)


def verdict(entry: Any, rows: tuple[str, ...], call: Call, part: str) -> Verdict:
    """Which guard of a new entry fails first for a call."""
    with torch.set_grad_enabled(call.grad_mode):
        values = call.locals(part)
        if entry.guard_manager.check_verbose(values).result:
            return None
        reason = guards.get_guard_fail_reason_helper(entry.guard_manager, values, None, None)
    reason = reason.splitlines()[0].partition("  #")[0].strip().removeprefix("None: ")
    words = {"GLOBAL_STATE": "grad mode", "dtype mismatch": ": float", "size mismatch": ".size"}
    wanted = next((row for word, row in words.items() if word in reason), None)
    (at,) = (i for i, row in enumerate(rows) if (wanted in row if wanted else row == reason))
    return at, reason


def operations(graph: torch.fx.GraphModule) -> tuple[str, ...]:
    """The lines of a graph's code that call something, with the names of `f`."""
    lines = [line.partition(";")[0].strip() for line in graph.code.splitlines() if " = " in line]
    named = {name: source for name, source in re.findall(r"(\w+) = L_(\w+)_$", "\n".join(lines), re.MULTILINE)}
    calls = [line for line in lines if not re.search(r" = L_\w+_$", line)]
    return tuple(re.sub(r"\w+", lambda match: named.get(match[0], match[0]), line) for line in calls)


class Machine:
    """All that one setting can do: the entries of each part, and which entry a call compiles after which others."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.entries: dict[str, list[Entry]] = {part: [] for part in setting.parts}
        self.known: dict[tuple[str, Call, tuple[str, ...]], Entry] = {}
        self.seen: dict[tuple[str, Call], pgo.CodeState] = {}
        self.code_ids: dict[str, pgo.CodeId] = {}
        for call in CALLS:
            self.run(call, {})
        self.compiles = {part: self.explore(part) for part in setting.parts}

    def run(self, call: Call, before: dict[str, tuple[Call, ...]]) -> None:
        """Compile a call in an empty cache, when automatic dynamic has seen other calls before."""
        torch_f = Torch(self.setting)
        for part, calls in before.items():
            pgo.get_code_state()[self.code_ids[part]] = merged([self.seen[part, call] for call in calls])
        torch_f.call(call)
        for part, graph in zip(self.setting.parts, torch_f.graphs, strict=True):
            (entry,) = torch_f.entries(part)
            self.code_ids[part], state = sizes_seen(part)
            self.seen.setdefault((part, call), copy.deepcopy(state))
            rows = guard_rows(entry.guard_manager)
            verdicts = tuple(verdict(entry, rows, call, part) for call in CALLS)
            symbols_of_entry = self.symbols(part, (*before.get(part, ()), call))
            assert symbols_of_entry == (symbols(state) if self.setting.dynamic is None else ())
            self.known[part, call, symbols_of_entry] = Entry(rows, operations(graph), symbols_of_entry, verdicts)

    def symbols(self, part: str, calls: tuple[Call, ...]) -> tuple[str, ...]:
        return symbols(merged([self.seen[part, call] for call in calls])) if self.setting.dynamic is None else ()

    def number(self, part: str, before: tuple[Call, ...], call: Call) -> int:
        """The entry that a call compiles when others have been compiled before. The other part has seen all calls then."""
        key = part, call, self.symbols(part, (*before, call))
        if key not in self.known:
            self.run(call, {name: before if name == part else CALLS for name in self.setting.parts})
        entries, entry = self.entries[part], self.known[key]
        if entry not in entries:
            entries.append(entry)
        return entries.index(entry)

    def explore(self, part: str) -> dict[tuple[int, ...], list[int | None]]:
        """For the entries that were compiled, in order: which entry each call compiles; None if it fits one."""
        transitions: dict[tuple[int, ...], list[int | None]] = {}
        reached: list[tuple[tuple[int, ...], tuple[Call, ...]]] = [((), ())]
        for made, calls in reached:
            fits = [any(self.entries[part][entry].verdicts[i] is None for entry in made) for i in range(len(CALLS))]
            then = [None if fit else self.number(part, calls, call) for fit, call in zip(fits, CALLS)]
            assert transitions.setdefault(made, then) == then  # whichever calls compiled these entries
            if len(made) + 1 < LIMIT:
                reached += [((*made, entry), (*calls, call)) for entry, call in zip(then, CALLS) if entry is not None]
        return transitions


class Model:
    """The caches of one `f` in a setting, as the figure has them."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.order: dict[str, list[int]] = {part: [] for part in machine.setting.parts}
        self.made: dict[str, tuple[int, ...]] = {part: () for part in machine.setting.parts}

    def call(self, number: int) -> list[tuple[str, str]]:
        """Return the outcome of each part: it hits, it compiles, or it runs uncompiled, and then so does the rest."""
        done = []
        for part, order in self.order.items():
            checks = [
                small.CacheEntry([], {"entry": each}, lambda _, each=each, part=part: self.fits(part, each, number))
                for each in order
            ]
            if small.lookup(checks, {}) is not None:
                order[:] = [check.scope["entry"] for check in checks]
                done.append((part, "hit"))
            elif len(order) < LIMIT:
                new = self.machine.compiles[part][self.made[part]][number]
                assert new is not None
                self.made[part] += (new,)
                order.insert(0, new)
                done.append((part, "compiled"))
            else:
                return [*done, (part, "uncompiled")]
        return done

    def fits(self, part: str, entry: int, number: int) -> bool:
        return self.machine.entries[part][entry].verdicts[number] is None


# Checks --------------------------------------------------------------------------------------------------------------


class Rushlight:
    """A new `f`, compiled by rushlight."""

    def __init__(self, setting: Setting) -> None:
        self.function, self.graphs = setting.function(), []
        self.compiled = rushlight.compile(self.function, backend=self.keep)
        cells = dict(zip(self.compiled.__code__.co_freevars, self.compiled.__closure__))
        self.compiler = cells["start"].cell_contents.__self__

    def keep(self, graph: Any, _: list) -> Any:
        self.graphs.append(graph)
        return graph.forward

    def call(self, call: Call) -> None:
        with rushlight.set_grad_enabled(call.grad_mode), redirect_stdout(io.StringIO()):
            self.compiled(*call.args(rushlight))

    def regions(self) -> dict[str, Any]:
        regions = self.compiler.regions_of(self.function.__code__, self.function.__globals__)
        return dict(zip(PARTS, regions.values()))

    def reason(self, part: str, entry: Any, call: Call) -> str | None:
        """Why an entry does not fit a call, in torch's words."""
        x, n = call.args(rushlight)
        values = {"x": x, "n": n} if part == "f" else {"n": n, "y": x.sum(0)}
        with rushlight.set_grad_enabled(call.grad_mode):
            reasons = small.recompile_reasons([entry], values)
        grad = "GLOBAL_STATE changed: grad_mode"
        return next(
            (grad if "grad_enabled" in reason else guards.strip_local_scope(reason) for reason in reasons), None
        )


def walk(setting: Setting) -> list[int]:
    """40 random calls, first the usual one."""
    draw = random.Random(setting.name)
    return [0, *(draw.randrange(len(CALLS)) for _ in range(39))]


def check_with_torch(machine: Machine) -> None:
    model, theirs = Model(machine), Torch(machine.setting)
    for number in walk(machine.setting):
        model.call(number)
        theirs.call(CALLS[number])
        for part, order in model.order.items():
            ids = [int(str(entry.compile_id).rpartition("/")[2]) for entry in theirs.entries(part)]
            assert [model.made[part][identity] for identity in ids] == order, (machine.setting, number, part)
        assert len(theirs.graphs) == sum(map(len, model.made.values()))


def check_with_rushlight(machine: Machine) -> None:
    """Rushlight compiles and hits at the same calls, has the same graphs, and fails by the same guards."""
    model, ours, theirs = Model(machine), Rushlight(machine.setting), Torch(machine.setting)
    makers: dict[int, Call] = {}
    for number in walk(machine.setting):
        call = CALLS[number]
        model.call(number)
        ours.call(call)
        theirs.call(call)
        for part, region in ours.regions().items():
            for entry in region.entries:
                makers.setdefault(id(entry), call)
            first = [machine.compiles[part][()][CALLS.index(makers[id(entry)])] for entry in region.entries]
            assert first == model.order[part], (machine.setting, number, part)
            for entry, known in zip(region.entries, first):
                for other, verdict_of in zip(CALLS, machine.entries[part][known].verdicts):
                    reason = ours.reason(part, entry, other)
                    assert (reason is None) == (verdict_of is None)
                    if sum(a != b for a, b in zip(other[1:], makers[id(entry)][1:])) == 1 and verdict_of:
                        assert reason == verdict_of[1], (reason, verdict_of)
    assert len(ours.graphs) == len(theirs.graphs)
    for our, their in zip(ours.graphs, theirs.graphs):
        assert fx_nodes(our)[:-1] == fx_nodes(their)[:-1]


# The data ------------------------------------------------------------------------------------------------------------


def listing(setting: Setting) -> dict[str, Any]:
    """The lines and the instructions of `f`, in rushlight's form, each with what becomes of it: 0 is the graph of `f`, 1 is left to
    Python, 2 is the resume function. Torch's code for `f` calls the same three."""
    theirs, ours = Torch(setting), Rushlight(setting)
    theirs.call(CALLS[0])
    ours.call(CALLS[0])
    (entry,) = theirs.entries("f")
    called = [
        str(instruction.argval)
        for instruction in dis.get_instructions(entry.code)
        if instruction.opname.startswith("LOAD")
    ]
    pieces = [name for text in called for name in ("__compiled_fn", "print", "__resume_at") if text.startswith(name)]
    instructions = bytecode.instructions_of(theirs.function.__code__)
    resumes = [*ours.compiler.regions_of(ours.function.__code__, ours.function.__globals__)][1:]
    result: dict[str, Any] = {"lines": setting.code.splitlines(), "takes": ""}
    line = 0
    if setting.breaks:
        line = instructions[resumes[0] - 1].line - theirs.function.__code__.co_firstlineno
        code = theirs.code("resume")
        assert pieces == ["__compiled_fn", "print", "__resume_at"] and code is not None
        takes = [name for name in code.co_varnames[: code.co_argcount] if "nested" not in name]
        result["takes"] = f"resume({', '.join(takes)})"
    at = [
        i for i, instruction in enumerate(instructions) if instruction.op not in ("PUSH_NULL", "TO_BOOL")
    ]  # Python versions differ

    def owner(i: int, row: int) -> int:
        return 0 if not setting.breaks or row < line else 1 if i < resumes[0] else 2

    first = theirs.function.__code__.co_firstlineno
    result["owners"] = [owner(0, i) if i <= line else 2 * setting.breaks for i in range(len(result["lines"]))]
    result["instructions"] = []
    for i in at:
        instruction = instructions[i]
        arg = (
            ""
            if instruction.arg is None
            else at.index(instruction.arg)
            if "JUMP" in instruction.op
            else repr(instruction.arg)
            if "CONST" in instruction.op
            else instruction.arg
        )
        result["instructions"].append([f"{instruction.op} {arg}".strip(), owner(i, instruction.line - first)])
    return result


def shown(machine: Machine, reasons: list[str]) -> dict[str, Any]:
    """The entries of each part: guards, graph, what is said of its symbols, verdicts. And under the letters of those that were
    compiled: which entry each call compiles."""
    result = {}
    for part, entries in machine.entries.items():
        table = []
        for rows, graph, names, verdicts in entries:
            reasons += dict.fromkeys(verdict[1] for verdict in verdicts if verdict and verdict[1] not in reasons)
            fixed = any(".size [1," in row for row in rows)
            news = {
                name: phrase(f"{name} has changed, so it is a symbol now, except if it is 1.")
                if fixed and "size" in name
                else phrase(f"{name} has changed, so it is a symbol now.")
                for name in names
            }
            table.append(
                [rows, graph, news, [verdict and [verdict[0], reasons.index(verdict[1])] for verdict in verdicts]]
            )
        compiles = {
            "".join(ascii_lowercase[entry] for entry in made): "".join(
                "-" if entry is None else ascii_lowercase[entry] for entry in then
            )
            for made, then in machine.compiles[part].items()
        }
        result[part] = {"entries": table, "compiles": compiles}
    return result


SAID = {
    "ask": phrase(
        "Next call: {}. Do the guards of an entry hold, or is it compiled? "
        "Press the number of graphs that this call compiles."
    ),
    "next": phrase("Press the next call."),
    "whole": phrase("Nothing breaks the graph, so there is no resume function."),
    "full": phrase(f"the limit is {LIMIT}: it runs uncompiled"),
    "skipped": phrase("not asked, because f runs uncompiled"),
    "limited": phrase("No entry fits. {0} already has {1}, the limit, so it runs uncompiled."),
    "hit": phrase("{0} runs {1}, because all its guards hold."),
    "first": phrase("{} is compiled for the first time."),
    "again": phrase('{0} is compiled again. Torch says of {1}: "{2}".'),
    "moves": [
        phrase("{} was tested second, and moves to the front"),
        phrase("{} was tested third, and moves to the front"),
    ],
    "down": phrase("tested from top to bottom, {} free"),
    "across": phrase("tested from left to right"),
    "counts": phrase("calls: {0}, graphs compiled: {1}"),
    "guesses": phrase(", guesses: {0} of {1} right"),
    "status": [phrase("runs"), phrase("new"), phrase("fails"), phrase("not tested")],
}


def data() -> dict[str, Any]:
    reasons: list[str] = []
    result: dict[str, Any] = {"limit": LIMIT, "calls": [], "code": {}, "settings": {}, "reasons": reasons, **SAID}
    for call in CALLS:
        x, n = call.args(torch)
        mode = phrase("grad mode on") if call.grad_mode else phrase("grad mode off")
        result["calls"].append([call.name, [f"x: {call.dtype} {list(x.shape)}", f"n: {n}", mode]])
    with settings():
        for dynamic, breaks in product((None, True, False), (False, True)):
            setting = Setting(dynamic, breaks)
            machine = Machine(setting)
            check_with_torch(machine)
            if dynamic is False:
                check_with_rushlight(machine)
                result["code"][setting.name.partition(" ")[2]] = listing(setting)
            result["settings"][setting.name] = shown(machine, reasons)
    return result
