"""Rushlight: PyTorch's internals, rebuilt small enough to read.

`import rushlight as rl` gives a namespace like `torch`: the names, signatures and errors are PyTorch's. Each
part comes from the module that explains it. Start with `strided`.
"""

import sys
import warnings
from functools import partialmethod as _partialmethod
from importlib import import_module as _import_module
from importlib.machinery import PathFinder as _PathFinder
from math import e, inf, nan, pi
from types import ModuleType as _ModuleType

if not (3, 11) <= sys.version_info < (3, 14):
    raise ImportError(
        f"Rushlight needs Python 3.11 to 3.13, and {sys.executable} is {sys.version.split()[0]}:"
        " `make lab` in the course's folder starts the Python that the course was installed into"
    )
try:
    import numpy as _numpy  # all other modules need it
except ModuleNotFoundError:
    raise ImportError(
        f"{sys.executable} has no numpy: it is not the Python that the course was installed into;"
        " `make lab` in the course's folder starts the right one"
    ) from None

# Each module's `__all__` lists its names in this namespace. A module itself has PyTorch's path, and in labs and readings a short
# name: `rl.strided` is `rushlight.aten.strided`.
# ruff: noqa: F401, F403, F405
from rushlight import _C, _ops, amp, aten, autograd, backends, c10, library, linalg, nn, optim, serialization, utils
from rushlight.amp import GradScaler
from rushlight.amp.autocast_mode import *
from rushlight.aten import indexing as _indexing  # gives `Tensor` its brackets
from rushlight.aten.dlpack import *
from rushlight.aten.functional import *
from rushlight.aten.generated import register_kernels as _register_kernels  # registers the kernels
from rushlight.aten.generated.functions import *
from rushlight.aten.native import attention as _attention
from rushlight.aten.native.creation import *
from rushlight.aten.native.random import *
from rushlight.aten.native.views import *
from rushlight.aten.parallel import *
from rushlight.aten.printing import *
from rushlight.aten.strided import *
from rushlight.autograd.anomaly_mode import *
from rushlight.autograd.grad_mode import *
from rushlight.backends import *
from rushlight.c10 import dtypes as _dtypes
from rushlight.c10.cuda.caching_allocator import OutOfMemoryError
from rushlight.c10.dtypes import *
from rushlight.c10.exception import *
from rushlight.c10.memory_formats import *
from rushlight.c10.qschemes import *
from rushlight.c10.storage import *
from rushlight.c10.type_info import *
from rushlight.library import ops
from rushlight.serialization import load, save

warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"rushlight\.")  # numpy warns of overflow and 0/0

__version__ = "0.1.0"


def __getattr__(name: str):
    if _PathFinder.find_spec(f"rushlight.{name}", __path__):  # only some programs compile, draw or need real torch
        return _import_module(f"{__name__}.{name}")  # which may be `torch`: see `course/as_torch.py`
    if name == "compile":
        return _import_module(f"{__name__}.dynamo").compile
    from rushlight.course.short_names import SHORT_NAMES

    if name in SHORT_NAMES:
        return _import_module(f"rushlight.{SHORT_NAMES[name]}")
    raise AttributeError(
        f"module {__name__!r} has no attribute {name!r}: rushlight leaves it out, or PyTorch has no such name"
    )


def _load_library(source: str):
    from rushlight.inductor import codecache  # the compiler is slow to import

    return codecache.load_kernels(source)


_attention.load_library = _load_library

# Last, because these names hide Python's own.
bool = _dtypes.bool_
promote_types, result_type = _dtypes.promote_any, _dtypes.common_dtype
half, float, double, short, int, long = float16, float32, float64, int16, int32, int64

newaxis = None

Tensor.T, Tensor.mT = property(Tensor.numpy_T), property(Tensor.mT)
for _dtype in _dtypes.ALL:  # x.long(), x.float() and so on
    setattr(Tensor, _dtype.type_name.lower(), _partialmethod(Tensor.to, _dtype))
Tensor.cpu = _partialmethod(Tensor.to, "cpu")

__all__ = [
    "bool",
    "half",
    "float",
    "double",
    "short",
    "int",
    "long",
    "ops",
    "e",
    "inf",
    "nan",
    "newaxis",
    "pi",
    "GradScaler",
    "load",
    "save",
]
__all__ += [
    name
    for name, value in [*globals().items()]
    if isinstance(value, _ModuleType) and value.__name__ == f"rushlight.{name}"  # PyTorch's own packages
]
for _module in (
    "aten.strided", "aten.functional", "aten.dlpack", "aten.generated.functions", "aten.native.creation", "aten.native.random",
    "aten.native.views", "aten.parallel", "aten.printing", "amp.autocast_mode", "autograd.anomaly_mode", "autograd.grad_mode",
    "backends", "c10.dtypes", "c10.exception", "c10.memory_formats", "c10.qschemes", "c10.storage", "c10.type_info",
):  # fmt: skip
    __all__ += sys.modules[f"rushlight.{_module}"].__all__
