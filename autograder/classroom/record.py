"""A record of a path: a page that says which checks a student's functions passed, and how far it can be trusted.

The last line of the page has a digest of all above it. Where the key of a class is, the line also has the class's seal, of the kind
that verdicts have. A digest shows only that the page was not changed by mistake, because anyone can write another page with its
digest. So a page without a seal says that no class vouches for it, and only the class that sealed a page can tell a true seal.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from ..course import replacing
from ..engine.practice import about_judge
from ..model import Course, Lab
from .pages import SCHEMES, escaped, write_page
from .seals import class_seed, name_of_seed, seal_of_page

LARGEST = 1 << 20  # bytes of a file that can be a record
_SEALED = re.compile(rb"<!-- record digest=([0-9a-f]{64})(?: key=([0-9a-f]{12}) seal=([0-9a-f]{64}))? -->\n\Z")
_STYLE = f"""{SCHEMES}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; color: var(--page);
  background: var(--page-b); overflow-wrap: anywhere; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; }}
th, td {{ text-align: left; overflow-wrap: normal; padding: .25rem 1rem .25rem 0; vertical-align: top;
  border-bottom: 1px solid var(--line); }}
.note {{ padding: .6rem 1rem; color: var(--other); background: var(--other-b); }}
.note.sealed {{ color: var(--pass); background: var(--pass-b); }}
"""
_UNSEALED = (
    "No class vouches for this page. It was made on the machine of the person whose name it has, and the name was typed there. "
    "A person who wants to rely on it asks for the notebooks and runs <code>rushlight check</code> on them."
)
_BY_CLASS = (
    "Sealed with the key {key} of a class. Its instructor ran the checks on the notebooks that were handed in under this name. "
    "Where the key is, <code>rushlight status --verify</code> tells whether the seal is true."
)


def key_of(course: Course) -> int | None:
    """The key of the class, if its folder is here. None is made for a record."""
    path = course.folder / "seed"
    return class_seed(path) if path.exists() else None


def write(path: Path, name: str, way: str, passed: Mapping[Lab, list[str]], key: int | None) -> None:
    """Write the record of a path, the labs of which are in `passed` with the checks that passed."""
    rows = []
    for lab, checks in passed.items():
        worth = lab.points
        done = [check for check in worth if check in checks]
        points = f"{sum(worth[check] for check in done):g} of {sum(worth.values()):g}"
        rows.append(f"<tr><td>{lab}</td><td>{len(done)} of {len(worth)}</td><td>{points}</td></tr>")
    judge = about_judge() or f"The judge was torch {metadata.version('torch')}."
    today = f"{datetime.now(UTC):%d %B %Y}"
    note = _BY_CLASS.format(key=name_of_seed(key)) if key is not None else _UNSEALED
    body = (
        f"<h1>{escaped(name)}</h1><p>Rushlight, the path <b>{escaped(way)}</b>, {today}. {escaped(judge)}</p>"
        f'<table><tr><th scope="col">lab</th><th scope="col">checks passed</th><th scope="col">points of checks</th></tr>'
        f'{"".join(rows)}</table><p class="note{" sealed" * (key is not None)}">{note}</p>'
    )
    with replacing(path) as part:
        write_page(part, f"{escaped(name)}: {escaped(way)}", _STYLE, body)
        page = part.read_bytes()
        seal = f" key={name_of_seed(key)} seal={seal_of_page(page, key)}" if key is not None else ""
        part.write_bytes(page + f"<!-- record digest={hashlib.sha256(page).hexdigest()}{seal} -->\n".encode())


def verified(path: Path, key: int | None) -> tuple[bool, str]:
    """Whether a record is what it says, as far as it can be known with this key, and a sentence about it. Raises LookupError if the
    file is no record."""
    with path.open("rb") as file:
        text = file.read(LARGEST + 1)
    line = _SEALED.search(text) if len(text) <= LARGEST else None
    if line is None:
        raise LookupError(f"{path} is not a record that `rushlight status --record` wrote, or its last line is gone")
    page, (digest, name, seal) = text[: line.start()], (part and part.decode() for part in line.groups())
    if hashlib.sha256(page).hexdigest() != digest:
        return False, f"{path} was changed after it was written"
    if name is None:
        return True, f"{path} is whole. It has no seal, so no class vouches for it"
    if key is None or name_of_seed(key) != name:
        return (
            False,
            f"{path} says that the class with the key {name} sealed it. This key is not here, so only that class can tell",
        )
    if not hmac.compare_digest(seal_of_page(page, key), str(seal)):
        return False, f"{path} has a seal that this class did not make"
    return True, f"{path} is whole, and this class sealed it, with the key {name}"
