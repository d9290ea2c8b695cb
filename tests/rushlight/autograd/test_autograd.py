"""Graphs, gradients, hooks, versions, modes and errors of autograd agree with torch."""

import copy
import random
import warnings

import pytest
import torch
import torch._dynamo
from both import agree, graph, name
from sweep import in_one_test

import rushlight as rl


def leaf(xp, *sizes, start=1.0):
    count = 1
    for size in sizes:
        count *= size
    x = (xp.arange(count).to(xp.float64) / 4 + start).reshape(sizes)
    return x.detach().requires_grad_()


def linear(xp):
    x, w, b = leaf(xp, 2, 3), leaf(xp, 4, 3), leaf(xp, 4)
    y = xp.nn.functional.linear(x, w, b)
    drawn = graph(y)
    (y * y).sum().backward()
    return drawn, x.grad, w.grad, b.grad, w.grad.stride()


def diamond(xp):
    x = leaf(xp, 2)
    a = x * 2
    y = a * a + a.exp()
    y.sum().backward()
    return graph(y), x.grad


def accumulated(xp):
    x = leaf(xp, 2)
    for factor in 1, 2:
        (x * factor).sum().backward()
    return x.grad


def two_leaves_of_one_gradient(xp):
    x, y = leaf(xp, 2), leaf(xp, 2)
    ((x + y) * 2).sum().backward()
    x.grad.add_(1)
    return x.grad, y.grad


def broadcast(xp):
    x, y = leaf(xp, 2, 1, 3), leaf(xp, 4, 1)
    (x * y).sum().backward()
    return x.grad, y.grad


def second_derivative(xp):
    x = leaf(xp, 3)
    (g,) = xp.autograd.grad((x**3).sum(), x, create_graph=True)
    (h,) = xp.autograd.grad((g * g).sum(), x)
    return g, h, g.requires_grad, h.requires_grad


def hooks(xp):
    seen = []
    x = leaf(xp, 2)
    y = x * 2
    z = y * y
    z.retain_grad()
    y.retain_grad()
    x.register_hook(lambda g: seen.append(("x", g.tolist())))
    y.register_hook(lambda g: g * 10)
    y.register_hook(lambda g: seen.append(("y", g.tolist())))
    y.grad_fn.register_prehook(lambda gs: seen.append(("before", [g.tolist() for g in gs])))
    y.grad_fn.register_hook(
        lambda i, o: seen.append(("after", [g.tolist() for g in i if g is not None], o[0].tolist()))
    )
    x.register_post_accumulate_grad_hook(lambda t: seen.append(("accumulated", t.grad.tolist())))
    z.sum().backward()
    return seen, y.grad, z.grad, x.grad


def removed_hook(xp):
    x = leaf(xp, 2)
    handle = x.register_hook(lambda g: g * 10)
    x.sum().backward()
    handle.remove()
    x.sum().backward()
    return x.grad


def view_and_base(xp):
    x = leaf(xp, 2, 3)
    base = x * 2
    view = base[0]
    view.mul_(3)
    drawn = graph(base), graph(view)
    (base.sum() + view.sum()).backward()
    return drawn, x.grad, view._is_view(), view.is_leaf


def base_written_after_view(xp):
    x, w = leaf(xp, 2, 3), leaf(xp, 3)
    base = x * 1
    view = base.t()
    base.mul_(w)
    drawn = graph(view)
    view.sum().backward()
    return drawn, x.grad, w.grad


def constant_becomes_part(xp):
    x, w = xp.zeros(3, dtype=xp.float64), leaf(xp, 1)
    view = x[:2]
    x.add_(w)
    return x.requires_grad, view.requires_grad, view.is_leaf, graph(x), graph(view)


def views_before_their_node_is_made(xp):
    """Observe a view of a constant after a write with a history to its base alone."""
    seen = []
    for look in (
        lambda v: v.is_leaf, lambda v: v.requires_grad, lambda v: v.output_nr, lambda v: name(v.grad_fn),
        lambda v: v.retain_grad() or v.retains_grad, lambda v: v.requires_grad_(False).requires_grad,
        lambda v: v.add_(1), lambda v: v.is_leaf or v.add_(1), lambda v: v[0].add_(1), lambda v: xp.optim.SGD([v]) and 0,
    ):  # fmt: skip
        base = xp.zeros(2, 2, dtype=xp.float64)
        view, beside = base[0], base[1]
        base.mul_(leaf(xp, 2, 2))
        for each in view, beside:
            try:
                seen.append(look(each))
            except (RuntimeError, ValueError) as error:
                seen.append(type(error).__name__)
            seen.append((each.is_leaf, each.requires_grad))
            if each is view:
                base.mul_(2)
    return seen


def views_of_a_constant(xp):
    """Each as it is after its base has been written to: whose view it is, and what it came from."""
    seen = []
    for look in (
        lambda x: x.reshape(3, 2), lambda x: x.flatten(), lambda x: x.reshape_as(x), lambda x: x.t().reshape(3, 2),
        lambda x: x.t().reshape(6), lambda x: x.movedim(0, 1), lambda x: x.narrow(1, 0, 2), lambda x: x.detach(),
        lambda x: x.contiguous(), lambda x: x[:, 1:], lambda x: x.unflatten(1, (3, 1)), lambda x: x.mT,
    ):  # fmt: skip
        x = xp.zeros(2, 3)
        view = look(x)
        is_view, base = view._is_view(), view._base is x
        x.add_(xp.ones(3).requires_grad_())
        seen.append((is_view, base, view.requires_grad, name(view.grad_fn)))
    return seen


def captured_twice(xp):
    x, y, given = leaf(xp, 2), leaf(xp, 2), xp.ones(2, dtype=xp.float64)
    (x + y).backward(given, inputs=[x, y])
    x.grad.add_(1)
    return x.grad, y.grad, given


def copied_in(xp):
    x, w = xp.zeros(2, 3, dtype=xp.float64), leaf(xp, 3)
    x[1] = w * 2
    x.sum().backward()
    return w.grad, graph(x)


def versions(xp):
    x = xp.zeros(2, 2)
    before = x._version
    view = x[0]
    view.add_(1)
    x.mul_(2)
    return before, x._version, view._version, x.detach()._version, x.clone()._version


def detached(xp):
    x = leaf(xp, 2)
    y = (x * 2).detach()
    return y.requires_grad, y.grad_fn, (y + x).requires_grad


def modes(xp):
    x = leaf(xp, 2)
    seen = []
    with xp.no_grad():
        seen.append((x * 2).requires_grad)
        with xp.enable_grad():
            seen.append((x * 2).requires_grad)
        seen.append(xp.is_grad_enabled())
    with xp.set_grad_enabled(False):
        seen.append((x * 2).requires_grad)
    with xp.inference_mode():
        y = x * 2
        seen += [y.requires_grad, y.is_inference(), x.is_inference(), x.view(2).is_inference()]

    @xp.no_grad()
    def quiet():
        return (x * 2).requires_grad

    return seen, quiet(), xp.is_grad_enabled()


def unused(xp):
    x, y = leaf(xp, 2), leaf(xp, 2)
    return xp.autograd.grad((x * 2).sum(), (x, y), allow_unused=True)


def only_inputs(xp):
    x, y = leaf(xp, 2), leaf(xp, 2)
    (x * y).sum().backward(inputs=[y])
    return x.grad, y.grad


def formulas_of_one_input(xp):  # a node computes no gradient that the pass does not need, but unpacks what it has saved
    x, w, b, unpacked, seen = leaf(xp, 2, 2), leaf(xp, 2, 2), leaf(xp, 2), [], []
    with xp.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: unpacked.append(t.shape) or t):
        y = xp.addmm(b, x * 2, w)
        z = xp.nn.functional.layer_norm(y * w, (2,), b)
    for node in z.grad_fn, y.grad_fn, z.grad_fn.next_functions[0][0]:
        node.register_hook(lambda after, before: seen.append([g is not None for g in after]))
    (g,) = xp.autograd.grad(z.exp().sum(), x, create_graph=True)
    (g * g).sum().backward(inputs=[w])
    z.sum().backward()
    return seen, len(unpacked), g, w.grad, b.grad, x.grad, raised(lambda: xp.autograd.grad(z.sum(), x))


def written_view_of_one_input(xp):
    x, w = leaf(xp, 2, 3), leaf(xp, 3)
    base = x * 2
    base[0].mul_(w)
    base.t()[1].add_(w[:2])
    seen = [xp.autograd.grad((base * base).sum(), t, retain_graph=True)[0] for t in (x, w)]
    (base * base).sum().backward(inputs=[w])
    return seen, x.grad, w.grad


def several_results(xp):
    x = leaf(xp, 5, 2)
    a, b, c = x.split(2)
    (a * 2).sum().backward(retain_graph=True)
    (c.exp().sum() + b.unbind(1)[0].sum()).backward()
    return x.grad, graph(a), graph(c)


def own_function(xp):
    class Cube(xp.autograd.Function):
        @staticmethod
        def forward(ctx, x, times):
            ctx.save_for_backward(x)
            ctx.times = times
            return x * x * x * times

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return 3 * x * x * grad * ctx.times, None

    x = leaf(xp, 3)
    y = Cube.apply(x, 2)
    (g,) = xp.autograd.grad(y.sum(), x, create_graph=True)
    (h,) = xp.autograd.grad(g.sum(), x)
    return graph(y), y, g, h


def function_with_setup_context(xp):
    seen = []

    class Scale(xp.autograd.Function):
        @staticmethod
        def forward(x, times, shift=1.0):
            seen.append((xp.is_grad_enabled(), x.grad_fn))
            return x * times + shift, x.sum()

        @staticmethod
        def setup_context(ctx, inputs, output):
            x, ctx.times, shift = inputs
            seen.append(
                (type(inputs).__name__, shift, xp.is_grad_enabled(), output[0].requires_grad, ctx.needs_input_grad)
            )
            ctx.save_for_backward(x, output[0])
            ctx.mark_non_differentiable(output[1])

        @staticmethod
        def backward(ctx, grad, nothing):
            x, y = ctx.saved_tensors
            return grad * ctx.times * y, None, None

    x = leaf(xp, 3)
    y, total = Scale.apply(x, 2.0)
    (g,) = xp.autograd.grad(y.sum(), x, create_graph=True)
    (h,) = xp.autograd.grad(g.sum(), x)
    by_name, _ = Scale.apply(x, shift=3.0, times=4.0)
    of_nodes = Scale._backward_cls
    classes = type(y.grad_fn) is type(by_name.grad_fn) is of_nodes, of_nodes._forward_cls is Scale, of_nodes.__name__
    return graph(y), total.requires_grad, y, g, h, by_name, seen, classes, type(Scale).__name__


def setup_context_of_what_is_written_to(xp):
    class Grow(xp.autograd.Function):
        @staticmethod
        def forward(x):
            return x.add_(1)

        @staticmethod
        def setup_context(ctx, inputs, output):
            assert inputs[0] is output
            ctx.mark_dirty(output)

        @staticmethod
        def backward(ctx, grad):
            return grad * 3

    x = leaf(xp, 2)
    y = x * 2
    z = Grow.apply(y)
    z.sum().backward()
    return z is y, graph(z), x.grad, z._version


def setup_context_is_inherited(xp):
    class Double(xp.autograd.Function):
        @staticmethod
        def forward(x):
            return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.saved_tensors[0]

    class Triple(Double):
        @staticmethod
        def forward(x):
            return x * 3

    x = leaf(xp, 2)
    y = Triple.apply(x)
    y.sum().backward()
    return graph(y), y, x.grad


def forward_without_ctx_needs_a_setup_context(xp):
    class Double(xp.autograd.Function):
        @staticmethod
        def forward(x):
            return x * 2

    return Double.apply(leaf(xp, 2))


def setup_context_takes_what_forward_takes(xp):
    class Double(xp.autograd.Function):
        @staticmethod
        def forward(x):
            return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

    return Double.apply(leaf(xp, 2), 3)


def checkpointed(xp):
    ran = []

    def block(x, w):
        ran.append(xp.is_grad_enabled())
        return (x * w).exp()

    from importlib import import_module

    x, w = leaf(xp, 2, start=0.1), leaf(xp, 2, start=0.2)
    checkpoint = rl.checkpoint.checkpoint if xp is rl else import_module("torch.utils.checkpoint").checkpoint
    checkpoint(block, x, w, use_reentrant=True).sum().backward()
    return ran, x.grad, w.grad


def mixed_dtypes(xp):
    x, y = leaf(xp, 2), leaf(xp, 2).float().detach().requires_grad_()
    (x * y).sum().backward()
    return x.grad, y.grad, x.grad.dtype, y.grad.dtype


def saved_hooks(xp):
    seen = []
    hooks = xp.autograd.graph.saved_tensors_hooks
    x = leaf(xp, 2)
    with hooks(
        lambda t: seen.append("pack") or t.tolist(), lambda t: seen.append("unpack") or xp.tensor(t, dtype=xp.float64)
    ):
        y = x * x
    y.sum().backward()
    return seen, x.grad


def decorated_generators(xp):
    """Where a generator runs in its mode: from one `yield` to the next."""
    seen = []
    for mode in (xp.no_grad, xp.enable_grad, xp.inference_mode, lambda: xp.set_grad_enabled(False)):

        @mode()
        def counting():
            try:
                for i in range(3):
                    seen.append((i, xp.is_grad_enabled(), (yield xp.is_grad_enabled())))
            except ValueError:
                seen.append(("thrown", xp.is_grad_enabled()))
                yield "caught"
            finally:
                seen.append(("finally", xp.is_grad_enabled()))
            return "end"

        generator = counting()
        seen += [next(generator), xp.is_grad_enabled(), generator.send("sent"), generator.throw(ValueError())]
        seen += [xp.is_grad_enabled(), generator.close(), xp.is_grad_enabled(), type(generator).__name__]
        with xp.no_grad():
            seen += [list(counting()), list(given_on(counting())), xp.is_grad_enabled()]
    return seen


def given_on(counting):
    yield (yield from counting())


def decorated_twice(xp):
    @xp.set_grad_enabled(False)
    def quiet():
        return xp.is_grad_enabled()

    with xp.no_grad():
        seen = [quiet(), xp.is_grad_enabled()]
    return seen, quiet(), xp.is_grad_enabled()


def raised(run):
    try:
        return run() is None
    except (RuntimeError, TypeError) as error:
        return type(error).__name__, str(error).split(".")[0]


def hooks_that_do_what_they_must_not(xp):
    x = leaf(xp, 2)
    hooks = xp.autograd.graph.saved_tensors_hooks

    def square(pack, unpack=lambda t: t):
        with hooks(pack, unpack):
            y = x * x
        return y.sum().backward()

    seen = [raised(lambda: square(lambda t: t.add_(1))), raised(lambda: square(lambda t: 5))]
    seen += [raised(lambda: square(lambda t: t.detach() + 1)), x.grad]
    x.register_post_accumulate_grad_hook(lambda t: t.grad)
    return [*seen, raised(lambda: x.sum().backward()), raised(lambda: xp.autograd.grad(x.sum(), []))]


def deep_copies(xp):
    x = leaf(xp, 4)
    x.grad, x.note = x.detach() * 2, [1]
    with xp.no_grad():
        view = x.view(2, 2)
    again, part, same, quiet = copy.deepcopy([x, x.detach()[1:], x, view])
    seen = [(t.requires_grad, t.is_leaf, t._is_view(), t._version, t.storage_offset()) for t in (again, part, quiet)]
    part.add_(1)
    seen += [again is same, again.note, again.note is x.note, again.grad is x.grad, again.grad, again, x]
    return [*seen, raised(lambda: copy.deepcopy(x * 2)), raised(lambda: copy.deepcopy(x[0]))]


def warnings_given(xp):
    x = leaf(xp, 2)
    retained = x * 2
    retained.retain_grad()
    seen = []
    for run in (
        lambda: (x * 2).grad, lambda: x.grad, lambda: retained.grad, lambda: x.detach().grad,
    ):  # fmt: skip
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            run()
        seen.append([(each.category.__name__, str(each.message)[:60]) for each in caught])
    return seen


@in_one_test
@pytest.mark.parametrize(
    "program",
    [
        decorated_generators, decorated_twice, hooks_that_do_what_they_must_not, deep_copies, warnings_given,
        linear, diamond, accumulated, two_leaves_of_one_gradient, broadcast, second_derivative, hooks, removed_hook,
        view_and_base, base_written_after_view, constant_becomes_part, copied_in, versions, detached, modes, unused,
        formulas_of_one_input, written_view_of_one_input,
        only_inputs, several_results, views_before_their_node_is_made, views_of_a_constant, captured_twice, own_function,
        checkpointed, mixed_dtypes, saved_hooks,
        function_with_setup_context, setup_context_of_what_is_written_to, setup_context_is_inherited,
        forward_without_ctx_needs_a_setup_context, setup_context_takes_what_forward_takes,
    ],
)  # fmt: skip
def test_a_program_shows_what_it_shows_on_torch(program):
    agree(program)


def test_the_programs_run_on_torch():
    for program in (
        linear,
        hooks,
        view_and_base,
        copied_in,
        own_function,
        checkpointed,
        saved_hooks,
        modes,
        function_with_setup_context,
        setup_context_of_what_is_written_to,
        setup_context_is_inherited,
    ):
        program(torch)


def overwritten(xp):
    x = leaf(xp, 2)
    y = x * 1
    z = y * y
    y.add_(1)
    z.sum().backward()


def overwritten_result(xp):
    y = leaf(xp, 2).exp()
    z = y * 2
    y.add_(1)
    z.sum().backward()


def twice(xp):
    x = leaf(xp, 2)
    y = (x * x).sum()
    y.backward()
    y.backward()


def kept(xp):
    x = leaf(xp, 2)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    return x.grad


def out_given(xp):
    x = leaf(xp, 2)
    return xp.mul(x, x, out=xp.zeros(2, dtype=xp.float64))


def checkpoint_for_inputs(xp):
    from importlib import import_module

    x = leaf(xp, 2)
    module = rl.checkpoint if xp is rl else import_module("torch.utils.checkpoint")
    return xp.autograd.grad(module.checkpoint(lambda x: x * x, x, use_reentrant=True).sum(), x)


def inferred(xp):
    with xp.inference_mode():
        return xp.ones(2)


ERRORS = [
    overwritten, overwritten_result, twice, kept, out_given,
    lambda xp: leaf(xp, 2).add_(1),
    lambda xp: leaf(xp, 2)[0].add_(1),
    lambda xp: leaf(xp, 2).split(1)[0].mul_(2),
    lambda xp: (leaf(xp, 4) * 1).split(2)[0].mul_(2),
    lambda xp: (leaf(xp, 2) * 2).backward(),
    lambda xp: [v := (x := xp.zeros(2, 3)).split(1)[0], x.add_(xp.ones(3).requires_grad_()), v.grad_fn],
    lambda xp: xp.zeros(1).backward(),
    lambda xp: xp.arange(3).requires_grad_(),
    lambda xp: setattr(leaf(xp, 2) * 2, "requires_grad", False),
    lambda xp: (leaf(xp, 2) * 2).backward(xp.zeros(3)),
    lambda xp: xp.autograd.grad(leaf(xp, 2).sum(), leaf(xp, 2)),
    lambda xp: xp.autograd.grad(leaf(xp, 2).sum(), xp.zeros(2)),
    lambda xp: setattr(leaf(xp, 2), "grad", xp.zeros(3, dtype=xp.float64)),
    lambda xp: setattr(leaf(xp, 2), "grad", xp.zeros(2)),
    lambda xp: setattr(leaf(xp, 2), "grad", 3),
    lambda xp: xp.zeros(2).register_hook(print),
    lambda xp: xp.zeros(2).retain_grad(),
    lambda xp: (leaf(xp, 2) * 2).register_post_accumulate_grad_hook(print),
    lambda xp: leaf(xp, 2).sum().backward(inputs=[]),
    lambda xp: xp.autograd.grad(leaf(xp, 2).sum(), []),
    lambda xp: leaf(xp, 2).numpy(),
    lambda xp: leaf(xp, 2) * inferred(xp),
    lambda xp: inferred(xp).mul_(2),
    lambda xp: inferred(xp).requires_grad_(),
    checkpoint_for_inputs,
]  # fmt: skip


@in_one_test
@pytest.mark.parametrize("program", ERRORS)
def test_what_torch_refuses_is_refused(program):
    agree(program)


UNARY = ("exp", "tanh", "sigmoid", "neg", "square", "sqrt", "log1p", "relu")
BINARY = ("add", "sub", "mul", "div", "maximum")
VIEWS = (
    lambda t: t.t(), lambda t: t.reshape(-1).reshape(3, 3), lambda t: t.flip([0]), lambda t: t.unsqueeze(0).squeeze(0),
    lambda t: t[:, :1].expand(3, 3), lambda t: t.cumsum(1), lambda t: t.softmax(1), lambda t: t @ t.t(),
)  # fmt: skip


@in_one_test
@pytest.mark.parametrize("seed", range(40))
def test_random_programs_with_shared_parts_and_writing_in_place_agree(seed):
    def program(xp):
        draw = random.Random(seed)
        values = [leaf(xp, 3, 3, start=0.3), leaf(xp, 3, start=0.5), leaf(xp, 3, 1, start=0.7)]
        leaves, seen = list(values), []
        for _ in range(draw.randint(3, 8)):
            a, b = draw.choice(values), draw.choice(values)
            match draw.randint(0, 4):
                case 0:
                    new = getattr(a.abs() + 0.5, draw.choice(UNARY))()
                case 1:
                    new = getattr(xp, draw.choice(BINARY))(a, b.abs() + 0.5)
                case 2:
                    new = draw.choice(VIEWS)(a.expand(3, 3))
                case 3:
                    new = a * 1
                    getattr(new[0] if draw.random() < 0.5 else new, draw.choice(["mul_", "add_"]))(0.5)
                case _:
                    new = a.sum(draw.choice([0, [0, 1]] if a.dim() == 2 else [0]), keepdim=draw.random() < 0.5)
                    new = new.expand(3, 3) if new.dim() in (0, 2) else new
            if draw.random() < 0.3:
                tag = len(seen)
                new.register_hook(lambda g, tag=tag: seen.append((tag, g.sum().item())))
            values.append(new)
        loss = sum(((value * value).sum() for value in values[3:]), values[0].sum())
        drawn = graph(loss)
        grads = xp.autograd.grad(loss, leaves, allow_unused=True)
        return (
            drawn,
            [None if g is None else [f"{v:.6g}" for v in g.reshape(-1).tolist()] for g in grads],
            [(tag, f"{value:.6g}") for tag, value in seen],
        )

    agree(program)


@pytest.mark.parametrize("watched", [False, True])
def test_a_gradient_that_nobody_else_knows_is_kept_and_any_other_is_copied(watched):
    """Also while torch's Dynamo watches frames: then Python passes arguments in another way."""
    if watched:
        before = torch._dynamo.eval_frame.set_eval_frame(False)
    try:
        _keep_or_copy()
    finally:
        if watched:
            torch._dynamo.eval_frame.set_eval_frame(before)


def _keep_or_copy():
    arrived = []
    x = rl.ones(2, 2).requires_grad_()
    x.register_hook(lambda grad: arrived.append(grad.data_ptr()))
    (x * 3).backward(rl.ones(2, 2))
    assert x.grad.data_ptr() == arrived[0]
    given, x.grad = rl.ones(2, 2), None
    x.backward(given)
    assert x.grad.data_ptr() != given.data_ptr()
    node, grads, x.grad = (x * 1).grad_fn.next_functions[0][0], (rl.ones(2, 2),), None
    kept = grads[0]  # by a hook, while only a tuple passes the gradient on
    with rl.no_grad():
        node.apply(*grads)
    assert x.grad.data_ptr() != kept.data_ptr()


def test_a_long_chain_and_many_diamonds_need_no_stack():
    x = rl.ones(1).requires_grad_()
    y = x
    for _ in range(20_000):
        y = y + 1
    for _ in range(60):
        y = y + y
    y.backward()
    assert x.grad.item() == 2.0**60
