"""Extensions: packages that replace functions of the framework at run time. A grader does this with a student's answers.

An extension registers itself. Then the ranks of a distributed program use its replacements too, and tracebacks leave out its
frames.
"""

from collections.abc import Callable
from dataclasses import dataclass

Replacements = dict[tuple[str, str], Callable]  # by module and name of the framework's function


@dataclass(frozen=True)
class Extension:
    """A package, the folder of its files, and two functions: `replacements()` returns the functions that the package has
    replaced in this process, and `replace(replacements)` replaces them in another process. `replace` must be importable
    there."""

    package: str
    folder: str
    replacements: Callable[[], Replacements]
    replace: Callable[[Replacements], None]


_registered: dict[str, Extension] = {}


def register(extension: Extension) -> None:
    """Register an extension, or register it again."""
    _registered[extension.package] = extension


def registered() -> list[Extension]:
    """All extensions of this process."""
    return [*_registered.values()]
