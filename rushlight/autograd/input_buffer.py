"""Gradients on their way from node to node, when the nodes run on different streams of a device.

A node of the backward pass runs on the stream on which its forward operator was launched. So a forward pass on several streams has
a backward pass on several streams. The program need not say so: the engine queues the waits. Each input of a node has a buffer, in
which the gradients for it are added up. The buffer knows what the node must wait for.

In PyTorch: `torch/csrc/autograd/input_buffer.cpp`, and `Engine::evaluate_function` in `torch/csrc/autograd/engine.cpp`. Left out:
several devices, nodes on the CPU, captures, and `record_stream`, which the engine calls for each gradient that changes its stream.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

from rushlight.cuda.memory import DeviceTensor, empty, launch
from rushlight.cuda.streams import Event, Stream, current_stream, stream

__all__ = ["StreamNode", "backward_steps", "run_backward"]

Edge = tuple[int, int]  # a node, and the number of one of its inputs


@dataclass(frozen=True)
class StreamNode:
    """A node of the backward pass: its stream, and for each of its gradients the input that gets it. A leaf has no edges."""

    stream: int
    edges: tuple[Edge, ...] = ()
    name: str = "node"
    duration: float = 10.0  # microseconds, on the simulated device


def backward_steps(nodes: Sequence[StreamNode], roots: Sequence[Edge], caller: int) -> list[tuple]:
    """Return the steps that the engine queues in a backward pass: events, waits, additions and nodes, in order.

    The gradients of `backward(...)` come first. They were made on the stream `caller`, and go to the inputs in `roots`, in this
    order. Then each node of `nodes` runs, in this order, on its own stream, and its gradients go to the inputs in `node.edges`, in
    this order. The steps:

    - A gradient goes to an input. If the input's node has another stream than the gradient, an event is recorded on the
      gradient's stream: `("record", event, stream)`. Events are numbered from 0, in the order of these steps.
    - It is the first gradient of this input: no more is done now.
    - Otherwise it is added on the stream of the input's node. First this stream waits for the new gradient's event, then for the
      event of what is in the input, if there are such events: `("wait", event, stream)`. Then `("add", stream)`. The sum needs
      no event.
    - A node runs: first its stream waits for the events of its inputs that no addition has waited for, input 0 first, then
      input 1, and so on. Then `("run", index)`.
    - At the end, the caller's stream waits for each other stream on which a leaf ran, in ascending order: `("record", event,
      stream)` and `("wait", event, caller)`.

    Returns:
        a list of tuples.

    >>> backward_steps([StreamNode(2, ((1, 0),)), StreamNode(1)], [(0, 0)], caller=2)
    [('run', 0), ('record', 0, 2), ('wait', 0, 1), ('run', 1), ('record', 1, 1), ('wait', 1, 2)]

    Source: `torch/csrc/autograd/input_buffer.cpp`, `InputBuffer::add`; `torch/csrc/autograd/engine.cpp`.
    """
    steps, numbers = [], count()
    waiting = {}  # by input that has a gradient: the event that its node must wait for, or None

    def record(stream):
        event = next(numbers)
        steps.append(("record", event, stream))
        return event

    def send(edge, producer):
        consumer = nodes[edge[0]].stream
        event = record(producer) if producer != consumer else None
        if edge in waiting:
            steps.extend(("wait", awaited, consumer) for awaited in (event, waiting[edge]) if awaited is not None)
            steps.append(("add", consumer))
            event = None
        waiting[edge] = event

    for edge in roots:
        send(edge, caller)
    for i, node in enumerate(nodes):
        events = [waiting[edge] for edge in sorted(waiting) if edge[0] == i]
        steps.extend(("wait", event, node.stream) for event in events if event is not None)
        steps.append(("run", i))
        for edge in node.edges:
            send(edge, node.stream)
    for leaf_stream in sorted({node.stream for node in nodes if not node.edges} - {caller}):
        steps.append(("wait", record(leaf_stream), caller))
    return steps


def run_backward(nodes: Sequence[StreamNode], roots: Sequence[Edge], waits: bool = True) -> list[DeviceTensor]:
    """Queue a backward pass on the current simulated device, called on the current stream, and return what each node has made.

    Without `waits`, no stream waits.
    """
    steps = backward_steps(nodes, roots, current_stream().stream_id)
    gradient, events, arrived = empty([1]), {}, {}
    launch("gradient", 1.0, out=gradient)
    made = []
    sent = deque((edge, gradient) for edge in roots)  # gradients that have not gone to their inputs

    def store_first() -> None:
        while sent and sent[0][0] not in arrived:
            edge, gradient = sent.popleft()
            arrived[edge] = gradient

    for kind, *what in steps:
        if kind == "record":
            events[what[0]] = Event()
            events[what[0]].record(Stream(stream_id=what[1]))
        elif kind == "wait" and waits:
            events[what[0]].wait(Stream(stream_id=what[1]))
        elif kind == "add":
            store_first()
            edge, gradient = sent.popleft()
            with stream(Stream(stream_id=what[0])):
                total = empty([1])
                launch("add", 2.0, inputs=[arrived[edge], gradient], out=total)
            arrived[edge] = total
        elif kind == "run":
            store_first()
            node, inputs = nodes[what[0]], [grad for edge, grad in arrived.items() if edge[0] == what[0]]
            with stream(Stream(stream_id=node.stream)):
                gradient = empty([1])
                launch(node.name, node.duration, inputs=inputs, out=gradient)
            made.append(gradient)
            sent.extend((edge, gradient) for edge in node.edges)
    return made
