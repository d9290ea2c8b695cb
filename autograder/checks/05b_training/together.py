"""All pieces together: the training of a small model."""

from __future__ import annotations

from ...engine.check import program
from ..cases import drawn, several
from ..shared_05 import _LAYERS, _model, plain
from .optimisers import drawn_settings

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
        kept = [
            sorted((name, plain(value)) for name, value in one.items()) for _, one in sorted(state["state"].items())
        ]
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
