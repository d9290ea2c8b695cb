"""The course in another language: texts whose paragraphs are looked up in a catalogue.

`translations/LANGUAGE/` has gettext's PO files, one for each page, reading and lab. A message is a paragraph, a heading, an item of
a list, a row of a table, or a comment in code, with its lines joined. What no catalogue has stays as it is, byte for byte: code,
outputs, formulas, and paragraphs that are new or have changed since they were translated.
"""

from __future__ import annotations

import ast
import copy
import html
import io
import re
import shutil
import textwrap
import tokenize
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from .course import READINGS
from .language import FOLDER, SPOKEN, messages
from .model import Lab, digest_of, phases

SHARED = ["common", *SPOKEN]  # catalogues of what is not of one text

Say = Callable[[str, str], str | None]  # a message and its kind, to its translation if there is one

DESCRIBED = re.compile(r"^(description: )(.+)$")  # in front matter
FENCE = re.compile(r"\s*(`{3,}|~{3,})")
PHRASE = re.compile(r"(?<![\w.])[a-z]{2,},? +[a-z]{2,}(?![\w.(])")  # in a diagram of letters
PROGRAM = re.compile(  # in a block of letters that is no diagram
    r"^\s*(?:1 +)?(?:def |class |\$ |\(gdb\) |__global__ |#include |\w+ = (?:\[|[\w.]+\())", re.MULTILINE
)
HEADING = re.compile(r"(#+ +)(.+?)((?: *\{[^}]*\})?)$")
ITEM = re.compile(r"(\s*(?:[-*+]|\d+[.)]) +(?:\[[ x]\] +)?)(.+)$")
BOXED = re.compile(r'(\s*(?:!!!|\?\?\?\+?) *[\w -]+?")(.+)("\s*)$')
TAG = re.compile(r"(\s*</?(?:details|summary|div|p|figure|figcaption|section|dl|dt|dd)\b[^>]*>\s*)")
SECTION = re.compile(r"\s*(?:Args|Returns|Raises|Yields):$")  # of a docstring
ENTRY = re.compile(r"( {4}[\w*`]+(?:, [\w*`]+)*: )(.+)$")  # in one
NAMED = re.compile(r"(\s*<!-- )((?:names|asked|on: [^;]*; not): .+?)( -->\s*)$")
INERT = re.compile(r"\s*(?:<!--.*?-->|\{:?[^}]*\}|\|?[\s:|-]+\|?|-{3,}|\$\$.*|>>> .*)\s*$", re.DOTALL)
NO_WORDS = re.compile(r"`[^`]*`|\$[^$]+\$|<[^>]*>|\]\([^)]*\)|https?://\S+|\{[^}]*\}|&\w+;")
DIRECTIVE = re.compile(r"(?:type|noqa|pragma|fmt|mypy|ruff|pylint|doctest)\b ?[:(]|noqa|YOUR CODE HERE|[★☆!%]")
TEXT = re.compile(r"(<text\b([^>]*)>)([^<]+)(?=</text>)")  # of a drawing
VALUE = re.compile(r"\([\d, ]*\)|\[[\d, ]*\]|(?<![\w.])\d+(?:[.,]\d+)*")  # in a label
LABEL = re.compile(  # apart from its values. After two words there may be a name of code
    r"[A-Za-z,:][^_()\[\]=<>]*[a-z][^_()\[\]=<>]*|[a-z]+[,:]? [a-z]+[,:]? [\w,:'=. ]+"
)
PROSE = re.compile(r"[A-Za-z][A-Za-z,:']* [A-Za-z,:'+? ]+")  # the same, in the letters of code
NAMED_COLUMN = re.compile(r"(?<![\w.:/])[a-z]{2,}(?![\w.:/]*[\w/])")  # a heading of a table with a word in it
TOLD = re.compile(rf"yes|[a-z]{{4,}}|(?=.*\b[a-z]{{2,}}\b){PROSE.pattern}")  # another cell that has words alone
LETTERED = re.compile(  # a label in the letters of code that has words, apart from its values
    rf"{TOLD.pattern}|(?=.*\w.* .*\w)(?=.*\b[a-z]{{2,}}\b)(?!.*(?:\w\.\w|::|[_=;<>\[\]{{}}#*])).+"
)
CELL = re.compile(r"(?<=\| )(?=[^\s|])(.+?)(?= \|)")
TIME = "**Time.** "  # the paragraph below a lab's title, whose numbers the builder adds up
COUNT = r"\d+(?:\.\d+)?"
EFFORT = re.compile(r"(# [★☆]{3} · )(.+)$", re.MULTILINE)  # above an exercise
WIDTH = 100  # of a comment and of a docstring


def languages() -> list[str]:
    """The languages of the course besides English: `["es"]`."""
    return sorted(path.name for path in FOLDER.glob("*") if path.is_dir())


def catalogues(names: Sequence[str]) -> list[Path]:
    """The files with the messages of these texts, of verdicts and of several texts, in all languages."""
    wanted = [FOLDER / language / f"{name}.po" for language in languages() for name in [*SHARED, *names]]
    return [path for path in wanted if path.exists()]


def expect(language: str) -> None:
    """Raises LookupError for a language that the course does not have."""
    if language not in languages():
        has = f"it has {', '.join(languages())} besides English" if languages() else "it is in English alone"
        raise LookupError(f"the course is not in {language!r}: {has}")


@cache
def catalogue(language: str, name: str) -> dict[str, str]:
    """The messages of `labs/01a_views` or `docs/index` that are translated and up to date, with those that several texts have.
    Empty without a catalogue."""
    paths = [FOLDER / language / f"{each}.po" for each in ("common", name)]
    if not paths[1].exists():
        return {}
    return {english: said for path in paths for english, said in messages(path).items()}


def say(language: str, name: str) -> Say:
    """What translates a text. In English it says nothing."""
    known = catalogue(language, name) if language else {}
    return lambda message, kind: known.get(message)


def has_words(text: str) -> bool:
    """Whether there is anything in a text to translate, besides code, formulas, tags and addresses."""
    return bool(re.search(r"[^\W\d_]{2}", NO_WORDS.sub("", text)))


def drawing(picture: str, say: Say) -> str:
    """A drawing (SVG) with its labels as `say` has them, in which `{}` is a number or numbers in brackets. Names and code stay."""
    mono = {f'class="{name}"' for name in re.findall(r"\.(c\d+)\{[^}]*Mono", picture)}

    def said(match: re.Match) -> str:
        code = "mono" in match[2] or any(name in match[2] for name in mono)
        known = _around_values(say, html.unescape(match[3]), "label", LETTERED if code else LABEL)
        return match[1] + (html.escape(known, quote=False) or match[3])

    return TEXT.sub(said, picture)


def _around_values(say: Say, text: str, kind: str, words: re.Pattern) -> str:
    """The translation of a text that matches `words` apart from its values, with these, whose places are `{}` in the message. Empty
    without one."""
    known = words.fullmatch(VALUE.sub("", text).strip()) and say(VALUE.sub("{}", text), kind)
    values = iter(VALUE.findall(text))
    return re.sub(r"\{\}", lambda _: next(values), known or "")


def table(printed: str, say: Say) -> str:
    """A table that a cell has printed, as Markdown, with its headings and the words in its cells as `say` has them. Names and
    values stay."""
    head, *rows = printed.split("\n")

    def heading(cell: re.Match) -> str:
        return (NAMED_COLUMN.search(cell[1]) and say(cell[1], "table")) or cell[1]

    def entry(cell: re.Match) -> str:
        return _around_values(say, cell[1], "table", TOLD) or cell[1]

    return "\n".join([CELL.sub(heading, head), *(CELL.sub(entry, row) for row in rows)])


# Markdown ------------------------------------------------------------------------------------------------------------


def markdown(text: str, say: Say, width: int = 0) -> str:
    """Markdown with the messages that `say` knows, as lines of at most `width` characters if it is given. The other lines are as
    they were."""
    lines, done, at = text.split("\n"), list[str](), 0
    if lines[0] == "---" and "---" in lines[1:]:  # front matter
        at = lines.index("---", 1) + 1
        done = [
            DESCRIBED.sub(lambda match: match[1] + (say(match[2], "description") or match[2]), line)
            for line in lines[:at]
        ]
    while at < len(lines):
        end = _end_of_block(lines, at)
        block = lines[at:end]
        deep = 8 if _is_nested(done) else 4
        is_code = FENCE.match(block[0]) or block[0].startswith(" " * deep)
        is_inert = INERT.match("\n".join(block)) and not NAMED.match(block[0])
        diagram = "\n".join(block[1:-1]) if block[0] == "```text" else ""
        if "  " in diagram and PHRASE.search(diagram) and not PROGRAM.search(diagram):
            block = [block[0], say(diagram, "diagram") or diagram, block[-1]]
        done += block if is_code or is_inert else _translated(block, say, width)
        at = end
    return "\n".join(done)


def _end_of_block(lines: list[str], at: int) -> int:
    """Where the block that begins at a line ends: after its fence, or before the next blank line or fence."""
    if fence := FENCE.match(lines[at]):
        closes = (i for i in range(at + 1, len(lines)) if lines[i].strip().startswith(fence[1]))
        return next(closes, len(lines) - 1) + 1
    if not lines[at].strip():
        return at + 1
    ends = (i for i in range(at + 1, len(lines)) if not lines[i].strip() or FENCE.match(lines[i]))
    return next(ends, len(lines))


def _is_nested(before: list[str]) -> bool:
    """Whether an indented block is a part of the box, or of the item of a list, that is above it."""
    above = next((line for line in reversed(before) if line.strip() and not line.startswith("    ")), "")
    return bool(ITEM.match(above) or BOXED.match(above) or above.startswith(("!!!", "???", ":", "  ")))


def _translated(lines: list[str], say: Say, width: int) -> list[str]:
    """The lines of a block without blank lines."""
    done: list[str] = []
    for piece in _pieces(lines):
        kind, before, text, after = _parts(piece[0])
        whole = re.sub(r"(?<! ) ?\n\s*", " ", "\n".join([text, *piece[1:]])).strip()
        parts = TAG.split(whole)  # a text, a tag, a text ...
        translate = partial(_with_counts, say) if whole.startswith(TIME) else say
        said = [
            translate(part.strip(), kind) if at % 2 == 0 and has_words(part) else None for at, part in enumerate(parts)
        ]
        if not any(said):
            done += piece
            continue
        line = "".join(new or old for new, old in zip(said, parts, strict=True))
        if width:
            hang = " " * (len(before) - len(before.lstrip()) + {"entry": 4, "item": 2}.get(kind, 0))
            fill = textwrap.TextWrapper(width, before, hang, break_long_words=False, break_on_hyphens=False)
            done += fill.wrap(f"{line}{after}")
        else:
            done.append(f"{before}{line}{after}")
    return done


def _with_counts(say: Say, text: str, kind: str) -> str | None:
    """The translation of a text with minutes and points, which are no part of the message: they may change."""
    said = say(re.sub(COUNT, "{}", text), kind)
    return said and said.format(*re.findall(COUNT, text))


def _pieces(lines: list[str]) -> Iterator[list[str]]:
    """The lines of a paragraph, of an item, and of an entry of a docstring stay together. Each other line is alone."""
    piece: list[str] = []
    for line in lines:
        if piece and (
            _parts(line)[0] != "paragraph" or _parts(piece[0])[0] not in ("item", "entry", "paragraph", "tag")
        ):
            yield piece
            piece = []
        piece.append(line)
    yield piece


def _parts(line: str) -> tuple[str, ...]:
    """The kind of a line, what is before its text, the text, and what is after it."""
    if match := NAMED.match(line):
        return "names", *match.groups()
    if INERT.match(line):
        return "mark", line, "", ""
    if match := HEADING.match(line):
        return "heading", *match.groups()
    if match := BOXED.match(line):
        return "title", *match.groups()
    if line.lstrip().startswith("|"):
        return "row", "", line, ""
    if SECTION.match(line):
        return "section", "", line, ""
    if TAG.match(line):
        return "tag", "", line, ""
    for kind, pattern in ("item", ITEM), ("entry", ENTRY):
        if match := pattern.match(line):
            return kind, *match.groups(), ""
    text = line.lstrip().removeprefix("> ").removeprefix(": ")
    return "paragraph", line[: len(line) - len(text)], text, ""


# Code ----------------------------------------------------------------------------------------------------------------


def code(source: str, say: Say) -> str:
    """Python with the comments, and the docstring of the first function or class, that `say` knows."""
    if (effort := EFFORT.match(source)) and (said := _with_counts(say, effort[2], "effort")):
        source = effort[1] + said + source[effort.end() :]
    return _docstring(_comments(source, say), say)


def _comments(source: str, say: Say) -> str:
    if "#" not in source:
        return source
    lines = source.split("\n")
    try:
        tokens = [*tokenize.generate_tokens(io.StringIO(source).readline)]
    except (tokenize.TokenError, SyntaxError):  # a magic of IPython, or a body that is not written yet
        return source
    found = [token for token in tokens if token.type == tokenize.COMMENT]
    groups: list[list[tokenize.TokenInfo]] = []
    for token in found:
        alone = not lines[token.start[0] - 1][: token.start[1]].strip()
        last = groups[-1][-1].start if groups and alone and groups[-1][-1].line.strip().startswith("#") else None
        if last == (token.start[0] - 1, token.start[1]):
            groups[-1].append(token)
        else:
            groups.append([token])
    for group in reversed(groups):
        texts = [token.string.lstrip("#").strip() for token in group]
        message = " ".join(texts)
        said = say(message, "comment") if has_words(message) and not DIRECTIVE.match(message) else None
        if said is None:
            continue
        (row, column), mark = group[0].start, group[0].string[: -len(group[0].string.lstrip("#"))]
        before = lines[row - 1][:column]
        width = max(WIDTH - column, 40) if not before.strip() else 10_000
        written = textwrap.wrap(said, width, break_long_words=False, break_on_hyphens=False)
        lines[row - 1 : group[-1].start[0]] = [f"{before}{mark} {line}" for line in written]
    return "\n".join(lines)


def _docstring(source: str, say: Say) -> str:
    if '"""' not in source:
        return source
    try:
        function = next(
            (node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef | ast.ClassDef)), None
        )
    except SyntaxError:
        return source
    if function is None or ast.get_docstring(function) is None:
        return source
    node, lines = function.body[0], source.split("\n")
    first, last, indent = node.lineno - 1, node.end_lineno, " " * node.col_offset
    whole = "\n".join(lines[first:last])
    start, end = whole.index('"""') + 3, whole.rindex('"""')
    text = textwrap.dedent(indent + whole[start:end])
    said = markdown(text, lambda message, kind: say(message, "contract"), WIDTH - len(indent))
    if said == text:
        return source
    written = textwrap.indent(said, indent).removeprefix(indent) + (indent if said.endswith("\n") else "")
    return "\n".join([*lines[:first], f"{whole[:start]}{written}{whole[end:]}", *lines[last:]])


# Notebooks -----------------------------------------------------------------------------------------------------------


def notebook(nb: NotebookNode, say: Say) -> NotebookNode:
    """A copy of a notebook in which `say` has translated the text, the comments and the docstrings.

    Written answers and checks are as they were. So are ids, points and outputs, besides the texts that stand for figures and
    the words of tables.
    """
    translated = copy.deepcopy(nb)
    for cell in translated.cells:
        given, answer = cell.metadata.get("rushlight", {}), cell.metadata.get("nbgrader", {}).get("solution", False)
        if cell.cell_type == "markdown" and not answer:
            cell.source = markdown(cell.source, say)
        elif cell.cell_type == "code" and "check" not in given:
            cell.source = code(cell.source, say)
            if "checksum" in cell.metadata.get("nbgrader", {}):
                from nbgrader.utils import compute_checksum

                cell.metadata.nbgrader.checksum = compute_checksum(cell)
        for shown in (kind for output in cell.get("outputs", []) for kind in output.get("metadata", {}).values()):
            if isinstance(shown, dict) and "alt" in shown:
                shown["alt"] = say(shown["alt"], "alt") or shown["alt"]
        for data in (output.data for output in cell.get("outputs", []) if "text/markdown" in output.get("data", {})):
            data["text/markdown"] = table(data["text/markdown"], say)
    return translated


def edition(lab: Lab, released: NotebookNode, language: str) -> NotebookNode:
    """A released lab in another language. It has the same exercises, checks, ids and points, and says that it is a release of its
    own. Its first cell tells everything that speaks in this notebook which language to speak."""
    translated = notebook(released, say(language, f"labs/{lab}"))
    for cell in translated.cells:
        if cell.cell_type == "code" and "from autograder import" in cell.source and "nbgrader" not in cell.metadata:
            cell.source = f'import os\n\nos.environ["LANGUAGE"] = "{language}"\n\n{cell.source}'
            break
    translated.metadata.rushlight |= {"release": digest_of(translated), "language": language}
    return translated


def reading(phase: str, language: str) -> NotebookNode:
    """A reading in another language."""
    nb = nbformat.read(READINGS / phase / "reading.ipynb", as_version=4)
    return notebook(nb, say(language, f"phases/{phase}"))


def copy_lab(lab: Lab, language: str, path: Path) -> None:
    """Write a lab in another language to `path`, and its reading beside it. Raises LookupError for a language that is not there."""
    expect(language)
    shutil.copytree(lab.todays_path.parent, path.parent, dirs_exist_ok=True)
    phase = next(name for name in phases() if name[:2] == lab.phase)
    nb = edition(lab, nbformat.read(lab.todays_path, as_version=4), language)
    for cell in nb.cells:
        cell.source = cell.source.replace(f"](../../phases/{phase}/reading.ipynb", "](reading.ipynb")
    own = reading(phase, language)
    for cell in own.cells:
        if cell.cell_type == "markdown":
            cell.source = re.sub(r"\]\((?=\w+\.svg\))", f"](../../phases/{phase}/", cell.source)
            cell.source = re.sub(r"\]\(\.\./(?=\d\d_\w+/)", "](../../phases/", cell.source)
    nbformat.write(nb, path)
    nbformat.write(own, path.with_name("reading.ipynb"))
