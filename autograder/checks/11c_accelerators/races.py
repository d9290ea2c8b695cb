"""Lab 11c, before and after: the vector clocks of streams, and the kernels that race, as PyTorch's sanitizer finds them."""

from __future__ import annotations

from importlib import import_module

from ...engine.check import program
from ..cases import drawn, field, first_apart, listed, rows, several
from .device import quiet

# Vector clocks -------------------------------------------------------------------------------------------------------


def _steps(st):
    stream, event = st.integers(0, 3), st.integers(0, 2)
    step = st.one_of(
        *[st.tuples(st.just("launch"), stream)] * 3,
        *[st.tuples(st.just(kind), event, stream) for kind in ("record", "record", "wait", "wait")],
        st.tuples(st.just("synchronize event"), event),
        st.tuples(st.just("synchronize stream"), stream),
        st.tuples(st.just("synchronize")),
    )
    return st.lists(step.map(list), max_size=14)


def _words(text):
    """`k1 r0@1 w0@2 e0 s1 !`: a kernel, record and wait of an event on a stream, the host waits for an event, a stream, all."""
    kinds = {
        "k": "launch",
        "r": "record",
        "w": "wait",
        "e": "synchronize event",
        "s": "synchronize stream",
        "!": "synchronize",
    }
    return ([[kinds[word[0]], *map(int, word[1:].split("@") if word[1:] else [])] for word in text.split()],)


def _clock_mistake(case, mine, theirs):
    """A hint for the first step after which a clock differs; for an exception, only if it is the check's own."""
    key = first_apart(mine, theirs)
    if key is None:
        return (
            "an event has a copy of a clock, and each stream has its own"
            if mine["error"][:1] == ["AssertionError"]
            else None
        )
    last = int(key.partition(":")[0])
    before, (kind, *names) = case["steps"][:last], case["steps"][last]
    recorded = {step[1] for step in before if step[0] == "record"}
    if kind in ("wait", "synchronize event") and names[0] not in recorded:
        return "an event that was never recorded orders nothing"
    if kind in ("record", "wait") and all(step[-1] != names[1] or len(step) == 1 for step in before):
        return "a new stream begins with the clock of the host: `clocks.of(stream)`"
    if kind.startswith("synchronize"):
        return "the host waits: all streams that there are, and `clocks.host`, come after what it has waited for"
    return None


@program(
    "cuda._sanitizer.update_clocks",
    cases=drawn(steps=_steps),
    edges=rows("steps", *map(_words, (
        "", "k1 k2 r0@1 w0@2", "k1 r0@1 k1 w0@2 k1", "k1 r0@1 k1 r0@1 w0@2", "k1 r0@1 k2 r0@2 w0@3", "w0@1 e0 k1", "k1 w0@1 r0@1",
        "k1 k1 k1 r0@1 k2 w0@2 r1@2 k3 w1@3 k3", "k3 k1 r0@1 k1 r1@1 w1@2 w0@2", "k1 k2 r0@1 e0 k2 k3", "k1 r0@1 k1 e0 k2 k3 r1@3",
        "k1 k2 s1 k2 k3 w0@0", "k1 k2 r0@2 w0@1 s1 k3 k0", "s2 k2 k1", "k1 k2 k3 ! k0 k1 r0@0 w0@2", "! k1",
        "k1 ! k2 k1 r0@1 w0@2 k3", "k1 r0@1 k1 ! r1@2 w0@3 k3",
        "k1 k2 r0@1 r1@2 w1@1 w0@2 k3 w0@3 w1@3", "k1 r0@1 e0 k1 k2 s2 ! k3",
        "r0@1 k2 w0@2 e0 s3 k3",
        "k1 s1 k2 k1 r0@1 w0@3 s2 k0", "k1 r0@1 k1 k2 ! e0 k3", "k1 r0@1 w0@2 k1 k2 r2@2 w2@3 w2@0 e2",
    ))),
    hint=_clock_mistake,
)  # fmt: skip
def updated(rl, steps):
    names = import_module(f"{rl.__name__}.cuda._sanitizer")
    clocks, number, shown = names.Clocks(), 0, {}
    for i, step in enumerate(steps):
        if step[0] == "launch":
            number += 1
            clocks.of(step[1])[step[1]] = number
        else:
            names.update_clocks(clocks, tuple(step))
        every = [clocks.host, *clocks.streams.values(), *clocks.events.values()]
        assert len({id(clock) for clock in every}) == len(every), "two clocks are one dict"
        streams = {stream: clocks.streams.get(stream, clocks.host) for stream in range(4)}
        events = {event: clocks.events.get(event, {}) for event in range(3)}
        shown[f"{i}: {' '.join(map(str, step))}"] = _nonzero(streams, events, clocks.host)
    return shown


@updated.oracle
def _(torch, steps):
    """`torch.cuda._sanitizer.StreamSynchronizations` on the same steps."""
    syncs = quiet(import_module(f"{torch.__name__}.cuda._sanitizer")).StreamSynchronizations()
    calls = {
        "record": syncs.record_state,
        "wait": lambda event, stream: syncs.stream_wait_for_event(stream, event),
        "synchronize event": syncs.all_streams_wait_for_event,
        "synchronize stream": syncs.all_streams_wait_for_stream,
        "synchronize": syncs.sync_all_streams,
    }
    number, shown = 0, {}
    for i, (kind, *arguments) in enumerate(steps):
        if kind == "launch":
            number += 1
            syncs.update_seq_num(*arguments, number)
        else:
            calls[kind](*arguments)
        streams = {stream: syncs.current_sync_states.get(stream, syncs.host_sync_state) for stream in range(4)}
        events = {event: syncs.recorded_sync_states.get(event, {}) for event in range(3)}
        shown[f"{i}: {' '.join(map(str, [kind, *arguments]))}"] = _nonzero(streams, events, syncs.host_sync_state)
    return shown


def _nonzero(streams, events, host):
    """The clocks that have an entry, without entries that are 0."""
    clocks = {f"stream {i}": clock for i, clock in streams.items()} | {
        f"event {i}": clock for i, clock in events.items()
    }
    clocks |= {"host": host}
    shown = {name: {s: n for s, n in sorted(clock.items()) if n} for name, clock in clocks.items()}
    return {name: str(clock) for name, clock in shown.items() if clock}


# Races ---------------------------------------------------------------------------------------------------------------

# stream, whether it writes, and the streams for whose work it is told to wait before
ACCESS = listed((0, 3), [False, False, True], several((0, 3), 0, 2))


def _accesses(text):
    """`1w 2r<1`: a write on stream 1; a read on stream 2, which waits for stream 1."""
    words = [word.partition("<") for word in text.split()]
    return ([[int(word[0]), word[1] == "w", [int(wait) for wait in waits]] for word, _, waits in words],)


def _access_mistake(case, mine, theirs):
    """A hint for the first kernel whose answer differs."""
    if (key := first_apart(mine, theirs)) is None:
        return "`accesses.write` is None as long as no kernel has written" if not case["launches"][0][1] else None
    i = [*dict(theirs["dict"])].index(key)
    entry, writes = first_apart(field(mine, key), field(theirs, key)), case["launches"][i][1]
    reads = [number for _, number in theirs["dict"]][i - 1] if i else None
    if entry == "races" and writes:
        has_reads = reads is not None and field(reads, "reads")
        return f"a write is compared with {HAS_READ if has_reads else HAS_NOT_READ}"
    if entry == "races":
        return "a read is compared with the last write, and with no other kernel"
    if writes:
        return "a write forgets the reads before it, whether it raced with them or not"
    return "a read is entered, whether it races or not"


HAS_READ = "all reads since the last write; a kernel has read since, so the last write is not looked at"
HAS_NOT_READ = "the last write if no kernel has read since"


@program(
    "cuda._sanitizer.check_access",
    cases=drawn(launches=several(ACCESS, 0, 9)),
    edges=rows("launches", *map(_accesses, (
        "", "1r", "1w", "1w 1r 1w", "1w 2r", "1w 2r<1", "1w 2w", "1w 2w<1", "1r 2w", "1r 2w<1", "1r 2r", "1w 1r 2r 3r 0w",
        "1w 1w 1w",         "1w 2r<1 3r<1 0w<2", "1w 2r<1 3r<1 0w<3", "1w 2r<1 3r<1 0w<23 1r<0", "1w 2r 2w", "1w 2r 1w 3r<1",
        "1w 2r 2r 3w<2", "1w 2r 2r 3w",         "1w 2w 3r<1", "1w 2w 3r<2", "1w 2r 3w<2", "1w 2r<1 1w 2w", "1w 1r 2w<1 2r 1r",
        "1w 2r 2r<1 2r", "1w 2r<1 3r<2 1w<3 1r",
        "1r 1w 2r 3r<1 2w<3 3w", "3w 1r 1r 0r 2w<0", "1w 2r<1 1r 3w<2 3r 1r",
    ))),
    hint=_access_mistake,
)  # fmt: skip
def checked(rl, launches):
    names = import_module(f"{rl.__name__}.cuda._sanitizer")
    clocks, accesses, shown = names.Clocks(), names.Accesses(), {}
    for i, (stream, writes, waits) in enumerate(launches):
        number, clock = i + 1, clocks.of(stream)
        for other in waits:
            names.merge(clock, dict(clocks.of(other)))
        clock[stream] = number
        races = names.check_access(accesses, clocks, number, stream, writes)
        shown[_launch(number, stream, writes, waits)] = {
            "races": [list(race) for race in races],
            "write": accesses.write and list(accesses.write),
            "reads": [list(read) for read in accesses.reads],
        }
    return shown


@checked.oracle
def _(torch, launches):
    """`torch.cuda._sanitizer.EventHandler` on the same launches of kernels with one tensor."""
    handler, shown = quiet(import_module(f"{torch.__name__}.cuda._sanitizer")).EventHandler(), {}
    handler.tensors_accessed.create_tensor(7, None)
    accesses = handler.tensors_accessed.accesses[7]
    for i, (stream, writes, waits) in enumerate(launches):
        for other in waits:
            handler._handle_event_record("event", other)
            handler._handle_event_wait("event", stream)
        reading, writing = (set(), {7}) if writes else ({7}, set())
        races = handler._handle_kernel_launch(stream, reading, writing, set(), "kernel", {7: []})
        shown[_launch(i + 1, stream, writes, waits)] = {
            "races": [_pair(race.previous_access) for race in races],
            "write": accesses.write and _pair(accesses.write),
            "reads": [*map(_pair, accesses.reads)],
        }
    return shown


def _launch(number, stream, writes, waits):
    ordered = f" after stream {' and '.join(map(str, waits))}" if waits else ""
    return f"kernel {number} {'writes' if writes else 'reads'} on stream {stream}{ordered}"


def _pair(access):
    return [access.seq_num, access.stream]
