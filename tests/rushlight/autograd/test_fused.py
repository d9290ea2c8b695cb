"""Two nodes that the engine runs in one step give the gradients of torch, and run one by one where anything comes between them."""

from functools import partial

import pytest
import torch

import rushlight as rl
from rushlight.autograd.generated.variable_type import AddmmBackward0, NllLossBackward0
from rushlight.c10 import dispatch
from rushlight.c10.schema import bind
from rushlight.library import Library

SCORES = [[0.5, -1.0, 2.0, 0.0], [3.0, 3.0, -2.0, 1.0], [-40.0, 90.0, 0.0, 1.0]]


def forward(xp, target=(2, 0, 1), **options):
    x = xp.tensor(SCORES, requires_grad=True)
    scores = xp.nn.functional.log_softmax(x, 1)
    return x, scores, xp.nn.functional.nll_loss(scores, xp.tensor(target), **options)


def plain(xp):
    x, _, loss = forward(xp)
    loss.backward()
    return x.grad


def whole_loss(xp):
    x = xp.tensor(SCORES, dtype=xp.float64, requires_grad=True)
    (xp.nn.functional.cross_entropy(x * 2, xp.tensor([3, 1, 0])) * -3).backward()
    return x.grad


def twice(xp):
    x, _, loss = forward(xp)
    loss.backward(retain_graph=True)
    loss.backward()
    return x.grad


def hook_of_the_loss(xp):
    x, _, loss = forward(xp)
    loss.register_hook(lambda grad: grad * 5)
    loss.backward()
    return x.grad


def refused(program):
    try:
        program()
    except (RuntimeError, IndexError) as error:
        return type(error).__name__
    return "no error"


def freed(xp):
    x, scores, loss = forward(xp)
    loss.backward()
    return x.grad, refused(loss.backward), refused(lambda: scores.sum().backward())


ALONE = {plain, whole_loss, twice, hook_of_the_loss, freed}


def ignored(xp):
    x, _, loss = forward(xp, (2, -100, 1))
    loss.backward()
    return x.grad


def all_ignored(xp):
    x, _, loss = forward(xp, (1, 1, 1), ignore_index=1)
    loss.backward()
    return x.grad


def summed(xp):
    x, _, loss = forward(xp, reduction="sum")
    loss.backward()
    return x.grad


def weighted(xp):
    x, _, loss = forward(xp, weight=xp.tensor([1.0, 2.0, 3.0, 4.0]))
    loss.backward()
    return x.grad


def columns(xp):
    x = xp.tensor(SCORES, requires_grad=True)
    scores = xp.nn.functional.log_softmax(x, 0)
    xp.nn.functional.nll_loss(scores, xp.tensor([2, 0, 1])).backward()
    return x.grad


def shared_scores(xp):
    x, scores, loss = forward(xp)
    (loss + (scores * scores).sum()).backward()
    return x.grad


def scores_shared_before(xp):
    x = xp.tensor(SCORES, requires_grad=True)
    scores = xp.nn.functional.log_softmax(x, 1)
    squares = (scores * scores).sum()
    (xp.nn.functional.nll_loss(scores, xp.tensor([2, 0, 1])) + squares).backward()
    return x.grad


def two_losses(xp):
    x, scores, loss = forward(xp)
    (loss + 2 * xp.nn.functional.nll_loss(scores, xp.tensor([3, 3, 3]))).backward()
    return x.grad


def retained_scores(xp):
    x, scores, loss = forward(xp)
    scores.retain_grad()
    loss.backward()
    return x.grad, scores.grad


def hook_of_the_scores(xp):
    x, scores, loss = forward(xp)
    scores.register_hook(lambda grad: grad * 2)
    loss.backward()
    return x.grad


def hooks_of_the_nodes(xp):
    x, scores, loss = forward(xp)
    seen = []
    loss.grad_fn.register_hook(lambda after, before: seen.append((after[0].clone(), before[0].clone())))
    scores.grad_fn.register_prehook(lambda before: (before[0] * 3,))
    loss.backward()
    return x.grad, seen


def recorded(xp):
    x, _, loss = forward(xp)
    (grad,) = xp.autograd.grad(loss, x, create_graph=True)
    loss.backward(create_graph=True)
    return grad, x.grad, type(x.grad.grad_fn).__name__


def packed(xp):
    unpacked = []
    with xp.autograd.graph.saved_tensors_hooks(lambda x: x * 1, lambda x: unpacked.append(list(x.shape)) or x):
        x, _, loss = forward(xp)
    loss.backward()
    return x.grad, unpacked


def written_scores(xp):
    _, scores, loss = forward(xp)
    scores.detach().add_(1)
    return refused(loss.backward)


def written_target(xp):
    x, target = xp.tensor(SCORES, requires_grad=True), xp.tensor([2, 0, 1])
    loss = xp.nn.functional.cross_entropy(x, target)
    target.add_(1)
    return refused(loss.backward)


APART = {
    ignored, all_ignored, summed, weighted, columns, shared_scores, scores_shared_before, two_losses, retained_scores,
    hook_of_the_scores, hooks_of_the_nodes, recorded, packed, written_scores, written_target,
}  # fmt: skip


# A linear layer: `addmm` and the `t` of its weight ---------------------------------------------------------------------


def layer(xp, batch=3, features=2, outs=4, dtype="float32", needs_input=True):
    """An input, a weight, a bias and the result of a linear layer."""
    dtype = getattr(xp, dtype)
    x = (xp.arange(batch * features, dtype=dtype) - 2).view(batch, features)
    weight = (xp.arange(outs * features, dtype=dtype) * 0.5 - 1).view(outs, features).requires_grad_()
    bias = xp.arange(outs, dtype=dtype).requires_grad_()
    x.requires_grad_(needs_input)
    return x, weight, bias, xp.nn.functional.linear(x, weight, bias)


def grads(*tensors):
    return [tensor.grad for tensor in tensors]


def weighted_sum(xp, y):
    return (y * xp.arange(y.numel(), dtype=y.dtype).view(y.shape)).sum()


def linear_layer(xp):
    x, weight, bias, y = layer(xp)
    weighted_sum(xp, y).backward()
    return grads(x, weight, bias)


def linear_of_data(xp):
    x, weight, bias, y = layer(xp, needs_input=False, dtype="float64")
    weighted_sum(xp, y).backward()
    return grads(weight, bias)


def linear_summed(xp):  # the gradient that arrives is expanded
    x, weight, bias, y = layer(xp)
    y.sum().backward()
    return grads(x, weight, bias)


def two_layers(xp):
    x, weight, bias, y = layer(xp)
    second = (xp.arange(8.0).view(2, 4) - 3).requires_grad_()
    loss = weighted_sum(xp, xp.nn.functional.linear(y.relu(), second, xp.zeros(2)))
    loss.backward()
    return grads(x, weight, bias, second)


def linear_twice(xp):
    x, weight, bias, y = layer(xp)
    loss = weighted_sum(xp, y)
    loss.backward(retain_graph=True)
    loss.backward()
    return grads(x, weight, bias), refused(loss.backward)


def hook_of_the_weight(xp):
    x, weight, bias, y = layer(xp)
    weight.register_hook(lambda grad: grad * 3)
    weighted_sum(xp, y).backward()
    return grads(x, weight, bias)


def linear_of_columns(xp):
    x, weight = xp.arange(6.0).view(2, 3).t(), xp.arange(8.0).view(2, 4).t().clone(memory_format=xp.contiguous_format)
    x.requires_grad_(), weight.requires_grad_()
    weighted_sum(xp, xp.nn.functional.linear(x, weight, xp.zeros(4))).backward()
    return grads(x, weight)


def layers_side_by_side(xp):  # while the nodes of one run, those of the other are ready
    x, weight, bias, y = layer(xp)
    *tensors, z = layer(xp)
    (weighted_sum(xp, y) - weighted_sum(xp, z)).backward()
    return grads(x, weight, bias, *tensors)


LINEAR_ALONE = {
    linear_layer, linear_of_data, linear_summed, two_layers, linear_twice, hook_of_the_weight, linear_of_columns,
    layers_side_by_side,
}  # fmt: skip


def shared_weight(xp):
    x, weight, bias, y = layer(xp)
    weighted_sum(xp, xp.nn.functional.linear(y[:, :2], weight, bias)).backward()
    return grads(x, weight, bias)


def shared_transpose(xp):
    x, weight, bias, _ = layer(xp)
    w = weight.t()
    (weighted_sum(xp, xp.addmm(bias, x, w)) + w.sum()).backward()
    return grads(x, weight, bias)


def strided_weight(xp):  # its transpose is contiguous
    x, weight, _, _ = layer(xp)
    columns = weight.detach().t().clone(memory_format=xp.contiguous_format).t().requires_grad_()
    weighted_sum(xp, xp.addmm(xp.zeros(4), x, columns.t())).backward()
    return grads(x, columns)


def scaled(xp):
    x, weight, bias, _ = layer(xp)
    weighted_sum(xp, xp.addmm(bias, x, weight.t(), beta=2, alpha=3)).backward()
    return grads(x, weight, bias)


def newer_node_ready(xp):  # than the node of the transpose
    x, weight, bias, _ = layer(xp)
    w, order = weight.t(), []
    scaled = x * 3
    weight.register_hook(lambda grad: order.append("weight")), scaled.register_hook(lambda grad: order.append("scaled"))
    (weighted_sum(xp, xp.addmm(bias, x, w)) + scaled.sum()).backward()
    return grads(x, weight, bias), order


def hook_of_the_transpose(xp):
    x, weight, bias, _ = layer(xp)
    w = weight.t()
    w.register_hook(lambda grad: grad * 2)
    weighted_sum(xp, xp.addmm(bias, x, w)).backward()
    return grads(x, weight, bias)


def retained_transpose(xp):
    x, weight, bias, _ = layer(xp)
    w = weight.t()
    w.retain_grad()
    weighted_sum(xp, xp.addmm(bias, x, w)).backward()
    return grads(x, weight, bias, w)


def linear_recorded(xp):
    x, weight, bias, y = layer(xp)
    (grad,) = xp.autograd.grad(weighted_sum(xp, y), weight, create_graph=True)
    (grad * grad).sum().backward()
    return grad, x.grad


def linear_packed(xp):
    with xp.autograd.graph.saved_tensors_hooks(lambda x: x * 2, lambda x: x):
        x, weight, bias, y = layer(xp)
    weighted_sum(xp, y).backward()
    return grads(x, weight, bias)


def written_input(xp):
    x, weight, bias, y = layer(xp)
    x.detach().add_(1)
    return refused(weighted_sum(xp, y).backward)


def written_weight(xp):
    x, weight, bias, y = layer(xp)
    weight.detach().add_(1)
    return refused(weighted_sum(xp, y).backward)


def under_autocast(xp):
    x, weight, bias, y = layer(xp)
    with xp.autocast("cpu", dtype=xp.float16):
        (y * 0.3).sum().backward()
    return grads(x, weight, bias)


def no_rows(xp):
    x, weight, bias, y = layer(xp, batch=0)
    y.sum().backward()
    return grads(x, weight, bias)


LINEAR_APART = {
    shared_transpose, strided_weight, scaled, hook_of_the_transpose, retained_transpose, linear_recorded, linear_packed,
    written_input, written_weight, under_autocast, newer_node_ready,
}  # fmt: skip


def agree(mine, theirs):
    if isinstance(theirs, torch.Tensor):
        assert (mine.stride(), str(mine.dtype)) == (theirs.stride(), str(theirs.dtype).replace("torch", "rushlight"))
        torch.testing.assert_close(torch.from_numpy(mine.detach().numpy()), theirs.detach(), equal_nan=True)
    elif isinstance(theirs, (list, tuple)):
        assert len(mine) == len(theirs)
        for pair in zip(mine, theirs):
            agree(*pair)
    else:
        assert mine == theirs


@pytest.fixture
def runs(monkeypatch):
    """The results of the functions for both nodes, one for each call, by the class of the first node."""
    results = {}

    def noting(node, function, *args):
        results.setdefault(node, []).append(function(*args))
        return results[node][-1]

    for node in NllLossBackward0, AddmmBackward0:
        place, kind, function = node.fused
        monkeypatch.setattr(node, "fused", (place, kind, partial(noting, node, function)))
    return results


def ran(runs, node):
    return any(result is not None for result in runs.get(node, ()))


def by_name(programs):
    return pytest.mark.parametrize(
        "program", sorted(programs, key=lambda each: each.__name__), ids=lambda each: each.__name__
    )


@by_name(ALONE | APART)
def test_the_nodes_of_a_loss_give_the_gradients_of_torch_in_one_step_or_in_two(program, runs):
    agree(program(rl), program(torch))
    assert ran(runs, NllLossBackward0) == (program in ALONE)


@by_name(LINEAR_ALONE | LINEAR_APART | {shared_weight, no_rows})
def test_the_nodes_of_a_linear_layer_give_the_gradients_of_torch_in_one_step_or_in_two(program, runs):
    agree(program(rl), program(torch))
    if program in LINEAR_ALONE | LINEAR_APART:
        assert ran(runs, AddmmBackward0) == (program in LINEAR_ALONE)


def test_a_mode_sees_both_operators(runs):
    seen = []

    class Noting(dispatch.DispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(func.name())
            return func(*args, **(kwargs or {}))

    _, _, loss = forward(rl)
    *_, y = layer(rl)
    with Noting():
        loss.backward()
        y.sum().backward()
    assert {"aten::nll_loss_backward", "aten::_log_softmax_backward_data", "aten::mm", "aten::t"} <= set(seen)
    assert not ran(runs, NllLossBackward0) and not ran(runs, AddmmBackward0)


@pytest.mark.parametrize("name, key", [("mm", "CPU"), ("t", "CompositeExplicitAutograd"), ("sum.dim_IntList", "CPU")])
def test_a_kernel_from_a_library_is_called_for_a_linear_layer(name, key, runs):
    operator, calls = dispatch.operators[f"aten::{name}"], []
    kernel = operator.kernels[dispatch.DispatchKey[key]].function
    library = Library("aten", "IMPL")

    def counted(*args, **kwargs):
        calls.append(name)
        return kernel(*bind(operator.schema, args, kwargs))

    library.impl(name, counted, key)
    try:
        x, weight, bias, y = layer(rl)
        y.sum().backward()
    finally:
        library._destroy()
    assert calls and not ran(runs, AddmmBackward0)


@pytest.mark.parametrize("name", ["nll_loss_backward", "_log_softmax_backward_data", "nll_loss_nd", "log_softmax.int"])
def test_a_kernel_from_a_library_is_called(name):
    key = "CPU" if "backward" in name else "CompositeImplicitAutograd"
    operator, calls = dispatch.operators[f"aten::{name}"], []
    kernel = operator.kernels[dispatch.DispatchKey[key]].function

    def counted(*args, **kwargs):
        calls.append(name)
        return kernel(*bind(operator.schema, args, kwargs))

    library = Library("aten", "IMPL")
    library.impl(name, counted, key)
    try:
        x = rl.tensor(SCORES, requires_grad=True)
        rl.nn.functional.cross_entropy(x, rl.tensor([2, 0, 1])).backward()
    finally:
        library._destroy()
    assert calls == [name]
