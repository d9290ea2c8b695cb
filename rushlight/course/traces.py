"""Traces of a device, drawn: what Kineto writes for a GPU, from rules, because no GPU has made them.

A call on the CPU (`cudaLaunchKernel`, category "cuda_runtime") puts a kernel into the queue of a stream. The kernel (category
"kernel") begins when it has arrived, the stream is free, and what it waits for has ended. Both have the same correlation id, and
an arrow ("ac2g", from the CPU to the GPU) leads from the one to the other.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from rushlight.profiler._utils import busy_and_gaps

__all__ = ["DEVICE", "HOST", "device_trace", "gaps_by_cause", "launches_and_kernels"]

HOST, DEVICE, DRIVER = 1, 0, 5  # processes in the trace; the time that a launch takes on the CPU, in microseconds
LATENCY = 4  # from the end of a launch to the first moment at which its kernel can begin


def device_trace(calls: Iterable[tuple[str, int, int, int, Sequence[int]]]) -> dict[str, Any]:
    """The trace of a program that launches kernels, as `export_chrome_trace` writes it.

    Args:
        calls: a tuple (name, gap, stream, duration, waits) for each kernel. The CPU works for `gap` microseconds before it launches
            the kernel, which takes `duration`. `waits` has the numbers of earlier kernels. With the name "synchronize" the
            CPU waits until all kernels have ended, for nothing else.
    """
    made: list[dict[str, Any]] = []
    now, ends, streams, kernels = 0, [], {}, 0
    for name, gap, stream, duration, waits in calls:
        now += gap
        host = {"ph": "X", "cat": "cuda_runtime", "pid": HOST, "tid": HOST, "ts": now}
        if name == "synchronize":
            until = max([now + 1, *ends])
            made.append(host | {"name": "cudaDeviceSynchronize", "dur": until - now, "args": {"correlation": 0}})
            now = until
            continue
        kernels += 1
        numbers = {"correlation": 100 + kernels}
        launch = "cudaMemcpyAsync" if name.startswith("Memcpy") else "cudaLaunchKernel"
        made.append(host | {"name": launch, "dur": DRIVER, "args": numbers})
        arrow = {"cat": "ac2g", "name": "ac2g", "id": 100 + kernels}
        made.append({"ph": "s", **arrow, "pid": HOST, "tid": HOST, "ts": now})
        now += DRIVER
        start = max([now + LATENCY, streams.get(stream, 0), *(ends[event] for event in waits)])
        ends.append(start + duration)
        streams[stream] = ends[-1]
        category = "gpu_memcpy" if launch == "cudaMemcpyAsync" else "kernel"
        place = {"pid": DEVICE, "tid": 7 + stream, "ts": start}
        arguments = {"stream": 7 + stream, "device": 0, **numbers}
        made.append({"ph": "X", "cat": category, "name": name, **place, "dur": duration, "args": arguments})
        made.append({"ph": "f", **arrow, "bp": "e", **place})
    return {"schemaVersion": 1, "provenance": "drawn by rules: no GPU made this trace", "traceEvents": made}


def launches_and_kernels(trace: dict[str, Any]) -> list[tuple[str, int, int, int]]:
    """The events of a trace for `queue_depths`: (kind, start, duration, correlation)."""
    kinds = {"cudaLaunchKernel": "launch", "cudaMemcpyAsync": "launch"}
    events = []
    for event in trace["traceEvents"]:
        kind = "kernel" if event.get("cat") in ("kernel", "gpu_memcpy") else kinds.get(event["name"])
        if kind and event["ph"] == "X":
            events.append((kind, event["ts"], event["dur"], event["args"]["correlation"]))
    return events


def gaps_by_cause(trace: dict[str, Any]) -> tuple[float, float, float]:
    """The microseconds from the first kernel to the end of the last: in which a kernel runs, in which none runs because none was
    launched, and in which none runs although one was."""
    events = launches_and_kernels(trace)
    launched = {correlation: start + duration for kind, start, duration, correlation in events if kind == "launch"}
    after = {start: number for kind, start, _, number in events if kind == "kernel"}
    busy, gaps = busy_and_gaps(trace["traceEvents"])
    late = sum(min(end - start, max(launched.get(after[end], 0) + LATENCY - start, 0)) for start, end in gaps)
    return busy, late, sum(end - start for start, end in gaps) - late
