"""Diagnoses of lab 13b: autograd and training.

For each patient of the framework there are three answers: a small program that shows the fault, the name of the function at fault,
and a sound function in its place. For each script on torch there are two: a function that finds the cause in any script of its
kind, and the part of the script as it should be. `check_sum_to` and `clip_property` are tests of functions of the framework.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch


def narrow_1(xp: Any) -> Any:
    """A program that shows the fault of patient 13b.1.

    `xp` is the patient's framework, the sound one, or torch. The result differs on the patient, and is the same on the other two.

    The program has at most 6 statements and calls at most 9 operators. It uses `xp`, its own variables, and no import.

    Returns:
        a tensor, a number, a string, or a list or tuple of these. An exception is a result too.
    """
    x = xp.ones(2, requires_grad=True)
    y = x.clone()
    y[0] = 5
    (x + y).backward(xp.ones(2))
    return x.grad


def name_1() -> list[str]:
    """The function at fault in patient 13b.1.

    Returns:
        a list with one name, or with two if your first guess was wrong: the first guess stays first. A string counts as a list with
        one name. A name is the path of the function below `rl`, such as `"aten.strided.permute"`.
    """
    return ["autograd.history.copy_slices"]


def mend_1() -> tuple[str, Callable]:
    """A sound function for patient 13b.1.

    Define the function inside this one. It sees the names of the module in which it is planted. Imports stand in its body.

    Returns:
        two values: the name of the function at fault, as in `name_1`, and your function with the contract of that one.
    """
    from rushlight.aten.generated import functions
    from rushlight.autograd.history import _as_tuple
    from rushlight.c10.memory_formats import contiguous_format

    def copy_slices(function, grad, base, view):
        sizes, strides, _ = base
        result = grad.new_empty_strided(sizes, strides)
        result.copy_(grad)
        part = functions.as_strided(result, *view)
        first, *others = _as_tuple(function(functions.clone(part, memory_format=contiguous_format)))
        if first is None:
            return [None, *others]
        part.copy_(first)
        return [result, *others]

    return "autograd.history.copy_slices", copy_slices


def narrow_2(xp: Any) -> Any:
    """A program that shows the fault of patient 13b.2.

    `xp` is the patient's framework, the sound one, or torch. The result differs on the patient, and is the same on the other two.

    The program has at most 6 statements and calls at most 6 operators. It uses `xp`, its own variables, and no import.

    Returns:
        a tensor, a number, a string, or a list or tuple of these. An exception is a result too.
    """
    x = xp.ones(1, requires_grad=True)
    y = x.exp()
    y.mul_(2)
    y.backward()
    return x.grad


def name_2() -> list[str]:
    """The function at fault in patient 13b.2.

    Returns:
        a list with one name, or with two if your first guess was wrong: the first guess stays first. A string counts as a list with
        one name. A name is the path of the function below `rl`, such as `"aten.strided.permute"`.
    """
    return ["autograd.graph.unpack_saved"]


def mend_2() -> tuple[str, Callable]:
    """A sound function for patient 13b.2.

    Define the function inside this one. It sees the names of the module in which it is planted. Imports stand in its body.

    Returns:
        two values: the name of the function at fault, as in `name_2`, and your function with the contract of that one.
    """
    from rushlight.autograd.graph import Edge, _describe_origin, with_edge

    def unpack_saved(saved, node):
        if saved.unpack_hook is not None:
            tensor, edge = (
                saved.unpack_hook(saved.packed),
                Edge(node, saved.output_nr) if saved.is_output else saved.edge,
            )
            return with_edge(tensor, edge) if edge.node is not None else tensor
        tensor = saved.tensor
        if tensor._storage.version != saved.version:
            raise RuntimeError(
                "one of the variables needed for gradient computation has been modified by an inplace operation: "
                f"[{tensor.dtype.type_name}Tensor {list(tensor.shape)}], which is {_describe_origin(tensor, node, saved)}, is at "
                f"version {tensor._storage.version}; expected version {saved.version} instead. Hint: `clone` it before "
                "it is changed, or use the out-of-place form of the operation."
            )
        return with_edge(tensor, Edge(node, saved.output_nr)) if saved.is_output else tensor

    return "autograd.graph.unpack_saved", unpack_saved


def narrow_3(xp: Any) -> Any:
    """A program that shows the fault of patient 13b.3.

    `xp` is the patient's framework, the sound one, or torch. The result differs on the patient, and is the same on the other two.

    The program has at most 7 statements and calls at most 40 operators, those of the optimizer included. It uses `xp`, its own
    variables, and no import.

    Returns:
        a tensor, a number, a string, or a list or tuple of these. An exception is a result too.
    """
    weight = xp.zeros(1, requires_grad=True)
    optimizer = xp.optim.Adam([weight], amsgrad=True)
    weight.grad = xp.ones(1)
    optimizer.step()
    return optimizer.state[weight]["max_exp_avg_sq"]


def name_3() -> list[str]:
    """The function at fault in patient 13b.3.

    Returns:
        a list with one name, or with two if your first guess was wrong: the first guess stays first. A string counts as a list with
        one name. A name is the path of the function below `rl`, such as `"aten.strided.permute"`.
    """
    return ["optim.optimizer.adam"]


def mend_3() -> tuple[str, Callable]:
    """A sound function for patient 13b.3.

    Define the function inside this one. It sees the names of the module in which it is planted. Imports stand in its body.

    Returns:
        two values: the name of the function at fault, as in `name_3`, and your function with the contract of that one.
    """
    from rushlight.aten.generated import functions

    def adam(
        params,
        grads,
        exp_avgs,
        exp_avg_sqs,
        max_exp_avg_sqs,
        state_steps,
        *,
        lr,
        beta1,
        beta2,
        eps,
        weight_decay,
        amsgrad,
        maximize,
        decoupled_weight_decay,
    ):
        for i, (param, grad, exp_avg, exp_avg_sq, step) in enumerate(
            zip(params, grads, exp_avgs, exp_avg_sqs, state_steps)
        ):
            step.add_(1)
            if maximize:
                grad = -grad
            if weight_decay != 0 and decoupled_weight_decay:
                param.mul_(1 - lr * weight_decay)
            elif weight_decay != 0:
                grad = grad.add(param, alpha=weight_decay)
            exp_avg.lerp_(grad, 1 - beta1)
            exp_avg_sq.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
            if amsgrad:
                exp_avg_sq = max_exp_avg_sqs[i].copy_(functions.maximum(max_exp_avg_sqs[i], exp_avg_sq))
            steps = step.item()
            scale = (1 - beta2**steps) ** 0.5
            param.addcdiv_(exp_avg, exp_avg_sq.sqrt().div_(scale).add_(eps), value=-lr / (1 - beta1**steps))

    return "optim.optimizer.adam", adam


# Scripts on torch ----------------------------------------------------------------------------------------------------


def without_gradient(model: torch.nn.Module, loss: torch.Tensor) -> list[str]:
    """The names of the parameters of a model that get no gradient from `loss`, because its graph does not lead to them.

    A parameter that does not require grad is frozen on purpose and is not among them. A parameter whose gradient is zero is not
    among them either: the graph leads to it. Nor is a parameter to which the graph leads through a function whose backward returns
    None. Two parameters that share their memory are two parameters. A graph may be thousands of nodes deep, deeper than Python's
    stack, and two nodes may be joined by 2**60 paths.

    No gradient of a parameter changes, and `loss.backward()` still works after the call.

    Args:
        loss: the result of an operator, with any sizes. It may have no graph at all.

    Returns:
        a list: the names and their order are those of `model.named_parameters()`.

    >>> model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
    >>> without_gradient(model, model[1](model[0](torch.ones(2)).detach()))
    ['0.weight', '0.bias']
    """
    reached, seen, waiting = set(), set(), [loss.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        reached.add(getattr(node, "variable", None))
        waiting += [successor for successor, _ in node.next_functions]
    return [name for name, x in model.named_parameters() if x.requires_grad and x not in reached]


def gated_forward(model: torch.nn.Module, x: torch.Tensor) -> torch.Tensor:
    """The forward pass of the gated layer, so that all of its parameters are trained.

    For each row of `x`, the gate is the sigmoid of `model.gate(x)`. The result is the gate times `model.body` of the row, which is
    first multiplied by `model.scale` and then divided by its own largest absolute value. A row of zeros gives nan. Gradients flow
    through all of it, the division included.

    Args:
        model: with the attributes `gate`, a `Linear(features, 1)`; `body`, a `Linear(features, features)`; and `scale`, a parameter
            of the size (features,). Its parameters and `x` have one floating dtype.
        x: (rows, features)

    Returns:
        (rows, features), of the dtype of `x`.
    """
    gate = model.gate(x).sigmoid()
    scaled = x * model.scale
    scaled = scaled / scaled.abs().amax(1, keepdim=True)
    return gate * model.body(scaled)


def not_held(model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> tuple[list[str], int]:
    """What an optimizer misses of a model, and what it holds that the model does not have.

    An optimizer holds a parameter if it holds this object: another parameter over the same memory is another one. Nothing is
    changed, and no step is made.

    Returns:
        two values: the names of the parameters of `model` that require grad and that `optimizer` does not hold, as
        `model.named_parameters()` has them; and the number of tensors that `optimizer` holds and that are no parameters of `model`.

    >>> model = torch.nn.Linear(2, 1)
    >>> optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    >>> model.weight = torch.nn.Parameter(torch.ones(1, 2))
    >>> not_held(model, optimizer)
    (['weight'], 1)
    """
    held = {x for group in optimizer.param_groups for x in group["params"]}
    names = [name for name, x in model.named_parameters() if x.requires_grad and x not in held]
    return names, len(held - {*model.parameters()})


def replace_head(model: torch.nn.Module, head: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Replace `model.head` by `head`, and let the optimizer train the new head in the place of the old one.

    Both heads have parameters of the same names, perhaps in another order. In the optimizer, each parameter of the new head takes
    the position of the old head's parameter of its name: the same group, so the same settings. If the optimizer does not hold the
    old one, it does not hold the new one either. The state of the old head's parameters is removed. The state of all others stays,
    such as their momentum. The parameters of the new head keep their values and their `requires_grad`. No gradient and no module's
    mode changes.

    Args:
        optimizer: it holds parameters of `model`, in one group or in several. It may have made steps already.
    """
    new = dict(head.named_parameters())
    successors = {old: new[name] for name, old in model.head.named_parameters()}
    for group in optimizer.param_groups:
        group["params"] = [successors.get(x, x) for x in group["params"]]
    for old in successors:
        optimizer.state.pop(old, None)
    model.head = head


def token_weights(loss_of: Callable, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """The weight with which the cross entropy of each token is in the loss of a training script.

    `loss_of(logits, targets)` is the loss of the script, a tensor: a sum over the tokens of a weight times the token's cross
    entropy. The weights depend on `targets` only, and a weight may be negative. A script that takes the mean over four tokens gives
    each of them the weight 0.25. The loss of a script that uses no token is a constant without a graph.

    Args:
        logits: (rows, length, classes), float64, of moderate size.
        targets: (rows, length), int64. -100 at a position that is padding. Both tensors stay as they are, also if the script
            writes to the targets that it gets.

    Returns:
        (rows, length), float64, without a graph: the weights, computed in float64, and 0 where the loss does not depend on the
            token.

    >>> loss_of = lambda logits, targets: torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
    >>> token_weights(loss_of, torch.zeros(1, 3, 2).double(), torch.tensor([[0, 1, -100]])).tolist() == [[0.5, 0.5, 0.0]]
    True
    """
    leaf = logits.detach().clone().requires_grad_()
    loss = loss_of(leaf, targets.clone())
    if not loss.requires_grad:
        return torch.zeros(targets.shape, dtype=torch.float64)
    (grad,) = torch.autograd.grad(loss, leaf)
    token = targets.clamp(min=0).unsqueeze(2)
    probability = leaf.detach().softmax(2).gather(2, token)
    return (grad.gather(2, token) / (probability - 1)).squeeze(2)


def accumulated_backward(model: torch.nn.Module, batches: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> float:
    """Add the gradient of the mean cross entropy over all tokens of several micro-batches to the gradients of the parameters.

    The mean is over all tokens of all micro-batches that are no padding, so it does not matter how the tokens are distributed. The
    model runs once on each micro-batch, in their order. Backward runs before the model runs on the next one. When the model runs on
    the next one, the tensors that earlier graphs saved are freed. Of these graphs at most one is still in memory, because a
    variable such as `loss` still has it. The model runs in the mode that each of its modules has, training or evaluation, and the
    modules keep it.

    Args:
        model: `model(x)` are the logits, (rows, length, classes).
        batches: a list of pairs of `x`, (rows, length) or with more dimensions, and targets, (rows, length), int64, -100 at
            padding. It may be read several times. The list and its tensors stay as they are. At least one token is no padding. A
            micro-batch may consist of padding only.

    Returns:
        the loss, a float.
    """
    tokens = sum(int((targets != -100).sum()) for _, targets in batches)
    total = 0.0
    for x, targets in batches:
        loss = torch.nn.functional.cross_entropy(model(x).flatten(0, 1), targets.flatten(), reduction="sum")
        (loss / tokens).backward()
        total += loss.item() / tokens
    return total


def equal_generators(loader: torch.utils.data.DataLoader) -> list[str]:
    """The random generators that are in the same state in two workers of a loader when these begin, after `worker_init_fn`.

    "torch", "random" and "numpy" are the generators of `torch.rand`, of Python's `random.random`, and of `numpy.random.rand`. Equal
    first numbers are not an equal state: a number that a generator has made and keeps for a later call, as `random.gauss` does, is
    part of its state. The worker's copy of the dataset may hold others: each value of its `vars` that is a
    `numpy.random.Generator`, a `random.Random` or a `torch.Generator`. The generator in its attribute `noise` has the name
    `"dataset.noise"`.

    Any two workers count, not only the first two. What the workers do decides, not their code. A sample may draw numbers, and some
    samples draw more than others. In this process, the loader keeps its functions, and the generators that its dataset holds keep
    their states.

    Args:
        loader: it has at least two workers, which are forks, and a dataset with at least as many samples as workers. A batch may
            have several samples, so a worker of this loader may get none.

    Returns:
        the names, sorted.
    """
    import random

    import numpy as np

    begun = []  # of the worker in whose process it is

    def state(generator):
        if isinstance(generator, torch.Generator):
            return generator.get_state().tolist()
        if isinstance(generator, np.random.Generator):
            return generator.bit_generator.state
        return generator.get_state() if generator is np.random else generator.getstate()

    def begin(worker: int) -> None:
        if loader.worker_init_fn is not None:
            loader.worker_init_fn(worker)
        kinds = np.random.Generator, random.Random, torch.Generator
        held = vars(torch.utils.data.get_worker_info().dataset).items()
        generators = {"torch": torch.default_generator, "random": random, "numpy": np.random}
        generators |= {f"dataset.{name}": value for name, value in held if isinstance(value, kinds)}
        begun.append({name: str(state(generator)) for name, generator in generators.items()})

    one_each = torch.utils.data.DataLoader(
        loader.dataset, sampler=range(loader.num_workers), num_workers=loader.num_workers, worker_init_fn=begin,
        collate_fn=lambda batch: begun[0],
    )  # fmt: skip
    workers = [*one_each]
    return sorted(name for name in workers[0] if len({states[name] for states in workers}) < len(workers))


def noisy_loader(data: torch.Tensor, batch_size: int, num_workers: int) -> torch.utils.data.DataLoader:
    """A loader of the elements of `data` in their order, each with noise of its own.

    Sample i is `data[i]` plus a random number of the standard normal distribution. No two samples have the same noise: not in one
    worker, not in two, and not in two epochs. After `torch.manual_seed` with the same seed, the epochs are the same again.

    Args:
        data: (length,), float32 or float64.
        num_workers: the number of the loader's worker processes, or 0.

    Returns:
        a loader, whose batches are tensors, (batch_size,), of the dtype of `data`. The last batch may be smaller.
    """

    class Noisy(torch.utils.data.Dataset):
        def __len__(self) -> int:
            return len(data)

        def __getitem__(self, i: int) -> torch.Tensor:
            return data[i] + torch.randn((), dtype=data.dtype)

    return torch.utils.data.DataLoader(Noisy(), batch_size=batch_size, num_workers=num_workers)


def lost_state(model: torch.nn.Module) -> list[str]:
    """The names of the tensors of a model that its state dict does not save.

    These are attributes of the model or of a module in it: tensors that the module has not registered as a parameter or as a
    buffer, and buffers that are not persistent. The registration under this name decides, not the object. So a `Parameter` that is
    not registered is among them, and so is a second name of a tensor that is saved under its first name. Two names of one tensor
    that is not saved are two names. It does not matter whether a tensor requires grad, or whether a name begins with an underscore.
    A property, an attribute of the class, and a tensor in a list or in a dict are not among them. A name is the path of the module
    and the name of the attribute, as in a state dict: `"body.0.mean"`.

    Returns:
        the names, sorted. A module that is in the model twice is looked at once, under its first name.

    >>> model = torch.nn.Sequential(torch.nn.Linear(1, 1))
    >>> model[0].mean = torch.zeros(1)
    >>> lost_state(model)
    ['0.mean']
    """
    names = []
    for prefix, module in model.named_modules():
        tensors = {name: x for name, x in vars(module).items() if isinstance(x, torch.Tensor)}
        lost = {*tensors, *(name for name in module._non_persistent_buffers_set if module._buffers[name] is not None)}
        names += [f"{prefix}.{name}" if prefix else name for name in lost]
    return sorted(names)


def normaliser(features: int, momentum: float) -> torch.nn.Module:
    """A module that subtracts the running mean of its inputs, and keeps this mean in everything that is done to a model.

    The mean starts as `features` zeros. In training, the module first moves the mean towards the mean over the rows of `x`:
    `mean + momentum * (x.mean(0) - mean)`. Then it returns `x - mean`. In evaluation, the mean does not move. The mean is no part
    of the graph, and no optimizer moves it. Its name in the state dict is `mean`. Loading, copying, and converting a model
    (`double`) loads, copies and converts the mean.

    Returns:
        a new module, in training. `module(x)` takes `x` of the size (rows, features).
    """

    class Normaliser(torch.nn.Module):
        mean: torch.Tensor

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("mean", torch.zeros(features))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if self.training:
                with torch.no_grad():
                    self.mean.lerp_(x.mean(0), momentum)
            return x - self.mean

    return Normaliser()


# Checks for functions of the framework -------------------------------------------------------------------------------


def check_sum_to() -> tuple[Callable, list[dict]]:
    """A check for `rl.autograd.engine.sum_to`: a program, and the cases to run it on.

    `program(xp, **case)` runs on rushlight and on torch. If the results differ on a case, the function is wrong. Torch has no
    function of this path, so the program reaches it as users do: through gradients of operators that broadcast. Rushlight has no
    complex dtypes.

    Define the program inside this function. It uses `xp`, its parameters, its own variables, and no import. For all bodies together
    it may take a minute. Of Python's functions it may use `abs`, `all`, `any`, `bool`, `dict`, `enumerate`, `float`, `int`, `len`,
    `list`, `map`, `max`, `min`, `range`, `reversed`, `round`, `set`, `slice`, `sorted`, `str`, `sum`, `tuple` and `zip`, and it may
    catch errors. In a
    case a dtype is a name, and the program looks it up: `{"float64": xp.float64}[dtype]`.

    Returns:
        two values: the program, and a list of at most 40 cases: with more, the check is refused. A case is a dict of plain data
        (numbers, strings, bools, None, lists, dicts), with the arguments of the program by their names.
    """

    def program(xp, sizes, others, scale):
        x, y = (xp.ones(shape).double().requires_grad_() for shape in (sizes, others))
        z = (x * scale + y * 2) ** 3
        first = xp.autograd.grad(z.sum(), [x, y], create_graph=True)
        second = xp.autograd.grad(sum((g * g).sum() for g in first), [x, y])
        upstream = xp.arange(float(z.numel())).double().reshape(z.shape) + scale
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
    return program, [{"sizes": a, "others": b, "scale": scale} for a, b in shapes for scale in (1, 2**25 + 1)]


def clip_property(xp: Any, given: Callable, st: Any) -> Callable:
    """A property test of `rl.nn.utils.clip_grad.clip_grad_norm_`, as Hypothesis runs it.

    The test draws gradients and arguments, calls `xp.nn.utils.clip_grad_norm_`, and asserts what must hold for each example. It has
    no other function to compare with. Gradients may be infinite or nan: the test decides what it draws. If an assertion fails, or
    another error leaves the test, the function is wrong. Hypothesis tries 100 examples, the same ones each time.

    Define the test inside this function. It uses the parameters of both functions, its own variables, no import and no class.
    Of Python's functions it may use `abs`, `all`, `any`, `bool`, `dict`, `enumerate`, `float`, `int`, `len`, `list`, `map`, `max`,
    `min`, `range`, `reversed`, `round`, `set`, `slice`, `sorted`, `str`, `sum`, `tuple` and `zip`, and it may catch errors.

    Args:
        xp: rushlight or torch. `xp.tensor(values)` and `tensor.tolist()` go from lists to tensors and back.
        given, st: `hypothesis.given` and `hypothesis.strategies`, as in `from hypothesis import given, strategies as st`.

    Returns:
        a function that is decorated with `@given(...)`.
    """
    numbers = st.lists(st.floats(width=16), min_size=1, max_size=3)
    norms = {
        1.0: lambda values: sum(map(abs, values)),
        2.0: lambda values: sum(value * value for value in values) ** 0.5,
        float("inf"): lambda values: max(map(abs, values)),
    }

    def about(x, y):
        return abs(x - y) <= 1e-4 * max(abs(x), abs(y)) + 1e-6

    @given(
        grads=st.lists(numbers, min_size=1, max_size=3),
        max_norm=st.floats(0.5, 100),
        norm_type=st.sampled_from([*norms]),
        strict=st.booleans(),
        as_generator=st.booleans(),
    )
    def test(grads, max_norm, norm_type, strict, as_generator):
        parameters = [xp.nn.Parameter(xp.zeros(len(values))) for values in grads]
        for parameter, values in zip(parameters, grads):
            parameter.grad = xp.tensor(values)
        held = [parameter.grad for parameter in parameters]
        before = [value for values in grads for value in values]
        finite = all(value - value == 0 for value in before)
        try:
            some = (parameter for parameter in parameters) if as_generator else parameters
            norm = xp.nn.utils.clip_grad_norm_(some, max_norm, norm_type, error_if_nonfinite=strict).item()
        except RuntimeError:
            assert strict and not finite
            assert str([grad.tolist() for grad in held]) == str(grads)
            return
        after = [value for grad in held for value in grad.tolist()]
        if finite:
            measure = norms[norm_type]
            assert about(norm, measure(before))
            assert measure(after) <= max_norm * 1.0001
            assert norm > max_norm or all(map(about, after, before))
            assert all(about(x * measure(after), y * norm) for x, y in zip(before, after)) or norm == 0
        else:
            assert not strict
            assert norm == norm or all(value != value for value in after)

    return test
