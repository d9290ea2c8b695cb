"""Predictions: the nodes of a program in the order of the backward pass, and the tensors that they save."""

from __future__ import annotations

from rushlight.course.predictions import BACKWARD, SAVED

from ...engine.check import program
from ..cases import predicted
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


@program("course.predictions.backward_order", **predicted(BACKWARD, draws=len(BACKWARD)))
def backward_order(rl, program):
    return list(rl.course.predictions.backward_order(program))


@backward_order.oracle
def nodes_in_order(torch, program):
    return [name for name, _ in order(torch, BACKWARD[program])]


@program("course.predictions.saved_tensors", **predicted(SAVED, draws=len(SAVED)))
def saved_tensors(rl, program):
    return list(rl.course.predictions.saved_tensors(program))


@saved_tensors.oracle
def saved_in_order(torch, program):
    return [f"{name}.{saved}" for name, all_saved in order(torch, SAVED[program]) for saved in all_saved]
