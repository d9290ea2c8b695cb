"""Lab 14d, a prediction: the masks of loads and stores in kernels that PyTorch's Inductor has written."""

from __future__ import annotations

import re

from rushlight.course.predictions import ACCESSES

from ...engine.check import program
from ..cases import predicted
from ..shared_08 import modules


@program("course.predictions.masks_of_accesses", **predicted(ACCESSES))
def predicted_masks(rl, program):
    return [*rl.course.predictions.masks_of_accesses(program)]


@predicted_masks.oracle
def recorded_masks(torch, program):
    text = modules()["relu" if program == "example" else program]["text"]
    lines = re.findall(r"tl\.(load|store)\((.*)\)$", text, re.MULTILINE)
    accesses = [(what, re.findall(r"\b(?:\w*mask|None)\b", arguments)) for what, arguments in lines]
    return [f"{what} {' & '.join(sorted(masks))}" for what, masks in accesses]
