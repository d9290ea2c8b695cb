"""One judge for all notebooks of a machine: the same verdicts, each user's from a process of that user, whatever a client does."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import FunctionType

import psutil
import pytest
from answers import over_the_wire
from sweep import sweep

from autograder.engine.check import function_of
from autograder.engine.exercise import fill, unplug
from autograder.engine.judge import Judge
from autograder.engine.observe import GradingError, encode, receive, send
from autograder.engine.verdict import Verdict
from autograder.notebook import kernel as notebook
from autograder.notebook import service

pytestmark = [
    pytest.mark.skipif(not hasattr(socket, "SO_PEERCRED"), reason="the service needs Linux"),
    pytest.mark.xdist_group("service"),
]
as_root = pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root serves other users")
USERS = (12345, 12346)

# Decides a check for each line of its input: the check's name, and the kind of answer
CLIENT = """
import os, sys
from autograder.engine import limits
from autograder.notebook import kernel as notebook, service  # before this process becomes a user who may not read the same folders
from autograder.engine.check import function_of, registry
from autograder.engine.exercise import fill
from types import FunctionType

def right(slot):
    copy = FunctionType(slot.__code__, slot.__globals__, slot.__name__, slot.__defaults__)
    copy.__kwdefaults__ = slot.__kwdefaults__
    return copy

if len(sys.argv) > 1:
    user = int(sys.argv[1])
    service.version(), registry()  # import what they need, which this user may not be able to read
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
for line in sys.stdin:
    name, kind = line.split()
    slot = function_of(name)
    fill(slot, right(slot) if kind == "right" else lambda *args, **kwargs: 0)
    verdict = notebook._decide(name, None)
    print(verdict.outcome, "own" if notebook._helper else "shared", flush=True)
"""

# The service without torch, whose judges read messages and answer none
WITHOUT_TORCH = """
import sys
from pathlib import Path
from types import ModuleType
from autograder.notebook import service
from autograder.engine.observe import receive

def serve(source, target, any_case):
    while True:
        receive(source)

sys.modules["autograder.engine.judge"] = stub = ModuleType("autograder.engine.judge")
stub.serve = serve
service._load = lambda: None
service.SILENCE_SECONDS = 3
service.MAX_NOTEBOOKS = 3
service.MAX_STARTS = 1000
exec(sys.argv[2])
service.serve(Path(sys.argv[1]))
"""


@contextmanager
def running(*command):
    """A service at a socket that all users can reach."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        path = Path(folder) / "judge.sock"
        words = [str(path) if word == "PATH" else word for word in command]
        environment = os.environ | service.ONE_THREAD
        process = subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE, text=True, env=environment)
        try:
            assert "judging" in process.stdout.readline()
            yield path, psutil.Process(process.pid)
        finally:
            process.kill()
            process.wait()
            process.stdout.close()


SEED = 7
ON_ONE_SEED = f"""
import sys
from pathlib import Path
from autograder.engine.torch_source import TorchSource
from autograder.notebook import service
TorchSource.reseed = lambda self: vars(self).update(seed={SEED}, _pending={{}})
service.serve(Path(sys.argv[1]))
"""


@pytest.fixture(scope="module")
def real():
    """The service, which draws the same cases each time."""
    with running("-c", ON_ONE_SEED, "PATH") as found:
        yield found


@pytest.fixture
def light(request):
    with running("-c", WITHOUT_TORCH, "PATH", getattr(request, "param", "")) as found:
        yield found


@pytest.fixture
def client(real):
    """Starts a process that asks for verdicts: `ask(check, kind)` gives the outcome, and whose judge decided."""
    started = []

    def start(user=None, path=real[0]):
        arguments = [str(user)] if user else []
        process = subprocess.Popen(
            [sys.executable, "-c", CLIENT, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"RUSHLIGHT_JUDGE": str(path)},
        )
        started.append(process)

        def ask(name, kind):
            process.stdin.write(f"{name} {kind}\n")
            process.stdin.flush()
            return tuple(process.stdout.readline().split())

        return ask

    yield start
    for process in started:
        process.stdin.close()
        process.wait()
        process.stdout.close()


def dial(path, hello=True):
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(20)
    connection.connect(str(path))
    if hello:
        with connection.makefile("rb") as stream:
            receive(stream)
    return connection


def eventually(true, seconds=20):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def is_closed(connection):
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


# Verdicts ------------------------------------------------------------------------------------------------------------


@pytest.mark.sweep
@as_root
def test_two_users_are_judged_at_once_each_by_a_process_of_their_own(real, client):
    path, parent = real
    one, other = map(client, USERS)
    assert one("aten.strided.contiguous_strides", "right") == ("passed", "shared")
    assert other("aten.strided.contiguous_strides", "wrong") == ("disagreed", "shared")
    judges = parent.children()
    assert {tuple(judge.uids()) for judge in judges} == {(user,) * 3 for user in USERS}
    assert {tuple(judge.gids()) for judge in judges} == {(user,) * 3 for user in USERS}
    for judge in judges:
        status = dict(line.split(":\t", 1) for line in Path(f"/proc/{judge.pid}/status").read_text().splitlines())
        assert status["Groups"].strip() == "" and int(status["CapPrm"], 16) == int(status["CapEff"], 16) == 0
        ends = [os.readlink(end) for end in Path(f"/proc/{judge.pid}/fd").iterdir()]
        assert sum(end.startswith("socket:") for end in ends) == 1  # neither the listener nor the other's connection
    assert one("aten.strided.infer_size", "right") == ("passed", "shared")


@pytest.mark.sweep
def test_a_judge_that_dies_is_replaced_and_no_other_notices(real, client):
    path, parent = real
    before = {judge.pid for judge in parent.children()}
    one = client()
    assert one("aten.strided.contiguous_strides", "right") == ("passed", "shared")
    (mine,) = {judge.pid for judge in parent.children()} - before
    other = client()
    assert other("aten.strided.contiguous_strides", "right") == ("passed", "shared")
    os.kill(mine, signal.SIGKILL)
    assert one("aten.strided.contiguous_strides", "wrong") == ("disagreed", "shared")
    assert other("aten.strided.contiguous_strides", "wrong") == ("disagreed", "shared")


@pytest.mark.sweep
def test_without_the_service_a_notebook_has_a_judge_of_its_own(client, tmp_path):
    ask = client(path=tmp_path / "none.sock")
    assert ask("aten.strided.contiguous_strides", "right") == ("passed", "own")
    assert ask("aten.strided.contiguous_strides", "wrong") == ("disagreed", "own")


SAME = {  # the judge answers in a thread, in a process of its own, from texts of Inductor, and with ranks
    "aten.strided.contiguous_strides",
    "c10.schema.bind",
    "inductor.output_code.recompilations",
    "distributed.collectives.ring_shift",
}
EACH_ONCE = [(min(SAME), "wrong")]


@pytest.mark.parametrize(
    ("name", "kind"), sweep([(name, kind) for kind in ("right", "wrong") for name in sorted(SAME)], keep=EACH_ONCE)
)
def test_its_verdict_is_that_of_a_notebooks_own_judge(real, monkeypatch, name, kind):
    path, _ = real
    monkeypatch.setenv("RUSHLIGHT_JUDGE", str(path))
    slot = function_of(name)
    own = Judge()
    own.source.seed = SEED
    fill(
        slot,
        FunctionType(slot.__code__, slot.__globals__, slot.__name__, slot.__defaults__) if kind == "right" else wrong,
    )
    try:
        expected = own.verdict(name, over_the_wire)
        with closing(notebook._connect()) as shared:
            found = shared.verdict(name, None)
    finally:
        unplug(slot)
    assert expected.outcome == ("passed" if kind == "right" else "disagreed")
    assert replace(found, seconds=0) == replace(Verdict(**json.loads(json.dumps(expected.as_dict()))), seconds=0)


def wrong(*args, **kwargs):
    return 0


def test_a_program_in_a_case_from_outside_does_not_run(real):
    """A case may hold a program. Only a case that this judge has shown is replayed."""
    path, _ = real
    program = {"source": "import os; os.kill(os.getppid(), 9)", "calls": [["f", {}]]}
    with closing(dial(path)) as connection, connection.makefile("rwb") as stream:
        send(stream, {"check": "aten.strided.contiguous_strides", "case": program})
        assert is_closed(connection)
    with closing(dial(path)) as connection, connection.makefile("rwb") as stream:
        send(stream, {"check": "aten.strided.contiguous_strides", "case": None})
        while "verdict" not in (message := receive(stream)):
            send(stream, {"observed": [0] * len(message["ask"])})
        shown = message["verdict"]
        assert shown["outcome"] == "disagreed"
        send(stream, {"check": shown["check"], "case": shown["case"]})
        assert "ask" in receive(stream)


def test_what_no_program_gives_is_malformed(real):
    path, _ = real
    with closing(dial(path)) as connection, connection.makefile("rwb") as stream:
        send(stream, {"check": "aten.strided.contiguous_strides", "case": None})
        receive(stream)
        send(stream, {"observed": [{"tensor": {"dtype": "object", "data": b"x"}}]})
        assert receive(stream)["verdict"]["outcome"] == "malformed"


# Hostile clients -----------------------------------------------------------------------------------------------------

# On a busy machine a client that waits for others is silent for long, and a judge that ends is still counted for a moment.
PATIENT = "service.SILENCE_SECONDS, service.MAX_NOTEBOOKS = 900, 8"


@pytest.mark.parametrize("light", [PATIENT], ids=[""], indirect=True)
def test_garbage_and_huge_lengths_end_one_connection_only(light):
    path, parent = light
    with closing(dial(path)) as honest:
        for sent in (
            b"GET / HTTP/1.1\r\n\r\n",
            b"\xff" * 8,
            b"\0" * 64,
            encode([[]])[:-1] + b"(",
            b"\x00\x3f\xff\xff" * 2,
        ):
            with closing(dial(path)) as hostile:
                hostile.sendall(sent)
                hostile.shutdown(socket.SHUT_WR)
                assert is_closed(hostile)
        eventually(lambda: len(parent.children()) == 1)
        honest.sendall(encode({}))
        assert parent.is_running()


def test_slow_bytes_half_open_connections_and_idle_ones_are_ended(light):
    path, parent = light
    with closing(dial(path)) as slow, closing(dial(path)), closing(dial(path)) as honest:
        slow.sendall(b"\0\0")
        for _ in range(12):  # one message after the other
            time.sleep(0.5)
            honest.sendall(encode({}))
        eventually(lambda: len(parent.children()) == 1)
        assert is_closed(slow)


@pytest.mark.parametrize("light", ["service.SILENCE_SECONDS = 900"], ids=[""], indirect=True)
def test_a_user_has_so_many_notebooks_and_a_refused_one_disturbs_none(light):
    path, parent = light
    connections = [dial(path) for _ in range(3)]
    with closing(dial(path, hello=False)) as refused:
        assert is_closed(refused)
    connections.pop().close()
    eventually(lambda: len(parent.children()) == 2)
    connections.append(dial(path))
    for connection in connections:
        connection.sendall(encode({}))
        connection.close()


@pytest.mark.parametrize("light", ["service.MAX_STARTS = 2"], ids=[""], indirect=True)
def test_a_user_who_connects_over_and_over_is_refused_for_a_while(light):
    path, _ = light
    for _ in range(2):
        dial(path).close()
    with closing(dial(path, hello=False)) as refused:
        assert is_closed(refused)


LOOKS_LONG = """
import time
service.MAX_STARTS = 1
service._end_stopped = lambda *_: time.sleep(0.3)
"""


@pytest.mark.parametrize("light", [LOOKS_LONG], ids=[""], indirect=True)
def test_a_flood_of_one_user_is_refused_without_a_look_at_the_forks_of_all_users(light):
    path, parent = light
    with closing(dial(path)) as honest:
        flood = [dial(path, hello=False) for _ in range(200)]  # with a look at each, the last would wait for a minute
        assert all(map(is_closed, flood))
        for connection in flood:
            connection.close()
        honest.sendall(encode({}))
        assert len(parent.children()) == 1


@pytest.mark.parametrize("light", [PATIENT], ids=[""], indirect=True)
def test_without_room_for_another_open_file_the_service_waits_and_goes_on(light):
    path, parent = light
    with closing(dial(path)) as honest:
        _, most = parent.rlimit(psutil.RLIMIT_NOFILE)
        parent.rlimit(psutil.RLIMIT_NOFILE, (3, most))
        with closing(dial(path, hello=False)) as waiting, waiting.makefile("rb") as stream:
            time.sleep(1)
            parent.rlimit(psutil.RLIMIT_NOFILE, (most, most))
            assert "version" in receive(stream)
        honest.sendall(encode({}))
        assert parent.is_running()


@pytest.mark.parametrize("light", ["service.SILENCE_SECONDS, service.MAX_STARTS = 900, 8"], ids=[""], indirect=True)
def test_a_storm_of_connections_that_send_nothing_or_half_a_message_disturbs_no_notebook(light):
    path, parent = light
    with closing(dial(path)) as honest:
        for number in range(300):
            with suppress(BlockingIOError, BrokenPipeError), closing(dial(path, hello=False)) as connection:
                connection.sendall(encode({"check": "x"})[: number % 12])
        honest.sendall(encode({}))
        eventually(lambda: len(parent.children()) == 1)
        assert parent.num_fds() < 10


def test_what_a_judge_may_use_is_limited_and_what_it_started_ends_with_it(light):
    path, parent = light
    with closing(dial(path)) as connection:
        connection.sendall(encode({}))
        (judge,) = parent.children()
        limits = Path(f"/proc/{judge.pid}/limits").read_text()
        assert str(service.MEMORY) in next(line for line in limits.splitlines() if "data size" in line)
        eventually(lambda: "Max cpu time              3" in Path(f"/proc/{judge.pid}/limits").read_text())
        assert os.getsid(judge.pid) == judge.pid and int(Path(f"/proc/{judge.pid}/oom_score_adj").read_text()) == 500
    eventually(lambda: not parent.children())


def test_a_judge_that_is_stopped_is_ended_by_the_service(light):
    path, parent = light
    with closing(dial(path)):
        (judge,) = parent.children()
        judge.suspend()
    with closing(dial(path)) as honest:
        for _ in range(16):  # the other one is at work meanwhile
            honest.sendall(encode({}))
            time.sleep(0.6)
        eventually(lambda: judge.pid not in [child.pid for child in parent.children()])
        assert parent.is_running()


def test_a_user_cannot_lift_the_limits_of_a_judge_for_good(light):
    path, parent = light
    with closing(dial(path)) as connection:
        connection.sendall(encode({}))
        (judge,) = parent.children()
        for limit in (psutil.RLIMIT_CPU, psutil.RLIMIT_DATA, psutil.RLIMIT_CORE):
            assert 0 <= judge.rlimit(limit)[1] < 1 << 40, limit


@pytest.mark.parametrize("light", ["service.QUEUE, service.MAX_NOTEBOOKS = 20, 1000"], ids=[""], indirect=True)
def test_a_notebook_gets_a_judge_although_the_queue_of_the_service_was_full(light, monkeypatch):
    path, parent = light
    monkeypatch.setenv("RUSHLIGHT_JUDGE", str(path))
    parent.suspend()
    waiting = []
    with pytest.raises(BlockingIOError):
        while len(waiting) < 200:
            waiting.append(socket.socket(socket.AF_UNIX))
            waiting[-1].setblocking(False)
            waiting[-1].connect(str(path))
    later = threading.Timer(1, parent.resume)
    later.start()
    connection = service.connect()
    later.join()
    assert connection is not None
    for opened in (*waiting, connection):
        opened.close()


SHOWS_FOLDER = """
def serve(source, target, any_case):
    import os
    from autograder.engine.observe import send
    os.mkdir(os.environ["TORCHINDUCTOR_CACHE_DIR"])
    send(target, {"folder": os.environ["TORCHINDUCTOR_CACHE_DIR"]})
    receive(source)
stub.serve = serve
"""


@pytest.mark.parametrize("light", [SHOWS_FOLDER], ids=[""], indirect=True)
def test_each_judge_compiles_in_a_folder_of_its_own_which_ends_with_it(light):
    path, parent = light
    folders = []
    for _ in range(2):
        with closing(dial(path, hello=False)) as connection, connection.makefile("rb") as stream:
            receive(stream)
            folders.append(Path(receive(stream)["folder"]))
            assert folders[-1].is_dir()
    assert folders[0] != folders[1]
    eventually(lambda: not parent.children())
    assert not any(folder.exists() for folder in folders)


STARTS_ANOTHER = """
def serve(source, target, any_case):
    import os, subprocess
    subprocess.Popen(["sleep", "1000.25"])
    os.kill(os.getpid(), 9)
stub.serve = serve
"""


@pytest.mark.parametrize("light", [STARTS_ANOTHER], ids=[""], indirect=True)
def test_a_process_that_a_judge_started_ends_with_it(light):
    path, parent = light
    dial(path).close()
    eventually(lambda: not parent.children(recursive=True))
    eventually(lambda: ["sleep", "1000.25"] not in [each.info["cmdline"] for each in psutil.process_iter(["cmdline"])])


# Whom a notebook trusts ----------------------------------------------------------------------------------------------


@contextmanager
def imposter(says, user=None):
    """A socket that greets like the service, of another user perhaps."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder, closing(socket.socket(socket.AF_UNIX)) as listener:
        path = f"{folder}/judge.sock"
        os.chmod(folder, 0o755)
        listener.bind(path)
        os.chmod(path, 0o666)
        if user is None:
            listener.listen()
        else:  # the owner of a listening socket is the one who called listen
            os.seteuid(user)
            listener.listen()
            os.seteuid(0)

        def greet():
            with suppress(OSError), closing(listener.accept()[0]) as connection, connection.makefile("wb") as stream:
                send(stream, {"version": says})
                connection.recv(1)

        threading.Thread(target=greet, daemon=True).start()
        yield path


def connects(path, monkeypatch):
    monkeypatch.setenv("RUSHLIGHT_JUDGE", path)
    connection = service.connect()
    if connection:
        connection.close()
    return connection is not None


def test_a_notebook_takes_a_judge_of_its_own_version_only(monkeypatch):
    with imposter(service.version()) as path:
        assert connects(path, monkeypatch)
    with imposter([*service.version()[:-1], "0"]) as path:
        assert not connects(path, monkeypatch)


@as_root
def test_a_notebook_takes_no_judge_of_another_user(monkeypatch):
    with imposter(service.version(), USERS[0]) as path:
        assert not connects(path, monkeypatch)


def test_an_address_that_is_a_file_keeps_its_file(tmp_path):
    notes = tmp_path / "notes.txt"
    notes.write_text("mine")
    command = [sys.executable, "-m", "autograder.cli", "judge", "--socket", str(notes)]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 1 and ended.stderr.count("\n") == 1 and "in use" in ended.stderr
    assert notes.read_text() == "mine"


@as_root
def test_a_place_that_is_not_the_users_is_named():
    os.seteuid(USERS[0])
    try:
        with pytest.raises(GradingError, match="--socket"):
            service._listen(Path("/run/rushlight-of-root/judge.sock"))
    finally:
        os.seteuid(0)


@pytest.mark.sweep
def test_a_second_service_leaves_the_first_alone(light):
    path, parent = light
    with pytest.raises(GradingError):
        service._listen(path)
    dial(path).close()
