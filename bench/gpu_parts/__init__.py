"""The nine parts of the GPU pack: what PyTorch does on an NVIDIA GPU, recorded for readers who have none.

Each module is one part: it begins with its docstring, has a `TITLE`, a `LIMIT` in seconds and `SECTIONS`, and imports nothing of
the others except `recording` (how a section is run and written) and `programs` (what is run). `bench/gpu.py` is the command.
"""

from __future__ import annotations

PARTS = {  # number: module
    1: "dispatch",
    2: "profiles",
    3: "timings",
    4: "triton_code",
    5: "graphs",
    6: "memory",
    7: "ranks",
    8: "course",
    9: "kernels",
}
TOTAL = 470  # seconds that the limits of all parts add up to, at most: with the start, eight minutes
