"""Predictions: the numbers that small programs store."""

from __future__ import annotations

import warnings

from rushlight.course.predictions import QUANTIZED

from ...check import program
from ..cases import predicted


@program("course.predictions.quantized_values", **predicted(QUANTIZED, draws=len(QUANTIZED)))
def quantized_values(rl, program):
    return list(rl.course.predictions.quantized_values(program))


@quantized_values.oracle
def values_of_programs(torch, program):
    from torch.ao.quantization import MinMaxObserver

    names = {"torch": torch, "MinMaxObserver": MinMaxObserver}
    names["quantize_per_tensor"] = torch.ops.quantized_decomposed.quantize_per_tensor
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # quantised tensors are deprecated
        exec(QUANTIZED[program], names)
    return [int(each) for each in names["y"].tolist()]
