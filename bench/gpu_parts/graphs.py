"""Part 5: CUDA graphs against eager calls.

A model of many small calls, eager and replayed; a training step, replayed; what a capture refuses, each in a process of its own,
because a failed capture can leave the device unusable; what a replay does with new inputs; and `mode="reduce-overhead"`.
"""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch

from bench.gpu_parts import programs
from bench.gpu_parts.recording import without_paths

TITLE = "CUDA graphs"
LIMIT = 45

BREAKS = {  # what is captured, after `x = torch.ones(64, 64, device="cuda")`
    "a product": "x @ x",
    "item": "x.sum().item()",
    "a copy to the CPU": "x.cpu()",
    "a copy from pageable memory": "x.copy_(torch.ones(64, 64))",
    "a copy from pinned memory": "x.copy_(pinned, non_blocking=True)",
    "synchronize": "torch.cuda.synchronize()",
    "a size that depends on data": "x.nonzero()",
    "a mask": "x[x > 0]",
    "an event that is asked": "event.query()",
    "empty_cache": "torch.cuda.empty_cache()",
    "dropout": "torch.nn.functional.dropout(x, 0.5)",
    "a generator that is not registered": "torch.rand(4, device='cuda', generator=generator)",
    "work on a stream that does not join": "fork(x)",
    "printing": "repr(x)",
    "manual_seed": "torch.manual_seed(0)",
}
CAPTURE = """
import torch
x = torch.ones(64, 64, device="cuda")
x @ x; x.sum(); torch.cuda.synchronize()
pinned, event, side = torch.ones(64, 64).pin_memory(), torch.cuda.Event(), torch.cuda.Stream()
generator = torch.Generator("cuda")
event.record()
def fork(x):
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        return x * 2
graph = torch.cuda.CUDAGraph()
try:
    with torch.cuda.graph(graph):
        {program}
    graph.replay(); torch.cuda.synchronize()
    print("captured")
except Exception as error:
    print(type(error).__name__ + ": " + str(error))
"""


def capture(run: Any, function: Any, warm: int = 3) -> torch.cuda.CUDAGraph:
    """A graph of one call. Calls on another stream go before it, as PyTorch's notes say, so that nothing is initialised within."""
    run.need_gpu("a CPU has no graphs of launches")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(warm):
            function()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        function()
    return graph


def small_model(run: Any) -> dict[str, Any]:
    """Forward of a model that launches much and computes little: seconds eager and replayed, and the profile of both."""
    training = programs.Training(run.device, small=True)
    model, x = training.model.eval(), training.x

    @torch.no_grad()
    def forward() -> torch.Tensor:
        return model(x)

    eager, profiled = run.seconds(forward, 31), programs.profiled(run, forward)
    graph = capture(run, forward)
    replayed = programs.profiled(run, graph.replay)
    return {
        "eager": eager,
        "replayed": run.seconds(graph.replay, 31),
        "kernels, eager": programs.kernels(profiled),
        "kernels, replayed": programs.kernels(replayed),
    }


def training_step(run: Any) -> dict[str, Any]:
    """A whole step of training in one graph: gradients that stay where they are, and the losses of both ways."""
    eager, captured = (programs.Training(run.device, small=True) for _ in range(2))

    def step(training: programs.Training) -> torch.Tensor:
        training.optimizer.zero_grad(set_to_none=False)
        output = training.model(training.x).flatten(0, 1)
        loss = torch.nn.functional.cross_entropy(output, training.y.flatten())
        loss.backward()
        training.optimizer.step()
        return loss.detach()

    losses = [step(eager).item() for _ in range(8)]
    shown: dict[str, Any] = {"losses, eager": losses, "eager": run.seconds(lambda: step(eager))}
    run.need_gpu("a CPU has no graphs of launches")
    kept = {}

    def recorded() -> None:
        kept["loss"] = step(captured)

    graph = capture(run, recorded)  # three steps, and a fourth that is recorded and does not run
    losses = []
    for _ in range(5):
        graph.replay()
        losses.append(kept["loss"].item())
    return shown | {"losses of steps 4 to 8, replayed": losses, "replayed": run.seconds(graph.replay)}


def inputs(run: Any) -> dict[str, Any]:
    """A replay reads the addresses of the capture: a new tensor is not seen, new contents are."""
    x = torch.ones(4, device=run.device)
    kept = {}

    def double() -> None:
        kept["y"] = kept["x"] * 2

    kept["x"] = x
    graph = capture(run, double)
    graph.replay()
    first = kept["y"].tolist()
    kept["x"] = torch.full((4,), 5.0, device=run.device)
    graph.replay()
    rebound = kept["y"].tolist()
    x.fill_(7.0)
    graph.replay()
    return {
        "after the capture": first,
        "the name is bound to a new tensor": rebound,
        "new contents": kept["y"].tolist(),
    }


def breaks(run: Any) -> dict[str, str]:
    """Return PyTorch's error, or its result, for each program in a capture."""
    for program in BREAKS.values():
        compile(CAPTURE.format(program=program), "capture", "exec")
    run.need_gpu("a CPU has no graphs of launches")

    def ask(program: str) -> str:
        command = [sys.executable, "-c", CAPTURE.format(program=program)]
        try:
            completed = subprocess.run(command, capture_output=True, text=True, timeout=max(1.0, run.left() - 3))
        except subprocess.TimeoutExpired:
            return "out of time"
        return without_paths((completed.stdout or completed.stderr).strip()) or f"exit code {completed.returncode}"

    with ThreadPoolExecutor(8) as executor:
        return dict(zip(BREAKS, executor.map(ask, BREAKS.values())))


def memory(run: Any) -> dict[str, Any]:
    """A graph's tensors are in a pool of its own, which keeps its bytes while the graph is there."""
    run.need_gpu("the CPU's allocator has no pools")
    x = torch.ones(1 << 20, device=run.device)
    before = torch.cuda.memory_stats()
    graph = capture(run, lambda: (x * 2).sum())
    after = torch.cuda.memory_stats()
    segments = torch.cuda.memory._snapshot()["segments"]
    keys = "allocated_bytes.all.current", "reserved_bytes.all.current", "segment.all.current"
    shown = {"before": {key: before[key] for key in keys}, "after": {key: after[key] for key in keys}}
    shown["segments"] = [
        {"size": segment["total_size"], "in a graph's pool": tuple(segment.get("segment_pool_id", (0, 0))) != (0, 0)}
        for segment in segments
    ]
    del graph
    return shown


def graphed_callable(run: Any) -> dict[str, Any]:
    training = programs.Training(run.device, small=True)
    run.need_gpu("a CPU has no graphs of launches")
    graphed = torch.cuda.make_graphed_callables(training.model, (training.x,))

    def both() -> None:
        graphed(training.x).sum().backward()

    return {"forward and backward": run.seconds(both)}


def reduce_overhead(run: Any) -> dict[str, Any]:
    """`torch.compile` with and without graphs, in inference."""
    training = programs.Training(run.device, small=True, blocks=1)
    model, x = training.model.eval(), training.x
    times = {}
    for mode in ("default",) if run.cpu else ("default", "reduce-overhead"):
        torch._dynamo.reset()
        compiled = torch.compile(model, mode=mode)
        with torch.no_grad():

            def call(compiled=compiled) -> torch.Tensor:
                if not run.cpu:
                    torch.compiler.cudagraph_mark_step_begin()
                return compiled(x)

            times[mode] = run.seconds(call, 31)
            times[f"kernels, {mode}"] = programs.kernels(programs.profiled(run, call))
    return times


SECTIONS = [
    ("a small model", small_model),
    ("a step of training", training_step),
    ("what a replay reads", inputs),
    ("memory of a graph", memory),
    ("make_graphed_callables", graphed_callable),
    ("reduce-overhead", reduce_overhead),
    ("what a capture refuses", breaks),
]
