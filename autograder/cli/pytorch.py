"""The command `pytorch`: a working copy of PyTorch with a fault, for the labs about a change to PyTorch."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from ..language import speak
from .base import InOrder, app, need_command, out, short

if TYPE_CHECKING:
    from ..notebook.working_copy import WorkingCopy


@app.group(cls=InOrder, invoke_without_command=True)
@click.pass_context
def pytorch(context: click.Context) -> None:
    """Mend PyTorch in a working copy of its Python files.

    The copy is in work/15a/pytorch/, for each lab one. The installed PyTorch stays as it is.
    """
    need_command(context)


def _copy(lab: str | None) -> WorkingCopy:
    from ..notebook.working_copy import WorkingCopy, begun_last

    return WorkingCopy(lab or begun_last())


_lab = click.option(
    "--lab", metavar="LAB", help="The lab whose copy is meant (default: in which a case was started last)."
)


@pytorch.command()
@click.argument("number", metavar="CASE")
def start(number: str) -> int:
    """Put a case into the working copy, and print its report.

    CASE is such as 15a.2. The patch of the case before is kept in work/15a/patches/, and is there again when that case is started
    again.
    """
    from ..notebook.working_copy import copy_of, told

    copy = copy_of(number)
    with out.status(speak("copying PyTorch's Python files")):
        case = copy.start(number)
    out.print(f"{told(case)}\n", markup=False)
    out.print(speak("the files to read and to change are in {folder}", folder=short(copy.folder)), markup=False)
    if copy.patch_file(number).exists():
        out.print(speak("your patch of before is applied: {path}", path=short(copy.patch_file(number))), markup=False)
    return 0


@pytorch.command()
@_lab
def diff(lab: str | None) -> int:
    """Print your patch, which is all that you have changed since the case began."""
    print(_copy(lab).diff(), end="")
    return 0


@pytorch.command()
@_lab
def test(lab: str | None) -> int:
    """Test the working copy: the report's program runs, and others that were right before.

    Each result is compared with that of the installed PyTorch. Exit code 1 if one differs.
    """
    left = 0
    for name, words in _copy(lab).results():
        out.print(f"{'✗' if words else '✓'} {name}{f': {words}' if words else ''}", markup=False)
        left += bool(words)
    return int(left > 0)


@pytorch.command()
@_lab
def undo(lab: str | None) -> int:
    """Take all changes of the case back, and keep the patch in a file."""
    kept = _copy(lab).undo()
    if kept:
        out.print(speak("your patch is in {path}", path=short(kept)), markup=False)
    else:
        out.print(speak("there was nothing to take back"), markup=False)
    return 0


@pytorch.command(context_settings={"allow_interspersed_args": False, "ignore_unknown_options": True})
@click.argument("words", metavar="PROGRAM [ARGUMENT...]", nargs=-1, required=True, type=click.UNPROCESSED)
@_lab
def run(words: tuple[str, ...], lab: str | None) -> None:
    """Run a program, or `-c` and a text, with the PyTorch of the working copy."""
    copy = _copy(lab)
    assert copy.case
    sys.exit(copy.run(words))
