"""The check that runs all pieces of the lab together."""

from __future__ import annotations

from functools import partial

from ...engine.check import program
from ...engine.recorder import fresh_namespace
from ..cases import copied, numbers
from ..shared_06.operators import arguments, linear, shape, shapes

# The head, trained ---------------------------------------------------------------------------------------------------


def _losses(torch, head, step, compiled, lead, features, outs, bias, activation, steps, momentum):
    """A head trained by some steps: the losses, and its parameters afterwards."""
    x, *parameters = (tensor for tensor in arguments(torch, lead, features, outs, bias) if tensor is not None)
    target, losses = numbers(torch, [*lead, outs], 7), []
    parameters = [parameter.requires_grad_() for parameter in parameters]
    buffers = [torch.zeros_like(parameter) for parameter in parameters]

    def loss_of(*parameters):
        result = head(x, *parameters, *[None] * (2 - len(parameters)), activation)
        return ((result - target) ** 2).mean()

    if compiled:
        loss_of = torch.compile(loss_of, fullgraph=True, backend="aot_eager")
    for _ in range(steps):
        loss = loss_of(*parameters)
        gradients = torch.autograd.grad(loss, parameters)
        losses.append(copied(loss))
        with torch.no_grad():
            for parts in zip(parameters, buffers, gradients):
                step(*parts, 0.1, momentum)
    return {"losses": losses, "parameters": [copied(parameter) for parameter in parameters]}


@program(
    "together.custom_ops",
    cases=lambda st: shapes(steps=(1, 3), compiled=bool, momentum=[0.5, 0.9])(st).map(
        lambda case: case | {"lead": [2 + len(case["lead"])]}
    ),
    edges=[shape(steps=2, compiled=compiled, momentum=0.9, activation="gelu") for compiled in (False, True)],
    draws=4,
)
def training(xp, **case):
    torch, namespace = xp.custom_ops.torch, fresh_namespace()
    xp.custom_ops.register_fused_linear(namespace)
    xp.custom_ops.register_momentum_step(namespace)
    ops = getattr(torch.ops, namespace)
    return _losses(torch, ops.fused_linear, ops.momentum_step, **case)


@training.oracle
def torch_training(torch, **case):

    def step(weight, buffer, grad, lr, momentum):
        weight.grad = grad
        optimizer = torch.optim.SGD([weight], lr=lr, momentum=momentum)
        optimizer.state[weight]["momentum_buffer"] = buffer
        optimizer.step()

    return _losses(torch, partial(linear, torch), step, **case | {"compiled": False})
