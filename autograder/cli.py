"""The command `rushlight`."""

from __future__ import annotations

import argparse
import os
import shutil
import socket
import subprocess
import sys
from concurrent.futures import Executor
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from rushlight.torchgen import gen, gen_autograd

from . import build, sandbox
from .build import BuildError
from .course import (
    RELEASED,
    ROOT,
    WORK,
    classroom,
    find_labs,
    find_released,
    labs,
    number_of,
    phases,
    points,
    printable,
    released_labs,
    set_environment,
    written_points,
)
from .observe import GradingError, NotGraded
from .release import release
from .restore import differences, released_notebook, restore
from .run import run
from .sample import make

if TYPE_CHECKING:
    from .grade import Row

out = Console(highlight=False, soft_wrap=True)


def main() -> None:
    """Run one command. An error is one line on standard error and exit code 1."""
    arguments = _parser().parse_args()
    try:
        sys.exit(arguments.run(arguments))
    except (LookupError, BuildError, GradingError, NotGraded, ModuleNotFoundError, OSError) as error:
        message = error.args[0] if isinstance(error, LookupError) else error
        sys.exit(f"rushlight: {message}")
    except KeyboardInterrupt:
        sys.exit("rushlight: interrupted; run it again to go on")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="rushlight", description="A course in PyTorch's internals, graded against the real one."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(function, text):
        sub = commands.add_parser(function.__name__.removesuffix("_"), help=text, description=text)
        sub.set_defaults(run=function)
        return sub

    sub = command(lab, "copy a lab to work/ (once) and open it in JupyterLab")
    sub.add_argument("lab", nargs="?", help="01 by default")
    sub.add_argument("--no-open", action="store_true", help="only copy")
    sub.add_argument(
        "more", nargs="*", metavar="-- OPTION", help="passed to jupyter lab, such as --no-browser --port 8899"
    )
    sub = command(check, "compare your copy of a lab with torch, without opening it")
    sub.add_argument("lab", nargs="?", help="01 by default")
    sub.add_argument("--notebook", type=Path, help="another notebook than the one in work/")
    sub.add_argument("--no-sandbox", action="store_true", help="run its cells as an ordinary process")
    sub = command(status, "show which pieces in work/ agree with torch, and the points")
    sub.add_argument("--no-sandbox", action="store_true", help="run the cells as an ordinary process")
    sub = command(build_, "build the notebooks and the generated part of the framework from their sources")
    sub.add_argument("lab", nargs="*", help="all of them by default")
    sub.add_argument("--check", action="store_true", help="build nothing; fail if a notebook differs from a rebuild")
    sub.add_argument("--force", action="store_true", help="write and execute them even if no cell has changed")
    sub = command(grade_, "autograde every submission of a lab with nbgrader, and write feedback")
    sub.add_argument("lab", nargs="?", default="01")
    sub.add_argument("--sample", action="store_true", help="grade a sample class in sample/, not the one in classroom/")
    sub.add_argument("--force", action="store_true", help="grade all submissions again (manual scores stay)")
    sub.add_argument(
        "--no-sandbox", action="store_true", help="run submissions as ordinary processes: only for code you trust"
    )
    sub.add_argument("--jobs", type=int, metavar="N", help="submissions to mark at once (default: one per core)")
    sub.add_argument(
        "--scheduler", metavar="ADDRESS", help="mark on the workers of a dask.distributed scheduler instead"
    )
    sub = command(release_, "write a repository of labs for students, without the answers")
    sub.add_argument("lab", nargs="+", help="a lab, or a phase, which means all its labs")
    sub.add_argument("--out", type=Path, required=True, metavar="DIR", help="a folder that does not exist yet")
    sub.add_argument(
        "--core", action="store_true", help="further exercises of these labs carry no points in this class"
    )
    sub = command(mutants_, "look for mistakes in a phase's references that its checks do not catch")
    sub.add_argument("phase", nargs="*", help="all of them by default")
    sub = command(docs, "build the site into site/")
    sub.add_argument("--serve", action="store_true", help="serve it on this machine instead, and rebuild on changes")
    return parser


# Students ------------------------------------------------------------------------------------------------------------


def lab(arguments: argparse.Namespace) -> int:
    name = find_released(arguments.lab or _usual_lab())
    copy = WORK / name / f"{name}.ipynb"
    if not copy.exists():
        shutil.copytree(RELEASED / name, copy.parent, dirs_exist_ok=True)
        out.print(f"copied the lab to {_short(copy)}; it is yours, and nothing here will overwrite it")
    else:
        out.print(f"your copy is {_short(copy)}")
    if line := _other_build():
        out.print(line, markup=False)
    if arguments.no_open:
        return 0
    if hasattr(os, "geteuid") and os.geteuid() == 0 and "--allow-root" not in arguments.more:
        out.print(f"root must allow JupyterLab to start: `.venv/bin/rushlight lab {number_of(name)} -- --allow-root`")
    quiet = ["--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    start = [f"--ServerApp.root_dir={ROOT}", f"--LabApp.default_url=/lab/tree/{copy.relative_to(ROOT).as_posix()}"]
    command = [sys.executable, "-m", "jupyter", "lab", *quiet, *start, *arguments.more]
    set_environment()
    with subprocess.Popen(command, cwd=ROOT) as jupyterlab:
        while True:
            with suppress(KeyboardInterrupt):  # JupyterLab receives it too, and asks whether to stop
                return jupyterlab.wait()


def _other_build(driver: Path = Path("/proc/driver/nvidia/version")) -> str:
    """How to get torch's build for CUDA, if there is an NVIDIA driver here and torch is the build for the CPU."""
    try:
        found = version("torch")
    except PackageNotFoundError:
        return ""
    if not found.endswith("+cpu") or not (driver.exists() or shutil.which("nvidia-smi")):
        return ""
    exactly = f"torch==={found.removesuffix('+cpu')}"
    pip = ".venv/bin/python -m pip install --force-reinstall --constraint constraints.txt"
    return f"there is an NVIDIA driver here, and torch is a build for the CPU; for CUDA: `{pip} {exactly}`"


def _usual_lab() -> str:
    """Lab 01, or the first lab of a class repository without it."""
    return next((lab for lab in labs() if lab.startswith("01")), labs()[0])


def check(arguments: argparse.Namespace) -> int:
    name = find_released(arguments.lab or _usual_lab())
    path = arguments.notebook or WORK / name / f"{name}.ipynb"
    if not path.exists():
        raise LookupError(f"there is no {_short(path)}: `rushlight lab {number_of(name)} --no-open` makes one")
    verdicts = _run(name, path, isolated=not arguments.no_sandbox)
    for verdict in verdicts.values():
        out.print("\n".join(map(printable, str(verdict).splitlines())), markup=False)
    worth = points(name)
    earned = sum(worth[check] for check, verdict in verdicts.items() if verdict.passed and check in worth)
    written = written_points(name)
    more = f", and up to {written:g} for your written answer" if written else ""
    out.print(f"\n{earned:g} of {sum(worth.values()):g} points{more}")
    return 0 if all(verdict.passed for verdict in verdicts.values()) else 1


def status(arguments: argparse.Namespace) -> int:
    table = Table(box=None, pad_edge=False)
    for heading, justify in (("lab", "left"), ("pieces", "right"), ("", "left"), ("points", "right")):
        table.add_column(heading, justify=justify)
    for name in released_labs():
        path, worth = WORK / name / f"{name}.ipynb", points(name)
        verdicts = _run(name, path, isolated=not arguments.no_sandbox) if path.exists() else {}
        done = [check for check in worth if check in verdicts and verdicts[check].passed]
        filled = round(20 * len(done) / len(worth))
        earned = f"{sum(worth[check] for check in done):g} / {sum(worth.values()):g}"
        table.add_row(name, f"{len(done)} / {len(worth)}", "█" * filled + "░" * (20 - filled), earned)
    out.print(table)
    return 0


def _run(name: str, path: Path, isolated: bool) -> dict:
    if isolated and (reason := sandbox.missing()):
        raise GradingError(reason.replace("grade with", "use").replace(" (the report will say so)", ""))
    released = released_notebook(name)
    try:
        copy = nbformat.read(path, as_version=4)
        notebook, remarks = restore(copy, released), differences(copy, released)
    except (ValueError, AttributeError) as error:
        raise LookupError(f"{_short(path)} is not a notebook of {name}: {str(error).splitlines()[0]}") from None
    for line in remarks:
        out.print(printable(f"{_short(path)}: {line}"), markup=False)
    from .judge import Judge  # imports torch, which most commands do not need

    return run(notebook, name, Judge(), isolated)


# Authors and instructors ---------------------------------------------------------------------------------------------


def build_(arguments: argparse.Namespace) -> int:
    names = [name for number in arguments.lab for name in build.find_sources(number)] or build.sources()
    if arguments.check:
        stale = [path for name in names for path in build.stale(name)]
        stale += [path for generator in (gen, gen_autograd) for path in gen.stale(generator)]
        for path in stale:
            out.print(f"{_short(path)} differs from a rebuild: `rushlight build` renews it")
        return 1 if stale else 0
    renewed = [_short(path) for generator in (gen, gen_autograd) for path in gen.write(generator)]
    if renewed:
        out.print(f"{', '.join(renewed)}: new; run this again for the notebooks")
        return 0
    for name in names:
        written = build.build(name, arguments.force)
        out.print(f"{name}: " + (", ".join(_short(path) for path in written) or "nothing has changed"))
    return 0


def grade_(arguments: argparse.Namespace) -> int:
    from .grade import grade, students, write_csv  # imports nbgrader, which other commands do not need

    name = find_released(arguments.lab)
    if arguments.sample:
        os.environ["RUSHLIGHT_CLASSROOM"] = str(ROOT / "sample")
        make(classroom())
    total = len(students(name))
    columns = (
        SpinnerColumn(),
        TextColumn("{task.completed:.0f} of {task.total:.0f}"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=out, transient=True) as bar:
        task = bar.add_task("", total=total)

        def progress(student: str) -> None:
            bar.update(task, advance=1, description=escape(printable(student)))

        executor = _engine(arguments.scheduler) if arguments.scheduler else None
        rows = grade(name, arguments.force, not arguments.no_sandbox, arguments.jobs, executor, progress)
    from .report import write_report  # imports matplotlib, which other commands do not need

    path, report = write_csv(name, rows), write_report(name, rows)
    _print_table(name, rows)
    if arguments.no_sandbox:
        out.print("graded WITHOUT a sandbox: a submission could have read or changed anything that you can")
    out.print(f"grades:   {_short(path)}")
    out.print(f"report:   {_short(report)}")
    out.print(f"feedback: {_short(path.parent / 'feedback')}/STUDENT/{name}/{name}.html")
    return 0


def _engine(address: str) -> Executor:
    """The workers of a dask.distributed scheduler, as an executor."""
    try:
        from distributed import Client
    except ImportError:
        raise GradingError("--scheduler needs dask.distributed: pip install 'rushlight[cluster]'") from None
    try:
        return Client(address, timeout="10s").get_executor(pure=False)
    except (OSError, ValueError) as error:
        raise GradingError(f"no scheduler answers at {address}: {error}") from None


def _print_table(name: str, rows: list[Row]) -> None:
    worth = points(name)
    table = Table(
        title=f"Lab {name}", title_justify="left", pad_edge=False, padding=(0, 1, 0, 0), box=None, header_style="bold"
    )
    for heading in ("student", *map(str, range(1, len(worth) + 1)), "total"):
        table.add_column(heading, justify="left" if heading == "student" else "right", no_wrap=heading != "student")
    for row in rows:
        scores = [f"{row.scores[check]:g}" if row.scores.get(check) else "·" for check in worth]
        table.add_row(_short_name(row), *scores, f"{row.total:g}")
    out.print(table)
    legend = ", ".join(
        f"{number} {check.partition('.')[2]} ({worth[check]:g})" for number, check in enumerate(worth, 1)
    )
    out.print(f"\n{legend}; {sum(worth.values()):g} points in all, written answers apart", style="dim")
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


def release_(arguments: argparse.Namespace) -> int:
    names = [find_released(lab) for number in arguments.lab for lab in find_labs(number)]
    folder = release(list(dict.fromkeys(names)), arguments.out.resolve(), arguments.core)
    out.print(f"the class repository is {_short(folder)}: `git init` there, or hand it out as it is")
    return 0


def mutants_(arguments: argparse.Namespace) -> int:
    from .mutants import report  # it forks, which Windows cannot

    names = [phase for phase in phases() if not arguments.phase or {phase, phase[:2]} & {*arguments.phase}]
    if not names:
        raise LookupError(f"there is no phase {arguments.phase[0]!r}; the phases are {', '.join(phases())}")
    return max(report(name, out) for name in names)


def docs(arguments: argparse.Namespace) -> int:
    if arguments.serve:
        port = _free_port(8000)
        how = ["serve", "--dev-addr", f"127.0.0.1:{port}"]
        out.print(f"the site will be at http://127.0.0.1:{port}/" + (" (port 8000 is taken)" if port != 8000 else ""))
    else:
        how = ["build", "--strict"]
    command = [sys.executable, "-m", "mkdocs", *how]
    code = subprocess.call(command, cwd=ROOT, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"})
    if code == 0 and not arguments.serve:
        out.print(f"the site is in {_short(ROOT / 'site')}/index.html")
    return code


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
