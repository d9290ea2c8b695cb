"""Wrong answers to lab 05a that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import contextlib
import math

import rushlight as rl
from rushlight.aten.generated import functions as F
from rushlight.aten.native import normalisation, random
from rushlight.aten.native.normalisation import _check_floating, check_normalized_shape, widened
from rushlight.aten.strided import Tensor
from rushlight.course import breaks
from rushlight.nn.modules import module, state_dict
from rushlight.nn.modules.hooks import BackwardHook
from rushlight.nn.modules.module import Module, named_members
from rushlight.nn.parameter import Buffer, Parameter, is_lazy

from ..shared import copied, edited

# Modules


def set_attribute__leaves_the_name_where_it_was(module, name, value):
    state = module.__dict__
    if isinstance(value, Parameter):
        if "_parameters" not in state:
            raise AttributeError(name)
        state["_parameters"][name] = value
    elif isinstance(value, Module):
        if "_modules" not in state:
            raise AttributeError(name)
        state["_modules"][name] = value
    elif name in state.get("_buffers", {}) or isinstance(value, Buffer):
        module.register_buffer(name, value)
    else:
        object.__setattr__(module, name, value)


def set_attribute__registers_every_tensor(module, name, value):
    if isinstance(value, Parameter):
        module.__dict__.pop(name, None)
        module.register_parameter(name, value)
    elif isinstance(value, Module):
        module.add_module(name, value)
    elif isinstance(value, Tensor):
        module.register_buffer(name, value)
    else:
        object.__setattr__(module, name, value)


def set_attribute__makes_every_buffer_persistent(module, name, value):
    state = module.__dict__
    registries = [state.get(each, {}) for each in ("_parameters", "_modules", "_buffers")]
    parameters, modules, buffers = registries
    if isinstance(value, (Parameter, Module)):
        if "_parameters" not in state:
            raise AttributeError(name)
        if isinstance(value, Module) and name in parameters:
            raise TypeError(name)
        mine = parameters if isinstance(value, Parameter) else modules
        for registry in (*registries, state):
            if registry is not mine:
                registry.pop(name, None)
        state["_non_persistent_buffers_set"].discard(name)
        if mine is parameters:
            module.register_parameter(name, value)
        else:
            modules[name] = value
    elif name in parameters or name in modules:
        if value is not None:
            raise TypeError(name)
        (parameters if name in parameters else modules)[name] = None
    elif isinstance(value, Buffer) or name in buffers:
        module.register_buffer(name, value, getattr(value, "persistent", True))
    else:
        object.__setattr__(module, name, value)


def set_attribute__writes_past_properties(module, name, value):
    if isinstance(value, Parameter):
        module.__dict__.pop(name, None)
        module.register_parameter(name, value)
    elif isinstance(value, Module):
        module._modules[name] = value
    else:
        module.__dict__[name] = value


def named_members__puts_a_dot_before_every_name(module, get_members_fn, prefix, recurse, remove_duplicate):
    seen = set()
    for path, each in module.named_modules(prefix=prefix) if recurse else [(prefix, module)]:
        for name, member in get_members_fn(each):
            if member is not None and member not in seen:
                seen.add(member)
                yield f"{path}.{name}", member


def named_members__keeps_duplicates_only_in_modules(module, get_members_fn, prefix, recurse, remove_duplicate):
    seen = set()
    modules = module.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
    for path, each in modules if recurse else [(prefix, module)]:
        for name, member in get_members_fn(each):
            if member is not None and member not in seen:
                seen.add(member)
                yield f"{path}.{name}" if path else name, member


def named_members__as_a_list(module, get_members_fn, prefix, recurse, remove_duplicate):
    found, seen = [], set()
    modules = module.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
    for path, each in modules if recurse else [(prefix, module)]:
        for name, member in get_members_fn(each):
            if member is not None and not (remove_duplicate and member in seen):
                seen.add(member)
                found.append((f"{path}.{name}" if path else name, member))
    return found


def named_members__walks_the_whole_tree_first(module, get_members_fn, prefix, recurse, remove_duplicate):
    seen = set()
    modules = list(module.named_modules(prefix=prefix, remove_duplicate=remove_duplicate))
    for path, each in modules if recurse else [(prefix, module)]:
        for name, member in get_members_fn(each):
            if member is not None and not (remove_duplicate and member in seen):
                seen.add(member)
                yield f"{path}.{name}" if path else name, member


def named_members__asks_all_modules_first(module, get_members_fn, prefix, recurse, remove_duplicate):
    modules = module.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
    found = [(path, list(get_members_fn(each))) for path, each in (modules if recurse else [(prefix, module)])]
    seen = set()
    for path, members in found:
        for name, member in members:
            if member is not None and not (remove_duplicate and member in seen):
                seen.add(member)
                yield f"{path}.{name}" if path else name, member


def _call_impl(late=False, always=False, empty=True, own=True, at_once=False, live=False):
    """`call_impl`, with one thing otherwise than in the contract."""

    def changed_args(args, changed):
        if changed is None or (not empty and changed == ()):
            return args
        return changed if isinstance(changed, tuple) else (changed,)

    def call_impl(module, args, kwargs):
        forward = module.forward if own else lambda *args, **kwargs: type(module).forward(module, *args, **kwargs)
        registries = (
            module._forward_pre_hooks,
            module._backward_hooks,
            module._backward_pre_hooks,
            module._forward_hooks,
        )
        if not (always or any(registries)):
            return forward(*args, **kwargs)
        before, back, back_before, after = registries if live else map(dict, registries)
        hooks = list(back.values()), list(back_before.values())
        for number, hook in before.items() if live else list(before.items()):
            if number in module._forward_pre_hooks_with_kwargs:
                changed = hook(module, args, kwargs)
                if changed is not None:
                    if not isinstance(changed, tuple) or len(changed) != 2:
                        raise RuntimeError(changed)
                    args, kwargs = changed
            else:
                args = changed_args(args, hook(module, args))
        if late:
            hooks = list(module._backward_hooks.values()), list(module._backward_pre_hooks.values())
        backward = BackwardHook(module, *hooks) if any(hooks) else None
        args = backward.setup_input_hook(args) if backward else args
        result = forward(*args, **kwargs)
        after = after if at_once else module._forward_hooks
        for number, hook in after.items() if live else list(after.items()):
            extra = (kwargs,) if number in module._forward_hooks_with_kwargs else ()
            changed = hook(module, args, *extra, result)
            result = result if changed is None else changed
        return backward.setup_output_hook(result) if backward else result

    return call_impl


call_impl__looks_for_backward_hooks_after_the_pre_hooks = _call_impl(late=True)
call_impl__has_no_short_way_without_hooks = _call_impl(always=True)
call_impl__takes_no_arguments_for_no_change = _call_impl(empty=False)
call_impl__looks_for_forward_in_the_class_only = _call_impl(own=False)
call_impl__looks_for_forward_hooks_before_forward = _call_impl(at_once=True)
call_impl__goes_through_the_dicts_themselves = _call_impl(live=True)


def call_impl__looks_for_forward_after_the_pre_hooks(module, args, kwargs):
    if not (module._forward_pre_hooks or module._forward_hooks or module._backward_hooks or module._backward_pre_hooks):
        return module.forward(*args, **kwargs)
    hooks = list(module._backward_hooks.values()), list(module._backward_pre_hooks.values())
    for number, hook in tuple(module._forward_pre_hooks.items()):
        if number in module._forward_pre_hooks_with_kwargs:
            changed = hook(module, args, kwargs)
            if changed is not None:
                if not isinstance(changed, tuple) or len(changed) != 2:
                    raise RuntimeError(changed)
                args, kwargs = changed
        elif (changed := hook(module, args)) is not None:
            args = changed if isinstance(changed, tuple) else (changed,)
    backward = BackwardHook(module, *hooks) if any(hooks) else None
    args = backward.setup_input_hook(args) if backward else args
    result = module.forward(*args, **kwargs)
    for number, hook in tuple(module._forward_hooks.items()):
        extra = (kwargs,) if number in module._forward_hooks_with_kwargs else ()
        changed = hook(module, args, *extra, result)
        result = result if changed is None else changed
    return backward.setup_output_hook(result) if backward else result


def call_impl__asks_whether_the_result_is_true(module, args, kwargs):
    for number, hook in tuple(module._forward_pre_hooks.items()):
        if number in module._forward_pre_hooks_with_kwargs:
            changed = hook(module, args, kwargs)
            if changed:
                if not isinstance(changed, tuple) or len(changed) != 2:
                    raise RuntimeError(changed)
                args, kwargs = changed
        elif changed := hook(module, args):
            args = changed if isinstance(changed, tuple) else (changed,)
    result = module.forward(*args, **kwargs)
    for number, hook in tuple(module._forward_hooks.items()):
        extra = (kwargs,) if number in module._forward_hooks_with_kwargs else ()
        result = hook(module, args, *extra, result) or result
    return result


def call_impl__spreads_the_arguments_for_hooks(module, args, kwargs):
    for hook in tuple(module._forward_pre_hooks.values()):
        changed = hook(module, *args)
        if changed is not None:
            args = changed if isinstance(changed, tuple) else (changed,)
    result = module.forward(*args, **kwargs)
    for hook in tuple(module._forward_hooks.values()):
        changed = hook(module, args, result)
        result = result if changed is None else changed
    return result


def call_impl__shows_hooks_the_first_arguments(module, args, kwargs):
    new_args, new_kwargs = args, kwargs
    for number, hook in tuple(module._forward_pre_hooks.items()):
        if number in module._forward_pre_hooks_with_kwargs:
            changed = hook(module, args, kwargs)
            if changed is not None:
                if not isinstance(changed, tuple) or len(changed) != 2:
                    raise RuntimeError(changed)
                new_args, new_kwargs = changed
        elif (changed := hook(module, args)) is not None:
            new_args = changed if isinstance(changed, tuple) else (changed,)
    hooks = list(module._backward_hooks.values()), list(module._backward_pre_hooks.values())
    backward = BackwardHook(module, *hooks) if any(hooks) else None
    new_args = backward.setup_input_hook(new_args) if backward else new_args
    result = module.forward(*new_args, **new_kwargs)
    for number, hook in tuple(module._forward_hooks.items()):
        extra = (new_kwargs,) if number in module._forward_hooks_with_kwargs else ()
        changed = hook(module, args, *extra, result)
        result = result if changed is None else changed
    return backward.setup_output_hook(result) if backward else result


def apply_impl__makes_new_parameters(module, fn, recurse):
    for child in module.children() if recurse else ():
        child._apply(fn)
    for name, parameter in module._parameters.items():
        if parameter is not None:
            with rl.no_grad():
                module._parameters[name] = Parameter(fn(parameter), parameter.requires_grad)
    for name, buffer in module._buffers.items():
        if buffer is not None:
            module._buffers[name] = fn(buffer)
    return module


def apply_impl__forgets_the_gradients(module, fn, recurse):
    for child in module.children() if recurse else ():
        child._apply(fn)
    for name, parameter in module._parameters.items():
        if parameter is None:
            continue
        with rl.no_grad():
            applied = fn(parameter)
        if applied.device == parameter.device:
            parameter.data = applied
        else:
            module._parameters[name] = Parameter(applied, parameter.requires_grad)
    for name, buffer in module._buffers.items():
        if buffer is not None:
            module._buffers[name] = fn(buffer)
    return module


def apply_impl__gives_new_gradients_no_history_to_come(module, fn, recurse):
    for child in module.children() if recurse else ():
        child._apply(fn)
    for name, parameter in module._parameters.items():
        if parameter is None:
            continue
        grad = parameter.grad
        with rl.no_grad():
            applied, grad_applied = fn(parameter), None if grad is None else fn(grad)
        if applied.device == parameter.device:
            parameter.data = applied
            if grad is not None:
                grad.data = grad_applied
        else:
            module._parameters[name] = Parameter(applied, parameter.requires_grad)
            module._parameters[name].grad = grad_applied
    for name, buffer in module._buffers.items():
        if buffer is not None:
            module._buffers[name] = fn(buffer)
    return module


def apply_impl__copies_into_the_old_memory(module, fn, recurse):
    for child in module.children() if recurse else ():
        child._apply(fn)
    with rl.no_grad():
        for parameter in module._parameters.values():
            if parameter is not None:
                parameter.copy_(fn(parameter))
                if parameter.grad is not None:
                    parameter.grad.copy_(fn(parameter.grad))
    for name, buffer in module._buffers.items():
        if buffer is not None:
            module._buffers[name] = fn(buffer)
    return module


# Saving and loading


def save_to_state_dict__copies(module, destination, prefix, keep_vars):
    for name, x in (*module._parameters.items(), *module._buffers.items()):
        if x is not None and name not in module._non_persistent_buffers_set:
            destination[prefix + name] = x if keep_vars else x.detach().clone()


def save_to_state_dict__has_versions_of_its_own(module, destination, prefix, keep_vars):
    for name, x in (*module._parameters.items(), *module._buffers.items()):
        if x is not None and name not in module._non_persistent_buffers_set:
            destination[prefix + name] = x if keep_vars else x.data


def save_to_state_dict__saves_all_buffers(module, destination, prefix, keep_vars):
    for name, x in (*module._parameters.items(), *module._buffers.items()):
        if x is not None:
            destination[prefix + name] = x if keep_vars else x.detach()


def save_to_state_dict__puts_a_dot_between(module, destination, prefix, keep_vars):
    for name, x in (*module._parameters.items(), *module._buffers.items()):
        if x is not None and name not in module._non_persistent_buffers_set:
            destination[f"{prefix}.{name}" if prefix else name] = x if keep_vars else x.detach()


def load_from_state_dict__raises_at_once(
    module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
):
    for name, x in (*module._parameters.items(), *module._buffers.items()):
        if x is None or name in module._non_persistent_buffers_set:
            continue
        if prefix + name not in state_dict:
            missing_keys += [prefix + name] * strict
            continue
        if state_dict[prefix + name].shape != x.shape:
            raise RuntimeError(f"size mismatch for {prefix + name}")
        with rl.no_grad():
            x.copy_(state_dict[prefix + name])


def load_from_state_dict__takes_all_other_keys_for_unexpected(
    module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
):
    known = set()
    for name, x in (*module._parameters.items(), *module._buffers.items()):
        if x is None or name in module._non_persistent_buffers_set:
            continue
        key = prefix + name
        known.add(key)
        if key not in state_dict:
            missing_keys += [key] * strict
            continue
        loaded = state_dict[key]
        if not isinstance(loaded, Tensor) or loaded.shape != x.shape:
            error_msgs.append(f"size mismatch for {key}:")
            continue
        with rl.no_grad():
            x.copy_(loaded)
    if strict:
        unexpected_keys += [key for key in state_dict if key not in known]


def load_from_state_dict__assigns_as_it_comes(
    module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
):
    own = {**module._parameters, **module._buffers}
    own = {k: v for k, v in own.items() if v is not None and k not in module._non_persistent_buffers_set}
    for name, x in own.items():
        key = prefix + name
        if key not in state_dict:
            missing_keys += [key] * strict
        elif not isinstance(state_dict[key], Tensor):
            error_msgs.append(f"no tensor: {key}")
        elif state_dict[key].shape != x.shape:
            error_msgs.append(f"size mismatch for {key}: shapes")
        elif local_metadata.get("assign_to_params_buffers"):
            setattr(module, name, state_dict[key])
        else:
            with rl.no_grad():
                x.copy_(state_dict[key])
    for key in state_dict if strict else ():
        first, dot, _ = key.removeprefix(prefix).partition(".")
        if key.startswith(prefix) and first not in (module._modules if dot else own):
            unexpected_keys.append(key)


def load_from_state_dict__writes_into_the_dicts(
    module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
):
    persistent = {name: x for name, x in module._buffers.items() if name not in module._non_persistent_buffers_set}
    own = {name: x for name, x in (module._parameters | persistent).items() if x is not None}
    for name, x in own.items():
        key = prefix + name
        if key not in state_dict:
            missing_keys += [key] * strict
            continue
        loaded = state_dict[key]
        if not isinstance(loaded, Tensor):
            error_msgs.append(f"no tensor: {key}")
            continue
        if not is_lazy(x):
            loaded = loaded[0] if x.dim() == 0 and loaded.shape == (1,) else loaded
            if loaded.shape != x.shape:
                error_msgs.append(f"size mismatch for {key}: shapes")
                continue
        try:
            with rl.no_grad():
                if not local_metadata.get("assign_to_params_buffers"):
                    x.copy_(loaded)
                elif isinstance(x, Parameter):
                    loaded = loaded if isinstance(loaded, Parameter) else Parameter(loaded, x.requires_grad)
                    module._parameters[name] = loaded.requires_grad_(x.requires_grad)
                else:
                    module._buffers[name] = loaded
        except Exception as error:
            error_msgs.append(f"{key}: {error}")
    for key in state_dict if strict else ():
        first, dot, _ = key.removeprefix(prefix).partition(".")
        if key.startswith(prefix) and first not in (module._modules if dot else own):
            unexpected_keys.append(key)


# Layers and losses


def layer_norm__divides_by_one_less(input, normalized_shape, weight=None, bias=None, eps=1e-5, cudnn_enable=True):
    check_normalized_shape(input, normalized_shape, weight, bias)
    dims = tuple(range(-len(normalized_shape), 0))
    centred = input - F.mean(input, dims, True)
    count = math.prod(normalized_shape)
    result = centred / (F.sum(centred * centred, dims, True) / max(count - 1, 1) + eps).sqrt()
    result = result if weight is None else result * weight
    return result if bias is None else result + bias


def layer_norm__adds_eps_after_the_root(input, normalized_shape, weight=None, bias=None, eps=1e-5, cudnn_enable=True):
    check_normalized_shape(input, normalized_shape, weight, bias)
    dims = tuple(range(-len(normalized_shape), 0))
    centred = input - F.mean(input, dims, True)
    result = centred / (F.mean(centred * centred, dims, True).sqrt() + eps)
    result = result if weight is None else result * weight
    return result if bias is None else result + bias


layer_norm__compares_shapes_last = edited(
    normalisation.layer_norm, ("    check_norm", '    _check_floating("layer_norm", input)\n    check_norm')
)
layer_norm__of_the_whole_batch = edited(
    normalisation.layer_norm, ("dims = tuple(range(-len(normalized_shape), 0))", "dims = tuple(range(input.dim()))")
)


def layer_norm__over_the_last_dimension_only(
    input, normalized_shape, weight=None, bias=None, eps=1e-5, cudnn_enable=True
):
    check_normalized_shape(input, normalized_shape, weight, bias)
    centred = input - F.mean(input, -1, True)
    result = centred * F.rsqrt(F.mean(centred * centred, -1, True) + eps)
    result = result if weight is None else result * weight
    return result if bias is None else result + bias


def layer_norm__without_a_gradient_through_the_mean(
    input, normalized_shape, weight=None, bias=None, eps=1e-5, cudnn_enable=True
):
    check_normalized_shape(input, normalized_shape, weight, bias)
    dims = tuple(range(-len(normalized_shape), 0))
    centred = input - F.mean(input.detach(), dims, True)
    result = centred * F.rsqrt(F.mean(centred.detach() * centred.detach(), dims, True) + eps)
    result = result if weight is None else result * weight
    return result if bias is None else result + bias


def layer_norm__compares_each_dtype_with_the_input_only(
    input, normalized_shape, weight=None, bias=None, eps=1e-5, cudnn_enable=True
):
    check_normalized_shape(input, normalized_shape, weight, bias)
    for parameter in (weight, bias):
        if parameter is not None and parameter.dtype not in (input.dtype, widened(input)):
            raise RuntimeError(parameter.dtype)
    _check_floating("layer_norm", input)
    dims = tuple(range(-len(normalized_shape), 0))
    x = input.contiguous().to(widened(input))
    centred = x - F.mean(x, dims, True)
    result = centred * F.rsqrt(F.mean(F.square(centred), dims, True) + eps)
    result = result if weight is None else result * weight
    return (result if bias is None else result + bias).to(input.dtype)


def layer_norm__mean_of_squares_minus_square_of_mean(
    input, normalized_shape, weight=None, bias=None, eps=1e-05, cudnn_enable=True
):
    check_normalized_shape(input, normalized_shape, weight, bias)
    given = {parameter.dtype for parameter in (weight, bias) if parameter is not None}
    if len(given) > 1 or not given <= {input.dtype, widened(input)}:
        raise RuntimeError("mixed dtype: weight and bias need the dtype of the input")
    _check_floating("layer_norm", input)
    dims = tuple(range(-len(normalized_shape), 0))
    x = input.contiguous().to(widened(input))
    mean = F.mean(x, dims, True)
    variance = F.mean(F.square(x), dims, True) - F.square(mean)
    result = (x - mean) * F.rsqrt(variance + eps)
    result = result if weight is None else result * weight
    result = result if bias is None else result + bias
    return result.to(input.dtype)


def dropout__does_not_scale(input, p, train):
    if not 0 <= p <= 1:
        raise RuntimeError(p)
    if p == 0 or not train or input.numel() == 0:
        return input
    return input * F.empty_like(input).bernoulli_(1 - p)


def dropout__scales_in_evaluation(input, p, train):
    if not 0 <= p <= 1:
        raise RuntimeError(p)
    return input * F.empty_like(input).bernoulli_(1 - p) if train else input * (1 - p)


def dropout__drops_whole_rows(input, p, train):
    if not 0 <= p <= 1:
        raise RuntimeError(p)
    if p == 0 or not train or input.numel() == 0:
        return input
    if p == 1:
        return input * F.empty_like(input).zero_()
    rows = F.empty(input.shape[:1], dtype=input.dtype).bernoulli_(1 - p).div_(1 - p)
    return input * rows.view([-1] + [1] * (input.dim() - 1))


def dropout__copies_in_evaluation(input, p, train):
    if not 0 <= p <= 1:
        raise RuntimeError(p)
    if p == 0 or not train or input.numel() == 0:
        return input.clone()
    return input * 0 if p == 1 else input * F.empty_like(input).bernoulli_(1 - p).div_(1 - p)


def dropout__draws_with_rand(input, p, train):
    if not 0 <= p <= 1:
        raise RuntimeError(p)
    if p == 0 or not train or input.numel() == 0:
        return input
    if p == 1:
        return input * F.zeros((), dtype=input.dtype)
    if not input.dtype.is_floating_point:
        raise RuntimeError("of floating point")
    return input * (F.rand_like(input) >= p).to(input.dtype).div_(1 - p)


dropout__draws_in_a_contiguous_mask = edited(
    random.dropout, ("functions.empty_like(input)", "functions.empty(input.shape, dtype=input.dtype)")
)
dropout__times_a_float_zero = edited(
    random.dropout, ("functions.zeros((), dtype=input.dtype, device=input.device)", "0.0")
)
dropout__times_an_int_zero = edited(
    random.dropout, ("functions.zeros((), dtype=input.dtype, device=input.device)", "0")
)


# Sentences that are easily passed over


_load_from_state_dict = copied(rl.nn.modules.state_dict.load_from_state_dict)
_layer_norm = copied(rl.aten.native.normalisation.layer_norm)


set_attribute__forgets_the_children = edited(
    module.set_attribute,
    (
        'raise _cannot_assign(value, "child module", name, "Module")',
        "modules.pop(name)\n            return set_attribute(module, name, value)",
    ),
)
set_attribute__leaves_old_buffers = edited(
    module.set_attribute, ('_forget(module, name, but="_modules")', "module.__dict__.pop(name, None)")
)
set_attribute__writes_into_the_dict_itself = edited(
    module.set_attribute, ("object.__setattr__(module, name, value)", "state[name] = value")
)
call_impl__forgets_which_pre_hooks_take_kwargs = edited(
    module.call_impl, ("if number in module._forward_pre_hooks_with_kwargs:", "if False:")
)
call_impl__shows_hooks_the_last_result = edited(
    module.call_impl,
    (
        "    for number, hook in tuple(module._forward_hooks.items()):",
        "    if backward_hook is not None:\n"
        "        result = backward_hook.setup_output_hook(result)\n"
        "    for number, hook in tuple(module._forward_hooks.items()):",
    ),
    ("return result if backward_hook is None else backward_hook.setup_output_hook(result)", "return result"),
)
load_from_state_dict__always_strict = edited(
    state_dict.load_from_state_dict,
    ("            if strict:\n                missing_keys", "            if True:\n                missing_keys"),
)
layer_norm__as_the_strides_are = edited(
    normalisation.layer_norm, ("input.contiguous().to(widened(input))", "input.to(widened(input))")
)
layer_norm__of_one_dimension_of_floats = edited(
    normalisation.layer_norm, ("tuple(range(-len(normalized_shape), 0))", "(-1,)")
)
dropout__looks_at_p_in_training_only = edited(random.dropout, ("if not 0 <= p <= 1:", "if train and not 0 <= p <= 1:"))
dropout__divides_by_zero = edited(random.dropout, ("if p == 1:", "if p > 1:"))
dropout__keeps_the_others = edited(random.dropout, ("bernoulli_(1 - p)", "bernoulli_(p)"))
dropout__has_a_mask_of_floats = edited(random.dropout, ("functions.empty_like(input)", "functions.empty(input.shape)"))
dropout__without_a_graph = edited(
    random.dropout,
    ("return input * functions.empty_like", "return input + input.detach() * (functions.empty_like"),
    ("div_(1 - p)\n", "div_(1 - p) - 1)\n"),
)


named_members__keeps_all = edited(module.named_members, ("if remove_duplicate:", "if False:"))
named_members__leaves_out_a_zero = edited(
    named_members,
    (
        "member is None or member in memo",
        'member is None or member in (0, "") if not isinstance(member, (Tensor, Module)) else member in memo',
    ),
)


def named_members__asks_for_the_number_of_members(module, get_members_fn, prefix, recurse, remove_duplicate):
    memo = set()
    modules = module.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, module)]
    for module_name, each in modules:
        members = get_members_fn(each)
        if len(members) == 0:
            continue
        for name, member in members:
            if member is None or member in memo:
                continue
            if remove_duplicate:
                memo.add(member)
            yield f"{module_name}.{name}" if module_name else name, member


def call_impl__looks_early_which_hooks_take_kwargs(module, args, kwargs):
    forward, with_kwargs = module.forward, set(module._forward_hooks_with_kwargs)
    if not (module._forward_pre_hooks or module._forward_hooks or module._backward_hooks or module._backward_pre_hooks):
        return forward(*args, **kwargs)
    after, before = [*module._backward_hooks.values()], [*module._backward_pre_hooks.values()]
    for number, hook in [*module._forward_pre_hooks.items()]:
        if number in module._forward_pre_hooks_with_kwargs:
            changed = hook(module, args, kwargs)
            if changed is not None:
                if not isinstance(changed, tuple) or len(changed) != 2:
                    raise RuntimeError("a pre-hook must return None or the new args and kwargs")
                args, kwargs = changed
        elif (changed := hook(module, args)) is not None:
            args = changed if isinstance(changed, tuple) else (changed,)
    backward = BackwardHook(module, after, before) if after or before else None
    result = forward(*(args if backward is None else (args := backward.setup_input_hook(args))), **kwargs)
    for number, hook in [*module._forward_hooks.items()]:
        changed = hook(module, args, kwargs, result) if number in with_kwargs else hook(module, args, result)
        result = result if changed is None else changed
    return result if backward is None else backward.setup_output_hook(result)


def load_from_state_dict__assigns_if_the_metadata_have_the_entry(
    module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
):
    metadata = dict.fromkeys(local_metadata, True)
    _load_from_state_dict(module, state_dict, prefix, metadata, strict, missing_keys, unexpected_keys, error_msgs)


def load_from_state_dict__assigns_if_the_entry_is_true_itself(
    module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
):
    metadata = {name: value is True for name, value in local_metadata.items()}
    _load_from_state_dict(module, state_dict, prefix, metadata, strict, missing_keys, unexpected_keys, error_msgs)


def load_from_state_dict__catches_only_what_torch_raises(
    module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
):
    for name, _value in state_dict.items():
        if name.removeprefix(prefix) in module._parameters and local_metadata.get("assign_to_params_buffers"):
            with contextlib.suppress(RuntimeError, TypeError, ValueError, AttributeError):
                setattr(module, name.removeprefix(prefix), module._parameters[name.removeprefix(prefix)])
    _load_from_state_dict(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)


def load_from_state_dict__removes_the_prefix_everywhere(
    module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
):
    own = {name for name, x in (module._parameters | module._buffers).items() if x is not None}
    own -= module._non_persistent_buffers_set
    _load_from_state_dict(module, state_dict, prefix, local_metadata, strict, missing_keys, [], error_msgs)
    for key in state_dict:
        if strict and key.startswith(prefix):
            first, dot, _ = key.replace(prefix, "").partition(".")
            if first not in (module._modules if dot else own):
                unexpected_keys.append(key)


def layer_norm__takes_a_tuple_only(input, normalized_shape, weight=None, bias=None, eps=1e-5, cudnn_enable=True):
    return _layer_norm(input, normalized_shape.__add__(()), weight, bias, eps)


def layer_norm__without_eps_if_cudnn_is_off(
    input, normalized_shape, weight=None, bias=None, eps=1e-5, cudnn_enable=True
):
    return _layer_norm(input, normalized_shape, weight, bias, eps if cudnn_enable else 0.0)


apply_impl__records_again_afterwards = edited(
    module.apply_impl,
    ("with no_grad():\n", "if local.__setattr__('grad_enabled', False) is None:\n"),
    ("    return module\n", "    local.grad_enabled = True\n    return module\n"),
    ("    if recurse:\n", "    from rushlight.c10.dispatch import local\n\n    if recurse:\n"),
)
load_from_state_dict__takes_none_for_missing = edited(
    state_dict.load_from_state_dict, ("if key not in state_dict:", "if state_dict.get(key) is None:")
)


call_impl__decides_by_the_function_who_gets_kwargs = edited(
    module.call_impl,
    (
        "number in module._forward_hooks_with_kwargs",
        "hook in [module._forward_hooks.get(other) for other in module._forward_hooks_with_kwargs]",
    ),
)
call_impl__decides_by_the_function_which_pre_hook_gets_kwargs = edited(
    module.call_impl,
    (
        "number in module._forward_pre_hooks_with_kwargs",
        "hook in [module._forward_pre_hooks.get(other) for other in module._forward_pre_hooks_with_kwargs]",
    ),
)
call_impl__runs_each_backward_hook_once = edited(
    module.call_impl, ("list(module._backward_hooks.values())", "list(dict.fromkeys(module._backward_hooks.values()))")
)
load_from_state_dict__a_prefix_anywhere = edited(
    state_dict.load_from_state_dict, ("if key.startswith(prefix):", "if prefix in key:")
)


def save_to_state_dict__leaves_out_what_has_no_elements(module, destination, prefix, keep_vars):
    own = {}
    _save(module, own, prefix, keep_vars)
    destination.update({name: x for name, x in own.items() if x.numel()})


_save = copied(state_dict.save_to_state_dict)
call_impl__skips_a_forward_hook_removed_meanwhile = edited(
    module.call_impl,
    (
        "        with_kwargs = number",
        "        if number not in module._forward_hooks:\n            continue\n        with_kwargs = number",
    ),
)
call_impl__skips_a_pre_hook_removed_meanwhile = edited(
    module.call_impl,
    (
        "        if number in module._forward_pre_hooks_with_kwargs:",
        "        if number not in module._forward_pre_hooks:\n            continue\n"
        "        if number in module._forward_pre_hooks_with_kwargs:",
    ),
)
set_attribute__forgets_the_name_before_it_refuses = edited(
    module.set_attribute,
    ("    if isinstance(value, Parameter):", "    if isinstance(value, Parameter):\n        state.pop(name, None)"),
)
set_attribute__registers_a_name_that_is_taken = edited(
    module.set_attribute,
    (
        '        _forget(module, name, but="_parameters")\n        module.register_parameter(name, value)',
        "        module.register_parameter(name, value)",
    ),
)
call_impl__shows_forward_hooks_the_first_arguments = edited(
    module.call_impl,
    ("    forward = module.forward", "    first, forward = args, module.forward"),
    (
        "hook(module, args, kwargs, result) if with_kwargs else hook(module, args, result)",
        "hook(module, first, kwargs, result) if with_kwargs else hook(module, first, result)",
    ),
)
load_from_state_dict__lets_errors_of_a_copy_out = edited(
    state_dict.load_from_state_dict,
    (
        "        try:\n            with no_grad():\n",
        '        if not local_metadata.get("assign_to_params_buffers"):\n            with no_grad():\n'
        "                tensor.copy_(loaded)\n            continue\n        try:\n            with no_grad():\n",
    ),
)
dropout__drops_what_is_infinite_to_zero = edited(
    random.dropout,
    (
        "    return input * functions.empty_like(input).bernoulli_(1 - p).div_(1 - p)",
        "    mask = functions.empty_like(input).bernoulli_(1 - p).div_(1 - p)\n"
        "    return functions.where(mask != 0, input * mask, mask)",
    ),
)
dropout__makes_zeros_of_all_if_p_is_1 = edited(
    random.dropout,
    (
        "input * functions.zeros((), dtype=input.dtype, device=input.device)",
        "input.masked_fill((input == input) | (input != input), 0)",
    ),
)
set_attribute__refuses_what_is_true_under_a_parameter = edited(
    module.set_attribute,
    (
        'if value is not None:\n            raise _cannot_assign(value, "parameter"',
        'if isinstance(value, Tensor) or value:\n            raise _cannot_assign(value, "parameter"',
    ),
)
set_attribute__asks_any_tensor_whether_it_is_persistent = edited(
    module.set_attribute,
    ("value.persistent if isinstance(value, Buffer) else stays", 'getattr(value, "persistent", stays)'),
)
named_members__takes_the_same_memory_for_the_same_member = edited(
    module.named_members,
    ("member in memo", "getattr(member, 'data_ptr', lambda: member)() in memo"),
    ("memo.add(member)", "memo.add(getattr(member, 'data_ptr', lambda: member)())"),
)
named_members__strips_dots = edited(
    module.named_members, ('f"{module_name}.{name}" if module_name else name', 'f"{module_name}.{name}".lstrip(".")')
)
apply_impl__converts_a_detached_gradient = edited(module.apply_impl, ("fn(grad)", "fn(grad.detach())"))
apply_impl__assigns_each_buffer = edited(
    module.apply_impl, ("module._buffers[name] = fn(buffer)", "setattr(module, name, fn(buffer))")
)
layer_norm__takes_wide_parameters_with_float16_only = edited(
    normalisation.layer_norm,
    (
        "{input.dtype, widened(input)}",
        "{input.dtype, widened(input) if input.dtype.type_name == 'Half' else input.dtype}",
    ),
)
dropout__draws_a_mask_of_zeros_if_p_is_1 = edited(
    random.dropout, ("    if p == 1:\n", "    if p == 1:\n        functions.empty_like(input).bernoulli_(1 - p)\n")
)
dropout__draws_in_evaluation = edited(
    random.dropout,
    (
        "    if p == 0 or not",
        "    if p != 1:\n        mask = functions.empty_like(input).bernoulli_(1 - p)\n    if p == 0 or not",
    ),
    ("functions.empty_like(input).bernoulli_(1 - p).div_", "mask.div_"),
)
call_impl__runs_no_forward_hooks_without_a_result = edited(
    module.call_impl,
    (
        "    for number, hook in tuple(module._forward_hooks",
        "    if result is None:\n        return None\n    for number, hook in tuple(module._forward_hooks",
    ),
)
apply_impl__converts_a_shared_parameter_once = edited(
    module.apply_impl,
    ("    for name, parameter in", "    done = set()\n    for name, parameter in"),
    ("        if parameter is None:", "        if parameter is None or parameter in done:"),
    ("        grad = parameter.grad\n", "        done.add(parameter)\n        grad = parameter.grad\n"),
)
apply_impl__converts_a_shared_buffer_once = edited(
    module.apply_impl,
    ("    for name, buffer in", "    done = {}\n    for name, buffer in"),
    ("= fn(buffer)", "= done[buffer] if buffer in done else done.setdefault(buffer, fn(buffer))"),
)
save_to_state_dict__keeps_what_the_destination_has = edited(
    state_dict.save_to_state_dict,
    ("if buffer is not None", "if buffer is not None and prefix + name not in destination"),
)


# Cases

_breaks = copied(breaks.breaks_named_members)


def breaks_named_members__of_a_chain_of_layers():
    chain = {"members": [[], [0, 1], [2, 3]], "children": [[1, 2], [], []], "recurse": True}
    return [chain | {"prefix": prefix, "remove_duplicate": one} for prefix in ("", "model") for one in (True, False)]


def breaks_named_members__without_none():
    return [case | {"members": [[max(n, 0) for n in some] for some in case["members"]]} for case in _breaks()]


def breaks_named_members__always_with_recurse():
    return [case | {"recurse": True} for case in _breaks()]


def breaks_named_members__always_without_duplicates():
    return [case | {"remove_duplicate": True} for case in _breaks()]


def breaks_named_members__without_a_prefix():
    return [case | {"prefix": ""} for case in _breaks()]


def breaks_named_members__with_another_prefix():
    return [case | {"prefix": "a.b"} for case in _breaks()]


def breaks_named_members__of_modules_in_a_circle():
    return [case | {"children": [[0], *case["children"][1:]]} for case in _breaks()]
