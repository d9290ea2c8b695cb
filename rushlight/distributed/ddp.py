"""Data parallel training: every rank has the whole model and a part of the batch; gradients are averaged while backward runs.

The parameters are put into buckets, for one large all-reduce is faster than many small ones. A hook on each parameter copies its
gradient into the bucket as soon as there is one; a bucket that is full is sent on its way, and backward goes on meanwhile. At the
end of backward all buckets are waited for, and the averages are copied back.

In PyTorch: `torch/nn/parallel/distributed.py` and `torch/csrc/distributed/c10d/reducer.cpp`. Left out here: buckets are made once,
in the reverse order of the parameters, in which gradients arrive roughly (PyTorch makes them anew after the first backward, in
the order in which they did arrive); gradients are copied, not views of the buckets; communication hooks, and sparse gradients.
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

__all__ = ["assign_buckets", "broadcast_coalesced", "mark_ready", "find_unused", "finish", "DistributedDataParallel"]

LIMITS = (2**20, 25 * 2**20)  # bytes: the first bucket is small, so that communication begins early


@dataclass(eq=False)
class Bucket:
    """Some parameters of one dtype, and their gradients one behind another.

    `buffer` is flat; `views[i]` is the part of it that belongs to `parameters[i]`, in its shape. `pending` counts the parameters
    whose gradients are still to come; `work` is what `all_reduce` has returned, once it has been called.
    """

    parameters: list[nn.Parameter]
    buffer: Tensor
    views: list[Tensor]
    pending: int
    work: dist.Work | None = None


@dataclass(eq=False)
class Reducer:
    """What averages the gradients of `parameters` over a group. `places` has the number of a parameter's bucket, and its place
    in it; `launched` is how many buckets have been sent, which are always the first ones."""

    parameters: list[nn.Parameter]
    buckets: list[Bucket]
    group: dist.ProcessGroup | None = None
    launched: int = 0
    places: dict[nn.Parameter, tuple[int, int]] = field(init=False)

    def __post_init__(self) -> None:
        self.places = {p: (i, j) for i, bucket in enumerate(self.buckets) for j, p in enumerate(bucket.parameters)}


def make_bucket(parameters: Sequence[nn.Parameter]) -> Bucket:
    """An empty bucket for these parameters, which have one dtype and one device."""
    buffer = parameters[0].new_zeros(sum(p.numel() for p in parameters))
    parts = buffer.split([p.numel() for p in parameters])
    views = [part.view(p.shape) for part, p in zip(parts, parameters)]
    return Bucket(list(parameters), buffer, views, pending=len(parameters))


def make_reducer(
    parameters: Sequence[nn.Parameter], assignment: Sequence[Sequence[int]], group: dist.ProcessGroup | None = None
) -> Reducer:
    """A reducer whose buckets have the parameters with these indices."""
    return Reducer(list(parameters), [make_bucket([parameters[i] for i in each]) for each in assignment], group)


# ------------------------------------------------------------------------------------------------------------
# What is done once


def assign_buckets(tensors: Sequence[Tensor], limits: Sequence[int]) -> list[list[int]]:
    """Which tensors go into which bucket: lists of indices into `tensors`.

    The tensors are gone through in order. Each goes into the open bucket of its kind (dtype and device), which it opens if there
    is none. When a bucket has reached its limit, that is, holds at least as many bytes (with this tensor, which may make it
    larger than the limit), it is closed. Each kind counts for itself: the limit of its first bucket is `limits[0]`, of its second
    one `limits[1]`, and so on; the last of the limits is that of all later buckets. What is open in the end is a bucket too.

    The buckets are in the order of their first tensors; within a bucket the indices ascend. A tensor has
    `numel() * element_size()` bytes.

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
    """Give the tensors on all ranks the values that they have on one.

    There is one broadcast for each dtype that occurs, not one for each tensor: the tensors of a dtype are copied one behind
    another into a flat tensor, which is broadcast and copied back. The tensors may have any strides and keep them. They may be
    parameters: autograd does not notice that their values change. No tensors, no broadcast.

    Args:
        tensors: the same sizes and dtypes, in the same order, on all ranks of the group.
        group: the ranks; None is all.
        source: whose values are taken: a rank within `group` (which is not that rank's number among all).

    Collectives: `broadcast`.

    Source: `torch/csrc/distributed/c10d/comm.cpp`, `broadcast_coalesced`.
    """
    for dtype in dict.fromkeys(tensor.dtype for tensor in tensors):
        chosen = [tensor.detach() for tensor in tensors if tensor.dtype == dtype]
        flat = torch.cat([tensor.reshape(-1) for tensor in chosen])
        dist.broadcast(flat, group=group, group_src=source)
        for tensor, part in zip(chosen, flat.split([tensor.numel() for tensor in chosen])):
            tensor.copy_(part.view(tensor.shape))


# ------------------------------------------------------------------------------------------------------------
# What is done in each backward


def mark_ready(reducer: Reducer, parameter: nn.Parameter) -> None:
    """Note that a parameter has its gradient for this backward, and send what can be sent.

    Its gradient, divided by the number of ranks of the group, is copied into its view of its bucket (zeros, if it has none);
    `parameter.grad` itself stays as it is. The bucket's `pending` becomes one less. Then every bucket that can be launched is:
    `all_reduce` (a sum) of its buffer, *without waiting* for it; the bucket's `work` is what the call returns.

    All ranks have to call the same collectives in the same order, but gradients may arrive in another order on each. So buckets
    are launched in the order of `reducer.buckets`: one that is full waits for those before it, and then several may be launched
    at once. `reducer.launched` counts them.

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
    """The indices of the parameters for which a backward from `outputs` will bring no gradient, ascending.

    These are those that the graph of autograd, from the outputs on, does not reach. `outputs` may be a tensor or lists, tuples
    and dicts of whatever, also of tensors that require no gradient (`tensors_in(outputs)` has the tensors). An output may be a
    parameter itself, which is then reached.

    The graph is only read: a parameter's node in it is an `AccumulateGrad`, with the parameter as its `variable`. A node is looked
    at once, however many paths lead to it, and the graph may be deeper than Python's stack.

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
    """The tensors in lists, tuples and dicts of whatever."""
    return [each for each in tree_leaves(outputs) if isinstance(each, Tensor)]


def finish(reducer: Reducer, used: Sequence[bool] | None = None) -> None:
    """The end of a backward: wait for all buckets, put the averages into the gradients, and make ready for the next backward.

    `used` says, in the order of `reducer.parameters`, which of them have had a gradient on this rank; None means that all have.
    If it is given, the ranks find out together which parameters *any* of them has used, by one `all_reduce` of a tensor of int32
    (after those of the buckets). A parameter that no rank has used keeps the gradient that it has, or None: an optimizer that
    skips parameters without gradient is to go on skipping it. Each other one gets its view of its bucket: copied into its `grad`
    where it has one, so that whoever holds it sees it, otherwise as a new tensor (not the view: the bucket will be used again).

    Afterwards `pending` of each bucket is the number of its parameters, `work` is None, and `reducer.launched` is 0.

    Raises RuntimeError before anything else if a bucket has not been launched: a parameter was not used, and nobody looked for
    unused ones.

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


# ------------------------------------------------------------------------------------------------------------
# The module


class DistributedDataParallel(nn.Module):
    """A module whose gradients are averaged over the ranks of a group in each backward.

    Args:
        module: a module, on all ranks of the same structure. All take over the values of the group's first rank, and its buffers
            again before each forward that follows one whose gradients are averaged.
        group: the ranks; None is all.
        limits: the sizes of buckets in bytes, as `assign_buckets` has them.
        find_unused_parameters: look for parameters that a forward has not used, on this rank.

    Counterpart: `torch.nn.parallel.DistributedDataParallel`, with `bucket_cap_mb` for `limits`.
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
        self.used = [False] * len(backwards)  # since the last time that gradients were averaged
        self.numbers = {p: i for i, p in enumerate(backwards)}
        self.averaging = True  # not within no_sync
        self.waiting = False  # for a backward, in which gradients are to be averaged
        self.unused: list[int] = []
        self.buffers_due = True  # to be taken over before the next forward
        broadcast_coalesced([*module.parameters(), *module.buffers()], group)
        for parameter in backwards:
            parameter.register_post_accumulate_grad_hook(self.gradient_came)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        if self.buffers_due:
            broadcast_coalesced([*self.module.buffers()], self.group)
        outputs = self.module(*args, **kwargs)
        self.waiting = self.buffers_due = self.averaging and torch.is_grad_enabled()
        if self.waiting:
            self.unused = find_unused(outputs, self.reducer.parameters) if self.find_unused_parameters else []
        return outputs

    def gradient_came(self, parameter: nn.Parameter) -> None:
        """What the hook on each parameter calls, when its gradient of this backward has been added to `grad`."""
        self.used[self.numbers[parameter]] = True
        if not self.averaging:
            return
        if self.waiting:  # the first one of this backward
            self.waiting = False
            torch.autograd.Variable._execution_engine.queue_callback(self.backward_ends)
            for i in self.unused:
                mark_ready(self.reducer, self.reducer.parameters[i])
        mark_ready(self.reducer, parameter)

    def backward_ends(self) -> None:
        finish(self.reducer, self.used if self.find_unused_parameters else None)
        self.used = [False] * len(self.used)

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Within: forwards whose backwards only add to this rank's gradients. The next backward outside averages the sums."""
        before, self.averaging = self.averaging, False
        try:
            yield
        finally:
            self.averaging = before
