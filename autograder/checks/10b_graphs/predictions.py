"""Predictions: the nodes of a model that have observers, and which of them share one."""

from __future__ import annotations

from rushlight.course import draws

from ...engine.check import program
from ..cases import PARTS, predicting
from .programs import USUAL, prepared

for part in PARTS:

    @program(f"course.predictions.observed_nodes{part}", **predicting("observed_nodes", part))
    def observed_nodes(rl, number=0):
        return rl.course.predictions.observed_nodes()


@observed_nodes.oracle
def nodes_with_observers(torch, number=0):
    names = {"xp": torch, "F": torch.nn.functional}
    exec(draws.program("observed_nodes", number), names)

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)

        forward = names["forward"]

    model = prepared(torch, Model().eval(), USUAL)
    modules, numbers = dict(model.named_modules(remove_duplicate=False)), {}
    return [
        f"{node.args[0]} {numbers.setdefault(id(modules[node.target]), len(numbers))}"
        for node in model.graph.nodes
        if node.op == "call_module" and "Observer" in type(modules[node.target]).__name__
    ]
