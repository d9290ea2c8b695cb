"""Diagnoses of lab 13e: memory, speed and numbers.

For each patient of the framework there are three answers: a small program that shows the fault, the name of the function at fault,
and a sound function in its place. For each script on torch there are two: a function that finds the cause in any script of its
kind, and the script as it should be.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


def narrow_1(xp: Any) -> Any:
    """A program that shows the fault of patient 13e.1.

    `xp` is the patient's framework, the sound one, or torch. The result differs on the patient, and is the same on the other two.

    The program has at most 5 statements and calls at most 8 operators. It uses `xp`, its own variables, and no import.

    Returns:
        a tensor, a number, a string, or a list or tuple of these. An exception is a result too.
    """
    x = xp.tensor([0.0, 1.0], requires_grad=True)
    xp.fake_quantize_per_tensor_affine(x, 1.0, 0, 0, 7).sum().backward()
    return x.grad


def name_1() -> list[str]:
    """The function at fault in patient 13e.1.

    Returns:
        a list with one name, or with two if your first guess was wrong: the first guess stays first. A name is the path of the
        function below `rl`, such as `"ao.quantization.affine.determine_qparams"`.
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
    """The function at fault in patient 13e.2: a list with one name, or with two if the first guess was wrong."""
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
      list or tuple, or something else. A node of a `torch.autograd.Function` has them in `saved_tensors`. If a node has freed what
      it saved, to read it raises RuntimeError, and the node keeps nothing of it.

    Memory is counted as a whole: a view of one element keeps the bytes of its whole storage. Each storage is counted once, for the
    first owner from which it is reached.

        >>> x = torch.ones(10, requires_grad=True)
        >>> held_bytes({"weights": [x], "loss": x.exp().sum(), "more": {"view": x[:2].detach()}})
        {'weights': 40, 'loss': 44, 'more': 0}

    Args:
        owners: nothing in it is changed. A graph may be tens of thousands of nodes deep.

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

    The loss of a batch (x, y) is the mean of `(model(x) - y) ** 2`. Each batch has a backward pass, a step of the optimizer and an
    `optimizer.zero_grad()`. If the loss of a batch raises a RuntimeError, there is no step, and the next batch follows.

    However many batches there are, the bytes that are alive while the next batch is asked for do not grow.

    Args:
        model: its layers are different modules. Afterwards it has the hooks that it had before.
        batches: an iterable that makes each batch when it is asked for.

    Returns:
        three values. The losses of the batches with a step. The mean absolute value of the result of each call of a layer, in the
        order of the calls, also those of a batch without a step. And the message of each RuntimeError, `str(error)`.
    """
    losses, activity, messages = [], [], []

    def look(module, args, result):
        activity.append(result.detach().abs().mean().item())

    hooks = [layer.register_forward_hook(look) for layer in model]
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
    for hook in hooks:
        hook.remove()
    return losses, activity, messages


def first_not_finite(model: torch.nn.Module, run: Callable[[], Any]) -> tuple[str | None, str] | None:
    """Where the first number comes from that is not finite, in one call `run()`.

    That is the first operator that a `TorchDispatchMode` sees for which one of these holds:

    - its result has a nan, and nothing that it is given is a nan or has one;
    - its result has an infinity, and all that it is given is finite. So a mask that is filled with minus infinity on purpose does
      not count, because the operator is given this number.

    What an operator is given are its arguments, those by keyword too: tensors, and numbers of the class `float`, also in lists.
    Such a number has 64 bits, so 1e300 is finite. Only floating tensors count. An operator may have several results, and it may
    write into an argument. Operators with `empty` in their names do not count: their memory is not set.

        >>> model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Softplus())
        >>> first_not_finite(model, lambda: model(torch.ones(2)).sub(1e30).exp().log())
        (None, 'aten.log.default')

    Args:
        model: afterwards it has the hooks that it had before, also if `run()` raises an error. The error is raised further.
        run: calls modules of `model`, and any other operators. It may run a backward pass.

    Returns:
        None if there is no such operator. Otherwise two values: the innermost module of `model` that runs when the operator is
        called, by its name in `model.named_modules()`, or None if none runs, as in a loss or in backward; and the operator as text,
        `str(func)`.
    """
    running, culprits = [], []

    def kinds_of(values):
        leaves = [torch.tensor(x, dtype=torch.float64) if isinstance(x, float) else x for x in tree_leaves(values)]
        numbers = [*filter(torch.is_tensor, leaves)]
        return {"nan" for x in numbers if x.isnan().any()} | {"inf" for x in numbers if x.isinf().any()}

    class Look(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            before = kinds_of((args, kwargs))
            result = func(*args, **(kwargs or {}))
            after = kinds_of(result)
            new = "nan" in after - before or ("inf" in after and not before)
            if new and "empty" not in str(func):
                culprits.append((running[-1] if running else None, str(func)))
            return result

    def leave(*_):
        running.pop()

    hooks = []
    for name, module in model.named_modules():
        hooks.append(module.register_forward_pre_hook(lambda *_, name=name: running.append(name)))
        hooks.append(module.register_forward_hook(leave))
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
    influence. For finite values and allowed scores, however large, the result is finite, and so are the gradients: that of a score
    at a position that is not allowed is 0.

    Results and gradients are those of exact arithmetic, but for a few roundings of the dtype.

    Args:
        scores: (rows, length), float16, bfloat16 or float32. It is only read.
        values: (length, features), of the same dtype.
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
    there for all that was launched before. The number may be read by another function, which this line calls, directly or not.

    A line is counted from the line with `def`, which is line 0.

        >>> def script(x):
        ...     y = x.sum()
        ...     if y > 2:
        ...         y = y / float(x.max())
        ...     return y * y.item() + y.item()
        >>> transfers(script, torch.ones(3))
        {2: 1, 3: 1, 4: 2}

    Args:
        function: a Python function without decorators. Each of its statements is on a line of its own.

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
        x, target: of the same size and floating dtype, finite, at least one element. They are only read.
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
    """The function at fault in patient 13e.3: a list with one name, or with two if the first guess was wrong."""
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
