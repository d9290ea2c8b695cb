"""Views and writes in place, in every mode and in custom functions, are what they are on torch, and so are the refusals."""

import re

import pytest
import torch
from both import FRAMEWORKS, agree
from sweep import in_one_test


def shown(x):
    """Return autograd's attributes of a tensor, or the first sentence of the error that reading them raises."""
    return said(
        lambda: (
            x.requires_grad,
            x.is_leaf,
            x._is_view(),
            x.grad_fn and x.grad_fn.name().rpartition("::")[2],
            x._version,
        )
    )


def said(run):
    """A result, or the kind of the error and its first sentence."""
    try:
        result = run()
    except (RuntimeError, TypeError) as error:
        return type(error).__name__, re.split(r"(?<=\w)[.:] ?(?=[A-Z]|$)", str(error))[0]
    return "a tensor" if isinstance(result, tuple(xp.Tensor for xp in FRAMEWORKS)) else result


def function(xp, forward, backward=lambda ctx, *grads: grads[0]):
    return type(
        "F", (xp.autograd.Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    ).apply


def leaf_and_result(xp):
    leaf = xp.ones(4).requires_grad_()
    return leaf, leaf * 2


def dirty(ctx, x):
    ctx.mark_dirty(x)
    return x.mul_(2)


def marked(ctx, x):
    view = x.view(2, 2)
    ctx.mark_non_differentiable(view)
    return view, x * 2


def quietly(xp, make, mode="no_grad"):
    with getattr(xp, mode)():
        return make()


MAKE = {
    "a view": lambda xp, x: x.view(2, 2),
    "a view made in no_grad": lambda xp, x: quietly(xp, lambda: x.view(2, 2)),
    "a view of a view made in no_grad": lambda xp, x: quietly(xp, lambda: x.view(2, 2))[0],
    "a view made in inference mode": lambda xp, x: quietly(xp, lambda: x.view(2, 2), "inference_mode"),
    "a view of a view made in inference mode": lambda xp, x: quietly(xp, lambda: x.view(4), "inference_mode")[1:],
    "one of several": lambda xp, x: x.unbind()[1],
    "a view of one of several": lambda xp, x: x.split(2)[1][0],
    "one of several made in no_grad": lambda xp, x: quietly(xp, lambda: x.chunk(2)[0]),
    "a custom identity": lambda xp, x: function(xp, lambda ctx, x: x)(x),
    "a custom view": lambda xp, x: function(xp, lambda ctx, x: x.view(2, 2), lambda ctx, g: g.reshape(4))(x),
    "a view of a custom view": lambda xp, x: function(xp, lambda ctx, x: x[1:], lambda ctx, g: g)(x)[0],
    "a custom view made in no_grad": lambda xp, x: quietly(xp, lambda: function(xp, lambda ctx, x: x[1:])(x)),
    "one of two custom views": lambda xp, x: function(xp, lambda ctx, x: (x[1:], x[:1]))(x)[1],
    "a custom view without a gradient": lambda xp, x: function(xp, marked)(x)[0],
    "the output of a module with a full backward hook": lambda xp, x: hooked(xp, "register_full_backward_hook")(x),
    "the same with a pre-hook": lambda xp, x: hooked(xp, "register_full_backward_pre_hook")(x),
    "a detached view": lambda xp, x: x.detach()[1:],
    "a required view": lambda xp, x: x.detach()[1:].requires_grad_(),
}
WRITE = {
    "nothing": lambda xp, x, view: None,
    "the view": lambda xp, x, view: view.add_(1),
    "the view, by a function": lambda xp, x, view: function(xp, dirty)(view),
    "the view, quietly": lambda xp, x, view: quietly(xp, lambda: view.add_(1)),
    "the view, in inference mode": lambda xp, x, view: quietly(xp, lambda: view.add_(1), "inference_mode"),
    "the view, from a leaf": lambda xp, x, view: view.add_(xp.ones(()).requires_grad_()),
    "the base": lambda xp, x, view: x.mul_(3),
    "the base, quietly": lambda xp, x, view: quietly(xp, lambda: x.mul_(3)),
    "the base, from a leaf": lambda xp, x, view: x.add_(xp.ones(()).requires_grad_()),
}


def hooked(xp, register):
    module = xp.nn.Identity()
    getattr(module, register)(lambda module, *grads: None)
    return module


def written(xp, of, make, write):
    """A view of a leaf, of a result or of a constant, which is then written to; and what backward makes of it."""
    leaf, result = leaf_and_result(xp)
    x = {"leaf": leaf, "result": result, "constant": xp.ones(4)}[of]
    view = MAKE[make](xp, x)
    seen = [shown(view), said(lambda: WRITE[write](xp, x, view)), shown(view), shown(x), shown(leaf)]
    seen.append(said(lambda: (view * 2).sum().backward()))
    return seen, leaf.grad, said(lambda: view.tolist())


@in_one_test
@pytest.mark.parametrize("make", MAKE)
@pytest.mark.parametrize("of", ["leaf", "result", "constant"])
def test_a_view_is_written_to_or_refused(of, make):
    for write in WRITE:
        agree(written, of, make, write)


def as_strided_of_what_overlaps(xp):
    seen = []
    for x, sizes, strides, offset in (
        (xp.tensor([2.0]).expand(5), (3,), (0,), None), (xp.arange(4.0).expand(2, 4), (2, 2), (1, 1), 1),
        (xp.arange(4.0).as_strided((3, 2), (1, 1)), (2, 3), (1, 1), 0), (xp.arange(8.0)[2:8:2], (4,), (2,), 0),
        (xp.arange(6.0).view(2, 3).t(), (2, 2), (0, 1), 2), (xp.arange(3.0).expand(2, 3).t(), (3,), (1,), None),
    ):  # fmt: skip
        x = x.requires_grad_()
        y = x.as_strided(sizes, strides, offset)
        (y * (xp.arange(float(y.numel())) + 1).view(y.shape)).sum().backward()
        seen += [x.grad, x.grad.stride()]
    return seen


def retained_by_a_view(xp):
    seen = []
    for of_view, read in ((True, False), (False, False), (False, True)):
        leaf, base = leaf_and_result(xp)
        view = base[:2]
        base.retain_grad()
        view.retain_grad()
        (view if of_view else base).mul_(3)
        used = base if not read else (view.grad_fn and view)
        (used * used).sum().backward()
        seen += [view.grad, base.grad, leaf.grad, view.retains_grad, base.retains_grad]
    view.mul_(2)
    return seen, view.grad, base.grad


def counters_after_data_is_set(xp):
    x, y = xp.ones(3).requires_grad_(), xp.zeros(3)
    seen = []

    def look(*tensors):
        seen.append([[tensor._version, tensor.tolist()] for tensor in tensors])

    x.data.add_(1)
    detached, part = x.detach(), y.add_(1)[1:]
    x.data = y
    look(x, y, detached, part)
    y.add_(1)
    look(x, y, detached, part)
    detached.add_(1)
    look(x, y, detached, part)
    quietly(xp, lambda: x.add_(1))
    x.data = xp.ones(2)
    again = x.detach()
    again.add_(1)
    look(x, y, detached, part, again)
    return seen


def resized(xp):
    x, y = xp.ones(4), xp.ones(4).requires_grad_()
    seen = [
        said(lambda: x.resize_(4) is x),
        x._version,
        tuple(x.resize_(2, 2).shape),
        x._version,
        x[0].resize_(2)._version,
    ]
    return [*seen, said(lambda: y.resize_(4)), y._version, said(lambda: (y * 2).resize_(2, 2))]


def no_views(xp):
    functional, rows = xp.nn.functional, xp.tensor([0, 1])
    weight = xp.ones(3, 2).requires_grad_() * 2
    made = [functional.embedding(rows, weight), functional.embedding(rows[0], weight), xp.stack([weight, weight])]
    made += [xp.stack([weight], 1), xp.stack([weight], 2), functional.embedding(rows, weight.detach()), weight[rows]]
    return [(x._is_view(), shown(x)) for x in made]


def functions_that_write(xp):
    def two(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2), x + 1

    def made(ctx, x):
        y = x * 2
        ctx.mark_dirty(y)
        return y

    leaf, result = leaf_and_result(xp)
    seen = [said(lambda: function(xp, dirty)(leaf)), said(lambda: function(xp, two)(result[:2]))]
    seen += [function(xp, two)(result)[0] is result, shown(result), shown(function(xp, made)(leaf))]
    result.retain_grad()
    seen += [function(xp, dirty)(result) is result, shown(result), result.retains_grad, shown(leaf)]
    quietly(xp, lambda: seen.append((function(xp, dirty)(result) is result, shown(result))))
    return seen


def saved_in_setup_context(xp):
    class Same(xp.autograd.Function):
        @staticmethod
        def forward(x):
            return x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(output)

        @staticmethod
        def backward(ctx, grad):
            return grad

    return said(lambda: Same.apply(xp.ones(2).requires_grad_()))


def a_view_that_requires_grad_only_by_its_base(xp):
    leaf, _ = leaf_and_result(xp)
    view = quietly(xp, lambda: leaf.view(2, 2))
    result = view * 2 + xp.stack([view, view])
    seen = [shown(view), shown(result), said(lambda: result.sum().backward()), leaf.grad, view.retain_grad()]
    seen += [
        view.requires_grad_(False).requires_grad,
        said(lambda: xp.autograd.grad((leaf * 2).sum(), view)) != "a tensor",
    ]
    view.register_hook(lambda grad: grad * 10)
    (view.requires_grad_() * 2).sum().backward()
    return seen, view.grad, leaf.grad, said(lambda: setattr(leaf * 2, "requires_grad", True))


@pytest.mark.parametrize(
    "program",
    [
        as_strided_of_what_overlaps, retained_by_a_view, counters_after_data_is_set, resized, no_views, functions_that_write,
        saved_in_setup_context, a_view_that_requires_grad_only_by_its_base,
    ],
)  # fmt: skip
def test_a_program_shows_what_it_shows_on_torch(program):
    program(torch)
    agree(program)


VIEWS = {"in no_grad": lambda xp, x: quietly(xp, lambda: x[1:]), "by unbind": lambda xp, x: x.unbind()[0]}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_a_view_of_a_view_from_inference_mode_says_so(view):
    for xp in FRAMEWORKS:
        _, result = leaf_and_result(xp)
        with pytest.raises(RuntimeError, match="inference"):
            view(xp, quietly(xp, lambda: result.view(2, 2), "inference_mode")).add_(1)


@pytest.mark.parametrize("function", ["relu", "elu", "sigmoid"])
def test_a_saved_result_of_a_write_to_a_view_is_differentiated_again(function):
    """The view is gone in backward, so the gradient of the saved result goes to the node that has written to it."""

    def second(xp):
        x = xp.tensor([1.0, -1.0, 2.0, -2.0], dtype=xp.float64, requires_grad=True)
        y = x.clone()
        getattr(xp.nn.functional if function == "elu" else xp, f"{function}_")(y.narrow(0, 1, 2))
        (grad,) = xp.autograd.grad(y.pow(3).sum(), x, create_graph=True)
        return xp.autograd.grad(grad.sum(), x)[0].tolist()

    ours, theirs = map(second, FRAMEWORKS)
    assert ours == pytest.approx(theirs, rel=1e-12)
