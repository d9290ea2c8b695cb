"""Lab 11c, a launch: when work starts, what the host's clock shows, and what two events measure."""

from __future__ import annotations

from importlib import import_module

from rushlight.course.predictions import HOST_TIMES

from ...engine.check import program
from ..cases import drawn, listed, predicted, rows, several, when
from ..listing import comments
from .device import Model

# stream, duration, engine, what the host does before (µs), and for how long from then on the stream is told to wait (µs)
LAUNCH = listed((0, 3), (0, 12), [None, None, "HtoD", "DtoH"], [0, 0, 0, 3, 25], [0, 0, 0, 0, 7, 30])
ENGINES = ["HtoD", "DtoH"]


@program(
    "cuda.simulator.schedule",
    cases=drawn(overhead=[0.0, 1.0, 2.5], now=[0.0, 100.0], launches=several(LAUNCH, 1, 8)),
    edges=rows("overhead now launches", *(
        (1.0, 0.0, [[1, 10, None, 0, 0]]), (2.5, 100.0, [[0, 10, "HtoD", 0, 0]]), (1.0, 0.0, [[1, 10, None, 0, 0]] * 3),
        (1.0, 0.0, [[1, 10, None, 0, 0], [2, 10, None, 0, 0], [1, 10, None, 0, 0]]),
        (1.0, 0.0, [[1, 10, None, 0, 0], [1, 5, None, 25, 0]]), (1.0, 0.0, [[1, 5, None, 0, 30], [1, 2, None, 0, 0]]),
        (1.0, 0.0, [[1, 10, "HtoD", 0, 0], [2, 10, "HtoD", 0, 0], [3, 10, "DtoH", 0, 0], [1, 3, None, 0, 0], [2, 3, None, 0, 0]]),
        (1.0, 0.0, [[1, 10, None, 0, 0], [1, 5, "HtoD", 0, 0], [2, 5, "HtoD", 0, 0], [3, 9, None, 0, 0]]),
        (0.0, 0.0, [[0, 4, "DtoH", 0, 0], [1, 4, "DtoH", 0, 0], [0, 4, "HtoD", 0, 0]]), (0.0, 100.0, [[2, 0, None, 0, 0]]),
        (2.5, 100.0, [[2, 12, "HtoD", 0, 7], [2, 1, "DtoH", 3, 0], [3, 1, "HtoD", 0, 0], [0, 2, None, 0, 0]]),
        (1.0, 0.0, [[1, 10, "HtoD", 0, 0], [2, 5, "HtoD", 25, 0], [3, 2, "HtoD", 0, 0]]),
    )),
    hint=when(
        lambda case: any(launch[2] for launch in case["launches"]),
        "copies of one direction wait for each other, also on different streams; kernels do not",
    ),
    show=lambda torch, overhead, now, launches: comments(
        [
            f"launch_overhead = {overhead}, now = {now}",
            *(
                f"{f'the host does something else for {busy} µs; ' if busy else ''}"
                f"{f'stream {stream} is told to wait for {wait} µs; ' if wait else ''}"
                f"{engine or 'a kernel'} on stream {stream} takes {duration} µs"
                for stream, duration, engine, busy, wait in launches
            ),
        ]
    ),
)  # fmt: skip
def scheduled(rl, overhead, now, launches):
    device, lines = rl.cuda.Device(launch_overhead=overhead, now=now), []
    for stream, duration, engine, busy, wait in launches:
        device.now += busy
        if wait:
            device.ready[stream] = max(device.ready.get(stream, 0.0), device.now + wait)
        start, end = rl.cuda.simulator.schedule(device, stream, float(duration), engine)
        lines.append(f"from {float(start)} to {float(end)}; the host: {float(device.now)}")
    used = sorted({launch[0] for launch in launches})
    ready, engines = [device.ready[stream] for stream in used], [device.engines.get(engine, 0.0) for engine in ENGINES]
    return _scheduled(lines, used, ready, engines)


@scheduled.oracle
def _(torch, overhead, now, launches):
    """Each launch starts when all earlier work of its stream and of its engine is over."""
    model, lines = Model(overhead, now), []
    for stream, duration, engine, busy, wait in launches:
        model.now += busy
        if wait:
            model.hold(stream, model.now + wait)
        piece = model.launch(stream, float(duration), engine)
        lines.append(f"from {piece.start} to {piece.end}; the host: {model.now}")
    used = sorted({launch[0] for launch in launches})
    return _scheduled(lines, used, map(model.free, used), map(model.engine_free, ENGINES))


def _scheduled(launches, used, ready, engines):
    shown = {f"launch {i}": line for i, line in enumerate(launches)}
    shown |= {f"stream {stream} is ready": float(time) for stream, time in zip(used, ready, strict=True)}
    return shown | {f"{engine} is free": float(time) for engine, time in zip(ENGINES, engines, strict=True)}


# Predictions ---------------------------------------------------------------------------------------------------------


@program("course.predictions.host_times", **predicted(HOST_TIMES, draws=len(HOST_TIMES)))
def host_times(rl, program):
    time = rl.course.predictions.host_times(program)
    return int(time) if isinstance(time, float) and time.is_integer() else time


@host_times.oracle
def _(torch, program):
    """The program runs on the simulated device."""
    cuda, memory = import_module("rushlight.cuda"), import_module("rushlight.cuda.memory")
    with cuda.Device(launch_overhead=5.0, bandwidth=1000.0, staging_bandwidth=2000.0) as device:
        names = {name: getattr(cuda, name) for name in ("stream", "synchronize", "current_stream", "Event")}
        names |= {
            "side": cuda.Stream(),
            "event": cuda.Event(),
            "kernel": lambda duration: memory.launch("kernel", duration),
        }
        data, number = [0.0] * 5000, memory.empty([])  # 40,000 bytes of float64
        names |= {"pageable": memory.host(data), "pinned": memory.host(data, pin_memory=True), "number": number}
        exec(program_of(program), names | {"x": memory.empty([5000], float)})
        return round(device.now)


def program_of(name):
    return HOST_TIMES[name]
