"""Diagnoses of lab 13e: memory, speed and numbers.

For each patient of the framework there are three answers: a small program that shows the fault, the name of the function at fault,
and a sound function in its place. For each script on torch there are two: a function that finds the cause in any script of its
kind, and the script as it should be.
"""

from __future__ import annotations

import copy
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


def narrow_1(xp: Any) -> Any:
    """A program that shows the fault of patient 13e.1.

    `xp` is the patient's framework, the sound one, or torch. The result differs on the patient, and is the same on the other two.

    The program has at most 5 statements and calls at most 8 operators. It uses `xp`, its own variables, and no import. Of Python's
    own functions it may use abs, all, any, bool, dict, enumerate, float, int, len, list, map, max, min, range, reversed, round,
    set, slice, sorted, str, sum, tuple and zip.

    Returns:
        a tensor, a number, a string, or a list or tuple of these. An exception is a result too.
    """
    x = xp.tensor([0.0, 1.0], requires_grad=True)
    xp.fake_quantize_per_tensor_affine(x, 1.0, 0, 0, 7).sum().backward()
    return x.grad


def name_1() -> list[str]:
    """The function at fault in patient 13e.1.

    Returns:
        a list with one name, or with two if your first guess was wrong: the first guess stays first. One name may be a string
        without a list. A name is the path of the function below `rl`, such as `"nn.init.calculate_fan_in_and_fan_out"`.
    """
    return ["aten.native.quantized.fake_quantize"]


def mend_1() -> tuple[str, Callable]:
    """A sound function for patient 13e.1.

    Define the function inside this one. It sees the names of the module in which it is planted. Imports stand in its body.

    Returns:
        two values: the name of the function at fault, as in `name_1`, and your function with the contract of that one.
    """
    from rushlight.aten.generated import functions
    from rushlight.aten.native.quantized import inverse_of

    def fake_quantize(self, scale, zero_point, quant_min, quant_max):
        q = functions.round(self * inverse_of(scale)) + zero_point
        mask = (q >= quant_min) & (q <= quant_max)
        q = functions.clamp(functions.where(q >= quant_min, q, quant_min), max=quant_max)
        return (q - zero_point) * scale, mask

    return "aten.native.quantized.fake_quantize", fake_quantize


def narrow_2(xp: Any) -> Any:
    """A program that shows the fault of patient 13e.2.

    It has at most 9 statements and calls at most 24 operators. The rules are those of `narrow_1`.

    Returns:
        a tensor, a number, a string, or a list or tuple of these. An exception is a result too.
    """
    first, second = xp.nn.Parameter(xp.ones(1)), xp.nn.Parameter(xp.ones(1))
    optimizer = xp.optim.SGD([first, second], lr=1.0)
    scaler = xp.amp.GradScaler("cpu", init_scale=1.0)
    scaler.scale(first.sum() + second.sum()).backward()
    first.grad.fill_(xp.inf)
    scaler.step(optimizer)
    return first, second


def name_2() -> list[str]:
    """The function at fault in patient 13e.2: a list with one name, or with two if the first guess was wrong, or a string."""
    return ["amp.grad_scaler.unscale_grads"]


def mend_2() -> tuple[str, Callable]:
    """A sound function for patient 13e.2.

    Returns:
        two values: the name of the function at fault, and your function, which is defined inside this one.
    """
    from rushlight.aten.generated import functions

    def unscale_grads(grads, scale):
        inverse, found_inf = scale.double().reciprocal().float(), False
        for grad in grads:
            found_inf = found_inf or not functions.isfinite(grad).all().item()
            grad.mul_(inverse)
        return found_inf

    return "amp.grad_scaler.unscale_grads", unscale_grads


# Scripts on torch ----------------------------------------------------------------------------------------------------


def held_bytes(owners: dict[str, Any]) -> dict[str, int]:
    """How many bytes of memory each of several owners keeps alive.

    An owner is a tensor, a node of a graph, or a list, tuple or dict. It keeps everything alive that is reached from it:

    - from a list or tuple its elements, and from a dict its keys and values. These may be objects of any kind.
    - from a tensor its memory, `x.untyped_storage()`; its node `x.grad_fn`; and `x.grad`, which a leaf may have, and a
      tensor with `x.retains_grad`. (To read it from another tensor gives a warning.)
    - from a node the nodes in `node.next_functions`; the leaf `node.variable` of a node that accumulates a gradient; and the
      tensors that the node has saved for backward. These are in the attributes whose names begin with `_saved_`, each a tensor, a
      list or tuple, or something else. A node of a `torch.autograd.Function` has them in `saved_tensors`. To read what a
      node has freed, or what was changed in place, raises RuntimeError. What cannot be read does not count.

    Memory is counted as a whole: a view of one element keeps the bytes of its whole storage. Each storage is counted once, for the
    first owner from which it is reached.

        >>> x = torch.ones(10, requires_grad=True)
        >>> held_bytes({"weights": [x], "loss": x.exp().sum(), "more": {"view": x[:2].detach()}})
        {'weights': 40, 'loss': 44, 'more': 0}

    Args:
        owners: nothing in it is changed, neither a container nor a gradient. A list or dict may contain itself. A graph may be tens
            of thousands of nodes deep. All tensors are on the CPU, and no two storages share memory.

    Returns:
        for each name of `owners`, in this order, a number of bytes.
    """
    counted, seen, held = set(), {}, {}  # what is seen stays alive, so nothing else gets its id
    for name, owner in owners.items():
        held[name], waiting = 0, [owner]
        while waiting:
            thing = waiting.pop()
            if id(thing) in seen:
                continue
            seen[id(thing)] = thing
            if isinstance(thing, (list, tuple)):
                waiting += thing
            elif isinstance(thing, dict):
                waiting += [*thing.keys(), *thing.values()]
            elif isinstance(thing, torch.Tensor):
                storage = thing.untyped_storage()
                if storage.data_ptr() not in counted:
                    counted.add(storage.data_ptr())
                    held[name] += storage.nbytes()
                waiting += [thing.grad_fn, thing.grad if thing.is_leaf or thing.retains_grad else None]
            elif hasattr(thing, "next_functions"):
                waiting += [node for node, _ in thing.next_functions]
                for attribute in dir(thing):
                    if attribute in ("variable", "saved_tensors") or attribute.startswith("_saved_"):
                        with suppress(RuntimeError):
                            waiting.append(getattr(thing, attribute))
    return held


def fit(
    model: torch.nn.Sequential, optimizer: torch.optim.Optimizer, batches: Iterable[tuple[torch.Tensor, torch.Tensor]]
) -> tuple[list[float], list[float], list[str]]:
    """Train a model with a step for each batch, and report the training in numbers and texts.

    The loss of a batch (x, y) is the mean of `(model(x) - y) ** 2`. Each batch has a backward pass, then a step of the optimizer,
    then an `optimizer.zero_grad()`. If a RuntimeError, or one of a subclass as NotImplementedError, is raised while the loss is
    computed, from `model(x)` to the mean, there is no step, and the next batch follows. Any other error is raised further: one of
    another class, one of the backward pass or of the step, and each one that the iterable raises.

    However many batches there are, the bytes that are alive while the next batch is asked for do not grow.

    Args:
        model: its layers, `for layer in model`, are different modules. A layer may have modules inside, and hooks. The model itself
            has none. Afterwards there are the hooks that there were before, also if an error is raised.
        optimizer: it may have only some of the model's parameters. The others keep their gradients.
        batches: an iterable that makes each batch when it is asked for.

    Returns:
        three values. The losses of the batches with a step. The mean absolute value of the result of each call of a layer, in the
        order of the calls, also those of a batch without a step. And the message of each RuntimeError, `str(error)`.
    """
    losses, activity, messages = [], [], []

    def look(module, args, result):
        activity.append(result.detach().abs().mean().item())

    hooks = [layer.register_forward_hook(look) for layer in model]
    try:
        for x, y in batches:
            try:
                loss = ((model(x) - y) ** 2).mean()
            except RuntimeError as error:
                messages.append(str(error))
                continue
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss.item())
    finally:
        for hook in hooks:
            hook.remove()
    return losses, activity, messages


def first_not_finite(model: torch.nn.Module, run: Callable[[], Any]) -> tuple[str | None, str] | None:
    """Where the first number comes from that is not finite, in one call `run()`.

    That is the first operator that a `TorchDispatchMode` sees for which one of these holds:

    - a result of it has a nan, and nothing that it is given is a nan or has one;
    - a result of it has an infinity, and all that it is given is finite. So a mask that is filled with minus infinity on purpose
      does not count, because the operator is given this number.

    What an operator is given are its arguments, those by keyword too: tensors, and numbers of the class `float`, also in lists.
    Such a number has 64 bits, so 1e300 is finite. An operator may have several results. What it writes into an argument is a result
    too: `torch._foreach_exp_` returns None, and a batch norm writes its running variance, which its schema does not say. Only
    floating tensors count. Operators with `empty` in their names do not count: their memory is not set.

        >>> model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Softplus())
        >>> first_not_finite(model, lambda: model(torch.ones(2)).sub(1e30).exp().log())
        (None, 'aten.log.default')

    Args:
        model: afterwards it has the hooks that it had before, also if `run()` raises an error. The error is raised further. A hook
            of a module may raise an error too, a forward pre-hook or a forward hook. It makes no number that is not finite.
        run: calls modules of `model`, and any other operators. It may run a backward pass.

    Returns:
        None if there is no such operator. Otherwise two values: the innermost module of `model` that runs when the operator is
        called, by its name in `model.named_modules()`, or None if none runs, as in a loss or in backward; and the operator as text,
        `str(func)`. A module that raises an error has ended, also if `run` or another module catches the error and goes on.
    """
    running, culprits = [], []

    def kinds_of(values):
        leaves = [torch.tensor(x, dtype=torch.float64) if isinstance(x, float) else x for x in tree_leaves(values)]
        numbers = [x for x in leaves if torch.is_tensor(x) and x.is_floating_point()]
        return {"nan" for x in numbers if x.isnan().any()} | {"inf" for x in numbers if x.isinf().any()}

    class Look(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            before = kinds_of((args, kwargs))
            result = func(*args, **(kwargs or {}))
            after = kinds_of((result, args, kwargs))  # it may have written into an argument
            new = "nan" in after - before or ("inf" in after and not before)
            if new and "empty" not in str(func):
                culprits.append((running[-1] if running else None, str(func)))
            return result

    def leave(*_):
        running.pop()

    hooks = []  # the first pre-hook of a module, because `leave` is called even if an earlier one raises an error
    for name, module in model.named_modules():
        hooks.append(module.register_forward_pre_hook(lambda *_, name=name: running.append(name), prepend=True))
        hooks.append(module.register_forward_hook(leave, always_call=True))  # after an error too
    try:
        with Look():
            run()
    finally:
        for hook in hooks:
            hook.remove()
    return culprits[0] if culprits else None


def attend(scores: torch.Tensor, values: torch.Tensor, allowed: torch.Tensor) -> torch.Tensor:
    """A weighted mean of values for each row, with the softmax of the scores at the allowed positions as weights.

    A row without an allowed position gives zeros. At other positions a score may be anything, infinite or nan too: it has no
    influence. An allowed score may be any finite number: the largest and the lowest one of the dtype may be in one row. Result and
    gradients are finite. The gradient of a score at a position that is not allowed is 0.

    Results and gradients differ from those of exact arithmetic by a few roundings of the largest value to the dtype, and by one to
    float32 for each position of a row. The weights may be rounded to the dtype, too. But a sum needs float32 inside, as torch's
    operators have it. A sum that is rounded to half precision after each number is wrong. A sum that is rounded to float16 at its
    end may be infinite: 66000 scores may be equal.

    No operator makes a nan on the way, neither forward nor backward, and none makes an infinity unless two scores of a row are
    further apart than the largest number of the dtype. So `first_not_finite` finds nothing here. (A mask with minus infinity is
    given to an operator.)

    Args:
        scores: (rows, length), float16, bfloat16 or float32. It is only read. The length is at most 100000.
        values: (length, features), of the same dtype. The largest absolute value is at most 100.
        allowed: (rows, length), bool.

    Returns:
        a new tensor, (rows, features), of the dtype of `scores`.
    """
    some = allowed.any(1, keepdim=True)
    scores = scores.masked_fill(~allowed, -math.inf).masked_fill(~some, 0.0)
    return (scores.softmax(1) * some) @ values


def transfers(function: Callable, *args: Any) -> dict[int, int]:
    """How often each line of a function makes Python read a number of a tensor, in one call `function(*args)`.

    To read a number is a call of the operator `aten::_local_scalar_dense`, which a `TorchDispatchMode` sees. On a GPU, Python waits
    there for all that was launched before. `x.item()`, `float(x)`, `int(x)`, `bool(x)` and `if x:` call it. `x.tolist()` and
    `x.numpy()` do not: on a CPU they read the memory without an operator. The number may be read by another function, which this
    line calls, directly or not. If the function calls itself, the line is that of its innermost call at the time.

    A line is counted from the line with `def`, which is line 0.

        >>> def script(x):
        ...     y = x.sum()
        ...     if y > 2:
        ...         y = y / float(x.max())
        ...     return y * y.item() + y.item()
        >>> transfers(script, torch.ones(3))
        {2: 1, 3: 1, 4: 2}

    Args:
        function: a Python function without decorators. Each of its statements is on a line of its own. It is called once, and an
            error that it raises is raised further.

    Returns:
        a dict from lines to numbers of reads, without lines that read nothing. Its order does not matter.
    """
    counts = Counter()

    class Look(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if func is torch.ops.aten._local_scalar_dense.default:
                frame = sys._getframe()
                while frame.f_code is not function.__code__:
                    frame = frame.f_back
                counts[frame.f_lineno - function.__code__.co_firstlineno] += 1
            return func(*args, **(kwargs or {}))

    with Look():
        function(*args)
    return dict(counts)


def descend(
    x: torch.Tensor, target: torch.Tensor, rates: list[float]
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Move a point towards a target with a step for each rate, and return what the steps have shown, as tensors.

    A step computes `error = x - target`, and the loss, the mean of its squares. If the loss is below the best loss so far, it is
    the best loss, and `x` is the best point. At first, the best loss is infinite, and the best point is the given one. If the
    largest absolute value of `error` is above 1, the error is divided by it. Then `x - rate * error` is the next `x`.

    Python reads no number of a tensor, so the function also runs on tensors without data, in a `FakeTensorMode`.

    Args:
        x, target: of the same size and floating dtype (half precision too), at least one element. They and their difference are
            finite. They are only read.
        rates: at least one.

    Returns:
        three tensors: the losses, (steps,); the best loss, (); and the best point, in the sizes of `x`. All have the dtype of `x`.
    """
    losses, best, best_x = [], x.new_full((), math.inf), x
    for rate in rates:
        error = x - target
        losses.append(error.square().mean())
        better = losses[-1] < best
        best, best_x = torch.where(better, losses[-1], best), torch.where(better, x, best_x)
        x = x - rate * (error / error.abs().max().clamp(min=1))
    return torch.stack(losses), best, best_x


# Further cases -------------------------------------------------------------------------------------------------------


def narrow_3(xp: Any) -> Any:
    """A program that shows the fault of patient 13e.3.

    It has at most 6 statements and calls at most 10 operators. The rules are those of `narrow_1`.

    Returns:
        a tensor, a number, a string, or a list or tuple of these. An exception is a result too.
    """
    counter = xp.utils.flop_counter.FlopCounterMode(display=False)
    y = xp.nn.ConvTranspose1d(1, 1, 2)(xp.ones(1, 1, 3))
    with counter:
        y.sum().backward()
    return counter.get_total_flops()


def name_3() -> list[str]:
    """The function at fault in patient 13e.3: a list with one name, or with two if the first guess was wrong, or a string."""
    return ["utils.flop_counter.operator_flops"]


def mend_3() -> tuple[str, Callable]:
    """A sound function for patient 13e.3.

    Returns:
        two values: the name of the function at fault, and your function, which is defined inside this one.
    """
    from math import prod

    def operator_flops(name, inputs, outputs, transposed=False, output_mask=(True, True, True)):
        if name in ("addmm", "baddbmm"):
            inputs = inputs[1:]
        if name in ("mm", "addmm", "bmm", "baddbmm"):
            return 2 * prod(inputs[0]) * inputs[1][-1]
        if name == "convolution":
            positions = (inputs[0] if transposed else outputs[0])[2:]
            return 2 * inputs[0][0] * prod(positions) * prod(inputs[1])
        if name == "convolution_backward":
            (result, *arguments), kinds = inputs, output_mask[:2]
            return sum(operator_flops("convolution", arguments, [result], transposed) for wanted in kinds if wanted)
        if name == "_scaled_dot_product_flash_attention":
            (b, h, s, d), (_, _, t, _), (_, _, _, e) = inputs
            return 2 * b * h * s * t * (d + e)
        return 0

    return "utils.flop_counter.operator_flops", operator_flops


def levels_used(model: torch.nn.Module, batches: Iterable[torch.Tensor]) -> dict[str, int]:
    """How many different integers each observer of a calibrated model gives to the values of some batches.

    An observer is a module of the class `torch.ao.quantization.ObserverBase`. It has been calibrated, so `calculate_qparams()`
    gives its scale and its zero point, with one element each. The integer of a value x is `round(x / scale) + zero_point`, limited
    to `observer.quant_min` and `observer.quant_max`. In the middle between two integers, `round` takes the even one, as torch's
    does. So the zero point is added afterwards: `torch.quantize_per_tensor` may add it before, and has another integer there.
    (`x * (1 / scale)` may differ from `x / scale` in the last digit. The values are such that the integer is the same.)

    The values are all that the observer is called with in `model(batch)`, for each of the batches. A call has one argument, by
    position. The model may write into it afterwards.

    A call of an observer changes its range. So the scale and the zero point are those from before the first batch.

        >>> observer = torch.ao.quantization.MinMaxObserver()
        >>> _ = observer(torch.tensor([0.0, 50.0, 510.0]))
        >>> levels_used(torch.nn.Sequential(observer), [torch.arange(10.0), torch.tensor([-1.0, 9.5, 1000.0])])
        {'0': 7}

    Args:
        model: afterwards it is as before. Its observers have the buffers that they had, and it has the hooks that it had. So it is
            if the model or the iterable raises an error, which is raised further.
        batches: each one is the argument of a call of the model. There is at least one.

    Returns:
        for each observer, by its name in `model.named_modules()`, a number. If it is never called, this is 0.
    """
    model = copy.deepcopy(model)
    levels = {}

    def look(observer, args, name, scale, zero_point):
        (x,) = args
        integers = (x / scale).round() + zero_point
        levels[name] |= {*integers.clamp(observer.quant_min, observer.quant_max).flatten().tolist()}

    for name, module in model.named_modules():
        if isinstance(module, torch.ao.quantization.ObserverBase):
            levels[name] = set()
            scale, zero_point = (x.item() for x in module.calculate_qparams())
            module.register_forward_pre_hook(partial(look, name=name, scale=scale, zero_point=zero_point))
    for batch in batches:
        model(batch)
    return {name: len(integers) for name, integers in levels.items()}


def calibrate(batches: Iterable[torch.Tensor]) -> tuple[float, int]:
    """A scale and a zero point with which the values of a layer are quantised to 8 bits, although some of them are outliers.

    A value x is quantised to `round(x / scale) + zero_point`, limited to 0 and 255. An outlier is more than 10 times as far from 0
    as any value that is none. At most one value in 2000 is an outlier, and often none is. The other values may have any
    distribution: most may be 0, large ones may be rare, and all may have one sign. But at least one in 500 of all values is more
    than a quarter as far from 0 as the farthest value that is no outlier. A batch may have a larger range than another one, and be
    of any length.

    On the values that are no outliers, the mean squared error is at most twice the error with the range from the smallest of them
    to the largest. (This range, too, is extended to 0.) So no value may be cut off that is none.

        >>> x = torch.arange(-1000, 3100).float() / 1000
        >>> x[7] = 500.0
        >>> scale, zero_point = calibrate([x[:2000], x[2000:]])
        >>> abs(scale - 4.1 / 255) < 0.001, abs(zero_point - 62) < 3
        (True, True)

    Args:
        batches: float32, at least 2000 values in all. Each batch is asked for once. It is only read.

    Returns:
        two numbers, or tensors of one element: the scale, above 0, and the zero point, from 0 to 255, so that 0 is exact.
    """
    values = torch.cat([batch.flatten() for batch in batches])
    distances = values.abs()
    usual = values[
        distances < 6 * distances.quantile(0.999)
    ]  # no outlier, because that is beyond 10 times this quantile
    low, high = usual.min().clamp(max=0.0), usual.max().clamp(min=0.0)
    scale = (high - low).item() / 255
    return scale, round(-low.item() / scale)


def lost_updates(model: torch.nn.Module, optimizer: torch.optim.SGD, run: Callable[[], Any]) -> dict[str, list[int]]:
    """How many elements of each parameter a step does not change although it should.

    A step makes `x - lr * gradient` of each element x. In bfloat16 the result is rounded to 8 digits of base 2. If the update is
    smaller than half the distance to the next number, the result is x again: the update is lost. Counted are the elements that are
    the same number after the step, while neither the gradient nor the learning rate of this step is 0. (Their product may be 0 in
    half precision.)

        >>> layer = torch.nn.Linear(3, 1, bias=False).bfloat16()
        >>> layer.weight.data = torch.tensor([[1.0, 1.0, 0.01]]).bfloat16()
        >>> optimizer = torch.optim.SGD(layer.parameters(), lr=0.001)
        >>> def run():
        ...     layer(torch.tensor([[1.0, 0.0, 1.0]]).bfloat16()).sum().backward()
        ...     optimizer.step()
        >>> lost_updates(layer, optimizer, run)
        {'weight': [1]}

    Args:
        optimizer: it has some of the model's parameters, in groups with learning rates `group["lr"]`. These are numbers, different
            ones, which may change between steps, from 0 and to 0 too. It has no momentum and no weight decay. No group is added
            during the run, and no hook of the optimizer changes a gradient or a rate. Afterwards it has the hooks that it had, also
            if `run()` raises an error. The error is raised further.
        run: calls `optimizer.step()`, without a closure, any number of times, and may do anything else before, between and after
            these calls.

    Returns:
        for each parameter of the optimizer, by its name in `model.named_parameters()`, a number for each step. A parameter without
        a gradient loses nothing.
    """
    names = {x: name for name, x in model.named_parameters()}
    owned = [x for group in optimizer.param_groups for x in group["params"]]
    lost, before = {names[x]: [] for x in owned}, {}

    def enter(optimizer, args, kwargs):
        before.update({x: x.clone() for x in owned})

    def leave(optimizer, args, kwargs):
        for group in optimizer.param_groups:
            for x in group["params"]:
                wanted = torch.zeros_like(x) if x.grad is None else x.grad * (group["lr"] != 0)
                lost[names[x]].append(int(((x == before[x]) & (wanted != 0)).sum()))

    hooks = optimizer.register_step_pre_hook(enter), optimizer.register_step_post_hook(leave)
    try:
        run()
    finally:
        for hook in hooks:
            hook.remove()
    return lost


def descend_in_bfloat16(
    x: torch.Tensor, gradient: Callable[[torch.Tensor], torch.Tensor], rate: float, steps: int
) -> torch.Tensor:
    """Descend with a model that computes in bfloat16, and lose no update.

    In each step the model is asked for its gradient at the present point, `gradient(point)`. The next point is the start minus
    `rate` times the sum of all gradients so far. In exact arithmetic, this sum has some value for each element. An element of a
    point differs from this value by at most 1 % of the largest absolute value that the element has had so far. (A rounding to
    bfloat16 changes a number by at most 0.4 %.) So no update may be lost, and stochastic rounding is too inexact: it is right only
    on average. Gradients may cancel out, such as 3, -1, -1, -1, and again. Then what is lost in rounding the product of rate and
    gradient to bfloat16 becomes more than the sum itself.

        >>> ones = torch.ones(2).bfloat16()
        >>> descend_in_bfloat16(ones, lambda point: torch.ones_like(point), 0.001, 250)
        tensor([0.7500, 0.7500], dtype=torch.bfloat16)

    Args:
        x: the start, bfloat16. It is only read.
        gradient: takes and returns a bfloat16 tensor of these sizes, and is called once in each step. It only reads the point.
        steps: at most 4000.

    Returns:
        the last point, a new tensor, bfloat16.
    """
    master = x.float()
    for _ in range(steps):
        master = master - rate * gradient(master.bfloat16()).float()
    return master.bfloat16()
