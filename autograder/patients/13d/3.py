"""Clipped gradients are too small: the norms of the ranks' shards are added, not their squares.

All ranks get the same norm, so they stay equal, and a norm that is not larger than the limit changes nothing. Modelled on pytorch
issue 170862, about a norm that is not that of all shards together.
"""

import math

import torch
import torch.distributed as dist

AT = "distributed.fsdp.clip_grad_norm"


def symptom(xp):
    """Fit a line with sharded parameters and clipped gradients, on two ranks with a batch each."""

    def work():
        model = xp.nn.Linear(2, 2)
        for i, parameter in enumerate(model.parameters()):
            xp.nn.init.constant_(parameter, i)
        sharded = xp.FullyShardedDataParallel(model)
        optimizer = xp.optim.SGD(sharded.parameters(), lr=0.25, momentum=0.5)
        rank, losses = xp.distributed.get_rank(), []
        for step in range(4):
            x = xp.tensor([[1.0, 2.0], [rank, step]])
            loss = (sharded(x) - x.flip(1)).square().sum()
            loss.backward()
            xp.clip_grad_norm(sharded.parameters(), max_norm=1.5)
            optimizer.step()
            optimizer.zero_grad()
            losses.append(round(loss.item(), 4))
        return losses

    return xp.run_ranks(work, 2)


def clip_grad_norm(parameters, max_norm, norm_type=2.0, group=None):
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    if not gradients:
        return torch.zeros(())
    flat = torch.cat([gradient.reshape(-1) for gradient in gradients]).abs()
    if math.isinf(norm_type):
        norm = flat.max() if len(flat) else flat.new_zeros(())
        dist.all_reduce(norm, op=dist.ReduceOp.MAX, group=group)
    else:
        norm = (flat**norm_type).sum() ** (1 / norm_type)
        dist.all_reduce(norm, group=group)
    scale = (max_norm / (norm + 1e-06)).clamp(max=1.0)
    for gradient in gradients:
        gradient.mul_(scale)
    return norm
