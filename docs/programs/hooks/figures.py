"""Moving figures in the pages.

A picture `NAME.svg` in a reading moves on the site if `docs/figures/NAME.js` exists: the page has its data and its
script, which takes the picture's place before the browser has read what comes after it, so that nothing moves. Without scripts
the picture stays, and a phone shows `docs/figures/NAME.svg` instead, which is narrow. A notebook shows the picture. Another page
shows the same figure by `<!-- figure: NAME -->`, as the figure's own page `docs/figures/NAME.md` does, and `<!-- figures -->`
becomes all of them, each with the ways to that page and to its reading.
`<!-- figure: strides calm -->` has few controls, and moves by itself until it is touched. `<!-- figure: strides still -->` is the
picture alone, a link to where the reading has the figure.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from markdown.extensions.toc import slugify
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

from autograder import translation
from docs.programs import DOCS, FIGURES
from docs.programs.hooks import scripts
from docs.programs.hooks.divided import FENCED, HEADING, plain
from docs.programs.hooks.languages import LANGUAGE, say, words

PHASES = DOCS.parent / "phases"
PICTURE = re.compile(r"^!\[([^\]]*)\]\((\w+)\.svg\)\n\n\*((?:\*\*|[^*])+)\*$", re.MULTILINE)
# what a caption says to readers of the notebook
STILL = re.compile("On the site this figure moves[.]|" + re.escape(words("On the site this figure moves.")))
ALONE = re.compile(r"<style>.*?</style><rect [^>]*/>", re.DOTALL)  # what a picture has as a file
SHARED = "figure", "shapes"  # the scripts of all figures
UNIT = 0.05  # rem for a unit of a picture, so that its text is as large as the page's
ELSEWHERE = re.compile(r"<!-- figure: (\w+)( calm| still)? -->")


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    shown: list[str] = []

    def moving(match: re.Match, calm: bool = False) -> str:
        alt, name, caption = match.groups()
        if not (FIGURES / f"{name}.js").exists():
            return match[0]
        sources = [name] if shown else [*SHARED, name]
        shown.append(name)
        scripts = (files.get_file_from_path(f"figures/{source}.js").url_relative_to(page.file) for source in sources)
        own, narrow = (files.get_file_from_path(f"figures/{name}.{ending}").url for ending in ("md", "svg"))
        addresses = get_relative_url(own, page.url), get_relative_url(narrow, page.url)
        said = STILL.sub("", caption).strip()
        moves = f"{words('On the site this figure moves.')} {config.site_url or ''}{own}"  # on paper
        return f'{figure(name, alt, *addresses, calm, [*scripts])}\n\n*{said}*\n{{: .caption data-moves="{moves}" }}'

    if "<!-- figures -->" in markdown:
        entries = (_entry(name, *shown) for name, shown in pictures().items())
        markdown = markdown.replace("<!-- figures -->", "\n\n".join(entries))

    def elsewhere(match: re.Match) -> str:
        name, kind = match.groups()
        phase, picture, section = pictures()[name]
        if kind == " still":
            narrow = get_relative_url(files.get_file_from_path(f"figures/{name}.svg").url, page.url)
            return _still(name, PICTURE.match(picture)[1], narrow, f"../{phase}/reading.md#{section}")
        return PICTURE.sub(lambda picture: moving(picture, kind == " calm"), picture)

    return PICTURE.sub(moving, ELSEWHERE.sub(elsewhere, markdown))


def pictures() -> dict[str, tuple[str, str, str]]:
    """For each moving figure, in the order of the course: the folder of its phase, how its reading shows it, and the anchor of the
    section."""
    shown = {}
    for path in sorted(PHASES.glob("*/reading.md")):
        text = path.read_text(encoding="utf-8")
        for match in PICTURE.finditer(text):
            if (FIGURES / f"{match[2]}.js").exists():
                above = HEADING.findall(FENCED.sub("", text[: match.start()]))
                picture = translation.markdown(match[0], say(f"phases/{path.parent.name}"))
                if LANGUAGE and picture == match[0]:  # of a reading in English
                    picture = picture.replace(match[3], f'<span lang="en">{match[3]}</span>')
                shown[match[2]] = path.parent.name, picture, slugify(plain(above[-1][1]), "-")
    return shown


def _entry(name: str, phase: str, picture: str, section: str) -> str:
    reading = f"[{words('reading')} {phase[:2]}](phases/{phase}/reading.md#{section})"
    ways = words("{page}, and {reading}, have this figure.")
    own = f'{words("A page of its own")}<span class="heard">: {title(name)}</span>'
    ways = ways.format(page=f"[{own}](figures/{name}.md)", reading=reading)
    return f"## {title(name)} {{ #{slugify(_english(name), '-')} }}\n\n{picture}\n\n{ways}"


def title(name: str) -> str:
    """Return the title of the figure's own page."""
    return say(f"docs/figures/{name}")(_english(name), "heading") or _english(name)


def beginning(name: str) -> str:
    """Return the first two sentences of the figure's own page, which explain its terms."""
    above = (FIGURES / f"{name}.md").read_text(encoding="utf-8").split("\n\n")[1]
    return " ".join(re.split(r"(?<=[.]) ", translation.markdown(above, say(f"docs/figures/{name}")))[:2])


def _english(name: str) -> str:
    return (FIGURES / f"{name}.md").read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


def _still(name: str, alt: str, phone: str, section: str) -> str:
    """What a figure at the top of a reading is about, its pictures for a desk and for a phone, and the way to its section."""
    drawing, width = _drawing(name, alt)
    pictures = f'{drawing}<img src="{phone}" alt="{html.escape(alt)}" loading="lazy">'
    said = words("{figure}, a figure of this chapter that you can move.").format(figure=f"[{title(name)}]({section})")
    return (
        f"{beginning(name)}\n\n"
        f'<figure class="moving still" style="--wide: {width:.1f}rem">{pictures}</figure>\n\n*{said}*\n{{: .caption }}'
    )


def _drawing(name: str, alt: str) -> tuple[str, float]:
    """Return the picture of a figure, and its width in rem."""
    picture = scripts.drawing(next(PHASES.glob(f"*/{name}.svg")).read_text(encoding="utf-8"), name)
    more = f'role="img" aria-label="{html.escape(alt)}"'
    drawing = ALONE.sub("", picture).replace("<svg ", f"<svg {more} ", 1).strip()
    return drawing, float(re.search(r'width="([\d.]+)"', picture)[1]) * UNIT


def figure(name: str, alt: str, page: str, phone: str, calm: bool = False, scripts: Sequence[str] = ()) -> str:
    """The pictures, the data and the scripts of a figure, as HTML. `page` is the address of its own page, and `phone` of its narrow
    picture."""
    drawing, width = _drawing(name, alt)
    data = (FIGURES / f"{name}.json").read_text(encoding="utf-8").strip().replace("<", "\\u003c")
    where = f'data-figure="{name}" data-page="{page}" style="--wide: {width:.1f}rem"{" data-calm" if calm else ""}'
    narrow = f'<noscript><img src="{phone}" alt="{html.escape(alt)}" loading="lazy"></noscript>'
    data = f'<script type="application/json">{data}</script>'
    tags = "".join(f'<script src="{script}"></script>' for script in scripts)
    return f'<figure class="moving" {where}>{drawing}{narrow}{data}{tags}</figure>'
