"""What `xp` is in a program of the clinic whose framework works on torch's tensors: torch, with a few names of rushlight.

On a patient and on the sound framework these names mean rushlight's own operators, classes and functions. On torch they mean
torch's.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from rushlight import distributed

from .observe import observe_call
from .patient_side import READS, Public, entering, send_printed
from .torch_side import TorchSide, call_and_restore

MODULES = ("autograd", "distributed", "linalg", "nn", "optim")


class Xp(Public):
    """torch without the modules that it has imported, and the names of `NAMES`."""

    def __init__(self, on_torch: bool) -> None:
        super().__init__(torch)
        self._on_torch = on_torch

    def __getattr__(self, name: str) -> Any:
        if name == "run_ranks":
            return run_ranks
        if name in NAMES:
            return NAMES[name][self._on_torch]
        value = super().__getattr__(name)
        if isinstance(value, Public) and name not in MODULES:
            raise AttributeError(f"of torch's modules a program uses {', '.join(MODULES)}")
        return value

    def __reduce__(self) -> tuple:
        return Xp, (self._on_torch,)


def run_ranks(work: Callable, ranks: int = 2) -> list:
    """Call `work()` on ranks, each in its own process and from seed 0, and return the results by rank."""
    results = distributed.run_ranks(_on_rank, ranks, work, timeout=60.0, still=1.0)
    operators.extend(results[0][1])
    for *_, entered in results:
        functions.update(entered)
    return [result for result, *_ in results]


operators: list[str] = []  # that the program itself has called on rank 0
functions: dict[str, None] = {}  # of rushlight that any rank has called


def _on_rank(work: Callable) -> tuple[Any, list[str], dict[str, None]]:
    names: list[str] = []
    entered: dict[str, None] = {}
    torch.manual_seed(0)
    return _recorded(names, entered, work), names, entered


def _recorded(names: list[str], entered: dict[str, None], work: Callable, *args: Any) -> Any:
    """Call `work(*args)`. Add the operators that it calls to `names`, and the functions of rushlight that run to `entered`."""
    sys.setprofile(entering(entered))
    try:
        with _Record(names):
            return work(*args)
    finally:
        sys.setprofile(None)


class _Record(TorchFunctionMode):
    """Records the operators that the program itself calls, not those that modules and the frameworks call."""

    PYTHON = (
        "torch",
        "torch.overrides",
        "torch._tensor",
        "torch.functional",
        "torch.nn.functional",
    )  # operators that are functions

    def __init__(self, names: list[str]) -> None:
        super().__init__()
        self.names = names

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        frame: Any = sys._getframe(1)
        while frame.f_globals.get("__name__") in self.PYTHON:
            frame = frame.f_back
        own = not frame.f_globals.get("__name__", "").startswith(("torch.", "rushlight."))
        if own and func.__name__ not in READS and not func.__name__.startswith("_"):
            self.names.append(func.__name__)
        return func(*args, **(kwargs or {}))


# Rushlight's names, and what they mean on torch ----------------------------------------------------------------------


def _data_parallel(module: nn.Module, find_unused_parameters: bool = False) -> nn.Module:
    from rushlight.distributed.ddp import DistributedDataParallel

    return DistributedDataParallel(module, find_unused_parameters=find_unused_parameters)


def _torchs_data_parallel(module: nn.Module, find_unused_parameters: bool = False) -> nn.Module:
    return nn.parallel.DistributedDataParallel(module, find_unused_parameters=find_unused_parameters)


def _fully_sharded(module: nn.Module, units: Sequence[nn.Module] = ()) -> nn.Module:
    from rushlight.distributed.fsdp import FullyShardedDataParallel

    return FullyShardedDataParallel(module, units)


def _torchs_fully_sharded(module: nn.Module, units: Sequence[nn.Module] = ()) -> nn.Module:
    from torch.distributed.fsdp import fully_shard

    mesh = dist.init_device_mesh("cpu", (dist.get_world_size(),))
    for part in [*units, *[module] * (module not in [*units])]:
        fully_shard(part, mesh=mesh)
    return module


def _clip_grad_norm(parameters: Iterable[Tensor], max_norm: float) -> Tensor:
    from rushlight.distributed.fsdp import clip_grad_norm

    return clip_grad_norm([*parameters], max_norm)


def _torchs_clip_grad_norm(parameters: Iterable[Tensor], max_norm: float) -> Tensor:
    norm: Any = nn.utils.clip_grad_norm_([*parameters], max_norm)
    return norm.full_tensor() if hasattr(norm, "full_tensor") else norm


@cache
def _operator() -> Callable:
    from rushlight.on_torch.custom_ops import register_fused_linear

    return register_fused_linear("clinic")


def _fused_linear(x: Tensor, weight: Tensor, bias: Tensor | None = None, activation: str = "none") -> Tensor:
    return _operator()(x, weight, bias, activation)


def _torchs_fused_linear(x: Tensor, weight: Tensor, bias: Tensor | None = None, activation: str = "none") -> Tensor:
    result = nn.functional.linear(x, weight, bias)
    return result if activation == "none" else getattr(nn.functional, activation)(result)


NAMES: dict[str, tuple[Callable, Callable]] = {
    "fused_linear": (_fused_linear, _torchs_fused_linear),
    "DistributedDataParallel": (_data_parallel, _torchs_data_parallel),
    "FullyShardedDataParallel": (_fully_sharded, _torchs_fully_sharded),
    "clip_grad_norm": (_clip_grad_norm, _torchs_clip_grad_norm),
}


def report_on_torch(program: Callable, on_torch: bool) -> None:
    """Print what a program gives, as `report` does."""
    names: list[str] = []
    entered: dict[str, None] = {}
    recorded = partial(_recorded, names, entered, program)
    result = call_and_restore(observe_call, recorded, TorchSide(Xp(on_torch)), {})
    send_printed({"result": result, "operators": names, "functions": [*entered]})


def report_on_ranks(program: Callable, on_torch: bool) -> None:
    """Print what a program that runs functions on ranks gives, as `report` does. Operators are those that the program itself calls
    on rank 0, and functions are those of all ranks."""
    operators.clear()
    functions.clear()
    result = call_and_restore(observe_call, program, TorchSide(Xp(on_torch)), {})
    send_printed({"result": result, "operators": [*operators], "functions": [*functions]})
