"""The end of a lab in a notebook: its points, which functions of the framework are now the student's, the way to hand it in, and
the next lab.

A page of the site has an end of its own (`docs/browser/end.js`).
"""

from __future__ import annotations

import html
import os
import re
from collections.abc import Callable, Collection

from .. import course
from ..course import READINGS, ROOT
from ..engine.card import GREEN, PALE_GREEN, chip, points_of
from ..engine.check import BODY, exercise_of, function_of, is_milestone, kind_of
from ..language import ENGLISH, FOLDER, language, messages, speak
from ..model import Course, Lab, phases
from . import pieces

COUNTERPART = re.compile(r"^ *Source:\s+`([^`]+)`(?:,\s+`([^`]+)`)?", re.MULTILINE)  # in a docstring
CORE, ALL = "the core", "all"
READING = "reading.ipynb"

_shown: dict[str, str] = {}  # by lab, what of it was done after its last check


def counterpart_of(docstring: str) -> str:
    """Where the counterpart of an exercise is in PyTorch's source, or nothing."""
    found = COUNTERPART.search(docstring)
    return ", ".join(filter(None, found.groups())) if found else ""


def end_of(lab: Lab, passed: Collection[str], settled: Collection[str]) -> dict[str, str]:
    """The end of a lab as HTML and as text, if its core, or all of it, is done now and was not before. Otherwise nothing.

    `settled` are the checks that cannot pass any more: a first prediction that was wrong gives no points.
    """
    left = [check for check in lab.points if check not in passed and check not in settled]
    is_core = any(is_milestone(check) or exercise_of(check) in lab.core for check in left)
    now = "" if is_core else CORE if left else ALL
    before, _shown[lab.name] = _shown.get(lab.name, ""), now
    if not now or now == before:
        return {}
    lines = [*_lines(lab, passed, left)]
    title = speak("Lab {number}: finished", number=lab.number)
    title = speak("Lab {number}: the core is finished", number=lab.number) if left else title
    body = "".join(f'<div style="margin:4px 0">{line}</div>' for line in lines)
    style = f"border-left:4px solid {PALE_GREEN};padding:2px 12px;margin:12px 0"
    text = "\n".join(html.unescape(re.sub("<[^>]+>", "", line.replace("<li>", "\n  "))) for line in lines)
    return {
        "text/html": f'<div style="{style}"><div>{chip(title, GREEN)}</div>{body}</div>',
        "text/plain": f"{title}\n{text}",
    }


def _lines(lab: Lab, passed: Collection[str], left: list[str]) -> list[str]:
    """The lines of an end, as HTML."""
    said = []
    if lab.written_points:
        worth = f"{lab.written_points:g}"
        said.append(speak("Your written answer, which your instructor marks, is worth {worth} more.", worth=worth))
    names = list(dict.fromkeys(exercise_of(check) for check in left if not is_milestone(check)))
    if names:
        said.append(speak("Left, if you like: {names}.", names=", ".join(map(_short, names))))
    points = f"<b>{points_of(sum(lab.points[check] for check in passed), lab.all_points)}</b>"
    lines = [" · ".join(filter(None, [points, " ".join(said)]))]
    done = {exercise_of(check) for check in passed if not is_milestone(check)}
    yours = [name for name in lab.exercises if name in done and name not in names and kind_of(name) == BODY]
    if yours:
        said = speak("These functions of the framework are now your code, with their counterparts in PyTorch:")
        lines.append(f'{said}<ul style="margin:4px 0">{"".join(map(_item, yours))}</ul>')
    called = set().union(*pieces.stages().values()) & {*yours}
    if called:
        counts = {"count": len(called), "whole": len(yours)}
        said = speak("A training step of the GPT of phase 12 calls {count} of these {whole}.", **counts)
        code = _code('from autograder import path, use; use("work/"); path()')
        draws = speak("{code} in any notebook draws the pieces of all your labs in it.", code=code)
        lines.append(f"{said} {draws}")
    return [*lines, hand_in(lab, _code), *_next(lab)]


def hand_in(lab: Lab, code: Callable[[str], str]) -> str:
    """How a student tries the whole lab as grading does, and hands it in. `code` marks a command or a file.

    A lab from nbgrader's exchange is not in work/.
    """
    if not lab.work_path.exists():
        return speak(
            "To hand in: save the notebook. Validate, above it, runs all of it in a fresh kernel."
            " Then submit the lab under Nbgrader, Assignment List."
        )
    command, file = (
        code(f"rushlight check {lab.number}"),
        code(lab.work_path.relative_to(course.WORK.parent).as_posix()),
    )
    return speak(
        "To hand in: save the notebook. {command} in a terminal runs all of it in a fresh kernel, as grading does."
        " Then hand in the file {file} in the way that your instructor says.",
        command=command,
        file=file,
    )


def _item(exercise: str) -> str:
    where = counterpart_of(function_of(exercise).__doc__ or "")
    return f"<li>{_code(_short(exercise))}{' <small>' + html.escape(where) + '</small>' if where else ''}</li>"


def _code(text: str) -> str:
    return f"<code>{html.escape(text)}</code>"


def _short(exercise: str) -> str:
    return exercise.rpartition(".")[2]


def _next(lab: Lab) -> list[str]:
    """The reading and the lab that come next, each as a link from a notebook in its folder.

    A student who reads the labs in another language has the reading of each beside it (`translation.copy_lab`).
    """
    labs = Course().released_labs()
    if lab not in labs[:-1]:
        return []
    following = labs[labs.index(lab) + 1]
    lines, is_beside = [], lab.work_path.with_name(READING).exists()
    phase = next(name for name in phases() if name[:2] == following.phase)
    reading = following.work_path.with_name(READING) if is_beside else ROOT / READINGS.name / phase / READING
    if following.phase != lab.phase and reading.exists():
        text = speak("the reading of phase {phase}", phase=following.phase)
        lines.append(speak("Next: {what}", what=_link(os.path.relpath(reading, lab.work_path.parent), text)))
    heading = "".join(following.released["cells"][0]["source"]).partition("\n")[0].removeprefix("# ")
    title = messages(FOLDER / language() / f"labs/{following}.po").get(heading, heading)
    if following.work_path.exists():
        path = os.path.relpath(following.work_path, lab.work_path.parent)
        return [*lines, speak("Next: {what}", what=_link(path, title))]
    command = _code(
        f"rushlight lab {following.number}{'' if language() == ENGLISH else f' --lang {language()}'} --no-open"
    )
    said = speak("{command} in a terminal (menu File, New) copies it to work/.", command=command)
    if is_beside:
        said = speak("{command} in a terminal (menu File, New) copies it and its reading to work/.", command=command)
    return [*lines, f"{speak('Next: {what}', what=f'<b>{html.escape(title)}</b>')}: {said}"]


def _link(path: str, text: str) -> str:
    return f'<a href="{html.escape(path.replace(os.sep, "/"))}">{html.escape(text)}</a>'
