"""Data races between streams, found from what a program queued, without a clock.

Two kernels *race* if both use a tensor, at least one writes it, and no order between them is certain. The result may be right many
times and then wrong. So times prove nothing: the question is which kernel must *happen before* which. Each kernel gets a number,
in the order of launching. Each stream has a *vector clock*. It says, for every stream, up to which number the kernels of that
stream come before all work that is queued here from now on.

In PyTorch: `torch/cuda/_sanitizer.py`, which `TORCH_CUDA_SANITIZER=1` turns on. Left out: stacks, and the names of arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

__all__ = ["Accesses", "Clocks", "Race", "check_access", "find_races", "is_ordered_after", "update_clocks"]

Clock = dict[int, int]  # by stream: the number of a kernel


@dataclass
class Clocks:
    """The vector clocks of all streams. `host` is that of the host: all work that is queued from now on comes after it."""

    streams: dict[int, Clock] = field(default_factory=dict)
    events: dict[int, Clock] = field(default_factory=dict)  # of the stream, when the event was recorded on it
    host: Clock = field(default_factory=dict)

    def of(self, stream: int) -> Clock:
        """The clock of a stream. The first work of a new one comes after what the host has waited for."""
        return self.streams.setdefault(stream, dict(self.host))


def merge(clock: Clock, other: Clock) -> None:
    """Let `clock` wait for `other`: work that comes after `clock` comes after `other` too."""
    for stream, number in other.items():
        clock[stream] = max(clock.get(stream, 0), number)


def update_clocks(clocks: Clocks, step: Sequence) -> None:
    """Bring the vector clocks up to date after one step that orders work. `merge(clock, other)` lets a clock wait for another.

    A step is one of these:

    - `("record", event, stream)`: the event has the clock that the stream has now, whatever it had before.
    - `("wait", event, stream)`: the work that is queued on the stream from now on comes after the event.
    - `("synchronize event", event)`: the host waits for the event.
    - `("synchronize stream", stream)`: the host waits for all work that is on the stream.
    - `("synchronize",)`: the host waits for all streams that there are.

    Work that the host has waited for comes before all work that it queues afterwards, on any stream. So the clock of each stream in
    `clocks.streams` changes, and `clocks.host`, from which the clock of a new stream is made. An event that was never recorded
    orders nothing.

    Args:
        clocks: `clocks.of(stream)` is the clock of a stream, which may be a new one. It is a dict, as are `clocks.host` and the
            values of `clocks.events`. Two of them are never the same dict.

    >>> clocks = Clocks({1: {1: 7}, 2: {2: 5}})
    >>> update_clocks(clocks, ("record", 0, 1))
    >>> update_clocks(clocks, ("wait", 0, 2))
    >>> clocks.streams
    {1: {1: 7}, 2: {2: 5, 1: 7}}

    Source: `torch/cuda/_sanitizer.py`, `StreamSynchronizations`.
    """
    kind, *names = step
    if kind == "record":
        clocks.events[names[0]] = dict(clocks.of(names[1]))
    elif kind == "wait":
        merge(clocks.of(names[1]), clocks.events.get(names[0], {}))
    else:
        if kind == "synchronize event":
            reached = [clocks.events.get(names[0], {})]
        elif kind == "synchronize stream":
            reached = [clocks.of(names[0])]
        else:
            reached = [*clocks.streams.values()]
        for clock in [dict(clock) for clock in reached]:
            for waiting in (clocks.host, *clocks.streams.values()):
                merge(waiting, clock)


def is_ordered_after(clocks: Clocks, stream: int, number: int, other: int) -> bool:
    """Whether work that is queued on `stream` now comes after kernel `number` of the stream `other`."""
    return number <= clocks.of(stream).get(other, 0)


@dataclass
class Accesses:
    """The last kernel that wrote a tensor, and those that have read it since: pairs (number, stream)."""

    write: tuple[int, int] | None = None
    reads: list[tuple[int, int]] = field(default_factory=list)


def check_access(accesses: Accesses, clocks: Clocks, number: int, stream: int, writes: bool) -> list[tuple[int, int]]:
    """The kernels that a new kernel races with, because of one tensor; and the new kernel's access is entered.

    - A kernel that reads must come after the last one that wrote.
    - A kernel that writes must come after all that have read since the last write. If there are any, the last write
      itself is not looked at. If there are none, it must come after the last one that wrote.

    `is_ordered_after(clocks, stream, number, other)` says whether work that is queued on `stream` now comes after kernel
    `number` of the stream `other`. A race is found even if one was found before.

    Then a reading kernel is appended to `accesses.reads`. A writing kernel becomes `accesses.write`, and no kernel has read
    since.

    Args:
        accesses: `accesses.write` is None if no kernel has written the tensor.
        number, stream: the new kernel. Its stream's clock has its number already.

    Returns:
        a list of pairs (number, stream): in the order of `accesses.reads`, or the one that wrote.

    >>> clocks, accesses = Clocks({1: {1: 1}, 2: {2: 2}}), Accesses(write=(1, 1))
    >>> check_access(accesses, clocks, 2, 2, writes=False), accesses.reads
    ([(1, 1)], [(2, 2)])

    Source: `torch/cuda/_sanitizer.py`, `EventHandler._handle_kernel_launch`.
    """
    before = accesses.reads if writes and accesses.reads else [accesses.write] if accesses.write else []
    races = [access for access in before if not is_ordered_after(clocks, stream, *access)]
    if writes:
        accesses.write, accesses.reads = (number, stream), []
    else:
        accesses.reads.append((number, stream))
    return races


@dataclass(frozen=True, order=True)
class Race:
    """Two kernels that race, by their numbers, and the tensor."""

    current: int
    previous: int
    tensor: int


def find_races(trace: Iterable[Sequence]) -> list[Race]:
    """All races of a program, from its trace, `Device.trace`; in ascending order for each launch.

    A launch is `("launch", stream, reads, writes, name)`: the set of tensors that it only reads, and the set of those that it
    writes. Launches are numbered from 1. `("alloc", tensor)` and `("free", tensor)` forget what was done with a tensor: this
    finds no race between two owners of the same memory, as in PyTorch.
    """
    clocks, tensors, races, number = Clocks(), {}, [], 0
    for step in trace:
        if step[0] == "launch":
            _, stream, reads, writes, *_ = step
            number += 1
            clocks.of(stream)[stream] = number
            new = []
            for tensor, is_write in [*((ptr, False) for ptr in reads), *((ptr, True) for ptr in writes)]:
                accesses = tensors.setdefault(tensor, Accesses())
                racing = check_access(accesses, clocks, number, stream, is_write)
                new += [Race(number, previous, tensor) for previous, _ in racing]
            races += sorted(new)
        elif step[0] in ("alloc", "free"):
            tensors.pop(step[1], None)
        else:
            update_clocks(clocks, step)
    return races
