"""A call makes the nodes and edges that it makes on torch, or it is refused as on torch."""

import warnings

import pytest
from both import FRAMEWORKS, graph
from sweep import in_one_test


def recorded(xp, program):
    """The graphs of the result of `program(xp, leaves)` and of its base, and the gradients of the leaves, or the error."""
    leaves = {"x": xp.tensor([[0.1, 0.5], [0.75, 0.3]]), "w": xp.tensor([0.5, 0.25])}
    leaves |= {"s": xp.tensor(3.0), "one": xp.tensor([3.0])}
    leaves = {name: leaf.requires_grad_() for name, leaf in leaves.items()}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = program(xp, leaves)
            seen = (
                graph(result),
                result._base is not None and graph(result._base),
                result._version,
                result.requires_grad,
            )
            if result.requires_grad:
                result.sum().backward()
    except (RuntimeError, IndexError, TypeError) as error:
        return (type(error).__name__, str(error) if "differentiable" in str(error) else ""), []
    arrived = [name for name, leaf in leaves.items() if leaf.grad is not None]
    return (*seen, arrived), [each for name in arrived for each in leaves[name].grad.flatten().tolist()]


def agree(program):
    (ours, our_gradients), (theirs, gradients) = (recorded(xp, program) for xp in FRAMEWORKS)
    assert ours == theirs
    assert our_gradients == pytest.approx(gradients, rel=1e-4, abs=1e-6)


# Items ---------------------------------------------------------------------------------------------------------------

KEYS = {
    "an int": lambda xp: 0,
    "a slice": lambda xp: slice(0, 1),
    "...": lambda xp: ...,
    "None": lambda xp: None,
    "all": lambda xp: slice(None),
    "one element": lambda xp: (0, 1),
    "a column": lambda xp: (slice(None), 1),
    "True": lambda xp: True,
    "False": lambda xp: False,
    "rows of a mask": lambda xp: xp.tensor([True, False]),
    "a mask": lambda xp: xp.tensor([[True, False], [True, True]]),
    "indices": lambda xp: xp.tensor([0, 1]),
    "a list": lambda xp: [0],
    "indices and an int": lambda xp: (xp.tensor([0, 1]), 0),
    "an int and indices": lambda xp: (0, xp.tensor([0, 1])),
    "a 0-dim index": lambda xp: xp.tensor(1),
}
VALUES = {
    "a float": lambda xp, leaves: 5.0,
    "an int": lambda xp, leaves: 2,
    "a bool": lambda xp, leaves: True,
    "a tensor": lambda xp, leaves: xp.tensor(3.0),
    "a leaf": lambda xp, leaves: leaves["s"],
    "a leaf of one element": lambda xp, leaves: leaves["one"],
    "a result": lambda xp, leaves: leaves["s"] * 2,
}
TARGETS = {
    "a clone": lambda xp, x: x.clone(),
    "a view": lambda xp, x: x.clone().t(),
    "a view of a view": lambda xp, x: x.repeat(2, 1).view(-1)[::2].view(2, 2),
    "a leaf": lambda xp, x: x,
    "a tensor without a history": lambda xp, x: x.detach().clone(),
    "an expanded tensor": lambda xp, x: x[:1].clone().expand(2, 2),
}


@in_one_test
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("key", KEYS)
def test_setitem_records_what_torch_records(target, key):
    for value in VALUES.values():

        def program(xp, leaves, value=value):
            x = TARGETS[target](xp, leaves["x"])
            x[KEYS[key](xp)] = value(xp, leaves)
            return x

        agree(program)


# Random numbers and losses -------------------------------------------------------------------------------------------

CALLS = [  # with a Python expression of these names
    "xp.normal(x, 1.0)",
    "xp.normal(x, x)",
    "xp.normal(0.0, x)",
    "xp.normal(x.detach(), x)",
    "xp.normal(x, x.detach())",
    "xp.normal(w, x)",
    "xp.normal(x, w.detach(), out=xp.zeros(2, 2))",
    "xp.bernoulli(x)",
    "xp.bernoulli(x, 0.5)",
    "x.clone().bernoulli_(0.3)",
    "x.clone().bernoulli_(x)",
    "x.clone().bernoulli_(w)",
    "x.clone().bernoulli_(x.detach())",
    "xp.zeros(2, 2).bernoulli_(x)",
    "x.clone().normal_()",
    "x.clone()[0].uniform_()",
    "x.clone().exponential_()",
    "x.clone().random_()",
    "x.clone().random_(5)",
    "x.clone().random_(2, 5)",
    "x.normal_()",
    "xp.multinomial(x, 1)",
    "xp.multinomial(x, 1, out=xp.zeros(2, 1, dtype=xp.int64))",
    "xp.eq(x, x, out=xp.zeros(2, 2) > 0)",
    "xp.argmax(x, 0, out=xp.tensor([0, 0]))",
    "xp.mul(x, x, out=xp.zeros(2, 2))",
    "xp.rand_like(x)",
    "x.index_add(0, t, x * 2, alpha=3)",
    "x.detach().index_add(0, t, x * 2)",
    "x.index_copy(0, t, x.detach())",
    "x.detach().index_copy(0, t, x * 2)",
    "x.gather(0, t.view(1, 2))",
    "x.split(1)[0]",
    "x.split([1, 1], -1)[1]",
    "xp.div(x, x.detach(), rounding_mode='floor')",
    "F.nll_loss(x, t, w)",
    "F.nll_loss(x.detach(), t, w)",
    "F.nll_loss(x.detach(), t, w, reduction='none')",
    "F.nll_loss(x.detach().view(1, 2, 2, 1), t.view(1, 2, 1), w)",
    "F.cross_entropy(x, t, w)",
    "F.cross_entropy(x.detach(), t, w)",
    "F.cross_entropy(x.detach(), t, w, label_smoothing=0.1)",
    "F.cross_entropy(x.detach(), x.detach(), w)",
    "F.cross_entropy(x.detach(), x)",
    "F.binary_cross_entropy(x.detach(), x.detach(), w)",
    "F.binary_cross_entropy(x.detach(), x)",
    "F.binary_cross_entropy(x, x.detach(), w.detach())",
    "F.binary_cross_entropy_with_logits(x.detach(), x.detach(), w)",
    "F.binary_cross_entropy_with_logits(x.detach(), x.detach(), pos_weight=w)",
    "F.binary_cross_entropy_with_logits(x.detach(), x, w.detach())",
    "F.huber_loss(x.detach(), x.detach(), weight=x)",
    "F.mse_loss(x.detach(), x.detach() * 2, weight=x, reduction='sum')",
    "F.l1_loss(x.detach(), x.detach() * 2, weight=x)",
    "F.smooth_l1_loss(x.detach(), x)",
    "F.kl_div(x.detach(), x)",
    "F.batch_norm(x.detach(), w, w.detach())",
    "F.batch_norm(x.detach(), w.detach(), w)",
]


@in_one_test
@pytest.mark.parametrize("mode", ["enable_grad", "no_grad"])
@pytest.mark.parametrize("call", CALLS)
def test_a_call_with_any_argument_that_requires_grad(call, mode):
    def program(xp, leaves):
        xp.manual_seed(0)
        with getattr(xp, mode)():
            return eval(call, {"xp": xp, "F": xp.nn.functional, "t": xp.tensor([0, 1]), **leaves})

    agree(program)
