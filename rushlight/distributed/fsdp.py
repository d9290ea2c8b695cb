"""Fully sharded data parallel training: each rank holds only a shard of each parameter, of its gradient and of its optimizer
state.

The parameters of a *unit*, for example a layer, are gathered just before they are used and freed just after, in forward and
again in backward. A reduce-scatter sums the gradients and gives each rank its shard. So no rank ever holds more than about
two whole units: the one that computes, and the one that is being gathered meanwhile.

In PyTorch: `torch/distributed/fsdp/_fully_shard/`. Left out here: mixed precision, two-dimensional meshes, offloading, tied
parameters, and DTensors (shards are plain tensors).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from .shards import pieces, shard_sizes


@dataclass(eq=False)
class ShardedParameter:
    """One parameter of a unit. `padded` is this rank's part, flat, as long on every rank (see `shard`). `sharded` is the same
    memory as a parameter, without the padding: most of the time it belongs to the module, and to the optimizer. `gathered` is
    flat, as long as the `padded` of all ranks together; while the parameter is sharded its storage has no bytes. `whole` is a
    view of its beginning, of the size of the parameter: it belongs to the module while the unit is gathered, and backward
    accumulates its gradient there."""

    module: nn.Module
    name: str
    padded: Tensor
    sharded: nn.Parameter
    gathered: Tensor
    whole: nn.Parameter


@dataclass(eq=False)
class Unit:
    """Parameters that are gathered together. `start_gather` stores the work and the tensor that it fills in `arriving`, and
    `finish_gather` reads them."""

    parameters: list[ShardedParameter]
    group: dist.ProcessGroup | None = None
    arriving: tuple[dist.Work, Tensor] | None = None
    is_gathered: bool = False


# Shards --------------------------------------------------------------------------------------------------------------


def shard(tensor: Tensor, rank: int, ranks: int) -> Tensor:
    """A rank's part of a parameter.

    The parameter is cut along its first dimension as `shard_sizes` says: the last parts may have fewer rows, or none. The
    part is the beginning of a new flat buffer, contiguous and in the part's shape. The buffer is as long as the largest part,
    because all ranks have to send the same amount, and the rest of it is zeros. So the result's storage has that many
    elements, even if the part has no row. The result requires no gradient.

    Args:
        tensor: at least one dimension, any strides. The result does not share its memory.
        rank: 0 to ranks - 1.

    Raises ValueError if the tensor has no dimension.

    >>> part = shard(torch.arange(10.0).view(5, 2), 1, 2)
    >>> part, part.untyped_storage().nbytes()  # room for three rows of two
    (tensor([[6., 7.],
            [8., 9.]]), 24)

    Collectives: none.

    Source: `torch/distributed/fsdp/_fully_shard/_fsdp_param.py`, `FSDPParam._init_sharded_param`.
    """
    if not tensor.shape:
        raise ValueError("a parameter without dimensions cannot be sharded; give it one of size 1")
    rows, _ = shard_sizes(tensor.shape[0], ranks)[0]
    part = pieces(tensor.detach(), 0, ranks)[rank]
    buffer = tensor.new_zeros(rows * math.prod(tensor.shape[1:]))
    result = buffer[: part.numel()].view(part.shape)
    return result.copy_(part)


def make_unit(owners: Sequence[tuple[nn.Module, str]], group: dist.ProcessGroup | None = None) -> Unit:
    """A unit of the parameters that these modules have under these names. Afterwards the modules have the shards."""
    parameters = []
    for module, name in owners:
        parameter = getattr(module, name)
        part = shard(parameter, dist.get_rank(group), dist.get_world_size(group))
        padded = torch.empty(0, dtype=part.dtype, device=part.device).set_(part.untyped_storage())
        gathered = padded.new_empty(len(padded) * dist.get_world_size(group))
        # `.data` has its own version counter: gathering the parameter again does not invalidate the tensors that autograd saved
        whole = nn.Parameter(gathered.data[: parameter.numel()].view(parameter.shape), parameter.requires_grad)
        sharded = nn.Parameter(part, parameter.requires_grad)
        parameters.append(ShardedParameter(module, name, padded, sharded, gathered, whole))
    unit = Unit(parameters, group, is_gathered=True)
    free(unit)
    return unit


def free(unit: Unit) -> None:
    """Free the memory of the whole parameters. The modules have the shards again."""
    for parameter in unit.parameters:
        parameter.gathered.untyped_storage().resize_(0)
        setattr(parameter.module, parameter.name, parameter.sharded)
    unit.is_gathered = False


def start_gather(unit: Unit) -> None:
    """Start to gather a unit's parameters, and do not wait for it.

    The shards (`padded`) of the unit's parameters are copied one after another into a flat tensor, which is gathered from all
    ranks of `unit.group` by *one* collective. `unit.arriving` becomes the pair of the work that the collective returns and
    the flat tensor that it fills: the ranks in order, and within each rank the parameters in order. For example, if `padded` is
    [1, 2] and [3] on rank 0, and [4, 5] and [6] on rank 1, the flat tensor becomes [1, 2, 3, 4, 5, 6]. All parameters of a
    unit have one dtype, and there is at least one parameter.

    Collectives: one `all_gather_single`, or one `all_gather` of a list of views of the flat tensor, with `async_op=True`.

    Source: `torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py`, `foreach_all_gather`.
    """
    mine = torch.cat([parameter.padded for parameter in unit.parameters])
    everything = mine.new_empty(len(mine) * dist.get_world_size(unit.group))
    work = dist.all_gather_single(everything, mine, group=unit.group, async_op=True)
    unit.arriving = (work, everything)


def finish_gather(unit: Unit) -> None:
    """Wait for the gather that `start_gather` has started, and make the unit's parameters whole.

    `unit.arriving` holds the work and the flat tensor: the shards of rank 0 one after another, then those of rank 1, and so
    on. The storage of each parameter's `gathered` gets its bytes back (`resize_`), and all its shards are copied there in the
    order of the ranks, including the padding. The padding is at the end, so `whole` is then right. For example, from [1, 2,
    3, 4, 5, 6] on two ranks, two parameters whose `padded` have 2 and 1 elements get [1, 2, 4, 5] and [3, 6]. Each module
    gets `whole` under the parameter's name; `unit.arriving` becomes None, and `unit.is_gathered` True.

    Collectives: none.

    Source: `_fsdp_collectives.py`, `foreach_all_gather_copy_out`; `_fsdp_param.py`, `FSDPParam.to_unsharded`.
    """
    work, everything = unit.arriving
    work.wait()
    rows, start = everything.view(dist.get_world_size(unit.group), -1), 0
    for parameter in unit.parameters:
        parameter.gathered.untyped_storage().resize_(parameter.gathered.numel() * parameter.gathered.element_size())
        parameter.gathered.view(len(rows), -1).copy_(rows[:, start : start + len(parameter.padded)])
        start += len(parameter.padded)
        setattr(parameter.module, parameter.name, parameter.whole)
    unit.arriving, unit.is_gathered = None, True


def reduce_gradients(unit: Unit) -> None:
    """Average the gradients of a unit over the ranks, and give each rank its shard of the averages.

    Each parameter whose `whole` has a `grad` takes part (the same parameters on all ranks). If none has a `grad`, nothing is
    called. There is one reduce-scatter for all parameters: the data for rank r, of all parameters, is a contiguous part of
    its input. A gradient is cut as `shard` cuts the parameter, and padded to the same length (the values of the padding have
    no meaning). The sums are divided by the number of ranks.

    The average becomes the `grad` of `sharded`, in its shape; if `sharded` already has a `grad`, the average is added to it.
    The `grad` of `whole` becomes None, which frees its memory. For example, if the gradient of one parameter is [2, 4, 6] on
    each of two ranks, rank 0 gets [2, 4] and rank 1 gets [6].

    Collectives: one `reduce_scatter_single`, or one `reduce_scatter` of a list; of a sum, or of an average.

    Source: `_fsdp_collectives.py`, `foreach_reduce`.
    """
    ranks = dist.get_world_size(unit.group)
    chosen = [parameter for parameter in unit.parameters if parameter.whole.grad is not None]
    columns = []
    for parameter in chosen:
        column = parameter.padded.new_zeros(ranks * len(parameter.padded))
        column[: parameter.whole.numel()] = parameter.whole.grad.reshape(-1)
        columns.append(column.view(ranks, -1))
        parameter.whole.grad = None
    if columns:
        everything = torch.hstack(columns).view(-1)
        mine = everything.new_empty(len(everything) // ranks)
        dist.reduce_scatter_single(mine, everything, group=unit.group)
        for parameter, part in zip(chosen, (mine / ranks).split([len(parameter.padded) for parameter in chosen])):
            average = part[: parameter.sharded.numel()].view(parameter.sharded.shape)
            parameter.sharded.grad = average if parameter.sharded.grad is None else parameter.sharded.grad + average


# The order of work ---------------------------------------------------------------------------------------------------


def order_of_work(
    reshard: Sequence[bool], forward_prefetch: int = 0, backward_prefetch: int = 1
) -> list[tuple[str, int]]:
    """The order of work on a chain of units in one training step: a list of pairs of a word and the index of a unit.

    Unit i takes the output of unit i - 1. The words: `"gather"` starts to gather a unit's parameters, `"forward"` and
    `"backward"` compute, `"free"` frees the gathered parameters, and `"reduce"` reduces and scatters the gradients.

    Args:
        reshard: a list of bool, one for each unit: whether it is freed after its forward.
        forward_prefetch, backward_prefetch: how many other units a unit prefetches in forward, and in backward.

    >>> order_of_work([True])
    [('gather', 0), ('forward', 0), ('free', 0), ('gather', 0), ('backward', 0), ('free', 0), ('reduce', 0)]
    >>> order_of_work([False], 1, 1)
    [('gather', 0), ('forward', 0), ('backward', 0), ('free', 0), ('reduce', 0)]

    Collectives: none.

    Rules:
        - `"gather"`: start to gather its parameters. A unit that is whole, or is already being gathered, is not gathered again.
        - `"forward"`, `"backward"`: it computes. The unit must be whole, so it is gathered right before, if necessary.
        - `"free"`: its parameters are freed, after `"forward"` if it is resharded, and always after `"backward"`.
        - `"reduce"`: its gradients are reduced and scattered, after the `"free"` that follows `"backward"`.

        Other units are prefetched between a unit's own gather and its computation: before `"forward"` the `forward_prefetch`
        units after it, before `"backward"` the `backward_prefetch` units before it, the nearest first, as far as they exist.

    Source: `torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py`, `FSDPParamGroup.pre_forward`, `post_forward`,
    `pre_backward`, `post_backward`; `FSDPModule.set_modules_to_forward_prefetch` and `set_modules_to_backward_prefetch`.
    """
    work, units, whole = [], range(len(reshard)), set()

    def gather(numbers):
        for i in numbers:
            if i in units and i not in whole:
                work.append(("gather", i))
                whole.add(i)

    for i in units:
        gather(range(i, i + forward_prefetch + 1))
        work.append(("forward", i))
        if reshard[i]:
            work.append(("free", i))
            whole.remove(i)
    for i in reversed(units):
        gather(range(i, i - backward_prefetch - 1, -1))
        work += [("backward", i), ("free", i), ("reduce", i)]
    return work


# The optimizer -------------------------------------------------------------------------------------------------------


def clip_grad_norm(
    parameters: Sequence[Tensor], max_norm: float, norm_type: float = 2.0, group: dist.ProcessGroup | None = None
) -> Tensor:
    """Scale the gradients of sharded parameters, in place, so that their norm over all shards of all ranks is at most
    `max_norm`.

    The norm is that of all elements of all gradients as one vector: for a `norm_type` p the p-th root of the sum of |x|^p,
    for `math.inf` the largest |x|. All gradients are multiplied by min(1, max_norm / (norm + 1e-6)).

    Args:
        parameters: a list of this rank's shards, of one dtype. Parameters without `grad` are left out, the same ones on all
            ranks. Shards may be empty, even all shards of a rank.
        group: the ranks that have the shards; None means all ranks.

    Returns: the norm before scaling, the same on all ranks, a tensor of the gradients' dtype without dimensions; 0, of any
    dtype, if no parameter has a gradient. Grad mode does not change.
    For example, if rank 0 has the gradient [3] and rank 1 has [4], the norm is 5, and with a `max_norm` of 1 they become 0.6
    and 0.8.

    Collectives: one `all_reduce`; none if no parameter has a gradient.

    Source: `torch/nn/utils/clip_grad.py`, `clip_grad_norm_`, of DTensors.
    """
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    if not gradients:
        return torch.zeros(())
    flat = torch.cat([gradient.reshape(-1) for gradient in gradients]).abs()
    if math.isinf(norm_type):
        norm = flat.max() if len(flat) else flat.new_zeros(())
        dist.all_reduce(norm, op=dist.ReduceOp.MAX, group=group)
    else:
        total = (flat**norm_type).sum()
        dist.all_reduce(total, group=group)
        norm = total ** (1 / norm_type)
    scale = (max_norm / (norm + 1e-6)).clamp(max=1.0)
    for gradient in gradients:
        gradient.mul_(scale)
    return norm


def adamw_step(
    parameters: Sequence[Tensor],
    states: dict[Tensor, dict[str, Any]],
    lr: float = 1e-3,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 1e-2,
) -> None:
    """One step of AdamW on this rank's shards, in place.

    AdamW works element by element. So it needs nothing from other ranks, and its state is as large as the shard. `parameters`
    is a list. For each parameter that has a gradient g, `states[parameter]` has these entries, created in the parameter's
    first step: `"step"`, an int that counts from 1, and `"exp_avg"` m and `"exp_avg_sq"` v, tensors like the shard that begin
    as zeros:

        p = p - lr * weight_decay * p
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g * g
        p = p - lr * (m / (1 - beta1 ** step)) / (sqrt(v / (1 - beta2 ** step)) + eps)

    A parameter without gradient does not change, and gets no state. No `grad` changes. The tensors of a state are the same
    objects in each step. Autograd records none of this, also if a gradient requires grad. Afterwards grad mode is what it was
    before, on or off.

    >>> p, states = torch.ones(2), {}
    >>> p.grad = torch.tensor([3.0, -0.5])
    >>> adamw_step([p], states, lr=0.1, weight_decay=0.0)
    >>> p, states[p]["step"]
    (tensor([0.9000, 1.1000]), 1)

    Collectives: none.

    Source: `torch/optim/adam.py`, `_single_tensor_adam` with `decoupled_weight_decay`.
    """
    with torch.no_grad():
        for p in parameters:
            if p.grad is None:
                continue
            if p not in states:
                states[p] = {"step": 0, "exp_avg": torch.zeros_like(p), "exp_avg_sq": torch.zeros_like(p)}
            state, (beta1, beta2) = states[p], betas
            state["step"] += 1
            state["exp_avg"].mul_(beta1).add_(p.grad, alpha=1 - beta1)
            state["exp_avg_sq"].mul_(beta2).addcmul_(p.grad, p.grad, value=1 - beta2)
            mean = state["exp_avg"] / (1 - beta1 ** state["step"])
            square = state["exp_avg_sq"] / (1 - beta2 ** state["step"])
            p.mul_(1 - lr * weight_decay).addcdiv_(mean, square.sqrt().add_(eps), value=-lr)


# The module ----------------------------------------------------------------------------------------------------------


class FullyShardedDataParallel(nn.Module):
    """A module whose parameters are sharded over the ranks of a group.

    Args:
        module: a module with the same values on all ranks.
        units: modules within it, in the order in which they run. The parameters of each are one unit. The remaining
            parameters of the module are one more unit, which is whole from forward to backward.
        group: the ranks; None means all ranks.
        reshard_after_forward: whether units are freed after their forward.
        forward_prefetch, backward_prefetch: as in `order_of_work`.

    Counterpart: `torch.distributed.fsdp.fully_shard`, called for each unit and for the module.
    """

    def __init__(
        self,
        module: nn.Module,
        units: Sequence[nn.Module],
        group: dist.ProcessGroup | None = None,
        reshard_after_forward: bool = True,
        forward_prefetch: int = 0,
        backward_prefetch: int = 1,
    ) -> None:
        super().__init__()
        self.module = module
        self.forward_prefetch, self.backward_prefetch = forward_prefetch, backward_prefetch
        self.units: list[Unit] = []
        self.post_forward_order: list[Unit] = []
        self.pending_gradients: dict[Unit, int] = {}  # of the units whose backward has begun
        taken: set[tuple[nn.Module, str]] = set()
        for part in [*units, module]:
            owners = [(m, name) for m in part.modules() for name, _ in m.named_parameters(recurse=False)]
            owners = [owner for owner in owners if owner not in taken]
            taken.update(owners)
            if owners:
                self.add_unit(part, make_unit(owners, group), reshard_after_forward and part is not module)

    def add_unit(self, module: nn.Module, unit: Unit, reshard: bool) -> None:
        self.units.append(unit)
        module.register_forward_pre_hook(lambda *_: self.pre_forward(unit))
        module.register_forward_hook(lambda *given: self.post_forward(unit, reshard, given[-1]))
        for parameter in unit.parameters:
            if parameter.whole.requires_grad:
                parameter.whole.register_post_accumulate_grad_hook(lambda _: self.count_gradient(unit))

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)

    def unshard(self, unit: Unit, following: Sequence[Unit]) -> None:
        """Gather a unit, unless it is whole, and start to gather the units that come after it."""
        if unit.arriving is None and not unit.is_gathered:
            start_gather(unit)
        if unit.arriving is not None:
            finish_gather(unit)
        for later in following:
            if later.arriving is None and not later.is_gathered:
                start_gather(later)

    def pre_forward(self, unit: Unit) -> None:
        following = self.units.index(unit) + 1
        self.unshard(unit, self.units[following : following + self.forward_prefetch])

    def post_forward(self, unit: Unit, reshard: bool, outputs: Any) -> None:
        if reshard:
            free(unit)
        if torch.is_grad_enabled():
            self.post_forward_order.append(unit)
            for output in tree_leaves(outputs):
                if isinstance(output, Tensor) and output.requires_grad:
                    output.register_hook(partial(self.pre_backward, unit))
        elif unit.is_gathered:
            free(unit)

    def pre_backward(self, unit: Unit, gradient: Tensor) -> None:
        if unit in self.pending_gradients:
            return
        if not self.pending_gradients:
            torch.autograd.Variable._execution_engine.queue_callback(self.finalize_backward)
        self.pending_gradients[unit] = sum(parameter.whole.requires_grad for parameter in unit.parameters)
        position = self.post_forward_order.index(unit)
        self.unshard(unit, self.post_forward_order[max(0, position - self.backward_prefetch) : position][::-1])

    def count_gradient(self, unit: Unit) -> None:
        self.pending_gradients[unit] -= 1
        if self.pending_gradients[unit] == 0:
            self.post_backward(unit)

    def post_backward(self, unit: Unit) -> None:
        free(unit)
        reduce_gradients(unit)

    def finalize_backward(self) -> None:
        """Finish units with an unused parameter, and units that were gathered but not used."""
        for unit in self.post_forward_order:
            if unit.arriving is not None:
                finish_gather(unit)
            if unit.is_gathered:
                self.post_backward(unit)
        self.post_forward_order, self.pending_gradients = [], {}

    def gathered_bytes(self) -> int:
        """The bytes of memory that whole parameters take now, including those that are being gathered."""
        whole = sum(
            parameter.gathered.untyped_storage().nbytes() for unit in self.units for parameter in unit.parameters
        )
        return whole + sum(unit.arriving[1].nbytes for unit in self.units if unit.arriving is not None)
