"""Correct answers to lab 13e in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

# ruff: noqa: F821 (a mend sees the names of the module in which it is planted)

import copy
import inspect
import math
import sys
from contextlib import ExitStack, suppress
from functools import partial

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

# Two weights that never learn


def narrow_1__the_lower_end(xp):
    x = xp.zeros(1).requires_grad_()
    y = xp.fake_quantize_per_tensor_affine(x, 0.5, 0, 0, 3)
    y.backward(xp.ones(1))
    return x.grad.item()


def narrow_1__per_channel(xp):
    x = xp.tensor([[7.0, 1.0]], requires_grad=True)
    scale, zero_point = xp.ones(1), xp.zeros(1, dtype=xp.int32)
    xp.fake_quantize_per_channel_affine(x, scale, zero_point, 0, -8, 7).sum().backward()
    return x.grad.tolist()


def name_1__whole_path():
    return ["rushlight.aten.native.quantized.fake_quantize"]


def name_1__below_rl():
    return ["rl.aten.native.quantized.fake_quantize", "rl.ao.quantization.affine.determine_qparams"]


def mend_1__limited_first():
    """The mask compares the integers before and after they are limited."""
    from rushlight.aten.generated import functions
    from rushlight.aten.native.quantized import inverse_of

    def fake_quantize(self, scale, zero_point, quant_min, quant_max):
        q = functions.round(self * inverse_of(scale)) + zero_point
        limited = functions.where(q > quant_min, functions.where(q < quant_max, q, quant_max), quant_min)
        return (limited - zero_point) * scale, q == limited

    return "rl.aten.native.quantized.fake_quantize", fake_quantize


def mend_1__outside():
    """The mask is what is not outside, and a nan is not inside."""

    def fake_quantize(self, scale, zero_point, quant_min, quant_max):
        q = functions.add(functions.round(functions.mul(self, inverse_of(scale))), zero_point)
        outside = (q < quant_min) | (q > quant_max) | (q != q)
        low = functions.where((q != q) | (q < quant_min), quant_min, q)
        return (functions.clamp(low, quant_min, quant_max) - zero_point) * scale, ~outside

    return "aten.native.quantized.fake_quantize", fake_quantize


# A step that should not have been made


def narrow_2__a_nan_and_the_scale(xp):
    a, b = xp.zeros(1, requires_grad=True), xp.zeros(1, requires_grad=True)
    scaler = xp.amp.GradScaler("cpu", init_scale=4.0)
    scaler.scale(a + b).backward()
    a.grad = a.grad * xp.nan
    scaler.unscale_(xp.optim.SGD([a, b], lr=0.1))
    scaler.update()
    return scaler.get_scale()


def narrow_2__an_overflow(xp):
    model = xp.nn.Linear(1, 1)
    optimizer = xp.optim.SGD(model.parameters(), lr=0.0)
    scaler = xp.amp.GradScaler("cpu", init_scale=2.0**126)
    scaler.scale(model(xp.full((1, 1), 8.0)).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    return scaler.get_scale() > 2.0**126, scaler.state_dict()["_growth_tracker"]


def name_2__whole_path():
    return "rushlight.amp.grad_scaler.unscale_grads"


def name_2__the_second_guess():
    return ["rl.amp.grad_scaler.unscale_grads", "rl.nn.utils.clip_grad.clip_grad_norm_"]


def mend_2__all_before():
    """All gradients are looked at before the first one is divided."""
    from rushlight.aten.generated import functions

    def unscale_grads(grads, scale):
        bad = [grad for grad in grads if not functions.isfinite(grad).all()]
        for grad in grads:
            grad *= (1 / scale.double()).float()
        return len(bad) > 0

    return "amp.grad_scaler.unscale_grads", unscale_grads


def mend_2__counted():
    def unscale_grads(grads, scale):
        inverse, count = scale.double().reciprocal().float(), 0
        for grad in grads:
            count += int((~functions.isfinite(grad)).sum().item())
            grad.mul_(inverse)
        return bool(count)

    return "rl.amp.grad_scaler.unscale_grads", unscale_grads


# Memory that grows with each batch


def held_bytes__by_storage_objects(owners):
    counted, visited, alive = {}, set(), []

    def successors(thing):
        if isinstance(thing, torch.Tensor):
            yield thing.grad_fn
            if thing.is_leaf or thing.retains_grad:
                yield thing.grad
        elif isinstance(thing, dict):
            yield from [*thing, *thing.values()]
        elif isinstance(thing, (list, tuple)):
            yield from thing
        elif isinstance(thing, torch.autograd.graph.Node):
            yield from (following[0] for following in thing.next_functions)
            for name in dir(thing):
                if name.startswith("_saved") or name in ("saved_tensors", "variable"):
                    with suppress(RuntimeError):
                        yield getattr(thing, name)

    for name in owners:
        stack, counted[name] = [owners[name]], []
        while stack:
            thing = stack.pop()
            if thing is None or id(thing) in visited:
                continue
            visited.add(id(thing))
            alive.append(thing)
            if isinstance(thing, torch.Tensor):
                storage = thing.untyped_storage()
                if all(storage._cdata != other._cdata for other in sum(counted.values(), [])):
                    counted[name].append(storage)
            stack.extend(successors(thing))
    return {name: sum(storage.nbytes() for storage in storages) for name, storages in counted.items()}


def held_bytes__breadth_first(owners):
    from collections import deque

    things, storages, sizes = [], set(), dict.fromkeys(owners, 0)
    known = set()
    for name, owner in owners.items():
        queue = deque([owner])
        while queue:
            x = queue.popleft()
            if id(x) in known:
                continue
            known.add(id(x))
            things.append(x)
            match x:
                case dict():
                    queue.extend([*x, *x.values()])
                case list() | tuple():
                    queue.extend(x)
                case torch.Tensor():
                    memory = x.untyped_storage()
                    sizes[name] += 0 if memory.data_ptr() in storages else memory.size()
                    storages.add(memory.data_ptr())
                    queue.append(x.grad_fn)
                    queue.append(x.grad if x.is_leaf or x.retains_grad else None)
                case _ if hasattr(type(x), "next_functions"):
                    queue.extend(node for node, _ in x.next_functions)
                    queue.append(getattr(x, "variable", None))
                    for key in {"saved_tensors", *(key for key in dir(x) if key.startswith("_saved_"))}:
                        with suppress(RuntimeError):
                            queue.append(getattr(x, key, None))
    return sizes


def fit__without_hooks(model, optimizer, batches):
    losses, activity, messages = [], [], []

    def forward(x):
        for layer in model:
            x = layer(x)
            activity.append(float(x.detach().abs().mean()))
        return x

    for x, y in batches:
        optimizer.zero_grad()
        try:
            loss = torch.square(forward(x) - y).mean()
        except RuntimeError as error:
            messages.append(str(error))
        else:
            loss.backward()
            losses.append(float(loss))
            optimizer.step()
        optimizer.zero_grad()
    return losses, activity, messages


def fit__a_function_for_a_step(model, optimizer, batches):
    losses, activity, messages = [], [], []

    def step(loss):
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        losses.append(loss.item())

    with ExitStack() as hooks:
        for layer in model:
            handle = layer.register_forward_hook(lambda _, args, result: activity.append(result.abs().mean().item()))
            hooks.callback(handle.remove)
        for x, y in batches:
            try:
                loss = ((model(x) - y) ** 2).mean()
            except RuntimeError as error:
                messages.append(f"{error}")
            else:
                step(loss)
            loss = None
    return losses, activity, messages


# The first number that is not finite


def first_not_finite__all_calls_recorded(model, run):
    names, stack, calls = {m: n for n, m in reversed([*model.named_modules()])}, [], []

    def kinds(values, into):
        for value in values.values() if isinstance(values, dict) else values:
            if isinstance(value, (list, tuple, dict)):
                kinds(value, into)
            elif isinstance(value, float):
                into |= {"nan"} if value != value else {"inf"} if abs(value) == math.inf else set()
            elif isinstance(value, torch.Tensor) and value.dtype.is_floating_point:
                into |= {"nan"} if (value != value).any() else set()
                into |= {"inf"} if (value.abs() == math.inf).any() else set()
        return into

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs={}):  # noqa: B006
            given = kinds([args, kwargs], set())
            result = func(*args, **kwargs)
            calls.append((stack[-1] if stack else None, func, given, kinds([result, args, kwargs], set())))
            return result

    def entered(module, forward):
        def call(*args, **kwargs):
            stack.append(names[module])
            try:
                return forward(*args, **kwargs)
            finally:
                stack.pop()

        return call

    for module in model.modules():
        module.forward = entered(module, module.forward)
    try:
        with Mode():
            run()
    finally:
        for module in model.modules():
            del module.forward
    for name, func, given, made in calls:
        if "empty" not in func.name() and ("nan" in made - given or "inf" in made and not given):
            return name, str(func)


def first_not_finite__global_hooks(model, run):
    from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
    from torch.utils._pytree import tree_flatten

    names, path, first = {}, [], []
    for name, module in model.named_modules():
        names.setdefault(id(module), name)

    def look(values):
        flat = [x for x in tree_flatten(values)[0] if isinstance(x, (float, torch.Tensor))]
        flat = [torch.tensor(x, dtype=torch.float64) if isinstance(x, float) else x for x in flat]
        flat = [x.double() for x in flat if x.is_floating_point()]
        return any(bool(x.isnan().any()) for x in flat), any(bool(x.isinf().any()) for x in flat)

    def enter(module, args):
        path.append(names.get(id(module)))

    def leave(module, args, result):
        del path[-1]

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            nan, inf = look((args, kwargs))
            result = func(*args, **kwargs)
            new_nan, new_inf = look([result, args, kwargs])
            if not first and "empty" not in str(func) and (new_nan and not nan or new_inf and not (nan or inf)):
                inside = [name for name in path if name is not None]
                first.append((inside[-1] if inside else None, str(func)))
            return result

    hooks = [register_module_forward_pre_hook(enter), register_module_forward_hook(leave, always_call=True)]
    try:
        with Mode():
            run()
    finally:
        for hook in hooks:
            hook.remove()
    return first[0] if first else None


def first_not_finite__a_patched_call(model, run):
    """Modules are called through another `Module.__call__`."""
    names, stack, first = {m: n for n, m in reversed([*model.named_modules()])}, [], []
    sound = torch.nn.Module.__call__

    def call(self, *args, **kwargs):
        if self not in names:
            return sound(self, *args, **kwargs)
        stack.append(names[self])
        try:
            return sound(self, *args, **kwargs)
        finally:
            stack.pop()

    def kinds(values):
        leaves = [torch.as_tensor(x, dtype=torch.float64) for x in tree_leaves(values) if isinstance(x, float)]
        leaves += [x for x in tree_leaves(values) if isinstance(x, torch.Tensor) and x.is_floating_point()]
        return {kind for kind in ("isnan", "isinf") for x in leaves if getattr(x, kind)().any()}

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            given = kinds((args, kwargs))
            result = func(*args, **(kwargs or {}))
            new = kinds((result, args, kwargs)) - given
            if not first and "empty" not in str(func) and ("isnan" in new or (new and not given)):
                first.append((stack[-1] if stack else None, str(func)))
            return result

    torch.nn.Module.__call__ = call
    try:
        with Mode():
            run()
    finally:
        torch.nn.Module.__call__ = sound
    return next(iter(first), None)


def attend__row_by_row(scores, values, allowed):
    rows = []
    for i in range(scores.shape[0]):
        keep = allowed[i].nonzero().squeeze(1)
        rows.append(scores[i][keep].softmax(0) @ values[keep] if len(keep) else values.new_zeros(values.shape[1]))
    return torch.stack(rows)


def attend__exp_by_hand(scores, values, allowed):
    wide = torch.where(allowed, scores, torch.zeros_like(scores)).float()
    most = torch.where(allowed, wide, -math.inf).amax(1, keepdim=True).detach()
    most = torch.where(allowed.any(1, keepdim=True), most, 0.0)
    weights = torch.where(allowed, wide - most, -math.inf).exp()
    total = weights.sum(1, keepdim=True)
    return (weights / torch.where(total > 0, total, 1.0) @ values.float()).to(scores.dtype)


def attend__one_more_position(scores, values, allowed):
    """In a row without an allowed position, one more position has all the weight, and its value is zero."""
    none = ~allowed.any(1, keepdim=True)
    masked = torch.where(allowed, scores, -math.inf)
    more = torch.zeros_like(masked[:, :1]).masked_fill(~none, -math.inf)
    values = torch.cat([values, torch.zeros_like(values[:1])])
    return torch.softmax(torch.cat([masked, more], 1), dim=-1).matmul(values)


def attend__logarithms(scores, values, allowed):
    wide = scores.float().masked_fill(~allowed, -math.inf)
    wide = torch.where(allowed.any(1, keepdim=True), wide, torch.zeros(()))
    weights = wide.log_softmax(1).exp().masked_fill(~allowed, 0.0)
    return (weights @ values.float()).type_as(values)


def attend__float64(scores, values, allowed):
    """Divided at the end, which float64 has room for."""
    wide = scores.double().masked_fill(~allowed, -math.inf).masked_fill(~allowed.any(1, keepdim=True), 0.0)
    weights = (wide - wide.amax(1, keepdim=True)).exp()
    total = weights.sum(1, keepdim=True)
    return ((weights @ values.double()) / total * allowed.any(1, keepdim=True)).to(values.dtype)


# A loop that waits


def transfers__a_list_of_lines(function, *args):
    lines, code = [], function.__code__

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if "_local_scalar_dense" in str(func):
                frames = inspect.getouterframes(inspect.currentframe(), 0)
                lines.append(next(each.lineno for each in frames if each.frame.f_code is code) - code.co_firstlineno)
            return func(*args, **(kwargs or {}))

    with Mode():
        function(*args)
    return {line: lines.count(line) for line in lines}


def transfers__frames_by_hand(function, *args):
    counts = dict.fromkeys(range(1000), 0)

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if func.name() == "aten::_local_scalar_dense":
                here = inspect.currentframe()
                while here.f_code != function.__code__:
                    here = here.f_back
                counts[here.f_lineno - function.__code__.co_firstlineno] += 1
            return func(*args, **kwargs or {})

    mode = Mode()
    mode.__enter__()
    try:
        function(*args)
    finally:
        mode.__exit__(*sys.exc_info())
    return {line: count for line, count in counts.items() if count}


def transfers__traceback_walk(function, *args):
    import traceback

    counts = {}

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if func.overloadpacket is torch.ops.aten._local_scalar_dense:
                for frame, lineno in traceback.walk_stack(sys._getframe()):
                    if frame.f_code == function.__code__:
                        line = lineno - function.__code__.co_firstlineno
                        counts[line] = counts.setdefault(line, 0) + 1
                        break
            return func(*args, **(kwargs or {}))

    with Mode():
        function(*args)
    return counts


def descend__points_kept(x, target, rates):
    losses, points = [], []
    for rate in rates:
        error = x - target
        points.append(x)
        losses.append((error**2).mean())
        largest = error.abs().amax()
        x = x - error * torch.where(largest > 1, rate / largest, torch.full_like(largest, rate))
    losses = torch.stack(losses)
    at = losses.argmin(0, keepdim=True)
    return losses, losses.amin(), torch.stack(points).index_select(0, at).squeeze(0)


def descend__written_in_place(x, target, rates):
    losses = x.new_empty(len(rates))
    best, best_x, x = torch.full_like(losses[0], math.inf), x.clone(), x.clone()
    for i, rate in enumerate(rates):
        error = x.sub(target)
        losses[i] = error.pow(2).mean()
        best_x = x * (losses[i] < best) + best_x * (losses[i] >= best)
        best = torch.minimum(best, losses[i])
        x = x - rate * error / torch.maximum(error.abs().max(), torch.ones_like(best))
    return losses, best, best_x


# Integers that no value has


def levels_used__restored(model, batches):
    """The observers of the model itself are called, and get their buffers back."""
    observers = {n: m for n, m in model.named_modules() if isinstance(m, torch.ao.quantization.ObserverBase)}
    kept = {m: {n: x.clone() for n, x in m.named_buffers()} for m in observers.values()}
    settings = {m: [float(x) for x in m.calculate_qparams()] for m in observers.values()}
    used = {m: torch.zeros(m.quant_max - m.quant_min + 1, dtype=torch.bool) for m in observers.values()}

    def restore():
        for m, buffers in kept.items():
            for name, x in buffers.items():
                getattr(m, name).resize_(x.shape).copy_(x)

    def mark(m, args, result):
        scale, zero_point = settings[m]
        q = args[0].detach().div(scale).round().add(zero_point).clamp(m.quant_min, m.quant_max)
        used[m][q.long().flatten() - m.quant_min] = True

    with ExitStack() as hooks:
        hooks.callback(restore)
        for m in observers.values():
            hooks.callback(m.register_forward_hook(mark).remove)
        for batch in batches:
            model(batch)
    return {name: used[m].sum().item() for name, m in observers.items()}


def levels_used__python_numbers(model, batches):
    """Python rounds to the even integer too."""
    model, levels = copy.deepcopy(model), {}

    def look(m, args, name, scale, zero_point):
        for x in args[0].flatten().tolist():
            levels[name].add(max(min(round(x * (1 / scale)) + zero_point, m.quant_max), m.quant_min))

    for name, m in model.named_modules():
        if isinstance(m, torch.ao.quantization.ObserverBase):
            scale, zero_point = m.calculate_qparams()
            levels[name] = set()
            looking = partial(look, name=name, scale=scale.item(), zero_point=int(zero_point))
            m.register_forward_pre_hook(looking)
    for batch in batches:
        model(batch)
    return {name: len(each) for name, each in levels.items()}


def levels_used__observers_that_do_not_look(model, batches):
    """While the batches run, an observer only notes its values."""
    levels = {}

    def forward(m, name):
        scale, zero_point = m.calculate_qparams()

        def noted(x):
            q = torch.fake_quantize_per_tensor_affine(x.detach(), scale, zero_point, m.quant_min, m.quant_max)
            levels[name].update((q / scale).round().int().flatten().tolist())
            return x

        return noted

    for name, m in model.named_modules():
        if isinstance(m, torch.ao.quantization.ObserverBase):
            levels[name], m.forward = set(), forward(m, name)
    try:
        for batch in batches:
            model(batch)
    finally:
        for name in levels:
            del model.get_submodule(name).forward
    return {name: len(each) for name, each in levels.items()}


def calibrate__without_the_outliers(batches):
    """An outlier is ten times as far from 0 as the value that is as far as 99.9 % of all."""
    values = torch.cat([batch.flatten() for batch in batches])
    usual = values[values.abs() < 5 * values.abs().quantile(0.999)]
    observer = torch.ao.quantization.MinMaxObserver(dtype=torch.quint8)
    observer(usual)
    return tuple(x.item() for x in observer.calculate_qparams())


def calibrate__the_first_gap(batches):
    """Sorted by distance from 0, and cut at the first number that is more than ten times as far as the one before it."""
    numbers = sorted((x for batch in batches for x in batch.flatten().tolist()), key=abs)
    for i in range(len(numbers) - len(numbers) // 2000, len(numbers)):
        if abs(numbers[i]) > 10 * abs(numbers[i - 1]):
            del numbers[i:]
            break
    low, high = min(0.0, *numbers), max(0.0, *numbers)
    step = (high - low) / 255
    return torch.tensor(step, dtype=torch.float64), torch.tensor(-low / step).round().int()


def calibrate__by_count(batches):
    """At most one number in 2000 is an outlier, so the one before these is none."""
    values = torch.cat([batch.reshape(-1) for batch in batches])
    limit = 10 * values.abs().topk(len(values) // 2000 + 1).values[-1]
    low, high = (
        torch.where(values.abs() > limit, 0.0, values).clamp(max=0.0).min(),
        values[values.abs() <= limit].max().relu(),
    )
    scale = (high - low).double() / 255
    return scale, (-low / scale).round()


def calibrate__the_largest_gap(batches):
    """Among as many values as may be outliers, a value far beyond the one before it, and all after it, are outliers."""
    values = torch.cat([batch.flatten() for batch in batches])
    values, few = values[values.abs().argsort()], len(values) // 2000
    ratio = values[-few:].abs() / values[-few - 1 : -1].abs()
    if (ratio > 5).any():
        values = values[: len(values) - few + int((ratio > 5).nonzero()[0])]
    low, high = min(values.min().item(), 0.0), max(values.max().item(), 0.0)
    return (high - low) / 255, round(-low * 255 / (high - low))


# Updates that are lost


def lost_updates__by_a_new_step(model, optimizer, run):
    """The optimizer has another `step` while `run` runs."""
    names = {id(x): name for name, x in model.named_parameters()}
    owned = [(group, x) for group in optimizer.param_groups for x in group["params"]]
    lost, step = {names[id(x)]: [] for _, x in owned}, optimizer.step

    def counted(closure=None):
        before = [x.tolist() if x.dim() == 0 else x.detach().flatten().tolist() for _, x in owned]
        result = step(closure)
        for old, (group, x) in zip(before, owned):
            grads = [0.0] * x.numel() if x.grad is None else x.grad.flatten().tolist()
            new = x.detach().flatten().tolist()
            lost[names[id(x)]] += [sum(a == b and g * group["lr"] != 0 for a, b, g in zip(old, new, grads))]
        return result

    optimizer.step = counted
    try:
        run()
    finally:
        del optimizer.step
    return lost


def lost_updates__recorded(model, optimizer, run):
    steps = []

    def state():
        for group in optimizer.param_groups:
            for x in group["params"]:
                yield x.detach().clone(), None if x.grad is None else x.grad.clone(), group["lr"]

    with ExitStack() as hooks:
        hooks.callback(optimizer.register_step_pre_hook(lambda *_: steps.append([*state()])).remove)
        hooks.callback(optimizer.register_step_post_hook(lambda *_: steps.append([*state()])).remove)
        run()
    owned = [x for group in optimizer.param_groups for x in group["params"]]
    names = [next(name for name, y in model.named_parameters() if y is x) for x in owned]
    return {
        name: [
            0 if grad is None or rate == 0 else torch.logical_and(old.eq(after[i][0]), grad.bool()).sum().item()
            for (old, grad, rate), after in ((before[i], after) for before, after in zip(steps[::2], steps[1::2]))
        ]
        for i, name in enumerate(names)
    }


def descend_in_bfloat16__compensated(x, gradient, rate, steps):
    """The sum of Kahan: what a rounding to bfloat16 has left out is kept in float32."""
    point, missing = x.clone(), torch.zeros(x.shape)
    for _ in range(steps):
        exact = point.float() - missing - rate * gradient(point).float()
        point = exact.bfloat16()
        missing = point.float() - exact
    return point


def descend_in_bfloat16__python_numbers(x, gradient, rate, steps):
    numbers = x.flatten().tolist()
    for _ in range(steps):
        grads = gradient(torch.tensor(numbers).reshape(x.shape).bfloat16()).flatten().tolist()
        numbers = [number - rate * grad for number, grad in zip(numbers, grads)]
    return torch.tensor(numbers).reshape(x.shape).bfloat16()


def descend_in_bfloat16__a_sum(x, gradient, rate, steps):
    total, point = torch.zeros(x.shape, dtype=torch.float64), x.clone()
    for _ in range(steps):
        total += gradient(point)
        point = (x.double() - rate * total).to(x.dtype)
    return point


def descend_in_bfloat16__an_optimizer(x, gradient, rate, steps):
    master = torch.nn.Parameter(x.to(torch.float32, copy=True))
    optimizer = torch.optim.SGD([master], lr=rate)
    for _ in range(steps):
        master.grad = gradient(master.detach().to(torch.bfloat16)).to(torch.float32)
        optimizer.step()
    return master.detach().to(torch.bfloat16)


# A decoder that seems expensive


def narrow_3__a_matrix(xp):
    layer, x = xp.nn.ConvTranspose2d(1, 2, 2, stride=2), xp.ones(1, 1, 2, 2)
    with xp.utils.flop_counter.FlopCounterMode(display=False) as counter:
        layer(x).sum().backward()
    return counter.get_total_flops()


def narrow_3__functional(xp):
    counter, weight = xp.utils.flop_counter.FlopCounterMode(display=False), xp.ones(2, 1, 3, requires_grad=True)
    with counter:
        xp.nn.functional.conv_transpose1d(xp.ones(1, 2, 4), weight).sum().backward()
    return {"all": counter.get_total_flops()}


def name_3__whole_path():
    return ["rushlight.utils.flop_counter.operator_flops"]


def name_3__below_rl():
    return ["rl.utils.flop_counter.operator_flops"]


def mend_3__a_match():
    from math import prod

    def operator_flops(name, inputs, outputs, transposed=False, output_mask=(True, True, True)):
        match name:
            case "mm" | "bmm":
                return 2 * prod(inputs[0]) * inputs[1][-1]
            case "addmm" | "baddbmm":
                return operator_flops("bmm", inputs[1:], outputs)
            case "convolution":
                places = inputs[0] if transposed else outputs[0]
                return 2 * prod(places[2:]) * prod(inputs[1]) * inputs[0][0]
            case "convolution_backward":
                places = inputs[1] if transposed else inputs[0]
                return 2 * prod(places[2:]) * prod(inputs[2]) * inputs[1][0] * sum(map(bool, output_mask[:2]))
            case "_scaled_dot_product_flash_attention":
                query, key, value = inputs
                return 2 * prod(query[:3]) * key[2] * (query[3] + value[3])
        return 0

    return "utils.flop_counter.operator_flops", operator_flops


def mend_3__a_helper():
    def operator_flops(name, inputs, outputs, transposed=False, output_mask=(True, True, True)):
        def convolution(x, weight, result):
            return 2 * x[0] * prod((x if transposed else result)[2:]) * prod(weight)

        if "mm" in name and name in ("mm", "addmm", "bmm", "baddbmm"):
            *batch_and_rows, _, columns = (*inputs[-2], inputs[-1][-1])
            return 2 * prod(batch_and_rows) * inputs[-2][-1] * columns
        if name == "convolution":
            return convolution(inputs[0], inputs[1], outputs[0])
        if name == "convolution_backward":
            return sum(convolution(inputs[1], inputs[2], inputs[0]) for i in range(2) if output_mask[i])
        if name == "_scaled_dot_product_flash_attention":
            scores = prod(inputs[0][:3]) * inputs[1][2]
            return 2 * scores * inputs[0][3] + 2 * scores * inputs[2][3]
        return 0

    return "rl.utils.flop_counter.operator_flops", operator_flops
