"""Predictions: the collectives of a training step, in order, and their bytes."""

from __future__ import annotations

from functools import partial

from rushlight.course import draws

from ...engine.check import program
from ..cases import PARTS, predicting

_answers: dict[int, list[str]] = {}  # torch's, by the numbers of the programs: they are always the same

for part in PARTS:

    @program(f"course.predictions.collectives_of_a_step{part}", **predicting("collectives_of_a_step", part))
    def collectives_of_a_step(rl, number=0):
        return rl.course.predictions.collectives_of_a_step()


def collectives_in_order(torch, number=0):
    """The collectives of one program."""
    return answered([number])[number]


def together(torch, cases):
    """The programs of all cases run on the same ranks, because it takes most of the time to start them."""
    answered([case.get("number", 0) for case in cases])
    return [collectives_in_order] * len(cases)


def answered(numbers):
    """The collectives of programs by their numbers. Ranks are started if there is a number that has no answer yet."""
    from rushlight.distributed import run_ranks

    if others := [number for number in dict.fromkeys(numbers) if number not in _answers]:
        texts = [draws.program("collectives_of_a_step", number) for number in others]
        first, *more = run_ranks(steps, 4, texts, timeout=600)
        assert all(rank == first for rank in more)
        _answers.update(zip(others, first, strict=True))
    return _answers


def steps(texts):
    """On a rank: the collectives of the step in each text."""
    import torch
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard
    from torch.nn.parallel import DistributedDataParallel

    from rushlight.distributed import Traffic

    collectives = []
    for text in texts:
        names = {"torch": torch, "nn": torch.nn, "linear": partial(torch.nn.Linear, bias=False)}
        names |= {each.__name__: each for each in (fully_shard, init_device_mesh, DistributedDataParallel)}
        before, _, after = text.partition("# the step:\n")
        exec(before, names)
        with Traffic() as traffic:
            exec(after, names)
        collectives.append([f"{operation.kind} {operation.nbytes}" for operation in traffic.operations])
    return collectives


collectives_in_order.for_cases = together
collectives_of_a_step.oracle(collectives_in_order)
