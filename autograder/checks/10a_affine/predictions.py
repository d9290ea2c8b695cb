"""Predictions: the numbers that small programs store."""

from __future__ import annotations

import warnings

from rushlight.course.predictions import QUANTIZED

from ...engine.check import program
from ..cases import predicted


@program("course.predictions.quantized_values", **predicted(QUANTIZED, draws=len(QUANTIZED)))
def quantized_values(rl, program):
    return list(rl.course.predictions.quantized_values(program))


@quantized_values.oracle
def values_of_programs(torch, program):
    from torch.ao.quantization import MinMaxObserver
    from torch.ao.quantization.fx import _decomposed

    def quantize_per_tensor(x, scale, zero_point, *rest):
        return _decomposed.quantize_per_tensor(x, float(scale), int(zero_point), *rest)

    names = {"torch": torch, "MinMaxObserver": MinMaxObserver, "quantize_per_tensor": quantize_per_tensor}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # quantised tensors are deprecated
        exec(QUANTIZED[program], names)
    return [int(number) for number in names["y"].tolist()]
