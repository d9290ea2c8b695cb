"""The events of a profile: the calls of operators, the nodes of a backward pass, allocations, and blocks with a name.

While a `Recorder` is on, the dispatcher gives it every call (`dispatch.observing`), and the engine every node. While none is on,
profiling costs nothing: the tables of the operators hold the kernels themselves.

In PyTorch: `torch/autograd/profiler.py`, `aten/src/ATen/record_function.h`, `torch/csrc/autograd/profiler_kineto.cpp`. Here
calls that kernels make in numpy are not seen, so a kernel of rushlight often has fewer children than torch's.
"""

import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ContextDecorator, contextmanager
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

from rushlight.autograd.graph import AccumulateGrad, Node, _sequence
from rushlight.autograd.profiler_util import FunctionEvent
from rushlight.c10 import dispatch
from rushlight.c10.dispatch import AUTOGRAD_KEYS, Operator, local, tensors_in

__all__ = ["Recorder", "record_function"]

FUNCTION, BACKWARD_FUNCTION, USER_SCOPE = 0, 1, 7
TYPES = {  # of C++, by the names of dtypes
    "float32": "float", "float64": "double", "float16": "c10::Half", "bfloat16": "c10::BFloat16", "int64": "long int",
    "int32": "int", "int16": "short int", "int8": "signed char", "uint8": "unsigned char", "bool": "bool",
}  # fmt: skip

recording: "list[Recorder]" = []  # those that are on; the last one gets the events


@dataclass(eq=False)
class Recorder:
    """The events of a program while it runs (`with`). Times are in microseconds."""

    record_shapes: bool = False
    profile_memory: bool = False
    with_stack: bool = False
    flops: Callable | None = None
    events: list[FunctionEvent] = field(default_factory=list)
    arguments: list[dict[str, Any]] = field(default_factory=list)  # of each event, as in a trace
    memory: list[tuple[float, int, int, int]] = field(default_factory=list)  # time, bytes, address, all allocated bytes
    allocated: int = 0
    _known: dict[Any, Any] = field(default_factory=dict)
    _open: list[FunctionEvent] = field(default_factory=list)
    _observing: AbstractContextManager | None = None

    def __enter__(self) -> "Recorder":
        self._observing = observing = dispatch.observing(self._call)
        observing.__enter__()
        recording.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        recording.remove(self)
        if self._observing is not None:
            self._observing.__exit__(None, None, None)
        while self._open:
            self.end(self._open[-1])

    def begin(self, name: str, stack: Sequence = (), scope: int = FUNCTION, sequence_nr: int = -1) -> FunctionEvent:
        """An event that starts now."""
        event = FunctionEvent(name, thread_id(), 0, 0, sequence_nr=sequence_nr, scope=scope)
        arguments: dict[str, Any] = {}
        if sequence_nr >= 0:
            arguments["Sequence number"] = sequence_nr
            arguments["Fwd thread id"] = int(scope == BACKWARD_FUNCTION)
        if self.record_shapes and stack:
            described = [describe(value) for value in stack]
            names = ("Concrete Inputs", "Input type", "Input Strides", "Input Dims")
            arguments |= dict(zip(names, map(list, zip(*described))))
            event.input_shapes = arguments["Input Dims"]
        if self.with_stack:
            event.stack = python_stack()
        self.events.append(event)
        self.arguments.append(arguments)
        self._open.append(event)
        event.start = now()
        return event

    def end(self, event: FunctionEvent) -> None:
        """The event ends now, and so do those within it that are still open."""
        moment = now()
        while self._open and self._open[-1] is not event:
            self._open.pop().end = moment
        if self._open:
            self._open.pop()
        event.end = moment

    def _call(self, operator: Operator, stack: tuple, function: Callable) -> Any:
        schema = operator.schema
        event = self.begin(f"{schema.namespace}::{schema.name}", stack, FUNCTION, next_sequence_nr(operator, stack))
        if self.flops is not None:
            event.flops = self.flops(operator, stack)
        try:
            result = function(*stack)
            if self.profile_memory:
                self._allocations(result, stack)
            return result
        finally:
            self.end(event)

    def _allocations(self, result: Any, stack: Sequence) -> None:
        """Note the storages of the results that are new."""
        old = {id(tensor._storage) for tensor in tensors_in(stack)}
        for tensor in tensors_in(result if isinstance(result, (tuple, list)) else (result,)):
            storage = tensor._storage
            if id(storage) not in old and id(storage) not in self._known and storage.nbytes():
                self._known[id(storage)] = weakref.finalize(storage, self._free, id(storage), storage.nbytes())
                self._note(storage.nbytes(), id(storage))

    def _free(self, address: int, nbytes: int) -> None:
        del self._known[address]
        if self in recording:
            self._note(-nbytes, address)

    def _note(self, nbytes: int, address: int) -> None:
        self.allocated += nbytes
        self.memory.append((now(), nbytes, address, self.allocated))
        for event in self._open:
            event.cpu_memory_usage += nbytes


# WebAssembly has no number of the system's for a thread
thread_id = getattr(threading, "get_native_id", threading.get_ident)


_last = 0  # nanoseconds


def now() -> float:
    """The time in microseconds. It is later than at any call before, because times decide which event is around which, and a
    browser's clock has ticks of 100 microseconds."""
    global _last
    moment = time.perf_counter_ns()
    _last = moment if moment > _last else _last + 1
    return _last / 1000


def describe(value: Any) -> tuple[Any, str, list, list]:
    """An argument in a trace: the value if it is a number, its type, strides and sizes."""
    if hasattr(value, "_key_set"):
        return "", TYPES.get(value.dtype.name, value.dtype.name), list(value.stride()), list(value.shape)
    if isinstance(value, (bool, int, float)):
        return str(value), "Scalar", [], []
    if isinstance(value, (list, tuple)) and value and all(hasattr(item, "_key_set") for item in value):
        return "", "TensorList", [list(item.stride()) for item in value], [list(item.shape) for item in value]
    if isinstance(value, (list, tuple)) and all(isinstance(item, (bool, int, float)) for item in value):
        return str(list(value)), "ScalarList", [], []
    return "", "", [], []


def next_sequence_nr(operator: Operator, stack: Sequence) -> int:
    """The number of the node that a call is going to make, or -1 if it makes none: the highest key of the call decides.
    Source: `aten/src/ATen/core/dispatch/Dispatcher.h`, `runRecordFunction`."""
    if not local.grad_enabled:
        return -1
    key_set = dispatch.dispatch_key_set(stack, local.included, local.excluded)
    key = dispatch.highest_priority_key(dispatch.skip_fallthrough(operator, key_set))
    if key not in AUTOGRAD_KEYS or operator.entry(key)[1] == "backend fallback":
        return -1
    return int(repr(_sequence)[len("count(") : -1])


def python_stack() -> list[str]:
    """The frames of the program's own functions, the innermost first: `file(line): function`."""
    frame, lines = sys._getframe(1), []
    while frame is not None:
        code, module = frame.f_code, frame.f_globals.get("__name__", "")
        if not module.startswith(("rushlight.", "torch.")) and module != "contextlib":
            lines.append(f"{code.co_filename}({frame.f_lineno}): {code.co_name}")
        frame = frame.f_back
    return lines


class record_function(ContextDecorator):  # noqa: N801
    """A block, or a function, that has a name in a profile. Source: `torch/autograd/profiler.py`, `record_function`."""

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name, self.args = name, args

    def __enter__(self) -> "record_function":
        self.recorder = recording[-1] if recording else None
        self.event = self.recorder.begin(self.name, scope=USER_SCOPE) if self.recorder else None
        return self

    def __exit__(self, *_: object) -> None:
        if self.recorder and self.event:
            self.recorder.end(self.event)


@contextmanager
def record_nodes(nodes: Iterable[Node]) -> Iterator[None]:
    """In this block, a backward pass runs these nodes. Each has an event, within one for all that the engine does for it.
    Source: `torch/csrc/autograd/engine.cpp`, `Engine::evaluate_function`; `function.h`, `Node::operator()`."""
    recorder, nodes = recording[-1], list(nodes)
    outer: list[FunctionEvent] = []

    def close() -> None:
        while outer:
            recorder.end(outer.pop())

    for node in nodes:
        node.apply = _recorded(recorder, node, outer, close)
    try:
        yield
    finally:
        close()
        for node in nodes:
            del node.apply


def _recorded(recorder: Recorder, node: Node, outer: list, close: Callable) -> Callable:
    name, apply = node.name(), node.apply
    number = -1 if isinstance(node, AccumulateGrad) else node.sequence_nr

    @wraps(apply)
    def recorded(*grads: Any) -> Any:
        close()  # the event of the node before
        outer.append(recorder.begin(f"autograd::engine::evaluate_function: {name}", (), BACKWARD_FUNCTION, number))
        event = recorder.begin(name, grads, BACKWARD_FUNCTION, number)
        try:
            return apply(*grads)
        finally:
            recorder.end(event)

    return recorded
