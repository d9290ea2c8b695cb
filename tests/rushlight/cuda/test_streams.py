"""Streams and events on the simulated device: times that are worked out by hand, and PyTorch's errors."""

import doctest
import importlib

import numpy as np
import pytest
import torch
from sweep import in_one_test

import rushlight as rl
from rushlight.cuda import Device, Event, Stream, current_stream, default_stream, stream, synchronize
from rushlight.cuda.memory import empty, host, launch

MODULES = ["_sanitizer", "graphs", "memory", "overlap", "simulator", "streams", "waves"]


def spans(device):
    return [(span.name, span.start, span.end) for span in device.timeline]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_contract_hold(name):
    assert not doctest.testmod(importlib.import_module(f"rushlight.cuda.{name}")).failed


def test_without_a_device_a_script_finds_none():
    assert (rl.cuda.is_available(), rl.cuda.device_count()) == (torch.cuda.is_available(), torch.cuda.device_count())
    for kind in "Stream", "Event":
        with pytest.raises(RuntimeError) as theirs:
            getattr(torch.cuda, kind)()
        with pytest.raises(RuntimeError, match=str(theirs.value)):
            getattr(rl.cuda, kind)()


@in_one_test
@pytest.mark.parametrize("name", rl.cuda.__all__)
def test_a_name_is_torchs_too(name):
    assert name == "Device" or hasattr(torch.cuda, name) or hasattr(torch, name)


def test_work_of_one_stream_is_in_order_and_that_of_two_is_not(device):
    side = Stream()
    launch("a", 10.0)  # launched at 1
    with stream(side):
        launch("b", 4.0)  # launched at 2
    launch("c", 1.0)  # launched at 3, after a
    assert spans(device) == [("a", 1, 11), ("b", 2, 6), ("c", 11, 12)]
    assert device.now == 3


def test_an_idle_device_starts_work_when_it_is_launched(device):
    launch("a", 1.0)
    device.busy(10.0)
    launch("b", 1.0)
    assert spans(device) == [("a", 1, 2), ("b", 12, 13)]


def test_a_stream_waits_for_what_was_on_the_other_when_it_was_told_to(device):
    side = Stream()
    launch("a", 10.0)  # 1 to 11
    side.wait_stream(default_stream())
    launch("b", 10.0)  # 11 to 21: queued after the call
    with stream(side):
        launch("c", 1.0)
    assert spans(device)[-1] == ("c", 11, 12)
    assert device.now == 3  # the host did not wait


def test_an_event_that_is_recorded_again_moves_and_those_who_wait_stay(device):
    early, late, event = Stream(), Stream(), Event()
    launch("a", 10.0)  # 1 to 11
    event.record()
    early.wait_event(event)
    launch("b", 10.0)  # 11 to 21
    event.record()
    late.wait_event(event)
    for each in (early, late):
        with stream(each):
            launch("c", 1.0)
    assert spans(device)[-2:] == [("c", 11, 12), ("c", 21, 22)]


def test_an_event_that_was_never_recorded_is_complete_and_holds_nothing_up(device):
    event = Event()
    launch("a", 10.0)
    event.wait()
    event.synchronize()
    assert event.query() and device.now == 1


def test_the_default_stream_waits_for_no_other_and_none_waits_for_it(device):
    side = Stream()
    launch("a", 10.0)
    with stream(side):
        launch("b", 10.0)
    launch("c", 1.0)
    assert spans(device) == [("a", 1, 11), ("b", 2, 12), ("c", 11, 12)]


@pytest.mark.parametrize(
    ("wait", "now"),
    [
        (lambda event, side: event.synchronize(), 11),
        (lambda event, side: side.synchronize(), 32),
        (lambda event, side: synchronize(), 33),
        (lambda event, side: None, 3),
    ],
)
def test_the_host_waits_for_an_event_a_stream_or_all(device, wait, now):
    side, event = Stream(), Event()
    launch("a", 10.0)  # 1 to 11
    event.record()
    with stream(side):
        launch("b", 30.0)  # 2 to 32
    launch("c", 22.0)  # 11 to 33
    wait(event, side)
    assert device.now == now
    assert (event.query(), side.query(), current_stream().query()) == (now >= 11, now >= 32, now >= 33)


def test_elapsed_time_is_the_devices_and_in_milliseconds(device):
    start, end = Event(enable_timing=True), Event(enable_timing=True)
    start.record()  # the stream is idle: at 0
    launch("a", 1500.0)  # 1 to 1501
    end.record()
    before = device.now
    synchronize()
    assert (start.elapsed_time(end), end.elapsed_time(start)) == (1.501, -1.501)
    assert before == 1


def test_elapsed_time_refuses_what_pytorch_refuses(device):
    """The types and the order of the three errors are those of PyTorch's CUDA build, `CUDAEvent::elapsed_time`."""
    timed, other, plain = Event(enable_timing=True), Event(enable_timing=True), Event()
    with pytest.raises(ValueError, match="enable_timing=True"):
        timed.elapsed_time(plain)
    with pytest.raises(ValueError, match="recorded before"):
        timed.elapsed_time(other)
    timed.record()
    launch("a", 10.0)
    other.record()
    with pytest.raises(RuntimeError, match="completed before"):
        timed.elapsed_time(other)


def test_a_missing_wait_gives_wrong_numbers_and_a_wait_right_ones(device):
    x, y, side = empty([2]), empty([2]), Stream()
    for waits, expected in ((False, [1, 1]), (True, [3, 3])):
        launch("fill", 1.0, lambda x: np.zeros(2), [x], out=x)
        launch("fill", 10.0, lambda x: x + 2, [x], out=x)
        if waits:
            side.wait_stream(current_stream())
        with stream(side):
            launch("add", 1.0, lambda x: x + 1, [x], out=y)
        synchronize()
        assert y.cpu().data.tolist() == expected
        synchronize()
        x.copy_(host(np.zeros(2, np.float32)))


def test_work_reads_at_its_start_and_writes_at_its_end(device):
    x, sides = host(np.float32([1, 2])).cuda(), (Stream(), Stream())
    results = [empty([2]), empty([2])]
    with stream(sides[0]):
        launch("double", 10.0, lambda x: 2 * x, [x], out=x)
    with stream(sides[1]):
        launch("copy", 30.0, np.copy, [x], out=results[0])  # starts before the write, ends after it
        launch("copy", 30.0, np.copy, [x], out=results[1])
    synchronize()
    assert [each.cpu().data.tolist() for each in results] == [[1, 2], [2, 4]]


def test_devices_are_apart(device):
    launch("a", 10.0)
    with Device() as other:
        assert (current_stream().device, other.now) == (other, 0)
    assert current_stream().device is device


def test_a_stream_is_equal_to_itself_only(device):
    with stream(side := Stream()):
        assert current_stream() == side != default_stream()
    with stream(None):
        assert current_stream() == default_stream() == Stream(stream_id=0)
    assert len({side, Stream(stream_id=side.stream_id), default_stream()}) == 2
