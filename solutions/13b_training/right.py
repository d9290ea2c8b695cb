"""Correct answers to lab 13b in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style. Those of the clinic that are examined as texts use no name of
this module.
"""

import copy
import math

import torch
from torch.nn.functional import cross_entropy, log_softmax, one_hot

# Patients ------------------------------------------------------------------------------------------------------------


def narrow_1__a_leaf_between(xp):
    base = xp.ones(3).requires_grad_()
    other, written = base * 1, base * 1
    written[:2].zero_()
    (other + written).backward(xp.ones(3))
    return base.grad.tolist()


def narrow_1__by_grad(xp):
    """With a docstring, and gradients that are asked for."""
    x = xp.ones(2, requires_grad=True)
    y = x.clone()
    y[0] = 0
    gradient = xp.autograd.grad(x + y, [x], xp.ones(2))
    return gradient


def name_1__and_a_second():
    return ("rl.autograd.history.copy_slices", "autograd.engine.sum_to")


def name_1__one_text():
    return "rushlight.autograd.history.copy_slices"


def mend_1__zeros():
    from rushlight.aten.generated import functions

    def copy_slices(function, grad, base, view):
        sizes, strides = base[0], base[1]
        gradient = grad.new_empty_strided(sizes, strides)
        gradient.copy_(grad)
        region = functions.as_strided(gradient, view[0], view[1], view[2])
        inner = function(functions.as_strided(gradient, *view).contiguous().clone())
        inner = list(inner) if isinstance(inner, (tuple, list)) else [inner]
        if inner[0] is None:
            return inner
        region.copy_(inner[0])
        return [gradient, *inner[1:]]

    return "history.copy_slices", copy_slices


def mend_1__the_patients_own():
    def copy_slices(function, grad, base, view):
        sizes, strides, _ = base
        result = grad.new_empty_strided(sizes, strides)
        result.copy_(grad)
        part = functions.as_strided(result, *view)  # noqa: F821
        results = _as_tuple(function(functions.clone(part, memory_format=contiguous_format)))  # noqa: F821
        if results[0] is not None:
            part.copy_(results[0])
        return [None if results[0] is None else result, *results[1:]]

    return "rl.autograd.history.copy_slices", copy_slices


def narrow_2__sigmoid(xp):
    weight = xp.zeros(2).requires_grad_()
    gate = weight.sigmoid()
    gate *= 3
    gate.sum().backward()
    return weight.grad


def narrow_2__a_slice(xp):
    x = xp.ones(2, requires_grad=True)
    y = xp.exp(x)
    y[0] = 0
    return xp.autograd.grad(y.sum(), x)


def name_2__and_a_second():
    return ("graph.unpack_saved", "history.check_inplace")


def name_2__tuple():
    return ("autograd.graph.unpack_saved",)


def mend_2__two_functions():
    from rushlight.autograd.graph import Edge, with_edge

    def unpack_saved(saved, node):
        def edge():
            return Edge(node, saved.output_nr) if saved.is_output else saved.edge

        if saved.unpack_hook is not None:
            tensor = saved.unpack_hook(saved.packed)
            if not saved.is_output and saved.edge.node is None:
                return tensor
            return with_edge(tensor, edge())
        if saved.version != saved.tensor._storage.version:
            raise RuntimeError("a saved tensor has been modified by an inplace operation")
        if not saved.is_output:
            return saved.tensor
        return with_edge(saved.tensor, Edge(node, saved.output_nr))

    return "graph.unpack_saved", unpack_saved


def mend_2__its_names():
    def unpack_saved(saved, node):
        hook = saved.unpack_hook
        if hook is None and saved.tensor._storage.version != saved.version:
            raise RuntimeError(f"expected version {saved.version}")
        tensor = saved.tensor if hook is None else hook(saved.packed)
        if saved.is_output:
            return with_edge(tensor, Edge(node, saved.output_nr))  # noqa: F821
        return tensor if hook is None or saved.edge.node is None else with_edge(tensor, saved.edge)  # noqa: F821

    return "autograd.graph.unpack_saved", unpack_saved


def narrow_3__two_steps(xp):
    p = xp.nn.Parameter(xp.zeros(1))
    optimizer = xp.optim.Adam([p], lr=1.0, betas=(0.5, 0.5), amsgrad=True)
    for gradient in (4.0, 0.0):
        p.grad = xp.tensor([gradient])
        optimizer.step()
    return p.detach()


def narrow_3__the_state(xp):
    p = xp.ones(1, requires_grad=True)
    opt = xp.optim.AdamW([p], amsgrad=True)
    (p * 3).sum().backward()
    opt.step()
    return [value["max_exp_avg_sq"] for value in opt.state.values()]


def name_3__and_a_second():
    return ("optim.optimizer.adam", "optim.optimizer.add_param_group")


def name_3__tuple():
    return ("rl.optim.optimizer.adam",)


def mend_3__kept():
    def adam(
        params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, *,
        lr, beta1, beta2, eps, weight_decay, amsgrad, maximize, decoupled_weight_decay,
    ):  # fmt: skip
        for i in range(len(params)):
            p, g, m, v = params[i], grads[i], exp_avgs[i], exp_avg_sqs[i]
            state_steps[i] += 1
            t = state_steps[i].item()
            g = -g if maximize else g
            if weight_decay != 0:
                if decoupled_weight_decay:
                    p.mul_(1 - lr * weight_decay)
                else:
                    g = g.add(p, alpha=weight_decay)
            m.lerp_(g, 1 - beta1)
            v.mul_(beta2).addcmul_(g, g, value=1 - beta2)
            if amsgrad:
                functions.maximum(max_exp_avg_sqs[i], v, out=max_exp_avg_sqs[i])  # noqa: F821
                v = max_exp_avg_sqs[i]
            denominator = (v.sqrt() / (1 - beta2**t) ** 0.5).add_(eps)
            p.addcdiv_(m, denominator, value=-lr / (1 - beta1**t))

    return "optim.optimizer.adam", adam


def mend_3__copied():
    def adam(
        params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, *,
        lr, beta1, beta2, eps, weight_decay, amsgrad, maximize, decoupled_weight_decay,
    ):  # fmt: skip
        largest = max_exp_avg_sqs if amsgrad else exp_avg_sqs
        for param, grad, average, square, most, step in zip(params, grads, exp_avgs, exp_avg_sqs, largest, state_steps):
            step.add_(1)
            gradient = grad.neg() if maximize else grad.clone()
            if weight_decay and decoupled_weight_decay:
                param.mul_(1 - lr * weight_decay)
            elif weight_decay:
                gradient.add_(param, alpha=weight_decay)
            average.lerp_(gradient, 1 - beta1)
            square.mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
            if amsgrad:
                most.copy_(functions.maximum(most, square))  # noqa: F821
            count = step.item()
            root = most.sqrt().div_((1 - beta2**count) ** 0.5)
            param.addcdiv_(average, root.add_(eps), value=-lr / (1 - beta1**count))

    return "optim.optimizer.adam", adam


# Gradients -----------------------------------------------------------------------------------------------------------


def without_gradient__hooks(model, loss):
    """Layer by layer: the nodes of a layer are the successors of those of the layer before."""
    layer, reached, known = [loss.grad_fn] if loss.grad_fn else [], [], set()
    while layer:
        known.update(layer)
        reached += [node.variable for node in layer if type(node).__name__ == "AccumulateGrad"]
        layer = [*{edge[0] for node in layer for edge in node.next_functions if edge[0]} - known]
    lost = []
    for name, x in model.named_parameters():
        if x.requires_grad and not [leaf for leaf in reached if leaf is x]:
            lost.append(name)
    return lost


def without_gradient__by_identity(model, loss):
    nodes, leaves = ({loss.grad_fn: None} if loss.grad_fn is not None else {}), []
    for node in (todo := list(nodes)):
        for following, _ in node.next_functions:
            if following is not None and following not in nodes:
                nodes[following] = None
                todo.append(following)
        if hasattr(node, "variable"):
            leaves.append(id(node.variable))
    return [name for name, x in model.named_parameters() if x.requires_grad and id(x) not in leaves]


def gated_forward__in_one(model, x):
    scaled = model.scale * x
    return torch.sigmoid(model.gate(x)) * model.body(scaled / scaled.abs().max(dim=1, keepdim=True).values)


def gated_forward__norm(model, x):
    rows = x.mul(model.scale)
    rows = torch.nn.functional.normalize(rows, p=math.inf, dim=1, eps=0.0)
    return model.body(rows).mul(model.gate(x).sigmoid())


# Optimizers ----------------------------------------------------------------------------------------------------------


def not_held__by_identity(model, optimizer):
    held = {id(x) for group in optimizer.param_groups for x in group["params"]}
    own = {id(x) for x in model.parameters()}
    return [name for name, x in model.named_parameters() if x.requires_grad and id(x) not in held], len(held - own)


def not_held__loops(model, optimizer):
    missing, others = [], 0
    for name, x in model.named_parameters():
        if x.requires_grad and not any(x is p for group in optimizer.param_groups for p in group["params"]):
            missing.append(name)
    for group in optimizer.param_groups:
        for p in group["params"]:
            others += not any(p is x for x in model.parameters())
    return missing, others


def replace_head__in_place(model, head, optimizer):
    old, model.head = model.head, head
    for name, gone in old.named_parameters():
        for group in optimizer.param_groups:
            for i, p in enumerate(group["params"]):
                if p is gone:
                    group["params"][i] = head.get_parameter(name)
        if gone in optimizer.state:
            del optimizer.state[gone]


def replace_head__sorted_pairs(model, head, optimizer):
    both = (sorted(module.named_parameters()) for module in (model.head, head))
    pairs = [(a, b) for (_, a), (_, b) in zip(*both)]
    setattr(model, "head", head)  # noqa: B010
    exchange = {id(a): b for a, b in pairs}
    for group in optimizer.param_groups:
        group.update(params=[exchange.get(id(p), p) for p in group["params"]])
    for p in [p for p in optimizer.state if id(p) in exchange]:
        optimizer.state.pop(p)


def replace_head__by_registration(model, head, optimizer):
    """It sets the name first and last, and builds each group's list from an empty one."""
    old = dict(model.head.named_parameters())
    names = {id(x): name for name, x in old.items()}
    for i in range(len(optimizer.param_groups)):
        params = []
        while optimizer.param_groups[i]["params"]:
            x = optimizer.param_groups[i]["params"].pop(0)
            params.append(head.get_parameter(names[id(x)]) if id(x) in names else x)
        optimizer.param_groups[i]["params"].extend(params)
    for x in old.values():
        optimizer.state.pop(x, {})
    model.add_module("head", head)


# Losses --------------------------------------------------------------------------------------------------------------


def token_weights__norms(loss_of, logits, targets):
    leaf = logits.clone().detach().requires_grad_(True)
    (loss_of(leaf, targets.clone()) + 0 * leaf.sum()).backward()
    expected = leaf.detach().softmax(-1) - one_hot(targets.clamp_min(0), logits.shape[-1])
    return (leaf.grad * expected).sum(-1) / (expected * expected).sum(-1)


def token_weights__differences(loss_of, logits, targets):
    """By finite differences: a larger logit of the target changes the loss by the weight."""
    weights = torch.zeros(targets.shape, dtype=torch.float64)
    token = torch.where(targets < 0, 0, targets)
    for i in range(targets.shape[0]):
        for j in range(targets.shape[1]):
            up, down = logits.clone(), logits.clone()
            up[i, j, token[i, j]] += 1
            down[i, j, token[i, j]] -= 1
            entropies = [-log_softmax(x[i, j], 0)[token[i, j]] for x in (up, down)]
            weights[i, j] = (loss_of(up, targets * 1) - loss_of(down, targets * 1)) / (entropies[0] - entropies[1])
    return weights


def accumulated_backward__means(model, batches):
    counts = [(targets >= 0).sum().item() for _, targets in batches]
    losses = []
    for x, targets in batches:
        logits = model(x)
        entropy = cross_entropy(logits.transpose(1, 2), targets, reduction="none").sum() / sum(counts)
        entropy.backward()
        losses.append(float(entropy))
    return sum(losses)


def accumulated_backward__log_softmax(model, batches):
    total = torch.stack([targets.ne(-100).sum() for _, targets in batches]).sum()
    result = 0
    for x, targets in batches:
        scores = log_softmax(model(x), 2).gather(2, targets.clamp(min=0)[..., None])[..., 0]
        loss = -(scores * (targets != -100)).sum() / total
        loss.backward()
        result = result + loss.detach()
    return result.item()


# State ---------------------------------------------------------------------------------------------------------------


def lost_state__all_but_the_saved(model):
    def tensors(prefix, module):
        for values in (vars(module), module._buffers):
            for name, x in values.items():
                if isinstance(x, torch.Tensor):
                    yield f"{prefix}.{name}" if prefix else name

    saved = model.state_dict()
    return sorted(name for pair in model.named_modules() for name in tensors(*pair) if name not in saved)


def lost_state__two_lists(model):
    plain, buffers = [], []
    for path, module in model.named_modules():
        dot = path + "." if path else ""
        plain += [dot + name for name, x in module.__dict__.items() if torch.is_tensor(x)]
        buffers += [
            dot + name
            for name, x in module._buffers.items()
            if x is not None and name in module._non_persistent_buffers_set
        ]
    return sorted(plain + buffers)


def normaliser__assigned(features, momentum):
    class Mean(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.mean = torch.nn.Buffer(torch.zeros(features))

        def forward(self, x):
            if self.training:
                self.mean = self.mean + momentum * (x.detach().mean(0) - self.mean)
            return x - self.mean

    return Mean()


def normaliser__a_subclass(features, momentum):
    class Mean(torch.nn.Identity):
        @torch.no_grad()
        def update(self, x):
            self.mean.mul_(1 - momentum).add_(x.mean(dim=0), alpha=momentum)

        def forward(self, x):
            self.update(x) if self.training else None
            return torch.sub(x, self.mean)

    module = Mean()
    module.register_buffer("mean", torch.zeros(features))
    return copy.deepcopy(module)


# Checks --------------------------------------------------------------------------------------------------------------


def check_sum_to__calls_it():
    def program(xp, sizes, copies, factor):
        n = xp.ones(copies).numel()
        grad = ((xp.arange(n).double() - n // 2) * factor + 1).reshape(copies)
        x = xp.zeros(sizes).double().requires_grad_()
        y = grad.clone().requires_grad_()
        z = x + y
        z.retain_grad()
        z.backward(grad, create_graph=True)
        a = xp.zeros(sizes).double().requires_grad_()
        first = xp.autograd.grad(((a * y) ** 3 + a * y).sum(), a, create_graph=True)[0]
        return x.grad.detach(), y.grad.detach(), z.grad.detach(), first.detach(), first.requires_grad, first.shape

    def case(sizes, copies, factor=1 / 3):
        return {"sizes": sizes, "copies": copies, "factor": factor}

    cases = [case([3], [4, 3]), case([4, 1], [4, 3]), case([1, 1], [2, 2]), case([], [2, 3]), case([2, 1], [3, 2, 3])]
    return program, [
        *cases,
        case([1, 2], [0, 2]),
        case([1, 2], [0, 0, 2]),
        case([2], [2]),
        case([1], [3], 2.0**26),
    ]


def check_sum_to__one_program_for_each():
    """Several small programs, chosen by the case."""

    def gradient(xp, sizes, copies):
        x = xp.ones(sizes, requires_grad=True)
        weight = xp.arange(float(xp.ones(copies).numel())).reshape(copies)
        x.expand(copies).backward(weight) if copies else (x * weight).backward()
        return x.grad

    def shared(xp, sizes, copies):
        x, y = xp.ones(sizes, requires_grad=True), xp.ones(copies, requires_grad=True)
        (x + y).backward(xp.full(copies, 2.0))
        return x.grad, y.grad

    def twice(xp, sizes, copies):
        x = xp.full(sizes, 2.0, requires_grad=True)
        y = xp.full(copies, 3.0)
        (first,) = xp.autograd.grad(((x * y) ** 3).sum(), x, create_graph=True)
        return xp.autograd.grad(first.sum(), x)

    def precise(xp, sizes, copies):
        x = xp.zeros(sizes).double().requires_grad_()
        n = xp.ones(copies).numel()
        (x * ((xp.arange(n).double() - n // 2) * 2.0**26 + 1).reshape(copies)).sum().backward()
        return x.grad

    def program(xp, what, sizes, copies):
        return {"gradient": gradient, "shared": shared, "twice": twice, "precise": precise}[what](xp, sizes, copies)

    shapes = [([2], [3, 2]), ([1], [3]), ([1, 1], [2, 3]), ([], [2, 2]), ([3, 1], [2, 3, 4]), ([1], [0])]
    return program, [
        {"what": what, "sizes": sizes, "copies": copies}
        for what in ("gradient", "shared", "twice", "precise")
        for sizes, copies in shapes
    ]


def clip_property__one_vector(xp, given, st):
    """The gradients are parts of one vector, and each property has a test of its own in it."""
    inf = float("inf")

    @st.composite
    def vectors(draw):
        count = draw(st.integers(1, 3))
        number = st.one_of(st.floats(-1000, 1000, width=32), st.sampled_from([inf, -inf, float("nan"), 0.0]))
        return [draw(st.tuples(number, number)) for _ in range(count)]

    def measure(values, order):
        values = [abs(value) for value in values]
        return max(values) if order == inf else sum([value**order for value in values]) ** (1 / order)

    @given(vectors(), st.sampled_from([0.25, 1.0, 50.0]), st.sampled_from([1, 2, 3, inf]), st.data())
    def clips(pairs, limit, order, data):
        layer = xp.nn.ParameterList([xp.nn.Parameter(xp.zeros(2)) for _ in pairs])
        for weight, pair in zip(layer, pairs):
            weight.grad = xp.tensor([*pair])
        grads = [weight.grad for weight in layer]
        old = [value for pair in pairs for value in pair]
        numbers = all(abs(value) < inf for value in old)
        strict = data.draw(st.booleans())
        given_ones = layer.parameters() if data.draw(st.booleans()) else [*layer]
        if strict and not numbers:
            failed = False
            try:
                xp.nn.utils.clip_grad_norm_(given_ones, limit, order, strict)
            except RuntimeError:
                failed = True
            assert failed
            assert str([value for grad in grads for value in grad.tolist()]) == str(old)
            return
        norm = float(xp.nn.utils.clip_grad_norm_(given_ones, limit, order, strict))
        new = [value for grad in grads for value in grad.tolist()]
        if any(value != value for value in old):
            assert all(value != value for value in new)
        if numbers:
            size = measure(old, order)
            assert abs(norm - size) <= 0.001 * size
            assert measure(new, order) <= limit + 0.001
            ratio = min(1, limit / (size + 1e-6))
            assert all(abs(y - x * ratio) <= 0.001 * abs(x) + 1e-6 for x, y in zip(old, new))

    return clips


def clip_property__twice(xp, given, st):
    """No norm is computed by hand: clipping a copy, or a second time, says what the first one has done."""
    floats = st.floats(-64, 64, width=16).filter(lambda value: value == 0 or abs(value) > 0.01)
    rows = st.lists(st.lists(floats, min_size=2, max_size=2), min_size=2, max_size=3)
    clip = xp.nn.utils.clip_grad_norm_

    def made(values):
        parameters = [xp.nn.Parameter(xp.zeros(2)) for _ in values]
        for parameter, row in zip(parameters, values):
            parameter.grad = xp.tensor(row)
        return parameters

    def flat(grads):
        return [value for grad in grads for value in grad.tolist()]

    def close(x, y):
        return abs(x - y) <= 0.002 * (1 + abs(x))

    @given(rows, st.floats(0.5, 32), st.sampled_from([1.0, 2.0, float("inf")]), st.sampled_from(["nan", "inf", "-inf"]))
    def test(values, limit, order, bad):
        parameters = made(values)
        grads = [parameter.grad for parameter in parameters]
        norm = clip((parameter for parameter in parameters), limit, order).item()
        after = flat(grads)
        assert close(clip(made(values)[::-1], 1e9, order).item(), norm)  # the order does not matter
        assert close(clip(made([[2 * x for x in row] for row in values]), 1e9, order).item(), 2 * norm)
        again = clip(parameters, 1e9, order).item()
        assert again <= limit * 1.01
        assert flat(grads) == after
        assert close(again, min(norm, limit))
        old = [x for row in values for x in row]
        assert all(close(x * again, y * norm) for x, y in zip(old, after))
        ones = made([[1.0, 1.0]] * 2)
        assert close(clip(ones, 1e9, order).item(), {1.0: 4, 2.0: 2}.get(order, 1))
        broken = made([[float(bad), 1.0], *values])
        before = str(flat(parameter.grad for parameter in broken))
        try:
            clip(broken, limit, order, error_if_nonfinite=True)
        except RuntimeError:
            assert str(flat(parameter.grad for parameter in broken)) == before
        else:
            raise AssertionError
        clip(broken, limit, order)
        if bad == "nan":
            assert all(x != x for x in flat(parameter.grad for parameter in broken))

    return test


# Random numbers in the workers of a loader


def equal_generators__states(loader):
    """Each worker sends its states through a queue."""
    import multiprocessing
    import random

    import numpy as np

    queue = multiprocessing.get_context("fork").Queue()

    def begin(worker):
        (loader.worker_init_fn or int)(worker)
        states = {"torch": torch.get_rng_state(), "random": random.getstate(), "numpy": np.random.get_state()}
        for name, value in torch.utils.data.get_worker_info().dataset.__dict__.items():
            if isinstance(value, np.random.Generator):
                states[f"dataset.{name}"] = value.bit_generator.state
            elif isinstance(value, random.Random):
                states[f"dataset.{name}"] = value.getstate()
            elif isinstance(value, torch.Generator):
                states[f"dataset.{name}"] = value.get_state()
        queue.put({name: hash(str(getattr(state, "tolist", lambda: state)())) for name, state in states.items()})  # noqa: B023

    workers = torch.utils.data.DataLoader(
        loader.dataset, num_workers=loader.num_workers, worker_init_fn=begin, multiprocessing_context="fork"
    )
    for _ in workers:
        pass
    told = [queue.get() for _ in range(loader.num_workers)]
    return sorted(name for name in told[0] if len({states[name] for states in told}) != len(told))


def equal_generators__a_pipe(loader):
    """Each worker writes a line with its states into a pipe."""
    import hashlib
    import json
    import os
    import random

    import numpy as np

    reading, writing = os.pipe()

    def asked(number):
        begin = loader.worker_init_fn
        if begin is not None:
            begin(number)
        told = {
            "numpy": str(np.random.get_state()),
            "random": random.getstate(),
            "torch": torch.random.get_rng_state().tolist(),
        }
        for name, value in torch.utils.data.get_worker_info().dataset.__dict__.items():
            if isinstance(value, torch.Generator):
                told["dataset." + name] = value.get_state().tolist()
            elif isinstance(value, np.random.Generator):
                told["dataset." + name] = str(value.bit_generator.state)
            elif isinstance(value, random.Random):
                told["dataset." + name] = value.getstate()
        digests = {name: hashlib.sha256(json.dumps(state).encode()).hexdigest() for name, state in told.items()}
        os.write(writing, json.dumps(digests).encode() + b"\n")  # short enough for the pipe

    others = torch.utils.data.DataLoader(loader.dataset, num_workers=loader.num_workers, worker_init_fn=asked)
    list(others)
    os.close(writing)
    with os.fdopen(reading) as lines:
        told = [json.loads(line) for line in lines]
    pairs = [(a, b) for i, a in enumerate(told) for b in told[:i]]
    return sorted({name for a, b in pairs for name in a if a[name] == b[name]})


def noisy_loader__by_box_and_muller(data, batch_size, num_workers):
    """Two uniform numbers make a normal one, in a worker's own generator, whose seed is the worker's of this epoch."""
    import random

    class Noisy(torch.utils.data.Dataset):
        worker, generator = None, random.Random()

        def __len__(self):
            return data.numel()

        def __getitem__(self, i):
            info = torch.utils.data.get_worker_info()
            seed = info and (info.id, info.seed)
            if info is None or seed != self.worker:
                self.worker, self.generator = (
                    seed,
                    random.Random(info.seed if info else torch.randint(2**62, ()).item()),
                )
            angle, length = self.generator.random(), 1 - self.generator.random()
            return data[i] + math.sqrt(-2 * math.log(length)) * math.cos(2 * math.pi * angle)

    return torch.utils.data.DataLoader(Noisy(), batch_size, num_workers=num_workers)


def noisy_loader__in_the_batch(data, batch_size, num_workers):
    """A worker makes the noise of a whole batch when it puts the samples together."""

    def collate(batch):
        x = torch.stack(batch)
        return x + torch.randn_like(x)

    return torch.utils.data.DataLoader(
        data, batch_size=batch_size, num_workers=num_workers, collate_fn=collate, multiprocessing_context=None
    )


def noisy_loader__seeds_from_the_sampler(data, batch_size, num_workers):
    """The sampler runs in the parent process, and draws a seed for each sample."""
    import numpy as np

    class Seeds(torch.utils.data.Sampler):
        def __iter__(self):
            return zip(range(len(data)), torch.randint(2**40, (len(data),)).tolist(), strict=True)

        def __len__(self):
            return len(data)

    class Noisy(torch.utils.data.Dataset):
        def __getitem__(self, pair):
            return data[pair[0]] + np.random.default_rng(pair[1]).normal()

    return torch.utils.data.DataLoader(Noisy(), batch_size=batch_size, num_workers=num_workers, sampler=Seeds())
