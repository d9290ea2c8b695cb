"""Long readings, a page for each part.

A reading with headings such as `# Part 07a: graphs` has a page for each heading of the first level. The page `reading.md` keeps
what is above the first part, lists the parts, and ends with the five lines if there are some. The notebook is whole, and every
source names a section as `reading.md#section`: here the link gets the page that has it. `docs/javascripts/moved.js` does so for
addresses from outside.
"""

from __future__ import annotations

import html
import json
import posixpath
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from markdown.extensions.toc import slugify, unique
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page
from nbformat import NotebookNode

from autograder.paths import reading_minutes
from docs.programs.hooks.languages import plain, say, words

if TYPE_CHECKING:
    from docs.programs.hooks.notebooks import Notebook

BREAK = "<!-- page -->"  # above each part, in the text of a reading
SUMMARY = "In five lines"
NAMED = re.compile(r"Part (\d\d\w)\b")
FENCED = re.compile(r"^(```+|~~~+).*?^\1", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^(#+) +(.+)$", re.MULTILINE)
QUESTION = re.compile(r"\*\*([^*]+\?)\*\*")
FIGURE = re.compile(r"\]\((\w+)\.svg\)")
LINK = re.compile(r"\]\(((?:[\w./-]+\.md)?)#([\w-]+)\)")
SET_UP = "*To start here, run the set-up cells above.*"  # in a notebook: a page runs them where a cell needs them
ALL_CELLS = "*To start here, run all cells above.*"  # in one whose parts use what parts before them show
READING = re.compile(r"phases/\w+/reading\w*\.md$")


@dataclass
class Part:
    """A part of a reading: its first cell, its title, its page, and the anchors there by those in the whole reading."""

    first: int
    title: str
    page: str
    anchors: dict[str, str] = field(default_factory=dict)
    sections: dict[str, str] = field(default_factory=dict)  # links to them, with their titles
    number: str = ""  # `07a`, as the lab that builds it
    anchor: str = ""  # of its heading
    time: float = 0  # minutes to read it in English, said on the pages of each language

    @property
    def label(self) -> str:
        """`Part 07a · Graphs`, as the label of a lab, or the title."""
        number, _, subject = self.title.partition(": ")
        return f"{number} · {subject[:1].upper()}{subject[1:]}" if subject else self.title


def headings(cell: NotebookNode) -> list[tuple[int, str]]:
    """Return the level and the text of each heading in a cell."""
    found = HEADING.findall(FENCED.sub("", cell.source)) if cell.cell_type == "markdown" else []
    return [(len(level), plain(text)) for level, text in found]


def parts(cells: list[NotebookNode], page: str) -> list[Part]:
    """Return the parts of a reading, from its title on. There are none if no heading names a part. `page` is the first page."""
    found: list[Part] = []
    whole, taken = set[str](), dict[str, set[str]]()
    for position, cell in enumerate(cells):
        for level, title in headings(cell):
            if level == 1:
                number = match[1] if (match := NAMED.match(title)) else ""
                own = (
                    page
                    if not found or title == SUMMARY
                    else page.replace(".md", f"_{number or slugify(title, '_')}.md")
                )
                found.append(Part(position, title, own, number=number, anchor=slugify(title, "-")))
            part = found[-1]
            anchor = unique(slugify(title, "-"), taken.setdefault(part.page, set()))
            part.anchors[unique(slugify(title, "-"), whole)] = anchor
            if level == 2:
                part.sections[f"{posixpath.basename(part.page)}#{anchor}"] = title
        if cell.cell_type == "markdown" and found:
            part.time += reading_minutes(cell.source)
            part.anchors |= {f"{name}=": f"{name}=" for name in FIGURE.findall(cell.source)}
    return found if any(part.number for part in found) else []


def minutes(time: float) -> int:
    """Return the minutes in which one reads a page and answers its questions, in steps of five."""
    return max(5, 5 * round(time / 5))


def pages(text: str, reading: Notebook, labs: dict[str, str]) -> dict[str, tuple[str, str]]:
    """Return the title and the text of each page of a reading, by its path. `labs` has the page of each lab by its number."""
    if not reading.parts:
        return {reading.page: (reading.title, text)}
    (first, opening), *rest = zip(reading.parts, text.split(BREAK), strict=True)
    here = reading.is_translated  # or else all of the page is in English
    number = first.title.partition(":")[0].split()[-1]
    whole = f"[{words('Reading {}', here).format(number).lower()}]({posixpath.basename(first.page)})"
    cards, end, found = [], "", {}
    for part, said in rest:
        said = said.strip()
        if part.page == first.page:
            end = said
            continue
        lab = [f"{words('lab', here)} [{part.number}]({labs[part.number]})"] if part.number in labs else []
        notes = [words("About {} minutes with the questions", here).format(minutes(part.time)), *lab]
        title = (
            part.title if part.number else f"{first.title.partition(':')[0]}: {part.title[0].lower()}{part.title[1:]}"
        )
        cards.append(_card(part, said, notes))
        body = said.partition("\n")[2]
        for start in SET_UP, ALL_CELLS:
            body = body.replace(say(reading.name)(start, "paragraph") or start, "")
        heading = f"# {title} {{ #{part.anchor} }}"
        notes.insert(1, f"{words('a part of', here)} {whole}")
        text = f"{heading}\n\n{' · '.join(notes)}\n{{: .notes }}\n\n{body.strip()}"
        if lab:
            text += f"\n\n**{words('Now build it:', here)}** {lab[0]}."
        found[part.page] = title, text
    listed = '## {} {{ #parts }}\n\n<div class="cards parts" markdown>\n{}\n</div>'.format(
        words("Parts", here), "\n".join(cards)
    )
    listed = f"<!-- unsearched -->\n\n{listed}\n\n<!-- /unsearched -->"  # each part is found by itself
    return {first.page: (first.title, f"{opening}\n\n{listed}\n\n{end}")} | found


def _card(part: Part, text: str, notes: list[str]) -> str:
    """A card that leads to a part, with its question and its sections."""
    question = QUESTION.search(text) if part.number else None
    lines = [f"**[{part.title}]({posixpath.basename(part.page)})**", question[1] if question else ""]
    sections = (f"[{title}]({link})" for link, title in part.sections.items())
    lines += [" · ".join(sections), f"{' · '.join(notes)}\n{{: .notes }}"]
    return '<div class="card" markdown>\n' + "\n\n".join(filter(None, lines)) + "\n</div>"


# What mkdocs calls ---------------------------------------------------------------------------------------------------


def on_config(config: MkDocsConfig) -> None:
    """For each reading in parts, where its sections and the states of its figures are."""
    config.extra["places"] = places = {}
    for reading in (phase.reading for phase in config.extra["phases"] if phase.reading):
        for part in reading.parts:
            own = places.setdefault(reading.page, {})
            own |= {whole: f"{part.page}#{anchor}" for whole, anchor in part.anchors.items()}


@event_priority(-90)  # when all links are there, and before the page is rendered
def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    places, source = config.extra["places"], page.file.src_uri
    reading = re.sub(r"(/reading)_\w+\.md$", r"\1.md", source)  # of which this is a page

    def led(link: re.Match) -> str:
        path, anchor = link.groups()
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), path)) if path else reading
        place = places.get(target, {}).get(anchor)
        return f"]({posixpath.relpath(place, posixpath.dirname(source) or '.')})" if place else link[0]

    return LINK.sub(led, markdown) + (_script(page, places[source], files) if source in places else "")


def on_page_content(content: str, page: Page, config: MkDocsConfig, files: Files) -> None:
    """The table of contents of a reading says how long each section takes. (`progress.js` marks those that were read.)"""
    if not READING.match(page.file.src_uri) or not page.toc.items:
        return
    sections = page.toc.items[0].children
    begins = [content.index(f' id="{section.id}"') for section in sections]
    for section, begin, end in zip(sections, begins, [*begins[1:], len(content)]):
        said = words("{} min").format(max(1, round(reading_minutes(content[begin:end]))))
        section.title += f" <small>{said}</small>"


def _script(page: Page, places: dict[str, str], files: Files) -> str:
    """The script by which an address of this page finds a section, or a figure, that is on another page."""
    moved = {}
    for anchor, place in places.items():
        path, _, own = place.partition("#")
        if path != page.file.src_uri:
            moved[anchor] = f"{files.get_file_from_path(path).url_relative_to(page.file)}#{own}"
    source = files.get_file_from_path("javascripts/moved.js").url_relative_to(page.file)
    return f'\n\n<script src="{source}" data-moved="{html.escape(json.dumps(moved))}"></script>\n'
