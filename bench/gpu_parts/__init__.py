"""The thirteen parts of the GPU pack: what PyTorch does on an NVIDIA GPU, recorded for readers who have none.

Each module is one part: it begins with its docstring, has a `TITLE`, a `LIMIT` in seconds and `SECTIONS`, and imports nothing of
the others except `recording` (how a section is run and written) and `programs` (what is run). A part with `WORKERS` runs so many of
its sections at once. `bench/gpu.py` is the command.
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
    10: "labs",
    11: "stand_in",
    12: "counts",
    13: "lab_kernels",
}
TOGETHER = {1, 7, 8, 10, 11, 12}  # they measure no times, so they run at once, after the others
TOTAL = 525  # seconds that the limits add up to, at most, where those that run at once count once: with the start, nine minutes
TRITON = {4, 5, 8, 9, 11, 13}  # they compile with Triton, which compiles C against Python's headers
NEEDS = {  # part: packages that torch does not bring, and the module of each
    8: {"pytest": "pytest", "hypothesis": "hypothesis", "cloudpickle==3.1.2": "cloudpickle", "pyyaml": "yaml"}
    | {"expecttest": "expecttest", "pytest-xdist": "xdist"},
    10: {"ipython": "IPython", "babel": "babel", "cloudpickle==3.1.2": "cloudpickle"},
}
