"""Saving and loading a module: a dict with all its tensors by name, `"layers.0.weight"`.

Each module puts its own tensors there, and takes its own from it. What does not fit is collected over the whole tree, and
told at the end at once. In PyTorch: the second half of `torch/nn/modules/module.py`. Left out: extra state, swapping of
tensors, messages about parameters on the device `meta`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from rushlight.aten.strided import Tensor
from rushlight.autograd.grad_mode import no_grad
from rushlight.nn.parameter import Parameter, is_lazy

if TYPE_CHECKING:
    from rushlight.nn.modules.module import Module


def save_to_state_dict(module: Module, destination: dict[str, Tensor], prefix: str, keep_vars: bool) -> None:
    """Put the state of one module, without the modules in it, into a dict: `Module._save_to_state_dict`.

    These are its parameters (`_parameters`), then its buffers (`_buffers`) without those named in
    `_non_persistent_buffers_set`; those that are None are left out.

    Args:
        destination: gets each under `prefix` and its name.
        prefix: ends in a dot, unless it is empty.
        keep_vars: whether the tensors are put there themselves; otherwise detached ones (`detach`), on the same memory.

    Source: `torch/nn/modules/module.py`, `Module._save_to_state_dict`.
    """
    for name, parameter in module._parameters.items():
        if parameter is not None:
            destination[prefix + name] = parameter if keep_vars else parameter.detach()
    for name, buffer in module._buffers.items():
        if buffer is not None and name not in module._non_persistent_buffers_set:
            destination[prefix + name] = buffer if keep_vars else buffer.detach()


def state_dict(
    module: Module, destination: dict[str, Tensor] | None, prefix: str, keep_vars: bool
) -> dict[str, Tensor]:
    """The state of a module and of all modules in it: `Module.state_dict`.

    First comes that of the module itself: `module._save_to_state_dict(destination, prefix, keep_vars)`. Then, for each of its
    children (the dict `_modules`, None passed over), in their order, `child.state_dict(destination=..., prefix=...,
    keep_vars=...)` with the same destination, and with the prefix, the child's name and a dot as prefix.

    Before all this, what may be needed to read it again is noted: if the destination has an attribute `_metadata`, a dict,
    that gets `{"version": module._version}` under the prefix without the dot at its end.

    Args:
        destination: what the state is put into; None for a new `OrderedDict`, with a new `OrderedDict` as its `_metadata`.
        prefix: ends in a dot, unless it is empty.
        keep_vars: handed on.

    Returns:
        the destination.

    Source: `torch/nn/modules/module.py`, `Module.state_dict`.
    """
    if destination is None:
        destination = OrderedDict()
        destination._metadata = OrderedDict()
    if hasattr(destination, "_metadata"):
        destination._metadata[prefix[:-1]] = {"version": module._version}
    module._save_to_state_dict(destination, prefix, keep_vars)
    for name, child in module._modules.items():
        if child is not None:
            child.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
    return destination


def load_from_state_dict(
    module: Module,
    state_dict: Mapping[str, Any],
    prefix: str,
    local_metadata: dict,
    strict: bool,
    missing_keys: list[str],
    unexpected_keys: list[str],
    error_msgs: list[str],
) -> None:
    """Load what belongs to one module, without the modules in it: `Module._load_from_state_dict`. What goes wrong is noted
    in the three lists, and the rest is loaded all the same.

    The module has a *local state*: its parameters (`_parameters`), then its buffers (`_buffers`) without those named in
    `_non_persistent_buffers_set`; those that are None are left out. Its keys are `prefix` and the name. For each, in turn:

    - If `state_dict` does not have the key, it is added to `missing_keys`, if `strict`.
    - If what it has is no `Tensor`, that is a message.
    - If the tensor of the module has no dimensions and the other one has the shape (1,), element 0 of it counts.
    - If the shapes differ, that is a message that begins with `size mismatch for `, the key and a colon; nothing is copied.
    - Otherwise its elements are copied into the tensor of the module (`copy_`, within `no_grad`). If `local_metadata` has a
      true `"assign_to_params_buffers"`, it is assigned instead (`setattr`): in the place of a `Parameter`, as a `Parameter`
      (made, if it is none) with the `requires_grad` of the one that was there. An error in either is caught, and is a message.

    Tensors of the module that are lazy (`is_lazy`) have no shape, and are not asked for it.

    Then, if `strict`, each key of `state_dict` that begins with `prefix` and belongs to nothing is added to
    `unexpected_keys`, in the order of `state_dict`: what follows the prefix has to be the name of a tensor of the local
    state or, if there is a dot in it, to begin with the name of a child (a key of `_modules`), up to the first dot.

    Args:
        state_dict: its keys may be of other modules too.
        prefix: ends in a dot, unless it is empty.

    Source: `torch/nn/modules/module.py`, `Module._load_from_state_dict`.
    """
    persistent = {name: x for name, x in module._buffers.items() if name not in module._non_persistent_buffers_set}
    local_state = {name: x for name, x in (module._parameters | persistent).items() if x is not None}
    for name, tensor in local_state.items():
        key = prefix + name
        if key not in state_dict:
            if strict:
                missing_keys.append(key)
            continue
        loaded = state_dict[key]
        if not isinstance(loaded, Tensor):
            error_msgs.append(
                f'While copying the parameter named "{key}", expected a Tensor but received {type(loaded)}'
            )
            continue
        if not is_lazy(tensor):
            if tensor.dim() == 0 and loaded.shape == (1,):
                loaded = loaded[0]
            if loaded.shape != tensor.shape:
                error_msgs.append(
                    f"size mismatch for {key}: copying a param with shape {loaded.shape} from checkpoint, the shape in "
                    f"current model is {tensor.shape}."
                )
                continue
        try:
            with no_grad():
                if not local_metadata.get("assign_to_params_buffers", False):
                    tensor.copy_(loaded)
                    continue
                if isinstance(tensor, Parameter):
                    if isinstance(loaded, Parameter):
                        loaded.requires_grad_(tensor.requires_grad)
                    else:
                        loaded = Parameter(loaded, tensor.requires_grad)
                setattr(module, name, loaded)
        except Exception as error:
            error_msgs.append(f'While copying the parameter named "{key}", an exception occurred : {error.args}.')
    if strict:
        for key in state_dict:
            if key.startswith(prefix):
                first, dot, _ = key.removeprefix(prefix).partition(".")
                if first not in (module._modules if dot else local_state):
                    unexpected_keys.append(key)


def load_state_dict(module: Module, state_dict: Mapping[str, Any], strict: bool, assign: bool) -> IncompatibleKeys:
    """Load a module and all modules in it: `Module.load_state_dict`.

    For the module, and then in the same way for each of its children (the dict `_modules`, None passed over), in their
    order, each with what is in it before the next: `each._load_from_state_dict(state_dict, prefix, local_metadata, True,
    missing_keys, unexpected_keys, error_msgs)`, after which each of its `_load_state_dict_post_hooks` (a dict) is called as
    `hook(each, IncompatibleKeys(missing_keys, unexpected_keys))`, when all in it has been loaded; it may change these lists.

    - The prefix is "" for the module itself, and for a child the prefix of its parent, its name and a dot.
    - The state dict is an `OrderedDict` of the given one for the module itself, and for a child the part of its parent's
      that begins with the child's prefix, keys unchanged.
    - `local_metadata` is what the attribute `_metadata` of the given state dict, a dict by prefix without the last dot, has
      for this prefix; an empty dict, if there is none. If `assign`, `"assign_to_params_buffers"` in it is set to True.
    - The three lists are the same for all.

    Returns:
        `IncompatibleKeys(missing_keys, unexpected_keys)`.

    Raises:
        TypeError: `state_dict` is no `Mapping`.
        RuntimeError: after all is loaded, there are messages in `error_msgs`, or, if `strict`, missing or unexpected keys. Its
            message begins with the line `Error(s) in loading state_dict for Linear:`, with the name of the module's class;
            then come, each on a line after a tab, `Missing key(s) in state_dict: "a", "b". `, `Unexpected key(s) in
            state_dict: "c". ` (each with a space at its end, and only if there are any and `strict`), and the messages.

    Source: `torch/nn/modules/module.py`, `Module.load_state_dict`.
    """
    if not isinstance(state_dict, Mapping):
        raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
    missing_keys, unexpected_keys, error_msgs = [], [], []
    metadata = getattr(state_dict, "_metadata", None)

    def load(each: Module, part: Mapping[str, Any], prefix: str) -> None:
        local_metadata = {} if metadata is None else metadata.get(prefix[:-1], {})
        if assign:
            local_metadata["assign_to_params_buffers"] = True
        each._load_from_state_dict(part, prefix, local_metadata, True, missing_keys, unexpected_keys, error_msgs)
        for name, child in each._modules.items():
            if child is not None:
                child_prefix = f"{prefix}{name}."
                load(child, {k: v for k, v in part.items() if k.startswith(child_prefix)}, child_prefix)
        for hook in each._load_state_dict_post_hooks.values():
            hook(each, IncompatibleKeys(missing_keys, unexpected_keys))

    load(module, OrderedDict(state_dict), "")
    for what, keys in (("Unexpected", unexpected_keys), ("Missing", missing_keys)):
        if strict and keys:
            quoted = ", ".join(f'"{key}"' for key in keys)
            error_msgs.insert(0, f"{what} key(s) in state_dict: {quoted}. ")
    if error_msgs:
        messages = "\n\t".join(error_msgs)
        raise RuntimeError(f"Error(s) in loading state_dict for {type(module).__name__}:\n\t{messages}")
    return IncompatibleKeys(missing_keys, unexpected_keys)


class IncompatibleKeys(NamedTuple):
    """What `load_state_dict` found on one side only."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if self == ([], []):
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"
