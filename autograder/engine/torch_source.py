"""torch itself as the source of cases and answers: Hypothesis draws the cases, and torch runs a check's program on them."""

from __future__ import annotations

import os
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from functools import lru_cache, partial
from types import ModuleType
from typing import Any

import hypothesis
from hypothesis import strategies as st
from hypothesis.configuration import set_hypothesis_home_dir
from hypothesis.internal.conjecture import providers

from . import devices

os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # read at import: torch's profiler keeps its log to itself
os.environ |= devices.ON_CPU
try:
    import torch
except ModuleNotFoundError:
    raise ModuleNotFoundError(
        f"there is no torch in {sys.executable}: `make -B setup` in the course's folder installs it; then begin with `make lab`",
        name="torch",
    ) from None

from ..course import cache_folder
from . import torch_dumps
from .check import Check, find, is_on_torch
from .observe import Tree, for_cases, has, is_error, observe_result
from .source import PendingCases, key_of
from .torch_side import OtherRounding, TorchSide, call_and_restore, make_up_devices

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

ROUNDINGS = 8  # of torch's answer, for a case that may be noise
CASES = 100  # drawn per check, besides its edges, unless the check says how many

_side = TorchSide()


def answers(name: str, cases: list[dict], rounding: int | None = None) -> list[Tree]:
    """Torch's observation of each case of a check, as it is, or with `OtherRounding` of this seed."""
    check = find(name)
    program = check.torch_program or check.program
    observe = observe_result if rounding is None else partial(_observe_rounded, rounding)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if is_on_torch(check.lab):
            programs = for_cases(program, torch, cases)
            seen = [call_and_restore(observe, program, _side, case) for program, case in zip(programs, cases)]
        else:
            seen = [observe(program, _side, case) for case in cases]
    broken = next((tree for tree in seen if _is_broken(check, tree)), None)
    if broken is not None:
        raise RuntimeError(f"the check's own side raised {broken['type']}: {broken['message']}")
    failed = next((tree for tree in seen if has(tree, "type", "RanksFailed")), None)
    if failed is not None:  # two failures are no agreement
        raise RuntimeError(f"torch's own ranks failed: {failed['message']}")
    return seen


def _observe_rounded(rounding: int, *given: Any) -> Tree:
    with OtherRounding(rounding):
        return observe_result(*given)


def _is_broken(check: Check, theirs: Tree) -> bool:
    """Whether torch's side of a check could not give an answer: a prediction has one for every program, and a module or a name
    that is missing is no answer."""
    return is_error(theirs) and (check.prediction or not {"ImportError", "NameError"}.isdisjoint(theirs["error"]))


class TorchSource:
    """Draws the cases of one seed. The same seed gives the same cases, and torch's answers are computed once."""

    note = ""

    def __init__(self, seed: int | None = None):
        self.seed = random.SystemRandom().getrandbits(64) if seed is None else seed
        self.pool = seed or 0  # the pool of texts that torch generates: notebooks share one
        self._pending: dict[str, PendingCases] = {}
        self._on_edges: dict[str, list[Tree]] = {}  # torch's answers, which do not depend on the seed
        torch.set_num_threads(1)
        # The first backward starts a thread for each device, and after that no fork can run backward. So it comes before the
        # devices that a build for CUDA makes up.
        torch.zeros((), requires_grad=True).backward()
        make_up_devices()

    def reseed(self) -> None:
        """Draw other cases from now on."""
        self.seed, self._pending = random.SystemRandom().getrandbits(64), {}

    def edges(self, check: Check) -> list[dict]:
        """The edges of a check."""
        return check.edges

    def begin(self, check: Check) -> PendingCases:
        """The cases of a check, edges first, while torch works out its answers."""
        if check.name not in self._pending:
            edges = {key_of(case): case for case in check.edges}
            others = {key_of(case): case for case in self.draw(check)}
            cases = [*edges.values(), *(case for key, case in others.items() if key not in edges)]
            known = self._on_edges.get(check.name, [])
            answered = self.ask(check, cases[len(known) :])

            def theirs() -> list[Tree]:
                try:
                    all_answers = known + answered()
                except BaseException:  # the next attempt may succeed
                    self._pending.pop(check.name, None)
                    raise
                self._on_edges[check.name] = all_answers[: len(edges)]
                return all_answers

            self._pending[check.name] = PendingCases(cases, theirs, len(edges))
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

    def ask(self, check: Check, cases: list[dict], **rounding: int) -> Callable[[], list[Tree]]:
        """Start computing torch's answers, and return a function that waits for them.

        They are computed in a thread, so that the subject, another process, works at the same time. If the oracle changes
        process-wide state of torch, they are computed in a process of their own.
        """
        if check.disposable:
            import torch._dynamo  # noqa: F401  (a first call under a mode imports it: here once instead of in every child)

        executor = ProcessPoolExecutor(1, torch_dumps.PROCESSES) if check.disposable else ThreadPoolExecutor(1)
        answered: Future[list[Tree]] = executor.submit(answers, check.name, cases, **rounding)
        executor.shutdown(wait=False)
        return answered.result

    def rounded(self, check: Check, case: dict) -> Iterator[Tree]:
        """Torch's answers to a case with other roundings. The first has the usual one, so it shows if torch answers at all so."""
        return (self.ask(check, [case], rounding=seed)()[0] for seed in range(1 + ROUNDINGS))

    def search(self, check: Check, differs: Callable[[dict], bool]) -> None:
        """Let Hypothesis look for a small case on which subject and torch differ."""
        # without the phase `explain`, which would trace the lines of a student's code
        phases = [hypothesis.Phase.generate, hypothesis.Phase.shrink]
        settings = _settings(phases=phases, max_examples=check.draws or CASES)
        stream = random.Random(f"{self.seed}/shrink/{check.name}")
        with suppress(hypothesis.errors.NoSuchExample, hypothesis.errors.Flaky):
            hypothesis.find(self._cases(check), differs, settings=settings, random=stream)

    def is_exact(self, check: Check) -> bool:
        """Whether the answers are those of an exact calculation without torch."""
        return not check.asks_torch

    def listing(self, check: Check, case: dict) -> str:
        """The case as code, if the check shows it so."""
        return check.show(torch, **case) if check.show else ""


def _settings(**chosen: Any) -> hypothesis.settings:
    return hypothesis.settings(
        database=None, deadline=None, suppress_health_check=list(hypothesis.HealthCheck), print_blob=False, **chosen
    )
