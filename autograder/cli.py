"""The command `rushlight`.

Only what every command needs is imported at the top: `rushlight --help` loads neither the framework nor nbformat.
"""

from __future__ import annotations

import io
import json
import logging
import os
import secrets
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stdout, suppress
from functools import partial
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from .author import BuildError
from .course import COURSE, READINGS, ROOT, cache_folder, classroom, replacing, set_environment
from .language import ENGLISH, language_of, speak, speaking
from .model import Course, Lab, Submission, check_name, lab_names, read_notebook
from .text import printable

if TYPE_CHECKING:
    from nbgrader.api import Gradebook

    from .author.translate import Counts
    from .classroom.grade import Row
    from .engine.verdict import Verdict

out = Console(highlight=False, soft_wrap=True)
LINES = 10  # of progress outside a terminal, in all


def main() -> None:
    """Run one command. An error is one line on standard error and exit code 1, or 2 for a command that cannot be understood, or
    130 after Ctrl-C."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a pipe on Windows cannot hold ✓
    try:
        code = app.main(prog_name="rushlight", standalone_mode=False)
    except click.UsageError as error:
        where = error.ctx.command_path if error.ctx else "rushlight"
        click.echo(f"{where}: {error.format_message()} `{where} --help` says more.", err=True)
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        click.echo("rushlight: interrupted; run it again to go on", err=True)
        sys.exit(130)
    except _expected_errors() as error:
        sys.exit(f"rushlight: {_in_words(error)}")
    sys.exit(code)


def _in_words(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename:  # the system's own, and not one of this course
        return printable(f"{os.fsdecode(error.filename)}: {error.strerror.lower()}")
    return speak(str(error.args[0] if isinstance(error, LookupError) else error))


def _expected_errors() -> tuple[type[Exception], ...]:
    from .engine.observe import GradingError, NotGraded  # imports numpy

    return LookupError, BuildError, GradingError, NotGraded, ModuleNotFoundError, OSError


class _Commands(click.Group):
    """The commands in the order of this file, below the words that say whose they are."""

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        for title, names in _SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name, self.commands[name].get_short_help_str(80)) for name in names])


_SECTIONS = {
    "Students": ("lab", "check", "run", "status"),
    "Instructors": ("release", "grade", "watch", "feedback", "marks", "explain", "oral", "alike"),
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
    """A course in PyTorch's internals. Checks compare what students write with real torch."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


# Students ------------------------------------------------------------------------------------------------------------


_lang = click.option(
    "--lang",
    "language",
    default="",
    metavar="CODE",
    help="In another language, such as es, as far as it is translated.",
)


@app.command()
@click.argument("lab", required=False)
@click.argument("more", nargs=-1, metavar="[-- OPTION...]")
@click.option("--no-open", is_flag=True, help="Only copy.")
@_lang
def lab(lab: str | None, more: tuple[str, ...], no_open: bool, language: str) -> int:
    """Copy a lab to work/ (once) and open it in JupyterLab.

    LAB is 01a by default. Options after `--` are JupyterLab's, such as `-- --no-browser --port 8899`.
    """
    if lab and lab.startswith("-"):  # there is no lab, only options of JupyterLab
        more, lab = (lab, *more), None
    wanted = Course().find_released(lab or _usual_lab())
    copy = wanted.work_path
    if copy.exists():
        said = speak("your copy is {path}", path=_short(copy))
    else:
        if language:
            from .translation import copy_lab

            copy_lab(wanted, language, copy)
        else:
            shutil.copytree(wanted.todays_path.parent, copy.parent, dirs_exist_ok=True)
        with speaking(language):
            path = _short(copy)
            said = speak("copied the lab to {path}; it is yours, and nothing here will overwrite it", path=path)
    if COURSE != ROOT:  # an installed wheel: the links of the notebook lead to the reading, whose links lead to others
        shutil.copytree(READINGS, ROOT / "phases", dirs_exist_ok=True, copy_function=_copy_missing)
    if line := _other_build():
        out.print(line, markup=False)
    _say_judge()
    if no_open:
        out.print(said, markup=False)
        return 0
    if hasattr(os, "geteuid") and os.geteuid() == 0 and "--allow-root" not in more:
        command = f"`.venv/bin/rushlight lab {wanted.number} -- --allow-root`"
        out.print(speak("root must allow JupyterLab to start: {command}", command=command))
    return _open(copy, said, more)


def _copy_missing(source: str, target: str) -> None:
    """Copy a file unless there is one already, which may be somebody's own."""
    if not Path(target).exists():
        shutil.copyfile(source, target)


def _open(copy: Path, said: str, more: tuple[str, ...]) -> int:
    """Run JupyterLab with a notebook until it is stopped. All that it prints, unless something fails, is its address.

    A level of its log that is among the options holds for its server and for its extension LabApp.
    """
    page = f"lab/tree/{copy.relative_to(ROOT).as_posix()}"
    quiet = ["--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    if not any(word in option for option in more for word in ("log-level", "log_level", "--debug")):
        quiet += ["--log-level=ERROR", "--LabApp.log_level=ERROR"]
    start = [f"--ServerApp.root_dir={ROOT}", f"--LabApp.default_url=/{page}"]
    set_environment(of_student=True)
    # JupyterLab prints a token that it makes itself, with a page of text
    os.environ.setdefault("JUPYTER_TOKEN", secrets.token_hex(24))
    with _start([sys.executable, "-m", "jupyterlab", *quiet, *start, *more]) as jupyterlab:
        try:
            with out.status(speak("starting JupyterLab")):
                address = _address(jupyterlab, page)
        except KeyboardInterrupt:
            jupyterlab.terminate()
            raise
        if address:
            more_said = speak("JupyterLab has it open at {address} (stop it with Ctrl-C)", address=address)
            out.print(f"{said}; {more_said}", markup=False)
        while True:
            with suppress(KeyboardInterrupt):  # JupyterLab receives it too, and asks whether to stop
                return jupyterlab.wait()


def _start(command: list[str]) -> subprocess.Popen:
    """Start JupyterLab. In a terminal it ignores Ctrl-C until it is ready to ask whether to stop."""
    before = signal.getsignal(signal.SIGINT)
    if sys.stdin.isatty():
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a new process inherits it
    try:
        return subprocess.Popen(command, cwd=ROOT)
    finally:
        signal.signal(signal.SIGINT, before)


def _address(jupyterlab: subprocess.Popen, page: str) -> str:
    """The address of a page of this JupyterLab as soon as it answers, or an empty string if it has ended."""
    from jupyter_core.paths import jupyter_runtime_dir

    path = Path(jupyter_runtime_dir()) / f"jpserver-{jupyterlab.pid}.json"
    while jupyterlab.poll() is None:
        with suppress(OSError, ValueError):  # it is not there yet, or half written
            server = json.loads(path.read_text(encoding="utf-8"))
            url = server["url"]
            if server["hostname"] in ("", "0.0.0.0", "::"):  # a container's own name is unknown outside it
                url = url.replace(socket.gethostname(), "localhost", 1)
            return f"{url}{page}" + (f"?token={server['token']}" if server["token"] else "")
        time.sleep(0.1)
    return ""


def _other_build(driver: Path = Path("/proc/driver/nvidia/version")) -> str:
    """How to get torch's build for CUDA, if there is an NVIDIA driver here and torch is the build for the CPU."""
    from importlib import metadata

    try:
        installed = metadata.version("torch")
    except metadata.PackageNotFoundError:
        return ""
    if not installed.endswith("+cpu") or not (driver.exists() or shutil.which("nvidia-smi")):
        return ""
    exactly = f"torch==={installed.removesuffix('+cpu')}"
    python = ".venv/bin/python" if os.name == "posix" else r".venv\Scripts\python"
    pip = f"{python} -m pip install --force-reinstall --constraint constraints.txt"
    command = f"`{pip} {exactly}`"
    return speak(
        "there is an NVIDIA driver here, and torch is a build for the CPU; for CUDA: {command}", command=command
    )


def _usual_lab() -> str:
    """Lab 01, or the first lab of a class repository without it."""
    names = lab_names()
    return next((name for name in names if name.startswith("01")), names[0])


_no_sandbox = click.option(
    "--no-sandbox", is_flag=True, help="Run the cells as an ordinary process, where there is no sandbox."
)


@app.command()
@click.argument("lab", required=False)
@click.option("--notebook", type=click.Path(path_type=Path), help="Check this notebook instead of the one in work/.")
@click.option("--json", "as_json", is_flag=True, help="Print the verdicts as JSON, for a program.")
@_no_sandbox
def check(lab: str | None, notebook: Path | None, as_json: bool, no_sandbox: bool) -> int:
    """Run the checks of your copy of a lab, without opening it.

    LAB is 01a by default. The exit code is 0 if all checks pass.
    """
    out.stderr = as_json  # where the bar and remarks go
    click.get_current_context().call_on_close(partial(setattr, out, "stderr", False))
    wanted = Course().find_released(lab or _usual_lab())
    path = notebook or wanted.work_path
    if not path.exists():
        raise LookupError(f"there is no {_short(path)}: `rushlight lab {wanted.number} --no-open` makes one")
    _say_judge()
    with _progress() as progress:
        verdicts = _run(wanted, path, _isolated(no_sandbox, notebook), progress)
    passed = all(verdict.passed for verdict in verdicts.values())
    if as_json:
        from .classroom.verdicts import as_data

        with speaking(ENGLISH):
            print(json.dumps(as_data(wanted, path, verdicts), indent=1))
        return 0 if passed else 1
    with speaking(_spoken_in(path)):
        _print_verdicts(verdicts, wanted)
    return 0 if passed else 1


def _spoken_in(path: Path) -> str:
    """The language of a notebook that is not English. Empty for another one, where the user's language counts."""
    with suppress(OSError, ValueError):
        language = language_of(json.loads(read_notebook(path)))
        return language if language != ENGLISH else ""
    return ""


def _print_verdicts(verdicts: dict[str, Verdict], lab: Lab) -> None:
    from .engine.card import points_of

    untouched = [verdict for verdict in verdicts.values() if _is_untouched(verdict)]
    for verdict in verdicts.values():
        if verdict not in untouched:
            out.print(_coloured(verdict))
    if untouched:
        out.print(f"– {speak('not attempted')}: {', '.join(verdict.check for verdict in untouched)}", style="dim")
    worth, written = lab.points, lab.written_points
    earned = sum(worth[check] for check, verdict in verdicts.items() if verdict.passed and check in worth)
    points = points_of(earned, sum(worth.values()))
    more = speak(", and up to {written:g} for your written answer", written=written) if written else ""
    out.print(f"\n[bold]{points}[/bold]{more}")


def _say_judge() -> None:
    """Print who answers in the place of torch, if it is not here."""
    from .engine.practice import about_judge

    if line := about_judge():
        out.print(speak(line), style="dim", markup=False)


def _is_untouched(verdict: Verdict) -> bool:
    """Whether there is nothing to read about a check: its exercise is as the lab has it, or its milestone is not reached."""
    return verdict.outcome == "not attempted" and "did not run" not in verdict.message


def _coloured(verdict: Verdict) -> Text:
    """A verdict's text with its mark and the names of its rows in colour."""
    text = Text("\n".join(map(printable, str(verdict).splitlines())))
    text.highlight_regex(r"^✓", "bold green")
    text.highlight_regex(r"^✗", "bold red")
    text.highlight_regex(r"(?m)^  [^\W\d_](?:[^\W\d_]|[' ])*?(?=  )", "cyan")
    return text


@app.command(context_settings={"allow_interspersed_args": False})
@click.argument("words", metavar="PROGRAM [ARGUMENT...]", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("-m", "module", is_flag=True, help="PROGRAM is a module.")
@click.option("--mine", metavar="DIR", help="First plug in the finished pieces of the labs in DIR, such as work/.")
@click.option(
    "--answers", is_flag=True, help="Print at the end which functions the program called, and whose they are."
)
@click.option("--compare", is_flag=True, help="Run it on PyTorch, too, and print where the outputs differ.")
def run(words: tuple[str, ...], module: bool, mine: str | None, answers: bool, compare: bool) -> int | None:
    """Run a program that was written for PyTorch on rushlight.

    PROGRAM is a script, a notebook or a module. In it, `import torch` is rushlight. ARGUMENTs are the program's own.
    """
    from rushlight.course import as_torch

    from .notebook import programs

    named = ["-m", *words] if module else [*words]
    if compare:
        plugged = ["--mine", mine] if mine else []
        are_equal, lines = programs.compare(named, [sys.executable, "-m", "autograder.cli", "run", *plugged])
        out.print("\n".join(lines), markup=False)
        return 0 if are_equal else 1
    answered = programs.Answers(_plugged_in(mine) if mine else {})
    if answers:
        answered.start()
    try:
        as_torch.run([*words], module)
    finally:
        if answers:
            print(*answered.lines(), sep="\n", file=sys.stderr)
    return 0


def _plugged_in(folder: str) -> dict[CodeType, str]:
    """Plug in a student's finished pieces. Returns their names by their code."""
    from rushlight.course.short_names import short_form

    from .engine.exercise import filled
    from .notebook.work import use

    with redirect_stdout(sys.stderr):
        use(folder)
    return {
        function.__code__: short_form(f"{place}.{name}".removeprefix("rushlight."))
        for (place, name), function in filled().items()
    }


@app.command()
@_no_sandbox
def status(no_sandbox: bool) -> int:
    """Count the checks that pass in work/, and the points of each lab."""
    table = Table(box=None, pad_edge=False)
    for heading in (speak("lab"), speak("checks"), "", speak("points")):
        table.add_column(heading, justify="right" if heading in (speak("checks"), speak("points")) else "left")
    isolated = _isolated(no_sandbox)
    _say_judge()
    with _progress() as progress:
        for lab in Course().released_labs():
            path, worth = lab.work_path, lab.points
            passed = _passed(lab, path, isolated, progress) if path.exists() else []
            done = [check for check in worth if check in passed]
            filled = round(20 * len(done) / len(worth))
            bar = f"[green]{'█' * filled}[/green][dim]{'░' * (20 - filled)}[/dim]"
            earned = f"{sum(worth[check] for check in done):g} / {sum(worth.values()):g}"
            table.add_row(lab.name, f"{len(done)} / {len(worth)}", bar, earned, style="" if path.exists() else "dim")
    out.print(table)
    return 0


def _passed(lab: Lab, path: Path, isolated: bool, progress: Advance) -> list[str]:
    """The checks that pass in a copy of a lab. They are kept until the notebook, the lab, the course or a version changes."""
    kept, key = cache_folder() / "status" / f"{lab.name}.json", _key(lab, path, isolated)
    with suppress(OSError, ValueError, LookupError, TypeError):
        found = json.loads(kept.read_text(encoding="utf-8"))
        if found["key"] == key:
            return [str(name) for name in found["passed"]]
    verdicts = _run(lab, path, isolated, progress)
    passed = [name for name, verdict in verdicts.items() if verdict.passed]
    if all(verdict.outcome in ("passed", "disagreed", "not attempted") for verdict in verdicts.values()):
        with suppress(OSError):  # such as a full disk
            kept.parent.mkdir(parents=True, exist_ok=True)
            with replacing(kept) as part:
                part.write_text(json.dumps({"key": key, "passed": passed}), encoding="utf-8")
    return passed


def _key(lab: Lab, path: Path, isolated: bool) -> str:
    """A digest of all on which the verdicts on a notebook depend: of the content of files, not of their times."""
    from hashlib import sha256
    from importlib import metadata, util

    whole = sha256(repr((isolated, sys.version, lab.required)).encode())
    for name in ("torch", "numpy"):
        with suppress(metadata.PackageNotFoundError):
            whole.update(metadata.version(name).encode())
    spec = util.find_spec("rushlight")
    folders = [Path(__file__).parent, *(Path(place) for place in (spec and spec.submodule_search_locations) or ())]
    kinds = {".py", ".yaml", ".h", ".toml", ".npz", ".json"}
    code = sorted(file for folder in folders for file in folder.rglob("*.*") if file.suffix in kinds)
    for file in [path, lab.path, *code]:
        whole.update(f"{file}\0".encode() + sha256(file.read_bytes()).digest())
    return whole.hexdigest()


def _isolated(no_sandbox: bool, notebook: Path | None = None) -> bool:
    """Whether to run a notebook in a sandbox. Where no sandbox can be, one's own copy runs without."""
    if no_sandbox or sys.platform == "linux" or notebook:
        return not no_sandbox
    said = speak("this system has no sandbox: your cells run as an ordinary process, and the verdicts are the same")
    out.print(said, style="dim")
    return False


Advance = Callable[[int, int, str], None]


@contextmanager
def _progress() -> Iterator[Advance]:
    """A bar that `advance(done, total, description)` moves. It disappears at the end, and is not there without a terminal."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (MofNCompleteColumn(), BarColumn(20), TimeElapsedColumn(), TextColumn("{task.description}", markup=False))
    # no thread draws it, because the judge forks
    with Progress(*columns, console=out, transient=True, auto_refresh=False, disable=not out.is_terminal) as bar:
        task = bar.add_task("", total=None)

        def advance(done: int, total: int, description: str) -> None:
            bar.update(task, completed=done, total=total, description=description, refresh=True)

        yield advance


def _run(lab: Lab, path: Path, isolated: bool, progress: Advance) -> dict[str, Verdict]:
    import nbformat

    from .classroom.restore import differences, restore
    from .engine import sandbox

    _need(isolated and sandbox.missing(lab.course.private_folders))
    released = lab.release.nodes
    try:
        copy = nbformat.reads(read_notebook(path), as_version=4)
        notebook, remarks = restore(copy, released), differences(copy, released)
    except OSError:
        raise
    except Exception as error:  # nbformat raises many types for cells that are none
        first = next(iter(str(error).splitlines()), "") or type(error).__name__
        raise LookupError(f"{_short(path)} is not a notebook of {lab}: {printable(first)}") from None
    for line in remarks:
        out.print(printable(f"{_short(path)}: {line}"), markup=False, style="yellow")
    checks = list(filter(None, map(check_name, notebook.cells)))
    progress(0, len(checks), f"{lab}: starting torch")
    from .engine import practice
    from .engine.judge import Judge
    from .engine.run import run

    def before(check: str) -> None:
        progress(checks.index(check), len(checks), f"{lab}: {check}")

    return run(notebook, lab, Judge(source=practice.source()), isolated, before)


# Instructors ---------------------------------------------------------------------------------------------------------


def _set_class(context: click.Context, option: click.Parameter, folder: Path | None) -> None:
    """Let RUSHLIGHT_CLASSROOM name the folder until the command ends."""
    if folder:
        before = os.environ.get("RUSHLIGHT_CLASSROOM")
        os.environ["RUSHLIGHT_CLASSROOM"] = str(folder.resolve())
        context.call_on_close(
            partial(os.environ.__setitem__, "RUSHLIGHT_CLASSROOM", before)
            if before is not None
            else partial(os.environ.pop, "RUSHLIGHT_CLASSROOM", None)
        )


_class = click.option(
    "--class",
    is_eager=True,
    expose_value=False,
    callback=_set_class,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="The folder of the class (default: RUSHLIGHT_CLASSROOM, or classroom/).",
)


def _lab_and_students(*words: str) -> tuple[Lab, list[str]]:
    """The lab that one of the words means, and the other words. So `01a ada` and `ada 01a` are the same. Raises LookupError."""
    course = Course()
    for i, word in enumerate(words):
        with suppress(LookupError):
            course.find_lab(word)
            words = (word, *words[:i], *words[i + 1 :])
            break
    return course.find_released(words[0]), list(dict.fromkeys(words[1:]))


@app.command()
@click.argument("lab", required=False)
@click.argument("students", metavar="[STUDENT...]", nargs=-1)
@_class
@click.option("--sample", is_flag=True, help="Grade a sample class in sample/, not the one in classroom/.")
@click.option("--force", is_flag=True, help="Grade all submissions again (points by hand stay).")
@click.option("--no-sandbox", is_flag=True, help="Run submissions as ordinary processes: only for code you trust.")
@click.option(
    "--jobs",
    type=click.IntRange(1),
    metavar="N",
    help="Submissions to grade at once (default: one per core, if the memory allows it).",
)
@click.option("--scheduler", metavar="ADDRESS", help="Grade on the workers of a dask.distributed scheduler instead.")
@click.option("--insecure", is_flag=True, help="Permit a scheduler on another machine without TLS.")
@click.option(
    "--log",
    "log_file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Append a line for each submission to this file.",
)
@click.option(
    "--late", metavar="P%/day", help="From now on, take this share off the points of a late submission (none: nothing)."
)
@click.option("--grace", metavar="TIME", help="With --late: so long after the due date is not late, such as 15min.")
def grade(
    lab: str | None,
    students: tuple[str, ...],
    sample: bool,
    force: bool,
    no_sandbox: bool,
    jobs: int | None,
    scheduler: str | None,
    insecure: bool,
    log_file: Path | None,
    late: str | None,
    grace: str | None,
) -> int:
    """Grade what students handed in, and write the feedback pages.

    Each new or changed submission runs in a sandbox. Its points go into nbgrader's gradebook. The class gets a table and a report,
    and each student a page of feedback, which you return. Without LAB, every lab that a student has handed in is graded. With one
    STUDENT or several, only these are. The exit code is 1 if a submission could not be graded.
    """
    wanted_lab, only = _lab_and_students(lab, *students) if lab else (None, [])
    names = [wanted_lab.name] if wanted_lab else []
    from .classroom import grade as grading  # imports nbgrader
    from .engine.observe import GradingError

    if sample:
        _need_repository()
        from .classroom.sample import make

        os.environ["RUSHLIGHT_CLASSROOM"] = str(ROOT / "sample")
        make(classroom())
    if grace and not late:
        raise click.UsageError("--grace belongs to --late.")
    course = Course()  # of the sample class, with --sample
    labs = [Lab(name, course) for name in names]
    if late:
        from .classroom.table import set_policy

        kept = set_policy(course, labs[0] if labs else None, late, grace)
        if not any(wanted.submissions() for wanted in labs or course.released_labs()):
            subject = labs[0] if labs else "all labs without a policy of their own"
            out.print(f"late:     {kept} for {subject}, as soon as a student hands in", markup=False)
            return 0
    from .classroom.cluster import cluster
    from .classroom.collect import expect_own_exchange

    if course.folder.is_dir():
        expect_own_exchange()
    failed, complete = [], True
    with _logging(log_file), nullcontext() if scheduler is None else cluster(scheduler, insecure) as executor:
        for wanted in labs or grading.labs_handed_in(course):
            try:
                complete &= _grade(wanted, force, no_sandbox, jobs, executor, *only)
            except GradingError as error:  # such as a compiler that is missing: the other labs may need none
                failed.append(f"{wanted}: {error}")
                if isinstance(error, grading.EngineLost):
                    break
    if failed:
        raise GradingError("\n".join(failed))
    return 0 if complete or sample else 1  # the sample class has a file that cannot be read


@contextmanager
def _logging(file: Path | None) -> Iterator[None]:
    """Within: the log of grading goes to a file. Without a file there is none."""
    from .classroom.grade import log

    if file is None:
        yield
        return
    handler = logging.FileHandler(file, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s\t%(message)s", "%Y-%m-%d %H:%M:%S%z"))
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(handler)
        handler.close()


def _grade(lab: Lab, force: bool, no_sandbox: bool, jobs: int | None, executor: Executor | None, *only: str) -> bool:
    """Grade one lab, or some students of it, and print the table and where the files are. Returns whether all are graded."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from .classroom import grade as grading
    from .classroom import releases
    from .classroom.items import warnings
    from .classroom.report import write_report
    from .engine.check import short_name

    columns = (
        SpinnerColumn(),
        MofNCompleteColumn(" of "),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as bar:
        task, printed = bar.add_task("", total=None), 0

        def progress(done: int, total: int, student: str) -> None:
            nonlocal printed
            bar.update(task, completed=done, total=total, description=escape(printable(student)))
            if not out.is_terminal and LINES * done // total > LINES * printed // total:
                out.print(f"{lab}: {done} of {total}", markup=False)
                printed = done

        rows = grading.grade(lab, force, not no_sandbox, jobs, executor, progress, only)
    path, report = grading.write_csv(lab, rows), write_report(lab, rows)
    wanted = [row for row in rows if not only or row.student in only]
    _print_table(lab, wanted)
    if line := releases.keep_release(lab):
        out.print(line, markup=False, style="yellow")
    for line in grading.remarks(lab):
        out.print(line, markup=False)
    if answers := sum(row.waiting for row in rows):
        count = sum(row.waiting > 0 for row in rows)
        wait = (
            "answer waits to be marked"
            if answers == 1
            else f"answers of {count} student{'s' * (count > 1)} wait to be marked"
        )
        out.print(f"by hand:  {answers} {wait} (in the formgrader: Manual Grading)")
    if rewritten := [row.student for row in rows if row.is_rewritten]:
        names = "; ".join(map(printable, rewritten))
        why = "marks, comments or penalties have changed"
        out.print(f"feedback written again, because {why} ({len(rewritten)}): {names}", markup=False)
    if suspect := dict.fromkeys(short_name(warning.check) for warning in warnings(rows, lab.points)):
        out.print(f"look at:  {', '.join(suspect)}: the report says why", style="yellow")
    if no_sandbox:
        out.print("graded WITHOUT a sandbox: a submission could have read or changed anything that you can")
    out.print(f"marks:    {_short(path)}")
    out.print(f"report:   {_short(report)}")
    out.print(f"feedback: {_short(path.parent / 'feedback')}/STUDENT/{lab}/{lab}.html")
    return not any(row.problem for row in wanted)


@app.command()
@click.argument("labs", metavar="LAB...", nargs=-1, required=True)
@_class
@click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Where submissions arrive, as STUDENT/LAB/LAB.ipynb (default: nbgrader's exchange).",
)
@click.option(
    "--keep",
    type=click.Choice(["last", "best"]),
    default="last",
    show_default=True,
    help="Which of a student's attempts counts.",
)
@click.option("--names", is_flag=True, help="Show names on the page of the class.")
@click.option("--every", type=click.FloatRange(1), default=5, metavar="SECONDS", help="How often to look (default: 5).")
@click.option(
    "--jobs", type=click.IntRange(1), metavar="N", help="Submissions to grade at once (default: as of grade)."
)
@click.option("--no-sandbox", is_flag=True, help="Run submissions as ordinary processes: only for code you trust.")
def watch(
    labs: tuple[str, ...],
    source: Path | None,
    keep: str,
    names: bool,
    every: float,
    jobs: int | None,
    no_sandbox: bool,
) -> int:
    """Grade each submission as it arrives, and return its feedback.

    It runs until Ctrl-C, prints a line for each submission, and shows the class on a page that renews itself. Feedback goes back
    through nbgrader's exchange. With --from there is none, and the pages are in feedback/ as after `rushlight grade`.
    """
    import multiprocessing

    wanted = _released(labs)
    if source and not source.is_dir():
        raise LookupError(f"there is no folder {source}: submissions arrive there as STUDENT/LAB/LAB.ipynb")
    from .classroom.watch import Watch  # imports nbgrader
    from .engine.observe import GradingError

    for lab in wanted:
        _need_sandbox(no_sandbox, lab)
    trouble = ""
    watching = Watch(wanted, source, keep, not no_sandbox, jobs, names, partial(out.print, markup=False))
    try:
        out.print(f"waiting for submissions in {source or 'the exchange'}; the class: {_short(watching.write_page())}")
        while True:
            wait = every
            try:
                if watching.look():
                    wait = 0
                trouble = ""
            except (GradingError, OSError) as error:  # such as a gradebook that another program holds
                if _in_words(error) != trouble:
                    out.print(_in_words(error), markup=False, style="yellow")
                trouble = _in_words(error)
            time.sleep(wait)
    except KeyboardInterrupt:
        watching.close()
        for process in multiprocessing.active_children():  # they ignore an interrupt
            process.kill()
        out.print("stopped; what is not graded yet will be when this runs again")
        return 130


def _print_table(lab: Lab, rows: list[Row]) -> None:
    from .classroom.grade import has_other_marks

    worth = lab.points
    table = Table(
        title=f"Lab {lab}", title_justify="left", pad_edge=False, padding=(0, 1, 0, 0), box=None, header_style="bold"
    )
    late = ["late"] if any(row.penalty for row in rows) else []
    marks = ["mark"] if has_other_marks(rows) else []
    for heading in ("student", *map(str, range(1, len(worth) + 1)), *late, "total", *marks):
        table.add_column(heading, justify="left" if heading == "student" else "right", no_wrap=heading != "student")
    for row in rows:
        scores = [f"{row.scores[check]:g}" if row.scores.get(check) else "·" for check in worth]
        off = [f"-{row.penalty:g}" if row.penalty else ""] if late else []
        mark = ["" if row.mark is None else f"{row.mark:g}"] if marks else []
        table.add_row(_short_name(row), *scores, *off, "not graded" if row.problem else f"{row.total:g}", *mark)
    out.print(table)
    legend = ", ".join(
        f"{number} {check.partition('.')[2]} ({worth[check]:g})" for number, check in enumerate(worth, 1)
    )
    most = f"{sum(worth.values()):g} points in all, written answers apart"
    if marks:
        most += f"; the mark is in the gradebook: of {sum(worth.values()) + lab.written_points:g}, with points by hand"
    out.print(f"\n{legend}; {most}", style="dim")
    out.print("\n[bold]what went wrong[/bold]")
    remarks = Table(box=None, pad_edge=False, show_header=False)
    for row in rows:
        if row.remark():
            remarks.add_row(_short_name(row), escape(row.remark()))
    out.print(remarks)
    out.print()


def _short_name(row: Row) -> Text:
    """A student's name, which gives way where a line of the table is too long for the terminal."""
    return Text(printable(row.student), no_wrap=True, overflow="ellipsis")


@app.command()
@click.argument("labs", metavar="[LAB...]", nargs=-1)
@_class
@click.option("--into", type=click.Path(path_type=Path), help="The downloaded table, which stays as it is.")
@click.option(
    "--out",
    "target",
    type=click.Path(path_type=Path),
    help="The new file (default: marks.csv in the folder of the class).",
)
@click.option("--column", help="The heading of the column for the marks (default: by the number of the lab).")
@click.option("--by", help="The heading of the column that identifies students (default: the one that fits most).")
@click.option("--scale", is_flag=True, help="Fit marks to the points that the lab has in the table.")
@click.option(
    "--drop", type=click.IntRange(0), default=0, metavar="N", help="Leave each student's N lowest labs out of the sum."
)
def marks(
    labs: tuple[str, ...],
    into: Path | None,
    target: Path | None,
    column: str | None,
    by: str | None,
    scale: bool,
    drop: int,
) -> int:
    """Write a table of all marks, or fill in one of Canvas or Moodle.

    Without --into, the marks of all labs go into one file, with their sum. With --into, the marks of each LAB go into a table that
    you downloaded from Canvas, Moodle or Blackboard. Nothing is graded.
    """
    named = _released(labs)
    if into and not (named and target):
        raise click.UsageError("--into needs a LAB and --out.")
    if not into and (named or column or by or scale):
        raise click.UsageError("A LAB, --column, --by and --scale belong to --into.")
    if into and drop:
        raise click.UsageError("--drop is for the marks of the term, without --into.")
    if column and len(named) != 1:
        raise click.UsageError("--column is for one LAB.")
    if target and target.exists():
        raise FileExistsError(f"{_short(target)} exists: name a new file with --out")
    target = target or classroom() / "marks.csv"
    with replacing(target) as part, _gradebook() as gradebook:
        if not into:
            from .classroom.term import Term, remarks

            Term(to=str(part), drop=drop).export(gradebook)
            with _progress() as progress:
                lines = [*remarks(gradebook, progress)]
            for line in lines:
                out.print(line, markup=False, style="yellow")
        else:
            from .classroom.lms import fill_in, read_table

            table = read_table(into)
            for lab in named:
                for line in fill_in(table, gradebook, lab, column, by, scale).lines():
                    out.print(line, markup=False)
            part.write_bytes(table.to_bytes())
    out.print(f"marks:    {_short(target)}")
    return 0


def _released(numbers: tuple[str, ...]) -> list[Lab]:
    """The labs that these numbers mean, each once. Raises LookupError if one does not exist or has not been built."""
    course = Course()
    return list(dict.fromkeys(course.find_released(lab.name) for number in numbers for lab in course.find_labs(number)))


@app.command()
@click.argument("lab")
@_class
def feedback(lab: str) -> int:
    """Pack the feedback pages into a zip file for Canvas or Moodle.

    The pages are those that `rushlight grade` wrote. This command writes no page again and sends nothing: students get their pages
    when you upload the file. It names each student whose page is not in it, and the reason.
    """
    from .classroom.lms import pack_feedback

    wanted = Course().find_released(lab)
    with _gradebook() as gradebook:
        written, left = pack_feedback(wanted, gradebook)
    if not written and not left:
        raise LookupError(f"{wanted} has no marks: `rushlight grade {lab}` makes them")
    for line in left:
        out.print(f"not packed: {line}", markup=False, style="yellow")
    for path, count in written:
        out.print(f"{count} page{'s' * (count > 1)} packed: {_short(path)}")
    if written:
        out.print("students get them when you upload the file: docs/lms.md says where")
    return 0 if written else 1


def _gradebook() -> AbstractContextManager[Gradebook]:
    """The class's gradebook. There must be one."""
    from .classroom.gradebook import open_gradebook

    if not (path := classroom() / "gradebook.db").exists():
        raise FileNotFoundError(f"there is no {_short(path)}: `rushlight grade` makes it")
    return open_gradebook()


@app.command()
@click.argument("lab")
@_class
@click.option(
    "--published",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="NOTEBOOK",
    help="Compare the class with this notebook, too, which students may have found (may be repeated).",
)
def alike(lab: str, published: tuple[Path, ...]) -> int:
    """Find answers to a lab that are unusually alike.

    It writes a page with the pairs of students who share what few others wrote, side by side. No mark depends on it."""
    from .classroom.alike import write_alike
    from .classroom.similarity import outlier_bits

    page, pairs, unreadable = write_alike(Course().find_released(lab), published)
    for line in unreadable:
        out.print(f"not compared: {printable(line)}", markup=False, style="yellow")
    for pair in pairs[:5]:
        out.print(f"{pair.bits:6.0f} bits  {'  '.join(map(printable, pair.students))}", markup=False)
    beyond = sum(pair.bits > outlier_bits(pairs) for pair in pairs)
    out.print(
        f"{beyond} of {len(pairs):,} pairs are far out: far more alike than the others of this class. Side by side: {_short(page)}"
    )
    return 0


@app.command()
@click.argument("lab")
@click.argument("student")
@click.argument("exercise", required=False)
@_class
@click.option(
    "--out", "page", type=click.Path(path_type=Path), metavar="FILE.html", help="Also write a page that you can send."
)
@click.option("--no-sandbox", is_flag=True, help="Run the submission as an ordinary process: only if you trust it.")
def explain(lab: str, student: str, exercise: str | None, page: Path | None, no_sandbox: bool) -> int:
    """Run the checks of a graded submission again, after an appeal.

    It says which verdicts hold, and why. Nothing is entered in the gradebook. The exit code is 1 if a verdict does not hold.
    """
    from .classroom.explain import explain, text, write

    wanted, (student,) = _lab_and_students(lab, student)
    if page and page.suffix != ".html":
        raise LookupError(f"{page} is no page: its name has to end in .html")
    _need_sandbox(no_sandbox, wanted)
    with _progress() as progress:
        names = [*wanted.points]

        def before(check: str) -> None:
            progress(names.index(check) if check in names else len(names), len(names), check)

        explained = explain(Submission(wanted, student), exercise, not no_sandbox, before)
    with speaking(ENGLISH):  # as the rest of it is
        out.print(text(explained), markup=False)
        if page:
            write(explained, page)
    if page:
        out.print(f"page: {_short(page)}", markup=False)
    return 0 if all(check.holds for check in explained.checks) else 1


@app.command()
@click.argument("lab")
@click.argument("students", metavar="[STUDENT...]", nargs=-1)
@_class
@click.option("--no-sandbox", is_flag=True, help="Run submissions as ordinary processes: only if you trust them.")
def oral(lab: str, students: tuple[str, ...], no_sandbox: bool) -> int:
    """Write questions for an oral examination on a student's answers.

    A student gets three questions, and you the right answers on another sheet. Several students get one file to be printed. Without
    a STUDENT, it lists the exercises of each student that can be asked about. The same student and class give the same questions.
    """
    from .classroom.oral import write

    wanted, named = _lab_and_students(lab, *students)
    if not named:
        return _print_askable(wanted)
    _need_sandbox(no_sandbox, wanted)
    with _progress() as progress:
        submissions = [Submission(wanted, student) for student in named]
        paper = write(wanted, submissions, not no_sandbox, progress)
    for student, remarks in paper.remarks.items():
        for number, question in enumerate(paper.questions.get(student, ()), 1):
            out.print(f"{printable(student)} {number} {question.exercise}: {question.title}", markup=False)
        for line in remarks:
            out.print(printable(line), markup=False, style="yellow")
    if paper.path:
        count = sum(map(len, paper.questions.values()))
        out.print(f"{count} questions, and the answers: {_short(paper.path)}", markup=False)
    return 0 if len(paper.questions) == len(paper.remarks) else 1


def _print_askable(lab: Lab) -> int:
    """A line for each student who handed in the lab, with the exercises that can be asked about, and the command for all."""
    from .classroom.oral import askable

    by_student: dict[str, list[str]] = {}
    for submission in lab.submissions():
        student = submission.student
        try:
            by_student[student] = askable(submission)
            said = (
                ", ".join(name.rpartition(".")[2] for name in by_student[student])
                or "no function that can be asked about"
            )
        except LookupError as error:
            said = error.args[0]
        out.print(f"{printable(student)}: {printable(said)}", markup=False)
    can = [student for student, names in by_student.items() if names]
    if not can:
        raise LookupError(f"no student has an answer to {lab} that can be asked about")
    out.print(f"all of them: rushlight oral {lab.number} {shlex.join(can)}", markup=False)
    return 0


def _need_sandbox(no_sandbox: bool, lab: Lab) -> None:
    from .engine import sandbox

    _need((not no_sandbox and sandbox.missing(lab.course.private_folders)) or sandbox.missing_compiler(lab))


def _need(reason: str | bool | None) -> None:
    """Raises GradingError with the reason why there is no sandbox, if there is one, in the words of a command without a report."""
    from .engine.observe import GradingError

    if isinstance(reason, str) and reason:
        raise GradingError(reason.replace("grade with", "use").replace(" (the report will say so)", ""))


@app.command()
@click.argument("labs", metavar="LAB...", nargs=-1, required=True)
@_class
@click.option(
    "--out",
    "folder",
    type=click.Path(path_type=Path),
    required=True,
    metavar="DIR",
    help="A folder that does not exist yet.",
)
@click.option("--core", is_flag=True, help="Further exercises of these labs have no points in this class.")
@_lang
def release(labs: tuple[str, ...], folder: Path, core: bool, language: str) -> int:
    """Write a class repository: labs for students, without the answers.

    LAB is a lab, or a phase, which means all its labs. Nothing is sent: you publish the folder. A class may have repositories in
    several languages: their submissions are graded together.
    """
    named = _released(labs)
    from .classroom import releases
    from .classroom.release import release

    written = release(Course(), named, folder.resolve(), core, language)
    for line in filter(None, (releases.keep_release(lab) for lab in _released(labs))):
        out.print(line, markup=False, style="yellow")
    out.print(f"the class repository is {_short(written)}: `git init` there, or give it to students as it is")
    return 0


@app.command()
@click.option("--socket", "path", default=os.environ.get("RUSHLIGHT_JUDGE"), help="Where notebooks find it.")
def judge(path: str | None) -> None:
    """Load torch once for the checks of all notebooks of this machine.

    Started by root, it serves all users, and otherwise only you. Notebooks look for it at the same place: in RUSHLIGHT_JUDGE,
    or else in /run/rushlight/judge.sock.
    """
    from .notebook import service  # it exists on Linux only

    service.main(path or service.PATH)


# Authors -------------------------------------------------------------------------------------------------------------


@app.command()
@click.argument("labs", metavar="[LAB...]", nargs=-1)
@click.option("--check", is_flag=True, help="Build nothing; fail if a notebook differs from a rebuild.")
@click.option("--force", is_flag=True, help="Write and execute them even if no cell has changed.")
def build(labs: tuple[str, ...], check: bool, force: bool) -> int:
    """Build the notebooks and the generated code from their sources.

    LAB is a lab, or a phase, which means its reading and all its labs. Without one, everything is built.
    """
    _need_repository()
    from rushlight.torchgen import gen, gen_autograd, gen_pyi

    from .author import build as building
    from .author import translate
    from .translation import languages

    names = [name for number in labs for name in building.find_sources(number)] or building.sources()
    generators = (gen, gen_autograd, gen_pyi)
    with _progress() as progress:
        if check:
            stale = []
            for done, name in enumerate(names):
                progress(done, len(names), name)
                stale += building.stale(name)
            stale += [path for generator in generators for path in gen.stale(generator)]
            stale += [path for language in languages() for path in translate.stale(language)]
            for path in stale:
                out.print(f"{_short(path)} differs from a rebuild: `rushlight build` renews it", markup=False)
            return 1 if stale else 0
        renewed = [_short(path) for generator in generators for path in gen.write(generator)]
        if renewed:
            out.print(f"{', '.join(renewed)}: new; run this again for the notebooks", markup=False)
            return 0
        for done, name in enumerate(names):
            progress(done, len(names), name)
            written = ", ".join(map(_short, building.build(name, force)))
            out.print(f"{name}: {written or 'nothing has changed'}", markup=False, style="green" if written else "dim")
    for path in (path for language in languages() for path in translate.renew(language)):
        out.print(f"{_short(path)}: in step with its text", markup=False, style="green")
    return 0


@app.command()
@click.argument("lab")
@click.argument("function")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
def plant(lab: str, function: str, file: Path) -> int:
    """Add a patient of your own to a lab of the clinic.

    FUNCTION is an exercise, such as autograd.engine.execute. FILE has a wrong function of this name, and a program symptom(xp) that
    gives another result with it than on torch.
    """
    _need_repository()
    from .author.plant import plant as add

    found = Course().find_lab(lab)
    for path in add(found, function, file):
        out.print(_short(path), markup=False)
    out.print(
        f"`rushlight build {found.number}` builds the lab with it; its text is a section of {_short(found.source)}"
    )
    return 0


@app.command()
@click.argument("wanted", metavar="[LAB...]", nargs=-1)
def record(wanted: tuple[str, ...]) -> int:
    """Record torch's answers, and the outputs of cells that run torch, for machines without torch.

    LAB is a lab, or a phase, which means all its labs. Without one, all labs are recorded that do not work on torch itself. A lab
    is recorded again only if its checks or its solution have changed.
    """
    course = Course()
    labs = [lab for number in wanted for lab in course.find_labs(number)] or _practised(course)
    from .engine import practice

    if line := practice.about_judge():
        raise LookupError(line)
    for lab, is_new in _record(labs):
        said = "recorded" if is_new else "nothing has changed"
        out.print(f"{lab}: {said}", markup=False, style="green" if is_new else "dim")
    return 0


def _practised(course: Course) -> list[Lab]:
    """The labs that a student can do without torch."""
    from .engine.check import is_bench

    return [lab for lab in course.released_labs() if not is_bench(lab.name)]


def _record(labs: list[Lab]) -> Iterator[tuple[Lab, bool]]:
    """Record what has changed of labs. Gives each lab, and whether anything has."""
    from .author.build import execute
    from .engine import practice

    with _progress() as progress:
        for done, lab in enumerate(labs):
            progress(done, len(labs), f"{lab}: asking torch")
            yield lab, practice.record(lab.name) | practice.record_outputs(lab.name, execute)


@app.command()
@click.argument("wanted", metavar="[LAB...]", nargs=-1)
def mutants(wanted: tuple[str, ...]) -> int:
    """Look for mistakes in a lab that its checks do not catch.

    Every small mistake in a reference must fail its check. LAB is a lab, or a phase, which means all its labs. Without one, all
    of them are tried.
    """
    course = Course()
    labs = [lab for number in wanted for lab in course.find_labs(number)] or course.labs()
    _need_repository()
    from .author.mutants import report  # it forks, which Windows cannot

    return max(report(lab, out) for lab in labs)


@app.command("translate")
@click.argument("language", required=False)
@click.argument("texts", metavar="[TEXT...]", nargs=-1)
@click.option("--status", is_flag=True, help="Change nothing; count what is translated, fuzzy and missing.")
def translate_texts(language: str | None, texts: tuple[str, ...], status: bool) -> int:
    """Bring the catalogues of a language in step with the texts.

    LANGUAGE is a code such as fr. TEXT begins the catalogue of a page, a reading or a lab: docs/index, phases/01_strided,
    labs/01a_views. A message that has changed is fuzzy, and is shown in English until somebody looks at it.
    """
    _need_repository()
    from .author import translate
    from .translation import languages

    chosen = [language] if language else languages()
    if status:
        for each in chosen:
            out.print(_table_of_texts(each, translate.status(each)))
        return 0
    lines = []
    for each in chosen:
        for path in translate.renew(each, texts):
            out.print(f"{_short(path)}: in step with its text", markup=False, style="green")
        lines += [f"{each}: {line}" for line in translate.all_broken(each)]
    for line in lines:
        out.print(line, markup=False, style="red")
    return 1 if lines else 0


def _table_of_texts(language: str, status: dict[str, Counts]) -> Table:
    table = Table(
        "text", "translated", "fuzzy", "missing", title=f"{language}", title_justify="left", box=None, pad_edge=False
    )
    for column in table.columns[1:]:
        column.justify = "right"
    for name, counts in status.items():
        of = counts.translated + counts.fuzzy + counts.missing
        style = "green" if counts.translated == of else "" if counts.translated or counts.fuzzy else "dim"
        table.add_row(name, f"{counts.translated}", f"{counts.fuzzy}", f"{counts.missing}", style=style)
    total = [sum(getattr(counts, kind) for counts in status.values()) for kind in ("translated", "fuzzy", "missing")]
    table.add_row("all", *map(str, total))
    return table


@app.command()
@click.option("--serve", is_flag=True, help="Serve it on this machine instead, and rebuild on changes.")
@click.option("--lite", is_flag=True, help="Add JupyterLite: notebooks of the labs that run in a browser.")
def docs(serve: bool, lite: bool) -> int:
    """Build the site into site/. It shows what is recorded of torch, so what has changed is recorded first."""
    _need_repository()
    if serve and lite:
        raise click.UsageError("--lite needs a site that stays: build it without --serve.")
    if serve:
        port = _free_port(8000)
        how = ["serve", "--dev-addr", f"127.0.0.1:{port}"]
        out.print(f"the site will be at http://127.0.0.1:{port}/" + (" (port 8000 is taken)" if port != 8000 else ""))
    else:
        how = ["build", "--strict"]
        _record_for_site()
    command = [sys.executable, "-m", "mkdocs", *how]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"} | ({"RUSHLIGHT_LITE": "true"} if lite else {})
    code = subprocess.call(command, cwd=ROOT, env=environment)
    if code == 0 and lite:
        code = subprocess.call([sys.executable, "docs/browser/lite.py", "site/lite"], cwd=ROOT)
    if code == 0 and not serve:
        out.print(f"the site is in {_short(ROOT / 'site')}/index.html")
    return code


def _record_for_site() -> None:
    from .engine import practice

    if line := practice.about_judge():
        out.print(f"{line}. The site shows only what has been recorded of torch", markup=False)
        return
    for lab, is_new in _record(_practised(Course())):
        if is_new:
            out.print(f"{lab}: torch's answers are recorded", markup=False, style="green")


def _need_repository() -> None:
    if not (COURSE / "mkdocs.yml").exists():
        raise LookupError(
            "this needs the course's repository: an installed package and a class repository have no sources"
        )


def _free_port(first: int) -> int:
    for port in range(first, first + 50):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a port that a server has just left is free
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise OSError(f"the ports {first} to {first + 49} are all taken: end one of the servers that hold them")


def _short(path: Path) -> str:
    path = path.resolve()
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


if __name__ == "__main__":
    main()
