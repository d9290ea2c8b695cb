"""Structured kernels: shape inference separate from computation.

Most operators have three forms: `add` allocates its result, `add_` overwrites its first argument, `add(out=)` overwrites a
given tensor. A structured kernel is written once, as two functions. `meta` checks the arguments and returns the sizes, strides
and dtype of the result, or raises. `impl` fills an allocated result. The three forms follow from these, and so does the kernel
for tensors on the device `meta`, which have no memory. PyTorch generates the same from `structured: True` in
`native_functions.yaml` (`torchgen/gen.py`, `aten/src/ATen/TensorMeta.h`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rushlight.aten import iterator
from rushlight.aten.iterator import Output, assert_no_internal_overlap, assert_no_partial_overlap, plan_key, wrap
from rushlight.aten.strided import META, Tensor, contiguous_strides, empty_strided, plain_strides, size_of, storage_size
from rushlight.c10.dtypes import FLOATING, can_cast, dtype
from rushlight.c10.exception import warn
from rushlight.c10.fast_paths import Cache, fast_form_of
from rushlight.c10.memory_formats import channels_last, channels_last_strides, suggest_memory_format


@dataclass
class Structured:
    """`meta(*args) -> Output` and `impl(*args, out)`. `@partial(Structured, meta)` makes an `impl` a kernel.

    If `casts` is true, `impl` can write into a tensor of another dtype, like TensorIterator. Then the `out` and in-place forms
    accept any dtype to which the result's dtype can be cast. Otherwise they accept only the result's dtype.
    """

    meta: Callable[..., Output]
    impl: Callable[..., Any]
    casts: bool = False
    idempotent: bool = False  # the memory of a result may overlap itself

    # The kernels that the dispatcher registers

    def functional(self, *args):
        return call_functional(self, args)

    def on_meta(self, *args):
        return allocate(self.meta(*args), "meta")

    def inplace(self, *args):
        return call_inplace(self, args)

    def out(self, *args):
        return call_out(self, args[:-1], args[-1])


def planned(
    kernel: Structured, count: int, set_up: Callable[..., tuple[Callable, Sequence]], is_like_ufunc: bool = False
) -> Structured:
    """The same kernel with fast forms: its functional and in-place forms set up their loop once, and keep its plan for the next
    operands of the same key (`iterator.plan_key`). Other forms, and results without elements, set it up in each call.

    Args:
        count: how many arguments it has. With one to three arguments the most frequent calls look up their plan without `plan_key`
            (`call_unary`, `call_binary`, `call_ternary`). `call_any` looks up or adds the plan of any call.
        set_up: `set_up(*args)` returns the function of the loop and the converters of its operands, or raises.
        is_like_ufunc: whether the function converts Python numbers, and has `out` as its last parameter, as a ufunc does.
    """
    plans, plans_in_place = Cache("aten"), Cache("aten")

    def call_any(*args: Any) -> Tensor:
        key, operands = plan_key(args)
        plan = plans.get(key)
        if plan is None:
            output = kernel.meta(*args)
            if 0 in output.sizes:
                return call_functional(kernel, args)
            function, converters = set_up(*args)
            plan, array = iterator.plan(function, output, operands, converters)
            return wrap(array, plans.add(key, plan))
        return wrap(plan.run(*operands), plan)

    def call_unary(self: Tensor) -> Tensor:
        plan = plans.get((self._sizes, self._strides, self.dtype))
        return call_any(self) if plan is None else wrap(plan.run(self._array), plan)

    def call_binary(self: Any, other: Any) -> Tensor:
        if not isinstance(other, Tensor):
            kind = other if other.__class__ is str else other.__class__
            plan = plans.get((self._sizes, self._strides, self.dtype, kind))
            if plan is not None:
                return wrap(plan.run(self._array, other), plan)
        elif isinstance(self, Tensor):
            plan = plans.get((self._sizes, self._strides, self.dtype, other._sizes, other._strides, other.dtype))
            if plan is not None:
                return wrap(plan.run(self._array, other._array), plan)
        else:
            plan = plans.get((self.__class__, other._sizes, other._strides, other.dtype))
            if plan is not None:
                return wrap(plan.run(self, other._array), plan)
        return call_any(self, other)

    def call_ternary(self: Any, other: Any, number: Any) -> Tensor:
        if isinstance(self, Tensor) and isinstance(other, Tensor) and not isinstance(number, Tensor):
            key = self._sizes, self._strides, self.dtype, other._sizes, other._strides, other.dtype, number.__class__
            plan = plans.get(key)
            if plan is not None:
                return wrap(plan.run(self._array, other._array, number), plan)
        return call_any(self, other, number)

    def call_any_in_place(self: Tensor, *rest: Any) -> Tensor:
        args = (self, *rest)
        if self._key_set & META or self._storage in [arg._storage for arg in rest if isinstance(arg, Tensor)]:
            return call_inplace(kernel, args)
        key, operands = plan_key(args)
        run = plans_in_place.get(key)
        if run is not None:
            run(*operands, self._array)
            return self
        call_inplace(kernel, args)
        if 0 not in self._sizes and kernel.meta(*args).dtype is self.dtype:
            plans_in_place.add(key, iterator.plan_in_place(*set_up(*args), is_like_ufunc))
        return self

    def call_binary_in_place(self: Tensor, other: Any) -> Tensor:
        if not isinstance(other, Tensor):
            run = plans_in_place.get((self._sizes, self._strides, self.dtype, other.__class__))
            if run is not None and not self._key_set & META:
                run(self._array, other, self._array)
                return self
        elif other._storage is not self._storage:
            key = self._sizes, self._strides, self.dtype, other._sizes, other._strides, other.dtype
            run = plans_in_place.get(key)
            if run is not None and not self._key_set & META:
                run(self._array, other._array, self._array)
                return self
        return call_any_in_place(self, other)

    def call_ternary_in_place(self: Tensor, other: Any, number: Any) -> Tensor:
        if isinstance(other, Tensor) and other._storage is not self._storage and not isinstance(number, Tensor):
            key = self._sizes, self._strides, self.dtype, other._sizes, other._strides, other.dtype, number.__class__
            run = plans_in_place.get(key)
            if run is not None and not self._key_set & META:
                run(self._array, other._array, number, self._array)
                return self
        return call_any_in_place(self, other, number)

    functional_forms: dict[int, Callable] = {1: call_unary, 2: call_binary, 3: call_ternary}
    forms_in_place: dict[int, Callable] = {2: call_binary_in_place, 3: call_ternary_in_place}
    fast_form_of(kernel.functional)(functional_forms.get(count, call_any))
    fast_form_of(kernel.inplace)(forms_in_place.get(count, call_any_in_place))
    return kernel


def planned_by_value(kernel: Structured, set_up: Callable[..., Callable | None], tensors: int = 1) -> Structured:
    """The same kernel with a fast functional form, which plans as `planned` does. Its first arguments are tensors. The key has the
    values of the others, such as dimensions and dtypes.

    `set_up(*args)` returns the function of the tensors' arrays, raises, or returns None if the call is not planned.
    """
    plans = Cache("aten")

    def call_any(key: tuple, args: Sequence) -> Tensor:
        output = kernel.meta(*args)
        function = None if 0 in output.sizes else set_up(*args)
        if function is None:
            return call_functional(kernel, args)
        arrays = [arg._array for arg in args[:tensors]]
        plan, array = iterator.plan(function, output, arrays, (), is_pointwise=False)
        return wrap(array, plans.add(key, plan))

    def call_unary(self: Tensor, *settings: Any) -> Tensor:
        key = self._sizes, self._strides, self.dtype, *settings
        try:
            plan = plans.get(key)
        except TypeError:  # a list of dimensions has no hash
            if list not in map(type, settings):
                raise
            return call_unary(self, *[tuple(setting) if setting.__class__ is list else setting for setting in settings])
        return call_any(key, (self, *settings)) if plan is None else wrap(plan.run(self._array), plan)

    def call_binary(self: Tensor, other: Tensor, *settings: Any) -> Tensor:
        key = self._sizes, self._strides, self.dtype, other._sizes, other._strides, other.dtype, *settings
        plan = plans.get(key)
        if plan is None:
            return call_any(key, (self, other, *settings))
        return wrap(plan.run(self._array, other._array), plan)

    def call_ternary(self: Tensor, a: Tensor, b: Tensor, *settings: Any) -> Tensor:
        key_of_two = self._sizes, self._strides, self.dtype, a._sizes, a._strides, a.dtype
        key = *key_of_two, b._sizes, b._strides, b.dtype, *settings
        plan = plans.get(key)
        if plan is None:
            return call_any(key, (self, a, b, *settings))
        return wrap(plan.run(self._array, a._array, b._array), plan)

    fast_form_of(kernel.functional)((call_unary, call_binary, call_ternary)[tensors - 1])
    return kernel


def check_floating(name: str, self: Tensor) -> None:
    """Raise a `NotImplementedError` if the tensor's dtype is not a floating-point dtype."""
    if self.dtype.category != FLOATING:
        raise NotImplementedError(f"{name} is not implemented for '{self.dtype.type_name}'")


def allocate(output: Output, device: str = "cpu") -> Tensor:
    """An uninitialised tensor with the sizes, strides and dtype that a meta function has computed. Without strides, it
    is contiguous."""
    strides = plain_strides(tuple(output.sizes)) if output.strides is None else output.strides
    return empty_strided(output.sizes, strides, output.dtype, device)


def output_like(self: Tensor, sizes: Sequence[int], dtype: dtype | None = None) -> Output:
    """The metadata of a result of images, with the memory format of `self`."""
    is_last = len(sizes) == 4 and suggest_memory_format(self.shape, self.stride()) is channels_last
    return Output(sizes, channels_last_strides(sizes) if is_last else None, dtype or self.dtype)


def call_functional(kernel: Structured, args: Sequence) -> Tensor:
    """The functional form: a new tensor, filled by the kernel.

    First `kernel.meta(*args)`, called once, returns the metadata of the result, an `Output`, or raises. Then a tensor of these
    sizes, strides and dtype is allocated (`empty_strided`; strides None mean `contiguous_strides`). Then
    `kernel.impl(*args, out)` fills it.

    Args:
        args: a tuple or a list of the operator's arguments: tensors and numbers.

    Returns:
        the new tensor. The return value of `impl` is ignored.

    >>> call_functional(rl.pointwise.mul, (rl.tensor([1, 2]), 1.5)).tolist()
    [1.5, 3.0]

    Source: `torchgen/dest/register_dispatch_key.py`, `StructuredRegisterDispatchKey.gen_class`; `aten/src/ATen/EmptyTensor.cpp`.
    """
    output = kernel.meta(*args)
    strides = contiguous_strides(output.sizes) if output.strides is None else output.strides
    out = empty_strided(output.sizes, strides, output.dtype)
    kernel.impl(*args, out)
    return out


def call_inplace(kernel: Structured, args: Sequence) -> Tensor:
    """The in-place form: the result overwrites the first argument, which keeps its sizes, strides and dtype.

    First `kernel.meta(*args)`, called once, returns the metadata of the result, an `Output`, or raises. Its sizes may be a
    tuple or a list. Then the checks below run, before anything is written. Then `kernel.impl(*args, out)` runs with the first
    argument as `out`, unless that argument is on the device meta (`is_meta`) and has no memory to write to.

    Args:
        args: a tuple or a list of the operator's arguments. The first one is a tensor.

    Returns:
        the first argument.

    Raises:
        RuntimeError: the shape of the first argument differs from that of the result; the result's dtype cannot be cast to
            the argument's dtype (`can_cast`), or differs from it although the kernel does not cast (`kernel.casts`); elements
            of the argument overlap (`assert_no_internal_overlap`), or it partly overlaps with another tensor argument
            (`assert_no_partial_overlap`). `check_writable` checks everything but the shape.

    >>> x = rl.tensor([1, 2])
    >>> call_inplace(rl.pointwise.mul, (x, 3)) is x, x.tolist()
    (True, [3, 6])

    Source: `torchgen/dest/register_dispatch_key.py`, `StructuredRegisterDispatchKey.gen_class`; `aten/src/ATen/TensorIterator.cpp`.
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
    """The out= form: the result is written into `out`, which is resized if necessary and keeps its dtype.

    First `kernel.meta(*args)`, called once, returns the metadata of the result, an `Output`, or raises. Then `check_writable`
    checks the dtype and the memory of `out`, as for the in-place form. Then `resize_output` gives `out` the sizes of the result
    and, if it had other sizes, the strides too. Then `kernel.impl(*args, out)` fills it, unless it is on the device meta
    (`is_meta`).

    Args:
        args: a tuple or a list of the operator's arguments, without `out`.

    Returns:
        `out`.

    >>> out = rl.empty(0, dtype=rl.float64)
    >>> call_out(rl.pointwise.mul, (rl.tensor([1, 2]), 3), out) is out, out.tolist()
    (True, [3.0, 6.0])

    Source: `torchgen/dest/register_dispatch_key.py`, `StructuredRegisterDispatchKey.gen_class`.
    """
    output = kernel.meta(*args)
    check_writable(kernel, args, out, output)
    resize_output(out, output.sizes, output.strides)
    if not out.is_meta:
        kernel.impl(*args, out)
    return out


def check_writable(kernel: Structured, args: Sequence, out: Tensor, output: Output) -> None:
    """Raise RuntimeError if the dtype or the memory of `out` does not allow writing the result, `output`, into it."""
    check_out(out, output.dtype, args, kernel.casts, kernel.idempotent)


CPP_NAMES = {  # where they differ from `type_name` in lower case
    "Short": "short int", "Long": "long int", "Byte": "unsigned char", "Char": "signed char", "Half": "c10::Half",
    "BFloat16": "c10::BFloat16",
}  # fmt: skip


def cpp_name(dtype: dtype) -> str:
    """The C++ type of a dtype's elements, in messages. Source: `c10/util/typeid.h`, `TypeMeta::name`."""
    return CPP_NAMES.get(dtype.type_name, dtype.type_name.lower())


def check_out(out: Tensor, dtype: dtype, args: Sequence, casts: bool = False, idempotent: bool = False) -> None:
    """The checks of `check_writable` for a result of this dtype. `casts` and `idempotent` are as in `Structured`."""
    if casts and not can_cast(dtype, out.dtype):
        wanted = f"the desired output type {out.dtype.type_name}"
        raise RuntimeError(f"result type {dtype.type_name} can't be cast to {wanted}")
    if not casts and dtype is not out.dtype:
        expected, given = cpp_name(dtype), cpp_name(out.dtype)
        raise RuntimeError(f"Expected out tensor to have dtype {expected}, but got {given} instead")
    if not idempotent:
        assert_no_internal_overlap(out)
    for arg in args:
        if isinstance(arg, Tensor):
            assert_no_partial_overlap(out, arg)


def resize_output(out: Tensor, sizes: Sequence[int], strides: Sequence[int] | None = None) -> bool:
    """Give an `out` tensor the sizes of a result. Returns whether it had other sizes.

    If it has these sizes already, nothing happens, and its strides stay too. Otherwise it is resized in place (`resize_`):
    it gets the given `strides`, or contiguous strides, and more memory if its storage is too small. If it had elements,
    there is one `UserWarning` (`warn_resized` gives it), because they are lost.

    Args:
        sizes: of the result, a tuple or a list.
        strides: of the result, in elements, a tuple or a list; None for contiguous strides.

    >>> out = rl.empty(0)
    >>> resize_output(out, (2, 3), (1, 2)), out.stride()
    (True, (1, 2))

    Source: `aten/src/ATen/native/Resize.cpp`, `resize_output`.
    """
    if tuple(sizes) == out.shape:
        return False
    if out.numel():
        warn_resized(out, sizes)
    resize_(out, sizes, strides)
    return True


def warn_resized(out: Tensor, sizes: Sequence[int]) -> None:
    """Warn that a tensor passed as `out` had elements and another shape. Source: `aten/src/ATen/native/Resize.cpp`,
    `resize_output_check`."""
    shapes = f"it had shape {list(out.shape)}, which does not match the required output shape {list(sizes)}"
    remedy = "This behavior is deprecated, and in a future PyTorch release outputs will not be resized unless they have zero "
    remedy += "elements. To have it resized, empty it before: out.resize_(0)"
    warn(f"An output with one or more elements was resized since {shapes}. {remedy}")


def resize_(self: Tensor, sizes: Sequence[int], strides: Sequence[int] | None = None) -> Tensor:
    """Change the sizes in place, on the same storage. A storage that is too small grows and keeps its bytes. The strides are
    contiguous by default. The storage offset stays.

    Source: `aten/src/ATen/native/Resize.cpp`, `resize_`.
    """
    if min(sizes, default=0) < 0:
        raise RuntimeError(f"Trying to resize a tensor to negative sizes: {list(sizes)}")
    self._sizes, self._strides = size_of(sizes), plain_strides(size_of(sizes)) if strides is None else tuple(strides)
    needed = storage_size(self._sizes, self._strides, self._storage_offset) * self.dtype.itemsize
    self._storage.grow(needed)
    self.forget_metadata()
    return self


# Forms of an operator that copy its result, by `autogen` in `native_functions.yaml` ----------------------------------


def write_inplace(self: Tensor, result: Tensor) -> Tensor:
    """Copy `result` to `self`, converted to the dtype of `self`. Another shape, or a dtype that cannot be cast, raises
    a `RuntimeError`."""
    if result.shape != self.shape:
        broadcast = f"the broadcast shape {list(result.shape)}"
        raise RuntimeError(f"output with shape {list(self.shape)} doesn't match {broadcast}")
    check_out(self, result.dtype, (), casts=True)
    return self.copy_(result)


DTYPE_PROBLEMS = {  # of operators whose kernels check the dtypes of `out` themselves: what they say of values and of indices
    "cummax": ("expected scalar_type {} but found {}",) * 2,
    "cummin": ("expected scalar_type {} but found {}",) * 2,
    "logcumsumexp": ("expected scalar_type {} but found {}",),
    "mode": tuple(f"expected scalar type '{{}}' but got '{{}}' for {what} output" for what in ("values", "indices")),
    "quantile": ("quantile() out tensor must be same dtype as the input tensor",),
    "nanquantile": ("quantile() out tensor must be same dtype as the input tensor",),
    "kthvalue": ("output values must be of same type as input", "output indices must be of scalar type Long"),
}


def write_out(results: Tensor | Sequence[Tensor], args: Sequence, *outs: Tensor, casts: bool, name: str = "") -> Any:
    """Copy the results of an operator of these arguments to the tensors of its out= form."""
    pairs = [*zip(outs, [results] if isinstance(results, Tensor) else results)]
    for (out, result), problem in zip(pairs, DTYPE_PROBLEMS.get(name, ())):
        if out.dtype is not result.dtype:
            raise RuntimeError(problem.format(result.dtype.type_name, out.dtype.type_name))
    for out, result in pairs:
        check_out(out, result.dtype, args, casts)
    for out, result in pairs:
        resize_output(out, result.shape, result.stride())
        out.copy_(result)
    return outs if len(outs) > 1 else outs[0]
