"""Count the collectives of each kind that a rank calls, and the bytes that it passes to them.

torch's `CommDebugMode` counts collectives; it does not report their sizes, and leaves out sends and receives. This mode
records both. It intercepts each operator of c10d just before it runs: those of `torch.distributed` (`c10d::allreduce_`) and
the functional ones that DTensor calls (`_c10d_functional::all_reduce`), under the same plain names.

Bytes are those of the tensors that the caller passes, *not* those that then cross a link: an `all_reduce` of 1 MB counts 1
MB, and the algorithm determines how often a part of it is sent. For a send the two are equal. A mode belongs to its thread:
it does not see what another thread sends. In PyTorch: `torch/distributed/tensor/debug/_comm_mode.py`.
"""

from collections import Counter
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch._subclasses import FakeTensor
from torch.utils._python_dispatch import TorchDispatchMode

_NAMESPACES = ("c10d", "_c10d_functional", "_dtensor")

# c10d's operators by the function that calls them. Other operators count under their own names.
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
_PLAIN = (torch.Tensor, torch.nn.Parameter, FakeTensor)  # DTensor infers the sizes of its results with FakeTensors
_NO_TRAFFIC = {"wait_tensor", "_wrap_tensor_autograd", "check_for_nan", "mesh_get_process_group"}

# Names of the arguments with the tensors to send, in c10d's schemas. The first one that an operator has counts.
_TENSOR_ARGUMENTS = ("input_tensors", "input_tensor", "input_list", "inputs", "input", "tensors", "tensor")


class Operation(NamedTuple):
    """One operation of one rank."""

    kind: str
    nbytes: int  # of the tensors that this rank passes
    ranks: int  # in its group
    peer: int | None = None  # of a send or a receive: the other rank, counted within the group


class Traffic(TorchDispatchMode):
    """A mode that records in `operations`, in order, what this rank sends.

        with Traffic() as traffic:
            loss.backward()
        print(traffic)

    For each kind of operation, `counts` has the number of operations and `nbytes` the number of bytes passed to them:

    - `all_reduce`, `all_gather`, `reduce`, `gather`: the rank's own tensor;
    - `reduce_scatter`, `all_to_all`: all parts, including the one that the rank keeps;
    - `broadcast`, `scatter`: the data for all ranks at the root, nothing elsewhere;
    - `send`: the tensor; `recv` and `barrier`: nothing.

    Several tensors that are sent as one (`_coalescing_manager`) are one operation. Objects are sent as two: their size, then
    their bytes. A rank can return a `Traffic`.

    Counterpart: `torch.distributed.tensor.debug.CommDebugMode`, which gives the same counts for collectives.
    """

    def __init__(self) -> None:
        super().__init__()
        self.operations: list[Operation] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        if any(kind not in _PLAIN for kind in types):
            return NotImplemented  # a DTensor or another subclass calls further operators on plain tensors, which come here again
        if isinstance(func, torch._ops.OpOverload) and func.namespace in _NAMESPACES:
            self._record(func, args, kwargs or {})
        return func(*args, **(kwargs or {}))

    def _record(self, func: Any, args: tuple, kwargs: dict) -> None:
        name = func._opname
        if name in _NO_TRAFFIC:
            return
        given = {argument.name: value for argument, value in zip(func._schema.arguments, args)} | kwargs
        kind, group = _KIND.get(name, name), _group(given)
        root = given.get("root_rank", given.get("src"))
        sends = kind not in ("recv", "barrier") and (kind != "broadcast" or root == group.rank())
        tensors = next((given[argument] for argument in _TENSOR_ARGUMENTS if argument in given), ())
        peer = given.get("dst", given.get("src")) if kind in ("send", "recv") else None
        self.operations.append(Operation(kind, _nbytes(tensors) if sends else 0, group.size(), peer))

    @property
    def counts(self) -> dict[str, int]:
        """The number of operations, by kind."""
        return dict(Counter(operation.kind for operation in self.operations))

    @property
    def nbytes(self) -> dict[str, int]:
        """The number of bytes that were passed to operations, by kind."""
        passed = [(operation.kind, operation.nbytes) for operation in self.operations]
        return {kind: sum(nbytes for other, nbytes in passed if other == kind) for kind, _ in passed}

    def __repr__(self) -> str:
        counts, nbytes = self.counts, self.nbytes
        rows = [("operation", "calls", "bytes")]
        rows += [(kind, f"{counts[kind]:,}", f"{nbytes[kind]:,}") for kind in sorted(counts)]
        rows += [("all", f"{sum(counts.values()):,}", f"{sum(nbytes.values()):,}")]
        first, second, third = (max(map(len, column)) for column in zip(*rows))
        return "\n".join(f"{kind:<{first}}  {calls:>{second}}  {size:>{third}}" for kind, calls, size in rows)

    def __reduce__(self) -> tuple:
        return Traffic, (), {"operations": self.operations}


def _nbytes(tensors: Any) -> int:
    return tensors.nbytes if isinstance(tensors, torch.Tensor) else sum(map(_nbytes, tensors))


def _group(given: dict[str, Any]) -> dist.ProcessGroup:
    """The group of an operation: c10d's operators take it boxed, the functional ones take its name."""
    if "process_group" in given:
        return dist.ProcessGroup.unbox(given["process_group"])
    name = given["group_name"]
    return dist.distributed_c10d._resolve_process_group(name) if isinstance(name, str) else name
