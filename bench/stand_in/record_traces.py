"""Traces that `torch.profiler` writes with a CUDA build of PyTorch, recorded without a GPU.

PyTorch and Kineto run on the stand-ins for the CUDA runtime (`cuda.c`, `kernels.c`) and for CUPTI (`cupti.c`). So the structure of
a trace is PyTorch's own: operators, calls of the CUDA runtime, names and grids of kernels, streams, correlation and External
ids, flows. The times of the host are those of the machine that recorded. The times of the device are those of the model in
`cupti.c`: no kernel ran. cuBLAS does not start here, so no program has a matrix product. By hand, as `record.py` says:

    cuda/bin/python bench/stand_in/record_traces.py

It writes `phases/recorded/stand_in/traces.json.gz`. The times of the host differ from run to run.
"""

from __future__ import annotations

import ctypes
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from bench.stand_in import record

OUTPUT = record.OUTPUT.with_name("traces.json.gz")
ROUNDS = 3  # unrecorded ones before the recorded one: what happens once in a process is in none of the traces
TRIES = 40  # of each recording. The shortest is kept, because the machine has other work too

_LOSS = """\
with record_function("forward"):
    logits = x * weight + bias
    loss = F.cross_entropy(logits, targets)
"""
_MODEL = """\
x = torch.empty(256, 600, device="cuda")
weight = torch.empty(600, device="cuda", requires_grad=True)
bias = torch.empty(600, device="cuda", requires_grad=True)
targets = torch.zeros(256, dtype=torch.int64, device="cuda")
"""
_PARAMETERS = """\
parameters = [torch.empty(64, 64, device="cuda", requires_grad=True) for _ in range(6)]
for each in parameters:
    each.grad = torch.empty_like(each)
"""

# name, what it shows, what is made before, what is recorded, and options of `profile`
PROGRAMS: list[tuple[str, str, str, str, dict[str, Any]]] = [
    ("small tensors", "twelve kernels that are shorter than their launches: the device waits for the host",
     'x = torch.empty(64, 64, device="cuda")',
     "for _ in range(4):\n    x = (x * 2 + 1).relu()", {}),
    ("large tensors", "six kernels that are longer than their launches: they queue, and the host waits at the end",
     'x = torch.empty(4096, 8192, device="cuda")',
     "for _ in range(2):\n    x = (x * 2 + 1).relu()\ntorch.cuda.synchronize()", {}),
    ("nested operators", "operators that call others: the kernels belong to the innermost, and the calls to all",
     'x = torch.empty(256, 600, device="cuda")\ny = torch.empty(600, 256, device="cuda").t()',
     'with record_function("block"):\n    z = torch.softmax((x + y).contiguous(), -1)\n    z = F.layer_norm(z, (600,))\n'
     "    z = torch.cat([z.var(1), torch.ones_like(x).sum(1)])", {"record_shapes": True}),
    ("two streams", "the kernels of two streams wait in their queues, and run at the same time if they fit on the device",
     'x, large = torch.empty(128, 512, device="cuda"), torch.empty(8192, 16384, device="cuda")\nside = torch.cuda.Stream()',
     "large * 2\nside.wait_stream(torch.cuda.current_stream())\nwith torch.cuda.stream(side):\n    a = x.sin().cos().exp()\n"
     "b = x.tanh().sigmoid()\ntorch.cuda.current_stream().wait_stream(side)\nc = a + b", {"sync": True}),
    ("two streams, large", "kernels that fill the device run one after the other, on two streams too",
     'x = torch.empty(4096, 4096, device="cuda")\nside = torch.cuda.Stream()',
     "side.wait_stream(torch.cuda.current_stream())\nwith torch.cuda.stream(side):\n    a = x.sin().cos()\n"
     "b = x.tanh().sigmoid()\ntorch.cuda.current_stream().wait_stream(side)\nc = a + b", {"sync": True}),
    ("copies", "copies from and to ordinary memory: the host waits for each",
     "batch = torch.empty(512, 1024)", 'x = batch.to("cuda")\ny = (x * 2).relu()\nz = y.cpu()', {}),
    ("copies, pinned", "copies from pinned memory on an own stream: the next batch is copied while the device computes",
     'batches = [torch.empty(512, 1024).pin_memory() for _ in range(3)]\nweight = torch.empty(16, 512, 1024, device="cuda")\n'
     "side = torch.cuda.Stream()",
     "main = torch.cuda.current_stream()\nfor batch in batches:\n    with torch.cuda.stream(side):\n"
     '        x = batch.to("cuda", non_blocking=True)\n    main.wait_stream(side)\n    x.record_stream(main)\n'
     "    y = (weight * x).sin().cos().exp()\ntorch.cuda.synchronize()", {"sync": True}),
    ("item", "`.item()` in a loop: at each step the host waits, and then the device does",
     'losses = torch.empty(4, 1 << 25, device="cuda")',
     "total = 0.0\nfor loss in losses:\n    total += (loss * loss).mean().item()", {}),
    ("item at the end", "the same sum, on the device: the host waits once",
     'losses = torch.empty(4, 1 << 25, device="cuda")',
     "total = 0.0\nfor loss in losses:\n    total = total + (loss * loss).mean()\ntotal.item()", {}),
    ("mask", "a mask gives a tensor whose size only the device knows: the host must wait for it",
     'x = torch.empty(1 << 20, device="cuda")', "y = x * 2\nz = y[y > 0]\nw = z + 1", {}),
    ("backward", "a loss and its backward pass, which runs on a thread of its own", _MODEL,
     _LOSS + 'with record_function("backward"):\n    loss.backward()\nweight.grad = bias.grad = None', {}),
    ("training step", "a whole step, with the value of the loss printed", _MODEL
     + "optimizer = torch.optim.SGD([weight, bias], lr=0.1, momentum=0.9)",
     "optimizer.zero_grad()\n" + _LOSS + 'with record_function("backward"):\n    loss.backward()\n'
     "optimizer.step()\nloss.item()", {}),
    ("Adam, one by one", "a step of Adam for six parameters, each with kernels of its own", _PARAMETERS
     + "optimizer = torch.optim.Adam(parameters, foreach=False)", "optimizer.step()", {}),
    ("Adam, foreach", "the same step: each kernel does its work for all parameters", _PARAMETERS
     + "optimizer = torch.optim.Adam(parameters, foreach=True)", "optimizer.step()", {}),
    ("zero_grad, zeros", "`zero_grad(set_to_none=False)` fills the gradients, `set_to_none=True` launches nothing",
     _PARAMETERS + "optimizer = torch.optim.SGD(parameters, lr=0.1, foreach=False)",
     "optimizer.zero_grad(set_to_none=False)", {}),
]  # fmt: skip

# What CUPTI would know from a kernel's code or its run, and the stand-in does not.
_UNKNOWN = {"registers per thread", "shared memory", "est. achieved occupancy %", "occupancy", "queued", "graph id",
            "graph node id", "channel", "channel_type", "priority"}  # fmt: skip


def recorded(name: str, why: str, setup: str, source: str, options: dict[str, Any]) -> dict[str, Any]:
    """One program: its trace as `export_chrome_trace` writes it, and the rows of its `key_averages`."""
    import torch
    from torch.profiler import ProfilerActivity, profile, record_function

    space = {"torch": torch, "F": torch.nn.functional, "record_function": record_function}
    exec(setup, space)
    code = compile(source, name, "exec")
    settings = torch._C._profiler._ExperimentalConfig(enable_cuda_sync_events=options.get("sync", False))
    for _ in range(ROUNDS):
        exec(code, space)
        torch.cuda.synchronize()
    tries = []
    for _ in range(TRIES):
        with profile(
            activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],
            record_shapes=options.get("record_shapes", False),
            experimental_config=settings,
        ) as profiler:
            exec(code, space)
        with tempfile.TemporaryDirectory() as folder:  # at once: the next profile sets the clock again
            profiler.export_chrome_trace(f"{folder}/trace.json")
            trace = json.loads(Path(folder, "trace.json").read_text())
        events = profiler.events()
        length = max(event.time_range.end for event in events) - min(event.time_range.start for event in events)
        tries.append((length, profiler, trace))
        torch.cuda.synchronize()
    _, profiler, trace = min(tries, key=lambda each: each[0])
    return {
        "name": name,
        "why": why,
        "setup": setup,
        "source": source,
        "rows": _rows(profiler),
        "trace": _cleaned(trace),
    }


def _rows(profiler: Any) -> list[dict[str, Any]]:
    """The rows of `key_averages`, in microseconds."""
    kinds = {"cpu": "cpu", "self cpu": "self_cpu", "device": "device", "self device": "self_device"}
    return [
        {
            "key": row.key,
            "device": str(row.device_type).rpartition(".")[2],
            "count": row.count,
            **{f"{name} time": round(getattr(row, f"{kind}_time_total"), 3) for name, kind in kinds.items()},
        }
        for row in profiler.key_averages()
    ]


def _cleaned(trace: dict[str, Any]) -> dict[str, Any]:
    """The trace without what is of this machine and this process, and without what the stand-in cannot know.

    The first event begins at 0. The process is 1000, and its threads are 1000, 1001 and so on, in the order in which they begin.
    The profiler's own events about its window are left out."""
    process, events = os.getpid(), trace["traceEvents"]
    timed = [event for event in events if event["ph"] != "M" and event["pid"] in (process, 0)]
    begin = min(event["ts"] for event in timed if event["ph"] == "X")
    threads: dict[int, int] = {}
    for event in sorted(timed, key=lambda event: event["ts"]):
        if event["pid"] == process:
            threads.setdefault(event["tid"], 1000 + len(threads))
    used = {(event["pid"], event["tid"]) for event in timed}
    kept = []
    for event in events:
        whole = event["name"].startswith("process") and event["pid"] in (process, 0)
        if (event["pid"], event["tid"]) not in used and not whole or event["name"].endswith("sort_index"):
            continue
        own = event["pid"] == process
        event = event | {"ts": 0.0 if event["ph"] == "M" else round(event["ts"] - begin, 3)}
        if own:
            event |= {"pid": 1000, "tid": threads.get(event["tid"], 0)}
        if "args" in event:
            event["args"] = {key: value for key, value in event["args"].items() if key not in _UNKNOWN}
        if own and event["name"] == "thread_name":
            event["args"]["name"] = f"thread {event['tid']} (python)"
        if event not in kept:
            kept.append(event)
    device = {"id": 0, "name": trace["deviceProperties"][0]["name"], "numSms": trace["deviceProperties"][0]["numSms"]}
    return {
        "schemaVersion": trace["schemaVersion"],
        "deviceProperties": [device],
        "displayTimeUnit": "ms",
        "traceEvents": kept,
    }


def record_all() -> dict[str, Any]:
    import torch

    ctypes.CDLL(os.environ[record.LIBRARY]).stand_in_begin(ctypes.c_size_t(8 << 30))
    torch.set_num_threads(1)
    programs = [recorded(*program) for program in PROGRAMS]
    about = record.provenance("Traces that torch.profiler and Kineto write", "record_traces.py")
    about["times"] = (
        "host: of the machine that recorded. Device: modelled, by bench/stand_in/cupti.c. A kernel takes 2 us, and 2 ns for each "
        "128 threads; a copy 1.5 us, and its bytes at 25 GB/s (pinned), 6 GB/s (not pinned) or 1500 GB/s (on the device); "
        "nothing begins before 3 us after the beginning of its launch"
    )
    about["left out"] = "what the stand-in cannot know of a kernel: " + ", ".join(sorted(_UNKNOWN))
    return {"provenance": about, "programs": programs}


if __name__ == "__main__":
    record.main(__doc__, OUTPUT, record_all, ["programs"], profiler=True)
