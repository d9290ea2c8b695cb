"""Lab 09: cases that share ranks are decided as cases that each have ranks of their own."""

import functools
import textwrap

import pytest
import torch
from sweep import sweep

from autograder.engine import judge as judging
from autograder.engine import subject, torch_source
from autograder.engine.check import find, registry
from autograder.engine.exercise import fill, unplug
from autograder.engine.observe import difference
from autograder.engine.verdict import DISAGREED, PASSED, UNSTABLE
from rushlight.distributed import collectives
from rushlight.distributed import ranks as ranks_module

CHECK = "distributed.collectives.ring_shift"
RIGHT = """
rank, ranks = dist.get_rank(group), dist.get_world_size(group)
if ranks == 1:
    incoming.copy_(outgoing)
    return
work = dist.isend(outgoing, group=group, group_dst=after(rank, ranks))
dist.recv(incoming, group=group, group_src=(rank - 1) % ranks)
work.wait()
"""
IN_A_THIRD = {  # what an answer does in the calls of a rank after the first two
    "it raises": "raise ValueError('a third call')",
    "it waits for ever": "dist.recv(incoming, group=group, group_src=(dist.get_rank(group) - 1) % dist.get_world_size(group))",
    "the rank ends": "import os; os._exit(1)",
    "it is wrong": "return incoming.fill_(7)",
}


def answer(lines):
    """`ring_shift` with these lines before a right body."""
    text = "@functools.cache\ndef after(rank, ranks):\n    return (rank + 1) % ranks\n\n"
    text += "def ring_shift(outgoing, incoming, group=None):\n" + textwrap.indent(lines + RIGHT, "    ")
    space = {"dist": torch.distributed, "functools": functools, "seen": [], "__name__": "__main__"}
    exec(text, space)
    return space["ring_shift"]


@pytest.fixture
def started(monkeypatch):
    """How many ranks each call of `run_ranks` starts."""
    counts, run_ranks = [], ranks_module.run_ranks

    def counted(fn, n, *args, **limits):
        counts.append(n)
        return run_ranks(fn, n, *args, **limits)

    monkeypatch.setattr("rushlight.distributed.run_ranks", counted)
    yield counts


@pytest.fixture
def decide(judge, started, monkeypatch):
    """`decide(function)`: the verdict on this ring_shift, and how many ranks were started for its cases."""
    monkeypatch.setattr(judging, "SHRINK_SECONDS", 600.0)  # a busy machine would find another smallest case
    monkeypatch.setattr(judging, "SLOW_SECONDS", 600.0)  # or try fewer cases

    def decide(function):
        judge.drawn(find(CHECK))
        started.clear()
        fill(collectives.ring_shift, function)
        try:
            return judge.verdict(CHECK, subject.answer), [*started]
        finally:
            unplug(collectives.ring_shift)

    return decide


@pytest.mark.sweep
def test_a_right_answer_needs_ranks_for_the_first_case_and_for_the_others(decide):
    verdict, started = decide(answer(""))
    assert (verdict.outcome, started) == (PASSED, [2, 4])


@pytest.mark.sweep
@pytest.mark.parametrize("does", sweep([*IN_A_THIRD], keep=["the rank ends"]))
def test_what_an_answer_does_in_a_later_call_on_a_rank_does_not_count(decide, does):
    verdict, started = decide(
        answer(f"dist.calls = getattr(dist, 'calls', 0) + 1\nif dist.calls > 2: {IN_A_THIRD[does]}")
    )
    assert verdict.outcome == PASSED and len(started) > 2


@pytest.mark.sweep
def test_an_answer_that_fails_in_the_first_case_is_not_tried_on_shared_ranks(decide):
    verdict, started = decide(answer("return None"))
    assert verdict.outcome == DISAGREED and 4 in started
    verdict, started = decide(answer("raise ValueError"))
    assert verdict.outcome == DISAGREED and started[:2] == [2, 3]


@pytest.mark.sweep
def test_an_answer_that_is_wrong_by_chance_is_unstable_though_it_is_right_the_next_time(decide, tmp_path):
    once = f"""
import os
if outgoing.numel() == 2 and not os.path.exists({str(tmp_path / "once")!r}):
    open({str(tmp_path / "once")!r}, "w").close()
    outgoing = outgoing + 1
"""
    assert decide(answer(once))[0].outcome == UNSTABLE


@pytest.mark.sweep
def test_an_answer_that_sleeps_in_the_place_of_a_wait_is_refused_each_time(decide):
    sleeps = """
rank, ranks = dist.get_rank(group), dist.get_world_size(group)
if ranks > 1:
    send = dist.isend(outgoing, group=group, group_dst=(rank + 1) % ranks)
    dist.irecv(incoming, group=group, group_src=(rank - 1) % ranks)
    __import__("time").sleep(0.2)
    return send.wait()
"""
    assert decide(answer(sleeps))[0].outcome in (DISAGREED, UNSTABLE)


RELIES_ON_AN_EARLIER_CALL = {
    "a name": "if ranks > 1: globals()['right'] = rank + 1\nright + 1",
    "a counter": "seen.append(ranks)\nif seen == [3]: raise ValueError('the first call')",
}


@pytest.mark.sweep
@pytest.mark.parametrize("what", [*RELIES_ON_AN_EARLIER_CALL])
def test_a_call_finds_nothing_that_an_earlier_one_has_left(decide, what, monkeypatch):
    wrong = answer("rank, ranks = dist.get_rank(group), dist.get_world_size(group)\n" + RELIES_ON_AN_EARLIER_CALL[what])
    together, _ = decide(wrong)
    monkeypatch.setattr(subject, "for_cases", lambda program, xp, cases: [program] * len(cases))
    alone, _ = decide(wrong)
    assert (together.outcome, together.case, together.agreed) == (alone.outcome, alone.case, alone.agreed)


@pytest.mark.sweep
@pytest.mark.parametrize("kept", sweep(["dist.new_group()", "dist.group.WORLD"], every=2))
def test_a_group_may_be_kept_from_call_to_call(decide, kept):
    lines = f"if group is None:\n    seen.append({kept}); group = seen[0]"
    assert decide(answer(lines))[0].outcome == PASSED


MORE = "seen.append(dist.isend(outgoing, group=group, group_dst=(rank + 1) % ranks))"  # nobody receives it


@pytest.mark.sweep
@pytest.mark.parametrize("does", [*IN_A_THIRD.values(), MORE])
def test_a_wrong_answer_gets_the_verdict_that_it_gets_case_by_case(decide, does, monkeypatch):
    wrong = answer(
        f"if outgoing.numel() == 2:\n    rank, ranks = dist.get_rank(group), dist.get_world_size(group)\n    {does}"
    )
    together, _ = decide(wrong)
    monkeypatch.setattr(subject, "for_cases", lambda program, xp, cases: [program] * len(cases))
    alone, _ = decide(wrong)
    assert (together.outcome, together.case, together.agreed) == (DISAGREED, alone.case, alone.agreed)


# Predictions have hundreds of programs, and `test_predictions.py` tries some
TOGETHER = [
    name for name, check in registry().items() if hasattr(check.torch_program, "for_cases") and not check.is_drawn
]


@pytest.mark.sweep
@pytest.mark.parametrize("name", sweep(TOGETHER, keep=TOGETHER[:1]))
def test_torchs_answers_are_those_of_each_case_by_itself(judge, name, monkeypatch):
    check = find(name)
    cases, together = judge.drawn(check)
    monkeypatch.setattr(torch_source, "for_cases", lambda program, xp, cases: [program] * len(cases))
    alone = torch_source.answers(name, cases)
    assert not [*filter(None, map(difference, together, alone))]
