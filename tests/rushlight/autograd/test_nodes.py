"""A node that a program calls, and the attribute `grad`, as in torch."""

import pytest
from both import agree, written
from sweep import in_one_test

TEXTS = """
(x * 2).grad_fn(xp.ones(2))
(x * x).grad_fn(xp.ones(2))
(x * y).grad_fn(xp.ones(2))
(x * y).sum().grad_fn(xp.tensor(1.0))
(x * 2).grad_fn(None)
(x * 2).grad_fn()
(x * 2).grad_fn(xp.ones(2), xp.ones(2))
(x * 2).grad_fn(1)
(x * 2).grad_fn(grad=xp.ones(2))
(x * 2).grad_fn(xp.ones(3))
(x * 2).grad_fn(xp.ones(2, requires_grad=True))
z = x.sqrt(); g = z.grad_fn(xp.ones(2)); g.grad_fn.name()
z = x.sqrt(); z.sum().backward(); z.grad_fn(xp.ones(2))
z = x * 2; h = z.register_hook(lambda g: g * 10); z.grad_fn(xp.ones(2))
z = x * 2; h = z.grad_fn.register_hook(lambda i, o: (i[0] * 5, *i[1:])); z.grad_fn(xp.ones(2))
z = x * 2; h = z.grad_fn.register_prehook(lambda o: (o[0] * 7,)); z.grad_fn(xp.ones(2))
node = (x * 2).grad_fn.next_functions[0][0]; node(xp.ones(2))
node = (x * 2).grad_fn.next_functions[0][0]; r = node(xp.ones(2)), node(xp.ones(2)); x.grad
x.unbind()[0].grad_fn(xp.tensor(1.0), xp.tensor(2.0))
x.unbind()[0].grad_fn(xp.tensor(1.0))
x.unbind()[0].grad_fn(xp.tensor(1.0), None)
x.max(0)[0].grad_fn(xp.tensor(1.0))
xp.stack([x, y, x]).grad_fn(xp.ones(3, 2))
x.sum().backward(); del x.grad; x.grad
del y.grad; y.grad
z = x * 2; del z.grad; z.grad
z = x * 2; z.retain_grad(); z.sum().backward(); z.grad
z = x.view(2); z.grad
del x.requires_grad
""".strip().splitlines()


@in_one_test
@pytest.mark.parametrize("text", TEXTS)
def test_it_is_as_in_torch(text):
    agree(written(text))
