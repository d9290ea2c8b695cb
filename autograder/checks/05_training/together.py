"""All pieces together: the training of a small model, and the life of a module."""

from __future__ import annotations

from ...engine.check import program
from ..cases import attempt, drawn, numbers, several
from .optimisers import drawn_settings
from .trees import plain

_LAYERS = ["linear", "linear", "norm", "relu", "gelu", "tanh", "residual", "tied", "dropout", "batch norm"]
_RATES = {"lr": [0.05, 0.1], "weight_decay": [0.0, 0.1]}


def _optimisers(st):
    sgd, adam = _RATES | {"momentum": [0.5, 0.9]}, _RATES | {"amsgrad": [True], "eps": [0.01]}
    return st.one_of(
        st.tuples(st.just("SGD"), drawn_settings(st, sgd, 3)),
        st.tuples(st.sampled_from(["Adam", "AdamW"]), drawn_settings(st, adam, 3)),
    ).map(list)


_SHORT = {"layers": [], "loss": "squares", "optimiser": ["SGD", {}], "schedule": None, "clip": None, "steps": 1}


@program(
    "together.training",
    cases=drawn(
        layers=several(_LAYERS, 0, 4), loss=["cross entropy", "smoothed", "decisions", "squares"],
        optimiser=_optimisers, schedule=[None, 2, 4], clip=[None, 0.5, 2.0], steps=(1, 6),
    ),
    edges=[_SHORT, _SHORT | {"loss": "cross entropy"}, _SHORT | {"optimiser": ["Adam", {}]}],
)  # fmt: skip
def training(xp, layers, loss, optimiser, schedule, clip, steps):
    model = _model(xp, layers)
    kind, settings = optimiser
    optimizer = getattr(xp.optim, kind)(model.parameters(), **settings)
    rates = schedule and xp.optim.lr_scheduler.CosineAnnealingLR(optimizer, schedule, 0.01)
    order, shown = xp.utils.data.BatchSampler(range(4 * steps), 4, True), []
    for indices in order:
        tokens, truth = xp.utils.data.default_collate([(i % 5, (3 * i + 1) % 4) for i in indices])
        optimizer.zero_grad()
        value = _LOSSES[loss](xp, model(tokens), truth)
        value.backward()
        norm = clip and plain(xp.nn.utils.clip_grad_norm_(model.parameters(), clip))
        optimizer.step()
        if rates:
            rates.step()
        state = optimizer.state_dict()
        kept = [sorted((name, plain(each)) for name, each in one.items()) for _, one in sorted(state["state"].items())]
        rate = [group["lr"] for group in state["param_groups"]]
        tensors = {name: plain(x) for name, x in model.state_dict().items()}
        shown.append({"loss": plain(value), "norm": norm, "rates": rate, "model": tensors, "optimiser": kept})
    return shown


_LOSSES = {
    "cross entropy": lambda xp, scores, truth: xp.nn.functional.cross_entropy(scores, truth),
    "smoothed": lambda xp, scores, truth: xp.nn.functional.cross_entropy(scores, truth, label_smoothing=0.1),
    "decisions": lambda xp, scores, truth: xp.nn.functional.binary_cross_entropy_with_logits(
        scores, (scores.detach() > 0).to(scores.dtype) * 0.5 + 0.25
    ),
    "squares": lambda xp, scores, truth: (scores[:, :1].squeeze(1) - truth).pow(2).mean(),
}  # fmt: skip


def _model(xp, layers):
    """An embedding, the layers, and a head, of width 4, in float64; the weights are by rule."""
    nn = xp.nn

    class Residual(nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def forward(self, x):
            return x + self.inner(x)

    made, linear = [nn.Embedding(5, 4)], nn.Linear(4, 4)
    for name in layers:
        made.append(
            {
                "linear": lambda: nn.Linear(4, 4),
                "norm": lambda: nn.LayerNorm(4),
                "batch norm": lambda: nn.BatchNorm1d(4),
                "relu": lambda: nn.ReLU(),
                "gelu": lambda: nn.GELU(),
                "tanh": lambda: nn.Tanh(),
                "residual": lambda: Residual(nn.Sequential(nn.Linear(4, 4), nn.GELU())),
                "tied": lambda: linear,
                "dropout": lambda: nn.Dropout(0.5).eval(),
            }[name]()
        )
    model = nn.Sequential(*made, nn.Linear(4, 4)).double()
    with xp.no_grad():
        for number, each in enumerate(model.parameters()):
            each.copy_(numbers(xp, list(each.shape), number) * 0.5)
    return model


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
        linear = [each for each in model if isinstance(each, xp.nn.Linear)]
        changed = attempt(_CHANGES[name], xp, model, linear[number % len(linear)])
        results.append(changed if isinstance(changed, str) else "done")
    with xp.no_grad():
        for each in model.parameters():
            each.mul_(0.5)
    shown = {"changes": results, "called": attempt(_gradients, xp, model, tokens)}
    state = (model.float() if single else model).state_dict()
    shown["state"] = {name: plain(each) for name, each in state.items()}
    shown["loaded"] = attempt(lambda: [sorted(keys) for keys in second.load_state_dict(state, strict=strict)])
    shown["second"] = attempt(_gradients, xp, second, tokens)
    return shown


def _gradients(xp, model, tokens):
    result = model(tokens)
    (result * numbers(xp, [6, 4], 2)).sum().backward()
    return {"result": plain(result)} | {name: plain(each.grad) for name, each in model.named_parameters()}
