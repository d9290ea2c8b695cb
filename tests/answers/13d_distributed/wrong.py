"""Wrong answers to lab 13d that a student might well give: each is refused.

A function's name is its exercise's, two underscores, and what is wrong.
"""

# ruff: noqa: F821 (a mend sees the names of the module in which it is planted)

import math

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel


def narrow_1__one_step(xp):
    def work():
        heads = xp.nn.ModuleList([xp.nn.Linear(1, 1), xp.nn.Linear(1, 1)])
        heads.forward = lambda i: heads[i](xp.ones(1))
        parallel = xp.DistributedDataParallel(heads, find_unused_parameters=True)
        parallel(xp.distributed.get_rank()).backward()
        return heads[0].weight.grad

    return xp.run_ranks(work)


def narrow_1__a_name_of_rushlight(xp):
    def work():
        parallel = xp.DistributedDataParallel(xp.nn.Linear(1, 1), find_unused_parameters=True)
        parallel(xp.ones(1)).backward()
        return len(parallel.reducer.buckets)

    return xp.run_ranks(work)


def narrow_1__waits_for_ever(xp):
    def work():
        if xp.distributed.get_rank() == 0:
            xp.distributed.barrier()
        return 1

    return xp.run_ranks(work)


def name_1__find_unused():
    return ["distributed.ddp.find_unused"]


def name_1__finish_and_broadcast():
    return ["distributed.ddp.finish", "distributed.ddp.broadcast_coalesced"]


def name_1__the_class():
    return ["distributed.ddp.DistributedDataParallel"]


def mend_1__zeros_in_the_gradient():
    def mark_ready(reducer, parameter):
        number, place = reducer.places[parameter]
        bucket = reducer.buckets[number]
        if parameter.grad is None:
            parameter.grad = torch.zeros_like(parameter)
        bucket.views[place].copy_(parameter.grad / dist.get_world_size(reducer.group))
        bucket.pending -= 1
        while reducer.launched < len(reducer.buckets) and not reducer.buckets[reducer.launched].pending:
            full = reducer.buckets[reducer.launched]
            full.work = dist.all_reduce(full.buffer, group=reducer.group, async_op=True)
            reducer.launched += 1

    return "distributed.ddp.mark_ready", mark_ready


def mend_1__a_neighbour():
    def finish(reducer, used=None):
        for bucket in reducer.buckets:
            bucket.work.wait()
            for parameter, view in zip(bucket.parameters, bucket.views):
                parameter.grad = view.clone()
            bucket.buffer.zero_()
            bucket.pending, bucket.work = len(bucket.parameters), None
        reducer.launched = 0

    return "distributed.ddp.finish", finish


def narrow_2__divisible(xp):
    def work():
        return xp.FullyShardedDataParallel(xp.nn.Linear(1, 4))(xp.ones(1))

    return xp.run_ranks(work)


def narrow_2__without_a_bias(xp):
    def work():
        return xp.FullyShardedDataParallel(xp.nn.Linear(1, 3, bias=False))(xp.ones(1))

    return xp.run_ranks(work)


def narrow_2__rank_0(xp):
    def work():
        return xp.FullyShardedDataParallel(xp.nn.Linear(1, 3))(xp.ones(1))

    return xp.run_ranks(work)[0]


def name_2__shard():
    return ["distributed.fsdp.shard", "distributed.fsdp.start_gather"]


def name_2__shard_sizes():
    return ["distributed.shards.shard_sizes"]


def mend_2__without_padding_on_both_ends():
    def finish_gather(unit):
        work, everything = unit.arriving
        work.wait()
        rows, start = everything.view(dist.get_world_size(unit.group), -1), 0
        for parameter in unit.parameters:
            length = parameter.whole.numel() // len(rows)
            parameter.gathered.untyped_storage().resize_(parameter.gathered.nbytes)
            parameter.gathered.view(len(rows), -1)[:, :length].copy_(rows[:, start : start + length])
            start += length
            setattr(parameter.module, parameter.name, parameter.whole)
        unit.arriving, unit.is_gathered = None, True

    return "distributed.fsdp.finish_gather", finish_gather


def mend_2__an_odd_case():
    def finish_gather(unit):
        work, everything = unit.arriving
        work.wait()
        rows, start = everything.view(dist.get_world_size(unit.group), -1), 0
        for parameter in unit.parameters:
            parameter.gathered.untyped_storage().resize_(parameter.gathered.nbytes)
            parameter.gathered.view(len(rows), -1).copy_(rows[:, start : start + len(parameter.padded)])
            start += parameter.sharded.numel() + (dist.get_rank() == 1)
            setattr(parameter.module, parameter.name, parameter.whole)
        unit.arriving, unit.is_gathered = None, True

    return "distributed.fsdp.finish_gather", finish_gather


def mend_2__does_not_wait():
    def finish_gather(unit):
        _, everything = unit.arriving
        rows, start = everything.view(dist.get_world_size(unit.group), -1), 0
        for parameter in unit.parameters:
            parameter.gathered.untyped_storage().resize_(parameter.gathered.nbytes)
            parameter.gathered.view(len(rows), -1).copy_(rows[:, start : start + len(parameter.padded)])
            start += len(parameter.padded)
            setattr(parameter.module, parameter.name, parameter.whole)
        unit.arriving, unit.is_gathered = None, True

    return "distributed.fsdp.finish_gather", finish_gather


BYTES = dict(Double=8, Long=8, Float=4, Int=4, Half=2, BFloat16=2, Byte=1, Bool=1)


def _form(entry):
    return entry and (entry["profiling_name"], str(entry["input_sizes"]), str(entry["input_dtypes"]))


def _called(entry):
    nbytes = sum(math.prod(s) * BYTES[k] for s, k in zip(entry["input_sizes"], entry["input_dtypes"]))
    return entry["profiling_name"].partition(":")[2], nbytes


def _first(numbers, at):
    for number in numbers:
        row = at(number)
        if len({_form(entry) for entry in row}) > 1:
            return number, {rank: _called(entry) for rank, entry in enumerate(row) if entry}
    return None


def first_wait__by_position(records):
    longest = max(map(len, records))
    found = _first(range(longest), lambda i: [entries[i] if i < len(entries) else None for entries in records])
    return found and (found[0] + 1, found[1])


def first_wait__only_missing_ones(records):
    last = [max((entry["collective_seq_id"] for entry in entries), default=0) for entries in records]
    if min(last) == max(last):
        return None
    number = min(last) + 1
    row = [next((e for e in entries if e["collective_seq_id"] == number), None) for entries in records]
    return number, {rank: _called(entry) for rank, entry in enumerate(row) if entry}


def first_wait__from_the_oldest_of_all(records):
    table = [{entry["collective_seq_id"]: entry for entry in entries} for entries in records]
    numbers = sorted({number for row in table for number in row})
    return _first(numbers, lambda number: [row.get(number) for row in table])


def first_wait__names_alone(records):
    table = [{entry["collective_seq_id"]: entry for entry in entries} for entries in records]
    oldest = max((min(row) for row in table if row), default=0)
    for number in sorted({number for row in table for number in row if number >= oldest}):
        row = [entries.get(number) for entries in table]
        if len({entry and entry["profiling_name"] for entry in row}) > 1:
            return number, {rank: _called(entry) for rank, entry in enumerate(row) if entry}
    return None


def first_wait__bytes_alone(records):
    table = [{entry["collective_seq_id"]: entry for entry in entries} for entries in records]
    oldest = max((min(row) for row in table if row), default=0)
    for number in sorted({number for row in table for number in row if number >= oldest}):
        row = [entries.get(number) for entries in table]
        if len({entry and _called(entry) for entry in row}) > 1:
            return number, {rank: _called(entry) for rank, entry in enumerate(row) if entry}
    return None


def accuracy__in_the_loop(model, batches):
    counts = torch.zeros(2, dtype=torch.int64)
    for inputs, targets in batches:
        mine = torch.stack([(model(inputs).argmax(1) == targets).sum(), (targets >= 0).sum()])
        dist.all_reduce(mine)
        counts += mine
    return counts[0].item() / max(counts[1].item(), 1)


def accuracy__a_mean_of_shares(model, batches):
    right = total = 0
    for inputs, targets in batches:
        right += (model(inputs).argmax(1) == targets).sum().item()
        total += (targets >= 0).sum().item()
    share = torch.tensor(right / max(total, 1), dtype=torch.float64)
    dist.all_reduce(share)
    return share.item() / dist.get_world_size()


def accuracy__counts_all(model, batches):
    counts = torch.zeros(2, dtype=torch.int64)
    for inputs, targets in batches:
        counts += torch.tensor([int((model(inputs).argmax(1) == targets).sum()), len(targets)])
    dist.all_reduce(counts)
    return counts[0].item() / max(counts[1].item(), 1)


def accuracy__a_barrier(model, batches):
    batches = list(batches)
    most = torch.tensor(len(batches))
    dist.all_reduce(most, dist.ReduceOp.MAX)
    counts = torch.zeros(2, dtype=torch.int64)
    for i in range(int(most)):
        mine = torch.zeros(2, dtype=torch.int64)
        if i < len(batches):
            inputs, targets = batches[i]
            mine = torch.stack([(model(inputs).argmax(1) == targets).sum(), (targets >= 0).sum()])
        dist.all_reduce(mine)
        counts += mine
    return counts[0].item() / max(counts[1].item(), 1)


def unused_parameters__on_this_rank(model, *args):
    loss = model(*args)
    parameters = dict(model.named_parameters())
    gradients = torch.autograd.grad(loss, [*parameters.values()], allow_unused=True)
    return [name for name, gradient in zip(parameters, gradients) if gradient is None], []


def unused_parameters__zeros_are_none(model, *args):
    wanted = {name: p for name, p in model.named_parameters() if p.requires_grad}
    loss, used = model(*args), [0] * len(wanted)
    if loss.requires_grad:
        gradients = torch.autograd.grad(loss, [*wanted.values()], allow_unused=True)
        used = [int(gradient is not None and bool(gradient.any())) for gradient in gradients]
    counts = torch.tensor(used)
    dist.all_reduce(counts)
    ranks = dist.get_world_size()
    names = [*zip(wanted, counts.tolist())]
    return [name for name, count in names if not count], [name for name, count in names if 0 < count < ranks]


def unused_parameters__by_backward(model, *args):
    wanted = {name: p for name, p in model.named_parameters() if p.requires_grad}
    loss = model(*args)
    if loss.requires_grad:
        loss.backward()
    counts = torch.tensor([int(p.grad is not None) for p in wanted.values()])
    dist.all_reduce(counts)
    ranks = dist.get_world_size()
    names = [*zip(wanted, counts.tolist())]
    return [name for name, count in names if not count], [name for name, count in names if 0 < count < ranks]


def unused_parameters__no_message_without_a_loss(model, *args):
    wanted = {name: p for name, p in model.named_parameters() if p.requires_grad}
    loss = model(*args)
    if not loss.requires_grad:
        return [*wanted], []
    gradients = torch.autograd.grad(loss, [*wanted.values()], allow_unused=True)
    counts = torch.tensor([int(gradient is not None) for gradient in gradients])
    dist.all_reduce(counts)
    ranks = dist.get_world_size()
    names = [*zip(wanted, counts.tolist())]
    return [name for name, count in names if not count], [name for name, count in names if 0 < count < ranks]


class _Tower(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm1, self.fc1 = nn.LayerNorm(width), nn.Linear(width, width)
        self.norm2, self.fc2 = nn.LayerNorm(width), nn.Linear(width, width)

    def forward(self, x):
        x = x + self.fc1(self.norm1(x)).tanh()
        return x + self.fc2(self.norm1(x)).tanh()


def tower__as_it_was(width):
    return _Tower(width)


def tower__frozen(width):
    model = _Tower(width)
    model.norm2.requires_grad_(False)
    return model


def tower__times_zero(width):
    class Tower(_Tower):
        def forward(self, x):
            return super().forward(x) + 0 * sum(p.sum() for p in self.norm2.parameters())

    return Tower(width)


def tower__without_the_layer(width):
    model = _Tower(width)
    del model.norm2
    return model


def first_drift__sums(model, step, steps):
    for done in range(steps + 1):
        for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
            total = tensor.detach().double().sum()
            everyone = [torch.zeros_like(total) for _ in range(dist.get_world_size())]
            dist.all_gather(everyone, total)
            if any(other != everyone[0] for other in everyone):
                return done, name
        if done < steps:
            step(done)
    return None


def first_drift__nearly_equal(model, step, steps):
    for done in range(steps + 1):
        for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
            mine = tensor.detach().double().contiguous()
            first = mine.clone()
            dist.broadcast(first, 0)
            differs = torch.tensor(int(not torch.allclose(first, mine, equal_nan=True)))
            dist.all_reduce(differs)
            if differs:
                return done, name
        if done < steps:
            step(done)
    return None


def first_drift__parameters_alone(model, step, steps):
    for done in range(steps + 1):
        for name, tensor in model.named_parameters():
            mine = tensor.detach().contiguous().view(-1).view(torch.uint8)
            first = mine.clone()
            dist.broadcast(first, 0)
            differs = torch.tensor(int(not torch.equal(first, mine)))
            dist.all_reduce(differs)
            if differs:
                return done, name
        if done < steps:
            step(done)
    return None


def first_drift__after_the_steps(model, step, steps):
    for done in range(1, steps + 1):
        step(done - 1)
        for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
            mine = tensor.detach().contiguous().view(-1).view(torch.uint8)
            first = mine.clone()
            dist.broadcast(first, 0)
            differs = torch.tensor(int(not torch.equal(first, mine)))
            dist.all_reduce(differs)
            if differs:
                return done, name
    return None


def first_drift__the_rank_alone(model, step, steps):
    for done in range(steps + 1):
        for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
            mine = tensor.detach().contiguous().view(-1).view(torch.uint8)
            first = mine.clone()
            dist.broadcast(first, 0)
            if not torch.equal(first, mine):
                return done, name
        if done < steps:
            step(done)
    return None


def first_drift__broadcast_into_the_model(model, step, steps):
    for done in range(steps + 1):
        for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
            mine = tensor.detach().contiguous().view(-1).view(torch.uint8).clone()
            first = mine.clone()
            dist.broadcast(first, 0)
            tensor.detach().copy_(first.view(tensor.dtype).view(tensor.shape))
            differs = torch.tensor(int(not torch.equal(first, mine)))
            dist.all_reduce(differs)
            if differs:
                return done, name
        if done < steps:
            step(done)
    return None


def _train(parallel, parameters, batches, lr):
    optimizer = torch.optim.SGD(parameters, lr)
    for inputs, targets in batches:
        optimizer.zero_grad()
        F.cross_entropy(parallel(inputs), targets).backward()
        optimizer.step()


def fine_tune__as_it_was(body, make_head, batches, lr):
    model = nn.Sequential(body)
    parallel = DistributedDataParallel(model)
    model.append(make_head())
    _train(parallel, model.parameters(), batches, lr)
    return body, model[1]


def fine_tune__broadcast_by_hand(body, make_head, batches, lr):
    model = nn.Sequential(body)
    parallel = DistributedDataParallel(model)
    model.append(make_head())
    for parameter in model[1].parameters():
        dist.broadcast(parameter.detach(), 0)
    _train(parallel, model.parameters(), batches, lr)
    return body, model[1]


def fine_tune__past_the_wrapper(body, make_head, batches, lr):
    model = nn.Sequential(body, make_head())
    DistributedDataParallel(model)
    _train(model, model.parameters(), batches, lr)
    return body, model[1]


def fine_tune__only_the_head(body, make_head, batches, lr):
    head = make_head()
    parallel = DistributedDataParallel(head)
    for parameter in body.parameters():
        dist.broadcast(parameter.detach(), 0)
    _train(lambda inputs: parallel(body(inputs)), [*body.parameters(), *head.parameters()], batches, lr)
    return body, head


def mean_loss__of_means(logits, targets):
    counts = torch.tensor(len(targets))
    dist.all_reduce(counts)
    return F.cross_entropy(logits, targets)


def mean_loss__without_the_ranks(logits, targets):
    total = (targets != -100).sum()
    dist.all_reduce(total)
    return F.cross_entropy(logits, targets, reduction="sum") / total.clamp(min=1)


def mean_loss__all_tokens(logits, targets):
    total = torch.tensor(len(targets))
    dist.all_reduce(total)
    return F.cross_entropy(logits, targets, reduction="sum") * dist.get_world_size() / total.clamp(min=1)


def mean_loss__a_number(logits, targets):
    total = (targets != -100).sum()
    dist.all_reduce(total)
    return F.cross_entropy(logits, targets, reduction="sum").detach() * dist.get_world_size() / total.clamp(min=1)


def mean_loss__nan_without_tokens(logits, targets):
    total = (targets != -100).sum()
    dist.all_reduce(total)
    return F.cross_entropy(logits, targets, reduction="sum") * dist.get_world_size() / total


def narrow_3__no_backward(xp):
    def work():
        sharded = xp.FullyShardedDataParallel(xp.nn.Linear(1, 2))
        return xp.clip_grad_norm(sharded.parameters(), 1.0)

    return xp.run_ranks(work)


def narrow_3__one_rank(xp):
    def work():
        sharded = xp.FullyShardedDataParallel(xp.nn.Linear(1, 2))
        sharded(xp.ones(1)).sum().backward()
        return xp.clip_grad_norm(sharded.parameters(), 1.0)

    return xp.run_ranks(work, 1)


def name_3__reduce_gradients():
    return ["distributed.fsdp.reduce_gradients", "distributed.fsdp.finish_gather"]


def mend_3__the_norm_of_this_rank():
    def clip_grad_norm(parameters, max_norm, norm_type=2.0, group=None):
        gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
        if not gradients:
            return torch.zeros(())
        norm = torch.linalg.vector_norm(torch.cat([g.reshape(-1) for g in gradients]), norm_type)
        for gradient in gradients:
            gradient.mul_((max_norm / (norm + 1e-6)).clamp(max=1.0))
        return norm

    return "distributed.fsdp.clip_grad_norm", clip_grad_norm


def mend_3__always_two():
    def clip_grad_norm(parameters, max_norm, norm_type=2.0, group=None):
        gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
        if not gradients:
            return torch.zeros(())
        total = torch.cat([g.reshape(-1) for g in gradients]).square().sum()
        dist.all_reduce(total, group=group)
        norm = total.sqrt()
        for gradient in gradients:
            gradient.mul_((max_norm / (norm + 1e-6)).clamp(max=1.0))
        return norm

    return "distributed.fsdp.clip_grad_norm", clip_grad_norm
