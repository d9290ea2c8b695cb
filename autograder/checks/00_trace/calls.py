"""Checks of lab 00: recording the operators that a program calls."""

import re

from ...engine.check import program
from ...engine.recorder import recorded
from ..cases import Interrupt, drawn, error_name, explained, field, first_of, several, when


def _backward(torch, x):
    x = x.detach().clone().requires_grad_()
    (x * x).sum().backward()
    return x.grad


def _interrupted(torch, x):
    torch.relu(x)
    raise Interrupt


def _tried(torch, x):
    try:
        torch.ops.aten.add.Tensor(x, x.new_zeros(7, 7))
    except RuntimeError:
        return x.relu()


def _into_list(torch, x):
    torch.unbind_copy(x, out=(parts := [*torch.empty_like(x)]))
    return parts[0].expand(2, -1)


def _two_by_name(torch, x):
    rows, order = torch.arange(2.0), torch.tensor([1, 0])
    return torch.searchsorted(rows, x, sorter=order, out=torch.empty(x.shape, dtype=torch.int64)).float()


def _without_grad(torch, x):
    with torch.no_grad():
        return x.sigmoid().add_(1)


# The steps of programs. Each has the tensor x of the step before, and returns the next. The next has no history: where
# autograd saves a result, it calls detach, which DebugMode leaves out.
_STEPS = {
    "nothing": lambda torch, x: x, "add": lambda torch, x: x + 1, "add itself": lambda torch, x: x + x,
    "matmul": lambda torch, x: x @ x.T, "bf16": lambda torch, x: (x.bfloat16() @ x.bfloat16().T).float(),
    "linear": lambda torch, x: torch.nn.functional.linear(x, x, x[:, 0]), "cat": lambda torch, x: torch.cat([x, x[:1]]),
    "stack": lambda torch, x: torch.stack((x, x.expand(x.shape))).sum(0),
    "where": lambda torch, x: torch.where(x > 1, input=x, other=0.0),
    "by name": lambda torch, x: torch.sub(input=x, other=x.T.contiguous().T, alpha=2),
    "in place": lambda torch, x: x.clone().mul_(2), "out": lambda torch, x: torch.add(x, 1, out=torch.empty(0)),
    "two results": lambda torch, x: x.max(dim=0, keepdim=True)[0].expand(2, -1),
    "softmax": lambda torch, x: x.softmax(1),
    "layer norm": lambda torch, x: torch.nn.functional.layer_norm(x, x.shape[1:]), "index": lambda torch, x: x[[0, 0]],
    "column": lambda torch, x: x[:, [0, 0, 1]],
    "einsum": lambda torch, x: torch.einsum("ij,kj->ik", x, x), "backward": _backward, "no grad": _without_grad,
    "number": lambda torch, x: x * x.sum().item(), "made": lambda torch, x: torch.zeros(2, 3),
    "foreach": lambda torch, x: torch._foreach_add([x, x], [x, x])[0],
    "list by name": _into_list, "two by name": _two_by_name,
    "parameter": lambda torch, x: x * torch.nn.Parameter(x.detach()[:1], requires_grad=False),
    "another namespace": lambda torch, x: torch.ops.inductor._reinterpret_tensor(x, x.shape, x.stride()),
    "fails": lambda torch, x: torch.relu(x) @ x.new_zeros(7, 7), "interrupted": _interrupted, "tried": _tried,
    "subclass": lambda torch, x: x.as_subclass(type("Own", (torch.Tensor,), {})).exp(),
    "another error": lambda torch, x: x / (1 // 0),
}  # fmt: skip


def watched(torch, calls, steps, rows, more):
    """The result of a recorder for a program of these steps, what the program saw, and the modes that are on afterwards."""
    seen, given = [], torch.arange(3.0 * rows).reshape(rows, 3)

    def function(x, *rest):
        seen.append([x is given, list(x.shape), len(rest)])
        for name in steps:
            x = _STEPS[name](torch, x)
        seen.append(float(x.sum()))

    try:
        with recorded() as around:
            calls_made = calls(function, given, *[1] * more)
    except (Exception, Interrupt) as error:
        calls_made = error_name(error)
    return {
        "calls": calls_made,
        "computed": seen,
        "around": around,
        "modes left on": torch._C._len_torch_dispatch_stack(),
    }


def _case(*steps, rows=2, more=0):
    return {"steps": list(steps), "rows": rows, "more": more}


@program(
    "on_torch.trace.aten_calls",
    cases=drawn(steps=several(list(_STEPS), 0, 4), rows=(1, 3), more=(0, 2)),
    edges=[_case(), *[_case(name) for name in _STEPS], _case("add", "add"), _case("matmul", "backward", rows=3, more=2)]
    + [_case("add", "fails", "add"), _case("cat", "by name", rows=1), _case("made", "linear", more=1)],
    hint=first_of(
        when(
            lambda case, mine, theirs: isinstance(field(theirs, "calls"), str),
            "an error of the function goes on to the caller, and the mode is off again: use a with statement",
        ),
        explained(
            calls="one entry for each call that reaches the mode: str(func), and the shapes of all tensors among its arguments",
            computed="call the function once, with the arguments given; it computes the same as without the mode",
            around="a mode that is on already sees the same operators as without recording",
        ),
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
        texts = [f"{operator.args_str} {operator.kwargs_str}" for operator in mode.operators]
        shapes = [re.findall(r"t: \w+\[([\d, ]*)\]", text) for text in texts]
        shapes = [[[int(size) for size in shape.split(", ") if size] for shape in row] for row in shapes]
        return [(str(operator.op), sizes) for operator, sizes in zip(mode.operators, shapes)]

    return watched(torch, recorded_by_torch, steps, rows, more)
