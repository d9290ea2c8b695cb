"""Predictions: the numbers that small programs store."""

from __future__ import annotations

import warnings

from rushlight.course import draws

from ...engine.check import program
from ..cases import PARTS, predicting

for part in PARTS:

    @program(f"course.predictions.quantized_values{part}", **predicting("quantized_values", part))
    def quantized_values(rl, number=0):
        return rl.course.predictions.quantized_values()


@quantized_values.oracle
def values_of_programs(torch, number=0):
    from torch.ao.quantization import MinMaxObserver
    from torch.ao.quantization.fx import _decomposed

    def quantize_per_tensor(x, scale, zero_point, *rest):
        return _decomposed.quantize_per_tensor(x, float(scale), int(zero_point), *rest)

    names = {"torch": torch, "MinMaxObserver": MinMaxObserver, "quantize_per_tensor": quantize_per_tensor}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # quantised tensors are deprecated
        exec(draws.program("quantized_values", number), names)
    return [int(number) for number in names["y"].tolist()]
