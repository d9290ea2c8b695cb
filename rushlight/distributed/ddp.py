"""Data parallel training: every rank has the whole model and a part of the batch. Gradients are averaged while backward runs.

Parameters are grouped into buckets, because one large all-reduce is faster than many small ones. A hook on each parameter
copies its gradient into the bucket as soon as the gradient is accumulated. The all-reduce of a full bucket starts while
backward continues. At the end of backward the reducer waits for all buckets and copies the averages back.

In PyTorch: `torch/nn/parallel/distributed.py` and `torch/csrc/distributed/c10d/reducer.cpp`. Left out here: rebuilding the
buckets; gradients as views of the buckets (they are copied); communication hooks; and sparse gradients. The buckets here are
built once, in the reverse order of the parameters, which is roughly the order in which gradients arrive. PyTorch begins with
one bucket without a limit. After the first backward it knows the order in which gradients did arrive, and rebuilds the buckets
in that order with the limits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from rushlight.distributed.ranks import device

LIMITS = (2**20, 25 * 2**20)  # bytes: the first bucket is small, so that communication begins early


@dataclass(eq=False)
class Bucket:
    """Some parameters of one dtype, and their gradients one after another. `buffer` is flat; `views[i]` is the part of it
    that belongs to `parameters[i]`, in its shape. `pending` counts the parameters whose gradients have not arrived yet;
    `work` is what `all_reduce` has returned, once it has been called."""

    parameters: list[nn.Parameter]
    buffer: Tensor
    views: list[Tensor]
    pending: int
    work: dist.Work | None = None


@dataclass(eq=False)
class Reducer:
    """Averages the gradients of `parameters` over a group. `places` has the index of each parameter's bucket and its index
    within the bucket. `launched` counts the buckets whose all-reduce has started, which are always the first ones."""

    parameters: list[nn.Parameter]
    buckets: list[Bucket]
    group: dist.ProcessGroup | None = None
    launched: int = 0
    places: dict[nn.Parameter, tuple[int, int]] = field(init=False)

    def __post_init__(self) -> None:
        self.places = {p: (i, j) for i, bucket in enumerate(self.buckets) for j, p in enumerate(bucket.parameters)}


def make_reducer(
    parameters: Sequence[nn.Parameter], assignment: Sequence[Sequence[int]], group: dist.ProcessGroup | None = None
) -> Reducer:
    """A reducer whose buckets have the parameters with these indices. Those of a bucket have one dtype and one device."""
    buckets = []
    for indices in assignment:
        chosen = [parameters[i] for i in indices]
        sizes = [p.numel() for p in chosen]
        buffer = chosen[0].new_zeros(sum(sizes))
        views = [part.view(p.shape) for part, p in zip(buffer.split(sizes), chosen)]
        buckets.append(Bucket(chosen, buffer, views, pending=len(chosen)))
    return Reducer(list(parameters), buckets, group)


# Setup: buckets and initial values -----------------------------------------------------------------------------------


def assign_buckets(tensors: Sequence[Tensor], limits: Sequence[int]) -> list[list[int]]:
    """Assign tensors to buckets: a list of lists of indices into `tensors`. `tensors` is a list of one or more tensors, `limits`
    a list or a tuple.

    The tensors are processed in order. Each tensor goes into the open bucket of its kind (dtype and device); if that kind has
    no open bucket, the tensor opens one. A bucket is closed when it has reached its limit: when it holds at least as many
    bytes, including this tensor, which may make it larger than the limit. Each kind counts for itself: the limit of its first
    bucket is `limits[0]`, of its second one `limits[1]`, and so on; all later buckets have the last limit. Buckets that are
    still open at the end are buckets too.

    The buckets are in the order of their first tensors; within a bucket the indices ascend. A tensor has `numel() *
    element_size()` bytes.

    >>> assign_buckets([torch.zeros(3), torch.zeros(3), torch.zeros(3)], [16])  # each has 12 bytes
    [[0, 1], [2]]

    Collectives: none.

    Source: `torch/csrc/distributed/c10d/reducer.cpp`, `compute_bucket_assignment_by_size`.
    """
    buckets = []
    opened = {}  # by kind, with their bytes
    closed = Counter()
    for index, tensor in enumerate(tensors):
        kind = (tensor.dtype, tensor.device)
        if kind not in opened:
            opened[kind] = ([], 0)
            buckets.append(opened[kind][0])
        bucket, size = opened.pop(kind)
        bucket.append(index)
        size += tensor.numel() * tensor.element_size()
        if size >= limits[min(closed[kind], len(limits) - 1)]:
            closed[kind] += 1
        else:
            opened[kind] = (bucket, size)
    return buckets


def broadcast_coalesced(tensors: Sequence[Tensor], group: dist.ProcessGroup | None = None, source: int = 0) -> None:
    """Give the tensors on all ranks the values that they have on one rank.

    There is one broadcast for each dtype that occurs, not one for each tensor: the tensors of a dtype are copied one after
    another into a flat tensor, which is broadcast and copied back. The tensors may have any strides and keep them. They may be
    parameters: autograd does not see that their values change, and they still require gradients. Grad mode does not change.
    Without tensors there is no broadcast.

    Args:
        tensors: a list, with the same sizes and dtypes, in the same order, on all ranks of the group.
        group: the ranks; None means all ranks.
        source: the rank whose values are used, counted within `group` (not its rank in the world).

    For example, ten tensors of float32 and one of int64 are two broadcasts.

    Collectives: `broadcast`.

    Source: `torch/csrc/distributed/c10d/comm.cpp`, `broadcast_coalesced`.
    """
    for dtype in dict.fromkeys(tensor.dtype for tensor in tensors):
        chosen = [tensor.detach() for tensor in tensors if tensor.dtype == dtype]
        flat = torch.cat([tensor.reshape(-1) for tensor in chosen])
        dist.broadcast(flat, group=group, group_src=source)
        for tensor, part in zip(chosen, flat.split([tensor.numel() for tensor in chosen])):
            tensor.copy_(part.view(tensor.shape))


# Each backward -------------------------------------------------------------------------------------------------------


def mark_ready(reducer: Reducer, parameter: nn.Parameter) -> None:
    """Record that a parameter has its gradient for this backward, and launch the buckets that are ready.

    Its gradient, divided by the number of ranks of the group, is copied into its view of its bucket (zeros, if it has no
    gradient); `parameter.grad` itself does not change. The bucket's `pending` decreases by one. Then every bucket that can be
    launched is launched: `all_reduce` (a sum) of its buffer, *without waiting* for it; the bucket's `work` is what the call
    returns.

    All ranks have to call the same collectives in the same order, but gradients may arrive in a different order on each rank.
    So buckets are launched in the order of `reducer.buckets`: a full bucket waits for those before it, and then several may
    be launched at once. `reducer.launched` counts them. For example, if bucket 1 becomes full first, nothing is launched. When
    bucket 0 becomes full too, both are launched, 0 first.

    Collectives: `all_reduce`.

    Source: `reducer.cpp`, `Reducer::mark_variable_ready_dense`, `mark_variable_ready` and `mark_bucket_ready`.
    """
    number, place = reducer.places[parameter]
    bucket = reducer.buckets[number]
    if parameter.grad is None:
        bucket.views[place].zero_()
    else:
        bucket.views[place].copy_(parameter.grad / dist.get_world_size(reducer.group))
    bucket.pending -= 1
    while reducer.launched < len(reducer.buckets) and not reducer.buckets[reducer.launched].pending:
        full = reducer.buckets[reducer.launched]
        full.work = dist.all_reduce(full.buffer, group=reducer.group, async_op=True)
        reducer.launched += 1


def find_unused(outputs: Any, parameters: Sequence[nn.Parameter]) -> list[int]:
    """The indices of the parameters that get no gradient from a backward of `outputs`: a list, ascending.

    These are the parameters that the autograd graph does not reach from the outputs. `outputs` may be a tensor, or lists,
    tuples and dicts of any values, including tensors that require no gradient (`tensors_in(outputs)` returns the tensors). An
    output may be a parameter itself, which is then reached. `parameters` is a list of parameters that require gradients.

    >>> first, second = nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False)
    >>> find_unused({"y": [first(torch.ones(1, 1))], "n": 3}, [first.weight, second.weight])
    [1]

    The graph is only read: a parameter's node in it is an `AccumulateGrad`, with the parameter as its `variable`. Each node
    is visited once, however many paths lead to it, and the graph may be deeper than Python's stack.

    Collectives: none.

    Source: `reducer.cpp`, `Reducer::search_unused_parameters`.
    """
    reached, seen = set(), set()
    waiting = [torch.autograd.graph.get_gradient_edge(t).node for t in tensors_in(outputs) if t.requires_grad]
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable"):
            reached.add(id(node.variable))
        waiting += [following for following, _ in node.next_functions if following is not None]
    return [i for i, parameter in enumerate(parameters) if id(parameter) not in reached]


def tensors_in(outputs: Any) -> list[Tensor]:
    """The tensors in nested lists, tuples and dicts."""
    return [leaf for leaf in tree_leaves(outputs) if isinstance(leaf, Tensor)]


def finish(reducer: Reducer, used: Sequence[bool] | None = None) -> None:
    """Finish a backward: wait for all buckets, write the averages into the gradients, and prepare for the next backward.

    `used` is a list of bool, in the order of `reducer.parameters`: which of them have had a gradient on this rank. None means
    all of them. If it is given, the ranks find out together which parameters *any* of them has used, by one `all_reduce` of a
    tensor of int32 (after the all-reduces of the buckets). A parameter that no rank has used keeps its gradient, or None, so
    that an optimizer that skips parameters without gradient still skips it. Each other parameter gets its view of its bucket.
    If it has a `grad`, the view is copied into it, so that other references to the gradient see the average. Otherwise its
    `grad` becomes a new tensor (not the view: the bucket will be reused). For example, if `used` is [True, False] on rank 0
    and [True, False] on rank 1, only the first parameter gets its average. With [False, True] on rank 1, both parameters get
    theirs.

    Afterwards `pending` of each bucket is the number of its parameters, `work` is None, and `reducer.launched` is 0.

    Raises RuntimeError before anything else if a bucket has not been launched: a parameter was not used, and unused
    parameters were not searched for.

    Collectives: `all_reduce`, if `used` is given.

    Source: `reducer.cpp`, `Reducer::finalize_backward` and `all_reduce_local_used_map`.
    """
    if reducer.launched < len(reducer.buckets):
        raise RuntimeError("not all parameters were used in backward; find_unused_parameters=True looks for the others")
    if used is None:
        anywhere = [True] * len(reducer.parameters)
    else:
        counts = torch.tensor(used, dtype=torch.int32, device=device())
        dist.all_reduce(counts, group=reducer.group)
        anywhere = (counts > 0).tolist()
    for bucket in reducer.buckets:
        bucket.work.wait()
        bucket.pending, bucket.work = len(bucket.parameters), None
    reducer.launched = 0
    for parameter, wanted in zip(reducer.parameters, anywhere):
        number, place = reducer.places[parameter]
        average = reducer.buckets[number].views[place]
        if not wanted:
            continue
        if parameter.grad is None:
            parameter.grad = average.clone()
        else:
            parameter.grad.copy_(average)


# The module ----------------------------------------------------------------------------------------------------------


class DistributedDataParallel(nn.Module):
    """A module whose gradients are averaged over the ranks of a group in each backward.

    Args:
        module: a module with the same structure on all ranks. All ranks take the values of the group's first rank. They take
            its buffers again before each forward that follows a forward whose gradients are averaged.
        group: the ranks; None means all ranks.
        limits: the sizes of buckets in bytes, for `assign_buckets`.
        find_unused_parameters: whether to search for parameters that a forward on this rank has not used.

    Counterpart: `torch.nn.parallel.DistributedDataParallel`, with `bucket_cap_mb` instead of `limits`.
    """

    def __init__(
        self,
        module: nn.Module,
        group: dist.ProcessGroup | None = None,
        limits: Sequence[int] = LIMITS,
        find_unused_parameters: bool = False,
    ) -> None:
        super().__init__()
        self.module, self.group = module, group
        self.find_unused_parameters = find_unused_parameters
        parameters = [p for p in module.parameters() if p.requires_grad]
        backwards = parameters[::-1]  # the gradient of the last layer is the first to come
        self.reducer = make_reducer(backwards, assign_buckets(backwards, limits), group)
        self.locally_used = [False] * len(backwards)  # since gradients were last averaged
        self.indices = {p: i for i, p in enumerate(backwards)}
        self.require_backward_grad_sync = True  # False within no_sync
        self.expect_autograd_hooks = False  # True from a forward to the first gradient of its backward
        self.unused_parameters: list[int] = []
        self.require_forward_param_sync = True  # whether the next forward broadcasts the buffers
        broadcast_coalesced([*module.parameters(), *module.buffers()], group)
        for parameter in backwards:
            parameter.register_post_accumulate_grad_hook(self.autograd_hook)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        if self.require_forward_param_sync:
            broadcast_coalesced([*self.module.buffers()], self.group)
        outputs = self.module(*args, **kwargs)
        synchronize = self.require_backward_grad_sync and torch.is_grad_enabled()
        self.expect_autograd_hooks = self.require_forward_param_sync = synchronize
        if synchronize and self.find_unused_parameters:
            self.unused_parameters = find_unused(outputs, self.reducer.parameters)
        return outputs

    def autograd_hook(self, parameter: nn.Parameter) -> None:
        """The hook on each parameter. Autograd calls it when the gradient of this backward has been added to `grad`."""
        self.locally_used[self.indices[parameter]] = True
        if not self.require_backward_grad_sync:
            return
        if self.expect_autograd_hooks:  # this is the first gradient of this backward
            self.expect_autograd_hooks = False
            torch.autograd.Variable._execution_engine.queue_callback(self.finalize_backward)
            for i in self.unused_parameters:
                mark_ready(self.reducer, self.reducer.parameters[i])
        mark_ready(self.reducer, parameter)

    def finalize_backward(self) -> None:
        finish(self.reducer, self.locally_used if self.find_unused_parameters else None)
        self.locally_used = [False] * len(self.locally_used)

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Within this context a forward's backward only adds to the gradients of this rank. The next backward outside
        averages the sums."""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before
