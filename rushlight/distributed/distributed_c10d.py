"""A process group of one rank, so that a program for several processes runs as one. In PyTorch:
`torch/distributed/distributed_c10d.py`. Groups of several ranks are torch's own: `rushlight.distributed.run_ranks` makes them."""

import os
from collections.abc import Callable
from enum import Enum
from types import SimpleNamespace
from typing import Any

ReduceOp = Enum("ReduceOp", "SUM AVG PRODUCT MIN MAX")
"""How `all_reduce` and the other reductions combine the tensors of the ranks.
Source: `torch/csrc/distributed/c10d/Types.hpp`, `ReduceOp`."""
_world: list[str] = []  # the backend of the default group


def returns(value: Any) -> Callable:
    """A function that returns this value, with any arguments."""
    return lambda *args, **kwargs: value


is_gloo_available = returns(True)
"""Whether the backend gloo is there."""
is_nccl_available = is_mpi_available = is_torchelastic_launched = returns(False)
"""Whether NCCL, or MPI, is there, or torchrun has started this process: none is so."""
get_default_backend_for_device = returns("gloo")
"""The name of the backend for the tensors of a device."""


def init_process_group(backend: str = "gloo", init_method: str | None = None, timeout: Any = None, world_size: int = -1,
                       rank: int = -1, **options: Any) -> None:  # fmt: skip
    """Start the default group. The number of ranks is `world_size`, or in the environment."""
    if backend == "nccl":
        raise RuntimeError("Distributed package doesn't have NCCL built in")
    if world_size < 0 and "WORLD_SIZE" not in os.environ:
        raise ValueError("Error initializing torch.distributed using env:// rendezvous: WORLD_SIZE is not set")
    if (ranks := int(os.environ["WORLD_SIZE"]) if world_size < 0 else world_size) != 1:
        raise RuntimeError(f"rushlight leaves out process groups of several ranks, such as {ranks}")
    if _world:
        raise ValueError("trying to initialize the default process group twice!")
    _world.append(backend or "gloo")


def destroy_process_group(group: Any = None) -> None:
    """End the default group."""
    if not _world:
        raise AssertionError("Process group cannot be None")
    _world.clear()


def is_initialized() -> bool:
    """Whether the default group was started."""
    return bool(_world)


def get_backend(group: Any = None) -> str:
    """The name of the default group's backend."""
    if not _world:
        raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")
    return _world[0]


def get_rank(group: Any = None) -> int:
    """The number of this process in the group, which is 0."""
    return get_world_size() - 1


def get_world_size(group: Any = None) -> int:
    """The number of ranks of the group, which is 1."""
    return len([get_backend()])


def collective(move: Callable[..., Any]) -> Callable[..., Any]:
    """A collective operation among one rank: `move` writes this rank's own tensor to its result."""

    def run(*args: Any, async_op: bool = False, **options: Any) -> Any:
        get_rank()
        move(*args, **options)
        return SimpleNamespace(wait=returns(True), is_completed=returns(True)) if async_op else None

    return run


barrier = all_reduce = broadcast = reduce = broadcast_object_list = collective(returns(None))
"""Collectives that leave the tensor of the only rank as it is."""
all_gather = collective(lambda tensor_list, tensor, group=None: tensor_list[0].copy_(tensor))
"""Copy the tensor of each rank to its place in the list: here of one rank."""
all_gather_object = collective(lambda object_list, obj, group=None: object_list.__setitem__(0, obj))
"""Write the object of each rank to its place in the list: here of one rank."""
all_gather_into_tensor = collective(lambda output_tensor, input_tensor, group=None: output_tensor.copy_(input_tensor))
"""Copy the tensors of all ranks to one tensor, one after the other: here of one rank."""
gather = collective(lambda tensor, gather_list=None, dst=0, group=None: gather_list[0].copy_(tensor))
"""Copy the tensor of each rank to its place in the list of the rank `dst`: here of one rank."""
scatter = collective(lambda tensor, scatter_list=None, src=0, group=None: tensor.copy_(scatter_list[0]))
"""Copy to each rank its tensor of the list of the rank `src`: here to one rank."""
reduce_scatter = collective(lambda output, input_list, op=None, group=None: output.copy_(input_list[0]))
"""Combine the lists of all ranks element by element, and copy to each rank its tensor: here the only list has one."""
