"""Pack what `bench/gpu.py` recorded into a small file for each part, with only what the pages use: `phases/recorded/h100/`.

    python bench/gpu_parts/keep.py RECORDED TARGET [COMPARED]

RECORDED is the folder that `bench/gpu.py` wrote, TARGET the folder of the small files. COMPARED is a folder in which the programs
of `bench/stand_in/` ran on the same device: a JSON list for each kind of program, packed with gzip. The fields are described in
`phases/recorded/README.md`.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

TRACES = {
    "small_step": "a step of training of a small model: the device waits for the host",
    "step": "a step of training of a larger model",
    "starved": "two steps of training, and a wait for data before each",
    "streams": "a copy from pinned memory on one stream, beside a product on another",
}
LEFT_OUT = {
    "dispatch": ["tables of the dispatcher", "registrations"],
    "course": ["tests of phases 06, 08, 09"],
}
TEXTS = {"triton_code": ("*.py", "*.log"), "course": ("*.py",)}


def read(path: Path) -> Any:
    data = path.read_bytes()
    return json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)


def packed(recorded: Path, part: Path) -> dict[str, Any]:
    """One part: its provenance, the result of each section, the last line of what a failed section raised, its texts."""
    record, name = read(part), part.stem.partition("_")[2]
    sections = {key: each for key, each in record["sections"].items() if key not in LEFT_OUT.get(name, [])}
    texts = [path for pattern in TEXTS.get(name, ()) for path in sorted((recorded / part.stem).glob(pattern))]
    return {
        "provenance": record["provenance"] | {"command": "python bench/gpu.py"},  # without the folder
        "sections": {key: each["result"] for key, each in sections.items() if each["state"] == "done"},
        "failed": {key: each["error"].strip().splitlines()[-1] for key, each in sections.items() if "error" in each},
        **({"texts": {path.name: path.read_text().replace("site-packages/", "") for path in texts}} if texts else {}),
    }


def trace(recorded: Path, name: str) -> dict[str, Any]:
    """A trace as `stand_in/traces.json.gz` has it: the first event begins at 0, and process and threads count from 1000."""
    path = next((recorded / "2_profiles").glob(f"{name}.json*"))
    whole = read(path)
    events = [event for event in whole["traceEvents"] if event["ph"] != "M" and isinstance(event["pid"], int)]
    begin = min(event["ts"] for event in events if event["ph"] == "X")
    process = next(event["pid"] for event in events if event.get("cat") == "cpu_op")
    threads: dict[int, int] = {}
    for event in sorted(events, key=lambda event: event["ts"]):
        event["ts"] = round(event["ts"] - begin, 3)
        if event["pid"] == process:
            event |= {"pid": 1000, "tid": threads.setdefault(event["tid"], 1000 + len(threads))}
    device = {key: whole["deviceProperties"][0][key] for key in ("id", "name", "numSms")}
    return {
        "schemaVersion": whole["schemaVersion"],
        "deviceProperties": [device],
        "displayTimeUnit": "ms",
        "traceEvents": events,
    }


def traces(recorded: Path, profiles: dict[str, Any]) -> dict[str, Any]:
    """The four traces, with the times of their kernels."""
    numbers = {each["trace"].split("/")[-1].split(".")[0]: each for each in profiles["sections"].values()}
    programs = [
        {"name": name, "why": why}
        | {key: numbers[name][key] for key in ("span", "busy", "gaps")}
        | {"trace": trace(recorded, name)}
        for name, why in TRACES.items()
    ]
    return {"provenance": profiles["provenance"], "programs": programs}


def with_events(recorded: Path, memory: dict[str, Any]) -> None:
    """Put the allocator's events into the sections of its part: all of the histories, and those of the programs that differ."""
    for section in memory.values():
        if history := section.pop("history", None):
            section["history"] = read(recorded / history)
    differ = memory["programs of the stand-in"]
    allocator = read(recorded / differ.pop("recording"))
    differ["events that differ"] = [
        each for each in allocator if each["name"] in differ["that differ from the stand-in"]
    ]


def keep(recorded: Path, target: Path, compared: Path | None) -> None:
    paths = [*sorted(recorded.glob("[1-9]_*.json")), *recorded.glob("1[23]_*.json")]
    parts = {path.stem.partition("_")[2]: packed(recorded, path) for path in paths}
    if profiles := parts.pop("profiles", None):
        parts["traces"] = traces(recorded, profiles)
    if "memory" in parts:
        with_events(recorded, parts["memory"]["sections"])
    if compared:
        lists = {path.name.split(".")[0]: read(path) for path in sorted(compared.glob("*.json.gz"))}
        triton = [module for name in sorted(lists) if name.startswith("triton") for module in lists.pop(name)]
        about = parts["timings"]["provenance"] | {
            "made by": "bench/stand_in",
            "command": "the same programs, on the device",
        }
        parts["stand_in"] = {"provenance": about, **lists, "triton": triton}
    target.mkdir(parents=True, exist_ok=True)
    for name, part in parts.items():
        text = json.dumps(part, separators=(",", ":"), ensure_ascii=False)
        (target / f"{name}.json.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))
        print(f"{name:12} {(target / f'{name}.json.gz').stat().st_size:8,} bytes")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    keep(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]) if sys.argv[3:] else None)
