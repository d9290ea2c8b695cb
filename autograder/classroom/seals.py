"""The seed of a class, and the seals that it makes: by its seal a verdict in a graded notebook is known to be the judge's own."""

from __future__ import annotations

import contextlib
import hmac
import json
import os
import secrets
import tempfile
from collections.abc import Mapping
from pathlib import Path

from nbformat import NotebookNode

from ..model import Submission, check_name


def class_seed(seed_file: Path) -> int:
    """The seed of a class. It is drawn once and kept beside the gradebook, readable by its owner only."""
    if not seed_file.exists():
        with tempfile.NamedTemporaryFile("w", dir=seed_file.parent) as temporary:  # its mode is 0600
            temporary.write(str(secrets.randbits(64)))
            temporary.flush()
            with contextlib.suppress(FileExistsError):  # another process was faster
                os.link(temporary.name, seed_file)
    return int(seed_file.read_text())


def seal(notebook: NotebookNode, submission: Submission, seed: int) -> None:
    """Seal the verdicts in a notebook that has run, and write the name of the seed into it."""
    for cell in notebook.cells:
        if name := check_name(cell):
            summary = cell.outputs[0]["metadata"]["rushlight"]
            summary["seal"] = seal_of(summary, submission, name, seed, notebook)
    notebook.metadata["graded_with"]["seed"] = name_of_seed(seed)


def seal_of(summary: Mapping, submission: Submission, check: str, seed: int, notebook: Mapping) -> str:
    """Proves that the class's judge has decided so, and has shown the case: only the judge knows the seed. (A case can hold a
    program.) The seal is for this lab, student and check, and for the text of all cells of the notebook."""
    said = {key: summary[key] for key in summary if key != "seal"}
    cells = [[cell.get("cell_type"), cell.get("source")] for cell in notebook["cells"]]
    about = [submission.lab.name, submission.student, check]
    return _seal(seed, json.dumps([*about, said, cells], sort_keys=True))


def seal_of_page(page: bytes, seed: int) -> str:
    """Proves that a page was written where the key of the class is."""
    return _seal(seed, f"page\n{page.decode()}")


def _seal(seed: int, text: str) -> str:
    return hmac.new(str(seed).encode(), text.encode("utf-8", "replace"), "sha256").hexdigest()


def name_of_seed(seed: int) -> str:
    """A name by which a seed is known again. It does not tell the seed."""
    return _seal(seed, "seed\n")[:12]
