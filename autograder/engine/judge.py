"""The judge: holds torch, draws the cases, and decides.

The judge never runs a student's code. It sends cases to a *subject* through `ask(check name, cases)`, receives
observations as plain data, and compares them with torch's. On a disagreement Hypothesis looks for the smallest case on which
the two differ.

`python -m autograder.engine.judge` is the helper process of one notebook kernel, which is then the subject.
"""

from __future__ import annotations

import json
import math
import os
import random
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import islice
from types import ModuleType
from typing import Any, BinaryIO, NamedTuple

import hypothesis
from hypothesis import strategies as st
from hypothesis.configuration import set_hypothesis_home_dir
from hypothesis.internal.conjecture import providers

os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # read at import: torch's profiler keeps its log to itself
try:
    import torch
except ModuleNotFoundError:
    raise ModuleNotFoundError(
        f"there is no torch in {sys.executable}: `make -B setup` in the course's folder installs it; then begin with `make lab`",
        name="torch",
    ) from None

from ..checks.cases import field, first_apart
from ..course import cache_folder
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
from .observe import (
    CALCULATION,
    TORCH,
    Malformed,
    NotGraded,
    Readable,
    SubjectDied,
    SubjectTimedOut,
    Tree,
    accept,
    agreement,
    clean,
    clean_frames,
    difference,
    differences,
    for_cases,
    layouts,
    observe_call,
    raised_of,
    receive,
    result_of,
    send,
    show,
    show_marked,
)
from .torch_side import TorchSide, call_and_restore

set_hypothesis_home_dir(cache_folder() / "hypothesis")  # not in the student's folder
# Hypothesis also draws constants of the modules that this process has imported, but one seed must give the same cases everywhere
if not hasattr(providers, "_get_local_constants"):
    raise ImportError(
        f"hypothesis {hypothesis.__version__} has no `_get_local_constants`: `make -B setup` installs one that has"
    )
providers._get_local_constants = providers.Constants
# What `cases` gets. The strategies of a case are made while it is drawn, and `composite` reads a function's source each time
_strategies = ModuleType(st.__name__)
vars(_strategies).update(vars(st) | {"composite": lru_cache(maxsize=1000)(st.composite)})

CASES = 100  # drawn per check, besides its edges, unless the check says how many
SHRINK_SECONDS = 2.0
PORTION_SECONDS = 1.0  # of cases that are asked for at once, about: more are asked for if an answer takes less
PORTION_GROWTH = 4
SLOW_SECONDS = 30.0  # after which a slow answer is asked for no more drawn cases than `FEWEST`
FEWEST = 10
MAX_MARKED = 100  # differences between two results

Ask = Callable[[str, list[dict]], list[Tree]]
SecondChance = Callable[[Verdict], Verdict | None]


class PendingCases(NamedTuple):
    """The cases of a check, and a function that waits for torch's answers and returns them."""

    cases: list[dict]
    answers: Callable[[], list[Tree]]


@dataclass(frozen=True)
class Disagreement:
    """A case on which subject and torch differ, the observation of each, and the exception that left the student's function."""

    case: dict
    mine: Tree
    theirs: Tree
    raised: Tree = None

    @property
    def raises(self) -> bool:
        """Whether only the student's side raises. An exception with a line of the student's is the clearest evidence."""
        return _is_error(self.mine) and not _is_error(self.theirs)

    @property
    def ended(self) -> bool:
        """Whether the exception of the student's function ended the program."""
        return _is_error(self.mine) and isinstance(self.raised, dict) and self.raised.items() >= self.mine.items()

    @property
    def torch_raises_too(self) -> bool:
        """Whether torch has the exception of the student's function at each point of its answer where the student's has it."""
        names = self.raised.get("error") if isinstance(self.raised, dict) else None
        names = names[:1] if isinstance(names, list) else []
        mine = {path for name in names for path in _mentions(self.mine, name)}
        return bool(mine) and mine <= {path for name in names for path in _mentions(self.theirs, name)}

    def order(self) -> tuple:
        """A key that sorts the disagreements, the simplest to a person first."""
        return not self.raises, complexity(self.case), len(_key(self.case))


def _mentions(tree: Tree, name: str, path: tuple = ()) -> Iterator[tuple]:
    """The paths in an observation at which a program has noted that it caught an exception of this class."""
    match tree:
        case str() if tree in (name, f"raises {name}"):
            yield path
        case dict() | list():
            for key, item in tree.items() if isinstance(tree, dict) else enumerate(tree):
                yield from _mentions(item, name, (*path, key))


_PLAIN_DTYPES = ("float32", "int64")


def complexity(tree: Tree) -> tuple[float, ...]:
    """How hard a case is to read, the most important part first: empty tensors, elements and lines of text, dimensions, storage
    offsets, strides that are not contiguous, unusual dtypes, and the sizes of numbers."""
    match tree:
        case {"tensor": {"sizes": sizes, "strides": strides, "offset": offset, "dtype": dtype}}:
            steps = [step for size, step in zip(sizes, strides) if size != 1]
            plain = [math.prod(max(size, 1) for size in sizes[i + 1 :]) for i, size in enumerate(sizes) if size != 1]
            odd = (offset != 0, steps != plain, dtype not in _PLAIN_DTYPES)
            return (0 in sizes, math.prod(sizes), len(sizes), *odd, 0)
        case {"dtype": dtype}:
            return (0, 1, 0, 0, 0, dtype not in _PLAIN_DTYPES, 0)
        case dict() | list() | tuple():
            items = tree.values() if isinstance(tree, dict) else tree
            return tuple(map(sum, zip(*map(complexity, items)))) or (0,) * 7
        case int() | float():
            return (0, 1, 0, 0, 0, 0, min(1e300, abs(tree)))  # also for nan
        case str():
            return (0, 1 + tree.count("\n"), 0, 0, 0, 0, 0)
        case _:
            return (0, 1, 0, 0, 0, 0, 0)


Known = dict[str, Disagreement | None]  # by case, as a key: None if subject and torch agree on it

_side = TorchSide()


def answers(name: str, cases: list[dict]) -> list[Tree]:
    """Torch's observation of each case of a check."""
    check = find(name)
    program = check.reference or check.subject
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if is_bench(check.lab):
            programs = for_cases(program, torch, cases)
            seen = [call_and_restore(observe_call, program, _side, case) for program, case in zip(programs, cases)]
        else:
            seen = [observe_call(program, _side, case) for case in cases]
    broken = next((tree for tree in seen if _is_broken(check, tree)), None)
    if broken is not None:
        raise RuntimeError(f"the check's own side raised {broken['type']}: {broken['message']}")
    failed = next((tree for tree in seen if _has(tree, "type", "RanksFailed")), None)
    if failed is not None:  # two failures are no agreement
        raise RuntimeError(f"torch's own ranks failed: {failed['message']}")
    return seen


def _is_broken(check: Check, theirs: Tree) -> bool:
    """Whether torch's side of a check could not give an answer: a prediction has one for every program, and a module or a name
    that is missing is no answer."""
    return _is_error(theirs) and (check.prediction or not {"ImportError", "NameError"}.isdisjoint(theirs["error"]))


class Judge:
    """Decides checks on the cases of one seed.

    The same seed gives the same cases, so one judge grades a whole class alike; torch's answers are computed once.
    """

    def __init__(self, seed: int | None = None):
        self.seed = random.SystemRandom().getrandbits(64) if seed is None else seed
        self.pool = seed or 0  # the pool of texts that torch generates: notebooks share one
        self._pending: dict[str, PendingCases] = {}
        self._on_edges: dict[str, list[Tree]] = {}  # torch's answers, which do not depend on the seed
        torch.set_num_threads(1)
        os.environ["RUSHLIGHT_DEVICE"] = "cpu"  # a verdict does not depend on this machine's GPUs
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
        # The first backward starts a thread for each device, and after that no fork can run backward. A build for CUDA without
        # a GPU has no device yet: the first fake tensor makes up eight.
        torch.zeros((), requires_grad=True).backward()

    def reseed(self) -> None:
        """Draw other cases from now on."""
        self.seed, self._pending = random.SystemRandom().getrandbits(64), {}

    def verdict(self, name: str, ask: Ask, second_chance: SecondChance | None = None) -> Verdict:
        """Decide one check. Every way in which a subject can fail has an outcome; only NotGraded is raised.

        A disagreement is explained by its smallest case, unless `second_chance(verdict)` returns another verdict.
        """
        verdict = self._timed(
            name, lambda check: self._decide(check, check.edges[:1], lambda: self.begin(check), ask, second_chance)
        )
        if second_chance is not None and verdict.outcome in (TIMED_OUT, DIED, MALFORMED):
            return second_chance(verdict) or verdict
        return verdict

    def replay(self, name: str, case: dict, ask: Ask) -> Verdict:
        """Decide one check on one given case, and explain that case."""

        def begin(check: Check) -> PendingCases:
            return PendingCases([case], self._ask_torch(check, [case]))

        return self._timed(
            name, lambda check: self._decide(check, [case], lambda: begin(check), ask, None, shrink=False)
        )

    def _timed(self, name: str, decide: Callable[[Check], Verdict]) -> Verdict:
        start = time.perf_counter()
        try:
            verdict = decide(find(name))
        except (SubjectTimedOut, SubjectDied) as error:
            verdict = Verdict(name, TIMED_OUT if isinstance(error, SubjectTimedOut) else DIED, message=str(error))
            self._explain_end(verdict, find(name), error)
        except Malformed as error:
            verdict = Verdict(name, MALFORMED, message=str(error))
        except NotGraded:
            raise
        except Exception as error:
            verdict = Verdict(
                name, GRADER_ERROR, message=f"{type(error).__name__}: {error}; this is not the student's fault"
            )
        verdict.message, verdict.hint = clean(verdict.message), clean(verdict.hint)
        verdict.seconds = time.perf_counter() - start
        return verdict

    def drawn(self, check: Check) -> tuple[list[dict], list[Tree]]:
        """The cases of a check, edges first, and torch's answers."""
        cases, theirs = self.begin(check)
        return cases, theirs()

    def begin(self, check: Check) -> PendingCases:
        """The cases of a check, edges first, while torch works out its answers."""
        if check.name not in self._pending:
            edges = {_key(case): case for case in check.edges}
            others = {_key(case): case for case in self.draw(check)}
            cases = [*edges.values(), *(case for key, case in others.items() if key not in edges)]
            known = self._on_edges.get(check.name, [])
            answered = self._ask_torch(check, cases[len(known) :])

            def theirs() -> list[Tree]:
                try:
                    all_answers = known + answered()
                except BaseException:  # the next attempt may succeed
                    self._pending.pop(check.name, None)
                    raise
                self._on_edges[check.name] = all_answers[: len(edges)]
                return all_answers

            self._pending[check.name] = PendingCases(cases, theirs)
        return self._pending[check.name]

    def draw(self, check: Check) -> list[dict]:
        """The cases of a check that depend on the seed: not the first that Hypothesis draws, which is the simplest one, always."""
        drawn: list[dict] = []

        @hypothesis.seed(f"{self.seed}/{check.name}")
        @_settings(phases=[hypothesis.Phase.generate], max_examples=1 + (check.draws or CASES))
        @hypothesis.given(self._cases(check))
        def collect(case):
            drawn.append(case)

        collect()
        return drawn[1:]

    def _cases(self, check: Check) -> Any:
        torch_dumps.seed = self.pool
        return check.cases(_strategies)

    def answer(self, check: Check, case: dict) -> Tree:
        return self.answers(check, [case])[0]

    def answers(self, check: Check, cases: list[dict]) -> list[Tree]:
        return self._ask_torch(check, cases)()

    def _ask_torch(self, check: Check, cases: list[dict]) -> Callable[[], list[Tree]]:
        """Start computing torch's answers, and return a function that waits for them.

        They are computed in a thread, so that the subject, another process, works at the same time. If the oracle changes
        process-wide state of torch, they are computed in a process of their own.
        """
        if check.disposable:
            import torch._dynamo  # noqa: F401  (a first call under a mode imports it: here once instead of in every child)

        executor = ProcessPoolExecutor(1, torch_dumps.PROCESSES) if check.disposable else ThreadPoolExecutor(1)
        answered: Future[list[Tree]] = executor.submit(answers, check.name, cases)
        executor.shutdown(wait=False)
        return answered.result

    def _decide(
        self,
        check: Check,
        first: list[dict],
        begin: Callable[[], PendingCases],
        ask: Ask,
        second_chance: SecondChance | None,
        shrink: bool = True,
    ) -> Verdict:
        """Ask for the `first` cases, and for the others of `begin()` unless the exercise is not attempted."""
        observed = _ask(ask, check, first)
        if observed and _has(observed[0], "type", "NotAttempted"):
            return Verdict(check.name, NOT_ATTEMPTED, message=_safely(lambda tree: tree["message"], observed[0]))
        cases, wait_for_answers = begin()
        try:
            observed += _observe(ask, check, cases[len(first) :])
        finally:  # also if the subject has died: torch answers one request at a time
            answers = wait_for_answers()
        tried = cases[: len(observed)]
        known = {_key(pair[0]): _compare(*pair) for pair in zip(tried, observed, answers)}
        if hasattr(check.subject, "for_cases"):
            self._decide_alone(check, known, tried[len(first) :], dict(zip(map(_key, tried), answers)), ask)
        failing = sum(disagreement is not None for disagreement in known.values())
        verdict = Verdict(check.name, PASSED, cases=len(tried), agreed=len(tried) - failing, exact=not check.asks_torch)
        if len(tried) < len(cases):
            verdict.notes = [f"it is slow: {len(tried)} of {len(cases)} cases were tried, and its speed costs nothing"]
        return self._decide_failure(verdict, check, known, ask, second_chance, shrink) if failing else verdict

    def _decide_alone(
        self, check: Check, known: Known, together: list[dict], answers: dict[str, Tree], ask: Ask
    ) -> None:
        """Ask again for the cases that disagree, each by itself, the simplest first, until one still does: cases that run
        `together` may disagree because of what an earlier one has left behind. This comes up each time that they run so. If it
        does not, the answer is right by chance, and a case that disagreed once does disagree."""

        def compared(case: dict, mine: Tree) -> Disagreement | None:
            return _compare(case, mine, answers[_key(case)])

        before = {key: disagreement for key, disagreement in known.items() if disagreement}
        while any(known.values()):
            case = _simplest(known).case
            known[_key(case)] = compared(case, _ask(ask, check, [case])[0])
            if known[_key(case)]:
                return
        if before:
            second = {_key(case): compared(case, mine) for case, mine in zip(together, _ask(ask, check, together))}
            known |= {key: disagreement for key, disagreement in before.items() if second.get(key) is None}

    def _decide_failure(
        self,
        verdict: Verdict,
        check: Check,
        known: Known,
        ask: Ask,
        second_chance: SecondChance | None,
        shrink: bool,
    ) -> Verdict:
        """The verdict on a check that fails on some of the known cases."""
        simplest = _simplest(known)
        second = result_of(_ask(ask, check, [simplest.case])[0])
        changed = _key(second) != _key(simplest.mine) and difference(
            second, simplest.mine
        )  # another wording is no other result
        verdict.outcome = UNSTABLE if changed else DISAGREED
        if second_chance is not None and (other := second_chance(verdict)) is not None:
            return other
        if changed:
            self._explain_instability(verdict, check, simplest, second)
            return verdict
        is_missing = _has(simplest.mine, "error", ["NotImplementedError"])  # there a smaller case explains no more
        if shrink and not is_missing:
            simplest = self._shrink(check, simplest, known, ask)
        self._explain(verdict, check, simplest)
        return verdict

    def _shrink(self, check: Check, first: Disagreement, known: Known, ask: Ask) -> Disagreement:
        """Return the simplest disagreement that comes up in the time allowed. If only the student's side raises in the `first`
        one, then also in the result.

        Hypothesis only proposes cases. Each one that subject and torch have answered is in `known`, and the result is the minimum
        of `known`, in an order for persons (`Disagreement.order`). So the result is never worse than `first`, wherever the search
        ends, and it may be simpler than Hypothesis's own, which is minimal in the number of draws. Hypothesis needs a predicate
        that gives the same answer for the same case. `known` provides this, even if the student's code depends on chance.
        """
        deadline, limit = time.perf_counter() + SHRINK_SECONDS, len(known) + (check.draws or math.inf)

        def differs(candidate: dict) -> bool:
            key = _key(candidate)
            if time.perf_counter() > deadline or key not in known and len(known) >= limit:
                raise ShrinkTimeout
            if key not in known:
                try:
                    (mine,) = _ask(ask, check, [candidate])
                except (SubjectTimedOut, SubjectDied):  # there is a case already, and the next one might take as long
                    raise ShrinkTimeout from None
                known[key] = _compare(candidate, mine, self.answer(check, candidate))
            disagreement = known[key]
            return disagreement is not None and disagreement.raises >= first.raises

        with suppress(hypothesis.errors.NoSuchExample, hypothesis.errors.Flaky, ShrinkTimeout):
            # without the phase `explain`, which would trace the lines of a student's code
            phases = [hypothesis.Phase.generate, hypothesis.Phase.shrink]
            settings = _settings(phases=phases, max_examples=check.draws or CASES)
            stream = random.Random(f"{self.seed}/shrink/{check.name}")
            hypothesis.find(self._cases(check), differs, settings=settings, random=stream)
        return _simplest(known)

    def _explain(self, verdict: Verdict, check: Check, disagreement: Disagreement) -> None:
        self._describe(verdict, check, disagreement)
        origin = CALCULATION if verdict.exact else TORCH
        if check.prediction:
            parts = [agreement(disagreement.mine, disagreement.theirs, origin)]
        else:
            parts = [*islice(differences(disagreement.mine, disagreement.theirs, origin), MAX_MARKED)]
        paths = {part.path for part in parts}
        verdict.message = parts[0].words
        verdict.mine, verdict.mine_marks = _safely(
            partial(show_marked, paths=paths), disagreement.mine, (_UNREADABLE, [])
        )
        if not check.prediction:
            verdict.theirs_marks = show_marked(disagreement.theirs, paths)[1]
            verdict.layouts = _safely(
                partial(layouts, theirs=disagreement.theirs, differing=parts), disagreement.mine, []
            )
        if disagreement.raised is not None and (disagreement.ended or not disagreement.torch_raises_too):
            verdict.frames = clean_frames(disagreement.raised)
            if not disagreement.ended:
                verdict.raised = _safely(
                    partial(_show_caught, went_on=not _is_error(disagreement.mine)), disagreement.raised
                )
        undefined = _safely(_undefined_name, disagreement.raised or disagreement.mine)
        verdict.hint = undefined or _hint(check, disagreement) or ""

    def _explain_instability(self, verdict: Verdict, check: Check, disagreement: Disagreement, second: Tree) -> None:
        self._describe(verdict, check, disagreement)
        verdict.message = (
            "the same case gave two different results: the answer depends on something besides its arguments, "
            "or it uses what it has not waited for"
        )
        verdict.mine = f"{_safely(show, disagreement.mine)}\nand then\n{_safely(show, second)}"

    def _explain_end(self, verdict: Verdict, check: Check, error: SubjectTimedOut | SubjectDied) -> None:
        """Show the case on which the subject ended, if there is one."""
        if error.case is not None:
            with suppress(Exception):  # torch's answer may be what failed
                self._describe(verdict, check, Disagreement(error.case, None, self.answer(check, error.case)))
                verdict.mine = "(no result)"

    def _describe(self, verdict: Verdict, check: Check, disagreement: Disagreement) -> None:
        """The case, the programs, and torch's answer."""
        verdict.case, verdict.program = check.in_order(disagreement.case), source(check.subject)
        with suppress(Exception):  # a case without a listing is shown as data
            verdict.listing = check.show(torch, **disagreement.case) if check.show else ""
        reference = check.reference if check.asks_torch and not check.prediction else None
        verdict.oracle = source(reference) if reference else ""
        verdict.theirs = "" if check.prediction else show(disagreement.theirs)


class ShrinkTimeout(BaseException):
    """Ends the search for a smaller case. It is no Exception, because Hypothesis takes an Exception for a failing case."""


def _observe(ask: Ask, check: Check, cases: list[dict]) -> list[Tree]:
    """Ask for the observations of cases, in portions: a limit of time is for one case, and the time of all decides nothing.

    A portion that does not come back is asked for case by case, which shows the case at fault. Cases that run on the same ranks
    are one portion. An answer that is slow gets all edges and at least `FEWEST` of the drawn cases: so many are observed.
    """
    observed: list[Tree] = []
    needed, deadline = len(check.edges) + FEWEST, time.perf_counter() + SLOW_SECONDS
    size = len(cases) if hasattr(check.subject, "for_cases") else PORTION_GROWTH
    singly, died = False, None
    while len(observed) < len(cases) and (len(observed) < needed or time.perf_counter() < deadline):
        begun, portion = time.perf_counter(), cases[len(observed) :][: 1 if singly else size]
        try:
            observed += _ask(ask, check, portion)
        except (SubjectTimedOut, SubjectDied) as error:
            if len(portion) == 1:
                raise
            singly, died = True, error if isinstance(error, SubjectDied) else died
        else:
            is_fast = time.perf_counter() < begun + PORTION_SECONDS
            size = size * PORTION_GROWTH if is_fast else max(1, size // PORTION_GROWTH)
    if died is not None:  # though on no case alone
        raise died
    return observed


def _ask(ask: Ask, check: Check, cases: list[dict]) -> list[Tree]:
    try:
        observed = ask(check.name, cases)
    except (SubjectTimedOut, SubjectDied) as error:
        error.case = cases[0] if len(cases) == 1 else None
        raise
    if not isinstance(observed, list) or len(observed) != len(cases):
        raise Malformed(f"asked for {len(cases)} observations, received something else")
    return observed


def _simplest(known: Known) -> Disagreement:
    return min(filter(None, known.values()), key=Disagreement.order)


def _is_error(tree: Tree) -> bool:
    return isinstance(tree, dict) and "error" in tree


def _compare(case: dict, mine: Tree, theirs: Tree) -> Disagreement | None:
    return Disagreement(case, result_of(mine), theirs, raised_of(mine)) if difference(mine, theirs) else None


def _settings(**chosen: Any) -> hypothesis.settings:
    return hypothesis.settings(
        database=None, deadline=None, suppress_health_check=list(hypothesis.HealthCheck), print_blob=False, **chosen
    )


def _key(tree: Tree) -> str:
    return json.dumps(tree, sort_keys=True, default=repr)


def _has(observed: Tree, key: str, value: Tree) -> bool:
    return isinstance(observed, dict) and observed.get(key) == value


def _hint(check: Check, disagreement: Disagreement) -> str | None:
    if _safely(partial(first_apart, disagreement.mine), disagreement.theirs) == "beyond":
        called = field(disagreement.mine, "beyond")
        names = ", ".join(name for name in called if isinstance(name, str)) if isinstance(called, list) else ""
        return f"it calls {names or 'something'}, which the contract does not allow: the contract names what the body may call"
    if isinstance(check.hint, str):  # of results; an exception says itself what is wrong, but not why ranks wait
        return None if disagreement.raises and not _has(disagreement.mine, "type", "RanksFailed") else check.hint
    return (
        _safely(partial(check.hint, disagreement.case, disagreement.mine), disagreement.theirs) if check.hint else None
    )


def _undefined_name(mine: Tree) -> str | None:
    """A hint for a NameError: most often the notebook was run out of order."""
    if isinstance(mine, dict) and mine.get("error", [])[:1] == ["NameError"]:
        return (
            f"{mine['message']}: if a cell above defines it, run that first, or import it in a cell. "
            "Then run the exercise's cell and this one again"
        )
    return None


def _show_caught(raised: Tree, went_on: bool) -> str:
    return f"your function raised {show(raised)}{', and the program went on' * went_on}"


_UNREADABLE = "(not an observation)"


def _safely(render: Callable[[Tree], Any], tree: Tree, otherwise: Any = _UNREADABLE) -> Any:
    """Render an observation of a subject, which may have any form."""
    try:
        return render(tree)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        return otherwise


def serve(source: Readable, target: BinaryIO, any_case: bool = True) -> None:
    """Serve one kernel: it names a check, is asked for observations, and receives a verdict, until the end of the stream.

    A case may hold a program, which then runs here. Without `any_case` only a case that has been shown is replayed.
    """
    judge, shown = Judge(), set()

    def ask(name: str, cases: list[dict]) -> list[Tree]:
        send(target, {"ask": cases})
        reply = receive(source)
        if "timed out" in reply:
            raise SubjectTimedOut(reply["timed out"])
        accept(reply["observed"])
        return reply["observed"]

    while True:
        try:
            message = receive(source)
        except EOFError:
            return
        if message.get("case") is None:
            judge.reseed()
            verdict = judge.verdict(message["check"], ask)
        elif any_case or _key([message["check"], message["case"]]) in shown:
            verdict = judge.replay(message["check"], message["case"], ask)
        else:
            return
        shown.add(_key([verdict.check, verdict.case]))
        send(target, {"verdict": verdict.as_dict()})


def main() -> None:
    """Serve one kernel on standard input and output."""
    kernel, target = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # printed text is no message
    serve(kernel, target)


if __name__ == "__main__":
    main()
