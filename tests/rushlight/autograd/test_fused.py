"""Two nodes that the engine runs in one step give the gradients of torch, and run one by one where anything comes between them."""

import pytest
import torch

import rushlight as rl
from rushlight.autograd.generated.variable_type import NllLossBackward0
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


def agree(mine, theirs):
    if isinstance(theirs, torch.Tensor):
        assert (mine.stride(), str(mine.dtype)) == (theirs.stride(), str(theirs.dtype).replace("torch", "rushlight"))
        torch.testing.assert_close(torch.tensor(mine.tolist()), theirs.detach().float(), equal_nan=True)
    elif isinstance(theirs, (list, tuple)):
        assert len(mine) == len(theirs)
        for pair in zip(mine, theirs):
            agree(*pair)
    else:
        assert mine == theirs


@pytest.fixture
def runs(monkeypatch):
    """The results of the function for both nodes, one for each call."""
    kind, function = NllLossBackward0.fused
    results = []

    def noting(*args):
        results.append(function(*args))
        return results[-1]

    monkeypatch.setattr(NllLossBackward0, "fused", (kind, noting))
    return results


@pytest.mark.parametrize(
    "program", sorted(ALONE | APART, key=lambda each: each.__name__), ids=lambda each: each.__name__
)
def test_both_nodes_give_the_gradients_of_torch_in_one_step_or_in_two(program, runs):
    agree(program(rl), program(torch))
    assert any(result is not None for result in runs) == (program in ALONE)


def test_a_mode_sees_both_operators(runs):
    seen = []

    class Noting(dispatch.DispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(func.name())
            return func(*args, **(kwargs or {}))

    _, _, loss = forward(rl)
    with Noting():
        loss.backward()
    assert {"aten::nll_loss_backward", "aten::_log_softmax_backward_data"} <= set(seen)
    assert not any(result is not None for result in runs)


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
