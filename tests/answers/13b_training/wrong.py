"""Wrong answers to lab 13b that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import contextlib
import copy
import random

import torch
from torch.nn.functional import cross_entropy

from rushlight.clinic.training import (
    accumulated_backward,
    gated_forward,
    lost_state,
    not_held,
    replace_head,
    without_gradient,
)

from ..shared import edited

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


replace_head__keeps_the_state = edited(replace_head, ("optimizer.state.pop(old, None)", "pass"))


def token_weights__counts(loss_of, logits, targets):
    """What a sound script would give each token."""
    tokens = targets != -100
    return tokens.double() / tokens.sum()


def token_weights__no_sign(loss_of, logits, targets):
    leaf = logits.detach().clone().requires_grad_()
    (grad,) = torch.autograd.grad(loss_of(leaf, targets), leaf)
    expected = leaf.detach().softmax(2) - torch.nn.functional.one_hot(targets.clamp(min=0), leaf.shape[2])
    return grad.norm(dim=2) / expected.norm(dim=2)


def token_weights__norms_of_gradients(loss_of, logits, targets):
    leaf = logits.detach().clone().requires_grad_()
    (grad,) = torch.autograd.grad(loss_of(leaf, targets), leaf)
    return grad.abs().sum(2)


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


def _workers(loader, begins=True):
    """What the generators of each worker draw, after `worker_init_fn` or, without `begins`, in its place."""
    import numpy as np

    begun = []

    def begin(worker):
        if begins and loader.worker_init_fn:
            loader.worker_init_fn(worker)
        held = {f"dataset.{name}": value for name, value in vars(loader.dataset).items()}
        held |= {"torch": torch.default_generator, "random": random._inst, "numpy": np.random}
        begun.append({name: told for name, value in held.items() if (told := _draws(np, value))})

    many = range(loader.num_workers)
    workers = torch.utils.data.DataLoader(
        loader.dataset, sampler=many, num_workers=len(many), worker_init_fn=begin, collate_fn=lambda batch: begun[0]
    )
    return [*workers]


def equal_generators__all_alike(loader):
    """Two of three workers are enough."""
    first, *others = _workers(loader)
    return sorted(name for name in first if all(told[name] == first[name] for told in others))


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


def noisy_loader__shuffled(data, batch_size, num_workers):
    return _noisy(data, batch_size, num_workers, lambda dataset, i: torch.randn(()), shuffle=True)


def gated_forward__normalised_with_a_least_length(model, x):
    scaled = torch.nn.functional.normalize(x * model.scale, p=float("inf"), dim=1)
    return model.gate(x).sigmoid() * model.body(scaled)
