r"""Collecting: what `nbgrader zip_collect` makes of a learning system's downloads, and `nbgrader collect` of the exchange.

The system writes the beginning of a file's name, the student the rest, and whatever is in an archive that the student handed in.
So a student is known by the first part of a path that the system wrote. Of an archive only notebooks are unpacked, one for each
student, and none that is larger than grading accepts. An archive in an archive, or of another kind than zip, stays packed.

Into the exchange all users of the machine can write what they like. A submission belongs to the user who owns the folder, and
only files of that user are taken from it.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from pathlib import Path

from nbgrader.exchange.default import ExchangeCollect
from nbgrader.plugins import ExtractorPlugin, FileNameCollectorPlugin

from .course import printable
from .restore import MAX_FILES, MAX_FOLDER, MAX_NOTEBOOK, Unreadable

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


# The exchange --------------------------------------------------------------------------------------------------------


class Exchanged(ExchangeCollect):
    """nbgrader's own takes a submission in the name of another student with a warning, and copies what links lead to."""

    def init_src(self) -> None:
        super().init_src()
        self.src_records = [record for record in self.src_records if record["username"]]

    def _path_to_record(self, path: str) -> dict:
        """The user, the folder and the time of a submission; the user is empty if the folder is not one of that user."""
        try:
            record, status = super()._path_to_record(path), os.lstat(path)
            if stat.S_ISDIR(status.st_mode) and (not self.check_owner or _user_name(status) == record["username"]):
                return record
        except Exception as error:  # the name of the folder is the student's: nbgrader raises many types
            self.log.debug(printable(str(error)))
        self.log.warning("Skipped %s: not the folder of the user in its name", printable(path))
        return {"username": "", "filename": path, "timestamp": datetime.min}

    def do_copy(self, src: str, dest: str, log: object = None) -> None:
        try:
            shutil.copytree(src, dest, symlinks=True, copy_function=_Copy(os.lstat(src).st_uid))
        except Exception as error:  # what is missing, grading will say
            self.log.error("Not all of %s could be copied: %s", printable(src), printable(str(error))[:1000])
        Path(dest).mkdir(exist_ok=True)
        time = self._path_to_record(src)["timestamp"]
        for name, text in {"timestamp.txt": str(time), "submission_secret.txt": secrets.token_hex()}.items():
            if not os.path.lexists(path := Path(dest, name)):  # without it no feedback of the class can be released
                path.write_text(text)


def _user_name(status: os.stat_result) -> str:
    import pwd  # it does not exist on Windows

    return pwd.getpwuid(status.st_uid).pw_name


class _Copy:
    """Copies ordinary files of one owner, as many as a submission may have."""

    def __init__(self, owner: int) -> None:
        self.owner, self.files, self.bytes = owner, MAX_FILES, MAX_FOLDER

    def __call__(self, source: str, target: str) -> None:
        with open(
            source, "rb", opener=lambda path, flags: os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)
        ) as file:
            status = os.fstat(file.fileno())
            self.files, self.bytes = self.files - 1, self.bytes - status.st_size
            if self.files < 0 or self.bytes < 0:
                raise Unreadable(f"more than {MAX_FILES} files, or than {MAX_FOLDER >> 20} MB")
            if not stat.S_ISREG(status.st_mode) or status.st_uid != self.owner:
                raise PermissionError(f"{source} is not an ordinary file of the student")
            Path(target).write_bytes(file.read(status.st_size))
