"""The licences of what the site has from others: `<!-- parts -->` becomes a table of `docs/programs/browser/parts.toml`."""

from __future__ import annotations

from docs.programs.browser.parts import PARTS

PAGES = {  # where a reader finds a part, by how its address begins
    "https://registry.npmjs.org/": "https://www.npmjs.com/package/{name}/v/{version}",
    "pypi:": "https://pypi.org/project/{name}/{version}/",
    "release": "https://github.com/pyodide/pyodide/releases/tag/0.27.7",
}


def on_page_markdown(markdown: str, **_) -> str:
    return markdown.replace("<!-- parts -->", table()) if "<!-- parts -->" in markdown else markdown


def table() -> str:
    """A table of the parts: name, version, licence, source. Files of one package share a row."""
    rows = {(part["name"], part["version"], part["licence"], _page(part)): None for part in PARTS}
    lines = [f"| {name} | {version} | {licence} | <{page}> |" for name, version, licence, page in rows]
    return "\n".join(["| part | version | licence | source |", "|---|---|---|---|", *lines])


def _page(part: dict) -> str:
    page = next(page for start, page in PAGES.items() if part["sources"][0].startswith(start))
    return page.format(**part)
