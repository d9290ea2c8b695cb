"""Rushlight: PyTorch's internals, rebuilt small enough to read.

`import rushlight as rl` gives a namespace like `torch`: the names, signatures and errors are PyTorch's. Each
part comes from the module that explains it: `strided` is the place to begin.
"""

import warnings
from functools import partialmethod

# ruff: noqa: F403  (each module lists what it gives to this namespace in its `__all__`)
from rushlight import (
    _C,
    creation,
    dispatch,
    dlpack,
    dtypes,
    functional,
    functions,
    indexing,
    iterator,
    library,
    memory_formats,
    pointwise,
    printing,
    schema,
    storage,
    strided,
    structured,
    views,
)
from rushlight.creation import *
from rushlight.dlpack import *
from rushlight.dtypes import *
from rushlight.functional import *
from rushlight.functions import *
from rushlight.library import ops
from rushlight.memory_formats import *
from rushlight.storage import *
from rushlight.strided import *
from rushlight.views import *

warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"rushlight\.")  # numpy's, of overflow and 0/0

__version__ = "0.1.0"


def __getattr__(name: str):
    if name == "draw":  # matplotlib is slow to import, and few programs draw
        from importlib import import_module

        return import_module("rushlight.draw")
    raise AttributeError(f"module 'rushlight' has no {name!r}; it is left out, or not in PyTorch either")


# Last, for they hide Python's own names.
bool = dtypes.bool_
half, float, double, int, long = float16, float32, float64, int32, int64  # noqa: F405

Tensor.T, Tensor.mT = property(Tensor.numpy_T), property(Tensor.mT)  # noqa: F405
for _dtype in dtypes.ALL:  # x.long() and its like
    setattr(Tensor, _dtype.type_name.lower(), partialmethod(Tensor.to, _dtype))  # noqa: F405

__all__ = ["_C", "bool", "half", "float", "double", "int", "long", "ops"]
__all__ += ["indexing", "iterator", "library", "pointwise", "printing", "schema", "structured", "dispatch"]
for _module in creation, dlpack, dtypes, functions, functional, memory_formats, storage, strided, views:
    __all__ += [_module.__name__.rpartition(".")[2], *_module.__all__]
