"""Checks of lab 13e: numbers that Python waits for, on real torch."""

from __future__ import annotations

import sys

from ...engine.check import program
from ..cases import attempt, copied, drawn, explained, field, first_apart, first_of, numbers, several, when

# Who reads them ------------------------------------------------------------------------------------------------------

RECURSION = "z = script(x.double()).sum().item() if x.dtype == torch.float32 else x[0].item()"
FAILS = "z = [read(x)][1]"
LINES = [  # of a function of a tensor of three elements
    "x = x * 2",
    "z = x.sum().item()",
    "if x.sum() > 0: x = x - 1",
    "if x.dim() > 0: x = x - 1",
    "z = float(x[0]) + float(x[1])",
    "z = x.tolist()",
    "z = x[x > -100]",
    "for i in range(3): z = x[i].item()",
    "z = [each.item() for each in x]",
    "z = [each.sum() for each in x]",
    "z = read(x)",
    "z = read(x) + read(x) if len(x) else 0",
    "z = list(map(read, x))",
    "z = max(x)",
    "z = sum(x)",
    "z = f'{x[0]:.2f}'",
    "while x.abs().max() > 1: x = x / 2",
    "x = torch.where(x.sum() > 1, x, -x)",
    "z = x[x.argmax()]",
    "z = x.sum() and 1",
    "z = (lambda y: int(y.max()))(x)",
    "z = twice(x, 2)",
    "z = x[0] in [x[1], x[2]]",
    "z = range(x.numel())",
    "z = torch.clamp(x, max=x.mean())",
    "optimizer.step()",
    "if x.double().dtype == torch.float64: z = x[0].item()",
    "z = bool(x[0]) + int(x[1]) + complex(x[2])",
    "z = not x[0]",
    "z = x[: int(x.sum() > -100)]",
    "z = 1 in x, x[0].is_nonzero()",
    "z = x.numpy().sum(), torch.equal(x, x), x.allclose(x)",
    "z = torch.as_tensor([x[0], x[1]])",
    "z = Other().script(x) + Other().read(x)",
    RECURSION,
    "for each in reading(x): z = each",
    "z = caught(x)",
    FAILS,
    "z = x.sum().item() + float(x[[0, 1]])",
    "z = [x.reshape(7), x[0].item()]",
    "def inner(y):\n        return y.sum().item()\n    z = inner(x) + x[0].item()",
]


def _function(torch, lines):
    """A new function with these lines. The line with `def` is not the first one of its file."""
    text = ["", "", "def script(x):", *(f"    {line}" for line in lines)]
    text += ["    return returned.append(x) or x", ""]
    text += ["def read(x):", "    return x.sum().item() + x.max().item()", ""]
    text += ["def twice(x, depth):", "    return x.min().item() + (twice(x, depth - 1) if depth else 0)"]
    text += ["class Other:", "    def script(self, x):", "        return x.sum().item()", "    read = script"]
    text += ["def reading(x):", "    yield x[0].item()", "    yield from x[1:].unbind()", "    yield x[2].item()"]
    text += [
        "def caught(x):",
        "    try:",
        "        return [][int(x[0].isnan())]",
        "    except IndexError:",
        "        return x[1].item()",
    ]
    weight = torch.nn.Parameter(torch.ones(2))
    weight.grad = torch.ones(2)
    space = {"torch": torch, "optimizer": torch.optim.Adam([weight]), "returned": []}
    exec(compile("\n".join(text), "script", "exec"), space)
    return space["script"], space["returned"]


def _lines(*lines):
    return {"lines": [*lines], "start": 1}


def _number_differs(case, mine, theirs):
    """Whether there are more reads, or fewer, of all lines together."""
    counts = [[count for _, count in field(seen, "reads") or []] for seen in (mine, theirs)]
    return first_apart(mine, theirs) == "reads" and sum(counts[0]) != sum(counts[1])


@program(
    "clinic.memory.transfers",
    cases=drawn(lines=several(LINES, 0, 6), start=(0, 9)),
    edges=[
        *(_lines(line) for line in LINES), _lines(), _lines(*LINES[:6], *LINES[:6]), _lines(*LINES[6:14]), _lines(*LINES[14:27]),
        _lines("z = x[0].item()", RECURSION, "z = float(x[1])"), _lines("z = x[0].item()", FAILS),
    ],
    hint=first_of(
        when(lambda case, mine, theirs: field(theirs, "error"), "an error of the function is raised further"),
        when(_number_differs, "each call of `aten::_local_scalar_dense` that the mode sees is one read, of one line"),
        explained(
            reads="walk from the frame of the mode to the frame whose code is that of the function: `frame.f_back` is the caller",
            returned="how many calls of the function have returned: it is called once",
        ),
    ),
)  # fmt: skip
def transfers(rl, lines, start):
    import torch

    function, returned = _function(torch, lines)
    counts = attempt(rl.clinic.memory.transfers, function, numbers(torch, [3], start, "float32"))
    reads = None if isinstance(counts, str) else sorted([int(line), int(count)] for line, count in counts.items())
    return {"error": counts if reads is None else None, "reads": reads, "returned": len(returned)}


@transfers.oracle
def traced_line_by_line(torch, lines, start):
    from torch.utils._python_dispatch import TorchDispatchMode

    (function, returned), counts, running = _function(torch, lines), {}, []

    def enter(frame, event, argument):
        if frame.f_code is function.__code__:
            running.append(0)
            return follow
        return None

    def follow(frame, event, argument):
        running[-1] = frame.f_lineno - function.__code__.co_firstlineno
        if event == "return":  # after an error too
            running.pop()
        return follow

    class Count(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if func.name() == "aten::_local_scalar_dense":
                counts[running[-1]] = counts.get(running[-1], 0) + 1
            return func(*args, **(kwargs or {}))

    def run():
        before, x = sys.gettrace(), numbers(torch, [3], start, "float32")
        try:
            with Count():
                sys.settrace(enter)
                function(x)
        finally:
            sys.settrace(before)

    error = attempt(run)
    reads = None if error else sorted([line, count] for line, count in counts.items())
    return {"error": error, "reads": reads, "returned": len(returned)}


# The same numbers without a read -------------------------------------------------------------------------------------


def _points(torch, size, start, scale, kind, same):
    x, target = (numbers(torch, [size, 2], start + i, kind) * scale for i in range(2))
    return x, x.clone() if same else target


def _descent(size=3, scale=1.0, kind="float32", rates=(0.5, 2.5, 0.5), same=False):
    return {"size": size, "scale": scale, "kind": kind, "rates": [*rates], "same": same, "start": 1}


@program(
    "clinic.memory.descend",
    cases=drawn(
        size=(1, 4), scale=[1.0, -1.0, 0.25, 8.0, -8.0, 1e25], kind=["float32", "float64"],
        rates=several([0.5, 1.0, 2.0, 2.5, 0.0], 1, 6), same=bool, start=(0, 9),
    ),
    edges=[
        _descent(), _descent(kind="float64"), _descent(scale=8.0), _descent(scale=0.125), _descent(same=True),
        _descent(1, rates=[1.0]), _descent(scale=1e25), _descent(scale=-1.0), _descent(scale=-8.0, kind="float64"),
        _descent(rates=[0.0, 0.0, 0.5]), _descent(rates=[2.0, 2.0, 2.0, 2.0], scale=0.25), _descent(rates=[0.5] * 6, scale=8.0),
        *(_descent(2, 0.25, kind, rates) for kind in ("float16", "bfloat16") for rates in ([0.5, 0.5, 2.0], [2.0, 0.5])),
        _descent(8, 64.0, "float16", [0.0, 0.0]), _descent(scale=1e25, kind="float64"),
    ],  # in half precision only cases without a rounding, but for a loss
    hint=explained(
        losses="each loss is that of the docstring, in the dtype of x, and all are one tensor: torch.stack",
        without_data="on tensors without data it needs a number: which line still reads one?",
        best="the best loss is the smallest one so far, the first one of equals, in its dtype, and the best point is the x that "
        "gave it, not the x after the step",
    ),
    draws=20,
)  # fmt: skip
def descend(rl, rates, **case):
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode

    x, target = _points(torch, **case)
    before = copied(x), copied(target)
    losses, best, point = rl.clinic.memory.descend(x, target, list(rates))
    with FakeTensorMode() as mode:
        fakes = [mode.from_tensor(each) for each in before]
        said = attempt(lambda: [[*each.shape] for each in rl.clinic.memory.descend(*fakes, list(rates))])
    return {
        "losses": copied(losses),
        "best": [copied(best), copied(point)],
        "without data": said,
        "only read": all(map(torch.equal, (x, target), before)),
    }


@descend.oracle
def descended_with_numbers(torch, rates, **case):
    x, target = _points(torch, **case)
    sizes, losses, points = [*x.shape], [], []
    for rate in rates:
        error = x - target
        losses.append((error * error).mean())
        points.append(x)
        largest = error.abs().max().item()
        x = x - rate * (error / largest if largest > 1 else error)
    at = min(range(len(losses)), key=lambda i: losses[i].item())  # the first one, if all are infinite
    return {
        "losses": torch.stack(losses),
        "best": [losses[at], points[at]],
        "without data": [[len(rates)], [], sizes],
        "only read": True,
    }
