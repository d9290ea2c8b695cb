"""A real JupyterHub on a machine of its own, set up as `docs/jupyterhub.md` says: the files and the commands are the page's.

The machine is a mount namespace, which has its own users, `/home`, `/srv` and `/tmp`, and a PID namespace. Its processes end
with the first of them. The page's installations take minutes and gigabytes, so the machine's two are thin: virtual environments
that have the packages of this one, read-only, and find the course in their own folder.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

import nbformat
import psutil
import requests
import websocket
from nbformat import NotebookNode
from nbformat.v4 import output_from_msg

from autograder.classroom.release import release
from autograder.model import Course, Lab

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "jupyterhub.md"
PROXY = Path(sys.prefix) / "bin" / "configurable-http-proxy"
UNSHARE = "unshare --mount --pid --fork --mount-proc"
COURSES = "rushlight", "course"
TEACHER, FIRST_USER = "teacher", 64001
PREPARED = "make ", "npm ", "/srv/rushlight/.venv/bin/python -m pip ", "/srv/course/.venv/bin/python -m pip "

# What a test needs besides the page: users without a password, free ports, patience, and a token.
SETTINGS = """
load_subconfig("/srv/hub/jupyterhub_config.py")
c.JupyterHub.authenticator_class = "dummy"
c.JupyterHub.bind_url = "http://127.0.0.1:{}"
c.JupyterHub.hub_bind_url = "http://127.0.0.1:{}"
c.Spawner.start_timeout = c.Spawner.http_timeout = 600
c.Spawner.args = ["--MappingKernelManager.kernel_info_timeout=600"]
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{}"
c.ConfigurableHTTPProxy.command = ["/srv/packages/bin/configurable-http-proxy"]
c.JupyterHub.services = [{{"name": "tests", "api_token": "{}"}}]
c.JupyterHub.load_roles = [
    {{"name": "tests", "scopes": ["admin:users", "admin:servers", "tokens"], "services": ["tests"]}}
]
"""


def missing() -> str | None:
    """Why no hub can run here, in one line."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "only root on Linux can make several users"
    if not PROXY.exists():
        return "there is no configurable-http-proxy (`sh system.sh hub` brings it)"
    for command in ([PROXY, "--version"], [*UNSHARE.split(), "true"]):
        tried = subprocess.run(command, capture_output=True, text=True)
        if tried.returncode:
            return " ".join(tried.stderr.split()) or f"{command[0]} fails"
    return None


# The page ------------------------------------------------------------------------------------------------------------


def commands(heading: str) -> list[list[str]]:
    """The commands of each block below a heading of the page."""
    part = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", PAGE.read_text(), re.M | re.S)[1]
    blocks = re.findall(r"^```console\n(.*?)^```", part, re.M | re.S)
    return [re.findall(r"^\$ (.*)$", block, re.M) for block in blocks]


def files() -> dict[str, str]:
    """The files that the page says to write."""
    return dict(re.findall(r"`(/srv/[^`]+\.py)`:\n\n```python\n(.*?)^```", PAGE.read_text(), re.M | re.S))


# The machine ---------------------------------------------------------------------------------------------------------

MACHINE = """
set -e
mount --bind {place}/srv /srv
mount --bind {place}/home /home
mount --bind {place}/passwd /etc/passwd
mount --bind {place}/group /etc/group
mount --bind {packages} /srv/packages
mount -o remount,bind,ro /srv/packages
mount -t tmpfs -o mode=1777 tmpfs /tmp
if [ -n "{closed}" ]; then
    mkdir /tmp/python
    mount --bind {python} /tmp/python
    mount -t tmpfs -o mode=755 tmpfs {closed}
    mkdir -p {python}
    mount --move /tmp/python {python}
    mount -o remount,bind,ro {python}
fi
echo ready
sleep infinity & wait
"""


class Machine:
    """Users, and folders of their own, in which `run` runs commands as root."""

    def __init__(self, place: Path, users: list[str]):
        self.place = place
        for folder in ("srv/packages", "home"):
            (place / folder).mkdir(parents=True)
        lines = {"passwd": Path("/etc/passwd").read_text(), "group": Path("/etc/group").read_text()}
        for number, user in enumerate(users, FIRST_USER):
            lines["passwd"] += f"{user}:x:{number}:{number}::/home/{user}:/bin/bash\n"
            lines["group"] += f"{user}:x:{number}:\n"
            (place / "home" / user).mkdir(mode=0o700)
            os.chown(place / "home" / user, number, number)
        for name, text in lines.items():
            (place / name).write_text(text)
        python = Path(sys.base_prefix)
        closed = next((folder for folder in reversed(python.parents) if not folder.stat().st_mode & 1), "")  # /root is
        script = MACHINE.format(place=place, packages=sys.prefix, python=python, closed=closed)
        command = [*f"setpriv --pdeathsig KILL {UNSHARE} --kill-child bash -c".split(), script]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n", "the machine could not be made"
        self.first = psutil.Process(self.process.pid).children()[0].pid

    def enter(self, command: str) -> list[str]:
        clean = [f"--unset={name}" for name in os.environ if name.startswith(("JUPYTER", "RUSHLIGHT", "XDG", "PYTHON"))]
        return [
            # a run in the background ignores Ctrl-C, and what it starts would too
            *f"nsenter --target={self.first} --mount --pid env --default-signal".split(),
            *clean,
            "HOME=/root",
            "bash",
            "-c",
            command,
        ]

    def run(self, command: str) -> str:
        done = subprocess.run(self.enter(command), cwd="/", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert done.returncode == 0, f"{command}\n{done.stdout}"
        return done.stdout

    def work(self, user: str, *commands: str) -> str:
        """Return the output of commands in a terminal of a user."""
        return self.run(f"runuser - {user} -c {shlex.quote(' && '.join(commands))}")

    def end(self) -> None:
        self.process.kill()  # and with it all processes of the machine
        self.process.wait()


def install(machine: Machine, folder: str) -> None:
    """A virtual environment in `/srv/FOLDER` that has all packages of this one, and finds the course in that folder."""
    machine.run(f"{sys.base_prefix}/bin/python3 -m venv --without-pip /srv/{folder}/.venv")
    venv, packages = machine.place / "srv" / folder / ".venv", Path(sys.prefix)
    for script in (packages / "bin").iterdir():
        if script.is_file() and not script.is_symlink() and script.open("rb").read(2) == b"#!":
            text = re.sub(r"\A#!.*python.*", f"#!/srv/{folder}/.venv/bin/python", script.read_text())
            (venv / "bin" / script.name).write_text(text)
            (venv / "bin" / script.name).chmod(0o755)
    shutil.copytree(packages / "etc" / "jupyter", venv / "etc" / "jupyter")
    (venv / "share").mkdir(exist_ok=True)
    for entry in (packages / "share").glob("jupyter*"):
        (venv / "share" / entry.name).symlink_to(f"/srv/packages/share/{entry.name}")


def show_packages(machine: Machine, folder: str) -> None:
    """Mount the packages, read-only: after `chown -R`, which else would change the owner of this environment's own files."""
    installed = next(Path(sys.prefix).glob("lib/python*/site-packages/*rushlight*.pth")).relative_to(sys.prefix)
    site = f"/srv/{folder}/.venv/{installed.parent}"
    (machine.place / "srv" / folder / ".venv" / "course.pth").write_text(f"/srv/{folder}\n")
    machine.run(f"mount --bind /srv/packages/{installed.parent} {site} && mount -o remount,bind,ro {site}")
    machine.run(f"mount --bind /srv/{folder}/.venv/course.pth /srv/{folder}/.venv/{installed}")


# The hub -------------------------------------------------------------------------------------------------------------


class Hub:
    """A hub that runs on a machine. `hub.user(name)` starts the server of a user."""

    def __init__(self, machine: Machine):
        self.machine, self.token = machine, secrets.token_hex(16)
        self.log = machine.place / "hub.log"
        sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
        ports = [each.getsockname()[1] for each in sockets]
        for each in sockets:
            each.close()
        self.address = f"http://127.0.0.1:{ports[0]}"
        (machine.place / "srv/hub/test_config.py").write_text(SETTINGS.format(*ports, self.token))
        [start] = commands("Start it")
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                machine.enter(f"{' && '.join(start)} --config=/srv/hub/test_config.py"), cwd="/", stdout=log, stderr=log
            )
        self.wait(lambda: requests.get(f"{self.address}/hub/api/").ok)

    def wait(self, is_there, seconds: float = 600) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until and self.process.poll() is None:
            try:
                if is_there():
                    return
            except requests.ConnectionError:
                pass
            time.sleep(0.3)
        raise AssertionError(f"the hub does not answer{self.end_of_log()}")

    def end_of_log(self) -> str:
        """Return the log of the hub and of its users' servers, without the requests of `user`."""
        lines = [line for line in self.log.read_text().splitlines() if "200 GET /hub/api/users/" not in line]
        return "\n".join(["\nThe log of the hub ends:", *lines[-60:]])

    def ask(self, method: str, path: str, /, **content) -> dict:
        answer = requests.request(
            method, f"{self.address}/hub/api/{path}", json=content, headers={"Authorization": f"token {self.token}"}
        )
        assert answer.ok, f"{method} {path}: {answer.text}{self.end_of_log()}"
        return answer.json() if answer.content else {}

    def user(self, name: str) -> User:
        self.ask("POST", f"users/{name}")
        self.ask("POST", f"users/{name}/server")
        self.wait(lambda: self.ask("GET", f"users/{name}")["servers"].get("", {}).get("ready"))
        return User(name, self, self.ask("POST", f"users/{name}/tokens")["token"])


class User:
    """A user at work on the server that the hub started, through the hub's proxy, with a token of this user alone."""

    def __init__(self, name: str, hub: Hub, token: str):
        self.name, self.hub, self.address = name, hub, f"{hub.address}/user/{name}"
        self.headers = {"Authorization": f"token {token}"}

    def ask(self, method: str, path: str, /, **content):
        answer = requests.request(method, f"{self.address}/{path}", json=content or None, headers=self.headers)
        assert answer.ok, f"{self.name}: {method} {path}: {answer.text}{self.hub.end_of_log()}"
        return answer.json() if answer.content else None

    @contextmanager
    def connected(self, path: str) -> Iterator[websocket.WebSocket]:
        address = f"{self.address}/{path}".replace("http", "ws", 1)
        with closing(websocket.create_connection(address, header=self.headers, timeout=300)) as connection:
            try:
                yield connection
            except websocket.WebSocketException as error:
                raise AssertionError(f"{self.name}: {path}: {error}{self.hub.end_of_log()}") from None

    def run(self, *commands: str, fails: bool = False) -> str:
        """Return the output of commands in a terminal of JupyterLab."""
        name = self.ask("POST", "api/terminals")["name"]
        line = f"({' && '.join(commands)}); echo =$?="
        with self.connected(f"terminals/websocket/{name}") as terminal:
            terminal.send(json.dumps(["set_size", 50, 2000, 0, 0]))
            terminal.send(json.dumps(["stdin", f"{line}\r"]))
            said = ""
            while not (end := re.search(r"=(\d+)=\r", said)):
                kind, *text = json.loads(terminal.recv())
                said += text[0] if kind == "stdout" else ""
        self.ask("DELETE", f"api/terminals/{name}")
        assert (end[1] != "0") == fails, f"{self.name}: {line}\n{said}{self.hub.end_of_log()}"
        return said

    def read(self, path: str) -> NotebookNode:
        return nbformat.from_dict(self.ask("GET", f"api/contents/{quote(path)}")["content"])

    def write(self, path: str, notebook: NotebookNode) -> None:
        self.ask("PUT", f"api/contents/{quote(path)}", type="notebook", format="json", content=notebook)

    def run_all(self, path: str) -> NotebookNode:
        """Run all cells of a notebook in a kernel of its own, and save what comes out. An error does not stop it."""
        notebook = self.read(path)
        session = self.ask("POST", "api/sessions", path=path, name=path, type="notebook", kernel={"name": "python3"})
        with self.connected(f"api/kernels/{session['kernel']['id']}/channels") as channels:
            for cell in notebook.cells:
                if cell.cell_type == "code":
                    cell.outputs = [*_outputs(channels, cell.source)]
        self.write(path, notebook)
        return notebook


def _outputs(channels: websocket.WebSocket, source: str) -> Iterator[NotebookNode]:
    header = {
        "msg_id": secrets.token_hex(16),
        "msg_type": "execute_request",
        "version": "5.3",
        "username": "",
        "session": "",
    }
    content = {"code": source, "stop_on_error": False}
    message = {"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell"}
    channels.send(json.dumps(message))
    while True:
        answer = json.loads(channels.recv())
        if answer["parent_header"].get("msg_id") != header["msg_id"]:
            continue
        if answer["msg_type"] in ("stream", "display_data", "execute_result", "error"):
            yield output_from_msg(answer)
        if answer["msg_type"] == "status" and answer["content"]["execution_state"] == "idle":
            return


def prepare(machine: Machine, heading: str) -> None:
    """Run the commands below a heading of the page, except for those that fetch what is here already."""
    for command in sum(commands(heading), []):
        if not command.startswith(PREPARED):
            machine.run(command)


def left_out(folder: str, names: list[str]) -> set[str]:
    """Names that a copy of the course leaves out: at its top, tests, pages and the output of commands."""
    top = {"tests", "site", "docs", "classroom", "work", "shots"} if Path(folder) == ROOT else set()
    return {name for name in names if name in top or name == "__pycache__" or name.startswith(".")}


@contextmanager
def installed(students: list[str], labs: list[str]) -> Iterator[Machine]:
    """The machine of a class, in which some labs can be released, with an exchange."""
    with tempfile.TemporaryDirectory(prefix="rushlight-hub-") as folder:
        place = Path(folder)
        machine = Machine(place, [*students, TEACHER])
        try:
            course = Course()
            release(course, [Lab(name, course) for name in labs], place / "srv" / "rushlight")
            shutil.copytree(ROOT, place / "srv" / "course", ignore=left_out)
            for course in COURSES:
                install(machine, course)
            prepare(machine, "Install")
            for course in COURSES:
                show_packages(machine, course)
            for name, text in files().items():
                (place / name.lstrip("/")).write_text(text)
            prepare(machine, "The exchange")
            yield machine
        finally:
            machine.end()


@contextmanager
def running(students: list[str], labs: list[str]) -> Iterator[Hub]:
    """A hub for a class, in which some labs can be released."""
    with installed(students, labs) as machine:
        yield Hub(machine)
