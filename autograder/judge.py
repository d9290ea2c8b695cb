"""The judge: holds torch, draws the cases, and decides.

The judge never runs a student's code. It sends cases to a *subject* through `ask(check name, cases)`, receives
observations as plain data, and compares them with what torch shows. On a disagreement it lets Hypothesis look for the
smallest case on which the two differ.

Run as `python -m autograder.judge` it is the helper of one notebook kernel, which is then the subject.
"""

from __future__ import annotations

import json
import math
import multiprocessing
import random
import sys
import time
import warnings
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any

import hypothesis
from hypothesis import strategies as st
from hypothesis.configuration import set_hypothesis_home_dir
from hypothesis.internal.conjecture import providers

try:
    import torch
except ModuleNotFoundError:
    raise ModuleNotFoundError(
        f"there is no torch in {sys.executable}: `make -B setup` in the course's folder installs it; then begin with `make lab`",
        name="torch",
    ) from None

from . import torch_dumps
from .check import (
    DIED,
    DISAGREED,
    GRADER_ERROR,
    MALFORMED,
    NOT_ATTEMPTED,
    PASSED,
    TIMED_OUT,
    UNSTABLE,
    Check,
    Verdict,
    find,
    is_bench,
    source,
)
from .course import cache_folder
from .observe import (
    Malformed,
    SubjectDied,
    SubjectTimedOut,
    Tree,
    difference,
    observe_call,
    receive,
    send,
    show,
)
from .torch_side import TorchSide, apart

set_hypothesis_home_dir(cache_folder() / "hypothesis")  # not in the student's folder
# Hypothesis mixes in constants of whatever modules this process has imported; but one seed is the same cases everywhere.
providers._get_local_constants = providers.Constants

CASES = 100  # drawn per check, besides its edges, unless the check says how many
SHRINK_SECONDS = 2.0

Ask = Callable[[str, list[dict]], list[Tree]]
Otherwise = Callable[[Verdict], Verdict | None]
Begun = tuple[list[dict], Callable[[], list[Tree]]]  # cases, and a wait for torch's answers


# A fork has torch loaded already. (No thread of the judge's holds anything that a child could wait for.)
_CHILDREN = multiprocessing.get_context("fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn")


_side = TorchSide()


def answers(name: str, cases: list[dict]) -> list[Tree]:
    """What torch shows on each case of a check."""
    check = find(name)
    program = check.reference or check.subject
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if not is_bench(check.lab):
            return [observe_call(program, _side, case) for case in cases]
        seen = [apart(observe_call, program, _side, case) for case in cases]
    failed = next((tree for tree in seen if _has(tree, "type", "RanksFailed")), None)
    if failed is not None:  # two that fail are not two that agree
        raise RuntimeError(f"torch's own ranks failed: {failed['message']}")
    return seen


class Judge:
    """Decides checks on the cases of one seed.

    The same seed gives the same cases, so one judge grades a whole class alike; torch's answers are computed once.
    """

    def __init__(self, seed: int | None = None):
        self.seed = random.SystemRandom().getrandbits(64) if seed is None else seed
        self.pool = seed or 0  # of the texts that torch generates: notebooks share one
        self._begun: dict[str, Begun] = {}
        self._on_edges: dict[str, list[Tree]] = {}  # torch's answers, which no seed changes
        torch.set_num_threads(1)

    def verdict(self, name: str, ask: Ask, otherwise: Otherwise | None = None) -> Verdict:
        """Decide one check. Never raises for what a subject does; every way to fail has a name.

        A disagreement is explained by its smallest case, unless `otherwise(verdict)` returns a verdict: then that one stands.
        """
        return self._timed(
            name, lambda check: self._decide(check, check.edges[:1], lambda: self.begin(check), ask, otherwise)
        )

    def replay(self, name: str, case: dict, ask: Ask) -> Verdict:
        """Decide one check on one given case."""
        return self._timed(
            name, lambda check: self._decide(check, [case], lambda: ([case], self._ask_torch(check, [case])), ask, None)
        )

    def _timed(self, name: str, decide: Callable[[Check], Verdict]) -> Verdict:
        start = time.perf_counter()
        try:
            verdict = decide(find(name))
        except SubjectTimedOut as error:
            verdict = Verdict(name, TIMED_OUT, message=str(error))
        except SubjectDied as error:
            verdict = Verdict(name, DIED, message=str(error))
        except Malformed as error:
            verdict = Verdict(name, MALFORMED, message=str(error))
        except Exception as error:
            verdict = Verdict(
                name, GRADER_ERROR, message=f"{type(error).__name__}: {error}; this is not the student's fault"
            )
        verdict.seconds = time.perf_counter() - start
        return verdict

    def drawn(self, check: Check) -> tuple[list[dict], list[Tree]]:
        """The cases of a check, edges first, and torch's answers."""
        cases, theirs = self.begin(check)
        return cases, theirs()

    def begin(self, check: Check) -> Begun:
        """The cases of a check, edges first, while torch works out its answers: a function waits for those, and returns them."""
        if check.name not in self._begun:
            edges = {_key(case): case for case in check.edges}
            others = {_key(case): case for case in self._draw(check)}
            cases = [*edges.values(), *(case for key, case in others.items() if key not in edges)]
            known = self._on_edges.get(check.name, [])
            answered = self._ask_torch(check, cases[len(known) :])

            def theirs() -> list[Tree]:
                try:
                    found = known + answered()
                except BaseException:  # it may not happen again
                    self._begun.pop(check.name, None)
                    raise
                self._on_edges[check.name] = found[: len(edges)]
                return found

            self._begun[check.name] = cases, theirs
        return self._begun[check.name]

    def _draw(self, check: Check) -> list[dict]:
        drawn: list[dict] = []

        @hypothesis.seed(f"{self.seed}/{check.name}")
        @_settings(phases=[hypothesis.Phase.generate], max_examples=check.draws or CASES)
        @hypothesis.given(self._cases(check))
        def collect(case):
            drawn.append(case)

        collect()
        return drawn

    def _cases(self, check: Check) -> Any:
        torch_dumps.seed = self.pool
        return check.cases(st)

    def answer(self, check: Check, case: dict) -> Tree:
        return self.answers(check, [case])[0]

    def answers(self, check: Check, cases: list[dict]) -> list[Tree]:
        return self._ask_torch(check, cases)()

    def _ask_torch(self, check: Check, cases: list[dict]) -> Callable[[], list[Tree]]:
        """Begin with torch's answers, and return at once. In a thread, so that a subject, which is another process, works
        meanwhile; in a process of their own if the oracle changes what all of torch shares."""
        if check.disposable:
            import torch._dynamo  # noqa: F401  (a first call under a mode imports it: once here, and not in every child)

        beside = ProcessPoolExecutor(1, _CHILDREN) if check.disposable else ThreadPoolExecutor(1)
        answered: Future[list[Tree]] = beside.submit(answers, check.name, cases)
        beside.shutdown(wait=False)
        return answered.result

    def _decide(
        self,
        check: Check,
        first: list[dict],
        begin: Callable[[], Begun],
        ask: Ask,
        otherwise: Otherwise | None,
    ) -> Verdict:
        """Ask for the `first` cases, and if there is an answer for the others; `begin` gives all of them, and torch's answers."""
        observed = _ask(ask, check, first)
        if observed and _has(observed[0], "type", "NotAttempted"):
            return Verdict(check.name, NOT_ATTEMPTED, message=_safely(lambda tree: tree["message"], observed[0]))
        cases, theirs = begin()
        try:
            observed = [*observed, *_ask(ask, check, cases[len(first) :])]
        finally:  # also where the subject has died: torch is asked one thing at a time
            answers = theirs()
        failing = [i for i, pair in enumerate(zip(observed, answers, strict=True)) if difference(*pair)]
        verdict = Verdict(check.name, PASSED, cases=len(cases), agreed=len(cases) - len(failing))
        if not failing:
            return verdict
        smallest = min(failing, key=lambda i: len(_key(cases[i])))
        again = _ask(ask, check, [cases[smallest]])[0]
        if _key(again) != _key(observed[smallest]) and difference(again, observed[smallest]):  # words alone may differ
            verdict.outcome = UNSTABLE
            verdict.message = (
                "the same case gave two different results: the answer depends on something besides its arguments, "
                "or it uses what it has not waited for"
            )
            self._describe(verdict, check, cases[smallest])
            once, then = (_safely(show, each) for each in (observed[smallest], again))
            verdict.mine = f"{once}\nand then\n{then}"
            return verdict
        verdict.outcome = DISAGREED
        if otherwise is not None and (other := otherwise(verdict)) is not None:
            return other
        unwritten = _has(observed[smallest], "error", ["NotImplementedError"])  # the size of the case has no part in it
        self._explain(verdict, check, cases[smallest] if unwritten else self._shrink(check, cases[smallest], ask), ask)
        return verdict

    def _shrink(self, check: Check, case: dict, ask: Ask) -> dict:
        """The smallest case found, within the time allowed, on which the two still differ; `case` if none is smaller."""
        deadline = time.perf_counter() + SHRINK_SECONDS
        known: dict[str, bool] = {}
        smallest = case

        def differs(candidate: dict) -> bool:
            nonlocal smallest
            key = _key(candidate)
            if time.perf_counter() > deadline or key not in known and len(known) >= (check.draws or math.inf):
                raise _Enough
            if key not in known:
                known[key] = bool(difference(_ask(ask, check, [candidate])[0], self.answer(check, candidate)))
                if known[key]:
                    smallest = min(smallest, candidate, key=lambda case: len(_key(case)))
            return known[key]

        with suppress(hypothesis.errors.NoSuchExample, hypothesis.errors.Flaky, _Enough):
            settings = _settings(max_examples=check.draws or CASES)
            found = hypothesis.find(self._cases(check), differs, settings=settings, random=random.Random(self.seed))
            return min(found, case, key=lambda case: len(_key(case)))
        return smallest

    def _explain(self, verdict: Verdict, check: Check, case: dict, ask: Ask) -> None:
        mine, theirs = _ask(ask, check, [case])[0], self.answer(check, case)
        self._describe(verdict, check, case)
        verdict.message = difference(mine, theirs) or "not always the same thing"
        verdict.mine = _safely(show, mine)
        hint = _safely(partial(check.hint, case, mine), theirs) if check.hint else None
        verdict.hint = _safely(_undefined, mine) or hint or ""

    def _describe(self, verdict: Verdict, check: Check, case: dict) -> None:
        """What was run, on which case, and what torch shows."""
        verdict.case, verdict.program = check.in_order(case), source(check.subject)
        verdict.oracle = source(check.reference) if check.reference else ""
        verdict.theirs = show(self.answer(check, case))


class _Enough(BaseException):
    """No more time to look for a smaller case. No Exception, which Hypothesis would take for a failing case."""


def _ask(ask: Ask, check: Check, cases: list[dict]) -> list[Tree]:
    observed = ask(check.name, cases)
    if not isinstance(observed, list) or len(observed) != len(cases):
        raise Malformed(f"asked for {len(cases)} observations, received something else")
    return observed


def _settings(**chosen: Any) -> hypothesis.settings:
    return hypothesis.settings(
        database=None, deadline=None, suppress_health_check=list(hypothesis.HealthCheck), print_blob=False, **chosen
    )


def _key(tree: Tree) -> str:
    return json.dumps(tree, sort_keys=True, default=repr)


def _has(observed: Tree, key: str, value: Tree) -> bool:
    return isinstance(observed, dict) and observed.get(key) == value


def _undefined(mine: Tree) -> str | None:
    """A word on a name that is not there: most often the notebook was run out of order."""
    if isinstance(mine, dict) and mine.get("error", [])[:1] == ["NameError"]:
        return f"{mine['message']}: if a cell above defines it, run that first, and then the exercise's cell and this one again"
    return None


def _safely(render: Callable[[Tree], str | None], tree: Tree) -> str | None:
    """Render what came from a subject: what cannot be read is said to be so."""
    try:
        return render(tree)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        return "(not an observation)"


def main() -> None:
    """Serve one kernel on standard input and output: it names a check, is asked for observations, receives a verdict."""
    kernel, target = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # what is printed here is not a message
    judge = Judge()

    def ask(name: str, cases: list[dict]) -> list[Tree]:
        send(target, {"ask": cases})
        return receive(kernel)["observed"]

    while True:
        try:
            message = receive(kernel)
        except EOFError:
            return
        if message.get("case") is None:
            judge.seed, judge._begun = random.SystemRandom().getrandbits(64), {}  # other cases each time
            verdict = judge.verdict(message["check"], ask)
        else:
            verdict = judge.replay(message["check"], message["case"], ask)
        send(target, {"verdict": verdict.as_dict()})


if __name__ == "__main__":
    main()
