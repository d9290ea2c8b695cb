"""Chromium without a window, in which programs draw figures and take pictures, and how a picture is kept."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

NAMES = "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"


@contextmanager
def chromium() -> Iterator[Browser]:
    """Give the browser that is installed here. The program ends if there is none."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        raise SystemExit("no chromium here (`sh system.sh chromium` brings it)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


def save_both(view: Page, path: Path) -> None:
    """Write pictures of a page in the light scheme, and in the dark one as `NAME-dark.webp`."""
    for scheme, ending in ("light", ""), ("dark", "-dark"):
        view.emulate_media(color_scheme=scheme)
        save(view.screenshot(), path.with_stem(path.stem + ending))


def save(shot: bytes, path: Path) -> None:
    """Write a screenshot with its 256 most different colours, which needs less room."""
    colours = (
        Image.open(io.BytesIO(shot)).convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    )
    colours.convert("RGB").save(path, lossless=True, method=6)
