"""The memory of a step as torch's own profiler reports it, in plain data.

torch records every allocation and every operator on the CPU too, so no GPU is needed to see whose memory a training step uses.
In PyTorch: `torch/profiler/_memory_profiler.py`, which deprecates its pictures in favour of the snapshots of a CUDA device.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch.profiler import ProfilerActivity, profile
from torch.profiler._memory_profiler import Category, MemoryProfile, TensorKey

from rushlight.profiler._memory_profiler import FlowNode, Value

DEDUCED = (Category.ACTIVATION, Category.AUTOGRAD_DETAIL)  # what the rules over the graph find


@dataclass
class MemoryOfStep:
    """`nodes` in order; the categories that are `known` before the rules, and torch's for all values; `events` of memory."""

    nodes: list[FlowNode]
    known: dict[Value, str]
    categories: dict[Value, str]
    events: list[tuple[int, str, Value, int]]
    backward: int  # the time at which the backward pass begins, in µs
    sizes: dict[str, int] = field(default_factory=dict)  # bytes of each tensor


def profile_memory(step: Callable[[], object]) -> MemoryOfStep:
    """Run a step under torch's profiler."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        settings = {"profile_memory": True, "record_shapes": True, "with_stack": True}
        with profile(activities=[ProfilerActivity.CPU], acc_events=True, **settings) as recorded:
            step()
        return _as_data(recorded._memory_profile())


def _as_data(made: MemoryProfile) -> MemoryOfStep:
    names: dict = {}

    def value(key: object, version: int) -> Value:
        return names.setdefault(key, f"t{len(names)}" if isinstance(key, TensorKey) else "unknown"), version

    nodes, backward = [], 0
    for node in made._data_flow_graph.flow_nodes:
        is_backward = _is_backward(node._event)
        inputs = [value(key, version) for key, (_, version) in node.inputs.items()]
        nodes.append(FlowNode(inputs, [value(*output) for output in node.outputs.items()], is_backward))
        backward = backward or is_backward and int(node._event.start_time_ns / 1000)
    categories = {key: category for key, category in made._category_snapshot().items() if category is not None}
    events = [
        (time if time == -1 else int(time / 1000), action.name.lower(), value(key, version), size)
        for time, action, (key, version), size in made.timeline
    ]
    return MemoryOfStep(
        nodes,
        {value(*key): category.name.lower() for key, category in categories.items() if category not in DEDUCED},
        {value(*key): category.name.lower() for key, category in categories.items()},
        events,
        backward,
        {key: size for _, _, (key, _), size in events},
    )


def _is_backward(event: object) -> bool:
    while event is not None:
        fields = event.typed[1]
        if getattr(fields, "scope", None) == torch._C._profiler.RecordScope.BACKWARD_FUNCTION:
            return True
        event = event.parent
    return False
