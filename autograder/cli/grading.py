"""What `rushlight grade` shows of a lab: a bar, the table of marks, what waits, and where the files are."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table
from rich.text import Text

from ..model import Lab
from ..text import printable
from .base import out, short

if TYPE_CHECKING:
    from ..classroom.grade import Row


LINES = 10  # of progress outside a terminal, in all


@contextmanager
def logging_to(file: Path | None) -> Iterator[None]:
    """Within: the log of grading goes to a file. Without a file there is none."""
    from ..classroom.grade import log

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


def grade_lab(lab: Lab, force: bool, no_sandbox: bool, jobs: int | None, executor: Executor | None, *only: str) -> bool:
    """Grade one lab, or some students of it, and print the table and where the files are. Returns whether all are graded."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from ..classroom import grade as grading
    from ..classroom import kept_releases
    from ..classroom.items import warnings
    from ..classroom.report import write_report
    from ..engine.check import short_name
    from ..exam.book import shares_by_exam

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
    path, report = grading.write_csv(lab, rows), write_report(lab, rows, shares_by_exam(lab))
    wanted = [row for row in rows if not only or row.student in only]
    print_table(lab, wanted)
    if line := kept_releases.keep_release(lab):
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
    out.print(f"marks:    {short(path)}")
    out.print(f"report:   {short(report)}")
    out.print(f"feedback: {short(path.parent / 'feedback')}/STUDENT/{lab}/{lab}.html")
    return not any(row.problem for row in wanted)


def print_table(lab: Lab, rows: list[Row]) -> None:
    from ..classroom.grade import has_other_marks

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
        most += f"; the mark is in the gradebook: of {lab.all_points:g}, with points by hand"
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
