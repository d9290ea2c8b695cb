r"""Collecting: what `nbgrader zip_collect` makes of a learning system's downloads, and `nbgrader collect` of the exchange.

The system writes the beginning of a file's name, the student the rest, and whatever is in an archive that the student handed in.
So a student is known by the first part of a path that the system wrote. Of an archive only notebooks are unpacked, one for each
student if it has the lab's name, and none that is larger than grading accepts. An archive that a student handed in, an archive in
an archive, or one of another kind than zip stays packed. A file that cannot be collected is named, and costs nobody else anything.

Into the exchange all users of the machine can write what they like. A submission belongs to the user who owns the folder, and
only files of that user are taken from it. The course's folder there must belong to the teacher, or another user could stand in
for the course.
"""

from __future__ import annotations

import csv
import glob
import json
import logging
import os
import re
import secrets
import shutil
import stat
import struct
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path

from nbgrader.apps import NbGrader
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange.default import ExchangeCollect, ExchangeReleaseAssignment, ExchangeReleaseFeedback
from nbgrader.plugins import ExtractorPlugin, FileNameCollectorPlugin
from nbgrader.utils import notebook_hash, parse_utc
from traitlets.config import Application

from .. import translation
from ..course import COURSE, classroom, replacing
from ..engine.observe import GradingError
from ..model import (
    ACTIVE_IN_PAGES,
    AS_HANDED_IN,
    MAX_FILES,
    MAX_FOLDER,
    MAX_TIMESTAMP,
    YEARS,
    Lab,
    Unreadable,
    digest,
    lab_names,
    notebooks_in,
    read_submission,
    read_time,
    text_in,
)
from ..text import printable
from . import kept_releases
from .restore import StudentNotebook
from .table import read_rows

MAX_SECRET = 200  # bytes of the text that names a student's feedback in the exchange

# The names of notebooks in downloads from Canvas (doejane_LATE_123_456_01a_views-1.ipynb) and from Moodle
# (Jane Doe_123_assignsubmission_file_01a_views.ipynb, or a folder of that name). What follows is the student's.
# The first mark in a path is the system's. A name in which Moodle's mark follows again can be read in two ways and is refused.
_MARK = r"_\d+_(?:\d+_|assignsubmission_)"
DOWNLOADED = (
    rf"(?:(?![^/]*{_MARK})[^/]+/)*"
    r"(?>(?P<student_id>[^/]+?)_(?P<late>late_|LATE_)?(?P<number>\d+)_(?:\d+_|assignsubmission_file_?/?))"
    rf"(?P<file_id>{'|'.join(lab_names())}|(?![^/]*{_MARK})[^/.\\]+)"  # any name that can be shown: grading looks at it
    r"(?![^/]*_\d+_assignsubmission_)[^/]*\.ipynb$"
)

Read = Callable[[], bytes]


class Collector(FileNameCollectorPlugin):
    """Takes the student from the path below the folder of extracted files; the folders above have no meaning."""

    def collect(self, submitted_file: str) -> dict | None:
        extracted = self.parent._format_collect_path(self.parent.extracted_directory)
        name = printable(os.path.relpath(submitted_file, extracted).replace(os.sep, "/"))
        match = re.match(self.named_regexp, name)
        info = match.groupdict() if match and name.endswith(tuple(self.valid_ext)) else {}
        student = info.get("student_id") or ""
        if parts := re.fullmatch(r"(\d{4}-\d\d-\d\d)-(\d\d)-(\d\d)-(\d\d)", info.get("timestamp") or ""):
            info["timestamp"] = (
                f"{parts[1]} {parts[2]}:{parts[3]}:{parts[4]}"  # Blackboard's: nbgrader would lose its minutes
            )
        can_be_shown = not ACTIVE_IN_PAGES & {*student}  # `printable` writes what cannot be with a backslash
        return info if can_be_shown and student.strip("._") else None


class Extractor(ExtractorPlugin):
    def extract(self, archive_path: str, extracted_path: str) -> None:
        students: defaultdict[str, list[tuple[str, dict, Path, Read]]] = defaultdict(list)
        self.names: dict[str, str] = {}
        for name, read in sorted(self._found(Path(archive_path)), key=lambda entry: _newest_first(entry[0])):
            target = Path(extracted_path, printable(name))
            if info := self.parent.collector_plugin_inst.collect(str(target)):
                students[info["student_id"]].append((name, info, target, read))
            else:
                archive = name.endswith(".zip")
                self._skip(name, "a student's archive stays packed" if archive else "it has no name of a submission")
        for student, files in students.items():
            numbers = {info.get("number") or "" for _, info, _, _ in files}
            if len(numbers) == 1:
                self._take(files)
                continue
            for name, *_ in files:
                self._skip(
                    name,
                    f"the students with the numbers {', '.join(sorted(numbers))} have the same name, {student}: give each a"
                    " name of its own in the names of the files (unpack an archive for that), and collect again with --force",
                )
        remember_names(Path(archive_path).parent, self.names)

    def _take(self, files: list[tuple[str, dict, Path, Read]]) -> None:
        """Extract the newest notebook of each name that one student handed in. If one has the name of a lab, only such ones."""
        taken: dict[str, str] = {}
        is_named = any(info["file_id"] in lab_names() for _, info, _, _ in files)
        for name, info, target, read in files:
            if is_named and info["file_id"] not in lab_names():
                self._skip(name, "it has no name of a submission")
                continue
            if first := taken.get(info["file_id"]):
                self._skip(name, f"{printable(first)} is the submission")
                continue
            try:
                data = read()
                if len(data) > MAX_FOLDER:
                    raise Unreadable(f"more than {MAX_FOLDER >> 20} MB")
                target.parent.mkdir(parents=True, exist_ok=True)
                target.touch()  # which fails if the name is too long
            except Exception as error:  # zipfile raises many types
                self._skip(name, f"it cannot be unpacked: {error}")
                continue
            target.write_bytes(data)
            taken[info["file_id"]] = self.names[info["student_id"]] = name

    def _found(self, folder: Path) -> Iterator[tuple[str, Read]]:
        """The files in a folder and in the archives there: a path below the folder for each, and how to read it."""
        for path in sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()):
            name = path.relative_to(folder).as_posix()
            if path.suffix != ".zip" or re.search(_MARK, name):
                yield name, partial(_start, path.open, "rb")
                continue
            try:
                with zipfile.ZipFile(path) as archive:
                    members = archive.infolist()
            except Exception as error:  # zipfile raises many types
                self._skip(name, f"it cannot be unpacked: {error}")
                continue
            for member in members:
                if not member.is_dir() and _is_inside(member.filename):
                    yield f"{name.removesuffix('.zip')}/{member.filename}", partial(_unpack, path, member)

    def _skip(self, name: str, reason: str) -> None:
        self.log.warning("Skipped %s: %s", printable(name)[:300], printable(reason)[:400])


def remember_names(folder: Path, names: dict[str, str]) -> None:
    """Keep the names of downloaded files by student. They carry the numbers by which a system knows its users."""
    path = folder / "names.json"
    path.write_text(json.dumps(read_names(folder) | names, indent=1), encoding="utf-8")


def read_names(folder: Path) -> dict[str, str]:
    try:
        names = json.loads((folder / "names.json").read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):  # a power cut while it was written: collecting again writes all of it
        names = {}
    return {key: name for key, name in names.items() if isinstance(name, str)} if isinstance(names, dict) else {}


def marked_late(folder: Path) -> set[str]:
    """The students whose file's name says that Canvas counts it as late. It does not say how late."""
    return {
        name for name, file in read_names(folder).items() if (match := re.match(DOWNLOADED, file)) and match["late"]
    }


# When a notebook came first ------------------------------------------------------------------------------------------

# by a student and the digest of a notebook; None if it came without a time
Times = dict[tuple[str, str], datetime | None]


def first_times(lab: Lab) -> Times:
    """When each student handed in each notebook first (UTC), as far as this class knows. Raises GradingError."""
    times: Times = {}
    for row in read_rows(_times_path(lab), ("student", "notebook", "time")):
        try:
            times[row["student"], row["notebook"]] = read_time(row["time"]) if row["time"] else None
        except ValueError as error:
            raise GradingError(f"{row.where}: {error}") from None
    return times


def remember_times(lab: Lab, times: Times) -> Times:
    """Keep the times that are earlier than the known ones. Returns all first times. Raises GradingError."""
    known = first_times(lab)
    first = known | {key: min(filter(None, (time, known.get(key))), default=None) for key, time in times.items()}
    if first != known:
        _times_path(lab).parent.mkdir(parents=True, exist_ok=True)
        with replacing(_times_path(lab)) as part, part.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["student", "notebook", "time"])
            for key, time in sorted(first.items()):
                writer.writerow([*key, f"{time:%Y-%m-%d %H:%M:%S.%f} UTC" if time else ""])
    return first


def _times_path(lab: Lab) -> Path:
    return lab.course.folder / "handed_in" / f"{lab}.csv"


def _is_inside(name: str) -> bool:
    return not name.startswith("/") and "\\" not in name and not {"", ".", ".."} & {*name.split("/")}


def _newest_first(name: str) -> tuple:
    """By the numbers that the system gave, and then the shortest, which has no `(1)` in it."""
    base = name.rpartition("/")[2]
    return [-int(number) for number in re.findall(r"_(\d{1,18})(?=_)", base)], len(name), name


def _start(open_file: Callable, *arguments: object) -> bytes:
    """The bytes of a file, but no more than are needed to know that it is too large."""
    with open_file(*arguments) as file:
        return file.read(MAX_FOLDER + 1)


def _unpack(path: Path, member: zipfile.ZipInfo) -> bytes:
    with zipfile.ZipFile(path) as archive:
        return _start(archive.open, member)


def take_renamed(lab: Lab, folder: Path) -> str:
    """Give the only notebook in the folder of a submission the lab's name, if it is a notebook of this lab. AS_HANDED_IN keeps the
    name that it had. Returns that name, or an empty string."""
    wanted = folder / f"{lab}.ipynb"
    if wanted.exists() or not folder.is_dir() or len(found := notebooks_in(folder)) != 1:
        return ""
    try:
        notebook = StudentNotebook(lab, read_submission(found[0]))
        if notebook.claimed.get("lab", lab.name) != lab.name:
            return ""
        notebook.restored()
        (folder / AS_HANDED_IN).write_text(printable(found[0].name), encoding="utf-8")
        found[0].rename(wanted)
    except (Unreadable, OSError):  # the row of the student says which file is there
        return ""
    return found[0].name


def name_as_handed_in(folder: Path) -> str:
    """The name that the notebook of a submission had before it got the lab's. Otherwise nothing."""
    try:
        with (folder / AS_HANDED_IN).open(encoding="utf-8", errors="replace") as file:
            return printable(file.read(100))
    except OSError:
        return ""


# The exchange --------------------------------------------------------------------------------------------------------


def exchange_problem(root: Path, course: str) -> str:
    """Say in one line how another user could stand in for the course in this exchange, and what to do, or return an empty string.

    Root, this user and the owner of the class's folder, who can write the gradebook anyway, are trusted.
    """
    folder, of_class = root / course, classroom().stat()

    def is_open(place: Path, status: os.stat_result) -> bool:
        bits = stat.S_IWOTH if status.st_gid == of_class.st_gid else stat.S_IWOTH | stat.S_IWGRP
        return bool(status.st_mode & bits) or _list_lets_others_write(place, of_class)

    if not folder.exists() and not folder.is_symlink():
        return ""
    if is_open(root, status := root.stat()) and not status.st_mode & stat.S_ISVTX:
        return f"any user can put another folder in the place of {folder}: as root, run `chmod +t {root}`"
    for place in (folder, *(folder / name for name in ("outbound", "inbound", "feedback"))):
        with suppress(FileNotFoundError):
            status = place.lstat()
            if not stat.S_ISDIR(status.st_mode) or status.st_uid not in {0, os.geteuid(), of_class.st_uid}:
                return f"{place} is another user's: as root, delete {folder}, make it the teacher's, and release again"
            if place.name != "inbound" and is_open(place, status):
                return f"other users can write to {place}: run `chmod go-w {place}`, and release again"
    return ""


def _list_lets_others_write(place: Path, of_class: os.stat_result) -> bool:
    """Whether an access control list (`linux/posix_acl_xattr.h`) lets a user or a group write that is not trusted. The mode does
    not tell who they are."""
    try:
        entries = [*struct.iter_unpack("<HHI", os.getxattr(place, "system.posix_acl_access")[4:])]
    except (OSError, AttributeError):  # there is no list, or no such lists on this file system or system
        return False
    user, group, mask = 2, 8, 16  # the tags of entries
    most = next((rights for tag, rights, _ in entries if tag == mask), 7)
    trusted = {(user, 0), (user, os.geteuid()), (user, of_class.st_uid), (group, of_class.st_gid)}
    return any(tag in (user, group) and rights & most & 2 and (tag, who) not in trusted for tag, rights, who in entries)


def expect_own_exchange() -> None:
    """Raise GradingError if another user could stand in for the course in the exchange that nbgrader is configured for."""
    if not (classroom() / "submitted").exists():
        return  # nothing is handed in, and nbgrader's configuration would make folders
    app = NbGrader(log_level=logging.CRITICAL)
    app.load_cwd_config = False  # this folder may be a student's
    app.load_config_file()
    Application.load_config_file(app, "nbgrader_config", str(COURSE))
    collect = Exchanged(coursedir=CourseDirectory(config=app.config), config=app.config)
    if problem := collect.problem():
        raise GradingError(problem)


class HandedOut(ExchangeReleaseAssignment):
    """nbgrader's own gives out today's notebook, also to a class that began with another release of the lab."""

    def ensure_root(self) -> None:
        super().ensure_root()
        with suppress(PermissionError):  # nbgrader lets each user replace the folder of another user
            os.chmod(self.root, stat.S_ISVTX | stat.S_IMODE(os.stat(self.root).st_mode))

    def do_copy(self, src: str, dest: str, log: object = None) -> None:
        super().do_copy(src, dest, log)
        lab = Lab(self.coursedir.assignment_id)
        if lab.todays_path.exists():  # an instructor may have assignments of another kind
            if line := kept_releases.keep_release(lab):
                self.log.warning(line)
            Path(dest, f"{lab}.ipynb").write_text(kept_releases.text_for_students(lab), encoding="utf-8")
            for language in translation.languages():
                if translation.catalogue(language, f"labs/{lab}"):
                    text = kept_releases.text_for_students(lab, language)
                    Path(dest, f"{lab}.{language}.ipynb").write_text(text, encoding="utf-8")


class Exchanged(ExchangeCollect):
    """nbgrader's own takes a submission in the name of another student with a warning, and copies what links lead to."""

    def problem(self) -> str:
        return exchange_problem(Path(self.root), self.coursedir.course_id) if self.check_owner else ""

    def init_src(self) -> None:
        if problem := self.problem():
            self.fail(problem)
        super().init_src()
        self.src_records: list[dict] = [record for record in self.src_records if record["username"]]

    def _path_to_record(self, path: str) -> dict:
        """The user, the folder and the time of a submission; the user is empty if the folder is not one of that user."""
        try:
            record, status = super()._path_to_record(path), os.lstat(path)
            own = not self.check_owner or _user_name(status) == record["username"]
            if own and stat.S_ISDIR(status.st_mode) and record["timestamp"].year in YEARS:
                return record
        except Exception as error:  # the name of the folder is the student's: nbgrader raises many types
            self.log.debug(printable(str(error)))
        self.log.warning("Skipped %s: not the folder of the user in its name", printable(path))
        return {"username": "", "filename": path, "timestamp": datetime.min}

    def do_copy(self, src: str, dest: str, log: object = None) -> None:
        copy = _Copy(os.lstat(src).st_uid)
        try:
            copy.folder(Path(src), Path(dest))
        except (OSError, Unreadable) as error:
            copy.problems.append(str(error))
        for problem in copy.problems[-10:]:  # what is missing, grading will say
            self.log.error("Not all of %s could be copied: %s", printable(src), printable(problem)[:1000])
        time = self._path_to_record(src)["timestamp"]
        _replace_unless(_tells_a_time, Path(dest, "timestamp.txt"), str(time))
        _replace_unless(_is_a_secret, Path(dest, "submission_secret.txt"), secrets.token_hex())
        lab = Lab(self.coursedir.assignment_id)
        if lab.todays_path.exists() and (name := take_renamed(lab, Path(dest))):
            self.log.warning("Took %s as %s.ipynb: %s", printable(name), lab, printable(src))
        self._remember_times(Path(src), Path(dest))

    def _remember_times(self, src: Path, dest: Path) -> None:
        """Remember when the user handed in these notebooks. They may be in an earlier submission, which is not taken."""
        lab, copy, user = Lab(self.coursedir.assignment_id), _Copy(os.lstat(src).st_uid), dest.parent.name
        with suppress(Unreadable, OSError):
            text, notebooks = text_in(dest, lab), {path.name: copy.read(path) for path in src.glob("*.ipynb")}
            times = []
            for path in src.parent.glob(f"{glob.escape(user)}+{lab}+*"):
                record = self._path_to_record(str(path))
                with suppress(OSError):
                    if record["username"] == user and all(
                        copy.read(path / name) == notebooks[name] for name in notebooks
                    ):
                        times.append(record["timestamp"])
            remember_times(lab, {(user, digest(text)): min(times, default=None)})


class Returned(ExchangeReleaseFeedback):
    """nbgrader's own ends with a traceback at the first page that no student can fetch, and the pages after it stay where they are.

    A student fetches a page by the secret of the own submission. A submission that did not come by the exchange has none, such as
    the copy that a member of a group gets. nbgrader's list of assignments shows feedback only if each notebook that was handed in
    has a page of its name. So the page about the notebook that was graded gets the names of the others, too: a lab in several
    languages, a draft beside it, or the name that the notebook had before it got the lab's.
    """

    def init_dest(self) -> None:
        if problem := exchange_problem(Path(self.root), self.coursedir.course_id):
            self.fail(problem)
        super().init_dest()

    def copy_files(self) -> None:
        lab, excluded = self.coursedir.assignment_id, {*(self.coursedir.student_id_exclude or "").split(",")}
        wanted, left = self.coursedir.student_id or "*", defaultdict(list)
        for folder in sorted(glob.glob(self.coursedir.format_path(self.coursedir.submitted_directory, wanted, lab))):
            student = Path(folder).parent.name
            if student in excluded:
                continue
            self.src_path = self.coursedir.format_path(self.coursedir.feedback_directory, student, lab)
            page = Path(self.src_path)
            if not [*page.glob("*.html")]:
                left["no page has been written"].append(student)
            elif not (_is_a_secret(page / "submission_secret.txt") and _tells_a_time(page / "timestamp.txt")):
                left["the submission did not come by the exchange: send the page"].append(student)
            else:
                super().copy_files()
                self._release_by_names(page, page.parents[2] / "submitted" / student / lab)
        for reason, students in left.items():
            self.log.warning("NOT released, because %s (%d): %s", reason, len(students), printable("; ".join(students)))

    def _release_by_names(self, pages: Path, handed_in: Path) -> None:
        """Release the page about a lab by the name of each notebook of the submission that has no page."""
        names = {Path(name_as_handed_in(handed_in)).stem, *(path.stem for path in handed_in.glob("*.ipynb"))}
        have_page, secret = {path.stem for path in pages.glob("*.html")}, (pages / "submission_secret.txt").read_text()
        if handed_in.name in have_page:
            for name in filter(str.isprintable, names - have_page - {""}):
                with replacing(Path(self.dest_path, f"{notebook_hash(secret=secret, notebook_id=name)}.html")) as part:
                    shutil.copy(pages / f"{handed_in.name}.html", part)


def _user_name(status: os.stat_result) -> str:
    import pwd  # it does not exist on Windows

    return pwd.getpwuid(status.st_uid).pw_name


def _replace_unless(is_right: Callable[[Path], bool], path: Path, text: str) -> None:
    """Without a right one nbgrader can collect no more, list no submissions and release no feedback, of the whole class."""
    if not is_right(path):
        if path.is_dir():
            shutil.rmtree(path)
        path.write_text(text)


def _tells_a_time(path: Path) -> bool:
    """Whether nbgrader can read it. A time that nbgrader takes for another one, because of its zone, stays: grading refuses it."""
    with suppress(Exception):  # the parser raises many types
        text = path.read_text(encoding="utf-8").strip() if path.stat().st_size <= MAX_TIMESTAMP else "too long"
        return not text or parse_utc(text).year in YEARS
    return False


def _is_a_secret(path: Path) -> bool:
    return path.is_file() and path.stat().st_size <= MAX_SECRET and path.read_bytes().isalnum()


class _Copy:
    """Copies ordinary files and folders of one owner, as many as a submission may have, and no links or modes."""

    def __init__(self, owner: int) -> None:
        self.owner, self.files, self.bytes = owner, MAX_FILES, MAX_FOLDER
        self.problems: list[str] = []

    def folder(self, source: Path, target: Path) -> None:
        target.mkdir()
        with os.scandir(source) as entries:
            for entry in entries:
                self.files -= 1
                if self.files < 0:
                    raise Unreadable(f"more than {MAX_FILES} files")
                copy = self.folder if entry.is_dir(follow_symlinks=False) else self.file
                try:
                    copy(source / entry.name, target / entry.name)
                except (OSError, RecursionError) as error:
                    self.problems.append(str(error))

    def file(self, source: Path, target: Path) -> None:
        target.write_bytes(self.read(source))

    def read(self, source: Path) -> bytes:
        descriptor = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or status.st_uid != self.owner:
                raise PermissionError(f"{source} is not an ordinary file of the student")
            self.bytes -= status.st_size
            if self.bytes < 0:
                raise Unreadable(f"more than {MAX_FOLDER >> 20} MB")
            return file.read(status.st_size)
