"""Compute what the moving figures show, and draw the picture of each.

    python docs/programs/figures/build.py [NAME ...]

`NAME.py` here computes the data of a figure with rushlight and torch: `data()`. It also says in which `PHASE` the figure stands,
and its `SIZE` in units of its drawing. In `docs/figures/`, `NAME.json` is this data. `phases/PHASE_*/NAME.svg` is what `NAME.js`
draws from it before anyone has touched it, as Chromium sees it. `NAME.png` shows this picture where another site shows a link to
the figure's page. `NAME.svg` beside the script is the narrow picture, for phones without scripts.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import re
from importlib import import_module
from types import ModuleType
from typing import Any

from PIL import Image
from PIL.PngImagePlugin import PngInfo
from playwright.sync_api import Page

from docs.programs import DOCS, FIGURES, IMAGES
from docs.programs.pictures import chromium

ROOT = DOCS.parent
FLAME = IMAGES / "favicon.svg"
DESK, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
CARD = """
body { display: flex; align-items: center; gap: 32px; height: 630px; margin: 0; padding: 0 24px 0 56px; background: #15171c; }
body > div { flex: 1; color: #f2f0ec; font-family: "DejaVu Sans", sans-serif; }
body > .moving { flex: none; }
h1 { margin: 56px 0 24px; font-size: 44px; line-height: 1.15; }
p { display: flex; gap: 14px; align-items: center; margin: 0; color: #8d939c; font-size: 24px; }
p:first-child { color: #f2f0ec; font-size: 30px; font-weight: bold; }
p svg { width: 44px; height: 44px; }
"""
SHARED = "figure", "shapes"  # the scripts of all figures
WORDS = DOCS / "javascripts" / "words.js"  # of all pages
STILL = """() => {
  const drawing = document.querySelector(".moving svg");
  for (const control of drawing.querySelectorAll(".control")) control.remove(); // a picture cannot be pressed
  return new XMLSerializer().serializeToString(drawing);
}"""


def names() -> list[str]:
    return sorted(path.stem for path in FIGURES.glob("*.js") if path.stem not in SHARED)


def module(name: str) -> ModuleType:
    """The module `NAME.py`. It imports torch."""
    return import_module(f"docs.programs.figures.{name}")


def text(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n"


def empty(name: str, size: tuple[int, int]) -> str:
    """A page with the figure's scripts and data, and nothing drawn."""
    width, height = size
    paths = [WORDS, *(FIGURES / f"{script}.js" for script in (*SHARED, name))]
    scripts = "".join(f"<script>{path.read_text(encoding='utf-8')}</script>" for path in paths)
    data = (FIGURES / f"{name}.json").read_text(encoding="utf-8").replace("<", "\\u003c")
    style = (FIGURES / "figure.css").read_text(encoding="utf-8")
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"></svg>'
    return (
        f'<!doctype html><meta charset="utf-8"><style>{style}</style><body><figure class="moving" data-figure="{name}">{svg}'
        f'<script type="application/json">{data}</script></figure>{scripts}</body>'
    )


def picture(page: Page, name: str, size: tuple[int, int], margin: tuple[int, int] = (12, 8)) -> str:
    """Return the first picture of the figure, as an SVG file that needs nothing else.

    It is the wide drawing or the narrow one, as the page's width has it, with a margin at its sides and above and below.
    """
    page.set_content(empty(name, size))
    drawing = page.evaluate(STILL)
    drawing = re.sub(r' (?:role|tabindex|aria-\w+)="[^"]*"', "", drawing)
    rules = (FIGURES / "figure.css").read_text(encoding="utf-8").partition("/* On a page")[0]
    style = re.sub(r"/\*.*?\*/\n", "", rules).strip().replace(".moving", ":root")
    width, height = map(int, re.search(r'viewBox="0 0 (\d+) (\d+)"', drawing).groups())
    (x, y), w, h = margin, width + 2 * margin[0], height + 2 * margin[1]
    drawing = drawing.replace(f'viewBox="0 0 {width} {height}"', f'viewBox="{-x} {-y} {w} {h}" width="{w}"', 1)
    ground = f'<rect x="{-x}" y="{-y}" width="{w}" height="{h}" style="fill: #ffffff; stroke: none"/>'
    return re.sub(r"(<svg [^>]*>)", lambda match: f"{match[1]}<style>{style}</style>{ground}", drawing, count=1) + "\n"


def card(page: Page, name: str, size: tuple[int, int]) -> bytes:
    """Return what another site shows of a link to the figure: its title beside its first picture, on 1200 x 630 pixels."""
    width, height = size
    scale = min(760 / (width + 24), 590 / (height + 16))
    title = (FIGURES / f"{name}.md").read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
    page.set_content(empty(name, size))
    drawing = page.evaluate(STILL)
    drawing = drawing.replace(f'viewBox="0 0 {width} {height}"', f'viewBox="-12 -8 {width + 24} {height + 16}"', 1)
    style = (FIGURES / "figure.css").read_text(encoding="utf-8")
    page.set_viewport_size({"width": 1200, "height": 630})
    page.set_content(
        f"""<!doctype html><meta charset="utf-8"><style>{style}{CARD}</style><body data-md-color-scheme="slate">
        <div><p>{FLAME.read_text(encoding="utf-8")} Rushlight</p><h1>{title}</h1><p>a figure that moves</p></div>
        <div class="moving" style="width: {scale * (width + 24):.0f}px">{drawing}</div>"""
    )
    with Image.open(io.BytesIO(page.screenshot())) as image:
        written = io.BytesIO()
        notes = PngInfo()
        notes.add_text("Drawn-from", drawn_from(name))
        image.convert("RGB").quantize(128).save(written, "PNG", optimize=True, pnginfo=notes)
    return written.getvalue()


def drawn_from(name: str) -> str:
    """Return a digest of what the card of a figure is drawn from: its first picture, its page's title, and the site's icon."""
    (picture,) = ROOT.glob(f"phases/*/{name}.svg")
    title = (FIGURES / f"{name}.md").read_text(encoding="utf-8").partition("\n")[0]
    text = picture.read_text(encoding="utf-8") + title + FLAME.read_text(encoding="utf-8")
    return hashlib.sha256(text.encode()).hexdigest()


def main() -> None:
    parser = argparse.ArgumentParser(description="Compute and draw the moving figures.")
    parser.add_argument("name", nargs="*", help="all of them by default")
    with chromium() as browser:
        page = browser.new_page()
        for name in parser.parse_args().name or names():
            given = module(name)
            (FIGURES / f"{name}.json").write_text(text(given.data()), encoding="utf-8")
            target = next(ROOT.glob(f"phases/{given.PHASE}_*")) / f"{name}.svg"
            page.set_viewport_size(DESK)
            target.write_text(picture(page, name, given.SIZE), encoding="utf-8")
            (FIGURES / f"{name}.png").write_bytes(card(page, name, given.SIZE))
            page.set_viewport_size(PHONE)
            (FIGURES / f"{name}.svg").write_text(picture(page, name, given.SIZE, margin=(1, 8)), encoding="utf-8")
            print(f"{name}: {target.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
