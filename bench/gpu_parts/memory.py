"""Part 6: the caching allocator on a device.

Snapshots of a training step, of a pattern that fragments, with and without `expandable_segments`, and of errors for want of
memory; and the programs of allocations of `bench/stand_in/programs.py`, in the format of `phases/recorded/stand_in/`, to hold the
stand-in against a device. Only programs that a real device cannot answer otherwise: one stream, and its own memory.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch

from bench.gpu_parts import programs
from bench.stand_in import programs as stand_in

TITLE = "memory: snapshots of the caching allocator"
LIMIT = 25
MiB = 1 << 20
STEPS = {"alloc", "free", "synchronize", "empty_cache", "reset_peak"}  # that no device answers otherwise
RECORDED = Path(__file__).resolve().parents[2] / "phases" / "recorded" / "stand_in" / "allocator.json.gz"


class History:
    """Records the allocator's events from its beginning. Addresses become a segment's number and an offset in it."""

    def __init__(self, run: Any, context: str | None = None):
        run.need_gpu("the CPU's allocator keeps no history")
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        torch.cuda.memory._record_memory_history("all", context=context, stacks="python", max_entries=1_000_000)
        before = torch.cuda.memory._snapshot()
        self.skip, self.ranges = len(before["device_traces"][0]), Ranges()
        for segment in before["segments"]:
            self.ranges.add(segment["address"], segment["total_size"])

    def __enter__(self) -> History:
        return self

    def __exit__(self, *error: Any) -> None:
        torch.cuda.memory._record_memory_history(None)

    def read(self) -> dict[str, Any]:
        """The events since the beginning, the segments now, and the statistics."""
        snapshot = torch.cuda.memory._snapshot()
        events = [event for event in snapshot["device_traces"][0][self.skip :] if event["action"] != "snapshot"]
        streams: list[int] = [0]
        ranges, shown = self.ranges, []
        for event in events:
            if event["stream"] not in streams:
                streams.append(event["stream"])
            stream = streams.index(event["stream"])
            if event["action"] == "oom":
                line = ["oom", None, event.get("device_free"), event["size"], stream]
            else:
                if event["action"] in ("segment_alloc", "segment_map"):
                    ranges.add(event["addr"], event["size"], grows=event["action"] == "segment_map")
                line = [event["action"], *ranges.locate(event["addr"]), event["size"], stream]
            where = frames(event)
            shown.append([*line, where] if where else line)
        return {
            "events": shown,
            "addresses": ranges.addresses(),
            "segments": [segment(entry, ranges, streams) for entry in snapshot["segments"]],
            "statistics": {k: v for k, v in torch.cuda.memory_stats().items() if ".all." in k or k.startswith("num_")},
            "table": torch.cuda.memory_summary(abbreviated=True),
        }


class Ranges:
    """Segments in the order in which the device gave them."""

    def __init__(self) -> None:
        self.known: list[tuple[int, int]] = []  # first and last address

    def add(self, address: int, size: int, grows: bool = False) -> None:
        for i, (first, end) in enumerate(self.known):
            if grows and first <= address <= end:  # an expandable segment: more of its addresses have memory
                self.known[i] = first, max(end, address + size)
                return
        self.known.append((address, address + size))

    def addresses(self) -> list[int]:
        """The first address of each segment, in bytes from the lowest. Of free blocks of one size the lowest is taken."""
        return [first - min(self.known)[0] for first, _ in self.known]

    def locate(self, address: int) -> tuple[int, int]:
        """The number of the segment, and the offset in it. The latest one counts, because a device gives addresses again."""
        for i in reversed(range(len(self.known))):
            first, end = self.known[i]
            if first <= address < end:
                return i, address - first
        raise LookupError("an event has an address that is in no segment")


def frames(event: dict[str, Any]) -> list[str]:
    """Where in the course's own code an event happened, innermost first."""
    lines = [f"{Path(frame['filename']).name}:{frame['line']} {frame['name']}" for frame in event.get("frames", [])]
    return [line for line in lines if line.split(":")[0] in ("memory.py", "programs.py")][:3]


def segment(entry: dict[str, Any], ranges: Ranges, streams: list[int]) -> dict[str, Any]:
    number, offset = ranges.locate(entry["address"])
    blocks, at = [], offset
    for block in entry["blocks"]:
        blocks.append([at, block["size"], block.get("requested_size"), block["state"]])
        at += block["size"]
    stream = streams.index(entry["stream"]) if entry["stream"] in streams else entry["stream"]
    return {
        "segment": number,
        "offset": offset,
        "size": entry["total_size"],
        "stream": stream,
        "type": entry["segment_type"],
        "expandable": entry.get("is_expandable", False),
        "blocks": blocks,
    }


# Sections --------------------------------------------------------------------------------------------------------------


def training(run: Any) -> dict[str, Any]:
    """Two steps: the first allocates gradients and the optimizer's state, the second reuses what was freed."""
    model = programs.Training(run.device, small=run.cpu, optimizer="Adam")
    sizes = {
        "parameters": sum(p.numel() * p.element_size() for p in model.model.parameters()),
        "batch": model.x.numel() * 4 + model.y.numel() * 8,
    }
    model.step()
    model = programs.Training(run.device, small=run.cpu, optimizer="Adam")
    with History(run, context="all") as history:
        for _ in range(2):
            model.step()
        torch.cuda.synchronize()
        snapshot = history.read()
    peak = torch.cuda.max_memory_allocated()
    sizes["optimizer's state"] = sum(
        value.numel() * value.element_size() for state in model.optimizer.state.values() for value in state.values()
    )
    name = run.write("training.json", json.dumps(snapshot, separators=(",", ":")))
    return {"bytes": sizes, "peak": peak, "history": name}


def fragment(device: torch.device, count: int) -> list[torch.Tensor]:
    """Allocates, and frees every second tensor. Free bytes are then many, and the largest free block is small."""
    tensors = [torch.empty(3 * MiB, dtype=torch.uint8, device=device) for _ in range(count)]
    kept = tensors[::2]
    del tensors
    larger = [torch.empty(9 * MiB, dtype=torch.uint8, device=device) for _ in range(count // 4)]
    return kept + larger


def fragmenting(run: Any) -> dict[str, Any]:
    count = 4 if run.cpu else 64
    fragment(run.device, count)
    with History(run) as history:
        kept = fragment(run.device, count)
        snapshot = history.read()
        del kept
    snapshot.pop("table")
    return snapshot


def expandable(run: Any) -> dict[str, Any]:
    """The same pattern where segments can grow. The setting holds from a process's beginning, so another process runs it."""
    run.need_gpu("the CPU's allocator has no segments")
    program = (
        "import json; from pathlib import Path; import torch\n"
        "torch._C._accelerator_setAllocatorSettings('expandable_segments:True')\n"
        "from bench.gpu_parts import memory, recording\n"
        f"run = recording.Run({run.part}, 'memory', Path('.'), False)\n"
        "print(json.dumps(memory.fragmenting(run)))"
    )
    completed = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=max(5.0, run.left() - 10)
    )
    if completed.returncode:
        raise RuntimeError(completed.stderr)
    return json.loads(completed.stdout.splitlines()[-1])


def out_of_memory(run: Any) -> dict[str, Any]:
    """A share of the device that is too small, tensors until it is full, and the error with the history up to it."""
    run.need_gpu("the CPU's allocator has no limit of its own")
    with History(run, context="all") as history:
        fraction = (torch.cuda.memory_reserved() + 256 * MiB) / torch.cuda.get_device_properties(0).total_memory
        torch.cuda.set_per_process_memory_fraction(fraction)
        kept = []
        try:
            for _ in range(100):
                kept.append(torch.empty(24 * MiB, dtype=torch.uint8, device=run.device))
                torch.empty(3 * MiB, dtype=torch.uint8, device=run.device)
            raise AssertionError("there was no error")
        except torch.OutOfMemoryError as error:
            message = str(error)
        finally:
            torch.cuda.set_per_process_memory_fraction(1.0)
        return {"error": message, **history.read()}


def activations_out_of_memory(run: Any) -> dict[str, Any]:
    """A training step that does not fit, as it happens to a user: the error, and the tensors that were there."""
    run.need_gpu("the CPU's allocator has no limit of its own")
    model = programs.Training(run.device, small=False, blocks=4)
    with History(run, context="all") as history:
        fraction = (torch.cuda.memory_reserved() + 300 * MiB) / torch.cuda.get_device_properties(0).total_memory
        torch.cuda.set_per_process_memory_fraction(fraction)
        try:
            model.step()
            message = None
        except torch.OutOfMemoryError as error:
            message = str(error)
        finally:
            torch.cuda.set_per_process_memory_fraction(1.0)
        snapshot = history.read()
    return {"error": message, "history": run.write("out_of_memory.json", json.dumps(snapshot, separators=(",", ":")))}


def stand_in_programs() -> list[dict[str, Any]]:
    """The programs that have one stream, no limit on the device's memory and default settings."""
    wanted = [*stand_in.by_hand(), *stand_in.drawn()]
    return [
        program
        for program in wanted
        if not program["settings"]
        and all(step[0] in STEPS and (step[0] != "alloc" or step[3:] in ([], [0])) for step in program["steps"])
        and sum(step[2] for step in program["steps"] if step[0] == "alloc") < program["total"]
    ]


def allocator(run: Any) -> dict[str, Any]:
    """The events, bytes and segments of each program, and whether the stand-in's recording has the same events."""
    wanted = stand_in_programs()
    assert wanted
    recorded = json.loads(gzip.decompress(RECORDED.read_bytes()))
    expected = {program["name"]: program for program in recorded["programs"]}
    run.need_gpu("the CPU's allocator keeps no history")
    records, differing = [], []
    for program in wanted:
        with History(run) as history:
            tensors: dict[str, torch.Tensor] = {}
            counts = []
            for what, *arguments in program["steps"]:
                if what == "alloc":
                    tensors[arguments[0]] = torch.empty(arguments[1], dtype=torch.uint8, device=run.device)
                elif what == "free":
                    tensors.pop(arguments[0], None)
                elif what == "reset_peak":
                    torch.cuda.reset_peak_memory_stats()
                else:
                    getattr(torch.cuda, what)()
                statistics = torch.cuda.memory_stats()
                counts.append([statistics[f"{name}_bytes.all.current"] for name in ("allocated", "active", "reserved")])
            record = {**program, "bytes": counts, **history.read()}
        tensors.clear()
        record.pop("table")
        records.append(record)
        theirs = expected.get(program["name"])
        if theirs and (
            record["events"] != [event for events in theirs["events"] for event in events] or counts != theirs["bytes"]
        ):
            differing.append(program["name"])
    name = run.write("allocator.json", json.dumps(records, separators=(",", ":")))
    rising = {record["name"] for record in records if record["addresses"] == sorted(record["addresses"])}
    summary = f"{len(records) - len(differing)} of {len(records)} equal the stand-in's; not: {', '.join(differing)}"
    return {
        "summary": f"{summary}; each segment is above all before it in {len(rising)}, of these {len(rising & {*differing})} differ",
        "programs": len(records),
        "that differ from the stand-in": differing,
        "whose addresses rise": sorted(rising),
        "recording": name,
    }


SECTIONS = [
    ("programs of the stand-in", allocator),  # first: the device's memory is as it was given
    ("a pattern that fragments", fragmenting),
    ("the same with expandable segments", expandable),
    ("two steps of training", training),
    ("out of memory", out_of_memory),
    ("a training step that does not fit", activations_out_of_memory),
]
