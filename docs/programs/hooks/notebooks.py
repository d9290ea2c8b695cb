"""Readings and labs as pages of the site.

A folder `phases/NN_name` is a phase, and `labs/NNx_name` one of its labs. Its `reading.ipynb` and its labs, as they are in the
repository, become `phases/NN_name/reading.md` and `phases/NN_name/NNx_name.md` of the site, with entries in the navigation;
nothing is executed here. A cell of a lab that runs torch shows the outputs that `rushlight record` has kept. A notebook that is not
there has no page. A translation would stand beside its page, as `reading.es.md`.
"""

from __future__ import annotations

import base64
import html
import io
import logging
import re
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path, PurePosixPath

import nbformat
import numpy
from jinja2 import DictLoader
from markdown.extensions.toc import slugify, unique
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from nbconvert.exporters import MarkdownExporter
from nbconvert.filters import strip_ansi
from nbconvert.preprocessors.sanitize import SanitizeHTML
from nbformat import NotebookNode
from PIL import Image

from autograder import translation
from autograder.engine import practice
from autograder.model import Lab, exercise_name, number_of
from autograder.model import phases as phase_names
from autograder.paths import reading_minutes
from docs.programs.hooks import divided
from docs.programs.hooks.divided import plain
from docs.programs.hooks.languages import LANGUAGE, anchored, grouped, say, words
from docs.programs.hooks.paths import NOTHING, PART, runs_here
from docs.programs.hooks.tab import ASKS, runs
from rushlight.course.short_names import long_form

log = logging.getLogger("mkdocs.hooks.notebooks")

CAPTION = re.compile(r"\*(?!\*)([^\n]+(?:\n[^\n]+)*?)(?<!\*)\*(?=\s*\n\s*\n|\s*\Z)")  # a first paragraph in italics
SUBJECT = re.compile(r"\w+ \d+[a-z]?\s*[:.·–—-]\s*(?:the )?(.+)", re.IGNORECASE)
ANSWER = re.compile(r"<details>(?=\s*<summary>(?:Answer|Respuesta))")  # printed too
LINK = re.compile(r"\]\((?:[\w./-]*?(\d\d_\w+)/)?(reading|\d\d[a-z]?_\w+)\.ipynb")  # to another notebook of the course
SENTENCE = re.compile(
    r'^- \*(["“«])(.+?)["”»][.,]?\* (.+)$', re.MULTILINE
)  # that a reader has said, in `why.md`, and what explains it
IN_THE_LAB = re.compile(
    rf'^(?:<span lang="en">)?\*\*(?:In the lab:|{re.escape(words("In the lab:"))})\*\*.*?(?=\n\n|\Z)',
    re.MULTILINE | re.DOTALL,
)
TOP = re.compile(r"<!-- top: Figure ([\w.]+) -->")  # where a reading shows a figure of a section below
TITLE = re.compile(r"^# +(.+)$", re.MULTILINE)
MARKS = {  # of a lab, by how much of it a browser runs, and what each says
    NOTHING: (r"\*", words("in an installed course only, not in the browser")),
    PART: ("†", words("less than half of the points in the browser, all in an installed course")),
}
QUESTION = "**Question.**"  # a paragraph that asks for the output of the cells below it
ANSWERED = "<!-- answered -->"  # where the text below a covered output no longer tells what the output shows
OTHER = re.compile(
    r'\A(?:<span lang="en">)?(?:[#|!]|\*\*|<(?!span))|:(?:</span>)?\Z'
)  # a paragraph that does not tell it: a heading, a table, a box, or the introduction of what is below
DRAWN = re.compile(r"\w+ (\d[\w.]*): ")  # what the code of a figure begins with: `Figure 2: `, in each language
PROSE = re.compile(
    r"(?:(?<=\n\n)|\A)(?:\S(?:[^\n ]| (?! )){79,}\n)+\S[^\n]*[.:?!](?=\n\n|\Z)"
)  # long lines of words in what a cell has printed
PHONE = 44  # letters of an output, side by side
GAP = re.compile(r"(?<=\S) {2,}(?=\S)")  # between two columns
CODE_ENDS = ";", "{", "\\"  # of a line of C++
CELL, LONG = re.compile(r"(?<=<td>)[^<]+"), re.compile(r"[^\s&;]{16,}")  # of a table, and a long name in it
TITLED = re.compile(
    r'(<div id="exercise-(?:[^"]*-)?(\w+)"[^>]*><span class="filename")>([^<]*)'
)  # the title of an exercise
HTML_TAGS = ["b", "br", "code", "div", "em", "i", "p", "pre", "span", "strong", "sub", "sup"]
HTML_TAGS += ["caption", "table", "tbody", "td", "tfoot", "th", "thead", "tr"]

TEMPLATE = """
{%- extends 'base/display_priority.j2' -%}
{%- block input %}
{{ cell | code }}
{% endblock -%}
{%- block outputs scoped %}
{%- if cell.metadata.asked %}
<details class="folded asked" markdown="1"><summary><span>{{ cell.metadata.asked | join("</span><span>") }}</span></summary>

{{ super() }}

{{ cell.metadata.answer | prose if cell.metadata.answer }}

</details>
{% else %}{{ super() }}{% endif -%}
{% endblock -%}
{%- block stream %}
{{ output.text | text }}
{% endblock -%}
{%- block error %}
{{ output.traceback | join("\n") | text("Error") }}
{% endblock -%}
{%- block execute_result -%}{%- block data_priority scoped -%}{{ super() }}{%- endblock -%}{%- endblock -%}
{%- block data_text %}
{{ output.data["text/plain"] | text }}
{% endblock -%}
{%- block data_html %}
{{ output.data["text/html"] | rich }}
{% endblock -%}
{%- block data_markdown %}
<!-- unsearched -->

{{ output.data["text/markdown"] }}

<!-- /unsearched -->
{% endblock -%}
{%- block data_png %}
{{ output | figure("image/png") }}
{% endblock -%}
{%- block data_jpg %}
{{ output | figure("image/jpeg") }}
{% endblock -%}
{%- block data_svg %}
{{ output | figure("image/svg+xml") }}
{% endblock -%}
{%- block markdowncell %}
{{ cell | prose }}
{% endblock -%}
"""


@dataclass
class Notebook:
    """A notebook of a phase, and the name of its page in the site. What it says of itself is read once a build."""

    path: Path
    page: str

    def read(self) -> NotebookNode:
        return nbformat.v4.reads(
            self.path.read_text(encoding="utf-8")
        )  # valid, as a test says of each: not asked again

    @cached_property
    def title(self) -> str:
        """The text of the first heading, or the name of the file."""
        matches = (TITLE.search(cell.source) for cell in self.read().cells if cell.cell_type == "markdown")
        return self.said(next((match[1].strip() for match in matches if match), self.path.stem))

    @property
    def name(self) -> str:
        """The name of its catalogue: `labs/01a_views`, `phases/01_strided`."""
        return f"labs/{self.path.stem}" if self.path.stem != "reading" else f"phases/{self.path.parent.name}"

    @property
    def is_translated(self) -> bool:
        """Whether its page is in the language of this build."""
        return not LANGUAGE or bool(translation.catalogue(LANGUAGE, self.name))

    def said(self, heading: str) -> str:
        """A heading in the language of this build."""
        return say(self.name)(heading, "heading") or words(heading)

    @property
    def subject(self) -> str:
        """The title after `Lab 01: the` or `Lab 01 · The`, or the name of the folder."""
        said = SUBJECT.match(self.title)
        subject = plain(said[1]) if said else self.path.parent.name.partition("_")[2].replace("_", " ")
        return f"{subject[:1].upper()}{subject[1:]}"

    @property
    def exercises(self) -> list[str]:
        """The exercises of the lab, as `module.function`."""
        return [*self.sections]

    @cached_property
    def sections(self) -> dict[str, str]:
        """For each exercise of the lab, the anchor of its section."""
        sections, taken, anchor = {}, set(), ""
        for cell in self.read().cells:
            for _, heading in divided.headings(cell):
                anchor = unique(slugify(heading, "-"), taken)
            if "exercise" in (given := cell.metadata.get("rushlight", {})):
                sections.setdefault(given["exercise"], anchor)
        return sections

    @cached_property
    def anchors(self) -> dict[str, str]:
        """For each exercise of the lab, the anchor of its cell."""
        return {name: f"exercise-{cell.id}" for cell in self.read().cells if (name := exercise_name(cell))}

    @cached_property
    def parts(self) -> list[divided.Part]:
        """The parts of a long reading, each of which is on a page of its own."""
        found = divided.parts(self.read().cells, self.page)
        for part in found:
            part.title = self.said(part.title)
            part.sections = {link: self.said(title) for link, title in part.sections.items()}
        return found


@dataclass
class Phase:
    """One phase: its folder's name, and the notebooks that exist."""

    name: str
    reading: Notebook | None
    labs: list[Notebook]

    @property
    def label(self) -> str:
        """`01 Strided tensor`: the number, and the subject of the reading, or of a lab without one."""
        return f"{self.name[:2]} {(self.reading or self.labs[0]).subject}"

    def entries(self) -> list[dict[str, str]]:
        reading = [{self.reading_label(): self.reading.page}] if self.reading else []
        parts = {part.label: part.page for part in self.reading.parts} if self.reading else {}
        parts = [{label: page} for label, page in parts.items() if page != self.reading.page]
        return reading + parts + [{self.lab_label(lab): lab.page} for lab in self.labs]

    def lab_label(self, lab: Notebook) -> str:
        """`Lab 04b · The engine`."""
        return f"{words('Lab')} {number_of(lab.path.stem)} · {lab.subject}"

    def reading_label(self, anchor: str = "") -> str:
        """`Reading 04`, or the label of the part that has the anchor."""
        part = next((part for part in self.reading.parts if anchor in part.anchors), None)
        return part.label if part and part.page != self.reading.page else words("Reading {}").format(self.name[:2])


def phases(root: Path) -> list[Phase]:
    """Every phase that has a notebook, in order."""
    existing = []
    for name in sorted(path.name for path in root.glob("phases/[0-9][0-9]_*")):
        reading = Notebook(root / "phases" / name / "reading.ipynb", f"phases/{name}/reading.md")
        paths = sorted(path for path in root.glob(f"labs/{name[:2]}*/*.ipynb") if path.stem == path.parent.name)
        labs = [Notebook(path, f"phases/{name}/{path.stem}.md") for path in paths]
        phase = Phase(name, reading if reading.path.exists() else None, labs)
        for kind, there in ("reading", phase.reading), ("lab", phase.labs):
            if not there:
                log.info("phase %s has no %s yet", name, kind)
        if phase.reading or phase.labs:
            existing.append(phase)
    return existing


# What mkdocs calls ---------------------------------------------------------------------------------------------------


def on_config(config: MkDocsConfig) -> None:
    root = Path(config.config_file_path).parent
    config.extra["phases"] = phases(root)
    course = next(entry[words("Course")] for entry in config.nav if words("Course") in entry)
    course[:] = [entry for entry in course if words("Phases") not in entry]  # there already when `serve` builds again
    if config.extra["phases"]:
        after_paths = 1 + next(i for i, entry in enumerate(course) if "paths.md" in entry.values())
        course.insert(
            after_paths, {words("Phases"): [{phase.label: phase.entries()} for phase in config.extra["phases"]]}
        )
    config.watch += [str(root / folder) for folder in ("phases", "labs") if (root / folder).exists()]


def on_files(files: Files, config: MkDocsConfig) -> None:
    for phase in config.extra["phases"]:
        add = partial(_add, files, config)
        pages = {phase.reading.page, *(part.page for part in phase.reading.parts)} if phase.reading else set()
        if all(map(config.draft_docs.match_file, pages)) if config.draft_docs else not pages:
            for page in sorted(pages):
                add(page, "")  # so that a link to it is right
        else:
            page = convert(phase.reading, add)
            page = IN_THE_LAB.sub(partial(_to_labs, phase, config.extra["phases"]), page)
            page = TOP.sub(partial(_at_the_top, page), page)
            needs = _needs(Path(config.docs_dir) / "map.md", phase.name[:2])
            page = _ways(page, phase, needs, config.extra["phases"])
            labs = {number_of(lab.path.stem): f"{lab.path.stem}.md" for lab in phase.labs}
            for path, (title, text) in divided.pages(page, phase.reading, labs).items():
                add(path, _front(title) + text)
        for lab in phase.labs:
            name = lab.path.stem
            if config.draft_docs.match_file(lab.page):
                add(lab.page, "")  # so that a link to it is right
                continue
            ways = _in_lite(name, config) + _elsewhere(name, config)
            add(lab.page, _front(lab.title) + _opened(convert(lab, add), name, ways))
            add(f"phases/{phase.name}/{lab.path.name}", _released(lab))


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """`<!-- phases -->` becomes a card for each phase, `<!-- sentences -->` one for each sentence of `why.md`, and
    `<!-- numbers -->` what there is of what. `<!-- lite -->` is a link to JupyterLite, if it is beside the site."""
    if "<!-- phases -->" in markdown:
        cards = "\n".join(_card(phase) for phase in config.extra["phases"])
        english = f" · EN: {words('in English')}" * bool(LANGUAGE)
        labs = [lab for phase in config.extra["phases"] for lab in phase.labs]
        legend = (
            f"{' · '.join(_legend(labs))}{english}\n{{: .notes }}"  # above them, because on a phone the cards are long
        )
        markdown = markdown.replace(
            "<!-- phases -->", f'{legend}\n\n<div class="cards phases" markdown>\n{cards}\n</div>'
        )
    if "<!-- sentences -->" in markdown:
        why = translation.markdown(Path(config.docs_dir, "why.md").read_text(encoding="utf-8"), say("docs/why"))
        cards = "\n".join(map(_sentence, SENTENCE.findall(why)))
        markdown = markdown.replace("<!-- sentences -->", f'<div class="cards sentences" markdown>\n{cards}\n</div>')
    clone = f"git clone {config.repo_url} rushlight && cd rushlight\n" if config.repo_url else ""
    markdown = markdown.replace("<!-- clone -->", clone)
    if "<!-- lite -->" in markdown and config.extra["lite"]:
        link = f'<a href="lite/lab/index.html">{words("This site has JupyterLite")}</a>, {words("with the labs")}.'
        markdown = markdown.replace("<!-- lite -->", link)
    return markdown.replace("<!-- numbers -->", _numbers(config)) if "<!-- numbers -->" in markdown else markdown


def _card(phase: Phase) -> str:
    page = (phase.reading or phase.labs[0]).page
    links = "\N{NO-BREAK SPACE}· ".join(_link(lab) for lab in phase.labs)  # no line begins with a point
    number, _, subject = phase.label.partition(" ")
    title = f"<small>{number}</small> {subject}"  # says all that the drawing does
    return f'<div class="card" markdown>\n![](images/phases/{number}.svg)\n\n**[{title}]({page})**\n\n{links}\n</div>'


def _link(lab: Notebook) -> str:
    """A link to a lab, with a mark if its page cannot run it, or only a part of it. A screen reader says "lab" before its name,
    which may be that of the reading too."""
    kind = f'<span class="heard">{words("Lab")}</span>'
    return f"[{kind} {number_of(lab.path.stem)} {lab.subject}]({lab.page}){_mark(lab)}"


def _mark(lab: Notebook) -> str:
    return MARKS.get(runs_here(number_of(lab.path.stem)), ("", ""))[0]


def _legend(labs: list[Notebook]) -> list[str]:
    """What the marks of these labs say."""
    found = {*map(_mark, labs)}
    return [f"{mark}\N{NO-BREAK SPACE}{said}" for mark, said in MARKS.values() if mark in found]


def _sentence(said: tuple[str, str, str]) -> str:
    """A card with a sentence, which is a link to what explains it, and the explanation."""
    quote, sentence, explained = said
    quoted = f"«{sentence}»" if quote == "«" else f"“{sentence}”"
    page = re.search(r"\]\(([^)]+)\)", explained)[1]
    return f'<div class="card" markdown>\n**[{quoted}]({page})**\n\n{explained}\n</div>'


def _numbers(config: MkDocsConfig) -> str:
    labs = [lab for phase in config.extra["phases"] for lab in phase.labs]
    framework = Path(config.config_file_path).parent / "rushlight"
    operators = (framework / "aten/native/native_functions.yaml").read_text(encoding="utf-8").count("- func: ")
    with numpy.load(framework / "course/gpt.npz") as file:
        weights = [
            file[name].size for name in file if name.startswith("weights/") and name != "weights/head.weight"
        ]  # tied
    said = [
        (sum(len({*lab.exercises}) for lab in labs), words("pieces to build")),
        (len(labs), words("labs with checks")),
        (grouped(f"{operators:,}"), words("operators in the framework")),
        (grouped(f"{sum(weights):,}"), words("weights in your GPT")),
    ]
    return '<div class="numbers">' + "".join(f"<span><b>{count}</b> {what}</span>" for count, what in said) + "</div>"


def _released(lab: Notebook) -> bytes:
    """The notebook of a lab in the language of this build."""
    if not LANGUAGE:
        return lab.path.read_bytes()
    return nbformat.writes(translation.edition(Lab(lab.path.stem), lab.read(), LANGUAGE)).encode()


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """The parts of a page have headings of the first level too. They follow in its table of contents, and a page has one title.
    Long names in cells of tables may be broken. Links may name the blocks of exercises, which mkdocs does not look for."""
    page.present_anchor_ids = {*(page.present_anchor_ids or ()), *re.findall(r'<div id="(exercise-[^"]+)"', html)}
    first, *parts = page.toc.items or [None]
    if parts:
        first.children += parts
        page.toc.items = [first]
    html = CELL.sub(_breakable, html)
    html = TITLED.sub(r'\1 role="heading" aria-level="3">\3: \2', html)
    title, end, rest = html.partition("</h1>")
    return title + end + re.sub(r"<h1 (.*?)</h1>", r'<h2 class="part" \1</h2>', rest, flags=re.DOTALL)


def _breakable(cell: re.Match) -> str:
    """A cell of a table whose long names may go on in a second line."""
    return LONG.sub(lambda name: re.sub(r"(?<=[a-z0-9][/_.:,])(?=\w)", "<wbr>", name[0]), cell[0])


def _add(files: Files, config: MkDocsConfig, path: str, content: str | bytes) -> None:
    files.append(File.generated(config, path, content=content))


def _front(title: str) -> str:
    return f"---\ntitle: {_quoted(title)}\n---\n\n"


def _quoted(text: str) -> str:
    return "'" + plain(text).replace("'", "''") + "'"


def _needs(page: Path, number: str) -> list[str]:
    """The phases that the map's table says one should know before phase `number`."""
    row = re.search(rf"^\| {number} · [^|]*\|([^|]*)\|", page.read_text(encoding="utf-8"), re.MULTILINE)
    return re.findall(r"\b\d\d\b", row[1].partition(".")[0]) if row else []


def _ways(page: str, phase: Phase, needs: list[str], others: list[Phase]) -> str:
    """A reading with a line below its title: how long it takes, what it builds on, and its labs. The sentence at its end that
    sends to the labs leads there."""
    before = [
        f"[{other.label}](../{other.name}/reading.md)" for other in others if other.name[:2] in needs and other.reading
    ]
    labs = [f"[{number_of(lab.path.stem)}]({lab.path.stem}.md)" for lab in phase.labs]
    time = sum(reading_minutes(cell.source) for cell in phase.reading.read().cells if cell.cell_type == "markdown")
    said = [words("About {} minutes with the questions").format(divided.minutes(time))]
    said += [f"{words('builds on')} {', '.join(before)}"] if before else []
    marked = ", ".join(link + _mark(lab) for link, lab in zip(labs, phase.labs))
    said += [f"{words('lab') if len(labs) == 1 else words('labs')} {marked}\N{NO-BREAK SPACE}→"] if labs else []
    said += _legend(phase.labs)
    listed = page.rstrip().rpartition("\n\n")[2].startswith("- ")
    if labs and not listed and not phase.reading.parts:
        page = f"{page.rstrip().removesuffix('.')}: {', '.join(labs)}.\n"
    title = TITLE.search(page)
    place = title.end() if title else 0
    return f"{page[:place]}\n\n{' · '.join(said)}\n{{: .notes }}\n{page[place:]}"


def _to_labs(phase: Phase, others: list[Phase], said: re.Match) -> str:
    """A line that says which exercises build an idea, with a link to each, in a lab of this phase if it is there. Below it is a
    mark for each exercise that runs in the page, unless a section below explains it."""
    marks = []
    below = [*IN_THE_LAB.finditer(said.string, said.end())]

    def is_early(name: str) -> bool:
        return not _explains(said, name) and any(_explains(line, name) for line in below if f"`{name}`" in line[0])

    def link(name: re.Match) -> str:
        for other in sorted(others, key=lambda other: other is not phase):
            for lab in other.labs:
                if anchor := lab.anchors.get(long_form(name[1])):
                    if runs(lab.path.stem) and not is_early(name[1]):
                        marks.append(f"\n\n<!-- exercise: {lab.path.stem} {long_form(name[1])} -->")
                    return f"[{name[0]}](../{other.name}/{lab.path.stem}.md#{anchor})"
        return name[0]

    return re.sub(r"`([\w.]+)`", link, said[0]) + "".join(marks)


def _explains(line: re.Match, exercise: str) -> bool:
    """Whether the section of a line about the lab names an exercise elsewhere than in such lines."""
    section = line.string[: line.start()].rpartition("\n## ")[2]
    return re.search(rf"\b{exercise.rpartition('.')[2]}\b", IN_THE_LAB.sub("", section)) is not None


def _at_the_top(page: str, named: re.Match) -> str:
    """A figure of a section, named by the number in its caption, for the first screen of the reading."""
    caption = rf'(<div class="figure")([^\n]*)\n+\*(?:<span lang="en">)?(\w+ {re.escape(named[1])})[.:] '
    figure = re.search(caption, page)
    section = divided.HEADING.findall(divided.FENCED.sub("", page[: figure.start()]))[-1][1]
    title, _, anchor = section.removesuffix(" }").partition(" { #")  # which a translated one has
    link = f"[{plain(title)}](#{anchor or slugify(plain(title), '-')})"
    said = words("{figure}, from the section {section}.").format(figure=figure[3], section=link)
    return f'<div class="figure top"{figure[2]}\n\n*{said}*\n{{: .caption }}'


def _in_lite(name: str, config: MkDocsConfig) -> str:
    """The way to open a lab in JupyterLite, if it is beside the site and the lab runs there."""
    if not config.extra["lite"] or not runs(name):
        return ""
    link = f"../../lite/lab/index.html?path={name}/{name}.ipynb"  # HTML, because this is no page of the site's own
    button = f'<a class="md-button" href="{link}">JupyterLite</a>'
    said = words("Or open it as a notebook [in your browser](../../anywhere.md#jupyterlite), on this site:")
    return f"    {said} {button}\n\n"


def _elsewhere(name: str, config: MkDocsConfig) -> str:
    """The ways to open a lab on a machine of others, if the course's repository is known and is on GitHub."""
    host, _, repository = (config.repo_url or "").rstrip("/").partition("github.com/")
    if host != "https://":
        return ""
    branch, lab = config.edit_uri.split("/")[1], f"labs/{name}/{name}.ipynb"
    links = {
        "Codespaces": f"https://codespaces.new/{repository}",
        "Binder": f"https://mybinder.org/v2/gh/{repository}/{branch}?urlpath=lab/tree/{lab}",
        "Colab": f"https://colab.research.google.com/github/{repository}/blob/{branch}/{lab}",
    }
    buttons = " ".join(f"[{text}]({link}){{ .md-button }}" for text, link in links.items())
    return (
        f"    {words('Or open it on another machine, and [how to save it there](../../anywhere.md):')} {buttons}\n\n"
        f"    {words('In Codespaces, run `{}` first.').format(f'.venv/bin/rushlight lab {number_of(name)} --no-open')} "
        f"{words('In Colab, run this in a new cell at the top first:')}\n\n    ``` {{ .python .copy }}\n"
        f"    %pip install --quiet --no-deps git+https://github.com/{repository}@{branch}\n"
        "    %pip install --quiet hypothesis\n    ```\n\n"
    )


def _opened(page: str, name: str, elsewhere: str) -> str:
    """A lab's page with the way to open the lab below its title."""
    copied = words("In your copy of the course, this copies the lab to `{}` and opens it in JupyterLab:")
    download = words("Or download the notebook, {}, into an environment where the course is installed.")
    box = (
        f'<!-- unsearched -->\n\n!!! abstract of-screen "{words("Open this lab")}"\n    {copied.format(f"work/{name}/")}\n\n'
        f"    ```sh\n    .venv/bin/rushlight lab {number_of(name)}{f' --lang {LANGUAGE}' if LANGUAGE else ''}\n    ```\n\n"
        f"    {download.format(f'[{name}.ipynb]({name}.ipynb){{ download={name}.ipynb }}')}\n\n{elsewhere}<!-- /unsearched -->\n"
    )
    title = TITLE.search(page)
    place = title.end() if title else 0
    return f"{page[:place]}\n\n<div data-tab-bar></div>\n\n{box}\n{page[place:]}"


# From a notebook to Markdown -----------------------------------------------------------------------------------------


def convert(notebook: Notebook, add) -> str:
    """A notebook as Markdown for a page; `add(path, content)` receives its figures."""
    nb = notebook.read()
    for part in notebook.parts[1:]:
        nb.cells[part.first].source = f"{divided.BREAK}\n\n{nb.cells[part.first].source}"
    _show_recorded(nb, notebook.path.stem)
    if notebook.path.stem == "reading":
        _cover_answers(nb)
    nb = _translated(nb, notebook) if LANGUAGE else nb
    _name_figures(nb)
    _cover_texts(nb)
    _join_streams(nb)
    folder = f"{PurePosixPath(notebook.page).stem}_files"
    page, resources = _exporter().from_notebook_node(nb, {"output_files_dir": folder, "unique_key": "figure"})
    for name, data in resources["outputs"].items():
        add(f"{PurePosixPath(notebook.page).parent}/{name}", data)
    return page


def _translated(nb: NotebookNode, notebook: Notebook) -> NotebookNode:
    """A notebook in the language of this build. Its headings have the anchors that they have on the English pages."""
    said = translation.notebook(nb, say(notebook.name, marked=True))
    begins, here, taken = {part.first: part.page for part in notebook.parts}, notebook.page, dict[str, set[str]]()
    for position, (cell, english) in enumerate(zip(said.cells, nb.cells, strict=True)):
        here = begins.get(position, here)
        if cell.cell_type == "markdown":
            cell.source = anchored(cell.source, english.source, taken.setdefault(here, set()))
    return said


@cache  # one compiles its templates once, and checks a notebook at the end instead of after each step
def _exporter() -> MarkdownExporter:
    loaders = [DictLoader({"page.md.j2": TEMPLATE})]
    exporter = MarkdownExporter(extra_loaders=loaders, template_file="page.md.j2", optimistic_validation=True)
    filters = {"code": code, "text": _text, "rich": _rich, "figure": _figure, "prose": prose}
    for name, function in filters.items():
        exporter.register_filter(name, function)
    return exporter


def _show_recorded(nb: NotebookNode, lab: str) -> None:
    """Give the cells that run torch the outputs that were recorded of them, and a line that says so."""
    if kept := practice.outputs(lab):
        said = {"text/markdown": f"{words('recorded from torch {}').format(kept.torch)}\n{{: .notes .recorded }}"}
        for cell in nb.cells:
            shown = kept.cells.get(cell.source) if cell.cell_type == "code" and not cell.outputs else None
            if shown:
                cell.outputs = [*map(nbformat.from_dict, shown), nbformat.v4.new_output("display_data", said)]


def _cover_answers(nb: NotebookNode) -> None:
    """Mark the outputs that answer a question, so that a reader can predict them. The code follows the question without prose."""
    asked = False
    for cell in nb.cells:
        if cell.cell_type == "markdown":
            asked = QUESTION in cell.source.strip().rpartition("\n\n")[2]
        elif asked and cell.outputs:
            drawn = all(any(kind.startswith("image/") for kind in output.get("data", {})) for output in cell.outputs)
            figure = words("Show the figure"), words("Hide the figure")
            cell.metadata["asked"] = figure if drawn else (words("Show what it prints"), words("Hide what it prints"))


def _cover_texts(nb: NotebookNode) -> None:
    """Cover the text that tells what a covered output shows, too. It is the paragraph that follows the output, unless the paragraph
    leads on to what is below it. If the text has a mark, it is what is above the mark."""
    for cell, after in zip(nb.cells, nb.cells[1:]):
        if "asked" in cell.metadata and after.cell_type == "markdown":
            text, mark, rest = after.source.strip().partition(ANSWERED)
            if not mark:
                text, _, rest = text.partition("\n\n")
            if mark or not OTHER.search(text):
                cell.metadata["answer"] = nbformat.v4.new_markdown_cell(text.strip())
                after.source = rest.strip()


def _name_figures(nb: NotebookNode) -> None:
    """Give each figure its text: what its cell says (`alt` in the output's metadata), or the caption below, or a fallback."""
    for cell, after in zip(nb.cells, [*nb.cells[1:], NotebookNode(cell_type="", source="")], strict=True):
        caption = CAPTION.match(after.source.strip()) if after.cell_type == "markdown" else None
        figures = [
            output
            for output in cell.get("outputs", [])
            if any(kind.startswith("image/") for kind in output.get("data", {}))
        ]
        for output in figures:
            said = next(
                (meta["alt"] for meta in output.metadata.values() if isinstance(meta, dict) and "alt" in meta), None
            )
            output.metadata["alt"] = said or (caption and plain(caption[1])) or words("Figure made by the cell above")
        if figures and caption and "asked" in cell.metadata:  # a caption is covered with its figure
            figures[-1].metadata["caption"] = caption[0]
            after.source = after.source.strip()[caption.end() :]
        elif figures and caption:
            after.metadata["caption"] = True


def _join_streams(nb: NotebookNode) -> None:
    """Join the pieces that a cell printed into one output."""
    for cell in nb.cells:
        joined: list[NotebookNode] = []
        for output in cell.get("outputs", []):
            if joined and output.output_type == "stream" and joined[-1].get("name") == output.name:
                joined[-1].text += output.text
            else:
                joined.append(output)
        if "outputs" in cell:
            cell.outputs = joined


def code(cell: NotebookNode) -> str:
    """A cell of code, as a block."""
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall(r"`{3,}", cell.source))])
    given, worth = cell.metadata.get("rushlight", {}), cell.metadata.get("nbgrader", {}).get("points")
    title = words("Exercise") if "exercise" in given else ""
    if "check" in given and not title:
        points = (
            words("1 point") if worth == 1 else words("{} points").format(f"{worth:g}") if worth else words("no points")
        )
        title = f"{words('Check')} · {points}"
    anchor = f"#exercise-{cell.id} " if "exercise" in given else ""
    attributes = f'{anchor}.python data-cell="{cell.id}"' + (f' title="{title}"' if title else "")
    head = f"``` {{{attributes}}}".replace("```", fence)
    block = f"{head}\n{cell.source}\n{fence}" if cell.source.strip() else ""
    if block and cell.metadata.get("jupyter", {}).get("source_hidden"):
        return (
            f'<details class="folded" markdown="1"><summary>{_summary(cell.source)}</summary>\n\n{block}\n\n</details>'
        )
    return block


def _summary(source: str) -> str:
    """Return the label of a folded cell: its first comment, or else that it is code. That of a figure does not tell what it shows,
    because a question may ask for it."""
    comment = re.search(r"^# *(.+(?:\n# *.+)*)", source, re.MULTILINE)
    if figure := comment and DRAWN.match(comment[1]):
        return words("Code of figure {}").format(figure[1])
    return html.escape(re.sub(r"\n# *", " ", comment[1])) if comment else words("Code")


def prose(cell: NotebookNode) -> str:
    linked = LINK.sub(_page_of, lists(cell.source.strip())).replace(
        "](../../docs/", "](../../"
    )  # to a page of the site
    source = ANSWER.sub('<details class="answer">', linked)
    source = re.sub("<details(?=[ >])", r'\g<0> markdown="1"', source)
    source = ASKS.sub(f'``` {{.python data-cell="{cell.id}"}}\n', source)
    nbgrader = cell.metadata.get("nbgrader", {})
    if nbgrader.get("solution"):
        body = "\n".join(f"    {line}" for line in source.splitlines())
        title = words("Written answer · {} points, marked by the instructor").format(f"{nbgrader.get('points', 0):g}")
        return f'<div data-cell="{cell.id}" markdown="1">\n\n!!! question "{title}"\n{body}\n\n</div>'
    return CAPTION.sub(r"\g<0>\n{: .caption }", source, count=1) if cell.metadata.get("caption") else source


def _page_of(link: re.Match) -> str:
    folder, notebook = link.groups()
    number = folder[:2] if folder else notebook[:2]
    names = [phase for phase in phase_names() if phase[:2] == number]
    return f"](../{names[0]}/{notebook}.md" if names else f"]({notebook}.md"


def lists(source: str) -> str:
    """Notebooks let a list follow a paragraph without a blank line; the site's Markdown needs one."""
    lines, fenced = [], False
    for line in source.splitlines():
        fenced ^= line.lstrip().startswith(("```", "~~~"))
        item = re.match(r"([-*+]|1\.) ", line)
        if item and not fenced and lines and lines[-1].strip() and not re.match(r"\s*([-*+]|\d+\.) |\s+", lines[-1]):
            lines.append("")
        lines.append(line)
    return "\n".join(lines)


def _text(text: str, label: str = "Output") -> str:
    printed = html.escape(strip_ansi(text).strip("\n"))
    printed = PROSE.sub(lambda prose: f'<span class="prose">{prose[0].replace(chr(10), " ")}</span>', printed)
    lines = printed.split("\n")
    is_wide = any(len(html.unescape(line)) > 2 * PHONE and len(GAP.findall(line)) > 1 for line in lines)
    printed = "\n".join(line if is_wide and GAP.search(line) else _line(line) for line in lines)
    return _box(f'<pre tabindex="0">{printed}</pre>', label == "Error")


def _line(printed: str) -> str:
    """A line of an output. On a phone a long one goes on two letters to the right of where it began. C++ does not, nor do columns
    that would take more than two lines."""
    text = html.unescape(printed)
    if len(text) <= PHONE or text.endswith(CODE_ENDS) or printed.startswith("<span"):
        return printed
    indent = len(text) - len(text.lstrip(" ")) + 2
    return f'<span class="line" style="--in: {indent}ch">{printed}</span>'


def _rich(source: str) -> str:
    """HTML that an object shows of itself, such as a table, without anything that could act or restyle the page."""
    source = re.sub(r"<(script|style)\b.*?</\1>", "", source, flags=re.DOTALL | re.IGNORECASE)
    spans = ["colspan", "rowspan", "scope"]
    sanitizer = SanitizeHTML(tags=HTML_TAGS, attributes={"td": spans, "th": spans}, strip=True)
    return _box(sanitizer.sanitize_html_tags(source))


def _box(content: str, is_error: bool = False) -> str:
    """An output. It is HTML that Markdown must not look into: no line of it may look like a fence."""
    safe = content.replace("`", "&#96;").replace("~", "&#126;")
    kind, label = ("output error", words("Error")) if is_error else ("output", words("Output"))
    return f'<div class="{kind}" role="group" aria-label="{label}"><!-- unsearched -->{safe}<!-- /unsearched --></div>'


def _figure(output: NotebookNode, kind: str) -> str:
    alt = html.escape(output.metadata.alt, quote=True).replace("`", "&#96;")
    name = output.metadata.filenames[kind].replace("\\", "/")
    caption = f"\n\n{output.metadata.caption}\n{{: .caption }}" if "caption" in output.metadata else ""
    return f'<div class="figure"><img src="{name}" alt="{alt}"{_width(output, kind)}></div>{caption}'


def _width(output: NotebookNode, kind: str) -> str:
    """The width at which a picture that says how fine it is has its natural size."""
    if kind == "image/svg+xml":
        return ""
    data = output.data[kind]
    with Image.open(io.BytesIO(base64.b64decode(data))) as image:
        dots = image.info.get("dpi", (96, 96))[0] or 96
        return f' width="{round(image.width * 96 / dots)}"'
