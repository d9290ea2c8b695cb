"""Paths through the course: some labs in a row, with the sections of readings that they need and no others.

A section says under *In the lab:* which exercises it explains, so a path has the sections that name a core exercise of its labs.
The framework is complete, so no lab needs another one to run: each runs on the framework's own pieces. A lab that needs the ideas
of another one says so in its paragraph *Needs.*
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from .course import READINGS
from .model import Course, Lab, check_name, exercise_name, is_further, phases

PATHS = {
    "compiler": ["01a", "07a", "07b", "07c", "08a", "08b"],
    "distributed": ["01a", "04a", "09a", "09b", "09c", "09e"],
    "kernels": ["00", "03a", "11c", "14a", "14b", "14c"],
    "contributor": ["00", "02a", "06a", "07d", "15a", "15c"],
}
WORDS_A_MINUTE = 180
_FENCED = re.compile(r"^(```+|~~~+).*?^\1`*$", re.MULTILINE | re.DOTALL)
_UNREAD = re.compile(_FENCED.pattern + r"|<(pre|svg|script|math)\b.*?</\2>|<[^>]+>", re.MULTILINE | re.DOTALL)
_QUESTION = re.compile(r"(?:\*\*|<p>(?:<span[^>]*>)?<strong>)[^*<\n]+\.(?:\*\*|</strong>).*\?")
_HEADING = re.compile(r"^#{1,2} +(.+)$", re.MULTILINE)
_IN_THE_LAB = re.compile(r"^\*\*In the lab:\*\*.*?(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)
_NEEDS = re.compile(r"^\*\*Needs\.\*\*(.*?)(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)
_EFFORT = re.compile(r"# [★☆]{3} · about (\d+) minutes")


@dataclass(frozen=True)
class Section:
    """A section of a reading. `minutes` are those that reading it takes, and `exercises` those that it explains."""

    phase: str
    title: str
    minutes: float
    exercises: frozenset[str]


def labs_of(path: str) -> list[Lab]:
    """The labs of a path, in order. Raises LookupError with the names of all paths, or if a class does not have a lab."""
    if path not in PATHS:
        raise LookupError(f"there is no path {path!r}; the paths are {', '.join(PATHS)}")
    course = Course()
    return [course.find_released(number) for number in PATHS[path]]


def sections_of(path: str) -> dict[str, list[Section]]:
    """For each lab of a path, by its number, the sections to read before it that no earlier lab of the path asked for.

    A section is read before the first lab of a later phase, so that no reading comes after labs of later ones.
    """
    labs = labs_of(path)
    cores = [{*lab.core} for lab in labs]
    found: dict[str, list[Section]] = {lab.number: [] for lab in labs}
    for section in sections():
        needed = next((at for at, core in enumerate(cores) if section.exercises & core), None)
        if needed is not None:
            later = (lab for lab in labs[:needed] if lab.phase > section.phase[:2])
            found[next(later, labs[needed]).number].append(section)
    return found


@cache
def sections() -> list[Section]:
    """The sections of all readings, in order."""
    return [section for phase in phases() for section in _sections(phase)]


def _sections(phase: str) -> Iterator[Section]:
    from rushlight.course.short_names import long_form  # loads the framework, which most commands do not need

    text = _FENCED.sub("", (READINGS / phase / "reading.md").read_text(encoding="utf-8"))
    _, *parts = _HEADING.split(text)
    for title, body in zip(parts[::2], parts[1::2], strict=True):
        names = (name for said in _IN_THE_LAB.findall(body) for name in re.findall(r"`([\w.]+)`", said))
        yield Section(phase, title, reading_minutes(body), frozenset(map(long_form, names)))


def reading_minutes(text: str) -> float:
    """The minutes that a text of a reading takes: those of its prose, and one for each question, such as `**Question.** Why?`.

    The text is Markdown or HTML, in any language.
    """
    return len(_UNREAD.sub(" ", text).split()) / WORDS_A_MINUTE + len(_QUESTION.findall(text))


def needs_of(lab: Lab) -> list[str]:
    """The numbers of the labs whose ideas a lab needs, as its paragraph *Needs.* names them."""
    texts = ("".join(cell["source"]) for cell in lab.released["cells"])
    said = next((match[1] for text in texts if (match := _NEEDS.search(text))), "")
    positive = (part for part in re.split(r"(?<=\.)\s", said) if not re.search(r"\b[Nn]o (other|exercise)", part))
    return [number for part in positive for number in re.findall(r"\b[Ll]abs? (\d\d[a-z]?)\b", part)]


def core_checks(lab: Lab) -> list[str]:
    """The checks with points that do not belong to further exercises."""
    cells = lab.released["cells"]
    return [name for cell in cells if (name := check_name(cell)) in lab.points and not is_further(cell)]


def core_minutes(lab: Lab) -> dict[str, int]:
    """The minutes of each core exercise, as its cell says."""
    cells = [cell for cell in lab.released["cells"] if exercise_name(cell) and not is_further(cell)]
    efforts = {exercise_name(cell): _EFFORT.match("".join(cell["source"])) for cell in cells}
    return {str(name): int(effort[1]) for name, effort in efforts.items() if effort}


def in_words(minutes: float) -> str:
    """A time as a person says it: `40 minutes`, `1.5 hours`, `14 hours`."""
    if minutes <= 50:
        return f"{max(5 * round(minutes / 5), 5)} minutes"
    hours = int(minutes / 30 + 0.5) / 2
    return "1 hour" if hours == 1 else f"{hours:g} hours" if hours < 5 else f"{round(minutes / 60)} hours"
