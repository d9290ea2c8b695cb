"""The judge's own device for lab 11c: a list of all work, in which each piece starts when everything that it waits for is over."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import Any


@dataclass
class Piece:
    """One kernel or copy. `reads` and `writes` name values; `compute` makes the new value of those that it writes."""

    stream: Any
    queued: float
    start: float
    end: float
    engine: str | None
    inputs: list = field(default_factory=list)
    output: Any = None
    compute: Any = None


class Model:
    def __init__(self, overhead: float, now: float = 0.0) -> None:
        self.overhead, self.now, self.pieces, self.held, self.trace = overhead, now, [], [], []

    def free(self, stream: Any) -> float:
        """From when on a stream has nothing to do, and nothing to wait for."""
        return max(
            [0.0, *(p.end for p in self.pieces if p.stream == stream), *(t for s, t in self.held if s == stream)]
        )

    def hold(self, stream: Any, time: float) -> None:
        """The stream's next work does not start before `time`."""
        self.held.append((stream, time))

    def busy_engine(self, engine: str, time: float) -> None:
        """The engine copies for another program until `time`."""
        self.pieces.append(Piece(object(), self.now, self.now, time, engine))

    def engine_free(self, engine: str | None) -> float:
        return max([0.0, *(p.end for p in self.pieces if engine and p.engine == engine)])

    def launch(
        self,
        stream: Any,
        duration: float,
        engine: str | None = None,
        inputs: Any = (),
        output: Any = None,
        compute: Any = None,
    ) -> Piece:
        self.now += self.overhead
        start = max(self.now, self.free(stream), self.engine_free(engine))
        self.pieces.append(Piece(stream, self.now, start, start + duration, engine, [*inputs], output, compute))
        self.note(stream, {*inputs}, {output})
        return self.pieces[-1]

    def replay(self, stream: Any, nodes: list) -> list[Piece]:
        """Launch nodes (duration, engine, dependencies, inputs, output, compute) as one."""
        self.now += self.overhead
        begin, made = max(self.now, self.free(stream)), []
        for duration, engine, dependencies, *effect in nodes:
            start = max([begin, self.engine_free(engine), *(made[i].end for i in dependencies)])
            made.append(Piece(object(), self.now, start, start + duration, engine, *effect))
            self.pieces.append(made[-1])
        self.hold(stream, max([begin, *(p.end for p in made)]))
        self.note(stream, {i for p in made for i in p.inputs}, {p.output for p in made})
        return made

    def note(self, stream: Any, reads: set, writes: set) -> None:
        on_device = [{name for name in names if isinstance(name, int)} for names in (reads - writes, writes)]
        self.trace.append(("launch", stream, *on_device))

    def synchronize(self, *streams: Any) -> None:
        """The host waits for these streams, or for all."""
        known = streams or [*(p.stream for p in self.pieces), *(s for s, _ in self.held)]
        self.now = max([self.now, *map(self.free, known)])

    def values(self, begin: dict) -> dict:
        """All values at the end: work reads when it starts and writes when it ends."""
        values, made = dict(begin), {}
        moments = [(p.start, i, False) for i, p in enumerate(self.pieces)] + [
            (p.end, i, True) for i, p in enumerate(self.pieces)
        ]
        for _, i, ends in sorted(moments):
            piece = self.pieces[i]
            if piece.compute is not None and not ends:
                made[i] = piece.compute(*(values[name] for name in piece.inputs))
            elif piece.compute is not None:
                values[piece.output] = made[i]
        return values


def timed(name: str, work: Any) -> str:
    """When work was launched and when it ran, of the judge's device or of the student's."""
    return f"{name}: launched {float(work.queued)}, from {float(work.start)} to {float(work.end)}"


def races(trace: list) -> list:
    """The races that PyTorch's sanitizer finds: for each launch, the numbers of the two kernels and the tensor."""
    sanitizer = import_module("torch.cuda._sanitizer")
    handler, pairs = quiet(sanitizer).EventHandler(), []
    for kind, *names in trace:
        if kind == "launch":
            stream, reads, writes = names
            aliases = {name: [] for name in {*reads, *writes}}
            errors = handler._handle_kernel_launch(stream, set(reads), set(writes), set(), "kernel", aliases)
            pairs += sorted([e.current_access.seq_num, e.previous_access.seq_num, e.data_ptr] for e in errors)
        elif kind == "record":
            handler._handle_event_record(*names)
        elif kind == "wait":
            handler._handle_event_wait(*names)
        elif kind == "synchronize event":
            handler._handle_event_synchronization(*names)
        elif kind == "synchronize stream":
            handler._handle_stream_synchronization(*names)
        else:
            handler._handle_device_synchronization()
    return pairs


def quiet(sanitizer: Any) -> Any:
    """The sanitizer without its log about streams and events that it has not seen being made."""
    sanitizer.logger.setLevel("ERROR")
    return sanitizer
