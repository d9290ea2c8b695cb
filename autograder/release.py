"""A class repository: what an instructor gives to students who shall not have the answers.

It holds the labs asked for, their readings and their checks, the grader's own code, and an edition of the framework without
the bodies of these labs' exercises. There are no solutions in it. What later labs will ask stays in, since the framework
runs on it.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from .check import exercises
from .edition import framework_files
from .plugin import RELEASED, ROOT

_PROJECT_FILES = ("LICENSE", "Makefile", "constraints.txt", "nbgrader_config.py", "pyproject.toml", "system.sh")

_README = """# Rushlight

You rebuild PyTorch piece by piece. Each piece is held against real torch, and where the two differ you get the smallest
input that shows it.

With Python 3.11, 3.12 or 3.13 and `make`:

```sh
make lab     # installs everything into .venv, copies the first lab to work/ and opens it in JupyterLab
```

`.venv/bin/rushlight lab 02` opens another lab, `.venv/bin/rushlight status` counts what is done. Hand in your notebook from
`work/`. The framework in `rushlight/` is complete except for what these labs ask you to write; a piece that is not written
yet raises `NotImplementedError`, and so does whatever stands on it, so go through a lab in its order.

Here: {labs}.
"""


def release(labs: list[str], place: Path) -> Path:
    """Write a class repository for some labs into `place`, which must not exist yet. Returns `place`.

    Raises FileExistsError, and writes nothing, if it does.
    """
    if place.exists():
        raise FileExistsError(f"{place} exists already: name a new folder")
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent, prefix="releasing-") as aside:
        course = Path(aside) / "course"
        for name, text in framework_files([name for lab in labs for name in exercises(lab)]).items():
            _write(course / name, text)
        for path in (ROOT / "autograder").glob("*.py"):
            _write(course / "autograder" / path.name, path.read_text(encoding="utf-8"))
        for name in ("__init__", *labs):
            path = ROOT / "autograder" / "checks" / f"{name}.py"
            _write(course / "autograder" / "checks" / path.name, path.read_text(encoding="utf-8"))
        for name in _PROJECT_FILES:
            shutil.copy(ROOT / name, course / name)
        for lab in labs:
            for folder in (RELEASED / lab, ROOT / "phases" / lab):
                shutil.copytree(folder, course / folder.relative_to(ROOT), ignore=shutil.ignore_patterns(".*"))
        _write(course / "README.md", _README.format(labs=", ".join(labs)))
        _write(course / ".gitignore", (ROOT / ".gitignore").read_text())
        course.rename(place)
    return place


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
