"""Programs of requests as plain data, run on the simulated allocator.

The steps and the results have the format of the recordings of PyTorch's own allocator, so that both can be compared as they are:
events and bytes after each step, errors, and the segments and statistics at the end. An address is the number of a segment, in the
order in which the device gave them, and an offset.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

from rushlight.c10.cuda.caching_allocator import Block, CachingAllocator, OutOfMemoryError, Runtime, Settings

__all__ = ["replay", "settings_of"]


def settings_of(text: str) -> Settings:
    """The settings from the text of `PYTORCH_CUDA_ALLOC_CONF`."""
    settings = Settings()
    for name, listed, value in re.findall(r"(\w+):?(?:\[(.*?)\]|([^,]*))", text):
        if name not in _READ:
            raise ValueError(f"{name!r} is no setting that is simulated")
        setattr(settings, name.removesuffix("_mb"), _READ[name](listed or value))
    return settings


def _divisions(text: str) -> int | dict[int, int]:
    """A number, or "256:1,512:2,>:8": for sizes from each power of 2 in MiB to the next, and for those above."""
    if ":" not in text:
        return int(text)
    pairs = [part.split(":") for part in text.split(",")]
    return {1 << 63 if size == ">" else int(size) << 21: int(value) for size, value in pairs}


_READ: dict[str, Callable[[str], Any]] = {  # by setting: its value from its text
    **dict.fromkeys(("max_split_size_mb", "max_non_split_rounding_mb"), lambda text: int(text) << 20),
    "roundup_power2_divisions": _divisions,
    "garbage_collection_threshold": float,
    "expandable_segments": lambda text: text == "True",
}


def replay(total: int, settings: str, steps: Sequence[Sequence[Any]]) -> dict[str, Any]:
    """Run steps on an allocator of its own, of a device with `total` bytes."""
    allocator = CachingAllocator(Runtime(total), settings_of(settings))
    blocks: dict[str, Block] = {}
    errors: dict[str, str] = {}
    events, bytes_ = [], []
    for i, step in enumerate(steps):
        before = len(allocator.trace)
        try:
            _run(allocator, blocks, *step)
        except OutOfMemoryError as error:
            errors[str(i)] = str(error)
        events.append([_event(entry) for entry in allocator.trace[before:]])
        names = ("allocated_bytes", "active_bytes", "reserved_bytes")
        bytes_.append([allocator.stats.peaks[f"{name}.all"].current for name in names])
    segments = [_segment(segment) for segment in allocator.snapshot()]
    return {
        "events": events,
        "bytes": bytes_,
        "errors": errors,
        "segments": segments,
        "statistics": allocator.stats.as_dict(),
    }


def _run(allocator: CachingAllocator, blocks: dict[str, Any], what: str, *args: Any) -> None:
    if what == "alloc":
        name, size, stream = args
        if size > 0:
            blocks[name] = allocator.malloc(size, stream)
    elif what == "free":
        if args[0] in blocks:
            allocator.free(blocks.pop(args[0]))
    elif what == "record_stream":
        if args[0] in blocks:
            allocator.record_stream(blocks[args[0]], args[1])
    elif what == "finish":
        allocator.runtime.synchronize(args)
    elif what == "synchronize":
        allocator.runtime.synchronize()
    elif what == "empty_cache":
        allocator.empty_cache()
    elif what == "reset_peak":
        allocator.stats.reset_peaks()
    elif what == "fraction":
        allocator.set_memory_fraction(args[0])
    else:
        raise ValueError(f"{what!r} is no step")


def _event(entry: dict[str, Any]) -> list:
    if entry["action"] == "oom":
        return ["oom", None, entry["device_free"], entry["size"], entry["stream"]]
    return [entry["action"], *_place(entry["addr"]), entry["size"], entry["stream"]]


def _place(address: int) -> tuple[int, int]:
    return (address >> 40) - 1, address & (1 << 40) - 1


def _segment(segment: dict[str, Any]) -> dict[str, Any]:
    number, offset = _place(segment["address"])
    blocks = [
        [_place(block["address"])[1], block["size"], block["requested_size"], block["state"]]
        for block in segment["blocks"]
    ]
    described = {"segment": number, "offset": offset, "size": segment["total_size"], "stream": segment["stream"]}
    return described | {"type": segment["segment_type"], "expandable": segment["is_expandable"], "blocks": blocks}
