"""The commands of students: `lab`, `check`, `status`, `board`, `run`."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stdout, suppress
from functools import partial
from hashlib import sha256
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING

import click
from rich.table import Column, Table
from rich.text import Text

from ..course import COURSE, FOR_ASSISTANTS, READINGS, ROOT, cache_folder, locked, replacing, set_environment
from ..language import ENGLISH, language_of, phrase, speak, speaking
from ..model import Course, Lab, Submission, Unreadable, check_name, lab_names, read_notebook
from ..paths import core_checks, core_minutes, labs_of, sections_of
from ..text import printable
from .base import Advance, app, lang, need, need_language, out, progress_bar, short

if TYPE_CHECKING:
    from ..engine.verdict import Verdict


_no_sandbox = click.option(
    "--no-sandbox", is_flag=True, help="Run the cells as an ordinary process, where there is no sandbox."
)
_EVERYWHERE = "", "0.0.0.0", "::"  # hosts of a server that answers on all addresses of its machine
_ONE_OF_BOTH = "name a lab or a path, not both."
_notebook = click.option(
    "--notebook",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Take this notebook instead of the one in work/.",
)
_path = click.option(
    "--path", "way", metavar="NAME", help="The labs of a path: compiler, distributed, kernels or contributor."
)


@app.command()
@click.argument("lab", required=False)
@click.argument("more", nargs=-1, metavar="[-- OPTION...]")
@click.option("--no-open", is_flag=True, help="Only copy, and do not open it.")
@_path
@_no_sandbox
@lang
def lab(lab: str | None, more: tuple[str, ...], no_open: bool, way: str | None, no_sandbox: bool, language: str) -> int:
    """Copy a lab to work/ of the course's folder (once) and open it in JupyterLab.

    LAB is 01a by default. With --path it is the first lab of the path whose core is not finished. If JupyterLab runs here already,
    you get its address. Options after `--` are JupyterLab's, such as `-- --no-browser --port 8899`.
    """
    if lab and lab.startswith("-"):  # there is no lab, only options of JupyterLab
        more, lab = (lab, *more), None
    if more and not more[0].startswith("-"):
        raise click.UsageError(f"name one lab: {more[0]!r} is no option of JupyterLab.")
    if lab and way:
        raise click.UsageError(_ONE_OF_BOTH)
    need_language(language)
    click.get_current_context().with_resource(speaking(language))
    wanted = _next_of(way, no_sandbox) if way else Course().find_released(lab or _usual_lab())
    copy = wanted.work_path
    if copy.exists():
        said = speak("your copy is {path}", path=short(copy))
        if language and language != (_spoken_in(copy) or ENGLISH):
            said = speak(
                "your copy {path} is in another language, and stays as it is."
                " To begin again in this one, rename {folder} first",
                path=short(copy), folder=short(copy.parent),
            )  # fmt: skip
    else:
        try:
            _copy(wanted, language, copy)
        except BaseException:  # a full disk, or Ctrl-C: half a notebook would be taken for the student's
            copy.unlink(missing_ok=True)
            raise
        if FOR_ASSISTANTS.exists():  # a class repository has it at its top
            _copy_missing(FOR_ASSISTANTS, copy.parents[1] / "AGENTS.md")
        path = short(copy)
        said = speak("copied the lab to {path}; it is yours, and nothing here will overwrite it", path=path)
    if COURSE != ROOT:  # an installed wheel: the links of the notebook lead to the reading, whose links lead to others
        shutil.copytree(READINGS, ROOT / "phases", dirs_exist_ok=True, copy_function=_copy_missing)
    if line := _other_build():
        out.print(line, markup=False)
    _say_judge()
    if no_open:
        out.print(said, markup=False)
        return 0
    page = f"lab/tree/{copy.relative_to(ROOT).as_posix()}"
    turn = _turn()
    with turn:
        if server := _running():
            address = _address(server, page)
            out.print(f"{said}; {speak('JupyterLab runs already, at {address}', address=address)}", markup=False)
            if more:
                options = " ".join(more)
                out.print(
                    speak("{options}: no effect on a JupyterLab that runs already", options=options), markup=False
                )
            return 0
        code = _open(page, said, more, turn)
    if (
        code and hasattr(os, "geteuid") and os.geteuid() == 0 and "--allow-root" not in more
    ):  # below JupyterLab's own line
        command = f"`.venv/bin/rushlight lab {wanted.number} -- --allow-root`"
        out.print(speak("root must allow JupyterLab to start: {command}", command=command))
    return code


def _copy(lab: Lab, language: str, path: Path) -> None:
    """Copy a lab, in a language, to `path`."""
    if language not in ("", ENGLISH):
        from ..translation import copy_lab

        copy_lab(lab, language, path)
    else:
        shutil.copytree(lab.todays_path.parent, path.parent, dirs_exist_ok=True)
    _name_kernel(path)


def _copy_missing(source: str | Path, target: str | Path) -> None:
    """Copy a file unless there is one already, which may be somebody's own."""
    if not Path(target).exists():
        shutil.copyfile(source, target)


def _name_kernel(path: Path) -> None:
    """Write into a notebook what JupyterLab writes when it opens it with this kernel: opened, it is then as it was saved."""
    from ipykernel.ipkernel import IPythonKernel

    nb = json.loads(path.read_bytes())
    nb["metadata"]["language_info"] = IPythonKernel.language_info
    path.write_bytes((json.dumps(nb, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode())


def _turn() -> AbstractContextManager:
    """The turn to start JupyterLab on this folder, until it ends. Of two commands that start it at once one waits for the other."""
    folder = cache_folder() / "starting"
    with suppress(OSError):  # such as a full disk
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / sha256(str(ROOT).encode()).hexdigest()[:16]).open("wb")
        while not locked(file):
            time.sleep(0.1)
        return file
    return nullcontext()


def _open(page: str, said: str, more: tuple[str, ...], turn: AbstractContextManager) -> int:
    """Run JupyterLab with the page of a notebook until it is stopped. All that it prints, unless something fails, is its address.
    The `turn` to start it ends when it answers.

    A level of its log that is among the options holds for its server and for its extension LabApp.
    """
    quiet = ["--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    if not any(word in option for option in more for word in ("log-level", "log_level", "--debug")):
        quiet += ["--log-level=ERROR", "--LabApp.log_level=ERROR"]
    start = [f"--ServerApp.root_dir={ROOT}", f"--LabApp.default_url=/{page}"]
    set_environment(of_student=True)
    # JupyterLab prints a token that it makes itself, with a page of text
    os.environ.setdefault("JUPYTER_TOKEN", secrets.token_hex(24))
    with _start([sys.executable, "-m", "jupyterlab", *quiet, *start, *more]) as jupyterlab, _ending(jupyterlab):
        try:
            with turn, out.status(speak("starting JupyterLab")):
                address = _address_of_new(jupyterlab, page)
        except KeyboardInterrupt:
            jupyterlab.terminate()
            raise
        if address:
            more_said = speak("JupyterLab shows it at {address} (stop it with Ctrl-C)", address=address)
            out.print(f"{said}; {more_said}", markup=False)
        while True:
            try:
                return jupyterlab.wait()
            except KeyboardInterrupt:  # in a terminal JupyterLab receives it too, and asks whether to stop
                if not sys.stdin.isatty():
                    jupyterlab.terminate()


def _start(command: list[str]) -> subprocess.Popen:
    """Start JupyterLab. In a terminal it ignores Ctrl-C until it is ready to ask whether to stop."""
    before = signal.getsignal(signal.SIGINT)
    if sys.stdin.isatty():
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a new process inherits it
    try:
        return subprocess.Popen(command, cwd=ROOT)
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _ending(process: subprocess.Popen) -> Iterator[None]:
    """Within: SIGTERM ends another process, and not this one, which waits for it."""
    before = signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _address_of_new(jupyterlab: subprocess.Popen, page: str) -> str:
    """The address of a page of this JupyterLab as soon as it answers, or an empty string if it has ended."""
    from jupyter_core.paths import jupyter_runtime_dir

    path = Path(jupyter_runtime_dir()) / f"jpserver-{jupyterlab.pid}.json"
    while jupyterlab.poll() is None:
        with suppress(OSError, ValueError):  # it is not there yet, or half written
            return _address(json.loads(path.read_text(encoding="utf-8")), page)
        time.sleep(0.1)
    return ""


def _address(server: Mapping, page: str) -> str:
    url = server["url"]
    if server["hostname"] in _EVERYWHERE:  # a container's own name is unknown outside it
        url = url.replace(socket.gethostname(), "localhost", 1)
    return f"{url}{page}" + (f"?token={server['token']}" if server["token"] else "")


def _running() -> Mapping | None:
    """What Jupyter has written about a server that runs on this folder, if there is one that answers."""
    from jupyter_server.serverapp import list_running_servers

    for server in list_running_servers():
        if Path(server["root_dir"]).resolve() == ROOT:
            host = "localhost" if server["hostname"] in _EVERYWHERE else server["hostname"]
            with suppress(OSError), socket.create_connection((host, server["port"]), timeout=2):  # it has not died
                return server
    return None


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


@app.command()
@click.argument("lab", required=False)
@_notebook
@click.option("--json", "as_json", is_flag=True, help="Print the verdicts as JSON, for a program.")
@_no_sandbox
def check(lab: str | None, notebook: Path | None, as_json: bool, no_sandbox: bool) -> int:
    """Run the checks of your copy of a lab, without opening it.

    LAB is 01a by default. The exit code is 0 if all checks pass.
    """
    out.stderr = as_json  # where the bar and remarks go
    click.get_current_context().call_on_close(partial(setattr, out, "stderr", False))
    wanted = Course().find_released(lab or _usual_lab())
    path = _existing(notebook or wanted.work_path, wanted)
    _say_judge()
    with progress_bar() as progress:
        verdicts = _run(wanted, path, _isolated(no_sandbox, notebook), progress)
    passed = all(verdict.passed for verdict in verdicts.values())
    if as_json:
        from ..classroom.verdicts import as_data

        with speaking(ENGLISH):
            print(json.dumps(as_data(wanted, path, verdicts), indent=1))
        return 0 if passed else 1
    with speaking(_spoken_in(path)):
        _print_verdicts(verdicts, wanted)
    return 0 if passed else 1


def _existing(path: Path, lab: Lab) -> Path:
    if not path.exists():
        if path != lab.work_path:
            raise LookupError(f"there is no {short(path)}")
        raise LookupError(f"there is no {short(path)}: `rushlight lab {lab.number} --no-open` makes one")
    return path


def _spoken_in(path: Path) -> str:
    """The language of a notebook that is not English. Empty for another one, where the user's language counts."""
    with suppress(OSError, ValueError):
        language = language_of(json.loads(read_notebook(path)))
        return language if language != ENGLISH else ""
    return ""


def _print_verdicts(verdicts: dict[str, Verdict], lab: Lab) -> None:
    from ..engine.check import short_name

    untouched = [verdict for verdict in verdicts.values() if _is_untouched(verdict)]
    for verdict in verdicts.values():
        if verdict not in untouched:
            out.print(_coloured(verdict))
    if untouched:
        names = "\n".join(f"  {short_name(verdict.check)}" for verdict in untouched)
        out.print(f"– {speak('not attempted')}:\n{names}", style="dim", markup=False)
    _print_points(lab, [check for check, verdict in verdicts.items() if verdict.passed])


def _print_points(lab: Lab, passed: list[str]) -> None:
    from ..engine.card import points_of

    points = points_of(sum(worth for check, worth in lab.points.items() if check in passed), lab.all_points)
    written = lab.written_points
    more = speak(", {written:g} of them for your written answer", written=written) if written else ""
    out.print(f"\n[bold]{points}[/bold]{more}")


def _say_judge() -> None:
    """Print who answers in the place of torch, if it is not here."""
    from ..engine.practice import about_judge

    if line := about_judge():
        out.print(speak(line), style="dim", markup=False)


def _is_untouched(verdict: Verdict) -> bool:
    """Whether there is nothing to read about a check: its exercise is as the lab has it, or its milestone is not reached."""
    from ..engine.verdict import NOT_ATTEMPTED, outcome_of

    return outcome_of(verdict.as_dict()) == NOT_ATTEMPTED


def _coloured(verdict: Verdict) -> Text:
    """A verdict's text with its mark and the names of its rows in colour."""
    text = Text("\n".join(map(printable, str(verdict).splitlines())))
    text.highlight_regex(r"^✓", "bold green")
    text.highlight_regex(r"^✗", "bold red")
    text.highlight_regex(r"(?m)^  [^\W\d_](?:[^\W\d_]|[' ])*?(?=  )", "cyan")
    return text


@app.command()
@click.argument("lab", required=False)
@_notebook
@_no_sandbox
def board(lab: str | None, notebook: Path | None, no_sandbox: bool) -> int:
    """Show what your finished answers ask for, in counts.

    LAB is 01a by default. Beside each number is the reference's, and the smallest possible where it is known. The numbers are the
    same on every machine. No points depend on them.
    """
    from ..engine import board

    wanted = Course().find_released(lab or _usual_lab())
    path = _existing(notebook or wanted.work_path, wanted)
    with progress_bar() as progress:
        verdicts = _run(wanted, path, _isolated(no_sandbox, notebook), progress)
    lines = board.lines(verdicts, [{name: verdict.counts for name, verdict in verdicts.items()}])
    if not lines:
        raise LookupError(f"there is no finished answer in {short(path)} that is counted")
    texts, numbers = ("exercise", "what it asks for"), ("yours", "the reference", "the smallest possible")
    table = Table(*texts, *(Column(head, justify="right") for head in numbers), box=None, pad_edge=False)
    for line, before in zip(lines, [None, *lines]):
        is_same = before is not None and line.exercise == before.exercise
        best = "" if line.best is None else f"{line.best:,}"
        table.add_row("" if is_same else line.exercise, line.what, line.answers, f"{line.reference:,}", best)
    out.print(table)
    return 0


@app.command(context_settings={"allow_interspersed_args": False})
@click.argument("words", metavar="PROGRAM [ARGUMENT...]", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("-m", "module", is_flag=True, help="PROGRAM is a module.")
@click.option("--mine", metavar="DIR", help="First plug in the finished pieces of the labs in DIR, such as work/.")
@click.option(
    "--answers", is_flag=True, help="Print at the end which functions the program called, and whose they are."
)
@click.option("--compare", is_flag=True, help="Run it on PyTorch, too, and print where the outputs differ.")
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    metavar="N",
    help="Seed of all random numbers. With --compare it is 0 unless named.",
)
def run(
    words: tuple[str, ...], module: bool, mine: str | None, answers: bool, compare: bool, seed: int | None
) -> int | None:
    """Run a program that was written for PyTorch on rushlight.

    PROGRAM is a script, a notebook or a module. In it, `import torch` is rushlight. ARGUMENTs are the program's own.
    """
    # two threads of a small product wait for each other on a busy machine
    os.environ.setdefault("OPENBLAS_NUM_THREADS", os.environ.get("OMP_NUM_THREADS", "1"))

    from rushlight.course import as_torch

    from ..notebook import run_command

    if compare:
        plugged = ["--mine", mine] if mine else []
        ours = [sys.executable, "-m", "autograder.cli", "run", *plugged]
        are_equal, lines = run_command.compare([*words], module, ours, seed or 0)
        out.print("\n".join(lines), markup=False)
        return 0 if are_equal else 1
    answered = run_command.Answers(_plugged_in(mine) if mine else {})
    if answers:
        answered.start()
    try:
        as_torch.run([*words], module, seed)
    finally:
        if answers:
            print(*answered.lines(), sep="\n", file=sys.stderr)
    return 0


def _plugged_in(folder: str) -> dict[CodeType, str]:
    """Plug in a student's finished pieces. Returns their names by their code."""
    from rushlight.course.short_names import short_form

    from ..engine.exercise import filled
    from ..notebook.work import use

    with redirect_stdout(sys.stderr):
        use(folder)
    return {
        function.__code__: short_form(f"{place}.{name}".removeprefix("rushlight."))
        for (place, name), function in filled().items()
    }


@app.command()
@click.argument("lab", required=False)
@_path
@click.option(
    "--record",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="With --path: write what passed to this page.",
)
@click.option("--name", metavar="NAME", help="With --record: the name on the page.")
@click.option("--student", metavar="ID", help="With --record: run what this student of the class has handed in.")
@click.option(
    "--verify",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Say whether a page is a whole record.",
)
@_no_sandbox
def status(
    lab: str | None,
    way: str | None,
    record: Path | None,
    name: str | None,
    student: str | None,
    verify: Path | None,
    no_sandbox: bool,
) -> int:
    """Show which labs and exercises are done in work/, and what is next.

    Of all labs it counts the checks that pass, and the points. Of one LAB it shows each exercise. With --path it also says what to
    read next and about how much time is left.
    """
    if lab and (way or record or verify):
        raise click.UsageError(_ONE_OF_BOTH if way else "a LAB has no record: --record and --verify are for a path.")
    if verify:
        from ..classroom import record as records

        holds, said = records.verified(verify, records.key_of(Course()))
        out.print(said, markup=False)
        return 0 if holds else 1
    if record:
        return _record(record, way, name, student, no_sandbox)
    if name or student:
        raise click.UsageError("--name and --student are for --record.")
    one = Course().find_released(lab) if lab else None
    labs = [one] if one else labs_of(way) if way else Course().released_labs()
    isolated = _isolated(no_sandbox)
    _say_judge()
    with progress_bar() as progress:
        passed = {lab: _passed_in_work(lab, isolated, progress) for lab in labs}
    if one:
        out.print(_table_of_exercises(one, passed[one]))
        _print_points(one, passed[one])
    else:
        out.print(_table_of_labs(passed))
    for line in _end(passed, way):
        out.print(line, markup=False)
    return 0


def _table_of_labs(passed: dict[Lab, list[str]]) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in (speak("lab"), speak("checks"), "", speak("points")):
        table.add_column(heading, justify="right" if heading in (speak("checks"), speak("points")) else "left")
    for lab in passed:
        worth, done = lab.points, [check for check in lab.points if check in passed[lab]]
        filled = round(20 * len(done) / len(worth))
        bar = f"[green]{'█' * filled}[/green][dim]{'░' * (20 - filled)}[/dim]"
        earned = f"{sum(worth[check] for check in done):g} / {lab.all_points:g}"
        is_begun = lab.work_path.exists()
        table.add_row(lab.name, f"{len(done)} / {len(worth)}", bar, earned, style="" if is_begun else "dim")
    return table


def _table_of_exercises(lab: Lab, passed: list[str]) -> Table:
    """A row for each exercise of a lab, in its order, with the points of its checks that pass."""
    from ..engine.check import exercise_of, is_milestone, short_name

    optional = {*lab.exercises} - {*lab.core}
    checks: dict[str, list[str]] = {}
    for check in lab.points:
        checks.setdefault(check if is_milestone(check) else exercise_of(check), []).append(check)
    minutes, table = core_minutes(lab), Table(box=None, pad_edge=False)
    for heading in ("", speak("exercise"), speak("points"), speak("minutes")):
        table.add_column(heading, justify="right" if heading in (speak("points"), speak("minutes")) else "left")
    for exercise, own in checks.items():
        done = [check for check in own if check in passed]
        mark = Text("✓", "bold green") if len(done) == len(own) else Text("–", "dim")
        earned, worth = (sum(lab.points[check] for check in some) for some in (done, own))
        takes = speak("milestone") if is_milestone(exercise) else str(minutes.get(exercise, ""))
        takes = speak("further") if exercise in optional else takes
        table.add_row(mark, short_name(exercise), f"{earned:g} / {worth:g}", takes)
    return table


def _passed_in_work(lab: Lab, isolated: bool, progress: Advance) -> list[str]:
    return _passed(lab, lab.work_path, isolated, progress) if lab.work_path.exists() else []


def _is_finished(lab: Lab, passed: list[str]) -> bool:
    """Whether all checks of the lab's core pass."""
    return {*core_checks(lab)} <= {*passed}


def _next_of(way: str, no_sandbox: bool) -> Lab:
    """The first lab of a path that is not finished, or the last lab."""
    labs, isolated = labs_of(way), _isolated(no_sandbox)
    with progress_bar() as progress:
        left = (lab for lab in labs if not _is_finished(lab, _passed_in_work(lab, isolated, progress)))
        return next(left, labs[-1])


def _end(passed: dict[Lab, list[str]], way: str | None) -> Iterator[str]:
    """What is below the table: the finished lab that was changed last, with what runs on its student's code, and what is next."""
    labs = [*passed]
    begun = sorted((lab for lab in labs if lab.work_path.exists()), key=lambda lab: lab.work_path.stat().st_mtime)
    finished = [lab for lab in begun if _is_finished(lab, passed[lab])]
    if finished:
        yield ""
        yield from _end_of(finished[-1], passed[finished[-1]])
    usual = next((lab for lab in labs if lab.name == _usual_lab()), labs[0])
    start = labs.index(labs[0] if way else begun[-1] if begun else usual)
    following = next((lab for lab in labs[start:] + labs[:start] if lab not in finished), None)
    if following is None and len(labs) == 1:  # the lab that was asked for
        whole = Course().released_labs()
        following = next(iter(whole[whole.index(labs[0]) + 1 :]), None)
        if following is None:
            return
    if following is None:
        yield "\n" + (speak("Every lab of the path is finished.") if way else speak("Every lab is finished."))
    else:
        done = _exercises(following, passed.get(following, []))
        todo = [exercise for exercise in following.core if exercise not in done]
        place = f"{following}, {todo[0]}" if todo and following in begun else following
        yield "\n" + speak("Next: {place}. `rushlight lab {number}` opens it.", place=place, number=following.number)
    if way:
        yield from _about_path(way, passed, following)


def _end_of(lab: Lab, passed: list[str]) -> Iterator[str]:
    """A finished lab: its points, which functions are the student's now, each with its counterpart in PyTorch, and what to do."""
    from ..engine.card import points_of
    from ..engine.check import function_of, short_name
    from ..notebook.end import hand_in

    earned = sum(worth for check, worth in lab.points.items() if check in passed)
    yield speak("{lab} is finished: {points}.", lab=lab, points=points_of(earned, lab.all_points))
    if lab.written_points:
        yield speak("Up to {written:g} more are for your written answer.", written=lab.written_points)
    sources = {}
    for exercise in lab.exercises:
        is_of_pytorch = not exercise.startswith("course.")  # such as cases for other functions
        if (
            is_of_pytorch
            and exercise in _exercises(lab, passed)
            and (source := re.search(r"Source: (`[^`]+`)", function_of(exercise).__doc__ or ""))
        ):
            sources[short_name(exercise)] = source[1].strip("`")
    if sources:
        yield speak("Your code now does the work of these places in PyTorch:")
        longest = max(map(len, sources))
        yield from (f"  {name:{longest}}  {source}" for name, source in sources.items())
    yield hand_in(lab, "`{}`".format)


def _exercises(lab: Lab, passed: list[str]) -> set[str]:
    """The exercises of a lab of which every check with points passes."""
    from ..engine.check import exercise_of, is_milestone

    checks = [check for check in lab.points if not is_milestone(check)]
    return {exercise_of(check) for check in checks} - {exercise_of(check) for check in checks if check not in passed}


def _about_path(way: str, passed: dict[Lab, list[str]], following: Lab | None) -> Iterator[str]:
    """What to read before the next lab of a path, and about how much time the exercises that are left take."""
    if following and not following.work_path.exists() and (sections := sections_of(way)[following.number]):
        yield speak("Read first:")
        for phase in dict.fromkeys(section.phase for section in sections):
            yield f"  {phase[:2]}  " + " · ".join(section.title for section in sections if section.phase == phase)
    left = 0
    for lab, checks in passed.items():
        done = _exercises(lab, checks)
        left += sum(minutes for exercise, minutes in core_minutes(lab).items() if exercise not in done)
    if left:
        hours = max(round(left / 30), 1) / 2
        yield speak("About {hours:g} h of exercises are left, without reading and written answers.", hours=hours)


def _record(path: Path, way: str | None, name: str | None, student: str | None, no_sandbox: bool) -> int:
    """Run the checks of a path and write the page about them. Only what a class has handed in gets the class's seal."""
    from ..classroom import record

    if not way or bool(name) == bool(student):
        raise click.UsageError("--record needs --path, and either --name or --student.")
    if student and no_sandbox:
        raise click.UsageError("what a student has handed in runs in a sandbox only.")
    labs, passed, isolated = labs_of(way), {}, _isolated(no_sandbox)
    if student and not any(Submission(lab, student).path.exists() for lab in labs):
        raise LookupError(f"no student {printable(student)!r} has handed in a lab of the path {way}")
    key = record.key_of(Course()) if student else None
    if student and key is None:
        command = Course().command("rushlight grade")
        raise LookupError(f"this class has no key yet: `{command}` makes it")
    _say_judge()
    with progress_bar() as progress:
        for lab in labs:
            copy = Submission(lab, student).path if student else lab.work_path
            verdicts = _run(lab, copy, isolated, progress) if copy.exists() else {}
            passed[lab] = [check for check, verdict in verdicts.items() if verdict.passed]
    record.write(path, name or str(student), way, passed, key)
    sealed = "sealed with the class's key" if student else "without a seal: no class vouches for it"
    out.print(f"{short(path)}: {sealed}", markup=False)
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
    from importlib import metadata, util

    whole = sha256(repr((isolated, sys.version, lab.required)).encode())
    for name in ("torch", "numpy"):
        with suppress(metadata.PackageNotFoundError):
            whole.update(metadata.version(name).encode())
    spec = util.find_spec("rushlight")
    folders = [Path(__file__).parents[1], *(Path(place) for place in (spec and spec.submodule_search_locations) or ())]
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


def _run(lab: Lab, path: Path, isolated: bool, progress: Advance) -> dict[str, Verdict]:
    from ..classroom.restore import StudentNotebook, differences
    from ..engine import sandbox

    need(isolated and sandbox.missing(lab.course.private_folders))
    try:
        copy = StudentNotebook(lab, read_notebook(path))
        notebook = copy.restored()
    except Unreadable as error:
        reason = str(error).removeprefix("not a notebook").removeprefix(" of this lab").removeprefix(": ")
        said, number = phrase(f"{short(path)} is not a notebook of {lab}: {reason}"), lab.number
        if path == lab.work_path:
            said = phrase(
                f"{said}. Rename the file, which keeps your work, and `rushlight lab {number}` copies the lab again"
            )
        raise LookupError(said) from None
    for line in differences(copy.content, copy.released):
        out.print(printable(f"{short(path)}: {line}"), markup=False, style="yellow")
    checks = list(filter(None, map(check_name, notebook.cells)))
    progress(0, len(checks), f"{lab}: starting torch")
    from ..engine import practice
    from ..engine.judge import Judge
    from ..engine.run import run

    def before(check: str) -> None:
        progress(checks.index(check), len(checks), f"{lab}: {check}")

    return run(notebook, lab, Judge(source=practice.source()), isolated, before)
