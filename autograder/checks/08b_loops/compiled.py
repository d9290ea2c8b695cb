"""Whole programs as loops."""

from ...engine.check import program
from ..cases import rows
from ..shared_08 import _BINARY, _SOFTMAX, _programs, as_code, eager, inputs_of, run_steps

_COLUMNS = [[3, 3], [3]], [["t", 0], ["mul", 2, 1], ["sum", 3], ["mean", 3], ["sub", 3, 5], ["flat", 6]], [7, 4]


@program(
    "together.loops",
    cases=_programs([name for name in _BINARY if name != "product"]),  # a product has no loops
    show=as_code,
    edges=rows("shapes steps results", _SOFTMAX, _COLUMNS),
    draws=30,
)
def loops_of_programs(xp, shapes, steps, results):
    inputs, inductor = inputs_of(xp, shapes), xp.inductor
    graph = xp.aot.make_fx(lambda *inputs: run_steps(xp, inputs, steps, results))(*inputs)
    lowered = inductor.graph.lower(graph)
    memory = {
        name: xp.zeros(layout.nbytes // layout.dtype.itemsize, dtype=layout.dtype).numpy()
        for name, layout in lowered.layouts.items()
    }
    memory |= {name: tensor.reshape(-1).numpy() for name, tensor in zip(lowered.inputs, inputs)}
    memory |= {name: tensor.reshape(-1).numpy() for name, tensor in lowered.constants.items()}
    scheduler = inductor.scheduler
    for node in scheduler.fuse_nodes(scheduler.create_nodes(scheduler.live_operations(lowered)), lowered.layouts):
        for values in inductor.ir.iterations(node.outer):
            for nest in node.nests:
                inductor.ir.run(nest, memory, values)
    views = [
        xp.from_numpy(memory[output.buffer]).as_strided(output.sizes, output.strides, output.offset)
        for output in lowered.outputs
    ]
    return [view.clone() for view in views]


loops_of_programs.oracle(eager)
