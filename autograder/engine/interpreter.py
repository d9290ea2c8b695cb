"""Inductor without a C++ compiler: the scheduled loops run element by element, and buffers share memory as planned.

A patient may have its fault in the scheduler or in the plan of memory. Its programs must show the fault on every machine, also
without a compiler. As in a kernel, an iteration does all work of a fused node, and then comes the next iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import rushlight
from rushlight.aten.strided import Tensor
from rushlight.fx.node import map_aggregate
from rushlight.utils import _logging as logs


def compile_fx(module: Any, example_inputs: Sequence[Any]) -> Callable:
    """The backend "inductor" of a patient."""
    return rushlight.aot.aot_autograd(module, example_inputs, interpreted)


def interpreted(module: Any, example_inputs: Sequence[Any]) -> Callable[..., list]:
    """A callable that takes the inputs of a graph one by one, runs its schedule, and returns a list of outputs."""
    inductor = rushlight.inductor
    graph, scheduler = inductor.graph.lower(module), inductor.scheduler
    program = scheduler.schedule(graph)
    plan = inductor.memory.plan(program)
    kernels, wrapper = inductor.wrapper.generate(program, plan)
    logs.artifact("output_code", f"{kernels}\n{wrapper.text()}")
    nodes = scheduler.fuse_nodes(scheduler.create_nodes(scheduler.live_operations(graph)), graph.layouts)

    def call(*inputs: Any) -> list:
        memory = {name: _flat(x) for name, x in [*zip(graph.inputs, inputs), *graph.constants.items()]}
        for name, layout in graph.layouts.items():
            if name not in memory and plan.roots.get(name, name) == name:
                memory[name] = np.zeros(max(1, layout.nbytes // layout.dtype.itemsize), layout.dtype.numpy)
        memory |= {name: memory[root] for name, root in plan.roots.items()}
        for node in nodes:
            _run(node, memory)
        for name in graph.mutated:
            inputs[graph.inputs.index(name)]._storage.version += 1
        return [_tensor(output, memory) for output in graph.outputs]

    call.is_native = True  # type: ignore[attr-defined]  # autograd does not record it
    return call


def _flat(x: Tensor) -> np.ndarray:
    """The memory of a tensor from its first element on, as an array that shares it."""
    with rushlight.no_grad():
        reach = 1 + sum((size - 1) * stride for size, stride in zip(x.shape, x.stride())) if x.numel() else 0
        return x.detach().as_strided((reach,), (1,)).numpy()


def _view(view: Any, memory: dict[str, np.ndarray]) -> np.ndarray:
    array = memory[view.buffer]
    steps = [stride * array.itemsize for stride in view.strides]
    return np.lib.stride_tricks.as_strided(array[view.offset :], view.sizes, steps)


def _tensor(value: Any, memory: dict[str, np.ndarray]) -> Any:
    if not isinstance(value, rushlight.inductor.ir.ReinterpretView):
        return value
    return rushlight.from_numpy(memory[value.buffer]).as_strided(value.sizes, value.strides, value.offset)


def _run(node: Any, memory: dict[str, np.ndarray]) -> None:
    """Run a fused node, a product of matrices, or an operator of Python."""
    ir = rushlight.inductor.ir
    if isinstance(node, ir.ExternKernel):
        *bias, a, b = (_view(operand, memory) for operand in node.operands)
        result = (a @ b) * node.scalars.get("alpha", 1)
        result = result + bias[0] * node.scalars.get("beta", 1) if bias else result
        memory[node.output][:] = result.astype(node.dtype.numpy).reshape(-1)
    elif isinstance(node, ir.FallbackKernel):
        args, kwargs = map_aggregate((node.args, node.kwargs), lambda value: _tensor(value, memory))
        with rushlight.no_grad():
            results = node.target(*args, **kwargs)
        for name, result in zip(node.outputs, results if isinstance(results, (tuple, list)) else [results]):
            if name is not None:
                memory[name] = _flat(result)
    else:
        for row in ir.iterations(node.outer):
            _run_row(node, row, memory)


def _run_row(node: Any, row: dict, memory: dict[str, np.ndarray]) -> None:
    """One iteration of the outer loops of a fused node: its inner loops, one after another. In each iteration of an inner loop, all
    of its nests work on one element."""
    ir, numbers = rushlight.inductor.ir, rushlight.inductor.scheduler_node.inner_loops(node)
    for number in sorted(set(numbers)):
        nests = [nest for nest, at in zip(node.nests, numbers) if at == number]
        terms: dict[str, list] = {nest.buffer: [] for nest in nests if nest.kind is not None}
        for nest in nests:
            if node.works_by_row(nest):
                ir.run(nest, memory, row)
        for place in ir.iterations(node.inner):
            for nest in nests:
                if nest.kind is not None:
                    terms[nest.buffer].append(ir.value_of(nest.value, row | place, memory))
                elif not node.works_by_row(nest):
                    ir.run(nest, memory, row | place)
        for nest in nests:
            if nest.kind is not None:
                result = ir.REDUCERS[nest.kind](np.array(terms[nest.buffer], nest.value.dtype.numpy))
                memory[nest.buffer][ir.evaluate(nest.index, row)] = result
