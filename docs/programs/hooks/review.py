"""The questions of the readings, for the page *Review*, and their names for home.

A question is a paragraph *Test yourself* with the answer below it, in the HTML of the reading. Its name has its phase and its
section, as in `autograder/cli/deck.py`. `of` has what a reader has read or written who is asked the question, if it is not the
section of this name: a section, exercises that it explains, or a lab. The questions are JSON in the page, so that a site on the
disk has them too.
"""

from __future__ import annotations

import json
import posixpath
import re

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.pages import Page

from autograder.cli import deck
from autograder.model import Course
from docs.programs.hooks.languages import LANGUAGE

READING = re.compile(r"phases/(\d\d)_\w+/reading\w*\.md")
PART = re.compile(
    r'<h(?P<level>[2-6]) id="(?P<anchor>[^"]+)"[^>]*>(?P<heading>.*?)</h[2-6]>'
    r"|<p>(?P<opens>(?:<span[^>]*>)?)<strong>[^<]+</strong> *(?P<question>(?:(?!</?p>).)+)</p>\s*"
    r"<details class=\"answer\">\s*<summary>(?:(?!</summary>).)*</summary>\s*(?P<answer>.+?)\s*</details>",
    re.DOTALL,
)
HEADER_LINK = re.compile(r'<a class="headerlink".*?</a>')
HREF = re.compile(r'(?<= href=")(?![a-z]+:)([^"]*)')

readings: dict[str, list[dict[str, str]]] = {}  # the questions of each page, by its source


def on_config(config: MkDocsConfig) -> None:
    readings.clear()


def on_page_content(content: str, page: Page, **_) -> None:
    if reading := READING.fullmatch(page.file.src_uri):
        more = {"lang": "en"} if "untranslated" in page.meta else {}
        readings[page.file.src_uri] = [each | more for each in questions(content, reading[1], page.url)]


def questions(content: str, phase: str, url: str) -> list[dict[str, str]]:
    """The questions in the HTML of a page, whose links lead from the page *Review*."""

    def led(link: re.Match) -> str:
        path, mark, anchor = link[1].partition("#")
        target = posixpath.normpath(posixpath.join(posixpath.dirname(url), path)) if path else url
        return posixpath.relpath(target, LANGUAGE or ".") + mark + anchor

    found: dict[str, dict[str, str]] = {}
    anchor = heading = section = ""
    for part in PART.finditer(HEADER_LINK.sub("", content)):
        if part["anchor"]:
            anchor, heading = part["anchor"], part["heading"]
            section = anchor if part["level"] == "2" else section
            continue
        name = deck.named(phase, anchor, found)
        link = HREF.sub(led, f'<a href="#{anchor}">{heading}</a>')
        text, answer = HREF.sub(led, part["opens"] + part["question"]), HREF.sub(led, part["answer"])
        found[name] = {"name": name, "place": link, "question": text, "answer": answer}
        found[name]["of"] = f"#{section}" * (name != f"{phase}/{section}")
    return [*found.values()]


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """When all readings are rendered."""
    if page.file.src_uri not in ("index.md", "review.md"):
        return output
    phases = []
    for phase in config.extra["phases"]:
        of_phase = sorted(path for path in readings if path.startswith(f"phases/{phase.name}/"))
        if every := [each for path in of_phase for each in readings[path]]:
            more = _more(phase.name)
            every = [each | {"of": " ".join(filter(None, [each["of"], *more[each["name"]]]))} for each in every]
            phases.append({"number": phase.name[:2], "title": phase.label, "questions": every})
    if page.file.src_uri == "index.md":
        names = ",".join(f"{each['name']} {each['of']}".strip() for phase in phases for each in phase["questions"])
        return output.replace('<p data-due="data-due">', f'<p data-due="{names}">')
    text = json.dumps(phases, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    tag = f'<script type="application/json" id="questions">{text}</script>'
    return re.sub(r'<script src="[^"]*javascripts/review\.js"', lambda match: f"{tag}{match[0]}", output, count=1)


def _more(phase: str) -> dict[str, list[str]]:
    """By question, the ends of the cells of the exercises that its section explains, and the labs that ask all questions."""
    asked, labs = deck.questions(phase), [lab for lab in Course().released_labs() if lab.phase == phase[:2]]
    whole = [lab.name for lab in labs if deck.questions_of((), lab, asked)]
    return {each.name: [*sorted(end.replace(".", "-") for end in each.explains), *whole] for each in asked}
