"""The simulated allocator decides what PyTorch's own allocator has decided, event by event, in recorded programs."""

import gzip
import json
from pathlib import Path

import pytest
from sweep import failures

from rushlight.c10.cuda.caching_allocator import CachingAllocator, OutOfMemoryError, Runtime, Settings
from rushlight.c10.cuda.replay import replay, settings_of
from rushlight.course.predictions import RESERVED

RECORDINGS = Path(__file__).parents[3] / "phases" / "recorded" / "stand_in" / "allocator.json.gz"
PROGRAMS = json.loads(gzip.decompress(RECORDINGS.read_bytes()))["programs"]
MIB = 1 << 20


def test_a_recorded_program_has_the_same_segments_blocks_and_peaks():
    def is_the_same(program):
        found = replay(program["total"], program["settings"], program["steps"])
        for i, step in enumerate(program["steps"]):
            assert (step, found["events"][i], found["bytes"][i]) == (step, program["events"][i], program["bytes"][i])
        assert found["segments"] == program["segments"]
        assert found["errors"] == program["errors"]
        assert {name: found["statistics"][name] for name in program["statistics"]} == program["statistics"]

    assert PROGRAMS and failures(is_the_same, ((program["name"], program) for program in PROGRAMS)) == {}


def test_the_blocks_of_a_segment_fill_it():
    allocator = CachingAllocator()
    blocks = [allocator.malloc(size) for size in (1, 600, 3 * MIB, 5 * MIB, 12 * MIB)]
    for block in blocks[::2]:
        allocator.free(block)
    for segment in allocator.snapshot():
        at = segment["address"]
        for block in segment["blocks"]:
            assert block["address"] == at
            at += block["size"]
        assert at == segment["address"] + segment["total_size"]


def test_old_blocks_are_collected_only_below_the_whole_device():
    """The share 1.0 is no limit, and without a limit nothing is collected."""
    for share, collected in ((1.0, False), (0.9, True)):
        allocator = CachingAllocator(Runtime(100 * MIB), Settings(garbage_collection_threshold=0.3))
        allocator.set_memory_fraction(share)
        for _ in range(2):
            allocator.free(allocator.malloc(20 * MIB))
        allocator.malloc(10 * MIB)
        allocator.malloc(12 * MIB)
        allocator.free(allocator.malloc(22 * MIB))
        allocator.malloc(24 * MIB)
        assert ("segment_free" in [event["action"] for event in allocator.trace]) is collected


def test_an_error_says_what_is_free_and_what_is_reserved():
    allocator = CachingAllocator(Runtime(64 * MIB))
    allocator.malloc(9 * MIB)
    with pytest.raises(OutOfMemoryError, match=r"Tried to allocate 60.00 MiB. GPU 0 has a total capacity of 64.00 MiB"):
        allocator.malloc(60 * MIB)
    assert allocator.trace[-1]["action"] == "oom" and allocator.stats.as_dict()["num_ooms"] == 1


def test_a_setting_that_is_not_simulated_is_an_error():
    with pytest.raises(ValueError, match="backend"):
        settings_of("max_split_size_mb:32,backend:cudaMallocAsync")


@pytest.mark.parametrize("name", RESERVED)
def test_the_recorded_requests_of_a_prediction_are_those_of_its_program(name):
    allocator = CachingAllocator()

    class Tensor:
        def __init__(self, size, stream=0):
            self.block = allocator.malloc(int(size), stream)

        def __del__(self):
            allocator.free(self.block)

    names = {"empty": Tensor, "empty_cache": allocator.empty_cache, "KiB": 1024, "MiB": MIB}
    exec(RESERVED[name], names)
    actions = [(event["action"], event["size"], event["stream"]) for event in allocator.trace]
    program = next(each for each in PROGRAMS if each["name"] == f"predicted: {name}")
    recorded = [(event[0], event[3], event[4]) for events in program["events"] for event in events]
    assert actions == recorded
