"""Pages that have not changed are not rendered again.

Markdown takes the longest of all that a build does. What it gives depends on a page's text, as the other hooks leave it, on the
page's place, on the files that it can link to, and on the versions and the configuration of what renders it. If all of these are
as they were, the HTML comes from `build/site/`. A page with a warning is not kept, so a strict build sees the warning again.
"""

from __future__ import annotations

import hashlib
import logging
import pickle
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from importlib.metadata import version
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority
from mkdocs.structure.files import Files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page

TOOLS = "markdown", "mkdocs", "mkdocs-material", "pygments", "pymdown-extensions"
RENDERED = "content", "toc", "_title_from_render", "present_anchor_ids"  # what `Page.render` gives, but for the links

used: set[Path] = set()  # in this build


def on_nav(nav: Navigation, config: MkDocsConfig, files: Files) -> None:
    used.clear()
    given = [sys.version, *map(version, TOOLS), config.markdown_extensions, config.mdx_configs, config.validation]
    given += sorted((file.src_uri, file.dest_uri) for file in files)
    config.extra["surroundings"] = hashlib.sha256(repr(given).encode()).hexdigest()


@event_priority(-100)  # when the text is complete
def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> None:
    page.render = partial(_render, page)


def on_post_build(config: MkDocsConfig) -> None:
    for path in {*_folder(config).glob("*.pickle")} - used:
        path.unlink(missing_ok=True)


def _folder(config: MkDocsConfig) -> Path:
    return Path(config.config_file_path).parent / "build" / "site" / config.extra.get("language", "en")


def _render(page: Page, config: MkDocsConfig, files: Files) -> None:
    text = f"{config.extra['surroundings']}\0{page.file.src_uri}\0{page.markdown}"
    path = _folder(config) / f"{hashlib.sha256(text.encode()).hexdigest()}.pickle"
    used.add(path)
    with suppress(Exception):  # a file that is missing or broken
        rendered, links = pickle.loads(path.read_bytes())
        vars(page).update(rendered)
        page.links_to_anchors = {files.get_file_from_path(uri): anchors for uri, anchors in links.items()}
        return
    with _warnings() as said:
        Page.render(page, config, files)
    if not said:
        path.parent.mkdir(parents=True, exist_ok=True)
        links = {file.src_uri: anchors for file, anchors in (page.links_to_anchors or {}).items()}
        written = path.with_suffix(f".{id(page)}")
        written.write_bytes(pickle.dumps(({name: getattr(page, name) for name in RENDERED}, links)))
        written.replace(path)


@contextmanager
def _warnings() -> Iterator[list[logging.LogRecord]]:
    """Within: collect the warnings of mkdocs."""
    said: list[logging.LogRecord] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = said.append
    log = logging.getLogger("mkdocs")
    log.addHandler(handler)
    try:
        yield said
    finally:
        log.removeHandler(handler)
