"""Gradient scaling, averaged models and the questions about a GPU, as torch's."""

import pytest
from both import agree, outcome


def net(xp):
    model = xp.nn.Linear(2, 1)
    with xp.no_grad():
        model.weight.copy_(xp.tensor([[0.5, -0.25]]))
        model.bias.fill_(0.125)
    return model


def trained(xp):
    model, seen = net(xp), []
    optimizer = xp.optim.SGD(model.parameters(), lr=0.25)
    scaler = xp.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)
    for factor in (1.0, 1.0, float("inf"), 1.0, float("nan"), 1.0, 1.0):
        optimizer.zero_grad()
        loss = model(xp.ones(4, 2)).sum() * factor
        scaler.scale(loss).backward()
        if factor == 1.0:
            scaler.unscale_(optimizer)
        seen.append(model.weight.grad.clone())
        scaler.step(optimizer)
        scaler.update()
        seen += [model.weight.detach().clone(), scaler.get_scale(), sorted(scaler.state_dict().items())]
    other = xp.amp.GradScaler("cpu")
    other.load_state_dict(scaler.state_dict())
    return seen, other.get_scale(), other.get_growth_interval()


def disabled(xp):
    scaler = xp.amp.GradScaler("cpu", enabled=False)
    x = xp.ones(1)
    return scaler.scale(x) is x, scaler.is_enabled(), scaler.get_scale(), scaler.state_dict(), scaler.update()


def several_tensors(xp):
    scaler = xp.amp.GradScaler("cpu", init_scale=4.0)
    one, (two, three) = scaler.scale([xp.ones(2), (xp.ones(1), xp.ones(1))])
    return one, two, three, outcome(lambda xp: scaler.scale(3), xp)


WRONG = {
    "a step before a scale": lambda scaler, optimizer, xp: scaler.step(optimizer),
    "unscaled twice": lambda scaler, optimizer, xp: (scaler.scale(xp.ones(1)), [scaler.unscale_(optimizer) for _ in "ab"]),
    "two steps": lambda scaler, optimizer, xp: (scaler.scale(xp.ones(1)), [scaler.step(optimizer) for _ in "ab"]),
    "unscaled after the step": lambda scaler, optimizer, xp: (
        scaler.scale(xp.ones(1)), scaler.step(optimizer), scaler.unscale_(optimizer)
    ),
    "updated without a step": lambda scaler, optimizer, xp: (scaler.scale(xp.ones(1)), scaler.update()),
    "a closure": lambda scaler, optimizer, xp: (scaler.scale(xp.ones(1)), scaler.step(optimizer, closure=lambda: 1)),
    "a new scale": lambda scaler, optimizer, xp: (scaler.scale(xp.ones(1)), scaler.update(3.0), scaler.get_scale()),
    "an empty state": lambda scaler, optimizer, xp: scaler.load_state_dict({}),
}  # fmt: skip


@pytest.mark.parametrize("program", [trained, disabled, several_tensors])
def test_a_scaler_scales(program):
    agree(program)


@pytest.mark.parametrize("name", WRONG)
def test_a_scaler_refuses(name):
    def program(xp):
        model = net(xp)
        model(xp.ones(4, 2)).sum().backward()
        return WRONG[name](xp.amp.GradScaler("cpu"), xp.optim.SGD(model.parameters(), lr=0.5), xp)

    agree(program)


def test_there_is_no_gpu():
    agree(lambda xp: (xp.cuda.is_available() and False, str(xp.ones(1).cpu().device), xp.ones(1).cpu().dtype))
