"""What a script asks about devices and libraries: the answers of PyTorch's build for CPUs.

A script probes `torch.backends.mps.is_available()`, or sets `torch.backends.cudnn.deterministic`, and goes on with the CPU. Each
entry of `_MODULES` is a module with such names. In PyTorch they are files: `torch/backends/cudnn/__init__.py`,
`torch/accelerator/__init__.py`, `torch/version.py`, and so on.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any, NoReturn

from rushlight.c10 import storage
from rushlight.c10.context import context
from rushlight.c10.dispatch import local
from rushlight.c10.storage import Device

__all__ = [
    "are_deterministic_algorithms_enabled", "get_default_device", "get_float32_matmul_precision",
    "is_deterministic_algorithms_warn_only_enabled", "set_default_device", "set_float32_matmul_precision",
    "use_deterministic_algorithms",
]  # fmt: skip

__path__: list[str] = []  # a package, whose modules are below
PYTORCH = "2.13.0"  # the version whose behaviour rushlight has


def returns(value: Any) -> Callable[..., Any]:
    """A function that returns this value, with any arguments."""
    return lambda *args, **kwargs: value


def refuses(error: type[Exception], message: str) -> Callable[..., NoReturn]:
    """A function that raises this error, with any arguments."""

    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise error(message)

    return refuse


def own_functions(module: str, names: dict[str, Any]) -> dict[str, Any]:
    """The names, where each name has a function of its own, of this module, in place of one that several names share."""
    names = {**names}
    for name, value in names.items():
        if isinstance(value, FunctionType) and value.__name__ != name:
            names[name] = FunctionType(value.__code__, value.__globals__, name, value.__defaults__, value.__closure__)
            names[name].__kwdefaults__ = value.__kwdefaults__
            names[name].__module__, names[name].__qualname__ = module, name
    return names


@contextmanager
def flags(**_: Any) -> Iterator[None]:
    """Settings of a library that is not here change nothing."""
    yield


def same(value: Any, *_: Any, **__: Any) -> Any:
    """A decorator of functions and classes that changes nothing."""
    return value


no = returns(False)
"""Return False: a build without the feature does not have it."""
none = returns(None)
"""Return None: a build without the feature does nothing."""
nothing = returns(0)
"""Return 0: a build without the feature has none of it."""
without_mps = refuses(RuntimeError, "this needs the MPS backend, and PyTorch's build for CPUs has none")
"""A function of `torch.mps` on a machine without MPS: it raises a `RuntimeError`."""
without_accelerator = refuses(RuntimeError, "Cannot access accelerator device when none is available.")
"""A function of `torch.accelerator` on a machine without one: it raises a `RuntimeError`."""
without_script = refuses(NotImplementedError, "rushlight leaves out TorchScript: see torch.compile and torch.export")
"""A function of `torch.jit` that needs TorchScript: it raises a `NotImplementedError`."""
without_hub = refuses(RuntimeError, "rushlight downloads nothing: torch.hub has no models and no files here")
"""A function of `torch.hub` that would download files: it raises a `RuntimeError`."""

# Rushlight always computes float32 in full, and in the same order.


def set_float32_matmul_precision(precision: str) -> None:
    """Set how precise float32 matrix products must be."""
    context.float32_matmul_precision = precision


def get_float32_matmul_precision() -> str:
    """How precise float32 matrix products must be."""
    return context.float32_matmul_precision


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Let operators without a deterministic algorithm raise an error, or warn."""
    context.deterministic_algorithms, context.deterministic_algorithms_warn_only = mode, warn_only


def are_deterministic_algorithms_enabled() -> bool:
    """Whether operators must be deterministic."""
    return context.deterministic_algorithms


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether an operator that is not deterministic warns only."""
    return context.deterministic_algorithms_warn_only


def set_default_device(device: Device) -> None:
    """From now on, tensors are made on this device by default, and on the CPU if it is None. A device that PyTorch's build for CPUs
    lacks raises its error when a tensor is made. Source: `torch/__init__.py`, `set_default_device`."""
    local.default_devices[:] = [] if device is None else [storage.device(device)]


def get_default_device() -> storage.device:
    """The device on which new tensors are made by default. A device that PyTorch's build for CPUs lacks raises its error."""
    return local.default_devices[-1].here() if local.default_devices else storage.device("cpu")


_MODULES: dict[str, dict[str, Any]] = {
    "backends.cuda": {"is_built": no, "sdp_kernel": flags, "matmul": SimpleNamespace(allow_tf32=False)},
    "backends.cudnn": {
        "enabled": True, "benchmark": False, "deterministic": False, "allow_tf32": True, "benchmark_limit": None,
        "is_available": no, "version": none, "flags": flags,
    },
    "backends.mkldnn": {"is_available": no, "enabled": True, "deterministic": False, "flags": flags},
    "backends.mps": {"is_available": no, "is_built": no},
    "accelerator": {
        "is_available": no, "device_count": nothing, "current_accelerator": none,
        **dict.fromkeys(
            ("current_device_index", "set_device_index", "current_stream", "synchronize", "empty_cache", "memory_allocated",
             "max_memory_allocated", "memory_reserved", "max_memory_reserved", "reset_peak_memory_stats"),
            without_accelerator,
        ),
    },
    "cpu": {"is_available": returns(True), "device_count": returns(1), "current_device": returns("cpu"), "synchronize": none},
    "mps": {
        "is_available": no, "device_count": nothing, "manual_seed": none,
        **dict.fromkeys(("empty_cache", "synchronize", "current_allocated_memory"), without_mps),
    },
    "xpu": {"is_available": no, "device_count": nothing, "empty_cache": none, "manual_seed_all": none},
    "hub": dict.fromkeys(
        ("load", "list", "help", "load_state_dict_from_url", "download_url_to_file", "get_dir", "set_dir"), without_hub
    ),
    "jit": {
        **dict.fromkeys(("script", "ignore", "unused", "export", "script_method"), same),  # Python computes what a script would
        **dict.fromkeys(("trace", "trace_module", "save", "load", "freeze", "optimize_for_inference"), without_script),
        "is_scripting": no, "is_tracing": no,
    },
    "utils.model_zoo": {"load_url": without_hub},
    "version": {"__version__": PYTORCH, "cuda": None, "hip": None, "xpu": None, "debug": False, "git_version": "unknown"},
}  # fmt: skip


for _name, _names in _MODULES.items():
    _parent, _, _last = f"rushlight.{_name}".rpartition(".")
    _module = sys.modules[f"rushlight.{_name}"] = ModuleType(f"rushlight.{_name}", f"Names of `torch.{_name}`.")
    _module.__dict__.update(own_functions(_module.__name__, _names))
    setattr(import_module(_parent), _last, _module)
"""The names of each entry of `_MODULES` are in a module of their own, such as `jit.script` and `version.cuda`. `jit.script` and
`jit.ignore` return the function that they get, because Python runs it."""
