"""Races that the sanitizer finds are those that PyTorch's own finds, on the same steps, without a GPU."""

import gzip
import json
import logging
import random

import numpy as np
import pytest
from torch.cuda._sanitizer import EventHandler

from autograder.course import READINGS, ROOT
from rushlight.cuda import Device, Event, Stream, current_stream, stream
from rushlight.cuda._sanitizer import Race, find_races
from rushlight.cuda.memory import empty, host, launch

logging.getLogger("torch.cuda._sanitizer").setLevel(logging.ERROR)


def torchs(trace):
    """The races that `torch.cuda._sanitizer` finds."""
    handler, races = EventHandler(), []
    for kind, *args in trace:
        if kind == "launch":
            stream, reads, writes, name = args
            found = handler._handle_kernel_launch(
                stream, set(reads), set(writes), set(), name, {each: [] for each in {*reads, *writes}}
            )
            races += sorted(Race(e.current_access.seq_num, e.previous_access.seq_num, e.data_ptr) for e in found)
        elif kind == "record":
            handler._handle_event_record(*args)
        elif kind == "wait":
            handler._handle_event_wait(*args)
        elif kind == "synchronize event":
            handler._handle_event_synchronization(*args)
        elif kind == "synchronize stream":
            handler._handle_stream_synchronization(*args)
        elif kind == "synchronize":
            handler._handle_device_synchronization()
        elif kind == "alloc":
            handler._handle_memory_allocation(*args)
        else:
            handler._handle_memory_deallocation(*args)
    return races


STEPS = ["launch"] * 8 + ["record"] * 3 + ["wait"] * 3
HOST = ["synchronize event", "synchronize stream", "synchronize", "alloc", "free"]


def drawn(seed):
    rng = random.Random(seed)
    kinds = STEPS + rng.choice([[], HOST])
    streams, events, tensors = range(rng.randint(1, 4)), range(rng.randint(1, 4)), range(rng.randint(1, 3))
    trace = []
    for _ in range(rng.randint(1, 25)):
        kind, s, e, t = rng.choice(kinds), rng.choice(streams), rng.choice(events), rng.choice(tensors)
        used = {t: rng.random() < 0.5, rng.choice(tensors): rng.random() < 0.3}
        launched = (s, {x for x in used if not used[x]}, {x for x in used if used[x]}, "kernel")
        step = {"launch": launched, "record": (e, s), "wait": (e, s), "synchronize event": (e,)}
        step |= {"synchronize stream": (s,), "synchronize": (), "alloc": (t,), "free": (t,)}
        trace.append((kind, *step[kind]))
    return trace


@pytest.mark.parametrize("start", range(0, 1000, 100))
def test_races_are_those_that_torch_finds(start):
    for seed in range(start, start + 100):
        trace = drawn(seed)
        assert find_races(trace) == torchs(trace), trace


def test_the_drawn_programs_have_races_and_some_have_none():
    counts = [len(find_races(drawn(seed))) for seed in range(1000)]
    assert counts.count(0) > 150 and sum(count > 2 for count in counts) > 150


def run(seed, device):
    """A program of kernels on up to three streams; and what its tensors would be if all were done in the order of launching."""
    rng = random.Random(seed)
    streams, events = [Stream() for _ in range(rng.randint(2, 3))], [Event() for _ in range(2)]
    tensors = [empty([]) for _ in range(3)]
    expected = [0] * 3
    for i, tensor in enumerate(tensors):
        launch("fill", 0.0, lambda: 0, out=tensor)
        assert i < 3
    device.synchronize()
    for number in range(1, rng.randint(3, 12)):
        side = rng.choice(streams)
        for event in rng.sample(events, rng.randint(0, 2)):
            side.wait_event(event)
        i, j = rng.sample(range(3), 2)
        with stream(side):
            launch(
                str(number),
                float(rng.randint(0, 30)),
                lambda x, y, n=number: 2 * x + 3 * y + n,
                [tensors[i], tensors[j]],
                tensors[i],
            )
        expected[i] = 2 * expected[i] + 3 * expected[j] + number
        if rng.random() < 0.7:
            side.record_event(rng.choice(events))
    device.synchronize()
    trace = [*device.trace]
    return trace, [float(tensor.item()) for tensor in tensors], [float(np.float32(each)) for each in expected]


def test_a_program_without_a_race_computes_what_its_launches_say_in_order():
    right, wrong = 0, 0
    for seed in range(300):
        with Device(launch_overhead=1.0) as device:
            trace, found, expected = run(seed, device)
        races = find_races(trace)
        assert races == torchs(trace)
        assert races or found == expected, seed
        right, wrong = right + (not races), wrong + (found != expected)
    assert right > 30 and wrong > 30  # a program with a race is wrong only if its times are so


# The loop that is recorded on PyTorch's CUDA build

RECORDED = json.loads(gzip.decompress((READINGS / "recorded" / "stand_in" / "races.json.gz").read_bytes()))["loops"]


def prefetched(device, source):
    """The addresses of the batches in a loop like that of the recording."""
    side, weight = Stream(), empty([1024])

    def prefetch():
        with stream(side):
            return empty([1024]).copy_(host(np.ones(1024, np.float32), pin_memory=True), non_blocking=True)

    addresses, following = [], prefetch()
    for _ in range(6):
        if "wait_stream" in source:
            current_stream().wait_stream(side)
        x, following = following, prefetch()
        if "record_stream" in source:
            x.record_stream(current_stream())
        addresses.append(x.data_ptr())
        launch("mul", 1000.0, inputs=[x, weight], out=empty([1024]))
    return addresses


@pytest.mark.parametrize("loop", RECORDED, ids=lambda loop: loop["name"])
def test_a_loop_that_prefetches_races_and_uses_memory_again_as_the_recorded_one_does(loop):
    with Device() as device:
        addresses = prefetched(device, loop["source"])
    assert bool(find_races(device.trace)) is ("possible data race" in loop["printed"])
    theirs = loop["addresses"]
    assert [addresses.index(each) for each in addresses[: len(theirs)]] == [theirs.index(each) for each in theirs]


def test_the_lab_shows_what_is_recorded():
    text = (ROOT / "solutions" / "11c_accelerators" / "11c_accelerators.md").read_text(encoding="utf-8")
    racing, reused, kept = RECORDED
    assert all(line in text for line in racing["source"].splitlines())
    shown = [line for line in racing["printed"].split("Tensor was allocated")[0].splitlines() if "_to_copy" not in line]
    assert all(line in text for line in shown if line.strip("="))
    for loop in (reused, kept):
        assert "  ".join(str(each % 10**7) for each in loop["addresses"]) in text
