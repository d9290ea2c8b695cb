"""Rushlight: PyTorch's internals, rebuilt small enough to read.

`import rushlight as rl` gives a namespace like `torch`: the names, signatures and errors are PyTorch's. Each
part comes from the module that explains it: `strided` is the place to begin.
"""

import sys
import warnings
from functools import partialmethod

if not (3, 11) <= sys.version_info < (3, 14):
    raise ImportError(
        f"Rushlight needs Python 3.11 to 3.13, and {sys.executable} is {sys.version.split()[0]}:"
        " `make lab` in the course's folder starts the one that the course was installed into"
    )
try:
    import numpy as _numpy  # noqa: F401  (all that follows needs it)
except ModuleNotFoundError:
    raise ImportError(
        f"{sys.executable} has no numpy: it is not the Python that the course was installed into;"
        " `make lab` in the course's folder starts that one"
    ) from None

# ruff: noqa: F403  (each module lists what it gives to this namespace in its `__all__`)
from rushlight import (
    _C,
    autocast_mode,
    autograd,
    checkpoint,
    clip_grad,
    containers,
    creation,
    data,
    dispatch,
    dlpack,
    dtypes,
    elementary,
    engine,
    function,
    functional,
    functions,
    grad_mode,
    gradcheck,
    graph,
    history,
    indexing,
    initialisation,
    iterator,
    library,
    linear_algebra,
    losses,
    memory_formats,
    modules,
    nn,
    normalisation,
    optim,
    parameter,
    pointwise,
    printing,
    random,
    reductions,
    schedules,
    schema,
    state_dict,
    storage,
    strided,
    structured,
    utils,
    variable,
    views,
)
from rushlight.autocast_mode import *
from rushlight.creation import *
from rushlight.dlpack import *
from rushlight.dtypes import *
from rushlight.functional import *
from rushlight.functions import *
from rushlight.grad_mode import *
from rushlight.library import ops
from rushlight.memory_formats import *
from rushlight.random import *
from rushlight.storage import *
from rushlight.strided import *
from rushlight.views import *

history.register()

warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"rushlight\.")  # numpy's, of overflow and 0/0

__version__ = "0.1.0"


# These work on real torch, and import it.
_BENCH = ("trace", "custom_ops", "cpp_ops", "triton_ops", "wrapper", "backend", "distributed")
_COMPILER = ("fx", "dynamo", "aot", "inductor")


def __getattr__(name: str):
    # few programs compile or draw, and matplotlib is slow to import
    if name in ("cpp", "draw", "grammar", *_COMPILER, *_BENCH):
        from importlib import import_module

        return import_module(f"rushlight.{name}")
    if name == "compile":
        from rushlight.dynamo import compile

        return compile
    raise AttributeError(f"module 'rushlight' has no {name!r}; it is left out, or not in PyTorch either")


# Last, for they hide Python's own names.
bool = dtypes.bool_
half, float, double, int, long = float16, float32, float64, int32, int64  # noqa: F405

Tensor.T, Tensor.mT = property(Tensor.numpy_T), property(Tensor.mT)  # noqa: F405
for _dtype in dtypes.ALL:  # x.long() and its like
    setattr(Tensor, _dtype.type_name.lower(), partialmethod(Tensor.to, _dtype))  # noqa: F405

__all__ = ["_C", "nn", "optim", "utils", "bool", "half", "float", "double", "int", "long", "ops"]
__all__ += [
    "autograd",
    "checkpoint",
    "clip_grad",
    "containers",
    "data",
    "dispatch",
    "elementary",
    "engine",
    "function",
    "gradcheck",
    "graph",
    "history",
    "indexing",
    "initialisation",
    "iterator",
    "library",
    "linear_algebra",
    "losses",
    "modules",
    "normalisation",
    "parameter",
    "pointwise",
    "printing",
    "reductions",
    "schedules",
    "schema",
    "state_dict",
    "structured",
    "variable",
]
for _module in (
    autocast_mode,
    creation,
    dlpack,
    dtypes,
    functions,
    functional,
    grad_mode,
    memory_formats,
    random,
    storage,
    strided,
    views,
):
    __all__ += [_module.__name__.rpartition(".")[2], *_module.__all__]
