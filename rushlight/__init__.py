"""Rushlight: PyTorch's internals, rebuilt small enough to read.

`import rushlight as rl` gives a namespace like `torch`: the names, signatures and errors are PyTorch's. Each
part comes from the module that explains it: `strided` is the place to begin.
"""

# ruff: noqa: F403  (each module lists what it gives to this namespace in its `__all__`)

from rushlight import creation, dlpack, dtypes, elementwise, indexing, memory_formats, printing, storage, strided, views
from rushlight.creation import *
from rushlight.dlpack import *
from rushlight.dtypes import *
from rushlight.elementwise import *
from rushlight.memory_formats import *
from rushlight.storage import *
from rushlight.strided import *
from rushlight.views import *

__version__ = "0.1.0"


def __getattr__(name: str):
    if name == "draw":  # matplotlib is slow to import, and few programs draw
        from importlib import import_module

        return import_module("rushlight.draw")
    raise AttributeError(f"module 'rushlight' has no {name!r}; it is left out, or not in PyTorch either")


# Last, for they hide Python's own names.
bool = dtypes.bool_
half, float, double, int, long = float16, float32, float64, int32, int64  # noqa: F405

__all__ = ["bool", "half", "float", "double", "int", "long", "indexing", "printing"]
for _module in creation, dlpack, dtypes, elementwise, memory_formats, storage, strided, views:
    __all__ += [_module.__name__.rpartition(".")[2], *_module.__all__]
