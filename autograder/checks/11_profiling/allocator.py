"""Lab 11b, the allocator as a whole: the order of its attempts, predictions, and PyTorch's own recorded decisions."""

from __future__ import annotations

import gzip
import json
from functools import cache
from importlib import import_module

from rushlight.c10.cuda import caching_allocator
from rushlight.course.predictions import RESERVED

from ...check import program
from ..cases import attempt, drawn, predicted, rows, when

MIB = 1 << 20
STEPS = ["cached", "new", "after oversize", "after all", "never"]


@program(
    "c10.cuda.caching_allocator.malloc",
    cases=drawn(
        size=[1, 513, 5000, MIB, MIB + 1, 12 * MIB + 1], stream=(0, 2), serves=STEPS, oversize=bool, limited=bool,
        threshold=[0.0, 0.5], divisions=[0, 0, 4],
    ),
    edges=rows("size stream serves oversize limited threshold divisions", *(
        (1, 0, "cached", False, False, 0.0, 0), (513, 1, "new", False, False, 0.0, 0), (513, 2, "new", False, True, 0.0, 0),
        (513, 0, "new", False, True, 0.5, 0), (513, 0, "new", False, False, 0.5, 0), (513, 0, "cached", False, True, 0.5, 0),
        (MIB + 1, 0, "after oversize", True, False, 0.0, 0), (MIB + 1, 0, "after oversize", False, False, 0.0, 0),
        (MIB, 2, "after all", True, False, 0.0, 0), (MIB, 0, "after all", False, True, 0.5, 0),
        (1, 0, "never", True, False, 0.0, 0),
        (1, 1, "never", False, True, 0.5, 0), (5000, 1, "cached", False, False, 0.0, 4), (5000, 1, "never", False, True, 0.0, 4),
        (12 * MIB + 1, 0, "new", True, True, 0.0, 0),
    )),
    hint=when(lambda case: case["serves"] != "cached", "each attempt is made only if all before it have failed"),
)  # fmt: skip
def allocated(rl, size, stream, serves, oversize, limited, threshold, divisions):
    names = rl.c10.cuda.caching_allocator
    settings = names.Settings(garbage_collection_threshold=threshold, roundup_power2_divisions=divisions)
    watched = _watched(names, settings, serves, oversize)
    watched.allowed = 64 * MIB if limited else None
    block = attempt(names.malloc, watched, size, stream)
    if isinstance(block, str):
        return [watched.calls, block]
    return [
        watched.calls,
        [block.ptr, block.size, block.stream, block.allocated, block.requested_size],
        block is watched.recorded,
    ]


def _watched(names, settings, serves, oversize):
    """An allocator that writes down what is asked of it, and serves at one attempt."""

    class Watched:
        def __init__(self):
            self.settings, self.calls, self.recorded, self.attempts = settings, [], None, 0
            self.pool = names.BlockPool(is_small=True)

        def block(self, name, size, stream):
            served = STEPS.index(serves) == self.attempts
            self.attempts += 1
            return names.Block(stream, size + 512 * (serves == "cached"), 0x1000, self.pool) if served else None

        def process_events(self):
            self.calls.append("process_events")

        def get_pool(self, size):
            self.calls.append(f"get_pool {size}")
            return self.pool

        def get_free_block(self, pool, size, stream):
            self.calls.append(f"get_free_block {pool is self.pool} {size} {stream}")
            return self.block("cached", size, stream)

        def garbage_collect_cached_blocks(self):
            self.calls.append("garbage_collect_cached_blocks")

        def alloc_block(self, pool, size, stream, is_retry=False):
            self.calls.append(f"alloc_block {pool is self.pool} {size} {stream} {is_retry}")
            return self.block("new", size, stream)

        def release_available_cached_blocks(self, pool, size, stream):
            self.calls.append(f"release_available_cached_blocks {pool is self.pool} {size} {stream}")
            self.attempts += not oversize  # the attempt that would follow
            return oversize

        def release_cached_blocks(self):
            self.calls.append("release_cached_blocks")

        def out_of_memory(self, size, stream):
            self.calls.append(f"out_of_memory {size} {stream}")
            return names.OutOfMemoryError("no memory")

        def record_alloc(self, block):
            self.calls.append(f"record_alloc {block.allocated}")
            self.recorded = block

    return Watched()


@allocated.oracle
def _(torch, size, stream, serves, oversize, limited, threshold, divisions):
    rounded = -(-size // 512) * 512
    if (size, divisions) == (5000, 4):
        rounded = 5120
    elif divisions == 4 and size > 12 * MIB:
        rounded = 14 * MIB
    elif divisions == 4 and size == MIB + 1:
        rounded = MIB + MIB // 4
    where = f"True {rounded} {stream}"
    calls = ["process_events", f"get_pool {rounded}", f"get_free_block {where}"]
    attempts = [
        ["garbage_collect_cached_blocks"] * (limited and threshold > 0) + [f"alloc_block {where} False"],
        [f"release_available_cached_blocks {where}"] + [f"alloc_block {where} False"] * oversize,
        ["release_cached_blocks", f"alloc_block {where} True"],
    ]
    last = STEPS.index(serves)
    if serves == "after oversize" and not oversize:
        last = 99  # this attempt is not made, and no later one serves
    for made in attempts[:last]:
        calls += made
    if last > 3:
        return [[*calls, f"out_of_memory {rounded} {stream}"], "raises RuntimeError"]
    block = [0x1000, rounded, stream, True, size]
    return [[*calls, "record_alloc True"], block, True]


# Predictions ---------------------------------------------------------------------------------------------------------


@program("course.predictions.reserved_mebibytes", **predicted(RESERVED, draws=len(RESERVED)))
def reserved(rl, program):
    return rl.course.predictions.reserved_mebibytes(program)


@reserved.oracle
def reserved_by_programs(torch, program):
    """What the simulated allocator reserves, which agrees with all recordings of PyTorch's."""
    allocator = caching_allocator.CachingAllocator()

    class Memory:
        def __init__(self, size, stream=0):
            self.block = allocator.malloc(int(size), stream)

        def __del__(self):
            allocator.free(self.block)

    names = {"empty": Memory, "empty_cache": allocator.empty_cache, "KiB": 1024, "MiB": MIB}
    exec(RESERVED[program], names)
    return sum(segment["total_size"] for segment in allocator.snapshot()) // MIB


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
    return {each["name"]: each for each in json.loads(gzip.decompress(path.read_bytes()))["programs"]}


def _case(name):
    return {key: recordings()[name][key] for key in ("name", "total", "settings", "steps")}


@program(
    "together.allocator",
    cases=lambda st: st.sampled_from(
        [name for name, each in recordings().items() if len(each["steps"]) <= LONGEST]
    ).map(_case),
    edges=lambda: [_case(name) for name in SHOWN if name in recordings()],
    draws=30,
    show=lambda torch, name, total, settings, steps: "\n".join(
        [
            f"# a device of {total / MIB:g} MiB, PYTORCH_CUDA_ALLOC_CONF={settings!r}",
            *(" ".join(map(str, step)) for step in steps),
        ]
    ),
)
def replayed(rl, name, total, settings, steps):
    found = import_module("rushlight.c10.cuda.replay").replay(total, settings, steps)
    return _by_step(steps, found)


@replayed.oracle
def recorded(torch, name, total, settings, steps):
    """What PyTorch's allocator did, in a recording: no GPU is needed to grade."""
    assert torch is not None
    return _by_step(steps, recordings()[name])


def _by_step(steps, found):
    """What each step did, so that the first difference names the step."""
    shown = {
        f"{i}: {' '.join(map(str, step))}": [found["events"][i], found["bytes"][i]] for i, step in enumerate(steps)
    }
    names = ("allocated_bytes", "requested_bytes", "reserved_bytes", "segment")
    peaks = {name: found["statistics"][f"{name}.all.peak"] for name in names}
    return shown | {"out of memory at": sorted(found["errors"]), "segments": found["segments"], "peaks": peaks}
