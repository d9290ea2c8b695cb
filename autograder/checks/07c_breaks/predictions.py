"""Lab 07, predictions: the graphs that are captured while a function is called several times."""

from __future__ import annotations

from rushlight.course import draws

from ...engine.check import program
from ..cases import PARTS, define, predicting

_ENDS = {  # how torch's reason for the end of a graph begins
    "return_value": "return", "generic_jump": "branch", "Unsupported Tensor.item()": "item",
    "Failed to trace builtin": "print",
}  # fmt: skip


for part in PARTS:

    @program(f"course.predictions.captured_graphs{part}", **predicting("captured_graphs", part))
    def captured_graphs(rl, number=0):
        return rl.course.predictions.captured_graphs()


@captured_graphs.oracle
def graphs_of_calls(torch, number=0):
    function, new, lines = define(torch, draws.program("captured_graphs", number)), [], []

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
