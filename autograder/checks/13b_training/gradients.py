"""Checks of lab 13b: parameters whose gradient is lost on the way."""

from ...engine.check import program
from ..cases import drawn, listed, numbers, rows, several

CUTS = [
    "whole",
    "detach",
    "data",
    "weight data",
    "no_grad",
    "numpy",
    "item",
    "skip",
    "frozen",
    "zero",
    "unused",
    "tied",
]
CUTS += ["doubled", "inference", "same memory", "deep", "second output", "left out"]
DEEP = 4000  # nodes: more than Python's stack has frames


def _left_out(torch, zeros):
    """A function of `x` and a weight, the weight's gradient of which is None, or zeros."""

    class LeftOut(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, weight):
            ctx.sizes = weight.shape
            return x @ weight.T

        @staticmethod
        def backward(ctx, grad):
            return grad, torch.zeros(ctx.sizes) if zeros else None

    return LeftOut.apply


def _after(torch, x, layers, i, cut, zeros):
    """What a layer makes of `x`, in a way that may lose gradients."""
    layer = layers[i]
    if cut == "left out":
        return _left_out(torch, zeros)(x, layer.weight) + layer.bias
    if cut == "second output":
        return torch.stack([layer(x).unbind(1)[1], x.split(1, 1)[1].flatten()], 1)
    if cut == "detach":
        return layer(x).detach()
    if cut == "data":
        return layer(x).data
    if cut == "weight data":
        return x @ layer.weight.data.T + layer.bias
    if cut == "no_grad":
        with torch.no_grad():
            return layer(x)
    if cut == "inference":
        with torch.inference_mode():
            y = layer(x)
        return x + y.clone()
    if cut == "numpy":
        return torch.from_numpy(layer(x).detach().numpy())
    if cut == "item":
        return x * layer(x).mean().item()
    if cut == "skip":
        return x + layer(x).detach()
    if cut == "zero":
        return x + 0 * layer(x)
    if cut == "unused":
        return x
    if cut == "frozen":
        layer.requires_grad_(False)
    if cut == "tied":
        layer.weight = layers[0].weight
    if cut == "same memory":
        layer.weight = torch.nn.Parameter(layers[0].weight.data)
        return x + layer(x).detach()
    y = layer(x)
    for _ in range(60 * (cut == "doubled")):
        y = (y + y) / 2  # 2 ** 60 paths
    for _ in range(DEEP * (cut == "deep")):
        y = -y
    return y.tanh()


def _model_and_loss(torch, cuts, reduced, zeros=False):
    """A model, and a loss that loses gradients. With `zeros` no backward returns None in the place of zeros."""
    layers = torch.nn.ModuleList(torch.nn.Linear(2, 2) for _ in cuts)
    x = torch.ones(3, 2)
    for i, cut in enumerate(cuts):
        x = _after(torch, x, layers, i, cut, zeros)
    return layers, x.sum() if reduced else x * 2


@program(
    "clinic.training.without_gradient",
    cases=drawn(cuts=several(CUTS, 1, 6), reduced=bool),
    edges=[
        *rows("cuts reduced", *(([first, cut, "whole"], True) for cut in CUTS for first in ("whole", "detach"))),
        *rows("cuts reduced", (["detach"], False), (["whole"], False), (["weight data", "tied"], False)),
        *rows("cuts reduced", (["no_grad", "unused"], True), (["frozen", "skip", "item"], True)),
        *rows("cuts reduced", (["whole", "tied", "detach"], True), (["tied", "tied", "unused"], True)),
        *rows("cuts reduced", (["whole"] * 6, True), (["doubled"] * 3, True), (["unused"], True)),
        *rows("cuts reduced", (["second output", "second output"], False), (["left out", "tied"], False)),
    ],
    hint="the graph of the loss leads to a parameter, or it does not: the value of its gradient says nothing, and "
    "a backward may return None",
)
def without_gradient(rl, cuts, reduced):
    import torch

    model, loss = _model_and_loss(torch, cuts, reduced)
    for x in [*model.parameters()][::3]:  # the others have no gradient yet
        x.grad = torch.full_like(x, 0.5)
    before = [None if x.grad is None else x.grad.tolist() for x in model.parameters()]
    names = rl.clinic.training.without_gradient(model, loss)
    untouched = [None if x.grad is None else x.grad.tolist() for x in model.parameters()] == before
    if loss.requires_grad:
        loss.sum().backward()
    return {"names": names, "no gradient changed": untouched, "is a list": isinstance(names, list)}


@without_gradient.oracle
def _(torch, cuts, reduced):
    model, loss = _model_and_loss(torch, cuts, reduced, zeros=True)
    named = {name: x for name, x in model.named_parameters() if x.requires_grad}
    grads = [None] * len(named)
    if loss.requires_grad and named:
        grads = torch.autograd.grad(loss.sum(), [*named.values()], allow_unused=True)
    lost = [name for name, grad in zip(named, grads) if grad is None]
    return {"names": lost, "no gradient changed": True, "is a list": True}


def _gated(torch, features, double):
    model = torch.nn.Module()
    model.gate, model.body = torch.nn.Linear(features, 1), torch.nn.Linear(features, features)
    model.scale = torch.nn.Parameter(torch.ones(features))
    with torch.no_grad():
        for i, x in enumerate(model.parameters()):
            x.copy_(numbers(torch, [*x.shape], i + 1))
    return model.double() if double else model


ZEROS = 20  # from this start on, the first row is zeros


def _trained(torch, forward, size, start, double):
    model = _gated(torch, size[1], double)
    x = (
        numbers(torch, size, start) + torch.arange(size[0] * size[1]).reshape(size) / 97
    )  # no two are equal but for the sign
    if start >= ZEROS:
        x[0] = 0
    x = x.to(torch.float64 if double else torch.float32).requires_grad_()
    result = forward(model, x)
    weights = numbers(torch, [*result.shape], start + 2).to(result.dtype)
    wanted = [x, *model.parameters()]
    grads = torch.autograd.grad((result * weights).sum(), wanted, allow_unused=True)
    return {
        "result": result,
        **{f"gradient of {name}": grad for name, grad in zip(["x", *dict(model.named_parameters())], grads)},
    }


@program(
    "clinic.training.gated_forward",
    cases=drawn(size=listed((1, 4), (1, 4)), start=(0, 20), double=bool),
    edges=rows(
        "size start double",
        ([2, 3], 0, False),
        ([2, 3], 1, True),
        ([1, 1], 2, True),
        ([4, 2], 5, False),
        ([3, 4], 7, True),
        ([1, 2], ZEROS, False),
        ([2, 3], ZEROS, True),
    ),
    hint=lambda case, mine, theirs: (
        "a row of zeros gives nan, and no small number is added to avoid it"
        if case["start"] == ZEROS
        else "each row of `x * model.scale` is divided by its own largest absolute value, and the gate sees `x` as it is. Compare "
        "the gradients with those of finite differences: `torch.autograd.gradcheck`"
    ),
)
def gated_forward(rl, size, start, double):
    import torch

    return _trained(torch, rl.clinic.training.gated_forward, size, start, double)


@gated_forward.oracle
def _(torch, size, start, double):
    def forward(model, x):
        scaled = torch.einsum("rf,f->rf", x, model.scale)
        scaled = torch.div(scaled, torch.linalg.vector_norm(scaled, float("inf"), 1, keepdim=True))
        return model.body(scaled) / (1 + torch.exp(-model.gate(x)))

    return _trained(torch, forward, size, start, double)
