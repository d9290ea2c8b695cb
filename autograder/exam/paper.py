"""A student's paper: what is asked, as data, without the answers. Sealed with the word of the room until the exam begins.

`papers/STUDENT.exam` is what a student gets. It can be handed out early, because only the word that is said in the room opens it.
What is right is in the instructor's folder alone (`keys/STUDENT.json`).
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cryptography.fernet import Fernet, InvalidToken

from ..course import replacing
from ..model import digest

FORMAT = 1
SUFFIX = ".exam"
_ROUNDS = {"n": 2**14, "r": 8, "p": 1}  # of scrypt: a tenth of a second for each word that is tried


@dataclass(frozen=True)
class Field:
    """Something to be filled in. `kind` is "value" (a line with a literal of Python), "number", or "text" (some sentences)."""

    key: str  # within the paper, such as "1.line"
    label: str
    kind: str
    points: float
    given: str = ""  # what is there at first: the form of an answer, which is not right


@dataclass(frozen=True)
class Item:
    """A question. A paragraph that begins with a blank is shown as code, with its line ends; others may have `code` in them."""

    key: str  # "1", "2", ... in the order of the paper
    title: str
    paragraphs: list[str]
    fields: list[Field]

    @property
    def points(self) -> float:
        return sum(field.points for field in self.fields)


@dataclass(frozen=True)
class Paper:
    """A student's paper in one exam."""

    exam: str  # also the name of the assignment in nbgrader's gradebook, such as "exam_01a_02b"
    student: str
    code: str  # on the sheets, where no name is
    minutes: int
    language: str
    items: list[Item]
    secret: str  # the key of the chain of answers

    @property
    def fields(self) -> dict[str, Field]:
        return {field.key: field for item in self.items for field in item.fields}

    @property
    def points(self) -> float:
        return sum(item.points for item in self.items)

    @property
    def digest(self) -> str:
        """The name of the content, which the answers name too."""
        return digest(json.dumps(asdict(self), sort_keys=True))


class NotOpened(ValueError):
    """Raised if a paper cannot be opened: another word, or no paper. The message is the reason, in one line."""


def as_paper(data: dict[str, Any]) -> Paper:
    items = [Item(**item | {"fields": [Field(**field) for field in item["fields"]]}) for item in data["items"]]
    return Paper(**data | {"items": items})


def new_word() -> str:
    """A word for a room: four groups of letters and digits that are easy to say and to type."""
    letters = "abcdefghjkmnpqrstuvwxyz23456789"
    return "-".join("".join(secrets.choice(letters) for _ in range(4)) for _ in range(4))


def seal(paper: Paper, word: str, path: Path) -> None:
    """Write a paper that only the word opens."""
    salt = secrets.token_bytes(16)
    sealed = Fernet(_key(word, salt)).encrypt(json.dumps(asdict(paper)).encode())
    about = {"rushlight_exam": FORMAT, "exam": paper.exam, "student": paper.student}
    with replacing(path) as part:
        part.write_text(
            json.dumps(about | {"salt": salt.hex(), "sealed": sealed.decode()}, indent=1) + "\n", encoding="utf-8"
        )


def about(path: Path) -> dict[str, str]:
    """The exam and the student of a sealed paper. Raises NotOpened."""
    return {name: _read(path)[name] for name in ("exam", "student")}


def opened(path: Path, word: str) -> Paper:
    """The paper that a word opens. Raises NotOpened."""
    data = _read(path)
    try:
        text = Fernet(_key(word, bytes.fromhex(data["salt"]))).decrypt(data["sealed"].encode())
    except InvalidToken:
        raise NotOpened("this word does not open the paper: it is the one that is said in the room") from None
    return as_paper(json.loads(text))


def _read(path: Path) -> dict[str, str]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["rushlight_exam"] == FORMAT and all(
            isinstance(data[name], str) for name in ("exam", "student", "salt", "sealed")
        ):
            return data
    except (ValueError, LookupError, TypeError, RecursionError):
        pass
    raise NotOpened(f"{path.name} is no paper of an exam")


def _key(word: str, salt: bytes) -> bytes:
    said = "".join(word.lower().split()).replace("-", "").encode()
    return base64.urlsafe_b64encode(hashlib.scrypt(said, salt=salt, dklen=32, maxmem=64 << 20, **_ROUNDS))
