"""Checks of lab 13d: a loss that depends on the number of ranks, on real torch."""

from __future__ import annotations

from ...engine.check import program
from ..cases import copied, drawing, numbers, rows, several
from ..shared_09 import explained_by_rank, on_ranks, recorded_traffic
from ..shared_13 import state_left


def _tokens(torch, size, ignored, start, kind):
    """Inputs and targets of a rank. Those at the positions `ignored` do not count."""
    targets = torch.tensor([-100 if i in ignored else (3 * i + start) % 4 for i in range(size)]).long()
    return numbers(torch, [size, 3], start, kind), targets


@drawing
def _texts(draw, st):
    ranks = draw(st.sampled_from([2, 2, 3]))
    sizes = draw(several((0, 5), ranks, ranks)(st))
    return {
        "ranks": ranks,
        "sizes": sizes,
        "ignored": draw(several((0, 4), 0, 3)(st)),
        "start": draw(st.integers(0, 9)),
        "kind": (kind := draw(st.sampled_from(["float64", "float32"]))),
        "scale": 4096.0 if kind == "float64" and draw(st.booleans()) else 1.0,
    }


@program(
    "clinic.distributed.mean_loss",
    cases=_texts,
    edges=rows(
        "ranks sizes ignored start kind scale",
        (2, [3, 3], [], 0, "float64", 1.0), (2, [1, 5], [], 1, "float32", 1.0), (2, [0, 4], [], 2, "float32", 1.0),
        (2, [4, 2], [0, 1], 3, "float64", 1.0), (2, [3, 2], [0, 1, 2], 4, "float64", 1.0), (2, [0, 0], [], 0, "float64", 1.0),
        (2, [1, 0], [], 2, "float64", 1.0), (3, [1, 5, 2], [0, 3], 5, "float64", 1.0), (3, [4, 0, 1], [0], 6, "float32", 1.0),
        (2, [33001, 3], [0], 7, "float64", 1.0), (2, [3, 5], [1], 2, "float64", 4096.0), (3, [4, 0, 1], [0], 6, "float64", 4096.0),
        *((2, [3, 3], [0, 1, 2], start, "float32", 4e37) for start in range(3)),
    ),
    hint=explained_by_rank(
        raised={"wait": "do all ranks call the same collective, also one without tokens?"},
        mean="the losses of all tokens, in the dtype of the logits, divided by the exact number of all tokens that count; DDP "
        "divides by the ranks once more",
        gradient="what is averaged over the ranks is the gradient of the mean over all tokens that count",
        sent="one all-reduce, of the number of tokens",
        dtype="the loss has the dtype of the logits",
        arguments="the logits and the targets do not change",
        changed="all but the loss that it returns is as it was before",
    ),
    draws=8,
)  # fmt: skip
@on_ranks
def mean_loss(rl, torch, group, sizes, ignored, start, kind, scale):
    dist, rank = torch.distributed, torch.distributed.get_rank()
    inputs, targets = _tokens(torch, sizes[rank], ignored, start + rank, kind)
    logits = (inputs @ numbers(torch, [4, 3], start, kind).t() * scale).requires_grad_()
    before = logits.detach().clone(), targets.clone()
    with state_left(torch) as changed, recorded_traffic(["all_reduce"]) as seen:
        loss = rl.clinic.distributed.mean_loss(logits, targets)
        loss.backward()
    same = torch.equal(logits, before[0]) and torch.equal(targets, before[1])
    mine = logits.grad
    gradient = mine.t() @ inputs
    mean = loss.detach().double().reshape(()).clone()
    for total in (gradient, mean):
        dist.all_reduce(total)
    sent = {name: count for name, (count, _) in seen["sent"].items()}
    shown = {"shape": [*loss.shape], "mean": mean / dist.get_world_size(), "gradient": gradient / dist.get_world_size()}
    shown |= {"logits": copied(mine[:6]), "sent": sent, "beyond": seen["beyond"]}
    return shown | {"dtype": str(loss.dtype), "arguments": same, "changed": " and ".join(changed)}


@mean_loss.oracle
def mean_of_all_tokens(torch, ranks, sizes, ignored, start, kind, scale):
    parts = [_tokens(torch, size, ignored, start + rank, kind) for rank, size in enumerate(sizes)]
    weight = numbers(torch, [4, 3], start, kind)
    logits = [(inputs @ weight.t() * scale).requires_grad_() for inputs, _ in parts]
    targets = torch.cat([targets for _, targets in parts])
    losses = torch.nn.functional.cross_entropy(torch.cat(logits), targets, reduction="none")
    mean = losses.sum() / max(int((targets != -100).sum()), 1)
    gradients = torch.autograd.grad(mean, logits)
    whole = sum(gradient.t() @ inputs for gradient, (inputs, _) in zip(gradients, parts))
    shown = {"shape": [], "mean": copied(mean.double()), "gradient": copied(whole)}
    others = {"sent": {"all_reduce": 1}, "beyond": [], "dtype": f"torch.{kind}", "arguments": True, "changed": ""}
    return [shown | {"logits": copied(g[:6]) * ranks} | others for g in gradients]
