"""Losses agree with torch: in value, to the tolerance of the dtype, in shape and dtype, and in what they refuse."""

import itertools
import warnings

import numpy as np
import pytest
import torch
from both import agree, outcome
from hypothesis import given
from hypothesis import strategies as st
from sweep import in_one_test
from torch.testing import assert_close

import rushlight as rl

REDUCTIONS = ["none", "mean", "sum"]


def close(program):
    """The program raises the same type of error on both frameworks, or gives as good as the same tensor."""
    ours, theirs = outcome(program, rl), outcome(program, torch)
    if isinstance(ours, str) or isinstance(theirs, str):
        assert ours == theirs
        return
    assert ours[0] == theirs[0] and ours[3] == theirs[3]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_close(torch.from_numpy(program(rl).contiguous().numpy()), program(torch).contiguous(), equal_nan=True)


def scores(xp, shape, name="float32"):
    numel = 1
    for size in shape:
        numel *= size
    return (xp.remainder(xp.arange(numel) * 7, 11) * 0.7 - 3).to(getattr(xp, name)).view(tuple(shape))


@given(st.data())
def test_nll_and_cross_entropy_agree_with_torch(data):
    batch, classes = data.draw(st.integers(0, 3)), data.draw(st.integers(1, 4))
    places = data.draw(st.lists(st.integers(0, 2), max_size=3))
    shape = data.draw(st.sampled_from([[batch, classes, *places], [classes]]))
    target_shape = [batch, *places] if len(shape) > 1 else []
    if data.draw(st.integers(0, 9)) == 0:
        target_shape = data.draw(st.lists(st.integers(0, 2), max_size=3))
    limit = data.draw(st.sampled_from([classes, classes, classes + 1]))
    weighted, reduction = data.draw(st.booleans()), data.draw(st.sampled_from(REDUCTIONS))
    ignore_index, smoothing = data.draw(st.sampled_from([-100, 0])), data.draw(st.sampled_from([0.0, 0.1, 1.0]))
    name = data.draw(st.sampled_from(["float32", "float64"]))

    def program(xp, loss, **more):
        target = scores(xp, target_shape, "int64").abs().remainder(limit)
        weight = (xp.arange(classes) + 1).to(getattr(xp, name)) if weighted else None
        function = getattr(xp.nn.functional, loss)
        x = scores(xp, shape, name)
        return function(x, target, weight, ignore_index=ignore_index, reduction=reduction, **more)

    close(lambda xp: program(xp, "nll_loss"))
    close(lambda xp: program(xp, "cross_entropy", label_smoothing=smoothing))


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=3),
    st.sampled_from(REDUCTIONS),
    st.booleans(),
    st.sampled_from([0.0, 0.3]),
)
def test_cross_entropy_with_probabilities_agrees_with_torch(shape, reduction, weighted, smoothing):
    def program(xp):
        classes = shape[1] if len(shape) > 1 else shape[0]
        weight = (xp.arange(classes) + 1).to(xp.float32) if weighted else None
        target = scores(xp, shape).abs()
        return xp.nn.functional.cross_entropy(
            scores(xp, shape), target, weight, reduction=reduction, label_smoothing=smoothing
        )

    close(program)


@given(
    st.sampled_from(
        ["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy_with_logits"],
    ),
    st.sampled_from([[], [0], [3], [2, 3]]),
    st.sampled_from([[], [3], [2, 3], [2, 1]]),
    st.sampled_from(["float32", "float64", "int64"]),
    st.sampled_from(["float32", "float64", "int64"]),
    st.sampled_from(REDUCTIONS),
)
def test_elementwise_losses_agree_with_torch(loss, shape, target_shape, name, target_name, reduction):
    def program(xp):
        target = scores(xp, target_shape, target_name) * 2
        return getattr(xp.nn.functional, loss)(scores(xp, shape, name), target, reduction=reduction)

    close(program)


@given(
    st.sampled_from(["weight", "pos_weight"]), st.sampled_from([[], [3], [2, 3], [2, 1]]), st.sampled_from(REDUCTIONS)
)
def test_weights_of_binary_cross_entropy_agree_with_torch(which, shape, reduction):
    def program(xp):
        x, weight = scores(xp, [2, 3]), scores(xp, shape, "float64").abs()
        return xp.nn.functional.binary_cross_entropy_with_logits(x, x.neg(), reduction=reduction, **{which: weight})

    close(program)


@in_one_test
@pytest.mark.parametrize(
    "program",
    [
        lambda F, x, t: F.nll_loss(x, t, reduction="median"),
        lambda F, x, t: F.nll_loss(x, t.int()),
        lambda F, x, t: F.nll_loss(x.long(), t),
        lambda F, x, t: F.nll_loss(x, t, weight=x[0].double()),
        lambda F, x, t: F.nll_loss(x, t, weight=x),
        lambda F, x, t: F.nll_loss(x, t[:1]),
        lambda F, x, t: F.nll_loss(x[0, 0], t[0]),
        lambda F, x, t: F.cross_entropy(x, t, label_smoothing=1.5),
        lambda F, x, t: F.cross_entropy(x, x.long()),
        lambda F, x, t: F.cross_entropy(x, x, ignore_index=1),
        lambda F, x, t: F.mse_loss(x, x, weight=x[0]),
        lambda F, x, t: F.smooth_l1_loss(x, x, beta=-1),
        lambda F, x, t: F.huber_loss(x, x, delta=0),
        lambda F, x, t: F.binary_cross_entropy_with_logits(x, x[0]),
        lambda F, x, t: F.binary_cross_entropy_with_logits(x.long(), x),
    ],
)
def test_what_no_loss_can_be_made_of_is_refused_as_in_torch(program):
    agree(lambda xp: program(xp.nn.functional, scores(xp, [2, 3]), xp.tensor([0, 2])))


def value_and_gradient(xp, loss, scores):
    x = xp.tensor(scores, dtype=xp.float64, requires_grad=True)
    result = loss(xp, xp.nn.functional, x)
    result.sum().backward()
    return np.array(result.tolist()), np.array(x.grad.tolist())


@pytest.mark.parametrize("seed", range(12))
def test_ctc_loss_and_its_gradient_agree(seed):
    draw = np.random.default_rng(seed)
    steps, batch, labels, longest = draw.integers((1, 1, 2, 1), (9, 4, 5, 4)).tolist()
    blank = int(draw.integers(labels))
    lengths = draw.integers(steps + 1, size=batch).tolist(), draw.integers(longest + 1, size=batch).tolist()
    targets = draw.choice([label for label in range(labels) if label != blank], (batch, longest))
    flat = np.concatenate([row[:count] for row, count in zip(targets, lengths[1])])
    scores = draw.standard_normal((steps, batch, labels)).tolist()
    for labelled, reduction, zero in itertools.product((targets, flat), ("none", "mean"), (True, False)):

        def loss(xp, F, x, labelled=labelled, options=(blank, reduction, zero)):
            return F.ctc_loss(x.log_softmax(2), xp.tensor(labelled.tolist()).long(), *map(xp.tensor, lengths), *options)

        pairs = zip(*(value_and_gradient(xp, loss, scores) for xp in (rl, torch)))
        assert all(np.allclose(*pair, equal_nan=True) for pair in pairs)


@pytest.mark.parametrize(
    "loss",
    [
        lambda xp, F, x: F.multilabel_margin_loss(x, xp.tensor([[2, 0, -1, 1], [-1, 1, 2, 3], [1, 1, 2, -1]])),
        lambda xp, F, x: F.multilabel_margin_loss(x[0], xp.tensor([3, 0, -1, 1]), reduction="none"),
        lambda xp, F, x: F.multilabel_soft_margin_loss(x, (x > 0).double(), xp.tensor([1.0, 2.0, 0.0, 3.0])),
        lambda xp, F, x: F.triplet_margin_with_distance_loss(x, x * 2, x + 1, swap=True, reduction="sum"),
        *(lambda xp, F, x, p=p: F.pdist(x, p) for p in (0.0, 1.0, 2.0, 3.5, float("inf"))),
        lambda xp, F, x: F.pdist(x[:1]),
    ],
)
def test_other_losses_and_distances_agree(loss):
    scores = np.random.default_rng(0).standard_normal((3, 4)).tolist()
    for pair in zip(*(value_and_gradient(xp, loss, scores) for xp in (rl, torch))):
        assert np.allclose(*pair)


@pytest.mark.parametrize(
    "loss",
    [
        lambda xp, F, x: F.multilabel_margin_loss(x, xp.ones(3, 5).long()),
        lambda xp, F, x: F.multilabel_margin_loss(x, xp.full((3, 4), 5)),
        lambda xp, F, x: F.multilabel_margin_loss(x[0, :0], xp.ones(0).long()),
        lambda xp, F, x: F.pdist(x[0]),
        lambda xp, F, x: F.pdist(x, -1.0),
        lambda xp, F, x: F.triplet_margin_with_distance_loss(x, x[0], x),
        *(
            lambda xp, F, x, lengths=lengths, blank=blank: F.ctc_loss(
                x.unsqueeze(1).log_softmax(2), xp.tensor([1, 2]), *map(xp.tensor, lengths), blank
            )
            for lengths, blank in (
                (([4], [2]), 0), (([-1], [2]), 0), (([3], [-2]), 0), (([3], [3]), 0), (([3, 3], [2]), 0), (([3], [2]), 4),
                (([3.0], [2]), 0),
            )
        ),
    ],
)  # fmt: skip
def test_losses_refuse_in_torchs_words(loss):
    said = []
    for xp in (rl, torch):
        with pytest.raises(Exception) as error:
            loss(xp, xp.nn.functional, xp.ones(3, 4))
        said.append((error.type, str(error.value)))
    assert said[0] == said[1]
