"""Checks of lab 00: a profile, and timing on a device that works asynchronously."""

from ...engine.check import program
from ...engine.observe import is_error
from ..cases import drawing, drawn, explained, field, first_of, several, when


@drawing
def _profiles(draw, st):
    events = []
    for thread in range(draw(st.integers(1, 3))):
        now, around = 0, []
        for move in draw(st.lists(st.sampled_from(["open", "open", "close", "wait"]), max_size=12)) + ["close"] * 12:
            if move == "open":
                around.append([draw(st.sampled_from("abcde")), thread, now])
                now += draw(st.integers(0, 1))
            elif move == "close" and around:
                now += draw(st.integers(1, 8))
                events.append([*around.pop(), now])
            elif move == "wait":
                now += draw(st.integers(1, 3))
    distinct = {tuple(event[1:]): event for event in events}
    events = draw(st.permutations(list(distinct.values())))
    # `time > share * total` and `time / total > share` agree for these shares
    return {"events": events, "share": draw(st.sampled_from([0.0, 0.125, 0.25, 0.5]))}


def _profile(*events, share=0.0):
    """Events, each as a name, a thread, a start and an end."""
    return {"events": [list(event) for event in events], "share": share}


_CHAIN = [("a", 1, 0, 10), ("b", 1, 1, 9), ("c", 1, 2, 8), ("d", 1, 3, 7)]
_MATMUL = [("matmul", 0, 0, 100), ("mm", 0, 2, 96), ("conj", 0, 10, 12), ("relu", 0, 100, 140), ("sum", 0, 160, 164)]


def _about_times(case, mine, theirs):
    if is_error(mine):
        return None
    yours, wanted = dict(mine), dict(theirs)
    if yours == wanted:
        return "the operator with the most time is first; operators with equal times are in alphabetical order"
    all_times = case["share"] == 0 and {**dict.fromkeys(wanted, 0), **yours} != {**dict.fromkeys(yours, 0), **wanted}
    if all_times or any(yours[name] != wanted[name] for name in yours.keys() & wanted.keys()):
        return "an event's self time is its length minus its direct children's, which are events of its own thread"
    return "hot is strictly more than the share of the sum of all self times"


@program(
    "on_torch.trace.hot_operators",
    cases=_profiles,
    edges=[
        _profile(), _profile(("a", 1, 5, 5)), _profile(("a", 1, 5, 8)), _profile(*_CHAIN), _profile(*reversed(_CHAIN)),
        _profile(*_MATMUL, share=None), _profile(*_MATMUL, share=0.25), _profile(("a", 1, 0, 4), share=1.0),
        _profile(("b", 1, 0, 4), ("aten::mm", 1, 4, 8)),
        _profile(("b", 1, 0, 4), ("a", 1, 4, 8), ("c", 2, 0, 9)),
        _profile(("c", 1, 0, 4), ("a", 1, 4, 8), ("b", 1, 8, 12), ("d", 1, 12, 16), share=0.125),
        _profile(("b", 1, 0, 1), ("a", 1, 2, 5), share=0.25),  # a quarter is not more than a quarter
        _profile(("a", 1, 0, 16), ("b", 1, 4, 12), ("c", 1, 6, 10), share=0.25),
        _profile(("a", 1, 0, 8), ("b", 1, 0, 4), ("c", 1, 4, 8)),  # a has no self time
        _profile(("a", 1, 5, 5), ("b", 2, 7, 7), share=None),
        _profile(("a", 1, 0, 9), ("b", 1, 4, 4), ("c", 1, 0, 0), ("d", 1, 9, 9)),
        _profile(("a", 1, 0, 9), ("b", 1, 0, 4), ("c", 1, 5, 9), ("d", 1, 5, 6)),
        _profile(("a", 1, 0, 9), ("a", 1, 2, 7), ("b", 1, 3, 4), ("a", 1, 12, 13)),
        _profile(("a", 1, 0, 10), ("b", 2, 2, 8), ("c", 3, 0, 10)),
        _profile(("a", 1, 0, 10), ("a", 2, 0, 10), ("b", 2, 3, 5)),
        _profile(("b", 1, 0, 3), ("a", 1, 10, 13), ("c", 1, 4, 9)),
        _profile(("x", 1, 0, 3), ("y", 1, 3, 9), ("z", 1, 1, 2), ("w", 2, 1, 8), share=0.125),
        _profile(("a", 7, 0, 20), ("b", 7, 1, 19), ("c", 7, 2, 5), ("c", 7, 6, 9), ("d", 7, 7, 8), share=0.5),
        _profile(("a", 1, 0, 951), ("b", 1, 1000, 1049), share=None),
        _profile(("a", 1, 0, 948), ("b", 1, 1000, 1052), share=None),
    ],
    hint=_about_times,
)  # fmt: skip
def profiles(xp, events, share):
    events = [xp.trace.Event(*event) for event in events]
    before = [*events]
    hot = xp.trace.hot_operators(events, *[share] * (share is not None))
    assert events == before, "the list of events has changed"
    return hot


@profiles.oracle
def torch_profiles(torch, events, share):
    from torch.autograd.profiler_util import EventList, FunctionEvent

    events = EventList(FunctionEvent(number, *event, stack=[]) for number, event in enumerate(events))
    events._build_tree()
    times = {event.key: int(event.self_cpu_time_total) for event in events.key_averages()}
    share = 0.05 if share is None else share
    hot = [[name, time] for name, time in times.items() if time > share * sum(times.values())]
    return sorted(hot, key=lambda each: (-each[1], each[0]))


def _timing(*work, **more):
    """For each call, the work that it launches. Later calls launch the same as the last."""
    work = [list(piece) for piece in work]
    return {"work": work, "pending": 0, "overhead": 0.25, "warmup": 3, "repeats": 5} | more


@program(
    "on_torch.trace.timed",
    cases=drawn(
        work=several(several((0, 9), 0, 3), 1, 4), pending=(0, 20), overhead=[0.25, 1.0, 4.0], warmup=(0, 4),
        repeats=(1, 6),
    ),
    edges=[
        _timing([4], warmup=None, repeats=None),
        _timing([9], [8], [7], [6], [5], [4], [3], [2], warmup=None, repeats=None), _timing([4], warmup=0, repeats=1),
        _timing([4], pending=20, warmup=0, repeats=1), _timing([4], pending=20, warmup=1, repeats=1),
        _timing([4], pending=20), _timing([9], [9], [2], warmup=2, repeats=1),
        _timing([9], [9], [2], warmup=1, repeats=1), _timing([9], [9], [1], warmup=2, repeats=2),
        _timing([1], [2], [9], [3], warmup=0, repeats=3), _timing([1], [2], [9], [4], warmup=0, repeats=4),
        _timing([4], [1], [3], warmup=0, repeats=2), _timing([8], [1], [4], [2], [6], [3], warmup=0, repeats=6),
        _timing([], warmup=1, repeats=2), _timing([0, 3], [2, 2], [5], overhead=4.0, warmup=1, repeats=3),
        _timing([1, 1, 1], overhead=4.0, warmup=0, repeats=2),
        _timing([2**-22], overhead=2**-24), _timing([100], [90], [5], warmup=2, repeats=2),
    ],
    hint=first_of(
        when(
            lambda case, mine, theirs: 0 < abs(field(mine, "seconds") - field(theirs, "seconds")) < 1e-5,
            "the seconds are not rounded",
        ),
        explained(
        seconds="synchronise before each reading of the clock, then take the median of the single times",
        calls="warmup + repeats calls are made",
        reads_at_work="whenever the clock is read, the device has no work left, also in the warm-up",
    )),
)  # fmt: skip
def timings(xp, work, pending, overhead, warmup, repeats):
    device, made, at_work = xp.trace.FakeDevice(overhead), [], []
    device.launch(pending)

    def call():
        for seconds in work[min(len(made), len(work) - 1)]:
            device.launch(seconds)
        made.append(1)

    def clock():
        at_work.append(device.done > device.now)
        return device.clock()

    more = {name: value for name, value in (("warmup", warmup), ("repeats", repeats)) if value is not None}
    seconds = xp.trace.timed(call, device.synchronize, clock, **more)
    seconds = float(seconds) if isinstance(seconds, int | float) else seconds
    return {"seconds": seconds, "calls": len(made), "reads at work": sum(at_work)}


@timings.oracle
def torch_timings(torch, work, pending, overhead, warmup, repeats):
    warmup, repeats = 3 if warmup is None else warmup, 5 if repeats is None else repeats

    def alone(launches):
        host = device = 0.0
        for seconds in launches:
            host += overhead
            device = max(device, host) + seconds
        return max(host, device)

    times = [alone(work[min(number, len(work) - 1)]) for number in range(warmup, warmup + repeats)]
    seconds = float(torch.tensor(times, dtype=torch.float64).quantile(0.5))
    return {"seconds": seconds, "calls": warmup + repeats, "reads at work": 0}
