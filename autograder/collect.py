r"""What `nbgrader zip_collect` makes of the downloads of a learning management system.

The system writes the beginning of a file's name, the student the rest, and whatever is in an archive that the student handed in.
So a student is known by the first part of a path that the system wrote. Of an archive only notebooks are unpacked, one for each
student, and none that is larger than grading accepts. An archive in an archive, or of another kind than zip, stays packed.
"""

from __future__ import annotations

import os
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from nbgrader.plugins import ExtractorPlugin, FileNameCollectorPlugin

from .course import printable
from .restore import MAX_NOTEBOOK

# The names of notebooks in downloads from Canvas (doejane_LATE_123_456_01_strided-1.ipynb) and from Moodle
# (Jane Doe_123_assignsubmission_file_01_strided.ipynb, or a folder of that name). What follows is the student's.
_STUDENT = r"{}_(?:late_|LATE_)?\d+_(?:\d+_|assignsubmission_file_?/?)"
DOWNLOADED = (
    rf"(?:(?!{_STUDENT.format('[^/_]+')})[^/]+/)*"
    rf"{_STUDENT.format('(?P<student_id>[^/_]+)')}(?P<file_id>\d\d_[a-z]+)[^/]*\.ipynb$"
)

Read = Callable[[], bytes]


class Collector(FileNameCollectorPlugin):
    """Takes the student from the path below the folder of extracted files; the folders above have no meaning."""

    def collect(self, submitted_file: str) -> dict | None:
        extracted = self.parent._format_collect_path(self.parent.extracted_directory)
        info = super().collect(os.path.relpath(submitted_file, extracted))
        if info and (not info["student_id"].isprintable() or info["student_id"].strip(".") == ""):
            return None
        return info


class Extractor(ExtractorPlugin):
    def extract(self, archive_path: str, extracted_path: str) -> None:
        collector, taken = self.parent.collector_plugin_inst, {}
        found = [*self._found(Path(archive_path))]
        for name, read in sorted(found, key=lambda each: _newest_first(each[0])):
            info = collector.collect(os.path.join(extracted_path, name))
            if info is None:
                self._skip(name, "it has no name of a submission")
            elif first := taken.get(key := (info["student_id"], info["file_id"])):
                self._skip(name, f"{printable(first)} is the submission")
            else:
                taken[key] = name
                try:
                    data = read()
                except (OSError, RuntimeError, NotImplementedError, zipfile.BadZipFile, zlib.error) as error:
                    self._skip(name, f"it cannot be unpacked: {error}")
                    continue
                if len(data) > MAX_NOTEBOOK:
                    self._skip(name, f"it has more than {MAX_NOTEBOOK >> 20} MB")
                    continue
                path = Path(extracted_path, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)

    def _found(self, folder: Path) -> Iterator[tuple[str, Read]]:
        """The files in a folder and in the archives there: a path below the folder for each, and how to read it."""
        for path in sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()):
            name = path.relative_to(folder).as_posix()
            if path.suffix != ".zip" or re.match(_STUDENT.format("[^/_]+"), path.name):
                yield name, partial(_start, path.open, "rb")
                continue
            with zipfile.ZipFile(path) as archive:
                members = archive.infolist()
            for member in members:
                if not member.is_dir() and _is_inside(member.filename):
                    yield f"{name.removesuffix('.zip')}/{member.filename}", partial(_unpack, path, member)

    def _skip(self, name: str, reason: str) -> None:
        self.log.warning("Skipped %s: %s", printable(name), printable(reason))


def _is_inside(name: str) -> bool:
    return not name.startswith("/") and "\\" not in name and not {"", ".", ".."} & {*name.split("/")}


def _newest_first(name: str) -> tuple:
    """By the numbers that the system gave, and then the shortest, which has no `(1)` in it."""
    base = name.rpartition("/")[2]
    return [-int(number) for number in re.findall(r"_(\d+)(?=_)", base)], len(name), name


def _start(open_file: Callable, *arguments: object) -> bytes:
    """The bytes of a file, but no more than are needed to know that it is too large."""
    with open_file(*arguments) as file:
        return file.read(MAX_NOTEBOOK + 1)


def _unpack(path: Path, member: zipfile.ZipInfo) -> bytes:
    with zipfile.ZipFile(path) as archive:
        return _start(archive.open, member)
