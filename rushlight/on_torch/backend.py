"""A device that PyTorch does not know: "rush", whose memory is a numpy array.

PyTorch reserves three backend keys for backends outside its own source. Only `PrivateUse1` has a device type, so it is used here.
A backend that takes this key gives the device a name, allocates and copies memory, and registers kernels. Autograd, modules and
optimisers then work without further code. A tensor of such a backend is an ordinary `torch.Tensor` with sizes, strides and a
storage. Only the content of the storage is different: it is an array of bytes, an attribute of the storage. Operators without a
kernel here run on the CPU, on copies, and calls can be traced.

In PyTorch: `torch/utils/backend_registration.py`, `torch/csrc/acc/` (a backend in Python), and
`aten/src/ATen/native/CPUFallback.cpp`. Left out: several devices, streams, generators, pinned memory, serialisation.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch.utils._pytree import tree_map_only
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

from rushlight.aten.strided import contiguous_strides
from rushlight.c10.exception import warn
from rushlight.utils.child import run_in_child

DEVICE = "rush"

# Memory --------------------------------------------------------------------------------------------------------------


def empty_strided(
    size: Sequence[int],
    stride: Sequence[int],
    *,
    dtype: torch.dtype | None = None,
    layout: torch.layout | None = None,
    device: torch.device | None = None,
    pin_memory: bool | None = None,
) -> torch.Tensor:
    """A new tensor on "rush", over newly allocated memory with arbitrary contents.

    `torch._C._acc.create_empty_tensor(size, dtype)` returns a contiguous tensor of this device whose storage has no bytes.
    Assign a one-dimensional numpy array of uint8 to `tensor.untyped_storage().memory`: it is the tensor's memory from then
    on. The attribute lives as long as the storage does, and all views share the storage.
    `torch.ops.inductor._reinterpret_tensor(tensor, size, stride, 0)` returns a tensor with the same storage and other sizes
    and strides.

    Args:
        size, stride: of the tensor, lists or tuples, in elements; strides are 0 or more.
        dtype: None means `torch.get_default_dtype()`.
        device, layout, pin_memory: as `aten::empty_strided` passes them; there is only one device.

    Returns:
        the tensor; its memory has as many bytes as it takes to reach its last element, 0 if it has no elements.

    Raises:
        RuntimeError: a layout other than None and `torch.strided`, or pinned memory.

    >>> run_on_device(lambda: empty_strided((2, 3), (4, 1), dtype=torch.float32).untyped_storage().memory.nbytes)
    28

    Source: `aten::empty_strided`; `aten/src/ATen/EmptyTensor.cpp`, `computeStorageNbytes`.
    """
    if layout not in (None, torch.strided) or pin_memory:
        raise RuntimeError(f"{DEVICE} has strided tensors only, and no pinned memory")
    dtype = torch.get_default_dtype() if dtype is None else dtype
    elements = 0 if 0 in size else sum(((n - 1) * step for n, step in zip(size, stride)), 1)
    tensor = torch._C._acc.create_empty_tensor((), dtype)
    tensor.untyped_storage().memory = np.empty(elements * dtype.itemsize, np.uint8)
    return torch.ops.inductor._reinterpret_tensor(tensor, size, stride, 0)


def array_of(tensor: torch.Tensor) -> np.ndarray:
    """A tensor's elements as a numpy array over the same memory, on "rush" or on the CPU."""
    if tensor.device.type == "cpu":
        return tensor.detach().numpy()
    dtype = np.dtype(str(tensor.dtype).removeprefix("torch."))
    if tensor.numel() == 0:
        return np.empty(tensor.shape, dtype)
    steps = [step * dtype.itemsize for step in tensor.stride()]
    memory = tensor.untyped_storage().memory
    return np.ndarray(tensor.shape, dtype, memory.data, tensor.storage_offset() * dtype.itemsize, steps)


def as_strided(
    self: torch.Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> torch.Tensor:
    """Another tensor over the same storage. All views (`t`, `expand`, `select`, slices) call this kernel.

    `torch.ops.inductor._reinterpret_tensor(self, size, stride, offset)` makes the tensor without any checks. Its offset is
    counted from the first element of `self`.

    Args:
        self: a tensor on "rush".
        size, stride: of the result, lists or tuples, in elements.
        storage_offset: of the result, in elements from the beginning of the memory; None means that of `self`.

    Raises:
        RuntimeError: a stride or the offset is negative, or the result has elements and would reach beyond the memory.

    >>> run_on_device(lambda: as_strided(torch.arange(5.0).to(DEVICE), (2, 2), (1, 2), 1).cpu().tolist())
    [[1.0, 3.0], [2.0, 4.0]]

    Source: `aten::as_strided`; `aten/src/ATen/native/Resize.h`, `checkInBoundsForStorage`.
    """
    offset = self.storage_offset() if storage_offset is None else storage_offset
    if offset < 0 or any(step < 0 for step in stride):
        raise RuntimeError(f"as_strided: strides {list(stride)} and offset {offset} must not be negative")
    reach = sum(((n - 1) * step for n, step in zip(size, stride)), offset + 1)
    if 0 not in size and reach * self.dtype.itemsize > self.untyped_storage().memory.nbytes:
        raise RuntimeError(f"as_strided: {reach} elements are more than there is memory for")
    return torch.ops.inductor._reinterpret_tensor(self, size, stride, offset - self.storage_offset())


def copy_from(self: torch.Tensor, dst: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
    """Copy the elements of `self` into `dst`: the only path between devices (`to`, `cpu`, `copy_`, `clone`, `contiguous`).

    Args:
        self, dst: one of them or both on "rush", the other on the CPU; any strides, any dtypes that numpy has. `self` is
            broadcast to the sizes of `dst`, and its elements are converted. The two may share memory: `dst` gets the values
            that `self` had before.
        non_blocking: whether the call may return before the copy has ended; here it never does.

    Returns:
        `dst` itself.

    Raises:
        RuntimeError: `self` cannot be broadcast to the sizes of `dst`, also if it only has more dimensions, of size 1.

    >>> run_on_device(lambda: copy_from(torch.arange(3.0), torch.zeros(2, 3).to(DEVICE)).cpu().tolist())
    [[0.0, 1.0, 2.0], [0.0, 1.0, 2.0]]

    Source: `aten::_copy_from`; `aten/src/ATen/native/Copy.cpp`, `copy_impl`.
    """
    try:
        source = np.broadcast_to(array_of(self), dst.shape)  # numpy would drop leading dimensions of size 1, too
    except ValueError:
        raise RuntimeError(f"copy: {tuple(self.shape)} does not broadcast to {tuple(dst.shape)}") from None
    np.copyto(array_of(dst), source, casting="unsafe")
    return dst


# Kernels ---------------------------------------------------------------------------------------------------------------
#
# A structured operator (`mm`, `add`, `sum`) needs only a kernel of its `out` form: PyTorch computes the sizes and the dtype, calls
# `aten::empty.memory_format`, and passes the tensor to fill.


def empty(size: Sequence[int], *, memory_format: Any = None, **options: Any) -> torch.Tensor:
    """The kernel of `empty.memory_format` on "rush": a new contiguous tensor with arbitrary contents."""
    return empty_strided(size, contiguous_strides(size), **options)


def view(self: torch.Tensor, size: Sequence[int]) -> torch.Tensor:
    """The kernel of `view` on "rush": PyTorch computes the strides of the view, or raises, on the device `meta`."""
    # a tensor on "meta" has only sizes and strides: PyTorch's own rules compute the view, or raise
    seen = torch.empty_strided(self.shape, self.stride(), device="meta").view(size)
    return as_strided(self, seen.shape, seen.stride())


def write_result_of(function: Callable, out: str = "out") -> Callable:
    """A kernel that writes the result of a function of numpy into its argument `out`. A number among the operands (`x * 2`)
    is a tensor for the dispatcher, and a number again when it reaches Python."""

    def kernel(*inputs: Any, **options: Any) -> torch.Tensor:
        result = options.pop(out)
        arrays = [array_of(value) if isinstance(value, torch.Tensor) else value for value in inputs]
        array_of(result)[...] = function(*arrays, **options)
        return result

    return kernel


def sum_out(self: torch.Tensor, dim: Any, keepdim: bool = False, *, out: torch.Tensor, **dtype: Any) -> torch.Tensor:
    """The kernel of `sum.IntList_out` on "rush". It computes in the dtype of `out`."""
    array_of(out)[...] = array_of(self).sum(tuple(dim or range(self.dim())), array_of(out).dtype, keepdims=keepdim)
    return out


def relu(self: torch.Tensor) -> torch.Tensor:  # not structured, so it allocates
    """The kernel of `relu` on "rush". The operator is not structured, so its kernel allocates the result."""
    result = empty(self.shape, dtype=self.dtype)
    np.maximum(array_of(self), 0, out=array_of(result))
    return result


def fill_(self: torch.Tensor, value: float) -> torch.Tensor:
    """The kernel of `fill_.Scalar` on "rush"."""
    array_of(self)[...] = value
    return self


KERNELS: dict[str, Callable] = {
    "empty.memory_format": empty,
    "empty_strided": empty_strided,
    "as_strided": as_strided,
    "view": view,
    "_copy_from": copy_from,
    "fill_.Scalar": fill_,
    "relu": relu,
    "threshold_backward.grad_input": write_result_of(lambda grad, x, at: np.where(x <= at, 0, grad), "grad_input"),
    "add.out": write_result_of(lambda x, y, alpha=1: x + alpha * y),
    "mul.out": write_result_of(np.multiply),
    "mm.out": write_result_of(np.matmul),
    # 0 * nan is not 0
    "addmm.out": write_result_of(lambda z, x, y, beta=1, alpha=1: (beta * z if beta else 0) + alpha * (x @ y)),
    "sum.IntList_out": sum_out,
}
"""The kernels that the backend registers, by the names of operators in `aten`. All other operators run on the CPU, on
copies."""


# Everything else -----------------------------------------------------------------------------------------------------


def cpu_fallback(op: Any, *args: Any, **kwargs: Any) -> Any:
    """Run an operator that this device has no kernel for on the CPU.

    Every tensor on "rush" among the arguments, also in lists and tuples, is copied to the CPU, and every `torch.device`
    becomes the CPU. The operator is called with these arguments, and its results are copied to "rush". (Use
    `tensor.cpu().clone()`: a tensor that numpy shares cannot be resized, and an operator may resize it.)
    An argument that the operator writes into (`is_write` of `op._schema.arguments`; a tensor, or a list of tensors) gets the
    values that its copy has afterwards, and is itself returned instead of the copy. If the operator has given the copy other
    sizes (for example an `out` of size 0), `argument.data = ...` makes it the new tensor.
    Two arguments that share memory get a copy each, as in PyTorch's own fallback. So the operator does not see that they
    overlap, and if it writes into one, its copy of the other does not change.

    Args:
        op: the operator, an OpOverload such as `torch.ops.aten.add_.Tensor`.
        args, kwargs: its arguments. A tensor on the CPU is passed, and returned, unchanged.

    Returns:
        the operator's result: tensors, also in tuples and lists, on "rush"; numbers and None unchanged.

    Raises:
        NotImplementedError: the operator returns a view of an argument (`op._schema.returns`: an `alias_info` that is not a
            write). A copy would not share memory with the argument.
        Any error of the operator.

    >>> def program():
    ...     x = torch.tensor([3.0, 1.0]).to(DEVICE)
    ...     return cpu_fallback(torch.ops.aten.neg_.default, x) is x, x.cpu().tolist()
    >>> run_on_device(program)
    (True, [-3.0, -1.0])

    Source: `aten/src/ATen/native/CPUFallback.cpp`, `cpu_fallback`.
    """
    if any(result.alias_info is not None and not result.alias_info.is_write for result in op._schema.returns):
        raise NotImplementedError(f"{op.name()} is a view: it needs a kernel for {DEVICE}, a copy would not do")
    originals = {}  # by the id of the copy; the copy is kept, because ids of deleted objects are reused

    def to_cpu(tensor):
        copy = tensor.cpu().clone() if tensor.device.type == DEVICE else tensor
        originals[id(copy)] = tensor, copy
        return copy

    def to_device(tensor):
        return originals[id(tensor)][0] if id(tensor) in originals else tensor.to(DEVICE)

    def write_back(copy):
        original = to_device(copy)
        if original.shape == copy.shape:
            original.copy_(copy)
        else:
            original.data = copy.to(DEVICE)

    args, kwargs = tree_map_only(torch.device, lambda device: torch.device("cpu"), (args, kwargs))
    args, kwargs = tree_map_only(torch.Tensor, to_cpu, (args, kwargs))
    result = op(*args, **kwargs)
    for place, argument in enumerate(op._schema.arguments):
        if argument.is_write:
            tree_map_only(torch.Tensor, write_back, args[place] if place < len(args) else kwargs.get(argument.name))
    return tree_map_only(torch.Tensor, to_device, result)


# Tracing calls -------------------------------------------------------------------------------------------------------

_traces: list[list[str]] = []  # of the active `trace` contexts
_depth = threading.local()  # per thread: the engine of autograd runs a device's backward pass in a thread of its own


@contextlib.contextmanager
def trace() -> Iterator[list[str]]:
    """In this context every call that reaches a kernel of this device adds a line to the list, indented below the call that
    made it. The lines are printed at the end. Source: `TORCH_SHOW_DISPATCH_TRACE`, which only debug builds of PyTorch
    have."""
    lines: list[str] = []
    _traces.append(lines)
    try:
        yield lines
    finally:
        _traces.remove(lines)
        print("\n".join(lines))


def record_calls(name: str, kernel: Callable) -> Callable:
    """A kernel that records its calls."""

    def call(*args: Any, **kwargs: Any) -> Any:
        depth = getattr(_depth, "value", 0)
        if _traces:
            given = [*map(_describe, args), *(f"{key}={_describe(value)}" for key, value in kwargs.items())]
            for lines in _traces:
                lines.append(f"{'  ' * depth}{name}({', '.join(given)})")
        _depth.value = depth + 1
        try:
            return kernel(*args, **kwargs)
        finally:
            _depth.value = depth

    return call


def _describe(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"{value.device.type} {str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
    return f"[{', '.join(map(_describe, value))}]" if isinstance(value, (list, tuple)) else str(value)


# Registering ---------------------------------------------------------------------------------------------------------

_libraries: list[torch.library.Library] = []  # a registration lasts as long as its Library


def register_backend() -> None:
    """Register on `PrivateUse1`: name, device, kernels and fallback. Once per process; a second call does nothing.

    Call this before the process has run any backward pass: at its first one the autograd engine counts the devices, and it
    starts no thread for a device that is registered later. If it is too late, a warning says so, and everything except
    backward works.

    Source: `torch/utils/backend_registration.py`, `_setup_privateuseone_for_python_backend`;
    `torch/csrc/autograd/engine.cpp`, `start_device_threads`.
    """
    if _libraries:
        return
    _register()
    if not _engine_knows_device():
        way_out = "start a new process, and register first"
        problem = f"a backward pass has run in this process already: none can run on {DEVICE} ({way_out})"
        warn(problem)


def _register() -> None:
    _setup_privateuseone_for_python_backend(DEVICE)
    kernels, rest = torch.library.Library("aten", "IMPL"), torch.library.Library("_", "IMPL")
    for name, kernel in KERNELS.items():
        kernels.impl(name, record_calls(f"aten::{name}", kernel), "PrivateUse1")

    def fallback(op: Any, *args: Any, **kwargs: Any) -> Any:
        return record_calls(f"{op.name()} on the CPU: ", cpu_fallback)(op, *args, **kwargs)

    rest.fallback(fallback, "PrivateUse1")
    _libraries.extend([kernels, rest])


def _engine_knows_device() -> bool:
    probe, grad = (torch._C._acc.create_empty_tensor((0,), torch.float32) for _ in range(2))
    for tensor in (probe, grad):
        tensor.untyped_storage().memory = np.empty(0, np.uint8)
    try:
        torch.autograd.backward(probe.requires_grad_(), grad)
    except RuntimeError as error:  # perhaps of a kernel that is not written yet
        return "device_ready_queues_" not in str(error)
    return True


def run_on_device(program: Callable, *args: Any) -> Any:
    """Return `program(*args)`, run in a forked child in which the device is registered.

    A registered device lasts until its process ends, and so does the thread that the autograd engine starts for it. After
    that thread has started, no fork of the process can run backward. `run_on_device` leaves this process unchanged. If the device
    is registered already, or the system cannot fork, the program runs in this process.

    Args:
        program: returns a value that can be pickled, for instance tensors on the CPU. Its output is printed here.

    Raises:
        the exception of the program; ChildProcessError if the child dies.
    """
    if _libraries or not hasattr(os, "fork"):
        register_backend()
        return program(*args)
    return run_in_child(_registered, program, *args)


def _registered(program: Callable, *args: Any) -> Any:
    _register()
    return program(*args)
