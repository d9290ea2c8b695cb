"""Predictions: the collectives of a training step, in order, and their bytes."""

from __future__ import annotations

from rushlight.course.predictions import STEPS

from ...engine.check import program
from ..cases import predicted
from ..shared_09 import on_ranks


@program("course.predictions.collectives_of_a_step", **predicted(STEPS))
def collectives_of_a_step(rl, program):
    return list(rl.course.predictions.collectives_of_a_step(program))


@collectives_of_a_step.oracle
def collectives_in_order(torch, program):
    @on_ranks
    def step(torch, group, text):
        from torch.distributed.fsdp import fully_shard
        from torch.nn.parallel import DistributedDataParallel

        from rushlight.distributed import Traffic

        names = {"torch": torch, "nn": torch.nn}
        names |= {"fully_shard": fully_shard, "DistributedDataParallel": DistributedDataParallel}
        before, _, after = text.partition("# the step:\n")
        exec(before, names)
        with Traffic() as traffic:
            exec(after, names)
        return [f"{operation.kind} {operation.nbytes}" for operation in traffic.operations]

    first, second = step(torch, ranks=2, text=STEPS[program])
    assert first == second
    return first
