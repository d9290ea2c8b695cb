"""A recording of what `mode="reduce-overhead"` captures: the partitions of a graph, and why a whole graph is not captured.

Inductor in a CUDA build of PyTorch runs here on the stand-in of `cuda.c`. It cuts a graph into partitions and writes its code.
Triton compiles nothing, and nothing is captured or run. By hand, as `record.py` says:

    cuda/bin/python bench/stand_in/record_graphs.py

It writes `phases/recorded/stand_in/graphs.json.gz`.
"""

from __future__ import annotations

import logging
import re
from types import SimpleNamespace
from typing import Any

from bench.stand_in import record

OUTPUT = record.OUTPUT.with_name("graphs.json.gz")

# name, source of a function f, its inputs: sizes on the device, or an expression
GRAPHS = [
    ("pointwise", "def f(x, y):\n    return torch.relu(x * 2 + y)\n", [(32, 600), (32, 600)]),
    ("head", "def f(x, weight, bias):\n    return torch.nn.functional.linear(x, weight, bias).relu().sum(1)\n",
     [(32, 64), (600, 64), (600,)]),
    ("through the CPU", "def f(x, y):\n    a = torch.relu(x * 2)\n    b = a.cpu().sin().cuda()\n    return torch.relu(b + y)\n",
     [(32, 600), (32, 600)]),
    ("an input on the CPU", "def f(x, y):\n    return torch.relu(x) + y.cuda()\n", [(32, 600), "torch.empty(32, 600)"]),
    ("a scalar on the CPU", "def f(x, y):\n    return torch.relu(x) * y\n", [(32, 600), "torch.empty(())"]),
    ("a number of the host", "def f(x):\n    y = torch.relu(x)\n    return torch.sin(y * y.sum().item())\n", [(32, 600)]),
    ("a mask", "def f(x):\n    y = torch.relu(x)\n    return y[y > 0] * 2\n", [(32, 600)]),
    ("an input that is written", "def f(x, y):\n    x.add_(1)\n    return x * y\n", [(32, 600), (32, 600)]),
]  # fmt: skip


class Written(BaseException):
    pass


def partitions(name: str, source: str, inputs: list[Any]) -> dict[str, Any]:
    """Return the scheduler's log of the partitions, and the part of the code that calls them."""
    from torch._inductor.graph import GraphLowering

    def stop(self: GraphLowering) -> None:
        raise Written(self.codegen()[0].value)

    messages, text = compiled(source, inputs, stop, partition=True)
    runner = re.search(r"^    def call\(self, args\):\n(?:        .*\n|\n)*", text, re.MULTILINE)
    return {"messages": messages, "call": runner[0].rstrip() + "\n"}


def whole(name: str, source: str, inputs: list[Any]) -> dict[str, Any]:
    """Return the log lines about the graph as a whole, and whether Inductor goes on to capture it."""
    import torch._inductor.compile_fx as compile_fx
    from torch._inductor.graph import GraphLowering

    def stop(*_: Any, **__: Any) -> None:
        raise Written("not captured")

    def capture(*_: Any, **__: Any) -> None:
        raise Written("captured")

    def skip(self: GraphLowering) -> Any:
        self.codegen()
        return SimpleNamespace(call=stop, runner=None, __file__="", benchmark_compiled_module=None)

    before, compile_fx.cudagraphify = compile_fx.cudagraphify, capture
    try:
        messages, ending = compiled(source, inputs, skip, partition=False)
    finally:
        compile_fx.cudagraphify = before
    return {"messages": messages, "captured": ending == "captured"}


def compiled(source: str, inputs: list[Any], instead: Any, partition: bool) -> tuple[list[str], str]:
    import torch
    import torch._inductor.config as config
    from torch._inductor.graph import GraphLowering

    messages: list[str] = []

    class Handler(logging.Handler):
        def emit(self, entry: logging.LogRecord) -> None:
            messages.append(entry.getMessage().rstrip())

    log, handler = logging.getLogger("torch._inductor.cudagraph_utils.__cudagraphs"), Handler()
    logs = [log, logging.getLogger("torch._inductor.scheduler.__cudagraphs")]
    space: dict[str, Any] = {"torch": torch}
    exec(compile(source, "program.py", "exec"), space)
    arguments = [
        eval(described, space) if isinstance(described, str) else torch.empty(described, device="cuda")
        for described in inputs
    ]
    before = GraphLowering.compile_to_module
    GraphLowering.compile_to_module = instead
    for logger in logs:
        logger.addHandler(handler)
        logger.propagate = False
    text = ""
    torch._dynamo.reset()
    try:
        with config.patch(graph_partition=partition):
            torch.compile(space["f"], mode="reduce-overhead")(*arguments)
    except Written as written:
        text = str(written)
    finally:
        GraphLowering.compile_to_module = before
        for logger in logs:
            logger.removeHandler(handler)
    return messages, text


def record_all() -> dict[str, Any]:
    import torch
    import torch._inductor.config as config
    import triton
    from triton.backends.compiler import GPUTarget

    class Target:
        def get_current_target(self) -> GPUTarget:
            return GPUTarget("cuda", 90, 32)

    triton.runtime.driver.set_active(Target())
    config.fx_graph_cache, config.compile_threads = False, 1
    torch._dynamo.config.capture_scalar_outputs = True
    torch._dynamo.config.capture_dynamic_output_shape_ops = True
    torch._logging.set_logs(cudagraphs=True)
    graphs = []
    for name, source, inputs in GRAPHS:
        entry = {"name": name, "source": source, "inputs": inputs}
        graphs.append(entry | {"partitions": partitions(name, source, inputs), "whole": whole(name, source, inputs)})
    return {
        "provenance": record.provenance("What Inductor in a CUDA build of PyTorch captures", "record_graphs.py"),
        "graphs": graphs,
    }


if __name__ == "__main__":
    record.main(__doc__, OUTPUT, record_all, ["graphs"], indent=1)
