"""Wrong answers to lab 13e that a student might well give: each is refused.

A function's name is its exercise's, two underscores, and what is wrong.
"""

# ruff: noqa: F821 (a mend sees the names of the module in which it is planted)

import gc
import math
import sys
import traceback
from collections import Counter
from contextlib import suppress

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map_only


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
):
    """A loop that keeps something."""
    losses, activity, messages = [], [], []
    hooks = [layer.register_forward_hook(lambda module, args, result: activity.append(look(result))) for layer in model]
    for x, y in batches:
        try:
            loss = ((model(x) - y) ** 2).mean()
        except RuntimeError as error:
            messages.append(text(error))
            continue
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(number(loss))
    for hook in hooks:
        hook.remove() if remove else None
    return losses, activity, messages


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
):
    """A search with a mistake."""
    new = new or (lambda before, after: "nan" in after - before or "inf" in after and not before)
    running, culprits = [], []

    class Look(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            before = set() if late else _not_finite(given(args, kwargs))
            result = func(*args, **(kwargs or {}))
            before = _not_finite(given(args, kwargs)) if late else before
            if new(before, _not_finite(result_of(result))) and not (empty and "empty" in str(func)):
                culprits.append((running[inner] if running else None, str(func)))
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
            after = _not_finite(result)
            if ("nan" in after - before or "inf" in after and not before) and "empty" not in str(func):
                culprits.append((running[-1] if running else None, str(func)))
            return result

    hooks = []
    for name, module in model.named_modules():
        hooks.append(module.register_forward_pre_hook(lambda *_, name=name: running.append(name)))
        hooks.append(module.register_forward_hook(lambda *_: [running.pop()][:0] or None))
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
