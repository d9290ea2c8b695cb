"""Wrong answers to lab 13e that a student might well give: each is refused.

A function's name is its exercise's, two underscores, and what is wrong.
"""

# ruff: noqa: F821 (a mend sees the names of the module in which it is planted)

import copy
import gc
import math
import sys
import traceback
from collections import Counter
from contextlib import suppress
from functools import partial

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map_only

from rushlight.clinic import memory

from ..shared import edited


def _not_finite(values):
    numbers = [torch.as_tensor(x) for x in tree_leaves(values) if isinstance(x, (float, torch.Tensor))]
    numbers = [x for x in numbers if x.is_floating_point()]
    return {"nan" for x in numbers if x.isnan().any()} | {"inf" for x in numbers if x.isinf().any()}


def narrow_1__the_forward_pass(xp):
    return xp.fake_quantize_per_tensor_affine(xp.tensor([0.0, 7.0, 9.0]), 1.0, 0, 0, 7)


def narrow_1__inside_the_range(xp):
    x = xp.tensor([1.0, 2.0], requires_grad=True)
    xp.fake_quantize_per_tensor_affine(x, 1.0, 0, 0, 7).sum().backward()
    return x.grad


def narrow_1__beyond_the_range(xp):
    x = xp.tensor([-9.0, 99.0], requires_grad=True)
    xp.fake_quantize_per_tensor_affine(x, 1.0, 0, 0, 7).sum().backward()
    return x.grad


def name_1__the_observer():
    return ["ao.quantization.affine.determine_qparams", "ao.quantization.affine.quantize_per_tensor"]


def name_1__the_backward():
    return ["aten.native.quantized.fake_quantize_cachemask_backward"]


def name_1__the_caller():
    return ["aten.native.quantized.fake_quantize_per_tensor_affine_cachemask", "optim.optimizer.sgd"]


def mend_1__one_end():
    def fake_quantize(self, scale, zero_point, quant_min, quant_max):
        q = functions.round(self * inverse_of(scale)) + zero_point
        mask = (q >= quant_min) & (q < quant_max)
        q = functions.clamp(functions.where(q >= quant_min, q, quant_min), max=quant_max)
        return (q - zero_point) * scale, mask

    return "aten.native.quantized.fake_quantize", fake_quantize


def mend_1__after_the_clamp():
    def fake_quantize(self, scale, zero_point, quant_min, quant_max):
        q = functions.round(self * inverse_of(scale)) + zero_point
        q = functions.clamp(functions.where(q >= quant_min, q, quant_min), max=quant_max)
        return (q - zero_point) * scale, (q >= quant_min) & (q <= quant_max)

    return "aten.native.quantized.fake_quantize", fake_quantize


def mend_1__always():
    def fake_quantize(self, scale, zero_point, quant_min, quant_max):
        q = functions.clamp(functions.round(self * inverse_of(scale)) + zero_point, quant_min, quant_max)
        return (q - zero_point) * scale, functions.isfinite(self)

    return "aten.native.quantized.fake_quantize", fake_quantize


def narrow_2__one_parameter(xp):
    p = xp.nn.Parameter(xp.ones(1))
    scaler = xp.amp.GradScaler("cpu", init_scale=1.0)
    scaler.scale(p.sum()).backward()
    p.grad.fill_(xp.inf)
    scaler.step(xp.optim.SGD([p], lr=1.0))
    return p


def narrow_2__clipping(xp):
    p = xp.nn.Parameter(xp.ones(2))
    p.grad = xp.tensor([xp.inf, 1.0])
    xp.nn.utils.clip_grad_norm_([p], 1.0)
    return p.grad


def narrow_2__the_last_one(xp):
    a, b = xp.zeros(1, requires_grad=True), xp.zeros(1, requires_grad=True)
    scaler = xp.amp.GradScaler("cpu", init_scale=4.0)
    scaler.scale(a + b).backward()
    b.grad = b.grad * xp.inf
    scaler.unscale_(xp.optim.SGD([a, b], lr=0.1))
    scaler.update()
    return scaler.get_scale()


def name_2__clipping():
    return ["nn.utils.clip_grad.clip_grad_norm_", "optim.optimizer.sgd"]


def name_2__the_scale():
    return ["amp.grad_scaler.update_scale"]


def name_2__the_step():
    return ["amp.grad_scaler.GradScaler.step"]


def mend_2__only_the_first():
    def unscale_grads(grads, scale):
        found_inf = not functions.isfinite(grads[0]).all().item()
        for grad in grads:
            grad.mul_(scale.double().reciprocal().float())
        return found_inf

    return "amp.grad_scaler.unscale_grads", unscale_grads


def mend_2__an_early_end():
    def unscale_grads(grads, scale):
        for grad in grads:
            if not functions.isfinite(grad).all().item():
                return True
            grad.mul_(scale.double().reciprocal().float())
        return False

    return "amp.grad_scaler.unscale_grads", unscale_grads


def mend_2__no_nan():
    def unscale_grads(grads, scale):
        found_inf = any((grad.abs() == float("inf")).any().item() for grad in grads)
        for grad in grads:
            grad.mul_(scale.double().reciprocal().float())
        return found_inf

    return "amp.grad_scaler.unscale_grads", unscale_grads


def mend_2__the_sum():
    def unscale_grads(grads, scale):
        found_inf = not all(functions.isfinite(grad.sum()).item() for grad in grads)
        for grad in grads:
            grad.mul_(scale.double().reciprocal().float())
        return found_inf

    return "amp.grad_scaler.unscale_grads", unscale_grads


def _walk(
    owners,
    attributes=("variable", "saved_tensors"),
    saved="_saved_",
    whole=True,
    grads=True,
    once=True,
    deep=False,
    keys=True,
    pointer=lambda x: x.untyped_storage().data_ptr(),
):
    """A walk that leaves something out."""
    counted, seen, held = set(), {}, {}

    def visit(thing, name):
        if id(thing) in seen:
            return
        seen[id(thing)] = thing
        if isinstance(thing, (list, tuple)):
            following = [*thing]
        elif isinstance(thing, dict):
            following = [*thing, *thing.values()] if keys else [*thing.values()]
        elif isinstance(thing, torch.Tensor):
            storage = thing.untyped_storage()
            if pointer(thing) not in counted or not once:
                counted.add(pointer(thing))
                held[name] += storage.nbytes() if whole else thing.nbytes
            following = [thing.grad_fn] + [thing.grad] * (grads and (thing.is_leaf or thing.retains_grad))
        elif hasattr(thing, "next_functions"):
            following = [node for node, _ in thing.next_functions]
            for attribute in dir(thing):
                if attribute in attributes or attribute.startswith(saved):
                    with suppress(RuntimeError):
                        following.append(getattr(thing, attribute))
        else:
            return
        if deep:
            for each in following:
                visit(each, name)
        else:
            waiting.extend(following)

    for name, owner in owners.items():
        held[name], waiting = 0, [owner]
        while waiting:
            visit(waiting.pop(), name)
    return held


def held_bytes__of_the_view(owners):
    return _walk(owners, whole=False)


def held_bytes__without_gradients(owners):
    return _walk(owners, grads=False)


def held_bytes__without_functions(owners):
    return _walk(owners, attributes=("variable",))


def held_bytes__without_leaves(owners):
    return _walk(owners, attributes=("saved_tensors",))


def held_bytes__without_keys(owners):
    return _walk(owners, keys=False)


def held_bytes__where_a_tensor_begins(owners):
    return _walk(owners, pointer=lambda x: x.data_ptr())


def held_bytes__each_tensor(owners):
    return _walk(owners, once=False)


def held_bytes__recursive(owners):
    return _walk(owners, deep=True)


def held_bytes__only_results(owners):
    return _walk(owners, saved="_saved_result")


def held_bytes__no_graph(owners):
    return {
        name: sum(x.untyped_storage().nbytes() for x in tree_leaves(owner) if torch.is_tensor(x))
        for name, owner in owners.items()
    }


def held_bytes__emptied(owners):
    """Takes each element out of its list or dict."""
    counted, held = set(), {}
    for name, owner in owners.items():
        held[name], waiting = 0, [[owner]]
        while waiting:
            thing = waiting.pop()
            while isinstance(thing, (list, dict)) and thing:
                waiting += [thing.pop()] if isinstance(thing, list) else [*thing.popitem()]
            if isinstance(thing, torch.Tensor) and thing.untyped_storage().data_ptr() not in counted:
                counted.add(thing.untyped_storage().data_ptr())
                held[name] += _walk({name: thing})[name]
    return held


def _once_more(owners, change):
    held = _walk(owners)
    for x in tree_leaves([*owners.values()]):
        if isinstance(x, torch.Tensor):
            change(x)
    return held


def held_bytes__gradients_taken_away(owners):
    return _once_more(owners, lambda x: x.is_leaf and setattr(x, "grad", None))


def held_bytes__emptied_afterwards(owners):
    held = _walk(owners)
    for owner in owners.values():
        if isinstance(owner, (list, dict)):
            owner.clear()
    return held


def held_bytes__no_more_gradients(owners):
    return _once_more(owners, lambda x: x.is_leaf and x.is_floating_point() and x.requires_grad_(False))


def held_bytes__without_views(owners):
    views = [x for x in tree_leaves([*owners.values()]) if isinstance(x, torch.Tensor) and x._is_view()]
    held = _walk({"views": views} | owners)
    return {name: held[name] for name in owners}


def held_bytes__the_same_list_for_ever(owners):
    """Visits only tensors and nodes once, so a list that contains itself is visited for ever. It ends here after a while."""
    for owner in owners.values():
        waiting = [owner]
        for _ in range(10000):
            if waiting:
                thing = waiting.pop()
                waiting += thing if isinstance(thing, (list, tuple)) else []
        if waiting:
            raise RecursionError("a list that contains itself")
    return _walk(owners)


def held_bytes__each_owner_alone(owners):
    return {name: _walk({name: owner})[name] for name, owner in owners.items()}


def _fit(
    model,
    optimizer,
    batches,
    number=lambda x: x.item(),
    text=str,
    remove=True,
    look=lambda x: x.detach().abs().mean().item(),
    caught=RuntimeError,
):
    """A loop that keeps something."""
    losses, activity, messages = [], [], []
    hooks = [layer.register_forward_hook(lambda module, args, result: activity.append(look(result))) for layer in model]
    try:
        for x, y in batches:
            try:
                loss = ((model(x) - y) ** 2).mean()
            except caught as error:
                messages.append(text(error))
                continue
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            losses.append(number(loss))
    finally:
        for hook in hooks:
            hook.remove() if remove else None
    return losses, activity, messages


def fit__each_error(model, optimizer, batches):
    return _fit(model, optimizer, batches, caught=Exception)


def fit__errors_of_the_iterable(model, optimizer, batches):
    def until_an_error(errors):
        try:
            yield from batches
        except RuntimeError as error:
            errors.append(str(error))

    errors = []
    losses, activity, messages = _fit(model, optimizer, until_an_error(errors))
    return losses, activity, messages + errors


def fit__hooks_after_an_error(model, optimizer, batches):
    report = _fit(model, optimizer, [])
    hooks = [layer.register_forward_hook(lambda module, args, result: _note(report[1], result)) for layer in model]
    for batch in batches:
        for mine, new in zip(report[::2], _fit(model, optimizer, [batch])[::2]):
            mine += new
    for hook in hooks:
        hook.remove()
    return report


def _note(activity, result):
    activity.append(result.detach().abs().mean().item())


def fit__losses(model, optimizer, batches):
    return _fit(model, optimizer, batches, number=lambda loss: loss)


def fit__detached_losses(model, optimizer, batches):
    return _fit(model, optimizer, batches, number=lambda loss: loss.detach())


def fit__errors(model, optimizer, batches):
    losses, activity, errors = _fit(model, optimizer, batches, text=lambda error: error)
    return losses, activity, [str(error) for error in errors]


def fit__hooks(model, optimizer, batches):
    return _fit(model, optimizer, batches, remove=False)


def fit__activity_at_the_end(model, optimizer, batches):
    losses, activity, messages = _fit(model, optimizer, batches, look=lambda result: result.detach())
    return losses, [result.abs().mean().item() for result in activity], messages


def fit__all_batches_first(model, optimizer, batches):
    return _fit(model, optimizer, list(batches))


def fit__with_graphs(model, optimizer, batches):
    losses, activity, messages = _fit(model, optimizer, batches, look=lambda result: result.abs().mean())
    return losses, [result.item() for result in activity], messages


def fit__all_hooks_removed(model, optimizer, batches):
    report = _fit(model, optimizer, batches, remove=False)
    for layer in model:
        layer._forward_hooks.clear()
    return report


def fit__collected(model, optimizer, batches):
    report = _fit(
        model, optimizer, batches, number=lambda loss: [loss.item(), gc.collect(), loss][0], text=lambda error: error
    )
    return report[0], report[1], [*map(str, report[2])]


def fit__the_first_error_ends(model, optimizer, batches):
    losses, activity, messages = [], [], []
    try:
        for batch in batches:
            report = _fit(model, optimizer, [batch])
            losses += report[0]
            activity += report[1]
            if report[2]:
                raise RuntimeError(*report[2])
    except RuntimeError as error:
        messages.append(str(error))
    return losses, activity, messages


def _first(
    model,
    run,
    new=None,
    given=lambda args, kwargs: (args, kwargs or {}),
    late=False,
    empty=True,
    inner=-1,
    result_of=lambda x: x,
    written=True,
    always=True,
    prepend=True,
    text=str,
):
    """A search with a mistake."""
    new = new or (lambda before, after: "nan" in after - before or "inf" in after and not before)
    running, culprits = [], []

    class Look(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            before = set() if late else _not_finite(given(args, kwargs))
            result = func(*args, **(kwargs or {}))
            before = _not_finite(given(args, kwargs)) if late else before
            after = _not_finite((result_of(result), given(args, kwargs) if written else ()))
            if new(before, after) and not (empty and "empty" in str(func)):
                culprits.append((running[inner] if running else None, text(func)))
            return result

    def leave(*_):
        running.pop()

    hooks = []
    for name, module in model.named_modules():
        enter = partial(_appended, running, name)
        hooks.append(module.register_forward_pre_hook(enter, prepend=prepend))
        hooks.append(module.register_forward_hook(leave, always_call=always))
    try:
        with Look():
            run()
    finally:
        for hook in hooks:
            hook.remove()
    return culprits[0] if culprits else None


def _appended(running, name, *_):
    running.append(name)


def first_not_finite__after_other_pre_hooks(model, run):
    """Another pre-hook may raise an error, and then the module ends without having begun."""
    return _first(model, run, prepend=False)


def first_not_finite__no_overload(model, run):
    return _first(model, run, text=lambda func: str(func.overloadpacket))


def first_not_finite__infinity_beside_another(model, run):
    return _first(model, run, new=lambda before, after: ("nan" in after and not before) or "inf" in after - before)


def first_not_finite__children(model, run):
    """Only the children of the model have names."""
    culprit = _first(model, run)
    return culprit and (culprit[0] and culprit[0].split(".")[0], culprit[1])


def first_not_finite__what_it_returns(model, run):
    return _first(model, run, written=False)


def first_not_finite__still_running_after_an_error(model, run):
    return _first(model, run, always=False)


def first_not_finite__all_left_after_an_error(model, run):
    """Forgets all modules when one of them raises an error, also those that catch it."""
    running, culprits, hooks = [], [], []

    class Look(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            before = _not_finite((args, kwargs or {}))
            result = func(*args, **(kwargs or {}))
            after = _not_finite((result, args, kwargs or {}))
            if ("nan" in after - before or "inf" in after and not before) and "empty" not in str(func):
                culprits.append((running[-1] if running else None, str(func)))
            return result

    def leave(module, args, result):
        if result is None:
            running.clear()
        elif running:
            running.pop()

    for name, module in model.named_modules():
        hooks.append(module.register_forward_pre_hook(lambda *_, name=name: running.append(name)))
        hooks.append(module.register_forward_hook(leave, always_call=True))
    try:
        with Look():
            run()
    finally:
        for hook in hooks:
            hook.remove()
    return culprits[0] if culprits else None


def first_not_finite__a_bad_result(model, run):
    return _first(model, run, new=lambda before, after: bool(after))


def first_not_finite__finite_arguments(model, run):
    return _first(model, run, new=lambda before, after: after and not before)


def first_not_finite__only_nan(model, run):
    return _first(model, run, new=lambda before, after: "nan" in after - before)


def first_not_finite__each_kind(model, run):
    return _first(model, run, new=lambda before, after: bool(after - before))


def first_not_finite__after_the_call(model, run):
    return _first(model, run, late=True)


def first_not_finite__only_tensors(model, run):
    return _first(model, run, given=lambda args, kwargs: [x for x in tree_leaves((args, kwargs)) if torch.is_tensor(x)])


def first_not_finite__no_lists(model, run):
    return _first(model, run, given=lambda args, kwargs: [x for x in args if not isinstance(x, (list, tuple))])


def first_not_finite__the_outer_module(model, run):
    return _first(model, run, inner=0)


def first_not_finite__the_first_result(model, run):
    return _first(model, run, result_of=lambda x: x[0] if isinstance(x, (list, tuple)) else x)


def first_not_finite__no_keywords(model, run):
    return _first(model, run, given=lambda args, kwargs: args)


def first_not_finite__the_sum(model, run):
    return _first(model, run, result_of=lambda x: tree_map_only(torch.Tensor, torch.sum, x))


def first_not_finite__no_name_of_the_model(model, run):
    culprit = _first(model, run)
    return culprit and (culprit[0] or None, culprit[1])


def first_not_finite__module_outputs(model, run):
    bad = []

    def look(module, args, result, name):
        if not result.isfinite().all():
            bad.append((name, "aten.exp.default"))

    hooks = [m.register_forward_hook(lambda m, a, r, n=n: look(m, a, r, n)) for n, m in model.named_modules()]
    run()
    for hook in hooks:
        hook.remove()
    return bad[0] if bad else None


def first_not_finite__hooks_stay(model, run):
    running, culprits = [], []

    class Look(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            before = _not_finite((args, kwargs))
            result = func(*args, **(kwargs or {}))
            after = _not_finite((result, args, kwargs))
            if ("nan" in after - before or "inf" in after and not before) and "empty" not in str(func):
                culprits.append((running[-1] if running else None, str(func)))
            return result

    hooks = []
    for name, module in model.named_modules():
        hooks.append(module.register_forward_pre_hook(lambda *_, name=name: running.append(name)))
        hooks.append(module.register_forward_hook(lambda *_: [running.pop()][:0] or None, always_call=True))
    with Look():
        run()
    for hook in hooks:
        hook.remove()
    return culprits[0] if culprits else None


def attend__only_the_maximum(scores, values, allowed):
    weights = (scores - scores.amax(1, keepdim=True)).exp() * allowed
    return weights / (weights.sum(1, keepdim=True) + 1e-8) @ values


def attend__minus_infinity(scores, values, allowed):
    return scores.masked_fill(~allowed, -math.inf).softmax(1) @ values


def attend__hidden_by_where(scores, values, allowed):
    mask = torch.zeros_like(scores).masked_fill(~allowed, -math.inf)
    weights = (scores + mask).softmax(1)
    return torch.where(allowed.any(1, keepdim=True), weights, 0.0) @ values


def attend__added_mask(scores, values, allowed):
    weights = (scores + (~allowed).to(scores.dtype) * torch.finfo(scores.dtype).min).softmax(1)
    return (weights * allowed) @ values


def attend__a_low_number(scores, values, allowed):
    return (scores.masked_fill(~allowed, -1e4).softmax(1) * allowed) @ values


def attend__the_lowest_number(scores, values, allowed):
    return (scores.masked_fill(~allowed, torch.finfo(scores.dtype).min).softmax(1) * allowed) @ values


def attend__nan_hidden_in_the_result(scores, values, allowed):
    """Result and gradients are right, but `softmax` makes a nan."""
    weights = scores.masked_fill(~allowed, -math.inf).softmax(1)
    return torch.where(allowed.any(1, keepdim=True), weights, 0.0) @ values


def attend__nan_to_num(scores, values, allowed):
    """Result and gradients are right, but `softmax` makes a nan."""
    return scores.masked_fill(~allowed, -math.inf).softmax(1).nan_to_num(0.0) @ values


def attend__a_low_number_and_a_new_sum(scores, values, allowed):
    weights = scores.float().masked_fill(~allowed, -1e4).softmax(1) * allowed
    return (weights / weights.sum(1, keepdim=True).clamp(min=1e-30) @ values.float()).to(scores.dtype)


def attend__sums_in_half_precision(scores, values, allowed):
    some = allowed.any(1, keepdim=True)
    scores = scores.masked_fill(~allowed, -math.inf).masked_fill(~some, 0.0)
    weights = (scores - scores.amax(1, keepdim=True)).exp() * some
    total = torch.zeros_like(weights[:, 0])
    for i in range(weights.shape[1]):
        total = total + weights[:, i]
    return weights / total.masked_fill(~some[:, 0], 1.0)[:, None] @ values


def _weighted(scores, values, allowed, total_of, divide_first=True):
    """Weights in the scores' dtype, and a sum of them with a mistake."""
    some = allowed.any(1, keepdim=True)
    scores = scores.masked_fill(~allowed, -math.inf).masked_fill(~some, 0.0)
    weights = (scores - scores.amax(1, keepdim=True).detach()).exp()
    total = total_of(weights)
    return (weights / total * some) @ values if divide_first else (weights @ values).to(total.dtype) / total * some


def attend__a_sum_rounded_to_half(scores, values, allowed):
    return _weighted(scores, values, allowed, lambda weights: weights.sum(1, keepdim=True))


def attend__a_product_with_ones(scores, values, allowed):
    return _weighted(scores, values, allowed, lambda weights: weights @ torch.ones_like(weights[:1].T))


def attend__the_last_of_the_cumulative_sums(scores, values, allowed):
    return _weighted(scores, values, allowed, lambda weights: weights.cumsum(1)[:, -1:])


def attend__sums_of_two_halves(scores, values, allowed):
    def total(weights):
        half = weights.shape[1] // 2
        return weights[:, :half].sum(1, keepdim=True) + weights[:, half:].sum(1, keepdim=True)

    return _weighted(scores, values, allowed, total)


def attend__divided_at_the_end(scores, values, allowed):
    return _weighted(scores, values, allowed, lambda weights: weights.sum(1, keepdim=True), divide_first=False)


def attend__divided_in_float32_at_the_end(scores, values, allowed):
    """The sum of the weighted values has been rounded to half precision before."""
    wide = _weighted(scores, values, allowed, lambda weights: weights.float().sum(1, keepdim=True), divide_first=False)
    return wide.to(scores.dtype)


def attend__a_column_of_ones(scores, values, allowed):
    some = allowed.any(1, keepdim=True)
    both = _weighted(
        scores, torch.cat([values, torch.ones_like(values[:, :1])], 1), allowed, lambda x: x.new_ones(()), False
    )
    return both[:, :-1] / both[:, -1:].masked_fill(~some, 1.0)


def attend__a_logarithm_in_half_precision(scores, values, allowed):
    some = allowed.any(1, keepdim=True)
    scores = scores.masked_fill(~allowed, -math.inf).masked_fill(~some, 0.0)
    return ((scores - scores.logsumexp(1, keepdim=True)).exp() * some) @ values


def attend__less_the_mean(scores, values, allowed):
    """The mean of the allowed scores is subtracted, not the largest."""
    some = allowed.any(1, keepdim=True)
    wide = scores.float().masked_fill(~allowed, 0.0)
    mean = wide.sum(1, keepdim=True) / allowed.sum(1, keepdim=True).clamp(min=1)
    weights = (wide - mean.detach()).exp() * allowed
    total = weights.sum(1, keepdim=True).masked_fill(~some, 1.0)
    return (weights / total @ values.float()).to(scores.dtype)


def attend__one_maximum_of_all_rows(scores, values, allowed):
    wide = scores.float().masked_fill(~allowed, -math.inf)
    most = wide.max().detach() if allowed.any() else 0.0
    weights = (wide - most).exp()
    return (weights / weights.sum(1, keepdim=True).clamp(min=1e-30) @ values.float()).to(scores.dtype)


def attend__limited_scores(scores, values, allowed):
    some = allowed.any(1, keepdim=True)
    scores = scores.clamp(-2e4, 2e4).masked_fill(~allowed, -math.inf).masked_fill(~some, 0.0)
    return (scores.softmax(1) * some) @ values


def attend__uniform_over_padding(scores, values, allowed):
    return scores.masked_fill(~allowed, torch.finfo(scores.dtype).min).softmax(1) @ values


def attend__wide_result(scores, values, allowed):
    some = allowed.any(1, keepdim=True)
    scores = scores.float().masked_fill(~allowed, -math.inf).masked_fill(~some, 0.0)
    return (scores.softmax(1) * some) @ values.float()


def attend__clamped(scores, values, allowed):
    weights = scores.nan_to_num(0.0).clamp(max=10).exp() * allowed
    return weights / weights.sum(1, keepdim=True).clamp(min=1e-4) @ values


def attend__written_in_place(scores, values, allowed):
    with torch.no_grad():
        scores.masked_fill_(~allowed, -math.inf)
        scores[~allowed.any(1)] = 0
    return (scores.softmax(1) * allowed.any(1, keepdim=True)) @ values


def attend__weights_that_are_almost_0(scores, values, allowed):
    some = allowed.any(1, keepdim=True)
    wide = scores.float().nan_to_num(0.0, 0.0, 0.0)
    most = wide.masked_fill(~allowed, -math.inf).masked_fill(~some, 0.0).amax(1, keepdim=True).detach()
    weights = (wide - most).clamp(max=0.0).exp() * allowed.float().clamp(min=1e-9)
    return (weights / weights.sum(1, keepdim=True) * some @ values.float()).to(scores.dtype)


def attend__detached(scores, values, allowed):
    scores = scores.detach()
    some = allowed.any(1, keepdim=True)
    scores = scores.masked_fill(~allowed, -math.inf).masked_fill(~some, 0.0)
    return (scores.softmax(1) * some) @ values


def _transfers(function, args, line_of, counted=lambda func: func is torch.ops.aten._local_scalar_dense.default):
    counts = Counter()

    class Look(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if counted(func):
                counts[line_of(sys._getframe(1))] += 1
            return func(*args, **(kwargs or {}))

    with Look():
        function(*args)
    return dict(counts)


def _frame_of(function, frame):
    while frame.f_back is not None and frame.f_code is not function.__code__:
        frame = frame.f_back
    return frame


def transfers__from_the_file(function, *args):
    return _transfers(function, args, lambda frame: _frame_of(function, frame).f_lineno)


def transfers__the_next_frame(function, *args):
    return _transfers(function, args, lambda frame: frame.f_lineno - function.__code__.co_firstlineno)


def transfers__by_name(function, *args):
    def line_of(frame):
        last = [each for each in traceback.extract_stack(frame) if each.filename == function.__code__.co_filename][-1]
        return last.lineno - function.__code__.co_firstlineno

    return _transfers(function, args, line_of)


def transfers__of_any_function_of_this_name(function, *args):
    def line_of(frame):
        while frame.f_code.co_name != function.__name__:
            frame = frame.f_back
        return frame.f_lineno - function.__code__.co_firstlineno

    return _transfers(function, args, line_of)


def transfers__the_outermost_call(function, *args):
    def line_of(frame):
        while frame is not None:
            line = frame.f_lineno if frame.f_code is function.__code__ else line
            line, frame = line, frame.f_back
        return line - function.__code__.co_firstlineno

    return _transfers(function, args, lambda frame: line_of(_frame_of(function, frame)))


def transfers__each_call_of_the_function(function, *args):
    counts = Counter()

    class Look(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            frame = sys._getframe()
            while func is torch.ops.aten._local_scalar_dense.default and frame is not None:
                if frame.f_code is function.__code__:
                    counts[frame.f_lineno - function.__code__.co_firstlineno] += 1
                frame = frame.f_back
            return func(*args, **(kwargs or {}))

    with Look():
        function(*args)
    return dict(counts)


def transfers__errors_hidden(function, *args):
    first = function.__code__.co_firstlineno
    with suppress(Exception):
        return _transfers(function, args, lambda frame: _frame_of(function, frame).f_lineno - first)
    return {}


def transfers__called_twice(function, *args):
    function(*args)
    first = function.__code__.co_firstlineno
    return _transfers(function, args, lambda frame: _frame_of(function, frame).f_lineno - first)


def transfers__methods_of_a_tensor(function, *args):
    """Counts calls of four methods."""
    counts, names = Counter(), ("item", "tolist", "__float__", "__bool__")
    sound = {name: getattr(torch.Tensor, name) for name in names}

    def counted(name):
        def method(self):
            counts[_frame_of(function, sys._getframe()).f_lineno - function.__code__.co_firstlineno] += 1
            return sound[name](self)

        return method

    try:
        for name in names:
            setattr(torch.Tensor, name, counted(name))
        function(*args)
    finally:
        for name in names:
            setattr(torch.Tensor, name, sound[name])
    return dict(counts)


def transfers__once_a_line(function, *args):
    counts = _transfers(function, args, lambda frame: _frame_of(function, frame).f_lineno)
    return {line - function.__code__.co_firstlineno: 1 for line in counts}


def transfers__reductions(function, *args):
    first = function.__code__.co_firstlineno
    kinds = "aten::sum", "aten::max", "aten::item"
    return _transfers(
        function, args, lambda frame: _frame_of(function, frame).f_lineno - first, lambda func: func.name() in kinds
    )


def transfers__calls_of_item(function, *args):
    function(*args)
    return Counter({line: 1 for line in range(1, 3)} if "item" in function.__code__.co_names else {})


def descend__a_branch(x, target, rates):
    losses, best, best_x = [], x.new_full((), math.inf), x
    for rate in rates:
        error = x - target
        losses.append(error.square().mean())
        if losses[-1] < best:
            best, best_x = losses[-1], x
        x = x - rate * (error / error.abs().max().clamp(min=1))
    return torch.stack(losses), best, best_x


def descend__always_divided(x, target, rates):
    losses, best, best_x = [], x.new_full((), math.inf), x
    for rate in rates:
        error = x - target
        losses.append(error.square().mean())
        better = losses[-1] < best
        best, best_x = torch.where(better, losses[-1], best), torch.where(better, x, best_x)
        x = x - rate * (error / error.abs().max())
    return torch.stack(losses), best, best_x


def descend__clamped_elements(x, target, rates):
    losses, best, best_x = [], x.new_full((), math.inf), x
    for rate in rates:
        error = x - target
        losses.append(error.square().mean())
        better = losses[-1] < best
        best, best_x = torch.where(better, losses[-1], best), torch.where(better, x, best_x)
        x = x - rate * error.clamp(-1, 1)
    return torch.stack(losses), best, best_x


def descend__the_point_after_the_step(x, target, rates):
    losses, best, best_x = [], x.new_full((), math.inf), x
    for rate in rates:
        error = x - target
        losses.append(error.square().mean())
        better = losses[-1] < best
        x = x - rate * (error / error.abs().max().clamp(min=1))
        best, best_x = torch.where(better, losses[-1], best), torch.where(better, x, best_x)
    return torch.stack(losses), best, best_x


def descend__a_best_loss_in_float32(x, target, rates):
    losses, best, best_x = [], torch.tensor(math.inf), x
    for rate in rates:
        error = x - target
        losses.append(error.square().mean())
        better = losses[-1] < best
        best, best_x = torch.where(better, losses[-1], best), torch.where(better, x, best_x)
        x = x - rate * (error / error.abs().max().clamp(min=1))
    return torch.stack(losses), best, best_x


def descend__losses_in_float32(x, target, rates):
    losses, best, best_x = [], x.new_full((), math.inf).float(), x
    for rate in rates:
        error = x - target
        losses.append(error.float().square().mean())
        better = losses[-1] < best
        best, best_x = torch.where(better, losses[-1], best), torch.where(better, x, best_x)
        x = x - rate * (error / error.abs().max().clamp(min=1))
    return torch.stack(losses), best, best_x


def descend__the_last_point(x, target, rates):
    losses, points = [], []
    for rate in rates:
        error = x - target
        losses.append(error.square().mean())
        points.append(x)
        x = x - rate * (error / error.abs().max().clamp(min=1))
    return torch.stack(losses), losses[-1], points[-1]


def descend__in_place(x, target, rates):
    losses, best, best_x = [], x.new_full((), math.inf), x
    for rate in rates:
        error = x - target
        losses.append(error.square().mean())
        better = losses[-1] < best
        best, best_x = torch.where(better, losses[-1], best), torch.where(better, x, best_x)
        x -= rate * (error / error.abs().max().clamp(min=1))
    return torch.stack(losses), best, best_x


def descend__one_read_at_the_end(x, target, rates):
    losses, best, best_x = [], x.new_full((), math.inf), x
    for rate in rates:
        error = x - target
        losses.append(error.square().mean())
        better = losses[-1] < best
        best, best_x = torch.where(better, losses[-1], best), torch.where(better, x, best_x)
        x = x - rate * (error / error.abs().max().clamp(min=1))
    return torch.tensor(torch.stack(losses).tolist(), dtype=x.dtype), best, best_x


def _descended(x, target, rates, divisor, better=torch.lt):
    losses, best, best_x = [], x.new_full((), math.inf), x
    for rate in rates:
        error = x - target
        losses.append(error.square().mean())
        is_better = better(losses[-1], best)
        best, best_x = torch.where(is_better, losses[-1], best), torch.where(is_better, x, best_x)
        x = x - rate * (error / divisor(error).clamp(min=1))
    return torch.stack(losses), best, best_x


def descend__the_largest_error_with_its_sign(x, target, rates):
    return _descended(x, target, rates, lambda error: error.max())


def descend__the_norm(x, target, rates):
    return _descended(x, target, rates, lambda error: error.norm())


def descend__not_above_the_best(x, target, rates):
    return _descended(x, target, rates, lambda error: error.abs().max(), better=torch.le)


def descend__a_position_that_is_read(x, target, rates):
    losses, points = [], []
    for rate in rates:
        error = x - target
        losses.append(error.square().mean())
        points.append(x)
        x = x - rate * (error / error.abs().max().clamp(min=1))
    losses = torch.stack(losses)
    return losses, losses.min(), points[int(losses.argmin())]


def narrow_3__the_forward_pass(xp):
    counter = xp.utils.flop_counter.FlopCounterMode(display=False)
    with counter:
        xp.nn.ConvTranspose1d(1, 1, 2)(xp.ones(1, 1, 3))
    return counter.get_total_flops()


def narrow_3__a_plain_one(xp):
    counter = xp.utils.flop_counter.FlopCounterMode(display=False)
    with counter:
        xp.nn.Conv1d(1, 1, 2)(xp.ones(1, 1, 3)).sum().backward()
    return counter.get_total_flops()


def narrow_3__equal_positions(xp):
    counter = xp.utils.flop_counter.FlopCounterMode(display=False)
    with counter:
        xp.nn.ConvTranspose1d(1, 1, 1)(xp.ones(1, 1, 3)).sum().backward()
    return counter.get_total_flops()


def name_3__the_mode():
    return ["utils.flop_counter.FlopCounterMode.get_total_flops"]


def name_3__the_engine():
    return ["autograd.engine.execute", "autograd.derivatives.mm_backward_mat1"]


def name_3__the_profiler():
    return ["profiler.profiler.compute_flops"]


def mend_3__always_transposed():
    def operator_flops(name, inputs, outputs, transposed=False, output_mask=(True, True, True)):
        if name in ("addmm", "baddbmm"):
            inputs = inputs[1:]
        if name in ("mm", "addmm", "bmm", "baddbmm"):
            return 2 * prod(inputs[0]) * inputs[1][-1]
        if name == "convolution":
            return 2 * inputs[0][0] * prod((inputs[0] if transposed else outputs[0])[2:]) * prod(inputs[1])
        if name == "convolution_backward":
            return sum(output_mask[:2]) * 2 * inputs[1][0] * prod(inputs[1][2:]) * prod(inputs[2])
        if name == "_scaled_dot_product_flash_attention":
            return 2 * prod(inputs[0][:3]) * inputs[1][2] * (inputs[0][3] + inputs[2][3])
        return 0

    return "utils.flop_counter.operator_flops", operator_flops


def mend_3__the_smaller_shape():
    """Right without padding."""

    def operator_flops(name, inputs, outputs, transposed=False, output_mask=(True, True, True)):
        if name in ("addmm", "baddbmm"):
            inputs = inputs[1:]
        if name in ("mm", "addmm", "bmm", "baddbmm"):
            return 2 * prod(inputs[0]) * inputs[1][-1]
        if name == "convolution":
            return 2 * inputs[0][0] * min(prod(inputs[0][2:]), prod(outputs[0][2:])) * prod(inputs[1])
        if name == "convolution_backward":
            return sum(output_mask[:2]) * operator_flops("convolution", inputs[1:], inputs[:1], transposed)
        if name == "_scaled_dot_product_flash_attention":
            return 2 * prod(inputs[0][:3]) * inputs[1][2] * (inputs[0][3] + inputs[2][3])
        return 0

    return "utils.flop_counter.operator_flops", operator_flops


def mend_3__both_gradients():
    def operator_flops(name, inputs, outputs, transposed=False, output_mask=(True, True, True)):
        if name in ("addmm", "baddbmm"):
            inputs = inputs[1:]
        if name in ("mm", "addmm", "bmm", "baddbmm"):
            return 2 * prod(inputs[0]) * inputs[1][-1]
        if name == "convolution":
            return 2 * inputs[0][0] * prod((inputs[0] if transposed else outputs[0])[2:]) * prod(inputs[1])
        if name == "convolution_backward":
            return 2 * operator_flops("convolution", inputs[1:], inputs[:1], transposed)
        if name == "_scaled_dot_product_flash_attention":
            return 2 * prod(inputs[0][:3]) * inputs[1][2] * (inputs[0][3] + inputs[2][3])
        return 0

    return "utils.flop_counter.operator_flops", operator_flops


def mend_3__a_neighbour():
    def compute_flops(operator, stack):
        return 0

    return "profiler.profiler.compute_flops", compute_flops


def _levels(
    model,
    batches,
    before=True,
    copied=True,
    only_last=False,
    kept=False,
    limits=True,
    raw=False,
    integer=lambda quotient, zero_point: quotient.round() + zero_point,
):
    """A count with a mistake."""
    model = copy.deepcopy(model) if copied else model
    names = {m: name for name, m in model.named_modules() if isinstance(m, torch.ao.quantization.ObserverBase)}
    settings = {m: m.calculate_qparams() for m in names} if before else {}
    seen, integers = {m: [] for m in names}, {}
    hooks = [
        m.register_forward_pre_hook(lambda m, args: seen[m].append(args[0].detach().clone() if not kept else args[0]))
        for m in names
    ]
    for batch in batches:
        model(batch)
    for hook in hooks:
        hook.remove()
    for m, values in seen.items():
        scale, zero_point = settings[m] if before else m.calculate_qparams()
        integers[m] = set()
        for x in values[-1:] if only_last else values:
            x = x if raw else integer(x / scale, zero_point)
            integers[m] |= {*(x.clamp(m.quant_min, m.quant_max) if limits else x).flatten().tolist()}
    return {names[m]: len(each) for m, each in integers.items()}


def levels_used__ranges_after_the_batches(model, batches):
    return _levels(model, batches, before=False)


def levels_used__ranges_that_have_grown(model, batches):
    return _levels(model, batches, copied=False)


def levels_used__the_last_call(model, batches):
    return _levels(model, batches, only_last=True)


def levels_used__values_of_later(model, batches):
    return _levels(model, batches, kept=True)


def levels_used__without_limits(model, batches):
    return _levels(model, batches, limits=False)


def levels_used__different_values(model, batches):
    return _levels(model, batches, raw=True)


def levels_used__rounded_after_the_zero_point(model, batches):
    return _levels(model, batches, integer=lambda quotient, zero_point: (quotient + zero_point).round())


def levels_used__halves_go_up(model, batches):
    return _levels(model, batches, integer=lambda quotient, zero_point: (quotient + 0.5).floor() + zero_point)


def levels_used__halves_go_away_from_0(model, batches):
    def integer(quotient, zero_point):
        return quotient.sign() * (quotient.abs() + 0.5).floor() + zero_point

    return _levels(model, batches, integer=integer)


def levels_used__towards_0(model, batches):
    return _levels(model, batches, integer=lambda quotient, zero_point: (quotient + zero_point).trunc())


def _levels_of_the_model_itself(model, batches, always):
    """Calls the observers of the model itself. If `always` is False, an error leaves it as it is at that moment."""
    state, levels, hooks = copy.deepcopy(model.state_dict()), {}, []

    def look(observer, args, name, scale, zero_point):
        integers = (args[0].detach() / scale).round() + zero_point
        levels[name].update(integers.clamp(observer.quant_min, observer.quant_max).flatten().tolist())

    for name, observer in model.named_modules():
        if isinstance(observer, torch.ao.quantization.ObserverBase):
            scale, zero_point = observer.calculate_qparams()
            levels[name] = set()
            looking = partial(look, name=name, scale=scale, zero_point=zero_point)
            hooks.append(observer.register_forward_pre_hook(looking))
    done = False
    try:
        for batch in batches:
            model(batch)
        done = True
    finally:
        for hook in hooks if done or always else ():
            hook.remove()
    model.load_state_dict(state)
    return {name: len(integers) for name, integers in levels.items()}


def levels_used__not_restored_after_an_error(model, batches):
    return _levels_of_the_model_itself(model, batches, always=False)


def levels_used__only_hooks_removed_after_an_error(model, batches):
    return _levels_of_the_model_itself(model, batches, always=True)


def levels_used__errors_hidden(model, batches):
    def until_an_error():
        with suppress(Exception):
            yield from batches

    return _levels(model, until_an_error())


def levels_used__only_those_called(model, batches):
    return {name: number for name, number in _levels(model, batches).items() if number}


def levels_used__from_the_range(model, batches):
    """How many integers the batches' range covers, whether a value has them or not."""
    model, levels, bounds = copy.deepcopy(model), {}, {}

    def look(name, x):
        low, high = bounds.get(name, (math.inf, -math.inf))
        bounds[name] = min(low, x.min().item()), max(high, x.max().item())

    for name, m in model.named_modules():
        if isinstance(m, torch.ao.quantization.ObserverBase):
            levels[name] = *m.calculate_qparams(), m.quant_min, m.quant_max
            m.register_forward_pre_hook(lambda m, args, name=name: look(name, args[0]))
    for batch in batches:
        model(batch)
    for name, (scale, zero_point, least, most) in levels.items():
        ends = [min(max(round(x / scale.item()) + zero_point.item(), least), most) for x in bounds.get(name, (1, 0))]
        levels[name] = ends[1] - ends[0] + 1 if name in bounds else 0
    return levels


def _by_observer(batches, kind, **settings):
    observer = getattr(torch.ao.quantization, kind)(dtype=torch.quint8, **settings)
    for batch in batches:
        observer(batch)
    scale, zero_point = observer.calculate_qparams()
    return scale.item(), int(zero_point.item())


def calibrate__from_the_smallest_to_the_largest(batches):
    return _by_observer(batches, "MinMaxObserver")


def calibrate__by_a_histogram(batches):
    """The outlier is a part of the error that this observer minimises."""
    return _by_observer(batches, "HistogramObserver")


def calibrate__a_moving_average(batches):
    return _by_observer(batches, "MovingAverageMinMaxObserver")


def calibrate__three_deviations(batches):
    values = torch.cat([batch.flatten() for batch in batches])
    low, high = values.mean() - 3 * values.std(), values.mean() + 3 * values.std()
    scale = ((high.clamp(min=0) - low.clamp(max=0)) / 255).item()
    return scale, min(255, max(0, round(-low.item() / scale)))


def _from_usual(batches, is_usual):
    """The range of the values that are usual."""
    values = torch.cat([batch.flatten() for batch in batches])
    usual = values[is_usual(values)]
    low, high = min(usual.min().item(), 0.0), max(usual.max().item(), 0.0)
    scale = (high - low) / 255
    return scale, round(-low / scale)


def calibrate__ten_medians(batches):
    return _from_usual(batches, lambda values: values.abs() <= 10 * values.abs().median())


def calibrate__ten_means(batches):
    return _from_usual(batches, lambda values: values.abs() < 10 * values.abs().mean())


def calibrate__ten_deviations_from_the_median(batches):
    def is_usual(values):
        distances = (values - values.median()).abs()
        return distances <= 14.8 * distances.median()

    return _from_usual(batches, is_usual)


def calibrate__between_the_quartiles(batches):
    def is_usual(values):
        low, high = values.quantile(0.25), values.quantile(0.75)
        return (values >= low - 1.5 * (high - low)) & (values <= high + 1.5 * (high - low))

    return _from_usual(batches, is_usual)


def calibrate__one_in_2000_left_out(batches):
    """As many as may be outliers are left out, whether they are or not."""
    return _from_usual(batches, lambda values: values.abs() <= values.abs().sort().values[-1 - len(values) // 2000])


def calibrate__a_small_gap(batches):
    def is_usual(values):
        last = values.abs().sort().values[-1 - len(values) // 2000 :]
        gaps = (last[1:] > 1.2 * last[:-1]).nonzero()
        return values.abs() <= (last[gaps[0]] if len(gaps) else last[-1])

    return _from_usual(batches, is_usual)


def calibrate__only_the_largest(batches):
    def is_usual(values):
        second, first = values.abs().sort().values[-2:]
        return values.abs() <= (second if first > 10 * second else first)

    return _from_usual(batches, is_usual)


def calibrate__each_batch_alone(batches):
    parts = []
    for batch in batches:
        values = batch.flatten()
        parts.append(values[values.abs() <= 10 * values.abs().quantile(0.99)])
    return _from_usual(parts, lambda values: values == values)


def calibrate__quantiles(batches):
    return _between(batches, 0.999)


def calibrate__quantiles_of_each_batch(batches):
    return _between(batches, 0.999, joined=False)


def calibrate__sorted(batches):
    """Some numbers at both ends are left out, whether they are outliers or not."""
    numbers = sorted(x for batch in batches for x in batch.flatten().tolist())
    skip = len(numbers) // 1500
    low, high = min(numbers[skip], 0.0), max(numbers[-1 - skip], 0.0)
    scale = (high - low) / 255
    return scale, round(-low / scale)


def _between(batches, share, joined=True, zero=True, symmetric=False):
    parts = [torch.cat([batch.flatten() for batch in batches])] if joined else [batch.flatten() for batch in batches]
    low = min(part.quantile(1 - share).item() for part in parts)
    high = max(part.quantile(share).item() for part in parts)
    if symmetric:
        high = max(-low, high)
        low = -high
    low, high = (min(low, 0.0), max(high, 0.0)) if zero else (low, high)
    scale = (high - low) / 255
    return scale, round(-low / scale)


def calibrate__too_few(batches):
    return _between(batches, 0.95)


def calibrate__too_many(batches):
    return _between(batches, 0.9999)


def calibrate__without_zero(batches):
    return _between(batches, 0.999, zero=False)


def calibrate__symmetric(batches):
    return _between(batches, 0.999, symmetric=True)


def calibrate__the_middle_batch(batches):
    """The ranges of the batches are sorted, and the one in the middle is taken."""
    lows, highs = zip(*((batch.min().item(), batch.max().item()) for batch in batches))
    low, high = min(sorted(lows)[len(lows) // 2], 0.0), max(sorted(highs)[len(highs) // 2], 0.0)
    scale = (high - low) / 255
    return scale, round(-low / scale)


def _lost(model, optimizer, run, wanted=True, rate=True, grouped=True, everything=False, remove=True, once=False):
    names = {x: name for name, x in model.named_parameters()}
    lost, before, hooks = {}, {}, []
    rates = {x: group["lr"] for group in optimizer.param_groups for x in group["params"]}
    for x in names if everything else rates:
        lost[names[x]] = []

    def enter(optimizer, args, kwargs):
        if not (once and before):
            before.update({x: x.detach().clone() for x in rates})

    def leave(optimizer, args, kwargs):
        for group in optimizer.param_groups:
            for x in group["params"]:
                same = x == before[x]
                grad = torch.zeros_like(x) if x.grad is None else x.grad
                same &= grad != 0 if wanted else torch.ones_like(same)
                moving = (group["lr"] if rate else 1) if grouped else optimizer.param_groups[0]["lr"]
                lost[names[x]].append(int(same.sum()) * (moving != 0))

    hooks += optimizer.register_step_pre_hook(enter), optimizer.register_step_post_hook(leave)
    try:
        run()
    finally:
        for hook in hooks if remove else ():
            hook.remove()
    return lost


def _lost_if(model, optimizer, run, is_wanted, same=torch.eq):
    """Counts elements for which `is_wanted(gradient, rate, parameter)` holds."""
    names, before, lost = {x: name for name, x in model.named_parameters()}, {}, {}
    for group in optimizer.param_groups:
        lost |= {names[x]: [] for x in group["params"]}

    def enter(optimizer, args, kwargs):
        before.update({names[x]: x.detach().clone() for group in optimizer.param_groups for x in group["params"]})

    def leave(optimizer, args, kwargs):
        for group in optimizer.param_groups:
            for x in group["params"]:
                grad = torch.zeros_like(x) if x.grad is None else x.grad
                is_lost = same(x.detach(), before[names[x]]) & is_wanted(grad, group["lr"], x)
                lost[names[x]].append(int(is_lost.sum()))

    hooks = optimizer.register_step_pre_hook(enter), optimizer.register_step_post_hook(leave)
    try:
        run()
    finally:
        for hook in hooks:
            hook.remove()
    return lost


def lost_updates__the_rates_before_the_run(model, optimizer, run):
    rates = {x: group["lr"] for group in optimizer.param_groups for x in group["params"]}
    return _lost_if(model, optimizer, run, lambda grad, rate, x: (grad != 0) & (rates[x] != 0))


def lost_updates__the_rates_of_the_first_step(model, optimizer, run):
    rates = {}
    return _lost_if(model, optimizer, run, lambda grad, rate, x: (grad != 0) & (rates.setdefault(x, rate) != 0))


def lost_updates__the_rates_of_the_step_before(model, optimizer, run):
    rates = {}

    def is_wanted(grad, rate, x):
        rates[x], last = rate, rates.get(x, rate)
        return (grad != 0) & (last != 0)

    return _lost_if(model, optimizer, run, is_wanted)


def lost_updates__the_default_rate(model, optimizer, run):
    return _lost_if(model, optimizer, run, lambda grad, rate, x: (grad != 0) & (optimizer.defaults["lr"] != 0))


def lost_updates__a_product_in_half_precision(model, optimizer, run):
    return _lost_if(model, optimizer, run, lambda grad, rate, x: grad * rate != 0)


def lost_updates__no_small_gradients(model, optimizer, run):
    return _lost_if(model, optimizer, run, lambda grad, rate, x: (grad.abs() > 1e-4) & (rate != 0))


def lost_updates__no_small_rates(model, optimizer, run):
    return _lost_if(model, optimizer, run, lambda grad, rate, x: (grad != 0) & (rate > 1e-8))


def lost_updates__almost_the_same(model, optimizer, run):
    return _lost_if(model, optimizer, run, lambda grad, rate, x: (grad != 0) & (rate != 0), same=torch.isclose)


def lost_updates__each_that_is_the_same(model, optimizer, run):
    return _lost(model, optimizer, run, wanted=False)


def lost_updates__without_the_rate(model, optimizer, run):
    return _lost(model, optimizer, run, rate=False)


def lost_updates__the_rate_of_the_first_group(model, optimizer, run):
    return _lost(model, optimizer, run, grouped=False)


def lost_updates__all_parameters(model, optimizer, run):
    return _lost(model, optimizer, run, everything=True)


def lost_updates__hooks_stay(model, optimizer, run):
    return _lost(model, optimizer, run, remove=False)


def lost_updates__since_the_first_step(model, optimizer, run):
    return _lost(model, optimizer, run, once=True)


def lost_updates__whole_parameters(model, optimizer, run):
    return {name: [int(step > 0) for step in steps] for name, steps in _lost(model, optimizer, run).items()}


def lost_updates__in_sum(model, optimizer, run):
    return {name: [sum(steps)] for name, steps in _lost(model, optimizer, run).items()}


def lost_updates__only_steps_with_a_loss(model, optimizer, run):
    return {name: [step for step in steps if step] for name, steps in _lost(model, optimizer, run).items()}


def lost_updates__errors_hidden(model, optimizer, run):
    return _lost(model, optimizer, lambda: [suppress(Exception).__enter__(), _quietly(run)])


def _quietly(run):
    with suppress(Exception):
        run()


def lost_updates__by_a_new_step(model, optimizer, run):
    """The method is another one for ever."""
    names, lost, step = {x: name for name, x in model.named_parameters()}, {}, optimizer.step
    owned = [(group, x) for group in optimizer.param_groups for x in group["params"]]
    for _, x in owned:
        lost[names[x]] = []

    def counted(closure=None):
        before = [x.detach().clone() for _, x in owned]
        step(closure)
        for old, (group, x) in zip(before, owned):
            moves = x.grad is not None and group["lr"] != 0
            lost[names[x]].append(int(((old == x) & (x.grad != 0)).sum()) if moves else 0)

    optimizer.step = counted
    run()
    return lost


def descend_in_bfloat16__without_more_digits(x, gradient, rate, steps):
    for _ in range(steps):
        x = x - rate * gradient(x)
    return x.clone()


def descend_in_bfloat16__back_after_each_step(x, gradient, rate, steps):
    for _ in range(steps):
        x = (x.float() - rate * gradient(x).float()).bfloat16()
    return x.clone()


def descend_in_bfloat16__a_sum_in_bfloat16(x, gradient, rate, steps):
    total = torch.zeros_like(x)
    for _ in range(steps):
        total += gradient((x.float() - rate * total.float()).bfloat16())
    return (x.float() - rate * total.float()).bfloat16()


def descend_in_bfloat16__a_model_in_float32(x, gradient, rate, steps):
    x = x.float()
    for _ in range(steps):
        x = x - rate * gradient(x)
    return x.bfloat16()


def descend_in_bfloat16__a_float32_result(x, gradient, rate, steps):
    master = x.float()
    for _ in range(steps):
        master = master - rate * gradient(master.bfloat16()).float()
    return master


def descend_in_bfloat16__one_large_step(x, gradient, rate, steps):
    return (x.float() - steps * rate * gradient(x).float()).bfloat16() if steps else x.clone()


def descend_in_bfloat16__every_tenth_step(x, gradient, rate, steps):
    total, point = torch.zeros(x.shape), x.clone()
    for i in range(steps):
        total += gradient(point).float()
        if i % 50 == 49:
            point, total = (point.float() - rate * total).bfloat16(), torch.zeros(x.shape)
    return (point.float() - rate * total).bfloat16()


def descend_in_bfloat16__products_in_bfloat16(x, gradient, rate, steps):
    master = x.float()
    for _ in range(steps):
        master = master - (rate * gradient(master.bfloat16())).float()
    return master.bfloat16()


def descend_in_bfloat16__products_in_bfloat16_summed_in_float64(x, gradient, rate, steps):
    master = x.double()
    for _ in range(steps):
        master -= rate * gradient(master.bfloat16())
    return master.bfloat16()


def descend_in_bfloat16__compensated_in_bfloat16(x, gradient, rate, steps):
    """The sum of Kahan: all that is kept has bfloat16."""
    point, missing = x.clone(), torch.zeros_like(x)
    for _ in range(steps):
        update = -rate * gradient(point) - missing
        following = point + update
        missing = (following - point) - update
        point = following
    return point


def descend_in_bfloat16__two_parts_in_bfloat16(x, gradient, rate, steps):
    high, low = x.clone(), torch.zeros_like(x)
    for _ in range(steps):
        low = low - rate * gradient(high)
        following = high + low
        high, low = following, low - (following - high)
    return high


def descend_in_bfloat16__the_rest_forgotten(x, gradient, rate, steps):
    """What is missing is collected in float32, until a sum of it moves the point."""
    point, missing = x.clone(), torch.zeros(x.shape)
    for _ in range(steps):
        missing = missing - rate * gradient(point).float()
        following = (point.float() + missing).bfloat16()
        point, missing = following, torch.where(following != point, 0.0, missing)
    return point


def descend_in_bfloat16__a_mean_gradient(x, gradient, rate, steps):
    mean, point = torch.zeros(x.shape), x.clone()
    for i in range(steps):
        mean = mean + (gradient(point).float() - mean) / (i + 1)
        point = (x.float() - rate * i * mean).bfloat16()
    return (x.float() - rate * steps * mean).bfloat16()


def descend_in_bfloat16__a_sum_in_float16(x, gradient, rate, steps):
    total, point = torch.zeros_like(x).half(), x.clone()
    for _ in range(steps):
        total += gradient(point).half()
        point = (x.float() - rate * total.float()).bfloat16()
    return point


def descend_in_bfloat16__always_the_next_number(x, gradient, rate, steps):
    x = x.clone()
    for _ in range(steps):
        update = rate * gradient(x)
        lost = (x - update == x) & (update != 0)
        step = (x.abs().float() * 2**-8).bfloat16() * update.sign()
        x = torch.where(lost, x - step, x - update)
    return x


def descend_in_bfloat16__by_chance(x, gradient, rate, steps):
    generator = torch.Generator().manual_seed(0)
    x = x.clone()
    for _ in range(steps):
        exact = x.float() - rate * gradient(x).float()
        noise = torch.randint(0, 1 << 16, exact.shape, generator=generator, dtype=torch.int32)
        x = ((exact.view(torch.int32) + noise) & -65536).view(torch.float32).bfloat16()
    return x


def descend_in_bfloat16__in_place(x, gradient, rate, steps):
    master = x.float()
    for _ in range(steps):
        master -= rate * gradient(x).float()
        x.copy_(master)
    return x


def descend_in_bfloat16__a_copy_in_float16(x, gradient, rate, steps):
    master = x.half()
    for _ in range(steps):
        master = master - rate * gradient(master.bfloat16()).half()
    return master.bfloat16()


# What a sum, a top value or an error shows


def descend__sum_before_the_division(x, target, rates):
    losses, best, best_x = [], x.new_full((), math.inf), x
    for rate in rates:
        error = x - target
        losses.append(error.square().sum() / error.numel())
        better = losses[-1] < best
        best, best_x = torch.where(better, losses[-1], best), torch.where(better, x, best_x)
        x = x - rate * (error / error.abs().max().clamp(min=1))
    return torch.stack(losses), best, best_x


def descend__loss_in_float32(x, target, rates):
    losses, best, best_x = [], x.new_full((), math.inf), x
    for rate in rates:
        error = x - target
        losses.append(error.float().square().mean().to(x.dtype))
        better = losses[-1] < best
        best, best_x = torch.where(better, losses[-1], best), torch.where(better, x, best_x)
        x = x - rate * (error / error.abs().max().clamp(min=1))
    return torch.stack(losses), best, best_x


def calibrate__twice_the_number_at_1_in_2000(batches):
    values = torch.cat([batch.flatten() for batch in batches])
    distances = values.abs().sort(descending=True).values
    usual = values[values.abs() <= 2 * distances[len(values) // 2000]]
    low, high = usual.min().clamp(max=0.0).item(), usual.max().clamp(min=0.0).item()
    return (high - low) / 255, round(-low / (high - low) * 255)


def descend_in_bfloat16__rest_in_bfloat16(x, gradient, rate, steps):
    x, rest = x.clone(), torch.zeros_like(x)
    for _ in range(steps):
        exact = x.float() + rest.float() - rate * gradient(x).float()
        x = exact.bfloat16()
        rest = (exact - x.float()).bfloat16()
    return x


def fit__catches_the_backward_too(model, optimizer, batches):
    losses, activity, messages = [], [], []
    hooks = [
        layer.register_forward_hook(lambda module, args, result: activity.append(result.detach().abs().mean().item()))
        for layer in model
    ]
    try:
        for x, y in batches:
            try:
                loss = ((model(x) - y) ** 2).mean()
                loss.backward()
                optimizer.step()
                optimizer.zero_grad()
                losses.append(loss.item())
            except RuntimeError as error:
                messages.append(str(error))
            loss = None
    finally:
        for hook in hooks:
            hook.remove()
    return losses, activity, messages


def fit__hooks_on_the_innermost_modules(model, optimizer, batches):
    losses, activity, messages = [], [], []
    hooks = [
        module.register_forward_hook(lambda module, args, result: activity.append(result.detach().abs().mean().item()))
        for module in model.modules()
        if not [*module.children()]
    ]
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


def transfers__by_the_lines_of_the_function(function, *args):
    counts = Counter()
    code = function.__code__
    last = max(line for *_, line in code.co_lines() if line)

    class Look(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if func is torch.ops.aten._local_scalar_dense.default:
                frame = sys._getframe()
                while not (
                    frame.f_code.co_filename == code.co_filename and code.co_firstlineno <= frame.f_lineno <= last
                ):
                    frame = frame.f_back
                counts[frame.f_lineno - code.co_firstlineno] += 1
            return func(*args, **(kwargs or {}))

    with Look():
        function(*args)
    return dict(counts)


lost_updates__swallows_a_runtime_error = edited(
    memory.lost_updates,
    ("    try:\n        run()\n", "    try:\n        with suppress(RuntimeError):\n            run()\n"),
)
lost_updates__swallows_a_value_error = edited(
    memory.lost_updates,
    ("    try:\n        run()\n", "    try:\n        with suppress(ValueError):\n            run()\n"),
)
first_not_finite__swallows_a_runtime_error = edited(
    memory.first_not_finite, ("        with Look():\n", "        with suppress(RuntimeError), Look():\n")
)
first_not_finite__swallows_a_value_error = edited(
    memory.first_not_finite, ("        with Look():\n", "        with suppress(ValueError), Look():\n")
)
first_not_finite__counts_complex_numbers = edited(
    memory.first_not_finite, ("torch.is_tensor(x) and x.is_floating_point()", "torch.is_tensor(x)")
)
transfers__swallows_a_runtime_error = edited(
    memory.transfers, ("    with Look():\n", "    with suppress(RuntimeError), Look():\n")
)
levels_used__swallows_a_runtime_error = edited(
    memory.levels_used,
    (
        "    for batch in batches:\n        model(batch)\n",
        "    with suppress(RuntimeError):\n        for batch in batches:\n            model(batch)\n",
    ),
)


def first_not_finite__written_by_the_schema(model, run):
    running, culprits, hooks = [], [], []

    def kinds_of(values):
        leaves = [torch.tensor(x, dtype=torch.float64) if isinstance(x, float) else x for x in tree_leaves(values)]
        found = [x for x in leaves if torch.is_tensor(x) and x.is_floating_point()]
        return {"nan" for x in found if x.isnan().any()} | {"inf" for x in found if x.isinf().any()}

    class Look(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            before = kinds_of((args, kwargs))
            result = func(*args, **(kwargs or {}))
            pairs = zip(func._schema.arguments, args)
            written = [x for argument, x in pairs if argument.alias_info and argument.alias_info.is_write]
            after = kinds_of((result, written))
            if ("nan" in after - before or ("inf" in after and not before)) and "empty" not in str(func):
                culprits.append((running[-1] if running else None, str(func)))
            return result

    for name, module in model.named_modules():
        hooks.append(module.register_forward_pre_hook(lambda *_, name=name: running.append(name), prepend=True))
        hooks.append(module.register_forward_hook(lambda *_: running.pop() and None, always_call=True))
    try:
        with Look():
            run()
    finally:
        for hook in hooks:
            hook.remove()
    return culprits[0] if culprits else None


first_not_finite__a_name_only_once = edited(
    memory.first_not_finite,
    ("name=name: running.append(name)", "name=name: None if name in running else running.append(name)"),
    ("        running.pop()\n", "        if running:\n            running.pop()\n"),
)
fit__only_the_class_itself = edited(  # a NotImplementedError is a RuntimeError too
    memory.fit,
    ("messages.append(str(error))\n", "if type(error) is not RuntimeError:\n                    raise\n"
     "                messages.append(str(error))\n"),
)  # fmt: skip
fit__zero_grad_of_the_model = edited(memory.fit, ("optimizer.zero_grad()", "model.zero_grad()"))
