"""All pieces together: a small head, trained with fake quantisation and then quantised."""

from __future__ import annotations

from ...engine.check import program
from ..cases import drawn, numbers
from .affine import SCHEMES

_SHORT = {"scheme": "per_tensor_affine", "activation": "moving", "bits": 8, "steps": 1, "freeze": False}


@program(
    "together.fake_quantized_training",
    cases=drawn(scheme=SCHEMES, activation=["moving", "minmax"], bits=[2, 4, 8], steps=(1, 4), freeze=bool),
    edges=[_SHORT | {"scheme": scheme} for scheme in SCHEMES] + [_SHORT | {"bits": 4, "steps": 2, "freeze": True}],
    draws=30,
)
def trained(xp, scheme, activation, bits, steps, freeze):
    quantization, head = xp.ao.quantization, xp.nn.Linear(4, 3)
    with xp.no_grad():
        head.weight.copy_(numbers(xp, [3, 4], 1, "float32"))
        head.bias.copy_(numbers(xp, [3], 2, "float32"))
    watch = quantization.MovingAveragePerChannelMinMaxObserver if "channel" in scheme else quantization.MinMaxObserver
    limits = {"quant_min": -(2 ** (bits - 1)), "quant_max": 2 ** (bits - 1) - 1}
    on_weight = quantization.FakeQuantize(watch, **limits, dtype=xp.int8, qscheme=getattr(xp, scheme))
    watch = quantization.MovingAverageMinMaxObserver if activation == "moving" else quantization.MinMaxObserver
    on_input = quantization.FakeQuantize(watch, quant_min=0, quant_max=2**bits - 1, dtype=xp.uint8)
    optimizer, shown = xp.optim.SGD(head.parameters(), lr=0.125), []
    for step in range(steps):
        if freeze and step == 1:
            on_input.disable_observer()
        optimizer.zero_grad()
        x = numbers(xp, [5, 4], 3 * step, "float32")
        loss = (xp.nn.functional.linear(on_input(x), on_weight(head.weight), head.bias) - 1).pow(2).mean()
        loss.backward()
        optimizer.step()
        shown.append([loss.item(), *_numbers(on_weight), *_numbers(on_input), head.weight.grad.tolist()])
    return shown


def _numbers(fake):
    return [fake.scale, fake.zero_point]
