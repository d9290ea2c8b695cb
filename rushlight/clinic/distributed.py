"""Diagnoses of lab 13d: training on several ranks.

For each patient of the framework there are three answers: a small program that shows the fault, the name of the function at fault,
and a sound function in its place. For each script on torch there are a function that finds the cause in any script of its kind, and
the script as it should be, or the second alone. All functions but `first_wait` and the answers about patients run on every rank.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel


def narrow_1(xp: Any) -> Any:
    """A program that shows the fault of patient 13d.1.

    The result differs on the patient, and is the same on the sound framework and on torch. The program has at most 13 statements
    (a lambda is one), and on rank 0 it calls at most 12 operators itself. It uses `xp`, its own variables, and no import.

    An operator is a function or a method of tensors: `xp.ones(2) * 3` calls two, and `sum` and `backward` are operators too. Each
    call in a loop counts. Calls that modules, optimizers and `xp.distributed` make do not count. Reads such as `item`, `tolist` and
    `grad` do not count either.

    `xp` is torch, with four more names. On the patient and on the sound framework they are rushlight's functions, on torch they are
    torch's:

    - `xp.run_ranks(work, ranks=2)`: the results of `work()` on each rank, which begins with seed 0
    - `xp.DistributedDataParallel(module, find_unused_parameters=False)`
    - `xp.FullyShardedDataParallel(module, units=())`: the parameters of each of the modules `units` are gathered together, and so
      are all others
    - `xp.clip_grad_norm(parameters, max_norm)`: of sharded parameters; returns their norm

    Returns:
        a tensor, a number, a string, or a list or tuple of these. An exception is a result too.
    """

    def work():
        heads = xp.nn.ModuleList([xp.nn.Linear(1, 1), xp.nn.Linear(1, 1)])
        heads.forward = lambda i: heads[i](xp.ones(1))
        parallel = xp.DistributedDataParallel(heads, find_unused_parameters=True)
        for i in (0, xp.distributed.get_rank()):
            parallel.zero_grad()
            parallel(i).backward()
        return heads[0].weight.grad

    return xp.run_ranks(work)


def name_1() -> list[str]:
    """The function at fault in patient 13d.1: a list with one name, or with two if the first guess was wrong.

    A single name may be a string instead. A name is the path below `rushlight`, with or without `rushlight.` or `rl.` before it.
    For another patient an answer is `["distributed.pipeline.gpipe_order", "distributed.cost.fit"]`.
    """
    return ["distributed.ddp.mark_ready"]


def mend_1() -> tuple[str, Callable]:
    """A sound function for patient 13d.1.

    Returns:
        two values: the name of the function at fault, and your function, which is defined inside this one. It sees the names of the
        module of the function at fault. What else it needs is imported inside `mend_1`.
    """

    def mark_ready(reducer, parameter):
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

    return "distributed.ddp.mark_ready", mark_ready


def narrow_2(xp: Any) -> Any:
    """A program that shows the fault of patient 13d.2.

    It has at most 6 statements (a lambda is one), and on rank 0 it calls at most 4 operators itself. The rules are those of
    `narrow_1`. On torch, parameters and gradients of a sharded module are `DTensor`s, which have no `tolist`. So return an output
    or a loss.

    Returns:
        a tensor, a number, a string, or a list or tuple of these. An exception is a result too.
    """

    def work():
        layer = xp.nn.Linear(1, 3)
        return xp.FullyShardedDataParallel(layer)(xp.zeros(1))

    return xp.run_ranks(work)


def name_2() -> list[str]:
    """The function at fault in patient 13d.2: a list with one name, or with two if the first guess was wrong.

    A name alone is taken too, as a string. A name is written as in `name_1`, such as `"distributed.cost.fit"`.
    """
    return ["distributed.fsdp.finish_gather"]


def mend_2() -> tuple[str, Callable]:
    """A sound function for patient 13d.2.

    Returns:
        two values: the name of the function at fault, and your function, as in `mend_1`.
    """

    def finish_gather(unit):
        work, everything = unit.arriving
        work.wait()
        rows, start = everything.view(dist.get_world_size(unit.group), -1), 0
        for parameter in unit.parameters:
            end = start + len(parameter.padded)
            parameter.gathered.untyped_storage().resize_(parameter.gathered.numel() * parameter.gathered.element_size())
            parameter.gathered.view(len(rows), -1).copy_(rows[:, start:end])
            start = end
            setattr(parameter.module, parameter.name, parameter.whole)
        unit.arriving, unit.is_gathered = None, True

    return "distributed.fsdp.finish_gather", finish_gather


# A job that waits ----------------------------------------------------------------------------------------------------


def first_wait(records: Sequence[Sequence[dict[str, Any]]]) -> tuple[int, dict[int, tuple[str, int]]] | None:
    """The first collective of a job that cannot be completed, from what the flight recorder of each rank has recorded.

    A collective can be completed if all ranks have called it with the same name, sizes and dtypes. All collectives belong to one
    group, which has all ranks, and one backend.

        >>> entry = {"collective_seq_id": 1, "profiling_name": "gloo:all_reduce", "input_sizes": [[3]], "input_dtypes": ["Float"]}
        >>> first_wait([[entry], []])
        (1, {0: ('all_reduce', 12)})

    Args:
        records: for each rank its entries, the oldest first. Each rank counts its collectives from 1: the number of an entry is its
            `collective_seq_id`. A recorder keeps only the last entries, at least one. So records may begin with different numbers,
            and a collective that is older than the oldest entry of some rank has been completed. A rank without entries has called
            no collective, so no rank has completed one. `profiling_name` is the backend ("gloo", "nccl" or another), a colon and
            the name. `input_sizes` is a list of shapes, and `input_dtypes` has the dtypes of these tensors: "Float" and "Int" have
            4 bytes, "Double" and "Long" 8, "Half" and "BFloat16" 2, "Byte" and "Bool" 1. Other keys do not matter. The records do
            not change.

    Returns:
        None if all collectives can be completed. Otherwise the smallest number whose collective cannot, and a dict with each rank
        that has called it, in order: its name without the backend, and the bytes of its inputs together.
    """
    called = [{entry["collective_seq_id"]: entry for entry in entries} for entries in records]
    oldest = max((min(numbers) for numbers in called if numbers), default=0)
    nbytes = {"Double": 8, "Long": 8, "Float": 4, "Int": 4, "Half": 2, "BFloat16": 2, "Byte": 1, "Bool": 1}
    for number in sorted({number for numbers in called for number in numbers if number >= oldest}):
        calls = {}
        for rank, numbers in enumerate(called):
            if number in numbers:
                calls[rank] = [numbers[number][key] for key in ("profiling_name", "input_sizes", "input_dtypes")]
        if len(calls) < len(records) or any(call != calls[0] for call in calls.values()):
            waiting = {}
            for rank, (name, shapes, kinds) in calls.items():
                inputs = sum(math.prod(shape) * nbytes[kind] for shape, kind in zip(shapes, kinds))
                waiting[rank] = name.partition(":")[2], inputs
            return number, waiting
    return None


def accuracy(model: Callable[[Tensor], Tensor], batches: Iterable[tuple[Tensor, Tensor]]) -> float:
    """The share of the targets of all ranks that a model predicts. Every rank calls this, with batches of its own.

    A target of -1 does not count. If no target of any rank counts, the share is 0.

    Collectives: one `all_reduce`, on each rank, for any batches.

    Nothing is left changed but what a call of the model itself changes: the batches, the model's mode, and the state of torch (the
    process group, the grad mode, which may be off, the default dtype, the random generator) are as before.

    Args:
        model: from inputs (n, features) to a number for each class, (n, classes). The largest one is the prediction. If it is a
            module, it is called in the mode that it has.
        batches: pairs of inputs and targets, (n,), int64. Ranks may have different numbers of batches, and of targets. A rank may
            have no batch. All ranks together have at most a million targets.

    Returns:
        a float, the same on all ranks.
    """
    counts = torch.zeros(2, dtype=torch.int64)
    with torch.no_grad():
        for inputs, targets in batches:
            counted = targets >= 0
            counts += torch.stack([((model(inputs).argmax(1) == targets) & counted).sum(), counted.sum()])
    dist.all_reduce(counts)
    right, total = counts.tolist()
    return right / max(total, 1)


# A parameter that is not used ----------------------------------------------------------------------------------------


def unused_parameters(model: nn.Module, *args: Any) -> tuple[list[str], list[str]]:
    """The parameters of a model that get no gradient, on no rank or on some ranks. Every rank calls this, with arguments of its
    own.

    The loss of a rank is `model(*args)`, a tensor without dimensions. A parameter gets a gradient if the loss depends on it, also
    if the gradient is 0. Parameters that do not require a gradient are not meant. The grad mode is on.

    Collectives: one `all_reduce`.

    Nothing is left changed, as in `accuracy`. The parameters keep their `grad` and their `requires_grad`, and have no more hooks.

    Args:
        model: the same on all ranks, not wrapped. It is called once, itself and no copy, in the mode that it has. Its modules may
            have different modes.
        args: they may be tensors that require gradients, and keep their `grad` and `requires_grad` too. The
            loss need not depend on any parameter.

    Returns:
        two lists of names, in the order of `named_parameters`, the same on all ranks: the parameters that get a gradient on no
        rank, and those that get one on some ranks but not on all.
    """
    parameters = {name: p for name, p in model.named_parameters() if p.requires_grad}
    loss, used = model(*args), [False] * len(parameters)
    if loss.requires_grad and parameters:
        gradients = torch.autograd.grad(loss, [*parameters.values()], allow_unused=True)
        used = [gradient is not None for gradient in gradients]
    counts = torch.tensor(used, dtype=torch.int64)
    dist.all_reduce(counts)
    ranks = dict(zip(parameters, counts.tolist()))
    return (
        [name for name, count in ranks.items() if not count],
        [name for name, count in ranks.items() if 0 < count < dist.get_world_size()],
    )


def tower(width: int) -> nn.Module:
    """A module of two residual layers, each with a norm of its own.

    It has the layers `norm1`, `fc1`, `norm2` and `fc2`: `nn.LayerNorm(width)` and `nn.Linear(width, width)`, made in this order.
    From `x` of (..., width) it computes `x + tanh(fc1(norm1(x)))`, and of the result the same with the second norm and layer. `x`
    itself does not change. The layers keep the values with which they are made. Nothing else uses or seeds the random generator.

    `DistributedDataParallel(tower(width))` trains all its parameters, without a search for unused ones.
    """

    class Tower(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm1, self.fc1 = nn.LayerNorm(width), nn.Linear(width, width)
            self.norm2, self.fc2 = nn.LayerNorm(width), nn.Linear(width, width)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = x + self.fc1(self.norm1(x)).tanh()
            return x + self.fc2(self.norm2(x)).tanh()

    return Tower()


# Ranks that drift apart ----------------------------------------------------------------------------------------------


def first_drift(model: nn.Module, step: Callable[[int], Any], steps: int) -> tuple[int, str] | None:
    """When, and in which tensor, the replicas of a model begin to differ. Every rank calls this, with its replica.

    The replicas are compared before the first step, and after each. At the first difference no more steps are done.

    The tensors are the parameters and then the buffers, in the order of `named_parameters` and `named_buffers`. Two tensors are
    equal if all their bytes are equal. So the smallest difference counts, and `nan` is equal to `nan`.

    Collectives: as you like.

    Nothing is left changed, as in `accuracy`: only `step` changes tensors, their values, memory, strides, `grad` and
    `requires_grad`.

    Args:
        model: with tensors of the same names, shapes and dtypes on all ranks. They may have any dtype, a complex one too, and any
            strides, and may have no elements. None is conjugated or negated only when it is read (`x.is_conj()`, `x.is_neg()`).
        step: `step(i)` does step `i`, from 0. It may call collectives and `backward`, and replace a tensor of the model by another
            one. It is called in the grad mode of the caller.

    Returns:
        how many steps had been done, and the name of the first tensor that differs; the same on all ranks. None if the replicas are
        equal after all steps.
    """
    for done in range(steps + 1):
        tensors = dict([*model.named_parameters(), *model.named_buffers()])
        differs = torch.zeros(len(tensors), dtype=torch.int64)
        for i, tensor in enumerate(tensors.values()):
            mine = tensor.detach().contiguous().view(-1).view(torch.uint8)
            first = mine.clone()
            dist.broadcast(first, 0)
            differs[i] = not torch.equal(first, mine)
        dist.all_reduce(differs)
        if differs.any():
            return done, [*tensors][int(differs.nonzero()[0])]
        if done < steps:
            step(done)
    return None


def fine_tune(
    body: nn.Module, make_head: Callable[[], nn.Module], batches: Iterable[tuple[Tensor, Tensor]], lr: float
) -> tuple[nn.Module, nn.Module]:
    """Train a body and a new head on all ranks, with SGD. Every rank calls this, with batches of its own.

    The loss of a batch is `F.cross_entropy(head(body(inputs)), targets)`. In each step, each rank computes the gradients of one
    batch, and all ranks use the averages over the ranks. So the results are the same on all ranks.

    The grad mode is on. The state of torch is left as in `accuracy`: nothing but `make_head` uses or seeds the random generator.
    The modules keep their modes.

    Args:
        body: the values of rank 0 are used on all ranks. Body and head have no buffers, and all parameters require gradients.
        make_head: makes a new module, with other values on each rank. Those of rank 0 are used on all ranks. It is called once.
        batches: pairs of inputs and targets, as many pairs on each rank. The batches of the ranks may have different sizes.

    Returns:
        the body and the head.
    """
    head = make_head()
    parallel = DistributedDataParallel(nn.Sequential(body, head))
    optimizer = torch.optim.SGD(parallel.parameters(), lr)
    for inputs, targets in batches:
        optimizer.zero_grad()
        F.cross_entropy(parallel(inputs), targets).backward()
        optimizer.step()
    return body, head


# A loss that depends on the number of ranks --------------------------------------------------------------------------


def mean_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """The loss of a rank with which `DistributedDataParallel` gives the gradients of one mean over the tokens of all ranks.

    `DistributedDataParallel` averages the gradients of the ranks: it adds them and divides by the number of ranks.

    Collectives: one `all_reduce`.

    Nothing is left changed, as in `accuracy`: not the arguments either.

    Args:
        logits: (tokens, classes), of this rank: finite numbers of float32 or float64, small and large.
        targets: (tokens,), int64. A target of -100 does not count. Ranks may have different numbers of tokens, or none, or many.

    Returns:
        a tensor without dimensions, of the dtype of `logits`, that depends on `logits`. The mean of these losses over the ranks is
        the mean of `F.cross_entropy(logits, targets, reduction="none")` over all tokens of all ranks that count. If none counts, it
        is 0, and so is each gradient.
    """
    total = (targets != -100).sum()
    dist.all_reduce(total)
    return F.cross_entropy(logits, targets, reduction="sum") * dist.get_world_size() / total.clamp(min=1)


# Further cases -------------------------------------------------------------------------------------------------------


def narrow_3(xp: Any) -> Any:
    """A program that shows the fault of patient 13d.3.

    It has at most 7 statements (a lambda is one), and on rank 0 it calls at most 6 operators itself. The rules are those of
    `narrow_2`. What `xp.clip_grad_norm` returns is a plain tensor.

    Returns:
        a tensor, a number, a string, or a list or tuple of these. An exception is a result too.
    """

    def work():
        sharded = xp.FullyShardedDataParallel(xp.nn.Linear(1, 2, bias=False))
        sharded(xp.ones(1)).sum().backward()
        return xp.clip_grad_norm(sharded.parameters(), 1.0)

    return xp.run_ranks(work)


def name_3() -> list[str]:
    """The function at fault in patient 13d.3: a list with one name, or with two if the first guess was wrong.

    A name alone is taken too, as a string. A name is written as in `name_1`, such as `"distributed.cost.fit"`.
    """
    return ["distributed.fsdp.clip_grad_norm"]


def mend_3() -> tuple[str, Callable]:
    """A sound function for patient 13d.3.

    Returns:
        two values: the name of the function at fault, and your function, as in `mend_1`.
    """
    import math

    import torch
    import torch.distributed as dist

    def clip_grad_norm(parameters, max_norm, norm_type=2.0, group=None):
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

    return "distributed.fsdp.clip_grad_norm", clip_grad_norm
