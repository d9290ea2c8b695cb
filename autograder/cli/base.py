"""The command `rushlight` as a whole: its sections, its errors, and what commands share.

Only what every command needs is imported at the top of the files of this folder: `rushlight --help` loads neither the framework nor
nbformat.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from click.core import augment_usage_errors
from rich.console import Console

from ..author import BuildError
from ..course import COURSE
from ..language import ENGLISH, speak
from ..text import printable

out = Console(highlight=False, soft_wrap=True)


def main() -> None:
    """Run one command. An error is one line on standard error and exit code 1, or 2 for a command that cannot be understood, or
    130 after Ctrl-C."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a pipe on Windows cannot hold ✓
    try:
        code = app.main(prog_name="rushlight", standalone_mode=False)
    except click.UsageError as error:
        where, said = error.ctx.command_path if error.ctx else "rushlight", error.format_message()
        if similar := getattr(error, "possibilities", None):  # click words one and several differently
            said = f"{error.message} Did you mean {' or '.join(map(repr, similar))}?"
        said += "" if said.endswith((".", "?")) else "."
        click.echo(f"{where}: {said} `{where} --help` says more.", err=True)
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        click.echo("rushlight: interrupted; run it again to go on", err=True)
        sys.exit(130)
    except _expected_errors() as error:
        sys.exit(f"rushlight: {in_words(error)}")
    sys.exit(code)


def in_words(error: Exception) -> str:
    if isinstance(error, shutil.Error):  # of `copytree`, which lists from where, to where and why for each file
        _, place, why = error.args[0][0]
        return printable(f"{place}: {re.sub(': .*', '', why).partition('] ')[2].lower()}")
    if isinstance(error, OSError) and error.strerror:  # the system's own, and not one of this course
        place = error.filename2 or error.filename  # of a copy, where it goes to
        return printable((f"{os.fsdecode(place)}: " if place else "") + error.strerror.lower())
    return speak(str(error.args[0] if isinstance(error, LookupError) else error))


def _expected_errors() -> tuple[type[Exception], ...]:
    from ..engine.observe import GradingError, NotGraded  # imports numpy
    from ..exam.paper import NotOpened
    from ..model import Unreadable

    return LookupError, BuildError, GradingError, NotGraded, NotOpened, Unreadable, ModuleNotFoundError, OSError


class _Command(click.Command):
    """A command whose name is in each error about its options. An option without its value would be one of `rushlight`."""

    def parse_args(self, context: click.Context, arguments: list[str]) -> list[str]:
        with augment_usage_errors(context):
            return super().parse_args(context, arguments)


class InOrder(click.Group):
    """Commands in the order in which they are defined, which is that of their use, each with its whole first sentence."""

    command_class = _Command

    def sections(self) -> dict[str, Iterable[str]]:
        return {"Commands": self.commands}

    def list_commands(self, context: click.Context) -> list[str]:
        return [*self.commands]

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        for title, names in self.sections().items():
            with formatter.section(title):
                formatter.write_dl([(name, self.commands[name].get_short_help_str(200)) for name in names])


def need_command(context: click.Context) -> None:
    """Raises UsageError unless the line names one of the group's commands, as for an argument that is missing elsewhere."""
    if context.invoked_subcommand is None:
        names = ", ".join(context.to_info_dict()["command"]["commands"])
        raise click.UsageError(f"name one of its commands: {names}.", context)


class _Commands(InOrder):
    """The commands below the words that say whose they are."""

    def sections(self) -> dict[str, Iterable[str]]:
        return {**_SECTIONS}


_SECTIONS = {
    "Students": ("lab", "check", "status", "review", "board", "run", "pytorch"),
    "Instructors": ("release", "grade", "watch", "feedback", "marks", "explain", "exam", "oral", "alike"),
    "Administrators of a hub": ("judge",),
    "Authors": ("build", "plant", "record", "mutants", "translate", "docs"),
}


def _print_version(context: click.Context, option: click.Parameter, wanted: bool) -> None:
    if wanted:
        from rushlight import __version__  # the installed metadata may be of an earlier version, in an updated folder

        click.echo(f"rushlight {__version__}")
        context.exit()


@click.group(cls=_Commands, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Show the version."
)
@click.pass_context
def app(context: click.Context) -> None:
    """A course in PyTorch's internals. Checks compare what students write with real torch.

    `rushlight lab` opens the first lab. `rushlight COMMAND --help` says more about a command.

    The folders that a help names, such as work/ and classroom/, are in the course's folder, wherever you call a command.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


Advance = Callable[[int, int, str], None]


lang = click.option(
    "--lang",
    "language",
    default="",
    metavar="CODE",
    help="In another language, such as es, as far as it is translated.",
)


@contextmanager
def progress_bar() -> Iterator[Advance]:
    """A bar that `advance(done, total, description)` moves. It disappears at the end, and is not there without a terminal."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (MofNCompleteColumn(), BarColumn(20), TimeElapsedColumn(), TextColumn("{task.description}", markup=False))
    # no thread draws it, because the judge forks
    with Progress(*columns, console=out, transient=True, auto_refresh=False, disable=not out.is_terminal) as bar:
        task = bar.add_task("", total=None)

        def advance(done: int, total: int, description: str) -> None:
            bar.update(task, completed=done, total=total, description=description, refresh=True)

        yield advance


def need(reason: str | bool | None) -> None:
    """Raises GradingError with the reason why there is no sandbox, if there is one, in the words of a command without a report."""
    from ..engine.observe import GradingError

    if isinstance(reason, str) and reason:
        raise GradingError(reason.replace("grade with", "use").replace(" (the report will say so)", ""))


def need_repository() -> None:
    if not (COURSE / "mkdocs.yml").exists():
        raise LookupError(
            "this needs the course's repository: an installed package and a class repository have no sources"
        )


def need_language(language: str) -> None:
    if language not in ("", ENGLISH):
        from ..translation import expect  # imports nbformat

        expect(language)


def short(path: Path) -> str:
    path = path.resolve()
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
