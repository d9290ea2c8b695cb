"""Selective checkpoints run the operators again that torch's do, and keep what torch's keep."""

from functools import partial

import pytest
import torch
import torch.utils.checkpoint
from torch.utils._python_dispatch import TorchDispatchMode

import rushlight as rl
from rushlight.c10.dispatch import DispatchMode
from rushlight.utils import checkpoint as ours

POLICIES = {
    "nothing": [],
    "mm": ["aten.mm.default"],
    "several": ["aten.sin.default", "aten.relu.default"],
    "the last": ["aten.exp.default"],
}


def run(xp, names, saved, act=lambda y: None):
    """The operators that a checkpoint calls, and the gradient."""
    seen = []

    class Record({"torch": TorchDispatchMode}.get(xp.__name__, DispatchMode)):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.extend([str(func)] if "detach" not in str(func) else [])
            return func(*args, **(kwargs or {}))

    def policy(ctx, func, *args, **kwargs):
        assert not ctx.is_recompute and ctx.op_output is not None
        return str(func) in saved or names.CheckpointPolicy.PREFER_RECOMPUTE

    x = (xp.arange(12).reshape(3, 4) / 10).requires_grad_()
    weight = (xp.arange(16).reshape(4, 4) / 20).requires_grad_()
    contexts = partial(names.create_selective_checkpoint_contexts, policy)
    with Record():
        y = names.checkpoint(
            lambda x: ((x @ weight).relu() @ weight).sin().exp(), x, use_reentrant=False, context_fn=contexts
        )
        act(y)
        y.sum().backward(retain_graph=True)
    return seen, x.grad.tolist(), y


@pytest.mark.parametrize("policy", POLICIES)
def test_the_same_operators_run_again_and_gradients_are_those_of_torch(policy):
    mine, theirs = run(rl, ours, POLICIES[policy]), run(torch, torch.utils.checkpoint, POLICIES[policy])
    assert mine[0] == theirs[0]
    torch.testing.assert_close(torch.tensor(mine[1]), torch.tensor(theirs[1]))


@pytest.mark.parametrize(("xp", "names"), [(rl, ours), (torch, torch.utils.checkpoint)], ids=["rushlight", "torch"])
def test_a_region_has_one_backward_pass(xp, names):
    *_, y = run(xp, names, POLICIES["mm"])
    with pytest.raises(RuntimeError, match="Trying to backward an extra time"):
        y.sum().backward()


@pytest.mark.parametrize(("xp", "names"), [(rl, ours), (torch, torch.utils.checkpoint)], ids=["rushlight", "torch"])
def test_a_cached_tensor_must_not_be_written_in_place(xp, names):
    def write(y):
        with xp.no_grad():
            y.add_(1)

    with pytest.raises(RuntimeError, match="has been mutated"):
        run(xp, names, ["aten.exp.default"], write)


def test_a_list_of_operators_is_a_policy():
    mm = rl.ops.aten.mm.default
    first, _ = ours.create_selective_checkpoint_contexts([mm])
    x = rl.ones(2, 2)
    with first:
        (x @ x).exp()
    assert [(str(func), entry is ours.RECOMPUTE) for (func, _), entry in first.cache.items()] == [
        ("aten.mm.default", False), ("aten.exp.default", True)
    ]  # fmt: skip
