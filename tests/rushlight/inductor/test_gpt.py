"""The MiniGPT trains in lockstep with torch, eager and compiled, and a cache of keys and values changes no token."""

import numpy as np
import pytest
import torch
from both import FRAMEWORKS

import rushlight as rl
from rushlight.course import sampling, training
from rushlight.course.gpt import gpt


def model_of(xp, **sizes):
    """The same model in both frameworks."""
    torch.manual_seed(0)
    state = {name: each.detach().numpy().copy() for name, each in gpt(torch, **sizes).state_dict().items()}
    model = gpt(xp, **sizes)
    model.load_state_dict({name: xp.from_numpy(each) for name, each in state.items()})
    return model


def batches(steps, rows, length, vocabulary):
    """Rows that can be learned: each token is the one before plus a step."""
    random = np.random.default_rng(0)
    start, step = random.integers(0, vocabulary, (steps, rows, 1)), random.integers(1, 4, (steps, rows, 1))
    tokens = (start + step * np.arange(length + 1)) % vocabulary
    return [(each[:, :-1], each[:, 1:]) for each in tokens]


@pytest.mark.parametrize(
    "steps, sizes",
    [
        (12, dict(vocabulary=50, width=16, heads=2, layers=2, length=12)),
        pytest.param(200, dict(vocabulary=600, width=64, heads=4, layers=4, length=40), marks=pytest.mark.sweep),
    ],
)
def test_losses_are_torchs_eager_and_compiled(steps, sizes):
    data = batches(steps, 4, sizes["length"], sizes["vocabulary"])
    losses = []
    for xp, compiled in ((torch, False), (rl, False), (rl, True)):
        model = model_of(xp, **sizes)
        forward = rl.compile(model) if compiled else model
        losses.append([each.loss for each in training.train(xp, model, data, forward=forward)])
    np.testing.assert_allclose(losses[1], losses[0], rtol=0, atol=1e-4)
    np.testing.assert_allclose(losses[2], losses[0], rtol=0, atol=1e-4)
    assert losses[0][-1] < losses[0][0]


def test_a_token_at_a_time_gives_the_scores_of_the_whole_text_and_of_torch():
    tokens = np.random.default_rng(1).integers(0, 600, (2, 20))
    scores = []
    for xp in FRAMEWORKS:
        model = model_of(xp)
        cache = sampling.new_cache(model, 2)
        with xp.no_grad():
            scores.append(model(xp.from_numpy(tokens)).numpy())
            parts = [tokens[:, :5], *(tokens[:, i : i + 1] for i in range(5, 20))]
            scores.append(np.concatenate([model(xp.from_numpy(each), cache).numpy() for each in parts], 1))
    for each in scores[1:]:
        np.testing.assert_allclose(each, scores[0], rtol=1e-4, atol=1e-5)
