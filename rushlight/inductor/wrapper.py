"""The call: generated code that takes the inputs of a graph, allocates buffers, runs the kernels, and returns the outputs.

A *segment* is a run of compiled steps between two operators that only Python can call; most graphs have one segment. Each segment
is one C++ function. A few lines of Python around the segments allocate the tensors that leave the graph and pass the addresses.
In PyTorch: `torch/_inductor/codegen/wrapper.py` (`PythonWrapperCodegen`, which calls kernel by kernel from Python) and
`cpp_wrapper_cpu.py` (the whole call in C++). Left out: checks of sizes and strides, because guards have made them, and inputs that
the call frees early.
"""

import ctypes
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from rushlight.aten.strided import contiguous_strides, empty_strided, plain_alias, wrap_like
from rushlight.autograd.grad_mode import no_grad
from rushlight.c10.storage import Size
from rushlight.inductor import codecache, externs, triton_heuristics
from rushlight.inductor.cpp import PRELUDE, TYPES
from rushlight.inductor.ir import ExternKernel, FallbackKernel, Kernel, Program, ReinterpretView
from rushlight.inductor.memory import ALIGNMENT, Plan, is_triton, segments

MOST_KEPT = 1 << 26  # bytes of a pool that is kept for the next call, because the system maps new memory page by page

# The C++ half --------------------------------------------------------------------------------------------------------

ARRAYS = """
// The data of a numpy array: a pointer after the head that every Python object has.
template <class T> static inline T* data(void* array) { return *reinterpret_cast<T**>(static_cast<char*>(array) + HEAD); }

// The beginning of the pool, where the widest vectors are aligned.
static inline char* aligned(char* pool) { return pool + (-reinterpret_cast<uintptr_t>(pool) & (ALIGNMENT - 1)); }
"""


def header() -> str:
    """`inductor.h`, the header of every graph."""
    arrays = ARRAYS.replace("HEAD", str(codecache.HEAD)).replace("ALIGNMENT", str(ALIGNMENT))
    return "\n".join(["#pragma once", PRELUDE, arrays, externs.PRODUCTS])


class CppWrapper:
    """The C++ text of a graph: one function for each segment."""

    def __init__(self, program: Program, plan: Plan) -> None:
        self.program, self.plan = program, plan
        self.scratch = 0  # bytes at the end of the pool, for copies of operands
        self.functions: list[str] = []
        self.parameters: list[list[str]] = []  # of each segment
        for _, steps in groupby(zip(segments(program), program.steps), lambda pair: pair[0]):
            numbers, members = zip(*steps)
            if numbers[0] is not None:
                self.segment(numbers[0], members)

    @property
    def pool(self) -> int:
        """Bytes of the pool, with room to align its beginning."""
        nbytes = self.plan.nbytes + self.scratch
        return nbytes + ALIGNMENT if nbytes else 0

    def text(self) -> str:
        kernels = [step.text for step in self.program.steps if isinstance(step, Kernel) and not is_triton(step)]
        return "\n".join(['#include "inductor.h"\n', *kernels, *self.functions])

    def segment(self, number: int, steps: Sequence[Kernel | ExternKernel]) -> None:
        """The function of one segment: its parameters, then the calls, each after the declarations of its new buffers."""
        plan = self.plan
        used = dict.fromkeys(name for step in steps for name in step.arguments)
        outside = [name for name in used if name not in plan.roots]
        held = dict.fromkeys(plan.roots[name] for name in used if plan.roots.get(name) in plan.held)
        known = dict.fromkeys([*outside, *held])
        lines = [f"{self.pointer(name)} = data<{self.type(name)}>({name}_);" for name in known]
        for step in steps:
            lines += [self.declaration(name, known) for name in step.arguments if name not in known]
            lines += self.call(step)
        lines.append("return 0;")
        parameters = [*outside, *held]
        if any("(pool + " in line for line in lines):
            lines.insert(0, "char* const pool = aligned(data<char>(pool_));")
            parameters.append("pool")
        head = ", ".join(f"void* {name}_" for name in parameters)
        body = "".join(f"  {line}\n" for line in lines)
        self.functions.append(f'extern "C" int segment_{number}({head}) {{\n{body}}}\n')
        self.parameters.append(parameters)

    def declaration(self, name: str, known: dict[str, None]) -> str:
        """The line that declares a buffer in the pool, or in the memory of another buffer."""
        known[name] = None
        root, old = self.plan.roots[name], self.plan.before.get(name)
        if old is None:
            return f"{self.pointer(name)} = reinterpret_cast<{self.type(name)}*>(pool + {self.plan.offsets[root]});"
        return f"{self.pointer(name)} = {old if old in known else root};  // reuse"

    def type(self, name: str) -> str:
        return TYPES[self.program.layouts[name].dtype]

    def pointer(self, name: str) -> str:
        return f"{self.type(name)}* const {name}"

    def call(self, step: Kernel | ExternKernel) -> list[str]:
        if isinstance(step, Kernel):
            return [f"if ({step.name}({', '.join(step.arguments)})) return 1;"]
        lines, scratch = externs.call(step, self.plan.nbytes)
        self.scratch = max(self.scratch, scratch)
        return lines


# The Python half -----------------------------------------------------------------------------------------------------


class PythonWrapper:
    """The text of the function `call`, and the names that it uses."""

    def __init__(self, cpp: CppWrapper) -> None:
        self.cpp, self.program, self.plan = cpp, cpp.program, cpp.plan
        self.names: dict[str, Any] = {"fresh": wrap_like, "empty": np.empty, "empty_strided": empty_strided}
        self.names |= {"alias": plain_alias, "no_grad": no_grad, "uint8": np.dtype(np.uint8), "pools": []}
        self.names |= self.program.constants
        self.lines: list[str] = []
        self.kernels: list[str] = []  # in Triton
        keeps_pool = 0 < cpp.pool <= MOST_KEPT
        if cpp.pool:
            self.lines.append(f"pool = {'pools.pop() if pools else ' * keeps_pool}empty({cpp.pool}, uint8)")
        numbers = [*segments(self.program), None]
        for what, which, *_ in self.plan.lines:
            if what == "allocate" and which in self.plan.held:
                self.lines.append(self.allocation(which))
            elif what == "call" and is_triton(self.program.steps[which]):
                self.lines.append(self.launch(self.program.steps[which]))
            elif what == "call" and numbers[which] is None:
                self.lines += ["with no_grad():", "    " + self.fallback(self.program.steps[which])]
            elif what == "call" and numbers[which + 1] != numbers[which]:
                self.lines.append(self.segment(numbers[which]))
        self.lines += ["pools.append(pool)"] * keeps_pool
        self.lines += [f"{name}._storage.version += 1" for name in self.program.mutated]
        self.lines.append(f"return [{', '.join(map(self.value, self.program.outputs))}]")

    def text(self) -> str:
        call = f"def call({', '.join(self.program.inputs)}):\n" + "".join(f"    {line}\n" for line in self.lines)
        return "\n\n".join([*self.kernels, call])

    def constant(self, prefix: str, value: Any) -> str:
        """A name for a value that has no literal in Python."""
        for name, known in self.names.items():
            if name.startswith(prefix) and known is value:
                return name
        name = f"{prefix}{sum(known.startswith(prefix) for known in self.names)}"
        self.names[name] = value
        return name

    def allocation(self, name: str) -> str:
        layout = self.program.layouts[name]
        if layout.strides != tuple(contiguous_strides(layout.sizes)):
            return f"{name} = empty_strided({layout.sizes}, {layout.strides}, {self.constant('dtype_', layout.dtype)})"
        self.names[f"{name}_like"] = empty_strided(layout.sizes, layout.strides, layout.dtype, "meta")
        kind = layout.dtype.name
        self.names[kind] = np.dtype(layout.dtype.numpy)
        return f"{name} = fresh(empty({layout.sizes}, {kind}), {name}_like)"

    def segment(self, number: int) -> str:
        parameters = self.cpp.parameters[number]
        arguments = ["id(pool)" if name == "pool" else f"id({name}._array)" for name in parameters]
        return f"if segment_{number}({', '.join(arguments)}):\n        raise IndexError('index out of range')"

    def launch(self, kernel: Kernel) -> str:
        """The call of a kernel in Triton. Its text becomes a part of the Python text."""
        triton_heuristics.require()
        self.names["async_compile"] = triton_heuristics
        text = f"{kernel.name} = async_compile.triton('{kernel.name}', '''{kernel.text}''', device_str='cpu')\n"
        self.kernels.append(text)
        buffers = [self.plan.roots.get(name, name) for name in kernel.arguments]
        return f"{kernel.name}.run({', '.join([*buffers, *map(str, kernel.numels)])})"

    def fallback(self, step: FallbackKernel) -> str:
        arguments = [self.value(value) for value in step.args]
        arguments += [f"{key}={self.value(value)}" for key, value in step.kwargs.items()]
        call = f"{self.constant('operator_', step.target)}({', '.join(arguments)})  # {step.target}"
        returns = step.target._schema.returns
        names = [name or "_" for name in step.outputs]
        if not names:
            return call
        if len(returns) == 1 and not str(returns[0].type).endswith("]"):
            return f"{names[0]} = {call}"
        return f"{', '.join(names)}, = {call}"

    def value(self, value: Any) -> str:
        """A value of the graph as Python text."""
        if isinstance(value, ReinterpretView):
            return self.view(value)
        if isinstance(value, list):
            return f"[{', '.join(map(self.value, value))}]"
        if isinstance(value, tuple):
            return f"({''.join(f'{self.value(item)}, ' for item in value)})"
        return repr(value) if type(value) in (type(None), bool, int, str) else self.constant("constant_", value)

    def view(self, view: ReinterpretView) -> str:
        """A tensor: the buffer's own if the view has the whole buffer, else an alias."""
        name = self.plan.roots.get(view.buffer, view.buffer)
        layout = self.program.layouts[name]
        if (layout.sizes, layout.strides, 0) == (view.sizes, view.strides, view.offset):
            return name
        size = self.constant("size_", Size(view.sizes))
        return f"alias({name}, {size}, {view.strides}, {name}._storage_offset + {view.offset})"


# Both together -------------------------------------------------------------------------------------------------------


def generate(program: Program, plan: Plan) -> tuple[str, PythonWrapper]:
    """The C++ text of a graph, and its wrapper, which has the Python text."""
    cpp = CppWrapper(program, plan)
    return cpp.text(), PythonWrapper(cpp)


def compile_program(program: Program, plan: Plan) -> Callable[..., list]:
    """The callable of a scheduled graph: it takes the inputs one by one and returns a list of the outputs.

    Its texts are its attributes `cpp_text` and `python_text`. It is native: it calls no operator that autograd would record, and
    it increments the versions of inputs that it writes to.

    Raises RuntimeError, in one line, if there is no compiler.
    """
    cpp_text, wrapper = generate(program, plan)
    if wrapper.cpp.parameters:
        library = codecache.load({"graph.cpp": cpp_text, "inductor.h": header()})
        for number, parameters in enumerate(wrapper.cpp.parameters):
            wrapper.names[f"segment_{number}"] = function = library[f"segment_{number}"]
            function.argtypes = [ctypes.c_void_p] * len(parameters)
        if any(isinstance(step, ExternKernel) and not externs.is_small(step) for step in program.steps):
            for kind, name in (("float32", "matmul_float"), ("float64", "matmul_double")):
                ctypes.c_void_p.in_dll(library, name).value = codecache.matmul_loop(kind)
    exec(wrapper.text(), wrapper.names)
    call = wrapper.names["call"]
    call.cpp_text, call.python_text = cpp_text, wrapper.text()
    call.is_native = True
    return call
