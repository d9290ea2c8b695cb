"""Composite operators call others through the dispatcher: a mode sees the same calls on both frameworks."""

import warnings

import pytest
import torch
from sweep import in_one_test
from torch.utils._python_dispatch import TorchDispatchMode

import rushlight as rl


def calls(xp, program):
    """Return the operators that reach a mode, which is below autograd; without overloads, because torch has more of them."""
    seen = []

    class Watch(TorchDispatchMode if xp is torch else rl.dispatch.DispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(func.overloadpacket.__name__)
            return func(*args, **(kwargs or {}))

    x = xp.arange(12, dtype=xp.float32).view(3, 4)
    target = xp.tensor([0, 3, 1])
    weight = xp.ones(4)
    with warnings.catch_warnings(), Watch():
        warnings.simplefilter("ignore")
        program(xp, xp.nn.functional, x, target, weight)
    return seen


PROGRAMS = {
    "chunk": lambda xp, F, x, t, w: x.chunk(2, 1),
    "chunk of nothing": lambda xp, F, x, t, w: x.narrow(1, 0, 0).chunk(2, 1),
    "split": lambda xp, F, x, t, w: x.split(2),
    "split in sizes": lambda xp, F, x, t, w: x.split([1, 2]),
    "narrow": lambda xp, F, x, t, w: x.narrow(0, 1, 2),
    "movedim": lambda xp, F, x, t, w: x.movedim(0, 1),
    "unflatten": lambda xp, F, x, t, w: x.unflatten(1, (2, 2)),
    "mT": lambda xp, F, x, t, w: x.mT,
    "T": lambda xp, F, x, t, w: x.T,
    "view_as": lambda xp, F, x, t, w: x.view_as(x),
    "expand_as": lambda xp, F, x, t, w: w.expand_as(x),
    "broadcast_to": lambda xp, F, x, t, w: xp.broadcast_to(w, (2, 4)),
    "broadcast_tensors": lambda xp, F, x, t, w: xp.broadcast_tensors(w, x),
    "contiguous": lambda xp, F, x, t, w: x.t().contiguous(),
    "contiguous already": lambda xp, F, x, t, w: x.contiguous(),
    "to": lambda xp, F, x, t, w: x.to(xp.float64),
    "to as it is": lambda xp, F, x, t, w: x.to("cpu", xp.float32),
    "type_as": lambda xp, F, x, t, w: x.type_as(t),
    "cast": lambda xp, F, x, t, w: x.double(),
    "stack": lambda xp, F, x, t, w: xp.stack([x, x]),
    "tile": lambda xp, F, x, t, w: x.tile((2,)),
    "embedding": lambda xp, F, x, t, w: F.embedding(t, x.t()),
    "dropout": lambda xp, F, x, t, w: F.dropout(x, 0.5),
    "dropout of all": lambda xp, F, x, t, w: F.dropout(x, 1.0),
    "conv1d": lambda xp, F, x, t, w: F.conv1d(x, xp.ones(2, 3, 2)),
    "conv2d same": lambda xp, F, x, t, w: F.conv2d(x.view(1, 3, 2, 2), xp.ones(2, 3, 2, 1), padding="same"),
    "max_pool2d": lambda xp, F, x, t, w: F.max_pool2d(x[None], 2),
    "adaptive_avg_pool2d": lambda xp, F, x, t, w: F.adaptive_avg_pool2d(x[None], 2),
    "adaptive_avg_pool2d to one": lambda xp, F, x, t, w: F.adaptive_avg_pool2d(x[None], 1),
    "pad": lambda xp, F, x, t, w: F.pad(x, (1, -1)),
    "pad by reflection": lambda xp, F, x, t, w: F.pad(x, (1, 1), "reflect"),
    "pad around": lambda xp, F, x, t, w: F.pad(x, (1, -1), "circular"),
    "nll_loss": lambda xp, F, x, t, w: F.nll_loss(x, t),
    "nll_loss of pictures": lambda xp, F, x, t, w: F.nll_loss(x.view(1, 3, 2, 2), xp.zeros(1, 2, 2, dtype=xp.int64)),
    "cross_entropy": lambda xp, F, x, t, w: F.cross_entropy(x, t, w),
    "mse_loss": lambda xp, F, x, t, w: F.mse_loss(x, x),
    "l1_loss": lambda xp, F, x, t, w: F.l1_loss(x, x),
}


@in_one_test
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_a_mode_sees_the_operators_that_it_sees_in_torch(program):
    assert calls(rl, program) == calls(torch, program)
