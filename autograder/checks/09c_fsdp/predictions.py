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
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import fully_shard
        from torch.nn.parallel import DistributedDataParallel

        from rushlight.distributed import Traffic

        names = {"torch": torch, "nn": torch.nn}
        names |= {each.__name__: each for each in (fully_shard, init_device_mesh, DistributedDataParallel)}
        before, _, after = text.partition("# the step:\n")
        exec(before, names)
        with Traffic() as traffic:
            exec(after, names)
        return [f"{operation.kind} {operation.nbytes}" for operation in traffic.operations]

    first, *others = step(torch, ranks=4 if program == "hybrid" else 2, text=STEPS[program])
    assert all(other == first for other in others)
    return first
