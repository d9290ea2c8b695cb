"""The MiniGPT on several ranks, all of them in one process: data parallel, fully sharded, and tensor parallel training.

The ranks take turns in one process, so a collective is a function of a list with the tensor of each rank, and autograd goes through
it. What real ranks send is in `rushlight.distributed`, which works on torch. `Ranks` counts the bytes.

Counterparts: `torch/nn/parallel/distributed.py`, `torch/distributed/fsdp/`, `torch/distributed/tensor/parallel/style.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.course.training import IGNORED

# A block in parts ----------------------------------------------------------------------------------------------------


def shard_block(state: Mapping[str, Tensor], heads: int, rank: int, ranks: int) -> dict[str, Tensor]:
    """One rank's part of the parameters of a block, for tensor parallel training.

    Each rank gets heads / ranks heads, one after the other: rank 0 gets the first ones. The rows of `attention.weight` are
    all queries, then all keys, then all values. In each of these three, the rows of head h come after those of head h - 1. A
    rank needs the queries, the keys and the values of its own heads, in this order. `projection` mixes the results of all heads,
    so a rank gets the columns of its own heads. `up` and `down` are cut in the same way: a rank gets its share of the rows
    of `up`, and the same columns of `down`.

    The results of the ranks are summed, so a bias that is added after the sum must count once: rank 0 has all of
    `projection.bias` and `down.bias`, and the other ranks have zeros. The norms are whole on each rank.

    Args:
        state: the parameters of a block by name, as `block.state_dict()` has them. `attention.weight` is (3 · width, width),
            `projection.weight` is (width, width), `up.weight` is (hidden, width), and `down.weight` is (width, hidden). Each of
            these has a bias with one number for each row. The others belong to `norm_1` and `norm_2`. No tensor changes.
        heads: the number of heads of the block. Each head has width / heads features.
        rank: from 0 to ranks - 1.

    Returns:
        a dict with the same keys in the same order. Its tensors may be views. Gradients go through them to the tensors of
        `state`.

    Raises:
        ValueError: the heads, or the rows of `up`, cannot be divided equally among the ranks.

    >>> from rushlight.course.gpt import gpt
    >>> block = gpt(rl, width=8, heads=4).blocks[0]
    >>> part = shard_block(block.state_dict(), heads=4, rank=1, ranks=2)
    >>> [tuple(part[f"{name}.weight"].shape) for name in ("attention", "projection", "up", "down")]
    [(12, 8), (8, 4), (16, 8), (8, 16)]

    Source: `ColwiseParallel` and `RowwiseParallel` in `torch/distributed/tensor/parallel/style.py`.
    """
    hidden, width = state["up.weight"].shape
    if heads % ranks or hidden % ranks:
        raise ValueError(f"{heads} heads and {hidden} rows cannot be divided among {ranks} ranks")
    mine, rows = slice(rank * width // ranks, (rank + 1) * width // ranks), hidden // ranks
    part = dict(state)
    for name in ("attention.weight", "attention.bias"):
        part[name] = functions.cat([chunk[mine] for chunk in state[name].split(width)])
    for name in ("up.weight", "up.bias"):
        part[name] = state[name][rank * rows : (rank + 1) * rows]
    part["projection.weight"] = state["projection.weight"][:, mine]
    part["down.weight"] = state["down.weight"][:, rank * rows : (rank + 1) * rows]
    if rank:
        for name in ("projection.bias", "down.bias"):
            part[name] = functions.zeros_like(state[name])
    return part


def average_gradients(gradients: Sequence[Sequence[Tensor | None]], counts: Sequence[int]) -> list[Tensor]:
    """The gradients of the mean loss over all tokens, from those of the ranks, each of the mean loss over its own tokens.

    Rank r has `counts[r]` tokens with a target. The loss of all tokens is not the mean of the ranks' losses unless all ranks have
    equally many. A rank without a token has a loss that is nan, and so have its gradients: leave it out.

    Args:
        gradients: for each rank a list with a gradient for each parameter, in the same order on all ranks. None means a
            gradient of zeros. For each parameter at least one rank that has a token has a gradient. No list and no tensor changes.
        counts: a list of ints >= 0, one for each rank. At least one is positive.

    Returns:
        a list with a new tensor for each parameter, of the gradient's sizes and dtype.

    >>> [grad.tolist() for grad in average_gradients([[rl.tensor([1.0])], [rl.tensor([5.0])]], counts=[3, 1])]
    [[2.0]]

    Source: `torch/nn/parallel/distributed.py` divides by the number of ranks instead.
    """
    total, averages = sum(counts), []
    for grads in zip(*gradients):
        shares = [grad * (count / total) for grad, count in zip(grads, counts) if count and grad is not None]
        averages.append(sum(shares[1:], shares[0]))
    return averages


# Ranks that take turns -----------------------------------------------------------------------------------------------


class Ranks:
    """Collectives over lists with a tensor of each rank. `nbytes` counts whole tensors by the kind of collective. `xp` is rushlight
    or torch."""

    def __init__(self, xp: ModuleType, count: int):
        self.xp, self.count, self.nbytes = xp, count, Counter[str]()

    def all_reduce(self, tensors: Sequence[Tensor]) -> Tensor:
        """The sum, which all ranks then have."""
        self.nbytes["all_reduce"] += tensors[0].nbytes
        return sum(tensors[1:], tensors[0])

    def copied(self, x: Tensor) -> list[Tensor]:
        """A tensor that all ranks have, once for each of them. Its gradient is the sum of theirs, an all-reduce."""
        if x.requires_grad:
            x.register_hook(lambda grad: self.nbytes.update(all_reduce=grad.nbytes))
        return [x] * self.count

    def all_gather(self, shards: Sequence[Tensor]) -> Tensor:
        whole = self.xp.cat([*shards])
        self.nbytes["all_gather"] += whole.nbytes
        return whole


def run_block(parts: Sequence[Mapping[str, Tensor]], heads: int, x: Tensor, ranks: Ranks) -> Tensor:
    """The output of a block whose parameters are `parts`, those of each rank. `x` is (batch, n, width)."""
    F, d = ranks.xp.nn.functional, x.shape[-1] // heads
    mixed, changed = [], []
    first = parts[0]  # what all ranks have whole
    normed = F.layer_norm(x, x.shape[-1:], first["norm_1.weight"], first["norm_1.bias"])
    for part, mine in zip(parts, ranks.copied(normed)):
        qkv = F.linear(mine, part["attention.weight"], part["attention.bias"])
        q, k, v = (chunk.unflatten(2, (-1, d)).transpose(1, 2) for chunk in qkv.chunk(3, 2))
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
        mixed.append(F.linear(out, part["projection.weight"], part["projection.bias"]))
    x = x + ranks.all_reduce(mixed)
    normed = F.layer_norm(x, x.shape[-1:], first["norm_2.weight"], first["norm_2.bias"])
    for part, mine in zip(parts, ranks.copied(normed)):
        hidden = F.gelu(F.linear(mine, part["up.weight"], part["up.bias"]), approximate="tanh")
        changed.append(F.linear(hidden, part["down.weight"], part["down.bias"]))
    return x + ranks.all_reduce(changed)


# Training on ranks ---------------------------------------------------------------------------------------------------


def train_on_ranks(
    xp: ModuleType,
    model: Any,
    heads: int,
    data: Sequence[tuple[np.ndarray, np.ndarray]],
    strategy: str,
    count: int = 2,
    lr: float = 0.5,
) -> tuple[list[float], dict[str, int]]:
    """The losses of some steps of gradient descent, and the bytes of a step by collective.

    `strategy` is "one" for a single rank, "ddp", "fsdp" or "tp". In data parallel steps each rank has some rows of each batch. All
    ranks have the same parameters, so one model serves them in turn.
    """
    losses, ranks, parameters = [], Ranks(xp, count), [*model.parameters()]
    shards = _cut(parameters, count)
    for inputs, targets in data:
        ranks.nbytes.clear()
        if strategy == "fsdp":
            _gather(model, parameters, shards, ranks)
        batches = [(inputs, targets)]
        if strategy in ("ddp", "fsdp"):
            batches = [*zip(np.array_split(inputs, count), np.array_split(targets, count))]
        gradients, means, counts = [], [], [int((wanted != IGNORED).sum()) for _, wanted in batches]
        for mine, wanted in batches:
            model.zero_grad()
            scores = _forward(model, heads, mine, ranks) if strategy == "tp" else model(xp.from_numpy(mine))
            wanted = xp.from_numpy(wanted.copy()).flatten()
            loss = xp.nn.functional.cross_entropy(scores.flatten(0, 1), wanted, ignore_index=IGNORED)
            loss.backward()
            gradients.append([parameter.grad for parameter in parameters])
            means.append(loss.item())
        losses.append(sum(mean * n for mean, n in zip(means, counts) if n) / sum(counts))
        averages = average_gradients(gradients, counts)
        kind = {"ddp": "all_reduce", "fsdp": "reduce_scatter"}.get(strategy)
        ranks.nbytes.update({kind: sum(average.nbytes for average in averages)} if kind else {})
        with xp.no_grad():
            if strategy == "fsdp":  # each rank updates its shards, and has nothing else until the next gather
                for mine, theirs in zip(shards, _cut(averages, count)):
                    for shard, grad in zip(mine, theirs):
                        shard.sub_(grad * lr)
                for parameter in parameters:
                    parameter.fill_(float("nan"))
            else:
                for parameter, grad in zip(parameters, averages):
                    parameter.sub_(grad * lr)
    sent = dict(ranks.nbytes)
    if strategy == "fsdp":
        _gather(model, parameters, shards, ranks)
    return losses, sent


def _cut(tensors: Sequence[Tensor], count: int) -> list[list[Tensor]]:
    """Each tensor as a shard for each rank."""
    return [[shard.clone() for shard in tensor.detach().flatten().chunk(count)] for tensor in tensors]


def _gather(model: Any, parameters: Sequence[Tensor], shards: Sequence[Sequence[Tensor]], ranks: Ranks) -> None:
    """The parameters from their shards: those of the blocks for the forward pass and for the backward pass, all others once."""
    twice = {id(parameter) for parameter in model.blocks.parameters()}
    with ranks.xp.no_grad():
        for parameter, shard in zip(parameters, shards):
            for _ in range(2 if id(parameter) in twice else 1):
                parameter.copy_(ranks.all_gather(shard).view(parameter.shape))


def _forward(model: Any, heads: int, inputs: np.ndarray, ranks: Ranks) -> Tensor:
    """The scores, each block in as many parts as there are ranks. The parts are views of the parameters."""
    xp = ranks.xp
    x = model.token(xp.from_numpy(inputs)) + model.position(xp.arange(inputs.shape[1]))
    for block in model.blocks:
        parts = [shard_block(dict(block.named_parameters()), heads, rank, ranks.count) for rank in range(ranks.count)]
        x = run_block(parts, heads, x, ranks)
    return model.head(model.norm(x))
