"""One rank computes with another bias: its shards are cut out of the gathered tensor without their padding.

All ranks send shards of one length, so a short shard is padded. What arrives is the same on all ranks. But a rank that counts the
elements of its own shard, without the padding, finds the next parameter too early. A rank with full shards finds it in its place.
Modelled on pytorch pull request 194457, in which rows of padding appear in a gathered tensor, without an error, if a dimension is
not divisible by the number of ranks, and on issue 176076, about the last rank only.
"""

import torch.distributed as dist

AT = "distributed.fsdp.finish_gather"


def symptom(xp):
    """Train a classifier of three classes whose parameters are sharded over two ranks. Both ranks have the same batch."""

    def work():
        model = xp.nn.Sequential(xp.nn.Linear(2, 4), xp.nn.Tanh(), xp.nn.Linear(4, 3))
        for i, parameter in enumerate(model.parameters()):
            xp.nn.init.constant_(parameter, (i + 1) / 8)
        sharded = xp.FullyShardedDataParallel(model, [model[0], model[2]])
        optimizer = xp.optim.SGD(sharded.parameters(), lr=0.5)
        losses = []
        for step in range(3):
            logits = sharded(xp.tensor([[1.0, -1.0], [0.5, 2.0]]))
            loss = xp.nn.functional.cross_entropy(logits, xp.tensor([2, step % 2]))
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            losses.append(round(loss.item(), 4))
        return losses

    return xp.run_ranks(work, 2)


def finish_gather(unit):
    work, everything = unit.arriving
    work.wait()
    rows, start = everything.view(dist.get_world_size(unit.group), -1), 0
    for parameter in unit.parameters:
        parameter.gathered.untyped_storage().resize_(parameter.gathered.numel() * parameter.gathered.element_size())
        parameter.gathered.view(len(rows), -1).copy_(rows[:, start : start + len(parameter.padded)])
        start += parameter.sharded.numel()
        setattr(parameter.module, parameter.name, parameter.whole)
    unit.arriving, unit.is_gathered = None, True
