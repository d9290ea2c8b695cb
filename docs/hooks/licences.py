"""The licences of what the site has from others: `<!-- parts -->` becomes a table of `docs/browser/parts.toml`."""

from __future__ import annotations

import tomllib
from pathlib import Path

DATA = Path(__file__).parents[1] / "browser" / "parts.toml"
PAGES = {  # where a reader finds a part, by how its address begins
    "https://registry.npmjs.org/": "https://www.npmjs.com/package/{name}/v/{version}",
    "pypi:": "https://pypi.org/project/{name}/{version}/",
    "release": "https://github.com/pyodide/pyodide/releases/tag/0.27.7",
}


def on_page_markdown(markdown: str, **_) -> str:
    return markdown.replace("<!-- parts -->", table()) if "<!-- parts -->" in markdown else markdown


def table() -> str:
    """A table of the parts: name, version, licence, source. Files of one package share a row."""
    parts = tomllib.loads(DATA.read_text(encoding="utf-8"))["part"]
    rows = {(part["name"], part["version"], part["licence"], _page(part)): None for part in parts}
    lines = [f"| {name} | {version} | {licence} | <{page}> |" for name, version, licence, page in rows]
    return "\n".join(["| part | version | licence | source |", "|---|---|---|---|", *lines])


def _page(part: dict) -> str:
    page = next(page for start, page in PAGES.items() if part["sources"][0].startswith(start))
    return page.format(**part)
