"""An exam at a desk: the page on which a student takes it, and the chain of sealed answers that it leaves.

`STUDENT.answers` has a line of JSON for each thing that happened, and is only appended to. A line has a link: an HMAC, with the
paper's secret, of the line and of the link before. A line that was changed, moved or left out breaks the chain. A file that was
made again has other links, and so another receipt than the one that the student wrote on the list in the room.

Time is told by a clock that nobody sets, so a change of the machine's date does not matter. The page is served on this machine
alone. Nothing here imports torch, the framework, the judge or nbgrader, because a student waits for the first page.
"""

from __future__ import annotations

import base64
import errno
import hashlib
import hmac
import json
import math
import os
import secrets
import socket
import stat
import sys
import time
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache, lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import accumulate, pairwise
from pathlib import Path
from socketserver import TCPServer
from threading import Lock, Thread
from typing import IO, Any
from urllib.parse import parse_qs, urlsplit

import psutil
from jupyter_core.paths import jupyter_runtime_dir, secure_write

from ..course import locked
from ..language import language, phrase, speak, speaking
from ..model import Unreadable, digest
from ..text import printable
from .paper import NotOpened, Paper, about, opened

SUFFIX = ".answers"
GRACE = 1  # minute after the end in which an answer still counts: the last ones are on their way
LONGEST_VALUE = 20_000  # characters
LARGEST_FILE = 64 << 20  # bytes of a chain
LARGEST_REQUEST = 300_000  # bytes: a longest value with each letter escaped
MOVED = 5.0  # seconds by which the wall clock may go ahead of the other clock between two records, or stay behind
BACKWARDS = 1.0  # seconds that a correction of the wall clock may take it back
LOOK = 10.0  # seconds from one count of kernels to the next
PAGE = Path(__file__).with_name("desk.html")

Record = dict[str, Any]

# The chain of answers ------------------------------------------------------------------------------------------------

EVENTS: dict[str, dict[str, type]] = {  # with what a record of them has besides the time
    "begun": {"exam": str, "student": str, "paper": str},
    "answer": {"field": str, "value": str},
    "resumed": {},
    "kernels": {"count": int},
    "ended": {},
}
_HEAD = b'{"at": "'  # a line begins with it
_COUNTED = next(filter(None, (getattr(time, name, None) for name in ("CLOCK_BOOTTIME", "CLOCK_MONOTONIC_RAW"))), None)


@dataclass(frozen=True)
class Taken:
    """What a student answered, and what an instructor should know about it."""

    answers: dict[str, str]  # the last value of each field within the time
    minutes: float
    receipt: str
    begun_receipt: str
    remarks: list[str]


class Answers:
    """A student's chain of answers, to which nobody else appends while it is open."""

    def __init__(self, path: Path, paper: Paper, records: list[Record], file: IO[bytes]):
        self.path, self.paper, self._records, self._file = path, paper, records, file

    def append(self, event: str, **more: Any) -> None:
        """Seal what happened now. Raises OSError if it could not be written, and leaves the file as it was then."""
        before = self._records[-1]["link"] if self._records else ""
        record = _moment() | {"n": len(self._records), "event": event} | more
        record["link"] = _link(before, record, self.paper)
        line, size = json.dumps(record, sort_keys=True).encode() + b"\n", os.fstat(self._file.fileno()).st_size
        try:
            if self._file.write(line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(self._file.fileno())
        except OSError:
            self._file.truncate(size)
            raise
        self._records.append(record)

    def close(self) -> None:
        self._file.close()

    @property
    def values(self) -> dict[str, str]:
        """The last value of each field, late ones too."""
        return {record["field"]: record["value"] for record in self._records if record["event"] == "answer"}

    @property
    def kernels(self) -> int:
        """The number of kernels that was sealed last."""
        return next((record["count"] for record in reversed(self._records) if record["event"] == "kernels"), 0)

    @property
    def minutes(self) -> float:
        """Since the beginning, up to now."""
        return _seconds([*self._records, _moment()])[-1] / 60

    @property
    def ended(self) -> bool:
        return self._records[-1]["event"] == "ended"

    @property
    def receipt(self) -> str:
        return _receipt(self._records[-1])

    @property
    def begun_receipt(self) -> str:
        return _receipt(self._records[0])


def begin_or_resume(path: Path, paper: Paper) -> Answers:
    """Begin a chain of answers, or go on with the one that is there. A last line that a crash has cut in half is dropped.

    Raises Unreadable for any other file, which stays as it is, and for one that another process has open.
    """
    file = path.open("a+b", buffering=0)
    try:
        if not locked(file):
            raise Unreadable(
                phrase("this exam is open in another window of this machine: go on there, or stop it with Ctrl-C")
            )
        file.seek(0)
        data = file.read()
        records, half = _chain(data, paper)
        if not records and not _HEAD.startswith(half[: len(_HEAD)]):
            raise Unreadable(phrase("the file is no chain of answers"))
        if half:
            file.truncate(len(data) - len(half))
        elif data and not data.endswith(b"\n"):  # a whole line, whose end a copy has left out
            file.write(b"\n")
        answers = Answers(path, paper, records, file)
        if not records:
            answers.append("begun", exam=paper.exam, student=paper.student, paper=paper.digest)
        elif not answers.ended:
            answers.append("resumed")
    except BaseException:
        file.close()
        raise
    return answers


def read(path: Path, paper: Paper) -> Taken:
    """What a student answered. Raises Unreadable if the file is another's or another paper's, or if its chain is broken."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            raise Unreadable("the answers are no ordinary file")
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise Unreadable(f"the answers cannot be read: {error.strerror}") from None
    if len(data) > LARGEST_FILE:
        raise Unreadable(f"the answers have more than {LARGEST_FILE >> 20} MB")
    records, half = _chain(data, paper)
    if not records:
        raise Unreadable("the file is no chain of answers")
    seconds = _seconds(records)
    given = [(record, at) for record, at in zip(records, seconds) if record["event"] == "answer"]
    counted = [record for record, at in given if at <= 60 * (paper.minutes + GRACE)]
    late = len(given) - len(counted)
    remarks = (
        [f"{_times(late, 'answer')} came after the time and {'is' if late == 1 else 'are'} not counted"] if late else []
    )
    remarks += _remarks(records, seconds)
    remarks += ["the last line is cut in half, and is left out"] if half else []
    answers = {record["field"]: record["value"] for record in counted if record["field"] in paper.fields}
    return Taken(answers, seconds[-1] / 60, _receipt(records[-1]), _receipt(records[0]), remarks)


def _chain(data: bytes, paper: Paper) -> tuple[list[Record], bytes]:
    """The records of a chain, and the half line after them that a crash leaves. Raises Unreadable."""
    records: list[Record] = []
    lines = data.split(b"\n")
    for number, line in enumerate(lines, 1):
        record = _parsed(line)
        if record is None:
            if number == len(lines):
                return records, line
            raise Unreadable(phrase(f"line {number} is no record of an exam"))
        if number == 1:
            _check_whose(record, paper)
        link = _link(records[-1]["link"] if records else "", record, paper)
        if record["n"] != len(records) or not hmac.compare_digest(link.encode(), record["link"].encode()):
            raise Unreadable(
                phrase(f"the chain of answers is broken at line {number}: a line was changed, moved or left out")
            )
        if records and records[-1]["event"] == "ended":
            raise Unreadable(phrase(f"line {number} comes after the end of the exam"))
        records.append(record)
    return records, b""


def _parsed(line: bytes) -> Record | None:
    """The record in a line, or None if it is none. (A student has the secret, so a line that is sealed may have anything in it.)"""
    try:
        record = json.loads(line)
        json.dumps(record, ensure_ascii=False).encode()  # raises for half a pair of surrogates
        fits = (
            type(record["n"]) is int
            and datetime.fromisoformat(record["at"]).tzinfo is not None
            and math.isfinite(record["clock"])
            and all(isinstance(record[name], str) for name in ("boot", "link"))
            and all(isinstance(record[name], kind) for name, kind in EVENTS[record["event"]].items())
        )
        return record if fits else None
    except (ValueError, LookupError, TypeError, OverflowError, RecursionError):
        return None


def _check_whose(record: Record, paper: Paper) -> None:
    """Raise Unreadable if a first record is not of this paper."""
    if record["event"] != "begun":
        raise Unreadable(phrase("the chain of answers has no beginning"))
    if (record["exam"], record["student"]) != (paper.exam, paper.student):
        student, exam = printable(record["student"])[:80], printable(record["exam"])[:80]
        raise Unreadable(phrase(f"these are the answers of {student} in {exam}"))
    if record["paper"] != paper.digest:
        raise Unreadable(phrase("these are answers to another paper of this exam"))


def _link(before: str, record: Record, paper: Paper) -> str:
    """The link of a record, which follows the one with the link `before`."""
    sealed = json.dumps({name: value for name, value in record.items() if name != "link"}, sort_keys=True)
    return hmac.new(paper.secret.encode(), (before + sealed).encode(), hashlib.sha256).hexdigest()


def _receipt(record: Record) -> str:
    """Eight letters and digits that stand for a record and for all before it."""
    return _letters(record["link"])


@lru_cache(64)
def _letters(link: str) -> str:
    """Made slowly, so that nobody finds another file with the same letters."""
    letters = base64.b32encode(hashlib.scrypt(link.encode(), salt=b"receipt", n=2**14, r=8, p=1, dklen=5)).decode()
    return f"{letters[:4]}-{letters[4:8]}"


# Time, and what was strange ------------------------------------------------------------------------------------------


def _moment() -> Record:
    """The time by the wall clock, and by one that nobody sets and that goes on while the machine sleeps."""
    clock = time.monotonic() if _COUNTED is None else time.clock_gettime(_COUNTED)
    return {"at": datetime.now(UTC).isoformat(timespec="milliseconds"), "clock": round(clock, 3), "boot": _boot()}


@cache  # where it is a time, it moves with the wall clock
def _boot() -> str:
    """The name of this run of the machine: the kernel's, or the second in which it began."""
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return str(round(psutil.boot_time()))


def _same_boot(one: Record, other: Record) -> bool:
    names = one["boot"], other["boot"]
    seconds = [int(name) for name in names if name.isdecimal() and len(name) < 12]
    return names[0] == names[1] or len(seconds) == 2 and abs(seconds[0] - seconds[1]) <= MOVED


def _by_clock(one: Record, other: Record) -> float | None:
    """The seconds from one record to the next, or None if the machine was started in between."""
    seconds = other["clock"] - one["clock"]
    return seconds if _same_boot(one, other) and seconds >= 0 else None


def _by_wall(one: Record, other: Record) -> float:
    return (datetime.fromisoformat(other["at"]) - datetime.fromisoformat(one["at"])).total_seconds()


def _seconds(records: Sequence[Record]) -> list[float]:
    """When each record was made, in seconds from the first. Across a restart of the machine the wall clock counts."""
    steps = []
    for one, other in pairwise(records):
        by_clock = _by_clock(one, other)
        steps.append(max(_by_wall(one, other), 0.0) if by_clock is None else by_clock)
    return [*accumulate(steps, initial=0.0)]


def _remarks(records: Sequence[Record], seconds: Sequence[float]) -> list[str]:
    """What an instructor should know, a line each."""
    remarks = []
    for (one, other), at in zip(pairwise(records), seconds[1:]):
        by_clock, by_wall = _by_clock(one, other), _by_wall(one, other)
        if by_clock is None:
            back = ", which went backwards" if by_wall < 0 else ""
            remarks.append(f"the machine was restarted before {_minute(at)}: the time is by the wall clock{back}")
        elif abs(by_wall - by_clock) > MOVED or by_wall < -BACKWARDS:
            remarks.append(f"the wall clock was moved by {by_wall - by_clock:+.0f} s before {_minute(at)}")
    count = [record["event"] for record in records].count
    if count("begun") > 1:
        remarks.append(f"begun {_times(count('begun'), 'time')}")
    if count("resumed"):
        remarks.append(f"the page was started again {_times(count('resumed'), 'time')}")
    for most, first, last in _kernel_spans(records, seconds):
        remarks.append(f"{_times(most, 'Jupyter kernel')} ran from {_minute(first)} to {_minute(last)}")
    if not count("ended"):
        remarks.append("not ended by the student")
    return remarks


def _kernel_spans(records: Sequence[Record], seconds: Sequence[float]) -> Iterator[tuple[int, float, float]]:
    """The spans in which kernels ran: how many at most, from when to when."""
    most, first = 0, 0.0
    for record, at in zip(records, seconds):
        if record["event"] != "kernels":
            continue
        if record["count"] > 0:
            first = first if most else at
            most = max(most, record["count"])
        elif most:
            yield most, first, at
            most = 0
    if most:
        yield most, first, seconds[-1]


def _minute(seconds: float) -> str:
    return f"minute {seconds / 60:.0f}"


def _times(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


# Kernels of this user ------------------------------------------------------------------------------------------------


def kernels() -> list[str]:
    """The Jupyter kernels of this user that are alive, by the notebooks' names if their files tell them."""
    names = []
    for path in sorted(Path(jupyter_runtime_dir()).glob("kernel-*.json")):
        with suppress(OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError, OverflowError):
            about_it = json.loads(path.read_text(encoding="utf-8"))
            if all(_listens(about_it["ip"], about_it[port]) for port in ("shell_port", "hb_port")):
                notebook = Path(about_it.get("jupyter_session") or "").name
                names.append(printable(notebook or about_it.get("kernel_name") or path.stem)[:80])
    return names


def _listens(address: str, port: int) -> bool:
    """Whether something on this machine listens at a port."""
    address = "127.0.0.1" if address in ("", "*", "0.0.0.0", "localhost") else address
    if not address.startswith("127."):
        address = address if address in _own_addresses() else ""
    with socket.socket() as probe:
        probe.settimeout(0.2)
        return bool(address) and probe.connect_ex((address, port)) == 0


def _own_addresses() -> set[str]:
    return {each.address for of_card in psutil.net_if_addrs().values() for each in of_card}


# The server ----------------------------------------------------------------------------------------------------------


def serve(path: Path, folder: Path, open_browser: bool = True) -> None:
    """Serve the page of a sealed paper until Ctrl-C. The answers are sealed in `folder`. Raises NotOpened if `path` is no paper."""
    with Desk(path, folder) as desk:
        print(speak("The exam is open in your browser, or at {address}", address=desk.address))
        print(speak("Ctrl-C stops it. The same command goes on with all that was saved."), flush=True)
        if open_browser:  # aside, because a browser for a terminal would take this one
            Thread(target=webbrowser.open, args=[desk.address], daemon=True).start()
        with suppress(KeyboardInterrupt):
            desk.serve_forever()


class Refused(Exception):
    """Raised for a request that is not done. `problem` is the reason, in words for the student."""

    def __init__(self, status: int, problem: str):
        super().__init__(problem)
        self.status, self.problem = status, problem


class Desk(ThreadingHTTPServer):
    """Serves the page of one paper. It knows no more than the sealed paper until a student types the word."""

    daemon_threads = True
    allow_reuse_address = os.name != "nt"  # there it would share the port with whatever has it

    def __init__(self, path: Path, folder: Path):
        self.path, self.folder, self.about = path, folder, about(path)
        self.guard, self.looked = Lock(), -math.inf
        self.answers: Answers | None = None
        port, self.token = self._before()
        try:
            super().__init__(("127.0.0.1", port), _Handler)
        except OSError:  # another program has the port now
            super().__init__(("127.0.0.1", 0), _Handler)
        with suppress(OSError):
            self._place.parent.mkdir(parents=True, exist_ok=True)
            with secure_write(str(self._place)) as file:
                json.dump({"port": self.server_port, "token": self.token}, file)

    @property
    def _place(self) -> Path:
        """Where the port and the token are, which stay the same after a crash, so that the tab in the browser finds the server."""
        name = digest(self.path.read_text(encoding="utf-8"))[:16]
        return Path(jupyter_runtime_dir(), f"rushlight-exam-{name}.json")

    def _before(self) -> tuple[int, str]:
        with suppress(OSError, ValueError, LookupError, TypeError):
            kept = json.loads(self._place.read_text(encoding="utf-8"))
            if 0 < int(kept["port"]) < 2**16 and len(kept["token"]) == 48 and kept["token"].isalnum():
                return int(kept["port"]), kept["token"]
        return 0, secrets.token_hex(24)

    def server_bind(self) -> None:  # without asking for the name of this machine, which takes seconds on some
        TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]  # type: ignore[assignment]

    def server_close(self) -> None:
        super().server_close()
        with self.guard:
            if self.answers:
                self.answers.close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):  # the browser went away
            super().handle_error(request, client_address)

    @property
    def hosts(self) -> set[str]:
        return {f"{name}:{self.server_port}" for name in ("127.0.0.1", "localhost")}

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/?token={self.token}"

    @property
    def language(self) -> str:
        return self.answers.paper.language if self.answers else language()

    def service_actions(self) -> None:
        if time.monotonic() > self.looked + LOOK:
            with suppress(OSError):
                self.look()

    def look(self) -> list[str]:
        """Count the kernels of this user, seal the number if it has changed, and return their names."""
        names, self.looked = kernels(), time.monotonic()
        with self.guard:
            if self.answers and not self.answers.ended and self.answers.kernels != len(names):
                self.answers.append("kernels", count=len(names))
        return names

    # What the page asks for. Each returns what becomes JSON.

    def state(self) -> Record:
        """All that the page shows. The paper's secret is not in it."""
        names = self.look()
        with self.guard, speaking(self.language):
            shown: Record = self.about | {"language": self.language, "words": words(), "kernels": names, "items": None}
            if answers := self.answers:
                items = [asdict(item) for item in answers.paper.items]
                shown |= {"items": items, "answers": answers.values, "begun": answers.begun_receipt}
                shown |= {"file": str(answers.path), "longest": LONGEST_VALUE}
            return shown | self._time()

    def time(self) -> Record:
        with self.guard:
            return self._time()

    def _time(self) -> Record:
        """Whole minutes that are left, and how far the exam is."""
        if not self.answers:
            return {"open": False}
        ended = self.answers.receipt if self.answers.ended else ""
        return {
            "open": True,
            "left": max(math.ceil(self.answers.paper.minutes - self.answers.minutes), 0),
            "ended": ended,
        }

    def open(self, word: str) -> Record:
        """Open the paper with the word. From now on the time counts."""
        try:
            paper = opened(self.path, word)
        except NotOpened:
            raise Refused(
                403, speak("This word does not open the paper. It is the word that is said in the room.")
            ) from None
        if Path(paper.student).name != paper.student:
            raise Refused(409, speak("The name of the student is not one for a file."))
        with self.guard, speaking(paper.language):
            if not self.answers:
                path = self.folder / f"{paper.student}{SUFFIX}"
                try:
                    self.folder.mkdir(parents=True, exist_ok=True)
                    self.answers = begin_or_resume(path, paper)
                except Unreadable as error:
                    raise Refused(409, f"{path}: {speak(str(error))}") from None
        return self.state()

    def answer(self, field: str, value: str) -> Record:
        """Seal the value of a field."""
        value = value.encode(errors="replace").decode()  # half a pair of surrogates is no text
        self.look()
        with self.guard, speaking(self.language):
            answers = self._open_answers()
            if field not in answers.paper.fields:
                raise Refused(400, speak("There is no such field."))
            if len(value) > LONGEST_VALUE:
                raise Refused(413, speak("Too long: an answer has at most {count} characters.", count=LONGEST_VALUE))
            if answers.values.get(field) != value:
                answers.append("answer", field=field, value=value)
            return self._time()

    def end(self) -> Record:
        """End the exam. Nothing is taken after it."""
        self.look()
        with self.guard, speaking(self.language):
            self._open_answers().append("ended")
            return self._time()

    def _open_answers(self) -> Answers:
        if not self.answers:
            raise Refused(409, speak("The paper is not open."))
        if self.answers.ended:
            raise Refused(410, speak("The exam is ended, and nothing more is taken."))
        return self.answers


class _Handler(BaseHTTPRequestHandler):
    """A request to the desk: the page, with the token in its address, or JSON, with the token in a header."""

    server: Desk
    server_version, sys_version = "rushlight", ""
    timeout = 60  # seconds, for a request that does not arrive

    def log_message(self, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        with self._refusing():
            if url.path == "/":
                self._check(parse_qs(url.query).get("token", [""])[0])
                self._send_page()
            elif url.path in ("/state", "/time"):
                self._check(self.headers.get("X-Token", ""))
                self._send_json(200, self.server.state() if url.path == "/state" else self.server.time())
            else:
                raise Refused(404, "there is no such page")

    def do_POST(self) -> None:
        with self._refusing():
            self._check(self.headers.get("X-Token", ""))
            desk = self.server
            calls: dict[str, tuple[Callable[..., Record], list[str]]] = {
                "/open": (desk.open, ["word"]),
                "/answer": (desk.answer, ["field", "value"]),
                "/end": (desk.end, []),
            }
            if self.path not in calls:
                raise Refused(404, "there is no such page")
            call, names = calls[self.path]
            self._send_json(200, call(*self._texts(names)))

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        """Within: what is refused, and what could not be written, is told to the page."""
        try:
            yield
        except Refused as error:
            self._send_json(error.status, {"problem": error.problem})
        except (ConnectionError, TimeoutError):
            raise
        except OSError as error:
            with speaking(self.server.language):
                problem = speak("It could not be written to the disk: {reason}.", reason=error.strerror)
            self._send_json(507, {"problem": problem})

    def _check(self, token: str) -> None:
        """Raise Refused for a request of another page, of another machine, or without the token."""
        origin, hosts = self.headers.get("Origin"), self.server.hosts
        if self.headers.get("Host") not in hosts or origin is not None and urlsplit(origin).netloc not in hosts:
            raise Refused(403, "this page is for this machine alone")
        if not secrets.compare_digest(token.encode(), self.server.token.encode()):
            raise Refused(403, "the address is the one that the terminal shows, with its token")

    def _texts(self, names: Sequence[str]) -> list[str]:
        """The texts of these names in the request's JSON."""
        try:
            length = int(self.headers["Content-Length"])
        except (TypeError, ValueError):
            raise Refused(411, "the request has no length") from None
        if not 0 <= length <= LARGEST_REQUEST:
            self.close_connection = True
            raise Refused(413, "the request is too long")
        try:
            data = json.loads(self.rfile.read(length))
            texts = [data[name] for name in names]
        except (ValueError, LookupError, TypeError, RecursionError):
            raise Refused(400, "the request is not understood") from None
        if not all(isinstance(text, str) for text in texts):
            raise Refused(400, "the request is not understood")
        return texts

    def _send_page(self) -> None:
        nonce = secrets.token_urlsafe(16)
        rules = f"default-src 'none'; connect-src 'self'; style-src 'nonce-{nonce}'; script-src 'nonce-{nonce}'"
        rules += "; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        page = PAGE.read_text(encoding="utf-8").replace("{NONCE}", nonce)
        self._send(200, page, "text/html", {"Content-Security-Policy": rules})

    def _send_json(self, status: int, data: Record) -> None:
        self._send(status, json.dumps(data), "application/json", {})

    def _send(self, status: int, text: str, kind: str, headers: dict[str, str]) -> None:
        data = text.encode()
        headers |= {
            "Content-Type": f"{kind}; charset=utf-8",
            "Content-Length": str(len(data)),
            "Cache-Control": "no-store",
        }
        headers |= {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


def words() -> dict[str, str]:
    """What the page itself says, in the language that is spoken here. The page fills in what is in braces."""
    return {
        "exam": speak("Exam"),
        "kernels": speak("These Jupyter kernels are running. Shut them down before you begin:"),
        "kernels_how": speak(
            "In JupyterLab: Kernel, Shut Down All Kernels. Running kernels are noted during the exam."
        ),
        "word": speak("The word that is said in the room"),
        "word_again": speak("The program was started again. Type the word once more to go on: your answers are there."),
        "open": speak("Open the paper"),
        "opening": speak("The time begins when the paper is open."),
        "begun": speak("Write this on the list in the room, for the beginning:"),
        "contents": speak("Contents"),
        "answered": speak("{done} of {all} answered"),
        "points": speak("{points} points"),
        "point": speak("1 point"),
        "minutes": speak("{minutes} minutes left"),
        "minute": speak("1 minute left"),
        "over": speak("The time is over. Nothing that is typed now counts. End the exam."),
        "saved": speak("Saved"),
        "saving": speak("Not saved yet"),
        "lost": speak(
            "The program that saves your answers does not answer. What you type stays on this page, so leave it open."
        ),
        "lost_how": speak("Start the program again with the same command in the terminal. Then all is saved."),
        "back": speak("The program is back, and all is saved."),
        "code": speak("Code"),
        "end": speak("End the exam"),
        "sure": speak("End the exam? Nothing can be changed after it."),
        "missing": speak("Fields without an answer: {count}"),
        "go_on": speak("Go on with the exam"),
        "ended": speak("The exam is ended"),
        "receipt": speak("Write this on the list in the room, for the end:"),
        "file": speak("Your answers are in this file, which you hand in:"),
        "close": speak("You can close this page, and stop the program in the terminal with Ctrl-C."),
    }
