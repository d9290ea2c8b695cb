"""Lab 11b, the allocator as a whole: the order of its attempts, predictions, and PyTorch's own recorded decisions."""

from __future__ import annotations

import gzip
import json
from functools import cache
from importlib import import_module

from rushlight.course.predictions import RESERVED

from ...engine.check import program
from ..cases import drawn, field, first_apart, predicted, rows
from ..listing import comments

MIB = 1 << 20
STEPS = ["cached", "new", "after oversize", "after all", "never"]


@program(
    "c10.cuda.caching_allocator.malloc",
    cases=drawn(
        size=[1, 513, 4097, MIB, MIB + 1, 12 * MIB + 1], stream=(0, 2), serves=STEPS, oversize=bool,
        allowed=[None, None, 64 * MIB, 0], threshold=[0.0, 0.5], divisions=["", "", "all", "below 4100"],
    ),
    edges=rows("size stream serves oversize allowed threshold divisions", *(
        (1, 0, "cached", False, None, 0.0, ""), (513, 1, "new", False, None, 0.0, ""), (513, 2, "new", False, 64 * MIB, 0.0, ""),
        (513, 0, "new", False, 64 * MIB, 0.5, ""), (513, 0, "new", False, None, 0.5, ""), (513, 0, "never", False, 0, 0.5, ""),
        (513, 0, "cached", False, 64 * MIB, 0.5, ""), (MIB + 1, 0, "after oversize", True, None, 0.0, ""),
        (MIB + 1, 0, "after oversize", False, None, 0.0, ""), (MIB, 2, "after all", True, None, 0.0, ""),
        (MIB, 0, "after all", False, 64 * MIB, 0.5, ""), (1, 0, "never", True, None, 0.0, ""),
        (1, 1, "never", False, 64 * MIB, 0.5, ""), (4097, 1, "cached", False, None, 0.0, "all"),
        (4097, 1, "never", False, 64 * MIB, 0.0, "below 4100"), (MIB + 1, 1, "new", False, None, 0.0, "below 4100"),
        (12 * MIB + 1, 0, "new", True, 64 * MIB, 0.0, ""), (12 * MIB + 1, 0, "cached", False, None, 0.0, ""),
        (MIB + 1, 0, "cached", False, None, 0.0, ""),
    )),
    hint=lambda case, mine, theirs: _hint(first_apart(mine, theirs), field(mine, "calls"), field(theirs, "calls")),
)  # fmt: skip
def allocated(rl, size, stream, serves, oversize, allowed, threshold, divisions):
    names = rl.c10.cuda.caching_allocator
    settings = names.Settings(max_split_size=12 * MIB, garbage_collection_threshold=threshold)
    settings.roundup_power2_divisions = {"": 0, "all": 4, "below 4100": {4100: 4, 1 << 63: 0}}[divisions]
    watched = _watched(names, settings, serves, oversize)
    watched.allowed = allowed
    try:
        block = names.malloc(watched, size, stream)
    except names.OutOfMemoryError as error:
        return {"calls": watched.calls, "the error of `out_of_memory`": error is watched.error}
    shown = ("ptr", "size", "stream", "allocated", "requested_size")
    return {
        "calls": watched.calls,
        "block": {name: getattr(block, name) for name in shown},
        "it is recorded": block is watched.recorded,
    }


def _hint(apart, mine, theirs):
    if apart == "block":
        return "`alloc_found_block` makes it of the block that was found: your own one, if you have written it"
    if apart == "calls" and [call.partition(":")[0] for call in mine] != [call.partition(":")[0] for call in theirs]:
        return "each attempt is made only if all before it have failed"
    return None


def _watched(names, settings, serves, oversize):
    """An allocator that writes down what is asked of it, and serves at one attempt."""

    class Watched:
        def __init__(self):
            self.settings, self.calls, self.recorded, self.attempts = settings, [], None, 0
            self.error, self.pools = names.OutOfMemoryError("no memory"), {}

        def serve(self, pool, size, stream):
            served = STEPS.index(serves) == self.attempts
            self.attempts += 1
            larger = 0 if serves != "cached" else 512 if pool.is_small else 2 * MIB
            return names.Block(stream, size + larger, 0x1000, pool) if served else None

        def of(self, pool, size, stream):
            pools = [f"the pool for {size}" for size, known in self.pools.items() if known is pool]
            return f"{(*pools, 'another pool')[0]}, {size}, {stream}"

        def process_events(self):
            self.calls.append("process_events")

        def get_pool(self, size):
            return self.pools.setdefault(size, names.BlockPool(is_small=size <= MIB))

        def get_free_block(self, pool, size, stream):
            self.calls.append(f"get_free_block: {self.of(pool, size, stream)}")
            return self.serve(pool, size, stream)

        def garbage_collect_cached_blocks(self):
            self.calls.append("garbage_collect_cached_blocks")

        def alloc_block(self, pool, size, stream, is_retry=False):
            self.calls.append(f"alloc_block: {self.of(pool, size, stream)}{', is_retry' * is_retry}")
            return self.serve(pool, size, stream)

        def release_available_cached_blocks(self, pool, size, stream):
            self.calls.append(f"release_available_cached_blocks: {self.of(pool, size, stream)}")
            self.attempts += not oversize  # the attempt that would follow
            return oversize

        def release_cached_blocks(self):
            self.calls.append("release_cached_blocks")

        def out_of_memory(self, size, stream):
            self.calls.append(f"out_of_memory: {size}, {stream}")
            return self.error

        def record_alloc(self, block):
            self.calls.append(f"record_alloc: {'allocated' if block.allocated else 'free'}")
            self.recorded = block

    return Watched()


@allocated.oracle
def _(torch, size, stream, serves, oversize, allowed, threshold, divisions):
    rounded = -(-size // 512) * 512
    if divisions == "all" or divisions and size < 4100:
        rounded = {4097: 5120, MIB + 1: MIB + MIB // 4, 12 * MIB + 1: 14 * MIB}.get(size, rounded)
    where = f"the pool for {rounded}, {rounded}, {stream}"
    calls = ["process_events", f"get_free_block: {where}"]
    collects = allowed is not None and threshold > 0
    attempts = [
        ["garbage_collect_cached_blocks"] * collects + [f"alloc_block: {where}"],
        [f"release_available_cached_blocks: {where}"] + [f"alloc_block: {where}"] * oversize,
        ["release_cached_blocks", f"alloc_block: {where}, is_retry"],
    ]
    last = STEPS.index(serves)
    if serves == "after oversize" and not oversize:
        last = 99  # this attempt is not made, and no later one serves
    for made in attempts[:last]:
        calls += made
    if last > 3:
        return {"calls": [*calls, f"out_of_memory: {rounded}, {stream}"], "the error of `out_of_memory`": True}
    lost = 2 * MIB if serves == "cached" and rounded >= 12 * MIB else 0  # such a block is never split
    block = {"ptr": 0x1000, "size": rounded + lost, "stream": stream, "allocated": True, "requested_size": size}
    return {"calls": [*calls, "record_alloc: allocated"], "block": block, "it is recorded": True}


# Predictions ---------------------------------------------------------------------------------------------------------


@program("course.predictions.reserved_mebibytes", **predicted(RESERVED, draws=len(RESERVED)))
def reserved(rl, program):
    return rl.course.predictions.reserved_mebibytes(program)


@reserved.oracle
def reserved_by_programs(torch, program):
    """The memory that PyTorch's allocator has reserved after the same requests, from a recording."""
    assert torch is not None
    _, _, reserved = recordings()[f"predicted: {program}"]["bytes"][-1]
    return reserved // MIB


# PyTorch's own decisions ---------------------------------------------------------------------------------------------

SHOWN = [
    "large segments",
    "large limit",
    "small segments",
    "the whole block",
    "merge both",
    "merge all",
    "best fit",
    "equal blocks",
]
SHOWN += [
    "best fit across segments",
    "streams do not share",
    "record_stream",
    "events in order",
    "pending tail",
    "waiting and full",
]
SHOWN += [
    "empty_cache",
    "retry",
    "enough",
    "enough at once",
    "fragmentation",
    "fragments",
    "holes",
    "fraction",
    "peaks",
]
SHOWN += ["max_split_size", "oversize", "oversize is given back", "small are split", "power of two", "garbage and age"]
SHOWN += ["expandable", "expandable unmap", "expandable hole", "expandable and full", "expandable out of memory"]
LONGEST = 60  # steps: a training step is longer, and a difference in it is hard to read


@cache
def recordings():
    """The recorded programs by name. Only the judge reads the file."""
    path = import_module("autograder.course").READINGS / "recorded" / "stand_in" / "allocator.json.gz"
    return {program["name"]: program for program in json.loads(gzip.decompress(path.read_bytes()))["programs"]}


def _case(name):
    return {key: recordings()[name][key] for key in ("name", "total", "settings", "steps")}


@program(
    "together.allocator",
    cases=lambda st: st.sampled_from(
        [name for name, recording in recordings().items() if len(recording["steps"]) <= LONGEST]
    ).map(_case),
    edges=lambda: [_case(name) for name in SHOWN if name in recordings()],
    draws=30,
    show=lambda torch, name, total, settings, steps: comments(
        [
            f"a device of {total / MIB:g} MiB, PYTORCH_CUDA_ALLOC_CONF={settings!r}",
            *(" ".join(map(str, step)) for step in steps),
        ]
    ),
)
def replayed(rl, name, total, settings, steps):
    replayed = import_module("rushlight.c10.cuda.replay").replay(total, settings, steps)
    return _by_step(steps, replayed)


@replayed.oracle
def recorded(torch, name, total, settings, steps):
    """The actions of PyTorch's allocator, from a recording, so grading needs no GPU."""
    assert torch is not None
    return _by_step(steps, recordings()[name])


def _by_step(steps, found):
    """The result of each step, under its name, so that the first difference names the step."""
    shown = {
        f"{i}: {' '.join(map(str, step))}": [found["events"][i], found["bytes"][i]] for i, step in enumerate(steps)
    }
    names = ("allocated_bytes", "requested_bytes", "reserved_bytes", "segment")
    peaks = {name: found["statistics"][f"{name}.all.peak"] for name in names}
    return shown | {"out of memory at": sorted(found["errors"]), "segments": found["segments"], "peaks": peaks}
