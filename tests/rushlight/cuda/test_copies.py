"""Copies, pinned memory, and memory that another stream still uses: exact times and numbers, worked out by hand."""

import numpy as np
import pytest

from rushlight.cuda import Device, Event, Stream, current_stream, stream, synchronize
from rushlight.cuda._sanitizer import find_races
from rushlight.cuda.memory import empty, host, launch
from rushlight.cuda.overlap import compute_in_chunks

# 10 floats: 40 bytes are 10 µs by DMA (4 bytes a microsecond) and 5 µs on the host (8 bytes a microsecond).
DATA = np.arange(10, dtype=np.float32)


@pytest.mark.parametrize(
    ("pinned", "non_blocking", "now"),
    [(True, True, 1), (True, False, 11), (False, True, 5 + 1), (False, False, 5 + 1 + 10)],
)
def test_when_the_host_goes_on_after_a_copy_to_the_device(device, pinned, non_blocking, now):
    x = host(DATA, pin_memory=pinned).cuda(non_blocking)
    assert device.now == now
    assert x.cpu().data.tolist() == DATA.tolist()


@pytest.mark.parametrize(
    ("pinned", "non_blocking", "now"),
    [(True, True, 1), (True, False, 11), (False, True, 11 + 5), (False, False, 11 + 5)],
)
def test_when_the_host_goes_on_after_a_copy_to_the_host(device, pinned, non_blocking, now):
    target, source = host(np.zeros(10, np.float32), pin_memory=pinned), empty([10])
    target.copy_(source, non_blocking)
    assert device.now == now


def test_pinned_memory_may_not_change_before_the_copy_has_read_it(device):
    pinned, pageable = host(DATA, pin_memory=True), host(DATA)
    launch("busy", 100.0)
    copies = [pinned.cuda(non_blocking=True), pageable.cuda(non_blocking=True)]
    pinned.data[:] = pageable.data[:] = -1
    synchronize()
    assert [each.cpu().data[3] for each in copies] == [-1, 3]


def test_the_host_sees_a_pinned_result_only_after_it_waited(device):
    x, result = host(DATA).cuda(), host(np.zeros(10, np.float32), pin_memory=True)
    result.copy_(x, non_blocking=True)
    event = Event()
    event.record()
    assert result.data[3] == 0
    event.synchronize()
    assert result.data[3] == 3


def test_there_is_one_engine_for_each_direction(device):
    source, target = host(DATA, pin_memory=True), host(DATA, pin_memory=True)
    x, y, z = empty([10]), empty([10]), empty([10])
    for each, copy in ((x, 0), (y, 0), (z, 1)):
        with stream(Stream()):
            target.copy_(each, non_blocking=True) if copy else each.copy_(source, non_blocking=True)
    times = [(span.engine, span.start, span.end) for span in device.timeline]
    assert times == [("HtoD", 1, 11), ("HtoD", 11, 21), ("DtoH", 3, 13)]


def test_a_copy_within_the_device_uses_no_engine(device):
    x, y = host(DATA).cuda(), empty([10])
    y.copy_(x)
    span = device.timeline[-1]
    assert (span.engine, span.end - span.start) == (None, pytest.approx(40 / 400))
    assert y.cpu().data.tolist() == DATA.tolist()


def test_a_number_on_the_host_waits_for_the_device(device):
    x = empty([])
    launch("fill", 100.0, lambda: 7.0, out=x)
    assert (x.item(), device.now) == (7.0, 1 + 100 + 1)  # launched at 1, copied from 101 on: 4 bytes


@pytest.mark.parametrize(("recorded", "expected"), [(False, 9), (True, 5)])
def test_memory_is_used_again_while_another_stream_reads_it_unless_it_is_recorded(device, recorded, expected):
    side, y = Stream(), empty([1])
    x = host(np.float32([5]), pin_memory=True).cuda(non_blocking=True)
    side.wait_stream(current_stream())
    with stream(side):
        launch("busy", 50.0)
        launch("read", 1.0, np.copy, [x], out=y)
    if recorded:
        x.record_stream(side)
    ptr = x.data_ptr()
    del x
    z = empty([1])
    assert (z.data_ptr() == ptr) is not recorded
    launch("fill", 1.0, lambda: 9.0, out=z)
    synchronize()
    assert y.item() == expected
    assert find_races(device.trace) == []  # PyTorch's sanitizer does not see this one either


def test_memory_that_was_recorded_is_free_once_the_stream_is_done(device):
    side, x = Stream(), empty([1])
    ptr = x.data_ptr()
    with stream(side):
        launch("busy", 50.0)
    x.record_stream(side)
    del x
    y = empty([1])
    synchronize()
    z = empty([1])
    assert (y.data_ptr() == ptr, z.data_ptr() == ptr) == (False, True)


def test_on_one_stream_memory_may_be_used_again_at_once(device):
    x, y = host(np.float32([5]), pin_memory=True).cuda(non_blocking=True), empty([1])
    ptr = x.data_ptr()
    launch("read", 50.0, np.copy, [x], out=y)
    del x
    z = empty([1])
    launch("fill", 1.0, lambda: 9.0, out=z)
    synchronize()
    assert (z.data_ptr(), y.item()) == (ptr, 5)


def chunks(count):
    inputs = [host(np.full(10, i, np.float32), pin_memory=True) for i in range(count)]
    return inputs, [host(np.zeros(10, np.float32), pin_memory=True) for _ in range(count)]


# Without overhead: a copy takes 10 µs in each direction, a kernel 20. One buffer: 40 for each chunk. Two buffers: chunk 2 copies in
# when chunk 0 has left, so two chunks take 40, and the second is 10 later than the first. Four: only copies in wait for each other.
@pytest.mark.parametrize(
    ("count", "buffers", "end"), [(1, 1, 40), (4, 1, 160), (4, 2, 90), (4, 4, 70), (2, 8, 50), (3, 2, 80)]
)
def test_chunks_overlap_and_their_results_are_right(count, buffers, end):
    with Device(launch_overhead=0.0, bandwidth=4.0) as device:
        inputs, outputs = chunks(count)
        compute_in_chunks(inputs, outputs, lambda x: 2 * x + 1, 20.0, buffers)
        assert [each.data[0] for each in outputs] == [2 * i + 1 for i in range(count)]
        assert (device.now, find_races(device.trace)) == (end, [])
