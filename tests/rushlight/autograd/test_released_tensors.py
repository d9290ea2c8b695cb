"""When saved tensors, hooks and marks of a custom function are freed, and what else a node says of itself, as in torch."""

import gc
import io
import sys
import warnings
import weakref

import pytest
from both import agree
from sweep import in_one_test


@pytest.fixture(autouse=True)
def without_gc():
    gc.disable()
    yield
    gc.enable()


def function(xp, forward, backward=lambda ctx, *grads: grads[0], **attributes):
    members = {"forward": staticmethod(forward), "backward": staticmethod(backward), **attributes}
    return type("F", (xp.autograd.Function,), members).apply


def dirty(ctx, x):
    ctx.mark_dirty(x)
    ctx.save_for_backward(x)
    return x


def saved(ctx, x):
    y = x.clone()
    ctx.save_for_backward(y)
    return y


def a_function_that_saves_what_it_wrote_to(xp, view):
    def run():
        x = xp.tensor(1.0, requires_grad=True).clone()
        x = x.view_as(x) if view else x
        function(xp, dirty)(x)
        return weakref.ref(x)

    return run()() is None


def a_checkpoint_that_stops_early(xp):
    refs = []

    def forward(ctx, x):
        y = saved(ctx, x)
        refs.append(weakref.ref(y))
        return y

    def read(ctx, grad):
        return None if ctx.saved_tensors else None

    x = xp.ones(2, requires_grad=True)
    xp.utils.checkpoint.checkpoint(function(xp, forward, read), x, use_reentrant=False).sum().backward()
    return [ref() is None for ref in refs]


def saved_tensors_that_go_at_the_first_access(xp, hooks):
    said = []

    def read(ctx, grad):
        (y,) = ctx.saved_tensors
        ref = weakref.ref(y)
        del y
        said.append(ref() is None)
        try:
            said.append(ctx.saved_tensors)
        except RuntimeError as error:
            said.append(str(error))
        return grad

    def keep(ctx, x):
        ctx.save_for_backward(x)
        return x.clone()

    apply = function(xp, keep, read, clear_saved_tensors_on_access=True)
    x = xp.ones(2, requires_grad=True)
    if hooks:
        with xp.autograd.graph.saved_tensors_hooks(lambda x: x.detach().clone(), lambda x: x + 0):
            y = apply(x.clone())
    else:
        y = apply(x.clone())
    y.sum().backward()
    return said


def a_hook_that_enters_its_block_again(xp):
    def run():
        def unpack(x):
            block().__enter__()
            return x

        hooks = xp.autograd.graph.saved_tensors_hooks(lambda x: x, unpack)
        block = weakref.ref(hooks)
        x = xp.ones(2, requires_grad=True)
        with hooks:
            x.sin().sum().backward()
        return weakref.ref(unpack)

    return run()() is None


def a_hook_that_leaves_its_block(xp):
    def unpack(x):
        inner.__exit__()
        return x

    inner, outer = (xp.autograd.graph.saved_tensors_hooks(lambda x: x, how) for how in (unpack, lambda x: x))
    for _ in range(3):
        with outer:
            inner.__enter__()
            xp.ones(2, requires_grad=True).sin().sum().backward()
    for _ in range(4):
        inner.__exit__()
    return type(xp.ones(2, requires_grad=True).exp().grad_fn._raw_saved_result).__name__


def names_of_nodes(xp):
    x = xp.ones(2, requires_grad=True)
    y = x.clone()
    y[0].mul_(2)
    nodes = [(x * 2).grad_fn, (x * 2).grad_fn.next_functions[0][0], y.grad_fn]
    return [(node.name(), type(node).__name__, repr(node).partition(" ")[0]) for node in nodes]


def a_mark_of_a_tensor_that_is_no_argument(xp, view):
    def forward(ctx, x):
        y = x.clone()
        y = y.view_as(y) if view else y
        ctx.mark_dirty(y)
        return y

    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        try:
            return function(xp, forward)(xp.ones(2, requires_grad=True).clone()), len(given)
        except RuntimeError as error:
            return str(error)


def a_warning_of_anomaly_mode_that_is_an_error(xp):
    before, sys.stderr = sys.stderr, io.StringIO()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with xp.autograd.detect_anomaly():
                x = xp.ones(2, requires_grad=True)
                y = x + 1
                z = y**2
                y += 1
                warnings.simplefilter("error")
                z.sum().backward()
    except RuntimeError:
        return "Error detected in PowBackward0" in sys.stderr.getvalue()
    finally:
        sys.stderr = before


def a_gradient_of_batch_norm_in_evaluation(xp, weight):
    x = xp.arange(6.0).view(2, 3).requires_grad_()
    weight = xp.ones(3) if weight else None
    y = xp.nn.functional.batch_norm(x, xp.zeros(3), xp.ones(3) * 2, weight, eps=0.0)
    (grad,) = xp.autograd.grad((y * y.detach()).sum(), x, create_graph=True)
    return grad.requires_grad, grad, xp.autograd.grad(grad.sum(), x, allow_unused=True)[0]


def a_write_to_a_saved_tensor(xp, part):
    x = xp.arange(4.0).requires_grad_()
    with xp.autograd.graph.allow_mutation_on_saved_tensors() as context:
        y = x.clone()
        z = (y**2).sum()
        (y[:2] if part else y).sin_()
        counts = [len(context.cloned)]
        z.backward()
        counts.append(len(context.cloned))
        later = (y**2).sum()
    try:
        later.backward()
    except AssertionError as error:
        return counts, x.grad, str(error)[:60]


def callbacks_of_a_pass(xp):
    log = []

    def first():
        log.append(("first", x.grad is None))
        xp.autograd.Variable._execution_engine.queue_callback(lambda: log.append("second"))

    def queue(ctx, grad):
        xp.autograd.Variable._execution_engine.queue_callback(first)
        return grad

    x = xp.ones(2, requires_grad=True)
    function(xp, lambda ctx, x: x * 2, queue)(x).sum().backward()
    return log


def a_hook_asks_which_nodes_run(xp):
    x, w = xp.ones(2, requires_grad=True), xp.ones(2, requires_grad=True)
    y, log = x * w, []
    nodes = [y.grad_fn, *(node for node, _ in y.grad_fn.next_functions)]
    y.register_hook(lambda grad: log.append([xp._C._will_engine_execute_node(node) for node in nodes]))
    y.sum().backward(inputs=(x,), retain_graph=True)
    y.sum().backward()
    return log, xp._C._current_graph_task_id()


PROGRAMS = [
    (a_write_to_a_saved_tensor, True), (a_write_to_a_saved_tensor, False), (callbacks_of_a_pass,),
    (a_hook_asks_which_nodes_run,),
    (a_function_that_saves_what_it_wrote_to, True), (a_function_that_saves_what_it_wrote_to, False),
    (a_checkpoint_that_stops_early,),
    (saved_tensors_that_go_at_the_first_access, True), (saved_tensors_that_go_at_the_first_access, False),
    (a_hook_that_enters_its_block_again,), (a_hook_that_leaves_its_block,), (names_of_nodes,),
    (a_mark_of_a_tensor_that_is_no_argument, True), (a_mark_of_a_tensor_that_is_no_argument, False),
    (a_warning_of_anomaly_mode_that_is_an_error,),
    (a_gradient_of_batch_norm_in_evaluation, True), (a_gradient_of_batch_norm_in_evaluation, False),
]  # fmt: skip


@in_one_test
@pytest.mark.parametrize("program", PROGRAMS, ids=[f"{program.__name__} {args}" for program, *args in PROGRAMS])
def test_a_program_shows_what_it_shows_on_torch(program):
    run, *args = program
    agree(run, *args)
