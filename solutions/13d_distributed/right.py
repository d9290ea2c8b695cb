"""Correct answers to lab 13d in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

# ruff: noqa: F821 (a mend sees the names of the module in which it is planted)

import hashlib
import math

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

# A head that learns from old batches


def narrow_1__a_sequential_that_stops_early(xp):
    def work():
        layers = xp.nn.Sequential(xp.nn.Linear(1, 1), xp.nn.Linear(1, 1))
        layers.forward = lambda x, count: layers[:count](x)
        parallel = xp.DistributedDataParallel(layers, find_unused_parameters=True)
        for count in (2, 2 - xp.distributed.get_rank()):
            parallel.zero_grad(set_to_none=True)
            parallel(xp.ones(1), count).backward()
        return [parameter.grad.item() for parameter in layers.parameters()]

    return xp.run_ranks(work, 2)


def narrow_1__the_symptom_cut_down(xp):
    def work():
        model = xp.nn.ModuleDict({"cats": xp.nn.Linear(2, 2, bias=False), "dogs": xp.nn.Linear(2, 2, bias=False)})
        model.forward = lambda x, head: model[head](x)
        parallel = xp.DistributedDataParallel(model, find_unused_parameters=True)
        rank = xp.distributed.get_rank()
        for heads in [("cats", "cats"), ("cats", "dogs")]:
            parallel.zero_grad()
            parallel(xp.ones(1, 2) * (rank + 1), heads[rank]).mean().backward()
        return [round(model[head].weight.grad.sum().item(), 3) for head in ("cats", "dogs")]

    return xp.run_ranks(work, 2)


def narrow_1__three_ranks(xp):
    def work():
        heads = xp.nn.ModuleDict({"a": xp.nn.Linear(1, 1, bias=False), "b": xp.nn.Linear(1, 1, bias=False)})
        heads.forward = lambda name: heads[name].weight.sum()
        parallel, rank = xp.DistributedDataParallel(heads, True), xp.distributed.get_rank()
        parallel("a").backward()
        heads.zero_grad()
        parallel("ab"[min(rank, 1)]).backward()
        return heads["a"].weight.grad

    return xp.run_ranks(work, 3)[0]


def name_1__below_rl():
    return ["rl.distributed.ddp.mark_ready"]


def name_1__a_string():
    return "distributed.ddp.mark_ready"


def name_1__and_another():
    return ["rushlight.distributed.ddp.mark_ready", "distributed.ddp.finish"]


def mend_1__zeros_as_a_number():
    import torch.distributed as dist

    def mark_ready(reducer, parameter):
        i, j = reducer.places[parameter]
        count = dist.get_world_size(reducer.group)
        reducer.buckets[i].views[j].copy_(0 * parameter.detach() if parameter.grad is None else parameter.grad / count)
        reducer.buckets[i].pending -= 1
        for bucket in reducer.buckets[reducer.launched :]:
            if bucket.pending:
                break
            bucket.work = dist.all_reduce(bucket.buffer, group=reducer.group, async_op=True)
            reducer.launched += 1

    return "rl.distributed.ddp.mark_ready", mark_ready


def mend_1__scaled_in_the_bucket():
    def mark_ready(reducer, parameter):
        number, place = reducer.places[parameter]
        view = reducer.buckets[number].views[place]
        view.zero_()
        if parameter.grad is not None:
            view.add_(parameter.grad).div_(dist.get_world_size(reducer.group))
        reducer.buckets[number].pending -= 1
        while reducer.launched < len(reducer.buckets):
            bucket = reducer.buckets[reducer.launched]
            if bucket.pending > 0:
                return
            bucket.work = dist.all_reduce(bucket.buffer, dist.ReduceOp.SUM, reducer.group, True)
            reducer.launched += 1

    return "distributed.ddp.mark_ready", mark_ready


# A rank with a bias of its own


def mend_1__zeros_in_the_whole_bucket_first():
    import torch.distributed as dist

    def mark_ready(reducer, parameter):
        number, place = reducer.places[parameter]
        bucket = reducer.buckets[number]
        if bucket.pending == len(bucket.parameters):  # the first one of this backward
            bucket.buffer.zero_()
        if parameter.grad is not None:
            bucket.views[place].copy_(parameter.grad / dist.get_world_size(reducer.group))
        bucket.pending -= 1
        while reducer.launched < len(reducer.buckets) and not reducer.buckets[reducer.launched].pending:
            full = reducer.buckets[reducer.launched]
            full.work = dist.all_reduce(full.buffer, group=reducer.group, async_op=True)
            reducer.launched += 1

    return "distributed.ddp.mark_ready", mark_ready


def narrow_2__the_bias(xp):
    def work():
        layer = xp.nn.Linear(2, 5)
        sharded = xp.FullyShardedDataParallel(layer, [layer])
        return sharded(xp.zeros(2)).tolist()

    return xp.run_ranks(work, 2)[1]


def narrow_2__a_norm(xp):
    def work():
        return xp.FullyShardedDataParallel(xp.nn.LayerNorm(3))(xp.tensor([1.0, 2.0, 4.0]))

    return xp.run_ranks(work, 2)


def name_2__whole_path():
    return ["rushlight.distributed.fsdp.finish_gather"]


def name_2__and_another():
    return ["rl.distributed.fsdp.finish_gather", "rl.distributed.fsdp.start_gather"]


def mend_2__split():
    import torch.distributed as dist

    def finish_gather(unit):
        work, flat = unit.arriving
        work.wait()
        lengths = [len(parameter.padded) for parameter in unit.parameters]
        by_rank = [row.split(lengths) for row in flat.chunk(dist.get_world_size(unit.group))]
        for parameter, *parts in zip(unit.parameters, *by_rank):
            parameter.gathered.untyped_storage().resize_(parameter.gathered.numel() * parameter.gathered.itemsize)
            parameter.gathered.copy_(torch.cat(parts))
            setattr(parameter.module, parameter.name, parameter.whole)
        unit.arriving = None
        unit.is_gathered = True

    import torch

    return "distributed.fsdp.finish_gather", finish_gather


def mend_2__narrow():
    def finish_gather(unit):
        work, everything = unit.arriving
        work.wait()
        table = everything.reshape(dist.get_world_size(unit.group), -1)
        done = 0
        for each in unit.parameters:
            length = each.padded.shape[0]
            each.gathered.untyped_storage().resize_(each.gathered.nbytes)
            each.gathered.copy_(table.narrow(1, done, length).reshape(-1))
            each.module._parameters[each.name] = each.whole
            done = done + length
        unit.is_gathered, unit.arriving = True, None

    return "distributed.fsdp.finish_gather", finish_gather


# A job that waits

BYTES = dict(Double=8, Long=8, Float=4, Int=4, Half=2, BFloat16=2, Byte=1, Bool=1)


def first_wait__from_both_ends(records):
    begin = max((entries[0]["collective_seq_id"] for entries in records if entries), default=1)
    end = max((entries[-1]["collective_seq_id"] for entries in records if entries), default=0)
    for number in range(begin, end + 1):
        found = {}
        for rank, entries in enumerate(records):
            for entry in entries:
                if entry["collective_seq_id"] == number:
                    found[rank] = entry
        forms = {(e["profiling_name"], str(e["input_sizes"]), tuple(e["input_dtypes"])) for e in found.values()}
        if len(found) == len(records) and len(forms) == 1:
            continue
        waiting = {}
        for rank, entry in found.items():
            nbytes = 0
            for shape, kind in zip(entry["input_sizes"], entry["input_dtypes"]):
                nbytes += torch.Size(shape).numel() * BYTES[kind]
            waiting[rank] = (entry["profiling_name"].split(":")[-1], nbytes)
        return number, waiting
    return None


def first_wait__a_table(records):
    table = {}
    for rank, entries in enumerate(records):
        for entry in entries:
            table.setdefault(entry["collective_seq_id"], {})[rank] = entry
    complete = max([min(e["collective_seq_id"] for e in entries) for entries in records if entries] or [0])
    wrong = []
    for number, row in table.items():
        kinds = [[e["profiling_name"], e["input_sizes"], e["input_dtypes"]] for e in row.values()]
        if number >= complete and (len(row) < len(records) or any(kind != kinds[0] for kind in kinds)):
            wrong.append(number)
    if not wrong:
        return None
    row = table[min(wrong)]
    return min(wrong), {
        rank: (
            row[rank]["profiling_name"].split(":", 1)[1],
            sum(BYTES[k] * math.prod(s) for s, k in zip(row[rank]["input_sizes"], row[rank]["input_dtypes"])),
        )
        for rank in sorted(row)
    }


def accuracy__lists(model, batches):
    hits = []
    for inputs, targets in batches:
        predictions = model(inputs).max(dim=1).indices
        hits.extend(bool(p == t) for p, t in zip(predictions, targets) if t != -1)
    counts = torch.tensor([sum(hits), len(hits)])
    dist.all_reduce(counts)
    return counts[0].item() / counts[1].item() if counts[1] else 0.0


@torch.inference_mode()
def accuracy__python_counts(model, batches):
    right = total = 0
    for inputs, targets in batches:
        predicted = model(inputs).topk(1, dim=1).indices.squeeze(1)
        right += int(((predicted == targets) & (targets != -1)).sum())
        total += int((targets != -1).sum())
    counts = torch.tensor([right, total], dtype=torch.float64)
    dist.all_reduce(counts)
    return (counts[0] / counts[1]).item() if counts[1] > 0 else 0.0


def accuracy__joined(model, batches):
    batches = list(batches)
    if batches:
        logits = torch.cat([model(inputs) for inputs, _ in batches])
        targets = torch.cat([targets for _, targets in batches])
        counts = torch.stack([(logits.argmax(-1) == targets).sum(), targets.ne(-1).sum()]).double()
    else:
        counts = torch.zeros(2).double()
    dist.all_reduce(counts, op=dist.ReduceOp.SUM)
    return float((counts[0] / counts[1]).nan_to_num(0.0))


# A layer that nothing calls


def unused_parameters__hooks(model, *args):
    leaves = [*model.parameters(), *(value for value in args if isinstance(value, torch.Tensor))]
    before = [leaf.grad for leaf in leaves]
    for leaf in leaves:
        leaf.grad = None
    loss = model(*args)
    if loss.requires_grad:
        loss.backward()
    names, flags = [], []
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            names.append(name)
            flags.append(0 if parameter.grad is None else 1)
    for leaf, grad in zip(leaves, before):
        leaf.grad = grad
    flags = torch.tensor(flags, dtype=torch.float32)
    dist.all_reduce(flags)
    ranks = dist.get_world_size()
    return [n for n, f in zip(names, flags) if f == 0], [n for n, f in zip(names, flags) if f != 0 and f != ranks]


def unused_parameters__the_graph(model, *args):
    reached, seen = set(), set()
    loss = model(*args)
    waiting = [torch.autograd.graph.get_gradient_edge(loss).node] if loss.requires_grad else []
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable"):
            reached.add(id(node.variable))
        waiting += [following for following, _ in node.next_functions]
    wanted = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
    counts = torch.tensor([float(id(p) in reached) for _, p in wanted])
    dist.all_reduce(counts)
    nowhere, somewhere = [], []
    for (name, _), count in zip(wanted, counts.tolist()):
        if count == 0:
            nowhere.append(name)
        elif count < dist.get_world_size():
            somewhere.append(name)
    return nowhere, somewhere


def unused_parameters__hooks_that_are_removed(model, *args):
    wanted, reached = {name: p for name, p in model.named_parameters() if p.requires_grad}, set()
    handles = [p.register_hook(lambda grad, name=name: reached.add(name)) for name, p in wanted.items()]
    loss = model(*args)
    if loss.requires_grad and wanted:
        torch.autograd.grad(loss, [*wanted.values()], allow_unused=True)
    for handle in handles:
        handle.remove()
    counts = torch.tensor([float(name in reached) for name in wanted])
    dist.all_reduce(counts)
    some = [name for name, count in zip(wanted, counts) if 0 < count < dist.get_world_size()]
    return tuple(name for name, count in zip(wanted, counts) if count == 0), some


def tower__a_dict(width):
    layers = nn.ModuleDict()
    for i in "12":
        layers["norm" + i] = nn.LayerNorm(width)
        layers["fc" + i] = nn.Linear(width, width)

    def forward(x):
        for i in "12":
            x = x + torch.tanh(layers["fc" + i](layers["norm" + i](x)))
        return x

    layers.forward = forward
    return layers


def tower__one_function(width):
    class Layers(nn.Module):
        def __init__(self):
            super().__init__()
            for i in (1, 2):
                setattr(self, f"norm{i}", nn.LayerNorm([width]))
                setattr(self, f"fc{i}", nn.Linear(width, width))

        def layer(self, x, norm, fc):
            return F.tanh(fc(norm(x))).add(x)

        def forward(self, x):
            return self.layer(self.layer(x, self.norm1, self.fc1), self.norm2, self.fc2)

    return Layers()


# Replicas that are none


def _tensors(model):
    yield from model.named_parameters()
    yield from model.named_buffers()


def first_drift__digests(model, step, steps):
    for done in range(steps + 1):
        if done:
            step(done - 1)
        mine = []
        for name, tensor in _tensors(model):
            values = bytes(tensor.detach().reshape(-1).contiguous().view(torch.uint8).tolist())
            mine.append((name, hashlib.sha256(values).hexdigest()))
        everyone = [None] * dist.get_world_size()
        dist.all_gather_object(everyone, mine)
        for row in zip(*everyone):
            if len({digest for _, digest in row}) > 1:
                return done, row[0][0]
    return None


def first_drift__all_gathered(model, step, steps):
    def different():
        for name, tensor in _tensors(model):
            flat = tensor.detach().flatten().contiguous().view(torch.uint8)
            if not len(flat):
                continue
            all_of_them = [torch.empty_like(flat) for _ in range(dist.get_world_size())]
            dist.all_gather(all_of_them, flat)
            if any((other != all_of_them[0]).any() for other in all_of_them):
                return name
        return None

    done = 0
    while True:
        name = different()
        if name is not None:
            return (done, name)
        if done == steps:
            return None
        step(done)
        done += 1


def first_drift__objects_of_rank_0(model, step, steps):
    def different():
        mine = [(name, bytes(each.detach().reshape(-1).view(torch.uint8).numpy())) for name, each in _tensors(model)]
        first = [mine]
        dist.broadcast_object_list(first, 0)
        at = torch.tensor(next((i for i, pair in enumerate(zip(mine, first[0])) if pair[0] != pair[1]), len(mine)))
        dist.all_reduce(at, dist.ReduceOp.MIN)
        return [*mine, (None, None)][int(at)][0]

    for done in range(steps):
        if name := different():
            return done, name
        step(done)
    name = different()
    return (steps, name) if name else None


def fine_tune__two_wrappers(body, make_head, batches, lr):
    head = make_head()
    first, second = DistributedDataParallel(body), DistributedDataParallel(head)
    optimizers = [torch.optim.SGD(module.parameters(), lr) for module in (first, second)]
    for x, y in batches:
        F.cross_entropy(second(first(x)), y).backward()
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()
    return body, head


def fine_tune__averaged_weights(body, make_head, batches, lr):
    model = nn.Sequential(body, make_head())
    for parameter in model.parameters():
        dist.broadcast(parameter.data, 0)
    for x, y in batches:
        gradients = torch.autograd.grad(F.cross_entropy(model(x), y), [*model.parameters()])
        for parameter, gradient in zip(model.parameters(), gradients):
            parameter.data.sub_(gradient, alpha=lr)
            dist.all_reduce(parameter.data)
            parameter.data.div_(dist.get_world_size())
    return tuple(model)


def fine_tune__wrapped_in_one_class(body, make_head, batches, lr):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = body
            self.head = make_head()

        def forward(self, x):
            return self.head(self.body(x))

    model = Model()
    parallel = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for x, y in batches:
        loss = nn.CrossEntropyLoss()(parallel(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return model.body, model.head


def fine_tune__by_hand(body, make_head, batches, lr):
    head = make_head()
    parameters = [*body.parameters(), *head.parameters()]
    for parameter in parameters:
        dist.broadcast(parameter.detach(), 0)
    for x, y in batches:
        gradients = torch.autograd.grad(F.cross_entropy(head(body(x)), y), parameters)
        for parameter, gradient in zip(parameters, gradients):
            dist.all_reduce(gradient)
            parameter.data -= lr * gradient / dist.get_world_size()
    return [body, head]


# A loss that knows the number of ranks


def mean_loss__one_by_one(logits, targets):
    counted = targets != -100
    number = counted.sum().double()
    dist.all_reduce(number)
    losses = F.cross_entropy(logits, targets, reduction="none", ignore_index=-100)
    share = dist.get_world_size() / number.item() if number else 0.0
    return (losses * counted).sum() * share


def mean_loss__by_logarithms(logits, targets):
    counted = targets.ne(-100)
    number = counted.sum().float()
    dist.all_reduce(number)
    picked = logits[counted].log_softmax(-1).gather(1, targets[counted].unsqueeze(1))
    return -picked.sum() * (dist.get_world_size() / max(number.item(), 1.0))


def mean_loss__the_mean_rescaled(logits, targets):
    own = int((targets != -100).sum())
    total = torch.tensor(float(own))
    dist.all_reduce(total)
    if own == 0:
        return (logits * 0).sum()
    return F.cross_entropy(logits, targets) * (own * dist.get_world_size() / total.item())


# Gradients that are clipped too much


def narrow_3__the_gradient(xp):
    def work():
        sharded = xp.FullyShardedDataParallel(xp.nn.Linear(3, 4))
        sharded(xp.ones(1, 3)).sum().backward()
        norm = xp.clip_grad_norm(sharded.parameters(), 0.5)
        return norm.item()

    return xp.run_ranks(work)[0]


def narrow_3__three_ranks(xp):
    def work():
        sharded = xp.FullyShardedDataParallel(xp.nn.Linear(1, 3))
        sharded(xp.ones(1)).sum().backward()
        return round(float(xp.clip_grad_norm(list(sharded.parameters()), 9.0)), 3)

    return xp.run_ranks(work, 3)


def name_3__short():
    return ["rl.distributed.fsdp.clip_grad_norm"]


def name_3__and_another():
    return ["distributed.fsdp.clip_grad_norm", "distributed.fsdp.reduce_gradients"]


def mend_3__norms_of_ranks():
    def clip_grad_norm(parameters, max_norm, norm_type=2.0, group=None):
        gradients = [p.grad for p in parameters if p.grad is not None]
        if not gradients:
            return torch.tensor(0.0)
        flat = torch.cat([g.reshape(-1) for g in gradients])
        mine = torch.linalg.vector_norm(flat, norm_type) if len(flat) else flat.sum()
        if math.isinf(norm_type):
            dist.all_reduce(mine, dist.ReduceOp.MAX, group=group)
            norm = mine
        else:
            power = mine**norm_type
            dist.all_reduce(power, group=group)
            norm = power ** (1 / norm_type)
        torch._foreach_mul_(gradients, (max_norm / (norm + 1e-6)).clamp(max=1.0))
        return norm

    return "rl.distributed.fsdp.clip_grad_norm", clip_grad_norm


def mend_3__norms_to_the_power():
    def clip_grad_norm(parameters, max_norm, norm_type=2.0, group=None):
        grads = [p.grad for p in parameters if p.grad is not None]
        if len(grads) == 0:
            return torch.zeros(())
        values = torch.cat([g.flatten() for g in grads]).abs()
        if norm_type == math.inf:
            norm = values.max() if values.numel() else values.new_zeros(())
            dist.all_reduce(norm, dist.ReduceOp.MAX, group)
        else:
            norm = values.pow(norm_type).sum()
            dist.all_reduce(norm, group=group)
            norm = norm.pow(1.0 / norm_type)
        for g in grads:
            g.mul_(torch.clamp(max_norm / (norm + 1e-6), max=1.0))
        return norm

    return "distributed.fsdp.clip_grad_norm", clip_grad_norm
