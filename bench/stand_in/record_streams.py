"""A recording of the streams of backward passes: on which stream and thread a node runs, and which events the engine records.

The autograd engine of a CUDA build of PyTorch runs here on the stand-in of `cuda.c`. A node is queued, streams wait for events, and
no kernel runs, so the order is PyTorch's own and there are no results and no times. By hand, as `record.py` says:

    cuda/bin/python bench/stand_in/record_streams.py

It writes `phases/recorded/stand_in/streams.json.gz`. The same programs give the same file, byte by byte.
"""

from __future__ import annotations

import random
import threading
import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

from bench.stand_in import record

OUTPUT = record.OUTPUT.with_name("streams.json.gz")
STREAMS = 4  # of a program: 0 is the default stream

Program = dict[str, Any]  # name, why, forward, roots, caller


# Programs ------------------------------------------------------------------------------------------------------------


def by_hand() -> Iterator[Program]:
    """Forward steps are [result, operator, inputs, stream]. The inputs are results, and leaves: "w", "v" and so on. `unbind` has
    two results, such as "a.0" and "a.1"."""

    def program(name: str, why: str, forward: list, roots: list[str], caller: int = 0) -> Program:
        return {"name": name, "why": why, "forward": forward, "roots": roots, "caller": caller}

    yield program("one stream", "nothing waits", [["a", "exp", ["w"], 0], ["b", "exp", ["a"], 0]], ["b"])
    yield program(
        "a side stream", "the caller waits at the end", [["a", "exp", ["w"], 1], ["b", "exp", ["a"], 1]], ["b"]
    )
    yield program(
        "backward on the side stream", "the caller has the stream of the graph", [["a", "exp", ["w"], 1]], ["a"], 1
    )
    yield program(
        "there and back", "each change of stream is a wait",
        [["a", "exp", ["w"], 0], ["b", "exp", ["a"], 1], ["c", "exp", ["b"], 0]], ["c"],
    )  # fmt: skip
    yield program(
        "three streams", "two gradients of one tensor, from two streams",
        [["a", "exp", ["w"], 1], ["b", "exp", ["a"], 2], ["c", "mul", ["a", "b"], 0]], ["c"],
    )  # fmt: skip
    yield program(
        "two uses on one other stream", "the second gradient comes before the node runs",
        [["a", "exp", ["w"], 0], ["b", "exp", ["a"], 1], ["c", "exp", ["a"], 1], ["d", "mul", ["b", "c"], 1]], ["d"],
    )  # fmt: skip
    yield program(
        "the node's own stream first", "the first gradient needs no event, the second does",
        [["a", "exp", ["w"], 1], ["b", "exp", ["a"], 2], ["c", "exp", ["a"], 1], ["d", "mul", ["b", "c"], 1]], ["d"],
    )  # fmt: skip
    yield program(
        "the node's own stream last", "the first gradient's event is waited for when the second comes",
        [["a", "exp", ["w"], 1], ["b", "exp", ["a"], 1], ["c", "exp", ["a"], 2], ["d", "mul", ["b", "c"], 1]], ["d"],
    )  # fmt: skip
    yield program(
        "a tensor by itself",
        "two gradients from one node",
        [["a", "exp", ["w"], 1], ["b", "mul", ["a", "a"], 2]],
        ["b"],
    )
    yield program(
        "two inputs of one node", "each input of a node has its own event",
        [["a", "unbind", ["w"], 1], ["b", "exp", ["a.0"], 2], ["c", "exp", ["a.1"], 3], ["d", "mul", ["b", "c"], 0]], ["d"],
    )  # fmt: skip
    yield program(
        "two roots",
        "the caller's gradients come from its stream",
        [["a", "exp", ["w"], 1], ["b", "exp", ["v"], 2]],
        ["a", "b"],
    )
    yield program(
        "a root inside the graph", "one gradient from the caller, one from a node",
        [["a", "exp", ["w"], 1], ["b", "exp", ["a"], 2]], ["a", "b"],
    )  # fmt: skip
    yield program(
        "a leaf on two streams", "its gradient is added on the stream where it was used first",
        [["a", "exp", ["w"], 1], ["b", "exp", ["w"], 2], ["c", "mul", ["a", "b"], 0]], ["c"],
    )  # fmt: skip
    yield program(
        "a loss on the CPU", "nodes of CPU tensors run in the caller's thread, without a stream",
        [["a", "exp", ["w"], 1], ["b", "cpu", ["a"], 1], ["c", "exp", ["b"], 0]], ["c"],
    )  # fmt: skip
    yield program("a graph on the CPU", "no device", [["a", "exp", ["cpu w"], 0], ["b", "exp", ["a"], 0]], ["b"])


def drawn(count: int = 48, seed: int = 0) -> Iterator[Program]:
    for number in range(count):
        rng = random.Random(f"{seed} {number}")
        dimensions = {f"w{i}": 3 for i in range(rng.randint(1, 2))}  # of each tensor, in order
        streams = rng.sample(range(STREAMS), rng.randint(2, STREAMS))
        forward: list[list[Any]] = []
        for i in range(rng.randint(3, 8)):
            recent = [*dimensions][-4:]
            inputs = [rng.choice(recent) for _ in range(2)]
            kind = rng.choice(["exp", "exp", "mul", "mul", "unbind" if dimensions[inputs[0]] else "exp"])
            inputs = inputs if kind == "mul" else inputs[:1]
            forward.append([f"t{i}", kind, inputs, rng.choice(streams)])
            results = [f"t{i}.0", f"t{i}.1"] if kind == "unbind" else [f"t{i}"]
            dimensions |= dict.fromkeys(results, max(dimensions[name] for name in inputs) - (kind == "unbind"))
        used = {name for _, _, inputs, _ in forward for name in inputs}
        unused = [name for name in dimensions if name not in used and not name.startswith("w")]
        roots = unused if rng.random() < 0.5 else unused[-1:]
        caller = rng.choice(streams)
        yield {"name": f"drawn {number}", "why": "drawn", "forward": forward, "roots": roots, "caller": caller}


# Recording -----------------------------------------------------------------------------------------------------------


class Recorder:
    """Runs one program, and records the steps of its backward pass."""

    def __init__(self, program: Program, streams: list[Any]):
        self.program, self.streams = program, streams
        self.handles = [stream.cuda_stream for stream in streams]
        self.steps: list[list[Any]] = []
        self.threads = [threading.get_ident()]
        self.events: dict[int, int] = {}
        self.count, self.on, self.inside = 0, False, False

    def run(self) -> dict[str, Any]:
        import torch
        from torch.utils._python_dispatch import TorchDispatchMode

        recorder = self

        class Adds(TorchDispatchMode):
            def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                if recorder.on and not recorder.inside and func.overloadpacket.__name__ in ("add", "add_"):
                    recorder.steps.append(["add", recorder.stream_of(args[0])])
                return func(*args, **(kwargs or {}))

        tensors = self.forward()
        roots = [tensors[name] for name in self.program["roots"]]
        nodes = self.hooked([root.grad_fn for root in roots])
        with torch.cuda.stream(self.streams[self.program["caller"]]):
            gradients = [torch.empty_like(root) for root in roots]
            self.on = True
            with Adds():
                torch.autograd.backward(roots, gradients)
            self.on = False
        runs = [step for step in self.steps if step[0] == "run"]
        order = [i for _, i, *_ in runs]
        assert sorted(order) == [*range(len(nodes))]  # each ran once
        number = {node: order.index(i) for i, node in enumerate(nodes)}
        shown = [
            {
                "name": nodes[i].name(),
                "stream": stream,
                "thread": thread,
                "edges": [[number[function], at] for function, at in nodes[i].next_functions if function is not None],
            }
            for _, i, stream, thread in runs
        ]
        return {
            **self.program,
            "root inputs": [[number[root.grad_fn], root.output_nr] for root in roots],
            "nodes": shown,
            "steps": [["run", order.index(step[1])] if step[0] == "run" else step for step in self.steps],
        }

    def forward(self) -> dict[str, Any]:
        import torch

        tensors: dict[str, Any] = {}
        for result, kind, inputs, stream in self.program["forward"]:
            for name in inputs:
                if name not in tensors:
                    device = "cpu" if name.startswith("cpu") else "cuda"
                    tensors[name] = torch.empty(2, 2, 2, device=device, requires_grad=True)
            with torch.cuda.stream(self.streams[stream]):
                given = [tensors[name] for name in inputs]
                result_tensors = {
                    "exp": lambda x: x.exp(),
                    "mul": lambda x, y: x * y,
                    "unbind": lambda x: x.unbind(),
                    "cpu": lambda x: x.cpu(),
                }[kind](*given)
            if kind == "unbind":
                tensors[f"{result}.0"], tensors[f"{result}.1"] = result_tensors
            else:
                tensors[result] = result_tensors
        return tensors

    def hooked(self, roots: list[Any]) -> list[Any]:
        """All nodes of the graph, with hooks that say when, where and in which thread each runs."""
        nodes, waiting = [], [*roots]
        while waiting:
            node = waiting.pop(0)
            if node is None or node in nodes:
                continue
            node.register_prehook(partial(self.begin, len(nodes)))
            nodes.append(node)
            node.register_hook(lambda *_: self.end())
            waiting += [following for following, _ in node.next_functions]
        return nodes

    def begin(self, i: int, gradients: Any) -> None:
        thread = threading.get_ident()
        if thread not in self.threads:
            self.threads.append(thread)
        self.inside = True
        stream = self.stream_of(next(gradient for gradient in gradients if gradient is not None))
        self.steps.append(["run", i, stream, self.threads.index(thread)])

    def end(self) -> None:
        self.inside = False

    def stream_of(self, tensor: Any) -> int | None:
        import torch

        return self.handles.index(torch.cuda.current_stream().cuda_stream) if tensor.is_cuda else None

    def recorded(self, event: int, stream: int) -> None:
        if self.on:
            self.events[event] = self.count
            self.steps.append(["record", self.count, self.handles.index(stream)])
            self.count += 1

    def waited(self, event: int, stream: int) -> None:
        if self.on:
            self.steps.append(["wait", self.events[event], self.handles.index(stream)])


def record_all() -> dict[str, Any]:
    import torch
    from torch.cuda import _gpu_trace

    warnings.simplefilter("ignore")  # about leaves on two streams
    torch._C._activate_gpu_trace()
    streams = [torch.cuda.default_stream(), *(torch.cuda.Stream() for _ in range(STREAMS - 1))]
    current: list[Recorder] = []
    _gpu_trace.register_callback_for_event_record(lambda event, stream: current and current[-1].recorded(event, stream))
    _gpu_trace.register_callback_for_event_wait(lambda event, stream: current and current[-1].waited(event, stream))
    programs = []
    for program in [*by_hand(), *drawn()]:
        current.append(Recorder(program, streams))
        programs.append(current[-1].run())
    return {
        "provenance": record.provenance("The autograd engine of a CUDA build of PyTorch", "record_streams.py"),
        "programs": programs,
    }


if __name__ == "__main__":
    record.main(__doc__, OUTPUT, record_all, ["programs"])
