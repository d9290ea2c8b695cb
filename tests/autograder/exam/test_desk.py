"""The chain of sealed answers, and the server of an exam's page."""

import http.client
import json
import os
import socket
import subprocess
import sys
from contextlib import contextmanager
from threading import Thread

import pytest
from exam_paper import WORD, sample, sealed

from autograder.classroom.pages import COLOURS, LINES
from autograder.exam import desk
from autograder.exam.desk import Desk, begin_or_resume, read
from autograder.model import Unreadable

PAPER = sample()


class Time:
    """The clocks of a machine, which a test sets."""

    def __init__(self):
        self.wall, self.clock, self.boot = 1_800_000_000.0, 5_000.0, "one"

    def go(self, seconds):
        self.wall += seconds
        self.clock += seconds

    def moment(self):
        at = desk.datetime.fromtimestamp(self.wall, desk.UTC).isoformat(timespec="milliseconds")
        return {"at": at, "clock": self.clock, "boot": self.boot}


@pytest.fixture
def now(monkeypatch):
    now = Time()
    monkeypatch.setattr(desk, "_moment", now.moment)
    return now


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ada.answers"


@pytest.fixture(autouse=True)
def runtime(tmp_path, monkeypatch):
    """A folder for the connection files of kernels, with none in it."""
    folder = tmp_path / "runtime"
    folder.mkdir()
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(folder))
    return folder


def take(path, *events, paper=PAPER):
    """Begin or go on, and seal these events: `("1.line", "4")` is an answer."""
    answers = begin_or_resume(path, paper)
    for event in events:
        if isinstance(event, str):
            answers.append(event)
        else:
            answers.append("answer", field=event[0], value=event[1])
    answers.close()
    return answers


# The chain


def test_answers_are_read_as_they_were_given_last(path, now):
    answers = begin_or_resume(path, PAPER)
    for seconds, field, value in (
        (60, "1.line", "4"),
        (60, "5.text", "Because…\nthe last varies fastest."),
        (30, "1.line", "5"),
    ):
        now.go(seconds)
        answers.append("answer", field=field, value=value)
    now.go(30)
    answers.append("ended")
    taken = read(path, PAPER)
    assert taken.answers == {"1.line": "5", "5.text": "Because…\nthe last varies fastest."}
    assert (taken.minutes, taken.remarks) == (3, [])
    assert (taken.receipt, taken.begun_receipt) == (answers.receipt, answers.begun_receipt)
    assert len({taken.receipt, taken.begun_receipt}) == 2 and len(taken.receipt) == 9


def test_the_same_answers_again_have_another_receipt(path, now):
    receipts = set()
    for _ in range(2):
        take(path, ("1.line", "4"), "ended")
        taken = read(path, PAPER)
        receipts |= {taken.receipt, taken.begun_receipt}
        path.unlink()
        now.go(1)
    assert len(receipts) == 4


def lines_of(path):
    take(path, ("1.line", "4"), ("1.line", "5"), ("2.line", "6"), "ended")
    return path.read_bytes().splitlines(keepends=True)


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: [lines[0], lines[1].replace(b'"4"', b'"5"'), *lines[2:]],
        lambda lines: [lines[0], lines[2], lines[1], *lines[3:]],
        lambda lines: [*lines[:2], *lines[3:]],
        lambda lines: [lines[0].replace(b"20", b"19", 1), *lines[1:]],
        lambda lines: [*lines[:2], lines[1], *lines[2:]],
        lambda lines: [*lines[:4], lines[4].replace(b'"ended"', b'"resumed"')],
        lambda lines: [*lines[:2], b"\n", *lines[2:]],
        lambda lines: [*lines[:2], b"[1]\n", *lines[2:]],
        lambda lines: [lines[0], lines[1].replace(b'"value": "4"', b'"value": "4", "more": NaN'), *lines[2:]],
        lambda lines: lines[1:],
    ],
    ids=["changed", "swapped", "dropped", "time", "twice", "event", "blank", "no record", "more", "beginning"],
)
def test_a_chain_that_was_changed_is_refused_and_left_alone(path, now, change):
    path.write_bytes(b"".join(change(lines_of(path))))
    before = path.read_bytes()
    for use in (read, begin_or_resume):
        with pytest.raises(Unreadable):
            use(path, PAPER)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (sample("ben"), "answers of ada in exam_01a_02b"),
        (sample(minutes=30), "another paper"),
        (sample(secret="other"), "another paper"),
    ],
)
def test_the_file_of_another_student_or_paper_is_refused_and_left_alone(path, other, said):
    take(path, ("1.line", "4"))
    before = path.read_bytes()
    for use in (read, begin_or_resume):
        with pytest.raises(Unreadable, match=said):
            use(path, other)
    assert path.read_bytes() == before


def test_a_chain_that_names_this_paper_and_has_another_secret_is_refused(path):
    forged = begin_or_resume(path, sample(secret="guessed"))
    forged.close()
    record = json.loads(path.read_text()) | {"paper": PAPER.digest}
    record["link"] = desk._link("", record, sample(secret="guessed"))
    path.write_text(json.dumps(record) + "\n")
    with pytest.raises(Unreadable, match="broken at line 1"):
        read(path, PAPER)


@pytest.mark.parametrize(
    "text", [b"notes of mine\n", b"notes of mine", b"{}", b'{"at": 1}\n', b"\xff\n", b"[" * 100_000]
)
def test_another_file_is_refused_and_left_alone(path, text):
    path.write_bytes(text)
    for use in (read, begin_or_resume):
        with pytest.raises(Unreadable):
            use(path, PAPER)
    assert path.read_bytes() == text


def test_what_is_no_file_of_answers_is_refused(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe")
    for name in ("none", "link", "pipe", ""):
        with pytest.raises(Unreadable):
            read(tmp_path / name, PAPER)


@pytest.mark.parametrize(
    "more", [{"at": "yesterday"}, {"at": "2027-01-01"}, {"clock": float("nan")}, {"boot": 1}, {"value": ["4"]}]
)
@pytest.mark.parametrize("event", ["answer"])
def test_a_sealed_record_of_a_student_who_seals_for_themselves_is_no_error_of_ours(path, now, more, event):
    answers = begin_or_resume(path, PAPER)
    answers.append(event, **{"field": "1.line", "value": "4"} | more)
    answers.append("ended")
    with pytest.raises(Unreadable, match="line 2 is no record"):
        read(path, PAPER)


def test_each_cut_of_the_last_line_is_gone_on_with(path, now):
    take(path, ("1.line", "4"), ("2.line", "6"))
    whole = path.read_bytes()
    start = whole[:-1].rindex(b"\n") + 1
    for end in (start + 1, start + 9, len(whole) - 2):
        path.write_bytes(whole[:end])
        assert "cut in half" in read(path, PAPER).remarks[-1]
        answers = take(path)
        assert answers.values == {"1.line": "4"} and path.read_bytes().startswith(whole[:start])
    path.write_bytes(whole[:-1])  # without its line end, as some programs copy a file
    take(path, "ended")
    assert read(path, PAPER).answers == {"1.line": "4", "2.line": "6"} and path.read_bytes().startswith(whole)


def test_a_crash_while_the_first_line_was_written_is_a_beginning(path):
    take(path)
    whole = path.read_bytes()
    for end in (0, 3, 40):
        path.write_bytes(whole[:end])
        take(path)
        assert read(path, PAPER).answers == {}


def test_going_on_keeps_the_answers_and_the_time(path, now):
    take(path, ("1.line", "4"))
    now.go(600)
    answers = begin_or_resume(path, PAPER)
    assert (answers.values, answers.minutes, answers.ended) == ({"1.line": "4"}, 10, False)
    answers.append("ended")
    answers.close()
    assert take(path).ended
    assert read(path, PAPER).remarks == ["the page was started again 1 time"]  # after the end nothing is added


def test_only_one_process_has_a_chain(path):
    answers = begin_or_resume(path, PAPER)
    with pytest.raises(Unreadable, match="another window"):
        begin_or_resume(path, PAPER)
    answers.close()
    take(path)


def test_a_record_that_cannot_be_written_leaves_the_chain_whole(path, monkeypatch):
    answers = begin_or_resume(path, PAPER)

    def full(file):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(desk.os, "fsync", full)
    with pytest.raises(OSError):
        answers.append("answer", field="1.line", value="4")
    monkeypatch.undo()
    answers.append("answer", field="1.line", value="5")
    assert read(path, PAPER).answers == {"1.line": "5"}


# Time


def test_late_answers_do_not_count_whatever_the_wall_clock_says(path, now):
    answers = begin_or_resume(path, PAPER)
    now.go(3600)
    answers.append("answer", field="1.line", value="4")
    now.go(59)
    answers.append("answer", field="2.line", value="in the minute after the end")
    now.wall -= 3000
    for field in ("1.line", "5.text"):
        now.go(10)
        answers.append("answer", field=field, value="late")
    answers.append("ended")
    taken = read(path, PAPER)
    assert taken.answers == {"1.line": "4", "2.line": "in the minute after the end"}
    assert taken.remarks[0] == "2 answers came after the time and are not counted"
    assert taken.remarks[1:] == ["the wall clock was moved by -3000 s before minute 61"]
    assert taken.minutes == pytest.approx(61.3, abs=0.1)


@pytest.mark.parametrize(("step", "is_said"), [(4, False), (6, True), (-4, True), (-0.2, False), (86_400, True)])
def test_a_wall_clock_that_was_moved_is_said(path, now, step, is_said):
    answers = begin_or_resume(path, PAPER)
    now.wall += step
    answers.append("ended")
    assert any("wall clock was moved" in line for line in read(path, PAPER).remarks) == is_said


def test_across_a_restart_of_the_machine_the_wall_clock_counts(path, now):
    take(path)
    now.wall, now.clock, now.boot = now.wall + 900, 20.0, "two"
    answers = begin_or_resume(path, PAPER)
    assert answers.minutes == 15
    now.go(60)
    answers.append("ended")
    taken = read(path, PAPER)
    assert taken.minutes == 16 and "the machine was restarted before minute 15" in taken.remarks[0]


def test_after_a_restart_with_the_date_set_back_no_time_is_won_and_it_is_said(path, now):
    take(path)
    now.wall, now.clock, now.boot = now.wall - 900, 20.0, "two"
    take(path)
    assert read(path, PAPER).minutes == 0 and "backwards" in read(path, PAPER).remarks[0]


def test_a_boot_that_is_named_by_its_second_may_be_rounded_in_two_ways(path, now):
    now.boot = "1799990000"
    take(path)
    now.boot = "1799990001"
    now.go(60)
    take(path, "ended")
    assert read(path, PAPER).remarks == ["the page was started again 1 time"]


def test_kernels_and_a_missing_end_are_said(path, now):
    answers = begin_or_resume(path, PAPER)
    for count in (1, 3, 0, 1):
        now.go(120)
        answers.append("kernels", count=count)
    now.go(60)
    answers.append("answer", field="1.line", value="4")
    assert read(path, PAPER).remarks == [
        "3 Jupyter kernels ran from minute 2 to minute 6",
        "1 Jupyter kernel ran from minute 8 to minute 9",
        "not ended by the student",
    ]


def test_a_beginning_in_the_middle_is_said(path, now):
    answers = begin_or_resume(path, PAPER)
    answers.append("begun", exam=PAPER.exam, student=PAPER.student, paper=PAPER.digest)
    assert "begun 2 times" in read(path, PAPER).remarks


# Kernels


def connection_file(folder, name, port, **more):
    about = {"ip": "127.0.0.1", "transport": "tcp", "shell_port": port, "hb_port": port, "kernel_name": "python3"}
    (folder / f"kernel-{name}.json").write_text(json.dumps(about | more))


def test_kernels_are_counted_while_something_listens_at_their_ports(runtime):
    with socket.create_server(("127.0.0.1", 0)) as alive, socket.create_server(("127.0.0.1", 0)) as gone:
        dead = gone.getsockname()[1]
        gone.close()
        connection_file(runtime, "a", alive.getsockname()[1], jupyter_session="/home/ada/work/01a_views.ipynb")
        connection_file(runtime, "b", dead)
        connection_file(runtime, "c", alive.getsockname()[1], hb_port=dead)
        connection_file(runtime, "d", alive.getsockname()[1], ip="203.0.113.7")
        connection_file(runtime, "e", "many")
        (runtime / "kernel-f.json").write_text("[]")
        assert desk.kernels() == ["01a_views.ipynb"]
    assert desk.kernels() == []


# The server


@contextmanager
def at_desk(path, folder):
    with Desk(path, folder) as served:
        thread = Thread(target=served.serve_forever, args=[0.01], daemon=True)
        thread.start()
        try:
            yield served
        finally:
            served.shutdown()
            thread.join()


@pytest.fixture
def served(tmp_path):
    with at_desk(sealed(tmp_path), tmp_path / "answers") as served:
        yield served


def ask(served, path, body=None, **headers):
    """The status, and what a request is answered."""
    connection = http.client.HTTPConnection("127.0.0.1", served.server_port, timeout=60)
    given = {"X-Token": served.token} | {name.replace("_", "-"): value for name, value in headers.items()}
    text = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    connection.request("GET" if body is None else "POST", path, text, {k: v for k, v in given.items() if v is not None})
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    return answer.status, json.loads(data) if "json" in answer.headers["Content-Type"] else data.decode()


def test_an_exam_from_the_word_to_the_end(served, tmp_path):
    status, page = ask(served, f"/?token={served.token}", X_Token=None)
    assert status == 200 and "{NONCE}" not in page and WORD not in page and PAPER.secret not in page
    assert ask(served, "/state")[1]["items"] is None
    assert ask(served, "/open", {"word": "no word"})[0] == 403
    status, state = ask(served, "/open", {"word": WORD.upper().replace("-", " ")})
    assert status == 200 and [item["key"] for item in state["items"]] == list("12345")
    assert (state["left"], state["answers"], state["words"]["end"]) == (60, {}, "End the exam")
    assert PAPER.secret not in json.dumps(state)
    path, seen = tmp_path / "answers" / "ada.answers", b""
    for value in ("4", "5", "5"):  # the third is saved already
        assert ask(served, "/answer", {"field": "1.line", "value": value})[0] == 200
        assert path.read_bytes().startswith(seen)
        seen = path.read_bytes()
    assert seen.count(b"\n") == 3
    assert ask(served, "/answer", {"field": "5.text", "value": "ñ \ud800 <b>"})[0] == 200
    status, ended = ask(served, "/end", {})
    taken = read(path, PAPER)
    assert (status, ended["ended"], state["begun"]) == (200, taken.receipt, taken.begun_receipt)
    assert taken.answers == {"1.line": "5", "5.text": "ñ ? <b>"} and taken.remarks == []


def test_nothing_is_taken_before_the_word_and_after_the_end(served, tmp_path):
    assert ask(served, "/answer", {"field": "1.line", "value": "4"})[0] == ask(served, "/end", {})[0] == 409
    assert not (tmp_path / "answers").exists()
    ask(served, "/open", {"word": WORD})
    ask(served, "/end", {})
    before = (tmp_path / "answers" / "ada.answers").read_bytes()
    assert ask(served, "/answer", {"field": "1.line", "value": "4"})[0] == ask(served, "/end", {})[0] == 410
    assert ask(served, "/open", {"word": WORD})[1]["ended"] == ask(served, "/time")[1]["ended"]
    assert (tmp_path / "answers" / "ada.answers").read_bytes() == before


@pytest.mark.parametrize("path", ["/state", "/time", "/open", "/answer", "/end"])
def test_only_this_page_on_this_machine_with_the_token_is_answered(served, path):
    body = None if path in ("/state", "/time") else {"word": WORD, "field": "1.line", "value": "4"}
    port = served.server_port
    assert ask(served, path, body, X_Token=None)[0] == 403
    assert ask(served, path, body, X_Token="é")[0] == 403
    assert ask(served, path, body, Host="exam.example.org")[0] == 403
    assert ask(served, path, body, Host="127.0.0.1:1")[0] == 403
    for origin in ("https://example.org", f"http://example.org:{port}", "null", "http://127.0.0.1:1"):
        assert ask(served, path, body, Origin=origin)[0] == 403
    assert served.answers is None
    assert ask(served, path, body, Host=f"localhost:{port}", Origin=f"http://localhost:{port}")[0] in (200, 409)
    assert ask(served, f"/?token={served.token[:-1]}")[0] == ask(served, "/")[0] == 403


def test_what_is_too_long_or_not_understood_is_refused_and_not_sealed(served, tmp_path):
    ask(served, "/open", {"word": WORD})
    before = (tmp_path / "answers" / "ada.answers").read_bytes()
    longest = "😀" * desk.LONGEST_VALUE
    assert ask(served, "/answer", {"field": "5.text", "value": f"{longest}x"})[0] == 413
    assert ask(served, "/answer", b" " * (desk.LARGEST_REQUEST + 1))[0] == 413
    assert ask(served, "/answer", {"field": "6.text", "value": "4"})[0] == 400
    for body in (b"", b"[]", b"{", b'{"field": "1.line"}', b'{"field": "1.line", "value": 4}', b"[" * 100_000):
        assert ask(served, "/answer", body)[0] == 400
    assert ask(served, "/paper")[0] == ask(served, "/../desk.py", {})[0] == 404
    assert (tmp_path / "answers" / "ada.answers").read_bytes() == before
    assert ask(served, "/answer", {"field": "5.text", "value": longest})[0] == 200


def test_a_second_start_has_the_answers_the_address_and_the_token(tmp_path):
    path = sealed(tmp_path)
    with at_desk(path, tmp_path) as served:
        address = served.address
        ask(served, "/open", {"word": WORD})
        ask(served, "/answer", {"field": "1.line", "value": "4"})
    with at_desk(path, tmp_path) as served:
        assert served.address == address
        assert ask(served, "/time")[1] == {"open": False}
        assert ask(served, "/open", {"word": WORD})[1]["answers"] == {"1.line": "4"}
        with at_desk(path, tmp_path) as second:  # while the first one is there
            assert second.server_port != served.server_port
            status, said = ask(second, "/open", {"word": WORD})
            assert status == 409 and "another window" in said["problem"]
    if os.name == "posix":
        [kept] = (tmp_path / "runtime").glob("rushlight-exam-*.json")
        assert kept.stat().st_mode & 0o077 == 0


def test_a_file_that_is_in_the_way_is_named_and_left_alone(served, tmp_path):
    path = tmp_path / "answers" / "ada.answers"
    path.parent.mkdir()
    path.write_text("notes of mine\n")
    status, said = ask(served, "/open", {"word": WORD})
    assert status == 409 and str(path) in said["problem"] and path.read_text() == "notes of mine\n"


def test_a_full_disk_is_said(served, monkeypatch):
    ask(served, "/open", {"word": WORD})

    def full(file):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(desk.os, "fsync", full)
    status, said = ask(served, "/answer", {"field": "1.line", "value": "4"})
    assert status == 507 and "No space left" in said["problem"]


def test_kernels_are_named_before_the_word_and_sealed_after_it(served, runtime, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as kernel:
        connection_file(runtime, "a", kernel.getsockname()[1], jupyter_session="01a_views.ipynb")
        assert ask(served, "/state")[1]["kernels"] == ["01a_views.ipynb"]
        ask(served, "/open", {"word": WORD})
    ask(served, "/answer", {"field": "1.line", "value": "4"})
    records = [json.loads(line) for line in (tmp_path / "answers" / "ada.answers").read_text().splitlines()]
    assert [(each["event"], each.get("count")) for each in records] == [
        ("begun", None), ("kernels", 1), ("kernels", 0), ("answer", None),
    ]  # fmt: skip


def test_the_page_speaks_the_language_of_the_paper(tmp_path):
    with at_desk(sealed(tmp_path, sample(language="es")), tmp_path) as served:
        state = ask(served, "/open", {"word": WORD})[1]
    english = desk.words()
    assert state["language"] == "es" and state["words"].keys() == english.keys()
    assert [name for name, said in state["words"].items() if said == english[name]] == []
    assert {name: sorted(set("{}") & {*said}) for name, said in english.items()} == {
        name: sorted(set("{}") & {*said}) for name, said in state["words"].items()
    }


def test_a_fresh_process_serves_without_torch_the_framework_the_judge_and_nbgrader(tmp_path):
    path = sealed(tmp_path)
    program = """
import sys, json
from pathlib import Path
from autograder.exam.desk import Desk
with Desk(Path(sys.argv[1]), Path(sys.argv[2])) as desk:
    desk.state(), desk.open(sys.argv[3]), desk.answer("1.line", "4"), desk.end()
print(json.dumps(sorted(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", program, path, tmp_path, WORD], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    loaded = {*json.loads(done.stdout)}
    assert "autograder.exam.desk" in loaded
    assert {"torch", "numpy", "rushlight", "nbgrader", "nbformat", "IPython", "autograder.engine"} & loaded == set()


def test_the_page_has_the_colours_of_the_others():
    page = desk.PAGE.read_text(encoding="utf-8")
    light, dark = (
        page.split("@media (prefers-color-scheme: dark)")[0],
        page.split("@media (prefers-color-scheme: dark)")[1],
    )
    for name, colours in COLOURS.items():
        for scheme, text in enumerate((light, dark)):
            if f"var(--{name})" in page:
                assert f"--{name}:{colours[2 * scheme]};" in text
            if f"var(--{name}-b)" in page:
                assert f"--{name}-b:{colours[2 * scheme + 1]};" in text
    assert f"--line:{LINES['line'][0]};" in light and f"--line:{LINES['line'][1]};" in dark
