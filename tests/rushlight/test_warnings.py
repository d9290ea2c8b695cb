"""Warnings come where torch's come, and are of the same category."""

import warnings
from contextlib import suppress

import pytest
import torch
from both import FRAMEWORKS, written

from rushlight.c10.exception import warn_once

TEXTS = """
(x * 2).grad
z = x * 2; z.sum().backward(); z.grad
z = x * 2; z.retain_grad(); z.grad
z = x * 2; z.grad = None; z.grad
z = x * 2; hasattr(z, "grad")
z = x * 2; del z.grad; 1
x.view(2).grad
x[0].grad
x.grad
y.grad
(x * 2).detach().grad
xp.tensor(y)
xp.tensor(x, requires_grad=True)
y.new_tensor(y)
xp.tensor([y[0]])
xp.tensor(y.numpy())
xp.as_tensor(y)
y.T
m.T
m[None].T
xp.tensor(1.0).T
y.mT
m.mT
xp.tensor(1.0).mT
x.sum().backward(create_graph=True)
x.sum().backward(retain_graph=True)
x.sum().backward(create_graph=True, inputs=[x])
xp.autograd.backward(x.sum(), create_graph=True)
xp.autograd.grad(x.sum(), x, create_graph=True)
y.sum().backward(create_graph=True)
float(x[0])
int(x[0])
x[0].item()
float(y[0])
xp.tensor([x[0], 1.0])
xp.zeros(1).expand(2).index_fill_(0, i[:1] - 1, 1.0)
xp.zeros(1).expand(2).masked_fill_(y > 1, 1.0)
xp.zeros(2, 1).expand(2, 2)[0].masked_fill_(y > 1, 1.0)
xp.zeros(1).expand(2).index_put_((i - 1,), y)
xp.utils.data.DataLoader([1, 2], num_workers=10000).num_workers
xp.utils.data.DataLoader([1, 2], num_workers=1).num_workers
xp.utils.data.DataLoader([1, 2]).num_workers
""".strip().splitlines()


def categories(text, xp):
    warn_once.cache_clear()
    with warnings.catch_warnings(record=True) as caught, suppress(RuntimeError):
        warnings.simplefilter("always")
        written(text)(xp)
    return [each.category for each in caught]


@pytest.mark.parametrize("text", TEXTS)
def test_torch_warns_here_too(text):
    torch.set_warn_always(True)
    try:
        ours, theirs = (categories(text, xp) for xp in FRAMEWORKS)
    finally:
        torch.set_warn_always(False)
    assert ours == theirs
