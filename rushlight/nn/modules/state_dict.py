"""Saving and loading a module: a dict with all its tensors by name, `"layers.0.weight"`.

Each module saves its own tensors to the dict and loads its own tensors from it. Errors are collected over the whole tree and
reported once, at the end. In PyTorch: the second half of `torch/nn/modules/module.py`. Left out: swapping of
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
    """`Module._save_to_state_dict`: put the state of one module, without the modules in it, into a dict.

    The state is its parameters (`_parameters`), then its buffers (`_buffers`) without those named in
    `_non_persistent_buffers_set`. Those that are None are left out.

    Args:
        destination: gets each tensor under the key `prefix` + its name.
        prefix: ends in a dot, unless it is empty.
        keep_vars: whether the dict gets the tensors themselves; otherwise it gets detached ones (`detach`), on the same memory.

    >>> layer, state = rl.nn.Linear(1, 2), {}
    >>> save_to_state_dict(layer, state, "head.", False)
    >>> list(state), state["head.bias"].requires_grad
    (['head.weight', 'head.bias'], False)

    Source: `torch/nn/modules/module.py`, `Module._save_to_state_dict`.
    """
    for name, parameter in module._parameters.items():
        if parameter is not None:
            destination[prefix + name] = parameter if keep_vars else parameter.detach()
    for name, buffer in module._buffers.items():
        if buffer is not None and name not in module._non_persistent_buffers_set:
            destination[prefix + name] = buffer if keep_vars else buffer.detach()


def state_dict(
    module: Module, *, destination: dict[str, Tensor] | None = None, prefix: str = "", keep_vars: bool = False
) -> dict[str, Tensor]:
    """All parameters and persistent buffers of the module and of all modules in it, by name.

    They share the module's memory: nothing is copied. Each module saves itself (`_save_to_state_dict`), then its children
    (`state_dict`), whose prefix is the prefix, the child's name and a dot. Its hooks run before and after that. The attribute
    `_metadata` of the destination, if there is one, records the format version of each module under its prefix, without the dot
    at its end.

    Source: `torch/nn/modules/module.py`, `Module.state_dict`.
    """
    if destination is None:
        destination = OrderedDict()
        destination._metadata = OrderedDict()
    local_metadata = {"version": module._version}
    if hasattr(destination, "_metadata"):
        destination._metadata[prefix[:-1]] = local_metadata
    for hook in module._state_dict_pre_hooks.values():
        hook(module, prefix, keep_vars)
    module._save_to_state_dict(destination, prefix, keep_vars)
    for name, child in module._modules.items():
        if child is not None:
            child.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
    for hook in module._state_dict_hooks.values():
        if hook(module, destination, prefix, local_metadata) is not None:
            raise RuntimeError("state_dict post-hook must return None")
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
    """`Module._load_from_state_dict`: load the state of one module, without the modules in it. Errors go to the three lists, and
    the rest of the state is loaded anyway.

    The module has a *local state*: its parameters (`_parameters`), then its buffers (`_buffers`) without those named in
    `_non_persistent_buffers_set`. Those that are None are left out. The key of each is `prefix` + its name. For each, in order:

    - If `state_dict` does not have the key, add the key to `missing_keys`, if `strict`.
    - If the loaded value is not a `Tensor`, add a message to `error_msgs`.
    - If the module's tensor has no dimensions and the loaded tensor has the shape (1,), use element 0 of the loaded tensor.
    - If the shapes differ, add a message that begins with `size mismatch for `, the key and a colon, and copy nothing.
    - Otherwise, copy the elements into the module's tensor (`copy_`, in `no_grad`). If `local_metadata` has a true
      `"assign_to_params_buffers"`, assign the loaded tensor instead (`setattr`). A tensor that replaces a
      `Parameter` must be a `Parameter` (make one if it is not) and gets the `requires_grad` of the old one. Catch an error in
      either case and add a message.

    Tensors of the module that are lazy (`is_lazy`) have no shape: do not read it.

    Then, if `strict`, add each unexpected key of `state_dict` to `unexpected_keys`, in the order of `state_dict`. A key that
    begins with `prefix` is expected if the rest of it is the name of a tensor in the local state or, if the rest has a dot,
    if its part before the first dot is the name of a child (a key of `_modules`). A key that does not begin with `prefix` is
    ignored.

    Args:
        state_dict: a mapping, which is only read. It may have keys of other modules too.
        prefix: ends in a dot, unless it is empty.
        missing_keys, unexpected_keys, error_msgs: lists. Add to them, because all modules share them.

    >>> layer, missing, unexpected = rl.nn.Linear(1, 2), [], []
    >>> given = {"bias": rl.ones(2), "scale": rl.ones(2)}
    >>> load_from_state_dict(layer, given, "", {}, True, missing, unexpected, [])
    >>> layer.bias.tolist(), missing, unexpected
    ([1.0, 1.0], ['weight'], ['scale'])

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


def load_state_dict(
    module: Module, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
) -> IncompatibleKeys:
    """Load a module and all modules in it. If `assign`, the loaded tensors replace the module's; otherwise they are copied.

    Each module loads itself (`_load_from_state_dict`) from the part of the state dict that has its prefix, then its children.
    After all of them were loaded, its `_load_state_dict_post_hooks` run as `hook(module, IncompatibleKeys(missing_keys,
    unexpected_keys))`, and may change these lists.

    Raises:
        TypeError: `state_dict` is not a `Mapping`.
        RuntimeError: after loading, with all errors of all modules. If `strict`, keys that are missing or unexpected are errors.

    Source: `torch/nn/modules/module.py`, `Module.load_state_dict`.
    """
    if not isinstance(state_dict, Mapping):
        raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
    missing_keys, unexpected_keys, error_msgs = [], [], []
    metadata = getattr(state_dict, "_metadata", None)

    def load(owner: Module, part: Mapping[str, Any], prefix: str) -> None:
        local_metadata = {} if metadata is None else metadata.get(prefix[:-1], {})
        if assign:
            local_metadata["assign_to_params_buffers"] = True
        owner._load_from_state_dict(part, prefix, local_metadata, True, missing_keys, unexpected_keys, error_msgs)
        for name, child in owner._modules.items():
            if child is not None:
                child_prefix = f"{prefix}{name}."
                load(child, {k: v for k, v in part.items() if k.startswith(child_prefix)}, child_prefix)
        for hook in owner._load_state_dict_post_hooks.values():
            hook(owner, IncompatibleKeys(missing_keys, unexpected_keys))

    load(module, OrderedDict(state_dict), "")
    load = None  # it refers to itself, and so would keep the state dict alive
    for what, keys in (("Unexpected", unexpected_keys), ("Missing", missing_keys)):
        if strict and keys:
            quoted = ", ".join(f'"{key}"' for key in keys)
            error_msgs.insert(0, f"{what} key(s) in state_dict: {quoted}. ")
    if error_msgs:
        messages = "\n\t".join(error_msgs)
        raise RuntimeError(f"Error(s) in loading state_dict for {type(module).__name__}:\n\t{messages}")
    return IncompatibleKeys(missing_keys, unexpected_keys)


class IncompatibleKeys(NamedTuple):
    """The keys that `load_state_dict` found only in the module, or only in the state dict."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if self == ([], []):
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"
