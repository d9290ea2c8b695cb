"""What `AccumulateGrad` keeps of a gradient, and what it copies: the same program on rushlight and on torch."""

import pytest
from both import agree

PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def kept(leaf, given, create_graph=False):
    """What the gradient of a leaf has of the gradient that was given to a `Function`."""
    grad = leaf.grad
    return grad is given, grad.data_ptr() == given.data_ptr(), grad.stride(), grad.requires_grad, grad._version


@program
def a_gradient_that_a_function_holds(xp):
    class Give(xp.autograd.Function):
        forward = staticmethod(lambda ctx, x, grads: setattr(ctx, "grads", grads) or x.clone())
        backward = staticmethod(lambda ctx, grad: (ctx.grads[0], None))

    seen = []
    ones, double = xp.ones(2, 3), xp.ones(2, 3, dtype=xp.float64)
    for given in (
        ones,
        xp.ones(3, 2).t(),
        xp.ones(1, 3).expand(2, 3),
        xp.ones(4, 3)[:2],
        xp.ones(2, 6)[:, ::2],
        double,
    ):
        for create_graph in (False, True):
            x = xp.ones(2, 3, requires_grad=True)
            Give.apply(x, [given]).sum().backward(create_graph=create_graph)
            seen.append(kept(x, given))
    return seen


@program
def a_gradient_that_was_passed(xp):
    seen = []
    leaves = (xp.ones(2, 3), xp.ones(3, 2).t(), xp.ones(2, 6)[:, ::2])
    for base in leaves:
        for given in (xp.ones(2, 3), xp.ones(3, 2).t(), xp.ones(1, 3).expand(2, 3)):
            for create_graph in (False, True):
                for view in (False, True):
                    x = base.detach().requires_grad_()
                    (x.view_as(x) if view else x).backward(given, create_graph=create_graph)
                    seen.append(kept(x, given))
    return seen


@program
def a_second_gradient(xp):
    seen = []
    for create_graph in (False, True):
        x = xp.ones(2, requires_grad=True)
        (x * 2).sum().backward()
        first = x.grad
        (x * 3).sum().backward(create_graph=create_graph)
        seen += [x.grad is first, first, x.grad, first._version]
    return seen


@program
def leaves_that_get_the_same_gradient(xp):
    a, b, given = xp.ones(2, requires_grad=True), xp.ones(2, requires_grad=True), xp.ones(2)
    (a + b).backward(given)
    a.grad.add_(1)
    (a + a).backward(given)
    return [a.grad, b.grad, given]


@program
def a_gradient_that_a_hook_keeps(xp):
    a, seen = xp.ones(2, requires_grad=True), []
    a.register_hook(seen.append)
    (a * 2).sum().backward()
    shared = a.grad.data_ptr() == seen[0].data_ptr()
    a.grad.add_(1)
    return [shared, seen[0], a.grad]


@program
def a_gradient_that_is_a_view(xp):
    a, base = xp.ones(2, 2, requires_grad=True), xp.zeros(2, 4)
    a.grad = base[:, ::2]
    (a * 2).sum().backward()
    return [base, a.grad.stride()]


@program
def retained_gradients(xp):
    a = xp.ones(2, requires_grad=True)
    y = a * 2
    z = y.view(2)
    y.retain_grad()
    z.retain_grad()
    z.sum().backward()
    return [
        y.grad.data_ptr() == z.grad.data_ptr(),
        a.grad.data_ptr() == y.grad.data_ptr(),
        y.grad.stride(),
        z.grad.stride(),
    ]


@program
def a_gradient_of_inference_mode(xp):
    a = xp.ones(2, requires_grad=True)
    with xp.inference_mode():
        given = xp.ones(2)
    a.backward(given)
    return [a.grad is given, a.grad.is_inference()]


@program
def a_hook_of_the_node_that_gets_the_gradient_that_is_kept(xp):
    a, got = xp.ones(2, requires_grad=True), []
    (node, _), *_ = a.view_as(a).grad_fn.next_functions
    node.register_prehook(lambda grads: (grads[0] * 2,))
    node.register_hook(lambda _, grads: got.append(grads[0]))
    a.register_post_accumulate_grad_hook(lambda a: (a.grad.add_(1), None)[1])
    (a * 3).sum().backward()
    return [a.grad.data_ptr() == got[0].data_ptr(), a.grad, got[0]]


@pytest.mark.parametrize("name", PROGRAMS)
def test_accumulate_grad_keeps_and_copies_as_torch_does(name):
    agree(PROGRAMS[name])
