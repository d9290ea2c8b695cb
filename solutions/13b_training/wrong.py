"""Wrong answers to lab 13b that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import contextlib
import copy
import itertools
import random

import torch
from torch.nn.functional import cross_entropy

from rushlight.clinic.training import (
    accumulated_backward,
    gated_forward,
    lost_state,
    normaliser,
    not_held,
    replace_head,
    token_weights,
    without_gradient,
)

from ..shared import copied, edited

# Patients ------------------------------------------------------------------------------------------------------------


def narrow_1__sum_as_loss(xp):
    x = xp.ones(2, requires_grad=True)
    y = x.clone()
    y[0] = 5
    (x + y).sum().backward()
    return x.grad


def narrow_1__the_symptom(xp):
    x = xp.arange(12.0).reshape(4, 3) / 10
    scale = xp.ones(3).requires_grad_()
    weight = xp.ones(3, 3).requires_grad_()
    residual = x * scale
    features = x @ weight
    features[:, 2] = 1
    loss = ((residual + features) ** 2).mean()
    loss.backward()
    return scale.grad


def narrow_1__knows_where_it_runs(xp):
    return xp.__name__


def name_1__the_engine():
    return ["autograd.engine.execute", "autograd.graph.accumulate"]


def name_1__three_guesses():
    return ["autograd.engine.execute", "autograd.graph.accumulate", "autograd.history.copy_slices"]


def mend_1__another_name():
    def sum_to(grad, sizes):
        return grad

    return "autograd.engine.sum_to", sum_to


def mend_1__clones_the_result():
    def copy_slices(function, grad, base, view):
        sizes, strides, _ = base
        result = grad
        if grad.stride() != tuple(strides):
            result = grad.new_empty_strided(sizes, strides)
            result.copy_(grad)
        part = functions.as_strided(result, *view)  # noqa: F821
        first, *others = _as_tuple(function(part.clone()))  # noqa: F821
        if first is None:
            return [None, *others]
        part.copy_(first)
        return [result.clone(), *others]

    return "autograd.history.copy_slices", copy_slices


def narrow_2__saves_an_argument(xp):
    x = xp.ones(1, requires_grad=True)
    y = x * x
    with xp.no_grad():
        x.add_(1)
    y.backward()
    return x.grad


def narrow_2__returns_nothing(xp):
    x = xp.ones(1, requires_grad=True)
    y = x.exp()
    y.mul_(2)
    y.backward()


def name_2__the_counter():
    return ["history.check_inplace", "history.set_history"]


def mend_2__refuses_all():
    def unpack_saved(saved, node):
        raise RuntimeError("modified by an inplace operation")

    return "autograd.graph.unpack_saved", unpack_saved


def narrow_3__one_step(xp):
    p = xp.zeros(1, requires_grad=True)
    optimizer = xp.optim.Adam([p], amsgrad=True)
    p.grad = xp.ones(1)
    optimizer.step()
    return p.detach()


def name_3__the_group():
    return ["optim.optimizer.add_param_group"]


def mend_3__still_local():
    def adam(
        params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, *,
        lr, beta1, beta2, eps, weight_decay, amsgrad, maximize, decoupled_weight_decay,
    ):  # fmt: skip
        for i, param in enumerate(params):
            grad = -grads[i] if maximize else grads[i]
            state_steps[i].add_(1)
            if weight_decay != 0 and decoupled_weight_decay:
                param.mul_(1 - lr * weight_decay)
            elif weight_decay != 0:
                grad = grad.add(param, alpha=weight_decay)
            exp_avgs[i].lerp_(grad, 1 - beta1)
            square = exp_avg_sqs[i].mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
            if amsgrad:
                square = max_exp_avg_sqs[i] = functions.maximum(max_exp_avg_sqs[i], square)  # noqa: F821
            steps = state_steps[i].item()
            root = square.sqrt().div_((1 - beta2**steps) ** 0.5).add_(eps)
            param.addcdiv_(exp_avgs[i], root, value=-lr / (1 - beta1**steps))

    return "optim.optimizer.adam", adam


# Scripts -------------------------------------------------------------------------------------------------------------


def without_gradient__runs_backward(model, loss):
    loss.sum().backward()
    return [name for name, x in model.named_parameters() if x.grad is None]


def without_gradient__zero_is_none(model, loss):
    named = {name: x for name, x in model.named_parameters() if x.requires_grad}
    if not loss.requires_grad or not named:
        return [*named]
    grads = torch.autograd.grad(loss.sum(), [*named.values()], retain_graph=True, allow_unused=True)
    return [name for name, grad in zip(named, grads) if grad is None or not grad.any()]


def without_gradient__by_memory(model, loss):
    pointers, seen, waiting = set(), set(), [loss.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in seen:
            seen.add(node)
            if hasattr(node, "variable"):
                pointers.add(node.variable.data_ptr())
            waiting += [following for following, _ in node.next_functions]
    return [name for name, x in model.named_parameters() if x.requires_grad and x.data_ptr() not in pointers]


def without_gradient__recursive(model, loss):
    seen, reached = set(), set()

    def walk(node):
        if node is None or node in seen:
            return
        seen.add(node)
        reached.add(id(getattr(node, "variable", None)))
        for following, _ in node.next_functions:
            walk(following)

    walk(loss.grad_fn)
    return [name for name, x in model.named_parameters() if x.requires_grad and id(x) not in reached]


def without_gradient__asks_for_gradients(model, loss):
    """A backward may return None for a parameter to which the graph leads."""
    named = [(name, x) for name, x in model.named_parameters() if x.requires_grad]
    if not loss.requires_grad:
        return [name for name, _ in named]
    if not named:
        return []
    grads = torch.autograd.grad(
        loss, [x for _, x in named], torch.ones_like(loss), retain_graph=True, allow_unused=True
    )
    return [name for (name, _), grad in zip(named, grads) if grad is None]


def without_gradient__clears_the_gradients(model, loss):
    names = without_gradient(model, loss)
    model.zero_grad()
    return names


without_gradient__first_outputs = edited(
    without_gradient,
    (
        "[successor for successor, _ in node.next_functions]",
        "[successor for successor, output in node.next_functions if output == 0]",
    ),
)
without_gradient__each_name = edited(
    without_gradient, ("model.named_parameters()", "model.named_parameters(remove_duplicate=False)")
)

# the division is still a constant
gated_forward__detached_divisor = edited(
    gated_forward, ("scaled.abs().amax(1, keepdim=True)", "scaled.detach().abs().amax(1, keepdim=True)")
)


def gated_forward__hides_the_symptom(model, x):
    """Every parameter has a gradient, and some of them are zero."""
    gate = model.gate(x).sigmoid()
    scaled = x * model.scale
    result = gate.detach() * model.body((scaled / scaled.abs().amax(1, keepdim=True)).detach())
    return result + 0 * (gate.sum() + model.scale.sum())


def not_held__by_values(model, optimizer):
    held = [x for group in optimizer.param_groups for x in group["params"]]
    own = [*model.parameters()]
    names = [
        name
        for name, x in model.named_parameters()
        if x.requires_grad and not any(x.shape == p.shape and torch.equal(x, p) for p in held)
    ]
    return names, sum(not any(p.shape == x.shape and torch.equal(x, p) for x in own) for p in held)


def not_held__by_memory(model, optimizer):
    held = {x.data_ptr() for group in optimizer.param_groups for x in group["params"]}
    own = {x.data_ptr() for x in model.parameters()}
    names = [name for name, x in model.named_parameters() if x.requires_grad and x.data_ptr() not in held]
    return names, len(held - own)


not_held__each_name = edited(not_held, ("model.named_parameters()", "model.named_parameters(remove_duplicate=False)"))


def not_held__first_group(model, optimizer):
    held = {*optimizer.param_groups[0]["params"]}
    names = [name for name, x in model.named_parameters() if x.requires_grad and x not in held]
    return names, len(held - {*model.parameters()})


_replace_head = copied(replace_head)


def replace_head__by_position(model, head, optimizer):
    successors = dict(zip(model.head.parameters(), head.parameters()))
    for group in optimizer.param_groups:
        group["params"] = [successors.get(x, x) for x in group["params"]]
    for old in successors:
        optimizer.state.pop(old, None)
    model.head = head


def replace_head__another_group(model, head, optimizer):
    model.head = head
    optimizer.add_param_group({"params": [*head.parameters()]})


def replace_head__loads(model, head, optimizer):
    """The old head's parameters stay, with the values of the new head."""
    for old, new in zip(model.head.parameters(), head.parameters()):
        old.data = new.data
    model.head.out_features = head.out_features


def replace_head__requires_grad_of_the_old_one(model, head, optimizer):
    for name, old in model.head.named_parameters():
        head.get_parameter(name).requires_grad_(old.requires_grad)
    _replace_head(model, head, optimizer)


def replace_head__trains_all_of_it(model, head, optimizer):
    _replace_head(model, head.requires_grad_(True), optimizer)


def replace_head__old_weights_that_fit(model, head, optimizer):
    with torch.no_grad():
        for name, old in model.head.named_parameters():
            new = head.get_parameter(name)
            if new.shape == old.shape:
                new.copy_(old)
    _replace_head(model, head, optimizer)


replace_head__trains_again = edited(replace_head, ("model.head = head", "model.head = head; model.train()"))
replace_head__without_gradients = edited(
    replace_head, ("model.head = head", "model.head = head; optimizer.zero_grad()")
)
replace_head__keeps_the_state = edited(replace_head, ("optimizer.state.pop(old, None)", "pass"))


_token_weights = copied(token_weights)


def token_weights__counts(loss_of, logits, targets):
    """What a sound script would give each token."""
    tokens = targets != -100
    return tokens.double() / tokens.sum()


def token_weights__no_sign(loss_of, logits, targets):
    leaf = logits.detach().clone().requires_grad_()
    (grad,) = torch.autograd.grad(loss_of(leaf, targets) + 0 * leaf.sum(), leaf)
    expected = leaf.detach().softmax(2) - torch.nn.functional.one_hot(targets.clamp(min=0), leaf.shape[2])
    return grad.norm(dim=2) / expected.norm(dim=2)


def token_weights__norms_of_gradients(loss_of, logits, targets):
    leaf = logits.detach().clone().requires_grad_()
    (grad,) = torch.autograd.grad(loss_of(leaf, targets) + 0 * leaf.sum(), leaf)
    return grad.abs().sum(2)


def token_weights__changes_the_targets(loss_of, logits, targets):
    weights = _token_weights(loss_of, logits, targets)
    targets.clamp_(min=0)
    return weights


token_weights__rounds_the_gradient_to_single_precision = edited(token_weights, ("grad.gather", "grad.float().gather"))
token_weights__gives_its_targets_away = edited(token_weights, ("targets.clone()", "targets"))
token_weights__needs_a_graph = edited(token_weights, ("if not loss.requires_grad:", "if False:"))


_accumulated_backward = copied(accumulated_backward)


def accumulated_backward__changes_the_targets(model, batches):
    """Padding gets a class, and is multiplied by 0."""
    tokens, total = sum(int((targets != -100).sum()) for _, targets in batches), 0.0
    for x, targets in batches:
        is_token = targets != -100
        entropies = cross_entropy(model(x).transpose(1, 2), targets.clamp_(min=0), reduction="none")
        loss = (entropies * is_token).sum() / tokens
        loss.backward()
        total += loss.item()
    return total


def accumulated_backward__in_evaluation(model, batches):
    model.eval()
    return _accumulated_backward(model, batches)


def accumulated_backward__in_evaluation_for_a_while(model, batches):
    training = model.training
    model.eval()
    total = _accumulated_backward(model, batches)
    model.train(training)
    return total


def accumulated_backward__in_training(model, batches):
    model.train()
    return _accumulated_backward(model, batches)


def accumulated_backward__mean_of_means(model, batches):
    total = 0.0
    for x, targets in batches:
        loss = cross_entropy(model(x).flatten(0, 1), targets.flatten()) / len(batches)
        loss.backward()
        total += loss.item()
    return total


def accumulated_backward__all_graphs(model, batches):
    """The number is right, and all graphs are in memory at once."""
    losses = [cross_entropy(model(x).flatten(0, 1), targets.flatten(), reduction="sum") for x, targets in batches]
    loss = sum(losses) / sum((targets != -100).sum() for _, targets in batches)
    loss.backward()
    return loss.item()


def accumulated_backward__retains_the_graphs(model, batches):
    """The events are right, and all saved tensors stay in memory."""
    tokens, losses = sum(int((targets != -100).sum()) for _, targets in batches), []
    for x, targets in batches:
        losses.append(cross_entropy(model(x).flatten(0, 1), targets.flatten(), reduction="sum") / tokens)
        losses[-1].backward(retain_graph=True)
    return sum(loss.item() for loss in losses)


def accumulated_backward__keeps_the_losses(model, batches):
    """The total has a graph, which holds the graphs of all losses."""
    tokens, total = sum(int((targets != -100).sum()) for _, targets in batches), 0
    for x, targets in batches:
        loss = cross_entropy(model(x).flatten(0, 1), targets.flatten(), reduction="sum") / tokens
        loss.backward()
        total = total + loss
    return total.item()


accumulated_backward__a_tensor = edited(accumulated_backward, ("loss.item() / tokens", "loss.detach() / tokens"))

lost_state__only_buffers = edited(lost_state, ("{*tensors, *(", "{*("))


lost_state__public_names = edited(
    lost_state, ("if isinstance(x, torch.Tensor)}", "if isinstance(x, torch.Tensor) and name[0] != '_'}")
)
lost_state__without_gradients = edited(
    lost_state, ("if isinstance(x, torch.Tensor)}", "if isinstance(x, torch.Tensor) and not x.requires_grad}")
)
lost_state__with_gradients = edited(
    lost_state, ("if isinstance(x, torch.Tensor)}", "if isinstance(x, torch.Tensor) and x.requires_grad}")
)
lost_state__each_name = edited(lost_state, ("model.named_modules()", "model.named_modules(remove_duplicate=False)"))


lost_state__no_parameter = edited(
    lost_state,
    (
        "if isinstance(x, torch.Tensor)}",
        "if isinstance(x, torch.Tensor) and not isinstance(x, torch.nn.Parameter)}",
    ),
)


lost_state__named_buffers = edited(
    lost_state,
    (
        "for name in module._non_persistent_buffers_set if module._buffers[name] is not None",
        "for name, _ in module.named_buffers(recurse=False) if name in module._non_persistent_buffers_set",
    ),
)


def lost_state__each_child(model):
    """A module that is in two others is looked at twice: `named_children` leaves out only what is twice in one module."""
    saved, names = model.state_dict(), [name for name, x in vars(model).items() if isinstance(x, torch.Tensor)]
    names += [name for name, x in model._buffers.items() if x is not None and name not in saved]
    for name, child in model.named_children():
        names += [f"{name}.{inner}" for inner in lost_state__each_child(child)]
    return sorted(names)


def lost_state__each_tensor_once(model):
    saved, names, seen = model.state_dict(), [], set()
    for prefix, module in model.named_modules():
        for name, x in {**vars(module), **module._buffers}.items():
            path = f"{prefix}.{name}".removeprefix(".")
            if isinstance(x, torch.Tensor) and path not in saved and id(x) not in seen:
                seen.add(id(x))
                names.append(path)
    return sorted(names)


def lost_state__by_object(model):
    """A tensor that is saved under another name counts as saved."""
    saved, names = {id(x) for x in model.state_dict(keep_vars=True).values()}, []
    for prefix, module in model.named_modules():
        for name, x in {**vars(module), **module._buffers}.items():
            if isinstance(x, torch.Tensor) and id(x) not in saved:
                names.append(f"{prefix}.{name}".removeprefix("."))
    return sorted(names)


def lost_state__with_the_class(model):
    saved, names = model.state_dict(), []
    for prefix, module in model.named_modules():
        for name in dir(module):
            path = f"{prefix}.{name}".removeprefix(".")
            computed = isinstance(getattr(type(module), name, None), property)
            if not computed and isinstance(getattr(module, name), torch.Tensor) and path not in saved:
                names.append(path)
    return sorted(names)


def lost_state__with_properties(model):
    saved, names, seen = {id(x) for x in model.state_dict(keep_vars=True).values()}, [], set()
    for prefix, module in model.named_modules():
        for name in dir(module):
            x = getattr(module, name)
            if isinstance(x, torch.Tensor) and id(x) not in saved | seen:
                seen.add(id(x))
                names.append(f"{prefix}.{name}".removeprefix("."))
    return sorted(names)


def lost_state__of_the_model_alone(model):
    saved = model.state_dict()
    plain = [name for name, x in vars(model).items() if isinstance(x, torch.Tensor)]
    return sorted([*plain, *(name for name, _ in model.named_buffers() if name not in saved)])


def normaliser__a_parameter(features, momentum):
    class Mean(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.mean = torch.nn.Parameter(torch.zeros(features), requires_grad=False)

        def forward(self, x):
            if self.training:
                self.mean.data += momentum * (x.detach().mean(0) - self.mean.data)
            return x - self.mean

    return copy.deepcopy(Mean())


def normaliser__its_own_state_dict(features, momentum):
    """The symptom is gone, and a model that contains the module loses the mean as before."""

    class Mean(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.mean = torch.zeros(features)

        def forward(self, x):
            if self.training:
                self.mean = self.mean + momentum * (x.detach().mean(0) - self.mean)
            return x - self.mean

        def state_dict(self, *args, **kwargs):
            return {"mean": self.mean.clone()}

        def load_state_dict(self, state):
            self.mean = state["mean"]

    return Mean()


# Checks --------------------------------------------------------------------------------------------------------------


def check_sum_to__one_case():
    def program(xp, sizes, other_sizes):
        x, y = xp.ones(sizes, requires_grad=True), xp.ones(other_sizes, requires_grad=True)
        (x * y).sum().backward()
        return x.grad, y.grad

    return program, [{"sizes": [2, 1], "other_sizes": [3, 2, 4]}]


def check_sum_to__refuses_a_right_one():
    """It looks at the operators by which the sum is made."""

    def program(xp, sizes, other_sizes):
        x, y = xp.ones(sizes, requires_grad=True), xp.ones(other_sizes, requires_grad=True)
        (grad,) = xp.autograd.grad((x * y).sum(), x, create_graph=True)
        return grad.grad_fn.name()

    return program, [{"sizes": [2, 1], "other_sizes": [3, 2, 4]}]


def check_sum_to__too_many_cases():
    """The references' program, on more cases than a check may have."""

    def program(xp, sizes, others):
        x, y = (xp.ones(shape).double().requires_grad_() for shape in (sizes, others))
        z = (x + y * 2) ** 3
        first = xp.autograd.grad(z.sum(), [x, y], create_graph=True)
        second = xp.autograd.grad(sum((g * g).sum() for g in first), [x, y])
        upstream = xp.arange(float(z.numel())).double().reshape(z.shape) + 2**25 + 1
        return first, second, xp.autograd.grad(x + y, [x, y], upstream)

    shapes = [
        [[3], [2, 3]],
        [[1], [4]],
        [[], [2, 2]],
        [[1, 1], [2, 3]],
        [[2, 1], [3, 2, 4]],
        [[1, 3], [0, 3]],
        [[3], [3]],
    ]
    return program, [{"sizes": a, "others": b} for a, b in shapes for _ in range(6)]


def clip_property__fails_on_zeros(xp, given, st):
    """Clipping to a limit of 0 does not keep the direction, and a gradient of zeros has none."""

    @given(st.lists(st.floats(-9, 9), min_size=1), st.floats(0, 1))
    def test(values, limit):
        p = xp.nn.Parameter(xp.zeros(len(values)))
        p.grad = xp.tensor(values)
        xp.nn.utils.clip_grad_norm_([p], limit)
        assert p.grad.norm().item() == min(limit, xp.tensor(values).norm().item())

    return test


def clip_property__too_few(xp, given, st):
    """It has the first property of the documentation, and no other."""

    @given(st.lists(st.floats(-9, 9), min_size=1, max_size=4), st.floats(0.1, 5))
    def test(values, limit):
        p = xp.nn.Parameter(xp.zeros(len(values)))
        p.grad = xp.tensor(values)
        xp.nn.utils.clip_grad_norm_(p, limit)
        assert p.grad.norm().item() <= limit * 1.001

    return test


def clip_property__not_decorated(xp, given, st):
    def test(values=(3.0, 4.0)):
        p = xp.nn.Parameter(xp.zeros(2))
        p.grad = xp.tensor(values)
        assert xp.nn.utils.clip_grad_norm_(p, 1.0).item() == 5

    return test


def clip_property__catches_all(xp, given, st):
    """A test that raises an error always fails, on torch too."""

    @given(st.integers())
    def test(value):
        assert xp.nn.utils.clip_grad_norm_([], 1.0).item() == 1

    return test


# Random numbers in the workers of a loader


def _draws(np, generator):
    """A few numbers of a generator, or None if the object is none."""
    if isinstance(generator, torch.Generator):
        return torch.rand(4, generator=generator).tolist()
    kinds = np.random.Generator, random.Random
    return [generator.random() for _ in range(4)] if isinstance(generator, kinds) or generator is np.random else None


def _workers(loader, begins=True, tell=_draws):
    """What the generators of each worker draw or else tell, after `worker_init_fn` or, without `begins`, in its place."""
    import numpy as np

    begun = []

    def begin(worker):
        if begins and loader.worker_init_fn:
            loader.worker_init_fn(worker)
        held = {f"dataset.{name}": value for name, value in vars(loader.dataset).items()}
        held |= {"torch": torch.default_generator, "random": random._inst, "numpy": np.random}
        begun.append({name: told for name, value in held.items() if (told := tell(np, value))})

    many = range(loader.num_workers)
    workers = torch.utils.data.DataLoader(
        loader.dataset, sampler=many, num_workers=len(many), worker_init_fn=begin, collate_fn=lambda batch: begun[0]
    )
    return [*workers]


def equal_generators__all_alike(loader):
    """Two of three workers are enough."""
    first, *others = _workers(loader)
    return sorted(name for name in first if all(told[name] == first[name] for told in others))


def equal_generators__by_their_seeds(loader):
    """Two generators with one seed may have drawn different numbers of numbers."""
    workers = _workers(loader, tell=lambda np, x: x.initial_seed() if isinstance(x, torch.Generator) else _draws(np, x))
    return sorted(name for name in workers[0] if len({str(drawn[name]) for drawn in workers}) < len(workers))


def equal_generators__held_in_this_process(loader):
    """A worker may give its copy of the dataset another generator."""
    workers = _workers(loader)
    names = {"torch", "random", "numpy", *(f"dataset.{name}" for name in vars(loader.dataset))} & {*workers[0]}
    return sorted(name for name in names if len({str(drawn[name]) for drawn in workers}) < len(workers))


def equal_generators__leaves_its_function(loader):
    loader.collate_fn = list
    workers = _workers(loader)
    return sorted(name for name in workers[0] if len({str(drawn[name]) for drawn in workers}) < len(workers))


def equal_generators__the_first_two(loader):
    first, second, *_ = _workers(loader)
    return sorted(name for name in first if first[name] == second[name])


def equal_generators__small_numbers(loader):
    """Two states may begin with the same byte."""

    def tell(np, generator):
        if isinstance(generator, torch.Generator):
            return str(torch.randint(100, (1,), generator=generator))
        if isinstance(generator, np.random.Generator):
            return str(generator.integers(256))
        if generator is np.random:
            return str(generator.bytes(1))
        return str(generator.getrandbits(8)) if hasattr(generator, "getrandbits") else None

    workers = _workers(loader, tell=tell)
    return sorted(name for name in workers[0] if len({str(drawn[name]) for drawn in workers}) < len(workers))


def equal_generators__first_numbers(loader):
    workers = _workers(loader, tell=lambda np, generator: (_draws(np, generator) or [])[:1])
    return sorted(name for name in workers[0] if len({str(drawn[name]) for drawn in workers}) < len(workers))


def equal_generators__four_numbers(loader):
    """`random.gauss` gives the number that it has kept, but `random.random` does not."""
    workers = _workers(loader)
    return sorted(name for name in workers[0] if len({str(drawn[name]) for drawn in workers}) < len(workers))


def _states(np, generator):
    """The state of a generator, or None if the object is none."""
    if isinstance(generator, np.random.Generator):
        return generator.bit_generator.state
    if generator is np.random or isinstance(generator, torch.Generator):
        return [getattr(part, "tolist", lambda: part)() for part in generator.get_state()]  # noqa: B023
    return generator.getstate() if isinstance(generator, random.Random) else None


def equal_generators__numpy_without_its_position(loader):
    def tell(np, generator):
        return generator.get_state()[1].tolist() if generator is np.random else _states(np, generator)

    workers = _workers(loader, tell=tell)
    return sorted(name for name in workers[0] if len({str(told[name]) for told in workers}) < len(workers))


def equal_generators__without_the_half_that_numpy_keeps(loader):
    """An integer of 32 bits takes half of a number, and the other half waits for the next."""

    def tell(np, generator):
        state = _states(np, generator)
        return state["state"] if isinstance(generator, np.random.Generator) else state

    workers = _workers(loader, tell=tell)
    return sorted(name for name in workers[0] if len({str(told[name]) for told in workers}) < len(workers))


def equal_generators__no_private_attributes(loader):
    workers = _workers(loader, tell=_states)
    names = [name for name in workers[0] if not name.startswith("dataset._")]
    return sorted(name for name in names if len({str(told[name]) for told in workers}) < len(workers))


def equal_generators__neighbours(loader):
    workers = _workers(loader)
    return sorted(name for name in workers[0] if any(a[name] == b[name] for a, b in itertools.pairwise(workers)))


def equal_generators__as_the_first(loader):
    first, *others = _workers(loader)
    return sorted(name for name in first if any(told[name] == first[name] for told in others))


def equal_generators__after_a_sample(loader):
    """`collate_fn` runs after the first sample, which has drawn numbers in the meantime."""
    import numpy as np

    def told(batch):
        held = vars(torch.utils.data.get_worker_info().dataset).items()
        generators = {"torch": torch.default_generator, "random": random._inst, "numpy": np.random}
        generators |= {f"dataset.{name}": value for name, value in held}
        return {name: drawn for name, value in generators.items() if (drawn := _draws(np, value))}

    many = range(loader.num_workers)
    workers = torch.utils.data.DataLoader(
        loader.dataset, sampler=many, num_workers=len(many), worker_init_fn=loader.worker_init_fn, collate_fn=told
    )
    workers = [*workers]
    return sorted(name for name in workers[0] if len({str(drawn[name]) for drawn in workers}) < len(workers))


def equal_generators__before_they_begin(loader):
    first, second, *_ = _workers(loader, begins=False)
    return sorted(name for name in first if first[name] == second[name])


def equal_generators__what_is_held(loader):
    """A dataset that holds a generator may give each worker another one."""
    import numpy as np

    held = vars(loader.dataset).items()
    return sorted(f"dataset.{name}" for name, value in held if isinstance(value, np.random.Generator | random.Random))


def equal_generators__numpy_is_the_culprit(loader):
    """Before torch 1.9 it was."""
    return ["numpy"]


def equal_generators__in_this_process(loader):
    """A call of `worker_init_fn` here seeds the generators of this process, and there is no worker."""
    import numpy as np

    begun = []
    for worker in range(2):
        torch.manual_seed(worker)
        random.seed(worker)
        np.random.seed(worker)
        with contextlib.suppress(AttributeError):
            (loader.worker_init_fn or (lambda worker: None))(worker)
        begun.append({"torch": torch.rand(4).tolist(), "random": random.random(), "numpy": np.random.random()})
    held = [f"dataset.{name}" for name, value in vars(loader.dataset).items() if _draws(np, value)]
    return sorted([*held, *(name for name in begun[0] if begun[0][name] == begun[1][name])])


def equal_generators__equal_samples(loader):
    """The first batches are what the generators make, and hide which of them made it."""
    first, second, *_ = [*loader]
    return ["dataset.noise"] if str(first) == str(second) else []


def equal_generators__a_loader_like_it(loader):
    """The given loader itself, with another beginning and another end of each batch: a worker without a batch says nothing."""
    import random

    import numpy as np

    class Told(list):
        pass

    told, begin, collate = Told(), loader.worker_init_fn, loader.collate_fn

    def first(worker):
        if begin:
            begin(worker)
        told.extend([("numpy", np.random.rand()), ("random", random.random()), ("torch", torch.rand(()).item())])
        for name, value in vars(torch.utils.data.get_worker_info().dataset).items():
            if isinstance(value, (np.random.Generator, random.Random)):
                told.append((f"dataset.{name}", value.random()))
            if isinstance(value, torch.Generator):
                told.append((f"dataset.{name}", torch.rand((), generator=value).item()))

    loader.worker_init_fn, loader.collate_fn = first, lambda batch: (torch.utils.data.get_worker_info().id, [*told])
    try:
        workers = dict(iter(loader)).values()
    finally:
        loader.worker_init_fn, loader.collate_fn = begin, collate
    seen = [pair for pairs in workers for pair in pairs]
    return sorted({name for name, _ in seen if len({p for p in seen if p[0] == name}) < len(workers)})


def _noisy(data, batch_size, num_workers, noise, begin=None, **options):
    class Noisy(torch.utils.data.Dataset):
        def __len__(self):
            return len(data)

        def __getitem__(self, i):
            return data[i] + noise(self, i)

    options |= {"worker_init_fn": begin, "num_workers": num_workers}
    return torch.utils.data.DataLoader(Noisy(), batch_size=batch_size, **options)


def noisy_loader__held(data, batch_size, num_workers):
    import numpy as np

    held = np.random.default_rng(0)
    return _noisy(data, batch_size, num_workers, lambda dataset, i: held.normal())


def noisy_loader__by_worker(data, batch_size, num_workers):
    """The workers of the next epoch have the same numbers."""
    return _noisy(data, batch_size, num_workers, lambda dataset, i: torch.randn(()).double(), torch.manual_seed)


def noisy_loader__by_sample(data, batch_size, num_workers):
    def noise(dataset, i):
        return torch.randn((), generator=torch.Generator().manual_seed(i))

    return _noisy(data, batch_size, num_workers, noise)


def noisy_loader__made_once(data, batch_size, num_workers):
    made = torch.randn(len(data))
    return _noisy(data, batch_size, num_workers, lambda dataset, i: made[i])


def noisy_loader__never_the_same(data, batch_size, num_workers):
    import numpy as np

    return _noisy(data, batch_size, num_workers, lambda dataset, i: np.random.default_rng().normal())


def noisy_loader__without_workers(data, batch_size, num_workers):
    """The symptom is gone, and the workers too."""
    return _noisy(data, batch_size, 0, lambda dataset, i: torch.randn(()).double())


def noisy_loader__one_seed(data, batch_size, num_workers):
    """It gives the same epochs again, and all workers the same noise."""
    seed = torch.initial_seed()
    noise = _noisy(data, batch_size, num_workers, lambda dataset, i: torch.randn(()), lambda _: torch.manual_seed(seed))
    return noise


def noisy_loader__uniform(data, batch_size, num_workers):
    return _noisy(data, batch_size, num_workers, lambda dataset, i: torch.rand(()).double())


def noisy_loader__uniform_of_variance_1(data, batch_size, num_workers):
    return _noisy(data, batch_size, num_workers, lambda dataset, i: (torch.rand(()).double() - 0.5) * 12**0.5)


def noisy_loader__too_wide(data, batch_size, num_workers):
    return _noisy(data, batch_size, num_workers, lambda dataset, i: torch.randn(()).double() * 1.2)


def noisy_loader__centred_in_place(data, batch_size, num_workers):
    mean = data.mean()
    data -= mean
    return _noisy(data, batch_size, num_workers, lambda dataset, i: mean + torch.randn((), dtype=data.dtype))


def noisy_loader__shuffled(data, batch_size, num_workers):
    return _noisy(data, batch_size, num_workers, lambda dataset, i: torch.randn(()), shuffle=True)


def gated_forward__normalised_with_a_least_length(model, x):
    scaled = torch.nn.functional.normalize(x * model.scale, p=float("inf"), dim=1)
    return model.gate(x).sigmoid() * model.body(scaled)


# What each hint is for

_MOVES = "                with torch.no_grad():\n                    self.mean.lerp_(x.mean(0), momentum)\n"
_IN_GRAPH = """\
                mean = self.mean + momentum * (x.mean(0) - self.mean)
                self.mean = mean.detach()
                return x - mean
"""
normaliser__subtracts_before_it_moves = edited(
    normaliser,
    ("            if self.training:\n", "            result = x - self.mean\n            if self.training:\n"),
    ("return x - self.mean", "return result"),
)
normaliser__in_the_graph = edited(normaliser, (_MOVES, _IN_GRAPH))
normaliser__moves_in_evaluation = edited(normaliser, ("if self.training:", "if True:"))
normaliser__starts_in_evaluation = edited(normaliser, ("return Normaliser()", "return Normaliser().eval()"))
normaliser__always_records = edited(
    normaliser,
    ("            return x - self.mean", "            with torch.enable_grad():\n                return x - self.mean"),
)
