"""Run the same program on rushlight and on torch, and look at what can be seen of the result."""

import copy
import pickle
import warnings

import numpy as np
import torch

import rushlight as rl

FRAMEWORKS = (rl, torch)


def metadata(x):
    """Return the metadata and the elements of a tensor as plain data."""
    return (
        tuple(x.shape),
        x.stride(),
        x.storage_offset(),
        str(x.dtype).rpartition(".")[2],
        x.is_contiguous(),
        repr(x.tolist()),
    )


def observe(result):
    if isinstance(result, FRAMEWORKS[0].Tensor | torch.Tensor):
        return metadata(result)
    if isinstance(result, (list, tuple)):
        return [observe(each) for each in result]
    return repr(result).replace("rushlight.", "torch.")


def outcome(program, xp, *args):
    """Return the result of `program(xp, ...)`, or the type of the error it raises."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return observe(program(xp, *args))
    except Exception as error:
        return type(error).__name__


def agree(program, *args):
    ours, theirs = (outcome(program, xp, *args) for xp in FRAMEWORKS)
    assert ours == theirs, f"rushlight {ours}\ntorch     {theirs}"


def written(text):
    """The program that a line of Python is: statements, and last an expression. It observes the value, its type and its history."""

    def program(xp):
        names = {"xp": xp, "np": np, "copy": copy, "pickle": pickle, "i": xp.tensor([1, 2])}
        names |= {"x": xp.tensor([1.0, 2.0], requires_grad=True), "y": xp.tensor([1.0, 2.0])}
        names |= {"m": xp.tensor([[1.0, 2.0], [3.0, 4.0]])}
        *statements, last = text.split("; ")
        exec("\n".join(statements), names)
        value = eval(last, names)
        return type(value).__name__, getattr(value, "requires_grad", None), value

    return program


def name(node):
    return node if node is None else node.name().rpartition("::")[2]


def graph(*tensors):
    """Names and edges of the nodes behind some tensors, in the order in which they are met."""
    order, waiting = [], [tensor.grad_fn for tensor in tensors]
    while waiting:
        node = waiting.pop(0)
        if node is not None and node not in order:
            order.append(node)
            waiting += [successor for successor, _ in node.next_functions]
    number = {node: i for i, node in enumerate(order)}
    number[None] = None
    return [(name(node), [(number[n], i) for n, i in node.next_functions]) for node in order]
