"""FLOPs by formula, against torch's counter."""

import pytest
import torch
import torch.utils.flop_counter

import rushlight as rl
import rushlight.utils.flop_counter


def linear(xp):
    xp.nn.functional.linear(xp.ones(4, 8, requires_grad=True), xp.ones(6, 8, requires_grad=True)).sum().backward()


def batches(xp):
    x = xp.ones(2, 3, 4, requires_grad=True)
    xp.baddbmm(xp.ones(2, 3, 5), x, xp.ones(2, 4, 5)).exp().sum().backward()


def convolution(xp):
    x, w = xp.ones(2, 3, 7, 6, requires_grad=True), xp.ones(4, 3, 2, 3, requires_grad=True)
    xp.nn.functional.conv2d(x, w, stride=2, padding=1).sum().backward()


def elementwise(xp):
    xp.ones(3).exp().sum()


@pytest.mark.parametrize("program", [linear, batches, convolution, elementwise], ids=lambda each: each.__name__)
def test_a_program_has_torchs_flops(program):
    counts = []
    for xp in (rl, torch):
        with xp.utils.flop_counter.FlopCounterMode(display=False) as counter:
            program(xp)
        counts.append({str(name): count for name, count in counter.get_flop_counts().get("Global", {}).items()})
        assert counter.get_total_flops() == sum(counts[-1].values())
    assert counts[0] == counts[1]
