"""Correct answers to lab 05a in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

import itertools
import math
import operator

import rushlight as rl
from rushlight.aten.generated import functions as F
from rushlight.aten.native.normalisation import _check_floating, check_normalized_shape, widened
from rushlight.aten.strided import Tensor
from rushlight.nn.modules.hooks import BackwardHook
from rushlight.nn.modules.module import Module
from rushlight.nn.parameter import Buffer, Parameter, is_lazy

from ..shared import OwnTypeError

# Modules


def set_attribute__by_asking_who_has_the_name(module, name, value):
    registries = ("_parameters", "_modules", "_buffers")
    owner = next((each for each in registries if name in module.__dict__.get(each, ())), None)

    def clear(but):
        for each in registries:
            if each != but:
                module.__dict__.get(each, {}).pop(name, None)
        module.__dict__.pop(name, None)
        module.__dict__.get("_non_persistent_buffers_set", set()).discard(name)

    if isinstance(value, (Parameter, Module)):
        mine = "_parameters" if isinstance(value, Parameter) else "_modules"
        if mine not in module.__dict__:
            raise AttributeError("call __init__ first")
        if isinstance(value, Module) and owner == "_parameters":
            raise OwnTypeError("a parameter has this name")
        clear(mine)
        if isinstance(value, Parameter):
            module.register_parameter(name, value)
        else:
            module._modules[name] = value
        return
    if owner in ("_parameters", "_modules"):
        if value is not None:
            raise OwnTypeError("only None")
        module.__dict__[owner][name] = None
    elif isinstance(value, Buffer):
        module.register_buffer(name, value, persistent=value.persistent)
    elif owner == "_buffers":
        if not (value is None or isinstance(value, Tensor)):
            raise OwnTypeError("only tensors and None")
        module._buffers[name] = value
    else:
        object.__setattr__(module, name, value)


def set_attribute__in_a_list_of_rules(module, name, value):
    d = vars(module)

    def forget(*registries):
        for registry in registries:
            if name in d[registry]:
                del d[registry][name]
        d.pop(name, None)
        d["_non_persistent_buffers_set"] -= {name}

    def as_parameter():
        if "_parameters" not in d:
            raise AttributeError(name)
        forget("_buffers", "_modules")
        module.register_parameter(name, value)

    def as_module():
        if "_modules" not in d:
            raise AttributeError(name)
        forget("_parameters", "_buffers")
        d["_modules"][name] = value

    def as_none(registry):
        if value is not None:
            raise TypeError(f"{value} as {name}")
        d[registry][name] = None

    def as_buffer():
        persistent = getattr(value, "persistent", None)
        if persistent is None or not isinstance(value, Buffer):
            persistent = name not in d["_non_persistent_buffers_set"]
        module.register_buffer(name, value, persistent)

    rules = [
        (isinstance(value, Parameter), as_parameter),
        (name in d.get("_parameters", {}), lambda: as_none("_parameters")),
        (isinstance(value, Module), as_module),
        (name in d.get("_modules", {}), lambda: as_none("_modules")),
        (isinstance(value, Buffer) or name in d.get("_buffers", {}), as_buffer),
        (True, lambda: object.__setattr__(module, name, value)),
    ]
    next(rule for condition, rule in rules if condition)()


def named_members__with_a_list_of_the_seen(module, get_members_fn, prefix, recurse, remove_duplicate):
    where = [(prefix, module)]
    if recurse:
        where = module.named_modules(None, prefix, remove_duplicate)
    seen = []
    for path, each in where:
        for name, member in get_members_fn(each):
            if member is None or (remove_duplicate and any(member is other for other in seen)):
                continue
            seen.append(member)
            yield ".".join(part for part in (path, name) if part), member


def named_members__as_an_expression(module, get_members_fn, prefix, recurse, remove_duplicate):
    modules = module.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
    every = (
        (path + "." * bool(path) + name, member)
        for path, each in (modules if recurse else itertools.islice(modules, 1))
        for name, member in get_members_fn(each)
        if member is not None
    )
    if not remove_duplicate:
        return every
    seen = set()
    return ((name, member) for name, member in every if not (id(member) in seen or seen.add(id(member))))


def call_impl__with_nested_functions(module, args, kwargs):
    forward, after, before = module.forward, *map(list, (module._backward_hooks, module._backward_pre_hooks))
    if not (after or before or module._forward_pre_hooks or module._forward_hooks):
        return forward(*args, **kwargs)
    after, before = [module._backward_hooks[key] for key in after], [module._backward_pre_hooks[key] for key in before]
    pre_hooks = dict(module._forward_pre_hooks)
    for key in pre_hooks:
        hook = pre_hooks[key]
        if key in module._forward_pre_hooks_with_kwargs:
            new = hook(module, args, kwargs)
            if new is None:
                continue
            if isinstance(new, tuple) and len(new) == 2:
                args, kwargs = new
                continue
            raise RuntimeError("None or a pair")
        new = hook(module, args)
        if isinstance(new, tuple):
            args = new
        elif new is not None:
            args = (new,)

    def run(given):
        out = forward(*given, **kwargs)
        for key, hook in list(module._forward_hooks.items()):
            extra = (kwargs,) if key in module._forward_hooks_with_kwargs else ()
            new = hook(module, given, *extra, out)
            if new is not None:
                out = new
        return out

    if not (after or before):
        return run(args)
    both = BackwardHook(module, after, before)
    return both.setup_output_hook(run(both.setup_input_hook(args)))


def call_impl__quick_without_hooks(module, args, kwargs):
    state, forward = module.__dict__, module.forward
    registries = ("_forward_pre_hooks", "_forward_hooks", "_backward_hooks", "_backward_pre_hooks")
    before, after, back, back_before = (dict(state[name]) for name in registries)
    if not any((before, after, back, back_before)):
        return forward(*args, **kwargs)
    for number, hook in before.items():
        takes_kwargs = number in state["_forward_pre_hooks_with_kwargs"]
        changed = hook(module, args, kwargs) if takes_kwargs else hook(module, args)
        if changed is None:
            pass
        elif takes_kwargs:
            if not isinstance(changed, tuple) or len(changed) != 2:
                raise RuntimeError(changed)
            args, kwargs = changed
        else:
            args = changed if isinstance(changed, tuple) else (changed,)
    hooks = BackwardHook(module, list(back.values()), list(back_before.values())) if back or back_before else None
    if hooks:
        args = hooks.setup_input_hook(args)
    result = forward(*args, **kwargs)
    for number, hook in tuple(module._forward_hooks.items()):
        rest = (args, kwargs, result) if number in module._forward_hooks_with_kwargs else (args, result)
        changed = hook(module, *rest)
        if changed is not None:
            result = changed
    if hooks:
        result = hooks.setup_output_hook(result)
    return result


def apply_impl__with_a_function_for_both(module, fn, recurse):
    for child in module.children() if recurse else ():
        child._apply(fn)

    def converted(x):
        with rl.no_grad():
            return fn(x)

    for name, old in list(module._parameters.items()):
        if old is None:
            continue
        grad, new = old.grad, converted(old)
        stays = new.device.type == old.device.type
        if stays:
            old.data = new
        else:
            module._parameters[name] = Parameter(new, requires_grad=old.requires_grad)
        if grad is not None:
            new = converted(grad)
            if stays:
                old.grad.data = new
            else:
                new.requires_grad = grad.requires_grad
                module._parameters[name].grad = new
    module._buffers.update({name: fn(x) for name, x in module._buffers.items() if x is not None})
    return module


def apply_impl__with_the_mode_set_by_hand(module, fn, recurse):
    if recurse:
        [child._apply(fn) for child in module.children()]
    for name in module._parameters:
        parameter = module._parameters[name]
        if parameter is None:
            continue
        before = rl.is_grad_enabled()
        rl.set_grad_enabled(False)
        try:
            data = fn(parameter)
            grad = parameter.grad
            if data.device == parameter.device:
                parameter.data = data
                if grad is not None:
                    grad.data = fn(grad)
            else:
                fresh = Parameter(data, parameter.requires_grad)
                if grad is not None:
                    fresh.grad = fn(grad).requires_grad_(grad.requires_grad)
                module._parameters[name] = fresh
        finally:
            rl.set_grad_enabled(before)
    for name, buffer in module._buffers.items():
        module._buffers[name] = None if buffer is None else fn(buffer)
    return module


# Saving and loading


def save_to_state_dict__with_update(module, destination, prefix, keep_vars):
    transient = module._non_persistent_buffers_set
    buffers = {name: each for name, each in module._buffers.items() if name not in transient}
    members = [*module._parameters.items(), *buffers.items()]
    destination.update({prefix + k: v if keep_vars else v.detach() for k, v in members if v is not None})


def save_to_state_dict__in_one_loop(module, destination, prefix, keep_vars):
    for name, x in itertools.chain(module._parameters.items(), module._buffers.items()):
        if x is None or name in module._non_persistent_buffers_set:
            continue
        if not keep_vars:
            x = x.detach()
        destination[f"{prefix}{name}"] = x


def load_from_state_dict__with_a_function_for_each(
    module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
):
    own = dict(module._parameters)
    own |= {name: x for name, x in module._buffers.items() if name not in module._non_persistent_buffers_set}
    own = {name: x for name, x in own.items() if x is not None}

    def load(name, mine, key, theirs):
        if not isinstance(theirs, Tensor):
            return f"{key} is no tensor"
        if not is_lazy(mine):
            theirs = theirs[0] if mine.dim() == 0 and tuple(theirs.shape) == (1,) else theirs
            if tuple(mine.shape) != tuple(theirs.shape):
                return f"size mismatch for {key}: {theirs.shape}, not {mine.shape}"
        try:
            with rl.no_grad():
                if not local_metadata.get("assign_to_params_buffers"):
                    mine.copy_(theirs)
                elif not isinstance(mine, Parameter):
                    setattr(module, name, theirs)
                elif isinstance(theirs, Parameter):
                    theirs.requires_grad = mine.requires_grad
                    setattr(module, name, theirs)
                else:
                    setattr(module, name, Parameter(theirs, mine.requires_grad))
        except Exception as error:
            return f"{key}: {error}"
        return None

    for name, mine in own.items():
        if prefix + name in state_dict:
            message = load(name, mine, prefix + name, state_dict[prefix + name])
            error_msgs += [message] if message else []
        elif strict:
            missing_keys.append(prefix + name)
    if not strict:
        return
    for key in state_dict:
        rest = key[len(prefix) :]
        if key[: len(prefix)] != prefix:
            continue
        if "." in rest and rest.split(".")[0] in module._modules:
            continue
        if "." in rest or rest not in own:
            unexpected_keys.append(key)


def load_from_state_dict__with_the_keys_first(
    module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
):
    own = {}
    for registry in (module._parameters, module._buffers):
        for name, x in registry.items():
            if x is not None and name not in module._non_persistent_buffers_set:
                own[prefix + name] = name, x
    if strict:
        missing_keys.extend(key for key in own if key not in state_dict)
        children = tuple(f"{prefix}{name}." for name in module._modules)
        for key in filter(lambda key: key.startswith(prefix), state_dict):
            if key not in own and not key.startswith(children):
                unexpected_keys.append(key)
    for key in own:
        if key not in state_dict:
            continue
        (name, mine), theirs = own[key], state_dict[key]
        try:
            if not isinstance(theirs, Tensor):
                raise TypeError(f"no tensor under {key}")
            if not is_lazy(mine):
                if mine.shape == () and theirs.shape == (1,):
                    theirs = theirs.reshape(())
                if mine.shape != theirs.shape:
                    error_msgs.append(f"size mismatch for {key}: it is not {mine.shape}")
                    continue
            with rl.no_grad():
                if local_metadata.get("assign_to_params_buffers", False):
                    if isinstance(mine, Parameter):
                        theirs = theirs if isinstance(theirs, Parameter) else Parameter(theirs, mine.requires_grad)
                        theirs.requires_grad_(mine.requires_grad)
                    setattr(module, name, theirs)
                else:
                    mine.copy_(theirs)
        except Exception as error:
            error_msgs.append(f"{key}: {type(error).__name__}")


# Layers and losses


def _check_layer_norm(input, normalized_shape, weight, bias):
    check_normalized_shape(input, normalized_shape, weight, bias)
    allowed = {input.dtype, rl.float32} if input.dtype in (rl.float16, rl.bfloat16) else {input.dtype}
    if any(each is not None and each.dtype not in allowed for each in (weight, bias)):
        raise RuntimeError("dtypes differ")
    if weight is not None and bias is not None and weight.dtype is not bias.dtype:
        raise RuntimeError("weight and bias differ")
    if not input.dtype.is_floating_point:
        raise NotImplementedError(input.dtype)


def layer_norm__by_var(input, normalized_shape, weight=None, bias=None, eps=1e-5, cudnn_enable=True):
    _check_layer_norm(input, normalized_shape, weight, bias)
    x = input.float() if input.dtype in (rl.float16, rl.bfloat16) else input
    flat = x.reshape(*x.shape[: x.dim() - len(normalized_shape)], math.prod(normalized_shape))
    mean = flat.mean(-1, True)
    variance = ((flat - mean) * (flat - mean)).mean(-1, True)
    out = ((flat - mean) / (variance + eps).sqrt()).reshape(x.shape)
    out = out if weight is None else weight * out
    out = out if bias is None else bias + out
    return F.clone(out.to(input.dtype), memory_format=rl.contiguous_format)


def layer_norm__by_moments(input, normalized_shape, weight=None, bias=None, eps=1e-5, cudnn_enable=True):
    _check_layer_norm(input, normalized_shape, weight, bias)
    x = input.contiguous()
    if input.dtype in (rl.float16, rl.bfloat16):
        x = x.to(rl.float32)
    dims = [x.dim() - 1 - i for i in range(len(normalized_shape))]
    count = math.prod(normalized_shape)
    mean = x.sum(dims, True) / count
    distance = F.sub(x, mean)
    scale = F.pow(F.pow(distance, 2).sum(dims, True) / count + eps, -0.5)
    result = distance * scale
    if weight is not None:
        result = F.mul(result, weight)
    if bias is not None:
        result = F.add(result, bias)
    return result.contiguous().to(input.dtype)


def layer_norm__as_a_matrix(input, normalized_shape, weight=None, bias=None, eps=1e-05, cudnn_enable=True):
    check_normalized_shape(input, normalized_shape, weight, bias)
    dtypes = [each.dtype for each in (weight, bias) if each is not None]
    if any(dtype is not dtypes[0] or dtype not in (input.dtype, widened(input)) for dtype in dtypes):
        raise RuntimeError(f"layer_norm: parameters of {dtypes} for an input of {input.dtype}")
    _check_floating("layer_norm", input)
    sizes, split = tuple(input.shape), input.dim() - len(normalized_shape)
    samples, numbers = math.prod(sizes[:split]), math.prod(sizes[split:])
    rows = input.to(widened(input)).contiguous().view((samples, numbers))
    rows = rows - F.mean(rows, (1,), True)
    rows = rows / F.sqrt(F.mean(rows * rows, (1,), True) + eps)
    for combine, parameter in ((operator.mul, weight), (operator.add, bias)):
        if parameter is not None:
            rows = combine(rows, parameter.reshape((numbers,)))
    return rows.to(input.dtype).contiguous().view(sizes)


def dropout__by_where(input, p, train):
    if p < 0 or p > 1 or p != p:
        raise RuntimeError(p)
    if not train or not p or not input.numel():
        return input
    if p == 1:
        return input * F.zeros_like(input)
    if not input.dtype.is_floating_point:
        raise RuntimeError("of floating point")
    kept = F.zeros_like(input).bernoulli_(1 - p)
    return input * F.where(kept == 0, kept, kept / (1 - p))


def dropout__in_one_expression(input, p, train):
    if not 0 <= p <= 1:
        raise RuntimeError("a probability")
    if p in (0, 1) or not train or 0 in input.shape:
        return input * input.new_zeros(()) if p == 1 and train and 0 not in input.shape else input
    return F.mul(input, F.ones_like(input).bernoulli_(1 - p).div_(1 - p))


# Cases


def _case(members, children, prefix, recurse, remove_duplicate):
    return dict(members=members, children=children, prefix=prefix, recurse=recurse, remove_duplicate=remove_duplicate)


def breaks_named_members__four_small_ones():
    chain, fork = [[1], [2], []], [[1, 2], [3], [], []]
    return [
        _case([[5, 5], [6], []], chain, "model", False, True),
        _case([[-1], [4], [4]], [[1, 2, 1], [], []], "", True, False),
        _case([[7], [], [8], [9]], fork, "model", True, True),
        _case([[3], [3, 2, 2], [2]], chain, "", True, True),
    ]


def breaks_named_members__as_tuples():
    tied = ((-1, 1), (), (0, 0), (0, 1), (2,))
    return (
        _case(tied, ((1, 4), (2, 3), (), (), ()), "model", True, True),
        _case(tied, ((4, 3, 4), (), (), (), ()), "", True, False),
        _case(tied[2:], ((1, 2), (), ()), "model", False, True),
    )
