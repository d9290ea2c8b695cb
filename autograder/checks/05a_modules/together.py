"""All pieces together: the life of a module."""

from __future__ import annotations

from ...engine.check import program
from ..cases import attempt, drawn, numbers, several
from ..shared_05 import _LAYERS, _model, plain

_CHANGES = {
    "tie": lambda xp, model, layer: setattr(layer, "weight", model[-1].weight),
    "no bias": lambda xp, model, layer: setattr(layer, "bias", None),
    "a tensor as weight": lambda xp, model, layer: setattr(layer, "weight", xp.ones(4, 4)),
    "buffer": lambda xp, model, layer: setattr(layer, "note", xp.nn.Buffer(numbers(xp, [2]))),
    "scratch": lambda xp, model, layer: layer.register_buffer("scratch", numbers(xp, [3]), persistent=False),
    "list": lambda xp, model, layer: setattr(layer, "parts", [xp.nn.Linear(4, 4)]),
    "again": lambda xp, model, layer: model.add_module("again", layer),
    "before": lambda xp, model, layer: layer.register_forward_pre_hook(lambda module, args: args[0] + 1),
    "after": lambda xp, model, layer: layer.register_forward_hook(lambda module, args, result: result * 2),
    "back": lambda xp, model, layer: layer.register_full_backward_hook(lambda module, ins, outs: (ins[0] * 3,)),
    "one layer single": lambda xp, model, layer: layer.float(),
}


@program(
    "together.modules",
    cases=drawn(
        layers=several(_LAYERS, 0, 3),
        changes=several(lambda st: st.tuples(st.sampled_from(sorted(_CHANGES)), st.integers(0, 3)).map(list), 0, 4),
        single=bool,
        strict=bool,
    ),
)
def modules_in_use(xp, layers, changes, single, strict):
    model, second = _model(xp, layers), _model(xp, layers)
    tokens, results = xp.tensor([[0, 1, 2], [3, 4, 0]]).reshape(6), []
    for name, number in changes:
        linear = [layer for layer in model if isinstance(layer, xp.nn.Linear)]
        changed = attempt(_CHANGES[name], xp, model, linear[number % len(linear)])
        results.append(changed if isinstance(changed, str) else "done")
    with xp.no_grad():
        for parameter in model.parameters():
            parameter.mul_(0.5)
    shown = {"changes": results, "called": attempt(_gradients, xp, model, tokens)}
    state = (model.float() if single else model).state_dict()
    shown["state"] = {name: plain(value) for name, value in state.items()}
    shown["loaded"] = attempt(lambda: [sorted(keys) for keys in second.load_state_dict(state, strict=strict)])
    shown["second"] = attempt(_gradients, xp, second, tokens)
    return shown


def _gradients(xp, model, tokens):
    result = model(tokens)
    (result * numbers(xp, [6, 4], 2)).sum().backward()
    return {"result": plain(result)} | {name: plain(parameter.grad) for name, parameter in model.named_parameters()}
