"""Predictions: the nodes of a program in the order of the backward pass, and the tensors that they save."""

from __future__ import annotations

from rushlight.course import draws

from ...engine.check import program
from ..cases import PARTS, predicting
from ..shared_04 import Graph, node_name


def order(torch, text):
    """The nodes that the backward pass of a program runs, in order, and the tensors that each has saved."""
    names = {"xp": torch}
    exec(text, names)
    ran, saved = [], {}
    for node in Graph(names["loss"].grad_fn).nodes:
        fields = (name for name in dir(node) if name.startswith("_saved_"))
        tensors = sorted(name.removeprefix("_saved_") for name in fields if torch.is_tensor(getattr(node, name)))
        saved[node] = tensors  # read before the backward pass, which frees them
        node.register_prehook(lambda grads, node=node: ran.append(node))
    names["loss"].backward()
    return [(node_name(node).rpartition("::")[2], saved[node]) for node in ran]


for part in PARTS:

    @program(f"course.predictions.backward_order{part}", **predicting("backward_order", part))
    def backward_order(rl, number=0):
        return rl.course.predictions.backward_order()


@backward_order.oracle
def nodes_in_order(torch, number=0):
    return [name for name, _ in order(torch, draws.program("backward_order", number))]


for part in PARTS:

    @program(f"course.predictions.saved_tensors{part}", **predicting("saved_tensors", part))
    def saved_tensors(rl, number=0):
        return rl.course.predictions.saved_tensors()


@saved_tensors.oracle
def saved_in_order(torch, number=0):
    ran = order(torch, draws.program("saved_tensors", number))
    return [f"{name}.{saved}" for name, all_saved in ran for saved in all_saved]
