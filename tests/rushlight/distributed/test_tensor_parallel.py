"""Shards of linear layers and of a vocabulary, on ranks, against the whole functions and against DTensor."""

import pytest
import torch
from torch.nn import functional as F

from rushlight.distributed import RanksFailed, run_ranks
from rushlight.distributed.shards import shard_sizes

PEOPLE, FEATURES, TOKENS = 5, 8, 7


def whole_layers():
    """Two layers and a loss with everything on one rank: values, and gradients by name."""
    torch.manual_seed(1)
    first, second = torch.nn.Linear(FEATURES, 6), torch.nn.Linear(6, TOKENS)
    x = torch.randn(PEOPLE, FEATURES, requires_grad=True)
    return first, second, x, torch.tensor([0, 6, 3, -100, 2])


def both_ways():
    import torch.distributed as dist
    from torch.distributed.tensor import Shard, init_device_mesh
    from torch.distributed.tensor.debug import CommDebugMode
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, loss_parallel, parallelize_module

    from rushlight.distributed import tensor_parallel as tp

    rank, ranks = dist.get_rank(), dist.get_world_size()
    first, second, x, targets = whole_layers()
    mine = [tp.ColumnParallelLinear(first), tp.RowParallelLinear(second)]
    head = tp.ColumnParallelLinear(torch.nn.Linear(TOKENS, TOKENS))
    found = {}

    def counted(name, call):
        with CommDebugMode() as counts:
            result = call()
        found[name] = sum(counts.get_comm_counts().values())
        return result

    ours = counted("forward", lambda: mine[1](torch.tanh(mine[0](x))))
    logits = counted("head", lambda: head(ours))
    _, start = shard_sizes(TOKENS, ranks)[rank]
    loss = counted("loss", lambda: tp.vocabulary_parallel_cross_entropy(logits, targets, start))
    counted("backward", loss.backward)
    grads = [x.grad, *(p.grad for layer in (*mine, head) for p in layer.parameters())]

    mesh = init_device_mesh("cpu", (ranks,))
    torch.manual_seed(1)  # the head is what comes after the layers
    first, second, again, targets = whole_layers()
    last = torch.nn.Linear(TOKENS, TOKENS)
    sequence = torch.nn.Sequential(first, torch.nn.Tanh(), second, last)
    with torch.no_grad():
        for p in last.parameters():
            p.copy_(tp.gather_from_ranks(getattr(head, "weight" if p.dim() == 2 else "bias").T, TOKENS).T)
    plan = {"0": ColwiseParallel(), "2": RowwiseParallel()}
    plan["3"] = ColwiseParallel(output_layouts=Shard(-1), use_local_output=False)
    parallelize_module(sequence, mesh, plan)
    with loss_parallel():
        theirs = counted("their forward", lambda: sequence(again))
        their_loss = counted("their loss", lambda: F.cross_entropy(theirs, targets))
        counted("their backward", their_loss.backward)
    their_grads = [again.grad, *(p.grad.to_local() for p in sequence.parameters())]
    found["same"] = [torch.allclose(a, b, atol=1e-6) for a, b in zip(grads, their_grads, strict=True)]
    return found | {"losses": (loss.item(), their_loss.to_local().item())}


@pytest.mark.parametrize("ranks", [2])
def test_two_layers_and_a_sharded_head_agree_with_dtensor_in_gradients_and_number_of_collectives(ranks):
    for found in run_ranks(both_ways, ranks):
        assert all(found["same"]), found
        assert found["losses"][0] == pytest.approx(found["losses"][1])
        assert found["forward"] + found["head"] == found["their forward"] == 1
        assert found["loss"] == found["their loss"] == 3
        assert found["backward"] == found["their backward"] == 2


def uneven():
    """A vocabulary of 7 on 3 ranks: 3, 3 and 1."""
    import torch.distributed as dist

    from rushlight.distributed import tensor_parallel as tp

    torch.manual_seed(0)
    linear, x = torch.nn.Linear(4, TOKENS), torch.randn(2, 3, 4, requires_grad=True)
    layer = tp.ColumnParallelLinear(linear, gather=True)
    y = layer(x)
    (y * torch.arange(TOKENS)).sum().backward()
    whole = linear(x)
    grads = torch.autograd.grad((whole * torch.arange(TOKENS)).sum(), [x, linear.weight])
    close = [torch.allclose(y, whole), torch.allclose(x.grad, grads[0])]
    close.append(torch.allclose(layer.weight.grad, tp.shard(grads[1], 0)))
    logits = 1000 * torch.randn(6, TOKENS)
    targets = torch.tensor([0, 3, 6, 2, 2, 5])
    size, first = shard_sizes(TOKENS, dist.get_world_size())[dist.get_rank()]
    for reduction in "none", "sum", "mean":
        part = logits[:, first : first + size].clone().requires_grad_()
        all_of_them = logits.clone().requires_grad_()
        mine = tp.vocabulary_parallel_cross_entropy(part, targets, first, 2, reduction)
        theirs = F.cross_entropy(all_of_them, targets, ignore_index=2, reduction=reduction)
        mine.sum().backward()
        theirs.sum().backward()
        close += [torch.allclose(mine, theirs), torch.allclose(part.grad, all_of_them.grad[:, first : first + size])]
    return close


def test_a_vocabulary_that_does_not_divide_gives_the_whole_function():
    for close in run_ranks(uneven, 3):
        assert all(close), close


def test_an_unknown_reduction_is_refused_before_anything_is_sent():
    def wrong():
        from rushlight.distributed.tensor_parallel import vocabulary_parallel_cross_entropy

        vocabulary_parallel_cross_entropy(torch.zeros(1, 2), torch.zeros(1, dtype=torch.int64), 0, reduction="average")

    with pytest.raises(RanksFailed, match="'average' is not a reduction"):
        run_ranks(wrong, 2)
