"""The kinds of a function's outputs, found before its graph is made, are torch's."""

import random

import pytest
import torch
from torch._functorch._aot_autograd.collect_metadata_analysis import run_functionalized_fw_and_collect_metadata
from torch._functorch._aot_autograd.descriptors import PlainAOTInput
from torch._subclasses.fake_tensor import FakeTensorMode

import rushlight as rl
from rushlight.aot.joint import collect_metadata

STEPS = {
    "unbind": lambda x: x.unbind(0),
    "split": lambda x: x.split(1, 0),
    "select": lambda x: [x.select(0, 0)],
    "unsqueeze": lambda x: [x[None]],
    "flat": lambda x: [x.view(-1)] if x.is_contiguous() else [x + 1],
    "detach": lambda x: [x.detach()],
    "mul": lambda x: [x * 2],
}


def function(steps, outputs):
    """The function of a tensor that calls each step on one of the values so far, and returns some of them."""

    def run(x):
        values = [x]
        for name, place in steps:
            value = values[place % len(values)]
            values.extend(STEPS[name if value.dim() else "mul"](value)[:2])
        return [values[place % len(values)] for place in outputs]

    return run


def drawn(seed):
    draw = random.Random(seed)
    steps = [(draw.choice(list(STEPS)), draw.randrange(9)) for _ in range(draw.randrange(1, 6))]
    return steps, [draw.randrange(12) for _ in range(draw.randrange(1, 4))]


def kinds(outputs, name):
    """For each output its kind, the index of its base, which a new tensor does not need, and whether it requires grad."""
    found = [(name(each.output_type), each.base_idx, each.requires_grad) for each in outputs]
    return [(kind, None if kind == "non_alias" else base, grad) for kind, base, grad in found]


def on_torch(program):
    mode = FakeTensorMode()
    x = mode.from_tensor(torch.ones(3, 2, requires_grad=True))
    collect = run_functionalized_fw_and_collect_metadata(
        program, flat_args_descs=[PlainAOTInput(0)], keep_input_mutations=True
    )
    with mode:
        return kinds(collect(x).output_info, lambda kind: kind.name)


BY_HAND = [
    ([("unbind", 0), ("detach", 1)], [3, 2]),  # a detached part of an `unbind` is a part of it
    ([("unbind", 0), ("unsqueeze", 1)], [3, 2]),
    ([("detach", 0), ("unbind", 0)], [1, 2]),
    ([("mul", 0), ("unsqueeze", 1)], [1, 2, 1]),
]


@pytest.mark.parametrize("programs", [BY_HAND, *([drawn(seed) for seed in range(i, i + 100)] for i in (0, 100, 200))])
def test_the_kinds_of_outputs_are_torchs(programs):
    for steps, outputs in programs:
        run = function(steps, outputs)
        mine = collect_metadata(run, [rl.ones(3, 2).requires_grad_()])
        assert kinds(mine.outputs, str) == on_torch(run), (steps, outputs)
