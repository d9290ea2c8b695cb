"""Fully sharded training: the same shards, gradients, weights and numbers of messages as with torch's fully_shard."""

import pytest
from sweep import sweep

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402

from rushlight.distributed import fsdp  # noqa: E402
from rushlight.distributed.ranks import run_ranks  # noqa: E402


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 5)
        self.layers = nn.Sequential(*[nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 5)) for _ in range(3)])
        self.scale = nn.Parameter(torch.tensor([0.5]))

    def forward(self, x):
        return self.layers(torch.tanh(self.first(x))) * self.scale


def train(model, parameters, step_of, local):
    import torch.distributed as dist
    from torch.distributed.tensor.debug import CommDebugMode

    seen = []
    for step in range(3):
        x = torch.arange(8.0).reshape(2, 4).double().cos() * (dist.get_rank() + 1 + step)
        with CommDebugMode() as counts:
            loss = model(x).square().sum()
            loss.backward()
        counted = {str(op): n for op, n in counts.get_comm_counts().items()}
        gradients = [local(p.grad).clone() for p in parameters]
        step_of(parameters)
        seen.append((loss.item(), gradients, [local(p).detach().clone() for p in parameters], counted))
    return seen


def both(reshard, forward, backward):
    from torch.distributed.fsdp import fully_shard

    torch.manual_seed(0)
    model = Model().double()
    for each in model.layers:
        fully_shard(each, reshard_after_forward=reshard)
    fully_shard(model)
    parameters = [*model.parameters()]
    optimizer = torch.optim.AdamW(parameters, lr=0.1)

    def torch_step(parameters):
        torch.nn.utils.clip_grad_norm_(parameters, 0.3)
        optimizer.step()
        optimizer.zero_grad()

    theirs = train(model, parameters, torch_step, lambda p: p.to_local())

    torch.manual_seed(0)
    inner = Model().double()
    mine = fsdp.FullyShardedDataParallel(
        inner, inner.layers, reshard_after_forward=reshard, forward_prefetch=forward, backward_prefetch=backward
    )
    parameters, states, peak = [*inner.parameters()], {}, []
    for each in inner.layers:
        each[1].register_forward_hook(lambda *_: peak.append(mine.gathered_bytes()))
        each[1].register_full_backward_hook(lambda *_: peak.append(mine.gathered_bytes()))

    def my_step(parameters):
        fsdp.clip_grad_norm(parameters, 0.3)
        fsdp.adamw_step(parameters, states, lr=0.1)
        for each in parameters:
            each.grad = None

    mine_seen = train(mine, parameters, my_step, lambda p: p)
    shapes = [(tuple(p.shape), p.untyped_storage().nbytes()) for p in parameters]
    wanted = [(tuple(p.to_local().shape), p.to_local().untyped_storage().nbytes()) for p in model.parameters()]
    with torch.no_grad():
        mine(torch.ones(2, 4).double())
    return mine_seen, theirs, (shapes, wanted), max(peak), mine.gathered_bytes()


@pytest.mark.skipif(not hasattr(torch.distributed, "all_gather_single"), reason="needs torch 2.13")
@pytest.mark.parametrize(
    ("reshard", "forward", "backward"), sweep([(True, 0, 1), (False, 0, 1), (True, 2, 2)], every=3)
)
def test_training_is_that_of_torch(reshard, forward, backward):
    for mine, theirs, (shapes, wanted), peak, left in run_ranks(both, 3, reshard, forward, backward):
        assert shapes == wanted
        for a, b in zip(mine, theirs, strict=True):
            torch.testing.assert_close(a[:3], b[:3])
            assert a[3] == b[3]
        assert left == 0
        unit, rest = 8 * 3 * (3 * 5 + 3 + 2 * 7 + 2), 8 * 3 * (2 * 4 + 2 + 1)
        assert peak <= rest + 3 * unit if not reshard else peak <= rest + (1 + max(forward, backward)) * unit


def test_a_chain_is_worked_through_in_this_order():
    assert fsdp.order_of_work([True, False]) == [
        *[("gather", 0), ("forward", 0), ("free", 0), ("gather", 1), ("forward", 1)],
        *[("gather", 0), ("backward", 1), ("free", 1), ("reduce", 1), ("backward", 0), ("free", 0), ("reduce", 0)],
    ]
