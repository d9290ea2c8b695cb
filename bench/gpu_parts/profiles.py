"""Part 2: profiles of training with the activities CPU and CUDA.

Chrome traces of a step, with shapes, stacks, memory and FLOPs, of several steps with a schedule, and of two streams; and what a
reader asks of them: self and total time, the time between launches, the share of time in which the device is idle.
"""

from __future__ import annotations

import gzip
import json
import tempfile
from pathlib import Path
from typing import Any

import torch
from torch.profiler import profile, schedule, tensorboard_trace_handler

from bench.gpu_parts import programs

TITLE = "profiles: traces of training"
LIMIT = 25
ROWS = 25  # of a table


def step(run: Any) -> dict[str, Any]:
    """One step of training, with all that the profiler can record."""
    training = programs.Training(run.device, small=run.cpu)
    profiled = programs.profiled(
        run, training.step, record_shapes=True, with_stack=True, with_flops=True, profile_memory=True
    )
    averages = profiled.key_averages(group_by_input_shape=True)
    by = "cpu_time_total" if run.cpu else "self_device_time_total"
    events = [
        {
            "name": event.key,
            "calls": event.count,
            "sizes": event.input_shapes,
            "cpu": round(event.cpu_time_total, 1),
            "self cpu": round(event.self_cpu_time_total, 1),
            "device": round(event.device_time_total, 1),
            "self device": round(event.self_device_time_total, 1),
            "flops": event.flops,
        }
        for event in averages
    ]
    return {
        "trace": write_trace(run, "step_with_stacks", profiled),
        "table": run.write("step.txt", averages.table(sort_by=by, row_limit=ROWS, max_name_column_width=60)),
        "events": events,
    }


def plain_step(run: Any) -> dict[str, Any]:
    """The same step, where the profiler costs least, and what the device did in it."""
    training = programs.Training(run.device, small=run.cpu)
    for _ in range(3):
        training.step()
    profiled = programs.profiled(run, training.step, record_shapes=True)
    return {"trace": write_trace(run, "step", profiled), **device_work(run, profiled)}


def small_step(run: Any) -> dict[str, Any]:
    """A step of a model so small that the launches take longer than the work."""
    training = programs.Training(run.device, small=True)
    for _ in range(3):
        training.step()
    profiled = programs.profiled(run, training.step, record_shapes=True)
    return {"trace": write_trace(run, "small_step", profiled), **device_work(run, profiled)}


def device_work(run: Any, profiled: profile) -> dict[str, Any]:
    """Busy and idle time between the first and the last kernel, in microseconds."""
    kernels = programs.kernels(profiled)
    if not kernels:
        return {"operators": len(programs.operators(profiled))}
    span, busy, end, gaps = 0.0, 0.0, 0.0, []
    for kernel in kernels:
        start, finish = kernel["start"], kernel["start"] + kernel["microseconds"]
        if start > end:
            gaps.append(round(start - end, 3))
        busy += max(0.0, finish - max(start, end))
        end = max(end, finish)
        span = end
    return {"kernels": kernels, "span": round(span, 3), "busy": round(busy, 3), "gaps": gaps}


def scheduled(run: Any) -> dict[str, Any]:
    """`schedule(wait=1, warmup=1, active=2, repeat=2)` over ten steps: which steps are in which trace."""
    training = programs.Training(run.device, small=True)
    with tempfile.TemporaryDirectory() as folder:
        with profile(
            activities=programs.activities(run.cpu),
            schedule=schedule(wait=1, warmup=1, active=2, repeat=2),
            on_trace_ready=tensorboard_trace_handler(folder, worker_name="worker"),
        ) as profiler:
            for _ in range(10):
                training.step()
                profiler.step()
        traces = sorted(Path(folder).glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
        texts = [path.read_text() for path in traces]
    steps = [
        sorted({event["name"] for event in json.loads(text)["traceEvents"] if event.get("name", "").startswith("ProfilerStep#")})
        for text in texts
    ]  # fmt: skip
    return {"steps by trace": steps, "trace": run.write("scheduled_1.json", without_host(texts[0]))}


def streams(run: Any) -> dict[str, Any]:
    """Two streams with an event between them: a copy from pinned memory overlaps a product, and the next product waits for it."""
    size = 128 if run.cpu else 4096
    a = torch.ones(size, size, device=run.device)
    host = torch.ones(size, size)
    run.need_gpu("a CPU has no streams")
    host = host.pin_memory()
    target, side = torch.empty_like(a), torch.cuda.Stream()

    def program() -> None:
        copied = torch.cuda.Event()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            target.copy_(host, non_blocking=True)
            copied.record(side)
        first = a @ a
        torch.cuda.current_stream().wait_event(copied)
        first @ target

    profiled = programs.profiled(run, program)
    return {"trace": write_trace(run, "streams", profiled), **device_work(run, profiled)}


def loader(run: Any) -> dict[str, Any]:
    """A step that waits for its data: the device is idle while the CPU makes the next batch."""
    training = programs.Training(run.device, small=run.cpu)

    def batch() -> torch.Tensor:
        with torch.profiler.record_function("make the batch"):
            x = torch.randn(training.x.shape)
            for _ in range(10):
                x = x.sort(-1).values.flip(-1)
        return x

    def program() -> None:
        for _ in range(2):
            training.x = batch().to(run.device)
            training.step()

    profiled = programs.profiled(run, program)
    return {"trace": write_trace(run, "starved", profiled), **device_work(run, profiled)}


def write_trace(run: Any, name: str, profiled: profile) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trace.json.gz")
        profiled.export_chrome_trace(str(path))
        return run.write(f"{name}.json", without_host(gzip.decompress(path.read_bytes()).decode()))


def without_host(text: str) -> str:
    """A trace without what names the machine: its folders, its host and its environment."""
    from bench.gpu_parts.recording import without_paths

    trace = json.loads(text)
    for key in ("traceName", "host_name", "hostname", "distributedInfo"):
        trace.pop(key, None)
    return without_paths(json.dumps(trace, separators=(",", ":")))


SECTIONS = [
    ("a step", plain_step),
    ("a step of a small model", small_step),
    ("a step with shapes, stacks, memory, FLOPs", step),
    ("a schedule", scheduled),
    ("two streams", streams),
    ("a step that waits for data", loader),
]
