"""The site in another language of the course.

At its end the build in English starts one for each language, which goes to `site/es/`. It has the same pages at the same places,
with the messages that `translations/` has. A paragraph without a translation is in English and says so (`lang="en"`), and so do a
page without any and each link to it (`hreflang="en"`). Headings keep the anchors of the English page, so a link to a section, and
the switch of languages, find it in both. A drawing whose labels have translations is there again. Other pictures, scripts and the
API are those of the site above.
"""

from __future__ import annotations

import html
import os
import posixpath
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

from babel import Locale
from markdown.extensions.toc import slugify, unique
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import event_priority
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

from autograder import translation

LANGUAGE = os.environ.get("RUSHLIGHT_LANGUAGE", "")  # of this build, or English
FENCED = re.compile(r"^(```+|~~~+).*?^\1`*$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^(#+ +)(.+?)((?: *\{[^}]*\})?)$", re.MULTILINE)
CONTENT = '<div class="md-content"'  # of the theme, which has the lists of pages in its `<main>` too
TITLE = re.compile(r"\[[^\]]*\w [^\]]*\]\(https?://[^)]+\)")  # of a page elsewhere
TO_A_PAGE = re.compile(r'<a [^>]*?href="([^":#]+\.html)[^>]*')


def words(text: str, here: bool = True) -> str:
    """A text of the site itself in the language of this build, or in English if the page is not translated `here`."""
    return say("site")(text, "") or text if LANGUAGE and here else text


def grouped(text: str) -> str:
    """A text whose numbers of more than three digits are written as in the language of this build: 243,160, or 243 160."""
    text = re.sub(r"(?<![\d,])(\d),(?=\d{3}(?![\d,]))", r"\1", text) if LANGUAGE else text  # four digits have no space
    return re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "\u202f", text) if LANGUAGE else text


@cache
def say(name: str, marked: bool = False) -> Callable[[str, str], str | None]:
    """What translates the messages of a text, such as `docs/index`. With `marked`, a message that is not translated says that it is
    in English, unless the whole text is. So does a title that the translation has as it is."""
    known = translation.catalogue(LANGUAGE, name)

    def found(message: str, kind: str) -> str | None:
        said = known.get(message)
        if (
            said is None
            and marked
            and known
            and kind in ("heading", "item", "paragraph")
            and not message.startswith("![")
        ):
            stars = re.match(r"\*?", message)[0] if re.fullmatch(r"\*[^*]+\*", message) else ""  # a caption
            inside = message[len(stars) : len(message) - len(stars)]
            return f'{stars}<span lang="en">{inside}</span>{stars}'
        for title in TITLE.findall(message) if said and marked else ():
            said = said.replace(title, f'{title}{{ lang="en" hreflang="en" }}')
        return said

    return found


def plain(text: str) -> str:
    """Prose without marks of emphasis and of code. A star within code is a star."""
    return re.sub(r"`([^`]*)`|\*", lambda match: match[1] or "", text)


def anchored(text: str, english: str, taken: set[str]) -> str:
    """Markdown whose headings have the anchors of those of the English text. `taken` has the anchors of the page so far."""
    slugs = iter([(match[2], _slug(match, taken)) for match in HEADING.finditer(FENCED.sub("", english))])
    lines, fence = [], ""
    for line in text.split("\n"):
        mark = re.match(r"(`{3,}|~{3,})", line)
        if mark and (not fence or line.startswith(fence)):
            fence = "" if fence else mark[1]
        match = None if fence else HEADING.match(line)
        heading, slug = next(slugs) if match else ("", "")
        same = not match or match[2] == heading  # whose anchor is the same, too
        lines.append(line if same else f"{match[1]}{match[2]} {{ #{slug} }}")
    return "\n".join(lines)


def _slug(heading: re.Match, taken: set[str]) -> str:
    """The anchor of a heading: its own, as in `## The compiler { #compiler }`, or else one of its words."""
    own = re.search(r"#([\w-]+)", heading[3])
    return own[1] if own else unique(slugify(plain(heading[2]), "-"), taken)


def translated(text: str, name: str) -> str:
    """A page in the language of this build."""
    said = anchored(translation.markdown(text, say(name, marked=True)), text, set())
    return re.sub(r'(?<=title=")(\w+)(?=")', lambda title: words(title[1]), said)  # of a block of code


# What mkdocs calls ---------------------------------------------------------------------------------------------------


@event_priority(100)  # before the theme and the search decide in which language they are
def on_config(config: MkDocsConfig) -> None:
    config.extra["english"] = set()  # the addresses of pages without a translation, below the site in this language
    codes = ["en", *translation.languages()]
    config.extra["language"], below = LANGUAGE or "en", f"{LANGUAGE}/" if LANGUAGE else ""
    foot = {
        "students": words("For students"),
        "instructors": words("Grading a lab"),
        "contributing": words("Contributing"),
    }
    config.extra["foot"] = [(f"{below}{name}.html", label) for name, label in foot.items()]
    config.extra["foot"] += [(f"{config.repo_url}/issues", words("Report a mistake"))] if config.repo_url else []
    config.extra["foot"] += [(f"{below}licences.html", words(config.copyright))]
    config.extra["alternate"] = [{"lang": code, "name": _name(code)} for code in codes] if codes[1:] else []
    _switch_to(config, "index.html")
    if not LANGUAGE:
        return
    config.theme["language"] = LANGUAGE
    config.site_description = words(config.site_description)
    config.mdx_configs["toc"]["permalink_title"] = words(config.mdx_configs["toc"]["permalink_title"])
    for scheme in config.theme["palette"]:
        scheme["toggle"]["name"] = words(scheme["toggle"]["name"])
    config.nav = _of_nav(config.nav)
    Page.is_homepage = property(lambda page: page.file.src_uri == "index.md")  # mkdocs knows one by its address


def _name(code: str) -> str:
    """What a language calls itself."""
    name = Locale.parse(code).get_display_name(code) or code
    return f"{name[:1].upper()}{name[1:]}"


def _switch_to(config: MkDocsConfig, url: str) -> None:
    """The links of the switch of languages, which the theme makes relative to the page."""
    for other in config.extra["alternate"]:
        other["link"] = url if other["lang"] == "en" else f"{other['lang']}/{url}"


def _of_nav(entry):
    """An entry of the navigation, or a list of them, with translated labels."""
    if isinstance(entry, list):
        return [*map(_of_nav, entry)]
    return {words(label): _of_nav(inside) for label, inside in entry.items()} if isinstance(entry, dict) else entry


@event_priority(-100)  # after the hooks that add files
def on_files(files: Files, config: MkDocsConfig) -> None:
    for file in files if LANGUAGE else ():
        is_page = file.is_documentation_page() and not file.src_uri.startswith("api/")
        if is_page or file.src_uri.endswith(".ipynb") or getattr(file, "labelled", False):
            file.url, file.dest_uri = f"{LANGUAGE}/{file.url}", f"{LANGUAGE}/{file.dest_uri}"
        else:
            file.url, file.dest_uri = file.url, file.dest_uri  # as a page, before it is none
            file.is_documentation_page = lambda: False
            file.copy_file = lambda dirty=False: None


@event_priority(100)  # before the hooks that fill in what a comment in the text asks for
def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str | None:
    if not LANGUAGE:
        return None
    name = page.file.src_uri.removesuffix(".md")
    lab = re.match(r"phases/(\w+)/(?:reading|(\w+))", name)
    text = f"docs/{name}" if not lab else f"labs/{lab[2]}" if lab[2] else f"phases/{lab[1]}"
    if not translation.catalogue(LANGUAGE, text):
        page.meta["untranslated"] = words("This page is not translated yet. It is in English.")
        config.extra["english"].add(page.url.removeprefix(f"{LANGUAGE}/"))
    if known := say(text)(page.meta.get("description", ""), "description"):
        page.meta["description"] = known
    return None if lab else translated(markdown, text)


@event_priority(100)
def on_page_context(context: dict, page: Page, config: MkDocsConfig, nav) -> None:
    english = page.url.removeprefix(f"{LANGUAGE}/") if LANGUAGE else page.url
    _switch_to(config, "index.html" if english.startswith("api/") else english)


@event_priority(100)  # before the hook that looks at the pictures
def on_page_content(content: str, page: Page, config: MkDocsConfig, files: Files) -> str | None:
    """A picture of a cell, and a script that a text names, are beside the English page. Hours are written as in the language."""

    def above(match: re.Match) -> str:
        file = files.get_file_from_path(posixpath.join(posixpath.dirname(page.file.src_uri), match[2]))
        return f'{match[1]}{file.url_relative_to(page.file)}"' if file else match[0]

    if not LANGUAGE:
        return None
    comma = Locale.parse(LANGUAGE).number_symbols["latn"]["decimal"]
    content = re.sub(rf"(?<=\d)\.(?=\d {words('hours')}\b)", comma, content)  # 1.5 hours
    return re.sub(r'(<(?:img|script)\b[^>]*? src=")([^":]+)"', above, content)


def on_template_context(context: dict, **_) -> None:
    """What `404.html` says: a host has one page for all addresses that do not exist, in whatever language."""
    context["languages"] = ["en", *translation.languages()]
    context["words"] = lambda text, code: text if code == "en" else translation.catalogue(code, "site").get(text, text)


def on_post_template(output_content: str, **_) -> str:
    return named(output_content, "")


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """The search of a page asks for the index beside the pages of its language. What is in English is read aloud so. The theme's
    landmarks have names, and the lists of pages are not in the main one."""
    output = named(output, page.title)
    if not LANGUAGE:
        return output
    if "untranslated" in page.meta:
        output = output.replace("<article ", '<article lang="en" ', 1)
    output = TO_A_PAGE.sub(partial(_with_its_language, page, config), output)
    return re.sub(r'"base": "[^"]*"', f'"base": "{get_relative_url(f"{LANGUAGE}/", page.url)}"', output, count=1)


def _with_its_language(page: Page, config: MkDocsConfig, link: re.Match) -> str:
    """The tag of a link, which says so if it leads to a page in English."""
    address = posixpath.normpath(posixpath.join(posixpath.dirname(page.url), link[1])).removeprefix(f"{LANGUAGE}/")
    if address not in config.extra["english"]:
        return link[0]
    tag, named = re.subn(r'aria-label="[^"]*', rf"\g<0> ({words('in English')})", link[0])
    return f'{tag} hreflang="en"' + ("" if named else f' title="{words("in English")}"')


def named(output: str, title: str) -> str:
    """A page whose header, search and main part, which has no list of pages, have names of their own for a screen reader. Its theme
    would ask each address of another language for a sitemap."""
    output = output.replace('<link rel="alternate" ', '<link rel="alternate " ')
    search = re.search(r'class="md-search__input"[^>]* aria-label="([^"]*)"', output)
    output = output.replace("<main ", "<div ").replace("</main>", "</div>").replace(CONTENT, f'{CONTENT} role="main"')
    labels = {"<header": "Rushlight", CONTENT: html.escape(html.unescape(re.sub(r"<[^>]+>", "", title or "Rushlight")))}
    if search:
        labels |= {'<div class="md-search"': search[1], '<div class="md-search__inner"': search[1]}
    for begins, label in labels.items():
        output = output.replace(f"{begins} ", f'{begins} aria-label="{label}" ', 1)
    return output


served: list[bool] = []  # whether this is no build for good


def on_startup(command: str, dirty: bool) -> None:
    served[:] = [command == "serve"]


@event_priority(-100)  # when the site above is there
def on_post_build(config: MkDocsConfig) -> None:
    for code in translation.languages() if not LANGUAGE and not any(served) else ():
        with tempfile.TemporaryDirectory(dir=config.site_dir) as place:
            command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--config-file", config.config_file_path]
            command += ["--site-dir", place, *["--strict"] * config.strict]
            environment = os.environ | {"RUSHLIGHT_LANGUAGE": code, "NO_MKDOCS_2_WARNING": "1"}
            if subprocess.run(command, env=environment, cwd=Path(config.config_file_path).parent).returncode:
                raise PluginError(f"the site in {code} could not be built")
            shutil.move(Path(place, "search"), Path(place, code))
            shutil.move(Path(place, code), config.site_dir)
