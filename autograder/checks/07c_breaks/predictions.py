"""Lab 07, predictions: the graphs that are captured while a function is called several times."""

from __future__ import annotations

from rushlight.course.predictions import CAPTURES

from ...engine.check import program
from ..cases import define, predicted

_ENDS = {  # how torch's reason for the end of a graph begins
    "return_value": "return", "generic_jump": "branch", "Unsupported Tensor.item()": "item",
    "Failed to trace builtin": "print",
}  # fmt: skip


@program("course.predictions.captured_graphs", **predicted(CAPTURES))
def captured_graphs(rl, program):
    return list(rl.course.predictions.captured_graphs(program))


@captured_graphs.oracle
def graphs_of_calls(torch, program):
    function, new, lines = define(torch, CAPTURES[program]), [], []

    def collect(gm, example_inputs):
        nodes = [node.target for node in gm.graph.nodes if node.op in ("call_function", "call_method")]
        names = [target if isinstance(target, str) else target.__name__ for target in nodes]
        reason = gm.compile_subgraph_reason.reason
        end = next(end for beginning, end in _ENDS.items() if reason.startswith(beginning))
        new.append(f"{' '.join(names)}, {end}")
        return gm.forward

    torch._dynamo.reset()
    compiled = torch.compile(function, backend=collect)
    for number, args in enumerate(function.__globals__["calls"], start=1):
        compiled(*args)
        lines += [f"{number}: {graph}" for graph in new]
        new.clear()
    torch._dynamo.reset()
    return lines
