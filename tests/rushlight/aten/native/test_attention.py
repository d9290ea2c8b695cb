"""Attention agrees with torch: value, layout, gradient, and what it refuses."""

import numpy as np
import pytest
import torch
from both import FRAMEWORKS, agree, graph
from torch.testing import assert_close

import rushlight as rl


def numbers(xp, *sizes, seed=0):
    return xp.from_numpy(np.random.default_rng(seed).standard_normal(sizes))


def mask(xp):
    """Bool, 3 queries by 5 keys; the last query has no key."""
    return xp.tensor([[True, False, True, True, False], [True] * 5, [False] * 5])


Q, K = (2, 4, 3, 8), (2, 4, 5, 8)
CASES = {
    "plain": (Q, K, K, lambda xp: {}),
    "without heads": ((3, 8), (5, 8), (5, 2), lambda xp: {}),
    "causal": (Q, K, K, lambda xp: {"is_causal": True}),
    "scaled": (Q, K, K, lambda xp: {"scale": 0.1}),
    "scaled by a negative number": (Q[1:], K[1:], K[1:], lambda xp: {"scale": -0.1}),
    "bool mask": (Q, K, K, lambda xp: {"attn_mask": mask(xp)}),
    "bool mask, 3 dimensions": (Q[1:], K[1:], K[1:], lambda xp: {"attn_mask": mask(xp)}),
    "float mask": (Q, K, K, lambda xp: {"attn_mask": numbers(xp, 2, 1, 3, 5, seed=9)}),
    "broadcast batch": (Q, (1, *K[1:]), (1, *K[1:]), lambda xp: {}),
    "shared heads": (Q, (2, 2, 5, 8), (2, 2, 5, 8), lambda xp: {"enable_gqa": True}),
    "all dropped": (Q, K, K, lambda xp: {"dropout_p": 1.0}),
    "causal, with a mask": (Q, K, K, lambda xp: {"is_causal": True, "attn_mask": numbers(xp, 3, 5)}),
    "a wide value": (Q, K, (2, 4, 5, 9), lambda xp: {}),
}


@pytest.mark.parametrize("case", CASES)
def test_attention_gives_torchs_numbers_gradients_and_layout(case):
    found = []
    for xp in FRAMEWORKS:
        *sizes, options = CASES[case]
        tensors = [numbers(xp, *each, seed=i).requires_grad_() for i, each in enumerate(sizes)]
        result = xp.nn.functional.scaled_dot_product_attention(*tensors, **options(xp))
        result.square().sum().backward()
        found.append(
            [result.stride(), *(torch.from_numpy(x.numpy()) for x in (result.detach(), *(t.grad for t in tensors)))]
        )
    assert found[0][0] == found[1][0]
    assert_close(found[0][1:], found[1][1:])


@pytest.mark.parametrize(
    "program",
    [
        lambda F, q, xp: F.scaled_dot_product_attention(q, q.double(), q),
        lambda F, q, xp: F.scaled_dot_product_attention(q[0, 0, 0], q, q),
        lambda F, q, xp: F.scaled_dot_product_attention(q, q, q, xp.ones(3, 3, dtype=xp.int64)),
        lambda F, q, xp: xp._scaled_dot_product_attention_math(q, q, q, xp.ones(3, 3), 0.0, True),
        lambda F, q, xp: F.scaled_dot_product_attention(q, q[:, :3], q[:, :3], enable_gqa=True),
        lambda F, q, xp: F.scaled_dot_product_attention(q.half(), q.half(), q.half()).dtype,
        lambda F, q, xp: F.scaled_dot_product_attention(
            q.transpose(1, 2), q.transpose(1, 2), q.transpose(1, 2)
        ).stride(),
        lambda F, q, xp: xp._scaled_dot_product_attention_math(q, q, q, mask(xp)[:, :3])[1].shape,
        lambda F, q, xp: xp._scaled_dot_product_attention_math(q, q, q, None, 0.5, False, xp.zeros(3, 3).bool())[0],
        lambda F, q, xp: xp._safe_softmax(xp.tensor([[1.0, 1.0], [-float("inf")] * 2]), 1),
    ],
)
def test_what_attention_does_otherwise_is_torchs(program):
    agree(lambda xp: program(xp.nn.functional, numbers(xp, *Q).float(), xp))


def test_a_query_without_keys_has_no_gradient():
    for xp in FRAMEWORKS:
        x = xp.full((2, 2), -float("inf"), requires_grad=True)
        xp._safe_softmax(x, 1).sum().backward()
        assert x.grad.tolist() == [[0.0, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize("case", ["bool mask"])
def test_attention_is_compiled(case):
    *sizes, options = CASES[case]
    tensors = [numbers(rl, *each, seed=i).requires_grad_() for i, each in enumerate(sizes)]
    given = options(rl)

    def program(q, k, v):
        return rl.nn.functional.scaled_dot_product_attention(q, k, v, **given)

    results = []
    for function in (program, rl.compile(program)):
        result = function(*tensors)
        results.append([result, *rl.autograd.grad(result.square().sum(), tensors)])
    for a, b in zip(*results):
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), atol=1e-9)


@pytest.mark.parametrize("case", ["plain", "causal", "scaled", "of transposed parts"])
def test_attention_leaves_torchs_graph_and_gradients_of_torchs_layout(case):
    def program(xp):
        options = CASES[case][-1](xp) if case in CASES else {}
        tensors = [numbers(xp, 2, 3, 4, 8, seed=i)[..., 2:].transpose(1, 2).requires_grad_() for i in range(3)]
        result = xp.nn.functional.scaled_dot_product_attention(*tensors, **options)
        grads = xp.autograd.grad(result.exp().sum(), tensors)
        saved = [each for each in dir(result.grad_fn) if each.startswith("_saved_")]
        return str(graph(result)), saved, [each.stride() for each in (result, *grads)]

    agree(program)
