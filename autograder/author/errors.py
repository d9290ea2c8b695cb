"""The index of errors: every error that a reading provokes, in the words of its stored output, and the section that explains it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

import nbformat

from ..course import READINGS
from ..model import phases

ERROR = re.compile(r"(?:^ *|: )([A-Z]\w*(?:Error|Exception|Unsupported)):(?: (.+)|$)")
HANGING = " " * 4  # what the readings put before the further lines of a text
OWN = 5  # words with which the code of a reading is known to have written a message itself
LONGEST = 160  # characters of a message


@dataclass(frozen=True)
class Provoked:
    """An error in an output of a reading."""

    kind: str
    message: str
    phase: str
    section: str

    @property
    def key(self) -> str:
        """The message without numbers and names in quotation marks: what two wordings of the same error share."""
        return re.sub(r"\d+|'[^']*'|\W+", " ", self.message).lower()[:40]


def error_index() -> str:
    """The index as Markdown, in the alphabetical order of the kinds and of the messages."""
    first: dict[tuple[str, str], Provoked] = {}
    for phase in phases()[:-1]:  # the last one has the index
        for error in _provoked(phase):
            first.setdefault((error.kind, error.key), error)
    found = sorted(first.values(), key=lambda error: (error.kind, error.message.lower()))
    return "\n\n".join(
        f"**{kind}**\n\n" + "\n".join(map(_line, errors)) for kind, errors in groupby(found, lambda error: error.kind)
    )


def _line(error: Provoked) -> str:
    link = f"[{error.phase[:2]} · {error.section}](../{error.phase}/reading.ipynb#{_anchor(error.section)})"
    return f"- `{error.message.replace('`', chr(39))}` · {link}"


def _provoked(phase: str) -> Iterator[Provoked]:
    """The errors in the stored outputs of a reading, in order."""
    section, cells = "", nbformat.read(READINGS / phase / "reading.ipynb", as_version=4).cells
    written = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    for cell in cells:
        if cell.cell_type == "markdown":
            section = next(iter(re.findall(r"^#+ +(.+)$", cell.source, re.MULTILINE)[::-1]), section)
            continue
        for output in cell.outputs:
            text = output.get("text") or output.get("data", {}).get("text/plain", "")
            for kind, message in _errors(text, "rushlight" if re.search(r"\brl\b", cell.source) else "torch"):
                if " ".join(message.split()[:OWN]) not in written:
                    yield Provoked(kind, message, phase, section)


def _errors(text: str, framework: str = "torch") -> Iterator[tuple[str, str]]:
    """The errors of torch in a printed text. The framework is the one that ran before a line names another."""
    lines = text.splitlines()
    for i, line in enumerate(lines):
        framework = found[0] if (found := re.match(r"torch\b|rushlight\b", line)) else framework
        if framework == "torch" and (match := ERROR.search(line)):
            message = [match[2] or ""]
            for following in lines[i + 1 :]:
                if ERROR.search(following) or not following.startswith(HANGING):
                    break
                message.append(following.strip())
            yield match[1], _cut(re.sub(r"(?<=\w-)\n", "", "\n".join(message).lstrip()).replace("\n", " "))


def _cut(message: str) -> str:
    return message if len(message) <= LONGEST else message[:LONGEST].rpartition(" ")[0] + " …"


def _anchor(title: str) -> str:
    """The anchor of a heading on the site."""
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", title).strip().lower())
