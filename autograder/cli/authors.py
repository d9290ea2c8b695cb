"""The commands of authors: `build`, `plant`, `record`, `mutants`, `translate`, `docs`."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.table import Table

from ..course import ROOT
from ..model import Course, Lab
from .base import app, need_repository, out, progress_bar, short

if TYPE_CHECKING:
    from ..author.translate import Counts


@app.command()
@click.argument("labs", metavar="[LAB...]", nargs=-1)
@click.option("--check", is_flag=True, help="Build nothing; fail if a notebook differs from a rebuild.")
@click.option("--force", is_flag=True, help="Write and execute them even if no cell has changed.")
def build(labs: tuple[str, ...], check: bool, force: bool) -> int:
    """Build the notebooks and the generated code from their sources.

    LAB is a lab, or a phase, which means its reading and all its labs. Without one, everything is built.
    """
    need_repository()
    from rushlight.torchgen import gen, gen_autograd, gen_pyi

    from ..author import build as building
    from ..author import translate
    from ..translation import languages

    names = [name for number in labs for name in building.find_sources(number)] or building.sources()
    generators = (gen, gen_autograd, gen_pyi)
    with progress_bar() as progress:
        if check:
            stale = []
            for done, name in enumerate(names):
                progress(done, len(names), name)
                stale += building.stale(name)
            stale += [path for generator in generators for path in gen.stale(generator)]
            stale += [path for language in languages() for path in translate.stale(language)]
            for path in stale:
                out.print(f"{short(path)} differs from a rebuild: `rushlight build` renews it", markup=False)
            if not stale:
                out.print("nothing differs from a rebuild", style="dim")
            return 1 if stale else 0
        renewed = [short(path) for generator in generators for path in gen.write(generator)]
        if renewed:
            out.print(f"{', '.join(renewed)}: new; run this again for the notebooks", markup=False)
            return 0
        for done, name in enumerate(names):
            progress(done, len(names), name)
            written = ", ".join(map(short, building.build(name, force)))
            out.print(f"{name}: {written or 'nothing has changed'}", markup=False, style="green" if written else "dim")
    for path in (path for language in languages() for path in translate.renew(language)):
        out.print(f"{short(path)}: in step with its text", markup=False, style="green")
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
    need_repository()
    from ..author.plant import plant as add

    found = Course().find_lab(lab)
    for path in add(found, function, file):
        out.print(short(path), markup=False)
    out.print(
        f"`rushlight build {found.number}` builds the lab with it; its text is a section of {short(found.source)}"
    )
    return 0


@app.command()
@click.argument("wanted", metavar="[LAB...]", nargs=-1)
def record(wanted: tuple[str, ...]) -> int:
    """Record what torch answers, for machines without torch.

    The outputs of cells that run torch are recorded, too. LAB is a lab, or a phase, which means all its labs. Without one, all labs
    are recorded that do not work on torch itself. A lab is recorded again only if its checks or its solution have changed.
    """
    course = Course()
    labs = [lab for number in wanted for lab in course.find_labs(number)] or _practised(course)
    from ..engine import practice

    if line := practice.about_judge():
        raise LookupError(line)
    for lab, is_new in _record(labs):
        said = "recorded" if is_new else "nothing has changed"
        out.print(f"{lab}: {said}", markup=False, style="green" if is_new else "dim")
    return 0


def _practised(course: Course) -> list[Lab]:
    """The labs that a student can do without torch."""
    from ..engine.check import is_on_torch

    return [lab for lab in course.released_labs() if not is_on_torch(lab.name)]


def _record(labs: list[Lab]) -> Iterator[tuple[Lab, bool]]:
    """Record what has changed of labs. Gives each lab, and whether anything has."""
    from ..author.build import execute
    from ..engine import practice

    with progress_bar() as progress:
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
    need_repository()
    from ..author.mutants import report  # it forks, which Windows cannot

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
    need_repository()
    from babel import Locale, UnknownLocaleError

    from ..author import translate
    from ..translation import languages

    try:
        Locale.parse(language or "en")
    except (ValueError, UnknownLocaleError):
        raise LookupError(f"{language!r} is no code of a language, such as fr or pt_BR") from None
    chosen = [language] if language else languages()
    if status:
        for each in chosen:
            out.print(_table_of_texts(each, translate.status(each)))
        return 0
    lines = []
    for each in chosen:
        renewed = [*translate.renew(each, texts)]
        for path in renewed:
            out.print(f"{short(path)}: in step with its text", markup=False, style="green")
        if not renewed:
            out.print(f"{each}: nothing has changed", style="dim")
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
    """Build the site into site/.

    It shows what is recorded of torch, so what has changed is recorded first.
    """
    need_repository()
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
        code = subprocess.call([sys.executable, "docs/programs/browser/lite.py", "site/lite"], cwd=ROOT)
    if code == 0 and not serve:
        out.print(f"the site is in {short(ROOT / 'site')}/index.html")
    return code


def _record_for_site() -> None:
    from ..engine import practice

    if line := practice.about_judge():
        out.print(f"{line}. The site shows only what has been recorded of torch", markup=False)
        return
    for lab, is_new in _record(_practised(Course())):
        if is_new:
            out.print(f"{lab}: torch's answers are recorded", markup=False, style="green")


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
