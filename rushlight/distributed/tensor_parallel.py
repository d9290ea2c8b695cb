"""Tensor parallelism: a layer's weight in shards, one on each rank, and the sums over ranks that make them one layer again.

A linear layer can be cut in two ways. In columns, each rank has some of the outputs: nothing is sent on the way forward, and
the gradient of the input is a sum over ranks. In rows, each rank has some of the inputs: the output is a sum over ranks, and
nothing is sent on the way back. Both sums are the same two functions the other way round (f and g in the paper on Megatron-LM).
If the columns are a vocabulary's tokens, the cross-entropy needs three numbers from each row and no rank ever has all logits.
In PyTorch: `torch/distributed/tensor/parallel/style.py` (`ColwiseParallel`, `RowwiseParallel`) and `loss.py`, where DTensor
finds the same collectives from placements. Left out: sequence parallelism, weights of classes, label smoothing.

This module works on torch itself. Nothing in it computes on a particular device.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn import functional as F

from .shards import pieces, shard_sizes

# ------------------------------------------------------------------------------------------------------------
# What is given: shards, a sum over ranks, and a function with the one that takes its gradient back


def shard(x: Tensor, dim: int, group: dist.ProcessGroup | None = None) -> Tensor:
    """This rank's part, along the dimension `dim`, of a tensor that all ranks have: a new tensor."""
    return pieces(x.detach(), dim, dist.get_world_size(group))[dist.get_rank(group)].clone()


def all_reduced(
    x: Tensor, op: dist.ReduceOp.RedOpType = dist.ReduceOp.SUM, group: dist.ProcessGroup | None = None
) -> Tensor:
    """The sum of all ranks' `x`, or what else `op` says, in a new tensor. Autograd does not see it."""
    total = x.detach().clone(memory_format=torch.contiguous_format)
    dist.all_reduce(total, op, group=group)
    return total


class _ThereAndBack(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, there, back):
        ctx.back = back
        return there(x)

    @staticmethod
    def backward(ctx, gradient):
        return ctx.back(gradient), None, None


def there_and_back(x: Tensor, there: Callable[[Tensor], Tensor], back: Callable[[Tensor], Tensor]) -> Tensor:
    """`there(x)`, whose gradient autograd will take to `x` by `back`, whatever `there` does."""
    return _ThereAndBack.apply(x, there, back)


# ------------------------------------------------------------------------------------------------------------
# The ways in and out


def copy_to_ranks(x: Tensor, group: dist.ProcessGroup | None = None) -> Tensor:
    """The way into a part of the model that each rank computes for itself: forward `x` as it is, backward a sum over ranks.

    All ranks have the same `x`, of any shape, and each uses it for something else. So each finds a part of its gradient; the
    gradient is their sum, on all ranks.

    Allowed: one `all_reduce` on the way back (`all_reduced` does it), nothing on the way there. Neither `x` nor a gradient
    that arrives is written to. `there_and_back` makes a function for autograd of two. Not allowed here and below: DTensor.

    Source: `torch/distributed/tensor/_redistribute.py`, the gradient of `Replicate` for a local computation, is `Partial`;
    in Megatron-LM `copy_to_tensor_model_parallel_region`.
    """
    return there_and_back(x, lambda x: x, lambda gradient: all_reduced(gradient, group=group))


def reduce_from_ranks(x: Tensor, group: dist.ProcessGroup | None = None) -> Tensor:
    """The way out of a part of the model that each rank computes for itself: forward a sum over ranks, backward nothing.

    Each rank has a summand `x`, all of one shape; all get the sum, in a new tensor. What follows is the same on all ranks, and
    so is the gradient that comes back; it is each summand's as it is. (To sum it again would give it as many times over as
    there are ranks.)

    Allowed: one `all_reduce` on the way there, nothing on the way back. `x` is not written to.

    Source: `torch/distributed/tensor/placement_types.py`, `Partial` to `Replicate`; in Megatron-LM
    `reduce_from_tensor_model_parallel_region`.
    """
    return there_and_back(x, lambda x: all_reduced(x, group=group), lambda gradient: gradient)


def gather_from_ranks(x: Tensor, size: int, group: dist.ProcessGroup | None = None) -> Tensor:
    """Forward the shards of all ranks side by side, `size` in the last dimension; backward each rank's part of the gradient.

    `x` is this rank's `shard` along the last dimension, which has `size` elements in all. Sends one all-gather of shards that are
    filled up to equal sizes.
    """
    ranks = dist.get_world_size(group)
    sizes = shard_sizes(size, ranks)
    mine, first = sizes[dist.get_rank(group)]

    def gathered(x: Tensor) -> Tensor:
        padded = F.pad(x, (0, sizes[0][0] - x.shape[-1])).contiguous()
        shards = padded.new_empty(ranks, *padded.shape)
        getattr(dist, "all_gather_single", dist.all_gather_into_tensor)(shards, padded[None], group=group)
        return shards.movedim(0, -2).flatten(-2)[..., :size].contiguous()

    return there_and_back(x, gathered, lambda gradient: gradient.narrow(-1, first, mine))


# ------------------------------------------------------------------------------------------------------------
# Linear layers


def column_parallel_linear(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    size: int | None = None,
    group: dist.ProcessGroup | None = None,
) -> Tensor:
    """A linear layer of which each rank has some of the outputs: `x` (..., features) to (..., this rank's outputs).

    Args:
        x: the same on all ranks.
        weight: this rank's rows of the layer's weight, (outputs, features).
        bias: this rank's part of the bias, (outputs).
        size: how many outputs the whole layer has, if all ranks are to have all of them: the result is then (..., size).

    The gradients of `weight` and `bias` are this rank's rows of the whole layer's gradients, that of `x` is the whole one.

    Allowed: forward an all-gather if `size` is given (`gather_from_ranks` does it) and otherwise nothing; backward one
    `all_reduce` if `x` requires a gradient.

    Source: `torch/distributed/tensor/parallel/style.py`, `ColwiseParallel`.
    """
    y = F.linear(copy_to_ranks(x, group), weight, bias)
    return y if size is None else gather_from_ranks(y, size, group)


def row_parallel_linear(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, group: dist.ProcessGroup | None = None
) -> Tensor:
    """A linear layer of which each rank has some of the inputs: `x` (..., this rank's features) to (..., outputs).

    Args:
        x: this rank's features, such as `column_parallel_linear` returns them.
        weight: this rank's columns of the layer's weight, (outputs, features).
        bias: the whole bias, (outputs), the same on all ranks. It counts once.

    All ranks get the whole layer's output. The gradients of `x` and `weight` are this rank's columns of the whole gradients,
    that of `bias` is the whole one, on each rank.

    Allowed: forward one `all_reduce`, of the output's size; backward nothing.

    Source: `torch/distributed/tensor/parallel/style.py`, `RowwiseParallel`.
    """
    y = reduce_from_ranks(F.linear(x, weight), group)
    return y if bias is None else y + bias


class ColumnParallelLinear(nn.Module):
    """This rank's shard of an `nn.Linear` that all ranks have, cut by its outputs."""

    def __init__(self, linear: nn.Linear, gather: bool = False, group: dist.ProcessGroup | None = None) -> None:
        super().__init__()
        self.size, self.group = linear.out_features if gather else None, group
        self.weight = nn.Parameter(shard(linear.weight, 0, group))
        self.bias = None if linear.bias is None else nn.Parameter(shard(linear.bias, 0, group))

    def forward(self, x: Tensor) -> Tensor:
        return column_parallel_linear(x, self.weight, self.bias, self.size, self.group)


class RowParallelLinear(nn.Module):
    """This rank's shard of an `nn.Linear` that all ranks have, cut by its inputs."""

    def __init__(self, linear: nn.Linear, group: dist.ProcessGroup | None = None) -> None:
        super().__init__()
        self.group = group
        self.weight = nn.Parameter(shard(linear.weight, 1, group))
        self.bias = None if linear.bias is None else nn.Parameter(linear.bias.detach().clone())

    def forward(self, x: Tensor) -> Tensor:
        return row_parallel_linear(x, self.weight, self.bias, self.group)


# ------------------------------------------------------------------------------------------------------------
# The loss


def vocabulary_parallel_cross_entropy(
    logits: Tensor,
    targets: Tensor,
    first: int,
    ignore_index: int = -100,
    reduction: str = "mean",
    group: dist.ProcessGroup | None = None,
) -> Tensor:
    """`cross_entropy` of logits of which each rank has some of the vocabulary; the same number on all ranks.

    Args:
        logits: (rows, tokens): of this rank's tokens, at least one.
        targets: (rows): tokens of the whole vocabulary, the same on all ranks, int64.
        first: which token this rank's first one is.
        ignore_index: a row with this target has loss 0 and no gradient, whatever the number is, and the mean is over the others.
        reduction: "none": the losses, (rows); "sum"; "mean", which is nan if there are no rows to take it of. Anything else is a
            ValueError, before anything is sent.

    A row's loss is log(sum(exp(logits - m))) - (its target's logit - m) with m the largest logit of the row, on any rank: with
    it no exponential overflows. The gradient of this rank's logits is its part of the whole gradient.

    Allowed: three `all_reduce` of one number for each row (or fewer calls with these numbers); backward nothing.

    Source: `torch/distributed/tensor/parallel/loss.py`, `_log_softmax` and `_nll_loss_forward`.
    """
    if reduction not in ("none", "sum", "mean"):
        raise ValueError(f"{reduction!r} is not a reduction: it is 'none', 'sum' or 'mean'")
    by_token = logits.T
    most = all_reduced(by_token.amax(0), dist.ReduceOp.MAX, group)
    shifted = by_token - most
    total = reduce_from_ranks(shifted.exp().sum(0), group)
    place = targets - first
    here = (place >= 0) & (place < len(by_token))
    found = shifted.gather(0, torch.where(here, place, 0)[None]).squeeze(0)
    found = reduce_from_ranks(torch.where(here, found, 0), group)
    counts = targets != ignore_index
    losses = torch.where(counts, total.log() - found, 0)
    return {"none": losses, "sum": losses.sum(), "mean": losses.sum() / counts.sum()}[reduction]
