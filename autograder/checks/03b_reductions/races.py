"""Checks of lab 03b: a sum in parts, under all schedules in which one part is interrupted once."""

from __future__ import annotations

import gc

from ...engine.check import program
from ..cases import drawn, explained, field, first_apart, rows, several, type_name

_LONGEST = 3000  # instructions: the last point at which a part is interrupted


class _Numbers:
    """A sequence that records which elements are read, and by which call of `body`."""

    def __init__(self, numbers):
        self.numbers, self.calls, self.active, self.outside = numbers, [], [], False

    def __len__(self):
        return len(self.numbers)

    def __getitem__(self, index):
        read = range(len(self.numbers))[index]
        if self.active:
            self.active[-1].update([read] if isinstance(read, int) else read)
        else:
            self.outside = True
        return self.numbers[index]

    def call(self, body, begin, end):
        read = set()
        self.calls.append(read)
        self.active.append(read)
        try:
            body(begin, end)
        finally:
            self.active.pop()  # an interrupted call goes on when those that interrupted it have ended


def _about_sums(case, mine, theirs):
    wrong = first_apart(mine, theirs)
    if wrong == "sum" and not case["numbers"]:
        return "without numbers the sum is 0.0, a float"
    if wrong == "shared" and field(mine, wrong) or wrong == "more parts than the grain allows":
        return "a part with fewer elements than `grain` is not worth a thread"
    if wrong == "another sum" and abs(float(field(mine, wrong).split()[0]) - field(mine, "sum")) < 1e-6:
        return "the parts' sums are added in the order of the parts, because each addition rounds"
    return explained(
        sum="each element counts once, also those of a last part that is shorter",
        another_sum="a part has read a number, and before it wrote the new one back, another part wrote to the same place",
        read_outside_of_the_parts="`body` reads the elements, and the second pass reads only what `body` has written",
        shared="the elements are to be shared among the calls",
    )(case, mine, theirs)


@program(
    "aten.parallel.two_pass_sum",
    cases=drawn(numbers=several([0.0, 1.0, -2.0, 0.1, 0.3, 4096.5, 1e6], 0, 9), grain=(1, 4), threads=(2, 5)),
    edges=rows(
        "numbers grain threads",
        ([1.0, 2.0], 1, 2), ([1.0, 2.0, 4.0, 8.0], 1, 2), ([1.0, 2.0, 4.0, 8.0, 16.0], 2, 4), ([], 1, 3), ([3.0], 1, 3),
        ([3.0, 5.0, 7.0], 4, 3), ([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0], 3, 5), ([1.0, 2.0, 4.0, 8.0], 4, 2),
        ([1e6, 0.1, 0.3, -1e6, 0.7, 0.2], 1, 3), ([0.3, 1e6, -1e6, 0.1, 0.7], 1, 5), ([1.0] * 8, 2, 2),
        ([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7], 2, 4), ([2.0, 2.0, 2.0, 2.0, 2.0], 1, 5), ([-1.0, -2.0, -3.0], 2, 2),
    ),
    hint=_about_sums,
)  # fmt: skip
def sum_in_parts(rl, numbers, grain, threads):
    def run(first=0, after=0):
        x, interrupted = _Numbers(numbers), []

        def parallel_for(begin, end, grain, body):
            def watched(begin, end):
                interrupted.append(bool(x.active))
                x.call(body, begin, end)

            model = rl.aten.parallel.parallel_for
            model(begin, end, grain, watched, threads=threads, first=first, after=after)

        gc.disable()  # its callbacks would count as instructions of a part
        try:
            result = rl.aten.parallel.two_pass_sum(x, grain, parallel_for)
        finally:
            gc.enable()
        return result, x, any(interrupted)

    usual, x, _ = run()
    reads = [read for read in x.calls if read]
    whole = len(numbers) > 0 and max(map(len, reads), default=0) == len(numbers)
    return {
        "sum": usual,
        "type": type_name(usual),
        "read outside of the parts": x.outside,
        "shared": not whole and len(set().union(*reads)) == len(numbers),
        "more parts than the grain allows": len(reads) > -(-len(numbers) // grain),
        "another sum": next(_other_sums(run, usual, threads), None),
    }


@sum_in_parts.oracle
def _(torch, numbers, grain, threads):
    total = torch.tensor(numbers, dtype=torch.float64).sum().item()
    shown = {"sum": total, "type": "float", "read outside of the parts": False}
    several = len(numbers) > grain or not numbers
    return shown | {"shared": several, "more parts than the grain allows": False, "another sum": None}


def _other_sums(run, usual, threads):
    """For each schedule that gives another sum: in words which part is interrupted, after how many instructions, and the sum."""
    for first in range(threads):
        begun = False  # the first instructions are those of `watched`
        for after in range(_LONGEST):
            result, x, interrupted = run(first, after)
            if result != usual:
                where = f"interrupted after {after} instructions" if interrupted else "not interrupted"
                yield f"{result} if part {first} begins, {where}"
            if len(x.calls) < 2 or begun and not interrupted:
                break
            begun |= interrupted
