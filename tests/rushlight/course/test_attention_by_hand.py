"""The attention that a student writes runs on both frameworks, and in the MiniGPT it gives what the fused operator gives."""

import numpy as np
import pytest
import torch
from both import FRAMEWORKS

import rushlight as rl
from rushlight.course import attention
from rushlight.course.gpt import gpt


def at_once(xp):
    def attend(query, key, value):
        return attention.attention_weights(query, key, attention.causal_mask(xp, query.shape[2], key.shape[2])) @ value

    return attend


def in_tiles(xp):
    return lambda query, key, value: attention.tiled_attention(query, key, value, 3, is_causal=True)[0]


@pytest.mark.parametrize("attend", [at_once, in_tiles])
def test_a_model_with_attention_by_hand_gives_the_scores_and_gradients_of_the_fused_one(attend):
    for xp in FRAMEWORKS:
        models = [gpt(xp, 20, 8, 2, 2, 16, attend=each).double() for each in (None, attend(xp))]
        models[1].load_state_dict(models[0].state_dict())
        tokens = xp.from_numpy(np.arange(14).reshape(2, 7))
        found = []
        for model in models:
            scores = model(tokens)
            scores.square().sum().backward()
            found.append([scores.detach().numpy(), *(each.grad.numpy() for each in model.parameters())])
        for a, b in zip(*found):
            np.testing.assert_allclose(a, b, atol=1e-10)


@pytest.mark.sweep
def test_a_compiled_model_is_one_graph():
    model, tokens = gpt(rl, layers=1), rl.from_numpy(np.arange(10).reshape(1, 10))
    assert rl.allclose(rl.compile(model, fullgraph=True)(tokens), model(tokens), atol=1e-5)


def test_the_two_frameworks_agree_on_tiles():
    found = []
    for xp in FRAMEWORKS:
        q, k, v = (xp.from_numpy(np.random.default_rng(i).standard_normal((2, 7, 4))) for i in range(3))
        out, logsumexp = attention.tiled_attention(q, k, v, 2, True)
        found.append([out, logsumexp, *attention.tiled_attention_backward(out, q, k, v, out, logsumexp, 2, True)])
    for a, b in zip(*found):
        np.testing.assert_allclose(a.numpy(), torch.as_tensor(b.numpy()), atol=1e-12)


def test_the_pictures_of_attention_are_drawn():
    draw = rl.draw
    weights = np.tril(np.full((3, 3), 0.3)).tolist()
    pictures = [
        draw.attention_map(["a", "b", "c"], [("head 0", weights), ("head 1", weights)], row=2),
        draw.score_tiles(5, 6, (2, 4), at=(1, 0)),
        draw.score_tiles(4, 4, (2, 2), is_causal=False),
        draw.online_softmax([[1.0], [2.0, 0.5]]),
        draw.residual_stream([("token", 1.0, 1.0), ("MLP", 0.5, 1.2)]),
    ]
    texts = [picture._repr_svg_() for picture in pictures]
    assert all(text.startswith("<svg") for text in texts)
    assert "head 1" in texts[0] and "keys" in texts[1] and "after block 2" in texts[3] and "MLP" in texts[4]
