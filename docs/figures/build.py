"""Compute what the moving figures show, and draw the picture of each.

    python docs/figures/build.py [NAME ...]

`NAME.py` computes the data of a figure with rushlight and torch: `data()`. It also says in which `PHASE` the figure stands, and
its `SIZE` in units of its drawing. `NAME.json` is this data, and `phases/PHASE_*/NAME.svg` is what `NAME.js` draws from it before
anyone has touched it, as Chromium sees it.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import shutil
from pathlib import Path
from types import ModuleType
from typing import Any

from playwright.sync_api import Page, sync_playwright

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
BROWSERS = "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"


def names() -> list[str]:
    return sorted(path.stem for path in HERE.glob("*.js") if path.stem != "figure")


def module(name: str) -> ModuleType:
    """The module `NAME.py`. It imports torch."""
    spec = importlib.util.spec_from_file_location(f"figure_{name}", HERE / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def text(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n"


def empty(name: str, size: tuple[int, int]) -> str:
    """A page with the figure's scripts and data, and nothing drawn."""
    width, height = size
    scripts = "".join(
        f"<script>{(HERE / f'{script}.js').read_text(encoding='utf-8')}</script>" for script in ("figure", name)
    )
    data = (HERE / f"{name}.json").read_text(encoding="utf-8").replace("<", "\\u003c")
    style = (HERE / "figure.css").read_text(encoding="utf-8")
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"></svg>'
    return (
        f'<!doctype html><meta charset="utf-8"><style>{style}</style><body><figure class="moving" data-figure="{name}">{svg}'
        f'<script type="application/json">{data}</script></figure>{scripts}</body>'
    )


def picture(page: Page, name: str, size: tuple[int, int]) -> str:
    """Return the first picture of the figure, as an SVG file that needs nothing else."""
    page.set_content(empty(name, size))
    drawing = page.evaluate("new XMLSerializer().serializeToString(document.querySelector('.moving svg'))")
    drawing = re.sub(r' (?:role|tabindex|aria-\w+)="[^"]*"', "", drawing)
    rules = (HERE / "figure.css").read_text(encoding="utf-8").partition("/* On a page")[0]
    style = re.sub(r"/\*.*?\*/\n", "", rules).strip().replace(".moving", ":root")
    width, height = size
    box = f'viewBox="-12 -8 {width + 24} {height + 16}" width="{width + 24}"'
    drawing = drawing.replace(f'viewBox="0 0 {width} {height}"', box, 1)
    ground = f'<rect x="-12" y="-8" width="{width + 24}" height="{height + 16}" style="fill: #ffffff; stroke: none"/>'
    return re.sub(r"(<svg [^>]*>)", lambda match: f"{match[1]}<style>{style}</style>{ground}", drawing, count=1) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Compute and draw the moving figures.")
    parser.add_argument("name", nargs="*", help="all of them by default")
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise SystemExit("no chromium here (`sh system.sh chromium` brings it)")
    with sync_playwright() as playwright:
        page = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"]).new_page()
        for name in parser.parse_args().name or names():
            given = module(name)
            (HERE / f"{name}.json").write_text(text(given.data()), encoding="utf-8")
            target = next(ROOT.glob(f"phases/{given.PHASE}_*")) / f"{name}.svg"
            target.write_text(picture(page, name, given.SIZE), encoding="utf-8")
            print(f"{name}: {target.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
