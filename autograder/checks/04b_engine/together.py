"""All pieces together: a linear layer with its loss."""

from __future__ import annotations

from ...engine.check import program
from ..cases import drawn
from ..shared_04 import Graph, plain


@program(
    "together.head",
    cases=drawn(batch=(1, 8), features=(1, 64), classes=(2, 600)),
    edges=[{"batch": 8, "features": 64, "classes": 600}],
)
def head(xp, batch, features, classes):
    """`nn.Linear` by its operators: the gradients of input, weight and bias, and the graph."""

    def numbers(*shape):
        count = xp.ones(shape).numel()
        return ((xp.arange(count, dtype=xp.float64) * 0.7).sin()).reshape(shape)

    shapes = (batch, features), (classes, features), (classes,)
    x, weight, bias = (numbers(*shape).requires_grad_() for shape in shapes)
    logits = xp.nn.functional.linear(x, weight, bias)
    targets = xp.arange(batch) % classes
    loss = xp.nn.functional.cross_entropy(logits, targets)
    graph = Graph(loss.grad_fn).shown()
    logits.retain_grad()
    loss.backward()
    named = {"logits": logits, "input": x, "weight": weight, "bias": bias}
    return {"loss": plain(loss), "graph": graph} | {name: plain(x.grad) for name, x in named.items()}
