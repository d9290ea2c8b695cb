"""Where the files of the course, of a class and of this user are, and the environment that Jupyter and nbgrader need."""

from __future__ import annotations

import errno
import os
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

_GRADER = Path(__file__).resolve().parent
_IS_WHEEL = (_GRADER / "shipped").exists()
COURSE = _GRADER / "shipped" if _IS_WHEEL else _GRADER.parent  # the course's files, only to be read
ROOT = Path.cwd() if _IS_WHEEL else COURSE  # where work and classes are
RELEASED, SOURCES, READINGS = COURSE / "labs", COURSE / "solutions", COURSE / "phases"
WORK = ROOT / "work"
FOR_ASSISTANTS = Path(__file__).parent / "classroom" / "agents.md"  # what an assistant does for a student, and what not


def classroom() -> Path:
    """The folder of the running class: `classroom/`, or the value of RUSHLIGHT_CLASSROOM."""
    path = Path(os.environ.get("RUSHLIGHT_CLASSROOM", ROOT / "classroom")).resolve()
    if path.is_file():
        raise NotADirectoryError(f"{path} is a file, and a class is a folder: RUSHLIGHT_CLASSROOM names another one")
    return path


def cache_folder() -> Path:
    """The folder for files of this user that can be made again at any time."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rushlight"


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Within: a new file to write, in the same folder, which then takes the place of the file, or of the link, at `path`. If an
    exception is raised, `path` stays as it is. Raises FileNotFoundError if there is no such folder."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent}")
    part = path.with_name(f".{path.name}.part")
    part.unlink(missing_ok=True)  # from a run that was killed; or a link that leads elsewhere
    try:
        yield part
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    part.replace(path)


def locked(file: IO[bytes]) -> bool:
    """Lock a file against other processes until it is closed, or this process ends. False if one of them has locked it."""
    try:
        if os.name == "nt":
            import msvcrt

            file.seek(1 << 30)  # a place that nobody reads
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined, unused-ignore]
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (errno.EAGAIN, errno.EACCES, errno.EDEADLK)  # or the disk has no locks
    return True


def set_environment(of_student: bool = False) -> None:
    """Let nbgrader find `alembic`, and Jupyter this course's templates, settings and extension. A second call changes nothing.

    nbgrader looks for alembic on PATH and leaves an incomplete gradebook without it. The templates load no script from
    another host, and the settings keep JupyterLab from asking about news. The JupyterLab of a student has none of nbgrader's tools
    for a class: only the button *Validate* stays.
    """
    jupyter = str(Path(__file__).parent / "jupyter")
    folders = [("PATH", sysconfig.get_path("scripts")), ("JUPYTER_PATH", jupyter), ("JUPYTER_CONFIG_PATH", jupyter)]
    folders += [("JUPYTER_CONFIG_PATH", os.path.join(jupyter, "student"))] * of_student
    for variable, folder in folders:
        before = os.environ.get(variable, os.defpath if variable == "PATH" else "")
        if folder not in before.split(os.pathsep):
            os.environ[variable] = os.pathsep.join([folder, *filter(None, [before])])
