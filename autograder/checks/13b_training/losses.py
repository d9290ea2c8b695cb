"""Checks of lab 13b: the weight of a token in a loss."""

import math
from weakref import WeakSet

from ...engine.check import program
from ..cases import beyond_single, drawn, explained, first_apart, numbers, rows, several

LOSSES = [
    "mean",
    "mean of rows",
    "all positions",
    "sum",
    "rows",
    "position",
    "first row",
    "halves",
    "signed",
    "nothing",
    "padding gets a class",
]
IGNORED = -100


def _loss_of(torch, kind):
    def cross_entropy(logits, targets, reduction="none"):
        if reduction == "none":  # a matrix
            return torch.nn.functional.cross_entropy(logits.transpose(1, 2), targets, reduction="none")
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction=reduction)

    def loss_of(logits, targets):
        if kind == "padding gets a class":
            tokens = targets != IGNORED
            targets[~tokens] = 0
            return (cross_entropy(logits, targets) * tokens).sum() / tokens.sum()
        if kind == "mean of rows":
            means = [cross_entropy(logits[i : i + 1], targets[i : i + 1], "mean") for i in range(len(logits))]
            return sum(means) / len(means)
        if kind == "halves":
            parts = zip(logits.split(2), targets.split(2))
            return sum(cross_entropy(*part, "mean") for part in parts) / math.ceil(len(logits) / 2)
        if kind == "position":
            return (cross_entropy(logits, targets) * torch.arange(targets.shape[1])).sum()
        if kind == "signed":  # the first token counts against the loss
            return (cross_entropy(logits, targets) * (torch.arange(targets.shape[1]) - 1)).sum()
        if kind == "nothing":  # no token is in the loss
            return logits.new_zeros(())
        if kind == "first row":
            return cross_entropy(logits[:1], targets[:1], "sum")
        if kind == "rows":
            return cross_entropy(logits, targets, "sum") / len(logits)
        if kind == "all positions":
            return cross_entropy(logits, targets).mean()
        return cross_entropy(logits, targets, kind)

    return loss_of


def _tokens(torch, counts, length, classes, start):
    """Targets, with so many tokens in each row, and padding behind them."""
    targets = torch.full((len(counts), length), IGNORED)
    for i, count in enumerate(counts):
        for j in range(min(max(count, 1), length)):
            targets[i, j] = (i + 2 * j + start) % classes
    return targets


@program(
    "clinic.training.token_weights",
    cases=drawn(kind=LOSSES, counts=several((1, 4), 1, 4), length=(1, 4), classes=(2, 4), start=(0, 9)),
    edges=[
        *rows("kind counts length classes start", *((kind, [4, 1, 2], 4, 3, 1) for kind in LOSSES)),
        *rows("kind counts length classes start", *((kind, [1], 2, 2, 0) for kind in LOSSES)),
        *rows("kind counts length classes start", ("mean", [2, 2], 2, 4, 3), ("sum", [3, 1, 1, 2], 3, 2, 5)),
    ],
    hint=explained(
        weights="the cross entropy of a token has the gradient `softmax(logits) - one_hot(target)`",
        digits="only the last digits differ: compute in float64",
    ),
)
def token_weights(rl, kind, counts, length, classes, start):
    import torch

    targets = _tokens(torch, counts, length, classes, start)
    logits = numbers(torch, [*targets.shape, classes], start)
    given, before = logits.clone(), targets.clone()
    weights = rl.clinic.training.token_weights(_loss_of(torch, kind), given, targets)
    untouched = torch.equal(given, logits) and given.grad is None and not given.requires_grad
    shown = {
        "weights": weights + 0.0,
        "digits": beyond_single(torch, weights),
        "has a graph": weights.requires_grad,
        "the logits stay": untouched,
    }
    return shown | {"the targets stay": torch.equal(targets, before)}


@token_weights.oracle
def _(torch, kind, counts, length, classes, start):
    targets = _tokens(torch, counts, length, classes, start)
    logits = numbers(torch, [*targets.shape, classes], start).requires_grad_()
    loss = _loss_of(torch, kind)(logits, targets.clone())
    (loss + 0 * logits.sum()).backward()
    others = torch.nn.functional.one_hot(targets.clamp(min=0), classes) == 0
    share = logits.detach().softmax(2)
    weights = (logits.grad * others).sum(2) / (share * others).sum(
        2
    )  # of the other classes, none of which is the target
    shown = {"weights": weights, "digits": beyond_single(torch, weights), "has a graph": False}
    return shown | {"the logits stay": True, "the targets stay": True}


def _batches(torch, batches, start):
    for i, counts in enumerate(batches):
        length = max(1, *counts)
        targets = torch.full((len(counts), length), IGNORED)
        for row, count in enumerate(counts):
            for j in range(count):
                targets[row, j] = (row + j + i + start) % 3
        yield numbers(torch, [len(counts), length, 2], start + i).float(), targets


class Watched:
    """What happens to a model: `events` are its runs and those of backward, and `graphs` says for each run how many tensors of
    earlier graphs are still saved, and how many earlier graphs there are; one may still be there, because its loss is. `modes` says
    for each run which modules are in training."""

    def __init__(self, torch, start):
        self.torch, self.events, self.graphs, self.saved, self.nodes = torch, [], [], WeakSet(), WeakSet()
        self.model, self.modes = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 3)), []
        self.model.train(start % 2 == 0)
        self.model[1].train()
        with torch.no_grad():
            for i, x in enumerate(self.model.parameters()):
                x.copy_(numbers(torch, [*x.shape], i + start))
                x.grad = torch.full_like(x, 0.5)
        run = self.model.forward
        self.model.forward = lambda x: self.watch(run, x)

    def watch(self, run, x):
        torch, nodes = self.torch, self.nodes
        self.modes.append(self.mode())

        class Mark(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.token = Token(None)
                nodes.add(ctx.token)
                return x.clone()

            @staticmethod
            def backward(ctx, grad):
                return grad

        def pack(x):
            token = Token(x)
            self.saved.add(token)
            return token

        self.events.append(f"forward {[*x.shape]}")
        self.graphs.append([len(self.saved), max(0, len(nodes) - 1)])
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda token: token.tensor):
            result = Mark.apply(run(x))
        if result.requires_grad:
            result.register_hook(lambda grad: self.events.append("backward"))
        return result

    def mode(self):
        return [module.training for module in self.model.modules()]

    def told(self):
        """What has happened, for a result: the gradients, and then the events."""
        grads = {f"gradient of {name}": x.grad for name, x in self.model.named_parameters()}
        return grads | {"events": self.events, "graphs": self.graphs, "modes": [*self.modes, self.mode()]}


class Token:
    def __init__(self, tensor):
        self.tensor = tensor


@program(
    "clinic.training.accumulated_backward",
    cases=drawn(batches=several(several((0, 4), 1, 3), 1, 4), start=(0, 9)),
    edges=rows("batches start", ([[4, 1], [1]], 0), ([[2, 2], [2, 2]], 1), ([[3]], 2), ([[0, 0], [2]], 3),
               ([[1], [4, 4, 4], [2]], 4), ([[0], [1], [0, 3]], 5), ([[1, 4]], 6)),
    hint=lambda case, mine, theirs: {
        "events": "backward of a micro-batch runs before the model runs on the next one, and the model runs once on each",
        "graphs": "when the model runs, an earlier graph is still in memory: which variable holds it, or is it retained?",
        "modes": "the model runs in the mode that it has, and keeps it: `train` and `eval` are not yours to call",
        "the batches stay": "the micro-batches belong to the caller: compute with them, and change none of them",
        "a float": "the loss is a number of Python, not a tensor",
        "loss": "a mean of means gives a token of a short micro-batch more weight: `token_weights` shows it",
    }.get(first_apart(mine, theirs)),
)  # fmt: skip
def accumulated_backward(rl, batches, start):
    import torch

    batches = batches if any(map(any, batches)) else [*batches, [1]]
    watched = Watched(torch, start)
    given, before = [*_batches(torch, batches, start)], [*_batches(torch, batches, start)]
    loss = rl.clinic.training.accumulated_backward(watched.model, given)
    stay = len(given) == len(before) and not any(x.requires_grad for x, _ in given)
    stay = stay and all(torch.equal(*pair) for pairs in zip(given, before) for pair in zip(*pairs))
    return {"loss": float(loss), "a float": isinstance(loss, float), "the batches stay": stay, **watched.told()}


@accumulated_backward.oracle
def _(torch, batches, start):
    batches = batches if any(map(any, batches)) else [*batches, [1]]
    watched = Watched(torch, start)
    made = [*_batches(torch, batches, start)]
    logits = torch.cat([watched.model(x).flatten(0, 1) for x, _ in made])  # all tokens at once
    loss = torch.nn.functional.cross_entropy(logits, torch.cat([targets.flatten() for _, targets in made]))
    loss.backward()
    alternating = [event for forward in watched.events if forward[0] == "f" for event in (forward, "backward")]
    told = watched.told() | {"events": alternating, "graphs": [[0, 0]] * len(made)}
    return {"loss": loss.item(), "a float": True, "the batches stay": True, **told}
