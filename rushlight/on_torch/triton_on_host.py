"""Kernels in Triton on a computer without a GPU: run by Triton's interpreter, and counted.

The interpreter runs the instances of a kernel one after the other, and each operation on a whole block, with numpy. Here each load
and store of an instance is recorded first: which elements of which argument, in which line. An access outside of all arguments ends
the launch, and is a finding. In PyTorch: nothing. On a GPU, Nsight Compute counts, and compute-sanitizer finds.

The interpreter is no GPU. Instances do not run at the same time, so a race between two of them is not found. There are no warps, so
`num_warps`, `num_stages` and barriers have no effect. `tl.maximum` of a number and NaN is NaN here, and the number in a compiled
kernel. The interpreter accepts more of Python than the compiler does, so `compile` runs the first step of the compiler too.
"""

from __future__ import annotations

import ast
import ctypes
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np

from rushlight.aten.native.creation import from_numpy
from rushlight.inductor import triton_heuristics

if TYPE_CHECKING:
    from rushlight.on_torch import gpu

SECTOR = 32  # bytes


class KernelError(RuntimeError):
    """An error of a kernel, with the line of its text."""


@dataclass
class Access:
    """One load or store of one instance. A masked-off element is not accessed."""

    kind: str  # "load" or "store"
    argument: str  # the name of the parameter
    line: int
    instance: tuple[int, int, int]  # `tl.program_id` of the three axes
    elements: np.ndarray  # their numbers in the argument, in the order of the block
    itemsize: int
    offset: int  # bytes from the beginning of the argument's memory to its first element

    @property
    def bytes(self) -> int:
        return self.elements.size * self.itemsize

    @property
    def sectors(self) -> int:
        """Sectors of 32 bytes that these elements are in. Memory begins with a sector."""
        return np.unique((self.offset + self.elements * self.itemsize) // SECTOR).size


@dataclass
class Finding:
    """An access outside of all arguments. It has ended the launch."""

    kind: str
    line: int
    instance: tuple[int, int, int]
    count: int  # addresses
    argument: str  # the one that is nearest
    element: int  # the first of them, counted from the first element of this argument

    def __str__(self) -> str:
        addresses = f"{self.count} address{'es' * (self.count > 1)}"
        where = f"the first is element {self.element} of {self.argument}"
        return f"line {self.line}: a {self.kind} of {addresses} outside of all arguments, {where}, in instance {self.instance}"


@dataclass
class Result:
    """The result of a launch. Values are in the arrays that were given."""

    accesses: list[Access] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def of(self, kind: str, argument: str | None = None, line: int | None = None) -> list[Access]:
        """The accesses of this kind, of one argument or of all, and of one line or of all."""
        return [
            access for access in self.accesses
            if access.kind == kind and argument in (None, access.argument) and line in (None, access.line)
        ]  # fmt: skip

    def bytes(self, kind: str, argument: str | None = None, line: int | None = None) -> int:
        return sum(access.bytes for access in self.of(kind, argument, line))

    def sectors(self, kind: str, argument: str | None = None, line: int | None = None) -> int:
        return sum(access.sectors for access in self.of(kind, argument, line))


class Module:
    """The kernels of a text.

    Raises:
        RuntimeError: Triton is not installed.
        SyntaxError: the text is no Python.
    """

    def __init__(self, text: str):
        self.text = text
        self.path, space = triton_heuristics.loaded("kernel", text)
        self.kernels = {name: value for name, value in space.items() if hasattr(value, "arg_names")}

    def compile(self, name: str, *arguments: Any, **constexprs: Any) -> str:
        """Translate a kernel to Triton's own intermediate language, as for an H100. The arguments are those of `launch`.

        Raises KernelError if the compiler does not accept it. It translates nothing if an environment variable has said at the
        import of Triton that kernels are interpreted.
        """
        import triton
        from triton._C.libtriton import ir
        from triton.backends.compiler import GPUTarget
        from triton.compiler import ASTSource
        from triton.compiler.compiler import make_backend

        function, compiled = self._kernel(name), self._for_the_compiler(name)
        if not isinstance(triton.language.sum, triton.JITFunction):
            return ""
        type_of = triton_heuristics.require().type_of
        types = [type_of(_as_pointer(value)) for value in map(_as_tensor, arguments)]
        signature = dict(zip(function.arg_names, types)) | dict.fromkeys(constexprs, "constexpr")
        target = GPUTarget("cuda", 90, 32)
        backend, context = make_backend(target), ir.context()
        ir.load_dialects(context)
        backend.load_dialects(context)
        options = backend.parse_options({})
        functions = backend.get_codegen_implementation(options), backend.get_module_map()
        try:
            return str(ASTSource(compiled, signature, constexprs).make_ir(target, options, *functions, context))
        except Exception as error:
            raise KernelError(self._compile_error(error, function)) from None

    def launch(self, name: str, grid: int | Sequence[int], *arguments: Any, **constexprs: Any) -> Result:
        """Run a kernel on a grid of instances.

        Args:
            grid: a number, or up to three.
            arguments: a tensor or an array for each pointer, a number for each number. Arrays are changed in place. The pointer is
                to the first element, and no memory before it or behind the last element may be accessed.
            constexprs: the values of the other parameters.

        Raises:
            KernelError: an error in the kernel, with its line.
            ValueError: there is no such kernel.
        """
        function, values = self._kernel(name), [*map(_as_tensor, arguments)]
        memory = _Memory([value for value in values if _is_tensor(value)])
        values = [memory.pointer(value) if _is_tensor(value) else value for value in values]
        pointers = {parameter: value for parameter, value in zip(function.arg_names, values) if _is_tensor(value)}
        sizes = (grid,) if isinstance(grid, int) else tuple(grid)
        with triton_heuristics.require().interpreted(), watched(pointers, self.path) as result:
            try:
                function[sizes](*values, **constexprs)
            except Exception as error:
                raise KernelError(self._run_error(error)) from error
        memory.copy_back([pointers[name].tensor for name in {access.argument for access in result.of("store")}])
        return result

    def on_gpu(
        self,
        name: str,
        grid: int | Sequence[int],
        *arguments: Any,
        beside: Callable[..., Any] | None = None,
        **constexprs: Any,
    ) -> gpu.OnGPU:
        """Run a kernel on a GPU, and time it there: nothing is counted. Tensors and arrays are changed as by one launch.

        Args:
            grid, arguments, constexprs: as for `launch`. `num_warps` and `num_stages` are known too.
            beside: a function of torch that computes the same. It gets the arguments, with tensors on the GPU.

        Returns:
            the times, to be printed. Without a GPU nothing runs.

        Raises:
            RuntimeError: a variable of the environment said at the import of Triton that kernels are interpreted.
        """
        import triton

        from rushlight.on_torch import gpu

        function = self._kernel(name)
        if not gpu.is_available():
            return gpu.OnGPU()
        if not isinstance(triton.language.sum, triton.JITFunction):
            raise RuntimeError("Triton interprets kernels in this process: set TRITON_INTERPRET=0 before you start it")
        memory, function = gpu.Memory(), self._for_the_compiler(name)
        values = [memory.tensor(value.numpy()) if _is_tensor(value) else value for value in map(_as_tensor, arguments)]
        sizes = (grid,) if isinstance(grid, int) else tuple(grid)

        def kernel() -> None:
            function[sizes](*values, **constexprs)

        kernel()
        memory.copy_back()
        return gpu.timed(kernel, beside and partial(beside, *values))

    def _for_the_compiler(self, name: str) -> Any:
        """A kernel as Triton's compiler takes it, although kernels are interpreted here."""
        import triton

        space: dict[str, Any] = {"__name__": self.path}
        with triton.knobs.runtime.scope():
            triton.knobs.runtime.interpret = False
            exec(compile(self.text, self.path, "exec"), space)
        return space[name]

    def _kernel(self, name: str) -> Any:
        if name not in self.kernels:
            raise ValueError(f"the text has no kernel {name!r} with @triton.jit: its kernels are {[*self.kernels]}")
        return self.kernels[name]

    def _run_error(self, error: Exception) -> str:
        cause = error.__cause__ or error
        lines, traceback = [], cause.__traceback__
        while traceback is not None:
            lines += [traceback.tb_lineno] * (traceback.tb_frame.f_code.co_filename == self.path)
            traceback = traceback.tb_next
        return f"line {lines[-1]}: " * bool(lines) + f"{type(cause).__name__}: {cause}"

    def _compile_error(self, error: Exception, function: Any) -> str:
        """The error of the compiler without the text that it repeats. It counts lines from the kernel's `def`."""
        line, said = getattr(getattr(error, "node", None), "lineno", None), ""
        while error is not None:
            said = getattr(error, "error_message", None) or ("" if hasattr(error, "node") else str(error)) or said
            error = error.__cause__
        functions = [node for node in ast.parse(self.text).body if isinstance(node, ast.FunctionDef)]
        *_, of_kernel = (node.lineno for node in functions if node.name == function.__name__)
        return (f"line {of_kernel + line - 1}: " if line else "") + f"Triton's compiler: {said}"


class _Memory:
    """The device's memory: a copy of each storage, aligned to 256 bytes and far from the next one, so that no access beyond an
    argument reaches another one."""

    GAP = 1 << 22

    def __init__(self, tensors: Sequence[Any]) -> None:
        storages = {
            storage.data_ptr(): storage.nbytes() for storage in (tensor.untyped_storage() for tensor in tensors)
        }
        self.room = np.zeros(sum(storages.values()) + (self.GAP + 256) * (len(storages) + 1), np.uint8)
        self.copies, end = {}, self.room.ctypes.data
        for address, nbytes in storages.items():
            begin = -(-(end + self.GAP) // 256) * 256
            self.copies[address], end = (begin, nbytes), begin + nbytes
            ctypes.memmove(begin, address, nbytes)

    def pointer(self, tensor: Any) -> triton_heuristics.Pointer:
        storage = tensor.untyped_storage().data_ptr()
        return triton_heuristics.Pointer(tensor, self.copies[storage][0] + tensor.data_ptr() - storage)

    def copy_back(self, tensors: Sequence[Any]) -> None:
        for storage in {tensor.untyped_storage().data_ptr() for tensor in tensors}:
            begin, nbytes = self.copies[storage]
            ctypes.memmove(storage, begin, nbytes)


def _as_tensor(value: Any) -> Any:
    return from_numpy(value) if isinstance(value, np.ndarray) else value


def _as_pointer(value: Any) -> Any:
    return triton_heuristics.Pointer(value) if _is_tensor(value) else value


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "data_ptr")


class _Outside(Exception):
    pass


@contextmanager
def watched(pointers: Mapping[str, triton_heuristics.Pointer], path: str) -> Iterator[Result]:
    """Within: each load and store of an interpreted kernel, whose text has this path, is recorded. The first one outside of the
    tensors' elements ends the launch, with a finding and without an exception. Without this, a kernel reads what is there, or the
    process ends. Elements that a load without `other` masks off are NaN, or large integers, because a compiled kernel has anything
    there."""
    from triton.runtime.interpreter import TensorHandle
    from triton.runtime.interpreter import interpreter_builder as builder
    from triton.runtime.interpreter import interpreter_semantic as semantic

    result, memory = Result(), [(name, of.data_ptr(), *_reach(of.tensor)) for name, of in pointers.items()]

    def record(kind: str, pointers: Any, mask: Any) -> None:
        itemsize = max(1, pointers.get_element_ty().primitive_bitwidth // 8)
        taking_part = np.broadcast_to(np.asarray(mask.data).astype(bool), pointers.data.shape)
        addresses = pointers.data[taking_part].astype(np.int64)
        line, instance = _line(path), builder.grid_idx
        for name, begin, nbytes, offset in memory:
            inside = (begin <= addresses) & (addresses + itemsize <= begin + nbytes)
            if inside.any():
                elements = (addresses[inside] - begin) // itemsize
                result.accesses.append(Access(kind, name, line, instance, elements, itemsize, offset))
                addresses = addresses[~inside]
        if addresses.size:
            first = int(addresses[0])
            name, begin, *_ = min(memory, key=lambda of: max(of[1] - first, first - of[1] - of[2]))
            result.findings.append(Finding(kind, line, instance, addresses.size, name, (first - begin) // itemsize))
            raise _Outside

    def load_any(pointers: Any, mask: Any, other: Any, *rest: Any) -> Any:
        nonlocal is_undefined
        is_undefined = other is None  # the interpreter passes None for 0, too
        return load_semantics(pointers, mask, other, *rest)

    def load(pointers: Any, mask: Any, other: Any, *rest: Any) -> Any:
        record("load", pointers, mask)
        if other is None and is_undefined:
            dtype = pointers.get_element_ty()
            undefined = builder.get_null_value(dtype).data.dtype
            value = np.nan if undefined.kind == "f" else undefined.kind == "b" or np.iinfo(undefined).max // 3
            other = TensorHandle(np.full(pointers.data.shape, value, undefined), dtype)
        return before["create_masked_load"](pointers, mask, other, *rest)

    def store(pointers: Any, value: Any, mask: Any, *rest: Any) -> Any:
        record("store", pointers, mask)
        return before["create_masked_store"](pointers, value, mask, *rest)

    def update(operation: Any, pointers: Any, value: Any, mask: Any, *rest: Any) -> Any:
        record("store", pointers, mask)
        return before["create_atomic_rmw"](operation, pointers, value, mask, *rest)

    def exchange(pointers: Any, *rest: Any) -> Any:
        record("store", pointers, np.ones(pointers.data.shape, bool))
        return before["create_atomic_cas"](pointers, *rest)

    hooks = {"create_masked_load": load, "create_masked_store": store}
    hooks |= {"create_atomic_rmw": update, "create_atomic_cas": exchange}
    before = {name: getattr(builder, name) for name in hooks}
    is_undefined, load_semantics = False, semantic.load
    with patch.multiple(builder, **hooks), patch.object(semantic, "load", load_any):
        try:
            yield result
        except Exception:
            if not result.findings:
                raise


def _reach(tensor: Any) -> tuple[int, int]:
    """Bytes from a tensor's first element to the end of its last one, and from the beginning of its storage to its first one."""
    last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride()))
    itemsize = tensor.element_size()
    return itemsize * (last + 1) * (tensor.numel() > 0), itemsize * tensor.storage_offset()


def _line(path: str) -> int:
    """The line of the text that runs now."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename != path:
        frame = frame.f_back
    return frame.f_lineno if frame else 0
