"""The metadata of a page for other sites, the loading of its pictures, and how its code blocks wrap and are copied.

A page has a description: the one in its front matter, or its first sentences. With a `site_url` it also has a card, a picture
that is drawn here for each phase and once for everything else, in a font that matplotlib ships; the page of a figure has a
picture of the figure, which `docs/programs/figures/build.py` draws. A picture in a page has its
size, so that nothing jumps when it arrives, and loads when the reader comes near; only the first one of a page loads at once. A
block of code with prompts is copied without them, and without what the commands printed. Where a phone wraps lines of code, a line
of a docstring goes on below its own first letter: the style sheet does this with an indent that is computed here.
"""

from __future__ import annotations

import html
import io
import posixpath
import re
import textwrap
from functools import cache
from itertools import cycle
from pathlib import Path

import matplotlib
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from PIL import Image, ImageDraw, ImageFont

from docs.programs import IMAGES
from docs.programs.hooks.languages import LANGUAGE, words
from docs.programs.hooks.narrow import PHONE
from docs.programs.hooks.searching import searched

MOST = 200  # letters of a description; search engines show about 160
PARAGRAPH = re.compile(r"<p>(.*?)</p>", re.DOTALL)
SENTENCE = re.compile(r"(?<=[.?!])\s+(?=[^a-z])")
ADMONITION = re.compile(r'<div class="admonition\b.*?</div>', re.DOTALL)
EMPTY_HEADER = re.compile(r"<th([^>]*)></th>")  # of a corner, which heads nothing
HEADING_OR_TABLE = re.compile(r"<h[1-6][^>]*>(.*?)</h[1-6]>|<table>", re.DOTALL)
PICTURE = re.compile(r"<img\b[^>]*>")
ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')
LENGTH = re.compile(r"([\d.]+)(pt|px)?$")
CODE = re.compile(r"<pre\b([^>]*)>(?:<span></span>)?<code[^>]*>(.*?)</code></pre>", re.DOTALL)
SHORT = re.compile(
    r"(?<!<pre>)<code>((?=[^<]*[ -])(?:[^<&]|&\w+;){1,20})</code>"
)  # in a text, where a line may end in it
DRAWN = re.compile("[┌┐└┘├┤┬┴│►▼◄]")  # in a diagram of letters
BOX = re.compile(r"[─-╿►▼◄▲\s]+")  # what it is drawn with, and what is between its words
DOCSTRING = re.compile(r'^(?:<span class="w">( *)</span>)?<span class="sd">( *)', re.MULTILINE)  # a line of one
VERB = re.compile(r"<tr>(?=\s*<td[^>]*>\(\w+?([aei]r)?\) )")  # a row of home's table: it begins with a verb
TABLE = re.compile(r"<table(?! class)[^>]*>.*?</table>", re.DOTALL)
CELL = re.compile(r"<(t[hd])[^>]*>(.*?)</\1>", re.DOTALL)
WIDEST = 37  # letters of the longest words of the columns together, for which a phone has room
PROSE = 75  # letters of a row, from where on a table is one of texts
PROMPT = re.compile(r"(?:>>>|\.\.\.|\$|In \[\d*\]:)(?: |$)")
FIRST_PROMPT = re.compile(r"(?:>>>|\$|In \[\d*\]:) ")

SMALL = {  # a page of paper is as narrow, and has the wide drawings
    "panels": "screen and (max-width: 44.9375em)",
    "middle": "screen and (max-width: 59.3em)",
}
CARD = 1200, 630
PAPER, INK, FAINT, FLAME, GLOW = "#15171c", "#f2f0ec", "#8d939c", "#e8590c", "#ffd8a8"
ICON = IMAGES / "favicon.svg"
ICON_PATH = re.compile(r'<path d="([^"]*)" fill="([^"]*)"')
COMMAND = re.compile(r"([MLC])([^MLCZ]*)")
THEME_ICON = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24">'


# What mkdocs calls ---------------------------------------------------------------------------------------------------


def on_files(files: Files, config: MkDocsConfig) -> None:
    if not config.site_url:
        return  # other sites need a full address
    phases = config.extra["phases"]
    numbers = [phase.name[:2] for phase in phases]
    titles = {"rushlight": "Rebuild PyTorch\nbeside the real one."}
    titles |= {phase.name[:2]: phase.label.partition(" ")[2] for phase in phases}
    for name, title in titles.items():
        content = b"" if LANGUAGE else card(name, title, numbers)  # another language has the cards of the site above
        files.append(File.generated(config, f"images/cards/{name}.png", content=content))


def on_page_content(content: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    said = page.meta.get("description") or ("" if page.is_homepage else description(page.file.src_uri, content))
    if said:
        page.meta["description"] = html.escape(str(said), quote=True)
    path, alt = _card(page.file.src_uri, content, config)
    if file := files.get_file_from_path(path):
        page.meta["card"] = {"path": file.url, "alt": alt, "width": CARD[0], "height": CARD[1]}
    content = EMPTY_HEADER.sub(r"<td\1></td>", content)
    content = content.replace('<div class="cards', '<div role="list" class="cards')
    content = content.replace('<div class="card"', '<div role="listitem" class="card"')
    content = content.replace('<a class="headerlink"', '<a class="headerlink" aria-hidden="true" tabindex="-1"')  # a ¶
    content = TABLE.sub(stacked, named_tables(content))
    content = VERB.sub(lambda row: f'<tr lang="{"es" if row[1] else "en"}">', content) if page.is_homepage else content
    content = CODE.sub(_copied, CODE.sub(_spoken, _pictures(content, page.url, files)))
    if "data-so-far" in content:  # predictions of what programs print
        content = CODE.sub(_with_lines, content)
    return DOCSTRING.sub(_hanging, content) if "data-cell" in content else content


def on_post_page(output: str, **_) -> str:
    """An icon of the theme says nothing: the link or the button around it has a name. A short code is on one line.
    Its class has no quotation marks, because questions are in JSON."""
    output = SHORT.sub(r"<code class=short>\1</code>", output)
    return output.replace(THEME_ICON, THEME_ICON.replace("<svg", '<svg aria-hidden="true"'))


def on_post_template(output_content: str, **_) -> str:
    return on_post_page(output_content)


def _card(source: str, content: str, config: MkDocsConfig) -> tuple[str, str]:
    """Return the path of a page's card and what it shows: the page's figure, its phase, or the course."""
    if source.startswith("figures/"):
        return source.replace(".md", ".png"), html.unescape(re.search(r'<svg [^>]*aria-label="([^"]*)"', content)[1])
    for phase in config.extra["phases"]:
        if source.startswith(f"phases/{phase.name[:2]}_"):
            return f"images/cards/{phase.name[:2]}.png", f"Rushlight, phase {phase.label}"
    return "images/cards/rushlight.png", "Rushlight. Rebuild PyTorch beside the real one."


# Description ---------------------------------------------------------------------------------------------------------


def description(path: str, content: str) -> str:
    """Describe a page: by the "can" line of a chapter, by a module's name, or by as many of its first sentences as fit."""
    texts = [
        " ".join(html.unescape(re.sub(r"<[^>]+>", "", match[1])).split())
        for match in PARAGRAPH.finditer(ADMONITION.sub("", searched(path, content)))
    ]
    if path.startswith("api/"):
        title = re.sub(r"<[^>]+>|&para;", "", re.search(r"<h1\b.*?</h1>", content, re.DOTALL)[0])
        texts = [f"{title}: {text}" for text in texts[:1]]
    texts = [text for text in texts if len(text) > 25 and text.endswith((".", "?", "!", ":"))]
    aim = next((text for text in texts[:8] if text.startswith("At the end of this")), "")
    text, said = aim or " ".join(texts[:3]), ""
    for sentence in SENTENCE.split(text):
        if len(said) + len(sentence) >= MOST:
            break
        said += f" {sentence}" if said else sentence
    said = said if len(said) > MOST / 3 else textwrap.shorten(text, MOST, placeholder=" …")
    return f"{said[:-1]}." if said.endswith(":") else said


# Card ----------------------------------------------------------------------------------------------------------------


def card(name: str, title: str, numbers: list[str]) -> bytes:
    """The picture of a phase, or of the whole course: its title, and a light for each phase."""
    image = Image.new("RGB", CARD, PAPER)
    draw = ImageDraw.Draw(image)
    _flame(image, (118, 108), 62)
    draw.text((174, 106), "Rushlight", font=_font("DejaVuSans-Bold", 44), fill=INK, anchor="lm")
    lines = [line for part in title.splitlines() for line in textwrap.wrap(part, 24)]
    size = 84 if len(lines) < 3 else 66 if len(lines) < 4 else 48
    top = 318 - len(lines) * size * 0.6
    if name in numbers:
        draw.text((84, top - 26), f"Phase {name}", font=_font("DejaVuSans", 38), fill=GLOW, anchor="ls")
    for row, line in enumerate(lines):
        place = 84, top + row * size * 1.2
        draw.text(place, line, font=_font("DejaVuSans-Bold", size), fill=INK, anchor="lt")
    for index, number in enumerate(numbers):
        left = 84 + index * 44
        lit = number == name or name not in numbers
        draw.rounded_rectangle((left, 470, left + 30, 476), 3, fill=FLAME if lit else "#3a3f47")
    below = "A course in PyTorch's internals. Labs for Jupyter and the browser."
    draw.text((84, 540), below, font=_font("DejaVuSans", 32), fill=FAINT, anchor="lm")
    written = io.BytesIO()
    image.quantize(64).save(written, "PNG", optimize=True)
    return written.getvalue()


def _flame(image: Image.Image, middle: tuple[int, int], size: int) -> None:
    """Draw the site's icon, whose paths have only the commands M, L, C and Z."""
    fine = Image.new("RGBA", (size * 4, size * 4))
    for path, color in ICON_PATH.findall(ICON.read_text(encoding="utf-8")):
        ImageDraw.Draw(fine).polygon([(x * size / 8, y * size / 8) for x, y in corners(path)], fill=color)
    small = fine.resize((size, size), Image.Resampling.LANCZOS)
    image.paste(small, (middle[0] - size // 2, middle[1] - size // 2), small)


def corners(path: str) -> list[tuple[float, float]]:
    """Return the corners of a path of an SVG: a curve has 16 of them."""
    found: list[tuple[float, float]] = []
    for command, numbers in COMMAND.findall(path):
        x, y = (list(map(float, numbers.split()))[axis::2] for axis in range(2))
        if command == "C":
            (x0, y0), (x1, x2, x3), (y1, y2, y3) = found[-1], x, y
            for t in (step / 16 for step in range(1, 17)):
                a, b, c, d = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3
                found.append((a * x0 + b * x1 + c * x2 + d * x3, a * y0 + b * y1 + c * y2 + d * y3))
        else:
            found += zip(x, y)
    return found


@cache
def _font(name: str, size: float) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / f"{name}.ttf", size)


# Pictures ------------------------------------------------------------------------------------------------------------


def _pictures(content: str, page: str, files: Files) -> str:
    first = next((picture for picture in PICTURE.findall(content) if "loading=" not in picture), "")

    def loading(match: re.Match) -> str:
        given = dict(ATTRIBUTE.findall(match[0]))
        path = posixpath.join(posixpath.dirname(page), given["src"].partition("#")[0])
        path = posixpath.normpath(path).removeprefix(f"{LANGUAGE}/")
        file = files.get_file_from_path(path)
        more = {} if match[0] == first else {"loading": "lazy"}
        if file and "height" not in given:
            width, height = size(file.content_bytes)
            shown = float(given.get("width", width))
            more |= {"width": f"{shown:.0f}", "height": f"{shown * height / width:.0f}"}
        added = "".join(f' {name}="{value}"' for name, value in more.items() if name not in given)
        image = f"<img{added}{match[0].removeprefix('<img')}"
        sources, kind = "", ""
        for ending, media in SMALL.items():
            small = files.get_file_from_path(path.replace(".svg", f"-{ending}.svg"))
            if small and small is not file:
                width, height = map(round, size(small.content_bytes))
                source = given["src"].replace(".svg", f"-{ending}.svg")
                sources += f'<source media="{media}" srcset="{source}" width="{width}" height="{height}">'
                kind = ' class="wide"' if ending == "panels" and width > PHONE else kind
        return f"<picture{kind}>{sources}{image}</picture>" if sources else image

    return PICTURE.sub(loading, content)


def size(picture: bytes) -> tuple[float, float]:
    """Return the natural width and height of a picture in pixels of a page (96 an inch)."""
    if not picture.lstrip().startswith(b"<"):
        with Image.open(io.BytesIO(picture)) as image:
            return image.size
    root = re.search(r"<svg\b[^>]*>", picture[:4000].decode("utf-8", "replace"))[0]
    given = dict(ATTRIBUTE.findall(root))
    sides = [LENGTH.match(given.get(name, "")) for name in ("width", "height")]
    if all(sides):
        return tuple(float(side[1]) * (96 / 72 if side[2] == "pt" else 1) for side in sides)
    return tuple(float(side) for side in given["viewBox"].split()[2:])


# Tables --------------------------------------------------------------------------------------------------------------


def stacked(table: re.Match) -> str:
    """A table of texts in more than three columns. If a phone would break their words, the cells of a row are one below the other
    there, each with the heading of its column."""
    head, *rows = [[_plain(cell[2]) for cell in CELL.finditer(row)] for row in table[0].split("<tr>")[1:]]
    columns = list(zip(head, *rows, strict=False))
    widest = sum(max(len(word) for cell in column for word in cell.split() or [""]) for column in columns)
    if len(columns) <= 3 or widest <= WIDEST or sum(len(cell) for row in rows for cell in row) < PROSE * len(rows):
        return table[0]
    labels = cycle([f' data-label="{html.escape(heading)}"' if heading else "" for heading in head])
    top, end, body = table[0].replace("<table", "<table data-stacked", 1).partition("</thead>")
    return top + end + re.sub("<td", lambda cell: cell[0] + next(labels), body)


def _plain(content: str) -> str:
    return html.unescape(re.sub(r"<[^>]+>", "", content)).strip()


def named_tables(content: str) -> str:
    """A page whose tables have a name for a screen reader: the heading above."""
    heading = ""

    def named(match: re.Match) -> str:
        nonlocal heading
        if match[1] is None:
            return f'<table aria-label="{heading}">' if heading else match[0]
        heading = re.sub(r'<a class="headerlink".*?</a>|<[^>]+>', "", match[1]).strip().replace('"', "&quot;")
        return match[0]

    return HEADING_OR_TABLE.sub(named, content)


# Code ----------------------------------------------------------------------------------------------------------------


def _copied(match: re.Match) -> str:
    attributes, code = match.groups()
    text = html.unescape(re.sub(r"<[^>]+>", "", code))
    given = without_prompts(text)
    return match[0] if given is None else match[0].replace("<pre", f'<pre data-copy="{html.escape(given)}"', 1)


def _spoken(block: re.Match) -> str:
    """A diagram of letters as a picture whose text is its words, line by line. Any other block is as it was."""
    drawn = block[2]
    if "<" in drawn or not DRAWN.search(drawn):
        return block[0]
    lines = filter(None, (BOX.sub(" ", line).strip() for line in html.unescape(drawn).splitlines()))
    label = html.escape(f"{words('Diagram')}: {'; '.join(lines)}")
    return block[0].replace(drawn, f'<span role="img" aria-label="{label}">{drawn}</span>')


def _hanging(line: re.Match) -> str:
    """The beginning of a line of a docstring with its indent, or on its first line with the indent before it, as in tab.js."""
    name, width = ("before", len(line[1])) if line[1] else ("in", len(line[2]))
    return line[0].replace('class="sd"', f'class="sd" style="--{name}: {width}ch"') if width else line[0]


def _with_lines(block: re.Match) -> str:
    """A block of code each of whose lines goes on four letters to the right of its first one, and breaks rather at a dot, a
    comma or a bracket than after its indent."""

    def line(code: str) -> str:
        text = re.sub("<[^>]+>", "", code)
        indent = len(text) - len(text.lstrip(" ")) + 4
        code = re.sub(r"[.,(\[]</span>", r"\g<0><wbr>", code)
        return f'<span class="line" style="--in: {indent}ch">{code}</span>' if text else code

    return block[0].replace(block[2], "\n".join(map(line, block[2].split("\n"))))


def without_prompts(text: str) -> str | None:
    """Return the lines of a session that a reader would type, or None if the text is no session."""
    lines = text.splitlines()
    if not any(FIRST_PROMPT.match(line) for line in lines):
        return None
    typed, goes_on = [], False
    for line in lines:
        prompt = PROMPT.match(line)
        if prompt or goes_on:
            typed.append(line[prompt.end() :] if prompt else line)
            goes_on = line.endswith("\\") and not line.startswith((">>>", "..."))
    return "\n".join(typed)
