"""A notebook's kernel where there is no torch: a cell that runs torch shows the outputs that were recorded of it.

The outputs belong to the code of a cell (`rushlight record`), without comments and docstrings, which are in the language of the
notebook. A cell that the student has changed runs, and its error says in a line what is missing.
"""

from __future__ import annotations

import html
import sys
from collections.abc import Mapping
from functools import cache
from types import TracebackType
from typing import TYPE_CHECKING

from ..engine import practice
from ..engine.check import global_names
from ..language import phrase, speak
from ..model import lab_names
from .cells import end_with_student, uncommented

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

MISSING = phrase("there is no torch here")


def install(shell: InteractiveShell) -> None:
    """Let the cells that run torch show what was recorded of them."""
    shell.input_transformers_cleanup.insert(0, _transform)
    shell.set_custom_exc((NameError, ModuleNotFoundError), _show_error)


@cache
def _recorded() -> dict[str, tuple[str, list[dict]]]:
    """torch's version and the outputs of each recorded cell, by its code. Labs share only cells without outputs."""
    kept = filter(None, map(practice.outputs, lab_names()))
    return {uncommented(source): (each.torch, shown) for each in kept for source, shown in each.cells.items()}


def _transform(lines: list[str]) -> list[str]:
    """The lines of a cell, or of a call that shows what was recorded of it."""
    source = uncommented("".join(lines))
    if source not in _recorded():
        return lines
    return [f"__import__('importlib').import_module({__name__!r}).show({source!r})\n"]


def show(source: str) -> None:
    """Display the recorded outputs of a cell, and a line that says so."""
    version, outputs = _recorded()[source]
    for output in outputs:
        _display(output)
    missing = speak(MISSING)
    recorded = speak("recorded from torch {version}; {missing}", version=version, missing=missing)
    _note(recorded if outputs else speak("not run: {missing}", missing=missing))


def _display(output: Mapping) -> None:
    from IPython.display import display

    if output["output_type"] == "stream":
        print(output["text"], end="", file=getattr(sys, output["name"]))
    elif output["output_type"] == "error":
        print(*output["traceback"], sep="\n")
    else:
        display(output["data"], metadata=output["metadata"], raw=True)


def _note(line: str) -> None:
    from IPython.display import display

    muted = f'<small style="opacity:0.65;padding-left:8px">{html.escape(line)}</small>'
    display({"text/html": muted, "text/plain": line}, raw=True)


def _show_error(
    shell: InteractiveShell,
    kind: type,
    error: NameError | ModuleNotFoundError,
    where: TracebackType,
    tb_offset: int | None,
) -> None:
    """Show an error, with a line that says so if it comes of the missing torch."""
    if isinstance(error, ModuleNotFoundError):
        is_torch = (error.name or "").partition(".")[0] == "torch"
        said = speak(f"{MISSING}; {practice.INSTALL}") if is_torch else ""
    else:
        bound = set().union(*(global_names(source)[0] for source in _recorded()))
        name = error.name
        said = phrase(f"a cell that runs torch defines {name}, and {MISSING}; {practice.INSTALL}")
        said = speak(said) if name in bound else ""
    if said:
        error.add_note(said)
    end_with_student(where)
    shell.showtraceback((kind, error, where), tb_offset=tb_offset, running_compiled_code=True)
