"""Lab 12c: which parameters decay, and how large the steps are."""

from __future__ import annotations

from ...engine.check import program
from ..cases import drawn, first_of, listed, rows, several, type_name, when

# Groups of parameters -------------------------------------------------------------------------------------------------

SHAPES = [[3], [4, 3], [], [2, 3, 2], [5], [1, 1]]
PARAMETER = listed(SHAPES, bool, bool)


def _model(xp, parameters, tie):
    """A module with these parameters: the shape, whether it requires a gradient, whether it is in a module of its own. Every second
    of those is in a module of that module."""
    model = xp.nn.Module()
    for i, (shape, requires_grad, is_inner) in enumerate(parameters):
        owner = model
        if is_inner:
            owner = xp.nn.Module()
            model.add_module(f"inner{i}", owner)
            if i % 2:
                owner.add_module("inner", xp.nn.Module())
                owner = owner.inner
        owner.register_parameter(f"p{i}", xp.nn.Parameter(xp.zeros(shape), requires_grad=requires_grad))
    if tie:
        model.add_module("again", xp.nn.Module())
        model.again.shared = next(iter(model.parameters()), None)
    return model


def _names(listing):
    return [name for group in listing for name in group[2]]


@program(
    "course.training.parameter_groups",
    cases=drawn(parameters=several(PARAMETER, 0, 6), tie=bool, weight_decay=[0.0, 0.1, 0.5]),
    edges=rows(
        "parameters tie weight_decay",
        ([], False, 0.1), ([[[3], True, False]], False, 0.1), ([[[4, 3], True, False]], False, 0.1),
        ([[[4, 3], True, True], [[3], True, True], [[2, 3, 2], True, False], [[], True, False]], True, 0.1),
        ([[[4, 3], False, False], [[3], False, True], [[1, 1], True, False], [[5], True, False]], False, 0.5),
        ([[[4, 3], True, False], [[4, 3], True, False], [[3], True, False], [[3], True, False]], False, 0.1),
        ([[[5], True, True], [[4, 3], True, False], [[3], True, True], [[1, 1], True, True]], True, 0.5),
    ),
    hint=first_of(
        when(lambda case, mine, theirs: len({*_names(mine)}) < len(_names(mine)),
             "a weight that two modules share is one parameter"),
        when(lambda case, mine, theirs: {*_names(mine)} - {*_names(theirs)},
             "a parameter that does not require a gradient is in no group"),
    ),
)  # fmt: skip
def groups(rl, parameters, tie, weight_decay):
    model = _model(rl, parameters, tie)
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    groups = rl.course.training.parameter_groups(model, weight_decay)
    return [
        [sorted(group), type_name(group["params"]), [names[id(p)] for p in group["params"]], group["weight_decay"]]
        for group in groups
    ]


@groups.oracle
def _(_, parameters, tie, weight_decay):
    """From the sizes alone. A module's own parameters come before those of its modules."""
    named = [
        (f"inner{i}.{'inner.' * (i % 2)}p{i}" if parameter[2] else f"p{i}", *parameter[:2])
        for i, parameter in enumerate(parameters)
    ]
    named.sort(key=lambda each: "." in each[0])
    shown = []
    for is_matrix, decay in ((True, weight_decay), (False, 0.0)):
        chosen = [name for name, shape, requires_grad in named if requires_grad and (len(shape) > 1) == is_matrix]
        shown.append([["params", "weight_decay"], "sequence", chosen, decay])
    return shown


# The learning rate ----------------------------------------------------------------------------------------------------


@program(
    "course.training.warmup_cosine",
    cases=drawn(steps=(1, 40), warmup=(0, 12), last=[0.0, 0.1, 0.5, 1.0]),
    edges=rows(
        "steps warmup last",
        (10, 4, 0.1), (10, 0, 0.1), (10, 1, 0.0), (10, 9, 0.1), (10, 10, 0.1), (1, 0, 0.1), (1, 1, 0.5), (30, 7, 1.0), (5, 8, 0.1),
    ),
    hint=when(lambda case: case["warmup"] >= case["steps"], "with no step between `warmup` and `steps` it only rises"),
)  # fmt: skip
def factors(rl, steps, warmup, last):
    rule = rl.course.training.warmup_cosine
    usual = [rule(step, steps, warmup) for step in range(3)] if last == 0.1 else []
    return [float(rule(step, steps, warmup, last)) for step in range(steps + warmup + 3)] + usual


@factors.oracle
def _(torch, steps, warmup, last):
    """The closed forms of torch's own schedules: a line, then a cosine, then a constant."""
    schedules = torch.optim.lr_scheduler
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    line = schedules.LinearLR(optimizer, 1 / max(warmup, 1), total_iters=max(warmup - 1, 1))
    cosine = schedules.CosineAnnealingLR(optimizer, max(1, steps - warmup), eta_min=last)
    shown = []
    for step in range(steps + warmup + 3):
        if step < warmup:
            line.last_epoch = step
            shown.append(line._get_closed_form_lr()[0])
        elif step >= steps:
            shown.append(last)
        else:
            cosine.last_epoch = step - warmup
            shown.append(cosine._get_closed_form_lr()[0])
    return shown + (shown[:3] if last == 0.1 else [])
