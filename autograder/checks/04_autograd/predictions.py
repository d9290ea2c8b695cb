"""Predictions: the nodes of a program in the order of the backward pass, and the tensors that they save."""

from __future__ import annotations

from rushlight.course.predictions import BACKWARD, SAVED

from ...check import program
from ..cases import drawn, rows


def run(torch, text):
    """The loss of a program, and the nodes behind it, each with the tensors that it has saved."""
    names = {"xp": torch}
    exec(text, names)
    waiting, nodes = [names["loss"].grad_fn], {}
    while waiting:
        node = waiting.pop()
        if node is not None and node not in nodes:
            saved = (name for name in dir(node) if name.startswith("_saved_"))
            nodes[node] = [name.removeprefix("_saved_") for name in saved if torch.is_tensor(getattr(node, name))]
            waiting += [edge[0] for edge in node.next_functions]
    return names["loss"], nodes


def order(torch, text):
    """The nodes that the backward pass of a program runs, in order, and the tensors that each has saved."""
    loss, nodes = run(torch, text)
    ran = []
    handles = [node.register_prehook(lambda grads, node=node: ran.append(node)) for node in nodes]
    loss.backward()
    assert len(handles) == len(ran)
    return [(node.name().rpartition("::")[2], sorted(nodes[node])) for node in ran]


@program(
    "course.predictions.backward_order",
    cases=drawn(program=[*BACKWARD]),
    edges=rows("program", *((name,) for name in BACKWARD)),
    show=lambda torch, program: BACKWARD[program],
    draws=len(BACKWARD),
    prediction=True,
)
def backward_order(rl, program):
    return list(rl.course.predictions.backward_order(program))


@backward_order.oracle
def nodes_in_order(torch, program):
    return [name for name, _ in order(torch, BACKWARD[program])]


@program(
    "course.predictions.saved_tensors",
    cases=drawn(program=[*SAVED]),
    edges=rows("program", *((name,) for name in SAVED)),
    show=lambda torch, program: SAVED[program],
    draws=len(SAVED),
    prediction=True,
)
def saved_tensors(rl, program):
    return list(rl.course.predictions.saved_tensors(program))


@saved_tensors.oracle
def saved_in_order(torch, program):
    return [f"{name}.{saved}" for name, all_saved in order(torch, SAVED[program]) for saved in all_saved]
