"""A copy of the course, its JupyterLab, and a notebook that is open there."""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.error import URLError

ROOT = Path(__file__).parents[2]
TOKEN = "open"


class Course:
    """A course of its own in `place`, for whom its home is empty."""

    def __init__(self, place: Path):
        self.place = place / "course"
        for folder in ("autograder", "labs", "rushlight", "solutions"):
            shutil.copytree(ROOT / folder, self.place / folder, ignore=shutil.ignore_patterns("*.pyc.*"))
        shutil.copy(ROOT / "nbgrader_config.py", self.place)
        (place / "home").mkdir()
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("JUPYTER", "RUSHLIGHT", "XDG"))
        }
        self.environment |= {"HOME": str(place / "home"), "PYTHONPATH": str(self.place)}

    def run(self, module: str, *arguments: str) -> str:
        """Run a command, which must succeed, and return its output."""
        command = [sys.executable, "-m", module, *arguments]
        done = subprocess.run(command, cwd=self.place, env=self.environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    @contextmanager
    def jupyterlab(self, *command: str):
        """The address of a JupyterLab that `command`, a module and its arguments, starts; it is shut down at the end."""
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        options = ["--no-browser", "--allow-root", f"--port={port}", f"--IdentityProvider.token={TOKEN}"]
        with (self.place / "jupyterlab.log").open("w") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", *command, *options],
                cwd=self.place,
                env=self.environment,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
            )
        address = f"http://localhost:{port}"
        try:
            started = time.monotonic()
            while _asked(f"{address}/api/status") is None:
                late = process.poll() is not None or time.monotonic() > started + 600
                assert not late, (self.place / "jupyterlab.log").read_text()
                time.sleep(0.2)
            yield address
        finally:
            _asked(f"{address}/api/shutdown", method="POST")
            assert process.wait(600) == 0


def _asked(url: str, method: str = "GET") -> bytes | None:
    request = urllib.request.Request(url, method=method, headers={"Authorization": f"token {TOKEN}"})
    with suppress(URLError, ConnectionError), urllib.request.urlopen(request, timeout=10) as answer:
        return answer.read()
    return None


class Notebook:
    """A notebook, as it is open in JupyterLab."""

    def __init__(self, page, kernel="Python 3 (ipykernel)"):
        self.page = page
        page.get_by_text(f"{kernel} | Idle").wait_for()

    def write(self, text, source=None):
        """Put the cursor into the cell with this text in it, and this source in the place of its own. Returns the cell."""
        cell = self.page.locator(".jp-Notebook .jp-CodeCell", has_text=text).first
        cell.wait_for()
        if (folded := cell.locator(".jp-InputPlaceholder .jp-Placeholder-content")).count():
            folded.click()
        cell.locator(".cm-content").click()
        if source:
            self.page.keyboard.press("ControlOrMeta+A")
            self.page.keyboard.insert_text(source)
        return cell

    def run(self, text, source=None):
        """Run the cell with this text in it, or with this source in the place of its own. Returns what comes out."""
        cell = self.write(text, source)
        cell.evaluate("cell => cell.querySelector('.jp-InputPrompt').textContent = ''")
        self.page.keyboard.press("Control+Enter")
        cell.locator(".jp-InputPrompt", has_text=re.compile(r"\d")).wait_for()
        return cell.locator(".jp-OutputArea")
