"""Take the pictures of the README, in light and dark: `python docs/programs/images/readme.py [card] [report] [strides]`.

The card is of a check that fails in JupyterLab, in a copy of the course. The report is of the made-up class of `marks.py`. The
figure is `docs/figures/strides.js` at a phone's width, frame by frame, as it moves by itself. `readme.json` says from which
figure it was taken.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.sync_api import Browser, Page

from autograder.classroom.report import write_report
from autograder.classroom.sample import LAB
from autograder.model import Lab
from docs.programs import DOCS, FIGURES, IMAGES
from docs.programs.figures import build
from docs.programs.images.marks import row
from docs.programs.pictures import chromium, save
from tests.browser.course import TOKEN, Course, Notebook

SCHEMES = {"light": "default", "dark": "slate"}  # and their names on the site
CHECK = 'check("aten.strided.contiguous_strides")'
ANSWER = """\
@exercise(rl.strided)
def contiguous_strides(sizes):
    strides, step = [], 1
    for size in reversed(sizes):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))"""  # wrong for a size of 0
CARD, REPORT, FIGURE = (690, 1000), (1000, 860), (390, 640)  # pixels of the window
FRAMES, STEP, HOLD = 6, 70, 2400  # of a movement; the milliseconds of each, and of the picture at its end
MOVEMENTS, WAIT = 6, 3500  # three operations, each with the way back; the milliseconds after which the figure moves
GROUNDS = {"light": "#ffffff", "dark": "#0d1117"}  # of a repository's page
STYLE = """
body {{ margin: 0; background: {0}; --md-default-bg-color: {0}; }}
figure.moving.moves[data-figure] {{ margin: 0 !important; padding: 16px 12px; }}
.moving .controls {{ display: none !important; }}
.moving.narrow .said {{
    position: static !important; min-height: 64px !important; margin: 0 0 12px;
    color: var(--ink); font: 15px/1.4 system-ui, sans-serif;
}}
"""
AT = """part => {
    for (const each of document.getAnimations()) {
        each.pause()
        each.currentTime = part * each.effect.getComputedTiming().endTime
    }
}"""


def card(browser: Browser) -> None:
    """Take an exercise with a wrong answer, and its check, in a student's JupyterLab."""
    with (
        TemporaryDirectory() as folder,
        Course(Path(folder)).jupyterlab("autograder.cli", "lab", LAB[:3], "--") as address,
    ):
        page = window(browser, CARD, "light")
        page.goto(f"{address}/doc/tree/work/{LAB}/{LAB}.ipynb?token={TOKEN}&reset")
        lab = Notebook(page)
        lab.run("import rushlight as rl")
        lab.run("def contiguous_strides", ANSWER)
        output = lab.run(CHECK)
        output.get_by_text("hint", exact=True).click()
        answer = page.locator(".jp-Notebook .jp-CodeCell", has_text="def contiguous_strides").first
        for scheme in SCHEMES:
            for name in ("Settings", "Theme", f"JupyterLab {scheme.title()}"):
                page.locator(".lm-MenuBar-itemLabel, .lm-Menu-itemLabel").get_by_text(name, exact=True).click()
            page.locator(f'body[data-jp-theme-name="JupyterLab {scheme.title()}"]').wait_for(state="attached")
            answer.evaluate("cell => cell.scrollIntoView({ block: 'start' })")
            page.mouse.move(CARD[0] - 1, 1)
            page.wait_for_timeout(1000)  # until the theme's colours have arrived
            panel, end = page.locator(".jp-NotebookPanel").bounding_box(), output.bounding_box()
            clip = panel | {"height": end["y"] + end["height"] + 12 - panel["y"]}
            save(page.screenshot(clip=clip), IMAGES / f"readme-card-{scheme}.webp")
        page.close()


def report(browser: Browser) -> None:
    """Take the exercises of a class report."""
    with TemporaryDirectory() as folder:
        os.environ["RUSHLIGHT_CLASSROOM"] = folder
        draw = random.Random(1)
        path = write_report(Lab(LAB), [row(number, draw) for number in range(40)])
        for scheme in SCHEMES:
            page = window(browser, REPORT, scheme)
            page.goto(path.as_uri())
            head = page.get_by_role("heading", name="Exercises", exact=True).bounding_box()
            table = page.get_by_role("region", name="Exercises", exact=True).bounding_box()
            clip = {
                "x": 0,
                "y": head["y"] - 12,
                "width": REPORT[0],
                "height": table["y"] + table["height"] - head["y"] + 24,
            }
            save(page.screenshot(clip=clip, full_page=True), IMAGES / f"readme-report-{scheme}.webp")
            page.close()


def strides(browser: Browser) -> None:
    """Take the moving figure."""
    for scheme in SCHEMES:
        shots, times = zip(*frames(browser, scheme))
        pictures = [Image.open(io.BytesIO(shot)).convert("RGB") for shot in shots]
        palette = pictures[-1].quantize(64, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        first, *others = [each.quantize(palette=palette, dither=Image.Dither.NONE).convert("RGB") for each in pictures]
        target, animated = (
            IMAGES / f"readme-strides-{scheme}.webp",
            {"save_all": True, "append_images": others, "loop": 0},
        )
        first.save(target, **animated, duration=times, lossless=True, method=6, minimize_size=True)
    (IMAGES / "readme.json").write_text(json.dumps({"strides": drawn_from()}) + "\n", encoding="utf-8")


def frames(browser: Browser, scheme: str) -> Iterator[tuple[bytes, int]]:
    """Yield the pictures of the figure, and the milliseconds of each."""
    html = build.empty("strides", build.module("strides").SIZE).replace("<figure ", "<figure data-calm ")
    page = window(browser, FIGURE, scheme)
    page.clock.install()
    page.set_content(html.replace("<body>", f'<body data-md-color-scheme="{SCHEMES[scheme]}">'))
    page.add_style_tag(content=STYLE.format(GROUNDS[scheme]))
    shown = page.locator("figure")
    yield shown.screenshot(), HOLD
    for _ in range(MOVEMENTS):
        page.clock.run_for(WAIT)
        for frame in range(1, FRAMES + 1):
            page.evaluate(AT, frame / FRAMES)
            yield shown.screenshot(), HOLD if frame == FRAMES else STEP
    page.close()


def drawn_from() -> str:
    """Return a digest of what the moving figure draws: its first picture, and its script."""
    (picture,) = DOCS.parent.glob("phases/*/strides.svg")
    return hashlib.sha256(picture.read_bytes() + (FIGURES / "strides.js").read_bytes()).hexdigest()


def window(browser: Browser, size: tuple[int, int], scheme: str) -> Page:
    width, height = size
    return browser.new_page(viewport={"width": width, "height": height}, device_scale_factor=2, color_scheme=scheme)


PICTURES = {"card": card, "report": report, "strides": strides}


def main() -> None:
    parser = argparse.ArgumentParser(description="Take the pictures of the README.")
    parser.add_argument("name", nargs="*", choices=[[], *PICTURES], help="all of them by default")
    with chromium() as browser:
        for name in parser.parse_args().name or PICTURES:
            PICTURES[name](browser)


if __name__ == "__main__":
    main()
