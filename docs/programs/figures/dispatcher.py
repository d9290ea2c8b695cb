"""Which kernels a call runs, in which order, in each situation: traced in torch, and compared with rushlight's trace.

Torch's builds print no trace. But torch has a key above all others, `PythonDispatcher`, for compilers in Python. While it is
enabled, each call and each redispatch asks an operator's `_get_dispatch` what to run for the highest key of its set. Here
`_get_dispatch` writes the step down, with the thread's sets at this moment, and runs the kernel of torch's table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from itertools import product
from typing import Any

import torch
from torch._dispatch.python import all_py_loaded_overloads
from torch._ops import OpOverload
from torch.utils._python_dispatch import TorchDispatchMode

import rushlight
from autograder.language import phrase

PHASE, SIZE = "02", (740, 434)
K, S = torch._C.DispatchKey, torch._C.DispatchKeySet
BACKENDS = {"meta": "Meta", "cpu": "CPU"}  # the highest first
DEVICES = "cpu", "meta"
ROWS = [
    "PythonTLSSnapshot",
    "AutocastCPU",
    "AutogradFunctionality",
    "ADInplaceOrView",
    "Python",
    "BackendSelect",
    "Dense",
]
CALLS: dict[str, Callable] = {
    "x * w": lambda xp, x, w, b: x * w,
    "linear(x, w, b)": lambda xp, x, w, b: xp.nn.functional.linear(x, w, b),
    "w.t()": lambda xp, x, w, b: w.t(),
    "w.add_(1)": lambda xp, x, w, b: w.add_(1),
    "empty(2, 2)": lambda xp, x, w, b: xp.empty(2, 2, device=x.device),
}
MODES = "enabled", "no_grad", "inference_mode"  # of grad
SITUATIONS = list(product(CALLS, MODES, (False, True), (False, True), DEVICES, (False, True)))
REDISPATCH = "PythonTLSSnapshot", "Autograd", "ADInplaceOrView", "BackendSelect"  # the others call
ONLY_IN_TORCH = {"PythonTLSSnapshot": None, "BackendSelect": "aten::_to_copy"}


@contextmanager
def situation(xp: Any, grad: str, autocast: bool, mode: bool) -> Iterator[None]:
    base = TorchDispatchMode if xp is torch else rushlight.dispatch.DispatchMode

    class Mode(base):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    with ExitStack() as stack:
        if grad != "enabled":
            stack.enter_context(getattr(xp, grad)())
        if autocast:
            stack.enter_context(xp.autocast("cpu", dtype=xp.float16))
        if mode:
            stack.enter_context(Mode())
        yield


def arguments(xp: Any, device: str, requires_grad: bool) -> list:
    return [xp.ones(*sizes, device=device).requires_grad_(requires_grad) for sizes in ((2, 2), (2, 2), (2,))]


# Torch's tables and sets ---------------------------------------------------------------------------------------------


@cache
def table(op: str) -> dict[str, list[str]]:
    """For each key of an operator: the reason for its entry, and the file that registered the kernel."""
    registered = {}
    for line in torch._C._dispatch_dump_table(op).splitlines():
        key, _, entry = line.partition(": ")
        reason = "fallthrough" if entry.startswith("fallthrough") else re.search(r"\[([^]]*)\]$", entry)[1]
        place = re.search(r"([^/]+):\d+ \[", entry)[1]
        registered[key] = [reason, re.sub(r"_\d+(?=\.cpp$)", "", place)]
    return registered


def computes(op: str, key: str) -> bool:
    """Whether a kernel is a backend's. What it calls is no step, and is named in a sentence."""
    return key in BACKENDS.values() and table(op)[key][0] != "math kernel"


def registered(op: str, key: str) -> Any:
    """Return the key, or alias, of the registration of the kernel that an operator runs at `key`."""
    alias = {
        "default backend kernel": ["CompositeExplicitAutogradNonFunctional", "CompositeExplicitAutograd"],
        "math kernel": ["CompositeImplicitAutograd"],
        "autograd kernel": ["Autograd"],
    }
    for name in alias.get(table(op)[key][0], []):
        if torch._C._dispatch_has_kernel_for_dispatch_key(op, name):
            return getattr(K, name)
    return getattr(K, key)


def runtime_key(row: str, device: str) -> str:
    """The key of a row for a call on a device."""
    return {"AutogradFunctionality": "Autograd", "Dense": ""}[row] + BACKENDS[device] if row in PER_BACKEND else row


PER_BACKEND = "AutogradFunctionality", "Dense"
COUNT = torch._C._dispatch_num_backends()
FUNCTIONALITY_BITS = [S(getattr(K, row)).raw_repr() >> COUNT for row in ROWS]
BACKEND_BITS = [S(getattr(K, name)).raw_repr() & (1 << COUNT) - 1 for name in BACKENDS.values()]
assert sorted(FUNCTIONALITY_BITS, reverse=True) == FUNCTIONALITY_BITS
assert sorted(BACKEND_BITS, reverse=True) == BACKEND_BITS


def shown(key_set: Any) -> int:
    """The bits of a set that the figure has, a row each: the functionalities from the highest on, then the backends."""
    bits = key_set.raw_repr()
    rows = [bool(bits >> COUNT & bit) for bit in FUNCTIONALITY_BITS] + [bool(bits & bit) for bit in BACKEND_BITS]
    return sum(on << i for i, on in enumerate(rows))


def without(key_set: Any, op: str) -> Any:
    """A set without the functionalities that fall through for an operator."""
    for row in ROWS:
        key = getattr(K, row)
        name = key_name(key, key_set)
        if name and table(op)[name][0] == "fallthrough":
            key_set = key_set - S(key)
    return key_set


def key_name(key: Any, key_set: Any) -> str | None:
    """The runtime key that a functionality is in a set."""
    if key.name not in PER_BACKEND:
        return key.name
    bits = key_set.raw_repr()
    on = next((name for name, bit in zip(BACKENDS.values(), BACKEND_BITS) if bits & bit), None)
    return on and {"AutogradFunctionality": "Autograd", "Dense": ""}[key.name] + on


# The two traces ------------------------------------------------------------------------------------------------------


class Trace:
    """The steps of a call in torch. What the kernel of a backend calls is no step."""

    def __init__(self) -> None:
        self.steps: list[dict] = []
        self.running: list[dict] = []
        self.computing = False
        self.alive: list[Callable] = []  # torch does not hold what _get_dispatch returns

    @contextmanager
    def active(self) -> Iterator[None]:
        before, trace = OpOverload._get_dispatch, self

        def get_dispatch(op, key):
            op._dispatch_cache.clear()
            trace.alive.append(lambda *args, **kwargs: trace.run(op, key.name, args, kwargs))
            return trace.alive[-1]

        for op in all_py_loaded_overloads():  # a compiler in this process may have used the key
            op._dispatch_cache.clear()
        OpOverload._get_dispatch = get_dispatch
        try:
            with torch._C._EnablePythonDispatcher():
                yield
        finally:
            OpOverload._get_dispatch = before

    def run(self, op: OpOverload, key: str, args: tuple, kwargs: dict) -> Any:
        name = op._schema.name + (f".{op._schema.overload_name}" if op._schema.overload_name else "")
        kernel = registered(name, key)
        if self.computing or (self.steps and not self.running):  # a binding may wrap the result by another call
            if self.computing:
                self.running[-1]["inside"][short(name)] = None
            return op._op_dk(kernel, *args, **kwargs)
        step = {"op": name, "key": key, "depth": len(self.running), "args": args, "kwargs": kwargs, "calls": []}
        step["inside"] = {}  # the names of the calls below the kernel of a backend, in order
        parent = self.running[-1] if self.running else None
        step["how"] = (
            "redispatch" if parent and parent["op"] == name and parent["key"].startswith(REDISPATCH) else "call"
        )
        step["parent"], step["grad_mode"] = parent, torch.is_grad_enabled()
        self.begin(step)
        self.computing = computes(name, key)
        try:
            step["result"] = op._op_dk(kernel, *args, **kwargs)
            if key == "BackendSelect" and not step["calls"]:
                self.selected(step)
            return step["result"]
        except RuntimeError as error:
            step["error"] = str(error).partition("\n")[0]
            raise
        finally:
            self.running.pop()
            self.computing = False

    def begin(self, step: dict) -> None:
        self.sets(step)
        if step["parent"]:
            step["parent"]["calls"].append(step)
        self.steps.append(step)
        self.running.append(step)

    def selected(self, step: dict) -> None:
        """The last step of a call without tensors. `BackendSelect` redispatches to one key, so without `PythonDispatcher`."""
        key = BACKENDS[step["result"].device.type]
        more = {"key": key, "depth": step["depth"] + 1, "how": "redispatch", "parent": step, "calls": []}
        self.begin({**step, **more})
        self.running.pop()

    def sets(self, step: dict) -> None:
        """The sets from which the step's key comes. It is the highest of them, as torch computes it."""
        tensors = S(K.Undefined)
        for argument in step["args"]:
            if isinstance(argument, torch.Tensor):
                tensors = tensors | torch._C._dispatch_keys(argument)
        included = torch._C._dispatch_tls_local_include_set() - S(K.PythonDispatcher)
        excluded = torch._C._dispatch_tls_local_exclude_set()
        parent = step["parent"]
        if step["how"] == "call":
            whole = (tensors | included) - excluded
            left = without(whole, step["op"])
        else:
            given = parent["left"]
            if parent["key"] == "BackendSelect":  # it adds the backend of the argument `device`
                device = step["kwargs"].get("device") or next(x.device for x in step["args"] if hasattr(x, "device"))
                given = given | S(getattr(K, BACKENDS[torch.device(device).type]))
            after = torch._C._dispatch_keyset_full_after(getattr(K, parent["key"]))
            whole = left = (given & after) - S(K.PythonDispatcher)
        assert left.highestPriorityTypeId().name == step["key"], (step["op"], step["key"], left)
        step["left"] = left
        step["sets"] = [shown(keys) for keys in (tensors, included, excluded, whole)]


def rushlights(call: str, given: list) -> list[tuple]:
    """Depth, how, operator and key of each step in rushlight, without those below the kernel of a backend."""
    lines: list[str] = []
    with rushlight.dispatch.show_dispatch_trace(lines.append):
        try:
            CALLS[call](rushlight, *given)
        except RuntimeError:
            lines.append("refused")
    steps, computing = [], None
    for line in lines:
        if line == "refused":
            steps.append(line)
            continue
        indent, how, op, key = re.match(r"( *)\[(\w+)\] op=\[(.*?)\], key=\[(.*?)\]", line).groups()
        if computing is not None and len(indent) > computing:
            continue
        computing = len(indent) if computes(op, key) else None
        steps.append((len(indent), how, op, key))
    return steps


def comparable(steps: list[dict]) -> list[tuple]:
    """Torch's steps in the form of rushlight's, without the kernels that only torch has."""
    calls = []
    for step in steps:
        if skipped(step):
            continue
        parent, depth, first = step["parent"], 0, step["how"]
        while parent:
            depth += not skipped(parent)
            if skipped(parent) and parent["op"] == step["op"] and parent["how"] == "call" and not depth:
                first = "call"
            parent = parent["parent"]
        calls.append((depth, first, step["op"], step["key"]))
    return calls + ["refused"] * any("error" in step for step in steps[:1])


def skipped(step: dict) -> bool:
    return any(step["key"].startswith(key) and op in (None, step["op"]) for key, op in ONLY_IN_TORCH.items())


# What the figure says ------------------------------------------------------------------------------------------------


def short(op: str) -> str:
    return op.removeprefix("aten::").partition(".")[0]


def excludes(step: dict, row: str) -> bool:
    """Whether the thread excluded a functionality when a step began."""
    return bool(step["sets"][2] >> ROWS.index(row) & 1)


def explained(step: dict) -> str:
    """Say what the kernel of a step does, from the record of the step."""
    op, key, reason = short(step["op"]), step["key"], table(step["op"])[step["key"]][0]
    called = list(dict.fromkeys(short(call["op"]) for call in step["calls"]))
    if "error" in step and not any("error" in call for call in step["calls"]):
        error = step["error"]
        return phrase(f"The autograd kernel refuses the call: {error}")
    if key == "PythonTLSSnapshot":
        return phrase("This kernel saves the thread's sets, so that a mode can restore them. Then it redispatches.")
    if key == "AutocastCPU":
        casts = sum(short(call["op"]) == "to" for call in step["calls"])
        done = phrase(f"casts {casts} arguments to float16, and calls {op} again.")
        return phrase(f"The autocast kernel excludes its own key, {done}")
    if reason == "math kernel":
        none = phrase(f"{op} has no kernel of its own for {key}.")
        if len(called) == 1:
            return f"{none} {phrase(f'Its composite kernel calls {called[0]}. This call begins at the top.')}"
        one, other = called
        both = phrase(f"Its composite kernel calls {one} and {other}. Each of these calls begins at the top.")
        return f"{none} {both}"
    if key.startswith("Autograd"):
        node = step.get("result") is not None and step["result"].grad_fn
        if node:
            assert all(excludes(call, "AutogradFunctionality") for call in step["calls"])
            name = type(node).__name__
            return phrase(f"The autograd kernel makes the node {name}, excludes autograd, and redispatches.")
        why = phrase("nothing requires grad") if step["grad_mode"] else phrase("grad mode is off")
        return phrase(f"The autograd kernel runs, but it records nothing, because {why}. It redispatches.")
    if key == "ADInplaceOrView":
        assert step["result"]._version == 1 if op.endswith("_") else step["result"]._base is step["args"][0]
        if op.endswith("_"):
            return phrase("This kernel redispatches. Then it increments the version counter of w.")
        return phrase("This kernel redispatches. Then it notes that the result is a view of w.")
    if key == "Python":
        assert all(excludes(call, row) for call in step["calls"] for row in ROWS[: ROWS.index("Python")])
        what = phrase(f"This kernel calls the mode's __torch_dispatch__, and the mode calls {op} again.")
        return f"{what} {phrase('Meanwhile the mode is off, and all keys above Python are excluded.')}"
    if key == "BackendSelect":
        return phrase("This kernel reads the argument device, adds the key of its backend, and redispatches.")
    if key == "Meta":
        what = phrase(f"The kernel of {op} for Meta computes sizes, strides and dtype.")
        what = f"{what} {phrase('It has no memory and computes no number.')}"
    elif op == "t":
        what = phrase("The kernel of t for CPU makes the view: the call has reached its backend.")
    elif op == "empty":
        what = phrase("The kernel of empty for CPU allocates the memory: the call has reached its backend.")
    else:
        what = phrase(f"The kernel of {op} for CPU computes the numbers: the call has reached its backend.")
    if key == "Meta" and step["inside"]:
        return f"{what} {phrase('The calls below it are not listed.')}"
    if inside := ", ".join(step["inside"]):
        return f"{what} {phrase(f'The calls below it are not listed: {inside}.')}"
    return what


def data() -> dict:
    """`traces` has for each situation, in the order of `choices`, the numbers of its `steps`: depth, operator, row, whether the
    step is a call, text, and the four sets. A set has a bit for each of `rows`."""
    steps: dict[tuple, int] = {}
    texts: dict[str, int] = {}
    ops: dict[str, int] = {}
    traces: dict[tuple, int] = {}
    situations = []
    for call, grad, autocast, requires_grad, device, mode in SITUATIONS:
        trace = Trace()
        given = arguments(torch, device, requires_grad)
        with situation(torch, grad, autocast, mode), trace.active():
            try:
                CALLS[call](torch, *given)
            except RuntimeError:
                assert "error" in trace.steps[0]
        ours = arguments(rushlight, device, requires_grad)
        with situation(rushlight, grad, autocast, mode):
            seen = rushlights(call, ours)
        assert comparable(trace.steps) == seen, (call, grad, autocast, requires_grad, device, mode)
        numbers = []
        for step in trace.steps:
            text = texts.setdefault(explained(step), len(texts))
            op = ops.setdefault(step["op"], len(ops))
            row = next(i for i, known_row in enumerate(ROWS) if runtime_key(known_row, device) == step["key"])
            entry = calls_above(step), op, row, int(step["how"] == "call"), text, *step["sets"]
            numbers.append(steps.setdefault(entry, len(steps)))
        situations.append(traces.setdefault(tuple(numbers), len(traces)))
    entries = [[[table(op)[runtime_key(row, device)] for row in ROWS] for device in DEVICES] for op in ops]
    words = list(dict.fromkeys(word for one in entries for two in one for three in two for word in three))
    return {
        "calls": list(CALLS),
        "choices": [len(CALLS), len(MODES), 2, 2, len(DEVICES), 2],
        "modes": MODES,
        "devices": DEVICES,
        "rows": [*ROWS, *BACKENDS.values()],
        "keys": [[runtime_key(row, device) for row in ROWS] for device in DEVICES],
        "ops": [short(op) for op in ops],
        "tables": [[[[words.index(word) for word in three] for three in two] for two in one] for one in entries],
        "words": words,
        "texts": list(texts),
        "steps": list(steps),
        "traces": list(traces),
        "situations": situations,
    }


def calls_above(step: dict) -> int:
    """How many calls contain the call of a step."""
    count, parent = 0, step
    while parent := parent["parent"]:
        count += parent["how"] == "call"
    return count - (step["how"] == "redispatch")
