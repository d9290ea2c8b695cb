"""The check that a kernel was running when it ended, so that the next kernel of the notebook can name it.

A check runs the student's function in the kernel. A function that calls `os._exit`, or C++ that crashes, ends the kernel, and
JupyterLab starts another one without a word about the reason.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

from ..course import cache_folder
from ..language import speak


def _path() -> Path | None:
    """The file with the name of the check that runs in this notebook. None where Jupyter does not name the notebook."""
    notebook = os.environ.get("JPY_SESSION_NAME")
    return cache_folder() / "running" / sha256(notebook.encode()).hexdigest()[:16] if notebook else None


@contextmanager
def noted(check: str) -> Iterator[None]:
    """Within: the check is the one that runs."""
    path = _path()
    if path is None:
        yield
        return
    with suppress(OSError):  # such as a full disk
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(check, encoding="utf-8")
    try:
        yield
    finally:
        with suppress(OSError):
            path.unlink()


def why_ended() -> str:
    """What the kernel before this one was doing when it ended, if it ended in a check. It is said once."""
    path, check = _path(), ""
    if path is not None:
        with suppress(OSError):
            check = path.read_text(encoding="utf-8")
            path.unlink()
    return check and speak(
        "The kernel before this one ended while {check} ran. If you did not stop it, your function ended Python, as os._exit or a"
        " crash in C++ does. `rushlight check` in a terminal runs your cells in another process, and shows the case.",
        check=check,
    )
