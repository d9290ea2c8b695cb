"""The private functions of `torch._C` that inspect the dispatcher and the engine, under the same names. In PyTorch:
`torch/csrc/utils/python_dispatch.cpp`, `torch/csrc/autograd/init.cpp`, `torch/csrc/autograd/python_engine.cpp`."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from types import SimpleNamespace
from typing import Any

from rushlight.aten.strided import disabled_torch_function_impl as _disabled_torch_function_impl
from rushlight.autograd.engine import GraphTask
from rushlight.autograd.function import delayed_error
from rushlight.autograd.grad_mode import is_grad_enabled
from rushlight.autograd.gradcheck import UndefinedGrad
from rushlight.autograd.graph import AccumulateGrad, Node, SavedTensor
from rushlight.c10 import dispatch
from rushlight.c10.dispatch import ALIASES, RUNTIME_KEYS, DispatchKey, DispatchKeySet, bits, including, local, operators
from rushlight.c10.dispatch import excluding as _ExcludeDispatchKeyGuard  # noqa: N812  (takes a key set)
from rushlight.c10.dispatch import keys_below as _dispatch_keyset_full_after
from rushlight.c10.dispatch import show_key_set as _dispatch_keyset_to_string
from rushlight.c10.schema import parse_schema
from rushlight.library import parse_key as _parse_dispatch_key

__all__ = [
    "DispatchKey", "DispatchKeySet", "parse_schema", "_ExcludeDispatchKeyGuard", "_dispatch_keyset_full_after",
    "_dispatch_keyset_to_string", "_disabled_torch_function_impl", "_parse_dispatch_key", "is_grad_enabled",
]  # fmt: skip


def _IncludeDispatchKeyGuard(key: DispatchKey) -> AbstractContextManager:  # noqa: N802
    """A context that adds a key to the included set of this thread."""
    return including(bits(key))


def _set_grad_enabled(enabled: bool) -> None:
    """Set the grad mode: the node that captured graphs have for `torch.no_grad()`."""
    local.grad_enabled = enabled


def _get_tracing_state() -> None:
    """None: TorchScript traces nothing here."""


def _current_graph_task_id() -> int:
    """The number of the backward pass that is running; -1 outside of one."""
    return -1 if local.graph_task is None else local.graph_task.id


def _graph_task() -> GraphTask:
    """The run of the backward pass that this thread is in. Outside of a backward pass it raises a `RuntimeError`."""
    if local.graph_task is None:
        raise RuntimeError("this should only be called during the backward pass")
    return local.graph_task


def _will_engine_execute_node(node: Node) -> bool:
    """Whether the backward pass that is running runs a node."""
    if not isinstance(node, Node):
        raise RuntimeError(f"_will_engine_execute_node expects an grad_fn, but got {type(node).__name__}")
    return _graph_task().will_execute(node)


def _unsafe_set_version_counter(tensors: Sequence[Any], versions: Sequence[int]) -> None:
    """Set the version counters of tensors without a check that nothing has saved them. A negative version raises a
    `RuntimeError`."""
    for tensor, version in zip(tensors, versions):
        if version < 0:
            raise RuntimeError(f"Cannot set a version_counter to a value below 0: {version}")
        tensor._storage.version = version


class DelayedError:
    """`DelayedError(message, n)(*tensors)`: the n tensors with a history that raises in backward."""

    def __init__(self, msg: str, num_inputs: int) -> None:
        self.message, self.number = msg, num_inputs

    def __call__(self, *tensors: Any) -> Any:
        results = delayed_error(self.message, tensors)
        return results[0] if self.number == 1 else results


_functions = SimpleNamespace(
    AccumulateGrad=AccumulateGrad, DelayedError=DelayedError, UndefinedGrad=lambda: UndefinedGrad.apply
)
_autograd = SimpleNamespace(
    SavedTensor=SavedTensor,
    _get_current_graph_task_keep_graph=lambda: _graph_task().keep_graph,
    _saved_tensors_hooks_is_enabled=lambda: local.saved_tensors_hooks_disabled is None,
    _unsafe_set_version_counter=_unsafe_set_version_counter,
)


def _dispatch_keys(tensor) -> int:
    """The key set of a tensor."""
    return tensor._key_set


def _dispatch_tls_local_include_set() -> int:
    """The dispatch keys that this thread adds to those of its tensors, as a set of bits."""
    return local.included


def _dispatch_tls_local_exclude_set() -> int:
    """The dispatch keys that this thread leaves out, as a set of bits."""
    return local.excluded


def _dispatch_has_kernel_for_dispatch_key(name: str, key: str) -> bool:
    """Whether an operator, such as "aten::add.Tensor", has a kernel of its own for a key."""
    return _parse_dispatch_key(key) in operators[name].kernels


def _dispatch_dump(name: str) -> str:
    """The registrations of an operator."""
    operator = operators[name]
    lines = [f"name: {name}", f"schema: {operator.schema}", f"debug: {operator.defined_at}"]
    for key, kernel in sorted(operator.kernels.items()):
        alias = "[alias]" if key.name in ALIASES else ""
        lines.append(f"{key.name}{alias}: {kernel.origin}")
    return "\n".join(lines) + "\n"


def _dispatch_dump_table(name: str) -> str:
    """An operator's computed table: for each key with a kernel, the kernel's origin, and the reason in brackets."""
    entries = [(key, *operators[name].entry(key)) for key in (DispatchKey.Undefined, *RUNTIME_KEYS)]
    return "".join(
        f"{key.name}: {'fallthrough ' if kernel is dispatch.FALLTHROUGH else ''}{kernel.origin} [{reason}]\n"
        for key, kernel, reason in entries
        if kernel is not dispatch.MISSING
    )


def __getattr__(name: str):
    """`_C._nn` is `nn.functional`: the code of a traced graph calls `torch._C._nn.linear`."""
    if name == "_nn":  # generated code calls rushlight._C._nn.linear
        from rushlight.nn import functional

        return functional
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
