"""Whose memory is it? A category for each version of each tensor of a training step, and the bytes of each category over time.

A profile of memory knows addresses and bytes, and a profile of operators knows which tensors each one reads and writes. Together
they are a graph of data flow. Parameters, gradients and optimizer state are known from the module and the optimizer. Two rules over
the graph find the others: activations, and the tensors that autograd makes for itself.

In PyTorch: `torch/profiler/_memory_profiler.py`. Left out: the graph of data flow is given here, not made from a profile.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

__all__ = ["ACTIONS", "CATEGORIES", "FlowNode", "coalesce_timeline", "propagate_categories"]

# in the order of PyTorch's pictures, from the bottom; None is unknown
CATEGORIES = ("parameter", "optimizer_state", "input", "temporary", "activation", "gradient", "autograd_detail", None)
ACTIONS = ("preexisting", "create", "increment_version", "destroy")

Value = tuple[str, int]  # a tensor's key and its version: a write in place makes the next version


@dataclass(frozen=True)
class FlowNode:
    """An operator of the program. Source: `torch/profiler/_memory_profiler.py`, `DataFlowNode`."""

    inputs: Collection[Value]
    outputs: Collection[Value]
    is_backward: bool


def propagate_categories(nodes: Sequence[FlowNode], known: dict[Value, str]) -> dict[Value, str]:
    """The category of each value of a training step, from those that are known.

    A value is a pair (key, version): a tensor, and the number of writes to it. A value gets a category once and keeps it, so
    a known one never changes. A value without a rule that holds has no category.

    Parameters, gradients, inputs and optimizer state are known. So are temporaries: tensors that one operator makes and frees.
    Two rules find the others.

    1. *Activations*, node by node, in order. The outputs of a node are of category "activation" if the node is not
       part of the backward pass, at least one input is of category "input" or "activation", and every other input is of
       category "input", "activation", "parameter" or "temporary".
    2. Then *details of autograd*. An output of a node of the backward pass is of category "autograd_detail" if the version before
       it has this category, or no category. There is no version before version 0.

    Args:
        nodes: in the order of execution. `inputs` and `outputs` are collections of values.
        known: value → category. The dict is not changed.

    Returns:
        a new dict, value → category, with the known ones.

    >>> known = {("x", 0): "input", ("w", 0): "parameter", ("dw", 0): "gradient"}
    >>> nodes = [FlowNode([("x", 0), ("w", 0)], [("y", 0)], False), FlowNode([("y", 0)], [("dw", 0), ("dy", 0)], True)]
    >>> categories = propagate_categories(nodes, known)
    >>> categories["y", 0], categories["dw", 0], categories["dy", 0]
    ('activation', 'gradient', 'autograd_detail')

    Source: `torch/profiler/_memory_profiler.py`, `_set_activations` and `_set_autograd_detail`.
    """
    assigned = dict(known)
    for node in nodes:
        categories = {assigned.get(value) for value in node.inputs}
        from_input = categories & {"input", "activation"}
        if from_input and not node.is_backward and categories <= {*from_input, "parameter", "temporary"}:
            for value in node.outputs:
                assigned.setdefault(value, "activation")
    for node in nodes:
        for key, version in node.outputs if node.is_backward else ():
            if assigned.get((key, version - 1)) in (None, "autograd_detail"):
                assigned.setdefault((key, version), "autograd_detail")
    return assigned


def coalesce_timeline(
    events: Sequence[tuple[int, str, Value, int]], categories: dict[Value, str]
) -> tuple[list[int], list[list[int]]]:
    """How many bytes of each category there are after each moment of a program.

    Each event is a tuple (time, action, (key, version), bytes):

        preexisting         the tensor was there before the program began
        create              it is allocated
        increment_version   it is written in place: its bytes, so far those of `version`, are those of version + 1 from now on
        destroy             it is freed

    The bytes of a value belong to its category, `categories[key, version]`, or to None if it has none. Pieces of memory that belong
    to no tensor all have one key, so a key may be created again before it is destroyed. Events at the same time are one moment.

    Time -1 stands for "before the program", and is a moment of its own. In the result its time is replaced by the earliest other
    time, or stays -1 if there is none.

    Args:
        events: in the order of their times.

    Returns:
        times: a list with an int for each moment.
        sizes: a list with a list for each moment: the bytes of each category, in the order of `CATEGORIES`, after its events.

    >>> events = [(-1, "preexisting", ("w", 0), 8), (5, "create", ("y", 0), 4), (5, "increment_version", ("w", 0), 8)]
    >>> times, sizes = coalesce_timeline([*events, (7, "destroy", ("y", 0), 4)], {("w", 0): "input", ("w", 1): "parameter"})
    >>> times
    [5, 5, 7]
    >>> sizes
    [[0, 0, 8, 0, 0, 0, 0, 0], [8, 0, 0, 0, 0, 0, 0, 4], [8, 0, 0, 0, 0, 0, 0, 0]]

    Source: `torch/profiler/_memory_profiler.py`, `MemoryProfileTimeline._coalesce_timeline`.
    """
    times, sizes, last, now = [], [], None, [0] * len(CATEGORIES)
    for time, action, (key, version), size in events:
        if time != last:
            times.append(time)
            sizes.append(now := [*now])
            last = time
        if action in ("increment_version", "destroy"):
            now[CATEGORIES.index(categories.get((key, version)))] -= size
        if action != "destroy":
            version += action == "increment_version"
            now[CATEGORIES.index(categories.get((key, version)))] += size
    first = min((time for time in times if time != -1), default=-1)
    return [first if time == -1 else time for time in times], sizes
