"""Checks of lab 00: recording the operators that a program calls."""

from __future__ import annotations

import re

from ...check import program
from ..cases import error_name, explained
from .sources import words


def steps_of(torch):
    """The steps of programs. Each has the tensor x of the step before, and returns the next."""
    functional = torch.nn.functional

    def backward(x):
        x = x.detach().clone().requires_grad_()
        (x * x).sum().backward()
        return x.grad

    def out(x):
        return torch.add(x, 1, out=torch.empty(0))

    def failing(x):
        return torch.relu(x) @ x.new_zeros(7, 7)

    def without_grad(x):
        with torch.no_grad():
            return x.sigmoid().add_(1)

    return {
        "nothing": lambda x: x,
        "add": lambda x: x + 1,
        "add itself": lambda x: x + x,
        "matmul": lambda x: x @ x.T,
        "bf16": lambda x: (x.bfloat16() @ x.bfloat16().T).float(),
        "linear": lambda x: functional.linear(x, x, x[:, 0]),
        "cat": lambda x: torch.cat([x, x[:1]]),
        "stack": lambda x: torch.stack((x, x.expand(x.shape))).sum(0),
        "where": lambda x: torch.where(x > 1, input=x, other=0.0),
        "by name": lambda x: torch.sub(input=x, other=x.T.contiguous().T, alpha=2),
        "in place": lambda x: x.clone().mul_(2),
        "out": out,
        "two results": lambda x: x.max(dim=0, keepdim=True)[0].expand(2, -1),
        "softmax": lambda x: x.softmax(1),
        "layer norm": lambda x: functional.layer_norm(x, x.shape[1:]),
        "index": lambda x: x[[0, 0]],
        "einsum": lambda x: torch.einsum("ij,kj->ik", x, x),
        "backward": backward,
        "no grad": without_grad,
        "number": lambda x: x * x.sum().item(),
        "made": lambda x: torch.zeros(2, 3),
        "foreach": lambda x: torch._foreach_add([x, x], [x, x])[0],
        "fails": failing,
    }


_STEPS = words("""nothing add add_itself matmul bf16 linear cat stack where by_name in_place out two_results softmax
layer_norm index einsum backward no_grad number made foreach fails""")
_STEPS = [name.replace("_", " ") for name in _STEPS]


def running(torch, steps, rows, seen):
    """A program of these steps. It records its calls and their arguments."""

    def function(x, *rest):
        seen.append([list(x.shape), len(rest)])
        for name in steps:
            x = steps_of(torch)[name](x)
        seen.append(float(x.sum()))

    return function, torch.arange(3.0 * rows).reshape(rows, 3)


def watched(torch, calls, steps, rows, more):
    """The result of a recorder for a program, and the modes that are on afterwards."""
    seen = []
    function, x = running(torch, steps, rows, seen)
    try:
        found = calls(function, x, *[1] * more)
    except Exception as error:
        found = error_name(error)
    left = torch._C._len_torch_dispatch_stack()
    return {"calls": found, "computed": seen, "modes left on": left}


def _case(*steps, rows=2, more=0):
    return {"steps": list(steps), "rows": rows, "more": more}


@program(
    "trace.aten_calls",
    cases=lambda st: st.fixed_dictionaries(
        {"steps": st.lists(st.sampled_from(_STEPS), max_size=4), "rows": st.integers(1, 3), "more": st.integers(0, 2)}
    ),
    edges=[_case(), *[_case(name) for name in _STEPS], _case("add", "add"), _case("matmul", "backward", rows=3, more=2)]
    + [_case("add", "fails", "add"), _case("cat", "by name", rows=1), _case("made", "linear", more=1)],
    hint=explained(
        calls="one entry for each call that reaches the mode: str(func), and the shapes of all tensors among its arguments",
        computed="call the function once, with the arguments given; it computes the same as without the mode",
        modes_left_on="the mode must be off again, whatever happens: use a with statement",
    ),
    draws=30,
)
def calls(xp, steps, rows, more):
    torch = xp.trace.torch
    return watched(torch, xp.trace.aten_calls, steps, rows, more)


@calls.oracle
def torch_calls(torch, steps, rows, more):
    from torch.utils._debug_mode import DebugMode

    def recorded_by_torch(function, *args):
        with DebugMode() as mode:
            function(*args)
        texts = [f"{each.args_str} {each.kwargs_str}" for each in mode.operators]
        shapes = [re.findall(r"t: \w+\[([\d, ]*)\]", text) for text in texts]
        shapes = [[[int(size) for size in shape.split(", ") if size] for shape in each] for each in shapes]
        return [(str(each.op), found) for each, found in zip(mode.operators, shapes)]

    return watched(torch, recorded_by_torch, steps, rows, more)
