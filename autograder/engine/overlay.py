"""PyTorch with other Python files: a folder with a package `torch`, which is mostly links to the installed one.

With the folder first on Python's path, `import torch` imports this package. The installed files are only read.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from ..course import cache_folder

PACKAGE = "torch"


def site() -> Path:
    """The folder that has the installed `torch/`."""
    spec = find_spec(PACKAGE)
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).parents[1]


def linked(files: Mapping[str, str]) -> Path:
    """A folder with a PyTorch that has these texts in the place of its files, by names such as `torch/optim/sgd.py`. A folder of
    the installed package without such a file is one link. It is made once, and kept in the user's cache."""
    digest = hashlib.sha256(repr((str(site()), sorted(files.items()))).encode()).hexdigest()[:16]
    target = cache_folder() / "overlays" / digest
    if not target.exists():
        partial = target.with_name(f"{digest}-{os.getpid()}")
        _link(Path(PACKAGE), partial, files)
        try:
            partial.rename(target)
        except OSError:  # another process has made it
            shutil.rmtree(partial)
    return target


def _link(folder: Path, target: Path, files: Mapping[str, str]) -> None:
    (target / folder).mkdir(parents=True)
    for entry in sorted((site() / folder).iterdir()):
        name = folder / entry.name
        if name.as_posix() in files:
            (target / name).write_text(files[name.as_posix()], encoding="utf-8")
        elif any(Path(file).is_relative_to(name) for file in files):
            _link(name, target, files)
        elif entry.name != "__pycache__":
            (target / name).symlink_to(entry)


def copied(target: Path) -> None:
    """A folder with a PyTorch whose texts are copies, so that no editor writes into the installation. What is no text is a link."""
    for place, folders, names in os.walk(site() / PACKAGE):
        folders[:] = [name for name in folders if name != "__pycache__"]
        here = target / Path(place).relative_to(site())
        here.mkdir(parents=True)
        for path in (Path(place, name) for name in names):
            if is_text(path):
                shutil.copyfile(path, here / path.name)
            else:
                (here / path.name).symlink_to(path)


def is_text(path: Path) -> bool:
    with path.open("rb") as file:
        return b"\0" not in file.read(1024)
