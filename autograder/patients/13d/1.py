"""A head goes on learning from a batch of an earlier step: the bucket keeps old numbers in the place of a gradient that is missing.

A rank that has not used a parameter has no gradient of it. Its part of the bucket must be zeros, because other ranks may have used
the parameter, and the all-reduce adds up what all ranks have there. The first backward is right, because a new bucket is zeros.
Modelled on the review of pytorch pull request 34904, which explains that the slot of an unused parameter is filled with zeros
before the all-reduce, and on issue 28294, about gradients of parameters that only other ranks have used.
"""

import torch.distributed as dist

AT = "distributed.ddp.mark_ready"


def symptom(xp):
    """Train two heads on a common trunk, on two ranks. In each step a rank has a batch for one of the heads."""

    def work():
        model = xp.nn.ModuleDict({name: xp.nn.Linear(2, 2, bias=False) for name in ("trunk", "cats", "dogs")})
        for layer in model.values():
            xp.nn.init.ones_(layer.weight)
        model.forward = lambda x, head: model[head](model["trunk"](x))
        parallel = xp.DistributedDataParallel(model, find_unused_parameters=True)
        optimizer = xp.optim.SGD(parallel.parameters(), lr=0.125)
        rank, seen = xp.distributed.get_rank(), []
        for heads in [("cats", "cats"), ("cats", "dogs"), ("dogs", "cats")]:
            optimizer.zero_grad()
            parallel(xp.ones(1, 2) * (rank + 1), heads[rank]).mean().backward()
            optimizer.step()
            seen.append({head: round(model[head].weight.sum().item(), 3) for head in ("cats", "dogs")})
        return seen

    return xp.run_ranks(work, 2)[0]


def mark_ready(reducer, parameter):
    number, place = reducer.places[parameter]
    bucket = reducer.buckets[number]
    if parameter.grad is not None:
        bucket.views[place].copy_(parameter.grad / dist.get_world_size(reducer.group))
    bucket.pending -= 1
    while reducer.launched < len(reducer.buckets) and (not reducer.buckets[reducer.launched].pending):
        full = reducer.buckets[reducer.launched]
        full.work = dist.all_reduce(full.buffer, group=reducer.group, async_op=True)
        reducer.launched += 1
