"""Tensor parallelism: each rank has one shard of a layer's weight, and sums over ranks combine the partial results.

A linear layer can be cut in two ways. In columns, each rank has some of the outputs: forward sends nothing, and the gradient
of the input is a sum over ranks. In rows, each rank has some of the inputs: the output is a sum over ranks, and backward
sends nothing. Both sums use the same two functions with forward and backward exchanged (f and g in the paper on Megatron-LM).
If the columns are the tokens of a vocabulary, the cross-entropy needs three numbers from each row, and no rank ever has all
logits. In PyTorch: `torch/distributed/tensor/parallel/style.py` (`ColwiseParallel`, `RowwiseParallel`) and `loss.py`, where
DTensor derives the same collectives from placements. Left out: sequence parallelism, weights of classes, label smoothing.

This module works on torch itself. Nothing in it depends on a particular device.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed import ReduceOp
from torch.nn import functional as F

from .shards import pieces, shard_sizes

# Given: shards, a sum over ranks, and autograd functions -------------------------------------------------------------


def shard(x: Tensor, dim: int, group: dist.ProcessGroup | None = None) -> Tensor:
    """A new tensor: this rank's part, along dimension `dim`, of a tensor that all ranks have."""
    return pieces(x.detach(), dim, dist.get_world_size(group))[dist.get_rank(group)].clone()


def all_reduced(x: Tensor, op: ReduceOp.RedOpType = ReduceOp.SUM, group: dist.ProcessGroup | None = None) -> Tensor:
    """A new tensor: the reduction of all ranks' `x` by `op`, which is a sum by default. Autograd does not record it."""
    total = x.detach().clone(memory_format=torch.contiguous_format)
    dist.all_reduce(total, op, group=group)
    return total


class _WithBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, forward, backward):
        ctx.apply_backward = backward
        return forward(x)

    @staticmethod
    def backward(ctx, gradient):
        return ctx.apply_backward(gradient), None, None


def apply_with_backward(x: Tensor, forward: Callable[[Tensor], Tensor], backward: Callable[[Tensor], Tensor]) -> Tensor:
    """Return `forward(x)`. Autograd computes the gradient of `x` by `backward`, whatever `forward` does."""
    return _WithBackward.apply(x, forward, backward)


# Into and out of the parallel part -----------------------------------------------------------------------------------


def copy_to_ranks(x: Tensor, group: dist.ProcessGroup | None = None) -> Tensor:
    """The input of a part of the model that each rank computes for itself: forward returns `x` unchanged, backward sums over
    ranks.

    All ranks have the same `x`, of any shape, and each rank computes something different from it. So each rank computes a
    part of its gradient, and the gradient is the sum of these parts, on all ranks. For example, if the gradients that arrive on
    two ranks are [1] and [10], `x` gets the gradient [11] on both.

    Allowed: one `all_reduce` in backward (`all_reduced(x, group=group)` does it), nothing in forward. Neither `x` nor an
    incoming gradient is written to. `apply_with_backward` makes an autograd function from two functions. Not allowed here
    and below: DTensor.

    Source: `torch/distributed/tensor/_redistribute.py`, where the gradient of `Replicate` for a local computation is
    `Partial`; in Megatron-LM `copy_to_tensor_model_parallel_region`.
    """
    return apply_with_backward(x, lambda x: x, lambda gradient: all_reduced(gradient, group=group))


def reduce_from_ranks(x: Tensor, group: dist.ProcessGroup | None = None) -> Tensor:
    """The output of a part of the model that each rank computes for itself: forward sums over ranks, backward sends nothing.

    Each rank has a summand `x`, all of one shape; all get the sum, in a new tensor. (A rank that is alone may get `x` itself.)
    The computation that follows is the same on all ranks, and so is the gradient that arrives: it is the gradient of each
    summand, unchanged. For example, from [1] and [10] both ranks get [11]. If the gradient [3] arrives, `x` gets [3] on both.

    Allowed: one `all_reduce` in forward, nothing in backward. `x` is not written to.

    Source: `torch/distributed/tensor/placement_types.py`, `Partial` to `Replicate`; in Megatron-LM
    `reduce_from_tensor_model_parallel_region`.
    """
    return apply_with_backward(x, lambda x: all_reduced(x, group=group), lambda gradient: gradient)


def gather_from_ranks(x: Tensor, size: int, group: dist.ProcessGroup | None = None) -> Tensor:
    """Forward returns the shards of all ranks side by side, `size` in the last dimension; backward returns each rank's part
    of the gradient. `x` is this rank's `shard` along the last dimension, which has `size` elements in all. Sends one
    all-gather of shards that are padded to equal sizes."""
    ranks = dist.get_world_size(group)
    sizes = shard_sizes(size, ranks)
    mine, first = sizes[dist.get_rank(group)]

    def gathered(x: Tensor) -> Tensor:
        padded = F.pad(x, (0, sizes[0][0] - x.shape[-1])).contiguous()
        shards = padded.new_empty(ranks, *padded.shape)
        getattr(dist, "all_gather_single", dist.all_gather_into_tensor)(shards, padded[None], group=group)
        return shards.movedim(0, -2).flatten(-2)[..., :size].contiguous()

    return apply_with_backward(x, gathered, lambda gradient: gradient.narrow(-1, first, mine))


# Linear layers -------------------------------------------------------------------------------------------------------


def column_parallel_linear(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    size: int | None = None,
    group: dist.ProcessGroup | None = None,
) -> Tensor:
    """Apply a linear layer whose outputs are divided among the ranks: `x` (..., features) to (..., this rank's outputs).

    Args:
        x: the same on all ranks.
        weight: this rank's rows of the layer's weight, (outputs, features).
        bias: this rank's part of the bias, (outputs).
        size: the number of outputs of the whole layer, if all ranks need all of them: the result is then (..., size).

    The gradients of `weight` and `bias` are this rank's rows of the whole layer's gradients. The gradient of `x` is the whole
    one. For example, with 600 outputs on 4 ranks an `x` of (32, 64) becomes (32, 150), and (32, 600) if `size` is 600.

    Allowed: forward an all-gather if `size` is given (`gather_from_ranks` does it) and otherwise nothing; backward one
    `all_reduce` if `x` requires a gradient.

    Source: `torch/distributed/tensor/parallel/style.py`, `ColwiseParallel`.
    """
    y = F.linear(copy_to_ranks(x, group), weight, bias)
    return y if size is None else gather_from_ranks(y, size, group)


def row_parallel_linear(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, group: dist.ProcessGroup | None = None
) -> Tensor:
    """Apply a linear layer whose inputs are divided among the ranks: `x` (..., this rank's features) to (..., outputs).

    Args:
        x: this rank's features, such as `column_parallel_linear` returns them.
        weight: this rank's columns of the layer's weight, (outputs, features).
        bias: the whole bias, (outputs), the same on all ranks. It is added once.

    All ranks get the whole layer's output. For example, with 256 features on 4 ranks and 64 outputs, an `x` of (32, 64) and a
    `weight` of (64, 64) give (32, 64). The gradients of `x` and `weight` are this rank's columns of the whole gradients.
    The gradient of `bias` is the whole one, on each rank.

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


# The loss ------------------------------------------------------------------------------------------------------------


def vocabulary_parallel_cross_entropy(
    logits: Tensor,
    targets: Tensor,
    first: int,
    ignore_index: int = -100,
    reduction: str = "mean",
    group: dist.ProcessGroup | None = None,
) -> Tensor:
    """Compute `cross_entropy` of logits whose vocabulary is divided among the ranks; the same number on all ranks.

    Args:
        logits: (rows, tokens): of this rank's tokens, at least one. Logits may be -inf, even all of a rank's, as long as each
            row has a finite logit on some rank: such a token has the probability 0.
        targets: (rows): tokens of the whole vocabulary, the same on all ranks, int64.
        first: the index of this rank's first token in the vocabulary.
        ignore_index: a row with this target has loss 0 and no gradient, for any value of `ignore_index`, and the mean is over
            the other rows.
        reduction: "none": the losses, (rows); "sum"; "mean", which is nan if there are no rows to average (the gradient is 0
            all the same). Anything else is a ValueError, before anything is sent.

    A row's loss is log(sum(exp(logits - m))) - (its target's logit - m), where m is the largest logit of the row on any rank.
    Subtracting m keeps the exponentials from overflowing. Neither `logits` nor `targets` is written to. No step computes in a
    narrower dtype than that of `logits`. The gradient of this rank's logits is its part of the whole gradient. For example, if
    one rank has the logits [[0, 0]] and another one [[0, 0]], the loss is log(4) for any target.

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
    target_logits = shifted.gather(0, torch.where(here, place, 0)[None]).squeeze(0)
    target_logits = reduce_from_ranks(torch.where(here, target_logits, 0), group)
    counts = targets != ignore_index
    losses = torch.where(counts, total.log() - target_logits, 0)
    return {"none": losses, "sum": losses.sum(), "mean": losses.sum() / counts.sum()}[reduction]
