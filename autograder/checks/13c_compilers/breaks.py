"""Checks of lab 13c: a function whose graph breaks, on real torch."""

from __future__ import annotations

import ast
import logging
from contextlib import contextmanager

from ...engine.check import program
from ..cases import attempt, copied, drawn, explained, numbers, several
from ..shared_13 import names_changed, settings_changed

# Where a graph breaks ------------------------------------------------------------------------------------------------

LINES = [  # of a function of two tensors of the same size, and a number
    "x = x * x.numel()",
    "x = x + x.sum().item()",
    "x = x + x.sum()",
    "z = x.tolist()",
    "if x.sum() > 0:\n    x = x - 1",
    "if x.dim() > 1:\n    x = x - 1",
    "if x.dim() > 0:\n    x = x - 1",
    "torch._dynamo.graph_break()",
    "x = torch.from_numpy(x.numpy() * 2)",
    "y = y + x[x > 0].sum()",
    "y = y + torch.where(x > 0, x, 0).sum()",
    "assert y.sum() > -1e6",
    "y = y + len(x.nonzero())",
    "y = y + (x != 0).sum()",
    "x = x if bool(y.sum() > 3) else y",
    "x = torch.where(y.sum() > 3, x, y)",
    "z = float(x.flatten()[0])",
    "z = float(x.shape[0])",
    "seen.append(x.shape)",
    "seen.append(y.sum().item())",
    "print(end='')",
    "y = y + y.sum().item() - x.sum().item()",
    "y = y.clone()\ny[0] = 3",
    "y = y + (1 if seen else 2)",
    "if y.sum() > x.sum():\n    y = y - y.max().item()\nelse:\n    x = x - x.max().item()",
    "if n > 2:\n    print(end='')",
    "if n < 1:\n    z = y.tolist()",
    "x = x + [1, 2, 3, 4][n]",
    "y = y + y.max().item() if x.sum() > -100 else y",  # two breaks, of two kinds
    "x = y if x.tolist() and y.sum().item() else x",
]


def _function(torch, lines, between, below):
    """A new function with these lines, and a list of what it has seen. It begins so many lines below the first one of its file.
    With `between`, a line that computes is before each of them and after the last one."""
    added = ["y = y + 1"] * between
    body = [*added, *(each for line in lines for each in (line, *added)), "seen.append(n)", "return x + y"]
    space = {"torch": torch, "seen": []}
    indented = "\n".join(body).replace("\n", "\n    ")
    exec("\n" * below + f"def script(x, y, n):\n    {indented}", space)
    return space["script"], space["seen"]


def _inputs(torch, start, n):
    return numbers(torch, [4], start, "float32"), numbers(torch, [4], start + 1, "float32"), n


LOGS = [f"torch._dynamo.{name}.__graph_breaks" for name in ("symbolic_convert", "convert_frame")]


def _settings(torch):
    """The settings of Dynamo, of its logs and of their loggers, by name."""
    settings = {f"torch._dynamo.config.{name}": value for name, value in torch._dynamo.config.get_config_copy().items()}
    loggers = {name: log for name, log in logging.root.manager.loggerDict.items() if isinstance(log, logging.Logger)}
    del loggers["torch.__trace"]  # torch itself changes it at the first compilation
    for name, log in {"root": logging.root, **loggers}.items():
        own = {key: value for key, value in vars(log).items() if key != "_cache"}
        own |= {"handlers": len(log.handlers), "filters": len(log.filters), "attributes": [*own]}
        settings |= {f"{key} of the logger {name}": value for key, value in own.items()}
    state = torch._logging._internal._get_log_state()
    settings["torch._logging.set_logs"] = dict(state.log_qname_to_level), set(state.artifact_names)
    settings["logging.disable"] = logging.root.manager.disable
    translator = torch._dynamo.symbolic_convert.InstructionTranslatorBase
    return settings | {"InstructionTranslatorBase.log_graph_break": translator.log_graph_break}


CALLERS = ["usual", "raised", "lowered", "off"]  # what a caller has set for the loggers


@contextmanager
def _logs_of(torch, caller):
    """Within: the logs are set as a caller has them."""
    logs = torch._logging._internal
    state, silent = logs._get_log_state(), logging.root.manager.disable
    torch._logging.set_logs(dynamo=logging.ERROR)
    for name in LOGS if caller in ("raised", "lowered") else ():
        log = logging.getLogger(name)
        log.setLevel(logging.WARNING if caller == "raised" else 5)
        log.propagate = False
    if caller == "off":
        logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(silent)
        logs._set_log_state(state)
        logs._init_logs()  # it sets levels and `propagate` too


def _lines(*chosen, start=1, n=2, between=True, below=0, before=False, caller="usual"):
    case = {"lines": list(chosen), "start": start, "n": n, "between": between, "below": below, "before": before}
    return case | {"caller": caller}


@program(
    "clinic.compilers.find_breaks",
    cases=drawn(lines=several(LINES, 1, 4), start=(0, 9), n=(0, 4), between=bool, below=(0, 9), before=bool, caller=CALLERS),
    edges=[
        *(_lines(*LINES[i : i + 6], below=i) for i in range(0, len(LINES), 6)),
        *(_lines(*LINES[i : i + 4], between=False, before=True, start=i) for i in range(0, len(LINES), 4)),
        *(_lines("if y.sum() > x.sum():\n    y = y - y.max().item()\nelse:\n    x = x - x.max().item()", start=i) for i in (0, 4)),
        *(_lines(*LINES[-3:], n=n, between=False) for n in (0, 3, 4)),
        _lines(between=False), _lines(*["z = x.tolist()"] * 3, between=False),
        *(_lines(*LINES[3:5], LINES[13], caller=caller) for caller in CALLERS),
        *(_lines("y[0] = y[9]", between=False, caller=caller) for caller in CALLERS),
    ],
    hint=explained(
        lines="a line is counted from the line with def, which is line 0; explain misses breaks before the first operator",
        seen="the function runs once",
        settings="these settings are others afterwards than before: put back what you change, with the value that it had",
    ),
    draws=8,
    disposable=True,
)  # fmt: skip
def find_breaks(rl, lines, start, n, between, below, before, caller):
    import torch

    function, seen = _function(torch, lines, between, below)
    inputs = _inputs(torch, start, n)
    torch._dynamo.reset()
    if before:
        attempt(torch.compile(function, backend="eager"), *inputs)
        seen.clear()
    with _logs_of(torch, caller):
        settings = _settings(torch)
        found = attempt(rl.clinic.compilers.find_breaks, function, *inputs)
        others = names_changed(settings, _settings(torch))
    return {"lines": found, "seen": len(seen), "arguments": inputs, "settings": others}


@find_breaks.oracle
def lines_of_breaks(torch, lines, start, n, between, below, before, caller):
    """Dynamo itself tells where it is, when it logs a break."""
    from unittest.mock import patch

    translator, told = torch._dynamo.symbolic_convert.InstructionTranslatorBase, set()
    log = translator.log_graph_break

    def remember(self, code_options, reason, exc):
        stack = getattr(exc, "real_stack", None) or torch._guards.TracingContext.extract_stack()
        told.add(stack[-1].lineno - below - 1)
        return log(self, code_options, reason, exc)

    function, seen = _function(torch, lines, between, below)
    inputs = _inputs(torch, start, n)
    torch._dynamo.reset()
    with patch.object(translator, "log_graph_break", remember):
        result = attempt(torch.compile(function, backend="eager"), *inputs)
    found = result if isinstance(result, str) else sorted(told)
    return {"lines": found, "seen": len(seen), "arguments": inputs, "settings": []}


# A function without breaks -------------------------------------------------------------------------------------------

SIGNALS = ["usual", "large", "small", "zeros", "one strong", "negative", "limit", "above"]


def _signal(torch, name, size, start, kind):
    x = numbers(torch, [size], start, kind)
    made = {"usual": x, "large": x * 8, "small": x / 32, "zeros": x * 0, "negative": -x.abs() - 1}
    made |= {"limit": x * 0 + 0.25, "above": x * 0 + (0.25 + 1e-10)}  # of float64, the second one is strong
    return made[name] if name in made else torch.cat([x[:-1] * 0, x.new_full((1,), 0.75)])


def _cleaned(torch, clean, size, starts, names, kind):
    """What a function makes of several signals: as it is, without data, and compiled, with the number of graphs."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    signals = [_signal(torch, name, size, start, kind) for name, start in zip(names, starts)]
    before, graphs = [copied(x) for x in signals], []
    settings = torch._dynamo.config.get_config_copy()

    def collect(module, inputs):
        graphs.append(module)
        return module.forward

    eager = _by_signal(signals, lambda x: copied(clean(x)))
    with FakeTensorMode() as mode:
        fake = attempt(lambda: [*clean(mode.from_tensor(signals[0])).shape])
    torch._dynamo.reset()
    compiled = torch.compile(clean, backend=collect, fullgraph=True)
    results = _by_signal(signals, lambda x: attempt(lambda: copied(compiled(x))))
    torch._dynamo.reset()
    return {
        "settings": settings_changed(torch, settings),
        "signals": all(map(torch.equal, signals, before)),
        "result": eager,
        "compiled": results,
        "graphs": len(graphs),
        "without data": fake,
        "gradient": _gradients(torch, clean, kind),
        "long": _of_long_signals(torch, clean),
        "exact": _is_exact(torch, clean),
    }


def _by_signal(signals, function):
    """What a function makes of each signal, by its elements: a verdict shows them."""
    before = [str(x.tolist()) for x in signals]
    return {name: function(x) for name, x in zip(before, signals)}


LONG = {"[0.5, 0.75] repeated": 150_000, "[-0.625, -0.875] repeated": 100_000, "[0.5, 0.75, 0.125] repeated": 210_000}


def _of_long_signals(torch, clean):
    """The first results for signals of float16, whose count or sum is larger than all numbers of that dtype. None of them is 0,
    where an error that is small for the signal is large for the result."""
    results = {}
    for name, size in LONG.items():
        values = torch.tensor(ast.literal_eval(name.removesuffix(" repeated")), dtype=torch.float16)
        results[f"{name}, {size} elements"] = copied(clean(values.repeat(size // len(values)))[: len(values)])
    return results


def _is_exact(torch, clean):
    """Whether the result for a signal of float64, all of whose elements are strong, has the digits of float64."""
    signal = torch.tensor([2.1, 0.7, -1.9, 1.3], dtype=torch.float64)
    return bool(((clean(signal) - (signal - signal.mean()) / 2.1).abs() < 1e-13).all())


GRADIENTS = [  # signals whose absolute values all differ, or are 0
    [0.5, -0.25, 0.9, 0.125], [2.0, -1.0, 3.6, 0.5], [0.25, 0.125, 1.0, -0.5], [0.5, -1.0, 0.125, 0.0], [0.0, 0.0, 0.0, 0.0],
    [0.0, 0.25, 0.0625, -0.125], [0.0, 0.5, 0.0625, -0.125], [0.0, 0.25, 0.0625, -8.0],
]  # fmt: skip


def _gradients(torch, clean, kind):
    def gradient(x):
        result = clean(x)
        if result.requires_grad:
            (result * torch.arange(1, 5)).sum().backward()
        return x.grad

    leaves = [torch.tensor(signal, dtype=getattr(torch, kind), requires_grad=True) for signal in GRADIENTS]
    return _by_signal(leaves, gradient)


def _signals(*names, size=4, kind="float32"):
    return {"size": size, "starts": [*range(len(names))], "names": list(names), "kind": kind}


@program(
    "clinic.compilers.clean",
    cases=drawn(
        size=(1, 5), starts=several((0, 9), 3, 3), names=several(SIGNALS, 3, 3), kind=["float32", "float64"]
    ),
    edges=[
        _signals(*SIGNALS), _signals(*SIGNALS, size=1, kind="float64"), _signals("zeros", "large"),
        *(_signals(name, "usual", size=5) for name in SIGNALS),
    ],
    hint=explained(
        settings="a setting of Dynamo hides the symptom in this process only: these are changed",
        signals="the signal is only read",
        result="divide by the largest absolute value if it is more than 1, and subtract the mean of the strong elements",
        compiled="with fullgraph=True the compiled function gives another result, or an error: a line still needs a value",
        without_data="on a fake tensor it raises: in eager mode, Python still reads a value",
        gradient="the gradient flows through the division, the mean and the difference, and through no division that is not made",
        graphs="one graph is used for all signals of a size: nothing in Python depends on the values",
        long="is a sum or a count larger than the numbers of float16? is a mean rounded more than once?",
        exact="for a signal of float64 each step has the digits of float64",
    ),
    draws=8,
    disposable=True,
)  # fmt: skip
def clean(rl, **case):
    import torch

    return _cleaned(torch, rl.clinic.compilers.clean, **case)


@clean.oracle
def cleaned_number_by_number(torch, size, starts, names, kind):
    def cleaned(x):
        if x.abs().max() > 1:
            x = x / x.abs().max()
        strong = x[x.abs() > 0.25]
        return x - strong.mean() if strong.numel() else x

    signals = [_signal(torch, name, size, start, kind) for name, start in zip(names, starts)]
    results = _by_signal(signals, lambda x: copied(cleaned(x)))
    return {
        "settings": [],
        "signals": True,
        "result": results,
        "compiled": results,
        "graphs": 1,
        "without data": [size],
        "gradient": _gradients(torch, cleaned, kind),
        "long": _of_long_signals(torch, lambda x: cleaned(x.double()).half()),
        "exact": True,
    }
