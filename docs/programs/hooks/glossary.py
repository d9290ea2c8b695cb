"""Terms of the glossary are links where a page first uses them, with the first sentence of their entry as a tooltip.

An entry of `docs/glossary.md` is linked by its title, or by the names in a comment below the title, and by their plurals:

    <!-- names: data parallel training, DDP; on: 04 07-reading 09a why; not: edge case -->

`on` says where: in a phase, in its reading, in a lab, on a page of `docs`, in all `phases`, or in `none`; without it the term is
linked everywhere. `not` has phrases that contain a name and mean something else. A name with a capital, a digit or an underscore
inside is found as it is written, and also where a page writes it as code; of any other the first letter may be a capital. In the
readings of its phases a term is not linked where it is defined: where its first use is in bold or in italics.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from markdown.extensions.toc import slugify, unique
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

from autograder import translation
from docs.programs import DOCS
from docs.programs.hooks.languages import LANGUAGE, say

ENTRY = re.compile(
    r"^### (.+)\n\n(?:<!-- ((?:names|on|not): .+) -->\n\n)?(?:<!-- asked: .+ -->\n\n)?(.+)", re.MULTILINE
)
RULES = re.compile(r"^<!-- (?:names|on|not): .+ -->\n\n", re.MULTILINE)
PHASE = re.compile(r"phases/(\d\d)_")
PAGE = re.compile(r"(?:phases/(\d\d)_\w+/(?:(\d\d[a-z]?)_\w+|reading\w*)|[\w-]+)$")
SENTENCE = re.compile(r"(?<=[.?!])\s+(?=[A-ZÀ-Þ¿¡`*\[])")
MARKUP = re.compile(r"\[([^]]*)\]\([^)]*\)|[`*]")
TAG = re.compile(r"""(<!--.*?-->|<(?:[^>"']|"[^"]*"|'[^']*')*>)""", re.DOTALL)
CLOSED = "a|button|details|dt|figure|h[1-6]|math|pre|script|style|summary|svg|table"
OUTSIDE = re.compile(
    rf'<(?:({CLOSED})\b|(\w+)[^>]* class="[^"]*\b(?:admonition-title|caption|figure|layers|notes|output)\b)'
)
GUIDES = {path.stem for path in DOCS.glob("*.md")} - {"index", "glossary", "figures"}


@dataclass
class Term:
    """An entry of the glossary, and where and by what names it is linked."""

    title: str
    anchor: str
    tooltip: str
    is_code: bool
    phases: set[str]  # whose readings explain it
    names: list[str]
    places: set[str] | None = None  # everywhere without
    others: list[str] = field(default_factory=list)  # phrases that are not this term
    english: list[str] = field(default_factory=list)  # its names there, in another language

    @property
    def code(self) -> list[str]:
        """The names that it has in code."""
        return [name for name in self.names if self.is_code or _is_name(name)]

    def on(self, page: str) -> bool:
        """Whether a page links it."""
        phase, lab = PAGE.match(page).groups()
        return self.places is None or bool(self.places & {phase and "phases", phase, lab or f"{phase}-reading", page})


@dataclass
class Glossary:
    """The terms that one kind of page links."""

    terms: list[Term]

    @cached_property
    def found(self) -> dict[str, Term | None]:
        """Return the meaning of each phrase, by its text in lower case unless its capitals matter."""
        phrases: dict[str, Term | None] = {}
        for term in self.terms:
            phrases |= {_key(form): None for other in term.others for form in plurals(other)}
        for term in self.terms:
            phrases |= {_key(form): term for name in term.names for form in plurals(name)}
        return phrases

    @cached_property
    def pattern(self) -> re.Pattern:
        """Any phrase as a word of its own, the longest first."""
        phrases = sorted(self.found, key=len, reverse=True)
        return re.compile(rf"(?<![\w.-])(?:{'|'.join(map(_any_case, phrases))})(?![\w-])")

    def meaning(self, text: str) -> Term | None:
        text = " ".join(text.split())
        return self.found.get(text) or self.found.get(text[:1].lower() + text[1:])


def _is_name(phrase: str) -> bool:
    """Whether it is written in one way only, as names in code are: `TensorImpl`, `vmap`, but not `Alias key`."""
    return bool(re.search(r"[A-Z0-9_]", phrase[1:]))


def _key(phrase: str) -> str:
    return phrase if _is_name(phrase) else phrase[:1].lower() + phrase[1:]


def _any_case(phrase: str) -> str:
    words = r"\s+".join(map(re.escape, phrase.split()))
    return words if _is_name(phrase) or not phrase[0].isalpha() else f"[{phrase[0].upper()}{phrase[0]}]{words[1:]}"


def plurals(name: str) -> list[str]:
    """A name and its plural. In another language than English it may have one of two endings, or the glossary names it."""
    if LANGUAGE:
        return [name, f"{name}s", f"{name}es"]
    if re.search("[^aeiou]y$", name):
        return [name, f"{name[:-1]}ies"]
    if name.endswith("leaf"):
        return [name, f"{name[:-1]}ves"]
    return [name, name + ("es" if name.endswith(("s", "x", "ch", "sh")) else "s")]


def terms(text: str) -> list[Term]:
    """The entries of the glossary."""
    entries, taken = [], set()
    for match in ENTRY.finditer(text):
        title, rules, first = match.groups()
        plain = MARKUP.sub(r"\1", title)
        says = dict(rule.split(": ", 1) for rule in rules.split("; ")) if rules else {}
        places = set(says["on"].split()) if "on" in says else None
        entry = text[match.start() : text.find("\n#", match.end())]
        entries.append(
            Term(
                title=plain,
                anchor=unique(slugify(plain, "-"), taken),
                tooltip=MARKUP.sub(r"\1", SENTENCE.split(first)[0]),
                is_code="`" in title,
                phases=set(PHASE.findall(entry)),
                names=says["names"].split(", ") if "names" in says else [plain],
                places=places,
                others=says["not"].split(", ") if "not" in says else [],
            )
        )
    return entries


# What mkdocs calls ---------------------------------------------------------------------------------------------------


def on_config(config: MkDocsConfig) -> None:
    english = Path(config.docs_dir, "glossary.md").read_text(encoding="utf-8")
    entries = config.extra["glossary"] = terms(translation.markdown(english, say("docs/glossary")))
    for term, its in zip(entries, terms(english), strict=True):
        term.anchor, term.english = its.anchor, [its.title, *its.names] if LANGUAGE else []


def on_page_markdown(markdown: str, page: Page, **_) -> str:
    return RULES.sub("", markdown) if page.file.src_uri == "glossary.md" else markdown


def on_page_content(content: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    name = page.file.src_uri.removesuffix(".md")
    phase = PHASE.match(name)
    if not phase and name not in GUIDES:
        return content
    glossary = Glossary([term for term in config.extra["glossary"] if term.on(name)])
    url = files.get_file_from_path("glossary.md").url_relative_to(page.file)
    return linked(content, glossary, url, phase[1] if "/reading" in name else "")


def linked(content: str, glossary: Glossary, url: str, defines: str = "") -> str:
    """The HTML of a page with its terms linked, each once; it may be the reading of a phase, which `defines` some of them."""
    seen: set[str] = set()
    pieces = TAG.split(content)
    closes, depth = "", 0

    def link(term: Term, written: str) -> str:
        seen.add(term.anchor)
        return f'<a class="term" href="{url}#{term.anchor}" title="{html.escape(term.tooltip)}">{written}</a>'

    def word(match: re.Match) -> str:
        term = glossary.meaning(match[0])
        return link(term, match[0]) if term and term.anchor not in seen else match[0]

    for at, piece in enumerate(pieces):
        tag = re.match(r"</?(\w+)", piece) if at % 2 else None
        if closes:
            if tag and tag[1] == closes and not piece.endswith("/>"):
                depth += -1 if piece.startswith("</") else 1
                closes = closes if depth else ""
        elif tag and (start := OUTSIDE.match(piece)) and not piece.endswith("/>"):
            closes, depth = start[1] or start[2], 1
        elif tag and tag[1] == "code":
            term = glossary.meaning(pieces[at + 1])
            if term and pieces[at + 1] in term.code and pieces[at + 2] == "</code>" and term.anchor not in seen:
                pieces[at], _, pieces[at + 2] = link(term, f"{piece}\0</code>").partition("\0")
            closes, depth = "code", 1
        elif tag and tag[1] in ("em", "strong") and not piece.startswith("</"):
            term = glossary.meaning(pieces[at + 1])
            if term and defines in term.phases and defines:
                seen.add(term.anchor)
        elif not at % 2:
            pieces[at] = glossary.pattern.sub(word, piece)
    return "".join(pieces)
