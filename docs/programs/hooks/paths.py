"""`<!-- path: compiler -->` on a page becomes the table of a path: what to read, what to build, and about how long it takes.
`<!-- paths -->` becomes a table of all paths.

In the tables of the map and of the paths the number of a lab, such as 02a, leads to the lab, and that of a phase to its reading.

`autograder/paths.py` has the labs of each path. When a reader puts a path into the list of pages, `docs/javascripts/paths.js` reads
the table.
"""

from __future__ import annotations

import re
from functools import cache

from markdown.extensions.toc import slugify
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

from autograder import paths
from autograder.author.build import effort_of
from autograder.model import Course, Lab
from docs.programs.hooks.languages import plain, words
from docs.programs.hooks.tab import RANKS, is_on_torch, points_here

MARK, ALL = re.compile(r"<!-- path: (\w+) -->"), "<!-- paths -->"
HEADING = re.compile(r"^## (.+) \{ #(\w+) \}$", re.MULTILINE)
ROW = re.compile(r"^\|.*$", re.MULTILINE)
ALL_OF_IT, PART, NOTHING = "whole", "part", "nothing"  # of a lab runs in a browser
GIVES = {  # by path and lab that runs in a browser, what the lab gives those after it: its page says it at its end
    "compiler": {
        "01a": words(
            "The guards of lab 07b compare the sizes and strides of inputs, and the loops of lab 08b find elements by them. "
            "Before that, lab 07a writes a program down as a graph."
        ),
        "07a": words("Lab 07b makes such graphs: Dynamo reads the bytecode of a function, and operators become nodes."),
        "07b": words(
            "Lab 07c is about the places where Dynamo cannot go on: the graph ends there, and Python continues."
        ),
        "07c": words(
            "Each graph goes to a compiler. Lab 08a reads what this generates: kernels, buffers, and the bytes that they move."
        ),
        "08a": words(
            "You have read kernels that a compiler generates. In lab 08b you write the loops that become such kernels, and "
            "test the rule that fuses them."
        ),
    },
    "distributed": {
        "01a": words(
            "Ranks send flat buffers of gradients, and find each gradient in them by its sizes and offset. Lab 04a shows which "
            "results have a gradient."
        ),
        "04a": words(
            "Ranks add up the gradients. Lab 09a builds this sum, an all-reduce, from messages between neighbours."
        ),
    },
    "kernels": {
        "03a": words(
            "Your loop has ended when its call returns. A call that starts a kernel on a device returns at once: lab 11c shows "
            "when each kernel runs."
        ),
        "11c": words(
            "You know when a kernel starts. In lab 14a you write one: it divides the loop of lab 03a among threads."
        ),
        "14a": words(
            "In your kernels each thread works alone. In lab 14b the threads of a warp and of a block work together on a row."
        ),
        "14b": words(
            "Barriers and shared memory return in lab 14c, where a block loads the tiles of a product of matrices."
        ),
    },
    "contributor": {
        "02a": words(
            "You can name the kernels that a call runs. In lab 06a you register kernels for an operator of your own, in PyTorch."
        ),
        "07d": words(
            "You know how a captured program becomes graphs of operators, forward and backward. In lab 15a you find the "
            "function at fault when PyTorch goes wrong on such a way."
        ),
    },
}
NUMBER = re.compile(r"`[^`]*`|\[[^]]*\]\([^)]*\)|\b(\d\d[a-e]?)\b")  # what is code or a link stays


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    if page.file.src_uri in ("map.md", "paths.md"):
        markdown = linked(markdown, config)
    if ALL in markdown:
        markdown = markdown.replace(ALL, compared(markdown))
    return MARK.sub(lambda mark: table(mark[1], config), markdown)


def compared(markdown: str) -> str:
    """All paths of a page, with what each takes."""
    heads = (words("path"), words("labs"), words("time"), words("runs in"))
    lines = [f"| {' | '.join(heads)} |", "|---|---|---|---|"]
    for title, path in HEADING.findall(markdown):
        if path in paths.PATHS:
            labs = paths.PATHS[path]
            where = words("an installation") if NOTHING in map(runs_here, labs) else words("your browser")
            lines.append(f"| [{title}](#{path}) | {len(labs)} | {hours(path)} | {where} |")
    return "\n".join(lines)


def runs_here(number: str) -> str:
    """How much of a lab runs in a browser: checks with half of its points or more, a part, or nothing."""
    lab = lab_of(number)
    if lab.name[:2] == RANKS or is_on_torch(lab.name):
        return NOTHING
    return PART if 2 * points_here(lab) < lab.all_points else ALL_OF_IT


def where(path: str) -> str:
    """What a browser can do of a path, and how its end is seen."""
    of: dict[str, list[str]] = {}
    for number in paths.PATHS[path]:
        of.setdefault(runs_here(number), []).append(number)
    whole, part, nothing = (", ".join(of.get(each, [])) for each in (ALL_OF_IT, PART, NOTHING))
    said = [words("**In your browser:** {}.").format(whole if part or nothing else words("all labs"))]
    said += [words("Of {}, only what needs no C++ compiler.").format(part)] if part else []
    labs = [lab_of(number) for number in paths.PATHS[path] if runs_here(number) == ALL_OF_IT]
    of = sum(lab.all_points for lab in labs)
    rest = words(
        "There you can earn all but {left} of the {of} points. The rest needs an installation, or an instructor who marks a "
        "written answer."
    )
    said[0] += " " + rest.format(left=of - sum(points_here(lab) for lab in labs), of=of)
    said += [words("**In an installation alone:** {}.").format(nothing)] if nothing else []
    command = f"rushlight status --path {path}"
    end = words("In an [installation](students.md), `{}` counts all checks, and says when the path is finished.")
    return " ".join([*said, end.format(command)])


def hours(path: str) -> str:
    """The hours of a path, which are the sum of its rows as they say them."""
    halves = sum(halves_of(minutes(number, sections)) for number, sections in paths.sections_of(path).items())
    return f"{halves / 2:g} {words('hours')}"


def halves_of(time: float) -> int:
    """The half hours of a time in minutes."""
    return int(time / 30 + 0.5)


def linked(markdown: str, config: MkDocsConfig) -> str:
    """The rows of tables, with links from the numbers of labs and phases."""
    pages = {lab.path.stem.partition("_")[0]: lab.page for phase in config.extra["phases"] for lab in phase.labs}
    pages |= {phase.name[:2]: f"phases/{phase.name}/reading.md" for phase in config.extra["phases"]}

    def link(number: re.Match) -> str:
        return f"[{number[1]}]({pages[number[1]]}){{ .of-phase }}" if number[1] in pages else number[0]

    return ROW.sub(lambda row: NUMBER.sub(link, row[0]), markdown)


def table(path: str, config: MkDocsConfig) -> str:
    phases = {phase.name: phase for phase in config.extra["phases"]}
    labs = {lab.path.stem: (lab, phase.lab_label(lab)) for phase in phases.values() for lab in phase.labs}
    heads = (words("lab"), words("read before"), words("time"))
    lines = [f"| {' | '.join(heads)} |", "|---|---|---|"]
    for number, sections in paths.sections_of(path).items():
        lab, label = labs[lab_of(number).name]
        said = []
        for phase in dict.fromkeys(section.phase for section in sections):
            reading = phases[phase].reading
            links = []
            for section in sections:
                if section.phase == phase:
                    anchor = slugify(plain(section.title), "-")
                    link = f"[{plain(reading.said(section.title))}](phases/{phase}/reading.md#{anchor})"
                    links.append(f'{link}{{ data-page="{phases[phase].reading_label(anchor)}" }}')
            said.append(f"**{phase[:2]}** {' · '.join(links)}")
        needs = paths.needs_of(lab_of(number))
        after = words("with the ideas of {}").format(", ".join(needs)) if needs else ""
        said = said or [words("nothing more")]
        title = f'[{number} {lab.subject}]({lab.page}){{ data-page="{label}" }}' + f"<br><small>{after}</small>" * bool(
            after
        )
        time = minutes(number, sections)
        shown = f'<span data-hours="{halves_of(time) / 2:g}" data-runs="{runs_here(number)}">{spoken(time)}</span>'
        lines.append(f"| {title} | {'<br>'.join(said)} | {shown} |")
    lines.append(f"| **{words('together')}** | | **{hours(path)}** |")
    count = words("{count} labs, about {time}").format(count=len(lines) - 3, time=hours(path))
    begins = f'<div class="path" data-path="{path}" markdown>\n\n<p class="buttons"></p>'
    return "\n\n".join([f"**{count}**", begins, where(path), "\n".join(lines), "</div>"])


def minutes(number: str, sections: list[paths.Section]) -> float:
    """The minutes of a lab's core and of the sections to read before it."""
    return core(number) + sum(section.minutes for section in sections)


@cache
def core(number: str) -> float:
    return effort_of(lab_of(number)).minutes[False]


@cache
def lab_of(number: str) -> Lab:
    return Course().find_lab(number)


def spoken(time: float) -> str:
    number, _, unit = paths.in_words(time).partition(" ")
    units = {"minutes": words("minutes"), "hour": words("hour"), "hours": words("hours")}
    return f"{number} {units[unit]}"
