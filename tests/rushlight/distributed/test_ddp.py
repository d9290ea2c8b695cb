"""Data parallel training: the same gradients, weights and numbers of messages as with torch's DistributedDataParallel."""

import pytest
from sweep import sweep

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402

from rushlight.distributed import ddp  # noqa: E402
from rushlight.distributed.ranks import run_ranks  # noqa: E402


class Model(nn.Module):
    """Three layers and a buffer. One of the layers may be left out."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4, bias=False) for _ in range(4)])
        self.norm = nn.BatchNorm1d(4, affine=False)

    def forward(self, x, left_out=()):
        for i, layer in enumerate(self.layers):
            x = x if i in left_out else torch.tanh(layer(x))
        return {"y": [self.norm(x)]}


def train(make, left_out, steps=3, together=()):
    """Losses, gradients, weights and counts of all_reduce, of some steps; those in `together` come within no_sync."""
    import torch.distributed as dist

    from rushlight.distributed.traffic import Traffic

    rank = dist.get_rank()
    torch.manual_seed(rank)  # other weights on each, in the beginning
    module = Model().double()
    model = make(module)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1, momentum=0.9)
    seen = []
    for step in range(steps):
        x = torch.arange(8.0).reshape(2, 4).double().cos() * (rank + 1 + step)
        with Traffic() as traffic:
            if step in together:
                with model.no_sync():
                    model(x, left_out[rank])["y"][0].square().sum().backward()
            out = model(x + 1, left_out[rank])["y"][0]
            loss = (out * torch.arange(4)).square().sum()
            loss.backward()
        reduced = traffic.counts["all_reduce"]
        gradients = [None if p.grad is None else p.grad.clone() for p in module.parameters()]
        optimizer.step()
        optimizer.zero_grad()
        seen.append((loss.item(), gradients, [p.detach().clone() for p in module.parameters()], reduced))
    return seen, [b.clone() for b in module.buffers()]


def both(left_out, unused, together):
    from torch.nn.parallel import DistributedDataParallel

    cap = 200 / 2**20
    theirs = train(
        lambda m: DistributedDataParallel(m, bucket_cap_mb=cap, find_unused_parameters=unused), left_out, 3, together
    )
    mine = train(
        lambda m: ddp.DistributedDataParallel(m, limits=[200], find_unused_parameters=unused), left_out, 3, together
    )
    return mine, theirs


@pytest.mark.parametrize(
    ("left_out", "unused", "together"),
    sweep([([(), (), ()], False, ()), ([(), (), ()], False, (1, 2)), ([(1,), (1, 2), (1,)], True, (0, 2))], every=3),
)
def test_training_is_that_of_torch(left_out, unused, together):
    for mine, theirs in run_ranks(both, 3, left_out, unused, together):
        torch.testing.assert_close(mine[1], theirs[1])
        for a, b in zip(mine[0], theirs[0], strict=True):
            torch.testing.assert_close(a[0], b[0])
            assert [g is None for g in a[1]] == [g is None for g in b[1]]
            torch.testing.assert_close([g for g in a[1] if g is not None], [g for g in b[1] if g is not None])
            torch.testing.assert_close(a[2], b[2])
        assert mine[0][-1][3] == theirs[0][-1][3]


def test_buckets_are_those_of_torch():
    tensors = [torch.empty(n, dtype=d) for n, d in [(3, torch.float32), (2, torch.float64), (0, torch.float32)] * 5]
    for limits in ([1], [8, 40], [10, 20, 60], [1 << 40]):
        mine = ddp.assign_buckets(tensors, limits)
        assert mine == torch.distributed._compute_bucket_assignment_by_size(tensors, limits)[0]


def test_the_graph_is_looked_through_to_its_end():
    w = [nn.Parameter(torch.ones(())) for _ in range(4)]
    x = w[1] + 0
    for _ in range(3000):
        x = x + x
    assert ddp.find_unused([{"a": x}, (w[3], 5)], w) == [0, 2]
