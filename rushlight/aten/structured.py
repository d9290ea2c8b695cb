"""Structured kernels: what a result will be, apart from how it is computed.

Most operators come in three forms: `add` allocates its result, `add_` writes over its first argument, `add(out=)` over a
given tensor. A structured kernel is written once, as two functions: `meta` looks at the arguments and says which sizes,
strides and dtype the result has, or raises; `impl` fills a result that is there. The forms follow, and so does the kernel
for tensors on the device `meta`, which have no memory. PyTorch generates the same from `structured: True` in
`native_functions.yaml` (`torchgen/gen.py`, `aten/src/ATen/TensorMeta.h`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from rushlight.aten.iterator import assert_no_internal_overlap, assert_no_partial_overlap
from rushlight.aten.strided import Size, Tensor, contiguous_strides, empty_strided, storage_size
from rushlight.c10.dtypes import can_cast, dtype


class Output(NamedTuple):
    """What a result will be. `strides` are in elements; None for contiguous ones."""

    sizes: Sequence[int]
    strides: Sequence[int] | None
    dtype: dtype


@dataclass
class Structured:
    """`meta(*args) -> Output` and `impl(*args, out)`.

    `casts` says that `impl` can write into a tensor of another dtype, as TensorIterator can; then `out` and in-place may
    have any dtype that the result's can be cast to, else just this one.
    """

    meta: Callable[..., Output]
    impl: Callable[..., Any]
    casts: bool = False

    # The kernels, as the dispatcher registers them

    def functional(self, *args):
        return call_functional(self, args)

    def on_meta(self, *args):
        return allocate(self.meta(*args), "meta")

    def inplace(self, *args):
        return call_inplace(self, args)

    def out(self, *args):
        return call_out(self, args[:-1], args[-1])


def allocate(output: Output, device: str = "cpu") -> Tensor:
    strides = contiguous_strides(output.sizes) if output.strides is None else output.strides
    return empty_strided(output.sizes, strides, output.dtype, device)


def call_functional(kernel: Structured, args: Sequence) -> Tensor:
    """The functional form: a new tensor, filled by the kernel.

    `kernel.meta(*args)` says what the result will be, an `Output`, or refuses; then a tensor of these sizes, strides
    and dtype is allocated (`empty_strided`; strides None are contiguous ones, `contiguous_strides`); then
    `kernel.impl(*args, out)` fills it.

    Returns:
        the new tensor, whatever `impl` returns.

    Source: `torchgen/dest/register_dispatch_key.py`, `structured_..._functional`; `aten/src/ATen/EmptyTensor.cpp`.
    """
    output = kernel.meta(*args)
    strides = contiguous_strides(output.sizes) if output.strides is None else output.strides
    out = empty_strided(output.sizes, strides, output.dtype)
    kernel.impl(*args, out)
    return out


def call_inplace(kernel: Structured, args: Sequence) -> Tensor:
    """The in-place form: the result is written over the first argument, which keeps its sizes, strides and dtype.

    First `kernel.meta(*args)` is asked and says what the result would be, an `Output`, or refuses; then what would be wrong
    is refused (below); then `kernel.impl(*args, out)` runs with the first argument as `out`, unless that is on the device
    meta (`is_meta`) and has no memory to write to.

    Returns:
        the first argument.

    Raises:
        RuntimeError: the first argument has another shape than the result; the result's dtype cannot be cast to its
            (`can_cast`), or is another one though the kernel does not cast (`kernel.casts`); elements of it overlap
            (`assert_no_internal_overlap`), or it overlaps in part with another tensor argument
            (`assert_no_partial_overlap`). `check_writable` looks at all but the shape.

    Source: `torchgen/dest/register_dispatch_key.py`, `structured_..._inplace`; `aten/src/ATen/TensorIterator.cpp`.
    """
    self, output = args[0], kernel.meta(*args)
    if tuple(output.sizes) != self.shape:
        raise RuntimeError(
            f"output with shape {list(self.shape)} doesn't match the broadcast shape {list(output.sizes)}"
        )
    check_writable(kernel, args, self, output)
    if not self.is_meta:
        kernel.impl(*args, self)
    return self


def call_out(kernel: Structured, args: Sequence, out: Tensor) -> Tensor:
    """The out= form: the result is written into `out`, which is resized to it if need be and keeps its dtype.

    `kernel.meta(*args)` says what the result will be, an `Output`, or refuses; what is wrong with the dtype or the memory of
    `out` is refused as for the in-place form (`check_writable`); `resize_output` gives it the sizes and, if it had others, the
    strides too; `kernel.impl(*args, out)` fills it, unless it is on the device meta (`is_meta`).

    Returns:
        `out`.

    Source: `torchgen/dest/register_dispatch_key.py`, `structured_..._out`.
    """
    output = kernel.meta(*args)
    check_writable(kernel, args, out, output)
    resize_output(out, output.sizes, output.strides)
    if not out.is_meta:
        kernel.impl(*args, out)
    return out


def check_writable(kernel: Structured, args: Sequence, out: Tensor, output: Output) -> None:
    """Refuse to write a result, `output`, into `out` if its dtype or its memory will not do."""
    if kernel.casts and not can_cast(output.dtype, out.dtype):
        raise RuntimeError(
            f"result type {output.dtype.type_name} can't be cast to the desired output type {out.dtype.type_name}"
        )
    if not kernel.casts and output.dtype is not out.dtype:
        raise RuntimeError(f"Expected out tensor to have dtype {output.dtype.name}, but got {out.dtype.name} instead")
    assert_no_internal_overlap(out)
    for arg in args:
        if isinstance(arg, Tensor):
            assert_no_partial_overlap(out, arg)


def resize_output(out: Tensor, sizes: Sequence[int], strides: Sequence[int] | None = None) -> bool:
    """Give an `out` tensor the sizes of a result. Returns whether it had others.

    If it has these sizes already nothing happens: its strides stay, whatever they are. Otherwise it is resized in place
    (`resize_`): it gets the given `strides`, or contiguous ones, and more memory if its storage is too small. If it had
    elements there is one `UserWarning` (`warn_resized` gives it), since they are lost.

    Args:
        sizes: of the result, a tuple or a list.
        strides: of the result, in elements; None for contiguous ones.

    Source: `aten/src/ATen/native/Resize.cpp`, `resize_output`.
    """
    if tuple(sizes) == out.shape:
        return False
    if out.numel():
        warn_resized(out, sizes)
    resize_(out, sizes, strides)
    return True


def warn_resized(out: Tensor, sizes: Sequence[int]) -> None:
    warnings.warn(
        f"An output with one or more elements was resized since it had shape {list(out.shape)}, which does not match "
        f"the required output shape {list(sizes)}. To have it resized, empty it before: out.resize_(0)",
        stacklevel=5,
    )


def resize_(self: Tensor, sizes: Sequence[int], strides: Sequence[int] | None = None) -> Tensor:
    """Other sizes in place, on the same storage, which grows if it is too small; its bytes stay. Strides are contiguous
    unless given; the storage offset stays.

    In PyTorch all tensors on a storage see it grow; here those that were looked at before keep the old memory.

    Source: `aten/src/ATen/native/Resize.cpp`, `resize_`.
    """
    if min(sizes, default=0) < 0:
        raise RuntimeError(f"Trying to resize a tensor to negative sizes: {list(sizes)}")
    self._sizes, self._strides = Size(sizes), tuple(contiguous_strides(sizes) if strides is None else strides)
    needed = storage_size(self._sizes, self._strides, self._storage_offset) * self.dtype.itemsize
    self._storage.grow(needed)
    self.forget_metadata()
    return self
