"""What a rank sends: how many collectives of each kind, and how many bytes it hands over to them.

torch's `CommDebugMode` counts collectives; it says nothing of their sizes, and leaves out sends and receives. Here both are
noted, by a mode that sees each operator of c10d's just before it runs: those of `torch.distributed` (`c10d::allreduce_`) and
the functional ones that DTensor calls (`_c10d_functional::all_reduce`), under the same plain names.

Bytes are those of the tensors that the caller hands over, *not* those that then cross a wire: an `all_reduce` of 1 MB counts
1 MB, and how often a part of it travels is for the algorithm to say. Of a send nothing is left to say: there they are the same.
A mode belongs to its thread: what another thread sends is not seen. In PyTorch: `torch/distributed/tensor/debug/_comm_mode.py`.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch._subclasses import FakeTensor
from torch.utils._python_dispatch import TorchDispatchMode

__all__ = ["Traffic", "Operation"]

_NAMESPACES = ("c10d", "_c10d_functional", "_dtensor")

# c10d's operators by the function that calls them. What is not here counts under its own name.
_KINDS = {
    "all_reduce": "allreduce_ allreduce_coalesced_ all_reduce all_reduce_ all_reduce_coalesced all_reduce_coalesced_",
    "all_gather": """allgather_ _allgather_base_ allgather_coalesced_ allgather_into_tensor_coalesced_ all_gather_into_tensor
    all_gather_into_tensor_coalesced all_gather_into_tensor_out""",
    "reduce_scatter": """reduce_scatter_ _reduce_scatter_base_ reduce_scatter_tensor_coalesced_ reduce_scatter_tensor
    reduce_scatter_tensor_coalesced reduce_scatter_tensor_out""",
    "broadcast": "broadcast_ broadcast",
    "reduce": "reduce_",
    "gather": "gather_",
    "scatter": "scatter_",
    "all_to_all": "alltoall_ alltoall_base_ all_to_all_single shard_dim_alltoall",
    "send": "send isend",
    "recv": "recv_ recv_any_source_ irecv",
    "barrier": "barrier monitored_barrier_",
}
_KIND = {name: kind for kind, names in _KINDS.items() for name in names.split()}
_PLAIN = (torch.Tensor, torch.nn.Parameter, FakeTensor)  # of the last DTensor makes up its results' sizes
_NO_TRAFFIC = {"wait_tensor", "_wrap_tensor_autograd", "check_for_nan", "mesh_get_process_group"}

# What c10d's schemas call the tensors that are handed over; the first that an operator has.
_HANDED_OVER = ("input_tensors", "input_tensor", "input_list", "inputs", "input", "tensors", "tensor")


class Operation(NamedTuple):
    """One operation of one rank."""

    kind: str
    nbytes: int  # handed over by this rank
    ranks: int  # in its group
    peer: int | None = None  # of a send or a receive: the other one's number in the group


class Traffic(TorchDispatchMode):
    """Within: notes what this rank sends, in order, as `operations`.

        with Traffic() as traffic:
            loss.backward()
        print(traffic)

    Of a kind, `counts` has how many operations there were and `nbytes` how many bytes were handed over:

    - `all_reduce`, `all_gather`, `reduce`, `gather`: the rank's own tensor;
    - `reduce_scatter`, `all_to_all`: all parts, also the one that it keeps;
    - `broadcast`, `scatter`: at the root what it has for all, elsewhere nothing;
    - `send`: the tensor; `recv` and `barrier`: nothing.

    Several tensors that are sent as one (`_coalescing_manager`) are one operation. Objects travel as two: their size, then their
    bytes. It can be returned from a rank.

    Counterpart: `torch.distributed.tensor.debug.CommDebugMode`, which counts the collectives among these the same.
    """

    def __init__(self) -> None:
        super().__init__()
        self.operations: list[Operation] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        if any(kind not in _PLAIN for kind in types):
            return NotImplemented  # a DTensor, or its like: it comes again in the operators of which its own are made
        if isinstance(func, torch._ops.OpOverload) and func.namespace in _NAMESPACES:
            self._note(func, args, kwargs or {})
        return func(*args, **(kwargs or {}))

    def _note(self, func: Any, args: tuple, kwargs: dict) -> None:
        name = func._opname
        if name in _NO_TRAFFIC:
            return
        given = {argument.name: value for argument, value in zip(func._schema.arguments, args)} | kwargs
        kind, group = _KIND.get(name, name), _group(given)
        sends = kind not in ("recv", "barrier") and (kind != "broadcast" or _root(given) == group.rank())
        tensors = next((given[each] for each in _HANDED_OVER if each in given), ())
        peer = given.get("dst", given.get("src")) if kind in ("send", "recv") else None
        self.operations.append(Operation(kind, _nbytes(tensors) if sends else 0, group.size(), peer))

    @property
    def counts(self) -> dict[str, int]:
        """How many operations there were, by kind."""
        return dict(Counter(operation.kind for operation in self.operations))

    @property
    def nbytes(self) -> dict[str, int]:
        """How many bytes were handed over, by kind."""
        total: dict[str, int] = dict.fromkeys(self.counts, 0)
        for operation in self.operations:
            total[operation.kind] += operation.nbytes
        return total

    def __repr__(self) -> str:
        counts, nbytes = self.counts, self.nbytes
        rows = [("operation", "calls", "bytes")]
        rows += [(kind, f"{counts[kind]:,}", f"{nbytes[kind]:,}") for kind in sorted(counts)]
        rows += [("all", f"{sum(counts.values()):,}", f"{sum(nbytes.values()):,}")]
        first, second, third = (max(map(len, column)) for column in zip(*rows))
        return "\n".join(f"{kind:<{first}}  {calls:>{second}}  {size:>{third}}" for kind, calls, size in rows)

    def __reduce__(self) -> tuple:
        return _restored, (self.operations,)


def _restored(operations: list[Operation]) -> Traffic:
    traffic = Traffic()
    traffic.operations = operations
    return traffic


def _nbytes(tensors: Any) -> int:
    return tensors.nbytes if isinstance(tensors, torch.Tensor) else sum(map(_nbytes, tensors))


def _group(given: dict[str, Any]) -> dist.ProcessGroup:
    """The group of an operation: c10d's operators have it in a box, the functional ones have its name."""
    if "process_group" in given:
        return dist.ProcessGroup.unbox(given["process_group"])
    name = given["group_name"]
    return dist.distributed_c10d._resolve_process_group(name) if isinstance(name, str) else name


def _root(given: dict[str, Any]) -> int:
    return given["root_rank"] if "root_rank" in given else given["src"]
