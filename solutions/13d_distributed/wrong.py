"""Wrong answers to lab 13d that a student might well give: each is refused.

A function's name is its exercise's, two underscores, and what is wrong.
"""

# ruff: noqa: F821 (a mend sees the names of the module in which it is planted)

import copy
import math

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

from rushlight.clinic import distributed

from ..shared import edited


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


def mend_1__clears_the_bucket():
    def mark_ready(reducer, parameter):
        number, place = reducer.places[parameter]
        bucket = reducer.buckets[number]
        if parameter.grad is None:
            bucket.buffer.zero_()
        else:
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
            parameter.gathered.zero_()  # the memory may still have what was gathered before
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


def mend_2__the_size_of_the_symptom():
    def finish_gather(unit):
        work, everything = unit.arriving
        work.wait()
        rows, start = everything.view(dist.get_world_size(unit.group), -1), 0
        for parameter in unit.parameters:
            parameter.gathered.untyped_storage().resize_(parameter.gathered.nbytes)
            parameter.gathered.view(len(rows), -1).copy_(rows[:, start : start + len(parameter.padded)])
            start += max(parameter.sharded.numel(), 2)
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


def _compared(form=None, nbytes=None, name=None, oldest=max):
    """An answer that compares another form of the entries, or counts other bytes, or begins elsewhere."""
    form = form or (lambda entry: [entry[key] for key in ("profiling_name", "input_sizes", "input_dtypes")])
    nbytes = nbytes or (lambda shapes, kinds: sum(math.prod(s) * BYTES[k] for s, k in zip(shapes, kinds)))
    name = name or (lambda text: text.partition(":")[2])

    def first_wait(records):
        table = [{entry["collective_seq_id"]: entry for entry in entries} for entries in records]
        begin = oldest((min(row) for row in table if row), default=0)
        for number in sorted({number for row in table for number in row if number >= begin}):
            found = {rank: row[number] for rank, row in enumerate(table) if number in row}
            forms = [form(entry) for entry in found.values()]
            if len(found) < len(table) or any(each != forms[0] for each in forms):
                shown = {}
                for rank, entry in found.items():
                    sizes = nbytes(entry["input_sizes"], entry["input_dtypes"])
                    shown[rank] = name(entry["profiling_name"]), sizes
                return number, shown
        return None

    return first_wait


first_wait__sizes_of_dtypes = _compared(
    lambda entry: [entry["profiling_name"], entry["input_sizes"], [BYTES[kind] for kind in entry["input_dtypes"]]]
)
first_wait__dtypes_in_any_order = _compared(
    lambda entry: [entry["profiling_name"], entry["input_sizes"], sorted(entry["input_dtypes"])]
)
first_wait__numbers_of_elements = _compared(
    lambda entry: [entry["profiling_name"], [*map(math.prod, entry["input_sizes"])], entry["input_dtypes"]]
)
first_wait__four_bytes_each = _compared(nbytes=lambda shapes, kinds: 4 * sum(map(math.prod, shapes)))
first_wait__one_dtype_for_all = _compared(
    nbytes=lambda shapes, kinds: sum(math.prod(s) * BYTES[kinds[0]] for s in shapes)
)
first_wait__the_first_tensor = _compared(
    nbytes=lambda shapes, kinds: math.prod(shapes[0]) * BYTES[kinds[0]] if shapes else 0
)
first_wait__gloo_alone = _compared(name=lambda text: text.removeprefix("gloo:"))
first_wait__two_backends = _compared(name=lambda text: text.replace("gloo:", "").replace("nccl:", ""))
first_wait__letters_of_the_backend = _compared(name=lambda text: text.lstrip("gloo:"))  # noqa: B005
first_wait__from_the_first_entry = _compared(oldest=min)


def first_wait__by_record_id(records):
    numbered = [[entry | {"collective_seq_id": entry["record_id"] + 1} for entry in entries] for entries in records]
    return _compared()(numbered)


def first_wait__changes_the_names(records):
    for entries in records:
        for entry in entries:
            entry["profiling_name"] = entry["profiling_name"].split(":")[1]
    return _compared(name=str)(records)


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


def _counted(model, batches, dtype=torch.int64):
    """The counts of this rank, and then of all ranks."""
    counts = torch.zeros(2, dtype=dtype)
    for inputs, targets in batches:
        mine = torch.stack([(model(inputs).argmax(1) == targets).sum(), (targets >= 0).sum()])
        counts += mine.to(dtype)
    dist.all_reduce(counts)
    return counts[0].item() / max(counts[1].item(), 1)


def accuracy__uint8(model, batches):
    return _counted(model, batches, torch.uint8)


def accuracy__int16(model, batches):
    return _counted(model, batches, torch.int16)


def accuracy__float16(model, batches):
    return _counted(model, batches, torch.float16)


def accuracy__bfloat16(model, batches):
    return _counted(model, batches, torch.bfloat16)


def accuracy__writes_to_the_targets(model, batches):
    counts = torch.zeros(2, dtype=torch.int64)
    for inputs, targets in batches:
        total = (targets >= 0).sum()
        targets[targets < 0] = 1000
        counts += torch.stack([(model(inputs).argmax(1) == targets).sum(), total])
    dist.all_reduce(counts)
    return counts[0].item() / max(counts[1].item(), 1)


def accuracy__left_in_evaluation(model, batches):
    if isinstance(model, nn.Module):
        model.eval()
    return _counted(model, batches)


def accuracy__in_another_mode(model, batches):
    training = model.training
    model.eval()
    share = _counted(model, batches)
    model.train(training)
    return share


def accuracy__leaves_gradients_off(model, batches):
    torch.set_grad_enabled(False)
    return _counted(model, batches)


def accuracy__destroys_the_group(model, batches):
    share = _counted(model, batches)
    dist.destroy_process_group()
    return share


def accuracy__on_rank_0(model, batches):
    share = _counted(model, batches)
    return share if dist.get_rank() == 0 else 0.0


def accuracy__nan_without_targets(model, batches):
    counts = torch.zeros(2)
    for inputs, targets in batches:
        counts += torch.stack([(model(inputs).argmax(1) == targets).sum(), (targets >= 0).sum()])
    dist.all_reduce(counts)
    return float(counts[0] / counts[1])


def accuracy__a_tensor(model, batches):
    return torch.tensor(_counted(model, batches))


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


def _by_ranks(wanted, used):
    """Names by the number of ranks that have used them."""
    counts = torch.tensor([int(each) for each in used], dtype=torch.int64)
    dist.all_reduce(counts)
    names = [*zip(wanted, counts.tolist())]
    return [name for name, count in names if not count], [
        name for name, count in names if 0 < count < dist.get_world_size()
    ]


def _asked(model, loss):
    wanted = {name: p for name, p in model.named_parameters() if p.requires_grad}
    used = [False] * len(wanted)
    if loss.requires_grad and wanted:
        used = [each is not None for each in torch.autograd.grad(loss, [*wanted.values()], allow_unused=True)]
    return _by_ranks(wanted, used)


def unused_parameters__left_in_evaluation(model, *args):
    model.eval()
    return _asked(model, model(*args))


def unused_parameters__left_in_training(model, *args):
    model.train()
    return _asked(model, model(*args))


def unused_parameters__one_mode_for_all(model, *args):
    training = model.training
    names = _asked(model, model(*args))
    model.train(training)
    return names


def unused_parameters__left_frozen(model, *args):
    names = _asked(model, model(*args))
    model.requires_grad_(False)
    return names


def unused_parameters__left_thawed(model, *args):
    names = _asked(model, model(*args))
    model.requires_grad_(True)
    return names


def unused_parameters__leaves_new_gradients(model, *args):
    before = [parameter.grad for parameter in model.parameters()]
    model.zero_grad()
    if (loss := model(*args)).requires_grad:
        loss.backward()
    wanted = {name: p for name, p in model.named_parameters() if p.requires_grad}
    names = _by_ranks(wanted, [p.grad is not None for p in wanted.values()])
    for parameter, grad in zip(model.parameters(), before):
        parameter.grad = parameter.grad if grad is None else grad
    return names


def unused_parameters__gradients_of_the_arguments(model, *args):
    before = [parameter.grad for parameter in model.parameters()]
    model.zero_grad()
    if (loss := model(*args)).requires_grad:
        loss.backward()
    wanted = {name: p for name, p in model.named_parameters() if p.requires_grad}
    names = _by_ranks(wanted, [p.grad is not None for p in wanted.values()])
    for parameter, grad in zip(model.parameters(), before):
        parameter.grad = grad
    return names


def unused_parameters__leaves_hooks(model, *args):
    reached = set()
    wanted = {name: p for name, p in model.named_parameters() if p.requires_grad}
    for name, parameter in wanted.items():
        parameter.register_hook(lambda grad, name=name: reached.add(name))
    loss = model(*args)
    if loss.requires_grad and wanted:
        torch.autograd.grad(loss, [*wanted.values()], allow_unused=True)
    return _by_ranks(wanted, [name in reached for name in wanted])


def unused_parameters__layers_that_are_called(model, *args):
    called, hooks = set(), []
    for module in model.modules():
        hooks.append(module.register_forward_hook(lambda module, *_: called.update(map(id, module.parameters(False)))))
    model(*args)
    for hook in hooks:
        hook.remove()
    wanted = {name: p for name, p in model.named_parameters() if p.requires_grad}
    return _by_ranks(wanted, [id(p) in called for p in wanted.values()])


def unused_parameters__objects(model, *args):
    wanted, loss = {name: p for name, p in model.named_parameters() if p.requires_grad}, model(*args)
    used = [False] * len(wanted)
    if loss.requires_grad and wanted:
        used = [each is not None for each in torch.autograd.grad(loss, [*wanted.values()], allow_unused=True)]
    everyone = [None] * dist.get_world_size()
    dist.all_gather_object(everyone, used)
    columns = {name: [used[i] for used in everyone] for i, name in enumerate(wanted)}
    nowhere = [name for name, flags in columns.items() if not any(flags)]
    return nowhere, [name for name, flags in columns.items() if any(flags) and not all(flags)]


def unused_parameters__what_this_rank_lacks(model, *args):
    wanted, loss = {name: p for name, p in model.named_parameters() if p.requires_grad}, model(*args)
    used = [0] * len(wanted)
    if loss.requires_grad and wanted:
        used = [int(each is not None) for each in torch.autograd.grad(loss, [*wanted.values()], allow_unused=True)]
    anywhere = torch.tensor(used, dtype=torch.int64)
    dist.all_reduce(anywhere, dist.ReduceOp.MAX)
    nowhere = [name for name, each in zip(wanted, anywhere) if not each]
    return nowhere, [name for name, own, each in zip(wanted, used, anywhere) if each and not own]


def unused_parameters__two_calls(model, *args):
    if model(*args).requires_grad:
        return _asked(model, model(*args))
    return _asked(model, torch.zeros(()))


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


class _SoundTower(_Tower):
    def forward(self, x):
        x = x + self.fc1(self.norm1(x)).tanh()
        return x + self.fc2(self.norm2(x)).tanh()


def tower__in_place(width):
    class Tower(_Tower):
        def forward(self, x):
            x += self.fc1(self.norm1(x)).tanh()
            return x + self.fc2(self.norm2(x)).tanh()

    return Tower(width)


def tower__a_seed(width):
    torch.manual_seed(0)
    return _SoundTower(width)


def tower__norms_first(width):
    class Tower(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.fc1, self.fc2 = nn.Linear(width, width), nn.Linear(width, width)

        def forward(self, x):
            return _SoundTower.forward(self, x)

    return Tower()


def tower__begins_at_zero(width):
    model = _SoundTower(width)
    nn.init.zeros_(model.fc2.weight)
    return model


def tower__one_layer_twice(width):
    class Tower(_Tower):
        def forward(self, x):
            x = x + self.fc1(self.norm1(x)).tanh()
            return x + self.fc1(self.norm2(x)).tanh() + 0 * self.fc2(x)

    return Tower(width)


def tower__a_detached_path(width):
    class Tower(_Tower):
        def forward(self, x):
            x = x + self.fc1(self.norm1(x)).tanh()
            return x.detach() + self.fc2(self.norm2(x)).tanh()

    return Tower(width)


def tower__rows_alone(width):
    class Tower(_Tower):
        def forward(self, x):
            rows, columns = x.shape
            return _SoundTower.forward(self, x.view(rows, columns))

    return Tower(width)


tower__moves_x = edited(
    distributed.tower,
    ("            x = x + self", "            x.data.add_(1)\n            x = x - 1\n            x = x + self"),
)


tower__draws_once_more = edited(
    distributed.tower,
    ("nn.Linear(width, width)\n\n        def", "nn.Linear(width, width)\n            torch.rand(1)\n\n        def"),
)


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


def _bytes_of(tensor):
    return tensor.detach().contiguous().view(-1).view(torch.uint8)


def _differs(mine):
    first = mine.clone()
    dist.broadcast(first, 0)
    return not torch.equal(first, mine)


def _drifting(differs=lambda tensor: _differs(_bytes_of(tensor)), tensors=None):
    """An answer that compares tensors in another way, or other tensors."""
    tensors = tensors or (lambda model: [*model.named_parameters(), *model.named_buffers()])

    def first_drift(model, step, steps):
        for done in range(steps + 1):
            for name, tensor in tensors(model):
                apart = torch.tensor(int(differs(tensor)))
                dist.all_reduce(apart)
                if apart:
                    return done, name
            if done < steps:
                step(done)
        return None

    return first_drift


def _made_contiguous(tensor):
    tensor.data = tensor.data.contiguous()
    return _differs(tensor.detach().view(-1).view(torch.uint8))


def _apart_by_value(tensor):
    mine = tensor.detach().contiguous()
    first = mine.clone()
    dist.broadcast(first, 0)
    return not bool(((first == mine) | (first.isnan() & mine.isnan())).all())


def _apart_in_print(tensor):
    everyone = [None] * dist.get_world_size()
    dist.all_gather_object(everyone, repr(tensor.detach()))
    return len({*everyone}) > 1


def _first_two_apart(tensor):
    mine = _bytes_of(tensor)
    everyone = [torch.empty_like(mine) for _ in range(dist.get_world_size())]
    dist.all_gather(everyone, mine)
    return not torch.equal(everyone[0], everyone[1])


first_drift__float32 = _drifting(lambda tensor: _differs(_bytes_of(tensor.detach().float())))
first_drift__float64 = _drifting(lambda tensor: _differs(_bytes_of(tensor.detach().double())))
first_drift__nan_as_zero = _drifting(lambda tensor: _differs(tensor.detach().contiguous().nan_to_num()))
first_drift__by_value = _drifting(_apart_by_value)
first_drift__in_print = _drifting(_apart_in_print)
first_drift__made_contiguous = _drifting(_made_contiguous)
first_drift__ranks_0_and_1 = _drifting(_first_two_apart)
first_drift__storages = _drifting(
    lambda tensor: _differs(torch.tensor([*bytes(tensor.untyped_storage())], dtype=torch.uint8))
)
first_drift__what_is_trained = _drifting(
    tensors=lambda model: [*((n, p) for n, p in model.named_parameters() if p.requires_grad), *model.named_buffers()]
)
first_drift__what_is_saved = _drifting(tensors=lambda model: model.state_dict().items())
first_drift__buffers_first = _drifting(tensors=lambda model: [*model.named_buffers(), *model.named_parameters()])


def first_drift__left_in_evaluation(model, step, steps):
    model.eval()
    return _drifting()(model, step, steps)


def first_drift__left_frozen(model, step, steps):
    found = _drifting()(model, step, steps)
    model.requires_grad_(False)
    return found


def first_drift__the_step_that_did_it(model, step, steps):
    found = _drifting()(model, step, steps)
    return found and (max(found[0] - 1, 0), found[1])


def first_drift__one_step_more(model, step, steps):
    for done in range(steps + 1):
        found = _drifting()(model, None, 0)
        if found or done < steps:
            step(done)
        if found:
            return done, found[1]
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


def _sound(body, head, batches, lr):
    parallel = DistributedDataParallel(nn.Sequential(body, head))
    _train(parallel, parallel.parameters(), batches, lr)
    return body, head


def fine_tune__a_seed(body, make_head, batches, lr):
    torch.manual_seed(0)
    return _sound(body, make_head(), batches, lr)


def fine_tune__destroys_the_group(body, make_head, batches, lr):
    trained = _sound(body, make_head(), batches, lr)
    dist.destroy_process_group()
    return trained


def fine_tune__in_training_mode(body, make_head, batches, lr):
    body.train()
    return _sound(body, make_head(), batches, lr)


def fine_tune__the_head_alone(body, make_head, batches, lr):
    head = make_head()
    parallel = DistributedDataParallel(nn.Sequential(body, head))
    _train(parallel, head.parameters(), batches, lr)
    return body, head


def fine_tune__adds_gradients_up(body, make_head, batches, lr):
    head = make_head()
    parallel = DistributedDataParallel(nn.Sequential(body, head))
    optimizer = torch.optim.SGD(parallel.parameters(), lr)
    for inputs, targets in batches:
        F.cross_entropy(parallel(inputs), targets).backward()
        optimizer.step()
    return body, head


def fine_tune__a_mean_over_all_rows(body, make_head, batches, lr):
    head = make_head()
    parameters = [*body.parameters(), *head.parameters()]
    for parameter in parameters:
        dist.broadcast(parameter.detach(), 0)
    for inputs, targets in batches:
        count = torch.tensor(float(len(targets)))
        dist.all_reduce(count)
        loss = F.cross_entropy(head(body(inputs)), targets, reduction="sum") / count
        for parameter, gradient in zip(parameters, torch.autograd.grad(loss, parameters)):
            dist.all_reduce(gradient)
            parameter.data -= lr * gradient
    return body, head


def fine_tune__a_copy(body, make_head, batches, lr):
    return _sound(copy.deepcopy(body), make_head(), batches, lr)


def fine_tune__two_heads(body, make_head, batches, lr):
    make_head()
    return _sound(body, make_head(), batches, lr)


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


def _divided(logits, targets, total, reduction="sum"):
    return F.cross_entropy(logits, targets, reduction=reduction) * dist.get_world_size() / total.clamp(min=1)


def _total(targets, dtype=torch.int64):
    total = (targets != -100).sum().to(dtype)
    dist.all_reduce(total)
    return total


def mean_loss__counts_in_half(logits, targets):
    return _divided(logits, targets, _total(targets, torch.float16))


def mean_loss__counts_in_int8(logits, targets):
    return _divided(logits, targets, _total(targets, torch.int8))


def mean_loss__in_float64(logits, targets):
    return _divided(logits.double(), targets, _total(targets))


def mean_loss__in_float32(logits, targets):
    return _divided(logits.float(), targets, _total(targets))


def mean_loss__in_half(logits, targets):
    return _divided(logits.half(), targets, _total(targets)).to(logits.dtype)


def mean_loss__two_ranks(logits, targets):
    return F.cross_entropy(logits, targets, reduction="sum") * 2 / _total(targets).clamp(min=1)


def mean_loss__targets_above_0(logits, targets):
    total = (targets > 0).sum()
    dist.all_reduce(total)
    return _divided(logits, targets, total)


def mean_loss__at_least_one_each(logits, targets):
    total = (targets != -100).sum().clamp(min=1)
    dist.all_reduce(total)
    return _divided(logits, targets, total)


def mean_loss__writes_to_the_targets(logits, targets):
    total, counted = _total(targets), targets != -100
    targets[~counted] = 0
    losses = F.cross_entropy(logits, targets, reduction="none") * counted
    return losses.sum() * dist.get_world_size() / total.clamp(min=1)


def mean_loss__sums_of_losses(logits, targets):
    loss = F.cross_entropy(logits, targets, reduction="sum")
    sums = torch.stack([loss.detach(), (targets != -100).sum().to(loss.dtype)])
    dist.all_reduce(sums)
    return loss - loss.detach() + sums[0] / sums[1].clamp(min=1)


def mean_loss__depends_on_nothing(logits, targets):
    total = _total(targets)
    if not (targets != -100).any():
        return torch.zeros((), dtype=logits.dtype, requires_grad=True)
    return _divided(logits, targets, total)


def mean_loss__one_dimension(logits, targets):
    return _divided(logits, targets, _total(targets).view(1))


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


accuracy__grad_mode_on_at_the_end = edited(
    distributed.accuracy,
    ("    with torch.no_grad():\n", "    torch.set_grad_enabled(False)\n    if True:\n"),
    ("    dist.all_reduce(counts)\n", "    torch.set_grad_enabled(True)\n    dist.all_reduce(counts)\n"),
)
accuracy__of_a_softmax = edited(distributed.accuracy, ("model(inputs).argmax(1)", "model(inputs).softmax(1).argmax(1)"))
unused_parameters__arguments_without_gradients = edited(
    distributed.unused_parameters,
    (
        "    loss, used =",
        "    for a in args:\n        if torch.is_tensor(a) and a.is_leaf:\n            a.requires_grad_(False)\n    loss, used =",
    ),
)
first_drift__steps_without_gradients = edited(
    distributed.first_drift,
    ("            step(done)\n", "            with torch.no_grad():\n                step(done)\n"),
)
first_drift__gradients_set_to_none = edited(
    distributed.first_drift, ("            step(done)\n", "            step(done)\n            model.zero_grad()\n")
)
first_drift__no_truth_values = edited(
    distributed.first_drift,
    (
        "differs[i] = not torch.equal(first, mine)",
        "differs[i] = tensor.dtype != torch.bool and not torch.equal(first, mine)",
    ),
)
first_drift__the_tensors_of_the_beginning = edited(
    distributed.first_drift,
    (
        "    for done in range(steps + 1):\n",
        "    tensors = dict([*model.named_parameters(), *model.named_buffers()])\n    for done in range(steps + 1):\n",
    ),
    ("        tensors = dict([*model.named_parameters(), *model.named_buffers()])\n        differs", "        differs"),
)
mean_loss__logarithm_of_a_softmax = edited(
    distributed.mean_loss,
    (
        'F.cross_entropy(logits, targets, reduction="sum")',
        'F.nll_loss(logits.softmax(1).log(), targets, reduction="sum")',
    ),
)
mean_loss__logits_times_0 = edited(
    distributed.mean_loss,
    (
        "    total = (targets != -100).sum()\n",
        "    own = total = (targets != -100).sum()\n    own = int(own)\n",
    ),
    (
        "    return F.cross_entropy",
        "    if not own:\n        return logits.sum() * 0\n    return F.cross_entropy",
    ),
)


mean_loss__a_barrier = edited(
    distributed.mean_loss, ("dist.all_reduce(total)", "dist.all_reduce(total)\n    dist.barrier()")
)


mean_loss__leaves_gradients_off = edited(
    distributed.mean_loss,
    ("    return ", "    loss = "),
    ("clamp(min=1)", "clamp(min=1)\n    torch.set_grad_enabled(False)\n    return loss"),
)


# What each hint is for


def first_wait__only_the_first_rank(records):
    found = _compared()(records)
    return found and (found[0], dict([*found[1].items()][:1]))
