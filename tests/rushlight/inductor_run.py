"""Run a lowered graph, or its kernels, without the wrapper: for the tests of lowering, scheduling and C++."""

import ctypes
import hashlib
import os

import numpy as np

import rushlight as rl
from rushlight.inductor import cpp, ir, scheduler
from rushlight.inductor.graph import lower
from rushlight.inductor.ir import ComputedBuffer, ExternKernel, Kernel, ReinterpretView
from rushlight.utils.cpp_extension import compiled, compiler

if os.environ.get("TRITON_INTERPRET") == "0":
    from rushlight.on_torch import gpu  # noqa: F401


def graph_of(function, *inputs):
    """The aten graph of a function of tensors."""
    return rl.aot.make_fx(function)(*inputs)


def lowered(function, *inputs):
    return lower(graph_of(function, *inputs))


def scheduled(function, *inputs):
    return scheduler.schedule(lowered(function, *inputs))


def kernels(function, *inputs):
    return [step for step in scheduled(function, *inputs).steps if isinstance(step, Kernel)]


def run_loops(program, inputs):
    """The results of a graph after lowering: each loop nest element by element, every call by the eager kernel."""
    return _run(program, program.operations, inputs, lambda step, memory: ir.run(step, flat(memory, step)))


def run_kernels(program, inputs):
    """The results of a graph after scheduling: kernels compiled, every call by the eager kernel."""
    found = [step for step in program.steps if isinstance(step, Kernel)]
    library = build(found, program.layouts) if found else None

    def call(step, memory):
        addresses = (ctypes.c_void_p * len(step.arguments))(*(memory[name].data_ptr() for name in step.arguments))
        if getattr(library, f"call_{step.name}")(addresses):
            raise IndexError("an index is out of range")

    return _run(program, program.steps, inputs, call)


def run_triton(program, inputs):
    """The results of a graph after scheduling with kernels in Triton: these are interpreted, every call by the eager kernel."""
    from rushlight.inductor import triton_heuristics
    from rushlight.on_torch import triton_on_host

    def call(step, memory):
        tensors = {name: memory[name] for name in step.arguments}
        kernel = triton_heuristics.triton(step.name, step.text, "cpu")
        pointers = {name: triton_heuristics.Pointer(tensor) for name, tensor in tensors.items()}
        with triton_on_host.watched(pointers, kernel.function.fn.__code__.co_filename) as result:
            kernel.run(*tensors.values(), *step.numels)
        assert not result.findings, result.findings[0]

    return _run(program, program.steps, inputs, call)


def build(found, layouts, flags=("-O1",)):
    """A library with a function `call_NAME(pointers)` for each kernel."""
    text = cpp.PRELUDE + "".join(kernel.text for kernel in found)
    for kernel in found:
        pointers = [f"({cpp.TYPES[layouts[name].dtype]}*)p[{n}]" for n, name in enumerate(kernel.arguments)]
        text += f'extern "C" int64_t call_{kernel.name}(void** p) {{ return {kernel.name}({", ".join(pointers)}); }}\n'
    openmp = ["-fopenmp"] if "#pragma omp parallel" in text else []
    command = [compiler(), *cpp.FLAGS, *flags, *openmp, "kernels.cpp"]
    name = hashlib.sha256("\0".join([text, *command]).encode()).hexdigest()[:24]
    return ctypes.CDLL(str(compiled(name, command, {"kernels.cpp": text})))


def _run(program, steps, inputs, loops):
    memory = dict(zip(program.inputs, inputs)) | program.constants
    for step in steps:
        if isinstance(step, (ComputedBuffer, Kernel)):
            for name in [step.buffer] if isinstance(step, ComputedBuffer) else step.arguments:
                allocate(program, memory, name)
            loops(step, memory)
        elif isinstance(step, ExternKernel):
            operands = [window(memory, each) for each in step.operands]
            memory[step.output] = getattr(rl, step.op)(*operands, **step.scalars)
        else:
            results = step.target(*real(memory, step.args), **real(memory, step.kwargs))
            results = results if isinstance(results, (list, tuple)) else [results]
            memory |= {name: result for name, result in zip(step.outputs, results) if name is not None}
    for each in program.outputs:
        if isinstance(each, ReinterpretView):
            allocate(program, memory, each.buffer)  # one without elements, which nobody writes
    return [window(memory, each) if isinstance(each, ReinterpretView) else each for each in program.outputs]


def allocate(program, memory, name):
    if name not in memory:
        layout = program.layouts[name]
        memory[name] = rl.empty_strided(layout.sizes, layout.strides, dtype=layout.dtype)


def window(memory, operand):
    base = memory[operand.buffer]
    return base.as_strided(operand.sizes, operand.strides, base.storage_offset() + operand.offset)


def real(memory, value):
    if isinstance(value, ReinterpretView):
        return window(memory, value)
    if isinstance(value, dict):
        return {key: real(memory, each) for key, each in value.items()}
    return type(value)(real(memory, each) for each in value) if isinstance(value, (list, tuple)) else value


def flat(memory, step):
    """Every buffer that a loop nest touches as numpy sees its memory, one element after another."""
    names = {each.buffer for each in ir.walk(step.value) if isinstance(each, ir.Load)} | {step.buffer}
    return {name: elements(memory[name]) for name in names}


def elements(tensor):
    reach = 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride())) if tensor.numel() else 0
    return tensor.as_strided([reach], [1], tensor.storage_offset()).numpy()


def same(mine, theirs):
    """Whether tensors agree in everything: metadata, and values as closely as rounding allows."""
    assert mine.shape == theirs.shape and mine.dtype is theirs.dtype and mine.stride() == theirs.stride()
    tolerance = 1e-9 if theirs.dtype is rl.float64 else 2e-6
    np.testing.assert_allclose(mine.numpy(), theirs.detach().numpy(), rtol=tolerance, atol=max(tolerance, 1e-8) * 5)
