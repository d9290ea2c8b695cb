"""Where a judge's cases come from, and torch's answers to them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from importlib import metadata
from typing import NamedTuple, Protocol

from rushlight.backends import PYTORCH

from ..language import phrase
from .check import Check
from .observe import Tree

NOT_IN_A_PAGE = phrase("there is no torch in this page: torch's answers come from recordings")


def key_of(tree: Tree) -> str:
    """A tree as text, the same for equal ones."""
    return json.dumps(tree, sort_keys=True, default=repr)


def other_torch() -> str:
    """Say which version of torch the course needs, if another one is installed. Empty if this one is, or none."""
    try:
        needed, here = (".".join(version.split(".")[:2]) for version in (PYTORCH, metadata.version("torch")))
    except metadata.PackageNotFoundError:
        return ""
    return "" if needed == here else phrase(f"needs torch {needed} ({here} is here)")


class PendingCases(NamedTuple):
    """The cases of a check, a function that waits for torch's answers, and how many of the cases, the first ones, are edges."""

    cases: list[dict]
    answers: Callable[[], list[Tree]]
    edges: int


class Source(Protocol):
    """Where the cases of a check come from, and torch's answers to them."""

    note: str  # what each verdict says about them, or nothing

    def reseed(self) -> None:
        """Draw other cases from now on, if cases are drawn."""

    def edges(self, check: Check) -> list[dict]:
        """The edges of a check. A judge asks here, because torch may make them."""

    def draw(self, check: Check) -> list[dict]:
        """The cases of a check that are not edges."""

    def begin(self, check: Check) -> PendingCases:
        """All cases of a check, while torch works out its answers."""

    def ask(self, check: Check, cases: list[dict]) -> Callable[[], list[Tree]]:
        """Start to compute torch's answers, and return a function that waits for them. It raises NotRecorded if there is none."""

    def rounded(self, check: Check, case: dict) -> Iterator[Tree]:
        """Torch's answers to a case with other roundings, the first as usual. None if nothing can be asked."""

    def search(self, check: Check, differs: Callable[[dict], bool]) -> None:
        """Propose cases of a check that may be simpler than those of `begin`, until the predicate raises."""

    def is_exact(self, check: Check) -> bool:
        """Whether the answers are those of an exact calculation without torch."""

    def listing(self, check: Check, case: dict) -> str:
        """The case as code, if the check shows it so."""


class NotRecorded(Exception):
    """There is no torch, and its answer to this case was not recorded."""
