"""`Module`: a function with state. Assignment to an attribute registers its parameters, buffers and child modules.

`Module.__setattr__` registers each of them in one of three dicts. Conversion, saving, loading and listing iterate over these
dicts. `Module.__call__` runs `forward` with the hooks around it. The class calls functions that have these rules. In PyTorch:
`torch/nn/modules/module.py`. Left out: global backward hooks that are not full, `always_call=True` and `Module.compile`, which
raise NotImplementedError.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from functools import partial, partialmethod
from typing import Any

from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.autograd.grad_mode import no_grad
from rushlight.autograd.graph import RemovableHandle
from rushlight.c10.dtypes import bfloat16, dtype, float16, float32, float64
from rushlight.c10.memory_formats import memory_format
from rushlight.c10.storage import device
from rushlight.nn.modules.hooks import BackwardHook
from rushlight.nn.modules.state_dict import load_from_state_dict, load_state_dict, save_to_state_dict, state_dict
from rushlight.nn.parameter import Buffer, Device, Parameter, zero_grad

__all__ = ["Module"]

# Registration of attributes ------------------------------------------------------------------------------------------


def set_attribute(module: Module, name: str, value: Any) -> None:
    """`Module.__setattr__`: assign `module.name = value`. The class of the value, and where the name is registered already,
    decide what happens.

    `_parameters`, `_buffers` and `_modules` are dicts by name. `_non_persistent_buffers_set` is a set of names. All are in
    `module.__dict__` once `Module.__init__` has run. A name that is already registered keeps its position in its dict.
    `module.register_parameter(name, value)` and `module.register_buffer(name, value, persistent)` register, and
    `object.__setattr__` sets an ordinary attribute.

    Args:
        module: a `Module`, perhaps one whose `Module.__init__` has not run yet.
        name: a str.
        value: any value. A `Buffer` has an attribute `persistent`.

    Raises:
        AttributeError: a `Parameter`, a `Module` or a `Buffer` is assigned before `Module.__init__` has run.
        TypeError: the name is registered for values of another kind.
        KeyError: a `Buffer` is assigned to a name that is an ordinary attribute (`register_buffer` raises this).

    >>> module = Module()
    >>> set_attribute(module, "scale", Parameter(rl.ones(3)))
    >>> set_attribute(module, "note", rl.ones(3))
    >>> list(module._parameters), "scale" in module.__dict__, "note" in module.__dict__
    (['scale'], False, True)
    >>> set_attribute(module, "note", Module())
    >>> list(module._modules), "note" in module.__dict__
    (['note'], False)

    Rules:
        The first rule that applies is used:

        1. Register a `Parameter` with `module.register_parameter`, after the name was removed from everything else
           that has it: `module.__dict__`, `_buffers`, `_non_persistent_buffers_set` and `_modules`.
        2. If `_parameters` has the name, only None may be assigned (`register_parameter`).
        3. Put a `Module` into `_modules`, after the name was removed from everything else that has it: `module.__dict__`,
           `_parameters`, `_buffers`, `_non_persistent_buffers_set`.
        4. If `_modules` has the name, only None may be assigned. Put it there.
        5. Register a `Buffer`, or any value if `_buffers` has the name, with `module.register_buffer(name, value, persistent)`.
           A `Buffer` has an attribute `persistent`. For another value, persistence does not change: the buffer is persistent
           unless `_non_persistent_buffers_set` has the name. Only tensors and None may be assigned.
        6. Any other value becomes an ordinary attribute (`object.__setattr__`), also a plain tensor that is not registered.

        Before `Module.__init__` has run, rules 2, 4 and the second half of rule 5 do not apply.

    Source: `torch/nn/modules/module.py`, `Module.__setattr__`.
    """
    state = module.__dict__
    parameters, modules, buffers = state.get("_parameters"), state.get("_modules"), state.get("_buffers")
    if isinstance(value, Parameter):
        if parameters is None:
            raise AttributeError("cannot assign parameters before Module.__init__() call")
        _forget(module, name, but="_parameters")
        module.register_parameter(name, value)
    elif parameters is not None and name in parameters:
        if value is not None:
            raise _cannot_assign(value, "parameter", name, "Parameter")
        module.register_parameter(name, None)
    elif isinstance(value, Module):
        if modules is None:
            raise AttributeError("cannot assign module before Module.__init__() call")
        _forget(module, name, but="_modules")
        modules[name] = value
    elif modules is not None and name in modules:
        if value is not None:
            raise _cannot_assign(value, "child module", name, "Module")
        modules[name] = None
    elif isinstance(value, Buffer) or buffers is not None and name in buffers:
        stays = name not in module._non_persistent_buffers_set
        module.register_buffer(name, value, value.persistent if isinstance(value, Buffer) else stays)
    else:
        object.__setattr__(module, name, value)


def _forget(module: Module, name: str, but: str) -> None:
    """Remove a name from every registry and from `__dict__`, except from the registry named `but`."""
    state = module.__dict__
    for registry in ("_parameters", "_buffers", "_modules"):
        if registry != but:
            state[registry].pop(name, None)
    state.pop(name, None)
    state["_non_persistent_buffers_set"].discard(name)


def _cannot_assign(value: Any, what: str, name: str, wanted: str) -> TypeError:
    return TypeError(f"cannot assign '{type(value).__name__}' as {what} '{name}' ({wanted} or None expected)")


# Listing the members of modules --------------------------------------------------------------------------------------


def named_members(
    module: Module, get_members_fn: Callable, prefix: str, recurse: bool, remove_duplicate: bool
) -> Iterator[tuple[str, Any]]:
    """`Module._named_members`, a generator: the members of one kind of the module and of all modules in it, each with its name.
    `named_parameters` and `named_buffers` use it.

    Args:
        get_members_fn: takes a module and returns an iterable of pairs (name, member) of that module alone.
        prefix: of all names. `module.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)` gives the modules and
            their names. The name of a member is its module's name and its own, joined by a dot, or only its own name if the
            module's name is empty.
        recurse: whether to include the modules in `module`; if not, only `module` itself, under the name `prefix`.
        remove_duplicate: whether a member that occurs several times is yielded only once, under its first name.

    Yields:
        pairs (name, member); a member that is None is skipped. The generator finds a module, and calls `get_members_fn` on
        it, only after all pairs of the modules before it were consumed.

    >>> model = rl.nn.Sequential(rl.nn.ReLU(), rl.nn.Linear(1, 2))
    >>> [name for name, _ in named_members(model, lambda part: part._parameters.items(), "body", True, True)]
    ['body.1.weight', 'body.1.bias']

    Source: `torch/nn/modules/module.py`, `Module._named_members`.
    """
    memo = set()
    modules = module.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, module)]
    for module_name, owner in modules:
        for name, member in get_members_fn(owner):
            if member is None or member in memo:
                continue
            if remove_duplicate:
                memo.add(member)
            yield f"{module_name}.{name}" if module_name else name, member


# Calling: forward, and the hooks around it ---------------------------------------------------------------------------


def call_impl(module: Module, args: tuple, kwargs: dict) -> Any:
    """`Module._call_impl`: call `module(*args, **kwargs)`.

    The hooks are in four ordered dicts by number: `_forward_pre_hooks`, `_forward_hooks`, `_backward_hooks`,
    `_backward_pre_hooks`. They run in the order of the dict. A function that is registered twice is two hooks with two
    numbers. `module.forward` is read first, so a hook that assigns another
    `forward` changes only later calls. If all four dicts are empty at that time, return `forward(*args, **kwargs)`. Nothing
    else happens then, even if `forward` registers hooks. Otherwise:

    1. Copy the functions in `_backward_hooks` and in `_backward_pre_hooks` to two lists. If the hooks below register or
       remove functions there, this changes only later calls.
    2. Call each of `_forward_pre_hooks` as they are now, even if these hooks remove or register some: `hook(module, args)`. Its
       result replaces `args` from then on: a tuple as it is, also the empty one; any other value as a tuple of one; None
       changes nothing. If the hook's number is in `_forward_pre_hooks_with_kwargs`, call `hook(module, args, kwargs)`: it
       must return None or a tuple of two, the new args and the new kwargs.
    3. If a list of step 1 is not empty, make `BackwardHook(module, backward_hooks, backward_pre_hooks)` from these lists. Its
       `setup_input_hook(args)` returns the args for the following steps.
    4. `forward(*args, **kwargs)` returns the result.
    5. Call each of `_forward_hooks` as they are now, even if these hooks remove or register some: `hook(module, args, result)`
       or, if its number is in `_forward_hooks_with_kwargs`, `hook(module, args, kwargs, result)`. A return value other than
       None replaces the result.
    6. If there is a `BackwardHook`, return its `setup_output_hook(result)`.

    Returns:
        the result.

    Raises:
        RuntimeError: a pre-hook with kwargs returned another value.

    >>> module = rl.nn.ReLU()
    >>> handle = module.register_forward_hook(lambda module, args, result: result + 10)
    >>> call_impl(module, (rl.tensor([-1.0, 2.0]),), {}).tolist()
    [10.0, 12.0]

    Source: `torch/nn/modules/module.py`, `Module._call_impl`.
    """
    forward = module.forward
    if not (module._forward_pre_hooks or module._forward_hooks or module._backward_hooks or module._backward_pre_hooks):
        return forward(*args, **kwargs)
    backward_hooks = list(module._backward_hooks.values())
    backward_pre_hooks = list(module._backward_pre_hooks.values())
    for number, hook in tuple(module._forward_pre_hooks.items()):
        if number in module._forward_pre_hooks_with_kwargs:
            changed = hook(module, args, kwargs)
            if changed is not None:
                if not isinstance(changed, tuple) or len(changed) != 2:
                    raise RuntimeError(
                        f"forward pre-hook must return None or (new_args, new_kwargs), but got {changed}."
                    )
                args, kwargs = changed
        elif (changed := hook(module, args)) is not None:
            args = changed if isinstance(changed, tuple) else (changed,)
    backward_hook = None
    if backward_hooks or backward_pre_hooks:
        backward_hook = BackwardHook(module, backward_hooks, backward_pre_hooks)
        args = backward_hook.setup_input_hook(args)
    result = forward(*args, **kwargs)
    for number, hook in tuple(module._forward_hooks.items()):
        with_kwargs = number in module._forward_hooks_with_kwargs
        changed = hook(module, args, kwargs, result) if with_kwargs else hook(module, args, result)
        result = result if changed is None else changed
    return result if backward_hook is None else backward_hook.setup_output_hook(result)


class ModuleWithGlobalHooks:
    """A module as `call_impl` sees it while there are hooks for all modules: they run before the module's own hooks."""

    def __init__(self, module: Module) -> None:
        self.module, self.forward = module, module.forward

    def __getattr__(self, registry: str) -> dict[int, Any]:
        hooks = {**GLOBAL_HOOKS[registry], **getattr(self.module, registry)}
        if registry.endswith("_with_kwargs"):
            return hooks
        return {number: partial(self._call, hook) for number, hook in hooks.items()}

    def _call(self, hook: Callable, _: ModuleWithGlobalHooks, *args: Any) -> Any:
        return hook(self.module, *args)


# Converting: another dtype or device, in place -----------------------------------------------------------------------


def apply_impl(module: Module, fn: Callable[[Tensor], Tensor], recurse: bool) -> Module:
    """`Module._apply`: convert all tensors of a module by `fn`. `to`, `double` and similar methods use it.

    First, if `recurse`, each of `module.children()` converts its tensors: `child._apply(fn)`. Then the tensors of the module
    itself are converted, except those that are None:

    - Each parameter (`_parameters`): compute `fn(parameter)` in `no_grad`. If the result is on the parameter's device, assign it
      to the parameter's `data`: the parameter stays the same object, so an optimizer that holds it still works. Otherwise,
      replace the parameter by a new `Parameter` of the result, with the old one's `requires_grad`.
    - Right after each parameter, if it has a gradient: compute `fn(grad)` in `no_grad`. If the result is on the gradient's
      device, assign it to the gradient's `data`. Otherwise, make it the `grad` of the new parameter, with the old gradient's
      `requires_grad`.
    - Each buffer (`_buffers`): replace it by `fn(buffer)`, computed outside of `no_grad`.

    PyTorch asks `torch._has_compatible_shallow_copy_type` instead of comparing the devices: dense tensors on CPU and CUDA are
    compatible, so there a move keeps the parameter. Tensors on CPU and meta, rushlight's devices, are not.

    Returns:
        the module.

    >>> layer = rl.nn.Linear(1, 2)
    >>> weight = layer.weight
    >>> apply_impl(layer, lambda tensor: tensor.double(), True) is layer, layer.weight is weight, weight.dtype
    (True, True, rushlight.float64)

    Source: `torch/nn/modules/module.py`, `Module._apply`.
    """
    if recurse:
        for child in module.children():
            child._apply(fn)
    for name, parameter in module._parameters.items():
        if parameter is None:
            continue
        grad = parameter.grad
        with no_grad():
            applied = fn(parameter)
        if applied.device == parameter.device:
            parameter.data = applied
        else:
            parameter = module._parameters[name] = Parameter(applied, parameter.requires_grad)
        if grad is None:
            continue
        with no_grad():
            grad_applied = fn(grad)
        if grad_applied.device == grad.device:
            grad.data = grad_applied
        else:
            parameter.grad = grad_applied.requires_grad_(grad.requires_grad)
    for name, buffer in module._buffers.items():
        if buffer is not None:
            module._buffers[name] = fn(buffer)
    return module


# The module ----------------------------------------------------------------------------------------------------------


class Module:
    """The base class of all modules: subclasses call `super().__init__()`, assign parameters and modules, and define
    `forward`.
    Source: `torch/nn/modules/module.py`, `Module`."""

    training: bool
    _version = 1  # of the format of the state dict; subclasses raise it
    call_super_init = False  # whether the next class in the order of inheritance is initialised too, with the arguments

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if (args or kwargs) and not self.call_super_init:
            raise TypeError(
                f"{type(self).__name__}.__init__() takes no arguments for Module, but got {args} and {kwargs}"
            )
        state = self.__dict__  # assignment to attributes works only after these dicts exist
        state["training"] = True
        state["_parameters"], state["_buffers"] = {}, {}
        state["_non_persistent_buffers_set"], state["_modules"] = set(), {}
        for registry in HOOKS:
            state[registry] = OrderedDict()
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def __setattr__(self, name: str, value: Any) -> None:
        set_attribute(self, name, value)

    def __getattr__(self, name: str) -> Any:
        """A registered member. Python calls this if it finds no ordinary attribute with that name."""
        own = self.__dict__
        if "_modules" in own and (  # as soon as `Module.__init__` has run. A name is in one of the three at most
            name in (members := own["_parameters"])
            or name in (members := own["_modules"])
            or name in (members := own["_buffers"])
        ):
            return members[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name: str) -> None:
        for registry in (self._parameters, self._buffers, self._modules):
            if name in registry:
                del registry[name]
                self._non_persistent_buffers_set.discard(name)
                return
        object.__delattr__(self, name)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __dir__(self) -> list[str]:
        names = [*dir(type(self)), *self.__dict__, *self._parameters, *self._modules, *self._buffers]
        return sorted(name for name in names if not name[0].isdigit())

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        self._check_name("parameter", name, "_parameters")
        if param is not None and not isinstance(param, Parameter):
            raise _cannot_assign(param, "parameter", name, "Parameter")
        if param is not None and param.grad_fn is not None:
            raise ValueError(f"cannot assign a non-leaf tensor to parameter '{name}': compute it in forward()")
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Keep a tensor that is not trained. A persistent one is saved with the parameters."""
        self._check_name("buffer", name, "_buffers")
        if tensor is not None and not isinstance(tensor, Tensor) and not hasattr(tensor, "__torch_function__"):
            raise _cannot_assign(tensor, "buffer", name, "Tensor")
        self._buffers[name] = tensor
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Module | None) -> None:
        if not isinstance(module, Module) and module is not None:
            raise TypeError(f"{type(module).__name__} is not a Module subclass")
        self._check_name("module", name, "_modules")
        self._modules[name] = module

    register_module = add_module

    def _check_name(self, what: str, name: str, registry: str) -> None:
        if registry not in self.__dict__:
            raise AttributeError(f"cannot assign {what} before Module.__init__() call")
        if not isinstance(name, str):
            raise TypeError(f"{what} name should be a string. Got {type(name).__name__}")
        if "." in name or name == "":
            raise KeyError(f"{what} name can't contain \".\" and can't be empty, got: {name!r}")
        if hasattr(self, name) and name not in self.__dict__[registry]:
            raise KeyError(f"attribute '{name}' already exists")

    # Calling

    def __call__(self, *args, **kwargs) -> Any:
        if _global_forward_pre_hooks or _global_forward_hooks or _global_backward_pre_hooks or _global_backward_hooks:
            return call_impl(ModuleWithGlobalHooks(self), args, kwargs)
        return call_impl(self, args, kwargs)

    def forward(self, *args, **kwargs) -> Any:
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def register_forward_pre_hook(
        self, hook: Callable, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """`hook(module, args)`, or `hook(module, args, kwargs)`, runs before `forward` and may return replacements."""
        return self._register_hook("_forward_pre_hooks", hook, prepend, with_kwargs)

    def register_forward_hook(
        self, hook: Callable, *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> RemovableHandle:
        """`hook(module, args, result)`, or `hook(module, args, kwargs, result)`, runs after `forward` and may return another
        result. `always_call=True` is left out."""
        _refuse_always_call(always_call)
        return self._register_hook("_forward_hooks", hook, prepend, with_kwargs)

    def register_full_backward_pre_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """`hook(module, grad_outputs)` runs when the gradients of the results are known, and may return replacements."""
        return self._register_hook("_backward_pre_hooks", hook, prepend)

    def register_full_backward_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """`hook(module, grad_inputs, grad_outputs)` runs when the gradients of the arguments are known, and may return
        replacements for `grad_inputs`."""
        return self._register_hook("_backward_hooks", hook, prepend)

    def register_backward_hook(self, hook: Callable) -> RemovableHandle:
        """The older form, which PyTorch deprecates: `hook(module, grad_inputs, grad_outputs)` runs after the last node of
        `forward`, and its gradients are that node's."""

        def register(module: Module, args: tuple, result: Any) -> None:
            while not isinstance(result, Tensor):
                result = next(iter(result.values() if isinstance(result, dict) else result))
            if result.grad_fn is not None:
                result.grad_fn.register_hook(partial(hook, module))

        return self.register_forward_hook(register)

    def _register_hook(self, registry: str, hook: Callable, first: bool, with_kwargs: bool = False) -> RemovableHandle:
        hooks, hooks_with_kwargs = self.__dict__[registry], self.__dict__.get(f"{registry}_with_kwargs")
        return RemovableHandle(hooks, hook, hooks_with_kwargs, first, with_kwargs)

    # Listing

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """This module under the name `prefix`, then all modules in it, by their dotted names; not those in the set `memo`.
        If `remove_duplicate`, each yielded module is added to `memo`, so that it is yielded once, under its first name."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, child in self._modules.items():
            if child is not None:
                yield from child.named_modules(memo, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:
        return (module for _, module in self.named_modules(remove_duplicate=remove_duplicate))

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The direct children, each once."""
        memo = set()
        for name, child in self._modules.items():
            if child is not None and child not in memo:
                memo.add(child)
                yield name, child

    def children(self) -> Iterator[Module]:
        return (child for _, child in self.named_children())

    _named_members = named_members

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        yield from self._named_members(lambda module: module._parameters.items(), prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        return (parameter for _, parameter in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        yield from self._named_members(lambda module: module._buffers.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    def get_submodule(self, target: str) -> Module:
        """The module with a dotted name, `"layers.0.linear"`, or this module if the name is empty."""
        module = self
        for name in target.split(".") if target else ():
            if not hasattr(module, name):
                raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Replace the module with a dotted name. If `strict`, there must be one."""
        path, _, name = target.rpartition(".")
        if not name:
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        parent = self.get_submodule(path)
        if strict:
            self._get_owner(target)
        if not isinstance(getattr(parent, name, module), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        module, name = self._get_owner(target)
        if not isinstance(parameter := getattr(module, name), Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return parameter

    def get_buffer(self, target: str) -> Tensor:
        module, name = self._get_owner(target)
        if name not in module._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return module._buffers[name]

    def _get_owner(self, target: str) -> tuple[Module, str]:
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
        return module, name

    # Changing all modules or all tensors

    def apply(self, fn: Callable[[Module], None]) -> Module:
        """Call `fn` with each module in this module, and last with this module."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Module:
        return apply_impl(self, fn, recurse)

    def to(self, *args, memory_format: memory_format | None = None, **kwargs) -> Module:
        """`module.to(dtype)`, `module.to(device)`, `module.to(device, dtype)` or `module.to(tensor)`. The dtype must
        be floating point. Only floating-point tensors get it. Only tensors with four dimensions get the `memory_format`."""
        if "copy" in kwargs:
            raise RuntimeError(".to() does not accept copy argument")
        wanted = functions.empty(0).to(*args, **kwargs)  # a tensor's `to` parses and checks the arguments
        given = [*args, *kwargs.values()]
        target = wanted.dtype if any(isinstance(value, (dtype, type, Tensor)) for value in given) else None
        if target is not None and not target.is_floating_point:
            raise TypeError(f"nn.Module.to only accepts floating point or complex dtypes, but got {target}")
        moved = any(isinstance(value, (str, device, Tensor)) for value in given)

        def convert(tensor: Tensor) -> Tensor:
            kept = target if tensor.dtype.is_floating_point and target is not None else tensor.dtype
            layout = memory_format if tensor.dim() == 4 else None
            if tensor.is_meta and moved and not wanted.is_meta:
                remedy = "Please use torch.nn.Module.to_empty() instead of torch.nn.Module.to()"
                moving = "when moving module from meta to a different device."
                raise NotImplementedError(f"Cannot copy out of meta tensor; no data! {remedy} {moving}")
            return tensor.to(wanted.device if moved else tensor.device, kept, memory_format=layout)

        return self._apply(convert)

    def type(self, dst_type: Any) -> Module:
        """Convert all parameters and buffers, also those that are not floating point."""
        return self._apply(lambda tensor: tensor.type(dst_type))

    def cpu(self) -> Module:
        return self.to("cpu")

    def cuda(self, device: Any = None) -> Module:
        return self._apply(lambda tensor: tensor.cuda(device))

    def compile(self, *args, **kwargs) -> None:
        """Raise NotImplementedError, because this method is left out: use `torch.compile(module)`."""
        raise NotImplementedError("rushlight leaves out Module.compile: use `torch.compile(module)`")

    def to_empty(self, *, device: Device, recurse: bool = True) -> Module:
        """Move to a device without copying the elements: the new memory is uninitialized."""
        return self._apply(lambda tensor: functions.empty_like(tensor, device=device), recurse)

    float, double, half = partialmethod(to, float32), partialmethod(to, float64), partialmethod(to, float16)
    bfloat16 = partialmethod(to, bfloat16)

    def train(self, mode: bool = True) -> Module:
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for child in self.children():
            child.train(mode)
        return self

    def eval(self) -> Module:
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Module:
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        for parameter in self.parameters():
            zero_grad(parameter, set_to_none)

    # Saving and loading

    state_dict, load_state_dict = state_dict, load_state_dict

    def get_extra_state(self) -> Any:
        """More state than parameters and buffers, which `state_dict` shall save. Subclasses override it."""
        raise RuntimeError("Module.get_extra_state() is not overridden by this class")

    def set_extra_state(self, state: Any) -> None:
        raise RuntimeError("Module.set_extra_state() is not overridden by this class")

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        save_to_state_dict(self, destination, prefix, keep_vars)
        if type(self).get_extra_state is not Module.get_extra_state:
            destination[prefix + "_extra_state"] = self.get_extra_state()

    def _load_from_state_dict(
        self, state_dict: Mapping[str, Any], prefix: str, local_metadata: dict, strict: bool, *problems: list[str]
    ) -> None:
        for hook in self._load_state_dict_pre_hooks.values():
            hook(self, state_dict, prefix, local_metadata, strict, *problems)
        key = prefix + "_extra_state"
        if type(self).set_extra_state is Module.set_extra_state:
            load_from_state_dict(self, state_dict, prefix, local_metadata, strict, *problems)
            return
        missing_keys, unexpected_keys, _ = problems
        load_from_state_dict(self, state_dict, prefix, local_metadata, strict, *problems)
        if key in state_dict:
            self.set_extra_state(state_dict[key])
            unexpected_keys[:] = [name for name in unexpected_keys if name != key]
        elif strict:
            missing_keys.append(key)

    def register_state_dict_pre_hook(self, hook: Callable) -> RemovableHandle:
        """`hook(module, prefix, keep_vars)` runs before the module is saved."""
        return self._register_hook("_state_dict_pre_hooks", hook, False)

    def register_state_dict_post_hook(self, hook: Callable) -> RemovableHandle:
        """`hook(module, state_dict, prefix, local_metadata)` runs after the module is saved, and may change the dict."""
        return self._register_hook("_state_dict_hooks", hook, False)

    def register_load_state_dict_pre_hook(self, hook: Callable) -> RemovableHandle:
        """`hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)` runs before
        the module is loaded."""
        return self._register_hook("_load_state_dict_pre_hooks", hook, False)

    def register_load_state_dict_post_hook(self, hook: Callable) -> RemovableHandle:
        """`hook(module, incompatible_keys)` runs after the module is loaded."""
        return self._register_hook("_load_state_dict_post_hooks", hook, False)

    # Showing

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """The text of the module itself in `repr`. Subclasses override it."""
        return ""

    def __repr__(self) -> str:
        extra, children = self.extra_repr(), [f"({name}): {child!r}" for name, child in self._modules.items()]
        if not children and "\n" not in extra:
            return f"{self._get_name()}({extra})"
        lines = [f"  {line}" for line in extra.split("\n")] if extra else []
        return "\n".join([f"{self._get_name()}(", *lines, *map(indented, children), ")"])


def unusual(module: Module, **usual: Any) -> list[str]:
    """The settings of a module that are not the usual ones, for `extra_repr`."""
    return [f"{name}={getattr(module, name)!r}" for name, value in usual.items() if getattr(module, name) != value]


def indented(text: str) -> str:
    """The text with two spaces before each line that is not empty, for the `repr` of a module inside a module."""
    return "\n".join(f"  {line}" if line.strip() else "" for line in text.split("\n"))


def _refuse_always_call(always_call: bool) -> None:
    if always_call:
        raise NotImplementedError("rushlight leaves out always_call=True")


HOOKS = (
    *("_forward_pre_hooks", "_forward_pre_hooks_with_kwargs", "_forward_hooks", "_forward_hooks_with_kwargs"),
    *("_backward_pre_hooks", "_backward_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks"),
    *("_state_dict_pre_hooks", "_state_dict_hooks"),
)

# Hooks of all modules ------------------------------------------------------------------------------------------------

GLOBAL_HOOKS: dict[str, OrderedDict] = {registry: OrderedDict() for registry in HOOKS[:6]}
_global_forward_pre_hooks, _global_forward_hooks = GLOBAL_HOOKS["_forward_pre_hooks"], GLOBAL_HOOKS["_forward_hooks"]
_global_backward_pre_hooks = GLOBAL_HOOKS["_backward_pre_hooks"]
_global_backward_hooks = GLOBAL_HOOKS["_backward_hooks"]


def register_module_forward_pre_hook(hook: Callable) -> RemovableHandle:
    """`hook(module, args)` runs before each module's `forward`. Source: `torch/nn/modules/module.py`, as all that follow."""
    return RemovableHandle(_global_forward_pre_hooks, hook)


def register_module_forward_hook(
    hook: Callable, *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """`hook(module, args, result)` runs after each module's `forward`."""
    _refuse_always_call(always_call)
    hooks_with_kwargs = GLOBAL_HOOKS["_forward_hooks_with_kwargs"]
    return RemovableHandle(_global_forward_hooks, hook, hooks_with_kwargs, is_extra=with_kwargs)


def register_module_full_backward_pre_hook(hook: Callable) -> RemovableHandle:
    """`hook(module, grad_outputs)` runs before each module's backward."""
    return RemovableHandle(_global_backward_pre_hooks, hook)


def register_module_full_backward_hook(hook: Callable) -> RemovableHandle:
    """`hook(module, grad_inputs, grad_outputs)` runs after each module's backward."""
    return RemovableHandle(_global_backward_hooks, hook)
