"""Drawings that follow the colour scheme of the page.

A drawing has colours for a white page. On the site each colour is `light-dark(...)`: in the dark, greys go from the page's ground
to its ink, and other colours keep their hue. A light fill may have dark text on it, and a dark fill light text, so no fill is
in the middle. An image of greys in a drawing is inverted, and a drawing with a photograph stays as it is on paper. A browser
takes the scheme of the page, in an `<img>` too. `map.svg` becomes a part of its page, once wide and once as narrow as a phone,
and the boxes of its phases are links. A screenshot `NAME.webp` has a second file `NAME-dark.webp`, and a page shows the one of
its scheme. `README.md` has a second drawing too:
`python docs/programs/hooks/schemes.py` writes it.
"""

from __future__ import annotations

import colorsys
import re

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

from autograder import translation
from docs.programs import IMAGES
from docs.programs.hooks import scripts
from docs.programs.hooks.languages import LANGUAGE, grouped, say, words
from docs.programs.hooks.narrow import narrow

COLOR = re.compile(r"(?<![\w-])((?:fill|stroke|stop-color|--[\w-]+)(?:=\"|: ?))(#[0-9a-fA-F]{6}|#[0-9a-fA-F]{3})\b")
GROUND, INK, DARKEST = (0x1E, 0x21, 0x29), (0xE6, 0xE9, 0xEE), 0.14  # in the dark, and the lightness of ink on paper
UNDER, OVER = (
    0.34,
    0.54,
)  # shares of ink in a fill in the dark: the most under light text, and the least under dark text
DEEP = 0.29  # the lightness in the dark of a coloured fill under light text
ROOT = '<svg style="color-scheme: light dark; fill: light-dark(#000000, #e6e9ee)" '  # of what names no colour, too
IMAGES_TOO = (
    "<style>@media (prefers-color-scheme: dark) {"
    " image { filter: invert(0.88) hue-rotate(180deg); } }</style>"  # white becomes the ground
)
PHOTO = re.compile(r'<svg [^>]*class="photo"')
MAP = re.compile(r"!\[([^\]]*)\]\(images/map\.svg\)\{ \.map \}")
SCREENSHOT = re.compile(r"!\[[^\]]*\]\(images/([\w-]+)\.webp\)(\{[^}]*\})?")
BOX = re.compile(r'<rect data-phase="(\d\d)"( x="\S+" y="\S+" width="\S+" height="\S+" rx="\S+")')


def dark(color: str, fill: bool = False) -> str:
    """The colour that a colour on paper has in the dark."""
    digits = color[1:] if len(color) == 7 else "".join(digit * 2 for digit in color[1:])
    red, green, blue = bytes.fromhex(digits)
    hue, lightness, saturation = colorsys.rgb_to_hls(red / 255, green / 255, blue / 255)
    light = 0.3 * red + 0.59 * green + 0.11 * blue >= 0.5 * 255  # as `paper.ink_on` has it
    if max(red, green, blue) - min(red, green, blue) < (16 if lightness > 0.8 else 24):  # pale blue is no grey
        share, half = min((1 - lightness) / (1 - DARKEST), 1), 0.5 / (1 - DARKEST)
        if fill:
            share = share * UNDER / half if light else OVER + (share - half) * (1 - OVER) / (1 - half)
        parts = [ground + (ink - ground) * share for ground, ink in zip(GROUND, INK, strict=True)]
    else:
        soft = 0.4 if lightness > 0.8 else 0.75
        lightness = 0.17 + (1 - lightness) * 0.75
        if fill and light and lightness > DEEP:
            lightness, soft = DEEP, 1
        parts = [part * 255 for part in colorsys.hls_to_rgb(hue, lightness, saturation * soft)]
    return "#" + bytes(map(round, parts)).hex()


def in_the_dark(drawing: str) -> str:
    return COLOR.sub(lambda match: match[1] + dark(match[2], match[1].startswith("fill")), drawing)


def in_both(drawing: str) -> str:
    return COLOR.sub(
        lambda match: f"{match[1]}light-dark({match[2]}, {dark(match[2], match[1].startswith('fill'))})", drawing
    )


def on_files(files: Files, config: MkDocsConfig) -> None:
    for file in [*files]:
        drawn = file.src_uri.startswith(("figures/", "images/", "phases/")) and file.src_uri.endswith(".svg")
        if drawn and file.src_uri != "images/favicon.svg":
            files.remove(file)
            name = file.src_uri.removeprefix("figures/").removesuffix(".svg")
            drawing = scripts.drawing(file.content_string, name) if "/" not in name else labelled(file.content_string)
            new = drawing != file.content_string  # in the language of this build
            files.append(File.generated(config, file.src_uri, content=following(drawing)))
            files.get_file_from_path(file.src_uri).labelled = new


def following(drawing: str) -> str:
    """A drawing that follows the scheme of its page, unless it has a photograph (see `slim_svg`)."""
    if PHOTO.match(drawing):
        return drawing
    drawing = in_both(drawing).replace("<svg ", ROOT, 1)
    return drawing.replace("</svg>", IMAGES_TOO + "</svg>") if "<image" in drawing else drawing


def labelled(drawing: str) -> str:
    """A drawing with its labels, and the numbers in them, in the language of this build."""
    said = translation.drawing(drawing, say("pictures"))
    return translation.TEXT.sub(lambda match: match[1] + grouped(match[3]), said) if LANGUAGE else said


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    def linked(match: re.Match) -> str:
        drawing = labelled((IMAGES / "map.svg").read_text(encoding="utf-8"))
        phone = narrow(drawing).replace("#head", "#tip").replace('id="head"', 'id="tip"')  # a page has each id once
        return f'<figure class="map">{dressed(drawing, match[1])}{dressed(phone, match[1])}</figure>'

    def dressed(drawing: str, said: str) -> str:
        links = []
        for number, box in sorted(BOX.findall(drawing)):  # which is the order of the keyboard, too
            phase = next(phase for phase in config.extra["phases"] if phase.name.startswith(number))
            first = phase.reading or phase.labs[0]
            url = get_relative_url(files.get_file_from_path(first.page).url, page.url)
            left, top = map(float, re.findall(r' [xy]="([^"]+)"', box))
            mark = (
                ""
                if first.is_translated
                else f'<text x="{left + 5:g}" y="{top + 12:g}" font-size="9" fill="currentColor">EN</text>'
            )
            name = words("Phase {}").format(phase.label)
            links.append(f'<a href="{url}" aria-label="{name}"><rect{box} fill="transparent"/>{mark}</a>')
        drawing = re.sub(r'role="img" aria-labelledby="[^"]*"', f'role="group" aria-label="{said}"', drawing, count=1)
        drawing = re.sub(r"<(title|desc)\b.*?</\1>", "", drawing, flags=re.DOTALL)
        drawing = drawing.replace("<g ", '<g aria-hidden="true" ')  # its links have the names, and its label the arrows
        lines = drawing.replace("</svg>", "".join(links) + "</svg>").splitlines()
        return in_both("".join(map(str.strip, lines)))

    def both(match: re.Match) -> str:
        if not (IMAGES / f"{match[1]}-dark.webp").exists():
            return match[0]
        light = match[0].replace(".webp)", ".webp#only-light)")  # the theme hides what is not of the page's scheme
        return light + match[0].replace(".webp)", "-dark.webp#only-dark)")

    return SCREENSHOT.sub(both, MAP.sub(linked, markdown))


if __name__ == "__main__":
    (IMAGES / "idea-dark.svg").write_text(
        in_the_dark((IMAGES / "idea.svg").read_text(encoding="utf-8")), encoding="utf-8"
    )
