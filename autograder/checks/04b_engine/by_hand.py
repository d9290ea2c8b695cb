"""The head by hand: the gradient that arrives at each node of a linear layer with its cross-entropy."""

from __future__ import annotations

from ...engine.check import program
from ..cases import drawn, explained, first_apart, rows
from ..shared_04 import Graph, node_name, plain

LEAVES = ("x", "weight", "bias")
NODES = ("NllLossBackward0", "LogSoftmaxBackward0", "AddmmBackward0", "x", "bias", "TBackward0", "weight")
NUMBERS = [["float64", 1], ["float64", 1], ["float64", 1000], ["float32", 1]]  # a dtype, and a factor of the scores


def head(xp, n, features, classes, target, numbers):
    """The arguments of the head: its three leaves, and a class for each row, `target` classes after that of the row before."""
    kind, factor = numbers

    def wave(start, *shape):
        count = xp.ones(shape).numel()
        return (xp.arange(count, dtype=xp.float64) * 0.7 + start).sin().reshape(shape).to(getattr(xp, kind))

    x, weight, bias = wave(0, n, features) * factor, wave(1, classes, features), wave(2, classes)
    return x, weight, bias, (xp.arange(n) * target + target) % classes


def in_order(found):
    """The gradients in the order of the backward pass, so that the first difference is at the first node that is wrong."""
    names = [*(name for name in NODES if name in found), *(name for name in found if name not in NODES)]
    return {name: plain(found[name]) for name in names}


ARRIVING = explained(  # hints, by the node
    NllLossBackward0="the backward pass begins with the derivative of the loss with respect to itself",
    LogSoftmaxBackward0="the loss is the mean, over the rows, of minus one log-probability a row",
    AddmmBackward0="a score changes all log-probabilities of its row, by the sum of exponentials",
    x="an element of x changes all scores of its row",
    bias="a bias is added to every row",
    TBackward0="what arrives here is the gradient of the transposed weight, (features, classes)",
    weight="the derivative of a transpose is a transpose",
)


@program(
    "course.by_hand.head_gradients",
    cases=drawn(n=(1, 6), features=(1, 5), classes=(1, 6), target=(0, 5), numbers=NUMBERS),
    edges=rows(
        "n features classes target numbers",
        (1, 2, 3, 1, ["float64", 1]), (2, 2, 3, 1, ["float64", 1]), (4, 3, 2, 0, ["float64", 1]),
        (3, 1, 4, 2, ["float32", 1]), (3, 3, 3, 1, ["float64", 1000]), (2, 2, 1, 0, ["float64", 1]),
        (5, 4, 6, 5, ["float64", 1]), (6, 1, 6, 0, ["float64", 1000]), (32, 64, 600, 7, ["float64", 1]),
    ),
    hint=lambda case, mine, theirs: (
        "scores may be as large as 1,000, and exp(1,000) is infinite: before `exp`, subtract from each row its own maximum"
        if case["numbers"][1] == 1000 and first_apart(mine, theirs) == "AddmmBackward0"
        else ARRIVING(case, mine, theirs)
    ),
)  # fmt: skip
def head_by_hand(rl, **case):
    class ByHand(rl.dispatch.DispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            name = func.schema.name
            if rl.dispatch.local.graph_task is not None or any(
                word in name for word in ("softmax", "loss", "backward")
            ):
                raise AssertionError(f"{name}: this is not by hand")
            return func(*args, **kwargs or {})

    args = head(rl, **case)
    with ByHand():
        gradients = rl.course.by_hand.head_gradients(*args)
    return in_order(gradients)


@head_by_hand.oracle
def arriving(torch, **case):
    *leaves, target = head(torch, **case)
    names = dict(zip((leaf.requires_grad_() for leaf in leaves), LEAVES))
    loss = torch.nn.functional.cross_entropy(torch.nn.functional.linear(*leaves), target)
    arrived = {}
    for node in Graph(loss.grad_fn).nodes:
        name = names.get(getattr(node, "variable", None)) or node_name(node)
        node.register_prehook(lambda grads, name=name: arrived.update({name: plain(grads[0])}))
    loss.backward()
    return in_order(arrived)
