"""torch, as `observe` uses it: the judge's side of every check, and in labs on torch the subject's too.

A case runs in a thread of its own, because most state that a program can leave in torch belongs to the thread: grad and
inference mode, autocast, modes, default device, included and excluded keys, levels of transforms.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from .observe import Tree, tensor_tree

PLAIN = (torch.Tensor, torch.nn.Parameter)


class TorchSide:
    """torch's tensors and dtypes. Programs get `xp`, by default torch itself."""

    def __init__(self, xp: Any = torch):
        self.xp = xp

    def make(self, spec: dict) -> torch.Tensor:
        dtype = getattr(torch, spec["dtype"])
        modulus = {torch.bool: 2, torch.uint8: 256}.get(dtype, 1 << 62)
        storage = torch.arange(spec["storage"]).remainder(modulus).to(dtype)
        return storage.as_strided(spec["sizes"], spec["strides"], spec["offset"])

    def dtype(self, name: str) -> torch.dtype:
        return getattr(torch, name)

    def take(self, value: Any) -> Tree | None:
        if isinstance(value, torch.Tensor):
            if type(value) not in PLAIN or value.device.type != "cpu":
                return {"other": _describe(value)}
            dtype = str(value.dtype).removeprefix("torch.")
            plain = value.detach().contiguous()
            data = (plain.float() if plain.dtype == torch.bfloat16 else plain).numpy().tobytes()
            return tensor_tree(dtype, value.shape, value.stride(), value.storage_offset(), data)
        if isinstance(value, torch.dtype):
            return {"dtype": str(value).removeprefix("torch.")}
        return None


def _describe(x: torch.Tensor) -> str:
    """A tensor without data of its own on the CPU: meta, fake, a wrapper, another device."""
    dtype = str(x.dtype).removeprefix("torch.")
    return f"{type(x).__name__} {dtype} {tuple(x.shape)}, strides {tuple(x.stride())}, on {x.device.type}"


# Other roundings -----------------------------------------------------------------------------------------------------

_BITS = {  # by dtype: integers of its size, and a mask of the last third of the bits after the point (float16 has too few)
    torch.float32: (torch.int32, 2**8 - 1),
    torch.float64: (torch.int64, 2**17 - 1),
}


class OtherRounding(TorchDispatchMode):
    """Move each number that an operator has rounded by one unit in the last place, up or down by chance. With seed 0, move none.

    A number is exact if its last bits are 0, as in integers and small binary fractions, or if an argument has it too, as in a
    maximum. An exact number stays, so what a program decides by exact numbers does too.
    """

    def __init__(self, seed: int):
        super().__init__()
        self.seed, self.generator = seed, torch.Generator().manual_seed(seed)

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        given = [torch.zeros(0).double(), *(x.double().abs().flatten() for x in _floats((args, kwargs)))]
        result = func(*args, **kwargs or {})  # it may change an argument
        for x in _floats(result) if self.seed and self._computes(func) else ():
            integer, mask = _BITS[x.dtype]
            bits, is_exact = x.view(integer), torch.isin(x.double().abs(), torch.cat(given))
            moves = (bits & mask != 0) & x.isfinite() & ~is_exact
            bits += moves * (1 - 2 * torch.randint(2, x.shape, generator=self.generator, dtype=integer))
        return result

    def _computes(self, func: Any) -> bool:
        """Whether an operator is neither a view, nor a copy (in another dtype, too), nor a source of random numbers."""
        return not (func.is_view or "copy" in func.name() or torch.Tag.nondeterministic_seeded in func.tags)


def _floats(values: Any) -> list[torch.Tensor]:
    return [x for x in tree_leaves(values) if type(x) in PLAIN and x.dtype in _BITS and x.device.type == "cpu"]


# A case by itself ----------------------------------------------------------------------------------------------------


def call_and_restore(call: Callable, *args: Any) -> Any:
    """`call(*args)` in a thread of its own, from seed 0. The state that all threads share is restored afterwards.

    It is read and restored in threads of their own too, because a mode that is on in this thread would intercept that.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        make_up_devices()
        before = _in_new_thread(_save_and_seed)
        try:
            return _in_new_thread(call, *args)
        finally:
            _in_new_thread(_restore, before)


def make_up_devices() -> None:
    """Do what the first fake tensor does in a build for CUDA that sees no device: make up eight devices, and their guard.

    In torch 2.11 the guard belongs to the thread that made it. After this thread has ended, each fake tensor reads freed memory.
    So a thread that does not end calls this first. (`c10/core/impl/DeviceGuardImplInterface.cpp`; in 2.13 the guard is static.)
    """
    torch._C._ensureCUDADeviceGuardSet()


_SHARED = [
    (torch.get_rng_state, torch.set_rng_state),
    (torch.get_default_dtype, torch.set_default_dtype),
    (torch.get_float32_matmul_precision, torch.set_float32_matmul_precision),
    (torch.are_deterministic_algorithms_enabled, torch.use_deterministic_algorithms),
    (torch.is_anomaly_enabled, torch.set_anomaly_enabled),
]


def _save_and_seed() -> list:
    before = [get() for get, _ in _SHARED]
    torch.default_generator.manual_seed(0)
    return before


def _restore(before: list) -> None:
    for (get, set_), value in zip(_SHARED, before):
        if get is torch.get_rng_state or get() != value:  # some setters import many modules
            set_(value)
    if "torch._dynamo" in sys.modules:  # Dynamo limits the number of versions of one function
        torch._dynamo.reset()


def _in_new_thread(call: Callable, *args: Any) -> Any:
    outcome: list = []

    def work() -> None:
        try:
            outcome[:] = call(*args), None
        except BaseException as error:
            outcome[:] = None, error

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(1.0)  # with a limit, so that an interrupt arrives
    except (
        BaseException
    ) as interrupt:  # an end of time too: passed on, or the thread may take time from all later cases
        number = ctypes.c_ulong(thread.ident or 0)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(number, ctypes.py_object(type(interrupt)))
        thread.join()
        raise
    result, error = outcome
    if error is not None:
        raise error
    return result
