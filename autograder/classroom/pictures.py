"""Pictures that a student pasted into a written answer: the attachments of a Markdown cell, or data in its text, as of Colab.

A picture is kept if its bytes are those of a PNG, JPEG, GIF or WebP file, whatever the cell says of its type. Its name becomes the
digest of the bytes, so that two answers with different pictures are different texts, also where a mark by hand belongs to a text.
A picture that no text shows is shown at the end of its cell, and what is not kept has a line there.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from hashlib import sha256
from urllib.parse import unquote

from nbformat import NotebookNode

MAX_PICTURE = 2 << 20  # bytes
MAX_PICTURES = 100, 6 << 20  # of a notebook: their number, and their bytes
_KINDS = {
    "png": rb"\x89PNG\r\n\x1a\n",
    "jpeg": rb"\xff\xd8\xff",
    "gif": rb"GIF8[79]a",
    "webp": rb"RIFF.{4}WEBP",
}
_SHOWN = re.compile(r"(?<=\]\()(?:attachment:([^\s()]+)|data:image/[\w.+-]+;base64,([\w+/=]+))")


def with_pictures(cells: list[dict], text: Callable[[dict], str]) -> tuple[list[dict], dict[str, dict]]:
    """The cells of a submission, with the new names of pictures in the texts of the Markdown cells, and the pictures by these
    names. `text` reads the text of a cell."""
    pictures: dict[str, dict] = {}
    renamed = [
        cell | {"source": _renamed(text(cell), cell.get("attachments"), pictures)}
        if cell.get("cell_type") == "markdown"
        else cell
        for cell in cells
    ]
    return renamed, pictures


def _renamed(source: str, attachments: object, pictures: dict[str, dict]) -> str:
    """The text of a cell with the new names of its pictures, which this adds to `pictures`."""
    own = {str(name): bundle for name, bundle in attachments.items()} if isinstance(attachments, Mapping) else {}
    names: dict[str, str] = {}
    lines = []
    for name, bundle in own.items():
        try:
            names[name] = _keep(bundle, pictures)
        except ValueError as error:
            lines.append(f"(left out: {_plain(name)}: {error})")

    def rename(match: re.Match) -> str:
        name = match[1] and unquote(match[1])
        try:
            return f"attachment:{names[name] if name else _keep({'image': match[2]}, pictures)}"
        except KeyError:
            return match[0]
        except ValueError as error:
            return f"left out: {error}"

    source = _SHOWN.sub(rename, source)
    shown = {*re.findall(r"!\[[^][]{0,300}\]\(attachment:(\w+\.\w+)", source)}
    hidden = {new: name for name, new in names.items() if new not in shown}
    lines += [f"![{_plain(name)}](attachment:{new})" for new, name in hidden.items()]
    return "\n\n".join([source, *lines])


def _plain(name: str) -> str:
    return re.sub(r"[^\w. -]", "_", name)[:60]


def _keep(bundle: object, pictures: dict[str, dict]) -> str:
    """Add a picture to `pictures`. Returns its name. Raises ValueError."""
    data, kind = _read(bundle)
    name = f"{sha256(data).hexdigest()[:16]}.{kind}"
    kept = sum(len(text) * 3 // 4 for each in pictures.values() for text in each.values())
    count, size = MAX_PICTURES
    if name not in pictures and (len(pictures) == count or kept + len(data) > size):
        raise ValueError(f"more than {count} pictures, or {size >> 20} MB, in the notebook")
    pictures[name] = {f"image/{kind}": b64encode(data).decode()}
    return name


def _read(bundle: object) -> tuple[bytes, str]:
    """The bytes of a picture and their kind. Raises ValueError."""
    for given in bundle.values() if isinstance(bundle, Mapping) else ():
        text = "".join(map(str, given)) if isinstance(given, list) else str(given)
        if len(text) * 3 // 4 > MAX_PICTURE + 2:
            raise ValueError(f"more than {MAX_PICTURE >> 20} MB")
        try:
            data = b64decode("".join(text.split()), validate=True)
        except ValueError:
            continue
        for kind, start in _KINDS.items():
            if re.match(start, data, re.DOTALL):
                return data, kind
    raise ValueError("no PNG, JPEG, GIF or WebP picture")


def attach(cell: NotebookNode, pictures: Mapping[str, dict]) -> None:
    """Give a restored cell the pictures that its text shows. JupyterLab finds them, because their addresses are active again."""
    names = {*re.findall(r"\w{16}\.\w+", cell.source)} & pictures.keys()
    if names:
        cell.attachments = {name: pictures[name] for name in sorted(names)}
        cell.source = re.sub(rf"attachment\u2060:(?={'|'.join(names)})", "attachment:", cell.source)


def data_uri(bundle: object) -> str:
    """The address of a picture for a page, or an empty string: nbgrader alone leaves a cell as the student made it."""
    try:
        data, kind = _read(bundle)
    except ValueError:
        return ""
    return f"data:image/{kind};base64,{b64encode(data).decode()}"
