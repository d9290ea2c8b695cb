"""Pages as a reader's browser shows them: Chromium without a window, which may ask this machine and nobody else."""

import os
import shutil
import subprocess
import sys
from contextlib import ExitStack
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

import pytest

from autograder.engine import practice

ROOT = Path(__file__).parents[2]
NAMES = "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"
DESK = {"width": 1440, "height": 900}
# The pages of the site that `make test` builds, of more than 200, besides those of the figures. A link to another is in order.
PAGES = """index students glossary map figures paths placement review talk releasing
api/index api/operators api/aten/strided api/course/breaks
phases/01_strided/reading phases/01_strided/reading_01a phases/01_strided/reading_01b phases/01_strided/01a_views
phases/10_quantization/reading phases/10_quantization/reading_10b phases/10_quantization/reading_10c"""
LEFT_OUT = ["/*.md", "/api/**", "/phases/**/*.md", *(f"!/{page}.md" for page in PAGES.split())]


@pytest.fixture(scope="session")
def shots() -> Path:
    """Where tests leave pictures of what they saw."""
    folder = ROOT / "shots"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def site_url() -> str:
    """Where the site says that it is: below a path of its host."""
    return "https://example.org/course/rushlight/"


@pytest.fixture(scope="session")
def whole(pytestconfig) -> bool:
    """Whether the site has all of its pages."""
    return pytestconfig.option.markexpr != "not sweep"


@pytest.fixture(scope="session")
def folder(tmp_path_factory, site_url, whole):
    """The site, built as `make docs` does it, with one lab that runs. `make test` builds `PAGES` alone."""
    practice.record("01a_views")
    place = tmp_path_factory.mktemp("site")
    environment = os.environ | {"SITE_URL": site_url} | ({} if whole else {"RUSHLIGHT_LEFT_OUT": "\n".join(LEFT_OUT)})
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", place]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return place


class Host(SimpleHTTPRequestHandler):
    """Serves a folder, below `prefix` alone, with its page for what is not there."""

    prefix = "/"

    def translate_path(self, path):
        inside = path.startswith(self.prefix)
        return super().translate_path(f"/{path.removeprefix(self.prefix)}") if inside else "/nowhere"

    def send_error(self, code, *args):
        page = (Path(self.directory) / "404.html").read_bytes() if self.path.startswith(self.prefix) else b""
        self.send_response(code)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *args):
        pass


def serving(folder, handler):
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=folder)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="session")
def served(folder):
    """The address at which the site is served, at the top of a host."""
    yield from serving(folder, Host)


@pytest.fixture(scope="session")
def below(folder, site_url):
    """The address at which the site is served below a path, on a host that serves nothing else."""
    prefix = urlsplit(site_url).path
    yield from (f"{host}{prefix}" for host in serving(folder, type("Below", (Host,), {"prefix": prefix})))


chromium = ExitStack()  # what stops it
running: list = []


@pytest.fixture(scope="module")
def browser():
    """Chromium, which the tests of the site share: to start it takes a second and a half of CPU time."""
    sync_api = pytest.importorskip("playwright.sync_api")
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip("no chromium here (`sh system.sh chromium` brings it)")
    if not running:
        playwright = chromium.enter_context(sync_api.sync_playwright())
        running.append(playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"]))
        chromium.callback(running[0].close)
    return running[0]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item, nextitem):
    """Stop Chromium before a test of something else, because while playwright is there, no other test could start an event loop."""
    yield
    together = nextitem and item.path.parent == nextitem.path.parent and is_of_site(item) and is_of_site(nextitem)
    if not (together or nextitem and item.path == nextitem.path):
        pytest_sessionfinish()


def pytest_sessionfinish():
    running.clear()
    chromium.close()


@pytest.fixture
def problems(request) -> list[str]:
    """The errors of the page. The list must be empty at the end of the test."""
    return request.getfixturevalue("shared_page")[1] if is_of_site(request) else []


@pytest.fixture
def page(browser, problems, shots, request):
    """A page in a window of its own, or the one that the tests of the site share. If the test fails, its last look is kept."""
    shares, failed_before = is_of_site(request), request.session.testsfailed
    page = request.getfixturevalue("shared_page")[0] if shares else new_page(browser, problems)
    if shares:
        page.goto("about:blank")
        page.set_viewport_size(DESK)
        page.emulate_media(media="null", color_scheme="null")
        page.context.clear_permissions()
        problems.clear()
    yield page
    if problems or request.session.testsfailed > failed_before:
        page.screenshot(path=shots / f"{request.node.name}.png")
    if not shares:
        page.context.close()
    assert problems == []


def is_of_site(request) -> bool:
    return "folder" in request.fixturenames


@pytest.fixture(scope="module")
def shared_page(browser):
    """A page for the tests of a file, and its problems. A page of its own costs each test half a second."""
    problems = []
    page = new_page(browser, problems)
    yield page, problems
    page.context.close()


SAVES_DATA = "navigator.connection && Object.defineProperty(navigator.connection, 'saveData', { value: true })"


def new_page(browser, problems: list[str]):
    """A page as wide as a desk's screen, in a window of its own, whose problems are written down.

    Its reader saves data, so that a page has an index of the search, which takes a third of a second of CPU time, when it is asked.
    """
    page = browser.new_page(viewport=DESK)
    page.add_init_script(SAVES_DATA)
    page.set_default_timeout(300_000)  # the machine may have much else to do
    watch(page, problems)
    return page


def watch(page, problems: list[str]) -> None:
    """Write down what the page logs as an error, what it raises, and what it asks for in vain or elsewhere."""

    def asked(request):
        url = urlsplit(request.url)
        if url.scheme not in ("file", "data", "blob") and url.hostname not in ("localhost", "127.0.0.1"):
            problems.append(f"asked another host: {request.url}")

    def answered(response):
        if response.status >= 400:
            problems.append(f"{response.status}: {response.url}")

    def failed(request):
        if request.failure != "net::ERR_ABORTED":  # the page was left before the answer came
            problems.append(f"{request.failure}: {request.url}")

    def said(message):
        if message.type == "error":
            problems.append(f"console: {message.text}")

    page.on("console", said)
    page.on("pageerror", lambda error: problems.append(f"raised: {error}"))
    page.on("request", asked)
    page.on("response", answered)
    page.on("requestfailed", failed)
