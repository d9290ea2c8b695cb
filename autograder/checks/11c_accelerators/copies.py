"""Lab 11c, copies that overlap with computing."""

from __future__ import annotations

from importlib import import_module

from ...engine.check import program
from ..cases import drawn, field, first_apart, rows
from .device import Model, timed

BANDWIDTH = 4.0  # bytes in a microsecond: a copy of n float32 takes n
HINTS = {
    "results": "does each chunk use its own input and output, and one buffer for all three?",
    "now": "the host waits at the end, until all is done",
    "few buffers": "a buffer is used again",
}


def _mistake(case, mine, theirs):
    """A hint for the order of the work, for a host that waits, or for work that begins at another time."""
    if (entry := first_apart(mine, theirs)) is None:
        return None
    if entry != "work":
        return HINTS.get("now" if field(mine, "now") != field(theirs, "now") else entry)
    launches = [[line.partition(", from ")[0] for line in field(tree, "work")] for tree in (mine, theirs)]
    ours, real = ([line.split(": launched ") for line in tree] for tree in launches)
    if [name for name, _ in ours] != [name for name, _ in real]:
        return "the host queues copy in, kernel, copy out of one chunk, then those of the next one"
    if ours != real:
        return "the host waits before the end, or launches too late: is each copy non_blocking?"
    return "chunks in different buffers wait only for the copy engines, and those in one buffer until the one before has left it"


@program(
    "cuda.overlap.compute_in_chunks",
    cases=drawn(count=(1, 7), size=(1, 12), duration=(0, 40), buffers=(1, 5), overhead=[0.0, 0.0, 1.0, 5.0], wide=bool),
    edges=[edge | {"wide": False} for edge in rows("count size duration buffers overhead", *(
        (1, 10, 20, 1, 0.0), (4, 10, 20, 1, 0.0), (4, 10, 20, 2, 0.0), (4, 10, 20, 4, 0.0), (2, 10, 20, 5, 0.0),
        (3, 10, 20, 2, 1.0),         (6, 3, 20, 3, 1.0), (6, 12, 3, 3, 1.0), (7, 2, 5, 2, 5.0),
        (5, 1, 0, 2, 1.0), (1, 2, 3, 4, 1.0), (7, 4, 30, 4, 0.0),
        (2, 10, 20, 2, 1.0),
    ))] + rows("count size duration buffers overhead wide", (3, 5, 30, 2, 1.0, True)),
    hint=_mistake,
)  # fmt: skip
def in_chunks(rl, count, size, duration, buffers, overhead, wide):
    memory = import_module(f"{rl.__name__}.cuda.memory")
    overlap = import_module(f"{rl.__name__}.cuda.overlap")
    with rl.cuda.Device(launch_overhead=overhead, bandwidth=BANDWIDTH) as device:
        inputs = [memory.host(_numbers(i, size, wide), pin_memory=True) for i in range(count)]
        outputs = [memory.host(_numbers(-1, size, wide), pin_memory=True) for _ in range(count)]
        more = {} if buffers == 2 else {"buffers": buffers}  # which is 2 by default
        overlap.compute_in_chunks(inputs, outputs, lambda x: 2 * x + 1, float(duration), **more)
        results, now = [output.data.tolist() for output in outputs], device.now
        kept = [tensor.data.tolist() for tensor in inputs] == [_numbers(i, size, wide).tolist() for i in range(count)]
    work = [timed(piece.engine or "kernel", piece) for piece in device.timeline]
    return {
        "work": work,
        "results": results,
        "now": now,
        "inputs kept": kept,
        "few buffers": _most(device.trace) <= buffers,
    }


@in_chunks.oracle
def _(torch, count, size, duration, buffers, overhead, wide):
    """Chunk i starts when chunk i - buffers is over. All else is the order of the engines."""
    model, ends, results, bytes_each = Model(overhead), [], [], 16 if wide else 4
    for i in range(count):
        if i >= buffers:
            model.hold(i, ends[i - buffers])
        model.launch(i, size * bytes_each / BANDWIDTH, "HtoD")
        model.launch(i, float(duration))
        ends.append(model.launch(i, size * bytes_each / BANDWIDTH, "DtoH").end)
        results.append([[2 * i + 1] * 2] * size if wide else [2.0 * i + 1] * size)
    model.synchronize()
    work = [timed(piece.engine or "kernel", piece) for piece in model.pieces]
    return {"work": work, "results": results, "now": model.now, "inputs kept": True, "few buffers": True}


def _numbers(i, size, wide):
    numpy = import_module("numpy")
    return numpy.full((size, 2), i, "int64") if wide else numpy.full(size, i, "float32")


def _most(trace):
    """The largest number of tensors at one time."""
    counts = [0]
    for kind, *_ in trace:
        counts.append(counts[-1] + (kind == "alloc") - (kind == "free"))
    return max(counts)
