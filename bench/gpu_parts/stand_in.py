"""Part 11: the recordings that were made without a GPU, held against this one.

The programs of `bench/stand_in/` run on the device: their launches, the kernels of their traces, the streams of backward passes,
what the sanitizer says of races, the partitions of CUDA graphs. Each is compared with `phases/recorded/stand_in/`. The functions
whose Triton modules are recorded there are compiled, run and compared with eager PyTorch. A recording has its own version of
PyTorch, so with another one some names differ.
"""

from __future__ import annotations

import functools
import gzip
import json
import os
import re
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

TITLE = "the stand-in's recordings against the device"
LIMIT = 150
SECONDS = 140  # of one process
WORKERS = 6
PROCESSES = 5  # that share the Triton modules
ROOT = Path(__file__).resolve().parents[2]
TOLERANCE = 1e-3  # of a Triton kernel's numbers, relative and absolute

Row = dict[str, Any]  # "name", "equal" (aspect: whether it is), and what the device gives if it is not
Asked = Iterator[tuple[str, Callable[[], Row]]]  # a program's name, and the function that runs and compares it


def read(name: str) -> dict[str, Any]:
    return json.loads(gzip.decompress((ROOT / "phases" / "recorded" / "stand_in" / f"{name}.json.gz").read_bytes()))


def recorded(name: str, key: str) -> dict[str, Any]:
    return {entry["name"]: entry for entry in read(name)[key]}


# In a process of its own ------------------------------------------------------------------------------------------------


def launches() -> Asked:
    """The kernels of calls: their names, grids and blocks."""
    from bench.stand_in import record_code

    expected = recorded("code", "launches")
    for name, setup, source in record_code.LAUNCHES:
        yield name, functools.partial(launched, setup, source, expected[name]["launches"])


def launched(setup: str, source: str, expected: list[dict[str, Any]]) -> Row:
    import torch

    for _ in range(2):  # what a first call loads is not in the profile
        space = {"torch": torch, "empty": lambda *sizes, **options: torch.empty(*sizes, device="cuda", **options)}
        exec(setup, space)
        torch.cuda.synchronize()
        trace = traced(lambda space=space: exec(source, space))
    kernels = [event for event in device_work(trace) if event["cat"] == "kernel"]
    grids = [[event["args"]["grid"], event["args"]["block"]] for event in kernels]
    same = {
        "grids": grids == [[one["grid"], one["block"]] for one in expected],
        "names": [spelled(event["name"]) for event in kernels] == [spelled(one["kernel"]) for one in expected],
    }
    return {"equal": same, "device": [[event["name"], *grid] for event, grid in zip(kernels, grids)]}


def traced(function: Callable[[], Any]) -> dict[str, Any]:
    import torch
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        function()
        torch.cuda.synchronize()
    with tempfile.TemporaryDirectory() as folder:
        profiler.export_chrome_trace(f"{folder}/trace.json")
        return json.loads(Path(folder, "trace.json").read_text())


def device_work(trace: dict[str, Any]) -> list[dict[str, Any]]:
    events = [event for event in trace["traceEvents"] if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")]
    return sorted(events, key=lambda event: event["ts"])


def spelled(kernel: str) -> str:
    """A kernel's name without the suffix that some demanglers write after a size."""
    return kernel.replace("ul>", ">")


def traces() -> Asked:
    """The kernels, copies and fills of each trace, by name. (Their order on two streams is one of time.)"""
    import torch

    from bench.stand_in import record_traces

    record_traces.TRIES = 3
    torch.set_num_threads(1)
    expected = recorded("traces", "programs")

    def compare(program: Any) -> Row:
        ours, theirs = (
            sorted(spelled(event["name"]) for event in device_work(entry["trace"]))
            for entry in (record_traces.recorded(*program), expected[program[0]])
        )
        only = {"device": [x for x in ours if x not in theirs], "stand-in": [x for x in theirs if x not in ours]}
        return {"equal": {"work of the device": ours == theirs}, **only}

    for program in record_traces.PROGRAMS:
        yield program[0], functools.partial(compare, program)


def streams() -> Asked:
    """The streams of the nodes of backward passes, and the events that the engine records."""
    import torch
    from torch.cuda import _gpu_trace

    from bench.stand_in import record_streams

    torch._C._activate_gpu_trace()
    streams = [torch.cuda.default_stream(), *(torch.cuda.Stream() for _ in range(record_streams.STREAMS - 1))]
    recorders: list[Any] = []
    _gpu_trace.register_callback_for_event_record(
        lambda event, stream: recorders and recorders[-1].recorded(event, stream)
    )
    _gpu_trace.register_callback_for_event_wait(lambda event, stream: recorders and recorders[-1].waited(event, stream))
    expected = recorded("streams", "programs")

    def compare(program: Any) -> Row:
        recorders.append(record_streams.Recorder(program, streams))
        result = recorders[-1].run()
        torch.cuda.synchronize()
        return compared(result, expected[program["name"]], "nodes", "steps")

    for program in [*record_streams.by_hand(), *record_streams.drawn()]:
        yield program["name"], functools.partial(compare, program)


def compared(result: dict[str, Any], expected: dict[str, Any], *keys: str) -> Row:
    result = json.loads(json.dumps(result))
    equal = {key: result[key] == expected[key] for key in keys}
    return {"equal": equal, **({} if all(equal.values()) else {"device": result})}


def races(loop: str) -> Asked:
    """What the sanitizer prints of a loop. The numbers of addresses and of streams are the device's own."""
    from bench.stand_in import record_races

    def compare() -> Row:
        ours, theirs = record_races.run(loop), recorded("races", "loops")[loop]
        for result in ours, theirs:
            result["printed"] = re.sub(r"(data pointer|stream) \d+", r"\1 ...", result["printed"])
        return compared(ours, theirs, "printed", "error")

    yield loop, compare


def graphs() -> Asked:
    """What Inductor says of graphs that it captures in parts or whole."""
    import torch
    import torch._inductor.config as config

    from bench.stand_in import record_graphs

    config.fx_graph_cache, config.compile_threads = False, 1
    torch._dynamo.config.capture_scalar_outputs = True
    torch._dynamo.config.capture_dynamic_output_shape_ops = True
    torch._logging.set_logs(cudagraphs=True)
    expected = recorded("graphs", "graphs")

    def compare(name: str, source: str, inputs: Any) -> Row:
        result = {"partitions": record_graphs.partitions(name, source, inputs)}
        result["whole"] = record_graphs.whole(name, source, inputs)
        return compared(result, expected[name], "partitions", "whole")

    for graph in record_graphs.GRAPHS:
        yield graph[0], functools.partial(compare, *graph)


def triton(part: int) -> Asked:
    """Functions, compiled and eager: every module of this part."""
    for module in [*recorded("triton", "modules").values()][part::PROCESSES]:
        yield module["name"], functools.partial(agreement, module)


def agreement(module: dict[str, Any]) -> Row:
    import torch

    from bench.stand_in import record_triton

    torch._dynamo.reset()
    space = {"torch": torch, "F": torch.nn.functional}
    exec(module["source"], space)
    torch.manual_seed(0)
    inputs = [fill(record_triton._input(*described)) for described in module["inputs"]]
    eager = space["f"](*(x.clone() if x.is_contiguous() else x for x in inputs))  # a function may write to them
    result = torch.compile(space["f"], options={"fx_graph_cache": False})(*inputs)
    eager, result = (x if isinstance(x, (tuple, list)) else (x,) for x in (eager, result))
    near = all(
        torch.allclose(a.double(), b.double(), TOLERANCE, TOLERANCE, equal_nan=True)
        for a, b in zip(eager, result, strict=True)
    )
    return {"equal": {"numbers": near}, "largest difference": max(difference(a, b) for a, b in zip(eager, result))}


def fill(x: Any) -> Any:
    return x.normal_() if x.is_floating_point() else x.random_(0, 2)


def difference(a: Any, b: Any) -> float:
    return float((a.double() - b.double()).abs().nan_to_num().max()) if a.numel() else 0.0


def main(name: str, *arguments: str) -> None:
    """Print a line of JSON for each program."""
    for program, compare in globals()[name](
        *(int(argument) if argument.isdigit() else argument for argument in arguments)
    ):
        try:
            row = compare()
        except Exception:
            row = {"equal": {}, "error": traceback.format_exc()[-3000:]}
        print(json.dumps({"name": program, **row}), file=sys.__stdout__, flush=True)


# Here ------------------------------------------------------------------------------------------------------------------

COMMAND = "import sys; from bench.gpu_parts import stand_in; stand_in.main(*sys.argv[1:])"


def section(calls: list[tuple[str, ...]], file: str, key: str) -> Callable[[Any], dict[str, Any]]:
    """A section that runs these calls of `main` at once, and says how many of the recording's programs are equal."""

    def compare(run: Any) -> dict[str, Any]:
        names = [*recorded(file, key)]
        run.need_gpu(f"{len(names)} recordings are to be compared with a device")
        path = {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
        begun = time.monotonic()

        def start(call: tuple[str, ...]) -> tuple[str, str]:
            return run.program(["-c", COMMAND, *call], SECONDS, env=os.environ | path)

        with ThreadPoolExecutor(len(calls)) as executor:
            ended = list(executor.map(start, calls))
        rows = [json.loads(line) for text, _ in ended for line in text.splitlines() if line.startswith('{"name"')]
        endings = [f"{ending}\n{text[-3000:]}" for text, ending in ended if ending]
        if not rows:
            raise RuntimeError("\n".join(endings))
        aspects = {aspect: 0 for row in rows for aspect in row["equal"]}
        counts = [
            f"{aspect}: {sum(row['equal'].get(aspect, False) for row in rows)} of {len(names)} equal"
            for aspect in aspects
        ]
        failed = [row["name"] for row in rows if not row["equal"]]
        counts += [f"failed: {', '.join(map(repr, failed))}"] if failed else []
        differing = [row["name"] for row in rows if not all(row["equal"].values())]
        counts += [f"not: {', '.join(map(repr, differing))}"] if differing else []
        counts += [f"{len(rows)} of {len(names)} ended"] if len(rows) < len(names) else []
        theirs, ours = read(file)["provenance"]["torch"].partition("+")[0], run.provenance["torch"].partition("+")[0]
        counts += [f"recorded with torch {theirs}, here {ours}"] if theirs != ours else []
        return {
            "summary": "; ".join(counts), "seconds": round(time.monotonic() - begun, 1), "programs": rows, "endings": endings,
        }  # fmt: skip

    return compare


SECTIONS = [
    ("Triton modules", section([("triton", str(part)) for part in range(PROCESSES)], "triton", "modules")),
    ("traces", section([("traces",)], "traces", "programs")),
    ("graphs", section([("graphs",)], "graphs", "graphs")),
    (
        "races",
        section(
            [("races", loop) for loop in ("without a wait", "with a wait", "with a wait and record_stream")],
            "races",
            "loops",
        ),
    ),
    ("launches", section([("launches",)], "code", "launches")),
    ("streams", section([("streams",)], "streams", "programs")),
]
