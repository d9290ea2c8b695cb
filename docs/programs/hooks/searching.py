"""The search index of a page.

Readers search for terms, and prose explains them. So the search has the headings and the prose of a reading and of a lab, without
code, outputs, pictures, hints and answers. It has the names in the API, each with the first sentence of what it says of itself; of
the list of operators it has the first sentence, and each name with its schema. A further name of an entry is found too. A function
is there once, without the operator and the kernel of the same name. It has no names of the course's own tools. The page that a
reader sees is whole.

Readers have words of their own. A section has them as `asked`, which no page shows: what readers call it, the questions that it
answers, and the errors that it explains. The names are those of a comment below its heading, `<!-- asked: OOM, CUDA out of memory
-->`, and of the glossary, the errors those of the index of errors. `docs/programs/asked.toml` has names and questions, and
`translations/es/asked.toml` has those in Spanish: of a value the first line has names, and each further line has a question or a
symptom as a reader would type it. `docs/javascripts/search.js` compares these with what is typed: it finds sections and puts them
in order, in the place of the theme's worker. A page without a translation is also found by the reader's words for the terms that
it has: those of the glossary, of `terms.toml` and of `[words]` in `asked.toml`.
"""

from __future__ import annotations

import html
import logging
import re
import tomllib
from collections import defaultdict
from collections.abc import Collection, Iterable
from fnmatch import fnmatch
from os.path import normpath
from pathlib import Path as File
from pathlib import PurePosixPath as Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import CombinedEvent, event_priority
from mkdocs.structure.pages import Page

from autograder.language import FOLDER
from docs.programs import DOCS
from docs.programs.hooks.languages import LANGUAGE

log = logging.getLogger("mkdocs.hooks.searching")

TOOLS = "api/course/*", "api/clinic/*"  # which no reader looks for by name

LEFT_OUT = re.compile(
    r"<(?P<block>details|figure|form)\b.*?</(?P=block)>"
    r'|<p class="(?:[\w-]+ )*(?:notes|layers|caption)\b.*?</p>'
    r"|<!-- unsearched -->.*?<!-- /unsearched -->",
    re.DOTALL,
)
MARKS = re.compile(r"<!-- (?:/?unsearched|asked: .+?) -->")
LETTER = re.compile(r'<h2 id="\w">.*?</h2>')  # above the terms that begin with it
HEADING = re.compile(r"(<h[1-6]\b.*?</h[1-6]>)", re.DOTALL)
SENTENCE = re.compile(r"<p>(.*?(?:[.:](?=\s+[A-Z<])|(?=</p>)))", re.DOTALL)
CODE = re.compile(r'<div (?:id="[^"]*" )?class="(?:[\w-]+ )*highlight\b.*?</div>', re.DOTALL)


ID = re.compile(r'\bid="([^"]+)"')

ASKED = re.compile(r'<h[2-6] id="([^"]+)"(?:(?!<h[1-6]).)*?</h[2-6]>\s*<!-- asked: (.+?) -->', re.DOTALL)

OPERATOR = re.compile(r'<dt><code [^>]*id="([^"]+)">((\w+?)_?[.(].*?)</code></dt>')

PLACE = re.compile(r'<span id="([\w.]+)"></span>')  # of a further name of an entry

ERROR = re.compile(r'<li><code>([^<]+)</code> · <a href="([^"]+)">')  # of the index of errors

asked: dict[str, list[str]] = {}  # for the address of a section, its names and its errors, in torch's words
declared: dict[str, dict[str, str]] = {}  # for an operator, or a further name of an entry, its entry in the index


def on_config(config: MkDocsConfig) -> None:
    asked.clear()
    declared.clear()
    for term in config.extra["glossary"]:
        asked[f"glossary.html#{term.anchor}"] = [*term.names, *term.english]


@event_priority(100)  # before the search plugin reads the page
def _on_page_context_hide(context, page: Page, config: MkDocsConfig, **_) -> None:
    path = page.file.src_uri
    inner = config.extra.get("forms", {}).get(path, ())  # what another entry stands for
    for anchor, schema, name in OPERATOR.findall(page.content) if path == "api/operators.md" else ():
        if anchor not in inner:
            declared.setdefault(
                name, {"location": f"{page.url}#{anchor}", "title": name, "text": html.unescape(schema)}
            )
    tool = any(fnmatch(path, pattern) for pattern in TOOLS)
    for anchor in PLACE.findall(page.content) if path.startswith("api/") and not tool else ():
        address = f"{page.url}#{anchor}"
        declared[address] = {"location": address, "title": anchor, "text": f"<p><code>{page.title}</code></p>"}
    for anchor, called in ASKED.findall(page.content):
        asked.setdefault(f"{path.removesuffix('.md')}.html#{anchor}", []).extend(called.split(", "))
    for message, target in ERROR.findall(page.content) if 'id="an-index-of-errors"' in page.content else ():
        address = normpath(f"{Path(page.url).parent}/{target}").removeprefix(f"{LANGUAGE}/")
        asked.setdefault(address, []).append(html.unescape(message))
    page.meta["search"] = {"exclude": tool} | (page.meta.get("search") or {})
    page.whole, page.content = page.content, searched(path, page.content, inner)


@event_priority(-100)
def _on_page_context_show(context, page: Page, **_) -> None:
    page.content = MARKS.sub("", page.whole)
    del page.whole


on_page_context = CombinedEvent(_on_page_context_hide, _on_page_context_show)


@event_priority(100)  # before the search plugin writes its index
def on_post_build(config: MkDocsConfig) -> None:
    search = config.plugins["material/search"]
    newcomers, known = of_sections(), own_words(config) if LANGUAGE else {}
    found = defaultdict[tuple[str, str], set[str]](set)
    search.search_index.entries += declared.values()
    for entry in search.search_index.entries:
        entry["location"] = entry["location"].removeprefix(f"{LANGUAGE}/") if LANGUAGE else entry["location"]
        page, _, anchor = entry["location"].partition("#")
        if page in config.extra["english"]:
            # `search.js` puts it behind the pages in the reader's language
            entry["english"] = [translated(known, entry["title"]), translated(known, entry["text"])]
        folder, stem = Path(page).parent.name, Path(page).stem
        keys = [f"{stem}#{anchor}"]
        # Other sections of a lab have the anchors of its reading's.
        if not folder or stem.startswith("reading") or anchor[:1].isdigit():
            keys.append(anchor or stem)
        if anchor.startswith("part-"):
            keys.append(stem)  # the beginning of a page of which the heading is all
        called = [
            *asked.get(entry["location"], []),
            *(line for key in keys for line in newcomers.get((folder, key), [])),
        ]
        for key in keys:
            found[folder, key].add(page)
        if called:
            entry["asked"] = [*dict.fromkeys(called)]
    for table, key in sorted(newcomers) if not config.draft_docs else ():
        if (pages := len(found[table, key])) != 1:
            log.warning(f"asked.toml: [{table}] has {key}, which is the anchor of a section on {pages or 'no'} pages")


def of_sections() -> dict[tuple[str, str], list[str]]:
    """Return the names and questions of each section, by the folder of its page and its anchor, its page, or `page#anchor`."""
    paths = [DOCS / "programs" / "asked.toml", *([FOLDER / LANGUAGE / "asked.toml"] if LANGUAGE else [])]
    tables = [_read(path) for path in paths if path.exists()]
    pages = {"": "reading"} | {
        f"{phase[:2]}{part}": f"reading_{phase[:2]}{part}" for phase in tables[0] for part in "abcde"
    }
    said = defaultdict[tuple[str, str], list[str]](list)
    for table in tables:
        for phase, sections in table.items():
            for key, value in sections.items() if phase != "words" else ():
                names, *questions = value.rstrip().split("\n")
                said[phase, pages.get(key, key)] += [line for line in (*names.split(", "), *questions) if line]
    return said


def own_words(config: MkDocsConfig) -> dict[tuple[str, ...], str]:
    """For a term in English, by its words, what it is called in the language of this build."""
    folder = FOLDER / LANGUAGE
    pairs = [(name, term.title) for term in config.extra["glossary"] for name in term.english]
    pairs += _read(folder / "terms.toml").items()
    pairs += _read(folder / "asked.toml").get("words", {}).items()
    called = defaultdict[tuple[str, ...], list[str]](list)
    for name, own in pairs:
        called[_words(name)] += [own] if isinstance(own, str) else own
    return {name: " ".join(own) for name, own in called.items()}


def translated(known: dict[tuple[str, ...], str], text: str) -> str:
    """What the terms of a text in English are called in the language of this build."""
    words, longest = _words(re.sub(r"<[^>]*>", " ", text)), max(map(len, known), default=0)
    parts: Iterable[tuple[str, ...]] = (
        words[start : start + length] for start in range(len(words)) for length in range(1, longest + 1)
    )
    return " ".join(
        {word: 0 for part in parts if part in known for word in known[part].lower().replace(",", "").split()}
    )


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.removesuffix("s") for word in re.findall(r"\w+", text.lower()))


def _read(path: File) -> dict:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def searched(path: str, content: str, inner: Collection[str] = ()) -> str:
    """The part of a page that the search reads. The `inner` names of the API are left out."""
    if path.startswith("api/"):
        before, *parts = HEADING.split(content)
        sections = zip(parts[::2], parts[1::2])
        return "".join(f"{head}{_first(text)}" for head, text in sections if not set(ID.findall(head)) & {*inner})
    if path.startswith("phases/"):
        content = CODE.sub("", content)
    return LEFT_OUT.sub("", LETTER.sub("", content))


def _first(text: str) -> str:
    sentence = SENTENCE.search(text)
    return f"<p>{sentence[1]}</p>" if sentence else ""
